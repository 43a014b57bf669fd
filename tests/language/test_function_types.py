"""The declared type of a function that is passed, returned or kept holds: calls through it convert, or are refused."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64

_HEAD = """import atoll as at
from atoll import c128, f32, f64, i64, u8
n, m = at.sizes("n m")
a = at.types("a")
F = at.Fn[[f64], f64]

@at.record
class Op:
    f: at.Fn[[f64], f64]

@at.fn
def whole(x: f64) -> i64:
    return i64(x)

@at.fn
def square(x: i64) -> i64:
    return x * x

@at.fn
def fifth(f: at.Fn[[f64], f64], x: f64) -> f64:
    y = f(x)
    return y * y * y * y * y

@at.fn
def give(f: at.Fn[[f64], f64], c: i64) -> f64:
    return f(c)

@at.fn
def through(f: at.Fn[[f64], f64], c: i64) -> f64:
    return give(f, c)

@at.fn
def wider(f: at.Fn[[i64], i64], c: i64) -> i64:
    return f(c)

@at.fn
def outer(h: at.Fn[[at.Fn[[f64], f64], i64], f64], c: i64) -> f64:
    return h(lambda v: v * v, c)

@at.fn
def made(c: i64) -> at.Fn[[f64], f64]:
    return lambda v: v * c

@at.fn
def rounding(c: i64) -> at.Fn[[f64], f64]:
    return lambda v: i64(v)

@at.fn
def level(c: i64) -> at.Fn[[i64], at.Fn[[f64], f64]]:
    return lambda d: lambda v: i64(v)

@at.fn
def both(c: i64) -> (at.Fn[[f64], f64], i64):
    return (lambda v: v * v), c

@at.fn
def total(f: at.Fn[[f64, f64], f64], xs: f64[n]) -> f64:
    return reduce(f, 0.0, xs)

@at.fn
def generic(f: at.Fn[[a], a], x: a) -> a:
    return f(f(x))

@at.fn
def same(f: at.Fn[[f64[n]], f64[n]], x: f64[n]) -> f64[n]:
    return f(x)

@at.fn
def every(f: at.Fn[[f64], f64], xs: i64[n]) -> f64[n]:
    return f(xs)

@at.fn
def any_of(fs: at.Fn[[f64], f64][2], c: i64) -> f64:
    return fs[c % 2](c)

@at.fn
def count(p: at.Fn[[i64], at.bool_], x: i64) -> i64:
    return sum(p(x) for i in range(3))

@at.fn
def byte(f: at.Fn[[i64], u8], x: i64) -> i64:
    return i64(f(x))

@at.fn
def single(f: at.Fn[[f32], f32], x: f64) -> f64:
    return f64(f(f32(x)))

@at.fn
def two(f: at.Fn[[f64[m]], f64], x: f64[n]) -> f64:
    return f(x) + f(x[1:])

@at.fn
def tails(f: at.Fn[[f64[m]], f64[m]], x: f64[n]) -> f64:
    s = 0.0
    for i in range(n):
        s += sum(f(x[i:]))
    return s

@at.fn
def first(f: at.Fn[[f64], f64[m]], x: f64) -> f64[m]:
    return f(x)[:1] / m

@at.fn
def deep(h: at.Fn[[i64], at.Fn[[f64], f64]]) -> f64:
    return h(1)(2.0)

@at.fn
def apply_first(p: (at.Fn[[f64], f64], i64), x: f64) -> f64:
    return p[0](x)

@at.fn
def slope(f: at.Fn[[f64], f64], c: i64) -> f64:
    return grad(f)(f64(c))

"""

K = 10**10

# name: (body of f(c: i64) -> f64, what f(K) is); in i64 every product of two Ks wraps around
HELD = {
    "parameter, argument": ("return give(lambda v: v * v, c)", 1e20),
    "parameter, result": ("return fifth(lambda v: i64(v), 1e4)", 1e20),
    "parameter, a function of its own": ("return fifth(whole, 1e4)", 1e20),
    "parameter, a name": ("g = lambda v: v * v\n    return give(g, c)", 1e20),
    "parameter, a local function": ("def g(v):\n        return v * v\n    return give(g, c)", 1e20),
    "parameter, a result without a type": ("return fifth(lambda v: 10000, 0.0)", 1e20),
    "parameter, a built-in": ("return fifth(floor, 1e4)", 1e20),
    "parameter, a conversion": ("return fifth(i64, 1e4)", 1e20),
    "parameter, an operator": ("return total(max, [f64(c), 1.0])", 1e10),
    "parameter by keyword": ("return give(c=c, f=lambda v: v * v)", 1e20),
    "two levels": ("return through(lambda v: v * v, c)", 1e20),
    "a parameter of a parameter": ("return outer(lambda g, d: g(d), c)", 1e20),
    "a parameter of a parameter, declared": ("return outer(give, c)", 1e20),
    "a local function's parameter": ("def h(g: F, d: i64) -> f64:\n        return g(d)\n    return h(lambda v: v * v, c)", 1e20),
    "a local function's parameter, result": ("def h(g: F) -> f64:\n        y = g(1e10)\n        return y * y\n    return h(lambda v: i64(v))", 1e20),
    "a local function's result": ("def h() -> F:\n        return lambda v: v * v\n    return h()(c)", 1e20),
    "returned, argument": ("return made(c)(c)", 1e20),
    "returned, result": ("y = rounding(1)(1e10)\n    return y * y", 1e20),
    "returned, two levels": ("y = level(1)(2)(1e10)\n    return y * y", 1e20),
    "returned in a tuple": ("g, d = both(c)\n    return g(d)", 1e20),
    "returned and passed": ("return give(made(c), c)", 1e20),
    "a choice": ("g = made(c) if c > 0 else rounding(c)\n    return g(c)", 1e20),
    "a choice, passed": ("return give((lambda v: v * v) if c > 0 else (lambda v: v), c)", 1e20),
    "a choice, other types": ("y = fifth((lambda v: i64(v)) if c > 0 else (lambda v: v), 1e4)\n    return y", 1e20),
    "after an if": ("if c > 0:\n        g = made(c)\n    else:\n        g = rounding(c)\n    return g(c)", 1e20),
    "a display": ("return any_of([lambda v: v * v, lambda v: v], c)", 1e20),
    "a record": ("return Op(lambda v: v * v).f(c)", 1e20),
    "a record, result": ("y = Op(lambda v: i64(v)).f(1e10)\n    return y * y", 1e20),
    "a record, passed on": ("return give(Op(lambda v: v * v).f, c)", 1e20),
    "an annotated name": ("g: F = lambda v: v * v\n    return give(g, c)", 1e20),
    "lifted": ("return every(lambda v: v * v, [c, c])[1]", 1e20),
    "mapped": ("return sum(map(made(c), [1.0 * c, 0.0]))", 1e20),
    "arrays": ("return sum(same(lambda v: [i64(e) for e in v], [1e10, 1e10]) * 1e10)", 2e20),
    "a default": ("def h(d: i64, g: F = lambda v: v * v) -> f64:\n        return g(d)\n    return h(c)", 1e20),
    "sizes of functions only": ("return two(sum, [1e20, 1.0]) + two(lambda v: v[0], [1.0, 1.0])", 1e20),
    "sizes of functions only, in a loop": ("return tails(lambda v: v, [1.0, 2.0, 3.0])", 14.0),
    "a derivative": ("return slope(lambda v: v * v * v, c)", 3e20),
    "a type variable": ("return f64(generic(lambda v: v // 10, c))", 1e8),
    "integers stay": ("return f64(wider(lambda v: v * v, c) == c * c)", 1.0),
}


def _f(body: str) -> at.Function:
    return at.fn(source=f"{_HEAD}@at.fn\ndef f(c: i64) -> f64:\n    {body}\n")


@pytest.mark.parametrize("name", HELD)
def test_held(name: str) -> None:
    body, expected = HELD[name]
    assert _f(body).interpret(K) == expected


def test_held_in_compiled_code() -> None:
    """All of them in one function, since compiling takes its time."""
    parts = []
    for k, (body, _) in enumerate(HELD.values()):
        parts.append(f"@at.fn\ndef f{k}(c: i64) -> f64:\n    {body}\n")
    rows = ", ".join(f"f{k}(c)" for k in range(len(parts)))
    f = at.fn(source=_HEAD + "\n".join(parts) + f"\n@at.fn\ndef f(c: i64) -> f64[{len(parts)}]:\n    return [{rows}]\n")
    assert f(K).tolist() == [expected for _, expected in HELD.values()]


REFUSED = {
    "narrower": ("return f64(byte(square, c))", "E0201", "the result of the function square (argument f of byte)"),
    "a number for a truth value": ("return f64(count(square, c))", "E0201", "argument p of count"),
    "less exact": ("return single(lambda v: f64(v) / 3.0, 1.0)", "E0201", "argument f of single"),
    "fewer elements": ("return sum(same(lambda v: v[1:], [1.0, 2.0]))", "E0301", "argument f of same"),
    "more elements": ("return sum(same(lambda v: concat(v, v), [1.0, 2.0]))", "E0301", "argument f of same"),
    "a size the result has": ("return sum(first(lambda v: [v, v], 1.0))", "E0301", "the result of first"),
    "fewer axes": ("return sum(same(lambda v: sum(v), [1.0, 2.0]))", "E0201", "argument f of same"),
    "what it takes": ("return f64(give(square, c))", "E0201", "argument x of square"),
    "a local function's parameter": ("def h(g: at.Fn[[i64], u8]) -> i64:\n        return i64(g(c))\n    return f64(h(square))", "E0201", "argument g of h"),
    "a function for a number": ("return give(lambda v: lambda w: v, c)", "E0201", "argument f of give"),
    "a number for a function": ("return deep(lambda d: 1.0)", "E0201", "argument h of deep"),
    "deeper": ("return deep(lambda d: lambda v: c128(v))", "E0201", "argument h of deep"),
    "in a tuple": ("return apply_first((square, c), 1.0)", "E0201", "argument p of apply_first"),
    "in a record": ("return Op(square).f(1.0)", "E0201", ""),
    "too many arguments": ("def h(g: F) -> f64:\n        return g(1.0, 2.0)\n    return h(lambda v, w=0.0: v + w)", "E0235", ""),
    "by a name the type does not have": ("def h(g: F) -> f64:\n        return g(v=1.0)\n    return h(lambda v: v)", "E0236", ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    body, code, text = REFUSED[name]
    with pytest.raises(at.Error) as caught:
        _f(body).interpret(K)
    assert caught.value.code == code, str(caught.value)
    assert text in str(caught.value)


# -- from Python

n = at.sizes("n")


@at.fn
def fifth(f: at.Fn[[f64], f64], x: f64) -> f64:
    y = f(x)
    return y * y * y * y * y


@at.fn
def mean(f: at.Fn[[f64[n]], f64[n]], x: f64[n]) -> f64:
    return sum(f(x)) / n


@at.fn
def whole(x: f64) -> i64:
    return i64(x)


@at.fn
def tail(x: f64[n + 1]) -> f64[n]:
    return x[1:]


@at.fn
def doubled(x: f64[n]) -> f64[n]:
    return 2.0 * x


def test_from_python() -> None:
    assert fifth(whole, 1e4) == fifth.interpret(whole, 1e4) == 1e20
    assert mean(doubled, np.ones(4)) == mean.interpret(doubled, np.ones(4)) == 2.0
    for run in (mean, mean.interpret):
        with pytest.raises(at.Error) as caught:
            run(tail, np.ones(4))
        assert caught.value.code == "E0301"
