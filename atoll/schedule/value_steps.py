"""Primitives about values: stage, inline, accumulate_in_register, roll; and the footprint of what a loop reads."""

from __future__ import annotations

from dataclasses import dataclass

from atoll.schedule import term as tm
from atoll.schedule.context import Context
from atoll.schedule.kernel import Misused, Refused
from atoll.schedule.loop_steps import hoist
from atoll.schedule.rules_lets import VIEW_J, VIEW_P
from atoll.schedule.work import Work
from atoll.sizes import Poly, Quot, Sym, cdiv, floordiv, poly
from atoll.sizes.prover import Facts


@dataclass(frozen=True, slots=True)
class Panels:
    """A layout for `stage`: one axis cut into panels of `size`, the panels outermost, the elements of a panel innermost:
    x[i, j] is kept at [i // size, j, i % size] for axis 0."""

    axis: int
    size: int

    def arrange(self, first: list[Poly], extents: list[Poly]) -> tuple[tuple[Poly, ...], tuple[Poly, ...], tuple[Poly, ...]]:
        """(extents of the copy, where its element j comes from, where x[p] is in it)."""
        others = [k for k in range(len(extents)) if k != self.axis]
        dims = (cdiv(extents[self.axis], self.size), *(extents[k] for k in others), poly(self.size))
        read: list[Poly] = [poly(0)] * len(extents)
        read[self.axis] = first[self.axis] + poly(VIEW_J[0]) * self.size + poly(VIEW_J[len(others) + 1])
        for n, k in enumerate(others):
            read[k] = first[k] + poly(VIEW_J[n + 1])
        inside = poly(VIEW_P[self.axis]) - first[self.axis]
        index = (floordiv(inside, poly(self.size)), *(poly(VIEW_P[k]) - first[k] for k in others), inside % self.size)
        return dims, tuple(read), index


@dataclass(frozen=True, slots=True)
class Permuted:
    """A layout for `stage`: the axes in another order."""

    axes: tuple[int, ...]

    def arrange(self, first: list[Poly], extents: list[Poly]) -> tuple[tuple[Poly, ...], tuple[Poly, ...], tuple[Poly, ...]]:
        read: list[Poly] = [poly(0)] * len(extents)
        for n, k in enumerate(self.axes):
            read[k] = first[k] + poly(VIEW_J[n])
        return tuple(extents[k] for k in self.axes), tuple(read), tuple(poly(VIEW_P[k]) - first[k] for k in self.axes)


Layout = Panels | Permuted


# -- footprints


def extreme(p: Poly, v: Sym, low: Poly, high: Poly, up: bool, facts: Facts) -> Poly:
    """The largest (or least) value of p over low <= v <= high, when p is monotone in v."""
    if v not in p.leaves():
        return p
    direction = _direction(p, v, facts)
    if direction == 0:
        raise Refused(f"the index {p} does not only grow or only fall with {v}")
    return p.subst({v: high if (direction > 0) == up else low})


def _direction(p: Poly, v: Sym, facts: Facts) -> int:
    """+1 when p grows with v, -1 when it falls, 0 when neither is seen."""
    signs: set[int] = set()
    for atom in p.atoms():
        if v not in atom.leaves():
            continue
        coef = p.coefficient(atom)
        sign = 0 if coef is None or v in coef.leaves() else facts.sign(coef)
        if isinstance(atom, Quot):
            inner = 0 if v in atom.den.leaves() or not facts.is_positive(atom.den) else _direction(atom.num, v, facts)
            sign *= inner
        signs.add(sign)
    return signs.pop() if len(signs) == 1 else 0


def footprint(w: Work, x: tm.Tensor, root: tm.Path) -> tuple[list[Poly], list[Poly]]:
    """(first index, extent) per axis of the part of x read below a position, in terms of what is bound outside it."""
    here = w.context(root)
    inner = tm.bound_syms(tm.at(w.term, root))
    lows: list[tuple[Poly, ...]] = []
    highs: list[tuple[Poly, ...]] = []
    for use in w.uses(x, root):
        context, t = w.theorem.locate(use)
        assert isinstance(t, tm.Get)
        ranges = _ranges(w.term, use, inner)
        lows.append(tuple(_bound(p, ranges, False, context, here) for p in t.index))
        highs.append(tuple(_bound(p, ranges, True, context, here) for p in t.index))
    if not lows:
        raise Refused(f"{x} is looked up there by data: no part of it is known to be enough" if w.looked_up(x, root) else f"{x} is not read there")
    first, extents = [], []
    for axis in range(len(lows[0])):
        low = _least([row[axis] for row in lows], here, 1)
        high = _least([row[axis] for row in highs], here, -1)
        if low is None or high is None:
            raise Refused(f"the parts of {x} that are read along axis {axis} have no common window")
        first.append(low)
        extents.append(here.facts.simplify(high - low + 1))
    return first, extents


def _ranges(t: tm.Term, path: tm.Path, inner: set[Sym]) -> list[tuple[Sym, Poly, Poly]]:
    found = []
    for k in path:
        if isinstance(t, (tm.Gen, tm.Sum)) and t.sym in inner:
            found.append((t.sym, t.low, t.high - 1))
        t = tm.kids(t)[k]
    return found[::-1]


def _bound(p: Poly, ranges: list[tuple[Sym, Poly, Poly]], up: bool, context: Context, here: Context) -> Poly:
    for v, low, high in ranges:
        p = extreme(p, v, low, high, up, context.facts)
    return here.facts.simplify(p)


def _least(candidates: list[Poly], here: Context, sign: int) -> Poly | None:
    """The candidate that is provably the least (or greatest) of all."""
    unique = list(dict.fromkeys(candidates))
    for p in unique:
        if all(here.facts.proves((q - p) * sign) for q in unique):
            return p
    return None


# -- staging


ELSEWHERE = ("stage", "inline", "keep")


def stage(
    w: Work,
    value: str | tm.Tensor,
    at: str | Sym | None = None,
    name: str | None = None,
    layout: Layout | None = None,
    elsewhere: str = "stage",
) -> tm.Tensor:
    """Keep the part of a value that a loop reads, computed (or copied) once per round of that loop; at=None: once, before everything.

    Other parts of the program that read the value beside that loop (tails of a split, other pieces of a partition) get a part of their own
    (elsewhere="stage"), compute it where they read it ("inline"), or read the whole value as before ("keep").
    `layout` arranges the copy: Panels(axis, size), Permuted(axes). The value "result" is what the loop itself computes in a round.
    """
    if elsewhere not in ELSEWHERE:
        raise Misused(f"elsewhere is one of {', '.join(ELSEWHERE)}, not {elsewhere!r}")
    if layout is not None and not isinstance(layout, (Panels, Permuted)):
        raise Misused("a layout is Panels(axis, size) or Permuted(axes)")
    if value == "result" and not any(isinstance(t, tm.Let) and t.name.name == "result" for _, t in tm.walk(w.term)):
        return _stage_result(w, at, name or "result")
    x = w.value(value)
    label = name or x.name
    if at is None:
        return stage_at(w, x, _scope_root(w, x), label, layout)
    sym = w.loop(at)
    if x in w.context((*w.path(sym), 0)).parts and (made := _rounds(w, x, sym, label, elsewhere == "stage")) is not None:
        return made
    new = stage_at(w, x, (*w.path(sym), 0), label, layout)
    if x not in w.theorem.inputs and elsewhere == "stage":
        _stage_beside(w, x, sym, label, layout)
    elif x not in w.theorem.inputs and elsewhere == "inline":
        inline(w, x)
    drop(w, x)
    return new


def _rounds(w: Work, x: tm.Tensor, sym: Sym, label: str, all: bool) -> tm.Tensor | None:
    """What an opaque part makes, made in each round of the loop that its own rounds are read in; then also `all` other rounds that are read. None
    where rounds of the loop are not rounds of the part."""
    root = (*w.path(sym), 0)
    while isinstance(tm.at(w.term, root), tm.Guard):
        root = (*root, 0)
    at = _round(w, x, root)
    if at is None or not any(sym in p.leaves() for p in at):
        return None
    w.do(root, "nest_round", x=x, index=at, name=label)
    made = tm.at(w.term, root)
    assert isinstance(made, tm.Nest)
    while all and (uses := w.uses(x)):
        loops = [n + 1 for n in range(len(uses[0])) if isinstance(tm.at(w.term, uses[0][:n]), (tm.Gen, tm.Guard)) and not isinstance(tm.at(w.term, uses[0][: n + 1]), tm.Guard)]
        other = next((n for n in loops if _round(w, x, uses[0][:n]) is not None), None)
        if other is None:
            break  # it is read whole
        w.do(uses[0][:other], "nest_round", x=x, index=_round(w, x, uses[0][:other]), name=label)
    drop(w, x)
    return made.names[0]


def _round(w: Work, x: tm.Tensor, root: tm.Path) -> tuple[Poly, ...] | None:
    """The first indices at which x is read below a position, when they are the same everywhere there and as many as have rounds of their own."""
    whole = w.context(root).parts[x]
    free = whole.rows - len(whole.at)
    inner = tm.bound_syms(tm.at(w.term, root))
    found = [u.index for use in w.uses(x, root) if isinstance(u := tm.at(w.term, use), tm.Get)]
    n = next((k for k in range(free) if any(index[k] != found[0][k] or index[k].leaves() & inner for index in found)), free) if found else 0
    return found[0][:n] if n else None


def _stage_result(w: Work, at: str | Sym | None, name: str) -> tm.Tensor:
    """What a round computes, kept in a buffer and then written out, padding left out."""
    path: tm.Path = () if at is None else (*w.path(w.loop(at)), 0)
    while isinstance(around := tm.at(w.term, path), (tm.Let, tm.Nest)):
        path = (*path, 1 if isinstance(around, tm.Let) else 0)
    inner, node = path, tm.at(w.term, path)
    names = []
    while isinstance(node, (tm.Gen, tm.Guard)):
        names += [f"{name}.{node.sym.name}"] if isinstance(node, tm.Gen) else []
        node = node.body
    w.do(inner, "let_bind", name=name, names=tuple(names))
    let = tm.at(w.term, inner)
    assert isinstance(let, tm.Let)
    for use in w.uses(let.name, (*inner, 1)):
        w.attempt(use, "guard_get")
    w.simplify(inner)
    return let.name


def _scope_root(w: Work, x: tm.Tensor) -> tm.Path:
    """The outermost position where x is in scope and results are not yet told apart."""
    path: tm.Path = ()
    t = w.term
    seen = x in w.theorem.inputs
    while isinstance(t, (tm.Let, tm.Nest)):
        if seen and tm.uses(t.bound if isinstance(t, tm.Let) else tm.Zero((), x.dtype), x):
            break
        if (isinstance(t, tm.Let) and t.name is x) or (isinstance(t, tm.Nest) and x in t.names):
            seen = True
        k = 1 if isinstance(t, tm.Let) else 0
        if seen and x in w.theorem.inputs and not tm.uses(tm.kids(t)[k], x):
            break
        path, t = (*path, k), tm.kids(t)[k]
    return path if not isinstance(t, tm.Many) else path


def stage_at(w: Work, x: tm.Tensor, root: tm.Path, label: str, layout: Layout | None) -> tm.Tensor:
    first, extents = footprint(w, x, root)
    for n in extents:
        if not w.closed(n):
            raise Refused(f"the window of {x} has an extent that changes from round to round: {n}")
    arranged = (layout or Permuted(tuple(range(len(extents))))).arrange(first, extents)
    facts = w.context(root).facts
    dims, (read, index) = tuple(facts.simplify(d) for d in arranged[0]), arranged[1:]
    w.do(root, "let_view", x=x, name=label, dims=dims, read=read, index=index, names=_loop_names(w, x, root, label, len(dims)))
    made = tm.at(w.term, root)
    assert isinstance(made, tm.Let)
    new = made.name
    w.simplify(root)
    return new


def _loop_names(w: Work, x: tm.Tensor, root: tm.Path, label: str, rank: int) -> tuple[str, ...]:
    """Loops that fill a buffer are called after it and after the loops of what it holds."""
    definition = w.context(root).defs.get(x)
    own: list[str] = []
    while isinstance(definition, tm.Gen):
        own.append(definition.sym.name.rsplit(".", 1)[-1])
        definition = definition.body
    if len(own) != rank:
        own = [str(k) for k in range(rank)]
    return tuple(f"{label}.{n}" for n in own)


def _stage_beside(w: Work, x: tm.Tensor, sym: Sym, label: str, layout: Layout | None) -> None:
    """Stage x in the other halves of concatenations around a loop, where it is still read there."""
    path = w.path(sym)
    for n in range(len(path) - 1, -1, -1):
        around = tm.at(w.term, path[:n])
        if not isinstance(around, (tm.Cat, tm.Plus)):
            continue
        other = (*path[:n], 1 - path[n])
        if w.uses(x, other):
            try:
                stage_at(w, x, other, label, layout)
            except Refused:
                continue  # the whole value is kept for that part
            path = w.path(sym)


def drop(w: Work, x: tm.Tensor) -> None:
    """Forget a value nobody reads any more."""
    if x in w.theorem.inputs:
        return
    for path, t in tm.walk(w.term):
        if (isinstance(t, tm.Let) and t.name is x) or (isinstance(t, tm.Nest) and x in t.names and t.rows):
            if not any(tm.uses(t.body, y) for y in (t.names if isinstance(t, tm.Nest) else (x,))):
                w.do(path, "let_dead")
            return


def inline(w: Work, value: str | tm.Tensor, at: str | Sym | None = None) -> None:
    """Compute a value where it is read, everywhere or inside one loop."""
    x = w.value(value)
    root: tm.Path = () if at is None else w.path(w.loop(at))
    if x in w.theorem.inputs:
        raise Refused(f"{x} is an argument")
    if not w.uses(x, root) and w.looked_up(x, root):
        raise Refused(f"{x} is looked up by data: which element that is, is known only when the program runs")
    for _ in range(4000):
        uses = w.uses(x, root)
        if not uses:
            break
        w.do(uses[0], "unfold")
    drop(w, x)
    w.simplify()


# -- accumulators


def accumulate_in_register(w: Work, loop: str | Sym, over: tuple[str | Sym, ...] = (), name: str = "acc") -> tm.Tensor:
    """Keep what a sum adds up in registers: one number, or a tile over the loops `over` (given outermost first), which move inside
    the sum; the tile is written back when the sum is done."""
    sym = w.loop(loop)
    if not isinstance(w.at_loop(sym), tm.Sum):
        raise Refused(f"{sym} is not a sum")
    tile = [w.loop(x) for x in over]
    for outer in tile:
        if not isinstance(w.at_loop(outer), tm.Gen):
            raise Refused(f"{outer} is a sum itself")
    path, guarded = w.path(sym), not _readable(w, sym)
    w.do(path, "let_bind", name=name)
    let = tm.at(w.term, path)
    assert isinstance(let, tm.Let)
    acc = let.name
    made: list[Sym] = []
    for outer in reversed(tile):
        _bring_up(w, acc, outer, guarded)
        w.do(w.path(outer), "let_lift", name=f"{name}.{_plain(outer.name)}")
        bound = w.at(acc)
        assert isinstance(bound, tm.Let) and isinstance(bound.bound, tm.Gen)
        made.insert(0, bound.bound.sym)
    for inner in reversed(made):
        hoist(w, sym, inner)
    w.notes.register.add(acc)
    w.simplify(w.path(acc))
    return acc


def _plain(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _above_guards(w: Work, path: tm.Path) -> tm.Path:
    while path and isinstance(tm.at(w.term, path[:-1]), tm.Guard):
        path = path[:-1]
    return path


def _readable(w: Work, sym: Sym) -> bool:
    """True when everything below a sum is read in range without the guards above it."""
    path = w.path(sym)
    context, t = w.theorem.locate(_above_guards(w, path))
    while isinstance(t, tm.Guard):
        t = t.body

    def fine(here: Context, u: tm.Term) -> bool:
        if isinstance(u, tm.Get):
            extents = here.shapes[u.name]
            if not all(here.facts.proves_range(p, n) for p, n in zip(u.index, extents, strict=True)):
                return False
        return all(fine(here.down(u, k), inner) for k, inner in enumerate(tm.kids(u)))

    return fine(context, t)


def _bring_up(w: Work, x: tm.Tensor, outer: Sym, guarded: bool) -> None:
    """Move the let of x up until it is the body of a loop; `guarded`: x can be computed only where the guards on the way hold."""
    for _ in range(200):
        path = w.path(x)
        around = tm.at(w.term, path[:-1])
        if isinstance(around, (tm.Gen, tm.Sum)):
            if around.sym is outer:
                return
            raise Refused(f"{around.sym} stands between {x} and {outer}; the loops of a tile are given outermost first")
        if isinstance(around, tm.Guard):
            w.do(path[:-1], "guard_in", bound=guarded)
        else:
            w.do(path[:-1], "let_out", kid=path[-1])
    raise Refused(f"{x} cannot be brought to {outer}")


def roll(w: Work, value: str | tm.Tensor, at: str | Sym) -> None:
    """Compute a value row by row while a loop runs, keeping only the rows that are still read: a sliding window."""
    x, sym = w.value(value), w.loop(at)
    if x in w.theorem.inputs:
        raise Refused(f"{x} is an argument: stage it first")
    if sym in w.notes.parallel or sym in w.notes.vector:
        raise Refused(f"{x} would be computed as {sym} advances, but rounds of {sym} run together")
    let = w.at(x)
    if not (isinstance(let, tm.Let) and isinstance(let.body, tm.Gen) and let.body.sym is sym):
        raise Refused(f"{x} is not read in {sym} alone: stage it at the loop around {sym} first")
    path = w.path(x)
    first: Poly | None = None
    last: Poly | None = None
    j = poly(sym)
    root = (*path, 1, 0)
    inner = tm.bound_syms(tm.at(w.term, root))
    here = w.context(root)
    if w.looked_up(x, root):
        raise Refused(f"{x} is looked up by data: no rows of it are known to be enough")
    for use in w.uses(x, root):
        context, t = w.theorem.locate(use)
        assert isinstance(t, tm.Get)
        ranges = _ranges(w.term, use, inner)
        low = _bound(t.index[0], ranges, False, context, here) - j
        high = _bound(t.index[0], ranges, True, context, here) - j
        first = low if first is None else _least([first, low], here, 1)
        last = high if last is None else _least([last, high], here, -1)
    if first is None or last is None or (rows := (last - first + 1).const()) is None or not w.closed(last):
        raise Refused(f"the rows of {x} that a round of {sym} reads are not a window of fixed height")
    w.do(path, "let_roll", lead=last, rows=rows)

