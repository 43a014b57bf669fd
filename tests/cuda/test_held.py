"""Rows in registers (atoll/backends/cuda/held.py): what is one, that it is right at every length around a class, and that nothing of it races."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import Tuple, f32, f64, i64
from atoll.backends.cuda import group, held
from atoll.backends.cuda.generate import generate, lowered
from atoll.runtime.cuda.nvrtc import cubin
from tests.agreement import same
from tests.cuda.test_nvrtc import needs
from tests.cuda.test_runtime import TARGETS
from tests.fuzz.stages import Stages

n, m, h = at.sizes("n m h")


@at.fn
def softmax(x: f64[n, m]) -> f64[n, m]:
    e = [exp(r - max(r, default=0.0)) for r in x]
    return [r / sum(r) for r in e]


@at.fn
def norm(x: f32[n, m], by: f32[m], to: f32[m]) -> f32[n, m]:
    mean = sum(x) / f32(m + 1)
    away = [x[i] - mean[i] for i in range(n)]
    return [away[i] / sqrt(sum(away[i] * away[i]) / f32(m + 1) + 1e-5) * by + to for i in range(n)]


@at.fn
def spread(x: f64[h, n, m]) -> Tuple[f64[h, n], i64[h, n], f64[h, n, m]]:
    low = [[min(r, default=1.0) for r in p] for p in x]
    above = [[sum(i64(v > low[i, j] + 1.0) for v in x[i, j]) for j in range(n)] for i in range(h)]
    return low, above, [[x[i, j] - low[i, j] if above[i, j] > 2 else x[i, j] * 2.0 for j in range(n)] for i in range(h)]


@at.fn
def logarithms(x: f64[n, m], y: f64[n, m]) -> f64[n]:
    top = [max(r, default=0.0) for r in x]
    total = [log(sum(exp(x[i] - top[i])) + 1.0) + top[i] for i in range(n)]
    return [sum((x[i] - total[i]) * y[i]) for i in range(n)]


FUNCTIONS = (softmax, norm, spread, logarithms)


def arguments(f, rows, length):
    rng = np.random.default_rng(rows + length)
    return {
        "softmax": lambda: [rng.normal(size=(rows, length))],
        "norm": lambda: [rng.normal(size=s).astype(np.float32) for s in ((rows, length), (length,), (length,))],
        "spread": lambda: [rng.normal(size=(2, rows, length))],
        "logarithms": lambda: [rng.normal(size=(rows, length)), rng.normal(size=(rows, length))],
    }[f.name]()


def in_rows(f):
    return [kernel for kernel in lowered(f.core).kernels if kernel.name.endswith("_rows")]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.name)
def test_by_threads(f, monkeypatch):
    """Small classes, lengths around them, and one that has no class; looked at for races and for what nobody wrote."""
    monkeypatch.setattr(held, "CLASSES", ((32, 1, 64), (64, 2, 64)))
    monkeypatch.setattr(group, "LEAST", 2)
    monkeypatch.setattr(group, "SHORT", 1)
    assert len(in_rows(f)) == 2
    for length in (31, 32, 33, 128):
        args = arguments(f, 2, length)
        for backwards in (False, True):
            same(tuple(Stages(f).run_kernels(args, backwards)), tuple(_flat(f.interpret(*args))), f"{f.name} {length}")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.name)
def test_the_text(f, target, monkeypatch):
    """Of every class, at its ends, against the CPU; the order of threads changes no bit."""
    assert len(in_rows(f)) >= 2
    for length in (256, 1000, 1024, 1025, 4096, 4100, 16384, 20000, 33000):
        args = arguments(f, 2, length)
        found = f.on(target)(*args)
        same(found, f(*args), f"{f.name} {length}")
        if length in (1000, 16384):
            monkeypatch.setenv("ATOLL_EMULATED_ORDER", "2")
            again = f.on(target)(*args)
            monkeypatch.delenv("ATOLL_EMULATED_ORDER")
            assert [x.tobytes() for x in _flat(found)] == [x.tobytes() for x in _flat(again)]


def _flat(value):
    return [x for item in value for x in _flat(item)] if isinstance(value, tuple) else [value]


@at.fn
def shifted(x: f64[n, m + 1]) -> f64[n, m]:
    e = [[x[i, j] + x[i, j + 1] for j in range(m + 1 - 1)] for i in range(n)]
    return [r / sum(r) for r in e]


@at.fn
def looked_up(x: f64[n, m], at_: i64[m]) -> f64[n, m]:
    e = [r * 2.0 for r in x]
    top = [max(r, default=0.0) for r in e]
    return [[e[i, at_[j]] - top[i] for j in range(m)] for i in range(n)]


@at.fn
def once(x: f64[n, m]) -> Tuple[f64[n], f64[n]]:
    return sum(x), [max(r, default=0.0) for r in x]


@at.fn
def perhaps(x: f64[n, m], y: f64[n, h]) -> f64[n, m]:
    top = [max(r, default=0.0) for r in x]
    more = [sum((y[i, j] if j < h else 0.0) for j in range(m)) for i in range(n)]
    return [[x[i, j] - top[i] + more[i] + (y[i, j] if j < h else 1.0) for j in range(m)] for i in range(n)]


def test_what_is_no_row():
    """An array of the point read at another element has to be in memory; what is read under a condition is not asked for before it."""
    assert not in_rows(looked_up)
    for kernel in in_rows(perhaps):
        text = generate(perhaps.core).kernels_text
        body = text[text.index(kernel.name) :].split("\n}\n")[0]
        assert "h >" in body or "h - 1 >=" in body
    for f, args in ((shifted, [np.arange(2 * 301.0).reshape(2, 301)]), (looked_up, [np.arange(600.0).reshape(2, 300), np.arange(300)[::-1].copy()]), (once, [np.arange(600.0).reshape(2, 300)]), (perhaps, [np.arange(600.0).reshape(2, 300), np.ones((2, 7))])):
        same(f.on("cuda-emulated")(*args), f(*args), f.name)


@needs
def test_registers():
    """Elements are in registers: nothing in local memory but what calls of functions take, and no more than a block of that many threads can have."""
    for f in (norm, spread):
        uses = cubin(generate(f.core).kernels_text, "sm_90", f.name).uses
        for kernel in in_rows(f):
            assert uses[kernel.name].registers <= 65536 // kernel.threads and uses[kernel.name].stack <= 64, (f.name, kernel.note, uses[kernel.name])


def program(seed):
    """The text of a function of rows: arrays that rows make, sums and extremes over them, scalars between, and one or two results."""
    rng = np.random.default_rng(seed)
    t = str(rng.choice(["f64", "f32", "i64"]))
    names, scalars, lines = ["x[i]", "y[i]", "w"], [f"{t}(2)", f"{t}(i)", "b[i]"], []

    def value(j):
        def one():
            kind = int(rng.integers(0, 6))
            if kind < 3:
                return f"{rng.choice(names)}[{j}]"
            if kind == 5 and t != "i64":
                return f"exp(-abs({rng.choice(names)}[{j}]))"
            return str(rng.choice(scalars)) if kind == 3 else f"({rng.choice(names)}[{j}] if {rng.choice(names)}[{j}] > {rng.choice(scalars)} else {rng.choice(scalars)})"

        return f" {rng.choice(['+', '-', '*'])} ".join(one() for _ in range(int(rng.integers(1, 4))))

    for step in range(int(rng.integers(2, 6))):
        if rng.random() < 0.5:
            lines.append(f"a{step} = [{value('j')} for j in range(m)]")
            names.append(f"a{step}")
        else:
            over = rng.choice(["sum({})", "max({}, default={t}(1))", "min({}, default={t}(1))"])
            lines.append(f"s{step} = " + str(over).replace("{t}", t).format(f"({value('j')} for j in range(m))"))
            scalars.append(f"s{step}")
    results = [f"[{value('j')} for j in range(m)]", *([str(rng.choice(scalars))] if rng.random() < 0.5 else [])]
    body = "\n    ".join([*lines, f"return {', '.join(results)}"])
    return f"""import atoll as at
from atoll import f32, f64, i64
n, m = at.sizes("n m")
@at.fn
def row(i: i64, x: {t}[n, m], y: {t}[n, m], w: {t}[m], b: {t}[n]):
    {body}
@at.fn
def f(x: {t}[n, m], y: {t}[n, m], w: {t}[m], b: {t}[n]):
    return [row(i, x, y, w, b) for i in range(n)]
""", t


def tried(seed, monkeypatch):
    """Whether any kernel of the program of a seed holds rows; that it is right."""
    text, t = program(seed)
    f = at.fn(source=text)
    dtype = {"f64": np.float64, "f32": np.float32, "i64": np.int64}[t]
    rng = np.random.default_rng(seed)

    def numbers(length):
        return [rng.integers(-3, 4, s).astype(dtype) for s in ((3, length), (3, length), (length,), (3,))]

    for length in (300, 1030):
        args = numbers(length)
        same(f.on("cuda-emulated")(*args), f(*args), f"seed {seed}, {length}\n{text}")
    found = in_rows(f)
    monkeypatch.setattr(held, "CLASSES", ((32, 1, 64), (32, 2, 64)))
    monkeypatch.setattr(group, "LEAST", 2)
    monkeypatch.setattr(group, "SHORT", 1)
    for length in (0, 1, 37, 70):
        args = numbers(length)
        same(tuple(Stages(f).run_kernels(args)), tuple(_flat(f.interpret(*args))), f"seed {seed}, {length}\n{text}")
    monkeypatch.undo()
    return bool(found)


def test_programs(monkeypatch):
    assert all([tried(seed, monkeypatch) for seed in (4, 12, 18)])  # of 24 programs, eight hold rows
