"""Which functions take the road through λANF, and why: recursion, unions, functions that exist at run time.

Everything else is first order and stays with AiNF. `reason` is also what a derivative asks before it refuses by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from atoll.core import ir
from atoll.core.rewrite import called, walk
from atoll.errors import NOWHERE, Span, fail
from atoll.types.types import Array, Fn, Record, Tuple, Type, Union, sizes_in


@dataclass(frozen=True, slots=True)
class Reason:
    """What needs λANF, in words, and where it stands in the text."""

    what: str
    span: Span = NOWHERE
    instead: str | None = None  # what to write where a derivative is wanted


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
        found = _inside(f.body, f.name, f.span)
        if found is not None:
            return found
    return None


def _inside(body: ir.Expr | None, name: str, span: Span) -> Reason | None:
    """What in an expression is not first order, leaving aside what it calls."""
    node = next((node for node in walk(body) if isinstance(node, _NODES) or grows(node)), None)
    if node is None:
        return None
    instead = {
        ir.Extern: "take the derivative in the module itself and import that, or use the module's text instead of its compiled code",
        ir.Hide: "return arrays of one size from every branch",
        ir.For: "make the array as large as it will be, and count what is in it",
        ir.While: "make the array as large as it will be, and count what is in it",
        ir.Fix: "use a loop instead of a recursion",
        ir.Closure: "name the function where it is called, so that it is known when the program is compiled",
        ir.Apply: "name the function where it is called, so that it is known when the program is compiled",
    }
    return Reason(words(node, name), getattr(node, "span", span), instead.get(type(node)))


def grows(node: object) -> bool:
    """A loop whose arrays change their size from round to round: the size of what a round makes is made in it, or is itself a state."""
    if not isinstance(node, (ir.For, ir.While)):
        return False
    inside = {sym for sym, _ in node.state}
    for stmt in node.body.stmts if isinstance(node.body, ir.Block) else ():
        inside |= set(stmt.sizes) if isinstance(stmt, ir.Open) else {stmt.sym} if isinstance(stmt, ir.Bind) else set()
    return any(leaf in inside for size in sizes_in(node.body.type) for leaf in size.leaves())


def words(node: object, name: str) -> str:
    match node:
        case ir.Inject() | ir.Match():
            return f"{name} uses {node.type if isinstance(node, ir.Inject) else node.value.type!r}"
        case ir.Hide():
            return f"{name} returns arrays of different sizes"
        case ir.For() | ir.While():
            return f"arrays in a loop of {name} change their size"
        case ir.Extern(unit):
            return f"{name} is compiled code of the module {unit.name}"
        case ir.Fix(defs):
            return f"{defs[0][1].name} calls itself"
    return f"a function in {name} exists at run time"


def needs_functions(fn: ir.Function) -> bool:
    return reason(fn) is not None


def check_derivatives(fn: ir.Function, known: Iterable[int] = ()) -> None:
    """Refuse derivatives of code whose functions or data do not vanish, by name; what is known was looked at before."""
    for f in called(fn, known):
        for node in walk(f.body):
            if isinstance(node, (ir.Jvp, ir.Vjp)):
                body = node.fn.body
                calls = [x.fn for x in walk(body) if isinstance(x, ir.Call)]
                name = calls[0].name if calls else f.name
                why = _inside(body, f.name, node.span) or next((r for g in calls if (r := reason(g)) is not None), None)
                if why is not None:
                    fail("E1113", why.span if why.span is not NOWHERE else node.span, name=name, what=why.what, help=why.instead)


def first_order(e: ir.Expr, known: dict[int, bool] | None = None) -> bool:
    """An expression array code can be made of. Data may pass through it untouched: see kernels.py."""
    for node in walk(e):
        if isinstance(node, _NODES) or grows(node):
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
