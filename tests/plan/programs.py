"""Programs whose best plan is known."""

from __future__ import annotations

import atoll as at
from atoll import f32, f64

n, m, d, k = at.sizes("n m d k")


@at.fn
def black_scholes(price: f64[n], strike: f64[n], time: f64[n]):
    vol, rate = 0.3, 0.1
    root = vol * sqrt(time)
    d1 = (log(price / strike) + (rate + vol * vol / 2) * time) / root
    d2 = d1 - root
    later = strike * exp(-rate * time)
    cdf = lambda x: 0.5 * (1 + erf(x / sqrt(2.0)))
    call = price * cdf(d1) - later * cdf(d2)
    put = later * cdf(-d2) - price * cdf(-d1)
    return call, put


@at.fn
def dense(W: f64[m, n], x: f64[n], b: f64[m]) -> f64[m]:
    return [max(0.0, sum(w * v for w, v in zip(row, x)) + c) for row, c in zip(W, b)]


@at.fn
def softmax(x: f64[n]) -> f64[n]:
    e = exp(x - max(x))
    return e / sum(e)


@at.fn
def layer_norm(x: f64[m, n], g: f64[n], b: f64[n]) -> f64[m, n]:
    def row(v):
        mean = sum(v) / n
        var = sum((a - mean) ** 2 for a in v) / n
        s = 1.0 / sqrt(var + 1e-5)
        return [(a - mean) * s * c + e for a, c, e in zip(v, g, b)]

    return [row(v) for v in x]


@at.fn
def attention_row(q: f64[d], K: f64[n, d], V: f64[n, d]) -> f64[d]:
    s = [sum(a * b for a, b in zip(q, key)) for key in K]
    e = exp(s - max(s))
    total = sum(e)
    return [sum(e[j] * V[j, c] for j in range(n)) / total for c in range(d)]


@at.fn
def covariance(x: f64[m, n]) -> f64[n, n]:
    mean = [sum(x[r, j] for r in range(m)) / m for j in range(n)]
    return [[sum((x[r, i] - mean[i]) * (x[r, j] - mean[j]) for r in range(m)) / (m - 1) for j in range(n)] for i in range(n)]


@at.fn
def n_body(x: f64[n, 3], mass: f64[n]) -> f64[n, 3]:
    def force(p):
        def one(q, w):
            dx, dy, dz = q[0] - p[0], q[1] - p[1], q[2] - p[2]
            r = dx * dx + dy * dy + dz * dz + 1e-9
            s = w / (r * sqrt(r))
            return (dx * s, dy * s, dz * s)

        parts = [one(q, w) for q, w in zip(x, mass)]
        return [sum(a for a, _, _ in parts), sum(b for _, b, _ in parts), sum(c for _, _, c in parts)]

    return [force(p) for p in x]


@at.fn
def jacobi(a: f64[n, m]) -> f64[n, m]:
    return [
        [
            0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) if 0 < i < n - 1 and 0 < j < m - 1 else a[i, j]
            for j in range(m)
        ]
        for i in range(n)
    ]


@at.fn
def chain(x: f64[n]) -> f64[n]:
    y = x
    y = y * 2.0
    y = y + 1.0
    y = y * y
    y = y - x
    y = y * 0.5
    y = y + x
    y = y * 1.5
    y = y - 3.0
    y = abs(y)
    y = y + 0.25
    y = y * x
    y = y - 1.0
    y = y * y
    y = y + 2.0
    y = y * 0.125
    y = y - x
    y = y * 3.0
    y = y + x
    y = y * 0.75
    return y - 1.0


@at.fn
def moments(x: f64[n]):
    return sum(x), sum(x * x), max(x), min(x)


@at.fn
def prefix_chain(x: f64[n]) -> f64[n]:
    return scan(add, 0.0, x * x + 1.0) * 2.0


@at.fn
def blur(a: f32[n + 2, m + 2]) -> f32[n, m]:
    h = [[(a[i, j] + a[i, j + 1] + a[i, j + 2]) / 3 for j in range(m)] for i in range(n + 2)]
    return [[(h[i, j] + h[i + 1, j] + h[i + 2, j]) / 3 for j in range(m)] for i in range(n)]


@at.fn
def normalise(x: f64[n]) -> f64[n]:
    return [v / sum(x) for v in x]


@at.fn
def total_distance(p: f64[n, 2]) -> f64:
    return sum(sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) for a in p for b in p)


@at.fn
def there_and_back(x: f64[n]) -> f64[n]:
    a = scan(add, 0.0, x)
    b = [a[n - 1 - i] + a[i] for i in range(n)]
    c = scan(add, 0.0, b)
    d = [c[n - 1 - i] * c[i] for i in range(n)]
    e = scan(max, 0.0, d)
    return [e[n - 1 - i] - e[i] for i in range(n)]
