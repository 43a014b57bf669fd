"""A few sums of literal number are made in one loop, a vector for each; also where terms count only where a comparison holds."""

import numpy as np
import pytest

import atoll as at
from tests.agreement import flat, for_all_threads, same
from tests.speed.test_in_pieces import in_any_order

rng = np.random.default_rng(17)
SAID = "the sums of all rounds of"
TEXT = """
import atoll as at
from atoll import *
n, m, c, o = at.sizes("n m c o")
@at.fn
def conv(w: T[o, c, 3, 3], x: T[c, n + 2, m + 2], t: T[o, n, m]):
    y = [[[sum(x[p, i + a, j + b] * w[q, p, a, b] for p in range(c) for a in range(3) for b in range(3)) for j in range(m)] for i in range(n)] for q in range(o)]
    return sum(RESULT, axis=None)
def weights(w: T[o, c, 3, 3], x: T[c, n + 2, m + 2], t: T[o, n, m]):
    return at.grad(conv, wrt="w")(w, x, t)
"""
RESULTS = {"plain": "y * t", "relu": "maximum(y, 0.0)", "masked": "maximum(y, 0.0) * t", "less": "minimum(y, t)"}
TAPS = """
import atoll as at
from atoll import *
n = at.sizes("n")
def taps(x: T[n + 9], s: T[n]) -> T[3, 3]:
    return [[sum(TERM for j in range(n)) for b in range(3)] for a in range(3)]
"""
TERMS = {
    "where": "(x[j + 3 * a + b] if s[j] OP 0.25 else 0.0)",
    "scaled": "(x[j + 3 * a + b] * s[j] - 2.0 if s[j] OP x[j] else 0.0)",
    "otherwise": "(x[j + 3 * a + b] if s[j] OP 0.25 else -0.0)",
    "same for all": "(x[j + 3 * a + b] * s[j] if s[0] OP 0.25 else 0.0)",
}


def made(text, kind="f32", **more):
    return at.fn(source=text.replace("T[", f"{kind}["), **more)


def arrays(kind, *shapes):
    return tuple(rng.standard_normal(s).astype(np.float32 if kind == "f32" else np.float64) for s in shapes)


@pytest.mark.parametrize("result, kind", [*((result, "f32") for result in RESULTS), ("masked", "f64")])
def test_weights_of_a_convolution(result, kind):
    f = made(TEXT.replace("RESULT", RESULTS[result]), kind)
    said = f.explain("schedule")
    assert ("the matrix kernel" if result == "plain" else SAID) in said  # what is not chosen by data is a product (tests/plan/test_weights_of_convolutions.py)
    for size in (0, 1, 5):
        args = arrays(kind, (2, 1, 3, 3), (1, 4, size + 2), (2, 2, size))
        same(f(*args), f.interpret(*args))
    if result == "masked":
        in_any_order(f, arrays(kind, (1, 1, 3, 3), (1, 3, 11), (1, 1, 9)))
    args = arrays(kind, (4, 3, 3, 3), (3, 22, 39), (4, 20, 37))
    w, x, t = (a.astype(np.float64) for a in args)
    y = sum(np.einsum("cij,oc->oij", x[:, a : a + 20, b : b + 37], w[:, :, a, b]) for a in range(3) for b in range(3))
    bar = {"plain": t, "relu": y >= 0, "masked": t * (y >= 0), "less": y <= t}[result]
    expected = np.stack([[np.einsum("cij,oij->oc", x[:, a : a + 20, b : b + 37], bar) for b in range(3)] for a in range(3)]).transpose(2, 3, 0, 1)
    np.testing.assert_allclose(for_all_threads(f, *args), expected, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("op", ["<", ">=", "=="])
@pytest.mark.parametrize("term", TERMS)
def test_terms_that_count_sometimes(term, op):
    f = made(TAPS.replace("TERM", TERMS[term].replace("OP", op)))
    for size in (1, 2, 3, 7, 8, 9, 31):
        x, s = arrays("f32", size + 9, size)
        s[::3] = 0.25
        s[size // 2] = np.nan
        x[size // 2] = np.inf
        same(f(x, s), f.interpret(x, s))


def test_what_does_not_count_is_not_read_into_the_sum():
    f = made(TAPS.replace("TERM", TERMS["where"].replace("OP", ">")))
    x, s = arrays("f32", 2000 + 9, 2000)
    s[:] = np.where(np.arange(2000) % 2 == 0, 1, -1)
    x[:] = np.where(np.arange(2009) % 2 == 0, 1, np.nan)
    found = f(x, s)
    assert found[0, 0] == found[0, 2] == 1000 and np.isnan(found[0, 1])


def test_from_left_to_right():
    f = made(TAPS.replace("TERM", TERMS["scaled"].replace("OP", ">")), reassociate=False)
    args = arrays("f32", 41 + 9, 41)
    assert all(np.array_equal(a, b) for a, b in zip(flat(f(*args)), flat(f.interpret(*args)), strict=True))
