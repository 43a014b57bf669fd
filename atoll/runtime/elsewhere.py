"""Arrays that are not in this process's memory: Dask's, zarr's, and xarray's around them. A plain call does not gather them silently."""

from __future__ import annotations

from typing import Any

from atoll.errors import fail


def is_dask(x: Any) -> bool:
    return type(x).__module__.startswith("dask.")


def is_xarray(x: Any) -> bool:
    return type(x).__module__.startswith("xarray.")


def refuse_elsewhere(fn: str, name: str, arg: Any) -> None:
    """It would be gathered here, whatever its size."""
    if is_dask(arg) or (is_xarray(arg) and is_dask(getattr(arg, "data", None))):
        fail("E1204", fn=fn, name=name, what="a Dask array" if is_dask(arg) else "an xarray of Dask arrays")
    if type(arg).__module__.startswith("zarr."):
        fail("E1204", fn=fn, name=name, what="a zarr array")
