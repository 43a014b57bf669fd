"""A sort of values instead of a sort of their places, and a sort where its keys are and where its values go.

    argsort(x[0], o[0], n);  for i in 0..n:  k = o[i];  y[i] = x[k]          becomes          sort(x[0], s[0], n);  for i in 0..n:  y[i] = s[i]

    keys_in_place(stmts, sort)     for r: keys[r] = x[i, r];  argsort(keys[0], ..)        becomes          argsort(x[i, 0], ..)
    values_sorted(stmts, sort)     the statements above
    values_in_place(stmts, sort)   sort(x[0], s[0], n);  for i: y[i] = s[i]               becomes          sort(x[0], y[0], n)

A place o[i] is only read to read x there, so x[o[i]] is the i-th value in order: right where all of o is made here and known by these reads alone, every name of such a place is only used
as that index, and until the last of these elements is read nothing changes x, nor what says which row of it is sorted, nor, between a place and its element, what says which place it is.
Keys may be where they are copied from where the copy is all of them, comes just before the sort, and nobody else knows it; values may be where they are copied to where that copy comes
just behind the sort, and nobody else knows them. Each is asked of the statements of a whole program, and of one sort in them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.questions import changed, loads, mentions
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import outermost_first, replaced, without_memory
from atoll.sizes import Poly, poly

Index = tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class Sorted:
    """The program, and the sort in it as it is now."""

    stmts: lp.Stmts
    sort: lp.Helper


# -- keys


def keys_in_place(stmts: lp.Stmts, sort: lp.Helper) -> Sorted | Refused:
    (keys, first), out = sort.buffers
    before, _ = _around(stmts, sort)
    fill = before[-1] if before else None
    if not isinstance(fill, lp.For) or fill.low.const() != 0 or fill.high != sort.sizes[0] or len(fill.body) != 1:
        return Refused("no copy of all keys comes just before it")
    store, row = fill.body[0], poly(fill.sym)
    if not isinstance(store, lp.Store) or store.buffer is not keys or store.index != (row,) or first != (poly(0),) or not isinstance(store.value, lp.Load):
        return Refused("no copy of all keys comes just before it")
    x, index = store.value.buffer, store.value.index
    if index[-1] != row or any(fill.sym in p.leaves() for p in index[:-1]) or x.rows is not None or x is out[0]:
        return Refused("they are no row of another array")
    if keys.kind != "temp" or mentions(stmts)[keys] != 2:
        return Refused("others know the keys")
    new = replace(sort, buffers=((x, (*index[:-1], poly(0))), out))
    return Sorted(without_memory(_instead(stmts, {id(fill): [], id(sort): [new]}), (keys,)), new)


# -- values for places


def values_sorted(stmts: lp.Stmts, sort: lp.Helper) -> Sorted | Refused:
    (x, first), (order, at) = sort.buffers
    if order.kind != "temp" or at != (poly(0),) or order.extents != sort.sizes or first[-1].const() != 0:
        return Refused("it makes a part of its places, or of a result")
    _, after = _around(stmts, sort)
    reads = [s for s in lp.walk(after) if isinstance(s, lp.Let) and isinstance(s.value, lp.Load) and s.value.buffer is order]
    if not reads or mentions(stmts)[order] != 1 + len(reads):
        return Refused("its places are known as more than elements with a name")
    within = after[: max(k for k, s in enumerate(after) if mentions(s)[order]) + 1]
    places = {poly(s.var.atom): s.value.index for s in reads if isinstance(s.value, lp.Load)}
    names = {s.var for s in reads}
    elements = [e for e in loads(within) if e.buffer is x and e.index[:-1] == first[:-1] and e.index[-1] in places]
    if len(elements) != sum(v in names for v in lp.used_vars(stmts)):
        return Refused("a place is used for more than the element that is sorted")
    if _changes(within, x, first):
        return Refused("what is sorted changes before it is read")
    if not all(_stays(after, s) for s in reads):
        return Refused("another place is meant when the element is read")
    values = lp.Buffer(order.name, x.dtype, order.extents, "temp", "the values of a sort", order.span)
    new = replace(sort, name="sort", buffers=((x, first), (values, at)), dtype=x.dtype)
    known = set(elements)

    def read(e: object) -> object:
        return lp.Load(values, places[e.index[-1]]) if isinstance(e, lp.Load) and e in known else e

    gone = {id(s): list[lp.Stmt]() for s in reads}
    instead = {id(s): [replaced(t, read) for t in _instead([s], gone)] for s in within}
    memory: dict[int, list[lp.Stmt]] = {id(s): [type(s)(values)] for s in lp.walk(stmts) if isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is order}
    return Sorted(_instead(stmts, {**instead, **memory, id(sort): [new]}), new)


def _changes(stmts: lp.Stmts, x: lp.Buffer, first: Index) -> bool:
    """x, or what says where its row is, may be something else before these statements are done."""
    opaque = (lp.Helper, lp.Swap, lp.CopyBuffer, lp.Product, lp.Section)
    variables, arrays = changed(stmts)
    return x in arrays or not variables.isdisjoint(lp.used_vars(first)) or any(isinstance(s, opaque) and mentions(s)[x] for s in lp.walk(stmts))


def _stays(stmts: lp.Stmts, place: lp.Let) -> bool:
    """What says which place it is stays what it is until the name of the place is used for the last time."""
    assert isinstance(place.value, lp.Load)
    _, after = _around(stmts, place)
    used = [k for k, s in enumerate(after) if place.var in set(lp.used_vars(s))]
    until = used[-1] if used else 0
    last = [s for s in after[until : until + 1] if list(lp.bodies(s))]  # what it assigns itself comes after what it reads
    return changed([*after[:until], *last])[0].isdisjoint(lp.used_vars(place.value.index))


# -- values


def values_in_place(stmts: lp.Stmts, sort: lp.Helper) -> Sorted | Refused:
    x, (values, _) = sort.buffers
    _, after = _around(stmts, sort)
    copy = next((s for s in after if not isinstance(s, lp.Free)), None)
    loop: lp.Stmt | None = copy
    low, high = poly(0), sort.sizes[0]
    if isinstance(copy, lp.Chunks) and not copy.accs and not copy.buffers and copy.extent == high and len(copy.body) == 1:
        loop, low, high = copy.body[0], poly(copy.low), poly(copy.high)
    if copy is None or not isinstance(loop, lp.For) or loop.low != low or loop.high != high or len(loop.body) != 1:
        return Refused("no copy of all values comes just behind it")
    store, row = loop.body[0], poly(loop.sym)
    if not isinstance(store, lp.Store) or store.value != lp.Load(values, (row,)):
        return Refused("no copy of all values comes just behind it")
    if mentions(stmts)[values] != 2:
        return Refused("others know the values")
    y, index = store.buffer, store.index
    own = {loop.sym, copy.low, copy.high} if isinstance(copy, lp.Chunks) else {loop.sym}
    alike = y is not x[0] and y.rows is None and y.dtype is values.dtype
    if not alike or not index or index[-1] != row or any(not own.isdisjoint(p.leaves()) for p in index[:-1]):
        return Refused("they do not go into a row of another array")
    new = replace(sort, buffers=(x, (y, (*index[:-1], poly(0)))))
    return Sorted(without_memory(_instead(stmts, {id(copy): [], id(sort): [new]}), (values,)), new)


def _around(stmts: lp.Stmts, stmt: lp.Stmt) -> tuple[lp.Stmts, lp.Stmts]:
    """What stands before and after a statement in its block."""
    block = next(body for body in (stmts, *(b for s in lp.walk(stmts) for b in lp.bodies(s))) if any(s is stmt for s in body))
    at = next(k for k, s in enumerate(block) if s is stmt)
    return block[:at], block[at + 1 :]


def _instead(stmts: lp.Stmts, new: dict[int, list[lp.Stmt]]) -> lp.Stmts:
    """With others in the place of some statements."""
    return outermost_first(stmts, lambda stmt, known: new.get(id(stmt)))
