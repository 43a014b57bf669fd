"""Closure conversion: afterwards functions are closed, and a function used as a value is a pair of code and environment.

A bundle has one environment: a cell with its free variables. Known calls go straight to the code with the environment as one
more argument; a bundle without free variables has none. Where a function is used as a value, a closure `closure(code, environment)` is
built at the use from the environment in scope, so environments never contain closures of their own bundle and there are no cycles.
The code in a closure is a separate *entry* `f_entry(environment, x...)` that tail-calls f: every unknown call has the same shape, and
parameters of f itself may still be dropped.

Free variables are values; a function of another bundle counts as that bundle's environment, if it has one (two namespaces:
treating names of functions as variables would turn known calls into unknown ones, docs/sources.md F2). Fields of the
environment are fetched where they are first used in a block.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from atoll.functions import ir
from atoll.functions.deep import Deep, run
from atoll.functions.names import free
from atoll.functions.walk import with_functions

CLOSURE = ir.DataType("closure", closure=(ir.CODE, ir.DATA)).constructors[0]
"""Code and environment. A closure whose environment is the unit value is a constant and costs nothing."""


def closure_convert(program: ir.Program) -> ir.Program:
    """The program with closed functions, environments and closures explicit."""
    convert = _Convert()
    block = run(convert.block(program.block, _Scope()))
    return program.with_block(run(convert.add_entries(block)))


@dataclass(slots=True)
class _Bundle:
    environment: ir.Var | None
    con: ir.Constructor | None = None
    fields: tuple[ir.Var, ...] = ()


@dataclass(slots=True)
class _Scope:
    """What variables are called here, which can be fetched from an environment, and which closures exist already."""

    names: dict[ir.Var, ir.Var] = field(default_factory=dict)
    fetch: dict[ir.Var, tuple[ir.Var, ir.Constructor, int]] = field(default_factory=dict)
    closures: dict[ir.Var, ir.Var] = field(default_factory=dict)

    def inner(self) -> _Scope:
        return _Scope(dict(self.names), self.fetch, dict(self.closures))


class _Convert:
    def __init__(self) -> None:
        self.bundles: dict[ir.Var, _Bundle] = {}
        self.funs: dict[ir.Var, ir.Fun] = {}
        self.entries: dict[ir.Var, ir.Var] = {}

    # -- names

    def value(self, x: ir.Var, scope: _Scope, out: list[ir.Bind]) -> ir.Var:
        """A variable as it is called here; a function as its closure."""
        if x in self.bundles:
            return self.closure(x, scope, out)
        if x in scope.names:
            return scope.names[x]
        if x in scope.fetch:
            environment, con, index = scope.fetch[x]
            got = scope.names[x] = x.again()
            out.append(ir.Take(got, environment, con, index))
            return got
        return x

    def closure(self, f: ir.Var, scope: _Scope, out: list[ir.Bind]) -> ir.Var:
        if f not in scope.closures:
            entry = self.entries.setdefault(f, ir.Var(f"{f.name}_entry", ir.CODE))
            environment = self.bundles[f].environment
            made = ir.Var(f.name, ir.DATA)
            if environment is None:
                held = ir.Var("none", ir.DATA)
                out.append(ir.Make(held, ir.UNIT, ()))
            else:
                held = self.value(environment, scope, out)
            out.append(ir.Make(made, CLOSURE, (entry, held)))
            scope.closures[f] = made
        return scope.closures[f]

    def call(self, fn: ir.Var, args: ir.Vars, scope: _Scope, out: list[ir.Bind]) -> tuple[ir.Var, ir.Vars]:
        given = tuple(self.value(y, scope, out) for y in args)
        if fn in self.bundles:
            environment = self.bundles[fn].environment
            return fn, given if environment is None else (*given, self.value(environment, scope, out))
        pair = self.value(fn, scope, out)
        code, environment = ir.Var("code", ir.CODE), ir.Var("env", ir.DATA)
        out.append(ir.Take(code, pair, CLOSURE, 0))
        out.append(ir.Take(environment, pair, CLOSURE, 1))
        return code, (environment, *given)

    # -- blocks

    def block(self, block: ir.Block, scope: _Scope) -> Deep[ir.Block]:
        scope = scope.inner()
        out: list[ir.Bind] = []

        def all_(xs: ir.Vars) -> ir.Vars:
            return tuple(self.value(x, scope, out) for x in xs)

        for bind in block.binds:
            match bind:
                case ir.Funs(bundle):
                    yield self.define(bundle, scope, out)
                case ir.Join(name, params, body):
                    out.append(ir.Join(name, params, (yield self.block(body, scope))))
                case ir.Call(results, fn, args):
                    callee, given = self.call(fn, args, scope, out)
                    out.append(ir.Call(results, callee, given))
                case ir.Take(x, value, con, index):
                    out.append(ir.Take(x, self.value(value, scope, out), con, index))
                case ir.Make(x, con, args):
                    out.append(ir.Make(x, con, all_(args)))
                case ir.Op(results, op, args, span):
                    out.append(ir.Op(results, op, all_(args), span))
                case _:
                    out.append(bind)
        term = block.term
        match term:
            case ir.Ret(values):
                term = ir.Ret(all_(values))
            case ir.Tail(fn, args):
                term = ir.Tail(*self.call(fn, args, scope, out))
            case ir.Jump(join, args):
                term = ir.Jump(join, all_(args))
            case ir.Case(value, branches):
                value = self.value(value, scope, out)
                done = []
                for con, inner in branches:
                    done.append((con, (yield self.block(inner, scope))))
                term = ir.Case(value, tuple(done))
        return ir.Block(tuple(out), term)

    def define(self, bundle: tuple[ir.Fun, ...], scope: _Scope, out: list[ir.Bind]) -> Deep[None]:
        """The environment of a bundle, then its functions with the environment as last parameter."""
        needed: dict[ir.Var, None] = {}
        for y in free(bundle):
            variable = self.bundles[y].environment if y in self.bundles else y
            if variable is not None:
                needed[variable] = None
        fields = tuple(needed)
        if fields:
            environment = ir.Var(f"env_{bundle[0].name.name}", ir.DATA)
            con = ir.DataType(environment.name, environment=tuple(v.rep for v in fields)).constructors[0]
            mine = _Bundle(environment, con, fields)
        else:
            mine = _Bundle(None)
        for f in bundle:
            self.bundles[f.name] = mine
        if mine.environment is not None:
            assert mine.con is not None
            out.append(ir.Make(mine.environment, mine.con, tuple(self.value(v, scope, out) for v in fields)))
        done = []
        for f in bundle:
            inside = _Scope()
            params = f.params
            if mine.environment is not None:
                assert mine.con is not None
                environment = mine.environment.again()
                inside.names[mine.environment] = environment
                inside.fetch = {v: (environment, mine.con, k) for k, v in enumerate(fields)}
                params = (*params, environment)
            body = yield self.block(f.body, inside)
            made = ir.Fun(f.name, params, body, f.results, f.marked, f.span)
            self.funs[f.name] = made
            done.append(made)
        out.append(ir.Funs(tuple(done)))

    def add_entries(self, block: ir.Block) -> Deep[ir.Block]:
        """Put the entries of escaping functions beside them."""
        return with_functions(block, self.and_entries)

    def and_entries(self, bundle: tuple[ir.Fun, ...]) -> Deep[list[ir.Fun]]:
        done = []
        for f in bundle:
            done.append(ir.with_body(f, (yield self.add_entries(f.body))))
        return done + [self.entry(f) for f in bundle if f.name in self.entries]

    def entry(self, f: ir.Fun) -> ir.Fun:
        mine = self.bundles[f.name]
        own = f.params if mine.environment is None else f.params[:-1]
        params = tuple(p.again() for p in own)
        environment = ir.Var("env", ir.DATA)
        args = params if mine.environment is None else (*params, environment)
        return ir.Fun(self.entries[f.name], (environment, *params), ir.Block((), ir.Tail(f.name, args)), f.results, False, f.span)
