"""Programs as a stranger writes them: modules, functors, size expressions, sums, derivatives of loops with histograms. What they give was worked out in NumPy, from their description."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """Futhark text, an entry point, arguments, and the same in NumPy."""

    text: str
    entry: str
    args: tuple[Any, ...]
    wanted: Callable[..., Any]


def polynomial(c: Any, xs: Any) -> Any:
    return np.polyval(c[::-1], xs)


def running_maximum(xs: Any, k: int) -> Any:
    return np.array([xs[i : i + k].max() for i in range(len(xs) - k + 1)])


def queue(ops: Any) -> Any:
    """Push x > 0, pop at 0, clear at -1; what is left, padded."""
    held: list[int] = []
    for op in ops:
        if op > 0:
            held.append(op)
        elif op == 0:
            held = held[1:]
        else:
            held = []
    return np.array(held + [0] * (len(ops) - len(held)), np.int32), len(held)


def shapes(kind: Any, a: Any, b: Any) -> Any:
    return np.where(kind == 0, np.pi * a * a, np.where(kind == 1, a * b, 0.5 * a * b)).sum()


def soft_histogram(bins: int, where: Any, w: Any) -> Any:
    """d/dw of the sum of squares of a histogram of w*w, three times damped."""
    counts = np.bincount(where, w * w, bins)
    for _ in range(3):
        counts = 0.5 * counts
    return 2 * counts[where] * 0.125 * 2 * w


def chain(a: Any) -> Any:
    total = a[0]
    for m in a[1:]:
        total = total @ m
    return total


def mod_inverse_table(p: int) -> Any:
    return np.array([0] + [pow(x, -1, p) for x in range(1, p)], np.int64)


def fixed_point_slope(x: Any) -> Any:
    """d/dx of forty rounds of y <- 0.5 (y + x / y), from y = 1."""
    y, dy = np.ones_like(x), np.zeros_like(x)
    for _ in range(40):
        y, dy = 0.5 * (y + x / y), 0.5 * (dy + 1 / y - x * dy / (y * y))
    return dy


def grouped(keys: Any, values: Any) -> Any:
    best = np.full(4, -(2**31), np.int32)
    np.maximum.at(best, keys, values)
    return best, np.bincount(keys, minlength=4)


def tridiagonal_logdet(d: Any, e: Any) -> Any:
    """The slope of log det of a symmetric tridiagonal matrix along its diagonal: the diagonal of the inverse."""
    return np.diag(np.linalg.inv(np.diag(d) + np.diag(e, 1) + np.diag(e, -1)))


RNG = np.random.default_rng(24)

RIGHT = {
    "a functor over numbers": Program(
        """
module type ring = { type t val zero : t val add : t -> t -> t val mul : t -> t -> t }
module horner (R: ring) = {
  def at [n] (cs: [n]R.t) (x: R.t) : R.t = foldr (\\c acc -> R.add c (R.mul acc x)) R.zero cs
}
module floats = { type t = f64 def zero = 0f64 def add (x: t) (y: t) = x + y def mul (x: t) (y: t) = x * y }
module h = horner floats
entry poly [n][m] (cs: [n]f64) (xs: [m]f64) : [m]f64 = map (h.at cs) xs
""", "poly", (RNG.random(5), RNG.random(7)), polynomial),
    "windows by a size expression": Program(
        """
def windows [n] (k: i64) (xs: [n + k - 1]f64) : [n][k]f64 = tabulate_2d n k (\\i j -> xs[i + j])
entry peaks (k: i64) (xs: []f64) : []f64 =
  let n = length xs - k + 1
  in map f64.maximum (windows k (xs :> [n + k - 1]f64))
""", "peaks", (3, RNG.random(9)), lambda k, xs: running_maximum(xs, k)),
    "a queue in a loop": Program(
        """
type op = #push i32 | #pop | #clear
def read (x: i32) : op = if x > 0 then #push x else if x == 0 then #pop else #clear
entry run [n] (ops: [n]i32) : ([n]i32, i64) =
  loop (held, size) = (replicate n 0, 0i64) for o in ops do
    match read o
    case #push x -> (copy held with [size] = x, size + 1)
    case #pop -> if size == 0 then (held, 0) else (tabulate n (\\i -> if i + 1 < n then held[i + 1] else 0), size - 1)
    case #clear -> (replicate n 0, 0)
""", "run", (np.array([3, 5, 0, 0, 0, 7, -1, 2, 9, 0, 4], np.int32),), queue),
    "areas of a sum type": Program(
        """
type shape = #circle f64 | #box {w: f64, h: f64} | #triangle (f64, f64)
def shape (k: i32) (a: f64) (b: f64) : shape =
  match k case 0 -> #circle a case 1 -> #box {w = a, h = b} case _ -> #triangle (a, b)
def area (s: shape) = match s
  case #circle r -> f64.pi * r * r
  case #box {w, h} -> w * h
  case #triangle (b, h) -> 0.5 * b * h
entry total [n] (ks: [n]i32) (a: [n]f64) (b: [n]f64) : f64 = f64.sum (map area (map3 shape ks a b))
""", "total", (np.array([0, 1, 2, 1, 0], np.int32), RNG.random(5), RNG.random(5)), shapes),
    "the slope of a loop with a histogram": Program(
        """
def energy [n] (bins: i64) (is: [n]i64) (w: [n]f64) : f64 =
  let counts = hist (+) 0 bins is (map (\\x -> x * x) w)
  let damped = loop c = counts for _i < 3i32 do map (* 0.5) c
  in f64.sum (map (\\x -> x * x) damped)
entry slope [n] (bins: i64) (is: [n]i64) (w: [n]f64) : [n]f64 = vjp (energy bins is) w 1
""", "slope", (4, np.array([0, 3, 1, 3, 3, 0]), RNG.random(6)), soft_histogram),
    "products of matrices by reduce": Program(
        """
def eye (n: i64) : [n][n]f64 = tabulate_2d n n (\\i j -> f64.bool (i == j))
def mm [n] (a: [n][n]f64) (b: [n][n]f64) : [n][n]f64 = map (\\r -> map (\\c -> f64.sum (map2 (*) r c)) (transpose b)) a
entry chain [k][n] (ms: [k][n][n]f64) : [n][n]f64 = reduce mm (eye n) ms
""", "chain", (RNG.random((5, 3, 3)),), chain),
    "inverses by while": Program(
        """
def egcd (a: i64) (m: i64) : i64 =
  let (_, _, x, _) = loop (r0, r1, s0, s1) = (a, m, 1, 0) while r1 != 0 do
    let q = r0 / r1 in (r1, r0 - q * r1, s1, s0 - q * s1)
  in x %% m |> \\y -> if y < 0 then y + m else y
entry table (p: i64) : [p]i64 = tabulate p (\\x -> if x == 0 then 0 else egcd x p)
""", "table", (13,), mod_inverse_table),
    "jvp of a fixed point": Program(
        """
module type solver = { val rounds : i32 val step : f64 -> f64 -> f64 }
module solve (S: solver) = { def run (x: f64) = loop y = 1f64 for _i < S.rounds do S.step x y }
module newton = solve { def rounds = 40i32 def step (x: f64) (y: f64) = 0.5 * (y + x / y) }
entry slopes [n] (xs: [n]f64) : [n]f64 = map (\\x -> jvp newton.run x 1) xs
""", "slopes", (1 + RNG.random(5),), fixed_point_slope),
    "two histograms of one": Program(
        """
module stats = {
  type t = {best: i32, seen: i64}
  def none : t = {best = i32.lowest, seen = 0}
  def both (a: t) (b: t) : t = {best = i32.max a.best b.best, seen = a.seen + b.seen}
}
entry grouped [n] (ks: [n]i64) (vs: [n]i32) : ([4]i32, [4]i64) =
  reduce_by_index (replicate 4 stats.none) stats.both stats.none ks (map (\\v -> {best = v, seen = 1}) vs)
  |> map (\\(s: stats.t) -> (s.best, s.seen)) |> unzip
""", "grouped", (np.array([0, 2, 2, 0, 1, 2]), RNG.integers(-9, 9, 6).astype(np.int32)), grouped),
    "the slope of a scan that is a loop": Program(
        """
def logdet [n] (d: [n]f64) (e: []f64) : f64 =
  (loop (acc, before) = (0, 1) for i < n do
    let pivot = if i == 0 then d[0] else d[i] - e[i - 1] * e[i - 1] / before
    in (acc + f64.log pivot, pivot)).0
entry slope [n][m] (d: [n]f64) (e: [m]f64) : [n]f64 = vjp (\\d -> logdet d e) d 1
""", "slope", (4 + RNG.random(6), RNG.random(5)), tridiagonal_logdet),
}  # fmt: skip

WRONG = {
    "a member that the argument lacks": ("module f (M: {val n : i64 val m : i64}) = { def x = M.n }\nmodule a = f {def n : i64 = 1}\ndef main = a.x", "E1406", "Missing definition of value m"),
    "an abstract type opened": ("module m : {type t val mk : i32 -> t} = {type t = i32 def mk x = x}\ndef main (x: i32) = m.mk x + 1", "E1403", "m.mk x"),
    "another module's abstract type": (
        "module type s = {type t val mk : i32 -> t val get : t -> i32}\nmodule a : s = {type t = i32 def mk x = x def get (x: i32) = x}\n"
        "module b : s = {type t = i32 def mk x = x def get (x: i32) = x}\ndef main x = a.get (b.mk x)", "E1403", "b.mk x"),
    "a size off by one": ("def f [n] (a: [n]i32) (b: [n + 1]i32) = a[0] + b[n]\ndef main [n] (a: [n]i32) = f a (a ++ a)", "E1404", "a ++ a"),
    "a case that no sum has": ("type t = #a | #b\ndef f (x: t) = match x case #a -> 1 case #b -> 2\ndef main = f #c", "E1403", "#c"),
    "a case that is not handled": ("def f (x: #a i32 | #b) = match x case #a 0 -> 1 case #b -> 2\ndef main y = f (#a y)", "E1407", "#a"),
    "a size that no one can know": ("def main [n] (xs: [n]i32) = map (\\x -> filter (> x) xs) xs", "E1404", "filter"),
    "consumed in a loop": ("def main [n] (xs: *[n]i32) (ys: [n]i64) = loop s = 0 for y in ys do let zs = xs with [y] = 1 in s + zs[0]", "E1405", "xs"),
    "a function in an array": ("def main (x: i32) = ([\\y -> y + x, \\y -> y * x])[0] 2", "E1403", "array"),
    "the derivative of what is no function": ("def main (x: f64) = vjp (x + 1) x 1", "E1403", "x + 1"),
}  # fmt: skip
