"""Kernels on the CPU behave as on a GPU, and what a GPU leaves undefined is reported (runtime/native/cuda_on_cpu.h)."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from atoll.runtime.cuda.devices import EMULATED, Queue, device

LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Queue), ctypes.c_int, *[ctypes.c_int64] * 3, *[ctypes.c_int] * 3, ctypes.c_int64, ctypes.c_void_p)

KERNELS = """
extern "C" __global__ void early(int *x) {
    if (threadIdx.x == 3) return;
    __syncthreads();
}
extern "C" __global__ void two(int *x) {
    if (threadIdx.x < 3) __syncthreads();
    else
        __syncthreads();
}
extern "C" __global__ void lonely(int *x) { if (threadIdx.x < 16) x[threadIdx.x] = __shfl_down_sync(~0u, 1, 1); else __syncthreads(); }
extern "C" __global__ void absent(int *x) { if (threadIdx.x < 16) x[threadIdx.x] = __shfl_xor_sync(0xffffu, 1, 16); }
extern "C" __global__ void halves(int *x) {
    int v = threadIdx.x;
    if (v < 16) v = __shfl_sync(0xffffu, v, v ^ 1);
    else v = __shfl_xor_sync(0xffff0000u, v, 2);
    x[threadIdx.x] = v;
}
extern "C" __global__ void warps(int *x) {
    int t = threadIdx.x, up = __shfl_up_sync(~0u, t, 3), down = __shfl_down_sync(~0u, t, 5, 8);
    unsigned odd = __ballot_sync(~0u, t % 2), same = __match_any_sync(~0u, t / 10);
    x[t] = up * 1000000 + down * 1000 + __popc(odd & same) + 500 * __any_sync(~0u, t == 40) + 400 * __all_sync(~0u, t < 32);
}
extern "C" __global__ void order(int *x) {
    __shared__ int seen;
    if (threadIdx.x == 0) seen = 0;
    __syncthreads();
    atomicAdd(&seen, 1);
    __syncthreads();
    atomicMax(&x[blockIdx.x], seen);
    atomicAdd(&x[100], 1);
}
extern "C" __global__ void unwritten(int *x) {
    __shared__ int s[4];
    AT_DYNAMIC_SHARED(more);
    x[0] = s[1];
    x[1] = more[3];
    s[1] = 5, more[3] = 5;
}
extern "C" __global__ void shapes(int *x) { x[threadIdx.x + 4 * (threadIdx.y + 3 * (threadIdx.z + 2 * (blockIdx.x + 2 * (blockIdx.y + 2 * blockIdx.z))))] += 1; }
"""
NAMES = ["early", "two", "lonely", "absent", "halves", "warps", "order", "unwritten", "shapes"]


@pytest.fixture(scope="module")
def kernels():
    return device(EMULATED).load(KERNELS, [(name, ["int *"]) for name in NAMES], "test")


def launch(kernels, name, grid=(1, 1, 1), block=(32, 1, 1), shared=0, room=512):
    queue = device(EMULATED).queue(kernels)
    x = np.zeros(room, np.int32)
    pointer = ctypes.c_void_p(x.ctypes.data)
    status = LAUNCH(queue.launch)(queue, NAMES.index(name), *grid, *block, shared, (ctypes.c_void_p * 1)(ctypes.addressof(pointer)))
    return x, status, (queue.doing or b"").decode()


@pytest.mark.parametrize(
    "name, words",
    [
        ("early", "divergent barrier: thread 0 waits at line 4, thread 3 has ended (block 0, 0, 0 of kernel early)"),
        ("two", "divergent barriers: thread 0 waits at line 7, thread 3 at line 9"),
        ("lonely", "line 11: thread 15 waits for threads of its warp (mask ffffffff) that do not come"),
        ("absent", "line 12: thread 0 reads from lane 16, which takes no part"),
    ],
)
def test_mistakes_are_reported(kernels, name, words):
    _, status, found = launch(kernels, name)
    assert status == -3 and words in found


@pytest.mark.parametrize("grid, block, shared", [((1, 65536, 1), (1, 1, 1), 0), ((1, 1, 1), (1025, 1, 1), 0), ((1, 1, 1), (1, 1, 65), 0), ((1, 1, 1), (32, 1, 1), 232449), ((1 << 31, 1, 1), (32, 1, 1), 0)])
def test_launches_no_gpu_takes(kernels, grid, block, shared):
    assert launch(kernels, "order", grid, block, shared)[1] == -3


def test_an_empty_grid_is_nothing(kernels):
    x, status, _ = launch(kernels, "order", (0, 1, 1))
    assert status == 0 and not x.any()


def test_halves_of_a_warp(kernels):
    x, status, _ = launch(kernels, "halves")
    assert status == 0 and x[:32].tolist() == [t ^ 1 if t < 16 else t ^ 2 for t in range(32)]


@pytest.mark.parametrize("threads", [32, 40, 64])
def test_warp_functions(kernels, threads):
    x, status, found = launch(kernels, "warps", block=(threads, 1, 1))
    for t in range(threads):
        first = t // 32 * 32
        lanes = range(first, min(first + 32, threads))
        up = t - 3 if t - 3 >= first else t
        down = t + 5 if t % 8 + 5 < 8 and t + 5 in lanes else t
        same = sum(u % 2 for u in lanes if u // 10 == t // 10)
        assert x[t] == up * 1000000 + down * 1000 + same + 500 * (40 in lanes) + 400 * all(u < 32 for u in lanes), (t, found)
    assert status == 0


@pytest.mark.parametrize("order", ["0", "1", "2", "7"])
def test_every_thread_of_every_block_once_in_any_order(kernels, order, monkeypatch):
    monkeypatch.setenv("ATOLL_EMULATED_ORDER", order)
    x, status, _ = launch(kernels, "order", (9, 1, 1), (100, 1, 1))
    assert status == 0 and x[:9].tolist() == [100] * 9 and x[100] == 900
    x, status, _ = launch(kernels, "shapes", (2, 2, 2), (4, 3, 2))
    assert status == 0 and x[: 8 * 24].tolist() == [1] * 8 * 24 and not x[8 * 24 :].any()


def test_shared_memory_begins_unwritten_in_every_block(kernels):
    x, _, _ = launch(kernels, "unwritten", (3, 1, 1), (1, 1, 1), 16)
    assert x[0] == -1 and x[1] == 255
