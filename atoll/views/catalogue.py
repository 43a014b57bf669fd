"""The reshape operators as a table. Each row says, independently of each other:

    shape   the sizes of the result, from the sizes of the arguments' leading axes and the parameters
    pull    where element [i...] of the result comes from: pieces `(conditions, argument, index...)`, tried in order; a
            condition is a polynomial >= 0; when no piece applies the element is the fill value (the last argument)
    means   the value, on NumPy arrays

`pull` is what compiled code uses, `means` what the interpreter uses; a test holds them against each other. Names and meanings are
ATL's and MADL's (docs/sources.md) except where docs/reference.md section 8 says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.core import values as v
from atoll.sizes import Poly, cdiv, poly

Shapes = tuple[tuple[Poly, ...], ...]
Params = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Element = args[arg][index...] where every condition is >= 0."""

    conditions: tuple[Poly, ...]
    arg: int
    index: tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class ViewInfo:
    name: str
    axes: int  # leading axes of each argument that the operator touches
    shape: Callable[[Shapes, Params], tuple[Poly, ...]]
    pull: Callable[[Shapes, Params, tuple[Poly, ...]], tuple[Piece, ...]]
    means: Callable[[list[Any], tuple[Any, ...]], Any]
    fills: bool = False  # the last argument is a scalar used where no piece applies
    injective: bool = True  # no element is read twice
    surjective: bool = True  # every element is read


def _piece(*index: Poly) -> tuple[Piece, ...]:
    return (Piece((), 0, index),)


def _flatten_shape(shapes: Shapes, params: Params) -> tuple[Poly, ...]:
    n, m = shapes[0][:2]
    return (n * m,)


def _concat_pieces(shapes: Shapes, params: Params, i: tuple[Poly, ...]) -> tuple[Piece, ...]:
    pieces, start = [], poly(0)
    for arg, (n, *_) in enumerate(shapes):
        end = start + n
        last = arg == len(shapes) - 1
        pieces.append(Piece(() if last else (end - 1 - i[0],), arg, (i[0] - start,)))
        start = end
    return tuple(pieces)


def _pad_pieces(shapes: Shapes, params: Params, i: tuple[Poly, ...]) -> tuple[Piece, ...]:
    """params: one (before, after) per axis."""
    conditions: list[Poly] = []
    index = []
    for (before, _), n, k in zip(params, shapes[0], i, strict=True):
        source = k - before
        conditions += [source, n - 1 - source]
        index.append(source)
    return (Piece(tuple(conditions), 0, tuple(index)),)


def _pad_means(args: list[Any], params: tuple[Any, ...]) -> Any:
    array, fill = args
    widths = list(params) + [(0, 0)] * (array.ndim - len(params))
    return np.pad(array, widths, constant_values=fill)


def _tile_means(args: list[Any], params: tuple[Any, ...]) -> Any:
    array, fill = args
    (k,) = params
    rows = -(-array.shape[0] // k)
    padded = np.full((rows * k, *array.shape[1:]), fill, array.dtype)
    padded[: array.shape[0]] = array
    return padded.reshape(rows, k, *array.shape[1:])


def _window_means(args: list[Any], params: tuple[Any, ...]) -> Any:
    (array,), (k,) = args, params
    rows = array.shape[0] - k + 1
    return np.stack([array[i : i + k] for i in range(rows)]) if rows > 0 else np.zeros((0, k, *array.shape[1:]), array.dtype)


def _transpose_index(axes: tuple[int, ...], i: tuple[Poly, ...]) -> tuple[Poly, ...]:
    source = [poly(0)] * len(axes)
    for position, axis in enumerate(axes):
        source[axis] = i[position]
    return tuple(source)


_ROWS = [
    ViewInfo(
        "transpose",
        -1,
        lambda s, p: tuple(s[0][axis] for axis in p),
        lambda s, p, i: _piece(*_transpose_index(p, i)),
        lambda a, p: np.transpose(a[0], (*p, *range(len(p), a[0].ndim))),
    ),
    ViewInfo(
        "flatten",
        2,
        _flatten_shape,
        lambda s, p, i: _piece(i[0] // s[0][1], i[0] % s[0][1]),
        lambda a, p: a[0].reshape(a[0].shape[0] * a[0].shape[1], *a[0].shape[2:]),
    ),
    ViewInfo(
        "split",  # params: k and the quotient n / k
        1,
        lambda s, p: (p[1], p[0]),
        lambda s, p, i: _piece(i[0] * p[0] + i[1]),
        lambda a, p: a[0].reshape(p[1], p[0], *a[0].shape[1:]),
    ),
    ViewInfo(
        "tile",
        1,
        lambda s, p: (cdiv(s[0][0], p[0]), p[0]),
        lambda s, p, i: (Piece((s[0][0] - 1 - i[0] * p[0] - i[1],), 0, (i[0] * p[0] + i[1],)),),
        _tile_means,
        fills=True,
    ),
    ViewInfo(
        "concat",
        1,
        lambda s, p: (sum((n[0] for n in s), poly(0)),),
        _concat_pieces,
        lambda a, p: np.concatenate(a),
    ),
    ViewInfo(
        "pad",
        -1,
        lambda s, p: tuple(n + before + after for n, (before, after) in zip(s[0], p, strict=True)),
        _pad_pieces,
        _pad_means,
        fills=True,
    ),
    ViewInfo(
        "trunc_l",
        1,
        lambda s, p: (s[0][0] - p[0],),
        lambda s, p, i: _piece(i[0] + p[0]),
        lambda a, p: a[0][p[0] :],
        surjective=False,
    ),
    ViewInfo(
        "trunc_r",
        1,
        lambda s, p: (s[0][0] - p[0],),
        lambda s, p, i: _piece(i[0]),
        lambda a, p: a[0][: a[0].shape[0] - p[0]],
        surjective=False,
    ),
    ViewInfo(
        "window",
        1,
        lambda s, p: (s[0][0] - p[0] + 1, p[0]),
        lambda s, p, i: _piece(i[0] + i[1]),
        _window_means,
        injective=False,
    ),
    ViewInfo(
        "sample",
        1,
        lambda s, p: (cdiv(s[0][0], p[0]),),
        lambda s, p, i: _piece(i[0] * p[0]),
        lambda a, p: a[0][:: p[0]],
        surjective=False,
    ),
    ViewInfo(
        "reverse",
        1,
        lambda s, p: (s[0][0],),
        lambda s, p, i: _piece(s[0][0] - 1 - i[0]),
        lambda a, p: a[0][::-1],
    ),
    ViewInfo(
        "rotate",  # the parameter lies in 0..n: the elaborator reduces it
        1,
        lambda s, p: (s[0][0],),
        lambda s, p, i: (
            Piece((s[0][0] - 1 - i[0] - p[0],), 0, (i[0] + p[0],)),
            Piece((), 0, (i[0] + p[0] - s[0][0],)),
        ),
        lambda a, p: np.roll(a[0], -p[0], axis=0),
    ),
    ViewInfo(
        "repeat",
        0,
        lambda s, p: (p[0],),
        lambda s, p, i: _piece(),
        lambda a, p: np.broadcast_to(np.asarray(a[0]), (max(0, p[0]), *np.shape(a[0]))),
        injective=False,
    ),
]

VIEWS = {row.name: row for row in _ROWS}


def evaluate_view(op: str, params: Params, args: tuple[Any, ...], size: Callable[[Poly], int]) -> Any:
    """The value of a view on interpreter values; tuples of arrays are viewed leaf by leaf."""
    info = VIEWS[op]
    plain = _concrete(params, size)
    if info.fills:
        array, fill = args
        return v.map_leaves(lambda leaf, f: _means(info, [leaf, f], plain), array, fill)
    return v.map_leaves(lambda *parts: _means(info, list(parts), plain), *args)


def _means(info: ViewInfo, parts: list[Any], params: tuple[Any, ...]) -> Any:
    """A view moves tangents as it moves values."""
    tags = [p.tag for p in parts if isinstance(p, v.Dual)]
    if not tags:
        return info.means(parts, params)
    tag = max(tags)
    split = [(p.primal, p.tangent) if isinstance(p, v.Dual) and p.tag == tag else (p, v.zeros_like(p)) for p in parts]
    return v.Dual(tag, _means(info, [a for a, _ in split], params), _means(info, [t for _, t in split], params))


def _concrete(params: Params, size: Callable[[Poly], int]) -> tuple[Any, ...]:
    return tuple(
        size(p) if isinstance(p, Poly) else _concrete(p, size) if isinstance(p, tuple) else p for p in params
    )
