"""@at.fn(reassociate=False): sums go from left to right, in every stage, also in functions that are called."""

import numpy as np
import pytest

import atoll as at
from tests.agreement import for_all_threads

TEXT = """
import atoll as at
n = at.sizes("n")
{marked}
def total(x: at.{dtype}[n]) -> at.{dtype}:
    return sum(x)
def f(x: at.{dtype}[n]):
    return total(x), sum(v * v for v in x), prod(x[:20]) if n >= 20 else at.{dtype}(1.0)
"""


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("size", [0, 1, 19, 20, 1000, 4097])
def test_one_after_the_other(dtype, size):
    f = at.fn(reassociate=False, source=TEXT.format(dtype=dtype, marked="@at.fn"))
    kind = np.float32 if dtype == "f32" else np.float64
    x = (np.random.default_rng(size).random(size) * 2).astype(kind)
    total = squares = kind(0)
    for v in x:
        total, squares = total + v, squares + v * v
    product = kind(1)
    for v in x[:20] if size >= 20 else ():
        product = product * v
    expected = (total, squares, product)
    assert all(a == b for a, b in zip(f.interpret(x), expected, strict=True))
    assert all(a == b for a, b in zip(for_all_threads(f, x), expected, strict=True))
