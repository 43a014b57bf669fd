"""A sixth round of a stranger's programs, whole algorithms: a tokeniser as a scan of state machines, radix sort, sparse matrices both ways, clustering, escape times, American options, breadth-first search
by scatter, rings of operators by functors, Newton steps with jvp2 and vjp2, life in bits. Expected values by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.futhark.strangers import Program

RNG = np.random.default_rng(606)


def numbers(text: Any) -> Any:
    return np.array([int(w) for w in bytes(text).decode().split()], np.int64)


def sorted_pairs(keys: Any, values: Any) -> Any:
    order = np.argsort(keys, kind="stable")
    return keys[order], values[order]


def both_products(n: int, m: int, rows: Any, cols: Any, vals: Any, x: Any, y: Any) -> Any:
    a = np.zeros((n, m))
    np.add.at(a, (rows, cols), vals)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return a @ x, a.T @ y, starts[:-1]


def clusters(points: Any, start: Any, rounds: int) -> Any:
    centres = start.copy()
    for _ in range(rounds):
        of = ((points[:, None] - centres[None]) ** 2).sum(2).argmin(1)
        centres = np.array([points[of == k].mean(0) if (of == k).any() else centres[k] for k in range(len(centres))])
    of = ((points[:, None] - centres[None]) ** 2).sum(2).argmin(1)
    return centres, of


def escapes(h: int, w: int, limit: int) -> Any:
    out = np.zeros((h, w), np.int32)
    for i in range(h):
        for j in range(w):
            c, z, k = complex(-2 + 3 * j / w, -1 + 2 * i / h), 0j, 0
            while k < limit and z.real * z.real + z.imag * z.imag < 4:
                z, k = z * z + c, k + 1
            out[i, j] = k
    return out


def puts(spots: Any, strikes: Any, steps: int) -> Any:
    dt = 1.0 / steps
    up = np.exp(0.2 * np.sqrt(dt))
    p = (np.exp(0.05 * dt) - 1 / up) / (up - 1 / up)
    found = []
    for s, k in zip(spots, strikes, strict=True):
        value = np.maximum(k - s * up ** (2.0 * np.arange(steps + 1) - steps), 0)
        for t in reversed(range(steps)):
            value = np.exp(-0.05 * dt) * (p * value[1:] + (1 - p) * value[:-1])
            value = np.maximum(value, k - s * up ** (2.0 * np.arange(t + 1) - t))
        found.append(value[0])
    return np.array(found)


def distances(starts: Any, targets: Any, source: int) -> Any:
    n = len(starts)
    ends = np.append(starts[1:], len(targets))
    dist = np.full(n, -1, np.int32)
    dist[source], front, level = 0, [source], 0
    while front:
        level += 1
        new = sorted({int(t) for v in front for t in targets[starts[v] : ends[v]] if dist[t] < 0})
        dist[new] = level
        front = new
    return dist, level


def powers(a: Any, k: int) -> Any:
    shortest, paths = a.copy(), (a < np.inf).astype(np.int64)
    once = paths.copy()
    for _ in range(k - 1):
        shortest, paths = (shortest[:, :, None] + a[None]).min(1), paths @ once
    return shortest, paths


def newton(x: Any, y: Any, rounds: int) -> Any:
    w = np.zeros(x.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-(x @ w)))
        grad = x.T @ (p - y) + 0.1 * w
        hess = x.T @ (x * (p * (1 - p))[:, None]) + 0.1 * np.eye(len(w))
        w = w - np.linalg.solve(hess, grad)
    p = 1 / (1 + np.exp(-(x @ w)))
    return w, -(y * np.log(p) + (1 - y) * np.log(1 - p)).sum() + 0.05 * w @ w


def lived(rows: Any, rounds: int) -> Any:
    cells = (rows[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    cells = cells.astype(int)
    for _ in range(rounds):
        around = sum(np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(int)
    return (cells.astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(1, dtype=np.uint64)


TEXT = np.frombuffer(b"  12 -7 305   0 -41 9", np.uint8)
STARTS = np.array([0, 2, 4, 4, 7, 8, 9], np.int64)
TARGETS = np.array([1, 2, 0, 3, 3, 5, 0, 5, 4], np.int64)
ROADS = np.where(RNG.random((5, 5)) < 0.5, RNG.integers(1, 9, (5, 5)).astype(float), np.inf)
DATA = RNG.normal(size=(12, 3))
LABELS = (DATA @ np.array([1.0, -2.0, 0.5]) + RNG.normal(size=12) > 0).astype(float)

RIGHT = {
    "numbers out of text, by a scan of machines": Program(
        """
type state = #blank | #sign | #digits
def number (s: state) : i64 = match s case #blank -> 0 case #sign -> 1 case #digits -> 2
def step (c: u8) (_: state) : state = if c >= '0' && c <= '9' then #digits else if c == '-' then #sign else #blank
type machine = [3]i64
def machine (c: u8) : machine = [number (step c #blank), number (step c #sign), number (step c #digits)]
def after (f: machine) (g: machine) : machine = map (\\s -> #[unsafe] g[s]) f
type piece = {value: i64, scale: i64, fresh: bool}
def joined (a: piece) (b: piece) : piece =
  if b.fresh then b else {value = a.value * b.scale + b.value, scale = a.scale * b.scale, fresh = a.fresh}
entry run [n] (text: [n]u8) : []i64 =
  let states = map (\\m -> m[0]) (scan after [0, 1, 2] (map machine text))
  let before = map (\\i -> if i == 0 then 0 else states[i - 1]) (iota n)
  let starts = map2 (\\s b -> s != 0 && b == 0) states before
  let piece (c: u8) (s: i64) (first: bool) : piece =
    if s == 2 then {value = i64.u8 c - 48, scale = 10, fresh = first} else {value = 0, scale = 1, fresh = true}
  let whole = scan joined {value = 0, scale = 1, fresh = false} (map3 piece text states starts)
  let negative = map2 (\\c s -> s == 1 && c == '-') text states
  let minus = scan (\\(a, f) (b, g) -> if g then (b, g) else (a, f)) (false, false) (zip negative starts)
  let last i = states[i] == 2 && (i == n - 1 || states[i + 1] != 2)
  in map (\\i -> if minus[i].0 then -whole[i].value else whole[i].value) (filter last (iota n))
""", "run", (TEXT,), numbers),
    "a radix sort of digits, with what goes along": Program(
        """
module type ordered = { type t val digit : i32 -> t -> i64 val digits : i32 }
module radix (K: ordered) = {
  def pass 'v [n] (k: i32) (xs: [n](K.t, v)) : [n](K.t, v) =
    let ds = map (\\(x, _) -> K.digit k x) xs
    let flags = map (\\d -> map (\\b -> if b == d then 1i64 else 0) (iota 16)) ds
    let running = scan (map2 (+)) (replicate 16 0) flags
    let counts = if n == 0 then replicate 16 0 else running[n - 1]
    let starts = map2 (-) (scan (+) 0 counts) counts
    let places = map2 (\\d r -> starts[d] + r[d] - 1) ds running
    in scatter (copy xs) places xs
  def sort 'v [n] (xs: [n](K.t, v)) : [n](K.t, v) = loop xs for k < K.digits do pass k xs
}
module by_u32 = radix { type t = u32 def digits = 8i32 def digit (k: i32) (x: t) : i64 = i64.u32 ((x >> u32.i32 (4 * k)) & 15) }
entry run [n] (keys: [n]u32) (values: [n]i64) = unzip (by_u32.sort (zip keys values))
""", "run", (RNG.integers(0, 2**32, 40).astype(np.uint32) & np.uint32(0xF0F00FFF), np.arange(40)), sorted_pairs),
    "a sparse matrix from triples, and its transpose": Program(
        """
module sparse = {
  type csr [n] [m] [k] = {starts: [n]i64, cols: [k]i64, vals: [k]f64, width: [0][m]()}
  def of_triples [k] (n: i64) (m: i64) (rows: [k]i64) (cols: [k]i64) (vals: [k]f64) : csr [n] [m] [k] =
    let counts = hist (+) 0 n rows (replicate k 1i64)
    let starts = map2 (-) (scan (+) 0 counts) counts
    let rank i = i64.sum (map (\\j -> i64.bool (rows[j] < rows[i] || (rows[j] == rows[i] && j < i))) (iota k))
    let places = map rank (iota k)
    in {starts, cols = scatter (replicate k 0) places cols, vals = scatter (replicate k 0) places vals, width = []}
  def mul [n] [m] [k] (a: csr [n] [m] [k]) (x: [m]f64) : [n]f64 =
    tabulate n (\\i ->
      let stop = if i == n - 1 then k else a.starts[i + 1]
      in loop s = 0 for j in a.starts[i]..<stop do s + a.vals[j] * x[a.cols[j]])
  def transposed_mul [n] [m] [k] (a: csr [n] [m] [k]) (y: [n]f64) : [m]f64 =
    let marks = reduce_by_index (replicate k 0i64) (+) 0 a.starts (replicate n 1)
    let rows = map (\\r -> r - 1) (scan (+) 0 marks)
    in reduce_by_index (replicate m 0) (+) 0 a.cols (map2 (\\v r -> v * y[r]) a.vals rows)
}
entry run [n] [m] [k] (rows: [k]i64) (cols: [k]i64) (vals: [k]f64) (x: [m]f64) (y: [n]f64) =
  let a = sparse.of_triples n m rows cols vals
  in (sparse.mul a x, sparse.transposed_mul a y, a.starts)
""", "run",
        (np.array([3, 0, 1, 3, 0, 2, 3]), np.array([0, 2, 1, 4, 0, 3, 1]), RNG.random(7), RNG.random(5), RNG.random(4)),
        lambda r, c, v, x, y: both_products(4, 5, r, c, v, x, y)),
    "clusters, of which one may be empty": Program(
        """
def square_distance [d] (a: [d]f64) (b: [d]f64) : f64 = f64.sum (map2 (\\x y -> (x - y) ** 2) a b)
def nearest [k] [d] (centres: [k][d]f64) (p: [d]f64) : i64 =
  let better (i, x) (j, y) = if y < x || (y == x && j < i) then (j, y) else (i, x)
  in (reduce better (k, f64.inf) (zip (iota k) (map (square_distance p) centres))).0
def moved [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) : [k][d]f64 =
  let of = map (nearest centres) points
  let counts = hist (+) 0 k of (replicate n 1f64)
  let sums = reduce_by_index (replicate k (replicate d 0)) (map2 (+)) (replicate d 0) of points
  in map3 (\\s c old -> if c > 0 then map (/ c) s else old) sums counts centres
entry run [n] [k] [d] (points: [n][d]f64) (start: [k][d]f64) (rounds: i32) =
  let centres = loop c = start for _r < rounds do moved points c
  in (centres, map (nearest centres) points)
""", "run", (RNG.random((30, 2)), np.array([[0.1, 0.1], [0.9, 0.8], [50.0, 50.0]]), np.int32(6)), clusters),
    "escape times with numbers of a functor": Program(
        """
module type real = { type t val + : t -> t -> t val - : t -> t -> t val * : t -> t -> t }
module complex (R: real) = {
  type c = {re: R.t, im: R.t}
  def (a: c) + (b: c) : c = {re = a.re R.+ b.re, im = a.im R.+ b.im}
  def (a: c) * (b: c) : c = {re = (a.re R.* b.re) R.- (a.im R.* b.im), im = (a.re R.* b.im) R.+ (a.im R.* b.re)}
  def norm (a: c) : R.t = (a.re R.* a.re) R.+ (a.im R.* a.im)
}
module c64 = complex f64
def escape (limit: i32) (at: c64.c) : i32 =
  (loop (z, k) = ({re = 0, im = 0}, 0) while k < limit && c64.norm z < 4 do (z c64.* z c64.+ at, k + 1)).1
entry run (h: i64) (w: i64) (limit: i32) : [h][w]i32 =
  let part (low: f64) (len: f64) i n = low + len * f64.i64 i / f64.i64 n
  in tabulate_2d h w (\\i j -> escape limit {re = part (-2) 3 j w, im = part (-1) 2 i h})
""", "run", (9, 13, np.int32(30)), escapes),
    "American options on shrinking trees": Program(
        """
def put (steps: i64) (s: f64) (k: f64) : f64 =
  let dt = 1 / f64.i64 steps
  let up = f64.exp (0.2 * f64.sqrt dt)
  let p = (f64.exp (0.05 * dt) - 1 / up) / (up - 1 / up)
  let worth t = map (\\i -> k - s * up ** (2 * f64.i64 i - f64.i64 t)) (iota (t + 1))
  let value = loop value = map (f64.max 0) (worth steps) for b < steps do
    let t = steps - 1 - b
    let kept = map2 (\\low high -> f64.exp (-0.05 * dt) * (p * high + (1 - p) * low)) (init value) (tail value)
    in map2 f64.max (kept :> [t + 1]f64) (worth t)
  in value[0]
entry run [n] (spots: [n]f64) (strikes: [n]f64) (steps: i64) : [n]f64 = map2 (put steps) spots strikes
""", "run", (np.array([90.0, 100, 110]), np.array([100.0, 100, 95]), 24), puts),
    "a search by levels, of flat frontiers": Program(
        """
def expand [n] [m] (starts: [n]i64) (targets: [m]i64) (front: []i64) : []i64 =
  let stop v = if v == n - 1 then m else starts[v + 1]
  let sizes = map (\\v -> stop v - starts[v]) front
  let ends = scan (+) 0 sizes
  let total = if length front == 0 then 0 else last ends
  let owner = map (\\e -> i64.sum (map (\\x -> i64.bool (x <= e)) ends)) (iota total)
  in map2 (\\e o -> targets[starts[front[o]] + e - (ends[o] - sizes[o])]) (iota total) owner
entry run [n] [m] (starts: [n]i64) (targets: [m]i64) (source: i64) : ([n]i32, i32) =
  let dist = replicate n (-1) with [source] = 0
  let (dist, _, level) = loop (dist, front, level) = (dist, [source], 0) while length front > 0 do
    let met = filter (\\t -> dist[t] < 0) (expand starts targets front)
    let first = reduce_by_index (replicate n m) i64.min m met (indices met)
    let front = map (.1) (filter (\\(i, t) -> first[t] == i) (zip (indices met) met))
    in (scatter dist front (map (const (level + 1)) front), front, level + 1)
  in (dist, level)
""", "run", (STARTS, TARGETS, 0), distances),
    "powers of matrices over two rings": Program(
        """
module type ring = { type t val zero : t val plus : t -> t -> t val times : t -> t -> t }
module matrices (R: ring) = {
  type m [n] = [n][n]R.t
  def mul [n] (a: m [n]) (b: m [n]) : m [n] =
    map (\\row -> map (\\col -> reduce R.plus R.zero (map2 R.times row col)) (transpose b)) a
  def power [n] (a: m [n]) (k: i64) : m [n] =
    (loop (found, square, k) = (a, a, k - 1) while k > 0 do
       (if k % 2 == 1 then mul found square else found, mul square square, k / 2)).0
}
module shortest = matrices { type t = f64 def zero = f64.inf def plus = f64.min def times = (f64.+) }
module paths = matrices { type t = i64 def zero = 0i64 def plus = (i64.+) def times = (i64.*) }
entry run [n] (roads: [n][n]f64) (k: i64) =
  (shortest.power roads k, paths.power (map (map (\\x -> i64.bool (x < f64.inf))) roads) k)
""", "run", (ROADS, 5), powers),
    "Newton's method, of slopes along slopes": Program(
        """
def loss [n] [d] (x: [n][d]f64) (y: [n]f64) (w: [d]f64) : f64 =
  let dot a b = f64.sum (map2 (*) a b)
  let one r t = let p = 1 / (1 + f64.exp (-dot r w)) in -(t * f64.log p + (1 - t) * f64.log (1 - p))
  in f64.sum (map2 one x y) + 0.05 * dot w w
def solved [d] (times: [d]f64 -> [d]f64) (b: [d]f64) : [d]f64 =
  let dot (a: [d]f64) (b: [d]f64) = f64.sum (map2 (*) a b)
  let (x, _, _) = loop (x, r, p) = (replicate d 0, b, b) for _k < i32.i64 d + 2 do
    let rr = dot r r
    in if rr < 1e-28 then (x, r, p) else
    let hp = times p
    let a = rr / dot p hp
    let r' = map2 (\\r h -> r - a * h) r hp
    let c = dot r' r' / rr
    in (map2 (\\x p -> x + a * p) x p, r', map2 (\\r p -> r + c * p) r' p)
  in x
entry run [n] [d] (x: [n][d]f64) (y: [n]f64) (rounds: i32) =
  let w = loop w = replicate d 0f64 for _k < rounds do
    let slope v = (vjp2 (loss x y) v 1).1
    let step = solved (\\p -> (jvp2 slope w p).1) (slope w)
    in map2 (-) w step
  in (w, loss x y w)
""", "run", (DATA, LABELS, np.int32(7)), newton),
    "life of 64 cells in a word": Program(
        """
def sum3 (a: u64) (b: u64) (c: u64) : (u64, u64) = (a ^ b ^ c, (a & b) | (c & (a ^ b)))
def turned (x: u64) : (u64, u64) = ((x << 1) | (x >> 63), (x >> 1) | (x << 63))
def next (above: u64) (here: u64) (below: u64) : u64 =
  let of x = let (l, r) = turned x in (l, x, r)
  let ((a, b, c), (d, e), (f, g, h)) = (of above, turned here, of below)
  let (s0, c0) = sum3 a b c
  let (s1, c1) = sum3 d e f
  let (s2, c2) = (g ^ h, g & h)
  let (ones, c3) = sum3 s0 s1 s2
  let (t, k0) = sum3 c0 c1 c2
  let (twos, k1) = (t ^ c3, t & c3)
  in twos & !(k0 | k1) & (ones | here)
entry run [n] (rows: [n]u64) (rounds: i32) : [n]u64 =
  loop rows for _k < rounds do map3 next (rotate (-1) rows) rows (rotate 1 rows)
""", "run", (RNG.integers(0, 2**63, 8).astype(np.uint64), np.int32(5)), lived),
}  # fmt: skip


WRONG = {
    "a machine whose table has a state too few": ("type machine = [3]i64\ndef machine (c: u8) : machine = [i64.u8 c, 1]\ndef main [n] (t: [n]u8) = map machine t", "E1404", "3"),
    "a functor whose argument has a digit of another type": (
        "module type ordered = { type t val digit : i32 -> t -> i64 }\nmodule radix (K: ordered) = { def d = K.digit 0 }\nmodule r = radix { type t = u32 def digit (k: i32) (x: t) : i32 = i32.u32 x }\ndef main = r.d", "E1406", "digit"),
    "a sparse product by a vector of the wrong side": (
        "type csr [n] [m] [k] = {starts: [n]i64, cols: [k]i64, vals: [k]f64, width: [0][m]()}\ndef mul [n] [m] [k] (a: csr [n] [m] [k]) (x: [m]f64) : [n]f64 = map (\\s -> a.vals[s] * x[0]) a.starts\n"
        "def main [n] [m] [k] (a: csr [n] [m] [k]) (y: [n]f64) = mul a y", "E1404", "n"),
    "centres of points of another dimension": (
        "def near [d] (a: [d]f64) (b: [d]f64) : f64 = f64.sum (map2 (-) a b)\ndef main [n][k][d][e] (ps: [n][d]f64) (cs: [k][e]f64) = map (\\p -> map (near p) cs) ps", "E1404", "e"),
    "an operator that a module does not have": ("module m = { type t = f64 def (a: t) + (b: t) : t = a }\ndef main (x: f64) = x m.* x", "E1402", "*"),
    "a tree that shrinks, said to stay": ("def main [n] (v: [n]f64) : [n]f64 = loop v for _k < 3i32 do map2 (+) (init v) (tail v)", "E1404", "n"),
    "a frontier consumed by the scatter and read after": (
        "def main [n] (dist: *[n]i32) (front: []i64) = let new = scatter dist front (map (const 1i32) front) in (new, dist[0])", "E1405", "dist"),
    "a ring without its zero": ("module type ring = { type t val zero : t }\nmodule m (R: ring) = { def z = R.zero }\nmodule x = m { type t = i32 def one = 1i32 }\ndef main = x.z", "E1406", "zero"),
    "a direction of another size than the point": ("def main [n][m] (w: [n]f64) (p: [m]f64) = jvp2 (\\v -> f64.sum (map (** 2) v)) w p", "E1404", "m"),
    "bits of a float": ("def main (x: f64) = x >> 3", "E1403", "f64"),
}  # fmt: skip
