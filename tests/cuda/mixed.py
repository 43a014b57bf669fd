"""Programs that nobody wrote for a device: several constructs in one, and derivatives of them. Rows like those of constructs.py, run by the same test."""

from __future__ import annotations

from typing import Any

import atoll as at
from tests.cuda.constructs import ROWS, Arguments, _a, _i, _short, _square, _x, _xi

HEAD = "import atoll as at\nfrom atoll import f64, f32, i64, i32\nn, m, k = at.sizes('n m k')\n\n@at.fn\n"


def _b(rng: Any, size: int) -> tuple[Any, ...]:
    return rng.normal(size=(min(size, 40), 5)), rng.normal(size=(7, 5))


def _signal(rng: Any, size: int) -> tuple[Any, ...]:
    return rng.normal(size=size), rng.normal(size=5)


TEXTS: dict[str, tuple[str, Arguments]] = {
    "volterra": ("x: f64[n]", "    y = zeros(n)\n    for i in range(n):\n        y[i] = x[i] + 0.1 * sum(y[j] * exp(-0.1 * f64(i - j)) for j in range(i)) / f64(n)\n    return y\n", _x),
    "chain_lengths": ("x: f64[n]", "    best = zeros(n, i64)\n    for i in range(n):\n        best[i] = 1 + max((best[j] if x[j] < x[i] else 0 for j in range(i)), default=0)\n    return best, max(best, default=0)\n", _x),
    "backwards_sums": ("a: f64[n, n]", "    x = zeros(n)\n    for i in range(n - 1, -1, -1):\n        x[i] = (1.0 - sum(a[i, j] * x[j] for j in range(i + 1, n))) / a[i, i]\n    return x\n", _square),
    "two_solves": ("a: f64[n, n]", "    x = zeros(n)\n    for i in range(n):\n        x[i] = (f64(i) - sum(a[i, j] * x[j] for j in range(i))) / a[i, i]\n    y = zeros(n)\n    for i in range(n):\n        y[i] = x[i] - sum(a[j, i] * y[j] for j in range(i)) / a[i, i]\n    return x + y\n", _square),
    "products_of_the_past": ("x: f64[n]", "    y = ones(n)\n    for i in range(n):\n        y[i] = 0.5 + 0.25 * sum(y[j] * y[j] * x[j] for j in range(i)) / f64(n * n + 1)\n    return y\n", _x),
    "least_cost": ("x: f64[n]", "    cost = zeros(n)\n    for i in range(n):\n        cost[i] = min((cost[j] + abs(x[i] - x[j]) + f64(i - j) ** 2 for j in range(i)), default=0.0)\n    return cost\n", _x),
    "ranks_of_sorted_sums": ("x: f64[n]", "    s = scan(add, 0.0, sort(x))\n    return argsort(-s), sum(s)\n", _x),
    "filter_then_scan": ("x: f64[n]", "    few = [v * v for v in x if v > 0.0]\n    return scan(add, 0.0, few), sort(few)\n", _x),
    "histogram_of_ranks": ("x: f64[n], c: i64[n]", "    order = argsort(x)\n    return hist(add, 0.0, 7, [c[i] for i in order], [f64(i) for i in range(n)])\n", _xi),
    "segments_by_key": ("x: f64[n], c: i64[n]", "    total = hist(add, 0.0, 7, c, x)\n    count = hist(add, 0, 7, c, [1 for _ in c])\n    mean = [t / f64(max(q, 1)) for t, q in zip(total, count)]\n    return [v - mean[i] for v, i in zip(x, c)]\n", _xi),
    "nearest": ("a: f64[m, 5], b: f64[7, 5]", "    return [argmin([sum((p - q) ** 2 for p, q in zip(row, other)) for other in b]) for row in a]\n", _b),
    "distances": ("a: f64[m, 5], b: f64[7, 5]", "    d = [[sqrt(sum((p - q) ** 2 for p, q in zip(row, other))) for other in b] for row in a]\n    return d, [min(r) for r in d]\n", _b),
    "soft_attention": ("a: f64[m, 5], b: f64[7, 5]", "    s = [[sum(p * q for p, q in zip(row, other)) for other in b] for row in a]\n    e = [[exp(v - max(r)) for v in r] for r in s]\n    w = [[v / sum(r) for v in r] for r in e]\n    return w @ b\n", _b),
    "moving_average": ("x: f64[n], w: f64[k]", "    return [sum(w[j] * x[i + j] if i + j < n else 0.0 for j in range(k)) for i in range(n)]\n", _signal),
    "smooth_three_times": ("x: f64[n]", "    y = x\n    for _ in range(3):\n        y = [0.25 * y[max(i - 1, 0)] + 0.5 * y[i] + 0.25 * y[min(i + 1, n - 1)] for i in range(n)]\n    return y\n", _x),
    "until_it_stays": ("x: f64[n]", "    y = x\n    t = 0\n    while t < 20 and sum(v * v for v in y) > 0.01:\n        y = [0.5 * v for v in y]\n        t = t + 1\n    return y, t\n", _x),
    "rows_normalised": ("a: f64[n, m]", "    return [[(v - sum(r) / f64(m)) / (1.0 + sqrt(sum(q * q for q in r))) for v in r] for r in a]\n", _a),
    "column_extremes": ("a: f64[n, m]", "    t = transpose(a)\n    return [max(c, default=0.0) for c in t], [min(c, default=0.0) for c in t]\n", _a),
    "row_scans": ("a: f64[n, m]", "    return [scan(add, 0.0, r) for r in a], [scan(maximum, -inf, r) for r in a]\n", _short),
    "row_sorts": ("a: f64[n, m]", "    return [sort(r) for r in a]\n", _short),
    "power_iteration": ("a: f64[n, n]", "    v = [1.0 for _ in range(n)]\n    for _ in range(4):\n        w = a @ v\n        v = w / (1e-9 + sqrt(sum(w * w)))\n    return v\n", _square),
    "gram_and_trace": ("a: f64[n, m]", "    g = transpose(a) @ a\n    return sum(g[i, i] for i in range(m)), g\n", _short),
    "runs": ("x: i64[n]", "    change = [1 if i == 0 or x[i] != x[i - 1] else 0 for i in range(n)]\n    return scan(add, 0, change)\n", _i),
    "bits_counted": ("x: i64[n]", "    return [sum((v >> j) & 1 for j in range(8)) for v in x], [v ^ (v >> 1) for v in x]\n", _i),
    "collatz": ("x: i64[n]", "    out = zeros(n, i64)\n    for i in range(n):\n        v = abs(x[i]) + 1\n        t = 0\n        while v != 1 and t < 200:\n            v = v // 2 if v % 2 == 0 else 3 * v + 1\n            t = t + 1\n        out[i] = t\n    return out\n", _i),
    "compact_pairs": ("x: i64[n]", "    return [(i, v) for i, v in enumerate(x) if v % 2 == 0]\n", _i),
    "two_level_filter": ("x: f64[n]", "    a = [v for v in x if v > -0.5]\n    b = [v for v in a if v < 0.5]\n    return b, sum(b)\n", _x),
    "exclusive_maximum": ("x: f64[n]", "    s = scan(maximum, -inf, x, exclusive=True)\n    return [v > p for v, p in zip(x, s)]\n", _x),
    "first_above": ("x: f64[n]", "    where = n\n    for i in range(n):\n        if x[i] > 1.0:\n            where = i\n            break\n    return where\n", _x),
    "pairs_of_points": ("x: f64[n]", "    return sum(abs(x[i] - x[j]) for i in range(n) for j in range(n))\n", _x),
}  # fmt: skip
SLOPES = {
    **dict.fromkeys(("volterra", "two_solves", "backwards_sums", "products_of_the_past", "least_cost", "segments_by_key", "moving_average", "smooth_three_times", "power_iteration"), "sum(found * found)"),
    **dict.fromkeys(("soft_attention", "rows_normalised"), "sum(sum(found * found))"),
    **dict.fromkeys(("filter_then_scan", "two_level_filter"), "sum(found[0] * found[0])"),
}
"""What is differentiated of what a program gives."""


def _made(name: str, parameters: str, body: str) -> at.Function:
    return at.fn(source=f"{HEAD}def {name}({parameters}):\n{body}")


def _loss(name: str, parameters: str, body: str) -> at.Function:
    first, last = body.rsplit("    return ", 1)
    return _made(f"loss_of_{name}", parameters, f"{first}    found = {last}    return {SLOPES[name]}\n")


for _name, (_parameters, _body, _arguments) in TEXTS.items():
    ROWS[_name] = (_made(_name, _parameters, _body), _arguments)
    if _name in SLOPES:
        ROWS[f"slope of {_name}"] = (at.grad(_loss(_name, _parameters, _body)), _arguments)
