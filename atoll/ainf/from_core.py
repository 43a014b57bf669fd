"""Core to AiNF: evaluate the core in the semantic domain, binding every scalar operation to a line.

Products, functions, arrays, conditionals on constants disappear here; so do calls (inlined) and views (index maps). What cannot be
expressed elementwise, a loop, a scan, a histogram, a sort, becomes one line over the leaves of its values: a value of any type is a
nest of tuples over arrays of scalars, and each leaf is treated alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.values import Formula, Scalar, Value, VArray, VTuple, abstraction, index_poly, rows
from atoll.core import ir as core
from atoll.core.prims import MONOIDS, PRIMS
from atoll.errors import NOWHERE, Span, fail
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, I64, DType
from atoll.types.types import Array, Index, Record, Tuple, Type, components, flatten, shape_of
from atoll.types.types import Scalar as ScalarType
from atoll.views.catalogue import VIEWS

Env = dict[Sym, Value]
_UPDATED = (ir.Param, ir.Scatter, ir.ScatterFold, ir.Loop, ir.While)
_COMPARE = {"lt", "le", "gt", "ge", "eq", "ne"}


def translate(fn: core.Function) -> ir.Program:
    """The normal form of a function, calls inlined."""
    tr = Translator(fn)
    return tr.program()


class Translator:
    def __init__(self, fn: core.Function) -> None:
        self.fn = fn
        self.b = Builder(fn.name)
        self.where = fn.name
        self.calls: list[core.Function] = []

    # -- the whole function

    def program(self) -> ir.Program:
        fn, b = self.fn, self.b
        env: Env = {}
        b.sizes |= set(fn.sizes)
        for sym in fn.sizes:
            env[sym] = Scalar(ir.IndexValue(poly(sym)))
        inputs: list[ir.Line] = []
        for k, (sym, t) in enumerate(fn.params):
            env[sym] = self.input(k, sym, t, env, inputs)
        self.requires(fn.requires, env, entry=True)
        assert fn.body is not None
        value = self.eval(fn.body, env)
        results = [self.result_abs(value, path) for path, _ in flatten(fn.result)]
        known = tuple(self.poly(r.poly, env) for r in fn.requires)
        program = ir.Program(fn.name, fn.sizes, inputs, b.root, results, known, fn.reassociate)
        return program

    def input(self, k: int, sym: Sym, t: Type, env: Env, inputs: list[ir.Line]) -> Value:
        """A parameter: one line per leaf, its axes the leaf's sizes."""
        lines = []
        for leaf, (_, leaf_type) in enumerate(flatten(t)):
            sizes, elem = shape_of(leaf_type)
            bound = self.poly(elem.size, env) if isinstance(elem, Index) else None
            axes = tuple(self.poly(s, env) for s in sizes)
            assert isinstance(elem, (ScalarType, Index))
            line, _ = self.b.emit(ir.Input(k, leaf, sym.name), (ir.Result(elem.dtype, axes, bound),), hint=f"{sym.name}_")
            lines.append(line)
            inputs.append(line)
        return self.from_lines(t, lines, env)

    def from_lines(self, t: Type, lines: Sequence[ir.Line], env: Env, result: int | None = None) -> Value:
        """The value of this type whose leaves are these lines (result 0 of each, or results of one line)."""
        refs = [lambda index, line=line: Scalar(self.read(line, 0, index)) for line in lines]
        return self.from_leaves(t, refs, env)

    def from_leaves(self, t: Type, leaves: Sequence[Callable[[tuple[Poly, ...]], Value]], env: Env) -> Value:
        """The value of this type whose k-th leaf has element leaves[k](index)."""
        counter = iter(leaves)

        def build(t: Type, outer: tuple[Poly, ...]) -> Value:
            sizes, elem = shape_of(t)
            extents = outer + tuple(self.poly(s, env) for s in sizes)
            if isinstance(elem, (Tuple, Record)):
                return self.push_in(VTuple(tuple(build(item, extents) for item in elem.items)), len(extents))
            return rows(next(counter), extents)

        return build(t, ())

    def push_in(self, value: VTuple, depth: int) -> Value:
        """A tuple of arrays (depth axes each) as an array of tuples."""
        if depth == 0:
            return value

        def extent(v: Value) -> Poly:
            while isinstance(v, VTuple):
                v = v.items[0]
            assert isinstance(v, VArray)
            return v.extent

        first = extent(value)

        def get(p: Poly) -> Value:
            return self.push_in(VTuple(tuple(self.get(item, p) for item in value.items)), depth - 1)

        return VArray(first, get)

    # -- leaves: a value as scalar arrays

    def leaves_of(self, value: Value, t: Type, env: Env) -> list[tuple[tuple[Poly, ...], Callable[[tuple[Poly, ...]], ir.Operand], DType]]:
        """(extents, element function, dtype) for every leaf of a value of this type."""
        found = []
        for path, leaf_type in flatten(t):
            sizes, elem = shape_of(leaf_type)
            assert isinstance(elem, (ScalarType, Index))
            extents = tuple(self.poly(s, env) for s in sizes)

            def element(index: tuple[Poly, ...], path: tuple[int, ...] = path) -> ir.Operand:
                return self.operand(self.element(value, index, path))

            found.append((extents, element, elem.dtype))
        return found

    def leaf_abs(self, leaf: tuple[tuple[Poly, ...], Callable[[tuple[Poly, ...]], ir.Operand], DType]) -> ir.Abs:
        """A leaf as an array by its elements."""
        extents, element, _ = leaf
        binders = tuple(self.b.fresh_binder("ijklmn"[k % 6], e) for k, e in enumerate(extents))
        with self.b.binding(*binders):
            body = element(tuple(poly(x) for x in binders))
        return ir.Abs(binders, body)

    def result_abs(self, value: Value, path: tuple[int, ...]) -> ir.Abs:
        """A leaf of the result, with the extents it really has: a type may leave them open."""
        binders: list[ir.Binder] = []
        while not isinstance(value, (Scalar, Formula)):
            if isinstance(value, VTuple):
                value, path = value.items[path[0]], path[1:]
            else:
                binders.append(self.b.fresh_binder(_index_name(len(binders)), value.extent))
                value = self.get(value, poly(binders[-1]))
        with self.b.binding(*binders):
            return ir.Abs(tuple(binders), self.operand(value))

    def abs_of(self, value: Value, t: Type, env: Env) -> tuple[ir.Abs, ...]:
        return tuple(self.leaf_abs(leaf) for leaf in self.leaves_of(value, t, env))

    # -- sizes, conditions, reads

    def poly(self, p: Poly, env: Env) -> Poly:
        """A size polynomial over core symbols as one over AiNF atoms."""
        leaves = [leaf for leaf in p.leaves() if leaf in env]
        if not leaves:
            return p
        return p.subst({leaf: index_poly(env[leaf]) for leaf in leaves})  # type: ignore[index]

    def operand(self, value: Value) -> ir.Operand:
        """A scalar value as an operand."""
        if isinstance(value, Scalar):
            return value.operand
        assert isinstance(value, Formula), value
        return self.formula(value)

    def formula(self, f: Formula) -> ir.Operand:
        if f.op == "is":
            return self.b.truth(f.parts[0])
        parts = [self.formula(p) for p in f.parts]
        result = parts[0]
        name = "and" if f.op == "all" else "or"
        for part in parts[1:]:
            result = scalars.op(self.b, name, (result, part), BOOL, NOWHERE)
        return result

    def cond(self, value: Value) -> Formula | bool:
        """A bool value as a condition, or the constant it is."""
        if isinstance(value, Formula):
            return value
        operand = value.operand  # type: ignore[union-attr]
        if isinstance(operand, ir.Const):
            return bool(operand.value)
        assert isinstance(operand, ir.Ref)
        return Formula("is", (ir.Cond("true", None, operand),))

    def path_conds(self, f: Formula) -> tuple[Any, ...]:
        """Conditions to put on the path for a formula: its parts when they hold together, else its truth value when needed."""
        found = f.conds()
        if found is not None:
            return found

        def truth() -> ir.Cond:
            operand = self.formula(f)
            assert isinstance(operand, ir.Ref)
            return ir.Cond("true", None, operand)

        return (truth,)

    def conditions(self, f: Formula) -> tuple[ir.Cond, ...]:
        """Conditions that hold together exactly when the formula does."""
        return tuple(c if isinstance(c, ir.Cond) else c() for c in self.path_conds(f))

    def get(self, value: Value, p: Poly) -> Value:
        """Element p of an array (of every component of a tuple of arrays), safe to use where we are."""
        if isinstance(value, VTuple):
            return VTuple(tuple(self.get(item, p) for item in value.items))
        assert isinstance(value, VArray), value
        return self.guard(value.get(p))

    def element(self, value: Value, index: tuple[Poly, ...], path: tuple[int, ...]) -> Value:
        """The scalar at an index tuple and a path of components, in whatever order they are nested."""
        while True:
            if isinstance(value, VTuple):
                value, path = value.items[path[0]], path[1:]
            elif isinstance(value, VArray):
                value, index = self.get(value, index[0]), index[1:]
            else:
                return value

    def guard(self, value: Value) -> Value:
        """A reference that is only in range under the conditions of the path becomes a line under those conditions."""
        if not self.b.path or isinstance(value, VArray):
            return value
        if isinstance(value, VTuple):
            return VTuple(tuple(self.guard(item) for item in value.items))
        if isinstance(value, Formula):
            return Formula(value.op, tuple(self.guard_cond(c) if isinstance(c, ir.Cond) else self.guard(c) for c in value.parts))
        operand = value.operand
        if isinstance(operand, ir.Ref):
            return Scalar(self.guard_ref(operand))
        if isinstance(operand, ir.IndexValue):
            return Scalar(scalars.from_poly(self.guard_poly(operand.poly)))
        return value

    def guard_cond(self, cond: ir.Cond) -> ir.Cond:
        if cond.poly is not None:
            return ir.Cond(cond.kind, self.guard_poly(cond.poly))
        assert cond.ref is not None
        return ir.Cond(cond.kind, None, self.guard_ref(cond.ref))

    def guard_poly(self, p: Poly) -> Poly:
        env: dict[Any, Poly] = {}
        for leaf in p.leaves():
            if isinstance(leaf, ir.RefAtom):
                new = self.guard_ref(leaf.ref)
                if new is not leaf.ref:
                    env[leaf] = poly(ir.ref_atom(new))
        return p.subst(env)

    def guard_ref(self, ref: ir.Ref) -> ir.Ref:
        b = self.b
        if not ref.index:
            return ref
        index = tuple(self.guard_poly(p) for p in ref.index)
        if any(a is not c for a, c in zip(index, ref.index, strict=True)):
            ref = ir.Ref(ref.line, ref.result, index)
        goals = list(zip(index, _extents_at(ref.line, ref.result, index), strict=True))
        needs = b.needed_for_range(goals)
        if needs is None:  # in range by construction, but only the whole path says so
            needs = tuple(given for given in b.path if given.lazy)
        if not needs:
            return ref
        result = ref.line.results[ref.result]
        bound = None if result.bound is None else result.bound.subst(dict(zip(ref.line.dims, index, strict=False)))
        return b.ref(ir.Op("read", (ref,)), ir.Result(ref.dtype, (), bound), hint="r", needs=needs)

    def read(self, line: ir.Line, result: int, index: tuple[Poly, ...]) -> ir.Operand:
        """An element of a stored array. Reads of arrays that may be updated in place are lines, so that a plan can move them."""
        ref = ir.Ref(line, result, index)
        if not line.results[result].axes or not isinstance(line.prim, _UPDATED):
            return ref
        return self.b.ref(ir.Op("read", (ref,)), ir.Result(ref.dtype, (), line.results[result].bound), hint="r")

    def site(self, code: str, span: Span, **values: Any) -> ir.Site:
        return ir.Site(code, span, values, self.where)

    # -- expressions

    def eval(self, e: core.Expr, env: Env) -> Value:
        return _EVAL[type(e)](self, e, env)

    def var(self, e: core.Var, env: Env) -> Value:
        return env[e.sym]

    def lit(self, e: core.Lit, env: Env) -> Value:
        assert isinstance(e.type, (ScalarType, Index))
        return Scalar(ir.Const(e.value, e.type.dtype))

    def size_of(self, e: core.SizeOf, env: Env) -> Value:
        return Scalar(scalars.from_poly(self.poly(e.poly, env)))

    def const_array(self, e: core.ConstArray, env: Env) -> Value:
        sizes, elem = shape_of(e.type)
        assert isinstance(elem, ScalarType)
        line, _ = self.b.emit(ir.ConstArray(e.value), (ir.Result(elem.dtype, sizes),), e.span, "k")
        value = e.value

        def element(index: tuple[Poly, ...]) -> Value:
            numbers = [p.const() for p in index]
            if all(n is not None for n in numbers) and value.size:
                return Scalar(scalars.constant(value[tuple(numbers)], elem.dtype))  # type: ignore[arg-type]
            return Scalar(self.read(line, 0, index))

        return rows(element, tuple(sizes))

    def prim(self, e: core.Prim, env: Env) -> Value:
        values = [self.eval(a, env) for a in e.args]
        dtype = e.type.dtype  # type: ignore[union-attr]
        if e.op == "not" and dtype is BOOL:
            c = self.cond(values[0])
            return Scalar(ir.Const(not c, BOOL)) if isinstance(c, bool) else c.negated()
        if e.op in ("and", "or") and dtype is BOOL and any(isinstance(v, Formula) for v in values):
            return self.junction("all" if e.op == "and" else "any", values)
        if e.op == "select":
            return self.select(self.cond(values[0]), values[1], values[2], e.span)
        args = tuple(self.operand(v) for v in values)
        if e.op in _COMPARE:
            found = scalars.compare(self.b, e.op, args[0], args[1], e.span)
            return Formula("is", (found,)) if isinstance(found, ir.Cond) else Scalar(found)
        self.guard_prim(e, args)
        result = scalars.op(self.b, e.op, args, dtype, e.span)
        if isinstance(e.type, Index) and isinstance(result, ir.Ref) and isinstance(result.line.prim, ir.Op):
            bound = self.poly(e.type.size, env)
            line, index = self.b.emit(result.line.prim, (ir.Result(I64, (), bound),), e.span)
            if result.line.prim == line.prim and set(line.dims) == set(result.line.dims):
                return Scalar(ir.Ref(line, 0, index))
        return Scalar(result)

    def junction(self, op: str, values: list[Value]) -> Value:
        parts = []
        for v in values:
            c = self.cond(v)
            if isinstance(c, bool):
                if c == (op == "any"):
                    return Scalar(ir.Const(c, BOOL))
                continue
            parts.append(c)
        if not parts:
            return Scalar(ir.Const(op == "all", BOOL))
        return parts[0] if len(parts) == 1 else Formula(op, tuple(parts))

    def guard_prim(self, e: core.Prim, args: tuple[ir.Operand, ...]) -> None:
        """Check what can go wrong before it is computed; the operation itself is then total."""
        dtype = ir.operand_dtype(args[0])
        if not PRIMS[e.op].fails_on(dtype):
            return
        second = args[1]
        if e.op in ("floordiv", "mod"):
            if isinstance(second, ir.Const) and second.value != 0:
                return
            p = scalars.as_poly(self.b, second)
            if p is not None and self.b.context((p,)).proves(p - 1):
                return
            found = scalars.compare(self.b, "ne", second, ir.Const(0, dtype), e.span)
            self.need(found, self.site("E0702", e.span), ())
            return
        if isinstance(second, ir.Const) and second.value >= 0:
            return
        if dtype.kind == "u":
            return
        found = scalars.compare(self.b, "ge", second, ir.Const(0, dtype), e.span)
        code, name = ("E0711", "power") if e.op == "pow" else ("E0706", "count")
        self.need(found, self.site(code, e.span, args=(name,)), (second,))

    def need(self, found: ir.Cond | ir.Operand, site: ir.Site, args: tuple[ir.Operand, ...]) -> None:
        if isinstance(found, ir.Const):
            if found.value:
                return
            found = ir.Cond("ge", poly(-1))
        cond = found if isinstance(found, ir.Cond) else ir.Cond("true", None, found)  # type: ignore[arg-type]
        self.b.check((cond,), site, args)

    def cast(self, e: core.Cast, env: Env) -> Value:
        operand = self.operand(self.eval(e.value, env))
        target = e.type.dtype  # type: ignore[union-attr]
        source = ir.operand_dtype(operand)
        result = scalars.cast(self.b, operand, target, e.span)
        if target.is_integer and source.is_float and not isinstance(result, ir.Const):
            low, high = target.limits()
            # a float fits when trunc(x) does: x > low - 1 and x < high + 1, with exact bounds in the source type
            b = self.b
            above: tuple[str, float] = ("gt", float(low - 1)) if float(low - 1) != float(low) else ("ge", float(low))
            lower = b.ref(ir.Op(above[0], (operand, ir.Const(_bound(above[1], source), source))), ir.Result(BOOL), e.span)
            upper = b.ref(ir.Op("lt", (operand, ir.Const(_bound(float(high + 1), source), source))), ir.Result(BOOL), e.span)
            conds = (ir.Cond("true", None, lower), ir.Cond("true", None, upper))
            b.check(conds, self.site("E0705", e.span, args=("value",), dtype=target.name), (operand,))
        return Scalar(result)

    def if_(self, e: core.If, env: Env) -> Value:
        test = self.cond(self.eval(e.cond, env))
        if isinstance(test, bool):
            return self.eval(e.then if test else e.orelse, env)
        if isinstance(e.type, ScalarType) and e.type.dtype is BOOL:
            found = self.bool_if(test, e, env)
            if found is not None:
                return found
        with self.b.under(*self.path_conds(test)):
            then = self.eval(e.then, env)
        with self.b.under(*self.path_conds(test.negated())):
            orelse = self.eval(e.orelse, env)
        return self.select(test, then, orelse, e.span)

    def bool_if(self, test: Formula, e: core.If, env: Env) -> Value | None:
        """`a and b`, `a or b`: conditions stay conditions."""
        if isinstance(e.orelse, core.Lit) and e.orelse.value is False:
            with self.b.under(*self.path_conds(test)):
                rest = self.cond(self.eval(e.then, env))
            if isinstance(rest, bool):
                return test if rest else Scalar(ir.Const(False, BOOL))
            return self.lazy("all", test, rest, e.span)
        if isinstance(e.then, core.Lit) and e.then.value is True:
            with self.b.under(*self.path_conds(test.negated())):
                rest = self.cond(self.eval(e.orelse, env))
            if isinstance(rest, bool):
                return Scalar(ir.Const(True, BOOL)) if rest else test
            return self.lazy("any", test, rest, e.span)
        return None

    def lazy(self, op: str, test: Formula, rest: Formula, span: Span) -> Value:
        """test and rest, or test or rest, where rest may have a value only under (not) test."""
        if not any(ref.line.conds for cond in _conditions(rest) for ref in cond.refs()):
            return Formula(op, (test, rest))
        other = ir.Const(op == "any", BOOL)
        return Scalar(scalars.select(self.b, self.conditions(test if op == "all" else test.negated()), self.formula(rest), other, span))

    def select(self, test: Formula | bool, then: Value, orelse: Value, span: Span) -> Value:
        """then where test holds, orelse elsewhere; arrays element by element, each side read under its condition."""
        if isinstance(test, bool):
            return then if test else orelse
        if isinstance(then, VTuple) and isinstance(orelse, VTuple):
            return VTuple(tuple(self.select(test, a, b, span) for a, b in zip(then.items, orelse.items, strict=True)))
        if isinstance(then, VArray) and isinstance(orelse, VArray):

            def get(p: Poly) -> Value:
                with self.b.under(*self.path_conds(test)):
                    a = then.get(p)
                with self.b.under(*self.path_conds(test.negated())):
                    c = orelse.get(p)
                return self.select(test, a, c, span)

            return VArray(then.extent, get)
        with self.b.under(*self.path_conds(test)):
            a = self.operand(then)
        with self.b.under(*self.path_conds(test.negated())):
            c = self.operand(orelse)
        if a == c:
            return Scalar(a)
        if test.op == "any" and (found := test.negated().conds()) is not None:
            return Scalar(scalars.select(self.b, found, c, a, span))
        return Scalar(scalars.select(self.b, self.conditions(test), a, c, span))

    # -- blocks

    def block(self, e: core.Block, env: Env) -> Value:
        env = dict(env)
        for stmt in e.stmts:
            self.stmt(stmt, env)
        return self.eval(e.result, env)

    def stmt(self, stmt: core.Stmt, env: Env) -> None:
        match stmt:
            case core.Bind(sym, value):
                env[sym] = self.reify(self.eval(value, env), sym.name)
            case core.Open(sizes, sym, value):
                result = self.eval(value, env)
                self.bind_open(value.type, result, set(sizes), env)
                env[sym] = self.reify(result, sym.name)
            case core.Assert(cond, text, span, parts, code):
                self.assertion(cond, text, span, parts, code, env)
            case core.Require():
                self.requires((stmt,), env, entry=False)
            case core.Print(parts, span):
                shown = tuple(p if isinstance(p, str) else (self.printed(p[0], env), p[1]) for p in parts)
                self.b.emit(ir.Print(shown, span), (), span, "print")

    def printed(self, e: core.Expr, env: Env) -> Any:
        value = self.eval(e, env)
        return (e.type, self.abs_of(value, e.type, env))

    def reify(self, value: Value, name: str) -> Value:
        """Bind array elements to lines once."""
        if isinstance(value, VTuple):
            return VTuple(tuple(self.reify(item, name) for item in value.items))
        if not isinstance(value, VArray):
            return value
        binder = self.b.fresh_binder("ijklmn"[len(self.b.binders) % 6], value.extent)
        with self.b.binding(binder):
            inner = self.reify(value.get(poly(binder)), name)
        return abstraction(binder, inner)

    def bind_open(self, t: Type, value: Value, wanted: set[Sym], env: Env) -> None:
        """Give open sizes the extents the value has."""
        if isinstance(t, Array):
            assert isinstance(value, VArray)
            sym = t.size.single()
            if isinstance(sym, Sym) and sym in wanted:
                env[sym] = Scalar(scalars.from_poly(value.extent))
            if isinstance(t.elem, Array):
                binder = self.b.fresh_binder("i", value.extent)
                self.bind_open(t.elem, value.get(poly(binder)), wanted, env)
        elif isinstance(t, (Tuple, Record)):
            assert isinstance(value, VTuple)
            for item, part in zip(t.items, value.items, strict=True):
                self.bind_open(item, part, wanted, env)

    def assertion(self, cond: core.Expr, text: str, span: Span, parts: Any, code: str, env: Env) -> None:
        test = self.cond(self.eval(cond, env))
        if test is True:
            return
        args: list[ir.Operand] = []
        template: list[Any] = []
        for part in parts:
            if isinstance(part, str):
                template.append(part)
            else:
                shown = self.eval(part[0], env)
                if isinstance(shown, (Scalar, Formula)):
                    template.append((len(args), part[1], part[0].type))
                    args.append(self.operand(shown))
                else:
                    template.append("<array>")
        site = self.site(code, span, text=text, what=text, template=tuple(template))
        conds: tuple[ir.Cond, ...]
        conds = self.conditions(test) if isinstance(test, Formula) else (ir.Cond("ge", poly(-1)),)
        self.b.check(conds, site, tuple(args))
        self.b.given(*conds)

    def requires(self, needs: Sequence[core.Require], env: Env, entry: bool) -> None:
        for need in needs:
            p = self.poly(need.poly, env)
            if entry:
                self.b.known.append(p)
            elif not self.b.context((p,)).proves(p):
                names = {leaf.name: env[leaf] for leaf in need.poly.leaves() if isinstance(leaf, Sym) and leaf in env}
                args = tuple(self.operand(v) for v in names.values())
                site = self.site("E0709", need.span, poly=need.poly, what=need.text, names=tuple(names))
                self.b.check((ir.Cond("ge", p),), site, args)
                self.b.given(ir.Cond("ge", p))

    # -- tuples and arrays

    def make_tuple(self, e: core.MakeTuple, env: Env) -> Value:
        return VTuple(tuple(self.eval(item, env) for item in e.items))

    def proj(self, e: core.Proj, env: Env) -> Value:
        value = self.eval(e.value, env)
        assert isinstance(value, VTuple)
        return value.items[e.index]

    def make_array(self, e: core.MakeArray, env: Env) -> Value:
        items = [self.eval(item, env) for item in e.items]
        assert isinstance(e.type, Array)
        return VArray(poly(len(items)), lambda p: self.pick(items, p, e.type.elem, env, e.span))  # type: ignore[union-attr]

    def pick(self, items: list[Value], p: Poly, t: Type, env: Env, span: Span) -> Value:
        """Item p of a display."""
        const = p.const()
        if const is not None and 0 <= const < len(items):
            return items[const]
        if isinstance(t, (Tuple, Record)):
            parts = [[item.items[k] for item in items] for k in range(len(t.items))]  # type: ignore[union-attr]
            return VTuple(tuple(self.pick(part, p, item, env, span) for part, item in zip(parts, t.items, strict=True)))
        if isinstance(t, Array):
            first = items[0]
            assert isinstance(first, VArray)
            return VArray(first.extent, lambda q: self.pick([self.get(i, q) for i in items], p, t.elem, env, span))
        operands = [self.operand(i) for i in items]
        if all(o == operands[0] for o in operands):
            return Scalar(operands[0])
        dtype = ir.operand_dtype(operands[0])
        if all(isinstance(o, ir.Const) for o in operands):
            values = np.array([o.value for o in operands], dtype.numpy)  # type: ignore[union-attr]
            line, _ = self.b.emit(ir.ConstArray(values), (ir.Result(dtype, (poly(len(items)),)),), span, "k")
            return Scalar(self.read(line, 0, (p,)))
        inner = len({leaf for o in operands for leaf in ir.operand_leaves(o) if isinstance(leaf, ir.Binder)} - set(self.b.binders))
        line, index = self.b.emit(ir.Display(tuple(operands)), (ir.Result(dtype, (poly(len(items)),)),), span, "d", inner)
        return Scalar(self.read(line, 0, (*index, p)))

    def build(self, e: core.Build, env: Env) -> Value:
        size = self.poly(e.size, env)
        binder = self.binder(e.sym.name, size, e.span)
        with self.b.binding(binder):
            body = self.eval(e.body, {**env, e.sym: Scalar(ir.IndexValue(poly(binder)))})
            body = self.reify(body, e.sym.name)
        return abstraction(binder, body)

    def binder(self, name: str, size: Poly, span: Span) -> ir.Binder:
        """A new index; an extent that could wrap is computed without wrapping first."""
        extent, extra = self.safe_extent(size, span)
        binder = self.b.fresh_binder(name, extent)
        if extra is not None:
            binder.facts = (extra - 1 - poly(binder),)
        return binder

    def safe_extent(self, size: Poly, span: Span) -> tuple[Poly, Poly | None]:
        """An extent whose machine value is its integer value; second, a polynomial it equals when there are rounds at all."""
        if self.b.comparable(size):
            return size, None
        high = Poly({m: c for m, c in size.terms.items() if c > 0})
        low = Poly({m: -c for m, c in size.terms.items() if c < 0})
        prim = ir.Extent(scalars.from_poly(low), scalars.from_poly(high))
        ref = self.b.ref(prim, ir.Result(I64), span, "n")
        exact = all(self.b.comparable(side) for side in (low, high))
        return poly(ir.ref_atom(ref)), size if exact else None

    def map(self, e: core.Map, env: Env) -> Value:
        arrays = [self.eval(a, env) for a in e.arrays]
        first = arrays[0]
        assert isinstance(first, VArray)
        binder = self.b.fresh_binder(_index_name(len(self.b.binders)), first.extent)
        with self.b.binding(binder):
            inner = dict(env)
            for sym, a in zip(e.params, arrays, strict=True):
                inner[sym] = self.get(a, poly(binder))
            body = self.reify(self.eval(e.body, inner), "x")
        return abstraction(binder, body)

    def at(self, e: core.At, env: Env) -> Value:
        array = self.eval(e.array, env)
        index = index_poly(self.eval(e.index, env))
        extent = _extent(array)
        p = self.b.check_index(index, extent, self.site("E0701", e.span, args=("index", "size")))
        return self.get(array, p)

    def extents(self, t: Type, env: Env) -> tuple[Poly, ...]:
        sizes, _ = shape_of(t)
        return tuple(self.poly(s, env) for s in sizes)

    def axis_items(self, items: tuple[core.Item, ...], t: Type, env: Env, span: Span) -> list[Any]:
        """Per axis: a checked index, or (low, step, size)."""
        result: list[Any] = []
        extents = self.extents(t, env)
        for item, extent in zip(items, extents, strict=False):
            if isinstance(item, core.Range):
                result.append((self.poly(item.low, env), item.step, self.poly(item.size, env)))
            else:
                p = index_poly(self.eval(item, env))  # type: ignore[arg-type]
                result.append(self.b.check_index(p, extent, self.site("E0701", span, args=("index", "size"))))
        return result

    def slice(self, e: core.Slice, env: Env) -> Value:
        array = self.eval(e.array, env)
        axes = self.axis_items(e.items, e.array.type, env, e.span)

        def level(value: Value, rest: list[Any]) -> Value:
            if not rest:
                return value
            item = rest[0]
            if isinstance(item, Poly):
                return level(self.get(value, item), rest[1:])
            low, step, size = item
            return VArray(size, lambda p: level(self.get(value, low + p * step), rest[1:]))

        return level(array, axes)

    def update(self, e: core.Update, env: Env) -> Value:
        """A copy with some elements replaced: one scatter per leaf, its indices the items."""
        array, new = self.eval(e.array, env), self.eval(e.value, env)
        axes = self.axis_items(e.items, e.array.type, env, e.span)
        return self.update_value(array, axes, new, e.type, env, e.span)

    def update_value(self, array: Value, axes: list[Any], new: Value, t: Type, env: Env, span: Span) -> Value:
        if _nearly_all(axes, self.extents(t, env)):
            return self.replace_region(array, axes, new, self.extents(t, env)[: len(axes)], span)
        b = self.b
        olds = self.leaves_of(array, t, env)
        results = []
        for (path, _), (extents, old, dtype) in zip(flatten(t), olds, strict=True):
            base = self.leaf_abs((extents, old, dtype))
            binders: list[ir.Binder] = []
            target: list[Poly] = []
            inner: list[Poly] = []
            for k, extent in enumerate(extents):
                item = axes[k] if k < len(axes) else (poly(0), 1, extent)
                if isinstance(item, Poly):
                    target.append(item)
                else:
                    low, step, size = item
                    binder = b.fresh_binder(_index_name(k), size)
                    binders.append(binder)
                    target.append(low + poly(binder) * step)
                    inner.append(poly(binder))
            with b.binding(*binders):
                value = self.operand(self.element(new, tuple(inner), path))
            prim = ir.Scatter(base, tuple(binders), tuple(target), value)
            results.append(b.emit(prim, (ir.Result(dtype, extents),), span, "u"))
        return self.from_emitted(t, results, env)

    def replace_region(self, array: Value, axes: list[Any], new: Value, extents: tuple[Poly, ...], span: Span) -> Value:
        """An update of nearly everything, element by element: the new value inside the region, the old one outside."""

        def element(index: tuple[Poly, ...]) -> Value:
            conds: list[ir.Cond] = []
            for p, (low, _, size) in zip(index, axes, strict=True):
                for side in (p - low, low + size - 1 - p):
                    found = scalars.simplify_cond(self.b, ir.Cond("ge", side))
                    if isinstance(found, ir.Cond):
                        conds.append(found)

            def inside(value: Value, shift: bool) -> Value:
                for p, (low, _, _) in zip(index, axes, strict=True):
                    value = self.get(value, p - low if shift else p)
                return value

            if not conds:
                return inside(new, True)
            test = Formula("all", tuple(Formula("is", (c,)) for c in conds)) if len(conds) > 1 else Formula("is", (conds[0],))
            with self.b.under(*conds):
                then = inside(new, True)
            return self.select(test, then, inside(array, False), span)

        return rows(element, tuple(extents))

    def from_emitted(self, t: Type, emitted: list[tuple[ir.Line, tuple[Poly, ...]]], env: Env) -> Value:
        refs = [lambda i, line=line, index=index: Scalar(self.read(line, 0, index + i)) for line, index in emitted]
        return self.from_leaves(t, refs, env)

    def from_results(self, t: Type, line: ir.Line, index: tuple[Poly, ...], env: Env, first: int = 0) -> Value:
        """The value whose leaves are results first, first+1, ... of one line."""
        count = len(flatten(t))
        refs = [lambda i, k=k: Scalar(self.read(line, first + k, index + i)) for k in range(count)]
        return self.from_leaves(t, refs, env)

    # -- reductions and scans

    def is_neutral(self, monoid: str, operand: ir.Operand) -> bool:
        if not isinstance(operand, ir.Const):
            return False
        return bool(operand.value == MONOIDS[monoid][1](operand.dtype))

    def reduce(self, e: core.Reduce, env: Env) -> Value:
        array = self.eval(e.array, env)
        start = self.eval(e.neutral, env)
        if e.monoid is not None:
            return self.reduce_known(e.monoid, array, start, e.type, env, e.span)
        return self.fold_general(e, array, start, env)

    def reduce_known(self, monoid: str, array: Value, start: Value, t: Type, env: Env, span: Span) -> Value:
        if isinstance(t, (Tuple, Record)):
            parts = [
                self.reduce_known(monoid, _component(array, k), start.items[k], item, env, span)  # type: ignore[union-attr]
                for k, item in enumerate(t.items)
            ]
            return VTuple(tuple(parts))
        if isinstance(t, Array):
            n, elem = _extent(array), t.elem

            def column(p: Poly) -> Value:
                part = VArray(n, lambda r: self.get(self.get(array, r), p))
                return self.reduce_known(monoid, part, self.get(start, p), elem, env, span)

            return VArray(self.poly(t.size, env), column)
        b = self.b
        binder = self.b.fresh_binder("r", _extent(array))
        with b.binding(binder):
            arg = self.operand(self.get(array, poly(binder)))
        dtype = t.dtype  # type: ignore[union-attr]
        total: ir.Operand = b.ref(ir.Reduce(monoid, binder, arg), ir.Result(dtype), span, "s")
        first_value = self.operand(start)
        if not self.is_neutral(monoid, first_value):
            total = scalars.op(b, MONOIDS[monoid][0], (first_value, total), dtype, span)
        return Scalar(total)

    def operator_block(self, lam: core.Lam, env: Env) -> tuple[ir.Block, tuple[ir.Abs, ...]]:
        """An operator as a block: parameters are the leaves of both arguments, results the leaves of the outcome."""
        b = self.b
        block = b.new_block()
        inner = dict(env)
        position = 0
        with b.inside(block):
            for sym, t in zip(lam.params, lam.types, strict=True):
                lines = []
                for _, leaf_type in flatten(t):
                    sizes, elem = shape_of(leaf_type)
                    axes = tuple(self.poly(s, env) for s in sizes)
                    lines.append(self.param(block, position, sym.name, elem.dtype, axes))  # type: ignore[union-attr]
                    position += 1
                inner[sym] = self.from_lines(t, lines, env)
            value = self.eval(lam.body, inner)
            results = self.abs_of(value, lam.types[0], env)
        return block, results

    def param(self, block: ir.Block, position: int, name: str, dtype: DType, axes: tuple[Poly, ...]) -> ir.Line:
        """A parameter line of a block; not shared with anything."""
        line = ir.Line(self.b._count, (), (), ir.Param(position, name), (ir.Result(dtype, axes),), block, NOWHERE, f"{name}_")
        self.b._count += 1
        block.lines.append(line)
        block.params.append(line)
        return line

    def fold_general(self, e: core.Reduce, array: Value, start: Value, env: Env) -> Value:
        b = self.b
        binder = b.fresh_binder("r", _extent(array))
        with b.binding(binder):
            elements = self.abs_of(self.get(array, poly(binder)), e.type, env)
        starts = self.abs_of(start, e.type, env)
        block, results = self.operator_block(e.op, env)
        types = self.result_types(e.type, env)
        line, index = b.emit(ir.Fold(binder, starts, elements, block, results), types, e.span, "f")
        return self.from_results(e.type, line, index, env)

    def result_types(self, t: Type, env: Env) -> tuple[ir.Result, ...]:
        found = []
        for _, leaf_type in flatten(t):
            sizes, elem = shape_of(leaf_type)
            assert isinstance(elem, (ScalarType, Index))
            found.append(ir.Result(elem.dtype, tuple(self.poly(s, env) for s in sizes)))
        return tuple(found)

    def scan(self, e: core.Scan, env: Env) -> Value:
        array, start = self.eval(e.array, env), self.eval(e.neutral, env)
        assert isinstance(e.type, Array)
        if e.monoid is not None:
            return self.scan_known(e, array, start, e.type.elem, env, len(self.b.binders))
        b = self.b
        binder = b.fresh_binder("r", _extent(array))
        with b.binding(binder):
            elements = self.abs_of(self.get(array, poly(binder)), e.type.elem, env)
        starts = self.abs_of(start, e.type.elem, env)
        block, results = self.operator_block(e.op, env)
        types = tuple(
            ir.Result(r.dtype, (_extent(array), *r.axes)) for r in self.result_types(e.type.elem, env)
        )
        line, index = b.emit(ir.ScanFold(binder, starts, elements, block, results, e.exclusive), types, e.span, "f")
        return self.from_results(e.type, line, index, env)

    def scan_known(self, e: core.Scan, array: Value, start: Value, t: Type, env: Env, outer: int) -> Value:
        if isinstance(t, (Tuple, Record)):
            parts = [
                self.scan_known(e, _component(array, k), start.items[k], item, env, outer)  # type: ignore[union-attr]
                for k, item in enumerate(t.items)
            ]
            return self.push_in(VTuple(tuple(parts)), 1)
        n = _extent(array)
        if isinstance(t, Array):
            inner = self.poly(t.size, env)

            def column(p: Poly) -> Value:
                part = VArray(n, lambda r: self.get(self.get(array, r), p))
                return self.scan_known(e, part, self.get(start, p), t.elem, env, outer)

            binder = self.b.fresh_binder("j", inner)
            with self.b.binding(binder):
                columns = self.reify(column(poly(binder)), "c")
            whole = abstraction(binder, columns)
            return VArray(n, lambda r: VArray(inner, lambda p: self.get(self.get(whole, p), r)))
        b = self.b
        binder = b.fresh_binder("r", n)
        with b.binding(binder):
            arg = self.operand(self.get(array, poly(binder)))
        dtype = t.dtype  # type: ignore[union-attr]
        prim = ir.Scan(e.monoid or "add", binder, arg, self.operand(start), e.exclusive)
        line, index = b.emit(prim, (ir.Result(dtype, (n,)),), e.span, "s", len(b.binders) - outer)
        return VArray(n, lambda p: Scalar(self.read(line, 0, (*index, p))))

    def arg_reduce(self, e: core.ArgReduce, env: Env) -> Value:
        array = self.eval(e.array, env)
        b = self.b
        n = _extent(array)
        binder = b.fresh_binder("r", n)
        with b.binding(binder):
            arg = self.operand(self.get(array, poly(binder)))
        return Scalar(b.ref(ir.ArgReduce(e.which, binder, arg), ir.Result(I64, (), n), e.span, "a"))

    # -- histograms, scatters, sorts, filters

    def index_at(self, indices: Value, binder: ir.Binder, size: Poly, drop: bool, span: Span) -> Poly:
        """The target index of a round; checked unless out-of-range ones are dropped."""
        p = index_poly(Scalar(self.operand(self.get(indices, poly(binder)))))
        if drop:
            return p
        return self.b.check_index(p, size, self.site("E0708", span, args=("index", "size")))

    def hist(self, e: core.Hist, env: Env) -> Value:
        indices, values, start = (self.eval(x, env) for x in (e.indices, e.values, e.neutral))
        size = self.poly(e.size, env)
        assert isinstance(e.type, Array)
        base = VArray(size, lambda p: start)
        return self.scatter_into(base, indices, values, e.op, e.monoid, e.drop, e.type, env, e.span)

    def scatter(self, e: core.Scatter, env: Env) -> Value:
        array, indices, values = (self.eval(x, env) for x in (e.array, e.indices, e.values))
        if e.op is None:
            n = _extent(indices)
            binder = self.b.fresh_binder("r", n)
            with self.b.binding(binder):
                size = _extent(array)
                target = self.operand(self.get(indices, poly(binder)))
                if not e.drop:
                    target = scalars.from_poly(self.index_at(indices, binder, size, e.drop, e.span))
            site = self.site("E0707", e.span, args=("index",))
            self.b.emit(ir.CheckUnique(binder, target, size, e.drop, site), (), e.span, "check")
        return self.scatter_into(array, indices, values, e.op, e.monoid, e.drop, e.type, env, e.span)

    def scatter_into(
        self, base: Value, indices: Value, values: Value, op: core.Lam | None, monoid: str | None, drop: bool, t: Type, env: Env, span: Span
    ) -> Value:
        b = self.b
        n, size = _extent(indices), _extent(base)
        assert isinstance(t, Array)
        binder = b.fresh_binder("r", n)
        if op is not None and monoid is None:
            with b.binding(binder):
                target = self.index_at(indices, binder, size, drop, span)
                elements = self.abs_of(self.get(values, poly(binder)), t.elem, env)
            bases = self.abs_of(base, t, env)
            block, results = self.operator_block(op, env)
            prim = ir.ScatterFold(bases, binder, target, elements, block, results, drop)
            line, index = b.emit(prim, self.result_types(t, env), span, "h")
            return self.from_results(t, line, index, env)
        with b.binding(binder):
            target = self.index_at(indices, binder, size, drop, span)
        emitted = []
        for (path, leaf_type), (extents, old, dtype) in zip(flatten(t), self.leaves_of(base, t, env), strict=True):
            del leaf_type
            row = tuple(b.fresh_binder(_index_name(k), extent) for k, extent in enumerate(extents[1:]))
            whole = self.leaf_abs((extents, old, dtype))
            with b.binding(binder, *row):
                inner = tuple(poly(x) for x in (binder, *row))
                value = self.operand(self.element(values, inner, path))
            where = (target, *(poly(x) for x in row))
            scatter = ir.Scatter(whole, (binder, *row), where, value, monoid, drop)
            emitted.append(b.emit(scatter, (ir.Result(dtype, extents),), span, "h"))
        return self.from_emitted(t, emitted, env)

    def argsort(self, e: core.Argsort, env: Env) -> Value:
        keys = self.eval(e.keys, env)
        b = self.b
        n = _extent(keys)
        binder = b.fresh_binder("r", n)
        with b.binding(binder):
            key = self.operand(self.get(keys, poly(binder)))
        line, index = b.emit(ir.Argsort(binder, key), (ir.Result(I64, (n,), n),), e.span, "o")
        return VArray(n, lambda p: Scalar(self.read(line, 0, (*index, p))))

    def filter(self, e: core.Filter, env: Env) -> Value:
        """Results of compress: the count, the positions, and the values of scalar leaves."""
        array, mask = self.eval(e.array, env), self.eval(e.mask, env)
        b = self.b
        assert isinstance(e.type, Array)
        n = _extent(array)
        binder = b.fresh_binder("r", n)
        leaf_types = flatten(e.type.elem)
        direct = [k for k, (_, t) in enumerate(leaf_types) if not isinstance(t, Array)]
        with b.binding(binder):
            keep = self.operand(self.get(mask, poly(binder)))
            element = self.get(array, poly(binder))
            values = tuple(self.operand(self.element(element, (), leaf_types[k][0])) for k in direct)
        results = [ir.Result(I64, (), n + 1), ir.Result(I64, (n,), n)]
        results += [ir.Result(ir.operand_dtype(value), (n,)) for value in values]
        line, index = b.emit(ir.Compress(binder, keep, values), tuple(results), e.span, "c")
        count = poly(ir.ref_atom(ir.Ref(line, 0, index)))

        def leaf(k: int) -> Callable[[tuple[Poly, ...]], Value]:
            if k in direct:
                return lambda i: Scalar(self.read(line, 2 + direct.index(k), index + i))

            def moved(i: tuple[Poly, ...]) -> Value:
                where = poly(ir.ref_atom(ir.Ref(line, 1, (*index, i[0]))))
                return Scalar(self.operand(self.element(array, (where, *i[1:]), leaf_types[k][0])))

            return moved

        size_env = dict(env)
        sym = e.type.size.single()
        assert isinstance(sym, Sym)
        size_env[sym] = Scalar(scalars.from_poly(count))
        return self.from_leaves(e.type, [leaf(k) for k in range(len(leaf_types))], size_env)

    # -- loops

    def loop_block(
        self, state: tuple[tuple[Sym, core.Expr], ...], env: Env, owned: tuple[Sym, ...]
    ) -> tuple[ir.Block, Env, tuple[ir.Abs, ...], Type]:
        """The body's block with a parameter per leaf of the state, and the first values."""
        b = self.b
        t = Tuple(tuple(first.type for _, first in state))
        firsts: list[ir.Abs] = []
        for _, first in state:
            firsts += self.abs_of(self.eval(first, env), first.type, env)
        block = b.new_block(owned)
        inner = dict(env)
        position = 0
        for sym, first in state:
            lines = []
            for _, leaf_type in flatten(first.type):
                sizes, elem = shape_of(leaf_type)
                axes = tuple(self.poly(s, env) for s in sizes)
                lines.append(self.param(block, position, sym.name, elem.dtype, axes))  # type: ignore[union-attr]
                position += 1
            inner[sym] = self.from_lines(first.type, lines, env)
        return block, inner, tuple(firsts), t

    def for_(self, e: core.For, env: Env) -> Value:
        b = self.b
        size, extra = self.safe_extent(self.poly(e.size, env), e.span)
        index = Sym(e.sym.name)
        block, inner, firsts, t = self.loop_block(e.state, env, (index,))
        known = [poly(index), size - 1 - poly(index)]
        if extra is not None:
            known.append(extra - 1 - poly(index))
        b.index_facts[index] = tuple(known)
        inner[e.sym] = Scalar(ir.IndexValue(poly(index)))
        with b.inside(block):
            value = self.eval(e.body, inner)
            results = self.abs_of(value, t, env)
        prim = ir.Loop(index, size, firsts, block, results, e.checkpoint, e.no_false_deps)
        line, where = b.emit(prim, self.result_types(t, env), e.span, "l")
        return self.from_results(t, line, where, env)

    def while_(self, e: core.While, env: Env) -> Value:
        b = self.b
        block, inner, firsts, t = self.loop_block(e.state, env, ())
        with b.inside(block):
            test = self.eval(e.cond, inner)
            cond = self.operand(test)
            head = tuple(line for line in block.lines if isinstance(line.prim, ir.EFFECTS))
            b.given(*self._while_conds(test))
            value = self.eval(e.body, inner)
            results = self.abs_of(value, t, env)
        bound = None if e.bound is None else self.poly(e.bound, env)
        prim = ir.While(firsts, cond, head, block, results, bound)
        line, where = b.emit(prim, self.result_types(t, env), e.span, "w")
        return self.from_results(t, line, where, env)

    def _while_conds(self, test: Value) -> tuple[ir.Cond, ...]:
        found = self.cond(test)
        return () if isinstance(found, bool) else self.conditions(found)

    # -- the rest

    def view(self, e: core.View, env: Env) -> Value:
        info = VIEWS[e.op]
        args = [self.eval(a, env) for a in e.args]
        params = tuple(self._param(p, env) for p in e.params)
        arrays = args[:-1] if info.fills else args
        axes = info.axes if info.axes >= 0 else len(params)
        shapes = tuple(self.extents(a.type, env)[:axes] for a in e.args[: len(arrays)])
        extents = info.shape(shapes, params)
        fill = args[-1] if info.fills else None

        def element(index: tuple[Poly, ...]) -> Value:
            pieces = info.pull(shapes, params, index)
            return self.piecewise(list(pieces), arrays, fill, e.span)

        return rows(element, tuple(extents))

    def piecewise(self, pieces: list[Any], arrays: list[Value], fill: Value | None, span: Span) -> Value:
        """The first piece whose conditions hold."""
        if not pieces:
            assert fill is not None
            return fill
        piece = pieces[0]
        conds: list[ir.Cond] = []
        for p in piece.conditions:
            found = scalars.simplify_cond(self.b, ir.Cond("ge", p))
            if isinstance(found, ir.Const):
                if not found.value:
                    return self.piecewise(pieces[1:], arrays, fill, span)
            else:
                conds.append(found)
        value = arrays[piece.arg]

        def inside() -> Value:
            result = value
            for p in piece.index:
                result = self.get(result, p)
            return result

        if not conds:
            return inside()
        test = Formula("all", tuple(Formula("is", (c,)) for c in conds)) if len(conds) > 1 else Formula("is", (conds[0],))
        with self.b.under(*conds):
            then = inside()
        if len(pieces) == 1 and fill is not None:
            orelse = _fill_like(then, fill)
        else:
            with self.b.under(*self.path_conds(test.negated())):
                orelse = self.piecewise(pieces[1:], arrays, fill, span)
        return self.select(test, then, orelse, span)

    def _param(self, p: Any, env: Env) -> Any:
        if isinstance(p, Poly):
            return self.poly(p, env)
        return tuple(self._param(x, env) for x in p) if isinstance(p, tuple) else p

    def zip(self, e: core.Zip, env: Env) -> Value:
        return self.push_in(VTuple(tuple(self.eval(item, env) for item in e.items)), 1)

    def unzip(self, e: core.Unzip, env: Env) -> Value:
        value = self.eval(e.value, env)
        return VTuple(tuple(_component(value, k) for k in range(len(components(e.type)))))

    def call(self, e: core.Call, env: Env) -> Value:
        """Inlined."""
        fn = e.fn
        if fn.recursive or fn in self.calls:
            fail("E0801", e.span, name=fn.name, where=self.where)
        inner: Env = {}
        for sym, p in zip(fn.sizes, e.sizes, strict=True):
            inner[sym] = Scalar(scalars.from_poly(self.poly(p, env)))
        for (sym, _), arg in zip(fn.params, e.args, strict=True):
            inner[sym] = self.eval(arg, env)
        saved, self.where = self.where, fn.name
        self.calls.append(fn)
        assert fn.body is not None
        value = self.eval(fn.body, inner)
        self.calls.pop()
        self.where = saved
        return value

    def copy(self, e: core.Copy, env: Env) -> Value:
        return self.eval(e.value, env)


# -- helpers on values


def _component(value: Value, k: int) -> Value:
    """Component k of an array of tuples, as an array."""
    if isinstance(value, VTuple):
        return value.items[k]  # type: ignore[no-any-return]
    assert isinstance(value, VArray)
    return VArray(value.extent, lambda p: _component(value.get(p), k))


def _extent(value: Value) -> Poly:
    while isinstance(value, VTuple):
        value = value.items[0]
    assert isinstance(value, VArray), value
    return value.extent


def _extents_at(line: ir.Line, result: int, index: tuple[Poly, ...]) -> tuple[Poly, ...]:
    env = dict(zip(line.dims, index, strict=False))
    return tuple(n.subst(env) for n in line.extents(result))


def _conditions(f: Formula) -> list[ir.Cond]:
    found: list[ir.Cond] = []
    for part in f.parts:
        found += [part] if isinstance(part, ir.Cond) else _conditions(part)
    return found


def _nearly_all(axes: list[Any], extents: tuple[Poly, ...]) -> bool:
    """True when an update leaves only a border of constant width untouched."""
    if any(isinstance(item, Poly) for item in axes):
        return False
    left = [(extent - size).const() for (_, step, size), extent in zip(axes, extents, strict=False) if step == 1]
    return len(left) == len(axes) and all(border is not None and border <= 16 for border in left)


def _fill_like(value: Value, fill: Value) -> Value:
    """The fill in the shape of a padded element."""
    if isinstance(value, VArray):
        return VArray(value.extent, lambda p: _fill_like(value.get(p), fill))
    if isinstance(value, VTuple):
        return VTuple(tuple(_fill_like(item, fill) for item in value.items))
    return fill


def _bound(value: float, dtype: DType) -> float:
    return float(dtype.numpy.type(value))


def _index_name(k: int) -> str:
    return "ijklmn"[k % 6]


_EVAL: dict[type, Callable[[Translator, Any, Env], Value]] = {
    core.Var: Translator.var,
    core.Lit: Translator.lit,
    core.SizeOf: Translator.size_of,
    core.ConstArray: Translator.const_array,
    core.Prim: Translator.prim,
    core.Cast: Translator.cast,
    core.If: Translator.if_,
    core.Block: Translator.block,
    core.MakeTuple: Translator.make_tuple,
    core.Proj: Translator.proj,
    core.MakeArray: Translator.make_array,
    core.Build: Translator.build,
    core.Map: Translator.map,
    core.At: Translator.at,
    core.Slice: Translator.slice,
    core.Update: Translator.update,
    core.Reduce: Translator.reduce,
    core.Scan: Translator.scan,
    core.ArgReduce: Translator.arg_reduce,
    core.Hist: Translator.hist,
    core.Scatter: Translator.scatter,
    core.Argsort: Translator.argsort,
    core.Filter: Translator.filter,
    core.For: Translator.for_,
    core.While: Translator.while_,
    core.View: Translator.view,
    core.Zip: Translator.zip,
    core.Unzip: Translator.unzip,
    core.Call: Translator.call,
    core.Copy: Translator.copy,
}
