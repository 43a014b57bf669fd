"""Names from around a function: which mean what, and what happens when they change later."""

import numpy as np
import pytest

import atoll as at
from tests.front.modules import load, python

ONES = np.ones(2)
SCALE = "@at.fn\ndef f(x: f64[n]) -> f64[n]:\n    return c * x\n"


@pytest.mark.parametrize("value", ["2.0", "2", "True", "np.float64(2.0)", "np.array(2.0)", "np.array([2.0, 3.0])", "(2.0, 3.0)[0]", "math.pi"])
def test_constants(tmp_path, value):
    size = "x: f64[2]) -> f64[2]" if "[2.0, 3.0]" in value and value.startswith("np") else "x: f64[n]) -> f64[n]"
    module = load(tmp_path, f"c = {value}\n@at.fn\ndef f({size}:\n    return c * x\n")
    for call in (module.f, module.f.interpret):
        np.testing.assert_array_equal(call(ONES), module.c * ONES)
        np.testing.assert_array_equal(call(ONES), module.c * ONES)


@pytest.mark.parametrize(
    ("first", "then"),
    [("2.0", "3.0"), ("2.0", "2"), ("1", "True"), ("0.0", "-0.0"), ("(1.0, 2.0)", "(1.0, 3.0)"), ("np.arange(2.0)", "np.arange(2.0) + 1"), ("np.float32(2)", "np.float64(2)")],
)
def test_a_later_change_is_reported(tmp_path, first, then):
    body = "c[1] * x" if first.startswith("(") else "c * x"
    size = "2" if "arange" in first else "n"
    module = load(tmp_path, f"c = {first}\n@at.fn\ndef f(x: f64[{size}]) -> f64[{size}]:\n    return {body}\n")
    before = module.f(ONES)
    module.c = eval(then, {"np": np})  # noqa: S307  a constant of this table
    for use in (module.f, module.f.interpret):
        with pytest.raises(at.CompileError) as caught:
            use(ONES)
        assert str(caught.value) == (
            "E0606: f: the captured constant c has changed since f was compiled\n   help: pass c as an argument, or call f.refresh()"
        )
    module.c = eval(first, {"np": np})  # noqa: S307
    np.testing.assert_array_equal(module.f(ONES), before)
    module.c = eval(then, {"np": np})  # noqa: S307
    module.f.refresh()
    chosen = module.c[1] if isinstance(module.c, tuple) else module.c
    np.testing.assert_array_equal(module.f(ONES), (chosen * ONES).astype("f8"))


def test_equal_values_are_no_change(tmp_path):
    module = load(tmp_path, "c = float('nan')\n" + SCALE)
    assert np.isnan(module.f(ONES)).all()
    module.c = float("nan")
    assert np.isnan(module.f(ONES)).all()


def test_frozen_at_the_first_use_not_at_the_def(tmp_path):
    module = load(tmp_path, "c = 2.0\n" + SCALE + "c = 5.0\n")
    np.testing.assert_array_equal(module.f(ONES), [5, 5])


def test_an_array_written_in_place_is_a_change(tmp_path):
    module = load(tmp_path, "c = np.arange(2.0)\n@at.fn\ndef f(x: f64[2]) -> f64[2]:\n    return c * x\n")
    np.testing.assert_array_equal(module.f(ONES), [0, 1])
    module.c[0] = 9
    with pytest.raises(at.CompileError, match="captured constant c has changed"):
        module.f(ONES)


def test_a_deleted_name_is_a_change(tmp_path):
    module = load(tmp_path, "c = 2.0\n" + SCALE)
    module.f(ONES)
    del module.c
    with pytest.raises(at.CompileError, match="E0606"):
        module.f(ONES)


def test_constants_of_called_functions(tmp_path):
    module = load(tmp_path, "c = 2.0\n@at.fn\ndef g(x: f64[n]) -> f64[n]:\n    return c * x\n@at.fn\ndef f(x: f64[n]) -> f64[n]:\n    return g(x) + 1\n")
    np.testing.assert_array_equal(module.f(ONES), [3, 3])
    module.c = 3.0
    with pytest.raises(at.CompileError, match="f: the captured constant c has changed"):
        module.f(ONES)


def test_a_called_function_defined_anew_is_reported(tmp_path):
    text = "@at.fn\ndef g(x: f64[n]) -> f64[n]:\n    return {} * x\n"
    module = load(tmp_path, text.format(2) + "@at.fn\ndef f(x: f64[n]) -> f64[n]:\n    return g(x)\n")
    module.f(ONES)
    module.g = load(tmp_path, text.format(7)).g
    with pytest.raises(at.CompileError, match="f: the captured function g has changed"):
        module.f(ONES)
    module.f.refresh()
    np.testing.assert_array_equal(module.f(ONES), [7, 7])


def test_constants_of_modules(tmp_path):
    module = load(tmp_path, "import types\nsettings = types.SimpleNamespace\nmod = types.ModuleType('mod')\nmod.c = 2.0\n@at.fn\ndef f(x: f64[n]) -> f64[n]:\n    return mod.c * x\n")
    np.testing.assert_array_equal(module.f(ONES), [2, 2])
    np.testing.assert_array_equal(module.f(ONES), [2, 2])
    module.mod.c = 3.0
    with pytest.raises(at.CompileError, match=r"captured constant mod\.c has changed"):
        module.f(ONES)


def test_derivatives_notice_too(tmp_path):
    module = load(tmp_path, "c = 2.0\n@at.fn\ndef f(x: f64[n]) -> f64:\n    return sum(c * v * v for v in x)\n")
    np.testing.assert_array_equal(at.grad(module.f)(ONES), [4, 4])
    module.c = 3.0
    with pytest.raises(at.CompileError, match="E0606"):
        at.grad(module.f)(ONES)
    module.f.refresh()
    np.testing.assert_array_equal(at.grad(module.f)(ONES), [6, 6])


def test_closures_capture_their_own(tmp_path):
    module = load(tmp_path, "def make(c):\n    @at.fn\n    def f(x: f64[n]) -> f64[n]:\n        return c * x\n    return f\n")
    two, three = module.make(2.0), module.make(3.0)
    np.testing.assert_array_equal(two(ONES), [2, 2])
    np.testing.assert_array_equal(three(ONES), [3, 3])


def test_defaults_are_those_of_the_def(tmp_path):
    module = load(tmp_path, "c = 2.0\n@at.fn\ndef f(x: f64[n], y: f64 = c) -> f64[n]:\n    return y * x\nc = 3.0\n")
    np.testing.assert_array_equal(module.f(ONES), [2, 2])
    np.testing.assert_array_equal(module.f(ONES, 4.0), [4, 4])


@pytest.mark.parametrize(
    ("value", "what", "instead"),
    [
        ("[1.0, 2.0]", "a list", "c = np.array(c)"),
        ("{}", "a dictionary", "use a record"),
        ("object()", "an object", "pass it as an argument"),
        ("lambda x: x", "a plain Python function", "decorate c with @at.fn"),
        ("np.array(['a'])", "an array of <U1", "convert it"),
    ],
)
def test_what_cannot_be_captured(tmp_path, value, what, instead):
    module = load(tmp_path, f"c = {value}\n" + SCALE)
    with pytest.raises(at.ParseError) as caught:
        module.f(ONES)
    assert str(caught.value).startswith(f"E0106: c is {what}, which an Atoll function cannot use\n")
    assert instead in str(caught.value) and "return c * x" in str(caught.value)


def test_constants_are_part_of_the_cache_key(tmp_path):
    modules = [load(tmp_path, f"c = {value}\n" + SCALE) for value in ("2.0", "3.0", "2.0")]
    keys = [module.f.compile().key for module in modules]
    assert keys[0] == keys[2] != keys[1]
    assert [module.f(ONES)[0] for module in modules] == [2, 3, 2]


# -- which name means what


def test_the_users_own_names_win(tmp_path):
    module = load(
        tmp_path,
        "sum = 3.0\n@at.fn\ndef exp(v: f64) -> f64:\n    return v + 100\n"
        "@at.fn\ndef f(max: f64[n], len: f64) -> f64[n]:\n    abs = max[0]\n    return exp(max) * len + abs * sum\n",
    )
    np.testing.assert_array_equal(module.f(ONES, 2.0), [205, 205])


def test_a_shadowed_builtin_is_not_the_builtin(tmp_path):
    with pytest.raises(at.TypeError, match="E0239") as caught:
        load(tmp_path, "range = 3\n@at.fn\ndef f(x: f64[n]):\n    return [x[i] for i in range(n)]\n")
    assert "range(n)" in str(caught.value)


def test_names_imported_from_math_and_numpy(tmp_path):
    module = load(
        tmp_path,
        "from math import sqrt, pi as PI\nfrom numpy import exp as E\nimport operator\n@at.fn\ndef f(x: f64[n]):\n    return sqrt(x) + E(0.0 * x) + PI + reduce(operator.add, 0.0, x)\n",
    )
    np.testing.assert_allclose(module.f(ONES), 2 + np.pi + 2)


def test_defined_further_down(tmp_path):
    module = load(tmp_path, "@at.fn\ndef f(x: f64[n]) -> f64[n]:\n    return g(x)\n@at.fn\ndef g(x: f64[n]) -> f64[n]:\n    return 3 * x\n")
    np.testing.assert_array_equal(module.f(ONES), [3, 3])


def test_never_defined(tmp_path):
    module = load(tmp_path, "@at.fn\ndef f(x: f64[n]) -> f64[n]:\n    return g(x)\n")
    with pytest.raises(at.ParseError, match="E0105: the name g is not defined here"):
        module.f(ONES)


def test_recursion_through_a_global_name(tmp_path):
    module = load(
        tmp_path,
        "@at.fn\ndef fact(k: i64) -> i64:\n    return 1 if k <= 1 else k * fact(k - 1)\n"
        "@at.fn\ndef even(k: i64) -> at.bool_:\n    return True if k == 0 else odd(k - 1)\n"
        "@at.fn\ndef odd(k: i64) -> at.bool_:\n    return False if k == 0 else even(k - 1)\n",
    )
    assert module.fact(5) == 120 and module.fact.interpret(5) == 120
    assert module.even(10) and not module.odd(10)


def test_recursion_needs_a_result_type(tmp_path):
    module = load(tmp_path, "@at.fn\ndef fact(k: i64):\n    return 1 if k <= 1 else k * fact(k - 1)\n")
    with pytest.raises(at.TypeError, match="E0123"):
        module.fact(3)


def test_functions_across_modules(tmp_path):
    (tmp_path / "parts.py").write_text("import atoll as at\nfrom atoll import f64\nn = at.sizes('n')\nfactor = 10.0\n@at.fn\ndef scaled(x: f64[n]) -> f64[n]:\n    return factor * x\n")
    (tmp_path / "main.py").write_text(
        "import numpy as np\nimport atoll as at\nfrom atoll import f64\nimport parts\nfrom parts import scaled as s\nn = at.sizes('n')\nfactor = -1.0\n"
        "@at.fn\ndef f(x: f64[n]) -> f64[n]:\n    return s(x) + parts.scaled(x) * factor + parts.factor\n"
        "print(f(np.ones(2)), f.interpret(np.ones(2)))\nparts.factor = 11.0\n"
        "try:\n    f(np.ones(2))\nexcept at.Error as e:\n    print(e.code)\n"
    )
    done = python("main.py", cwd=tmp_path)
    assert done.stdout == "[10. 10.] [10. 10.]\nE0606\n", done.stderr
