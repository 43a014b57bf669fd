"""Why a kernel is behind its best peer on a GPU, by the name of the kernel: read off the kernels and the host program, and where a time is named, profiled
(bench/gpu/profile.py, 18 November)."""

_TILES = "cuBLAS makes the large products for us too; kernels around them and smaller products, by our own tiles, cost the rest"
_DIGITS = "all elements are read once more to count digits before every pass (0.44 ms of 1.7 for 10^8), and copied before the first and after the last; CUB, which peers call, counts as it goes"
_LOOK_BACK = "a tile waits for all 32 before it, in one order, so that the bits are the same every time; peers take what is ready"
_FLOATS = "floats are added in one order: lanes of a warp with the same bin take turns; peers add them by atomics, in any order"
_COLUMNS = "a warp reads 32 neighbouring numbers of a row, one for each thread, of a few rows at a time: too few bytes are on their way at once"
_STEPS = "column after column: two kernels of 3.3 and 3.5 microseconds each; peers work in blocks of columns (cuSOLVER)"
_ROWS = "blocks of 32 rows wait for each other, 9 to 15 microseconds each: every row's division waits for that before it; peers multiply by inverses of blocks (cuBLAS)"
_SINGLE = "elements are read one by one, a few at a time, not as vectors of 16 bytes"

REASONS: dict[str, str] = {
    "fft 64K": "two kernels (1.8 and 1.5 of 3.8 ms at 10^8), a block for 16 columns, which are too long for 32 KB of shared memory; small ones are twelve launches; peers call cuFFT",
    "cholesky": _STEPS,
    "triangular solve": _ROWS,
    "sort 1M f32": _DIGITS,
    "argsort 256K f64": _DIGITS,
    "weighted histogram 4096 bins": _FLOATS,
    "k-means step": f"distances of a point are one thread's, and go through memory (0.36 of 0.59 ms at 10^6, with a quarter of the threads it has now); {_FLOATS}",
    "gmm": "exponents of a point go through memory that threads have for themselves",
    "gmm gradient": "the derivative of every element goes through memory before it is added up (8.3 ms to make them, 3.4 to add them up, of 17 at 10^8)",
    "matmul 200 f32": _TILES,
    "matmul 512 f64": _TILES,
    "transposed product f32": _TILES,
    "gram matrix f64": _TILES,
    "product, bias, relu f32": _TILES,
    "mlp forward f32": _TILES,
    "mlp gradient f32": _TILES,
    "correlation": _TILES,
    "attention f32": f"scores go through memory between the products, twice more for the softmax, whose rows are held in registers since 18 November (17.0 ms before, 10.3 now at 10^8); {_TILES}",
    "batched 32 f32": "not examined since its tiles bring 32 rounds at once",
    "conv2d 3x3 f32": "a product of matrices for every row of the image, its windows brought by single numbers (6.4 ms at 10^8 before tiles of 16 by 256, 2.9 now); peers call cuDNN",
    "vecmat 2048 f64": _COLUMNS,
    "logistic gradient": _COLUMNS,
    "column sums f64": _COLUMNS,
    "matvec 2048 f64": "a row is read by single numbers, not vectors",
    "softmax f32": "a row of 1024 is held in registers by 128 threads, as peers hold it; at 10^8 that takes 268 us, where reading it twice took 235: not examined",
    "layer norm f32": "a row is read three times; peers keep it in registers",
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
