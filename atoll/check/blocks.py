"""The checker's own rules of sums of exponentials by blocks: an exponential as a product of two, a factor out of a sum, several values in one loop.

What `rescale` claims is an equation of real numbers. Looked at here are the ranges that keep its exponents at 0 or below, and that the maximum is of what it is subtracted from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from atoll.check.follow import Follower
from atoll.check.sums import ONE, ZERO, Poly, Rejected, add, need, sub, var
from atoll.check.terms import Env, Term, alike, below, dtype, element, fresh, kids, mentions, refresh, set_vars, walk, with_kids

LEAST = {"f32": -float.fromhex("0x1.fffffep+127"), "f64": -float.fromhex("0x1.fffffffffffffp+1023")}


def highest(t: Term) -> Term | None:
    """The maximum over a range that a number is, or is the maximum of and others."""
    if t[0] == "sum":
        return t if t[5] == "maximum" else None
    return next((found for k in t[2] if (found := highest(k))), None) if t[0] == "op" and t[1] == "max" else None


def rescaling(t: Term) -> bool:
    """What rescale makes of a block: exp(max(least, ...) - max(least, ...)); of rows that are no numbers its licence says nothing."""
    pair = t[2][0][2] if t[0] == "op" and t[1] == "exp" and t[3] in LEAST and t[2][0][:2] == ("op", "sub") else ()
    return bool(pair) and all(x[:2] == ("op", "max") and x[2][0] == ("lit", repr({"f": LEAST[t[3]].hex()}), t[3]) for x in pair)


class Blocks(Follower):
    """A method per rule, as in rules.py."""

    def ge(self, env: Env, goal: Poly, what: str = "a side condition") -> None:
        need(self.proofs.holds(env.facts, goal), what, "is not proved")

    def eq(self, env: Env, a: Poly, b: Poly) -> None:
        need(self.proofs.equal(env.facts, a, b), "an equation is not proved")

    def rule_rescale(self, env: Env, t: Term, new: Term, at: Poly, **block: Poly) -> Term:
        need(set(block) == {"low", "high"}, "no block")
        low, high = block["low"], block["high"]
        need(t[0] == "op" and t[1] == "exp" and t[3] in LEAST and t[2][0][0] == "op" and t[2][0][1] == "sub", "no exponential of a difference")
        d, (a, b) = t[3], t[2][0][2]
        need(b[0] == "get" and b[1] in env.defs, "what is subtracted has no name")
        whole = highest(element(refresh(env.defs[b[1]]), b[2], env.shapes))
        if whole is None:
            raise Rejected("what is subtracted is no maximum over a range")
        _, j, first, last, s, _ = whole
        for goal in (sub(low, first), sub(last, high), sub(at, low), below(at, high)):
            self.ge(env, goal, "the block, or the place in it,")
        need(alike(set_vars(s, {j: at}), a, {}), "a maximum of something else")
        self.licences.add("rescale")

        def finite(x: Term) -> Term:
            return ("op", "max", (("lit", repr({"f": LEAST[d].hex()}), d), x), d)

        def difference(x: Term, y: Term) -> Term:
            return ("op", "exp", (("op", "sub", (x, y), d),), d)

        own, again = (finite(refresh(("sum", j, low, high, s, "maximum"))) for _ in range(2))
        return ("op", "mul", (difference(a, own), difference(again, finite(b))), d)

    def rule_factor(self, env: Env, t: Term, new: Term, part: Any) -> Term:
        need(t[0] == "sum" and t[5] == "add" and env.is_float(t) and isinstance(part, tuple) and part, "no factor of what a sum adds")

        def taken(u: Term, path: Any) -> tuple[Term, Term, str]:
            """(what is left of a product, the factor or divisor at the path, and by which operation it stands there)."""
            need(u[0] == "op" and u[1] in ("mul", "div") and len(u[2]) == 2 and type(path[0]) is int and path[0] in (0, 1), "no product")
            k = path[0]
            if len(path) == 1:
                need(u[1] == "mul" or k == 1, "not a factor")
                return u[2][1 - k], u[2][k], u[1]
            need(u[1] == "mul" or k == 0, "not a factor")
            left, found, by = taken(u[2][k], path[1:])
            return ("op", u[1], (left, u[2][1]) if k == 0 else (u[2][0], left), u[3]), found, by

        rest, c, by = taken(t[4], part)
        d = dtype(t, env.types)
        need(t[1] not in mentions(c) and all(u[0] not in ("gen", "let", "nest") for u in walk(c)) and dtype(c, env.types) == d, "a factor that changes")
        if by == "div":
            self.ge(env, below(t[2], t[3]), "that something is added")
        elif not self.proofs.holds(env.facts, below(t[2], t[3])):
            self.licences.add("rescale" if rescaling(c) else "finite")  # nothing times infinity is no 0
        self.licences.add("reassociate")
        return ("op", by, (("sum", t[1], t[2], t[3], rest, "add"), c), d)

    def rule_let_join(self, env: Env, t: Term, new: Term, count: int, name: str) -> Term:
        need(type(count) is int and 2 <= count <= 50, "no number of values")
        lets: list[Term] = []
        here, rest = env, t
        for _ in range(count):
            need(rest[0] == "let" and rest[2][0] == "gen" and rest[4] is None, "not values built by loops, one after the other")
            lets.append(rest)
            here, rest = here.down(rest, 1), rest[3]
        _, i, low, high, _ = lets[0][2]
        closed = replace(env, facts=env.closed)
        own = {x[1]: here.shapes[x[1]][1:] for x in lets}
        place, total = {}, ZERO
        for _, x, bound_, _, _ in lets:
            self.eq(closed, bound_[2], low)
            self.eq(closed, bound_[3], high)
            need(len(own[x]) <= 1 and here.types[x] == here.types[lets[0][1]] and all(u[0] != "nest" for u in walk(bound_)), "neither numbers nor rows")
            place[x], total = total, add(total, own[x][0] if own[x] else ONE)
        z = fresh()

        def inner(u: Term) -> Term:
            need(u[0] != "look" or u[1] not in own, "looked up by data")
            if u[0] == "get" and u[1] in own:
                need(u[2][0] == sub(var(i), low), "read at another round")
                return ("get", u[1], u[2][1:])
            return with_kids(u, tuple(map(inner, kids(u))))

        def outer(u: Term, at: Env) -> Term:
            need((u[0] != "look" or u[1] not in own) and (u[0] != "nest" or not set(u[4]) & set(own)), "looked up by data, or read as a whole")
            if u[0] == "get" and u[1] in own:
                for p, n in zip(u[2][1:], own[u[1]], strict=True):
                    self.ge(at, p)
                    self.ge(at, below(p, n))
                return ("get", z, (u[2][0], add(place[u[1]], u[2][1] if own[u[1]] else ZERO)))
            return with_kids(u, tuple(outer(k, at.down(u, n)) for n, k in enumerate(kids(u))))

        rows = []
        for x in own:
            k = fresh()
            rows.append(("gen", k, ZERO, own[x][0] if own[x] else ONE, ("get", x, (var(k),) if own[x] else ())))
        made: Term = rows.pop()
        while rows:
            made = ("cat", 0, rows.pop(), made)
        for _, x, bound_, _, _ in reversed(lets):
            made = ("let", x, inner(set_vars(bound_[4], {bound_[1]: var(i)})), made, None)
        return ("let", z, ("gen", i, low, high, made), outer(rest, here), None)
