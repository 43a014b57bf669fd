"""Functions of Atoll as functions of PyTorch and of JAX, with their derivatives: at.torch(f) and at.jax(f).

Both libraries are looked for when they are asked for; Atoll does not need them. Arrays are on the host, and are not copied where they are contiguous.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.ad.api import vjp
from atoll.ad.asking import function_of
from atoll.core.binding import bind_call
from atoll.errors import fail
from atoll.errors.caller import caller
from atoll.types.types import Index, Scalar, Tuple, Type, shape_of

if TYPE_CHECKING:
    from atoll.function import Function


def torch(f: Any) -> Callable[..., Any]:
    """f as a function of tensors that torch differentiates: its backward is Atoll's own reverse derivative (once)."""
    library = _library("torch")
    fn = _of_arrays(f, "torch")

    class Call(library.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            ctx.given = tuple(a.detach().numpy() if isinstance(a, library.Tensor) else a for a in args)
            ctx.tensors = [isinstance(a, library.Tensor) for a in args]
            result = fn(*ctx.given)
            made = tuple(map(_tensor, result)) if isinstance(result, tuple) else _tensor(result)
            ctx.many = isinstance(result, tuple)
            return made

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            _, results = _floats(fn)
            seeds = tuple(_seed(t, g) for t, g in zip(results, grads, strict=True))
            adjoints = vjp(fn, ctx.given, seeds if ctx.many else seeds[0])
            floats, _ = _floats(fn)
            return tuple(_tensor(d) if there and real else None for d, there, real in zip(adjoints, ctx.tensors, floats, strict=True))

    def _tensor(x: Any) -> Any:
        return library.as_tensor(np.asarray(x))

    def call(*args: Any) -> Any:
        if len(args) != len(fn.signature.params):
            fail("E0605", fn=fn.name, text=f"takes {len(fn.signature.params)} arguments, not {len(args)}", call=fn.type)
        return Call.apply(*args)

    call.__name__ = call.__qualname__ = fn.name
    call.__doc__ = fn.__doc__
    return call


def jax(f: Any) -> Callable[..., Any]:
    """f as a function of JAX: jit, grad and vjp know it, by a call back to the host. Sizes come from the shapes of its arguments."""
    library = _library("jax")
    fn = _of_arrays(f, "jax")
    if {repr(leaf) for size in _result_sizes(fn) for leaf in size.leaves()} & {p.name for p in fn.signature.params}:
        fail("E0610", caller(), name="at.jax", text=f"the shape of the result of {fn.name} depends on a number, which JAX does not have while it traces", help="pass an array of that size, or call it outside of JAX")

    def shapes(args: tuple[Any, ...]) -> Any:
        core = fn.core
        arrays = tuple(np.broadcast_to(np.zeros((), a.dtype), a.shape) if np.ndim(a) else a.dtype.type(0) for a in args)
        env: dict[Any, int] = dict(bind_call(core, arrays))
        made = [library.ShapeDtypeStruct(tuple(int(n.evaluate(lambda atom: env[atom])) for n in shape_of(t)[0]), _dtype(t)) for t in _parts(core.result)]
        return tuple(made) if isinstance(core.result, Tuple) else made[0]

    def forward(*args: Any) -> Any:
        given = tuple(library.numpy.asarray(a) for a in args)
        return library.pure_callback(lambda *xs: _arrays(fn(*map(_array, xs))), shapes(given), *given, vmap_method="sequential")

    wrapped = library.custom_vjp(forward)

    def ahead(*args: Any) -> Any:
        return forward(*args), args

    def back(args: Any, seed: Any) -> Any:
        floats, results = _floats(fn)
        given = tuple(library.numpy.asarray(a) for a in args)

        def host(*values: Any) -> Any:
            xs, dys = values[: len(given)], values[len(given) :]
            seeds = tuple(_seed(t, d) for t, d in zip(results, dys, strict=True))
            found = vjp(fn, tuple(map(_array, xs)), seeds if isinstance(fn.core.result, Tuple) else seeds[0])
            return tuple(np.asarray(d) for d, real in zip(found, floats, strict=True) if real)

        wanted = tuple(library.ShapeDtypeStruct(a.shape, a.dtype) for a, real in zip(given, floats, strict=True) if real)
        seeds = seed if isinstance(seed, tuple) else (seed,)
        seeds = tuple(d if real else np.zeros(d.shape, np.float32) for d, real in zip(seeds, (_is_float(t) for t in results), strict=True))
        found = iter(library.pure_callback(host, wanted, *given, *seeds, vmap_method="sequential"))
        return tuple(next(found) if real else np.zeros(a.shape, library.dtypes.float0) for a, real in zip(given, floats, strict=True))

    wrapped.defvjp(ahead, back)
    return wrapped  # type: ignore[no-any-return]


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        fail("E0610", caller(), name=f"at.{name}", text=f"{name} is not installed", help=f"pip install {name}")


def _of_arrays(f: Any, what: str) -> Function:
    """A function of arrays and numbers whose results are such, or a tuple of them."""
    fn = function_of(f, what)
    if fn.signature.is_generic:
        fail("E0609", fn.surface.span, name=fn.name)
    for _, t in (*fn.core.params, *(("", part) for part in _parts(fn.core.result))):
        if not isinstance(shape_of(t)[1], (Scalar, Index)):
            fail("E0610", caller(), name=f"at.{what}", text=f"{fn.name} has a parameter or result of type {t!r}, which is no array", help="wrap a function of arrays and numbers, which may return a tuple of them")
    return fn


def _parts(t: Type) -> list[Type]:
    return list(t.items) if isinstance(t, Tuple) else [t]


def _result_sizes(fn: Function) -> list[Any]:
    return [size for t in _parts(fn.core.result) for size in shape_of(t)[0]]


def _is_float(t: Type) -> bool:
    elem = shape_of(t)[1]
    return isinstance(elem, Scalar) and elem.dtype.is_float


def _floats(fn: Function) -> tuple[list[bool], list[Type]]:
    """Which parameters are differentiated, and the types of the results."""
    return [_is_float(t) for _, t in fn.core.params], _parts(fn.core.result)


def _dtype(t: Type) -> Any:
    elem = shape_of(t)[1]
    assert isinstance(elem, (Scalar, Index))
    return elem.dtype.numpy


def _seed(t: Type, given: Any) -> Any:
    """The adjoint of a result in its own type; integers have 0."""
    value = np.asarray(given.detach().numpy() if hasattr(given, "detach") else given)
    value = value.astype(_dtype(t)) if _is_float(t) else np.zeros(value.shape, _dtype(t))
    return np.ascontiguousarray(value) if value.ndim else value[()]


def _array(x: Any) -> Any:
    value = np.asarray(x)
    return value if value.ndim else value[()]


def _arrays(result: Any) -> Any:
    return tuple(map(np.asarray, result)) if isinstance(result, tuple) else np.asarray(result)
