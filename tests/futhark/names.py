"""An expression for every name of the prelude and of the scalar modules that no larger program of ours uses, with what it gives, worked out in Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

X = "[5i32, 3, 8, 1]"

NAMES: list[tuple[str, Any]] = [
    ("f64.sum <| map (+ 1f64) [1, 2]", 5.0),
    ("(map (+ 1i32) >-> reduce (+) 0) [1, 2, 3]", 9),
    (f"(all (> 0) {X}, any (> 8) {X}, or [false, true], null {X})", (True, False, True, False)),
    (f"(head {X}, init {X}, take 2 {X}, map1 (* 2) {X})", (5, [5, 3, 8], [5, 3], [10, 6, 16, 2])),
    ("(concat [1i32, 2] [3], flatten [[1i32, 2], [3, 4]], exscan (+) 0 [1i32, 2, 3])", ([1, 2, 3], [1, 2, 3, 4], [0, 1, 3])),
    ("flatten_3d (unflatten_3d (iota 8 :> [2 * 2 * 2]i64))", list(range(8))),
    ("flatten_4d (unflatten_4d (iota 16 :> [2 * 2 * 2 * 2]i64))", list(range(16))),
    ("tabulate_3d 2 1 2 (\\i j k -> i * 4 + j * 2 + k)", [[[0, 1]], [[4, 5]]]),
    ("(curry (\\(a, b) -> a - b) 5i32 3, uncurry (+) (5i32, 3), flip (-) 5i32 3)", (2, 8, -2)),
    ("flatmap (\\k -> (replicate k (k * k), -k)) [2i64, 0, 1]", ([2, 0, 1], [True, False, True], [0, 2, 2], [4, 4, 1], [-2, 0, -1])),
    ("flatmap' iota [1i64, 3]", ([1, 3], [True, True, False, False], [0, 1], [0, 0, 1, 2])),
    ("(iterate_until (> 50) (* 2) 3i32, iterate_while (< 50) (* 2) 3i32)", (96, 96)),
    ("jmp2 (\\x -> x * x) 3f64 [1, 2]", (9.0, [6.0, 12.0])),
    ("mjp (\\(x, y) -> x * y) (3f64, 4f64) [1, 2] |> unzip2", ([4.0, 8.0], [3.0, 6.0])),
    ("mjp2 (\\x -> x * x) 3f64 [1]", (9.0, [6.0])),
    ("(opaque 3i32, break 4i32)", (3, 4)),
    ("let (a, b, c) = partition2 (< 3) (> 5) [5i32, 1, 8, 2, 9, 4] in (a, b, c)", ([1, 2], [8, 9], [5, 4])),
    ("(r32 3, t32 3.7, r64 3, t64 3.7)", (3.0, 3, 3.0, 3)),
    ("reduce_by_index_2d (replicate 2 (replicate 2 1i32)) (+) 0 [(0, 1), (1, 1), (0, 1), (5, 0)] [1, 2, 3, 9]", [[1, 5], [1, 3]]),
    ("reduce_by_index_3d (replicate 1 (replicate 2 (replicate 2 0i32))) (+) 0 [(0, 1, 0), (0, 0, 1)] [4, 5]", [[[0, 5], [4, 0]]]),
    ("(scatter_2d (replicate 2 (replicate 2 0i32)) [(0, 1), (3, 3)] [7, 8], scatter_3d [[[0i32, 0]]] [(0, 0, 1)] [6])", ([[0, 7], [0, 0]], [[[0, 6]]])),
    ("reduce_comm (+) 0 [1i32, 2, 3]", 6),
    ("(rep 2i32 : [3]i32)", [2, 2, 2]),
    ("let (a, b) = split ([1i32, 2, 3] :> [1 + 2]i32) in (a, b)", ([1], [2, 3])),
    ("unzip4 (zip4 [1i32] [2i32] [3i32] [4i32])", ([1], [2], [3], [4])),
    ("unzip5 (zip5 [1i32] [2i32] [3i32] [4i32] [5i32])", ([1], [2], [3], [4], [5])),
    ("unzip (zip2 [1i32] [2i32])", ([1], [2])),
    ("vjp (with_vjp_tape (\\x -> (x * 10, x * x)) (\\(tape, dy) -> tape * dy)) 3f64 2", 60.0),
    # integers
    ("(7i32 // (-2), 7i32 / (-2), 3i32 << 2, (-1i32) >>> 28, i32.abs (-3), i32.neg 3, i32.sgn (-3), i32.not 5)", (-3, -4, 12, 15, 3, -3, -1, -6)),
    ("(i32.clz 1, i32.ctz 8, i32.num_bits, i32.get_bit 2 5, i32.mad_hi 65536 65536 2, i32.minimum [3, 1], i32.maximum [3, 1], i32.product [3, 4], i32.min 3 4)", (31, 3, 32, 1, 3, 1, 3, 12, 3)),
    ("(i32.iota 3, i32.replicate 2 7i32, i32.to_i64 5, i32.i8 (-1), i32.i16 (-1), i32.u16 65535, i32.u64 (2u64 ** 40 + 1), i32.f16 3.5, i32.f32 (-3.5))", ([0, 1, 2], [7, 7], 5, -1, -1, 65535, 1, 3, -3)),
    ("(u8.clz 1, u8.neg 1, u8.i32 (-1), u8.sgn 9)", (7, 255, 255, 1)),
    # floats
    ("(f64.acos 0.5, f64.asin 0.5, f64.atan 0.5, f64.tan 0.5, f64.cos 0.5)", tuple(f(0.5) for f in (math.acos, math.asin, math.atan, math.tan, math.cos))),
    ("(f64.acosh 1.5, f64.asinh 1.5, f64.atanh 0.5, f64.cosh 1.5, f64.sinh 1.5)", (math.acosh(1.5), math.asinh(1.5), math.atanh(0.5), math.cosh(1.5), math.sinh(1.5))),
    ("(f64.acospi 0.5, f64.asinpi 0.5, f64.atanpi 1, f64.cospi 0.25, f64.sinpi 0.25, f64.tanpi 0.25, f64.atan2pi 1 1, f64.atan2 1 2)",
     (1 / 3, 1 / 6, 0.25, math.sqrt(0.5), math.sqrt(0.5), 1.0, 0.25, math.atan2(1, 2))),
    ("(f64.cbrt 27, f64.rsqrt 4, f64.recip 4, f64.hypot 3 4, f64.log2 8, f64.log10 1000, f64.log1p 1)", (3.0, 0.5, 0.25, 5.0, 3.0, 3.0, math.log(2))),
    ("(f64.ceil 1.2, f64.floor (-1.2), f64.round 2.5, f64.trunc (-1.7), f64.copysign 2 (-1), f64.neg 2, f64.sgn (-2))", (2.0, -2.0, 2.0, -1.0, -2.0, -2.0, -1.0)),
    ("(f64.e, f64.epsilon, f64.lowest, f64.num_bits, f64.isnan f64.nan, f64.isinf f64.inf)", (math.e, 2.0**-52, -math.inf, 64, True, True)),
    ("(f64.erf 0.5, f64.erfc 0.5, f64.gamma 5, f64.lgamma 5)", (math.erf(0.5), math.erfc(0.5), 24.0, math.log(24))),
    ("(f64.fma 2 3 4, f64.mad 2 3 4, f64.lerp 1 3 0.25, f64.ldexp 3 2, f64.from_fraction 1 4, f64.product [2, 3])", (10.0, 10.0, 1.5, 12.0, 0.25, 6.0)),
    ("(f64.i8 (-1), f64.i16 2, f64.i32 3, f64.u8 4, f64.u16 5, f64.u32 6, f64.u64 7, f64.f64 8, f64.to_f64 9, f64.to_i64 9.7)", (-1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9)),
    ("(f64.get_bit 63 (-1), f64.set_bit 63 1 1)", (1, -1.0)),
    # truth values
    ("(bool.bool true, bool.f16 0, bool.f32 1, bool.f64 0, bool.i8 1, bool.i16 0, bool.i32 5, bool.i64 0, bool.u8 1, bool.u16 0, bool.u32 3, bool.u64 0)",
     (True, False, True, False, True, False, True, False, True, False, True, False)),
]  # fmt: skip

# Syntax that is rare: text of a whole program, an entry's arguments, what it gives.
RARE: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "attributes": ("entry f (#[unused] xs: []i32) = #[sequential] reduce (+) 0 xs", (np.array([1, 2], np.int32),), 3),
    "a hole that is not reached": ("entry f (x: i32) = if x >= 0 then x else ???", (3,), 3),
    "a module's names opened": ("open { def twice (x: i32) = 2 * x }\nentry f (x: i32) = twice x", (3,), 6),
    "an expression in a module": ("entry f (x: f64) = f64.(sqrt x + pi)", (4.0,), 2 + math.pi),
    "text": ('entry f = "Aß"', (), [65, 195, 159]),
    "a size that exists": ("def evens (n: i64) : ?[k].[k]i64 = filter (\\i -> i % 2 == 0) (iota n)\nentry f (n: i64) = i64.sum (evens n)", (7,), 12),
    "a functor's type and lambda": (
        "module type num = { val n : i32 }\nmodule type maker = (M: num) -> num\nmodule add_one : maker = \\(M: num) : num -> { def n = M.n + 1 }\n"
        "module two = add_one ({ def n = 1i32 } : num)\nentry f = two.n", (), 2),
    "a module type that includes another": (
        "module type a = { val x : i32 }\nmodule type b = { include a val y : i32 }\nmodule m : b = { def x = 1i32 def y = 2i32 }\nentry f = m.x + m.y", (), 3),
}  # fmt: skip
