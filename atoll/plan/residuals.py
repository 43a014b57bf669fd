"""`g.residuals()`: what a reverse sweep keeps of the forward sweep, known before anything runs.

Every line that is stored, belongs to the forward sweep and is read by the reverse sweep is listed; a line the plan computes anew
where it is read costs nothing, and neither do arguments.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.ainf import ir
from atoll.ainf.dead import remove_dead
from atoll.ainf.from_core import translate
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.core import ir as core
from atoll.core.rewrite import called, walk
from atoll.errors import Span, fail
from atoll.errors.caller import caller
from atoll.plan.inplace import plan_block
from atoll.sizes import Poly, Sym, poly

_SOURCES = (ir.Input, ir.Param, ir.ConstArray)


@dataclass(frozen=True, slots=True)
class Residual:
    """One array the reverse sweep reads. `bytes` is a polynomial of the sizes (and of how often a loop goes round)."""

    name: str
    kind: str  # value, tape
    bytes: Poly
    span: Span

    def __repr__(self) -> str:
        line = f"  (line {self.span.told().line})" if self.span.line else ""
        return f"{self.kind:<6} {self.name:<10} {self.bytes!r} bytes{line}"


@dataclass(frozen=True, slots=True)
class Residuals:
    function: str
    items: tuple[Residual, ...]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def bytes(self) -> Poly:
        return sum((r.bytes for r in self.items), poly(0))

    def __repr__(self) -> str:
        if not self.items:
            return f"{self.function}: the reverse sweep keeps nothing"
        return "\n".join([f"{self.function}: {self.bytes!r} bytes", *(f"  {r!r}" for r in self.items)])


def residuals(fn: core.Function) -> Residuals:
    if not any(isinstance(node, core.Vjp) for f in called(fn) if f.body is not None for node in walk(f.body)):
        fail("E1021", caller(), fn=fn.name)
    program = remove_dead(translate(fn))
    found: dict[tuple[ir.Line, int], Residual] = {}
    _block(program.block, program.results, found)
    return Residuals(fn.name, tuple(found.values()))


def _block(block: ir.Block, results: list[ir.Abs], found: dict[tuple[ir.Line, int], Residual]) -> None:
    lines = [line for line in block.lines if not isinstance(line.prim, _SOURCES)]
    inlining, _, _ = plan_block(lines, results, set())
    seen: set[tuple[ir.Line, int]] = set()

    def read(ref: ir.Ref) -> None:
        key = (ref.line, ref.result)
        if key in seen:
            return
        seen.add(key)
        line = ref.line
        if line.reverse or isinstance(line.prim, _SOURCES):
            return
        if inlining.is_inlined(line):
            for inner in line_refs(line):
                read(inner)
        elif line.extents(ref.result):
            found[key] = _residual(line, ref.result)

    for line in lines:
        if line.reverse:
            for ref in line_refs(line):
                read(ref)
        for inner in blocks(line.prim):
            _block(inner, list(getattr(line.prim, "results", ())), found)


def _residual(line: ir.Line, result: int) -> Residual:
    total = poly(line.results[result].dtype.size)
    for n in line.extents(result):
        total = total * n.subst({leaf: poly(Sym(name)) for leaf in n.leaves() if (name := _rounds(leaf)) is not None})
    states = len(line.prim.state) if isinstance(line.prim, (ir.Loop, ir.While)) else 0
    name = line.name if len(line.results) == 1 else f"{line.name}.{result}"
    return Residual(name, "tape" if states and line.prim.block.params[result].prim.name in TAPES else "value", total, line.span)  # type: ignore[union-attr]


def _rounds(leaf: object) -> str | None:
    """The number of rounds a while loop had, by the name memory() gives it."""
    line = leaf.ref.line if isinstance(leaf, ir.RefAtom) else None
    if line is None or not isinstance(line.prim, ir.While):
        return None
    param = line.prim.block.params[leaf.ref.result].prim  # type: ignore[attr-defined]
    return param.name if isinstance(param, ir.Param) else None


TAPES = ("tape", "old", "at", "when")
"""Names the tape's arrays have as state of a loop (ad/tape.py)."""
