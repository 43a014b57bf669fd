"""Spellings over element types and sizes 5, 1 and 0: what is not refused gives NumPy's shape, type and values, and statements give Python's."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import atoll as at

HEAD = "import numpy as np\nimport math\nimport atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n@at.fn\n"
DTYPES = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "u8": np.uint8, "bool_": np.bool_}

EXPRESSIONS = """a.sum(axis=())|a.mean(axis=(), keepdims=True)|np.max(a, axis=())|np.einsum("ij,kj->ik", a, a)|np.einsum("i->", x)|np.inner(a, a)|np.tensordot(a, a, axes=2)|np.vecdot(a, a)|np.vdot(x, y)|np.gcd(x, 6)|np.lcm(x, 4)
    |np.vander(x, 3)|np.diag(x, 1)|np.diagflat(x, -1)|np.add.reduce(x, initial=3)|np.add.reduce(a, dtype=np.float64)|np.multiply.reduce(x, where=x > 0)|np.maximum.reduce(x, initial=0)|np.logical_or.reduce(a, where=a > 1)|np.fix(x)
    |np.fmod(x, 3)|np.round(x, -1)|np.correlate(x, [1, 2], "full")|np.bincount(x)|np.choose(x > 1, (x, y))|np.bitwise_xor.reduce(x)|np.bitwise_or.reduce(a, axis=1)|np.max(x, initial=3, where=x > 1)|np.max(x, initial=0)
    |np.add(x, y, dtype=np.float64)|np.multiply(x, 2, dtype=float)|np.divide(x, 2, dtype=np.float32)|np.add(x, y, dtype=np.int64)|np.subtract(x, 1, dtype="i4")|np.maximum(x, 2, dtype=np.float64)|np.linalg.matrix_power(q, 2)|np.trapezoid(a, axis=-1)
    |2 in x|2 not in a|x[0] in (x[1], 2.0)|n in [n - 1, 5]
    |np.convolve(x, x, "same")|np.convolve(a=x, v=[1, 2])|np.correlate(x, y, mode="same")|np.cross(a, np.array([1, 0, 0]))|np.matvec(a, a[0])|np.vecmat(x, a)|np.polymul([1, 2], [3, 4])|np.dot(a=x, b=y)|math.prod(a.shape), max(a.shape), sum((1, 2))"""

STATEMENTS = [
    "if (s := x.sum()) > 3:\n    return s\nreturn -s",
    "i, t = 0, 0\nwhile (k := i * i) < 50:\n    i += 1\n    if k % 2 == 0:\n        continue\n    t += k\nreturn t, k, i",
    "z, t = 0, 0\nwhile (z := z + 1) < 4:\n    t = 10 * t + z\nreturn t, z",
    "t = 0\nfor q in range(3):\n    while (t := t + 1) < 4 * q + 3:\n        t += q\nreturn t",
    "w = (u := 3) + u\nreturn w, u",
    "c = np.where(x > 1, 200, 100)\nreturn c + np.uint8(100), np.select([x > 1], [200], 3) + np.uint8(100), np.where(x > 1, 0.1, 0.2) * np.float32(3)",
    "return np.tile(200, 3) + np.uint8(100), np.repeat(200, 3) + np.uint8(100), np.atleast_1d(200) + np.uint8(100), np.broadcast_to(200, (3,)) + np.uint8(100)",
    "return np.sort([200, 1]) + np.uint8(100), np.flip([200, 1]) + np.uint8(100), np.roll([200, 1], 1) + np.uint8(100), np.append([200], 3) + np.uint8(100), np.divmod(200, 7)[0] + np.uint8(100)",
    "if n > 100:\n    return 0\nelif (k := n * 2) > 5:\n    return k\nelse:\n    return -k",
    "first, *rest = [1, 2, 3]\nreturn first, rest",
    "*init, last = (1, 2, 3, 4)\nreturn last, init",
    "p, *q, r = x\nreturn p, r",
    "return (17).bit_length(), (0).bit_length(), (-8).bit_length(), (255).bit_count()",
    "c = 0\nfor i in range(n):\n    if i not in [1, 3]:\n        c += 1\nreturn c",
    "out = np.zeros((3, 4))\nnp.add.at(out, ([0, 1, 0], [1, 2, 1]), 2.0)\nreturn out",
    "out = np.zeros((n, 4))\nnp.add.at(out, (np.arange(n), np.arange(n) % 4), x)\nreturn out",
    "out = np.zeros((3, 4))\nnp.add.at(out, [0, 1, 0], np.ones((3, 4)))\nreturn out",
    "out = np.zeros(4)\nnp.add.at(out, np.array([[0, 1], [1, 1]]), np.array([[0.0, 1.0], [1.0, 1.5]]))\nreturn out",
    "out = np.zeros(4)\nnp.subtract.at(out, [0, 1, 0], 2.0)\nreturn out",
    "out = np.zeros(4)\nnp.maximum.at(out, 1, 2.0)\nreturn out",
]


def test_leading_zeros_of_polynomials() -> None:
    """NumPy drops them when it runs, so the size of the product would be known only then."""
    f = at.fn(source=f"{HEAD}def f(x: f64[n], y: f64[m]):\n    return np.polymul(x, y)\n")
    np.testing.assert_allclose(f(np.array([1.0, 0.0, 2.0]), np.array([3.0])), [3.0, 0.0, 6.0])
    with pytest.raises(at.RunError, match="np.convolve"):
        f(np.array([0.0, 1.0, 2.0]), np.array([3.0]))


def _scene(dtype: str, size: int) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    made = {name: rng.integers(0, 5, shape) if dtype != "bool_" else rng.random(shape) > 0.5 for name, shape in (("x", size), ("y", size), ("a", (size, 3)), ("q", (3, 3)))}
    return {name: value.astype(DTYPES[dtype]) for name, value in made.items()}


def _leaves(value: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    return [np.asarray(value)]


def _outcome(body: str, dtype: str, size: int) -> str | None:
    """What is wrong, or None; an error of both is right, and so is one of ours that has a help."""
    names, scene = ("x", "y", "a", "q"), _scene(dtype, size)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    env: dict[str, Any] = {"np": np, "math": math, "n": size}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(f"def f(x, y, a, q):\n{lines}", env)  # noqa: S102  our own list
        wanted: Any
        try:
            wanted = env["f"](*(scene[name].copy() for name in names))
        except Exception as error:  # noqa: BLE001  whatever NumPy raises
            wanted = error
        try:
            f = at.fn(source=f"{HEAD}def f(x: {dtype}[n], y: {dtype}[n], a: {dtype}[n, m], q: {dtype}[3, 3]):\n{lines}")
            found = f.interpret(*(scene[name] for name in names))
        except at.Error as error:
            return None if error.help and (isinstance(wanted, Exception) or dtype == "bool_" or size == 0) else str(error)
    if isinstance(wanted, Exception):
        return f"accepted, where NumPy raises {wanted!r}"
    for g, w in zip(_leaves(found), _leaves(wanted), strict=True):
        nothing = isinstance(wanted, (tuple, list)) and not w.size  # Python's list of nothing has no type
        if g.shape != w.shape or (g.dtype != w.dtype and not nothing) or not np.allclose(g, w, 1e-6):
            return f"{g.dtype} {g} for {w.dtype} {w}"
    return None


@pytest.mark.parametrize("dtype", DTYPES)
def test_expressions(dtype: str) -> None:
    texts = [" ".join(part.split()) for part in EXPRESSIONS.replace("\n    |", "|").split("|")]
    wrong = [f"{text} of {size}: {why}" for text in texts for size in (5, 1, 0) if (why := _outcome(f"return {text}", dtype, size))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("body", STATEMENTS)
def test_statements(body: str) -> None:
    wrong = [f"{size}: {why}" for size in (5, 1, 0) if (why := _outcome(body, "i64", size))]
    assert not wrong, "\n".join(wrong)


PAIRS = """np.hypot(x, y)|np.copysign(x, y)|np.logaddexp(x, y)|np.logaddexp2(x, y)|np.heaviside(x, y)|np.fmax(x, y)|np.fmin(x, y)|np.arctan2(x, y)|np.select([x > 1], [x], y)|np.where(x > 1, x, y)|np.float_power(x, y)|np.power(x, y)
    |np.maximum(x, y)|np.add(x, y)|np.divide(x, y)|np.concatenate((x, y))|np.fmax(x, 2)|np.fmin(y, 1)|np.fmax(x, 0.5)|np.logaddexp(x, 1)|np.heaviside(y, 0.5)|np.hypot(x, 1)|np.copysign(y, -1)|np.reciprocal(x)|np.select([x > 1], [x], 0)"""


@pytest.mark.parametrize("second", ["f64", "f32", "i64", "i32", "i8", "u8"])
@pytest.mark.parametrize("first", ["f64", "f32", "i32", "u8"])
def test_two_types_that_meet(first: str, second: str) -> None:
    """Of arrays of two types, and of an array and a number, the result has NumPy's type (f64 where that is float16, which has no arithmetic here)."""
    kinds = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "i8": np.int8, "u8": np.uint8}
    x, y = np.array([1, 2, 3], kinds[first]), np.array([2, 1, 4], kinds[second])
    for text in "".join(PAIRS.split("\n    ")).split("|"):
        wanted = np.asarray(eval(text, {"np": np, "x": x, "y": y}))  # noqa: S307  our own list
        found = np.asarray(at.fn(source=f"{HEAD}def f(x: {first}[n], y: {second}[n]):\n    return {text}\n").interpret(x, y))
        assert found.dtype == (np.float64 if wanted.dtype == np.float16 else wanted.dtype), f"{text} of {first} and {second}: {found.dtype} for {wanted.dtype}"
        np.testing.assert_allclose(found, wanted, 1e-2 if wanted.dtype == np.float16 else 1e-6)
