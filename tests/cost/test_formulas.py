"""`f.cost()`: formulas give what is counted, at every size, and read well (python -m tests.cost.formulas for everything)."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.cli import main
from tests.cost.formulas import at_sizes, differences
from tests.cost.programs import HEAD, PROGRAMS, Program

GRADIENTS = {"csr product", "put in a loop", "triangle", "lu by slices", "cholesky", "filter", "stencil over time"}

TEXTS = {
    "nothing": "def f(x: f64[n]) -> f64:\n    return 3.0\n",
    "inner points": "def f(x: f64[n]) -> f64[n]:\n    y = x * 2.0\n    for t in range(3):\n        y[1:-1] = y[:-2] + y[2:]\n    return y\n",
    "product": "def f(a: f64[n, k], b: f64[k, m]) -> f64[n, m]:\n    return a @ b\n",
    "band": "def f(a: f64[n, n], x: f64[n]) -> f64[n]:\n    return [sum(a[i, j] * x[j] for j in range(n) if i - 2 <= j and j <= i + 1) for i in range(n)]\n",
    "diagonal": "def f(a: f64[n, n]) -> f64[n, n]:\n    return [[1.0 if i == j else a[i, j] * a[j, i] for j in range(n)] for i in range(n)]\n",
    "both tests": "def f(x: f64[n]) -> f64:\n    return sum(v * v for i, v in enumerate(x) if v > 0.5 and v < 0.9 and x[n - 1 - i] > 0.1)\n",
    "while": "def f(x: f64[n]) -> (f64[n], i64):\n    t = 0\n    while t < n and x[t] < 0.8:\n        x[t] = x[t] + 1.0\n        t = t + 1\n    return x, t\n",
    "left early": "def f(x: f64[n]) -> f64:\n    s = 0.0\n    for i in range(n):\n        for j in range(i):\n            if x[j] > 0.9:\n                break\n            s = s + x[j]\n        if s > 3.0:\n            break\n    return s\n",
    "an argument": "def f(t: i64, x: f64[n]) -> f64[n]:\n    for s in range(t):\n        x = [0.5 * v for v in x]\n    return x\n",
    "histogram": "def f(x: f64[n]) -> f64[4]:\n    return hist(add, 0.0, 4, [i % 4 for i in range(n)], x)\n",
    "sorted": "def f(x: f64[n]) -> (f64[n], i64[n]):\n    return sort(x), argsort(x)\n",
    "kept": "def f(x: f64[n]) -> f64:\n    return sum(v * v for v in filter(lambda v: v > 0.5, x))\n",
    "branches": "def f(x: f64[n], c: bool) -> f64[n]:\n    if c:\n        for i in range(n):\n            x[i] = x[i] * 2.0 if x[i] > 0.5 else 0.0\n    else:\n        x = cumsum(x)\n    return x\n",
    "round an edge": "def f(x: f64[n]) -> f64[n]:\n    return [x[(i + 1) % n] + x[(i - 1) % n] for i in range(n)]\n",
    "pairs": "def f(x: f64[n]) -> f64[n, n]:\n    return [[x[i] * x[j] if j < i else x[i] for j in range(n)] for i in range(n)]\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_constructs(name: str) -> None:
    f = at.fn(source=HEAD + TEXTS[name])
    taken, wrong = at_sizes(f, (0, 1, 2, 3, 9))
    assert taken >= 3 and not wrong, wrong


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_programs(program: Program) -> None:
    assert not differences(program.function, program.points()[:2])
    if program.name in GRADIENTS:
        assert not differences(program.gradient, program.points()[:1])


def function(text: str) -> at.Function:
    return at.fn(source=HEAD + text)


def test_a_product_is_cubic() -> None:
    cost = function(TEXTS["product"]).cost()
    assert str(cost.operations) == "2*k*m*n"
    assert [cost.operations.degree(s) for s in "nmk"] == [1, 1, 1]  # type: ignore[union-attr]
    assert cost.at(n=2, m=3).operations.names == ("k",)  # type: ignore[union-attr]
    assert cost.at(n=2, m=3, k=4).operations == 48
    assert "operations     2*k*m*n" in str(cost) and "  arrays         8*k*m + 8*k*n + 8*m*n bytes" in str(cost)
    with pytest.raises(dataclasses.FrozenInstanceError):
        cost.operations = 3  # type: ignore[misc]


def test_numbers_at_sizes() -> None:
    f = function("def f(x: f64[n]) -> f64:\n    return sum(v * v for v in x)\n")
    cost = f.cost(n=1000)
    assert (cost.operations, cost.bytes_read) == (2001, 16000)  # x[r] * x[r] reads twice; one more to add the pieces
    assert cost.arrays == 8008 and cost.intensity == pytest.approx(0.25, rel=0.01)
    assert f.cost().intensity is None
    assert "operations     2,001" in str(cost)
    assert sum(nest.operations for nest in cost.nests) == cost.operations  # type: ignore[misc]


def test_unknowns_have_names() -> None:
    f = function("def f(ptr: i64[n + 1], val: f64[nnz]) -> f64[n]:\n    return [sum(val[e] for e in range(ptr[i], ptr[i + 1])) for i in range(n)]\n")
    cost = f.cost()
    (name,) = cost.operations.names  # type: ignore[union-attr]
    assert name.startswith("rounds_of_e") and cost.unknowns[name] == "rounds of the loop over e from 0 to extent(ptr[i], ptr[i + 1])" and name in str(cost)
    done = f.cost(n=4, nnz=9, **dict.fromkeys(cost.unknowns, 9))
    assert done.operations == 9 and not done.unknowns and f.cost(n=4, nnz=9).unknowns


def test_derivatives_and_schedules() -> None:
    f = function("def f(x: f64[n]) -> f64:\n    return sum(sin(v) for v in x)\n")
    assert at.grad(f).cost().operations.degree("n") == 1  # type: ignore[union-attr]
    g = function("def g(x: f64[n, m]) -> f64[n, m]:\n    return [[x[i, j] * 2.0 for j in range(m)] for i in range(n)]\n")
    cost = at.schedule(g).split("j", 8).compile().cost(n=3, m=20)
    assert (cost.operations, cost.bytes_written) == (60, 480)


@pytest.mark.parametrize(
    ("sizes", "says"),
    [({"q": 3}, "has no size or unknown q"), ({"n": -1}, "n is a whole number from 0 on"), ({"n": 2.5}, "n is a whole number from 0 on"), ({"n": True}, "n is a whole number")],
)
def test_wrong_sizes(sizes: dict[str, int], says: str) -> None:
    with pytest.raises(at.Error, match=says):
        function("def f(x: f64[n]) -> f64:\n    return sum(x)\n").cost(**sizes)


def test_recursion_is_refused() -> None:
    f = function("def f(k: i64) -> i64:\n    return k if k < 2 else f(k - 1) + f(k - 2)\n")
    with pytest.raises(at.Error, match="E0801"):
        f.cost()


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.py"
    file.write_text(HEAD + TEXTS["product"] + "@at.fn\ndef g(x: f64[n]) -> f64[n]:\n    return x * 2.0\n")

    def run(*args: str) -> tuple[int, str]:
        status = main(["cost", *args])
        return status, "".join(capsys.readouterr())

    status, text = run(str(file))
    assert status == 0 and "2*k*m*n" in text and "g:\n  operations     n\n" in text
    status, text = run(f"{file}:f", "--size", "n=2", "--size", "m=3", "--size", "k=4")
    assert status == 0 and "operations     48" in text
    status, text = run(f"{file}:f", "--size", "q=2")
    assert status == 2 and "has no size or unknown q" in text


def test_evaluated_as_counted_on_random_data() -> None:
    """Sizes that differ from each other."""
    f = function(TEXTS["product"])
    rng = np.random.default_rng(0)
    points = [(rng.random((n, k)), rng.random((k, m))) for n, k, m in ((2, 9, 3), (1, 17, 0), (0, 3, 2))]
    assert not differences(f, points)
