"""Values in order instead of places in order: what is only read at the places of a sort of itself is sorted itself.

    argsort(x[0], o[0], n);  for i in 0..n:  k = o[i];  y[i] = x[k]
becomes
    sort(x[0], y[0], n)

and, where more is done with the elements, sort(x[0], s[0], n) with s[i] for x[k]. Keys that are a copied row of an array are sorted where they are.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import loads, mentions
from atoll.loops.transform.walk import outermost_first, replaced, without_memory
from atoll.sizes import Poly, poly


def sorted_values(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    for h in [s for s in lp.walk(stmts) if isinstance(s, lp.Helper) and s.name == "argsort"]:
        stmts, h = _in_rows(stmts, h)
        found = _sorted(stmts, h)
        if found is not None:
            decisions.append(f"{h.buffers[0][0].name} is sorted itself, not its places")
            stmts = found
    return stmts


def _around(stmts: lp.Stmts, h: lp.Stmt) -> lp.Stmts:
    """The block that a statement stands in."""
    return next(body for body in (stmts, *(b for s in lp.walk(stmts) for b in lp.bodies(s))) if any(s is h for s in body))


def _instead(stmts: lp.Stmts, new: dict[int, list[lp.Stmt]]) -> lp.Stmts:
    """With others in the place of some statements."""
    return outermost_first(stmts, lambda stmt, known: new.get(id(stmt)))


def _in_rows(stmts: lp.Stmts, h: lp.Helper) -> tuple[lp.Stmts, lp.Helper]:
    """keys[r] = x[i, r] for all r, just before the sort and for nothing else: the row is read where it is."""
    (keys, first), out = h.buffers
    block = _around(stmts, h)
    place = next(k for k, s in enumerate(block) if s is h)
    fill = block[place - 1] if place else None
    if keys.kind != "temp" or not isinstance(fill, lp.For) or fill.low.const() != 0 or fill.high != h.sizes[0] or first != (poly(0),) or len(fill.body) != 1:
        return stmts, h
    store = fill.body[0]
    row = poly(fill.sym)
    if not isinstance(store, lp.Store) or store.buffer is not keys or store.index != (row,) or not isinstance(store.value, lp.Load):
        return stmts, h
    x, index = store.value.buffer, store.value.index
    if index[-1] != row or any(fill.sym in p.leaves() for p in index[:-1]) or x.rows is not None or x is out[0] or used(stmts, keys) != 2:
        return stmts, h
    new = dataclasses.replace(h, buffers=((x, (*index[:-1], poly(0))), out))
    return without_memory(_instead(stmts, {id(fill): [], id(h): [new]}), (keys,)), new


def _sorted(stmts: lp.Stmts, h: lp.Helper) -> lp.Stmts | None:
    (x, first), (order, at) = h.buffers
    if order.kind != "temp" or at != (poly(0),) or order.extents != h.sizes or first[-1].const() != 0:
        return None
    block = _around(stmts, h)
    after = block[next(k for k, s in enumerate(block) if s is h) + 1 :]
    reads = [s for s in lp.walk(after) if isinstance(s, lp.Let) and isinstance(s.value, lp.Load) and s.value.buffer is order]
    if not reads or used(stmts, order) != 1 + len(reads):
        return None
    last = max(k for k, s in enumerate(after) if used([s], order))
    within = after[: last + 1]
    places = {s.var: s.value.index for s in reads if isinstance(s.value, lp.Load)}
    elements = [e for e in loads(within) if e.buffer is x and e.index[:-1] == first[:-1] and e.index[-1] in [poly(v.atom) for v in places]]
    if len(elements) != sum(v in places for v in lp.used_vars(stmts)) or _changes(within, x, first):
        return None
    values = lp.Buffer(order.name, x.dtype, order.extents, "temp", "the values of a sort", order.span)
    sort = dataclasses.replace(h, name="sort", buffers=((x, first), (values, at)), dtype=x.dtype)
    new = {poly(v.atom): lp.Load(values, index) for v, index in places.items()}
    known = set(elements)
    less = {id(s): list[lp.Stmt]() for s in reads}
    instead = {id(s): [replaced(t, lambda e: new[e.index[-1]] if isinstance(e, lp.Load) and e in known else e) for t in _instead([s], less)] for s in within}
    memory: dict[int, list[lp.Stmt]] = {id(s): [type(s)(values)] for s in lp.walk(stmts) if isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is order}
    return _straight(_instead(stmts, {**instead, **memory, id(h): [sort]}), sort)


def _straight(stmts: lp.Stmts, h: lp.Helper) -> lp.Stmts:
    """y[i] = s[i] for all i, just after the sort and for nothing else: sorted into y."""
    x, (values, _) = h.buffers
    block = _around(stmts, h)
    rest = [s for s in block[next(k for k, s in enumerate(block) if s is h) + 1 :] if not isinstance(s, lp.Free)]
    copy = rest[0] if rest else None
    loop: Any = copy
    low, high = poly(0), h.sizes[0]
    if isinstance(copy, lp.Chunks) and not copy.accs and not copy.buffers and copy.extent == high and len(copy.body) == 1:
        loop, low, high = copy.body[0], poly(copy.low), poly(copy.high)
    if not isinstance(loop, lp.For) or loop.low != low or loop.high != high or len(loop.body) != 1:
        return stmts
    store = loop.body[0]
    if not isinstance(store, lp.Store) or store.value != lp.Load(values, (poly(loop.sym),)) or used(stmts, values) != 2:
        return stmts
    y, index = store.buffer, store.index
    if y is x[0] or not index or index[-1] != poly(loop.sym) or any(loop.sym in p.leaves() for p in index[:-1]) or y.rows is not None or y.dtype is not values.dtype:
        return stmts
    sort = dataclasses.replace(h, buffers=(x, (y, (*index[:-1], poly(0)))))
    return without_memory(_instead(stmts, {id(copy): [], id(h): [sort]}), (values,))


def used(stmts: lp.Stmts, buffer: lp.Buffer) -> int:
    """How often statements mention a buffer, apart from where it is made and given back."""
    return mentions(stmts)[buffer]


def _changes(stmts: lp.Stmts, x: lp.Buffer, first: tuple[Poly, ...]) -> bool:
    """x, or what says where its row is, may be something else before these statements are done."""
    for s in lp.walk(stmts):
        if isinstance(s, (lp.Store, lp.Update, lp.Alloc, lp.Free)) and s.buffer is x:
            return True
        if isinstance(s, (lp.Helper, lp.Swap, lp.CopyBuffer, lp.Product, lp.Section)) and used([s], x):
            return True
        if isinstance(s, (lp.Assign, lp.Declare, lp.Let)) and s.var in set(lp.used_vars(first)):
            return True
    return False
