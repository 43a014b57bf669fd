"""The gradient of a convolution by its weights is a product of matrices, also of windows with zeros around them, steps and holes."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at


def convolution(size: int, step: int, around: int, apart: int) -> at.Function:
    reach = apart * (size - 1)
    y, x = f"{step} * i + {apart} * p - {around}", f"{step} * j + {apart} * q - {around}"
    element = f"a[n, v, {y}, {x}]" + (f" if 0 <= {y} < h and 0 <= {x} < w else 0.0" if around else "")
    rows, columns = (f"range(({n} + {2 * around} - {reach} - 1) // {step} + 1)" for n in "hw")
    return at.fn(source=f"""import atoll as at
from atoll import f64
b, c, o, h, w = at.sizes("b c o h w")
@at.fn
def f(a: f64[b, c, h, w], k: f64[o, c, {size}, {size}]) -> f64:
    y = [[[[sum(k[u, v, p, q] * ({element}) for v in range(c) for p in range({size}) for q in range({size})) for j in {columns}] for i in {rows}] for u in range(o)] for n in range(b)]
    return sum(e * e * e for s in y for t in s for r in t for e in r)
""")


def by_weights(a: np.ndarray, k: np.ndarray, step: int, around: int, apart: int) -> np.ndarray:
    padded = np.pad(a, ((0, 0), (0, 0), (around, around), (around, around)))
    size = k.shape[2]
    rows, columns = ((n - apart * (size - 1) - 1) // step + 1 for n in padded.shape[2:])
    windows = np.stack([np.stack([padded[:, :, apart * p : apart * p + step * rows : step, apart * q : apart * q + step * columns : step][:, :, :rows, :columns] for q in range(size)], -1) for p in range(size)], -2)
    y = np.einsum("uvpq,nvijpq->nuij", k, windows)
    return np.einsum("nuij,nvijpq->uvpq", 3 * y * y, windows)


@pytest.mark.parametrize(("size", "step", "around", "apart"), [(3, 1, 1, 1), (3, 2, 1, 1), (3, 1, 2, 2), (3, 1, 0, 1), (1, 1, 0, 1), (2, 2, 0, 1), (3, 3, 1, 2)])
def test_it_is_a_product(size: int, step: int, around: int, apart: int) -> None:
    g = at.grad(convolution(size, step, around, apart), wrt=1)
    assert f"product of o by {size * size if size > 1 else ''}{'*' if size > 1 else ''}c" in g.show("loops")
    rng = np.random.default_rng(size)
    for shape in ((2, 3, 9, 8), (1, 1, 6, 7), (3, 2, 5, 5)):
        a, k = rng.normal(size=shape), rng.normal(size=(4, shape[1], size, size))
        assert np.allclose(g(a, k), by_weights(a, k, step, around, apart), rtol=1e-10, atol=1e-10)


def test_nothing_to_sum() -> None:
    g = at.grad(convolution(3, 1, 1, 1), wrt=1)
    assert (g(np.ones((0, 2, 5, 5)), np.ones((3, 2, 3, 3))) == 0).all()
    assert g(np.ones((2, 0, 5, 5)), np.ones((3, 0, 3, 3))).shape == (3, 0, 3, 3)
