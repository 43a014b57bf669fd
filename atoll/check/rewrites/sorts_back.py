"""Sorted places and what is read at them, in the program before the rewrite that sorts values: what `argsort` and `sort` of the runtime mean is all that is believed.

    argsort(x[p..], o, n);  ... k = o[f]; ... x[p.., k] ...        is        sort(x[p..], t, n);  ... t[f] ...          where nothing writes x in between
    for r in 0..n: keys[r] = x[p.., r];  argsort(keys, o, n)       is        argsort(x[p..], o, n)                      where keys are for nothing else
    sort(x, t, n);  for i in 0..n: y[q.., i] = t[i]                is        sort(x, y[q..], n)                         where t is for nothing else
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from atoll.check.rewrites.arrays_back import mentioned
from atoll.check.rewrites.language import changed, names, read, with_parts
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.numbered import SHOWN
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.storage import every, in_one
from atoll.check.sums import Poly, var

Index = tuple[Poly, ...]


def sorted_values(before: tuple[Node, ...], after: tuple[Node, ...], kinds: Kinds) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Both programs, with values sorted in the first where they are in the second."""
    rooms = {n.stmt[1] for n in every(after) if n.stmt[0] == "alloc" and n.origin is None}
    for n in [n for n in every(after) if n.stmt[:2] == ("helper", "sort") and len(n.stmt[2]) == 2]:
        if n.origin is None:
            continue
        number, ((x, _), (target, _)) = n.origin[0], n.stmt[2]
        old = _numbered(before, number)
        if old is None or old.stmt[:2] != ("helper", "argsort") or len(old.stmt[2]) != 2:
            continue
        t = target if target in rooms else f"{old.stmt[2][1][0]}%sorted"
        kinds.setdefault(t, kinds[x])
        made = _values(_rows(before, old, x, kinds), number, t, kinds)
        if made is None:
            continue
        before, room, free = made
        if t == target:
            after = _told(_told(after, ("alloc", t), room), ("free", t), free)
        else:
            before = _in_its_place(before, number, t, target, kinds)
    return before, after


def _numbered(body: tuple[Node, ...], number: Any) -> Node | None:
    found = [m for m in every(body) if m.origin is not None and m.origin[0] == number]
    return found[0] if len(found) == 1 else None


def _told(after: tuple[Node, ...], what: tuple[str, str], number: Any) -> tuple[Node, ...]:
    """Where memory of the values is made and freed, as that of the places was."""

    def go(body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(replace(n, origin=(number, {})) if n.stmt[:2] == what and n.origin is None else replace(n, bodies=tuple(map(go, n.bodies))) for n in body)

    return go(after)


def _list_of(body: tuple[Node, ...], number: Any) -> tuple[Node, ...] | None:
    for n in body:
        if n.origin is not None and n.origin[0] == number:
            return body
        for b in n.bodies:
            found = _list_of(b, number)
            if found is not None:
                return found
    return None


def _users(body: tuple[Node, ...], b: str) -> list[Node]:
    """Statements that name an array themselves, not those inside them."""
    return [n for n in every(body) if b in mentioned(replace(n, bodies=tuple(() for _ in n.bodies)))]


def _without(body: tuple[Node, ...], gone: dict[int, tuple[Node, ...]]) -> tuple[Node, ...]:
    out: list[Node] = []
    for n in body:
        out += gone[id(n)] if id(n) in gone else (replace(n, bodies=tuple(_without(b, gone) for b in n.bodies)),)
    return tuple(out)


def _rows(before: tuple[Node, ...], h: Node, x: str, kinds: Kinds) -> tuple[Node, ...]:
    """Keys that are a copied row, sorted where they are."""
    (keys, first), out = h.stmt[2]
    block = _list_of(before, h.origin[0]) if h.origin is not None else None
    if keys == x or block is None or first != ((),):
        return before
    place = next(k for k, n in enumerate(block) if n is h)
    fill = block[place - 1] if place else h
    users = _users(before, keys)
    if fill.stmt[0] != "for" or fill.stmt[2:4] != ((), h.stmt[3][0]) or len(fill.bodies[0]) != 1 or kinds[keys] != kinds[x] or kinds[x][2] is not None or x == out[0]:
        return before
    r, (store,) = fill.stmt[1], fill.bodies[0]
    if store.stmt[:3] != ("store", keys, (var(r),)) or store.stmt[3][0] != "load" or store.stmt[3][1] != x:
        return before
    index: Index = store.stmt[3][2]
    rooms = [n for n in users if n.stmt[0] in ("alloc", "free")]
    if index[-1] != var(r) or any(r in names(p) for p in index[:-1]) or {id(n) for n in users} != {id(n) for n in (*rooms, store, h)}:
        return before
    new = replace(h, stmt=(*h.stmt[:2], ((x, (*index[:-1], ())), out), *h.stmt[3:]))
    return _without(before, {id(fill): (), id(h): (new,), **{id(n): () for n in rooms}})


def _values(before: tuple[Node, ...], number: Any, t: str, kinds: Kinds) -> tuple[tuple[Node, ...], Any, Any] | None:
    h = next(n for n in every(before) if n.origin is not None and n.origin[0] == number)
    (x, first), (o, zero) = h.stmt[2]
    block = _list_of(before, number)
    if block is None or zero != ((),) or not first or first[-1] != () or kinds[x][2] is not None or kinds[t][:2] != kinds[x][:2] or kinds[t][2] is not None or t == x:
        return None
    later = block[next(k for k, n in enumerate(block) if n is h) + 1 :]
    users = _users(before, o)
    rooms, lets = [n for n in users if n.stmt[0] == "alloc"], [n for n in users if n.stmt[0] == "let"]
    frees = [n for n in users if n.stmt[0] == "free"]
    if len(rooms) != 1 or len(frees) != 1 or len(users) != len(lets) + 3 or rooms[0].stmt[3] != h.stmt[3] or not all(any(m is n for m in every(later)) for n in lets):
        return None
    mine = {n.stmt[1] for n in lets}
    last = max((k for k, n in enumerate(later) if mine & read((whole(n),))[0] or (o in mentioned(n) and n.stmt[0] != "free")), default=-1)
    assigned, written = changed(tuple(map(whole, later[: last + 1])))
    if x in written or assigned & set().union(*(names(p) for p in first)):
        return None
    places: dict[str, Index] = {}
    for n in lets:
        e = n.stmt[3]
        if e[0] != "load" or len(e[2]) != 1 or n.stmt[2] != "i64":
            return None
        places[n.stmt[1]] = e[2]
    inside = {v for f in places.values() for p in f for v in names(p)}
    if inside & (assigned | set(places)):
        return None

    def value(e: Any) -> Any:
        if e[0] == "load" and e[1] == x and e[2][:-1] == first[:-1] and len(e[2][-1]) == 1 and e[2][-1][0][1] == 1 and e[2][-1][0][0][0] in places and len(e[2][-1][0][0]) == 1:
            return ("load", t, places[e[2][-1][0][0][0]])
        return None

    def go(body: tuple[Node, ...]) -> tuple[Node, ...]:
        out = []
        for n in body:
            if any(n is m for m in lets):
                continue
            s = n.stmt
            if any(n is m for m in rooms):
                s = ("alloc", t, kinds[x][1], *s[3:])
            elif any(n is m for m in frees):
                s = ("free", t)
            elif n is h:
                s = ("helper", "sort", ((x, first), (t, zero)), *s[3:])
            elif s[0] in SHOWN:
                s = with_parts(s, value)
            out.append(replace(n, stmt=s, bodies=tuple(map(go, n.bodies))))
        return tuple(out)

    made = go(before)
    if any(set(places) & (read((n.stmt,))[0] | changed((n.stmt,))[0]) for n in every(made)):
        return None  # places are needed for something else
    room, free = rooms[0].origin, frees[0].origin
    return None if room is None or free is None else (made, room[0], free[0])


def _in_its_place(before: tuple[Node, ...], number: Any, t: str, y: str, kinds: Kinds) -> tuple[Node, ...]:
    """Sorted values that are all copied, sorted into their place."""
    h, block = _numbered(before, number), _list_of(before, number)
    if h is None or block is None or kinds[y] != kinds[t]:
        return before
    at = next(k for k, n in enumerate(block) if n is h)
    copies = [k for k, n in enumerate(block) if k > at and t in mentioned(n) and n.stmt != ("free", t)]
    if len(copies) != 1:
        return before
    copy = block[copies[0]]
    (loop,) = in_one((copy,))
    users = _users(before, t)
    rooms = [n for n in users if n.stmt[0] in ("alloc", "free")]
    if loop.stmt[0] != "for" or loop.stmt[2:4] != ((), h.stmt[3][0]) or len(loop.bodies[0]) != 1 or len(users) != len(rooms) + 2:
        return before
    i, (store,) = loop.stmt[1], loop.bodies[0]
    index: Index = store.stmt[2] if store.stmt[0] == "store" else ()
    if not index or store.stmt[1] != y or store.stmt[3] != ("load", t, (var(i),)) or index[-1] != var(i) or any(i in names(p) for p in index[:-1]):
        return before
    between = tuple(map(whole, block[at + 1 : copies[0]]))
    if y in (read(between)[1] | changed(between)[1]) or changed(between)[0] & set().union(*map(names, index[:-1])) or y == h.stmt[2][0][0] or not _known(index[:-1], block[at + 1 : copies[0]]):
        return before
    new = replace(h, stmt=(*h.stmt[:2], (h.stmt[2][0], (y, (*index[:-1], ()))), *h.stmt[3:]))
    return _without(before, {id(copy): (), id(h): (new,), **{id(n): () for n in rooms}})


def _known(index: Index, between: tuple[Node, ...]) -> bool:
    """Nothing in between makes a name that the index has, or the array."""
    made = {n.stmt[1] for n in between if n.stmt[0] in ("let", "declare", "alloc")}
    return not made & set().union(*map(names, index))


__all__ = ["sorted_values"]
