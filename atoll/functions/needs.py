"""Which functions take the road through λANF, and why: recursion, unions, functions that exist at run time.

Everything else is first order and stays with AiNF. `reason` is also what a derivative asks before it refuses by name.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.core import ir
from atoll.core.rewrite import called, walk
from atoll.errors import NOWHERE, Span, fail
from atoll.types.types import Array, Fn, Record, Tuple, Type, Union


@dataclass(frozen=True, slots=True)
class Reason:
    """What needs λANF, in words, and where it stands in the text."""

    what: str
    span: Span = NOWHERE


_NODES = (ir.Inject, ir.Match, ir.Closure, ir.Apply, ir.Hide, ir.Fix, ir.Extern)


def has_data(t: Type) -> bool:
    """A type some value of which is more than arrays of numbers."""
    if isinstance(t, (Union, Fn)):
        return True
    if isinstance(t, Array):
        return has_data(t.elem)
    return isinstance(t, (Tuple, Record)) and any(map(has_data, t.items))


def reason(fn: ir.Function) -> Reason | None:
    """Why a function cannot be first-order array code, or None when it can."""
    for f in called(fn):
        if f.recursive:
            return Reason(f"{f.name} is recursive", f.span)
        for t in (*(t for _, t in f.params), f.result):
            if has_data(t):
                return Reason(f"{f.name} works on {t!r}", f.span)
        assert f.body is not None
        for node in walk(f.body):
            if isinstance(node, _NODES):
                return Reason(_words(node, f.name), getattr(node, "span", f.span))
    return None


def _words(node: object, name: str) -> str:
    match node:
        case ir.Inject() | ir.Match():
            return f"{name} uses {node.type if isinstance(node, ir.Inject) else node.value.type!r}"
        case ir.Hide():
            return f"{name} returns arrays of different sizes"
        case ir.Extern(unit):
            return f"{name} is compiled code of the module {unit.name}"
        case ir.Fix(defs):
            return f"{defs[0][1].name} calls itself"
    return f"a function in {name} exists at run time"


def needs_functions(fn: ir.Function) -> bool:
    return reason(fn) is not None


def refuse_derivative(fn: ir.Function, span: Span = NOWHERE) -> None:
    """The error for a derivative of code whose functions or data do not vanish; nothing when they do."""
    why = reason(fn)
    if why is not None:
        fail("E1113", why.span if why.span is not NOWHERE else span, name=fn.name, what=why.what)


def first_order(e: ir.Expr, known: dict[int, bool] | None = None) -> bool:
    """An expression array code can be made of. Data may pass through it untouched: see kernels.py."""
    for node in walk(e):
        if isinstance(node, _NODES):
            return False
        if isinstance(node, ir.Call) and not _plain(node.fn, known if known is not None else {}):
            return False
    return True


def _plain(fn: ir.Function, known: dict[int, bool]) -> bool:
    """A function that can be inlined into array code."""
    if id(fn) not in known:
        known[id(fn)] = False  # while we look: a cycle is a recursion
        known[id(fn)] = not fn.recursive and fn.body is not None and first_order(fn.body, known)
    return known[id(fn)]
