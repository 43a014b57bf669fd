"""A symbolic differentiator: expressions are a union, the rules of calculus and the simplifications are patterns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


@at.record
class Num:
    """A constant."""

    value: f64


@at.record
class X:
    """The variable."""


@at.record
class Add:
    """left + right"""

    left: Expr
    right: Expr


@at.record
class Mul:
    """left * right"""

    left: Expr
    right: Expr


@at.record
class Sin:
    """sin(of)"""

    of: Expr


@at.record
class Cos:
    """cos(of)"""

    of: Expr


@at.record
class Exp:
    """exp(of)"""

    of: Expr


Expr = Num | X | Add | Mul | Sin | Cos | Exp


@at.fn
def plus(a: Expr, b: Expr) -> Expr:
    """a + b, simplified."""
    match a, b:
        case Num(0.0), _:
            return b
        case _, Num(0.0):
            return a
        case Num(x), Num(y):
            return Num(x + y)
        case _:
            return Add(a, b)


@at.fn
def times(a: Expr, b: Expr) -> Expr:
    """a * b, simplified."""
    match a, b:
        case Num(0.0), _:
            return a
        case _, Num(0.0):
            return b
        case Num(1.0), _:
            return b
        case _, Num(1.0):
            return a
        case Num(x), Num(y):
            return Num(x * y)
        case Num(x), Mul(Num(y), c):
            return Mul(Num(x * y), c)
        case _:
            return Mul(a, b)


@at.fn
def derivative(e: Expr) -> Expr:
    """de/dx"""
    match e:
        case Num(_):
            return Num(0.0)
        case X():
            return Num(1.0)
        case Add(a, b):
            return plus(derivative(a), derivative(b))
        case Mul(a, b):
            return plus(times(derivative(a), b), times(a, derivative(b)))
        case Sin(a):
            return times(Cos(a), derivative(a))
        case Cos(a):
            return times(Num(-1.0), times(Sin(a), derivative(a)))
        case Exp(a):
            return times(e, derivative(a))


@at.fn
def nth_derivative(e: Expr, times_: i64) -> Expr:
    """Differentiated again and again."""
    for _ in range(times_):
        e = derivative(e)
    return e


@at.fn
def size(e: Expr) -> i64:
    """How many nodes."""
    match e:
        case Num(_) | X():
            return 1
        case Add(a, b) | Mul(a, b):
            return 1 + size(a) + size(b)
        case Sin(a) | Cos(a) | Exp(a):
            return 1 + size(a)


@at.fn
def value(e: Expr, x: f64) -> f64:
    """The expression at x."""
    match e:
        case Num(v):
            return v
        case X():
            return x
        case Add(a, b):
            return value(a, x) + value(b, x)
        case Mul(a, b):
            return value(a, x) * value(b, x)
        case Sin(a):
            return sin(value(a, x))
        case Cos(a):
            return cos(value(a, x))
        case Exp(a):
            return exp(value(a, x))


@at.fn
def tabulate(e: Expr, xs: f64[n]) -> f64[n]:
    """The derivative at many places: the tree is differentiated once."""
    d = derivative(e)
    return [value(d, x) for x in xs]


@at.fn
def derived_size(times_: i64) -> i64:
    """The size of a high derivative of x * exp(sin(x * x))."""
    return size(nth_derivative(Mul(X(), Exp(Sin(Mul(X(), X())))), times_))


def _rules(e: Any) -> Any:
    """The same rules in Python, on tuples."""

    def plus(a: Any, b: Any) -> Any:
        if a == ("num", 0.0):
            return b
        if b == ("num", 0.0):
            return a
        return ("num", a[1] + b[1]) if a[0] == b[0] == "num" else ("add", a, b)

    def times(a: Any, b: Any) -> Any:
        if a == ("num", 0.0) or b == ("num", 1.0):
            return a
        if b == ("num", 0.0) or a == ("num", 1.0):
            return b
        if a[0] == b[0] == "num":
            return ("num", a[1] * b[1])
        if a[0] == "num" and b[0] == "mul" and b[1][0] == "num":
            return ("mul", ("num", a[1] * b[1][1]), b[2])
        return ("mul", a, b)

    match e:
        case ("num", _):
            return ("num", 0.0)
        case ("x",):
            return ("num", 1.0)
        case ("add", a, b):
            return plus(_rules(a), _rules(b))
        case ("mul", a, b):
            return plus(times(_rules(a), b), times(a, _rules(b)))
        case ("sin", a):
            return times(("cos", a), _rules(a))
        case ("cos", a):
            return times(("num", -1.0), times(("sin", a), _rules(a)))
        case ("exp", a):
            return times(e, _rules(a))


def oracle_size(times: int) -> int:
    """The size of the same derivative, by Python."""
    x: Any = ("x",)
    e: Any = ("mul", x, ("exp", ("sin", ("mul", x, x))))
    for _ in range(times):
        e = _rules(e)

    def size(e: Any) -> int:
        return 1 + sum(size(part) for part in e[1:] if isinstance(part, tuple))

    return size(e)


def check() -> list[Any]:
    """Pairs of what Atoll and Python say."""
    e = Mul(X(), Exp(Sin(Mul(Num(2.0), X()))))  # x exp(sin 2x)
    xs = np.linspace(-1.0, 1.0, 7)
    exact = [math.exp(math.sin(2 * x)) * (1 + 2 * x * math.cos(2 * x)) for x in xs]
    return [(bool(np.allclose(tabulate(e, xs), exact)), True), (derived_size(4), oracle_size(4))]


def main() -> None:
    for ours, theirs in check():
        assert ours == theirs
    print(f"d/dx sin(x) * x = {nth_derivative(Mul(Sin(X()), X()), 1)}")
    print(f"the 6th derivative of x * exp(sin(x * x)) has {derived_size(6)} nodes")


if __name__ == "__main__":
    main()
