"""The type of a local function without annotations.

A body that needs no insertion has an ordinary, perhaps polymorphic, type (Hindley and Milner's), and every call is lifted against that:
`def square(x): return x * x` is a function of numbers. A body that does need one (`v - sum(v)`: is v a vector, or is a number
repeated?) is read together with the uses of the function, with one type for all of them: the least total wins, and two least
ones are an error as everywhere. A function whose parameters are all annotated is a definition of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atoll.elaborate.ranks.constraints import Constraints
from atoll.elaborate.ranks.entities import Entity, Env, Known, Local
from atoll.elaborate.ranks.generate import Argument, Generator, _in_order
from atoll.elaborate.ranks.kinds import Arrow, Clash, RankType, Skeleton, Variable, arrow, fresh
from atoll.elaborate.ranks.propagate import Infeasible
from atoll.elaborate.ranks.schemes import Scheme, variables
from atoll.elaborate.ranks.solve import Outcome, Types, least
from atoll.elaborate.ranks.statements import read_function
from atoll.surface import syntax as s
from atoll.surface.names import free_names


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """A local function read on its own."""

    gen: Generator
    type: RankType
    outcome: Outcome


def read_alone(gen: Generator, local: Local, hints: Sequence[Skeleton | None]) -> Alone:
    """Constraints of the body only, and their least solutions. `hints` are the structures of the arguments."""
    inner = gen.child_of(local, Constraints())
    inner.joint = {}
    t = _read_with_itself(inner, inner, local, hints)
    return Alone(inner, t, least(inner.constraints))


def _read(gen: Generator, local: Local, hints: Sequence[Skeleton | None]) -> RankType:
    params = []
    for k, p in enumerate(local.params):
        t = fresh(p.name) if p.annotation is None else gen.annotation(p.annotation)
        hint = hints[k] if k < len(hints) else None
        if hint is not None and p.annotation is None:
            t.skeleton.unify(hint)
        params.append((p.name, t))
    declared = gen.annotation(local.result) if local.result is not None else None
    result = read_function(gen, params, local.body, None, declared)
    t = arrow(tuple(t for _, t in params), declared if declared is not None else result)
    gen.local_types.append((local, t))
    return t


def type_of_local(gen: Generator, local: Local, args: Sequence[Argument | None]) -> RankType:
    """An instance of the function's type."""
    if local in gen.joint:
        return gen.joint[local]
    hints = [structure_of(a.skeleton) if isinstance(a, RankType) else None for a in args]
    key = tuple(structure_key(h) for h in hints)
    found = local.schemes.get(key)
    if found is None and key not in local.not_alone and not _reaches(local, gen.joint) and _is_closed(gen, local):
        alone = read_alone(gen, local, hints)
        if alone.outcome.unique and (all(p.annotation for p in local.params) or alone.outcome.the_solution().cost == 0):
            solution = alone.outcome.the_solution()
            found = Scheme(solution.types().close(alone.type))
            local.schemes[key] = found
            gen.settled += [(app, solution.insertion(app)) for app in solution.system.applications]
        else:
            local.not_alone.add(key)
    if found is not None:
        return found.instance()
    return _together(gen, local, hints)


def _together(gen: Generator, local: Local, hints: Sequence[Skeleton | None]) -> RankType:
    """One type for all uses, decided with everything else."""
    return _read_with_itself(gen, gen.child_of(local), local, hints)


def _read_with_itself(gen: Generator, inner: Generator, local: Local, hints: Sequence[Skeleton | None]) -> RankType:
    """The type of the body, in which the function itself has one type: its own (monomorphic recursion)."""
    placeholder = arrow(tuple(fresh(p.name) for p in local.params), fresh("result"))
    gen.joint[local] = placeholder
    t = _read(inner, local, hints)
    assert isinstance(t.body, Arrow) and isinstance(placeholder.body, Arrow)
    gen.joint[local] = t
    for a, b in zip((*t.body.params, t.body.result), (*placeholder.body.params, placeholder.body.result), strict=True):
        gen.equal(a, b, local.span)
    return t


def call_local(gen: Generator, node: s.Call, local: Local, args: list[s.Expr], keywords: dict[str, s.Expr]) -> RankType:
    given = _in_order([p.name for p in local.params], args, keywords)
    types: list[Argument | None] = [None] * len(local.params)
    for k, arg in given:
        if k >= len(types):
            raise Clash
        types[k] = gen.argument(arg)
    fn = type_of_local(gen, local, types)
    assert isinstance(fn.body, Arrow)
    chosen = [(fn.body.params[k], t) for k, t in enumerate(types) if t is not None]
    partial = RankType(fn.axes, Arrow(tuple(p for p, _ in chosen), fn.body.result))
    sources = [arg for _, arg in sorted(given, key=lambda pair: pair[0])]
    return gen.spine(node, partial, [t for _, t in chosen], sources)


# -- what a function captures


def _reaches(local: Local, being_read: Mapping[Local, RankType]) -> bool:
    """True when the function calls, itself or through others, one that is being read: they call each other, and are read together."""
    seen, todo = {local}, [local] if being_read else []
    while todo:
        one = todo.pop()
        for name in free_names(one.params, one.body):
            entity = one.env.get(name)
            if isinstance(entity, Local) and entity not in seen:
                seen.add(entity)
                todo.append(entity)
    return any(other in seen for other in being_read)


def _is_closed(gen: Generator, local: Local) -> bool:
    """True when everything the function captures has a known type; what the text before decides is put in."""
    open_names = []
    for name in free_names(local.params, local.body):
        entity = local.env.names.get(name)
        if isinstance(entity, Known) and not _is_known(entity.type):
            open_names.append((name, entity))
    if not open_names:
        return True
    try:
        outcome = least(_copy(gen.constraints), limit=2)
    except (Infeasible, Clash):
        return False
    if not outcome.unique:
        return False
    types = outcome.the_solution().types()
    for name, entity in open_names:
        closed = types.close(entity.type)
        if variables(closed):
            return False
        local.env.names[name] = Known(closed)
    return True


def _copy(constraints: Constraints) -> Constraints:
    return Constraints(list(constraints.applications), list(constraints.equations), list(constraints.at_least), [])


def _is_known(t: RankType) -> bool:
    if isinstance(t.body, Variable):
        return False
    if isinstance(t.body, Arrow):
        return all(_is_known(p) for p in (*t.body.params, t.body.result))
    inner = getattr(t.body, "items", ())
    return t.axes.const() is not None and all(_is_known(item) for item in inner)


# -- the structure of arguments


def structure_of(skeleton: Skeleton) -> Skeleton | None:
    """A copy of a tuple's or record's structure; nothing for numbers and functions, whose use says it."""
    if not skeleton.is_product:
        return None
    return Skeleton(skeleton.form, tuple(structure_of(part) or Skeleton() for part in skeleton.parts))


def structure_key(skeleton: Skeleton | None) -> Any:
    return None if skeleton is None else (skeleton.form, tuple(structure_key(part) for part in skeleton.parts))


__all__ = ["Entity", "Env", "Types", "call_local", "read_alone", "type_of_local"]
