"""Calls from Python lift by the ranks of their arguments, as a call in a body does (docs/reference.md section 10).

With `dot(u: f64[n], v: f64[n])` and a matrix A, `dot(A, x)` is the function `def dot(u, v): return dot(u, v)` whose `u` has an axis more:
the elaborator inserts the same `map` and `rep` as for the call `dot(A, x)` in a body. There is one such function for each combination of
ranks, made when it is first called for and remembered by the function it lifts. Calls that need no lifting never come here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.ad.api import make
from atoll.ad.asking import function_of
from atoll.elaborate.signature import ParamInfo
from atoll.errors import NOWHERE, Error, fail
from atoll.errors.caller import caller
from atoll.errors.plain import plain
from atoll.runtime.arguments import Donated, convert, from_python
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.declare import size_symbol
from atoll.types.types import Fn, Index, Record, Scalar, Tuple, Type, array, rank, shape_of, subst_sizes, with_components

if TYPE_CHECKING:
    from atoll.function import Function

Axes = int | None | tuple[int | None, ...]


def lifted(f: Function, args: tuple[Any, ...]) -> Function | None:
    """The function to call with these arguments in the place of f; None where f itself is meant, or nothing fits."""
    params = f.core.params
    extra = [_excess(t, arg) for (_, t), arg in zip(params, args, strict=True)]
    if not any(extra):
        return None
    for (sym, t), arg, n in zip(params, args, extra, strict=True):
        if n is None:  # what is no array at all is told before ranks are
            convert(f.name, sym.name, t, arg)
            return None

    key = ("lifted", *extra)
    known = f._derived.get(key)
    if known is not None:
        return known
    own, sizes = declared(f)
    taken = {sym.name for sym in sizes} | {p.name for p in own}
    depth = max(n for n in extra if n is not None)
    levels = tuple(Sym(fresh("batch" if k == 0 else f"batch{k + 1}", taken)) for k in range(max(depth, 0)))  # innermost first
    changed = tuple(_with_axes(p, n or 0, levels) for p, n in zip(own, extra, strict=True))
    names = ", ".join(p.name for p in own)
    try:
        made = make(f, key, f.name, changed, lambda g: f"{g}({names})", sizes=(*levels, *sizes))
        _ = made.core
    except Error:
        f._derived.pop(key, None)
        return None  # what does not fit is told of the arguments
    from_python(made.core, args)  # a wrong dtype is told before anything is compiled
    return made


# -- vmap


@plain
def vmap(f: Any, in_axes: Axes = 0, out_axes: Axes = 0) -> Function:
    """f applied along one axis of its arguments: a function of arrays with that axis, whose results have it too.

    in_axes is the axis, for all arguments or a tuple of one for each, None for an argument that is the same for all; out_axes is where the
    axis goes in the result, or in each part of a tuple. The parts of a record or a tuple are mapped alike."""
    fn = function_of(f, "vmap")
    if fn.signature.is_generic:
        fail("E0609", fn.surface.span, name=fn.name)
    own, sizes = declared(fn)
    chosen, places = _checked(in_axes, "in_axes"), _checked(out_axes, "out_axes")
    axes = chosen if isinstance(chosen, tuple) else (chosen,) * len(own)
    if any(isinstance(axis, tuple) for axis in axes):
        fail("E1030", caller(), what="in_axes")
    if len(axes) != len(own):
        what = f"in_axes has {len(axes)} axes for {len(own)} arguments of {fn.name}"
        fail("E1031", caller(), what=what, help="give one axis, or None, for each argument")
    batch = Sym(fresh("batch", {sym.name for sym in sizes} | {p.name for p in own}))
    params = tuple(ParamInfo(p.name, p.type if a is None else _mapped(p.type, a, batch), None, False, NOWHERE) for p, a in zip(own, axes, strict=True))
    if all(a is None for a in axes):
        fail("E1031", caller(), what="no argument is mapped over", help="in_axes must name an axis of at least one argument")
    names = ", ".join(p.name for p in own)
    text = lambda g, op: f"{op}({g}, in_axes={chosen!r}, out_axes={places!r})({names})"  # noqa: E731
    made = make(fn, ("vmap", chosen, places), f"vmap_{fn.name}", params, text, vmap, sizes=(batch, *sizes))
    made.recipe = vmap, (f, chosen, places)
    return made


def _checked(axes: Any, what: str) -> Any:
    if isinstance(axes, (tuple, list)):
        return tuple(_checked(axis, what) for axis in axes)
    if axes is None or (isinstance(axes, (int, np.integer)) and not isinstance(axes, bool)):
        return None if axes is None else int(axes)
    fail("E1030", caller(), what=what)


def _mapped(t: Type, axis: int, batch: Sym) -> Type:
    """A type with one axis more, at this place of every part."""
    sizes, elem = shape_of(t)
    if axis == 0:
        return array(t, (batch,))
    if isinstance(elem, (Tuple, Record)) and not sizes:
        return with_components(elem, [_mapped(item, axis, batch) for item in elem.items])
    place = axis + len(sizes) + 1 if axis < 0 else axis
    if not 0 <= place <= len(sizes):
        what = f"there is no axis {axis} in {t!r} with an axis more"
        fail("E1031", caller(), what=what, help=f"choose among 0 to {len(sizes)}; None for an argument that is the same for all")
    return array(elem, (*sizes[:place], batch, *sizes[place:]))


# -- parameters


def declared(f: Function) -> tuple[tuple[ParamInfo, ...], tuple[Sym, ...]]:
    """The parameters of a function, none of them given away and without defaults, and the sizes in their types; `_` as it was inferred."""
    signature = f.signature
    types: list[Type] = [p.type for p in signature.params]
    sizes = signature.sizes
    if signature.blanks:
        core = f.core
        names: dict[Atom, Poly] = {sym: poly(size_symbol(sym.name)) for sym, _ in core.params}
        types, sizes = [subst_sizes(t, names) for _, t in core.params], core.sizes
    return tuple(ParamInfo(p.name, t, None, False, p.span) for p, t in zip(signature.params, types, strict=True)), sizes


def fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _with_axes(p: ParamInfo, extra: int, levels: tuple[Sym, ...]) -> ParamInfo:
    """The parameter with the innermost levels around it, or without its outermost axes."""
    sizes, elem = shape_of(p.type)
    inner = array(p.type, levels[extra - 1 :: -1]) if extra > 0 else array(elem, sizes[-extra:])
    return ParamInfo(p.name, inner, None, False, NOWHERE)


def _excess(t: Type, arg: Any) -> int | None:
    """How many axes more than its parameter an argument has (fewer: negative); None where that is not a number."""
    if isinstance(arg, Donated):
        arg = arg.value
    _, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        found = {_excess(item, part) for item, part in zip(elem.items, _parts(elem, arg), strict=False)}
        more = found.pop() if len(found) == 1 else None if found else 0
        return None if more is None or more - rank(t) < 0 else more - rank(t)
    if not isinstance(elem, (Scalar, Index)):
        return None if isinstance(elem, Fn) else 0
    axes = _axes(arg)
    return None if axes is None else axes - rank(t)


def _parts(elem: Tuple | Record, arg: Any) -> list[Any]:
    """The parts of an argument for a tuple or a record; something without axes for each where it is neither."""
    if isinstance(elem, Record):
        if elem.decl.cls is not None and isinstance(arg, elem.decl.cls):
            return [getattr(arg, name) for name in elem.decl.fields]
    elif isinstance(arg, (tuple, list)) and len(arg) == len(elem.items):
        return list(arg)
    return [None] * len(elem.items)


def _axes(arg: Any) -> int | None:
    """How many axes an argument has; None for what is neither a number nor an array."""
    if isinstance(arg, (np.ndarray, np.generic)):
        return arg.ndim
    if isinstance(arg, (bool, int, float, complex)):
        return 0
    shape = getattr(arg, "shape", None)
    if shape is not None and (hasattr(arg, "__array__") or hasattr(arg, "__dlpack__") or hasattr(arg, "__array_interface__")):
        try:
            return len(shape)
        except TypeError:
            return None
    try:
        return memoryview(arg).ndim
    except TypeError:
        return None



