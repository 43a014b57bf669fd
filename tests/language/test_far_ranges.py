"""Ranges, slices and sizes whose ends lie far apart or near the ends of the 64-bit integers: right, or refused, by the interpreter and by compiled code alike.

The oracle is Python: the bounds are integers that have wrapped around (language 3), the rounds between them are those of Python's range.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np
import pytest

import atoll as at

MOST, LEAST = 2**63 - 1, -(2**63)
ENDS = [LEAST, LEAST + 4, -2, -1, 0, 3, 2**62, MOST - 4, MOST]
STEPS = [1, 3, -1, -2, 2**62, MOST, LEAST]
X = np.arange(1.0, 4.0)
HEAD = "import atoll as at\nimport numpy as np\nfrom atoll import *\nn = at.sizes('n')\nk = at.some('k')\n"


def some(rows: Iterable[str]) -> list[str]:
    """Every third row; all of them where time is given (make fuzz-ranks)."""
    return list(rows)[:: 1 if "ATOLL_EXAMPLES" in os.environ else 3]


def wrap(value: int) -> int:
    return (value - LEAST) % 2**64 + LEAST


def program(text: str) -> Any:
    return at.fn(source=HEAD + text)


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    """The value, or the code of the refusal."""
    try:
        value = f(*args)
    except at.Error as error:
        return error.code
    return [np.asarray(x).tolist() for x in (value if isinstance(value, tuple) else (value,))]


def left_early(rounds: range) -> list[int]:
    """What the loops below count and add up before they break."""
    count = total = 0
    for i in rounds:
        count, total = count + 1, wrap(total + i)
        if count >= 4:
            break
    return [count, total]


BOUNDS: dict[str, Callable[[int, int, int], tuple[int, ...]]] = {
    "a": lambda a, b, s: (a,),
    "b - a": lambda a, b, s: (b - a,),
    "a, b": lambda a, b, s: (a, b),
    "a + 1, b": lambda a, b, s: (a + 1, b),
    "a, b + 1": lambda a, b, s: (a, b + 1),
    "2 * a, b": lambda a, b, s: (2 * a, b),
    "-a, a": lambda a, b, s: (-a, a),
    "a, b, -1": lambda a, b, s: (a, b, -1),
    "a, b, 3": lambda a, b, s: (a, b, 3),
    "b, a, -3": lambda a, b, s: (b, a, -3),
    "a, b, 2**62": lambda a, b, s: (a, b, 2**62),
    "a - 1, b - a, -2": lambda a, b, s: (a - 1, b - a, -2),
    "a, b, s": lambda a, b, s: (a, b, s),
}
LEFT_EARLY = """def f(a: i64, b: i64, s: i64):
    count, total = 0, 0
    for i in RANGE:
        count, total = count + 1, total + i
        if count >= 4:
            break
    return count, total
"""
TO_THE_END = """def f(a: i64, b: i64, s: i64):
    count, total = 0, 0
    for i in RANGE:
        count, total = count + 1, total + i
    for i in reversed(RANGE):
        total = 3 * total + i
    return count, total, sum(i * i for i in RANGE), sum(1 for i in RANGE if i > 0)
"""
LISTED = """def f(a: i64, b: i64, s: i64) -> i64[k]:
    return [i for i in RANGE if i != 77]
"""


def ranges(bounds: str) -> list[tuple[tuple[int, int, int], range]]:
    """Arguments, and Python's range for them."""
    steps = STEPS if "s" in bounds else [1]
    found = []
    for a, b, s in product(ENDS, ENDS, steps):
        given = BOUNDS[bounds](a, b, s)
        found.append(((a, b, s), range(*(given if bounds == "b - a" else map(wrap, given)))))  # a size that is one polynomial is not cut off
    return found


def long(rounds: range) -> bool:
    return bool(rounds[100:])


@pytest.mark.parametrize("bounds", some(BOUNDS))
def test_loops_that_are_left(bounds: str):
    f = program(LEFT_EARLY.replace("RANGE", f"range({bounds})"))
    for args, rounds in ranges(bounds):
        expected = left_early(rounds)
        assert outcome(f, *args) == expected == outcome(f.interpret, *args), args


@pytest.mark.parametrize("bounds", some(BOUNDS))
def test_loops_that_end(bounds: str):
    f = program(TO_THE_END.replace("RANGE", f"range({bounds})"))
    for args, rounds in ranges(bounds):
        if not long(rounds):
            count, total = len(rounds), wrap(sum(rounds))
            for i in reversed(rounds):
                total = wrap(3 * total + i)
            expected = [count, total, wrap(sum(i * i for i in rounds)), sum(i > 0 for i in rounds)]
            assert outcome(f, *args) == expected == outcome(f.interpret, *args), args


def right_or_refused(f: Any, args: tuple[Any, ...], expected: Any) -> None:
    """Compiled code and the interpreter give what is expected, or refuse; both refuse what is far from any end of the integers, or neither."""
    found, meant = outcome(f, *args), outcome(f.interpret, *args)
    for value in (found, meant):
        assert isinstance(value, str) or value == expected, (args, value, expected)
    if all(abs(x) < 2**61 for x in args if isinstance(x, int)):
        assert isinstance(found, str) == isinstance(meant, str), (args, found, meant)


@pytest.mark.parametrize("bounds", some(BOUNDS))
def test_lists(bounds: str):
    f = program(LISTED.replace("RANGE", f"range({bounds})"))
    for args, rounds in ranges(bounds):
        right_or_refused(f, args, "E0713" if long(rounds) else [list(rounds)])


SLICES = ["x[a:a + b]", "x[:a]", "x[a:b]", "x[:3 * a]", "x[a:]", "x[a:b:2]", "x[b:a:-1]", "x[a + 1:b]", "x[:b - a]", "x[b::-1]"]
SIZES: dict[str, Callable[[int, int], int]] = {
    "ones(at.size(a))": lambda a, b: a,
    "ones(at.size(a + 1))": lambda a, b: a + 1,
    "ones(at.size(b - a))": lambda a, b: b - a,
    "ones(at.size(2 * a))": lambda a, b: 2 * a,
    "full(at.size(a), 1.0)": lambda a, b: a,
    "repeat(1.0, at.size(a + b))": lambda a, b: a + b,
    "np.ones(at.size(a * b))": lambda a, b: a * b,
    "np.arange(a, b) * 0 + 1": lambda a, b: b - a,
}


@pytest.mark.parametrize("slice_", some(SLICES))
def test_slices(slice_: str):
    """Refused, or what Python's slice of the bounds is; numbers below 0 do not count from the end, so those are refused."""
    f = program(f"def f(a: i64, b: i64, x: f64[n]) -> f64[k]:\n    s = {slice_}\n    return [v for v in s if v < 90.0]\n")
    for a, b in product([*(e for e in ENDS if e >= 0 or "-1" not in slice_), 1, 2, 6148914691236517205], repeat=2):
        given = {"a": a, "b": b, "x": X}
        right_or_refused(f, (a, b, X), [eval(slice_, given).tolist()])  # noqa: S307


@pytest.mark.parametrize("made", some(SIZES))
def test_sizes(made: str):
    """Refused, or as many elements as the integer says."""
    f = program(f"def f(a: i64, b: i64) -> f64[k]:\n    s = {made}\n    return [f64(v) for v in s if v < 90]\n")
    for a, b in product(ENDS, repeat=2):
        count = SIZES[made](a, b)
        right_or_refused(f, (a, b), [[1.0] * count] if 0 <= count < 100 else "refused")


REMAINDERS = (
    "2, p % 7", "p % 7, 3", "2 * (p % 7)", "q % 5, p % 7", "1, p % 7 + q % 5", "p % 7 - 2, q % 3 + 2", "p % (n + 1), 4", "1, 2 * (p % 7) - q % 3", "p % 7 - p % 5, 6",
    "1, p // 2**61 + 3",
)


@pytest.mark.parametrize("ends", REMAINDERS)
def test_remainders_of_large_integers(ends: str) -> None:
    """A remainder is small although what it is the difference of is not: 7 * (p // 7) + 2 wraps around."""
    head = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n@at.fn\ndef f(p: i64, q: i64, x: f64[n]):\n"
    f = at.fn(source=head + f"    s = 0\n    for i in range({ends}):\n        s += i * 3 + 1\n    return s, sum(i * i for i in range({ends}))\n")
    for p in (0, -1, 5, 2**63 - 1, 2**63 - 2, 2**63 - 5, -(2**63), -(2**63) + 1, -(2**63) + 6):
        for q in (5, 2**63 - 1, -(2**63), -3):
            expected = list(eval(f"range({ends})", {"p": p, "q": q, "n": 3}))  # noqa: S307  (texts above)
            for run in (f.interpret, f):
                s, squares = run(p, q, np.zeros(3))
                assert (int(s), int(squares)) == (sum(i * 3 + 1 for i in expected), sum(i * i for i in expected)), (p, q)
