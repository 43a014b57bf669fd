"""Variables of several rounds side by side (scalar expansion): each has an element for every lane.

    for lane:  x[lane] = f(i + lane)             for lane:  y = g(x[lane]);  z[lane] = y             ...

    lane_array(var, lanes)              the elements of a variable
    in_lanes(stmts, copier, kept, lane) statements of one lane: what they read of `kept` comes from its elements, what they make or change of it goes back there

Right where the rounds in the lanes are independent (or the lanes are taken so that none waits for another): each lane does what its round did, in its order, and its
variables are its own. A variable that is handed from one part to the next has to be in `kept`; that none is left out is looked for here.
"""

from __future__ import annotations

from collections.abc import Mapping

from atoll.loops import ir as lp
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.sizes import Poly, poly
from atoll.types.dtypes import DType


def lane_array(name: str, dtype: DType, lanes: int, reason: str = "lanes") -> lp.Buffer:
    """An element for every lane."""
    buffer = lp.Buffer(fresh_like(name, dtype).name, dtype, (poly(lanes),), "temp", reason)
    buffer.local = True
    return buffer


def in_lanes(stmts: lp.Stmts, copier: Copier, kept: Mapping[lp.Var, lp.Buffer], lane: Poly) -> list[lp.Stmt]:
    every = list(lp.walk(stmts))
    made = {s.var for s in every if isinstance(s, (lp.Let, lp.Declare))}
    changed = {s.var for s in every if isinstance(s, lp.Assign)}
    lost = changed - made - kept.keys()
    assert not lost, f"a lane would change {', '.join(v.name for v in lost)} for all of them"
    used = set(lp.used_vars(stmts)) | changed
    body: list[lp.Stmt] = []
    for v, b in kept.items():
        if v in used and v not in made:
            value = lp.Load(b, (lane,))
            body.append(lp.Declare(copier.var(v), value) if v in changed else lp.Let(copier.var(v), value))
    body += copier.stmts(stmts)
    return [*body, *(lp.Store(b, (lane,), lp.Use(copier.vars[v])) for v, b in kept.items() if v in made | changed)]
