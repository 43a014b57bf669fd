"""Formulas users write in steps: `"n - 2"`, `"p + r"`, `"n >= 2 and m % 4 == 0"`, over the sizes of a function and the loops in scope."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from atoll.schedule.kernel import Misused
from atoll.sizes import Poly, cdiv, poly

Names = Mapping[str, Poly]


def formula(text: str, names: Names) -> Poly:
    """A polynomial with // and %."""
    return _value(_parse(text), names)


def conditions(text: str, names: Names) -> tuple[Poly, ...]:
    """Comparisons joined by `and`, each as polynomials that are >= 0."""
    return tuple(_conditions(_parse(text), names))


def _parse(text: str) -> ast.expr:
    if not isinstance(text, str):
        raise Misused(f"{text!r} is not a formula")
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        raise Misused(f"{text!r} is not a formula") from None


def _value(e: ast.expr, names: Names) -> Poly:
    match e:
        case ast.Constant(bool()):
            pass
        case ast.Constant(int(n)):
            return poly(n)
        case ast.Name(name) if name in names:
            return names[name]
        case ast.UnaryOp(ast.USub(), x):
            return -_value(x, names)
        case ast.BinOp(a, ast.Add(), b):
            return _value(a, names) + _value(b, names)
        case ast.BinOp(a, ast.Sub(), b):
            return _value(a, names) - _value(b, names)
        case ast.BinOp(a, ast.Mult(), b):
            return _value(a, names) * _value(b, names)
        case ast.BinOp(a, ast.FloorDiv(), b):
            return _value(a, names) // _divisor(b, names)
        case ast.BinOp(a, ast.Mod(), b):
            return _value(a, names) % _divisor(b, names)
        case ast.Call(ast.Name("cdiv"), [a, b], []):
            return cdiv(_value(a, names), _divisor(b, names))
    known = ", ".join(sorted(names)) or "none here"
    raise Misused(f"{ast.unparse(e)} is not made of numbers and of {known}")


def _divisor(e: ast.expr, names: Names) -> Poly:
    found = _value(e, names)
    if (n := found.const()) is not None and n < 1:
        raise Misused(f"{ast.unparse(e)} is no divisor")
    return found


def _conditions(e: ast.expr, names: Names) -> list[Poly]:
    match e:
        case ast.BoolOp(ast.And(), parts):
            return [p for part in parts for p in _conditions(part, names)]
        case ast.Compare(left, ops, rights):
            found = []
            for op, a, b in zip(ops, [left, *rights], rights, strict=False):
                d = _value(b, names) - _value(a, names)
                match op:
                    case ast.LtE():
                        found.append(d)
                    case ast.Lt():
                        found.append(d - 1)
                    case ast.GtE():
                        found.append(-d)
                    case ast.Gt():
                        found.append(-d - 1)
                    case ast.Eq():
                        found += [d, -d]
                    case _:
                        raise Misused("conditions are comparisons by <, <=, ==, >= and >")
            return found
    raise Misused("conditions are comparisons of sizes joined by `and`")
