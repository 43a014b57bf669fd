"""Which programs, on what data, beside which versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bench.futhark_programs import arrays, loops

Data = Callable[[np.random.Generator], tuple[Any, ...]]


@dataclass(frozen=True)
class Row:
    """A program of the checkout. `shared` is for NumPy and JAX, `numpy` for NumPy alone, `numba` in loops; `rtol` beside the largest element of a result."""

    program: str
    entry: str
    data: Data
    shared: Callable[..., Any] | None = None
    numpy: Callable[..., Any] | None = None
    numba: Callable[..., Any] | None = None
    rtol: float = 0.0


def f32s(rng: np.random.Generator, *shape: int) -> Any:
    return rng.random(shape, np.float32)


def i32s(rng: np.random.Generator, top: int, *shape: int) -> Any:
    return rng.integers(0, top, shape, np.int32)


def graph(rng: np.random.Generator) -> tuple[Any, ...]:
    count = i32s(rng, 12, 65536)
    return (np.cumsum(count) - count).astype(np.int32), count, i32s(rng, 65536, int(count.sum()))


def links(rng: np.random.Generator) -> tuple[Any, ...]:
    n, m = 20_000, 200_000
    froms, tos = i32s(rng, n, m), np.sort(i32s(rng, n, m))
    return froms, tos, np.bincount(froms, minlength=n).astype(np.int32), 20


def boxes(rng: np.random.Generator) -> tuple[Any, ...]:
    side, size = 3, 50
    at = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
    near = [[j for j in range(len(at)) if j != i and np.abs(at[i] - at[j]).max() <= 1] for i in range(len(at))]
    most = max(map(len, near))
    which = np.array([[n[k] if k < len(n) else 0 for n in near] for k in range(most)], np.int32)
    column = [at[:, k].astype(np.int32) for k in range(3)]
    number = np.arange(len(at), dtype=np.int32)
    rest = [c[which] for c in column]
    return 0.5, *column, number, *rest, which, np.array([len(n) for n in near], np.int32), *(f32s(rng, len(at), size) for _ in range(5))


def stars(rng: np.random.Generator) -> tuple[Any, ...]:
    return 2, 50.0, 1.0, *(f32s(rng, 1000) for _ in range(7))


def alignment(rng: np.random.Generator) -> tuple[Any, ...]:
    scores = np.zeros((1025, 1025), np.int32)
    scores[0] = scores[:, 0] = -10 * np.arange(1025)
    return 10, scores, rng.integers(-10, 10, (1025, 1025), np.int32)


def diagonals(rng: np.random.Generator) -> tuple[Any, ...]:
    a, c, y = (f32s(rng, 2000, 115) for _ in range(3))
    return a, 4 + f32s(rng, 2000, 115), c, y


def dominant(rng: np.random.Generator) -> tuple[Any, ...]:
    return (f32s(rng, 256, 256) + 256 * np.eye(256, dtype=np.float32),)


def keys(rng: np.random.Generator) -> tuple[Any, ...]:
    key = lambda: rng.integers(0, 2**16, 52).astype(np.uint16)
    return key(), key(), rng.integers(0, 256, 400_000).astype(np.uint8)


ROWS = [
    Row("rodinia/hotspot/hotspot", "main", lambda r: (20, 60 + 20 * f32s(r, 512, 512), f32s(r, 512, 512)), arrays.hotspot, rtol=1e-4),
    Row("rodinia/srad/srad", "main", lambda r: (r.integers(0, 256, (256, 200)).astype(np.uint8),), arrays.srad, rtol=2e-3),
    Row("rodinia/nn/nn", "main", lambda r: (50, 0.5, 0.5, f32s(r, 100_000), f32s(r, 100_000)), numpy=arrays.nearest, rtol=1e-6),
    Row("rodinia/lud/lud", "main", dominant, numpy=arrays.lud, numba=loops.lud, rtol=1e-4),
    Row("rodinia/nw/nw", "main", alignment, numba=loops.nw),
    Row("rodinia/kmeans/kmeans", "main", lambda r: (0, 5, 20, f32s(r, 10_000, 8)), numpy=arrays.kmeans_rodinia, rtol=1e-3),
    *(Row(f"rodinia/bfs/bfs_{kind}", "main", graph, numba=loops.bfs) for kind in ("sequential", "heuristic", "iter_work_ok", "asympt_ok_but_slow", "filt_padded_fused")),
    Row("rodinia/lavaMD/lavaMD", "main", boxes, numba=loops.lava, rtol=1e-3),
    Row("parboil/mri-q/mri-q", "main", lambda r: (*(f32s(r, 1000) for _ in range(3)), *(f32s(r, 2000) for _ in range(3)), f32s(r, 1000), f32s(r, 1000)), arrays.mri_q, numba=loops.mri_q, rtol=1e-3),
    Row("parboil/histo/histo", "main", lambda r: (256, 64, i32s(r, 256 * 64, 996, 1040)), numpy=arrays.histo),
    Row("parboil/stencil/stencil", "main", lambda r: (20, 32, f32s(r, 128, 128)), arrays.stencil, rtol=1e-5),
    Row("parboil/sgemm/sgemm", "main", lambda r: (f32s(r, 500, 500), f32s(r, 500, 500), f32s(r, 500, 500), 0.5, 0.25), arrays.sgemm, rtol=1e-4),
    Row("accelerate/nbody/nbody", "main", stars, arrays.nbody, rtol=1e-4),
    Row("accelerate/pagerank/pagerank", "main", links, numpy=arrays.pagerank, numba=loops.pagerank, rtol=1e-3),
    Row("accelerate/kmeans/kmeans", "main", lambda r: (5, 10 * f32s(r, 20_000, 2)), numpy=arrays.kmeans_accelerate, rtol=1e-2),
    Row("accelerate/fft/fft", "main", lambda r: (10, r.integers(0, 256, (256, 256, 3)).astype(np.uint8)), arrays.highpass, rtol=1e-4),
    Row("jgf/series/series", "main", lambda r: (300,), numpy=arrays.series, rtol=1e-9),
    Row("jgf/crypt/crypt", "main", keys, numpy=arrays.crypt),
    Row("misc/life/life", "main", lambda r: (i32s(r, 2, 20, 20), 1, 12), numpy=arrays.life),
    Row("misc/ocean-sim/tridiag-test", "tridagNestedSeq", diagonals, numba=loops.tridiagonal, rtol=1e-5),
    Row("misc/ocean-sim/tridiag-test", "tridagNested", diagonals, numba=loops.tridiagonal, rtol=1e-4),
    Row("pbbs/histogram/histogram", "main", lambda r: (10_000, i32s(r, 10_000, 1_000_000)), numpy=lambda m, x: np.bincount(x, minlength=m).astype(np.int32)),
    Row("pbbs/integerSort/radix_sort", "sort_i32", lambda r: (32, i32s(r, 2**30, 200_000)), numpy=lambda bits, x: np.sort(x)),
    Row("pbbs/comparisonSort/merge_sort", "sort_f64", lambda r: (r.random(100_000),), numpy=np.sort),
    Row("pbbs/rangeQuery2d/naive", "main", lambda r: (r.random((3000, 2)),), numpy=arrays.in_rectangles, numba=loops.in_rectangles),
    Row("micro/reduce", "sum_f64", lambda r: (i32s(r, 1000, 1_000_000),), lambda xp, x: xp.sum(x.astype(np.float64)), rtol=1e-9),
    Row("micro/scan", "sum_i64", lambda r: (i32s(r, 1000, 1_000_000),), lambda xp, x: xp.cumsum(x.astype(np.int64))),
    Row("micro/reduce-segmented", "sum_i32", lambda r: (1000, 1000, i32s(r, 1000, 1_000_000)), lambda xp, n, m, x: x.reshape(n, m).sum(1, dtype=np.int32)),
    Row("micro/scan-segmented", "sum_i32", lambda r: (i32s(r, 1000, 1000, 1000),), lambda xp, x: xp.cumsum(x, 1, dtype=np.int32)),
    Row("micro/reduce_by_index", "sum_i32", lambda r: (1000, i32s(r, 2**30, 1_000_000), i32s(r, 1000, 1_000_000)), arrays.counted, numba=loops.counted),
    Row("micro/reduce_by_index-segmented", "sum_i32", lambda r: (1000, i32s(r, 2**30, 256, 4000), i32s(r, 1000, 256, 4000)), numpy=arrays.counted_rows, numba=loops.counted_rows),
    Row("micro/transpose", "transpose_i32", lambda r: (1000, 1000, i32s(r, 1000, 1_000_000)), numpy=lambda n, m, x: np.ascontiguousarray(x.reshape(n, m).T)),
    Row("micro/mmm/mmm", "main", lambda r: (f32s(r, 500, 500), f32s(r, 500, 500)), arrays.product, rtol=1e-4),
    Row("micro/mmm/mmm-batch", "main", lambda r: (f32s(r, 4, 8, 64, 64), f32s(r, 4, 8, 64, 64)), arrays.product, rtol=1e-4),
    Row("micro/intra", "scan_reduce", lambda r: (f32s(r, 100_000, 6),), lambda xp, x: xp.cumsum(x, 1).sum(1), numba=loops.row_sums_of_scans, rtol=1e-5),
    Row("babelstream/babelstream", "f64_triad", lambda r: (r.random(1_000_000), r.random(1_000_000)), lambda xp, b, c: b + 0.4 * c, rtol=1e-15),
    Row("babelstream/babelstream", "f64_dot", lambda r: (r.random(1_000_000), r.random(1_000_000)), lambda xp, a, b: a @ b, rtol=1e-12),
]  # fmt: skip


def versions(row: Row, args: tuple[Any, ...]) -> dict[str, Callable[[], Any]]:
    """Calls without arguments: every version this Python can run."""
    import importlib.util

    found: dict[str, Callable[[], Any]] = {}
    if row.shared is not None or row.numpy is not None:
        call = row.numpy or partial(row.shared, np)  # type: ignore[arg-type]
        found["numpy"] = lambda: call(*args)
    if row.numba is not None and importlib.util.find_spec("numba"):
        import numba

        jitted = numba.njit(row.numba)
        found["numba"] = lambda: jitted(*args)
    if row.shared is not None and importlib.util.find_spec("jax"):
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        fixed = tuple(k for k, a in enumerate(args) if not isinstance(a, np.ndarray))
        compiled = jax.jit(partial(row.shared, jnp), static_argnums=fixed)
        moved = [jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        found["jax"] = lambda: jax.block_until_ready(compiled(*moved))
    return found
