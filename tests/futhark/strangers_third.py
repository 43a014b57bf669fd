"""A third round of a stranger's programs: functors that take functors, sums in loops, sizes that are computed, derivatives in loops and of them, functions that make functions. Expected values by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.futhark.strangers import Program

RNG = np.random.default_rng(77)
XS, YS = RNG.random(6), RNG.random(6)
IS = RNG.integers(-9, 9, 10).astype(np.int32)


def newton(xs: Any) -> Any:
    """Five steps towards the zero of y^3 - x from 1 + x."""
    y = 1 + xs
    for _ in range(5):
        y = y - (y**3 - xs) / (3 * y * y)
    return y


def sensitivity(a: float) -> float:
    """d/da of x after four steps x -> x - a * 2 * x from 1: (1 - 2a)^4."""
    return 4 * (1 - 2 * a) ** 3 * -2


def machine(program: Any) -> Any:
    """Push n >= 0; -1 adds the two on top, -2 multiplies them, -3 doubles the top."""
    stack: list[int] = []
    for op in program:
        if op >= 0:
            stack.append(int(op))
        elif op == -3:
            stack.append(2 * stack.pop())
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a + b if op == -1 else a * b)
    return stack[-1]


def gcds(xs: Any, ys: Any) -> Any:
    return np.gcd(xs, ys)


def banded(n: int) -> Any:
    return np.array([[i * 10 + j if abs(i - j) <= 1 else 0 for j in range(n)] for i in range(n)])


def bits_of(xs: Any) -> Any:
    return np.array([bin(int(x) & 0xFFFFFFFF).count("1") for x in xs], np.int32)


def convolved(xs: Any, ks: Any) -> Any:
    return np.convolve(xs, ks, "valid")


def sums_by_kind(kinds: Any, xs: Any) -> Any:
    return np.array([xs[kinds == k].sum() for k in range(3)])


def path_lengths(w: Any) -> Any:
    d = w.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return d


def gauss(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


def fibonacci(n: int) -> Any:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, (a + b) % 1000007
    return a


def sorted_pairs(keys: Any, xs: Any) -> Any:
    order = np.argsort(keys, kind="stable")
    return keys[order], xs[order]


def softmax_jacobian(x: Any) -> Any:
    p = np.exp(x - x.max())
    p /= p.sum()
    return np.diag(p) - np.outer(p, p)


def triangle(n: int) -> Any:
    return np.array([i * n + j for i in range(n) for j in range(i + 1)])


def mandel(re: Any, im: Any) -> Any:
    def steps(c: complex) -> int:
        z, k = 0j, 0
        while k < 20 and abs(z) <= 2:
            z, k = z * z + c, k + 1
        return k

    return np.array([[steps(complex(a, b)) for a in re] for b in im], np.int32)


def least(xs: Any) -> Any:
    at = int(np.argmin(xs))
    return xs[at], at


RIGHT = {
    "a functor of a functor": Program(
        """
module type monoid = { type t val zero : t val plus : t -> t -> t }
module type folder = { type t val fold [n] : [n]t -> t }
module mk_fold (M: monoid) : folder with t = M.t = { type t = M.t def fold [n] (xs: [n]t) = reduce M.plus M.zero xs }
module twice (F: (M: monoid) -> folder with t = M.t) (M: monoid) = { module inner = F M def run [n][m] (xss: [n][m]M.t) : M.t = inner.fold (map inner.fold xss) }
module add = { type t = f64 def zero = 0f64 def plus (a: f64) (b: f64) = a + b }
module most = { type t = f64 def zero = f64.lowest def plus = f64.max }
module sums = twice mk_fold add
module tops = twice mk_fold most
entry run [n][m] (xss: [n][m]f64) : (f64, f64) = (sums.run xss, tops.run xss)
""", "run", (RNG.random((3, 4)),), lambda x: (x.sum(), x.max())),
    "an abstract type with a size": Program(
        """
module type stack = { type~ t [n] val empty : (n: i64) -> t [n] val push [n] : t [n] -> i32 -> t [n] val top [n] : t [n] -> i32 val pop [n] : t [n] -> t [n] }
module stack : stack = {
  type~ t [n] = ([n]i32, i64)
  def empty (n: i64) : t [n] = (replicate n 0, 0)
  def push [n] ((xs, k): t [n]) (x: i32) : t [n] = (copy xs with [k] = x, k + 1)
  def top [n] ((xs, k): t [n]) = xs[k - 1]
  def pop [n] ((xs, k): t [n]) : t [n] = (xs, k - 1) }
entry run [n] (ops: [n]i32) : i32 =
  let s = loop s = stack.empty n for op in ops do
    if op >= 0 then stack.push s op
    else if op == -3 then stack.push (stack.pop s) (2 * stack.top s)
    else let b = stack.top s let s = stack.pop s let a = stack.top s let s = stack.pop s
         in stack.push s (if op == -1 then a + b else a * b)
  in stack.top s
""", "run", (np.array([3, 4, -1, 5, -2, -3, 1, -1], np.int32),), machine),
    "Newton's method by jvp in a loop": Program(
        """
def newton (f: f64 -> f64) (x0: f64) (k: i32) = loop x = x0 for _i < k do x - f x / jvp f x 1
entry run [n] (xs: [n]f64) : [n]f64 = map (\\x -> newton (\\y -> y * y * y - x) (1 + x) 5) xs
""", "run", (XS,), newton),
    "a derivative through gradient steps": Program(
        """
def descend (a: f64) = loop x = 1f64 for _i < 4i32 do x - a * vjp (\\x -> x * x) x 1
entry run (a: f64) : f64 = vjp descend a 1
""", "run", (0.1,), sensitivity),
    "a Jacobian by rows": Program(
        """
def softmax [n] (xs: [n]f64) = let m = f64.maximum xs let es = map (\\x -> f64.exp (x - m)) xs let s = f64.sum es in map (/ s) es
def unit (n: i64) (i: i64) = tabulate n (\\j -> f64.bool (i == j))
entry run [n] (xs: [n]f64) : [n][n]f64 = tabulate n (\\i -> vjp softmax xs (unit n i))
""", "run", (XS,), softmax_jacobian),
    "a sum that a loop carries": Program(
        """
type state = #running i32 i32 | #done i32
entry run [n] (xs: [n]i32) (ys: [n]i32) : [n]i32 =
  let gcd a b =
    let s = loop s: state = #running a b while (match s case #running _ _ -> true case #done _ -> false) do
      match s case #running a 0 -> #done a case #running a b -> #running b (a % b) case #done r -> #done r
    in match s case #done r -> r case #running _ _ -> -1
  in map2 gcd xs ys
""", "run", (np.array([12, 18, 7, 100], np.int32), np.array([8, 27, 5, 75], np.int32)), gcds),
    "arms with numbers, names and sums in sums": Program(
        """
type inner = #zero | #some i32
type outer = #wrap inner | #pair i32 i32
def make (i: i32) : outer = if i % 3 == 0 then #wrap #zero else if i % 3 == 1 then #wrap (#some i) else #pair i 2
def worth (o: outer) : i32 = match o case #wrap #zero -> 1000 case #wrap (#some 4) -> 44 case #wrap (#some k) -> k case #pair a b -> a * b
entry run (n: i64) : [n]i32 = map (\\i -> worth (make (i32.i64 i))) (iota n)
""", "run", (8,), lambda n: np.array([1000 if i % 3 == 0 else 44 if i == 4 else i if i % 3 == 1 else 2 * i for i in range(n)], np.int32)),
    "functions that make functions": Program(
        """
def compose 'a 'b 'c (f: b -> c) (g: a -> b) : a -> c = \\x -> f (g x)
def power 't (f: t -> t) (n: i32) (x: t) = loop x for _i < n do f x
def scale (k: f64) = (* k)
def affine (k: f64) (c: f64) = compose (+ c) (scale k)
entry run [n] (xs: [n]f64) : [n]f64 = map (power (affine 0.5 1) 3 >-> scale 2) xs
""", "run", (XS,), lambda x: 2 * (0.5 * (0.5 * (0.5 * x + 1) + 1) + 1)),
    "a record of functions": Program(
        """
type^ ring 't = {add: t -> t -> t, mul: t -> t -> t, zero: t}
def dot 't [n] (r: ring t) (xs: [n]t) (ys: [n]t) : t = reduce r.add r.zero (map2 r.mul xs ys)
def reals : ring f64 = {add = (+), mul = (*), zero = 0}
def tropical : ring f64 = {add = f64.min, mul = (+), zero = f64.inf}
entry run [n] (xs: [n]f64) (ys: [n]f64) : (f64, f64) = (dot reals xs ys, dot tropical xs ys)
""", "run", (XS, YS), lambda x, y: (x @ y, (x + y).min())),
    "sizes that are sums and differences": Program(
        """
def windows [n][k] 't 'r (f: [k]t -> r) (xs: [n]t) : [n - k + 1]r = tabulate (n - k + 1) (\\i -> f (xs[i:i + k] :> [k]t))
entry run [n][k] (xs: [n]f64) (ks: [k]f64) : []f64 = windows (\\w -> f64.sum (map2 (*) w (reverse ks))) xs
""", "run", (RNG.random(9), RNG.random(3)), convolved),
    "a size that is a product, and back": Program(
        """
entry run [n][m] (xss: [n][m]f64) : ([n][m]f64, [m * n]f64) =
  let flat = flatten xss
  let back = unflatten (map (* 2) flat)
  in (back, flatten (transpose xss))
""", "run", (RNG.random((3, 5)),), lambda x: (2 * x, x.T.ravel())),
    "an existential size that is named": Program(
        """
def positives (xs: []i32) : ?[k].[k]i32 = filter (> 0) xs
entry run [n] (xs: [n]i32) : ([]i32, i64) =
  let [k] (ps: [k]i32) = positives xs
  in (map2 (\\p i -> p * i32.i64 i) ps (iota k), k)
""", "run", (IS,), lambda x: (x[x > 0] * np.arange((x > 0).sum()), (x > 0).sum())),
    "in-place elimination with a pivot": Program(
        """
def swap_rows [n][m] (a: *[n][m]f64) (i: i64) (j: i64) : *[n][m]f64 = let r = copy a[i] let s = copy a[j] let a[i] = s let a[j] = r in a
entry run [n] (a: [n][n]f64) (b: [n]f64) : [n]f64 =
  let ab = map2 (\\row x -> row ++ [x]) a b
  let ab = loop ab for k < n do
    let (_, p) = reduce (\\(u, i) (v, j) -> if v > u then (v, j) else (u, i)) (-1, k) (map (\\i -> if i < k then (-1, i) else (f64.abs ab[i, k], i)) (iota n))
    let ab = swap_rows (copy ab) k p
    let pivot = map (/ ab[k, k]) ab[k]
    in tabulate n (\\i -> if i == k then pivot else map2 (\\x y -> x - ab[i, k] * y) ab[i] pivot)
  in map (\\row -> row[n]) ab
""", "run", (RNG.random((4, 4)) - 0.5, RNG.random(4)), gauss),
    "uniqueness through a helper": Program(
        """
def bump [n] (xs: *[n]i32) (i: i64) : *[n]i32 = xs with [i] = xs[i] + 1
entry run [n] (is: [n]i64) (k: i64) : [k]i32 = loop h = replicate k 0 for i in is do bump h (i % k)
""", "run", (np.array([0, 5, 2, 7, 2, 3], np.int64), 3), lambda i, k: np.bincount(i % k, minlength=k).astype(np.int32)),
    "a local module and an opened one": Program(
        """
module complex = { type t = (f64, f64) def norm2 (a: t) = a.0 * a.0 + a.1 * a.1 def (*) (a: t) (b: t) : t = (a.0 f64.* b.0 - a.1 f64.* b.1, a.0 f64.* b.1 + a.1 f64.* b.0) def (+) (a: t) (b: t) : t = (a.0 f64.+ b.0, a.1 f64.+ b.1) }
def steps (c: complex.t) : i32 =
  (loop (z, k) = ((0, 0), 0) while k < 20 && complex.norm2 z <= 4 do (complex.(z * z + c), k + 1)).1
entry run [n][m] (re: [n]f64) (im: [m]f64) : [m][n]i32 = map (\\b -> map (\\a -> steps (a, b)) re) im
""", "run", (np.linspace(-2, 0.5, 7), np.linspace(-1, 1, 5)), mandel),
    "matrices as a monoid": Program(
        """
type m = (i64, i64, i64, i64)
def mul ((a, b, c, d): m) ((e, f, g, h): m) : m = let r = (% 1000007) in (r (a * e + b * g), r (a * f + b * h), r (c * e + d * g), r (c * f + d * h))
entry run (n: i64) : i64 = (reduce mul (1, 0, 0, 1) (replicate n (1, 1, 1, 0))).1
""", "run", (50,), fibonacci),
    "a stable sort by scatter": Program(
        """
def step [n] 't (bit: i32) (xs: [n](i32, t)) : [n](i32, t) =
  let zeros = map (\\(k, _) -> i64.bool ((k >> bit) & 1 == 0)) xs
  let before = scan (+) 0 zeros
  let total = if n == 0 then 0 else before[n - 1]
  let after = scan (+) 0 (map (1 -) zeros)
  let at = map3 (\\z a b -> if z == 1 then a - 1 else total + b - 1) zeros before after
  in scatter (copy xs) at xs
entry run [n] (ks: [n]i32) (xs: [n]f64) : ([n]i32, [n]f64) = unzip (loop ps = zip ks xs for b < 8i32 do step b ps)
""", "run", (RNG.integers(0, 200, 12).astype(np.int32), RNG.random(12)), sorted_pairs),
    "reduce_by_index of an operator of pairs": Program(
        """
entry run [n] (kinds: [n]i64) (xs: [n]f64) : [3]f64 =
  map (.0) (reduce_by_index (replicate 3 (0, 0)) (\\(a, k) (b, l) -> (a + b, k + l)) (0f64, 0i64) kinds (map (\\x -> (x, 1)) xs))
""", "run", (np.array([0, 2, 1, 1, 0, 2], np.int64), XS), sums_by_kind),
    "shortest paths, an update of all": Program(
        """
entry run [n] (w: [n][n]f64) : [n][n]f64 = loop d = w for k < n do map (\\row -> map2 (\\x y -> f64.min x (row[k] + y)) row d[k]) d
""", "run", (RNG.random((5, 5)) * 9,), path_lengths),
    "bits of numbers": Program(
        """
entry run [n] (xs: [n]i32) : [n]i32 =
  map (\\x -> (loop (c, y) = (0, u32.i32 x) while y != 0 do (c + 1, y & (y - 1))).0) xs
""", "run", (IS,), bits_of),
    "a range with a step, backwards": Program(
        "entry run (n: i64) : []i64 = map (\\i -> i * i) (n..n - 3...1)", "run", (11,), lambda n: np.arange(n, 0, -3) ** 2),
    "a triangle by flatmap's older cousin": Program(
        """
def expand (sz: i64 -> i64) (get: i64 -> i64 -> i64) (n: i64) : []i64 =
  let sizes = map sz (iota n)
  let ends = scan (+) 0 sizes
  let total = if n == 0 then 0 else ends[n - 1]
  let owner = map (\\k -> reduce (+) 0 (map (\\e -> i64.bool (e <= k)) ends)) (iota total)
  in map2 (\\o k -> get o (k - (ends[o] - sizes[o]))) owner (iota total)
entry run (n: i64) : []i64 = expand (+ 1) (\\i j -> i * n + j) n
""", "run", (5,), triangle),
    "the least and where": Program(
        "entry run [n] (xs: [n]f64) : (f64, i64) = reduce_comm (\\(a, i) (b, j) -> if b < a || (b == a && j < i) then (b, j) else (a, i)) (f64.inf, n) (zip xs (iota n))", "run", (XS,), least),
}  # fmt: skip

WRONG = {
    "a functor's argument lacks a value": ("module type m = { val z : i32 }\nmodule f (a: m) = { def y = a.z }\nmodule g = f { def w = 1i32 }\ndef main = g.y", "E1406", "z"),
    "an abstract type looked into": ("module m : { type t val a : t } = { type t = i32 def a = 3i32 }\ndef main = m.a + 1", "E1403", "m.a"),
    "a module's value of another type": ("module type t = { val f : i32 -> f32 }\nmodule m : t = { def f (x: i32) = x }\ndef main = m.f 1", "E1406", "f"),
    "a size parameter that nothing decides": ("def f [n] (x: i32) : i32 = x + i32.i64 n\ndef main = f 3", "E1404", "n"),
    "a function in an array": ("def main = let fs = [\\x -> x + 1, \\x -> x * 2] in fs[0] 1", "E1403", "func"),
    "a function from a branch": ("def main (b: bool) = let f = if b then (+ 1) else (* 2) in f 3", "E1403", "func"),
    "a function that a loop carries": ("def main (n: i32) = (loop f = (\\(x: i32) -> x) for _i < n do \\x -> f x + 1) 0", "E1403", "func"),
    "a constructor of no such sum": ("type t = #a | #b\ndef main (x: t) : i32 = match x case #a -> 1 case #b -> 2 case #c -> 3", "E1403", "#c"),
    "a sum without its type": ("def f x = match x case #a -> 1i32\ndef main = f (#b : #b)", "E1403", "ambiguous"),
    "a case that is missing deep inside": ("type t = #a (#x | #y) | #b\ndef main (v: t) = match v case #a #x -> 1 case #b -> 2", "E1407", "#y"),
    "consumed in a branch and used after": ("def main (b: bool) (xs: *[]i32) = let ys = if b then xs with [0] = 1 else [1] in ys[0] + xs[0]", "E1405", "xs"),
    "consumed in every round": ("def main (n: i32) (xs: *[]i32) = loop s = 0 for _i < n do let ys = xs with [0] = s in ys[0]", "E1405", "xs"),
    "given twice where one is consumed": ("def f (xs: *[]i32) (ys: []i32) = xs with [0] = ys[0]\ndef main (xs: *[]i32) = f xs xs", "E1405", "xs"),
    "a result that is not unique": ("def f [n] (xs: [n]i32) : *[n]i32 = xs\ndef main = f [1, 2]", "E1405", "xs"),
    "a record update of no such field": ("def main (x: i32) = let r = {a = x, b = x} in r with c = 2", "E1403", "c"),
    "a polymorphic number added": ("def f 't (a: t) (b: t) : t = a + b\ndef main = f 1i32 2i32", "E1403", "t"),
    "a type parameter that is too poor": ("def pair 't (f: t) = [f]\ndef main = length (pair (\\(x: i32) -> x))", "E1403", "func"),
    "a matrix product of sizes that do not meet": ("def mm [n][m][p] (a: [n][m]f64) (b: [m][p]f64) : [n][p]f64 = map (\\r -> map (\\c -> f64.sum (map2 (*) r c)) (transpose b)) a\ndef main [n][m] (a: [n][m]f64) = mm a a", "E1404", "m"),
    "a derivative of what is no function": ("def main (x: f64) = jvp x x 1f64", "E1403", "x"),
    "a tangent of another length": ("def main [n][m] (xs: [n]f64) (ys: [m]f64) = jvp (\\(v: [n]f64) -> f64.sum v) xs ys", "E1404", "m"),
    "a local name used outside": ("module m = { local def hidden = 3i32 def seen = hidden }\ndef main = m.hidden", "E1402", "hidden"),
    "a number too large for its type": ("def main : u8 = 300", "E1403", "300"),
}  # fmt: skip
