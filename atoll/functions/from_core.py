"""Core to λANF. Tuples and records spread over variables; a value is a nest of tuples of variables, like its type.

    core                                      λANF
    scalar operations, `if`, calls            operators after their checks, `case`, calls
    unions: inject, match                     constructors; a tree of `case` with a join per arm
    closures, local recursive functions       functions with free variables
    an array expression, or a run of them     one kernel (kernels.py), so that fusion sees them together
    the same with recursion or data inside    a loop that fills an array (from_core_loops.py)

A function's parameters are its sizes, then the leaves of its parameters; its results the leaves of its result. Requirements on
sizes are checked on entry, because a recursive call comes with sizes of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from atoll.ainf.ir import Site
from atoll.core import ir as core
from atoll.core.needs import first_order, has_data
from atoll.core.portable import has_own
from atoll.core.prims import PRIMS
from atoll.core.rewrite import mentioned
from atoll.errors import NOWHERE, Span, fail
from atoll.functions import arrays, ir
from atoll.functions.builder import Builder, Env, Val, leaves, variables
from atoll.functions.extern import extern
from atoll.functions.from_core_loops import array_value, light
from atoll.functions.from_core_match import inject, match, match_value
from atoll.functions.kernels import Kernel, element_rep, free, heavy, kernel_operator, leaf_rep, leaf_types, make_kernel
from atoll.functions.operators import cast, check, fits, scalar
from atoll.sizes import Poly, Quot, Sym
from atoll.sizes.machine import bounds
from atoll.types.types import I64_T, Fn, Index, Scalar, Tuple, Type, Union, dtype_of, shape_of
from atoll.types.unions import type_key


@dataclass(frozen=True, slots=True)
class Translated:
    """A program whose block applies the entry to its parameters; kernels by number; data types by the key of their union."""

    program: ir.Program
    kernels: tuple[Kernel, ...]
    data: dict[object, ir.DataType]


def translate(fn: core.Function) -> Translated:
    """The λANF program of a core function: the block binds nothing but functions and calls the entry."""
    return Translator().program(fn)


class Translator:
    def __init__(self) -> None:
        self.functions: dict[int, tuple[core.Function, ir.Var]] = {}
        self.todo: list[core.Function] = []
        self.kernels: list[Kernel] = []
        self.data: dict[object, ir.DataType] = {}
        self.unions: dict[object, Union] = {}
        self.plain: dict[int, bool] = {}
        self.nonnegative: set[Sym] = set()
        self.where = ""
        self.reassociate = True
        self.portable = ""  # as of the function that is compiled, whatever it calls

    # -- programs and functions

    def program(self, fn: core.Function) -> Translated:
        self.portable = fn.portable
        entry = self.function(fn)
        made = []
        while self.todo:
            made.append(self.define(self.todo.pop()))
        params = tuple(x.again() for x in self._params(made, entry))
        results = next(f.results for f in made if f.name is entry)
        block = ir.Block((ir.Funs(tuple(made)),), ir.Tail(entry, params))
        return Translated(ir.Program(block, results, params), tuple(self.kernels), self.data)

    def module(self, fns: Sequence[core.Function]) -> ir.Program:
        """A program whose results are these functions."""
        names = tuple(self.function(fn) for fn in fns)
        made = []
        while self.todo:
            made.append(self.define(self.todo.pop()))
        return ir.Program(ir.Block((ir.Funs(tuple(made)),), ir.Ret(names)), (ir.DATA,) * len(names))

    def _params(self, made: list[ir.Fun], entry: ir.Var) -> ir.Vars:
        return next(f.params for f in made if f.name is entry)

    def function(self, fn: core.Function) -> ir.Var:
        """The λANF function a core function becomes."""
        if id(fn) not in self.functions:
            self.functions[id(fn)] = (fn, ir.Var(fn.name, ir.CODE, fn.span))
            self.todo.append(fn)
        return self.functions[id(fn)][1]

    def define(self, fn: core.Function) -> ir.Fun:
        self.where, self.reassociate = fn.name, fn.reassociate
        env: Env = {sym: ir.Var(sym.name, ir.INT) for sym in fn.sizes}
        self.nonnegative.update(fn.sizes)
        for sym, t in fn.params:
            env[sym] = variables(t, sym.name)
        params = (*(env[sym] for sym in fn.sizes), *(x for sym, _ in fn.params for x in leaves(env[sym])))
        b = Builder()
        for need in fn.requires:
            self.require(need, env, b)
        assert fn.body is not None
        body = self.tail(fn.body, env, b)
        return ir.Fun(self.function(fn), params, body, tuple(leaf_rep(t) for t in leaf_types(fn.result)), False, fn.span)

    def data_type(self, t: Union) -> ir.DataType:
        """The constructors of a union, the same for every size."""
        key = type_key(t)
        if key not in self.data:
            made = self.data[key] = ir.DataType(repr(t.decl))
            self.unions[key] = t
            for k, decl in enumerate(t.decl.decls):
                fields = tuple(leaf_rep(leaf) for item in t.decl.member(t, k).items for leaf in leaf_types(item))
                made.add(decl.name, fields)
        return self.data[key]

    # -- sizes

    def size(self, p: Poly, env: Env, b: Builder) -> ir.Var:
        """The value of a polynomial."""
        total: ir.Var | None = None
        for mono, coef in p.terms.items():
            term: ir.Var | None = None
            for atom in mono:
                factor = self.atom(atom, env, b)
                term = factor if term is None else b.op(scalar("mul", "i64"), term, factor)
            if term is None:
                term = b.integer(coef)
            elif coef != 1:
                term = b.op(scalar("mul", "i64"), term, b.integer(coef))
            total = term if total is None else b.op(scalar("add", "i64"), total, term)
        return total if total is not None else b.integer(0)

    def rounds(self, p: Poly, env: Env, b: Builder) -> ir.Var:
        """How many rounds a loop of this extent has, without wrapping around."""
        if len(p.terms) < 2:
            return self.size(p, env, b)
        low, high = bounds(p)
        return b.op(scalar("rounds", "i64"), self.size(low, env, b), self.size(high, env, b), b.integer(1))

    def atom(self, atom: Any, env: Env, b: Builder) -> ir.Var:
        if isinstance(atom, Quot):
            return b.op(scalar("floordiv", "i64"), self.size(atom.num, env, b), self.size(atom.den, env, b))
        value = env[atom]
        assert isinstance(value, ir.Var)
        return value

    def open_sizes(self, wanted: Sequence[Sym], t: Type, value: Val, env: Env, b: Builder) -> None:
        """Bind sizes only the value knows, from its shape."""
        for leaf_type, x in zip(leaf_types(t), leaves(value), strict=True):
            for axis, n in enumerate(shape_of(leaf_type)[0]):
                sym = n.single()
                if isinstance(sym, Sym) and sym in wanted and sym not in env:
                    env[sym] = b.op(arrays.dim(axis), x, name=sym.name)
                    self.nonnegative.add(sym)
        missing = [s for s in wanted if s not in env]
        assert not missing, f"nothing says what {missing} are"

    # -- checks

    def site(self, code: str, span: Span, **values: Any) -> Site:
        return Site(code, span, values, self.where)

    def check(self, test: ir.Var, site: Site, b: Builder, *shown: ir.Var) -> None:
        b.add(ir.Op((), check(site, tuple(x.rep for x in shown)), (test, *shown), site.span))

    def require(self, need: core.Require, env: Env, b: Builder) -> None:
        names = [leaf for leaf in need.poly.leaves() if isinstance(leaf, Sym)]
        low, high = bounds(need.poly)
        test = b.op(scalar("ge", "i64"), self.size(high, env, b), self.size(low, env, b))
        site = self.site("E0709", need.span, poly=need.poly, what=need.text, names=tuple(s.name for s in names))
        self.check(test, site, b, *(env[s] for s in names))

    # -- expressions

    def tail(self, e: core.Expr, env: Env, b: Builder) -> ir.Block:
        """The block that ends with the expression's value as the function's result."""
        b.near = e.span if e.span.line else b.near
        match e:
            case core.Block(stmts, result):
                env = dict(env)
                self.stmts(stmts, result, env, b)
                return self.tail(result, env, b)
            case core.If(cond, then, orelse):
                test = self.value(cond, env, b)
                yes, no = self.tail(then, env, Builder()), self.tail(orelse, env, Builder())
                return b.close(ir.Case(test, ((ir.TRUE, yes), (ir.FALSE, no))))
            case core.Match():
                return match(self, e, env, b, self.tail)  # type: ignore[no-any-return]
            case core.Call() if not self.in_kernel(e):
                return b.close(ir.Tail(*self.call_parts(e, env, b)))
            case core.Apply(fn, args):
                callee = self.value(fn, env, b)
                given = tuple(x for a in args for x in leaves(self.value(a, env, b)))
                return b.close(ir.Tail(callee, given))
            case core.Hide(inner):
                return self.tail(inner, env, b)
        return b.close(ir.Ret(leaves(self.value(e, env, b))))

    def value(self, e: core.Expr, env: Env, b: Builder) -> Val:
        if e.span.line:
            b.near = e.span
        how: Callable[[Translator, Any, Env, Builder], Val] | None = _LIGHT.get(type(e))
        if how is not None:
            return how(self, e, env, b)

        return array_value(self, e, env, b)

    def values(self, es: Sequence[core.Expr], env: Env, b: Builder) -> tuple[Val, ...]:
        return tuple(self.value(e, env, b) for e in es)

    def var(self, e: core.Var, env: Env, b: Builder) -> Val:
        return env[e.sym]

    def lit(self, e: core.Lit, env: Env, b: Builder) -> Val:
        rep = dtype_of(e.type).name
        x = ir.Var("k", rep)
        if rep == ir.BOOL_REP:
            b.add(ir.Make(x, ir.TRUE if e.value else ir.FALSE, ()))
        else:
            b.add(ir.Literal(x, e.value))
        return x

    def size_of(self, e: core.SizeOf, env: Env, b: Builder) -> Val:
        return self.size(e.poly, env, b)

    def prim(self, e: core.Prim, env: Env, b: Builder) -> Val:
        args = self.values(e.args, env, b)
        dtype = dtype_of(e.args[-1].type)
        if PRIMS[e.op].fails_on(dtype):
            zero = ir.Var("zero", dtype.name)
            b.add(ir.Literal(zero, 0))
            if e.op in ("floordiv", "mod"):
                self.check(b.op(scalar("ne", dtype.name), args[1], zero), self.site("E0702", e.span), b)
            else:
                code, name = ("E0711", "power") if e.op == "pow" else ("E0706", "count")
                site = self.site(code, e.span, args=(name,))
                self.check(b.op(scalar("ge", dtype.name), args[1], zero), site, b, args[1])
        own = self.portable and (has_own(e.op, dtype) or (e.op == "mul" and dtype.is_float))
        return b.op(scalar(f"portable_{e.op}" if own else e.op, dtype.name), *args, span=e.span)

    def cast(self, e: core.Cast, env: Env, b: Builder) -> Val:
        x = self.value(e.value, env, b)
        source, target = dtype_of(e.value.type), dtype_of(e.type)
        if source is target:
            return x
        if target.is_integer and source.is_float:
            site = self.site("E0705", e.span, args=("value",), dtype=target.name)
            self.check(b.op(fits(source.name, target.name), x), site, b, x)
        return b.op(cast(source.name, target.name), x, span=e.span)

    def if_(self, e: core.If, env: Env, b: Builder) -> Val:
        test = self.value(e.cond, env, b)
        join = ir.Var("after", ir.CODE)
        branches = []
        for con, body in ((ir.TRUE, e.then), (ir.FALSE, e.orelse)):
            inner = Builder()
            found = self.value(body, env, inner)
            branches.append((con, inner.close(ir.Jump(join, leaves(found)))))
        result = variables(e.type, "x")
        b.go_on(join, leaves(result), [], ir.Case(test, tuple(branches)))
        return result

    def block(self, e: core.Block, env: Env, b: Builder) -> Val:
        env = dict(env)
        self.stmts(e.stmts, e.result, env, b)
        return self.value(e.result, env, b)

    def make_tuple(self, e: core.MakeTuple, env: Env, b: Builder) -> Val:
        return self.values(e.items, env, b)

    def proj(self, e: core.Proj, env: Env, b: Builder) -> Val:
        return self.value(e.value, env, b)[e.index]

    def zip(self, e: core.Zip, env: Env, b: Builder) -> Val:
        return self.values(e.items, env, b)

    def unzip(self, e: core.Unzip, env: Env, b: Builder) -> Val:
        return self.value(e.value, env, b)

    def hide(self, e: core.Hide, env: Env, b: Builder) -> Val:
        return self.value(e.value, env, b)

    # -- calls and functions

    def in_kernel(self, e: core.Call) -> bool:
        """A call that is array code: inlined into a kernel."""
        return first_order(e, self.plain) and heavy(e)

    def call(self, e: core.Call, env: Env, b: Builder) -> Val:
        if self.in_kernel(e):
            return array_value(self, e, env, b)
        fn, args = self.call_parts(e, env, b)
        result = variables(e.type, e.fn.name)
        b.add(ir.Call(leaves(result), fn, args))
        return result

    def call_parts(self, e: core.Call, env: Env, b: Builder) -> tuple[ir.Var, ir.Vars]:
        sizes = tuple(self.size(p, env, b) for p in e.sizes)
        given = tuple(x for a in e.args for x in leaves(self.value(a, env, b)))
        return self.function(e.fn), (*sizes, *given)

    def closure(self, e: core.Closure, env: Env, b: Builder) -> Val:
        name = ir.Var(e.name if e.name.isidentifier() else "function", ir.DATA)
        b.add(ir.Funs((self.lam(name, e, env),)))
        return name

    def lam(self, name: ir.Var, e: core.Closure, env: Env) -> ir.Fun:
        inner = dict(env)
        for sym, t in zip(e.lam.params, e.lam.types, strict=True):
            inner[sym] = variables(t, sym.name)
        params = tuple(x for sym in e.lam.params for x in leaves(inner[sym]))
        assert isinstance(e.type, Fn)
        results = tuple(leaf_rep(t) for t in leaf_types(e.type.result))
        return ir.Fun(name, params, self.tail(e.lam.body, inner, Builder()), results, False, e.span)

    def apply(self, e: core.Apply, env: Env, b: Builder) -> Val:
        fn = self.value(e.fn, env, b)
        args = tuple(x for a in e.args for x in leaves(self.value(a, env, b)))
        result = variables(e.type, "r")
        b.add(ir.Call(leaves(result), fn, args))
        return result

    def extern(self, e: core.Extern, env: Env, b: Builder) -> Val:
        sizes = tuple(self.size(p, env, b) for p in e.sizes)
        args = tuple(x for a in e.args for x in leaves(self.value(a, env, b)))
        result = variables(e.type, e.name)
        b.add(ir.Op(leaves(result), extern(e), (*sizes, *args), e.span))
        return result

    # -- statements

    def stmts(self, stmts: tuple[core.Stmt, ...], result: core.Expr, env: Env, b: Builder) -> None:
        """Statements in order; a run of array statements is one kernel."""
        k = 0
        while k < len(stmts):
            end = self.run_end(stmts, k)
            if end > k:
                rest: tuple[Any, ...] = (*stmts[end:], result)
                self.kernel_run(stmts[k:end], rest, env, b)
                k = end
            else:
                self.stmt(stmts[k], env, b)
                k += 1

    def run_end(self, stmts: tuple[core.Stmt, ...], start: int) -> int:
        """Where the run of array statements that begins here ends; `start` when none does."""
        if not self.is_array_code(stmts[start]):
            return start
        end = k = start + 1
        while k < len(stmts) and isinstance(stmts[k], (core.Bind, core.Open, core.Require)) and self.first_order(stmts[k]):
            k += 1
            if self.is_array_code(stmts[k - 1]):
                end = k
        return end

    def first_order(self, stmt: core.Stmt) -> bool:
        if isinstance(stmt, (core.Bind, core.Open)):
            return first_order(stmt.value, self.plain)
        return isinstance(stmt, core.Require)

    def is_array_code(self, stmt: core.Stmt) -> bool:
        if not isinstance(stmt, (core.Bind, core.Open)) or not self.first_order(stmt):
            return False

        return heavy(stmt.value) and not light(stmt.value)

    def kernel_run(self, stmts: tuple[core.Stmt, ...], rest: tuple[Any, ...], env: Env, b: Builder) -> None:
        """The statements as one kernel whose results are what the rest reads."""
        made: dict[Sym, core.Expr] = {}
        for stmt in stmts:
            if isinstance(stmt, core.Bind):
                made[stmt.sym] = core.Var(stmt.sym, type=stmt.value.type)
            elif isinstance(stmt, core.Open):
                made[stmt.sym] = core.Var(stmt.sym, type=stmt.value.type)
                made.update((s, core.SizeOf(Poly({(s,): 1}), type=I64_T)) for s in stmt.sizes)
        wanted: set[Sym] = set()
        for part in rest:
            used = mentioned(part)
            wanted |= used & made.keys()
        outs = [(sym, e) for sym, e in made.items() if sym in wanted]
        span = next((s.value.span for s in stmts if isinstance(s, (core.Bind, core.Open))), NOWHERE)
        items = tuple(e for _, e in outs)
        pair = core.MakeTuple(items, type=Tuple(tuple(e.type for e in items)), span=span)
        body = core.Block(stmts, pair, type=pair.type, span=span)
        found = self.kernel(body, env, b)
        for (sym, e), value in zip(outs, found, strict=True):
            env[sym] = value
            if isinstance(e, core.SizeOf):
                self.nonnegative.add(sym)

    def kernel(self, body: core.Expr, env: Env, b: Builder) -> tuple[Val, ...]:
        """Call the kernel of a tuple of array expressions."""
        used = free(body)
        sizes = tuple(dict.fromkeys(s for s in (*used.symbols, *used.variables) if s in self.nonnegative and self.is_size(s, used.variables)))
        others = {s: t for s, t in used.variables.items() if s not in sizes}
        given: dict[Sym, Type] = {s: I64_T for s in used.symbols if s not in sizes}  # before the arrays whose sizes they are
        given.update({s: t for s, t in others.items() if s not in given})
        made = make_kernel(len(self.kernels), self.where, body, sizes, tuple(given.items()), self.reassociate and not self.portable, self.portable)
        self.kernels.append(made)
        args = (*(env[s] for s in sizes), *(x for s in given for x in leaves(env[s])))
        assert isinstance(body.type, Tuple)
        results = tuple(variables(t, "a") for t in body.type.items)
        b.add(ir.Op(leaves(results), kernel_operator(made), args, body.span))
        return results

    def is_size(self, sym: Sym, variables_: dict[Sym, Type]) -> bool:
        t = variables_.get(sym)
        return t is None or isinstance(t, Index) or (isinstance(t, Scalar) and t == I64_T)

    def stmt(self, stmt: core.Stmt, env: Env, b: Builder) -> None:
        match stmt:
            case core.Bind(sym, value):
                env[sym] = self.value(value, env, b)
            case core.Open(sizes, sym, value):
                env[sym] = self.value(value, env, b)
                self.open_sizes(sizes, value.type, env[sym], env, b)
            case core.Require():
                self.require(stmt, env, b)
            case core.Assert():
                self.assert_(stmt, env, b)
            case core.Print(parts, span):
                self.print(parts, span, env, b)
            case core.Fix(defs):
                for sym, made in defs:
                    env[sym] = ir.Var(made.name, ir.DATA)
                b.add(ir.Funs(tuple(self.lam(env[sym], made, env) for sym, made in defs)))

    def assert_(self, stmt: core.Assert, env: Env, b: Builder) -> None:
        test = self.value(stmt.cond, env, b)
        if not stmt.parts:
            self.check(test, self.site(stmt.code, stmt.span, text=stmt.text, what=stmt.text), b)
            return
        join = ir.Var("after", ir.CODE)
        inner = Builder()
        false = core.Lit(False, type=stmt.cond.type, span=stmt.span)
        parts, here = self.shown(stmt.parts, env, inner, stmt.span)
        failing = core.Assert(false, stmt.text, stmt.span, parts, stmt.code)
        self.kernel(_unit(failing, stmt.span), here, inner)
        branches = ((ir.TRUE, ir.Block((), ir.Jump(join, ()))), (ir.FALSE, inner.close(ir.Jump(join, ()))))
        b.go_on(join, (), [], ir.Case(test, branches))

    def print(self, parts: tuple[Any, ...], span: Span, env: Env, b: Builder) -> None:
        shown, here = self.shown(parts, env, b, span)
        self.kernel(_unit(core.Print(shown, span), span), here, b)

    def shown(self, parts: tuple[Any, ...], env: Env, b: Builder, span: Span) -> tuple[tuple[Any, ...], Env]:
        """What is put into a text, computed and under names of its own."""
        here = dict(env)
        done: list[Any] = []
        for part in parts:
            if isinstance(part, str):
                done.append(part)
                continue
            e, spec = part
            if has_data(e.type):
                fail("E1112", span, found=repr(e.type), where=self.where)
            sym = Sym("shown")
            here[sym] = self.value(e, env, b)
            done.append((core.Var(sym, type=e.type, span=e.span), spec))
        return tuple(done), here


def _unit(stmt: core.Stmt, span: Span) -> core.Block:
    nothing = core.MakeTuple((), type=Tuple(()), span=span)
    return core.Block((stmt,), nothing, type=nothing.type, span=span)


_LIGHT: dict[type, Any] = {
    core.Var: Translator.var,
    core.Lit: Translator.lit,
    core.SizeOf: Translator.size_of,
    core.Prim: Translator.prim,
    core.Cast: Translator.cast,
    core.If: Translator.if_,
    core.Block: Translator.block,
    core.MakeTuple: Translator.make_tuple,
    core.Proj: Translator.proj,
    core.Zip: Translator.zip,
    core.Unzip: Translator.unzip,
    core.Hide: Translator.hide,
    core.Extern: Translator.extern,
    core.Call: Translator.call,
    core.Closure: Translator.closure,
    core.Apply: Translator.apply,
    core.Inject: inject,
    core.Match: match_value,
}

__all__ = ["Translated", "element_rep", "translate"]
