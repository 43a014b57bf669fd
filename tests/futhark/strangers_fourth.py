"""A fourth round of a stranger's programs, larger ones: libraries as modules over modules, sums with arrays, sizes computed by expressions, two-dimensional histograms and scatters, derivatives with
their values (jvp2, vjp2) in solvers. Expected values by NumPy."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tests.futhark.strangers import Program

RNG = np.random.default_rng(404)
XS, YS = RNG.random(7) + 0.5, RNG.random(7) - 0.5
KEYS = RNG.integers(0, 5, 16).astype(np.int64)
WEIGHTS = RNG.random(16)


def dual_product(xs: Any, k: float) -> Any:
    """The value and the derivative of k -> prod(sin(k x))."""
    s = np.sin(k * xs)
    return s.prod(), sum(np.cos(k * x) * x * np.delete(s, i).prod() for i, x in enumerate(xs))


def ridge(a: Any, y: Any) -> Any:
    """200 steps of descent of |a w - y|^2 + 0.1 |w|^2 from zero, and the loss before each tenth."""
    w, losses = np.zeros(a.shape[1]), []
    for k in range(200):
        r = a @ w - y
        if k % 10 == 0:
            losses.append(r @ r + 0.1 * w @ w)
        w = w - 0.02 * (2 * a.T @ r + 0.2 * w)
    return w, np.array(losses)


def levels(parents: Any) -> Any:
    depth = []
    for i in range(len(parents)):
        d, p = 0, i
        while parents[p] != p:
            d, p = d + 1, int(parents[p])
        depth.append(d)
    return np.array(depth, np.int64)


def counted2(n: int, m: int, rows: Any, cols: Any, ws: Any) -> Any:
    out = np.ones((n, m))
    for i, j, w in zip(rows, cols, ws, strict=True):
        if 0 <= i < n and 0 <= j < m:
            out[i, j] += w
    return out


def tokens(text: Any) -> Any:
    """The numbers of a text, and what it comes to from the left: digits, + and *, others are spaces."""
    total, number, op = 0, None, ord("+")
    for c in [*text, 32]:
        if 48 <= c <= 57:
            number = (number or 0) * 10 + int(c) - 48
        else:
            if number is not None:
                total = total + number if op == ord("+") else total * number
                number = None
            if c in b"+*":
                op = c
    return total


def spmv(values: Any, columns: Any, starts: Any, x: Any) -> Any:
    return np.array([sum(values[k] * x[columns[k]] for k in range(starts[r], starts[r + 1])) for r in range(len(starts) - 1)])


def smoothed(xs: Any) -> Any:
    p = np.concatenate([xs[:1], xs, xs[-1:]])
    return (p[:-2] + 2 * p[1:-1] + p[2:]) / 4


def pyramid(xs: Any) -> Any:
    out = [xs]
    while len(xs) > 1:
        xs = xs.reshape(-1, 2).mean(1)
        out.append(xs)
    return np.concatenate(out[1:])


def bank(kinds: Any, amounts: Any) -> Any:
    """Deposits, withdrawals (refused below zero), fees of a tenth: the balance after each, and how many were refused."""
    balance, refused, seen = 0.0, 0, []
    for k, a in zip(kinds, amounts, strict=True):
        if k == 0:
            balance += a
        elif k == 1 and a <= balance:
            balance -= a
        elif k == 1:
            refused += 1
        else:
            balance *= 0.9
        seen.append(balance)
    return np.array(seen), refused


def transitions(states: Any) -> Any:
    t = np.zeros((3, 3))
    for a, b in pairwise(states):
        t[a, b] += 1
    s = t.sum(1, keepdims=True)
    return np.where(s > 0, t / np.where(s > 0, s, 1), 1 / 3)


def implied(price: Any) -> Any:
    """sigma with exp(sigma) + sigma = price: Newton's steps."""
    s = np.ones_like(price)
    for _ in range(30):
        s = s - (np.exp(s) + s - price) / (np.exp(s) + 1)
    return s


def permuted(xs: Any, to: Any) -> Any:
    out = np.zeros_like(xs)
    for i, t in enumerate(to):
        if 0 <= t < len(xs):
            out[t] = xs[i]
    return out


def islands(grid: Any) -> Any:
    """The least number of each component of four neighbours; water keeps -1."""
    n, m = grid.shape
    label = np.where(grid, np.arange(n * m).reshape(n, m), -1)
    for _ in range(n * m):
        new = label.copy()
        for i in range(n):
            for j in range(m):
                for a, b in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                    if grid[i, j] and 0 <= a < n and 0 <= b < m and grid[a, b]:
                        new[i, j] = min(new[i, j], label[a, b])
        label = new
    return label


def attention(q: Any, k: Any, v: Any) -> Any:
    """The gradient by q of the sum of squares of attention's result."""
    d = q.shape[1]
    s = q @ k.T / np.sqrt(d)
    p = np.exp(s - s.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    o = p @ v
    dp = 2 * o @ v.T
    ds = p * (dp - (dp * p).sum(1, keepdims=True))
    return (o**2).sum(), ds @ k / np.sqrt(d)


def rings(a: Any) -> Any:
    a = a.copy()
    for _ in range(3):
        top = a[0].copy()
        a[0, 1:] = top[:-1]
        right = a[:, -1].copy()
        a[1:, -1] = [top[-1], *right[1:-1]]
        a[0, 0] = right[-1]
    return a


RIGHT = {
    "dual numbers as a field of a functor": Program(
        """
module type field = { type t val fromf : f64 -> t val + : t -> t -> t val * : t -> t -> t val sin : t -> t }
module dual (F: { val one : f64 }) = {
  type t = { v: f64, d: f64 }
  def fromf (x: f64) : t = { v = x, d = 0 }
  def variable (x: f64) : t = { v = x, d = F.one }
  def (+) (a: t) (b: t) : t = { v = a.v f64.+ b.v, d = a.d f64.+ b.d }
  def (*) (a: t) (b: t) : t = { v = a.v f64.* b.v, d = a.v f64.* b.d f64.+ a.d f64.* b.v }
  def sin (a: t) : t = { v = f64.sin a.v, d = f64.cos a.v f64.* a.d } }
module program (F: field) = { def product [n] (xs: [n]f64) (k: F.t) = F.(reduce (*) (fromf 1) (map (\\x -> sin (k * fromf x)) xs)) }
module reals = { type t = f64 def fromf (x: f64) = x def sin = f64.sin def (+) (a: f64) (b: f64) = a f64.+ b def (*) (a: f64) (b: f64) = a f64.* b }
module d = dual { def one = 1f64 }
module with_duals = program d
module plainly = program reals
entry run [n] (xs: [n]f64) (k: f64) : (f64, f64) =
  let by_hand = with_duals.product xs (d.variable k)
  let (value, slope) = jvp2 (plainly.product xs) k 1
  in (assert (f64.abs (value - by_hand.v) < 1e-12) by_hand.v, assert (f64.abs (slope - by_hand.d) < 1e-12) slope)
""", "run", (XS, 0.7), dual_product),
    "descent by vjp2, with its losses": Program(
        """
def loss [n][m] (a: [n][m]f64) (y: [n]f64) (w: [m]f64) : f64 =
  let r = map2 (\\row t -> f64.sum (map2 (*) row w) - t) a y
  in f64.sum (map (\\x -> x * x) r) + 0.1 * f64.sum (map (\\x -> x * x) w)
entry run [n][m] (a: [n][m]f64) (y: [n]f64) : ([m]f64, [20]f64) =
  loop (w, seen) = (replicate m 0, replicate 20 0) for k < 200i64 do
    let (l, g) = vjp2 (loss a y) w 1
    let seen = if k % 10 == 0 then copy seen with [k / 10] = l else seen
    in (map2 (\\x d -> x - 0.02 * d) w g, seen)
""", "run", (RNG.random((7, 3)), YS), ridge),
    "depths by jumping pointers": Program(
        """
entry run [n] (parents: [n]i64) : [n]i64 =
  let depth = map2 (\\i p -> i64.bool (i != p)) (iota n) parents
  let (_, depth, _) =
    loop (p, d, going) = (copy parents, depth, true) while going do
      let d' = map2 (\\k q -> if q == p[q] && d[q] == 0 then k else k + d[q]) d p
      let p' = map (\\q -> p[q]) p
      in (p', d', any (\\(a, b) -> a != b) (zip p p'))
  in depth
""", "run", (np.array([0, 0, 1, 2, 3, 4, 1, 6, 8, 8], np.int64),), levels),
    "a histogram of two dimensions": Program(
        """
entry run [k] (n: i64) (m: i64) (rows: [k]i64) (cols: [k]i64) (ws: [k]f64) : [n][m]f64 =
  reduce_by_index_2d (replicate n (replicate m 1)) (+) 0 (zip rows cols) ws
""", "run", (3, 4, RNG.integers(-1, 4, 16), RNG.integers(-1, 5, 16), WEIGHTS), counted2),
    "a reader of sums, as a machine of sums": Program(
        """
type op = #plus | #times
type mode = #between | #inside i64
type state = { total: i64, op: op, mode: mode }
def finish (s: state) : state =
  match (s.mode, s.op)
  case (#between, _) -> s
  case (#inside k, #plus) -> s with total = s.total + k with mode = #between
  case (#inside k, #times) -> s with total = s.total * k with mode = #between
def step (s: state) (c: u8) : state =
  if c >= '0' && c <= '9' then
    let d = i64.u8 (c - '0')
    in match s.mode case #inside k -> s with mode = #inside (10 * k + d) case #between -> s with mode = #inside d
  else let s = finish s
       in match c case '+' -> s with op = #plus case '*' -> s with op = #times case _ -> s
entry run [n] (text: [n]u8) : i64 = (finish (loop s = { total = 0, op = #plus : op, mode = #between : mode } for c in text do step s c)).total
""", "run", (np.frombuffer(b"12 + 30*2+7 * 10", np.uint8),), tokens),
    "rows of a sparse matrix by a segmented reduction": Program(
        """
module type semiring = { type t val zero : t val add : t -> t -> t val mul : t -> t -> t }
module sparse (S: semiring) = {
  def segments [n] (flags: [n]bool) (xs: [n]S.t) : [n]S.t =
    map (.1) (scan (\\(f, x) (g, y) -> (f || g, if g then y else S.add x y)) (false, S.zero) (zip flags xs))
  def times [nnz][r][m] (values: [nnz]S.t) (columns: [nnz]i64) (starts: [r + 1]i64) (x: [m]S.t) : [r]S.t =
    let flags = scatter (replicate nnz false) (take r starts) (replicate r true)
    let sums = segments flags (map2 (\\v c -> S.mul v x[c]) values columns)
    in tabulate r (\\i -> if starts[i] == starts[i + 1] then S.zero else sums[starts[i + 1] - 1]) }
module real = sparse { type t = f64 def zero = 0f64 def add = (f64.+) def mul = (f64.*) }
entry run [nnz][r][m] (values: [nnz]f64) (columns: [nnz]i64) (starts: [r]i64) (x: [m]f64) : []f64 =
  real.times values columns (starts :> [(r - 1) + 1]i64) x
""", "run", (RNG.random(6), np.array([0, 3, 1, 2, 0, 3]), np.array([0, 2, 2, 5, 6]), RNG.random(4)), spmv),
    "padding by a size expression": Program(
        """
def padded [n] 't (xs: [n]t) : [1 + n + 1]t = [xs[0]] ++ xs ++ [xs[n - 1]]
def stencil3 [n] 't 'r (f: t -> t -> t -> r) (xs: [1 + n + 1]t) : [n]r = tabulate n (\\i -> f xs[i] xs[i + 1] xs[i + 2])
entry run [n] (xs: [n]f64) : [n]f64 = stencil3 (\\a b c -> (a + 2 * b + c) / 4) (padded xs)
""", "run", (XS,), smoothed),
    "a pyramid whose levels lie behind one another": Program(
        """
def half [n] (xs: [n * 2]f64) : [n]f64 = map (\\p -> (p[0] + p[1]) / 2) (unflatten xs)
entry run [n] (xs: [n]f64) : []f64 =
  let (_, out) =
    loop (ys: []f64, out: []f64) = (xs, []) while length ys > 1 do
      let k = length ys / 2
      let zs = half (ys :> [k * 2]f64)
      in (zs, out ++ zs)
  in out
""", "run", (RNG.random(16),), pyramid),
    "a bank of sums in a loop": Program(
        """
type^ outcome = #accepted f64 | #refused f64
type order = #deposit f64 | #withdraw f64 | #fee
def order (k: i32) (a: f64) : order = match k case 0 -> #deposit a case 1 -> #withdraw a case _ -> #fee
def apply (balance: f64) (o: order) : outcome =
  match o
  case #deposit a -> #accepted (balance + a)
  case #withdraw a -> if a <= balance then #accepted (balance - a) else #refused balance
  case #fee -> #accepted (balance * 0.9)
entry run [n] (kinds: [n]i32) (amounts: [n]f64) : ([n]f64, i32) =
  let orders = map2 order kinds amounts
  let (seen, _, refused) =
    loop (seen, balance, refused) = (replicate n 0, 0, 0) for i < n do
      match apply balance orders[i]
      case #accepted b -> (seen with [i] = b, b, refused)
      case #refused b -> (seen with [i] = b, b, refused + 1)
  in (seen, refused)
""", "run", (np.array([0, 1, 1, 2, 0, 1, 1], np.int32), np.array([5, 2, 9, 0, 4, 6, 6.5])), bank),
    "frequencies of pairs of neighbours": Program(
        """
entry run [n] (states: [n]i64) : [3][3]f64 =
  let pairs = zip (init states) (tail states)
  let counts = hist (+) 0 9 (map (\\(a, b) -> a * 3 + b) pairs) (map (const 1f64) pairs)
  let rows = unflatten (counts :> [3 * 3]f64)
  in map (\\row -> let s = f64.sum row in if s > 0 then map (/ s) row else replicate 3 (1 / 3)) rows
""", "run", (np.array([0, 1, 1, 0, 1, 1, 1, 0, 0], np.int64),), transitions),
    "a root by jvp2, and its slope through the loop": Program(
        """
def newton (f: f64 -> f64) (x0: f64) : f64 =
  let (x, _, _) = loop (x, gap, k) = (x0, 1f64, 0i32) while gap > 1e-13 && k < 30 do
    let (fx, dfx) = jvp2 f x 1
    let y = x - fx / dfx
    in (y, f64.abs (y - x), k + 1)
  in x
def root (price: f64) = newton (\\s -> f64.exp s + s - price) 1
entry run [n] (prices: [n]f64) : ([n]f64, [n]f64) = unzip (map (\\p -> jvp2 root p 1) prices)
""", "run", (XS + 2,), lambda p: (implied(p), 1 / (np.exp(implied(p)) + 1))),
    "a scatter and its adjoint": Program(
        """
def permute [n] (to: [n]i64) (xs: [n]f64) : [n]f64 = scatter (replicate n 0) to xs
entry run [n] (xs: [n]f64) (to: [n]i64) (seed: [n]f64) : ([n]f64, [n]f64) = vjp2 (permute to) xs seed
""", "run", (XS, np.array([3, 0, -1, 6, 1, 9, 2]), YS), lambda x, t, s: (permuted(x, t), np.where((t >= 0) & (t < len(x)), s[np.clip(t, 0, len(x) - 1)], 0))),
    "islands by the least label": Program(
        """
def at [n][m] (g: [n][m]i64) (i: i64) (j: i64) (other: i64) = if 0 <= i && i < n && 0 <= j && j < m && g[i, j] >= 0 then g[i, j] else other
entry run [n][m] (grid: [n][m]bool) : [n][m]i64 =
  let first = tabulate_2d n m (\\i j -> if grid[i, j] then i * m + j else -1)
  let relax (g: [n][m]i64) =
    tabulate_2d n m (\\i j -> let x = g[i, j] in if x < 0 then x else
      i64.min x (i64.min (i64.min (at g (i - 1) j x) (at g (i + 1) j x)) (i64.min (at g i (j - 1) x) (at g i (j + 1) x))))
  in (loop (g, moved) = (first, true) while moved do
        let h = relax g in (h, or (flatten (map2 (map2 (!=)) g h)))).0
""", "run", (RNG.random((5, 6)) < 0.6,), islands),
    "attention and its gradient at once": Program(
        """
module linear = {
  def dot [n] (a: [n]f64) (b: [n]f64) = reduce (+) 0 (map2 (*) a b)
  def mm [n][m][p] (a: [n][m]f64) (b: [m][p]f64) : [n][p]f64 = map (\\r -> map (dot r) (transpose b)) a }
open linear
def softmax [n] (xs: [n]f64) = let t = f64.maximum xs let es = map (\\x -> f64.exp (x - t)) xs let s = f64.sum es in map (/ s) es
def attend [n][m][d] (k: [m][d]f64) (v: [m][d]f64) (q: [n][d]f64) : [n][d]f64 =
  mm (map (map (/ f64.sqrt (f64.i64 d)) >-> softmax) (mm q (transpose k))) v
entry run [n][m][d] (q: [n][d]f64) (k: [m][d]f64) (v: [m][d]f64) : (f64, [n][d]f64) =
  vjp2 (\\q -> f64.sum (map (\\x -> x * x) (flatten (attend k v q)))) q 1
""", "run", (RNG.random((4, 3)), RNG.random((5, 3)), RNG.random((5, 3))), attention),
    "an array of the state in place, rows and columns": Program(
        """
def rotate_ring [n] (a: *[n][n]f64) : *[n][n]f64 =
  let top = copy a[0]
  let a[0, 1:] = copy top[:n - 1]
  let right = copy a[:, n - 1]
  let a[1:, n - 1] = [top[n - 1]] ++ right[1:n - 1] :> [n - 1]f64
  let a[0, 0] = right[n - 1]
  in a
entry run [n] (a: [n][n]f64) : [n][n]f64 = loop b = copy a for _k < 3i32 do rotate_ring b
""", "run", (RNG.random((4, 4)),), rings),
}  # fmt: skip


WRONG = {
    "a functor given a functor's result of another type": (
        "module type num = { type t val zero : t }\nmodule m (A: num) (B: num with t = A.t) = { def z : A.t = B.zero }\nmodule x = m { type t = i32 def zero = 0i32 } { type t = f64 def zero = 0f64 }\ndef main = x.z",
        "E1406", "t"),
    "a module used as a value": ("module m = { def x = 1i32 }\ndef main = m + 1", "E1402", "m"),
    "a functor used without its argument": ("module f (A: { val x : i32 }) = { def y = A.x }\ndef main = f.y", "E1402", "y"),
    "a value hidden by its module's type": ("module m : { val a : i32 } = { def a = b def b = 2i32 }\ndef main = m.a", "E1402", "b"),
    "padding that forgets one end": ("def padded [n] (xs: [n]f64) : [1 + n + 1]f64 = [xs[0]] ++ xs", "E1404", "n"),
    "halves of a size that may be odd": ("def half [n] (xs: [n * 2]f64) : [n]f64 = map (\\p -> p[0]) (unflatten xs)\ndef main [m] (xs: [m]f64) = half xs", "E1404", "m"),
    "the value that vjp2 gives, forgotten": ("def main [n] (xs: [n]f64) : [n]f64 = vjp2 (\\v -> f64.sum v) xs 1", "E1403", "f64"),
    "a seed of the argument's shape, not the result's": ("def main [n] (xs: [n]f64) : [n]f64 = vjp (\\(v: [n]f64) -> f64.sum v) xs xs", "E1403", "f64"),
    "a histogram whose operator changes the type": ("def main [n] (is: [n]i64) (xs: [n]f64) = hist (\\a b -> a < b) 0 5 is xs", "E1403", "bool"),
    "a scatter of more values than indices": ("def main [n][m] (xs: *[n]f64) (is: [m]i64) (vs: [n]f64) = scatter xs is vs", "E1404", "n"),
    "a scatter into what is not one's own": ("def main [n] (xs: [n]f64) (is: [n]i64) = scatter xs is xs", "E1405", "xs"),
    "an update of a row by a row of another length": ("def main [n][m] (a: *[n][m]f64) (r: [n]f64) = a with [0] = r", "E1404", "n"),
    "a slice of the array that is being written": ("def main [n] (a: *[n]f64) = let b = a[1:] let a[0] = 2 in f64.sum b + a[0]", "E1405", "b"),
    "the cases of two sums in one match": ("type a = #x | #y\ntype b = #y | #z\ndef f (v: a) : i32 = match v case #x -> 1 case #y -> 2\ndef main (w: b) = f w", "E1403", "#"),
    "a record with a field too many": ("type p = {x: f64, y: f64}\ndef norm (a: p) = a.x * a.x + a.y * a.y\ndef main (t: f64) = norm {x = t, y = t, z = t}", "E1403", "z"),
    "a loop over an array whose body keeps the element": ("def main [n] (xs: [n]f64) : f64 = loop s = 0i64 for x in xs do s + x", "E1403", "i64"),
}  # fmt: skip
