"""Contracts proved before the program runs: what is proved holds, what does not hold is not proved."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from atoll.errors import Error
from atoll.madl.contracts import contracts
from atoll.madl.simulate import run_oracle
from tests.madl.harness import last, module

LIM = """
let lim (x of int, h of int) returns (y):
  assume h >= 0 && h <= 1000;
  guarantee y <= h; guarantee y >= -h;
  y = min(max(x, -h), h)
"""
STATUS = {
    LIM: ["assumed", "proved", "proved"],
    LIM + "let f (x of int) returns (y): guarantee y <= 100; y = lim(x, 50) + lim(x, 50)": ["proved", "proved", "proved"],
    LIM + "let f (x of int) returns (y): guarantee y <= 99; y = lim(x, 50) + lim(x, 50)": ["checked", "proved", "proved"],
    LIM + "let f (x of int, k of int) returns (y): y = lim(x, k)": ["checked"],
    LIM + "let f (x of int, k of int) returns (y): guarantee y <= 1000; y = lim(x, k)": ["checked", "checked"],
    LIM + "let f (x of int, k of int) returns (y): assume k == 7; y = lim(x, k)": ["assumed", "proved"],
    "let f () returns (n): guarantee n >= 0 && n <= 9; n init 0 = if last n < 9 then last n + 1 else 0": ["proved"],
    "let f () returns (n): guarantee n >= 0 && n <= 9; n init 10 = if last n < 9 then last n + 1 else 0": ["checked"],
    "let f () returns (n): guarantee n >= 0; n init 0 = last n + 1": ["checked"],
    "let f (c of bool) returns (n): guarantee n <= 9; n init 0 = if c then last n + 1 else 0": ["checked"],
    "let f <<n>> (v of [n]int, k of idx<<n>>) returns (y): guarantee k < n && k >= 0; guarantee k < n - 1; y = !v.[k]": ["proved", "checked"],
    "let f (x of [5]int) returns (y): forward [i] ([a] = x) returns (y = [b]): guarantee i <= 4; guarantee i <= 3; b = a + i": ["proved", "checked"],
    "let f <<n>> (x of [n]int) returns (y): guarantee n >= 0; guarantee n + 2 > n; y = !x": ["proved", "checked"],
    "let f (a of u8, b of u8) returns (y): guarantee y <= 510; guarantee y <= 509; y = i32(a) + i32(b)": ["proved", "checked"],
    "let f (a of u8, b of u8) returns (y): guarantee y >= a; y = a + b": ["checked"],
    "let f (a of i8) returns (y): assume a > -128; guarantee y >= 0; y = abs(a)": ["assumed", "proved"],
    "let f (a of i8) returns (y): guarantee y >= 0; y = abs(a)": ["checked"],
    "let f (a of int) returns (y): guarantee y >= 3 || y < 2; y = if a > 5 then 3 else 1": ["checked"],
    "let f (a of int) returns (y): guarantee y != 2; y = if a > 5 then 3 else 1": ["checked"],
    "let f (a of int, c of bool) returns (y): if c then assume a > 5; z = 1 else z = 2 end guarantee a > 5; y = a + z": ["assumed", "checked"],
    "let f (a of f64) returns (y): guarantee y <= 1.0; y = min(a, 1.0)": ["checked"],
}  # fmt: skip


@pytest.mark.parametrize("source", STATUS)
def test_what_is_proved(source: str) -> None:
    nd = module(source)
    assert [c["status"] for c in getattr(nd, list(nd)[-1]).contracts()] == STATUS[source]


def expression(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["a", "b", "last s", str(rng.randint(-9, 9))])
    one, two = expression(rng, depth - 1), expression(rng, depth - 1)
    return rng.choice([f"({one} + {two})", f"({one} - {two})", f"min({one}, {two})", f"max({one}, {two})", f"(if {one} < {two} then {one} else {two})", f"abs({one})", f"(-{one})", f"({one})*{rng.randint(-3, 3)}"])


def test_what_is_proved_holds() -> None:
    """Random programs on i8, so that sums wrap: every value of the inputs, for some cycles."""
    rng, proved = random.Random(4), 0
    for _ in range(150):
        low, high = sorted(rng.sample(range(-20, 21), 2))
        bounds = " && ".join(f"{x} >= {low} && {x} <= {high}" for x in "ab")
        goal = rng.choice([f"y <= {rng.randint(-5, 60)}", f"y >= {rng.randint(-60, 5)}", f"s <= {rng.randint(0, 30)}", f"s >= {-rng.randint(0, 30)}"])
        state = rng.choice([f"clip({expression(rng, 1)}, -9, 9)", expression(rng, 1)])
        op = last(f"let f (a of i8, b of i8) returns (y of i8): assume {bounds}; guarantee {goal}; s init 0 = {state}; y = ({expression(rng, 2)}) + 0".replace("= last s;", "= last s + 0;"))
        if [c.status for c in contracts(op)][1] != "proved":
            continue
        proved += 1
        pairs = list(itertools.product({low, high, (low + high) // 2}, repeat=2)) * 2
        rng.shuffle(pairs)
        run_oracle(op, {}, [(np.int8(x), np.int8(y)) for x, y in pairs])  # a contract that does not hold stops it
    assert proved >= 25


def test_what_is_assumed_of_sizes_is_asked_of_callers() -> None:
    nd = module("let f <<n>> (x of [n]f64) returns (y): assume n >= 3 && n < 10; y = !x\nlet g (x of [_]f64) returns (y): y = f(x)")
    assert nd.f(np.zeros(3)).shape == (3,) and nd.g(np.zeros(9)).shape == (9,)
    for call in (nd.f, nd.g, nd.f.interpret):
        for size in (2, 10):
            with pytest.raises(Error, match="E0961"):
                call(np.zeros(size))
    assert "#define G_NEEDS(n) " in nd.c_file().header() and "needs n >= 3" in nd.c_file().header()
    with pytest.raises(Error, match="E0914"):
        module("let f <<n>> (x of [n]f64) returns (y): assume n >= 3; y = !x\nlet h (x of [2]f64) returns (y): y = f(x)")


def test_what_does_not_hold_stops_the_simulation() -> None:
    op = last("let f (a of int) returns (y): guarantee y <= 4; y = a + 1")
    with pytest.raises(Error, match="E0966"):
        run_oracle(op, {}, [(np.int32(3),), (np.int32(4),)])
