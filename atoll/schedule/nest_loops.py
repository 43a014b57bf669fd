"""The loops of an opaque part: lower/ makes them, into the buffers the schedule gives it."""

from __future__ import annotations

from atoll.ainf import ir
from atoll.loops import ir as lp
from atoll.lower.block import BlockLowerer, BufferSink, Sink
from atoll.lower.function import FunctionLowerer, close_scopes, drop_unused, tidy
from atoll.lower.places import BufferPlace, Place, Scope, VarPlace
from atoll.schedule.from_ainf import Source
from atoll.schedule.routine import Routine
from atoll.sizes import Atom, Poly, poly


def nest_loops(
    fl: FunctionLowerer,
    routine: Routine,
    given: list[lp.Buffer | lp.Var],
    results: list[lp.Buffer],
    source: Source,
    params: dict[Atom, Poly],
    at: tuple[Poly, ...],
) -> lp.Section:
    """One section: the routine's line, at fixed indices of its first dims, and the cheap lines only it needs, from `given` into `results`."""
    block = routine.program.block
    places: dict[tuple[ir.Line, int], Place] = {}
    for key, place in zip(routine.given, given, strict=True):
        axes = len(key[0].dims) + len(key[0].results[key[1]].axes)
        places[key] = VarPlace(lp.Use(place)) if isinstance(place, lp.Var) else BufferPlace(place, tuple(range(axes)))
    for given_line, sym in source.params.items():
        atom = params[sym].single()
        assert isinstance(atom, lp.VarAtom)
        places[(given_line, 0)] = VarPlace(lp.Use(atom.var))
        fl.size_atoms |= {ir.ref_atom(ir.Ref(given_line, 0, ())), atom}
    arrays = []
    sinks: list[Sink] = []
    line = routine.line
    ambient: dict[Atom, Poly] = dict(zip(line.dims, at, strict=False))
    if at:
        line = ir.Line(line.id, line.dims[len(at) :], line.conds, line.prim, line.results, line.block, line.span, line.hint)
    for k, buffer in enumerate(results):
        binders = tuple(ir.Binder(f"i{n}", extent) for n, extent in enumerate(line.extents(k)))
        arrays.append(ir.Abs(binders, ir.Ref(line, k, tuple(poly(b) for b in binders))))
        sinks.append(BufferSink(buffer))
    saved, block.lines = block.lines, [*routine.inner, line]
    try:
        scope = Scope()
        BlockLowerer(fl, None, block, arrays, sinks, places, ambient, not at, set()).lower(scope)
    finally:
        block.lines = saved
    body = close_scopes(tidy(drop_unused(scope.stmts)))
    return lp.Section(routine.label, body)
