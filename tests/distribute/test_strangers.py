"""What somebody tries who has read only the contract and docs/distribution.md: the same bits for every chunking, and wrong calls that are told before any task is made."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from tests.distribute.programs import same

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

n, m, k = at.sizes("n m k")


@at.fn
def centred(x: f64[n, m], mu: f64, sigma: f64) -> f64[n, m]:
    return (x - mu) / sigma


@at.fn
def average(x: f64[n, m]) -> f64:
    return sum(sum(x)) / (n * m)


@at.fn
def softmax_rows(x: f64[n, m]) -> f64[n, m]:
    return [[exp(v - max(row)) / sum(exp(w - max(row)) for w in row) for v in row] for row in x]


@at.fn
def running(x: f64[n]) -> f64[n]:
    return cumsum(x)


@at.fn
def smoothed(x: f64[n + 4, m + 4]) -> f64[n, m]:
    return [[sum(sum(x[i + a, j + b] * (1.0 + a - b) for b in range(5)) for a in range(5)) for j in range(m)] for i in range(n)]


@at.fn
def counted(x: f64[n], w: f64[n]) -> f64[10]:
    return at.hist(lambda a, b: a + b, 0.0, 10, [i64(floor(v * 10.0)) for v in x], w)


@at.fn
def furthest(x: f64[n]) -> (i64, f64):
    return argmax(x), max(x)


@at.fn
def product(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:
    return a @ b


@at.fn
def error(w: f64[m], x: f64[n, m], y: f64[n]) -> f64:
    d = x @ w - y
    return sum(d * d) / n


@at.fn
def norm(v: f64[m]) -> f64:
    return sqrt(sum(v * v))


@at.fn
def pooled(x: i64[2 * n, 2 * m]) -> i64[n, m]:
    return [[max(max(x[2 * i, 2 * j], x[2 * i + 1, 2 * j]), max(x[2 * i, 2 * j + 1], x[2 * i + 1, 2 * j + 1])) for j in range(m)] for i in range(n)]


@at.fn
def three_means(x: f64[n, m], y: f64[n, m]) -> (f64[m], f64[m], f64[m]):
    return mean(x * x, axis=0), mean(x * y, axis=0), mean(y * y, axis=0)


R = np.random.default_rng(5)
X, Y, V = R.random((700, 60)), R.random((700, 60)), R.random(5000)
ROWS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "centred": (centred, (X, 0.5, 0.25)),
    "average": (average, (X,)),
    "softmax of rows": (softmax_rows, (X,)),
    "running sums": (running, (V,)),
    "a window of 5 by 5": (smoothed, (X,)),
    "weighted counts": (counted, (V, V + 1.0)),
    "the largest and its place": (furthest, (np.round(V, 2),)),
    "a product of f32": (product, (X.astype("f4"), Y.T.copy().astype("f4"))),
    "a gradient": (at.grad(error), (V[:60], X, V[:700])),
    "the norm of every row": (norm, (X,)),
    "pooling of integers": (pooled, ((X * 1000).astype("i8"),)),
    "three means of columns": (three_means, (X, Y)),
}
CHUNKS: dict[str, Any] = {"rows": (97, -1), "columns": (-1, 13), "tiles": (113, 29), "unequal": ((1, 2, 300, 0, 397), (59, 1)), "one": (-1, -1), "smaller than the halo": (2, 3)}


def _lazy(x: Any, chunks: Any) -> Any:
    if not isinstance(x, np.ndarray) or x.ndim == 0:
        return x
    mine = [c if isinstance(c, int) and c > 0 else x.shape[a] if isinstance(c, int) else c for a, c in enumerate(chunks[: x.ndim])]
    mine = [c if isinstance(c, int) or sum(c) == x.shape[a] else x.shape[a] for a, c in enumerate(mine)]
    return da.from_array(x, chunks=tuple(mine))


@pytest.mark.parametrize("name", ROWS if os.environ.get("ATOLL_TEST_CLUSTER") == "1" else ["a window of 5 by 5", "three means of columns"])
def test_the_same_bits_for_every_chunking(name: str) -> None:
    f, args = ROWS[name]
    want = f(*args)
    for how, chunks in CHUNKS.items():
        if how == "smaller than the halo" and name not in ("a window of 5 by 5",):
            continue
        if how == "smaller than the halo":
            args = tuple(a[:40, :30] for a in args)
            want = f(*args)
        found = dask.compute(f.distribute(*(_lazy(a, chunks) for a in args), parts=None if how != "rows" else 5))[0]
        pairs = zip(found, want, strict=True) if isinstance(want, tuple) else [(found, want)]
        assert all(same(a, b) for a, b in pairs), (name, how)


def test_results_go_on_as_arguments() -> None:
    """A mean that is not computed yet, given to the next function: its number comes when the tasks run."""
    x = da.from_array(X, chunks=(100, -1))
    mu = average.distribute(x)
    assert mu.shape == () and same(centred.distribute(x, mu, 2.0).compute(), centred(X, average(X), 2.0))
    assert same(centred.distribute(x * 1.0, mu + 0.0, mu * 2.0).compute(), centred(X, average(X), average(X) * 2.0))


def test_rows_of_tiles_take_no_more_than_tiles() -> None:
    """Sums and stencils that keep rows are cut by rows, whatever the chunks: what all tasks take together is the array, and little more for halos."""
    from tests.distribute.programs import heat_twice

    x = da.zeros((4000, 4000), chunks=(1000, 1000))
    for f, axis in ((average, "n"), (softmax_rows, "n"), (heat_twice, "n"), (smoothed, "n and m")):
        plan = f.plan_distribution(x)
        cut = [step for step in plan.graph.steps if step.kind == "parts"]
        assert [(step.axis, len(step.tasks)) for step in cut] == [(axis, 16)] and plan.bytes_moved < 1.02 * x.nbytes


def test_expressions_of_dask_are_arguments() -> None:
    x = da.from_array(X, chunks=(100, 20))
    for lazy in (x[::2], x[5:600, 3:], x.T, x + 1.0, da.concatenate([x, x]), x.rechunk((7, 60))):
        assert same(average.distribute(lazy).compute(), average(lazy.compute()))
        assert same(softmax_rows.distribute(lazy).compute(), softmax_rows(lazy.compute()))


def test_nothing_at_all() -> None:
    empty = da.zeros((0, 60), chunks=(1, 60))
    assert softmax_rows.distribute(empty).compute().shape == (0, 60)
    assert same(three_means.distribute(empty[:, :0], empty[:, :0])[0].compute(), three_means(np.zeros((0, 0)), np.zeros((0, 0)))[0])


@at.fn
def normalise(x: f64[n]) -> f64[n]:
    mean = sum(x) / n
    spread = sum((x - mean) * (x - mean)) / n
    return (x - mean) / sqrt(spread + 1e-5)


def test_the_picture_of_a_plan() -> None:
    """The one in docs/distribution.md is of this plan; lines are those of a file, so they are left out of the comparison."""

    class Far:
        shape, dtype, npartitions = (1_000_000_000,), np.dtype("f8"), 12

    plan = normalise.plan_distribution(Far())
    picture = plan.plot()
    assert plan._repr_html_() == picture and picture.count("phase ") == len(plan.phases) == 3
    assert picture.count("<rect") == len(plan.phases) + len(plan.graph.tasks)  # a box for each phase, a cell for each task
    kept = (Path(__file__).parents[2] / "docs" / "pictures" / "plan.svg").read_text()
    assert re.sub(r"line \d+", "line", picture) == re.sub(r"line \d+", "line", kept)


def test_the_plan_is_kept() -> None:
    """A second call at the same shapes makes no plan; other numbers, other shapes and other parts have their own."""
    from atoll.distribute.make import make_graph
    from atoll.distribute.trace import Settings

    first = make_graph(centred, (X, 0.5, 0.25), Settings(3))
    assert make_graph(centred, (Y, 0.5, 0.25), Settings(3)) is first
    assert make_graph(centred, (X, 0.5, -0.25), Settings(3)) is not first
    assert make_graph(centred, (X, 0.0, 0.25), Settings(3)) is not make_graph(centred, (X, -0.0, 0.25), Settings(3))
    assert make_graph(centred, (X[:5], 0.5, 0.25), Settings(3)) is not first and make_graph(centred, (X, 0.5, 0.25), Settings(4)) is not first


@at.fn
def in_order(x: f64[n]) -> f64[n]:
    return sort(x)


@at.fn(reassociate=False)
def left_to_right(x: f64[n]) -> f64:
    return sum(x)


@at.fn
def talking(x: f64[n]) -> f64[n]:
    print(sum(x))
    return x + 1.0


@at.fn
def first_few(x: f64[n], k: i64) -> f64:
    return sum(x[i] for i in range(k))


BIG = da.zeros(50_000_000, chunks=5_000_000)
WRONG: dict[str, tuple[Any, str]] = {
    "a plain call": (lambda: average(da.zeros((10, 10))), "E12"),
    "sorting everything": (lambda: in_order.distribute(BIG), "E1201"),
    "left to right": (lambda: left_to_right.distribute(BIG), "E1201"),
    "printing": (lambda: talking.distribute(BIG), "E1201"),
    "another dtype": (lambda: average.distribute(da.zeros((10, 10), dtype="f4")), "E06"),
    "another rank": (lambda: average.distribute(da.zeros(10)), "E06"),
    "sizes that differ": (lambda: three_means.distribute(da.zeros((10, 4)), da.zeros((10, 5))), "E06"),
    "sizes nobody knows": (lambda: running.distribute(BIG[BIG > 0]), "E1203"),
    "a size it has not": (lambda: average.distribute(da.zeros((10, 10)), over="q"), "E1207"),
    "parts of a size it has not": (lambda: average.distribute(da.zeros((10, 10)), parts={"q": 2}), "E1207"),
    "no parts": (lambda: average.distribute(da.zeros((10, 10)), parts={"n": 0}), "E0610"),
    "parts that are no number": (lambda: average.distribute(da.zeros((10, 10)), parts="many"), "E0610"),
    "fewer than one part": (lambda: average.distribute(da.zeros((10, 10)), parts=0), "E0610"),
    "memory that is no number": (lambda: average.distribute(da.zeros((10, 10)), memory="much"), "E0610"),
    "an integer that is not here yet": (lambda: first_few.distribute(BIG, da.from_array(np.array(7))), "E1201"),
    "an argument too few": (lambda: three_means.distribute(da.zeros((10, 4))), "E06"),
    "too little memory": (lambda: smoothed.distribute(da.zeros((5000, 5000)), memory="1kB"), "E1201"),
    "too little memory for slabs": (lambda: in_order.within(memory=8)(np.zeros(500_000)), "E12"),
    "a stream from nowhere": (lambda: running.stream("/no/such/store.zarr", out="/tmp/nothing.zarr"), "E0610"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    call, code = WRONG[name]
    with pytest.raises(at.Error) as caught:
        call()
    said = str(caught.value)
    assert caught.value.code.startswith(code) and "help:" in said and "Beyond" not in said, said
