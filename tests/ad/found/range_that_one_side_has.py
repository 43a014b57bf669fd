"""A sum over a range whose length is computed in one branch only, beside an update of the other branch.

Happened: internal error (E0899: "reads what exists only if not ..."): lines over such a range need no condition, for it has no rounds without its length, so that what flowed
back through one of them was put under the condition of the length as a whole, and the adjoint of the other branch with it. Seeds nests 1000015002 and 1000015003.
"""

import itertools

import numpy as np

import atoll as at
from tests.agreement import agree

TEXT = """
import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")
@at.fn
def f(x: f64[n], c: i64[n], s: f64) -> f64:
    i = 0
    while i < n and i < c[i] % n + 1:
        if s > 0.1:
            {one}
        else:
            {other}
        s = s * 0.5
        i += 1
    return sum(x) + s
"""
ONE = ("x[i] = x[i] * 2.0", "x[n - 1 - i] += x[0] * x[i]", "x[c[i] % n:] = sin(x[c[i] % n:])")
OTHER = ("x[i] = sum(tanh(x[h]) for h in range(c[i] % n)) * 0.7", "x[0] += sum(x[h] * x[i] for h in range(c[i] % n, n))", "x[:c[i] % n] = x[:c[i] % n] * x[i]")


def check() -> None:
    for k, (one, other) in enumerate(itertools.product(ONE, OTHER)):
        f = at.fn(source=TEXT.format(one=one, other=other))
        n = (1, 3, 5)[k % 3]
        rng = np.random.default_rng(k)
        x, c, s = rng.random(n), rng.integers(0, 9, n), rng.choice([0.05, 0.15, 0.3])
        wanted = np.array([(f.interpret(x + step, c, s) - f.interpret(x - step, c, s)) / 2e-5 for step in np.eye(n) * 1e-5])
        agree(at.grad(f), x, c, s)
        np.testing.assert_allclose(at.grad(f)(x, c, s), wanted, rtol=1e-6, atol=1e-8)
