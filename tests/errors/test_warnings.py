"""NumPy users are told when an update does not reach the other name of an array, at the line where they wrote it."""

import warnings
from typing import Any

import pytest

import atoll as at
from atoll import f64
from atoll.surface.source import remember

n = at.sizes("n")


def test_updating_one_of_two_names():
    with pytest.warns(at.AliasWarning) as caught:

        @at.fn
        def both(x: f64[n]):
            q = x
            q[0] = 1.0
            return x, q

    (warning,) = caught
    assert str(warning.message) == (
        "q[0] = ... changes q only; x keeps the old value (arrays are values in Atoll). Write q = at.copy(x) to say so."
    )
    assert (warning.filename, warning.lineno) == (__file__, both.surface.span.line + 2)


def test_a_written_copy_is_not_warned_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        @at.fn
        def both(x: f64[n]):
            q = at.copy(x)
            q[0] = 1.0
            return x, q

    assert both.type == "both(x: f64[n]) -> (f64[n], f64[n])"


def test_updating_in_a_loop():
    with pytest.warns(at.AliasWarning) as caught:

        @at.fn
        def shifted(g: f64[n]):
            t = g
            for i in range(1, n):
                t[i] = g[i - 1] + 1.0
            return t

    (warning,) = caught
    assert "changes t only; g keeps the old value" in str(warning.message) and warning.lineno == shifted.surface.span.line + 3


def test_state_of_a_loop_with_one_name_is_not_warned_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        @at.fn
        def running(x: f64[n]):
            for i in range(1, n):
                x[i] = x[i - 1] + 1.0
            return x

    assert running.type == "running(x: f64[n]) -> f64[n]"


VIEWS = {  # what NumPy would change too: the body, how the warning begins, the body as the warning says
    "a row": ("row = c[0]\nrow[0] = 5.0\nreturn c", "row[0] = ... changes row only; c keeps its elements (arrays are values in Atoll, c[0] is no view)", "row = at.copy(c[0])\nrow[0] = 5.0\nreturn c"),
    "a column, op=": ("v = c[:, 0]\nv += 1.0\nreturn c, v", "v += ... makes a new v; c keeps", "v = c[:, 0]\nv = v + 1.0\nreturn c, v"),
    "another name, op=": ("d = c\nd *= 2.0\nreturn c, d", "d *= ... makes a new d; c keeps its elements (arrays are values in Atoll). Write d = d * ...", "d = c\nd = d * 2.0\nreturn c, d"),
    "transposed": ("d = c.T\nd[0, 0] = 5.0\nreturn c, d", "d[0, 0] = ... changes d only", "d = at.copy(c.T)\nd[0, 0] = 5.0\nreturn c, d"),
    "reshaped": ("d = np.reshape(c, -1)\nd[0] = 5.0\nreturn c, d", "d[0] = ... changes d only", "d = at.copy(np.reshape(c, -1))\nd[0] = 5.0\nreturn c, d"),
    "a view of a view": ("d = c[1:]\ne = d[:, 0]\ne[0] = 5.0\nreturn c, e", "e[0] = ... changes e only; c keeps", "d = c[1:]\ne = at.copy(d[:, 0])\ne[0] = 5.0\nreturn c, e"),
    "rows of a loop": ("for row in c:\n    row[0] = 5.0\nreturn c", "row[0] = ... changes row only; c keeps", "for row in c:\n    row = at.copy(row)\n    row[0] = 5.0\nreturn c"),
    "numbered rows": ("for i, row in enumerate(c):\n    row += i\nreturn c", "row += ... makes a new row", "for i, row in enumerate(c):\n    row = row + i\nreturn c"),
    "two rows": ("a, b = c[0], c[1]\nb[0] = a[0]\nreturn c", "b[0] = ... changes b only", "a, b = c[0], at.copy(c[1])\nb[0] = a[0]\nreturn c"),
    "in a branch of a loop": ("for i in range(n):\n    row = c[i]\n    if row[0] > 1.0:\n        row[0] = 0.0\nreturn c", "row[0] = ... changes row only", "for i in range(n):\n    row = at.copy(c[i])\n    if row[0] > 1.0:\n        row[0] = 0.0\nreturn c"),
    "what a loop goes over": ("s = 0.0\nfor row in c:\n    s += row[0]\n    c[n - 1, 0] = 9.0\nreturn s", "c[n - 1, 0] = ... is not seen by the rounds of `for ... in c`", "s = 0.0\nfor row in at.copy(c):\n    s += row[0]\n    c[n - 1, 0] = 9.0\nreturn s"),
    "a row that changes under its name": ("row = c[0]\nc[0, 1] = 5.0\nreturn c, row", "c[0, 1] = ... changes c only; row keeps its elements (arrays are values in Atoll, c[0] is no view). Write row = at.copy(c[0])", "row = at.copy(c[0])\nc[0, 1] = 5.0\nreturn c, row"),
    "rows exchanged by a third name": ("t = c[0]\nc[0] = c[1]\nc[1] = t\nreturn c", "c[0] = ... changes c only; t keeps", "t = at.copy(c[0])\nc[0] = c[1]\nc[1] = t\nreturn c"),
    "a function that changes its parameter": ("def pop(h):\n    h[0] = h[1]\n    return h[1, 0]\nv = pop(c)\nreturn v + c[0, 0]", "pop changes its own h; c keeps its elements (arrays are values in Atoll). Return h and assign it to c, or pass at.copy(c)", "def pop(h):\n    h[0] = h[1]\n    return h[1, 0]\nv = pop(at.copy(c))\nreturn v + c[0, 0]"),
}
NO_VIEWS = {
    "a number": "z = c[0, 0]\nz += 1.0\nreturn c, z",
    "nobody reads the other": "row = c[0]\nrow[0] = 5.0\nreturn row",
    "rows by an array": "row = c[np.array([0, 1])]\nrow[0, 0] = 5.0\nreturn c, row",
    "rows by a mask": "row = c[c[:, 0] > 1.0]\nrow += 1.0\nreturn c, row",
    "put back": "for i in range(n):\n    row = c[i]\n    row[0] = 5.0\n    c[i] = row\nreturn c",
    "made anew": "row = c[0] * 2.0\nrow[0] = 5.0\nreturn c, row",
    "bound again": "d = c.T\nc = c + 1.0\nd[0, 0] = 5.0\nreturn c, d",
    "another row": "row = c[0]\nfor i in range(1, n):\n    c[i] -= row\nreturn c, row",
    "the other half": "low = c[:1]\nc[1:] += 1.0\nreturn c, low",
    "the row itself put back": "row = c[0]\nc[0] = row\nreturn c, row",
    "a parameter that is returned": "def put(h):\n    h[0] = h[1]\n    return h\nc = put(c)\nreturn c",
    "a parameter that is copied first": "def put(h):\n    h = h.copy()\n    h[0] = h[1]\n    return h\nd = put(c)\nreturn c, d",
    "its own place": "v = c[:, 0]\nfor i, z in enumerate(v):\n    v[i] = 2.0 * z\nreturn v",
}


def _alias_warnings(body: str) -> list[str]:
    text = "import atoll as at\nimport numpy as np\nfrom atoll import f64\nn, m = at.sizes('n m')\n@at.fn\ndef f(c: f64[n, m]):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names: dict[str, Any] = {}
        exec(compile(text, remember(text), "exec", dont_inherit=True), names)  # noqa: S102  a text of this file
        assert names["f"].type.startswith("f(c: f64[n, m])")
    return [str(w.message) for w in caught if issubclass(w.category, at.AliasWarning)]


@pytest.mark.parametrize("name", VIEWS)
def test_what_numpy_would_change_too(name):
    body, says, mended = VIEWS[name]
    (found,) = _alias_warnings(body)
    assert found.startswith(says)
    assert _alias_warnings(mended) == []


@pytest.mark.parametrize("name", NO_VIEWS)
def test_what_numpy_would_not_change(name):
    assert _alias_warnings(NO_VIEWS[name]) == []
