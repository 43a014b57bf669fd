"""A heat equation and a normalisation in parts: on Dask arrays, through a zarr store, and within a budget. Downloads nothing.

    python examples/distribute.py            needs: pip install 'atoll[dask]' 'atoll[zarr]'
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def heat(u: f64[n, m]) -> f64[n, m]:
    return [[u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]) if 0 < i and i < n - 1 and 0 < j and j < m - 1 else u[i, j] for j in range(m)] for i in range(n)]


@at.fn
def normalise(x: f64[n]) -> f64[n]:
    mean = sum(x) / n
    spread = sum((x - mean) * (x - mean)) / n
    return (x - mean) / sqrt(spread + 1e-5)


def main() -> None:
    u = np.random.default_rng(0).standard_normal((2000, 300))
    want = heat(u)
    print("within 1 MB:", np.array_equal(heat.within(memory="1MB")(u), want))
    try:
        import dask.array as da
    except ImportError:
        print("no Dask here: pip install 'atoll[dask]'")
    else:
        lazy = da.from_array(u, chunks=((7, 993, 1000), (100, 200)))
        print(heat.plan_distribution(lazy, parts=4))
        print("Dask:", np.array_equal(heat.distribute(lazy, parts=4).compute(scheduler="threads"), want))
        x = da.from_array(u.ravel(), chunks=50_000)
        print(normalise.plan_distribution(x, parts=4))
        print("three phases:", np.array_equal(normalise.distribute(x, parts=4).compute(scheduler="threads"), normalise(u.ravel())))
    try:
        import zarr
    except ImportError:
        print("no zarr here: pip install 'atoll[zarr]'")
        return
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "u.zarr"
        zarr.create_array(str(store), shape=u.shape, chunks=(50, 300), dtype="f8")[:] = u
        result = heat.stream(store, out=Path(folder) / "v.zarr", memory="4MB", progress=True)
        print("zarr:", np.array_equal(result[:], want))


if __name__ == "__main__":
    main()
