"""Sums that are made in parts, put back where they are added: with the program's licence to regroup them.

    alloc own[P, m]
    pieces of P:  for p:  for z: own[p, z] = neutral;  for r in f(p)..g(p):  for j in 0..m:  own[p, j] += e(r, j)
    ... for p in 0..P:  for c in a..b:  target[t(c)] += own[p, c] ...                           is        ... for p in 0..P:  for r in f(p)..g(p):  for j in a..b:  target[t(j)] += e(r, j)
    free own

and the same where own[p, x] is written at any place and all of 0..m is added. What e reads must not be written in between, and x must be inside of 0..m.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from atoll.check.rewrites.checks_back import renamed
from atoll.check.rewrites.language import changed, read, walk
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.storage import is_neutral
from atoll.check.sums import Poly, add, const, sub, subst, value, var

MOST = 16  # parts, which are written out
REGROUPED = "sums are made of sums of parts: in another order than before, which the program allows"


def parts_back(body: tuple[Node, ...], notes: set[str], kinds: Kinds) -> tuple[Node, ...]:
    out = tuple(replace(n, bodies=tuple(parts_back(b, notes, kinds) for b in n.bodies)) for n in body)
    for room in out:
        if room.stmt[0] == "alloc" and room.origin is None and len(room.stmt[3]) == 2:
            found = _back(out, room, kinds)
            if found is not None:
                notes.add(REGROUPED)
                return parts_back(found, notes, kinds)
    return out


def _uses(n: Node, own: str) -> bool:
    s = (whole(n),)
    return own in read(s)[1] | changed(s)[1]


def _back(body: tuple[Node, ...], room: Node, kinds: Kinds) -> tuple[Node, ...] | None:
    own, d, (count, long) = room.stmt[1], room.stmt[2], room.stmt[3]
    users = [n for n in body if n is not room and _uses(n, own)]
    if len(users) != 3 or users[2].stmt != ("free", own) or users[0].stmt[0] != "chunks" or users[0].stmt[3] != count or users[0].stmt[5] or users[0].stmt[6]:
        return None
    making, adding = users[0], users[1]
    if len(making.bodies[0]) != 1 or making.bodies[0][0].stmt[:1] != ("for",) or making.bodies[0][0].stmt[2:4] != (var(making.stmt[1]), var(making.stmt[2])):
        return None
    part, inner = making.bodies[0][0].stmt[1], making.bodies[0][0].bodies[0]
    lets = tuple(n for n in inner if n.stmt[0] == "let")
    work = [n for n in inner if n.stmt[0] != "let"]
    if len(work) != 2 or not _begins(work[0], own, part, long, d):
        return None
    updates = [x for x in walk((whole(work[1]),)) if x[0] == "update" and x[1] == own]
    between = body[body.index(making) + 1 : body.index(adding) + 1]
    written = set().union(*(changed((whole(n),))[1] for n in between))
    others = read((whole(work[1]),))[1] | changed((whole(work[1]),))[1]
    assigned = set().union(*(changed((whole(n),))[0] for n in between))
    if {x[0] for x in walk((whole(work[1]),))} - {"for", "if", "let", "declare", "assign", "add", "accumulate", "update"} or assigned & set().union(*(read((whole(n),))[0] for n in (*lets, work[1]))):
        return None
    if len(updates) != 1 or updates[0][2][:1] != (var(part),) or changed((whole(work[1]),))[1] != {own} or (others - {own}) & written:
        return None
    if is_neutral(_first(work[0], own), updates[0][3], d) is False:
        return None
    into = _replaced(adding, own, count, long, part, lets, work[1], updates[0], kinds)
    if into is None or _uses(into, own):
        return None
    return tuple(into if n is adding else n for n in body if n not in (room, making, users[2]))


def _first(n: Node, own: str) -> str:
    return next(str(x[3][1]) for x in walk((whole(n),)) if x[0] == "store" and x[1] == own and x[3][0] == "const")


def _begins(n: Node, own: str, part: str, long: Poly, d: str) -> bool:
    """for z in 0..long: own[part, z] = constant, perhaps inside of `for copy in part..part + 1`."""
    if n.stmt[0] != "for" or len(n.bodies[0]) != 1:
        return False
    (inner,) = n.bodies[0]
    if n.stmt[2:4] == (var(part), add(var(part), const(1))) and inner.stmt[0] == "for":
        return _begins(inner, own, n.stmt[1], long, d)
    s = inner.stmt
    return bool(n.stmt[2:4] == ((), long) and s[:3] == ("store", own, (var(part), var(n.stmt[1]))) and s[3][0] == "const")


def _replaced(n: Node, own: str, count: Poly, long: Poly, part: str, lets: tuple[Node, ...], work: Node, update: tuple[object, ...], kinds: Kinds) -> Node | None:
    """The statement with the loop that adds the parts replaced by one that adds what they are made of."""
    if n.stmt[0] == "for" and n.stmt[2:4] == ((), count) and len(n.bodies[0]) == 1 and n.bodies[0][0].stmt[0] == "for" and len(n.bodies[0][0].bodies[0]) == 1:
        copy, columns = n.stmt[1], n.bodies[0][0]
        c, s = columns.stmt[1], columns.bodies[0][0].stmt
        if s[0] != "update" or kinds[s[1]] != kinds[own] or s[3] != update[3] or s[4] != ("load", own, (var(copy), var(c))):
            return None
        made: Node | None = None
        if columns.stmt[2:4] == ((), long):
            made = _instead(work, own, lambda x: {c: x}, s[1], s[2], long)
        elif len(work.bodies) == 1 and len(work.bodies[0]) == 1:
            along = work.bodies[0][0]
            if along.stmt[0] == "for" and along.stmt[2:4] == ((), long) and update[2] == (var(part), var(along.stmt[1])):
                cut = replace(along, stmt=("for", along.stmt[1], *columns.stmt[2:4], (), along.stmt[5]))
                made = _instead(replace(work, bodies=((cut,),)), own, lambda x: {c: x}, s[1], s[2], long)
        if made is None:
            return None
        many = value(count)
        if many is None or many > MOST:
            return None
        own_names = {x[1] for y in (*lets, made) for x in walk((whole(y),)) if x[0] in ("let", "declare")}
        each = [renamed(x, {v: f"{v}%{k}" for v in own_names}, {part: const(k)}) for k in range(many) for x in (*lets, made)]
        return replace(n, stmt=("if", (), (), ()), bodies=(tuple(each), ()))
    for k, b in enumerate(n.bodies):
        for j, x in enumerate(b):
            if _uses(x, own):
                new = _replaced(x, own, count, long, part, lets, work, update, kinds)
                return None if new is None else replace(n, bodies=(*n.bodies[:k], (*b[:j], new, *b[j + 1 :]), *n.bodies[k + 1 :]))
    return None


def _instead(n: Node, own: str, place: object, target: str, index: tuple[Poly, ...], long: Poly) -> Node:
    """Updates of the parts as updates of what they are added to."""
    s = n.stmt
    if s[0] == "update" and s[1] == own:
        env: Mapping[str, Poly] = place(s[2][1])  # type: ignore[operator]
        inside = (s[2][1], sub(sub(long, s[2][1]), const(1)))  # the part itself is written there
        return replace(n, stmt=("update", target, tuple(subst(p, dict(env)) for p in index), s[3], s[4]), holds=(*n.holds, *inside))
    return replace(n, bodies=tuple(tuple(_instead(x, own, place, target, index, long) for x in b) for b in n.bodies))

