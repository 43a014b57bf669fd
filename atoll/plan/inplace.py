"""Which updates happen in the memory of the array they update.

A scatter whose base is a whole array X may overwrite X when nobody needs the old X afterwards. Everything else in the block that reads X
is put before the update; a reader that cannot come before (it needs the update's result) has its reads of X done early, by
making the lines that read X stages of their own; so are the new values, unless they read what no other round writes (plan/own_places.py).
If even that fails the array is copied, and .memory() says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from atoll.ainf import ir
from atoll.ainf.identity import identity_of, is_read, read_arg
from atoll.ainf.scan_prim import refs
from atoll.plan.contract import find_contractions
from atoll.plan.dependences import NO_HEAD, Dependences, Head, in_order, readers_first
from atoll.plan.override import kept
from atoll.plan.own_places import NOTHING, Around, reads_undisturbed
from atoll.plan.stages import Inlining, Stage, make_stages
from atoll.sizes import poly


@dataclass
class InPlace:
    """Updates done in place: (line, result) -> the line and result whose memory it takes. And copies, with the reason."""

    takes: dict[tuple[ir.Line, int], tuple[ir.Line, int]] = field(default_factory=dict)
    taken: set[tuple[ir.Line, int]] = field(default_factory=set)  # the values of takes
    copies: dict[tuple[ir.Line, int], str] = field(default_factory=dict)
    memory: dict[tuple[ir.Line, int], Memory] = field(default_factory=dict)
    head: set[Stage] = field(default_factory=set)  # what runs before it is known whether the rest of the round does

    def memory_of(self, key: tuple[ir.Line, int]) -> Memory:
        if key not in self.memory:
            self.memory[key] = Memory({key})
        return self.memory[key]


@dataclass
class Memory:
    """The versions of an array that have one memory, and stages that read one of them after an update that never happens when they do."""

    versions: set[tuple[ir.Line, int]]
    late: list[Stage] = field(default_factory=list)


def plan_block(
    lines: list[ir.Line], results: list[ir.Abs], writable: set[ir.Line], products: bool = True, around: Around = NOTHING, head: Head = NO_HEAD
) -> tuple[Inlining, list[Stage], InPlace]:
    """Stages of a block with in-place updates decided. `writable` are sources whose memory the block may change; with `products`
    contractions are left to the matrix kernel; `around` says what is known of sizes and of the loops outside, `head` what must be known, and have
    happened, before the rest of the block runs, if it does."""
    products = products and any(isinstance(line.prim, ir.Reduce) for line in lines)
    contractions, forced, absorbed = find_contractions(lines, results) if products else ({}, set(), set())
    if any(line.keep is not None for line in (*forced, *absorbed)):  # the user decides about what a product is made of
        contractions, forced, absorbed = {}, set(), set()
    forced |= kept(lines, "store") | kept(lines, "once")
    handed_on = {(found, k) for k, array in enumerate(results) if (found := identity_of(array)) is not None}
    refused: dict[tuple[ir.Line, int], str] = {}
    early: set[ir.Line] = set()
    while True:
        inlining = Inlining(lines, results, forced)
        stages = make_stages(lines, results, inlining, 0, contractions, absorbed)
        plan = InPlace(copies=refused)
        known = Dependences(lines, inlining, stages)
        plan.head = known.needed(head)
        more = _try(known, plan, writable, forced, around, handed_on)
        if not more:
            _only_when_read(known, plan, early | inlining.early)
            return inlining, in_order(readers_first(stages)), plan
        early |= more - forced
        forced |= more


def _only_when_read(known: Dependences, plan: InPlace, early: set[ir.Line]) -> None:
    """Arrays that are read early, for others to update them, are read only when somebody wants them."""
    users: dict[ir.Line, list[tuple[ir.Cond, ...]]] = {}
    for stage in known.stages if early else ():
        copied: set[ir.Line] = set()
        for k, array in _bases(stage.prim):
            if (stage.line, k) not in plan.takes:
                copied |= _reached(known.inlining, array)
        wanted = {ref.line for ref in stage.refs} & early
        for k, array in _bases(stage.prim):  # what is updated in place is not read for it
            if (stage.line, k) in plan.takes and not _read_besides(known, stage, array):
                wanted -= _reached(known.inlining, array)
        for line in sorted(wanted, key=lambda x: x.id):
            users.setdefault(line, []).append(stage.conds if line in copied else _conditions(stage))
    for line, given in users.items():
        stage = known.by_line[line]
        if line.conds or not line.dims:
            continue
        for cond in given[0]:
            if not all(cond in conds for conds in given):
                continue
            reads = known.inlining.reads(cond.refs())
            makers = [known.by_line[ref.line] for ref in reads if ref.line in known.by_line]
            if any(isinstance(x, ir.Binder) for x in cond.leaves()) or any((ref.line, ref.result) in plan.taken for ref in reads):
                break
            if makers and (stage in makers or known.depending(stage, makers)):
                break
            stage.conds += (cond,)
            stage.refs += [ref for ref in reads if ref not in stage.refs]
            known.wait(stage, makers)


def _read_besides(known: Dependences, stage: Stage, array: ir.Abs) -> bool:
    """True when a stage reads the lines its array is made of also for something else."""
    lines = _reached(known.inlining, array)
    other = [*ir.operand_refs(stage.prim.value), *(ref for p in stage.prim.index for ref in ir.poly_refs(p))] if isinstance(stage.prim, ir.Scatter) else None
    return other is None or any(ref.line in lines for ref in known.inlining.reads(other))


def _reached(inlining: Inlining, array: ir.Abs) -> set[ir.Line]:
    return {ref.line for ref in inlining.reads(ir.operand_refs(array.body))}


def _conditions(stage: Stage) -> tuple[ir.Cond, ...]:
    """The conditions under which a stage does anything."""
    return (*stage.conds, *(stage.prim.when if isinstance(stage.prim, (ir.Scatter, ir.Loop, ir.While)) else ()))


def _never_both(a: Stage, b: Stage) -> bool:
    """True when one of two stages does nothing, whatever the values are."""
    conds = set(_conditions(b))
    return any(c.negated() in conds for c in _conditions(a))


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
            if stage in plan.head and base in writable:
                copies[key] = "the condition of the loop changes it before it is known whether there is a round"
                continue
            memory = plan.memory_of(found)
            versions = memory.versions
            others = [other for other in known.readers.get(found, ()) if other is not stage]
            others += [other for other in memory.late if other is not stage and other not in others]
            later = known.depending(stage, others) if others else set()
            if stage in plan.head and not later | plan.head >= set(others):
                copies[key] = "the condition of the loop changes it before the round reads it"
                continue
            apart = {other for other in later if _never_both(stage, other) and not _copies(known, other, versions) and not _tests(known, other, versions)}
            conflict = _conflicts(stage, array, versions, later - apart, known, around)
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
            versions.add(key)
            plan.memory[key] = memory
            memory.late += sorted(apart, key=lambda other: other.number)
            known.wait(stage, [other for other in others if other not in later])
    return more


def _state_of(found: tuple[ir.Line, int], plan: InPlace) -> int | None:
    """The number of the loop's state whose memory an array is in."""
    while found in plan.takes:
        found = plan.takes[found]
    return found[0].prim.position if isinstance(found[0].prim, ir.Param) else None


def _tests(known: Dependences, stage: Stage, versions: set[tuple[ir.Line, int]]) -> bool:
    """True when a stage looks at one of these arrays to find out whether it does anything."""
    return any((ref.line, ref.result) in versions for ref in known.inlining.reads([ref for c in _conditions(stage) for ref in c.refs()]))


def _copies(known: Dependences, stage: Stage, versions: set[tuple[ir.Line, int]]) -> bool:
    """True when a stage starts from one of these arrays, or from something made of them, whether or not it does anything."""
    return stage.line is None or any((ref.line, ref.result) in versions for _, array in _bases(stage.prim) for ref in known.inlining.reads(ir.operand_refs(array.body)))


def _conflicts(
    stage: Stage, array: ir.Abs, versions: set[tuple[ir.Line, int]], later: set[Stage], known: Dependences, around: Around
) -> set[ir.Line] | str:
    """Lines to compute early so that the update can be done in place; empty when it can; text when it cannot. `later` are stages that
    read the array and depend on the update."""
    wanted: set[ir.Line] = set()
    prim = stage.prim
    binders = set(getattr(prim, "binders", ()))
    read = {key for one in (stage, *later) for ref in one.refs if (key := (ref.line, ref.result)) in versions}
    direct = {line for key in read for line in known.inlined_readers.get(key, ())}
    for ref in stage.refs:
        if (ref.line, ref.result) not in versions or is_base_read(ref, array):
            continue
        if not isinstance(prim, ir.Scatter):
            parts = {x for x in direct if _is_a_part(x, versions)} & known.inlined_by(stage)
            if not parts:
                return "the loop also reads the array it starts from"
            wanted |= parts
            continue
        if not binders or reads_undisturbed(prim, ref.index, around):
            continue
        value = prim.value
        if not ref.leaves() & binders and (scalars := {x for x in direct if not x.dims} & known.inlined_by(stage)):
            wanted |= scalars
            continue
        made = [value] if isinstance(value, ir.Ref) else [r for r in ir.operand_refs(value) if any((x.line, x.result) in versions for x in known.inlining.reads([r]))]
        if not made or not all(known.inlining.is_inlined(r.line) for r in made):
            return "the new values read other elements of the array"
        wanted |= {r.line for r in made}
    for other in later:
        reached = known.inlined_by(other)
        early = {x for x in direct if x in reached and not known.needs(x, stage)}
        if not early:
            return "the old value is needed after the update"
        wanted |= early
    return wanted


def _is_a_part(line: ir.Line, versions: set[tuple[ir.Line, int]]) -> bool:
    """True when a line has an element for each of some elements of these arrays (one of them, a row, every other one): kept, it is no more than a copy of them all."""
    return any((ref.line, ref.result) in versions and not _is_whole(ref, line.dims) and _moves_with_each(ref, line.dims) for ref in refs(line.prim))


def _is_whole(ref: ir.Ref, dims: tuple[ir.Binder, ...]) -> bool:
    """A read of every element at its own place."""
    return ref.index == tuple(map(poly, dims)) and ref.line.extents(ref.result) == tuple(b.extent for b in dims)


def _moves_with_each(ref: ir.Ref, dims: tuple[ir.Binder, ...]) -> bool:
    """Each of these indices alone moves one of the places of the read, by numbers (`a[i + 1]`) or by data (`a[p[i]]`): as many elements are kept as are read."""
    return all(any(index.leaves() & set(dims) == {b} for index in ref.index) for b in dims)


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
