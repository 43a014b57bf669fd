"""Functions of another module, with globals and sizes of the same names as those of test_scopes.py and other values."""

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")
a, b = at.types("a b")
SCALE = 100.0
K = 7


@at.fn
def ap(f: at.Fn[[f64], f64], x: f64) -> f64:
    return f(x)


@at.fn
def apv(f: at.Fn[[f64], f64], x: f64[n]) -> f64[n]:
    return [f(v) + 0.0 * n for v in x]


@at.fn
def twice(f: at.Fn[[f64], f64], x: f64) -> f64:
    return f(f(x))


@at.fn
def comp(f: at.Fn[[f64], f64], g: at.Fn[[f64], f64]) -> at.Fn[[f64], f64]:
    return lambda v: f(g(v))


@at.fn
def gap(f: at.Fn[[a], b], x: a) -> b:
    return f(x)


@at.fn
def rec(f: at.Fn[[f64], f64], x: f64, k: i64) -> f64:
    if k <= 0:
        return x
    return rec(f, f(x), k - 1)


@at.fn
def dflt(x: f64, k: f64 = SCALE) -> f64:
    return x + k


@at.fn
def mk(k: f64) -> at.Fn[[f64], f64]:
    q = k * SCALE

    def h(v: f64) -> f64:
        return v + q

    return h


@at.fn
def mkv(x: f64[n]) -> at.Fn[[f64], f64]:
    return lambda v: v * n + sum(x)


@at.fn
def pair(k: f64) -> (at.Fn[[f64], f64], at.Fn[[f64], f64]):
    return (lambda v: v + k, lambda v: v * SCALE)
