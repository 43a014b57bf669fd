"""What inference of every expression needs: names and what they mean, applications, branches of two types, types outside of a scope."""

from __future__ import annotations

from typing import Any

from atoll.errors import Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.env import Binding, Env, Use, instantiate, substitute
from atoll.futhark.ftypes import (
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
    prune,
    prune_dim,
    same_dim,
    show,
    show_dim,
)
from atoll.futhark.patterns import Patterns
from atoll.futhark.unify import _dims, unify


class Inference(Patterns):
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

        def in_terms(d: Dim) -> Dim:
            """A size with the sizes that are unknown already put for the same expressions in it."""
            d = prune_dim(d)
            if key_of_dim(d) in seen:
                return seen[key_of_dim(d)]
            return DOp(d.op, in_terms(d.left), in_terms(d.right)) if isinstance(d, DOp) else d

        def dim(d: Dim) -> Dim:
            if not mentions(d, ids):
                return prune_dim(d)
            d = in_terms(d)
            return unknown(key_of_dim(d)) if mentions(d, ids) else d

        return map_type(t, lambda x: None, dim)

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
        a, b = self.whole(a, b), self.whole(b, a)
        seen = {} if seen is None else seen
        match a, b:
            case Arr(d, x), Arr(e, y):
                if same_dim(d, e):
                    return Arr(d, self.join(x, y, span, seen))
                pair = key_of_dim(d), key_of_dim(e)
                if pair in seen:
                    return Arr(seen[pair], self.join(x, y, span, seen))
                late: list[Any] = []

                if self.other(d, e) or self.other(e, d):
                    late.append(None)
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

    generous: bool = False  # whether branches may say the sizes of parameters

    def other(self, d: Dim, of_parameter: Dim) -> bool:
        """A size of one branch is not that of a parameter, which has any size whatever branches do; a loop's state may have it, unless the branch makes it."""
        open_ = prune_dim(of_parameter)
        return isinstance(open_, DVar) and (_made(d) or not (open_.of_loop or self.generous))

    def whole(self, t: Type, other: Type) -> Type:
        """A sum of which some cases are known has the others from the branch beside it; sizes of its own stay its own."""
        t, other = prune(t), prune(other)
        if isinstance(t, TVar) and t.cases is not None and isinstance(other, Sum) and all(c in other.cases and len(xs) == len(other.cases[c]) for c, xs in t.cases.items()):
            unify(t, Sum({c: t.cases.get(c, xs) for c, xs in other.cases.items()}))
        return prune(t)

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
        older = {key for t in (fn, arg) for part in size_uses(t) for key in part} if has_function(arg) else None
        self.equal(arg, fn.param, arg_exp.span if arg_exp is not None else span)
        sizes: dict[int, Dim] = {id(b): DRef(self.unknown(b.name)) for b in fn.exists}
        if fn.name is not None:
            if arg_exp is not None and self.is_size(arg_exp):
                sizes[id(fn.name)] = self.dim_of_argument(arg_exp, fn.param)
            else:
                sizes[id(fn.name)] = DRef(self.unknown())
        left = self.of_call(substitute(fn.result, {}, sizes))
        made = {id(d.binding) for b in fn.exists if isinstance(d := sizes[id(b)], DRef)}
        if made or older is not None:
            self.no_size_to_come(left, made, older, span)
        return left

    def of_call(self, t: Type) -> Type:
        """What a call gives: the sizes that only calls make are those of this value."""
        has, _ = size_uses(t)
        return substitute(t, {}, {key: DRef(self.unknown()) for key, b in has.items() if b.born == -1})

    def no_size_to_come(self, t: Type, made: set[int], older: set[int] | None, span: Span) -> None:
        """What is left of a function asks for no argument whose size only a call makes: this one (`made`), or one of a function that it was given.
        A size that the value itself has is known with it, and so are `older` ones."""
        has, asked = size_uses(t)
        for key, b in asked.items():
            if key not in has and (key in made or (older is not None and b.born == -1 and key not in older)):
                fail("E1404", span, found=show(t), expected="sizes that are known before", why="Existential size would appear in function parameter of return type: a function is given that returns a size which only its calls know, and another one takes it. Apply them one after the other, as with |>")

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
            case s.Section(left=left, right=right):
                return all(x is None or self.is_size(x) for x in (left, right))
        return False

    def use(self, name: s.Name, env: Env, span: Span) -> tuple[Use, tuple[str, ...]]:
        """A name, and the fields that follow it."""
        for cut in range(len(name), 0, -1):
            found = self.look(name[:cut], env)
            if found is not None:
                return instantiate(found, self.level, span), name[cut:]
        if len(name) > 1 and env.find("mods", name[0]) is not None:
            env.qualified("values", name, span, "value")
        fail("E1402", span, what="variable", name=".".join(name), help=env.near("values", name[0]) if len(name) == 1 else env.near("mods", name[0]))

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


def mentions(d: Dim, ids: set[int]) -> bool:
    """Whether a size is about one of these names."""
    d = prune_dim(d)
    if isinstance(d, DOp):
        return mentions(d.left, ids) or mentions(d.right, ids)
    return (isinstance(d, DRef) and id(d.binding) in ids) or (isinstance(d, DExp) and bool(ids & names_in(d.key)))


def _made(d: Dim) -> bool:
    """A size that a value made."""
    d = prune_dim(d)
    return isinstance(d, DRef) and d.binding.kind == "size" and not d.binding.declared and d.binding.born != 0


def dims_of(t: Type) -> list[Dim]:
    """The sizes of a type outside of functions, in order."""
    found: list[Dim] = []

    def dim(d: Dim) -> Dim:
        found.append(d)
        return d

    map_type(t, lambda x: x if isinstance(x, (Fun, Con, TVar)) else None, dim)
    return found


def size_uses(t: Type) -> tuple[dict[int, Binding], dict[int, Binding]]:
    """The names in sizes of a type: of the value itself, and of what functions in it take. Sizes of what a function returns exist with each result,
    so that functions in the result may ask for them."""
    has: dict[int, Binding] = {}
    asked: dict[int, Binding] = {}

    def leaf(d: Dim) -> Dim:
        if isinstance(d, DRef):
            has[id(d.binding)] = d.binding
        return d

    def function(x: Type) -> Type | None:
        if not isinstance(x, Fun):
            return None
        for part in size_uses(x.param):
            asked.update(part)
        own, later = size_uses(x.result)
        asked.update({key: b for key, b in later.items() if key not in own})
        return x

    map_type(t, function, lambda d: map_dim(d, leaf))
    return has, asked


def show_dims(dims: list[Dim]) -> str:
    return "".join(f"[{show_dim(d)}]" for d in dims)


class Path(Use):
    """A name followed by fields: x.y.z."""

    def __init__(self, use: Use, fields: tuple[str, ...]) -> None:
        Use.__init__(self, use.binding, use.types, use.sizes, use.type)
        self.fields = fields
