"""What is kept of a range, kept in blocks that are then put together: a lemma. The checker makes the text that it is about and compares it, up to names.

    declare c = 0;  for r in 0..n:  if t(r):  y[c] = v(r);  c := c + 1                                  is (y is [n], nothing was written in it, and nobody looks at c or y on the way)

    for blocks b:  for j of b:  flag[j] = t(B b + j);  y[B b ...] = v(B b + j) where flag[j];  starts[b] = how many        (`compress` of the runtime, which is believed)
    for b in order:  starts[b], c = c, c + starts[b]
    for b in order:  y[starts[b] + k] = y[B b + k] for all k it kept

starts[b] <= B b, so nothing is overwritten that is still to be moved; what a block keeps is in order, and blocks are. Where y is only copied to results as long as c, they are copied from the blocks.
Every round reads what is stored now: elements of the round itself of arrays that are n long, and arithmetic that cannot fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from atoll.check.rewrites.arrays_back import mentioned
from atoll.check.rewrites.language import (
    Body,
    Expr,
    Stmt,
    bodies,
    changed,
    loads,
    mapped,
    names,
    put,
    read,
    subexprs,
    walk,
    with_bodies,
)
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.storage import every
from atoll.check.rewrites.texts import may_trap
from atoll.check.sums import Poly, add, const, div, mul, sub, subst, var

NOTE = "`compress` of the runtime keeps the elements whose flag is set, in order, and says how many"
ONE_BY_ONE, APART = (False, 0, False, False), (True, 0, False, False)
LARGEST = 1 << 20  # of a block


@dataclass(frozen=True, slots=True)
class Filter:
    """A loop that keeps some elements."""

    r: str
    n: Poly
    lets: Body
    tests: tuple[Any, ...]
    stores: tuple[tuple[str, Expr], ...]
    counter: str


def filters_back(before: tuple[Node, ...], after: tuple[Node, ...], kinds: Kinds, notes: set[str]) -> tuple[Node, ...]:
    """The program after with filters as the program before has them."""
    kept = {n.origin[0] for n in every(after) if n.origin is not None}
    for k, n in enumerate(before):
        if n.stmt[0] == "for" and n.origin is not None and n.origin[0] not in kept:
            f = _filter(before, k, kinds)
            found = None if f is None else _found(f, before, k, after, kinds)
            if found is not None:
                notes.add(NOTE)
                at, long, used = found
                after = (*after[:at], *before[k : k + 1 + used], *after[at + long :])
    return after


def _filter(before: tuple[Node, ...], k: int, kinds: Kinds) -> Filter | None:
    loop = before[k]
    _, r, low, n, _, flags = loop.stmt
    *first, last = loop.bodies[0] or (loop,)
    if low != () or flags != ONE_BY_ONE or last.stmt[0] != "if" or last.bodies[1] or len(last.bodies[0]) < 2 or any(x.stmt[0] != "let" for x in first):
        return None
    *inner, step = (x.stmt for x in last.bodies[0])
    own = [s for s in inner if s[0] == "let"]
    stores = [s for s in inner if s[0] == "store"]
    c = step[1]
    if step[:1] != ("assign",) or step[2] != ("index", add(var(c), const(1))) or not stores or len(own) + len(stores) != len(inner):
        return None
    lets, tests = (*(x.stmt for x in first), *own), _apart(last.stmt[1])
    arrays = {s[1] for s in stores}
    if len(arrays) != len(stores) or any(s[2] != (var(c),) for s in stores):
        return None
    looked = read((*lets, ("break", last.stmt[1]), *(("let", "%", "", s[3]) for s in stores)))
    if c in looked[0] or arrays & looked[1] or not all(_readable(e, r, n, kinds) for e in (*(s[3] for s in own), *(s[3] for s in stores))):
        return None
    if not _from_nothing(before, k, c, n, arrays) or not _steady(before, k, c, n, {x[1] for s in (*own, *stores) for x in loads(s[3])}):
        return None
    return Filter(r, n, lets, tests, tuple((s[1], _where(s[3], tests)) for s in stores), c)


def _from_nothing(before: tuple[Node, ...], k: int, c: str, n: Poly, arrays: set[str]) -> bool:
    """The count is 0, and the arrays are new and as long as the range."""
    begun = [j for j, x in enumerate(before[:k]) if x.stmt == ("declare", c, "i64", ("const", "0", "i64"))]
    if len(begun) != 1 or c in changed(tuple(map(whole, before[begun[0] + 1 : k])))[0]:
        return False
    for y in arrays:
        rooms = [j for j, x in enumerate(before[:k]) if y in mentioned(x)]
        if len(rooms) != 1 or (room := before[rooms[0]].stmt)[:2] != ("alloc", y) or room[3] != (n,) or room[4][1] is not None:
            return False
        if names(n) & changed(tuple(map(whole, before[rooms[0] : k])))[0]:
            return False  # it was as long as the range is no more
    return True


def _steady(before: tuple[Node, ...], k: int, c: str, n: Poly, arrays: set[str]) -> bool:
    """The length of the range is what it was when the arrays were made: those of this list, or all, where nothing changes it."""
    used = names(n)
    made = {x.stmt[1]: j for j, x in enumerate(before[:k]) if x.stmt[0] == "alloc"}
    if c in used:
        return False
    if not used & changed(tuple(map(whole, before)))[0]:
        return True
    since = min((made.get(b, -1) for b in arrays), default=k)
    return since >= 0 and not used & changed(tuple(map(whole, before[since + 1 : k])))[0]


def _apart(tests: Any) -> tuple[Any, ...]:
    """Tests of truth values as the tests these are made of."""
    found: list[Any] = []
    for t in tests:
        e = t[2]
        if t[0] == "true" and e[0] == "choose" and e[2][:2] == ("const", "True") and e[3][:2] == ("const", "False"):
            found += _apart(e[1])
        elif t[0] == "true" and e[0] == "truth":
            found += _apart(e[1])
        else:
            found.append(t)
    return tuple(dict.fromkeys(found))


def _where(e: Expr, tests: tuple[Any, ...]) -> Expr:
    """A value that only counts where the tests hold."""
    return _where(e[2], tests) if e[0] == "choose" and set(_apart(e[1])) <= set(tests) else e


def _readable(e: Expr, r: str, n: Poly, kinds: Kinds) -> bool:
    """It can be computed in every round."""
    if any(may_trap(x) for x in subexprs(e)):
        return False
    for x in loads(e):
        if x[2] != (var(r),) or kinds.extents.get(x[1]) != (n,) or kinds[x[1]][2] is not None:
            return False
    return True


# -- the text


def _found(f: Filter, before: tuple[Node, ...], k: int, after: tuple[Node, ...], kinds: Kinds) -> tuple[int, int, int] | None:
    """Where the text begins in the program after, how long it is, and how many statements behind the loop it stands for as well."""
    copies = _copied(f, before, k)
    for at, n in enumerate(after):
        size = _block(after[at : at + 2]) if n.stmt[0] == "alloc" and n.origin is None else None
        if size is None:
            continue
        for rooms, put_in in ([([], None)] if copies is None else [([], None), copies]):
            text = _text(f, size, [whole(x) for x in rooms], put_in, kinds)
            there = tuple(map(whole, after[at : at + len(text)]))
            if same_up_to_names(text, there):
                return at, len(text), 0 if put_in is None else len(rooms) + len(put_in)
    return None


def _block(there: tuple[Node, ...]) -> int | None:
    try:
        text = there[1].bodies[0][0].bodies[0][0].stmt[3][2][0]
    except (IndexError, TypeError):
        return None
    return int(text[1]) if text[0] == "const" and str(text[1]).isdigit() and 0 < int(text[1]) <= LARGEST else None


def _copied(f: Filter, before: tuple[Node, ...], k: int) -> tuple[list[Node], list[tuple[str, str]]] | None:
    """Results as long as what is kept, each a copy of one of the arrays, which nobody else looks at."""
    rooms: list[Node] = []
    pairs: list[tuple[str, str]] = []
    own = {y for y, _ in f.stores}
    for n in before[k + 1 :]:
        if n.stmt[0] == "alloc" and n.stmt[3] == (var(f.counter),) and not pairs:
            rooms.append(n)
            continue
        pair = _copy(n, f)
        if pair is None or pair[0] in {y for y, _ in pairs}:
            break
        pairs.append(pair)
    done = k + 1 + len(rooms) + len(pairs)
    if {y for y, _ in pairs} != own or {t for _, t in pairs} & own or len({t for _, t in pairs}) != len(pairs):
        return None
    if any(own & mentioned(n) and n.stmt[0] != "free" for n in before[done:]) or not {t for _, t in pairs} <= {n.stmt[1] for n in rooms}:
        return None
    return rooms, pairs


def _copy(n: Node, f: Filter) -> tuple[str, str] | None:
    if n.stmt[0] != "chunks" or n.stmt[3] != var(f.counter) or n.stmt[5] or n.stmt[6] or len(n.bodies[0]) != 1:
        return None
    (loop,) = n.bodies[0]
    if loop.stmt[0] != "for" or loop.stmt[2:4] != (var(n.stmt[1]), var(n.stmt[2])) or len(loop.bodies[0]) != 1:
        return None
    i, s = var(loop.stmt[1]), loop.bodies[0][0].stmt
    for y, _ in f.stores:
        if s[0] == "store" and s[2:] == ((i,), ("load", y, (i,))):
            return y, s[1]
    return None


def _text(f: Filter, size: int, rooms: list[Stmt], copies: list[tuple[str, str]] | None, kinds: Kinds) -> Body:
    b, j = var("%b"), var("%j")
    blocks, first = div(add(f.n, const(size - 1)), const(size)), mul(const(size), b)
    env = {f.r: add(first, j), **{s[1]: var(f"%let{k}") for k, s in enumerate(f.lets)}}
    marks: list[Stmt] = [("let", f"%let{k}", s[2], put(s[3], env)) for k, s in enumerate(f.lets)]
    marks.append(("store", "%flags", (j,), ("truth", put(("truth", f.tests), env)[1])))
    local: list[Stmt] = [("alloc", "%flags", "bool", (const(size),), (True, None, False))]
    moves: list[Stmt] = []
    for k, (y, value) in enumerate(f.stores):
        d = kinds[y][1]
        source: Any = (value[1], (first,)) if value[0] == "load" else None
        if source is None:
            local.append(("alloc", f"%made{k}", d, (const(size),), (True, None, False)))
            marks.append(("store", f"%made{k}", (j,), put(value, env)))
            source = (f"%made{k}", ((),))
        moves.append(("helper", "compress", (source, ("%flags", ((),)), (y, (first,))), (var("%length"),), None if k else ("%count", "i64"), repr([None, d])))
    left = ("call", "min", (("const", str(size), "i64"), ("index", sub(f.n, first))), "i64")
    body = (("let", "%length", "i64", left), *local, ("for", "%j", (), var("%length"), tuple(marks), APART), *moves, ("store", "%starts", (b,), ("use", "%count")))
    out: list[Stmt] = [
        ("alloc", "%starts", "i64", (add(blocks, const(1)),), (False, None, False)),
        ("chunks", "%lo", "%hi", blocks, (("for", "%b", var("%lo"), var("%hi"), body, APART),), (), (), ()),
        ("for", "%e", (), blocks, (
            ("let", "%kept", "i64", ("load", "%starts", (var("%e"),))), ("store", "%starts", (var("%e"),), ("use", f.counter)),
            ("assign", f.counter, ("index", add(var(f.counter), var("%kept")))),
        ), ONE_BY_ONE),
        ("store", "%starts", (blocks,), ("use", f.counter)),
    ]  # fmt: skip
    if copies is None:
        moved = tuple(s for k, (y, _) in enumerate(f.stores) for s in _put_together(y, y, size, k, ONE_BY_ONE))
        out.append(("for", "%z", (), blocks, moved, ONE_BY_ONE))
    else:
        moved = tuple(s for k, (y, to) in enumerate(copies) for s in _put_together(to, y, size, k, APART))
        out += [*rooms, ("chunks", "%lo2", "%hi2", blocks, (("for", "%z", var("%lo2"), var("%hi2"), moved, APART),), (), (), ())]
    return (*out, ("free", "%starts"))


def _put_together(to: str, y: str, size: int, k: int, flags: Any) -> Body:
    begin, end, at, z = f"%begin{k}", f"%end{k}", f"%k{k}", var("%z")
    move = ("store", to, (add(var(begin), var(at)),), ("load", y, (add(mul(const(size), z), var(at)),)))
    return (
        ("let", begin, "i64", ("load", "%starts", (z,))), ("let", end, "i64", ("load", "%starts", (add(z, const(1)),))),
        ("for", at, (), sub(var(end), var(begin)), (move,), flags),
    )  # fmt: skip


# -- up to names


def same_up_to_names(text: Body, there: Body) -> bool:
    """The text is this, with a name of its own for each that begins with %."""
    mine, theirs = list(walk(text)), list(walk(there))
    if len(mine) != len(theirs):
        return False
    called: dict[str, str] = {}
    for s, t in zip(mine, theirs, strict=True):
        if s[0] != t[0]:
            return False
        for a, x in zip(_bound(s), _bound(t), strict=False):
            if a.startswith("%") and called.setdefault(a, x) != x:
                return False
    if len(set(called.values())) != len(called):
        return False
    return tuple(_renamed(s, called) for s in text) == there


def _bound(s: Stmt) -> list[str]:
    match s[0]:
        case "let" | "for" | "alloc":
            return [s[1]]
        case "chunks":
            return [s[1], s[2]]
        case "helper":
            return [s[4][0]] if s[4] is not None else []
    return []


def _renamed(s: Stmt, called: Mapping[str, str]) -> Stmt:
    env = {a: var(x) for a, x in called.items()}

    def one(v: str) -> str:
        return called.get(v, v)

    def leaf(x: Expr) -> Expr | None:
        if x[0] == "use":
            return ("use", one(x[1]))
        return ("load", one(x[1]), tuple(map(poly, x[2]))) if x[0] == "load" else None

    def poly(p: Poly) -> Poly:
        return subst(p, env)

    def go(e: Any) -> Any:
        return mapped(e, poly, leaf)

    s = with_bodies(s, tuple(tuple(_renamed(x, called) for x in b) for b in bodies(s)))
    match s[0]:
        case "let":
            return ("let", one(s[1]), s[2], go(s[3]))
        case "assign":
            return ("assign", one(s[1]), go(s[2]))
        case "store":
            return ("store", one(s[1]), tuple(map(poly, s[2])), go(s[3]))
        case "for":
            return ("for", one(s[1]), poly(s[2]), poly(s[3]), *s[4:])
        case "chunks":
            return ("chunks", one(s[1]), one(s[2]), poly(s[3]), *s[4:])
        case "alloc":
            return ("alloc", one(s[1]), s[2], tuple(map(poly, s[3])), s[4])
        case "free":
            return ("free", one(s[1]))
        case "helper":
            result = None if s[4] is None else (one(s[4][0]), s[4][1])
            return ("helper", s[1], tuple((one(b), tuple(map(poly, index))) for b, index in s[2]), tuple(map(poly, s[3])), result, s[5])
    return s


__all__ = ["filters_back"]
