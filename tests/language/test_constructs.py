"""One small program per construct of the language, on awkward sizes; every stage must agree."""

import numpy as np
import pytest

import atoll as at
from atoll import c128, f32, f64, i8, i32, i64, u8, u32
from tests.agreement import agree, fails

n, m, k, count = at.sizes("n m k count")
rng = np.random.default_rng(1)
SIZES = [0, 1, 2, 5, 17]


def vec(size, dtype=np.float64):
    return (rng.random(size) * 4 - 2).astype(dtype)


# -- comprehensions, maps, scalars


@at.fn
def poly3(x: f64[n]) -> f64[n]:
    return [v**3 - 2 * v**2 + 0.5 * v - 1 for v in x]


@at.fn
def table(x: f64[n], y: f64[m]) -> f64[n, m]:
    return [[a * b + i - j for j, b in enumerate(y)] for i, a in enumerate(x)]


@at.fn
def flat_pairs(x: f64[n], y: f64[m]):
    return [a + b for a in x for b in y]


@at.fn
def mapped(x: f32[n]):
    def f(a, b=1.0):
        t = a * b
        return t + 1
    return map(lambda v: f(v) * f(v, b=3.0), x)


@pytest.mark.parametrize("size", SIZES)
def test_comprehensions(size):
    x, y = vec(size), vec(3)
    agree(poly3, x, expected=x**3 - 2 * x**2 + 0.5 * x - 1)
    agree(table, x, y, expected=x[:, None] * y + np.arange(size)[:, None] - np.arange(3), compiled=size == 5)
    agree(flat_pairs, x, y, expected=(x[:, None] + y).reshape(-1), compiled=size == 5)
    z = x.astype("f4")
    agree(mapped, z, expected=(z + 1) * (3 * z + 1), compiled=size == 5)


# -- integers


@at.fn
def integers(a: i32[n], b: i32[n]):
    return a + b, a * b, a - b, a // b, a % b, a & b, a | b, a ^ b, a << 2, a >> 1, -a, abs(a), a < b, a == b, min(a, b)


@at.fn
def small(a: i8[n], b: u8[n]):
    return a + a, b + b, a + b, a * 2, b // 3, ~a, a / 2


def test_integers():
    a = np.array([7, -7, 2**31 - 1, -(2**31), 5], np.int32)
    b = np.array([2, 2, 1, -1, -3], np.int32)
    agree(integers, a, b)
    with np.errstate(all="ignore"):
        assert np.array_equal(integers(a, b)[0], a + b)
        assert list(integers(a, b)[3][:2]) == [3, -4]
    agree(small, np.array([100, -128, 3], np.int8), np.array([200, 255, 0], np.uint8))
    fails(integers, a, np.zeros(5, np.int32), code="E0702")


@at.fn
def mixed(a: i32, b: f32, c: u32, d: i64, flag: at.bool_):
    return a + b, a / a, c + a, d * b, flag + flag, flag * 2.5, a + 1, 2 * b, d // 2, d**2, b**2, b**-1, d**c, flag & (a > 3)


def test_mixed_scalars():
    value = agree(mixed, np.int32(5), np.float32(1.5), np.uint32(3), np.int64(-7), np.bool_(True))
    names = [x.dtype.name for x in value]
    assert names == "float32 float64 int64 float32 int64 float64 int32 float32 int64 int64 float32 float32 int64 bool".split()


# -- conditions


@at.fn
def branches(x: f64[n], lo: f64, hi: f64):
    def f(v):
        if v < lo:
            return lo
        elif v > hi:
            return hi
        return v * 2
    y = [f(v) for v in x]
    t = 0.0
    if lo < 0 <= hi:
        t = lo + hi
        u = 1.0
    else:
        u = 2.0
    return y, t, u, [1.0 if (a > 0 and 1 / a > 0.5) or a < -1 else 0.0 for a in x]


@pytest.mark.parametrize("size", SIZES)
def test_branches(size):
    agree(branches, vec(size), -1.0, 1.0, compiled=size == 5)
    agree(branches, vec(size), 0.5, 1.0, compiled=False)


@at.fn
def neighbours(x: f64[n]):
    return [(x[i - 1] if i > 0 else 0.0) + x[i] + (x[i + 1] if i < n - 1 else 0.0) for i in range(n)]


@pytest.mark.parametrize("size", SIZES)
def test_guarded_reads(size):
    x = vec(size)
    padded = np.concatenate([[0.0], x, [0.0]])
    agree(neighbours, x, expected=padded[:-2] + x + padded[2:], compiled=size in (0, 17))


# -- loops


@at.fn
def newton(a: f64) -> f64:
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


@at.fn
def fibonacci(steps: i64):
    a, b = 0, 1
    for _ in range(steps):
        a, b = b, a + b
    return a


@at.fn
def insertion_sort(x: f64[n]) -> f64[n]:
    for i in range(1, n):
        j = i
        while j > 0 and x[j - 1] > x[j]:
            x[j - 1], x[j] = x[j], x[j - 1]
            j -= 1
    return x


@at.fn
def prefix(x: f64[n]) -> f64[n]:
    y = zeros(n)
    s = 0
    for i in range(n):
        s += x[i]
        y[i] = s
    return y


@at.fn
def triangular(A: f64[n, n], b: f64[n]) -> f64[n]:
    x = zeros(n)
    for i in range(n):
        x[i] = (b[i] - sum(A[i, j] * x[j] for j in range(i))) / A[i, i]
    return x


@at.fn
def smooth(u: f64[n], steps: i64):
    for t in range(steps):
        u[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3
    return u


def test_loops():
    assert abs(agree(newton, 2.0) - 2**0.5) < 1e-12
    assert agree(fibonacci, 10) == 55
    for size in SIZES:
        x = vec(size)
        agree(insertion_sort, x, expected=np.sort(x), compiled=size == 17)
        agree(prefix, x, expected=np.cumsum(x), compiled=size in (0, 17))
        A = np.tril(rng.random((size, size))) + np.eye(size)
        agree(triangular, A, x, expected=np.linalg.solve(A, x), compiled=size == 17)
    agree(smooth, vec(9), 4)
    agree(smooth, vec(9), 0)


# -- updates


@at.fn
def updates(a: f64[n, m], v: f64[m]):
    b = at.copy(a)
    b[0] = v
    b[1, :] += 1.0
    b[:, 0] = 0.0
    b[-1, 1:] = b[0, :-1]
    c = a
    c = c * 2
    return a, b, c


@at.fn
def swap_rows(a: f64[n, m], i: i64, j: i64):
    a[i], a[j] = a[j], a[i]
    return a


def test_updates():
    a, v = rng.random((4, 3)), rng.random(3)
    b = a.copy()
    b[0] = v
    b[1] += 1
    b[:, 0] = 0
    b[-1, 1:] = b[0, :-1]
    agree(updates, a, v, expected=(a, b, a * 2))
    agree(swap_rows, a, 0, 3, expected=a[[3, 1, 2, 0]])
    fails(swap_rows, a, 0, 4, code="E0701")


# -- reductions, scans


@at.fn
def reductions(x: f64[n], p: at.bool_[n]):
    return (
        sum(x), prod(x), sum(v for v in x if v > 0), max(x, default=-1.0), min(v * v for v in x) if n > 0 else 0.0,
        any(p), all(p), sum(p), reduce(add, 0.0, x), reduce(lambda a, b: a + b + a * b, 0.0, x * 0.1), fold(lambda s, v: s * 0.5 + v, 1.0, x),
    )


@at.fn
def scans(x: f64[n]):
    return scan(add, 0.0, x), scan(mul, 1.0, x), scan(maximum, -inf, x), scan(add, 0.0, x, exclusive=True), scan(lambda a, b: a * 0.5 + b, 0.0, x)


@at.fn
def pairs(a: f64[n], b: f64[n]):
    z = zip(a, b)
    r = reduce(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (1.0, 0.0), z)
    s = scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (1.0, 0.0), z)
    u, v = unzip(s)
    return r, u, v


@pytest.mark.parametrize("size", SIZES)
def test_reductions(size):
    x = vec(size)
    agree(reductions, x, x > 0, compiled=size in (0, 17))
    agree(scans, x, compiled=size in (0, 17))
    agree(pairs, x, vec(size), compiled=size in (0, 5))


@at.fn
def matrix_sums(A: f64[n, m]):
    return sum(A), sum(A, axis=0), sum(A, axis=(0, 1)), sum(A, axis=None), max(A, axis=1, default=0.0), argmax(A) if m > 0 else [0 for _ in range(n)], mean(A, axis=0)


def test_matrix_sums():
    A = rng.random((4, 5))
    agree(matrix_sums, A, expected=(A.sum(1), A.sum(0), A.sum(), A.sum(), A.max(1), A.argmax(1), A.mean(0)))
    agree(matrix_sums, A[:0], compiled=False)


# -- histograms, scatters, sorting, filters


@at.fn
def histograms(is_: i64[n], v: f64[n], rows: f64[n, 2]):
    return (
        hist(add, 0, 5, is_, [1 for _ in range(n)]), hist(add, 0.0, 5, is_, v), hist(maximum, -inf, 5, is_, v), hist(add, 0.0, 5, is_, rows),
        hist(lambda a, b: a * b + 1, 1.0, 5, is_, v),
    )


@at.fn
def scatters(x: f64[n], is_: i64[m], v: f64[m]):
    return scatter(x, is_, v), scatter(x, is_, v, op=add), gather(x, is_), x[is_]


@at.fn
def sorting(x: f64[n], keys: i32[n]):
    return sort(x), argsort(x), sort(x, key=lambda v: -v), argsort(keys), [x[i] for i in argsort(keys)]


@at.fn
def filters(x: f64[n]):
    kept = filter(lambda v: v > 0, x)
    return kept, sum(kept), len(kept), [v * v for v in kept], [i for i in range(n) if x[i] > 0.5], [(i, x[i]) for i in range(n) if x[i] < 0]


def test_scattering_and_sorting():
    for size in SIZES:
        x = vec(size)
        is_ = rng.integers(0, 5, size)
        agree(histograms, is_, x, rng.random((size, 2)), compiled=size in (0, 17))
        y = x.copy()
        y[::3] = np.nan
        agree(sorting, y, rng.integers(0, 3, size).astype("i4"), compiled=size in (0, 17))
        agree(filters, x, compiled=size in (0, 17))
    agree(scatters, vec(6), np.array([4, 0, 2]), vec(3))
    fails(scatters, vec(6), np.array([4, 0, 4]), vec(3), code="E0707")
    fails(scatters, vec(6), np.array([4, 0, 6]), vec(3), code="E0708")
    agree(sorting, rng.random(1000), rng.integers(0, 3, 1000).astype("i4"))


# -- reshapes


@at.fn
def reshapes(a: f64[n], b: f64[m], A: f64[3, 4]):
    return (
        reverse(a), concat(a, b, a), rotate(a, 2), rotate(a, -1), tile(a, 4), flatten(A), transpose(A), A.T, split(flatten(A), 2),
        pad_l(a, 2), pad_r(a, 1), pad(A, ((1, 0), (0, 2)), value=9.0), repeat(b, 2), a[::-1], a[::2], sample(a, 3), transpose([A, A], (2, 0, 1)),
    )


@at.fn
def windows(a: f64[n]):
    return window(a, 3), trunc_l(a, 1), trunc_r(a, 2), [sum(w) for w in window(a, 2)], a[1:-1:2], a[-2::-1]


def test_reshapes():
    for size in SIZES:
        agree(reshapes, vec(size), vec(3), rng.random((3, 4)), compiled=size in (0, 5))
    agree(windows, vec(7))
    agree(windows, vec(3))
    with pytest.raises(at.SizeError, match="needs n >= 2, but n is 1"):
        windows(vec(1))


# -- tuples, records, complex numbers


@at.record
class Particle:
    x: f64
    v: f64[n]


@at.fn
def step(p: Particle, dt: f64) -> Particle:
    p.x = p.x + dt
    return Particle(p.x, p.v * dt)


@at.fn
def tuples(t: (f64, (i64, f64[n])), ps: at.Tuple[f64, i64][m]):
    a, (b, c) = t
    x, y = unzip(ps)
    return (c, (b, a)), [(p[0] * 2, p[1] + 1) for p in ps], x, [q for _, q in ps]


@at.fn
def complexes(z: c128[n], t: f64):
    w = [c128(cos(v.real), v.imag * t) for v in z]
    return z * w, z / (w + 2), abs(z), conj(z), exp(z), z.real + z.imag, sum(z), z + 1j, z == w


def test_structures():
    r = step(Particle(1.0, np.array([1.0, 2.0])), 0.5)
    assert isinstance(r, Particle) and r.x == 1.5 and list(r.v) == [0.5, 1.0]
    agree(step, Particle(1.0, np.array([1.0, 2.0])), 0.5)
    agree(tuples, (1.0, (2, vec(3))), (vec(4), np.arange(4)))
    agree(complexes, vec(5) + 1j * vec(5), 0.5)


# -- sizes


@at.fn
def sizes_as_numbers(x: f64[n], count: i64) -> f64[count]:
    return [x[i % n] * n for i in range(count)]


@at.fn
def ragged_sums(ptr: i64[n + 1], vals: f64[m]) -> f64[n]:
    return [sum(vals[p] for p in range(ptr[i], ptr[i + 1])) for i in range(n)]


@at.fn
def halves(x: f64[n]):
    h = n // 2
    return x[:h], x[h:], sum(x[:h]), [sum(x[:i]) for i in range(n)]


def test_sizes():
    agree(sizes_as_numbers, vec(3), 7)
    with pytest.raises(at.Error):
        sizes_as_numbers(vec(3), -1)
    agree(ragged_sums, np.array([0, 2, 2, 5]), vec(5))
    fails(ragged_sums, np.array([0, 2, 2, 6]), vec(5), code="E0701")
    for size in SIZES:
        agree(halves, vec(size), compiled=size == 17)


# -- calls


@at.fn
def dot(x: f64[n], y: f64[n]) -> f64:
    return sum(x * y)


@at.fn
def lifted(A: f64[m, n], x: f64[n], B: f64[m, n]):
    return dot(A, x), dot(x, A), dot(A, B), A + x, A * 2.0, A @ x, x @ A.T, A @ A.T


def test_calls_lift():
    A, x, B = rng.random((3, 4)), rng.random(4), rng.random((3, 4))
    agree(lifted, A, x, B, expected=(A @ x, A @ x, (A * B).sum(1), A + x, A * 2, A @ x, x @ A.T, A @ A.T))


@at.fn
def checked(x: f64[n], i: i64):
    assert n > 2, f"need more than {n}"
    return x[i] + x[-1]


def test_asserts():
    agree(checked, vec(5), 4)
    fails(checked, vec(5), 5, code="E0701")
    fails(checked, vec(5), -1, code="E0701")
    fails(checked, vec(2), 0, code="E0703")
