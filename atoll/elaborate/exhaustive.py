"""Whether the cases of a `match` on numbers, bools, tuples and records cover everything, and a case they miss.

A matrix of patterns, a row per case, a column per part. A bool has two values; a number has more than any cases name.
"""

from __future__ import annotations

from collections.abc import Sequence

from atoll.surface import syntax as s
from atoll.types.dtypes import BOOL
from atoll.types.types import Record, Scalar, Tuple, Type

_ANY = s.Wildcard()


def missing(patterns: Sequence[s.Pattern], t: Type) -> str | None:
    """A pattern that none of these covers, or None."""
    found = _missing([[p] for p in patterns], [t])
    return None if found is None else found[0]


def _missing(rows: list[list[s.Pattern]], types: list[Type]) -> list[str] | None:
    if not types:
        return None if rows else []
    t, rest = types[0], types[1:]
    rows = [[option, *row[1:]] for row in rows for option in _options(row[0])]
    if not isinstance(t, (Tuple, Record)):
        values = (True, False) if isinstance(t, Scalar) and t.dtype is BOOL else (None,)
        for value in values:
            below = _missing([row[1:] for row in rows if _covers(row[0], value)], rest)
            if below is not None:
                return ["_" if value is None or _plain(rows) else str(value), *below]
        return None
    count = len(t.items)
    found = _missing([[*_inner(row[0], t), *row[1:]] for row in rows], [*t.items, *rest])
    if found is None:
        return None
    inner, below = found[:count], found[count:]
    if all(x == "_" for x in inner):
        return ["_", *below]
    name = t.decl.name if isinstance(t, Record) else ""
    return [f"{name}({', '.join(inner)}{',' if not name and count == 1 else ''})", *below]


def _plain(rows: list[list[s.Pattern]]) -> bool:
    """No row says anything about this part."""
    return all(isinstance(row[0], s.Wildcard) for row in rows)


def _options(p: s.Pattern) -> list[s.Pattern]:
    """The patterns one of which must fit; names fit everything."""
    match p:
        case s.Capture(_, inner):
            return [_ANY] if inner is None else _options(inner)
        case s.OrPattern(options):
            return [each for option in options for each in _options(option)]
    return [p]


def _covers(p: s.Pattern, value: bool | None) -> bool:
    if isinstance(p, s.ValuePattern):
        return value is not None and isinstance(p.value, s.Num) and p.value.value is value
    return isinstance(p, s.Wildcard)


def _inner(p: s.Pattern, t: Tuple | Record) -> list[s.Pattern]:
    count = len(t.items)
    match p:
        case s.TuplePattern(items) if len(items) == count:
            return list(items)
        case s.ClassPattern(_, args, keywords) if isinstance(t, Record):
            named = dict(keywords)
            return [args[k] if k < len(args) else named.get(name, _ANY) for k, name in enumerate(t.decl.fields)]
    return [_ANY] * count
