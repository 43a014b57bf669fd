"""Thirteen textbook programs (kernels.py has more). Each is plain text of a function `f`: Atoll compiles it as it stands, Numba and Python without the annotations.

`zeros`, `full` and `iota` are Atoll's; bench/everyday/run.py defines them for Numba, tests/oracle.py for Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

HEAD = "import numpy as np\nimport atoll as at\nfrom atoll import bool_, f64, i64, u8\nn, m, k, h, w = at.sizes('n m k h w')\n@at.fn\n"

UNION_FIND = """def f(left: i64[m], right: i64[m], parent: i64[n]):
    sets = len(parent)
    for e in range(len(left)):
        a = left[e]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        b = right[e]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a == b:
            continue
        sets -= 1
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
    return parent, sets
"""

DIJKSTRA = """def f(start: i64[n], dst: i64[m], cost: f64[m], dist: f64[n]):
    keys = full(len(dst) + 1, 0.0)
    nodes = full(len(dst) + 1, 0)
    size = 1
    dist[0] = 0.0
    while size > 0:
        key, v = keys[0], nodes[0]
        size -= 1
        keys[0], nodes[0] = keys[size], nodes[size]
        i = 0
        while True:
            c = 2 * i + 1
            if c + 1 < size and keys[c + 1] < keys[c]:
                c += 1
            if c >= size or keys[c] >= keys[i]:
                break
            keys[i], keys[c] = keys[c], keys[i]
            nodes[i], nodes[c] = nodes[c], nodes[i]
            i = c
        if key > dist[v] or v + 1 >= len(start):
            continue
        for e in range(start[v], start[v + 1]):
            u = dst[e]
            new = key + cost[e]
            if new < dist[u]:
                dist[u] = new
                i = size
                keys[i], nodes[i] = new, u
                size += 1
                while i > 0 and keys[(i - 1) // 2] > keys[i]:
                    p = (i - 1) // 2
                    keys[i], keys[p] = keys[p], keys[i]
                    nodes[i], nodes[p] = nodes[p], nodes[i]
                    i = p
    return dist
"""

BFS = """def f(start: i64[n], dst: i64[m], dist: i64[n]):
    queue = full(len(dist), 0)
    head, tail = 0, 1
    dist[0] = 0
    while head < tail:
        v = queue[head]
        head += 1
        if v + 1 >= len(start):
            continue
        for e in range(start[v], start[v + 1]):
            u = dst[e]
            if dist[u] < 0:
                dist[u] = dist[v] + 1
                queue[tail] = u
                tail += 1
    return dist
"""

SIEVE = """def f(prime: i64[n]):
    for i in range(2, len(prime)):
        if i * i >= len(prime):
            break
        if prime[i] == 0:
            continue
        j = i * i
        while j < len(prime):
            prime[j] = 0
            j += i
    return prime
"""

QUICKSORT = """def f(x: f64[n], low: i64[k], high: i64[k]):
    top = 0
    low[0], high[0] = 0, len(x) - 1
    while top >= 0:
        lo, hi = low[top], high[top]
        top -= 1
        if lo >= hi:
            continue
        pivot = x[(lo + hi) // 2]
        i, j = lo, hi
        while i <= j:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        if j - lo < hi - i:
            low[top + 1], high[top + 1] = i, hi
            low[top + 2], high[top + 2] = lo, j
        else:
            low[top + 1], high[top + 1] = lo, j
            low[top + 2], high[top + 2] = i, hi
        top += 2
    return x
"""

QUEENS = """def f(place: i64[n]):
    count = 0
    row = 0
    while row >= 0:
        place[row] += 1
        if place[row] >= len(place):
            place[row] = -1
            row -= 1
            continue
        free = True
        for r in range(row):
            d = place[row] - place[r]
            if d == 0 or d == row - r or d == r - row:
                free = False
                break
        if not free:
            continue
        if row == len(place) - 1:
            count += 1
        else:
            row += 1
    return count
"""

LRU = """def f(keys: i64[n], cache: i64[k]):
    hits = 0
    for x in keys:
        p = 0
        while p < len(cache) - 1 and cache[p] != x:
            p += 1
        if cache[p] == x:
            hits += 1
        while p > 0:
            cache[p] = cache[p - 1]
            p -= 1
        cache[0] = x
    return hits, cache
"""

LABELS = """def f(mask: bool_[h, w], out: i64[h, w], stack: i64[k]):
    label = 0
    for y in range(len(mask)):
        for x in range(len(mask[0])):
            if not mask[y, x] or out[y, x] > 0:
                continue
            label += 1
            top = 1
            stack[0] = y * len(mask[0]) + x
            out[y, x] = label
            while top > 0:
                top -= 1
                v, u = stack[top] // len(mask[0]), stack[top] % len(mask[0])
                for side in range(4):
                    a = v + (1 if side == 0 else -1 if side == 1 else 0)
                    b = u + (1 if side == 2 else -1 if side == 3 else 0)
                    if a < 0 or b < 0 or a >= len(mask) or b >= len(mask[0]):
                        continue
                    if mask[a, b] and out[a, b] == 0:
                        out[a, b] = label
                        stack[top] = a * len(mask[0]) + b
                        top += 1
    return out
"""

LU = """def f(a: f64[n, n], order: i64[n]):
    for c in range(len(order)):
        best = c
        for r in range(c + 1, len(order)):
            if abs(a[r, c]) > abs(a[best, c]):
                best = r
        if best != c:
            order[c], order[best] = order[best], order[c]
            for j in range(len(order)):
                a[c, j], a[best, j] = a[best, j], a[c, j]
        for r in range(c + 1, len(order)):
            a[r, c] /= a[c, c]
            for j in range(c + 1, len(order)):
                a[r, j] -= a[r, c] * a[c, j]
    return a, order
"""

KMP = """def f(text: i64[n], word: i64[m], fail: i64[m]):
    k = 0
    for i in range(1, len(word)):
        while k > 0 and word[i] != word[k]:
            k = fail[k - 1]
        if word[i] == word[k]:
            k += 1
        fail[i] = k
    found = 0
    k = 0
    for c in text:
        while k > 0 and c != word[k]:
            k = fail[k - 1]
        if c == word[k]:
            k += 1
        if k == len(word):
            found += 1
            k = fail[k - 1]
    return found
"""

KNAPSACK = """def f(weight: i64[n], value: i64[n], best: i64[k]):
    for i in range(len(weight)):
        c = len(best) - 1
        while c >= weight[i]:
            if best[c - weight[i]] + value[i] > best[c]:
                best[c] = best[c - weight[i]] + value[i]
            c -= 1
    return best
"""

SUFFIXES = """def f(text: i64[n], rank: i64[n], order: i64[n], count: i64[k], spare: i64[n], second: i64[n]):
    step = 1
    while step < 2 * len(text):
        for turn in range(2):
            for c in range(len(count)):
                count[c] = 0
            for i in range(len(text)):
                second[i] = rank[i + step] + 1 if i + step < len(text) else 0
            for i in range(len(text)):
                count[(second[i] if turn == 0 else rank[i]) + 1] += 1
            for c in range(1, len(count)):
                count[c] += count[c - 1]
            for i in range(len(text)):
                s = order[i]
                key = second[s] if turn == 0 else rank[s]
                spare[count[key]] = s
                count[key] += 1
            for i in range(len(text)):
                order[i] = spare[i]
        spare[order[0]] = 0
        for i in range(1, len(text)):
            same = rank[order[i]] == rank[order[i - 1]] and second[order[i]] == second[order[i - 1]]
            spare[order[i]] = spare[order[i - 1]] + (0 if same else 1)
        for i in range(len(text)):
            rank[i] = spare[i]
        if rank[order[len(text) - 1]] == len(text) - 1:
            break
        step *= 2
    return order
"""

A_STAR = """def f(wall: bool_[h, w], dist: i64[h, w], keys: i64[k], nodes: i64[k]):
    goal_y, goal_x = len(wall) - 1, len(wall[0]) - 1
    size = 1
    dist[0, 0] = 0
    while size > 0:
        v = nodes[0]
        size -= 1
        keys[0], nodes[0] = keys[size], nodes[size]
        i = 0
        while True:
            c = 2 * i + 1
            if c + 1 < size and keys[c + 1] < keys[c]:
                c += 1
            if c >= size or keys[c] >= keys[i]:
                break
            keys[i], keys[c] = keys[c], keys[i]
            nodes[i], nodes[c] = nodes[c], nodes[i]
            i = c
        y, x = v // len(wall[0]), v % len(wall[0])
        if y == goal_y and x == goal_x:
            return dist[y, x]
        for side in range(4):
            a = y + (1 if side == 0 else -1 if side == 1 else 0)
            b = x + (1 if side == 2 else -1 if side == 3 else 0)
            if a < 0 or b < 0 or a > goal_y or b > goal_x:
                continue
            if wall[a, b] or (dist[a, b] >= 0 and dist[a, b] <= dist[y, x] + 1):
                continue
            dist[a, b] = dist[y, x] + 1
            i = size
            keys[i] = dist[a, b] + (goal_y - a) + (goal_x - b)
            nodes[i] = a * len(wall[0]) + b
            size += 1
            while i > 0 and keys[(i - 1) // 2] > keys[i]:
                p = (i - 1) // 2
                keys[i], keys[p] = keys[p], keys[i]
                nodes[i], nodes[p] = nodes[p], nodes[i]
                i = p
    return -1
"""


def in_plain_python(text: str) -> str:
    """The same for Python and Numba: the sizes that annotations name are those of the arguments."""
    tree = ast.parse(text)
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    bound: dict[str, str] = {}
    for a in function.args.args:
        if isinstance(a.annotation, ast.Subscript):
            axes = a.annotation.slice.elts if isinstance(a.annotation.slice, ast.Tuple) else [a.annotation.slice]
            for k, size in enumerate(axes):
                if isinstance(size, ast.Name):
                    bound.setdefault(size.id, f"{size.id} = {a.arg}.shape[{k}]")
        a.annotation = None
    assigned = {x.id for x in ast.walk(function) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    function.body[:0] = [ast.parse(line).body[0] for name, line in bound.items() if name not in assigned]
    return ast.unparse(tree) + "\n"


def _graph(size: int, g: Any) -> tuple[Any, ...]:
    ends = np.sort(g.integers(0, size - 1, 4 * size))
    return np.searchsorted(ends, np.arange(size)), g.integers(0, size, 4 * size)


def _suffixes(s: int, g: Any) -> tuple[Any, ...]:
    text = g.integers(0, 4, s)
    return text, text.copy(), np.arange(s), np.zeros(max(s, 4) + 3, np.int64), np.zeros(s, np.int64), np.zeros(s, np.int64)


Arguments = Callable[[int, Any], tuple[Any, ...]]

PROGRAMS: dict[str, tuple[str, int, Arguments]] = {  # text, the size that is measured, arguments of a size
    "union-find": (UNION_FIND, 200_000, lambda s, g: (g.integers(0, s, 2 * s), g.integers(0, s, 2 * s), np.arange(s))),
    "dijkstra": (DIJKSTRA, 50_000, lambda s, g: (*_graph(s, g), g.random(4 * s), np.full(s, np.inf))),
    "bfs": (BFS, 200_000, lambda s, g: (*_graph(s, g), np.full(s, -1))),
    "sieve": (SIEVE, 2_000_000, lambda s, g: (np.ones(s, np.int64),)),
    "quicksort": (QUICKSORT, 200_000, lambda s, g: (g.random(s), np.zeros(200, np.int64), np.zeros(200, np.int64))),
    "queens": (QUEENS, 8, lambda s, g: (np.full(s, -1),)),
    "lru": (LRU, 100_000, lambda s, g: (g.integers(0, 40, s), np.full(16, -1))),
    "labelling": (LABELS, 500, lambda s, g: (g.random((s, s)) < 0.6, np.zeros((s, s), np.int64), np.zeros(4 * s * s + 1, np.int64))),
    "lu": (LU, 200, lambda s, g: (g.random((s, s)), np.arange(s))),
    "kmp": (KMP, 1_000_000, lambda s, g: (g.integers(0, 2, s), g.integers(0, 2, 8), np.zeros(8, np.int64))),
    "knapsack": (KNAPSACK, 500, lambda s, g: (g.integers(1, 50, s), g.integers(1, 99, s), np.zeros(4 * s, np.int64))),
    "suffix array": (SUFFIXES, 50_000, _suffixes),
    "a*": (A_STAR, 300, lambda s, g: ((g.random((s, s)) < 0.25) & (np.add.outer(np.arange(s), np.arange(s)) > 1), np.full((s, s), -1), *(np.zeros(8 * s * s + 2, np.int64) for _ in range(2)))),
}
