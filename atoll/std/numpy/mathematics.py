"""Functions of numbers, and running functions of one axis."""

from __future__ import annotations

import atoll as at
from atoll import bool_, c128, f64, i64, u8

a, b, c = at.types("a b c")
n, m, k = at.sizes("n m k")


@at.fn
def degrees(x: a):
    return x * (180 / pi)


@at.fn
def radians(x: a):
    return x * (pi / 180)


@at.fn
def sinc(x: a):
    """sin(πx) / (πx), 1 at 0, where the derivative is 0."""
    y = pi * x
    safe = where(y == 0, 1, y)
    return where(y == 0, 1, sin(safe) / safe)


@at.fn
def reciprocal(x: a):
    return 1 / x


@at.fn
def integer_reciprocal(x: a):
    """Truncated, as C divides: 0 but for 1 and -1."""
    return x if x == 1 or x == -1 else 1 // abs(x)


@at.fn
def natural_reciprocal(x: a):
    return x if x == 1 else 1 // x


@at.fn
def fix(x: a):
    return trunc(x)


@at.fn
def isposinf(x: a):
    return isinf(x) & (x > 0)


@at.fn
def isneginf(x: a):
    return isinf(x) & (x < 0)


@at.fn
def modf(x: a):
    """The fraction and the whole part, both with the sign of x."""
    whole = trunc(x)
    return (copysign(0.0, x) if isinf(x) else copysign(x - whole, x)), whole


@at.fn
def fmax(x: a, y: b):
    """The greater; NaN only when both are."""
    return where(isnan(x), y, where(isnan(y), x, maximum(x, y)))


@at.fn
def fmin(x: a, y: b):
    return where(isnan(x), y, where(isnan(y), x, minimum(x, y)))


@at.fn
def logaddexp(x: a, y: b):
    """log(exp(x) + exp(y)) without overflow."""
    high = maximum(x, y)
    low = minimum(x, y)
    return high + log(2.0) if x == y else high + log1p(exp(low - high))


@at.fn
def logaddexp2(x: a, y: b):
    high = maximum(x, y)
    low = minimum(x, y)
    return high + 1.0 if x == y else high + log1p(exp2(low - high)) / log(2.0)


@at.fn
def heaviside(x: a, h: a) -> a:
    return x if isnan(x) else (0 if x < 0 else (h if x == 0 else 1))


@at.fn
def ldexp(x: a, e: i64):
    return x * exp2(f64(e))


@at.fn
def gcd(x: a, y: b):
    """Euclid's algorithm; of 0 and y the size of y."""
    u, v = abs(x + 0 * y), abs(y + 0 * x)
    while v != 0:
        u, v = v, u % v
    return u


@at.fn
def lcm(x: a, y: b):
    g = gcd(x, y)
    return abs(x // g * y) if g != 0 else g


@at.fn
def comb(total: i64, chosen: i64) -> i64:
    """How many ways to choose, exact while it fits 64 bits."""
    count = min(chosen, total - chosen)
    result = 1
    for i in range(max(count, 0)):
        result = result * (total - i) // (i + 1)
    return result if 0 <= chosen and chosen <= total else 0


@at.fn
def perm(total: i64, chosen: i64) -> i64:
    result = 1
    for i in range(chosen):
        result = result * (total - i)
    return result if chosen <= total else 0


@at.fn
def factorial(x: i64) -> i64:
    assert x >= 0, "factorial of a number that is not negative"
    assert x <= 20, "factorial of more than 20 does not fit 64 bits"
    result = 1
    for i in range(x):
        result = result * (i + 1)
    return result


@at.fn
def isqrt(x: i64) -> i64:
    assert x >= 0, "isqrt of a number that is not negative"
    root = i64(sqrt(f64(x)))
    while root * root > x:
        root = root - 1
    while (root + 1) * (root + 1) <= x:
        root = root + 1
    return root


@at.fn
def distance(x: a[n], y: b[n]):
    away = x - y
    return sqrt(sum(away * away))


@at.fn
def round_integer(x: a, unit: i64):
    """To multiples of a power of ten, half to even."""
    low = x // unit
    rest = x - low * unit
    up = rest * 2 > unit or (rest * 2 == unit and low % 2 == 1)
    return (low + 1) * unit if up else low * unit


@at.fn
def nan_to_num(x: a, nothing: a, most: a, least: a) -> a:
    return nothing if isnan(x) else (most if isinf(x) and x > 0 else (least if isinf(x) else x))


@at.fn
def is_close(x: a, y: b, rtol: f64, atol: f64, equal_nan: bool_) -> bool_:
    """NumPy's: |x - y| <= atol + rtol * |y|, infinities equal themselves."""
    near = abs(x - y) <= atol + rtol * abs(y)
    both = isnan(x) & isnan(y)
    return (near & isfinite(y)) | (x == y) | (both & equal_nan)


@at.fn
def python_is_close(x: a, y: b, rel_tol: f64, abs_tol: f64) -> bool_:
    near = abs(x - y) <= max(rel_tol * max(abs(x), abs(y)), abs_tol)
    return (x == y) | (near & isfinite(x) & isfinite(y))


@at.fn
def same(x: a, y: b) -> bool_:
    return x == y


@at.fn
def same_or_nan(x: a, y: b) -> bool_:
    return (x == y) | (isnan(x) & isnan(y))


@at.fn
def same_all(shapes: bool_, x: a[n], y: b[m]) -> bool_:
    """Equal elements, where the sizes are."""
    return shapes and all(x[i] == y[i] for i in range(n if shapes else 0))


@at.fn
def same_or_nan_all(shapes: bool_, x: a[n], y: b[m]) -> bool_:
    return shapes and all(x[i] == y[i] or (isnan(x[i]) and isnan(y[i])) for i in range(n if shapes else 0))


@at.fn
def complex_angle(z: a):
    return arctan2(imag(z), real(z))


@at.fn
def real_angle(x: a):
    return arctan2(0.0, x)


@at.fn
def running_maximum(x: a[n]):
    """scan by maximum, from the first element."""
    return scan(maximum, x[0], x)


@at.fn
def running_minimum(x: a[n]):
    return scan(minimum, x[0], x)


@at.fn
def running_logical_and(x: bool_[n]):
    return scan(and_, True, x)


@at.fn
def running_logical_or(x: bool_[n]):
    return scan(or_, False, x)


@at.fn
def integer_fmod(x: a, y: a) -> a:
    """The remainder with the sign of x."""
    rest = abs(x) % abs(y)
    return -rest if x < 0 else rest


@at.fn
def complex_of(real: f64, imag: f64) -> c128:
    return c128(real, imag)


@at.fn
def bit_count(x: i64) -> u8:
    """How many bits of |x| are set, as in NumPy."""
    rest = abs(x)
    count = 0
    for j in range(64):
        count += (rest >> j) & 1
    return u8(count)


@at.fn
def bit_length(x: i64) -> i64:
    """How many bits |x| needs, as Python says."""
    rest = abs(x)
    if rest < 0:  # the least integer has no absolute value
        return 64
    count = 0
    for j in range(63):
        if rest >> j > 0:
            count = j + 1
    return count


@at.fn
def folded_and(x: a[n]) -> a:
    none: a = 0
    result = ~none
    for v in x:
        result = result & v
    return result


@at.fn
def folded_or(x: a[n]) -> a:
    result: a = 0
    for v in x:
        result = result | v
    return result


@at.fn
def folded_xor(x: a[n]) -> a:
    result: a = 0
    for v in x:
        result = result ^ v
    return result


@at.fn
def folded_gcd(x: a[n]) -> a:
    result: a = 0
    for v in x:
        result = gcd(result, v)
    return result


@at.fn
def folded_lcm(x: a[n]) -> a:
    result: a = 1
    for v in x:
        result = lcm(result, v)
    return result
