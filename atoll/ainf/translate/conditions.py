"""Scalars, conditionals, asserts: conditions stay conditions until someone needs them as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atoll.ainf import ir, scalars
from atoll.ainf.accessible import exists_if, holds, within
from atoll.ainf.scan_prim import subst
from atoll.ainf.translate.context import Env
from atoll.ainf.translate.into_state import Part, part_of
from atoll.ainf.translate.same_place import put_once
from atoll.ainf.translate.versions import Versions
from atoll.ainf.values import Formula, Scalar, Value, VArray, VTuple, index_poly
from atoll.core import ir as core
from atoll.core.prims import PRIMS
from atoll.errors import NOWHERE, Span
from atoll.sizes import Poly, Sym, Temporary, poly
from atoll.sizes.machine import stands_alone
from atoll.types.dtypes import BOOL, F64, I64, DType
from atoll.types.types import Index, dtype_of
from atoll.types.types import Scalar as ScalarType

_COMPARE = {"lt", "le", "gt", "ge", "eq", "ne"}


class Conditions(Versions):
    def var(self, e: core.Var, env: Env) -> Value:
        return self.latest(env[e.sym]) if self.now else env[e.sym]

    def lit(self, e: core.Lit, env: Env) -> Value:
        assert isinstance(e.type, (ScalarType, Index))
        return Scalar(ir.Const(e.value, e.type.dtype))

    def size_of(self, e: core.SizeOf, env: Env) -> Value:
        return Scalar(scalars.from_poly(scalars.substituted(self.b, e.poly, self.atoms(e.poly, env))))

    def prim(self, e: core.Prim, env: Env) -> Value:
        values = [self.eval(a, env) for a in e.args]
        dtype = dtype_of(e.type)
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
            if not any(isinstance(leaf, ir.Binder) for leaf in bound.leaves()):
                result.line.results = (ir.Result(I64, (), bound),)
            else:
                at = dict(zip(result.line.dims, result.index, strict=True))
                line, index = self.b.emit(subst(result.line.prim, at), (ir.Result(I64, (), bound),), e.span)
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

    def cast(self, e: core.Cast, env: Env) -> Value:
        operand = self.operand(self.eval(e.value, env))
        target = dtype_of(e.type)
        source = ir.operand_dtype(operand)
        result = scalars.cast(self.b, operand, target, e.span)
        if target.is_integer and source.is_float and not isinstance(result, ir.Const):
            low, high = target.limits()
            # a float fits when trunc(x) does: x > low - 1 and x < high + 1, with exact bounds in the source type
            b = self.b
            below, least = _bound(float(low - 1), source), _bound(float(low), source)
            above = ("gt", below) if below != least else ("ge", least)  # f32 has no -2**31 - 1
            lower = b.ref(ir.Op(above[0], (operand, ir.Const(above[1], source))), ir.Result(BOOL), e.span)
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
        once = put_once(e, lambda update: self.is_element(update, env), self.into_state.same)
        if once is not e:
            return self.eval(once, env)
        with self.b.under(*self.path_conds(test)):
            then = self.eval(e.then, env)
        before, self.now = self.now, {**self.now, **self.versions(then, test)}
        with self.b.under(*self.path_conds(test.negated())):
            orelse = self.eval(e.orelse, env)
        self.now = before
        then, orelse = self.exchanged(test, then, orelse, e.span)
        return self.select(test, then, orelse, e.span, self.into_state.goes(e))

    def is_element(self, update: core.Update, env: Env) -> bool:
        """Whether what an update puts is an element of an array that stands here, at a place that is seen to be there."""
        if not isinstance(update.array, core.Var) or update.array.sym not in env or not update.items:
            return False
        places = [index_poly(self.eval(item, env)) for item in update.items if isinstance(item, (core.Var, core.SizeOf))]
        return all(self.b.proves_range(p, size) for p, size in zip(places, self.extents(update.array.type, env), strict=False))

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
        if not self.may_be_missing(rest):
            return Formula(op, (test, rest))
        other = ir.Const(op == "any", BOOL)
        path = test if op == "all" else test.negated()
        with self.b.under(*self.path_conds(path)):
            value = self.leaving(self.formula(rest), span)
        return Scalar(scalars.select(self.b, self.conditions(path), value, other, span))

    def may_be_missing(self, f: Formula) -> bool:
        """Some value that the formula asks about exists only under conditions."""
        if (known := self.asked.get(id(f))) is not None:
            return known[1]
        found = any(any(exists_if(ref) for ref in part.refs()) if isinstance(part, ir.Cond) else self.may_be_missing(part) for part in f.parts)
        self.asked[id(f)] = f, found
        return found

    def leaving(self, x: ir.Operand, span: Span) -> ir.Operand:
        """The value of a branch, at the end of it, without the conditions that were only checked inside: where one of them does not hold the program has
        failed, if the branch was taken; if it was not, nobody checked it, and what the other branch gives must not be missing with it."""
        conds: dict[ir.Cond, None] = {}
        for ref in ir.operand_refs(x):
            env = dict(zip(ref.line.dims, ref.index, strict=False))
            conds.update(dict.fromkeys(cond.subst(env) for cond in exists_if(ref)))
        if not conds:
            return x
        around = {given.made for given in self.b.path}
        rounds = within(self.b.binders)
        inside = tuple(c for c in conds if c not in around and not holds(c, rounds))
        return scalars.select(self.b, inside, x, scalars.constant(0, ir.operand_dtype(x)), span) if inside else x

    def select(self, test: Formula | bool, then: Value, orelse: Value, span: Span, goes: Part = True) -> Value:
        """then where test holds, orelse elsewhere; arrays element by element, each side read under its condition. `goes` is what of it may become state of a loop."""
        if isinstance(test, bool):
            return then if test else orelse
        if isinstance(then, VTuple) and isinstance(orelse, VTuple):
            return VTuple(tuple(self.select(test, a, b, span, part_of(goes, k)) for k, (a, b) in enumerate(zip(then.items, orelse.items, strict=True))))
        if isinstance(then, VArray) and isinstance(orelse, VArray):
            if then.parts is not None and orelse.parts is not None:
                items = self.select(test, then.parts, orelse.parts, span, bool(goes))
                assert isinstance(items, VTuple)
                return self.push_in(items, then.depth)
            merged = self.merge_updates(test, then, orelse, span, bool(goes))
            if merged is not None:
                return merged

            def get(p: Poly) -> Value:
                with self.b.under(*self.path_conds(test)):
                    a = then.get(p)
                with self.b.under(*self.path_conds(test.negated())):
                    c = orelse.get(p)
                return self.select(test, a, c, span)

            return VArray(then.extent, get)
        with self.b.under(*self.path_conds(test)):
            a = self.leaving(self.operand(then), span)
        with self.b.under(*self.path_conds(test.negated())):
            c = self.leaving(self.operand(orelse), span)
        if a == c:
            return Scalar(a)
        if test.op == "any" and (found := test.negated().conds()) is not None:
            return Scalar(scalars.select(self.b, found, c, a, span))
        return Scalar(scalars.select(self.b, self.conditions(test), a, c, span))

    def block(self, e: core.Block, env: Env) -> Value:
        env = Env(env)
        for stmt in e.stmts:
            self.stmt(stmt, env)
        return self.eval(e.result, env)

    def stmt(self, stmt: core.Stmt, env: Env) -> None:
        match stmt:
            case core.Bind(sym, value):
                name = sym.given if isinstance(sym, Temporary) else sym.name
                found = self.eval(value, env)
                with self.b.about(value.span):
                    env[sym] = self.reify(found, sym.name, name or "")
                if self.plan and name is not None and not self.calls:
                    self.bound_names.setdefault(name, value.span)
                    if name in self.plan:
                        env[sym] = self.planned(env[sym], name, self.plan[name], value.span)
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
                if not (self.b.trusted(p) or stands_alone(p, lambda atom: not self.b.bounded(atom))):
                    self.b.check((self.has_not_wrapped(p),), site, args)
                self.b.check((ir.Cond("ge", p),), site, args)
                self.b.given(ir.Cond("ge", p))

    def has_not_wrapped(self, p: Poly) -> ir.Cond:
        """What is known of a size is known of integers without end, so it must be the integer that it would be there: the same in floats, nearly."""

        def real(x: ir.Operand) -> ir.Operand:
            return scalars.cast(self.b, x, F64, NOWHERE)

        def of(name: str, *args: ir.Operand) -> ir.Operand:
            return scalars.op(self.b, name, args, F64, NOWHERE)

        total: ir.Operand = ir.Const(0.0, F64)
        for mono, coef in p.terms.items():
            term: ir.Operand = ir.Const(float(coef), F64)
            for atom in mono:
                term = of("mul", term, real(scalars.from_poly(poly(atom))))
            total = of("add", total, term)
        apart = of("abs", of("sub", real(scalars.from_poly(p)), total))
        found = scalars.compare(self.b, "lt", apart, ir.Const(2.0**62, F64), NOWHERE)
        return found if isinstance(found, ir.Cond) else ir.Cond("true", None, found)  # type: ignore[arg-type]


def _bound(value: float, dtype: DType) -> float:
    return float(dtype.numpy.type(value))
