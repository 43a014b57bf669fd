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
from atoll.sizes import Poly, poly


def sorted_values(stmts: list[lp.Stmt], decisions: list[str]) -> list[lp.Stmt]:
    for holder in [stmts, *(body for s in list(lp.walk(stmts)) for body in lp.bodies(s))]:
        for h in [s for s in holder if isinstance(s, lp.Helper) and s.name == "argsort"]:
            _in_rows(h, holder, stmts)
            found = _sorted(h, holder, stmts)
            if found is not None:
                decisions.append(found)
    return stmts


def _in_rows(h: lp.Helper, holder: list[lp.Stmt], whole: list[lp.Stmt]) -> None:
    """keys[r] = x[i, r] for all r, just before the sort and for nothing else: the row is read where it is."""
    (keys, first), out = h.buffers
    place = holder.index(h)
    fill = holder[place - 1] if place else None
    if keys.kind != "temp" or not isinstance(fill, lp.For) or fill.low.const() != 0 or fill.high != h.sizes[0] or first != (poly(0),) or len(fill.body) != 1:
        return
    store = fill.body[0]
    row = poly(fill.sym)
    if not isinstance(store, lp.Store) or store.buffer is not keys or store.index != (row,) or not isinstance(store.value, lp.Load):
        return
    x, index = store.value.buffer, store.value.index
    if index[-1] != row or any(fill.sym in p.leaves() for p in index[:-1]) or x.rows is not None or x is out[0] or used(whole, keys) != 2:
        return
    holder.remove(fill)
    h.buffers = ((x, (*index[:-1], poly(0))), out)
    _forget(whole, keys)


def _sorted(h: lp.Helper, holder: list[lp.Stmt], whole: list[lp.Stmt]) -> str | None:
    (x, first), (order, at) = h.buffers
    if order.kind != "temp" or at != (poly(0),) or order.extents != h.sizes or first[-1].const() != 0:
        return None
    after = holder[holder.index(h) + 1 :]
    reads = [s for s in lp.walk(after) if isinstance(s, lp.Let) and isinstance(s.value, lp.Load) and s.value.buffer is order]
    if not reads or used(whole, order) != 1 + len(reads):
        return None
    last = max(k for k, s in enumerate(after) if used([s], order))
    within = after[: last + 1]
    places = {s.var: s.value.index for s in reads if isinstance(s.value, lp.Load)}
    elements = [e for e in _loads(within) if e.buffer is x and e.index[:-1] == first[:-1] and e.index[-1] in [poly(v.atom) for v in places]]
    if len(elements) != sum(v in places for v in lp.used_vars(whole)) or _changes(within, x, first):
        return None
    values = lp.Buffer(order.name, x.dtype, order.extents, "temp", "the values of a sort", order.span)
    new = {poly(v.atom): lp.Load(values, index) for v, index in places.items()}
    known = set(elements)
    _replace(within, lambda e: new[e.index[-1]] if isinstance(e, lp.Load) and e in known else e)
    for body in [holder, *(b for s in lp.walk(holder) for b in lp.bodies(s))]:
        body[:] = [s for s in body if s not in reads]
    for s in lp.walk(whole):
        if isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is order:
            s.buffer = values
    h.name, h.buffers, h.dtype = "sort", ((x, first), (values, at)), x.dtype
    _straight(h, holder, whole)
    return f"{x.name} is sorted itself, not its places"


def _straight(h: lp.Helper, holder: list[lp.Stmt], whole: list[lp.Stmt]) -> None:
    """y[i] = s[i] for all i, just after the sort and for nothing else: sorted into y."""
    x, (values, _) = h.buffers
    rest = [s for s in holder[holder.index(h) + 1 :] if not isinstance(s, lp.Free)]
    copy = rest[0] if rest else None
    loop: Any = copy
    low, high = poly(0), h.sizes[0]
    if isinstance(copy, lp.Chunks) and not copy.accs and not copy.buffers and copy.extent == high and len(copy.body) == 1:
        loop, low, high = copy.body[0], poly(copy.low), poly(copy.high)
    if not isinstance(loop, lp.For) or loop.low != low or loop.high != high or len(loop.body) != 1:
        return
    store = loop.body[0]
    if not isinstance(store, lp.Store) or store.value != lp.Load(values, (poly(loop.sym),)) or used(whole, values) != 2:
        return
    y, index = store.buffer, store.index
    if y is x[0] or not index or index[-1] != poly(loop.sym) or any(loop.sym in p.leaves() for p in index[:-1]) or y.rows is not None or y.dtype is not values.dtype:
        return
    assert copy is not None
    holder.remove(copy)
    h.buffers = (x, (y, (*index[:-1], poly(0))))
    _forget(whole, values)


def _forget(stmts: list[lp.Stmt], buffer: lp.Buffer) -> None:
    for body in [stmts, *(b for s in lp.walk(stmts) for b in lp.bodies(s))]:
        body[:] = [s for s in body if not (isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is buffer)]


def used(stmts: list[lp.Stmt], buffer: lp.Buffer) -> int:
    """How often statements mention a buffer, apart from where it is made and given back."""

    def count(x: Any) -> int:
        if x is buffer:
            return 1
        if isinstance(x, (list, tuple)):
            return sum(count(item) for item in x)
        if isinstance(x, (lp.Alloc, lp.Free)) or not dataclasses.is_dataclass(x) or type(x).__module__ != lp.__name__:
            return 0
        return sum(count(getattr(x, f.name)) for f in dataclasses.fields(x))

    return count(stmts)


def _loads(x: Any) -> list[lp.Load]:
    from atoll.loops.questions import loads

    return loads(x)


def _changes(stmts: list[lp.Stmt], x: lp.Buffer, first: tuple[Poly, ...]) -> bool:
    """x, or what says where its row is, may be something else before these statements are done."""
    for s in lp.walk(stmts):
        if isinstance(s, (lp.Store, lp.Update, lp.Alloc, lp.Free)) and s.buffer is x:
            return True
        if isinstance(s, (lp.Helper, lp.Swap, lp.CopyBuffer, lp.Product, lp.Section)) and used([s], x):
            return True
        if isinstance(s, (lp.Assign, lp.Declare, lp.Let)) and s.var in set(lp.used_vars(first)):
            return True
    return False


def _replace(x: Any, new: Any) -> Any:
    """Statements changed in place, expressions made anew from the leaves."""
    if isinstance(x, list):
        x[:] = [_replace(item, new) for item in x]
        return x
    if isinstance(x, tuple):
        return tuple(_replace(item, new) for item in x)
    if isinstance(x, (lp.Call, lp.Cast, lp.Choose, lp.Truth, lp.Test, lp.Load)):
        return new(dataclasses.replace(x, **{f.name: _replace(getattr(x, f.name), new) for f in dataclasses.fields(x)}))
    if isinstance(x, lp.Stmt.__args__):  # type: ignore[attr-defined]
        for f in dataclasses.fields(x):
            setattr(x, f.name, _replace(getattr(x, f.name), new))
    return x
