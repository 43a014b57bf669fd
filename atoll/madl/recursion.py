"""`let rec`: an operator that is expanded for each size it is used at, so that its recursion ends before any code runs.

    let rec fft <<n>> (x of [n]f64) returns (y of [n]f64):
      if n == 1 then y = !x else .. fft<<n/2>>(..) .. end

At given sizes a condition on sizes alone is known, and only one branch is left. What remains is an operator without recursion.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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


def size_names(operator: s.Operator) -> list[str]:
    """The names in <<..>>; a size that is not a name has none."""
    return [z.name if isinstance(z, s.SizeName) else "" for z in operator.interface.sizes or ()]


def measured(operator: s.Operator, args: tuple[Any, ...]) -> dict[str, int]:
    """The sizes that the shapes of arguments say, where a parameter is declared with a name for a size."""
    found: dict[str, int] = {}
    params = [item for clause in operator.interface.args for item in s.items(clause.right)]
    for param, arg in zip(params, args, strict=False):
        while isinstance(param, (s.Located, s.Initial, s.Alias)):
            param = param.arg
        declared: Any = param.type if isinstance(param, s.Typed) else None
        while isinstance(arg, tuple) and arg:
            arg = arg[0]  # an array of records is a tuple of arrays
        for length in np.shape(arg):
            if isinstance(declared, s.ArrayType):
                if isinstance(declared.size, s.SizeName):
                    found.setdefault(declared.size.name, length)
                declared = declared.elem
    return found


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


def folded(e: s.Expr, constants: dict[str, s.Expr]) -> s.Expr:
    """A constant with earlier ones put in, and arithmetic of whole numbers done: it may be a size."""
    e = s.rewrite(e, lambda node: constants.get(node.name, node) if isinstance(node, s.Variable) else node)
    known = _value(e, {})
    return s.Number(known, span=e.span) if isinstance(known, int) and not isinstance(known, bool) else e


def _value(e: Any, sizes: dict[str, int]) -> Any:
    """The value of an expression of sizes and numbers, or None."""
    match e:
        case s.Number(value):
            return value
        case s.Variable(name):
            return sizes.get(name)
        case s.Operation(op, args) if op in _MEANS:
            values = [_value(a, sizes) for a in args]
            undefined = any(v is None for v in values) or (op in ("div", "mod") and values[1] == 0)
            return None if undefined else _MEANS[op](*values)
    return None
