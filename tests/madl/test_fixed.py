"""Fixed-point numbers: the C against the meaning, which is computed with fractions; what is refused; how Python sees them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.errors import Error
from atoll.madl.c_file import CFile, Options
from atoll.madl.fixed import represent
from atoll.madl.represented import Fixed, fixed_type
from atoll.types.dtypes import DTYPES
from tests.madl.firmware import fixed_operations
from tests.madl.harness import STRICT, by_code, by_oracle, last, strict_compile

FORMATS = [(True, 1, 7), (False, 3, 5), (True, 8, 0), (True, 1, 15), (True, 9, 7), (False, 1, 15), (False, 16, 0), (True, 1, 31), (True, 16, 16), (False, 1, 31), (False, 20, 12), (True, 32, 0)]


def name(signed: bool, whole: int, fraction: int) -> str:
    return f"{'q' if signed else 'uq'}<<{whole},{fraction}>>"


def values(dtype: Any, rng: random.Random, count: int) -> list[Any]:
    low, high = dtype.limits()
    edges = [low, low + 1, -1, 0, 1, high - 1, high, high // 2, low // 2, high // 2 + 1]
    return [dtype.numpy.type(v) for v in [rng.choice([e for e in edges if low <= e <= high]) if rng.random() < 0.4 else rng.randint(low, high) for _ in range(count)]]


@pytest.mark.parametrize("kind", FORMATS, ids=[name(*k) for k in FORMATS])
def test_code_means_what_fractions_mean(kind: tuple[bool, int, int]) -> None:
    rng, t = random.Random(str(kind)), fixed_type(*kind)
    assert t is not None
    op = last(fixed_operations(name(*kind)))
    floats = [0.0, 0.5, -0.5, 1.5, -1.5, 1e300, -1e300, float("inf"), float("-inf"), float("nan"), 2.0**-9, -(2.0**-9), 0.49999999999999994, 127.99999]
    a, b, k = values(t.dtype, rng, 60), values(t.dtype, rng, 60), values(DTYPES["i32"], rng, 60)
    x = [np.float64(rng.choice(floats) if rng.random() < 0.5 else rng.uniform(-2, 2) * 2.0 ** rng.randint(-20, 20)) for _ in range(60)]
    inputs = list(zip(a, b, k, x, strict=True))
    native = by_code(op, {}, inputs)
    for row, other, given in zip(by_oracle(op, {}, inputs), native, inputs, strict=True):
        for number, (first, second) in enumerate(zip(row, other, strict=True)):
            assert first.dtype == second.dtype and (first == second or first != first), (number, given, first, second)


def test_rounding_is_to_the_nearest_and_saturates() -> None:
    t = Fixed(DTYPES["i16"], fraction=15)
    assert [represent(v, t) for v in (0.5, -1.0, 1.0, 7.0, -7.0, 2.0**-16, -(2.0**-16), 3 * 2.0**-17, float("nan"))] == [16384, -32768, 32767, 32767, -32768, 1, 0, 1, -32768]


def test_python_sees_numbers() -> None:
    nd = at.madl(source="""
type pair = { a of q<<1,15>>, b of q<<8,8>> }
let scale (x of [_]q<<1,15>>, k of q<<1,15>>) returns (y): forward ([a] = x) returns (y = [b]): b = a*k
let both (p of pair) returns (r of pair, s of f64): r = pair(-p.a, p.b + 1.5); s = f64(p.b)
let mean (x of q<<1,15>>) returns (m): m init 0.0 = last m + (x - last m)*0.25
""")
    for call in (nd.scale, nd.scale.interpret):
        assert call(np.array([0.5, -0.5, 0.25]), 0.5).tolist() == [0.25, -0.25, 0.125]
        with pytest.raises(Error, match="from -1.0 to 0.99996"):
            call([0.5], 1.0)
    for call in (nd.both, nd.both.interpret):
        (r, s) = call((-1.0, 127.0))
        assert (r.a, r.b, s) == (0.999969482421875, 127.99609375, 127.0)
    assert nd.scale.type == "size n. [n]q<<1,15>>, q<<1,15>> -> [n]q<<1,15>>"
    a, b = nd.mean(), nd.mean.instance({}, True)
    assert [a.step(v) for v in (0.5, 0.5, -1.0)] == [b.step(v) for v in (0.5, 0.5, -1.0)]


def test_generic_operators_take_them() -> None:
    op = last("""
let axpy (type t) (a of t, x of [_]t, y of [_]t) returns (z): forward ([u] = x) ([v] = y) returns (z = [w]): w = a*u + v
let f (x of [4]q<<1,15>>, y of [4]q<<1,15>>) returns (z): z = axpy(0.5, x, y)
""")
    inputs = [(np.array([0.25, -0.5, 0.75, 0.1]), np.array([0.9, -0.9, 0.0, 0.1]))]
    raw = [tuple(np.floor(v * 2**15 + 0.5).astype("int16") for v in row) for row in inputs]
    found, code = by_oracle(op, {}, raw), by_code(op, {}, raw)
    assert found[0][0].tolist() == code[0][0].tolist() == [32767, -32768, 12288, 4916]


def test_the_c_is_clean(tmp_path: Path) -> None:
    ops = [last(fixed_operations(name(*k))) for k in FORMATS]
    file = CFile("all", ops, Options())
    strict_compile(file.source(), file.header(), "all", tmp_path, extra=[*STRICT, "-Wconversion", "-Wsign-conversion", "-Wshadow"])


WRONG = {
    "let f (x of q<<1,14>>) returns (y): y = x": ("E0904", "8, 16 or 32 bits"),
    "let f (x of q<<0,16>>) returns (y): y = x": ("E0904", "at least one"),
    "let f <<n>> (x of q<<1,n>>) returns (y): y = x": ("E0904", "q<<1, n>>"),
    "let f (x of r<<1,15>>) returns (y): y = x": ("E0904", "idx<<n>>"),
    "let f (x of q<<1,15>>) returns (y): y = x + 1": ("E0929", "1 does not fit q<<1,15>>"),
    "let f (x of q<<1,15>>) returns (y): y = x * 1.0": ("E0929", "1.0 does not fit q<<1,15>>"),
    "let f (x of q<<1,15>>) returns (y): y = sin(x)": ("E0915", "q<<1,15>>"),
    "let f (x of q<<1,15>>) returns (y): y = x % 0.5": ("E0915", "q<<1,15>>"),
    "let f (x of q<<1,15>>) returns (y): y = sqrt(x)": ("E0915", "q<<1,15>>"),
    "let f (x of q<<1,15>>, k of q<<2,14>>) returns (y): y = x * k": ("E0910", "q<<2,14>>"),
    "let f (x of q<<1,15>>, k of f32) returns (y): y = x * k": ("E0910", "f32"),
    "let f <<n>> (x of [n]q<<1,15>>) returns (y): y = x.[0] * n": ("E0915", "a size as a number"),
    "let g (type t) (x of t) returns (y of t): y = sign(x)\nlet f (x of q<<1,15>>) returns (y): y = g(x)": ("E0915", "sign"),
}


@pytest.mark.parametrize("source", WRONG)
def test_mistakes_are_told(source: str) -> None:
    code, words = WRONG[source]
    with pytest.raises(Error) as problem:
        at.madl(source=source).f.c()
    assert problem.value.code == code and words in str(problem.value)
