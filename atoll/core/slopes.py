"""Derivatives of scalar operations by name: the columns of core/prims.py, for both modes, for AiNF and for the interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from atoll.core.partials import Rule, flat
from atoll.core.prims import PRIMS
from atoll.errors import Span, fail

if TYPE_CHECKING:
    from atoll.core import ir

RULES: dict[str, Rule] = {name: p.slope for name, p in PRIMS.items() if p.slope is not None} | {"read": lambda c, a, y: (c.const(1.0),), "stop": flat}
"""Primitives that are missing here have no derivative (comparisons, bits) or are refused by name. A read is what it reads; `at.stop` is nothing."""
HOLOMORPHIC: dict[str, Rule] = {name: RULES[name] if p.holomorphic is True else p.holomorphic for name, p in PRIMS.items() if p.holomorphic} | {
    name: RULES[name] for name in ("read", "stop")
}
AHEAD = {name: p.ahead for name, p in PRIMS.items() if p.ahead is not None}
BACK = {name: p.back for name, p in PRIMS.items() if p.back is not None}
CONSTANT = frozenset(name for name, rule in RULES.items() if rule is flat)
"""Operations whose slope is 0 everywhere: nothing flows through them."""
NOT_DIFFERENTIABLE = {name: p.refused for name, p in PRIMS.items() if p.refused}


def takes_apart(name: str, is_complex: bool) -> bool:
    """Whether an operation on an argument that is complex, or not, has rows in AHEAD and BACK."""
    return name in AHEAD and (is_complex or name == "complex")


def rule_of(name: str, is_complex: bool) -> Rule | None:
    return (HOLOMORPHIC if is_complex else RULES).get(name)


def only_one(fn: ir.Function, span: Span) -> NoReturn:
    """The derivative of a function in the mode its author supplied none for. Atoll's own may be slow or endless: that is why one was supplied."""
    given, asked, missing = ("backwards", "forwards", "def_jvp") if fn.vjp is not None else ("forwards", "backwards", "def_vjp")
    fail("E1024", span, fn=fn.name, given=given, asked=asked, missing=missing)
