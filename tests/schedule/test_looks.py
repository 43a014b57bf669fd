"""Elements looked up by data (`t[ix[j]]`): moved by every rule that moves loops, never looked into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64, i32, i64
from atoll.schedule import Schedule
from atoll.schedule import term as tm
from tests.conformance.test_schedules_programs import load

n, m, k = at.sizes("n m k")
lookup = load("lookup")


@at.fn
def chained(t: f64[n], u: i32[m], ix: i64[k]) -> f64[k]:
    y = [sqrt(abs(x)) for x in t]
    return [(y[u[ix[j - 1]]] if j >= 1 else 1.0) + y[u[ix[j]]] for j in range(k)]


@at.fn
def asked(t: f64[n], ix: i64[m]) -> f64[m]:
    return [t[ix[j] - 1] if 1 <= ix[j] and ix[j] <= n else 7.0 for j in range(m)]


@at.fn
def picked(t: f64[n, m], ix: i64[k]) -> f64[k, m]:
    return [[t[ix[i], j] for j in range(m)] for i in range(k)]


def cases() -> list[tuple[Schedule, int]]:
    """Schedules, with how many opaque parts they have (the checks of the program, which stay)."""
    found = [(s, 1) for s in (lookup.plain(), lookup.tiled(), lookup.by_columns(), lookup.plain().split("p", 4, tail="guard"))]
    found += [(lookup.plain().reassociate("p", 4), 1), (at.schedule(asked).split("j", 4).stage("ix", at="j_o"), 0)]
    found += [(at.schedule(chained), 4), (at.schedule(chained).partition("j"), 4), (at.schedule(chained).split("j", 3, tail="guard").parallel("j_o"), 4)]
    found += [(at.schedule(asked), 0), (at.schedule(asked).split("j", 3).vectorize("j_i", 2), 0), (at.schedule(asked).pad("j", 4), 0)]
    found += [(at.schedule(picked).reorder("j", "i").vectorize("i", 4), 1), (at.schedule(picked).tile(("i", "j"), (2, 3)), 1)]
    return found


def arguments(f: Any, a: int, b: int, c: int) -> tuple[Any, ...]:
    r = np.random.default_rng(a + 10 * b + 100 * c)
    match f.name:
        case "rows":
            return r.standard_normal(c), r.integers(0, c, (a, b)), r.standard_normal((a, b))
        case "chained":
            return r.standard_normal(a), r.integers(0, a, b).astype(np.int32), r.integers(0, b, c)
        case "asked":
            return r.standard_normal(a), r.integers(-3, a + 3, b)
    return r.standard_normal((a, b)), r.integers(0, a, c)


@pytest.mark.parametrize("number", range(len(cases())))
def test_equal_and_accepted(number: int) -> None:
    """The same bits as the program (but for the regrouped sum), and a certificate."""
    s, opaque = cases()[number]
    assert any(isinstance(t, tm.Look) for _, t in tm.walk(s.program))
    assert sum(isinstance(t, tm.Nest) for _, t in tm.walk(s.source.term)) == opaque
    assert "rules and" in s.certificate().check()
    run = s.compile()
    for sizes in ((3, 7, 5), (1, 1, 1), (4, 6, 9), (9, 4, 2)):
        given = arguments(s.function, *sizes)
        got, want = run(*given), s.function.interpret(*given)
        assert np.allclose(got, want) if "reassociate" in s.licences else np.array_equal(got, want)


def test_checks_stay() -> None:
    """An index out of range is the program's error, whatever the schedule."""
    v, columns, w = np.ones(3), np.array([[0, 3]]), np.ones((1, 2))
    for call in (lookup.rows, lookup.tiled().compile()):
        with pytest.raises(at.Error, match="E0701"):
            call(v, columns, w)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: lookup.plain().stage("v", at="i"), "E0503: .*v is looked up there by data: no part of it is known to be enough"),
    (lambda: at.schedule(chained).inline("y"), "E0503: .*y is looked up by data: which element that is"),
    (lambda: at.schedule(chained).roll("y", "j"), "E0503: .*(y is looked up by data|not read in j alone)"),
    (lambda: lookup.plain().split("p", 8, tail="perfect"), r"E0501: .*m % 8 == 0 does not follow(.|\n)*known: m >= 0(.|\n)*it fails for m = "),
    (lambda: lookup.plain().vectorize("p", 4), "E0503: .*p is a sum"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number: int) -> None:
    step, why = REFUSED[number]
    with pytest.raises(at.Error, match=why):
        step()
