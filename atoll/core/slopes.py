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
VIEWS = ("to_bits", "from_bits")
"""In a derivative of integers the tangent of the bits of a number is the bits of its tangent."""
BITWISE = frozenset(("and", "or", "xor"))
"""Of these nothing flows through integers."""
# Futhark differentiates integers in their own arithmetic: a quotient's slope is a quotient of integers.
ON_INTEGERS: dict[str, Rule] = {
    **{name: RULES[name] for name in ("add", "sub", "mul", "neg", "abs", "min", "max")},
    "floordiv": lambda c, a, b, y: (c.op("floordiv", c.const(1), b), c.op("neg", c.op("floordiv", a, c.op("mul", b, b)))),
    "mod": lambda c, a, b, y: (c.const(1), c.op("neg", c.op("floordiv", a, b))),
    "pow": lambda c, a, b, y: (c.op("mul", b, c.op("pow", a, c.choose("gt", b, c.const(0), c.op("sub", b, c.const(1)), c.const(0)))), None),
    **dict.fromkeys((*BITWISE, "shl", "shr"), lambda c, a, b, y: (None, None)),
    **dict.fromkeys(("not", "sign"), lambda c, a, y: (None,)),
    **{name: RULES[name] for name in ("read", "stop")},
}
NOT_DIFFERENTIABLE = {name: p.refused for name, p in PRIMS.items() if p.refused}


def takes_apart(name: str, is_complex: bool) -> bool:
    """Whether an operation on an argument that is complex, or not, has rows in AHEAD and BACK."""
    return name in AHEAD and (is_complex or name == "complex")


def rule_of(name: str, kind: str) -> Rule | None:
    """The rule for numbers of this kind, as NumPy calls it."""
    return (HOLOMORPHIC if kind == "c" else ON_INTEGERS if kind in "iu" else RULES).get(name, flat if kind in "iu" else None)


def is_constant(name: str, kind: str) -> bool:
    """Whether the slope of an operation is 0 everywhere: nothing flows through it."""
    return name not in VIEWS and (ON_INTEGERS.get(name, flat) if kind in "iu" else RULES.get(name)) is flat


def only_one(fn: ir.Function, span: Span) -> NoReturn:
    """The derivative of a function in the mode its author supplied none for. Atoll's own may be slow or endless: that is why one was supplied."""
    given, asked, missing = ("backwards", "forwards", "def_jvp") if fn.vjp is not None else ("forwards", "backwards", "def_vjp")
    fail("E1024", span, fn=fn.name, given=given, asked=asked, missing=missing)
