"""Reductions and scans by a user's operator run in pieces where it is associative, and from left to right where it is not or where the program says so."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll.lower.fold_code import NUMBERS, UNKNOWN
from atoll.runtime.library import threads as number
from tests.agreement import flat

HEAD = """
import atoll as at
from atoll import f32, f64, i64
n, m = at.sizes("n m")
@at.record
class Pair:
    p: f64
    q: f64
@at.fn{options}
def f(x: f64[n], y: f64[m], c: f64):
    return {body}
"""
# operator, start, element; the starts of the first two are not neutral, and count once
ASSOCIATIVE = {
    "number": ("lambda a, b: a + b + 0.1 * a * b", "0.5", "0.01 * sin(v)"),
    "captured": ("lambda a, b: a + b + c * a * b", "0.25", "0.01 * v"),
    "first": ("lambda a, b: a", "7.0", "v"),
    "pair": ("lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1])", "(1.0, 0.0)", "(0.9 + 0.05 * sin(v), v)"),
    "mixed": ("lambda a, b: (a[0] + b[0], a[1] if a[1] > b[1] else b[1])", "(0, -9.0)", "(1, v)"),
    "record": ("lambda a, b: Pair(a.p + b.p + a.q * b.q, a.q + b.q)", "Pair(0.0, 0.0)", "Pair(0.01 * v, 0.01 * v)"),
    "vector": ("lambda a, b: [u + v + 0.1 * u * v for u, v in zip(a, b)]", "[0.0 for j in range(m)]", "[0.01 * v * w for w in y]"),
    "matrix": ("lambda a, b: a @ b", "[[1.0, 0.0], [0.0, 1.0]]", "[[0.9, 0.1 * sin(v)], [0.05 * sin(v), 0.8]]"),
}
NOT = {
    "squares": ("lambda a, b: a + b * b", "0.0", "v"),
    "sines": ("lambda a, b: a + sin(b)", "0.0", "v"),
    "half": ("lambda a, b: 0.5 * (a + b)", "0.0", "v"),
    "vectors": ("lambda a, b: [u * v + 0.1 * v for u, v in zip(a, b)]", "[1.0 for j in range(m)]", "[0.1 * v * w for w in y]"),
    "nothing to see": ("lambda a, b: log(-1.0 - a * a) + b", "0.0", "v"),
}
FOLDS = ("reduce({op}, {start}, [{element} for v in x])", "scan({op}, {start}, [{element} for v in x])", "scan({op}, {start}, [{element} for v in x], exclusive=True)")


def program(case: tuple[str, str, str], options: str = "") -> at.Function:
    op, start, element = case
    return at.fn(source=HEAD.format(options=options, body=", ".join(fold.format(op=op, start=start, element=element) for fold in FOLDS)))


def in_pieces(f: at.Function) -> int:
    """How many passes over pieces there are: a reduction is one, a scan two."""
    return f.show("loops").count("pieces piece_lo..piece_hi")


@pytest.mark.parametrize("name", ASSOCIATIVE)
def test_same_value_and_same_bits(name: str) -> None:
    f = program(ASSOCIATIVE[name])
    assert in_pieces(f) == 5
    rng = np.random.default_rng(1)
    y = rng.normal(size=2)
    for n in (0, 1, 3, 17, {"vector": UNKNOWN, "matrix": NUMBERS // 4}.get(name, NUMBERS) + 1):
        x = rng.normal(size=n)
        for a, b in zip(flat(f(x, y, 0.1)), flat(f.interpret(x, y, 0.1)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    x = rng.normal(size=70 * NUMBERS + 5)
    before = number()
    try:
        found = []
        for threads in (1, 5):
            at.set_threads(threads)
            found.append([np.asarray(a).tobytes() for a in flat(f(x, y, 0.1))])
    finally:
        at.set_threads(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("name", NOT)
def test_what_is_not_associative_goes_from_left_to_right(name: str) -> None:
    assert not in_pieces(program(NOT[name]))


def test_where_regrouping_is_forbidden_nothing_is_regrouped() -> None:
    f = program(ASSOCIATIVE["captured"], "(reassociate=False)")
    assert not in_pieces(f)
    x = np.random.default_rng(2).normal(size=NUMBERS + 9)
    assert all(np.array_equal(a, b) for a, b in zip(flat(f(x, x[:1], 0.1)), flat(f.interpret(x, x[:1], 0.1)), strict=True))


def test_inside_a_map_the_map_is_cut() -> None:
    f = at.fn(source="import atoll as at\nfrom atoll import f64\nn, m = at.sizes('n m')\n@at.fn\ndef f(x: f64[n, m]) -> f64[n]:\n    return [reduce(lambda a, b: a + b + a * b, 0.0, row) for row in x]\n")
    assert not in_pieces(f) and "pieces i_lo..i_hi of n" in f.show("loops")
