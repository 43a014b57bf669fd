"""Calling programs on a device: arguments, results, errors, arrays that stay there. On the emulated device everywhere; on a GPU where ATOLL_TEST_CUDA=1."""

from __future__ import annotations

import gc
import os
import threading
from dataclasses import replace

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.runtime.cuda.devices import EMULATED, device
from atoll.runtime.cuda.program import DeviceProgram
from tests.cuda.by_hand import KERNELS, by_hand, program, scaled

TARGETS = [EMULATED, *(["cuda"] if os.environ.get("ATOLL_TEST_CUDA") == "1" else [])]


@pytest.fixture(scope="module", params=TARGETS)
def made(request):
    return program(request.param)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 1000])
def test_numpy_in_numpy_out(made, n):
    x = np.arange(n) + 0.5
    y, total = made.call(x, 3.0, -1)
    assert type(y) is np.ndarray and isinstance(total, np.float64)
    assert (y == 3.0 * x).all() and y.shape == (n,) and total == (3.0 * x).sum()


def test_arrays_that_stay(made):
    x = np.arange(1000.0)
    there = at.DeviceArray(x, made.device.target)
    y, total = made.call(there, 2.0, -1)
    assert isinstance(y, at.DeviceArray) and isinstance(total, at.DeviceArray) and total.shape == ()
    assert float(total) == 2 * x.sum() and (np.asarray(y) == 2 * x).all()
    again, _ = made.call(y, 0.5, -1)
    assert again.wait() is again
    assert (np.asarray(again) == x).all() and y.dtype == np.float64 and len(y) == 1000 and y.nbytes == 8000


def test_keywords_and_views(made):
    x = np.arange(20.0)
    assert (made.call(x[::2], bad=-1, by=1.0)[0] == x[::2]).all()


def test_a_check_that_fails(made):
    with pytest.raises(at.RunError, match="index 7 is out of range for size 9") as caught:
        made.call(np.ones(9), 1.0, 7)
    assert caught.value.code == "E0701"
    assert made.call(np.ones(9), 1.0, -1)[1] == 9.0  # usable afterwards


def test_wrong_arguments(made):
    with pytest.raises(at.TypeError, match="E0603"):
        made.call(at.DeviceArray(np.ones(3, np.float32), made.device.target), 1.0, 0)
    with pytest.raises(at.TypeError, match="E0608"):
        made.call(at.DeviceArray(np.ones((3, 3)), made.device.target), 1.0, 0)


def test_dlpack_both_ways(made):
    x = at.DeviceArray(np.arange(6.0).reshape(2, 3), made.device.target)
    if made.device.target != EMULATED:
        pytest.skip("tests/cuda/libraries.py has torch, CuPy and JAX")
    seen = np.from_dlpack(x)
    assert (seen == np.arange(6.0).reshape(2, 3)).all() and seen.ctypes.data == x.pointer
    del x
    gc.collect()
    assert seen[1, 2] == 5.0  # its memory lives as long as what was given away
    for dtype in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"):
        values = np.array([0, 1, 1], dtype)
        there = at.DeviceArray(values, made.device.target)
        assert (np.from_dlpack(there) == values).all() and np.from_dlpack(there).dtype == values.dtype
        assert (np.asarray(there) == values).all()
    capsule = there.__dlpack__()
    del capsule  # taken by nobody


def test_freed(made):
    x = at.DeviceArray(np.ones(3), made.device.target)
    x.free()
    x.free()
    assert repr(x) == "DeviceArray(freed)"
    with pytest.raises(at.TypeError, match="E0845.*freed"):
        made.call(x, 1.0, -1)
    with pytest.raises(at.TypeError, match="E0845"):
        np.asarray(x)


def test_numbers_on_the_device(made):
    by = at.DeviceArray(np.float64(4.0), made.device.target)
    assert float(made.call(np.ones(5), by, -1)[1]) == 20.0
    assert repr(at.DeviceArray(np.arange(3.0), made.device.target)) == f"DeviceArray([0., 1., 2.], dtype=float64, target={made.device.target!r})"


def test_no_memory_is_told_and_leaves_nothing(monkeypatch):
    made = program(EMULATED)

    def enough(room):
        monkeypatch.setenv("ATOLL_EMULATED_MEMORY", str(room))
        try:
            return made.call(np.ones(1000), 1.0, -1)[1] == 1000.0
        except MemoryError as caught:
            assert isinstance(caught, at.RunError) and "E0843: scaled: cuda-emulated has not enough memory" in str(caught)
            return False

    gc.collect()
    few, many = 0, 1 << 40  # what other tests still hold counts too
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    assert many >= 16000  # x and y
    assert not enough(many - 1) and not enough(many - 1) and not enough(many // 2)
    assert enough(many)  # what the failed calls had is back


def test_kernels_that_are_wrong():
    def too_far(fn):
        return replace(by_hand(fn), kernels_text=KERNELS.replace("if (i < n) y[i]", "if (i <= n) y[i]").replace("x[i] * by", "by"))

    def divergent(fn):
        return replace(by_hand(fn), kernels_text=KERNELS.replace("if (i < n)", "if (i == 3) __syncthreads();\n if (i < n)"))

    for generate, words in ((too_far, "a write beyond the ends of an array"), (divergent, "divergent barrier: thread 3 waits at line 5")):
        wrong = DeviceProgram(scaled.core, scaled._arguments, EMULATED, generate=generate)
        with pytest.raises(at.RunError, match=f"E0842: cuda-emulated refused to run a kernel of scaled: {words}"):
            wrong.call(np.ones(8), 1.0, -1)


def test_threads(made):
    found: list[float] = []

    def work(k: int) -> None:
        found.extend(made.call(np.full(300, float(k)), 1.0, -1)[1] for _ in range(5))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert sorted(found) == sorted(300.0 * k for k in range(4) for _ in range(5))


def test_names_of_targets():
    for wrong in ("gpu", "cuda:", "cuda:x", "CUDA", ""):
        with pytest.raises(at.CompileError, match="E0840"):
            device(wrong)


m, k = at.sizes("m k")


@at.fn
def repeated(x: f64[m], k: i64):
    return [[v * 2.0 for v in x] for _ in range(k)]


def test_sizes_that_are_arguments():
    there = repeated.on(EMULATED)
    for count in (3, 1, 0):
        assert there(np.arange(4.0), count).shape == (count, 4)
        assert there(at.DeviceArray(np.arange(4.0), EMULATED), count).shape == (count, 4)
