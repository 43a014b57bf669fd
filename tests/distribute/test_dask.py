"""Dask arrays in, Dask arrays out, with the synchronous scheduler: any chunking, tuples, numbers, names, errors. Clusters are in test_cluster.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.distribute import programs as p

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _here() -> Any:
    with dask.config.set(scheduler="sync"):
        yield


U = np.random.default_rng(3).standard_normal((257, 131))


@pytest.mark.parametrize("chunks", [(64, -1), ((3, 1, 200, 53), (100, 31)), (5, 7)])
def test_any_chunking(chunks: Any) -> None:
    """Unequal, smaller than the halo, on both axes."""
    lazy = p.heat_twice.distribute(da.from_array(U, chunks=chunks), parts=4)
    assert lazy.shape == U.shape and lazy.dtype == U.dtype and len(lazy.chunks[0]) == 4
    assert p.same(lazy.compute(), p.heat_twice(U))


@pytest.mark.parametrize("name", ["heat", "conv", "vorticity", "sliced", "volume", "flip"])
@pytest.mark.parametrize("parts", [{"n": 3, "m": 4}, {"m": 5}, {"n": 2, "m": 3, "k": 2}])
def test_several_axes_at_once(name: str, parts: dict[str, int]) -> None:
    f, args = next((f, args) for _, f, args in p.make() if f.name == name)
    if "k" in parts and name != "volume":
        pytest.skip("it has two axes")
    lazy = f.distribute(*(da.from_array(a, chunks=tuple(-(-n // 3) for n in a.shape)) for a in args), parts=parts)
    assert lazy.numblocks[:2] == (parts.get("n", 1), parts["m"]) and lazy.npartitions == np.prod(list(parts.values()))
    assert p.same(lazy.compute(), f(*args))


def test_chunks_on_two_axes_are_tiles() -> None:
    """Each task takes its chunk and the halo around it, not the rows it lies in. The one size that is cut may be the second."""
    u = da.zeros((3000, 2000), chunks=(1000, 500))
    plan = p.heat.plan_distribution(u)
    assert len(plan.graph.tasks) == 12 and plan.bytes_moved < 1.01 * u.nbytes
    assert "n and m cut in 12" in str(plan) and "axis 0, halo 1 before and 1 after; axis 1, halo 1 before and 1 after" in str(plan)
    columns = p.heat.plan_distribution(u, over="m")
    assert ": m cut in 12" in str(columns) and columns.bytes_moved < 1.02 * u.nbytes
    with pytest.raises(at.Error, match="it has no such size"):
        p.heat.plan_distribution(u, parts={"z": 2})
    with pytest.raises(at.Error, match="a number of parts"):
        p.heat.plan_distribution(u, parts={"n": 0})


def test_halos_in_symbols() -> None:
    assert "halo 0 before and k (29) after" in str(p.conv.plan_distribution(da.zeros((4000, 300), chunks=(1000, -1)), np.ones(30), parts=4))


def test_nothing_runs_before_it_is_asked_for() -> None:
    asked: list[int] = []

    def block(k: int) -> Any:
        asked.append(k)
        return U[k * 64 : k * 64 + 64]

    x = da.concatenate([da.from_delayed(dask.delayed(block)(k), (64, 131), dtype=float) for k in range(4)])
    lazy = p.heat.distribute(x, parts=4)
    assert asked == []
    assert p.same(lazy[:60].compute(), p.heat(U[:256])[:60])
    assert 3 not in asked, "blocks that are not needed are not read"


def test_numbers_tuples_and_keywords() -> None:
    x = np.arange(100_000.0)
    lazy = p.scaled.distribute(da.from_array(x, chunks=9999), a=2.5, s=3)
    assert p.same(lazy.compute(), p.scaled(x, 2.5, 3))
    least, greatest, *_ = p.extremes.distribute(da.from_array(x, chunks=9999), parts=3)
    assert least.shape == () and p.same(least.compute(), p.extremes(x)[0]) and p.same(greatest.compute(), p.extremes(x)[1])


def test_what_a_plan_says() -> None:
    plan = p.heat_twice.plan_distribution(da.from_array(U, chunks=(64, -1)), parts=4)
    assert plan.halos["u"] == (2, 2)
    assert len(plan.phases) == 1 and "n cut in 4" in str(plan) and "halo 2 before and 2 after" in str(plan)
    assert 0 < plan.bytes_per_worker < 4 * U.nbytes
    normal = p.normal.plan_distribution(da.from_array(np.ones(200_003), chunks=10_000), parts=5)
    assert len(normal.phases) == 3, "a mean, a variance, and what is made of both"


def test_errors_of_workers_are_ours() -> None:
    x, bad = np.ones(10), np.array([0, 99])
    lazy = p.lookup.distribute(da.from_array(x, chunks=5), da.from_array(bad, chunks=1))
    with pytest.raises(at.RunError, match="99"):
        lazy.compute()
    with pytest.raises(at.TypeError, match="f32"):
        p.heat.distribute(da.from_array(U.astype(np.float32)))


@pytest.mark.parametrize("name", ["expectation", "places", "counted", "sorted_rows"])
def test_arguments_and_what_tasks_made_stay_in_their_places(name: str) -> None:
    """Boxes of arguments beside those that tasks made; values that loops change; rows that are sorted in one place since they are few."""
    f, args = next((f, args) for _, f, args in p.make() if f.name == name)
    lazy = f.distribute(*(da.from_array(a, chunks=(-(-len(a) // 3), *[-1] * (a.ndim - 1))) if isinstance(a, np.ndarray) and a.size > 99 else a for a in args))
    got, want = dask.compute(lazy)[0], f(*args)
    assert all(p.same(a, b) for a, b in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,)))


def test_more_axes_lift() -> None:
    x = np.random.default_rng(0).standard_normal((6, 40, 30))
    assert p.same(p.heat.distribute(da.from_array(x, chunks=(2, -1, -1)), parts=3).compute(), p.heat(x))


def test_names_of_xarray() -> None:
    xr = pytest.importorskip("xarray")
    x = xr.DataArray(da.from_array(U, chunks=(64, -1)), dims=("time", "place"), coords={"time": np.arange(257) * 2.0, "place": np.arange(131)})
    out = p.heat.distribute(x, parts=2)
    assert out.dims == ("time", "place") and float(out.coords["time"][3]) == 6.0 and p.same(out.values, p.heat(U))
    spun = p.vorticity.distribute(x, x, over="time", parts=2)
    assert spun.dims == ("time", "place") and not spun.coords and spun.shape == (255, 129)
    assert p.columns.distribute(x, parts=2).dims == ("place",)
