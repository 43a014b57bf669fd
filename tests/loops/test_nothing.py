"""An array of many rows of no elements takes no memory, and no time: rounds that would do nothing are not run. Counted, never timed."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll.ainf.dead import remove_dead
from atoll.ainf.from_core import translate
from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.loops.count import Counting
from atoll.loops.optimise import optimise
from atoll.lower.function import lower
from atoll.runtime.arguments import from_python

HEAD = "import atoll as at\nfrom atoll import *\nn, m, p = at.sizes('n m p')\n"
MANY = np.zeros((1000, 0))
PROGRAMS = {
    "rows of a range": ("def f(x: f64[m], c: i64):\n    return [x for i in range(c)]\n", (np.zeros(0), 1000)),
    "elementwise": ("def f(x: f64[n, m]):\n    return sin(x) * 2.0\n", (MANY,)),
    "two results": ("def f(x: f64[n, m], y: f64[n, m]):\n    return x + y, x * y\n", (MANY, MANY)),
    "no elements in the middle": ("def f(x: f64[n, m, p]):\n    return x + 1.0\n", (np.zeros((1000, 0, 5)),)),
    "no elements at the end": ("def f(x: f64[n, m, p]):\n    return [[sin(r) for r in q] for q in x]\n", (np.zeros((1000, 3, 0)),)),
    "rounds in order": ("def f(x: f64[n, m]):\n    y = x\n    for t in range(3):\n        y = y + x.T.T\n    return y\n", (MANY,)),
    "rows updated": ("def f(x: f64[n, m]):\n    for i in range(n):\n        x[i] = x[i] * 2.0\n    return x\n", (MANY,)),
    "elements updated": ("def f(x: f64[n, m]):\n    for i in range(n):\n        for j in range(m):\n            x[i, j] += 1.0\n    return x\n", (MANY,)),
    "scans": ("def f(x: f64[n, m]):\n    return scan(add, 0.0, x)\n", (MANY,)),
    "sorts": ("def f(x: f64[n, m]):\n    return sort(x)\n", (MANY,)),
    "a product": ("def f(x: f64[n, m], y: f64[m, p]):\n    return x @ y\n", (MANY, np.zeros((0, 0)))),
    "joined": ("def f(x: f64[n, m], y: f64[n, m]):\n    return concat(x, y)\n", (MANY, MANY)),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_rounds_of_nothing(what: str):
    text, args = PROGRAMS[what]
    f = at.fn(source=HEAD + text)
    loops = lower(remove_dead(translate(f.core)))
    optimise(loops)
    given = from_python(f.core, f._arguments(args, {}))
    counting = Counting(loops, [leaf for x in given for leaf in leaves(x)], bind_call(f.core, given))
    results = counting.run()
    assert counting.counts.rounds < 60, counting.counts
    for result, expected in zip(results, leaves(f.interpret(*args)), strict=True):
        assert np.shape(result) == np.shape(expected)


def test_enormous():
    rows = at.fn(source=HEAD + PROGRAMS["rows of a range"][0])
    assert rows(np.zeros(0), 2**40).shape == (2**40, 0)
    double = at.fn(source=HEAD + PROGRAMS["elementwise"][0])
    assert double(np.zeros((2**40, 0))).shape == (2**40, 0)
