"""`import atoll` is quick and loads nothing heavy: neither NumPy nor the compiler."""

import subprocess
import sys

PROGRAM = """
import sys, time
start = time.process_time()
import atoll
seconds = time.process_time() - start
heavy = [name for name in ("numpy", "highspy", "lark", "atoll.function", "atoll.core.ir", "atoll.ainf.ir", "ctypes") if name in sys.modules]
print(seconds, *heavy)
"""


def test_import_is_quick():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    seconds, *heavy = done.stdout.split()
    assert float(seconds) < 0.2
    assert not heavy


def test_everything_promised_is_there():
    import atoll as at

    missing = [name for name in at.__all__ if not hasattr(at, name)]
    assert not missing
