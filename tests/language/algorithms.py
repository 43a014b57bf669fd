"""Algorithms as they stand in textbooks: loops, breaks, stacks, tables.

Each is what one writes without having read anything about Atoll; plain Python and NumPy say what it means.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")
PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = []
rng = np.random.default_rng(3)


def prog(*cases: Any) -> Any:
    def deco(fn: Any) -> Any:
        PROGRAMS.append((fn, cases))
        return fn

    return deco


def A(*shape: int) -> Any:
    return rng.integers(0, 9, shape)


def X(*shape: int) -> Any:
    return rng.standard_normal(shape)

@prog((A(7),), (A(1),), (A(0),))
def longest_increasing(a: i64[n]) -> i64:
    best = 0
    length = [0] * n
    for i in range(n):
        length[i] = 1
        for j in range(i):
            if a[j] < a[i] and length[j] + 1 > length[i]:
                length[i] = length[j] + 1
        best = max(best, length[i])
    return best

@prog((A(6), A(5)), (A(0), A(3)))
def edit_distance(a: i64[n], b: i64[m]) -> i64:
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + c)
    return d[n, m]

@prog((A(9),), (A(1),), (A(0),))
def bubble(a: i64[n]) -> i64[n]:
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return a

@prog((A(9),), (A(0),))
def insertion(a: i64[n]) -> i64[n]:
    for i in range(1, n):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a

@prog((np.sort(A(9)), 4), (np.sort(A(9)), 99), (A(0), 1))
def binary_search(a: i64[n], x: i64) -> i64:
    lo, hi = 0, n - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if a[mid] == x:
            return mid
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1

@prog((30,), (0,), (2,))
def sieve(k: i64):
    is_p = np.ones(k + 1, dtype=bool)
    for p in range(2, k + 1):
        if is_p[p]:
            for q in range(p * p, k + 1, p):
                is_p[q] = False
    count = 0
    for p in range(2, k + 1):
        if is_p[p]:
            count += 1
    return count

@prog((A(10),), (np.array([-3, -1]),), (A(0),))
def kadane(a: i64[n]) -> i64:
    best, cur = -10**9, 0
    for x in a:
        cur = max(x, cur + x)
        best = max(best, cur)
    return best

@prog((X(4, 4),), (np.eye(1),))
def gauss_det(a: f64[n, n]) -> f64:
    det = 1.0
    for c in range(n):
        p = c
        for r in range(c + 1, n):
            if abs(a[r, c]) > abs(a[p, c]):
                p = r
        if a[p, c] == 0.0:
            return 0.0
        if p != c:
            for j in range(n):
                a[c, j], a[p, j] = a[p, j], a[c, j]
            det = -det
        det *= a[c, c]
        for r in range(c + 1, n):
            f = a[r, c] / a[c, c]
            for j in range(c, n):
                a[r, j] -= f * a[c, j]
    return det

@prog((A(5, 5),), (A(1, 1),))
def flood(g: i64[n, m]) -> i64:
    seen = np.zeros((n, m), dtype=bool)
    stack = np.zeros((4 * n * m + 1, 2), dtype=np.int64)
    regions = 0
    for i in range(n):
        for j in range(m):
            if seen[i, j]:
                continue
            regions += 1
            top = 1
            stack[0, 0], stack[0, 1] = i, j
            seen[i, j] = True
            while top > 0:
                top -= 1
                y, x = stack[top, 0], stack[top, 1]
                for d in range(4):
                    yy = y + (1 if d == 0 else -1 if d == 1 else 0)
                    xx = x + (1 if d == 2 else -1 if d == 3 else 0)
                    if 0 <= yy < n and 0 <= xx < m and not seen[yy, xx] and g[yy, xx] % 2 == g[i, j] % 2:
                        seen[yy, xx] = True
                        stack[top, 0] = yy
                        stack[top, 1] = xx
                        top += 1
    return regions

@prog((A(8),), (A(2),), (A(0),))
def two_sum(a: i64[n]) -> (i64, i64):
    for i in range(n):
        for j in range(i + 1, n):
            if a[i] + a[j] == 9:
                return i, j
    return -1, -1

@prog((X(6),), (X(1),))
def horner(c: f64[n]) -> f64:
    r = 0.0
    for x in reversed(c):
        r = r * 1.5 + x
    return r

@prog((A(12) % 3,), (A(0) % 3,))
def run_lengths(a: i64[n]) -> i64:
    longest, cur, prev = 0, 0, -1
    for i, x in enumerate(a):
        if i > 0 and x == prev:
            cur += 1
        else:
            cur = 1
        longest = max(longest, cur)
        prev = x
    return longest

@prog((A(4, 6),),)
def game_of_life(b: i64[n, m]) -> i64[n, m]:
    b = b % 2
    out = np.zeros_like(b)
    for i in range(n):
        for j in range(m):
            s = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di != 0 or dj != 0:
                        s += b[(i + di) % n, (j + dj) % m]
            out[i, j] = 1 if s == 3 or (s == 2 and b[i, j] == 1) else 0
    return out

@prog((A(5, 4), A(4, 3)),)
def matmul3(a: i64[n, k], b: i64[k, m]) -> i64[n, m]:
    c = np.zeros((n, m), dtype=np.int64)
    for i in range(n):
        for j in range(m):
            for l in range(k):
                c[i, j] += a[i, l] * b[l, j]
    return c

@prog((10,), (1,), (0,))
def collatz_longest(limit: i64) -> (i64, i64):
    best, arg = 0, 0
    for s in range(1, limit + 1):
        x, steps = s, 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        if steps > best:
            best, arg = steps, s
    return arg, best

@prog((A(6), A(6) + 1, 10), (A(0), A(0), 3))
def knapsack(w: i64[n], v: i64[n], cap: i64) -> i64:
    dp = np.zeros(cap + 1, dtype=np.int64)
    for i in range(n):
        for c in range(cap, w[i] - 1, -1):
            dp[c] = max(dp[c], dp[c - w[i]] + v[i])
    return dp[cap]

@prog((A(8),), (A(1),))
def prefix_and_query(a: i64[n]) -> i64:
    p = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(a)])
    best = 0
    for i in range(n):
        for j in range(i + 1, n + 1):
            best = max(best, p[j] - p[i])
    return best

@prog((X(20), 3), (X(3), 3))
def mode_bins(x: f64[n], bins: i64) -> i64:
    counts = np.zeros(bins, dtype=np.int64)
    lo, hi = min(x), max(x)
    for v in x:
        b = int((v - lo) / (hi - lo + 1e-12) * bins)
        if b == bins:
            b -= 1
        counts[b] += 1
    return np.argmax(counts)

@prog((A(3, 5),), (A(1, 1),))
def spiral(a: i64[n, m]) -> i64:
    top, bot, left, right = 0, n - 1, 0, m - 1
    h = 0
    while top <= bot and left <= right:
        for j in range(left, right + 1):
            h = (h * 31 + a[top, j]) % 1000003
        top += 1
        for i in range(top, bot + 1):
            h = (h * 31 + a[i, right]) % 1000003
        right -= 1
        if top <= bot:
            for j in range(right, left - 1, -1):
                h = (h * 31 + a[bot, j]) % 1000003
            bot -= 1
        if left <= right:
            for i in range(bot, top - 1, -1):
                h = (h * 31 + a[i, left]) % 1000003
            left += 1
    return h

@prog((A(9),), (A(0),))
def next_greater(a: i64[n]) -> i64[n]:
    out = np.full(n, -1)
    st = np.zeros(n, dtype=np.int64)
    top = 0
    for i in range(n):
        while top > 0 and a[st[top - 1]] < a[i]:
            out[st[top - 1]] = a[i]
            top -= 1
        st[top] = i
        top += 1
    return out

@prog((A(5, 5),),)
def floyd(d: i64[n, n]) -> i64[n, n]:
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d

@prog((A(7), A(7)), (A(0), A(0)))
def merge_sorted(a: i64[n], b: i64[m]) -> i64[n + m]:
    a, b = np.sort(a), np.sort(b)
    out = np.zeros(n + m, dtype=np.int64)
    i, j = 0, 0
    for t in range(n + m):
        if j >= m or (i < n and a[i] <= b[j]):
            out[t] = a[i]
            i += 1
        else:
            out[t] = b[j]
            j += 1
    return out

@prog((X(9),), (X(2),))
def newton_sqrt_sum(x: f64[n]) -> f64:
    s = 0.0
    for v in x:
        g = 1.0
        t = abs(v)
        for _ in range(50):
            g2 = 0.5 * (g + t / g)
            if abs(g2 - g) < 1e-14:
                break
            g = g2
        else:
            g = -1.0
        s += g
    return s

@prog((A(10),), (A(0),))
def dedupe(a: i64[n]) -> i64:
    count = 0
    for i in range(n):
        for j in range(i):
            if a[i] == a[j]:
                break
        else:
            count += 1
    return count

@prog((A(10) * 17 + 3,),)
def digits(a: i64[n]) -> i64[n]:
    def digit_sum(x):
        s = 0
        while x > 0:
            s += x % 10
            x //= 10
        return s
    return [digit_sum(x) for x in a]

@prog((A(6), 3), (A(6), 0))
def rotate_by(a: i64[n], r: i64) -> i64[n]:
    out = a.copy()
    for i in range(n):
        out[(i + r) % n] = a[i]
    return out

@prog((A(8) % 2,), (A(0),))
def majority(a: i64[n]) -> i64:
    cand, votes = -1, 0
    for x in a:
        if votes == 0:
            cand = x
        votes += 1 if x == cand else -1
    return cand
