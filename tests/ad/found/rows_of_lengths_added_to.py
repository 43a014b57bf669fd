"""The adjoint of values in rows of different lengths, read at places that are data.

Happened: of x37[i2 < n - 1, i < n - i2 - 1], read at [e - 1, j - e], the array that collects the adjoint had n - i2 - 1 columns for an i2 from around it: an array
for every i2, each written beyond its end (heap corruption; values were right by luck). Seed gradients 1000120051.
Should: one array with room for the longest row.
"""

import numpy as np

import atoll as at
from tests.agreement import agree

TEXT = """
import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")
@at.fn
def f(y: f64[n], a: f64[n, n], ix: i64[n]) -> f64:
    for _ in range(2):
        for k in range({low}, {high}):
            a[{rows}] = a[{rows}] * 0.9
        y = [sum(a[j, e] * y[e] for e in range(ix[j])) * 0.5 for j in range(n)]
    return sum(y)
"""
ROWS = {"below": ("k:, k", "1", "n"), "from the next": ("k + 1:, k", "0", "n"), "left": ("k, :k", "0", "n"), "by data": ("k, :ix[k]", "0", "n"), "all but one": ("1:, k", "0", "n")}


def check() -> None:
    for rows, low, high in ROWS.values():
        f = at.fn(source=TEXT.format(rows=rows, low=low, high=high))
        for n in (1, 4, 6):
            rng = np.random.default_rng(n)
            y, a, ix = rng.random(n), rng.random((n, n)), rng.integers(0, n + 1, n)
            wanted = np.zeros((n, n))
            for place in np.ndindex(n, n):
                step = np.zeros((n, n))
                step[place] = 1e-5
                wanted[place] = (f.interpret(y, a + step, ix) - f.interpret(y, a - step, ix)) / 2e-5
            agree(at.grad(f, wrt=1), y, a, ix)
            np.testing.assert_allclose(at.grad(f, wrt=1)(y, a, ix), wanted, rtol=1e-6, atol=1e-8)
