"""Programs that compute things of which processors, compilers and libraries have different opinions, each with arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import atoll as at
from atoll import c64, c128, f32, f64, i64

n, m, k = at.sizes("n m k")
at_bits = at.fn(bits="portable")


@at_bits
def functions(x: f64[n], y: f64[n], u: f32[n]) -> f64[26, n]:
    a, p = abs(x), 1.0 / (1.0 + abs(x))
    return [
        exp(x), exp2(x), expm1(x), log(a), log2(a), log10(a), log1p(a), sin(x), cos(x), tan(x), arcsin(p), arccos(p), arctan(x), arctan2(x, y), sinh(x), cosh(x),
        tanh(x), arcsinh(x), arccosh(1.0 + a), arctanh(p), hypot(x, y), cbrt(x), erf(x), erfc(x), lgamma(x), pow(a, y),
    ]  # fmt: skip


@at_bits
def in_f32(u: f32[n], v: f32[n]) -> f32[8, n]:
    return [exp(u), log(abs(u)), sin(u), tanh(u), pow(abs(u), v), lgamma(u), sqrt(abs(u)) / v, u * v - v]


@at_bits
def more(x: f64[n]) -> (f64[n], f64[n], f64[n], f64[n], at.bool_[n]):
    return tgamma(x), digamma(x), erfc(x), copysign(1.0, sqrt(x)), [signbit(z / z) for z in x]


@at_bits
def sums(x: f64[n], u: f32[n], z: c64[n]) -> (f64, f32, f64, f64, f64, c64, i64):
    return sum(exp(x)), sum(u), prod(1.0 + x / f64(n + 1)), max(x, default=0.0), min(0.0 * x, default=1.0), sum(z * z), argmax(x) if n > 0 else -1


@at_bits
def matrices(a: f32[n, k], b: f32[k, m], x: f64[n, k]) -> (f32[n, m], f64[k], f64[n], f64[n, k]):
    soft = [[exp(x[i, j] - max(x[i])) for j in range(k)] for i in range(n)]
    return a @ b, sum(x, axis=0), sum(x), [[soft[i, j] / sum(soft[i]) for j in range(k)] for i in range(n)]


@at_bits
def guarded(x: f64[n], starts: i64[m + 1]) -> (f64[m], f64[n], f64):
    parts = [sum(x[j] for j in range(starts[i], starts[i + 1])) for i in range(m)]
    after = [sum(x[j] for j in range(n) if j >= i) for i in range(n)]
    return parts, after, sum(v * v for v in x if v > 0.0)


@at_bits
def turned(c: f64[n], s: f64[n], x: f64[n, 2], z: c128[n], w: c128[n]) -> (f64[n, 2], c128[n], c128[n], f64[n]):
    return [[c[i] * x[i, 0] - s[i] * x[i, 1], s[i] * x[i, 0] + c[i] * x[i, 1]] for i in range(n)], z * w, exp(z) / w + sqrt(z) * log(w), abs(z)


@at_bits
def in_order(x: f64[n], where_: i64[n]) -> (f64[n], f64[16], f64[n], f64):
    state = 0.5
    for i in range(n):
        state = state * 0.99 + sin(x[i]) * state
    return scan(add, 0.0, x), hist(add, 0.0, 16, where_, x), sort(x), state


@at_bits
def drawn(seed: i64) -> (f64[60], f32[40]):
    key = at.random.key(seed)
    return at.random.normal(key, (60,)), f32(at.random.uniform(key, (40,)))


@at_bits
def energy(w: f64[n], x: f64[m, n]) -> f64:
    return sum(log1p(exp(-tanh(sum(w * row)))) for row in x) + sum(w * w)


slope = at.grad(energy)


def numbers(size: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Of many magnitudes, with zeros of both signs, what is not finite, and numbers below the normal ones."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=size) * np.exp(rng.normal(size=size) * 3)
    odd = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e300, 1.0, -2.5]
    places = rng.permutation(size)[: min(size, len(odd))]
    x[places] = odd[: len(places)]
    return x


def _finite(size: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=size)


def cases() -> Iterator[tuple[at.Function, list[list[Any]]]]:
    """Functions and calls of them."""
    single = lambda x: x.astype(np.float32)
    with np.errstate(all="ignore"):
        x, y = numbers(90, 1), numbers(90, 2)
        yield functions, [[x, y, single(x)]]
        yield in_f32, [[single(x), single(y)]]
        yield more, [[numbers(90, 3)]]
    sizes = (0, 1, 32, 255, 256, 257, 700, 66_000)
    yield sums, [[_finite(s), single(_finite(s, 1)), (_finite(s, 2) + 1j * _finite(s, 3)).astype(np.complex64)] for s in sizes]
    yield matrices, [[single(_finite(p * q)).reshape(p, q), single(_finite(q * r)).reshape(q, r), _finite(p * q).reshape(p, q)] for p, q, r in ((3, 300, 4), (300, 3, 5), (1, 1, 1))]
    yield guarded, [[_finite(300), np.array([0, 3, 3, 290, 300])], [_finite(1), np.array([0, 1])]]
    yield turned, [[_finite(37), _finite(37, 1), _finite(74, 2).reshape(37, 2), _finite(37, 3) + 1j * _finite(37, 4), _finite(37, 5) + 1j * _finite(37, 6)]]
    yield in_order, [[np.where(np.isnan(numbers(500)), 0.25, np.clip(numbers(500), -9.0, 9.0)), np.arange(500) * 7 % 16]]
    yield drawn, [[5]]
    yield slope, [[_finite(20), _finite(600).reshape(30, 20)]]


Case = tuple[at.Function, list[list[Any]]]
Way = Callable[[at.Function, list[Any]], Any]
