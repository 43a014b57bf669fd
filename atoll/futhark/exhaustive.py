"""Whether patterns cover every value of a type; asked when types are known."""

from __future__ import annotations

from typing import Any

from atoll.errors import fail
from atoll.futhark import syntax as s
from atoll.futhark.ftypes import Prim, Rec, Sum, TVar, Type, prune, show

_ANY = s.PWild()


def require_irrefutable(p: Any) -> None:
    missing = _missing([[p]], [p.ty])
    if missing is not None:
        fail("E1407", p.span, what=f"Refutable pattern not allowed here: {missing[0]} is not covered")


def require_complete(e: s.Match) -> None:
    of = prune(e.value.ty)
    if isinstance(of, TVar) and of.cases is not None:
        fail("E1403", e.value.span, found=show(of), expected="one type", why="Type is ambiguous: the other constructors of the sum type are not known. Add a type annotation to disambiguate the type")
    rows: list[list[Any]] = []
    for pat, _ in e.cases:
        rows.append([pat])
    missing = _missing(rows, [e.value.ty])
    if missing is not None:
        fail("E1407", e.span, what=f"Unmatched cases in match expression: {missing[0]}")


def _plain(p: Any) -> Any:
    while isinstance(p, (s.PTyped, s.PAttr)):
        p = p.inner
    return _ANY if isinstance(p, s.PName) else p


def _number(p: s.PLit) -> Any:
    return p.value.value if isinstance(p.value, s.Lit) else None


def _missing(rows: list[list[Any]], types: list[Type]) -> list[str] | None:
    """A value that no row matches, in words; None when there is none."""
    if not types:
        return None if rows else []
    rows = [[_plain(row[0]), *row[1:]] for row in rows]
    if not rows:
        return ["_"] * len(types)
    t = prune(types[0])
    heads = [row[0] for row in rows]
    if all(isinstance(h, s.PWild) for h in heads):
        rest = _missing([row[1:] for row in rows], types[1:])
        return None if rest is None else ["_", *rest]
    if isinstance(t, Rec):
        names = list(t.fields)
        spread = []
        for row in rows:
            given = dict(row[0].fields) if isinstance(row[0], s.PRecord) else {}
            spread.append([*(given.get(n, _ANY) for n in names), *row[1:]])
        rest = _missing(spread, [*t.fields.values(), *types[1:]])
        if rest is None:
            return None
        return [f"({', '.join(rest[: len(names)])})", *rest[len(names) :]]
    if isinstance(t, Sum):
        for case, parts in t.cases.items():
            chosen = []
            for row in rows:
                if isinstance(row[0], s.PCase):
                    if row[0].name == case:
                        chosen.append([*row[0].items, *row[1:]])
                else:
                    chosen.append([*([_ANY] * len(parts)), *row[1:]])
            rest = _missing(chosen, [*parts, *types[1:]])
            if rest is not None:
                return [" ".join([f"#{case}", *rest[: len(parts)]]), *rest[len(parts) :]]
        return None
    values: list[Any] = list(dict.fromkeys(_number(h) for h in heads if isinstance(h, s.PLit)))
    complete = isinstance(t, Prim) and t.name == "bool" and len(values) == 2
    for value in values:
        chosen = [row[1:] for row in rows if isinstance(row[0], s.PWild) or (isinstance(row[0], s.PLit) and _number(row[0]) == value)]
        rest = _missing(chosen, types[1:])
        if rest is not None:
            return [str(value), *rest]
    if complete:
        return None
    rest = _missing([row[1:] for row in rows if isinstance(row[0], s.PWild)], types[1:])
    if rest is None:
        return None
    other = "_" if not isinstance(t, Prim) or t.name != "bool" else str(not values[0]).lower()
    return [other, *rest]
