"""Another thread changes index arrays while calls run: results or errors, never a wild read or write. In a process of its own, since it would be a crash."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_index_arrays_may_change():
    names = ["reads", "adds", "writes", "sorted reads"]
    done = subprocess.run([sys.executable, "-m", "tests.runtime.races", "0.5", *names], capture_output=True, text=True, cwd=ROOT, env=dict(os.environ), timeout=200, check=False)
    assert done.returncode == 0 and done.stdout.count("calls ended") == len(names), done.stdout + done.stderr[-2000:]
