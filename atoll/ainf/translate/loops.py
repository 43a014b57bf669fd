"""Sequential loops: a block of lines with a parameter per leaf of the state."""

from __future__ import annotations

from atoll.ainf import ir, scalars
from atoll.ainf.known import Given
from atoll.ainf.translate.context import Env
from atoll.ainf.translate.scatters import Scatters
from atoll.ainf.values import Scalar, Value
from atoll.core import ir as core
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, I64
from atoll.types.types import Tuple, Type, dtype_of, flatten, shape_of


class Loops(Scatters):
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
        inner = Env(env)
        position = 0
        for sym, first in state:
            lines = []
            for _, leaf_type in flatten(first.type):
                sizes, elem = shape_of(leaf_type)
                axes = tuple(self.poly(s, env) for s in sizes)
                lines.append(self.param(block, position, sym.name, dtype_of(elem), axes))
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
        types = self.result_types(t, env)
        made = self.unconditional(index, size, firsts, block, results, e, types)
        if made is None:
            prim = ir.Loop(index, size, firsts, block, results, e.checkpoint, e.no_false_deps)
            made = b.emit(prim, types, e.span, "l")
        line, where = made
        return self.from_results(t, line, where, env)

    def unconditional(
        self,
        index: Sym,
        size: Poly,
        firsts: tuple[ir.Abs, ...],
        block: ir.Block,
        results: tuple[ir.Abs, ...],
        e: core.For,
        types: tuple[ir.Result, ...],
    ) -> tuple[ir.Line, tuple[Poly, ...]] | None:
        """A loop in a branch that updates arrays: the same loop with no rounds when the branch is not taken, so that it can
        work in place. Only when its first values exist outside the branch."""
        b = self.b
        given = self.branch(firsts)
        if not given or any(ref.line.conds for ref in ir.poly_refs(size)):
            return None
        conds = tuple(g.cond for g in given)
        count = scalars.select(b, conds, scalars.from_poly(size), ir.Const(0, I64), e.span)
        rounds = scalars.as_poly(b, count)
        assert rounds is not None
        saved, b.path = b.path, [g for g in b.path if g not in given]
        prim = ir.Loop(index, rounds, firsts, block, results, e.checkpoint, e.no_false_deps)
        line, where = b.emit(prim, types, e.span, "l")
        b.path = saved
        self.guarded_loops[line] = conds
        return line, where

    def branch(self, firsts: tuple[ir.Abs, ...]) -> list[Given]:
        """The conditions of the branch around a loop over arrays that exist outside the branch."""
        used = [ref for first in firsts for ref in ir.operand_refs(first.body)]
        if not any(first.binders for first in firsts) or any(ref.line.conds for ref in used):
            return []
        return [g for g in self.b.path if g.lazy and g.block is self.b.block]

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
        given = self.branch(firsts) if not head else []
        conds = tuple(g.cond for g in given)
        if given:  # the same loop, which ends at once when the branch is not taken
            with b.inside(block):
                cond = scalars.select(b, conds, cond, ir.Const(False, BOOL), e.span)
        saved, b.path = b.path, [g for g in b.path if g not in given]
        prim = ir.While(firsts, cond, head, block, results, bound)
        line, where = b.emit(prim, self.result_types(t, env), e.span, "w")
        b.path = saved
        if given:
            self.guarded_loops[line] = conds
        return self.from_results(t, line, where, env)

    def _while_conds(self, test: Value) -> tuple[ir.Cond, ...]:
        found = self.cond(test)
        return () if isinstance(found, bool) else self.conditions(found)
