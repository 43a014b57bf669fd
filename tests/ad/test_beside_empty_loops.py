"""Elements that exist only in rounds of a loop inside: where it has none, the way back neither reads nor writes there. Executed with every access looked at."""

from __future__ import annotations

import random

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.fuzz.stages import Stages
from tests.fuzz_ad.check import _like
from tests.fuzz_ad.cost import _reverse, counts

HEADS = ("for j in range(i + 2, n):", "for j in range(n - 2 - i):", "for j in range(c[i] % 3):", "for j in range(3, i):", "for j in range(n):\n            if i + 2 < n and c[j] > 0:")
PLACES = ("i + 1", "(i + 1) % n", "i + 2", "c[i] + i", "2 * i", "n - i - 2")
TEXT = """import atoll as at
from atoll import f64, i64
n = at.sizes("n")
@at.fn
def f(x: f64[n], y: f64[n], c: i64[n]):
    for i in range(n):
        {head}
        {pad}    y[i] = sin(x[{place}]) * y[j % n] + y[i]
    return y
"""


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_read_or_written_beside_the_array(head: str, place: str) -> None:
    f = at.fn(source=TEXT.format(head=head, place=place, pad="    " * head.count("\n")))
    g = _reverse(f, "vjp")
    ran = 0
    for n in (1, 2, 3, 4, 5):
        for low in (0, 1):
            r = np.random.default_rng(10 * n + low)
            args = (r.random(n), r.random(n), r.integers(0, 2, n) * low)
            try:
                result = f.interpret(*args)
            except at.Error:  # a round that exists reads beside the array
                continue
            counts(f, args)
            counts(g, (*args, _like(result, random.Random(n))))
            ran += 1
    assert ran


n, m, k = at.sizes("n m k")


@at.fn
def chosen_and_short(x: f64[m, k], y: f64[n, m, k], w: f64[k], p: i64[n], q: i64[n], g: i64[k]) -> f64:
    u, v = x[p], x[p, :]
    return sum(
        u[i, c]
        * v[i, k - 1 - c]
        * (sin(y[n - 1 - i, p[i] % 2 if m > 1 else 0, g[k - 1 - c]] + w[c]) if q[i] == p[i] else ((x[(p[i] + 1) % m, c] if c > 0 else 0.0) if p[i] != 1 else 0.0))
        for i in range(1, n)
        for c in range(min(i + 1, k))
    )


@pytest.mark.parametrize("n_", [1, 2, 3, 5])
def test_a_bound_that_is_an_element_is_read_where_there_is_one(n_: int) -> None:
    """The adjoint of y goes over all rows, also over the last one, which no round read: there, how many columns a round read is an element beside the array."""
    r = np.random.default_rng(n_)
    args = (r.random((2, 4)), r.random((n_, 2, 4)), r.random(4), r.integers(0, 2, n_), r.integers(0, 2, n_), r.integers(0, 4, 4))
    slopes = at.grad(chosen_and_short, wrt=(0, 1, 2))
    counts(slopes, args)
    got, e = slopes(*args), 1e-6
    for place, v in enumerate(args[:3]):
        change = r.standard_normal(v.shape)
        up, down = (chosen_and_short(*(a + s * e * change if j == place else a for j, a in enumerate(args))) for s in (1, -1))
        assert abs((up - down) / (2 * e) - np.sum(got[place] * change)) < 1e-6


@at.fn
def branches_of_a_while(x: f64[n], a: f64[n, n], c: i64[n]) -> f64[n]:
    i = 0
    while i < n:
        for j in range(1, 0):
            c[j] = 0
        if i:
            for j in range(n):
                x[i] = 0.0
        else:
            a[0] = 0.0
            for j in range(2):
                x[c[i] % n :] = sin(x[0])
        i += 1
    return x


@pytest.mark.parametrize("stage", ["ainf", "loops"])
def test_state_of_a_loop_without_rounds_has_extents(stage: str) -> None:
    """What the stack of the loop over j keeps is as long as c[i] % n says, which does not exist where the branch is not taken (`nests` 940000012)."""
    r = np.random.default_rng(0)
    back = _reverse(branches_of_a_while, "vjp")
    args = (r.random(2), r.random((2, 2)), np.array([4, 3]), r.random(2))
    for found, wanted in zip(Stages(back).runner(stage)(args), back.interpret(*args), strict=True):
        assert np.allclose(found, wanted)
