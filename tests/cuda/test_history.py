"""Rounds that need all before them, in one launch: the bits are those of one tree whatever order blocks run in, and what would be a race is found."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import atoll as at
from atoll.backends.cuda import language as k
from atoll.backends.cuda.check import check
from atoll.backends.cuda.generate import lowered
from atoll.loops.execute import Stuck
from tests.agreement import same
from tests.cuda.test_scans import _halves, _without, run

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n@at.fn\n"
LOOP = "    x = zeros(n)\n    for i in range(n):\n        x[i] = {}\n    return x\n"


def made(text: str) -> at.Function:
    return at.fn(source=HEAD + text)


def solve() -> at.Function:
    return made("def solved(a: f64[n, n], y: f64[n]):\n" + LOOP.format("(y[i] - sum(a[i, j] * x[j] for j in range(i))) / a[i, i]"))


def matrix(size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(size)
    return np.tril(rng.random((size, size))) + size * np.eye(size), rng.random(size)


def tree(a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The definition: 32 sums, each of the rounds 32 apart in earlier tiles, in a tree; then the rounds of the tile one after the other."""
    x = np.zeros(len(y))
    for i in range(len(y)):
        lanes, first = np.zeros(32), i - i % 32
        for c in range(0, first, 32):
            lanes = lanes + a[i, c : c + 32] * x[c : c + 32]
        total = _halves(lanes)
        for r in range(first, i):
            total = total + a[i, r] * x[r]
        x[i] = (y[i] - total) / a[i, i]
    return x


@pytest.mark.parametrize("order", ["0", "1", "5"])
def test_the_bits_are_those_of_the_definition(order, monkeypatch):
    monkeypatch.setenv("ATOLL_EMULATED_ORDER", order)
    there = solve().on("cuda-emulated")
    for size in (1, 31, 32, 33, 64, 131):
        a, y = matrix(size)
        assert there(a, y).tobytes() == tree(a, y).tobytes(), size


@pytest.mark.parametrize("backwards", [False, True])
def test_no_race(backwards):
    a, y = matrix(70)
    f = solve()
    assert np.array_equal(run(lowered(f.core), f, (a, y), backwards).run()[0], tree(a, y))


def test_waiting_is_needed():
    a, y = matrix(40)
    f = solve()
    program = lowered(f.core)
    kernel = next(x for x in program.kernels if x.name.endswith("_history"))

    def without(stmts, gone):
        inner = [dataclasses.replace(s, body=_without(s.body, gone)) if hasattr(s, "sym") else s for s in stmts]
        return _without(inner, gone)

    for gone, words in ((k.Await, "a race on"), (k.Tell, "no block that began before this one tells it")):
        (region,) = kernel.body
        other = dataclasses.replace(kernel, body=(k.Region(tuple(without(region.body, gone))),))
        body = [dataclasses.replace(s, kernel=other) if isinstance(s, k.Launch) and s.kernel is kernel else s for s in program.body]
        kernels = tuple(other if x is kernel else x for x in program.kernels)
        with pytest.raises(Stuck, match=words):
            run(check(dataclasses.replace(program, kernels=kernels, body=tuple(body))), f, (a, y)).run()


ONES = {
    "forwards": "(y[i] - sum(a[i, j] * x[j] for j in range(i))) / a[i, i]",
    "a convolution": "1.0 if i == 0 else sum(x[j] * y[i - j - 1] for j in range(i)) / 8.0",
    "a maximum under a test": "1.0 + max((x[j] if y[j] < y[i] else 0.0 for j in range(i)), default=0.0)",
    "with the row before": "y[i] + 0.5 * sum(x[j] * x[j] * a[j, i] for j in range(i))",
}
OTHERS = {
    "reads its own": "y[i] + x[i] + sum(x[j] for j in range(i))",
    "a place of the sum": "y[i64(sum(x[j] for j in range(i))) % n] + 1.0",
    "reads later ones": "y[i] + sum(x[n - 1 - j] for j in range(i))",
    "not all before": "y[i] + sum(x[j] for j in range(i - 1))",
}


@pytest.mark.parametrize("what", [*ONES, *OTHERS])
def test_the_same_as_the_interpreter(what):
    f = made("def rounds(a: f64[n, n], y: f64[n]):\n" + LOOP.format({**ONES, **OTHERS}[what]))
    assert any(x.name.endswith("_history") for x in lowered(f.core).kernels) == (what in ONES)
    for size in (1, 2, 70):
        a, y = matrix(size)
        same(f.on("cuda-emulated")(a / size, y), f.interpret(a / size, y), what)


def test_backwards():
    text = "def solved(a: f64[n, n], y: f64[n]):\n    x = zeros(n)\n    for i in range(n - 1, -1, -1):\n        x[i] = (y[i] - sum(a[i, j] * x[j] for j in range(i + 1, n))) / a[i, i]\n    return x\n"
    f = made(text)
    assert any(x.name.endswith("_history") for x in lowered(f.core).kernels)
    for size in (1, 33, 70):
        a, y = matrix(size)
        same(f.on("cuda-emulated")(a.T.copy(), y), f.interpret(a.T.copy(), y), size)
