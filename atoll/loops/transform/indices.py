"""Every loop has an index of its own; indices from around get values.

    for i in 0..4: f(i);   for i in 4..n: g(i)          becomes          for i in 0..4: f(i);   for i' in 4..n: g(i')          (both print as i)
    for i in low..high: f(i), low = 256 b               becomes          for i in 256 b..high: f(i)

Renaming a bound index changes nothing. Lowering ends with it, and so does every pass (optimise.py): a pass may run the rounds that are left by the loop it found them in, beside
copies that have indices of their own (copier.py). The first of two loops keeps its index, variables keep their names, and the instance of a statement is told by the new index.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.transform.copier import HOLDERS
from atoll.loops.transform.walk import same
from atoll.sizes import Poly, Sym, poly

_Env = Mapping[Any, Any]  # the new of an index, as a polynomial; of memory whose size an index says
_BINDERS: dict[type, tuple[str, ...]] = {lp.For: ("sym",), lp.Accumulate: ("sym",), lp.Chunks: ("low", "high")}


def own_indices(stmts: lp.Stmts) -> lp.Stmts:
    """The statements, with a new index where a loop has that of another one; themselves where none has."""
    return _block(stmts, {}, set())


def with_values(stmts: lp.Stmts, env: Mapping[Sym, Poly]) -> lp.Stmts:
    """The statements by the values of indices that are bound around them, for who drops the loop that binds these. Unlike a copy (copier.py) they may be any statements, and keep their variables and
    their memory, but for memory whose size such an index says. No value may mention an index that is bound inside."""
    return _block(stmts, {**env, **_memory(stmts, env)}, set())


def _block(stmts: lp.Stmts, env: _Env, seen: set[Sym]) -> lp.Stmts:
    out = [_stmt(s, env, seen) if env or isinstance(s, HOLDERS) else s for s in stmts]
    return stmts if same(out, stmts) else out


def _stmt(stmt: lp.Stmt, env: _Env, seen: set[Sym]) -> lp.Stmt:
    binders, bodies = _BINDERS.get(type(stmt), ()), lp.BODIES.get(type(stmt), ())
    inside: dict[Any, Any] = dict(env)
    parts: dict[str, Any] = {}
    for name in binders:
        sym: Sym = getattr(stmt, name)
        inside.pop(sym, None)
        if sym in seen:
            parts[name] = Sym(sym.name)
            inside[sym] = poly(parts[name])
        seen.add(parts.get(name, sym))
    if parts:
        inside.update(_memory([stmt], inside))
    for name in stmt.__dataclass_fields__ if env else ():
        if name not in bodies and name not in binders:
            _put(parts, stmt, name, _told(getattr(stmt, name), env))
    for name in reversed(bodies):
        _put(parts, stmt, name, _block(getattr(stmt, name), inside, seen))
    return dataclasses.replace(stmt, **parts) if parts else stmt


def _put(parts: dict[str, Any], stmt: lp.Stmt, name: str, new: Any) -> None:
    if new is not getattr(stmt, name):
        parts[name] = new


def _memory(stmts: lp.Stmts, env: _Env) -> dict[lp.Buffer, lp.Buffer]:
    """Memory that is made in a loop, of a size that its index says, is another one by another index."""
    made = dict.fromkeys(s.buffer for s in lp.walk(stmts) if isinstance(s, lp.Alloc) and s.buffer not in env)
    sized = [b for b in made if any(not env.keys().isdisjoint(p.leaves()) for p in b.extents)]
    return {b: b.sized(tuple(_told(p, env) for p in b.extents)) for b in sized}


def _told(x: Any, env: _Env) -> Any:
    """By new indices; itself where it mentions none of them."""
    if isinstance(x, lp.Buffer):
        return env.get(x, x)
    if isinstance(x, Poly):
        return x if env.keys().isdisjoint(x.leaves()) else x.subst(env)
    if isinstance(x, lp.Instance):
        return x.subst(env)
    if isinstance(x, (list, tuple)):
        new = [_told(item, env) for item in x]
        return x if same(new, x) else type(x)(new)
    if type(x) in lp.FIELDS:
        parts: dict[str, Any] = {}
        for name in lp.FIELDS[type(x)]:
            _put(parts, x, name, _told(getattr(x, name), env))
        return dataclasses.replace(x, **parts) if parts else x
    return x
