"""Definitions: what a function is general in, and what is decided at the end of one (literals, patterns)."""

from __future__ import annotations

from typing import Any

from atoll.errors import NOWHERE, Error, fail
from atoll.futhark import syntax as s
from atoll.futhark.automap import automapped
from atoll.futhark.causality import Causality
from atoll.futhark.consume import Consumption
from atoll.futhark.env import Binding, Env, arrows
from atoll.futhark.expressions import Expressions
from atoll.futhark.ftypes import (
    F64,
    I32,
    I64,
    Con,
    Dim,
    DRef,
    DVar,
    Prim,
    TVar,
    Type,
    free_vars,
    has_function,
    map_dim,
    map_type,
    prune,
    prune_dim,
    show,
)
from atoll.futhark.inference import dims_of
from atoll.futhark.recursion import check_uses

_LIMITS = {f"{k}{n}": ((-(2 ** (n - 1)) if k == "i" else 0), 2 ** (n - (k == "i")) - 1) for k in "iu" for n in (8, 16, 32, 64)}


def consumption(name: str, t: Type, params: Any, declared: bool, body: Any) -> None:
    """The rules of uniqueness, for one definition."""
    fns, _ = arrows(t)
    Consumption().function(params, fns, declared, body, name)


_MOST = {"f16": 65520.0, "f32": 3.4028235677973366e38, "f64": 1.7976931348623157e308}


def _named(p: Any) -> list[Any]:
    """The names of a pattern that was not checked yet, and what takes the place of one."""
    match p:
        case s.PName() | s.PWild():
            return [p]
        case s.PTyped(inner) | s.PAttr(inner):
            return _named(inner)
        case s.PRecord(fields):
            return [x for _, sub in fields for x in _named(sub)]
        case s.PCase(_, items):
            return [x for sub in items for x in _named(sub)]
    return []


class Definitions(Expressions):
    def define(self, name: str, node: Any, type_params: Any, params: Any, result: Any, body: Any, env: Env) -> Binding:
        """A definition: its type is general in what its text leaves open."""
        if self.level == 0:
            try:
                return self.defined(name, node, type_params, params, result, body, env)
            except Error as error:
                if getattr(node, "recursive", False) and env.find("values", name) is not None:
                    return self.of_older(error, name, node, type_params, params, result, body, env)
                if error.code == "E1404":
                    return self.with_sizes_of_branches(error, name, node, type_params, params, result, body, env)
                return self.with_maps(error, name, node, type_params, params, result, body, env)
        return self.defined(name, node, type_params, params, result, body, env)

    def with_sizes_of_branches(self, error: Error, *definition: Any) -> Binding:
        """A definition whose branches differ in a size that only later text says: the size of a lambda's parameter may be that of the other branch."""
        self.afresh()
        self.generous = True
        try:
            return self.defined(*definition)
        except Error:
            return self.with_sizes_of_uses(error, *definition)
        finally:
            self.generous = False

    def with_sizes_of_uses(self, error: Error, *definition: Any) -> Binding:
        """A definition whose local functions are used with several sizes. As Futhark does it, types are inferred first, without any sizes:
        then the parameters of local functions have types whose sizes each use says."""
        self.afresh()
        self.strict, self.generous, self.untyped = False, False, []
        try:
            self.defined(*definition)
        except Error:  # what was found out until then is known
            pass
        self.afresh()
        self.strict = True
        self.known = {id(p): p.ty for p in self.untyped if not isinstance(prune(p.ty), TVar)}
        if not self.known:
            raise error
        try:
            return self.defined(*definition)
        except Error as again:
            raise (again if again.code == "E1404" else error) from None
        finally:
            self.known = {}

    untyped: list[Any]  # names in parameters of local functions

    def of_older(self, error: Error, name: str, node: Any, type_params: Any, params: Any, result: Any, body: Any, env: Env) -> Binding:
        """A definition that is not well typed as a recursive one, of a name that had a meaning: as before Futhark had recursion, it mentions the older."""
        self.afresh()
        try:
            return self.defined(name, node, type_params, params, result, body, env, recursive=False)
        except Error:
            raise error from None

    def afresh(self) -> None:
        """What a definition that failed left behind is forgotten."""
        self.level, self.exists, self.literals, self.later, self.open, self.given = 0, [], [], [], [], []

    def with_maps(self, error: Error, name: str, node: Any, type_params: Any, params: Any, result: Any, body: Any, env: Env) -> Binding:
        """A definition that is not well typed as it is written: with implicit maps it may be."""
        self.afresh()
        if error.code != "E1403":
            raise error

        made = automapped(node, type_params, params, result, body, env)
        if made is None:
            raise error
        node.params, node.result, node.body = made
        return self.defined(name, node, type_params, *made, env)

    def defined(self, name: str, node: Any, type_params: Any, params: Any, result: Any, body: Any, env: Env, recursive: bool = True) -> Binding:
        scope = Env(env)
        before = self.clock
        self.level += 1
        cons, sizes = self.parameters(type_params, scope)
        itself = None
        if params and isinstance(node, s.Def):
            node.recursive = False
        if params and isinstance(node, s.Def) and recursive:
            itself = Binding(name, I64, "def", (), tuple(sizes), self.level, node, attrs="itself")
            if name not in {b.name for p in params for b in _named(p) if isinstance(b, s.PName)}:
                scope.values[name] = itself
        t = self.function(params, result, body, scope, itself)
        self.level -= 1
        if self.level and not self.strict:
            self.untyped += [b for p in params for b in _named(p)]
        self.not_also(sizes, params, node.span)
        for con in cons:
            con.level = 0  # outside, it is a name of the scheme only
        for p in params:
            self.irrefutable(p)
        if self.level == 0:
            if self.clock > before:
                self.later.append(lambda: Causality(before).exp(body))
            self.later.append(lambda: consumption(name, t, params, result is not None, body))
            said: list[DVar] = []
            for fn in arrows(t)[0]:
                free_vars(fn.param, [], said)
            self.of_arguments = frozenset(id(d) for d in said)
            self.decide()
        more_types, more_sizes = self.general(t, bool(params) or has_function(t) or self.level == 0)
        if self.level == 0:
            self.nothing_open()
        binding = Binding(name, t, "def" if self.level == 0 else "function", (*cons, *more_types), (*sizes, *more_sizes), self.level, node)
        if not params and self.level == 0 and isinstance(result, s.TUnique):
            fail("E1405", node.span, what=f"The constant {name} may not have a unique type: it is everybody's")
        if not params:
            if sizes and self.level == 0 and any(isinstance(d := prune_dim(x), DRef) and d.binding.born for x in dims_of(t)):
                fail("E1404", node.span, found=show(t), expected="known sizes", why="Unknown size in a size-polymorphic value binding")
            self.settle(t)
        if itself is not None and node.recursive:
            check_uses(name, binding, itself, params, body)
        return binding

    def nothing_open(self) -> None:
        """What stands for a value of any type has a type that something says."""
        waiting, self.open = self.open, []
        given, self.given = [prune_dim(d) for d in self.given], []
        for e, what in waiting:
            dims: list[DVar] = []
            free_vars(e.ty, [], dims)
            if any(prune_dim(d) is d and (isinstance(e, s.Hole) or d not in given) for d in dims):
                fail("E1404", e.span, found=show(e.ty), expected="known sizes", why=f"Ambiguous size in the type of {what}: add an explicit type ascription")

    def settle(self, t: Type) -> None:
        """Sizes that a constant's value knows are like names of this level."""
        def leaf(d: Dim) -> Dim:
            if isinstance(d, DRef):
                d.binding.level = min(d.binding.level, self.level)
            return d

        map_type(t, lambda x: None, lambda d: map_dim(d, leaf))

    def general(self, t: Type, function: bool) -> tuple[list[Con], list[Binding]]:
        types: list[TVar] = []
        dims: list[DVar] = []
        free_vars(t, types, dims)
        cons: list[Con] = []
        sizes: list[Binding] = []
        for var in types:
            if var.level <= self.level or var.link is not None:
                continue
            if var.equality and var.kinds is None and self.level == 0 and function and var.fields is None and var.cases is None:
                fail("E1403", var.span or NOWHERE, found="'a", expected="a type that can be compared", why="A type parameter does not support equality: add a type annotation")
            if self.level > 0:  # what is local is not made general
                var.level = self.level
                continue
            if var.kinds is not None or var.fields is not None or var.cases is not None or not function or var.equality:
                var.level = self.level
                if self.level == 0:
                    self.decide_var(var)
                continue
            con = Con(f"t{len(cons)}", kind="type" if var.unlifted else "lifted")
            con.key = con
            var.link = con
            cons.append(con)
        bounded: list[DVar] = []  # sizes in fields or cases of a type that is not known yet: they are decided with it
        for var in types:
            for part in [*(var.fields or {}).values(), *(p for ps in (var.cases or {}).values() for p in ps)] if var.link is None else []:
                free_vars(part, [], bounded)
        for d in bounded:
            d.level = min(d.level, self.level)
        for d in dims:
            if d.level > self.level and d.link is None and function:
                b = Binding("", I64, "size", level=self.level + 1, declared=True)
                d.link = DRef(b)
                sizes.append(b)
        return cons, sizes

    def decide_var(self, var: TVar) -> None:
        if var.kinds is not None:
            var.link = I32 if "i32" in var.kinds else F64 if "f64" in var.kinds else Prim(var.kinds[0])
        elif var.fields is not None or var.cases is not None:
            fail("E1403", var.span or NOWHERE, found=show(var), expected="one type", why=f"Type is ambiguous (must be a record with at least the fields {', '.join(var.fields)})" if var.fields else "Type is ambiguous: the other constructors of the sum type are not known. Add a type annotation to disambiguate the type")

    def float_fits(self, e: Any) -> None:
        if isinstance(prune(e.ty), TVar):
            self.decide_var(prune(e.ty))  # type: ignore[arg-type]
        t = prune(e.ty)
        if isinstance(t, Prim) and t.name in _MOST and abs(e.value) > _MOST[t.name]:
            fail("E1403", e.span, found=str(e.value), expected=t.name, why=f"Literal {e.value} out of bounds for inferred type {t.name}")

    def decide(self) -> None:
        """The end of a definition: literals that nothing decided get their usual types, and what waited for types is checked."""
        literals, self.literals = self.literals, []
        for e in literals:
            if e.kind == "float":
                self.float_fits(e)
                continue
            t = prune(e.ty)
            if isinstance(t, TVar):
                self.decide_var(t)
            t = prune(e.ty)
            if isinstance(t, Prim) and e.kind == "int" and t.name in _LIMITS and e.suffix is None:  # with a suffix it wraps
                low, high = _LIMITS[t.name]
                if e.info == "negated" and low == 0 and e.value > 0:
                    fail("E1403", e.span, found=f"-{e.value}", expected=t.name, why=f"Literal -{e.value} out of bounds for inferred type {t.name}")
                if not low <= e.value <= high + (1 if low and e.info == "negated" else 0):
                    fail("E1403", e.span, found=str(e.value), expected=t.name, why=f"Literal {e.value} out of bounds for inferred type {t.name}")
        later, self.later = self.later, []
        for check in later:
            check()
