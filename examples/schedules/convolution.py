"""Convolutions: a scatter as a gather, a kernel with one entry as a shift, and im2col (ATL's examples).

A scatter adds each input into every output it reaches; a gather computes each output from its inputs. The step between them exchanges the
range of a sum with a guard; where sums change places, rounding may change, and the schedule says so.
"""

from __future__ import annotations

import atoll as at
from atoll import f32, i64
from atoll.schedule import Schedule
from atoll.schedule.library import im2col

n, m, b, k, w, c, r = at.sizes("n m b k w c r")


@at.fn
def kernel_of_one(x: f32[m], like: f32[n]) -> f32[n]:
    """A convolution with a kernel that is one at 2 and zero elsewhere (conv1)."""
    one: f32[n] = [1.0 if t == 2 else 0.0 for t in range(n)]
    return [sum((one[i - j] * x[j] if i >= j else 0.0) for j in range(m)) for i in range(n)]


def shift() -> Schedule:
    """The loop over the kernel disappears: each output is one input, two further on (conv4)."""
    s = at.schedule(kernel_of_one).inline("one").rewrite("guard_mul", at="j").simplify()
    return s.rewrite("sum_bound_indic", at="i")


@at.fn
def reached(x: f32[b, c, w], f: f32[k, c, r]) -> f32[b, k, w]:
    """Each output adds up all inputs that reach it."""
    return [
        [
            [sum((x[s, e, i] * f[u, e, i - p] if 0 <= i - p < r else 0.0) for i in range(w) for e in range(c)) for p in range(w)]
            for u in range(k)
        ]
        for s in range(b)
    ]


def scatter() -> Schedule:
    """Input by input, added into the outputs."""
    return at.schedule(reached).reorder("i", "s", "u", "e", "p")


def gather() -> Schedule:
    """Output by output: from the scatter, the loops that build come out, and the sum runs over the kernel."""
    s = scatter().reorder("s", "u", "p", "e", "i")
    s = s.rewrite("exchange_range", at="i", low="p", high="p + r").rewrite("loop_shift", at="i")
    return s.simplify()


@at.fn
def reached_line(x: f32[w], f: f32[r]) -> f32[w]:
    return [sum((x[i] * f[i - p] if 0 <= i - p < r else 0.0) for i in range(w)) for p in range(w)]


def scatter_line() -> Schedule:
    return at.schedule(reached_line).interchange_sum("i", "p")


@at.fn
def conv(x: f32[b, c, w + r], f: f32[k, c, r]) -> f32[b, k, w]:
    return [[[sum(f[u, e, q] * x[s, e, p + q] for e in range(c) for q in range(r)) for p in range(w)] for u in range(k)] for s in range(b)]


def columns() -> Schedule:
    """Every element the convolution reads, written out once: the rest is a matrix product."""
    return at.schedule(conv).apply(im2col, "x")


@at.fn
def conv_mini(wide: i64, x: f32[k], f: f32[k, r]) -> f32[k, wide]:
    return [[sum((f[u, q] * x[p + q] if p + q < k else 0.0) for q in range(r)) for p in range(wide)] for u in range(k)]


def columns_mini() -> Schedule:
    return at.schedule(conv_mini).apply(im2col, "x")


if __name__ == "__main__":
    for make in (shift, scatter, gather, scatter_line, columns, columns_mini):
        s = make()
        print(f"-- {make.__name__}: {s.operators()}, {sorted(s.licences) or 'exact'}")
        print(s)
