"""Which updates happen in the memory of the array they update.

A scatter whose base is a whole array X may overwrite X when nobody needs the old X afterwards. Everything else in the block that reads X
is put before the update; a reader that cannot come before (it needs the update's result) has its reads of X done early, by
making the lines that read X stages of their own. If even that fails the array is copied, and .memory() says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from atoll.ainf import ir
from atoll.ainf.identity import identity_of, is_read, read_arg
from atoll.plan.contract import find_contractions
from atoll.plan.stages import Inlining, Stage, is_scalar, make_stages


@dataclass
class InPlace:
    """Updates done in place: (line, result) -> the line and result whose memory it takes. And copies, with the reason."""

    takes: dict[tuple[ir.Line, int], tuple[ir.Line, int]] = field(default_factory=dict)
    taken: set[tuple[ir.Line, int]] = field(default_factory=set)  # the values of takes
    copies: dict[tuple[ir.Line, int], str] = field(default_factory=dict)


def plan_block(
    lines: list[ir.Line], results: list[ir.Abs], writable: set[ir.Line], products: bool = True
) -> tuple[Inlining, list[Stage], InPlace]:
    """Stages of a block with in-place updates decided. `writable` are sources whose memory the block may change; with `products`
    contractions are left to the matrix kernel."""
    kept = {found[0] for found in map(identity_of, results) if found is not None}
    writable = writable - kept  # state a round hands on as it is
    contractions, forced, absorbed = find_contractions(lines, results) if products else ({}, set(), set())
    refused: dict[tuple[ir.Line, int], str] = {}
    while True:
        inlining = Inlining(lines, results, forced)
        stages = make_stages(lines, results, inlining, 0, contractions, absorbed)
        plan = InPlace(copies=refused)
        more = _try(lines, inlining, stages, plan, writable, forced)
        if more is None:
            return inlining, _sorted(stages), plan
        forced |= more


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
    lines: list[ir.Line], inlining: Inlining, stages: list[Stage], plan: InPlace, writable: set[ir.Line], forced: set[ir.Line]
) -> set[ir.Line] | None:
    """Decide every update in order; a set of lines to force first, or None when all is decided."""
    by_line = {s.line: s for s in stages if s.line is not None}
    readers: dict[tuple[ir.Line, int], list[Stage]] = {}
    for stage in stages:
        for key in {(ref.line, ref.result) for ref in stage.refs}:
            readers.setdefault(key, []).append(stage)
    for stage in stages:
        if stage.line is None or stage.dims:
            continue
        for k, array in _bases(stage.prim):
            key = (stage.line, k)
            found = identity_of(array)
            if key in plan.copies or found is None or not array.binders:
                continue
            base = found[0]
            if base.dims or (base not in by_line and base not in writable):
                continue
            if found in plan.taken:
                plan.copies[key] = "two updates of one array"
                continue
            others = [other for other in readers.get(found, ()) if other is not stage]
            conflict = _conflicts(stage, array, found, others, stages, by_line, inlining, lines)
            if isinstance(conflict, str):
                plan.copies[key] = conflict
            elif conflict <= forced and conflict:
                plan.copies[key] = "the old value is needed beside the update"
            elif conflict:
                return conflict
            else:
                plan.takes[key] = found
                plan.taken.add(found)
                stage.after.update(other.number for other in others)
    return None


def _conflicts(
    stage: Stage,
    array: ir.Abs,
    base: tuple[ir.Line, int],
    others: list[Stage],
    stages: list[Stage],
    by_line: dict[ir.Line, Stage],
    inlining: Inlining,
    lines: list[ir.Line],
) -> set[ir.Line] | str:
    """Lines to compute early so that the update can be done in place; empty when it can; text when it cannot."""
    wanted: set[ir.Line] = set()
    prim = stage.prim
    binders = set(getattr(prim, "binders", ()))
    for ref in stage.refs:
        if (ref.line, ref.result) != base or _is_base_read(ref, array):
            continue
        if not isinstance(prim, ir.Scatter):
            scalars = {x for x in _readers(base, lines, inlining) if not x.dims} & _inlined_by(stage, inlining)
            if not scalars:
                return "the loop also reads the array it starts from"
            wanted |= scalars
            continue
        if ref.index == prim.index or not binders:
            continue
        value = prim.value
        if isinstance(value, ir.Ref) and inlining.is_inlined(value.line):
            wanted.add(value.line)
        else:
            return "the new values read other elements of the array"
    later = set(_depending(stage, stages, by_line)) if others else set()
    for other in others:
        if other not in later:
            continue
        reached = _inlined_by(other, inlining)
        early = {x for x in _readers(base, lines, inlining) if x in reached and not _needs(x, stage, stages, by_line, inlining)}
        if not early:
            return "the old value is needed after the update"
        wanted |= early
    return wanted


def _is_base_read(ref: ir.Ref, array: ir.Abs) -> bool:
    """The reads that would copy the array: not done when the update is in place."""
    return isinstance(array.body, ir.Ref) and _same_read(array.body, ref)


def _same_read(a: ir.Ref, b: ir.Ref) -> bool:
    if a == b:
        return True
    if is_read(a.line):
        inner = ir.subst_operand(read_arg(a.line), dict(zip(a.line.dims, a.index, strict=False)))
        return isinstance(inner, ir.Ref) and _same_read(inner, b)
    return False


def _readers(base: tuple[ir.Line, int], lines: list[ir.Line], inlining: Inlining) -> set[ir.Line]:
    """Inlined lines that read the array directly."""
    from atoll.ainf.scan_prim import refs

    return {line for line in lines if inlining.is_inlined(line) and any((ref.line, ref.result) == base for ref in refs(line.prim))}


def _inlined_by(stage: Stage, inlining: Inlining) -> set[ir.Line]:
    """Inlined lines whose code becomes part of a stage."""
    from atoll.ainf.scan_prim import line_refs

    queue = list(line_refs(stage.line)) if stage.line is not None else list(ir.operand_refs(stage.target.body))  # type: ignore[union-attr]
    found: set[ir.Line] = set()
    while queue:
        line = queue.pop().line
        if inlining.is_inlined(line) and line not in found:
            found.add(line)
            queue += line_refs(line)
    return found


def _before(stage: Stage, by_line: dict[ir.Line, Stage], by_number: dict[int, Stage]) -> list[Stage]:
    """Stages that must run before one: what it reads, and what an update it makes must wait for."""
    found = [by_line[ref.line] for ref in stage.refs if ref.line in by_line and by_line[ref.line] is not stage]
    return found + [by_number[k] for k in stage.after if k in by_number]


def _depending(stage: Stage, stages: list[Stage], by_line: dict[ir.Line, Stage]) -> list[Stage]:
    """Stages that must run after this one, directly or not."""
    by_number = {s.number: s for s in stages}
    followers: dict[Stage, list[Stage]] = {}
    for other in stages:
        for earlier in _before(other, by_line, by_number):
            followers.setdefault(earlier, []).append(other)
    reached: set[Stage] = set()
    queue = [stage]
    while queue:
        for other in followers.get(queue.pop(), ()):
            if other not in reached:
                reached.add(other)
                queue.append(other)
    return [s for s in stages if s in reached and s is not stage]


def _needs(line: ir.Line, stage: Stage, stages: list[Stage], by_line: dict[ir.Line, Stage], inlining: Inlining) -> bool:
    """True when a line can only be computed after a stage."""
    from atoll.ainf.scan_prim import line_refs

    by_number = {s.number: s for s in stages}
    queue = [by_line[ref.line] for ref in inlining.reads(line_refs(line)) if ref.line in by_line]
    seen: set[Stage] = set()
    while queue:
        current = queue.pop()
        if current is stage:
            return True
        if current not in seen:
            seen.add(current)
            queue += _before(current, by_line, by_number)
    return False


def _sorted(stages: list[Stage]) -> list[Stage]:
    """Program order, with `after` respected."""
    by_line = {s.line: s for s in stages if s.line is not None}
    by_number = {s.number: s for s in stages}
    done: list[Stage] = []
    state: dict[Stage, int] = {}

    def visit(stage: Stage) -> None:
        if state.get(stage) == 2:
            return
        if state.get(stage) == 1:
            raise AssertionError(f"stages depend on each other in a circle at {stage}")
        state[stage] = 1
        for earlier in sorted(_before(stage, by_line, by_number), key=lambda s: s.number):
            visit(earlier)
        state[stage] = 2
        done.append(stage)

    for stage in stages:  # scalars made of scalars come first, so that they do not stand between loops
        if is_scalar(stage) and all(state.get(earlier) == 2 for earlier in _before(stage, by_line, by_number)):
            visit(stage)
    for stage in stages:
        visit(stage)
    return done
