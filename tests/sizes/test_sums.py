"""Sums over ranges in closed form are the sums added up, for every value of the sizes."""

from __future__ import annotations

import random
from fractions import Fraction

from atoll.sizes import Poly, Sym, poly
from atoll.sizes.prover import facts
from atoll.sizes.sums import ONCE, Ratio, Total, clamp, holds, total

n, m, i, j = Sym("n"), Sym("m"), Sym("i"), Sym("j")


def value(r: Ratio, env: dict[Sym, int]) -> Fraction:
    return Fraction(r.num.evaluate(env), r.den)  # type: ignore[arg-type]


def test_triangle() -> None:
    around = facts((poly(n),))
    inside = around.add((poly(i), poly(n) - 1 - i))
    found = total(total(ONCE, j, poly(i) + 1, poly(n), inside), i, poly(0), poly(n), around)
    assert repr(found.num) == "n*n - n" and found.den == 2


def test_what_facts_decide() -> None:
    around = facts((poly(n) - 2,))
    assert clamp(poly(n) - 2, around) == poly(n) - 2
    assert clamp(2 - poly(n), around) == poly(0)
    assert holds(poly(n), known=around) == poly(1)
    assert holds(poly(n), True, around) == poly(0)
    assert repr(clamp(poly(n) - 3, around)) == "max(0, n - 3)"


def test_one_point() -> None:
    """The diagonal of a matrix."""
    around = facts((poly(n),))
    inside = around.add((poly(i), poly(n) - 1 - i))
    found = total(total(ONCE.times(holds(poly(i) - j, True)), j, poly(0), poly(n), inside), i, poly(0), poly(n), around)
    assert found.num == poly(n) and found.den == 1


def test_random_sums() -> None:
    rng = random.Random(0)

    def linear(*syms: Sym) -> Poly:
        return sum((poly(s) * rng.choice([-1, 0, 0, 1]) for s in syms), poly(rng.randint(-3, 3)))

    for _ in range(150):
        low, high, first, last = linear(i, n), linear(i, n, m), linear(n), linear(n, m)
        e = ONCE.times(holds(linear(i, j, n) * rng.choice([1, 1, 2])) + holds(linear(i, j, n), True) * rng.choice([0, 1]) * j + i + rng.choice([0, 1]) * (poly(j) // 3))
        found = total(total(e, j, low, high), i, first, last)
        for env in ({n: 0, m: 0}, {n: 1, m: 2}, {n: 4, m: 5}, {n: 7, m: 0}):
            want = 0
            for a in range(first.evaluate(env), last.evaluate(env)):  # type: ignore[arg-type]
                here = {**env, i: a}
                want += sum(e.num.evaluate({**here, j: b}) for b in range(low.evaluate(here), high.evaluate(here)))  # type: ignore[arg-type]
            assert value(found, env) == want, (low, high, first, last, e)
            moved = found.subst({s: poly(k) for s, k in env.items()})
            assert not moved.num.leaves() and value(moved, {}) == want


def test_what_has_no_formula_stays_a_sum() -> None:
    found = total(ONCE.times(poly(i) // 3), i, poly(0), poly(n))
    assert isinstance(found.num.single(), Total) and value(found, {n: 7}) == 0 + 0 + 0 + 1 + 1 + 1 + 2
