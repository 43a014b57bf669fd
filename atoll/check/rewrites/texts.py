"""What a statement says: its parts that must be the same, other ways to write it, and operations that a check may guard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atoll.check.rewrites.language import Stmt, is_poly
from atoll.check.rewrites.leaves import conditions
from atoll.check.rewrites.refute import Cond, negations
from atoll.check.rewrites.scopes import Kinds
from atoll.check.sums import divisors, value

HARMLESS = frozenset(("add", "sub", "mul", "neg", "min", "max", "abs", "and", "or", "xor", "not", "select", "lt", "le", "gt", "ge", "eq", "ne"))
OPERATORS = {"add": "add", "mul": "mul", "minimum": "min", "maximum": "max", "and": "and", "or": "or", "xor": "xor"}


def may_trap(e: Any) -> bool:
    """Integer operations that not all operands have; quotients by what may be 0."""
    if is_poly(e):
        return any(value(d) is None for d in divisors(e))
    return bool(e[0] == "call" and e[3][0] in "iu" and e[1] not in HARMLESS)


def reads_under(e: Any, element: tuple[Any, ...], moving: frozenset[str]) -> Iterator[list[Cond]]:
    """The conditions under which an expression reads an element, once for each place where it does."""
    if is_poly(e):
        return
    match e[0]:
        case "load":
            if e[1:] == element:
                yield []
        case "call":
            for a in e[2]:
                yield from reads_under(a, element, moving)
        case "cast":
            yield from reads_under(e[1], element, moving)
        case "choose":
            on = conditions(e[1], moving)
            for conds in reads_under(e[2], element, moving):
                yield [*on, *conds]
            if len(on) == 1:
                for conds in reads_under(e[3], element, moving):
                    for n in negations(on[0]):
                        yield [n, *conds]


def texts(s: Stmt) -> tuple[Any, list[Any]]:
    """What must be the same, and what must be the same under the round."""
    match s[0]:
        case "let" | "declare":
            return (s[0], s[2], s[3] is None), [] if s[3] is None else [s[3]]
        case "assign":
            return "assign", [s[2]]
        case "store":
            return ("store", s[1], len(s[2])), [*s[2], s[3]]
        case "update":
            return ("update", s[1], len(s[2]), s[3]), [*s[2], s[4]]
        case "add":
            return ("add", s[2]), [s[3]]
    return ("check", s[2], len(s[3])), [("truth", s[1]), *s[3]]


def as_was(old: Stmt, new: Stmt, kinds: Kinds) -> Stmt:
    """Other ways to write a statement: a sum or an update written out in its own type, the only assignment of a variable as its name."""
    if old[0] == "add" and new[0] == "assign" and _applied(new[2], OPERATORS.get(old[2]), ("use", new[1]), kinds[new[1]][1]):
        return ("add", new[1], old[2], new[2][2][1])
    if old[0] == "update" and new[0] == "store" and _applied(new[3], old[3], ("load", new[1], new[2]), kinds[new[1]][1]):
        return ("update", new[1], new[2], old[3], new[3][2][1])
    if old[0] == "let" and new[0] == "assign" and kinds[new[1]][1] == old[2]:
        return ("let", new[1], old[2], new[2])
    return new


def _applied(e: Any, op: str | None, first: Any, d: str) -> bool:
    """The operator on two operands of a type, of which this is the first."""
    return bool(e[0] == "call" and e[1] == op and len(e[2]) == 2 and e[2][0] == first and e[3] == d)
