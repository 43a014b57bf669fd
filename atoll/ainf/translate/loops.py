"""Sequential loops: a block of lines with a parameter per leaf of the state."""

from __future__ import annotations

from atoll.ainf import ir
from atoll.ainf.translate.context import Env
from atoll.ainf.translate.scatters import Scatters
from atoll.ainf.values import Scalar, Value
from atoll.core import ir as core
from atoll.errors import Span
from atoll.sizes import Poly, Sym, poly
from atoll.types.types import Tuple, Type, dtype_of, flatten, shape_of


class Loops(Scatters):
    def loop_block(
        self, e: core.For | core.While, env: Env, owned: tuple[Sym, ...]
    ) -> tuple[ir.Block, Env, tuple[ir.Abs, ...], Type]:
        """The body's block with a parameter per leaf of the state, and the first values."""
        b, state = self.b, e.state
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
        index, size = self.round_index(e.sym.name, self.poly(e.size, env), e.span)
        self.into_state.look(e)
        block, inner, firsts, t = self.loop_block(e, env, (index,))
        inner[e.sym] = Scalar(ir.IndexValue(poly(index)))
        with b.inside(block):
            value = self.eval(e.body, inner)
            results = self.abs_of(value, t, env)
        types = self.result_types(t, env)
        line, where = self.put(ir.Loop(index, size, firsts, block, results, e.checkpoint, e.no_false_deps), types, e.span, "l")
        return self.from_results(t, line, where, env)

    def round_index(self, name: str, size: Poly, span: Span) -> tuple[Sym, Poly]:
        """The index of a loop of so many rounds, and how many they are without wrapping around."""
        size, extra = self.safe_extent(size, span)
        index = Sym(name)
        known = [poly(index), size - 1 - poly(index)]
        if extra is not None:
            known.append(extra - 1 - poly(index))
        self.b.index_facts[index] = tuple(known)
        return index, size

    def while_(self, e: core.While, env: Env) -> Value:
        b = self.b
        index, size = None, poly(0)
        if e.count is not None and e.rounds is not None:
            index, size = self.round_index(e.state[e.count][0].name.strip(), self.poly(e.rounds, env), e.span)
        self.into_state.look(e)
        block, inner, firsts, t = self.loop_block(e, env, () if index is None else (index,))
        if e.count is not None and index is not None:
            inner[e.state[e.count][0]] = Scalar(ir.IndexValue(poly(index)))
        with b.inside(block):
            test = self.eval(e.cond, inner)
            cond = self.operand(test)
            head = tuple(line for line in block.lines if isinstance(line.prim, ir.EFFECTS))
            b.given(*self._while_conds(test))
            value = self.eval(e.body, inner)
            results = self.abs_of(value, t, env)
        bound = None if e.bound is None else self.poly(e.bound, env)
        line, where = self.put(ir.While(firsts, cond, head, block, results, bound, (), index, size), self.result_types(t, env), e.span, "w")
        return self.from_results(t, line, where, env)

    def _while_conds(self, test: Value) -> tuple[ir.Cond, ...]:
        found = self.cond(test)
        return () if isinstance(found, bool) else self.conditions(found)
