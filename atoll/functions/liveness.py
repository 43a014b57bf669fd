"""Which variables are needed after each bind of a function in closed code. Jumps carry the needs of their joins."""

from __future__ import annotations

from collections.abc import Mapping

from atoll.functions import ir
from atoll.functions.counted import TailInto
from atoll.functions.deep import Deep, run

Names = frozenset[ir.Var]


class Liveness:
    def __init__(self, fun: ir.Fun, ends: Mapping[ir.Block, TailInto] | None = None) -> None:
        self._ends = ends or {}
        self._after: dict[ir.Block, list[Names]] = {}
        self._before: dict[ir.Block, Names] = {}
        self.joins: dict[ir.Var, Names] = {}
        run(self._block(fun.body))

    def after(self, block: ir.Block, position: int) -> Names:
        """Needed after the bind at this position; after the last one, by the term."""
        return self._after[block][position]

    def before(self, block: ir.Block) -> Names:
        return self._before[block]

    def _block(self, block: ir.Block) -> Deep[Names]:
        for bind in block.binds:
            if isinstance(bind, ir.Join):
                inner = yield self._block(bind.body)
                self.joins[bind.name] = inner - set(bind.params)
        live: Names = frozenset()
        match block.term:
            case ir.Case(value, branches):
                live = frozenset((value,))
                for _, inner_block in branches:
                    live |= yield self._block(inner_block)
            case ir.Jump(join, args):
                live = frozenset(args) | self.joins[join]
            case ir.Tail() | ir.Ret():
                live = frozenset(ir.term_uses(block.term))
                if block in self._ends:
                    live |= {self._ends[block].result}
        after: list[Names] = []
        for bind in reversed(block.binds):
            after.append(live)
            if not isinstance(bind, ir.Join):
                live = (live - set(ir.bound(bind))) | set(ir.uses(bind))
        after.reverse()
        self._after[block] = after
        self._before[block] = live
        return live
