"""A share of `make no-memory`: Python's own small objects fail, in a process of its own."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(importlib.util.find_spec("_testcapi") is None, reason="this Python has no allocator that fails")
def test_small_objects():
    done = subprocess.run([sys.executable, "-m", "tests.runtime.small_objects", "a failing assert", "a wrong argument"], cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.count("MemoryError") == 2
