"""Expressions: their types by inference, written into the nodes."""

from __future__ import annotations

from typing import Any

from atoll.errors import Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.env import Binding, Env, substitute
from atoll.futhark.exhaustive import require_complete, require_irrefutable
from atoll.futhark.ftypes import (
    BOOL,
    FLOATS,
    I64,
    INTS,
    NUMBERS,
    U8,
    Arr,
    Con,
    Dim,
    DOp,
    DRef,
    DVar,
    Fun,
    Rec,
    Sum,
    TVar,
    Type,
    has_function,
    map_type,
    of_few_parts,
    prune,
    prune_dim,
    show,
    show_dim,
    unsized,
)
from atoll.futhark.inference import Path, _made, dims_of, mentions
from atoll.futhark.loop_types import LoopTypes
from atoll.futhark.patterns import bound, single_name
from atoll.futhark.unify import Mismatch, unify


class Expressions(LoopTypes):
    def exp(self, e: Any, env: Env, wanted: Type | None = None) -> Type:
        before = self.clock
        t = getattr(self, "exp_" + type(e).__name__)(e, env)
        e.ty, e.made = t, (before, self.clock)
        return t  # type: ignore[no-any-return]

    # -- leaves

    def exp_Lit(self, e: s.Lit, env: Env) -> Type:
        return self.literal(e)

    def exp_String(self, e: s.String, env: Env) -> Type:
        return Arr(len(e.value), U8)

    def exp_Hole(self, e: s.Hole, env: Env) -> Type:
        self.open.append((e, "the hole"))
        return self.var()

    def exp_Var(self, e: s.Var, env: Env) -> Type:
        use, fields = self.use(e.name, env, e.span)
        e.info = use
        if use.binding.kind == "def" and use.binding.attrs == "itself":
            use.binding.node.recursive = True
        if use.binding.kind == "local" and use.binding.name.startswith("_"):
            fail("E1402", e.span, what="variable that may be used (names that begin with an underscore may not)", name=use.binding.name)
        t = use.type
        for field in fields:
            t = self.project(t, field, e.span)
        if fields:
            e.info = Path(use, fields)
        return t

    # -- data

    def exp_RecordLit(self, e: s.RecordLit, env: Env) -> Type:
        made: dict[str, Type] = {}
        for name, value in e.fields:
            if name in made:
                fail("E1406", e.span, what=f"Field {name!r} previously defined in this record")
            made[name] = self.exp(value, env)
        return of_few_parts(Rec(made), e.span)

    def exp_ArrayLit(self, e: s.ArrayLit, env: Env) -> Type:
        if not e.items:
            return Arr(0, self.var(unlifted=True, span=e.span))
        first = self.exp(e.items[0], env)
        self.no_function(first, e.span, "elements of an array")
        if (lifted := unsized(first)) is not None:
            fail("E1403", e.span, found=show(first), expected="a type of known size", why=f'The type "{lifted}" is size-lifted: it cannot be an array element')
        for item in e.items[1:]:
            self.equal(self.exp(item, env), first, item.span)
        return Arr(len(e.items), first)

    def exp_Project(self, e: s.Project, env: Env) -> Type:
        return self.project(self.exp(e.value, env), e.field_, e.span)

    def exp_OpenIn(self, e: s.OpenIn, env: Env) -> Type:
        scope = Env(env)
        module = env.qualified("mods", e.name, e.span, "module")
        if not isinstance(module, Env):
            fail("E1402", e.span, what="module without parameters", name=".".join(e.name))
        scope.open(module)
        return self.exp(e.value, scope)

    def exp_Case(self, e: s.Case, env: Env) -> Type:
        parts = tuple(self.exp(item, env) for item in e.items)
        self.open.append((e, f"#{e.name}"))
        return self.var(cases={e.name: parts}, span=e.span)

    # -- indexing

    def exp_Index(self, e: s.Index, env: Env) -> Type:
        return self.indexed(self.exp(e.value, env), e.dims, env, e.span)

    def indexed(self, t: Type, dims: list[s.Dim], env: Env, span: Span, update: bool = False) -> Type:
        kept: list[Dim] = []
        for d in dims:
            t = prune(t)
            if isinstance(t, TVar):
                elem: Type = self.var(unlifted=True)
                self.equal(t, Arr(DVar(self.level), elem), span)
                t = prune(t)
            if not isinstance(t, Arr):
                fail("E1403", span, found=show(t), expected="an array with at least as many dimensions as there are indices", why=f"Cannot index into {show(t)}: too many indices")
            if not d.slice:
                self.equal(self.exp(d.low, env), self.var(kinds=INTS, span=span), d.low.span)  # type: ignore[union-attr]
            else:
                for part in (d.low, d.high, d.step):
                    if part is not None:
                        self.equal(self.exp(part, env), I64, part.span)
                kept.append(DVar(self.level) if update else self.slice_size(t.dim, d))
            t = t.elem
        for dim in reversed(kept):
            t = Arr(dim, t)
        return t

    def slice_size(self, dim: Dim, d: s.Dim) -> Dim:
        low, high = (None if x is None else self.dim_of_checked(x) for x in (d.low, d.high))
        if not all(self.is_size(x) for x in (d.low, d.high) if x is not None):
            return DRef(self.unknown())
        step = self.constant(d.step)
        if step == 1:
            if low is None or low == 0:
                return dim if high is None else high
            return DOp("-", dim if high is None else high, low)
        if step == -1:
            if low is None and high is None:
                return dim
            if low is not None and high is not None:
                return DOp("-", low, high)
        return DRef(self.unknown())

    def constant(self, e: Any) -> int | None:
        if e is None:
            return 1
        if isinstance(e, s.Neg):
            inner = self.constant(e.value)
            return None if inner is None else -inner
        return e.value if isinstance(e, s.Lit) and e.kind == "int" else None

    def exp_Update(self, e: s.Update, env: Env) -> Type:
        t = self.exp(e.value, env)
        return self.updated(t, e.steps, e.new, env, e.span)

    def updated(self, t: Type, steps: list[s.Step], new: Any, env: Env, span: Span) -> Type:
        """The type of a value with a part replaced; a field that ends the path may get another type."""
        new_type = self.exp(new, env)
        at, path = t, []
        for k, (kind, what) in enumerate(steps):
            if kind == "index":
                at = self.indexed(at, what, env, span, update=True)
            else:
                path.append((k, prune(at)))
                at = self.project(at, what, span)
        if all(kind == "field" for kind, _ in steps):
            made: Type = new_type
            known = all(isinstance(record, Rec) for _, record in path)
            try:
                unify(new_type, map_type(at, lambda x: None, lambda d: DVar(self.level)) if known else at, [])  # a field may get other sizes
            except Mismatch as problem:
                fail("E1403", span, found=show(new_type), expected=show(at), why=f"the new value of a field has the type of the old one: {problem}")
            if not known:
                return t
            for (_, record), (_, name) in zip(reversed(path), reversed(steps), strict=True):
                assert isinstance(record, Rec)
                made = Rec({**record.fields, name: made})
            return made
        self.equal(new_type, at, new.span)
        return t

    # -- functions

    def exp_Apply(self, e: s.Apply, env: Env) -> Type:
        fn = self.exp(e.fn, env)
        arg = self.exp(e.arg, env)
        return self.apply(fn, arg, e.arg, e.span)

    def exp_BinOp(self, e: s.BinOp, env: Env) -> Type:
        e.fn = s.Var(e.op, span=e.span)
        fn = self.exp(e.fn, env)
        left = self.exp(e.left, env)
        right = self.exp(e.right, env)
        if e.fn.info.binding.kind == "builtin" and e.fn.info.binding.name in ("==", "!="):
            self.compared(left, right, e.span)
            for var in e.fn.info.types.values():
                var.link = prune(left)
            return BOOL
        return self.apply(self.apply(fn, left, e.left, e.left.span), right, e.right, e.right.span)

    def compared(self, left: Type, right: Type, span: Span) -> None:
        """Equality is about sizes too, but only when it is computed."""
        try:
            unify(left, right, [])
        except Mismatch as problem:
            fail("E1403", span, found=show(right), expected=show(left), why=str(problem))
        t = prune(left)
        if isinstance(t, TVar):
            t.equality = t.unlifted = True
        elif has_function(t):
            fail("E1403", span, found=show(t), expected="a type that can be compared", why="functions do not support equality")
        elif isinstance(t, Con):
            fail("E1403", span, found=show(t), expected="a type that can be compared", why=f"the type {show(t)} does not support equality (it may turn out to be functional)")

    def exp_Neg(self, e: s.Neg, env: Env) -> Type:
        if isinstance(e.value, s.Lit):
            e.value.info = "negated"
        t = self.exp(e.value, env)
        self.equal(t, self.var(kinds=NUMBERS), e.span)
        return t

    def exp_Not(self, e: s.Not, env: Env) -> Type:
        t = self.exp(e.value, env)
        self.equal(t, self.var(kinds=(*INTS, "bool")), e.span)
        return t

    def exp_Section(self, e: s.Section, env: Env) -> Type:
        e.fn = s.Var(e.op, span=e.span)
        fn = self.exp(e.fn, env)
        if e.left is not None:
            return self.apply(fn, self.exp(e.left, env), e.left, e.span)
        if e.right is not None:
            right = self.exp(e.right, env)
            first = self.var()
            both = self.apply(self.apply(fn, first, None, e.span), right, e.right, e.span)
            return Fun(first, both)
        return fn

    def exp_PathSection(self, e: s.PathSection, env: Env) -> Type:
        start = self.var(span=e.span)
        t: Type = start
        for kind, what in e.steps:
            t = self.indexed(t, what, env, e.span) if kind == "index" else self.project(t, what, e.span)
        return Fun(start, t)

    def exp_Lambda(self, e: s.Lambda, env: Env) -> Type:
        return self.function(e.params, e.result, e.body, Env(env))

    # -- binding

    def exp_Let(self, e: s.Let, env: Env) -> Type:
        value = self.exp(e.value, env)
        scope = Env(env)
        sizes: list[Binding] = []
        for name in e.sizes:
            b = Binding(name, I64, "size", level=self.level, node=e)
            scope.values[name] = b
            sizes.append(b)
        e.info = sizes
        if sizes:
            t = self.pattern(e.pat, scope, None)
            self.not_also(sizes, [e.pat], e.span)
            found = {id(b): DVar(self.level) for b in sizes}
            self.equal(value, substitute(t, {}, {**found}), e.pat.span)
            self.later.append(lambda: self.said(e, sizes, found))
        else:
            self.pattern(e.pat, scope, value)
        self.irrefutable(e.pat)
        result = self.exp(e.body, scope)
        only = single_name(e.pat)
        if only is not None and self.is_size(e.value) and prune(only.type) == I64:  # let m = n + 1 in ... [m]
            result = substitute(result, {}, {id(only): self.dim_of_checked(e.value)})
        self.known_parameters(result, bound(e.pat), e.body.span)
        return self.hide(result, [*bound(e.pat), *sizes])

    def known_parameters(self, t: Type, names: list[Binding], span: Span) -> None:
        """A function that leaves a scope does not ask for sizes that only the scope knows."""
        ids = {id(b) for b in names}

        def dim(d: Dim) -> Dim:
            if mentions(d, ids):
                fail("E1404", span, found=show(t), expected="sizes that are known", why=f'Unknown size "{show_dim(d)}" in parameter of a function')
            return d

        at = prune(t)
        if isinstance(at, Rec):
            for part in at.fields.values():
                self.known_parameters(part, names, span)
        while isinstance(at, Fun):
            map_type(at.param, lambda x: x if isinstance(x, Fun) else None, dim)
            at = prune(at.result)

    of_arguments: frozenset[int] = frozenset()  # sizes that every call of the definition says

    def said(self, e: s.Let, sizes: list[Binding], found: dict[int, DVar]) -> None:
        for b in sizes:
            d = prune_dim(found[id(b)])
            if isinstance(d, DVar) and id(d) not in self.of_arguments:
                fail("E1404", e.pat.span, found="[]", expected="a size", why=f'Ambiguous size "{b.name}": nothing says it')

    def not_also(self, sizes: list[Binding], pats: list[Any], span: Span) -> None:
        """A size has a name of its own."""
        names = {b.name for p in pats for b in bound(p)}
        for size in sizes:
            if size.name in names:
                fail("E1406", span, what=f"The name {size.name} is also bound as a size")

    def irrefutable(self, p: Any) -> None:
        self.later.append(lambda: require_irrefutable(p))

    later: list[Any]
    open: list[tuple[Any, str]]  # expressions whose types come from elsewhere: nothing may be left open in them

    def exp_LetFun(self, e: s.LetFun, env: Env) -> Type:
        binding = self.define(e.name, e, e.type_params, e.params, e.result, e.value, env)
        e.info = binding
        scope = Env(env)
        scope.values[e.name] = binding
        return self.hide(self.exp(e.body, scope), [binding])

    def define(self, name: str, node: Any, type_params: Any, params: Any, result: Any, body: Any, env: Env) -> Binding:
        raise NotImplementedError

    def exp_LetWith(self, e: s.LetWith, env: Env) -> Type:
        use, _ = self.use((e.name,), env, e.span)
        t = self.updated(use.type, e.steps, e.value, env, e.span)
        scope = Env(env)
        b = Binding(e.name, t, "local", level=self.level)
        scope.values[e.name] = b
        e.info = use, b
        return self.hide(self.exp(e.body, scope), [b])

    # -- control

    def exp_If(self, e: s.If, env: Env) -> Type:
        self.equal(self.exp(e.cond, env), BOOL, e.cond.span)
        then, orelse = self.exp(e.then, env), self.exp(e.orelse, env)
        t = self.join(then, orelse, e.span)
        self.no_function(t, e.span, "the result of `if`")
        return t

    def exp_Match(self, e: s.Match, env: Env) -> Type:
        value = self.exp(e.value, env)
        result: Type | None = None
        for pat, body in e.cases:
            scope = Env(env)
            self.pattern(pat, scope, value)
            t = self.hide(self.exp(body, scope), bound(pat))
            result = t if result is None else self.join(result, t, body.span)
        assert result is not None
        self.no_function(result, e.span, "the result of `match`")

        self.later.append(lambda: require_complete(e))
        return result

    def exp_Range(self, e: s.Range, env: Env) -> Type:
        t = self.exp(e.low, env)
        self.equal(t, self.var(kinds=INTS, span=e.span), e.low.span)
        if e.second is not None:
            self.equal(self.exp(e.second, env), t, e.second.span)
        self.equal(self.exp(e.high, env), t, e.high.span)
        known = prune(t)
        sized = all(self.is_size(x) for x in (e.low, e.high)) and isinstance(known, type(I64)) and known.name == "i64"
        low, second = self.constant(e.low), (self.constant(e.second) if e.second is not None else None)
        if sized and e.kind == "..<" and low == 0 and (e.second is None or second == 1):
            return Arr(self.dim_of_checked(e.high), t)
        if sized and e.kind == "..." and low == 1 and second == 2:
            return Arr(self.dim_of_checked(e.high), t)
        if sized and e.second is None and e.kind == "..<":
            return Arr(DOp("-", self.dim_of_checked(e.high), self.dim_of_checked(e.low)), t)
        return Arr(DRef(self.unknown()), t)

    def exp_Assert(self, e: s.Assert, env: Env) -> Type:
        self.equal(self.exp(e.cond, env), BOOL, e.cond.span)
        return self.exp(e.value, env)

    def exp_Attr(self, e: s.Attr, env: Env) -> Type:
        return self.exp(e.value, env)

    def exp_Ascribe(self, e: s.Ascribe, env: Env) -> Type:
        before, self.exists = self.exists, []
        t = self.type_exp(e.type, env, lambda: DVar(self.level))
        made, self.exists = self.exists, before
        t = substitute(t, {}, {id(b): DVar(self.level) for b in made})
        self.equal(self.exp(e.value, env), t, e.span)
        return t

    def exp_Coerce(self, e: s.Coerce, env: Env) -> Type:
        before, self.exists = self.exists, []
        t = self.type_exp(e.type, env, lambda: DRef(self.unknown()))
        self.exists = before
        waiting = len(self.open)
        found = prune(self.exp(e.value, env))
        del self.open[waiting:]  # it is said here
        if isinstance(found, TVar) and found.cases is not None and isinstance(t, Sum):
            others = [d for c, xs in t.cases.items() if c not in found.cases for x in xs for d in dims_of(x)]
            if any(not _made(d) for d in others):
                fail("E1404", e.span, found=show(found), expected=show(t), why="Ambiguous size coercion: nothing says which sizes the other constructors have before it")
        try:
            unify(found, map_type(t, lambda x: None, lambda d: DVar(self.level)), [])
        except Mismatch as problem:
            fail("E1403", e.span, found=show(found), expected=show(t), why=f"a size coercion changes sizes only: {problem}")
        return t


__all__ = ["FLOATS", "Expressions", "Path"]
