"""break, continue, return in loops and else of loops, in all nestings; against Python. And random programs (tests/fuzz/control.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree, stages
from tests.control.count import Count, growth, moved
from tests.fuzz.control import wrong
from tests.oracle import in_python

HEAD = "import atoll as at\nfrom atoll import i64, f64, bool_\nn = at.sizes('n')\n@at.fn\ndef f(m: bool_[n], a: i64[n], b: i64[n]):\n"

PROGRAMS = {
    "find": """    for i in range(n):
        if a[i] == 3:
            return i
    return -1
""",
    "cont": """    s = 0
    for i in range(n):
        if m[i]:
            continue
        s += a[i]
        if s > 20:
            break
        b[i] = s
    else:
        s = -s
    return s, b
""",
    "nested": """    s = 0
    for i in range(n):
        j = i
        while True:
            if j >= n:
                break
            if a[j] == 0 and m[i]:
                return b, 100 + s
            if m[j]:
                if a[j] > 4:
                    j += 2
                    continue
                b[j] += 1
            elif a[j] == 5:
                break
            s += 1
            j += 1
        else:
            s += 1000
        if s > 40:
            break
        b[i] = s
    else:
        s += 7
    return b, s
""",
    "match": """    for i, x in enumerate(a):
        match x % 4:
            case 0:
                continue
            case 1:
                b[i] = 1
            case 2:
                if m[i]:
                    break
            case _:
                b[i] = 2
        b[i] += 5
    return b
""",
    "endless": """    i = 0
    while True:
        i += 1
        if i * i > n:
            return i
""",
    "helper": """    def first(x: i64, lo: i64):
        for k in range(lo, n):
            if a[k] > x:
                return k
            elif a[k] == 0:
                break
        return lo
    return [first(b[i], i) for i in range(n)]
""",
    "slices": """    s = 0
    for i in range(n):
        if sum(a[:i]) > 20:
            break
        s += sum(a[i:]) + a[i]
    return s
""",
    "lists": """    for i in range(n):
        b[i] += 1
        if b[i] > 6:
            return a, b, m[i]
    return b, a, False
""",
    "while else": """    i = 0
    while i < n:
        if a[i] == 7:
            break
        i += 1
    else:
        i = -1
    return i
""",
    "for else returns": """    for i in range(n):
        for j in range(i):
            if a[i] == a[j]:
                break
        else:
            b[i] = -1
            if m[i]:
                continue
            return b, i
    return b, n
""",
    "break in else of inner": """    s = 0
    for i in range(n):
        for x in a:
            if x == i:
                s += x
                break
        else:
            if m[i]:
                break
            s -= 1
        b[i] = s
    return b, s
""",
    "steps back": """    for i in range(n - 1, -1, -1):
        if m[i]:
            b[i] += 1
            continue
        if a[i] < 2:
            break
        b[i] -= a[i]
    return b
""",
    "zip and enumerate": """    s = 0
    for i, (x, y) in enumerate(zip(a, b)):
        if x == y:
            return i, s
        if x > y and m[i]:
            continue
        s += x * y
    return -1, s
""",
    "local function in a comprehension": """    def run(lo: i64, limit: i64 = 5):
        s = 0
        for k in range(lo, n):
            if not m[k]:
                continue
            s += a[k]
            if s > limit:
                return k
        return -s
    return [run(i) for i in range(n)], [run(i, limit=x) for i, x in enumerate(b)]
""",
    "statements after": """    s = 0
    for i in range(n):
        s += a[i]
        if s > 9:
            return b, s
        b[i] = s
    for i in range(n):
        if b[i] > 3:
            b[i] = 0
        elif m[i]:
            return a, -s
    return b, 0
""",
    "many guards": """    s = 0
    for i in range(n):
        if a[i] == 0 and b[i] == 0:
            continue
        s += 0
        if a[i] == 1 and b[i] == 0:
            continue
        s += 1
        if a[i] == 2 and b[i] == 0:
            continue
        s += 2
        if a[i] == 3 and b[i] == 1:
            continue
        s += 3
        if a[i] == 4 and b[i] == 1:
            continue
        s += 4
        if a[i] == 5 and b[i] == 1:
            continue
        s += 5
        if a[i] == 6 and b[i] == 2:
            continue
        s += 6
        if a[i] == 7 and b[i] == 2:
            continue
        s += 7
        if a[i] == 8 and b[i] == 2:
            continue
        s += 8
        if a[i] == 0 and b[i] == 3:
            continue
        s += 9
        if a[i] == 1 and b[i] == 3:
            continue
        s += 10
        if a[i] == 2 and b[i] == 3:
            continue
        s += 11
        if a[i] == 3 and b[i] == 4:
            continue
        s += 12
        if a[i] == 4 and b[i] == 4:
            continue
        s += 13
        if a[i] == 5 and b[i] == 4:
            continue
        s += 14
        if a[i] == 6 and b[i] == 5:
            continue
        s += 15
        if a[i] == 7 and b[i] == 5:
            continue
        s += 16
        if a[i] == 8 and b[i] == 5:
            continue
        s += 17
        if a[i] == 0 and b[i] == 6:
            continue
        s += 18
        if a[i] == 1 and b[i] == 6:
            continue
        s += 19
        if a[i] == 2 and b[i] == 6:
            continue
        s += 20
        if a[i] == 3 and b[i] == 7:
            continue
        s += 21
        if a[i] == 4 and b[i] == 7:
            continue
        s += 22
        if a[i] == 5 and b[i] == 7:
            continue
        s += 23
        if a[i] == 6 and b[i] == 8:
            continue
        s += 24
        if a[i] == 7 and b[i] == 8:
            continue
        s += 25
        if a[i] == 8 and b[i] == 8:
            continue
        s += 26
        if a[i] == 0 and b[i] == 9:
            continue
        s += 27
        if a[i] == 1 and b[i] == 9:
            continue
        s += 28
        if a[i] == 2 and b[i] == 9:
            continue
        s += 29
    return s
""",
    "bound or left": """    s = 0
    for i in range(n):
        if a[i] > 6:
            u, v = 1, i
        elif a[i] > 4:
            continue
        elif m[i]:
            match b[i] % 3:
                case 0:
                    u, v = 2, a[i]
                case 1:
                    break
                case _:
                    continue
        else:
            u, v = b[i], 3
        if u != v:
            s += u
            b[i] = v
    return s, b
""",
    "the round's name is bound before": """    i = 5
    for i in range(n):
        if a[i] > 6:
            return i
    return -1
""",
}


def arguments(size: int) -> tuple[Any, ...]:
    g = np.random.default_rng(size)
    return g.random(size) < 0.5, g.integers(0, 9, size), g.integers(0, 9, size)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_as_in_python(name: str) -> None:
    text = HEAD + PROGRAMS[name]
    f, reference = at.fn(source=text), in_python(text, "f")
    for size in (0, 1, 2, 3, 5, 8, 20):
        args = arguments(size)
        reference.__globals__["n"] = size
        expected = reference(*args)
        value = agree(f, *args, compiled=size == 8)
        for x, y in zip(value, expected, strict=True) if isinstance(expected, tuple) else [(value, expected)]:
            assert np.array_equal(x, np.asarray(y).reshape(np.shape(x))), (name, size)
    assert max(growth(f, arguments, (32, 64, 128))) < 2.8 or name in ("endless", "slices")
    assert "every round" not in str(f.memory())
    stages.cache_clear()


def test_what_a_round_binds_before_it_reads_is_its_own() -> None:
    """A name that had a value before the loop is no state of it where every path binds it or leaves: s stays an integer, as in Python."""
    body = "    u = 0.5\n    t = u\n    s = 0\n    for x in a:\n        if x > 5:\n            u = 1\n        elif x > 3:\n            continue\n        else:\n            u = 2\n        s += u\n    return s, t\n"
    f = at.fn(source=HEAD + body)
    assert f.type.endswith("-> (i64, f64)")
    value, _ = f.interpret(np.ones(4, bool), np.array([6, 4, 1, 0]), np.zeros(4, np.int64))
    assert value == 5


def test_some_path_that_goes_on_does_not_bind() -> None:
    for last in ("elif x > 1:\n            u = 2", "else:\n            if m[x]:\n                continue"):
        text = f"{HEAD}    s = 0\n    for x in a:\n        if x > 5:\n            u = 1\n        elif x > 3:\n            continue\n        {last}\n        s += u\n    return s\n"
        with pytest.raises(at.Error, match="E0110"):
            at.fn(source=text)


def test_a_round_that_is_left_computes_nothing_else() -> None:
    """What the other branches bind is not made in a round that leaves."""
    body = "    s = 0\n    for i in range(n):\n        if a[i] > 5:\n            row = sort([v * i for v in b])\n        elif a[i] > 3:\n            continue\n        else:\n            row = scan(add, 0, [v + i for v in b])\n        s += row[0] + row[n - 1]\n    return s\n"
    f = at.fn(source=HEAD + body)
    assert moved(f, np.ones(64, bool), np.full(64, 4), np.arange(64)) <= 16 < 64 * 64 < moved(f, np.ones(64, bool), np.full(64, 2), np.arange(64))


def test_a_loop_that_is_left_stops() -> None:
    """Counted: no round after the one that leaves."""
    f = at.fn(source=HEAD + "    for i in range(n):\n        b[i] = 1\n        if a[i] == 3:\n            break\n    return b")
    _, loops = stages(f)
    a = np.zeros(1000, np.int64)
    a[4] = 3
    run = Count(loops, [a < 1, a, a], {loops.sizes[0]: 1000}, 1000)
    run.run()
    assert run.moved <= 8 * (1000 + 5)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(0, 24, 4))
def test_random_programs(seed: int) -> None:
    for one in range(seed, seed + 4):
        found = wrong(one, sizes=(1, 3, 6))
        assert not found, found
