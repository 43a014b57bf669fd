"""The discrete Fourier transform of one axis, of any length in n log n.

Lengths that are powers of two go by Stockham's sorted radix-2 steps; others by Bluestein's: a convolution with a chirp, whose length is the next
power of two that is long enough.
"""

from __future__ import annotations

import atoll as at
from atoll import c128, f64, i64

n, m = at.sizes("n m")


@at.fn
def bits(count: i64) -> i64:
    """How often 2 has to be doubled to reach count."""
    result = 0
    reach = 1
    while reach < count:
        reach = reach * 2
        result = result + 1
    return result


@at.fn
def unit(turns: i64, whole: i64) -> c128:
    """exp(-2πi turns / whole)"""
    angle = -2 * pi * turns / whole
    return c128(cos(angle), sin(angle))


@at.fn
def steps(x: c128[n]) -> c128[n]:
    """Of a length that is a power of two."""
    roots = [unit(k, n) for k in range(n)]
    y = x
    for r in range(bits(n)):
        stride = 1 << r
        half = (n >> r) // 2
        y = [butterfly(y, roots, i, stride, half) for i in range(n)]
    return y


@at.fn
def butterfly(y: c128[n], roots: c128[n], i: i64, stride: i64, half: i64) -> c128:
    q = i % stride
    t = i // stride
    p = t // 2
    u = y[q + stride * p]
    v = y[q + stride * (p + half)]
    return u + v if t % 2 == 0 else (u - v) * roots[p * stride]


@at.fn
def chirped(x: c128[n]) -> c128[n]:
    """Of any length (Bluestein)."""
    size = at.size(1 << bits(2 * n))  # a power of two, 2 n at least
    chirp = [unit(k * k % (2 * n), 2 * n) for k in range(n)]
    left = [x[k] * chirp[k] if k < n else 0 for k in range(size)]
    right = [conj(chirp[k]) if k < n else (conj(chirp[size - k]) if size - k < n else 0) for k in range(size)]
    product = steps(left) * steps(right)
    back = conj(steps(conj(product))) / size
    return [chirp[k] * back[k] for k in range(n)]


@at.fn
def forward(x: c128[n]) -> c128[n]:
    return steps(x) if n & (n - 1) == 0 else chirped(x)


@at.fn
def forward_rows(x: c128[m, n]) -> c128[m, n]:
    """Of every row: what the length decides is decided once."""
    if n & (n - 1) == 0:
        return [steps(row) for row in x]
    return [chirped(row) for row in x]


@at.fn
def backward(x: c128[n]) -> c128[n]:
    """Without a factor: the words say which."""
    return conj(forward(conj(x)))


@at.fn
def backward_rows(x: c128[m, n]) -> c128[m, n]:
    return conj(forward_rows(conj(x)))


# A transform is linear and its matrix symmetric: its derivative, ahead and back, is the transform itself. (An adjoint w of z stands for Re(w dz).)


@at.fn
def forward_of_change(x: c128[n], dx: c128[n]) -> c128[n]:
    return forward(dx)


@at.fn
def forward_rows_of_change(x: c128[m, n], dx: c128[m, n]) -> c128[m, n]:
    return forward_rows(dx)


@at.fn
def backward_of_change(x: c128[n], dx: c128[n]) -> c128[n]:
    return backward(dx)


@at.fn
def backward_rows_of_change(x: c128[m, n], dx: c128[m, n]) -> c128[m, n]:
    return backward_rows(dx)


forward.vjp = forward.jvp = forward_of_change
forward_rows.vjp = forward_rows.jvp = forward_rows_of_change
backward.vjp = backward.jvp = backward_of_change
backward_rows.vjp = backward_rows.jvp = backward_rows_of_change


@at.fn
def fitted(x: c128[n], size: i64):
    """Cut or filled with zeros."""
    return [x[i] if i < n else 0 for i in range(size)]


@at.fn
def mirrored(x: c128[m], size: i64):
    """The whole spectrum of a real signal of `size`, from its first half; what the last place of an even length has of an imaginary part is dropped, as that of the first."""
    return [half_of(x, i, size) for i in range(size)]


@at.fn
def real_ends(x: c128[m], size: i64) -> c128[m]:
    """Half the spectrum of a real signal: its first place, and the last of an even length, are real numbers."""
    return [c128(x[k].real, 0.0) if k == 0 or 2 * k == size else x[k] for k in range(m)]


@at.fn
def half_of(x: c128[m], i: i64, size: i64) -> c128:
    k = i if i <= size // 2 else size - i
    z = x[k] if k < m else 0
    plain = k == 0 or 2 * k == size
    return c128(z.real, 0.0) if plain else (z if i <= size // 2 else conj(z))


@at.fn
def frequency(i: i64, size: i64, d: f64) -> f64:
    return (i if i < (size + 1) // 2 else i - size) / (size * d)
