"""Variables of several rounds side by side, each an element of an array: known as what they stand for before instances are compared.

    alloc t: [8];  for l in 0..8:  t[l] = 0;  for r:  for l in 0..8:  t[l] += e(8 b + l, r);  for l in 0..8:  y[8 b + l] = t[l]

t[f] stands for a variable v in the round that f tells (8 b + f): as a place it is v's in that round. That is so where
    every element is inside of the array, the round of an access is the one that its element stands for,
    different elements, also of other lives of the array, stand for different rounds (else two would share what was one's own),
    and v begins in the array wherever it is used there.
What is stored in its element and when is looked at like anything else that is done to v. A name that is made in a round may be stored there for later.

    for l:  t[l] = 0;  ... t[f] += e ...;  for l:  s[g(l)] += t[l]        is        ... s[g(f)] += e ...         where sums may be regrouped
    for l:  t[l] = e(l);  ... t[f] ...                                    is        ... e(f) ...                 where nothing in between changes what e reads
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from atoll.check.rewrites.arrays_back import mentioned
from atoll.check.rewrites.language import LEAVES, Expr, changed, coefficient, loads, mapped, names, parts, read, subexprs, walk
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.storage import every, is_neutral
from atoll.check.rewrites.texts import may_trap
from atoll.check.sums import Poly, add, const, mul, sub, subst, var

Index = tuple[Poly, ...]


@dataclass
class Rooms:
    """Arrays that the rewrite makes for itself, with their lengths; those that sums were regrouped into."""

    extents: dict[str, Index]
    regrouped: set[str]


def rooms(before: tuple[Node, ...], after: tuple[Node, ...], kinds: Kinds) -> tuple[tuple[Node, ...], Rooms]:
    """The program after, without making and freeing of arrays that are its own: `room` says where their life begins."""
    old = set().union(*map(mentioned, before)) | {n.stmt[1] for n in every(before) if n.stmt[0] == "alloc"}
    found = Rooms({}, set())
    allocs = [n.stmt[1] for n in every(after) if n.stmt[0] == "alloc"]

    def go(body: tuple[Node, ...]) -> tuple[Node, ...]:
        out = list(body)
        for n in body:
            b = n.stmt[1] if n.stmt[0] == "alloc" and n.origin is None else None
            if b is None or b in old or allocs.count(b) != 1 or kinds[b][2] is not None or not _plainly_used(body, n, b):
                continue
            found.extents[b] = n.stmt[3]
            out = [replace(x, stmt=("room", b)) if x is n else x for x in out if x.stmt != ("free", b)]
        return tuple(replace(x, bodies=tuple(map(go, x.bodies))) for x in out)

    return go(after), found


def _plainly_used(body: tuple[Node, ...], room: Node, b: str) -> bool:
    """By elements only, between where it is made and where it is freed."""
    users = [k for k, n in enumerate(body) if n is not room and b in mentioned(n)]
    if not users or body[users[-1]].stmt != ("free", b) or users[0] < next(k for k, n in enumerate(body) if n is room):
        return False
    inner = [x for k in users[:-1] for x in every((body[k],))]
    return all(b not in mentioned(replace(x, bodies=tuple(() for _ in x.bodies))) or x.stmt[0] in LEAVES for x in inner)


# -- sums of parts


def parts_in_place(body: tuple[Node, ...], own: Rooms, kinds: Kinds, licensed: bool) -> tuple[Node, ...]:
    """Parts of sums as what they are added to."""
    out = tuple(x for n in body for x in _one_by_one(replace(n, bodies=tuple(parts_in_place(b, own, kinds, licensed) for b in n.bodies)), own))
    for b in list(own.extents):
        found = _summed(out, b, own, kinds, licensed)
        if found is not None:
            return parts_in_place(found, own, kinds, licensed)
    return out


def _one_by_one(n: Node, own: Rooms) -> tuple[Node, ...]:
    """A loop that begins several sums, or adds parts to several, as a loop for each: they have nothing to do with each other."""
    if n.stmt[0] != "for" or len(n.bodies[0]) < 2 or any(x.bodies or x.origin is not None for x in n.bodies[0]):
        return (n,)
    touched: list[str] = []
    for x in n.bodies[0]:
        s = x.stmt
        if s[0] == "store" and s[1] in own.extents and s[3][0] == "const":
            touched.append(s[1])
        elif s[0] == "update" and s[4][0] == "load" and s[4][1] in own.extents:
            touched += [s[1], s[4][1]]
        else:
            return (n,)
    return (n,) if len(set(touched)) != len(touched) else tuple(replace(n, bodies=((x,),)) for x in n.bodies[0])


def _full(n: Node, b: str, extents: Index) -> tuple[str, Poly] | None:
    """A loop of one statement over all elements of an array of one index: its index and the first of its range."""
    if n.stmt[0] != "for" or len(n.bodies[0]) != 1 or n.bodies[0][0].bodies or len(extents) != 1 or sub(n.stmt[3], n.stmt[2]) != extents[0]:
        return None
    return n.stmt[1], n.stmt[2]


def _summed(body: tuple[Node, ...], b: str, own: Rooms, kinds: Kinds, licensed: bool) -> tuple[Node, ...] | None:
    users = [k for k, n in enumerate(body) if b in mentioned(n) and n.stmt[0] not in ("room", "touch")]
    if len(users) < 3:
        return None
    first, last = body[users[0]], body[users[-1]]
    begin, end = _full(first, b, own.extents[b]), _full(last, b, own.extents[b])
    if begin is None or end is None:
        return None
    (i, low), (j, start) = begin, end
    zero, adds = first.bodies[0][0].stmt, last.bodies[0][0].stmt
    if zero[:3] != ("store", b, (sub(var(i), low),)) or zero[3][0] != "const" or adds[0] != "update" or adds[4] != ("load", b, (sub(var(j), start),)):
        return None
    s, op, d = adds[1], adds[3], kinds[b][1]
    if s == b or kinds[s] != kinds[b] or not is_neutral(zero[3][1], op, d) or not (licensed or s in own.extents or d[0] not in "fc"):
        return None
    middle = body[users[0] + 1 : users[-1]]
    stmts = tuple(map(whole, middle))
    made = {x[1] for x in walk(stmts) if x[0] in ("let", "declare", "for", "accumulate", "chunks")} | changed(stmts)[0]
    if s in read(stmts)[1] | changed(stmts)[1] or made & (set().union(*map(names, adds[2])) - {j}):
        return None
    out: list[Node] = []
    for n in middle:
        new = _added(n, b, s, op, adds[2], j, start, own.extents[b][0])
        if new is None:
            return None
        out.append(new)
    if s in own.extents:
        own.regrouped.add(s)
    touched = Node(("touch", s, adds[2], j, start, own.extents[b][0]), (), None)  # every sum that parts are added to is added to in some round
    return (*body[: users[0]], *out, touched, *body[users[-1] + 1 :])


def _added(n: Node, b: str, s: str, op: str, to: Index, j: str, start: Poly, extent: Poly) -> Node | None:
    """A statement that adds to parts, adding to the sum; None where something else is done with them."""
    x = n.stmt
    if x[:2] == ("touch", b):
        return replace(n, stmt=("touch", s, tuple(subst(p, {j: add(x[2][0], start)}) for p in to), *x[3:]))
    if any(e[1] == b for p in parts(x) for e in loads(p)) or (x[0] != "update" and b in changed((x,))[1] and not n.bodies):
        return None
    inner: list[tuple[Node, ...]] = []
    for body in n.bodies:
        made = [_added(y, b, s, op, to, j, start, extent) for y in body]
        if any(y is None for y in made):
            return None
        inner.append(tuple(y for y in made if y is not None))
    if x[0] == "update" and x[1] == b:
        if x[3] != op:
            return None
        (f,) = x[2]
        index = tuple(subst(p, {j: add(f, start)}) for p in to)
        return replace(n, stmt=("update", s, index, op, x[4]), holds=(*n.holds, f, sub(sub(extent, f), const(1))))
    return replace(n, bodies=tuple(inner))


# -- variables that are stored


def stored(body: tuple[Node, ...], own: Rooms, kinds: Kinds) -> tuple[Node, ...]:
    """A variable that is made here and stored at last, as the element from the beginning."""
    out = [replace(n, bodies=tuple(stored(b, own, kinds) for b in n.bodies)) for n in body]
    for k, n in enumerate(out):
        if n.stmt[0] == "declare" and n.origin is not None and n.stmt[3] is not None:
            found = _from_the_beginning(out, k, own, kinds)
            if found is not None:
                return stored(tuple(found), own, kinds)
    return tuple(out)


def _from_the_beginning(out: list[Node], k: int, own: Rooms, kinds: Kinds) -> list[Node] | None:
    _, v, d, first = out[k].stmt
    ends = [j for j, n in enumerate(out) if j > k and n.stmt[0] == "store" and n.stmt[1] in own.extents and n.stmt[3] == ("use", v) and n.origin is None]
    if len(ends) != 1:
        return None
    end, (_, t, index, _) = ends[0], out[ends[0]].stmt
    middle = out[k + 1 : end]
    used = names(first).union(*(read((whole(n),))[0] | changed((whole(n),))[0] for n in out[end + 1 :]))
    moved = changed(tuple(map(whole, middle)))[0] | {n.stmt[1] for n in middle if n.stmt[0] in ("let", "declare")}
    if kinds[t][1] != d or v in used or any(n.bodies or n.stmt[0] not in ("let", "declare", "assign", "store", "update", "add") for n in middle) or moved & set().union(*map(names, index)):
        return None
    if any(t in mentioned(n) for n in middle):
        return None
    here: Expr = ("load", t, index)
    value = lambda x: here if x == ("use", v) else None  # noqa: E731
    made = [replace(out[k], stmt=("store", t, index, first))]
    for n in middle:
        if n.stmt[0] in ("assign", "add") and n.stmt[1] == v:
            if n.stmt[0] == "add":
                return None
            made.append(replace(n, stmt=("store", t, index, mapped(n.stmt[2], lambda p: p, value))))
        else:
            if v in set().union(*(names(p) for p in parts(n.stmt) if not isinstance(p[0] if p else (), str))):
                return None  # it stands in an index
            made.append(replace(n, stmt=with_values(n.stmt, value)))
    return [*out[:k], *made, *out[end + 1 :]]


# -- values that are kept


def forwarded(body: tuple[Node, ...], own: Rooms, kinds: Kinds) -> tuple[Node, ...]:
    """Elements that are stored once, as the values that they are."""
    out = tuple(replace(n, bodies=tuple(forwarded(b, own, kinds) for b in n.bodies)) for n in body)
    for b in list(own.extents):
        found = _valued(out, b, own, kinds)
        if found is not None:
            del own.extents[b]
            return forwarded(found, own, kinds)
    return out


def _valued(body: tuple[Node, ...], b: str, own: Rooms, kinds: Kinds) -> tuple[Node, ...] | None:
    users = [k for k, n in enumerate(body) if b in mentioned(n) and n.stmt[0] != "room"]
    if len(users) < 2 or not any(n.stmt == ("room", b) for n in body) or len(own.extents[b]) != 1:
        return None
    maker = body[users[0]]
    stores = [x for x in every(body) if x.stmt[0] in ("store", "update") and x.stmt[1] == b]
    if maker.stmt[0] != "for" or len(stores) != 1 or not any(x is stores[0] for x in maker.bodies[0]) or stores[0].stmt[0] != "store" or b in read((whole(maker),))[1]:
        return None
    (store,) = stores
    i, low, high = maker.stmt[1:4]
    (f,), e = store.stmt[2], store.stmt[3]
    c = coefficient(f, i)
    if c not in (1, -1) or sub(high, low) != own.extents[b][0] or subst(f, {i: low if c == 1 else sub(high, const(1))}) != ():
        return None
    inside = {x[1] for x in walk(tuple(map(whole, maker.bodies[0]))) if x[0] in ("let", "declare")}
    between = tuple(map(whole, body[users[0] : users[-1] + 1]))
    assigned, written = changed(between)
    used, arrays = names(e) - {i}, {x[1] for x in loads(e)}
    bound = {x[1] for x in walk(between) if x[0] in ("for", "accumulate", "chunks", "let", "declare")} - {i}
    if used & (inside | assigned | bound) or arrays & (written - {b}) or b in arrays or not arrays <= set(own.extents) or any(may_trap(x) for x in subexprs(e)):
        return None

    def back(g: Poly) -> Poly:
        """The round that stored element g."""
        return mul(const(c or 1), sub(g, subst(f, {i: ()})))

    def value(x: Expr) -> Expr | None:
        return put(e, {i: back(x[2][0])}) if x[0] == "load" and x[1] == b else None

    def go(n: Node) -> Node:
        asked = [x[2][0] for p in parts(n.stmt) for x in loads(p) if x[1] == b]
        holds = tuple(p for g in asked for p in (g, sub(sub(own.extents[b][0], g), const(1))))
        origin = n.origin
        if origin is None and store.origin is not None and len(asked) == 1:  # what is done with it now is what was said to be done there
            origin = (store.origin[0], {x: subst(p, {i: back(asked[0])}) for x, p in store.origin[1].items()})
        return replace(n, stmt=with_values(n.stmt, value), bodies=tuple(tuple(map(go, x)) for x in n.bodies), holds=(*n.holds, *holds), origin=origin)

    peeks = tuple(Node(("peek", *x[1:]), (), None) for x in loads(e))  # they are read there, and inside of their array
    gone = replace(maker, bodies=(tuple(y for x in maker.bodies[0] for y in (peeks if x is store else (x,))),))
    return tuple(gone if n is maker else go(n) for n in body if n.stmt != ("room", b))


def put(e: Any, env: Mapping[str, Poly]) -> Any:
    return mapped(e, lambda p: subst(p, dict(env)), lambda x: None)


def with_values(s: Any, value: Any) -> Any:
    def go(e: Any) -> Any:
        return mapped(e, lambda p: p, value)

    match s[0]:
        case "let" | "declare" | "store" | "add":
            return (*s[:3], None if s[3] is None else go(s[3]))
        case "assign":
            return (*s[:2], go(s[2]))
        case "update":
            return (*s[:4], go(s[4]))
        case "check":
            return ("check", go(("truth", s[1]))[1], s[2], tuple(map(go, s[3])))
        case "if" | "break":
            return (s[0], go(("truth", s[1]))[1], *s[2:])
    return s
