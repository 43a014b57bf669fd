"""Rows 46 to 63 of the checklist in docs/sources.md, ATL: what the normal form shares, moves and keeps.

The paper counts lines of its own grammar: literals, `a[i]`, `pair`, `for` and `fun` are lines there and operands, contexts or results here.
`paper_lines` adds them back. Its columns "raw" are before normalisation, which Atoll's translation does not have; what stands
here are the columns "norm" (sharing off) and "norm+cse".
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.ainf import ir
from atoll.ainf.dead import Live, remove_dead
from atoll.ainf.evaluate import Evaluator
from atoll.ainf.from_core import translate
from atoll.ainf.renormal import renormal
from atoll.ainf.scan_prim import parts
from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.runtime.arguments import from_python
from tests.agreement import agree, fails
from tests.plan.measure import measure

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n"


def fn(text: str) -> Any:
    return at.fn(source=HEAD + text)


def lines_of(f: Any, share: bool = True) -> list[ir.Line]:
    program = remove_dead(translate(f.core, share))
    return [line for line in program.block.lines if not isinstance(line.prim, ir.Input)]


def ops(f: Any, name: str, share: bool = True) -> int:
    return sum(isinstance(line.prim, ir.Op) and line.prim.name == name for line in lines_of(f, share))


def paper_lines(f: Any, results: int, share: bool = True) -> int:
    """Lines as the paper counts them: ours, one per literal and per element read (each time without sharing), and the result's."""
    literals: list[Any] = []
    reads: list[Any] = []
    lines = lines_of(f, share)
    for line in lines:
        for part in parts(line.prim):
            if isinstance(part, ir.Const):
                literals.append(part)
            elif isinstance(part, ir.Ref) and isinstance(part.line.prim, ir.Input) and part.index:
                reads.append(part)
    if share:
        return len(lines) + len(set(map(repr, literals))) + len(set(map(repr, reads))) + results
    return len(lines) + len(literals) + len(reads) + results


def work(f: Any, *args: Any, share: bool = True) -> int:
    program = remove_dead(translate(f.core, share))
    given = from_python(f.core, f._arguments(args, {}))
    e = Evaluator(program, [leaf for x in given for leaf in leaves(x)], bind_call(f.core, given))
    e.results()
    return e.work


BLACK_SCHOLES = """
@at.fn
def black_scholes(a: f64[n]):
    S, K, r, sigma = 1.0, 1.0, 1.0, 1.0
    d1 = [(log(S / K) + (r + sigma * sigma / 2.0) * t) / (sigma * sqrt(t)) for t in a]
    d2 = [x - sigma * sqrt(t) for x, t in zip(d1, a)]
    call = [S * erf(x) - K * exp(0.0 - r * t) * erf(y) for x, y, t in zip(d1, d2, a)]
    put = [K * exp(0.0 - r * t) * erf(0.0 - y) - S * erf(0.0 - x) for x, y, t in zip(d1, d2, a)]
    return [(c, p) for c, p in zip(call, put)]
"""
DENSE = """
@at.fn
def dense(W: f64[m, n], x: f64[n], b: f64[m]):
    return [max(0.0, sum(W[i, j] * x[j] for j in range(n)) + b[i]) for i in range(m)]
"""
CONV = """
@at.fn
def conv(x: f64[n], y: f64[n + m - 1]):
    return [sum(x[j] * y[j + i] for j in range(n)) for i in range(m)]
"""


def test_46_sum_of_indices() -> None:
    """idx 3 + idx 4 is below 6: no check is needed to index six elements."""
    f = fn("@at.fn\ndef f(x: f64[6]):\n    return [[x[i + j] for j in range(4)] for i in range(3)]")
    assert not any(isinstance(line.prim, ir.Check) for line in lines_of(f))
    agree(f, np.arange(6.0))


CSE1 = fn("""
@at.fn
def cse1(x: i64):
    if x != 0:
        y = (x + 1) * 42
    else:
        y = (x + 1) * (x + 2)
    return y + x
""")
CSE2 = fn("""
@at.fn
def cse2(x: i64):
    a = x + 1
    if x != 0:
        b = a
    else:
        b = x + 1
    return a * b
""")
CSE3 = fn("""
@at.fn
def cse3(x: i64):
    if x != 0:
        b = x + 1
    else:
        b = 5
    return b * (x + 1)
""")


def test_47_48_sharing_across_branches() -> None:
    """1 + x is computed once, unconditionally, whichever branch mentions it first."""
    for f in (CSE1, CSE2, CSE3):
        for line in lines_of(f):
            assert not line.conds
        for x in (0, 1, -7):
            agree(f, np.int64(x))
        assert len(lines_of(f)) <= len(lines_of(f, share=False))


def test_49_black_scholes_lines() -> None:
    """22 lines, and one more: log(1) + x is x + 0, which is not x when x is -0.

    Names are lines already (the artifact copies what a name stands for and gets 53); sharing saves sqrt t, 0 - t and exp once each.
    """
    f = fn(BLACK_SCHOLES)
    assert paper_lines(f, results=3) == 22 + 1
    assert len(lines_of(f, share=False)) == len(lines_of(f)) + 3


def test_50_black_scholes_value() -> None:
    from math import erf, exp, sqrt

    f = fn(BLACK_SCHOLES)
    d1 = 1.5 * 2.5 / sqrt(2.5)
    d2 = d1 - sqrt(2.5)
    call = erf(d1) - exp(-2.5) * erf(d2)
    put = exp(-2.5) * erf(-d2) - erf(-d1)
    value = agree(f, np.array([2.5]))
    np.testing.assert_allclose([value[0][0], value[1][0]], [call, put])


def test_51_dense_and_conv_share_nothing() -> None:
    """14 and 9 lines in the paper; nothing to share, so the counts are the same with and without."""
    for text in (DENSE, CONV):
        f = fn(text)
        assert len(lines_of(f)) == len(lines_of(f, share=False))
    assert [type(line.prim).__name__ for line in lines_of(fn(CONV))] == ["Op", "Reduce"]
    assert [type(line.prim).__name__ for line in lines_of(fn(DENSE))] == ["Op", "Reduce", "Op", "Op"]
    rng = np.random.default_rng(0)
    agree(fn(DENSE), rng.random((10, 20)), rng.random(20), rng.random(10))
    agree(fn(CONV), rng.random(20), rng.random(29))


def test_52_loop_of_a_loop_is_one() -> None:
    f = fn("@at.fn\ndef loop1():\n    xs = [i + 5 for i in range(5)]\n    return [x + 5 for x in xs]")
    assert len(lines_of(f)) == 0  # i + 10 is an index
    agree(f, expected=np.arange(5) + 10)


def test_53_first_of_a_loop_of_pairs() -> None:
    f = fn("@at.fn\ndef foo(xs: f64[n]):\n    ps = [(x + 1.0, exp(x) * 3.0) for x in xs]\n    return [p[0] for p in ps]")
    assert ops(f, "exp") == 0 and len(lines_of(f)) == 1
    agree(f, np.arange(3.0), expected=np.arange(3.0) + 1)


def egypt(k: int, t: str = "f64") -> Any:
    body = "".join("    x = x * x\n" for _ in range(k))
    return fn(f"@at.fn\ndef egypt(x: {t}):\n{body}    return x")


def test_54_egypt() -> None:
    assert ops(egypt(7), "mul") == 7 and ops(egypt(3), "mul", share=False) == 3
    f = egypt(7, "i64")
    with np.errstate(over="ignore"):
        expected = np.int64(13)
        for _ in range(7):
            expected = expected * expected
    agree(f, np.int64(13), expected=expected)


def test_55_egypt_30_is_instant() -> None:
    start = time.perf_counter()
    assert ops(egypt(30), "mul") == 30
    nested = fn("@at.fn\ndef f(x: f64):\n    sq = lambda g: lambda y: g(g(y))\n    return sq(sq(sq(lambda y: y * y)))(x)")
    assert ops(nested, "mul") == 8
    assert time.perf_counter() - start < 60


def test_56_invariant_sum_is_linear() -> None:
    f = fn("@at.fn\ndef f(x: f64[n]):\n    return [v / sum(x) for v in x]")
    small, large = work(f, np.ones(20)), work(f, np.ones(80))
    assert large < 4.5 * small


def test_57_one_condition_under_two_names() -> None:
    f = fn("""
@at.fn
def f(x: i64, y: f64):
    c = x > 3
    d = x > 3
    a = exp(y) if c else 0.0
    b = exp(y) if d else 1.0
    return a + b
""")
    assert ops(f, "exp") == 1
    assert ops(f, "gt") + sum(isinstance(line.prim, ir.Truth) for line in lines_of(f)) == 0  # both are conditions
    agree(f, np.int64(5), 2.0)


def test_58_nested_ifs_share_their_prefix() -> None:
    f = fn("""
@at.fn
def f(x: f64, p: at.bool_, q: at.bool_):
    if p:
        a = exp(x)
        if q:
            a = a + exp(x)
    else:
        a = 1.0
    return a
""")
    assert ops(f, "exp") == 1
    for p in (True, False):
        for q in (True, False):
            agree(f, 0.5, p, q)


def test_59_what_can_fail_stays_in_its_branch() -> None:
    f = fn("""
@at.fn
def f(x: i64[n], i: i64, j: i64):
    if i >= 0 and i < n:
        a = x[i]
    else:
        a = 0
    return a + (x[j] if j < n else 7 // (j - n))
""")
    x = np.arange(4)
    agree(f, x, 9, 2, expected=np.int64(2))
    agree(f, x, 2, 11, expected=np.int64(3))
    fails(f, x, 1, 4, code="E0702")
    g = fn("@at.fn\ndef g(x: i64[n], k: i64):\n    s = 0\n    for i in range(k):\n        s += x[n - 1] // k\n    return s")
    agree(g, np.zeros(0, np.int64), 0, expected=np.int64(0))


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.0])
def test_60_zero_times_x_is_kept(value: float) -> None:
    f = fn("@at.fn\ndef f(x: f64):\n    return 0.0 * x, x + 0.0, x - x, x / x")
    with np.errstate(invalid="ignore"):
        x = np.float64(value)
        agree(f, x, expected=(0.0 * x, x + 0.0, x - x, x / x))
        assert np.signbit(f(x)[0]) == np.signbit(0.0 * x)


def test_61_normal_forms_are_fixed_points() -> None:
    """One primitive per line; normalising again changes nothing."""
    for text in (BLACK_SCHOLES, DENSE, CONV):
        program = remove_dead(translate(fn(text).core))
        again = remove_dead(renormal(program, Live(program)))
        assert [str(type(x.prim)) for x in again.block.lines] == [str(type(x.prim)) for x in program.block.lines]


def test_62_black_scholes_is_one_loop() -> None:
    found = measure(fn(BLACK_SCHOLES), n=10)
    assert (found.nests, found.temporaries, found.stores) == (1, [], 20)


def test_63_dense_is_two_nested_loops() -> None:
    found = measure(fn(DENSE), n=20, m=10)
    assert (found.nests, found.temporaries, found.stores) == (1, [], 10)
    assert found.flops == 10 * (2 * 20 + 2)
