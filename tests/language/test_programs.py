"""Programs a stranger would write with the contract alone in hand: every stage and plain Python or NumPy agree."""

import math

import numpy as np
import pytest

import atoll as at
from atoll import c128, f32, f64, i64, idx, u8, u32
from tests.agreement import agree

n, m, k, h, w, q = at.sizes("n m k h w q")
rng = np.random.default_rng(7)


@at.fn
def life(g: u8[h, w]) -> u8[h, w]:
    def around(i, j):
        return sum(i64(g[(i + di) % h, (j + dj) % w]) for di in range(-1, 2) for dj in range(-1, 2) if not (di == 0 and dj == 0))

    return [[u8(1) if around(i, j) == 3 or (g[i, j] == 1 and around(i, j) == 2) else u8(0) for j in range(w)] for i in range(h)]


def test_game_of_life():
    g = (rng.random((6, 7)) < 0.4).astype(np.uint8)
    shifts = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    s = sum(np.roll(g.astype(int), shift, (0, 1)) for shift in shifts)
    agree(life, g, expected=((s == 3) | ((g == 1) & (s == 2))).astype(np.uint8))


@at.fn
def cholesky(a: f64[n, n]) -> f64[n, n]:
    low = zeros((n, n))
    for j in range(n):
        low[j, j] = sqrt(a[j, j] - sum(low[j, p] ** 2 for p in range(j)))
        for i in range(j + 1, n):
            low[i, j] = (a[i, j] - sum(low[i, p] * low[j, p] for p in range(j))) / low[j, j]
    return low


def test_cholesky():
    a = rng.random((5, 5))
    a = a @ a.T + 5 * np.eye(5)
    agree(cholesky, a, expected=np.linalg.cholesky(a))


@at.fn
def distance(a: u8[n], b: u8[m]) -> i64:
    row = [j for j in range(m + 1)]
    for i in range(n):
        new = zeros(m + 1, dtype=i64)
        new[0] = i + 1
        for j in range(m):
            new[j + 1] = min(new[j] + 1, row[j + 1] + 1, row[j] + (0 if a[i] == b[j] else 1))
        row = new
    return row[-1]


def test_edit_distance():
    a, b = (np.frombuffer(word, np.uint8) for word in (b"kitten", b"sitting"))
    agree(distance, a, b, expected=np.int64(3))


@at.fn
def mandelbrot(c: c128[n, m], limit: i64) -> i64[n, m]:
    def count(z0):
        z, steps = z0 * 0, 0
        while steps < limit and abs(z) <= 2:
            z, steps = z * z + z0, steps + 1
        return steps

    return [[count(v) for v in row] for row in c]


def test_mandelbrot():
    y, x = np.mgrid[-1:1:4j, -2:1:5j]

    def count(c):
        z, steps = 0, 0
        while steps < 50 and abs(z) <= 2:
            z, steps = z * z + c, steps + 1
        return steps

    agree(mandelbrot, x + 1j * y, 50, expected=np.vectorize(count)(x + 1j * y))


@at.fn
def pagerank(starts: i64[n + 1], columns: idx[n][m], d: f64, rounds: i64) -> f64[n]:
    r = full(n, 1.0 / n)
    for t in range(rounds):
        spread = zeros(n)
        for i in range(n):
            count = starts[i + 1] - starts[i]
            if count > 0:
                for e in range(starts[i], starts[i + 1]):
                    spread[columns[e]] += r[i] / count
        r = (1 - d) / n + d * spread
    return r


def test_pagerank():
    links = np.array([[0, 0.5, 0.5], [0, 0, 1], [1, 0, 0]])
    r = np.full(3, 1 / 3)
    for _ in range(20):
        r = 0.15 / 3 + 0.85 * r @ links
    agree(pagerank, np.array([0, 2, 3, 4]), np.array([1, 2, 2, 0]), 0.85, 20, expected=r)


@at.record
class Moments:
    count: i64
    mean: f64
    spread: f64


@at.fn
def merge(a: Moments, b: Moments) -> Moments:
    total = a.count + b.count
    if total == 0:
        return a
    delta = b.mean - a.mean
    return Moments(total, a.mean + delta * b.count / total, a.spread + b.spread + delta**2 * a.count * b.count / total)


@at.fn
def variance(x: f64[n]) -> f64:
    s = reduce(merge, Moments(0, 0.0, 0.0), [Moments(1, v, 0.0) for v in x])
    return s.spread / s.count


def test_reduction_of_records():
    x = rng.random(100)
    agree(variance, x, expected=np.float64(x.var()))


@at.fn
def quantiles(x: f64[n], wanted: f64[k]) -> f64[k]:
    s = sort(x)

    def one(p):
        place = p * (n - 1)
        low = i64(floor(place))
        high = min(low + 1, n - 1)
        return s[low] * (1 - (place - low)) + s[high] * (place - low)

    return [one(p) for p in wanted]


def test_quantiles():
    x, wanted = rng.random(11), np.array([0, 0.25, 0.5, 0.9, 1.0])
    agree(quantiles, x, wanted, expected=np.quantile(x, wanted))


@at.fn
def convolution(img: f32[h, w], ker: f32[k, q]) -> f32[h - k + 1, w - q + 1]:
    return [[sum(img[i + a, j + b] * ker[a, b] for a in range(k) for b in range(q)) for j in range(w - q + 1)] for i in range(h - k + 1)]


def test_convolution():
    img, ker = rng.random((6, 7)).astype("f4"), rng.random((2, 3)).astype("f4")
    expected = np.array([[(img[i : i + 2, j : j + 3] * ker).sum() for j in range(5)] for i in range(5)], "f4")
    agree(convolution, img, ker, expected=expected)


@at.fn
def softmax(x: f64[n]) -> f64[n]:
    e = exp(x - max(x))
    return e / sum(e)


@at.fn
def attention(queries: f64[n, k], keys: f64[m, k], values: f64[m, q]) -> f64[n, q]:
    return softmax(queries @ keys.T / sqrt(k)) @ values


def test_attention():
    a, b, c = rng.random((3, 4)), rng.random((5, 4)), rng.random((5, 2))
    e = np.exp(a @ b.T / 2)
    agree(attention, a, b, c, expected=e / e.sum(1, keepdims=True) @ c)


@at.fn
def heat(u: f64[n, m], rounds: i64) -> f64[n, m]:
    for r in range(rounds):
        u[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    return u


def test_heat():
    u = rng.random((5, 6))
    v = u.copy()
    for _ in range(3):
        v[1:-1, 1:-1] += 0.1 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1])
    agree(heat, u, 3, expected=v)


@at.fn
def gcd(a: i64, b: i64) -> i64:
    while b != 0:
        a, b = b, a % b
    return a


@pytest.mark.parametrize(("a", "b"), [(48, 18), (7, 0), (0, 7), (270, 192), (1, 1)])
def test_gcd(a, b):
    """The remainder is an index below b, which is another number in the next round."""
    agree(gcd, a, b, expected=np.int64(math.gcd(a, b)))


@at.fn
def runs(x: i64[n]):
    starts = [i for i in range(n) if i == 0 or x[i] != x[i - 1]]
    return starts, len(starts), [x[i] for i in starts]


def test_runs():
    agree(runs, np.array([1, 1, 2, 2, 2, 3]), expected=(np.array([0, 2, 5]), np.int64(3), np.array([1, 2, 3])))


@at.fn
def bits(x: u32[n]) -> i64[n]:
    def count(v):
        found = 0
        while v != 0:
            v, found = v & (v - 1), found + 1
        return found

    return map(count, x)


def test_bits():
    agree(bits, np.array([0, 1, 255, 2**32 - 1], np.uint32), expected=np.array([0, 1, 8, 32]))


@at.fn
def bubble(x: f64[n]) -> f64[n]:
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def test_bubble_sort():
    x = rng.random(7)
    agree(bubble, x, expected=np.sort(x))


@at.fn
def moving(x: f64[n], k: i64) -> f64[n - k + 1]:
    return map(mean, window(x, k))


@at.fn
def one_hot(k: i64, which: i64[n]) -> f64[n, k]:
    return [[1.0 if j == v else 0.0 for j in range(k)] for v in which]


def test_an_integer_parameter_as_the_size_of_an_inner_loop():
    x = rng.random(6)
    agree(moving, x, 3, expected=np.array([x[i : i + 3].mean() for i in range(4)]))
    agree(one_hot, 3, np.array([0, 2, 1]), expected=np.eye(3)[[0, 2, 1]])


@at.fn
def blocks(k: i64, x: f64[2 * k], y: f64[n, k]) -> f64[n]:
    return [sum(row * x[:k]) for row in y]


def test_an_integer_parameter_as_an_inner_axis():
    x, y = rng.random(6), rng.random((2, 3))
    agree(blocks, 3, x, y, expected=y @ x[:3])


@at.fn
def pascal(k: i64) -> i64[k, k]:
    t = zeros((k, k), dtype=i64)
    for i in range(k):
        t[i, 0] = 1
        for j in range(1, i + 1):
            t[i, j] = t[i - 1, j - 1] + t[i - 1, j]
    return t


def test_pascal():
    agree(pascal, 6, expected=np.array([[math.comb(i, j) for j in range(6)] for i in range(6)]))


@at.fn
def steps(k: i64, x: f64):
    return [x * j for j in range(k % 5)]


@at.fn
def stepping(q: i64, ks: i64[n]):
    return steps(q, 2.0), steps(ks[0] + 2, 1.0), sum(steps(8, 1.0))


def test_a_size_computed_from_an_integer_of_the_caller():
    """The size found for a function's result is put in terms of the caller's values: names, elements, numbers."""
    for q, ks in ((8, [6, 7]), (-1, [-2]), (0, [3])):
        wanted = (2.0 * np.arange(q % 5), 1.0 * np.arange((ks[0] + 2) % 5), np.float64(3.0))
        agree(stepping, q, np.array(ks), expected=wanted)


@at.fn
def forces(x: f64[n, 3], mass: f64[n]):
    def force(p, q, v):
        d = q - p
        far = sum(d * d) + 0.01
        return v / (far * sqrt(far)) * d

    return [sum(force(p, q, v) for q, v in zip(x, mass)) for p in x]


def test_a_local_function_on_vectors_that_sums():
    x, w = np.arange(6.0).reshape(2, 3), np.ones(2)
    d = x[None] - x[:, None]
    far = (d**2).sum(-1) + 0.01
    agree(forces, x, w, expected=(w[None, :, None] / far[..., None] ** 1.5 * d).sum(1))
