"""Products whose operands are formulas, and products cut along their rows with batches inside: they reach the matrix kernel, values are right,
do not depend on threads, and memory is that of a piece."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64
from tests.agreement import agree, for_all_threads

n, m, k, c, d = at.sizes("n m k c d")
rng = np.random.default_rng(5)


@at.fn
def centred(x: f64[n, d], mu: f64[c, d], q: f64[c, d, d]) -> f64[n, c, d]:
    return [[[sum(q[p, j, a] * (x[i, a] - mu[p, a]) for a in range(d)) for j in range(d)] for p in range(c)] for i in range(n)]


@at.fn
def centred32(x: f32[n, d], mu: f32[c, d], q: f32[c, d, m]) -> f32[n, c, m]:
    return [[[sum((x[i, a] - mu[p, a]) * q[p, a, j] for a in range(d)) for j in range(m)] for p in range(c)] for i in range(n)]


@at.fn
def distances(x: f64[n, d], mu: f64[c, d], q: f64[c, d, d]) -> f64[n]:
    """Every row of pieces is used up before the next: no array of n by c by d."""

    def far(i, p):
        return [sum(q[p, j, a] * (x[i, a] - mu[p, a]) for a in range(d)) for j in range(d)]

    return [min((sum(v * v for v in far(i, p)) for p in range(c)), default=0.0) for i in range(n)]


@at.fn
def batch_first(x: f64[c, n, d], w: f64[c, n], y: f64[c, d, m]) -> f64[c, n, m]:
    return [[[sum(x[p, i, a] * w[p, i] * y[p, a, j] for a in range(d)) for j in range(m)] for i in range(n)] for p in range(c)]


@at.fn
def both_sides(x: f64[n, c, d], w: f64[n, c]) -> f64[c, d, d]:
    return [[[sum((x[i, p, a] * w[i, p]) * (x[i, p, e] - 1.0) for i in range(n)) for e in range(d)] for a in range(d)] for p in range(c)]


@at.fn
def chosen(x: f64[n, d], q: f64[c, d * d]) -> f64[n, c, d]:
    """A triangle read at a quadratic index: it is stored, under the condition that there is a row at all."""
    return [[[sum(where(a <= j, q[p, min(a * d + j, d * d - 1)], 0.0) * (x[i, a] + 1.0 * p) for a in range(d)) for j in range(d)] for p in range(c)] for i in range(n)]


def full(*shape):
    return rng.standard_normal(shape)


def lower(x, q):
    size = x.shape[1]
    t = q.reshape(len(q), size, size) * np.triu(np.ones((size, size)))  # [p, a, j] with a <= j
    return np.einsum("paj,ipa->ipj", t, x[:, None, :] + np.arange(len(q))[None, :, None])


CASES = {
    "centred": (centred, lambda s: (full(3 * s, s), full(4, s), full(4, s, s)), lambda x, mu, q: np.einsum("pja,ipa->ipj", q, x[:, None] - mu)),
    "centred32": (centred32, lambda s: (full(3 * s, s).astype("f4"), full(4, s).astype("f4"), full(4, s, s + 2).astype("f4")), lambda x, mu, q: np.einsum("paj,ipa->ipj", q, x[:, None] - mu)),
    "distances": (distances, lambda s: (full(3 * s, s), full(4, s), full(4, s, s)), lambda x, mu, q: (np.einsum("pja,ipa->ipj", q, x[:, None] - mu) ** 2).sum(2).min(1)),
    "batch first": (batch_first, lambda s: (full(4, s, s + 1), full(4, s), full(4, s + 1, s)), lambda x, w, y: (x * w[:, :, None]) @ y),
    "both sides": (both_sides, lambda s: (full(2 * s, 3, s), full(2 * s, 3)), lambda x, w: np.einsum("ipa,ipe->pae", x * w[:, :, None], x - 1)),
    "chosen": (chosen, lambda s: (full(2 * s, s), full(3, s * s)), lower),
}


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_is_used(name):
    assert "product of" in CASES[name][0].show("loops")


@pytest.mark.parametrize("name", CASES)
def test_small_values(name):
    f, data, expected = CASES[name]
    for size in (0, 1, 7):
        args = data(size)
        if name != "chosen" or size:
            agree(f, *args, expected=expected(*args))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [8, 9, 63, 64, 65, 129])
def test_values_and_threads(name, size):
    f, data, expected = CASES[name]
    args = data(size)
    found = for_all_threads(f, *args)
    wide = expected(*(a.astype(np.float64) for a in args))
    assert np.abs(found - wide).max() <= (2e-5 if found.dtype == np.float32 else 1e-11) * np.abs(wide).max()


def test_operands_live_for_one_round_and_rows_for_one_piece():
    sizes = {"n": 100000, "c": 10, "d": 20, "i_hi": 60, "i_lo": 0}
    largest = max(use.bytes.evaluate(lambda size: sizes[repr(size)]) for use in distances.memory().temporaries)
    assert largest <= 8 * 60 * 10 * 20
    assert not centred.memory().temporaries or all("n" not in map(repr, use.bytes.leaves()) for use in centred.memory().temporaries)


def test_few_rows_of_many_batches_are_still_pieces():
    x, mu, q = full(40, 16), full(60, 16), full(60, 16, 16)
    expected = np.einsum("pja,ipa->ipj", q, x[:, None] - mu)
    assert np.abs(centred(x, mu, q) - expected).max() <= 1e-12 * np.abs(expected).max()
    assert "< 768 ? 16" in centred.show("c")


def test_whole_numbers_stay_loops():
    whole = at.fn(source="""
import atoll as at
n, c, d = at.sizes("n c d")
def whole(x: at.i64[n, d], mu: at.i64[c, d], q: at.i64[c, d, d]) -> at.i64[n, c, d]:
    return [[[sum(q[p, j, a] * (x[i, a] - mu[p, a]) for a in range(d)) for j in range(d)] for p in range(c)] for i in range(n)]
""")
    x, mu, q = (rng.integers(-9, 9, shape) for shape in ((9, 8), (3, 8), (3, 8, 8)))
    assert "product of" not in whole.show("loops")
    assert np.array_equal(whole(x, mu, q), np.einsum("pja,ipa->ipj", q, x[:, None] - mu))
