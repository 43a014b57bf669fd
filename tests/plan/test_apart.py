"""Loops inside rounds are shared like others, updates of a round's own elements too, and memory that every round needs is made once."""

import numpy as np

import atoll as at
from atoll import f64, i64
from atoll.ainf.dead import remove_dead
from atoll.ainf.from_core import translate
from atoll.loops import ir as lp
from atoll.lower.function import lower
from tests.agreement import agree

n, m = at.sizes("n m")


@at.fn
def nested(x: f64[n], w: f64[m, n], steps: i64) -> f64[n]:
    for t in range(steps):
        for i in range(m):
            y = exp(-x * w[i])
            z = tanh(y + x)
            x = y * z
    return x


@at.fn
def updated(a: f64[n, m], b: f64[n, m], steps: i64) -> (f64[n, m], f64[n, m]):
    for t in range(steps):
        for i in range(n):
            old = a[i]
            a[i] = b[i] * 0.5
            b[i] = old + a[i]
    return a, b


@at.fn
def shifted(a: f64[n], steps: i64) -> f64[n]:
    """Every round reads its neighbour: no loop may be shared."""
    for t in range(steps):
        for k in range(2):
            old = [a[min(i + 1, n - 1)] for i in range(n)]
            for i in range(n):
                a[i] = old[i] + 0.5 * a[i]
    return a


def loops_of(f: at.Function) -> lp.Function:
    return lower(remove_dead(translate(f.core)))


def innermost(stmts: list[lp.Stmt]) -> list[lp.For]:
    return [s for s in lp.walk(stmts) if isinstance(s, lp.For) and not any(isinstance(x, (lp.For, lp.Accumulate)) for x in lp.walk(s.body))]


def test_a_round_of_a_round_has_one_loop():
    assert len(innermost(loops_of(nested).body)) == 1
    rng = np.random.default_rng(0)
    agree(nested, rng.normal(size=5), rng.normal(size=(3, 5)), 2)


def test_updates_share_it():
    found = innermost(loops_of(updated).body)
    assert [s.parallel for s in found] == [True]
    stored = [s.buffer.name for s in found[0].body if isinstance(s, lp.Store)]
    assert len(stored) == 2
    rng = np.random.default_rng(1)
    agree(updated, rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), 3)


def test_not_what_reads_other_rounds():
    rng = np.random.default_rng(2)
    a = rng.normal(size=6)
    expected = a.copy()
    for _ in range(6):
        old = expected[np.minimum(np.arange(6) + 1, 5)]
        expected = old + 0.5 * expected
    agree(shifted, a, 3, expected=expected)


def test_no_allocation_in_rounds():
    for f in (nested, updated, shifted, at.grad(lost)):
        for loop in (s for s in lp.walk(loops_of(f).body) if isinstance(s, lp.For)):
            assert not any(isinstance(s, lp.Alloc) and not s.buffer.local for s in loop.body), f


@at.fn
def lost(x: f64[n], w: f64[m, n]) -> f64:
    for t in range(3):
        for i in range(m):
            x = tanh(x * w[i]) + x
    return sum(x)


def test_memory_whose_size_changes_stays_inside():
    @at.fn
    def grown(x: f64[n]) -> f64:
        total = 0.0
        for t in range(n):
            y = sort(x[:t])
            total += sum(y[i] * i for i in range(t))
        return total

    inside = [s for loop in lp.walk(loops_of(grown).body) if isinstance(loop, lp.For) for s in loop.body if isinstance(s, lp.Alloc)]
    assert inside
    agree(grown, np.array([3.0, 1.0, 2.0, -1.0]))


def test_values_of_rounds_inside_rounds_are_computed_twice_not_thrice():
    """Once forwards, once more with a tape of what exp-like functions gave; the sweep back reads that."""
    text = at.grad(lost).show("ainf")
    assert text.count("= tanh(") == 2
