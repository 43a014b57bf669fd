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


ALL_MODULES = """
import importlib, pkgutil, types
import atoll as at
for module in pkgutil.walk_packages(at.__path__, "atoll."):
    if module.name != "atoll.__main__":
        importlib.import_module(module.name)
print([name for name in at.__all__ if isinstance(getattr(at, name), types.ModuleType) and not callable(getattr(at, name))])
"""


def test_no_module_takes_the_place_of_a_name():
    """Importing atoll.x makes the module x an attribute of atoll; at.doctor must stay a function."""
    done = subprocess.run([sys.executable, "-c", ALL_MODULES], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
