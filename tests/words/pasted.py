"""Functions as they are pasted from notebooks, recipes and answers, with types added: NumPy's text, NumPy's meaning. T is every kind of element in turn."""

from __future__ import annotations

PASTED = '''
def moving_average(a: T[n], k: i64):
    ret = np.cumsum(a, dtype=float)
    ret[k:] = ret[k:] - ret[:len(ret) - k]
    return ret[k - 1:] / k
---
def softmax(x: T[n]):
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum(axis=0)
---
def softmax_rows(x: T[n, m]):
    z = x - np.max(x, axis=1, keepdims=True)
    e = np.exp(z)
    return e / np.sum(e, axis=1, keepdims=True)
---
def pairwise(a: T[n, m], b: T[k, m]):
    return np.sqrt(((a[:, np.newaxis, :] - b[np.newaxis, :, :]) ** 2).sum(axis=-1))
---
def pairwise_dot(X: T[n, m]):
    G = np.dot(X, X.T)
    H = np.tile(np.diag(G), (X.shape[0], 1))
    return H + H.T - 2 * G
---
def zscore(x: T[n, m]):
    mu = x.mean(axis=0)
    sd = x.std(axis=0)
    return (x - mu) / np.where(sd == 0, 1.0, sd)
---
def min_max(img: T[n, m]):
    lo, hi = img.min(), img.max()
    if hi == lo:
        return np.zeros(img.shape)
    return (img - lo) / (float(hi) - float(lo))
---
def rgb2gray(rgb: T[n, m, 3]):
    return np.dot(rgb[..., :3], [0.2989, 0.5870, 0.1140])
---
def max_drawdown(prices: T[n]):
    peak = np.maximum.accumulate(prices)
    return np.max((peak - prices) / np.maximum(peak, 1))
---
def sharpe(r: T[n]):
    return np.sqrt(252) * np.mean(r) / np.std(r, ddof=1)
---
def returns(p: T[n]):
    return np.diff(p) / p[:-1]
---
def ema(x: T[n], span: i64):
    alpha = 2 / (span + 1)
    out = np.empty(len(x))
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out
---
def rsi(close: T[n], k: i64):
    delta = np.diff(close)
    gain = np.where(delta > 0, delta, 0)
    loss = np.where(delta < 0, -delta, 0)
    up = gain[:k].mean()
    down = loss[:k].mean()
    out = np.zeros(len(close))
    for i in range(k, len(delta)):
        up = (up * (k - 1) + gain[i]) / k
        down = (down * (k - 1) + loss[i]) / k
        out[i + 1] = 100 - 100 / (1 + up / (down + 1e-9))
    return out
---
def autocorrelation(x: T[n]):
    y = x - np.mean(x)
    full = np.correlate(y, y, mode="full")
    return full[len(x) - 1:]
---
def zero_crossings(x: T[n]):
    return np.where(np.diff(np.sign(x)))[0]
---
def one_hot(y: i64[n], k: i64):
    return np.eye(k)[y]
---
def confusion(true: i64[n], pred: i64[n], k: i64):
    cm = np.zeros((k, k), dtype=int)
    for t, p in zip(true, pred):
        cm[t, p] += 1
    return cm
---
def accuracy(true: T[n], pred: T[n]):
    return np.sum(true == pred) / len(true)
---
def f1(true: T[n], pred: T[n]):
    tp = np.sum((true == 1) & (pred == 1))
    fp = np.sum((true == 0) & (pred == 1))
    fn = np.sum((true == 1) & (pred == 0))
    return 2 * tp / (2 * tp + fp + fn + 1e-12)
---
def auc(labels: i64[n], scores: T[n]):
    order = np.argsort(-scores, kind="stable")
    y = labels[order]
    tpr = np.cumsum(y) / np.sum(y)
    fpr = np.cumsum(1 - y) / np.sum(1 - y)
    return np.trapezoid(tpr, fpr)
---
def log_loss(y: i64[n], p: T[n]):
    p = np.clip(p, 1e-15, 1 - 1e-15)
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
---
def covariance(X: T[n, m]):
    Xc = X - X.mean(axis=0)
    return Xc.T @ Xc / (X.shape[0] - 1)
---
def regression(x: T[n], y: T[n]):
    xm, ym = np.mean(x), np.mean(y)
    slope = np.sum((x - xm) * (y - ym)) / np.sum((x - xm) ** 2)
    return slope, ym - slope * xm
---
def r2(y: T[n], f: T[n]):
    ss_res = np.sum((y - f) ** 2)
    ss_tot = np.sum((y - np.mean(y)) ** 2)
    return 1 - ss_res / ss_tot
---
def mad(x: T[n]):
    return np.median(np.abs(x - np.median(x)))
---
def iqr_outliers(x: T[n]):
    q1, q3 = np.percentile(x, [25, 75])
    iqr = q3 - q1
    return x[(x < q1 - 1.5 * iqr) | (x > q3 + 1.5 * iqr)]
---
def trimmed(x: T[n], cut: f64):
    k = int(cut * len(x))
    s = np.sort(x)
    return s[k:len(x) - k].mean()
---
def gaussian_kernel(size: i64, sig: f64):
    ax = np.linspace(-(size - 1) / 2.0, (size - 1) / 2.0, size)
    gauss = np.exp(-0.5 * np.square(ax) / np.square(sig))
    kernel = np.outer(gauss, gauss)
    return kernel / np.sum(kernel)
---
def conv2d(img: T[n, m], kernel: T[k, q]):
    oh = img.shape[0] - kernel.shape[0] + 1
    ow = img.shape[1] - kernel.shape[1] + 1
    out = np.zeros((oh, ow))
    for i in range(oh):
        for j in range(ow):
            out[i, j] = np.sum(img[i:i + kernel.shape[0], j:j + kernel.shape[1]] * kernel)
    return out
---
def histeq(img: u8[n, m]):
    hist, bins = np.histogram(img.flatten(), 256, (0, 256))
    cdf = hist.cumsum()
    cdf = 255 * cdf / cdf[-1]
    return cdf[img].astype(np.uint8)
---
def run_lengths(x: T[n]):
    where = np.flatnonzero(x[1:] != x[:-1])
    starts = np.concatenate(([0], where + 1))
    return starts, x[starts], np.diff(np.append(starts, len(x)))
---
def caesar(s: u8[n], shift: i64):
    out = s.copy()
    for i in range(len(s)):
        c = s[i]
        if c >= 97 and c <= 122:
            out[i] = np.uint8((c - 97 + shift) % 26 + 97)
    return out
---
def upper(s: u8[n]):
    return np.where((s >= 97) & (s <= 122), s - 32, s)
---
def levenshtein(a: u8[n], b: u8[m]):
    prev = np.arange(len(b) + 1)
    for i, ca in enumerate(a):
        cur = np.zeros(len(b) + 1, dtype=int)
        cur[0] = i + 1
        for j, cb in enumerate(b):
            cur[j + 1] = min(prev[j + 1] + 1, cur[j] + 1, prev[j] + (ca != cb))
        prev = cur
    return prev[-1]
---
def letters(s: u8[n]):
    return np.bincount(s, minlength=256)[97:123]
---
def checksum(s: u8[n]):
    a, b = 1, 0
    for c in s:
        a = (a + int(c)) % 65521
        b = (b + a) % 65521
    return (b << 16) | a
---
def crc(s: u8[n]):
    c = 0xFFFFFFFF
    for byte in s:
        c ^= int(byte)
        for _ in range(8):
            c = (c >> 1) ^ (0xEDB88320 & -(c & 1))
    return c ^ 0xFFFFFFFF
---
def palindrome(s: u8[n]):
    return np.array_equal(s, s[::-1])
---
def words(s: u8[n]):
    space = s == 32
    return np.sum(~space[1:] & space[:-1]) + (1 if len(s) > 0 and not space[0] else 0)
---
def silhouette(X: T[n, m], labels: i64[n]):
    D = np.sqrt(((X[:, None] - X[None, :]) ** 2).sum(-1))
    out = np.zeros(len(X))
    for i in range(len(X)):
        same = labels == labels[i]
        a = D[i][same].sum() / max(same.sum() - 1, 1)
        b = D[i][~same].mean()
        out[i] = (b - a) / max(a, b)
    return out.mean()
---
def interpolate_nans(y: T[n]):
    nans = np.isnan(y)
    x = np.arange(len(y))
    out = y.copy()
    out[nans] = np.interp(x[nans], x[~nans], y[~nans])
    return out
---
def power_iteration(A: T[n, n]):
    v = np.ones(A.shape[0])
    for _ in range(20):
        w = A @ v
        v = w / np.linalg.norm(w)
    return v @ (A @ v)
---
def gram_schmidt(A: T[n, m]):
    Q = np.zeros((A.shape[0], A.shape[1]))
    for j in range(A.shape[1]):
        v = A[:, j].astype(float)
        for i in range(j):
            v = v - np.dot(Q[:, i], A[:, j]) * Q[:, i]
        Q[:, j] = v / np.linalg.norm(v)
    return Q
---
def nms(boxes: f64[n, 4], scores: T[n], limit: f64):
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    order = scores.argsort(kind="stable")[::-1]
    keep = np.ones(len(order), dtype=bool)
    for a in range(len(order)):
        i = order[a]
        if not keep[i]:
            continue
        for b in range(a + 1, len(order)):
            j = order[b]
            w = max(0.0, min(boxes[i, 2], boxes[j, 2]) - max(boxes[i, 0], boxes[j, 0]))
            h = max(0.0, min(boxes[i, 3], boxes[j, 3]) - max(boxes[i, 1], boxes[j, 1]))
            if w * h / (area[i] + area[j] - w * h) > limit:
                keep[j] = False
    return np.where(keep)[0]
---
def median_filter(x: T[n], k: i64):
    half = k // 2
    padded = np.pad(x, half, mode="edge")
    return np.array([np.median(padded[i:i + 2 * half + 1]) for i in range(len(x))])
---
def smooth(x: T[n]):
    w = np.hanning(5)
    s = np.concatenate((2 * x[0] - x[4:0:-1], x, 2 * x[-1] - x[-1:-5:-1]))
    y = np.convolve(w / w.sum(), s, mode="valid")
    return y
---
def detrend(x: T[n]):
    assert len(x) >= 2
    t = np.arange(len(x))
    A = np.vstack([t, np.ones(len(t))]).T
    coef = np.linalg.lstsq(A, x, rcond=None)[0]
    return x - A @ coef
---
def spectrum(x: T[n], fs: f64):
    f = np.fft.rfftfreq(len(x), 1 / fs)
    p = np.abs(np.fft.rfft(x * np.hanning(len(x)))) ** 2
    return f[np.argmax(p)], p / p.sum()
---
def entropy(x: i64[n]):
    _, counts = np.unique(x, return_counts=True)
    p = counts / counts.sum()
    return -np.sum(p * np.log2(p))
---
def haversine(lat: T[n], lon: T[n]):
    la, lo = np.radians(lat), np.radians(lon)
    dlat = la[1:] - la[:-1]
    dlon = lo[1:] - lo[:-1]
    h = np.sin(dlat / 2.0) ** 2 + np.cos(la[:-1]) * np.cos(la[1:]) * np.sin(dlon / 2.0) ** 2
    return 6371 * 2 * np.arcsin(np.sqrt(h))
'''
