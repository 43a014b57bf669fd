"""`s.assumptions()`: what a schedule takes on trust, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atoll.backends.c.vector_math import FUNCTIONS
from atoll.schedule import term as tm
from atoll.schedule.kernel import trusted
from atoll.sizes.describe import condition

if TYPE_CHECKING:
    from atoll.schedule.api import Schedule

_LICENCES = {
    "signed-zero": "the sign of a zero may differ: a + 0 is written as a where a guard is known to fail",
    "reassociate": "sums are added in another order, which changes rounding",
    "contract": "a product and a sum are rounded once instead of twice (fma)",
    "rescale": "exp(a - b) is computed as exp(a - c) * exp(c - b), a <= c <= b: rounding changes, and sums over nothing but -inf are 0, not NaN",
    "finite": "a pad, or a sum of nothing, times a number is 0: no infinity or NaN is multiplied by it",
}


def library_functions(t: tm.Term) -> set[str]:
    """Functions of the C library that have vector versions."""
    return {u.name for _, u in tm.walk(t) if isinstance(u, tm.Op) and u.name in FUNCTIONS}


def assumptions(s: Schedule) -> str:
    """One assumption per line."""
    lowered = s.lowered
    theorem = lowered.work.theorem
    lines = [
        f"the term of {s.name} means what its text means (schedule/from_ainf.py; tested against the interpreter)",
        "the C printer prints these loops (backends/c/emit.py), the C compiler compiles it, the runtime runs it",
        "index arithmetic stays below 64 bits: sizes are checked to be below 2**46 when the program is called",
    ]
    lines += [f"floating point, {name}: {_LICENCES[name]}" for name in sorted(theorem.licences)]
    math = library_functions(theorem.term)
    if not theorem.licences:
        beside = " apart from the next line" if math else ""
        lines.append(f"floating point: exact, the same bits as the program without a schedule, summed left to right{beside}")
    if math:
        shown = ", ".join(sorted(math))
        lines.append(f"{shown}: the C library's; loops that run as vectors use its vector versions, which may differ in the last bits")
    base = lowered.work.base
    if base is not None:
        tests = ", ".join(condition(f) for f in theorem.facts[len(base.facts) :])
        lines.append(f"nothing about sizes: {tests} is tested when the program runs, and other sizes take the earlier program")
    if s.source.nests:
        lines.append(f"{len(s.source.nests)} opaque parts (scans, loops, checks) are lowered as always and not looked into")
    if lowered.report.by_reindexers:
        kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(lowered.report.by_reindexers.items()))
        lines.append(f"{kinds}: no proof by order was found; they follow from C4 (reindexers are one-to-one where nothing is cut off)")
    solved = trusted(theorem) + lowered.report.trusted
    if solved:
        lines.append(f"{len(solved)} side conditions were settled by {solved[0].by}, whose word cannot be replayed")
    return "\n".join(f"- {line}" for line in lines)
