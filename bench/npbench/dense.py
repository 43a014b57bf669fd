"""Maps, products, sums over columns, triangles of products."""

from __future__ import annotations

from typing import Any

import atoll as at
from atoll import f64, i64
from bench.npbench.task import Task, np, prange, presets, rng, several

n, m, k, l, q = at.sizes("n m k l q")
nnz = at.sizes("nnz")


@at.fn
def arc_distance(theta_1: f64[n], phi_1: f64[n], theta_2: f64[n], phi_2: f64[n]) -> f64[n]:
    temp = sin((theta_2 - theta_1) / 2) ** 2 + cos(theta_1) * cos(theta_2) * sin((phi_2 - phi_1) / 2) ** 2
    return 2 * arctan2(sqrt(temp), sqrt(1 - temp))


def arc_distance_np(xp: Any, t1: Any, p1: Any, t2: Any, p2: Any) -> Any:
    temp = xp.sin((t2 - t1) / 2) ** 2 + xp.cos(t1) * xp.cos(t2) * xp.sin((p2 - p1) / 2) ** 2
    return 2 * xp.arctan2(xp.sqrt(temp), xp.sqrt(1 - temp))


@at.fn
def atax(a: f64[m, n], x: f64[n]) -> f64[n]:
    return (a @ x) @ a


@at.fn
def bicg(a: f64[n, m], p: f64[m], r: f64[n]) -> (f64[m], f64[n]):
    return r @ a, a @ p


@at.fn
def compute(x: i64[m, n], y: i64[m, n], a: i64, b: i64, c: i64) -> i64[m, n]:
    return clip(x, 2, 10) * a + y * b + c


@at.fn
def correlation(data: f64[n, m]) -> f64[m, m]:
    mean = [sum(data[i, j] for i in range(n)) / n for j in range(m)]
    dev = [sqrt(sum((data[i, j] - mean[j]) ** 2 for i in range(n)) / n) for j in range(m)]
    dev = [1.0 if s <= 0.1 else s for s in dev]
    z = (data - mean) / (sqrt(f64(n)) * dev)
    return [[1.0 if i == j else sum(z[p, i] * z[p, j] for p in range(n)) for j in range(m)] for i in range(m)]


def correlation_np(xp: Any, data: Any) -> Any:
    dev = xp.std(data, axis=0)
    dev = xp.where(dev <= 0.1, 1.0, dev)
    z = (data - xp.mean(data, axis=0)) / (np.sqrt(data.shape[0]) * dev)
    c = z.T @ z
    return xp.where(xp.eye(len(c), dtype=bool), 1.0, c)


@at.fn
def covariance(data: f64[n, m]) -> f64[m, m]:
    mean = [sum(data[i, j] for i in range(n)) / n for j in range(m)]
    z = data - mean
    return [[sum(z[p, i] * z[p, j] for p in range(n)) / (n - 1) for j in range(m)] for i in range(m)]


def covariance_np(xp: Any, data: Any) -> Any:
    z = data - xp.mean(data, axis=0)
    return z.T @ z / (len(data) - 1)


@at.fn
def covariance2(data: f64[n, m]) -> f64[m, m]:
    z = data - [sum(column) / n for column in data.T]
    return z.T @ z / (n - 1)


@at.fn
def doitgen(a: f64[n, m, k], c4: f64[k, k]) -> f64[n, m, k]:
    return [[[sum(a[r, s, p] * c4[p, t] for p in range(k)) for t in range(k)] for s in range(m)] for r in range(n)]


@at.fn
def gemm(alpha: f64, beta: f64, c: f64[n, m], a: f64[n, k], b: f64[k, m]) -> f64[n, m]:
    return alpha * (a @ b) + beta * c


@at.fn
def gemver(alpha: f64, beta: f64, a: f64[n, n], u1: f64[n], v1: f64[n], u2: f64[n], v2: f64[n], w: f64[n], x: f64[n], y: f64[n], z: f64[n]) -> (f64[n, n], f64[n], f64[n]):
    b = [[a[i, j] + u1[i] * v1[j] + u2[i] * v2[j] for j in range(n)] for i in range(n)]
    x1 = x + beta * (y @ b) + z
    return b, x1, w + alpha * (b @ x1)


def gemver_np(xp: Any, alpha: float, beta: float, a: Any, u1: Any, v1: Any, u2: Any, v2: Any, w: Any, x: Any, y: Any, z: Any) -> Any:
    b = a + xp.outer(u1, v1) + xp.outer(u2, v2)
    x1 = x + beta * (y @ b) + z
    return b, x1, w + alpha * (b @ x1)


@at.fn
def gesummv(alpha: f64, beta: f64, a: f64[n, n], b: f64[n, n], x: f64[n]) -> f64[n]:
    return alpha * (a @ x) + beta * (b @ x)


@at.fn
def go_fast(a: f64[n, n]) -> f64[n, n]:
    return a + sum(tanh(a[i, i]) for i in range(n))


@at.fn
def k2mm(alpha: f64, beta: f64, a: f64[n, k], b: f64[k, m], c: f64[m, l], d: f64[n, l]) -> f64[n, l]:
    return alpha * (a @ b) @ c + beta * d


@at.fn
def k3mm(a: f64[n, k], b: f64[k, m], c: f64[m, q], d: f64[q, l]) -> f64[n, l]:
    return (a @ b) @ (c @ d)


@at.fn
def mvt(x1: f64[n], x2: f64[n], y1: f64[n], y2: f64[n], a: f64[n, n]) -> (f64[n], f64[n]):
    return x1 + a @ y1, x2 + y2 @ a


@at.fn
def azimint_naive(data: f64[n], radius: f64[n], bins: i64) -> f64[bins]:
    most = max(radius)

    def ring(b):
        inner, outer = most * b / bins, most * (b + 1) / bins
        total = sum(d for d, r in zip(data, radius) if inner <= r < outer)
        return total / sum(inner <= r < outer for r in radius)

    return [ring(b) for b in range(bins)]


def azimint_naive_np(xp: Any, data: Any, radius: Any, bins: int) -> Any:
    most = radius.max()
    out = np.empty(bins)
    for b in range(bins):
        inside = (most * b / bins <= radius) & (radius < most * (b + 1) / bins)
        out[b] = data[inside].mean()
    return out


def azimint_naive_nb(data: Any, radius: Any, bins: int) -> Any:
    most = radius.max()
    out = np.empty(bins)
    for b in prange(bins):
        low, high = most * b / bins, most * (b + 1) / bins
        total, count = 0.0, 0
        for i in range(len(data)):
            if low <= radius[i] and radius[i] < high:
                total += data[i]
                count += 1
        out[b] = total / count
    return out


@at.fn
def azimint_hist(data: f64[n], radius: f64[n], bins: i64) -> f64[bins]:
    low, high = min(radius), max(radius)

    def place(r):
        return minimum(i64((r - low) * bins / (high - low)), bins - 1)

    where_to = [place(r) for r in radius]
    return hist(add, 0.0, bins, where_to, data) / hist(add, 0.0, bins, where_to, [1.0 for r in radius])


def azimint_hist_np(xp: Any, data: Any, radius: Any, bins: int) -> Any:
    return np.histogram(radius, bins, weights=data)[0] / np.histogram(radius, bins)[0]


def azimint_hist_nb(data: Any, radius: Any, bins: int) -> Any:
    low, high = radius.min(), radius.max()
    total, count = np.zeros(bins), np.zeros(bins)
    for i in range(len(data)):
        b = min(int((radius[i] - low) * bins / (high - low)), bins - 1)
        total[b] += data[i]
        count[b] += 1
    return total / count


@at.fn
def spmv(ptr: i64[m + 1], col: i64[nnz], val: f64[nnz], x: f64[n]) -> f64[m]:
    return [sum(val[e] * x[col[e]] for e in range(ptr[i], ptr[i + 1])) for i in range(m)]


def spmv_np(xp: Any, ptr: Any, col: Any, val: Any, x: Any) -> Any:
    y = np.empty(len(ptr) - 1)
    for i in range(len(y)):
        y[i] = val[ptr[i] : ptr[i + 1]] @ x[col[ptr[i] : ptr[i + 1]]]
    return y


def spmv_nb(ptr: Any, col: Any, val: Any, x: Any) -> Any:
    y = np.empty(len(ptr) - 1)
    for i in prange(len(y)):
        s = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            s += val[e] * x[col[e]]
        y[i] = s
    return y


def sparse(rows: int, columns: int, stored: int) -> tuple[Any, ...]:
    r = rng()
    where = np.sort(r.choice(rows * columns, stored, replace=False))
    ptr = np.searchsorted(where // columns, np.arange(rows + 1))
    return ptr, where % columns, r.random(stored), r.random(columns)


@at.fn
def symm(alpha: f64, beta: f64, c: f64[m, n], a: f64[m, m], b: f64[m, n]) -> f64[m, n]:
    return [[beta * c[i, j] + alpha * sum((a[i, p] if p <= i else a[p, i]) * b[p, j] for p in range(m)) for j in range(n)] for i in range(m)]


def symm_np(xp: Any, alpha: float, beta: float, c: Any, a: Any, b: Any) -> Any:
    return beta * c + alpha * ((xp.tril(a) + xp.tril(a, -1).T) @ b)


@at.fn
def syrk(alpha: f64, beta: f64, c: f64[n, n], a: f64[n, m]) -> f64[n, n]:
    return [[beta * c[i, j] + alpha * sum(a[i, p] * a[j, p] for p in range(m)) if j <= i else c[i, j] for j in range(n)] for i in range(n)]


def syrk_np(xp: Any, alpha: float, beta: float, c: Any, a: Any) -> Any:
    return xp.where(xp.tri(len(c), dtype=bool), beta * c + alpha * (a @ a.T), c)


@at.fn
def syr2k(alpha: f64, beta: f64, c: f64[n, n], a: f64[n, m], b: f64[n, m]) -> f64[n, n]:
    return [[beta * c[i, j] + alpha * sum(a[j, p] * b[i, p] + b[j, p] * a[i, p] for p in range(m)) if j <= i else c[i, j] for j in range(n)] for i in range(n)]


def syr2k_np(xp: Any, alpha: float, beta: float, c: Any, a: Any, b: Any) -> Any:
    return xp.where(xp.tri(len(c), dtype=bool), beta * c + alpha * (b @ a.T + a @ b.T), c)


@at.fn
def trmm(alpha: f64, a: f64[m, m], b: f64[m, n]) -> f64[m, n]:
    return [[alpha * (b[i, j] + sum(a[p, i] * b[p, j] for p in range(m) if p > i)) for j in range(n)] for i in range(m)]


def trmm_np(xp: Any, alpha: float, a: Any, b: Any) -> Any:
    return alpha * ((xp.tril(a, -1) + xp.eye(len(a))).T @ b)


def integers(rows: int, columns: int) -> tuple[Any, ...]:
    r = rng()
    return r.integers(0, 1000, (rows, columns)), r.integers(0, 1000, (rows, columns)), 4, 3, 9


TASKS = [
    Task("arc_distance", arc_distance, arc_distance_np, lambda n: several(*[(n,)] * 4), presets((100_000,), (1_000_000,), (10_000_000,), (7,)), shared=True),
    Task("atax", atax, lambda xp, a, x: (a @ x) @ a, lambda m, n: several((m, n), (n,)), presets((4000, 5000), (10000, 12500), (20000, 25000), (5, 7)), shared=True),
    Task("bicg", bicg, lambda xp, a, p, r: (r @ a, a @ p), lambda m, n: several((n, m), (m,), (n,)), presets((4000, 5000), (10000, 12500), (20000, 25000), (5, 7)), shared=True),
    Task("compute", compute, lambda xp, x, y, a, b, c: xp.clip(x, 2, 10) * a + y * b + c, integers, presets((2000, 2000), (5000, 5000), (16000, 16000), (5, 6)), shared=True),
    Task("correlation", correlation, correlation_np, lambda m, n: several((n, m)), presets((500, 600), (1400, 1800), (3200, 4000), (5, 9)), shared=True),
    Task("covariance", covariance, covariance_np, lambda m, n: several((n, m)), presets((500, 600), (1400, 1800), (3200, 4000), (5, 9)), shared=True),
    Task("covariance2", covariance2, lambda xp, data: xp.cov(data.T), lambda m, n: several((n, m)), presets((500, 600), (1400, 1800), (3200, 4000), (5, 9)), shared=True),
    Task("doitgen", doitgen, lambda xp, a, c4: a @ c4, lambda r, q, p: several((r, q, p), (p, p)), presets((60, 60, 128), (110, 125, 256), (220, 250, 512), (3, 4, 5)), shared=True),
    Task("gemm", gemm, lambda xp, alpha, beta, c, a, b: alpha * (a @ b) + beta * c, lambda i, j, k: (1.5, 1.2, *several((i, j), (i, k), (k, j))), presets((1000, 1100, 1200), (2500, 2750, 3000), (7000, 7500, 8000), (5, 6, 7)), shared=True),
    Task("gemver", gemver, gemver_np, lambda n: (1.5, 1.2, *several((n, n), *[(n,)] * 8)), presets((1000,), (3000,), (10000,), (7,)), shared=True),
    Task("gesummv", gesummv, lambda xp, alpha, beta, a, b, x: alpha * (a @ x) + beta * (b @ x), lambda n: (1.5, 1.2, *several((n, n), (n, n), (n,))), presets((2000,), (4000,), (14000,), (7,)), shared=True),
    Task("go_fast", go_fast, lambda xp, a: a + xp.sum(xp.tanh(xp.diagonal(a))), lambda n: several((n, n)), presets((2000,), (6000,), (20000,), (7,)), shared=True),
    Task("k2mm", k2mm, lambda xp, alpha, beta, a, b, c, d: alpha * (a @ b) @ c + beta * d, lambda i, j, k, l: (1.5, 1.2, *several((i, k), (k, j), (j, l), (i, l))), presets((800, 850, 900, 950), (2000, 2250, 2500, 2750), (6000, 6500, 7000, 7500), (4, 5, 6, 7)), shared=True),
    Task("k3mm", k3mm, lambda xp, a, b, c, d: (a @ b) @ (c @ d), lambda i, j, k, l, m: several((i, k), (k, j), (j, m), (m, l)), presets((800, 850, 900, 950, 1000), (2000, 2200, 2400, 2600, 2800), (5500, 6000, 6500, 7000, 7500), (4, 5, 6, 7, 8)), shared=True),
    Task("mvt", mvt, lambda xp, x1, x2, y1, y2, a: (x1 + a @ y1, x2 + y2 @ a), lambda n: several(*[(n,)] * 4, (n, n)), presets((5500,), (11000,), (22000,), (7,)), shared=True),
    Task("azimint_naive", azimint_naive, azimint_naive_np, lambda n, b: (*several((n,), (n,)), b), presets((400_000, 1000), (4_000_000, 1000), (40_000_000, 1000), (300, 7)), numba=azimint_naive_nb),
    Task("azimint_hist", azimint_hist, azimint_hist_np, lambda n, b: (*several((n,), (n,)), b), presets((400_000, 1000), (4_000_000, 1000), (40_000_000, 1000), (300, 7)), numba=azimint_hist_nb, serial=True),
    Task("spmv", spmv, spmv_np, sparse, presets((4096, 4096, 8192), (32768, 32768, 65536), (262144, 262144, 262144), (9, 8, 20)), numba=spmv_nb, slow=True),
    Task("symm", symm, symm_np, lambda m, n: (1.5, 1.2, *several((m, n), (m, m), (m, n))), presets((40, 50), (120, 150), (350, 550), (5, 6)), shared=True),
    Task("syrk", syrk, syrk_np, lambda m, n: (1.5, 1.2, *several((n, n), (n, m))), presets((50, 70), (150, 200), (500, 600), (5, 6)), shared=True),
    Task("syr2k", syr2k, syr2k_np, lambda m, n: (1.5, 1.2, *several((n, n), (n, m), (n, m))), presets((35, 50), (110, 140), (350, 400), (5, 6)), shared=True),
    Task("trmm", trmm, trmm_np, lambda m, n: (1.5, *several((m, m), (m, n))), presets((65, 80), (200, 250), (600, 700), (5, 6)), shared=True),
]
