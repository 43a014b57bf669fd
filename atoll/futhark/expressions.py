"""Expressions: their types by inference, written into the nodes."""

from __future__ import annotations

from typing import Any

from atoll.errors import Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.env import Binding, Env, Use, instantiate, substitute
from atoll.futhark.ftypes import (
    BOOL,
    FLOATS,
    I64,
    INTS,
    NUMBERS,
    U8,
    Arr,
    Con,
    DExp,
    Dim,
    DOp,
    DRef,
    DVar,
    Fun,
    Rec,
    Sum,
    TVar,
    Type,
    free_vars,
    has_function,
    key_of_dim,
    map_dim,
    map_type,
    names_in,
    of_few_parts,
    prune,
    prune_dim,
    same_dim,
    show,
    show_dim,
)
from atoll.futhark.patterns import Patterns, bound, single_name
from atoll.futhark.unify import BOTTOM, Mismatch, unify


class Expressions(Patterns):
    def exp(self, e: Any, env: Env, wanted: Type | None = None) -> Type:
        t = getattr(self, "exp_" + type(e).__name__)(e, env)
        e.ty = t
        return t  # type: ignore[no-any-return]

    # -- helpers

    def var(self, **bounds: Any) -> TVar:
        return TVar(self.level, **bounds)

    def no_function(self, t: Type, span: Span, where: str) -> None:
        """A place where functions cannot stand."""
        t = prune(t)
        if isinstance(t, TVar):
            t.unlifted = True
        elif has_function(t):
            fail("E1403", span, found=show(t), expected="a type without functions", why=f"{where} cannot be of a functional type")

    def hide(self, t: Type, names: list[Binding], made: list[Binding] | None = None) -> Type:
        """A type outside the scope of these names: sizes that mention them are unknown; they are put into `made`."""
        if not names:
            return t
        ids = {id(b) for b in names}
        seen: dict[Any, Dim] = {}

        def unknown(key: Any) -> Dim:
            if key not in seen:
                new = self.unknown()
                seen[key] = DRef(new)
                if made is not None:
                    made.append(new)
            return seen[key]

        def leaf(d: Dim) -> Dim:
            if isinstance(d, DRef) and id(d.binding) in ids:
                return unknown(id(d.binding))
            if isinstance(d, DExp) and ids & names_in(d.key):
                return unknown(d.key)
            return d

        return map_type(t, lambda x: None, lambda d: map_dim(d, leaf))

    def lower(self, t: Type) -> None:
        """Variables made in a deeper scope belong to this one now."""
        types: list[TVar] = []
        dims: list[DVar] = []
        free_vars(t, types, dims)
        for v in types:
            v.level = min(v.level, self.level)
        for d in dims:
            d.level = min(d.level, self.level)

    def join(self, a: Type, b: Type, span: Span, seen: dict[Any, Dim] | None = None) -> Type:
        """The type of two branches: sizes in which they differ are unknown, the same two the same unknown one."""
        a, b = prune(a), prune(b)
        seen = {} if seen is None else seen
        match a, b:
            case Arr(d, x), Arr(e, y):
                if same_dim(d, e):
                    return Arr(d, self.join(x, y, span, seen))
                pair = key_of_dim(d), key_of_dim(e)
                if pair in seen:
                    return Arr(seen[pair], self.join(x, y, span, seen))
                late: list[Any] = []
                from atoll.futhark.unify import _dims

                if (_made(d) and isinstance(prune_dim(e), DVar)) or (_made(e) and isinstance(prune_dim(d), DVar)):
                    late.append(None)  # a size that one branch makes is not that of a parameter
                else:
                    _dims(d, e, late)
                if late:
                    seen[pair] = d = DRef(self.unknown())
                return Arr(d, self.join(x, y, span, seen))
            case Rec(fs), Rec(gs) if fs.keys() == gs.keys():
                return Rec({f: self.join(fs[f], gs[f], span, seen) for f in fs})
            case Sum(cs), Sum(ds) if cs.keys() == ds.keys() and all(len(cs[c]) == len(ds[c]) for c in cs):
                return Sum({c: tuple(self.join(x, y, span, seen) for x, y in zip(cs[c], ds[c], strict=True)) for c in cs})
        self.equal(b, a, span)
        return a

    def apply(self, fn: Type, arg: Type, arg_exp: Any, span: Span) -> Type:
        """The type of an application."""
        fn = prune(fn)
        if isinstance(fn, TVar):
            result = self.var(span=span)
            if fn.kinds or fn.fields or fn.cases:
                fail("E1403", span, found=show(fn), expected="a function", why="Cannot apply it as a function")
            self.equal(fn, Fun(arg, result), span)
            return result
        if not isinstance(fn, Fun):
            fail("E1403", span, found=show(fn), expected="a function", why="Cannot apply it as a function, as it has type: " + show(fn))
        self.equal(arg, fn.param, arg_exp.span if arg_exp is not None else span)
        sizes: dict[int, Dim] = {id(b): DRef(self.unknown(b.name)) for b in fn.exists}
        if fn.name is not None:
            if arg_exp is not None and self.is_size(arg_exp):
                sizes[id(fn.name)] = self.dim_of_checked(arg_exp)
            else:
                sizes[id(fn.name)] = DRef(self.unknown())
        return substitute(fn.result, {}, sizes)

    def is_size(self, e: Any) -> bool:
        """Whether an argument can be written as a size."""
        match e:
            case s.Lit() | s.Var():
                return True
            case s.BinOp(left=a, right=b):
                return self.is_size(a) and self.is_size(b)
            case s.Apply(fn, arg):
                return self.is_size(fn) and self.is_size(arg)
            case s.Project(value) | s.Neg(value) | s.Ascribe(value) | s.Assert(_, value) | s.Attr(_, value):
                return self.is_size(value)
            case s.Index(value, dims):
                return self.is_size(value) and all(not d.slice and self.is_size(d.low) for d in dims)
            case s.RecordLit(fields):
                return all(self.is_size(x) for _, x in fields)
        return False

    def use(self, name: s.Name, env: Env, span: Span) -> tuple[Use, tuple[str, ...]]:
        """A name, and the fields that follow it."""
        for cut in range(len(name), 0, -1):
            found = self.look(name[:cut], env)
            if found is not None:
                return instantiate(found, self.level, span), name[cut:]
        if len(name) > 1 and env.find("mods", name[0]) is not None:
            env.qualified("values", name, span, "value")
        fail("E1402", span, what="variable", name=name[0] if len(name) == 1 else ".".join(name))

    def look(self, name: s.Name, env: Env) -> Binding | None:
        at: Any = env
        for k, part in enumerate(name[:-1]):
            at = at.find("mods", part) if k == 0 else at.mods.get(part)
            if not isinstance(at, Env):
                return None
        found: Binding | None = at.find("values", name[-1]) if len(name) == 1 else at.values.get(name[-1])
        if found is not None and len(name) > 1 and ("values", name[-1]) in at.hidden:
            return None
        return found

    def project(self, t: Type, field: str, span: Span) -> Type:
        t = prune(t)
        if isinstance(t, Rec):
            if field not in t.fields:
                fail("E1403", span, found=show(t), expected=f"a record with the field {field!r}", why=f"Attempt to access field {field!r} of {show(t)}")
            return t.fields[field]
        if isinstance(t, TVar):
            result = self.var()
            self.equal(TVar(self.level, fields={field: result}), t, span)
            return result
        fail("E1403", span, found=show(t), expected=f"a record with the field {field!r}", why=f"Attempt to access field {field!r} of a value of type {show(t)}")

    # -- leaves

    def exp_Lit(self, e: s.Lit, env: Env) -> Type:
        return self.literal(e)

    def exp_String(self, e: s.String, env: Env) -> Type:
        return Arr(len(e.value), U8)

    def exp_Hole(self, e: s.Hole, env: Env) -> Type:
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
                known = prune(at)
                path.append((k, known))
                at = self.project(at, what, span)
        if all(kind == "field" for kind, _ in steps):
            made: Type = new_type
            late: list[Any] = []
            try:
                unify(new_type, at, late)
            except Mismatch as problem:
                fail("E1403", span, found=show(new_type), expected=show(at), why=f"the new value of a field has the type of the old one: {problem}")
            if not late or not all(isinstance(record, Rec) for _, record in path):
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

    def function(self, params: list[Any], result: Any, body: Any, scope: Env, itself: Binding | None = None) -> Type:
        """The type of a function, by its parameters and body. Sizes its body makes are existential. `itself` is its name in its body, whose type is set here."""
        self.level += 1
        seen: set[str] = set()
        start = self.clock
        typed = []
        for p in params:
            diet: list[Any] = []
            typed.append((p, self.pattern(p, scope, None, diet, seen), diet))
        made: list[Binding] = []
        fresh_result: Any = False
        if result is not None:
            before, self.exists = self.exists, []

            def anonymous() -> Dim:
                made.append(self.unknown(""))
                return DRef(made[-1])

            result_diet: list[Any] = []
            declared = self.type_exp(result, scope, anonymous, result_diet)
            fresh_result = result_diet[0] if result_diet else False
            made += self.exists
            explicit_sizes = list(self.exists)
            self.exists = before
            if itself is not None:
                itself.type = self.arrow_of(typed, declared, made)
            found = self.exp(body, scope)
            explicit = {id(b) for b in explicit_sizes}
            free = {id(b): DVar(self.level) for b in made}
            self.equal(found, substitute(declared, {}, {**free}), body.span)
            anonymous_ones = {key: d for key, d in free.items() if key not in explicit and not isinstance(prune_dim(d), DVar)}
            t = substitute(declared, {}, {**anonymous_ones})  # what [] stands for is found out
            made = [b for b in made if id(b) not in anonymous_ones]
        else:
            given = self.var(span=body.span)
            if itself is not None:
                itself.type = self.arrow_of(typed, given, [])
            t = self.exp(body, scope)
            if itself is not None:
                self.equal(t, given, body.span)
        self.level -= 1
        names = [single_name(p) for p, _, _ in typed]
        self.causal(typed, start)
        inner = [b for p in params for b in bound(p)]
        t = self.existential(t, made, [b for b in inner if b not in names])
        for (p, pt, diet), name in reversed(list(zip(typed, names, strict=True))):
            t = Fun(pt, t, name, tuple(made) if p is params[-1] else (), diet[0] if diet else None, fresh_result if p is params[-1] else False)
        if params:
            self.lower(t)
            for b in (*(n for n in names if n is not None), *made):
                b.level = BOTTOM  # outside, they are names of the type only
        return t

    def causal(self, typed: list[Any], start: int) -> None:
        """A parameter has no size that is only known later: of a later parameter, or made in the body."""
        later = {id(b): b for p, _, _ in typed for b in bound(p)}
        for p, pt, _ in typed:
            for b in bound(p):
                later.pop(id(b), None)

            def leaf(d: Dim, pt: Type = pt, p: Any = p) -> Dim:
                if isinstance(d, DRef) and id(d.binding) in later:
                    fail("E1404", p.span, found=show(pt), expected="sizes that are known before", why=f'scope-violation: the size "{d.binding.name}" is a later parameter')
                if isinstance(d, DRef) and d.binding.kind == "size" and not d.binding.declared and start < d.binding.born and d.binding.level < BOTTOM:
                    fail("E1404", p.span, found=show(pt), expected="sizes that are known before", why="Causality check: the size of this parameter is only computed in the body of the function")
                return d

            map_type(pt, lambda x: x if isinstance(x, Fun) else None, lambda d, leaf=leaf: map_dim(d, leaf))  # type: ignore[misc]

    def arrow_of(self, typed: list[Any], t: Type, made: list[Binding]) -> Type:
        """The type of a function as far as it is known before its body."""
        exists = [Binding(b.name, I64, "size", level=BOTTOM) for b in made]
        t = substitute(t, {}, {id(b): DRef(new) for b, new in zip(made, exists, strict=True)})
        for p, pt, diet in reversed(typed):
            own = single_name(p)
            name = None if own is None else Binding(own.name, own.type, "local", level=BOTTOM)
            if own is not None:
                t = substitute(t, {}, {id(own): DRef(name)})
            t = Fun(pt, t, name, tuple(exists) if p is typed[-1][0] else (), diet[0] if diet else None, False)
        return t

    def existential(self, t: Type, made: list[Binding], hidden: list[Binding]) -> Type:
        """A result's sizes that exist inside the function only."""
        self.level += 1
        t = self.hide(t, hidden, made)
        self.level -= 1
        known = {id(b) for b in made}

        def leaf(d: Dim) -> Dim:
            if isinstance(d, DRef) and d.binding.kind == "size" and d.binding.level > self.level and id(d.binding) not in known and not d.binding.declared:
                known.add(id(d.binding))
                made.append(d.binding)
            return d

        return map_type(t, lambda x: None, lambda d: map_dim(d, leaf))

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
            d = prune_dim(d)
            if isinstance(d, DRef) and id(d.binding) in ids:
                fail("E1404", span, found=show(t), expected="sizes that are known", why=f'Unknown size "{d.binding.name}" in parameter of a function')
            return d

        at = prune(t)
        while isinstance(at, Fun):
            map_type(at.param, lambda x: x if isinstance(x, Fun) else None, dim)
            at = prune(at.result)

    def said(self, e: s.Let, sizes: list[Binding], found: dict[int, DVar]) -> None:
        for b in sizes:
            if isinstance(prune_dim(found[id(b)]), DVar):
                fail("E1404", e.pat.span, found="[]", expected="a size", why=f'Ambiguous size "{b.name}": nothing says it')

    def not_also(self, sizes: list[Binding], pats: list[Any], span: Span) -> None:
        """A size has a name of its own."""
        names = {b.name for p in pats for b in bound(p)}
        for size in sizes:
            if size.name in names:
                fail("E1406", span, what=f"The name {size.name} is also bound as a size")

    def irrefutable(self, p: Any) -> None:
        from atoll.futhark.exhaustive import require_irrefutable

        self.later.append(lambda: require_irrefutable(p))

    later: list[Any]

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
        from atoll.futhark.exhaustive import require_complete

        self.later.append(lambda: require_complete(e))
        return result

    def exp_Loop(self, e: s.Loop, env: Env) -> Type:
        if e.init is None:
            e.init = as_expression(e.pat)
        start = self.exp(e.init, env)
        scope = Env(env)
        flexible = map_type(start, lambda x: None, lambda d: DVar(self.level))
        t = self.pattern(e.pat, scope, flexible)
        self.no_function(t, e.span, "a loop's state")
        before = self.clock
        at_start, own = dims_of(start), dims_of(t)
        for have, want in zip(at_start, own, strict=True):
            want = prune_dim(want)
            if not isinstance(want, DVar) and not isinstance(prune_dim(have), DVar) and not same_dim(want, have):
                fail("E1404", e.init.span, found=show(start), expected=show(t), why="Initial loop values do not have expected type")
        inner = Env(scope)
        hidden: list[Binding] = list(bound(e.pat))
        if e.kind == "for":
            high = self.exp(e.high, env)
            self.equal(high, self.var(kinds=INTS, span=e.span), e.high.span)
            self.pattern(e.var, inner, high)
        elif e.kind == "in":
            array = self.exp(e.high, env)
            elem = self.var(unlifted=True)
            self.equal(array, Arr(DVar(self.level), elem), e.high.span)
            self.pattern(e.var, inner, prune(elem))
        else:
            self.equal(self.exp(e.high, inner), BOOL, e.high.span)
        if e.var is not None:
            hidden += bound(e.var)
        result = self.exp(e.body, inner)
        groups: dict[int, int] = {}
        given = dims_of(result)
        for k, d in enumerate(own if len(own) == len(given) else []):
            first = groups.setdefault(id(prune_dim(d)), k)
            both = given[first], given[k]
            if first != k and isinstance(prune_dim(d), DVar) and not any(isinstance(prune_dim(x), DVar) and prune_dim(x) is not prune_dim(d) for x in both) and not same_dim(*both):
                fail("E1404", e.body.span, found=show(result), expected=show(t), why="Loop body does not have expected type: a round needs two sizes of the state to be equal")
        try:
            late: list[Any] = []
            unify(result, t, late)
        except Mismatch as problem:
            fail("E1403", e.body.span, found=show(result), expected=show(t), why=f"the loop's body must give the type of its state: {problem}")
        self.loop_sizes(e, own, dims_of(result), before)
        made = self.loop_type(t, start, result)
        return self.hide(made, hidden)

    def loop_sizes(self, e: s.Loop, own: list[Dim], result: list[Dim], before: int) -> None:
        """A size that a round makes is none of the state."""
        for k, d in enumerate(own):
            d = prune_dim(d)
            if isinstance(d, DRef) and d.binding.kind == "size" and d.binding.born > before and not same_dim(d, result[k]):
                fail("E1404", e.body.span, found=show_dims(result), expected=show_dims(own), why="the size of the loop's state is only known inside the loop body")

    def loop_type(self, t: Type, start: Type, result: Type) -> Type:
        """The state's type after the loop: sizes that no round changes are those of the start."""
        t, start, result = prune(t), prune(start), prune(result)
        match t, start, result:
            case Arr(d, x), Arr(a, y), Arr(b, z):
                from atoll.futhark.ftypes import prune_dim

                d = prune_dim(d)
                if isinstance(d, DVar):
                    if prune_dim(b) is not d:  # every round has another size
                        d.link = DRef(self.unknown())
                        return Arr(d, self.loop_type(x, y, z))
                    if prune_dim(a) is not d:
                        d.link = prune_dim(a)
                    return Arr(a, self.loop_type(x, y, z))
                if not same_dim(d, a):  # what a round needs of the size may say what it is made of: n * m of l * l
                    late: list[Any] = []
                    from atoll.futhark.unify import _dims

                    _dims(d, a, late)
                if same_dim(d, a) and same_dim(d, b):
                    return Arr(d, self.loop_type(x, y, z))
                return Arr(DRef(self.unknown()), self.loop_type(x, y, z))
            case Rec(fs), Rec(gs), Rec(hs) if fs.keys() == gs.keys() == hs.keys():
                return Rec({f: self.loop_type(fs[f], gs[f], hs[f]) for f in fs})
        return t

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
        found = self.exp(e.value, env)
        try:
            unify(found, map_type(t, lambda x: None, lambda d: DVar(self.level)), [])
        except Mismatch as problem:
            fail("E1403", e.span, found=show(found), expected=show(t), why=f"a size coercion changes sizes only: {problem}")
        return t


def _made(d: Dim) -> bool:
    """A size that a value made."""
    d = prune_dim(d)
    return isinstance(d, DRef) and d.binding.kind == "size" and not d.binding.declared and d.binding.born > 0


def dims_of(t: Type) -> list[Dim]:
    """The sizes of a type outside of functions, in order."""
    found: list[Dim] = []

    def dim(d: Dim) -> Dim:
        found.append(d)
        return d

    map_type(t, lambda x: x if isinstance(x, (Fun, Con, TVar)) else None, dim)
    return found


def show_dims(dims: list[Dim]) -> str:
    return "".join(f"[{show_dim(d)}]" for d in dims)


class Path(Use):
    """A name followed by fields: x.y.z."""

    def __init__(self, use: Use, fields: tuple[str, ...]) -> None:
        Use.__init__(self, use.binding, use.types, use.sizes, use.type)
        self.fields = fields


def as_expression(p: Any) -> Any:
    """`loop (x, y) for ...` starts from the values of x and y."""
    match p:
        case s.PName(name):
            return s.Var((name,), span=p.span)
        case s.PTyped(inner) | s.PAttr(inner):
            return as_expression(inner)
        case s.PRecord(fields):
            return s.RecordLit([(f, as_expression(sub)) for f, sub in fields], True, span=p.span)
    fail("E1406", p.span, what="Cannot use this pattern as the initial value of a loop")


__all__ = ["FLOATS", "Expressions", "Path"]
