"""Which operators only rearrange, decided on their text.

    patt   rearranges and loses or repeats nothing: only bijective parts, no `_`, every variable used exactly once.
           May stand in patterns, places and expressions.
    view   rearranges: no copy, no operation, no state.          May stand in places and expressions.
    func   computes, but has no state between cycles; whether it has any is known after compiling.
    node   has state.

The strongest kind that holds is inferred; a declared kind is checked, and a weaker one than holds is honoured (thesis 4.1.1, 4.3.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from atoll.errors import Span, fail
from atoll.madl import syntax as s
from atoll.madl.scalars import FUNCTIONS
from atoll.madl.structure import BIJECTIVE, BUILTINS

KINDS = ("patt", "view", "func", "node")
Find = Callable[[str], str | None]
"""The kind of an operator in sight, or None."""

_COMPUTES: dict[type[Any], str] = {
    s.Copy: "copies",
    s.Number: "computes",
    s.Operation: "computes",
    s.Forward: "iterates",
    s.Block: "has a scope of its own",
    s.ApplyBlock: "has a scope of its own",
    s.Branch: "has two branches",
    s.Match: "has several cases",
    s.EnumValue: "computes",
    s.Last: "has state",
    s.Initial: "has state",
    s.Constant: "computes",
    s.Update: "updates",
    s.Contract: "says what must hold",
}


def structural_kind(operator: s.Operator, find: Find) -> tuple[str, Span, str]:
    """patt, view, or func for what computes; with the place and the reason it is no stronger."""
    parts = _parts(operator)
    for part in parts:
        for node in _flows(part):
            if type(node) in _COMPUTES:
                return "func", node.span, f"{s.text(node)} {_COMPUTES[type(node)]}"
            if isinstance(node, s.Apply):
                kind = find(node.name)
                if kind in ("func", "node") or (kind is None and node.name in FUNCTIONS):
                    return "func", node.span, f"{s.text(node)} computes"
    if operator.recursive:
        return "func", operator.span, "it is recursive"
    weak = _why_no_patt(operator, parts, find)
    return ("patt", operator.span, "") if weak is None else ("view", *weak)


def _parts(operator: s.Operator) -> list[Any]:
    i = operator.interface
    found: list[Any] = [side for c in (*i.args, *i.results) for side in (c.left, c.right) if side is not None]
    return [*found, *operator.body]


def _flows(node: Any) -> list[Any]:
    """The nodes of an expression that carry values: not types, sizes or places."""
    if isinstance(node, (s.Typed, s.Located)):
        return [node, *_flows(node.arg)]
    found = [node]
    for child in s.children(node):
        if not isinstance(child, (s.SizeNumber, s.SizeName, s.SizeMeta, s.SizeHole, s.SizeOp)):
            found += _flows(child)
    return found


def _why_no_patt(operator: s.Operator, parts: list[Any], find: Find) -> tuple[Span, str] | None:
    uses: Counter[str] = Counter()
    where: dict[str, Span] = {}
    for part in parts:
        if isinstance(part, (s.Typed, s.Located)) and part in operator.body:
            continue  # a constraint, not a use
        for node in _flows(part):
            if isinstance(node, s.Hole):
                return node.span, "`_` ignores a part"
            if isinstance(node, s.Project):
                return node.span, f"{s.text(node)} leaves out the rest"
            if isinstance(node, s.Apply):
                kind = find(node.name)
                if kind == "view" or (kind is None and node.name in BUILTINS and node.name not in BIJECTIVE):
                    return node.span, f"{node.name} is not bijective"
            if isinstance(node, s.Variable):
                uses[node.name] += 1
                where.setdefault(node.name, node.span)
    for name, count in uses.items():
        if count != 2:  # where it is defined, and where it is used
            why = f"{name} is never used" if count < 2 else f"{name} is used {count - 1} times"
            return where[name], why
    return None


def check_declared(operator: s.Operator, holds: tuple[str, Span, str], stateful: bool | None = None) -> str:
    """The kind an operator has for its users: what is declared, if it holds."""
    kind, span, why = holds
    if kind == "func" and stateful:
        kind, why = "node", why or "it has state"
    declared = operator.kind
    if declared is None:
        return kind
    if KINDS.index(kind) > KINDS.index(declared):
        reason = why if declared in ("patt", "view") or kind != "node" else "it has state"
        fail("E0925", span, name=operator.name, declared=declared, why=reason, where=operator.name)
    return declared
