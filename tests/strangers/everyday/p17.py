"""Thirty-six everyday programs as people write them who know NumPy and Numba and have read the tutorial: heaps, tries, graphs, dynamic programs, texts, codes, images, queues."""
import numpy as np, atoll as at
from counted import *
def rng(s): return np.random.default_rng(100 + s)

# 1
counted('heap with push and pop in helpers, as functions of the module', '''
def push(heap: i64[n], size: i64, v: i64):
    i = size
    heap[i] = v
    while i > 0:
        p = (i - 1) // 2
        if heap[p] <= heap[i]:
            break
        heap[p], heap[i] = heap[i], heap[p]
        i = p
    return heap, size + 1

def pop(heap: i64[n], size: i64):
    top = heap[0]
    size -= 1
    heap[0] = heap[size]
    i = 0
    while True:
        c = 2 * i + 1
        if c >= size:
            break
        if c + 1 < size and heap[c + 1] < heap[c]:
            c += 1
        if heap[i] <= heap[c]:
            break
        heap[i], heap[c] = heap[c], heap[i]
        i = c
    return top, heap, size

def f(x: i64[n]):
    heap = np.zeros(n, dtype=np.int64)
    size = 0
    for v in x:
        heap, size = push(heap, size, v)
    out = np.zeros(n, dtype=np.int64)
    k = 0
    while size > 0:
        top, heap, size = pop(heap, size)
        out[k] = top
        k += 1
    return out
''', lambda s: (rng(s).integers(0, 50, s),))

# 2
counted('union-find with path compression and rank, helper find gives root and parents', '''
def find(parent: i64[n], x: i64):
    root = x
    while parent[root] != root:
        root = parent[root]
    while parent[x] != root:
        nxt = parent[x]
        parent[x] = root
        x = nxt
    return root, parent

def f(us: i64[m], vs: i64[m], count: i64, parent: i64[n]):
    rank = np.zeros(n, dtype=np.int64)
    comps = n
    for e in range(m):
        a, parent = find(parent, us[e])
        b, parent = find(parent, vs[e])
        if a == b:
            continue
        if rank[a] < rank[b]:
            a, b = b, a
        parent[b] = a
        if rank[a] == rank[b]:
            rank[a] += 1
        comps -= 1
    size = np.zeros(n, dtype=np.int64)
    for i in range(n):
        r, parent = find(parent, i)
        size[r] += 1
    return comps, parent, size
''', lambda s: (rng(s).integers(0, max(s, 1), s), rng(s + 1).integers(0, max(s, 1), s), s, np.arange(s)))

# 3
counted('a trie in arrays', '''
def f(words: u8[n, m], query: u8[k]):
    nxt = np.full((n * m + 1, 26), -1, dtype=np.int64)
    ends = np.zeros(n * m + 1, dtype=np.int64)
    used = 1
    for w in range(n):
        node = 0
        for c in words[w]:
            if c < 97 or c > 122:
                break
            if nxt[node, c - 97] < 0:
                nxt[node, c - 97] = used
                used += 1
            node = nxt[node, c - 97]
        ends[node] += 1
    node = 0
    seen = 0
    for c in query:
        if c < 97 or c > 122:
            break
        node = nxt[node, c - 97]
        if node < 0:
            break
        seen += ends[node]
    else:
        seen += 1000
    return used, seen, nxt[:used].sum(), ends.max()
''', lambda s: (rng(s).integers(95, 101, (s, 5)).astype(np.uint8), rng(s).integers(97, 100, max(s, 1) % 5).astype(np.uint8)))

# 4
counted('DFS with explicit stack on a CSR graph: finishing order, and cycle detection', '''
def f(start: i64[n + 1], adj: i64[m]):
    colour = np.zeros(n, dtype=np.int8)
    stack = np.zeros(n + 1, dtype=np.int64)
    ptr = start[:n].copy()
    order = np.zeros(n, dtype=np.int64)
    done = 0
    cyclic = False
    for s in range(n):
        if colour[s] != 0:
            continue
        stack[0] = s
        top = 1
        colour[s] = 1
        while top > 0:
            u = stack[top - 1]
            if ptr[u] < start[u + 1]:
                v = adj[ptr[u]]
                ptr[u] += 1
                if colour[v] == 0:
                    colour[v] = 1
                    stack[top] = v
                    top += 1
                elif colour[v] == 1:
                    cyclic = True
            else:
                colour[u] = 2
                top -= 1
                order[done] = u
                done += 1
    return order[::-1], cyclic, colour
''', lambda s: (np.arange(s + 1) * (2 if s else 0), rng(s).integers(0, max(s, 1), 2 * s)))

# 5
counted('topological sort (Kahn), refusing cycles by returning early', '''
def f(us: i64[m], vs: i64[m], indeg: i64[n]):
    order = np.full(n, -1)
    head = 0
    tail = 0
    for v in vs:
        indeg[v] += 1
    for v in range(n):
        if indeg[v] == 0:
            order[tail] = v
            tail += 1
    while head < tail:
        u = order[head]
        head += 1
        for e in range(m):
            if us[e] == u:
                indeg[vs[e]] -= 1
                if indeg[vs[e]] == 0:
                    order[tail] = vs[e]
                    tail += 1
    if tail < n:
        return False, order
    return True, order
''', lambda s: (np.minimum(*[rng(s + t).integers(0, max(s, 1), s // 2) for t in (0, 1)]), np.maximum(*[rng(s + t).integers(0, max(s, 1), s // 2) for t in (0, 1)]) , np.zeros(s, np.int64)))

# 6
counted("Floyd's cycle finding", '''
def f(nxt: i64[n], x0: i64):
    if n == 0:
        return -1, -1
    slow, fast = nxt[x0], nxt[nxt[x0]]
    while slow != fast:
        slow = nxt[slow]
        fast = nxt[nxt[fast]]
    mu = 0
    slow = x0
    while slow != fast:
        slow, fast = nxt[slow], nxt[fast]
        mu += 1
    lam = 1
    fast = nxt[slow]
    while slow != fast:
        fast = nxt[fast]
        lam += 1
    return mu, lam
''', lambda s: (rng(s).integers(0, max(s, 1), s), 0))

# 7
counted('simulated annealing of a tour with two-opt moves', '''
def f(xy: f64[n, 2], rounds: i64, seed: i64):
    key = at.random.key(seed)
    tour = np.arange(n)
    temp = 1.0
    accepted = 0
    if n < 4:
        return tour, accepted
    for t in range(rounds):
        k1 = at.random.fold_in(key, t)
        ij = at.random.integers(k1, (2,), 0, n)
        i = min(ij[0], ij[1])
        j = max(ij[0], ij[1])
        if j - i < 2:
            continue
        a, b = tour[i], tour[i + 1]
        c, d = tour[j], tour[(j + 1) % n]
        old = math.hypot(xy[a, 0] - xy[b, 0], xy[a, 1] - xy[b, 1]) + math.hypot(xy[c, 0] - xy[d, 0], xy[c, 1] - xy[d, 1])
        new = math.hypot(xy[a, 0] - xy[c, 0], xy[a, 1] - xy[c, 1]) + math.hypot(xy[b, 0] - xy[d, 0], xy[b, 1] - xy[d, 1])
        u = at.random.uniform(at.random.fold_in(k1, 1))
        if new < old or u < math.exp((old - new) / temp):
            lo, hi = i + 1, j
            while lo < hi:
                tour[lo], tour[hi] = tour[hi], tour[lo]
                lo += 1
                hi -= 1
            accepted += 1
        temp *= 0.99
    return tour, accepted
''', lambda s: (rng(s).random((s, 2)), 2 * s, 3))

# 8
counted('knapsack with reconstruction', '''
def f(weight: i64[n], value: i64[n], cap: i64):
    best = np.zeros((n + 1, cap + 1), dtype=np.int64)
    for i in range(1, n + 1):
        for c in range(cap + 1):
            best[i, c] = best[i - 1, c]
            if weight[i - 1] <= c:
                take = best[i - 1, c - weight[i - 1]] + value[i - 1]
                if take > best[i, c]:
                    best[i, c] = take
    chosen = np.zeros(n, dtype=bool)
    c = cap
    for i in range(n, 0, -1):
        if best[i, c] != best[i - 1, c]:
            chosen[i - 1] = True
            c -= weight[i - 1]
    return best[n, cap], chosen, c
''', lambda s: (rng(s).integers(1, 9, s), rng(s + 1).integers(0, 30, s), 13))

# 9
counted('edit distance with backtrace to operations', '''
def f(a: u8[n], b: u8[m]):
    d = np.zeros((n + 1, m + 1), dtype=np.int32)
    d[:, 0] = np.arange(n + 1).astype(np.int32)
    d[0, :] = np.arange(m + 1, dtype=np.int32)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    ops = np.zeros(n + m, dtype=np.uint8)
    k = 0
    i, j = n, m
    while i > 0 or j > 0:
        if i > 0 and j > 0 and d[i, j] == d[i - 1, j - 1] + (a[i - 1] != b[j - 1]):
            ops[k] = 61 if a[i - 1] == b[j - 1] else 120
            i -= 1
            j -= 1
        elif i > 0 and d[i, j] == d[i - 1, j] + 1:
            ops[k] = 45
            i -= 1
        else:
            ops[k] = 43
            j -= 1
        k += 1
    return d[n, m], ops[:k][::-1]
''', lambda s: (rng(s).integers(97, 100, s).astype(np.uint8), rng(s + 1).integers(97, 100, s + 1).astype(np.uint8)))

# 10
counted('longest increasing subsequence with binary search and parents', '''
def f(x: f64[n]):
    tails = np.zeros(n, dtype=np.int64)
    parent = np.full(n, -1)
    size = 0
    for i in range(n):
        lo, hi = 0, size
        while lo < hi:
            mid = (lo + hi) // 2
            if x[tails[mid]] < x[i]:
                lo = mid + 1
            else:
                hi = mid
        if lo > 0:
            parent[i] = tails[lo - 1]
        tails[lo] = i
        if lo == size:
            size += 1
    out = np.zeros(size)
    k = tails[size - 1] if size > 0 else -1
    for t in range(size - 1, -1, -1):
        out[t] = x[k]
        k = parent[k]
    return out, size
''', lambda s: (rng(s).integers(0, 20, s).astype(float),))

# 11
counted('Kruskal with argsort', '''
def f(us: i64[m], vs: i64[m], w: f64[m], parent: i64[n]):
    order = np.argsort(w, kind="stable")
    total = 0.0
    picked = np.zeros(m, dtype=bool)
    left = n - 1
    for e in order:
        a, b = us[e], vs[e]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[max(a, b)] = min(a, b)
            total += w[e]
            picked[e] = True
            left -= 1
            if left == 0:
                break
    return total, picked, parent
''', lambda s: (rng(s).integers(0, max(s, 1), 2 * s), rng(s + 1).integers(0, max(s, 1), 2 * s), rng(s).random(2 * s), np.arange(s)))

# 12
counted('Bellman-Ford with early break and negative cycle test', '''
def f(us: i64[m], vs: i64[m], w: f64[m], dist: f64[n]):
    rounds = 0
    if n > 0:
        dist[0] = 0.0
    for r in range(n):
        changed = False
        for u, v, c in zip(us, vs, w):
            if dist[u] + c < dist[v]:
                dist[v] = dist[u] + c
                changed = True
        rounds += 1
        if not changed:
            break
    else:
        return dist, -1
    return dist, rounds
''', lambda s: (rng(s).integers(0, max(s, 1), 2 * s), rng(s + 1).integers(0, max(s, 1), 2 * s), rng(s).random(2 * s), np.full(s, np.inf)))

# 13
counted('matrix chain order with split table, and the cost', '''
def f(dims: i64[n + 1]):
    cost = np.zeros((n, n), dtype=np.int64)
    split = np.zeros((n, n), dtype=np.int64)
    for size in range(2, n + 1):
        for i in range(n - size + 1):
            j = i + size - 1
            best = np.iinfo(np.int64).max
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]
                if c < best:
                    best = c
                    split[i, j] = k
            cost[i, j] = best
    return cost, split
''', lambda s: (rng(s).integers(1, 30, s + 1),))

# 14
counted('life with wrap, a pattern counted', '''
def f(board: u8[n, m], steps: i64):
    history = np.zeros(steps + 1, dtype=np.int64)
    history[0] = int(board.sum())
    for t in range(steps):
        nb = np.zeros((n, m), dtype=np.uint8)
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dy == 0 and dx == 0:
                    continue
                nb += np.roll(np.roll(board, dy, axis=0), dx, axis=1)
        board = ((nb == 3) | ((board == 1) & (nb == 2))).astype(np.uint8)
        history[t + 1] = np.int64(board.sum())
        if history[t + 1] == 0:
            return board, history, t + 1
    return board, history, steps
''', lambda s: (rng(s).integers(0, 2, (s, s + 1)).astype(np.uint8), 4))

# 15
counted('percolation with union-find on a grid', '''
def root(p: i64[n], i: i64):
    while p[i] != i:
        i = p[i]
    return i

def f(order: i64[n], side: i64, p: i64[n + 2]):
    is_open = np.zeros(n, dtype=bool)
    for count, cell in enumerate(order):
        is_open[cell] = True
        y, x = divmod(cell, side)
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            yy, xx = y + dy, x + dx
            if yy < 0:
                a, b = root(p, cell), root(p, n)
            elif yy >= side:
                a, b = root(p, cell), root(p, n + 1)
            elif xx < 0 or xx >= side or not is_open[yy * side + xx]:
                continue
            else:
                a, b = root(p, cell), root(p, yy * side + xx)
            if a != b:
                p[a] = b
        if root(p, n) == root(p, n + 1):
            return count + 1
    return -1
''', lambda s: (rng(s).permutation(s * s), s, np.arange(s * s + 2)))

# 16
counted('run-length encoding and decoding', '''
def f(x: i64[n]):
    vals = np.empty(n, dtype=np.int64)
    lens = np.empty(n, dtype=np.int64)
    r = 0
    i = 0
    while i < n:
        j = i
        while j < n and x[j] == x[i]:
            j += 1
        vals[r] = x[i]
        lens[r] = j - i
        r += 1
        i = j
    back = np.zeros(n, dtype=np.int64)
    p = 0
    for k in range(r):
        for _ in range(lens[k]):
            back[p] = vals[k]
            p += 1
    return vals[:r], lens[:r], np.repeat(vals[:r], lens[:r]), back
''', lambda s: (rng(s).integers(0, 2, s),))

# 17
counted('tokenizer', '''
def f(text: u8[n]):
    kind = np.zeros(n, dtype=np.int8)
    start = np.zeros(n, dtype=np.int64)
    stop = np.zeros(n, dtype=np.int64)
    count = 0
    i = 0
    while i < n:
        c = text[i]
        if c == ord(" "):
            i += 1
            continue
        start[count] = i
        if ord("0") <= c <= ord("9"):
            kind[count] = 1
            while i < n and 48 <= text[i] <= 57:
                i += 1
        elif 97 <= c <= 122 or c == ord("_"):
            kind[count] = 2
            while i < n and (97 <= text[i] <= 122 or text[i] == ord("_")):
                i += 1
        else:
            kind[count] = 3
            i += 1
        stop[count] = i
        count += 1
    return kind[:count], start[:count], stop[:count], (stop - start)[:count].max(initial=0)
''', lambda s: (np.frombuffer((b"let x_1 = 42*(y+ 7) ; " * 8)[:s], np.uint8),))

# 18
counted('numbers of a CSV line', '''
def f(text: u8[n]):
    out = np.zeros(n + 1)
    fields = 0
    sign = 1.0
    value = 0.0
    scale = 0.0
    for c in text:
        if c == 44 or c == 10:
            out[fields] = sign * value
            fields += 1
            sign, value, scale = 1.0, 0.0, 0.0
        elif c == 45:
            sign = -1.0
        elif c == 46:
            scale = 1.0
        elif c >= 48 and c <= 57:
            digit = c - 48
            if scale > 0.0:
                scale /= 10.0
                value += scale * digit
            else:
                value = value * 10.0 + digit
        else:
            return out, -1
    if n > 0:
        out[fields] = sign * value
        fields += 1
    return out, fields
''', lambda s: (np.frombuffer((b"12.5,-3,0.25\n7,8.125,x9,1,2,3,4,5,6,7,8,9" * 4)[:s], np.uint8),))

# 19
counted('moving median with insertion in a sorted window', '''
def f(x: f64[n], width: i64):
    win = np.zeros(width)
    out = np.full(n, np.nan)
    size = 0
    for i in range(n):
        if size == width:
            old = x[i - width]
            p = 0
            while win[p] != old:
                p += 1
            for q in range(p, size - 1):
                win[q] = win[q + 1]
            size -= 1
        p = size
        while p > 0 and win[p - 1] > x[i]:
            win[p] = win[p - 1]
            p -= 1
        win[p] = x[i]
        size += 1
        if size == width:
            out[i] = win[width // 2] if width % 2 == 1 else (win[width // 2 - 1] + win[width // 2]) / 2
    return out
''', lambda s: (rng(s).random(s).round(1), 3))

# 20
counted('reservoir sampling', '''
def f(x: f64[n], key: u64):
    k2 = 4
    res = np.zeros(k2)
    for i in range(n):
        if i < k2:
            res[i] = x[i]
        else:
            j = at.random.integers(at.random.fold_in(key, i), (), 0, i + 1)
            if j < k2:
                res[j] = x[i]
    return np.sort(res), res[:min(n, k2)].mean() if n > 0 else 0.0
''', lambda s: (rng(s).random(s), at.random.key(5)))

# 21
counted('convex hull (monotone chain)', '''
def cross(o: f64[2], a: f64[2], b: f64[2]):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

def f(pts: f64[n, 2]):
    order = np.lexsort((pts[:, 1], pts[:, 0]))
    hull = np.zeros((2 * n + 1, 2))
    k = 0
    for i in order:
        while k >= 2 and cross(hull[k - 2], hull[k - 1], pts[i]) <= 0:
            k -= 1
        hull[k] = pts[i]
        k += 1
    low = k + 1
    for t in range(n - 2, -1, -1):
        i = order[t]
        while k >= low and cross(hull[k - 2], hull[k - 1], pts[i]) <= 0:
            k -= 1
        hull[k] = pts[i]
        k += 1
    area = 0.0
    for i in range(k - 1):
        area += hull[i, 0] * hull[i + 1, 1] - hull[i + 1, 0] * hull[i, 1]
    return hull[:k], abs(area) / 2
''', lambda s: (rng(s).random((s, 2)),))

# 22
counted('polygon clipping against half planes (Sutherland-Hodgman)', '''
def f(poly: f64[n, 2], planes: f64[m, 3]):
    cap = 2 * n + m + 1
    cur = np.zeros((cap, 2))
    cur[:n] = poly
    size = n
    for a, b, c in planes:
        nxt = np.zeros((cap, 2))
        k = 0
        for i in range(size):
            p = cur[i]
            q = cur[(i + 1) % size]
            dp = a * p[0] + b * p[1] + c
            dq = a * q[0] + b * q[1] + c
            if dp >= 0:
                nxt[k] = p
                k += 1
            if dp * dq < 0:
                t = dp / (dp - dq)
                nxt[k] = p + t * (q - p)
                k += 1
        cur = nxt
        size = k
        if size == 0:
            break
    return cur[:size], size
''', lambda s: (np.stack([np.cos(np.arange(s) * 2 * np.pi / max(s, 1)), np.sin(np.arange(s) * 2 * np.pi / max(s, 1))], axis=1), np.array([[1.0, 0.0, 0.3], [0.0, 1.0, 0.1], [-1.0, -1.0, 0.9]])))

# 23
counted('sweep line: the most intervals that overlap, and where', '''
def f(lo: f64[n], hi: f64[n]):
    times = np.concatenate([lo, hi])
    delta = np.concatenate([np.ones(n, dtype=np.int64), -np.ones(n, dtype=np.int64)])
    order = np.lexsort((delta, times))
    active = 0
    best = 0
    where = -np.inf
    busy = 0.0
    last = 0.0
    for e in order:
        if active > 0:
            busy += times[e] - last
        last = times[e]
        active += delta[e]
        if active > best:
            best = active
            where = times[e]
    return best, where, busy
''', lambda s: (rng(s).random(s), rng(s).random(s) + 0.3))

# 24
counted('sudoku with backtracking over cells, bit masks', '''
def f(grid: i64[4, 4]):
    row = np.zeros(4, dtype=np.int64)
    col = np.zeros(4, dtype=np.int64)
    box = np.zeros((2, 2), dtype=np.int64)
    fixed = grid > 0
    for y in range(4):
        for x in range(4):
            if fixed[y, x]:
                bit = 1 << grid[y, x]
                row[y] |= bit
                col[x] |= bit
                box[y // 2, x // 2] |= bit
    pos = 0
    steps = 0
    forward = True
    while 0 <= pos < 16:
        y, x = pos // 4, pos % 4
        steps += 1
        if fixed[y, x]:
            pos += 1 if forward else -1
            continue
        v = grid[y, x]
        if v > 0:
            row[y] ^= 1 << v
            col[x] ^= 1 << v
            box[y // 2, x // 2] ^= 1 << v
        v += 1
        while v <= 4 and (row[y] | col[x] | box[y // 2, x // 2]) >> v & 1:
            v += 1
        if v <= 4:
            grid[y, x] = v
            row[y] |= 1 << v
            col[x] |= 1 << v
            box[y // 2, x // 2] |= 1 << v
            forward = True
            pos += 1
        else:
            grid[y, x] = 0
            forward = False
            pos -= 1
    return grid, steps, pos == 16
''', lambda s: (np.array([[0, 0, 3, 0], [0, 0, 0, s % 3], [1, 0, 0, 0], [0, 4, 0, 0]]),))

# 25
counted('bit tricks: popcount, reverse, gray, next permutation of bits, parity', '''
def popcount(v: u64):
    c = 0
    while v != 0:
        v &= v - 1
        c += 1
    return c

def f(x: u64[n]):
    out = np.zeros((n, 4), dtype=np.uint64)
    for i, v in enumerate(x):
        r = np.uint64(0)
        w = v
        for _ in range(64):
            r = (r << np.uint64(1)) | (w & np.uint64(1))
            w >>= np.uint64(1)
        out[i, 0] = r
        out[i, 1] = v ^ (v >> np.uint64(1))
        out[i, 2] = np.uint64(popcount(v))
        out[i, 3] = v & (~v + np.uint64(1))
    return out, out[:, 2].sum()
''', lambda s: (rng(s).integers(0, 2**63, s).astype(np.uint64),))

# 26
counted('CRC-32 with a table', '''
def table():
    t = np.zeros(256, dtype=np.uint32)
    for i in range(256):
        c = np.uint32(i)
        for _ in range(8):
            if c & 1:
                c = np.uint32(0xEDB88320) ^ (c >> 1)
            else:
                c >>= 1
        t[i] = c
    return t

def f(data: u8[n]):
    t = table()
    crc = np.uint32(0xFFFFFFFF)
    for b in data:
        crc = t[(crc ^ b) & 0xFF] ^ (crc >> 8)
    return crc ^ np.uint32(0xFFFFFFFF)
''', lambda s: (rng(s).integers(0, 256, s).astype(np.uint8),))

# 27
counted('base64', '''
def f(data: u8[n]):
    alphabet = np.zeros(64, dtype=np.uint8)
    for i in range(26):
        alphabet[i] = np.uint8(65 + i)
        alphabet[26 + i] = np.uint8(97 + i)
    for i in range(10):
        alphabet[52 + i] = np.uint8(48 + i)
    alphabet[62], alphabet[63] = 43, 47
    out = np.full((n + 2) // 3 * 4, 61, dtype=np.uint8)
    k = 0
    for i in range(0, n, 3):
        chunk = 0
        for j in range(3):
            chunk <<= 8
            if i + j < n:
                chunk |= int(data[i + j])
        for j in range(4):
            if i * 4 // 3 + j <= (n * 4 + 2) // 3 - 1:
                out[k] = alphabet[(chunk >> (18 - 6 * j)) & 63]
            k += 1
    return out
''', lambda s: (rng(s).integers(0, 256, s).astype(np.uint8),))

# 28
counted('LZ77: longest match in a window', '''
def f(data: u8[n], window: i64):
    off = np.zeros(n, dtype=np.int64)
    length = np.zeros(n, dtype=np.int64)
    lit = np.zeros(n, dtype=np.uint8)
    k = 0
    i = 0
    while i < n:
        best, where = 0, 0
        for j in range(max(0, i - window), i):
            l = 0
            while i + l < n - 1 and data[j + l] == data[i + l]:
                l += 1
            if l > best:
                best, where = l, i - j
        off[k], length[k], lit[k] = where, best, data[i + best]
        i += best + 1
        k += 1
    back = np.zeros(n, dtype=np.uint8)
    p = 0
    for t in range(k):
        for _ in range(length[t]):
            back[p] = back[p - off[t]]
            p += 1
        back[p] = lit[t]
        p += 1
    return off[:k], length[:k], lit[:k], bool(np.all(back == data))
''', lambda s: (rng(s).integers(0, 2, s).astype(np.uint8), 6))

# 29
counted('Huffman code lengths with two queues', '''
def f(freq: i64[n]):
    total = 2 * n
    weight = np.zeros(total, dtype=np.int64)
    parent = np.full(total, -1)
    order = np.argsort(freq, kind="stable")
    for i in range(n):
        weight[i] = freq[order[i]]
    leaf, inner, made = 0, n, n
    while made < 2 * n - 1:
        pick = np.zeros(2, dtype=np.int64)
        for t in range(2):
            if leaf < n and (inner >= made or weight[leaf] <= weight[inner]):
                pick[t] = leaf
                leaf += 1
            else:
                pick[t] = inner
                inner += 1
        weight[made] = weight[pick[0]] + weight[pick[1]]
        parent[pick] = made
        made += 1
    lengths = np.zeros(n, dtype=np.int64)
    for i in range(n):
        p = parent[i]
        while p >= 0:
            lengths[order[i]] += 1
            p = parent[p]
    return lengths, (lengths * freq).sum()
''', lambda s: (rng(s).integers(1, 100, s),))

# 30
counted('k-d tree in arrays: insert points, nearest neighbour with a stack', '''
def f(pts: f64[n, 2], qs: f64[m, 2]):
    left = np.full(n, -1)
    right = np.full(n, -1)
    depth = np.zeros(n, dtype=np.int64)
    for i in range(1, n):
        cur = 0
        while True:
            axis = depth[cur] % 2
            if pts[i, axis] < pts[cur, axis]:
                if left[cur] < 0:
                    left[cur] = i
                    break
                cur = left[cur]
            else:
                if right[cur] < 0:
                    right[cur] = i
                    break
                cur = right[cur]
        depth[i] = depth[cur] + 1
    near = np.full(m, -1)
    for k in range(m):
        if n == 0:
            break
        stack = np.zeros(n + 1, dtype=np.int64)
        top = 1
        best = np.inf
        while top > 0:
            top -= 1
            cur = stack[top]
            if cur < 0:
                continue
            d = ((pts[cur] - qs[k]) ** 2).sum()
            if d < best:
                best = d
                near[k] = cur
            axis = depth[cur] % 2
            gap = qs[k, axis] - pts[cur, axis]
            first, second = (left[cur], right[cur]) if gap < 0 else (right[cur], left[cur])
            if second >= 0 and gap * gap < best:
                stack[top] = second
                top += 1
            if first >= 0:
                stack[top] = first
                top += 1
    return near, left, right
''', lambda s: (rng(s).random((s, 2)), rng(s + 7).random((4, 2))))

# 31
counted('flood fill with a queue', '''
def f(img: i64[n, m], sy: i64, sx: i64, colour: i64):
    if n == 0 or m == 0:
        return img, 0
    old = img[sy, sx]
    if old == colour:
        return img, 0
    qy = np.zeros(n * m, dtype=np.int64)
    qx = np.zeros(n * m, dtype=np.int64)
    qy[0], qx[0] = sy, sx
    img[sy, sx] = colour
    head, tail = 0, 1
    while head < tail:
        y, x = qy[head], qx[head]
        head += 1
        for dy, dx in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
            yy, xx = y + dy, x + dx
            if 0 <= yy < n and 0 <= xx < m and img[yy, xx] == old:
                img[yy, xx] = colour
                qy[tail] = yy
                qx[tail] = xx
                tail += 1
    return img, tail
''', lambda s: (rng(s).integers(0, 2, (s, s + 1)), 0, 0, 7))

# 32
counted('chamfer distance transform, two passes', '''
def f(mask: bool_[n, m]):
    big = n + m + 1
    d = np.where(mask, 0, big)
    for y in range(n):
        for x in range(m):
            if y > 0:
                d[y, x] = min(d[y, x], d[y - 1, x] + 1)
            if x > 0:
                d[y, x] = min(d[y, x], d[y, x - 1] + 1)
    for y in range(n - 1, -1, -1):
        for x in reversed(range(m)):
            if y + 1 < n:
                d[y, x] = min(d[y, x], d[y + 1, x] + 1)
            if x + 1 < m:
                d[y, x] = min(d[y, x], d[y, x + 1] + 1)
    return d
''', lambda s: (rng(s).random((s, s + 1)) < 0.1,))

# 33
counted('seam carving: remove k seams from a growing smaller image', '''
def f(img: f64[n, m], seams: i64):
    width = m
    work = img.copy()
    removed = np.zeros((seams, n), dtype=np.int64)
    for s in range(seams):
        if width < 2 or n == 0:
            break
        cost = np.zeros((n, m))
        for x in range(width):
            cost[0, x] = work[0, x]
        for y in range(1, n):
            for x in range(width):
                lo = max(x - 1, 0)
                hi = min(x + 1, width - 1)
                best = cost[y - 1, lo]
                for t in range(lo + 1, hi + 1):
                    best = min(best, cost[y - 1, t])
                cost[y, x] = work[y, x] + best
        at_ = 0
        for x in range(1, width):
            if cost[n - 1, x] < cost[n - 1, at_]:
                at_ = x
        for y in range(n - 1, -1, -1):
            if y < n - 1:
                lo = max(at_ - 1, 0)
                hi = min(at_ + 1, width - 1)
                pick = lo
                for t in range(lo, hi + 1):
                    if cost[y, t] < cost[y, pick]:
                        pick = t
                at_ = pick
            removed[s, y] = at_
            for x in range(at_, width - 1):
                work[y, x] = work[y, x + 1]
        width -= 1
    return work[:, :width], removed, width
''', lambda s: (rng(s).random((s, s + 1)), 2))

# 34
counted('an order book', '''
def f(side: i64[n], price: i64[n], qty: i64[n]):
    levels = 32
    bid = np.zeros(levels, dtype=np.int64)
    ask = np.zeros(levels, dtype=np.int64)
    traded = np.zeros(n, dtype=np.int64)
    best_bid, best_ask = -1, levels
    turnover = 0
    for t in range(n):
        left = qty[t]
        p = price[t]
        if side[t] == 0:
            while left > 0 and best_ask <= p:
                hit = min(left, ask[best_ask])
                ask[best_ask] -= hit
                left -= hit
                turnover += hit * best_ask
                while best_ask < levels and ask[best_ask] == 0:
                    best_ask += 1
            if left > 0:
                bid[p] += left
                best_bid = max(best_bid, p)
        else:
            while left > 0 and best_bid >= p:
                hit = min(left, bid[best_bid])
                bid[best_bid] -= hit
                left -= hit
                turnover += hit * best_bid
                while best_bid >= 0 and bid[best_bid] == 0:
                    best_bid -= 1
            if left > 0:
                ask[p] += left
                best_ask = min(best_ask, p)
        traded[t] = qty[t] - left
    return traded, turnover, best_bid, best_ask, bid, ask
''', lambda s: (rng(s).integers(0, 2, s), rng(s + 1).integers(8, 24, s), rng(s + 2).integers(1, 9, s)))

# 35
counted('event simulation: heap of (time, kind) as two arrays, helper moves both', '''
def f(gaps: f64[n], work: f64[n], servers: i64):
    def less(t: f64[k], kind: i64[k], i: i64, j: i64):
        return t[i] < t[j] or (t[i] == t[j] and kind[i] < kind[j])

    def push(t: f64[k], kind: i64[k], size: i64, when: f64, what: i64):
        i = size
        t[i], kind[i] = when, what
        while i > 0 and less(t, kind, i, (i - 1) // 2):
            p = (i - 1) // 2
            t[i], t[p] = t[p], t[i]
            kind[i], kind[p] = kind[p], kind[i]
            i = p
        return t, kind, size + 1

    def pop(t: f64[k], kind: i64[k], size: i64):
        size -= 1
        t[0], kind[0] = t[size], kind[size]
        i = 0
        while 2 * i + 1 < size:
            c = 2 * i + 1
            if c + 1 < size and less(t, kind, c + 1, c):
                c += 1
            if not less(t, kind, c, i):
                break
            t[i], t[c] = t[c], t[i]
            kind[i], kind[c] = kind[c], kind[i]
            i = c
        return t, kind, size

    t = np.zeros(2 * n + 2)
    kind = np.zeros(2 * n + 2, dtype=np.int64)
    size = 0
    now = 0.0
    for i in range(n):
        now += gaps[i]
        t, kind, size = push(t, kind, size, now, i)
    waiting = np.zeros(n, dtype=np.int64)
    head = tail = 0
    free = servers
    finish = np.zeros(n)
    while size > 0:
        when, what = t[0], kind[0]
        t, kind, size = pop(t, kind, size)
        if what < n:
            waiting[tail] = what
            tail += 1
        else:
            free += 1
            finish[what - n] = when
        while free > 0 and head < tail:
            who = waiting[head]
            head += 1
            free -= 1
            t, kind, size = push(t, kind, size, when + work[who], n + who)
    return finish, tail
''', lambda s: (rng(s).random(s), rng(s + 1).random(s) * 2, 2))

# 36
counted('sorted merge of two tables with two keys', '''
def f(a1: i64[n], a2: f64[n], b1: i64[m], b2: f64[m]):
    out1 = np.zeros(n + m, dtype=np.int64)
    out2 = np.zeros(n + m)
    src = np.zeros(n + m, dtype=bool)
    i, j = 0, 0
    for k in range(n + m):
        if j >= m or (i < n and (a1[i], a2[i]) <= (b1[j], b2[j])):
            out1[k], out2[k] = a1[i], a2[i]
            i += 1
        else:
            out1[k], out2[k], src[k] = b1[j], b2[j], True
            j += 1
    return out1, out2, src
''', lambda s: (np.sort(rng(s).integers(0, 5, s)), np.zeros(s), np.sort(rng(s + 1).integers(0, 5, s + 1)), np.zeros(s + 1)))
done()
