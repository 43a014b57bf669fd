"""Variables that the elements of a small array have become, put back into the array: undone before instances are compared.

    declare v;  v := e;  for r:  v := v + f(r);  ... v ...        is        alloc b: [1];  b[0] = e;  for r:  b[0] += f(r);  ... b[0] ...;  free b

where the program before makes b, knows its elements by number only, and a statement that sets v is one that stores that element. A variable has no value before it is set: the first statement of its
list that names it sets it, so what reads it sees what was stored last. Of one variable there is one element, of an element one variable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.language import changed, free_in_polynomials, loads, parts, read, with_parts
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.numbered import SHOWN, inside
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.storage import every
from atoll.check.sums import Poly

Index = tuple[Poly, ...]
Stored = dict[Any, tuple[str, Index, str]]  # of statements before, by number: the element that is stored, and by which operator it is changed ("" where it is not)


def elements_back(before: tuple[Node, ...], after: tuple[Node, ...], kinds: Kinds) -> tuple[Node, ...]:
    """The program after, with arrays of the program before that it has no more."""
    stmts = tuple(map(whole, after))
    kept = read(stmts)[1] | changed(stmts)[1] | {n.stmt[1] for n in every(after) if n.stmt[0] == "alloc"}
    rooms = Counter(n.stmt[1] for n in every(before) if n.stmt[0] == "alloc")
    for b, times in rooms.items():
        if times == 1 and b not in kept:
            stored = _by_number(before, b, kinds)
            made = None if not stored else _back(before, after, b, stored, kinds)
            after = after if made is None else made
    return after


def _by_number(before: tuple[Node, ...], b: str, kinds: Kinds) -> Stored | None:
    """The statements that store elements; None where something else is done with the array than to store and read elements by number."""
    room = next(n.stmt for n in every(before) if n.stmt[:2] == ("alloc", b))
    found: Stored = {}
    for n in every(before):
        s = n.stmt
        if s[:2] in (("alloc", b), ("free", b)):
            continue
        indices = [x[2] for e in parts(s) for x in loads(e) if x[1] == b]
        if s[0] in ("store", "update") and s[1] == b:
            indices.append(s[2])
            if n.origin is None:
                return None
            found[n.origin[0]] = (b, s[2], s[3] if s[0] == "update" else "")
        elif b in changed((s,))[1] or (s[0] not in SHOWN and b in read((s,))[1]):
            return None
        if not all(inside(index, room[3]) for index in indices):
            return None
    return found if kinds[b][2] is None else None


def _back(before: tuple[Node, ...], after: tuple[Node, ...], b: str, stored: Stored, kinds: Kinds) -> tuple[Node, ...] | None:
    element: dict[str, Index] = {}
    for n in every(after):
        if n.origin is not None and n.origin[0] in stored:
            if n.stmt[0] not in ("assign", "let") or element.setdefault(n.stmt[1], stored[n.origin[0]][1]) != stored[n.origin[0]][1]:
                return None
    if len(set(element.values())) != len(element) or any(kinds[v][1] != kinds[b][1] for v in element):
        return None
    for n in every(after):
        s = n.stmt
        sets = s[0] in ("assign", "let") and s[1] in element
        if sets and (n.origin is None or n.origin[0] not in stored):
            return None
        if s[0] == "declare" and s[1] in element and (n.origin is not None or s[3] is not None):
            return None
        if not sets and s[0] != "declare" and changed((s,))[0] & set(element):
            return None
        if set(element) & (free_in_polynomials(s) if s[0] in SHOWN else read((s,))[0]):
            return None
    if not _set_first(after, frozenset(element)):
        return None
    holder = _holder(before, b)
    return None if holder is None else _with_room(_put(after, b, element, stored), b, *holder)


def _set_first(body: tuple[Node, ...], variables: frozenset[str]) -> bool:
    """Every one of these that is declared is set by the first statement of its list that names it, and not by what it was."""
    for k, n in enumerate(body):
        if n.stmt[0] == "declare" and n.stmt[1] in variables:
            v = n.stmt[1]
            first = next((x for x in body[k + 1 :] if v in read((whole(x),))[0] | changed((whole(x),))[0]), None)
            if first is not None and (first.stmt[:2] != ("assign", v) or v in read((first.stmt,))[0]):
                return False
    return all(_set_first(b, variables) for n in body for b in n.bodies)


def _holder(before: tuple[Node, ...], b: str) -> tuple[Node, Node, Any, int] | None:
    """How the array is made and freed, and where: in which statement (None: in none) and which of its lists."""

    def go(body: tuple[Node, ...], number: Any, branch: int) -> tuple[Node, Node, Any, int] | None:
        made, freed = ([n for n in body if n.stmt[:2] == (what, b)] for what in ("alloc", "free"))
        if made:
            return (made[0], freed[0], number, branch) if len(freed) == 1 else None
        for n in body:
            for k, inner in enumerate(n.bodies):
                found = go(inner, n.origin[0] if n.origin is not None else None, k)
                if found is not None:
                    return found
        return None

    if sum(n.stmt == ("free", b) for n in every(before)) != 1:
        return None
    return go(before, None, 0)


def _put(body: tuple[Node, ...], b: str, element: dict[str, Index], stored: Stored) -> tuple[Node, ...]:
    def one(e: Any) -> Any:
        return ("load", b, element[e[1]]) if e[0] == "use" and e[1] in element else None

    out = []
    for n in body:
        s = n.stmt
        if s[0] == "declare" and s[1] in element:
            continue
        if s[0] in ("assign", "let") and s[1] in element:
            assert n.origin is not None
            _, index, op = stored[n.origin[0]]
            value = s[2] if s[0] == "assign" else s[3]
            if op and value[:2] == ("call", op) and value[2][0] == ("use", s[1]):
                s = with_parts(("update", b, index, op, value[2][1]), one)
            else:
                s = with_parts(("store", b, index, value), one)
        else:
            s = with_parts(s, one)
        out.append(replace(n, stmt=s, bodies=tuple(_put(x, b, element, stored) for x in n.bodies)))
    return tuple(out)


def _with_room(body: tuple[Node, ...], b: str, made: Node, freed: Node, number: Any, branch: int) -> tuple[Node, ...] | None:
    """The array made before the first statement of its list that names it, and freed after the last."""
    if number is None:
        return _around(body, b, made, freed)
    holders = [n for n in every(body) if n.origin is not None and n.origin[0] == number]
    if len(holders) != 1 or branch >= len(holders[0].bodies):
        return None

    def go(body: tuple[Node, ...]) -> Iterator[Node]:
        for n in body:
            lists = tuple(_around(x, b, made, freed) if n is holders[0] and k == branch else tuple(go(x)) for k, x in enumerate(n.bodies))
            yield replace(n, bodies=lists)

    return tuple(go(body))


def _around(body: tuple[Node, ...], b: str, made: Node, freed: Node) -> tuple[Node, ...]:
    users = [k for k, n in enumerate(body) if b in read((whole(n),))[1] | changed((whole(n),))[1]]
    if not users:
        return body
    return (*body[: users[0]], made, *body[users[0] : users[-1] + 1], freed, *body[users[-1] + 1 :])
