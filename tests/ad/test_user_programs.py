"""Twenty programs as a user would write them; everything that must hold of derivatives (tests/fuzz_ad/check.py) is checked at a random point."""

from __future__ import annotations

import pytest

from tests.fuzz_ad.check import check

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m, k = at.sizes('n m k')\n"
PROGRAMS = {
    "ridge": "def f(w: f64[m], x: f64[n, m], y: f64[n], c: f64) -> f64:\n    r = x @ w - y\n    return sum(r * r) + c * c * sum(w * w)",
    "logistic": "def f(w: f64[m], x: f64[n, m], y: f64[n]) -> f64:\n    z = x @ w\n    return sum(log1p(exp(-z[i])) + (1.0 - y[i]) * z[i] for i in range(n))",
    "huber": "def f(x: f64[n], d: f64) -> f64:\n    c = abs(d) + 0.1\n    return sum(0.5 * v * v if abs(v) <= c else c * (abs(v) - 0.5 * c) for v in x)",
    "softmax_rows": "def f(x: f64[n, m]) -> f64[n, m]:\n    e = exp(x)\n    return [r / sum(r) for r in e]",
    "cosine": "def f(a: f64[n], b: f64[n]) -> f64:\n    return dot(a, b) / (sqrt(dot(a, a) + 0.1) * sqrt(dot(b, b) + 0.1))",
    "pairwise": "def f(p: f64[n, 2]) -> f64:\n    return sum(1.0 / sqrt(0.1 + sum((p[i, c] - p[j, c]) ** 2 for c in range(2))) for i in range(n) for j in range(i))",
    "heat": "def f(u: f64[n + 2], c: f64) -> f64[n + 2]:\n    for t in range(4):\n        u[1:-1] = u[1:-1] + 0.1 * c * (u[:-2] - 2.0 * u[1:-1] + u[2:])\n    return u",
    "verlet": "def f(x: f64, v: f64, w: f64) -> (f64, f64):\n    for t in range(10):\n        a = -w * sin(x)\n        v = v + 0.05 * a\n        x = x + 0.05 * v\n    return x, v",
    "horner": "def f(c: f64[n], x: f64) -> f64:\n    s = 0.0\n    for a in c:\n        s = s * x + a\n    return s",
    "moving_average": "def f(x: f64[n + 2], w: f64[3]) -> f64[n]:\n    return [sum(x[i + j] * w[j] for j in range(3)) / (1.0 + sum(w * w)) for i in range(n)]",
    "viterbi_soft": "def f(t: f64[k, k], e: f64[n, k]) -> f64:\n    a = zeros(k)\n    for s in range(n):\n        a = [log(sum(exp(a[i] + t[i, j]) for i in range(k)) + 0.1) + e[s, j] for j in range(k)]\n    return sum(a)",
    "embedding": "def f(w: f64[m + 1, k], ids: i64[n]) -> f64:\n    h = [w[q % (m + 1)] for q in ids]\n    return sum(sin(sum(r)) for r in h)",
    "bucket_means": "def f(x: f64[n], b: i64[n]) -> f64[3]:\n    i = b % 3\n    total = hist(add, 0.0, 3, i, x)\n    count = hist(add, 0.0, 3, i, ones(n))\n    return [total[j] / (count[j] + 1.0) for j in range(3)]",
    "cholesky": "def f(a: f64[3, 3]) -> f64[3, 3]:\n    s = a @ a.T + 3.0 * [[1.0 if i == j else 0.0 for j in range(3)] for i in range(3)]\n    l = zeros((3, 3))\n    for i in range(3):\n        for j in range(i + 1):\n            r = s[i, j] - sum(l[i, q] * l[j, q] for q in range(j))\n            l[i, j] = sqrt(abs(r) + 0.1) if i == j else r / l[j, j]\n    return l",
    "median_of_three": "def f(a: f64, b: f64, c: f64) -> f64:\n    return sort([a, b, c])[1] * (a + b + c)",
    "newton_root": "def f(a: f64) -> f64:\n    c = a * a + 1.0\n    x = c\n    t = 0\n    while abs(x * x - c) > 1e-9 and t < 50:\n        x = 0.5 * (x + c / x)\n        t = t + 1\n    return x",
    "gru": "def f(u: f64[k, k], w: f64[k, m], x: f64[n, m], h: f64[k]) -> f64[k]:\n    for t in range(n):\n        z = 1.0 / (1.0 + exp(-(w @ x[t] + u @ h)))\n        h = (1.0 - z) * h + z * tanh(u @ h)\n    return h",
    "interpolation": "def f(y: f64[n + 2], q: f64[m]) -> f64:\n    def at_(v):\n        p = min(abs(v), 0.99) * (n + 1)\n        i = i64(p)\n        return y[i] + (p - i) * (y[i + 1] - y[i])\n    return sum(at_(v) for v in q)",
    "prefix_products": "def f(x: f64[n]) -> f64:\n    p = scan(mul, 1.0, 1.0 + 0.1 * x)\n    return sum(p[i] * x[n - 1 - i] for i in range(n))",
    "masked_attention": "def f(q: f64[n, k], v: f64[n, k]) -> f64[n, k]:\n    def row(i):\n        e = [exp(dot(q[i], q[j])) if j <= i else 0.0 for j in range(n)]\n        return [sum(e[j] * v[j, c] for j in range(n)) / (sum(e) + 0.1) for c in range(k)]\n    return [row(i) for i in range(n)]",
    "line_search": "def f(x: f64[n]) -> f64:\n    g = grad(lambda y: sum(y ** 4))(x)\n    return sum((x - 0.01 * g) ** 4)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    outcome = check(f"{HEAD}@at.fn\n{PROGRAMS[name]}\n", 3, {"n": 4, "m": 3, "k": 2})
    assert not outcome.refused, outcome.refused
    assert outcome.failure is None, outcome.failure.detail
    assert outcome.checks
