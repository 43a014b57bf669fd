"""Ranges in strips, with one thing wrong: none of it is proved."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import atoll as at
from atoll import f64, i64
from atoll.loops import ir as lp
from tests.check.rewrite_mutations import lists, mutant
from tests.check.test_compiles import status
from tests.validate.test_bounded import _changed

n, m = at.sizes("n m")


@at.fn
def parts(x: f64[n], y: f64[n], k: i64, q: i64) -> f64[n]:
    def element(p):
        a, b = (p + 3) // k, (p + 3) % k
        return x[p] * f64(a + b // q) + y[p] * f64(b % q)

    return [element(p) for p in range(n)]


@at.fn
def rows(x: f64[n], k: i64, q: i64) -> f64[n]:
    """The strips in strips, and a sum in a round."""

    def element(p):
        row = p // k
        return sum(x[(p + row // q + r) % n] for r in range(row % q))

    return [element(p) for p in range(n)]


def test_strips_are_proved() -> None:
    assert not status(parts)["strips"] and not status(rows)["strips"]


def _lets(stmts: list[lp.Stmt], name: str, change: Callable[[Any], Any]) -> list[lp.Stmt]:
    """All variables of a name made otherwise."""
    done = 0
    for block in lists(stmts):
        for k, s in enumerate(block):
            if isinstance(s, lp.Let) and s.var.name.startswith(name):
                block[k], done = dataclasses.replace(s, value=change(s.value)), done + 1
    assert done
    return stmts


def _more(e: Any) -> Any:
    return lp.Index(e.poly + 1) if isinstance(e, lp.Index) else lp.Call("add", (e, lp.Const(1, e.dtype)), e.dtype)


def _other(e: Any) -> Any:
    return dataclasses.replace(e, op={"min": "max", "max": "min", "floordiv": "mod"}[e.op])


def _untested(stmts: list[lp.Stmt]) -> list[lp.Stmt]:
    """A divisor may be 0."""
    for block in lists(stmts):
        for k, s in enumerate(block):
            if isinstance(s, lp.If):
                block[k] = dataclasses.replace(s, tests=tuple(t for t in s.tests if t.poly is None or t.poly.constant_term() != -1))
    return stmts


@pytest.mark.parametrize(
    "change",
    [
        *(lambda stmts, name=name: _lets(stmts, name, _more) for name in ("first", "last", "base", "begin", "end")),
        *(lambda stmts, name=name: _lets(stmts, name, _other) for name in ("first", "last", "begin", "end")),
        _untested,
    ],
)
@pytest.mark.parametrize("f", [parts, rows], ids=["parts", "rows"])
def test_strips_made_wrong_are_not(f: Any, change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _changed(monkeypatch, "strips", change)
    assert status(f, "strips")["strips"]


def test_wrong_at_random() -> None:
    found = [mutant(f.core, "strips", seed) for f in (parts, rows) for seed in range(8)]
    assert any(why for _, why, _ in found) and not [x for x in found if x[2].startswith("wrong")]
