"""An array that is made only to be read element by element into another one, as that other one, in the program before the rewrite that makes it there.

    alloc x;  ... for i:  x[f] = ... for all f;  ... x[f] ...;  y[p, f] = e(x[f]) for all f;  free x        is        ... for i:  y[p, f] = ... for all f;  ... y[p, f] ...;  y[p, f] = e(y[p, f])

where all of it is in one list: the first statement that names x stores every element before it is read, the last one reads every element once, at the element of y that it stores, and nothing in
between names y (its indices may be in another order than those of x), or asks something, unless y[p] is seen to be there by sizes and ranges alone. What x held before is read by nobody then, and what y held is overwritten; y[p, f] = y[p, f] is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from atoll.check.rewrites.arrays_back import mentioned
from atoll.check.rewrites.footprints import FAILS
from atoll.check.rewrites.language import LEAVES, Expr, changed, loads, mapped, names, parts, read, walk
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.refute import Cond, cannot
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.steady import may_leave
from atoll.check.rewrites.storage import every, in_one
from atoll.check.sums import Poly, const, sub, value, var

Index = tuple[Poly, ...]
MANY = 256  # elements by number


def retargeted(before: tuple[Node, ...], after: tuple[Node, ...], kinds: Kinds, facts: Sequence[Cond] = ()) -> tuple[Node, ...]:
    """The program before, without arrays that the program after has no more. `facts` are known of sizes."""
    kept = set().union(*map(mentioned, after)) if after else set()
    for x in dict.fromkeys(n.stmt[1] for n in every(before) if n.stmt[0] == "alloc" and n.stmt[1] not in kept):
        found = _in_place(before, next(n for n in every(before) if n.stmt[:2] == ("alloc", x)), kinds, facts)
        before = before if found is None else found
    return before


def _in_place(before: tuple[Node, ...], room: Node, kinds: Kinds, facts: Sequence[Cond]) -> tuple[Node, ...] | None:
    x, extents = room.stmt[1], room.stmt[3]
    around = _list_with(before, room)
    if around is None or sum(n.stmt[:2] == ("alloc", x) for n in every(before)) != 1 or kinds[x][2] is not None:
        return None
    frees = [n for n in around if n.stmt == ("free", x)]
    users = [n for n in around if x in mentioned(n) and n is not room and n.stmt != ("free", x)]
    if len(frees) != 1 or sum(n.stmt == ("free", x) for n in every(before)) != 1:
        return None
    block, path = around, list[Node]()
    while len(users) == 1 and users[0].stmt[0] in ("for", "chunks") and _inner(users[0], x) is not None:
        path.append(users[0])
        block = users[0].bodies[0]
        users = [n for n in block if x in mentioned(n)]
    if len(users) < 2:
        return None
    first, last = users[0], users[-1]
    if path and set().union(*(names(e) for e in extents)) & {v for n in path for v in _bound(n)}:
        return None
    target = _read_out(last, x, extents)
    if target is None or not _defines((first,), x, extents, ()):
        return None
    y, prefix, turned = target
    inside = tuple(map(whole, block))
    made = {s[1] for s in walk(inside) if s[0] in ("let", "declare", "alloc")} | changed(inside)[0] | {v for s in walk(inside) if s[0] in ("for", "accumulate", "chunks") for v in s[1:3] if isinstance(v, str)}
    start, end = (next(k for k, n in enumerate(block) if n is z) for z in (first, last))
    if kinds[y] != kinds[x] or made & set().union(*map(names, prefix)) or any(y in mentioned(n) for n in block[start:end]):
        return None
    if any(x in mentioned(replace(n, bodies=tuple(() for _ in n.bodies))) and not (n.stmt[0] in LEAVES or (n.stmt[0] == "product" and not prefix and turned == tuple(range(len(extents)))) or n is room or n is frees[0]) for n in every(block)):
        return None
    if may_leave(block):
        return None  # what is left early does not reach the end
    asked = {s[0] for s in walk(tuple(map(whole, block[start:end])))} & FAILS
    moving = frozenset(changed(tuple(map(whole, before)))[0])
    if asked and not _there(y, prefix, _placed(extents, turned), [*facts, *_around(before, block, moving)], kinds, moving):
        return None  # an element of y may be there only because of what was asked before

    def put(e: Expr) -> Expr | None:
        return ("load", y, (*prefix, *_placed(e[2], turned))) if e[0] == "load" and e[1] == x else None

    def go(n: Node) -> list[Node]:
        s = _moved(n.stmt, x, y, lambda index: (*prefix, *_placed(index, turned)), put)
        if s[0] == "store" and s[1] == y and s[3] == ("load", y, s[2]):
            return []
        bodies = tuple(tuple(z for m in b for z in go(m)) for b in n.bodies)
        return [] if n.bodies and any(n.bodies) and not any(bodies) and n.stmt[0] in ("for", "chunks") else [replace(n, stmt=s, bodies=bodies)]

    inner = {id(n): go(n) for n in block}

    def rebuilt(body: tuple[Node, ...]) -> tuple[Node, ...]:
        out: list[Node] = []
        for n in body:
            if n is room or n is frees[0]:
                continue
            out += inner[id(n)] if id(n) in inner else [replace(n, bodies=tuple(map(rebuilt, n.bodies)))]
        return tuple(out)

    return rebuilt(before)


def _there(y: str, prefix: Index, extents: Index, known: Sequence[Cond], kinds: Kinds, moving: frozenset[str]) -> bool:
    """The row is in the array, whatever is asked."""
    long = kinds.extents.get(y)
    if long is None or long[len(prefix) :] != extents or any(names(p) & moving for p in (*long, *prefix)):
        return False
    return all(cannot([*known, ("ge", sub(const(-1), p))]) and cannot([*known, ("ge", sub(p, n))]) for p, n in zip(prefix, long, strict=False))


def _around(body: tuple[Node, ...], block: tuple[Node, ...], moving: frozenset[str]) -> list[Cond]:
    """What is known in a list of statements by the ranges of the loops around it."""
    for n in body:
        for b in n.bodies:
            if b is block or any(_has(m, block) for m in b):
                s = n.stmt
                found: list[Cond] = []
                if s[0] in ("for", "accumulate"):
                    found = [("ge", sub(var(s[1]), s[2])), ("ge", sub(sub(s[3], var(s[1])), const(1)))]
                elif s[0] == "chunks":
                    found = [("ge", var(s[1])), ("ge", sub(s[3], var(s[2]))), ("ge", sub(sub(var(s[2]), var(s[1])), const(1)))]
                return [*(c for c in found if moving.isdisjoint(names(c[1]))), *(_around(b, block, moving) if b is not block else [])]
    return []


def _has(n: Node, block: tuple[Node, ...]) -> bool:
    return any(b is block or any(_has(m, block) for m in b) for b in n.bodies)


def _bound(n: Node) -> tuple[str, ...]:
    return (n.stmt[1], n.stmt[2]) if n.stmt[0] == "chunks" else (n.stmt[1],)


def _inner(n: Node, x: str) -> bool | None:
    """A loop around a list in which all is done with the array."""
    users = [m for m in n.bodies[0] if x in mentioned(m)]
    return True if len(users) >= 2 or (len(users) == 1 and users[0].stmt[0] == "for") or (len(n.bodies[0]) and n.stmt[0] == "chunks" and not n.stmt[5] and not n.stmt[6]) else None


def _list_with(body: tuple[Node, ...], n: Node) -> tuple[Node, ...] | None:
    for m in body:
        if m is n:
            return body
        for b in m.bodies:
            found = _list_with(b, n)
            if found is not None:
                return found
    return None


def _moved(s: Any, x: str, y: str, place: Any, put: Any) -> Any:
    def go(e: Any) -> Any:
        return mapped(e, lambda p: p, put)

    match s[0]:
        case "let" | "declare" | "add":
            return (*s[:3], None if s[3] is None else go(s[3]))
        case "assign":
            return (*s[:2], go(s[2]))
        case "store":
            return ("store", y, place(s[2]), go(s[3])) if s[1] == x else (*s[:3], go(s[3]))
        case "update":
            return ("update", y, place(s[2]), s[3], go(s[4])) if s[1] == x else (*s[:4], go(s[4]))
        case "check":
            return ("check", go(("truth", s[1]))[1], s[2], tuple(map(go, s[3])))
        case "product":
            return (*s[:2], tuple(map(go, s[2])), *s[3:])
    return s


def _nest(n: Node) -> tuple[list[tuple[str, Poly]], tuple[Node, ...]] | None:
    """Loops from 0 on, one in another, and what is in the last of them."""
    (n,) = in_one((n,))
    loops: list[tuple[str, Poly]] = []
    body: tuple[Node, ...] = (n,)
    while len(body) == 1 and body[0].stmt[0] == "for":
        if body[0].stmt[2] != ():
            return None
        loops.append((body[0].stmt[1], body[0].stmt[3]))
        body = body[0].bodies[0]
    return loops, body


def _all_elements(loops: list[tuple[str, Poly]], indices: list[Index], extents: Index) -> bool:
    """Every element is one of these, in one round: an index of a loop over all of its length, or every number."""
    ranges = dict(loops)
    if not indices or any(len(i) != len(extents) for i in indices):
        return False
    numbers: list[int] = []
    for k, extent in enumerate(extents):
        if all(i[k] == indices[0][k] for i in indices) and len(indices[0][k]) == 1 and indices[0][k][0][1] == 1 and len(indices[0][k][0][0]) == 1 and ranges.get(str(indices[0][k][0][0][0])) == extent:
            ranges.pop(str(indices[0][k][0][0][0]))
        else:
            numbers.append(k)
    sizes = [value(extents[k]) for k in numbers]
    if ranges or any(n is None or n > MANY for n in sizes):
        return False
    wanted = {tuple(const(c) for c in each) for each in product(*(range(n or 0) for n in sizes))}
    found = [tuple(i[k] for k in numbers) for i in indices]
    return len(found) == len(wanted) and set(found) == wanted


def _placed(index: Index, turned: tuple[int, ...]) -> Index:
    """The index in y of an element of x."""
    made = list(index)
    for k, place in enumerate(turned):
        made[place] = index[k]
    return tuple(made)


def _taken(index: Index, turned: tuple[int, ...]) -> Index:
    """The index in x of an element of y."""
    return tuple(index[place] for place in turned)


def _read_out(n: Node, x: str, extents: Index) -> tuple[str, Index, tuple[int, ...]] | None:
    """y[p, f] = e(x[f]) for all elements, perhaps with the indices of f in another order: y, p, and where in y the indices of x are."""
    nest = _nest(n)
    if nest is None or any(m.stmt[0] not in ("store", "let") for m in nest[1]):
        return None
    loops, body = nest
    mine = [m.stmt for m in body if m.stmt[0] == "store"]
    arrays = {s[1] for s in mine}
    if len(arrays) != 1 or x in arrays or not mine:
        return None
    (y,) = arrays
    rank = len(mine[0][2]) - len(extents)
    reads = [e[2] for m in body for p in parts(m.stmt) for e in loads(p) if e[1] == x]
    if rank < 0 or not reads or any(e[1] == y for m in body for p in parts(m.stmt) for e in loads(p)):
        return None
    turned = tuple(range(len(extents)))
    here = mine[0][2][rank:]
    if reads[0] != here and len(mine) == 1 and len(set(here)) == len(here) and set(reads[0]) == set(here):
        turned = tuple(here.index(p) for p in reads[0])
    named = [k for k, m in enumerate(body) if m.stmt[0] == "let" and any(e[1] == x for e in loads(m.stmt[3]))]
    if named and (named[-1] > next(k for k, m in enumerate(body) if m.stmt[0] == "store") or any(e[1] == x and e[2] not in [_taken(s[2][rank:], turned) for s in mine] for k in named for e in loads(body[k].stmt[3]))):
        return None  # read after it is overwritten, or of another round
    own = {i for i, _ in loops}
    if any(s[2][:rank] != mine[0][2][:rank] for s in mine) or own & set().union(*map(names, mine[0][2][:rank])):
        return None
    if any(e[1] == x and e[2] != _taken(s[2][rank:], turned) for s in mine for e in loads(s[3])):
        return None
    if not _all_elements(loops, [_taken(s[2][rank:], turned) for s in mine], extents):
        return None
    return y, mine[0][2][:rank], turned


def _defines(body: tuple[Node, ...], x: str, extents: Index, outer: Index) -> bool:
    """The first of these statements that names x stores every element of it (of row `outer`) before one is read."""
    n = next((m for m in body if x in mentioned(m)), None)
    if n is None:
        return False
    if n.stmt[0] == "product":
        return _defines(n.bodies[0], x, extents, outer)
    (n,) = in_one((n,))
    if n.stmt[0] != "for" or (x in read((whole(n),))[1] and n.stmt[2] != ()):
        return False
    nest = _nest(n)
    if nest is not None and x not in _read_anywhere(nest[1], x) and all(m.stmt[0] in ("store", "let", "declare", "assign") for m in nest[1]):
        stores = [m.stmt for m in nest[1] if m.stmt[0] == "store" and m.stmt[1] == x]
        if all(s[2][: len(outer)] == outer for s in stores) and _all_elements(nest[0], [s[2][len(outer) :] for s in stores], extents):
            return True
    if n.stmt[2] == () and extents and n.stmt[3] == extents[0] and _only_row(n.bodies[0], x, (*outer, var(n.stmt[1]))):
        return _defines(n.bodies[0], x, extents[1:], (*outer, var(n.stmt[1])))
    return False


def _read_anywhere(body: tuple[Node, ...], x: str) -> set[str]:
    return read(tuple(map(whole, body)))[1]


def _only_row(body: tuple[Node, ...], x: str, row: Index) -> bool:
    """All that is done with x in a round is done with its own row."""
    for n in every(body):
        s = n.stmt
        if s[0] in ("store", "update") and s[1] == x and s[2][: len(row)] != row:
            return False
        if any(e[1] == x and e[2][: len(row)] != row for p in parts(s) for e in loads(p)):
            return False
        if s[0] not in (*LEAVES, "for", "accumulate", "if") and x in mentioned(replace(n, bodies=tuple(() for _ in n.bodies))):
            return False
    return True
