"""The validator accepts what the optimiser does and refuses what it must not do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import atoll as at
from atoll import f64
from atoll.loops import ir as lp
from atoll.loops import optimise as table
from atoll.loops.recipes import rows
from atoll.loops.transform import split
from atoll.loops.transform.walk import innermost_first
from atoll.validate.bounded import validate

from .small import CHOICES, small_blocks

n, m = at.sizes("n m")


@at.fn
def distances(a: f64[n, m], x: f64[m]) -> f64[n]:
    return [sum(abs(a[i, j] - x[j]) for j in range(m)) for i in range(n)]


@at.fn
def smooth(a: f64[n, m]) -> f64[n, m]:
    return [[a[i, j] + (a[i, j - 1] if j > 0 else 0.0) + (a[i, j + 1] if j + 1 < m else 0.0) for j in range(m)] for i in range(n)]


@at.fn
def columns(a: f64[n, m]) -> f64[m]:
    return [sum(a[i, j] for i in range(n)) for j in range(m)]


@at.fn
def running(a: f64[n]) -> f64[n]:
    return scan(add, 0.0, a)


@at.fn
def counts(a: f64[n], k: at.idx[m][n]) -> f64[m]:
    return hist(add, 0.0, m, k, a)


@at.fn
def eliminate(a: f64[n, n]) -> f64[n, n]:
    b = a
    for k in range(n):
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                b[i, j] = b[i, j] - b[i, k] * b[k, j]
    return b


@at.fn
def below(a: f64[n, n], b: f64[n, n], x: f64[n]) -> f64[n, n]:
    for j in range(n):
        for i in range(j + 2, n):
            b[i, j] = sum(a[i, r] * x[r] for r in range(n))
    return b


EVERY = [distances, smooth, columns, running, counts, eliminate, below]


def verdicts(f: Any) -> dict[str, Any]:
    with small_blocks():
        return {v.name: v for v in validate(f.core, CHOICES, many=9)}


@pytest.mark.parametrize("f", EVERY, ids=lambda f: f.name)
def test_what_the_optimiser_does_is_right(f: Any) -> None:
    found = verdicts(f)
    assert found and not [v for v in found.values() if v.kind in ("wrong", "unseen")]
    assert any(v.ran for v in found.values())


def test_order_of_sums_is_seen() -> None:
    assert verdicts(running)["scans"].kind == "regrouped"


def _changed(monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[lp.Stmts], list[lp.Stmt]]) -> None:
    """A pass that does what it did, and then something more."""
    at_ = next(k for k, p in enumerate(table.PASSES) if p.name == name)
    good = table.PASSES[at_]
    bad = dataclasses.replace(good, run=lambda fn, w: change(good.run(fn, w)))
    monkeypatch.setattr(table, "PASSES", (*table.PASSES[:at_], bad, *table.PASSES[at_ + 1 :]))


def _loops(stmts: lp.Stmts) -> list[lp.For]:
    return [s for s in lp.walk(stmts) if isinstance(s, lp.For)]


def _with(stmts: lp.Stmts, old: lp.Stmt, new: lp.Stmt) -> list[lp.Stmt]:
    return innermost_first(stmts, lambda s, known: [new] if s is old else None)


def _one_round_less(stmts: lp.Stmts) -> list[lp.Stmt]:
    loop = _loops(stmts)[-1]
    return _with(stmts, loop, dataclasses.replace(loop, high=loop.high - 1))


def _one_round_twice(stmts: lp.Stmts) -> list[lp.Stmt]:
    """The last loop begins one early: where that is a sum into memory, something is added twice."""
    loop = _loops(stmts)[-1]
    return _with(stmts, loop, dataclasses.replace(loop, low=loop.low - 1))


def _everything_independent(stmts: lp.Stmts) -> list[lp.Stmt]:
    return innermost_first(stmts, lambda s, known: [dataclasses.replace(s, parallel=True)] if isinstance(s, lp.For) else None)


@pytest.mark.parametrize(
    ("f", "name", "change"),
    [
        (smooth, "interior", _one_round_less),
        (smooth, "interior", _one_round_twice),
        (distances, "rows", _one_round_less),
        (counts, "privatise", _one_round_less),
        (eliminate, "several_rounds", _everything_independent),
        (running, "scans", _everything_independent),
    ],
)
def test_what_is_wrong_is_refused(f: Any, name: str, change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _changed(monkeypatch, name, change)
    assert verdicts(f)[name].kind == "wrong"


def test_the_corruption_of_rows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks counted without asking whether the range is empty: rounds that do not exist, with negative indices."""
    plain = split.counted

    def careless(name: str, loop: lp.For, width: int, *rest: Any) -> Any:
        made, blocks = plain(name, loop, width, *rest)
        return dataclasses.replace(made, value=lp.Index((loop.high - loop.low) // width)), blocks

    monkeypatch.setattr(rows, "counted", careless)
    assert verdicts(below)["rows"].kind == "wrong"


def test_sums_that_may_not_be_regrouped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table says which passes regroup: one that is not among them may not change a bit."""
    monkeypatch.setattr(table, "PASSES", tuple(dataclasses.replace(p, regroups=False) for p in table.PASSES))
    assert verdicts(running)["scans"].kind == "wrong"
