"""Loops inside loops that make the same array anew: memory goes round among several buffers, and everyone keeps what is his."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.loops import ir as lp
from atoll.lower.make import make_loops
from tests.agreement import agree, flat, same
from tests.export.driver import SANITIZE, run

n = at.sizes("n")


@at.fn
def result(b: f64[n], rounds: i64) -> f64[n]:
    for r in range(rounds):
        b = b + 1.0
        for j in range(rounds):
            b = rotate(b, 1) * 0.5 + f64(j)
    return b


@at.fn
def between(b: f64[n], rounds: i64) -> f64:
    for r in range(rounds):
        b = b + 1.0
        for j in range(rounds):
            b = rotate(b, 1) * 0.5 + f64(j)
    c = reverse(b)
    return sum(c[i] * b[i] for i in range(n))


@at.fn
def three(b: f64[n], rounds: i64) -> f64[n]:
    for r in range(rounds):
        b = reverse(b) + 1.0
        for j in range(rounds + 1):
            b = rotate(b, 1) * 0.5
            for k in range(2 * rounds + 1):
                b = rotate(b, 2) + f64(k)
    return b


@at.fn
def twice(b: f64[n], rounds: i64) -> (f64[n], f64[n]):
    a = reverse(b)
    for r in range(rounds):
        a, b = rotate(b, 1), reverse(a)
        for j in range(rounds):
            a, b = b + f64(r), rotate(a, 1) * 0.5
    return a, b


@at.fn
def under_a_condition(b: f64[n], rounds: i64) -> f64[n]:
    for r in range(rounds):
        if r % 2 == 0:
            for j in range(rounds):
                b = rotate(b, 1) * 0.5 + f64(j)
        else:
            b = reverse(b)
    return b


@at.fn
def until(b: f64[n], rounds: i64) -> f64[n]:
    r = 0
    while r < rounds:
        b = rotate(b, 1) + 1.0
        j = 0
        while j < r + rounds:
            b = rotate(b, 1) * 0.5
            j += 1
        r += 1
    return b


@at.fn
def one_after_the_other(b: f64[n], rounds: i64) -> f64[n]:
    for r in range(rounds):
        for j in range(rounds):
            b = rotate(b, 1) * 0.5 + f64(j)
    for r in range(rounds):
        b = reverse(b) + 1.0
        for j in range(rounds):
            b = rotate(b, 2) * 0.5 + f64(j)
    return b


FUNCTIONS = [result, between, three, twice, under_a_condition, until, one_after_the_other]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.name)
def test_values(f):
    for rounds in range(5):
        for size in (1, 4):
            agree(f, np.arange(1.0, size + 1), rounds)


@pytest.mark.parametrize("workspace", ["heap", "caller"])
@pytest.mark.parametrize("f", [result, three, twice], ids=lambda f: f.name)
def test_exported(f, workspace, tmp_path):
    args = (np.arange(1.0, 6.0), 3)
    status, _, found = run(f, args, tmp_path, *SANITIZE, workspace=workspace)
    assert status == 0
    same(tuple(found), tuple(flat(f.interpret(*args))))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.name)
def test_what_is_exchanged_lives_equally_long(f):
    """No loop allocates a buffer that it exchanges with one from outside."""
    for loop in lp.walk(make_loops(f.core).body):
        if isinstance(loop, (lp.For, lp.Forever)):
            made = {s.buffer for s in lp.walk(loop.body) if isinstance(s, lp.Alloc)}
            assert not any(isinstance(s, lp.Swap) and (s.first in made) != (s.second in made) for s in lp.walk(loop.body))
