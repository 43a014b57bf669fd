"""Arrays of PyTorch, CuPy and JAX on a GPU, in and out without copies and in the order of their streams. For machines with a GPU: `make test-cuda`."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import atoll as at
from tests.cuda.by_hand import program

DTYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64", "complex128")


@pytest.fixture(scope="module")
def made():
    return program("cuda")


def test_torch(made):
    torch = pytest.importorskip("torch")
    x = torch.arange(1000, dtype=torch.float64, device="cuda")
    y, total = made.call(x, 2.0, -1)
    assert isinstance(y, at.DeviceArray) and float(total) == 999000.0
    back = torch.from_dlpack(y)
    assert back.data_ptr() == y.pointer and bool((back == 2 * x).all())
    other = torch.as_tensor(y, device="cuda")  # by __cuda_array_interface__
    assert other.data_ptr() == y.pointer and bool((other == 2 * x).all())
    del y, other
    gc.collect()
    assert float(back.sum()) == 999000.0  # its memory lives on
    for name in DTYPES:
        values = torch.tensor([0, 1, 1, 0], device="cuda").to(getattr(torch, name))
        ours = at.DeviceArray(values)
        assert ours.pointer == values.data_ptr() and ours.dtype == np.dtype(name)
        assert torch.equal(torch.from_dlpack(ours), values) and (np.asarray(ours) == values.cpu().numpy()).all()
    for wrong, words in ((x.reshape(10, 100).t(), "not one after the other"), (x.clone().requires_grad_(), "graph of torch")):
        with pytest.raises(at.TypeError, match=f"E0845.*{words}"):
            made.call(wrong, 1.0, -1)
    with pytest.raises(at.TypeError, match="E0603"):
        made.call(x.float(), 1.0, -1)


def test_torch_on_another_stream(made):
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(20):
            x = torch.zeros(1 << 24, dtype=torch.float64, device="cuda")
            for _ in range(10):
                x = x + 1.0  # still in the stream's queue when we are called
            _, total = made.call(x, 1.0, -1)
            del x  # torch may have the memory again
            torch.full((1 << 24,), 7.0, dtype=torch.float64, device="cuda")
            assert float(total) == 10.0 * (1 << 24)


def test_cupy(made):
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(1000, dtype=cupy.float64)
    y, total = made.call(x, 2.0, -1)
    assert isinstance(y, at.DeviceArray) and float(total) == 999000.0
    for back in (cupy.asarray(y), cupy.from_dlpack(y)):
        assert back.data.ptr == y.pointer and bool((back == 2 * x).all())
    with pytest.raises(at.TypeError, match="E0845"):
        made.call(x[::2], 1.0, -1)
    with cupy.cuda.Stream(non_blocking=True):
        z = cupy.zeros(1 << 24) + 3.0
        assert float(made.call(z, 1.0, -1)[1]) == 3.0 * (1 << 24)


def test_jax(made):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU here")
    x = jax.numpy.arange(1000, dtype=jax.numpy.float64)
    y, total = made.call(x, 2.0, -1)
    assert isinstance(y, at.DeviceArray) and float(total) == 999000.0
    back = jax.dlpack.from_dlpack(y)
    assert bool((back == 2 * x).all()) and back.unsafe_buffer_pointer() == y.pointer
    big = jax.numpy.ones(1 << 24) * 3.0
    assert float(made.call(big, 1.0, -1)[1]) == 3.0 * (1 << 24)


def test_out_of_memory_leaves_things_usable(made):
    x = at.DeviceArray(np.ones(1000))
    held = []
    with pytest.raises(at.RunError, match="E0843: at.DeviceArray: cuda:0 .* has not enough memory"):
        for _ in range(100):
            held.append(made.device.alloc(16 << 30, "at.DeviceArray"))
    for pointer in held:
        made.device.release(pointer)
    assert float(made.call(x, 1.0, -1)[1]) == 1000.0


def test_the_same_bits_every_time_and_as_emulated(made):
    x = np.random.default_rng(0).standard_normal(100_003)
    there = at.DeviceArray(x)
    found = {float(made.call(there, 1.0, -1)[1]) for _ in range(20)}
    assert found == {float(program("cuda-emulated").call(x, 1.0, -1)[1])}
