"""Elements that are only there under a check on the index of what goes over them: a part of a slice whose place depends on it (Futhark's scatter/nw found it)."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


@at.fn
def total(xs: f64[n], k: i64) -> f64:
    return sum(xs[i + k : i + k + 2][1] for i in range(3))


@at.fn
def folded(xs: f64[n], k: i64) -> f64:
    return reduce(lambda a, b: a * 0.5 + b, 0.0, [xs[i + k : i + k + 2][0] for i in range(3)])


@at.fn
def scanned(xs: f64[n], k: i64) -> f64[3]:
    return scan(add, 0.0, [xs[i + k : i + k + 2][1] for i in range(3)])


@at.fn
def counted(xs: f64[n], k: i64) -> f64[2]:
    return hist(add, 0.0, 2, [0, 1, 0], [xs[i + k : i + k + 2][1] for i in range(3)])


@at.fn
def kept(xs: f64[n], k: i64) -> f64[n]:
    return scatter(xs, [0, 1, 0], [xs[i + k : i + k + 2][1] for i in range(3)], op=lambda a, b: b)


@at.fn
def least(xs: f64[n], k: i64) -> i64:
    return argmin([xs[i + k : i + k + 2][1] for i in range(3)])


@pytest.mark.parametrize("f", [total, folded, scanned, counted, kept, least], ids=lambda f: f.name)
def test_as_interpreted(f: at.Function) -> None:
    xs = np.array([5.0, 1.0, 4.0, 2.0, 3.0])
    for k in (0, 1):
        np.testing.assert_array_equal(f(xs, k), f.interpret(xs, k))
    for k in (-1, 2):
        with pytest.raises(at.SizeError):
            f(xs, k)
