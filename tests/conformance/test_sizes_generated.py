"""Inferred sizes are the sizes: random chains of reshapes on vectors of every small length, against NumPy.

A program either has, for every length, the shape its inferred type says and NumPy's values, or is refused on entry exactly where a slice,
a window or a cut would not fit (Atoll never clamps).
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atoll as at
from atoll.types.types import sizes_in

EXAMPLES = int(os.environ.get("ATOLL_EXAMPLES", "30"))
HEAD = "import atoll as at\nfrom atoll import f64\nn, m = at.sizes('n m')\n@at.fn\ndef f(x: f64[n], y: f64[m]):\n    return {}\n"


class Short(Exception):
    """An array is too short for what is asked of it."""


def need(x: Any, size: int) -> Any:
    if len(x) < size:
        raise Short
    return x


Oracle = Callable[[Any], Any]
ONE: dict[str, Oracle] = {  # of one vector
    "{}[1:]": lambda x: need(x, 1)[1:],
    "{}[:-2]": lambda x: need(x, 2)[:-2],
    "{}[1:-1]": lambda x: need(x, 2)[1:-1],
    "{}[::2]": lambda x: x[::2],
    "{}[::-1]": lambda x: x[::-1],
    "reverse({})": lambda x: x[::-1],
    "rotate({}, 1)": lambda x: np.roll(x, -1),
    "pad_l({}, 2)": lambda x: np.r_[0.0, 0.0, x],
    "pad_r({}, 1)": lambda x: np.r_[x, 0.0],
    "trunc_l({}, 1)": lambda x: need(x, 1)[1:],
    "trunc_r({}, 2)": lambda x: need(x, 2)[:-2],
    "sum(window({}, 2))": lambda x: need(x, 1)[1:] + x[:-1],
    "sample({}, 2)": lambda x: x[::2],
    "flatten(repeat({}, 2))": lambda x: np.tile(x, 2),
    "flatten([[v, 2.0 * v] for v in {}])": lambda x: np.c_[x, 2 * x].ravel(),
    "sum(tile({}, 3))": lambda x: np.r_[x, np.zeros(-len(x) % 3)].reshape(-1, 3).sum(1),
    "scan(add, 0.0, {})": np.cumsum,
    "sort({})": np.sort,
}
TWO: dict[str, Callable[[Any, Any], Any]] = {  # of two vectors
    "concat({}, {})": lambda x, y: np.r_[x, y],
    "flatten([[u * v for v in {1}] for u in {0}])": lambda x, y: np.outer(x, y).ravel(),
    "flatten(rep({0}) * rep({1}).T)": lambda x, y: np.outer(y, x).ravel(),
    "sum([{1} * u for u in {0}], axis=0)": lambda x, y: np.outer(x, y).sum(0),
}


@st.composite
def chains(draw: st.DrawFn, depth: int = 4) -> tuple[str, Callable[[Any, Any], Any]]:
    """A vector as text, and what NumPy makes of it."""
    if depth == 0 or draw(st.integers(0, 6)) == 0:
        return draw(st.sampled_from([("x", lambda x, y: x), ("y", lambda x, y: y)]))
    if draw(st.integers(0, 3)) == 0 and depth > 1:
        form = draw(st.sampled_from(sorted(TWO)))
        (a, f), (b, g) = draw(chains(depth=depth - 2)), draw(chains(depth=depth - 2))
        return form.format(a, b), lambda x, y: TWO[form](f(x, y), g(x, y))
    form = draw(st.sampled_from(sorted(ONE)))
    text, inner = draw(chains(depth=depth - 1))
    return form.format(text), lambda x, y: ONE[form](inner(x, y))


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(chains())
def test_inferred_sizes_are_the_sizes(case: tuple[str, Callable[[Any, Any], Any]]) -> None:
    text, oracle = case
    f = at.fn(source=HEAD.format(text))
    (size,) = sizes_in(f.core.result)
    syms = {sym.name: sym for sym in f.core.sizes}
    for a, b in itertools.product((0, 1, 2, 3, 5), (0, 2, 4)):
        x, y = 1.0 + np.arange(a), 10.0 + np.arange(b)
        try:
            expected = oracle(x, y)
        except Short:
            with pytest.raises(at.SizeError, match="E0709"):
                f.interpret(x, y)
            continue
        found = f.interpret(x, y)
        assert found.shape == expected.shape == (size.evaluate({syms["n"]: a, syms["m"]: b}),), text
        np.testing.assert_allclose(found, expected)
