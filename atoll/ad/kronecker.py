"""Values under an equation of indices: sum over r of [i = r] x[r] is x[i], so derivatives at unit vectors are not dense.

A seed of a Jacobian is 1 at one index and 0 elsewhere: `if i == r then 1 else 0`. Adjoints and tangents are linear, so the test may be moved
outwards through products and sums; at a sum over an index it determines, the sum is one element. Moving it outwards is also kinder than
multiplying by 0: the other factor may be infinite where the test fails (docs/sources.md N1).
"""

from __future__ import annotations

from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.guards import guard_operand
from atoll.errors import NOWHERE
from atoll.sizes import Poly, Quot, poly
from atoll.types.dtypes import DType

Delta = tuple[tuple[ir.Cond, ...], ir.Operand]


def delta(operand: ir.Operand) -> Delta | None:
    """The conditions and the value of `value if conditions else 0`, when one of the conditions is an equation of indices."""
    found = guarded_value(operand)
    return found if found is not None and any(c.kind == "eq" for c in found[0]) else None


def guarded_value(operand: ir.Operand) -> Delta | None:
    """The conditions and the value of `value if conditions else 0`."""
    if not isinstance(operand, ir.Ref) or operand.line.conds:
        return None
    prim = operand.line.prim
    if not isinstance(prim, ir.Select) or not isinstance(prim.orelse, ir.Const) or prim.orelse.value != 0:
        return None
    env = dict(zip(operand.line.dims, operand.index, strict=False))
    return tuple(c.subst(env) for c in prim.conds), ir.subst_operand(prim.then, env)


def under(b: Builder, conds: tuple[ir.Cond, ...], value: ir.Operand, dtype: DType) -> ir.Operand:
    """value where the conditions hold, 0 elsewhere."""
    inner = delta(value)
    if inner is not None:
        conds, value = (*conds, *(c for c in inner[0] if c not in conds)), inner[1]
    if not conds or (isinstance(value, ir.Const) and value.value == 0):
        return value
    nothing = ir.Const(0.0 if dtype.is_float else 0, dtype)
    return scalars.select(b, conds, value, nothing, NOWHERE)


def product(b: Builder, x: ir.Operand, y: ir.Operand, dtype: DType) -> ir.Operand | None:
    """The product when a factor is 0 under a condition: so is the product, whatever the other factor is there."""
    for one, other in ((x, y), (y, x)):
        found = guarded_value(one)
        if found is None:
            continue
        conds, value = found
        with b.under(*conds):
            if isinstance(value, ir.Const) and value.value == 1:
                inner = other
            else:
                inner = product(b, value, other, dtype) or times(b, value, other, dtype)
        return under(b, conds, inner, dtype)
    return None


def is_padded_operand(bar: ir.Operand, factor: ir.Operand) -> bool:
    """Whether a factor is one of two matrices, with zeros where its indices leave a range: a sum of its products with an adjoint is a product of matrices.

    It is kept together with its zeros then, as the function has it. Moved outwards, the tests would stand between the sum and its two factors."""
    found = guarded_value(factor)
    if found is None or not isinstance(bar, ir.Ref) or guarded_value(bar) is not None or not all(c.kind == "ge" for c in found[0]):
        return False
    return _two_matrices(bar, factor)


def is_window_operand(bar: ir.Operand, factor: ir.Operand) -> bool:
    """Whether a factor is one of two matrices whose columns are places of a window: they do not lie in a row, so its elements get a name of their own, by which they can be stored so."""
    if not isinstance(factor, ir.Ref) or factor.line.conds or not isinstance(bar, ir.Ref) or guarded_value(bar) is not None:
        return False
    return any(len([x for x in p.leaves() if isinstance(x, ir.Binder)]) > 1 for p in factor.index) and _two_matrices(bar, factor)


def _two_matrices(x: ir.Operand, y: ir.Operand) -> bool:
    """Each has an index, of a range that is not a literal, that the other has not."""
    ours, theirs = ({leaf for leaf in ir.operand_leaves(side) if isinstance(leaf, ir.Binder)} for side in (x, y))
    return all(any(leaf.extent.const() is None for leaf in alone) for alone in (ours - theirs, theirs - ours))


def times(b: Builder, x: ir.Operand, y: ir.Operand, dtype: DType) -> ir.Operand:
    """x * y; signs go outwards, where sums take them once and additions for nothing."""
    for one, other in ((x, y), (y, x)):
        if (plain := negated(one)) is not None:
            return scalars.op(b, "neg", (times(b, plain, other, dtype),), dtype, NOWHERE)
    return scalars.op(b, "mul", (x, y), dtype, NOWHERE)


def plus(b: Builder, x: ir.Operand, y: ir.Operand, dtype: DType) -> ir.Operand:
    """x + y, a difference where one of them has a sign."""
    for one, other in ((x, y), (y, x)):
        if (plain := negated(other)) is not None:
            return scalars.op(b, "sub", (one, plain), dtype, NOWHERE)
    return scalars.op(b, "add", (x, y), dtype, NOWHERE)


def negated(x: ir.Operand) -> ir.Operand | None:
    """y, of -y."""
    if not isinstance(x, ir.Ref) or x.line.conds or not isinstance(x.line.prim, ir.Op) or x.line.prim.name != "neg":
        return None
    return ir.subst_operand(x.line.prim.args[0], dict(zip(x.line.dims, x.index, strict=True)))


def sign_on_steady(b: Builder, value: ir.Operand, binders: list[ir.Binder], dtype: DType) -> ir.Operand:
    """x (-y) of -(x y), where y is the same for several elements over these binders: a sign is taken once then. Conditions may stand around it."""
    found = guarded_value(value)
    if found is not None:
        with b.under(*found[0]):
            inner = sign_on_steady(b, found[1], binders, dtype)
        return value if inner is found[1] else under(b, found[0], inner, dtype)
    plain = negated(value)
    if not isinstance(plain, ir.Ref) or plain.line.conds or not isinstance(plain.line.prim, ir.Op) or plain.line.prim.name != "mul":
        return value
    env = dict(zip(plain.line.dims, plain.index, strict=True))
    x, y = (ir.subst_operand(arg, env) for arg in plain.line.prim.args)
    depth = [sum(k in ir.operand_leaves(one) for k in binders) for one in (x, y, plain)]
    if min(depth[:2]) == depth[2]:
        return value
    moving, steady = (x, y) if depth[1] <= depth[0] else (y, x)
    return scalars.op(b, "mul", (moving, scalars.op(b, "neg", (steady,), dtype, NOWHERE)), dtype, NOWHERE)


def negative(b: Builder, x: ir.Operand, dtype: DType) -> ir.Operand | None:
    found = guarded_value(x)
    if found is None:
        return None
    with b.under(*found[0]):
        inner = scalars.op(b, "neg", (found[1],), dtype, NOWHERE)
    return under(b, found[0], inner, dtype)


def total(b: Builder, x: ir.Operand, y: ir.Operand, dtype: DType) -> ir.Operand | None:
    """The sum of two deltas with the same conditions, or of what comes from the two sides of a choice: a choice again."""
    for one_side, other_side in ((x, y), (y, x)):
        chosen = guarded_value(one_side)
        if chosen is not None and (rest := _otherwise(other_side, chosen[0])) is not None:
            return rest if rest == chosen[1] else scalars.select(b, chosen[0], chosen[1], rest, NOWHERE)
    one, other = delta(x), delta(y)
    if one is None or other is None or set(one[0]) != set(other[0]):
        return None
    with b.under(*one[0]):
        inner = plus(b, one[1], other[1], dtype)
    return under(b, one[0], inner, dtype)


def together(parts: list[ir.Operand]) -> list[ir.Operand]:
    """Summands in an order in which those under the same equations stand next to each other: such a sum is one choice, not a sum of choices."""
    groups: dict[object, list[ir.Operand]] = {}
    for k, x in enumerate(parts):
        found = delta(x)
        groups.setdefault(k if found is None else frozenset(found[0]), []).append(x)
    return [x for group in groups.values() for x in group]


def one_of(b: Builder, parts: list[ir.Operand]) -> ir.Operand | None:
    """The sum of values at places that exclude each other: the value at the place that it is."""
    deltas = [found for x in parts if (found := delta(x)) is not None and len(found[0]) == 1]
    places = [conds[0].poly for conds, _ in deltas if conds[0].poly is not None]
    if len(places) < max(len(parts), 2) or any((p - q).const() in (None, 0) for k, p in enumerate(places) for q in places[:k]):
        return None
    rest: ir.Operand = ir.Const(0.0, ir.operand_dtype(parts[0]))
    for conds, value in reversed(deltas):
        rest = scalars.select(b, conds, value, rest, NOWHERE)
    return rest


def _otherwise(operand: ir.Operand, conds: tuple[ir.Cond, ...]) -> ir.Operand | None:
    """The value of `0 if conditions else value`."""
    found = guarded_value(operand)
    if found is not None:
        return found[1] if len(conds) == 1 and found[0] == (conds[0].negated(),) else None
    if not isinstance(operand, ir.Ref) or operand.line.conds or not isinstance(operand.line.prim, ir.Select):
        return None
    prim = operand.line.prim
    env = dict(zip(operand.line.dims, operand.index, strict=False))
    if not isinstance(prim.then, ir.Const) or prim.then.value != 0 or tuple(c.subst(env) for c in prim.conds) != conds:
        return None
    return ir.subst_operand(prim.orelse, env)


def picked(b: Builder, x: ir.Binder, value: ir.Operand, dtype: DType) -> tuple[tuple[ir.Cond, ...], ir.Operand, bool] | None:
    """For the sum of a delta over x: conditions to put around it, what is left, and whether it is still to be summed.

    None when x is in all the conditions and none of them determines it.
    """
    found = delta(value)
    if found is None:
        return None
    conds, inner = found
    for k, cond in enumerate(conds):
        at = _solution(cond, x)
        if at is None:
            continue
        env = {x: at}
        ranges = [ir.Cond("ge", at), ir.Cond("ge", x.extent - 1 - at), *(ir.Cond("ge", fact.subst(env)) for fact in x.facts)]
        rest = ranges_first([c.subst(env) for c in conds[:k] + conds[k + 1 :]], ranges)
        kept: list[ir.Cond] = []
        for test in rest:
            simple = scalars.simplify_cond(b, test) if test.poly is not None else test
            if isinstance(simple, ir.Const):
                if not simple.value:
                    return (), ir.Const(0.0, dtype), False
            elif simple not in kept:
                kept.append(simple)
        with b.under(*kept):
            element = guard_operand(b, ir.subst_operand(inner, env))
        return tuple(kept), element, False
    outside = tuple(c for c in conds if x not in c.leaves())
    if not outside:
        return None
    with b.under(*outside):
        left = under(b, tuple(c for c in conds if c not in outside), inner, dtype)
    return outside, left, True


def ranges_first(given: list[ir.Cond], solved: list[ir.Cond]) -> list[ir.Cond]:
    """Conditions in an order in which each may be tested: those that read nothing, then ranges of what was solved, then those that may read at it."""
    plain = [cond for cond in (*given, *solved) if cond.poly is not None and not cond.refs() and not any(isinstance(a, Quot) for a in cond.poly.atoms())]
    ranges = [cond for cond in solved if cond.kind == "ge" and not any(ref.line.conds for ref in cond.refs())]
    return list(dict.fromkeys((*plain, *ranges, *given, *solved)))


def _solution(cond: ir.Cond, x: ir.Binder) -> Poly | None:
    """What an equation says x is."""
    if cond.kind != "eq" or cond.poly is None:
        return None
    slope = cond.poly.slope(x)
    c = None if slope is None else slope.const()
    if c not in (1, -1):
        return None
    rest = cond.poly - poly(x) * c
    return None if x in rest.leaves() else (-rest if c > 0 else rest)
