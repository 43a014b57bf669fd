"""`simplify`, followed side by side: at every node the new term is the old one with something dropped or written differently, for a reason that is in
the table of proofs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from atoll.check.sums import ZERO, Poly, Proofs, Tables, const, sub, value
from atoll.check.terms import Env, Term, accumulates, dtype, guard, kids, may_skip, shape, with_kids


class Follower:
    """Whether a term is another one, simplified; with what is proved of it, and the licences that this needs."""

    def __init__(self, tables: Tables, proofs: Proofs) -> None:
        self.t, self.proofs = tables, proofs
        self.licences: set[str] = set()

    def licence(self, name: str, env: Env, t: Term) -> None:
        if env.is_float(t):
            self.licences.add(name)

    def folded(self, env: Env, t: Term) -> None:
        """The value of t is folded instead of t."""
        if env.folding is not None:
            if accumulates(t, env.folding):
                self.licence("reassociate", env, t)
            if env.folding == "add" and may_skip(t):
                self.licence("signed-zero", env, t)

    def same(self, env: Env, a: Poly, b: Poly) -> bool:
        return self.proofs.equal(env.facts, a, b)

    def holds(self, env: Env, p: Poly) -> bool:
        return self.proofs.holds(env.facts, p)

    def fails(self, env: Env, p: Poly) -> bool:
        return self.proofs.holds(env.facts, sub(const(-1), p))

    def follow(self, o: Term, n: Term, env: Env) -> bool:
        """n is o, simplified."""
        match o[0]:
            case "guard":
                return self.follow_guard(o, n, env)
            case "choose":
                return self.follow_choose(o, n, env)
        if n[0] == "zero" and o[0] != "zero":
            return self.vanishes(o, env) and self.zeros_like(n, o, env)
        if o[0] == n[0] and self.follow_kids(o, n, env):
            return True
        match o[0]:
            case "op" if o[1] == "add":
                for k, other in ((0, 1), (1, 0)):
                    if self.vanishes(o[2][k], env.down(o, k)) and self.follow(o[2][other], n, env.down(o, other)):
                        self.licence("signed-zero", env, o)
                        self.folded(env, n)
                        return True
            case "op" if o[1] == "mul" or (o[1] == "mulacc" and env.folding != "add"):
                if any(is_one(o[2][k]) and self.follow(o[2][1 - k], n, env.down(o, 1 - k)) for k in (0, 1)):
                    self.folded(env, n)
                    return True
            case "op" if o[1] == "sub":
                if self.vanishes(o[2][1], env.down(o, 1)) and self.follow(o[2][0], n, env.down(o, 0)):
                    self.folded(env, n)
                    return True
            case "plus" if o[3] == "add":
                if self.vanishes(o[2], env.down(o, 1)) and self.follow(o[1], n, env.down(o, 0)):
                    if env.folding != "add":
                        self.folded(env, n)
                    return True
                if self.vanishes(o[1], env.down(o, 0)) and self.follow(o[2], n, env.down(o, 1)):
                    if env.folding != "add":
                        self.licence("signed-zero", env, o)
                        self.folded(env, n)
                    return True
            case "cat":
                for k, other in ((2, 3), (3, 2)):
                    if self.empty(o[k], o[1], env) and self.follow(o[other], n, env):
                        return True
        return False

    def empty(self, t: Term, axis: int, env: Env) -> bool:
        """t has no elements along the axis, also where no loop around runs."""
        return self.proofs.equal(env.closed, shape(t, env.shapes)[axis], ZERO)

    def same_shape(self, a: Term, b: Term, env: Env) -> bool:
        """For all sizes, also those for which no loop around runs."""
        extents, others = shape(a, env.shapes), shape(b, env.shapes)
        return len(extents) == len(others) and all(self.proofs.equal(env.closed, p, q) for p, q in zip(extents, others, strict=True))

    def zeros_like(self, zero: Term, t: Term, env: Env) -> bool:
        """Zeros of t's shape and type."""
        extents = shape(t, env.shapes)
        return len(zero[1]) == len(extents) and zero[2] == dtype(t, env.types) and all(self.same(env, a, b) for a, b in zip(extents, zero[1], strict=True))

    def follow_kids(self, o: Term, n: Term, env: Env) -> bool:
        """The same node, its polynomials equal, its parts simplified."""
        if len(kids(o)) != len(kids(n)) or not self.same_node(o, n, env):
            return False
        for k, (a, b) in enumerate(zip(kids(o), kids(n), strict=True)):
            here = with_kids(o, (kids(n)[0], kids(o)[1])) if o[0] == "let" and k == 1 else o
            counts = o[0] == "view" or (o[0] in ("cat", "let") and k == 0)  # places of elements, by the shape of the part
            if counts and a is not b and not self.same_shape(a, b, env):
                return False
            if not self.follow(a, b, env.down(with_bounds(here, n), k)):
                return False
        return True

    def same_node(self, o: Term, n: Term, env: Env) -> bool:
        match o[0]:
            case "gen" | "sum":
                here = replace(env, facts=env.closed) if o[0] == "gen" else env  # shapes rest on what holds without the loops
                return bool(o[1] == n[1] and o[5:] == n[5:] and self.same(here, o[2], n[2]) and self.same(here, o[3], n[3]))
            case "let":
                rolled = o[4] == n[4] or (o[4] and n[4] and o[4][1] == n[4][1] and self.same(env, o[4][0], n[4][0]))
                return bool(o[1] == n[1] and rolled)
            case "get":
                return bool(o[1] == n[1] and len(o[2]) == len(n[2]) and all(self.same(env, a, b) for a, b in zip(o[2], n[2], strict=True)))
            case "view":
                return bool(o[1:3] == n[1:3] and (o[3] is None or self.same(env, o[3], n[3])))
            case "index":
                return self.same(env, o[1], n[1])
            case "nest":
                return bool(o[:5] == n[:5] and o[6:8] == n[6:8] and len(o[8]) == len(n[8]) and all(self.same(env, a, b) for a, b in zip(o[8], n[8], strict=True)))
            case "zero" | "lit":
                return o == n
            case "op":
                return bool(o[1] == n[1] and o[3] == n[3])
            case "look":
                return bool(o[1] == n[1])
            case "cat" | "cast":
                return bool(o[1] == n[1] if o[0] == "cat" else o[2] == n[2])
            case "plus":
                return bool(o[3] == n[3])
        return bool(o[0] == "many")

    def follow_guard(self, o: Term, n: Term, env: Env) -> bool:
        left = list(n[1]) if n[0] == "guard" else []
        inside = env
        for c in o[1]:
            kept = next((d for d in left if self.same(inside, c, d)), None)
            if kept is not None:
                left.remove(kept)
                inside = inside.know(kept)
            elif self.holds(inside, c):
                continue
            elif n[0] == "zero" and self.fails(inside, c):
                return self.zeros_like(n, o, env)
            elif n[0] == "zero":
                inside = inside.know(c)
            else:
                return False
        return self.follow(o[2], guard(tuple(left), n[2]) if n[0] == "guard" else n, inside)

    def follow_choose(self, o: Term, n: Term, env: Env) -> bool:
        kept, inside = [], env
        left = list(n[3]) if n[0] == "choose" else []
        for kind, p, x in o[3]:
            if left and left[0][0] == kind and self.same_test((kind, p, x), left[0], inside, env):
                kept.append(left.pop(0))
                inside = inside.know(*test_known(kept[-1]))
            elif p is not None and self.decided(kind, p, inside) is True:
                continue
            elif p is not None and self.decided(kind, p, inside) is False:
                return self.follow(o[2], n, env)
            else:
                return False
        if not kept:
            return self.follow(o[1], n, env)
        here = ("choose", o[1], o[2], tuple(kept))
        return not left and self.follow(o[1], n[1], env.down(here, 0)) and self.follow(o[2], n[2], env.down(here, 1))

    def same_test(self, a: Any, b: Any, inside: Env, env: Env) -> bool:
        if a[1] is not None:
            return b[1] is not None and self.same(inside, a[1], b[1])
        return b[2] is not None and self.follow(a[2], b[2], env.down(("op", "", (), ""), 0))

    def decided(self, kind: str, p: Poly, env: Env) -> bool | None:
        if kind == "ge":
            return True if self.holds(env, p) else False if self.fails(env, p) else None
        n = value(p)
        return None if n is None else (n == 0) == (kind == "eq")

    def vanishes(self, t: Term, env: Env) -> bool:
        """t simplifies to zeros."""
        match t[0]:
            case "zero":
                return True
            case "guard":
                inside = env
                for c in t[1]:
                    if self.fails(inside, c):
                        return True
                    inside = inside.know(c)
                return self.vanishes(t[2], inside)
            case "gen":
                return self.vanishes(t[4], env.down(t, 0))
            case "sum":
                return bool(t[5] == "add" and (self.holds(env, sub(t[2], t[3])) or self.vanishes(t[4], env.down(t, 0))))
            case "cat":
                return all(self.empty(k, t[1], env) or self.vanishes(k, env.down(t, j)) for j, k in enumerate(kids(t)))
            case "plus":
                return bool(t[3] == "add" and all(self.vanishes(k, env.down(t, j)) for j, k in enumerate(kids(t))))
            case "op":
                if t[1] in ("add", "sub") and all(self.vanishes(k, env.down(t, j)) for j, k in enumerate(t[2])):  # 0 + 0 and 0 - 0 are 0
                    if env.folding == "add":
                        self.licence("signed-zero", env, t)  # and are added, where zeros are not
                    return True
        return False


def is_one(t: Term) -> bool:
    return bool(t[0] == "lit" and t[1] in ("1", repr({"f": (1.0).hex()})))


def with_bounds(o: Term, n: Term) -> Term:
    """The loop with its simplified bounds: that is what the simplified body was looked at under."""
    return (*o[:2], n[2], n[3], *o[4:]) if o[0] in ("gen", "sum") else o


def test_known(test: Any) -> tuple[Poly, ...]:
    kind, p, _ = test
    return () if p is None or kind not in ("ge", "eq") else (p,) if kind == "ge" else (p, sub(ZERO, p))
