"""`[a, *xs, b]` is what Python makes of it: arrays, ranges and tuples put into a list where they stand."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64
from tests.agreement import agree

n, m = at.sizes("n m")
RNG = np.random.default_rng(5)


@at.fn
def between(x: f64[n], y: f64[m]) -> f64[n + m + 2]:
    return [0, *x, 1.5, *y]


@at.fn
def rows(x: f64[n, m], y: f64[m]):
    return [y, *x], [*x, *x[::-1]], [[*row, 0.0] for row in x]


@at.fn
def of_everything(x: f64[n]):
    t = (1, x[:2])
    return [*range(n)], [*range(3), n], [*[1, 2], *(3, 4)], np.array([*x, t[0]]), [*zip(x, x)], [*reversed(x)], [*x]


@at.fn
def weighted(x: f64[n]) -> f64:
    y = [*x, 2.0, *x]
    return sum(y[i] * y[i] * (i + 1) for i in range(2 * n + 1))


@pytest.mark.parametrize("size", [0, 1, 4])
def test_between(size: int) -> None:
    x, y = RNG.normal(size=size), RNG.normal(size=3)
    agree(between, x, y, expected=np.array([0, *x, 1.5, *y]))


@pytest.mark.parametrize("size", [0, 1, 3])
def test_rows(size: int) -> None:
    x, y = RNG.normal(size=(size, 2)), RNG.normal(size=2)
    first, second, third = rows(x, y)
    assert np.array_equal(first, np.array([y, *x]))
    assert np.array_equal(second, np.array([*x, *x[::-1]]).reshape(2 * size, 2))
    assert np.array_equal(third, np.array([[*row, 0.0] for row in x]).reshape(size, 3))


def test_of_everything() -> None:
    x = RNG.normal(size=3)
    found = of_everything(x)
    expected = ([0, 1, 2], [0, 1, 2, 3], [1, 2, 3, 4], [*x, 1.0], (x, x), x[::-1], x)
    for a, b in zip(found, expected):
        assert all(np.array_equal(p, q) for p, q in zip(a, b)) if isinstance(a, tuple) else np.array_equal(a, b)


def test_gradient() -> None:
    x = RNG.normal(size=3)
    places = np.arange(1, 8)
    assert np.allclose(at.grad(weighted)(x), 2 * x * (places[:3] + places[4:]))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return [*x[0], 1.0]", "E0234: this cannot be iterated over"),
        ("return [*x, *a]", "E0202: the parts of [...] have different types: f64 and f64[m]"),
        ("return [*x, a]", "E0202"),
        ("return (*x, 1.0)", "E0101: `*` is not part of Atoll"),
        ("first, *rest = x + 1.0\n    return first", "E0101: `*` beside a value without a name is not part of Atoll"),
    ],
)
def test_refused(body: str, said: str) -> None:
    text = f"import atoll as at\nfrom atoll import f64\nn, m = at.sizes('n m')\n@at.fn\ndef f(x: f64[n], a: f64[n, m]):\n    {body}\n"
    with pytest.raises(at.Error) as caught:
        at.fn(source=text).type  # noqa: B018
    assert str(caught.value).startswith(said)
