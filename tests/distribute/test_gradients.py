"""Gradients within a budget choose how much is computed again, give the same derivative, and take no more than they said."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.runtime.library import peak

n, t = at.sizes("n t")


@at.fn
def far(x: f64[n], steps: f64[t]) -> f64:
    for k in range(t):
        x = [sin(v) + steps[k] * v for v in x]
    return sum(x)


def test_loops_are_cut_into_blocks_where_memory_is_short() -> None:
    x, steps = np.linspace(0.0, 1.0, 1000), np.full(400, 0.5)
    plain = at.grad(far)
    want = plain(x, steps)
    takes = plain.memory(n=1000, t=400).temporaries
    assert at.grad(far, memory=takes).chosen(x, steps) == "as it is"
    budget = takes // 4
    g = at.grad(far, memory=budget)
    assert "levels deep" in g.chosen(x, steps) and g.peak(x, steps) <= budget
    np.testing.assert_array_equal(g(x, steps), want)
    peak()
    g(x, steps)
    assert peak() <= budget
    with pytest.raises(at.CompileError, match="E1206"):
        at.grad(far, memory=100)(x, steps)


@at.fn
def often(x: f64[n], rounds: i64) -> f64:
    for _ in range(rounds):
        x = [sin(v) * 1.01 for v in x]
    return sum(x)


def test_the_number_of_rounds_may_be_an_argument() -> None:
    """It is known when the call is made, so what is kept of the rounds is, too."""
    x = np.linspace(0.0, 1.0, 1000)
    want = at.grad(often)(x, 400)
    for budget, how in ((4_000_000, "as it is"), (600_000, "levels deep")):
        g = at.grad(often, memory=budget)
        assert how in g.chosen(x, 400)
        np.testing.assert_array_equal(g(x, 400), want)
        peak()
        g(x, 400)
        assert peak() <= g.peak(x, 400) <= budget
    with pytest.raises(at.CompileError, match="with loops cut into blocks it takes"):
        at.grad(often, memory=1000)(x, 400)
