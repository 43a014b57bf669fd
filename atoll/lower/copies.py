"""What the loops copy: a whole array, or its rows, stored elsewhere as they are. Noted where it is decided, for .memory() and copies="explicit"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atoll.ainf import ir
from atoll.ainf.identity import source_of
from atoll.errors import NOWHERE, Span
from atoll.loops import ir as lp
from atoll.lower.labels import label_of
from atoll.lower.places import BufferPlace
from atoll.sizes import poly

if TYPE_CHECKING:
    from atoll.lower.block import BlockLowerer

RETURNED = "{name} is returned, and results have memory of their own"
EVERY_ROUND, SOME_ROUNDS = "in every round", "in rounds that come to it"
REPLACES = "{name} becomes the state of the loop, and goes on itself"
EXCHANGED = "{name} changes places with other arrays of the loop, which have memory of their own"
AFTERWARDS = "{name} is in memory that changed places with others"
STORED = "{name}, made in a loop for each row, is put beside the others"


def note_copy(
    b: BlockLowerer, array: ir.Abs, target: lp.Buffer, dims: tuple[ir.Binder, ...] = (), why: str | None = None, span: Span = NOWHERE, sometimes: bool = False
) -> None:
    """Remember that storing this array copies another one, if it does. `dims` are the loops around a row; `sometimes`: only under a condition."""
    found = source_of(array, kept=b.is_kept)
    if found is None or b.owner(found[0]).inlining.is_inlined(found[0]):
        return
    place = b.owner(found[0]).places.get(found)
    if isinstance(place, BufferPlace) and place.buffer is not target:
        _note(b, found, place.buffer, target, array.binders, dims, why, span, sometimes)


def note_state(b: BlockLowerer, line: ir.Line, k: int, source: lp.Buffer, target: lp.Buffer, exchanged: bool = False) -> None:
    """Remember that the last state of a loop is copied to where its rows are kept."""
    binders = tuple(ir.Binder("i", p) for p in source.extents)
    _note(b, (line, k), source, target, binders, line.dims, AFTERWARDS if exchanged else STORED, line.span)


def note_first(b: BlockLowerer, line: ir.Line, k: int, source: lp.Buffer, target: lp.Buffer) -> None:
    """Remember that the first state of a loop is copied to where rounds exchange it."""
    binders = tuple(ir.Binder("i", p) for p in source.extents)
    _note(b, (line, k), source, target, binders, line.dims, EXCHANGED, line.span)


def _note(
    b: BlockLowerer,
    found: tuple[ir.Line, int],
    source: lp.Buffer,
    target: lp.Buffer,
    row: tuple[ir.Binder, ...],
    dims: tuple[ir.Binder, ...],
    why: str | None,
    span: Span,
    sometimes: bool = False,
) -> None:
    line, result = found
    name = label_of(line, result) or "an array"
    if why is None:
        why = "{name} must not change" if source.kind == "in" else "{name} is needed again"
    total = poly(target.dtype.size)
    each = [SOME_ROUNDS if sometimes else EVERY_ROUND] if b.parent is not None else []
    for x in (*dims, *row):
        if all(leaf in b.fn.size_atoms for leaf in x.extent.leaves()) or x in row:
            total = total * x.extent
        else:
            each.append(f"for each {x.name}")
    b.fn.copied.append(lp.Copied(target, source, found, line.copied, total, why.format(name=name), " ".join(each), span, name=name))


def note_settled(body: lp.Stmts, results: list[ir.Abs], outputs: list[lp.Buffer], copied: list[lp.Copied]) -> None:
    """Remember results that loops exchange with other memory, and that may be in the wrong one after the last round."""
    for stmt in lp.walk(body):
        if isinstance(stmt, lp.Helper) and stmt.name == "settle":
            (out, _), (other, _) = stmt.buffers[:2]
            found = source_of(results[outputs.index(out)])
            total = poly(out.dtype.size)
            for n in out.extents:
                total = total * n
            why = f"the last round may leave {other.shown} in other memory than the result's"
            copied.append(lp.Copied(out, other, ("settled", out), found[0].copied if found is not None else 0, total, why, "", other.span, True))
