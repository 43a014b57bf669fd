"""Comparing types up to a change of size variables: each must be an instance of the other (Pauget, chapter 2)."""

from __future__ import annotations

from typing import Any

from atoll.madl import syntax as s
from atoll.madl.compiled import Compiled
from atoll.madl.parse import parse
from atoll.madl.typing import NAMES, Generic, prune
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.solver import Solver
from atoll.types.types import Array, Index, Tuple, Type


def read(text: str) -> tuple[list[Poly], list[Type], list[Sym]]:
    """`<<n>> -> [n]int, int -> [n]int`: the sizes and types in order, and the size variables."""
    names: dict[str, Sym] = {}
    generics: dict[str, Generic] = {}
    parts = [p.strip() for p in text.split("->")]
    sizes: list[Poly] = []
    if parts and parts[0].startswith("<<"):
        sizes = [_size(z, names) for z in _sizes(parts.pop(0))]
    types = [_type(t, names, generics) for part in parts for t in _types(part)]
    return sizes, types, list(names.values())


def _sizes(text: str) -> tuple[s.Size, ...]:
    (operator,) = parse(f"let f {text} () returns (x): x = g {text} ()").items
    assert isinstance(operator, s.Operator) and operator.interface.sizes is not None
    return operator.interface.sizes


def _types(text: str) -> list[s.TypeExpr]:
    if text in ("", "()"):
        return []
    params = ", ".join(f"x{k} of {t}" for k, t in enumerate(text.split(",")))
    (operator,) = parse(f"let f ({params}) returns (x0)").items
    assert isinstance(operator, s.Operator)
    return [item.type for clause in operator.interface.args for item in s.items(clause.right) if isinstance(item, s.Typed)]


def _size(size: s.Size, names: dict[str, Sym]) -> Poly:
    match size:
        case s.SizeNumber(value):
            return poly(value)
        case s.SizeName(name):
            return poly(names.setdefault(name, Sym(name)))
        case s.SizeOp(op, left, right):
            a, b = _size(left, names), _size(right, names)
            return a + b if op == "+" else a - b if op == "-" else a * b
    raise AssertionError(size)


def _type(t: s.TypeExpr, names: dict[str, Sym], generics: dict[str, Generic]) -> Type:
    match t:
        case s.TypeName(name):
            return NAMES[name] if name in NAMES else generics.setdefault(name, Generic(name))
        case s.ArrayType(size, elem):
            return Array(_type(elem, names, generics), _size(size, names))
        case s.TupleType(items):
            return Tuple(tuple(_type(item, names, generics) for item in items))
    raise AssertionError(t)


def _subsumes(first: tuple[list[Poly], list[Type], list[Sym]], second: tuple[list[Poly], list[Type], list[Sym]]) -> bool:
    """Some choice of the first's sizes gives the second."""
    solver: Solver[None] = Solver()
    for sym in first[2]:
        solver.unknowns[sym] = 0
    same: dict[Any, Any] = {}

    def meet(a: Type, b: Type) -> bool:
        a, b = prune(a), prune(b)
        if isinstance(a, Generic):
            return isinstance(b, Generic) and same.setdefault(a, b) is b
        if isinstance(a, Array) and isinstance(b, Array):
            solver.equate(a.size, b.size, None)
            return meet(a.elem, b.elem)
        if isinstance(a, Index) and isinstance(b, Index):
            solver.equate(a.size, b.size, None)
            return True
        if isinstance(a, Tuple) and isinstance(b, Tuple):
            return len(a.items) == len(b.items) and all(meet(x, y) for x, y in zip(a.items, b.items, strict=True))
        return a == b

    if len(first[0]) != len(second[0]) or len(first[1]) != len(second[1]):
        return False
    for p, q in zip(first[0], second[0], strict=True):
        solver.equate(p, q, None)
    return all(meet(a, b) for a, b in zip(first[1], second[1], strict=True)) and not solver.pending


def has_type(op: Compiled, text: str) -> bool:
    """True when the operator's type is the one written, up to names and basis of its sizes."""
    scheme = op.scheme
    own = ([p for _, p in scheme.size_params], [p.type for p in (*scheme.inputs, *scheme.outputs)], list(scheme.sizes))
    wanted = read(text)
    return _subsumes(own, wanted) and _subsumes(wanted, own)
