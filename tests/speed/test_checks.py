"""Checks outside loops: tested at the ends of a range, or in the loop without leaving it; joined to the loop that needs them. The same
failures are reported, at the same place, and nothing outside an array is ever read."""

import itertools

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.loops.control.hoist_checks import hoist_checks
from atoll.loops.optimise import optimise
from atoll.loops.show import show
from atoll.lower.make import compiled_loops, make_loops
from tests.agreement import agree, fails

n, m, k = at.sizes("n m k")
rng = np.random.default_rng(7)


@at.fn
def segments(starts: i64[k + 1], x: f64[n]) -> f64[k]:
    return [sum(x[j] for j in range(starts[i], starts[i + 1])) for i in range(k)]


@at.fn
def spmv(row: i64[n + 1], column: i64[k], value: f64[k], x: f64[m]) -> f64[n]:
    return [sum(value[j] * x[column[j]] for j in range(row[i], row[i + 1])) for i in range(n)]


@at.fn
def take(x: f64[n], places: i64[m]) -> f64[m]:
    return x[places]


@at.fn
def twice(x: f32[n], y: f64[k], places: i64[m]) -> f64[m]:
    return [x[p] * y[p] + x[p] for p in places]


@at.fn
def chained(x: f64[n], a: i64[k], b: i64[m]) -> f64[m]:
    return [x[a[i]] for i in b]


@at.fn
def shifts(x: f64[n], s: i64, t: i64, like: f64[m]) -> f64[m]:
    return [x[s + 2 * i] - x[t - i] for i in range(m)]


@at.fn
def in_order(x: f64[n], s: i64, like: f64[m]) -> f64:
    y = 0.0
    for i in range(m):
        y = 0.5 * y + x[s + i]
    return y


@at.fn
def transform(re: f64[2 * n], im: f64[2 * n], cosine: f64[n], sine: f64[n], levels: i64):
    for level in range(levels):
        width = 1 << level

        def butterfly(o):
            low = o & (width - 1)
            a = ((o >> (level + 1)) << level) | low
            t = low << (levels - 1 - level)
            c, s = cosine[t], sine[t]
            tr = re[a + n] * c - im[a + n] * s
            ti = re[a + n] * s + im[a + n] * c
            sign = 1.0 - 2.0 * f64((o >> level) & 1)
            return re[a] + sign * tr, im[a] + sign * ti

        re, im = unzip([butterfly(i64(o)) for o in range(2 * n)])
    return re, im


@at.fn
def strided(x: f64[n], step: i64, like: f64[m]) -> f64[m]:
    return [x[step * i] for i in range(m)]


def test_ragged_sums_have_no_checks_inside():
    text = show(compiled_loops(segments.core))
    assert "else:" in text and "bad__" not in text  # both ends before the sum, nothing in it
    inner = text[text.index("accumulate") :]
    assert "check" not in inner
    x = rng.random(40)
    agree(segments, np.array([0, 3, 3, 40]), x)
    agree(segments, np.array([5, 2, 2, 39, 40]), x)  # an empty range backwards
    agree(segments, np.array([0]), x)
    agree(segments, np.array([-7, -9]), x)  # empty: nothing is read
    for wrong in ([0, 41], [-1, 3], [38, 42, 5], [2**62, 2**62 + 5], [-(2**63), -(2**63) + 3], [2**63 - 3, 2**63 - 1]):
        fails(segments, np.array(wrong), x, code="E0701")
    with pytest.raises(at.Error, match="40"):
        segments(np.array([0, 3, 60]), x)


@pytest.mark.parametrize("lengths", [[0, 1, 2, 3, 4, 5, 7, 8, 9], [127, 128, 129, 130], [1000, 0, 2049]])
def test_short_and_long_sums(lengths):
    starts = np.concatenate([[0], np.cumsum(lengths)])
    x = rng.random(starts[-1])
    np.testing.assert_allclose(segments(starts, x), [x[a:b].sum() for a, b in itertools.pairwise(starts)], rtol=1e-13)
    results = []
    try:
        for threads in (1, 3):
            at.set_threads(threads)
            results.append(segments(np.tile(starts, 300), x))
    finally:
        at.set_threads(2)
    assert np.array_equal(*results)


def test_sparse_products():
    assert "made at its ends" in spmv.explain("schedule") and "for all rounds at once" in spmv.explain("schedule")
    row, column, value, x = np.array([0, 2, 2, 6]), np.array([0, 3, 1, 1, 2, 0]), rng.random(6), rng.random(4)
    agree(spmv, row, column, value, x)
    for at_, wrong in ((1, 4), (5, -1), (2, 2**63 - 1), (0, -(2**63))):
        bad = column.copy()
        bad[at_] = wrong
        fails(spmv, row, bad, value, x, code="E0701")
    fails(spmv, np.array([0, 2, 2, 7]), column, value, x, code="E0701")
    fails(spmv, row, column, value, x[:0], code="E0701")
    agree(spmv, np.array([0, 0, 0]), column, value, x[:0])


def test_a_gather_reads_its_places_once():
    text = show(compiled_loops(take.core))
    assert "accumulate bad__" in text and text.count("result[") == 1
    x = rng.random(10)
    agree(take, x, np.array([0, 9, 3, 3]))
    agree(take, x[:0], np.zeros(0, np.int64))
    fails(take, x[:0], np.array([0]), code="E0701")
    with pytest.raises(at.Error, match="12"):
        take(x, np.array([1, 12, 99]))
    places = rng.integers(0, 10, 200_000)
    places[150_001] = 10
    with pytest.raises(at.Error, match="10"):
        take(x, places)
    places[150_001] = 9
    np.testing.assert_array_equal(take(x, places), x[places])


def test_two_ranges_of_one_place():
    """The place that is read instead must be in both."""
    x, y = rng.random(9, "f4"), rng.random(6)
    places = rng.integers(0, 6, 30)
    agree(twice, x, y, places)
    for wrong in (6, 9, -1):
        places[17] = wrong
        fails(twice, x, y, places, code="E0701")
    fails(twice, x, y[:0], np.array([0]), code="E0701")
    agree(twice, x[:0], y, places[:0])


def test_a_place_that_leads_to_a_place():
    x, a = rng.random(5), rng.integers(0, 5, 8)
    agree(chained, x, a, rng.integers(0, 8, 20))
    fails(chained, x, a, np.array([0, 8]), code="E0701")
    a[3] = 5
    agree(chained, x, a, np.array([0, 1, 7]))
    fails(chained, x, a, np.array([0, 3]), code="E0701")


def test_ranges_that_move_with_the_index():
    assert "made at its ends" in shifts.explain("schedule")
    x, like = rng.random(12), np.zeros(5)
    agree(shifts, x, 1, 9, like)
    agree(shifts, x, 100, -100, like[:0])
    for s, t in ((4, 9), (-1, 9), (1, 3), (1, 12), (2**62, 9), (1, -(2**63))):
        fails(shifts, x, s, t, like, code="E0701")
    assert "made at its ends" in in_order.explain("schedule")
    agree(in_order, x, 7, like)
    fails(in_order, x, 8, like, code="E0701")
    fails(in_order, x, -1, like, code="E0701")


def test_transform_makes_one_pass_a_level():
    from tests.speed.in_place_fft import fft_data

    loops = make_loops(transform.core)
    assert "checks are made in the loop that uses what they look at" in optimise(loops)
    assert show(loops).count("pieces") == 1
    re, im, cosine, sine, levels = fft_data(64)
    agree(transform, re, im, cosine, sine, levels)
    fails(transform, re, im, cosine, sine, levels + 1, code="E0701")


def test_steps_that_are_values():
    """A table read every so many elements, as a transform in place does it: both ends of the range are tested."""
    from tests.speed.in_place_fft import fft, fft_data, fft_numpy

    assert "made at its ends" in fft.explain("schedule")
    inner = show(compiled_loops(fft.core)).split("for r in 0..")[-1]
    assert "check" not in inner
    for size in (2, 4, 8, 16, 64):
        args = fft_data(size)
        agree(fft, *args)
        np.testing.assert_allclose(np.array(fft(*args)), np.array(fft_numpy(*args)), atol=1e-12)
    re, im, cosine, sine, levels = fft_data(64)
    fails(fft, re, im, cosine, sine, levels + 1, code="E0701")
    agree(strided, rng.random(20), 3, np.zeros(6))
    agree(strided, rng.random(20), -3, np.zeros(0))
    for step in (4, -1, 2**62, 2**63 - 1, -(2**63)):
        fails(strided, rng.random(20), step, np.zeros(6), code="E0701")


def test_printing_stays_before_a_failure(capfd):
    @at.fn
    def told(x: f64[n], places: i64[m]) -> f64:
        y = 0.0
        for i in range(m):
            print("at", i)
            y = y + x[places[i]]
        return y

    loops = make_loops(told.core)
    before = show(loops)
    loops.body = hoist_checks(loops.body, [])
    assert show(loops) == before
    with pytest.raises(at.Error):
        told(np.ones(2), np.array([0, 5]))
    assert "at 1" in capfd.readouterr().out


@at.fn
def windows(x: f64[n], like: f64[m], s: i64, step: i64, w: i64) -> f64[m]:
    """A check in a loop in a loop: its tests are made at the ends of the outer one."""
    return [sum(x[s + i + step * j] for j in range(w)) for i in range(m)]


@at.fn
def under_a_test(x: f64[n], like: f64[m], s: i64, w: i64) -> f64[m]:
    return [sum(x[s * i + j] for j in range(w)) if w > 1 else 0.0 for i in range(m)]


def test_tests_that_stand_for_checks_leave_the_loop_around():
    assert "tests that stand for checks are made at the ends of i" in windows.explain("schedule")
    x = rng.random(12)
    for long, s, step, w in itertools.product((0, 1, 4), (-1, 0, 3, 2**63 - 3, -(2**63)), (-3, 0, 1, 2, 2**21, -(2**62), 2**63 - 1), (-1, 0, 1, 3)):
        for f, args in ((windows, (x, np.ones(long), s, step, w)), (under_a_test, (x, np.ones(long), s, w))):
            try:
                expected = f.interpret(*args)
            except at.Error as error:
                with pytest.raises(at.Error) as found:
                    f(*args)
                assert found.value.code == error.code
            else:
                assert np.allclose(f(*args), expected, rtol=1e-13)
