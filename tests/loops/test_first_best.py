"""The first best by blocks (transform/best_by_blocks.py, idioms/first_best.py): the place that the loop finds, NaN and equal values among them; not where a search goes on from what was found before, nor where the best itself is wanted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.idioms.first_best import first_best
from atoll.loops.transform.best_by_blocks import best_search
from atoll.loops.transform.regroup import neutral
from atoll.sizes import Sym, poly
from atoll.types.dtypes import BOOL, F64, I64, DType
from tests.loops.machine import same
from tests.loops.test_families import why

N, R = Sym("n"), Sym("r")
PLACE, VALUE = lp.Buffer("place", I64, (poly(1),), "temp"), lp.Buffer("value", F64, (poly(1),), "temp")


def search(way: str, dtype: DType, nan: bool = True, best_at: object = None, begin: int = 0, wanted: bool = False) -> tuple[list[lp.Stmt], lp.Buffer]:
    x = lp.Buffer("x", dtype, (poly(N),), "in")
    v, best, at = lp.Var("v", dtype), lp.Var("best", dtype), lp.Var("at", I64)
    better: lp.Expr = lp.Call("lt" if way == "minimum" else "gt", (lp.Use(v), lp.Use(best)), BOOL)
    if dtype.is_float and nan:
        here, had = (lp.Call("isnan", (lp.Use(u),), BOOL) for u in (v, best))
        better = lp.Call("or", (better, lp.Call("and", (here, lp.Call("not", (had,), BOOL)), BOOL)), BOOL)
    take = lp.If((lp.Test("true", None, better),), [lp.Assign(best, lp.Use(v)), lp.Assign(at, lp.Index(poly(R)))])
    loop = lp.For(R, poly(0), poly(N), [lp.Let(v, lp.Load(x, (poly(R),))), take], False)
    first = neutral(way, dtype) if best_at is None else lp.Const(best_at, dtype)
    stmts: list[lp.Stmt] = [lp.Declare(at, lp.Const(begin, I64)), lp.Declare(best, first), loop, lp.Store(PLACE, (poly(0),), lp.Use(at))]
    return [*stmts, *([lp.Store(VALUE, (poly(0),), lp.Use(best))] if wanted else [])], x


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("BEST_SHORT", 3), ("BEST_BLOCK", 4), ("BEST_SHARED", 9), ("FOUND_BLOCK", 2)):
        monkeypatch.setattr(profit, name, value)


@pytest.mark.parametrize("way", ["minimum", "maximum"])
@pytest.mark.parametrize("dtype", [F64, I64])
def test_the_first_of_the_best(way: str, dtype: DType) -> None:
    stmts, x = search(way, dtype)
    said: list[str] = []
    made = first_best(stmts, said)
    assert len(said) == 1
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 14))
        values = rng.integers(-2, 3, n).astype(dtype.numpy)
        if dtype is F64:
            values[rng.random(n) < 0.15] = rng.choice([np.nan, np.inf, -np.inf])
        given = {x: values, PLACE: np.zeros(1, np.int64)}
        assert same(stmts, made, given, {N: n}), f"seed {seed}"


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"nan": False}, "what is better"),
        ({"best_at": 1.5}, "found before"),
        ({"begin": -1}, "found before"),
        ({"wanted": True}, "best itself"),
    ],
)
def test_other_searches_stay(other: dict[str, object], reason: str) -> None:
    stmts, _ = search("minimum", F64, **other)  # type: ignore[arg-type]
    said: list[str] = []
    assert first_best(stmts, said) == stmts and said == []
    assert reason in why(best_search(stmts[2], stmts[:2], stmts[3:]))  # type: ignore[arg-type]


def test_loops_that_are_no_search() -> None:
    stmts, x = search("minimum", I64)
    loop = stmts[2]
    assert isinstance(loop, lp.For)
    value, take = loop.body
    assert isinstance(value, lp.Let) and isinstance(take, lp.If)
    best, at = (s.var for s in take.then if isinstance(s, lp.Assign))

    def refused(first: lp.Stmt, last: lp.Stmt, low: int = 0) -> str:
        return why(best_search(replace(loop, low=poly(low), body=[first, last]), stmts[:2], stmts[3:]))

    assert "first to the last" in refused(value, take, 1)
    assert "first to the last" in refused(lp.Assign(value.var, value.value), take)
    assert "no search" in refused(value, replace(take, orelse=[lp.Assign(at, lp.Const(0, I64))]))
    assert "no search" in refused(value, replace(take, then=[take.then[0], lp.Assign(at, lp.Index(poly(R) + 1))]))
    assert "done twice" in refused(replace(value, value=lp.Index(poly(R))), take)
    assert "depends on what" in refused(replace(value, value=lp.Load(x, (poly(R) - at.atom,))), take)
    assert "depends on what" in refused(replace(value, value=lp.Load(x, (poly(best.atom),))), take)
