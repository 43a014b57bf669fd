"""Which updates happen in the memory of the array they update.

A scatter whose base is a whole array X may overwrite X when nobody needs the old X afterwards. Everything else in the block that reads X
is put before the update; a reader that cannot come before (it needs the update's result) has its reads of X done early, by
making the lines that read X stages of their own; so are the new values, unless they read what no other round writes (plan/own_places.py).
If even that fails the array is copied, and .memory() says so.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from typing import Any

from atoll.ainf import ir
from atoll.ainf.identity import identity_of, is_read, read_arg
from atoll.ainf.scan_prim import line_refs, refs
from atoll.plan.contract import find_contractions
from atoll.plan.override import kept
from atoll.plan.own_places import NOTHING, Around, reads_undisturbed
from atoll.plan.stages import Inlining, Stage, is_scalar, make_stages


@dataclass
class InPlace:
    """Updates done in place: (line, result) -> the line and result whose memory it takes. And copies, with the reason."""

    takes: dict[tuple[ir.Line, int], tuple[ir.Line, int]] = field(default_factory=dict)
    taken: set[tuple[ir.Line, int]] = field(default_factory=set)  # the values of takes
    copies: dict[tuple[ir.Line, int], str] = field(default_factory=dict)


def plan_block(
    lines: list[ir.Line], results: list[ir.Abs], writable: set[ir.Line], products: bool = True, around: Around = NOTHING
) -> tuple[Inlining, list[Stage], InPlace]:
    """Stages of a block with in-place updates decided. `writable` are sources whose memory the block may change; with `products`
    contractions are left to the matrix kernel; `around` says what is known of sizes and of the loops outside."""
    products = products and any(isinstance(line.prim, ir.Reduce) for line in lines)
    contractions, forced, absorbed = find_contractions(lines, results) if products else ({}, set(), set())
    if any(line.keep is not None for line in (*forced, *absorbed)):  # the user decides about what a product is made of
        contractions, forced, absorbed = {}, set(), set()
    forced |= kept(lines, "store") | kept(lines, "once")
    handed_on = {(found, k) for k, array in enumerate(results) if (found := identity_of(array)) is not None}
    refused: dict[tuple[ir.Line, int], str] = {}
    while True:
        inlining = Inlining(lines, results, forced)
        stages = make_stages(lines, results, inlining, 0, contractions, absorbed)
        plan = InPlace(copies=refused)
        more = _try(Dependences(lines, inlining, stages), plan, writable, forced, around, handed_on)
        if not more:
            return inlining, _sorted(stages), plan
        forced |= more


class Dependences:
    """What a block's stages read and wait for."""

    def __init__(self, lines: list[ir.Line], inlining: Inlining, stages: list[Stage]) -> None:
        self.inlining, self.stages = inlining, stages
        self.by_line = {s.line: s for s in stages if s.line is not None}
        self.by_number = {s.number: s for s in stages}
        self.followers: dict[Stage, list[Stage]] = {}
        # stages that wait for one that comes after them in the program, in order, and the furthest such one so far
        self.waiting: list[int] = []
        self.furthest: list[int] = []
        self.readers: dict[tuple[ir.Line, int], list[Stage]] = {}
        for stage in stages:
            for key in {(ref.line, ref.result) for ref in stage.refs}:
                self.readers.setdefault(key, []).append(stage)
            for earlier in self.before(stage):
                self.followers.setdefault(earlier, []).append(stage)
        self.inlined_readers: dict[tuple[ir.Line, int], set[ir.Line]] = {}  # inlined lines that read an array directly
        for line in lines:
            if inlining.is_inlined(line):
                for ref in refs(line.prim):
                    self.inlined_readers.setdefault((ref.line, ref.result), set()).add(line)

    def before(self, stage: Stage) -> list[Stage]:
        """Stages that must run before one: what it reads, and what an update it makes must wait for."""
        found = [by for ref in stage.refs if (by := self.by_line.get(ref.line)) is not None and by is not stage]
        return found + [self.by_number[k] for k in stage.after if k in self.by_number]

    def wait(self, stage: Stage, others: list[Stage]) -> None:
        """These stages must run before this one."""
        stage.after.update(other.number for other in others)
        for other in others:
            self.followers.setdefault(other, []).append(stage)
        last = max((other.number for other in others), default=-1)
        if last > stage.number:
            self.waiting.append(stage.number)
            self.furthest.append(max([last, *self.furthest[-1:]]))

    def waits_for(self, number: int) -> int:
        """The furthest stage that one up to this number waits for, directly or not."""
        while (at := bisect.bisect_right(self.waiting, number)) and self.furthest[at - 1] > number:
            number = self.furthest[at - 1]
        return number

    def depending(self, stage: Stage, among: list[Stage]) -> set[Stage]:
        """Those of these stages that must run after one, directly or not."""
        last = max([other.number for other in among] + self.furthest[-1:])
        missing, reached = set(among), set[Stage]()
        queue = [stage]
        while queue and missing:
            for other in self.followers.get(queue.pop(), ()):  # in program order, so the furthest is looked at first
                if other not in reached and other.number <= last:
                    reached.add(other)
                    missing.discard(other)
                    queue.append(other)
        return set(among) - missing

    def needs(self, line: ir.Line, stage: Stage) -> bool:
        """True when a line can only be computed after a stage."""
        queue = [self.by_line[ref.line] for ref in self.inlining.reads(line_refs(line)) if ref.line in self.by_line]
        seen: set[Stage] = set()
        while queue:
            current = queue.pop()
            if current is stage:
                return True
            if current not in seen and (current.number > stage.number or self.waits_for(current.number) >= stage.number):
                seen.add(current)
                queue += self.before(current)
        return False

    def inlined_by(self, stage: Stage) -> set[ir.Line]:
        """Inlined lines whose code becomes part of a stage."""
        queue = list(line_refs(stage.line)) if stage.line is not None else list(ir.operand_refs(stage.target.body))  # type: ignore[union-attr]
        found: set[ir.Line] = set()
        while queue:
            line = queue.pop().line
            if self.inlining.is_inlined(line) and line not in found:
                found.add(line)
                queue += line_refs(line)
        return found


def _bases(prim: Any) -> list[tuple[int, ir.Abs]]:
    """Arrays whose memory a line would like to take: result number and array."""
    if isinstance(prim, ir.Scatter):
        return [(0, prim.base)]
    if isinstance(prim, (ir.Loop, ir.While)):
        return list(enumerate(prim.state))
    if isinstance(prim, ir.ScatterFold):
        return list(enumerate(prim.base))
    return []


def _try(
    known: Dependences, plan: InPlace, writable: set[ir.Line], forced: set[ir.Line], around: Around, handed_on: set[tuple[tuple[ir.Line, int], int]]
) -> set[ir.Line]:
    """Decide every update in order. When some need lines forced first, those lines: then nothing is decided yet."""
    more: set[ir.Line] = set()
    copies = plan.copies
    for stage in known.stages:
        if stage.line is None or stage.dims:
            continue
        for k, array in _bases(stage.prim):
            key = (stage.line, k)
            found = identity_of(array)
            if key in copies or found is None or not array.binders:
                continue
            base = found[0]
            if base.dims or (base not in known.by_line and base not in writable):
                continue
            if found in plan.taken:
                copies[key] = "two updates of one array"
                continue
            if (found, _state_of(found, plan)) in handed_on:
                copies[key] = "the old value is handed on to the next round as well"
                continue
            others = [other for other in known.readers.get(found, ()) if other is not stage]
            later = known.depending(stage, others) if others else set()
            conflict = _conflicts(stage, array, found, later, known, around)
            if isinstance(conflict, str):
                copies[key] = conflict
                continue
            if conflict and conflict <= forced:
                copies[key] = "the old value is needed beside the update"
                continue
            if conflict and not more:
                copies = dict(copies)  # what is found from here on stands only once these lines are forced
            more |= conflict
            plan.takes[key] = found
            plan.taken.add(found)
            known.wait(stage, [other for other in others if other not in later])
    return more


def _state_of(found: tuple[ir.Line, int], plan: InPlace) -> int | None:
    """The number of the loop's state whose memory an array is in."""
    while found in plan.takes:
        found = plan.takes[found]
    return found[0].prim.position if isinstance(found[0].prim, ir.Param) else None


def _conflicts(
    stage: Stage, array: ir.Abs, base: tuple[ir.Line, int], later: set[Stage], known: Dependences, around: Around
) -> set[ir.Line] | str:
    """Lines to compute early so that the update can be done in place; empty when it can; text when it cannot. `later` are stages that
    read the array and depend on the update."""
    wanted: set[ir.Line] = set()
    prim = stage.prim
    binders = set(getattr(prim, "binders", ()))
    direct = known.inlined_readers.get(base, set())
    for ref in stage.refs:
        if (ref.line, ref.result) != base or is_base_read(ref, array):
            continue
        if not isinstance(prim, ir.Scatter):
            scalars = {x for x in direct if not x.dims} & known.inlined_by(stage)
            if not scalars:
                return "the loop also reads the array it starts from"
            wanted |= scalars
            continue
        if not binders or reads_undisturbed(prim, ref.index, around):
            continue
        value = prim.value
        if isinstance(value, ir.Ref) and known.inlining.is_inlined(value.line):
            wanted.add(value.line)
        else:
            return "the new values read other elements of the array"
    for other in later:
        reached = known.inlined_by(other)
        early = {x for x in direct if x in reached and not known.needs(x, stage)}
        if not early:
            return "the old value is needed after the update"
        wanted |= early
    return wanted


def is_base_read(ref: ir.Ref, array: ir.Abs) -> bool:
    """The reads that would copy the array: not done when the update is in place."""
    return isinstance(array.body, ir.Ref) and _same_read(array.body, ref)


def _same_read(a: ir.Ref, b: ir.Ref) -> bool:
    if a == b:
        return True
    if is_read(a.line):
        inner = ir.subst_operand(read_arg(a.line), dict(zip(a.line.dims, a.index, strict=False)))
        return isinstance(inner, ir.Ref) and _same_read(inner, b)
    return False


def _sorted(stages: list[Stage]) -> list[Stage]:
    """Program order, with `after` respected."""
    by_line = {s.line: s for s in stages if s.line is not None}
    by_number = {s.number: s for s in stages}
    waits: dict[Stage, list[Stage]] = {}
    for stage in stages:
        found = {earlier for ref in stage.refs if (earlier := by_line.get(ref.line)) is not None and earlier is not stage}
        found.update(by_number[k] for k in stage.after if k in by_number)
        waits[stage] = sorted(found, key=lambda s: s.number)
    done: dict[Stage, None] = {}
    entered: set[Stage] = set()

    def visit(first: Stage) -> None:
        path = [first]
        while path:
            stage = path[-1]
            if stage in done:
                path.pop()
                continue
            if stage not in entered:
                entered.add(stage)
                todo = [earlier for earlier in waits[stage] if earlier not in done]
                if any(earlier in entered for earlier in todo):
                    raise AssertionError(f"stages depend on each other in a circle at {stage}")
                path += reversed(todo)
            else:
                done[stage] = None
                path.pop()

    for stage in stages:  # scalars made of scalars come first, so that they do not stand between loops
        if is_scalar(stage) and all(earlier in done for earlier in waits[stage]):
            visit(stage)
    for stage in stages:
        visit(stage)
    return list(done)
