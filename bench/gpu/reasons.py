"""Why a kernel is behind its best peer on a GPU, by the name of the kernel: read off the kernels and the host program, and where a time is named, profiled
(bench/gpu/profile.py, 18 and 19 November)."""

_TILES = "cuBLAS makes the large products for us too; kernels around them and smaller products, by our own tiles, cost the rest"
_DIGITS = "all elements are read once more to count digits before every pass, and copied before the first and after the last (of 4.63 ms for 10^8 of f32 3.19 move, 1.05 count, 0.38 copy); CUB, which peers call, counts as it goes"
_LOOK_BACK = "a tile waits for all 32 before it, in one order, so that the bits are the same every time; peers take what is ready"
_FLOATS = "floats are added in one order: lanes of a warp with the same bin take turns (1.47 of 1.65 ms at 10^8: a warp has 32 KB of bins, so seven are at work on a multiprocessor); peers add them by atomics, in any order"
_COLUMNS = "a warp reads 32 neighbouring numbers of a row, one for each thread, of a few rows at a time: too few bytes are on their way at once"
_STEPS = "column after column: two kernels of 3.3 and 3.5 microseconds each; peers work in blocks of columns (cuSOLVER)"
_ROWS = "blocks of 32 rows wait for each other, 6 microseconds each (15 before 19 November): every row's division waits for that before it; peers multiply by inverses of blocks (cuBLAS)"
_SINGLE = "elements are read one by one, four or eight on their way, not as vectors of 16 bytes"

REASONS: dict[str, str] = {
    "fft 64K": "two kernels (1.8 and 1.5 of 3.8 ms at 10^8), a block for 16 columns, which are too long for 32 KB of shared memory; small ones are twelve launches; peers call cuFFT",
    "cholesky": _STEPS,
    "triangular solve": _ROWS,
    "sort 1M f32": _DIGITS,
    "argsort 256K f64": _DIGITS,
    "weighted histogram 4096 bins": _FLOATS,
    "gmm gradient": "the derivative of every element goes through memory before it is added up (41 us to make them, 47 to add them up, of 160 at 10^6)",
    "matmul 200 f32": _TILES,
    "matmul 512 f64": _TILES,
    "transposed product f32": _TILES,
    "gram matrix f64": _TILES,
    "product, bias, relu f32": "cuBLAS makes the product (126 us at 10^8) and adds up its pieces (6); what follows is a kernel of its own (5)",
    "mlp forward f32": _TILES,
    "mlp gradient f32": _TILES,
    "correlation": _TILES,
    "attention f32": f"scores go through memory between the products, twice more for the softmax (3.2 of 10.4 ms at 10^8: one block of 1024 threads has room on a multiprocessor, and does not read while it computes); {_TILES}",
    "batched 32 f32": "not examined since its tiles bring 32 rounds at once",
    "conv2d 3x3 f32": "a product of matrices for every row of the image, its windows brought by single numbers (6.4 ms at 10^8 before tiles of 16 by 256, 2.9 now); peers call cuDNN",
    "vecmat 2048 f64": _COLUMNS,
    "logistic gradient": f"two passes over the matrix (0.32 and 0.35 ms at 10^8): a row is a warp's, which exchanges more often than it reads; of columns {_COLUMNS}",
    "column sums f64": _COLUMNS,
    "matvec 2048 f64": "a row is read by single numbers, not vectors",
    "softmax f32": "a row of 1024 is held in registers by 128 threads, as peers hold it; exponents and IEEE's divisions seem to take the time: layer norm, which has the same shape and none of them for each element, takes 194 us; 64 threads (369 us) and elements without a test each (280) are slower",
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
    "variance 1M f64": "two passes over the elements, the second for differences to the mean of the first",
    "gelu f32": "launches: the work itself is shorter",
}
