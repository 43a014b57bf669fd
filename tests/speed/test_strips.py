"""Sums over the index that loops are cut along go strip by strip: it happens, values are right in short strips and long ones and do not
depend on threads, memory is that of a strip; and it does not happen where it would be wrong or for nothing."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64
from atoll.lower import strip_code
from tests.agreement import agree

n, m, k, d = at.sizes("n m k d")
rng = np.random.default_rng(11)


@at.fn
def column_weights(x: f64[n, m], w: f64[n]) -> f64[m]:
    p = [exp(row - max(row, default=0.0)) for row in x]
    total = [sum(row) for row in p]
    return [sum(p[i, j] / total[i] * w[i] for i in range(n)) for j in range(m)]


@at.fn
def batches(x: f64[n, d], mu: f64[k, d]) -> f64[k, d, d]:
    away = [[[tanh(x[i, a] - mu[c, a]) for a in range(d)] for c in range(k)] for i in range(n)]
    size = [[sum(away[i, c, a] * away[i, c, a] for a in range(d)) for c in range(k)] for i in range(n)]
    return [[[sum(away[i, c, a] * (away[i, c, b] / (1.0 + size[i, c])) for i in range(n)) for b in range(d)] for a in range(d)] for c in range(k)]


@at.fn
def greatest(x: f32[n, m]) -> (f32[m], f32):
    p = [exp(row - max(row, default=f32(0.0))) for row in x]
    total = [sum(row) for row in p]
    far = [[p[i, j] / (1 + total[i]) for j in range(m)] for i in range(n)]
    return [max((far[i, j] for i in range(n)), default=f32(0.0)) for j in range(m)], sum(total)


@at.fn
def likelihood(x: f64[n, d], mu: f64[k, d], q: f64[k, d, d]) -> f64:
    def term(i, c):
        return -sum(sum(q[c, b, a] * (x[i, a] - mu[c, a]) for a in range(d)) ** 2 for b in range(d))

    return sum(log(sum(exp(term(i, c)) for c in range(k)) + 1.0) for i in range(n))


gradient = at.value_and_grad(likelihood, wrt=("mu", "q"))


def full(*shape):
    return rng.standard_normal(shape)


def weights(x, w):
    p = np.exp(x - x.max(1, keepdims=True, initial=-np.inf if x.shape[1] else 0))
    return (p / p.sum(1, keepdims=True) * w[:, None]).sum(0)


def squares(x, mu):
    away = np.tanh(x[:, None] - mu)
    return np.einsum("ica,icb->cab", away, away / (1 + (away**2).sum(2, keepdims=True)))


def largest(x):
    p = np.exp(x - x.max(1, keepdims=True, initial=-np.inf if x.shape[1] else 0))
    total = p.sum(1)
    return (p / (1 + total[:, None])).max(0, initial=-np.inf), total.sum()


CASES = {
    "column weights": (column_weights, lambda s: (full(s, 5), full(s)), weights),
    "batches": (batches, lambda s: (full(s, 4), full(3, 4)), squares),
    "greatest": (greatest, lambda s: (full(s, 5).astype("f4"),), largest),
    "gradient": (gradient, lambda s: (full(s, 3), full(2, 3), full(2, 3, 3)), None),
}


@pytest.mark.parametrize("name", CASES)
def test_it_happens(name):
    assert "strip_length" in CASES[name][0].show("loops")
    assert "strips i_first..i_last of n" in CASES[name][0].show("plan")


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("length", [1, 3, 7])
def test_short_strips(name, length, monkeypatch):
    f, data, expected = CASES[name]
    monkeypatch.setattr(strip_code, "LEAST", length)
    monkeypatch.setattr(strip_code, "ELEMENTS", 1)
    for size in (1, 7, 8, 9) if length > 1 else (0, 1, 2, 5):
        args = data(size)
        agree(f, *args, expected=expected(*args) if expected is not None and (size or name == "batches") else None, compiled=False)


@pytest.mark.parametrize("size", [0, 1, 47, 48, 49, 129, 500])
def test_compiled_and_threads(size):
    for f, args, expected in (
        (column_weights, (full(size, 700), full(size)), weights),
        (batches, (full(size, 24), full(25, 24)), squares),
        (greatest, (full(size, 700).astype("f4"),), largest),
    ):
        results = []
        try:
            for threads in (1, 2, 5):
                at.set_threads(threads)
                results.append(f(*args) if isinstance(f(*args), tuple) else (f(*args),))
        finally:
            at.set_threads(2)
        assert all(np.array_equal(a, b) for r in results for a, b in zip(r, results[0], strict=True)), "results depend on the number of threads"
        wanted = expected(*args)
        for a, b in zip(results[0], wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            if size:
                assert np.allclose(a, b, rtol=1e-4 if a.dtype == np.float32 else 1e-10, atol=1e-4 if a.dtype == np.float32 else 1e-10)


def test_memory_is_that_of_a_strip():
    sizes = {"n": 1_000_000, "k": 10, "d": 20, "strip_length": 163, "i_hi": 60, "i_lo": 0, "i_last": 163, "i_first": 0}
    largest_use = max(use.bytes.evaluate(lambda size: sizes[repr(size)]) for use in gradient.memory().temporaries)
    assert largest_use <= 8 * 163 * 10 * 20


def test_not_where_all_of_it_is_needed_or_kept():
    every = at.fn(source="""
import atoll as at
n, m = at.sizes("n m")
def every(x: at.f64[n, m]):
    p = [exp(row - max(row, default=0.0)) for row in x]
    total = [sum(row) for row in p]
    s = [sum(p[i, j] / total[i] for i in range(n)) for j in range(m)]
    return [[p[i, j] - s[j] for j in range(m)] for i in range(n)]
""")
    assert "strip_length" not in every.show("loops")
    plain = at.fn(source="""
import atoll as at
n, m = at.sizes("n m")
def plain(x: at.f64[n, m]):
    return [sum(x[i, j] * 2.0 for i in range(n)) for j in range(m)]
""")
    assert "strip_length" not in plain.show("loops")
    in_order = at.fn(source="""
import atoll as at
n, m = at.sizes("n m")
def in_order(x: at.f64[n, m]):
    p = [exp(row - max(row, default=0.0)) for row in x]
    total = [sum(row) for row in p]
    return [sum(p[i, j] / total[i] for i in range(n)) for j in range(m)]
""", reassociate=False)
    assert "strip_length" not in in_order.show("loops")
