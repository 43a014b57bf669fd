"""Kernels compiled by NVRTC, which needs no GPU: machine code, its use of registers, and the cache."""

from __future__ import annotations

import ctypes
import re

import pytest

import atoll as at
from atoll.runtime.cache import cache
from atoll.runtime.cuda.nvrtc import cubin, nvrtc
from tests.cuda.by_hand import KERNELS


def _there() -> bool:
    try:
        nvrtc()
    except at.CompileError:
        return False
    return True


needs = pytest.mark.skipif(not _there(), reason="NVRTC is not installed (pip install 'atoll[cuda]')")


@needs
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_kernels_compile(arch):
    made = cubin(KERNELS, arch, "by_hand")
    assert made.image[:4] == b"\x7fELF" and set(made.uses) == {"scale", "total"}
    for use in made.uses.values():
        assert 0 < use.registers <= 40 and use.spilled == 0
    assert made.uses["total"].shared >= 8 * 8 + 4
    hits = cache.hits
    assert cubin(KERNELS, arch, "by_hand") == made and cache.hits == hits + 1


@needs
def test_a_mistake_in_a_kernel_is_ours():
    with pytest.raises(at.CompileError, match=r'E0844: NVRTC refused the kernels of f: kernels.cu\(2\): error: identifier "y" is undefined'):
        cubin('extern "C" __global__ void k(int *x) {\n    *x = y;\n}\n', "sm_90", "f")


@needs
def test_a_processor_it_does_not_know():
    with pytest.raises(at.CompileError, match="E0841: kernels cannot be compiled: NVRTC .* knows no sm_30, only sm_"):
        cubin(KERNELS, "sm_30", "f")


FOUND = """
import numpy as np
import atoll as at
from atoll import i64
n, m, k1 = at.sizes("n m k1")
W1 = np.array([3, 1, 0], dtype=np.int64)
@at.fn
def f(p0: at.bool_[n + 1], p1: at.bool_[3, n, 2]):
    cnt1 = i64(0)
    while cnt1 < 3:
        p1[:, :, :-1] = [[repeat(p0[j12], 1) for j12 in range(n)] for j11 in range(3)]
        p0 = [any(trunc_l([p0[-1] for j15 in range(5)], 2)) for j13 in range(n + 1)]
        cnt1 += 1
    v16 = concat(p0, p0)
    if p0[W1[-1] % len(p0)] if len(p0) > 0 else p0[-1]:
        v20 = p1[:, ::-1]
        v19 = abs([W1[1] for j25 in range(n + 1)] // (full(n + 1, W1[-1]) % 5 + 1))
    else:
        p0[-1] = any((bool(True) for j26 in range(2 * n + 2)))
        v19 = hist(lambda a, b: b if b > a else a, i64(-9223372036854775808), n + 1, [W1[-3] for j31 in range(1)] % (n + 1), [W1[-1] for j32 in range(1)])
    s35 = repeat(v19[-1], 2) << ([W1[j34 + 1] for j34 in range(2)] & 15)
    for j36 in range(2 * n + 2):
        if bool(s35[i64(s35[1]) % 2]):
            w42 = 1
            for j43 in range(n):
                p0[-1] = p1[-1][j43][0]
                v44 = pad(v19, 1)
                v45 = v16[::-2]
                w42 = w42 - s35[0]
            v38 = [p1[1][j46][1] for j46 in range(n)]
        elif p0[0]:
            v47 = window(v16, 2)
            v38 = full(n, v47[0, 1])
        else:
            v19[j36 % (n + 1)] *= v19[0]
            v38 = full(n, v16[-1])
    v52 = [(s35[-1] if v16[0] else v19[0], s35[0]), reduce(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (i64(1), i64(0)), [(s35[0], s35[-1]) for j50 in range(3)]), reduce(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (i64(1), i64(0)), [(s35[0], W1[0]) for j51 in range(n + 1)])]
    if p0[0]:
        return (v16, v19, s35, v52)
    return (v16, v19, s35, v52)
"""  # seed 910049

CHOSEN = """
extern "C" __global__ void k(long long n, bool *__restrict__ b, const bool *%s w, const bool *%s a, bool *__restrict__ out) {
    const long long p = blockIdx.x * 256LL + threadIdx.x;
    if (p > n) b[p] = w[p - n - 1];
    out[p] = n >= p ? a[p] : b[p];
}
"""


def ptx(text):
    compiler, program = nvrtc(), ctypes.c_void_p()
    compiler._ask("f", "nvrtcCreateProgram", ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None)
    options = [b"--gpu-architecture=compute_90"]
    compiler._ask("f", "nvrtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
    return compiler._bytes("f", program, "nvrtcGetPTX").decode().rstrip("\0")


@needs
def test_what_a_kernel_writes_is_not_read_as_if_nobody_did():
    """On an H200 the second half of a concatenation was old: NVRTC chooses between the addresses of a and b, and reads either as what no one writes
    (ld.global.nc). Without restrict it does not; a newer compiler may do neither."""
    after_the_choice = re.compile(r"selp\.b64.*?(ld\.global(?:\.nc)?)", re.DOTALL)
    assert after_the_choice.findall(ptx(CHOSEN % ("", ""))) in (["ld.global"], [])
    assert "ld.global.nc" in ptx(CHOSEN % ("__restrict__", "__restrict__"))  # of w, at least


def test_arrays_of_a_type_that_is_read_back_are_not_restrict():
    """In a kernel that reads what it has written, read-only arrays of the same type are plain pointers; in others they are restrict."""
    kernels = [line for line in at.fn(source=FOUND).show("cuda").splitlines() if "__global__" in line]
    joined = next(line for line in kernels if re.search(r"bool \*__restrict__ r\d+,.*bool \*__restrict__ result0", line))
    assert "const bool *__restrict__" not in joined and len(re.findall(r"const bool \*\w", joined)) == 2
    assert any("const bool *__restrict__" in line for line in kernels)
