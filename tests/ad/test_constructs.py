"""Every construct in both modes: compiled derivatives against the interpreter's dual numbers, and against each other."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.types.types import Record, Scalar, Tuple, Type, shape_of
from tests.ad.programs import EMPTY, HEAD, PROGRAMS, SIZES
from tests.agreement import flat, same
from tests.fuzz.stages import Stages


@cache
def function(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return at.fn(source=f"{HEAD}@at.fn\n{PROGRAMS[name][0]}\n")


@cache
def derivatives(name: str) -> tuple[Any, Any]:
    from atoll.ad.api import _forward, _reverse

    return _forward(function(name), "jvp2"), _reverse(function(name), "vjp2")


def compiled(f: Any) -> Any:
    """Compiled without optimisation, which is what takes time."""
    return f.compile("0").call


def made(t: Type, env: dict[str, int], rng: np.random.Generator, kind: str) -> Any:
    """A random value of a type: an argument, a tangent or a seed."""
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        parts = tuple(made(item, env, rng, kind) for item in elem.items)
        return parts if isinstance(elem, Tuple) else elem.decl.cls(*parts)
    shape = tuple(int(eval(repr(n), {}, dict(env))) for n in sizes)  # noqa: S307
    assert isinstance(elem, Scalar)
    if elem.dtype.is_float:
        x = rng.normal(size=shape) * (0.8 if kind == "argument" else 1.0)
    else:
        x = rng.integers(0, 9, size=shape) if kind == "argument" else np.zeros(shape)
    return np.asarray(x, elem.dtype.numpy) if shape else elem.dtype.numpy.type(x)


def dot(a: Any, b: Any) -> float:
    pairs = zip(flat(a), flat(b), strict=True)
    return sum(float(np.sum(np.asarray(x, np.float64) * np.asarray(y, np.float64))) for x, y in pairs if np.asarray(x).dtype.kind == "f")


def check(name: str, env: dict[str, int], second: bool = False) -> None:
    f = function(name)
    rng = np.random.default_rng(sum(env.values()))
    params = [p.type for p in f.signature.params]
    args = tuple(made(t, env, rng, "argument") for t in params)
    tangents = tuple(made(t, env, rng, "tangent") for t in params)
    from atoll.ad.api import result_type

    seed = made(result_type(f, "test"), env, rng, "seed")
    forward, reverse = derivatives(name)
    wanted = f.interpret(*args)
    along = forward.interpret(*args, *tangents)
    same(along[0], wanted, "value of jvp2, interpreted")
    same(compiled(forward)(*args, *tangents), along, "jvp2, compiled")
    back = reverse.interpret(*args, seed)
    found = compiled(reverse)(*args, seed)
    single = "f32" in PROGRAMS[name][0]
    for x, y in zip(flat(found), flat(back), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-4 if single else 1e-9, atol=1e-4 if single else 1e-9, err_msg="vjp2, compiled")
    left, right = dot(seed, along[1]), dot(found[1], tangents)
    np.testing.assert_allclose(left, right, rtol=1e-3 if single else 1e-8, atol=1e-4 if single else 1e-10)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_modes(name: str) -> None:
    for env in SIZES:
        check(name, env)
    if PROGRAMS[name][1]:
        check(name, EMPTY)


SECOND = [name for name in PROGRAMS if name not in ("factor", "determinant", "single", "mixed", "casts", "record")]


@pytest.mark.long
@pytest.mark.parametrize("name", SECOND)
def test_second_order(name: str) -> None:
    """jvp of vjp and vjp of vjp, as loops, against the interpreter and each other."""
    f = function(name)
    from atoll.ad.api import _forward, _reverse, result_type

    env = SIZES[0]
    rng = np.random.default_rng(3)
    params = [p.type for p in f.signature.params]
    args = tuple(made(t, env, rng, "argument") for t in params)
    seed = made(result_type(f, "test"), env, rng, "seed")
    first = _reverse(f, "vjp")
    inner = [p.type for p in first.signature.params]
    tangents = tuple(made(t, env, rng, "tangent") for t in inner)
    forward = _forward(first, "jvp")
    along = forward.interpret(*args, seed, *tangents)
    same(tuple(Stages(forward).run_loops((*args, seed, *tangents), 3)), tuple(flat(along)), "jvp of vjp")
    outer = tuple(made(t, env, rng, "seed") for t in params)
    reverse = _reverse(first, "vjp")
    back = Stages(reverse).run_loops((*args, seed, outer), 3)
    np.testing.assert_allclose(dot(outer, along), dot(tuple(back), tangents), rtol=1e-7, atol=1e-9)
