"""The plan can be overridden value by value: the same results, the loops and memory that were asked for, and clear refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.plan.override import WORDS

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n"

PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "blur": (
        """
def blur(a: f64[n + 2, m + 2]):
    bx = [[a[i, j] + a[i, j + 1] + a[i, j + 2] for j in range(m)] for i in range(n + 2)]
    return [[bx[i, j] + bx[i + 1, j] + bx[i + 2, j] for j in range(m)] for i in range(n)]
""",
        ("bx",),
    ),
    "softmax": (
        """
def softmax(a: f64[n, m]):
    b = a[0]
    e = exp(b - max(b, default=0.0))
    return e / sum(e)
""",
        ("e",),
    ),
    "views": (
        """
def views(a: f64[n, m]):
    t = a.T
    mask = t > 0.5
    low, high = where(mask, t, 0.0), t[0]
    return sum(low) + 1.0, high
""",
        ("t", "mask", "low", "high"),
    ),
    "steps": (
        """
def steps(a: f64[n, m]):
    x = a[0]
    for k in range(3):
        y = x * 2.0 + 1.0
        x = y * y - [y[m - 1 - i] for i in range(m)]
    return x
""",
        ("y",),
    ),
    "rebound": (
        """
def rebound(a: f64[n, m]):
    y = a * 2.0
    y = sqrt(y) + y
    return y * y
""",
        ("y",),
    ),
    "product": (
        """
def product(a: f64[n, m]):
    b = a * 0.5
    return a @ b.T
""",
        ("b",),
    ),
}


def _argument(name: str) -> Any:
    return np.random.default_rng(3).random((9, 7)) + (0.0 if name != "rebound" else 1.0)


def _same(x: Any, y: Any, close: bool = False) -> bool:
    if isinstance(x, tuple):
        return all(_same(a, b, close) for a, b in zip(x, y, strict=True))
    return bool(np.allclose(x, y)) if close else np.asarray(x).tobytes() == np.asarray(y).tobytes()


@pytest.mark.parametrize(("name", "value"), [(p, v) for p, (_, values) in PROGRAMS.items() for v in values])
def test_the_values_stay(name: str, value: str) -> None:
    f = at.fn(source=HEAD + PROGRAMS[name][0])
    a = _argument(name)
    want = f.interpret(a)
    for word in WORDS:
        g = f.with_plan(**{value: word})
        assert _same(g.compile("1").call(a), want, close=name in ("product", "softmax", "views")), word  # sums may be in another order than the interpreter's


def test_what_is_asked_for_happens() -> None:
    f = at.fn(source=HEAD + PROGRAMS["blur"][0])
    stored, inline = f.with_plan(bx="store"), f.with_plan(bx="inline")
    assert "bx: store" in stored.show("plan")
    assert str(stored.memory()).count("temporary") == 1
    assert str(inline.memory()).count("temporary") == 0
    assert stored.show("plan").count("pieces") == 2
    assert inline.show("plan").count("pieces") == 1


def test_once_shares_the_loop_of_its_readers_and_store_does_not() -> None:
    f = at.fn(source=HEAD + "def f(x: f64[n]):\n    y = x * 2.0 + 1.0\n    return y * y\n")
    assert f.with_plan(y="once").show("plan").count("for ") == 1
    assert str(f.with_plan(y="once").memory()).count("temporary") == 0
    assert f.with_plan(y="store").show("plan").count("for ") == 2


def test_a_view_that_is_stored_is_a_packed_copy() -> None:
    f = at.fn(source=HEAD + "def f(a: f64[n, m]):\n    t = a.T\n    return sum(t * t)\n")
    assert "8*n*m" not in str(f.memory())
    assert "8*n*m" in str(f.with_plan(t="store").memory())


def test_plans_add_up_and_the_later_word_counts() -> None:
    f = at.fn(source=HEAD + PROGRAMS["blur"][0])
    assert f.with_plan(bx="store").with_plan(bx="inline").show("plan") == f.with_plan(bx="inline").show("plan")
    assert f.show("plan") == at.fn(source=HEAD + PROGRAMS["blur"][0]).show("plan")


def test_a_plan_in_the_file_beside_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "planned_blur.py").write_text(HEAD + "@at.fn" + PROGRAMS["blur"][0])
    (tmp_path / "planned_blur.tune").write_text("[blur]\nplan.bx = store\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import planned_blur  # type: ignore[import-not-found]

    assert "bx: store" in planned_blur.blur.show("plan")
    assert "plan.bx = store" in planned_blur.blur.explain("schedule")
    (tmp_path / "planned_blur.tune").write_text("[blur]\nplan.bz = store\n")
    planned_blur.blur.refresh()
    with pytest.raises(at.CompileError, match="E0816"):
        planned_blur.blur.show("plan")


def test_pinning_keeps_the_plan(tmp_path: Path) -> None:
    from dataclasses import replace

    from atoll.loops.choices import USUAL, pin, pinned

    source = str(tmp_path / "a.py")
    chosen = replace(USUAL, jam=4, plan=(("Bx", "store"), ("y", "inline")))
    pin(source, "f", chosen)
    assert pinned(source, "f") == chosen


@pytest.mark.parametrize(
    ("text", "plan", "code", "why"),
    [
        ("def f(x: f64[n]):\n    s = sum(x)\n    return x / s\n", {"s": "inline"}, "E0817", "it is a reduction"),
        ("def f(x: f64[n]):\n    y = scan(add, 0.0, x)\n    return y * y\n", {"y": "inline"}, "E0817", "it is a scan"),
        ("def f(x: f64[n]):\n    y = x * 2.0\n    return x\n", {"y": "store"}, "E0817", "nobody needs its value"),
        ("def f(x: f64[n]):\n    k = 2.0 * 3.0\n    return x * k\n", {"k": "store"}, "E0817", "known when the program is compiled"),
        ("def f(x: f64[n]):\n    y = x * 2.0\n    z = x * 2.0\n    return y + z * y\n", {"y": "store", "z": "inline"}, "E0817", "the same value as y"),
        ("def f(x: f64[n]):\n    y = x * 2.0\n    return y\n", {"yy": "store"}, "E0816", "did you mean y?"),
        ("def f(x: f64[n]):\n    y = x * 2.0\n    return y\n", {"y": "kept"}, "E0818", '"store", "once" or "inline"'),
        (
            "def f(x: f64[n + 2]):\n    y = scan(add, 0.0, x)\n    t = y[0] * 2.0\n    y[0] = t + y[1]\n    return y, t * y[0]\n",
            {"t": "inline"},
            "E0817",
            "updated in place",
        ),
    ],
)
def test_refusals(text: str, plan: dict[str, str], code: str, why: str) -> None:
    f = at.fn(source=HEAD + text)
    with pytest.raises(at.CompileError) as error:
        f.with_plan(**plan)
    assert error.value.code == code
    assert why in str(error.value)


def test_code_does_not_explode() -> None:
    steps = "".join(f"    y{k + 1} = [y{k}[i] + y{k}[i + 1] for i in range(n + {29 - k})]\n" for k in range(30))
    f = at.fn(source=HEAD + f"def f(y0: f64[n + 30]):\n{steps}    return y30\n")
    with pytest.raises(at.CompileError, match="more than 10000 operations"):
        f.with_plan(**{f"y{k}": "inline" for k in range(1, 31)})


def test_functions_without_a_plan_say_so() -> None:
    f = at.fn(source=HEAD + "@at.fn\ndef f(k: i64) -> i64:\n    r = k + 1\n    return r if k < 1 else f(k - 1) * r\n")
    with pytest.raises(at.CompileError, match="E0819"):
        f.with_plan(r="store")


def test_state_of_a_loop_stays_where_it_is():
    """Storing the state of a loop is no copy of it in every round."""
    text = (
        "import atoll as at\nfrom atoll import i64\nn, m = at.sizes('n m')\ndef table(a: i64[n], b: i64[m]):\n    d = zeros((n + 1, m + 1), dtype=i64)\n"
        "    for i in range(n):\n        for j in range(m):\n            d[i + 1, j + 1] = d[i, j] + a[i] * b[j]\n    return d[n, m]\n"
    )
    f = at.fn(source=text)
    stored = f.with_plan(d="store")
    assert "cop" not in str(stored.memory()) and len(stored.memory().temporaries) <= len(f.memory().temporaries) + 1
    a, b = np.arange(5), np.arange(7)
    assert stored(a, b) == f(a, b) == f.interpret(a, b)
