"""Where only the truth counts a number is "not 0", as in Python: every place that tests, every type, inside `and`, `or`, `not`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import atoll as at

HEAD = "import numpy as np\nimport atoll as at\nfrom atoll import *\nn = at.sizes('n')\n@at.fn\n"
PLACES = {
    "if": "    r = 0\n    if {t}:\n        r = 1\n    elif {u}:\n        r = 2\n    return r\n",
    "while": "    r = 0\n    while ({t}) and r < 3:\n        r += 1\n    return r\n",
    "conditional": "    return 1 if {t} else 2\n",
    "assert": "    r = 0\n    for k in range(3):\n        if not ({t}):\n            continue\n        r += 1\n    return r\n",
    "filter": "    return sum(1 for k in range(6) if k % 2 and ({t}))\n",
    "any": "    return (any([{a}, {b}]), all([{a}, {b}]))\n",
}
TESTS = ["a", "b", "a and b", "a or b", "not a", "not (a and b)", "a and not b or a > 1", "(a or b) and (b or a)"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("t", ["i64", "f64", "u8", "c128"])
def test_numbers_are_true_when_they_are_not_zero(place: str, t: str) -> None:
    values = {"i64": [0, 1, -2], "f64": [0.0, -0.0, 0.5, float("nan")], "u8": [0, 255], "c128": [0j, 1j]}[t]
    for test in TESTS if place != "any" else TESTS[:1]:
        if t == "c128" and ">" in test:
            continue
        body = PLACES[place].format(t=test, u=TESTS[1], a="a", b="b")
        f = at.fn(source=HEAD + f"def f(a: {t}, b: {t}):\n" + body)
        space: dict[str, object] = {}
        exec("def f(a, b):\n" + body, space)  # noqa: S102  our own text
        for a, b in itertools.product(values, values):
            assert np.array_equal(f.interpret(a, b), space["f"](a, b)), (body, a, b)  # type: ignore[operator]


def test_compiled_and_derived() -> None:
    f = at.fn(source=HEAD + "def gcd(a: i64, b: i64):\n    while b:\n        a, b = b, a % b\n    return a\n")
    assert [int(f(a, b)) for a, b in ((12, 18), (7, 0), (0, 0), (-12, 18))] == [6, 7, 0, 6]
    g = at.fn(source=HEAD + "def g(x: f64, k: i64):\n    while k:\n        x = x * x if x else x\n        k -= 1\n    return x\n")
    assert at.grad(g)(2.0, 2) == 32.0
    h = at.fn(source=HEAD + "def h(a: i64):\n    while 1:\n        a += 1\n        if a > 5:\n            break\n    return a\n")
    assert h(2) == 6


def test_zip_ends_with_the_shortest() -> None:
    f = at.fn(
        source=HEAD.replace("n = at.sizes('n')", "n, m = at.sizes('n m')")
        + "def f(x: f64[n], y: f64[m]):\n    s = 0.0\n    for a, b in zip(x, y):\n        s += a * b\n    for a, b, c in zip(x, x[1:], x[2:]):\n        s += a * b - c\n"
        "    return s, [a - b for a, b in zip(x, y)], sum(i * a for i, (a, b) in enumerate(zip(y, x[1:]))), [a for a, _ in zip(x, range(2))]\n"
    )
    rng = np.random.default_rng(1)
    for n, m in ((5, 3), (3, 5), (4, 4), (2, 6)):
        x, y = rng.normal(size=n), rng.normal(size=m)
        s = sum(a * b for a, b in zip(x, y)) + sum(a * b - c for a, b, c in zip(x, x[1:], x[2:]))
        wanted = (s, [a - b for a, b in zip(x, y)], sum(i * a for i, (a, b) in enumerate(zip(y, x[1:]))), x[:2])
        for run in (f, f.interpret):
            for found, w in zip(run(x, y), wanted):
                np.testing.assert_allclose(found, w)
    g = at.fn(source=HEAD.replace("n = at.sizes('n')", "n, m = at.sizes('n m')") + "def g(x: f64[n], y: f64[m]):\n    return sum(a * b for a, b in zip(x, y))\n")
    np.testing.assert_allclose(at.grad(g)(np.arange(4.0), np.ones(2)), [1, 1, 0, 0])


def test_a_number_in_a_text_has_pythons_digits(capsys: pytest.CaptureFixture[str]) -> None:
    f = at.fn(source=HEAD + "def f(y: f32):\n    print(f'{y}', y)\n    return y\n")
    for v in (0.1, 1e20, 16777216.0, 1e-5, 1 / 3):
        y = np.float32(v)
        f(y)
        f.interpret(y)
        assert capsys.readouterr().out == f"{y} {y!s}\n" * 2


MARKED = ["y.T", "np.transpose(y)", "(-y).T", "np.exp(y).T", "y.T.T.T", "y.swapaxes(0, 1)", "np.swapaxes(y, 0, 1)", "y.astype(np.float64).T", "y.copy().T", "np.array(y).T", "y.T * 1.0", "(y.T).conj()"]


@pytest.mark.parametrize("other", MARKED)
def test_axes_that_none_made_stay_stretchable(other: str) -> None:
    f = at.fn(source=HEAD + f"def f(x: f64[n]):\n    y = x[:, None]\n    return y - {other}\n")
    x = np.arange(3.0)
    y = x[:, None]
    np.testing.assert_allclose(f.interpret(x), y - eval(other, {"np": np, "y": y}))  # noqa: S307  our own text


def test_functions_of_a_literal_size_are_passed_from_python() -> None:
    text = HEAD.replace("n = at.sizes('n')", "n, m = at.sizes('n m')")
    first = at.fn(source=text + "def first(v: f64[3]) -> f64:\n    return v[0] + v[2]\n")
    twice = at.fn(source=text + "def twice(v: f64[3]) -> f64[3]:\n    return v * 2\n")
    rows = at.fn(source=text + "def rows(g: at.Fn[[f64[n]], f64], x: f64[m, n]):\n    return [g(r) for r in x]\n")
    again = at.fn(source=text + "def again(g: at.Fn[[f64[n]], f64[n]], x: f64[n]):\n    return g(g(x))\n")
    np.testing.assert_array_equal(rows.interpret(first, np.arange(6.0).reshape(2, 3)), [2.0, 8.0])
    np.testing.assert_array_equal(again.interpret(twice, np.ones(3)), [4.0, 4.0, 4.0])
    with pytest.raises(at.SizeError, match="argument x .axis 0. must have size 3, not 4"):
        again.interpret(twice, np.ones(4))
