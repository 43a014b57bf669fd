"""Sizes at a call: which axis of which argument says what, decided once per function.

A size is bound by any axis that is linear in it once the others are known, in any order; where no axis is, by one that grows with it
(`n*n`, `n*(n + 1)`: at most one size >= 0 fits). Every other axis is a check, and so is that each size is not negative. The plan is
a list of steps that Python and the generated call path both follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from atoll.core import ir
from atoll.core import values as v
from atoll.errors import fail
from atoll.sizes import ONE, Poly, Sym, poly
from atoll.types.types import Array, Index, Type, flatten, part_text, shape_of

MOST_SIZE = 1 << 46  # sizes are below: the call path refuses others too (backends/c/jit.py)


@dataclass(frozen=True, slots=True)
class Place:
    """Axis `axis` of leaf `leaf` of parameter `param`; `path` names the component of a tuple."""

    param: int
    leaf: int
    axis: int


@dataclass(frozen=True, slots=True)
class Step:
    """The extent at `place` equals `poly`. When `solves` is set, this step defines it: as (extent - rest) / factor, or without a rest
    as the number >= 0 at which `poly`, which grows with it, is the extent."""

    place: Place
    poly: Poly
    solves: Sym | None = None
    factor: Poly = ONE
    rest: Poly | None = None


@lru_cache(maxsize=1000)
def plan(fn: ir.Function) -> tuple[Step, ...]:
    """The steps for a function, definitions before what uses them."""
    known: set[Any] = {sym for sym, t in fn.params if isinstance(t, Index) or _is_i64(t)}
    wanted = set(fn.sizes)
    places: list[tuple[Place, Poly]] = []
    for k, (_, t) in enumerate(fn.params):
        for leaf, (_, leaf_type) in enumerate(flatten(t)):
            sizes, _ = shape_of(leaf_type)
            places += [(Place(k, leaf, axis), size) for axis, size in enumerate(sizes)]
    steps: list[Step] = []
    pending = list(places)
    progress = True
    while progress:
        progress = False
        ordered = sorted(pending, key=lambda item: _difficulty(item[1], wanted))
        for how in (_by_number, _by_size, _by_growth):
            found = next((step for place, size in ordered if (step := how(place, size, wanted, known)) is not None), None)
            if found is not None:
                steps.append(found)
                known.add(found.solves)
                pending.remove((found.place, found.poly))
                progress = True
                break
    unbound = wanted - known
    if unbound:
        name = sorted(sym.name for sym in unbound)[0]
        fail("E0308", fn.span, name=name, where=fn.name)
    steps += [Step(place, size) for place, size in pending]
    return tuple(steps)


def _unknown(size: Poly, wanted: set[Sym], known: set[Any]) -> Sym | None:
    """The only unknown of a size."""
    unknown = [leaf for leaf in size.leaves() if isinstance(leaf, Sym) and leaf in wanted and leaf not in known]
    return unknown[0] if len(unknown) == 1 else None


def _by_number(place: Place, size: Poly, wanted: set[Sym], known: set[Any]) -> Step | None:
    """2*n + m with m known."""
    step = _by_size(place, size, wanted, known)
    return step if step is not None and step.factor.const() is not None else None


def _by_size(place: Place, size: Poly, wanted: set[Sym], known: set[Any]) -> Step | None:
    """n*m with m known; where m is 0 nothing determines n."""
    sym = _unknown(size, wanted, known)
    factor = size.slope(sym) if sym is not None else None
    if sym is None or factor is None or not factor.terms or sym in (rest := size - poly(sym) * factor).leaves():
        return None
    return Step(place, size, sym, factor, rest)


def _by_growth(place: Place, size: Poly, wanted: set[Sym], known: set[Any]) -> Step | None:
    """n*n: strictly larger for larger n."""
    sym = _unknown(size, wanted, known)
    if sym is None:
        return None
    terms = {mono: coef for mono, coef in size.terms.items() if any(sym in atom.leaves() for atom in mono)}
    if any(coef < 0 or any(atom not in wanted for atom in mono) for mono, coef in terms.items()):
        return None
    return Step(place, size, sym) if any(all(atom is sym for atom in mono) for mono in terms) else None


def _is_i64(t: Type) -> bool:
    return getattr(getattr(t, "dtype", None), "name", "") == "i64"


def _difficulty(size: Poly, wanted: set[Sym]) -> tuple[int, int]:
    sym = size.single()
    return (0 if sym in wanted else 1, len(size.terms))


def bind_call(fn: ir.Function, args: tuple[Any, ...]) -> dict[Sym, int]:
    """The sizes of these argument values, checked, also that indices lie in range."""
    env = bind_shapes(fn, args)
    for (sym, t), (k, arg) in zip(fn.params, enumerate(args), strict=True):
        check_index(fn, sym, t, arg, k, env)
    return {sym: env[sym] for sym in fn.sizes}


def bind_shapes(fn: ir.Function, args: tuple[Any, ...]) -> dict[Any, int]:
    """The sizes of these argument values, checked, and the integers among them; no element of an array is looked at."""
    env: dict[Any, int] = {}
    for (sym, t), arg in zip(fn.params, args, strict=True):
        if isinstance(t, Index) or _is_i64(t):
            env[sym] = int(arg)
    defined: dict[Sym, Step] = {}
    for step in plan(fn):
        extent = _extent(args, step.place)
        if step.solves is not None and step.rest is None:
            env[step.solves] = _below(step, extent, env)
            if step.poly.evaluate(env) != extent:
                _no_solution(fn, step, extent, env)
            defined[step.solves] = step
        elif step.solves is not None:
            assert step.rest is not None
            numerator, factor = extent - step.rest.evaluate(env), step.factor.evaluate(env)
            if factor == 0:
                zero = " and ".join(f"{leaf} is {env[leaf]}" for leaf in step.factor.leaves())
                _misfit(fn, f"no argument determines the size {step.solves.name} when {zero}")
            if numerator % factor:
                _no_solution(fn, step, extent, env)
            env[step.solves] = numerator // factor
            defined[step.solves] = step
        elif step.poly.evaluate(env) != extent:
            _conflict(fn, step, extent, env, defined)
    for size, step in defined.items():
        if env[size] < 0:
            _negative(fn, step, _extent(args, step.place), env)
        if env[size] >= MOST_SIZE:
            fail("E0612", name=fn.name, size=size.name, value=env[size])
    return env


def _below(step: Step, extent: int, env: dict[Any, int]) -> int:
    """The largest number >= 0 at which a growing size is not more than the extent (0 if there is none)."""
    assert step.solves is not None
    low, high = 0, max(extent, 0)
    while low < high:
        middle = (low + high + 1) // 2
        if step.poly.evaluate({**env, step.solves: middle}) <= extent:
            low = middle
        else:
            high = middle - 1
    return low


def check_index(fn: ir.Function, sym: Sym, t: Type, arg: Any, k: int, env: dict[Any, int]) -> None:
    """Arguments declared idx[n] lie in range."""
    for (path, leaf_type), leaf in zip(flatten(t), v.leaves(arg), strict=True):
        _, elem = shape_of(leaf_type)
        if isinstance(elem, Index) and np.size(leaf):
            n = elem.size.evaluate(env)
            low, high = int(np.min(leaf)), int(np.max(leaf))
            if low < 0 or high >= n:
                fail("E0604", name=fn.name, arg=sym.name + part_text(t, path), value=low if low < 0 else high, size=n, shown=repr(elem))


def _extent(args: tuple[Any, ...], place: Place) -> int:
    return int(v.leaves(args[place.param])[place.leaf].shape[place.axis])


def axis_words(fn: ir.Function, place: Place) -> str:
    """`argument a (axis 1)`"""
    return f"argument {_part(fn, place)} (axis {place.axis})"


def _part(fn: ir.Function, place: Place) -> str:
    """`a`, `pair[1]`, `particles.mass`"""
    sym, t = fn.params[place.param]
    path, _ = flatten(t)[place.leaf]
    return sym.name + part_text(t, path)


def _conflict(fn: ir.Function, step: Step, extent: int, env: dict[Any, int], defined: dict[Sym, Step]) -> None:
    """The same size measured twice with different results."""
    sym = step.poly.single()
    if isinstance(sym, Sym) and sym in defined:
        first = defined[sym]
        if first.poly.single() is sym:
            text = f"size {sym.name} is {env[sym]} in {axis_words(fn, first.place)} but {extent} in {axis_words(fn, step.place)}"
            _misfit(fn, text)
    where = axis_words(fn, step.place)
    value = step.poly.evaluate(env)
    if step.poly.const() is not None:
        _misfit(fn, f"{where} must have size {value}, not {extent}")
    known = ", ".join(f"{leaf} is {env[leaf]}" for leaf in step.poly.leaves())
    _misfit(fn, f"{where} is {extent}, but {step.poly} is {value} ({known})")


def _no_solution(fn: ir.Function, step: Step, extent: int, env: dict[Any, int]) -> None:
    assert step.solves is not None
    below = _below(step, extent, env) if step.rest is None else (extent - step.rest.evaluate(env)) // step.factor.evaluate(env)
    near = [step.poly.evaluate({**env, step.solves: k}) for k in (below, below + 1)]
    where = f"{_part(fn, step.place)} axis {step.place.axis}"
    _misfit(fn, f"{where} is {extent}, but {step.poly} is {min(near)} or {max(near)}")


def _negative(fn: ir.Function, step: Step, extent: int, env: dict[Any, int]) -> None:
    """An axis that is shorter, or longer, than any size >= 0 makes it."""
    assert step.solves is not None
    least = step.poly.evaluate({**env, step.solves: 0})
    bound = f"at least {least}" if extent < least else f"at most {least}"
    known = ", ".join(f"{leaf} is {env[leaf]}" for leaf in step.poly.leaves() if leaf is not step.solves)
    where = axis_words(fn, step.place)
    _misfit(fn, f"{where} is {extent}, but {step.poly} is {bound}{f' ({known})' if known else ''}")


def _misfit(fn: ir.Function, text: str) -> NoReturn:
    """Sizes that do not fit, with the types that say how they should."""
    fail("E0601", name=fn.name, text=text, help=f"pass arrays whose sizes fit {fn.name}({', '.join(f'{sym.name}: {t!r}' for sym, t in fn.params)})")


__all__ = ["Array", "Place", "Step", "bind_call", "plan"]
