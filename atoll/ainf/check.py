"""Is a program well formed? Checked after translation and after every pass over AiNF; a failure is a bug of the compiler, never of the user.

    scope     a line mentions only its dims, its own binders, indices of the loops around it, sizes, and lines before it
    dims      are binders in the order they were made, each extent closed under them
    refs      have as many indices as the line has dims and the result has axes, and name a result that exists
    dtypes    of operands are what the primitive needs, of results what it gives
    blocks    have their parameters first, one result per state, and are used by one line only
"""

from __future__ import annotations

from typing import Any

from atoll.ainf import ir
from atoll.ainf.accessible import exists_if, holds, needed_conds, within
from atoll.ainf.scan_prim import blocks, line_leaves, own_binders, parts, refs
from atoll.core.prims import PRIMS
from atoll.sizes import Atom, Sym
from atoll.types.dtypes import BOOL, I64

_BEFORE_LOWERING = ("read", "stop")


class Malformed(AssertionError):
    """AiNF that breaks the rules above."""


def check(program: ir.Program) -> ir.Program:
    """The program itself, if it is well formed."""
    checker = _Checker(program)
    checker.block(program.block, set(program.sizes), set())
    for array in program.results:
        checker.array(array, program.block, set(program.sizes), checker.done, "a result")
    return program


class _Checker:
    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.done: set[ir.Line] = set()
        self.seen: set[int] = set()

    def need(self, ok: bool, what: str, line: ir.Line | None = None, *parts: object) -> None:
        """`parts` fill the braces of the text, only when it is needed."""
        if not ok:
            what = what.format(*parts)
            raise Malformed(f"{self.program.name}: {what}" + (f" in {line.name} = {line.prim!r}" if line is not None else ""))

    def block(self, block: ir.Block, scope: set[Atom], outside: set[ir.Line]) -> set[ir.Line]:
        """The lines of a block known at its end."""
        self.need(id(block) not in self.seen, "a block is used twice")
        self.seen.add(id(block))
        known = set(outside)
        inner = scope | set(block.ambient) | set(block.owned)
        for k, param in enumerate(block.params):
            self.need(block.lines[k] is param, "parameters come first", param)
            self.need(isinstance(param.prim, ir.Param) and param.prim.position == k, "parameters are in order", param)
        for line in block.lines:
            self.need(line.block is block, "a line stands in its block", line)
            self.line(line, inner, known)
            known.add(line)
            if block is self.program.block:
                self.done.add(line)
        return known

    def line(self, line: ir.Line, scope: set[Atom], known: set[ir.Line]) -> None:
        inner = set(scope)
        for d in line.dims:
            self.need(d.extent.leaves() <= inner | self._atoms(d.extent), "the extent of {} is closed", line, d)
            inner.add(d)
        self.need([d.uid for d in line.dims] == sorted(d.uid for d in line.dims), "dims are in order", line)
        free = {leaf for leaf in line_leaves(line) if isinstance(leaf, Sym)} - inner
        self.need(not free, "{} is free", line, free)
        for cond in line.conds:
            for ref in cond.refs():
                self.ref(ref, known, line)
        own = set(own_binders(line.prim))
        missing = [c for c in needed_conds(line.prim, (), line.block) if c not in line.conds and not (c.leaves() & own)]
        if missing:
            rounds = within((*line.dims, *own))
            missing = [c for c in missing if not holds(c, rounds)]
        self.need(not missing, "reads what exists only if {}", line, missing)
        for ref in refs(line.prim, inside=False):
            if not blocks(line.prim):
                self.ref(ref, known, line)
        self.types(line)
        for block in blocks(line.prim):
            inside = self.block(block, inner | own, known)
            for array in getattr(line.prim, "results", ()):
                self.array(array, block, inner | own | set(block.owned) | set(block.ambient), inside, f"a result of {line.name}")
            self.state(line)

    def _atoms(self, p: Any) -> set[Atom]:
        return {leaf for leaf in p.leaves() if isinstance(leaf, ir.RefAtom)}

    def ref(self, ref: ir.Ref, known: set[ir.Line], line: ir.Line | None) -> None:
        self.need(ref.line in known, "{} comes before its uses", line, ref.line)
        self.need(ref.result < len(ref.line.results), "{} has a result {}", line, ref.line, ref.result)
        wanted = len(ref.line.dims) + len(ref.line.results[ref.result].axes)
        self.need(len(ref.index) == wanted, "{} has {} indices", line, ref, wanted)

    def array(self, array: ir.Abs, block: ir.Block, scope: set[Atom], known: set[ir.Line], what: str) -> None:
        """What it reads is there. Conditions on sizes may hold because the array has elements at all, those on data do not."""
        leaves = {leaf for leaf in ir.operand_leaves(array.body) if isinstance(leaf, Sym)}
        inner = scope | set(array.binders)
        self.need(leaves <= inner, "{} is free in {}", None, leaves - inner, what)
        checked = [c for line in block.lines if isinstance(line.prim, ir.Check) and not line.conds and not line.dims for c in line.prim.conds]
        for ref in ir.operand_refs(array.body):
            self.ref(ref, known, None)
            env = dict(zip(ref.line.dims, ref.index, strict=False))
            missing = [c for cond in exists_if(ref) if ref.line.block is block and cond.ref is not None and (c := cond.subst(env)) not in checked]
            self.need(not missing, "{} reads what exists only if {}", ref.line, what, missing)

    def types(self, line: ir.Line) -> None:
        prim = line.prim
        for part in parts(prim):
            if isinstance(part, ir.Cond) and part.ref is not None:
                self.need(part.ref.dtype is BOOL, "a condition is a bool", line)
        if isinstance(prim, ir.Op) and prim.name not in _BEFORE_LOWERING:
            info = PRIMS[prim.name]
            self.need(len(prim.args) == info.arity, "the right number of operands", line)
            kinds = {ir.operand_dtype(a) for a in prim.args}
            if prim.name not in ("shl", "shr", "pow", "complex"):
                self.need(len(kinds) == 1, "operands of one type, not {}", line, kinds)
        elif isinstance(prim, ir.Select):
            kinds = {ir.operand_dtype(prim.then), ir.operand_dtype(prim.orelse), line.results[0].dtype}
            self.need(len(kinds) == 1, "branches of one type, not {}", line, kinds)
        elif isinstance(prim, ir.Reduce):
            self.need(ir.operand_dtype(prim.arg) is line.results[0].dtype, "what is reduced has the result's type", line)
        elif isinstance(prim, (ir.ArgReduce, ir.Argsort)):
            self.need(line.results[0].dtype is I64, "an index is an i64", line)
        elif isinstance(prim, ir.Scatter):
            self.need(ir.operand_dtype(prim.value) is line.results[0].dtype, "what is put has the array's type", line)
            self.need(len(prim.index) == len(line.results[0].axes), "as many indices as axes", line)

    def state(self, line: ir.Line) -> None:
        prim = line.prim
        if isinstance(prim, (ir.Loop, ir.While)):
            count = len(line.results)
            self.need(len(prim.state) == len(prim.results) == len(prim.block.params) == count, "one value per state", line)
            for first, param, last, result in zip(prim.state, prim.block.params, prim.results, line.results, strict=True):
                kinds = {ir.operand_dtype(first.body), param.results[0].dtype, ir.operand_dtype(last.body), result.dtype}
                self.need(len(kinds) == 1, "state of one type, not {}", line, kinds)
                self.need(len(first.binders) == len(last.binders) == len(result.axes), "state of one rank", line)
