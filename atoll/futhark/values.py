"""What an expression is while core code is made of it: code, a record of such things, or a function, which is always known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from atoll.core import ir
from atoll.futhark.ftypes import Rec, Sum, Type
from atoll.sizes import Poly


@dataclass(slots=True, eq=False)
class Code:
    """A value computed by core code. A record or a sum in code is a tuple, its fields in the order of `field_order`, `sum_order`."""

    e: ir.Expr


@dataclass(slots=True, eq=False)
class Record:
    fields: dict[str, V]


@dataclass(slots=True, eq=False)
class Fn:
    """A function of `arity` more arguments."""

    arity: int
    run: Callable[[list[V]], V]
    args: list[V] = field(default_factory=list)
    op: str | None = None  # the built-in it is, for operators that are known


V = Code | Record | Fn


@dataclass(frozen=True, slots=True, eq=False)
class DKnown:
    """A size as a polynomial, in types that were resolved."""

    poly: Poly


class Frame:
    """Values of bindings and types of type parameters, by identity."""

    def __init__(self, parent: Frame | None = None) -> None:
        self.parent = parent
        self.values: dict[int, Any] = {}
        self.types: dict[int, Any] = {}
        self.kept: list[Any] = []  # what the identities belong to

    def bind(self, binding: Any, value: Any) -> None:
        self.values[id(binding)] = value
        self.kept.append(binding)

    def find(self, binding: Any) -> Any:
        frame: Frame | None = self
        key = id(binding)
        while frame is not None:
            if key in frame.values:
                return frame.values[key]
            frame = frame.parent
        return None

    def type(self, con: Any) -> Any:
        frame: Frame | None = self
        key = id(con)
        while frame is not None:
            if key in frame.types:
                return frame.types[key]
            frame = frame.parent
        return None


def field_order(fields: Any) -> list[str]:
    return sorted(fields, key=lambda f: (0, int(f), "") if f.isdigit() else (1, 0, f))


def sum_order(t: Sum) -> list[tuple[str, Type | None]]:
    """The fields of a sum in code: which case it is, then what each case holds."""
    found: list[tuple[str, Type | None]] = [("#", None)]
    for case in sorted(t.cases):
        found += [(f"{case}/{k}", x) for k, x in enumerate(t.cases[case])]
    return found


def case_number(t: Sum, case: str) -> int:
    return sorted(t.cases).index(case)


def names_of(t: Any) -> list[str]:
    """The fields of a value of a record or sum type, in order."""
    if isinstance(t, Rec):
        return field_order(t.fields)
    assert isinstance(t, Sum), t
    return [name for name, _ in sum_order(t)]
