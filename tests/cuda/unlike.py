"""Programs that somebody wrote who had read the contract and none of our tests: right ones, rows like those of constructs.py and run by the same test, and wrong ones."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from tests.cuda.constructs import ROWS, Arguments

HEAD = """import atoll as at
from atoll import f64, f32, i64, i32, u8, u32, i8, c64, c128
n, m, k, q = at.sizes('n m k q')

@at.record
class Body:
    mass: f64
    place: f64[3]

@at.record
class Span:
    lo: i64
    hi: i64

@at.record
class Ball:
    r: f64

@at.record
class Box:
    w: f64
    h: f64

"""


def _bytes(rng: Any, size: int) -> tuple[Any, ...]:
    return rng.integers(0, 256, size).astype(np.uint8), rng.integers(0, 256, size).astype(np.uint8)


def _places(rng: Any, size: int) -> tuple[Any, ...]:
    return rng.normal(size=size) ** 2, rng.normal(size=(size, 3))


def _keyed(rng: Any, size: int) -> tuple[Any, ...]:
    return rng.integers(0, 4, size), rng.integers(-3, 3, size).astype(np.int32), rng.normal(size=size).astype(np.float32)


def _signal(rng: Any, size: int) -> tuple[Any, ...]:
    return (rng.normal(size=size) + 1j * rng.normal(size=size),)


def _flags(rng: Any, size: int) -> tuple[Any, ...]:
    return rng.random(size=(min(size, 30), size)) < 0.4, rng.random(size) < 0.7


def _graph(rng: Any, size: int) -> tuple[Any, ...]:
    degrees = rng.integers(0, 6, size)
    ptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    edges = rng.integers(0, max(size, 1), 6 * size)
    return ptr, edges


def _pixels(rng: Any, size: int) -> tuple[Any, ...]:
    return (rng.integers(0, 256, (min(size, 40), size + 2, 3)).astype(np.uint8),)


def _layers(rng: Any, size: int) -> tuple[Any, ...]:
    width = min(size, 20)
    return rng.normal(size=(width, 6)), rng.normal(size=(6, 4)), rng.normal(size=4), rng.integers(0, 4, width)


def _numbers(rng: Any, size: int) -> tuple[Any, ...]:
    return (rng.integers(-50, 50, size),)


def _reals(rng: Any, size: int) -> tuple[Any, ...]:
    return (rng.normal(size=size),)


def _pair(rng: Any, size: int) -> tuple[Any, ...]:
    width = min(size, 25)
    return rng.integers(0, 4, width).astype(np.int8), rng.integers(0, 4, width + 3).astype(np.int8)


def _cells(rng: Any, size: int) -> tuple[Any, ...]:
    width = min(size, 24)
    return rng.random((width + 1, width + 3)) < 0.35, 3


def _sparse(rng: Any, size: int) -> tuple[Any, ...]:
    return rng.integers(0, 5, size), rng.integers(0, 7, size), rng.normal(size=size)


TEXTS: dict[str, tuple[str, Arguments]] = {
    "checksums": ("a: u8[n], b: u8[n]", "    both = a + b\n    twice = [v * u8(2) + u8(1) for v in both]\n    return both, twice, a - b, [u8(i64(v) * 7 % 256) for v in a], sum(a), scan(add, u8(0), a), reduce(lambda p, q: p ^ q, u8(0), b)\n", _bytes),
    "center_of_mass": ("mass: f64[n], places: f64[n, 3]", "    bodies = [Body(w, p) for w, p in zip(mass, places)]\n    total = sum(b.mass for b in bodies)\n    middle = [sum(b.mass * b.place[i] for b in bodies) / (total + 1.0) for i in range(3)]\n    heaviest = 0 if n == 0 else argmax(b.mass for b in bodies) if n > 0 else 0\n    moved = [Body(b.mass, b.place - middle) for b in bodies]\n    return total, middle, heaviest, moved\n", _places),
    "groups": ("key: i64[n], sub: i32[n], v: f32[n]", "    order = sort([(a, b, i) for i, (a, b) in enumerate(zip(key, sub))])\n    counts = hist(add, 0, 4, key, [1 for _ in key])\n    least = hist(minimum, f32(inf), 4, key, v)\n    starts = scan(add, 0, counts, exclusive=True)\n    return order, counts, least, starts, [v[i] for a, b, i in order]\n", _keyed),
    "spectrum": ("z: c128[n]", "    power = [abs(v) ** 2 for v in z]\n    turned = [v * exp(1j * pi * f64(i)) for i, v in enumerate(z)]\n    return sum(z), power, turned, sum(conj(v) * w for v, w in zip(z, turned)), scan(mul, 1.0 + 0j, [v / (1.0 + abs(v)) for v in z]), prod(z)\n", _signal),
    "reach": ("seen: at.bool_[m, n], alive: at.bool_[n]", "    any_of = [any(p and q for p, q in zip(r, alive)) for r in seen]\n    all_of = [all(p or not q for p, q in zip(r, alive)) for r in seen]\n    count = [sum(r) for r in seen]\n    either = [reduce(lambda a, b: a != b, False, r) for r in seen]\n    return any_of, all_of, count, either, sum(alive), [i for i, a in enumerate(alive) if a]\n", _flags),
    "breadth_first": ("ptr: i64[n + 1], edges: i64[6 * n]", "    far = full(n, -1)\n    if n > 0:\n        far[0] = 0\n        depth = 0\n        more = True\n        while more:\n            hit = [any(far[edges[e]] == depth for e in range(ptr[i], ptr[i + 1])) and far[i] < 0 for i in range(n)]\n            far = [depth + 1 if h else f for h, f in zip(hit, far)]\n            depth += 1\n            more = any(hit)\n    return far\n", _graph),
    "first_repeat": ("x: i64[n]", "    where = (-1, -1)\n    for i in range(n):\n        found = -1\n        for j in range(i):\n            if x[j] == x[i]:\n                found = j\n                break\n        if found >= 0:\n            where = (found, i)\n            break\n    return where\n", _numbers),
    "grey": ("p: u8[m, n + 2, 3]", "    light = [[u8((i64(c[0]) * 77 + i64(c[1]) * 150 + i64(c[2]) * 29) // 256) for c in r] for r in p]\n    edges = [[abs(i64(r[j + 2]) - i64(r[j])) for j in range(n)] for r in light]\n    level = hist(add, 0, 8, [i64(v) // 32 for r in light for v in r], [1 for r in light for v in r])\n    return light, edges, level, max((v for r in light for v in r), default=u8(0))\n", _pixels),
    "cross_entropy": ("x: f64[m, 6], w: f64[6, 4], b: f64[4], y: i64[m]", "    def one(row, label):\n        logits = [sum(row[i] * w[i, j] for i in range(6)) + b[j] for j in range(4)]\n        top = max(logits)\n        return log(sum(exp(v - top) for v in logits)) + top - logits[label]\n    return sum(one(r, l) for r, l in zip(x, y))\n", _layers),
    "edit_distance": ("a: i8[m], b: i8[q]", "    row = [j for j in range(q + 1)]\n    for i in range(m):\n        new = zeros(q + 1, i64)\n        new[0] = i + 1\n        for j in range(q):\n            new[j + 1] = min(row[j] + (0 if a[i] == b[j] else 1), row[j + 1] + 1, new[j] + 1)\n        row = new\n    return row[q]\n", _pair),
    "life": ("c: at.bool_[m, k], t: i64", "    for _ in range(t):\n        around = [[sum(c[(i + p - 1) % m, (j + r - 1) % k] for p in range(3) for r in range(3)) - c[i, j] for j in range(k)] for i in range(m)]\n        c = [[s == 3 or (a and s == 2) for a, s in zip(row, sums)] for row, sums in zip(c, around)]\n    return c, sum(sum(r) for r in c)\n", _cells),
    "merged_spans": ("x: i64[n]", "    spans = sort([(min(v, v + 5), max(v, v + 5)) for v in x])\n    reach = scan(maximum, -1000, [hi for lo, hi in spans], exclusive=True)\n    opens = [1 if lo > r else 0 for (lo, hi), r in zip(spans, reach)]\n    made = [Span(lo, hi) for lo, hi in spans]\n    return spans, scan(add, 0, opens), sum(s.hi - s.lo for s in made)\n", _numbers),
    "running_mean_and_spread": ("x: f64[n]", "    def merge(a, b):\n        c = a[0] + b[0]\n        d = b[1] - a[1]\n        w = b[0] / max(c, 1.0)\n        return c, a[1] + d * w, a[2] + b[2] + d * d * a[0] * w\n    return scan(merge, (0.0, 0.0, 0.0), [(1.0, v, 0.0) for v in x]), reduce(merge, (0.0, 0.0, 0.0), [(1.0, v, 0.0) for v in x])\n", _reals),
    "longest_rise": ("x: i64[n]", "    best = 0\n    run = 0\n    at_ = -1\n    for i in range(1, n):\n        if x[i] <= x[i - 1]:\n            run = 0\n            continue\n        run += 1\n        if run > best:\n            best = run\n            at_ = i\n    return best, at_\n", _numbers),
    "bracketed_roots": ("x: f64[n]", "    def root(c):\n        lo, hi = 0.0, 1.0 + abs(c)\n        for step in range(60):\n            mid = 0.5 * (lo + hi)\n            if mid * mid * mid > abs(c):\n                hi = mid\n            else:\n                lo = mid\n            if hi - lo < 1e-9:\n                break\n        return lo\n    return [root(v) for v in x]\n", _reals),
    "accumulated": ("i: i64[n], j: i64[n], v: f64[n]", "    a = zeros((5, 7))\n    for t in range(n):\n        a[i[t], j[t]] += v[t]\n    rows = hist(add, 0.0, 5, i, v)\n    return a, rows, scatter(zeros(7), j, v, op=maximum), sum(a, axis=0), [argmax(r) for r in a]\n", _sparse),
    "shapes": ("x: f64[n]", "    balls = [Ball(abs(v)) for v in x]\n    boxes = [Box(v, v + 1.0) for v in x]\n    return sum(pi * b.r * b.r for b in balls), [b.w * b.h for b in boxes], max((b.h for b in boxes), default=-1.0)\n", _reals),
    "wrapping": ("x: i64[n]", "    small = [i8(v) for v in x]\n    big = [i32(v) * i32(100000000) for v in x]\n    return small + small, [v * i8(3) for v in small], big, [u32(i64(v) + 50) - u32(60) for v in x], [v << 61 for v in x], [v >> 2 for v in x], [v // 7 for v in x], [v % 7 for v in x], [v % -7 for v in x]\n", _numbers),
    "halving": ("x: f64[n]", "    total = 0.0\n    for i in range(n):\n        w = 1.0\n        for j in range(i, n):\n            if w < 1e-3:\n                break\n            if x[j] < 0.0:\n                continue\n            total += w * x[j]\n            w *= 0.5\n        else:\n            total += 100.0\n    return total\n", _reals),
    "odd_even_sort": ("x: i64[n]", "    for t in range(n):\n        x = [min(x[i], x[i + 1]) if (i + t) % 2 == 0 and i + 1 < n else max(x[i - 1], x[i]) if (i + t) % 2 == 1 and i > 0 else x[i] for i in range(n)]\n    return x\n", _numbers),
    "single_precision": ("x: f64[n]", "    y = [f32(v) for v in x]\n    return sum(y), [v * f32(0.1) for v in y], scan(add, f32(0.0), y), max(y, default=f32(0.0)), [f64(v) - w for v, w in zip(y, x)], sqrt(abs(y))\n", _reals),
}  # fmt: skip
"""Name, parameters, body, arguments."""
SLOPES = {"cross_entropy": ("w", "b"), "halving": ("x",)}


def made(name: str, parameters: str, body: str) -> at.Function:
    return at.fn(source=f"{HEAD}@at.fn\ndef {name}({parameters}):\n{body}")


for _name, (_parameters, _body, _arguments) in TEXTS.items():
    _f = made(_name, _parameters, _body)
    ROWS[_name] = (_f, _arguments)
    if _name in SLOPES:
        ROWS[f"slope of {_name}"] = (at.grad(_f, wrt=SLOPES[_name] if len(SLOPES[_name]) > 1 else 0), _arguments)

X = "x: f64[n], c: i64[n]"
WRONG: dict[str, tuple[str, str]] = {
    "a read past a row": (X, "    a = [[v * f64(j) for j in range(4)] for v in x]\n    return [a[i, c[i]] for i in range(n)]\n"),
    "an update past the end": (X, "    y = zeros(5)\n    for i in range(n):\n        y[c[i]] += x[i]\n    return y\n"),
    "a remainder by what may be zero": (X, "    return sum(7 % (v - 3) for v in c)\n"),
    "an assert in a row": (X, "    def one(v, w):\n        assert w < 9, f'{w} is too many'\n        return v * f64(w)\n    return [one(v, w) for v, w in zip(x, c)]\n"),
    "the least of nothing": (X, "    few = [v for v in x if v > 99.0]\n    return min(few)\n"),
    "the best of nothing in a row": (X, "    return [argmax(x[0:v * 0]) for v in [0, 1]]\n"),
    "a number that is not one": (X, "    return [i64(log(v - 2.0)) for v in x]\n"),
    "a shift by less than nothing": (X, "    return [1 << (3 - v) for v in c]\n"),
    "two writers": (X, "    return scatter(zeros(20), [abs(v - 2) for v in c], x)\n"),
    "a bin that is not there": (X, "    return hist(add, 0, 9, c, c)\n"),
    "a read in a while": (X, "    i = 0\n    while x[i] >= 0.0:\n        i += 1\n    return i\n"),
    "a slice by data": (X, "    return sum(x[0:c[2]])\n"),
    "a loop of the host": (X, "    y = x\n    for t in range(8):\n        assert t < 5, f'step {t}'\n        y = [0.5 * (y[i] + y[(i + 1) % n]) for i in range(n)]\n    return y\n"),
    "a gather by a sort": (X, "    order = argsort(c)\n    return [x[c[i]] for i in order]\n"),
    "a bin of a row": (X, "    return [hist(add, 0, 4, [v, w], [1, 1]) for v, w in zip(c, c)]\n"),
}  # fmt: skip
"""What each is, its parameters and its body; run with six numbers of x, and c = 1 2 9 3 11 0."""
