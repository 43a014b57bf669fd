"""Uniqueness: what was consumed is not used again, under any name; only what is one's own is consumed.

An expression's value aliases variables: a set of them, or for a record one such thing per field. Variables that may not be consumed are
parameters that are not unique, definitions of the top level, and what a lambda or a round of a loop takes from around it.
"""

from __future__ import annotations

from typing import Any

from atoll.errors import Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.aliases import (
    NONE,
    Alias,
    Key,
    flat,
    gives_unique,
    has_array,
    is_plain,
    joined,
    mentioned,
    of_type,
    without,
)
from atoll.futhark.consume_loops import LoopConsumption
from atoll.futhark.ftypes import Arr, Con, Fun, Rec, has_function, prune


class Consumption(LoopConsumption):

    # -- functions

    def function(self, params: list[Any], fns: list[Fun], declared: bool, body: Any, name: str) -> None:
        """A definition by itself. Where its text does not say whether its result is unique, that is found out."""
        for p, fn in zip(params, fns, strict=False):
            self.parameter(p, fn.consumes)
        result = self.exp(body)
        if not params:
            return
        self.finish(result, fns[len(params) - 1], declared, body, name)
        self.no_globals(result, body, f'"{name}"')

    def no_globals(self, result: Alias, body: Any, name: str) -> None:
        """A function must not return an array of the top level: whoever calls it could not know."""
        for key in self.reach(flat(result)) & self.globals:
            fail("E1405", body.span, what=f'The result of {name} aliases the free variable "{self.names[key]}"')

    def finish(self, result: Alias, fn: Fun, declared: bool, body: Any, name: str) -> None:
        if declared:
            if fn.fresh:
                self.returned(result, fn.fresh, body, name)
        elif not any(key not in self.own or key in self.barrier for key in self.reach(flat(result))):
            fn.fresh = True

    def returned(self, a: Alias, fresh: Any, body: Any, name: str) -> None:
        """What is declared unique aliases nothing that others have, and no other part of the result."""
        if is_plain(body.ty):
            return
        parts: list[tuple[bool, Alias]] = [(True, a)]
        if isinstance(fresh, dict) and isinstance(a, dict):
            parts = [(bool(fresh.get(f)), x) for f, x in a.items()]
        elif isinstance(a, dict):
            parts = [(True, x) for x in a.values()]
        for unique, part in parts:
            for key in sorted(self.reach(flat(part)), key=repr):
                if unique and key not in self.own:
                    fail("E1405", body.span, what=f'Unique-typed return value of "{name}" is aliased to "{self.names.get(key, "?")}", which is not consumable')
        for k, (unique, part) in enumerate(parts):
            for j, (_, other) in enumerate(parts):
                if unique and j != k and self.reach(flat(part)) & self.reach(flat(other)):
                    fail("E1405", body.span, what=f'A unique component of the return value of "{name}" is aliased to some other component')

    # -- expressions

    def exp(self, e: Any) -> Alias:
        made = getattr(self, "exp_" + type(e).__name__)(e)
        return of_type(made, e.ty)

    def exp_Lit(self, e: s.Lit) -> Alias:
        return NONE

    exp_String = exp_Hole = exp_Lit

    def exp_Var(self, e: s.Var) -> Alias:
        use = e.info
        b = use.binding
        if b.kind in ("def", "builtin", "alias", "abstract"):
            general = any(x.name for x in b.sizes)  # in sizes it declares: made anew wherever it is used
            if b.kind == "def" and not general and not has_function(b.type) and has_array(b.type):
                self.names.setdefault((id(b),), b.name)
                self.globals.add((id(b),))
                return frozenset(((id(b),),))
            return NONE
        if b.kind == "size":
            return NONE
        return self.value(b, getattr(use, "fields", ()), e.span)

    def exp_RecordLit(self, e: s.RecordLit) -> Alias:
        return {f: self.exp(x) for f, x in e.fields}

    def exp_ArrayLit(self, e: s.ArrayLit) -> Alias:
        for x in e.items:
            self.exp(x)
        return NONE

    def exp_Project(self, e: s.Project) -> Alias:
        a = self.exp(e.value)
        return a.get(e.field_, NONE) if isinstance(a, dict) else a

    def exp_OpenIn(self, e: s.OpenIn) -> Alias:
        return self.exp(e.value)

    def exp_Case(self, e: s.Case) -> Alias:
        return frozenset().union(*(flat(self.exp(x)) for x in e.items)) if e.items else NONE

    def dims(self, dims: list[s.Dim]) -> None:
        for d in dims:
            for part in (d.low, d.high, d.step):
                if part is not None:
                    self.exp(part)

    def exp_Index(self, e: s.Index) -> Alias:
        a = self.exp(e.value)
        self.dims(e.dims)
        return flat(a)

    def steps(self, steps: list[s.Step]) -> None:
        for kind, what in steps:
            if kind == "index":
                self.dims(what)

    def exp_Update(self, e: s.Update) -> Alias:
        self.steps(e.steps)
        new = self.exp(e.new)
        old = self.exp(e.value)
        return self.update(old, e.steps, new, e.span)

    def update(self, old: Alias, steps: list[s.Step], new: Alias, span: Span) -> Alias:
        kind, what = steps[0]
        if kind == "field":
            if not isinstance(old, dict):
                return joined(old, new)
            part = new if len(steps) == 1 else self.update(old.get(what, NONE), steps[1:], new, span)
            return {**old, what: part}
        if self.reach(flat(old)) & self.reach(flat(new)):
            fail("E1405", span, what="Source array and the value written into it alias each other: copy the value")
        self.consume(old, span)
        return NONE

    def exp_LetWith(self, e: s.LetWith) -> Alias:
        use, b = e.info
        self.steps(e.steps)
        new = self.exp(e.value)
        made = self.update(self.value(use.binding, (), e.span), e.steps, new, e.span)
        self.define(b, made)
        return self.exp(e.body)

    def exp_Apply(self, e: s.Apply) -> Alias:
        spine: list[Any] = []
        head: Any = e
        while isinstance(head, s.Apply):
            spine.insert(0, head)
            head = head.fn
        result = self.exp(head)
        known = head.info.binding.type if isinstance(head, s.Var) and head.info.binding.kind == "function" else None  # whose result may have been found to be unique since
        made = self.applied(head.ty, result, [(a.arg, a.span) for a in spine], known)
        return self.together(e, head, made)

    def together(self, e: Any, head: Any, made: Alias) -> Alias:
        """The arrays of one result that is not unique may be one array."""
        record = prune(e.ty) if e.ty is not None else None
        named = isinstance(head, s.Var) and head.info.binding.kind in ("def", "local", "function") and not isinstance(made, dict)
        if not named or not isinstance(record, Rec) or self.fresh(head.ty, e) or sum(has_array(x) for x in record.fields.values()) < 2:
            return made
        key = ("applied", id(e))
        self.kept.append(e)
        self.names[key] = f'the result of applying "{head.info.binding.name}"'
        self.own.add(key)
        return flat(made) | {key}

    @staticmethod
    def fresh(fn: Any, e: Any) -> bool:
        """Whether the result of a call is unique."""
        depth = 0
        while isinstance(e, s.Apply):
            depth, e = depth + 1, e.fn
        found: Any = False
        for _ in range(depth):
            fn = prune(fn)
            if not isinstance(fn, Fun):
                return False
            found, fn = fn.fresh, fn.result
        return found is not False

    def applied(self, fn: Any, closure: Alias, args: list[tuple[Any, Span]], known: Any = None) -> Alias:
        held = flat(closure)
        given = [self.exp(arg) for arg, _ in args]  # all are computed before any is consumed
        for k, (a, (arg, span)) in enumerate(zip(given, args, strict=True)):
            fn = prune(fn)
            if isinstance(fn, Fun):
                gives_unique(fn.param, arg, span)
            diet = fn.consumes if isinstance(fn, Fun) else None
            if diet is not None:
                later = frozenset().union(*(flat(x) for x in given[k + 1 :]))
                self.consume_by(a, diet, held | later, span)
                a = NONE if diet is True else {f: NONE if isinstance(diet, dict) and f in diet else x for f, x in a.items()} if isinstance(a, dict) else a
            partial = diet is not None and bool(flat(given[k])) and k == len(args) - 1 and isinstance(fn, Fun) and isinstance(prune(fn.result), Fun)
            if partial:
                fail("E1405", span, what="A function that is applied to some of its arguments only consumes one of them: its result contains consumption")
            held |= flat(a)
            known = prune(known) if known is not None else None
            fresh = (fn.fresh or (known.fresh if isinstance(known, Fun) else False)) if isinstance(fn, Fun) else False
            fn, known = fn.result if isinstance(fn, Fun) else None, known.result if isinstance(known, Fun) else None
            if fresh is True:
                held = NONE
            elif isinstance(fresh, dict):
                record = prune(fn)
                return {f: NONE if fresh.get(f) else held for f in record.fields} if isinstance(record, Rec) else held
        return held

    def consume_by(self, a: Alias, diet: Any, held: frozenset[Key], span: Span) -> None:
        if isinstance(diet, dict):
            for f, inner in diet.items():
                others = [flat(x) for g, x in a.items() if g != f] if isinstance(a, dict) else []
                self.consume_by(a.get(f, NONE) if isinstance(a, dict) else a, inner, held.union(*others), span)
            return
        both = self.reach(flat(a)) & self.reach(held)
        if both:
            fail("E1405", span, what=f'Argument is consumed, but "{self.names.get(min(both), "?")}" is aliased by another argument')
        if isinstance(a, dict):
            seen: set[Key] = set()
            for part in a.values():
                here = self.reach(flat(part))
                if seen & here:
                    fail("E1405", span, what="Argument is consumed, but its parts are aliases of each other")
                seen |= here
        self.consume(a, span)

    def exp_BinOp(self, e: s.BinOp) -> Alias:
        head = self.exp(e.fn)
        if e.op in (("|>",), ("<|",)) and e.fn.info.binding.attrs == "pipe":  # an application
            fn, arg = (e.right, e.left) if e.op == ("|>",) else (e.left, e.right)
            return self.applied(fn.ty, self.exp(fn), [(arg, arg.span)])
        if e.op in (("&&",), ("||",)):
            self.exp(e.left)
            self.exp(e.right)
            return NONE
        return self.applied(e.fn.ty, head, [(e.left, e.span), (e.right, e.span)])

    def exp_Neg(self, e: s.Neg) -> Alias:
        self.exp(e.value)
        return NONE

    exp_Not = exp_Neg

    def exp_Section(self, e: s.Section) -> Alias:
        head = self.exp(e.fn)
        found = flat(head)
        for side in (e.left, e.right):
            if side is not None:
                found |= flat(self.exp(side))
        return found

    def exp_PathSection(self, e: s.PathSection) -> Alias:
        self.steps(e.steps)
        return NONE

    def exp_Range(self, e: s.Range) -> Alias:
        for x in (e.low, e.second, e.high):
            if x is not None:
                self.exp(x)
        return NONE

    def exp_Lambda(self, e: s.Lambda) -> Alias:
        return self.local(e.params, e.ty, e.result is not None, e.body, "the anonymous function")

    def local(self, params: list[Any], t: Any, declared: bool, body: Any, name: str) -> Alias:
        """A function inside another: it aliases what it takes from around it, and consumes nothing of that."""
        around = set(self.names)
        before = self.inside("it is bound outside of the function that consumes it")
        fn = prune(t)
        last: Any = None
        for p in params:
            self.parameter(p, fn.consumes if isinstance(fn, Fun) else None)
            last, fn = fn, prune(fn.result) if isinstance(fn, Fun) else fn
        result = self.exp(body)
        if isinstance(last, Fun):
            self.finish(result, last, declared, body, name)
        self.no_globals(result, body, name)
        self.barrier = before
        mentioned_here = mentioned(body)
        return frozenset(key for key in around if key[0] in mentioned_here)

    def exp_Let(self, e: s.Let) -> Alias:
        a = self.exp(e.value)
        self.bind(e.pat, a)
        return self.exp(e.body)

    def exp_LetFun(self, e: s.LetFun) -> Alias:
        a = self.local(e.params, e.info.type, e.result is not None, e.value, e.name)
        self.holds[id(e.info)] = a
        return self.exp(e.body)

    def branches(self, makers: list[Any]) -> Alias:
        before = dict(self.consumed)
        after = dict(before)
        result: Alias = None
        for make in makers:  # a value that another branch consumed is not what this one gives
            self.consumed = dict(before)
            a = make()
            after.update(self.consumed)
            result = a if result is None else joined(result, a)
        self.consumed = after
        return without(result, set(after) - set(before))

    def exp_If(self, e: s.If) -> Alias:
        self.exp(e.cond)
        return self.branches([lambda: self.exp(e.then), lambda: self.exp(e.orelse)])

    def exp_Match(self, e: s.Match) -> Alias:
        a = self.exp(e.value)

        def arm(pat: Any, body: Any) -> Any:
            def run() -> Alias:
                self.bind(pat, a)
                return self.exp(body)

            return run

        return self.branches([arm(pat, body) for pat, body in e.cases])

    def exp_Assert(self, e: s.Assert) -> Alias:
        self.exp(e.cond)
        return self.exp(e.value)

    def exp_Attr(self, e: s.Attr) -> Alias:
        return self.exp(e.value)

    exp_Ascribe = exp_Coerce = exp_Attr


__all__ = ["Arr", "Con", "Consumption"]
