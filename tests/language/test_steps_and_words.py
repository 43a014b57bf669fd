"""Slices with any step, enumerate, zip and reversed in any nest, default and keyword arguments, chained methods, f-strings: programs against the same text as plain Python."""

import contextlib
import io

import numpy as np
import pytest

import atoll as at

HEAD = 'import numpy as np\nimport atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes("n m")\n@at.fn\ndef f(a: f64[n], b: f64[n], u: f64[n, m], k: i64):\n'

STEPS = {
    "read": "return a[::k]",
    "bounds": "return sum(a[1:n - 1:k]) if n > 1 else 0.0",
    "from the end": "return a[-1::-k]",
    "backwards": "return sum(a[::-k])",
    "literal backwards": "return a[::-2]",
    "written": "a[::k] = 0.0\nreturn a",
    "added to": "a[::k] += b[::k]\nreturn a",
    "written backwards": "a[::-k] = 3.0\na[::-2] *= 2.0\nreturn a",
    "from one": "a[1::k] = b[1::k]\nreturn a",
    "gone over": "s = 0.0\nfor x in a[::k]:\n    s = s * 0.5 + x\nreturn s",
    "rows": "return u[::k]",
    "columns": "return u[:, ::k]",
    "both": "return u[::k, ::-k]",
    "in a row": "return sum(u[0, ::k]) if n > 0 else 0.0",
    "columns written": "u[:, ::k] = 0.0\nreturn u",
    "row written": "if n > 0:\n    u[0, ::k] = 1.0\nreturn u",
    "zipped": "return sum(x * y for x, y in zip(a[::k], b[::k]))",
    "length": "return len(a[::k])",
}

WORDS = {
    "enumerate": "s = 0.0\nfor i, x in enumerate(a, start=k):\n    s += i * x\nreturn s",
    "enumerate of zip": "s = 0.0\nfor i, (x, y) in enumerate(zip(a, b), 2):\n    s += i * x - y\nreturn s",
    "zip of enumerate": "s = 0.0\nfor (i, x), y in zip(enumerate(a), reversed(b)):\n    s += i * x - y\nreturn s",
    "reversed range": "s = 0\nfor i in reversed(range(k, k + 5, 2)):\n    s = s * 3 + i\nreturn s",
    "enumerate of reversed": "return [i * x for i, x in enumerate(reversed(a))]",
    "rows": "s = 0.0\nfor i, row in enumerate(u):\n    for j, x in enumerate(row, 1):\n        s += i * j * x\nreturn s",
    "tuples of arrays": "s = 0.0\nfor i, v in enumerate((a, b)):\n    for x, y in zip(v, reversed(v)):\n        s += (i + 1) * x * y\nreturn s",
    "zip of three": "return [x * y + i for i, x, y in zip(range(n), a, reversed(b))]",
    "defaults": "c = 2.0\ndef g(x, y=c, *, z=3.0):\n    return x * y + z\nreturn [g(x) + g(x, 1.0) + g(x, z=0.5) + g(y=4.0, x=x) for x in a]",
    "lambda": "g = lambda x, y=3.0: x * y\nreturn [g(x) + g(x, y=1.0) for x in a]",
    "methods": "return (a + b).clip(0.25, 1.5).cumsum().max() if n > 0 else 0.0",
    "more methods": "return u.T.sum(axis=0).copy().reshape(n, 1).sum(axis=1)",
    "newaxis": "w = np.newaxis\nreturn a[:, w] * b[np.newaxis, :]",
}


def python(body):
    names = {"np": np}
    exec("def f(a, b, u, k):\n    n, m = u.shape\n    a, b, u = a.copy(), b.copy(), u.copy()\n" + "".join(f"    {line}\n" for line in body.split("\n")), names)  # noqa: S102  our own text
    return names["f"]


def program(body):
    return at.fn(source=HEAD + "".join(f"    {line}\n" for line in body.split("\n")))


def compared(body, runs, sizes=(0, 1, 2, 5)):
    f, wanted = program(body), python(body)
    for size in sizes:
        for k in (1, 2, 3, 7):
            g = np.random.default_rng(10 * size + k)
            args = g.random(size), g.random(size), g.random((size, 3)), k
            for run in runs(f):
                found, expected = np.asarray(run(*args)), np.asarray(wanted(*args))
                assert found.shape == expected.shape, (size, k)
                np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("name", STEPS)
def test_slices_with_any_step(name):
    compared(STEPS[name], lambda f: (f.interpret, f.compile(optimise="0").call))


@pytest.mark.parametrize("name", WORDS)
def test_words_over_sequences(name):
    compared(WORDS[name], lambda f: (f.interpret,))


def test_words_compiled():
    for name in ("enumerate of zip", "zip of enumerate", "tuples of arrays", "defaults"):
        compared(WORDS[name], lambda f: (f.compile(optimise="0").call,), sizes=(0, 3))


@pytest.mark.parametrize("name", ["gone over", "zipped", "backwards"])
def test_derivatives(name):
    f = program(STEPS[name])
    a, b, u = (np.random.default_rng(4).random(s) for s in (7, 7, (7, 3)))
    for k in (1, 3):
        found = at.grad(f).interpret(a, b, u, k)
        wanted = [(f.interpret(a + 1e-6 * e, b, u, k) - f.interpret(a - 1e-6 * e, b, u, k)) / 2e-6 for e in np.eye(7)]
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_a_step_of_zero_is_told():
    f = program("return sum(a[::k])")
    with pytest.raises(ZeroDivisionError, match="E0702"):
        f.interpret(np.ones(3), np.ones(3), np.ones((3, 3)), 0)


FORMATS = ("{k}", "{k:05d}", "{k:+d}", "{k:#x}", "{k:b}", "{k:*^6}|", "{k:,}", "{x}", "{x:10.3f}", "{x:.2e}", "{x:.3g}", "{x:.1%}", "{x!r}", "{t}", "{a}", "{k + 1} and {x * 2:.1f}", "{{}} {k=}", "{len(a)} {(k, x)}")


def test_f_strings():
    """One program prints them all, as Python would; an assertion's message is one too."""
    lines = "".join(f'    print(f"{spec}")\n' for spec in FORMATS)
    f = at.fn(source=f'import atoll as at\nfrom atoll import f64, i64\nn = at.sizes("n")\n@at.fn\ndef f(a: f64[n], k: i64, x: f64, t: at.bool_):\n{lines}    assert k < 8, f"k is {{k:03d}}, not {{x:.2f}}"\n    return x\n')
    a, k, x, t = np.array([1.5, 2.25]), 7, 3.14159, True
    wanted = [eval(f'f"{spec}"', {"a": a, "k": k, "x": x, "t": t}) for spec in FORMATS]  # noqa: S307  our own text
    for run in (f.interpret, f.compile(optimise="0").call):
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            run(a, k, x, t)
        assert shown.getvalue().split("\n")[:-1] == wanted
        with pytest.raises(AssertionError, match=r"k is 009, not 3\.14"), contextlib.redirect_stdout(shown):
            run(a, 9, x, t)


@pytest.mark.parametrize("spec", ["{k:s}", "{x:d}", "{a:.2f}", "{(k, x):>9}", "{x:q}"])
def test_formats_that_do_not_fit_are_refused(spec):
    with pytest.raises(at.Error, match="E0269"):
        _ = program(f'x = 1.5\nprint(f"{spec}")\nreturn a').type
