"""What f.memory() says is what happens: counted in the runtime and by tracemalloc. And copies are refused where asked."""

import tracemalloc

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.runtime.library import peak

n, m = at.sizes("n m")


@at.fn
def chain(x: f64[n], y: f64[n]) -> f64[n]:
    a = x * 2 + y
    b = exp(-a * a)
    c = [v if v > 0.1 else 0.0 for v in b]
    return c + sqrt(abs(x))


@at.fn
def norm(x: f64[n]) -> f64:
    y = x * x + 1
    return sum(y) / n


@at.fn
def twice(x: f64[n]) -> f64[n]:
    s = scan(add, 0.0, x)
    return [s[n - 1 - i] + s[i] for i in range(n)]


@at.fn
def stepped(x: f64[n]) -> f64[n]:
    y = x
    for t in range(10):
        y = [0.5 * (y[max(i - 1, 0)] + y[min(i + 1, n - 1)]) for i in range(n)]
    return y


@at.fn
def ordered(x: f64[n]) -> f64[n]:
    return sort(x)


@at.fn
def updated(x: f64[n], places: i64[m]) -> f64[n]:
    y = x
    for p in places:
        y[p] = y[p] + 1.0
    return y


@at.fn
def table(x: f64[n]) -> f64[n, n]:
    return [[u * v for v in x] for u in x]


def said(f, size, kinds=("temporary",)):
    """Bytes f.memory() promises at this size."""
    return sum(u.bytes.evaluate(lambda _: size) for u in f.memory() if u.kind in kinds)


@pytest.mark.parametrize("f", [chain, norm, twice, stepped, ordered], ids=lambda f: f.name)
def test_temporaries_are_those_that_were_said(f):
    size = 50_000
    args = (np.random.default_rng(0).random(size),) * len(f.signature.params)
    f(*args)
    peak()
    f(*args)
    used = peak()
    assert used <= said(f, size) + 100_000  # tables of fixed size
    assert used >= 0.9 * said(f, size, ("temporary",)) - 100_000


@pytest.mark.parametrize("f", [chain, norm], ids=lambda f: f.name)
def test_a_fused_chain_needs_its_outputs_and_nothing_else(f):
    assert not f.memory().temporaries and not f.memory().copies
    x = np.random.default_rng(0).random(200_000)
    args = (x,) * len(f.signature.params)
    f(*args)
    peak()
    tracemalloc.start()
    result = f(*args)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak() == 0
    assert np.asarray(result).nbytes <= most < np.asarray(result).nbytes + 4096


def test_what_is_listed():
    uses = {u.name: u for u in chain.memory()}
    assert [u.kind for u in uses.values()] == ["result"]
    (result,) = uses.values()
    assert repr(result.bytes) == "8*n"
    (copy,) = updated.memory().copies
    assert repr(copy.bytes) == "8*n" and "must not change" in copy.reason
    text = repr(twice.memory())
    assert text.startswith("twice:\n") and "temporary" in text and "8*n" in text and "line" in text
    assert repr(next(iter(table.memory())).bytes) in ("8*n**2", "8*n*n", "8*n^2")


def test_copies_explicit():
    source = (
        "import atoll as at\nn, m = at.sizes('n m')\n@at.fn(copies='explicit')\ndef f(x: at.f64[n], places: at.i64[m]) -> at.f64[n]:\n"
        "    y = {}\n    for p in places:\n        y[p] = 1.0\n    return y\n"
    )
    places = np.zeros(1, np.int64)
    with pytest.raises(at.CompileError) as caught:
        at.fn(source=source.format("x"))(np.ones(3), places)
    assert caught.value.code == "E0807" and "nobody wrote" in str(caught.value) and "8*n" in str(caught.value)
    f = at.fn(source=source.format("at.copy(x)"))
    x = np.zeros(3)
    np.testing.assert_array_equal(f(x, places), [1, 0, 0])
    assert x[0] == 0


def test_copies_explicit_accepts_what_copies_nothing():
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\n@at.fn(copies='explicit')\ndef f(x: at.f64[n]) -> at.f64[n]:\n    y = x * 2\n    y[0] = 1.0\n    return y\n")
    np.testing.assert_array_equal(f(np.ones(3)), [1, 2, 2])


def test_a_stack_of_calls_gives_everything_back():
    x = np.random.default_rng(0).random(100_000)
    twice(x)
    peak()
    for _ in range(5):
        twice(x)
    assert peak() <= said(twice, 100_000) + 40_000
    peak()
    assert peak() == 0


# -- ATOLL_INTERPRET, ATOLL_CHECK


def test_interpreted_on_request(monkeypatch):
    monkeypatch.setenv("ATOLL_INTERPRET", "1")
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n], i: at.i64):\n    return x[i] * 2\n")
    assert f(np.ones(3), 1) == 2
    assert not f._programs
    with pytest.raises(IndexError, match="E0701"):
        f(np.ones(3), 7)


@pytest.mark.parametrize("f", [chain, norm, twice, stepped, ordered], ids=lambda f: f.name)
def test_the_interpreter_agrees(f):
    args = (np.random.default_rng(2).random(37),) * len(f.signature.params)
    np.testing.assert_allclose(f(*args), f.interpret(*args), rtol=1e-12)
    assert f.compile("0").call(*args) is not None
    np.testing.assert_allclose(f.compile("0").call(*args), f.interpret(*args), rtol=1e-12)


def test_every_stage_is_checked_on_request(monkeypatch):
    monkeypatch.setenv("ATOLL_CHECK", "1")
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n], k: at.i64[n]):\n    return [x[k[i]] * 2.75 for i in range(n)]\n")
    np.testing.assert_array_equal(f(np.ones(3), np.zeros(3, np.int64)), [2.75] * 3)
