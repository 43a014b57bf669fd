"""Sizes and types as they are written in a .madl file; syntax.py has the rest of the language."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from atoll.errors import NOWHERE, Span

if TYPE_CHECKING:
    from atoll.madl.syntax import Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(default=NOWHERE, compare=False, repr=False)


# -- sizes


@dataclass(frozen=True, slots=True)
class SizeNumber(Node):
    value: int


@dataclass(frozen=True, slots=True)
class SizeName(Node):
    name: str


@dataclass(frozen=True, slots=True)
class SizeMeta(Node):
    name: str


@dataclass(frozen=True, slots=True)
class SizeHole(Node):
    pass


@dataclass(frozen=True, slots=True)
class SizeOp(Node):
    op: str
    left: Size
    right: Size


@dataclass(frozen=True, slots=True)
class SizeValue(Node):
    """An index that is computed: a.[clamp<<4>>(k)]."""

    expr: Expr


Size = SizeNumber | SizeName | SizeMeta | SizeHole | SizeOp | SizeValue


# -- types


@dataclass(frozen=True, slots=True)
class TypeName(Node):
    name: str


@dataclass(frozen=True, slots=True)
class TypeMeta(Node):
    name: str


@dataclass(frozen=True, slots=True)
class TypeHole(Node):
    pass


@dataclass(frozen=True, slots=True)
class IndexType(Node):
    size: Size


@dataclass(frozen=True, slots=True)
class FixedType(Node):
    """q<<whole, fraction>>"""

    signed: bool
    whole: Size
    fraction: Size


@dataclass(frozen=True, slots=True)
class ArrayType(Node):
    size: Size
    elem: TypeExpr


@dataclass(frozen=True, slots=True)
class TupleType(Node):
    items: tuple[TypeExpr, ...]


TypeExpr = TypeName | TypeMeta | TypeHole | IndexType | FixedType | ArrayType | TupleType
