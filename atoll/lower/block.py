"""Lowering one block: plan it, decide where results live, emit its loops.

A block is lowered inside a `Scope`; its parameters have places, its results go to sinks: a buffer or a variable each. Blocks of loops are
lowered inside the loop with the enclosing block as parent, so they can read what it computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from atoll.ainf import ir
from atoll.ainf.scan_prim import line_refs
from atoll.loops import ir as lp
from atoll.lower.handed_over import is_handed_over
from atoll.lower.memory import BufferSink, Memory, Path, Sink, VarSink
from atoll.lower.places import Place, Scope, VarPlace
from atoll.lower.strip_code import strip_code
from atoll.lower.tests_outside import tests_outside
from atoll.plan.dependences import NO_HEAD, Head
from atoll.plan.fuse import Fuser, Group, Leaf, Nest, Node, Strip, accumulates_in_memory
from atoll.plan.inplace import plan_block
from atoll.plan.own_places import Around
from atoll.plan.stages import Stage, own_cost
from atoll.plan.strips import in_strips
from atoll.sizes import Atom, Poly, poly

if TYPE_CHECKING:
    from atoll.lower.function import FunctionLowerer

PRODUCT_ROWS = 48
TILE_ROWS = 12  # what the matrix kernel does at a time


class BlockLowerer(Memory):
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
        head: Head = NO_HEAD,
    ) -> None:
        self.fn, self.parent, self.block = fn, parent, block
        self.results, self.sinks = results, sinks
        self.places = places
        self.ambient = ambient  # what fixed indices are here
        self.pieces = pieces
        lines = [line for line in block.lines if not isinstance(line.prim, (ir.Input, ir.Param, ir.ConstArray))]
        self.inlining, self.stages, self.inplace = plan_block(lines, results, writable, fn.reassociate, Around(fn.rounds, fn.program.sizes), head)
        self.fuser = Fuser(self.stages, pieces, self.inplace, fn.in_memory)
        self.groups = in_strips(self.fuser.groups(), self.fuser) if pieces and fn.reassociate else self.fuser.groups()
        self.group_number = {stage: k for k, group in enumerate(self.groups) for stage in group.stages}
        for group in self.groups:
            self.fuser.nests(group)
        self.uses = self._count_uses()
        self.paths: dict[Stage, Path] = {}
        self.readers: dict[ir.Line, list[Stage]] = {}
        self.by_line = self.fuser.by_line
        self.piece: tuple[Group, Scope, Scope] | None = None  # the group being lowered, inside and outside its pieces
        self.strip: tuple[Strip, Scope, lp.Var] | None = None  # the strip being lowered, outside it, and its length
        self.totals: dict[Stage, lp.Var] = {}
        self.accs: dict[Stage, lp.Acc] = {}
        self.scan_vars: dict[Stage, lp.Var] = {}
        self.pending_frees: dict[int, list[lp.Buffer]] = {}
        self.freed: list[tuple[lp.Buffer, Scope, lp.Stmt]] = []
        self.skipped: set[Stage] = set()
        self.exchangeable: frozenset[lp.Buffer] = frozenset() if parent is None else parent.exchangeable  # what may change places with others in loops inside
        for stage in self.stages:
            for ref in stage.refs:
                self.readers.setdefault(ref.line, []).append(stage)
        for (line, _), (base, _) in self.inplace.takes.items():  # also where the update reads the old value through a copy
            self.readers.setdefault(base, []).append(self.by_line[line])

    def _count_uses(self) -> dict[ir.Line, int]:
        counts: dict[ir.Line, int] = {}
        for line in self.block.lines:
            for ref in line_refs(line):
                counts[ref.line] = counts.get(ref.line, 0) + 1
        for array in self.results:
            for ref in ir.operand_refs(array.body):
                counts[ref.line] = counts.get(ref.line, 0) + 1
        return counts

    def lower(self, scope: Scope, only: set[int] | None = None, done: set[int] | None = None) -> None:
        """Emit all groups, or `only` some of them, or all but those `done` before."""
        if not self.paths:
            for group in self.groups:
                for node in group.body:
                    self._record_paths(node, (*([group.strip] if group.strip is not None else []), *([group] if group.is_cut else [])))
            self._alias_outputs()
        for k, group in enumerate(self.groups):
            if (only is not None and k not in only) or (done is not None and k in done):
                continue
            self._open_results(group, scope)
            if group.strip is None:
                self.lower_group(group, k, scope)
            elif group.strip.maker is group:
                strip_code(self, group.strip, k, scope)
            for buffer in self.pending_frees.pop(k, ()):
                free = lp.Free(buffer)
                scope.add(free)
                if not (any(isinstance(s.prim, ir.Loop) for s in group.stages) and is_handed_over(scope.stmts, buffer)):
                    self.freed.append((buffer, scope, free))

    def _open_results(self, group: Group, scope: Scope) -> None:
        """Results whose size only running decides get their memory when it is known."""
        for stage in group.stages:
            if stage.target is None:
                continue
            sink = self.sinks[stage.position]
            if isinstance(sink, BufferSink) and self.fn.is_open(sink.buffer):
                sink.buffer.extents = tuple(self.translate(b.extent, {}, scope) for b in stage.target.binders)
                self.fn.emit_open_alloc(sink.buffer, scope)

    def head(self) -> set[int]:
        """The groups that run before it is known whether the round goes on: what the rest does has no loop with them (fuse.py)."""
        return {self._group_of(stage) for stage in self.inplace.head}

    def _record_paths(self, node: Node, path: Path) -> None:
        if isinstance(node, Leaf):
            if not node.start:
                self.paths[node.stage] = path
        else:
            for inner in node.body:
                self._record_paths(inner, (*path, node))

    def lower_group(self, group: Group, number: int, scope: Scope) -> None:
        if group.extent is None or group.low is None or group.high is None:
            self._nodes(group.body, scope, group, number)
            return
        strip = group.strip if group.strip is not None and group.strip.maker is group else None
        extent = self.translate(group.extent if strip is None else poly(strip.high) - poly(strip.low), {}, scope)
        inner = scope.child()
        accs: list[lp.Acc] = []
        for stage, binder in group.members.items():
            if binder in stage.inner and isinstance(stage.prim, ir.Reduce):
                assert stage.line is not None
                var = self.fn.line_var(stage.line, stage.line.results[0].dtype)
                accs.append(lp.Acc(var, stage.prim.monoid))
                scope.add(lp.Declare(var, self.neutral(stage.prim.monoid, var.dtype)))
                self.totals[stage] = var
                if strip is None:  # else it is the total of a strip
                    self.places[(stage.line, 0)] = VarPlace(lp.Use(var))
        self.piece = (group, inner, scope)
        self._nodes(group.body, inner, group, number)
        self.piece = None
        loops = any(isinstance(stage.prim, (ir.Loop, ir.While, ir.Fold, ir.ScanFold)) for stage in group.members)
        work = self._operations(inner.stmts, group) if loops else self.translate(self._work(group), {}, scope)
        in_order = not self.fn.reassociate and any(a.monoid in ("add", "mul") and not a.var.dtype.is_integer for a in accs)
        most, rows = (1, 0) if in_order else (256, self._rows(group))  # pieces of a sum that goes from left to right would be added to each other
        tests, body = tests_outside(inner.stmts, {group.low, group.high}) if not accs else ((), inner.stmts)
        made = lp.Chunks(group.low, group.high, extent, work, body, accs, align=self._alignment(group), most=most, rows=rows)
        scope.add(lp.If(tests, [made]) if tests else made)

    def _alignment(self, group: Group) -> int:
        """Pieces of a contiguous index start at multiples of a cache line; those of the columns of a matrix are longer."""
        found = 1
        for stage, binder in group.members.items():
            order = self.fuser.orders[stage]
            if stage.contraction is not None and stage.contraction.cut is binder:
                found = max(found, TILE_ROWS)
            elif len(order) == 1 and order[0] is binder and stage.contraction is None:
                found = max(found, 64)
            elif len(order) == 2 and order[1] is binder and order[0] in stage.inner:
                found = max(found, 1024)
        return found

    def _rows(self, group: Group) -> int:
        """Rows of a piece that a product inside it needs to be worth it, 0 without one."""
        return PRODUCT_ROWS if any(stage.contraction is not None and stage.contraction.cut is binder for stage, binder in group.members.items()) else 0

    def _work(self, group: Group) -> Poly:
        """Operations per index of the group's outer loop."""
        total = poly(0)
        for stage, binder in group.members.items():
            cost = poly(self._stage_cost(stage))
            for b in self.fuser.orders[stage]:
                if b is not binder:
                    cost = cost * self.estimate(b.extent)
            extra = stage.inner if stage.contraction is None else (*stage.contraction.rows, *stage.contraction.columns, *stage.contraction.sums)
            for b in extra:
                if b not in self.fuser.orders[stage] and b is not binder:
                    cost = cost * self.estimate(b.extent)
            total = total + cost
        return total

    def _operations(self, stmts: lp.Stmts, group: Group, unknown: int = 16) -> Poly:
        """Operations of statements, for one index of the group's outer loop. Rounds that depend on data or outer loops count as 16, as 4 inside
        such rounds, as 1 inside these."""
        total = poly(0)
        for stmt in stmts:
            rounds = poly(1)
            if isinstance(stmt, (lp.For, lp.Accumulate)):
                length = stmt.high - stmt.low
                rounds = poly(1) if group.low in length.leaves() else length if all(leaf in self.fn.size_atoms for leaf in length.leaves()) else poly(unknown)
            elif isinstance(stmt, lp.Forever):
                rounds = poly(unknown)
            below = max(1, unknown // 4) if rounds == poly(unknown) else unknown
            total = total + sum((rounds * self._operations(body, group, below) for body in lp.bodies(stmt)), poly(0))
            if isinstance(stmt, (lp.Let, lp.Assign, lp.Store, lp.Update, lp.Add)):
                total = total + 1 + sum(isinstance(e, (lp.Call, lp.Load)) for e in lp.subexprs(stmt.value))
        return total

    def estimate(self, extent: Poly) -> Poly:
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

    def _nodes(self, nodes: list[Node], scope: Scope, group: Group, number: int) -> None:
        for node in nodes:
            if isinstance(node, Leaf):
                self._leaf(node, scope, group, number)
            else:
                self._nest(node, scope, group, number)

    def _nest(self, nest: Nest, scope: Scope, group: Group, number: int) -> None:
        from atoll.lower.stage_code import before_nest, finish_reduction

        low, high = self.translate(nest.low, {}, scope, True), self.translate(nest.high, {}, scope, True)
        first, binder = next(iter(nest.members.items()))
        if nest.low == poly(0):
            self.fn.ranges[nest.sym] = high
        elif not ir.poly_refs(binder.extent):  # part of the range
            self.fn.ranges[nest.sym] = self.translate(binder.extent, self.env(first), scope)
        inner = scope.child()
        reductions: list[tuple[Stage, lp.Acc]] = []
        sequential = False
        for stage, binder in nest.members.items():
            if binder not in stage.inner:
                if stage.line is not None and stage.line.results and nest is self._first_own(stage):
                    self.make_places(stage, scope, number)
                continue
            found = before_nest(self, stage, binder, scope)
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
            tests, body = tests_outside(inner.stmts, {nest.sym})
            made = lp.For(nest.sym, low, high, body, parallel=not sequential and not _has_effects(inner.stmts))
            scope.add(lp.If(tests, [made]) if tests else made)
        for stage, acc in reductions:
            finish_reduction(self, stage, acc, scope, in_piece=group.is_cut and group.members.get(stage) in stage.inner)

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


def _has_effects(stmts: lp.Stmts) -> bool:
    return any(isinstance(s, lp.Print) for s in lp.walk(stmts))


__all__ = ["BlockLowerer", "BufferSink", "Sink", "VarSink", "accumulates_in_memory"]
