"""Errors of running programs: the line, the values, from any thread; and nothing leaks."""

import gc
import io
import resource
import sys
import tracemalloc

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i32, i64

n, m, k = at.sizes("n m k")
found = at.some("found")


@at.fn
def reads(x: f64[n], i: i64[m]) -> f64[m]:
    return [x[j] for j in i]


@at.fn
def divides(a: i64[n], b: i64[n]) -> i64[n]:
    return [u // v for u, v in zip(a, b)]


@at.fn
def asserts(x: f64[n]) -> f64[n]:
    assert all(v >= 0 for v in x), f"{n} numbers must not be negative, but the first is {x[0]}"
    return [sqrt(v) for v in x]


@at.fn
def converts_f32(x: f32[n]) -> i32[n]:
    return [i32(v) for v in x]


@at.fn
def converts(x: f64[n]) -> i64[n]:
    return [i64(v) for v in x]


@at.fn
def least(x: f64[n]) -> f64:
    return min(x)


@at.fn
def shifts(a: i64, b: i64) -> i64:
    return a << b


@at.fn
def temporaries(x: f64[n], i: i64[n]) -> f64[n]:
    order = argsort(x)
    y = [x[j] * 2 for j in order]
    s = scan(add, 0.0, y)
    return [s[i[j]] for j in range(n)]


@at.fn
def filters(x: f64[n], i: i64) -> (f64[found], f64):
    kept = filter(lambda v: v > 0.5, x)
    return kept, kept[i]


@at.fn
def rows(x: f64[n, m], d: i64[n]) -> f64[n, m]:
    return [[x[i, j] * f64(10 // d[i]) for j in range(m)] for i in range(n)]


def message(call, *args):
    with pytest.raises(at.RunError) as caught:
        call(*args)
    return caught.value


def line(error):
    return error.span.source.line(error.span.line)


CASES = [
    (reads, (np.ones(3), np.array([0, 3])), "E0701", IndexError, "index 3 is out of range for size 3", "x[j]"),
    (reads, (np.ones(3), np.array([0, -1])), "E0701", IndexError, "index -1 is out of range for size 3", "x[j]"),
    (divides, (np.arange(3), np.array([1, 0, 1])), "E0702", ZeroDivisionError, "integer division by zero", "u // v"),
    (asserts, (np.array([-1.5, 2.0]),), "E0703", AssertionError, "assertion failed: 2 numbers must not be negative, but the first is -1.5", "assert all"),
    (converts, (np.array([1.0, np.nan]),), "E0705", ValueError, "nan does not become i64", "i64(v)"),
    (converts, (np.array([1e300]),), "E0705", ValueError, "1e+300 does not become i64", "i64(v)"),
    (converts_f32, (np.array([2.0**31], np.float32),), "E0705", ValueError, "2147483648.0 does not become i32", "i32(v)"),
    (least, (np.zeros(0),), "E0704", ValueError, "min of nothing", "min(x)"),
    (shifts, (1, -1), "E0706", ValueError, "shift by -1", "a << b"),
    (temporaries, (np.ones(4), np.array([0, 1, 2, 9])), "E0701", IndexError, "index 9 is out of range for size 4", "s[i[j]]"),
    (filters, (np.ones(4), 4), "E0701", IndexError, "index 4 is out of range", "kept[i]"),
]


@pytest.mark.parametrize(("call", "args", "code", "cls", "text", "place"), CASES)
def test_the_error_says_where_and_what(call, args, code, cls, text, place):
    texts = []
    for run in (call, call.interpret):
        error = message(run, *args)
        assert error.code == code and isinstance(error, cls) and error.stage == "run"
        assert str(error).splitlines()[0].startswith(f"{code}: {text}")
        assert place in line(error) and f"test_failures.py:{error.span.line}:" in str(error) and f", in {call.name}" in str(error)
        texts.append(str(error))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_error_wins_in_any_thread(threads):
    """Of several the one a single thread would meet first is reported."""
    from atoll.runtime.library import threads as number

    before = number()
    at.set_threads(threads)
    try:
        size = 300_000
        i = np.zeros(size, np.int64)
        for place, value in [(size - 1, 77), (123_456, 88), (5, 99)]:
            i[place] = value
            for _ in range(5):
                assert f"index {value} is out of range for size 7" in str(message(reads, np.ones(7), i))
        d = np.ones(2000, np.int64)
        d[1999] = 0
        assert message(rows, np.ones((2000, 300)), d).code == "E0702"
        assert np.array_equal(rows(np.ones((2000, 300)), np.full(2000, 5)), np.full((2000, 300), 2.0))
    finally:
        at.set_threads(before)


def test_a_failed_call_leaves_arguments_alone():
    x, i = np.arange(4.0), np.array([0, 9, 0, 0])
    message(temporaries, x, i)
    assert np.array_equal(x, np.arange(4.0)) and np.array_equal(i, [0, 9, 0, 0])


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def fail_often(times: int) -> None:
    big = np.random.default_rng(0).random(2000)
    bad = np.full(2000, 2000)
    jobs = [(reads, (np.ones(3), np.array([3]))), (temporaries, (big, bad)), (filters, (big, 5000)), (least, (np.zeros(0),)), (reads, ([1], 2))]
    for k in range(times):
        call, args = jobs[k % len(jobs)]
        try:
            call(*args)
        except at.Error:
            continue
        raise AssertionError


def test_nothing_leaks_when_calls_fail():
    fail_often(3000)
    gc.collect()
    before = resident()
    tracemalloc.start()
    first = tracemalloc.take_snapshot()
    fail_often(3000)
    gc.collect()
    grown = sum(s.size_diff for s in tracemalloc.take_snapshot().compare_to(first, "filename") if "tracemalloc" not in str(s.traceback))
    tracemalloc.stop()
    assert grown < 200_000, grown
    fail_often(7000)
    gc.collect()
    assert resident() - before < 8_000_000


def test_nothing_leaks_when_calls_succeed():
    x, i = np.random.default_rng(0).random(5000), np.arange(5000)
    args = [x, i]
    counts = [sys.getrefcount(a) for a in args]
    for _ in range(2000):
        temporaries(x, i)
    gc.collect()
    before = resident()
    for _ in range(4000):
        temporaries(x, i)
        filters(x, 0)
        reads(x, i)
    gc.collect()
    assert resident() - before < 8_000_000
    assert [sys.getrefcount(a) for a in args] == counts


def test_results_are_freed():
    x = np.ones(1_000_000)
    call = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef twice(x: at.f64[n]):\n    return 2 * x, x + 1\n")
    call(x)
    before = resident()
    for _ in range(30):
        call(x)
    assert resident() - before < 40_000_000


# -- print


@at.fn
def prints(x: f64[n], b: at.bool_) -> f64:
    print("size", n, "first", x[0], b)
    print(f"sum {sum(x):.3f} of {x}")
    s = 0.0
    for v in x:
        s = s + v
        print("s", s)
    return s


@at.fn
def prints_rows(a: f32[n, m]):
    print(a, a[0], (a[0, 0], n))
    print()
    print("end")
    return sum(a[0])


def test_print_in_compiled_code(capfd):
    x = np.array([1.0, 2.5])
    texts = []
    for call in (prints, prints.interpret):
        assert call(x, True) == 3.5
        texts.append(capfd.readouterr().out)
    assert texts[0] == "size 2 first 1.0 True\nsum 3.500 of [1.  2.5]\ns 1.0\ns 3.5\n"
    assert texts[0] == texts[1]
    a = np.arange(4, dtype="f4").reshape(2, 2)
    for call in (prints_rows, prints_rows.interpret):
        call(a)
        texts.append(capfd.readouterr().out)
    assert texts[2] == texts[3] and texts[2].endswith("\n\nend\n")


def test_print_goes_to_pythons_stdout():
    import contextlib
    import io

    into = io.StringIO()
    with contextlib.redirect_stdout(into):
        prints(np.ones(1), False)
    assert into.getvalue().startswith("size 1 first 1.0 False\n")


def test_a_print_that_fails_is_not_fatal():
    import contextlib

    class Broken:
        def write(self, text):
            raise ValueError("no")

        def flush(self):
            pass

    with contextlib.redirect_stdout(Broken()), pytest.raises(ValueError, match="no"):
        prints(np.ones(1), False)
    assert prints(np.zeros(1), False) == 0


@at.fn
def steps(x: f64[n], d: i64[m]) -> f64[n]:
    y = x
    for t in range(m):
        y = [0.5 * (y[max(i - 1, 0)] + y[min(i + 1, n - 1)]) + f64(10 // d[t]) for i in range(n)]
    return y


def test_a_failure_after_buffers_changed_places():
    """The result and a temporary exchange memory in every round; whoever fails gives back only its own."""
    x = np.arange(1000.0)
    for bad in range(5):
        d = np.ones(5, np.int64)
        d[bad] = 0
        for _ in range(50):
            assert message(steps, x, d).code == "E0702"
    assert np.isfinite(steps(x, np.ones(5, np.int64))).all()


class _Refusing:
    def write(self, text: str) -> int:
        raise RuntimeError("mine")

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(
    "out, error, text",
    [
        (lambda: io.TextIOWrapper(io.BytesIO(), encoding="ascii"), UnicodeEncodeError, "'ascii' codec can't encode"),
        (lambda: _closed(io.StringIO()), ValueError, "closed file"),
        (_Refusing, RuntimeError, "mine"),
    ],
    ids=["ascii", "closed", "the user's own"],
)
def test_what_sys_stdout_cannot_take(monkeypatch, out, error, text):
    """It is told as Python's print tells it: no bug of ours."""
    f = at.fn(source="from atoll import i64\ndef f(k: i64):\n    print('größe', k)\n    return k\n")
    for call in (f, f.interpret):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out())
            with pytest.raises(error, match=text) as found:
                call(1)
        assert type(found.value) is error
        assert call(2) == 2


def _closed(stream: io.StringIO) -> io.StringIO:
    stream.close()
    return stream
