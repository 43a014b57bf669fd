"""Programs that a stranger wrote and that do not work yet, each with what it should give. One that starts to work moves to test_programs.py."""

import numpy as np

import atoll as at

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m, k = at.sizes('n m k')\n"


def test_a_local_function_on_vectors_that_sums():
    f = at.fn(
        source=HEAD
        + """
@at.fn
def f(x: f64[n, 3], w: f64[n]):
    def force(p, q, mass):
        d = q - p
        far = sum(d * d) + 0.01
        return mass / (far * sqrt(far)) * d
    return [sum(force(p, q, v) for q, v in zip(x, w)) for p in x]
"""
    )
    x, w = np.arange(6.0).reshape(2, 3), np.ones(2)
    d = x[None] - x[:, None]
    far = (d**2).sum(-1) + 0.01
    np.testing.assert_allclose(f(x, w), (w[None, :, None] / far[..., None] ** 1.5 * d).sum(1))
