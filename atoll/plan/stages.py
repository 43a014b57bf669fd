"""Which lines are computed once (stages) and which at each use; what a stage reads.

A line is a **stage** when computing it again would cost more than keeping it: reductions, loops and everything that is not a scalar
operation; expensive operations; shared ones; and those read at two different shifted indices (recomputing through stencils is
exponential in the number of steps). Everything else is inlined where it is used. A stage that ends up in the same loop nest as all
its uses is just a variable, so making a line a stage is the safe side (docs/sources.md N2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from atoll.ainf import ir
from atoll.ainf.keep import refuse
from atoll.ainf.scan_prim import blocks, line_refs, own_binders, parts, subst
from atoll.core.prims import PRIMS
from atoll.plan.contract import Contraction
from atoll.plan.every_round import read_every_round
from atoll.plan.override import MOST
from atoll.sizes import Poly

HEAVY = 12
DEEP = 48  # expressions are not nested deeper than this
REPEATED = 4  # what computing a row's scalar again for every element may cost; less where several loops do
WASTED = 32  # operations that computing a line anew at each of its uses may cost in all;
WASTED_BY_ADJOINTS = 14  # in a reverse sweep, whose readers are in loops of their own more often,
WASTED_IN_BRANCHES = 12  # and where every reader computes it in a branch of its own
WASTED_AT_PLACES = 512  # of an array of which a few places are read: keeping it would cost all of them
_CHEAP = (ir.Op, ir.Cast, ir.Select, ir.Truth, ir.Extent)
_SOURCES = (ir.Input, ir.Param, ir.ConstArray)


def own_cost(line: ir.Line) -> int:
    """Operations for one element, apart from its operands."""
    if isinstance(line.prim, ir.Op):
        return 0 if line.prim.name == "read" else PRIMS[line.prim.name].cost
    return 1 if isinstance(line.prim, _CHEAP) else 0


@dataclass(eq=False)
class Stage:
    """A unit of code: a line, or the store of a result (`target` is then the array and `position` its number)."""

    number: int
    line: ir.Line | None
    dims: tuple[ir.Binder, ...]
    inner: tuple[ir.Binder, ...] = ()
    conds: tuple[ir.Cond, ...] = ()
    target: ir.Abs | None = None
    position: int = -1
    refs: list[ir.Ref] = field(default_factory=list)
    after: set[int] = field(default_factory=set)  # stages that must come before, beside those it reads
    contraction: Contraction | None = None  # a sum that the matrix kernel computes
    alone: bool = False  # in a loop of its own, because the user wants it stored

    def __repr__(self) -> str:
        return self.line.name if self.line is not None else f"out{self.position}"

    @property
    def prim(self) -> Any:
        return self.line.prim if self.line is not None else None


def is_scalar(stage: Stage) -> bool:
    """One operation outside all loops."""
    return stage.line is not None and not stage.dims and isinstance(stage.prim, _CHEAP)


class Inlining:
    """Which lines of a block are inlined, and how a reference to one unfolds."""

    def __init__(self, lines: list[ir.Line], results: list[ir.Abs], forced: set[ir.Line]) -> None:
        self.lines = lines
        self.stages: set[ir.Line] = set()
        self.early: set[ir.Line] = set()  # stages only because rounds of a loop read them
        self._decide(results, forced)

    def is_inlined(self, line: ir.Line) -> bool:
        return line in self._inlined

    def _decide(self, results: list[ir.Abs], forced: set[ir.Line]) -> None:
        uses: dict[ir.Line, set[tuple[Any, tuple[Poly, ...]]]] = {}
        repeated: set[ir.Line] = set()  # lines whose elements are read again and again by one reader
        every_round: set[ir.Line] = set()  # and by the rounds of a loop
        for line in self.lines:
            loops = (*line.dims, *own_binders(line.prim))
            for ref in line_refs(line):
                uses.setdefault(ref.line, set()).add((line.id, ref.index))
                if _is_invariant(ref, loops) or _overlaps(ref, loops):
                    repeated.add(ref.line)
            every_round.update(read_every_round(line))
        for k, array in enumerate(results):
            for ref in ir.operand_refs(array.body):
                uses.setdefault(ref.line, set()).add((f"out{k}", ref.index))
                if _is_invariant(ref, array.binders):
                    repeated.add(ref.line)
        self._inlined: set[ir.Line] = set()
        self._at_places = _read_at_places(self.lines, results, forced)
        again: dict[ir.Line, int] = {}
        depth: dict[ir.Line, int] = {}
        loads: dict[ir.Line, int] = {}
        for line in self.lines:
            if isinstance(line.prim, _SOURCES):
                continue
            if not isinstance(line.prim, _CHEAP) or line in forced:
                if line.keep is not None and line.keep[0] == "inline":
                    refuse(line.keep[1], "inline", "an array it reads is updated in place before all its uses are done", line.span)
                self.stages.add(line)
                again[line] = 0
                loads[line] = 1
                continue
            own = cost = own_cost(line)
            deep = 0
            for ref in line_refs(line):
                cost += again.get(ref.line, 0)
                deep = max(deep, depth.get(ref.line, 0))
            seen = uses.get(line, ())
            many = len(seen) > 1
            heavy = bool(own >= HEAVY and (line.dims or many)) or (cost >= HEAVY and many)
            invariant = line in repeated and cost >= (1 if not line.dims else REPEATED - 1 if many else REPEATED)
            stencil = many and cost >= 3 and len({index for _, index in seen if any(map(_is_shifted, index))}) > 1
            loads[line] = sum(loads.get(ref.line, 1) for ref in set(line_refs(line)))
            alike = line in every_round and cost > 0 and not _steps(line) and cost + loads[line] - 1 >= (1 if not line.dims else REPEATED)
            depth[line] = 1 + deep
            kept = heavy or invariant or alike or stencil
            stage = depth[line] > DEEP or (kept and line not in self._at_places) or (own >= HEAVY and not line.dims)
            if line.keep is not None and line.keep[0] == "inline":
                stage = False
                if cost > MOST:
                    refuse(line.keep[1], "inline", f"computing it would take more than {MOST} operations at each use", line.span)
            if stage:
                self.stages.add(line)
                again[line] = depth[line] = 0
                loads[line] = 1
                if alike and not (heavy or invariant or stencil):
                    self.early.add(line)
            else:
                self._inlined.add(line)
                again[line] = cost
        self._keep_what_is_wasted(uses, again)

    def _keep_what_is_wasted(self, uses: Mapping[ir.Line, Set[tuple[Any, tuple[Poly, ...]]]], cost: Mapping[ir.Line, int]) -> None:
        """A line that is read twice by each of three others, which are inlined too, is computed six times. Where that is much work in all it is a stage."""
        by_id = {line.id: line for line in self.lines}
        times: dict[ir.Line, int] = {}
        for line in reversed(self.lines):
            if line not in self._inlined:
                continue
            readers = [by_id.get(user) for user, _ in uses.get(line, ())]
            times[line] = sum(times[reader] if reader in self._inlined else 1 for reader in readers)
            most = WASTED_AT_PLACES if line in self._at_places else WASTED_IN_BRANCHES if line.conds else WASTED_BY_ADJOINTS if line.reverse else WASTED
            if line.keep is None and cost[line] * (times[line] - 1) >= most:
                self._inlined.remove(line)
                self.stages.add(line)

    def unfold(self, ref: ir.Ref) -> Any:
        """The primitive of an inlined line at the reference's index."""
        return subst(ref.line.prim, dict(zip(ref.line.dims, ref.index, strict=False)))

    def unfold_conds(self, ref: ir.Ref) -> tuple[ir.Cond, ...]:
        env = dict(zip(ref.line.dims, ref.index, strict=False))
        return tuple(c.subst(env) for c in ref.line.conds)

    def reads(self, refs: Iterable[ir.Ref]) -> list[ir.Ref]:
        """What these references read in the end: stages and sources."""
        found: dict[ir.Ref, None] = {}
        seen: set[ir.Ref] = set()
        queue = list(refs)
        while queue:
            ref = queue.pop()
            if ref in seen:
                continue
            seen.add(ref)
            if ref.line in self._inlined:
                prim = self.unfold(ref)
                for part in parts(prim):
                    if isinstance(part, (ir.Ref, ir.IndexValue)):
                        queue += ir.operand_refs(part)
                    elif isinstance(part, ir.Cond):
                        queue += part.refs()
                for cond in self.unfold_conds(ref):
                    queue += cond.refs()
            else:
                found[ref] = None
                if computed_again(ref.line):
                    queue += ir.operand_refs(checked_value(ref))
        return list(found)

    def bounds(self, refs: Iterable[ir.Ref]) -> set[Poly]:
        """The bounds of computed indices among these references and what is inlined for them, apart from constants that leave room for an index."""
        found: set[Poly] = set()
        seen: set[ir.Line] = set()
        queue = list(refs)
        while queue:
            ref = queue.pop()
            bound = ref.line.results[ref.result].bound
            if bound is not None and (bound.const() or 0) <= 0 and not isinstance(ref.line.prim, (*_SOURCES, ir.Check)):
                found.add(bound)
            if ref.line not in seen and (ref.line in self._inlined or computed_again(ref.line)):
                seen.add(ref.line)
                queue += line_refs(ref.line)
        return found


def _read_at_places(lines: list[ir.Line], results: list[ir.Abs], forced: set[ir.Line]) -> set[ir.Line]:
    """Lines of arrays of which only a few places are read, also by way of others of that kind: x[a[t]], of what x is after some updates."""
    whole: set[ir.Line] = {ref.line for array in results for ref in ir.operand_refs(array.body) if set(array.binders) & ref.leaves()}
    found: set[ir.Line] = set()
    for line in reversed(lines):
        few = line not in whole and line not in forced and isinstance(line.prim, _CHEAP) and any(d.extent.const() is None for d in line.dims)
        if few:
            found.add(line)
        loops = {*own_binders(line.prim), *(() if few else line.dims)}
        inside = bool(blocks(line.prim))
        whole.update(ref.line for ref in line_refs(line) if inside or loops & ref.leaves())
    return found


def computed_again(line: ir.Line) -> bool:
    """A checked index that is not kept for other loops: after the check they compute its value again."""
    return isinstance(line.prim, ir.Check) and line.prim.value is not None and bool(line.dims)


def checked_value(ref: ir.Ref) -> ir.Operand:
    """What a reference to a check gives."""
    prim = ref.line.prim
    assert isinstance(prim, ir.Check) and prim.value is not None
    return ir.subst_operand(prim.value, dict(zip(ref.line.dims, ref.index, strict=False)))


def _is_invariant(ref: ir.Ref, loops: tuple[ir.Binder, ...]) -> bool:
    """The reference depends on the outer of these loops only, so what it reads can be computed outside the others."""
    used = ref.leaves()
    outer = [b in used for b in loops]
    return False in outer and True not in outer[outer.index(False) :]


def _steps(line: ir.Line) -> bool:
    """A quotient or remainder of an index by a number: rounds are cut where it becomes another (loops/transform/strips.py), so that making it takes less than reading it."""
    if not isinstance(line.prim, ir.Op) or line.prim.name not in ("floordiv", "mod"):
        return False
    value, size = line.prim.args
    return isinstance(value, ir.IndexValue) and sum(value.poly.slope(b) == 1 for b in line.dims) == 1 and not any(isinstance(leaf, ir.Binder) for ref in ir.operand_refs(size) for leaf in ref.leaves())


def _overlaps(ref: ir.Ref, loops: tuple[ir.Binder, ...]) -> bool:
    """Windows of neighbouring rounds share what they read: some index moves one by one with two of these loops, as in x[i + r], but
    not in x[8*i + r]."""
    return len(loops) > 1 and any(sum(p.slope(b) == 1 for b in loops) > 1 for p in ref.index if len(p.terms) > 1)


def _is_shifted(p: Poly) -> bool:
    """An index that is not just one atom or a constant."""
    return p.single() is None and p.const() is None


def make_stages(
    lines: list[ir.Line],
    results: list[ir.Abs],
    inlining: Inlining,
    first: int = 0,
    contractions: Mapping[ir.Line, Contraction] | None = None,
    absorbed: Set[ir.Line] = frozenset(),
) -> list[Stage]:
    """The stages of a block in program order, results last; sums absorbed by contractions have none."""
    stages: list[Stage] = []
    for line in lines:
        found = contractions.get(line) if contractions else None
        if found is not None:
            conds = tuple(c for c in line.conds if c.poly is None)  # elements that one on indices leaves out are computed, too
            stage = Stage(first + len(stages), line, line.dims, (), conds, contraction=found)
            stage.refs = inlining.reads([*(ref for c in conds for ref in c.refs()), *ir.operand_refs(found.left), *ir.operand_refs(found.right), *_extent_refs(found.sums), *_extent_refs(line.dims)])
            stages.append(stage)
        elif line in inlining.stages and line not in absorbed:
            own = tuple(own_binders(line.prim))
            alone = line.keep is not None and line.keep[0] == "store"
            stage = Stage(first + len(stages), line, line.dims, own, line.conds, alone=alone)
            stage.refs = inlining.reads(line_refs(line))
            stages.append(stage)
    for k, array in enumerate(results):
        stage = Stage(first + len(stages), None, array.binders, (), (), array, k)
        stage.refs = inlining.reads(_abs_refs(array))
        stages.append(stage)
    _wait_for_checks(stages, inlining)
    return stages


def _wait_for_checks(stages: list[Stage], inlining: Inlining) -> None:
    """x % n is less than n, and argmax(x) than len(x), only where a check before has seen that n is not 0: what reads or writes there waits for such checks."""
    checks: list[Stage] = []
    for stage in stages:
        if isinstance(stage.prim, ir.Check) and stage.prim.value is None:
            checks.append(stage)
        elif checks:
            rounds = {b.extent for b in (*stage.dims, *stage.inner)}
            bounds = inlining.bounds(line_refs(stage.line) if stage.line is not None else _abs_refs(stage.target)) - rounds  # type: ignore[arg-type]
            stage.after.update(check.number for check in checks if any(_is_about(check.prim, bound) for bound in bounds))


def _is_about(check: ir.Check, bound: Poly) -> bool:
    """Whether a check may be why there is an index below this bound: it asks for the sizes in it, or for values."""
    sizes = {leaf for leaf in bound.leaves() if not isinstance(leaf, ir.Binder)}
    return any(c.poly is None or sizes <= c.poly.leaves() for c in check.conds)


def _extent_refs(binders: tuple[ir.Binder, ...]) -> list[ir.Ref]:
    return [ref for b in binders for ref in ir.poly_refs(b.extent)]


def _abs_refs(array: ir.Abs) -> list[ir.Ref]:
    found = list(ir.operand_refs(array.body))
    for b in array.binders:
        found += ir.poly_refs(b.extent)
    return found


def inner_lines(line: ir.Line) -> Iterator[ir.Line]:
    """Lines inside a line's blocks, at any depth."""
    for block in blocks(line.prim):
        for inner in block.lines:
            yield inner
            yield from inner_lines(inner)
