"""The entry for GradBench: its protocol, and derivatives that are not zero (their own validation lets those pass)."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest

from bench.gradbench.compare import difference
from bench.gradbench.evals import ht, lse
from bench.gradbench.tool import EVALS, answer, entries, serve
from bench.gradbench.workloads import workloads

SMALL = list(workloads(large=False))
QUICK = ("hello", "lse", "det")  # make gradbench has all


def test_a_conversation() -> None:
    said = [
        {"id": 0, "kind": "start", "eval": "lse"},
        {"id": 1, "kind": "define", "module": "lse"},
        {"id": 2, "kind": "evaluate", "module": "lse", "function": "gradient", "input": {"x": [1.0, 1.0], "min_runs": 3, "min_seconds": 0.0}},
        {"id": 3, "kind": "analysis", "of": 2, "valid": True},
        {"id": 4, "kind": "evaluate", "module": "lse", "function": "gradient", "input": {"y": 1}},
        {"id": 5, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": [float("inf")]}},
        {"id": 6, "kind": "define", "module": "nonsense"},
    ]
    out = io.StringIO()
    serve(io.StringIO("".join(json.dumps(line) + "\n" for line in said)), out)
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["id"] for line in told] == list(range(7))
    assert told[0]["tool"] == "atoll" and told[1] == {"id": 1, "success": True}
    assert told[2]["output"] == [0.5, 0.5] and len(told[2]["timings"]) == 3 and all(t["nanoseconds"] > 0 for t in told[2]["timings"])
    assert told[3] == {"id": 3} and not told[4]["success"] and not told[5]["success"] and not told[6]["success"]


def test_every_eval_has_workloads_and_functions() -> None:
    assert {module for module, _, _ in SMALL} == set(EVALS)
    assert all(len(entries(module)) >= 2 for module in EVALS)


@pytest.mark.parametrize("module", QUICK)
def test_derivatives(module: str) -> None:
    for name, _, given in SMALL:
        if name == module:
            first, second = entries(module)
            derivative = answer({"kind": "evaluate", "module": module, "function": second, "input": given})["output"]
            assert difference(derivative, differences(module, first, given)) < 1e-5


def differences(module: str, function: str, given: Any) -> Any:
    """Central differences of an entry's first argument."""
    entry = entries(module)[function]
    args = entry.arguments(given)
    x = np.array(args[0], np.float64)
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        ends = []
        for h in (1e-6, -1e-6):
            moved = x.copy()
            moved[place] += h
            ends.append(np.array(entry.function(moved if x.ndim else float(moved), *args[1:])))
        found[place] = (ends[0] - ends[1]) / 2e-6
    return found.ravel().tolist()


def test_differences_are_seen() -> None:
    assert difference([1.0, 2.0], [1.0, 2.0 + 1e-8]) > 1e-9 > difference([1.0, 2.0], [1.0, 2.0 + 1e-12])
    assert difference([0.0], [1.0]) == 1.0 and difference([1.0], [1.0, 2.0]) == float("inf")
    assert lse.arguments({"x": [1, 2]})[0].dtype == np.float64 and len(ht.arguments(SMALL[-3][2])) == 6
