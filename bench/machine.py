"""The machine's own limits, measured in the same run as everything else: copying memory, multiply-adds in registers, an empty call."""

from __future__ import annotations

import ctypes
import functools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_C = """
#include <pthread.h>
#include <stdint.h>
#include <string.h>
typedef struct { float *a; const float *b; int64_t n; int rounds; float sum; } part;
static void *copy(void *p) { part *x = p; for (int r = 0; r < x->rounds; r++) memcpy(x->a, x->b, x->n * 4); return 0; }
typedef TYPE V __attribute__((vector_size(64)));
static void *fma_(void *p) {
    part *x = p;
    V acc[24];
    V m = {0}, c = {0};
    for (int k = 0; k < 24; k++) acc[k] = c + (TYPE)k;
    m += (TYPE)0.999;
    c += (TYPE)x->n;
    for (int64_t i = 0; i < x->n; i++) {
#pragma GCC unroll 24
        for (int k = 0; k < 24; k++) acc[k] = acc[k] * m + c;
    }
    V s = acc[0];
    for (int k = 1; k < 24; k++) s += acc[k];
    x->sum = (float)s[0];
    return 0;
}
static void go(void *(*f)(void *), part *parts, int threads) {
    pthread_t other[64];
    for (int k = 1; k < threads; k++) pthread_create(&other[k], 0, f, &parts[k]);
    f(&parts[0]);
    for (int k = 1; k < threads; k++) pthread_join(other[k], 0);
}
void run_copy(float *a, const float *b, int64_t n, int rounds, int threads) {
    part parts[64];
    for (int k = 0; k < threads; k++) parts[k] = (part){a + n / threads * k, b + n / threads * k, n / threads, rounds, 0};
    go(copy, parts, threads);
}
float run_fma(int64_t n, int threads) {
    part parts[64];
    for (int k = 0; k < threads; k++) parts[k] = (part){0, 0, n, 0, 0};
    go(fma_, parts, threads);
    return parts[0].sum;
}
"""


@functools.cache
def _library(dtype: str) -> Any:
    from atoll.runtime.toolchain import compile_c

    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / f"{dtype}.c"
        source.write_text(_C.replace("TYPE", "float" if dtype == "f32" else "double"))
        compile_c(source, source.with_suffix(".so"), "3", ["-ffp-contract=fast"])
        return ctypes.CDLL(str(source.with_suffix(".so")))


def copying(size: int, threads: int, rounds: int = 1) -> Callable[[], None]:
    """A call that copies so many floats with all threads."""
    a, b = np.zeros(size, np.float32), np.ones(size, np.float32)
    lib = _library("f32")
    return lambda: lib.run_copy(a.ctypes.data_as(ctypes.c_void_p), b.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(size), rounds, threads)


def limits(threads: int) -> dict[str, float]:
    """copy: bytes read and written per second in memory and in the last cache; flops of each float type."""
    found: dict[str, float] = {}
    for dtype in ("f32", "f64"):
        lib = _library(dtype)
        lib.run_fma.restype = ctypes.c_float
        lanes, rounds = (16, 400_000) if dtype == "f32" else (8, 400_000)
        times = [_timed(lambda: lib.run_fma(ctypes.c_int64(rounds), threads)) for _ in range(5)]
        found[f"flops_{dtype}"] = 2.0 * 24 * lanes * rounds * threads / min(times)
    for key, size, rounds in (("copy", 1 << 24, 1), ("copy_cache", 1 << 20, 16)):
        call = copying(size, threads, rounds)
        times = sorted(_timed(call) for _ in range(7))
        found[key] = 8.0 * size * rounds / times[1]
    return found


def _timed(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
