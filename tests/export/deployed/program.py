"""Functions of every kind that a library may hold."""

from __future__ import annotations

import atoll as at
from atoll import bool_, c64, c128, f32, f64, i8, i16, i32, i64, idx, u8, u16, u32, u64

n, m, k = at.sizes("n m k")
c = at.some("c")


@at.record
class Body:
    place: f64[n, 3]
    mass: f64[n]


@at.fn
def product(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:
    """The product of two matrices."""
    return a @ b


@at.fn
def every(a: i8[n], b: i16[n], c: i32[n], d: i64[n], e: u8[n], f: u16[n], g: u32[n], h: u64[n], x: f32[n], y: f64[n], p: c64[n], q: c128[n], t: bool_[n]) -> (
    i8[n], i16[n], i32[n], i64[n], u8[n], u16[n], u32[n], u64[n], f32[n], f64[n], c64[n], c128[n], bool_[n]
):
    return a + i8(1), b + i16(1), c + i32(1), d + 1, e + u8(1), f + u16(1), g + u32(1), h + u64(1), x + x, y + y, p * p, q * q, [not v for v in t]


@at.fn
def centre(b: Body, weight: f64 = 2.0) -> (f64[3], Body):
    total = sum(b.mass)
    return [sum(b.mass[i] * b.place[i, j] for i in range(n)) / total for j in range(3)], Body(b.place * weight, b.mass)


@at.fn
def picked(x: f64[n], at_: i64) -> f64:
    return x[at_]


@at.fn
def choose(x: f64[n], which: idx[n][m]) -> f64[m]:
    return [x[i] for i in which]


@at.fn
def positive(x: f64[n]) -> f64[c]:
    return filter(lambda v: v > 0.0, x)


@at.fn
def checked(x: f64[n], limit: f64) -> f64:
    s = sum(x)
    assert s < limit, f"the sum is {s:.2f}, more than {limit}"
    print("sum", s, f"{s:.3f}")
    return sqrt(s)


@at.fn
def inner(x: f64[n]) -> f64[n - 2]:
    return x[1:-1]


@at.fn
def pairs(x: (f64, f64[n]), o: i64[2 * n + 1]) -> (f64, (i64, f64[n])):
    return x[0], (sum(o), x[1])
