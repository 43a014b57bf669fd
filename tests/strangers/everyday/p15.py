"""Twenty programs: signals, simulation, statistics, texts as integers, dynamic programming, images, board games; each text is run by Python with NumPy and by Atoll. Then twenty wrong ones."""
import math, re
import numpy as np, atoll as at
from in_both import *
r = np.random.default_rng(15)

text = lambda s: np.array([ord(c) for c in s])

# 1 signals: Goertzel's tone detector, zero crossings, an envelope
both('''def f(x: f64[n], tone: f64, rate: f64):
    w = 2.0 * math.pi * tone / rate
    coeff = 2.0 * math.cos(w)
    s1, s2 = 0.0, 0.0
    for v in x:
        s0 = v + coeff * s1 - s2
        s2 = s1
        s1 = s0
    power = s1 ** 2 + s2 ** 2 - coeff * s1 * s2
    crossings = sum(1 for i in range(1, n) if (x[i] >= 0) != (x[i - 1] >= 0))
    env = np.zeros(n)
    level = 0.0
    for i in range(n):
        a = abs(x[i])
        level = a if a > level else 0.9 * level + 0.1 * a
        env[i] = level
    return power, crossings, env
''', (np.sin(np.arange(40) * 0.7), 0.111, 1.0), (np.array([1.0]), 0.2, 1.0))
# 2 signals: autocorrelation, the best lag, linear prediction by Levinson and Durbin
both('''def f(x: f64[n]):
    y = x - x.mean()
    lags = 5
    ac = np.array([np.sum(y[:n - 4] * y[:n - 4]) if k == 0 else sum(y[i] * y[i + k] for i in range(n - k)) for k in range(5)])
    a = np.zeros(5)
    a[0] = 1.0
    err = ac[0] + 1.0
    for i in range(1, lags):
        acc = ac[i]
        for j in range(1, i):
            acc += a[j] * ac[i - j]
        ref = -acc / err
        old = a.copy()
        for j in range(1, i):
            a[j] = old[j] + ref * old[i - j]
        a[i] = ref
        err *= 1.0 - ref * ref
    return np.argmax(ac[1:]) + 1, a, err
''', (r.normal(size=30),))
# 3 signals: resampling by linear interpolation, clipping, RMS in blocks
both('''def f(x: f64[n], factor: f64):
    t = np.arange(12) * factor
    i = np.floor(t).astype(np.int64)
    i = np.minimum(i, n - 2)
    frac = t - i
    y = (1.0 - frac) * x[i] + frac * x[i + 1]
    y = np.clip(y, -0.8, 0.8)
    blocks = y.reshape(3, 4)
    rms = np.sqrt((blocks ** 2).mean(axis=1))
    return y, rms, 20.0 * np.log10(rms + 1e-12)
''', (r.normal(size=20), 1.3), (r.normal(size=3), 0.1))
# 4 simulation: a queue with one server
both('''def f(arrivals: f64[n], service: f64[n]):
    free_at = 0.0
    wait = np.zeros(n)
    longest = 0
    queue = np.zeros(n, dtype=np.int64)
    done = np.zeros(n)
    for i in range(n):
        start = max(arrivals[i], free_at)
        wait[i] = start - arrivals[i]
        free_at = start + service[i]
        done[i] = free_at
        waiting = 0
        for j in range(i):
            if done[j] > arrivals[i]:
                waiting += 1
        queue[i] = waiting
        longest = max(longest, waiting)
    return wait.mean(), longest, queue, free_at
''', (np.cumsum(r.exponential(size=15)), r.exponential(size=15)), (np.array([0.5]), np.array([1.0])))
# 5 simulation: sand piles until nothing topples
both('''def f(grid: i64[n, m]):
    g = grid.copy()
    topples = 0
    while (g > 3).any():
        for i in range(n):
            for j in range(m):
                if g[i, j] > 3:
                    g[i, j] -= 4
                    topples += 1
                    if i > 0:
                        g[i - 1, j] += 1
                    if i + 1 < n:
                        g[i + 1, j] += 1
                    if j > 0:
                        g[i, j - 1] += 1
                    if j + 1 < m:
                        g[i, j + 1] += 1
    return g, topples, int(g.sum())
''', (r.integers(0, 7, (5, 6)),), (np.array([[9]]),))
# 6 simulation: cars on a ring (Nagel and Schreckenberg without chance)
both('''def f(speed: i64[n], top: i64, steps: i64):
    v = speed.copy()
    for s in range(steps):
        nxt = np.full(n, -1)
        for i in range(n):
            if v[i] >= 0:
                gap = 1
                while v[(i + gap) % n] < 0 and gap < n:
                    gap += 1
                new = min(v[i] + 1, top, gap - 1)
                nxt[(i + new) % n] = new
        v = nxt
    return v, np.count_nonzero(v >= 0)
''', (np.array([0, -1, -1, 2, -1, -1, -1, 1, -1, 0, -1, -1]), 3, 6))
# 7 statistics: Theil and Sen's line, the median absolute deviation, ranks with ties
both('''def f(x: f64[n], y: f64[n]):
    slopes = [(y[j] - y[i]) / (x[j] - x[i]) for i in range(n) for j in range(n) if i < j and x[i] != x[j]]
    slope = np.median(slopes)
    icept = np.median(y - slope * x)
    mad = np.median(np.abs(y - np.median(y)))
    ranks = np.array([np.sum(y < v) + (np.sum(y == v) + 1) / 2 for v in y])
    return slope, icept, mad, ranks
''', (np.arange(9.0), np.round(r.normal(size=9), 1) + np.arange(9) * 0.5))
# 8 statistics: Welford, a two-sample Kolmogorov-Smirnov distance, a moving z-score
both('''def f(a: f64[n], b: f64[m]):
    mean, m2 = 0.0, 0.0
    for i, v in enumerate(a):
        d = v - mean
        mean += d / (i + 1)
        m2 += d * (v - mean)
    both = np.sort(np.concatenate([a, b]))
    fa = np.searchsorted(np.sort(a), both, side="right") / n
    fb = np.searchsorted(np.sort(b), both, side="right") / m
    return mean, m2 / (n - 1), np.max(np.abs(fa - fb)), (a - a.mean()) / a.std(ddof=1)
''', (r.normal(size=11), r.normal(size=7) + 1.0))
# 9 statistics: a permutation-free bootstrap with given draws, logistic regression by Newton's method
both('''def f(x: f64[n, k], y: f64[n]):
    w = np.zeros(k)
    p = np.zeros(n)
    for it in range(6):
        p = 1.0 / (1.0 + np.exp(-(x @ w)))
        g = x.T @ (p - y) + 0.1 * w
        h = x.T @ (x * (p * (1.0 - p))[:, None]) + 0.1 * np.eye(k)
        w = w - np.linalg.solve(h, g)
    return w, -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))
''', (r.normal(size=(20, 3)), r.integers(0, 2, 20).astype(float)), tol=1e-7)
# 10 texts: Caesar's cipher, run lengths, a palindrome
both('''def f(s: i64[n], shift: i64):
    coded = np.where((s >= 97) & (s <= 122), (s - 97 + shift) % 26 + 97, s)
    runs = 1
    best, here = 1, 1
    for i in range(1, n):
        if s[i] == s[i - 1]:
            here += 1
        else:
            here = 1
            runs += 1
        best = max(best, here)
    pal = all(s[i] == s[n - 1 - i] for i in range(n // 2))
    return coded, runs, best, pal
''', (text("hello, world!"), 3), (text("abba"), 25), (text("z"), -1))
# 11 texts: Knuth, Morris and Pratt; the Z function
both('''def f(s: i64[n], p: i64[m]):
    fail = np.zeros(m, dtype=np.int64)
    k = 0
    for i in range(1, m):
        while k > 0 and p[k] != p[i]:
            k = fail[k - 1]
        if p[k] == p[i]:
            k += 1
        fail[i] = k
    hits = 0
    k = 0
    for c in s:
        while k > 0 and (k == m or p[k] != c):
            k = fail[k - 1]
        if p[k] == c:
            k += 1
        if k == m:
            hits += 1
    z = np.zeros(n, dtype=np.int64)
    left, right = 0, 0
    for i in range(1, n):
        if i < right:
            z[i] = min(right - i, z[i - left])
        while i + z[i] < n and s[z[i]] == s[i + z[i]]:
            z[i] += 1
        if i + z[i] > right:
            left, right = i, i + z[i]
    return hits, fail, z
''', (text("abracadabra abra"), text("abra")), (text("aaaa"), text("aa")), (text("a"), text("b")))
# 12 texts: an integer parsed by hand, a checksum, base 64 without padding
both('''def f(s: u8[n]):
    value = 0
    sign = 1
    for i, c in enumerate(s):
        if i == 0 and c == 45:
            sign = -1
        elif 48 <= c <= 57:
            value = value * 10 + (int(c) - 48)
        else:
            break
    a, b = 1, 0
    for c in s:
        a = (a + int(c)) % 65521
        b = (b + a) % 65521
    return sign * value, b * 65536 + a
''', (np.frombuffer(b"-1234x5", np.uint8),), (np.frombuffer(b"0", np.uint8),))
# 13 dynamic programming: coins, the longest increasing subsequence, a knapsack
both('''def f(coins: i64[n], total: i64, w: i64[m], v: i64[m], cap: i64):
    ways = np.zeros(total + 1, dtype=np.int64)
    ways[0] = 1
    for c in coins:
        for t in range(c, total + 1):
            ways[t] += ways[t - c]
    lis = np.ones(m, dtype=np.int64)
    for i in range(m):
        for j in range(i):
            if v[j] < v[i]:
                lis[i] = max(lis[i], lis[j] + 1)
    best = np.zeros(cap + 1, dtype=np.int64)
    for i in range(m):
        for c in range(cap, w[i] - 1, -1):
            best[c] = max(best[c], best[c - w[i]] + v[i])
    return ways, lis.max(), best[-1]
''', (np.array([1, 2, 5]), 11, np.array([2, 3, 4, 5]), np.array([3, 4, 5, 6]), 9))
# 14 dynamic programming: matrix chains, the longest common subsequence itself
both('''def f(d: i64[n], a: i64[m], b: i64[k]):
    cost = np.zeros((n, n), dtype=np.int64)
    for span in range(2, n):
        for i in range(n - span):
            j = i + span
            best = 10 ** 9
            for s in range(i + 1, j):
                best = min(best, cost[i, s] + cost[s, j] + d[i] * d[s] * d[j])
            cost[i, j] = best
    t = np.zeros((m + 1, k + 1), dtype=np.int64)
    for i in range(m):
        for j in range(k):
            t[i + 1, j + 1] = t[i, j] + 1 if a[i] == b[j] else max(t[i, j + 1], t[i + 1, j])
    out = np.full(m, -1)
    i, j, at_ = m, k, t[m, k]
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            at_ -= 1
            out[at_] = a[i - 1]
            i -= 1
            j -= 1
        elif t[i - 1, j] >= t[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return cost[0, n - 1], t[m, k], out
''', (np.array([10, 30, 5, 60, 7]), text("agcat"), text("gac")))
# 15 dynamic programming: Viterbi, and its score's gradient
both('''def f(init: f64[k], trans: f64[k, k], emit: f64[k, m], seen: i64[n]):
    score = init + emit[:, seen[0]]
    back = np.zeros((n, k), dtype=np.int64)
    for t in range(1, n):
        all_ = score[:, None] + trans
        back[t] = np.argmax(all_, axis=0)
        score = np.max(all_, axis=0) + emit[:, seen[t]]
    path = np.zeros(n, dtype=np.int64)
    path[n - 1] = np.argmax(score)
    for t in range(n - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return score.max(), path
''', (np.log(np.array([0.6, 0.4])), np.log(np.array([[0.7, 0.3], [0.4, 0.6]])), np.log(np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])), np.array([0, 1, 2, 2])))
# 16 images: a median filter, Floyd and Steinberg's dithering, an integral image
both('''def f(img: f64[n, m]):
    p = np.pad(img, 1, mode="edge")
    med = np.array([[np.median(p[i:i + 3, j:j + 3]) for j in range(m)] for i in range(n)])
    g = img.copy()
    out = np.zeros((n, m), dtype=np.int64)
    for i in range(n):
        for j in range(m):
            new = 1.0 if g[i, j] >= 0.5 else 0.0
            err = g[i, j] - new
            out[i, j] = int(new)
            if j + 1 < m:
                g[i, j + 1] += err * 7 / 16
            if i + 1 < n:
                if j > 0:
                    g[i + 1, j - 1] += err * 3 / 16
                g[i + 1, j] += err * 5 / 16
                if j + 1 < m:
                    g[i + 1, j + 1] += err / 16
    integral = np.zeros((n + 1, m + 1))
    integral[1:, 1:] = img.cumsum(axis=0).cumsum(axis=1)
    return med, out, integral[n, m] - integral[0, m] - integral[n, 0] + integral[0, 0]
''', (r.random((5, 6)),), (r.random((1, 1)),))
# 17 images: Sobel, non-maximum suppression in four directions, a flood fill with a stack
both('''def f(img: f64[n, m], si: i64, sj: i64, tol: f64):
    p = np.pad(img, 1, mode="edge")
    gx = (p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[1:-1, :-2] + p[2:, :-2])
    gy = (p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:])
    mag = np.hypot(gx, gy)
    filled = np.zeros((n, m), dtype=bool)
    stack = np.zeros((4 * n * m + 1, 2), dtype=np.int64)
    top = 1
    stack[0, 0], stack[0, 1] = si, sj
    while top > 0:
        top -= 1
        i, j = stack[top]
        if filled[i, j] or abs(img[i, j] - img[si, sj]) > tol:
            continue
        filled[i, j] = True
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < m:
                stack[top, 0] = a
                stack[top, 1] = b
                top += 1
    return mag, filled, filled.sum()
''', (np.round(r.random((5, 5)), 1), 2, 2, 0.35), (np.ones((1, 1)), 0, 0, 0.1))
# 18 board games: Reversi's legal moves
both('''def f(board: i64[n, n], me: i64):
    moves = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(n):
            if board[i, j] != 0:
                continue
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di == 0 and dj == 0:
                        continue
                    a, b, flips = i + di, j + dj, 0
                    while 0 <= a < n and 0 <= b < n and board[a, b] == -me:
                        a += di
                        b += dj
                        flips += 1
                    if flips > 0 and 0 <= a < n and 0 <= b < n and board[a, b] == me:
                        moves[i, j] += flips
    return moves, np.argwhere(moves > 0).shape[0]
''', (np.array([[0, 0, 0, 0], [0, 1, -1, 0], [0, -1, 1, 0], [0, 0, 0, 0]]), 1))
# 19 board games: a knight's distances, sudoku's candidates
both('''def f(n: i64, board: i64[9, 9]):
    dist = np.full((n, n), -1)
    queue = np.zeros((n * n, 2), dtype=np.int64)
    dist[0, 0] = 0
    head, tail = 0, 1
    while head < tail:
        i, j = queue[head]
        head += 1
        for a, b in ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)):
            x, y = i + a, j + b
            if 0 <= x < n and 0 <= y < n and dist[x, y] < 0:
                dist[x, y] = dist[i, j] + 1
                queue[tail, 0], queue[tail, 1] = x, y
                tail += 1
    free = np.zeros((9, 9), dtype=np.int64)
    for i in range(9):
        for j in range(9):
            if board[i, j] == 0:
                used = np.zeros(10, dtype=bool)
                for t in range(9):
                    used[board[i, t]] = True
                    used[board[t, j]] = True
                    used[board[i // 3 * 3 + t // 3, j // 3 * 3 + t % 3]] = True
                free[i, j] = 9 - np.sum(used[1:])
    return dist, free
''', (5, r.integers(0, 10, (9, 9))), (1, np.zeros((9, 9), np.int64)))
# 20 board games: Nim's values, minimax of a subtraction game by a table, Zobrist's hash
both('''def f(piles: i64[n], limit: i64, keys: i64[m]):
    x = 0
    for p in piles:
        x ^= p
    grundy = np.zeros(limit + 1, dtype=np.int64)
    for s in range(1, limit + 1):
        seen = np.zeros(8, dtype=bool)
        for take in (1, 3, 4):
            if s >= take:
                seen[grundy[s - take]] = True
        g = 0
        while seen[g]:
            g += 1
        grundy[s] = g
    h = 0
    for i, p in enumerate(piles):
        h ^= (keys[(i + p) % m] << (p % 5)) & 0xFFFF
    return x, grundy, h, x != 0
''', (np.array([3, 4, 5]), 12, np.array([91, 17, 250, 33])))

# twenty wrong ones: each is an error of ours with a place and a help, never a bug of ours or a value
WRONG = [
    ("def f(x: f64[n]):\n    y = np.zeros(n)\n    y[n] = 1.0\n    return y", (np.ones(2),)),
    ("def f(x: f64[n], i: i64):\n    return x[i]", (np.ones(3), 3)),
    ("def f(x: f64[n]):\n    best = max(x, key=abs)\n    return bset", None),
    ("def f(s: i64[n]):\n    return ''.join(chr(c) for c in s)", None),
    ("def f(s: i64[n]):\n    d = {}\n    for c in s:\n        d[c] = d.get(c, 0) + 1\n    return d", None),
    ("def f(x: f64[n]):\n    import scipy\n    return x", None),
    ("def f(a: i64, b: i64):\n    return a // b", (1, 0)),
    ("def f(x: f64[n]):\n    q = [x[0]]\n    q.pop()\n    return q", None),
    ("def f(x: f64[n, m]):\n    return x.reshape(m, n + 1)", (np.ones((2, 3)),)),
    ("def f(x: f64[n]):\n    return np.convolve(x, x, mode='middle')", None),
    ("def f(x: f64[n]):\n    try:\n        return x[0]\n    except IndexError:\n        return 0.0", None),
    ("def f(g: i64[n, n]):\n    def fill(i, j):\n        return fill(i + 1, j) if g[i, j] else g[i, j]\n    return fill(0, 0)", None),
    ("def f(x: f64[n]):\n    return sorted(x, cmp=lambda a, b: a - b)", None),
    ("def f(x: f64[n]):\n    for v in x:\n        total = v\n    return total + x[n]", None),
    ("def f(x: f64[n]):\n    assert x.sum() > 0, 'nothing there'\n    return x", (np.zeros(2),)),
    ("def f(x: f64[n]):\n    return np.histogram(x, bins=0)", None),
    ("def f(a: f64[n, m], b: f64[n, m]):\n    return a @ b", None),
    ("def f(x: f64[n]):\n    with np.errstate(all='ignore'):\n        return x / 0.0", None),
    ("def f(x: f64[n]):\n    return x.astype('int')[0.5]", None),
    ("def f(x: f64[n]):\n    y = x\n    y += 'a'\n    return y", None),
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
