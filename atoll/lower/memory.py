"""Where the results of stages live: variables, whole arrays, rows, pieces; the caller's memory where it can be used.

A result that is a whole line is computed where the caller wants it; memory of a result is lent, until it is stored, to an array it is
made of; an update in place takes its array's memory; the rest is allocated where it is made and freed after the last group reading it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

from atoll.ainf import ir
from atoll.ainf.identity import identity_of
from atoll.ainf.scan_prim import line_refs
from atoll.errors import NOWHERE, Span
from atoll.loops import ir as lp
from atoll.lower.labels import label_of
from atoll.lower.places import AgainPlace, BufferPlace, Place, Scope
from atoll.lower.values import Values
from atoll.plan.fuse import Group, Nest, Strip
from atoll.plan.stages import Stage, computed_again
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import I64


@dataclass(frozen=True, slots=True)
class BufferSink:
    buffer: lp.Buffer


@dataclass(frozen=True, slots=True)
class VarSink:
    var: lp.Var


Sink = Union[BufferSink, VarSink]
Path = tuple[Any, ...]


class Memory(Values):
    """The places of a block's stages."""

    results: list[ir.Abs]
    sinks: list[Sink]
    stages: list[Stage]
    groups: list[Group]
    group_number: dict[Stage, int]
    by_line: dict[ir.Line, Stage]
    readers: dict[ir.Line, list[Stage]]
    paths: dict[Stage, Path]
    piece: tuple[Group, Scope, Scope] | None
    strip: tuple[Strip, Scope, lp.Var] | None
    pending_frees: dict[int, list[lp.Buffer]]
    loop_span: Span = NOWHERE  # of the loop whose round this block is
    freed: list[tuple[lp.Buffer, Scope, lp.Stmt]]  # dead memory, where it was freed, and how

    def all_refs_to(self, line: ir.Line) -> list[ir.Ref]:
        """Every reference to a line in this block and the blocks inside it, and in the results."""
        found = [ref for other in self.block.lines for ref in line_refs(other) if ref.line is line]
        for array in self.results:
            found += [ref for ref in ir.operand_refs(array.body) if ref.line is line]
            for b in array.binders:
                found += [ref for ref in ir.poly_refs(b.extent) if ref.line is line]
        return found

    def _alias_outputs(self) -> None:
        """A result that is a whole line is computed where the caller wants it."""
        self.preferred: dict[tuple[ir.Line, int], lp.Buffer] = {}
        for stage in self.stages:
            if stage.target is None:
                continue
            sink = self.sinks[stage.position]
            found = identity_of(stage.target)
            if found is None or not isinstance(sink, BufferSink) or not stage.target.binders:
                continue
            taken = found in self.inplace.taken  # then an update changes it after it is stored
            if found[0] in self.by_line and found not in self.preferred and not taken:
                self.preferred[found] = sink.buffer
        for taker, base in reversed(list(self.inplace.takes.items())):  # an update's result starts where it ends
            if taker in self.preferred and base[0] in self.by_line and base not in self.preferred:
                self.preferred[base] = self.preferred[taker]
        if self.parent is None:
            for stage in self.stages:
                if stage.target is not None:
                    self._lend_result(stage)

    def _lend_result(self, stage: Stage) -> None:
        """The memory of a result holds, until the result is stored, an array it is made of element by element."""
        sink = self.sinks[stage.position]
        if not isinstance(sink, BufferSink) or sink.buffer in self.preferred.values() or not stage.target or not stage.target.binders:
            return
        here = self._group_of(stage)
        index = tuple(poly(x) for x in stage.target.binders)
        extents = tuple(x.extent for x in stage.target.binders)
        for ref in stage.refs:
            line = ref.line
            made = self.by_line.get(line)
            if made is None or ref.index != index or (line, ref.result) in self.preferred or (line, ref.result) in self.inplace.taken:
                continue
            if (line, ref.result) in self.inplace.takes or line.results[ref.result].dtype is not sink.buffer.dtype or line.extents(ref.result) != extents:
                continue
            others = [r for r in self.readers.get(line, ()) if r is not stage]
            alone = all(other.index == index for other in stage.refs if other.line is line and other.result == ref.result)
            if alone and self._group_of(made) < here and all(self._group_of(r) < here for r in others):
                self.preferred[(line, ref.result)] = sink.buffer
                return

    def make_places(self, stage: Stage, scope: Scope, number: int) -> None:
        """Decide where a stage's results live, once; buffers are allocated here."""
        line = stage.line
        assert line is not None
        for result, info in enumerate(line.results):
            key = (line, result)
            if key in self.places:
                continue
            is_state = isinstance(stage.prim, ir.ScatterFold)  # what it stores is what it works on, read afterwards or not
            if result and not is_state and key not in self.inplace.takes and not any(r.result == result for r in self.all_refs_to(line)):
                continue
            place = self._choose(stage, result, info, scope, number)
            if place is not None:
                self.places[(line, result)] = place

    def _choose(self, stage: Stage, result: int, info: ir.Result, scope: Scope, number: int) -> Place | None:
        line = stage.line
        assert line is not None
        taken = self.inplace.takes.get((line, result))
        if taken is not None:
            place = self.place(*taken)
            self._live_longer(place, stage, number)
            return place
        shared = self._shared(stage)
        strip = next((node for node in shared if isinstance(node, Strip)), None)
        shared = tuple(node for node in shared if node is not strip)
        fixed = {node.members.get(stage) for node in shared if isinstance(node, Nest)}
        rest = [k for k, d in enumerate(line.dims) if d not in fixed]
        if not rest and not info.axes:
            return None  # a variable, made where it is computed
        if computed_again(line):
            return AgainPlace()
        if isinstance(stage.prim, ir.Scan) and self.scalar_scan(stage):
            return None
        everything = tuple(range(len(line.dims) + len(info.axes)))
        order = line.order if line.order is not None else everything
        natural = order == everything
        positions = tuple(k for k in order if k >= len(line.dims) or k in rest)
        in_piece = bool(shared) and isinstance(shared[0], Group)
        offsets: dict[int, Poly] = {}
        extents: list[Poly] = []
        env = self.env(stage)
        for k in positions:
            home = self.outside(scope) if not shared else scope
            if k >= len(line.dims):
                extents.append(self._box(info.axes[k - len(line.dims)], [line.dims[j] for j in rest], env, home))
            else:
                d = line.dims[k]
                group = shared[0] if in_piece else None
                if group is not None and group.members.get(stage) is d:
                    offsets[k] = self.translate(group.bounds[0], env, scope)
                    extents.append(poly(group.high) - poly(group.low))
                elif strip is not None and not shared and strip.maker.members.get(stage) is d and self.strip is not None:
                    offsets[k] = self.translate(poly(strip.low), env, scope)
                    extents.append(poly(self.strip[2].atom))
                else:
                    extents.append(self._box(d.extent, [line.dims[j] for j in rest], env, home))
        preferred = self.preferred.get((line, result))
        if preferred is not None and natural and not self.fn.is_open(preferred):
            return BufferPlace(preferred, tuple(range(len(line.dims) + len(info.axes))))
        reason = self._reason(stage)
        buffer = self.fn.buffer(line.name, info.dtype, tuple(extents), "temp", reason, line.span)
        buffer.origin = lp.Origin(line.origins)
        buffer.label = label_of(line, result)
        buffer = self._allocate(buffer, stage, shared, scope, number)
        return BufferPlace(buffer, positions, offsets)

    def _box(self, extent: Poly, stored: list[ir.Binder], env: dict[Atom, Poly], scope: Scope) -> Poly:
        """Room for every row, where rows differ in length: the greatest extent, solved for or measured."""
        while True:
            varying = [x for x in stored if x in extent.leaves()]
            if not varying:
                return self.translate(extent, env, scope)
            x = varying[-1]
            slope = extent.slope(x)
            c = None if slope is None else slope.const()
            if c is None or x in (extent - poly(x) * c).leaves():
                return self._measured(extent, stored, env, scope)
            extent = extent.subst({x: x.extent - 1 if c > 0 else poly(0)})

    def _measured(self, extent: Poly, stored: list[ir.Binder], env: dict[Atom, Poly], scope: Scope) -> Poly:
        """The greatest extent of a row, by looking at all of them."""
        longest = self.fn.var("longest", I64, True)
        scope.add(lp.Declare(longest, lp.Const(0, I64)))
        loops: list[tuple[Sym, Poly, Scope]] = []
        inner, here = scope, dict(env)
        for x in self._outer(extent, stored):
            sym = Sym(x.name)
            loops.append((sym, self.translate(x.extent, here, inner), inner))
            here[x] = poly(sym)
            inner = inner.child()
        length = lp.Index(self.translate(extent, here, inner))
        inner.add(lp.Assign(longest, lp.Call("max", (lp.Use(longest), length), I64)))
        for sym, high, outside in reversed(loops):
            outside.add(lp.For(sym, poly(0), high, inner.stmts, parallel=False))
            inner = outside
        return poly(longest.atom)

    def _outer(self, extent: Poly, stored: list[ir.Binder]) -> list[ir.Binder]:
        """The indices an extent depends on, outermost first."""
        found: set[ir.Binder] = set()
        queue = list(extent.leaves())
        while queue:
            x = queue.pop()
            if isinstance(x, ir.Binder) and x in stored and x not in found:
                found.add(x)
                queue += x.extent.leaves()
        return [x for x in stored if x in found]

    def _reason(self, stage: Stage) -> str:
        return {
            ir.Scatter: "the array an update makes",
            ir.Loop: "loop state",
            ir.While: "loop state",
            ir.Argsort: "the order of a sort",
            ir.Compress: "what a filter keeps",
            ir.Scan: "the result of a scan, read in another loop",
            ir.Reduce: "sums read in another loop",
        }.get(type(stage.prim), "read in another loop than it is made in")

    def _allocate(self, buffer: lp.Buffer, stage: Stage, shared: Path, scope: Scope, number: int) -> lp.Buffer:
        """Whole arrays live from here to the last group that reads them, in the memory of a dead one where there is one of their
        size; parts of arrays live as long as their loop."""
        if shared:
            if isinstance(shared[0], Group):
                self.keep_in_piece(buffer, scope)
            else:
                buffer.private = self.piece is not None
                scope.add(lp.Alloc(buffer))
            return buffer
        home = self.outside(scope)
        dead = next((f for f in self.freed if f[1] is home and f[0].dtype is buffer.dtype and f[0].extents == buffer.extents), None)
        if dead is not None:
            self.freed.remove(dead)
            home.stmts.remove(dead[2])
            buffer = dead[0]
        else:
            home.add(lp.Alloc(buffer))
        last = max((self._group_of(r) for r in self.readers.get(stage.line, ())), default=number)  # type: ignore[arg-type]
        self.pending_frees.setdefault(max(last, number), []).append(buffer)
        return buffer

    def outside(self, scope: Scope) -> Scope:
        """Outside the pieces and the strip being lowered."""
        if self.strip is not None:
            return self.strip[1]
        return self.piece[2] if self.piece is not None else scope

    def keep_in_piece(self, buffer: lp.Buffer, scope: Scope) -> None:
        """Memory for as long as the piece being lowered, if its size is known where that starts, else for as long as the scope."""
        buffer.private = self.piece is not None
        if self.piece is not None and self.piece[1] is not scope and self._closed(buffer.extents, self.piece[0]):
            self.piece[1].stmts.insert(0, lp.Alloc(buffer))
        else:
            scope.add(lp.Alloc(buffer))

    def _live_longer(self, place: Place, stage: Stage, number: int) -> None:
        """Memory that an update takes over is needed as long as the update's result."""
        last = max((self._group_of(r) for r in self.readers.get(stage.line, ())), default=number)  # type: ignore[arg-type]
        for k, buffers in self.pending_frees.items():
            if isinstance(place, BufferPlace) and place.buffer in buffers and k < last:
                buffers.remove(place.buffer)
                self.pending_frees.setdefault(last, []).append(place.buffer)
                return

    def _closed(self, extents: tuple[Poly, ...], group: Group) -> bool:
        allowed = {*self.fn.size_atoms, group.low, group.high}
        return all(leaf in allowed for p in extents for leaf in p.leaves())

    def _group_of(self, stage: Stage) -> int:
        return self.group_number[stage]

    def _shared(self, stage: Stage) -> Path:
        """The loops a stage has in common with everything that reads it."""
        mine = self._definition_path(stage)
        readers = [r for r in self.readers.get(stage.line, ()) if r is not stage]  # type: ignore[arg-type]
        if not readers:
            return mine
        shared = mine
        for reader in readers:
            theirs = self.paths[reader]
            n = 0
            while n < len(shared) and n < len(theirs) and shared[n] is theirs[n]:
                n += 1
            shared = shared[:n]
        return shared

    def _definition_path(self, stage: Stage) -> Path:
        """The loops around a stage up to where it starts accumulating."""
        path = self.paths[stage]
        kept: list[Any] = []
        for node in path:
            if isinstance(node, Nest) and node.members.get(stage) in stage.inner:
                break
            if isinstance(node, Group) and node.members.get(stage) in stage.inner:
                break
            if isinstance(node, Strip) and (stage in node.sums or node.maker.members.get(stage) in stage.inner):
                break
            kept.append(node)
        return tuple(kept)

    def scalar_scan(self, stage: Stage) -> bool:
        """A scan whose every reader runs in its loop needs no array."""
        path = self.paths[stage]
        own = [node for node in path if isinstance(node, Nest) and node.members.get(stage) in stage.inner]
        readers = [r for r in self.readers.get(stage.line, ()) if r is not stage]  # type: ignore[arg-type]
        return bool(readers) and all(own[0] in self.paths[r] for r in readers)
