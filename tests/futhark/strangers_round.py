"""A second round of a stranger's programs: every kind of SOAC, records in records, functors of functors, in-place updates, nested derivatives, AUTOMAP. Expected values by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.futhark.strangers import Program

RNG = np.random.default_rng(2024)


def particles(x: Any, v: Any, dt: float, steps: int) -> Any:
    for _ in range(steps):
        v = v - dt * x
        x = x + dt * v
    return x, v


def segmented(flags: Any, xs: Any) -> Any:
    out, acc = [], 0.0
    for f, x in zip(flags, xs, strict=True):
        acc = x if f else acc + x
        out.append(acc)
    return np.array(out)


def sieve(n: int) -> Any:
    is_prime = np.ones(n, bool)
    is_prime[:2] = False
    for p in range(2, n):
        is_prime[2 * p :: p] &= ~is_prime[p]
    return np.flatnonzero(is_prime)


def lud(a: Any) -> Any:
    a = a.copy()
    n = len(a)
    for k in range(n):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def collatz(xs: Any) -> Any:
    def steps(x: int) -> int:
        k = 0
        while x != 1:
            x, k = (x // 2 if x % 2 == 0 else 3 * x + 1), k + 1
        return k

    return np.array([steps(int(x)) for x in xs], np.int32)


def longest(xs: Any) -> Any:
    """Longest run of equal elements: start and length of the first one."""
    best, at, start = 0, 0, 0
    for i in range(len(xs)):
        if i and xs[i] != xs[i - 1]:
            start = i
        if i - start + 1 > best:
            best, at = i - start + 1, start
    return at, best


def hessian(x: Any) -> Any:
    """f = sum x_i^2 x_{i+1}."""
    n = len(x)
    h = np.zeros((n, n))
    for i in range(n - 1):
        h[i, i] += 2 * x[i + 1]
        h[i, i + 1] += 2 * x[i]
        h[i + 1, i] += 2 * x[i]
    return h


def life(b: Any, k: int) -> Any:
    for _ in range(k):
        s = sum(np.roll(b, (i, j), (0, 1)).astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1)) - b
        b = (s == 3) | (b & (s == 2))
    return b


def rle(xs: Any) -> Any:
    starts = np.flatnonzero(np.r_[True, xs[1:] != xs[:-1]])
    return xs[starts], np.diff(np.r_[starts, len(xs)])


RIGHT = {
    "records in records": Program(
        """
type vec = {x: f64, y: f64}
type body = {pos: vec, vel: vec, mass: f64}
def (+^) (a: vec) (b: vec) : vec = {x = a.x + b.x, y = a.y + b.y}
def (*^) (k: f64) (a: vec) : vec = {x = k * a.x, y = k * a.y}
def step (dt: f64) (b: body) : body = let vel = b.vel +^ ((-dt) *^ b.pos) in b with vel = vel with pos = b.pos +^ (dt *^ vel)
entry run [n] (xs: [n]f64) (vs: [n]f64) (dt: f64) (k: i64) : ([n]f64, [n]f64) =
  let bs = map2 (\\x v : body -> {pos = {x, y = 0}, vel = {x = v, y = 0}, mass = 1}) xs vs
  let bs = iterate (i32.i64 k) (map (step dt)) bs
  in unzip (map (\\(b: body) -> (b.pos.x, b.vel.x)) bs)
""", "run", (RNG.random(4), RNG.random(4), 0.1, 7), particles),
    "a segmented scan of pairs": Program(
        """
def segscan [n] 't (op: t -> t -> t) (ne: t) (arr: [n](bool, t)) : [n]t =
  scan (\\(f1, v1) (f2, v2) -> (f1 || f2, if f2 then v2 else op v1 v2)) (false, ne) arr |> map (.1)
entry run [n] (fs: [n]bool) (xs: [n]f64) : [n]f64 = segscan (+) 0 (zip fs xs)
""", "run", (np.array([1, 0, 0, 1, 0, 1, 1, 0], bool), RNG.random(8)), segmented),
    "a sieve by scatter": Program(
        """
entry primes (n: i64) : []i64 =
  let marks = loop m = (replicate n true with [0] = false with [1] = false) for p in 2..<n do
    if !m[p] then m else
    let k = (n - 1) / p - 1
    in scatter m (tabulate k (\\i -> (i + 2) * p)) (replicate k false)
  in filter (\\i -> marks[i]) (iota n)
""", "primes", (40,), sieve),
    "in-place elimination": Program(
        """
entry lud [n] (a: *[n][n]f64) : *[n][n]f64 =
  loop a for k < n do
    let col = map (\\i -> if i > k then a[i, k] / a[k, k] else a[i, k]) (iota n)
    let a[:, k] = col
    in tabulate_2d n n (\\i j -> if i > k && j > k then a[i, j] - a[i, k] * a[k, j] else a[i, j])
""", "lud", (RNG.random((4, 4)) + 4 * np.eye(4),), lud),
    "collatz by while": Program(
        """
def steps (x: i64) : i32 = (loop (x, k) = (x, 0) while x != 1 do (if x % 2 == 0 then x / 2 else 3 * x + 1, k + 1)).1
entry run (xs: []i64) = map steps xs
""", "run", (np.array([1, 7, 27, 12]),), collatz),
    "a monoid by a functor": Program(
        """
module type monoid = { type t val unit : t val op : t -> t -> t }
module pair (A: monoid) (B: monoid) : monoid with t = (A.t, B.t) = {
  type t = (A.t, B.t)
  def unit = (A.unit, B.unit)
  def op (a1, b1) (a2, b2) : t = (A.op a1 a2, B.op b1 b2)
}
module sums : monoid with t = i64 = { type t = i64 def unit = 0i64 def op (x: i64) y = x + y }
module maxs : monoid with t = i64 = { type t = i64 def unit = i64.lowest def op x y = i64.max x y }
module both = pair sums maxs
entry run [n] (xs: [n]i64) : (i64, i64) = reduce both.op both.unit (zip xs xs)
""", "run", (RNG.integers(-50, 50, 11),), lambda xs: (xs.sum(), xs.max())),
    "the longest run": Program(
        """
entry run [n] (xs: [n]i32) : (i64, i64) =
  let starts = map (\\i -> i == 0 || xs[i] != xs[i - 1]) (iota n)
  let at = scan i64.max 0 (map2 (\\s i -> if s then i else 0) starts (iota n))
  let best (s1, l1) (s2, l2) : (i64, i64) = if l2 > l1 || (l2 == l1 && s2 < s1) then (s2, l2) else (s1, l1)
  in reduce best (i64.highest, 0) (map2 (\\s i -> (s, i - s + 1)) at (iota n))
""", "run", (np.array([1, 1, 2, 2, 2, 3, 3, 3, 1], np.int32),), longest),
    "a hessian by jvp of vjp": Program(
        """
def f [n] (x: [n]f64) : f64 = f64.sum (map (\\i -> if i + 1 < n then x[i] * x[i] * x[i + 1] else 0) (iota n))
entry hess [n] (x: [n]f64) : [n][n]f64 = tabulate n (\\i -> jvp (\\x -> vjp f x 1) x (replicate n 0 with [i] = 1))
""", "hess", (RNG.random(5),), hessian),
    "vjp of vjp": Program(
        """
def g (x: f64) : f64 = vjp (\\y -> f64.sin y * y) x 1
entry second [n] (xs: [n]f64) = map (\\x -> vjp g x 1) xs
""", "second", (RNG.random(6),), lambda x: 2 * np.cos(x) - x * np.sin(x)),
    "the game of life": Program(
        """
entry life [n][m] (b: [n][m]bool) (k: i32) : [n][m]bool =
  let step (b: [n][m]bool) =
    let at i j = i64.bool b[(i + n) % n, (j + m) % m]
    in tabulate_2d n m (\\i j ->
         let s = at (i-1) (j-1) + at (i-1) j + at (i-1) (j+1) + at i (j-1) + at i (j+1) + at (i+1) (j-1) + at (i+1) j + at (i+1) (j+1)
         in s == 3 || (b[i, j] && s == 2))
  in iterate k step b
""", "life", (RNG.random((5, 6)) < 0.4, 3), life),
    "runs of equal elements": Program(
        """
entry rle [n] (xs: [n]i32) : ([]i32, []i64) =
  let starts = filter (\\i -> i == 0 || xs[i] != xs[i - 1]) (iota n)
  let ends = map (\\i -> if i + 1 < length starts then starts[i + 1] else n) (indices starts)
  in unzip (map2 (\\s e -> (xs[s], e - s)) starts ends)
""", "rle", (np.array([4, 4, 1, 1, 1, 4, 2, 2], np.int32),), rle),
    "an option type and a fold": Program(
        """
type option 'a = #none | #some a
def map_option 'a 'b (f: a -> b) (x: option a) : option b = match x case #none -> #none case #some y -> #some (f y)
def default 'a (d: a) (x: option a) : a = match x case #none -> d case #some y -> y
def safe_div (x: i32) (y: i32) : option i32 = if y == 0 then #none else #some (x / y)
entry run [n] (xs: [n]i32) (ys: [n]i32) : [n]i32 = map2 (\\x y -> safe_div x y |> map_option (* 2) |> default (-1)) xs ys
""", "run", (np.array([7, 8, 9], np.int32), np.array([2, 0, -4], np.int32)), lambda x, y: np.array([6, -1, -6], np.int32)),
    "a radix sort of bits": Program(
        """
def step [n] (xs: [n]u32) (b: i32) : [n]u32 =
  let bits = map (\\x -> i64.u32 ((x >> u32.i32 b) & 1)) xs
  let zeros = map (1 -) bits
  let offs0 = scan (+) 0 zeros
  let offs1 = scan (+) 0 bits
  let z = i64.sum zeros
  let at = map4 (\\b0 o0 o1 _ -> if b0 == 0 then o0 - 1 else z + o1 - 1) bits offs0 offs1 xs
  in scatter (copy xs) at xs
entry sort [n] (xs: [n]u32) : [n]u32 = loop xs for b < 32 do step xs b
""", "sort", (RNG.integers(0, 2**32, 20, dtype=np.uint32),), np.sort),
    "streams of chunks": Program(
        """
def chunked [n] (k: i64) (xs: [n * k]f64) : [n]f64 = map f64.sum (unflatten xs)
entry run (n: i64) (k: i64) (xs: []f64) : [n]f64 = chunked k (xs :> [n * k]f64)
""", "run", (3, 4, RNG.random(12)), lambda n, k, xs: xs.reshape(n, k).sum(1)),
    "partition and rotate": Program(
        """
entry run [n] (xs: [n]i32) : []i32 =
  let (neg, pos) = partition (< 0) xs
  in rotate 2 (reverse neg ++ pos)
""", "run", (np.array([3, -1, 4, -1, -5, 9, 2, -6], np.int32),), lambda xs: np.roll(np.r_[xs[xs < 0][::-1], xs[xs >= 0]], -2)),
    "a gradient of a network": Program(
        """
type layer [n][m] = {w: [m][n]f64, b: [m]f64}
def dense [n][m] (act: f64 -> f64) (l: layer [n][m]) (x: [n]f64) : [m]f64 = map2 (\\r b -> act (f64.sum (map2 (*) r x) + b)) l.w l.b
def loss [n][m] (w1: [m][n]f64, b1: [m]f64, w2: [1][m]f64) (x: [n]f64) (y: f64) : f64 =
  let h = dense f64.tanh {w = w1, b = b1} x
  let o = dense id {w = w2, b = [0]} h
  in (o[0] - y) ** 2
entry grad [n][m] (w1: [m][n]f64) (b1: [m]f64) (w2: [1][m]f64) (x: [n]f64) (y: f64) : ([m][n]f64, [m]f64, [1][m]f64) =
  vjp (\\p -> loss p x y) (w1, b1, w2) 1
""", "grad", (RNG.random((3, 2)), RNG.random(3), RNG.random((1, 3)), RNG.random(2), 0.3),
        lambda w1, b1, w2, x, y: (lambda h: (lambda d: (np.outer(d * w2[0] * (1 - h * h), x), d * w2[0] * (1 - h * h), (d * h)[None]))(2 * (w2[0] @ h - y)))(np.tanh(w1 @ x + b1))),
    "a fold over characters": Program(
        """
def is_digit (c: u8) = c >= '0' && c <= '9'
entry parse (s: []u8) : i64 = foldl (\\acc c -> if is_digit c then acc * 10 + i64.u8 (c - '0') else acc) 0 s
""", "parse", (np.frombuffer(b"a12b-34", np.uint8),), lambda s: 1234),
    "implicit maps": Program(
        """
def relu (x: f64) = f64.max 0 x
def dot [n] (a: [n]f64) (b: [n]f64) = f64.sum (a * b)
entry layer [n][m] (w: [m][n]f64) (b: [m]f64) (x: [n]f64) : [m]f64 = relu (dot w x + b)
""", "layer", (RNG.standard_normal((3, 4)), RNG.standard_normal(3), RNG.standard_normal(4)), lambda w, b, x: np.maximum(0, w @ x + b)),
    "implicit maps over rows": Program(
        """
def softmax [n] (xs: [n]f64) : [n]f64 = let e = f64.exp (xs - f64.maximum xs) in e / f64.sum e
entry rows [n][m] (xss: [n][m]f64) : [n][m]f64 = softmax xss
""", "rows", (RNG.standard_normal((3, 5)),), lambda x: (lambda e: e / e.sum(1, keepdims=True))(np.exp(x - x.max(1, keepdims=True)))),
    "the slope of a minimum": Program(
        """
def nearest [k][d] (cs: [k][d]f64) (p: [d]f64) : f64 = f64.minimum (map (\\c -> f64.sum (map2 (\\a b -> (a - b) ** 2) c p)) cs)
def cost [n][k][d] (ps: [n][d]f64) (cs: [k][d]f64) : f64 = f64.sum (map (nearest cs) ps)
entry slope [n][k][d] (ps: [n][d]f64) (cs: [k][d]f64) : [k][d]f64 = vjp (cost ps) cs 1
""", "slope", (RNG.random((9, 2)), RNG.random((3, 2))),
        lambda p, c: (lambda near: np.array([(2 * (c[k] - p[near == k])).sum(0) for k in range(len(c))]))(((p[:, None] - c) ** 2).sum(2).argmin(1))),
    "a directional derivative of a while loop": Program(
        """
def root (a: f64) : f64 = (loop (x, k) = (a, 0i32) while k < 60 && f64.abs (x * x - a) > 1e-15 do (0.5 * (x + a / x), k + 1)).0
entry run [n] (xs: [n]f64) : ([n]f64, [n]f64) = unzip (map (\\x -> jvp2 root x 1) xs)
""", "run", (1 + RNG.random(4),), lambda x: (np.sqrt(x), 0.5 / np.sqrt(x))),
    "bits": Program(
        """
entry run [n] (xs: [n]u16) : ([n]i32, [n]u16, [n]u16) =
  unzip3 (map (\\x -> (u16.popc x, x ^ (x >> 1), u16.set_bit 3 x 1)) xs)
""", "run", (np.array([0, 5, 65535, 1024], np.uint16),), lambda x: (np.array([0, 2, 16, 1], np.int32), x ^ (x >> 1), x | 8)),
    "an assertion that holds": Program(
        """
def checked [n] (xs: [n]i64) : i64 = assert (n > 0 && and (map (>= 0) xs)) (i64.sum xs)
entry run (xs: []i64) = checked xs
""", "run", (np.arange(5),), lambda xs: xs.sum()),
    "matrices as a local module": Program(
        """
module mat = {
  local def dot [n] (a: [n]f32) (b: [n]f32) = f32.sum (map2 (*) a b)
  def mul [n][m][p] (a: [n][m]f32) (b: [m][p]f32) : [n][p]f32 = map (\\r -> map (dot r) (transpose b)) a
  def pow [n] (a: [n][n]f32) (k: i64) : [n][n]f32 =
    let one = tabulate_2d n n (\\i j -> f32.bool (i == j))
    in (loop (r, b, k) = (one, a, k) while k > 0 do (if k % 2 == 1 then mul r b else r, mul b b, k / 2)).0
}
entry fib (k: i64) : f32 = (mat.pow [[1, 1], [1, 0]] k)[0, 1]
""", "fib", (20,), lambda k: 6765.0),
    "a histogram of a user's operator": Program(
        """
type range = {lo: f64, hi: f64}
def join (a: range) (b: range) : range = {lo = f64.min a.lo b.lo, hi = f64.max a.hi b.hi}
entry run [n] (k: i64) (is: [n]i64) (xs: [n]f64) : [k]f64 =
  hist join {lo = f64.inf, hi = -f64.inf} k is (map (\\x -> {lo = x, hi = x}) xs) |> map (\\(r: range) -> r.hi - r.lo)
""", "run", (3, np.array([0, 1, 0, 2, 1, 0]), np.array([1.0, 5, 4, 2, 3, -1])), lambda k, i, x: np.array([np.ptp(x[i == j]) for j in range(k)])),
}  # fmt: skip

WRONG = {
    "a number for a truth value": ("def main (x: i32) = if x then 1 else 2", "E1403", "1:24"),
    "branches of two types": ("def main (b: bool) (x: i32) = if b then x else 1.5f32", "E1403", "1.5f32"),
    "two kinds of numbers": ("def main (x: i32) (y: f32) = x + y", "E1403", "f32"),
    "a name with a slip": ("def main (xs: []i32) = lenght xs", "E1402", "lenght"),
    "a module's name with a slip": ("def main (x: f64) = f64.sqroot x", "E1402", "f64.sqroot"),
    "a module that is not there": ("def main (x: f64) = f128.sqrt x", "E1402", "f128"),
    "a field that a record lacks": ("type p = {x: i32, y: i32}\ndef main (q: p) = q.z", "E1403", "'z'"),
    "a field left out": ("type p = {x: i32, y: i32}\ndef main (a: i32) : p = {x = a}", "E1403", "{x = a}"),
    "too many arguments": ("def f (x: i32) = x + 1\ndef main (x: i32) = f x x", "E1403", "f x x"),
    "rows of different lengths": ("def main (x: i32) = [[x, x], [x]]", "E1404", "[x]"),
    "a zip of two lengths": ("def main [n][m] (xs: [n]i32) (ys: [m]i32) = zip xs ys", "E1404", '"m" is not "n"'),
    "a result of another size": ("def main [n] (xs: [n]i32) : [n]i32 = xs ++ xs", "E1404", "xs ++ xs"),
    "a length that the type does not know": (
        "def main (xs: []i32) = let ys = filter (> 0) xs let k = length ys in map2 (+) ys (tabulate k i32.i64)", "E1404", 'the size "k" is not one that only its value knows'),
    "a filter said to keep its size": ("def main [n] (xs: [n]i32) : [n]i32 = filter (> 0) xs", "E1404", "filter"),
    "an update of what is not one's own": ("def main (xs: []i32) = let ys = xs with [0] = 1 in ys", "E1405", "xs"),
    "used after it was consumed": ("def main (xs: *[]i32) = let ys = xs with [0] = 1 in xs[0] + ys[0]", "E1405", "xs"),
    "an alias consumed": ("def main (xs: *[]i32) = let ys = xs let zs = ys with [0] = 1 in xs[0] + zs[0]", "E1405", "xs"),
    "consumed inside a map": ("def main (xs: *[3]i32) = map (\\i -> (xs with [i] = 0)[0]) (iota 3)", "E1405", "xs"),
    "a match that is not complete": ("def main (x: i32) = match x case 0 -> 1 case 1 -> 2", "E1407", "match"),
    "a case with too few parts": ("type t = #a i32 i32 | #b\ndef main (x: t) = match x case #a y -> y case #b -> 0", "E1403", "#a"),
    "an operator that reduce cannot use": ("def main (xs: []i32) = reduce (\\a b -> a < b) 0 xs", "E1403", "bool"),
    "indices that are floats": ("def main (xs: []i32) (x: f64) = xs[x]", "E1403", "x"),
    "an index too many": ("def main (xs: []i32) = xs[0, 1]", "E1403", "xs[0, 1]"),
    "a loop that changes its type": ("def main (n: i32) = loop x = 0i32 for i < n do f32.i32 x", "E1403", "f32.i32 x"),
    "let without in": ("def main (x: i32) =\n  let y = x + 1\n  let z = y * 2\n", "E1401", "2"),
    "a bracket that stays open": ("def main (x: i32) = (x + 1\ndef g = 2", "E1401", "2:"),
    "an import that is not there": ('import "lib/github.com/diku-dk/sorts/radix_sort"\ndef main (x: i32) = x', "E1402", "radix_sort"),
    "a module type that wants more": ("module type t = { val f : i32 -> i32 val g : i32 }\nmodule m : t = { def f (x: i32) = x }\ndef main = m.f 1", "E1406", "g"),
    "a name defined twice": ("def f (x: i32) = x\ndef f (x: i32) = x + 1\ndef main = f 1", "E1406", "f"),
    "a type that is not there": ("def main (x: int) = x", "E1402", "int"),
    "a seed of the wrong type": ("def main (x: f64) = vjp (\\x -> (x, x)) x 1", "E1403", "1"),
}  # fmt: skip
