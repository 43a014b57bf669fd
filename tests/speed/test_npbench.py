"""The programs of bench/npbench mean what NumPy's do, and its check refuses answers that are none. (python -m bench.npbench.run compiles and times them.)"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench.npbench.run import check, every, wrong

TASKS = every()
LONG = {"channel_flow", "lenet"}  # too long for the interpreter


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)
def test_meaning(task: Any) -> None:
    args = task.data(*task.presets["tiny"])
    with np.errstate(all="ignore"):
        found = task.atoll.compile("1").call(*args) if task.name in LONG else task.atoll.interpret(*args)
        assert check(task, args, found) is None


def test_all_of_them() -> None:
    assert len(TASKS) == len({t.name for t in TASKS}) == 54


def test_answers_that_are_none() -> None:
    x = np.ones(3)
    assert wrong(x, x, x, 1e-9) is None
    assert "results instead of" in str(wrong((), (x,), (x,), 1e-9))
    assert "shape" in str(wrong(np.ones(0), x, x, 1e-9))
    assert "is empty" in str(wrong(np.ones(0), np.ones(0), np.ones(0), 1e-9))
    assert "float32 instead of float64" in str(wrong(x.astype(np.float32), x, x, 1e-9))
    assert "off by" in str(wrong(x * 1.1, x, x, 1e-9))
    assert "not finite" in str(wrong(x * np.nan, x, x, 1e-9))
