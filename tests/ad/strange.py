"""Programs that nobody writes first: constructs inside constructs, of which derivatives are checked (test_strange.py). Text, and sizes that are refused."""

from __future__ import annotations

HEAD = """
import atoll as at
from atoll import f64, i64, bool_
n, m, k = at.sizes("n m k")
@at.record
class Body:
    x: f64[2]
    v: f64
    kind: i64
@at.fn
def tamed(x: f64) -> f64:
    return tanh(x) * 0.5
@tamed.def_vjp
@at.fn
def tamed_back(x: f64, dy: f64) -> f64:
    return 0.5 * dy * (1.0 - tanh(x) ** 2)
@tamed.def_jvp
@at.fn
def tamed_along(x: f64, dx: f64) -> f64:
    return 0.5 * dx * (1.0 - tanh(x) ** 2)
"""

PROGRAMS: dict[str, str] = {
    # loops that update arrays
    "lu in place": "def f(a: f64[m, m]) -> f64[m, m]:\n    a = a + [[4.0 if i == j else 0.0 for j in range(m)] for i in range(m)]\n    for p in range(m):\n        for i in range(p + 1, m):\n            a[i, p] = a[i, p] / a[p, p]\n            for j in range(p + 1, m):\n                a[i, j] -= a[i, p] * a[p, j]\n    return a",
    "bubble sort": "def f(x: f64[n]) -> f64[n]:\n    for i in range(n):\n        for j in range(n - 1):\n            if x[j] > x[j + 1]:\n                x[j], x[j + 1] = x[j + 1], x[j]\n    return [x[i] * (i + 1) for i in range(n)]",
    "sieve": "def f(x: f64[n], c: f64) -> f64[n]:\n    for p in range(1, n):\n        for q in range(p, n, 2):\n            x[q] = x[q] * c + x[p - 1]\n    return x",
    "two arrays swapped": "def f(x: f64[n], y: f64[n]) -> (f64[n], f64[n]):\n    for t in range(4):\n        x, y = [sin(v) for v in y], x * 0.5 + y\n    return x, y",
    "row reductions in a loop": "def f(a: f64[n, m], w: f64[m]) -> f64[n]:\n    s = zeros(n)\n    for t in range(3):\n        s = [s[i] * 0.5 + sum(a[i] * w) for i in range(n)]\n        a = a * 0.9\n        w[: m - 1] = w[1:] * w[: m - 1]\n    return s",
    "triangular solve": "def f(l: f64[m, m], b: f64[m]) -> f64[m]:\n    x = zeros(m)\n    for i in range(m):\n        x[i] = (b[i] - sum(l[i, j] * x[j] for j in range(i))) / (2.0 + l[i, i] * l[i, i])\n    return x",
    "update at data": "def f(x: f64[n], i: i64[n]) -> f64[n]:\n    for t in range(n):\n        x[i[t] % n] = x[i[t] % n] * 0.5 + sin(x[t])\n    return x",
    "growing prefix": "def f(x: f64[n]) -> f64:\n    s = 0.0\n    for i in range(n):\n        s = s * 0.5 + sum(v * v for v in x[:i]) + max(concat(x[:i], [1.0]))\n    return s",
    "checkpoint in checkpoint": "def f(x: f64[m], c: f64) -> f64[m]:\n    for t in at.loop(3, checkpoint=2):\n        for u in at.loop(3, checkpoint=3):\n            x = [sin(v * c) + 0.1 * x[0] for v in x]\n        c = c * 0.9 + 0.01 * sum(x)\n    return x",
    "no false dependences": "def f(x: f64[n + 1], c: f64[n + 1]) -> f64[n + 1]:\n    for i in at.loop(n, no_false_deps=True):\n        x[i + 1] = sin(x[i]) + c[i] * 0.5\n    return x",
    # while
    "while with arrays": "def f(x: f64[n], c: f64) -> f64[n]:\n    t = 0\n    while sum(v * v for v in x) > 0.5 and t < 9:\n        x = x * (0.7 + 0.01 * sin(c))\n        t = t + 1\n    return x",
    "while in for in while": "def f(x: f64) -> f64:\n    k = 0\n    while at.bound(4) and k < 3:\n        for i in range(2):\n            j = 0\n            while at.bound(3) and j <= i:\n                x = sin(x) * 1.5 + 0.1 * j\n                j += 1\n        k += 1\n    return x",
    "bisection of a gradient": "def f(a: f64) -> f64:\n    c = a * a + 1.0\n    x = 1.0\n    for t in range(6):\n        g = grad(lambda y: y * y * y - c * y)(x)\n        x = x - 0.05 * g\n    return x",
    # scans and folds
    "affine scan": "def f(a: f64[n], b: f64[n]) -> f64[n]:\n    p, q = unzip(scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (1.0, 0.0), zip(a, b)))\n    return p * q",
    "matrix scan": "def f(a: f64[n, 2, 2]) -> f64[2, 2]:\n    p = scan(lambda l, r: l @ r, [[1.0, 0.0], [0.0, 1.0]], a * 0.5)\n    return sum(p, axis=0) if n > 0 else zeros((2, 2))",
    "scan of maxima with places": "def f(x: f64[n]) -> f64[n]:\n    s = scan(lambda l, r: l if l[0] >= r[0] else r, (-9.0, 0), [(x[i] * x[i], i) for i in range(n)])\n    return [v * x[j] for v, j in s]",
    "fold of a record": "def f(x: f64[n], y: f64[n]) -> f64:\n    b = fold(lambda s, p: Body([s.x[0] + p[0], s.x[1] * 0.5 + p[1]], s.v + s.x[0] * p[1], s.kind + 1), Body([0.0, 1.0], 0.0, 0), zip(x, y))\n    return b.v * b.x[0] + b.x[1] * b.kind",
    "reduce of rows by max": "def f(a: f64[n, m]) -> f64[m]:\n    return reduce(rep(maximum), full(m, -9.0), a) * 2.0",
    # hist, scatter
    "log add hist": "def f(x: f64[n], i: i64[n]) -> f64[3]:\n    return hist(lambda p, q: log(exp(p) + exp(q)), -9.0, 3, i % 3, x)",
    "hist of pairs": "def f(x: f64[n], y: f64[n], i: i64[n]) -> (f64[3], f64[3]):\n    return unzip(hist(lambda p, q: (p[0] + q[0], p[1] + q[1] + p[0] * 0.0), (0.0, 0.0), 3, i % 3, zip(x * y, sin(y))))",
    "hist in a loop": "def f(x: f64[n], i: i64[n]) -> f64[4]:\n    h = ones(4)\n    for t in range(3):\n        h = h * 0.5 + hist(add, 0.0, 4, (i + t) % 4, x * h[t])\n    return h",
    "scatter dropped": 'def f(x: f64[n], y: f64[n]) -> f64[n]:\n    return scatter(x, [2 * j - 1 for j in range(n)], y * y, mode="drop")',
    # filter, sort, choice
    "filter then fold": "def f(x: f64[n], c: f64) -> f64:\n    y = [v * c for v in x if v > 0.1]\n    return fold(lambda s, v: s * 0.5 + v, 0.0, y) + sum(sort(y) * y)",
    "sort by key": "def f(x: f64[n], y: f64[n]) -> f64[n]:\n    p = argsort([sin(v) for v in x])\n    return [y[p[i]] * x[p[(i + 1) % n]] for i in range(n)]",
    "argmin of distances": "def f(p: f64[n, 2], c: f64[3, 2]) -> f64:\n    def nearest(q):\n        d = [sum((q[a] - r[a]) ** 2 for a in range(2)) for r in c]\n        return d[argmin(d)] + 0.1 * c[argmin(d), 0]\n    return sum(nearest(q) for q in p)",
    "lazy branches": "def f(x: f64[n], c: f64) -> f64:\n    def g(v):\n        if v > 0.5:\n            return sqrt(v - 0.5) + (log(v) if v > 1.0 else v / c)\n        elif v > -0.5 and sin(v) != 2.0:\n            return v ** 3\n        return exp(v) * (1.0 if c > 0.0 else -1.0)\n    return sum(g(v) for v in x)",
    "match on integers": "def f(x: f64[n], i: i64[n]) -> f64[n]:\n    def g(v, j):\n        match j % 4:\n            case 0:\n                r = v * v\n            case 1 | 2:\n                r = sin(v) * j\n            case _:\n                r = 1.0\n        return r\n    return [g(v, j) for v, j in zip(x, i)]",
    # records, views, sizes
    "array of records": "def f(x: f64[n, 2], v: f64[n]) -> f64:\n    bodies = [Body(x[i], v[i], i) for i in range(n)]\n    for t in range(2):\n        bodies = [Body(b.x + 0.1 * b.v, b.v * 0.9 + 0.1 * sum(b.x), b.kind) for b in bodies]\n    return sum(b.x[0] * b.v + b.kind for b in bodies)",
    "views of views": "def f(x: f64[2 * n + 2]) -> f64[n + 1]:\n    y = reverse(rotate(x, 3))[::2]\n    return y * split(x, 2)[:, 1] + trunc_l(pad_l(y, 2), 2) + window(pad_r(x, 1), 2)[: n + 1, 0]",
    "negative steps": "def f(x: f64[n + 4]) -> f64[2]:\n    x[3::-2] = x[:2] * x[-2:]\n    return x[::-1][:2] * x[3:5] if n > 0 else x[:2]",
    "slices of slices": "def f(a: f64[n + 2, m + 2]) -> f64[n, m]:\n    a[1:-1, 1:-1] = a[:-2, 1:-1] * a[2:, 1:-1] + a[1:-1, :-2]\n    a[0] = a[-1] * 2.0\n    return a[:-2, 1:-1] * a[1:-1, 2:]",
    # derivatives in derivatives
    "rule in a loop": "def f(x: f64[n], c: f64) -> f64[n]:\n    for t in range(3):\n        x = [tamed(v * c) + 0.1 * x[0] for v in x]\n    return x",
    "jacobian inside": "def f(x: f64[3], c: f64) -> f64:\n    j = jacfwd(lambda y: [y[0] * y[1] * c, sin(y[2]) * y[0], y[1] ** 3])(x)\n    return sum(j[a, b] * (a + 2 * b + 1) for a in range(3) for b in range(3))",
    "vjp of a loop inside": "def f(x: f64[n], c: f64) -> f64[n]:\n    def run(y):\n        for t in range(3):\n            y = sin(y * c)\n        return y\n    return vjp(run, x, x * 0.5) + x",
    "jvp in a scan": "def f(x: f64[n]) -> f64[n]:\n    g = [jvp(lambda y: sin(y) * y, v, 1.0 + v) for v in x]\n    return cumsum(g) * x",
    "hessian of a loop": "def f(x: f64[2]) -> f64:\n    def run(y):\n        s = y[0]\n        for t in range(3):\n            s = sin(s * y[1]) + y[0]\n        return s\n    h = hessian(run)(x)\n    return h[0, 0] * h[1, 1] - h[0, 1] * h[1, 0]",
    "implicit by steps": "def f(a: f64, b: f64) -> f64:\n    x = linearize(lambda y: y * y * a, b)[0]\n    v, lin = linearize(lambda y: sin(y) * a, x)\n    return v * lin(a) + x",
    # empty and single
    "sums of nothing": "def f(x: f64[n], a: f64[n, m]) -> f64:\n    return sum(sum(r) for r in a) * 2.0 + prod(x) + max(concat(x, [0.3]))",
    "outer of empties": "def f(x: f64[n], y: f64[m]) -> f64[m]:\n    t = [[u * sin(v) for v in y] for u in x]\n    return [sum(t[i, j] for i in range(n)) * y[j] for j in range(m)]",
}
# sizes that a program needs to be at least so large
LEAST: dict[str, dict[str, int]] = {"row reductions in a loop": {"m": 1}, "update at data": {"n": 1}, "sort by key": {"n": 1}}
