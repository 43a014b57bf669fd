"""Statements in their places: under which conditions they are done, in which order, which instance of the statement before the rewrite they are.

A leaf is a statement that does something, or one that is not looked into (a `forever`, a product, a library routine), which is the same as before or not validated.
`conds` and `groups` say when it is done (of every group one case holds); `facts` and `known` are so wherever it is done: checks that came before, integers by cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from atoll.check.rewrites.language import LEAVES, Body, Expr, Stmt, bodies, is_poly, names, parts, subexprs, walk, with_bodies
from atoll.check.rewrites.refute import Cond, Group, negations
from atoll.check.rewrites.scopes import Kinds
from atoll.check.sums import Poly, Rejected, const, divisors, sub, value, var

Origin = tuple[int, Mapping[str, Poly]]
Piece = tuple[str, str, Poly]  # where a piece begins and ends, and the length of the range
Place = tuple[int, float, str | None, Any]  # the list, the position in it, the index of a loop and whether its rounds are independent (SUMS: but for what is added to sums)
SUMS = "sums"


class No(Rejected):
    """Why a rewrite is not validated."""


@dataclass(frozen=True, slots=True)
class Node:
    """A statement of a region. `apart`: pairs of indices that must differ wherever it is done."""

    stmt: Stmt  # without the statements inside it
    bodies: tuple[tuple[Node, ...], ...]
    origin: Origin | None
    apart: tuple[tuple[tuple[Poly, ...], tuple[Poly, ...]], ...] = ()
    holds: tuple[Poly, ...] = ()  # not negative wherever it is done


def nodes(body: Body, origins: Iterator[Origin | None]) -> tuple[Node, ...]:
    """Statements with their origins, given in the order of a walk."""
    made = []
    for s in body:
        origin = next(origins)
        inner = bodies(s)
        if s[0] == "chunks" and not s[5] and not s[6]:
            s = (*s[:7], ())  # how large pieces are, nothing depends on
        inside = tuple(nodes(b, origins) for b in inner)
        if s[0] == "product":  # what follows it is done block by block, which is the routine's word, and means: afterwards
            made += [Node(with_bodies(s, ((), ())), (inside[0], ()), origin), *inside[1]]
        else:
            made.append(Node(with_bodies(s, tuple(() for _ in inner)), inside, origin))
    return tuple(made)


def whole(n: Node) -> Stmt:
    """The statement with all that is inside it."""
    return with_bodies(n.stmt, tuple(tuple(whole(x) for x in b) for b in n.bodies))


@dataclass(slots=True)
class Leaf:
    stmt: Stmt
    number: Any
    round: Mapping[str, Poly]
    conds: list[Cond]
    groups: list[Group]
    facts: list[Cond]
    known: list[Group]
    place: list[Place]
    syms: list[str]
    scope: dict[str, Leaf | None]  # names made in the region: by a leaf, or (None) an integer that the rewrite counts by
    apart: tuple[Any, ...] = ()
    pieces: tuple[Piece, ...] = ()  # ranges that are cut around it
    holds: tuple[Poly, ...] = ()
    lanes: tuple[tuple[str, str], ...] = ()  # variables that are elements of arrays here, by the names they go by


@dataclass(slots=True)
class Around:
    """What holds at a place, and how it is reached."""

    moving: frozenset[str]  # variables that are assigned: what is known of them may not be so later
    kinds: Kinds  # what names are
    conds: list[Cond] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    facts: list[Cond] = field(default_factory=list)
    known: list[Group] = field(default_factory=list)
    place: list[Place] = field(default_factory=list)
    syms: list[str] = field(default_factory=list)
    pieces: tuple[Piece, ...] = ()
    rooms: frozenset[str] = frozenset()  # arrays that the rewrite made for itself

    def inside(self, place: Place, conds: list[Cond] = [], groups: list[Group] = [], sym: str | None = None) -> Around:  # noqa: B006  never changed
        syms = self.syms if sym is None else [*self.syms, sym]
        return Around(self.moving, self.kinds, [*self.conds, *conds], [*self.groups, *groups], list(self.facts), list(self.known), [*self.place, place], syms, self.pieces, self.rooms)


def test_cond(t: Any, moving: frozenset[str]) -> Cond:
    """A test as a condition; one on variables that change is known only by its text."""
    kind, p, e = t
    if p is not None:
        return (kind, p) if moving.isdisjoint(names(p)) else ("op", (kind, p), True)
    if e[0] == "truth" and kind == "true" and len(e[1]) == 1:
        return test_cond(e[1][0], moving)
    return ("op", e, kind == "true")


def conditions(tests: Any, moving: frozenset[str]) -> list[Cond]:
    out: list[Cond] = []
    for t in tests:
        if t[2] is not None and t[2][0] == "truth" and t[0] == "true":
            out += conditions(t[2][1], moving)
        else:
            out.append(test_cond(t, moving))
    return out


def otherwise(conds: list[Cond]) -> Group:
    """The cases in which not all of these hold."""
    return [[*conds[:n], m] for n, c in enumerate(conds) for m in negations(c)]


def cases(e: Expr, moving: frozenset[str]) -> list[tuple[list[Cond], Poly]] | None:
    """An integer expression as polynomials by case."""
    match e:
        case ("index", p):
            return [([], p)] if moving.isdisjoint(names(p)) else None
        case ("const", text, "i64"):
            return [([], const(int(text)))] if text.lstrip("-").isdigit() else None
        case ("use", v):
            return [([], var(v))] if v not in moving else None
        case ("choose", tests, then, orelse):
            a, b = cases(then, moving), cases(orelse, moving)
            if a is None or b is None or len(a) * len(b) > 16:
                return None
            on = conditions(tests, moving)
            return [([*on, *c], p) for c, p in a] + [([*off, *c], p) for off in otherwise(on) for c, p in b]
        case ("call", ("min" | "max") as op, (x, y), "i64"):
            a, b = cases(x, moving), cases(y, moving)
            if a is None or b is None or len(a) * len(b) > 9:
                return None
            out = []
            for c, p in a:
                for d, q in b:
                    s = sub(q, p) if op == "min" else sub(p, q)
                    out += [([*c, *d, ("ge", s)], p), ([*c, *d, ("ge", sub(const(-1), s))], q)]
            return out
    return None


def definition(s: Stmt, moving: frozenset[str]) -> Group | None:
    """What a name of an integer says: of some cases one holds."""
    if s[0] != "let" or s[2] != "i64" or s[1] in moving:
        return None  # what is assigned later is something else then
    found = cases(s[3], moving)
    return None if found is None else [[*(x for x in c if x[0] != "op"), ("eq", sub(var(s[1]), p))] for c, p in found]  # data may change, the name stays


def leaves(body: tuple[Node, ...], at: Around, scope: dict[str, Leaf | None], new: bool) -> Iterator[Leaf]:
    here = id(body)
    for k, n in enumerate(body):
        s = n.stmt
        place: Place = (here, k, None, False)
        if new and (n.bodies or n.origin is None) and (over := _divisors(s)):
            yield _leaf(("divides", over), None, {}, at, place, scope)
        if s[0] == "if" or (new and n.origin is None and s[0] == "let"):
            number, round_ = n.origin if n.origin is not None else (None, {})
            yield _leaf(("asks", *parts(s)), number, round_, at, (here, k - 0.5, None, False), scope)  # before what is inside
        if n.holds and (s[0] in ("for", "accumulate", "chunks", "if") or (s[0] == "let" and n.origin is None)):
            raise No("an element that may not be there")
        match s[0]:
            case "for" | "accumulate":
                _, i, low, high = s[:4]
                if s[0] == "accumulate":
                    for acc in s[5]:
                        leaf = _leaf(("acc", *acc, s[6]), ("acc", acc[0]), {}, at, (here, k - 0.5, None, False), scope)
                        scope[acc[0]] = leaf
                        yield leaf
                if i in at.syms:
                    raise No("an index twice")
                apart: Any = s[0] == "for" and (s[5][0] or (new and s[5][1] > 0))  # several rounds at a time have no order either: believed of nobody
                if s[0] == "accumulate" and new and not s[6] and (not s[5] or any(acc[2][0] in "fc" for acc in s[5])):
                    fails = any(x[0] in ("check", "alloc", "print") for x in walk((whole(n),)))
                    apart = False if fails else SUMS  # printed in lanes, where nothing in it can fail
                inside = at.inside((here, k, i, apart), [("ge", sub(var(i), low)), ("ge", sub(sub(high, var(i)), const(1)))], sym=i)
                yield from leaves(n.bodies[0], inside, scope, new)
            case "chunks" if not s[5] and not s[6]:
                _, low, high, extent = s[:4]
                if low in at.syms:
                    raise No("an index twice")
                inside = at.inside((here, k, low, True), sym=low)
                inside.facts += [("ge", var(low)), ("ge", sub(extent, var(high))), ("ge", sub(sub(var(high), var(low)), const(1)))]
                inside.pieces = (*at.pieces, (low, high, extent))
                scope[high] = None
                yield from leaves(n.bodies[0], inside, scope, new)
            case "if":
                on = conditions(s[1], at.moving)
                yield from leaves(n.bodies[0], at.inside(place, on), scope, new)
                if n.bodies[1]:
                    yield from leaves(n.bodies[1], at.inside(place, groups=[otherwise(on)]), scope, new)
            case "peek" | "room" | "touch":
                yield _leaf(s, None, {}, at, place, scope)
            case "declare" if new and n.origin is None and s[3] is None:
                scope[f"%bare {s[1]}"] = _leaf(s, None, {}, at, place, scope)  # a name whose value branches give it
            case "let" if new and n.origin is None:
                means = definition(s, at.moving)
                if means is None:
                    raise No(f"a name without origin: {s[1]}")
                at.known.append(means)
                scope[s[1]] = None
            case "store" if new and n.origin is None and s[1] in at.rooms:
                leaf = _leaf(s, None, {}, at, place, scope)
                leaf.holds = n.holds
                leaf.apart = n.apart
                yield leaf
            case _:
                if new and n.origin is None:
                    raise No(f"a statement without origin: {s[0]}")
                number, round_ = n.origin if n.origin is not None else (None, {})
                leaf = _leaf(s if s[0] in LEAVES else whole(n), number, round_, at, place, scope)
                leaf.holds = n.holds if s[0] in LEAVES else (*n.holds, *_held(n))
                leaf.apart = n.apart if s[0] in LEAVES else (*n.apart, *(((), ()) for _ in _told_apart(n)))
                yield leaf
                if s[0] in ("let", "declare", "acc") or (s[0] == "assign" and f"%bare {s[1]}" in scope):
                    scope[s[1]] = leaf
                    means = definition(s, at.moving)
                    if means is not None:
                        at.known.append(means)
                elif s[0] == "check":
                    at.facts += [c for c in conditions(s[1], at.moving) if c[0] != "op"]


def _divisors(s: Stmt) -> tuple[Poly, ...]:
    """What a statement divides by in its index arithmetic, where it is not a number above 0."""
    return tuple(dict.fromkeys(d for e in parts(s) for p in subexprs(e) if is_poly(p) for d in divisors(p) if (value(d) or 0) < 1))


def _held(n: Node) -> Iterator[Poly]:
    """What must hold somewhere inside of a statement that is not looked into: nobody knows."""
    for b in n.bodies:
        for x in b:
            if x.holds:
                yield const(-1)
            yield from _held(x)


def _told_apart(n: Node) -> Iterator[Any]:
    """What has to differ somewhere inside of a statement that is not looked into."""
    for b in n.bodies:
        for x in b:
            yield from x.apart
            yield from _told_apart(x)


def _leaf(s: Stmt, number: Any, round_: Mapping[str, Poly], at: Around, place: Place, scope: dict[str, Leaf | None]) -> Leaf:
    return Leaf(s, number, round_, at.conds, at.groups, list(at.facts), list(at.known), [*at.place, place], at.syms, dict(scope), (), at.pieces)
