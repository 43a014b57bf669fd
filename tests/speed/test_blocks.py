"""Memory kept between calls: the next result takes the memory of one that has died, never of one that lives; what is kept is bounded."""

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll import f64
from atoll.runtime.library import call_path, runtime

n = at.sizes("n")
pytestmark = pytest.mark.skipif(call_path() is None, reason="results come from NumPy without Python's headers")


@at.fn
def doubled(x: f64[n]) -> f64[n]:
    return 2.0 * x


@at.fn
def steps(x: f64[n], k: at.i64) -> f64[n]:
    for _ in range(k):
        x = [0.5 * (x[i] + x[n - 1 - i]) for i in range(n)]
    return x


def kept(drop: int = 0) -> int:
    library = runtime()
    library.atoll_kept.restype = ctypes.c_int64
    return int(library.atoll_kept(drop))


@pytest.mark.parametrize("size", [10_000, 50_000, 1_000_000])
def test_a_dead_result_is_used_again(size: int) -> None:
    x = np.arange(float(size))
    first = doubled(x)
    where = first.ctypes.data
    del first
    second = doubled(x)
    assert second.ctypes.data == where
    assert second.flags.owndata and second.flags.writeable
    np.testing.assert_array_equal(second, 2 * x)


@pytest.mark.parametrize("size", [10_000, 1_000_000])
def test_a_living_result_is_not(size: int) -> None:
    x = np.arange(float(size))
    results = [doubled(x + k) for k in range(6)]
    assert len({r.ctypes.data for r in results}) == 6
    view = results[0][5:]
    results[0] = None
    again = doubled(x * 0)
    np.testing.assert_array_equal(view, 2 * x[5:])
    for k in range(1, 6):
        np.testing.assert_array_equal(results[k], 2 * (x + k))
    assert not again.any()


@pytest.mark.parametrize("size", [0, 1, 7, 8191, 8192, 8193, 131_000, 131_072, 131_073, 262_145])
def test_sizes_around_every_border(size: int) -> None:
    x = np.random.default_rng(size).random(size)
    for _ in range(3):
        result = doubled(x)
        np.testing.assert_array_equal(result, 2 * x)
        result[...] = -1.0


def test_data_is_placed_well() -> None:
    """A multiple of 64 bytes; large arrays away from the beginning of a page."""
    for size in (20_000, 200_000, 2_000_000):
        where = doubled(np.ones(size)).ctypes.data
        assert where % 64 == 0 and where % 4096 >= 512


def test_an_array_can_be_resized() -> None:
    for size in (10_000, 1_000_000):
        result = doubled(np.ones(size))
        result.resize(2 * size, refcheck=False)
        assert (result[:size] == 2).all() and not result[size:].any()
        result.resize(10, refcheck=False)
        assert (result == 2).all()


def ours() -> int:
    """Bytes kept that are not lent to the system."""
    library = runtime()
    library.atoll_kept_ours.restype = ctypes.c_int64
    return int(library.atoll_kept_ours())


def lent() -> int:
    """Bytes that the system says it may take from this process when it wants them."""
    return sum(int(line.split()[1]) << 10 for line in Path("/proc/self/smaps").read_text().splitlines() if line.startswith("LazyFree:"))


def sixteenth() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") // 16


def test_what_is_kept_is_bounded() -> None:
    kept(drop=1)
    x = np.ones(1 << 21)  # 16 MiB
    results = [doubled(x) for _ in range(24)]
    assert kept() == 0
    del results
    assert (16 << 20) < kept() <= sixteenth()
    assert 0 < ours() <= 256 << 20
    assert kept(drop=1) == 0 and ours() == 0


@pytest.mark.skipif(not sys.platform.startswith("linux") or sixteenth() < 400 << 20, reason="Linux counts what is lent; a machine of 7 GB keeps 400 MB")
def test_what_is_lent_is_taken_back_and_used_again() -> None:
    """A block beyond what is ours is lent; where the system takes its pages (MADV_PAGEOUT: as if it were short of memory), they are gone from the process, and the
    next result has the same place and the right values."""
    kept(drop=1)
    x = np.arange(float(36 << 20))
    want = 2 * x
    first = doubled(x)
    where = first.ctypes.data
    del first
    assert ours() == 0 and kept() >= x.nbytes
    assert lent() >= x.nbytes - (4 << 20)
    resident = lent()
    page = os.sysconf("SC_PAGESIZE")
    at_page = (where + page - 1) // page * page
    library = ctypes.CDLL(None, use_errno=True)
    library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if library.madvise(at_page - page, x.nbytes, 21):  # MADV_PAGEOUT, with the block's header
        pytest.skip("this system cannot be asked to take pages")
    assert lent() < resident // 8, "what is lent can be taken"
    for _ in range(3):
        again = doubled(x)
        assert again.ctypes.data == where
        np.testing.assert_array_equal(again, want)
        del again
    assert kept(drop=1) == 0 and lent() == 0


def test_the_oldest_is_lent_first() -> None:
    kept(drop=1)
    old = np.ones(20 << 20)  # 160 MB
    a, b = doubled(old), doubled(old[: 19 << 20])
    if a.nbytes + b.nbytes > sixteenth():
        pytest.skip("a machine of 5 GB keeps both")
    del a
    first = ours()
    del b
    assert 0 < ours() < first + (152 << 20) and kept() > 256 << 20
    again = doubled(old)
    assert (again == 2).all() and ours() > 150 << 20, "what is lent is not counted as ours when it is taken"
    del again
    assert kept() > 256 << 20 >= ours()
    assert kept(drop=1) == 0 and ours() == 0


def test_loop_state_is_used_again() -> None:
    kept(drop=1)
    x = np.random.default_rng(0).random(1 << 18)
    expected = steps.interpret(x[:5], 3)
    np.testing.assert_array_equal(steps(x[:5], 3), expected)
    first = steps(x, 3)
    held = kept()
    assert held > 2 << 20  # the second array of the state
    for _ in range(5):
        np.testing.assert_array_equal(steps(x, 3), first)
    assert kept() <= held + (4 << 20)


def test_threads_and_forks() -> None:
    x = np.arange(200_000.0)
    wrong: list[int] = []

    def work(k: int) -> None:
        for j in range(30):
            result = doubled(x + k + j)
            if not (result == 2 * (x + k + j)).all():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    child = os.fork()
    if child == 0:
        result = doubled(x)
        os._exit(0 if (result == 2 * x).all() else 1)
    for thread in threads:
        thread.join()
    assert os.waitpid(child, 0)[1] == 0 and not wrong


def test_it_can_be_switched_off() -> None:
    program = (
        "import numpy as np, atoll as at\n"
        "from atoll import f64\n"
        "from atoll.runtime.library import runtime\n"
        "n = at.sizes('n')\n"
        "f = at.fn(source='import atoll as at\\nfrom atoll import f64\\nn = at.sizes(\"n\")\\ndef f(x: f64[n]) -> f64[n]:\\n    return 2.0 * x\\n')\n"
        "x = np.ones(1 << 20)\n"
        "for _ in range(3): assert (f(x) == 2).all()\n"
        "assert runtime().atoll_kept(0) == 0\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "ATOLL_KEEP": "0"})
