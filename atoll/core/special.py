"""Special functions Python's math module lacks, to full double precision. The C backend has the same formulas."""

from __future__ import annotations

import math
from fractions import Fraction


def fma(a: float, b: float, c: float) -> float:
    """a*b + c rounded once."""
    a, b, c = float(a), float(b), float(c)
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def digamma(x: float) -> float:
    """The derivative of lgamma: recurrence up to 10, then the asymptotic series."""
    if math.isnan(x) or x == math.inf:
        return x
    if x == -math.inf:
        return math.nan
    if x <= 0.0:
        if x == math.floor(x):
            return math.nan
        return digamma(1.0 - x) - math.pi / math.tan(math.pi * x)
    result = 0.0
    while x < 10.0:
        result -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    tail = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))))
    return result + math.log(x) - 0.5 / x - tail


def trigamma(x: float) -> float:
    """The derivative of digamma."""
    if math.isnan(x):
        return x
    if x == math.inf:
        return 0.0
    if x == -math.inf:
        return math.nan
    if x <= 0.0:
        if x == math.floor(x):
            return math.inf
        s = math.sin(math.pi * x)
        return (math.pi / s) ** 2 - trigamma(1.0 - x)
    result = 0.0
    while x < 10.0:
        result += 1.0 / (x * x)
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * (5 / 66 - y * (691 / 2730 - y * 7 / 6))))))
    return result + (1.0 + 0.5 / x + series) / x
