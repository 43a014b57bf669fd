"""Linear algebra of one matrix: LU with pivots, Cholesky, QR by reflections, eigenvalues and singular values by rotations.

Elements are f32, f64, c64 or c128 where nothing else is said. Derivatives of systems, of Cholesky, eigenvalues and singular values are rules beside the
functions (`f.vjp, f.jvp = ...`), written with the same functions, so they can be differentiated again; those of LU and QR go through the loops.
"""

from __future__ import annotations

import atoll as at
from atoll import i64

a, b = at.types("a b")
n, m, k = at.sizes("n m k")


@at.fn
def cross(u: a[n], v: b[n]):
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


@at.fn
def identity_like(x: a[n, n]) -> a[n, n]:
    return [[1 if i == j else 0 for j in range(n)] for i in range(n)]


@at.fn
def zeros_as(x: a[n, n]) -> a[n, n]:
    return [[0 for j in range(n)] for i in range(n)]


@at.fn
def lu(u: a[n, n]):
    """P u = L U: both factors in one matrix, the order of the rows, and how many were exchanged."""
    order = [i64(i) for i in range(n)]
    swaps = 0
    for c in range(n):
        pivot = c + argmax(abs(u[i, c]) for i in range(c, n))
        if pivot != c:
            swaps = swaps + 1
            u[c], u[pivot] = u[pivot], u[c]
            order[c], order[pivot] = order[pivot], order[c]
        for i in range(c + 1, n):
            factor = u[i, c] / u[c, c] if u[c, c] != 0 else u[i, c]
            u[i, c] = factor
            for j in range(c + 1, n):
                u[i, j] = u[i, j] - factor * u[c, j]
    return u, order, swaps


@at.fn
def substitute(u: a[n, n], z: a[n]) -> a[n]:
    """L U y = z by two triangular systems."""
    for i in range(n):
        z[i] = z[i] - sum(u[i, j] * z[j] for j in range(i))
    for r in range(n):
        i = n - 1 - r
        z[i] = (z[i] - sum(u[i, j] * z[j] for j in range(i + 1, n))) / u[i, i]
    return z


@at.fn
def solve(x: a[n, n], y: a[n]) -> a[n]:
    u, order, _ = lu(x)
    for i in range(n):
        assert u[i, i] != 0, "the matrix is singular"
    return substitute(u, [y[i] for i in order])


@at.fn
def solve_back(x: a[n, n], y: a[n], dz: a[n]) -> (a[n, n], a[n]):
    z = solve(x, y)
    dy = solve(x.T, dz)
    return [[-dy[i] * z[j] for j in range(n)] for i in range(n)], dy


@at.fn
def solve_ahead(x: a[n, n], y: a[n], dx: a[n, n], dy: a[n]) -> a[n]:
    return solve(x, dy - dx @ solve(x, y))


solve.vjp, solve.jvp = solve_back, solve_ahead


@at.fn
def solve_many(x: a[n, n], y: a[n, m]) -> a[n, m]:
    """One system for each column."""
    u, order, _ = lu(x)
    for i in range(n):
        assert u[i, i] != 0, "the matrix is singular"
    z = [y[i] for i in order]
    for i in range(n):
        for j in range(i):
            for c in range(m):
                z[i, c] = z[i, c] - u[i, j] * z[j, c]
    for r in range(n):
        i = n - 1 - r
        for j in range(i + 1, n):
            for c in range(m):
                z[i, c] = z[i, c] - u[i, j] * z[j, c]
        for c in range(m):
            z[i, c] = z[i, c] / u[i, i]
    return z


@at.fn
def solve_many_back(x: a[n, n], y: a[n, m], dz: a[n, m]) -> (a[n, n], a[n, m]):
    z = solve_many(x, y)
    dy = solve_many(x.T, dz)
    return [[-sum(dy[i, c] * z[j, c] for c in range(m)) for j in range(n)] for i in range(n)], dy


@at.fn
def solve_many_ahead(x: a[n, n], y: a[n, m], dx: a[n, n], dy: a[n, m]) -> a[n, m]:
    return solve_many(x, dy - dx @ solve_many(x, y))


solve_many.vjp, solve_many.jvp = solve_many_back, solve_many_ahead


@at.fn
def inverse(x: a[n, n]) -> a[n, n]:
    return solve_many(x, identity_like(x))


@at.fn
def determinant(x: a[n, n]) -> a:
    u, _, swaps = lu(x)
    size = prod(u[i, i] for i in range(n))
    return -size if swaps % 2 == 1 else size


@at.fn
def sign_and_log(x: a[n, n]):
    u, _, swaps = lu(x)
    signs = prod(u[i, i] / abs(u[i, i]) if u[i, i] != 0 else u[i, i] for i in range(n))
    sizes = sum(log(abs(u[i, i])) for i in range(n))
    return (-signs if swaps % 2 == 1 else signs), sizes


@at.fn
def cholesky(x: a[n, n]) -> a[n, n]:
    """x = L Lᵀ; only the lower triangle is read."""
    low = zeros_as(x)
    for j in range(n):
        rest = x[j, j] - sum(low[j, p] * low[j, p] for p in range(j))
        assert rest > 0, "the matrix is not positive definite"
        low[j, j] = sqrt(rest)
        for i in range(j + 1, n):
            low[i, j] = (x[i, j] - sum(low[i, p] * low[j, p] for p in range(j))) / low[j, j]
    return low


@at.fn
def complex_cholesky(x: a[n, n]) -> a[n, n]:
    low = zeros_as(x)
    for j in range(n):
        rest = real(x[j, j] - sum(low[j, p] * conj(low[j, p]) for p in range(j)))
        assert rest > 0, "the matrix is not positive definite"
        low[j, j] = sqrt(rest) + 0 * x[j, j]
        for i in range(j + 1, n):
            low[i, j] = (x[i, j] - sum(low[i, p] * conj(low[j, p]) for p in range(j))) / low[j, j]
    return low


@at.fn
def half_lower(x: a[n, n]) -> a[n, n]:
    """The lower triangle, half of the diagonal."""
    return [[x[i, j] if j < i else (x[i, j] / 2 if i == j else 0 * x[i, j]) for j in range(n)] for i in range(n)]


@at.fn
def lower_inverse(low: a[n, n]) -> a[n, n]:
    out = zeros_as(low)
    for j in range(n):
        out[j, j] = 1 / low[j, j]
        for i in range(j + 1, n):
            out[i, j] = -sum(low[i, p] * out[p, j] for p in range(j, i)) / low[i, i]
    return out


@at.fn
def cholesky_back(x: a[n, n], dlow: a[n, n]) -> a[n, n]:
    """L⁻ᵀ Φ(Lᵀ dL) L⁻¹, its lower triangle, which is all that is read."""
    low = cholesky(x)
    inv = lower_inverse(low)
    middle = half_lower(low.T @ dlow)
    whole = inv.T @ middle @ inv
    return [[(whole[i, j] + whole[j, i] if j < i else whole[i, j]) if j <= i else 0 * x[i, j] for j in range(n)] for i in range(n)]


@at.fn
def mirrored(x: a[n, n]) -> a[n, n]:
    """The symmetric matrix of which the lower triangle is read."""
    return [[x[i, j] if j <= i else x[j, i] for j in range(n)] for i in range(n)]


@at.fn
def cholesky_ahead(x: a[n, n], dx: a[n, n]) -> a[n, n]:
    """L Φ(L⁻¹ dx L⁻ᵀ)"""
    low = cholesky(x)
    inv = lower_inverse(low)
    return low @ half_lower(inv @ mirrored(dx) @ inv.T)


cholesky.vjp, cholesky.jvp = cholesky_back, cholesky_ahead


@at.fn
def reflections(r: a[n, m], count: i64):
    """R in the upper triangle, below it the vectors of the reflections (first component 1), and their factors: as LAPACK's geqrf."""
    taus = [sum(0 * r[i, 0] for i in range(n)) for _ in range(count)]
    for c in range(count):
        below = sqrt(sum(r[i, c] * r[i, c] for i in range(c + 1, n)))
        alpha = r[c, c]
        if below != 0:
            size = sqrt(alpha * alpha + below * below)
            beta = -size if alpha >= 0 else size
            tau = (beta - alpha) / beta
            for i in range(c + 1, n):
                r[i, c] = r[i, c] / (alpha - beta)
            r[c, c] = beta
            taus[c] = tau
            for j in range(c + 1, m):
                s = tau * (r[c, j] + sum(r[i, c] * r[i, j] for i in range(c + 1, n)))
                r[c, j] = r[c, j] - s
                for i in range(c + 1, n):
                    r[i, j] = r[i, j] - s * r[i, c]
    return r, taus


@at.fn
def qr(x: a[n, m], count: i64, columns: i64):
    """`columns` columns of Q, and as many rows of R; `count` is the smaller of n and m."""
    r, taus = reflections(x, count)
    q = [[0 * x[i, 0] + (1 if i == j else 0) for j in range(columns)] for i in range(n)]
    for back in range(count):
        c = count - 1 - back
        for j in range(columns):
            s = taus[c] * (q[c, j] + sum(r[i, c] * q[i, j] for i in range(c + 1, n)))
            q[c, j] = q[c, j] - s
            for i in range(c + 1, n):
                q[i, j] = q[i, j] - s * r[i, c]
    return q, [[r[i, j] if i <= j else 0 * r[0, j] for j in range(m)] for i in range(columns)]


@at.fn
def triangle(x: a[n, m], count: i64):
    """R alone."""
    r, _ = reflections(x, count)
    return [[r[i, j] if i <= j else 0 * r[0, j] for j in range(m)] for i in range(count)]


@at.fn
def least_squares(x: a[n, m], y: b[n]):
    """The z that makes |x z - y| least, for a matrix of full rank with n >= m."""
    q, r = qr(x, m, m)
    z = [sum(q[i, j] * y[i] for i in range(n)) for j in range(m)]
    for back in range(m):
        i = m - 1 - back
        z[i] = (z[i] - sum(r[i, j] * z[j] for j in range(i + 1, m))) / r[i, i]
    return z


@at.fn
def turn(app: a, aqq: a, apq: a):
    """The rotation that makes a symmetric 2 by 2 matrix diagonal: its cosine and sine."""
    theta = (aqq - app) / (2 * apq)
    t = (1 if theta >= 0 else -1) / (abs(theta) + sqrt(theta * theta + 1))
    c = 1 / sqrt(t * t + 1)
    return c, t * c


@at.fn
def rotated(x: a[n, n]):
    """Eigenvalues on the diagonal, eigenvectors as columns, by Jacobi's rotations; the lower triangle is read."""
    w = [[x[i, j] if j <= i else x[j, i] for j in range(n)] for i in range(n)]
    v = identity_like(x)
    precision = tiny(sum(x[i, i] for i in range(n)))
    sweep = 0
    off = sum(w[i, j] * w[i, j] for i in range(n) for j in range(n) if i != j)
    while off > 0 and sweep < 60:
        for p in range(n):
            for q in range(p + 1, n):
                if w[p, q] * w[p, q] <= precision * abs(w[p, p] * w[q, q]):
                    w[p, q] = 0
                    w[q, p] = 0
                else:
                    c, s = turn(w[p, p], w[q, q], w[p, q])
                    for i in range(n):
                        left, right = w[i, p], w[i, q]
                        w[i, p] = c * left - s * right
                        w[i, q] = s * left + c * right
                    for i in range(n):
                        left, right = w[p, i], w[q, i]
                        w[p, i] = c * left - s * right
                        w[q, i] = s * left + c * right
                    w[p, q] = 0
                    w[q, p] = 0
                    for i in range(n):
                        left, right = v[i, p], v[i, q]
                        v[i, p] = c * left - s * right
                        v[i, q] = s * left + c * right
        sweep = sweep + 1
        off = sum(w[i, j] * w[i, j] for i in range(n) for j in range(n) if i != j)
    return [w[i, i] for i in range(n)], v


@at.fn
def eigh(x: a[n, n]) -> (a[n], a[n, n]):
    """Eigenvalues from the least on, eigenvectors as columns."""
    w, v = rotated(x)
    order = argsort(w)
    return [w[i] for i in order], [[v[i, j] for j in order] for i in range(n)]


@at.fn
def eigh_back(x: a[n, n], dy: (a[n], a[n, n])) -> a[n, n]:
    """V (diag dw + F ∘ Vᵀ dV) Vᵀ with F = 1 / (wj - wi), 0 where they are equal; on the lower triangle, which is all that is read."""
    dw, dv = dy
    w, v = eigh(x)
    inner = v.T @ dv
    middle = [[dw[i] if i == j else (inner[i, j] / (w[j] - w[i]) if w[j] != w[i] else 0 * inner[i, j]) for j in range(n)] for i in range(n)]
    whole = v @ middle @ v.T
    return [[(whole[i, j] + whole[j, i] if j < i else whole[i, j]) if j <= i else 0 * x[i, j] for j in range(n)] for i in range(n)]


@at.fn
def eigh_ahead(x: a[n, n], dx: a[n, n]) -> (a[n], a[n, n]):
    """The diagonal of Vᵀ dx V, and V (F ∘ Vᵀ dx V)."""
    w, v = eigh(x)
    inner = v.T @ mirrored(dx) @ v
    turns = [[inner[i, j] / (w[j] - w[i]) if w[j] != w[i] else 0 * inner[i, j] for j in range(n)] for i in range(n)]
    return [inner[i, i] for i in range(n)], v @ turns


eigh.vjp, eigh.jvp = eigh_back, eigh_ahead


@at.fn
def eigenvalues(x: a[n, n]) -> a[n]:
    w, _ = eigh(x)
    return w


@at.fn
def turned_columns(u: a[n, m]):
    """u V with columns that are orthogonal, and V: one-sided rotations of Jacobi."""
    v = [[0 * sum(u[r, j] for r in range(n)) + (1 if i == j else 0) for j in range(m)] for i in range(m)]
    sweep = 0
    turned = 1
    while turned > 0 and sweep < 60:
        turned = 0
        for p in range(m):
            for q in range(p + 1, m):
                alpha = sum(u[i, p] * u[i, p] for i in range(n))
                beta = sum(u[i, q] * u[i, q] for i in range(n))
                gamma = sum(u[i, p] * u[i, q] for i in range(n))
                if gamma * gamma > tiny(alpha) * alpha * beta:
                    turned = turned + 1
                    c, s = turn(alpha, beta, gamma)
                    for i in range(n):
                        left, right = u[i, p], u[i, q]
                        u[i, p] = c * left - s * right
                        u[i, q] = s * left + c * right
                    for i in range(m):
                        left, right = v[i, p], v[i, q]
                        v[i, p] = c * left - s * right
                        v[i, q] = s * left + c * right
        sweep = sweep + 1
    return u, v


@at.fn
def tiny(x: a) -> a:
    """The square of the precision of the type."""
    step: a = 1
    while 1 + step * 0.5 > 1:
        step = step * 0.5
    return step * step


@at.fn
def singular_values(x: a[n, m]) -> a[m]:
    """Of a matrix with n >= m, the greatest first."""
    u, _ = turned_columns(x)
    return reverse(sort([sqrt(sum(u[i, j] * u[i, j] for i in range(n))) for j in range(m)]))


@at.fn
def svd_tall(x: a[n, m]) -> (a[n, m], a[m], a[m, m]):
    """x = U diag(s) Vᵀ for n >= m: m columns of U, the greatest value first. Columns for values of 0 complete U."""
    u, v = turned_columns(x)
    sizes = [sqrt(sum(u[i, j] * u[i, j] for i in range(n))) for j in range(m)]
    order = reverse(argsort(sizes))
    s = [sizes[j] for j in order]
    w = [[u[i, j] / sizes[j] if sizes[j] != 0 else u[i, j] for j in order] for i in range(n)]
    return completed(w, s), s, [[v[i, j] for i in range(m)] for j in order]


@at.fn
def completed(out: a[n, m], s: a[m]) -> a[n, m]:
    """Columns whose value is 0 replaced by unit vectors orthogonal to those before."""
    for j in range(m):
        if s[j] == 0:
            done = False
            for e in range(n):
                if not done:
                    new = [(1 if i == e else 0) - sum(out[i, p] * out[e, p] for p in range(j)) for i in range(n)]
                    size = sqrt(sum(t * t for t in new))
                    if size * size * n > 0.5 or size > 0.5:
                        done = True
                        for i in range(n):
                            out[i, j] = new[i] / size
    return out


@at.fn
def svd_tall_back(x: a[n, m], dy: (a[n, m], a[m], a[m, m])) -> a[n, m]:
    """The adjoint for values that differ and are not 0."""
    du, ds, dvt = dy
    u, s, vt = svd_tall(x)
    f = [[1 / (s[j] * s[j] - s[i] * s[i]) if i != j and s[j] != s[i] else 0 * s[0] for j in range(m)] for i in range(m)]
    ut = u.T @ du
    vv = vt @ dvt.T
    left = [[f[i, j] * (ut[i, j] - ut[j, i]) * s[j] for j in range(m)] for i in range(m)]
    right = [[s[i] * f[i, j] * (vv[i, j] - vv[j, i]) for j in range(m)] for i in range(m)]
    middle = [[left[i, j] + right[i, j] + (ds[i] if i == j else 0 * s[0]) for j in range(m)] for i in range(m)]
    inside = u @ middle @ vt
    scaled_u = [[du[i, j] / s[j] if s[j] != 0 else 0 * du[i, j] for j in range(m)] for i in range(n)]
    beside = scaled_u - u @ (u.T @ scaled_u)
    return inside + beside @ vt


@at.fn
def svd_tall_ahead(x: a[n, m], dx: a[n, m]) -> (a[n, m], a[m], a[m, m]):
    u, s, vt = svd_tall(x)
    along = dx @ vt.T
    inner = u.T @ along
    f = [[1 / (s[j] * s[j] - s[i] * s[i]) if i != j and s[j] != s[i] else 0 * s[0] for j in range(m)] for i in range(m)]
    left = [[f[i, j] * (inner[i, j] * s[j] + s[i] * inner[j, i]) for j in range(m)] for i in range(m)]
    right = [[f[i, j] * (s[i] * inner[i, j] + inner[j, i] * s[j]) for j in range(m)] for i in range(m)]
    scaled = [[along[i, j] / s[j] if s[j] != 0 else 0 * along[i, j] for j in range(m)] for i in range(n)]
    return u @ left + scaled - u @ (u.T @ scaled), [inner[i, i] for i in range(m)], right.T @ vt


svd_tall.vjp, svd_tall.jvp = svd_tall_back, svd_tall_ahead


@at.fn
def pseudo_inverse(x: a[n, m], cutoff: b):
    """Of a matrix with n >= m; values below cutoff times the greatest count as 0."""
    u, s, vt = svd_tall(x)
    most = max(s, default=0)
    inv = [1 / v if v > cutoff * most else 0 * v for v in s]
    return [[sum(vt[p, i] * inv[p] * u[j, p] for p in range(m)) for j in range(n)] for i in range(m)]


@at.fn
def rank_of(s: a[n], tolerance: b) -> i64:
    return sum(v > tolerance for v in s)


@at.fn
def norm(x: a[n]):
    """Scaled, so that squares do not overflow."""
    return sqrt(sum(abs(v) * abs(v) for v in x))


@at.fn
def norm_of_order(x: a[n], order: b):
    return sum(abs(v) ** order for v in x) ** (1 / order)
