"""Versions element by element, for Numba."""

from __future__ import annotations

from typing import Any

import numpy as np


def nw(penalty: int, scores: Any, reference: Any) -> Any:
    out = scores.copy()
    for i in range(1, len(out)):
        for j in range(1, len(out)):
            out[i, j] = max(out[i - 1, j - 1] + reference[i, j], out[i, j - 1] - penalty, out[i - 1, j] - penalty)
    return out


def bfs(start: Any, count: Any, edges: Any) -> Any:
    cost = np.full(len(start), -1, np.int32)
    queue = np.empty(len(start), np.int32)
    cost[0], queue[0], head, tail = 0, 0, 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for e in range(start[node], start[node] + count[node]):
            other = edges[e]
            if cost[other] < 0:
                cost[other] = cost[node] + 1
                queue[tail] = other
                tail += 1
    return cost


def lava(alpha: float, c0: Any, c1: Any, c2: Any, offset: Any, n0: Any, n1: Any, n2: Any, neighbour: Any, count: Any, rv: Any, rx: Any, ry: Any, rz: Any, q: Any) -> Any:
    boxes, size = q.shape
    a2 = np.float32(2) * np.float32(alpha) * np.float32(alpha)
    out = np.zeros((4, boxes, size), np.float32)
    for l in range(boxes):
        for i in range(size):
            for k in range(count[l] + 1):
                b = offset[neighbour[k - 1, l] if k > 0 else l]
                for j in range(size):
                    r2 = rv[l, i] + rv[b, j] - (rx[l, i] * rx[b, j] + ry[l, i] * ry[b, j] + rz[l, i] * rz[b, j])
                    v = np.exp(-a2 * r2)
                    fs = np.float32(2) * v
                    out[0, l, i] += q[b, j] * v
                    out[1, l, i] += q[b, j] * (fs * (rx[l, i] - rx[b, j]))
                    out[2, l, i] += q[b, j] * (fs * (ry[l, i] - ry[b, j]))
                    out[3, l, i] += q[b, j] * (fs * (rz[l, i] - rz[b, j]))
    return out[0], out[1], out[2], out[3]


def tridiagonal(a: Any, b: Any, c: Any, y: Any) -> Any:
    n, m = a.shape
    out, cp = np.empty_like(y), np.empty_like(y[0])
    for r in range(n):
        cp[0], out[r, 0] = c[r, 0] / b[r, 0], y[r, 0] / b[r, 0]
        for i in range(1, m):
            norm = np.float32(1) / (b[r, i] - a[r, i] * cp[i - 1])
            cp[i] = c[r, i] * norm
            out[r, i] = (y[r, i] - a[r, i] * out[r, i - 1]) * norm
        for i in range(m - 2, -1, -1):
            out[r, i] -= cp[i] * out[r, i + 1]
    return out


def counted(k: int, where: Any, what: Any) -> Any:
    out = np.zeros(k, what.dtype)
    for i in range(len(where)):
        out[where[i] % k] += what[i]
    return out


def counted_rows(k: int, where: Any, what: Any) -> Any:
    out = np.zeros((len(where), k), what.dtype)
    for r in range(len(where)):
        for i in range(where.shape[1]):
            out[r, where[r, i] % k] += what[r, i]
    return out


def row_sums_of_scans(a: Any) -> Any:
    out = np.zeros(len(a), a.dtype)
    for r in range(len(a)):
        running = a.dtype.type(0)
        for i in range(a.shape[1]):
            running += a[r, i]
            out[r] += running
    return out


def mri_q(kx: Any, ky: Any, kz: Any, x: Any, y: Any, z: Any, re: Any, im: Any) -> Any:
    qr, qi = np.zeros_like(x), np.zeros_like(x)
    for i in range(len(x)):
        for k in range(len(kx)):
            mag = re[k] * re[k] + im[k] * im[k]
            angle = np.float32(2 * np.pi) * (kx[k] * x[i] + ky[k] * y[i] + kz[k] * z[i])
            qr[i] += np.cos(angle) * mag
            qi[i] += np.sin(angle) * mag
    return qr, qi


def lud(a: Any) -> Any:
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def in_rectangles(p: Any) -> Any:
    third = len(p) // 3
    out = np.zeros(third, np.int32)
    for r in range(third):
        x0, x1 = min(p[2 * r, 0], p[2 * r + 1, 0]), max(p[2 * r, 0], p[2 * r + 1, 0])
        y0, y1 = min(p[2 * r, 1], p[2 * r + 1, 1]), max(p[2 * r, 1], p[2 * r + 1, 1])
        for i in range(2 * third, len(p)):
            out[r] += (x0 <= p[i, 0]) & (p[i, 0] <= x1) & (y0 <= p[i, 1]) & (p[i, 1] <= y1)
    return out


def pagerank(froms: Any, tos: Any, sizes: Any, iterations: int) -> Any:
    n = len(sizes)
    ranks = np.full(n, np.float32(1) / np.float32(n), np.float32)
    for _ in range(iterations):
        new = np.zeros(n, np.float32)
        for e in range(len(froms)):
            if sizes[froms[e]] > 0:
                new[tos[e]] += ranks[froms[e]] / np.float32(sizes[froms[e]])
        lost = np.float32(0)
        for i in range(n):
            if sizes[i] == 0:
                lost += new[i]
        ranks = new + lost / np.float32(n)
    return ranks
