"""Why a kernel is behind its best peer on a GPU, by the name of the kernel: read off the kernels and the host program, not profiled. The others are not known yet."""

_LIBRARY = "our own tiles; peers call cuBLAS, cuSOLVER or cuFFT"

REASONS: dict[str, str] = {
    "cholesky": _LIBRARY,
    "fft 64K": _LIBRARY,
    "sort 1M f32": "sorted by merging; peers sort by radix",
    "argsort 256K f64": "sorted by merging; peers sort by radix",
    "filter 1M f32": "the size of the result is fetched before it is made",
    "gather 1M f64": "the call waits to see whether an index was out of range",
    "matmul 200 f32": _LIBRARY,
    "matmul 512 f64": _LIBRARY,
    "gram matrix f64": _LIBRARY,
    "mlp forward f32": _LIBRARY,
    "mlp gradient f32": _LIBRARY,
    "product, bias, relu f32": _LIBRARY,
}
