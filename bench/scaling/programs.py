"""Five programs that outgrow a machine: a stencil of two arrays, means of squares, heat steps, a step of k-means, the gradient of a logistic loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import atoll as at
from atoll import f64

n, m, k = at.sizes("n m k")


@at.fn
def vorticity(u: f64[n, m], v: f64[n, m]) -> f64[n - 2, m - 2]:
    return [[0.5 * (v[i + 1, j + 2] - v[i + 1, j] - u[i + 2, j + 1] + u[i, j + 1]) for j in range(m - 2)] for i in range(n - 2)]


@at.fn
def quadratic_means(u: f64[n, m], v: f64[n, m]) -> (f64[m], f64[m], f64[m]):
    columns = lambda a, b: [sum(a[i, j] * b[i, j] for i in range(n)) / n for j in range(m)]
    return columns(u, u), columns(v, v), columns(u, v)


@at.fn
def heat(u: f64[n, m]) -> f64[n, m]:
    return [
        [u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]) if 0 < i and i < n - 1 and 0 < j and j < m - 1 else u[i, j] for j in range(m)]
        for i in range(n)
    ]


@at.fn
def cost(points: f64[n, m], centers: f64[k, m]) -> f64:
    return sum(min(sum((a - b) * (a - b) for a, b in zip(p, c)) for c in centers) for p in points)


@at.fn
def loss(w: f64[m], x: f64[n, m], y: f64[n]) -> f64:
    return sum(log(1.0 + exp(-y[i] * sum(x[i, j] * w[j] for j in range(m)))) for i in range(n)) / n


kmeans = at.grad(cost, wrt="centers")
logistic = at.grad(loss)


@dataclass(frozen=True)
class Program:
    """`arrays` makes the arguments for a number of rows; those of `cut` are Dask arrays. `dask` and `numpy` compute the same of them."""

    name: str
    atoll: Any
    arrays: Callable[[int], tuple[Any, ...]]
    cut: tuple[bool, ...]
    dask: Callable[..., Any]
    numpy: Callable[..., Any]
    xarray: Callable[..., Any] | None = None  # of DataArrays with the dimensions y and x


def _random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def _vorticity(u: Any, v: Any) -> Any:
    return 0.5 * (v[1:-1, 2:] - v[1:-1, :-2] - u[2:, 1:-1] + u[:-2, 1:-1])


def _vorticity_in_xarray(u: Any, v: Any) -> Any:
    def at(a: Any, y: int, x: int) -> Any:
        return a.isel(y=slice(y, a.sizes["y"] - 2 + y), x=slice(x, a.sizes["x"] - 2 + x))

    return 0.5 * (at(v, 1, 2) - at(v, 1, 0) - at(u, 2, 1) + at(u, 0, 1))


def _means_in_xarray(u: Any, v: Any) -> Any:
    return (u * u).mean("y"), (v * v).mean("y"), (u * v).mean("y")


def _heat_in_xarray(u: Any) -> Any:
    inner = 0.1 * (u.shift(y=1) + u.shift(y=-1) + u.shift(x=1) + u.shift(x=-1) - 4.0 * u)  # NaN along the edges
    return u + inner.fillna(0.0)


def _means(u: Any, v: Any) -> Any:
    return (u * u).mean(0), (v * v).mean(0), (u * v).mean(0)


def _heat(u: Any) -> Any:
    out = u.copy()
    out[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1])
    return out


def _heat_on_dask(u: Any) -> Any:
    import dask.array as da

    def block(b: Any) -> Any:  # the edges of the whole stay: outside they are filled with what cannot be mistaken
        out = b.copy()
        inner = 0.1 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] - 4.0 * b[1:-1, 1:-1])
        out[1:-1, 1:-1] = np.where(np.isnan(inner), b[1:-1, 1:-1], b[1:-1, 1:-1] + inner)
        return out

    return da.map_overlap(block, u, depth=1, boundary=np.nan, dtype=u.dtype)


def _kmeans(points: Any, centers: Any) -> Any:
    distances = ((points[:, None, :] - centers[None]) ** 2).sum(2)
    nearest = distances.argmin(1)[:, None] == np.arange(len(centers))[None]
    return 2.0 * (nearest.sum(0)[:, None] * centers - nearest.T.astype("f8") @ points)


def _logistic(w: Any, x: Any, y: Any) -> Any:
    margin = -y * (x @ w)
    return (x * (-y / (1.0 + np.exp(-margin)))[:, None]).sum(0) / len(y)


PROGRAMS = (
    Program("vorticity", vorticity, lambda rows: (_random(rows, 500), _random(rows, 500, seed=1)), (True, True), _vorticity, _vorticity, _vorticity_in_xarray),
    Program("quadratic means", quadratic_means, lambda rows: (_random(rows, 500), _random(rows, 500, seed=1)), (True, True), _means, _means, _means_in_xarray),
    Program("heat", heat, lambda rows: (_random(rows, 500),), (True,), _heat_on_dask, _heat, _heat_in_xarray),
    Program("k-means", kmeans, lambda rows: (_random(rows * 4, 16), _random(8, 16, seed=1)), (True, False), _kmeans, _kmeans),
    Program("logistic gradient", logistic, lambda rows: (_random(64), _random(rows * 4, 64, seed=1), np.sign(_random(rows * 4, seed=2))), (False, True, True), _logistic, _logistic),
)
