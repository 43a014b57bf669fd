"""Twenty-eight kernels that nobody tuned, each as a stranger writes it: plain text of a function `f`, in the form of programs.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.everyday.programs import Arguments

KERNELS: dict[str, tuple[str, int, Arguments]] = {}  # text, the size that is measured, arguments of a size


def _kernel(name: str, size: int, make: Arguments, text: str) -> None:
    KERNELS[name] = (text.lstrip("\n"), size, make)


def _square(s: int, g: Any) -> Any:
    return g.random((s, s))


_kernel("increasing", 3000, lambda s, g: (g.random(s),), '''
def f(x: f64[n]):
    L = np.ones(len(x), dtype=np.int64)
    for i in range(len(x)):
        for j in range(i):
            if x[j] < x[i] and L[j] + 1 > L[i]:
                L[i] = L[j] + 1
    best = 0
    for i in range(len(x)):
        best = max(best, L[i])
    return best, L
''')
_kernel("erosion", 600, lambda s, g: (_square(s, g),), '''
def f(image: f64[h, w]):
    out = np.zeros((h, w))
    for y in range(h):
        for x in range(w):
            least = image[y, x]
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    v, u = y + dy, x + dx
                    if v >= 0 and v < h and u >= 0 and u < w:
                        if image[v, u] < least:
                            least = image[v, u]
            out[y, x] = least
    return out
''')
_kernel("sobel", 600, lambda s, g: (_square(s, g),), '''
def f(image: f64[h, w]):
    out = np.zeros((h, w))
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            gx = image[y - 1, x + 1] + 2 * image[y, x + 1] + image[y + 1, x + 1] - image[y - 1, x - 1] - 2 * image[y, x - 1] - image[y + 1, x - 1]
            gy = image[y + 1, x - 1] + 2 * image[y + 1, x] + image[y + 1, x + 1] - image[y - 1, x - 1] - 2 * image[y - 1, x] - image[y - 1, x + 1]
            out[y, x] = np.sqrt(gx * gx + gy * gy)
    return out
''')
_kernel("rgb to hsv", 300, lambda s, g: (g.random((s, s, 3)),), '''
def f(image: f64[h, w, 3]):
    out = np.zeros((h, w, 3))
    for y in range(h):
        for x in range(w):
            r, g, b = image[y, x, 0], image[y, x, 1], image[y, x, 2]
            most = max(r, g, b)
            least = min(r, g, b)
            d = most - least
            hue = 0.0
            if d > 0:
                if most == r:
                    hue = ((g - b) / d) % 6.0
                elif most == g:
                    hue = (b - r) / d + 2.0
                else:
                    hue = (r - g) / d + 4.0
            out[y, x, 0] = hue / 6.0
            out[y, x, 1] = d / most if most > 0 else 0.0
            out[y, x, 2] = most
    return out
''')
_kernel("floyd", 200, lambda s, g: (np.where(g.random((s, s)) < 0.2, g.random((s, s)), np.inf),), '''
def f(d: f64[n, n]):
    for k in range(len(d)):
        for i in range(len(d)):
            for j in range(len(d)):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d
''')
_kernel("resize", 300, lambda s, g: (g.random((s + 1, s + 2)), 2 * s, 2 * s + 1), '''
def f(image: f64[h, w], rows: i64, columns: i64):
    out = np.zeros((rows, columns))
    for y in range(rows):
        for x in range(columns):
            v = y * (h - 1) / max(rows - 1, 1)
            u = x * (w - 1) / max(columns - 1, 1)
            y0, x0 = int(v), int(u)
            y1, x1 = min(y0 + 1, h - 1), min(x0 + 1, w - 1)
            a, b = v - y0, u - x0
            top = image[y0, x0] * (1 - b) + image[y0, x1] * b
            bottom = image[y1, x0] * (1 - b) + image[y1, x1] * b
            out[y, x] = top * (1 - a) + bottom * a
    return out
''')
_kernel("equalise", 600, lambda s, g: (g.integers(0, 256, (s, s)).astype(np.uint8),), '''
def f(image: u8[h, w]):
    count = np.zeros(256, dtype=np.int64)
    for y in range(h):
        for x in range(w):
            count[image[y, x]] += 1
    total = 0
    table = np.zeros(256, dtype=np.int64)
    for v in range(256):
        total += count[v]
        table[v] = total * 255 // max(h * w, 1)
    out = np.zeros((h, w), dtype=np.int64)
    for y in range(h):
        for x in range(w):
            out[y, x] = table[image[y, x]]
    return out
''')
_kernel("edit distance", 1000, lambda s, g: (g.integers(0, 4, s), g.integers(0, 4, s + 3)), '''
def f(a: i64[n], b: i64[m]):
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[n, m]
''')
_kernel("life", 400, lambda s, g: (g.integers(0, 2, (s, s)), 4), '''
def f(grid: i64[h, w], rounds: i64):
    for t in range(rounds):
        new = np.zeros((h, w), dtype=np.int64)
        for y in range(h):
            for x in range(w):
                around = 0
                for dy in range(-1, 2):
                    for dx in range(-1, 2):
                        if dy != 0 or dx != 0:
                            around += grid[(y + dy) % h, (x + dx) % w]
                if around == 3 or (around == 2 and grid[y, x] == 1):
                    new[y, x] = 1
        grid = new
    return grid
''')
_kernel("otsu", 600, lambda s, g: (g.integers(0, 256, (s, s)).astype(np.uint8),), '''
def f(image: u8[h, w]):
    count = np.zeros(256)
    for y in range(h):
        for x in range(w):
            count[image[y, x]] += 1.0
    total = 0.0
    weighted = 0.0
    for v in range(256):
        total += count[v]
        weighted += v * count[v]
    below = 0.0
    sum_below = 0.0
    best = -1.0
    threshold = 0
    for v in range(256):
        below += count[v]
        sum_below += v * count[v]
        above = total - below
        if below == 0 or above == 0:
            continue
        apart = sum_below / below - (weighted - sum_below) / above
        between = below * above * apart * apart
        if between > best:
            best = between
            threshold = v
    out = np.zeros((h, w), dtype=np.bool_)
    for y in range(h):
        for x in range(w):
            out[y, x] = image[y, x] > threshold
    return threshold, out
''')
_kernel("segmented sieve", 1_000_000, lambda s, g: (s, 4096), '''
def f(limit: i64, block: i64):
    root = 1
    while root * root < limit:
        root += 1
    small = np.ones(root + 1, dtype=np.bool_)
    primes = np.zeros(root + 1, dtype=np.int64)
    places = np.zeros(root + 1, dtype=np.int64)
    count = 0
    for i in range(2, root + 1):
        if small[i]:
            primes[count] = i
            places[count] = i * i
            count += 1
            for j in range(i * i, root + 1, i):
                small[j] = False
    found = 0
    low = 0
    while low < limit:
        high = min(low + block, limit)
        mark = np.ones(block, dtype=np.bool_)
        for k in range(count):
            j = places[k]
            while j < high:
                mark[j - low] = False
                j += primes[k]
            places[k] = j
        for j in range(low, high):
            if j >= 2 and mark[j - low]:
                found += 1
        low += block
    return found
''')
_kernel("matrix chain", 200, lambda s, g: (g.integers(1, 50, s + 1),), '''
def f(p: i64[m]):
    n = len(p) - 1
    cost = np.zeros((n + 1, n + 1), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = 1 << 60
            for k in range(i, j):
                q = cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if q < cost[i, j]:
                    cost[i, j] = q
    return cost
''')
_kernel("convex hull", 50_000, lambda s, g: (np.sort(g.random(s)), g.random(s)), '''
def f(x: f64[n], y: f64[n]):
    hull = np.zeros(2 * n + 1, dtype=np.int64)
    k = 0
    for i in range(n):
        while k >= 2:
            a, b = hull[k - 2], hull[k - 1]
            if (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) > 0:
                break
            k -= 1
        hull[k] = i
        k += 1
    lower = k + 1
    for i in range(n - 2, -1, -1):
        while k >= lower:
            a, b = hull[k - 2], hull[k - 1]
            if (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) > 0:
                break
            k -= 1
        hull[k] = i
        k += 1
    return hull, k
''')
_kernel("kadane", 500_000, lambda s, g: (g.normal(size=s),), '''
def f(x: f64[n]):
    best = -np.inf
    now = 0.0
    start, first, last = 0, 0, 0
    for i in range(len(x)):
        if now > 0:
            now += x[i]
        else:
            now = x[i]
            start = i
        if now > best:
            best = now
            first, last = start, i + 1
    return best, first, last
''')
_kernel("rolling median", 20_000, lambda s, g: (g.random(s), 31), '''
def f(x: f64[n], k: i64):
    out = np.zeros(len(x))
    kept = np.zeros(k)
    size = 0
    for i in range(len(x)):
        if size == k:
            old = x[i - k]
            p = 0
            while kept[p] != old:
                p += 1
            while p < size - 1:
                kept[p] = kept[p + 1]
                p += 1
            size -= 1
        p = size
        while p > 0 and kept[p - 1] > x[i]:
            kept[p] = kept[p - 1]
            p -= 1
        kept[p] = x[i]
        size += 1
        if size % 2 == 1:
            out[i] = kept[size // 2]
        else:
            out[i] = 0.5 * (kept[size // 2 - 1] + kept[size // 2])
    return out
''')
_kernel("run lengths", 500_000, lambda s, g: (g.integers(0, 2, s),), '''
def f(x: i64[n]):
    values = np.zeros(len(x), dtype=np.int64)
    lengths = np.zeros(len(x), dtype=np.int64)
    k = 0
    for i in range(len(x)):
        if i > 0 and x[i] == x[i - 1]:
            lengths[k - 1] += 1
        else:
            values[k] = x[i]
            lengths[k] = 1
            k += 1
    return k, values, lengths
''')
_kernel("bellman-ford", 2000, lambda s, g: (g.integers(0, max(s, 1), 4 * s), g.integers(0, max(s, 1), 4 * s), g.random(4 * s), max(s, 1)), '''
def f(source: i64[m], target: i64[m], cost: f64[m], nodes: i64):
    dist = np.full(nodes, np.inf)
    dist[0] = 0.0
    for t in range(nodes - 1):
        changed = False
        for e in range(m):
            if dist[source[e]] + cost[e] < dist[target[e]]:
                dist[target[e]] = dist[source[e]] + cost[e]
                changed = True
        if not changed:
            break
    return dist
''')


def _acyclic(s: int, g: Any) -> tuple[Any, ...]:
    ends = np.sort(g.integers(0, max(s - 1, 1), 3 * s))
    return np.searchsorted(ends, np.arange(s + 1)), np.minimum(ends + 1 + g.integers(0, max(s // 4, 1), 3 * s), max(s - 1, 0)) * (s > 1)


_kernel("topological", 50_000, lambda s, g: (_acyclic(s, g)), '''
def f(start: i64[n], dst: i64[m]):
    nodes = len(start) - 1
    degree = np.zeros(nodes, dtype=np.int64)
    for e in range(m):
        degree[dst[e]] += 1
    order = np.zeros(nodes, dtype=np.int64)
    tail = 0
    for v in range(nodes):
        if degree[v] == 0:
            order[tail] = v
            tail += 1
    head = 0
    while head < tail:
        v = order[head]
        head += 1
        for e in range(start[v], start[v + 1]):
            u = dst[e]
            degree[u] -= 1
            if degree[u] == 0:
                order[tail] = u
                tail += 1
    return order, tail
''')
_kernel("gauss", 150, lambda s, g: (_square(s, g) + np.eye(s), g.random(s)), '''
def f(a: f64[n, n], b: f64[n]):
    for c in range(n):
        best = c
        for r in range(c + 1, n):
            if abs(a[r, c]) > abs(a[best, c]):
                best = r
        if best != c:
            for j in range(c, n):
                t = a[c, j]
                a[c, j] = a[best, j]
                a[best, j] = t
            t = b[c]
            b[c] = b[best]
            b[best] = t
        for r in range(c + 1, n):
            q = a[r, c] / a[c, c]
            for j in range(c, n):
                a[r, j] -= q * a[c, j]
            b[r] -= q * b[c]
    x = np.zeros(n)
    for r in range(n - 1, -1, -1):
        s = b[r]
        for j in range(r + 1, n):
            s -= a[r, j] * x[j]
        x[r] = s / a[r, r]
    return x
''')
_kernel("neighbours", 400, lambda s, g: (g.random((s, 3)), g.random((s + 1, 3)), 5), '''
def f(points: f64[n, 3], queries: f64[m, 3], k: i64):
    places = np.full((m, k), -1)
    far = np.full((m, k), np.inf)
    for q in range(m):
        for i in range(n):
            d = 0.0
            for c in range(3):
                d += (points[i, c] - queries[q, c]) ** 2
            if d < far[q, k - 1]:
                p = k - 1
                while p > 0 and far[q, p - 1] > d:
                    far[q, p] = far[q, p - 1]
                    places[q, p] = places[q, p - 1]
                    p -= 1
                far[q, p] = d
                places[q, p] = i
    return places, far
''')
_kernel("flood fill", 400, lambda s, g: ((g.random((s, s)) < 0.3).astype(np.int64),), '''
def f(grid: i64[h, w]):
    stack_y = np.zeros(4 * h * w + 1, dtype=np.int64)
    stack_x = np.zeros(4 * h * w + 1, dtype=np.int64)
    top = 1
    filled = 0
    while top > 0:
        top -= 1
        y, x = stack_y[top], stack_x[top]
        if y < 0 or x < 0 or y >= h or x >= w:
            continue
        if grid[y, x] != 0:
            continue
        grid[y, x] = 2
        filled += 1
        stack_y[top], stack_x[top] = y + 1, x
        stack_y[top + 1], stack_x[top + 1] = y - 1, x
        stack_y[top + 2], stack_x[top + 2] = y, x + 1
        stack_y[top + 3], stack_x[top + 3] = y, x - 1
        top += 4
    return filled, grid
''')
_kernel("perlin", 300, lambda s, g: (np.tile(g.permutation(256), 2), s, s + 1, 0.05), '''
def f(perm: i64[512], rows: i64, columns: i64, step: f64):
    out = np.zeros((rows, columns))
    for r in range(rows):
        for c in range(columns):
            y, x = r * step, c * step
            j, i = int(np.floor(y)), int(np.floor(x))
            v, u = y - j, x - i
            j, i = j % 256, i % 256
            a = u * u * u * (u * (u * 6 - 15) + 10)
            b = v * v * v * (v * (v * 6 - 15) + 10)
            total = 0.0
            for dy in range(2):
                for dx in range(2):
                    corner = perm[perm[i + dx] + j + dy] % 4
                    p, q = u - dx, v - dy
                    slope = p + q if corner == 0 else q - p if corner == 1 else p - q if corner == 2 else -p - q
                    total += (a if dx == 1 else 1 - a) * (b if dy == 1 else 1 - b) * slope
            out[r, c] = total
    return out
''')
_kernel("levinson", 400, lambda s, g: (0.5 ** np.arange(s + 1) + np.r_[1.0, 0.1 * g.random(s)],), '''
def f(r: f64[m]):
    n = len(r) - 1
    a = np.zeros(n + 1)
    old = np.zeros(n + 1)
    a[0] = 1.0
    error = r[0]
    for i in range(1, n + 1):
        s = r[i]
        for j in range(1, i):
            s += a[j] * r[i - j]
        k = -s / error
        for j in range(i):
            old[j] = a[j]
        for j in range(1, i):
            a[j] = old[j] + k * old[i - j]
        a[i] = k
        error *= 1 - k * k
    return a, error
''')
_kernel("string search", 500_000, lambda s, g: (g.integers(97, 101, s).astype(np.uint8), g.integers(97, 101, 6).astype(np.uint8)), '''
def f(text: u8[n], word: u8[m]):
    skip = np.full(256, len(word))
    for i in range(len(word) - 1):
        skip[word[i]] = len(word) - 1 - i
    found = 0
    p = 0
    while p + len(word) <= len(text):
        j = len(word) - 1
        while j >= 0 and text[p + j] == word[j]:
            j -= 1
        if j < 0:
            found += 1
            p += 1
        else:
            p += skip[text[p + len(word) - 1]]
    return found
''')
_kernel("subset sums", 300, lambda s, g: (g.integers(1, 500, s), 1000), '''
def f(weights: i64[n], words: i64):
    bits = np.zeros(words, dtype=np.uint64)
    bits[0] = np.uint64(1)
    for i in range(len(weights)):
        far, near = weights[i] // 64, np.uint64(weights[i] % 64)
        for k in range(words - 1, far - 1, -1):
            moved = bits[k - far] << near
            if near > np.uint64(0) and k - far > 0:
                moved |= bits[k - far - 1] >> (np.uint64(64) - near)
            bits[k] |= moved
    return bits
''')
_kernel("merge intervals", 200_000, lambda s, g: (np.sort(g.integers(0, 4 * s + 1, s)), g.integers(0, 6, s)), '''
def f(low: i64[n], length: i64[n]):
    starts = np.zeros(n, dtype=np.int64)
    ends = np.zeros(n, dtype=np.int64)
    k = 0
    for i in range(n):
        end = low[i] + length[i]
        if k > 0 and low[i] <= ends[k - 1]:
            if end > ends[k - 1]:
                ends[k - 1] = end
        else:
            starts[k] = low[i]
            ends[k] = end
            k += 1
    return starts, ends, k
''')
_kernel("fenwick", 100_000, lambda s, g: (g.integers(0, max(s, 1), s),), '''
def f(x: i64[n]):
    tree = np.zeros(n + 1, dtype=np.int64)
    inversions = 0
    for i in range(n - 1, -1, -1):
        k = x[i]
        while k > 0:
            inversions += tree[k]
            k -= k & -k
        k = x[i] + 1
        while k <= n:
            tree[k] += 1
            k += k & -k
    return inversions, tree
''')
_kernel("segment tree", 50_000, lambda s, g: (g.random(s), g.integers(0, max(s, 1), s), g.integers(0, max(s, 1), s), g.random(s)), '''
def f(x: f64[n], left: i64[n], right: i64[n], new: f64[n]):
    tree = np.zeros(2 * n)
    for i in range(n):
        tree[n + i] = x[i]
    for i in range(n - 1, 0, -1):
        tree[i] = min(tree[2 * i], tree[2 * i + 1])
    out = np.zeros(n)
    for q in range(n):
        k = left[q] + n
        tree[k] = new[q]
        while k > 1:
            k //= 2
            tree[k] = min(tree[2 * k], tree[2 * k + 1])
        a, b = min(left[q], right[q]) + n, max(left[q], right[q]) + n + 1
        least = np.inf
        while a < b:
            if a % 2 == 1:
                least = min(least, tree[a])
                a += 1
            if b % 2 == 1:
                b -= 1
                least = min(least, tree[b])
            a //= 2
            b //= 2
        out[q] = least
    return out
''')
