"""Why a kernel is behind its best peer on a GPU, by the name of the kernel: read off the kernels and the host program, not profiled. A page is not made without
a reason for each."""

_TILES = "cuBLAS makes the large products for us too; kernels around them and smaller products, by our own tiles, cost the rest"
_DIGITS = "all elements are read once more to count digits before every pass, and copied before the first and after the last; CUB, which peers call, counts as it goes"
_LOOK_BACK = "a tile waits for all 32 before it, in one order, so that the bits are the same every time; peers take what is ready"
_FLOATS = "floats are added in one order: lanes of a warp with the same bin take turns; peers add them by atomics, in any order"
_COLUMNS = "a warp reads 32 neighbouring numbers of a row, one for each thread, of a few rows at a time: too few bytes are on their way at once"
_STEPS = "row after row: by one block, a microsecond each, where rows are short, else by kernels of a few microseconds each; peers work in blocks of columns (cuBLAS, cuSOLVER)"
_SINGLE = "elements are read one by one, a few at a time, not as vectors of 16 bytes"

REASONS: dict[str, str] = {
    "fft 64K": "a block for 16 columns, which go through the L2 cache at every level and not through shared memory; peers call cuFFT",
    "cholesky": _STEPS,
    "triangular solve": _STEPS,
    "sort 1M f32": _DIGITS,
    "argsort 256K f64": _DIGITS,
    "weighted histogram 4096 bins": _FLOATS,
    "k-means step": f"distances of a point are one thread's, and go through memory; {_FLOATS}",
    "gmm": "exponents of a point go through memory that threads have for themselves",
    "gmm gradient": "the derivative of every element goes through memory before it is added up",
    "matmul 200 f32": _TILES,
    "matmul 512 f64": _TILES,
    "transposed product f32": _TILES,
    "gram matrix f64": _TILES,
    "product, bias, relu f32": _TILES,
    "mlp forward f32": _TILES,
    "mlp gradient f32": _TILES,
    "correlation": _TILES,
    "attention f32": f"scores go through memory between the products; {_TILES}",
    "batched 32 f32": "tiles of 32 by 32 load single numbers, not vectors",
    "conv2d 3x3 f32": "tiles of 64 channels, of which 16 are there; peers call cuDNN",
    "vecmat 2048 f64": _COLUMNS,
    "logistic gradient": _COLUMNS,
    "column sums f64": _COLUMNS,
    "matvec 2048 f64": "a row is read by single numbers, not vectors",
    "softmax f32": "a row is read twice, its exponentials go through shared memory; peers keep a row in registers",
    "layer norm f32": "a row is read three times; peers keep it in registers",
    "outer product f32": "indices are of 64 bits, and elements are stored one by one, not as vectors",
    "prefix sums 1M f64": _LOOK_BACK,
    "running maximum 1M f32": _LOOK_BACK,
    "filter 1M f32": f"{_LOOK_BACK}; and the size of the result is fetched before it is made",
    "gather 1M f64": "the call waits to see whether an index was out of range",
    "max 1M f32": _SINGLE,
    "sum 1M f32": _SINGLE,
    "argmax 1M f32": _SINGLE,
    "dot 64K f64": _SINGLE,
    "row sums f64": _SINGLE,
    "max pool f32": _SINGLE,
    "sum 64K f64": "launches: the work itself is shorter",
    "variance 1M f64": "two launches, the second for differences to the mean of the first; the work itself is shorter",
    "gelu f32": "launches: the work itself is shorter",
}
