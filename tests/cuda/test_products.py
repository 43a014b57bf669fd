"""Products that a library of the device makes: who calls it, and how it is called. The library is a stand-in that goes by columns, as cuBLAS does."""

import ctypes
import itertools
import subprocess

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64
from atoll.runtime.cuda.devices import NATIVE, products

n, m, p = at.sizes("n m p")

_LIBRARY = """
#define GEMM(name, T)                                                                                                                             \\
    int name(void *handle, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) { \\
        if (*(int *)handle != 7 || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m) return 7;                                                   \\
        for (int i = 0; i < m; i++)                                                                                                                \\
            for (int j = 0; j < n; j++) {                                                                                                          \\
                T sum = 0;                                                                                                                         \\
                for (int l = 0; l < k; l++) sum += (ta ? a[l + i * lda] : a[i + l * lda]) * (tb ? b[j + l * ldb] : b[l + j * ldb]);                \\
                c[i + (long)j * ldc] = *alpha * sum + (*beta ? *beta * c[i + (long)j * ldc] : 0);                                                  \\
            }                                                                                                                                      \\
        return 0;                                                                                                                                  \\
    }
GEMM(cublasSgemm_v2, float)
GEMM(cublasDgemm_v2, double)
static int state = 7;
int cublasCreate_v2(void **handle) { *handle = &state; return 0; }
int cublasSetStream_v2(void *handle, void *stream) { (void)stream; return *(int *)handle != 7; }
"""
_CALLER = """
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "device.h"
enum { MOST_DEVICES = 4 };
#include "cuda_products.h"
int ask(const at_matrices *p) { at_queue q = {0}; return gpu_product(&q, p); }
"""


class _Matrices(ctypes.Structure):
    """`at_matrices` of native/device.h."""

    _fields_ = [("bytes", ctypes.c_int), ("adds", ctypes.c_int), *((name, ctypes.c_int64) for name in ("rows", "columns", "depth", "a_row", "a_sum", "b_column", "b_sum", "c_row")), *((name, ctypes.c_void_p) for name in "abc")]


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    for name, text in (("library", _LIBRARY), ("caller", _CALLER)):
        (folder / f"{name}.c").write_text(text)
        subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-D_GNU_SOURCE", "-shared", "-fPIC", f"-I{NATIVE}", "-o", folder / f"{name}.so", folder / f"{name}.c", "-ldl", "-lpthread"], check=True)
    library = ctypes.CDLL(str(folder / "caller.so"))
    library.atoll_cuda_products(f"/nowhere/libcublas.so\n{folder / 'library.so'}".encode())

    def call(a, b, c, adds=False):
        """`a`, `b` and `c` with any steps; whether the library made c."""
        steps = [s // a.itemsize for s in (a.strides[0], a.strides[1], b.strides[1], b.strides[0], c.strides[0])]
        return library.ask(ctypes.byref(_Matrices(a.itemsize, adds, *c.shape, a.shape[1], *steps, a.ctypes.data, b.ctypes.data, c.ctypes.data)))

    return call


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_way_matrices_lie(ask, dtype):
    rng = np.random.default_rng(1)
    for a_turned, b_turned, adds in itertools.product((False, True), repeat=3):
        a, b = rng.random((260, 256)).astype(dtype), rng.random((256, 257)).astype(dtype)
        wide = np.ones((260, 300), dtype)
        c = wide[:, :257]
        assert ask(np.asfortranarray(a) if a_turned else a, np.asfortranarray(b) if b_turned else b, c, adds) == 1
        assert np.allclose(c, a @ b + adds, rtol=1e-5)
        assert (wide[:, 257:] == 1).all()


def test_what_it_is_not_asked_for(ask):
    whole = np.ones((1024, 1024))
    out = np.full((512, 512), 3.0)
    assert ask(whole[:64, :64], whole[:64, :], np.empty((64, 1024))) == 0  # small
    assert ask(np.ones((100000, 32)), np.ones((32, 16)), np.empty((100000, 16))) == 0  # thin
    assert ask(whole[::2, ::2], whole[:512, :512], out) == 0  # no neighbours in memory
    assert ask(np.lib.stride_tricks.as_strided(whole, (512, 512), (0, 8)), whole[:512, :512], out) == 0  # one row for all
    assert (out == 3).all()
    assert ask(whole[:512, :512], whole[512:, 512:], out) == 1 and (out == 512).all()


@at.fn
def plain(a: f64[n, m], b: f64[m, p]) -> f64[n, p]:
    return a @ b


@at.fn
def turned(a: f32[m, n], b: f32[p, m]) -> f32[n, p]:
    return maximum(a.T @ b.T - 4.0, 0.0)


@at.fn
def part(a: f64[n, n], b: f64[n, n]) -> f64[n - 2, n - 1]:
    return a[2:, 1:] @ b[1:, : n - 1]


@at.fn(bits="portable")
def portable(a: f64[n, m], b: f64[m, p]) -> f64[n, p]:
    return a @ b


@pytest.mark.parametrize(("f", "shapes", "by_numpy"), [
    (plain, ((7, 5), (5, 9)), lambda a, b: a @ b),
    (turned, ((20, 6), (7, 20)), lambda a, b: np.maximum(a.T @ b.T - 4, 0)),
    (part, ((9, 9), (9, 9)), lambda a, b: a[2:, 1:] @ b[1:, :8]),
])  # fmt: skip
def test_programs_ask_the_library(f, shapes, by_numpy, monkeypatch):
    rng = np.random.default_rng(2)
    dtype = np.float32 if f is turned else np.float64
    args = [rng.random(s).astype(dtype) for s in shapes]
    assert "->product(" in f.show("cuda")
    by_kernels = f.on("cuda-emulated")(*args)
    monkeypatch.setenv("ATOLL_EMULATED_PRODUCTS", "1")
    by_library = f.on("cuda-emulated")(*args)
    for found in (by_kernels, by_library):
        assert np.allclose(found, by_numpy(*args), rtol=1e-5)


def test_bits_that_are_promised_are_our_own():
    assert "->product(" not in portable.show("cuda")


def test_where_it_is_looked_for(monkeypatch):
    monkeypatch.setenv("ATOLL_CUBLAS", "none")
    assert products() == []
    monkeypatch.setenv("ATOLL_CUBLAS", "/here/libcublas.so.13")
    assert products() == ["/here/libcublas.so.13"]
    monkeypatch.delenv("ATOLL_CUBLAS")
    assert "libcublas.so.13" in products()
