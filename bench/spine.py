"""Issue 2's table: elementwise chains, reductions, stencils, scans, histograms, matrix-vector against NumPy and Numba.

    python bench/spine.py [--quick]

Two threads, Numba parallel, cached and warmed up; sizes from the first-level cache to four times the last. Ratios above 1: Atoll is faster
than the better of the two.
"""

from __future__ import annotations

import argparse
import math
import os
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "2")

import numba
import numpy as np
from timing import interleaved

import atoll as at
from atoll import f32, f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def chain(a: f32[n], b: f32[n], c: f32[n]) -> f32[n]:
    return [(x * 2.0 + y) * z - x / (y * y + 1.0) for x, y, z in zip(a, b, c)]


@at.fn
def total(x: f64[n]) -> f64:
    return sum(x)


@at.fn
def dot(x: f64[n], y: f64[n]) -> f64:
    return sum(a * b for a, b in zip(x, y))


@at.fn
def largest(x: f32[n]) -> f32:
    return max(x)


@at.fn
def jacobi(u: f32[n, m]) -> f32[n, m]:
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


@at.fn
def blur(u: f32[n, m]) -> f32[n - 2, m - 2]:
    h = [[u[i, j] + u[i, j + 1] + u[i, j + 2] for j in range(m - 2)] for i in range(n)]
    return [[(h[i, j] + h[i + 1, j] + h[i + 2, j]) / 9.0 for j in range(m - 2)] for i in range(n - 2)]


@at.fn
def heat3(u: f32[n, m, k]) -> f32[n, m, k]:
    u[1:-1, 1:-1, 1:-1] = (
        0.4 * u[1:-1, 1:-1, 1:-1]
        + 0.1 * (u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:])
    )
    return u


@at.fn
def prefix(x: f64[n]) -> f64[n]:
    return scan(add, 0.0, x)


@at.fn
def histogram(is_: i64[n]) -> i64[256]:
    return hist(add, 0, 256, is_, [1 for _ in range(n)])


@at.fn
def matvec(A: f64[n, m], x: f64[m]) -> f64[n]:
    return A @ x


@at.fn
def vecmat(x: f64[n], A: f64[n, m]) -> f64[m]:
    return x @ A


@at.fn
def rows(A: f64[n, m]) -> f64[n]:
    return sum(A)


@at.fn
def columns(A: f64[n, m]) -> f64[m]:
    return sum(A, axis=0)


@at.fn
def black_scholes(S: f64[n], T: f64[n]) -> f64[n]:
    def price(s, t):
        d1 = (log(s / 100.0) + 0.07 * t) / (0.2 * sqrt(t))
        d2 = d1 - 0.2 * sqrt(t)
        return s * 0.5 * erfc(-d1 / 1.4142135623730951) - 100.0 * exp(-0.05 * t) * 0.5 * erfc(-d2 / 1.4142135623730951)

    return [price(s, t) for s, t in zip(S, T)]


jit = numba.njit(parallel=True, cache=True)


@jit
def nb_chain(a, b, c):
    o = np.empty_like(a)
    for i in numba.prange(a.size):
        o[i] = (a[i] * np.float32(2.0) + b[i]) * c[i] - a[i] / (b[i] * b[i] + np.float32(1.0))
    return o


@jit
def nb_total(x):
    s = 0.0
    for i in numba.prange(x.size):
        s += x[i]
    return s


@jit
def nb_dot(x, y):
    s = 0.0
    for i in numba.prange(x.size):
        s += x[i] * y[i]
    return s


@jit
def nb_largest(x):
    s = -np.inf
    for i in numba.prange(x.size):
        s = max(s, x[i])
    return s


@jit
def nb_jacobi(u):
    o = u.copy()
    for i in numba.prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            o[i, j] = np.float32(0.25) * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return o


@jit
def nb_blur(u):
    o = np.empty((u.shape[0] - 2, u.shape[1] - 2), np.float32)
    for i in numba.prange(u.shape[0] - 2):
        for j in range(u.shape[1] - 2):
            o[i, j] = (
                u[i, j] + u[i, j + 1] + u[i, j + 2] + u[i + 1, j] + u[i + 1, j + 1] + u[i + 1, j + 2] + u[i + 2, j] + u[i + 2, j + 1] + u[i + 2, j + 2]
            ) / np.float32(9.0)
    return o


@jit
def nb_heat3(u):
    o = u.copy()
    for i in numba.prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            for l in range(1, u.shape[2] - 1):
                o[i, j, l] = np.float32(0.4) * u[i, j, l] + np.float32(0.1) * (
                    u[i - 1, j, l] + u[i + 1, j, l] + u[i, j - 1, l] + u[i, j + 1, l] + u[i, j, l - 1] + u[i, j, l + 1]
                )
    return o


@numba.njit(cache=True)
def nb_prefix(x):
    o = np.empty_like(x)
    s = 0.0
    for i in range(x.size):
        s += x[i]
        o[i] = s
    return o


@numba.njit(cache=True)
def nb_histogram(x):
    o = np.zeros(256, np.int64)
    for i in range(x.size):
        o[x[i]] += 1
    return o


@jit
def nb_matvec(A, x):
    o = np.empty(A.shape[0])
    for i in numba.prange(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        o[i] = s
    return o


@jit
def nb_rows(A):
    o = np.empty(A.shape[0])
    for i in numba.prange(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j]
        o[i] = s
    return o


@jit
def nb_black_scholes(S, T):
    o = np.empty_like(S)
    for i in numba.prange(S.size):
        s, t = S[i], T[i]
        d1 = (math.log(s / 100.0) + 0.07 * t) / (0.2 * math.sqrt(t))
        d2 = d1 - 0.2 * math.sqrt(t)
        o[i] = s * 0.5 * math.erfc(-d1 / 1.4142135623730951) - 100.0 * math.exp(-0.05 * t) * 0.5 * math.erfc(-d2 / 1.4142135623730951)
    return o


def np_jacobi(u: Any) -> Any:
    o = u.copy()
    o[1:-1, 1:-1] = np.float32(0.25) * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return o


def np_blur(u: Any) -> Any:
    h = u[:, :-2] + u[:, 1:-1] + u[:, 2:]
    return (h[:-2] + h[1:-1] + h[2:]) / np.float32(9.0)


def np_heat3(u: Any) -> Any:
    o = u.copy()
    c = (slice(1, -1),) * 3
    o[c] = np.float32(0.4) * u[c] + np.float32(0.1) * (
        u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
    )
    return o


def kernels(quick: bool) -> list[tuple[str, dict[str, Any], tuple[Any, ...]]]:
    rng = np.random.default_rng(0)
    f4 = lambda *s: rng.random(s, dtype=np.float32) + np.float32(0.5)
    f8 = lambda *s: rng.random(s) + 0.5
    found: list[tuple[str, dict[str, Any], tuple[Any, ...]]] = []
    ones = [4096, 65536, 1 << 20] + ([] if quick else [1 << 24])
    for size in ones:
        found.append((f"chain f32 {size}", {"atoll": chain, "numpy": lambda a, b, c: (a * np.float32(2) + b) * c - a / (b * b + np.float32(1)), "numba": nb_chain}, (f4(size), f4(size), f4(size))))
        found.append((f"sum f64 {size}", {"atoll": total, "numpy": np.sum, "numba": nb_total}, (f8(size),)))
        found.append((f"dot f64 {size}", {"atoll": dot, "numpy": np.dot, "numba": nb_dot}, (f8(size), f8(size))))
        found.append((f"max f32 {size}", {"atoll": largest, "numpy": np.max, "numba": nb_largest}, (f4(size),)))
        found.append((f"scan f64 {size}", {"atoll": prefix, "numpy": np.cumsum, "numba": nb_prefix}, (f8(size),)))
        found.append((f"histogram {size}", {"atoll": histogram, "numpy": lambda x: np.bincount(x, minlength=256), "numba": nb_histogram}, (rng.integers(0, 256, size),)))
        if size <= 1 << 20:
            found.append((f"black-scholes {size}", {"atoll": black_scholes, "numba": nb_black_scholes}, (f8(size) * 100, f8(size))))
    for side in [64, 512, 2048] + ([] if quick else [4096]):
        u = f4(side, side)
        found.append((f"jacobi f32 {side}^2", {"atoll": jacobi, "numpy": np_jacobi, "numba": nb_jacobi}, (u,)))
        found.append((f"blur f32 {side}^2", {"atoll": blur, "numpy": np_blur, "numba": nb_blur}, (u,)))
        A, x = f8(side, side), f8(side)
        found.append((f"matvec f64 {side}", {"atoll": matvec, "numpy": np.matmul, "numba": nb_matvec}, (A, x)))
        found.append((f"vecmat f64 {side}", {"atoll": vecmat, "numpy": np.matmul}, (x, A)))
        found.append((f"row sums {side}", {"atoll": rows, "numpy": lambda A: A.sum(1), "numba": nb_rows}, (A,)))
        found.append((f"column sums {side}", {"atoll": columns, "numpy": lambda A: A.sum(0)}, (A,)))
    for side in [32, 128] + ([] if quick else [256]):
        found.append((f"heat f32 {side}^3", {"atoll": heat3, "numpy": np_heat3, "numba": nb_heat3}, (f4(side, side, side),)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    at.set_threads(2)
    ratios = []
    print(f"{'kernel':<26} {'atoll':>10} {'numpy':>10} {'numba':>10}   best peer / atoll")
    for name, contenders, data in kernels(args.quick):
        if args.only not in name:
            continue
        reference = contenders["numpy" if "numpy" in contenders else "numba"](*data)
        np.testing.assert_allclose(contenders["atoll"](*data), reference, rtol=2e-3 if "f32" in name else 1e-9)
        times = interleaved({tool: (lambda f=f: f(*data)) for tool, f in contenders.items()})
        best = min(t for tool, t in times.items() if tool != "atoll")
        ratio = best / times["atoll"]
        ratios.append(ratio)
        cells = " ".join(f"{times[t] * 1e3:>10.4f}" if t in times else f"{'-':>10}" for t in ("atoll", "numpy", "numba"))
        print(f"{name:<26} {cells}   {ratio:6.2f}{'' if ratio >= 1 else '  slower'}", flush=True)
    if ratios:
        print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, worst {min(ratios):.2f}, {sum(r >= 1 for r in ratios)} of {len(ratios)} at least as fast")


if __name__ == "__main__":
    main()
