"""Adjoints as sums of indicators: y_bar[J] = sum over I of [J = e(I)] * c(I).

When c(I) flows into y[e(I)], the adjoint of y at J is the sum of c over all I that read it. Equations J = e(I) are solved for I where they
can be: a unit coefficient by substitution, another literal coefficient with a divisibility condition, a remainder whose index takes all its
values, a quotient of a sum of indices, a quotient and remainder (a flattened index) together. What is solved turns broadcasts, transposes, shifts, strides, diagonals and convolutions into gathers; what
is not (data-dependent indices) is a scatter, which is deterministic. Nothing here is ever an atomic (docs/sources.md N1).

Where the range of an index is data of another one (the nonzeros of a row), solving for it would leave a sum over all rows with a test for each
place: the adjoint goes through the same ranges instead, as a scatter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from atoll.ad.kronecker import delta, guarded_value, negated, picked, ranges_first, sign_on_steady, under
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.guards import guard_operand
from atoll.errors import NOWHERE
from atoll.sizes import Atom, Poly, Quot, floordiv, poly
from atoll.types.dtypes import BOOL, DType


@dataclass
class Solved:
    """What solving the equations gave."""

    replace: dict[Atom, Poly] = field(default_factory=dict)  # indices that are determined by J
    conds: list[ir.Cond] = field(default_factory=list)  # under which there is a solution
    open: list[int] = field(default_factory=list)  # positions of J that stay unsolved
    left: list[ir.Binder] = field(default_factory=list)  # indices to sum over


def solve(b: Builder, target: tuple[ir.Binder, ...], index: tuple[Poly, ...], binders: list[ir.Binder], sums: bool = False) -> Solved:
    """Solve target = index for the binders. `sums`: what is left is summed over, so nothing is solved for that data of what is left decides."""
    result = Solved(left=list(binders))
    waiting = list(range(len(target)))
    quotients: list[tuple[Quot, Poly]] = []
    progress = True
    while progress:
        progress = False
        for k in list(waiting):
            p = (poly(target[k]) - index[k]).subst(result.replace)
            for quot, value in quotients:
                p = p.subst({quot: value})
            free = [x for x in result.left if x in p.leaves()]
            if not free:
                if any(isinstance(leaf, ir.RefAtom) for leaf in p.leaves()):
                    result.conds += [c for quot, value in quotients for c in _reached(quot, value, result.left)]
                result.conds.append(ir.Cond("eq", p))
            elif not _solve_one(p, free, result, sums) and not _solve_remainder(poly(target[k]), index[k].subst(result.replace), free, result, sums):
                found = _quotient(p, free)
                if found is None:
                    continue
                quotients.append(found)
            waiting.remove(k)
            progress = True
    for quot, value in quotients:
        _split(b, quot, value.subst(result.replace), result, sums)
        new = poly(quot).subst(result.replace)
        if new != value.subst(result.replace):
            result.conds.append(ir.Cond("eq", new - value.subst(result.replace)))
    result.open = waiting
    _renew(b, result)
    return result


def _renew(b: Builder, result: Solved) -> None:
    """Indices that are left get the ranges they have now that others are solved. Those of a window go round inside of what it is about, so they are younger."""
    renewed: dict[Atom, Poly] = {}
    windows = {leaf for p in result.replace.values() for leaf in p.leaves()}
    for k, x in enumerate(result.left):
        env = {**result.replace, **renewed}
        if not (reach(x) & env.keys()) and x not in windows:
            continue
        new = b.fresh_binder(x.name, x.extent.subst(env))
        new.facts = tuple(f.subst({**env, x: poly(new)}) for f in x.facts)
        renewed[x] = poly(new)
        result.left[k] = new
    if renewed:
        result.replace = {x: p.subst(renewed) for x, p in result.replace.items()} | renewed
        result.conds = [cond.subst(renewed) for cond in result.conds]


def _solve_one(p: Poly, free: list[ir.Binder], result: Solved, sums: bool) -> bool:
    """p = 0 for one index that occurs linearly and nowhere inside."""
    ranked: list[tuple[int, ir.Binder, int]] = []
    for x in free:
        coef = p.slope(x)
        c = coef.const() if coef is not None else None
        rest = p - poly(x) * c if c else p
        if c and x not in rest.leaves() and not any(x in reach(y) for y in free if y is not x and y in rest.leaves()):
            if sums and _decided_by_data(x, rest, result):
                continue
            ranked.append((abs(c), x, c))
    if not ranked:
        return False
    if sums:  # of windows of a few elements these are what is left to sum over, not all windows
        lengths = [item[1].extent.const() for item in ranked]
        most = None if None in lengths else max(n for n in lengths if n is not None)
        ranked = [item for item, n in zip(ranked, lengths, strict=True) if n == most]
    size, x, c = min(ranked, key=lambda item: (item[0], -item[1].uid))
    rest = p - poly(x) * c
    if size == 1:
        value = -rest if c > 0 else rest
    else:
        value = floordiv(-rest if c > 0 else rest, poly(size))
        result.conds.append(ir.Cond("eq", rest + value * c))
    for key in result.replace:
        result.replace[key] = result.replace[key].subst({x: value})
    result.conds = [cond.subst({x: value}) for cond in result.conds]
    result.replace[x] = value
    result.left.remove(x)
    extent = x.extent.subst(result.replace)
    result.conds += [ir.Cond("ge", value), ir.Cond("ge", extent - 1 - value)]
    result.conds += [ir.Cond("ge", fact.subst(result.replace)) for fact in x.facts]
    return True


def _solve_remainder(target: Poly, place: Poly, free: list[ir.Binder], result: Solved, sums: bool) -> bool:
    """J = (x + r) % n where x takes all n values: x = (J - r) % n. Borders that come round, and what is rotated, are gathered."""
    quot = next((q for q in place.atoms() if isinstance(q, Quot) and place == q.num - q.den * poly(q)), None)
    if quot is None:
        return False
    for x in free:
        slope = quot.num.slope(x)
        c = None if slope is None else slope.const()
        if c not in (1, -1) or x.extent.subst(result.replace) != quot.den or x.facts:
            continue
        rest = quot.num - poly(x) * c
        if x in rest.leaves() or any(x in reach(y) for y in free if y is not x) or (sums and _decided_by_data(x, rest, result)):
            continue
        away = (target - rest) * c
        value = away - quot.den * floordiv(away, quot.den)
        result.replace = {key: q.subst({x: value}) for key, q in result.replace.items()} | {x: value}
        result.conds = [cond.subst({x: value}) for cond in result.conds]
        result.conds += [ir.Cond("ge", target), ir.Cond("ge", quot.den - 1 - target)]
        result.left.remove(x)
        return True
    return False


def _decided_by_data(x: ir.Binder, rest: Poly, result: Solved) -> bool:
    """True when data read at another index that is left says where the range of x lies, or which of its places are meant."""
    others = {y for y in result.left if y is not x}
    places = [p.subst(result.replace) for p in (rest, x.extent, *x.facts)]
    return any(isinstance(a, ir.RefAtom) and others & {leaf for q in a.ref.index for leaf in q.leaves()} for p in places for a in p.leaves())


def reach(x: ir.Binder) -> set[Atom]:
    """The indices the range of an index depends on."""
    found: set[Atom] = set()
    queue: list[Atom] = [x]
    while queue:
        at = queue.pop()
        if isinstance(at, ir.Binder):
            more = [a for p in (at.extent, *at.facts) for a in p.leaves() if a not in found and a is not at]
            found.update(more)
            queue += more
    return found


def _quotient(p: Poly, free: list[ir.Binder]) -> tuple[Quot, Poly] | None:
    """J = x // k + rest: the quotient is known, which may make the remainder solvable."""
    for mono, c in p.terms.items():
        if len(mono) == 1 and isinstance(mono[0], Quot) and abs(c) == 1:
            quot = mono[0]
            rest = p - poly(quot) * c
            if not any(x in rest.leaves() for x in free):
                return quot, -rest if c > 0 else rest
    return None


def _reached(quot: Quot, value: Poly, binders: list[ir.Binder]) -> list[ir.Cond]:
    """The range of an index divided by something: conditions that come before what is read at the quotient."""
    x = quot.num.single()
    if not isinstance(x, ir.Binder) or x not in binders:
        return []
    return [ir.Cond("ge", value), ir.Cond("ge", x.extent - 1 - value * quot.den)]


def _split(b: Builder, quot: Quot, value: Poly, result: Solved, sums: bool) -> None:
    """(x + rest) // k = value and nothing else about x: x = value * k + r - rest, and only r is left to sum over."""
    for x in sorted((x for x in result.left if x in quot.num.leaves()), key=lambda x: x.extent.const() is not None):  # rather an index of many than of a few
        slope = quot.num.slope(x)
        c = None if slope is None else slope.const()
        if c not in (1, -1):
            continue
        rest = quot.num - poly(x) * c
        if x in rest.leaves() or any(x in reach(y) for y in result.left if y is not x):
            continue
        if (rest != poly(0) and sums and _decided_by_data(x, rest, result)) or any(x in q.leaves() for q in (rest.subst(result.replace), quot.den)):
            continue
        r = b.fresh_binder("r", quot.den.subst(result.replace))
        whole = (value * r.extent + poly(r) - rest.subst(result.replace)) * c
        result.left[result.left.index(x)] = r
        result.replace = {key: p.subst({x: whole}) for key, p in result.replace.items()} | {x: whole}
        result.conds = [cond.subst({x: whole}) for cond in result.conds]
        result.conds += [ir.Cond("ge", value if rest == poly(0) else whole), ir.Cond("ge", x.extent.subst(result.replace) - 1 - whole)]
        result.conds += [ir.Cond("ge", fact.subst(result.replace)) for fact in x.facts]
        return


def accumulate(
    b: Builder,
    dtype: DType,
    target: tuple[ir.Binder, ...],
    index: tuple[Poly, ...],
    value: ir.Operand,
    conds: tuple[ir.Cond, ...],
    binders: list[ir.Binder],
) -> ir.Operand:
    """The adjoint contribution at `target`: the sum over the binders of value where index = target and all conds hold."""
    one = delta(value)
    if one is not None:
        conds, value = (*conds, *(c for c in one[0] if c not in conds)), one[1]
    index = tuple(map(unchecked, index))
    solved = solve(b, target, index, binders, sums=True)
    tests = ranges_first([cond.subst(solved.replace) for cond in conds], solved.conds)
    kept: list[ir.Cond] = []
    with b.binding(*target, *solved.left):
        for test in tests:
            if test.poly is None:
                kept.append(test)
                continue
            found = scalars.simplify_cond(b, test)
            if isinstance(found, ir.Const):
                if not found.value:
                    return zero(dtype)
            elif found not in kept:
                kept.append(found)
        with b.under(*kept):
            inner = guard_operand(b, ir.subst_operand(value, solved.replace))
        if solved.open:
            return _scatter(b, dtype, target, index, inner, kept, solved)
        return _sum(b, dtype, inner, kept, solved.left)


def unchecked(p: Poly) -> Poly:
    """An index without its checks, which have been made: what can be solved may stand behind them."""
    while True:
        replace: dict[Atom, Poly] = {}
        for leaf in p.leaves():
            if isinstance(leaf, ir.RefAtom) and isinstance(value := _checked(leaf.ref), ir.IndexValue):
                replace[leaf] = value.poly
        if not replace:
            return p
        p = p.subst(replace)


def _checked(ref: ir.Ref) -> ir.Operand | None:
    """What a checked index is, also where it was checked before."""
    prim = ref.line.prim
    value = prim.value if isinstance(prim, ir.Check) else prim.args[0] if isinstance(prim, ir.Op) and prim.name == "read" else None
    return None if value is None else ir.subst_operand(value, dict(zip(ref.line.dims, ref.index, strict=False)))


def zero(dtype: DType) -> ir.Const:
    return ir.Const(False if dtype is BOOL else 0 if dtype.is_integer else 0.0, dtype)


def guarded(b: Builder, conds: list[ir.Cond], value: ir.Operand, dtype: DType) -> ir.Operand:
    """value where the conditions hold, 0 elsewhere."""
    return under(b, tuple(conds), value, dtype)


def _sum(b: Builder, dtype: DType, value: ir.Operand, conds: list[ir.Cond], left: list[ir.Binder]) -> ir.Operand:
    """Sum over the indices that are left; conditions without them go outside."""
    outer = conds
    inner: list[ir.Cond] = []
    if left:
        inside = set(left)
        inner = [c for c in conds if _mentions(c, inside)]
        outer = [c for c in conds if c not in inner]
    with b.under(*outer):
        total = guarded(b, inner, value, dtype)
        for x in reversed(left):
            total = sum_over(b, x, total, dtype)
    return guarded(b, outer, total, dtype)


def _mentions(cond: ir.Cond, atoms: set[ir.Binder]) -> bool:
    return bool(cond.leaves() & atoms)


def sum_over(b: Builder, x: ir.Binder, value: ir.Operand, dtype: DType) -> ir.Operand:
    """The sum over one index; of something that does not mention it, a product."""
    if isinstance(value, ir.Const) and value.value == 0:
        return value
    found = picked(b, x, value, dtype)
    if found is not None:
        conds, inner, more = found
        if more:
            with b.under(*conds):
                inner = sum_over(b, x, inner, dtype)
        return under(b, conds, inner, dtype)
    if x not in ir.operand_leaves(value):
        count = scalars.cast(b, scalars.op(b, "max", (scalars.from_poly(x.extent), ir.Const(0, _I64)), _I64, NOWHERE), dtype, NOWHERE)
        some = ir.Cond("ge", x.extent - 1)
        if not any(some in ref.line.conds for ref in ir.operand_refs(value)):
            return scalars.op(b, "mul", (count, value), dtype, NOWHERE)
        with b.under(some):  # what only a round has is not there without rounds
            total = scalars.op(b, "mul", (count, value), dtype, NOWHERE)
        return guarded(b, [some], total, dtype)
    plain = _minus(b, value, dtype)
    if plain is not None:  # once, not for every element
        return scalars.op(b, "neg", (sum_over(b, x, plain, dtype),), dtype, NOWHERE)
    return b.ref(ir.Reduce("add", x, value), ir.Result(dtype), hint="s")


def _minus(b: Builder, value: ir.Operand, dtype: DType) -> ir.Operand | None:
    """x, of -x, also under conditions."""
    found = guarded_value(value)
    if found is None:
        return negated(value)
    with b.under(*found[0]):
        plain = _minus(b, found[1], dtype)
    return None if plain is None else under(b, found[0], plain, dtype)


def _scatter(
    b: Builder, dtype: DType, target: tuple[ir.Binder, ...], index: tuple[Poly, ...], value: ir.Operand, conds: list[ir.Cond], solved: Solved
) -> ir.Operand:
    """Positions that could not be solved: add into an array of zeros at computed places. Places behind them (the columns of rows that are gathered) are added with them, row by row."""
    where = [index[k].subst(solved.replace) for k in solved.open]
    opened = [target[k] for k in solved.open]
    behind = _behind(target, solved)
    if behind:
        env: dict[Atom, Poly] = {}
        for x in behind:
            new = b.fresh_binder(x.name, x.extent)
            env[x] = poly(new)
            solved.left.append(new)
        value, conds = ir.subst_operand(value, env), [c.subst(env) for c in conds]
        where = [p.subst(env) for p in where] + [env[x] for x in behind]
        opened += behind
    axes = tuple(longest(b, x.extent, opened, {}) for x in opened)  # rows may differ in length
    base = ir.Abs(tuple(b.fresh_binder(x.name, n) for x, n in zip(opened, axes, strict=True)), zero(dtype))
    inside = set(solved.left)
    inner = [c for c in conds if _mentions(c, inside)]
    outer = [c for c in conds if c not in inner]
    with b.under(*outer):
        with b.binding(*solved.left), b.under(*inner):
            value = sign_on_steady(b, value, list(solved.left), dtype)
        prim = ir.Scatter(base, tuple(solved.left), tuple(where), value, "add", False, tuple(inner))
        line, at = b.emit(prim, (ir.Result(dtype, axes),), hint="g")
    read = ir.Ref(line, 0, at + tuple(poly(x) for x in opened))
    known = {given.made for given in b.path}
    env = dict(zip(line.dims, at, strict=True))
    there = [x for x in (c.subst(env) for c in line.conds) if x not in outer and x not in known]
    with b.under(*outer):  # what only the places depend on, and what is implied by conditions that are inside now: the value is 0 without it
        there = [c for c in there if c.kind != "ge" or c.poly is None or not b.context([c.poly]).proves(c.poly)]
    return guarded(b, [*outer, *there], read, dtype)


def _behind(target: tuple[ir.Binder, ...], solved: Solved) -> list[ir.Binder]:
    """The places after those that could not be solved, when they are the same for all of these: rows of one array."""
    last = solved.open[-1]
    behind = list(target[last + 1 :])
    places = set(target)
    if list(range(solved.open[0], last + 1)) != solved.open or any(x.facts or places & reach(x) for x in behind) or any(places & reach(x) for x in solved.left):
        return []
    return behind


def longest(b: Builder, n: Poly, dims: list[ir.Binder], env: Mapping[Atom, Poly]) -> Poly:
    """A bound of an extent over all values of these indices, each of which may depend on those before it."""
    for d in reversed(dims):
        if d not in n.leaves():
            continue
        extent = d.extent.subst(env)
        slope = c.const() if (c := n.slope(d)) is not None else None
        if slope is not None and d not in (n - slope * poly(d)).leaves():
            n = n.subst({d: poly(0) if slope < 0 else extent})
            continue
        x = b.fresh_binder(d.name, extent)
        with b.binding(x):
            one = scalars.op(b, "max", (scalars.from_poly(n.subst({d: poly(x)})), ir.Const(0, _I64)), _I64, NOWHERE)
        most = b.ref(ir.Reduce("maximum", x, one), ir.Result(_I64), hint="n")
        found = scalars.as_poly(b, scalars.op(b, "max", (most, ir.Const(0, _I64)), _I64, NOWHERE))
        assert found is not None
        n = found
    return n


_I64 = ir.operand_dtype(ir.IndexValue(poly(0)))
