"""Annotations: the small language of types, evaluated over the names in scope.

An annotation is a Python expression made of type names, sizes, tuples, subscripts and the operators of sizes. It is evaluated here, not
by Python, so that local integers can be sizes and `from __future__ import annotations` makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from atoll.errors import Error, Span, fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import plain
from atoll.sizes import Poly, cdiv, poly
from atoll.types.builtins.names import SCALAR_TYPES
from atoll.types.records import record_of, record_type
from atoll.types.types import SCALARS, Fn, Own, Record, Tuple, Type, Union

if TYPE_CHECKING:
    from atoll.surface import syntax as s

Lookup = Callable[[str, Span], Any]


class TupleMaker:
    """at.Tuple[t, u]"""

    @plain
    def __getitem__(self, items: Any) -> Tuple:
        return Tuple(tuple(_part("at.Tuple", item) for item in (items if isinstance(items, tuple) else (items,))))


class FnMaker:
    """at.Fn[[t, u], r]"""

    @plain
    def __getitem__(self, items: Any) -> Fn:
        if not isinstance(items, tuple) or len(items) != 2 or not isinstance(items[0], (list, tuple)):
            fail("E0610", name="at.Fn", text="takes the types of the parameters in a list, and the type of the result", help="write at.Fn[[f64, f64], f64]")
        return Fn(tuple(_part("at.Fn", p) for p in items[0]), _part("at.Fn", items[1]))


class OwnMaker:
    """at.own[t]"""

    @plain
    def __getitem__(self, item: Any) -> Own:
        return Own(_part("at.own", item))


class IndexMaker:
    """at.idx[n]"""

    @plain
    def __getitem__(self, size: Any) -> Type:
        from atoll.types.types import Index

        return Index(poly(size))


def _part(name: str, value: Any) -> Type:
    try:
        return type_of_object(value)
    except LookupError:
        fail("E0610", name=name, text=f"takes types between its brackets, not {kind_of(value)}", help=f"write {name}[at.f64] or another type")


def type_of_object(value: Any) -> Type:
    """The type a Python object denotes; raises LookupError where it denotes none."""
    if isinstance(value, Type):
        return value
    if isinstance(value, tuple):
        return Tuple(tuple(map(type_of_object, value)))
    if isinstance(value, type):
        if record_of(value) is not None:
            return record_type(value)
        plain = {int: "i64", float: "f64", bool: "bool", complex: "c128"}.get(value)
        if plain is not None:
            return SCALARS[plain]
        if value.__module__ == "numpy" and value.__name__ in SCALAR_TYPES:
            return SCALARS[SCALAR_TYPES[value.__name__]]
    raise LookupError


def type_expr(node: s.Expr, lookup: Lookup, where: str) -> Type:
    """The type an annotation denotes."""
    value = _evaluate(node, lookup, where)
    from atoll.types.unions import normal

    try:
        return normal(type_of_object(value))
    except LookupError:
        fail("E0211", node.span, text=node.span.text(), where=where)


def _evaluate(node: Any, lookup: Lookup, where: str) -> Any:
    from atoll.surface import syntax as s

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

                from atoll.surface.parse import Parser

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
    from atoll.types.builtins.names import BuiltinName

    if isinstance(value, BuiltinName) and value.__name__ == "bool":
        value = SCALARS["bool"]
    if isinstance(value, (type, tuple)):
        value = type_of_object(value)
    if isinstance(value, (Record, Union)):
        from atoll.types.unions import subscript

        return subscript(value, index)
    return value[index]


cdiv_size = cdiv
