"""What is undone before instances are compared: where values are kept meanwhile.

    pieces lo..hi of n: for i in lo..hi: f(i)          is    for i in 0..n: f(i), in any order
    pieces lo..hi of n, sums s: sum i in lo..hi of e into t; s += t      is    sum i in 0..n of e into t; s += t        where there is a piece, and sums have no order
    declare v = b[i]; ... v := e ...; b[i] = v         is    ... b[i] = e ...      where nothing else in between touches that element (`apart`: to be proved)
    let v = b[i]; ... v ...                            is    ... b[i] ...          where nothing in between writes it
    declare acc = neutral                              begins a sum
    alloc l; for k in 0..c: l[k] = e; stream b[p..], l, c; free l        is    for k in 0..c: b[p + k] = e      (a line of a result that goes past the caches)
    fence                                              is    nothing
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.language import Expr, Stmt, changed, loads, mapped, names, parts, read, walk
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.scopes import Kinds
from atoll.check.sums import add, sub, value, var

NEUTRAL = {"add": (0,), "mul": (1,), "or": (0,), "and": (1,), "minimum": (), "maximum": ()}


def in_one(body: tuple[Node, ...]) -> tuple[Node, ...]:
    """Pieces of a range whose one loop runs through the piece, as a loop over all of it whose rounds are in any order."""
    out = []
    for n in body:
        n = replace(n, bodies=tuple(in_one(b) for b in n.bodies))
        if n.stmt[0] == "chunks" and not n.stmt[5] and not n.stmt[6] and len(n.bodies[0]) == 1 and n.bodies[0][0].stmt[0] == "for":
            _, low, high, extent = n.stmt[:4]
            inner = n.bodies[0][0]
            _, i, first, last, _, flags = inner.stmt
            a, b = sub(first, var(low)), sub(last, var(high))
            if a == b and not {low, high} & (names(a) | _names(inner.bodies[0])):
                n = replace(inner, stmt=("for", i, a, add(extent, a), (), (True, *flags[1:])))
        out.append(n)
    return tuple(out)


def sums_in_one(before: tuple[Node, ...], after: tuple[Node, ...]) -> tuple[Node, ...]:
    """Pieces of a range that are made sums of, as one piece, where the program after has them no more."""
    kept = {n.stmt[1] for n in every(after) if n.stmt[0] == "chunks"}

    def go(body: tuple[Node, ...]) -> tuple[Node, ...]:
        out: list[Node] = []
        for n in body:
            n = replace(n, bodies=tuple(map(go, n.bodies)))
            one = _one_piece(n) if n.stmt[0] == "chunks" and n.stmt[5] and not n.stmt[6] and n.stmt[1] not in kept else None
            out += (n,) if one is None else one
        return tuple(out)

    return go(before)


def _one_piece(n: Node) -> tuple[Node, ...] | None:
    _, low, high, extent = n.stmt[:4]
    sums = {v: (monoid, d) for v, monoid, d in n.stmt[5]}
    own: dict[str, tuple[str, str]] = {}
    out: list[Node] = []
    if (value(extent) or 0) < 1:
        return None  # of an empty range nothing is added, not even once
    for x in n.bodies[0]:
        s = x.stmt
        if s[0] == "accumulate" and s[2:4] == (var(low), var(high)) and not (s[6] and any(d[0] in "fc" for _, _, d in s[5])):
            own |= {v: (monoid, d) for v, monoid, d in s[5]}
            x = replace(x, stmt=(*s[:2], (), extent, *s[4:]))
        elif not (s[0] == "add" and s[3][0] == "use" and s[1] in sums and s[2] == sums[s[1]][0] and own.get(s[3][1]) == sums.pop(s[1])):
            return None
        out.append(x)
    made = tuple(map(whole, out))
    return None if sums or {low, high} & (read(made)[0] | changed(made)[0]) else tuple(out)


def every(body: tuple[Node, ...]) -> Iterator[Node]:
    for n in body:
        yield n
        for b in n.bodies:
            yield from every(b)


def _names(body: tuple[Node, ...]) -> set[str]:
    found: set[str] = set()
    for n in body:
        for e in parts(n.stmt):
            found |= names(e)
        for b in n.bodies:
            found |= _names(b)
    return found


def swapped(e: Any, env: dict[str, Expr]) -> Any:
    """An expression with variables replaced by what they stand for."""
    return mapped(e, lambda p: p, lambda x: env.get(x[1]) if x[0] == "use" else None)


def _swapped(s: Stmt, env: dict[str, Expr]) -> Stmt:
    match s[0]:
        case "let" | "declare" | "store" | "add":
            return (*s[:3], None if s[3] is None else swapped(s[3], env))
        case "assign":
            return (*s[:2], swapped(s[2], env))
        case "update":
            return (*s[:4], swapped(s[4], env))
        case "check":
            return ("check", swapped(("truth", s[1]), env)[1], s[2], tuple(swapped(a, env) for a in s[3]))
        case "if" | "break":
            return (s[0], swapped(("truth", s[1]), env)[1], *s[2:])
    return s


def replaced(body: tuple[Node, ...], env: dict[str, Expr]) -> tuple[Node, ...]:
    return tuple(replace(n, stmt=_swapped(n.stmt, env), bodies=tuple(replaced(b, env) for b in n.bodies)) for n in body)


def begins_sum(s: Stmt, sums: dict[str, str]) -> bool:
    """`declare v = neutral` of a variable that stands for a sum."""
    if s[0] != "declare" or s[1] not in sums or s[3] is None or s[3][0] != "const":
        return False
    return is_neutral(s[3][1], sums[s[1]], s[2])


def is_neutral(text: str, monoid: str, d: str) -> bool:
    """The text of a constant is the neutral element of an operator."""
    monoid = {"min": "minimum", "max": "maximum"}.get(monoid, monoid)
    if text == "{'c': [{'f': '0x0.0p+0'}, {'f': '0x0.0p+0'}]}":
        return monoid == "add"  # part by part, as of floats; 1 is not neutral, for infinities
    plain = {"{'f': '0x0.0p+0'}": "0", "{'f': '0x1.0000000000000p+0'}": "1", "False": "0", "True": "1", "{'f': 'inf'}": "inf", "{'f': '-inf'}": "-inf"}.get(text, text)
    if monoid in ("minimum", "maximum"):
        if d[0] == "f":
            return plain == ("inf" if monoid == "minimum" else "-inf")
        if d[0] in "iu" and d[1:].isdigit():
            bits = int(d[1:])
            top = (1 << (bits - (d[0] == "i"))) - 1
            return plain == str(top if monoid == "minimum" else -top - 1 if d[0] == "i" else 0)
        return False
    return plain in map(str, NEUTRAL.get(monoid, ())) and (monoid != "and" or d == "bool")


def undone(body: tuple[Node, ...], sums: dict[str, str], moving: frozenset[str], kinds: Kinds) -> tuple[Node, ...]:
    """The statements with values where they were before: `sums` are variables that stand for accumulators, with their operators; `moving` ones are assigned."""
    out = [n for n in _without_lines(body, kinds) if n.stmt[:2] != ("helper", "fence") or n.stmt[2]]
    for k, n in enumerate(out):
        if n.origin is None and begins_sum(n.stmt, sums):
            out[k] = replace(n, stmt=("acc", n.stmt[1], sums[n.stmt[1]], n.stmt[2], True), origin=(-1, {}))
    out = list(_loads_again(tuple(out), moving, kinds))
    for v in [n.stmt[1] for n in out if n.stmt[0] == "declare" and n.origin is None and n.stmt[3] is not None and n.stmt[3][0] == "load"]:
        out = _in_place(out, v, moving, kinds)
    return tuple(replace(n, bodies=tuple(undone(b, sums, moving, kinds) for b in n.bodies)) for n in out)


def _without_lines(body: tuple[Node, ...], kinds: Kinds) -> tuple[Node, ...]:
    """Stores into lines that are streamed to their array, as stores into the array."""
    for stream in [n for n in body if n.stmt[:2] == ("helper", "stream") and n.origin is None and len(n.stmt[2]) == 2]:
        (b, first), (line, zero) = stream.stmt[2]
        count = stream.stmt[3][0]
        room = [n for n in body if n.stmt[0] == "alloc" and n.stmt[1] == line and n.stmt[3] == (count,)]
        freed = [n for n in body if n.stmt == ("free", line)]
        fills = [n for n in body if n.stmt[0] == "for" and line in changed((whole(n),))[1]]
        if len(room) != 1 or len(freed) != 1 or len(fills) != 1 or zero != ((),) or not first:
            continue
        (fill,) = fills
        others = tuple(n for n in body if n not in (stream, room[0], freed[0], fill))
        touched = set().union(*(read((whole(n),))[1] | changed((whole(n),))[1] for n in others)) if others else set()
        inside = read((whole(fill),))[1]
        at = [body.index(n) for n in (room[0], fill, stream, freed[0])]
        if at != sorted(at) or fill.stmt[2] != () or fill.stmt[3] != count or {line, b} & inside or line in touched or b in touched:
            continue
        if kinds[line] != kinds[b] or b in changed((whole(fill),))[1]:
            continue
        if changed(tuple(map(whole, body[at[0] : at[3]])))[0] & set().union(*(names(p) for p in (*first, count))):
            continue
        stores = [n for n in fill.bodies[0] if n.stmt[0] == "store" and n.stmt[1] == line]
        if len(stores) != 1 or stores[0].stmt[2] != (var(fill.stmt[1]),) or sum(x[0] == "store" and x[1] == line for x in walk((whole(fill),))) != 1:
            continue
        index = (*first[:-1], add(first[-1], var(fill.stmt[1])))
        inner = tuple(replace(n, stmt=("store", b, index, n.stmt[3])) if n is stores[0] else n for n in fill.bodies[0])
        return _without_lines(tuple(replace(n, bodies=(inner,)) if n is fill else n for n in body if n not in (stream, room[0], freed[0])), kinds)
    return body


def _loads_again(body: tuple[Node, ...], moving: frozenset[str], kinds: Kinds) -> tuple[Node, ...]:
    """Elements that are read once for several uses, read at each of them."""
    for k, n in enumerate(body):
        s = n.stmt
        if s[0] == "let" and n.origin is None and s[2] != "i64" and s[3][0] == "load" and s[2] == kinds[s[3][1]][1] and moving.isdisjoint(names(s[3])):
            rest = tuple(_kept(x, s[3], kinds) for x in replaced(body[k + 1 :], {s[1]: s[3]}))
            return (*body[:k], Node(("peek", *s[3][1:]), (), None), *_loads_again(rest, moving, kinds))  # the element must be there
    return body


def _kept(n: Node, load: Expr, kinds: Kinds) -> Node:
    """Every write of the array that is read must be of another element."""
    made = replace(n, bodies=tuple(tuple(_kept(x, load, kinds) for x in b) for b in n.bodies))
    if n.stmt[0] in ("store", "update") and n.stmt[1] == load[1] and kinds[load[1]][2] is None:
        return replace(made, apart=(*n.apart, (n.stmt[2], load[2])))
    if load[1] in changed((n.stmt,))[1]:  # a whole array: nothing says which element
        return replace(made, apart=(*n.apart, ((), ())))
    return made


def _in_place(out: list[Node], v: str, moving: frozenset[str], kinds: Kinds) -> list[Node]:
    k = next(j for j, n in enumerate(out) if n.stmt[0] == "declare" and n.stmt[1] == v)
    load = out[k].stmt[3]
    b, index = load[1], load[2]
    ends = [j for j, n in enumerate(out) if n.origin is None and n.stmt == ("store", b, index, ("use", v))]
    if kinds[v][1] != kinds[b][1] or kinds[b][2] is not None:
        return out
    if not moving.isdisjoint(names(load)) or len(ends) != 1 or ends[0] < k or any(n.bodies for n in out[k + 1 : ends[0]]) or any(v in _names((n,)) for n in out[ends[0] + 1 :]):
        return out
    if not any(n.stmt[:2] == ("assign", v) for n in out[k + 1 : ends[0]]):
        return out  # to write back what was read is a write that nobody accounts for
    middle = []
    for n in out[k + 1 : ends[0]]:
        s = n.stmt
        if s[0] == "peek":
            middle.append(n)
            continue
        others = [x[2] for e in parts(s) for x in loads(e) if x[1] == b] + ([s[2]] if s[0] in ("store", "update") and s[1] == b else [])
        apart = (*n.apart, *((index, o) for o in others))
        if s[0] == "assign" and s[1] == v:
            middle.append(replace(n, stmt=("store", b, index, swapped(s[2], {v: load})), apart=apart))
        else:
            middle.append(replace(n, stmt=_swapped(s, {v: load}), apart=apart if s[0] in ("let", "declare", "assign", "store", "update", "add") else (*apart, ((), ()))))
    return [*out[:k], *middle, *out[ends[0] + 1 :]]


__all__ = ["in_one", "undone", "whole"]
