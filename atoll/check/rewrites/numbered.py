"""Elements that the text knows by number, as names, in the program before the rewrite that makes names of them.

    alloc b: [2];  b[0] = e;  ... b[0] ...;  b[1] = f;  ... b[1] ...;  free b        is        let x = e;  ... x ...;  let y = f;  ... y ...

where every use of b is of an element with a number inside of it, one statement stores each, and what reads it stands behind that statement, in its list or deeper: what it reads is then what
the last round of that statement stored, which is what the name says. The names are those of the program after, by the origins of its statements; they are new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.language import changed, loads, parts, read, with_parts
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.scopes import Kinds
from atoll.check.sums import Poly, value

Index = tuple[Poly, ...]
SHOWN = ("store", "let", "declare", "assign", "add", "update", "check", "if", "break", "for", "accumulate")  # statements of which parts() says all that they read


def numbered(before: tuple[Node, ...], after: tuple[Node, ...], kinds: Kinds) -> tuple[Node, ...]:
    """The program before, with names for the elements of arrays that the program after has names for."""
    kept = read(tuple(map(whole, after)))[1] | changed(tuple(map(whole, after)))[1] | {n.stmt[1] for n in _every(after) if n.stmt[0] == "alloc"}
    made: dict[int, list[str]] = {}
    for n in _every(after):
        if n.stmt[0] == "let" and n.origin is not None:
            made.setdefault(n.origin[0], []).append(n.stmt[1])
    rooms = Counter(n.stmt[1] for n in _every(before) if n.stmt[0] == "alloc")
    for b, times in rooms.items():
        if times == 1 and b not in kept:
            elements = _elements(before, b, made, kinds)
            changed_ = None if elements is None else _named(before, b, elements, frozenset())
            if changed_ is not None:
                before = changed_
    return before


def _every(body: tuple[Node, ...]) -> Iterator[Node]:
    for n in body:
        yield n
        for b in n.bodies:
            yield from _every(b)


def _elements(before: tuple[Node, ...], b: str, made: dict[int, list[str]], kinds: Kinds) -> dict[Index, tuple[str, str]] | None:
    """For every element its name and type; None where something else is done with the array, or an element is stored by two statements."""
    room = next(n.stmt for n in _every(before) if n.stmt[:2] == ("alloc", b))
    known = {n.stmt[1] for n in _every(before) if n.stmt[0] in ("let", "declare")}
    found: dict[Index, tuple[str, str]] = {}
    for n in _every(before):
        s = n.stmt
        if s[:2] in (("alloc", b), ("free", b)):
            continue
        reads = [x[2] for e in parts(s) for x in loads(e) if x[1] == b]
        if s[0] == "store" and s[1] == b:
            reads.append(s[2])
            names = made.get(n.origin[0], []) if n.origin is not None else []
            if s[2] in found or len(names) != 1 or names[0] in known or kinds[names[0]][1] != kinds[b][1] or names[0] in {name for name, _ in found.values()}:
                return None
            found[s[2]] = (names[0], kinds[b][1])
        elif b in changed((s,))[1] or (s[0] not in SHOWN and b in read((s,))[1]):
            return None
        if kinds[b][2] is not None or not all(inside(index, room[3]) for index in reads):
            return None
    return found


def inside(index: Index, extents: tuple[Poly, ...]) -> bool:
    numbers, sizes = [value(p) for p in index], [value(p) for p in extents]
    return len(numbers) == len(sizes) and all(k is not None and n is not None and 0 <= k < n for k, n in zip(numbers, sizes, strict=True))


def _named(body: tuple[Node, ...], b: str, elements: dict[Index, tuple[str, str]], known: frozenset[Index]) -> tuple[Node, ...] | None:
    """With names for elements; None where one is read that is not known there."""
    out = []
    for n in body:
        s = n.stmt
        if s[:2] in (("alloc", b), ("free", b)):
            continue
        if not all(x[2] in known for e in parts(s) for x in loads(e) if x[1] == b):
            return None
        new = _put(s, b, elements)
        if s[0] == "store" and s[1] == b:
            name, d = elements[s[2]]
            new, known = ("let", name, d, new[3]), known | {s[2]}
        inner = []
        for inside in n.bodies:
            made = _named(inside, b, elements, known)
            if made is None:
                return None
            inner.append(made)
        out.append(replace(n, stmt=new, bodies=tuple(inner)))
    return tuple(out)


def _put(s: Any, b: str, elements: dict[Index, tuple[str, str]]) -> Any:
    """The parts of a statement with names for elements."""

    def one(x: Any) -> Any:
        return ("use", elements[x[2]][0]) if x[0] == "load" and x[1] == b else None

    return with_parts(s, one)
