"""Words swept over element types and parameters: every product of a word, a type and a parameter is what NumPy gives, in its type and shape, or is refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import atoll as at

HEAD = "import cmath\nimport functools\nimport math\nimport numpy as np\nimport atoll as at\nfrom atoll import f64, f32, i64\nn, p = at.sizes('n p')\n"
TYPES = {
    "x": "f64[p]", "y": "f64[p]", "g": "f32[p]", "c": "at.c128[p]", "i": "i64[p]", "w": "at.i32[p]", "u": "at.u8[p]", "b": "at.bool_[p]", "z": "f64[p]",
    "a": "f64[n, 3]", "ba": "at.bool_[n, 3]", "s": "f64[3, 3]", "v": "f64[3]", "s0": "f64", "g0": "f32", "c0": "at.c128", "i0": "i64",
}  # fmt: skip


def scene() -> dict[str, Any]:
    rng = np.random.default_rng(11)
    x = rng.random(6) * 2 - 0.5
    return {
        "x": x, "y": rng.random(6), "g": x.astype(np.float32), "c": x + 1j * rng.random(6), "i": rng.integers(0, 5, 6), "w": rng.integers(-9, 9, 6).astype(np.int32),
        "u": rng.integers(0, 200, 6).astype(np.uint8), "b": rng.random(6) > 0.4, "z": np.array([1.0, np.nan, -2.0, 3.0, np.nan, 0.5]), "a": rng.random((4, 3)),
        "ba": rng.random((4, 3)) > 0.3, "s": rng.random((3, 3)), "v": rng.random(3), "s0": np.float64(0.7), "g0": np.float32(0.3), "c0": np.complex128(1 + 2j), "i0": np.int64(3),
    }  # fmt: skip


def _leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple) else [np.asarray(value)]


def difference(text: str, compiled: bool = False) -> str:
    """What is not as in plain Python; empty where it is, "refused" where it is refused. Statements come before the value, each ending with ` ;`."""
    import cmath
    import functools
    import math

    env = {**scene(), "np": np, "math": math, "cmath": cmath, "functools": functools, "n": 4, "p": 6}
    *before, last = text.split(" ; ")
    body = "".join(f"    {line}\n" for line in before) + f"    return {last}\n"
    used = [name for name in TYPES if name in {word for word in "".join(ch if ch.isalnum() or ch == "_" else " " for ch in text).split()}] or ["x"]
    try:
        exec(f"def f():\n{body}", env)  # noqa: S102  our own table
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            wanted = _leaves(env["f"]())
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        wanted = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f = at.fn(source=f"{HEAD}\ndef f({', '.join(f'{k}: {TYPES[k]}' for k in used)}):\n{body}")
            found = _leaves((f if compiled else f.interpret)(*(scene()[k] for k in used)))
        except at.Error:
            return "refused"
    if wanted is None:
        return "a value, where NumPy refuses"
    for mine, its in zip(found, wanted, strict=True):
        close = 1e-5 if its.dtype.itemsize <= 4 or "g" in used else 1e-10
        if mine.shape != its.shape or mine.dtype != its.dtype or not np.allclose(mine, its, close, close, equal_nan=True):
            return f"{mine.dtype} {mine} for {its.dtype} {its}"
    return ""


def reductions() -> Iterator[str]:
    parameters = (
        "dtype=np.float32", "dtype=float", "dtype=int", "dtype=np.int32", "dtype=complex", "dtype=bool", "dtype='u1'", "initial=2", "initial=2.5", "initial=s0",
        "where=b", "where=b, initial=1", "keepdims=True", "ddof=1", "correction=2", "where=b, ddof=1", "axis=-1, where=x > 0", "axis=0, dtype=np.int16",
    )  # fmt: skip
    for word in "sum prod mean std var cumsum cumprod cumulative_sum nansum nanprod nanmean nanstd nanvar max nanmax".split():
        for name in "x g c i w u b z".split():
            yield f"np.{word}({name})"
            yield from (f"np.{word}({name}, {parameter})" for parameter in parameters)
        for parameter in ("axis=0, where=ba", "axis=1, where=ba, keepdims=True, initial=2.0", "where=ba", "axis=-1, ddof=1, where=ba"):
            yield f"np.{word}(a, {parameter})"


def of_python() -> Iterator[str]:
    """math of integers, functools.reduce, names of types."""
    yield from (f"math.{call}" for call in ("pow(10, 20)", "pow(2, -1)", "pow(i[0], 64)", "pow(x[0], i[1])", "fabs(-3)", "fabs(i[0])", "fabs(x[0])", "fsum(i)", "fsum([0.1, 0.2])"))
    yield from (f"math.{call}" for call in ("hypot(3, 4)", "hypot(1, 2, 3)", "prod(i)", "prod([1, 2, 3])", "prod(x, start=2.0)", "prod(t for t in x)", "modf(3.25)", "modf(x[0])", "ldexp(0.5, 3)"))
    for function in ("lambda q, t: q + t", "lambda q, t: q * t", "max", "np.maximum", "lambda q, t: q * 2 + t"):
        yield from (f"functools.reduce({function}, {rest})" for rest in ("x", "i", "x, 1.5", "[3, 1, 2]", "a[0]", "range(1, 5)"))
    yield from ("functools.reduce(np.dot, [s, s, s])", "functools.reduce(np.add, a)", "functools.reduce(lambda q, row: q + row.sum(), a, 0.0)", "functools.reduce(math.gcd, [12, 18, 24])")
    yield from (f"np.{name}(3)" for name in "intp int_ double single ubyte short uint longlong cdouble".split())
    yield from (f"x.astype(np.{name})" for name in "intp double single cdouble".split())
    for word in "add subtract multiply divide maximum hypot fmod floor_divide power where".split():
        args = "b, {}, {}" if word == "where" else "{}, {}"
        yield from (f"np.{word}({args.format(one, two)})" for one, two in (("i", "g0"), ("g0", "w"), ("i", "np.float32(0.5)"), ("g", "2"), ("x", "g0"), ("u", "g0")))


def lists() -> Iterator[str]:
    """What Python puts together or repeats is refused where it is written."""
    of_x = ("list(x)", "sorted(x)", "x.tolist()", "[t for t in x]", "[1.0, 2.0]")
    yield from (f"{one} + {two}" for one in of_x for two in of_x)
    yield from (f"{one} * {count}" for one in of_x[:-1] for count in ("2", "i0"))
    yield from ("[0.5] * 3", "[1, 2] * 2", "[[0.0] * 3 for k in range(2)]", "np.array(list(x)) + np.array(sorted(x))")


@pytest.mark.parametrize(("words", "least"), [(reductions, 800), (of_python, 120), (lists, 4)])
def test_what_numpy_gives_or_refused(words: Callable[[], Iterator[str]], least: int) -> None:
    wrong, same = [], 0
    for text in words():
        found = difference(text)
        same += not found
        if found and found != "refused":
            wrong.append(f"{text}: {found}")
    assert not wrong, "\n".join(wrong)
    assert same >= least


@pytest.mark.parametrize(
    "text",
    [
        "np.fill_diagonal(s, v) ; s", "np.fill_diagonal(s, [1.0, 2.0]) ; s", "np.fill_diagonal(a, v) ; a", "np.fill_diagonal(s, 7) ; s",
    ],
)  # fmt: skip
def test_statements(text: str) -> None:
    assert difference(text) == ""


def test_compiled() -> None:
    for text in ("(np.nanstd(c), np.var(a, axis=0, where=ba), np.sum(i, initial=2.5), np.cumprod(u, dtype=np.int32), np.nansum(z, initial=1))", "np.fill_diagonal(a, v) ; a"):
        assert difference(text, compiled=True) == "", text
