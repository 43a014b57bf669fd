"""What integers can be where the sizes are numbers: intervals of polynomials, of expressions, and tests that they decide.

An interval is (least, greatest), both included, or None when nothing is known. Everything errs to the large side: a value is always inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from atoll.core.prims import PRIMS
from atoll.loops import ir as lp
from atoll.sizes import Atom, Poly, Quot

Interval = tuple[int, int] | None
Env = Mapping[Any, Interval]

_HALF = 1 << 62  # beyond, machine integers may have wrapped


def of_poly(p: Poly, env: Env) -> Interval:
    """Where a polynomial lies."""
    low = high = 0
    for mono, coef in p.terms.items():
        a, b = coef, coef
        for atom in mono:
            found = _of_atom(atom, env)
            if found is None:
                return None
            ends = (a * found[0], a * found[1], b * found[0], b * found[1])
            a, b = min(ends), max(ends)
        low, high = low + a, high + b
    return (low, high) if -_HALF < low and high < _HALF else None


def _of_atom(atom: Atom, env: Env) -> Interval:
    if isinstance(atom, Quot):
        num, den = of_poly(atom.num, env), of_poly(atom.den, env)
        if num is None or den is None or den[0] < 1:
            return None
        ends = [n // d for n in num for d in den]
        return min(ends), max(ends)
    return env.get(atom.var if isinstance(atom, lp.VarAtom) else atom)


def of_expr(e: lp.Expr, env: Env) -> Interval:
    """Where the value of an integer expression lies. What is read from an array can be anything."""
    if not e.dtype.is_integer:
        return None
    match e:
        case lp.Use(var):
            return env.get(var)
        case lp.Const(value, _):
            return int(value), int(value)
        case lp.Index(p):
            return of_poly(p, env)
        case lp.Choose(tests, then, orelse):
            known = decided(tests, env)
            if known is not None:
                return of_expr(then if known else orelse, env)
            return joined(of_expr(then, env), of_expr(orelse, env))
        case lp.Call("min" | "minimum" | "max" | "maximum" as op, (x, y), _):
            a, b = of_expr(x, env), of_expr(y, env)
            if a is None or b is None:
                return None
            pick = min if op.startswith("min") else max
            return pick(a[0], b[0]), pick(a[1], b[1])
        case lp.Call("add", (x, y), _):
            a, b = of_expr(x, env), of_expr(y, env)
            return None if a is None or b is None else _kept((a[0] + b[0], a[1] + b[1]), e)
        case lp.Call("sub", (x, y), _):
            a, b = of_expr(x, env), of_expr(y, env)
            return None if a is None or b is None else _kept((a[0] - b[1], a[1] - b[0]), e)
        case lp.Call("mul", (x, y), _):
            a, b = of_expr(x, env), of_expr(y, env)
            ends = [p * q for p in a or () for q in b or ()]
            return _kept((min(ends), max(ends)), e) if ends else None
        case lp.Call("floordiv", (x, y), _):
            a, b = of_expr(x, env), of_expr(y, env)
            if a is None or b is None or b[0] < 1:
                return None
            ends = [p // q for p in a for q in b]
            return min(ends), max(ends)
        case lp.Cast(arg, _):
            found = about(arg, env)  # a float of another library may differ in its last bit
            return None if found is None or not abs(found) < _HALF else (int(found) - 1, int(found) + 1)
    return None


def about(e: lp.Expr, env: Env) -> float | None:
    """The value of an expression of floats that depends on sizes only, but for rounding."""
    match e:
        case lp.Const(value, _) if not e.dtype.is_complex:
            return float(value)
        case lp.Use(var) if var.dtype.is_float:
            known = env.get(var)
            return None if known is None else float(known[0])
        case lp.Cast(arg, _) if arg.dtype.is_integer:
            whole = of_expr(arg, env)
            return None if whole is None or whole[0] != whole[1] else float(whole[0])
        case lp.Call(op, args, dtype) if dtype.is_float and op in PRIMS:
            parts = [about(a, env) for a in args]
            if None in parts:
                return None
            with np.errstate(all="ignore"):
                return float(PRIMS[op].means(*(dtype.numpy.type(p) for p in parts)))
    return None


def _kept(found: tuple[int, int], e: lp.Expr) -> Interval:
    """Nothing is known of what may have wrapped."""
    least = 0 if e.dtype.kind == "u" else -(1 << (e.dtype.bits - 1))
    return found if least <= found[0] and found[1] < 1 << (e.dtype.bits - 1) else None


def joined(a: Interval, b: Interval) -> Interval:
    """The least interval around both."""
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def decided(tests: tuple[lp.Test, ...], env: Env) -> bool | None:
    """Whether all tests hold, where the intervals tell."""
    answer: bool | None = True
    for t in tests:
        known = _decided(t, env)
        if known is False:
            return False
        if known is None:
            answer = None
    return answer


def _decided(t: lp.Test, env: Env) -> bool | None:
    if t.poly is None:
        return None
    found = of_poly(t.poly, env)
    if found is None:
        return None
    low, high = found
    if t.kind == "ge":
        return True if low >= 0 else False if high < 0 else None
    never = low > 0 or high < 0
    always = low == high == 0
    if t.kind == "eq":
        return True if always else False if never else None
    return False if always else True if never else None


def number(p: Poly, env: Env) -> int | None:
    """A polynomial's value, if it has one."""
    found = of_poly(p, env)
    return found[0] if found is not None and found[0] == found[1] else None
