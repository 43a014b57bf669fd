"""Branches that put at one place put once (ainf/translate/same_place.py): that it happens, that it is refused where it may not, and that values, errors and slopes stay."""

from __future__ import annotations

import random

import numpy as np
import pytest

import atoll as at
from tests.cost.ratio import ratios

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n@at.fn\n"
PUTS = ("u[{p}] = {e}", "v[{p}] = {e}", "u[{p}] += {e}", "u[{p}] -= {e}", "u[{p}] *= 0.5 + {e}", "t = {e}\n{i}u[{p}] = t * t\n{i}v[{p}] = t", "u[{p}] = {e}\n{i}u[{q}] = 0.5", "u[{p}] = {e}\n{i}assert c[i] < 90.0")
PLACES = ("i", "i", "i", "i + 1", "k", "n - 1 - i", "p[i]", "p[i] + 1")
VALUES = ("c[i]", "u[i] * c[i]", "sin(u[i]) + 1.0", "u[{p}] - 0.1 * (u[{p}] - c[i])", "v[i] * 0.9", "2.0")
TESTS = ("c[i] > 0.0", "c[i] < -1.0", "i % 2 == 0", "u[i] > v[i]", "p[i] < 2")


def tree(r: random.Random, depth: int, indent: str) -> str:
    """Branches that put; most of them at one place."""
    here = r.choice(PLACES)
    inner = indent + "    "
    parts = []
    for word in ["if", *["elif"] * r.randint(0, 2), "else"][: r.choice((2, 3, 3, 4, 4))]:
        place = here if r.random() < 0.8 else r.choice(PLACES)
        body = tree(r, depth - 1, inner) if depth and r.random() < 0.3 else inner + r.choice(PUTS).format(p=place, q=r.choice(PLACES), e=r.choice(VALUES).format(p=place), i=inner) + "\n"
        parts.append(f"{indent}{word}{'' if word == 'else' else ' ' + r.choice(TESTS)}:\n{body}")
    return "".join(parts)


def program(seed: int) -> str:
    r = random.Random(seed)
    return (
        HEAD
        + f"def f(u: f64[n], c: f64[n], p: i64[n]) -> f64:\n    v = zeros(n)\n    for i in range({r.choice(('n', 'n - 1', '1, n - 1'))}):\n        k = (i + 1) % n\n{tree(r, 2, ' ' * 8)}"
        + "    return sum(u[i] * u[i] + cos(v[i]) for i in range(n))\n"
    )


def told(f: at.Function, args: tuple[object, ...]) -> object:
    try:
        return f(*args)
    except at.Error as error:
        return str(error)


@pytest.mark.parametrize("seed", range(24))
def test_values_errors_and_slopes_stay(seed: int) -> None:
    f = at.fn(source=program(seed))
    g = at.grad(f, wrt=(0, 1))
    for n in (1, 2, 5):
        r = np.random.default_rng(100 * seed + n)
        args = (r.normal(size=n), 1.5 * r.normal(size=n), r.integers(0, n + (seed % 3 == 0), n))
        got = told(f, args)
        try:
            wanted: object = f.interpret(*args)
        except at.Error as error:
            assert isinstance(got, str) and got.split(":")[0] == error.code, (got, error)
            assert isinstance(told(g, args), str)
            continue
        assert got == wanted
        slopes = g(*args)
        away = [r.normal(size=n) for _ in range(2)]
        ends = [f(args[0] + h * away[0], args[1] + h * away[1], args[2]) for h in (1e-7, -1e-7)]
        along = sum(float(s @ d) for s, d in zip(slopes, away, strict=True))
        assert abs((ends[0] - ends[1]) / 2e-7 - along) < 1e-4 * (1 + abs(along)), (n, ends, along)


def puts(branches: str, before: str = "") -> int:
    text = f"def f(u: f64[n], c: f64[n], p: i64[n]) -> f64[n]:\n    for i in range(1, n - 1):\n{before}{branches}    return u\n"
    return at.fn(source=HEAD + text).show("ainf").count("scatter")


BRANCH = "        if c[i] > 0.0:\n            {}\n        elif c[i] < -1.0:\n            {}\n        else:\n            {}\n"


def test_that_it_happens() -> None:
    assert puts(BRANCH.format("u[i] = u[i - 1]", "u[i] = 2.0", "u[i] += c[i]")) == 1
    assert puts(BRANCH.format("u[i] = u[i - 1]", "t = sin(c[i])\n            u[i] = t * t", "u[i] = u[i + 1]")) == 1
    assert puts(BRANCH.format("u[i + 1] = 1.0", "u[i + 1] = 2.0", "if c[i] > -0.5:\n                u[i + 1] = 3.0\n            else:\n                u[i + 1] = u[i]")) == 1


@pytest.mark.parametrize(
    ("branches", "left"),
    [
        (("u[i] = 1.0", "u[i + 1] = 2.0", "u[i] = 3.0"), 3),  # another place
        (("u[p[i]] = 1.0", "u[p[i]] = 2.0", "u[p[i]] = 3.0"), 3),  # which may be none: each tells its own line
        (("u[i] += c[i]", "u[i] -= c[i]", "u[i] += 2.0"), 3),  # sums stay sums
        (("u[i] = 1.0", "u[i] = 2.0", "u[i] = 3.0\n            assert c[i] < 5.0"), 3),  # something may fail after it
        (("u[i] = 1.0", "pass", "u[i] = 3.0"), 2),  # one puts nothing
        (("u[i] = 1.0\n            u[i + 1] = 2.0", "u[i + 1] = 2.0", "u[i + 1] = 0.0"), 3),  # the last array of one is not that of the others; the two inner ones are one
    ],
)
def test_where_it_does_not(branches: tuple[str, str, str], left: int) -> None:
    assert puts(BRANCH.format(*branches)) == left


def test_arrays_put_in_the_same_order() -> None:
    text = "def f(u: f64[n], v: f64[n]) -> (f64[n], f64[n]):\n    for i in range(n):\n        if u[i] > 0.0:\n            u[i] = v[i]\n            v[i] = 1.0\n        else:\n            u[i] = 2.0\n            v[i] = v[i] * u[i]\n    return u, v\n"
    f = at.fn(source=HEAD + text)
    r = np.random.default_rng(1)
    args = (r.normal(size=6), r.normal(size=6))
    assert f.show("ainf").count("scatter") <= 4
    for got, wanted in zip(f(*args), f.interpret(*args), strict=True):
        assert np.array_equal(got, wanted)


def test_a_scheme_by_the_sign_is_cheap() -> None:
    """Three branches had three versions, each with what it overwrote and whether it did: 7.5 times the function."""
    text = "def f(u: f64[n], c: f64[n], h: f64) -> f64:\n    for t in range(n):\n        for i in range(1, n - 1):\n            if c[i] > 0.0:\n                u[i] = u[i] - h * c[i] * (u[i] - u[i - 1])\n            elif c[i] < -1.0:\n                u[i] = u[i] * 0.9\n            else:\n                u[i] = u[i] - h * c[i] * (u[i + 1] - u[i])\n    return sum(v * v for v in u)\n"
    f = at.fn(source=HEAD + text)
    r = np.random.default_rng(2)
    found = ratios(f, at.grad(f, wrt=(0, 1, 2)), [(r.normal(size=n), r.normal(size=n), 0.05) for n in (8, 16)])
    assert max(found.operations) < 6.2, found
