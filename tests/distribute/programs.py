"""Programs that are distributed, each with arguments: maps, stencils, windows, sums of every kind, products, scans, phases, derivatives.

`make()` gives (name, function, arguments); sizes are awkward on purpose, and large enough that loops have several pieces.
"""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f32, f64, i64, idx

n, m, k, d = at.sizes("n m k d")


@at.fn
def heat(u: f64[n, m]) -> f64[n, m]:
    return [[u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]) if 0 < i and i < n - 1 and 0 < j and j < m - 1 else u[i, j] for j in range(m)] for i in range(n)]


@at.fn
def heat_twice(u: f64[n, m]) -> f64[n, m]:
    return heat(heat(u))


@at.fn
def heat_often(u: f64[n, m]) -> f64[n, m]:
    for _ in range(5):
        u = heat(u)
    return u


@at.fn
def conv(a: f64[n + k, m], w: f64[k + 1]) -> f64[n, m]:
    return [[sum([w[r] * a[i + r, j] for r in range(k + 1)]) for j in range(m)] for i in range(n)]


@at.fn
def pool(a: f64[2 * n, m]) -> f64[n, m]:
    return [[0.5 * (a[2 * i, j] + a[2 * i + 1, j]) for j in range(m)] for i in range(n)]


@at.fn
def moving(x: f64[n + 31]) -> f64[n]:
    return [sum([x[i + j] for j in range(32)]) / 32.0 for i in range(n)]


@at.fn
def total(x: f64[n]) -> f64:
    return sum(x)


@at.fn
def extremes(x: f64[n]) -> (f64, f64, f64, i64):
    return min(x), max(x), prod([1.0 + 1e-6 * v for v in x]), sum([i64(v > 0.0) for v in x])


@at.fn
def questions(x: f64[n]) -> (bool, bool):
    return all([v < 10.0 for v in x]), any([v > 10.0 for v in x])


@at.fn
def integers(x: i64[n]) -> i64:
    return sum(x * x)


@at.fn
def singles(x: f32[n]) -> f32:
    return sum(x * x)


@at.fn
def product(a: f64[n, k], b: f64[k, m]) -> f64[n, m]:
    return a @ b


@at.fn
def dense(a: f64[n, k], b: f64[k, m], c: f64[m]) -> f64[n, m]:
    h = a @ b + c
    return [[max(v, 0.0) for v in r] for r in h]


@at.fn
def matvec(a: f64[n, k], b: f64[k]) -> f64[n]:
    return a @ b


@at.fn
def gram(x: f64[n, d]) -> f64[d, d]:
    return transpose(x) @ x


@at.fn
def loss(w: f64[d], x: f64[n, d], y: f64[n]) -> f64:
    r = x @ w - y
    return sum(r * r)


@at.fn
def logistic(w: f64[d], x: f64[n, d], y: f64[n]) -> f64:
    z = x @ w
    return sum([log(1.0 + exp(-y[i] * z[i])) for i in range(n)]) / n


@at.fn
def kmeans(x: f64[n, d], c: f64[k, d]) -> (f64[k, d], i64[k]):
    assert k >= 1
    near = [argmin([sum((p - q) * (p - q)) for q in c]) for p in x]
    return hist(add, zeros(d), k, near, x), hist(add, 0, k, near, ones(n, i64))


@at.fn
def mixture(x: f64[n, d], mu: f64[k, d]) -> (f64[k, d], f64[k]):
    assert k >= 1
    p = [[exp(-0.5 * sum((r - q) * (r - q))) for q in mu] for r in x]
    g = [r / (sum(r) + 1e-12) for r in p]
    return transpose(g) @ x, [sum([g[i, j] for i in range(n)]) for j in range(k)]


@at.fn
def histogram(x: f64[n]) -> i64[16]:
    return hist(add, 0, 16, [min(max(i64(floor(4.0 * v)) + 8, 0), 15) for v in x], ones(n, i64))


@at.fn
def columns(x: f64[n, d]) -> f64[d]:
    return [sum([x[i, j] for i in range(n)]) for j in range(d)]


@at.fn
def average(x: f64[n]) -> f64:
    return sum(x) / n


@at.fn
def normal(x: f64[n]) -> f64[n]:
    mu = sum(x) / n
    v = sum((x - mu) * (x - mu)) / n
    return (x - mu) / sqrt(v + 1e-5)


@at.fn
def standard(x: f64[n, d]) -> f64[n, d]:
    mu = [sum([x[i, j] for i in range(n)]) / n for j in range(d)]
    v = [sum([(x[i, j] - mu[j]) * (x[i, j] - mu[j]) for i in range(n)]) / n for j in range(d)]
    return [[(x[i, j] - mu[j]) / sqrt(v[j] + 1e-5) for j in range(d)] for i in range(n)]


@at.fn
def softmax(x: f64[n, m]) -> f64[n, m]:
    assert m >= 1
    e = [exp(r - max(r)) for r in x]
    return [r / sum(r) for r in e]


@at.fn
def sorted_rows(x: f64[n, m]) -> f64[n, m]:
    return [sort(r) for r in x]


@at.fn
def running_rows(x: f64[n, m]) -> f64[n, m]:
    return [cumsum(r) for r in x]


@at.fn
def running(x: f64[n]) -> f64[n]:
    return cumsum(x)


@at.fn
def best_so_far(x: f64[n]) -> f64[n]:
    return scan(maximum, -1e300, x)


@at.fn
def ramp(x: f64[n]) -> f64[n]:
    return [x[i] * f64(i) + f64(n) for i in range(n)]


@at.fn
def forces(x: f64[n]) -> f64[n]:
    return [sum([(b - a) / (abs(b - a) + 1e-3) for b in x]) for a in x]


@at.fn
def flip(x: f64[n, m]) -> f64[n, m]:
    return reverse(x)


@at.fn
def turned(x: f64[n, m]) -> f64[m, n]:
    return transpose(x)


@at.fn
def lookup(x: f64[n], at_: idx[n][m]) -> f64[m]:
    return [x[i] for i in at_]


@at.fn
def scaled(x: f64[n], a: f64, s: i64) -> f64[n]:
    return [a * v + f64(s) for v in x]


@at.fn
def energy(u: f64[n]) -> f64:
    return sum([(u[i + 1] - u[i]) * (u[i + 1] - u[i]) for i in range(n - 1)])


@at.fn
def vorticity(u: f64[n + 2, m + 2], v: f64[n + 2, m + 2]) -> f64[n, m]:
    return [[0.5 * (v[i + 1, j + 2] - v[i + 1, j] - u[i + 2, j + 1] + u[i, j + 1]) for j in range(m)] for i in range(n)]


@at.fn
def quadratic_means(u: f64[n, m], v: f64[n, m]) -> (f64[m], f64[m], f64[m]):
    return [sum([u[i, j] * u[i, j] for i in range(n)]) / n for j in range(m)], [sum([u[i, j] * v[i, j] for i in range(n)]) / n for j in range(m)], [sum([v[i, j] * v[i, j] for i in range(n)]) / n for j in range(m)]


@at.fn
def expectation(x: f64[n, d], w: f64[k], mu: f64[k, d], var: f64[k, d]) -> (f64[k], f64[k, d], f64[k, d], f64):
    """A step of a mixture of Gaussians: weights, means, variances, likelihood."""
    assert k >= 1
    logp = [[log(w[j]) - 0.5 * sum((x[i] - mu[j]) * (x[i] - mu[j]) / var[j] + log(var[j])) for j in range(k)] for i in range(n)]
    top = [max(r) for r in logp]
    e = [[exp(logp[i, j] - top[i]) for j in range(k)] for i in range(n)]
    s = [sum(r) for r in e]
    g = [[e[i, j] / s[i] for j in range(k)] for i in range(n)]
    nk = [sum([g[i, j] for i in range(n)]) for j in range(k)]
    mean = [[sum([g[i, j] * x[i, p] for i in range(n)]) / nk[j] for p in range(d)] for j in range(k)]
    v = [[sum([g[i, j] * (x[i, p] - mean[j, p]) * (x[i, p] - mean[j, p]) for i in range(n)]) / nk[j] + 1e-6 for p in range(d)] for j in range(k)]
    return nk / f64(n), mean, v, sum([log(s[i]) + top[i] for i in range(n)])


@at.fn
def places(x: f64[n]) -> (i64, i64):
    assert n >= 1
    return argmax(x), argmin(x)


@at.fn
def largest_segment(x: f64[n]) -> f64:
    """A monoid of tuples: the greatest sum of neighbours."""

    def join(a, b):
        return (max(a[0], max(b[0], a[1] + b[2])), max(b[1], b[3] + a[1]), max(a[2], a[3] + b[2]), a[3] + b[3])

    return reduce(join, (0.0, 0.0, 0.0, 0.0), [(max(v, 0.0), max(v, 0.0), max(v, 0.0), v) for v in x])[0]


@at.fn
def scanned(x: f64[n]) -> f64:
    s = cumsum(x)
    return sum(s * s)


@at.fn
def whitened(x: f64[n, m], y: f64[n, m]) -> f64:
    mu = [sum([x[i, j] for i in range(n)]) / n for j in range(m)]
    v = [sum([(x[i, j] - mu[j]) * (x[i, j] - mu[j]) for i in range(n)]) / n for j in range(m)]
    z = [[(x[i, j] - mu[j]) / sqrt(v[j] + 1e-5) for j in range(m)] for i in range(n)]
    return sum((z - y) * (z - y), axis=None)


@at.fn
def normal_loss(x: f64[n]) -> f64:
    return sum([v * v * v for v in normal(x)])


@at.fn
def counted(x: f64[n]) -> f64[n]:
    """What is known of c before the loop says nothing about it after."""
    c = 0
    for v in x:
        if v > 0.0:
            c = c + 1
    if c == 0:
        return [v - 1.0 for v in x]
    return [v * f64(c) for v in x]


@at.fn
def volume(u: f64[n, m, k]) -> f64[n, m, k]:
    return [[[u[i, j, q] + 0.05 * (u[i - 1, j, q] + u[i + 1, j, q] + u[i, j - 1, q] + u[i, j + 1, q] + u[i, j, q - 1] + u[i, j, q + 1] - 6.0 * u[i, j, q]) if 0 < i and i < n - 1 and 0 < j and j < m - 1 and 0 < q and q < k - 1 else u[i, j, q] for q in range(k)] for j in range(m)] for i in range(n)]


@at.fn
def around(u: f64[n, m]) -> f64[n, m]:
    """Edges that meet: a torus."""
    return [[u[i, j] + 0.1 * (u[(i - 1) % n, j] + u[(i + 1) % n, j] + u[i, (j - 1) % m] + u[i, (j + 1) % m] - 4.0 * u[i, j]) for j in range(m)] for i in range(n)]


@at.fn
def sliced(u: f64[n, m]) -> f64[n, m]:
    u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1])
    return u


@at.fn
def blurred(u: f64[n + 2, m + 2]) -> f64[n, m]:
    b = [[(u[i, j] + u[i, j + 1] + u[i, j + 2]) / 3.0 for j in range(m)] for i in range(n + 2)]
    return [[(b[i, j] + b[i + 1, j] + b[i + 2, j]) / 3.0 for j in range(m)] for i in range(n)]


def make() -> list[tuple[str, at.Function, tuple[object, ...]]]:
    rng = np.random.default_rng(21)
    u, big = rng.standard_normal((257, 131)), rng.standard_normal(200_003)
    x, y, w = rng.standard_normal((20_003, 5)), rng.standard_normal(20_003), rng.standard_normal(5)
    c, short = x[:7].copy(), rng.standard_normal(3001)
    cases: list[tuple[at.Function, tuple[object, ...]]] = [
        (heat, (u,)), (heat_twice, (u,)), (heat_often, (u,)), (conv, (u, rng.standard_normal(30))), (pool, (u[:256],)), (moving, (big,)),
        (total, (big,)), (extremes, (big,)), (questions, (big,)), (integers, (rng.integers(-9, 9, 100_001),)), (singles, (big.astype(np.float32),)),
        (product, (u, rng.standard_normal((131, 40)))), (dense, (u, rng.standard_normal((131, 40)), rng.standard_normal(40))), (matvec, (u, u[0].copy())),
        (gram, (x,)), (gram, (rng.standard_normal((2000, 70)),)), (loss, (w, x, y)), (logistic, (w, x, np.sign(y))), (kmeans, (x, c)), (mixture, (x, c)),
        (histogram, (big,)), (columns, (x,)), (columns, (x[:300],)), (average, (big,)), (normal, (big,)), (standard, (x,)), (softmax, (u,)), (sorted_rows, (u,)),
        (running_rows, (u,)), (running, (big,)), (running, (short,)), (best_so_far, (big,)), (ramp, (big,)), (forces, (short[:700],)), (flip, (u,)),
        (turned, (u,)), (lookup, (big, rng.integers(0, len(big), 5001))), (scaled, (big, 2.5, 3)), (energy, (big,)), (vorticity, (u, u + 1.0)), (quadratic_means, (x, x * 2.0)),
        (at.grad(loss), (w, x, y)), (at.grad(logistic), (w, x, np.sign(y))), (at.grad(energy), (short,)), (at.grad(loss, wrt="x"), (w, x, y)),
        (heat, (u[:1],)), (heat, (u[:0],)), (total, (big[:0],)), (total, (big[:1],)), (normal, (big[:1],)), (columns, (x[:0],)), (running, (big[:0],)),
        (expectation, (x, np.full(3, 1 / 3), c[:3].copy(), np.ones((3, 5)))), (places, (big,)), (largest_segment, (big,)), (at.grad(scanned), (big[:5001],)), (at.grad(whitened), (u, u * u)), (counted, (big,)), (counted, (-abs(big),)),
        (volume, (rng.standard_normal((41, 37, 29)),)), (around, (u,)), (sliced, (u,)), (blurred, (u,)), (at.grad(normal_loss), (big,)), (at.value_and_grad(energy), (big,)),
    ]  # fmt: skip
    return [(f"{f.name}_{k}", f, args) for k, (f, args) in enumerate(cases)]


def same(a: object, b: object) -> bool:
    """The same bits."""
    x, y = np.asarray(a), np.asarray(b)
    return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()
