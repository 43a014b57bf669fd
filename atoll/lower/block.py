"""Lowering one block: plan it, decide where results live, emit its loops.

A block is lowered inside a `Scope`; its parameters have places, its results go to sinks: a buffer or a variable each. Blocks of loops are
lowered inside the loop with the enclosing block as parent, so they can read what it computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from atoll.ainf import ir
from atoll.ainf.guards import extents_at
from atoll.ainf.identity import identity_of
from atoll.loops import ir as lp
from atoll.lower.places import AgainPlace, BufferPlace, Place, Scope, VarPlace
from atoll.plan.fuse import Fuser, Group, Leaf, Nest, Node, accumulates_in_memory
from atoll.plan.inplace import plan_block
from atoll.plan.stages import Stage, computed_again, own_cost
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import BOOL, I64

if TYPE_CHECKING:
    from atoll.lower.function import FunctionLowerer

_DEPTH = 10


@dataclass(frozen=True, slots=True)
class BufferSink:
    buffer: lp.Buffer


@dataclass(frozen=True, slots=True)
class VarSink:
    var: lp.Var


Sink = Union[BufferSink, VarSink]
Path = tuple[Any, ...]


class BlockLowerer:
    def __init__(
        self,
        fn: FunctionLowerer,
        parent: BlockLowerer | None,
        block: ir.Block,
        results: list[ir.Abs],
        sinks: list[Sink],
        places: dict[tuple[ir.Line, int], Place],
        ambient: dict[Atom, Poly],
        pieces: bool,
        writable: set[ir.Line],
    ) -> None:
        self.fn, self.parent, self.block = fn, parent, block
        self.results, self.sinks = results, sinks
        self.places = places
        self.ambient = ambient  # what fixed indices are here
        self.pieces = pieces
        lines = [line for line in block.lines if not isinstance(line.prim, (ir.Input, ir.Param, ir.ConstArray))]
        self.inlining, self.stages, self.inplace = plan_block(lines, results, writable, fn.reassociate)
        self.fuser = Fuser(self.stages, pieces)
        self.groups = self.fuser.groups()
        for group in self.groups:
            self.fuser.nests(group)
        self.uses = self._count_uses()
        self.paths: dict[Stage, Path] = {}
        self.readers: dict[ir.Line, list[Stage]] = {}
        self.by_line = self.fuser.by_line
        self.piece: tuple[Group, Scope, Scope] | None = None  # the group being lowered, inside and outside its pieces
        self.totals: dict[Stage, lp.Var] = {}
        self.accs: dict[Stage, lp.Acc] = {}
        self.scan_vars: dict[Stage, lp.Var] = {}
        self.pending_frees: dict[int, list[lp.Buffer]] = {}
        self.skipped: set[Stage] = set()
        for stage in self.stages:
            for ref in stage.refs:
                self.readers.setdefault(ref.line, []).append(stage)
        for (line, _), (base, _) in self.inplace.takes.items():  # also where the update reads the old value through a copy
            self.readers.setdefault(base, []).append(self.by_line[line])

    def _count_uses(self) -> dict[ir.Line, int]:
        from atoll.ainf.scan_prim import line_refs

        counts: dict[ir.Line, int] = {}
        for line in self.block.lines:
            for ref in line_refs(line):
                counts[ref.line] = counts.get(ref.line, 0) + 1
        for array in self.results:
            for ref in ir.operand_refs(array.body):
                counts[ref.line] = counts.get(ref.line, 0) + 1
        return counts

    # -- the whole block

    def lower(self, scope: Scope, only: set[int] | None = None, done: set[int] | None = None) -> None:
        """Emit all groups, or `only` some of them, or all but those `done` before."""
        if not self.paths:
            for group in self.groups:
                for node in group.body:
                    self._record_paths(node, (group,) if group.extent is not None else ())
            self._alias_outputs()
        for k, group in enumerate(self.groups):
            if (only is not None and k not in only) or (done is not None and k in done):
                continue
            self._open_results(group, scope)
            self._group(group, k, scope)
            for buffer in self.pending_frees.get(k, ()):
                scope.add(lp.Free(buffer))

    def _open_results(self, group: Group, scope: Scope) -> None:
        """Results whose size only running decides get their memory when it is known."""
        for stage in group.stages:
            if stage.target is None:
                continue
            sink = self.sinks[stage.position]
            if isinstance(sink, BufferSink) and self.fn.is_open(sink.buffer):
                sink.buffer.extents = tuple(self.translate(b.extent, {}, scope) for b in stage.target.binders)
                self.fn.emit_open_alloc(sink.buffer, scope)

    def stages_for(self, operands: list[ir.Operand], effects: tuple[ir.Line, ...]) -> set[int]:
        """The groups that must run before these operands are known and these effects have happened."""
        wanted: set[int] = set()
        queue = [ref for operand in operands for ref in self.inlining.reads(ir.operand_refs(operand))]
        lines = [ref.line for ref in queue] + list(effects)
        seen: set[ir.Line] = set()
        while lines:
            line = lines.pop()
            stage = self.by_line.get(line)
            if stage is None or line in seen:
                continue
            seen.add(line)
            number = self._group_of(stage)
            wanted.add(number)
            for member in self.groups[number].stages:
                lines += [ref.line for ref in member.refs]
                lines += [self.fuser.by_number[n].line for n in member.after if n in self.fuser.by_number and self.fuser.by_number[n].line]  # type: ignore[misc]
        return wanted

    def all_refs_to(self, line: ir.Line) -> list[ir.Ref]:
        """Every reference to a line in this block and the blocks inside it, and in the results."""
        from atoll.ainf.scan_prim import line_refs

        found = [ref for other in self.block.lines for ref in line_refs(other) if ref.line is line]
        for array in self.results:
            found += [ref for ref in ir.operand_refs(array.body) if ref.line is line]
            for b in array.binders:
                found += [ref for ref in ir.poly_refs(b.extent) if ref.line is line]
        return found

    def _record_paths(self, node: Node, path: Path) -> None:
        if isinstance(node, Leaf):
            if not node.start:
                self.paths[node.stage] = path
        else:
            for inner in node.body:
                self._record_paths(inner, (*path, node))

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
            line, result = found
            same = tuple(b.extent for b in stage.target.binders) == line.extents(result)
            taken = found in self.inplace.taken  # then an update changes it after it is stored
            if line in self.by_line and found not in self.preferred and same and not taken:
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

    # -- groups

    def _group(self, group: Group, number: int, scope: Scope) -> None:
        if group.extent is None:
            self._nodes(group.body, scope, group, number)
            return
        assert group.low is not None and group.high is not None
        extent = self.translate(group.extent, {}, scope)
        inner = scope.child()
        accs: list[lp.Acc] = []
        for stage, binder in group.members.items():
            if binder in stage.inner and isinstance(stage.prim, ir.Reduce):
                var = self.fn.var(stage.line.name if stage.line else "s", stage.line.results[0].dtype)  # type: ignore[union-attr]
                accs.append(lp.Acc(var, stage.prim.monoid))
                scope.add(lp.Declare(var, self.neutral(stage.prim.monoid, var.dtype)))
                self.places[(stage.line, 0)] = VarPlace(lp.Use(var))  # type: ignore[index]
                self.totals[stage] = var
        self.piece = (group, inner, scope)
        self._nodes(group.body, inner, group, number)
        self.piece = None
        work = self.translate(self._work(group), {}, scope)
        scope.add(lp.Chunks(group.low, group.high, extent, work, inner.stmts, accs, align=self._alignment(group)))

    def _alignment(self, group: Group) -> int:
        """Pieces of a contiguous index start at multiples of a cache line; those of the columns of a matrix are longer."""
        found = 1
        for stage, binder in group.members.items():
            order = self.fuser.orders[stage]
            if len(order) == 1 and order[0] is binder and stage.contraction is None:
                found = max(found, 64)
            elif len(order) == 2 and order[1] is binder and order[0] in stage.inner:
                found = max(found, 1024)
        return found

    def _work(self, group: Group) -> Poly:
        """Operations per index of the group's outer loop."""
        total = poly(0)
        for stage, binder in group.members.items():
            cost = poly(self._stage_cost(stage))
            for b in self.fuser.orders[stage]:
                if b is not binder:
                    cost = cost * self._estimate(b.extent)
            extra = stage.inner if stage.contraction is None else (*stage.contraction.rows, *stage.contraction.columns, *stage.contraction.sums)
            for b in extra:
                if b not in self.fuser.orders[stage]:
                    cost = cost * self._estimate(b.extent)
            total = total + cost
        return total

    def _estimate(self, extent: Poly) -> Poly:
        """An extent in terms of sizes only; what depends on data or outer loops counts as 16."""
        if all(leaf in self.fn.size_atoms for leaf in extent.leaves()):
            return extent
        return poly(16)

    def _stage_cost(self, stage: Stage) -> int:
        if stage.line is None:
            return 1 + self._inlined_cost(stage)
        if isinstance(stage.prim, (ir.Loop, ir.While, ir.Fold, ir.ScanFold)):
            return 200
        return 1 + own_cost(stage.line) + self._inlined_cost(stage)

    def _inlined_cost(self, stage: Stage) -> int:
        return 2 * len(stage.refs)

    # -- nests

    def _nodes(self, nodes: list[Node], scope: Scope, group: Group, number: int) -> None:
        for node in nodes:
            if isinstance(node, Leaf):
                self._leaf(node, scope, group, number)
            else:
                self._nest(node, scope, group, number)

    def _nest(self, nest: Nest, scope: Scope, group: Group, number: int) -> None:
        from atoll.lower.stage_code import before_nest, finish_reduction

        low, high = self.translate(nest.low, {}, scope), self.translate(nest.high, {}, scope)
        inner = scope.child()
        reductions: list[tuple[Stage, lp.Acc]] = []
        sequential = False
        for stage, binder in nest.members.items():
            if binder not in stage.inner:
                if stage.line is not None and stage.line.results and nest is self._first_own(stage):
                    self.make_places(stage, scope, number)
                continue
            found = before_nest(self, stage, scope)
            if isinstance(found, lp.Acc):
                reductions.append((stage, found))
                self.accs[stage] = found
            elif found == "sequential":
                sequential = True
        self._nodes(nest.body, inner, group, number)
        if reductions:
            accs = [acc for _, acc in reductions]
            scope.add(lp.Accumulate(nest.sym, low, high, inner.stmts, accs, exact=not self.fn.reassociate))
        else:
            scope.add(lp.For(nest.sym, low, high, inner.stmts, parallel=not sequential and not _has_effects(inner.stmts)))
        for stage, acc in reductions:
            finish_reduction(self, stage, acc, scope, in_piece=group.members.get(stage) in stage.inner)

    def _first_own(self, stage: Stage) -> Nest | None:
        """The outermost loop of a stage that its readers do not share: its memory is made just outside."""
        shared = self._shared(stage)
        rest = self.paths[stage][len(shared) :]
        return rest[0] if rest and isinstance(rest[0], Nest) else None

    def _leaf(self, leaf: Leaf, scope: Scope, group: Group, number: int) -> None:
        from atoll.lower.stage_code import main_code, start_code

        stage = leaf.stage
        if leaf.start:
            self.make_places(stage, scope, number)
            start_code(self, stage, scope)
            return
        if stage.line is not None and stage.line.results:
            self.make_places(stage, scope, number)
        main_code(self, stage, scope)

    # -- places

    def make_places(self, stage: Stage, scope: Scope, number: int) -> None:
        """Decide where a stage's results live, once; buffers are allocated here."""
        line = stage.line
        assert line is not None
        for result, info in enumerate(line.results):
            key = (line, result)
            if key in self.places:
                continue
            if result and key not in self.inplace.takes and not any(r.result == result for r in self.all_refs_to(line)):
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
        fixed = {binder for node in shared if isinstance(node, Nest) for s, binder in node.members.items() if s is stage}
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
            if k >= len(line.dims):
                extents.append(self.translate(info.axes[k - len(line.dims)], env, scope))
            else:
                d = line.dims[k]
                group = shared[0] if in_piece else None
                if group is not None and group.members.get(stage) is d:
                    offsets[k] = poly(group.low)
                    extents.append(poly(group.high) - poly(group.low))
                else:
                    home = self.piece[2] if self.piece is not None and not shared else scope
                    extents.append(self._box(d.extent, [line.dims[j] for j in rest], env, home))
        preferred = self.preferred.get((line, result))
        if preferred is not None and natural and not self.fn.is_open(preferred):
            return BufferPlace(preferred, tuple(range(len(line.dims) + len(info.axes))))
        reason = self._reason(stage)
        buffer = self.fn.buffer(line.name, info.dtype, tuple(extents), "temp", reason, line.span)
        self._allocate(buffer, stage, shared, scope, number)
        return BufferPlace(buffer, positions, offsets)

    def _box(self, extent: Poly, stored: list[ir.Binder], env: dict[Atom, Poly], scope: Scope) -> Poly:
        """Room for every row, where rows differ in length: the greatest extent, solved for or measured."""
        while True:
            varying = [x for x in stored if x in extent.leaves()]
            if not varying:
                return self.translate(extent, env, scope)
            x = varying[-1]
            slope = extent.coefficient(x)
            c = None if slope is None else slope.const()
            if c is None or x in (extent - poly(x) * c).leaves():
                return self._measured(extent, stored, env, scope)
            extent = extent.subst({x: x.extent - 1 if c > 0 else poly(0)})

    def _measured(self, extent: Poly, stored: list[ir.Binder], env: dict[Atom, Poly], scope: Scope) -> Poly:
        """The greatest extent of a row, by looking at all of them."""
        longest = self.fn.var("longest", I64)
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
        key = (stage.line, 0)
        if key in self.inplace.copies:
            return f"copy: {self.inplace.copies[key]}"
        return {
            ir.Scatter: "the array an update makes",
            ir.Loop: "loop state",
            ir.While: "loop state",
            ir.Argsort: "the order of a sort",
            ir.Compress: "what a filter keeps",
            ir.Scan: "the result of a scan, read in another loop",
            ir.Reduce: "sums read in another loop",
        }.get(type(stage.prim), "read in another loop than it is made in")

    def _allocate(self, buffer: lp.Buffer, stage: Stage, shared: Path, scope: Scope, number: int) -> None:
        """Whole arrays live from here to the last group that reads them; parts of arrays as long as their loop."""
        if shared:
            home = scope
            if isinstance(shared[0], Group) and self.piece is not None and self._closed(buffer.extents, shared[0]):
                home = self.piece[1]
            buffer.private = self.piece is not None
            home.stmts.insert(0, lp.Alloc(buffer)) if home is not scope else scope.add(lp.Alloc(buffer))
            return
        (self.piece[2] if self.piece is not None else scope).add(lp.Alloc(buffer))
        last = max((self._group_of(r) for r in self.readers.get(stage.line, ())), default=number)  # type: ignore[arg-type]
        self.pending_frees.setdefault(max(last, number), []).append(buffer)

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
        return next(k for k, g in enumerate(self.groups) if stage in g.stages)

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
            kept.append(node)
        return tuple(kept)

    def scalar_scan(self, stage: Stage) -> bool:
        """A scan whose every reader runs in its loop needs no array."""
        path = self.paths[stage]
        own = [node for node in path if isinstance(node, Nest) and node.members.get(stage) in stage.inner]
        readers = [r for r in self.readers.get(stage.line, ()) if r is not stage]  # type: ignore[arg-type]
        return bool(readers) and all(own[0] in self.paths[r] for r in readers)

    # -- values

    def env(self, stage: Stage) -> dict[Atom, Poly]:
        """What a stage's indices are in the loops around it."""
        env: dict[Atom, Poly] = dict(self.ambient)
        for binder in (*stage.dims, *stage.inner):
            known = self.fuser.syms.get((stage, binder))
            if known is not None:
                env[binder] = known
        return env

    def owner(self, line: ir.Line) -> BlockLowerer:
        lowerer: BlockLowerer | None = self
        while lowerer is not None and lowerer.block is not line.block:
            lowerer = lowerer.parent
        assert lowerer is not None, f"{line} belongs to no enclosing block"
        return lowerer

    def place(self, line: ir.Line, result: int) -> Place:
        return self.owner(line).places[(line, result)]

    def translate(self, p: Poly, env: dict[Atom, Poly], scope: Scope) -> Poly:
        """A polynomial over lines' indices as one over loop indices and variables."""
        replace: dict[Atom, Poly] = {}
        for leaf in p.leaves():
            if isinstance(leaf, ir.RefAtom):
                replace[leaf] = self.index_ref(leaf.ref, env, scope)
            elif leaf in env:
                replace[leaf] = env[leaf]
            elif leaf in self.ambient:
                replace[leaf] = self.ambient[leaf]
        return p.subst(replace) if replace else p

    def index_ref(self, ref: ir.Ref, env: dict[Atom, Poly], scope: Scope) -> Poly:
        """The value of a line inside an index; read once per scope."""
        index = tuple(self.translate(p, env, scope) for p in ref.index)
        key = ("index", ref.line, ref.result, index)
        known = scope.known(key)
        if known is None:
            known = lp.Index(self.as_index(self.ref(ref, env, scope), scope))
            scope.memo[key] = known
        assert isinstance(known, lp.Index)
        return known.poly

    def as_index(self, e: lp.Expr, scope: Scope) -> Poly:
        """An integer expression as something that can stand in an index."""
        if isinstance(e, lp.Use):
            return poly(e.var.atom)
        if isinstance(e, lp.Index):
            return e.poly
        if isinstance(e, lp.Const):
            return poly(int(e.value))
        var = self.fn.var("k", I64)
        scope.add(lp.Let(var, e))
        return poly(var.atom)

    def value(self, operand: ir.Operand, env: dict[Atom, Poly], scope: Scope, depth: int = 0) -> lp.Expr:
        if isinstance(operand, ir.Const):
            return lp.Const(operand.value, operand.dtype)
        if isinstance(operand, ir.IndexValue):
            p = self.translate(operand.poly, env, scope)
            atom = p.single()
            return lp.Use(atom.var) if isinstance(atom, lp.VarAtom) else lp.Index(p)
        return self.ref(operand, env, scope, depth)

    def ref(self, ref: ir.Ref, env: dict[Atom, Poly], scope: Scope, depth: int = 0) -> lp.Expr:
        index = tuple(self.translate(p, env, scope) for p in ref.index)
        owner = self.owner(ref.line)
        inner: dict[Atom, Poly] = {**owner.ambient, **dict(zip(ref.line.dims, index, strict=False))}
        inlined = owner.inlining.is_inlined(ref.line)
        scope.guarded |= not _total(ref) or (bool(ref.line.conds) and not inlined)
        if not inlined:
            place = owner.places[(ref.line, ref.result)]
            if isinstance(place, AgainPlace):
                assert isinstance(ref.line.prim, ir.Check) and ref.line.prim.value is not None
                return owner.value(ref.line.prim.value, inner, scope, depth)
            return self.read(place, index)
        key = (ref.line, ref.result, index)
        found = scope.known(key)
        if found is not None:
            return found
        return owner.inline(ref.line, inner, scope, key, depth, self)

    def read(self, place: Place, index: tuple[Poly, ...]) -> lp.Expr:
        if isinstance(place, VarPlace):
            return place.expr
        assert isinstance(place, BufferPlace)
        return lp.Load(place.buffer, place.index(index))

    def inline(
        self, line: ir.Line, env: dict[Atom, Poly], scope: Scope, key: object, depth: int, reader: BlockLowerer
    ) -> lp.Expr:
        """The value of an inlined line: an expression when used once, a variable otherwise."""
        dtype = line.results[0].dtype
        tests = self.tests(line.conds, env, scope)
        if tests:
            var = self.fn.var(line.name, dtype)
            scope.add(lp.Declare(var, self.fn.zero(dtype)))
            inner = scope.child(*tests)
            inner.add(lp.Assign(var, self.expression(line, env, inner, 0)))
            scope.add(lp.If(tests, inner.stmts))
            scope.memo[key] = lp.Use(var)
            return lp.Use(var)
        scope.guarded |= bool(line.conds)  # the tests hold here, but not further out
        shared = self.uses.get(line, 0) > 1 or depth >= _DEPTH
        e = self.expression(line, env, scope, 0 if shared else depth + 1)
        if shared and not isinstance(e, (lp.Use, lp.Const, lp.Index)):
            var = self.fn.var(line.name, dtype)
            scope.add(lp.Let(var, e))
            e = lp.Use(var)
            scope.memo[key] = e
        return e

    def expression(self, line: ir.Line, env: dict[Atom, Poly], scope: Scope, depth: int) -> lp.Expr:
        dtype = line.results[0].dtype
        match line.prim:
            case ir.Op("read", (arg,)):
                return self.value(arg, env, scope, depth)
            case ir.Op(name, args):
                return lp.Call(name, tuple(self.value(a, env, scope, depth) for a in args), dtype)
            case ir.Cast(arg):
                return lp.Cast(self.value(arg, env, scope, depth), dtype)
            case ir.Select(conds, then, orelse):
                return self.choose(self.tests(conds, env, scope), then, orelse, dtype, env, scope, depth)
            case ir.Truth(cond):
                tests = self.tests((cond,), env, scope)
                return lp.Truth(tests) if tests else lp.Const(True, BOOL)
            case ir.Extent(low, high):
                bounds = (self.value(low, env, scope, depth), self.value(high, env, scope, depth))
                return lp.Call("extent", bounds, I64)
        raise AssertionError(line.prim)

    def choose(
        self, tests: tuple[lp.Test, ...], then: ir.Operand, orelse: ir.Operand, dtype: Any, env: dict[Atom, Poly], scope: Scope, depth: int
    ) -> lp.Expr:
        """One of two values; statements that only one of them may do stay in its branch."""
        if not tests or (len(tests) == 1 and tests[0].negated() in scope.holds):
            return self.value(orelse if tests else then, env, scope, depth)
        yes, no = scope.child(*tests), scope.child(*((tests[0].negated(),) if len(tests) == 1 else ()))
        values = self.value(then, env, yes, depth), self.value(orelse, env, no, depth)
        if not any(branch.guarded and branch.stmts for branch in (yes, no)):
            for branch in (yes, no):
                branch.guarded = False  # a choice reads only what it chooses
                scope.absorb(branch)
            return lp.Choose(tests, *values)
        var = self.fn.var("v", dtype)
        yes.add(lp.Assign(var, values[0]))
        no.add(lp.Assign(var, values[1]))
        scope.add(lp.Declare(var, self.fn.zero(dtype)))
        scope.add(lp.If(tests, yes.stmts, no.stmts))
        return lp.Use(var)

    def tests(self, conds: tuple[ir.Cond, ...], env: dict[Atom, Poly], scope: Scope) -> tuple[lp.Test, ...]:
        """Conditions that do not hold already, in order: what a later one computes for itself may need the earlier ones."""
        found: list[lp.Test] = []
        for cond in conds:
            inner = scope.child(*found)
            if cond.poly is not None:
                test = lp.Test(cond.kind, self.translate(cond.poly, env, inner))
            else:
                assert cond.ref is not None
                test = lp.Test(cond.kind, None, self.kept(self.ref(cond.ref, env, inner), inner))
            if test in scope.holds and not inner.stmts:
                continue
            if found and inner.guarded and inner.stmts:
                both = self.fn.var("c", BOOL)
                inner.add(lp.Assign(both, lp.Truth((test,))))
                scope.add(lp.Declare(both, self.fn.zero(BOOL)))
                scope.add(lp.If(tuple(found), inner.stmts))
                found = [lp.Test("true", None, lp.Use(both))]
            else:
                scope.absorb(inner)
                found.append(test)
        return tuple(found)

    def kept(self, e: lp.Expr, scope: Scope) -> lp.Expr:
        """A bool that stays what it is: in a variable when it stands in memory that an update changes."""
        changing = {place.buffer for base in self.inplace.taken if isinstance(place := self._place_of(*base), BufferPlace)}
        if not changing or not any(isinstance(x, lp.Load) and x.buffer in changing for x in lp.subexprs(e)):
            return e
        var = self.fn.var("c", BOOL)
        scope.add(lp.Let(var, e))
        return lp.Use(var)

    def _place_of(self, line: ir.Line, result: int) -> Place | None:
        return self.owner(line).places.get((line, result))

    def neutral(self, monoid: str, dtype: Any) -> lp.Const:
        from atoll.core.prims import MONOIDS

        value = MONOIDS[monoid][1](dtype)
        if dtype is BOOL:
            return lp.Const(bool(value), dtype)
        if dtype.is_integer:
            return lp.Const(int(value), dtype)
        return lp.Const(complex(value) if dtype.is_complex else float(value), dtype)

    # -- arrays given by their elements

    def fill(self, array: ir.Abs, buffer: lp.Buffer, prefix: tuple[Poly, ...], env: dict[Atom, Poly], scope: Scope) -> None:
        """buffer[prefix, i, ...] = element, for all i."""
        found = identity_of(array) if not prefix else None
        if found is not None and not found[0].dims and not self.owner(found[0]).inlining.is_inlined(found[0]):
            place = self.place(*found)
            same = tuple(b.extent for b in array.binders) == found[0].extents(found[1])
            if same and isinstance(place, BufferPlace) and place.positions == tuple(range(len(array.binders))) and not place.offsets:
                scope.add(lp.CopyBuffer(buffer, place.buffer))
                return
        self._fill(array, 0, buffer, prefix, dict(env), scope)

    def _fill(self, array: ir.Abs, k: int, buffer: lp.Buffer, index: tuple[Poly, ...], env: dict[Atom, Poly], scope: Scope) -> None:
        if k == len(array.binders):
            scope.add(lp.Store(buffer, index, self.value(array.body, env, scope)))
            return
        binder = array.binders[k]
        sym = Sym(binder.name)
        high = self.translate(binder.extent, env, scope)
        inner = scope.child()
        self._fill(array, k + 1, buffer, (*index, poly(sym)), {**env, binder: poly(sym)}, inner)
        scope.add(lp.For(sym, poly(0), high, inner.stmts, parallel=True))

    def whole_buffer(self, array: ir.Abs, env: dict[Atom, Poly], scope: Scope, name: str, reason: str) -> lp.Buffer:
        """A contiguous buffer that holds the array: the one it lives in, or a filled copy."""
        found = identity_of(array)
        if found is not None:
            line, result = found
            if not line.dims and not self.owner(line).inlining.is_inlined(line):
                place = self.place(line, result)
                if isinstance(place, BufferPlace) and not place.offsets:
                    return place.buffer
        extents = tuple(self.translate(b.extent, env, scope) for b in array.binders)
        buffer = self.fn.buffer(name, ir.operand_dtype(array.body), extents, "temp", reason)
        scope.add(lp.Alloc(buffer))
        self.fill(array, buffer, (), env, scope)
        return buffer

    def abs_value(self, array: ir.Abs, env: dict[Atom, Poly], scope: Scope, name: str) -> Place:
        """A scalar as a variable, an array in a buffer."""
        if not array.binders:
            var = self.fn.var(name, ir.operand_dtype(array.body))
            scope.add(lp.Let(var, self.value(array.body, env, scope)))
            return VarPlace(lp.Use(var))
        buffer = self.whole_buffer(array, env, scope, name, "an element of a reduction")
        return BufferPlace(buffer, tuple(range(len(array.binders))))


def _total(ref: ir.Ref) -> bool:
    """True when a reference is in range whatever its indices are: each is an index of the same extent, or a constant."""
    for p, extent in zip(ref.index, extents_at(ref.line, ref.result, ref.index), strict=True):
        atom, const, limit = p.single(), p.const(), extent.const()
        if isinstance(atom, ir.Binder) and atom.extent == extent:
            continue
        if const is None or limit is None or not 0 <= const < limit:
            return False
    return True


def _has_effects(stmts: list[lp.Stmt]) -> bool:
    return any(isinstance(s, lp.Print) for s in lp.walk(stmts))


__all__ = ["BlockLowerer", "BufferSink", "Sink", "VarSink", "accumulates_in_memory"]
