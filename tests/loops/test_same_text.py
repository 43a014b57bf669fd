"""A program has the same loops and the same C in every process: sets of atoms are never walked where their order can reach a text.

`make same-text` does this for the whole corpus, gradients too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tools.corpus import differences

ROOT = Path(__file__).parents[2]
FILES = ("examples/ranks/life", "tests/functions/test_language", "bench/kernels/irregular", "bench/kernels/linalg")  # among them those that differed once


def _recorded(seed: str, place: Path) -> dict[str, dict[str, str]]:
    kept = place / f"{seed}.json"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "tools.corpus", "record", str(kept), "--only", *FILES], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, dict[str, str]] = json.loads(kept.read_text())
    return found


def test_two_processes_give_the_same_text(tmp_path: Path) -> None:
    one, other = (_recorded(seed, tmp_path) for seed in ("1", "77"))
    assert len(one) > 40
    assert differences(one, other) == []
    assert differences(one, {**other, "more": {}}) == ["more: only after"]
