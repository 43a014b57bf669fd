"""Ten programs: an image pipeline, fluids, Bayes, finance, graphs, texts, signals; each text is run by Python with NumPy and by Atoll. Then ten wrong ones."""
import math, re
import numpy as np, atoll as at
from in_both import *
r = np.random.default_rng(11)

# 1 image: unsharp mask, histogram equalisation, box resize
both('''def f(img: f64[n, m], amount: f64):
    p = np.pad(img, 1, mode="edge")
    blur = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + 4 * p[1:-1, 1:-1]) / 8
    sharp = np.clip(img + amount * (img - blur), 0.0, 1.0)
    levels = np.floor(sharp * 15.999).astype(np.int64)
    counts = np.bincount(levels.ravel(), minlength=16)
    cdf = np.cumsum(counts) / img.size
    return sharp, cdf[levels]
''', (r.random((7, 9)), 0.8), (r.random((1, 1)), 0.5))
# 2 image: Otsu's threshold and the largest run of ones in every row
both('''def f(img: f64[n, m]):
    hist, edges = np.histogram(img, bins=8, range=(0.0, 1.0))
    total = img.size
    best = 0
    score = -1.0
    for t in range(1, 8):
        low = hist[:t].sum()
        high = total - low
        if not low or not high:
            continue
        mu0 = sum(hist[b] * (b + 0.5) for b in range(t)) / low
        mu1 = sum(hist[b] * (b + 0.5) for b in range(t, 8)) / high
        between = low * high * (mu0 - mu1) ** 2
        if between > score:
            score = between
            best = t
    runs = np.zeros(n, dtype=np.int64)
    for y in range(n):
        run = 0
        for x in range(m):
            run = run + 1 if img[y, x] > edges[best] else 0
            runs[y] = max(runs[y], run)
    return best, runs
''', (r.random((6, 11)),), (np.full((2, 3), 0.3),))
# 3 fluids: semi-Lagrangian advection and Jacobi pressure in a box
both('''def f(u: f64[n, m], v: f64[n, m], dt: f64, rounds: i64):
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            y = min(max(i - dt * v[i, j], 0.0), n - 1.001)
            x = min(max(j - dt * u[i, j], 0.0), m - 1.001)
            i0 = int(y)
            j0 = int(x)
            s = y - i0
            t = x - j0
            out[i, j] = (1 - s) * ((1 - t) * u[i0, j0] + t * u[i0, j0 + 1]) + s * ((1 - t) * u[i0 + 1, j0] + t * u[i0 + 1, j0 + 1])
    div = np.zeros((n, m))
    div[1:-1, 1:-1] = (out[1:-1, 2:] - out[1:-1, :-2] + v[2:, 1:-1] - v[:-2, 1:-1]) / 2
    p = np.zeros((n, m))
    for it in range(rounds):
        new = p.copy()
        new[1:-1, 1:-1] = (p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1] - div[1:-1, 1:-1]) / 4
        p = new
    return np.sum(p * p) + np.sum(out)
''', (r.normal(size=(5, 6)) * 0.3, r.normal(size=(5, 6)) * 0.3, 0.4, 6), grad=0)
# 4 fluids: spectral Burgers, one step, with a gradient through fft
both('''def f(u: f64[n], dt: f64):
    k = np.fft.rfftfreq(n, d=1.0 / n)
    z = np.fft.rfft(u)
    ux = np.fft.irfft(2j * np.pi * k * z, n=n)
    uxx = np.fft.irfft(-(2 * np.pi * k) ** 2 * z, n=n)
    w = u + dt * (0.05 * uxx - u * ux)
    return np.sum(w ** 2) + np.max(np.abs(np.fft.fft(w)))
''', (r.normal(size=8), 0.001), (r.normal(size=12), 0.001), tol=1e-8, grad=0)
# 5 Bayes: log posterior of a logistic regression, and a Metropolis chain with given draws
both('''def f(w: f64[m], x: f64[n, m], y: f64[n]):
    z = x @ w
    ll = np.sum(y * z - np.logaddexp(0.0, z))
    return ll - 0.5 * np.sum(w ** 2) / 4.0
''', (r.normal(size=3), r.normal(size=(6, 3)), (r.random(6) > 0.5).astype(float)), grad=0)
both('''def f(start: f64, steps: f64[n], logs: f64[n]):
    x = start
    accepted = 0
    trace = np.empty(n)
    for i, (step, u) in enumerate(zip(steps, logs)):
        proposal = x + step
        if u < (x * x - proposal * proposal) / 2:
            x = proposal
            accepted += 1
        trace[i] = x
    return trace, accepted / n, np.quantile(trace, [0.05, 0.5, 0.95])
''', (0.3, r.normal(size=40), np.log(r.random(40))))
# 6 finance: implied volatility by Newton with a while of a number, drawdown, EWMA
both('''def f(price: f64, s: f64, strike: f64, t: f64):
    vol = 0.3
    left = 30
    while left:
        d1 = (math.log(s / strike) + vol * vol * t / 2) / (vol * math.sqrt(t))
        d2 = d1 - vol * math.sqrt(t)
        value = s * (1 + math.erf(d1 / math.sqrt(2))) / 2 - strike * (1 + math.erf(d2 / math.sqrt(2))) / 2
        vega = s * math.exp(-d1 * d1 / 2) / math.sqrt(2 * math.pi) * math.sqrt(t)
        step = (value - price) / vega
        vol -= step
        left = 0 if abs(step) < 1e-12 else left - 1
    return vol
''', (10.0, 100.0, 100.0, 1.0), (3.0, 100.0, 110.0, 0.5))
both('''def f(prices: f64[n], alpha: f64):
    peak = np.maximum.accumulate(prices)
    drawdown = np.max((peak - prices) / peak)
    returns = np.diff(np.log(prices))
    ewma = returns[0] ** 2
    for x in returns[1:]:
        ewma = alpha * ewma + (1 - alpha) * x * x
    sharpe = returns.mean() / returns.std(ddof=1) * math.sqrt(252)
    return drawdown, ewma, sharpe
''', (np.exp(np.cumsum(r.normal(size=30) * 0.02)), 0.94))
# 7 graphs: PageRank on edges, Bellman-Ford with early exit, triangles
both('''def f(src: i64[m], dst: i64[m], w: f64[m], count: i64):
    out = np.bincount(src, minlength=6)
    rank = np.full(6, 1.0 / 6)
    for it in range(20):
        share = np.where(out[src] > 0, rank[src] / np.maximum(out[src], 1), 0.0)
        new = np.full(6, 0.15 / 6)
        for e in range(m):
            new[dst[e]] += 0.85 * share[e]
        rank = new
    dist = np.full(6, 1e9)
    dist[0] = 0.0
    it = 0
    for it in range(count):
        changed = 0
        for s, d, c in zip(src, dst, w):
            if dist[s] + c < dist[d]:
                dist[d] = dist[s] + c
                changed += 1
        if not changed:
            break
    adj = np.zeros((6, 6))
    adj[src, dst] = 1.0
    return rank, dist, it, np.trace(adj @ adj @ adj)
''', (np.array([0, 1, 2, 0, 3, 4, 2]), np.array([1, 2, 0, 3, 4, 5, 5]), np.array([1.0, 2.0, 0.5, 4.0, 1.0, 1.5, 9.0]), 6))
# 8 texts: edit distance, letter counts, longest repeated run, on codes
both('''def f(a: i64[n], b: i64[m]):
    row = np.arange(m + 1)
    for i in range(n):
        before = row.copy()
        row[0] = i + 1
        for j in range(m):
            row[j + 1] = min(before[j + 1] + 1, row[j] + 1, before[j] + (1 if a[i] != b[j] else 0))
    letters, counts = np.unique(a, return_counts=True)
    common = letters[np.argmax(counts)]
    same = sum(1 for p, q in zip(a, b) if p == q)
    return row[m], common, same, np.isin(a, b)
''', (np.array([ord(c) for c in "kitten"]), np.array([ord(c) for c in "sitting"])), (np.array([1]), np.array([1, 2])))
# 9 signals: Welch's spectrum, a biquad filter, peaks
both('''def f(x: f64[n]):
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(8) / 8)
    total = np.zeros(5)
    count = 0
    for start in range(0, n - 8 + 1, 4):
        total = total + np.abs(np.fft.rfft(x[start:start + 8] * window)) ** 2
        count += 1
    y = np.zeros(n)
    for i in range(2, n):
        y[i] = 0.2 * x[i] + 0.3 * x[i - 1] + 0.1 * x[i - 2] + 0.5 * y[i - 1] - 0.2 * y[i - 2]
    peaks = [i for i in range(1, n - 1) if y[i] > y[i - 1] and y[i] > y[i + 1]]
    return total / count, y, len(peaks)
''', (r.normal(size=24),))
# 10 machine learning: k-means step, softmax cross-entropy
both('''def f(x: f64[n, k], c: f64[m, k]):
    d = ((x[:, None, :] - c[None, :, :]) ** 2).sum(axis=2)
    labels = d.argmin(axis=1)
    return np.sum(d.min(axis=1)), labels
''', (r.normal(size=(9, 2)), r.normal(size=(3, 2))))
both('''def f(w: f64[k, m], x: f64[n, k], y: i64[n]):
    z = x @ w
    z = z - z.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -np.mean(logp[np.arange(n), y])
''', (r.normal(size=(3, 4)), r.normal(size=(5, 3)), np.array([0, 3, 1, 2, 2])), grad=0)

# ten wrong ones: each is an error of ours with a place and a help, never a bug of ours or a value
WRONG = [
    ("def f(x: f64[n]):\n    return np.percentile(x, 101)", (np.ones(3),)),
    ("def f(a: f64[n, n]):\n    return np.linalg.inv(a)", (np.ones((2, 2)),)),
    ("def f(x: f64[n]):\n    while x:\n        x = x[1:]\n    return x", None),
    ("def f(x: f64[n]):\n    y = x or 1.0\n    return y", None),
    ("def f(x: f64[n]) -> f64[n]:\n    return np.unique(x)", None),
    ("def f(x: f64[n]):\n    return np.fft.fft(x, norm='unitary')", None),
    ("def f(z: c128):\n    return at.grad(lambda q: abs(q))(z)", None),
    ("def f(x: f64[n], y: f64[m]):\n    return x + y", None),
    ("def f(x: f64[n]):\n    s = 0.0\n    for i in range(0, n, 0):\n        s += x[i]\n    return s", None),
    ("def f(x: f64[n]):\n    out = []\n    for v in x:\n        out.append(v)\n    return out", None),
    ("def f(x: f64[n]):\n    return {v: 1 for v in x}", None),
    ("def f(x: i64[n]):\n    return x[3.0]", None),
]
for body, args in WRONG:
    try:
        f = at.fn(source=HDR + "@at.fn\n" + body + "\n")
        got = f(*args) if args else f.core
        print("DIFF accepted", body, got)
    except at.Error as e:
        if e.code == "E0899" or "help:" not in str(e) or "atoll/std" in str(e):
            print("DIFF", body, e)
        else:
            OK[0] += 1
done()
