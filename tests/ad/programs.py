"""Functions of every construct, to differentiate: text, and the shapes of the arguments to try (ints in braces are index arrays)."""

from __future__ import annotations

HEAD = """
import atoll as at
from atoll import f64, f32, i64, bool_
n, m, k = at.sizes("n m k")
@at.record
class Pair:
    a: f64
    b: f64[n]
"""

SIZES = [{"n": 4, "m": 3, "k": 2}, {"n": 1, "m": 1, "k": 1}, {"n": 7, "m": 5, "k": 6}]
EMPTY = {"n": 0, "m": 2, "k": 3}

# name -> (body, accepts n = 0)
PROGRAMS: dict[str, tuple[str, bool]] = {
    "elementwise": ("def f(x: f64[n], y: f64[n]) -> f64[n]:\n    return sin(x) * exp(y) / (1.0 + x * x) - sqrt(y * y + 2.0)", True),
    "powers": ("def f(x: f64[n]) -> f64[n]:\n    y = x * x + 0.5\n    return y ** 2.5 + y ** 3 + 2.0 ** x + log(y) ** 2", True),
    "special": (
        "def f(x: f64[n]) -> f64[n]:\n    y = x * 0.2\n    return erf(y) + tanh(y) + arctan2(y, 1.5) + hypot(y, 2.0) + log1p(y * y) + expm1(y) + lgamma(y * y + 1.5) + arcsin(y) + arccosh(y * y + 1.5)",
        True,
    ),
    "min_max": ("def f(x: f64[n], y: f64[n]) -> f64[n]:\n    return min(x, y) * max(x, 0.3) + abs(x) + clip(y, -0.5, 0.5)", True),
    "branch": ("def f(x: f64[n]) -> f64[n]:\n    return [v * v if v > 0.2 else (sin(v) if v > -0.4 else 1.0) for v in x]", True),
    "branch_reads": ("def f(x: f64[n]) -> f64[n]:\n    return [x[i - 1] * x[i] if i > 0 else x[i] for i in range(n)]", True),
    "stencil": ("def f(x: f64[n]) -> f64[n]:\n    return [(x[i] + x[(i + 1) % n]) * x[(i - 1) % n] for i in range(n)]", True),
    "window": ("def f(x: f64[n], w: f64[3]) -> f64[n]:\n    y = pad(x, 1)\n    return [sum(y[i + j] * w[j] for j in range(3)) for i in range(n)]", True),
    "strided": ("def f(x: f64[2 * n]) -> f64[n]:\n    return x[::2] * x[1::2] + x[:n]", False),
    "reversed": ("def f(x: f64[n]) -> f64[n]:\n    return reverse(x) * x + rotate(x, 1)", False),
    "reshape": ("def f(x: f64[n, m]) -> f64[m, n]:\n    y = split(flatten(x.T), n)\n    return y * transpose(x)", False),
    "concat": ("def f(x: f64[n], y: f64[m]) -> f64[n + m]:\n    return concat(x * x, y) * concat(x, sin(y))", True),
    "diagonal": ("def f(x: f64[n, n]) -> f64[n]:\n    return [x[i, i] * sum(x[i, j] for j in range(i + 1)) for i in range(n)]", True),
    "matmul": ("def f(x: f64[n, k], y: f64[k, m]) -> f64[n, m]:\n    return sin(x @ y)", True),
    "bilinear": ("def f(x: f64[n], A: f64[n, m], y: f64[m]) -> f64:\n    return dot(x, A @ y)", True),
    "lse": ("def f(x: f64[n, m]) -> f64[n]:\n    h = [max(r) for r in x]\n    return [log(sum(exp(x[i, j] - h[i]) for j in range(m))) + h[i] for i in range(n)]", True),
    "softmax": ("def f(x: f64[n, m]) -> f64[n, m]:\n    e = exp(x)\n    return [[e[i, j] / sum(e[i]) for j in range(m)] for i in range(n)]", True),
    "products": ("def f(x: f64[n, m]) -> f64[n]:\n    return prod(x)", True),
    "extrema": ("def f(x: f64[n, m]) -> f64[n]:\n    return max(x) * min(x)", True),
    "argmax": ("def f(x: f64[n, m], y: f64[m]) -> f64[n]:\n    return [y[argmax(r)] * r[argmin(r)] for r in x]", True),
    "fold_pair": (
        "def f(x: f64[n], y: f64[n]) -> (f64, f64):\n    return reduce(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (1.0, 0.0), zip(x, y))",
        True,
    ),
    "fold_rows": ("def f(x: f64[n, m]) -> f64[m]:\n    return reduce(rep(lambda p, q: p + q + 0.1 * p * q), zeros(m), x)", True),
    "fold_free": ("def f(x: f64[n], c: f64) -> f64:\n    return reduce(lambda p, q: p + q + c * p * q, 0.0, x)", True),
    "cumulative": ("def f(x: f64[n], y: f64[n]) -> f64[n]:\n    return cumsum(x * y) * scan(mul, 1.0, x) + scan(maximum, -9.0, y)", True),
    "exclusive": ("def f(x: f64[n]) -> f64[n]:\n    return scan(add, 0.5, x * x, exclusive=True) * x", True),
    "scan_any": ("def f(x: f64[n], c: f64) -> f64[n]:\n    return scan(lambda p, q: p + q + c * p * q, 0.0, x)", True),
    "scan_rows": ("def f(x: f64[n, m]) -> f64[n, m]:\n    return scan(rep(add), zeros(m), sin(x))", True),
    "gather": ("def f(x: f64[m], i: i64[n]) -> f64[n]:\n    return gather(x, i % m) * [x[j % m] for j in i]", True),
    "gather_2d": ("def f(x: f64[m, k], i: i64[n]) -> f64[n]:\n    return [sum(x[j % m]) * x[j % m, j % k] for j in i]", True),
    "hist": ("def f(x: f64[n], i: i64[n], z: f64[m]) -> f64[m]:\n    h = hist(add, 0.0, m, i % m, x * x)\n    return h * h", True),
    "hist_mul": ("def f(x: f64[n], i: i64[n], z: f64[m]) -> f64[m]:\n    return hist(mul, 1.0, m, i % m, x)", True),
    "hist_max": ("def f(x: f64[n], i: i64[n], z: f64[m]) -> f64[m]:\n    return hist(maximum, -5.0, m, i % m, x)", True),
    "hist_any": ("def f(x: f64[n], i: i64[n], c: f64, z: f64[m]) -> f64[m]:\n    return hist(lambda p, q: p + q + c * p * q, 0.0, m, i % m, x)", True),
    "hist_rows": ("def f(x: f64[n, k], i: i64[n], z: f64[m]) -> f64[m, k]:\n    return hist(add, zeros(k), m, i % m, sin(x))", True),
    "hist_drop": ('def f(x: f64[n], i: i64[n], z: f64[m]) -> f64[m]:\n    return hist(add, 0.0, m, i - 1, x * x, mode="drop")', True),
    "scatter": ("def f(x: f64[n], y: f64[n]) -> f64[n]:\n    z = scatter(x * x, [(j + 1) % n for j in range(n)], y * 2.0)\n    return z * z", True),
    "scatter_add": ("def f(x: f64[m], y: f64[n], i: i64[n]) -> f64[m]:\n    return scatter(sin(x), i % m, y * y, op=add)", True),
    "update": ("def f(x: f64[n, m], c: f64) -> f64[n, m]:\n    y = copy(x)\n    for i in range(n):\n        y[i, 0] = c * y[i, m - 1]\n    return y * y", True),
    "update_row": ("def f(x: f64[n, m], v: f64[m]) -> f64[n, m]:\n    y = copy(x)\n    for i in range(n):\n        y[i] = y[i] * v + y[(i + 1) % n]\n    return y", True),
    "sorted": ("def f(x: f64[n]) -> f64[n]:\n    return sort(x) * [j + 1.0 for j in range(n)]", True),
    "argsort": ("def f(x: f64[n], y: f64[n]) -> f64[n]:\n    return gather(y, argsort(x)) * x", True),
    "filter": ("def f(x: f64[n]) -> f64:\n    y = filter(lambda v: v > 0.1, x)\n    return sum(y * y)", True),
    "loop_scalar": ("def f(x: f64, c: f64[n]) -> f64:\n    s = x\n    for v in c:\n        s = sin(s * v) + s\n    return s", True),
    "loop_array": ("def f(x: f64[n], A: f64[n, n]) -> f64[n]:\n    y = x\n    for t in range(3):\n        y = [tanh(dot(A[i], y)) + x[i] for i in range(n)]\n    return y", True),
    "loop_pair": ("def f(x: f64, y: f64, c: f64[n]) -> (f64, f64):\n    a, b = x, y\n    for v in c:\n        a, b = b * v, a + sin(b)\n    return a, b", True),
    "loop_index": ("def f(x: f64[n]) -> f64:\n    s = 0.0\n    for i in range(n):\n        s = s * 0.5 + x[i] * (i + 1)\n    return s", True),
    "loop_update": ("def f(x: f64[n]) -> f64[n]:\n    y = copy(x)\n    for i in range(n - 1):\n        y[i + 1] = y[i + 1] * 0.5 + sin(y[i])\n    return y", False),
    "loop_swap": ("def f(x: f64[n], i: i64[n]) -> f64[n]:\n    y = copy(x)\n    for j in i:\n        t = y[j % n]\n        y[j % n] = y[0] * t\n        y[0] = sin(t)\n    return y", False),
    "loop_accumulate": ("def f(x: f64[n], i: i64[n], z: f64[m]) -> f64[m]:\n    h = zeros(m)\n    for j in range(n):\n        h[i[j] % m] += x[j] * x[j]\n    return h", True),
    "loop_conditional": ("def f(x: f64[n]) -> f64[n]:\n    y = copy(x)\n    for i in range(n):\n        if y[i] > 0.0:\n            y[(i + 1) % n] = y[i] * y[i]\n    return y", False),
    "loop_in_loop": ("def f(x: f64[n, m]) -> f64:\n    s = 1.0\n    for i in range(n):\n        p = x[i, 0]\n        for j in range(m):\n            p = p * x[i, j] + s\n        s = sin(p)\n    return s", True),
    "loop_in_map": ("def f(x: f64[n], c: f64[m]) -> f64[n]:\n    def one(v):\n        s = v\n        for w in c:\n            s = sin(s * w)\n        return s\n    return [one(v) for v in x]", True),
    "map_in_loop": ("def f(x: f64[n], c: f64[m]) -> f64[n]:\n    y = x\n    for w in c:\n        y = [sin(v * w) + x[0] for v in y]\n    return y", False),
    "checkpointed": ("def f(x: f64, c: f64[n]) -> f64:\n    s = x\n    for i in at.loop(n, checkpoint=2):\n        s = sin(s * c[i]) + s * 0.5\n    return s", True),
    "checkpointed_arrays": ("def f(x: f64[m], c: f64[n]) -> f64[m]:\n    s = x\n    for i in at.loop(n, checkpoint=3):\n        s = [sin(v * c[i]) + s[0] for v in s]\n    return s", True),
    "while": ("def f(x: f64, c: f64) -> f64:\n    y = x * x + 0.5\n    while y < 20.0:\n        y = y * (1.5 + c * c) + 0.1\n    return y", True),
    "while_arrays": ("def f(x: f64[n]) -> f64[n]:\n    y = x * 0.1\n    t = 0\n    while t < 4 and sum(y) < 10.0:\n        y = y * 1.5 + x\n        t = t + 1\n    return y", True),
    "newton": ("def f(a: f64) -> f64:\n    b = a * a + 1.0\n    x = b\n    for i in range(20):\n        x = 0.5 * (x + b / x)\n    return x", True),
    "record": ("def f(p: Pair) -> Pair:\n    return Pair(p.a * sum(p.b), p.b * p.a + sin(p.b))", True),
    "tuple_state": ("def f(x: f64[n]) -> (f64, f64[n]):\n    s = (0.0, x)\n    for i in range(3):\n        s = (s[0] + sum(s[1]), s[1] * 0.5 + s[0])\n    return s", True),
    "casts": ("def f(x: f64[n]) -> f64[n]:\n    y = f32(x)\n    return f64(y * y) * x + i64(x * 3.0)", True),
    "single": ("def f(x: f32[n], y: f32[n]) -> f32[n]:\n    return sin(x) * y + x * x", True),
    "mixed": ("def f(x: f32[n], y: f64[n]) -> f64:\n    return sum(x * y)", True),
    "integers": ("def f(x: f64[n], i: i64[n]) -> f64[n]:\n    return x ** 2 * i + i * i", True),
    "stopped": ("def f(x: f64[n]) -> f64[n]:\n    return x * x * 2.0", True),
    "display": ("def f(x: f64, y: f64) -> f64[2, 2]:\n    return [[x * y, sin(x)], [y, x]]", True),
    "inner_sum": ("def f(x: f64[n], y: f64[m]) -> f64:\n    return sum(sin(a * b) for a in x for b in y if a > b)", True),
    "triangle": ("def f(x: f64[n, n]) -> f64[n]:\n    return [sum(x[i, j] * x[j, i] for j in range(i)) for i in range(n)]", True),
    "convolution": ("def f(x: f64[n + k - 1], w: f64[k]) -> f64[n]:\n    return [sum(x[i + j] * w[j] for j in range(k)) for i in range(n)]", False),
    "dilated": ("def f(x: f64[2 * n], w: f64[2]) -> f64[n]:\n    return [sum(x[i + j * n] * w[j] for j in range(2)) for i in range(n)]", True),
    "quadratic_index": ("def f(x: f64[n * n]) -> f64[n]:\n    return [x[i * i] * x[i * n] for i in range(n)]", True),
    "conditional_index": ("def f(x: f64[n], i: i64[n]) -> f64[n]:\n    return [x[j] if 0 <= j and j < n else 0.5 for j in i]", True),
    "nested_derivative": ("def f(x: f64[n]) -> f64[n]:\n    return grad(lambda y: sum(y * y * y) * y[0])(x)", False),
    "inner_gradient_per_row": ("def f(x: f64[n, m]) -> f64[n, m]:\n    return [grad(lambda y: sum(sin(y) * x[i]))(x[i]) for i in range(n)]", True),
    "determinant": (
        "def f(A: f64[3, 3]) -> f64:\n    return A[0, 0] * (A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]) - A[0, 1] * (A[1, 0] * A[2, 2] - A[1, 2] * A[2, 0]) + A[0, 2] * (A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0])",
        True,
    ),
    "factor": (
        "def f(A: f64[n, n]) -> f64[n, n]:\n    L = A + 5.0 * [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]\n    for p in range(n):\n        for i in range(n - p - 1):\n            L[p + 1 + i, p] = L[p + 1 + i, p] / L[p, p]\n            for j in range(n - p - 1):\n                L[p + 1 + i, p + 1 + j] = L[p + 1 + i, p + 1 + j] - L[p + 1 + i, p] * L[p, p + 1 + j]\n    return L",
        True,
    ),
}
