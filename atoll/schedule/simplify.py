"""`simplify`, the rule that changes nothing but how things are written: a walk over the term under its hypotheses.

Indices and bounds are replaced by equal, simpler ones; conditions that follow are dropped; a condition that cannot hold makes the term zero;
zeros disappear from sums, concatenations with nothing vanish, and a choice whose test is decided is made. Each replacement is recorded
with its proof, so that a checker can follow the old and the new term side by side without searching.
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
        if self.services.known(context, new - p, "equal") and self.services.known(context, p - new, "equal"):
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
        polys = tm.own_polys(t)
        if polys and not isinstance(t, tm.Nest):
            here = replace(context, facts=context.closed) if isinstance(t, (tm.Gen, tm.Reshape)) else context  # shapes rest on these
            new = tuple(self.poly(here, p) for p in polys)
            if any(a is not b for a, b in zip(polys, new, strict=True)):
                t = tm.with_polys(t, new)
        if isinstance(t, tm.Sum) and self.services.known(context, t.low - t.high, "empty sum") and t.monoid == "add":
            return tm.Zero(tm.shape(t, context.shapes), tm.dtype(t))
        t = self.kids(context, t)
        return self.collapse(context, t)

    def kids(self, context: Context, t: tm.Term) -> tm.Term:
        old = tm.kids(t)
        new: list[tm.Term] = []
        for k, inner in enumerate(old):
            if k == 1 and isinstance(t, tm.Let) and new[0] is not old[0]:
                t = tm.Let(t.name, new[0], t.body, t.rolled)  # the body sees the simplified definition
            new.append(self.term(context.down(t, k), inner))
        return t if all(a is b for a, b in zip(tm.kids(t), new, strict=True)) else tm.with_kids(t, tuple(new))

    def collapse(self, context: Context, t: tm.Term) -> tm.Term:
        """Zeros move up; a concatenation with nothing is the other half."""
        match t:
            case tm.Gen(body=tm.Zero() as inner):
                return tm.Zero((t.high - t.low, *inner.shape), inner.dtype)
            case tm.Sum(body=tm.Zero() as inner, monoid="add"):
                return inner
            case tm.Plus(monoid="add") if isinstance(t.right, tm.Zero) and (context.folding == "add" or self.stands_for(context, t.left)):
                return t.left
            case tm.Plus(monoid="add") if isinstance(t.left, tm.Zero) and (context.folding == "add" or self.stands_for(context, t.right)):
                if context.folding != "add":
                    self.services.licence("signed-zero", _float(t))
                return t.right
            case tm.Cat():
                extents = tm.shape(t.left, context.shapes), tm.shape(t.right, context.shapes)
                if isinstance(t.left, tm.Zero) and isinstance(t.right, tm.Zero):
                    return tm.Zero(tm.shape(t, context.shapes), t.left.dtype)
                closed = replace(context, facts=context.closed)
                if self.services.known(closed, -extents[1][t.axis], "nothing on the right"):
                    return t.left
                if self.services.known(closed, -extents[0][t.axis], "nothing on the left"):
                    return t.right
        return t

    def guard(self, context: Context, t: tm.Guard) -> tm.Term:
        kept: list[Poly] = []
        inside = context
        for c in t.conds:
            if self.services.known(inside, c, "the condition always holds"):
                continue
            if self.services.known(inside, -c - 1, "the condition never holds"):
                return tm.Zero(tm.shape(t, context.shapes), tm.dtype(t))
            c = self.poly(inside, c)
            kept.append(c)
            inside = inside.know(c)
        body = self.term(inside, t.body)
        if isinstance(body, tm.Zero):
            return body
        return tm.guard(tuple(kept), body)

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

    def operation(self, context: Context, t: tm.Op) -> tm.Term:
        args = tuple(self.term(context.down(t, k), a) for k, a in enumerate(t.args))
        if any(a is not b for a, b in zip(args, t.args, strict=True)):
            t = tm.Op(t.name, args, t.dtype)
        if t.name == "add":
            for k, other in ((0, 1), (1, 0)):
                if isinstance(args[k], tm.Zero) and self.stands_for(context, args[other]):
                    self.services.licence("signed-zero", _float(t))
                    return args[other]
        if t.name in ("mul", "mulacc") and not t.dtype.is_complex and not (t.name == "mulacc" and context.folding == "add"):
            for k, other in ((0, 1), (1, 0)):
                factor = args[k]
                if isinstance(factor, tm.Lit) and factor.value == 1 and not isinstance(factor.value, bool) and self.stands_for(context, args[other]):
                    return args[other]
        if t.name == "sub" and isinstance(args[1], tm.Zero) and self.stands_for(context, args[0]):
            return args[0]
        return t


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
