"""What NumPy makes depend on narrow types or on there being no elements."""

from __future__ import annotations

import numpy as np

import atoll as at

HEAD = "import atoll as at\nimport numpy as np\nfrom atoll import f32, f64, i64\nn, m = at.sizes('n m')\n"


def test_weights_of_a_fit_keep_narrow_values_narrow() -> None:
    """NumPy multiplies y by w in place: f32 values are rounded to f32, then fitted in doubles."""
    f = at.fn(source=HEAD + "def f(x: f32[n], y: f32[n], w: f64[n]):\n    return np.polyfit(x, y, 2, w=w)\n")
    g = at.fn(source=HEAD + "def g(x: f64[n], y: f64[n], w: f32[n]):\n    return np.polyfit(x, y, 2, w=w)\n")
    rng = np.random.default_rng(0)
    for _ in range(3):
        x, y, w = rng.random((3, 9))
        narrow = x.astype(np.float32), y.astype(np.float32), w
        np.testing.assert_allclose(f(*narrow), np.polyfit(narrow[0], narrow[1], 2, w=w), rtol=1e-10)
        mixed = x, y, w.astype(np.float32)
        np.testing.assert_allclose(g(*mixed), np.polyfit(x, y, 2, w=mixed[2]), rtol=1e-10)


def test_no_elements_have_the_type_of_some() -> None:
    """As docs/for_numpy_users.md says; NumPy gives integers, and one number."""
    counts = at.fn(source=HEAD + "def f(x: i64[n], w: f64[n]):\n    return np.bincount(x, weights=w, minlength=2)\n")
    assert counts(np.zeros(0, np.int64), np.zeros(0)).dtype == np.float64
    quantiles = at.fn(source=HEAD + "def f(x: f64[n]):\n    return np.nanquantile(x, [0.5, 0.2])\n")
    assert quantiles(np.zeros(0)).shape == (2,) and np.isnan(quantiles(np.zeros(0))).all()
