"""Size inference: isolated unknowns, division, decomposition by rigid symbols, levels (Pauget, chapter 2 and appendix A.1)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atoll.sizes import Poly, Sym, poly
from atoll.sizes.solver import Solver


class Case:
    """A solver with named unknowns and rigid symbols."""

    def __init__(self, unknowns: dict[str, int], rigid: dict[str, int] | None = None) -> None:
        self.solver: Solver[str] = Solver()
        self.of = {name: self.solver.fresh(name, level) for name, level in unknowns.items()}
        for name, level in (rigid or {}).items():
            sym = Sym(name)
            self.solver.rigid[sym] = level
            self.of[name] = poly(sym)

    def __getitem__(self, name: str) -> Poly:
        return self.of[name]

    def equate(self, left: Poly, right: Poly) -> None:
        self.solver.equate(left, poly(right), "test")

    def value(self, name: str) -> Poly:
        return self.solver.resolve(self.of[name])

    @property
    def left_over(self) -> list[Poly]:
        self.solver.propagate()
        return [self.solver.resolve(e.left - e.right) for e in self.solver.pending]


def test_an_isolated_unknown_is_eliminated() -> None:
    c = Case({"x": 0, "y": 0}, {"n": 0})
    c.equate(c["x"] + 2, c["n"])
    c.equate(c["y"], c["x"] * 3)
    assert c.value("x") == c["n"] - 2 and c.value("y") == 3 * c["n"] - 6 and not c.left_over


def test_a_simple_equation_unlocks_a_harder_one() -> None:
    c = Case({"x": 0, "y": 0})
    c.equate(c["x"] * c["y"], poly(12))
    assert len(c.left_over) == 1
    c.equate(c["x"], poly(3))
    assert c.value("y") == poly(4)


def test_common_factors_are_divided_out() -> None:
    c = Case({"x": 0})
    c.equate(2 * c["x"], poly(4))
    assert c.value("x") == poly(2)


def test_an_equation_without_solution_is_seen() -> None:
    c = Case({"x": 0})
    c.equate(3 * c["x"], poly(4))
    (left,) = c.left_over
    assert c.solver.impossible(left)
    assert not c.solver.impossible(2 * c["x"] - 4) and c.solver.impossible(poly(1))


def test_nothing_is_guessed() -> None:
    c = Case({"x": 0, "y": 0})
    c.equate(c["x"] * c["y"], poly(4))
    assert c.left_over == [c["x"] * c["y"] - 4]


def test_a_rigid_symbol_does_not_escape() -> None:
    c = Case({"outer": 0, "inner": 2}, {"i": 1})
    c.equate(c["outer"], c["i"])
    assert c.left_over  # outer may not mention i
    c.equate(c["inner"], c["i"])
    assert c.value("inner") == c["i"]


def test_an_unknown_that_stands_for_an_outer_one_keeps_its_level() -> None:
    c = Case({"outer": 0, "inner": 2}, {"i": 1})
    c.equate(c["outer"], c["inner"] + 1)
    c.equate(c["inner"], c["i"])
    assert c.left_over  # through inner, outer would mention i


def test_decomposition_by_powers_of_a_rigid_symbol() -> None:
    c = Case({"a": 0, "b": 0}, {"i": 1})
    c.equate(c["a"] * c["i"] * c["i"] + c["b"] * c["i"], 2 * c["i"] * c["i"] + 5 * c["i"])
    assert c.value("a") == poly(2) and c.value("b") == poly(5)


def test_decomposition_waits_while_an_inner_unknown_may_mention_the_symbol() -> None:
    c = Case({"inner": 2, "outer": 0}, {"i": 1})
    c.equate(7 * (c["i"] - c["inner"]), c["outer"])
    assert c.left_over
    c.equate(c["inner"], c["i"] - 6)
    assert c.value("outer") == poly(42) and not c.left_over


# -- brute force

NAMES = ("x", "y", "z")


@st.composite
def systems(draw: st.DrawFn) -> list[tuple[dict[tuple[str, ...], int]]]:
    monomials = [(), ("x",), ("y",), ("z",), ("x", "y"), ("y", "z")]
    return [
        ({mono: draw(st.integers(-3, 3)) for mono in draw(st.lists(st.sampled_from(monomials), min_size=1, max_size=4, unique=True))},)
        for _ in range(draw(st.integers(1, 3)))
    ]


def _poly(c: Case, terms: dict[tuple[str, ...], int]) -> Poly:
    total = poly(0)
    for mono, coef in terms.items():
        term = poly(coef)
        for name in mono:
            term = term * c[name]
        total = total + term
    return total


@settings(max_examples=150, deadline=None)
@given(systems())
def test_what_is_found_is_most_general(system: list[tuple[dict[tuple[str, ...], int]]]) -> None:
    """A valuation solves the equations exactly when it agrees with what was found and solves what is left over."""
    c = Case(dict.fromkeys(NAMES, 0))
    equations = [_poly(c, terms) for (terms,) in system]
    for p in equations:
        c.equate(p, poly(0))
    left_over = c.left_over
    syms = {name: c[name].single() for name in NAMES}
    for values in itertools.product(range(-4, 5), repeat=3):
        env = {syms[name]: v for name, v in zip(NAMES, values, strict=True)}
        solves = all(p.evaluate(env) == 0 for p in equations)  # type: ignore[arg-type]
        agrees = all(c.value(name).evaluate(env) == env[syms[name]] for name in NAMES)  # type: ignore[arg-type]
        rest = all(p.evaluate(env) == 0 for p in left_over)  # type: ignore[arg-type]
        assert solves == (agrees and rest)


@settings(max_examples=80, deadline=None)
@given(systems())
def test_what_is_called_impossible_is(system: list[tuple[dict[tuple[str, ...], int]]]) -> None:
    c = Case(dict.fromkeys(NAMES, 0))
    for (terms,) in system:
        p = _poly(c, terms)
        if c.solver.impossible(p):
            syms = [c[name].single() for name in NAMES]
            for values in itertools.product(range(8), repeat=3):  # sizes are not negative
                assert p.evaluate(dict(zip(syms, values, strict=True))) != 0  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [200])
def test_long_chains_are_quick(count: int) -> None:
    import time

    c = Case({f"x{k}": 0 for k in range(count + 1)})
    start = time.perf_counter()
    for k in range(count):
        c.equate(c[f"x{k}"], c[f"x{k + 1}"] + 1)
    c.equate(c[f"x{count}"], poly(0))
    assert c.value("x0") == poly(count)
    assert time.perf_counter() - start < 20
