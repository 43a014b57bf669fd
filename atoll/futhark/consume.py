"""Uniqueness: what was consumed is not used again, under any name; only what is one's own is consumed.

An expression's value aliases variables: a set of them, or for a record one such thing per field. Variables that may not be consumed are
parameters that are not unique, definitions of the top level, and what a lambda or a round of a loop takes from around it.
"""

from __future__ import annotations

from typing import Any

from atoll.errors import Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.env import Binding
from atoll.futhark.ftypes import Arr, Con, Fun, Prim, Rec, Sum, TVar, Type, has_function, map_type, prune
from atoll.futhark.patterns import bound

Key = tuple[Any, ...]  # a variable, by the identity of its binding, and the way to a part of it
Alias = Any  # frozenset of keys, or a dict of Alias by field
NONE: frozenset[Key] = frozenset()


def flat(a: Alias) -> frozenset[Key]:
    if isinstance(a, dict):
        return frozenset().union(*(flat(x) for x in a.values())) if a else NONE
    return a  # type: ignore[no-any-return]


def joined(a: Alias, b: Alias) -> Alias:
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return {k: joined(a[k], b[k]) for k in a}
    return flat(a) | flat(b)


def is_plain(t: Type | None) -> bool:
    """A type whose values alias nothing: numbers, and records of them."""
    if t is None:
        return False
    t = prune(t)
    match t:
        case Prim():
            return True
        case Rec(fields):
            return all(is_plain(x) for x in fields.values())
        case Sum(cases):
            return all(is_plain(x) for xs in cases.values() for x in xs)
        case TVar(kinds=kinds):
            return kinds is not None
    return False


def of_type(a: Alias, t: Type | None) -> Alias:
    """Aliases of a value of a type: its numbers have none."""
    if is_plain(t):
        return NONE
    known = prune(t) if t is not None else None
    if isinstance(known, Rec):
        return {f: of_type(a[f] if isinstance(a, dict) and f in a else flat(a), x) for f, x in known.fields.items()}
    return a


def has_array(t: Type) -> bool:
    """Whether arrays are parts of a type; an abstract type may have some, but nothing can be done to them."""
    found = []

    def on_type(x: Type) -> Type | None:
        if isinstance(x, Arr):
            found.append(x)
        return None

    map_type(t, on_type, lambda d: d)
    return bool(found)


class Consumption:
    def __init__(self) -> None:
        self.holds: dict[int, Alias] = {}  # of variables
        self.aliases: dict[Key, Alias] = {}  # of their parts
        self.names: dict[Key, str] = {}
        self.own: set[Key] = set()  # what may be consumed
        self.consumed: dict[Key, Span] = {}
        self.barrier: dict[Key, str] = {}  # what may not be consumed here although it may where it was made, and why
        self.kept: list[Any] = []
        self.globals: set[Key] = set()
        self.outer: set[Key] = set()  # what is bound outside of the innermost loop

    # -- variables

    def define(self, b: Binding, alias: Alias, own: Any = True) -> None:
        self.kept.append(b)
        self.holds[id(b)] = self.put((id(b),), b.name, of_type(alias, b.type), own)

    def put(self, key: Key, name: str, alias: Alias, own: Any) -> Alias:
        """Names for the parts of a variable; what they alias, themselves with it."""
        if isinstance(alias, dict):
            return {f: self.put((*key, f), name, x, own.get(f) if isinstance(own, dict) else own) for f, x in alias.items()}
        self.names[key] = name
        self.aliases[key] = alias
        if own:
            self.own.add(key)
        return alias | {key}

    def reach(self, keys: frozenset[Key]) -> frozenset[Key]:
        found = set(keys)
        todo = list(keys)
        while todo:
            for other in flat(self.aliases.get(todo.pop(), NONE)):
                if other not in found:
                    found.add(other)
                    todo.append(other)
        return frozenset(found)

    def value(self, b: Binding, fields: tuple[str, ...], span: Span) -> Alias:
        """What a variable, or a part of it, aliases; it must not have been consumed."""
        a = self.holds.get(id(b), NONE)
        for f in fields:
            a = a[f] if isinstance(a, dict) and f in a else flat(a)
        for key in self.reach(flat(a)):
            if key in self.consumed:
                fail("E1405", span, what=f'Using variable "{b.name}", but this was consumed at line {self.consumed[key].line}' + (f' (through "{self.names[key]}")' if self.names.get(key) not in (None, b.name) else ""))
        return a

    def consume(self, a: Alias, span: Span) -> None:
        for key in sorted(self.reach(flat(a)), key=repr):
            name = self.names.get(key, "?")
            if key in self.consumed:
                fail("E1405", span, what=f'Consuming "{name}", but this was consumed at line {self.consumed[key].line}')
            if key in self.barrier:
                fail("E1405", span, what=f'Consuming variable "{name}", but {self.barrier[key]}')
            if key not in self.own:
                fail("E1405", span, what=f'Consuming variable "{name}", but this is not consumable: it is not unique')
            self.consumed[key] = span

    def bind(self, p: Any, alias: Alias) -> None:
        match p:
            case s.PName():
                self.define(p.info, alias)
            case s.PTyped(inner) | s.PAttr(inner):
                self.bind(inner, alias)
            case s.PRecord(fields):
                for f, sub in fields:
                    self.bind(sub, alias[f] if isinstance(alias, dict) and f in alias else flat(alias))
            case s.PCase(_, items):
                for sub in items:
                    self.bind(sub, flat(alias))

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

    def parameter(self, p: Any, diet: Any) -> None:
        match p:
            case s.PName():
                self.define(p.info, NONE, diet)
            case s.PTyped(inner) | s.PAttr(inner):
                self.parameter(inner, diet)
            case s.PRecord(fields):
                for f, sub in fields:
                    self.parameter(sub, diet.get(f) if isinstance(diet, dict) else diet)
            case s.PCase(_, items):
                for sub in items:
                    self.parameter(sub, diet)

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

    def inside(self, why: str) -> dict[Key, str]:
        """From here on, what exists already is not to be consumed."""
        before = dict(self.barrier)
        for key in self.names:
            self.barrier.setdefault(key, why)
        return before

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
            general = bool(b.sizes or b.types)  # made anew wherever it is used
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

    def exp_Loop(self, e: s.Loop) -> Alias:
        start = self.exp(e.init)
        if e.kind != "while":
            around = self.exp(e.high)
        before = self.inside("it is bound outside of the loop that consumes it")
        outside, self.outer = self.outer, set(self.names)
        names = bound(e.pat)
        self.loop_variables(e.pat)
        if e.kind == "while":
            self.exp(e.high)
        elif e.var is not None:
            self.bind(e.var, flat(around) if e.kind == "in" else NONE)
        result = self.exp(e.body)
        self.barrier = before
        mine = {key for key in self.names if key[0] in {id(b) for b in names}}
        taken = {key for key in mine if key in self.consumed}
        unique = {key for key in mine if key[0] in declared_unique(e.pat)}
        known = set(self.consumed)
        self.give(e.pat, start, taken | unique, e.span)
        given = set(self.consumed) - known
        for b in variables([e.body, e.high if e.kind == "while" else None]):
            lost = self.reach(flat(self.holds.get(id(b), NONE))) & given
            if lost and not any(key[0] == id(b) for key in mine):
                fail("E1405", e.span, what=f'Using variable "{b.name}" inside the loop, but this was consumed as its first state')
        if taken | unique:
            self.next_round(e.pat, result, taken | unique, mine, e.body.span)
        self.outer = outside
        for key in taken:
            self.consumed.setdefault(key, e.span)
        return self.after(e.pat, without(joined(start, result), mine), taken | unique)

    def loop_variables(self, p: Any) -> None:
        """A variable of a loop may be consumed by a round, unless its type says that it is not unique."""
        match p:
            case s.PTyped(inner, t) if not any(isinstance(x, s.TUnique) for x in parts_of(t)):
                self.parameter(inner, False)
            case s.PAttr(inner):
                self.loop_variables(inner)
            case s.PRecord(fields):
                for _, sub in fields:
                    self.loop_variables(sub)
            case _:
                self.parameter(p, True)

    def after(self, p: Any, a: Alias, taken: set[Key]) -> Alias:
        """What the loop's result aliases: parts it consumes are its own."""
        match p:
            case s.PName():
                return NONE if any(key[0] == id(p.info) for key in taken) else a
            case s.PTyped(inner) | s.PAttr(inner):
                return self.after(inner, a, taken)
            case s.PRecord(fields):
                return {f: self.after(sub, a[f] if isinstance(a, dict) and f in a else flat(a), taken) for f, sub in fields}
        return a

    def next_round(self, p: Any, result: Alias, taken: set[Key], mine: set[Key], span: Span) -> None:
        """What a round consumes must be given anew by the round before: not a value from around the loop, nor one value twice."""
        seen: set[Key] = set()

        def go(p: Any, a: Alias) -> None:
            match p:
                case s.PName():
                    here = self.reach(flat(a))
                    if any(key[0] == id(p.info) for key in taken):
                        for key in sorted(here, key=repr):
                            if key not in mine and (key not in self.own or key in self.outer):
                                fail("E1405", span, what=f'The loop consumes "{p.name}", but its next value "{p.name}" aliases "{self.names.get(key, "?")}", which is not consumable')
                            if key in mine and key[0] != id(p.info) and key in self.consumed:
                                fail("E1405", span, what=f'The next value of "{p.name}" aliases other consumed loop parameter "{self.names[key]}"')
                        if seen & here:
                            fail("E1405", span, what=f'The loop consumes "{p.name}", whose next value aliases previously returned value')
                    seen.update(here)
                case s.PTyped(inner) | s.PAttr(inner):
                    go(inner, a)
                case s.PRecord(fields):
                    for f, sub in fields:
                        go(sub, a[f] if isinstance(a, dict) and f in a else flat(a))

        go(p, result)

    def give(self, p: Any, a: Alias, taken: set[Key], span: Span) -> None:
        """The first values of a loop's variables that the loop consumes are consumed."""
        match p:
            case s.PName():
                if any(key[0] == id(p.info) for key in taken):
                    self.consume(a, span)
            case s.PTyped(inner) | s.PAttr(inner):
                self.give(inner, a, taken, span)
            case s.PRecord(fields):
                for f, sub in fields:
                    self.give(sub, a[f] if isinstance(a, dict) and f in a else flat(a), taken, span)

    def exp_Assert(self, e: s.Assert) -> Alias:
        self.exp(e.cond)
        return self.exp(e.value)

    def exp_Attr(self, e: s.Attr) -> Alias:
        return self.exp(e.value)

    exp_Ascribe = exp_Coerce = exp_Attr


def declared_unique(p: Any) -> set[int]:
    match p:
        case s.PTyped(inner, s.TUnique()):
            return {id(b) for b in bound(inner)}
        case s.PTyped(inner) | s.PAttr(inner):
            return declared_unique(inner)
        case s.PRecord(fields):
            return {key for _, sub in fields for key in declared_unique(sub)}
    return set()


def gives_unique(wanted: Type, arg: Any, span: Span) -> None:
    """A function whose result must be unique is not one whose result may be anybody's."""
    want, have = prune(wanted), prune(arg.ty) if arg.ty is not None else None
    named = isinstance(arg, s.Var) and arg.info.binding.kind in ("def", "local", "function")
    while named and isinstance(want, Fun) and isinstance(have, Fun):
        if want.fresh is True and have.fresh is False and has_array(have.result) and not isinstance(prune(have.result), Fun):
            fail("E1405", span, what=f'The result of "{arg.info.binding.name}" must be unique here, but it may alias something else')
        want, have = prune(want.result), prune(have.result)


def parts_of(t: Any) -> list[Any]:
    """A written type and the types inside it."""
    from dataclasses import fields, is_dataclass

    found, todo = [], [t]
    while todo:
        x = todo.pop()
        if isinstance(x, (list, tuple)):
            todo += x
        elif is_dataclass(x):
            found.append(x)
            todo += [getattr(x, f.name) for f in fields(x) if f.name not in ("span", "ty", "info")]
    return found


def without(a: Alias, keys: set[Key]) -> Alias:
    if isinstance(a, dict):
        return {k: without(x, keys) for k, x in a.items()}
    return a - keys


def mentioned(e: Any) -> set[int]:
    return {id(b) for b in variables(e)}


def variables(e: Any) -> list[Binding]:
    """The variables an expression mentions."""
    from dataclasses import fields

    found: list[Binding] = []
    todo: list[Any] = [e]
    while todo:
        x = todo.pop()
        if isinstance(x, s.Var) and x.info is not None:
            found.append(x.info.binding)
        if isinstance(x, s.LetWith):
            found.append(x.info[0].binding)
        if isinstance(x, (s.Node, s.Dim)):
            todo += [getattr(x, f.name) for f in fields(x) if f.name not in ("span", "ty", "info", "type", "result")]
        elif isinstance(x, (list, tuple)):
            todo += x
    return found


__all__ = ["Arr", "Con", "Consumption"]
