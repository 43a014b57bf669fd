"""Arrays of many tiles and rows on a device, against NumPy: what small sizes do not reach. On a GPU sizes are those of its memory; by the emulation they are small.

    python -m tests.cuda.large [--target cuda] [--scale 30]

Every program runs several times, and its bits must be the same each time.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import atoll as at
from atoll import f32, f64, i64

n, m, p, q = at.sizes("n m p q")
BASE = 1 << 20


@at.fn
def prefix(x: f64[n]) -> f64[n]:
    return scan(add, 0.0, x)


@at.fn
def running(x: f32[n]) -> f32[n]:
    return scan(maximum, -inf, x)


@at.fn
def counted(c: i64[n]) -> i64[n]:
    return scan(add, 0, c, exclusive=True)


@at.fn
def kept(x: f32[n]):
    return [v for v in x if v > 0.5]


@at.fn
def totals(x: f32[n], y: f32[n]):
    return sum(x), sum(x * y), max(x), min(y), argmax(x), argmin(y)


@at.fn
def by_key(c: i64[n], v: f64[n]):
    return hist(add, 0.0, 4096, c, v), hist(add, 0.0, 100, c % 100, v), hist(maximum, -inf, 16, c % 16, v)


@at.fn
def rows_by_key(c: i64[n], a: f32[n, m]):
    return hist(add, [f32(0.0) for _ in range(m)], 64, c, a)


@at.fn
def softmax(a: f32[n, m]) -> f32[n, m]:
    return [exp(r - max(r)) / sum(exp(r - max(r))) for r in a]


@at.fn
def sums(a: f64[n, m]):
    return sum(a), sum(a, axis=0)


@at.fn
def ordered(x: f32[n]):
    return sort(x), argsort(x)


@at.fn
def steps(u: f64[n, m], t: i64) -> f64[n, m]:
    for _ in range(t):
        u = [[0.25 * (u[max(i - 1, 0), j] + u[min(i + 1, n - 1), j] + u[i, max(j - 1, 0)] + u[i, min(j + 1, m - 1)]) for j in range(m)] for i in range(n)]
    return u


@at.fn
def substituted(a: f64[n, n], y: f64[n]) -> f64[n]:
    x = zeros(n)
    for i in range(n):
        x[i] = (y[i] - sum(a[i, j] * x[j] for j in range(i))) / (4.0 + a[i, i])
    return x


@at.fn
def filtered(x: f32[p, n + 2, m + 2], w: f32[q, p, 3, 3]) -> f32[q, n, m]:
    return [[[sum(x[r, i + s, j + t] * w[o, r, s, t] for r in range(p) for s in range(3) for t in range(3)) for j in range(m)] for i in range(n)] for o in range(q)]


@at.fn
def products(a: f32[p, n, q], b: f32[p, q, m]) -> f32[p, n, m]:
    return [a[i] @ b[i] for i in range(p)]


def _filtered(x: Any, w: Any) -> Any:
    return np.einsum("rijst,orst->oij", np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2)), w, optimize=True)


def _sums_by_key(c: Any, v: Any, bins: int) -> Any:
    return np.bincount(c, v, bins)


def _best_by_key(c: Any, v: Any, bins: int) -> Any:
    found = np.full(bins, -np.inf)
    np.maximum.at(found, c, v)
    return found


def _softmax(a: Any) -> Any:
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _steps(u: Any, t: int) -> Any:
    for _ in range(t):
        p = np.pad(u, 1, mode="edge")
        u = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])
    return u


def _substituted(a: Any, y: Any) -> Any:
    return np.linalg.solve(np.tril(a, -1) + np.diag(4.0 + np.diag(a)), y)


def rows(scale: float) -> list[tuple[Any, tuple[Any, ...], Callable[..., Any]]]:
    """Programs, arguments, and what NumPy says."""
    rng = np.random.default_rng(0)
    size = int(BASE * scale) + 17
    x, y, v = rng.normal(size=size).astype(np.float32), rng.normal(size=size).astype(np.float32), rng.normal(size=size)
    c = rng.integers(0, 4096, size)
    wide = max(4, int(1e7 * scale / 30))
    out: list[tuple[Any, tuple[Any, ...], Callable[..., Any]]] = [
        (prefix, (v,), np.cumsum),
        (running, (x,), np.maximum.accumulate),
        (counted, (c,), lambda c: np.cumsum(c) - c),
        (kept, (x,), lambda x: x[x > 0.5]),
        (totals, (x, y), lambda x, y: (np.float32(x.sum(dtype=np.float64)), np.float32((x.astype(np.float64) * y).sum()), x.max(), y.min(), x.argmax(), y.argmin())),
        (by_key, (c, v), lambda c, v: (_sums_by_key(c, v, 4096), _sums_by_key(c % 100, v, 100), _best_by_key(c % 16, v, 16))),
        (rows_by_key, (c[: wide // 8] % 64, rng.normal(size=(len(c[: wide // 8]), 8)).astype(np.float32)), lambda c, a: np.stack([np.bincount(c, a[:, j].astype(np.float64), 64) for j in range(8)], 1).astype(np.float32)),
        (ordered, (x,), lambda x: (np.sort(x), np.argsort(x, kind="stable"))),
    ]
    for width in (20, 100, 1000, 5000, 20000):
        out.append((softmax, (rng.normal(size=(max(2, wide // width), width)).astype(np.float32),), _softmax))
        out.append((sums, (rng.normal(size=(max(2, wide // width), width)),), lambda a: (a.sum(axis=1), a.sum(axis=0))))
    side = max(40, int(wide**0.5) // 4)
    out += [(steps, (rng.normal(size=(side, side + 3)), rounds), _steps) for rounds in (9, 10)]
    small = max(3, int(scale))

    def singles(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    out += [(filtered, (singles(5, small + 2, width + 2), singles(16, 5, 3, 3)), _filtered) for width in (40, 300, 700)]
    out += [(products, (singles(4 * small, high, 40), singles(4 * small, 40, wide_)), lambda a, b: a @ b) for high, wide_ in ((32, 32), (16, 600), (9, 100), (70, 300))]
    out.append((substituted, (rng.normal(size=(side, side)) / side, rng.normal(size=side)), _substituted))
    return out


def differs(found: Any, wanted: Any) -> str:
    found, wanted = (x if isinstance(x, tuple) else (x,) for x in (found, wanted))
    for place, (a, b) in enumerate(zip(map(np.asarray, found), map(np.asarray, wanted), strict=True)):
        if a.shape != b.shape:
            return f"result {place} is {a.shape}, not {b.shape}"
        exact = a.dtype.kind in "iub"
        scale = float(np.abs(b[np.isfinite(b)]).max()) if b.size and not exact else 1.0
        near = np.array_equal(a, b) if exact else np.allclose(a, b, rtol=1e-4 if a.dtype == np.float32 else 1e-9, atol=scale * (1e-5 if a.dtype == np.float32 else 1e-10))
        if not near:
            wrong = np.flatnonzero(~np.isclose(a.reshape(-1), b.reshape(-1), rtol=1e-4))
            return f"result {place}: {len(wrong)} of {a.size} differ, first at {wrong[:3]}: {a.reshape(-1)[wrong[:3]]}, not {b.reshape(-1)[wrong[:3]]}"
    return ""


def tried(f: Any, args: tuple[Any, ...], wanted: Any, target: str, times: int = 4) -> str:
    """What is wrong with a program; "" if nothing is."""
    there = f.on(target)
    given = tuple(at.DeviceArray(a, target) if isinstance(a, np.ndarray) else a for a in args)
    first: list[bytes] | None = None
    for turn in range(times):
        found = there(*given)
        values = tuple(np.asarray(x) for x in found) if isinstance(found, tuple) else np.asarray(found)
        bits = [x.tobytes() for x in (values if isinstance(values, tuple) else (values,))]
        if turn == 0 and (wrong := differs(values, wanted)):
            return wrong
        if first is not None and bits != first:
            return f"other bits in turn {turn + 1}"
        first = bits
        for x in found if isinstance(found, tuple) else (found,):
            x.free()
    return ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", default="cuda-emulated")
    parser.add_argument("--scale", type=float, default=0.02)
    given = parser.parse_args()
    bad = 0
    for f, args, numpy in rows(given.scale):
        start = time.monotonic()
        try:
            wrong = tried(f, args, numpy(*args), given.target)
        except at.Error as error:
            wrong = f"{type(error).__name__}: {str(error)[:300]}"
        shapes = [getattr(a, "shape", a) for a in args]
        print(f"{f.name} {shapes}: {wrong or 'right'} ({time.monotonic() - start:.1f} s)", flush=True)
        bad += bool(wrong)
    from atoll.runtime.cuda.devices import device

    there, counts = device(given.target), (ctypes.c_int64 * 2)()
    asked = there.library.atoll_cuda_records if hasattr(there, "library") else there._base.atoll_emulated_records  # type: ignore[attr-defined]
    asked(counts)
    print(f"{bad} wrong; {counts[0]} loops recorded, played {counts[1]} times")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
