"""Programs as files: a test writes a module, imports or runs it, and looks at what came of it."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HEAD = "import functools, math\nimport numpy as np\nimport atoll as at\nfrom atoll import f32, f64, i64\nn, m = at.sizes('n m')\n"
HEAD_LINES = HEAD.count("\n")
_numbers = itertools.count()


def load(folder: Path, text: str, head: str = HEAD) -> Any:
    """A module with this text, run as an import would run it."""
    path = folder / f"written_{next(_numbers)}.py"
    path.write_text(head + text)
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)  # noqa: S102  the text of a test
    return module


def python(*arguments: str, text: str | None = None, cwd: Path | None = None, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Python in a process of its own, with this Atoll."""
    around = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    return subprocess.run([sys.executable, *arguments], input=text, capture_output=True, text=True, cwd=cwd, env=around, timeout=120, check=False)
