"""Arrays under the names they had before: what a rewrite copies has arrays of its own, which are known by the statement that makes them.

    if t:  alloc b; ... b[i] ...; free b       else:  alloc c; ... c[i] ...; free c        is        if t:  alloc b; ...       else:  alloc b; ...

where c is made by a copy of `alloc b` and b is no other array in sight. That they are not alive at one time in one round is asked where instances are: `alloc b` is made once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.language import Stmt, changed, mapped, read
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.scopes import Kinds


def own_arrays(before: tuple[Node, ...], after: tuple[Node, ...], kinds: Kinds) -> tuple[Node, ...]:
    """The program after with the arrays of the program before."""
    made: dict[Any, str] = {}
    _makers(before, made)
    return _list(after, made, kinds, frozenset())


def _makers(body: tuple[Node, ...], made: dict[Any, str]) -> None:
    for n in body:
        if n.stmt[0] == "alloc" and n.origin is not None:
            made[n.origin[0]] = n.stmt[1]
        for b in n.bodies:
            _makers(b, made)


def _list(body: tuple[Node, ...], made: Mapping[Any, str], kinds: Kinds, known: frozenset[str]) -> tuple[Node, ...]:
    out = list(body)
    for k in range(len(out)):
        n = out[k]
        if n.stmt[0] == "alloc":
            b = made.get(n.origin[0], n.stmt[1]) if n.origin is not None else n.stmt[1]
            if b != n.stmt[1] and b not in known and kinds.get(b) == kinds[n.stmt[1]] and not any(b in mentioned(x) for x in out[k:]):
                out[k:] = [with_arrays(x, {n.stmt[1]: b}) for x in out[k:]]
            known = known | {out[k].stmt[1]}
        elif n.bodies:
            inner = known | {own for own, _, _ in n.stmt[6]} if n.stmt[0] == "chunks" else known
            out[k] = replace(n, bodies=tuple(_list(b, made, kinds, inner) for b in n.bodies))
    return tuple(out)


def mentioned(n: Node) -> set[str]:
    """Arrays of a statement and of all inside it."""
    s = (whole(n),)
    return read(s)[1] | changed(s)[1]


def with_arrays(n: Node, names: Mapping[str, str]) -> Node:
    """A statement with other arrays, also inside it."""
    return replace(n, stmt=_put(n.stmt, names), bodies=tuple(tuple(with_arrays(x, names) for x in b) for b in n.bodies))


def _put(s: Stmt, names: Mapping[str, str]) -> Stmt:
    def go(e: Any) -> Any:
        return mapped(e, lambda p: p, lambda x: ("load", names[x[1]], x[2]) if x[0] == "load" and x[1] in names else None)

    def one(b: str) -> str:
        return names.get(b, b)

    match s[0]:
        case "let" | "declare" | "add":
            return (*s[:3], None if s[3] is None else go(s[3]))
        case "assign":
            return (*s[:2], go(s[2]))
        case "store":
            return ("store", one(s[1]), s[2], go(s[3]))
        case "update":
            return ("update", one(s[1]), *s[2:4], go(s[4]))
        case "check":
            return ("check", go(("truth", s[1]))[1], s[2], tuple(map(go, s[3])))
        case "if" | "break":
            return (s[0], go(("truth", s[1]))[1], *s[2:])
        case "alloc" | "free":
            return (s[0], one(s[1]), *s[2:])
        case "copy" | "swap":
            return (s[0], one(s[1]), one(s[2]))
        case "helper":
            return (*s[:2], tuple((one(b), index) for b, index in s[2]), *s[3:])
        case "print":
            return (*s[:2], tuple(map(one, s[2])), tuple(map(go, s[3])))
        case "product":
            return (*s[:2], tuple(map(go, s[2])), *s[3:])
        case "chunks":
            return (*s[:6], tuple((one(a), one(b), m) for a, b, m in s[6]), s[7])
    return s
