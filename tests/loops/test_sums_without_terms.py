"""A sum that a test on indices leaves without terms in a part of the range is not run there, where nobody reads it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import atoll as at
from atoll.check.compiled import make_data
from atoll.loops import ir as lp
from atoll.loops.transform.cut import without_terms
from atoll.sizes import Sym, poly
from atoll.types.dtypes import F64

HEAD = "import atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n"
PROGRAMS = {  # each of a: f64[n, m], c: f64[n, n]
    "half of a square": "[[c[i, j] + 2.0 * sum(a[j, p] * a[i, p] + a[j, p] for p in range(m)) if j <= i else c[i, j] for j in range(n)] for i in range(n)]",
    "the other half": "[[c[i, j] * sum(a[j, p] - a[i, p] for p in range(m)) if j > i + 1 else 1.0 for j in range(n)] for i in range(n)]",
    "all but an edge": "[[sum(a[i, p] / c[j, j] for p in range(m)) if j >= 2 else -1.0 for j in range(n)] for i in range(n)]",
    "read where it is empty": "[[1.0 / (1.0 + sum(a[i, p] * c[i, j] for p in range(m) if j >= 1)) for j in range(n)] for i in range(n)]",
    "largest": "[[max((a[i, p] * c[i, j] for p in range(m) if j < i), default=-7.0) for j in range(n)] for i in range(n)]",
    "a product": "[[prod([a[i, p] + c[i, j] for p in range(m)]) if i + j >= n else c[i, j] for j in range(n)] for i in range(n)]",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_against_the_interpreter(what: str):
    f = at.fn(source=HEAD + f"def f(a: f64[n, m], c: f64[n, n]):\n    return {PROGRAMS[what]}\n")
    r = np.random.default_rng(3)
    for n in (0, 1, 2, 3, 4, 5, 9):
        for m in (0, 1, 3, 15, 16, 17):
            a, c = r.random((n, m)), r.random((n, n)) + 0.5
            np.testing.assert_allclose(f(a, c), f.interpret(a, c), rtol=1e-12, err_msg=f"{what} {n} {m}")


def test_no_sum_is_left_where_it_has_no_terms():
    f = at.fn(source=HEAD + f"def f(a: f64[n, m], c: f64[n, n]):\n    return {PROGRAMS['half of a square']}\n")
    lines = f.show("rewritten").splitlines()
    for line, below in pairwise(lines):
        if "accumulate" in line:
            assert len(below) - len(below.lstrip()) > len(line) - len(line.lstrip()), f"{line} has no terms"


@pytest.mark.parametrize("what", PROGRAMS)
def test_certificates_are_complete(what: str):
    f = at.fn(source=HEAD + f"def f(a: f64[n, m], c: f64[n, n]):\n    return {PROGRAMS[what]}\n")
    assert [(r["name"], r["why"]) for r in make_data(f.core, bounded=False)["rewrites"] if r["why"]] == []


def _sum(body: lp.Stmts) -> tuple[lp.Var, lp.Accumulate]:
    s = lp.Var("s", F64)
    return s, lp.Accumulate(Sym("r"), poly(0), poly(Sym("m")), body, [lp.Acc(s, "add")])


def test_what_becomes_of_it():
    _, empty = _sum([])
    _, other = _sum([lp.Let(lp.Var("x", F64), lp.Const(1.0, F64))])
    assert without_terms([empty, other]) == []


def test_what_is_left_alone():
    """One that is read, one that a later statement gives another value, and one that has terms."""
    s, empty = _sum([])
    read: list[lp.Stmt] = [empty, lp.Let(lp.Var("x", F64), lp.Use(s))]
    assert without_terms(read) == read
    again: list[lp.Stmt] = [empty, lp.Assign(s, lp.Const(1.0, F64))]
    assert without_terms(again) == again
    t, full = _sum([])
    full = replace(full, body=[lp.Add(t, "add", lp.Const(1.0, F64))])
    assert without_terms([full]) == [full]
