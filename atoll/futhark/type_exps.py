"""Type expressions to types. Sizes are expressions over the variables in scope; `[]` is what the place of the type says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.errors import Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.env import Binding, Env, TypeAbbr, substitute
from atoll.futhark.ftypes import (
    I64,
    PRIMS,
    Arr,
    Con,
    DExp,
    Dim,
    DOp,
    DRef,
    DVar,
    Fun,
    Prim,
    Rec,
    Sum,
    Type,
    has_function,
    map_dim,
    map_type,
    names_in,
    of_few_parts,
    prune,
    prune_dim,
    show,
)
from atoll.futhark.unify import BOTTOM, Mismatch, SizeMismatch, is_dim, unify

Diet = Any  # True: consumed; a dict of them by fields; None


COERCE = "write `:>` with the size you know it has; it is checked when the program runs"


class TypeExps:
    """The part of the checker that knows about types."""

    level: int = 0
    strict: bool = True

    def exp(self, e: Any, env: Env, wanted: Type | None = None) -> Type:
        raise NotImplementedError

    def unknown(self, name: str = "unknown") -> Binding:
        """A size that only a value knows."""
        self.clock += 1
        return Binding(name, I64, "size", level=self.level, born=self.clock)

    clock = 0  # how many such sizes there are

    def equal(self, a: Type, b: Type, span: Span, what: str = "") -> None:
        late: list[SizeMismatch] = []
        try:
            unify(a, b, late)
        except Mismatch as problem:
            fail("E1403", span, found=show(a), expected=show(b), why=str(problem))
        self.same_diets(a, b, span)
        if late and self.strict:
            fail("E1404", span, found=show(a), expected=show(b), why=str(late[0]), help="" if late[0].never else COERCE)

    def same_diets(self, found: Type, expected: Type, span: Span) -> None:
        """A function that consumes its argument does not stand for one that does not."""
        found, expected = prune(found), prune(expected)
        while isinstance(found, Fun) and isinstance(expected, Fun):
            if found.consumes and not expected.consumes:
                fail("E1405", span, what=f"A function of type {show(found)} that consumes its argument does not have expected type {show(expected)}, of one that does not")
            found, expected = prune(found.result), prune(expected.result)

    # -- sizes

    def dim_of(self, e: Any, env: Env, check: bool = True) -> Dim:
        """A size expression as a size."""
        if check:
            if isinstance(e, s.Var) and len(e.name) == 1 and env.find("values", e.name[0]) is None:
                fail("E1402", e.span, what="variable", name=e.name[0], help=f"a size is declared before the parameters that have it: [{e.name[0]}]")
            self.equal(self.exp(e, env), I64, e.span)
            consumed_in(e)
        return self.dim_of_checked(e)

    def dim_of_checked(self, e: Any) -> Dim:
        match e:
            case s.Lit(value=int(n)) if not isinstance(n, bool):
                return n
            case s.Var() if e.info is not None and not hasattr(e.info, "fields"):
                return DRef(itself(e.info.binding))
            case s.BinOp(op=(op,)) if op in ("+", "-", "*", "/", "//", "%", "**"):
                return DOp(op, self.dim_of_checked(e.left), self.dim_of_checked(e.right))
            case s.Ascribe(value=value) | s.Attr(value=value) | s.Assert(value=value):
                return self.dim_of_checked(value)
        return DExp(e, key_of(e))

    def dim_of_argument(self, e: Any, t: Type) -> Dim:
        """An argument in a size that is about it: only i64 is counted with as sizes are."""
        return self.dim_of_checked(e) if isinstance(e, s.Var) or prune(t) == I64 else DExp(e, key_of(e))

    # -- types

    def type_exp(self, t: Any, env: Env, anonymous: Callable[[], Dim], diet: list[Diet] | None = None) -> Type:
        """The type an expression denotes; `diet` gets what is marked as unique."""
        match t:
            case s.TName() | s.TApply():
                return self.named(t, env, anonymous, diet)
            case s.TArray(size, elem):
                dim = anonymous() if size.value is None else self.dim_of(size.value, env)
                inner = self.type_exp(elem, env, anonymous)  # an array is as unique as it is said to be outside
                self.not_lifted(elem, env, "an element of an array")
                if has_function(inner) and isinstance(prune(inner), (Fun, Con)):
                    fail("E1403", t.span, found=show(inner), expected="an element of an array", why="arrays of functions, or of types that may be functions, do not exist")
                return Arr(dim, inner)
            case s.TRecord(fields):
                diets: dict[str, Diet] = {}
                made: dict[str, Type] = {}
                for name, x in fields:
                    if name in made:
                        fail("E1406", t.span, what=f"Duplicate field {name!r} in record type")
                    part: list[Diet] = []
                    made[name] = self.type_exp(x, env, anonymous, part)
                    if part:
                        diets[name] = part[0]
                if diets and diet is not None:
                    diet.append(diets)
                return of_few_parts(Rec(made), t.span)
            case s.TSum(cases):
                found: dict[str, tuple[Type, ...]] = {}
                for name, items in cases:
                    if name in found:
                        fail("E1406", t.span, what=f"Duplicate constructor #{name} in sum type")
                    found[name] = tuple(self.type_exp(x, env, anonymous) for x in items)
                if len(found) > 256:
                    fail("E1406", t.span, what=f"Sum types must have at most 256 constructors; this one has {len(found)}")
                return Sum(found)
            case s.TArrow():
                return self.arrow(t, env)
            case s.TUnique(inner):
                if diet is not None:
                    diet.append(True)
                return self.type_exp(inner, env, anonymous)
            case s.TExists(names, inner):
                scope = Env(env)
                made_sizes = [self.unknown(n) for n in names]
                for b in made_sizes:
                    scope.values[b.name] = b
                result = self.type_exp(inner, scope, anonymous, diet)
                self.witnessed(made_sizes, result, t.span)
                self.opened(made_sizes)
                return result
        raise AssertionError(t)

    def not_lifted(self, t: Any, env: Env, where: str) -> None:
        """The name of a type that may have no fixed size, or be a function, where that cannot be."""
        head = t
        while isinstance(head, s.TApply):  # as lifted as its arguments
            if not isinstance(head.arg, s.Size):
                self.not_lifted(head.arg, env, where)
            head = head.fn
        if isinstance(head, s.TName):
            abbr = env.find("types", head.name[0]) if len(head.name) == 1 else None
            if isinstance(abbr, TypeAbbr) and abbr.lifted:
                fail("E1403", t.span, found=abbr.name, expected=where, why=f'The type "{abbr.name}" is lifted: it may not contain size-lifted or functional types where it is {where}')

    def all_sized(self, t: Any, env: Env) -> None:
        """A type that is not lifted has no lifted parts."""
        match t:
            case s.TName() | s.TApply():
                self.not_lifted(t, env, "in a type that is not lifted")
            case s.TRecord(fields):
                for _, x in fields:
                    self.all_sized(x, env)
            case s.TUnique(inner):
                self.all_sized(inner, env)

    def witnessed(self, sizes: list[Binding], t: Type, span: Any) -> None:
        """A size bound by ?[n]. is that of an array of the type, not only of what a function in it takes or gives."""
        seen: set[int] = set()

        def dim(d: Dim) -> Dim:
            d = prune_dim(d)
            if isinstance(d, DRef):
                seen.add(id(d.binding))
            return d

        map_type(t, lambda x: x if isinstance(x, Fun) else None, dim)
        for b in sizes:
            if id(b) not in seen:
                fail("E1406", span, what=f'Existential size "{b.name}" not used as array size')

    def opened(self, sizes: list[Binding]) -> None:
        """Sizes bound by ?[n]. in a type; the arrow around takes them."""
        self.exists.extend(sizes)

    exists: list[Binding]

    def arrow(self, t: s.TArrow, env: Env) -> Type:
        diet: list[Diet] = []
        self.level += 1
        try:
            own: list[Binding] = []

            def fresh_param() -> Dim:
                own.append(self.unknown(""))
                return DRef(own[-1])

            param = self.type_exp(t.param, env, lambda: DVar(self.level), diet)
            scope = Env(env)
            name = None
            if t.name is not None:
                name = Binding(t.name, param, "local", level=BOTTOM)
                scope.values[t.name] = name
            made: list[Binding] = []

            def fresh() -> Dim:
                made.append(self.unknown(""))
                return DRef(made[-1])

            before, self.exists = self.exists, []
            result_diet: list[Diet] = []
            result = self.type_exp(t.result, scope, fresh, result_diet)
            made += self.exists
            self.exists = before
        finally:
            self.level -= 1
        for b in made:
            b.level = BOTTOM
        return Fun(param, result, name, tuple(made), diet[0] if diet else None, result_diet[0] if result_diet else False)

    def named(self, t: Any, env: Env, anonymous: Callable[[], Dim], diet: list[Diet] | None = None) -> Type:
        args: list[Any] = []
        head = t
        while isinstance(head, s.TApply):
            args.insert(0, head.arg)
            head = head.fn
        if not isinstance(head, s.TName):
            fail("E1403", t.span, found="this type", expected="a type constructor", why="only names of types take arguments")
        if len(head.name) == 1 and head.name[0] in PRIMS and env.find("types", head.name[0]) is None:
            if args:
                fail("E1403", t.span, found=head.name[0], expected="a type constructor", why="it takes no arguments")
            return Prim(head.name[0])
        abbr: TypeAbbr = env.qualified("types", head.name, head.span, "type")
        if len(args) != len(abbr.params):
            fail("E1403", t.span, found=f"{len(args)} arguments", expected=f"{len(abbr.params)}", why=f"Type constructor {abbr.name!r} requires {len(abbr.params)} arguments")
        types: dict[int, Type] = {}
        sizes: dict[int, Dim] = {}
        for param, arg in zip(abbr.params, args, strict=True):
            if isinstance(param, Binding):
                if not isinstance(arg, s.Size):
                    fail("E1403", arg.span, found="a type", expected="a size in brackets", why=f"the parameter {param.name!r} is a size")
                sizes[id(param)] = anonymous() if arg.value is None else self.dim_of(arg.value, env)
            else:
                if isinstance(arg, s.Size):
                    fail("E1403", arg.span, found="a size", expected="a type", why=f"the parameter {param.name!r} is a type")
                types[id(param)] = self.type_exp(arg, env, anonymous)
        for b in abbr.anonymous:
            sizes[id(b)] = anonymous()
        if diet is not None and abbr.diet is not None:
            diet.append(abbr.diet)
        return substitute(abbr.type, types, sizes)

    def parameters(self, params: list[s.TypeParam], scope: Env) -> tuple[list[Con], list[Binding]]:
        """Type and size parameters, put into scope."""
        cons: list[Con] = []
        sizes: list[Binding] = []
        seen: set[str] = set()
        for p in params:
            if p.name in seen:
                fail("E1406", p.span, what=f"Type parameter {p.name!r} is given twice")
            seen.add(p.name)
            if p.kind == "size":
                b = Binding(p.name, I64, "size", level=self.level, declared=True)
                scope.values[p.name] = b
                sizes.append(b)
            else:
                con = Con(p.name, kind=p.kind, level=self.level)
                con.key = con
                scope.types[p.name] = TypeAbbr(p.name, (), con)
                cons.append(con)
        return cons, sizes

    def abbreviation(self, d: s.TypeDef, env: Env) -> TypeAbbr:
        """type x params = t"""
        assert d.type is not None
        scope = Env(env)
        cons, sizes = self.parameters(d.params, scope)
        made: list[Binding] = []

        def fresh() -> Dim:
            made.append(self.unknown(""))
            return DRef(made[-1])

        before, self.exists = self.exists, []
        diet: list[Diet] = []
        body = self.type_exp(d.type, scope, fresh, diet)
        made += self.exists
        self.exists = before
        if not d.lifted:
            self.all_sized(d.type, scope)
        if made and not d.lifted:
            fail("E1404", d.span, found=show(body), expected="a type of known size", why="Non-size-lifted type abbreviations may not contain anonymous sizes: write type~")
        if isinstance(prune(body), Fun) and _open_parameter(prune(body)):
            fail("E1404", d.span, found=show(body), expected="sizes with names", why="Type abbreviations may not have anonymous sizes in parameters of functions")
        if has_function(body) and d.lifted != "^":
            fail("E1403", d.span, found=show(body), expected="a type without functions", why="Non-lifted type abbreviations may not contain functions: write type^")
        used: set[int] = set()
        _occurring(body, used)
        for b in sizes:
            if id(b) not in used:
                fail("E1404", d.span, found=show(body), expected=f"a type with {b.name}", why=f"Size parameter {b.name!r} unused.")
        by_name: dict[str, Any] = {c.name: c for c in cons} | {b.name: b for b in sizes}
        return TypeAbbr(d.name, tuple(by_name[p.name] for p in d.params), body, tuple(made), d.lifted, diet[0] if diet else None)


def consumed_in(e: Any) -> None:
    """A size expression does not consume what it is about."""
    match e:
        case s.Apply(fn, arg):
            t = prune(fn.ty)
            if isinstance(t, Fun) and t.consumes and isinstance(arg, s.Var):
                fail("E1405", arg.span, what=f'"{arg.name[-1]}" is not consumable in a size expression')
            consumed_in(fn)
            consumed_in(arg)
        case s.BinOp(left=left, right=right):
            consumed_in(left)
            consumed_in(right)


def _open_parameter(t: Any) -> bool:
    """Whether a parameter of a function has a size []."""
    found: list[Any] = []

    def dim(d: Dim) -> Dim:
        if isinstance(prune_dim(d), DVar):
            found.append(d)
        return d

    while isinstance(t, Fun):
        map_type(t.param, lambda x: x if isinstance(x, Fun) else None, dim)
        t = prune(t.result)
    return bool(found)


def _occurring(t: Type, found: set[int]) -> None:
    def leaf(d: Dim) -> Dim:
        if isinstance(d, DRef):
            found.add(id(d.binding))
        if isinstance(d, DExp):
            found.update(names_in(d.key))
        return d

    map_type(t, lambda x: None, lambda d: map_dim(d, leaf))


def itself(b: Binding) -> Binding:
    """What a member seen through a module type is: the same number, whichever way it is named."""
    while b.kind == "alias" and b.target is not None:
        b = b.target.binding
    return b


def key_of(e: Any) -> Any:
    """What makes two expressions the same size: their form and what their names mean."""
    if isinstance(e, s.Var):
        name = "var", id(itself(e.info.binding))
        return ("path", name, e.info.fields) if hasattr(e.info, "fields") else name
    if isinstance(e, s.Lit):
        return "lit", e.value
    if isinstance(e, (s.Ascribe, s.Attr)):
        return key_of(e.value)
    if isinstance(e, s.Node):
        from dataclasses import fields

        parts = [key_of(getattr(e, f.name)) for f in fields(e) if f.name not in (*s.CHECKED, "fn") or (f.name == "fn" and isinstance(e, s.Apply))]
        return (type(e).__name__, *parts)
    if isinstance(e, (list, tuple)):
        return tuple(map(key_of, e))
    if isinstance(e, s.Dim):
        return key_of([e.low, e.high, e.step])
    return e


__all__ = ["Diet", "TypeExps", "is_dim", "key_of"]
