"""Primitives that rearrange loops, as recipes of rules: split, tile, reorder, fuse, flatten, fission, partition, pad, and sums."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise

from atoll.schedule import term as tm
from atoll.schedule.kernel import Misused, Refused
from atoll.schedule.work import Work
from atoll.sizes import Poly, PolyLike, Sym, cdiv, floordiv

TAILS = ("cut", "guard", "perfect")
_MANY = 400  # rules a recipe may take before it is called stuck


def split(w: Work, loop: str | Sym, size: PolyLike, tail: str = "cut", names: tuple[str, str] | None = None) -> tuple[Sym, Sym]:
    """i into i_o and i_i, tiles of `size`. tail: "cut" leaves the rest as a loop of its own (i_t), "guard" pads and guards, "perfect"
    wants none. Returns the two loops."""
    if tail not in TAILS:
        raise Misused(f"tail is one of {', '.join(TAILS)}, not {tail!r}")
    sym, k = w.loop(loop), w.size(size)
    path = w.path(sym)
    context, t = w.theorem.locate(path)
    assert isinstance(t, (tm.Gen, tm.Sum))
    positive(w, path, k)
    n, base = t.high - t.low, sym.name
    is_gen = isinstance(t, tm.Gen)
    names = names or (f"{base}_o", f"{base}_i")
    if tail == "guard":
        rows = context.facts.simplify(cdiv(n, k))
        extra = context.facts.simplify(rows * k - n)
        if extra.terms:
            w.do(path, "loop_trunc", amount=extra)
            path = (*path, 0) if is_gen else path
        w.do(path, "loop_flat", count=rows, size=k, names=names)
    else:
        rows = context.facts.simplify(floordiv(n, k))
        middle = context.facts.simplify(t.low + rows * k)
        if context.facts.proves_equal(middle, t.high):
            w.do(path, "loop_flat", count=rows, size=k, names=names)
        elif tail == "perfect":
            raise Refused(f"{k} does not divide the range of {base}", context.facts, middle - t.high, f"tiles of {k} are all of {base}")
        else:
            w.do(path, "gen_cut" if is_gen else "sum_cut", at=middle, names=(base, f"{base}_t"))
            path = (*path, 0)
            w.do(path, "loop_flat", count=rows, size=k, names=names)
    at = tm.at(w.term, path)
    outer = at.body if isinstance(at, tm.Reshape) else at
    while isinstance(outer, tm.Reshape):
        outer = outer.body
    assert isinstance(outer, (tm.Gen, tm.Sum)) and isinstance(outer.body, (tm.Gen, tm.Sum))
    return outer.sym, outer.body.sym


def positive(w: Work, path: tm.Path, k: Poly) -> None:
    """k >= 1 here, or the step is refused."""
    facts = w.context(path).facts
    if not facts.proves(k - 1):
        raise Refused(f"{k} is not positive", facts, k - 1, f"the size {k} is positive")


def hoist(w: Work, inner: Sym, outer: Sym) -> None:
    """Move loop `inner` just outside loop `outer`, everything in between out of the way."""
    for _ in range(_MANY):
        path = w.path(outer)
        t = tm.at(w.term, path)
        assert isinstance(t, (tm.Gen, tm.Sum))
        body = t.body
        match body:
            case tm.Gen() | tm.Sum():
                if body.sym is inner:
                    w.do(path, "swap")
                    return
                hoist(w, inner, body.sym)
            case tm.Guard():
                if any(t.sym in c.leaves() for c in body.conds):
                    w.do((*path, 0), "guard_in")
                else:
                    w.do(path, "float_out")
            case tm.Reshape():
                w.do(path, "float_out")
            case tm.Cat() | tm.Plus():
                w.do(path, "float_out", keep="right" if inner in tm.bound_syms(body.right) else "left")
            case tm.Let():
                if inner in tm.bound_syms(body.bound):
                    raise Refused(f"{inner} computes {body.name}, which is read inside {outer}")
                w.do(path, "let_lift")
            case tm.Nest():
                raise Refused(f"each round of {outer} makes {body.names[0]} for all of {inner}")
            case _:
                raise Refused(f"{inner} is not inside {outer}")
    raise Refused(f"{inner} cannot be moved out of {outer}")


def _inside(w: Work, inner: Sym, outer: Sym) -> bool:
    a, b = w.path(inner), w.path(outer)
    return len(a) > len(b) and a[: len(b)] == b


def reorder(w: Work, *loops: str | Sym) -> None:
    """Loops in the order given, outermost first."""
    syms = [w.loop(x) for x in loops]
    if len(syms) < 2:
        raise Misused("reorder wants two or more loops")
    if len(set(syms)) != len(syms):
        raise Misused("a loop is named twice")
    for a in range(len(syms)):
        for b in range(a + 1, len(syms)):
            if not _inside(w, syms[a], syms[b]) and not _inside(w, syms[b], syms[a]):
                raise Refused(f"{syms[a]} and {syms[b]} are not inside each other")
    for n in range(len(syms) - 1):
        for _ in range(_MANY):
            above = [x for x in syms[n + 1 :] if _inside(w, syms[n], x)]
            if not above:
                break
            hoist(w, syms[n], max(above, key=lambda x: len(w.path(x))))


def tile(w: Work, loops: tuple[str | Sym, ...], sizes: tuple[PolyLike, ...], tail: str = "cut") -> list[Sym]:
    """Split each loop and bring the outer ones out: y_o, x_o, y_i, x_i."""
    if not all(isinstance(x, (tuple, list)) for x in (loops, sizes)) or len(loops) != len(sizes) or len(loops) < 2:
        raise Misused("tile wants two or more loops and a size for each")
    syms = [w.loop(x) for x in loops]
    pairs = [split(w, sym, size, tail) for sym, size in zip(syms, sizes, strict=True)]
    order = [outer for outer, _ in pairs] + [inner for _, inner in pairs]
    reorder(w, *order)
    return order


def adjacent(w: Work, outer: Sym, inner: Sym) -> None:
    """Clear what stands between two loops, so that one is the body of the other."""
    for _ in range(_MANY):
        path = w.path(outer)
        t = tm.at(w.term, path)
        assert isinstance(t, (tm.Gen, tm.Sum))
        body = t.body
        match body:
            case tm.Gen() | tm.Sum():
                if body.sym is inner:
                    return
                hoist(w, inner, body.sym)
            case tm.Guard() if any(t.sym in c.leaves() for c in body.conds):
                w.do((*path, 0), "guard_in")
            case tm.Let():
                w.do(path, "let_lift")
            case tm.Cat() | tm.Plus():
                w.do(path, "float_out", keep="right" if inner in tm.bound_syms(body.right) else "left")
            case tm.Guard() | tm.Reshape():
                w.do(path, "float_out")
            case _:
                raise Refused(f"{inner} is not inside {outer}")
    raise Refused(f"{inner} cannot be brought next to {outer}")


def fuse(w: Work, outer: str | Sym, inner: str | Sym, name: str | None = None) -> Sym:
    """Two loops as one: inside each other, over the product of their ranges; side by side, over the range they share. The inner
    one must not be empty: where that is not known, the program tests it."""
    a, b = w.loop(outer), w.loop(inner)
    if not _inside(w, b, a):
        return _fuse_beside(w, a, b)
    adjacent(w, a, b)
    for sym in (a, b):
        if w.at_loop(sym).low.terms:
            w.do(w.path(sym), "loop_shift")
    inside = w.at_loop(b)
    context = w.context(w.path(a))
    if not context.facts.proves(inside.high - 1) and w.closed(inside.high):
        w.assume(inside.high - 1)
    path = w.path(a)
    w.do(path, "loop_join", name=name or f"{a.name}_{b.name}")
    t = tm.at(w.term, path)
    t = t.body if isinstance(t, tm.Reshape) else t
    assert isinstance(t, (tm.Gen, tm.Sum))
    sym = t.sym
    w.simplify(path)
    return sym


def _fuse_beside(w: Work, a: Sym, b: Sym) -> Sym:
    p, q = w.path(a), w.path(b)
    if len(p) != len(q) or p[:-1] != q[:-1] or not isinstance(tm.at(w.term, p[:-1]), (tm.Cat, tm.Plus)):
        raise Refused(f"{a} and {b} are neither inside each other nor side by side")
    w.do(p[:-1], "float_in")
    return a


def flatten(w: Work, *loops: str | Sym) -> Sym:
    """Several loops inside each other as one."""
    syms = [w.loop(x) for x in loops]
    if len(syms) < 2:
        raise Misused("flatten wants two or more loops")
    joined = syms[0]
    for sym in syms[1:]:
        joined = fuse(w, joined, sym, name=syms[0].name)
    return joined


def fission(w: Work, loop: str | Sym, keep: str = "left") -> None:
    """A loop over parts one after the other becomes one loop per part."""
    sym = w.loop(loop)
    path = w.path(sym)
    body = w.at_loop(sym).body
    if isinstance(body, tm.Guard):
        w.do((*path, 0), "guard_in")
        body = w.at_loop(sym).body
    if not isinstance(body, (tm.Cat, tm.Plus)):
        raise Refused(f"the body of {sym} is one part")
    w.do(path, "float_out", keep=keep)


def pad(w: Work, loop: str | Sym, multiple: PolyLike) -> None:
    """The range of a loop rounded up to a multiple; the rounds beyond do nothing."""
    sym, k = w.loop(loop), w.size(multiple)
    path = w.path(sym)
    positive(w, path, k)
    context, t = w.theorem.locate(path)
    assert isinstance(t, (tm.Gen, tm.Sum))
    n = t.high - t.low
    w.do(path, "loop_trunc", amount=context.facts.simplify(cdiv(n, k) * k - n))


# -- cutting where guards change


def cut_points(w: Work, sym: Sym) -> list[Poly]:
    """Where some condition inside a loop starts or stops to hold for all rounds of the loops further in."""
    path = w.path(sym)
    context, t = w.theorem.locate(path)
    assert isinstance(t, (tm.Gen, tm.Sum))
    inner = tm.bound_syms(t.body)
    ranges: dict[Sym, tuple[Poly, Poly]] = {}
    found: dict[Poly, None] = {}

    def worst(c: Poly) -> Poly:
        for v in reversed(list(ranges)):
            coef = c.slope(v)
            if coef is not None and coef.terms and (sign := context.facts.sign(coef)):
                c = c.subst({v: ranges[v][0 if sign > 0 else 1]})
        return c

    def visit(u: tm.Term) -> None:
        if isinstance(u, (tm.Gen, tm.Sum)):
            ranges[u.sym] = (u.low, u.high - 1)
        conds: tuple[Poly, ...] = ()
        if isinstance(u, tm.Guard):
            conds = u.conds
        elif isinstance(u, tm.Choose):
            conds = tuple(x.poly for x in u.tests if x.poly is not None and x.kind == "ge")
        for c in map(worst, conds):
            coef = c.slope(sym)
            if coef is None or not coef.terms or c.leaves() & inner:
                continue
            rest = c - coef * sym
            if sym in rest.leaves() or not w.closed(rest) or not w.closed(coef):
                continue
            sign = context.facts.sign(coef)
            if sign > 0:
                found[cdiv(-rest, coef)] = None  # it holds from here on
            elif sign < 0:
                found[floordiv(rest, -coef) + 1] = None  # it held up to here
        for k in tm.kids(u):
            visit(k)

    visit(t.body)
    return [context.facts.simplify(p) for p in found]


def partition(w: Work, loop: str | Sym, points: list[PolyLike] | None = None) -> list[Sym]:
    """Cut a range where guards change, so that they vanish inside. Points that are only in range for large enough sizes make a test:
    the program before this step runs for the others."""
    sym = w.loop(loop)
    path = w.path(sym)
    context, t = w.theorem.locate(path)
    assert isinstance(t, (tm.Gen, tm.Sum))
    if points is not None and not isinstance(points, (list, tuple)):
        raise Misused("the points are a list")
    given = cut_points(w, sym) if points is None else [w.size(p) for p in points]
    if points is None:
        given = [p for p in given if not context.facts.proves(t.low - p) and not context.facts.proves(p - t.high)]
    if not given:
        raise Refused(f"nothing inside {sym} changes within its range")

    def before(a: Poly, b: Poly) -> int:
        if a == b:
            return 0
        if context.facts.proves(b - a):
            return -1
        if context.facts.proves(a - b):
            return 1
        sample = next(iter(context.facts.samples()), None)  # the larger sizes of a sample say what was meant
        return 0 if sample is None else (lambda d: (d > 0) - (d < 0))((a - b).evaluate(lambda x: 10**6 + x.uid % 7))

    ordered = sorted(dict.fromkeys(given), key=cmp_to_key(before))
    needed = []
    edges = [t.low, *ordered, t.high]
    for a, b in pairwise(edges):
        if not context.facts.proves(b - a):
            needed.append(b - a)
    needed = [p for p in needed if w.closed(p)]
    for p in needed:
        if context.facts.proves(-p - 1):
            raise Refused("a point is outside", context.facts, p, f"the points {', '.join(map(repr, ordered))} are in order within the range of {sym}")
    if needed:
        w.assume(*dict.fromkeys(needed))
    parts = []
    rule = "gen_cut" if isinstance(t, tm.Gen) else "sum_cut"
    for n, p in enumerate(ordered):
        w.do(path, rule, at=p, names=(f"{sym.name}_{n}", f"{sym.name}_{n + 1}"))
        cut = tm.at(w.term, path)
        assert isinstance(cut, (tm.Cat, tm.Plus)) and isinstance(cut.left, (tm.Gen, tm.Sum)) and isinstance(cut.right, (tm.Gen, tm.Sum))
        parts.append(cut.left.sym)
        last = cut.right.sym
        path = (*path, 1)
    parts.append(last)
    w.simplify()
    return parts


# -- sums


def interchange_sum(w: Work, loop: str | Sym, outside: str | Sym) -> None:
    """A sum moved outside another loop: the rows of the sum are added one after the other."""
    sym, outer = w.loop(loop), w.loop(outside)
    if not isinstance(w.at_loop(sym), tm.Sum):
        raise Refused(f"{sym} is not a sum")
    if not _inside(w, sym, outer):
        raise Refused(f"{sym} is not inside {outer}")
    hoist(w, sym, outer)


def reassociate(w: Work, loop: str | Sym, lanes: int, name: str | None = None, tail: str = "cut") -> tm.Tensor:
    """A sum in `lanes` interleaved partial sums: p[r] = rows r, r + lanes, ..., then the p[r] in order."""
    sym = w.loop(loop)
    if not isinstance(w.at_loop(sym), tm.Sum):
        raise Refused(f"{sym} is not a sum")
    base = sym.name
    outer, inner = split(w, sym, lanes, tail)
    w.do(w.path(outer), "swap")
    # S r. S o. b: each S o. b is bound to a name, and the names are a row
    label = name or f"{base}_parts"
    path = (*w.path(inner), 0)
    w.do(path, "let_bind", name=label)
    let = tm.at(w.term, path)
    assert isinstance(let, tm.Let)
    x = let.name
    w.do(w.path(inner), "let_lift", name=f"{label}.{inner.name}")
    w.notes.register.add(x)
    w.simplify(w.path(x))
    return x
