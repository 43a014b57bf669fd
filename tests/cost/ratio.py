"""The cost of a gradient beside that of its function, counted in the loops of both (loops/count.py).

    python -m tests.cost.ratio [programs | further | others | kinds | NAME ...]     the table of the programs of tests/cost/programs.py, further.py, others.py and kinds.py
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import atoll as at
from atoll.core import values as v
from atoll.core.binding import bind_call
from atoll.loops.count import Counts, counted
from atoll.lower.make import compiled_loops
from atoll.runtime.arguments import from_python


def counts(f: at.Function, args: tuple[Any, ...]) -> Counts:
    """What a call does."""
    values = from_python(f.core, args)
    return counted(compiled_loops(f.core), [leaf for x in values for leaf in v.leaves(x)], dict(bind_call(f.core, values)))


@dataclass(frozen=True)
class Ratios:
    """Gradient over function, at increasing sizes: of operations, and of operations and elements moved."""

    operations: tuple[float, ...]
    work: tuple[float, ...]

    @property
    def growth(self) -> float:
        """How much dearer the gradient becomes, beside its function, from the first size to the last."""
        return self.work[-1] / self.work[0]


def ratios(f: at.Function, g: at.Function, points: list[tuple[Any, ...]]) -> Ratios:
    pairs = [(counts(f, args), counts(g, args)) for args in points]
    return Ratios(
        tuple(b.operations / max(a.operations, 1) for a, b in pairs),
        tuple(b.work / max(a.work, 1) for a, b in pairs),
    )


def main(names: list[str]) -> None:
    from tests.cost.further import FURTHER
    from tests.cost.kinds import KINDS
    from tests.cost.others import OTHERS
    from tests.cost.programs import PROGRAMS

    tables = {"programs": PROGRAMS, "further": FURTHER, "others": OTHERS, "kinds": KINDS}
    for program in [p for name in tables for p in tables[name] if not names or name in names or p.name in names]:
        try:
            found = ratios(program.function, program.gradient, program.points())
        except Exception as error:  # noqa: BLE001  a table goes on
            print(f"{program.name:28s} {type(error).__name__} {str(error)[:90]}", flush=True)
            continue
        shown = "  ".join(f"{a:6.1f} {b:6.1f}" for a, b in zip(found.operations, found.work, strict=True))
        print(f"{program.name:28s} {shown}   growth {found.growth:5.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
