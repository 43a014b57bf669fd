"""Arrays with names: the dimensions of xarray follow the sizes of the declaration, and coordinates survive where a size does.

    def smooth(u: f64[n, m]) -> f64[n - 2, m]      u has dims (time, x): the result has dims (time, x), with the coordinates of x
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.distribute.arguments import is_xarray, leaves, library
from atoll.distribute.methods import structure
from atoll.sizes import Poly
from atoll.types.types import flatten, shape_of

if TYPE_CHECKING:
    from atoll.function import Function


def distribute(f: Function, args: tuple[Any, ...], keywords: dict[str, Any], over: str | None, parts: int | dict[str, int] | None, memory: Any) -> Any:
    """As f.distribute, with DataArrays in and out."""
    xr = library("xarray", "dask", "distribute")

    def data(x: Any) -> Any:
        return x.data if is_xarray(x) else x

    given = f._arguments(args, keywords)
    if over is not None:
        over = _size_of(f, given, over)
    lazy = f.distribute(*map(data, given), over=over, parts=parts, memory=memory)
    if len(f.core.params) != len(given):
        return lazy
    names = Names(f, leaves(f, given))
    found = [names.dress(xr, x, shape_of(t)[0]) for (_, t), x in zip(flatten(f.core.result), _flat(lazy), strict=True)]
    return structure(f.core.result, iter(found))


def _flat(x: Any) -> list[Any]:
    return [leaf for item in x for leaf in _flat(item)] if isinstance(x, tuple) else [x]


def _size_of(f: Function, given: tuple[Any, ...], over: str) -> str:
    """over= may name a dimension too."""
    for (_, t), x in zip([leaf for _, p in f.core.params for leaf in flatten(p)], leaves(f, given), strict=True):
        if is_xarray(x) and over in x.dims:
            size = shape_of(t)[0][x.dims.index(over)]
            return next((repr(leaf) for leaf in size.leaves()), over)
    return over


class Names:
    """Which dimension belongs to which size."""

    def __init__(self, f: Function, given: list[Any]) -> None:
        self.exact: dict[Poly, tuple[Any, Any]] = {}  # a size as it is written: dimension and coordinates
        self.loose: dict[Any, Any] = {}  # a size variable: dimension
        for (_, t), x in zip([leaf for _, p in f.core.params for leaf in flatten(p)], given, strict=True):
            if is_xarray(x):
                for size, dim in zip(shape_of(t)[0], x.dims, strict=True):
                    self.exact.setdefault(size, (dim, x.coords[dim].variable if dim in x.coords else None))
                    for leaf in size.leaves():
                        self.loose.setdefault(leaf, dim)

    def dress(self, xr: Any, x: Any, sizes: tuple[Poly, ...]) -> Any:
        dims: list[Any] = []
        coords: dict[Any, Any] = {}
        for axis, size in enumerate(sizes):
            dim, coord = self.exact.get(size, (None, None))
            if dim is None:
                dim = next((self.loose[leaf] for leaf in size.leaves() if leaf in self.loose), f"dim_{axis}")
            if dim in dims:
                dim, coord = f"{dim}_{axis}", None
            dims.append(dim)
            if coord is not None:
                coords[dim] = coord
        return xr.DataArray(x, dims=dims, coords=coords)
