"""Random numbers, written in Atoll: what one element of an array of random numbers is, as a function of a key and of its place.

The bits are those of Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011): 64 bits for a
key of 64 bits and a counter of 64 bits. The counter of an element is its place in the array, in row-major order, with a number of the draw above bit 48 for
distributions that need more than 64 bits. Nothing depends on an order of evaluation, so neither on threads nor on pieces.

No function of a mathematical library is used, whose last bits differ from machine to machine: logarithms and exponentials below are sums, products and quotients of
IEEE doubles, which are the same everywhere. What is drawn by rejection stands in rejection.py. at.random (atoll/random.py) makes arrays of these elements.
"""

from __future__ import annotations

import atoll as at
from atoll import bool_, f32, f64, i32, i64, u32, u64

n, m = at.sizes("n m")


@at.fn
def threefry(k0: u32, k1: u32, c0: u32, c1: u32) -> (u32, u32):
    """Threefry-2x32-20 of a key and a counter."""
    k2 = k0 ^ k1 ^ u32(0x1BD11BDA)
    x = c0 + k0
    y = c1 + k1
    x = x + y
    y = ((y << 13) | (y >> 19)) ^ x
    x = x + y
    y = ((y << 15) | (y >> 17)) ^ x
    x = x + y
    y = ((y << 26) | (y >> 6)) ^ x
    x = x + y
    y = ((y << 6) | (y >> 26)) ^ x
    x = x + k1
    y = y + k2 + u32(1)
    x = x + y
    y = ((y << 17) | (y >> 15)) ^ x
    x = x + y
    y = ((y << 29) | (y >> 3)) ^ x
    x = x + y
    y = ((y << 16) | (y >> 16)) ^ x
    x = x + y
    y = ((y << 24) | (y >> 8)) ^ x
    x = x + k2
    y = y + k0 + u32(2)
    x = x + y
    y = ((y << 13) | (y >> 19)) ^ x
    x = x + y
    y = ((y << 15) | (y >> 17)) ^ x
    x = x + y
    y = ((y << 26) | (y >> 6)) ^ x
    x = x + y
    y = ((y << 6) | (y >> 26)) ^ x
    x = x + k0
    y = y + k1 + u32(3)
    x = x + y
    y = ((y << 17) | (y >> 15)) ^ x
    x = x + y
    y = ((y << 29) | (y >> 3)) ^ x
    x = x + y
    y = ((y << 16) | (y >> 16)) ^ x
    x = x + y
    y = ((y << 24) | (y >> 8)) ^ x
    x = x + k1
    y = y + k2 + u32(4)
    x = x + y
    y = ((y << 13) | (y >> 19)) ^ x
    x = x + y
    y = ((y << 15) | (y >> 17)) ^ x
    x = x + y
    y = ((y << 26) | (y >> 6)) ^ x
    x = x + y
    y = ((y << 6) | (y >> 26)) ^ x
    x = x + k2
    y = y + k0 + u32(5)
    return x, y


# -- keys


@at.fn
def fold(key: u64, domain: u32, data: u64) -> u64:
    """A key made of a key and a number. The domain is a bit that no counter of a draw has."""
    a, b = threefry(u32(key >> 32), u32(key), u32(data >> 32), u32(data))
    c, d = threefry(a, b, domain, u32(0))
    return (u64(c) << 32) | u64(d)


@at.fn
def fold_in(key: u64, data: i64) -> u64:
    return fold(key, u32(0x40000000), u64(data))


@at.fn
def split_at(key: u64, i: i64) -> u64:
    """Key i of those a key is split into."""
    x, y = threefry(u32(key >> 32), u32(key), u32(i >> 32) | u32(0x80000000), u32(i))
    return (u64(x) << 32) | u64(y)


# -- bits and units


@at.fn
def bits(key: u64, i: i64, draw: u32) -> (u32, u32):
    """64 bits for element i."""
    return threefry(u32(key >> 32), u32(key), u32(i >> 32) ^ (draw << 16), u32(i))


@at.fn
def word(key: u64, i: i64, draw: u32) -> u64:
    x, y = bits(key, i, draw)
    return (u64(x) << 32) | u64(y)


@at.fn
def unit(key: u64, i: i64, draw: u32) -> f64:
    """A multiple of 2**-53 in 0..1 without 1."""
    x, y = bits(key, i, draw)
    return (f64(i32(x >> 5)) * 67108864.0 + f64(i32(y >> 6))) * 1.1102230246251565e-16


@at.fn
def inside(x: u32, y: u32) -> f64:
    """An odd multiple of 2**-53 between 0 and 1, as often on either side of 1/2."""
    return (f64(i32(x >> 6)) * 67108864.0 + f64(i32(y >> 6)) + 0.5) * 2.220446049250313e-16


@at.fn
def inner(key: u64, i: i64, draw: u32) -> f64:
    x, y = bits(key, i, draw)
    return inside(x, y)


@at.fn
def following(key: u64, x: u32, y: u32) -> (u32, u32):
    """64 bits more, with 64 random bits as the counter: one loop makes all that an element needs."""
    return threefry(u32(key >> 32), u32(key), x, y)


# -- logarithm and exponential


@at.fn
def log_near(s: f64, k: f64) -> f64:
    """The logarithm of (1 + s) / (1 - s), by its series, less k times that of 2."""
    z = s * s
    p = fma(fma(fma(fma(fma(fma(fma(fma(fma(1 / 21, z, 1 / 19), z, 1 / 17), z, 1 / 15), z, 1 / 13), z, 1 / 11), z, 1 / 9), z, 1 / 7), z, 1 / 5), z, 1 / 3)
    return fma(2.0 * s * z, p, 2.0 * s) - k * 0.6931471805599453


@at.fn
def log_below(x: f64) -> f64:
    """The logarithm of 2**-64 to 1: scaled by powers of two to about 1, then twice the series of atanh((x - 1) / (x + 1))."""
    c0 = f64(x < 2.3283064365386963e-10)
    m0 = x * fma(c0, 4294967295.0, 1.0)
    c1 = f64(m0 < 1.52587890625e-05)
    m1 = m0 * fma(c1, 65535.0, 1.0)
    c2 = f64(m1 < 0.00390625)
    m2 = m1 * fma(c2, 255.0, 1.0)
    c3 = f64(m2 < 0.0625)
    m3 = m2 * fma(c3, 15.0, 1.0)
    c4 = f64(m3 < 0.25)
    m4 = m3 * fma(c4, 3.0, 1.0)
    c5 = f64(m4 < 0.5)
    m5 = m4 * fma(c5, 1.0, 1.0)
    c6 = f64(m5 < 0.7071067811865476)
    m6 = m5 * fma(c6, 1.0, 1.0)
    k = fma(c0, 32.0, fma(c1, 16.0, fma(c2, 8.0, fma(c3, 4.0, fma(c4, 2.0, (c5 + c6))))))
    return log_near((m6 - 1.0) / (m6 + 1.0), k)


@at.fn
def log_inside(x: u32, y: u32) -> f64:
    """log_below(inside(x, y)), the same bits sooner: the power of two is that of the highest bit, whose place is how many bits are at it or under it."""
    u = inside(x, y)
    high = x >> 6
    some = (high | (u32(0) - high)) >> 31
    z = (x & (u32(0) - some)) | ((y | u32(32)) & (some - u32(1)))
    z = z | (z >> 1)
    z = z | (z >> 2)
    z = z | (z >> 4)
    z = z | (z >> 8)
    z = z | (z >> 16)
    n = z - ((z >> 1) & u32(0x55555555))
    n = (n & u32(0x33333333)) + ((n >> 2) & u32(0x33333333))
    n = (n + (n >> 4)) & u32(0x0F0F0F0F)
    n = n + (n >> 8)
    n = (n + (n >> 16)) & u32(63)
    c = (f64(i32(z >> 1)) + 1.0) * fma(f64(i32(some)), 4.6566128036884535e-10, 6.938893903907228e-18)
    low = f64(u < 0.7071067811865476 * c)
    k = low + f64(i32(u32(58) - u32(26) * some) - i32(n))
    one = fma(low, -0.5 * c, c)
    return log_near((u - one) / (u + one), k)


@at.fn
def log_of(x: f64) -> f64:
    """The logarithm of 2**-64 to 2**64."""
    found = log_below(where(x <= 1.0, x, 1.0 / x))
    return where(x <= 1.0, found, -found)


@at.fn
def exp_of(x: f64) -> f64:
    """The exponential, as the fourth power of that of a quarter: 2**k times Taylor's series of what is left, at most log(2)/2; 2**k bit by bit.

    Tests are numbers here, 0 or 1: compilers then put them in vectors."""
    y = 0.25 * minimum(maximum(x, -800.0), 800.0)
    k = round(y * 1.4426950408889634)
    r = fma(k, -1.9082149292705877e-10, fma(k, -0.6931471803691238, y))
    p = fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(1 / 6227020800, r, 1 / 479001600), r, 1 / 39916800), r, 1 / 3628800), r, 1 / 362880), r, 1 / 40320), r, 1 / 5040), r, 1 / 720), r, 1 / 120), r, 1 / 24), r, 1 / 6), r, 1 / 2), r, 1.0), r, 1.0)
    q = k + 300.0
    c0 = f64(q >= 512.0)
    s0 = 4.909093465297727e-91 * fma(c0, 1.3407807929942597e+154, 1.0)
    q0 = fma(c0, -512.0, q)
    c1 = f64(q0 >= 256.0)
    s1 = s0 * fma(c1, 1.157920892373162e+77, 1.0)
    q1 = fma(c1, -256.0, q0)
    c2 = f64(q1 >= 128.0)
    s2 = s1 * fma(c2, 3.402823669209385e+38, 1.0)
    q2 = fma(c2, -128.0, q1)
    c3 = f64(q2 >= 64.0)
    s3 = s2 * fma(c3, 1.8446744073709552e+19, 1.0)
    q3 = fma(c3, -64.0, q2)
    c4 = f64(q3 >= 32.0)
    s4 = s3 * fma(c4, 4294967295.0, 1.0)
    q4 = fma(c4, -32.0, q3)
    c5 = f64(q4 >= 16.0)
    s5 = s4 * fma(c5, 65535.0, 1.0)
    q5 = fma(c5, -16.0, q4)
    c6 = f64(q5 >= 8.0)
    s6 = s5 * fma(c6, 255.0, 1.0)
    q6 = fma(c6, -8.0, q5)
    c7 = f64(q6 >= 4.0)
    s7 = s6 * fma(c7, 15.0, 1.0)
    q7 = fma(c7, -4.0, q6)
    c8 = f64(q7 >= 2.0)
    s8 = s7 * fma(c8, 3.0, 1.0)
    q8 = fma(c8, -2.0, q7)
    c9 = f64(q8 >= 1.0)
    s9 = s8 * fma(c9, 1.0, 1.0)
    e = p * s9
    return (e * e) * (e * e)


# -- distributions: one number for element i


@at.fn
def uniform(key: u64, i: i64, low: f64, high: f64) -> f64:
    return low + (high - low) * unit(key, i, u32(0))


@at.fn
def uniform_single(key: u64, i: i64) -> f32:
    """A multiple of 2**-24."""
    x, _ = bits(key, i, u32(0))
    return f32(i32(x >> 8)) * f32(5.960464477539063e-08)


@at.fn
def middle(q: f64) -> (f64, f64):
    """The quantile of q + 1/2 over q, where q is at most 0.425 away from 0, as a quotient."""
    r = 0.180625 - q * q
    above = fma(fma(fma(fma(fma(fma(fma(2509.0809287301226727, r, 33430.575583588128105), r, 67265.770927008700853), r, 45921.953931549871457), r, 13731.693765509461125), r, 1971.5909503065514427), r, 133.14166789178437745), r, 3.387132872796366608)
    below = fma(fma(fma(fma(fma(fma(fma(5226.495278852545925, r, 28729.085735721942674), r, 39307.89580009271061), r, 21213.794301586595867), r, 5394.1960214247511077), r, 687.1870074920579083), r, 42.313330701600911252), r, 1.0)
    return above, below


@at.fn
def quantile(x: u32, y: u32) -> f64:
    """The number below which a normal number lies with probability inside(x, y): algorithm AS 241, PPND16 (Wichura 1988)."""
    q = inside(x, y) - 0.5
    upper = u32(0) - (x >> 31)
    s = sqrt(-log_inside(x ^ upper, y ^ upper))
    t = s - 1.6
    near_above = fma(fma(fma(fma(fma(fma(fma(7.7454501427834140764e-4, t, 0.0227238449892691845833), t, 0.24178072517745061177), t, 1.27045825245236838258), t, 3.64784832476320460504), t, 5.7694972214606914055), t, 4.6303378461565452959), t, 1.42343711074968357734)
    near_below = fma(fma(fma(fma(fma(fma(fma(1.05075007164441684324e-9, t, 5.475938084995344946e-4), t, 0.0151986665636164571966), t, 0.14810397642748007459), t, 0.68976733498510000455), t, 1.6763848301838038494), t, 2.05319162663775882187), t, 1.0)
    v = s - 5.0
    far_above = fma(fma(fma(fma(fma(fma(fma(2.01033439929228813265e-7, v, 2.71155556874348757815e-5), v, 0.0012426609473880784386), v, 0.026532189526576123093), v, 0.29656057182850489123), v, 1.7848265399172913358), v, 5.4637849111641143699), v, 6.6579046435011037772)
    far_below = fma(fma(fma(fma(fma(fma(fma(2.04426310338993978564e-15, v, 1.4215117583164458887e-7), v, 1.8463183175100546818e-5), v, 7.868691311456132591e-4), v, 0.0148753612908506148525), v, 0.13692988092273580531), v, 0.59983220655588793769), v, 1.0)
    above, below = middle(q)
    inner = abs(q) <= 0.425
    y = where(inner, above, where(s <= 5.0, near_above, far_above)) / where(inner, below, where(s <= 5.0, near_below, far_below))
    return where(inner, q, copysign(1.0, q)) * y


@at.fn
def normal_unit(key: u64, i: i64, draw: u32) -> f64:
    x, y = bits(key, i, draw)
    return quantile(x, y)


@at.fn
def log_unit(key: u64, i: i64, draw: u32) -> f64:
    """The logarithm of an inner number."""
    x, y = bits(key, i, draw)
    return log_inside(x, y)


@at.fn
def normal(key: u64, i: i64, loc: f64, scale: f64) -> f64:
    return loc + scale * normal_unit(key, i, u32(0))


@at.fn
def lognormal(key: u64, i: i64, loc: f64, scale: f64) -> f64:
    return exp_of(loc + scale * normal_unit(key, i, u32(0)))


@at.fn
def exponential(key: u64, i: i64, scale: f64) -> f64:
    return -scale * log_unit(key, i, u32(0))


@at.fn
def laplace(key: u64, i: i64, loc: f64, scale: f64) -> f64:
    u = inner(key, i, u32(0)) - 0.5
    away = log_below(1.0 - 2.0 * abs(u))
    return loc + scale * where(u < 0.0, away, -away)


@at.fn
def logistic(key: u64, i: i64, loc: f64, scale: f64) -> f64:
    x, y = bits(key, i, u32(0))
    return loc + scale * (log_inside(x, y) - log_inside(~x, ~y))


@at.fn
def gumbel(key: u64, i: i64, loc: f64, scale: f64) -> f64:
    return loc - scale * log_of(-log_unit(key, i, u32(0)))


@at.fn
def cauchy(key: u64, i: i64, loc: f64, scale: f64) -> f64:
    """The quotient of two normal numbers."""
    return loc + scale * (normal_unit(key, i, u32(0)) / normal_unit(key, i, u32(1)))


@at.fn
def rayleigh(key: u64, i: i64, scale: f64) -> f64:
    return scale * sqrt(-2.0 * log_unit(key, i, u32(0)))


@at.fn
def weibull(key: u64, i: i64, a: f64) -> f64:
    return exp_of(log_of(-log_unit(key, i, u32(0))) / a)


@at.fn
def bernoulli(key: u64, i: i64, p: f64) -> bool_:
    return unit(key, i, u32(0)) < p


@at.fn
def geometric(key: u64, i: i64, p: f64) -> f64:
    """How many trials until the first success, at most 9e18."""
    assert p > 0.0 and p <= 1.0, f"geometric: p is {p}, not a probability above 0"
    least = where(p < 0.25, log_near(-p / (2.0 - p), 0.0), log_below(1.0 - p))
    return where(p == 1.0, 1.0, minimum(1.0 + floor(log_unit(key, i, u32(0)) / least), 9e18))


@at.fn
def high_product(a: u64, b: u64) -> u64:
    """The upper 64 bits of a product."""
    low = u64(0xFFFFFFFF)
    p0 = (a & low) * (b & low)
    p1 = (a & low) * (b >> 32)
    p2 = (a >> 32) * (b & low)
    middle = (p0 >> 32) + (p1 & low) + (p2 & low)
    return (a >> 32) * (b >> 32) + (p1 >> 32) + (p2 >> 32) + (middle >> 32)


@at.fn
def below(key: u64, i: i64, count: u64) -> u64:
    """0..count-1 for a count up to 2**32: the upper half of the product of 64 bits with the count, so that no number is likelier by 2**-32 of its chance."""
    x, y = bits(key, i, u32(0))
    return (u64(x) * count + ((u64(y) * count) >> 32)) >> 32


@at.fn
def below_any(key: u64, i: i64, count: u64) -> u64:
    """The same for any count (0 stands for 2**64): above 2**32 with 64 bits more, whose product is carried."""
    first = word(key, i, u32(0))
    least = first * count
    carry = u64(1) if least + high_product(word(key, i, u32(1)), count) < least else u64(0)
    found = high_product(first, count) + (carry if count > u64(4294967296) else u64(0))
    return first if count == u64(0) else found


@at.fn
def integer(key: u64, i: i64, low: i64, high: i64) -> i64:
    """low..high-1 where they are at most 2**32 apart."""
    return low + i64(below(key, i, u64(high) - u64(low)))


@at.fn
def integer_any(key: u64, i: i64, low: i64, high: i64) -> i64:
    return i64(u64(low) + below_any(key, i, u64(high) - u64(low)))


@at.fn
def other_place(key: u64, j: i64, n: i64) -> i64:
    """With which place, from j on, place j changes in step j of a shuffle."""
    return j + i64(below(key, j, u64(n) - u64(j)))


@at.fn
def shuffled(key: u64, n: i64) -> i64[n]:
    """0..n-1 in a random order (Fisher and Yates, from the first place on)."""
    return shuffled_until(key, n, n)


@at.fn
def shuffled_until(key: u64, n: i64, k: i64) -> i64[n]:
    """Of which the first k are those of the whole shuffle."""
    assert n <= 4294967296, f"permutation: {n} are more than 2**32"
    places = [other_place(key, j, n) for j in range(k)]
    out = [i64(j) for j in range(n)]
    for j in range(k):
        other = places[j]
        out[j], out[other] = out[other], out[j]
    return out


@at.fn
def few(key: u64, n: i64, k: i64) -> i64[k]:
    """The same first k, without the other n: what stands at a place is what the last step that changed with it has put there."""
    assert n <= 4294967296, f"permutation: {n} are more than 2**32"
    places = [other_place(key, j, n) for j in range(k)]
    left = [i64(j) for j in range(k)]
    out = [i64(0) for _ in range(k)]
    for j in range(k):
        there = max(i64(-1), max([i if places[i] == places[j] else -1 for i in range(j)], default=-1))
        here = max(i64(-1), max([i if places[i] == j else -1 for i in range(j)], default=-1))
        mine = left[here] if here >= 0 else j
        out[j] = left[there] if there >= 0 else places[j]
        left[j] = mine
    return out


@at.fn
def found_at(sums: f64[m], u: f64) -> i64:
    """The first place whose sum is above u; the last one where rounding left none."""
    low = 0
    high = m - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low
