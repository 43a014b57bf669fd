"""A name that every `break` binds, and the `else` of the loop, has a value after the loop, as in Python."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


def first_above(x: i64[n], k: i64):
    for i in range(n):
        if x[i] > k:
            t = i
            break
    else:
        t = -1
    return t


def last_seen(x: i64[n], k: i64):
    for i in range(n):
        t = x[i]
        if t > k:
            break
    else:
        t = -1
    return t


def in_a_while(x: i64[n], k: i64):
    i = 0
    while i < n:
        if x[i] > k:
            t = i
            break
        i += 1
    else:
        t = -1
    return t


def the_loop_variable(x: i64[n], k: i64):
    for i, v in enumerate(x):
        if v > k:
            break
    else:
        i, v = -1, 0
    return 10 * v + i


def the_variables_of_two_loops(x: i64[n], k: i64):
    for i in range(n):
        for j in range(i, n):
            if x[i] + x[j] > k:
                break
        else:
            continue
        break
    else:
        i = -1
        j = -1
    return 10 * i + j


def the_variable_of_a_loop_inside(x: i64[n], k: i64):
    s = 0
    for i in range(n):
        for j in range(3):
            if x[i] > k + j:
                break
        else:
            j = 7
        s += j
    return s


def of_two_loops(x: i64[n], k: i64):
    for i in range(n):
        for j in range(i):
            if x[i] + x[j] == k:
                p = 10 * i + j
                break
        else:
            continue
        break
    else:
        p = -1
    return p


def endless(x: i64[n], k: i64):
    i = 0
    while True:
        t = i * k
        if t > 10 or i >= n:
            break
        i += 1
    return t


def else_returns(x: i64[n], k: i64):
    for i in range(n):
        match x[i]:
            case 5:
                t = i
                break
            case 7:
                t = 2 * i
                break
            case _:
                pass
    else:
        return -5 * k
    return t


def arrays_in_rounds(x: i64[n], k: i64):
    s = 0.0
    for q in range(3):
        for i in range(n):
            if x[i] > k + q:
                t = x[i] * 1.5
                row = x * 2
                break
        else:
            t = -1.0
            row = x
        s += t + sum(row)
    return s


def read_by_the_test(x: i64[n], k: i64):
    p, s = 5, 0
    for i in range(len(x)):
        j = 4
        while j > 0 and p > i:
            j -= 1
            p = x[i]
        else:
            p = p + 1
        s += p
    return s, p


def how_far_is_what_the_else_binds(x: i64[n], k: i64):
    p, s = 3, 0
    for i in range(len(x)):
        for q in range(p):
            p = x[q % len(x)] % 4
            s += p
        else:
            p = 2
        s = s * 2 + p
    return s, p


def the_variable_is_how_far(x: i64[n], k: i64):
    q, s = 3, 0
    for i in range(len(x)):
        for q in range(q):  # noqa: B020  as Python has it
            s += x[q % len(x)]
            if s > 100:
                break
        else:
            q = 4
        s = s * 2 + q
    return s, q


def read_by_the_test_and_left(x: i64[n], k: i64):
    p, s = 3, 0
    for i in range(len(x)):
        while p < 6:
            p = p + 2
            if p == k:
                p = 0
                break
        else:
            p = 1
        s = s * 2 + p
    return s, p


def gone_over(x: i64[n], k: i64):
    p, s, j = 3, 0, 0
    while j < len(x):
        for q in [p, j, 2]:
            p = q + 1
            if p > k:
                break
        else:
            p = p * 3 % 11
        s = s * 2 + p
        j += 1
    return s, p


FUNCTIONS = [first_above, last_seen, the_loop_variable, the_variables_of_two_loops, the_variable_of_a_loop_inside, in_a_while, of_two_loops, endless, else_returns, arrays_in_rounds, read_by_the_test, how_far_is_what_the_else_binds, the_variable_is_how_far, read_by_the_test_and_left, gone_over]


@pytest.mark.parametrize("f", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])
def test_as_in_python(f: Any) -> None:
    compiled = at.fn(f)
    for values in ([], [9], [1, 2, 5, 7], [1, 0], [3, 3, 3, 4], [0, 7, 5]):
        x = np.array(values, dtype=np.int64)
        for k in (-1, 0, 3, 6, 100):
            assert compiled(x, k) == FunctionType(f.__code__, {"n": len(x), "sum": sum})(x, k), (values, k)


def test_derivatives() -> None:
    @at.fn
    def first(x: f64[n], k: f64) -> f64:
        for i in range(n):
            if x[i] > k:
                t = x[i] * x[i]
                break
        else:
            t = 3.0 * k
        return t

    x = np.array([0.5, 2.0, 3.0])
    dx, dk = at.grad(first, wrt=(0, 1))(x, 1.0)
    np.testing.assert_array_equal(dx, [0.0, 4.0, 0.0])
    assert dk == 0.0
    assert at.grad(first, wrt=1)(x, 5.0) == 3.0


ONE_BREAK_DOES_NOT = """
for i in range(n):
    if x[i] > k:
        t = i
        break
    if x[i] < 0:
        break
else:
    t = -1
return t
"""
ELSE_DOES_NOT = """
for i in range(n):
    if x[i] > k:
        t = i
        break
else:
    k = 0
return t
"""
READ_BEFORE = """
for i in range(n):
    if x[i] > k:
        t = t + i
        break
else:
    t = -1
return t
"""


@pytest.mark.parametrize("body", [ONE_BREAK_DOES_NOT, ELSE_DOES_NOT, READ_BEFORE], ids=["one break does not", "else does not", "read before"])
def test_what_only_some_ways_bind_is_refused(body: str) -> None:
    text = "import atoll as at\nfrom atoll import i64\nn = at.sizes('n')\n@at.fn\ndef f(x: i64[n], k: i64):\n" + "".join(f"    {line}\n" for line in body.strip().split("\n"))
    with pytest.raises(at.Error, match="t may be unbound|t is not defined|has no value|before"):
        at.fn(source=text).compile()
