"""The rules about named values: where something is computed, kept, copied and in which layout.

Definitions are part of the context (`Context.defs`), so a value can be unfolded or staged anywhere in its scope, and a let nobody reads any
more is dropped. That replaces ATL's chapter on floating lets (docs/sources.md K1).
"""

from __future__ import annotations

from atoll.schedule import term as tm
from atoll.schedule.alike import alike
from atoll.schedule.context import Context
from atoll.schedule.element import element
from atoll.schedule.kernel import Refused, Services, rule
from atoll.sizes import ONE, ZERO, Poly, Sym, poly

VIEW_J = tuple(Sym(f"$j{k}") for k in range(16))  # indices of a new layout, in `read`
VIEW_P = tuple(Sym(f"$p{k}") for k in range(16))  # indices of a read, in `index`


def folds_differently(services: Services, context: Context, t: tm.Term) -> None:
    """Record what it costs to fold the value of t instead of t itself."""
    d = tm.dtype(t)
    if context.folding is None or not (d.is_float or d.is_complex):
        return
    if tm.accumulates(t, context.folding):
        services.licence("reassociate")
    if context.folding == "add" and tm.may_skip(t):
        services.licence("signed-zero")


@rule("x[p] = e[p], where let x := e is in scope", "0 <= p < extents of x", "reassociate, where x[p] is folded and e sums")
def unfold(services: Services, context: Context, t: tm.Term) -> tm.Term:
    if not (isinstance(t, tm.Get) and t.name in context.defs):
        raise Refused("unfold needs an element of a value bound by name")
    for p, n in zip(t.index, context.shapes[t.name], strict=True):
        services.need(context, p, f"{t.name}[{p}] is read in range")
        services.need(context, n - 1 - p, f"{t.name}[{p}] is read in range")
    definition = context.defs[t.name]
    new = element(services.copy(definition), t.index, context.shapes)
    if context.folding not in (None, "add") and tm.may_skip(new):
        pass  # folded by value either way
    folds_differently(services, context, new)
    return new


@rule("x[p] = [c] x[p], where let x := e is in scope and e[p] = [c] f", "", "signed-zero, where x[p] is folded")
def guard_get(services: Services, context: Context, t: tm.Term) -> tm.Term:
    """A read says where what it reads is not padding."""
    if not (isinstance(t, tm.Get) and t.name in context.defs):
        raise Refused("guard_get needs an element of a value bound by name")
    definition = element(context.defs[t.name], t.index, context.shapes)
    if not isinstance(definition, tm.Guard):
        raise Refused(f"{t.name} is not padded")
    if context.folding not in (None, "add"):
        raise Refused("guard_get: pads are not neutral here")
    services.licence("signed-zero", context.folding == "add" and (t.name.dtype.is_float or t.name.dtype.is_complex))
    return tm.guard(definition.conds, t)


@rule("e[p] = x[p], where let x := e is in scope", "0 <= p < extents of x", "reassociate, where e[p] is folded and sums")
def fold(services: Services, context: Context, t: tm.Term, x: tm.Tensor, index: tuple[Poly, ...]) -> tm.Term:
    """Read a value instead of computing it again: the other direction of unfold."""
    if x not in context.defs or len(index) != len(context.shapes[x]):
        raise Refused(f"{x} is not bound here")
    for p, n in zip(index, context.shapes[x], strict=True):
        services.need(context, p, f"{x}[{p}] is read in range")
        services.need(context, n - 1 - p, f"{x}[{p}] is read in range")
    if not alike(element(tm.refresh(context.defs[x]), index, context.shapes), t):
        raise Refused(f"this is not what {x} holds")
    folds_differently(services, context, t)
    return tm.Get(x, index)


@rule(
    "t = let x' := G j<dims. [r(j) in range] x[r(j)] in t{x[p] := x'[ix(p)]}",
    "dims >= 0; at every use 0 <= ix(p) < dims and r(ix(p)) = p",
)
def let_view(
    services: Services,
    context: Context,
    t: tm.Term,
    x: tm.Tensor,
    name: str,
    dims: tuple[Poly, ...],
    read: tuple[Poly, ...],
    index: tuple[Poly, ...],
    names: tuple[str, ...] = (),
) -> tm.Term:
    """A copy of part of x in another layout. `read` is in VIEW_J, `index` in VIEW_P; outside x the copy is zero, as x itself is."""
    if x not in context.shapes:
        raise Refused(f"{x} is not in scope here")
    extents = context.shapes[x]
    if len(read) != len(extents) or len(index) != len(dims):
        raise Refused(f"{x} has {len(extents)} axes")
    for d in dims:
        services.need(context, d, "the extent is not negative")
    new = tm.Tensor(name, x.dtype)
    body = _moved(services, context, t, x, new, dims, read, index)
    if body is t:
        raise Refused(f"{x} is not read here")
    syms = [Sym(names[k] if k < len(names) else f"{name}.{k}") for k in range(len(dims))]
    where = {j: poly(s) for j, s in zip(VIEW_J, syms, strict=False)}
    source = tuple(p.subst(where) for p in read)
    if x in context.defs:
        copy = element(services.copy(context.defs[x]), source, context.shapes)
    else:
        copy = tm.Get(x, source)
    copy = tm.guard(tuple(c for p, n in zip(source, extents, strict=True) for c in (p, n - 1 - p)), copy)
    for sym, d in zip(reversed(syms), reversed(dims), strict=True):
        copy = tm.Gen(sym, ZERO, d, copy)
    return tm.Let(new, copy, body)


def _moved(
    services: Services,
    context: Context,
    t: tm.Term,
    x: tm.Tensor,
    new: tm.Tensor,
    dims: tuple[Poly, ...],
    read: tuple[Poly, ...],
    index: tuple[Poly, ...],
) -> tm.Term:
    if isinstance(t, tm.Get) and t.name is x:
        given = {p: value for p, value in zip(VIEW_P, t.index, strict=False)}
        moved = tuple(context.facts.simplify(p.subst(given)) for p in index)
        for p, d in zip(moved, dims, strict=True):
            services.need(context, p, f"the part of {x} that is kept has {t.name}{list(t.index)}")
            services.need(context, d - 1 - p, f"the part of {x} that is kept has {t.name}{list(t.index)}")
        back = {j: p for j, p in zip(VIEW_J, moved, strict=False)}
        for p, r in zip(t.index, read, strict=True):
            services.need_equal(context, r.subst(back), p, f"the layout leads back to {t.name}{list(t.index)}")
        return tm.Get(new, moved)
    old = tm.kids(t)
    inner = tuple(_moved(services, context.down(t, k), u, x, new, dims, read, index) for k, u in enumerate(old))
    return t if all(a is b for a, b in zip(old, inner, strict=True)) else tm.with_kids(t, inner)


@rule("e = let x := e' in e{e' := G i. x[i]}, e' a part of e (or all of it)", "e' mentions nothing bound inside e", "reassociate, where e' is folded and sums")
def let_bind(services: Services, context: Context, t: tm.Term, name: str, part: tm.Path = (), names: tuple[str, ...] = ()) -> tm.Term:
    inside = context
    bound_here: set[object] = set()
    node = t
    for k in part:
        if isinstance(node, (tm.Gen, tm.Sum)):
            bound_here.add(node.sym)
        elif isinstance(node, tm.Let) and k == 1:
            bound_here.add(node.name)
        elif isinstance(node, (tm.Nest, tm.Many)):
            raise Refused("let_bind: bind below the opaque parts and results")
        inside, node = inside.down(node, k), tm.kids(node)[k]
    free = _free(node)
    if free & bound_here:
        raise Refused(f"the part mentions {', '.join(sorted(map(repr, free & bound_here)))}")
    if isinstance(node, tm.Many):
        raise Refused("let_bind: bind one result at a time")
    folds_differently(services, inside, node)
    extents = tm.shape(node, inside.shapes)
    x = tm.Tensor(name, tm.dtype(node))
    syms = [Sym(names[k] if k < len(names) else f"{name}.{k}") for k in range(len(extents))]
    use: tm.Term = tm.Get(x, tuple(poly(s) for s in syms))
    for sym, n in zip(reversed(syms), reversed(extents), strict=True):
        use = tm.Gen(sym, ZERO, n, use)
    return tm.Let(x, node, tm.put(t, part, use))


def _free(t: tm.Term) -> set[object]:
    """Unknowns and arrays a term mentions and does not bind."""
    found: set[object] = set()
    own: set[object] = set()
    for _, u in tm.walk(t):
        for p in tm.own_polys(u):
            found |= p.leaves()
        match u:
            case tm.Get() | tm.Look():
                found.add(u.name)
            case tm.Gen() | tm.Sum():
                own.add(u.sym)
            case tm.Let():
                own.add(u.name)
            case tm.Nest():
                found |= set(u.args)
                own |= set(u.names)
    return found - own


@rule("K i. let x := e in b = let X := G i'. e[i'] in K i. b{x[p] := X[i-lo, p]}, or let x := e in K i. b when i is not in e;  K = G, S")
def let_lift(services: Services, context: Context, t: tm.Term, name: str | None = None) -> tm.Term:
    if not (isinstance(t, (tm.Gen, tm.Sum)) and isinstance(t.body, tm.Let)) or t.body.rolled is not None:
        raise Refused("let_lift needs a loop over a let")
    let = t.body
    if t.sym not in _free(let.bound):
        return tm.Let(let.name, let.bound, tm.with_kids(t, (let.body,)))
    outer = Sym(name or t.sym.name)
    services.copied[outer] = t.sym
    bound = tm.substitute(let.bound, {t.sym: poly(outer)})

    def use(u: tm.Term) -> tm.Term:
        if isinstance(u, tm.Get) and u.name is let.name:
            return tm.Get(let.name, (poly(t.sym) - t.low, *u.index))
        if isinstance(u, tm.Look) and u.name is let.name:
            return tm.Look(let.name, (tm.Index(poly(t.sym) - t.low), *(use(k) for k in u.index)))
        if isinstance(u, tm.Nest) and let.name in u.args:
            raise Refused(f"{u.names[0]} is made of {let.name} as a whole")
        return tm.map_kids(u, use)

    if isinstance(t, tm.Sum):
        services.need(context, t.high - t.low, "the loop has a size that is not negative")
    return tm.Let(let.name, tm.Gen(outer, t.low, t.high, bound), tm.with_kids(t, (use(let.body),)))


@rule("K (let x := e) = let x := e in K, K = an operation, ++, (+), reshape, guard, if, another let")
def let_out(services: Services, context: Context, t: tm.Term, kid: int) -> tm.Term:
    if not isinstance(t, (tm.Op, tm.Look, tm.Cast, tm.Choose, tm.Cat, tm.Plus, tm.Reshape, tm.Guard, tm.Let)):
        raise Refused("let_out: nothing to move a let out of")
    inner = list(tm.kids(t))
    if kid >= len(inner) or not isinstance(inner[kid], tm.Let):
        raise Refused("let_out needs a let")
    let = inner[kid]
    assert isinstance(let, tm.Let)
    if let.rolled is not None or (isinstance(t, tm.Let) and kid == 1 and t.name in _free(let.bound)):
        raise Refused(f"{let.name} depends on what is around it")
    inner[kid] = let.body
    return tm.Let(let.name, let.bound, tm.with_kids(t, tuple(inner)))


@rule("let x := e in b = b;  let x, ... := nest(a, ...) in b = b", "x is not read in b; a nest has rounds: it only gives values")
def let_dead(services: Services, context: Context, t: tm.Term) -> tm.Term:
    if not isinstance(t, tm.Let) and not (isinstance(t, tm.Nest) and t.rows and not t.facts):
        raise Refused("let_dead needs a let")
    for x in (t.name,) if isinstance(t, tm.Let) else t.names:
        if tm.uses(t.body, x):
            raise Refused(f"{x} is still read")
    return t.body


@rule("t = let x, ... := nest_i(a, ...) in t{x'[i, p] := x[p]}, where let x', ... := nest(a, ...) is in scope", "0 <= i < the rounds of the nest")
def nest_round(services: Services, context: Context, t: tm.Term, x: tm.Tensor, index: tuple[Poly, ...], name: str | None = None) -> tm.Term:
    """One round of an opaque part, by itself: what it makes at an index, and every element of it that t reads there."""
    if x not in context.parts:
        raise Refused(f"{x} is not what an opaque part makes")
    whole = context.parts[x]
    if not 1 <= len(index) <= whole.rows - len(whole.at):
        raise Refused(f"{x} has {whole.rows - len(whole.at)} axes whose rounds are independent of each other, and {len(index)} are asked for")
    for p, n in zip(index, context.shapes[x], strict=False):
        services.need(context, p, f"the round {p} of {x} is there")
        services.need(context, n - 1 - p, f"the round {p} of {x} is there")
    shapes = tuple(context.shapes[y][len(index) :] for y in whole.names)
    names = {y: tm.Tensor(name if name and len(whole.names) == 1 else y.name, y.dtype) for y in whole.names}

    def use(u: tm.Term) -> tm.Term:
        if isinstance(u, tm.Get) and u.name in names and u.index[: len(index)] == index:
            return tm.Get(names[u.name], u.index[len(index) :])
        u = tm.map_kids(u, use)
        if isinstance(u, tm.Look) and u.name in names and all(isinstance(k, tm.Index) and k.poly == p for k, p in zip(u.index, index, strict=False)):
            return tm.Look(names[u.name], u.index[len(index) :])
        return u

    body = use(t)
    if body is t:
        raise Refused(f"nothing of {x} is read at {', '.join(map(repr, index))}")
    return tm.Nest(tuple(names.values()), shapes, whole.routine, whole.args, body, (), whole.rows, (*whole.at, *index))


@rule(
    "let x := G i<n. e in G j. b, with x computed row by row as j advances",
    "at every read x[p, ...] in b: j + lead - rows < p <= j + lead;  1 <= rows",
)
def let_roll(services: Services, context: Context, t: tm.Term, lead: Poly, rows: int) -> tm.Term:
    if not (isinstance(t, tm.Let) and isinstance(t.bound, tm.Gen) and isinstance(t.body, tm.Gen)) or t.bound.low.terms:
        raise Refused("let_roll needs a value built from row 0 on, read in one loop")
    j = poly(t.body.sym)
    services.need(context, poly(rows) - 1, "at least one row is kept")

    def visit(inside: Context, u: tm.Term) -> None:
        if isinstance(u, tm.Get) and u.name is t.name:
            services.need(inside, j + lead - u.index[0], f"{u.name}{list(u.index)} has been computed")
            services.need(inside, u.index[0] - j - lead + rows - 1, f"{u.name}{list(u.index)} is still kept")
        if isinstance(u, tm.Look) and u.name is t.name:
            raise Refused(f"{t.name} is read at numbers that are data: no rows of it are known to be enough")
        if isinstance(u, tm.Nest) and t.name in u.args:
            raise Refused(f"{u.names[0]} is made of {t.name} as a whole")
        for k, inner in enumerate(tm.kids(u)):
            visit(inside.down(u, k), inner)

    visit(context.down(t, 1), t.body)
    return tm.Let(t.name, t.bound, t.body, (lead, rows))


__all__ = ["ONE", "VIEW_J", "VIEW_P", "folds_differently"]
