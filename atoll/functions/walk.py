"""What passes that rewrite nested blocks share: the branches of a case, and blocks in which only the functions change."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from atoll.functions import ir
from atoll.functions.deep import Deep


def in_branches(term: ir.Term, inside: Callable[[ir.Block], Deep[ir.Block]]) -> Deep[ir.Term]:
    """The term, the branches of a case rewritten."""
    if not isinstance(term, ir.Case):
        return term
    branches = []
    for con, block in term.branches:
        branches.append((con, (yield inside(block))))
    return ir.Case(term.value, tuple(branches))


def with_functions(block: ir.Block, rewrite: Callable[[tuple[ir.Fun, ...]], Deep[Sequence[ir.Fun]]]) -> Deep[ir.Block]:
    """The block with every bundle of functions rewritten, those in its joins and branches too; the bodies are up to `rewrite`."""

    def inside(inner: ir.Block) -> Deep[ir.Block]:
        return with_functions(inner, rewrite)

    out: list[ir.Bind] = []
    for bind in block.binds:
        if isinstance(bind, ir.Funs):
            bundle = yield rewrite(bind.bundle)
            if bundle:
                out.append(ir.Funs(tuple(bundle)))
        elif isinstance(bind, ir.Join):
            out.append(ir.Join(bind.name, bind.params, (yield inside(bind.body))))
        else:
            out.append(bind)
    return ir.Block(tuple(out), (yield in_branches(block.term, inside)))
