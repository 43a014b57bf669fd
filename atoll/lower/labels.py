"""What values are called in reports: as the user does. By the name they were bound to, else by the words they were written in."""

from __future__ import annotations

from atoll.ainf import ir
from atoll.errors import Span

MOST = 28  # characters of an expression


def label_of(line: ir.Line, result: int = 0) -> str:
    """A parameter's or a state's own name, the name a value was bound to, or the expression it is."""
    if isinstance(line.prim, (ir.Input, ir.Param)):
        return line.prim.name
    if isinstance(line.prim, (ir.Loop, ir.While)):
        param = line.prim.block.params[result].prim
        assert isinstance(param, ir.Param)
        return param.name
    if line.label:
        return line.label
    updated = line.span.text().split("[")[0] if isinstance(line.prim, ir.Scatter) and line.span.line else ""
    if updated.replace(".", "_").isidentifier() and not line.span.in_library():
        return updated
    return abbreviated(line.span.told()) or ("a derivative" if line.reverse else "a value")


def abbreviated(span: Span) -> str:
    """The words of a place, at most so many."""
    text = " ".join(span.text().split()) if span.line else ""
    return text if len(text) <= MOST else text[: MOST - 3].rstrip() + "..."
