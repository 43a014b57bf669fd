"""Every copy is listed by f.memory(), with its place; copies="explicit" refuses those that at.copy did not write."""

import numpy as np
import pytest

import atoll as at

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n"


def make(body: str, explicit: bool = False) -> at.Function:
    """The last function of a text, with or without hidden copies."""
    before, _, last = (HEAD + body).rpartition("\ndef f")
    return at.fn(source=before + ("\n@at.fn(copies='explicit')" if explicit else "\n@at.fn") + "\ndef f" + last)


PARAMETER = "def f(g: f64[n]) -> f64[n]:\n    assert n >= 2\n    {}g[0] = 1.0\n    return g\n"
LOOP = "def f(g: f64[n]) -> f64[n]:\n    {}for i in range(1, n):\n        g[i] = g[i - 1] + g[i]\n    return g\n"
WHILE = "def f(g: f64[n]) -> f64[n]:\n    {}i = 1\n    while i < n:\n        g[i] = g[i - 1] + g[i]\n        i += 1\n    return g\n"
BRANCH = "def f(g: f64[n]) -> f64[n]:\n    assert n >= 2\n    {}if n > 3:\n        g[0] = 5.0\n    else:\n        g[1] = 7.0\n    return g\n"
LOCAL = "def f(g: f64[n]) -> f64[n]:\n    assert n >= 2\n    def first(h):\n        h[0] = 1.0\n        return h\n    {}return first(g)\n"
INNER = "def f(g: f64[n]) -> f64:\n    assert n >= 2\n    {}g[0] = 1.0\n    return sum(g)\n"
LIFTED = "@at.fn\ndef row(h: f64[n]) -> f64[n]:\n    assert n >= 2\n    h[0] = 1.0\n    return h\ndef f(g: f64[m, n]) -> f64[m, n]:\n    assert n >= 2\n    {}return row(g)\n"
BATCH = "@at.fn\ndef row(h: f64[n]) -> f64:\n    for i in range(1, n):\n        h[i] = h[i - 1] + h[i]\n    return sum(h)\ndef f(g: f64[m, n]) -> f64[m]:\n    {}return map(row, g)\n"
RETURNED = "def f(g: f64[n]) -> f64[n]:\n    {}return g\n"
EVERY_ROUND = "def f(g: f64[n], k: i64) -> f64[n]:\n    assert n >= 2\n    h = g + 1.0\n    for t in range(k):\n        h = g\n        h[0] += 1.0\n    return h\n"
PROGRAMS = {"parameter": PARAMETER, "loop": LOOP, "while": WHILE, "branch": BRANCH, "local": LOCAL, "inner": INNER, "lifted": LIFTED, "batch": BATCH, "returned": RETURNED}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_parameter_that_changes_is_copied_and_listed(name):
    f = make(PROGRAMS[name].format(""))
    (use,) = f.memory().copies
    assert repr(use.bytes) == ("8*m*n" if name in ("lifted", "batch") else "8*n")
    assert "g " in use.reason and use.span.line > 3
    g = np.random.default_rng(1).random((3, 4) if name in ("lifted", "batch") else 4)
    before = g.copy()
    f(g)
    np.testing.assert_array_equal(g, before)


@pytest.mark.parametrize("name", PROGRAMS)
def test_explicit_refuses_it_and_takes_the_one_that_is_written(name):
    with pytest.raises(at.CompileError) as caught:
        make(PROGRAMS[name].format(""), explicit=True).compile()
    text = str(caught.value)
    assert caught.value.code == "E0807" and "nobody wrote" in text and "^" in text and "at.copy(g)" in text
    assert ("at.own" in text) == (name in ("parameter", "loop", "while", "branch", "local"))
    written = make(PROGRAMS[name].format("g = at.copy(g)\n    "), explicit=True)
    g = np.random.default_rng(1).random((3, 4) if name in ("lifted", "batch") else 4)
    np.testing.assert_array_equal(written(g), make(PROGRAMS[name].format(""))(g))


@pytest.mark.parametrize("name", ["parameter", "loop", "while", "branch", "local"])
def test_what_the_caller_may_give_away_is_no_hidden_copy(name):
    text = PROGRAMS[name].format("").replace("g: f64[n]", "g: at.own[f64[n]]")
    f = make(text, explicit=True)
    (use,) = f.memory().copies
    assert "at.donate" in use.reason
    g = np.random.default_rng(1).random(5)
    expected = f(g)
    given = g.copy()
    made = f(at.donate(given))
    assert np.shares_memory(made, given)
    np.testing.assert_array_equal(made, expected)


def test_a_copy_written_of_one_array_allows_none_of_another():
    text = "def f(a: f64[n], b: f64[n]) -> (f64[n], f64[n]):\n    assert n >= 1\n    {} = at.copy({})\n    b[0] = 1.0\n    return a + 1.0, b\n"
    with pytest.raises(at.CompileError, match="b must not change"):
        make(text.format("a", "a"), explicit=True).compile()
    make(text.format("b", "b"), explicit=True).compile()


def test_one_written_copy_is_not_two():
    text = "def f(a: f64[n]) -> (f64[n], f64[n]):\n    assert n >= 1\n    b = at.copy(a)\n    b[0] = 1.0\n    c = {}\n    c[0] = 2.0\n    return b, c\n"
    with pytest.raises(at.CompileError, match="a must not change"):
        make(text.format("a"), explicit=True).compile()
    assert len(make(text.format("at.copy(a)"), explicit=True).memory().copies) == 2


def test_a_copy_in_every_round_says_so():
    uses = make(EVERY_ROUND).memory().copies
    assert any("every round" in u.reason and u.span.line == 8 for u in uses)


def test_state_that_changes_places_may_end_in_the_wrong_one():
    text = "def f(g: f64[n], k: i64) -> f64[n]:\n    assert n >= 3\n    {}for t in range(k):\n        g[1:-1] = g[:-2] + g[2:]\n    return {}\n"
    copies = make(text.format("", "g")).memory().copies
    assert any("last round" in u.reason for u in copies) and any("must not change" in u.reason for u in copies)
    with pytest.raises(at.CompileError, match=r"help: write it: return at\.copy\(g\)"):
        make(text.format("g = at.copy(g)\n    ", "g"), explicit=True).compile()
    make(text.format("g = at.copy(g)\n    ", "at.copy(g)"), explicit=True).compile()


def test_gradients_list_and_refuse_theirs():
    text = "def f(g: f64[n]) -> f64:\n    {}for i in range(1, n):\n        g[i] = g[i - 1] * g[i]\n    return sum(g)\n"
    assert [u.reason for u in at.grad(make(text.format(""))).memory().copies] == ["g must not change"]
    with pytest.raises(at.CompileError, match="E0807"):
        at.grad(make(text.format(""), explicit=True))(np.ones(3))
    written = at.grad(make(text.format("g = at.copy(g)\n    "), explicit=True))
    np.testing.assert_allclose(written(np.array([2.0, 3.0, 4.0])), [16.0, 10.0, 6.0])


@pytest.mark.parametrize("body", ["g * 2", "[g[n - 1 - i] for i in range(n)]", "scan(add, 0.0, g)", "sort(g)", "concat(g[:1], g[1:])"])
def test_what_is_computed_is_no_copy(body):
    f = make(f"def f(g: f64[n]) -> f64[n]:\n    assert n >= 1\n    return {body}\n", explicit=True)
    assert not f.memory().copies
    f(np.ones(3))


ROWS = "def f(a: f64[m, n]) -> f64[m, n]:\n    def row(h):\n        {}for i in range(1, n):\n            h[i] = {}\n        return {}\n    return [row(r) for r in a]\n"


def test_rows_that_a_loop_makes_in_their_place():
    assert [u.reason for u in make(ROWS.format("", "0.5 * h[i - 1] + h[i]", "h")).memory().copies] == ["a must not change"]
    f = make(ROWS.format("h = at.copy(h)\n        ", "0.5 * h[i - 1] + h[i]", "h"), explicit=True)
    np.testing.assert_allclose(f(np.ones((2, 3))), [[1, 1.5, 1.75]] * 2)


def test_rows_that_are_made_side_by_side_are_copied_to_their_place():
    slow = "h[i] / (2.0 + h[i - 1])"
    copies = [u.reason for u in make(ROWS.format("", slow, "h")).memory().copies]
    assert len(copies) == 2 and "a must not change" in copies and any("beside the others" in reason for reason in copies)
    with pytest.raises(at.CompileError, match="h, made in a loop for each row, is put beside the others"):
        make(ROWS.format("h = at.copy(h)\n        ", slow, "h"), explicit=True).compile()
    make(ROWS.format("h = at.copy(h)\n        ", slow, "at.copy(h)"), explicit=True).compile()
