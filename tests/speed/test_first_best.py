"""The first best element: few elements one by one, many by blocks; NaN is better than any number, the first of equals wins."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from tests.agreement import agree, for_all_threads

n, m = at.sizes("n m")


@at.fn
def of_rows(x: f64[n, m]):
    return [argmin(row) for row in x], [argmax(row) for row in x]


@at.fn
def of_short_rows(x: f32[n, m]):
    return [argmin(row) for row in x], [argmax(row) for row in x]


@at.fn
def of_integers(x: i64[n, m]):
    return [argmin(row) for row in x], [argmax(row) for row in x]


@at.fn
def of_distances(p: f64[n, 2], c: f64[m, 2]):
    return [argmin(sum((a[t] - b[t]) ** 2 for t in range(2)) for b in c) for a in p]


SIZES = [1, 2, 5, 63, 64, 65, 130, 4095, 4096, 4097, 9000]


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("kind", ["ties", "nan", "nans", "inf", "all nan"])
def test_floats(m, kind):
    rng = np.random.default_rng(m)
    for f, dtype in ((of_rows, np.float64), (of_short_rows, np.float32)):
        x = rng.integers(-3, 4, (6, m)).astype(dtype)
        if kind == "nan":
            x[np.arange(6), rng.integers(0, m, 6)] = np.nan
        elif kind == "nans":
            x[rng.random((6, m)) < 0.2] = np.nan
        elif kind == "inf":
            x = np.where(rng.random((6, m)) < 0.5, np.inf, -np.inf).astype(dtype)
            x[0], x[1] = np.inf, -np.inf
        elif kind == "all nan":
            x[:] = np.nan
        least, most = f(x)
        assert (least == x.argmin(axis=1)).all() and (most == x.argmax(axis=1)).all()


@pytest.mark.parametrize("m", SIZES)
def test_integers(m):
    x = np.random.default_rng(m).integers(-3, 4, (5, m))
    least, most = of_integers(x)
    assert (least == x.argmin(axis=1)).all() and (most == x.argmax(axis=1)).all()


@pytest.mark.parametrize("m", [1, 3, 12, 63, 64, 100])
def test_distances(m):
    rng = np.random.default_rng(m)
    p, c = rng.random((50, 2)), rng.random((m, 2))
    p[7, 1] = np.nan
    c[m // 2, 0] = np.nan if m > 3 else 0.5
    assert (of_distances(p, c) == ((p[:, None] - c[None]) ** 2).sum(axis=2).argmin(axis=1)).all()


@at.fn
def of_vector(x: f32[n]):
    assert n >= 1
    return argmin(x), argmax(x)


@pytest.mark.parametrize("size", [1, 64, 255, 257, 5000, 65535, 65536, 65537, 200001])
def test_shared_by_threads(size):
    rng = np.random.default_rng(size)
    x = rng.integers(-1000, 1000, size).astype("f4")
    for _ in range(3):
        assert for_all_threads(of_vector, x) == (np.argmin(x), np.argmax(x))
        x[rng.integers(0, size)] = np.nan
    assert for_all_threads(of_vector, np.zeros(size, "f4")) == (0, 0)
    assert for_all_threads(of_vector, np.full(size, -np.inf, "f4")) == (0, 0)
    if size < 300:
        agree(of_vector, x)
