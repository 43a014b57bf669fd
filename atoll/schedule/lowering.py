"""From a theorem to loops: normalise, lower, find what has to be filled with zeros first."""

from __future__ import annotations

from typing import Any

from atoll.schedule import term as tm
from atoll.schedule.from_ainf import Source
from atoll.schedule.normalize import normalize
from atoll.schedule.to_loops import Lowered, Lowerer
from atoll.schedule.work import Work, copy_notes
from atoll.sizes import Poly, Sym


def prepare(work: Work) -> Work:
    """The same theorem with every sum bound where loops need it; the steps are recorded like any other."""
    ready = work.copy("compile")
    normalize(ready)
    if ready.base is not None:
        before = Work(ready.base, ready.notes, None, "compile")
        normalize(before)
        ready.base = before.theorem
    return ready


def lower(source: Source, work: Work) -> Lowered:
    """The loops of a prepared schedule."""
    fill: set[tm.Tensor | int] = set()
    copied: dict[Any, Any] = {}
    other = None if work.base is None else tm.refresh(work.base.term, copied)
    work.follow(copied)
    for _ in range(100):
        lowered, missing = _try(source, work, other, fill)
        if not missing:
            return lowered
        fill |= missing
    raise AssertionError("filling does not end")


def _try(source: Source, work: Work, other: tm.Term | None, fill: set[tm.Tensor | int]) -> tuple[Lowered, set[tm.Tensor | int]]:
    lowerer = Lowerer(source, copy_notes(work.notes), fill)
    known = work.theorem.facts if work.base is None else work.base.facts
    variants: list[tuple[tuple[Poly, ...], tm.Term]] = [(work.theorem.facts[len(known) :], work.theorem.term)]
    if other is not None:
        variants.append(((), other))
    function = lowerer.function(known, variants)
    lowered = Lowered(
        function,
        lowerer.covers,
        lowerer.firsts,
        lowerer.drops,
        lowerer.arms,
        lowerer.finals,
        lowerer.known,
        lowerer.filled,
        lowerer.rolled,
    )
    lowered.alive, lowered.sections, lowered.other = lowerer.alive, lowerer.sections, other
    lowered.places = lowerer.places
    lowered.params = {sym: p for sym, p in lowerer.params.items() if isinstance(sym, Sym)}
    return lowered, lowerer.uncovered()


__all__ = ["lower", "prepare"]
