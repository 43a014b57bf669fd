"""A fifth round of a stranger's programs: what numbers do (widths, casts, f16, what is no number in maxima), sums with arrays, machines in loops, structures kept flat, functors over numbers.
Expected values by NumPy and Python's integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.futhark.strangers import Program

RNG = np.random.default_rng(505)
HALVES = np.array([1, 2.5, 0.1, 1000, 504], np.float16)
HOLES = np.array([1.5, -np.inf, np.nan, -0.0, 3, np.nan])


def whole(a: Any, b: Any) -> Any:
    """i8: what Futhark's operators give, by Python's integers."""
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))

    def i8(values: Any) -> Any:
        return np.array([(v + 128) % 256 - 128 for v in values], np.int8)

    def quotient(x: int, y: int) -> int:
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    return (
        i8(x + y for x, y in pairs), i8(x * y for x, y in pairs), i8(x // y for x, y in pairs), i8(x % y for x, y in pairs), i8(quotient(x, y) for x, y in pairs),
        i8(x - y * quotient(x, y) for x, y in pairs), i8(x << (y & 7) for x, y in pairs), i8(x >> (y & 7) for x, y in pairs), np.array([(x & 255) >> (y & 7) for x, y in pairs], np.uint8),
        i8(x ** (y & 3) for x, y in pairs), i8(-x for x, _ in pairs), i8(~x for x, _ in pairs), i8(abs(x) for x, _ in pairs), np.sign(a),
    )  # fmt: skip


def cast(a: Any) -> Any:
    narrow = [a.astype(t) for t in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.uint64)]
    low = a.astype(np.int8)
    return (*narrow, low.astype(np.int64), low.view(np.uint8).astype(np.uint32), a.astype(np.float32), a.astype(np.uint64).astype(np.float64), a != 0)


def halves(a: Any, b: Any) -> Any:
    total = np.float16(0)
    for x in a:
        total = np.float16(total + x)
    return a + b, a / b, np.sqrt(a), (a.astype(np.float32) * 3).astype(np.float16), b.astype(np.float64), a.view(np.uint16), total, 2 * b


def holes(x: Any, bins: Any) -> Any:
    top = np.full(3, -np.inf)
    for b, v in zip(bins, x, strict=True):
        top[b] = np.fmax(top[b], v)
    low = x.copy()
    for b, v in zip(bins, x, strict=True):
        low[b] = np.fmin(low[b], v)
    best = np.fmax.reduce(x)
    return best, np.fmin.reduce(x), best, best, np.fmax.accumulate(np.concatenate([[-np.inf], x[::-1]]))[1:], top, low, np.float32(best), -np.inf, np.array([best, best])


def carried(a: Any, b: Any) -> Any:
    total = int.from_bytes(bytes(a), "little") + int.from_bytes(bytes(b), "little")
    return np.frombuffer((total % 256 ** len(a)).to_bytes(len(a), "little"), np.uint8)


def spun(ws: Any, xs: Any) -> Any:
    """Products of quaternions w + x i + j / 2 - x k, as matrices."""
    m, seen = np.eye(4), []
    for w, x in zip(ws, xs, strict=True):
        m = m @ np.array([[w, -x, -0.5, x], [x, w, x, 0.5], [0.5, -x, w, -x], [-x, -0.5, x, w]])
        seen.append(m[1, 0])
    return np.array(seen), m[3, 0]


def best_of(k: int, bins: Any, xs: Any) -> Any:
    value, where = np.full(k, -np.inf), np.full(k, 2**63 - 1)
    for i, (b, x) in enumerate(zip(bins, xs, strict=True)):
        if 0 <= b < k and (x > value[b] or (x == value[b] and i < where[b])):
            value[b], where[b] = x, i
    return value, where


def turned(a: Any) -> Any:
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a


def areas(kinds: Any, xs: Any, ys: Any) -> Any:
    each = (0.5 * abs(np.sum(xs * np.roll(ys, -1) - np.roll(xs, -1) * ys)), np.pi * xs[0] ** 2, 0.0)
    return np.array([each[k] for k in kinds])


def trained(x: Any, y: Any) -> Any:
    w, b = np.array([0.1, -0.1]), 0.0
    for _ in range(20):
        t = np.tanh(x @ w + b)
        d = 2 * (t - y) * (1 - t * t)
        w, b = w - 0.05 * d @ x, b - 0.05 * d.sum()
    return w, b, ((np.tanh(x @ w + b) - y) ** 2).sum()


def slopes(x: Any) -> Any:
    """A loop with an update, its gradient and its derivative in all directions at once, by a complex step."""

    def f(x: Any) -> Any:
        x = x.copy()
        for i in range(5):
            x[i % 3] = x[(i + 1) % 3] * np.sin(x[i % 3])
            x = 1.1 * x
        return x.sum()

    g = np.array([f(x + 1e-30j * row).imag / 1e-30 for row in np.eye(3)])
    return f(x), g, f(x), g.sum()


def weighed(lengths: Any) -> Any:
    out = np.zeros(5)
    for k in lengths:
        out[k] += sum(i * k for i in range(k))
    return np.repeat(lengths, lengths), out


def apart(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    order = np.argsort(~c, kind="stable")
    return a[order], b[order], d[order], e[order].astype(np.int32), c.sum()


def views(x: Any) -> Any:
    rolled = np.roll(x.reshape(6, 4), -1, 0)[::-1]
    return x.transpose(0, 2, 1), x.transpose(1, 0, 2), x.ravel(), rolled, x.sum(2), 22, 1, np.concatenate([x[0], x[1]]), x[1, :, ::-1], x[:, 0, 1:]


def words(a: Any, b: Any) -> Any:
    x, y = a.tolist(), b.tolist()
    low = [(v & -v).bit_length() - 1 if v else 32 for v in x]
    high = np.array([v * w >> 32 for v, w in zip(x, y, strict=True)])
    return [v.bit_count() for v in x], [32 - v.bit_length() for v in x], low, high, a >> 31, a | 16, (high + 5) % 2**32, a << 5 | a >> 27, (a ^ b) & ~b | 3


def clustered(p: Any, k: int) -> Any:
    centres = p[:k].copy()
    for _ in range(5):
        where = np.argmin(np.sqrt(((p[:, None] - centres) ** 2).sum(2)), 1)
        centres = np.array([p[where == j].mean(0) if (where == j).any() else centres[j] for j in range(k)])
    return centres, np.bincount(where, minlength=k)


def thinned(xs: Any) -> Any:
    k = 0
    while len(xs) > 2 and k < 10:
        xs = xs[xs % 2 == 0] if k % 2 == 0 else xs // 2
        k += 1
    return xs, k


def exchanged(bins: Any, x: Any) -> Any:
    def f(x: Any) -> Any:
        s, t = np.cumsum(x), np.roll(np.exp(x), 1)
        low = np.where(t.real < t[::-1].real, t, t[::-1])
        return sum(np.prod(s[bins == k]) for k in range(3)) + (low * s).sum() + max(t, key=lambda z: z.real)

    return f(x).real, np.array([f(x + 1e-30j * row).imag / 1e-30 for row in np.eye(len(x))])


RIGHT = {
    "the operators of i8": Program(
        """
def each [n] (f: i8 -> i8 -> i8) (a: [n]i8) (b: [n]i8) = map2 f a b
entry run [n] (a: [n]i8) (b: [n]i8) =
  (each (+) a b, each (*) a b, each (/) a b, each (%) a b, each (//) a b, each (%%) a b,
   each (\\x y -> x << (y & 7)) a b, each (\\x y -> x >> (y & 7)) a b, map2 (\\x y -> u8.i8 x >> u8.i8 (y & 7)) a b,
   each (\\x y -> x ** (y & 3)) a b, map (\\x -> -x) a, map (\\x -> !x) a, map i8.abs a, map i8.sgn a)
""", "run", (np.array([-128, -127, -7, -1, 0, 1, 7, 127], np.int8), np.array([-1, 3, 2, -128, 5, -3, -2, 127], np.int8),), whole),
    "casts between widths": Program(
        """
entry run [n] (a: [n]i64) =
  (map i8.i64 a, map u8.i64 a, map i16.i64 a, map u16.i64 a, map i32.i64 a, map u32.i64 a, map u64.i64 a,
   map (\\x -> i64.i8 (i8.i64 x)) a, map (\\x -> u32.i8 (i8.i64 x)) a, map f32.i64 a, map (\\x -> f64.u64 (u64.i64 x)) a, map bool.i64 a)
""", "run", (np.array([0, 1, -1, 127, 128, 255, 256, -129, 2**31, -(2**31) - 1, 2**53 + 1, -(2**63), 2**63 - 1]),), cast),
    "f16 outside and inside": Program(
        """
def total = f16.sum
entry run [n] (a: [n]f16) (b: [n]f16) =
  (map2 (+) a b, map2 (/) a b, map f16.sqrt a, map (\\x -> f16.f32 (f32.f16 x * 3)) a, map f64.f16 b, map f16.to_bits a, total a, vjp (\\b -> total (map (\\x -> x * x) b)) b 1)
""", "run", (HALVES, np.array([3, 0.3, -7, 99, 1], np.float16),), halves),
    "what is no number loses in max and min": Program(
        """
entry run [n] (x: [n]f64) (is: [n]i64) =
  (f64.maximum x, f64.minimum x, reduce f64.max f64.nan x, reduce f64.max x[2] x, scan f64.max (-f64.inf) (reverse x), hist f64.max (-f64.inf) 3 is x,
   reduce_by_index (copy x) f64.min f64.nan is x, f32.maximum (map f32.f64 x), f64.maximum (take (n - 6) x), map f64.maximum [x, reverse x])
""", "run", (HOLES, np.array([0, 1, 0, 2, 2, 1]),), holes),
    "a number of many digits by a scan of carries": Program(
        """
type c = #kill | #prop | #gen
def comb (a: c) (b: c) : c = match b case #prop -> a case _ -> b
def add [n] (a: [n]u8) (b: [n]u8) : [n]u8 =
  let s = map2 (\\x y -> u16.u8 x + u16.u8 y) a b
  let cs = map (\\v -> if v > 255 then #gen else if v == 255 then #prop else #kill : c) s
  let carry = scan comb #prop cs
  in tabulate n (\\i -> u8.u16 (s[i] + (if i > 0 then match carry[i - 1] case #gen -> 1 case _ -> 0 else 0)))
entry run [n] (a: [n]u8) (b: [n]u8) = add a b
""", "run", (np.array([255, 255, 0, 254, 7], np.uint8), np.array([1, 0, 255, 1, 0], np.uint8),), carried),
    "products of quaternions, all of them": Program(
        """
type q = (f64, f64, f64, f64)
def (**^) ((a, b, c, d): q) ((e, f, g, h): q) : q = (a*e - b*f - c*g - d*h, a*f + b*e + c*h - d*g, a*g - b*h + c*e + d*f, a*h + b*g - c*f + d*e)
entry run [n] (ws: [n]f64) (xs: [n]f64) : ([n]f64, f64) =
  let qs = map2 (\\w x -> (w, x, 0.5, -x)) ws xs
  let s = scan (**^) (1, 0, 0, 0) qs
  let (_, _, _, d) = reduce (**^) (1, 0, 0, 0) qs
  in (map (.1) s, d)
""", "run", (RNG.random(5), RNG.random(5),), spun),
    "the best of each bin, and where": Program(
        """
def best (a: (f64, i64)) (b: (f64, i64)) = if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) then b else a
entry run [n] (k: i64) (bins: [n]i64) (xs: [n]f64) : ([k]f64, [k]i64) =
  unzip (reduce_by_index (replicate k (-f64.inf, i64.highest)) best (-f64.inf, i64.highest) bins (zip xs (iota n)))
""", "run", (4, np.array([0, 3, 3, 9, 0, -1, 0, 1]), np.array([0.5, 0.25, 0.25, 9, 0.9, 8, 0.9, 0.125]),), best_of),
    "elimination over ranges, element by element": Program(
        """
entry run [n] (a: *[n][n]f64) : [n][n]f64 =
  loop a for k < n do
    loop a for i in k + 1..<n do
      let f = a[i, k] / a[k, k]
      let a[i, k] = f
      in loop a for j in k+1...n-1 do a with [i, j] = a[i, j] - f * a[k, j]
""", "run", (RNG.random((5, 5)) + 3 * np.eye(5),), turned),
    "sums of a size": Program(
        """
type~ shape [n] = #poly ([n]f64) ([n]f64) | #circle f64 | #empty
def area [n] (s: shape [n]) : f64 = match s
  case #poly xs ys -> 0.5 * f64.abs (f64.sum (tabulate n (\\i -> let j = (i + 1) % n in xs[i] * ys[j] - xs[j] * ys[i])))
  case #circle r -> f64.pi * r * r
  case #empty -> 0
def pick [n] (k: i32) (xs: [n]f64) (ys: [n]f64) : shape [n] = if k == 0 then #poly xs ys else if k == 1 then #circle xs[0] else #empty
entry run [n] (ks: []i32) (xs: [n]f64) (ys: [n]f64) = map (\\k -> area (pick k xs ys)) ks
""", "run", (np.array([0, 1, 2, 1], np.int32), np.array([1.0, 4, 3, 0]), np.array([0.0, 1, 5, 4]),), areas),
    "an array of sums with arrays": Program(
        """
type cell = #num i64 | #vec [2]f64 | #none
def weigh (c: cell) : f64 = match c case #num k -> f64.i64 k case #vec v -> v[0] * v[1] case #none -> -1
entry run [n] (ks: [n]i64) =
  let cells: [n]cell = map (\\k -> if k % 3 == 0 then #num k else if k % 3 == 1 then #vec [f64.i64 k, 2] else #none) ks
  let cells = copy cells with [0] = #vec [5, 5]
  let (some, none) = partition (\\c -> match c case #none -> false case _ -> true) cells
  in (map weigh cells, length none, f64.sum (map weigh some))
""", "run", (np.arange(7),), lambda k: (np.array([25, 2, -1, 3, 8, -1, 6.0]), 2, 44.0)),
    "functions of functions in tuples and records": Program(
        """
def twice 'a (f: a -> a) = f >-> f
def adder (k: i32) = \\x -> x + k
def power 'a (n: i32) (f: a -> a) (x: a) = loop x for _i < n do f x
def choose (t: (i32 -> i32, i32 -> i32)) (first: bool) (x: i32) = if first then t.0 x else t.1 x
def curried (r: {scale: i32, shift: i32 -> i32}) = \\x y -> r.shift (r.scale * x) - y
entry run [n] (xs: [n]i32) =
  let t = (twice (adder 3), power 4 (* 2))
  let c = curried {scale = 3, shift = twice (twice (adder 1))}
  in (map (choose t true) xs, map (choose t false) xs, map2 c xs (reverse xs), (xs |> map (adder 1) |> map (\\x -> x - 5)))
""", "run", (np.arange(5, dtype=np.int32),), lambda x: (x + 6, x * 16, 3 * x + 4 - x[::-1], x - 4)),
    "a table of instructions": Program(
        """
type op = #mulacc | #dec | #loop | #halt
type~ prog [n] = {code: [n]op, limit: i32}
def step ((acc, x, pc): (i64, i64, i64)) (o: op) : (i64, i64, i64) =
  match o case #mulacc -> (acc * x, x, pc + 1) case #dec -> (acc, x - 1, pc + 1) case #loop -> (acc, x, if x > 0 then 0 else pc + 1) case #halt -> (acc, x, pc)
def exec [n] (p: prog [n]) (x: i64) : i64 =
  (loop s = (1, x, 0) while s.2 < n && p.code[s.2] != #halt do step s p.code[s.2]).0
entry run [n] (xs: [n]i64) = let p = {code = [#mulacc, #dec, #loop, #halt], limit = 3} in map (exec p) xs
""", "run", (np.array([1, 3, 5, 10]),), lambda x: np.array([1, 6, 120, 3628800])),
    "a model as a record, by descent": Program(
        """
type params = {w: [2]f64, b: f64}
def model (p: params) (x: [2]f64) = f64.tanh (p.w[0] * x[0] + p.w[1] * x[1] + p.b)
def loss [n] (xs: [n][2]f64) (ys: [n]f64) (p: params) = f64.sum (map2 (\\x y -> (model p x - y) ** 2) xs ys)
entry run [n] (xs: [n][2]f64) (ys: [n]f64) =
  let p = loop p = {w = [0.1, -0.1], b = 0} for _k < 20i32 do
    let g = vjp (loss xs ys) p 1
    in {w = map2 (\\a d -> a - 0.05 * d) p.w g.w, b = p.b - 0.05 * g.b}
  in (p.w, p.b, loss xs ys p)
""", "run", (RNG.random((6, 2)), RNG.random(6),), trained),
    "vjp2 and jvp2 of a loop that updates": Program(
        """
def f [n] (k: i32) (xs: [n]f64) : f64 =
  let ys = loop ys = copy xs for i < k do let ys[i64.i32 i % n] = ys[(i64.i32 i + 1) % n] * f64.sin ys[i64.i32 i % n] in map (* 1.1) ys
  in f64.sum ys
entry run [n] (xs: [n]f64) =
  let (v, g) = vjp2 (f 5) xs 1
  let (v', d) = jvp2 (f 5) xs (replicate n 1)
  in (v, g, v', d)
""", "run", (RNG.random(3),), slopes),
    "rows of their own lengths, kept flat": Program(
        """
def segsum [n] (k: i64) (ids: [n]i64) (xs: [n]f64) : [k]f64 = hist (+) 0 k ids xs
def expand 'a 'b (sz: a -> i64) (get: a -> i64 -> b) (arr: []a) : []b =
  let szs = map sz arr
  let ends = scan (+) 0 szs
  let total = if length arr == 0 then 0 else ends[length arr - 1]
  let owner = tabulate total (\\i -> i64.sum (map (\\e -> i64.bool (e <= i)) ends))
  in map2 (\\o i -> get arr[o] (i - (ends[o] - szs[o]))) owner (iota total)
entry run [n] (ls: [n]i64) = let e = expand (\\k -> k) (\\k i -> (k, f64.i64 (i * k))) ls in (map (.0) e, segsum 5 (map (.0) e) (map (.1) e))
""", "run", (np.array([2, 0, 4, 1]),), weighed),
    "matrices that carry their sizes": Program(
        """
type~ mat = {rows: i64, cols: i64, data: []f64}
def at (m: mat) (i: i64) (j: i64) = m.data[i * m.cols + j]
def transposed (m: mat) : mat = {rows = m.cols, cols = m.rows, data = flatten (tabulate_2d m.cols m.rows (\\i j -> at m j i))}
def mul (a: mat) (b: mat) : mat = assert (a.cols == b.rows) {rows = a.rows, cols = b.cols, data = flatten (tabulate_2d a.rows b.cols (\\i j -> f64.sum (tabulate a.cols (\\k -> at a i k * at b k j))))}
entry run [n][m] (a: [n][m]f64) = let x = {rows = n, cols = m, data = flatten a} let y = mul x (transposed x) in unflatten (y.data :> [n * n]f64)
""", "run", (RNG.random((3, 4)),), lambda a: a @ a.T),
    "a stack of a size behind a module's type": Program(
        """
module type stack = { type~ t [n] type elem val empty : (n: i64) -> t [n] val push [n] : elem -> *t [n] -> *t [n] val size [n] : t [n] -> i64 val items [n] : t [n] -> []elem }
module mk_stack (E: { type t val dummy : t }) : stack with elem = E.t = {
  type elem = E.t
  type~ t [n] = (i64, [n]elem)
  def empty (n: i64) : t [n] = (0, replicate n E.dummy)
  def push [n] (x: elem) ((k, xs): *t [n]) : *t [n] = (k + 1, xs with [k] = x)
  def size [n] ((k, _): t [n]) = k
  def items [n] ((k, xs): t [n]) = take k xs }
module s = mk_stack { type t = f64 def dummy = 0f64 }
entry run [n] (xs: [n]f64) =
  let st = loop st = s.empty n for x in xs do if x > 0.5 then s.push x st else st
  in (s.size st, s.items st)
""", "run", (RNG.random(9),), lambda x: ((x > 0.5).sum(), x[x > 0.5])),
    "a polynomial over any numbers": Program(
        """
module poly (N: numeric) = {
  def eval [n] (cs: [n]N.t) (x: N.t) : N.t = loop acc = N.i32 0 for i < n do N.(acc * x + cs[n i64.- 1 i64.- i])
  def lowest = N.lowest
  def big = N.(highest - i32 1) }
module p8 = poly i8
module p16 = poly u16
module pf = poly f32
entry run (x: i32) = (p8.eval [1, 2, 3] (i8.i32 x), p16.eval [1, 2, 3] (u16.i32 (100 * x)), pf.eval [1, 2, 3] (f32.i32 x), p8.lowest, p8.big, p16.lowest)
""", "run", (10,), lambda x: (65, 3002001 % 65536, 321.0, -128, 126, 0)),
    "rows sorted by their ranks": Program(
        """
def positives [n] (xs: [n]i32) : ?[m].[m](i64, i32) = filter (\\(_, x) -> x > 0) (zip (iota n) xs)
def ranks [n] (xs: [n](i64, i32)) : [n]i64 = map (\\(i, x) -> i64.sum (map (\\(j, y) -> i64.bool (y < x || (y == x && j < i))) xs)) xs
entry run [n] (xs: [n]i32) =
  let p = positives xs
  let r = ranks p
  let sorted = scatter (replicate (length p) (0, 0)) r p
  in (unzip sorted).1
""", "run", (RNG.integers(-9, 9, 20).astype(np.int32),), lambda x: np.sort(x[x > 0])),
    "five arrays, taken apart": Program(
        """
entry run [n] (a: [n]i32) (b: [n]f64) (c: [n]bool) (d: [n]i64) (e: [n]u8) =
  let rows = zip5 a b c d e
  let (yes, no) = partition (\\(_, _, c, _, _) -> c) rows
  let (a', b', _, d', e') = unzip5 (yes ++ no)
  in (a', b', d', map i32.u8 e', length yes)
""", "run", (np.arange(6, dtype=np.int32), RNG.random(6), np.array([1, 0, 1, 1, 0, 0], bool), np.arange(6) * 10, np.arange(250, 256, dtype=np.uint8)), apart),
    "three views of one array, reversed and rotated": Program(
        """
entry run [a][b][c] (x: [a][b][c]i32) = (map transpose x, transpose x, flatten_3d x, reverse (rotate 1 (flatten x)), map (map i32.sum) x, last (init (flatten_3d x)), head (tail x[0, 0]), concat x[0] x[1], x[1, :, ::-1], x[:, 0, 1:])
""", "run", (np.arange(24, dtype=np.int32).reshape(2, 3, 4),), views),
    "arms of numbers below zero, characters and records": Program(
        """
def g (x: i32, c: u8, t: {p: bool, q: f32}) : i32 =
  match (x, c, t)
  case (0, _, _) -> 1
  case (-1, 'a', {p = true, q = _}) -> 2
  case (n, 'b', {p = _, q = 2.5}) -> n * 3
  case (n, _, {p = false, q = _}) -> n
  case (_, _, {p, q}) -> i32.bool p - i32.f32 q
entry run (xs: []i32) = map (\\x -> g (x, if x < 3 then 'a' else 'b', {p = x < 0, q = if x > 4 then 2.5 else 0})) xs
""", "run", (np.array([0, -1, -2, 3, 5], np.int32),), lambda x: np.array([1, 2, 1, 3, 15])),
    "bits of u32": Program(
        """
entry run [n] (a: [n]u32) (b: [n]u32) =
  (map u32.popc a, map u32.clz a, map u32.ctz a, map2 u32.mul_hi a b, map (\\x -> i32.u32 (u32.get_bit 31 x |> u32.i32)) a, map (\\x -> u32.set_bit 4 x 1) a, map2 (\\x y -> u32.mad_hi x y 5) a b, map ((\\x -> x << 5 | x >> 27)) a, map2 (\\x y -> (x ^ y) & !y | 3) a b)
""", "run", (np.array([0, 1, 2**31, 2**32 - 1, 12345678], np.uint32), np.array([7, 2**32 - 1, 3, 2**32 - 1, 87654321], np.uint32),), words),
    "Euclid with all its numbers": Program(
        """
entry run (a: i64) (b: i64) =
  let (g, _, s, _, t, _, k) = loop (r0, r1, s0, s1, t0, t1, k) = (a, b, 1, 0, 0, 1, 0i32) while r1 != 0 do
    let q = r0 / r1 in (r1, r0 - q * r1, s1, s0 - q * s1, t1, t0 - q * t1, k + 1)
  in (g, s, t, s * a + t * b == g, k)
""", "run", (240, 46,), lambda a, b: (2, -9, 47, True, 5)),
    "operators of one's own, and parts of them": Program(
        """
def (+^) (a: (i32, i32)) (b: (i32, i32)) = (a.0 + b.0, a.1 + b.1)
def (*.) 'a 'b (f: a -> b) (xs: []a) = map f xs
def (<&&>) (p: i32 -> bool) (q: i32 -> bool) (x: i32) = p x && q x
def subtract (a: i32) (b: i32) = b - a
def max3 a b c = i32.max a b `i32.max` c
entry run (xs: []i32) = let r = filter ((> 1) <&&> (< 6)) xs let t = reduce (+^) (0, 0) (zip r (map (`i32.max` 4) r)) in (r, t.0, t.1, (* 2) *. xs, max3 xs[0] xs[1] (-5) - -1, (-) 3 2 + (2-) 7 + (subtract 1) 5)
""", "run", (np.array([3, 9, 2, 5, 0, 6], np.int32),), lambda x: (np.array([3, 2, 5]), 10, 13, x * 2, 10, 0)),
    "running sums of rows whose length is an argument": Program(
        """
entry run (n: i64) (m: i64) (a: [n * m]i32) : ([n][m]i32, [m]i32) =
  let rows = unflatten a
  let add (xs: [m]i32) ys = map2 (+) xs ys
  in (scan add (replicate m 0) rows, reduce add (replicate m 0) rows)
""", "run", (300, 2, np.arange(600, dtype=np.int32)), lambda n, m, a: (a.reshape(n, m).cumsum(0), a.reshape(n, m).sum(0))),
    "two sums of what bits choose": Program(
        """
entry run [k] (x: [30][2]i32) (masks: [k]i32) : ([k]i32, [k]i32) =
  unzip (map (\\m -> loop (a, b) = (0, 0) for r < 30i64 do let bit = 1 << i32.i64 r in if bit & m == bit then (a + x[r, 0], b + x[r, 1]) else (a, b)) masks)
""", "run", (RNG.integers(0, 99, (30, 2)).astype(np.int32), np.arange(9, dtype=np.int32) * 33), lambda x, masks: tuple(np.array([sum(x[r, j] for r in range(30) if m >> r & 1) for m in masks]) for j in range(2))),
    "means of clusters as records": Program(
        """
type cluster = {centre: [2]f64, count: i32}
def dist (a: [2]f64) (b: [2]f64) = f64.sqrt (f64.sum (map2 (\\x y -> (x - y) ** 2) a b))
def nearest [k] (cs: [k]cluster) (p: [2]f64) : i64 =
  (reduce_comm (\\(i, a) (j, b) -> if b < a || (b == a && j < i) then (j, b) else (i, a)) (k, f64.inf) (zip (iota k) (map (\\c -> dist c.centre p) cs))).0
entry run [n] (ps: [n][2]f64) (k: i64) : ([k][2]f64, [k]i32) =
  let start = map (\\i -> {centre = ps[i], count = 0i32}) (iota k)
  let cs = loop cs = start for _r < 5i32 do
    let where = map (nearest cs) ps
    let counts = hist (+) 0i32 k where (replicate n 1)
    let sums = reduce_by_index (replicate k [0, 0]) (map2 (+)) [0, 0] where ps
    in map3 (\\c s m -> if m == 0 then c with count = 0 else {centre = map (/ f64.i32 m) s, count = m}) cs sums counts
  in (map (.centre) cs, map (.count) cs)
""", "run", (RNG.random((20, 2)), 3), clustered),
    "folds of a product of monoids, opened": Program(
        """
module type monoid = { type t val zero : t val op : t -> t -> t }
module pair (A: monoid) (B: monoid) : monoid with t = (A.t, B.t) = { type t = (A.t, B.t) def zero = (A.zero, B.zero) def op (a: t) (b: t) : t = (A.op a.0 b.0, B.op a.1 b.1) }
module folds (M: monoid) = { def fold [n] (xs: [n]M.t) = reduce M.op M.zero xs def scanl [n] (xs: [n]M.t) = scan M.op M.zero xs }
module sum_i32 = { type t = i32 def zero = 0i32 def op = (i32.+) }
module max_f64 = { type t = f64 def zero = f64.lowest def op = f64.max }
module both = folds (pair sum_i32 (pair max_f64 sum_i32))
open both
entry run [n] (a: [n]i32) (b: [n]f64) = let (s, (m, c)) = fold (zip a (zip b (replicate n 1i32))) let t = scanl (zip a (zip b (rep 1i32))) in (s, m, c, map (.1.0) t)
""", "run", (np.array([1, 2, 3], np.int32), np.array([2.0, 5, 1])), lambda a, b: (6, 5.0, 3, np.maximum.accumulate(b))),
    "records of arrays whose sizes a loop changes": Program(
        """
type~ stream = {vals: []i64, tag: i32}
def evens (s: stream) : stream = {vals = filter (\\x -> x % 2 == 0) s.vals, tag = s.tag + 1}
def halve (s: stream) : stream = s with vals = map (/ 2) s.vals
entry run (xs: []i64) =
  let s = loop s = {vals = xs, tag = 0} while length s.vals > 2 && s.tag < 10 do if s.tag % 2 == 0 then evens s else let t = halve s in t with tag = s.tag + 1
  in (s.vals, s.tag)
""", "run", (np.arange(17) * 4,), thinned),
    "a window by a function of a sized array": Program(
        """
def conv [n][k] (f: [k]f64 -> f64) (xs: [n + k - 1]f64) : [n]f64 = tabulate n (\\i -> f (xs[i:i + k] :> [k]f64))
entry run [m] (xs: [m]f64) = let n = m - 2 in conv (\\(w: [3]f64) -> w[0] - 2 * w[1] + w[2]) (xs :> [n + 3 - 1]f64)
""", "run", (RNG.random(8),), lambda x: x[:-2] - 2 * x[1:-1] + x[2:]),
    "an inverse with pivots, rows swapped in place": Program(
        """
def swap 't [n] (i: i64) (j: i64) (xs: *[n]t) : *[n]t = let a = copy xs[i] let b = copy xs[j] in xs with [i] = b with [j] = a
def argmax [n] (xs: [n]f64) = (reduce (\\a b -> if f64.abs b.1 > f64.abs a.1 then b else a) (0, 0) (zip (iota n) xs)).0
entry run [n] (a: [n][n]f64) : [n][n]f64 =
  let m = map2 (\\r i -> r ++ tabulate n (\\j -> f64.bool (i == j))) a (iota n) :> [n][n + n]f64
  let m = loop m = copy m for k < n do
    let p = k + argmax m[k:, k]
    let m = swap k p m
    let row = map (/ m[k, k]) m[k]
    in tabulate n (\\i -> if i == k then row else map2 (\\x y -> x - m[i, k] * y) m[i] row)
  in map (\\r -> r[n:] :> [n]f64) m
""", "run", (RNG.random((4, 4)),), np.linalg.inv),
    "functions whose results have their arguments' sizes": Program(
        """
def mk (n: i64) : (k: i64) -> [n + k]i64 = \\k -> iota (n + k)
def app 'a (f: (n: i64) -> [n]a) (n: i64) : [n]a = f n
def zipw [n] 'a 'b (f: (i: i64) -> a -> b) (xs: [n]a) : [n]b = map2 f (iota n) xs
entry run (n: i64) = (mk n 2, app iota n, app (\\n -> replicate n 7i32) 3, zipw (\\i x -> i * x) (mk 1 n))
""", "run", (3,), lambda n: (np.arange(5), np.arange(3), np.array([7, 7, 7]), np.arange(4) ** 2)),
    "the slope of scans, histograms, scatters and exchanges": Program(
        """
def f [n] (is: [n]i64) (xs: [n]f64) : f64 =
  let s = scan (+) 0 xs
  let h = hist (*) 1 3 is s
  let t = scatter (copy xs) (map (\\i -> (i + 1) % n) (iota n)) (map f64.exp xs)
  let (a, b) = unzip (map2 (\\x y -> if x < y then (x, y) else (y, x)) t (reverse t))
  in f64.sum h + f64.sum (map2 (*) a s) + f64.maximum b
entry run [n] (is: [n]i64) (xs: [n]f64) = vjp2 (f is) xs 1
""", "run", (np.array([0, 1, 0, 2, 1]), RNG.random(5)), exchanged),
    "updates of rows and of parts of columns": Program(
        """
entry run [n][m] (a: *[n][m]i32) (v: [m]i32) =
  let a[0] = v
  let a[1:, 0] = replicate (n - 1) 7
  let a[n - 1, 1:m:2] = map (\\x -> -x) v[1:m:2]
  let a = a with [1, 1] = a[0, 0] + a[1, 2]
  in a
""", "run", (np.arange(12, dtype=np.int32).reshape(3, 4), np.array([10, 20, 30, 40], np.int32)), lambda a, v: np.array([[10, 20, 30, 40], [7, 16, 6, 7], [7, -20, 10, -40]])),
}  # fmt: skip

WRONG = {
    "a tuple where two arguments go": ("def f (x: i32) (y: i32) = x + y\nentry main (a: i32) = f (a, a)", "E1403", "(i32, i32) is not i32"),
    "a branch that takes a part": ("entry main [n] (b: bool) (xs: [n]i32) = map2 (+) xs (if b then xs else take 2 xs)", "E1404", "1:54"),
    "a loop up to a float": ("entry main (x: f32) = loop i = 0 for j < x do i + 1", "E1403", "f32 is not an integer"),
    "a shift of a float": ("entry main (x: f64) = x << 2", "E1403", "f64 is not an integer"),
    "an update at a float": ("entry main (xs: *[]f64) = xs with [1.5] = 2", "E1403", "a float is not an integer"),
    "a constructor of a number": ("entry main (x: i32) = match x case #foo -> 1 case _ -> 2", "E1403", "i32 has no constructor #foo"),
    "the sizes of two filters": ("def f [n] (xs: [n]i32) : ?[m].[m]i32 = filter (> 0) xs\nentry main [n] (xs: [n]i32) = map2 (+) (f xs) (f xs)", "E1404", "each is known only by its own value"),
    "one more in front, one more behind": ('def f [n] (s: [n]u8) = map2 (==) ("a" ++ s) (s ++ "b")', "E1404", 'the size "n + 1" is not "1 + n"'),
    "two literals of two lengths": ("entry main = zip [1i32, 2] [1i32, 2, 3]", "E1404", 'the size "3" is not "2"'),
    "a size that nobody declares": ("entry main (xs: [n]i32) : [n]i32 = xs", "E1402", "[n]"),
    "a value of a module with a slip": ("entry main (x: f64) = f64.sqroot x", "E1402", "did you mean f64.sqrt?"),
    "a type with a slip": ("type point = {x: f32}\nentry main (p: pont) = p.x", "E1402", "did you mean point?"),
    "a table of the program, changed": ("def table = [1i32, 2, 3]\nentry main (i: i64) = let t = table with [i] = 0 in t", "E1405", "table"),
    "consumed by what a while asks": ("entry main [n] (xs: *[n]i32) = loop xs while (let ys = xs with [0] = 1 in ys[0] > 3) do xs", "E1405", "xs"),
    "consumed by a function value": ("entry main [n] (xs: *[n]i32) = let f = \\i -> let xs[i] = 0 in 1 in f 0 + xs[0]", "E1405", "outside of the function"),
    "a type of itself": ("type t = #leaf | #node t t\nentry main (x: i32) = x", "E1402", "Unknown type t"),
    "a module's function of another result": ("module type S = { type t val f : t -> t }\nmodule M : S = { type t = i32 def f (x: t) : bool = x > 0 }\nentry main (x: i32) = x", "E1406", "f : i32 -> bool"),
    "a pattern of three for two": ("entry main (x: i32) = let (a, b, c) = (x, x) in a + b + c", "E1403", "(i32, i32)"),
    "a coercion to another rank": ("entry main [n] (xs: [n]f64) = xs :> [n][n]f64", "E1403", "changes sizes only"),
    "scattered by indices of 32 bits": ("entry main [n] (d: *[n]f64) (is: [n]i32) (v: [n]f64) = scatter d is v", "E1403", "i32 is not i64"),
    "an array that a payload's size does not fit": ("type t = #a i32 | #b [2]f64\ndef f (x: f64) = let v: t = #b [x] in match v case #a k -> f64.i32 k case #b w -> w[0]", "E1404", '"2" is not "1"'),
    "a literal beyond its type": ("entry main : i32 = 3000000000", "E1403", "3000000000"),
}  # fmt: skip
