"""Reports and messages call values what the user calls them: by name, or by the expression."""

import re

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")
INTERNAL = re.compile(r"\b[a-z]{1,3}\d+(_\d+)?\b|__p?\d|_(state|next|own|parts?|lo|hi)\b")


@at.fn
def softmax(x: f64[n, m], w: f64[m]) -> f64[n]:
    z = x * w
    top = max(z)
    weights = [exp(z[i] - top[i]) for i in range(n)]
    total = sum(weights)
    lowest = scan(minimum, inf, total)
    return [total[n - 1 - i] / lowest[i] for i in range(n)]


@at.fn
def steps(u: f64[n], rounds: i64) -> f64:
    for t in range(rounds):
        u = [0.5 * (u[max(i - 1, 0)] + u[min(i + 1, n - 1)]) for i in range(n)]
    return sum(u * u)


@at.fn
def bins(x: f64[n], place: i64[n]) -> f64[64]:
    counts = hist(add, 0.0, 64, place, x)
    return counts / sum(counts)


@at.fn
def rows(a: f64[n, m]) -> f64[n]:
    def settle(row):
        for j in range(1, m):
            row[j] = 0.5 * row[j - 1] + row[j]
        return row

    return [sum(settle(row)) for row in a]


@at.fn
def kept(x: f64[n]) -> f64:
    large = filter(lambda v: v > 0.5, x)
    return sum(large) / len(large)


def test_values_in_the_schedule_and_in_memory_have_their_names():
    text = softmax.explain("schedule")
    assert "top by maximum" in text and "total by add" in text and "memory for total" in text
    assert {u.name for u in softmax.memory().temporaries} == {"total", "lowest"}
    assert {u.name for u in steps.memory() if u.kind != "result"} == {"u"}
    assert "sum(u * u) by add" in steps.explain("schedule")
    assert "sum(counts) by add" in bins.explain("schedule")


@pytest.mark.parametrize("f", [softmax, steps, bins, rows, kept], ids=lambda f: f.name)
def test_no_report_has_a_name_of_the_compiler(f):
    for line in [*f.explain("schedule").splitlines(), *str(f.memory()).splitlines()]:
        assert not INTERNAL.search(line.replace("f64", "").replace("i64", "").replace("u8", "")), line


def test_no_report_of_a_gradient_has_one_either():
    for line in str(at.grad(steps).memory()).splitlines():
        assert not INTERNAL.search(line), line


def test_plans_speak_of_the_users_names_only():
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n], c: at.i64):\n    y = x\n    for i in range(3):\n        y = y * 2.0\n    if c > 0:\n        y = y + 1.0\n        z = y\n    else:\n        z = x\n    return y + z\n")
    with pytest.raises(at.Error, match="E0816: the plan of f speaks of joined, which it does not bind"):
        f.with_plan(joined="store")
    with pytest.raises(at.Error, match=r"the names it binds are: y, z"):
        f.with_plan(loop="store")


def test_a_plan_that_cannot_be_followed_is_quoted():
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n]):\n    y = x * 2.0\n    return x\n")
    with pytest.raises(at.Error, match=r"E0817: the plan y='once' cannot be followed: nobody needs its value"):
        f.with_plan(y="once")


def test_a_type_that_changes_is_shown_without_the_range_of_an_index():
    text = "import atoll as at\nm = at.sizes('m')\ndef f(x: at.f64[m]):\n    b = 0\n    for i in range(11):\n        b = [i for j in range(m)]\n    return b\n"
    with pytest.raises(at.TypeError) as caught:
        at.fn(source=text)
    assert "found:    i64[m]" in str(caught.value) and "idx" not in str(caught.value)


def test_what_the_library_makes_is_told_at_the_call_of_it():
    text = "import atoll as at\nimport numpy as np\nn = at.sizes('n')\ndef f(x: at.i64[n]):\n    return np.bincount(x % 10, minlength=10)[:10]\n"
    f = at.fn(source=text)
    made = [u for u in f.memory() if u.kind == "temporary"]
    assert made and all("np.bincount(x % 10" in repr(u) and "(line 5)" in repr(u) for u in made)
    assert "np.bincount(x % 10" in repr(f.memory(n=10)) and "(line 5)" in repr(f.memory(n=10))
    with pytest.raises(at.Error, match=r"E1201: .*the size of np.bincount\(x % 10.* is known only when it runs\n.*:5:12"):
        f.plan_distribution(np.zeros(1000, np.int64), parts=4)


def test_an_update_without_a_name_is_called_by_its_words():
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.i64[n]):\n    return sort(hist(add, 0, n, x, [1 for _ in x]) * x)[::-1]\n")
    assert any(u.name == "hist(add, 0, n, x, [1 for..." for u in f.memory() if u.kind == "temporary")
