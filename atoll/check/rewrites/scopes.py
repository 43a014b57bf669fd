"""Every name is one thing: an index, a variable, an array or a size, bound once where it is known, and used only there.

What is known of a name (the range of an index, the value of a variable) is known wherever the name stands, so a second thing of that name would be known to be both: from a
contradiction everything follows. Names that nobody binds are arguments.
"""

from __future__ import annotations

from typing import Any

from atoll.check.rewrites.language import Body, Stmt, bodies, loads, names, parts, walk
from atoll.check.sums import need

Kinds = dict[str, str]


def scoped(body: Body, sizes: tuple[str, ...]) -> None:
    """Rejected when a name of the program is two things, or is used where it is not known."""
    kinds: Kinds = dict.fromkeys(sizes, "a size")
    for s in walk(body):
        for name, kind in (*binders(s), *_inside(s)):
            need(kinds.setdefault(name, kind) == kind, f"{name} is {kind} and {kinds[name]}")
    _list(body, set(), {x for x, kind in kinds.items() if kind != "a size"}, kinds)


def binders(s: Stmt) -> list[tuple[str, str]]:
    """Names that are known after a statement."""
    match s[0]:
        case "let" | "declare":
            return [(s[1], "a variable")]
        case "accumulate":
            return [(v, "a variable") for v, _, _ in s[5]]
        case "helper" if s[4] is not None:
            return [(s[4], "a variable")]
        case "alloc":
            return [(s[1], "an array")]
    return []


def _inside(s: Stmt) -> list[tuple[str, str]]:
    """Names that are known inside a statement only."""
    match s[0]:
        case "for" | "accumulate":
            return [(s[1], "an index")]
        case "chunks":
            return [(s[1], "an index"), (s[2], "an index"), *((own, "an array") for own, _, _ in s[6])]
    return []


def _list(body: Body, known: set[str], bound: set[str], kinds: Kinds) -> None:
    known = set(known)
    for s in body:
        used, arrays = _used(s)
        for v in used | arrays:
            need(v not in bound or v in known, f"{v} is not known there")
        need(all(kinds.get(v) != "an array" for v in used) and all(kinds.get(b) in (None, "an array") for b in arrays), "a name of something else")
        for name, _ in _inside(s):
            need(name not in known, f"{name} is known already")
        for name, _ in binders(s):
            need(name not in known or s[0] == "helper", f"{name} is known already")  # a routine may give a variable that is there its value
            known.add(name)
        inner = known | {name for name, _ in _inside(s)}
        for b in bodies(s):
            _list(b, inner, bound, kinds)


def _used(s: Stmt) -> tuple[set[str], set[str]]:
    """Variables, indices and sizes, and arrays, that a statement itself names, not those inside it."""
    variables: set[str] = set()
    arrays: set[str] = set()
    for e in parts(s):
        variables |= names(e)
        arrays |= {x[1] for x in loads(e)}
    extra: dict[str, Any] = {"assign": variables, "add": variables, "store": arrays, "update": arrays, "free": arrays}
    if s[0] in extra:
        extra[s[0]].add(s[1])
    match s[0]:
        case "copy" | "swap":
            arrays |= {s[1], s[2]}
        case "helper":
            arrays |= {b for b, _ in s[2]}
        case "print":
            arrays |= set(s[2])
        case "chunks":
            arrays |= {b for _, b, _ in s[6]}
            variables |= {v for v, _, _ in s[5]}
    return variables, arrays
