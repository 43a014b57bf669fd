"""Opaque parts whose rounds are independent (a histogram per row, a loop over time per column): one round where a loop wants it."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.check.about import about_program
from atoll.check.prove import prove
from atoll.check.sums import Rejected
from atoll.schedule import Schedule
from atoll.schedule import term as tm
from tests.conformance.test_schedules_programs import load

n, m, k = at.sizes("n m k")
SIZES = [(0, 4), (1, 1), (2, 3), (3, 2), (5, 0), (4, 33), (9, 2), (31, 5)]


@at.fn
def counted(keys: i64[n, m]) -> i64[n, 16]:
    return [hist(add, 0, 16, keys[r], [1 for j in range(m)]) for r in range(n)]


@at.fn
def weighted(keys: i64[m], w: f64[m, n]) -> f64[n, 16]:
    h = [hist(add, 0.0, 16, keys, [w[i, c] for i in range(m)]) for c in range(n)]
    return [[h[c, b] * 0.5 for b in range(16)] for c in range(n)]


@at.fn
def heat(u: f32[n, m], steps: i64) -> f32[n, m]:
    def after(row):
        x = row
        for s in range(steps):
            x = [(x[j - 1] if j >= 1 else 0.0) * 0.25 + x[j] * 0.5 + (x[j + 1] if j + 1 < m else 0.0) * 0.25 for j in range(m)]
        return x

    return [after(u[r]) for r in range(n)]


@at.fn
def recurrences(u: f64[n, m]) -> f64[n, m]:
    return [scan(lambda a, b: 0.5 * a + b, 0.0, u[r]) for r in range(n)]


@at.fn
def down_columns(u: f64[m, n]) -> f64[m, n]:
    c = [scan(add, 0.0, [u[i, j] for i in range(m)]) for j in range(n)]
    return [[c[j, i] for j in range(n)] for i in range(m)]


@at.fn
def boxes(u: f64[n, m, 3]) -> f64[n, m, 3]:
    return [[scan(maximum, 0.0, u[i, j]) for j in range(m)] for i in range(n)]


@at.fn
def scaled(u: f64[n, m], w: f64[n]) -> f64[n, m]:
    return [scan(add, w[r], [sqrt(abs(u[r, j])) * w[r] + u[n - 1 - r, j] for j in range(m)]) for r in range(n)]


@at.fn
def twice(u: f64[n, m]) -> f64[n, m]:
    first = [scan(maximum, 0.0, [2.0 * z + r for z in u[r]]) for r in range(n)]
    return [scan(add, 1.0, [first[r, j] - u[r, j] for j in range(m)]) for r in range(n)]


@at.fn
def sorted_rows(u: f64[n, m]) -> f64[n, m]:
    return [sort(u[r]) for r in range(n)]


def part(s: Schedule) -> str:
    """The last opaque part by its name."""
    return [t.names[0].name for _, t in tm.walk(s.program) if isinstance(t, tm.Nest) and t.rows][-1]


def staged(f: Any, loop: str, tail: str | None = None, before: bool = False, parallel: bool = False) -> Schedule:
    s = at.schedule(f)
    x = part(s)
    if before:
        s = s.split(loop, 4, tail=tail or "cut").stage(x, at=f"{loop}_i")
    else:
        s = s.stage(x, at=loop)
        s = s if tail is None else s.split(loop, 4, tail=tail)
    return s.parallel(f"{loop}_o") if parallel else s


def cases() -> list[Schedule]:
    found = []
    for f, loop in ((counted, "r"), (weighted, "c"), (heat, "r"), (recurrences, "r"), (sorted_rows, "i"), (scaled, "r"), (twice, "r")):
        found += [staged(f, loop), staged(f, loop, "cut", parallel=True), staged(f, loop, "guard", parallel=True)]
        found += [staged(f, loop, "cut", before=True, parallel=True), staged(f, loop, "guard", before=True)]
    s = at.schedule(down_columns).reorder("j", "i")
    found += [s.stage(part(s), at="j"), s.stage(part(s), at="j").split("j", 3).parallel("j_o")]
    s = at.schedule(boxes)
    found += [s.stage(part(s), at="i"), s.stage(part(s), at="j"), s.tile(("i", "j"), (2, 3)).stage(part(s), at="j_i"), s.flatten("i", "j").stage(part(s), at="i")]
    example = load("rounds")
    found += [example.per_row(), example.row_after_row()]
    s = at.schedule(recurrences)
    found += [s.partition("r", [1]).stage(part(s), at="r_1"), s.stage(part(s), at="r").assume("n >= 2").partition("r", [1]).unroll("r_0")]
    return found


def given(f: Any, a: int, b: int) -> tuple[Any, ...]:
    r = np.random.default_rng(a + 10 * b)
    match f.name:
        case "histograms":
            return r.integers(0, 16, (a, b + 1)), r.standard_normal((a, b + 1))
        case "counted":
            return (r.integers(0, 16, (a, b)),)
        case "weighted":
            return r.integers(0, 16, b), r.standard_normal((b, a))
        case "heat":
            return r.standard_normal((a, b)).astype(np.float32 if "f32" in str(f.signature) else np.float64), 3
        case "scaled":
            return r.standard_normal((a, b)), r.standard_normal(a)
        case "down_columns":
            return (r.standard_normal((b, a)),)
        case "boxes":
            return (r.standard_normal((a, b, 3)),)
    return (r.standard_normal((a, b)),)


@pytest.mark.parametrize("number", range(len(cases())))
def test_equal_and_accepted(number: int) -> None:
    """The same bits as the program, at all sizes, and a certificate; the whole part is gone."""
    s = cases()[number]
    rounds = [t for _, t in tm.walk(s.program) if isinstance(t, tm.Nest) and t.at]
    args = {x for t in rounds for x in t.args}
    assert rounds and not any(isinstance(t, tm.Nest) and t.rows and not t.at and not args & set(t.names) for _, t in tm.walk(s.program))
    assert "rules and" in s.certificate().check()
    run = s.compile()
    for sizes in SIZES:
        args = given(s.function, *sizes)
        assert np.array_equal(run(*args), s.function.interpret(*args)), sizes


def test_on_threads() -> None:
    u = np.random.default_rng(0).standard_normal((3000, 70))
    run = staged(recurrences, "r", "cut", parallel=True).compile()
    assert np.array_equal(run(u), at.schedule(recurrences).compile()(u))


def test_what_checks_stays_whole() -> None:
    """A part that may fail in a round is run as a whole."""

    @at.fn
    def divided(u: i64[n, m], d: i64[n]) -> i64[n, m]:
        return [scan(lambda a, b: a // d[r] + b, 0, u[r]) for r in range(n)]

    s = at.schedule(divided)
    (nest,) = [t for _, t in tm.walk(s.program) if isinstance(t, tm.Nest)]
    assert nest.rows == 0
    s = s.stage(nest.names[0].name, at="r")  # a copy of the row, as of any value
    assert [t.at for _, t in tm.walk(s.program) if isinstance(t, tm.Nest)] == [()]
    with pytest.raises(at.Error, match="E0702"):
        s.compile()(np.ones((2, 3), np.int64), np.array([1, 0]))


def test_refused() -> None:
    s = at.schedule(recurrences)
    x = part(s)
    with pytest.raises(at.Error, match="each round of r makes"):
        s.stage(x, at="r").reorder("j", "r")
    with pytest.raises(at.Error, match="is not what an opaque part makes"):
        s.rewrite("nest_round", at="r", x="u", index=())
    with pytest.raises(at.Error, match="1 axes whose rounds are independent"):
        s.rewrite("nest_round", at="r", x=x, index=())


def forged(s: Schedule, edit: Any) -> None:
    data = json.loads(json.dumps(s.certificate().data))
    prove(copy.deepcopy(data))
    edit(data)
    with pytest.raises(Rejected):
        prove(data)


def nests(data: dict[str, Any]) -> list[Any]:
    return [t for t in data["T"] if t[0] == "nest"]


def sections(stmts: list[Any]) -> list[Any]:
    found = []
    for x in stmts:
        found += [x] if x[0] == "section" else []
        found += sections(x[5]) if x[0] == "for" else sections(x[2]) + sections(x[3]) if x[0] == "if" else []
    return found


def test_another_round_is_refused() -> None:
    """The loops run the round that the term has, and the term has the round that was read."""
    s = staged(recurrences, "r", "cut")

    def in_loops(data: dict[str, Any]) -> None:
        first, second = sections(data["loops"]["body"])
        first[2] = second[2]

    def in_both(data: dict[str, Any]) -> None:
        one = next(t for t in nests(data) if t[8])
        other = next(t for t in nests(data) if t[8] and t[8] != one[8])
        before = one[8]
        for t in nests(data):
            t[8] = other[8] if t[8] == before else t[8]
        for x in sections(data["loops"]["body"]):
            x[2] = other[8] if x[2] == before else x[2]

    def more_than_axes(data: dict[str, Any]) -> None:
        for t in nests(data):
            t[7] += 2

    def none_are(data: dict[str, Any]) -> None:
        for t in nests(data):
            t[7] = 0

    def of_something_else(data: dict[str, Any]) -> None:
        sections(data["loops"]["body"])[0][3] = ["result"]

    def of_something_else_in_the_term(data: dict[str, Any]) -> None:
        for t in nests(data):
            t[4] = []

    for edit in (of_something_else, of_something_else_in_the_term, in_loops, in_both, more_than_axes, none_are):
        forged(s, edit)


def test_independent_rounds_are_the_programs_word() -> None:
    """That rounds are independent is part of the source term: what says so of other rounds is about another program."""

    @at.fn
    def smoothed(u: f64[n, m]) -> f64[n, m]:
        x = u
        for s in range(3):
            x = [[x[i, j] + (x[i - 1, j] if i >= 1 else 0.0) for j in range(m)] for i in range(n)]
        return [[2.0 * x[i, j] for j in range(m)] for i in range(n)]

    s = at.schedule(smoothed)
    data = json.loads(json.dumps(s.certificate().data))
    for t in nests(data):
        t[7] = 1
    assert "are independent" in prove(data)
    with pytest.raises(Rejected):
        about_program(data, s)


def test_a_check_is_not_dropped() -> None:
    """A step that forgets a part that does more than give values."""
    s = staged(counted, "r")

    def edit(data: dict[str, Any]) -> None:
        k = next(k for k, t in enumerate(data["T"]) if t[0] == "nest" and t[7] == 0)
        data["steps"].append([[], "let_dead", {}, data["T"][k][5], []])
        data["final"] = data["T"][k][5]

    forged(s, edit)
