"""Dense linear algebra: products of every shape, factorisations, solves."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f32, f64
from bench.kernel import Kernel, f32s, f64s, jax, prange, rng, torch, touched

n, m, k, b = at.sizes("n m k b")


@at.fn
def matmul32(x: f32[n, k], y: f32[k, m]) -> f32[n, m]:
    return [[sum(x[i, p] * y[p, j] for p in range(k)) for j in range(m)] for i in range(n)]


@at.fn
def matmul64(x: f64[n, k], y: f64[k, m]) -> f64[n, m]:
    return x @ y


@at.fn
def gram(x: f64[n, k]) -> f64[n, n]:
    return x @ x.T


@at.fn
def transposed(x: f32[k, n], y: f32[k, m]) -> f32[n, m]:
    return x.T @ y


@at.fn
def batched(x: f32[b, n, k], y: f32[b, k, m]) -> f32[b, n, m]:
    return [p @ q for p, q in zip(x, y)]


@at.fn
def epilogue(x: f32[n, k], w: f32[k, m], bias: f32[m]) -> f32[n, m]:
    return maximum(x @ w + bias, 0.0)


@at.fn
def matvec(A: f64[n, m], x: f64[m]) -> f64[n]:
    return A @ x


@at.fn
def vecmat(x: f64[n], A: f64[n, m]) -> f64[m]:
    return x @ A


def matmul_numba(x, y):
    return x @ y


def matvec_numba(A, x):
    o = np.empty(A.shape[0])
    for i in prange(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        o[i] = s
    return o


def vecmat_numba(x, A):
    o = np.zeros(A.shape[1])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            o[j] += x[i] * A[i, j]
    return o


@at.fn
def lu(A: f64[n, n]) -> f64[n, n]:
    for p in range(n):
        for i in range(p + 1, n):
            A[i, p] = A[i, p] / A[p, p]
        for i in range(p + 1, n):
            A[i, p + 1:] = [A[i, j] - A[i, p] * A[p, j] for j in range(p + 1, n)]
    return A


def lu_numpy(A):
    A = A.copy()
    for p in range(A.shape[0]):
        A[p + 1 :, p] /= A[p, p]
        A[p + 1 :, p + 1 :] -= np.outer(A[p + 1 :, p], A[p, p + 1 :])
    return A


def lu_numba(A):
    A = A.copy()
    n = A.shape[0]
    for p in range(n):
        for i in prange(p + 1, n):
            f = A[i, p] / A[p, p]
            A[i, p] = f
            for j in range(p + 1, n):
                A[i, j] -= f * A[p, j]
    return A


@at.fn
def cholesky(A: f64[n, n]) -> f64[n, n]:
    L = zeros((n, n))
    for j in range(n):
        d = sqrt(A[j, j] - sum(L[j, p] * L[j, p] for p in range(j)))
        L[j, j] = d
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - sum(L[i, p] * L[j, p] for p in range(j))) / d
    return L


def cholesky_numba(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        s = A[j, j]
        for p in range(j):
            s -= L[j, p] * L[j, p]
        d = np.sqrt(s)
        L[j, j] = d
        for i in prange(j + 1, n):
            t = A[i, j]
            for p in range(j):
                t -= L[i, p] * L[j, p]
            L[i, j] = t / d
    return L


def spd(s):
    A = rng().random((s, s))
    return (A @ A.T + s * np.eye(s),)


@at.fn
def triangular_solve(L: f64[n, n], y: f64[n]) -> f64[n]:
    x = zeros(n)
    for i in range(n):
        x[i] = (y[i] - sum(L[i, j] * x[j] for j in range(i))) / L[i, i]
    return x


def triangular_solve_numba(L, y):
    x = np.zeros(y.size)
    for i in range(y.size):
        s = y[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]
    return x


def triangular_solve_numpy(L, y):
    x = np.zeros_like(y)
    for i in range(y.size):
        x[i] = (y[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


@at.fn
def gram_schmidt(A: f64[n, m]) -> f64[n, m]:
    for j in range(m):
        norm = sqrt(sum(A[i, j] * A[i, j] for i in range(n)))
        A[:, j] = [A[i, j] / norm for i in range(n)]
        r = [sum(A[i, j] * A[i, l] for i in range(n)) for l in range(j + 1, m)]
        A[:, j + 1:] = [[A[i, j + 1 + l] - A[i, j] * r[l] for l in range(m - j - 1)] for i in range(n)]
    return A


def gram_schmidt_numpy(A):
    A = A.copy()
    for j in range(A.shape[1]):
        A[:, j] /= np.sqrt(np.sum(A[:, j] * A[:, j]))
        r = A[:, j] @ A[:, j + 1 :]
        A[:, j + 1 :] -= np.outer(A[:, j], r)
    return A


def gram_schmidt_numba(A):
    A = A.copy()
    n, m = A.shape
    for j in range(m):
        s = 0.0
        for i in range(n):
            s += A[i, j] * A[i, j]
        s = np.sqrt(s)
        for i in range(n):
            A[i, j] /= s
        r = np.zeros(m)
        for i in range(n):
            for l in range(j + 1, m):
                r[l] += A[i, j] * A[i, l]
        for i in prange(n):
            for l in range(j + 1, m):
                A[i, l] -= A[i, j] * r[l]
    return A


@at.fn
def correlation(x: f64[n, m]) -> f64[m, m]:
    mean = sum(x, axis=0) / n
    centred = [[x[i, j] - mean[j] for j in range(m)] for i in range(n)]
    spread = sqrt(sum(centred * centred, axis=0))
    z = [[centred[i, j] / spread[j] for j in range(m)] for i in range(n)]
    return z.T @ z


def correlation_shared(xp, x):
    c = x - x.mean(0)
    z = c / xp.sqrt((c * c).sum(0))
    return z.T @ z


def correlation_numba(x):
    n, m = x.shape
    mean = np.zeros(m)
    for i in range(n):
        mean += x[i]
    mean /= n
    spread = np.zeros(m)
    for i in range(n):
        spread += (x[i] - mean) ** 2
    spread = np.sqrt(spread)
    z = np.empty((n, m))
    for i in prange(n):
        z[i] = (x[i] - mean) / spread
    return z.T @ z


def product_flops(x, y, *rest):
    return 2.0 * x.shape[-2] * x.shape[-1] * y.shape[-1] * (x.shape[0] if x.ndim == 3 else 1)


def product(name, f, shapes, dtype="f32", numpy=None, **more):
    make = f32s if dtype == "f32" else f64s
    shared = numpy or (lambda xp, x, y: xp.matmul(x, y))
    more.setdefault("torch", lambda x, y: torch.matmul(x, y))
    more.setdefault("flops", product_flops)
    return Kernel(name, f, lambda s: tuple(make(*[d if d else s for d in shape]) for shape in shapes), more.pop("size", 512), shared=shared, rtol=1e-4 if dtype == "f32" else 1e-10, growth=more.pop("growth", 3), **more)


KERNELS = [
    product("matmul 200 f32", matmul32, [(0, 0), (0, 0)], size=200, numba=matmul_numba),
    product("matmul 512 f32", matmul32, [(0, 0), (0, 0)], size=512, numba=matmul_numba),
    product("matmul 1000 f32", matmul32, [(0, 0), (0, 0)], size=1000, numba=matmul_numba),
    product("matmul 512 f64", matmul64, [(0, 0), (0, 0)], "f64", size=512, numba=matmul_numba),
    product("matmul 1000 f64", matmul64, [(0, 0), (0, 0)], "f64", size=1000, numba=matmul_numba),
    product("matmul 777x1001x333 f32", matmul32, [(0, 1001), (1001, 333)], size=777, growth=1),
    product("matmul 8192x256x16 f32", matmul32, [(0, 256), (256, 16)], size=8192, growth=1),
    product("matmul 64x64x4096 f32", matmul32, [(64, 64), (64, 0)], size=4096, growth=1),
    product("transposed product f32", transposed, [(0, 0), (0, 0)], size=512, numpy=lambda xp, x, y: x.T @ y, torch=lambda x, y: x.T @ y),
    product("gram matrix f64", gram, [(0, 0)], "f64", size=512, numpy=lambda xp, x: x @ x.T, torch=lambda x: x @ x.T, flops=lambda x: 2.0 * x.shape[0] ** 2 * x.shape[1]),
    product("batched 32 f32", batched, [(0, 32, 32), (0, 32, 32)], size=1000, growth=1),
    product("product, bias, relu f32", epilogue, [(0, 0), (0, 0), (0,)], size=512, numpy=lambda xp, x, w, c: xp.maximum(x @ w + c, 0), torch=lambda x, w, c: torch.relu(torch.addmm(c, x, w))),
    Kernel("matvec 2048 f64", matvec, lambda s: (f64s(s, s), f64s(s)), 2048, shared=lambda xp, A, x: A @ x, numba=matvec_numba, torch=lambda A, x: A @ x, bytes=touched, growth=2, streams=True),
    Kernel("matvec 512 f64", matvec, lambda s: (f64s(s, s), f64s(s)), 512, shared=lambda xp, A, x: A @ x, numba=matvec_numba, torch=lambda A, x: A @ x, bytes=touched, growth=2),
    Kernel("vecmat 2048 f64", vecmat, lambda s: (f64s(s), f64s(s, s)), 2048, shared=lambda xp, x, A: x @ A, numba=vecmat_numba, torch=lambda x, A: x @ A, bytes=touched, growth=2, streams=True),
    Kernel("lu", lu, lambda s: spd(s), 400, numpy=lu_numpy, numba=lu_numba, growth=3, rtol=1e-8),
    Kernel("cholesky", cholesky, lambda s: spd(s), 400, numpy=lambda A: np.linalg.cholesky(A), jax=lambda A: jax.numpy.linalg.cholesky(A), torch=lambda A: torch.linalg.cholesky(A), numba=cholesky_numba, growth=3, rtol=1e-8),
    Kernel("triangular solve", triangular_solve, lambda s: (np.tril(rng().random((s, s))) + s * np.eye(s), f64s(s)), 1000, numpy=triangular_solve_numpy, numba=triangular_solve_numba, jax=lambda L, y: jax.scipy.linalg.solve_triangular(L, y, lower=True), torch=lambda L, y: torch.linalg.solve_triangular(L, y[:, None], upper=False)[:, 0], growth=2, rtol=1e-8),
    Kernel("gram-schmidt", gram_schmidt, lambda s: (f64s(s, s // 2),), 300, numpy=gram_schmidt_numpy, numba=gram_schmidt_numba, growth=3, rtol=1e-6),
    Kernel("correlation", correlation, lambda s: (rng().random((s, s // 4)),), 2000, shared=correlation_shared, numba=correlation_numba, growth=3, rtol=1e-8),
]
