"""Rounds that each end when they like, some of them side by side in lanes, put back as rounds one by one: undone before instances are compared.

    for b in 0..(high - low) // c:  LANES;   for j in low + c ((high - low) // c)..high:  ROUND        is        for j in low..high:  ROUND

    ROUND   x = f(j), ...;  forever: names, break unless p(x), ..., x := g(x, j), ...;  names, y[at(j)] = ... x ...
    LANES   alloc x', going: [c];  for lane:  x'[lane] = f(low + c b + lane), going[lane] = 1
            forever:  s = sum of going;  break unless s >= 1;  some times:  for lane:  go = going[lane] and p(x'[lane]);  x'[lane] = g(x'[lane], ...) if go else x'[lane];  going[lane] = go
            for lane:  y[at(low + c b + lane)] = ... x'[lane] ...;  free all

A round that has ended stays as it is: its step is computed for nothing, and not kept. So every operation in a step must have a value whatever its operands are, and what a step reads must be there: asked
of indices, from the ranges of the loops around. Rounds are said to be independent by the loop that is left, which is asked of it like of any other; nothing in a round reads what a round stores.
The text is made here, for the numbers that are there, and compared up to names.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atoll.check.rewrites.best_back import ORDER, call, canonical
from atoll.check.rewrites.language import Body, Expr, Stmt, changed, is_poly, loads, names, parts, read, subexprs, walk
from atoll.check.rewrites.leaves import Node, conditions, whole
from atoll.check.rewrites.private_back import put, unflagged
from atoll.check.rewrites.refute import Cond, cannot
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.texts import may_trap
from atoll.check.sums import Poly, add, const, div, mul, sub, value, var

STRAIGHT = ("let", "declare", "assign")
MANY = 1 << 12  # lanes, and steps between two looks


def searches_back(body: tuple[Node, ...], kinds: Kinds, facts: Sequence[Cond]) -> tuple[Node, ...]:
    """`facts` are known of sizes."""
    return _list(body, kinds, list(facts), frozenset(changed(tuple(map(whole, body)))[0]))


def _list(body: tuple[Node, ...], kinds: Kinds, known: list[Cond], moving: frozenset[str]) -> tuple[Node, ...]:
    out: list[Node] = []
    for n in body:
        n = replace(n, bodies=tuple(_list(b, kinds, [*known, *_inside(n, k, moving)], moving) for k, b in enumerate(n.bodies)))
        made = _rounds(out[-1], n, kinds, known, moving) if out and out[-1].stmt[0] == n.stmt[0] == "for" else None
        if made is None:
            out.append(n)
        else:
            out[-1] = made
    return tuple(out)


def _inside(n: Node, branch: int, moving: frozenset[str]) -> list[Cond]:
    """What is known inside of a statement besides."""
    s = n.stmt
    found: list[Cond] = []
    if s[0] in ("for", "accumulate"):
        found = [("ge", sub(var(s[1]), s[2])), ("ge", sub(sub(s[3], var(s[1])), const(1)))]
    elif s[0] == "chunks":
        found = [("ge", var(s[1])), ("ge", sub(s[3], var(s[2]))), ("ge", sub(sub(var(s[2]), var(s[1])), const(1)))]
    elif s[0] == "if" and branch == 0:
        found = [c for c in conditions(s[1], moving) if c[0] != "op"]
    return [c for c in found if moving.isdisjoint(names(c[1]))]


@dataclass(frozen=True)
class Round:
    """What a round does before its steps, in each of them, and after the last; the variables that lanes keep, and those that a step changes."""

    j: str
    before: Body
    step: Body
    after: Body
    kept: tuple[Stmt, ...]
    changed: frozenset[str]


def _rounds(lanes: Node, rest: Node, kinds: Kinds, known: list[Cond], moving: frozenset[str]) -> Node | None:
    if lanes.stmt[2] != () or not lanes.bodies[0] or lanes.bodies[0][0].stmt[0] != "alloc" or not rest.stmt[5][0] or any(rest.stmt[5][1:]) or any(lanes.stmt[5][1:]):
        return None
    rooms = [whole(n) for n in lanes.bodies[0] if n.stmt[0] == "alloc"]
    width = value(rooms[0][3][0]) if len(rooms[0][3]) == 1 else None
    if width is None or not 1 < width <= MANY or any(r[3] != (const(width),) or r[4][1] is not None for r in rooms):
        return None
    q, (first, high) = lanes.stmt[3], rest.stmt[2:4]
    low = sub(first, mul(const(width), q))
    if q != div(sub(high, low), const(width)) or lanes.stmt[1] in names(low) | names(high):
        return None
    if not moving.isdisjoint(names(low) | names(high)) or not cannot([*known, ("ge", sub(sub(low, high), const(1)))]):
        return None  # of less than no rounds some would be left
    found = _parts(rest.stmt[1], tuple(map(whole, rest.bodies[0])))
    if found is None or len(rooms) != len(found.kept) + 1:
        return None
    ranges: list[Cond] = [*known, ("ge", sub(var(found.j), low)), ("ge", sub(sub(high, var(found.j)), const(1)))]
    if not _total(found, kinds, ranges, moving):
        return None
    there = tuple(map(whole, lanes.bodies[0]))
    steps = [value(s[3]) for s in walk(there) if s[0] == "for" and s[4] and s[4][0][0] == "for" and s[2] == ()]
    if len(steps) != 1 or steps[0] is None or not 0 < steps[0] <= MANY:
        return None
    made = _Lanes(found, rooms, width, steps[0], add(low, mul(const(width), var(lanes.stmt[1])))).text()
    if canonical(unflagged(there)) != canonical(unflagged(made)) or not all(_flags(a, b) for a, b in zip(_loops(there), _loops(made), strict=True)):
        return None
    return replace(rest, stmt=("for", found.j, low, high, (), rest.stmt[5]))


def _loops(body: Body) -> list[Stmt]:
    return [s for s in walk(body) if s[0] == "for"]


def _flags(there: Stmt, made: Stmt) -> bool:
    """Lanes are independent of each other; steps come in their order."""
    return there[5] == ORDER if made[5] == ORDER else not any(there[5][2:])


def _parts(j: str, body: Body) -> Round | None:
    where = [k for k, s in enumerate(body) if s[0] == "forever"]
    if len(where) != 1:
        return None
    before, step, after = body[: where[0]], body[where[0]][1], body[where[0] + 1 :]
    if any(s[0] not in STRAIGHT for s in before) or any(s[0] not in (*STRAIGHT, "break") for s in step) or any(s[0] not in (*STRAIGHT, "store") for s in after) or not any(s[0] == "break" for s in step):
        return None
    declared = [s[1] for s in (*before, *step, *after) if s[0] in ("let", "declare")]
    assigned = {s[1] for s in (*before, *step, *after) if s[0] == "assign"}
    inside = {s[1] for s in step if s[0] == "assign"}
    if len(set(declared)) != len(declared) or not assigned <= set(declared) or {s[1] for s in after if s[0] == "store"} & read(body)[1]:
        return None
    local = {s[1] for s in step if s[0] in ("let", "declare")}
    used = read(step)[0] | read(after)[0] | inside
    kept = tuple(s for s in before if s[0] in ("let", "declare") and s[1] in used)
    if not kept or local & read(after)[0] or {s[1] for s in after if s[0] == "assign"} - {s[1] for s in after if s[0] in ("let", "declare")}:
        return None
    return Round(j, before, step, after, kept, frozenset(inside & {s[1] for s in kept}))


def _total(r: Round, kinds: Kinds, known: list[Cond], moving: frozenset[str]) -> bool:
    """A step may be made of any values: nothing in it fails, and what it reads is there."""
    own = {s[1] for s in (*r.before, *r.step) if s[0] in ("let", "declare")}
    for s in r.step:
        for e in parts(s):
            for x in subexprs(e):
                if may_trap(x) or (not is_poly(x) and x[0] == "cast" and x[2][0] in "iu" and _type(x[1], kinds)[0] not in "iub"):
                    return False
            for x in loads(e):
                long = kinds.extents.get(x[1])
                if long is None or len(long) != len(x[2]) or set().union(*map(names, x[2])) & (own | moving) or kinds[x[1]][2] is not None:
                    return False
                if not all(cannot([*known, ("ge", sub(const(-1), p))]) and cannot([*known, ("ge", sub(p, n))]) for p, n in zip(x[2], long, strict=True)):
                    return False
    return True


def _type(e: Expr, kinds: Kinds) -> str:
    """The type of an expression; "?" where that takes a look inside of a choice."""
    match e[0]:
        case "use" | "load":
            return kinds[e[1]][1]
        case "index":
            return "i64"
        case "const" | "cast":
            return str(e[2])
        case "call":
            return str(e[3])
        case "truth":
            return "bool"
    return "?"


class _Lanes:
    def __init__(self, r: Round, rooms: list[Stmt], width: int, steps: int, first: Poly) -> None:
        self.r, self.rooms, self.width, self.steps, self.first = r, rooms, width, steps, first
        self.across = {s[1]: room[1] for s, room in zip(r.kept, rooms, strict=False)}
        self.going = rooms[-1][1]
        self.count = 0

    def text(self) -> Body:
        look = ("accumulate", "%l", (), const(self.width), (("add", "%left", "add", ("load", self.going, (var("%l"),))),), (("%left", "add", "i64"),), False)
        again = ("for", "%again", (), const(self.steps), (self.each(self.again),), ORDER)
        rooms = tuple(("alloc", room[1], d, (const(self.width),), room[4]) for room, d in zip(self.rooms, [*(s[2] for s in self.r.kept), "i64"], strict=True))
        until = ("forever", (look, ("break", (("ge", sub(var("%left"), const(1)), None),)), again))
        return (*rooms, self.each(self.begin), until, self.each(self.last), *(("free", room[1]) for room in self.rooms))

    def each(self, part: Any) -> Stmt:
        self.count += 1
        lane = f"%lane{self.count}"
        env = {self.r.j: add(self.first, var(lane))}
        return ("for", lane, (), const(self.width), tuple(part(env, var(lane))), (True, 0, False, False))

    def named(self, v: str, env: dict[str, Poly]) -> str:
        self.count += 1
        env[v] = var(f"{v}%{self.count}")
        return f"{v}%{self.count}"

    def straight(self, s: Stmt, env: dict[str, Poly]) -> Stmt:
        if s[0] == "assign":
            return ("assign", env[s[1]][0][0][0], put(s[2], env))
        e = None if s[3] is None else put(s[3], env)
        return (s[0], self.named(s[1], env), s[2], e)

    def use(self, v: str, env: dict[str, Poly]) -> Expr:
        return ("use", env[v][0][0][0])

    def begin(self, env: dict[str, Poly], lane: Poly) -> list[Stmt]:
        made = [self.straight(s, env) for s in self.r.before]
        made += [("store", b, (lane,), self.use(v, env)) for v, b in self.across.items()]
        return [*made, ("store", self.going, (lane,), ("const", "1", "i64"))]

    def loaded(self, env: dict[str, Poly], lane: Poly, wanted: Collection[str]) -> list[Stmt]:
        return [("let", self.named(s[1], env), s[2], ("load", self.across[s[1]], (lane,))) for s in self.r.kept if s[1] in wanted]

    def again(self, env: dict[str, Poly], lane: Poly) -> list[Stmt]:
        self.count += 1
        going = f"%going{self.count}"
        out: list[Stmt] = [("let", going, "i64", ("load", self.going, (lane,))), *self.loaded(env, lane, self.across)]
        go: Expr = ("truth", (("ge", sub(var(going), const(1)), None),))
        for s in self.r.step:
            if s[0] == "break":
                self.count += 1
                here = f"%go{self.count}"
                out.append(("let", here, "bool", call("and", go, ("truth", put(("truth", s[1]), env)[1]), d="bool")))
                go = ("use", here)
            elif s[0] == "assign" and s[1] in self.r.changed:
                chosen = ("choose", (("true", None, go),), put(s[2], env), self.use(s[1], env))
                d = next(x[2] for x in self.r.kept if x[1] == s[1])
                out.append(("let", self.named(s[1], env), d, chosen))
            else:
                out.append(self.straight(s, env))
        out += [("store", b, (lane,), self.use(v, env)) for v, b in self.across.items() if v in self.r.changed]
        return [*out, ("store", self.going, (lane,), ("choose", (("true", None, go),), ("const", "1", "i64"), ("const", "0", "i64")))]

    def last(self, env: dict[str, Poly], lane: Poly) -> list[Stmt]:
        out = self.loaded(env, lane, read(self.r.after)[0])
        for s in self.r.after:
            out.append(("store", s[1], tuple(put(p, env) for p in s[2]), put(s[3], env)) if s[0] == "store" else self.straight(s, env))
        return out
