"""Each spelling means what it means in NumPy: shape, kind of element and value, interpreted, and compiled in groups."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

from .spellings import COMPLEX, INTEGERS, NAMES_OF, REAL, scene, split

HEAD = """
import math
import numpy as np
import atoll as at
from atoll import *
n, m, k, p, q, l = at.sizes("n m k p q l")
"""
_DTYPES = {"float64": "f64", "float32": "f32"}
BATCH = 40


def _plain(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of a result, lists and tuples taken apart."""
    if isinstance(value, (tuple, list)) and not (value and all(isinstance(v, (int, float)) for v in value)):
        return [leaf for part in value for leaf in _plain(part)]
    return [np.asarray(value)]


def _same(text: str, found: Any, expected: Any, tolerance: float) -> str | None:
    wanted, got = _plain(expected), _plain(found)
    if sum(w.size for w in wanted) == sum(g.size for g in got) and len(wanted) != len(got):
        wanted, got = [np.concatenate([w.ravel() for w in wanted])], [np.concatenate([g.ravel() for g in got])]
    if len(wanted) != len(got):
        return f"{text}: {len(got)} parts instead of {len(wanted)}"
    for w, g in zip(wanted, got, strict=True):
        if w.shape != g.shape:
            return f"{text}: shape {g.shape} instead of {w.shape}"
        python = isinstance(expected, (float, list))  # x.tolist(): Python has one kind of float
        if w.dtype != g.dtype and not (w.dtype.kind in "iu" and g.dtype.kind in "iu") and not python:
            return f"{text}: {g.dtype} instead of {w.dtype}"
        if not np.allclose(g, w, rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"{text}: {g} instead of {w}"
    return None


def _function(signature: str, texts: list[str]) -> Any:
    body = "".join(f"    r{k} = {text}\n" for k, text in enumerate(texts))
    results = ", ".join(f"r{k}" for k in range(len(texts)))
    return at.fn(source=f"{HEAD}\ndef f({signature}):\n{body}    return ({results},)\n")


def _check(signature: str, texts: list[str], env: dict[str, Any], tolerance: float, compiled: bool) -> list[str]:
    """What is wrong; a batch that is refused as a whole is tried one by one."""
    names = [part.split(":")[0].strip() for part in signature.split(", ") if ":" in part]
    args = [env[name] for name in names]
    sizes = {"n": env["a"].shape[0], "m": 3, "k": 4, "p": env["x"].shape[0], "np": np, "math": math, "f64": np.float64}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [eval(text, {**env, **sizes}) for text in texts]  # noqa: S307  our own table
        wrong: list[str] = []
        for low in range(0, len(texts), BATCH):
            part, want = texts[low : low + BATCH], expected[low : low + BATCH]
            try:
                f = _function(signature, part)
                results = [f.interpret(*args)]
                if compiled:
                    results.append(f.compile("1").call(*args))
            except at.Error as error:
                if len(part) == 1:
                    return [f"{part[0]}: {error}"]
                wrong += [w for text in part for w in _check(signature, [text], env, tolerance, compiled)] or [str(error)]
                continue
            wrong += [w for found in results for text, f_, e in zip(part, found, want, strict=True) if (w := _same(text, f_, e, tolerance)) is not None]
    return wrong


def _signature(dtype: str) -> str:
    element = _DTYPES[dtype]
    return ", ".join(f"{name}: {element}{shape}" for name, shape in NAMES_OF.items()) + ", b: bool_[p], i: i64[p], i2: i64[q]"


@pytest.mark.parametrize("group", REAL)
@pytest.mark.parametrize(("dtype", "n", "p"), [("float64", 4, 6), ("float32", 6, 8)])
def test_reals(group: str, dtype: str, n: int, p: int) -> None:
    env = scene(dtype, n, p)
    texts = split(REAL[group])
    assert not _check(_signature(dtype), texts, env, 1e-9 if dtype == "float64" else 2e-3, compiled=False)


@pytest.mark.parametrize("group", REAL)
def test_stages(group: str) -> None:
    """The normal form and the loops, run by their own evaluators, give what the interpreter gives."""
    texts = split(REAL[group])[:: 4 if group in ("transforms", "algebra") else 1]  # their loops are long for an executor that checks everything
    env = scene("float64", 4, 6)
    signature = _signature("float64")
    args = [env[part.split(":")[0].strip()] for part in signature.split(", ") if ":" in part]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for low in range(0, len(texts), 10):
            agree(_function(signature, texts[low : low + 10]), *args, compiled=False)


COMPILED = """np.sum(d, axis=(0, 2))|np.median(a, axis=0)|np.cumsum(a)|a[:, i2]|a[a > 0.5]|x[:, None] - y|np.unique(x)|np.histogram(x, 4)|np.linalg.solve(spd, v)|np.linalg.qr(a)
    |np.einsum("ij,jk,k->i", a, s, v)|np.fft.fft(a)|np.interp(x, np.sort(y), y)|np.searchsorted(np.sort(x), y)|np.tile(a, (2, 1))|np.reshape(a, (m, -1))|np.convolve(x, v)|np.polyfit(x, y, 1)"""


def test_compiled() -> None:
    assert not _check(_signature("float64"), split(COMPILED), scene("float64", 4, 6), 1e-9, compiled=True)


def test_integers() -> None:
    env = scene("float64", 4, 6)
    rng = np.random.default_rng(3)
    env |= {"ia": rng.integers(-4, 9, (4, 3)), "i32": env["i"].astype(np.int32), "u8": env["i"].astype(np.uint8), "x32": env["x"].astype(np.float32)}
    signature = "a: f64[n, m], x: f64[p], b: bool_[p], i: i64[p], i2: i64[q], ia: i64[n, m], i32: i32[p], u8: u8[p], x32: f32[p]"
    assert not _check(signature.replace("i32: i32", "i32: at.i32").replace("u8: u8", "u8: at.u8"), split(INTEGERS), env, 1e-9, compiled=False)


def test_complex() -> None:
    env = scene("float64", 4, 6)
    rng = np.random.default_rng(4)
    env |= {"c": rng.random(6) + 1j * rng.random(6), "cm": rng.random((3, 3)) + 1j * rng.random((3, 3))}
    assert not _check("a: f64[n, m], x: f64[p], b: bool_[p], c: c128[p], cm: c128[m, m]", split(COMPLEX), env, 1e-9, compiled=False)
