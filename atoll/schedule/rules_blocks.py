"""The rules behind sums of exponentials computed by blocks, each with a largest number of its own (online.py; softmax in one pass).

`rescale` is an equation of real numbers: floats round exp(a - c) * exp(c - b) otherwise than exp(a - b). Its condition keeps both exponents at 0 or below, so that nothing overflows: a <= c <= b.
C and B stand at the least finite number where c and b are below it, so that a block of nothing but -inf, or of no numbers, counts as nothing instead of as NaN.
"""

from __future__ import annotations

import numpy as np

from atoll.schedule import term as tm
from atoll.schedule.alike import alike
from atoll.schedule.context import Context
from atoll.schedule.element import element
from atoll.schedule.kernel import Refused, Services, rule
from atoll.sizes import ONE, ZERO, Poly, Sym, poly
from atoll.types.dtypes import F32, F64, DType


def least(d: DType) -> tm.Lit:
    """The least finite number of a type."""
    return tm.Lit(float(np.finfo(d.numpy).min), d)


def largest(t: tm.Term) -> tm.Sum | None:
    """The maximum over a range that a number is, or is the maximum of and others."""
    if isinstance(t, tm.Sum) and t.monoid == "maximum":
        return t
    if isinstance(t, tm.Op) and t.name == "max":
        return next((found for k in t.args if (found := largest(k)) is not None), None)
    return None


@rule(
    "exp(a - b) = exp(a - C) * exp(C - B), C = max(least, M lo'<=j<hi'. s(j)), B = max(least, b), where let b := M lo<=j<hi. s(j) is in scope, a = s(at); M is the maximum",
    "lo <= lo' <= at < hi' <= hi",
    "rescale",
)
def rescale(services: Services, context: Context, t: tm.Term, at: Poly, low: Poly, high: Poly) -> tm.Term:
    if not (isinstance(t, tm.Op) and t.name == "exp" and isinstance(t.args[0], tm.Op) and t.args[0].name == "sub" and t.dtype in (F32, F64)):
        raise Refused("rescale needs the exponential of a difference")
    a, b = t.args[0].args
    if not (isinstance(b, tm.Get) and b.name in context.defs):
        raise Refused("rescale: what is subtracted is not a value bound by name")
    whole = largest(element(tm.refresh(context.defs[b.name]), b.index, context.shapes))
    if whole is None:
        raise Refused(f"rescale: {b.name} is not a maximum over a range")
    services.need(context, low - whole.low, f"the block from {low} is part of what {b.name} is the maximum of")
    services.need(context, whole.high - high, f"the block up to {high} is part of what {b.name} is the maximum of")
    services.need(context, at - low, f"{at} is in the block from {low} to {high}")
    services.need(context, high - 1 - at, f"{at} is in the block from {low} to {high}")
    if not alike(tm.substitute(whole.body, {whole.sym: at}), a):
        raise Refused(f"rescale: {b.name} is a maximum of something else than is subtracted from at {at}")
    services.licence("rescale")

    def top() -> tm.Term:
        sym = Sym(whole.sym.name)
        body = tm.refresh(tm.substitute(whole.body, {whole.sym: poly(sym)}))
        return finite(tm.Sum(sym, low, high, body, "maximum"))

    def finite(x: tm.Term) -> tm.Term:
        return tm.Op("max", (least(t.dtype), x), t.dtype)

    first, second = (tm.Op("exp", (tm.Op("sub", pair, t.dtype),), t.dtype) for pair in ((a, top()), (top(), finite(b))))
    return tm.Op("mul", (first, second), t.dtype)


def _rescaling(t: tm.Term) -> bool:
    """What rescale makes of a block: exp(max(least, ...) - max(least, ...))."""
    d = t.args[0] if isinstance(t, tm.Op) and t.name == "exp" and t.dtype in (F32, F64) else None
    return isinstance(d, tm.Op) and d.name == "sub" and all(isinstance(x, tm.Op) and x.name == "max" and alike(x.args[0], least(d.dtype)) for x in d.args)


@rule("S i. b = (S i. b') * c, b a product with the factor c at `part`, b' the rest of it; or / c, b divided by c", "c does not mention i; S by add; / c: the sum is not empty", "reassociate")
def factor(services: Services, context: Context, t: tm.Term, part: tm.Path) -> tm.Term:
    """A factor or a divisor out of a sum: the other direction of distribute."""
    if not (isinstance(t, tm.Sum) and t.monoid == "add" and part):
        raise Refused("factor needs a sum and one of the factors of what it adds")
    u, around = t.body, []
    for n, k in enumerate(part):
        if not (isinstance(u, tm.Op) and ((u.name == "mul" and k in (0, 1)) or (u.name == "div" and k == int(n == len(part) - 1)))):
            raise Refused("factor: what is added is not a product there")
        around.append(u)
        u = u.args[k]
    if any(isinstance(x, (tm.Gen, tm.Let, tm.Nest)) for _, x in tm.walk(u)) or any(t.sym in p.leaves() for _, x in tm.walk(u) for p in tm.own_polys(x)):
        raise Refused(f"the factor changes from round to round of {t.sym}")
    d, last = tm.dtype(t), around[-1]
    if not (d.is_float or d.is_complex) or tm.dtype(u) != d:
        raise Refused("factor is about floats")
    if last.name == "div":
        services.need(context, t.high - t.low - 1, f"the sum over {t.sym}, which is divided, is not empty")
    else:
        try:
            services.need(context, t.high - t.low - 1, f"the sum over {t.sym} is not empty")
        except Refused:
            services.licence("rescale" if _rescaling(u) else "finite")  # nothing times infinity is no 0
    services.licence("reassociate")
    rest = tm.put(t.body, part[:-1], last.args[1 - part[-1]])
    return tm.Op(last.name, (tm.Sum(t.sym, t.low, t.high, rest, "add"), u), d)


@rule(
    "let x := G i. a in let y := G i. b(x[i], x) in t = let z := G i. let x := a in let y := b(x) in x ++ y in t{x[i, p] := z[i, p], y[i, p] := z[i, |x| + p]}, for `count` lets",
    "the same ranges; each reads those before at its own i only; numbers or rows, of one type",
)
def let_join(services: Services, context: Context, t: tm.Term, count: int, name: str) -> tm.Term:
    """Several values built by loops over one range, as one loop that builds rows of all of them."""
    chain: list[tuple[tm.Tensor, tm.Gen]] = []
    body, here = t, context
    while len(chain) < count:
        if not (isinstance(body, tm.Let) and isinstance(body.bound, tm.Gen) and body.rolled is None):
            raise Refused(f"let_join needs {count} values, each built by a loop, one after the other")
        chain.append((body.name, body.bound))
        here, body = here.down(body, 1), body.body
    if count < 2:
        raise Refused("let_join needs two values or more")
    first = chain[0][1]
    offset: dict[tm.Tensor, Poly] = {}
    extents: dict[tm.Tensor, tuple[Poly, ...]] = {}
    total = ZERO
    closed = Context(context.closed, context.shapes, context.defs, context.closed)
    for x, loop in chain:
        services.need_equal(closed, loop.low, first.low, "the loops start together")
        services.need_equal(closed, loop.high, first.high, "the loops end together")
        extents[x] = here.shapes[x][1:]
        if len(extents[x]) > 1 or x.dtype != chain[0][0].dtype or any(isinstance(u, tm.Nest) for _, u in tm.walk(loop.body)):
            raise Refused(f"{x} is neither numbers nor rows like {chain[0][0]}")
        offset[x], total = total, total + (extents[x][0] if extents[x] else ONE)
    z = tm.Tensor(name, chain[0][0].dtype)

    def read(at: Context, u: tm.Term, sym: Sym | None) -> tm.Term:
        if (isinstance(u, tm.Look) and u.name in offset) or (isinstance(u, tm.Nest) and set(u.args) & set(offset)):
            raise Refused("a value is looked up by data, or read as a whole")
        if not (isinstance(u, tm.Get) and u.name in offset):
            old = tm.kids(u)
            new = tuple(read(at.down(u, k), inner, sym) for k, inner in enumerate(old))
            return u if all(p is q for p, q in zip(old, new, strict=True)) else tm.with_kids(u, new)
        if sym is None:
            for p, n in zip(u.index[1:], extents[u.name], strict=True):  # beside it stands another value now, and no padding
                services.need(at, p, f"{u.name}{list(u.index)} is read in range")
                services.need(at, n - 1 - p, f"{u.name}{list(u.index)} is read in range")
            return tm.Get(z, (u.index[0], offset[u.name] + (u.index[1] if u.index[1:] else ZERO)))
        if u.index[0] != poly(sym) - first.low:
            raise Refused(f"{u.name} is read at another round than that of {sym}")
        return tm.Get(u.name, u.index[1:])

    bounds = [read(context, tm.substitute(loop.body, {loop.sym: poly(first.sym)}), first.sym) for _, loop in chain]
    parts: list[tm.Term] = []
    for x, _ in chain:
        sym = Sym(f"{name}.{x.name}")
        parts.append(tm.Gen(sym, ZERO, extents[x][0] if extents[x] else ONE, tm.Get(x, (poly(sym),) if extents[x] else ())))
    row = parts.pop()
    while parts:
        row = tm.Cat(0, parts.pop(), row)
    for (x, _), bound in zip(reversed(chain), reversed(bounds), strict=True):
        row = tm.Let(x, bound, row)
    return tm.Let(z, tm.Gen(first.sym, first.low, first.high, row), read(here, body, None))
