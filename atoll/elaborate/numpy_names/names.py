"""The names alone: what is NumPy's, what of it can be written bare. Cheap to import; a test holds them against the table."""

from __future__ import annotations

SUBMODULES = ("linalg", "fft")

_OUTER = """
    add arctan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal float_power floor_divide
    fmax fmin fmod gcd greater greater_equal heaviside hypot lcm ldexp left_shift less less_equal linalg logaddexp logaddexp2 logical_and
    logical_or logical_xor maximum minimum mod multiply not_equal pow power remainder right_shift subtract true_divide
""".split()

NAMES: frozenset[str] = frozenset(
    """
    add all allclose amax amin angle any append apply_along_axis arange arctan2 argmax argmin argpartition argsort argwhere around array
    array_equal array_equiv array_split asanyarray asarray ascontiguousarray asfortranarray astype atleast_1d atleast_2d atleast_3d average bartlett
    bincount bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block
    broadcast_arrays broadcast_to choose clip column_stack compress concat concatenate conj conjugate convolve copy copysign copyto corrcoef
    correlate count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees delete diag diag_indices diag_indices_from diagflat diagonal diff digitize divide divmod
    dot dsplit dstack ediff1d einsum empty empty_like equal expand_dims extract eye fabs fill_diagonal finfo fix flatnonzero flip fliplr flipud
    float_power floor_divide fmax fmin fmod fromfunction full full_like gcd geomspace gradient greater greater_equal hamming hanning
    heaviside histogram histogram2d histogram_bin_edges hsplit hstack hypot identity iinfo imag indices inner insert interp intersect1d invert isclose
    iscomplex iscomplexobj isin isneginf isposinf isreal isrealobj ix_ kron lcm ldexp left_shift less less_equal lexsort linspace logaddexp logaddexp2
    logical_and logical_not logical_or logical_xor logspace matmul matrix_transpose matvec max maximum mean median meshgrid min minimum mod modf
    moveaxis multiply nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile
    nanstd nansum nanvar ndim negative nonzero not_equal ones ones_like outer pad partition percentile permute_dims piecewise poly polyadd polyder polyfit
    polyint polymul polysub polyval positive pow power prod ptp put put_along_axis putmask quantile rad2deg radians ravel ravel_multi_index
    real reciprocal remainder repeat reshape resize right_shift rint roll rollaxis rot90 round searchsorted select setdiff1d setxor1d shape sinc
    size sort split squeeze stack std subtract sum swapaxes take take_along_axis tensordot tile trace transpose trapezoid tri tril
    tril_indices tril_indices_from trim_zeros triu triu_indices triu_indices_from true_divide union1d unique unique_all unique_counts unique_inverse unique_values unravel_index unstack unwrap vander var vdot vecdot vecmat
    vsplit vstack where zeros zeros_like add.accumulate add.at add.reduce fft.fft fft.fft2 fft.fftfreq fft.fftn fft.fftshift fft.ifft
    fft.hfft fft.ifft2 fft.ifftn fft.ifftshift fft.irfft fft.ihfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftfreq fft.rfftn linalg.cholesky linalg.cond linalg.cross
    linalg.det linalg.diagonal linalg.eigh linalg.eigvalsh linalg.inv linalg.lstsq linalg.matmul linalg.matrix_norm linalg.matrix_power
    linalg.matrix_rank linalg.matrix_transpose linalg.multi_dot linalg.norm linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals
    linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm logical_and.accumulate logical_and.reduce logical_or.accumulate
    logical_or.reduce functools.reduce math.comb math.degrees math.dist math.fabs math.factorial math.fsum math.gcd math.hypot math.isclose math.isqrt math.lcm
    math.ldexp math.log math.modf math.perm math.pow math.prod
    math.radians maximum.accumulate maximum.at maximum.reduce minimum.accumulate minimum.at minimum.reduce multiply.accumulate multiply.at
    multiply.reduce subtract.at bitwise_and.reduce bitwise_or.reduce bitwise_xor.reduce gcd.reduce lcm.reduce logical_xor.reduce python.divmod python.list
    python.ord
    """.split()
) | {f"{name}.outer" for name in _OUTER}

NUMPYS: frozenset[str] = frozenset("copysign fabs fmod hypot rint".split())
"""Names the language has too, whose element types are others in NumPy."""

STATEMENTS: frozenset[str] = frozenset("add.at copyto fill_diagonal maximum.at minimum.at multiply.at put put_along_axis putmask subtract.at".split())
"""What NumPy does in place: a statement of its own that gives its first argument a new value."""

_DOTTED_ONLY = frozenset({"poly"})  # too short a word to be taken from everybody
_PYTHONS = frozenset("abs all any bool complex divmod float int max min pow round sum sorted list".split())


def bare(language: frozenset[str]) -> frozenset[str]:
    """The names of NumPy's top level that mean NumPy's when written bare: the language and Python have no other meaning for them."""
    return frozenset(name for name in NAMES if "." not in name and name not in language and name not in _PYTHONS and name not in _DOTTED_ONLY)
