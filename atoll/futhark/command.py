"""The `atoll` command on .fut files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from atoll.futhark.api import futhark
from atoll.futhark.testing import test_file


def functions(path: Path) -> dict[str, Any]:
    """The entry points of a file, by name."""
    module = futhark(path)
    return {name: getattr(module, name) for name in dir(module)}


def run_tests(path: Path, compiled: bool) -> int:
    """Run the test blocks; a line for each case that did not pass, and how many did."""
    outcomes = test_file(path, compiled)
    for o in outcomes:
        if o.state in ("failed", "rejected"):
            print(f"{o.state}  {o.name}: {o.text}", file=sys.stderr)
    counts = {state: sum(o.state == state for o in outcomes) for state in ("passed", "failed", "rejected", "skipped")}
    print(", ".join(f"{n} {state}" for state, n in counts.items() if n) or "no tests")
    return 1 if counts["failed"] or counts["rejected"] else 0
