"""Terms that are equal up to the names of binders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atoll.schedule import term as tm
from atoll.sizes import Poly, Sym, poly


def alike(a: tm.Term, b: tm.Term) -> bool:
    """Equal up to the names of binders."""
    names: dict[Any, Any] = {}

    def same(p: Poly, q: Poly) -> bool:
        return p.subst({x: poly(y) for x, y in names.items() if isinstance(x, Sym)}) == q

    def go(a: tm.Term, b: tm.Term) -> bool:
        if type(a) is not type(b):
            return False
        ps, qs, ks, ls = tm.own_polys(a), tm.own_polys(b), tm.kids(a), tm.kids(b)
        if len(ps) != len(qs) or len(ks) != len(ls) or _data(a, names) != _data(b, {}):
            return False
        if isinstance(a, (tm.Gen, tm.Sum)) and isinstance(b, (tm.Gen, tm.Sum)):
            names[a.sym] = b.sym
        elif isinstance(a, tm.Let) and isinstance(b, tm.Let):
            names[a.name] = b.name
        return all(map(same, ps, qs)) and all(map(go, ks, ls))

    return go(a, b)


def _data(t: tm.Term, names: Mapping[Any, Any]) -> tuple[Any, ...]:
    """What a node is beside its polynomials, terms and binders."""
    match t:
        case tm.Sum() | tm.Plus():
            return (t.monoid,)
        case tm.Let():
            return (t.rolled and t.rolled[1],)
        case tm.Nest():
            return (id(t.routine), t.rows, tuple(names.get(x, x) for x in t.args))
        case tm.Cat():
            return (t.axis,)
        case tm.Reshape():
            return (t.op, t.axis)
        case tm.Zero() | tm.Cast():
            return (t.dtype,)
        case tm.Get() | tm.Look():
            return (names.get(t.name, t.name),)
        case tm.Lit():
            return (repr(t.value), t.dtype)
        case tm.Op():
            return (t.name, t.dtype)
        case tm.Choose():
            return tuple((x.kind, x.poly is None) for x in t.tests)
    return ()
