"""The same bits whatever the number of threads: every parallel construct, sizes chosen at random and around the limits of pieces.

Random programs are held to the same by `python -m tests.fuzz` (stages with several threads).
"""


import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import atoll as at
from atoll import f32, f64, i32
from atoll.runtime.library import threads as number
from tests.agreement import flat
from tests.front.modules import python

n, m = at.sizes("n m")
some = at.some("some")


@at.fn
def chain(x: f64[n]) -> f64[n]:
    return [sin(v) * v + exp(-v * v) for v in x]


@at.fn
def total(x: f32[n]) -> f32:
    return sum(v * v * 0.1 for v in x)


@at.fn
def statistics(x: f64[n]):
    mean = sum(x) / n
    return mean, sum((v - mean) ** 2 for v in x), max(abs(v) for v in x), argmax(x), prod(1 + v * 1e-6 for v in x)


@at.fn
def product_chain(x: f32[n]):
    return reduce(lambda a, b: a * b + 0.0 * a, 1.0, x)


@at.fn
def pairs(x: f64[n]):
    return reduce(lambda p, q: (p[0] + q[0], max(p[1], q[1])), (0.0, -1e300), zip(x, x))


@at.fn
def prefix(x: f64[n]):
    return scan(add, 0.0, x), scan(maximum, -1e300, x)


@at.fn
def counts(x: f64[n]):
    return hist(add, 0.0, 17, [i * 7919 % 17 for i in range(n)], x)


@at.fn
def scattered(x: f64[n]):
    return scatter(zeros(n), [(i * 7) % n for i in range(n)], x, op=add)


@at.fn
def kept(x: f64[n]) -> f64[some]:
    return filter(lambda v: v > 0.3, x)


@at.fn
def sorted_(x: f64[n]):
    return sort(x), argsort(x)


@at.fn
def smooth(x: f64[n]):
    return [sum(x[min(max(i + d, 0), n - 1)] * (3 - abs(d)) for d in range(-2, 3)) for i in range(n)]


@at.fn
def row_sums(x: f64[n]):
    return [sum(v * u for u in x[:7]) for v in x] if n >= 7 else x


@at.fn
def gathered(x: f64[n]):
    return [x[(i * i + 3) % n] for i in range(n)]


@at.fn
def table(x: f32[n]):
    return sum(sum(u * v for u in x) for v in x)


@at.fn
def loop(x: f64[n]):
    y = x
    for t in range(5):
        y = [0.5 * (y[max(i - 1, 0)] + y[min(i + 1, n - 1)]) for i in range(n)]
    return y, sum(y)


@at.fn
def integers(x: i32[n]):
    return sum(x), prod(x), reduce(lambda a, b: a ^ b, i32(0), x), min(x, default=0)


@at.fn
def matmul(a: f32[n, m], b: f32[m, n]):
    return [[sum(a[i, k] * b[k, j] for k in range(m)) for j in range(n)] for i in range(n)]


@at.fn
def transposed_sums(a: f64[n, m]):
    return [sum(a[i, j] for i in range(n)) for j in range(m)], sum(a[i, j] for i in range(n) for j in range(m))


VECTORS = [chain, total, statistics, product_chain, pairs, prefix, counts, scattered, kept, sorted_, smooth, row_sums, gathered, loop, integers]
SIZES = st.one_of(st.integers(1, 200), st.sampled_from([1023, 1024, 1025, 4095, 4096, 65535, 65536, 65537, 100_003, 262_144]), st.integers(1, 300_000))


def bits(value):
    return [np.asarray(x).tobytes() for x in flat(value)]


@pytest.fixture
def restored():
    before = number()
    yield
    at.set_threads(before)


def equal_for_all(call, *args):
    """Bit for bit, with few and with many threads, more than there are cores, and twice."""
    at.set_threads(1)
    expected = bits(call(*args))
    for threads in (2, 3, 8, 8):
        at.set_threads(threads)
        assert bits(call(*args)) == expected, (call.name, threads)


@pytest.mark.parametrize("call", VECTORS, ids=lambda f: f.name)
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(size=SIZES, seed=st.integers(0, 9))
def test_vectors(call, size, seed, restored):
    rng = np.random.default_rng(seed)
    dtype = call.core.params[0][1].elem.dtype.numpy
    x = (rng.random(size) * 2 - 1) if dtype.kind == "f" else rng.integers(-100, 100, size)
    equal_for_all(call, x.astype(dtype))


@pytest.mark.parametrize("shape", [(3, 5), (64, 64), (200, 130), (700, 33), (3, 50_000)])
def test_matrices(shape, restored):
    rng = np.random.default_rng(0)
    a, b = rng.random(shape, "f4"), rng.random(shape[::-1], "f4")
    equal_for_all(matmul, a, b)
    equal_for_all(transposed_sums, rng.random(shape))
    equal_for_all(table, rng.random(shape[0], "f4"))


PROGRAM = """
import hashlib
import numpy as np, atoll as at
n = at.sizes("n")
@at.fn
def f(x: at.f64[n]):
    return sum(x), scan(add, 0.0, x)
total, prefix = f(np.random.default_rng(0).random(200_000))
print(hashlib.sha256(total.tobytes() + prefix.tobytes()).hexdigest())
"""


def test_the_environment_variable(tmp_path):
    (tmp_path / "p.py").write_text(PROGRAM)
    seen = {python("p.py", cwd=tmp_path, env={"ATOLL_NUM_THREADS": t}).stdout for t in ("1", "3")}
    assert len(seen) == 1 and len(seen.pop().strip()) == 64


def test_many_calls_in_a_row(restored):
    """Which thread runs which piece differs from call to call."""
    x = np.random.default_rng(1).random(300_000)
    at.set_threads(4)
    assert len({tuple(bits(statistics(x))) for _ in range(30)}) == 1
    assert len({tuple(bits(counts(x))) for _ in range(30)}) == 1
