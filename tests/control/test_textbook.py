"""Programs of the textbook kind (tests/control/textbook.py): Python's values, in place, and no warning."""

from __future__ import annotations

import copy
import re
import warnings
from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.control.count import growth
from tests.control.textbook import PROGRAMS

HEAD = "import numpy as np\nimport atoll as at\nfrom atoll import *\nn, m, k = at.sizes('n m k')\n@at.fn\n"
RECURSIVE = {"segtree_rec"}  # functions that call themselves have no loops to count in


def _sizes(text: str, args: tuple[Any, ...]) -> dict[str, int]:
    found = {}
    for (_, dims), x in zip(re.findall(r"(\w+): \w+(?:\[([^\]]*)\])?[,)]", text.splitlines()[0]), args, strict=True):
        found |= {name: size for name, size in zip(dims.replace(" ", "").split(","), np.shape(x), strict=False) if name.isidentifier()}
    return found


def _leaves(value: Any) -> list[np.ndarray[Any, Any]]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple) else [np.asarray(value)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_python(name: str) -> None:
    text, make, sizes, grow, most = PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", at.CopyWarning)
        f = at.fn(source=HEAD + text)
        for size in sizes:
            args = make(size, np.random.default_rng(size))
            env: dict[str, Any] = {"np": np, **_sizes(text, args)}
            exec("from __future__ import annotations\n" + text, env)  # noqa: S102  our own list
            try:
                wanted = env["f"](*copy.deepcopy(args))
            except IndexError:
                with pytest.raises(at.Error):
                    f.interpret(*args)
                continue
            for g, w in zip(_leaves(f(*args)), _leaves(wanted), strict=True):
                np.testing.assert_allclose(g.reshape(w.shape) if not w.size else g, w, atol=1e-9, err_msg=f"{name} at {size}")
    if name in RECURSIVE:
        return
    assert "every round" not in str(f.memory()), str(f.memory())
    if grow:
        assert growth(f, lambda s: make(s, np.random.default_rng(s)), grow)[-1] < most


ROWS = """@at.fn
def f(a: f64[n, m], q: i64[n]):
    for c in range(n):
        {body}
    return a
"""


@pytest.mark.parametrize(
    ("body", "warned"),
    [
        ("a[c], a[q[c]] = a[q[c]], a[c]", False),
        ("if q[c] != c:\n            a[c], a[q[c]] = a[q[c]], a[c]", False),
        ("t = a[c]\n        a[c] = a[q[c]]\n        a[q[c]] = t", False),
        ("t = a[0]\n        a[c, c % m] = 5.0\n        a[q[c], 0] = t[c % m]", True),
    ],
)
def test_rows_that_change_places_cost_what_they_write(body: str, warned: bool) -> None:
    """The row that is kept is written again: nobody is told to change that. A row of which one element is written again is more than the update."""
    text = HEAD.removesuffix("@at.fn\n") + ROWS.format(body=body)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f = at.fn(source=text)
        a, q = np.arange(6.0).reshape(3, 2), np.array([1, 2, 0])
        np.testing.assert_array_equal(f(a, q), f.interpret(a, q))
    assert any(issubclass(w.category, at.CopyWarning) for w in caught) is warned
