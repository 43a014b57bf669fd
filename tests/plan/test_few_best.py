"""The place of the best of a few elements: the first of equal ones, the first NaN, whatever stands where."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import atoll as at

ODD = (0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"))


@pytest.mark.parametrize("which", ["argmin", "argmax"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_odd_values(which: str, count: int) -> None:
    text = f"import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n@at.fn\ndef f(x: f64[n, {count}]) -> i64[n]:\n    return [{which}([x[i, j] for j in range({count})]) for i in range(n)]\n"
    f = at.fn(source=text)
    rows = np.array(list(product(ODD, repeat=count)))
    expected = f.interpret(rows)
    assert (f(rows) == expected).all() and (getattr(np, which)(rows, axis=1) == expected).all()
    assert "isnan" not in f.show("loops")


def test_integers_and_many() -> None:
    text = "import atoll as at\nfrom atoll import i64\nn = at.sizes('n')\n@at.fn\ndef f(x: i64[n, {}]) -> i64[n]:\n    return [argmax(row) for row in x]\n"
    for count in (4, 9, 10, 70):
        f = at.fn(source=text.format(count))
        x = np.random.default_rng(count).integers(0, 5, (50, count))
        assert (f(x) == x.argmax(axis=1)).all()


def test_slopes_of_largest_elements_with_nan() -> None:
    """What flows back goes to the first NaN, as the place that argmax finds."""
    text = "import atoll as at\nfrom atoll import f64\nn = at.sizes('n')\n@at.fn\ndef f(x: f64[n, 3]) -> f64:\n    return sum((i + 1.0) * max(x[i, j] for j in range(3)) for i in range(n))\n"
    rows = np.array(list(product(ODD, repeat=3)))
    found = at.grad(at.fn(source=text))(rows)
    expected = np.zeros_like(rows)
    expected[np.arange(len(rows)), rows.argmax(axis=1)] = np.arange(len(rows)) + 1.0
    assert (found == expected).all()
