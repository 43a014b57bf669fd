"""The table of names: the cheap list is the table, every name is NumPy's, small sizes work, and suggestions of earlier days are words now."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.elaborate.builtins.names import BUILTINS, WORDS
from atoll.elaborate.numpy_names.names import NAMES, STATEMENTS
from atoll.elaborate.numpy_names.refused import INSTEAD, PARAMETERS
from atoll.elaborate.numpy_names.table import METHODS, TABLE

HEAD = "import numpy as np\nimport atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n"


def test_the_list_is_the_table() -> None:
    assert {key for key in TABLE if not key.startswith(".")} == NAMES
    assert set(METHODS.values()) <= TABLE.keys()
    assert STATEMENTS <= NAMES
    assert not BUILTINS & WORDS


@pytest.mark.parametrize("key", sorted(NAMES))
def test_every_name_is_numpys(key: str) -> None:
    import builtins
    import functools
    import math

    root: Any = {"math": math, "python": builtins, "functools": functools}.get(key.split(".")[0], np)
    for part in key.split(".") if root is np else key.split(".")[1:]:
        root = getattr(root, part)


def test_places_of_arguments_are_numpys() -> None:
    """An argument that is given by its place is the one NumPy takes it for: what we have not (out=, copy=) may not move up the ones after it."""
    import inspect

    for key in sorted(TABLE):
        theirs: Any = np
        for part in key.split("."):
            theirs = getattr(theirs, part, None)
        try:
            places = [p.name for p in inspect.signature(theirs).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        except (TypeError, ValueError):  # not NumPy's (math, methods), or made in C without a signature
            continue
        ours = [p.name for p in list(inspect.signature(TABLE[key]).parameters.values())[1:] if p.kind is p.POSITIONAL_OR_KEYWORD]
        for place, (mine, its) in enumerate(zip(ours, places, strict=False)):
            another = mine != its and (mine in places or its in (*ours, *PARAMETERS, "dtype", "axis"))
            assert not another, f"{key}: argument {place} is {mine}, and NumPy's is {its}"


SMALL = """np.sum(x)|np.cumsum(x)|np.sort(x)|np.unique(x)|np.nonzero(x)|x[x > 0.5]|np.concatenate((x, x))|np.reshape(x, (n, 1))|x[:, None] * x|np.tile(x, 2)|np.repeat(x, 2)|np.flip(x)|np.roll(x, 1)|np.diag(x)|np.outer(x, x)|np.dot(x, x)|np.searchsorted(x, 0.5)|np.pad(x, 1)|np.where(x > 0.5, x, 0.0)|np.isin(x, x)|np.bincount(np.zeros(n, dtype=np.int64))|np.vander(x, 2)|np.linalg.norm(x)|np.stack((x, x))|np.any(x)|np.all(x)|np.prod(x)|np.count_nonzero(x)|np.take(x, np.zeros(n, dtype=np.int64))|np.einsum("i,j->ij", x, x)|np.linspace(0.0, 1.0, n)|np.arange(n)|np.eye(n)|np.allclose(x, x)|np.histogram(x, 3)"""


@pytest.mark.parametrize("size", [0, 1, 2])
def test_small_sizes(size: int) -> None:
    x = np.linspace(0.3, 0.9, size)
    texts = SMALL.split("|")
    f = at.fn(source=f"{HEAD}def f(x: f64[n]):\n    return ({', '.join(texts)},)\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text, found in zip(texts, f.interpret(x), strict=True):
            expected = eval(text, {"np": np, "x": x, "n": size})  # noqa: S307  our own table
            for g, w in zip(found if isinstance(found, tuple) else (found,), expected if isinstance(expected, tuple) else (expected,), strict=True):
                assert np.shape(g) == np.shape(w), (text, np.shape(g), np.shape(w))
                np.testing.assert_allclose(g, w, atol=1e-12, err_msg=text)


@pytest.mark.parametrize("text", ["np.roll(x, 1)", "np.median(x)", "a - np.mean(a, axis=1, keepdims=True)", "np.vstack((x, x))", "np.hstack((x, x))", "np.diag(x)", "np.cumsum(a, axis=0)", "np.flip(x)"])
def test_what_helps_said_otherwise(text: str) -> None:
    """For these NumPy's own words were refused with a suggestion that gave another value."""
    x = np.array([1.0, 2.0, 3.0, 4.0])
    a = x.reshape(2, 2)
    f = at.fn(source=f"{HEAD}def f(x: f64[m], a: f64[n, n]):\n    return {text}\n")
    np.testing.assert_allclose(f.interpret(x, a), eval(text, {"np": np, "x": x, "a": a}))  # noqa: S307  our own table


@pytest.mark.parametrize("key", sorted(INSTEAD))
def test_refused_names(key: str) -> None:
    """The name is refused, its help says what to write, and that is a program."""
    signature = "x: f64[m], y: f64[m], s: f64[n, n]"
    with pytest.raises(at.Error) as caught:
        at.fn(source=f"{HEAD}def f({signature}):\n    return np.{key}(x)\n")
    assert INSTEAD[key][1] in str(caught.value)
    at.fn(source=f"{HEAD}def f({signature}):\n    return {INSTEAD[key][1]}\n")


HELPS = {
    "np.where(x > 0, x)": "np.where(c, x, y)", "np.sum(x, dim=0)": "axis", "x.sum(keepdim=True)": "keepdims", "x.median()": "np.median(x)", "x.exp()": "np.exp(x)", "np.concatenate((x, a))": "x[:, None]",
    "np.add.reduc(x)": "reduce", "np.gcd(x, 6)": "i64(x)", "np.full(2, 0, dtype=np.int64) + 1.5 * np.gcd(k, 1.5)": "i64(x)", "x.index(1.0)": "argmax", "x.count(1.0)": "np.count_nonzero", "x.sum(axes=0)": "did you mean axis?",
}  # fmt: skip


@pytest.mark.parametrize("text", HELPS)
def test_helps_name_what_is_meant(text: str) -> None:
    with pytest.raises(at.Error) as caught:
        at.fn(source=f"{HEAD}def f(x: f64[m], a: f64[n, n], k: i64):\n    return {text}\n")
    assert HELPS[text] in str(caught.value).splitlines()[-1]


REFUSED = {
    "np.sum(a, out=a)": "np.sum(a)",
    "np.pad(x, 1, mode='mean')": "np.pad(x, 1, mode='edge')",
    "np.sum(a, axis=k)": "np.sum(a, axis=1)",
    "np.linalg.svd(a[:, :1])": "np.linalg.svd(a[:, :1], full_matrices=False)",
    "np.subtract(x > 0, x > 1)": "np.logical_xor(x > 0, x > 1)",
    "np.unique(x, equal_nan=False)": "np.unique(x)",
    "np.percentile(x, 3, method='inverted_cdf')": "np.percentile(x, 3, method='linear')",
    "np.add(x, x, where=x > 0)": "np.where(x > 0, np.add(x, x), 0.0)",
    "np.exp(x, dtype=np.float32)": "f32(np.exp(x))",
    "np.histogram(x, bins='auto')": "np.histogram(x, bins=10)",
    "np.linalg.slogdet(a).logabsdet": "np.linalg.slogdet(a)[1]",
    "np.subtract.reduce(x)": "reduce(lambda p, q: p - q, 0.0, x)",
    "[1.0] + [2.0]": "add([1.0], [2.0])",
    "a + one": "a + one[0]",
    "np.einsum('ij,jk', a)": "np.einsum('ij,jk', a, a)",
}


@pytest.mark.parametrize("text", REFUSED)
def test_suggestions_are_programs(text: str) -> None:
    """What is refused is refused; what its help says to write is a program."""
    signature = "x: f64[m], a: f64[n, n], k: i64, one: f64[1]"
    with pytest.raises(at.Error) as caught:
        at.fn(source=f"{HEAD}def f({signature}):\n    return {text}\n")
    assert "help:" in str(caught.value)
    at.fn(source=f"{HEAD}def f({signature}):\n    return {REFUSED[text]}\n")


def test_what_is_the_shorter_one_is_told() -> None:
    """np.convolve(mode="same") is as long as the longer array, which sizes do not say."""
    with pytest.raises(at.SizeError, match=r"m - min\(m, 3\) \+ 3"):
        at.fn(source="import atoll as at, numpy as np\nfrom atoll import f64\nm = at.sizes('m')\n@at.fn\ndef f(a: f64[m], w: f64[3]) -> f64[m]:\n    return np.convolve(a, w, mode='same')\n").compile()
