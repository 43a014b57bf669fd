"""What must hold of a function's derivatives, each with a name; `check` gives the first that does not.

    dual         jvp by the normal form and by loops is what the interpreter's dual numbers give
    reverse      vjp by the normal form and by loops is what the interpreter gives
    adjoint      <dy, jvp dx> = <vjp dy, dx>
    linear       jvp(2 dx - 3 ex) = 2 jvp dx - 3 jvp ex
    differences  jvp is what central differences converge to (where they do)
    second       jvp of vjp is the interpreter's; <ey, jvp (vjp)> = <vjp (vjp), dx>
    compiled     compiled jvp and vjp are the interpreter's
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import atoll as at
from atoll.ad.api import _forward, _reverse, result_type
from atoll.types.types import Index, Record, Scalar, Tuple, Type, array, shape_of
from tests.fuzz.harness import Failure, TooSlow, crash_place, time_limit
from tests.fuzz.stages import Stages, leaves

TOLERANCE = 1e-6
TIME = 20


@dataclass
class Outcome:
    refused: str = ""  # why there is nothing to check
    failure: Failure | None = None
    checks: int = 0


class _Wrong(Exception):
    def __init__(self, kind: str, stage: str, detail: str) -> None:
        super().__init__(detail)
        self.failure = Failure(kind, stage, detail, kind)


def value_of(t: Type, size: Any, rng: random.Random, kind: str) -> Any:
    """An argument, a tangent or a seed; floats lie on no grid, so that there are no coincidences."""
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        parts = [value_of(array(item, list(sizes)), size, rng, kind) for item in elem.items]
        return elem.decl.cls(*parts) if isinstance(elem, Record) else tuple(parts)
    dims = tuple(size(s) for s in sizes)
    assert isinstance(elem, Scalar) or hasattr(elem, "dtype")
    dtype = elem.dtype.numpy  # type: ignore[union-attr]
    count = int(np.prod(dims))
    if dtype.kind == "f":
        values = [rng.uniform(-1.5, 1.5) for _ in range(count)]
    elif kind != "argument":
        values = [0] * count
    else:
        most = size(elem.size) - 1 if isinstance(elem, Index) else 9
        values = [rng.random() < 0.5 if dtype.kind == "b" else rng.randint(0, max(most, 0)) for _ in range(count)]
    made = np.array(values, dtype).reshape(dims)
    return made if dims else dtype.type(made[()])


def dot(a: Any, b: Any) -> float:
    pairs = zip(leaves(a), leaves(b), strict=True)
    return float(sum(np.sum(np.asarray(x) * np.asarray(y)) for x, y in pairs if np.asarray(x).dtype.kind == "f"))


def combined(a: Any, x: float, b: Any, y: float) -> Any:
    """x a + y b in the floats, a elsewhere."""
    if isinstance(a, tuple):
        return tuple(combined(p, x, q, y) for p, q in zip(a, b, strict=True))
    if hasattr(a, "__dataclass_fields__"):
        return type(a)(*(combined(getattr(a, n), x, getattr(b, n), y) for n in a.__dataclass_fields__))
    if np.asarray(a).dtype.kind != "f":
        return a
    made = np.asarray(a) * x + np.asarray(b) * y
    return made if made.ndim else np.float64(made)


def close(a: Sequence[Any], b: Sequence[Any], tolerance: float = TOLERANCE) -> bool:
    for x, y in zip(a, b, strict=True):
        p, q = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if p.shape != q.shape or not np.allclose(p, q, rtol=tolerance, atol=tolerance, equal_nan=True):
            return False
    return True


def finite(xs: Sequence[Any]) -> bool:
    return all(np.all(np.isfinite(np.asarray(x, np.float64))) and np.all(np.abs(np.asarray(x, np.float64)) < 1e7) for x in xs)


@lru_cache(maxsize=4)
def _function(text: str) -> Any:
    """What is asked at several points is made once: the function, its derivatives, their stages."""
    return at.fn(source=text)


@lru_cache(maxsize=4)
def _along(f: Any) -> Stages:
    return Stages(_forward(f, "jvp"))


@lru_cache(maxsize=4)
def _back(f: Any) -> Stages:
    return Stages(_reverse(f, "vjp"))


def check(text: str, seed: int, sizes: dict[str, int], stages: Sequence[str] = ("ainf", "loops3")) -> Outcome:
    """Everything that must hold of one program at one point."""
    outcome = Outcome()
    stage = "front"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), time_limit(TIME):
            warnings.simplefilter("ignore")
            f = _function(text)
            _ = f.core
            try:
                _run(f, seed, sizes, stages, outcome)
            except _Wrong as wrong:
                outcome.failure = wrong.failure
    except at.Error as error:
        outcome.refused = f"{error.code}: {str(error).splitlines()[0]}"
        if isinstance(error, at.CompileError) or outcome.checks:
            outcome.failure = Failure("error", stage, str(error), error.code)
    except (TooSlow, KeyboardInterrupt):
        outcome.refused = "slow"
    except Exception as error:  # noqa: BLE001  finding those is the purpose
        import traceback

        outcome.failure = Failure("crash", stage, "".join(traceback.format_exception(error, limit=-5)), crash_place(error))
    return outcome


def points(f: Any, seed: int, sizes: dict[str, int]) -> Callable[[Sequence[Type], str], tuple[Any, ...]]:
    """What makes arguments, tangents or seeds of given types for a function at a point."""
    params = [p.type for p in f.signature.params]
    numbers = {p.name: sizes.get(p.name, 3) for p in f.signature.params if p.name.startswith("k")}
    env = {**sizes, **numbers}

    def size(p: Any) -> int:
        return int(p.evaluate(lambda atom: env[atom.name]))

    def made(types: Sequence[Type], kind: str) -> tuple[Any, ...]:
        values = []
        for k, t in enumerate(types):
            name = f.signature.params[k].name if k < len(params) else f"extra{k}"
            if kind == "argument" and name in numbers:
                values.append(np.int64(numbers[name]))
            else:
                values.append(value_of(t, size, random.Random(f"{seed}:{kind}:{name}"), kind))
        return tuple(values)

    return made


def at_a_point(f: Any, seed: int, sizes: dict[str, int], outcome: Outcome) -> tuple[Any, Any, Any] | None:
    """Arguments, a change of them, and an adjoint of the result there; None where the result is not finite."""
    made, params = points(f, seed, sizes), [p.type for p in f.signature.params]
    args, dx = made(params, "argument"), made(params, "tangent")
    value = f.interpret(*args)
    if not finite(leaves(value)):
        outcome.refused = "not finite"
        return None
    result_type(f, "the check")
    return args, dx, _like(value, random.Random(f"{seed}:seed"))


def _run(f: Any, seed: int, sizes: dict[str, int], stages: Sequence[str], outcome: Outcome) -> None:
    point = at_a_point(f, seed, sizes, outcome)
    if point is None:
        return
    args, dx, dy = point
    made, params = points(f, seed, sizes), [p.type for p in f.signature.params]
    ex = made(params, "other")
    forward, reverse = _along(f), _back(f)
    along = leaves(forward.f.interpret(*args, *dx))
    if not finite(along):
        outcome.refused = "not finite"
        return
    outcome.checks += 1
    for stage in stages:
        found = forward.runner(stage)((*args, *dx))
        if not close(found, along):
            raise _Wrong("dual", stage, f"jvp: expected\n{along}\nfound\n{found}")
    back = reverse.f.interpret(*args, dy)
    if not finite(leaves(back)):
        outcome.refused = "not finite"
        return
    for stage in stages:
        found = reverse.runner(stage)((*args, dy))
        if not close(found, leaves(back)):
            raise _Wrong("reverse", stage, f"vjp: expected\n{leaves(back)}\nfound\n{found}")
    pairs = zip(leaves(dy), along, strict=True)
    left = float(sum(np.sum(np.asarray(a) * np.asarray(b)) for a, b in pairs if np.asarray(a).dtype.kind == "f"))
    _equal("adjoint", left, dot(back, dx))
    mixed = leaves(forward.f.interpret(*args, *combined(dx, 2.0, ex, -3.0)))
    other = leaves(forward.f.interpret(*args, *ex))
    if not close(mixed, [2.0 * np.asarray(a) - 3.0 * np.asarray(b) if np.asarray(a).dtype.kind == "f" else a for a, b in zip(along, other, strict=True)]):
        raise _Wrong("linear", "interpret", f"{mixed} is not 2 {along} - 3 {other}")
    _differences(f, args, dx, along)
    if seed % 3 == 0:
        _second(f, reverse.f, args, dy, made, stages)


def _like(value: Any, rng: random.Random) -> Any:
    if isinstance(value, tuple):
        return tuple(_like(v, rng) for v in value)
    if hasattr(value, "__dataclass_fields__"):
        return type(value)(*(_like(getattr(value, n), rng) for n in value.__dataclass_fields__))
    x = np.asarray(value)
    if x.dtype.kind != "f":
        return np.zeros_like(x) if x.ndim else x.dtype.type(0)
    made = np.array([rng.uniform(-1.5, 1.5) for _ in range(x.size)], x.dtype).reshape(x.shape)
    return made if x.ndim else x.dtype.type(made[()])


def _equal(kind: str, left: float, right: float) -> None:
    if not np.isclose(left, right, rtol=TOLERANCE, atol=TOLERANCE):
        raise _Wrong(kind, "interpret", f"{left} and {right}")


def _differences(f: Any, args: tuple[Any, ...], dx: tuple[Any, ...], along: list[Any]) -> None:
    """Central differences with two steps; where they disagree there is a kink or cancellation nearby."""
    estimates = []
    for h in (1e-5, 2.5e-6):
        up, down = (leaves(f.interpret(*combined(args, 1.0, dx, s * h))) for s in (1.0, -1.0))
        if any(np.shape(a) != np.shape(b) for a, b in zip(up, down, strict=True)):
            return
        estimates.append([(np.asarray(a, np.float64) - np.asarray(b, np.float64)) / (2 * h) for a, b in zip(up, down, strict=True)])
    for coarse, fine, tangent, leaf in zip(*estimates, along, leaves(f.interpret(*args)), strict=True):
        if np.asarray(leaf).dtype.kind != "f":
            continue
        scale = 1.0 + np.abs(fine)
        steady = np.abs(coarse - fine) < 1e-5 * scale
        if np.any(steady & (np.abs(np.asarray(tangent) - fine) > 1e-3 * scale)):
            raise _Wrong("differences", "interpret", f"differences give\n{fine}\njvp is\n{tangent}")


def _second(f: Any, reverse: Any, args: tuple[Any, ...], dy: Any, made: Any, stages: Sequence[str]) -> None:
    point = (*args, dy)
    params = [p.type for p in reverse.signature.params]
    tangents = (*made(params[:-1], "second"), _like(dy, random.Random(5)))
    outer = made(params[:-1], "outer")
    forward2, reverse2 = _forward(reverse, "jvp"), _reverse(reverse, "vjp")
    along = forward2.interpret(*point, *tangents)
    if not finite(leaves(along)):
        return
    runs, runs_back = Stages(forward2), Stages(reverse2)
    for stage in stages:
        found = runs.runner(stage)((*point, *tangents))
        if not close(found, leaves(along), 1e-5):
            raise _Wrong("second", stage, f"jvp of vjp: expected\n{leaves(along)}\nfound\n{found}")
        back = runs_back.runner(stage)((*point, outer))
        left = dot(outer, along)
        right = float(sum(np.sum(np.asarray(a) * np.asarray(b)) for a, b in zip(back, leaves(tangents), strict=True) if np.asarray(a).dtype.kind == "f"))
        if not np.isclose(left, right, rtol=1e-5, atol=1e-5):
            raise _Wrong("second", stage, f"<ey, jvp of vjp> is {left}, <vjp of vjp, dx> is {right}")
