"""What says something of a C compiler, with each one that is here: python tools/test_compilers.py [--jobs N] [COMMAND ...]

Without commands: gcc and clang under every name Debian gives them, and `python -m ziglang cc`. In three steps: what the compiler is known to get wrong and random nests of
loops in C (`tests/fuzz/c_compiler.py`), random programs aimed at the rewrites of loops (`tests/hunt`), then tests whose programs are compiled. Most tests of this repository run
loops in the checked executor; those say nothing here and are left out (with ATOLL_CC=/bin/false they pass).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = ["gcc", *(f"gcc-{k}" for k in range(9, 21)), "clang", *(f"clang-{k}" for k in range(11, 31))]
LOOPS = ["best_in_place", "moved_checks", "needless_checks", "overwritten", "segments", "slices_in_place", "split", "sums_without_terms", "swaps", "unroll"]
PART = [
    *(f"tests/loops/test_{name}.py" for name in LOOPS),
    "tests/language/test_records.py",
    "tests/language/test_wrapping.py",
    "tests/language/test_storage_types.py",
    "tests/language/test_small_complex.py",
    "tests/ad/test_examples.py",
    "tests/fuzz/test_fuzz.py::test_compiled_agrees",
    "tests/fuzz/test_fuzz.py::test_found",
    "tests/runtime/test_compilers.py",
]
# of Atoll's patience and of the names of folders, with a script in the place of a compiler
NOT_OF_IT = "not hangs and not cache_folders and not commands_that_are_none and not nothing_stays_behind and not is_kept"


def commands() -> list[str]:
    found: dict[str, str] = {}
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            found.setdefault(os.path.realpath(path), name)
    zig = [shlex.join([sys.executable, "-m", "ziglang", "cc"])] if importlib.util.find_spec("ziglang") else []
    return [*found.values(), *zig]


def steps(jobs: int) -> list[list[str]]:
    return [
        ["-W", "ignore", "-m", "tests.fuzz.c_compiler", "--seeds", "0:4"],
        ["-W", "ignore", "-m", "tests.hunt", "--only", "rewrites", "--seeds", "700:760"],
        ["-W", "ignore", "-m", "pytest", "-q", *(["-n", str(jobs)] if jobs > 1 else []), "-p", "no:cacheprovider", "-k", NOT_OF_IT, *PART],
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", metavar="COMMAND")
    parser.add_argument("--jobs", type=int, default=2, help="processes of pytest")
    options = parser.parse_args()
    failed = []
    for command in options.commands or commands():
        print(f"== {command}", flush=True)
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as cache:
            env = {**os.environ, "ATOLL_CC": command, "ATOLL_CACHE_DIR": cache, "PYTHONPATH": str(ROOT), "ATOLL_FIRST": "0"}  # the optimised code, not that of first calls
            # a step that fails does not keep the next from being seen
            if any([subprocess.run([sys.executable, *step], cwd=ROOT, env=env, check=False).returncode for step in steps(options.jobs)]):
                failed.append(command)
        print(f"   {time.monotonic() - start:.0f} s", flush=True)
    print("failed: " + ", ".join(failed) if failed else "all right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
