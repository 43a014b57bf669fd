"""Numbers drawn by rejection, written in Atoll: gamma and Poisson numbers, and what is made of them.

Each has three elements. `_try` is one draw, -1 where it is refused; `_again` makes draws from a given one until one is kept; `_quick` is draw 0 by a test so cheap
that it often does not tell, -1 there, and the bits of `_try` where it does. Arrays are made in passes (atoll/random.py): the quick test for all, then a try for
those that are left, another for those that are still left, and the loop for the few at the end. All but the last are straight lines, which run in vectors, and
the order of passes is nothing that a result depends on.
"""

from __future__ import annotations

import atoll as at
from atoll import f64, i64, u32, u64
from atoll.std.random import bits, exp_of, following, inside, log_inside, log_of, log_unit, middle, quantile, unit

# -- gamma: by Marsaglia and Tsang (2000), a normal number, cubed and kept with the right probability; a shape below 1 from a + 1


@at.fn
def gamma_quick(key: u64, i: i64, a: f64) -> f64:
    """Normal numbers in the middle, which need no logarithm, that are kept without one.

    With y = x / sqrt(9 d), t = 1 + y and w = 1 - u, log(u) is below -(w + w**2 / 2 + w**3 / 3); what it is compared with is
    3 d (log(t) - y + y**2 / 2 - y**3 / 3), which is at least -(3/4) d y**4 / min(t, 1). The rest of the bound is more than either side is rounded by."""
    d = a + f64(a < 1.0) - 1 / 3
    r, s = bits(key, i, u32(0))
    q = inside(r, s) - 0.5
    above, below = middle(q)
    y = q * (above / below) / sqrt(9.0 * d)
    t = 1.0 + y
    r1, s1 = following(key, r, s)
    w = 1.0 - inside(r1, s1)
    least = fma(fma(1 / 3, w, 0.5), w, 1.0) * w
    ok = least * minimum(t, 1.0) > d * fma(0.7500001, (y * y) * (y * y), 1e-12)
    return where((t > 0.0) & (abs(q) <= 0.425) & (a != 1.0) & ok, d * (t * t * t), -1.0)


@at.fn
def gamma_one(key: u64, i: i64) -> f64:
    """Of shape 1, where gamma numbers are exponential ones."""
    return -log_unit(key, i, u32(0))


@at.fn
def gamma_try(key: u64, i: i64, a: f64, draw: u32) -> f64:
    """What is asked of the shape is a number, 0 or 1: where it is the same for all elements, compilers do not put a choice by it in vectors."""
    d = a + f64(a < 1.0) - 1 / 3
    r, s = bits(key, i, draw)
    x = quantile(r, s)
    t = 1.0 + x / sqrt(9.0 * d)
    v = t * t * t
    kept = where(t > 0.0, v, 1.0)
    r1, s1 = following(key, r, s)
    ok = log_inside(r1, s1) < fma(0.5 * x, x, d - d * kept) + d * log_of(kept)
    one = f64(a == 1.0)
    return fma(one, -log_inside(r, s), (1.0 - one) * where((t > 0.0) & ok, d * v, -1.0))


@at.fn
def gamma_again(key: u64, i: i64, a: f64, first: u32) -> f64:
    """All in the loop: what is not would be computed for every element."""
    found = -1.0
    draw = first
    while found < 0.0:
        found = gamma_try(key, i, a, draw)
        draw = draw + u32(1)
    return found


@at.fn
def log_part(key: u64, i: i64, a: f64) -> f64:
    """The logarithm of what a gamma number of shape a + 1 is multiplied with for shape a below 1: log(u) / a, of a draw of its own. From 1 on, 0."""
    return f64(a < 1.0) * maximum(log_unit(key, i, u32(0x3FFF)) / a, -1e300)


@at.fn
def gamma_small(key: u64, i: i64, a: f64, g: f64) -> f64:
    """The gamma number where shapes may be below 1; g itself from 1 on."""
    return g * exp_of(log_part(key, i, a))


@at.fn
def gamma(g: f64, a: f64, scale: f64) -> f64:
    return scale * sampled(g)


@at.fn
def chisquare(g: f64, df: f64) -> f64:
    return 2.0 * sampled(g)


@at.fn
def beta(g: f64, h: f64, a: f64, b: f64) -> f64:
    return sampled(1.0 / (1.0 + h / g))


@at.fn
def beta_small(g: f64, h: f64, more: f64, a: f64, b: f64) -> f64:
    """Of gamma numbers that have yet to be multiplied: their quotient has a value where both are too small for one."""
    return sampled(1.0 / (1.0 + (h / g) * exp_of(more)))


@at.fn
def student_t(z: f64, g: f64, df: f64) -> f64:
    return sampled(z * sqrt(0.5 * df / g))


# -- Poisson: by rejection under a transformed curve (Hoermann 1993, PTRS), for lam from 10


@at.fn
def log_factorial(k: f64) -> f64:
    """log(k!) by Stirling's series at 8 more, less the logarithm of the product between."""
    x = k + 9.0
    shift = ((k + 1.0) * (k + 2.0)) * ((k + 3.0) * (k + 4.0)) * (((k + 5.0) * (k + 6.0)) * ((k + 7.0) * (k + 8.0)))
    low = minimum(shift, 18446744073709551616.0)
    z = 1.0 / (x * x)
    series = fma(fma(fma(fma(1 / 1188, -z, 1 / 1680), -z, 1 / 1260), -z, 1 / 360), -z, 1 / 12) / x
    far = 1.0 / (k + 1.0)
    at_far = fma(fma(1 / 1260, far * far, -1 / 360), far * far, 1 / 12) * far
    near = (x - 0.5) * log_of(x) - x + 0.9189385332046727 + series - log_of(low)
    return where(k < 200.0, near, (k + 0.5) * log_of(k + 1.0) - (k + 1.0) + 0.9189385332046727 + at_far)


@at.fn
def poisson_quick(key: u64, i: i64, lam: f64) -> f64:
    """Where the curve is so near that it is kept at once."""
    b = 0.931 + 2.53 * sqrt(lam)
    a = 0.02483 * b - 0.059
    r, s = bits(key, i, u32(0))
    u = inside(r, s) - 0.5
    r1, s1 = following(key, r, s)
    us = 0.5 - abs(u)
    at_once = (us >= 0.07) & (inside(r1, s1) <= 0.9277 - 3.6224 / (b - 2.0))
    return where(at_once, floor((2.0 * a / us + b) * u + lam + 0.43), -1.0)


@at.fn
def poisson_try(key: u64, i: i64, lam: f64, draw: u32) -> f64:
    b = 0.931 + 2.53 * sqrt(lam)
    a = 0.02483 * b - 0.059
    r, s = bits(key, i, draw)
    u = inside(r, s) - 0.5
    r1, s1 = following(key, r, s)
    v = inside(r1, s1)
    us = 0.5 - abs(u)
    found = floor((2.0 * a / us + b) * u + lam + 0.43)
    k = maximum(found, 0.0)
    left = log_inside(r1, s1) + log_of(1.1239 + 1.1328 / (b - 3.4)) - log_of(a / (us * us) + b)
    ok = left <= k * log_of(lam) - lam - log_factorial(k)
    at_once = (us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2.0))
    refused = (found < 0.0) | ((us < 0.013) & (v > us))
    return where(at_once | (ok & ~refused), found, -1.0)


@at.fn
def poisson_again(key: u64, i: i64, lam: f64, first: u32) -> f64:
    found = -1.0
    draw = first
    while found < 0.0:
        found = poisson_try(key, i, lam, draw)
        draw = draw + u32(1)
    return found


@at.fn
def poisson_small(key: u64, i: i64, lam: f64) -> i64:
    """By the sum of probabilities, for lam below 10."""
    u = unit(key, i, u32(0))
    p = exp_of(-lam)
    total = p
    k = 0
    while u >= total and k < 200:
        k = k + 1
        p = p * lam / k
        total = total + p
    return k


@at.fn
def poisson(key: u64, i: i64, lam: f64) -> i64:
    assert lam >= 0.0 and lam < 1e15, f"poisson: lam is {lam}, not from 0 to 1e15"
    return poisson_small(key, i, lam) if lam < 10.0 else i64(poisson_again(key, i, lam, u32(0)))
