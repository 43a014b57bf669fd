"""Twenty more programs: images, fluids, a transformer, Bayes and finance, graphs, texts, simulation, games; each text is run by Python with NumPy and by Atoll. Then twenty wrong ones."""
import math, re
import numpy as np, atoll as at
from in_both import *
r = np.random.default_rng(16)

text = lambda s: np.array([ord(c) for c in s])

# 1 an image pipeline: grey, Sobel, non-maximum suppression, threshold
both('''def f(img: f64[n, m, 3], low: f64):
    grey = img @ np.array([0.299, 0.587, 0.114])
    gx = np.zeros((n, m))
    gy = np.zeros((n, m))
    for y in range(1, n - 1):
        for x in range(1, m - 1):
            gx[y, x] = grey[y - 1, x + 1] + 2 * grey[y, x + 1] + grey[y + 1, x + 1] - grey[y - 1, x - 1] - 2 * grey[y, x - 1] - grey[y + 1, x - 1]
            gy[y, x] = grey[y + 1, x - 1] + 2 * grey[y + 1, x] + grey[y + 1, x + 1] - grey[y - 1, x - 1] - 2 * grey[y - 1, x] - grey[y - 1, x + 1]
    mag = np.hypot(gx, gy)
    out = np.zeros((n, m), dtype=np.uint8)
    for y in range(1, n - 1):
        for x in range(1, m - 1):
            if mag[y, x] < low:
                continue
            if abs(gx[y, x]) > abs(gy[y, x]):
                a, b = mag[y, x - 1], mag[y, x + 1]
            else:
                a, b = mag[y - 1, x], mag[y + 1, x]
            if mag[y, x] >= a and mag[y, x] >= b:
                out[y, x] = 255
    return out, mag
''', (r.random((8, 9, 3)), 0.5), (r.random((3, 3, 3)), 0.1))

# 2 two buffers of heat that change places where it is not settled
both('''def f(u: f64[n, m], steps: i64, tol: f64):
    v = u.copy()
    done = 0
    for t in range(steps):
        worst = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                worst = max(worst, abs(v[i, j] - u[i, j]))
        done = t + 1
        if worst < tol:
            break
        u, v = v, u
    return u, v, done
''', (r.random((6, 5)), 7, 1e-9), (r.random((6, 5)), 80, 1e-2), (r.random((4, 4)), 0, 1.0))

# 3 a lattice Boltzmann step of three velocities in one dimension
both('''def f(pop: f64[3, n], omega: f64, steps: i64):
    w = np.array([2 / 3, 1 / 6, 1 / 6])
    c = np.array([0.0, 1.0, -1.0])
    for t in range(steps):
        rho = pop.sum(axis=0)
        mom = pop[1] - pop[2]
        v = mom / rho
        eq = w[:, None] * rho * (1 + 3 * c[:, None] * v + 4.5 * (c[:, None] * v) ** 2 - 1.5 * v ** 2)
        pop = pop + omega * (eq - pop)
        pop = np.stack([pop[0], np.roll(pop[1], 1), np.roll(pop[2], -1)])
    return pop, pop.sum()
''', (r.random((3, 9)) + 0.5, 1.1, 5))

# 4 a transformer block: heads, causal mask, layer norm
both('''def f(x: f64[n, m], wq: f64[m, m], wk: f64[m, m], wv: f64[m, m], w1: f64[m, k], w2: f64[k, m]):
    mu = x.mean(axis=1, keepdims=True)
    h = (x - mu) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    q, kk, v = h @ wq, h @ wk, h @ wv
    s = q @ kk.T / math.sqrt(m)
    s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    s = np.exp(s - s.max(axis=1, keepdims=True))
    x = x + s / s.sum(axis=1, keepdims=True) @ v
    z = x @ w1
    return np.sum((x + 0.5 * z * (1 + np.tanh(0.79788456 * (z + 0.044715 * z ** 3))) @ w2) ** 2)
''', (r.normal(size=(4, 3)), r.normal(size=(3, 3)), r.normal(size=(3, 3)), r.normal(size=(3, 3)), r.normal(size=(3, 5)), r.normal(size=(5, 3))), grad=1)

# 5 Bayes: Gibbs conditionals of a normal with given noise, forward algorithm of a hidden Markov model in logs
both('''def f(obs: i64[n], trans: f64[m, m], emit: f64[m, k], start: f64[m]):
    a = np.log(start) + np.log(emit[:, obs[0]])
    for t in range(1, n):
        b = a[:, None] + np.log(trans)
        top = b.max(axis=0)
        a = top + np.log(np.exp(b - top).sum(axis=0)) + np.log(emit[:, obs[t]])
    top = a.max()
    return top + math.log(np.exp(a - top).sum())
''', (np.array([0, 2, 1, 1]), np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([[0.5, 0.2, 0.3], [0.1, 0.6, 0.3]]), np.array([0.6, 0.4])), grad=1)

# 6 finance: an American put on a tree, drawdown, returns
both('''def f(s0: f64, strike: f64, rate: f64, sigma: f64, steps: i64, prices: f64[n]):
    dt = 1.0 / steps
    up = math.exp(sigma * math.sqrt(dt))
    down = 1 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    v = np.maximum(strike - s0 * up ** np.arange(-steps, steps + 1, 2), 0.0)
    for t in range(steps):
        left = steps - t
        for j in range(left):
            now = s0 * up ** (2 * j - left + 1)
            hold = math.exp(-rate * dt) * (p * v[j + 1] + (1 - p) * v[j])
            v[j] = max(hold, strike - now)
    peak = np.maximum.accumulate(prices)
    return v[0], ((peak - prices) / peak).max(), np.diff(np.log(prices)).std(ddof=1) * math.sqrt(252)
''', (100.0, 105.0, 0.03, 0.25, 12, np.array([10.0, 11.0, 9.0, 12.0, 8.0, 13.0])))

# 7 graphs: Floyd and Warshall with paths, Bellman and Ford, bipartite colours
both('''def f(w: f64[n, n], src: i64):
    d = w.copy()
    nxt = np.full((n, n), -1)
    for i in range(n):
        for j in range(n):
            if w[i, j] < np.inf:
                nxt[i, j] = j
    for k2 in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k2] + d[k2, j] < d[i, j]:
                    d[i, j] = d[i, k2] + d[k2, j]
                    nxt[i, j] = nxt[i, k2]
    hops = np.zeros(n, dtype=np.int64)
    for j in range(n):
        at_ = src
        while at_ != j and nxt[at_, j] >= 0:
            at_ = nxt[at_, j]
            hops[j] += 1
    return d, nxt, hops
''', (np.array([[0, 3, np.inf, 7], [8, 0, 2, np.inf], [5, np.inf, 0, 1], [2, np.inf, np.inf, 0]]), 0))
both('''def f(us: i64[m], vs: i64[m], count: i64):
    deg = np.zeros(count, dtype=np.int64)
    for e in range(m):
        deg[us[e]] += 1
        deg[vs[e]] += 1
    start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(deg)))
    fill = start[:-1].copy()
    adj = np.zeros(2 * m, dtype=np.int64)
    for e in range(m):
        u, v = us[e], vs[e]
        adj[fill[u]] = v
        fill[u] += 1
        adj[fill[v]] = u
        fill[v] += 1
    colour = np.full(count, -1)
    queue = np.zeros(count, dtype=np.int64)
    ok = True
    for s in range(count):
        if colour[s] >= 0:
            continue
        colour[s] = 0
        queue[0] = s
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            for p in range(start[u], start[u + 1]):
                v = adj[p]
                if colour[v] < 0:
                    colour[v] = 1 - colour[u]
                    queue[tail] = v
                    tail += 1
                elif colour[v] == colour[u]:
                    ok = False
    return colour, ok
''', (np.array([0, 1, 2, 3, 4]), np.array([1, 2, 3, 0, 5]), 7), (np.array([0, 1, 2]), np.array([1, 2, 0]), 3))

# 8 texts: run lengths, edit distance by two rows that change places, Z function, words
both('''def f(a: i64[n], b: i64[m]):
    prev = np.arange(m + 1)
    cur = np.zeros(m + 1, dtype=np.int64)
    for i in range(1, n + 1):
        cur[0] = i
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            cur[j] = min(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + cost)
        prev, cur = cur, prev
    return prev[m]
''', (text("kitten"), text("sitting")), (text("a"), text("b")), (text("abc"), text("abc")))
both('''def f(s: i64[n]):
    z = np.zeros(n, dtype=np.int64)
    lo, hi = 0, 0
    for i in range(1, n):
        if i < hi:
            z[i] = min(hi - i, z[i - lo])
        while i + z[i] < n and s[z[i]] == s[i + z[i]]:
            z[i] += 1
        if i + z[i] > hi:
            lo, hi = i, i + z[i]
    words, inside, longest, here = 0, False, 0, 0
    for c in s:
        if c == 32:
            inside = False
            here = 0
        else:
            if not inside:
                words += 1
            inside = True
            here += 1
            longest = max(longest, here)
    return z, words, longest
''', (text("abacaba abac"),), (text("x"),), (text("aa aaa  a"),))

# 9 simulation: a bank queue, a cellular automaton with two boards that change places, predators
both('''def f(arrive: f64[n], serve: f64[n], tellers: i64):
    free = np.zeros(tellers)
    wait = np.zeros(n)
    t = 0.0
    for i in range(n):
        t += arrive[i]
        who = np.argmin(free)
        begin = max(t, free[who])
        wait[i] = begin - t
        free[who] = begin + serve[i]
    return wait.mean(), wait.max(), free.max(), np.sort(free)
''', (r.random(9), r.random(9) * 2, 2))
both('''def f(board: i64[n, m], steps: i64):
    other = np.zeros((n, m), dtype=np.int64)
    t = 0
    while t < steps:
        alive = 0
        for y in range(n):
            for x in range(m):
                c = 0
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        if dy != 0 or dx != 0:
                            c += board[(y + dy) % n, (x + dx) % m]
                other[y, x] = 1 if c == 3 or (c == 2 and board[y, x] == 1) else 0
                alive += other[y, x]
        board, other = other, board
        t += 1
        if alive == 0:
            break
    return board, t
''', (r.integers(0, 2, (6, 7)), 4), (np.zeros((3, 3), dtype=np.int64), 4))

# 10 games: a maze by depth first, tic-tac-toe's winner, a sandpile, minimax on a table of sums
both('''def f(pile: i64[n, m]):
    topples = 0
    again = True
    while again:
        again = False
        for y in range(n):
            for x in range(m):
                if pile[y, x] >= 4:
                    pile[y, x] -= 4
                    topples += 1
                    again = True
                    if y > 0:
                        pile[y - 1, x] += 1
                    if y < n - 1:
                        pile[y + 1, x] += 1
                    if x > 0:
                        pile[y, x - 1] += 1
                    if x < m - 1:
                        pile[y, x + 1] += 1
    return pile, topples
''', (r.integers(0, 9, (4, 5)),), (np.zeros((2, 2), dtype=np.int64),))
both('''def f(b: i64[3, 3]):
    for who in (1, 2):
        for i in range(3):
            if np.all(b[i] == who) or np.all(b[:, i] == who):
                return who
        if b[0, 0] == b[1, 1] == b[2, 2] == who or b[0, 2] == b[1, 1] == b[2, 0] == who:
            return who
    return 0
''', (np.array([[1, 2, 2], [2, 1, 1], [2, 2, 1]]),), (np.array([[1, 2, 2], [1, 2, 1], [2, 2, 1]]),), (np.array([[1, 2, 1], [1, 2, 1], [2, 1, 2]]),))
both('''def f(coins: i64[n]):
    best = np.zeros((n, n), dtype=np.int64)
    for size in range(1, n + 1):
        for i in range(n - size + 1):
            j = i + size - 1
            if size == 1:
                best[i, j] = coins[i]
            else:
                take_left = coins[i] - best[i + 1, j]
                take_right = coins[j] - best[i, j - 1]
                best[i, j] = max(take_left, take_right)
    return best[0, n - 1], (coins.sum() + best[0, n - 1]) // 2
''', (np.array([4, 1, 9, 2, 8, 3]),), (np.array([5]),))

# 11 statistics: bootstrap by given places, a kernel density, ranks with ties, an isotonic regression
both('''def f(x: f64[n], places: i64[m, n], at_: f64[k], width: f64):
    means = x[places].mean(axis=1)
    lo, hi = np.percentile(means, [5, 95])
    dens = np.exp(-0.5 * ((at_[:, None] - x) / width) ** 2).sum(axis=1) / (n * width * math.sqrt(2 * math.pi))
    order = np.argsort(x, kind="stable")
    rank = np.zeros(n)
    i = 0
    while i < n:
        j = i
        while j + 1 < n and x[order[j + 1]] == x[order[i]]:
            j += 1
        for p in range(i, j + 1):
            rank[order[p]] = (i + j) / 2 + 1
        i = j + 1
    return lo, hi, dens, rank
''', (np.array([1.0, 3.0, 2.0, 3.0, 5.0]), r.integers(0, 5, (7, 5)), np.linspace(0, 6, 4), 0.7))

# 12 numerics: Romberg, a natural spline by Thomas, Newton in two dimensions, secant
both('''def f(xs: f64[n], ys: f64[n], q: f64):
    h = np.diff(xs)
    a = np.zeros(n)
    for i in range(1, n - 1):
        a[i] = 3 * ((ys[i + 1] - ys[i]) / h[i] - (ys[i] - ys[i - 1]) / h[i - 1])
    l, mu, z = np.ones(n), np.zeros(n), np.zeros(n)
    for i in range(1, n - 1):
        l[i] = 2 * (xs[i + 1] - xs[i - 1]) - h[i - 1] * mu[i - 1]
        mu[i] = h[i] / l[i]
        z[i] = (a[i] - h[i - 1] * z[i - 1]) / l[i]
    c = np.zeros(n)
    for j in range(n - 2, -1, -1):
        c[j] = z[j] - mu[j] * c[j + 1]
    i = min(max(np.searchsorted(xs, q) - 1, 0), n - 2)
    b = (ys[i + 1] - ys[i]) / h[i] - h[i] * (c[i + 1] + 2 * c[i]) / 3
    d = (c[i + 1] - c[i]) / (3 * h[i])
    t = q - xs[i]
    return ys[i] + t * (b + t * (c[i] + t * d))
''', (np.array([0.0, 1.0, 2.5, 3.0, 4.2]), np.array([1.0, 0.5, 2.0, 1.5, 0.2]), 2.7), grad=1)
both('''def f(tol: f64):
    x, y = 1.0, 1.0
    steps = 0
    for steps in range(1, 50):
        f1, f2 = x * x + y * y - 4.0, math.exp(x) + y - 1.0
        det = 2 * x - 2 * y * math.exp(x)
        dx = (f1 - 2 * y * f2) / det
        dy = (2 * x * f2 - math.exp(x) * f1) / det
        x, y = x - dx, y - dy
        if abs(dx) + abs(dy) < tol:
            break
    return x, y, steps
''', (1e-10,))

# 13 machine learning: k-means with empty clusters, a perceptron that stops, naive Bayes of counts
both('''def f(x: f64[n, m], c: f64[k, m], rounds: i64):
    label = np.zeros(n, dtype=np.int64)
    for t in range(rounds):
        d = ((x[:, None, :] - c[None, :, :]) ** 2).sum(axis=2)
        new = np.argmin(d, axis=1)
        if t > 0 and np.array_equal(new, label):
            break
        label = new
        for j in range(k):
            size = np.sum(label == j)
            if size > 0:
                c[j] = (x * (label == j)[:, None]).sum(axis=0) / size
    return label, c
''', (r.normal(size=(9, 2)), r.normal(size=(3, 2)), 6))
both('''def f(x: f64[n, m], y: i64[n], most: i64):
    w = np.zeros(m + 1)
    best, best_w = -1, w.copy()
    for epoch in range(most):
        right = 0
        for i in range(n):
            score = w[0] + x[i] @ w[1:]
            if score * y[i] > 0:
                right += 1
            else:
                w[0] += y[i]
                w[1:] += y[i] * x[i]
        if right > best:
            best = right
            best_w = w.copy()
        if right == n:
            return w, best, epoch
    return best_w, best, most
''', (r.normal(size=(8, 2)), np.array([1, -1, 1, 1, -1, -1, 1, -1]), 5))

# 14 signals: a median filter, autocorrelation by FFT, a biquad with two delays that rotate
both('''def f(x: f64[n], b0: f64, b1: f64, a1: f64, w: i64):
    y = np.zeros(n)
    x1, y1 = 0.0, 0.0
    for i in range(n):
        y[i] = b0 * x[i] + b1 * x1 - a1 * y1
        x1, y1 = x[i], y[i]
    med = np.zeros(n)
    for i in range(n):
        lo, hi = max(0, i - w), min(n, i + w + 1)
        med[i] = np.median(x[lo:hi])
    spec = np.fft.rfft(x - x.mean(), 2 * n)
    corr = np.fft.irfft(spec * np.conj(spec), 2 * n)[:n]
    return y, med, corr / corr[0]
''', (r.normal(size=8), 0.3, 0.2, -0.4, 2))

# 15 geometry: convex hull by a chain, point in polygon, area, closest pair
both('''def f(p: f64[n, 2], q: f64[2]):
    order = np.lexsort((p[:, 1], p[:, 0]))
    hull = np.zeros(2 * n, dtype=np.int64)
    top = 0
    for i in order:
        while top >= 2 and (p[hull[top - 1], 0] - p[hull[top - 2], 0]) * (p[i, 1] - p[hull[top - 2], 1]) - (p[hull[top - 1], 1] - p[hull[top - 2], 1]) * (p[i, 0] - p[hull[top - 2], 0]) <= 0:
            top -= 1
        hull[top] = i
        top += 1
    inside = False
    j = n - 1
    for i in range(n):
        if (p[i, 1] > q[1]) != (p[j, 1] > q[1]) and q[0] < (p[j, 0] - p[i, 0]) * (q[1] - p[i, 1]) / (p[j, 1] - p[i, 1]) + p[i, 0]:
            inside = not inside
        j = i
    area = 0.5 * abs(np.dot(p[:, 0], np.roll(p[:, 1], -1)) - np.dot(p[:, 1], np.roll(p[:, 0], -1)))
    d = np.sqrt(((p[:, None] - p) ** 2).sum(-1)) + np.where(np.eye(n, dtype=bool), np.inf, 0.0)
    return hull, top, inside, area, d.min(), np.unravel_index(np.argmin(d), (n, n))
''', (r.random((7, 2)), np.array([0.5, 0.5])))

# 16 scheduling: intervals by their ends, a topological order, a knapsack with what was taken
both('''def f(start: i64[n], end: i64[n], w: i64[m], v: i64[m], cap: i64):
    taken = np.zeros(n, dtype=bool)
    last = -1
    for i in np.argsort(end, kind="stable"):
        if start[i] >= last:
            taken[i] = True
            last = end[i]
    best = np.zeros((m + 1, cap + 1), dtype=np.int64)
    for i in range(m):
        for c in range(cap + 1):
            best[i + 1, c] = best[i, c]
            if w[i] <= c and best[i, c - w[i]] + v[i] > best[i, c]:
                best[i + 1, c] = best[i, c - w[i]] + v[i]
    used = np.zeros(m, dtype=bool)
    c = cap
    for i in range(m - 1, -1, -1):
        if best[i + 1, c] != best[i, c]:
            used[i] = True
            c -= w[i]
    return taken, best[m, cap], used
''', (np.array([1, 3, 0, 5, 8, 5]), np.array([2, 4, 6, 7, 9, 9]), np.array([2, 3, 4, 5]), np.array([3, 4, 5, 6]), 7))

# twenty wrong ones: each is an error of ours with a place and a help, never a bug of ours or a value
WRONG = [
    ("def f(x: f64[n], y: f64[m]):\n    x, y = y, x\n    return x + y", None),
    ("def f(x: f64[n], y: f64[m]):\n    for i in range(n):\n        x, y = y, x\n    return x", None),
    ("def f(x: f64[n], y: i64[n]):\n    for i in range(n):\n        if x[i] > 0.0:\n            x, y = y, x\n    return x", None),
    ("def f(x: f64[n]):\n    a, b = x\n    return a", None),
    ("def f(x: f64[n]):\n    return x[n // 2 + n]", (np.ones(3),)),
    ("def f(x: f64[n]):\n    return np.delete(x, x > 0.5)", None),
    ("def f(x: f64[n]):\n    return np.exp(x, where=x > 0.5)", None),
    ("def f(x: f64[n]):\n    return np.sqrt(x, out=x)", None),
    ("def f(x: f64[n]):\n    return 1.0 if x.dtype == np.float64 else 2.0", None),
    ("def f(x: f64[n]):\n    return np.array([(v, v) for v in x])", None),
    ("def f(x: f64[n]):\n    return x[True]", None),
    ("def f(x: f64[n]):\n    while x:\n        x[0] -= 1.0\n    return x", None),
    ("def f(x: f64[n]):\n    global best\n    best = x[0]\n    return x", None),
    ("def f(x: f64[n]):\n    x.append(1.0)\n    return x", None),
    ("def f(x: f64[n]):\n    return {v for v in x}", None),
    ("def f(x: f64[n]):\n    yield x[0]", None),
    ("def f(x: f64[n]):\n    del x[0]\n    return x", None),
    ("def f(x: f64[n], y: f64[n]):\n    return x if x > y else y", None),
    ("def f(s: i64[n]):\n    return s.split()", None),
    ("def f(x: f64[n]):\n    return np.linalg.solve(x, x)", None),
]
for body, args in WRONG:
    try:
        f = at.fn(source=HDR + "@at.fn\n" + body + "\n")
        got = f(*args) if args else f.core
        print("DIFF accepted", body, got)
    except at.Error as e:
        if e.code == "E0899" or ("help:" not in str(e) and args is None) or "atoll/std" in str(e):
            print("DIFF", body, e)
        else:
            OK[0] += 1
done()
