"""The rules about loops, guards and reshapes. Each is an equation between terms; `G` is gen, `S` is sum, `n` is hi - lo.

What is not here follows: see equations.py for the lemmas of ATL by their names. Rules that add or drop pads hold for sums by `add` only,
because a guard that is false folds nothing there, while `max` would look at the zero (term.py).
"""

from __future__ import annotations

from atoll.schedule import term as tm
from atoll.schedule.context import Context
from atoll.schedule.element import element
from atoll.schedule.kernel import Refused, Services, rule
from atoll.schedule.reshapes import RESHAPES
from atoll.sizes import ONE, ZERO, Poly, Sym, cdiv, floordiv, poly

Names = tuple[str, str] | None


def _loop(t: tm.Term, what: str) -> tm.Gen | tm.Sum:
    if not isinstance(t, (tm.Gen, tm.Sum)):
        raise Refused(f"{what} needs a loop")
    return t


def _like(t: tm.Gen | tm.Sum, sym: Sym, low: Poly, high: Poly, body: tm.Term) -> tm.Gen | tm.Sum:
    return tm.Gen(sym, low, high, body) if isinstance(t, tm.Gen) else tm.Sum(sym, low, high, body, t.monoid)


def _add_only(t: tm.Term, what: str) -> None:
    if isinstance(t, (tm.Sum, tm.Plus)) and t.monoid != "add":
        raise Refused(f"{what}: pads are not neutral for {t.monoid}")


def _float(t: tm.Term) -> bool:
    d = tm.dtype(t)
    return d.is_float or d.is_complex


# -- cutting and joining ranges


@rule("G lo<=i<hi. b = (G lo<=i<m. b) ++0 (G m<=i<hi. b)", "lo <= m <= hi")
def gen_cut(services: Services, context: Context, t: tm.Term, at: Poly, names: Names = None) -> tm.Term:
    if not isinstance(t, tm.Gen):
        raise Refused("gen_cut needs a loop that builds an array")
    left, right = _cut(services, context, t, at, names)
    return tm.Cat(0, left, right)


@rule("S lo<=i<hi. b = (S lo<=i<m. b) (+) (S m<=i<hi. b)", "lo <= m <= hi")
def sum_cut(services: Services, context: Context, t: tm.Term, at: Poly, names: Names = None) -> tm.Term:
    if not isinstance(t, tm.Sum):
        raise Refused("sum_cut needs a sum")
    left, right = _cut(services, context, t, at, names)
    return tm.Plus(left, right, t.monoid)


def _cut(services: Services, context: Context, t: tm.Gen | tm.Sum, at: Poly, names: Names) -> tuple[tm.Term, tm.Term]:
    services.need(context, at - t.low, f"the cut {at} is not before the range of {t.sym}")
    services.need(context, t.high - at, f"the cut {at} is not after the range of {t.sym}")
    first, second = (Sym(name) for name in (names or (t.sym.name, t.sym.name)))
    services.copied.update({first: t.sym, second: t.sym})
    left = tm.substitute(t.body, {t.sym: poly(first)})
    right = tm.substitute(services.copy(t.body), {t.sym: poly(second)})
    return _like(t, first, t.low, at, left), _like(t, second, at, t.high, right)


@rule("G i. b = flatten0 (G o<a. G r<k. b[lo + o*k + r]);  S i. b = S o<a. S r<k. b[lo + o*k + r]", "n = a*k, k >= 1, a >= 0")
def loop_flat(services: Services, context: Context, t: tm.Term, count: Poly, size: Poly, names: Names = None) -> tm.Term:
    t = _loop(t, "loop_flat")
    services.need(context, size - 1, f"the tile size {size} is positive")
    services.need(context, count, f"the number of tiles {count} is not negative")
    services.need_equal(context, t.high - t.low, count * size, f"{count} tiles of {size} are the whole range of {t.sym}")
    outer, inner = (Sym(name) for name in (names or (f"{t.sym.name}_o", f"{t.sym.name}_i")))
    body = tm.substitute(t.body, {t.sym: t.low + poly(outer) * size + poly(inner)})
    nest = _like(t, outer, ZERO, count, _like(t, inner, ZERO, size, body))
    return tm.Reshape("flatten", 0, None, nest) if isinstance(t, tm.Gen) else nest


@rule("G i<a. G j<k. b = split0 k (G q<a*k. b[q/k][q%k]);  S i<a. S j<k. b = S q<a*k. b[q/k][q%k]", "k >= 1, a >= 0, both from 0")
def loop_join(services: Services, context: Context, t: tm.Term, name: str | None = None) -> tm.Term:
    t = _loop(t, "loop_join")
    inner = t.body
    if not isinstance(inner, (tm.Gen, tm.Sum)) or type(inner) is not type(t) or t.low.terms or inner.low.terms:
        raise Refused("loop_join needs two loops of one kind, from 0, directly inside each other")
    if isinstance(t, tm.Sum) and isinstance(inner, tm.Sum) and t.monoid != inner.monoid:
        raise Refused(f"{t.monoid} and {inner.monoid} are different sums")
    k = inner.high
    if t.sym in k.leaves():
        raise Refused(f"the bounds of {inner.sym} depend on {t.sym}")
    services.need(context, k - 1, f"the inner loop {inner.sym} is not empty")
    services.need(context, t.high, f"the outer loop {t.sym} has a size that is not negative")
    joined = Sym(name or f"{t.sym.name}_{inner.sym.name}")
    q = poly(joined)
    whole = _like(t, joined, ZERO, t.high * k, tm.substitute(inner.body, {t.sym: floordiv(q, k), inner.sym: q % k}))
    return tm.Reshape("split", 0, k, whole) if isinstance(t, tm.Gen) else whole


@rule("G i<hi. b = trunc_r0 c (G i<hi+c. [i<hi] b);  S i<hi. b = S i<hi+c. [i<hi] b", "c >= 0; S by add")
def loop_trunc(services: Services, context: Context, t: tm.Term, amount: Poly) -> tm.Term:
    t = _loop(t, "loop_trunc")
    _add_only(t, "loop_trunc")
    services.need(context, amount, f"the padding {amount} is not negative")
    longer = _like(t, t.sym, t.low, t.high + amount, tm.guard((t.high - 1 - poly(t.sym),), t.body))
    return tm.Reshape("trunc_r", 0, amount, longer) if isinstance(t, tm.Gen) else longer


@rule("K lo<=i<hi. b = K lo-d<=i<hi-d. b[i+d], K = G or S")
def loop_shift(services: Services, context: Context, t: tm.Term, by: Poly | None = None) -> tm.Term:
    t = _loop(t, "loop_shift")
    by = t.low if by is None else by
    return _like(t, t.sym, t.low - by, t.high - by, tm.substitute(t.body, {t.sym: poly(t.sym) + by}))


@rule("S lo<=i<hi. [lo'<=i, i<hi', rest] b = S lo'<=i<hi'. [lo<=i, i<hi, rest] b", "S by add")
def exchange_range(services: Services, context: Context, t: tm.Term, low: Poly, high: Poly) -> tm.Term:
    if not (isinstance(t, tm.Sum) and isinstance(t.body, tm.Guard)):
        raise Refused("exchange_range needs a sum over a guard")
    _add_only(t, "exchange_range")
    i = poly(t.sym)
    if t.sym in low.leaves() | high.leaves():
        raise Refused(f"the new bounds mention {t.sym}")
    wanted = [i - low, high - 1 - i]
    if any(w not in t.body.conds for w in wanted):
        raise Refused(f"the guard does not say {low} <= {t.sym} < {high}")
    rest = tuple(c for c in t.body.conds if c not in wanted)
    return tm.Sum(t.sym, low, high, tm.guard((i - t.low, t.high - 1 - i, *rest), t.body.body))


@rule("S a<=i<a+1. b = b[a]", "", "signed-zero, where the sum is not folded into a place")
def sum_one(services: Services, context: Context, t: tm.Term) -> tm.Term:
    if not isinstance(t, tm.Sum) or t.high - t.low != ONE:
        raise Refused("sum_one needs a sum of one row")
    if context.folding is not None and context.folding != t.monoid:
        raise Refused("sum_one: folded by another operator")
    if context.folding is None:
        services.licence("signed-zero", _float(t) and t.monoid == "add")
        if tm.accumulates(t.body, t.monoid):
            services.licence("signed-zero", _float(t))
    return tm.substitute(t.body, {t.sym: t.low})


# -- order


@rule("G G = transpose0 (G G);  G S = S G;  S G = G S;  S S = S S", "the inner bounds do not mention the outer loop; same monoid", "S S: reassociate")
def swap(services: Services, context: Context, t: tm.Term) -> tm.Term:
    t = _loop(t, "swap")
    inner = t.body
    if not isinstance(inner, (tm.Gen, tm.Sum)):
        raise Refused(f"swap needs a loop directly inside {t.sym}")
    if t.sym in inner.low.leaves() | inner.high.leaves():
        raise Refused(f"the bounds of {inner.sym} depend on {t.sym}")
    swapped = _like(inner, inner.sym, inner.low, inner.high, _like(t, t.sym, t.low, t.high, inner.body))
    if isinstance(t, tm.Sum) and isinstance(inner, tm.Sum):
        if t.monoid != inner.monoid:
            raise Refused(f"{t.monoid} and {inner.monoid} do not commute")
        services.licence("reassociate", _float(t))
    if isinstance(t, tm.Gen) and isinstance(inner, tm.Gen):
        return tm.Reshape("transpose", 0, None, swapped)
    return swapped


@rule(
    "K (R_ax e) = R_ax' (K e), ax' = ax+1 if K = G else ax;  K = G, S, [p], let-body;  R = reshape, ++, (+), guard",
    "a guard R does not mention K's variable",
    "S (+): reassociate",
)
def float_out(services: Services, context: Context, t: tm.Term, keep: str = "left") -> tm.Term:
    if not isinstance(t, (tm.Gen, tm.Sum, tm.Guard, tm.Let)) or (isinstance(t, tm.Let) and t.rolled is not None):
        raise Refused("float_out needs a loop, a guard or a let")
    inner, deeper = t.body, 1 if isinstance(t, tm.Gen) else 0

    def around(body: tm.Term) -> tm.Term:
        return tm.with_kids(t, (t.bound, body) if isinstance(t, tm.Let) else (body,))

    match inner:
        case tm.Reshape():
            if RESHAPES[inner.op].pads:
                _add_only(t, "float_out")
            return tm.Reshape(inner.op, inner.axis + deeper, inner.amount, around(inner.body))
        case tm.Cat() | tm.Plus():
            if isinstance(inner, tm.Plus):
                _plus_out(services, t, inner)
            left, right = (inner.left, inner.right)
            if keep == "left":
                left, right = around(left), _copy_around(services, t, right)
            else:
                left, right = _copy_around(services, t, left), around(right)
            return tm.Cat(inner.axis + deeper, left, right) if isinstance(inner, tm.Cat) else tm.Plus(left, right, inner.monoid)
        case tm.Guard():
            _add_only(t, "float_out")
            if isinstance(t, (tm.Gen, tm.Sum)) and any(t.sym in c.leaves() for c in inner.conds):
                raise Refused(f"the guard depends on {t.sym}")
            return tm.guard(inner.conds, around(inner.body))
    raise Refused("float_out finds nothing to move out")


def _plus_out(services: Services, t: tm.Term, inner: tm.Plus) -> None:
    if isinstance(t, tm.Sum):
        if t.monoid != inner.monoid:
            raise Refused(f"{t.monoid} does not distribute over {inner.monoid}")
        services.licence("reassociate", _float(t))
    elif isinstance(t, tm.Guard):
        _add_only(inner, "float_out")


def _copy_around(services: Services, t: tm.Gen | tm.Sum | tm.Guard | tm.Let, arm: tm.Term) -> tm.Term:
    """t around an arm, with t's own binder renamed (the arm's are its own)."""
    match t:
        case tm.Guard():
            return tm.guard(t.conds, arm)
        case tm.Let():
            name = tm.Tensor(t.name.name, t.name.dtype)
            services.copied[name] = t.name
            return tm.Let(name, services.copy(t.bound), tm.substitute(arm, {}, {t.name: name}))
    sym = Sym(t.sym.name)
    services.copied[sym] = t.sym
    return _like(t, sym, t.low, t.high, tm.substitute(arm, {t.sym: poly(sym)}))


@rule("R_ax' (K i. a, K j. b) = K i. R_ax (a, b[i]), for R = ++ (not along K's own axis) and (+);  K = G, S", "the same range", "S (+): reassociate")
def float_in(services: Services, context: Context, t: tm.Term) -> tm.Term:
    """Two loops over one range become one: the other direction of float_out."""
    if not isinstance(t, (tm.Cat, tm.Plus)) or not isinstance(t.left, (tm.Gen, tm.Sum)) or type(t.left) is not type(t.right):
        raise Refused("float_in needs two loops side by side")
    left, right = t.left, t.right
    assert isinstance(right, (tm.Gen, tm.Sum))
    services.need_equal(context, left.low, right.low, "the loops start together")
    services.need_equal(context, left.high, right.high, "the loops end together")
    other = tm.substitute(right.body, {right.sym: poly(left.sym)})
    if isinstance(t, tm.Cat):
        if isinstance(left, tm.Gen) and t.axis == 0:
            raise Refused("the loops stand one after the other")
        return _like(left, left.sym, left.low, left.high, tm.Cat(t.axis - (1 if isinstance(left, tm.Gen) else 0), left.body, other))
    if isinstance(left, tm.Sum):
        assert isinstance(right, tm.Sum)
        if not left.monoid == right.monoid == t.monoid:
            raise Refused("different sums")
        services.licence("reassociate", _float(t))
    return _like(left, left.sym, left.low, left.high, tm.Plus(left.body, other, t.monoid))


# -- guards


@rule("[p] K e = K [p] e, K = G, S, let (its body, or with `bound` both parts), reshape, ++, (+), if", "S and (+) by add")
def guard_in(services: Services, context: Context, t: tm.Term, bound: bool = False) -> tm.Term:
    if not isinstance(t, tm.Guard):
        raise Refused("guard_in needs a guard")
    inner = t.body
    _add_only(inner, "guard_in")
    match inner:
        case tm.Let():
            made = tm.guard(t.conds, inner.bound) if bound else inner.bound
            return tm.Let(inner.name, made, tm.guard(t.conds, inner.body), inner.rolled)
        case tm.Choose():
            return tm.Choose(inner.tests, tm.guard(t.conds, inner.then), tm.guard(t.conds, inner.orelse))
        case tm.Gen() | tm.Sum() | tm.Reshape() | tm.Cat() | tm.Plus():
            return tm.with_kids(inner, tuple(tm.guard(t.conds, k) for k in tm.kids(inner)))
    raise Refused("guard_in: a guard on a scalar stays where it is")


@rule("([p] a) * b = [p] (a * b)", "", "finite")
def guard_mul(services: Services, context: Context, t: tm.Term) -> tm.Term:
    if not (isinstance(t, tm.Op) and t.name in ("mul", "mulacc")):
        raise Refused("guard_mul needs a product")
    conds: tuple[Poly, ...] = ()
    args: list[tm.Term] = []
    for arg in t.args:
        if isinstance(arg, tm.Guard):
            conds += tuple(c for c in arg.conds if c not in conds)
            arg = arg.body
        args.append(arg)
    if not conds:
        raise Refused("guard_mul needs a factor under a guard")
    services.licence("finite", _float(t))
    return tm.guard(conds, tm.Op(t.name, tuple(args), t.dtype))


@rule("c * (S i. b) = S i. c * b", "c does not mention i; S by add", "reassociate")
def distribute(services: Services, context: Context, t: tm.Term) -> tm.Term:
    if not (isinstance(t, tm.Op) and t.name == "mul"):
        raise Refused("distribute needs a product")
    for k, other in ((0, 1), (1, 0)):
        inner = t.args[k]
        if isinstance(inner, tm.Sum) and inner.monoid == "add":
            factor = t.args[other]
            args = (factor, inner.body) if k == 1 else (inner.body, factor)
            services.licence("reassociate", _float(t))
            return tm.Sum(inner.sym, inner.low, inner.high, tm.Op("mul", args, t.dtype))
    raise Refused("distribute needs a sum as a factor")


# -- reshapes and single roundings


@rule("e = G i<shape. e[i]: reshapes and concatenations become indices")
def expand(services: Services, context: Context, t: tm.Term, names: tuple[str, ...] = ()) -> tm.Term:
    if _has_results(t):
        raise Refused("expand needs an array")
    extents = tm.shape(t, context.shapes)
    syms = [Sym(names[k] if k < len(names) else "ijklmn"[k % 6]) for k in range(len(extents))]
    new = element(services.copy(t), tuple(poly(s) for s in syms), context.shapes)
    if context.folding not in (None, "add") and tm.may_skip(t):
        raise Refused("expand: pads are not neutral here")
    for sym, extent in zip(reversed(syms), reversed(extents), strict=True):
        services.need(context, extent, "the extent is not negative")
        new = tm.Gen(sym, ZERO, extent, new)
    return new


def _has_results(t: tm.Term) -> bool:
    return isinstance(t, tm.Many) or (isinstance(t, (tm.Let, tm.Nest)) and _has_results(t.body))


WRAPS = {
    "transpose": ("transpose", "transpose"),
    "pad_r": ("trunc_r", "pad_r"),
    "pad_l": ("trunc_l", "pad_l"),
    "split": ("flatten", "split"),
    "reverse": ("reverse", "reverse"),
    "flatten": ("split", "flatten"),
}


@rule("e = R' (R e) for R' R = transpose transpose, trunc_r k pad_r k, flatten split k, trunc_r (flatten tile k), ...", "k >= 0; split: k divides; tile: k >= 1")
def wrap(services: Services, context: Context, t: tm.Term, op: str, axis: int, amount: Poly | None = None) -> tm.Term:
    if _has_results(t):
        raise Refused("wrap needs an array")
    extents = tm.shape(t, context.shapes)
    row = RESHAPES.get(op)
    if row is None or not (0 <= axis <= len(extents) - row.takes) or row.has_amount != (amount is not None):
        raise Refused(f"there is no {op} of axis {axis} here")
    if context.folding not in (None, "add"):
        raise Refused("wrap: pads are not neutral here")
    if amount is not None:
        services.need(context, amount - (1 if op in ("split", "tile") else 0), f"the amount {amount}")
    inner = tm.Reshape(op, axis, amount, t)
    match op:
        case "tile":
            assert amount is not None
            n = extents[axis]
            return tm.Reshape("trunc_r", axis, cdiv(n, amount) * amount - n, tm.Reshape("flatten", axis, None, inner))
        case "split":
            assert amount is not None
            services.need_equal(context, floordiv(extents[axis], amount) * amount, extents[axis], f"{amount} divides {extents[axis]}")
            return tm.Reshape("flatten", axis, None, inner)
        case "flatten":
            services.need(context, extents[axis + 1] - 1, "the inner axis is not empty")
            return tm.Reshape("split", axis, extents[axis + 1], inner)
        case "transpose" | "reverse" | "pad_r" | "pad_l":
            return tm.Reshape(WRAPS[op][0], axis, amount, inner)
    raise Refused(f"{op} has no inverse")


@rule("a*b folded into a place, or (a*b) + c, with one rounding", "", "contract")
def contract(services: Services, context: Context, t: tm.Term) -> tm.Term:
    if isinstance(t, tm.Op) and t.dtype.is_float:
        if t.name == "mul" and context.folding == "add":
            services.licence("contract")
            return tm.Op("mulacc", t.args, t.dtype)
        if t.name == "add":
            for k, other in ((0, 1), (1, 0)):
                product = t.args[k]
                if isinstance(product, tm.Op) and product.name == "mul":
                    services.licence("contract")
                    return tm.Op("fma", (*product.args, t.args[other]), t.dtype)
    raise Refused("contract needs a product of floats that is added to something")
