"""Spellings that were found by a list nobody had looked at while the words were written: edges of types, sizes 0 and 1, and words that were missing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import atoll as at

from .beside_numpy import LINES, NAMED, outcome
from .test_spellings import HEAD, _plain

TYPES = {
    "a": "f64[n, 3]", "d": "f64[n, 3, 4]", "x": "f64[p]", "y": "f64[p]", "s": "f64[3, 3]", "b": "at.bool_[p]", "bm": "at.bool_[n, 3]",
    "i": "i64[p]", "u": "at.u8[p]", "g": "f32[p]", "c": "c128[p]",
}  # fmt: skip

ANY_SIZE = """np.fmod(i - 3, 2)|np.fabs(i)|np.rint(i)|np.bitwise_count(i - 2)|np.bitwise_count(u)|np.bitwise_or.reduce(i)|np.bitwise_and.reduce(i)|np.gcd.reduce(i)|np.logical_xor.reduce(b)
    |np.heaviside(g, 1)|np.array_equiv(a, a)|np.mean(u)|np.var(x, ddof=1)|np.std(a, axis=0, ddof=2)|np.var(x, ddof=3)|np.nanvar(x, ddof=1)|np.median(x)|np.median(a, axis=0)|np.nanmedian(x)|np.nanquantile(x, 0.3)
    |np.cov(x, y)|np.cov(x, y, ddof=2)|np.cov(a.T)|np.cov(c)|np.cov(c, ddof=0)|np.histogram(i, bins=[0, 1, 2, 5])|np.histogram2d(x, y)|np.histogram2d(x, y, bins=(3, 4))|np.histogram2d(x, y, bins=3, range=((0, 1), (0, 1)))
    |np.unique_counts(i)|np.unique_inverse(i)|np.unique_all(i)|np.setdiff1d(u, [1, 2])|np.concatenate((i, g))|np.stack((i, g))|np.append(g, [1, 2])|np.concatenate((b, i))|np.outer(i, g)|np.dot(3, g)|np.inner(g, g)
    |np.matmul(bm, bm.T)|np.dot(b, b)|np.outer(b, b)|np.einsum("i,i", b, b)|np.kron(b, b)|np.tril(bm)|np.polyval([1, 2, 3], g)|s[np.tril_indices_from(s)]|s[np.triu_indices_from(s, 1)]|s[np.diag_indices_from(s)]
    |np.ravel_multi_index(([0, 1], [1, 5]), (2, 3), mode="clip")|np.ravel_multi_index(([0, 1], [1, 5]), (2, 3), mode="wrap")|np.reshape(a, (3, n), order="F")|a.reshape(-1, order="F")|d.reshape((4, 3, n), order="F")
    |a.reshape(a.shape[::-1])|np.zeros(a.shape + (2,))|d.mT|a.nbytes|x.itemsize|np.delete(a, [0, 2], axis=1)|np.poly([1, 2, 3])|np.poly([1j, 2])|np.linalg.cond(s, 1)|np.linalg.cond(s, "fro")|np.linalg.norm(s, -1)
    |np.round(c, 1)|np.finfo(np.float32).eps|np.finfo(x.dtype).max|np.iinfo(np.int32).min|np.euler_gamma|x.astype("f4")|i.astype("u1")|np.interp(x, [0.1, 0.4, 0.3], [5.0, 7.0, 1.0], period=0.5)|np.piecewise(x, [x < 0.5], [1.0, 2.0])"""

NOT_EMPTY = """np.average(x, weights=y, returned=True)|np.average(a, axis=0, weights=a, returned=True)|np.average(a, axis=1, returned=True)|np.percentile(x, 33, method="hazen")|np.percentile(x, 33, method="weibull")
    |np.percentile(x, 70, method="median_unbiased")|np.quantile(x, 0.9, method="normal_unbiased")|np.quantile(x, 0.01, method="interpolated_inverted_cdf")|np.percentile(g, g * 100)|a.item(0, 1)|np.ediff1d(x, to_begin=0.0)
    |np.ediff1d(x, to_end=[1.0, 2.0])|np.fft.rfftn(d)|np.fft.irfftn(np.fft.rfftn(d), s=(n, 3, 4))|np.fft.hfft(c, 4)|np.fft.ihfft(x)|np.real(np.fft.rfft(x))|np.imag(np.fft.rfft(x))[0]|np.piecewise(x, x < 0.5, [lambda t: t, lambda t: t * t])"""


def _scene(n: int, p: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "a": rng.random((n, 3)), "d": rng.random((n, 3, 4)), "x": rng.random(p), "y": rng.random(p), "s": rng.random((3, 3)), "b": rng.random(p) > 0.4, "bm": rng.random((n, 3)) > 0.4,
        "i": rng.integers(0, 5, p), "u": rng.integers(0, 200, p).astype(np.uint8), "g": rng.random(p).astype(np.float32), "c": rng.random(p) + 1j * rng.random(p),
    }  # fmt: skip


def _differences(texts: list[str], n: int, p: int, compiled: bool) -> list[str]:
    env = _scene(n, p)
    body = "".join(f"    r{k} = {text}\n" for k, text in enumerate(texts))
    f = at.fn(source=f"{HEAD}\ndef f({', '.join(f'{name}: {t}' for name, t in TYPES.items())}):\n{body}    return ({', '.join(f'r{k}' for k in range(len(texts)))},)\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [eval(text, {**env, "np": np, "n": n, "p": p}) for text in texts]  # noqa: S307  our own table
    results = f(*env.values()) if compiled else f.interpret(*env.values())
    wrong = []
    for text, found, wanted in zip(texts, results, expected, strict=True):
        for g, w in zip(_plain(found), _plain(wanted), strict=True):
            narrow = w.dtype.kind in "iu" and g.dtype.kind in "iu"  # counts are i64 here
            if g.shape != w.shape or (g.dtype != w.dtype and not narrow) or not np.allclose(g, w, 1e-6, 1e-9, equal_nan=True):
                wrong.append(f"{text}: {g.dtype} {g} for {w.dtype} {w}")
    return wrong


def _split(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.replace("\n    |", "|").split("|") if part.strip()]


@pytest.mark.parametrize(("n", "p"), [(4, 6), (2, 5), (1, 1), (0, 0)])
def test_as_in_numpy(n: int, p: int) -> None:
    assert not _differences(_split(ANY_SIZE) + (_split(NOT_EMPTY) if p else []), n, p, compiled=False)


def test_compiled() -> None:
    assert not _differences([*_split(ANY_SIZE)[::3], *_split(NOT_EMPTY)[::3]], 3, 4, compiled=True)


@pytest.mark.parametrize(
    "text", ["np.squeeze(a)", "np.cov(a)", "np.average(x, weights=y - y)", "np.unravel_index(12, (3, 4))", "np.ravel_multi_index((1, 4), (3, 4))"]
)
def test_what_numpy_would_give_another_rank_or_refuse(text: str) -> None:
    """NumPy drops an axis of size 1 when it runs, and raises for the others: here each is an error when it runs."""
    f = at.fn(source=f"{HEAD}\ndef f(a: f64[n, m], x: f64[p], y: f64[p]):\n    return {text}\n")
    with pytest.raises(at.RunError):
        f.interpret(np.ones((1, 3)), np.ones(2), np.ones(2))


def test_words_in_local_functions() -> None:
    """What a word gives is known from the text where a local function is read before anything in it is elaborated: these were ambiguous."""
    body = "    def one(word):\n        return sum(a[np.arange(n), word[1:]]) + word.max() * np.eye(2)[0, 0]\n    return [one(w) for w in ws]\n"
    f = at.fn(source=f"{HEAD}\ndef f(a: f64[n, m], ws: i64[p, n + 1]):\n{body}")
    a, ws = np.arange(12.0).reshape(3, 4), np.array([[0, 1, 2, 3], [3, 2, 1, 0]])
    expected = [a[np.arange(3), w[1:]].sum() + w.max() for w in ws]
    np.testing.assert_allclose(f.interpret(a, ws), expected)


def test_what_the_page_says_differs() -> None:
    """docs/for_numpy_users.md: operators and Python's words are the language's own."""
    f = at.fn(source=f"{HEAD}\nimport math\ndef f(b: at.bool_[p], i: i64[p], g: f32[p]):\n    return b + b, np.add(b, b), g + i, np.add(g, i), round(g[0]), math.floor(g[0]), np.unique_values(i), np.array([g[0], 0.0])\n")
    counted, truths, short, wide, rounded, under, values, mixed = f.interpret(np.array([True, False]), np.array([3, 1]), np.array([1.5, 2.0], np.float32))
    assert [x.dtype.name for x in (counted, truths, short, wide, mixed)] == ["int64", "bool", "float32", "float64", "float32"]
    assert rounded.dtype == under.dtype == np.float32 and list(values) == [1, 3]


@pytest.mark.parametrize("text", ["np.sqrt(2) * g", "np.exp(1) - g", "np.hypot(3, 4) + g", "np.where(g > 0, np.sqrt(2), g)", "np.minimum(np.log(2), g)", "np.floor(2.5) * g", "np.average(g, weights=i)", "np.average(g, weights=i, returned=True)", "np.pi * g", "np.linalg.norm([3.0, 4.0]) * g"])
def test_what_numpy_makes_of_numbers_is_numpys(text: str) -> None:
    kind, why = outcome(text)
    assert kind == "match", why


COUNTED = ["[np.sum(x[:-j] * x[j:]) for j in range(1, 4)]", "[x[-j] for j in range(1, 5)]", "[x[-j:].sum() for j in range(1, 4)]", "[x[-(j + 1):].sum() for j in range(3)]"]


@pytest.mark.parametrize("text", COUNTED)
def test_what_is_known_to_be_one_or_more_counts_from_the_end(text: str) -> None:
    x = np.random.default_rng(3).random(6)
    f = at.fn(source=f"{HEAD}\ndef f(x: f64[n]):\n    return {text}\n")
    np.testing.assert_allclose(f.interpret(x), eval(text, {"np": np, "x": x}))  # noqa: S307  our own list


def test_minus_a_variable_that_may_be_0_is_refused_with_what_counts() -> None:
    """NumPy's x[:-0] is empty."""
    with pytest.raises(at.Error, match=r"write len\(x\) - j in its place"):
        at.fn(source=f"{HEAD}\ndef f(x: f64[n], j: i64):\n    return x[:-j]\n")(np.arange(5.0), 2)
    followed = at.fn(source=f"{HEAD}\ndef f(x: f64[n], j: i64):\n    return x[j:] - x[:len(x) - j]\n")
    np.testing.assert_allclose(followed(np.arange(5.0), 2), np.full(3, 2.0))


@pytest.mark.parametrize(("text", "said"), [("x.tolist(3)", ".tolist takes 0 arguments, not 1"), ("x.cumsum(0, 1, 2, 3)", ".cumsum takes 0 to 2 arguments, not 4"), ("np.argmax(x, 0, 1, 2)", "np.argmax takes 1 to 2 arguments, not 4"), ("u.view(np.int8)", r"f\(x.view\(np.uint8\)\)")])
def test_arguments_are_counted_as_they_are_written(text: str, said: str) -> None:
    with pytest.raises(at.Error, match=said):
        at.fn(source=f"{HEAD}\ndef f(x: f64[p], u: at.u8[p]):\n    return {text}\n")


@pytest.mark.parametrize("text", LINES[::17])
def test_off_the_beaten_path(text: str) -> None:
    """A share of `python -m tests.words.beside_numpy`: what does not match is refused with a help, or named."""
    kind, why = outcome(text)
    assert kind in ("match", "refused", "both refuse") or text in NAMED, why
