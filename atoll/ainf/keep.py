"""What the user decided about a line, and why it cannot be done: the plan (plan/override.py) goes by it."""

from __future__ import annotations

from typing import NoReturn

from atoll.ainf import ir
from atoll.ainf.identity import is_read, read_arg
from atoll.errors import NOWHERE, Span, fail
from atoll.sizes import poly

CHEAP = (ir.Op, ir.Cast, ir.Select, ir.Truth, ir.Extent)

_NAMES: dict[type, str] = {
    ir.Reduce: "a reduction",
    ir.ArgReduce: "the place of an extreme value",
    ir.Fold: "a reduction",
    ir.Scan: "a scan",
    ir.ScanFold: "a scan",
    ir.Argsort: "a sort",
    ir.Compress: "a filter",
    ir.Display: "an array display",
    ir.Scatter: "an updated array",
    ir.ScatterFold: "a histogram",
    ir.Loop: "the result of a loop",
    ir.While: "the result of a loop",
    ir.Check: "a checked value",
}


def mark(line: ir.Line, name: str, word: str, span: Span, fn: str) -> None:
    """Say what becomes of a line that is bound to a name. An array that is passed on as it is (state of a loop, what an update left) is where it is."""
    while word != "inline" and is_read(line) and isinstance(of := read_arg(line), ir.Ref) and of.line.extents(of.result) == line.extents() and _in_order(of, line):
        line = of.line
    if word == "inline" and not isinstance(line.prim, CHEAP):
        refuse(name, word, f"it is {_NAMES.get(type(line.prim), 'no scalar operation')}, which is computed once", span, fn)
    if line.keep is not None and line.keep[0] != word:
        refuse(name, word, f"it is the same value as {line.keep[1]}, whose plan is {line.keep[0]}", span, fn)
    line.keep = (word, name)


def _in_order(ref: ir.Ref, line: ir.Line) -> bool:
    """All elements of an array, each at its own place."""
    return len(line.dims) > 0 and ref.index == tuple(poly(d) for d in line.dims)


def refuse(name: str, word: str, why: str, span: Span = NOWHERE, fn: str = "") -> NoReturn:
    fail("E0817", span, name=name, word=word, why=why, where=fn)
