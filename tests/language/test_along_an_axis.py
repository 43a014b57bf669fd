"""sort, argsort, cumsum and cumprod take the last axis and lift; with axis= they mean what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"


@pytest.mark.parametrize("name", ["sort", "argsort", "cumsum", "cumprod"])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_axis(name: str, axis: int | None) -> None:
    f = at.fn(source=f"{HEAD}def f(x: f64[n, m]):\n    return {name}(x, axis={axis})\n")
    for shape in ((0, 3), (1, 1), (4, 5)):
        x = np.random.default_rng(7).integers(0, 9, shape).astype(np.float64)
        keywords = {"kind": "stable"} if "sort" in name else {}
        wanted = getattr(np, name)(x, axis=axis, **keywords)
        for found in (f(x), f.interpret(x)):
            assert np.array_equal(found, wanted) and np.shape(found) == wanted.shape


def test_refused() -> None:
    for text, match in (("sort(x, axis=0, key=lambda v: -v)", "no parameter key"), ("sort(x, axis=2)", "axis 2 does not exist"), ("sum(a for a, b in zip(x[0], x[0], strict=True))", "ends with the shortest")):
        with pytest.raises(at.Error, match=match):
            at.fn(source=f"{HEAD}def f(x: f64[n, m]):\n    return {text}\n")
