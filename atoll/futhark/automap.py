"""AUTOMAP: maps and reps put into a definition whose ranks do not fit as they are written (Futhark's own rules, by the machinery of elaborate/ranks).

Only a definition that is not well typed is looked at, so programs without implicit maps are not touched. Its text is read once more for ranks
alone; the least insertion that makes them fit is written into the text, and that is checked like any other. Where `==` may compare numbers or whole
arrays, numbers are tried first.
"""

from __future__ import annotations

from typing import Any

from atoll.elaborate.ranks.constraints import Application, Constraints
from atoll.elaborate.ranks.kinds import SCALAR, Clash, RankType, Variable, arrow, fresh, numbers, parts, product
from atoll.elaborate.ranks.propagate import Infeasible
from atoll.elaborate.ranks.solve import Solution, least
from atoll.errors import fail
from atoll.futhark import syntax as s
from atoll.futhark.automap_text import desugared, inserted
from atoll.futhark.env import Binding, Env, TypeAbbr
from atoll.futhark.ftypes import Arr, Con, Fun, Prim, Rec, Sum, TVar, Type, prune
from atoll.futhark.loop_types import as_expression
from atoll.futhark.values import field_order
from atoll.sizes import ZERO, poly

_RIGID = ("num", "int", "bits", "prim", "bool")


def automapped(node: Any, type_params: Any, params: Any, result: Any, body: Any, env: Env) -> tuple[Any, Any, Any] | None:
    """Parameters, result and body with what is to be inserted, or None when nothing makes the ranks fit (or nothing is missing)."""
    for whole in (False, True):
        copies = [desugared(x, env) for x in (params, result, body)]
        ranks = Ranks(env, whole)
        try:
            ranks.definition(type_params, *copies)
            outcome = least(ranks.constraints)
            solution = outcome.the_solution()
            if solution.cost == 0:
                return None
            if not outcome.unique:
                raise_ambiguous(node, ranks, outcome.alternatives())
            insertions = {app.node: [] for app in ranks.constraints.applications}  # type: ignore[var-annotated]
            for app in ranks.constraints.applications:
                insertions[app.node].append(solution.insertion(app))
        except (Clash, Infeasible, Unreadable):
            continue
        made = [inserted(x, insertions) for x in copies]
        return made[0], made[1], made[2]
    return None


def raise_ambiguous(node: Any, ranks: Ranks, found: list[Solution]) -> None:
    """Several least insertions: the first application they differ in is named."""

    def differs(app: Application) -> bool:
        return len({(x.maps(app), x.reps(app)) for x in found}) > 1

    app = next((app for app in ranks.constraints.applications if differs(app)), None)
    span = node.span if app is None else app.node.span
    fail("E1403", span, found=f"{len(found)} ways to put in maps", expected="one", why="The ranks are ambiguous: several insertions of implicit maps are equally small. Write the map that is meant")


class Unreadable(Exception):
    """A construct whose ranks are not known here."""


class Ranks:
    """Reads one definition."""

    def __init__(self, env: Env, whole: bool) -> None:
        self.env, self.whole = env, whole  # whole: == compares whole values
        self.constraints = Constraints()
        self.names: dict[str, RankType] = {}
        self.types: dict[str, RankType] = {}

    # -- types

    def of_type(self, t: Type, known: dict[int, RankType]) -> RankType:
        t = prune(t)
        match t:
            case Prim():
                return SCALAR
            case Arr(_, elem):
                return self.of_type(elem, known).lift(poly(1))
            case Rec(fields):
                return self.record({f: self.of_type(x, known) for f, x in fields.items()})
            case Sum(cases):
                return self.sum({c: [self.of_type(x, known) for x in xs] for c, xs in cases.items()})
            case Fun(param, result):
                return arrow((self.of_type(param, known),), self.of_type(result, known))
            case Con():
                return known.get(id(t), SCALAR)
            case TVar():
                return fresh()
        raise Unreadable

    def record(self, fields: dict[str, RankType]) -> RankType:
        order = field_order(fields)
        return product(*(fields[f] for f in order), tag=tuple(order))

    def sum(self, cases: dict[str, list[RankType]]) -> RankType:
        order = sorted(cases)
        return product(*(x for c in order for x in cases[c]), tag=("sum", *((c, len(cases[c])) for c in order)))

    def written(self, t: Any) -> RankType:
        """A type expression."""
        match t:
            case s.TArray(_, elem):
                return self.written(elem).lift(poly(1))
            case s.TRecord(fields):
                return self.record({f: self.written(x) for f, x in fields})
            case s.TSum(cases):
                return self.sum({c: [self.written(x) for x in xs] for c, xs in cases})
            case s.TArrow(_, param, result):
                return arrow((self.written(param),), self.written(result))
            case s.TUnique(inner) | s.TExists(_, inner):
                return self.written(inner)
        args: list[Any] = []
        while isinstance(t, s.TApply):
            args.insert(0, t.arg)
            t = t.fn
        if len(t.name) == 1 and t.name[0] in self.types:
            return self.types[t.name[0]]
        try:
            abbr = self.env.qualified("types", t.name, t.span, "type")
        except Exception:  # noqa: BLE001  a number's type has no declaration
            return SCALAR
        assert isinstance(abbr, TypeAbbr)
        known = {id(p): self.written(a) for p, a in zip(abbr.params, args, strict=False) if not isinstance(a, s.Size)}
        return self.of_type(abbr.type, known)

    def scheme(self, b: Binding) -> RankType:
        """A declared name at a use: what its type is general in is new."""
        if b.kind == "builtin" and b.name in ("==", "!=") and not self.whole:
            return arrow((SCALAR,), arrow((SCALAR,), SCALAR))
        known = {id(con): SCALAR if con.kind in _RIGID else fresh(con.name) for con in b.types}
        return self.of_type(b.type, known)

    # -- definitions and patterns

    def definition(self, type_params: Any, params: Any, result: Any, body: Any) -> RankType:
        for p in type_params:
            if p.kind == "size":
                self.names[p.name] = SCALAR
            else:
                self.types[p.name] = SCALAR
        return self.function(params, result, body)

    def function(self, params: Any, result: Any, body: Any) -> RankType:
        before = dict(self.names)
        given = [self.pattern(p) for p in params]
        t = self.exp(body)
        if result is not None:
            self.equal(self.written(result), t, body)
        self.names = before
        for g in reversed(given):
            t = arrow((g,), t)
        return t

    def equal(self, a: RankType, b: RankType, at: Any) -> None:
        self.constraints.equal(a, b, at.span)

    def pattern(self, p: Any) -> RankType:
        """The rank type of a pattern; its names are bound."""
        match p:
            case s.PName(name):
                t = self.names[name] = fresh(name)
                return t
            case s.PWild():
                return fresh()
            case s.PLit():
                return SCALAR
            case s.PAttr(inner):
                return self.pattern(inner)
            case s.PTyped(inner, type_):
                t = self.written(type_)
                self.equal(self.pattern(inner), t, p)
                return t
            case s.PRecord(fields):
                return self.record({f: self.pattern(x) for f, x in fields})
            case s.PCase(_, items):
                for x in items:
                    self.pattern(x)
                return RankType(ZERO, Variable("case"))
        raise Unreadable

    # -- expressions

    def exp(self, e: Any) -> RankType:
        return getattr(self, f"exp_{type(e).__name__}")(e)  # type: ignore[no-any-return]

    def exp_Lit(self, e: s.Lit) -> RankType:
        return SCALAR

    def exp_String(self, e: s.String) -> RankType:
        return numbers(1)

    def exp_Hole(self, e: s.Hole) -> RankType:
        return fresh()

    def exp_Var(self, e: s.Var) -> RankType:
        t, rest = self.named(e.name)
        for f in rest:
            t = self.member(e, t, f, lifted=False)
        return t

    def named(self, name: s.Name) -> tuple[RankType, s.Name]:
        if name[0] in self.names:
            return self.names[name[0]], name[1:]
        for cut in range(len(name), 0, -1):
            at: Any = self.env
            for k, part in enumerate(name[: cut - 1]):
                at = at.find("mods", part) if k == 0 else at.mods.get(part)
                if not isinstance(at, Env):
                    break
            if isinstance(at, Env):
                found = at.find("values", name[cut - 1]) if cut == 1 else at.values.get(name[cut - 1])
                if found is not None:
                    return self.scheme(found), name[cut:]
        raise Unreadable

    def member(self, node: Any, t: RankType, field: str, lifted: bool = True) -> RankType:
        """A field: of an array of records it is the array of the fields."""
        result = fresh(field)
        out: RankType = result

        def resume(give_up: bool) -> bool:
            form = t.skeleton.form
            if give_up or not isinstance(form, tuple):
                return give_up
            tag = form[1]
            if not isinstance(tag, tuple) or field not in tag:
                raise Clash
            record = product(*(fresh(f) for f in tag), tag=tag)
            self.equal(parts(record)[tag.index(field)], result, node)
            if lifted:
                self.equal(record, inner, node)
            else:
                self.equal(record, t, node)
            return True

        if lifted:
            inner = RankType(ZERO, Variable("record", t.skeleton))
            app = self.constraints.apply(node, 0, ZERO, inner, t)
            self.equal(numbers(poly(app.reps)), SCALAR, node)
            out = result.lift(poly(app.maps))
        self.constraints.wait_for(t, resume)
        return out

    def exp_RecordLit(self, e: s.RecordLit) -> RankType:
        return self.record({f: self.exp(x) for f, x in e.fields})

    def exp_ArrayLit(self, e: s.ArrayLit) -> RankType:
        elem = fresh()
        for x in e.items:
            self.equal(elem, self.exp(x), x)
        return elem.lift(poly(1))

    def exp_Project(self, e: s.Project) -> RankType:
        return self.member(e, self.exp(e.value), e.field_)

    def exp_OpenIn(self, e: s.OpenIn) -> RankType:
        before = self.env
        module = before.qualified("mods", e.name, e.span, "module")
        if not isinstance(module, Env):
            raise Unreadable
        self.env = Env(before)
        self.env.open(module)
        t = self.exp(e.value)
        self.env = before
        return t

    def exp_Case(self, e: s.Case) -> RankType:
        for x in e.items:
            self.exp(x)
        return RankType(ZERO, Variable("case"))

    def dims(self, value: RankType, dims: list[s.Dim], at: Any) -> RankType:
        """What an index takes of a value."""
        elem = fresh()
        self.equal(elem.lift(poly(len(dims))), value, at)
        for d in dims:
            for x in (d.low, d.high, d.step):
                if x is not None:
                    self.equal(SCALAR, self.exp(x), x)
        return elem.lift(poly(sum(d.slice for d in dims)))

    def exp_Index(self, e: s.Index) -> RankType:
        return self.dims(self.exp(e.value), e.dims, e)

    def steps(self, t: RankType, steps: list[s.Step], at: Any) -> RankType:
        for kind, what in steps:
            t = self.dims(t, what, at) if kind == "index" else self.member(at, t, what, lifted=False)
        return t

    def exp_Update(self, e: s.Update) -> RankType:
        t = self.exp(e.value)
        self.equal(self.steps(t, e.steps, e), self.exp(e.new), e)
        return t

    def exp_LetWith(self, e: s.LetWith) -> RankType:
        t, _ = self.named((e.name,))
        self.equal(self.steps(t, e.steps, e), self.exp(e.value), e)
        return self.bound({e.name: t}, e.body)

    def bound(self, names: dict[str, RankType], body: Any) -> RankType:
        before, self.names = self.names, {**self.names, **names}
        t = self.exp(body)
        self.names = before
        return t

    # -- applications

    def spine(self, node: Any, fn: RankType, args: list[Any], head: Any = None) -> RankType:
        frame = ZERO
        open_ = [not isinstance(p, s.PTyped) for p in head.params] if isinstance(head, s.Lambda) else []
        for k, arg in enumerate(args):
            given = self.exp(arg)
            if not fn.is_function:
                made = arrow((fresh("arg"),), fresh("result"))
                self.equal(fn, made, node)
                fn = made if not fn.axes.terms else fn
            param, result = parts(fn)
            app = self.constraints.apply(node, k, frame, param, given)
            if isinstance(arg, (s.Lambda, s.Section)) or given.is_function or (k < len(open_) and open_[k]):
                # a function is not lifted, nor a lambda that is applied: what is to be lifted is in its body
                self.equal(numbers(poly(app.reps)), numbers(frame), arg)
                self.equal(numbers(poly(app.maps)), SCALAR, arg)
            fn, frame = result, frame + poly(app.maps)
        return fn.lift(frame)

    def exp_Apply(self, e: s.Apply) -> RankType:
        args: list[Any] = []
        at: Any = e
        while isinstance(at, s.Apply):
            args.insert(0, at.arg)
            at = at.fn
        return self.spine(e, self.exp(at), args, at)

    def exp_BinOp(self, e: s.BinOp) -> RankType:
        t, _ = self.named(e.op)
        return self.spine(e, t, [e.left, e.right])

    def exp_Neg(self, e: s.Neg | s.Not) -> RankType:
        return self.spine(e, arrow((SCALAR,), SCALAR), [e.value])

    exp_Not = exp_Neg

    def exp_Section(self, e: s.Section) -> RankType:
        return self.named(e.op)[0]

    def exp_Lambda(self, e: s.Lambda) -> RankType:
        return self.function(e.params, e.result, e.body)

    # -- binding and control

    def exp_Let(self, e: s.Let) -> RankType:
        value = self.exp(e.value)
        before = dict(self.names)
        self.names.update(dict.fromkeys(e.sizes, SCALAR))
        self.equal(self.pattern(e.pat), value, e.pat)
        t = self.exp(e.body)
        self.names = before
        return t

    def exp_LetFun(self, e: s.LetFun) -> RankType:
        before, types = dict(self.names), dict(self.types)
        for p in e.type_params:
            if p.kind == "size":
                self.names[p.name] = SCALAR
            else:
                self.types[p.name] = fresh(p.name)
        t = self.function(e.params, e.result, e.value)
        self.names, self.types = before, types
        return self.bound({e.name: t}, e.body)

    def exp_If(self, e: s.If) -> RankType:
        self.equal(SCALAR, self.exp(e.cond), e.cond)
        t = self.exp(e.then)
        self.equal(t, self.exp(e.orelse), e.orelse)
        return t

    def exp_Match(self, e: s.Match) -> RankType:
        value, t = self.exp(e.value), fresh()
        for pat, body in e.cases:
            before = dict(self.names)
            self.equal(self.pattern(pat), value, pat)
            self.equal(t, self.exp(body), body)
            self.names = before
        return t

    def exp_Loop(self, e: s.Loop) -> RankType:
        start = self.exp(e.init if e.init is not None else as_expression(e.pat))
        high = self.exp(e.high) if e.kind != "while" else None
        before = dict(self.names)
        t = self.pattern(e.pat)
        self.equal(t, start, e.pat)
        if e.kind == "for":
            self.equal(SCALAR, high, e.high)  # type: ignore[arg-type]
            self.pattern(e.var)
        elif e.kind == "in":
            self.equal(self.pattern(e.var).lift(poly(1)), high, e.high)  # type: ignore[arg-type]
        else:
            self.equal(SCALAR, self.exp(e.high), e.high)
        self.equal(t, self.exp(e.body), e.body)
        self.names = before
        return t

    def exp_Range(self, e: s.Range) -> RankType:
        for x in (e.low, e.second, e.high):
            if x is not None:
                self.equal(SCALAR, self.exp(x), x)
        return numbers(1)

    def exp_Assert(self, e: s.Assert) -> RankType:
        self.equal(SCALAR, self.exp(e.cond), e.cond)
        return self.exp(e.value)

    def exp_Attr(self, e: s.Attr) -> RankType:
        return self.exp(e.value)

    def exp_Ascribe(self, e: s.Ascribe | s.Coerce) -> RankType:
        t = self.written(e.type)
        self.equal(t, self.exp(e.value), e)
        return t

    exp_Coerce = exp_Ascribe
