"""Loops that count and end when they like: compiled in stretches of rounds (backends/c/stretches.py), with conditions looked at one by one (transform/ways_out.py), against the interpreter.

Random loops step through arrays up and down, leave early, fail in a round, wrap around, and are longer and shorter than a stretch.
"""

import random

import numpy as np
import pytest

import atoll as at
from atoll.backends.c.stretches import stretch_of
from atoll.loops import ir as lp
from atoll.sizes import Sym, poly
from atoll.types.dtypes import I64

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"
LONG = 4096  # rounds in a stretch, at most


def outcome(call):
    try:
        return call()
    except at.Error as error:
        return str(error)


def agrees(f, *args):
    wanted, found = outcome(lambda: f.interpret(*args)), outcome(lambda: f(*args))
    if isinstance(wanted, str) or isinstance(found, str):
        assert wanted == found
    else:
        assert all(np.array_equal(x, y) for x, y in zip(wanted, found, strict=True)), (wanted, found)


def counting(r):
    """A loop that steps by one: bounds, what it reads, ways out, and what a round does are chosen at random."""
    up = r.random() < 0.6
    var, bound = ("p", r.choice(("p < n", "p + 1 < n", "p < k", "p + k < n", "p < n and p < k", "p <= q"))) if up else ("p", r.choice(("p >= 0", "p > 0", "p >= k", "p - k > 0", "p > 0 and p >= k", "p >= q")))
    read = r.choice(("a[p]", "a[p]", "a[p - 1]", "a[n - 1 - p]", "b[p]", "a[p] + a[p + 1]"))
    leave = r.choice((f" and {read} != x", f" and {read} < x", "", f" and ({read} < x or p == k)"))
    work = r.choice(("s += a[p]", f"s += {read}", "a[p] = s", "s = max(s, p)", "q += 1", "a[p] = a[p - 1]", "pass"))
    stop = r.choice(("", f"    if {read} == x:\n        break\n", "    if s > 60:\n        break\n"))
    step = f"    {var} {'+' if up else '-'}= 1\n"
    lines = [f"    {work}\n", stop, step] if r.random() < 0.7 else [step, f"    {work}\n", stop]
    start = r.choice(("0", "k", "1", "-1", "n - 1")) if up else r.choice(("n - 1", "n", "k", "2 * n"))
    twice = r.random() < 0.3
    head = f"p, s, q = 0, 0, {r.choice(('3', 'n', 'k'))}\n" + (f"for t in range(3):\n    x += t\n    p = {start}\n" if twice else f"p = {start}\n")
    loop = f"while {r.choice((bound, bound, 'True'))}{leave}:\n" + "".join(lines)
    body = "".join(f"    {line}\n" for line in loop.splitlines()) if twice else loop
    return head + body + ("s += p\n" if twice else "") + f"return a, {'s' if twice else 'p, s'}, q"


@pytest.mark.parametrize("seed", range(4))
def test_random_loops(seed):
    r = random.Random(seed)
    tried = 0
    while tried < 6:
        body = counting(r)
        if ("while True" in body and "[" not in body) or ("p <= q" in body and "q +=" in body):  # without an end
            continue
        text = "".join(f"    {line}\n" for line in body.splitlines())
        f = at.fn(source=f"{HEAD}def f(a: i64[n], b: i64[m], x: i64, k: i64):\n{text}")
        assert f.type
        tried += 1
        g = np.random.default_rng(seed)
        for n, m, k, x in ((0, 0, 0, 1), (1, 2, 1, 5), (7, 3, 2, 4), (7, 9, -2, 99), (5, 5, 40, 3), (12, 12, 7, -1)):
            agrees(f, g.integers(0, 9, n), g.integers(0, 9, m), x, k)


SEARCH = at.fn(source=f"{HEAD}def f(a: i64[n], x: i64):\n    p = 0\n    while p < n - 1 and a[p] != x:\n        p += 1\n    q = n\n    while q > 0 and a[q - 1] != x:\n        q -= 1\n    return p, q")
WITHOUT_END = at.fn(source=f"{HEAD}def f(a: i64[n], x: i64):\n    p = 0\n    while a[p] != x:\n        p += 1\n    return p, p")


@pytest.mark.parametrize("n", [LONG // 2 - 1, LONG - 1, LONG, LONG + 1, 2 * LONG, 3 * LONG + 5])
def test_ends_of_stretches(n):
    """Found in the last round of a stretch, the first of the next, and not at all."""
    for place in {0, 1, LONG // 2 - 1, LONG // 2, LONG // 2 + 1, LONG - 2, LONG - 1, LONG, LONG + 1, n - 1} & set(range(n)):
        a = np.zeros(n, np.int64)
        a[place] = 1
        assert SEARCH(a, 1) == (place if place < n - 1 else n - 1, place + 1)
        assert WITHOUT_END(a, 1) == (place, place)
    assert SEARCH(np.zeros(n, np.int64), 1) == (n - 1, 0)
    with pytest.raises(at.Error, match=f"index {n} is out of range"):
        WITHOUT_END(np.zeros(n, np.int64), 1)


@pytest.mark.parametrize("start", [2**63 - 3, -(2**63), -(2**63) + 2, 2**62])
def test_numbers_that_wrap_around(start):
    """The difference of two integers need not be one; a loop of few rounds ends where it does in the interpreter."""
    f = at.fn(source=f"{HEAD}def f(p: i64, k: i64, most: i64):\n    t = 0\n    while p < k:\n        p += 1\n        t += 1\n        if t > most:\n            break\n    return p, t")
    for k in (start + 2 if start < 2**63 - 2 else start, 2**63 - 1, 0, -(2**63) + 5):
        agrees(f, start, k, 9)


def test_conditions_are_looked_at_one_by_one():
    text = SEARCH.show("rewritten")
    assert "else:" not in text and "break unless n - p - 2 >= 0\n" in text
    c = SEARCH.show("c")
    assert c.count("at_last = ") == 2  # both loops, each without a look in its rounds


@pytest.mark.parametrize(("test", "is_one"), [(lambda p, n: n - 1 - p, True), (lambda p, n: 2 - p % 4, False), (lambda p, n: n - p - p // 8, False)])
def test_an_index_that_comes_back_holds_for_no_stretch(test, is_one):
    """What falls by one in every round is told by its slope, and p % 4 has none."""
    size, var = Sym("n"), lp.Var("p", I64)
    p = poly(var.atom)
    body = [lp.BreakUnless((lp.Test("ge", test(p, poly(size))),)), lp.Assign(var, lp.Index(p + 1))]
    assert (stretch_of(body, {size}) is not None) == is_one
