"""The builtin structural operators as a table: types, and which side is a view of which.

    pull   the result is a view of the argument        reverse transpose window sample split repeat
    push   the arguments are views of the result       concat flatten

One row says, for sizes of its own, the types of arguments and results, and the functor each part is seen through (thesis 6.1.3). The relation
is the same when the operator stands in a pattern; only the flow turns round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atoll.errors import fail
from atoll.madl import graph as g
from atoll.madl import syntax as s
from atoll.madl.elaborate import Elaborator
from atoll.madl.environment import Env
from atoll.madl.helps import takes_sizes
from atoll.madl.typing import Unknown
from atoll.sizes import Poly
from atoll.types.types import Array, Type
from atoll.views.functor import Functor, Prim, functor, prim

Sizes = tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class Structural:
    """`sizes` names its unknowns; `given` those that <<..>> says. `part` numbers are those of the viewed side."""

    name: str
    sizes: str
    given: str
    args: Callable[..., tuple[Type, ...]]  # of the element type and the sizes
    result: Callable[..., Type]
    push: bool
    parts: Callable[..., tuple[Prim, ...]]
    onto: bool = True  # as a pattern it says where everything comes from


def _array(elem: Type, *sizes: Poly) -> Type:
    for size in reversed(sizes):
        elem = Array(elem, size)
    return elem


_ROWS = [
    Structural("reverse", "n", "", lambda a, n: (_array(a, n),), lambda a, n: _array(a, n), False, lambda n: (prim("reverse", n),)),
    Structural(
        "transpose", "nm", "", lambda a, n, m: (_array(a, n, m),), lambda a, n, m: _array(a, m, n), False,
        lambda n, m: (prim("transpose", n, m),),
    ),
    Structural(
        "window", "nk", "k", lambda a, n, k: (_array(a, n + k - 1),), lambda a, n, k: _array(a, n, k), False,
        lambda n, k: (prim("window", n, k),),
    ),
    Structural(
        "sample", "nk", "k", lambda a, n, k: (_array(a, n * k - k + 1),), lambda a, n, k: _array(a, n), False,
        lambda n, k: (prim("sample", n, k),), onto=False,
    ),
    Structural(
        "split", "nk", "k", lambda a, n, k: (_array(a, n * k),), lambda a, n, k: _array(a, n, k), False,
        lambda n, k: (prim("split", n, k),),
    ),
    Structural("repeat", "n", "n", lambda a, n: (a,), lambda a, n: _array(a, n), False, lambda n: (prim("repeat", n),)),
    Structural(
        "concat", "nm", "nm", lambda a, n, m: (_array(a, n), _array(a, m)), lambda a, n, m: _array(a, n + m), True,
        lambda n, m: (prim("left", n, m), prim("right", n, m)),
    ),
    Structural(
        "flatten", "nk", "k", lambda a, n, k: (_array(a, n, k),), lambda a, n, k: _array(a, n * k), True,
        lambda n, k: (prim("split", n, k),),
    ),
]  # fmt: skip

BUILTINS = {row.name: row for row in _ROWS}
BIJECTIVE = frozenset(("reverse", "transpose", "split", "concat", "flatten"))


def arity(name: str) -> int:
    return 2 if name == "concat" else 1


def connect(el: Elaborator, apply: s.Apply, env: Env, args: list[g.Wire], result: g.Wire, in_pattern: bool) -> None:
    """Relate the arguments and the result of a builtin operator."""
    row = BUILTINS[apply.name]
    sizes = _sizes(el, row, apply, env)
    elem = Unknown()
    items = s.items(apply.arg)
    for k, (wire, wanted) in enumerate(zip(args, row.args(elem, *sizes), strict=True)):
        el.typer.unify(wire.type, wanted, items[k].span if len(items) == len(args) else wire.span)
    el.typer.unify(result.type, row.result(elem, *sizes), apply.span)
    functors: list[Functor] = [functor(p) for p in row.parts(*sizes)]
    whole, parts = (result, args) if row.push else (args[0], [result])
    flow = "build" if row.push != in_pattern else "access"
    if in_pattern and not row.onto and not el.dry:
        el.not_onto.append((apply.span, apply.name))
    el.relate(env, whole, list(zip(functors, parts, strict=True)), flow, apply.name, apply.span)


def _sizes(el: Elaborator, row: Structural, apply: s.Apply, env: Env) -> Sizes:
    given = [el.size(size, env) for size in apply.sizes] if apply.sizes is not None else []
    if apply.sizes is not None and len(given) != len(row.given):
        help_ = takes_sizes(row.name, row.given)
        fail("E0905", apply.span, what=f"sizes of {row.name}", given=len(given), wanted=len(row.given), help=help_, where=el.operator.name)
    known = dict(zip(row.given, given, strict=False))
    return tuple(known[name] if name in known else el.typer.fresh_size(env.level, name) for name in row.sizes)
