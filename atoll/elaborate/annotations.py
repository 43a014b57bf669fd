"""Annotations: the small language of types, evaluated over the names in scope.

An annotation is a Python expression made of type names, sizes, tuples, subscripts and the operators of sizes. It is evaluated here, not
by Python, so that local integers can be sizes and `from __future__ import annotations` makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.elaborate.builtins.names import BuiltinName
from atoll.errors import Error, Span, fail
from atoll.sizes import Poly, poly
from atoll.surface import syntax as s
from atoll.surface.parse import Parser
from atoll.types.objects import type_of_object
from atoll.types.types import SCALARS, Record, Type, Union
from atoll.types.unions import normal, subscript

Lookup = Callable[[str, Span], Any]


def type_expr(node: s.Expr, lookup: Lookup, where: str) -> Type:
    """The type an annotation denotes."""
    value = _evaluate(node, lookup, where)
    try:
        return normal(type_of_object(value))
    except LookupError:
        fail("E0211", node.span, text=node.span.text(), where=where)


def _evaluate(node: Any, lookup: Lookup, where: str) -> Any:
    def go(n: Any) -> Any:
        return _evaluate(n, lookup, where)

    try:
        match node:
            case s.Name(id):
                return lookup(id, node.span)
            case s.Attr(_, "_"):
                return lookup("_", node.span)
            case s.Attr(value, name):
                return getattr(go(value), name)
            case s.Num(value):
                return value
            case s.TupleDisplay(items):
                return tuple(map(go, items))
            case s.ListDisplay(items):
                return [go(i) for i in items]
            case s.BinOp(op, left, right):
                return _size_op(op, go(left), go(right))
            case s.Unary("-", value):
                return -go(value)
            case s.Subscript(value, items):
                parts = tuple(go(i) for i in items)
                return _subscript(go(value), parts[0] if len(parts) == 1 else parts)
            case s.Call(fn, args):
                return go(fn)(*map(go, args))
            case s.NoneValue():
                return ()
            case s.Text(parts) if len(parts) == 1 and isinstance(parts[0], str):
                import ast

                inner = ast.parse(parts[0], mode="eval").body
                return go(Parser(node.span.source, where)._at(node.span).expr(inner))
    except Error:
        raise
    except Exception:  # noqa: BLE001  whatever the user's annotation did wrong, the answer is the same
        pass
    fail("E0211", node.span, text=node.span.text(), where=where)


def _size_op(op: str, a: Any, b: Any) -> Any:
    if op == "|":
        return a | b
    left, right = poly(a), poly(b)
    results: dict[str, Callable[[], Poly | int]] = {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "//": lambda: left // right,
        "%": lambda: left % right,
        "**": lambda: left ** int(b),
    }
    return results[op]()


def _subscript(value: Any, index: Any) -> Any:
    if isinstance(value, BuiltinName) and value.__name__ == "bool":
        value = SCALARS["bool"]
    if isinstance(value, (type, tuple)):
        value = type_of_object(value)
    if isinstance(value, (Record, Union)):
        return subscript(value, index)
    return value[index]
