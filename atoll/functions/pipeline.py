"""The passes in order: CertiCoq's thirteen, with specialisation where it pays (docs/sources.md, CertiCoq).

Every pass is correct in any order around one closure conversion; the order here decides only how good the code is. `Selection` says which
passes run: "none" (closure conversion and hoisting only), "no lifting", "lift everything", "selective" (the default).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atoll.functions import ir
from atoll.functions.check import check
from atoll.functions.closure_convert import closure_convert
from atoll.functions.dead_parameters import drop_dead_parameters
from atoll.functions.hoist import hoist
from atoll.functions.inline import inline
from atoll.functions.lambda_lift import EVERYTHING, SELECTIVE, Criteria, lambda_lift
from atoll.functions.shrink import shrink
from atoll.functions.specialise import specialise
from atoll.functions.uncurry import uncurry

Pass = Callable[[ir.Program], ir.Program]

PASSES: dict[str, Pass] = {
    "shrink": shrink,
    "uncurry": uncurry,
    "inline": inline,
    "specialise": specialise,
    "lambda_lift": lambda_lift,
    "closure_convert": closure_convert,
    "hoist": hoist,
    "dead_parameters": drop_dead_parameters,
}

DEFAULT = (
    "shrink uncurry inline shrink lambda_lift inline shrink closure_convert hoist inline shrink dead_parameters shrink".split()
)
"""CertiCoq's thirteen."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which passes run. `specialise` copies second-order functions, `lift` is None to leave lambda lifting out."""

    name: str
    optimise: bool = True
    specialise: bool = True
    lift: Criteria | None = SELECTIVE


SELECTIONS = {
    "none": Selection("none", optimise=False),
    "no lifting": Selection("no lifting", specialise=False, lift=None),
    "lift everything": Selection("lift everything", specialise=False, lift=EVERYTHING),
    "selective": Selection("selective", specialise=False),
    "default": Selection("default"),
}


def passes(selection: Selection = SELECTIONS["default"]) -> list[tuple[str, Pass]]:
    """The passes of a selection, in order."""
    if not selection.optimise:
        return [("closure_convert", closure_convert), ("hoist", hoist)]
    order: list[tuple[str, Pass]] = []
    for name in DEFAULT:
        if name == "lambda_lift":
            if selection.specialise:
                order += [(n, PASSES[n]) for n in ("specialise", "shrink", "uncurry", "inline", "shrink")]
            criteria = selection.lift
            if criteria is not None:
                order.append((name, lambda p, c=criteria: lambda_lift(p, c)))  # type: ignore[misc]
        else:
            order.append((name, PASSES[name]))
    return order


def compile_away(program: ir.Program, selection: Selection = SELECTIONS["default"]) -> ir.Program:
    """The program as closed first-order code. Dead parameters and shrinking repeat while they find something."""
    check(program)
    for name, step in passes(selection):
        program = step(program)
        check(program, closed=name in ("hoist", "dead_parameters"))
    while selection.optimise:
        smaller = drop_dead_parameters(program)
        if smaller is program:
            break
        program = shrink(smaller)
        check(program, closed=True)
    return program
