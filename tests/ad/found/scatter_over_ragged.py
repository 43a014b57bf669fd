"""The adjoint of a sum over a data-dependent range is a scatter that cannot be lowered: sparse programs have no compiled gradient.

Happens: the C does not compile (E0803, n2 undeclared: `at_alloc(n * n2, ...)`), the loop executor has a KeyError: the checked indices
are stored for all rows at once, though a row's length is known only inside it. Likely one cause with scatter_over_triangle.
Should: as the interpreter. Blocks sparse k-means.
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

n, z = at.sizes("n z")


@at.fn
def f(values: f64[z], rows: i64[n + 1]) -> f64:
    return sum(sum(values[e] for e in range(rows[i], rows[i + 1])) ** 2 for i in range(n))


def check() -> None:
    agree(at.grad(f), np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2, 3]), expected=np.array([6.0, 6.0, 6.0]))
