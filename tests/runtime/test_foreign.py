"""Arrays and functions of other libraries: what is told about arguments, at.torch and at.jax, printed tuples, cells of notebooks."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.loops.execute import execute
from atoll.lower.make import make_loops

n, m = at.sizes("n m")


@at.fn
def twice(x: f32[n]) -> f32[n]:
    return x * 2


@at.fn
def loss(x: f32[n, m], w: f32[m], k: i64) -> (f32, f32[n]):
    y = tanh(x @ w) * k
    return sum(y * y), y


@at.fn
def squares(x: f32[n, m], w: f32[m]) -> f32:
    y = tanh(x @ w)
    return sum(y * y)


@at.fn
def longer(k: i64, x: f32[n]) -> f32[k]:
    return full(k, x[0])


@pytest.mark.parametrize(
    ("value", "help_"),
    [
        (np.array(["a", "b"]), "np.unique(x, return_inverse=True)[1]"),
        (np.zeros(2, "M8[s]"), "x.astype('M8[s]').view(np.int64)"),
        (np.zeros(2, "m8[us]"), "x.astype('m8[us]').view(np.int64)"),
        (np.array([1, None], object), "make numbers of them"),
        (np.zeros(2, np.float16), "x.astype(np.float32)"),
        (np.zeros(2), "x.astype(np.float32)"),
    ],
)
def test_helps_that_are_right(value, help_):
    with pytest.raises(at.TypeError, match="E0603") as caught:
        twice(value)
    text = next(line for line in str(caught.value).splitlines() if "help:" in line)
    assert help_ in text
    if value.dtype.kind not in "OUS":  # followed, it works
        converted = eval(help_, {"x": value, "np": np})  # noqa: S307  our own help
        assert converted.dtype in (np.float32, np.int64) and converted.shape == value.shape


def test_libraries_that_are_missing():
    text = "import sys; sys.modules['torch'] = None; sys.modules['jax'] = None\nimport atoll as at\nfor wrap in (at.torch, at.jax):\n    try: wrap(at.fn(source='import atoll as at\\ndef f(x: at.f64) -> at.f64:\\n    return x\\n'))\n    except at.Error as e: print(str(e).splitlines()[0])\n"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["E0610: at.torch: torch is not installed", "E0610: at.jax: jax is not installed"], done.stderr


def test_torch():
    torch = pytest.importorskip("torch")
    x, w = np.linspace(0, 1, 6, dtype="f4").reshape(3, 2), np.array([0.5, -1.0], "f4")
    f = at.torch(loss)
    X, W = torch.tensor(x, requires_grad=True), torch.tensor(w, requires_grad=True)
    value, y = f(X, W, 2)
    (value + y.sum()).backward()
    W2 = torch.tensor(w, requires_grad=True)
    Y = torch.tanh(torch.tensor(x) @ W2) * 2
    ((Y * Y).sum() + Y.sum()).backward()
    torch.testing.assert_close(W.grad, W2.grad)
    assert X.grad.shape == (3, 2)
    for tensor, help_ in [(W, ".detach()"), (torch.ones(3, dtype=torch.bfloat16), ".float()"), (torch.ones(3, dtype=torch.float64), ".to(torch.float32)")]:
        with pytest.raises(at.TypeError) as caught:
            twice(tensor)
        assert help_ in str(caught.value)
    np.testing.assert_array_equal(twice(torch.ones(3)), np.full(3, 2.0))


def test_jax():
    jax = pytest.importorskip("jax")
    x, w = np.linspace(0, 1, 6, dtype="f4").reshape(3, 2), np.array([0.5, -1.0], "f4")
    f = at.jax(squares)
    expected = jax.grad(lambda w: (jax.numpy.tanh(x @ w) ** 2).sum())(w)
    for g in (jax.grad(f, 1), jax.jit(jax.grad(f, 1))):
        np.testing.assert_allclose(g(x, w), expected, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(f)(x, w), squares(x, w), rtol=1e-6)
    with pytest.raises(at.TypeError, match=r"at\.jax\(f\)"):
        jax.jit(twice)(x[0])
    with pytest.raises(at.TypeError, match="depends on a number"):
        at.jax(longer)


def test_pandas():
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(twice(pandas.Series([1.0, 2.0], dtype="float32")), [2.0, 4.0])
    with pytest.raises(at.TypeError, match="E0603"):
        twice(pandas.Series(["a", "b"]))


@at.fn
def told(x: f64[n]) -> f64:
    print(x.shape, (n,), f"{x.shape}", ((n, 1), 2), x)
    return 0.0


def test_printed_tuples_are_pythons(capsys):
    told(np.ones(3))
    told.interpret(np.ones(3))
    execute(make_loops(told.core), [np.ones(3)], dict.fromkeys(told.core.sizes, 3))
    assert capsys.readouterr().out.splitlines() == ["(3,) (3,) (3,) ((3, 1), 2) [1. 1. 1.]"] * 3


def test_cells_under_a_magic(tmp_path):
    pytest.importorskip("IPython")
    cell = "%%time\\n@at.fn\\ndef f(x: f64) -> f64:\\n    return x + 1\\nprint(f(1.0))"
    text = f"from IPython.core.interactiveshell import InteractiveShell\nip = InteractiveShell.instance()\nip.run_cell('import atoll as at\\nfrom atoll import f64')\nip.run_cell('{cell}')\n"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert "2.0" in done.stdout.splitlines(), done.stdout + done.stderr
