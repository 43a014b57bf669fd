"""Kernels compiled by NVRTC, which needs no GPU: machine code, its use of registers, and the cache."""

from __future__ import annotations

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
