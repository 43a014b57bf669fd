"""Error codes of GPUs, E084x: rows in the shape of `catalog._ROWS`."""

from __future__ import annotations

from atoll.errors import base as b

_C = b.CompileError

ROWS: list[tuple[str, type[b.Error], str, str, str]] = [
    ("E0840", _C, "{target} cannot be used: {reason}", "run it where there is an NVIDIA GPU with its driver, or on the CPU: .on(\"cpu\")", "A target is the one that was asked for or an error. `atoll doctor` says what was found. ATOLL_CUDA_DRIVER is the path of another libcuda.so.1."),
    ("E0841", _C, "kernels cannot be compiled: {reason}", "pip install 'atoll[cuda]', or set ATOLL_NVRTC to the path of libnvrtc.so", "Kernels are compiled by NVRTC, a library of CUDA that is in a wheel of its own, in CUDA's toolkit and in what PyTorch, CuPy and JAX bring. It needs no GPU."),
    ("E0842", b.RunError, "{target} refused {doing}: {said}", "{remedy}", "What the driver said, with its own name and number for it."),
    ("E0843", b.RunMemoryError, "{name}: {target} has not enough memory ({room})", "free arrays on the device (x.free()), or call it with smaller sizes; .memory() says what it allocates", "An array could not be allocated on the device. Nothing is left behind by the call; what was there before is as it was."),
    ("E0844", _C, "NVRTC refused the kernels of {name}: {message}", "this is a bug in Atoll; please report it with the program", ""),
    ("E0845", b.TypeError, "{name}: {what}", "{remedy}", "Arrays on a device are given and taken without copies, so they must be where the program runs, one element after the other, and not freed."),
]
