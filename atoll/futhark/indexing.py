"""Indices, slices of any step, and updates of parts."""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.core.slices import slice_type
from atoll.errors import fail
from atoll.futhark import syntax as s
from atoll.futhark.env import feature
from atoll.futhark.ftypes import (
    Arr,
    Rec,
    Type,
)
from atoll.futhark.representation import Representation
from atoll.futhark.values import Code, Frame, Record, V
from atoll.sizes import Poly, Sym, cdiv, poly
from atoll.types import types as core
from atoll.types.types import I64_T


class Indexing(Representation):
    def eval_LetWith(self, e: s.LetWith, frame: Frame) -> V:
        use, binding = e.info
        old = self.used(use, frame)
        new = self.updated(old, use.type, e.steps, self.named(self.eval(e.value, frame)), frame)
        inner = Frame(frame)
        inner.bind(binding, self.named(new, e.name))
        return self.eval(e.body, inner)

    def eval_Update(self, e: s.Update, frame: Frame) -> V:
        old = self.named(self.eval(e.value, frame))
        return self.updated(old, e.value.ty, e.steps, self.named(self.eval(e.new, frame)), frame)

    def updated(self, v: V, t: Type, steps: list[s.Step], new: V, frame: Frame) -> V:
        if not steps:
            return new
        kind, what = steps[0]
        if kind == "field":
            shape = self.shape(t, frame)
            assert isinstance(shape, Rec)
            fields = self.fields(v, shape).fields
            fields[what] = self.updated(fields[what], shape.fields[what], steps[1:], new, frame)
            return Record(fields)
        array = self.name(self.reify(v))
        if len(what) == 1 and len(steps) == 1 and what[0].step is not None:
            step = self.poly(self.name(self.code(what[0].step, frame), "step"))
            if step.const() is None:
                return self.put_strided(array, what[0], step, new, frame)
        items = self.items(array.type, what, frame)
        if len(steps) > 1:
            inner_type = self.shape(t, frame)
            for _ in what:
                assert isinstance(inner_type, Arr)
                inner_type = self.shape(inner_type.elem, frame)
            part = self.named(self.taken(array, items))
            new = self.updated(part, inner_type, steps[1:], new, frame)

        wanted = slice_type(array.type, list(items))
        value = self.resized(self.reify(new), wanted, "what is written has the size of where it is written")
        return Code(ir.Update(array, tuple(items), value, type=array.type, span=self.span))

    def eval_Index(self, e: s.Index, frame: Frame) -> V:
        return self.index(self.eval(e.value, frame), e.dims, frame)

    def index(self, v: V, dims: list[s.Dim], frame: Frame) -> V:
        array = self.reify(v)
        if len(dims) == 1 and dims[0].step is not None:
            step = self.name(self.code(dims[0].step, frame), "step")
            if self.poly(step).const() is None:
                return self.strided(self.name(array), dims[0], self.poly(step), frame)
        if any(d.slice for d in dims):
            array = self.name(array)
        return self.taken(array, self.items(array.type, dims, frame))

    def strided(self, array: ir.Expr, d: s.Dim, step: Poly, frame: Frame) -> V:
        """A slice whose step is only known when the program runs."""
        assert isinstance(array.type, core.Array)
        low, count = self.stride(array.type.size, d, step, frame)
        i = Sym("i")
        at = ir.At(array, self.size(low + step * poly(i)).e, type=array.type.elem, span=self.span)
        return Code(ir.Build(i, count, at, type=core.Array(array.type.elem, count), span=self.span))

    def stride(self, n: Poly, d: s.Dim, step: Poly, frame: Frame) -> tuple[Poly, Poly]:
        """Where such a slice begins, and how many elements it has."""
        up = self.prim("gt", self.size(step).e, ir.Lit(0, type=I64_T), bool_=True).e

        def end(e: Any, for_up: Poly, for_down: Poly) -> Poly:
            if e is not None:
                return self.poly(self.code(e, frame))
            return self.poly(self.name(self.prim("select", up, self.size(for_up).e, self.size(for_down).e).e, "end"))

        low, high = end(d.low, poly(0), n - 1), end(d.high, n, poly(-1))
        count = self.poly(self.name(ir.Prim("rounds", (self.size(low).e, self.size(high).e, self.size(step).e), type=I64_T, span=self.span), "count"))
        self.stmts.append(ir.Assert(self.prim("ne", self.size(step).e, ir.Lit(0, type=I64_T), bool_=True).e, "the step of a slice is not 0", self.span))
        return low, count

    def put_strided(self, array: ir.Expr, d: s.Dim, step: Poly, new: V, frame: Frame) -> V:
        """An update of such a slice: its elements one by one, each in range."""
        assert isinstance(array.type, core.Array)
        low, count = self.stride(array.type.size, d, step, frame)
        i, acc = Sym("i"), Sym("array")
        value = self.name(self.resized(self.reify(new), core.Array(array.type.elem, count), "what is written has the size of where it is written"))
        x = ir.At(value, ir.Var(i, type=I64_T), type=array.type.elem, span=self.span)
        done = ir.Update(ir.Var(acc, type=array.type, span=self.span), (self.size(low + step * poly(i)).e,), x, type=array.type, span=self.span)
        t = core.Tuple((array.type,))
        made = self.name(ir.For(i, count, ((acc, array),), ir.MakeTuple((done,), type=t, span=self.span), type=t, span=self.span))
        return Code(ir.Proj(made, 0, type=array.type, span=self.span))

    def items(self, t: core.Type, dims: list[s.Dim], frame: Frame) -> list[Any]:
        made: list[Any] = []
        for d in dims:
            assert isinstance(t, core.Array), t
            made.append(self.range(t.size, d, frame) if d.slice else self.cast(self.code(d.low, frame), "i64"))
            t = t.elem
        return made

    def range(self, n: Poly, d: s.Dim, frame: Frame) -> Any:
        low, high = (None if x is None else self.poly(self.code(x, frame)) for x in (d.low, d.high))
        step = 1
        if d.step is not None:
            found = self.poly(self.code(d.step, frame)).const()
            if found is None:
                feature(self.span, "a slice whose step is not a constant, as the target of an update or beside other slices")
            step = int(found)
        if step == 0:
            fail("E1406", self.span, what="the step of a slice is 0")
        text = "the slice lies in the array"
        if step > 0:
            low, high = poly(0) if low is None else low, n if high is None else high
            self.require(low, text)
            self.require(high - low, text)
            self.require(n - high, text)
            return ir.Range(low, step, high - low if step == 1 else cdiv(high - low, step))
        low, high = n - 1 if low is None else low, poly(-1) if high is None else high
        count = low - high if step == -1 else cdiv(low - high, -step)
        self.require(low - high, text)
        self.require(n - 1 - low, text)
        self.require(high + 1, text)
        return ir.Range(low, step, count)

    def taken(self, array: ir.Expr, items: list[Any]) -> V:
        if any(isinstance(i, ir.Range) for i in items):
            return Code(ir.Slice(array, tuple(items), type=slice_type(array.type, list(items)), span=self.span))
        e = array
        for i in items:
            assert isinstance(e.type, core.Array)
            e = ir.At(e, i, type=e.type.elem, span=self.span)
        return Code(e)
