"""Branches on bools that are made of parts: every combination of and, or, not, chained choices, with updates and values in both branches."""

import itertools

import numpy as np
import pytest

import atoll as at
from atoll.ainf.check import Malformed, check
from atoll.ainf.from_core import translate
from tests.agreement import agree
from tests.oracle import in_python

TESTS = [
    "1 != k and (False if k >= 5 else True)",
    "(k > 2 or k < 0) and not (k == 4)",
    "not (1 != k and (k < 5 or j > 0))",
    "(True if k >= 3 else j == 1) and k != 4",
    "(k > 0 and j > 0) or (k > 3 and (False if j > 1 else True))",
    "not ((k > 1) == (j > 1)) or k == 0",
]
BODIES = [
    ("pass", "v[0] ^= 1"),
    ("v[1] += k", "v[0] = v[1] + 2"),
    ("v = v + 1", "pass"),
    ("v[0] = sum(v)", "v[j] = k"),
]


@pytest.mark.parametrize("test", TESTS)
def test_both_branches(test):
    for k, (then, orelse) in enumerate(BODIES):
        f = at.fn(
            source=f"""
import atoll as at
from atoll import i64
def f{k}(v: i64[3], k: i64, j: i64):
    chosen = {test}
    if chosen:
        {then}
    else:
        {orelse}
    return v, chosen
"""
        )
        check(translate(f.core))
        for a, b in itertools.product((0, 1, 2, 4, 5, -1), (0, 1, 2)):
            agree(f, np.array([2, 3, 4]), a, b, compiled=a in (0, 4))


def test_results_are_checked():
    """A result that reads a line where it has no value is a mistake of the compiler that the checker finds."""
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n], k: at.i64):\n    b = isnan(x[0])\n    return [x[i] if b else exp(x[i]) for i in range(n)]\n")
    program = translate(f.core)
    check(program)
    from atoll.ainf import ir

    line = program.results[0].body.line
    made = next(x for x in program.block.lines if x.results and x.results[0].dtype.name == "bool")
    line.conds = (ir.Cond("false", None, ir.Ref(made, 0, ())),)
    with pytest.raises(Malformed, match="exists only if"):
        check(program)


IN = """
import atoll as at
from atoll import f64, i64, u8
n = at.sizes("n")
LINE = 10

@at.fn
def f(s: u8[n], k: i64, x: f64):
    blanks, others, runs = 0, 0, 0
    before = 32
    for c in s:
        if c in (32, LINE) or c in [9]:
            blanks += 1
        elif c not in {65, 66, k}:
            others += 1
        runs += c not in (before,)
        before = i64(c)
    return blanks, others, runs, (k, blanks) in ((1, 2), (3, 1)), x in (0.0, -1.5), x not in (k, 2.5), not k in (3, -3)
"""


def test_one_of_the_values_that_are_written_there() -> None:
    f = at.fn(source=IN)
    reference = in_python(IN, "f", LINE=10)
    for text in (b"", b" a b\nA\t\tB", b"AB  AC"):
        for k, x in ((3, 0.0), (67, -1.5), (-3, float("nan")), (1, 1.0)):
            case = np.frombuffer(text, np.uint8), k, x
            agree(f, *case, expected=tuple(np.asarray(part)[()] for part in reference(*case)), compiled=True)
    assert "if not (c == 65 or c == 66 or i64(c) == k):" in f.explain()
