"""Values of rows of different lengths that two loops need had no room: their lengths were asked for outside the rows.

Happened: KeyError from the loop executor, C that does not compile. Triangles get the longest row's length by solving for it, rows of a sparse
matrix by measuring it.
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

n, z = at.sizes("n z")


@at.fn
def triangle(x: f64[n]) -> f64:
    rows = [sum(exp(x[i] * x[j]) for j in range(i)) for i in range(n)]
    return sum(rows[i] / (1.0 + sum(exp(x[i] * x[j]) * rows[i] for j in range(i))) for i in range(n))


@at.fn
def sparse(values: f64[z], rows: i64[n + 1]) -> f64:
    total = [sum(exp(values[e]) for e in range(rows[i], rows[i + 1])) for i in range(n)]
    return sum(total[i] * sum(exp(values[e]) * total[i] for e in range(rows[i], rows[i + 1])) for i in range(n))


def check() -> None:
    for k in (0, 1, 4):
        agree(at.grad(triangle), np.linspace(0.1, 0.9, k))
    agree(at.grad(sparse), np.array([0.1, 0.2, 0.3]), np.array([0, 2, 2, 3]))
