"""`f.def_vjp(g)`, `f.def_jvp(g)`: derivatives supplied by the user, believed only after they agreed with the derivative the other way.

At a few random points <dy, jvp f x dx> is compared with <vjp f x dy, dx>, where one of them is g and the other what was supplied for that, or what
Atoll finds itself. Where f is called under a derivative, g takes the place of what Atoll would have made; there is none in a mode for which none was
supplied (E1024). `check=False` believes anything, as estimators of derivatives need it, and `f.assumptions()` says so.
"""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np

from atoll.ad.api import _forward, _reverse, make, result_type
from atoll.elaborate.signature import ParamInfo
from atoll.errors import NOWHERE, Error, Span, fail
from atoll.errors.caller import caller
from atoll.errors.misuse import kind_of
from atoll.function import Function
from atoll.making import fn
from atoll.types.types import Index, Record, Scalar, Tuple, Type, array, shape_of

_SIZES = ((3, 4, 2, 5), (1, 1, 1, 1), (4, 4, 4, 4), (7, 3, 5, 2))
_ROUNDS = 3


_HELP = {
    "def_vjp": ("a function of the arguments and the adjoint of the result", "take the arguments and the adjoint of the result, give one adjoint per argument"),
    "def_jvp": ("a function of the arguments and their tangents", "take the arguments and one tangent for each, give the tangent of the result"),
}


def define(f: Function, mode: str, g: Any, *more: Any, check: Any = True, **keywords: Any) -> Any:
    if g is None and not more and not keywords and check is False:  # @f.def_vjp(check=False)
        return lambda later: define(f, mode, later, check=False)
    one, shape = _HELP[mode]
    if more or keywords or not isinstance(check, bool):
        found = f"{1 + len(more)} functions" if more else f"{next(iter(keywords))}=" if keywords else f"check={check!r}"
        fail("E1015", caller(mode), fn=f.name, found=found, form=one, mode=mode)
    if not isinstance(g, Function) and not inspect.isfunction(g):
        fail("E1015", caller(mode), fn=f.name, found="nothing" if g is None else kind_of(g), form=one, mode=mode)
    if not f.signature.params:
        fail("E1022", caller(mode), name=mode, fn=f.name)
    rule = g if isinstance(g, Function) else fn(g)
    if f.signature.is_generic:
        fail("E0609", f.surface.span, name=f.name)
    params = tuple(ParamInfo(p.name, p.type, None, False, p.span) for p in f.signature.params)
    many = len(params) > 1
    taken = {p.name for p in params}

    def extra(name: str, t: Type) -> ParamInfo:
        while name in taken:
            name += "_"
        taken.add(name)
        return ParamInfo(name, t, None, False, NOWHERE)

    result = result_type(f, mode)
    wanted: Type
    added: tuple[ParamInfo, ...]
    if mode == "def_vjp":
        wanted, added = Tuple(tuple(p.type for p in params)) if many else params[0].type, (extra("dy", result),)
    else:
        wanted, added = result, tuple(extra(f"d{p.name}", p.type) for p in params)
    everything = (*params, *added)
    said = f"({', '.join(repr(p.type) for p in everything)}) -> {wanted!r}"
    if len(rule.signature.params) != len(everything):
        fail("E1008", rule.surface.span, fn=f.name, wanted=said, given=rule.type, help=shape)
    names = ", ".join(p.name for p in everything)
    try:
        made = make(f, (mode, id(rule)), f"{mode[4:]}_{f.name}", everything, lambda _, h: f"{h}({names})", rule, result=wanted)
        _ = made.core
    except Error:
        fail("E1008", rule.surface.span, fn=f.name, wanted=said, given=rule.type, help=shape)
    before = getattr(f, mode[4:])
    if check:
        setattr(f, mode[4:], None)
        f.refresh()
        try:
            _compare(f, made, mode, rule.surface.span)
        except Error:
            setattr(f, mode[4:], before)
            f.refresh()  # of what was derived without it
            raise
    setattr(f, mode[4:], made)
    f.believed = (*(x for x in f.believed if x != mode), *(() if check else (mode,)))
    f.refresh()
    return g


def believed(f: Function) -> list[str]:
    """For f.assumptions(): one line per derivative that was believed."""
    _ = f.core
    session = f._session
    assert session is not None
    found: dict[str, None] = {}
    for each in session.instances.values():
        for mode in each.believed:
            way = "backwards" if mode == "def_vjp" else "forwards"
            found[f"the derivative of {each.name} {way} is what {mode} says: it was not checked"] = None
    return list(found)


def _compare(f: Function, g: Function, mode: str, span: Span) -> None:
    many = len(f.signature.params) > 1
    rng = np.random.default_rng(0)
    tried = 0
    for sizes, _ in itertools.product(_SIZES, range(_ROUNDS)):
        env = {sym: sizes[k % len(sizes)] for k, sym in enumerate(f.signature.sizes)}
        args = tuple(_random(p.type, env, rng) for p in f.signature.params)
        dx = tuple(_random(p.type, env, rng, tangent=True) for p in f.signature.params)
        try:
            value = f.interpret(*args)
        except Error:
            continue  # not a point of its domain
        dy = _like(value, rng)
        tried += 1
        adjoints = g.interpret(*args, dy) if mode == "def_vjp" else _reverse(f, "vjp").interpret(*args, dy)
        tangent = g.interpret(*args, *dx) if mode == "def_jvp" else _forward(f, "jvp").interpret(*args, *dx)
        forward, reverse = _dot(dy, tangent), _dot(adjoints if many or mode == "def_jvp" else (adjoints,), dx)
        given, real = (reverse, forward) if mode == "def_vjp" else (forward, reverse)
        scale = max(abs(forward), abs(reverse), 1e-3)
        if not abs(forward - reverse) <= (1e-2 if _single(value) else 1e-6) * scale:
            fail("E1007", span, fn=f.name, problem=f"in a random direction it gives {given:.6g}, the derivative is {real:.6g}")
    if not tried:
        fail("E1007", span, fn=f.name, problem="it could not be checked, since no random argument was accepted")


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

