"""`f.def_vjp(g)`: a transposed derivative supplied by the user, believed only after it agreed with the derivative itself.

At a few random points <dy, jvp f x dx> is compared with <g x dy, dx>. Where f is called under a reverse derivative, g takes the place of
what Atoll would have made; values and forward derivatives are those of f.
"""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np

from atoll.ad.api import make, result_type
from atoll.errors import NOWHERE, Error, Span, fail
from atoll.errors.caller import caller
from atoll.errors.misuse import kind_of
from atoll.function import Function, fn
from atoll.types.signature import ParamInfo
from atoll.types.types import Index, Record, Scalar, Tuple, Type, array, shape_of

_SIZES = ((3, 4, 2, 5), (1, 1, 1, 1), (4, 4, 4, 4), (7, 3, 5, 2))
_ROUNDS = 3


def define(f: Function, g: Any, *more: Any, **keywords: Any) -> Any:
    if more or keywords:
        found = f"{1 + len(more)} functions" if more else f"{next(iter(keywords))}="
        fail("E1015", caller("def_vjp"), fn=f.name, found=found)
    if not isinstance(g, Function) and not inspect.isfunction(g):
        fail("E1015", caller("def_vjp"), fn=f.name, found="nothing" if g is None else kind_of(g))
    if not f.signature.params:
        fail("E1022", caller("def_vjp"), name="def_vjp", fn=f.name)
    rule = g if isinstance(g, Function) else fn(g)
    if f.signature.is_generic:
        fail("E0609", f.surface.span, name=f.name)
    params = tuple(ParamInfo(p.name, p.type, None, False, p.span) for p in f.signature.params)
    seed = ParamInfo("dy" if all(p.name != "dy" for p in params) else "dy_", result_type(f, "def_vjp"), None, False, NOWHERE)
    many = len(params) > 1
    wanted: Type = Tuple(tuple(p.type for p in params)) if many else params[0].type
    if len(rule.signature.params) != len(params) + 1:
        fail("E1008", rule.surface.span, fn=f.name, wanted=_shape(f, seed.type, wanted), given=rule.type)
    everything = (*params, seed)
    names = ", ".join(p.name for p in everything)
    try:
        checked = make(f, ("def_vjp", id(rule)), f"vjp_{f.name}", everything, lambda _, h: f"{h}({names})", rule, result=wanted)
        _ = checked.core
    except Error:
        fail("E1008", rule.surface.span, fn=f.name, wanted=_shape(f, seed.type, wanted), given=rule.type)
    _compare(f, checked, many, rule.surface.span)
    f.vjp = checked
    f.refresh()
    f._derived = {key: made for key, made in f._derived.items() if key == ("def_vjp", id(rule))}
    return g


def _shape(f: Function, seed: Type, result: Type) -> str:
    params = ", ".join(repr(p.type) for p in f.signature.params)
    return f"({params}, {seed!r}) -> {result!r}"


def _compare(f: Function, g: Function, many: bool, span: Span) -> None:
    rng = np.random.default_rng(0)
    tried = 0
    for sizes, _ in itertools.product(_SIZES, range(_ROUNDS)):
        env = {sym: sizes[k % len(sizes)] for k, sym in enumerate(f.signature.sizes)}
        args = tuple(_random(p.type, env, rng) for p in f.signature.params)
        dx = tuple(_random(p.type, env, rng, tangent=True) for p in f.signature.params)
        try:
            point = args if many else args[0]
            value = f.interpret(*args)
        except Error:
            continue  # not a point of its domain
        dy = _like(value, rng)
        tried += 1
        forward = _dot(dy, _interpreted_jvp(f, point, dx if many else dx[0]))
        adjoints = g.interpret(*args, dy)
        reverse = _dot(adjoints if many else (adjoints,), dx)
        scale = max(abs(forward), abs(reverse), 1e-3)
        if not abs(forward - reverse) <= (1e-2 if _single(value) else 1e-6) * scale:
            fail("E1007", span, fn=f.name, problem=f"in a random direction it gives {reverse:.6g}, the derivative is {forward:.6g}")
    if not tried:
        fail("E1007", span, fn=f.name, problem="it could not be checked, since no random argument was accepted")


def _interpreted_jvp(f: Function, point: Any, dx: Any) -> Any:
    from atoll.ad.api import _forward, _Point

    p = _Point(f, point, "jvp")
    return _forward(f, "jvp").interpret(*p.values, *p.parts(dx))


def _random(t: Type, env: dict[Any, int], rng: np.random.Generator, tangent: bool = False) -> Any:
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        parts = tuple(_random(array(item, list(sizes)), env, rng, tangent) for item in elem.items)
        if isinstance(elem, Tuple):
            return parts
        assert elem.decl.cls is not None
        return elem.decl.cls(*parts)
    shape = tuple(max(int(_value(n, env)), 0) for n in sizes)
    assert isinstance(elem, (Scalar, Index))
    x: Any
    if elem.dtype.is_float:
        x = rng.normal(size=shape) if tangent else rng.uniform(0.3, 1.7, size=shape)
    else:
        x = np.zeros(shape) if tangent else rng.integers(0, 2, size=shape)
    return np.asarray(x, elem.dtype.numpy) if shape else elem.dtype.numpy.type(x)


def _value(n: Any, env: dict[Any, int]) -> int:
    found = n.subst({sym: value + n * 0 for sym, value in env.items()}).const()
    return 2 if found is None else int(found)


def _parts(value: Any) -> list[Any] | None:
    """What a tuple or a record is made of."""
    if isinstance(value, tuple):
        return list(value)
    fields = getattr(value, "__dataclass_fields__", None)
    return None if fields is None else [getattr(value, name) for name in fields]


def _like(value: Any, rng: np.random.Generator) -> Any:
    parts = _parts(value)
    if parts is not None:
        made = [_like(v, rng) for v in parts]
        return tuple(made) if isinstance(value, tuple) else type(value)(*made)
    x = np.asarray(value)
    if x.dtype.kind != "f":
        return np.zeros_like(x) if x.ndim else x.dtype.type(0)
    drawn = rng.normal(size=x.shape).astype(x.dtype)
    return drawn if x.ndim else x.dtype.type(drawn)


def _dot(a: Any, b: Any) -> float:
    parts = _parts(a)
    if parts is not None:
        return sum(_dot(x, y) for x, y in zip(parts, _parts(b) or (), strict=True))
    if np.asarray(a).dtype.kind != "f":
        return 0.0
    return float(np.sum(np.asarray(a, np.float64) * np.asarray(b, np.float64)))


def _single(value: Any) -> bool:
    parts = _parts(value)
    return np.asarray(value).dtype == np.float32 if parts is None else any(map(_single, parts))

