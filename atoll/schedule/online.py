"""`s.online`: sums of exp(s_j - max_j s_j) over a row, in one pass over blocks of it (logsumexp, softmax, attention: "online softmax").

Each block has a maximum and sums of its own, exp(s_j - maximum of the block); these are kept for all blocks, and when the maximum of the row is known, what a block has is multiplied by
exp(its maximum - that of the row) and added up. A recipe of rules: the sums and the maximum are named at the row, cut into blocks, `rescale` and `factor` take the row's maximum out of the blocks,
what is left of a block is lifted in front of the maximum, and `let_join` makes one loop of it. What is left after the last whole block is a block by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from atoll.schedule import term as tm
from atoll.schedule.element import element
from atoll.schedule.kernel import Refused
from atoll.schedule.loop_steps import hoist, split
from atoll.schedule.rules_blocks import largest
from atoll.schedule.value_steps import stage_at
from atoll.schedule.work import Work
from atoll.sizes import Poly, PolyLike, Sym, poly

_MANY = 400


def online(w: Work, maximum: str | tm.Tensor, size: PolyLike, at: str | Sym | None = None) -> tm.Tensor:
    """One pass over blocks of `size`; `at`: the loop over rows, where there is one. Returns the value that holds what the blocks have."""
    whole, block = w.value(maximum), w.size(size)
    root = _root(w, whole, None if at is None else w.loop(at))
    labels = _gather(w, whole, root)
    top = _name(w, whole, root)
    sums = _sums(w, top, labels)
    if not sums:
        raise Refused(f"no sum of exp(... - {whole}) is read there")
    inner = [_blocks(w, top, y, block) for y in sums]
    made, rest = _maxima(w, top, block)
    anchor = rest or top
    for main, tail in inner:
        _use(w, main, made)
        if tail is not None and rest is not None:
            _use(w, tail, rest)
    mains = [made] + [_lift(w, main, anchor, f"{y}_block") for (main, _), y in zip(inner, sums, strict=True)]
    tails = [] if rest is None else [rest] + [_lift(w, tail, top, f"{y}_rest") for (_, tail), y in zip(inner, sums, strict=True) if tail is not None]
    w.do(w.path(made), "let_join", count=len(mains), name=f"{top}_blocks")
    joined = tm.at(w.term, w.path(made)[:-2])
    assert isinstance(joined, tm.Let)
    for chain in (mains, tails):
        if chain:
            _scores(w, chain[0])
            _share(w, chain)
    while (unread := next((p for p, t in tm.walk(w.term) if isinstance(t, tm.Let) and not tm.uses(t.body, t.name)), None)) is not None:
        w.do(unread, "let_dead")
    w.simplify()
    return joined.name


def _root(w: Work, whole: tm.Tensor, row: Sym | None) -> tm.Path:
    """Where a row is: the body of a loop, or what stands behind all names of the program."""
    if row is not None:
        path = (*w.path(row), 0)
        while isinstance(tm.at(w.term, path), tm.Guard):
            path = (*path, 0)
        return path
    path = w.path(whole)
    while isinstance(t := tm.at(w.term, path), (tm.Let, tm.Nest)):
        path = (*path, len(tm.kids(t)) - 1)
    return path


def _gather(w: Work, whole: tm.Tensor, root: tm.Path) -> dict[Sym, str]:
    """Compute what depends on the maximum where it is read below a position; the names that sums had."""
    defs = w.context(root).defs

    @cache
    def depends(y: tm.Tensor) -> bool:
        return y is not whole and y in defs and any(isinstance(u, tm.Get) and (u.name is whole or depends(u.name)) for _, u in tm.walk(defs[y]))

    labels: dict[Sym, str] = {}
    for _ in range(_MANY):
        use = next((p for p, u in tm.walk(tm.at(w.term, root), root) if isinstance(u, tm.Get) and depends(u.name)), None)
        if use is None:
            w.simplify(root)
            return labels
        read = tm.at(w.term, use)
        assert isinstance(read, tm.Get)
        w.do(use, "unfold")
        if isinstance(made := tm.at(w.term, use), tm.Sum):
            labels[made.sym] = read.name.name
    raise Refused(f"more depends on {whole} than can be computed where it is read")


def _name(w: Work, whole: tm.Tensor, root: tm.Path) -> tm.Tensor:
    """The maximum by a name of its own in the row."""
    uses, context = w.uses(whole, root), w.context(root)
    if not uses and whole not in w.theorem.inputs:
        raise Refused(f"{whole} is not read there")
    if whole not in context.defs or largest(element(context.defs[whole], _index(w, uses[0]), context.shapes)) is None:
        raise Refused(f"{whole} is not a maximum over a range")
    w.do(root, "let_bind", name=whole.name, part=uses[0][len(root) :])
    let = tm.at(w.term, root)
    assert isinstance(let, tm.Let)
    w.do((*root, 0), "unfold")
    for use in w.uses(whole, (*root, 1)):
        w.do(use, "unfold")
        w.do(use, "fold", x=let.name, index=())
    return let.name


def _index(w: Work, use: tm.Path) -> tuple[Poly, ...]:
    read = tm.at(w.term, use)
    assert isinstance(read, tm.Get)
    return read.index


def _exponentials(t: tm.Term, top: tm.Tensor, path: tm.Path = ()) -> list[tm.Path]:
    """Where exp(... - top) is."""
    return [p for p, u in tm.walk(t, path) if isinstance(u, tm.Op) and u.name == "exp" and isinstance(d := u.args[0], tm.Op) and d.name == "sub" and isinstance(b := d.args[1], tm.Get) and b.name is top]


def _sums(w: Work, top: tm.Tensor, labels: dict[Sym, str]) -> list[tm.Tensor]:
    """The sums of exponentials, each by a name, one after the other behind the maximum."""
    found: list[tm.Tensor] = []
    for _ in range(_MANY):
        root = (*w.path(top), *(1 for _ in range(len(found) + 1)))
        own = [p for p, u in tm.walk(tm.at(w.term, root), root) if isinstance(u, tm.Sum) and u.monoid == "add" and _exponentials(u, top)]
        if not own:
            return found
        path = _divided(w, max(own, key=len))  # the innermost
        w.do(path, "let_bind", name=labels.get(_loop(w, path), f"{top}_sum"))
        let = tm.at(w.term, path)
        assert isinstance(let, tm.Let)
        _bring(w, let.name, root.__eq__)
        found.append(let.name)
        if not tm.shape(tm.at(w.term, (*w.path(let.name), 0)), w.context(w.path(let.name)).shapes):
            below = (*w.path(let.name), 1)
            for p in [p for p, u in tm.walk(tm.at(w.term, below), below) if isinstance(u, tm.Sum) and u.monoid == "add"]:
                if isinstance(_at(w, p), tm.Sum):
                    w.attempt(p, "fold", x=let.name, index=())
    raise Refused(f"the sums of exp(... - {top}) do not come apart")


def _divided(w: Work, path: tm.Path) -> tm.Path:
    """A sum whose terms are all divided by one number, as one sum divided; where that may be a sum of nothing, the program tests it."""
    while (part := _divisor(w, path)) is not None:
        t = tm.at(w.term, path)
        assert isinstance(t, tm.Sum)
        if not w.context(path).facts.proves(t.high - t.low - 1) and w.closed(t.high - t.low):
            w.assume(t.high - t.low - 1)
        w.do(path, "factor", part=part)
        path = (*path, 0)
    return path


def _divisor(w: Work, path: tm.Path) -> tm.Path | None:
    """Where something that does not change stands as a divisor in what a sum adds."""
    t = tm.at(w.term, path)
    assert isinstance(t, tm.Sum)

    def find(u: tm.Term, here: tm.Path) -> tm.Path | None:
        if not isinstance(u, tm.Op) or u.name not in ("mul", "div"):
            return None
        if u.name == "div" and not any(t.sym in p.leaves() for _, x in tm.walk(u.args[1]) for p in tm.own_polys(x)):
            return (*here, 1)
        found = find(u.args[0], (*here, 0))
        return find(u.args[1], (*here, 1)) if found is None and u.name == "mul" else found

    return find(t.body, ())


def _loop(w: Work, path: tm.Path) -> Sym:
    t = tm.at(w.term, path)
    assert isinstance(t, (tm.Gen, tm.Sum))
    return t.sym


def _at(w: Work, path: tm.Path) -> tm.Term | None:
    try:
        return tm.at(w.term, path)
    except IndexError:
        return None


def _bring(w: Work, y: tm.Tensor, there: Callable[[tm.Path], bool]) -> None:
    """Move a let up, out of whatever is around it."""
    for _ in range(_MANY):
        path = w.path(y)
        if there(path):
            return
        if not path:
            break
        around = tm.at(w.term, path[:-1])
        if isinstance(around, (tm.Gen, tm.Sum)):
            w.do(path[:-1], "let_lift")
        elif isinstance(around, tm.Guard):
            w.do(path[:-1], "guard_in")
        else:
            w.do(path[:-1], "let_out", kid=path[-1])
    raise Refused(f"{y} cannot be brought to the row")


def _blocks(w: Work, top: tm.Tensor, y: tm.Tensor, block: Poly) -> tuple[Sym, Sym | None]:
    """A sum by blocks, each with the maximum of its block, times a factor: the sums inside of a block, and of what is left."""
    path = (*w.path(y), 0)
    outside: list[Sym] = []
    while isinstance(t := tm.at(w.term, path), tm.Gen):
        outside.append(t.sym)
        path = (*path, 0)
    if not isinstance(t, tm.Sum):
        raise Refused(f"{y} is not a sum of exp(... - {top})")
    j, low = t.sym, t.low
    for c in reversed(outside):
        hoist(w, j, c)
    tiles, inner = split(w, j, block)
    around = tm.at(w.term, w.path(tiles)[:-1])
    tail = around.right.sym if isinstance(around, tm.Plus) and isinstance(around.right, tm.Sum) else None
    first = low + poly(tiles) * block
    _rescaled(w, top, inner, (first + poly(inner), first, first + block), len(outside))
    if tail is not None:
        last = w.at_loop(tail)
        _rescaled(w, top, tail, (poly(tail), last.low, last.high), len(outside))
    return inner, tail


def _rescaled(w: Work, top: tm.Tensor, sym: Sym, block: tuple[Poly, Poly, Poly], deep: int) -> None:
    """The maximum of a block, the element `at` of it from `low` to `high`, in the place of the row's in a sum inside of `deep` loops; the rest as a factor."""
    at, low, high = block
    for _ in range(deep):
        w.do(w.path(sym), "swap")
    for _ in range(_MANY):
        path = w.path(sym)
        found = _exponentials(tm.at(w.term, path), top, path)
        if not found:
            break
        w.do(found[0], "rescale", at=at, low=low, high=high)
        part = next((p[len(path) + 1 :] for p, u in tm.walk(tm.at(w.term, path), path) if isinstance(u, tm.Op) and u.name == "exp" and tm.uses(u, top)), None)
        assert part is not None
        w.do(path, "factor", part=part)
    if tm.uses(w.at_loop(sym), top):
        raise Refused(f"{top} is read in the sum beside exp(... - {top})")


def _maxima(w: Work, top: tm.Tensor, block: Poly) -> tuple[tm.Tensor, tm.Tensor | None]:
    """The maxima of the blocks and of what is left by names, and the maximum made of them."""
    whole = largest(tm.at(w.term, (*w.path(top), 0)))
    assert whole is not None
    tiles, inner = split(w, whole.sym, block)
    around = tm.at(w.term, w.path(tiles)[:-1])
    tail = around.right.sym if isinstance(around, tm.Plus) and isinstance(around.right, tm.Sum) else None
    made = _lift(w, inner, top, f"{top}_block")
    return made, None if tail is None else _lift(w, tail, top, f"{top}_rest")


def _lift(w: Work, sym: Sym, anchor: tm.Tensor, name: str) -> tm.Tensor:
    """A sum by a name, right in front of another value."""
    path = w.path(sym)
    w.do(path, "let_bind", name=name)
    let = tm.at(w.term, path)
    assert isinstance(let, tm.Let)

    def there(p: tm.Path) -> bool:
        t = tm.at(w.term, p)
        return isinstance(t, tm.Let) and isinstance(t.body, tm.Let) and t.body.name is anchor

    _bring(w, let.name, there)
    return let.name


def _use(w: Work, sym: Sym, x: tm.Tensor) -> None:
    """Read the maximum of a block where it stands written out around a sum of the block."""
    path = w.path(sym)
    while not isinstance(tm.at(w.term, path[:-1]), (tm.Plus, tm.Let)) and not (isinstance(t := tm.at(w.term, path[:-1]), tm.Sum) and t.sym is not sym):
        path = path[:-1]
    around = tm.at(w.term, path[:-1])
    rank = len(w.context(path).shapes[x])
    index = (poly(around.sym) - around.low,) if rank and isinstance(around, tm.Sum) else ()
    for p in [p for p, u in tm.walk(tm.at(w.term, path), path) if isinstance(u, tm.Sum) and u.monoid == "maximum"]:
        t = tm.at(w.term, p)
        if rank and isinstance(t, tm.Sum) and t.low.terms:
            w.do(p, "loop_shift")
        w.do(p, "fold", x=x, index=index)


def _scores(w: Work, first: tm.Tensor) -> None:
    """The scores, of which `first` is the maximum, kept for one block at a time where each is a sum itself."""
    root = w.path(first)
    context = w.context(root)
    read = {u.name: None for _, u in tm.walk(tm.at(w.term, (*root, 0))) if isinstance(u, tm.Get)}
    for y in read:
        if y in context.defs and any(isinstance(u, tm.Sum) for _, u in tm.walk(context.defs[y])):
            try:
                stage_at(w, y, w.path(first), y.name, None)
            except Refused:
                continue  # it is read by more than the block


def _share(w: Work, chain: list[tm.Tensor]) -> None:
    """The exponentials of a block once, for all its sums."""
    path = (*w.path(chain[1]), 0)
    found = [(p, u) for p, u in tm.walk(tm.at(w.term, path), path) if isinstance(u, tm.Op) and u.name == "exp" and tm.uses(u, chain[0])]
    loops = [n for n in range(len(path), len(found[0][0])) if isinstance(tm.at(w.term, found[0][0][:n]), tm.Sum)] if found else []
    if not loops:
        return
    part, inner = found[0][0], found[0][0][: loops[-1]]
    w.do((*inner, 0), "let_bind", name="weights", part=part[len(inner) + 1 :])
    let = tm.at(w.term, (*inner, 0))
    assert isinstance(let, tm.Let)
    kept = let.name
    _bring(w, kept, lambda p: (*p, 1) == w.path(chain[1]))
    for y in chain[2:]:
        for p, _ in [(p, u) for p, u in tm.walk(tm.at(w.term, w.path(y))) if isinstance(u, tm.Op) and u.name == "exp" and tm.uses(u, chain[0])]:
            here = (*w.path(y), *p)
            around = [t for n in range(len(here)) if isinstance(t := tm.at(w.term, here[:n]), tm.Sum)]
            if around:
                w.attempt(here, "fold", x=kept, index=(poly(around[-1].sym) - around[-1].low,))
