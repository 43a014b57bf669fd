"""Which stages share a loop: a tree of nests.

Two levels (docs/sources.md N3). A **group** has one outer index that all its stages have, cut into pieces: what one stage makes
for a piece the next ones use for that piece, so an intermediate result needs memory for one piece only, or none. Inside a piece,
stages are merged into **nests** loop by loop. A stage joins a loop when everything it reads from that loop is at the same index;
it wants to when it reads something the loop makes or reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from atoll.ainf import ir
from atoll.plan.apart import own_place, reads_own, updates_own
from atoll.plan.inplace import InPlace
from atoll.plan.stages import Stage
from atoll.sizes import Atom, Poly, Sym, poly


@dataclass(eq=False)
class Nest:
    """A loop over low..high; `members` says which binder of each stage it is."""

    sym: Sym
    low: Poly
    high: Poly
    members: dict[Stage, ir.Binder] = field(default_factory=dict)
    body: list[Node] = field(default_factory=list)
    sequential: bool = False  # a member works through it in order
    starts: list[Leaf] = field(default_factory=list)  # what its members accumulate into is initialised before it


@dataclass(eq=False)
class Leaf:
    """The statement of a stage at its innermost loop, or (`start`) the initialisation of what it accumulates into."""

    stage: Stage
    start: bool = False


Node = Union[Nest, Leaf]
Source = tuple[ir.Line, int, Poly]  # an array, one of its indices, and how far that is from the loop's


@dataclass(eq=False)
class Group:
    """Stages that share a piecewise outer index: low..high of 0..extent, or all of it where loops are not cut. Without an index it is a single stage."""

    low: Sym | None
    high: Sym | None
    extent: Poly | None
    members: dict[Stage, ir.Binder] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)
    body: list[Node] = field(default_factory=list)
    strip: Strip | None = None

    @property
    def is_cut(self) -> bool:
        return self.low is not None

    @property
    def bounds(self) -> tuple[Poly, Poly]:
        """Between what the index of a piece runs."""
        assert self.low is not None and self.high is not None
        first = poly(self.strip.low) if self.strip is not None and self.strip.maker is self else poly(0)
        return poly(self.low) + first, poly(self.high) + first


@dataclass(eq=False)
class Strip:
    """low..high run through parts of a group's index, in order; for each, the group and then the groups that add what it made (plan/strips.py)."""

    low: Sym
    high: Sym
    maker: Group
    adding: list[Group]
    sums: dict[Stage, ir.Binder]  # what the stages of those groups sum over


WRITTEN_OUT = 9  # sums of so few terms are written out, for as many elements at a time as a vector has (loops/recipes/unroll.py)
_FUSED_INNER = (ir.Reduce, ir.Scan, ir.Scatter)


def loop_order(stage: Stage, in_memory: bool = True) -> list[ir.Binder]:
    """The loops of a stage, outermost first: its dims, then what it reduces over; a reduction goes outside a dim along
    which memory is contiguous when its own index strides, unless it is so short that it is written out. A contraction has loops
    for its batches only."""
    if stage.contraction is not None:
        return list(stage.contraction.batch)
    inner = list(stage.inner) if isinstance(stage.prim, _FUSED_INNER) else []
    order = [*stage.dims, *inner]
    if isinstance(stage.prim, ir.Reduce) and stage.dims and in_memory:  # `in_memory`: elements that are sums may be added to in turn
        last, red = stage.dims[-1], inner[0]
        rounds = red.extent.const()
        if rounds is not None and rounds <= WRITTEN_OUT:
            return order
        if _contiguity(stage, last) > _contiguity(stage, red) and last not in red.extent.leaves():
            return [*stage.dims[:-1], red, last]
    return order


def _contiguity(stage: Stage, binder: ir.Binder) -> tuple[int, int]:
    """Fewer arrays read with a stride along this index is better, then more read contiguously."""
    strided = contiguous = 0
    for ref in stage.refs:
        places = [k for k, p in enumerate(ref.index) if binder in p.leaves()]
        if places and places[-1] == len(ref.index) - 1:
            contiguous += 1
        elif places:
            strided += 1
    return -strided, contiguous


def accumulates_in_memory(stage: Stage, order: list[ir.Binder]) -> bool:
    """True when a stage combines into a buffer rather than a scalar."""
    if isinstance(stage.prim, ir.Scatter):
        return True
    if stage.contraction is not None:
        return False
    return isinstance(stage.prim, ir.Reduce) and order[-1] not in stage.inner


class Fuser:
    """Builds the tree for one block. Stages that run before it is known whether the others do (`inplace.head`) share nothing with these."""

    def __init__(self, stages: list[Stage], pieces: bool, inplace: InPlace, in_memory: bool = True) -> None:
        self.stages = stages
        self.pieces = pieces
        self.inplace = inplace
        self.by_line: dict[ir.Line, Stage] = {s.line: s for s in stages if s.line is not None}
        self.by_number = {s.number: s for s in stages}
        self.orders = {s: loop_order(s, in_memory) for s in stages}
        self.syms: dict[tuple[Stage, ir.Binder], Poly] = {}  # what each binder is, once its loop is chosen
        self._sources: dict[tuple[Stage, ir.Binder], frozenset[Source]] = {}
        self.started: set[Stage] = set()  # what they accumulate into is initialised elsewhere

    # -- dependencies

    def reads(self, stage: Stage) -> list[tuple[Stage, ir.Ref | None]]:
        """Stages of this block a stage depends on; None: for order only."""
        found: list[tuple[Stage, ir.Ref | None]] = []
        for ref in stage.refs:
            other = self.by_line.get(ref.line)
            if other is not None and other is not stage:
                found.append((other, ref))
        found += [(self.by_number[k], None) for k in stage.after if k in self.by_number]
        return found

    # -- groups

    def groups(self) -> list[Group]:
        result: list[Group] = []
        where: dict[Stage, int] = {}
        reading: dict[Source, list[int]] = {}  # the groups that read an array at their own index
        for stage in self.stages:
            deps = self.reads(stage)
            lowest = max((where[d] for d, _ in deps), default=0)
            candidates = self.outer_candidates(stage)
            for binder in [] if stage.alone else candidates:
                sharing = {k for source in self.sources(stage, binder) for k in reading.get(source, ()) if k >= lowest}
                related = sharing | {lowest} if deps else sharing
                found = next((k for k in sorted(related, reverse=True) if self.joins(stage, binder, result[k], deps, k in sharing)), None)
                if found is not None:
                    result[found].members[stage] = binder
                    result[found].stages.append(stage)
                    where[stage] = found
                    break
            if stage not in where:
                group = Group(None, None, None, {}, [stage])
                if candidates:
                    name = candidates[0].name
                    low, high = (Sym(f"{name}_lo"), Sym(f"{name}_hi")) if self.pieces else (None, None)
                    group = Group(low, high, candidates[0].extent, {stage: candidates[0]}, [stage])
                result.append(group)
                where[stage] = len(result) - 1
            mine = result[where[stage]].members.get(stage)
            if mine is not None and not stage.alone:
                _note(reading, self.sources(stage, mine), where[stage])
        return result

    def outer_candidates(self, stage: Stage) -> list[ir.Binder]:
        """Indices a stage could be cut along: those whose extent mentions no other index."""
        if isinstance(stage.prim, ir.Scatter) and not stage.dims:
            return self._outer_of_update(stage)
        if isinstance(stage.prim, (ir.Print, ir.Scan)) and not stage.dims:
            return []
        dims = stage.dims
        if stage.contraction is not None:
            dims = stage.contraction.batch if stage.contraction.cut is None else (stage.contraction.cut,)
        found = [d for d in dims if not any(isinstance(a, ir.Binder) for a in d.extent.leaves())]
        if not stage.dims and isinstance(stage.prim, ir.Reduce):
            found = [b for b in stage.inner if not any(isinstance(a, ir.Binder) for a in b.extent.leaves())]
        if isinstance(stage.prim, ir.Print):
            return []
        return found[:1]

    def _outer_of_update(self, stage: Stage) -> list[ir.Binder]:
        """An update has no order where rounds have elements of their own; pieces share its memory, which must be there before."""
        if not stage.inner or own_place(stage, stage.inner[0]) is None or (self.pieces and (stage.line, 0) not in self.inplace.takes):
            return []
        return [b for b in stage.inner[:1] if not any(isinstance(a, ir.Binder) for a in b.extent.leaves())]

    def joins(self, stage: Stage, binder: ir.Binder, group: Group, deps: list[tuple[Stage, ir.Ref | None]], shares: bool) -> bool:
        """`shares`: both read some array at this index."""
        if group.extent is None or group.extent != binder.extent or group.stages[0].alone or (stage in self.inplace.head) != (group.stages[0] in self.inplace.head):
            return False
        rows = [d.extent for d in stage.dims] + [a for r in (stage.line.results if stage.line is not None else ()) for a in r.axes]
        lengths = {ref.line for n in rows for ref in ir.poly_refs(n)}  # memory is made for the longest row
        if lengths and any(member.line in lengths for member in group.members):
            return False
        related = False
        for other, ref in deps:
            if other not in group.members:
                continue
            if not self.in_round(stage, binder, other, group.members[other], ref):
                return False
            related = True
        return related or shares

    def in_round(self, stage: Stage, binder: ir.Binder, other: Stage, theirs: ir.Binder, ref: ir.Ref | None) -> bool:
        """What a stage needs of another, or must wait for, happens in the same round of a loop that they share."""
        if ref is not None and (self.same_index(other, theirs, ref, poly(binder)) or reads_own(other, theirs, ref, poly(binder))):
            return True
        return updates_own(stage, binder, other, theirs, ref, self.inplace)

    def same_index(self, other: Stage, binder: ir.Binder, ref: ir.Ref, wanted: Poly) -> bool:
        """The reference reads what `other` made in this very round."""
        assert other.line is not None
        if binder in other.dims:
            return ref.index[other.line.dims.index(binder)] == wanted
        if isinstance(other.prim, ir.Scan):
            return ref.index[len(other.dims)] == wanted
        return False

    def sources(self, stage: Stage, binder: ir.Binder) -> frozenset[Source]:
        """The arrays a stage reads at this index or beside it, as a[i + 1], and which of their indices it is."""
        key = (stage, binder)
        if key not in self._sources:
            at = poly(binder)
            beside = ((ref.line, k, p - at) for ref in stage.refs for k, p in enumerate(ref.index) if binder in p.leaves())
            self._sources[key] = frozenset((line, k, away) for line, k, away in beside if not any(isinstance(leaf, ir.Binder) for leaf in away.leaves()))
        return self._sources[key]

    # -- nests

    def nests(self, group: Group) -> list[Node]:
        """The loops of a group."""
        bounds: dict[tuple[Stage, ir.Binder], tuple[Poly, Poly]] = {}
        if group.low is not None and group.high is not None:
            for stage, binder in group.members.items():
                bounds[(stage, binder)] = group.bounds
                if group.strip is not None and stage in group.strip.sums:
                    bounds[(stage, group.strip.sums[stage])] = (poly(group.strip.low), poly(group.strip.high))
                    self.started.add(stage)
        remaining = {s: list(self.orders[s]) for s in group.stages}
        group.body = self.level(group.stages, remaining, bounds)
        return group.body

    def level(
        self, stages: list[Stage], remaining: dict[Stage, list[ir.Binder]], bounds: dict[tuple[Stage, ir.Binder], tuple[Poly, Poly]]
    ) -> list[Node]:
        nodes: list[Node] = []
        where: dict[Stage, int] = {}
        reading: dict[Source, list[int]] = {}  # the loops that read an array at their own index
        for stage in stages:
            deps = self.reads(stage)
            before = {where[d] for d, _ in deps if d in where}
            lowest = max(before, default=0)
            if not remaining[stage]:
                if accumulates_in_memory(stage, self.orders[stage]) and not stage.inner:
                    nodes.append(Leaf(stage, start=True))
                nodes.append(Leaf(stage))
                where[stage] = len(nodes) - 1
                continue
            binder = remaining[stage][0]
            low, high = self.range_of(stage, binder, bounds)
            sharing = {k for source in self.sources(stage, binder) for k in reading.get(source, ()) if k >= lowest}
            related = sorted(sharing | {lowest} if before else sharing, reverse=True)
            place = next((k for k in related if self.merges(stage, binder, low, high, nodes[k], deps, k in sharing)), None)
            if place is None:
                nodes.append(Nest(Sym(binder.name), low, high))
                place = len(nodes) - 1
            nest = nodes[place]
            assert isinstance(nest, Nest)
            if accumulates_in_memory(stage, self.orders[stage]) and self.starts_here(stage, remaining[stage]) and stage not in self.started:
                nest.starts.append(Leaf(stage, start=True))
            nest.members[stage] = binder
            nest.sequential |= self._sequential(stage, binder)
            self.syms[(stage, binder)] = poly(nest.sym)
            where[stage] = place
            _note(reading, self.sources(stage, binder), place)
        for node in nodes:
            if isinstance(node, Nest):
                inner = {s: remaining[s][1:] for s in node.members}
                node.body = self.level(list(node.members), inner, bounds)
        ordered: list[Node] = []
        for node in nodes:
            ordered += [*node.starts, node] if isinstance(node, Nest) else [node]
        return ordered

    def starts_here(self, stage: Stage, remaining: list[ir.Binder]) -> bool:
        """True at the level where the accumulation begins: all dims outside it are fixed."""
        order = self.orders[stage]
        first = next(k for k, b in enumerate(order) if b in stage.inner) if stage.inner else len(order)
        return len(order) - len(remaining) == first

    def range_of(
        self, stage: Stage, binder: ir.Binder, bounds: dict[tuple[Stage, ir.Binder], tuple[Poly, Poly]]
    ) -> tuple[Poly, Poly]:
        given = bounds.get((stage, binder))
        if given is not None:
            return given
        env: dict[Atom, Poly] = {b: p for b in (*stage.dims, *stage.inner) if (p := self.syms.get((stage, b))) is not None}
        return poly(0), binder.extent.subst(env)

    def merges(
        self, stage: Stage, binder: ir.Binder, low: Poly, high: Poly, nest: Node, deps: list[tuple[Stage, ir.Ref | None]], shares: bool
    ) -> bool:
        if not isinstance(nest, Nest) or nest.low != low or nest.high != high:
            return False
        related = False
        for other, ref in deps:
            if other not in nest.members:
                continue
            if not self.in_round(stage, binder, other, nest.members[other], ref):
                return False
            related = True
        if nest.sequential and self._sequential(stage, binder) and not related:
            return False
        return related or shares

    def _sequential(self, stage: Stage, binder: ir.Binder) -> bool:
        return binder in stage.inner and isinstance(stage.prim, (ir.Scan, ir.Scatter)) and own_place(stage, binder) is None


def _note(reading: dict[Source, list[int]], sources: frozenset[Source], place: int) -> None:
    for source in sources:
        places = reading.setdefault(source, [])
        if not places or places[-1] != place:
            places.append(place)
