"""Checks that cannot fail are gone, all others are made: counts for programs whose conditions prove their indices, and random walks through an
array that leave it, wrap around and are stopped by conditions that are nearly right, in the checked executor against the interpreter."""

import random

import numpy as np
import pytest

import atoll as at
from atoll.ainf.dead import remove_dead
from atoll.ainf.from_core import translate
from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.loops import ir as lp
from atoll.loops.check import check
from atoll.loops.control.leave_at_once import leave_at_once
from atoll.loops.control.needless_checks import needless_checks
from atoll.loops.control.same_conditions import same_conditions
from atoll.loops.execute import execute
from atoll.lower.function import lower
from atoll.runtime.arguments import from_python
from bench.everyday.programs import HEAD as EVERYDAY
from bench.everyday.programs import PROGRAMS
from tests.agreement import flat, same
from tests.fuzz.stages import Stages

HEAD = "import atoll as at\nfrom atoll import f64, i32, i64, u8, u64\nn, m = at.sizes('n m')\n@at.fn\n"


def rewritten(f):
    """The loops of a function without needless checks, and how many tests of checks there were before and are left."""
    fn = lower(remove_dead(translate(f.core)))
    before = count(fn)
    fn.body = leave_at_once(fn.body, [])
    fn.body = same_conditions(fn.body, [])
    check(fn, "same_conditions")
    fn.body = needless_checks(fn, [])
    check(fn, "needless_checks")
    return fn, before, count(fn)


def count(fn):
    return sum(len(s.tests) for s in lp.walk(fn.body) if isinstance(s, lp.Check))


def run(f, fn, args):
    """What the rewritten loops give: their results, or the error they stop with."""
    given = from_python(f.core, f._arguments(args, {}))
    try:
        return tuple(execute(fn, [leaf for x in given for leaf in leaves(x)], bind_call(f.core, given), 3))
    except at.Error as error:
        return str(error)


def agrees(f, fn, args):
    try:
        wanted = tuple(flat(f.interpret(*args)))
    except at.Error as error:
        wanted = str(error)
    found = run(f, fn, args)
    if isinstance(wanted, str) or isinstance(found, str):
        assert found == wanted
    else:
        same(found, wanted)


PROVED = {  # the body of f(a: i64[n], b: i64[n], k: i64): all checks go
    "up": "p = 0\nwhile p < n and a[p] != k:\n    p += 1\nreturn p",
    "down": "p = n - 1\nwhile p >= 0 and a[p] != k:\n    p -= 1\nreturn p",
    "by two": "p = 1\nwhile p < n:\n    a[p] = a[p - 1]\n    p += 2\nreturn a",
    "halves": "low, high = 0, n\nwhile low < high:\n    mid = (low + high) // 2\n    if a[mid] < k:\n        low = mid + 1\n    else:\n        high = mid\nreturn low",
    "unequal": "p = 0\nwhile p != n:\n    a[p] = k\n    p += 1\nreturn a",
    "unequal downwards": "p = n\nwhile p != 0:\n    p -= 1\n    a[p] = k\nreturn a",
    "two ends": "i, j = 0, n - 1\nwhile i < j:\n    a[i], a[j] = a[j], a[i]\n    i += 1\n    j -= 1\nreturn a",
    "a stack": "top = 0\nfor x in b:\n    if x > 0 and top < n:\n        a[top] = x\n        top += 1\n    elif top > 0:\n        top -= 1\n        a[top] = 0\nreturn a, top",
    "elif": "s = 0\nfor i in range(-1, n + 1):\n    if i < 0:\n        s += 1\n    elif i >= n:\n        s += 2\n    else:\n        s += a[i]\nreturn s",
    "or": "s = 0\nfor x in b:\n    if x < 0 or x >= n:\n        s += 1\n    else:\n        s += a[x]\nreturn s",
    "not and": "s = 0\nfor x in b:\n    if not (x >= 0 and x < n):\n        continue\n    s += a[x]\nreturn s",
    "clipped": "s = 0\nif n > 0:\n    for x in b:\n        s += a[min(max(x, 0), n - 1)]\nreturn s",
    "modulo": "s = 0\nfor x in b:\n    s += a[x % n]\nreturn s",
    "wrapped sums": "s = 0\nfor x in b:\n    y = x + 5\n    if 0 <= y and y < n:\n        s += a[y]\nreturn s",
    "merge": "i, j, s = 0, 0, 0\nwhile i < n and j < n:\n    if a[i] <= b[j]:\n        s += a[i]\n        i += 1\n    else:\n        s += b[j]\n        j += 1\nreturn s",
    "clamped": "s = 0\nfor i in range(n):\n    for j in range(max(0, i - k), min(n, i + k + 1)):\n        s += a[j] * b[i]\nreturn s",
    "clamped ends": "s = 0\nfor i in range(n):\n    low, high = max(i - 2, 0), min(i + 3, n)\n    for j in range(low, high):\n        s += a[j]\n    s += b[i] * (high - low)\nreturn s",
    "clamped by data": "s = 0\nfor x in b:\n    for j in range(max(x, 0), min(x + 3, n)):\n        s += a[j]\nreturn s",
    "helper": "def at_(p):\n    return a[p] if 0 <= p < n else 0\ns, p = 0, k\nwhile p != 0:\n    s += at_(p)\n    p = p // 2 if p > 0 else 0\nreturn s",
}  # fmt: skip


def program(body, params="a: i64[n], b: i64[n], k: i64"):
    return at.fn(source=f"{HEAD}def f({params}):\n    " + body.replace("\n", "\n    ") + "\n")


@pytest.mark.parametrize("name", PROVED)
def test_conditions_prove_indices(name):
    f = program(PROVED[name])
    fn, before, left = rewritten(f)
    assert left == 0
    for size in (0, 1, 2, 7):
        g = np.random.default_rng(size)
        agrees(f, fn, (g.integers(-2, 9, size), g.integers(-2, 9, size), 3))


KEPT = {  # conditions that are not enough: what is asked for goes wrong, and is told
    "one too far": ("p = 0\nwhile p <= n and a[p] != k:\n    p += 1\nreturn p", (np.zeros(3, int), np.zeros(3, int), 1)),
    "from outside": ("p = k\nwhile p < n:\n    a[p] = 0\n    p += 1\nreturn a", (np.zeros(3, int), np.zeros(3, int), -1)),
    "over the end of i64": ("p = 0\nwhile p < n:\n    a[p] = 1\n    p += 2**62\n    p += 2**62\nreturn a", (np.zeros(3, int), np.zeros(3, int), 1)),
    "a sum that wraps": ("y = k + 2**62\nif y < n:\n    a[y] = 1\nreturn a", (np.zeros(3, int), np.zeros(3, int), 2**62)),
    "a step that is data": ("p = 0\nwhile p < n:\n    a[p] = 1\n    p += b[p]\nreturn a", (np.zeros(3, int), np.full(3, -1), 1)),
    "clamped one too far": ("s = 0\nfor i in range(n):\n    for j in range(max(0, i - k), min(n + 1, i + k + 1)):\n        s += a[j]\nreturn s", (np.zeros(3, int), np.zeros(3, int), 2)),
    "clamped above only": ("s = 0\nfor i in range(n):\n    for j in range(i - k, min(n, i + k + 1)):\n        s += a[j]\nreturn s", (np.zeros(3, int), np.zeros(3, int), 1)),
    "not equal from below": ("p = k\nwhile p != n:\n    a[p] = 0\n    p += 2\nreturn a", (np.zeros(3, int), np.zeros(3, int), 0)),
    "state of the round before": ("p, q = 0, 0\nfor i in range(n):\n    a[q] = 1\n    q = p\n    p = b[i]\nreturn a", (np.zeros(3, int), np.full(3, 5), 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_checks_that_can_fail_are_made(name):
    body, args = KEPT[name]
    f = program(body)
    fn, _, left = rewritten(f)
    assert left > 0
    with pytest.raises(at.Error, match="E0701"):
        f.interpret(*args)
    agrees(f, fn, args)


def test_small_integers_are_within_their_type():
    f = program("s = 0\nfor x in a:\n    s += b[i64(x)]\nreturn s", "a: u8[n], b: i64[256]")
    fn, before, left = rewritten(f)
    assert before and not left
    agrees(f, fn, (np.array([0, 255, 7], np.uint8), np.arange(256)))
    g = program("s = 0\nfor x in a:\n    y = x * u8(2)\n    s += b[i64(y)]\nreturn s", "a: u8[n], b: i64[200]")
    fn, _, left = rewritten(g)
    assert left
    agrees(g, fn, (np.array([0, 255, 7], np.uint8), np.arange(200)))


@pytest.mark.parametrize("k", [0, 1, 2, 5, -1, -3, 2**62, 2**63 - 1, -(2**63)])
def test_clamped_windows_of_any_width(k):
    """Also where i - k wraps around: what is read is there in any case."""
    for name in ("clamped", "clamped by data"):
        f = program(PROVED[name])
        fn, _, left = rewritten(f)
        assert left == 0
        agrees(f, fn, (np.arange(4), np.array([-2, 3, k, 1]), k))
    g = program("return [sum(a[j] for j in range(max(0, i - k), min(n, i + k + 1))) for i in range(n)]")
    assert "check" not in g.show("rewritten")  # ends of ranges that are read in another loop than they are made in
    args = np.arange(4), np.arange(4), k
    np.testing.assert_array_equal(g(*args), g.interpret(*args))


CHECKS = {"union-find": 8, "dijkstra": 8, "bfs": 9, "quicksort": 10, "queens": 1, "lru": 1, "labelling": 2, "lu": 0, "kmp": 6, "knapsack": 2, "suffix array": 18, "a*": 9}


@pytest.mark.parametrize("name", CHECKS)
def test_everyday_programs(name):
    """No more tests are left in checks than these; what reads an index out of an array keeps its own."""
    fn, before, left = rewritten(at.fn(source=EVERYDAY + PROGRAMS[name][0]))
    assert left <= CHECKS[name] < before


def test_elements_are_read_before_the_loop_only_where_they_are_there():
    f = program("s, i = 0, 0\nwhile i < k and s < 100:\n    i += 1\n    if i > 2:\n        s += b[i % n] + a[k - 5]\nreturn s")
    fn, _, left = rewritten(f)
    assert left
    for size, k in ((3, 2), (3, 7), (6, 9), (6, 4), (6, 20)):
        agrees(f, fn, (np.arange(size), np.arange(size), k))


def _walk(r):
    """A random walk of two places through arrays."""

    def number():
        return r.choice(("0", "1", "n - 1", "n", "k", "-1", "n // 2", "2**62", "-2**63 + 1"))

    def place():
        return r.choice(("p", "q", "p + 1", "p - 1", "2 * p + 1", "q - p", "p + q", "(p - 1) // 2", "min(p, q)", "max(q, 0)", "b[p]", "p % n", "i"))

    def test():
        x, y = r.choice(("p", "q", "i", "p + 1", "q - 1", "p + q", "2 * p")), r.choice(("0", "n", "n - 1", "q", "k", "i"))
        one = f"{x} {r.choice(('<', '<=', '>', '>=', '!=', '=='))} {y}"
        return one if r.random() < 0.5 else f"{one} {r.choice(('and', 'or'))} {r.choice(('', 'not '))}(0 <= {place()} < n)" if r.random() < 0.7 else f"0 <= {x} and {x} < n and a[{x}] > 2"

    def lines(depth, pad):
        out = []
        for _ in range(r.randrange(1, 4)):
            way = r.random()
            if way < 0.35 and depth:
                out.append(f"{pad}if {test()}:\n{lines(depth - 1, pad + '    ')}" + (f"\n{pad}else:\n{lines(depth - 1, pad + '    ')}" if r.random() < 0.5 else ""))
            elif way < 0.5:
                out.append(f"{pad}a[{place()}] = i")
            elif way < 0.6:
                out.append(f"{pad}s += a[{place()}]")
            elif way < 0.7 and depth:
                out.append(f"{pad}if {test()}:\n{pad}    break")
            else:
                out.append(f"{pad}{r.choice('pq')} {r.choice(('=', '+=', '-=', '='))} {r.choice((place(), '1', '2', number(), '1'))}")
        return "\n".join(out)

    inner = f"    j = 0\n    while j < 4 and ({test()}):\n        j += 1\n{lines(1, '        ')}\n" if r.random() < 0.5 else ""
    return f"p, q, s, i = {number()}, {number()}, 0, 0\nwhile i < 6 and ({test()}):\n    i += 1\n{lines(2, '    ')}\n{inner}return a, p, q, s"


@pytest.mark.parametrize("seed", range(3))
def test_random_walks(seed):
    r = random.Random(seed)
    for _ in range(8):
        f = program(_walk(r))
        try:
            assert f.type
        except at.Error:
            continue
        fn, _, _ = rewritten(f)
        for size in (0, 1, 4):
            g = np.random.default_rng(size)
            agrees(f, fn, (g.integers(-2, 6, size), g.integers(-2, size + 2, size), int(g.integers(-1, 4))))


UNFILLED = {
    "in a branch": "def f(p: i64, k: i64) -> i64:\n    if p < 1:\n        s = range(2)\n        t = 0\n        s[0] = t\n        v = trunc_l((0, s[0] < 2), 2)\n    else:\n        v = [(0, True)]\n    w = [v[0][1]]\n    for x in w:\n        if x:\n            w[1], w[0] = (True, True)\n    return 0\n",
    "in a branch, of numbers": "def f(p: i64, k: i64) -> i64:\n    t = 0\n    if p < 1:\n        s = [0, 1, 2]\n        s[k] = p + 5\n        v = [s[0], s[1]]\n    else:\n        v = [p, p]\n    for i in range(4):\n        if t < 3:\n            t = t + v[(i + k) % 2]\n    return t\n",
}


@pytest.mark.parametrize("name", UNFILLED)
def test_memory_without_values_is_not_read(name: str) -> None:
    """An element is read before a loop, instead of under a condition in it, only where something was stored in any case."""
    f = at.fn(source=HEAD + UNFILLED[name])
    run = Stages(f).run_rewritten
    for p in (-3, 0, 1, 2):
        for k in (0, 1):
            try:
                expected = f.interpret(p, k)
            except at.Error as error:
                with pytest.raises(at.Error, match=str(error.code)):
                    run((p, k))
            else:
                assert int(run((p, k))[0]) == expected
