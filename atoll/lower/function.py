"""Lowering a whole program to one loop function."""

from __future__ import annotations

import keyword
from dataclasses import replace
from typing import Any

from atoll.ainf import ir
from atoll.errors import NOWHERE
from atoll.loops import ir as lp
from atoll.loops.transform.indices import own_indices
from atoll.loops.transform.walk import Known, every_block, in_turn, innermost_first, plain_parts
from atoll.lower.block import BlockLowerer, BufferSink, Sink
from atoll.lower.copies import note_settled
from atoll.lower.handed_over import handed_over
from atoll.lower.labels import label_of
from atoll.lower.outside import allocate_outside
from atoll.lower.places import BufferPlace, Place, Scope, VarPlace
from atoll.lower.swaps import live_together
from atoll.sizes import Atom, Poly
from atoll.types.dtypes import BOOL, DType
from atoll.uncollected import uncollected


class FunctionLowerer:
    """Names, buffers and constants of one function."""

    def __init__(self, program: ir.Program, in_memory: bool = True, sums: set[lp.Buffer] | None = None) -> None:
        self.program, self.in_memory = program, in_memory
        self.sums = set() if sums is None else sums
        self.reassociate = program.reassociate
        self.names: dict[str, int] = {}
        self.consts: list[lp.Buffer] = []
        self.size_atoms: set[Atom] = set(program.sizes)
        self.open: set[lp.Buffer] = set()
        self.copied: list[lp.Copied] = []
        self.rounds: dict[Atom, Poly] = {}  # the indices of loops, and how many rounds these have
        self.ranges: dict[Atom, Poly] = {}  # the indices of nests: 0 <= i < ranges[i]

    def name(self, hint: str) -> str:
        base = "".join(c if c.isalnum() or c == "_" else "_" for c in hint) or "x"
        if base[0].isdigit() or keyword.iskeyword(base):
            base = f"v{base}"
        count = self.names.get(base, 0)
        made = base if count == 0 else f"{base}_{count}"
        while made != base and made in self.names:  # a parameter's second leaf is called b_1 too
            count += 1
            made = f"{base}_{count}"
        self.names[base] = count + 1
        self.names.setdefault(made, 1)
        return made

    def var(self, hint: str, dtype: DType, small: bool = False) -> lp.Var:
        return lp.Var(self.name(hint), dtype, small)

    def line_var(self, line: ir.Line, dtype: DType, small: bool = False) -> lp.Var:
        """A variable for a line's value, called in reports what the user calls it."""
        var = self.var(line.name, dtype, small)
        var.origin = lp.Origin(line.origins)
        var.label = f"len({label_of(line)})" if isinstance(line.prim, ir.Compress) else label_of(line)
        return var

    def buffer(
        self, hint: str, dtype: DType, extents: tuple[Poly, ...], kind: str, reason: str = "", span: Any = None, value: Any = None
    ) -> lp.Buffer:
        return lp.Buffer(self.name(hint), dtype, extents, kind, reason, span or NOWHERE, value)

    def zero(self, dtype: DType) -> lp.Const:
        return lp.Const(False if dtype is BOOL else 0 if dtype.is_integer else 0.0, dtype)

    def is_open(self, buffer: lp.Buffer) -> bool:
        return buffer in self.open

    def emit_open_alloc(self, buffer: lp.Buffer, scope: Scope) -> None:
        """A result whose size is known now: the caller's allocator makes it."""
        scope.add(lp.Alloc(buffer))
        self.open.discard(buffer)

    def lower(self) -> lp.Function:
        program = self.program
        for sym in program.sizes:
            self.names[sym.name] = 1
        scope = Scope()
        places: dict[tuple[ir.Line, int], Place] = {}
        inputs: list[lp.Buffer | lp.Var] = []
        for line in program.inputs:
            info = line.results[0]
            assert isinstance(line.prim, ir.Input)
            hint = line.prim.name if line.prim.leaf == 0 else f"{line.prim.name}_{line.prim.leaf}"
            if info.axes:
                buffer = self.buffer(hint, info.dtype, info.axes, "in")
                inputs.append(buffer)
                places[(line, 0)] = BufferPlace(buffer, tuple(range(len(info.axes))))
            else:
                var = self.var(hint, info.dtype)
                inputs.append(var)
                places[(line, 0)] = VarPlace(lp.Use(var))
                self.size_atoms.add(ir.ref_atom(ir.Ref(line, 0, ())))
                self.size_atoms.add(var.atom)
        for line in program.block.lines:
            if isinstance(line.prim, ir.ConstArray):
                const = self.buffer(line.name, line.results[0].dtype, line.results[0].axes, "const", value=line.prim.value)
                self.consts.append(const)
                places[(line, 0)] = BufferPlace(const, tuple(range(len(line.results[0].axes))))
        outputs: list[lp.Output] = []
        sinks: list[Sink] = []
        lowerer_ambient: dict[Atom, Poly] = {}
        for k, array in enumerate(program.results):
            extents = tuple(b.extent for b in array.binders)
            closed = all(leaf in self.size_atoms for p in extents for leaf in p.leaves())
            buffer = self.buffer("result" if len(program.results) == 1 else f"result{k}", ir.operand_dtype(array.body), extents, "out")
            buffer.origin = lp.Origin((program.returned,))
            if not closed or k in program.open:
                self.open.add(buffer)
            outputs.append(lp.Output(buffer, len(extents)))
            sinks.append(BufferSink(buffer))
        block = BlockLowerer(self, None, program.block, program.results, sinks, places, lowerer_ambient, True, set())
        for line, given in zip(program.inputs, inputs, strict=True):
            if isinstance(given, lp.Buffer):  # an integer parameter may be a size
                given.extents = tuple(block.translate(p, {}, scope) for p in given.extents)
                bound = line.results[0].bound
                given.within = None if bound is None else block.translate(bound, {}, scope)
        for buffer in [o.buffer for o in outputs]:
            if not self.is_open(buffer):
                buffer.extents = tuple(block.translate(p, {}, scope) for p in buffer.extents)
        block.lower(scope)
        body = live_together(handed_over(close_scopes(tidy(drop_unused(scope.stmts)))))
        note_settled(body, program.results, [o.buffer for o in outputs], self.copied)
        body = own_indices(allocate_outside(body))
        return lp.Function(program.name, program.sizes, inputs, outputs, body, self.consts, copied=self.copied, span=program.span)


def tidy(stmts: lp.Stmts) -> list[lp.Stmt]:
    """Drop loops that do nothing; join neighbouring tests of one condition."""

    def step(before: list[lp.Stmt], stmt: lp.Stmt) -> None:
        if isinstance(stmt, (lp.For, lp.Accumulate, lp.Chunks)) and not stmt.body:
            return
        if isinstance(stmt, lp.If):
            if not stmt.then and not stmt.orelse:
                return
            last = before[-1] if before else None
            if isinstance(last, lp.If) and last.tests == stmt.tests and not last.orelse and not stmt.orelse:
                before[-1] = replace(last, then=[*last.then, *stmt.then])
                return
        before.append(stmt)

    return in_turn(stmts, step, plain_parts)


def drop_unused(stmts: lp.Stmts) -> list[lp.Stmt]:
    """Drop variables nobody reads; their values have no effect."""
    while True:
        used = set(lp.used_vars(stmts))
        used.update(s.var for s in lp.walk(stmts) if isinstance(s, lp.Add))
        removed = False

        def unread(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
            nonlocal removed
            if isinstance(stmt, (lp.Let, lp.Declare, lp.Assign)) and stmt.var not in used:
                removed = True
                return []
            return None

        stmts = innermost_first(stmts, unread, plain_parts)
        if not removed:
            return stmts


def close_scopes(stmts: lp.Stmts) -> list[lp.Stmt]:
    """Buffers allocated in a statement list and not freed there are freed at its end; loops inside loops alike."""

    def block(body: lp.Stmts) -> lp.Stmts:
        freed = {s.buffer for s in body if isinstance(s, lp.Free)}
        return [*body, *(lp.Free(s.buffer) for s in body if isinstance(s, lp.Alloc) and s.buffer not in freed and s.buffer.kind != "out")]

    return every_block(stmts, block)


@uncollected
def lower(program: ir.Program, in_memory: bool = True, sums: set[lp.Buffer] | None = None) -> lp.Function:
    """The loops of a program. Unless `in_memory`, sums are made in scalars, each before the next; those that are not are put into `sums`."""
    return FunctionLowerer(program, in_memory, sums).lower()
