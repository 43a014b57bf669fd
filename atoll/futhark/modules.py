"""Modules: declarations, module types, and functors by applying them: a body is checked once for its parameter's module type and again for every argument."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath
from typing import Any

from atoll.errors import NOWHERE, Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.definitions import Definitions
from atoll.futhark.env import Binding, Env, Functor, Module, Sig, TypeAbbr, arrows, instantiate, substitute
from atoll.futhark.ftypes import I64, Con, Dim, DRef, Fun, Type, has_function, map_type, prune, prune_dim, show
from atoll.futhark.parse import parse
from atoll.futhark.unify import Mismatch, unify


def copy_syntax(x: Any) -> Any:
    """A copy that can be checked anew."""
    if isinstance(x, s.Node):
        made = {f.name: copy_syntax(getattr(x, f.name)) for f in dataclasses.fields(x) if f.name not in s.CHECKED}
        return type(x)(**made, span=x.span)
    if isinstance(x, s.Dim):
        return s.Dim(x.slice, copy_syntax(x.low), copy_syntax(x.high), copy_syntax(x.step))
    if isinstance(x, list):
        return [copy_syntax(item) for item in x]
    if isinstance(x, tuple):
        return tuple(copy_syntax(item) for item in x)
    return x


SPACES = ("values", "types", "mods", "sigs")


class Modules(Definitions):
    def __init__(self, prelude: Env | None) -> None:
        self.prelude = prelude
        self.level = 0
        self.exists = []
        self.literals = []
        self.later = []
        self.open, self.given = [], []
        self.entries: list[tuple[s.Def, Binding]] = []
        self.files: dict[str, Env | None] = {}
        self.folder: FilePath | None = None
        self.at_top = True
        self.in_module = False
        self.also: frozenset[str] = frozenset()  # definitions that are entry points because a test names them

    # -- declarations

    def program(self, decs: list[s.Dec]) -> Env:
        env = Env(self.prelude)
        self.decs(decs, env)
        return env

    def decs(self, decs: list[Any], env: Env) -> None:
        own: set[tuple[str, str]] = set()
        for d in decs:
            self.dec(d, env, own)

    def once(self, own: set[tuple[str, str]], space: str, name: str, span: Span) -> None:
        if (space, name) in own:
            words = {"values": "value", "types": "type", "mods": "module", "sigs": "module type"}
            fail("E1406", span, what=f"Duplicate definition of {words[space]} {name}")
        own.add((space, name))

    def dec(self, d: Any, env: Env, own: set[tuple[str, str]]) -> None:
        match d:
            case s.Def():
                self.once(own, "values", d.name, d.span)
                if d.name in ("&&", "||"):
                    fail("E1406", d.span, what=f"The {d.name} operator may not be redefined")
                binding = self.define(d.name, d, d.type_params, d.params, d.result, d.body, env)
                env.values[d.name] = binding
                d.info = binding
                env.hidden.discard(("values", d.name))
                if d.entry and self.in_module:
                    fail("E1406", d.span, what="Entry points may not be declared inside modules")
                if self.at_top and (d.entry or d.name == "main" or d.name in self.also):
                    self.check_entry(d, binding)
                    self.entries.append((d, binding))
            case s.TypeDef():
                self.once(own, "types", d.name, d.span)
                env.types[d.name] = self.abbreviation(d, env)
                env.hidden.discard(("types", d.name))
            case s.ModDef():
                self.once(own, "mods", d.name, d.span)
                body: Any = d.body
                if d.sig is not None:
                    body = s.MAscribe(body, d.sig, span=d.span)
                for name, sig in reversed(d.params):
                    body = s.MLambda(name, sig, None, body, span=d.span)
                env.mods[d.name] = self.module(body, env)
                env.hidden.discard(("mods", d.name))
            case s.SigDef():
                self.once(own, "sigs", d.name, d.span)
                env.sigs[d.name] = Sig(d.sig, env_copy(env))
                env.hidden.discard(("sigs", d.name))
                self.abstract(d.sig, env, d.span)
            case s.OpenDec(body):
                found = self.module(body, env)
                if not isinstance(found, Env):
                    fail("E1406", d.span, what="Cannot open a parametric module")
                env.open(found)
            case s.Import(path):
                found = self.file(path, d.span)
                env.open(found)
                env.hidden.update((space, k) for space in SPACES for k in getattr(found, space))  # an import is not handed on
            case s.Local(inner):
                before = {space: dict(getattr(env, space)) for space in ("values", "types", "mods", "sigs")}
                self.dec(inner, env, own)
                for space, names in before.items():
                    for name, value in getattr(env, space).items():
                        if names.get(name) is not value:
                            env.hidden.add((space, name))

    def check_entry(self, d: s.Def, binding: Binding) -> None:
        if binding.types:
            fail("E1406", d.span, what=f"Entry point functions may not be polymorphic: {d.name} is")
        if not d.entry:
            return
        t: Any = binding.type

        params, result = arrows(t)
        for fn in params:
            if has_function(fn.param):
                fail("E1406", d.span, what="Entry point functions may not be higher-order")
        if has_function(result):
            fail("E1406", d.span, what="Entry point functions may not be higher-order")
        plain = {id(dim.binding) for fn in params for dim in dims_of(fn.param) if isinstance(dim, DRef)}
        for size in binding.sizes:
            if size.name and params and id(size) not in plain:
                fail("E1406", d.span, what=f"Entry point: the size [{size.name}] is not used constructively by the parameters")

    def file(self, path: str, span: Span) -> Env:
        if path.startswith("/prelude/"):
            return Env()
        base = self.folder or FilePath(".")
        file = (base / (path + ".fut")).resolve() if not path.startswith("/") else FilePath(path + ".fut")
        key = str(file)
        if key in self.files:
            known = self.files[key]
            if known is None:
                fail("E1406", span, what=f"Import cycle through {path!r}")
            return known
        if not file.is_file():
            fail("E1402", span, what="file", name=path)

        self.files[key] = None
        decs = parse(file.read_text(encoding="utf-8"), str(file))
        folder, top, self.folder, self.at_top = self.folder, self.at_top, file.parent, False
        inside, self.in_module = self.in_module, False
        try:
            env = self.program(decs)
        finally:
            self.folder, self.at_top, self.in_module = folder, top, inside
        self.files[key] = env
        return env

    # -- module expressions

    def module(self, m: Any, env: Env) -> Module:
        match m:
            case s.MName(name):
                if name == ("intrinsics",) and self.prelude is not None:
                    fail("E1406", m.span, what="The 'intrinsics' module may not be used in module expressions")
                return env.qualified("mods", name, m.span, "module")
            case s.MDecs(decs):
                made = Env(env)
                top, self.at_top = self.at_top, False
                inside, self.in_module = self.in_module, True
                self.decs(decs, made)
                self.at_top, self.in_module = top, inside
                return made
            case s.MImport(path):
                return self.file(path, m.span)
            case s.MAscribe(value, sig):
                return self.ascribe(self.module(value, env), sig, env, m.span, opaque=True)
            case s.MLambda(name, param, result, body):
                functor = Functor(name, param, result, body, env_copy(env))
                scope = Env(env)
                scope.mods[name] = self.abstract(param, env, m.span)
                top, self.at_top = self.at_top, False
                checked = self.module(copy_syntax(body), scope)
                if result is not None:
                    self.ascribe(checked, result, scope, m.span, opaque=False)
                self.at_top = top
                return functor
            case s.MApply(fn, arg):
                functor = self.module(fn, env)
                if not isinstance(functor, Functor):
                    fail("E1406", m.span, what="Cannot apply non-parametric module")
                return self.applied(functor, self.module(arg, env), m.span)
        raise AssertionError(m)

    def applied(self, functor: Functor, arg: Module, span: Span) -> Module:
        scope = Env(functor.env)
        given = self.ascribe(arg, functor.param, functor.env, span, opaque=False)
        if functor.name is not None:
            scope.mods[functor.name] = given
        if functor.body is None:
            assert functor.abstract_result is not None
            return self.abstract(functor.abstract_result, scope, span)
        top, self.at_top = self.at_top, False
        made = self.module(copy_syntax(functor.body), scope)
        self.at_top = top
        return made if functor.result is None else self.ascribe(made, functor.result, scope, span, opaque=True)

    # -- module types

    def abstract(self, sig: Any, env: Env, span: Span) -> Module:
        """A module of which only the module type is known."""
        return _Matching(self, None, span, True).match(sig, env)

    def ascribe(self, module: Module, sig: Any, env: Env, span: Span, opaque: bool) -> Module:
        return _Matching(self, module, span, opaque).match(sig, env)


def dims_of(t: Type) -> list[Dim]:
    found: list[Dim] = []

    def on_dim(d: Dim) -> Dim:
        found.append(prune_dim(d))
        return d

    map_type(t, lambda x: None, on_dim)
    return found


def env_copy(env: Env) -> Env:
    """What is in scope now; later definitions do not show."""
    made = Env(env.parent)
    made.values, made.types, made.mods, made.sigs = dict(env.values), dict(env.types), dict(env.mods), dict(env.sigs)
    return made


class _Matching:
    """A module seen through a module type. Types are known in `inside`, and abstract in `outside` where the ascription is opaque."""

    def __init__(self, checker: Modules, module: Module | None, span: Span, opaque: bool) -> None:
        self.c, self.module, self.span, self.opaque = checker, module, span, opaque
        self.given: dict[s.Name, TypeAbbr] = {}
        self.given_outside: dict[s.Name, TypeAbbr] = {}  # the same, where what is seen from outside is not what it is inside: `include t with cell = cell`

    def match(self, sig: Any, env: Env, inside: Env | None = None, outside: Env | None = None) -> Module:
        match sig:
            case s.SName(name):
                found: Sig = env.qualified("sigs", name, sig.span, "module type")
                if inside is not None and outside is not None:
                    self.include(found.exp, found.env, inside, outside)
                    return outside
                return self.match(found.exp, found.env)
            case s.SWith(inner, name, params, type_):
                abbr = self.abbreviated(s.TypeDef(name[-1], "", params, type_, span=sig.span), env)
                self.check_type_exists(inner, env, name, abbr, sig.span)
                self.given[name] = abbr
                return self.match(inner, env, inside, outside)
            case s.SSpecs():
                if inside is not None and outside is not None:
                    self.include(sig, env, inside, outside)
                    return outside
                if self.module is not None and not isinstance(self.module, Env):
                    fail("E1406", self.span, what="A parametric module is given where a module is expected")
                inside, outside = Env(env), Env(env)
                self.include(sig, env, inside, outside)
                return outside
            case s.SArrow(name, param, result):
                if self.module is None:
                    return Functor(name, param, None, None, env, abstract_result=result)
                if not isinstance(self.module, Functor):
                    fail("E1406", self.span, what="A parametric module is expected here, this one has no parameters")
                scope = Env(env)
                given = self.c.abstract(param, env, self.span)
                if name is not None:
                    scope.mods[name] = given
                made = self.c.applied(self.module, given, self.span)
                self.c.ascribe(made, result, scope, self.span, opaque=False)
                functor = self.module
                return Functor(functor.name, functor.param, functor.result, functor.body, functor.env, abstract_result=functor.abstract_result)
        raise AssertionError(sig)

    def abbreviated(self, spec: s.TypeDef, env: Env) -> TypeAbbr:
        """A type that a module type says, whatever it is."""
        made = self.c.abbreviation(dataclasses.replace(spec, lifted="^"), env)
        made.lifted = spec.lifted
        return made

    def check_type_exists(self, sig: Any, env: Env, name: s.Name, abbr: TypeAbbr, span: Span) -> None:
        shown = self.c.abstract(sig, env, span) if not self.given else None
        if isinstance(shown, Env):
            at: Any = shown
            for part in name[:-1]:
                at = at.mods.get(part)
            if at is None or name[-1] not in at.types:
                fail("E1406", span, what=f"Module type does not define type {'.'.join(name)}")
            if [isinstance(p, Binding) for p in at.types[name[-1]].params] != [isinstance(p, Binding) for p in abbr.params]:
                fail("E1406", span, what=f"Cannot refine a type having other parameters: {'.'.join(name)}")
            for p, q in zip(at.types[name[-1]].params, abbr.params, strict=True):
                if isinstance(p, Con) and isinstance(q, Con) and p.kind == "lifted" and q.kind != "lifted":
                    fail("E1406", span, what=f"Cannot refine a type whose parameter may be a function by one whose may not: {'.'.join(name)}")
            if not isinstance(at.types[name[-1]].type, Con) or at.types[name[-1]].type.real is not None or at.types[name[-1]].type.key == "concrete":
                fail("E1406", span, what=f"The type {'.'.join(name)} is not abstract in this module type")

    def include(self, sig: Any, env: Env, inside: Env, outside: Env) -> None:
        if not isinstance(sig, s.SSpecs):
            self.match(sig, env, inside, outside)
            return
        if inside.parent is not env:  # names of the included module type are its own, besides those given so far
            inner_in, inner_out = Env(env), Env(env)
            inner_in.open(inside)
            inner_out.open(outside)
            self.include(sig, env, inner_in, inner_out)
            inside.open(inner_in)
            outside.open(inner_out)
            return
        own: set[tuple[str, str]] = set()
        for spec in sig.specs:
            self.spec(spec, inside, outside, own)

    def spec(self, spec: Any, inside: Env, outside: Env, own: set[tuple[str, str]]) -> None:
        match spec:
            case s.Include(sig):
                self.match(sig, inside, inside, outside) if isinstance(sig, s.SName) else self.include_other(sig, inside, outside)
            case s.TypeDef():
                self.c.once(own, "types", spec.name, spec.span)
                self.type_spec(spec, inside, outside)
            case s.ValSpec():
                self.c.once(own, "values", spec.name, spec.span)
                self.value_spec(spec, inside, outside)
            case s.ModSpec(name, sig):
                self.c.once(own, "mods", spec.name, spec.span)
                actual = None
                if self.module is not None:
                    actual = self.module.mods.get(name)
                    if actual is None:
                        fail("E1406", self.span, what=f"Missing definition of module {name}")
                sub = _Matching(self.c, actual, self.span, self.opaque)
                sub.given = {n[1:]: abbr for n, abbr in self.given.items() if n[0] == name and len(n) > 1}
                made = sub.match_both(sig, inside, outside)
                outside.mods[name] = made
                inside.mods[name] = made if actual is None or not self.opaque else _Matching(self.c, actual, self.span, False).match(sig, inside)

    def match_both(self, sig: Any, inside: Env, outside: Env) -> Module:
        """A module in a module: its module type mentions types of the one around it, which are what they are inside."""
        if isinstance(sig, s.SWith):
            spec = s.TypeDef(sig.name[-1], "", sig.params, sig.type, span=sig.span)
            self.given[sig.name], self.given_outside[sig.name] = self.abbreviated(spec, inside), self.abbreviated(spec, outside)
            return self.match_both(sig.sig, inside, outside)
        if not isinstance(sig, s.SSpecs) or not (self.module is None or isinstance(self.module, Env)):
            return self.match(sig, outside)
        own: set[tuple[str, str]] = set()
        inner_in, inner_out = Env(inside), Env(outside)
        for each in sig.specs:
            self.spec(each, inner_in, inner_out, own)
        return inner_out

    def include_other(self, sig: Any, inside: Env, outside: Env) -> None:
        if isinstance(sig, s.SWith):
            spec = s.TypeDef(sig.name[-1], "", sig.params, sig.type, span=sig.span)
            before = dict(self.given), dict(self.given_outside)
            self.given[sig.name], self.given_outside[sig.name] = self.abbreviated(spec, inside), self.abbreviated(spec, outside)
            self.spec(s.Include(sig.sig, span=sig.span), inside, outside, set())
            self.given, self.given_outside = before
        else:
            self.include(sig, inside, inside, outside)

    def type_spec(self, spec: s.TypeDef, inside: Env, outside: Env) -> None:
        name = spec.name
        actual = self.module.types.get(name) if isinstance(self.module, Env) and ("types", name) not in self.module.hidden else None
        if self.module is not None and actual is None:
            fail("E1406", self.span, what=f"Missing definition of type {name}")
        if actual is not None and [isinstance(p, Binding) for p in actual.params] != [p.kind == "size" for p in spec.params]:
            fail("E1406", self.span, what=f"Module defines type {name} with other parameters than the module type says")
        given = self.given.get((name,))
        if spec.type is not None or given is not None:
            wanted = given if given is not None else self.abbreviated(spec, inside)
            if actual is not None:
                self.same(actual, wanted, name)
            inside.types[name] = wanted
            outside.types[name] = self.given_outside.get((name,), wanted) if given is not None else self.abbreviated(spec, outside)
            return
        if actual is not None:
            order = {"": 0, "~": 1, "^": 2}
            if order[actual.lifted] > order[spec.lifted]:
                fail("E1406", self.span, what=f'The type "{name}" is more lifted than the module type says')
            if spec.lifted != "^" and has_function(actual.type):
                fail("E1406", self.span, what=f"Type {name} is functional, but the module type says it is not lifted")
            if actual.anonymous and not spec.lifted:
                fail("E1406", self.span, what=f"Module defines the size-lifted type {name}, but the module type wants one of known size")
            inside.types[name] = actual
            if not self.opaque:
                outside.types[name] = actual
                return
        params, sizes = self.c.parameters(spec.params, Env())
        by_name: dict[str, Any] = {c.name: c for c in params} | {b.name: b for b in sizes}
        ordered = tuple(by_name[p.name] for p in spec.params)

        def real(args: tuple[Any, ...]) -> Type:
            assert actual is not None
            types = {id(p): a for p, a in zip(actual.params, args, strict=True) if not isinstance(p, Binding)}
            dims = {id(p): a for p, a in zip(actual.params, args, strict=True) if isinstance(p, Binding)}
            return substitute(actual.type, types, dims)

        if actual is not None:
            self.constructive(actual)
        con = Con(name, tuple(DRef(p) if isinstance(p, Binding) else p for p in ordered), object(), real if actual is not None else None, {"^": "lifted", "~": "lifted size"}.get(spec.lifted, "type"))
        if not con.args:
            con.key = con
        outside.types[name] = TypeAbbr(name, ordered, con, (), spec.lifted)
        if actual is None:
            inside.types[name] = outside.types[name]

    def constructive(self, actual: TypeAbbr) -> None:
        """A value of an abstract type knows the sizes that are its parameters: each is the size of an array in it."""
        found: set[int] = set()

        def dim(d: Dim) -> Dim:
            d = prune_dim(d)
            if isinstance(d, DRef):
                found.add(id(d.binding))
            return d

        map_type(actual.type, lambda x: x if isinstance(x, Fun) else None, dim)
        for p in actual.params:
            if isinstance(p, Binding) and id(p) not in found:
                fail("E1406", self.span, what=f"Type {actual.name} = {show(actual.type)}: the size parameter {p.name!r} is not used constructively: it is the size of no array")

    def same(self, actual: TypeAbbr, wanted: TypeAbbr, name: str) -> None:
        types: dict[int, Type] = {}
        sizes: dict[int, Dim] = {}
        if len(actual.params) != len(wanted.params):
            fail("E1406", self.span, what=f"Type {name} has other parameters than the module type says")
        for p, q in zip(actual.params, wanted.params, strict=True):
            if isinstance(p, Binding):
                sizes[id(p)] = DRef(q)
            else:
                types[id(p)] = q
        try:
            unify(substitute(actual.type, types, sizes), wanted.type, [])
        except Mismatch:
            fail("E1406", self.span, what=f"Module defines type {name} = {show(actual.type)}, but the module type requires {show(wanted.type)}")

    def value_spec(self, spec: s.ValSpec, inside: Env, outside: Env) -> None:
        made, cons_out, sizes_out = self.value_type(spec, outside)
        alias = Binding(spec.name, made, "abstract", tuple(cons_out), tuple(sizes_out), 0)
        outside.values[spec.name] = alias
        inside.values[spec.name] = alias
        if self.module is None:
            return
        actual = self.module.values.get(spec.name)
        if actual is None or ("values", spec.name) in self.module.hidden:
            fail("E1406", self.span, what=f"Missing definition of value {spec.name}")
        if prune(actual.type) == I64:  # a size in later types
            inside.values[spec.name] = actual
        wanted, cons, sizes = self.value_type(spec, inside)
        use = instantiate(actual, 2, spec.span if spec.span is not NOWHERE else self.span)
        late: list[Any] = []
        try:
            unify(use.type, wanted, late)
        except Mismatch as problem:
            fail("E1406", self.span, what=f"Module defines value {spec.name} : {show(actual.type)}, but the module type requires {show(wanted)}: {problem}")
        if late and self.c.strict:
            fail("E1406", self.span, what=f"Module defines value {spec.name} : {show(actual.type)}, but the module type requires {show(wanted)}: {late[0]}")
        self.same_uniqueness(spec.name, use.type, wanted)
        alias.kind, alias.target = "alias", use
        alias.attrs = list(zip(cons_out, cons, strict=False)), list(zip(sizes_out, sizes, strict=False))

    def same_uniqueness(self, name: str, found: Type, wanted: Type) -> None:
        """What the module type says is unique must be, and what is consumed must be said to be."""
        found, wanted = prune(found), prune(wanted)
        while isinstance(found, Fun) and isinstance(wanted, Fun):
            if (found.consumes and not wanted.consumes) or (wanted.fresh and not found.fresh):
                fail("E1406", self.span, what=f"Module defines value {name} : {show(found)} with another uniqueness than the module type requires")
            found, wanted = prune(found.result), prune(wanted.result)

    def named_sizes(self, spec: s.ValSpec) -> None:
        """Parameters of a value in a module type have sizes with names, and names of their own."""
        t: Any = spec.type
        names: set[str] = set()
        while isinstance(t, s.TArrow):
            if t.name is not None and t.name in names:
                fail("E1406", spec.span, what=f"The parameter {t.name} of {spec.name} is named twice")
            names.add(t.name or "")
            p: Any = t.param.inner if isinstance(t.param, s.TUnique) else t.param
            while isinstance(p, s.TArray):
                if p.size.value is None:
                    fail("E1406", spec.span, what=f"Parameters of {spec.name} in a module type have non-anonymous sizes: write [n]")
                p = p.elem
            t = t.result

    def value_type(self, spec: s.ValSpec, env: Env) -> tuple[Type, list[Con], list[Binding]]:
        scope = Env(env)
        c = self.c
        self.named_sizes(spec)
        c.level += 1
        cons, sizes = c.parameters(spec.type_params, scope)
        before, c.exists = c.exists, []
        t = c.type_exp(copy_syntax(spec.type), scope, lambda: DRef(c.unknown("")))
        c.exists = before
        c.level -= 1
        for con in cons:
            con.level = 0
        more_types, more_sizes = c.general(t, True)
        return t, [*cons, *more_types], [*sizes, *more_sizes]
