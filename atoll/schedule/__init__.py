"""Schedules that are proofs: a program is rearranged step by step, and every step is a theorem.

    term.py       the tensor language: loops that build and sum, guards, lets, reshapes that carry an axis
    reshapes.py   the reshape operators as rows: shape, where an element comes from, where an element goes
    denote.py     the meaning of a term, on NumPy arrays, down to the order of additions
    show.py       terms as text
    kernel.py     theorems `facts |- source = term`, made only by rules; rules_*.py are the table of rules
    arith.py      side conditions: the prover of sizes/, counterexamples, a solver behind it on request
    equations.py  ATL's lemmas by their names;  pads.py  what is known to be padding
    api.py        `at.schedule`: named loops (names.py), primitives as recipes of rules (loop_steps.py, value_steps.py, online.py), library.py the
                  ones users would write, formulas.py sizes as users write them, caller.py where an error points
    from_ainf.py  the term of a function in normal form; routine.py what stays opaque
    to_loops.py   the loops of a term, through reindexers (place.py), and how every cell comes to be written (cover.py)
    compiled.py   the checked loops as native code
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from atoll.errors.plain import plain

if TYPE_CHECKING:
    from atoll.schedule.api import Schedule

__all__ = ["Schedule"]


class _Callable(ModuleType):
    """`at.schedule(f)`: the package and the function share their name, so the package can be called."""

    @plain
    def __call__(self, function: Any) -> Schedule:
        from atoll.schedule.api import schedule

        return schedule(function)


def __getattr__(name: str) -> Any:
    if name == "Schedule":
        from atoll.schedule.api import Schedule

        return Schedule
    if name == "schedule":
        return sys.modules[__name__]
    raise AttributeError(name)


sys.modules[__name__].__class__ = _Callable
