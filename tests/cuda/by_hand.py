"""A program for devices written by hand, in the form that backends/cuda makes: for tests of what runs it. Also the first thing to try on a new machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import atoll as at
from atoll import f64, i64
from atoll.backends.c.jit import abi
from atoll.runtime.cuda.devices import NATIVE
from atoll.runtime.cuda.program import DeviceProgram

n = at.sizes("n")

KERNELS = """
extern "C" __global__ void __launch_bounds__(256) scale(const double *x, double by, double *y, int64_t n, int64_t bad, int *failed) {
    int64_t i = blockIdx.x * 256LL + threadIdx.x;
    if (i == bad) *failed = 1;
    if (i < n) y[i] = x[i] * by;
}

/* Sums by blocks, and the sum of these in order by the block that ends last. */
extern "C" __global__ void __launch_bounds__(256) total(const double *y, int64_t n, double *part, unsigned *count, double *sum) {
    __shared__ double warp[8];
    __shared__ int last;
    AT_DYNAMIC_SHARED(room);
    double *mine = (double *)room;
    double a = 0;
    for (int64_t i = blockIdx.x * 256LL + threadIdx.x; i < n; i += 256LL * gridDim.x) a += y[i];
    for (int d = 16; d; d /= 2) a += __shfl_down_sync(~0u, a, d);
    mine[threadIdx.x] = a;
    if (threadIdx.x % 32 == 0) warp[threadIdx.x / 32] = mine[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        double s = 0;
        for (int w = 0; w < 8; w++) s += warp[w];
        part[blockIdx.x] = s;
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        double s = 0;
        for (unsigned k = 0; k < gridDim.x; k++) s += ((volatile double *)part)[k];
        *sum = s;
    }
}
"""

HOST = """
void atoll_init(const at_runtime *rt) { (void)rt; }

int atoll_prepare(at_call *at, const int64_t *shape, int64_t *sizes, int64_t *dims) {
    (void)at;
    sizes[0] = dims[0] = shape[0];
    return 0;
}

int atoll_device_entry(at_call *at, at_queue *q) {
    const int64_t n = at->sizes[0];
    double by = *(double *)at->in[1];
    int64_t bad = *(int64_t *)at->in[2];
    void *x = at->in[0], *y = at->out[0], *sum = at->out[1], *part = NULL, *count = NULL, *failed = NULL;
    int status = 0, seen = 0;
    if ((status = q->alloc(q, 64 * 8, &part)) != 0) goto done;
    if ((status = q->alloc(q, 4, &count)) != 0) goto done;
    if ((status = q->alloc(q, 4, &failed)) != 0) goto done;
    if ((status = q->fill(q, count, 0, 4)) != 0) goto done;
    if ((status = q->fill(q, failed, 0, 4)) != 0) goto done;
    void *first[] = {&x, &by, &y, (void *)&n, &bad, &failed};
    if ((status = q->launch(q, 0, (n + 255) / 256, 1, 1, 256, 1, 1, 0, first)) != 0) goto done;
    void *second[] = {&y, (void *)&n, &part, &count, &sum};
    if ((status = q->launch(q, 1, 64, 1, 1, 256, 1, 1, 256 * 8, second)) != 0) goto done;
    if ((status = q->to_host(q, &seen, failed, 4)) != 0) goto done;
    if (seen) { at->args[0].i = bad; at->args[1].i = n; status = 1; }
done:
    q->release(q, failed);
    q->release(q, count);
    q->release(q, part);
    return status;
}
"""


@dataclass(frozen=True)
class Text:
    """What backends/cuda/generate.py gives."""

    kernels_text: str
    kernels: tuple[tuple[str, tuple[str, ...]], ...]
    host_text: str
    sites: list[Any]
    kinds: list[str]


@at.fn
def scaled(x: f64[n], by: f64, bad: i64):
    """y, its sum, and an error if it has a place `bad`."""
    y = [v * by for v in x]
    return y, sum(y)


def by_hand(fn: Any) -> Text:
    from atoll.ainf.ir import Site

    site = Site("E0701", fn.span, {"args": ("index", "size")}, "scaled")
    kernels = (
        ("scale", ("const double *", "double", "double *", "int64_t", "int64_t", "int *")),
        ("total", ("const double *", "int64_t", "double *", "unsigned *", "double *")),
    )
    host = "\n".join(["#include <stddef.h>", abi(), (NATIVE / "device.h").read_text(), HOST])
    return Text(KERNELS, kernels, host, [site], ["ii"])


def program(target: str) -> DeviceProgram:
    return DeviceProgram(scaled.core, scaled._arguments, target, generate=by_hand)
