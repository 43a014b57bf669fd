"""Rows of an array that are kept in a window, put back as the array: undone before instances are compared.

    pieces lo..hi of m:  if hi - lo >= 1:  alloc x, w rows;  for r in lo + a..lo + b:  ROW(r);  for i in lo..hi, in order:  ROW(i + b);  USE(i);  free x
is
    alloc x;  pieces of n:  for r:  ROW(r);        pieces of m:  for i:  USE(i);        free x

where the program before makes all rows so, ROW writes row r, all of it, and reads nothing that changes in between, and USE reads rows i + a to i + b (asked where it does), of which w rows
are kept: row r + w takes the place of r. Before round i of a piece rows lo + a to i + b have been made there. Rows that do not exist are left out by a test, or are not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from atoll.check.rewrites.best_back import canonical
from atoll.check.rewrites.checks_back import renamed
from atoll.check.rewrites.language import LEAVES, changed, loads, own_names, parts, read, walk
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.refute import Cond, cannot
from atoll.check.rewrites.storage import every
from atoll.check.sums import Poly, add, const, sub, value, var

PLAIN = ("let", "declare", "assign", "add", "store", "for", "accumulate", "if")


def window_back(before: tuple[Node, ...], after: tuple[Node, ...], facts: Sequence[Cond]) -> tuple[Node, ...]:
    """`facts` are known of sizes."""
    for room in [n for n in every(after) if n.stmt[0] == "alloc" and n.origin is None and n.stmt[4][1] is not None]:
        found = _with_array(before, after, room, facts)
        after = after if found is None else found
    return after


def _with_array(before: tuple[Node, ...], after: tuple[Node, ...], room: Node, facts: Sequence[Cond]) -> tuple[Node, ...] | None:
    x, kept = room.stmt[1], room.stmt[4][1]
    pieces = _holder(after, room)
    places = list(_lists(before, x))
    if pieces is None or len(places) != 1 or sum(n.stmt[:2] == ("alloc", x) for n in every(after)) != 1:
        return None
    (block,) = places
    alloc, making, freed = _made(block, x)
    if alloc is None or making is None or freed is None or alloc.stmt[3] != room.stmt[3] or alloc.stmt[4][1] is not None:
        return None
    rows = making.bodies[0][0]
    _, low, high, extent = making.stmt[:4]
    r, body = rows.stmt[1], rows.bodies[0]
    if not _whole_rows(body, x, r, alloc.stmt[3]) or not _row_only(body, {low, high}):
        return None
    found = _reader(pieces, room, x, body, r, extent, kept, facts)
    if found is None:
        return None
    reader, first, last = found
    wrote = changed((whole(reader),))
    if wrote[1] & (read(tuple(map(whole, body)))[1] | {x}) or wrote[0] & (read(tuple(map(whole, body)))[0] - {r}):
        return None
    reading = _held(reader, x, reader.bodies[0][0].stmt[1], first, last)
    if reading is None:
        return None

    def go(body: tuple[Node, ...]) -> Iterator[Node]:
        for n in body:
            if n is pieces:
                yield from (alloc, making, reading, freed)
            else:
                yield replace(n, bodies=tuple(tuple(go(b)) for b in n.bodies))

    return tuple(go(after))


def _holder(after: tuple[Node, ...], room: Node) -> Node | None:
    """The pieces of which each has such a window."""
    return next((n for n in every(after) if n.stmt[0] == "chunks" and len(n.bodies[0]) == 1 and n.bodies[0][0].stmt[0] == "if" and any(x is room for x in n.bodies[0][0].bodies[0])), None)


def _lists(body: tuple[Node, ...], x: str) -> Iterator[tuple[Node, ...]]:
    if any(n.stmt[:2] == ("alloc", x) for n in body):
        yield body
    for n in body:
        for b in n.bodies:
            yield from _lists(b, x)


def _made(block: tuple[Node, ...], x: str) -> tuple[Node | None, Node | None, Node | None]:
    """Where the array is made, written, and freed: pieces of one loop through the rows of each, which alone write it."""
    allocs, frees = ([n for n in block if n.stmt[:2] == (what, x)] for what in ("alloc", "free"))
    writers = [n for n in block if x in changed((whole(n),))[1] and n.stmt[0] not in ("alloc", "free")]
    if len(allocs) != 1 or len(frees) != 1 or len(writers) != 1:
        return None, None, None
    (n,) = writers
    ok = n.stmt[0] == "chunks" and not n.stmt[5] and not n.stmt[6] and len(n.bodies[0]) == 1 and n.bodies[0][0].stmt[0] == "for" and n.bodies[0][0].stmt[2:4] == (var(n.stmt[1]), var(n.stmt[2]))
    return allocs[0], n if ok and n.origin is not None else None, frees[0]


def _whole_rows(body: tuple[Node, ...], x: str, r: str, extents: tuple[Poly, ...]) -> bool:
    """Round r writes all of row r and nothing else, and does not look at the array."""
    stmts = tuple(map(whole, body))
    if any(s[0] not in PLAIN for s in walk(stmts)) or x in read(stmts)[1] or changed(stmts)[1] != {x}:
        return False
    own = {s[1] for s in walk(stmts) if s[0] in ("let", "declare")} | {v for s in walk(stmts) if s[0] == "accumulate" for v, _, _ in s[5]}
    if not changed(stmts)[0] <= own or any(s[0] == "store" and s[2][0] != var(r) for s in walk(stmts)):
        return False
    return len(extents) >= 2 and _stores_all(body, x, extents[1:], (var(r),))


def _stores_all(body: tuple[Node, ...], x: str, extents: tuple[Poly, ...], outer: tuple[Poly, ...]) -> bool:
    """Every element of a row is stored, by loops over all of it."""
    stores = [n for n in body if x in changed((whole(n),))[1]]
    if len(stores) != 1:
        return False
    s = stores[0].stmt
    if not extents:
        return bool(s[:3] == ("store", x, outer))
    return bool(s[0] == "for" and s[2:4] == ((), extents[0])) and _stores_all(stores[0].bodies[0], x, extents[1:], (*outer, var(s[1])))


def _row_only(body: tuple[Node, ...], ends: set[str]) -> bool:
    """It does not depend on the piece."""
    return not read(tuple(map(whole, body)))[0] & ends


def _reader(pieces: Node, room: Node, x: str, body: tuple[Node, ...], r: str, extent: Poly, kept: int, facts: Sequence[Cond]) -> tuple[Node, Poly, Poly] | None:
    """The pieces without the rows that are made in them, and which rows of a round are there: from its own on."""
    _, low, high, _ = pieces.stmt[:4]
    some = pieces.bodies[0][0]
    if some.stmt[1] != (("ge", sub(sub(var(high), var(low)), const(1)), None),) or some.bodies[1] or pieces.stmt[5] or pieces.stmt[6] or len(some.bodies[0]) != 4:
        return None
    alloc, early, loop, freed = some.bodies[0]
    if alloc is not room or freed.stmt != ("free", x) or early.stmt[0] != "for" or loop.stmt[0] != "for" or loop.stmt[2:4] != (var(low), var(high)):
        return None
    if any(early.stmt[5][1:]) or any(loop.stmt[5][k] for k in (0, 1, 3)) or early.stmt[5][0]:
        return None
    q, i = early.stmt[1], loop.stmt[1]
    if {q, i} & {v for s in walk(tuple(map(whole, body))) for v in own_names(s)}:
        return None  # an index that is another one inside of a row
    first, last = sub(early.stmt[2], var(low)), sub(early.stmt[3], var(low))
    a, b = value(first), value(last)
    if a is None or b is None or not 0 <= b - a < kept:
        return None
    piece: list[Cond] = [*facts, ("ge", var(low)), ("ge", sub(pieces.stmt[3], var(high))), ("ge", sub(sub(var(high), var(low)), const(1)))]
    used = 0
    for where, at, rounds in (
        (early, var(q), [("ge", sub(var(q), early.stmt[2])), ("ge", sub(sub(early.stmt[3], var(q)), const(1)))]),
        (loop, add(var(i), last), [("ge", sub(var(i), var(low))), ("ge", sub(sub(var(high), var(i)), const(1)))]),
    ):
        used, made, tested = _row(where.bodies[0], at, extent, len(body))
        wanted = tuple(whole(renamed(n, {}, {r: at})) for n in body)
        if canonical(tuple(map(whole, made))) != canonical(wanted) or (where is early and used != len(early.bodies[0])):
            return None
        if any(p not in tested and not cannot([*piece, *rounds, ("ge", sub(const(-1), p))]) for p in (at, sub(sub(extent, const(1)), at))):
            return None
    rest = loop.bodies[0][used:]
    if not rest or x in changed(tuple(map(whole, rest)))[1] or any(n.stmt[0] == "break" for n in every(rest)):
        return None
    return replace(pieces, bodies=((replace(loop, bodies=(rest,)),),)), first, last


def _row(body: tuple[Node, ...], at: Poly, extent: Poly, count: int) -> tuple[int, tuple[Node, ...], set[Poly]]:
    """How many statements at the beginning make a row, those that do it, and what is not negative there by tests."""
    exists = {("ge", at, None), ("ge", sub(sub(extent, const(1)), at), None)}
    if body and body[0].stmt[0] == "if" and not body[0].bodies[1] and set(body[0].stmt[1]) <= exists:
        return 1, body[0].bodies[0], {t[1] for t in body[0].stmt[1]}
    return count, body[:count], set()


def _held(n: Node, x: str, i: str, first: Poly, last: Poly) -> Node | None:
    """Every row that is read is one of those: to be asked where it is."""
    if n.stmt[0] not in (*LEAVES, "for", "accumulate", "if", "chunks"):
        return None if x in read((whole(n),))[1] else n
    rows = [e[2][0] for p in parts(n.stmt) for e in loads(p) if e[1] == x]
    if rows and n.stmt[0] not in LEAVES:
        return None
    holds = tuple(h for p in rows for h in (sub(p, add(var(i), first)), sub(add(var(i), last), p)))
    inner = []
    for b in n.bodies:
        made = [_held(y, x, i, first, last) for y in b]
        if any(y is None for y in made):
            return None
        inner.append(tuple(y for y in made if y is not None))
    return replace(n, holds=(*n.holds, *holds), bodies=tuple(inner))
