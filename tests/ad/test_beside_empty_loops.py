"""Elements that exist only in rounds of a loop inside: where it has none, the way back neither reads nor writes there. Executed with every access looked at."""

from __future__ import annotations

import random

import numpy as np
import pytest

import atoll as at
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
