"""Equal loops are one C function, long functions are several, and long programs several files: the results stay."""

from __future__ import annotations

import re

import numpy as np

import atoll as at
from atoll import f32
from atoll.backends.c import apart, piece_text
from atoll.backends.c.units import _PART, parts, shape

n, m = at.sizes("n m")


@at.fn
def normed(x: f32[n]) -> f32[n]:
    e = exp(x - max(x))
    return e / sum(e)


@at.fn
def layer(w: f32[n, n], x: f32[m, n]) -> f32[m, n]:
    return tanh(normed(x) @ w)


@at.fn
def four(a: f32[n, n], b: f32[n, n], c: f32[n, n], d: f32[n, n], x: f32[m, n]) -> f32[m, n]:
    return layer(d, layer(c, layer(b, layer(a, x))))


@at.fn
def one(a: f32[n, n], x: f32[m, n]) -> f32[m, n]:
    return layer(a, x)


IN_A_LOOP = """
import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")

@at.fn
def in_a_loop(x: f64[m, n], k: i64) -> (f64[m, n], f64):
    # nests that set variables of the loop around them, which must come back
    best, worst = 0.0, 0.0
    for t in range(k):
        top = max(flatten(x))
        for i in range(m):
            for j in range(n):
                if x[i, j] > best:
                    best = x[i, j]
                    worst = worst + sum(x[i, p] * x[i, p] for p in range(n))
        for i in range(m):
            s = sum(x[i, p] for p in range(n))
            r = sum(x[i, p] * x[i, p] for p in range(n))
            for j in range(n):
                x[i, j] = x[i, j] / (1.0 + abs(top)) + s / (2.0 + r)
        for i in range(m):
            s = sum(x[i, p] * 3.0 for p in range(n))
            for j in range(n):
                x[i, j] = x[i, j] - s * 0.125
    return x, best + worst
"""


def defined(text: str) -> int:
    return len(re.findall(r"^AT_(?:PIECE|COLD) int", text, re.M))


def test_layers_are_the_same_functions():
    single, several = one.show("c"), four.show("c")
    assert defined(several) <= defined(single) + 5, "four layers have the functions of one, and those between two, with loops of exp"
    rng = np.random.default_rng(0)
    for size in (1, 3, 8, 40):
        w = [rng.normal(size=(size, size)).astype(np.float32) for _ in range(4)]
        x = rng.normal(size=(5, size)).astype(np.float32)
        step = x
        for each in w:
            step = one(each, step)
        np.testing.assert_allclose(four(*w, x), step, rtol=1e-4, atol=1e-6)


def test_variables_of_a_nest_come_back(monkeypatch):
    monkeypatch.setattr(piece_text, "_LONG", 0)
    monkeypatch.setattr(apart, "_SHORT", 0)
    monkeypatch.setenv("ATOLL_CFLAGS", "-DNESTS_ARE_FUNCTIONS")  # another entry of the cache
    in_a_loop = at.fn(source=IN_A_LOOP)
    assert "_io" in in_a_loop.show("c")
    x = np.random.default_rng(1).normal(size=(6, 7))
    for k in (0, 1, 4):
        got, expected = in_a_loop(x, k), in_a_loop.interpret(x, k)
        np.testing.assert_allclose(got[0], expected[0], rtol=1e-12)
        np.testing.assert_allclose(got[1], expected[1], rtol=1e-12)


def test_shapes_of_texts():
    fixed = frozenset({"table"})
    f = "AT_PIECE int p1(int64_t n, float *x) {{ for (int64_t {i} = 0; {i} < n; {i}++) {x}[{i}] = 1.5e3f * {f}({x}[{i}]) + {c}[{i}]; s.{low} = at->{args}; }}"
    usual = {"i": "i", "x": "x", "f": "sinf", "c": "table", "low": "low", "args": "args"}

    def of(**other: str) -> tuple[str, ...]:
        return shape(f.format(**{**usual, **other}), "p1", fixed)

    assert of() == of(i="j_1") and of() == shape(f.format(**usual).replace("p1", "p7"), "p7", fixed)
    assert of(i="e3f") == of(), "the end of a number is no name"
    for other in ({"f": "cosf"}, {"c": "x"}, {"c": "other"}, {"low": "top"}, {"args": "site"}, {"x": "n"}, {"i": "x"}):
        assert of(**other) != of(), other


def test_files_depend_on_texts_only():
    assert len(parts(["x" * 100] * 10)) == 1
    many = [("x" * (_PART // 3)) + str(k) for k in range(12)]
    found = parts(many)
    assert len(found) == 4 and sorted(t for part in found for t in part) == sorted(many)
