"""`simplify`, the rule that changes nothing but how things are written: a walk over the term under its hypotheses.

Indices and bounds are replaced by equal, simpler ones; conditions that follow are dropped; a condition that cannot hold makes the term zero;
zeros disappear from sums, concatenations with nothing vanish, and a choice whose test is decided is made. Each replacement is recorded
with its proof, so that a checker can follow the old and the new term side by side without searching. What disappears is all that the new term
does not show: that it is nothing is asked of the old term, with its bounds and conditions as they were written, for that is what a checker has.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.schedule import term as tm
from atoll.schedule.context import Context
from atoll.schedule.kernel import Services, rule
from atoll.sizes import Poly, poly


def _float(t: tm.Term) -> bool:
    d = tm.dtype(t)
    return d.is_float or d.is_complex


class _Simplifier:
    def __init__(self, services: Services) -> None:
        self.services = services

    def poly(self, context: Context, p: Poly) -> Poly:
        new = context.facts.simplify(p)
        if new == p:
            return p
        before = len(self.services.obligations)
        if self.equal(context, new, p):
            return new
        del self.services.obligations[before:]
        return p

    def term(self, context: Context, t: tm.Term) -> tm.Term:
        match t:
            case tm.Guard():
                return self.guard(context, t)
            case tm.Choose():
                return self.choose(context, t)
            case tm.Op():
                return self.operation(context, t)
            case tm.Zero():
                return t
        old, polys = t, tm.own_polys(t)
        if isinstance(t, tm.Nest):
            t = replace(t, at=tuple(self.poly(context, p) for p in t.at))
        elif polys:
            here = replace(context, facts=context.closed) if isinstance(t, (tm.Gen, tm.Reshape)) else context  # shapes rest on these
            new = tuple(self.poly(here, p) for p in polys)
            if any(a is not b for a, b in zip(polys, new, strict=True)):
                t = tm.with_polys(t, new)
        if isinstance(old, tm.Sum) and old.monoid == "add" and self.services.known(context, old.low - old.high, "empty sum"):
            return self.zeros(context, old)
        return self.collapse(context, old, self.kids(context, t))

    def kids(self, context: Context, t: tm.Term) -> tm.Term:
        old = tm.kids(t)
        new: list[tm.Term] = []
        for k, inner in enumerate(old):
            if k == 1 and isinstance(t, tm.Let) and new[0] is not old[0]:
                t = tm.Let(t.name, new[0], t.body, t.rolled)  # the body sees the simplified definition
            made = self.term(context.down(t, k), inner)
            new.append(made if self.fits(context, t, k, inner, made) else inner)
        return t if all(a is b for a, b in zip(tm.kids(t), new, strict=True)) else tm.with_kids(t, tuple(new))

    def fits(self, context: Context, t: tm.Term, k: int, old: tm.Term, new: tm.Term) -> bool:
        """Where the places of elements are counted by the shape of a part, the shape it has now is shown to be the one it had."""
        if new is old or not (isinstance(t, tm.Reshape) or (isinstance(t, (tm.Cat, tm.Let)) and k == 0)):
            return True
        closed = replace(context, facts=context.closed)
        return all(self.equal(closed, a, b) for a, b in zip(tm.shape(old, context.shapes), tm.shape(new, context.shapes), strict=True))

    def equal(self, context: Context, a: Poly, b: Poly) -> bool:
        return a == b or (self.services.known(context, a - b, "equal") and self.services.known(context, b - a, "equal"))

    def collapse(self, context: Context, old: tm.Term, t: tm.Term) -> tm.Term:
        """Zeros move up; a concatenation with nothing is the other half. `t` is `old` with its parts simplified."""
        match old, t:
            case (tm.Gen(), tm.Gen(body=tm.Zero())) | (tm.Sum(), tm.Sum(body=tm.Zero(), monoid="add")) if self.vanishes(context, old):
                return self.zeros(context, old)
            case tm.Plus(monoid="add"), tm.Plus():
                return self.addition(context, old, t)
            case tm.Cat(), tm.Cat():
                nothing = [self.empty(context, k, old.axis) for k in (old.right, old.left)]
                rest = [k for k, gone in zip((t.right, t.left), nothing, strict=True) if not gone] or [t.left]
                if all(isinstance(k, tm.Zero) for k in rest):
                    return self.zeros(context, old) if self.vanishes(context, old) else t
                return rest[0] if len(rest) == 1 else t
        return t

    def addition(self, context: Context, old: tm.Plus, t: tm.Plus) -> tm.Term:
        if isinstance(t.left, tm.Zero) and isinstance(t.right, tm.Zero):
            return self.zeros(context, old) if self.vanishes(context, old) else t
        for k, rest in ((1, t.left), (0, t.right)):
            if self.gone(context, old, t, k) and (context.folding == "add" or self.stands_for(context, rest)):
                if k == 0 and context.folding != "add":
                    self.services.licence("signed-zero", _float(t))
                return rest
        return t

    def gone(self, context: Context, old: tm.Term, t: tm.Term, k: int) -> bool:
        """Part k became zeros, and the old one is seen to be."""
        return isinstance(tm.kids(t)[k], tm.Zero) and self.vanishes(context.down(old, k), tm.kids(old)[k])

    def zeros(self, context: Context, old: tm.Term) -> tm.Zero:
        closed = replace(context, facts=context.closed)
        return tm.Zero(tuple(self.poly(closed, n) for n in tm.shape(old, context.shapes)), tm.dtype(old))

    def empty(self, context: Context, t: tm.Term, axis: int) -> bool:
        closed, extent = replace(context, facts=context.closed), tm.shape(t, context.shapes)[axis]
        return self.services.known(closed, -extent, "nothing along the axis") and self.services.known(closed, extent, "nothing along the axis")

    def vanishes(self, context: Context, t: tm.Term) -> bool:
        """t is zeros, seen from t itself: the reasons in its simplified parts rest on bounds and conditions that are not in it."""
        match t:
            case tm.Zero():
                return True
            case tm.Guard():
                inside = context
                for c in t.conds:
                    if self.services.known(inside, c, "the condition always holds"):
                        continue
                    if self.services.known(inside, -c - 1, "the condition never holds"):
                        return True
                    inside = inside.know(c)
                return self.vanishes(inside, t.body)
            case tm.Sum(monoid="add") if self.services.known(context, t.low - t.high, "empty sum"):
                return True
            case tm.Gen() | tm.Sum(monoid="add") | tm.Plus(monoid="add") | tm.Op(name="add" | "sub"):
                return all(self.vanishes(context.down(t, k), part) for k, part in enumerate(tm.kids(t)))
            case tm.Cat():
                return all(self.empty(context, part, t.axis) or self.vanishes(context.down(t, k), part) for k, part in enumerate(tm.kids(t)))
        return False

    def guard(self, context: Context, t: tm.Guard) -> tm.Term:
        kept: list[Poly] = []
        inside = context
        for c in t.conds:
            if self.services.known(inside, c, "the condition always holds"):
                continue
            if self.services.known(inside, -c - 1, "the condition never holds") and (not kept or self.vanishes(context, t)):
                return self.zeros(context, t)
            c = self.poly(inside, c)
            kept.append(c)
            inside = inside.know(c)
        body = self.term(inside, t.body)
        return body if isinstance(body, tm.Zero) and (not kept or self.vanishes(context, t)) else tm.guard(tuple(kept), body)

    def choose(self, context: Context, t: tm.Choose) -> tm.Term:
        kept: list[tm.Test] = []
        inside = context
        for test in t.tests:
            if test.poly is None:
                assert test.term is not None
                term = self.term(replace(context, folding=None), test.term)
                kept.append(tm.Test(test.kind, None, term))
                continue
            verdict = self.verdict(inside, test)
            if verdict is True:
                continue
            if verdict is False:
                return self.term(context, t.orelse)
            new = tm.Test(test.kind, self.poly(inside, test.poly))
            kept.append(new)
            inside = tm_facts(inside, new)
        if not kept:
            return self.term(context, t.then)
        new_t = tm.Choose(tuple(kept), t.then, t.orelse)
        then = self.term(context.down(new_t, 0), t.then)
        orelse = self.term(context.down(new_t, 1), t.orelse)
        return tm.Choose(tuple(kept), then, orelse)

    def verdict(self, context: Context, test: tm.Test) -> bool | None:
        assert test.poly is not None
        p = test.poly
        if test.kind == "ge":
            if self.services.known(context, p, "the test holds"):
                return True
            return False if self.services.known(context, -p - 1, "the test fails") else None
        const = p.const()
        if const is not None:
            return (const == 0) == (test.kind == "eq")
        return None

    def stands_for(self, context: Context, part: tm.Term) -> bool:
        """The part may be folded into the place where its value was: not where it would be added bit by bit to a float."""
        if context.folding is None or not _float(part):
            return True
        if tm.accumulates(part, context.folding) or (context.folding != "add" and tm.may_skip(part)):
            return False
        self.services.licence("signed-zero", tm.may_skip(part))
        return True

    def operation(self, context: Context, old: tm.Op) -> tm.Term:
        args = tuple(self.term(context.down(old, k), a) for k, a in enumerate(old.args))
        t = tm.Op(old.name, args, old.dtype) if any(a is not b for a, b in zip(args, old.args, strict=True)) else old
        if t.name == "add":
            for k, other in ((0, 1), (1, 0)):
                if self.gone(context, old, t, k) and self.may_be(context, old, args[other]):
                    self.services.licence("signed-zero", _float(t))
                    return args[other]
        if t.name in ("mul", "mulacc") and not t.dtype.is_complex and not (t.name == "mulacc" and context.folding == "add"):
            for k, other in ((0, 1), (1, 0)):
                factor = args[k]
                if isinstance(factor, tm.Lit) and factor.value == 1 and not isinstance(factor.value, bool) and self.may_be(context, old, args[other]):
                    return args[other]
        if t.name == "sub" and self.gone(context, old, t, 1) and self.may_be(context, old, args[0]):
            return args[0]
        return t

    def may_be(self, context: Context, old: tm.Op, part: tm.Term) -> bool:
        """The part may take the operation's place; zeros may where the operation is seen to give them."""
        return (not isinstance(part, tm.Zero) or self.vanishes(context, old)) and self.stands_for(context, part)


def tm_facts(context: Context, test: tm.Test) -> Context:
    """The context where a test on an index holds."""
    assert test.poly is not None
    if test.kind == "ge":
        return context.know(test.poly)
    return context.know(test.poly, -test.poly) if test.kind == "eq" else context


@rule("indices, bounds and conditions written more simply, under the hypotheses", "per site", "a + 0 = a: signed-zero")
def simplify(services: Services, context: Context, t: tm.Term) -> tm.Term:
    return _Simplifier(services).term(context, t)


__all__ = ["poly", "simplify"]
