"""What may be passed from Python: the right answer or an error in the user's words, compiled and interpreted alike."""

import array

import numpy as np
import pytest

import atoll as at
from atoll import c64, c128, f32, f64, i32, i64, u8, u64

n, m, k = at.sizes("n m k")
kept = at.some("kept")


@at.fn
def blend(x: f64[n, m], y: f64[m]) -> f64[n, m]:
    return x * 2 + y


@at.fn
def inc(x: f64[n]) -> f64[n]:
    return x + 1


@at.fn
def same(x: f64[n]) -> f64[n]:
    return x


@at.fn
def negate(x: at.bool_[n]):
    return [not v for v in x]


@at.fn
def halves(x: c64[n]):
    return x / 2


@at.fn
def small(x: u8[n, m]):
    return [sum(row) for row in x]


@at.fn
def scalars(a: f64, b: i32, c: at.bool_, d: c128, e: u8, f: f32, g: u64):
    return a + 1, b + 1, not c, d + 1, e, f, g


@at.fn
def pick(i: at.idx[n], x: f64[n]):
    return x[i]


@at.fn
def picks(i: at.idx[n][k], x: f64[n]):
    return [x[j] for j in i]


@at.fn
def scaled(p: (f64, f64[n])):
    return p[0] * p[1]


@at.fn
def upto(count: i64):
    return [f64(i) for i in range(count)]


@at.fn
def square_table(count: i64):
    return flatten([[1.0 for j in range(count)] for i in range(count)])


@at.fn
def four_times(count: i64):
    return [f64(i) for i in range(4 * count)]


@at.fn
def diagonal(count: i64, x: f64[n]):
    a = zeros((count, count))
    for i in range(n):
        a[i % count, (i * i) % count] = x[i]
    return sum(a[i, i] for i in range(count))


@at.fn
def outer(x: f64[n]):
    return [[u * v for v in x] for u in x]


X = np.arange(12.0).reshape(3, 4)
Y = np.arange(4.0)


def misaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)
    made = raw[1:].view(x.dtype).reshape(x.shape)
    made[...] = x
    assert not made.flags.aligned
    return made


def inside(x):
    """Every second element of a larger array."""
    big = np.full((2 * x.shape[0], 2 * x.shape[1]), np.nan)
    big[::2, ::2] = x
    return big[::2, ::2]


def readonly(x):
    made = x.copy()
    made.flags.writeable = False
    return made


class Sub(np.ndarray):
    """A subclass that must not decide how code reads it."""

    def __getitem__(self, item):
        return 99.0

    def __add__(self, other):
        raise AssertionError


class Interface:
    def __init__(self, x):
        self.__array_interface__ = x.__array_interface__
        self.kept = x


class DLPack:
    def __init__(self, x):
        self.kept = x

    def __dlpack__(self, **keywords):
        return self.kept.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.kept.__dlpack_device__()


class Broken:
    @property
    def __array_interface__(self):
        raise RuntimeError("no")


LAYOUTS = {
    "contiguous": lambda x: x,
    "strided": inside,
    "negative strides": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "Fortran order": np.asfortranarray,
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "read-only": readonly,
    "big-endian": lambda x: x.astype(">f8"),
    "big-endian and strided": lambda x: inside(x).astype(">f8"),
    "misaligned": misaligned,
    "misaligned and read-only": lambda x: readonly(misaligned(x)),
    "subclass": lambda x: x.copy().view(Sub),
    "matrix": np.matrix,
    "interface": Interface,
    "DLPack": DLPack,
    "memoryview": memoryview,
    "record field": lambda x: np.rec.fromarrays([x, x], names="a,b").a,
    "memory map": lambda x: x,
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, tmp_path):
    if layout == "memory map":
        X.tofile(tmp_path / "x")
        x = np.memmap(tmp_path / "x", dtype="f8", mode="r", shape=X.shape)
    else:
        x = LAYOUTS[layout](X)
    y = np.asarray(Y)
    for call in (blend, blend.interpret):
        found = call(x, y)
        assert type(found) is np.ndarray and found.dtype == np.float64 and found.flags.c_contiguous and found.flags.owndata
        np.testing.assert_array_equal(found, X * 2 + Y)


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0), (1, 1)])
def test_zero_sizes(shape):
    x, y = np.ones(shape), np.ones(shape[1])
    for call in (blend, blend.interpret):
        found = call(x, y)
        assert found.shape == shape
        np.testing.assert_array_equal(found, x * 2 + y)


def test_broadcast_views_and_overlap():
    row = np.broadcast_to(Y, (3, 4))
    np.testing.assert_array_equal(blend(row, Y), row * 3)
    np.testing.assert_array_equal(blend(X, X[0]), X * 2 + X[0])
    flat = np.arange(7.0)
    windows = np.lib.stride_tricks.sliding_window_view(flat, 4)
    np.testing.assert_array_equal(blend(windows, flat[3:]), windows * 2 + flat[3:])


def test_results_are_the_callers_own():
    for call in (same, same.interpret):
        x = Y.copy()
        found = call(x)
        assert not np.shares_memory(found, x) and found.flags.writeable
        found[0] = 99
        assert x[0] == 0


def test_other_buffers():
    np.testing.assert_array_equal(inc(array.array("d", [1, 2])), [2, 3])
    np.testing.assert_array_equal(small(memoryview(b"abcd").cast("B", (2, 2))), [97 + 98, 99 + 100])


def test_bools_that_are_views_of_other_bytes():
    x = np.array([2, 0, 1, 255], np.uint8).view(np.bool_)
    for call in (negate, negate.interpret):
        np.testing.assert_array_equal(call(x), [False, True, False, False])
        np.testing.assert_array_equal(call(x[::-1]), [False, False, True, False])


@at.fn
def with_first(x: at.bool_[n]) -> at.bool_[n]:
    """Copied as a whole, then changed."""
    x[0] = True
    return x


@at.fn
def with_first_own(x: at.own[at.bool_[n]]) -> at.bool_[n]:
    x[0] = True
    return x


@at.fn
def in_order(x: at.bool_[n]) -> at.bool_[n]:
    return sort(x)


@at.fn
def chosen_by(x: at.bool_[n], y: i64[n]) -> i64[n]:
    return [y[i] + i64(x[i]) if x[i] else i64(not x[i]) for i in range(n)]


@at.fn
def true_ones(x: at.bool_[n]) -> at.bool_[kept]:
    return [v for v in x if v]


@pytest.mark.parametrize("size", [1, 4, 65, 1000])
@pytest.mark.parametrize("f", [with_first, with_first_own, in_order, true_ones])
def test_bytes_that_are_no_bools_in_every_use(f, size):
    rng = np.random.default_rng(size)
    dirty = rng.choice(np.array([0, 0, 1, 2, 128, 255], np.uint8), size)
    clean = dirty != 0
    for x in (dirty.view(np.bool_), clean):
        given = x.copy()
        found = f(at.donate(given)) if f is with_first_own else f(given)
        expected = f.interpret(clean)
        np.testing.assert_array_equal(found, expected)
        assert set(found.view(np.uint8).tolist()) <= {0, 1}
    counts = np.arange(size)
    np.testing.assert_array_equal(chosen_by(dirty.view(np.bool_), counts), np.where(clean, counts + 1, 1))


def test_bools_that_are_only_read_are_not_looked_at_before():
    assert "seen" not in negate.show("c") and "seen" not in chosen_by.show("c")
    assert "seen" in with_first.show("c")


def test_complex_and_small_types():
    np.testing.assert_array_equal(halves(np.array([1 + 2j, 3], "c8")), np.array([0.5 + 1j, 1.5], "c8"))
    np.testing.assert_array_equal(halves(np.array([1 + 2j, 3], ">c8")), np.array([0.5 + 1j, 1.5], "c8"))


REFUSED = [
    (X.astype("f4"), "E0603", "inc: argument x must have dtype f64, not f32", "x.astype(np.float64)"),
    (np.arange(3), "E0603", "inc: argument x must have dtype f64, not i64", "x.astype(np.float64)"),
    (np.zeros(2, "f2"), "E0603", "inc: argument x must have dtype f64, not f16", ""),
    (np.zeros(2, "g"), "E0603", "not float128", ""),
    (np.zeros(2, "M8[s]"), "E0603", "not datetime64[s]", ""),
    (np.array(["a"]), "E0603", "not <U1", ""),
    (np.array([1.0, None], object), "E0603", "not object", ""),
    (np.zeros(2, [("a", "f8")]), "E0603", "not [('a', '<f8')]", ""),
    (b"12345678", "E0603", "not u8", ""),
    ([1.0, 2.0], "E0602", "inc: argument x must be f64[n], not a list", "np.array(x, dtype=np.float64)"),
    ((1.0, 2.0), "E0602", "inc: argument x must be f64[n], not a tuple", "np.array(x, dtype=np.float64)"),
    (1.0, "E0602", "inc: argument x must be f64[n], not a float", ""),
    (3, "E0602", "inc: argument x must be f64[n], not an int", ""),
    (None, "E0602", "inc: argument x must be f64[n], not None", ""),
    ("abc", "E0602", "inc: argument x must be f64[n], not a text", ""),
    ({}, "E0602", "inc: argument x must be f64[n], not a dictionary", ""),
    (Broken(), "E0602", "inc: argument x must be f64[n], not a Broken", ""),
    (np.ma.array([1.0, 2.0], mask=[0, 1]), "E0602", "inc: argument x must be f64[n], not a masked array", "x.filled(0)"),
    (np.array(1.0), "E0608", "inc: argument x must have 1 axis (f64[n]), not 0", ""),
    (np.float64(1.0), "E0608", "inc: argument x must have 1 axis (f64[n]), not 0", ""),
]


@pytest.mark.parametrize(("value", "code", "text", "help"), REFUSED)
def test_refused_arrays(value, code, text, help):
    texts = []
    for call in (inc, inc.interpret):
        with pytest.raises(at.TypeError) as caught:
            call(value)
        assert caught.value.code == code and text in str(caught.value) and help in str(caught.value)
        assert isinstance(caught.value, TypeError)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_sizes_that_do_not_fit():
    for call in (blend, blend.interpret):
        with pytest.raises(at.SizeError) as caught:
            call(X, np.ones(5))
        assert str(caught.value).splitlines()[0] == "E0601: blend: size m is 4 in argument x (axis 1) but 5 in argument y (axis 0)"


GOOD = (1.0, 2, True, 1j, 3, 2.0, 2**63)


def test_scalars():
    expected = (2.0, 3, False, 1 + 1j, 3, 2.0, 2**63)
    zero_d = tuple(np.array(x, t) for x, t in zip(GOOD, ("f8", "i4", "?", "c16", "u1", "f4", "u8")))
    for call in (scalars, scalars.interpret):
        for given in (GOOD, tuple(x[()] for x in zero_d), zero_d, (1, 2, True, 1j, 3, 2, 2**63)):
            found = call(*given)
            assert found == expected
            assert [type(x) for x in found] == [np.float64, np.int32, np.bool_, np.complex128, np.uint8, np.float32, np.uint64]


@pytest.mark.parametrize(
    ("place", "value", "code", "text"),
    [
        (0, np.float32(1), "E0603", "argument a must have dtype f64, not f32"),
        (0, 1j, "E0607", "argument a is 1j, which does not fit f64"),
        (0, 10**400, "E0607", "argument a is a huge number, which does not fit f64"),
        (0, "1", "E0602", "argument a must be f64, not a text"),
        (0, True, "E0607", "argument a is True, which does not fit f64"),
        (1, 2.0, "E0607", "argument b is 2.0, which does not fit i32"),
        (1, True, "E0607", "argument b is True, which does not fit i32"),
        (1, 2**31, "E0607", "argument b is 2147483648, which does not fit i32"),
        (1, np.int64(1), "E0603", "argument b must have dtype i32, not i64"),
        (2, 1, "E0607", "argument c is 1, which does not fit bool"),
        (4, -1, "E0607", "argument e is -1, which does not fit u8"),
        (4, 256, "E0607", "argument e is 256, which does not fit u8"),
        (5, 1e300, "E0607", "argument f is 1e+300, which does not fit f32"),
        (6, -1, "E0607", "argument g is -1, which does not fit u64"),
        (6, 2**64, "E0607", "argument g is 18446744073709551616, which does not fit u64"),
        (6, None, "E0602", "argument g must be u64, not None"),
    ],
)
def test_refused_scalars(place, value, code, text):
    given = (*GOOD[:place], value, *GOOD[place + 1 :])
    for call in (scalars, scalars.interpret):
        with pytest.raises(at.TypeError) as caught:
            call(*given)
        assert caught.value.code == code and f"scalars: {text}" in str(caught.value)


def test_special_floats_are_passed():
    assert np.isnan(scalars(float("nan"), *GOOD[1:])[0])
    assert scalars(*GOOD[:5], float("inf"), GOOD[6])[5] == np.inf


def test_indices():
    assert pick(3, Y) == 3
    np.testing.assert_array_equal(picks(np.array([0, 3, 3]), Y), [0, 3, 3])
    np.testing.assert_array_equal(picks(np.array([0, 3], np.longlong), Y), [0, 3])
    for call in (pick, pick.interpret):
        for bad in (4, -1, 2**62):
            with pytest.raises(IndexError) as caught:
                call(bad, Y)
            assert str(caught.value).splitlines()[0] == f"E0604: pick: argument i is declared idx[n], but holds {bad}; an index here is at least 0 and below 4"
    for call in (picks, picks.interpret):
        with pytest.raises(IndexError, match="E0604"):
            call(np.array([0, 9]), Y)
        with pytest.raises(at.TypeError, match="E0603"):
            call(np.array([0, 1], "i4"), Y)


def test_tuples():
    np.testing.assert_array_equal(scaled((2.0, Y)), 2 * Y)
    for value, found in [([2.0, Y, Y], "a list of 3"), ((2.0, Y, Y), "a tuple of 3"), (Y, "an array"), ((2.0, None), "argument p[1] must be f64[n], not None")]:
        with pytest.raises(at.TypeError, match="E0602") as caught:
            scaled(value)
        assert found in str(caught.value)


# -- sizes beyond all memory


@pytest.mark.parametrize(
    ("call", "args"),
    [
        (upto, (10**15,)),
        (upto, (2**62,)),
        (square_table, (2**32,)),  # 2**64 elements: would wrap to none
        (square_table, (2**31,)),
        (four_times, (2**62,)),
        (diagonal, (2**32, Y)),  # a temporary of 2**64 elements
        (diagonal, (2**24, Y)),
        (outer, (np.zeros(2**23),)),
        (inc, (np.broadcast_to(np.zeros(1), (2**45,)),)),
        (inc, (np.broadcast_to(np.zeros(1, ">f8"), (2**45,)),)),
    ],
)
def test_beyond_memory(call, args):
    with pytest.raises(MemoryError) as caught:
        call(*args)
    assert isinstance(caught.value, at.RunError)
    assert str(caught.value).splitlines()[0] == f"E0713: {call.name}: there is not enough memory"


def test_negative_sizes():
    for call, count in [(upto, -1), (square_table, -3), (four_times, -(2**40))]:
        with pytest.raises(at.SizeError, match="E0709") as caught:
            call(count)
        assert f"count is {count}" in str(caught.value)


def test_errors_show_no_frames_of_the_compiler():
    import traceback

    with pytest.raises(at.TypeError) as caught:
        inc([1.0])
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [f.name for f in frames if f.name != "__call__"] == ["test_errors_show_no_frames_of_the_compiler"] and len(frames) <= 2
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
