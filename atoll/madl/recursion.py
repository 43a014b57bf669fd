"""`let rec`: an operator that is expanded for each size it is used at, so that its recursion ends before any code runs.

    let rec fft <<n>> (x of [n]f64) returns (y of [n]f64):
      if n == 1 then y = !x else .. fft<<n/2>>(..) .. end

At given sizes a condition on sizes alone is known, and only one branch is left. What remains is an operator without recursion.
"""

from __future__ import annotations

from typing import Any

from atoll.madl import syntax as s

_MEANS: dict[str, Any] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "neg": lambda a: -a,
}


def specialise(operator: s.Operator, sizes: dict[str, int]) -> s.Operator:
    """The operator with the branches its sizes decide."""
    body = _statements(operator.body, sizes)
    return s.Operator(operator.kind, operator.name, operator.interface, body, operator.reset, operator.recursive, span=operator.span)


def _statements(statements: tuple[s.Expr, ...], sizes: dict[str, int]) -> tuple[s.Expr, ...]:
    found: list[s.Expr] = []
    for statement in statements:
        if isinstance(statement, s.Branch):
            known = _value(statement.condition, sizes)
            if known is not None:
                found += _statements(statement.then if known else statement.orelse, sizes)
                continue
        found.append(statement)
    return tuple(found)


def _value(e: Any, sizes: dict[str, int]) -> Any:
    """The value of an expression of sizes and numbers, or None."""
    match e:
        case s.Number(value):
            return value
        case s.Variable(name):
            return sizes.get(name)
        case s.Operation(op, args) if op in _MEANS:
            values = [_value(a, sizes) for a in args]
            return None if any(v is None for v in values) else _MEANS[op](*values)
    return None
