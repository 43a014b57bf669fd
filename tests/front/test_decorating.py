"""What @at.fn may stand on, together with what, and what it says of everything else."""

import numpy as np
import pytest

import atoll as at
from tests.front.modules import load

ONES = np.ones(3)


@pytest.mark.parametrize(
    "text",
    [
        "@at.fn\n@keep\ndef f(x: f64[n]):\n    return 2 * x\n",
        "@at.fn\n@functools.lru_cache\ndef f(x: f64[n]):\n    return 2 * x\n",
        "@at.fn\n@at.fn\ndef f(x: f64[n]):\n    return 2 * x\n",
        "@at.fn()\ndef f(x: f64[n]):\n    return 2 * x\n",
        "@at.fn(\n    reassociate=False,\n)\ndef f(x: f64[n]):\n    return 2 * x\n",
        "@keep\n@at.fn\n@keep\ndef f(x: f64[n]):\n    return 2 * x\n",
        "def f(x: f64[n]):\n    return 2 * x\nf = at.fn(f)\n",
        "def g(x: f64[n]):\n    return 3 * x\ndef f(x: f64[n]):\n    return 2 * x\ng, f = at.fn(g), at.fn(f)\n",
        "if n is n:\n    @at.fn\n    def f(x: f64[n]):\n        return 2 * x\nelse:\n    @at.fn\n    def f(x: f64[n]):\n        return 9 * x\n",
        "@at.fn\ndef f(x: f64[n]):\n    return 9 * x\n@at.fn\ndef f(x: f64[n]):\n    return 2 * x\n",
        "@at.fn\ndef f(x: 'f64[n]') -> 'f64[n]':\n    return 2 * x\n",
        "class A:\n    @staticmethod\n    @at.fn\n    def f(x: f64[n]):\n        return 2 * x\nf = A.f\n",
        "class A:\n    @at.fn\n    @staticmethod\n    def f(x: f64[n]):\n        return 2 * x\nf = A().f\n",
        "class A:\n    @at.fn\n    def f(x: f64[n]):\n        return 2 * x\nf = A().f\n",
    ],
)
def test_stands_with(tmp_path, text):
    keep = "def keep(g):\n    @functools.wraps(g)\n    def w(*a):\n        return g(*a)\n    return w\n"
    np.testing.assert_array_equal(load(tmp_path, keep + text).f(ONES), 2 * ONES)


def test_the_outer_options_count(tmp_path):
    module = load(tmp_path, "@at.fn(reassociate=False)\n@at.fn\ndef f(x: f64[n]):\n    return sum(x)\n")
    assert module.f.options.reassociate is False and not module.f.core.reassociate


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("@at.fn\nasync def f(x: f64[n]):\n    return x\n", "E0101", "`async def` is not part of Atoll"),
        ("f = at.fn(lambda x: x + 1)\n", "E0101", "a lambda on its own is not part of Atoll"),
        ("class A:\n    @at.fn\n    def f(self, x: f64[n]):\n        return x\n", "E0101", "`self` is not part of Atoll"),
        ("@at.fn\nclass A:\n    pass\n", "E0125", "not a class"),
        ("at.fn(3)\n", "E0125", "not a value of type int"),
        ("at.fn(len)\n", "E0125", "not a function written in C"),
        ("class A:\n    @at.fn\n    @classmethod\n    def f(cls, x: f64[n]):\n        return x\n", "E0125", "not a classmethod"),
        ("class A:\n    @at.fn\n    @property\n    def f(x: f64[n]):\n        return x\n", "E0125", "not a property"),
        ("def g(x: f64[n], y: f64):\n    return x * y\nf = at.fn(functools.partial(g, y=2.0))\n", "E0125", "not a functools.partial"),
        ("class A:\n    def f(self, x: f64[n]):\n        return x\nat.fn(A().f)\n", "E0125", "not a bound method"),
        ("@at.fn\ndef f(x):\n    return x\n", "E0118", "the parameter x has no type"),
        ("@at.fn\ndef f(*x: f64[n]):\n    return x\n", "E0101", "`*x` is not part of Atoll"),
        ("@at.fn\ndef f(**x: f64[n]):\n    return x\n", "E0101", "`**x` is not part of Atoll"),
        ("@at.fn\ndef f(x: 'f64['):\n    return x\n", "E0102", "the annotation 'f64[' is not an expression"),
        ("@at.fn(copies='some')\ndef f(x: f64[n]):\n    return x\n", "E0808", "copies must be"),
    ],
)
def test_refused(tmp_path, text, code, words):
    with pytest.raises(at.Error) as caught:
        load(tmp_path, text)
    assert caught.value.code == code and words in str(caught.value)
    assert "help: " in str(caught.value)


def test_future_annotations(tmp_path):
    head = "from __future__ import annotations\nimport numpy as np\nimport atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n"
    module = load(tmp_path, "@at.fn\ndef f(x: f64[n], k: i64 = 2) -> f64[n]:\n    y: f64[n] = k * x\n    return y\n", head)
    np.testing.assert_array_equal(module.f(ONES), 2 * ONES)
    with pytest.raises(at.ParseError) as caught:
        load(tmp_path, "@at.fn\ndef f(x: f64[q]):\n    return x\n", head)
    assert "E0119: the type or size q is not defined" in str(caught.value) and 'q = at.sizes("q")' in str(caught.value)


def test_future_annotations_around_records(tmp_path):
    head = "from __future__ import annotations\nimport numpy as np\nimport atoll as at\nfrom atoll import f64\nn = at.sizes('n')\n"
    module = load(tmp_path, "@at.record\nclass P:\n    x: f64\n    v: f64[n]\n@at.fn\ndef f(p: P) -> P:\n    return P(x=p.x + 1, v=2 * p.v)\n", head)
    done = module.f(module.P(1.0, ONES))
    assert done.x == 2
    np.testing.assert_array_equal(done.v, 2 * ONES)


def test_keyword_and_positional_parameters(tmp_path):
    module = load(tmp_path, "@at.fn\ndef f(x: f64[n], /, y: f64 = 2.0, *, z: f64 = 1.0) -> f64[n]:\n    return y * x + z\n")
    f = module.f
    for call in (f, f.interpret):
        np.testing.assert_array_equal(call(ONES), 3 * ONES)
        np.testing.assert_array_equal(call(ONES, z=2.0, y=1.0), 3 * ONES)
        np.testing.assert_array_equal(call(ONES, 5.0), 6 * ONES)
    for args, keywords, words in [
        ((ONES, 2.0, 1.0), {}, "f: takes 2 arguments by position, not 3"),
        ((), {"x": ONES}, "f: x is given by position only"),
        ((ONES, 2.0), {"y": 3.0}, "f: y is given twice"),
        ((ONES,), {"w": 3.0}, "f: w is not a parameter"),
        ((), {}, "f: the argument x is missing"),
    ]:
        for call in (f, f.interpret):
            with pytest.raises(at.TypeError) as caught:
                call(*args, **keywords)
            assert str(caught.value).splitlines()[0] == f"E0605: {words}"


def test_it_looks_like_the_function(tmp_path):
    module = load(tmp_path, "@at.fn\ndef f(x: f64[n]):\n    'Doubled.'\n    return 2 * x\n")
    f = module.f
    assert (f.__name__, f.__doc__, f.type) == ("f", "Doubled.", "f(x: f64[n]) -> f64[n]")
    assert repr(f) == "<atoll function f(x: f64[n])>"
    assert f.__wrapped__(3) == 6  # the plain Python function, for those who want it


def test_tuples_as_type_checkers_read_them() -> None:
    head = "import typing\nimport atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n"
    f = at.fn(source=f"{head}def f(p: tuple[f64[n], i64]) -> typing.Tuple[f64, i64]:\n    def turned(q: tuple[f64, i64]) -> tuple[i64, f64]:\n        return q[1], q[0]\n    t: tuple[f64, i64] = (p[0][0], p[1])\n    u = turned(t)\n    return u[1], u[0]\n")
    assert f.interpret((np.array([2.0, 3.0]), 4)) == (2.0, 4)
    for wrong in ("tuple", "tuple[f64, ...]", "tuple[str, f64]", "list[f64]"):
        with pytest.raises(at.Error, match="E0211"):
            at.fn(source=f"{head}def f(x: {wrong}):\n    return x\n")
