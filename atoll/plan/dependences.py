"""What the stages of a block read and wait for, and an order that respects it."""

from __future__ import annotations

import bisect

from atoll.ainf import ir
from atoll.ainf.scan_prim import line_refs, refs
from atoll.plan.stages import Inlining, Stage, is_scalar

Head = tuple[tuple[ir.Operand, ...], tuple[ir.Line, ...]]  # operands, and lines with effects: the condition of a while
NO_HEAD: Head = ((), ())


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

    def needed(self, head: Head) -> set[Stage]:
        """The stages that must run before these operands are known and these effects have happened."""
        operands, effects = head
        read = [ref.line for operand in operands for ref in self.inlining.reads(ir.operand_refs(operand))]
        queue = [self.by_line[line] for line in (*read, *effects) if line in self.by_line]
        found: set[Stage] = set()
        while queue:
            stage = queue.pop()
            if stage not in found:
                found.add(stage)
                queue += self.before(stage)
        return found

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


def readers_first(stages: list[Stage]) -> list[Stage]:
    """Stages with the results of a round so ordered that, where it can be, old values of the state are read before they are replaced."""
    waiting = [stage for stage in stages if stage.target is not None]
    needs = {stage: {ref.line.prim.position for ref in stage.refs if isinstance(ref.line.prim, ir.Param)} for stage in waiting}
    found: list[Stage] = []
    while waiting:
        free = (stage for stage in waiting if not any(stage.position in needs[other] for other in waiting if other is not stage))
        found.append(next(free, waiting[0]))
        waiting.remove(found[-1])
    return [stage for stage in stages if stage.target is None] + found


def in_order(stages: list[Stage]) -> list[Stage]:
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
