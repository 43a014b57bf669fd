"""From a core function to its loops, and to those that are printed: plan, lower, and the rewrites that are chosen or pinned for it."""

from __future__ import annotations

import os
from dataclasses import replace

from atoll.core import ir
from atoll.errors import NOWHERE
from atoll.loops import ir as lp
from atoll.loops.check import check
from atoll.loops.choices import USUAL, Choices, pinned


def make_loops(fn: ir.Function, choices: Choices | None = None, in_memory: bool = True) -> lp.Function:
    """The loops of a core function. `in_memory`: elements that are sums may be added to in turn, which is good for caches and bad for threads."""
    from atoll.loops.portable import portable
    from atoll.lower.function import lower
    from atoll.plan.override import planned
    from atoll.plan.sums_apart import with_products

    if os.environ.get("ATOLL_CHECK") == "1":  # the normal form is checked without its dead lines; here everything
        from atoll.ainf.check import check as check_ainf
        from atoll.ainf.from_core import translate
        from atoll.core.check import check as check_core

        check_core(fn)
        check_ainf(translate(fn))
    plan = dict((choices or chosen(fn)).plan)
    program = planned(fn, plan)
    if not fn.portable:
        return check(lower(program if plan or not program.reassociate else with_products(program), in_memory))
    in_blocks, sums = fn.portable == "in blocks", set[lp.Buffer]()
    loops = portable(check(lower(program, in_memory, sums)), in_blocks, sums)
    if loops is None:  # some sum in memory is not one that can be cut there
        loops = portable(check(lower(planned(fn, plan), False)), in_blocks, set())
    assert loops is not None
    return check(loops)


def printed_loops(fn: ir.Function, loops: lp.Function) -> lp.Function:
    """Loops as C compilers are to see them."""
    if fn.portable:
        from atoll.loops.portable import products

        loops.body = products(loops.body)
    return loops


def compiled_loops(fn: ir.Function, choices: Choices | None = None) -> lp.Function:
    """The loops that are printed as C: those of the function, rewritten for speed as chosen or pinned."""
    from atoll.loops.optimise import optimise

    choices = choices if choices is not None else chosen(fn)
    loops = make_loops(fn, choices)
    optimise(loops, fn.reassociate, choices)
    return printed_loops(fn, loops)


def chosen(fn: ir.Function) -> Choices:
    """What is pinned for a function in the file beside its source, and what was said about its plan."""
    choices = pinned(fn.span.source.name, fn.name) if fn.span is not NOWHERE else USUAL
    return replace(choices, plan=tuple(sorted({**dict(choices.plan), **dict(fn.plan)}.items()))) if fn.plan else choices
