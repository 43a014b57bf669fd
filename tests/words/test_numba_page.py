"""docs/for_numba_users.md: every row of its tables is run, the left side as plain Python, the right side as Atoll."""

from __future__ import annotations

import math
import re
import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at

PAGE = (Path(__file__).parents[2] / "docs" / "for_numba_users.md").read_text()
HEAD = "import math\nimport numpy as np\nimport atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n"


def rows(title: str) -> list[tuple[str, str]]:
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    found = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return [(row[0].strip(), row[1].strip()) for row in found[1:] if len(row) == 2]


def code(cell: str) -> str:
    return "\n".join(re.findall(r"`(.*?)`", cell))


def body(text: str) -> str:
    return textwrap.indent(text, "    ")


@pytest.mark.parametrize(("left", "right"), [r for r in rows("Bodies") if "`" in r[0]], ids=lambda cell: code(cell)[:30])
def test_bodies(left: str, right: str) -> None:
    rng = np.random.default_rng(3)
    x, a = rng.normal(size=7), rng.normal(size=(7, 4))
    w, k = rng.integers(0, 5, 7), 5
    space: dict[str, Any] = {"np": np, "math": math, "prange": range}
    exec(f"def f(x, a, w, k):\n    n, m = a.shape\n{body(code(left))}\n", space)  # noqa: S102
    expected = space["f"](x.copy(), a, w, k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = at.fn(source=f"{HEAD}\ndef f(x: f64[n], a: f64[n, m], w: i64[n], k: i64):\n{body(code(right))}\n")
        found = f.interpret(x, a, w, k)
    for e, g in zip(*((v if isinstance(v, tuple) else (v,)) for v in (expected, found)), strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-12)


def test_around_a_function() -> None:
    x = np.arange(4.0)
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n]):\n    return x + 1.0\n")
    threads = at.threads() if hasattr(at, "threads") else None
    seen = rows("Around a function")
    assert len(seen) >= 14
    for _, right in (row for row in seen if "`" in row[1]):
        found = eval(code(right), {"at": at, "np": np, "f": f, "x": x})  # noqa: S307
        assert found is not None or "set_threads" in right, right
    if threads:
        at.set_threads(threads)
