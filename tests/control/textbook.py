"""Twenty-seven programs of the textbook kind as somebody writes them who has not read our pages: state in arrays, `while True`, breaks out of branches, several stacks.

PROGRAMS: name -> text, arguments of a size, sizes that are tried against Python, sizes at which bytes are counted, and how much they may grow from one to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = Callable[[int, Any], tuple[Any, ...]]
PROGRAMS: dict[str, tuple[str, Arguments, tuple[int, ...], tuple[int, ...], float]] = {}


def _program(name: str, make: Arguments, text: str, sizes: tuple[int, ...] = (0, 1, 2, 5, 9), grow: tuple[int, ...] = (16, 32, 64), most: float = 2.9) -> None:
    PROGRAMS[name] = (text.lstrip("\n"), make, sizes, grow, most)


def _below(r: Any, high: int, n: int) -> Any:
    return r.integers(0, max(high, 1), n)


_program("coo_to_csr", lambda n, r: (_below(r, n, 2*n), _below(r, n, 2*n), r.random(2*n), np.zeros(n)), '''
def f(rows: i64[m], cols: i64[m], vals: f64[m], dummy: f64[n]):
    counts = np.zeros(n + 1, dtype=np.int64)
    for r in rows:
        counts[r + 1] += 1
    for i in range(n):
        counts[i + 1] += counts[i]
    indptr = counts.copy()
    nxt = counts.copy()
    indices = np.zeros(m, dtype=np.int64)
    data = np.zeros(m)
    for k in range(m):
        r = rows[k]
        indices[nxt[r]] = cols[k]
        data[nxt[r]] = vals[k]
        nxt[r] += 1
    return indptr, indices, data
''')
_program("lru", lambda n, r: (_below(r, n + 2, 3*n), max(n // 2, 1)), '''
def f(keys: i64[n], cap: i64):
    limit = 1000
    prev = np.full(cap + 2, -1)
    nxt = np.full(cap + 2, -1)
    key_of = np.full(cap + 2, -1)
    where = np.full(limit, -1)
    head, tail = cap, cap + 1
    nxt[head] = tail
    prev[tail] = head
    size = 0
    hits = 0
    for k in keys:
        s = where[k]
        if s >= 0:
            hits += 1
            nxt[prev[s]] = nxt[s]
            prev[nxt[s]] = prev[s]
        else:
            if size < cap:
                s = size
                size += 1
            else:
                s = prev[tail]
                where[key_of[s]] = -1
                prev[tail] = prev[s]
                nxt[prev[s]] = tail
            key_of[s] = k
            where[k] = s
        nxt[s] = nxt[head]
        prev[s] = head
        prev[nxt[head]] = s
        nxt[head] = s
    return hits, key_of
''')
_program("merge_intervals", lambda n, r: (np.sort(_below(r, 3*n+1, n)), _below(r, 4, n)), '''
def f(lo: i64[n], ln: i64[n]):
    out_lo = np.zeros(n, dtype=int)
    out_hi = np.zeros(n, dtype=int)
    count = 0
    for i in range(n):
        hi = lo[i] + ln[i]
        if count > 0 and lo[i] <= out_hi[count - 1]:
            out_hi[count - 1] = max(out_hi[count - 1], hi)
        else:
            out_lo[count] = lo[i]
            out_hi[count] = hi
            count += 1
    return out_lo, out_hi, count
''')
_program("gale_shapley", lambda n, r: (*(np.array([r.permutation(n) for _ in range(n)], int).reshape(n, n) for _ in range(2)),), '''
def f(men: i64[n, n], women: i64[n, n]):
    rank = np.zeros((n, n), dtype=int)
    for w in range(n):
        for j in range(n):
            rank[w, women[w, j]] = j
    partner = np.full(n, -1)
    nxt = np.zeros(n, dtype=int)
    free = np.arange(n)
    top = n
    while top > 0:
        man = free[top - 1]
        w = men[man, nxt[man]]
        nxt[man] += 1
        if partner[w] == -1:
            partner[w] = man
            top -= 1
        elif rank[w, man] < rank[w, partner[w]]:
            free[top - 1] = partner[w]
            partner[w] = man
    return partner
''', grow=(4, 8, 16), most=6)
_program("floyd_cycle", lambda n, r: (_below(r, n, n), 0), '''
def f(nxt: i64[n], start: i64):
    if n == 0:
        return 0, 0
    slow = nxt[start]
    fast = nxt[nxt[start]]
    while slow != fast:
        slow = nxt[slow]
        fast = nxt[nxt[fast]]
    mu = 0
    slow = start
    while slow != fast:
        slow, fast = nxt[slow], nxt[fast]
        mu += 1
    lam = 1
    fast = nxt[slow]
    while slow != fast:
        fast = nxt[fast]
        lam += 1
    return mu, lam
''')
_program("kadane", lambda n, r: (r.normal(size=n),), '''
def f(x: f64[n]):
    best = -np.inf
    cur = 0.0
    start = end = s = 0
    for i, v in enumerate(x):
        if cur <= 0:
            cur = v
            s = i
        else:
            cur += v
        if cur > best:
            best, start, end = cur, s, i + 1
    return best, start, end
''')
_program("manacher", lambda n, r: (_below(r, 2, n).astype(np.uint8),), '''
def f(s: u8[n]):
    t = np.zeros(2 * n + 3, dtype=np.int64)
    t[0] = -1
    t[2 * n + 2] = -2
    for i in range(n):
        t[2 * i + 2] = s[i] + 1
    p = np.zeros(2 * n + 3, dtype=int)
    center = right = 0
    for i in range(1, 2 * n + 2):
        mirror = 2 * center - i
        if i < right:
            p[i] = min(right - i, p[mirror])
        while t[i + 1 + p[i]] == t[i - 1 - p[i]]:
            p[i] += 1
        if i + p[i] > right:
            center, right = i, i + p[i]
    best = 0
    for v in p:
        best = max(best, v)
    return best, p
''')
_program("z_function", lambda n, r: (_below(r, 2, n).astype(np.uint8),), '''
def f(s: u8[n]):
    z = [0] * n
    l, r = 0, 0
    for i in range(1, n):
        if i < r:
            z[i] = min(r - i, z[i - l])
        while i + z[i] < n and s[z[i]] == s[i + z[i]]:
            z[i] += 1
        if i + z[i] > r:
            l, r = i, i + z[i]
    return z
''')
_program("fenwick", lambda n, r: (_below(r, n, n), _below(r, 9, n), _below(r, n, n)), '''
def f(pos: i64[n], val: i64[n], ask: i64[n]):
    tree = np.zeros(n + 1, dtype=np.int64)
    def add(tree, i, v):
        i += 1
        while i <= n:
            tree[i] += v
            i += i & -i
        return tree
    def prefix(tree, i):
        s = 0
        while i > 0:
            s += tree[i]
            i -= i & -i
        return s
    out = np.zeros(n, dtype=np.int64)
    for k in range(n):
        tree = add(tree, pos[k], val[k])
        out[k] = prefix(tree, ask[k] + 1)
    return out
''', most=3.2)
_program("segtree_iter", lambda n, r: (r.integers(0, 99, n), _below(r, n, n), _below(r, n, n), r.integers(0, 99, n)), '''
def f(a: i64[n], lo: i64[n], hi: i64[n], new: i64[n]):
    t = np.zeros(2 * n, dtype=int)
    t[n:] = a
    for i in range(n - 1, 0, -1):
        t[i] = min(t[2 * i], t[2 * i + 1])
    out = np.zeros(n, dtype=int)
    for q in range(n):
        l, r = min(lo[q], hi[q]) + n, max(lo[q], hi[q]) + n + 1
        res = 10**9
        while l < r:
            if l & 1:
                res = min(res, t[l])
                l += 1
            if r & 1:
                r -= 1
                res = min(res, t[r])
            l >>= 1
            r >>= 1
        out[q] = res
        p = lo[q] + n
        t[p] = new[q]
        while p > 1:
            p //= 2
            t[p] = min(t[2 * p], t[2 * p + 1])
    return out, t
''', most=3.2)
_program("segtree_rec", lambda n, r: (r.integers(0, 99, n), _below(r, n, n)), '''
def f(a: i64[n], at_: i64[n]):
    t = np.zeros(4 * n + 4, dtype=np.int64)
    def build(t: i64[k], node: i64, l: i64, r: i64) -> i64[k]:
        if r - l == 1:
            t[node] = a[l]
            return t
        mid = (l + r) // 2
        t = build(t, 2 * node, l, mid)
        t = build(t, 2 * node + 1, mid, r)
        t[node] = t[2 * node] + t[2 * node + 1]
        return t
    def update(t: i64[k], node: i64, l: i64, r: i64, i: i64, v: i64) -> i64[k]:
        if r - l == 1:
            t[node] += v
            return t
        mid = (l + r) // 2
        if i < mid:
            t = update(t, 2 * node, l, mid, i, v)
        else:
            t = update(t, 2 * node + 1, mid, r, i, v)
        t[node] = t[2 * node] + t[2 * node + 1]
        return t
    def query(t: i64[k], node: i64, l: i64, r: i64, x: i64, y: i64) -> i64:
        if y <= l or r <= x:
            return 0
        if x <= l and r <= y:
            return t[node]
        mid = (l + r) // 2
        return query(t, 2 * node, l, mid, x, y) + query(t, 2 * node + 1, mid, r, x, y)
    if n > 0:
        t = build(t, 1, 0, n)
    out = np.zeros(n, dtype=np.int64)
    for q in range(n):
        t = update(t, 1, 0, n, at_[q], q)
        out[q] = query(t, 1, 0, n, 0, at_[q] + 1)
    return out
''', most=3.2)


def _dag(n: int, r: Any) -> tuple[Any, ...]:
    e = [(i, j) for i in range(n) for j in range(i + 1, n) if r.random() < 2 / max(n, 1)]
    pm = r.permutation(n)
    ends = np.array([(pm[i], pm[j]) for i, j in e]).reshape(-1, 2).astype(np.int64)
    return ends[:, 0].copy(), ends[:, 1].copy(), np.zeros(n)


_program("toposort", _dag, '''
def f(src: i64[m], dst: i64[m], nodes: f64[n]):
    indeg = np.zeros(n, dtype=int)
    head = np.full(n, -1)
    nxt = np.full(m, -1)
    for e in range(m):
        indeg[dst[e]] += 1
        nxt[e] = head[src[e]]
        head[src[e]] = e
    queue = np.zeros(n, dtype=int)
    qh = qt = 0
    for v in range(n):
        if indeg[v] == 0:
            queue[qt] = v
            qt += 1
    while qh < qt:
        v = queue[qh]
        qh += 1
        e = head[v]
        while e != -1:
            u = dst[e]
            indeg[u] -= 1
            if indeg[u] == 0:
                queue[qt] = u
                qt += 1
            e = nxt[e]
    return queue, qt == n
''', most=3.2)
_program("bellman_ford", lambda n, r: (_below(r, n, 2*n), _below(r, n, 2*n), r.integers(1, 9, 2*n).astype(float), np.zeros(n)), '''
def f(src: i64[m], dst: i64[m], w: f64[m], nodes: f64[n]):
    dist = np.full(n, np.inf)
    if n > 0:
        dist[0] = 0.0
    for _ in range(n):
        changed = False
        for e in range(m):
            u, v = src[e], dst[e]
            if dist[u] + w[e] < dist[v]:
                dist[v] = dist[u] + w[e]
                changed = True
        if not changed:
            break
    return dist
''', most=4.5)


def _neighbours(n: int, r: Any) -> tuple[Any, ...]:
    k = 3
    return _below(r, n, n * k).reshape(n, k), r.integers(1, 50, (n, k))


_program("prim_heap", _neighbours, '''
def f(adj: i64[n, k], wt: i64[n, k]):
    cap = n * k + 1
    hk = np.zeros(cap, dtype=int)
    hv = np.zeros(cap, dtype=int)
    size = 0
    seen = np.zeros(n, dtype=bool)
    total = 0
    if n == 0:
        return 0
    hk[0] = 0
    hv[0] = 0
    size = 1
    while size > 0:
        key, v = hk[0], hv[0]
        size -= 1
        hk[0], hv[0] = hk[size], hv[size]
        i = 0
        while True:
            c = 2 * i + 1
            if c >= size:
                break
            if c + 1 < size and hk[c + 1] < hk[c]:
                c += 1
            if hk[i] <= hk[c]:
                break
            hk[i], hk[c] = hk[c], hk[i]
            hv[i], hv[c] = hv[c], hv[i]
            i = c
        if seen[v]:
            continue
        seen[v] = True
        total += key
        for j in range(k):
            u = adj[v, j]
            if seen[u]:
                continue
            i = size
            hk[i], hv[i] = wt[v, j], u
            size += 1
            while i > 0:
                q = (i - 1) // 2
                if hk[q] <= hk[i]:
                    break
                hk[q], hk[i] = hk[i], hk[q]
                hv[q], hv[i] = hv[i], hv[q]
                i = q
    return total
''', most=3.4)
_program("matrix_chain", lambda n, r: (r.integers(1, 9, n + 1),), '''
def f(dims: i64[k]):
    n = len(dims) - 1
    cost = np.zeros((n, n), dtype=int)
    cut = np.zeros((n, n), dtype=int)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = 10**12
            for q in range(i, j):
                c = cost[i, q] + cost[q + 1, j] + dims[i] * dims[q + 1] * dims[j + 1]
                if c < cost[i, j]:
                    cost[i, j] = c
                    cut[i, j] = q
    return cost, cut
''', grow=(4, 8, 16), most=8.5)
_program("edit_trace", lambda n, r: (_below(r, 3, n).astype(np.uint8), _below(r, 3, n).astype(np.uint8)), '''
def f(a: u8[n], b: u8[m]):
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    d[:, 0] = np.arange(n + 1)
    d[0, :] = np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                d[i, j] = d[i - 1, j - 1]
            else:
                d[i, j] = 1 + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    ops = np.zeros(n + m, dtype=np.uint8)
    k = 0
    i, j = n, m
    while i > 0 or j > 0:
        if i > 0 and j > 0 and a[i - 1] == b[j - 1]:
            ops[k] = ord("=")
            i -= 1
            j -= 1
        elif i > 0 and j > 0 and d[i, j] == d[i - 1, j - 1] + 1:
            ops[k] = ord("r")
            i, j = i - 1, j - 1
        elif i > 0 and d[i, j] == d[i - 1, j] + 1:
            ops[k] = ord("d")
            i -= 1
        else:
            ops[k] = ord("i")
            j -= 1
        k += 1
    return d[n, m], ops, k
''', grow=(4, 8, 16), most=4.6)
_program("life", lambda n, r: (r.random((n, n)) < 0.4, 6), '''
def f(g: bool_[n, n], steps: i64):
    done = 0
    for t in range(steps):
        new = np.zeros((n, n), dtype=bool)
        changed = False
        for y in range(n):
            for x in range(n):
                c = 0
                for dy in range(-1, 2):
                    for dx in range(-1, 2):
                        if dy == 0 and dx == 0:
                            continue
                        yy, xx = y + dy, x + dx
                        if 0 <= yy < n and 0 <= xx < n and g[yy, xx]:
                            c += 1
                new[y, x] = c == 3 or (g[y, x] and c == 2)
                if new[y, x] != g[y, x]:
                    changed = True
        g = new
        done = t + 1
        if not changed:
            break
    return g, done
''', grow=(4, 8, 16), most=4.6)


def _puzzle(n: int, r: Any) -> tuple[Any, ...]:
    grid = np.array([[(row // 3 + 3 * (row % 3) + c) % 9 + 1 for c in range(9)] for row in range(9)])
    grid[r.random((9, 9)) < 0.4] = 0
    return (grid,)


_program("sudoku", _puzzle, '''
def f(grid: i64[9, 9]):
    free = np.zeros(81, dtype=int)
    count = 0
    for c in range(81):
        if grid[c // 9, c % 9] == 0:
            free[count] = c
            count += 1
    i = 0
    tries = 0
    while 0 <= i < count:
        cell = free[i]
        y, x = cell // 9, cell % 9
        v = grid[y, x] + 1
        placed = False
        while v <= 9:
            tries += 1
            ok = True
            for j in range(9):
                if grid[y, j] == v or grid[j, x] == v:
                    ok = False
                    break
            if ok:
                by, bx = y // 3 * 3, x // 3 * 3
                for q in range(9):
                    if grid[by + q // 3, bx + q % 3] == v:
                        ok = False
                        break
            if ok:
                placed = True
                break
            v += 1
        if placed:
            grid[y, x] = v
            i += 1
        else:
            grid[y, x] = 0
            i -= 1
    return grid, tries
''', sizes=(1,), grow=())
_program("rle", lambda n, r: (_below(r, 3, n),), '''
def f(x: i64[n]):
    vals = np.zeros(n, dtype=int)
    runs = np.zeros(n, dtype=int)
    k = 0
    i = 0
    while i < n:
        j = i
        while j < n and x[j] == x[i]:
            j += 1
        vals[k], runs[k] = x[i], j - i
        k += 1
        i = j
    return vals[:k], runs[:k]
''')
_program("radix", lambda n, r: (r.integers(0, 10**6, n),), '''
def f(a: i64[n]):
    exp = 1
    biggest = 0
    for v in a:
        if v > biggest:
            biggest = v
    while biggest // exp > 0:
        count = [0] * 10
        out = np.zeros(n, dtype=int)
        for v in a:
            count[v // exp % 10] += 1
        for d in range(1, 10):
            count[d] += count[d - 1]
        for i in range(n - 1, -1, -1):
            d = a[i] // exp % 10
            count[d] -= 1
            out[count[d]] = a[i]
        a = out
        exp *= 10
    return a
''')
_program("merge_sort", lambda n, r: (r.integers(0, 99, n),), '''
def f(a: i64[n]):
    b = np.zeros(n, dtype=int)
    width = 1
    while width < n:
        for lo in range(0, n, 2 * width):
            mid, hi = min(lo + width, n), min(lo + 2 * width, n)
            i, j = lo, mid
            for k in range(lo, hi):
                if i < mid and (j >= hi or a[i] <= a[j]):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
        a, b = b, a
        width *= 2
    return a
''', most=3.2)
_program("tarjan", lambda n, r: (_below(r, n, 2*n).reshape(n, 2),), '''
def f(adj: i64[n, 2]):
    index = np.full(n, -1)
    low = np.zeros(n, dtype=int)
    on = np.zeros(n, dtype=bool)
    comp = np.full(n, -1)
    stack = np.zeros(n, dtype=int)
    sp = 0
    work_v = np.zeros(n, dtype=int)
    work_e = np.zeros(n, dtype=int)
    counter = comps = 0
    for root in range(n):
        if index[root] != -1:
            continue
        wp = 1
        work_v[0], work_e[0] = root, 0
        while wp > 0:
            v, e = work_v[wp - 1], work_e[wp - 1]
            if e == 0 and index[v] == -1:
                index[v] = low[v] = counter
                counter += 1
                stack[sp] = v
                sp += 1
                on[v] = True
            descended = False
            while e < 2:
                u = adj[v, e]
                e += 1
                if index[u] == -1:
                    work_e[wp - 1] = e
                    work_v[wp], work_e[wp] = u, 0
                    wp += 1
                    descended = True
                    break
                elif on[u]:
                    low[v] = min(low[v], index[u])
            if descended:
                continue
            wp -= 1
            if wp > 0:
                parent = work_v[wp - 1]
                low[parent] = min(low[parent], low[v])
            if low[v] == index[v]:
                while True:
                    sp -= 1
                    u = stack[sp]
                    on[u] = False
                    comp[u] = comps
                    if u == v:
                        break
                comps += 1
    return comp, comps
''')
_program("union_rank", lambda n, r: (_below(r, n, n), _below(r, n, n)), '''
def f(a: i64[n], b: i64[n]):
    parent = list(range(n))
    rank = [0] * n
    sets = n
    def find(parent: i64[k], x: i64):
        root = x
        while parent[root] != root:
            root = parent[root]
        while parent[x] != root:
            parent[x], x = root, parent[x]
        return parent, root
    for i in range(n):
        parent, x = find(parent, a[i])
        parent, y = find(parent, b[i])
        if x == y:
            continue
        if rank[x] < rank[y]:
            x, y = y, x
        parent[y] = x
        if rank[x] == rank[y]:
            rank[x] += 1
        sets -= 1
    return sets, parent
''')
_program("knight", lambda n, r: (np.zeros((n, n)), 0, 0), '''
def f(board: f64[n, n], y0: i64, x0: i64):
    dist = np.full((n, n), -1)
    if n == 0:
        return dist
    moves = [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)]
    qy = np.zeros(n * n, dtype=int)
    qx = np.zeros(n * n, dtype=int)
    head, tail = 0, 1
    qy[0], qx[0] = y0, x0
    dist[y0, x0] = 0
    while head < tail:
        y, x = qy[head], qx[head]
        head += 1
        for dy, dx in moves:
            yy, xx = y + dy, x + dx
            if yy < 0 or yy >= n or xx < 0 or xx >= n or dist[yy, xx] != -1:
                continue
            dist[yy, xx] = dist[y, x] + 1
            qy[tail], qx[tail] = yy, xx
            tail += 1
    return dist
''', grow=(4, 8, 16), most=4.8)


def _linear_program(n: int, r: Any) -> tuple[Any, ...]:
    m, k = n + 1, n + 1
    return r.random((m, k)) + 0.1, r.random(m) + 1.0, r.random(k)


_program("simplex", _linear_program, '''
def f(A: f64[m, k], b: f64[m], c: f64[k]):
    T = np.zeros((m + 1, k + m + 1))
    T[:m, :k] = A
    for i in range(m):
        T[i, k + i] = 1.0
    T[:m, -1] = b
    T[m, :k] = -c
    basis = np.arange(m) + k
    for it in range(50):
        col = -1
        low = -1e-9
        for j in range(k + m):
            if T[m, j] < low:
                low = T[m, j]
                col = j
        if col < 0:
            break
        row = -1
        best = np.inf
        for i in range(m):
            if T[i, col] > 1e-9:
                ratio = T[i, k + m] / T[i, col]
                if ratio < best:
                    best = ratio
                    row = i
        if row < 0:
            break
        piv = T[row, col]
        T[row] /= piv
        for i in range(m + 1):
            if i != row and T[i, col] != 0:
                T[i] -= T[i, col] * T[row]
        basis[row] = col
    return T[m, k + m], basis
''', sizes=(0, 1, 2, 5), grow=())
_program("gauss_jordan", lambda n, r: (r.normal(size=(n, n)),), '''
def f(A: f64[n, n]):
    M = np.zeros((n, 2 * n))
    M[:, :n] = A
    M[:, n:] = np.eye(n)
    for c in range(n):
        p = c
        for r in range(c + 1, n):
            if abs(M[r, c]) > abs(M[p, c]):
                p = r
        if p != c:
            M[[c, p]] = M[[p, c]]
        M[c] /= M[c, c]
        for r in range(n):
            if r != c:
                M[r] -= M[r, c] * M[c]
    return M[:, n:]
''', grow=(4, 8, 16), most=9)
_program("tokenize", lambda n, r: (np.frombuffer(bytes(r.choice(list(b"ab1 2+()"), n).tolist()), np.uint8),), '''
def f(s: u8[n]):
    kind = np.zeros(n, dtype=int)
    start = np.zeros(n, dtype=int)
    stop = np.zeros(n, dtype=int)
    k = 0
    i = 0
    while i < n:
        c = s[i]
        if c == ord(" "):
            i += 1
            continue
        start[k] = i
        if ord("a") <= c <= ord("z"):
            while i < n and (ord("a") <= s[i] <= ord("z") or ord("0") <= s[i] <= ord("9")):
                i += 1
            kind[k] = 1
        elif ord("0") <= c <= ord("9"):
            while i < n and ord("0") <= s[i] <= ord("9"):
                i += 1
            kind[k] = 2
        elif c in (ord("+"), ord("("), ord(")")):
            kind[k] = 3
            i += 1
        else:
            break
        stop[k] = i
        k += 1
    return kind[:k], start[:k], stop[:k]
''')
