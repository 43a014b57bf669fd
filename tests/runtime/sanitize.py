"""`make sanitize`: the runtime, the call path and compiled programs under gcc's sanitizers, inside Python: python -m tests.runtime.sanitize [KIND...]

Everything Atoll compiles is compiled with the sanitizer (ATOLL_CC), into a cache of its own; the sanitizer's library is loaded before Python, which knows
nothing of it. `address` looks for undefined behaviour too. For `thread`, Python runs without address space randomisation, which gcc 12's library needs.
Index arrays that another thread changes are races by intention, so `thread` leaves them out, and recursion, whose own stacks it does not know of.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNDEFINED = "-fsanitize=undefined -fno-sanitize=alignment -fno-sanitize-recover=undefined"
KINDS = {
    "address": ("libasan.so", f"-fsanitize=address {UNDEFINED}", {"ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0"}, []),
    "thread": ("libtsan.so", "-fsanitize=thread", {"TSAN_OPTIONS": "exitcode=66:ignore_noninstrumented_modules=1:report_signal_unsafe=0"}, ["unusual", "failing", "together", "interrupted"]),
}


def run(kind: str, gcc: str = "gcc") -> int:
    library, flags, options, parts = KINDS[kind]
    preload = subprocess.run([gcc, f"-print-file-name={library}"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        around = {**os.environ, **options, "ATOLL_CC": f"{gcc} -g {flags}", "ATOLL_CACHE_DIR": os.environ.get("ATOLL_SANITIZED_CACHE", folder), "PYTHONPATH": str(ROOT), "PYTHONMALLOC": "malloc"}
        command = ["env", f"LD_PRELOAD={preload}", sys.executable, "-m", "tests.runtime.sanitized", *parts]
        done = subprocess.run(["setarch", "-R", *command], capture_output=True, text=True, cwd=ROOT, env=around, check=False)
    found = [line for line in (done.stdout + done.stderr).splitlines() if "runtime error:" in line or "WARNING: ThreadSanitizer" in line or "ERROR: AddressSanitizer" in line]
    print(f"{kind} sanitizer: {'clean' if done.returncode == 0 and not found else 'FAILED'}\n{done.stdout}", flush=True)
    if done.returncode != 0 or found:
        print(done.stderr[-6000:])
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(sum(run(kind) for kind in sys.argv[1:] or KINDS))
