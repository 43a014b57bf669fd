"""A tuple that is put into an array of numbers is a row of it, as NumPy reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"
ROWS = {
    "a pair": "a[0] = 3, k\nreturn a",
    "named": "p = (k, 2 * k)\na[n - 1] = p\na[0, :] += p\nreturn a",
    "a column": "a[:2, 1] = (k, a[0, 0])\nreturn a",
    "rows of rows": "a[:2] = ((1, k), (a[1, 1], 4))\nreturn a",
    "by index arrays": "a[[1, 0]] = (k, 7)\nreturn a",
    "by a mask": "a[a[:, 0] > 2] = 0, k\nreturn a",
    "in a loop": "for i in range(n):\n    a[i] = i, a[n - 1 - i, 0]\nreturn a",
}


def body(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n"))


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", ["i64", "f64"])
def test_rows(name: str, dtype: str) -> None:
    text = ROWS[name]
    f = at.fn(source=f"{HEAD}def f(a: {dtype}[n, 2], k: i64):\n{body(text)}")
    for size in (2, 3, 5):
        a = np.arange(2 * size).reshape(size, 2).astype({"i64": np.int64, "f64": np.float64}[dtype])
        given: dict[str, Any] = {"n": size}
        exec(f"def f(a, k):\n{body(text)}", given)  # noqa: S102  the text is our own
        agree(f, a, 9, expected=given["f"](a.copy(), 9))


def test_refused() -> None:
    for text, code in (("a[0] = 1, 2, 3", "E0301"), ("a[0, 0] = 1, 2", "E0201"), ("a[0] = 1.5, 2", "E0201"), ("a[0] = (1, (2, 3))", "E0202")):
        with pytest.raises(at.Error) as found:
            at.fn(source=f"{HEAD}def f(a: i64[n, 2], k: i64):\n{body(text)}    return a\n")
        assert found.value.code == code, text
