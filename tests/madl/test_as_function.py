"""Operators of MADL inside @at.fn: the values of the operator, and derivatives that agree with differences."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.errors import Error
from tests.madl.corpus import ACCEPTED
from tests.madl.harness import module, pick_sizes, random_inputs, same

n = at.sizes("n")
ND = module("""
let dot (u of [_]f64, v) returns (s): forward ([a] = u) ([b] = v) returns (s = {t}): t init 0.0 = last t + a*b
let mat_vec (m, v) returns (w): forward ([row] = m) returns (w = [x]): x = dot(row, v)
let sat (x of [_]f64 at 'l) returns (y at 'l): forward ([a] = x) returns (y = [b]): b = if a > 1.0 then 1.0 else max(a, -1.0)
let smooth (x of [_]f64) returns (y): forward ([a] = x) returns (y = [b]): b = exp(-a*a) + sin(a)
let ratio (a of int, b of int) returns (q, r): q = a / b; r = a % b
let keeps (x of f64) returns (y): y init 0.0 = last y + x
type c = { re of f64, im of f64 }
let both (x of c) returns (y of f64): y = x.re + x.im
let rec sum <<n>> (x of [n]f64) returns (s of f64): if n == 1 then [|a|] = x; s = !a else (l of [n/2]_) ++ h = x; s = sum<<n/2>>(l) + sum<<n-n/2>>(h) end
let eight (x of [8]f64) returns (s): s = sum<<8>>(x)
let fixed (x of q<<1,15>>) returns (y): y = x*x
""")


@at.fn
def energy(x: at.f64[n]) -> at.f64:
    y = ND.smooth(ND.sat(x))
    return ND.dot(y, x) * 2.0


dot = ND.dot


@at.fn
def twice(x: at.f64[n]) -> at.f64:
    return dot(x, x) + dot(x, x)


def test_calls_inside_functions() -> None:
    x = np.array([0.5, -2.0, 1.5, 0.25])
    y = ND.smooth(ND.sat(x))
    for found in (energy(x), energy.interpret(x)):  # functions may group the terms of a sum in another way
        assert np.isclose(found, ND.dot(y, x) * 2.0, rtol=1e-15, atol=0)
    assert np.isclose(twice(x), 2 * ND.dot(x, x), rtol=1e-15, atol=0)


def test_derivatives() -> None:
    x, h = np.array([0.5, -2.0, 1.5, 0.25]), 1e-6
    found = at.grad(energy)(x)
    for k in range(4):
        d = np.zeros(4)
        d[k] = h
        assert abs((energy(x + d) - energy(x - d)) / (2 * h) - found[k]) < 1e-6
    m, v = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0])
    assert at.jacrev(ND.mat_vec.function, wrt="v")(m, v).tolist() == m.tolist()


def test_what_has_a_value_in_madl_has_it_here() -> None:
    assert [tuple(map(int, ND.ratio.function(np.int32(a), np.int32(b)))) for a, b in ((-7, 2), (7, 0))] == [tuple(map(int, ND.ratio(a, b))) for a, b in ((-7, 2), (7, 0))] == [(-4, 1), (0, 0)]


@pytest.mark.parametrize(("name", "words"), [("keeps", "it has state"), ("both", "neither a number nor"), ("eight", "functions do not have"), ("fixed", "neither a number nor")])
def test_what_is_refused(name: str, words: str) -> None:
    with pytest.raises(Error, match=words):
        _ = getattr(ND, name).function


def test_the_programs_of_the_thesis() -> None:
    """Every program without state that can be a function gives the same values."""
    same_bits, refused = 0, 0
    for source in ACCEPTED.values():
        nd = module(source)
        operator = getattr(nd, list(nd)[-1])
        if operator.recursive or operator.kind != "func" or operator.compiled.graph.generics:
            continue
        try:
            function = operator.function
        except Error:
            refused += 1
            continue
        rng = random.Random(source)
        sizes = pick_sizes(operator.compiled, rng)
        (args,) = random_inputs(operator.compiled, sizes, rng, 1)
        named: dict[str, Any] = {operator.compiled.graph.size_names[sym]: value for sym, value in sizes.items()}
        assert same(function.interpret(*args), operator.interpret(*args, **named)), source
        same_bits += 1
    assert same_bits >= 15, (same_bits, refused)
