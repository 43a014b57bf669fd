"""A representative part of the tests with each C compiler that is here: python tools/test_compilers.py [COMMAND ...]

Without commands: gcc and clang under every name Debian gives them, and `python -m ziglang cc`.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = ["gcc", *(f"gcc-{k}" for k in range(9, 21)), "clang", *(f"clang-{k}" for k in range(11, 31))]
PART = ["tests/language/test_records.py", "tests/language/test_names.py", "tests/loops", "tests/ad/test_examples.py", "tests/fuzz/test_fuzz.py", "tests/runtime/test_compilers.py"]


def commands() -> list[str]:
    found: dict[str, str] = {}
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            found.setdefault(os.path.realpath(path), name)
    zig = [shlex.join([sys.executable, "-m", "ziglang", "cc"])] if importlib.util.find_spec("ziglang") else []
    return [*found.values(), *zig]


def main() -> int:
    failed = []
    for command in sys.argv[1:] or commands():
        print(f"== {command}", flush=True)
        with tempfile.TemporaryDirectory() as cache:
            env = {**os.environ, "ATOLL_CC": command, "ATOLL_CACHE_DIR": cache}
            if subprocess.run([sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *PART], cwd=ROOT, env=env, check=False).returncode:
                failed.append(command)
    print("failed: " + ", ".join(failed) if failed else "all right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
