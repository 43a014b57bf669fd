"""The prover: what it proves is true (by brute force), and what sizes and indices need, it proves."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atoll.sizes import Poly, Sym, poly, prover
from atoll.sizes.poly import Atom
from atoll.sizes.prover import facts

N, M, I, J = (Sym(name) for name in ("n", "m", "i", "j"))
n, m, i, j = (poly(s) for s in (N, M, I, J))
RANGE = range(-3, 8)


@st.composite
def linear(draw: st.DrawFn) -> Poly:
    p = poly(draw(st.integers(-3, 3)))
    for atom in (n, m, i):
        p = p + atom * draw(st.integers(-2, 2))
    if draw(st.integers(0, 3)) == 0:
        p = p + (draw(st.sampled_from([n, i, n + i])) // draw(st.integers(2, 4))) * draw(st.sampled_from([-1, 1, 2]))
    if draw(st.integers(0, 4)) == 0:
        p = p + n * m * draw(st.sampled_from([-1, 1]))
    return p


@settings(max_examples=120, deadline=None)
@given(st.lists(linear(), min_size=1, max_size=4), linear())
def test_what_is_proved_is_true(known: list[Poly], goal: Poly) -> None:
    context = facts().add(known)
    if not context.proves(goal):
        return
    for values in itertools.product(RANGE, repeat=3):
        env = dict(zip((N, M, I), values, strict=True))
        if all(p.evaluate(env) >= 0 for p in known):
            assert goal.evaluate(env) >= 0, (known, goal, env)


@settings(max_examples=80, deadline=None)
@given(st.lists(linear(), min_size=1, max_size=3), linear())
def test_counterexamples_are_counterexamples(known: list[Poly], goal: Poly) -> None:
    context = facts().add(known)
    found = context.counterexample(goal)
    if found is not None:
        assert all(p.evaluate(found) >= 0 for p in known) and goal.evaluate(found) < 0


INDEX = [n, m, i, n - 1 - i, j, m - 1 - j]


@pytest.mark.parametrize(
    ("known", "goal"),
    [
        ([n], n),
        ([n - 2], n - 1),
        (INDEX, n - i),
        (INDEX, n * m - 1 - (i * m + j)),  # row-major places
        (INDEX, i * m + j),
        ([n, i, n - 1 - i], n - 1 - (n - 1 - i)),  # reversed
        ([n, m, i, n - m - i], n - i),  # windows
        ([4 * n, i, 4 * n - 1 - i], n - 1 - i // 4),  # rows of four
        ([n], n - n // 2),
        ([n - 1], n - 1 - (n - 1) // 2),
        ([n, m - n, i, n - 1 - i], m - 1 - i),
        ([3 * n - 6], n - 2),  # division by the common factor
        ([2 * n - 5], n - 3),  # rounding
    ],
)
def test_what_programs_need_is_proved(known: list[Poly], goal: Poly) -> None:
    assert facts().add(known).proves(goal)


@pytest.mark.parametrize(
    ("known", "goal"), [([n], n - 1), ([n, m], n - m), (INDEX, m - 1 - i), ([n], -n), ([n - m], m - n), ([n], n // 2 - 1)]
)
def test_what_is_false_is_not_proved(known: list[Poly], goal: Poly) -> None:
    assert not facts().add(known).proves(goal)


def test_equalities() -> None:
    context = facts().add([n - 4 * (n // 4), 4 * (n // 4) - n])  # n % 4 == 0
    assert context.proves_equal(4 * (n // 4), n)
    assert not facts().add([n]).proves_equal(4 * (n // 4), n)
    assert facts().add([n - m, m - n]).proves_equal(n, m)


def test_a_wrapped_index_is_in_range_at_once() -> None:
    """What defines a remainder is taken as it stands, whatever else is known."""
    context = facts().add([n, m, i, m - i - 1, (i - n // 2) % 3, -((i - n // 2) % 3), n - 3 * i - 3])
    wrapped = (i * 7 - n // 2 + 1) % m
    for goal in (wrapped, m - 1 - wrapped):
        proof = context.proof(goal)
        assert proof is not None and len(proof.terms) == 1 and proof.cut is None


def test_lemmas_do_not_multiply_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goals that do not hold, under remainders (a stranger's function of 21 lines took 11 s): nodes of all searches are counted."""
    nodes = 0
    plain = prover._candidates

    def counted(ctx: prover.Facts, atom: Atom) -> list[Poly]:
        nonlocal nodes
        nodes += 1
        return plain(ctx, atom)

    monkeypatch.setattr(prover, "_candidates", counted)
    context = facts().add([n, m, i, m - i - 1, (i - n // 2) % 3, -((i - n // 2) % 3), 3 * i + 2, n - 3 * i - 3])
    assert [context.proves(goal) for goal in (i - 1, -i, n - 4, m - 2)] == [False, False, True, False]
    assert nodes < 8000  # it was more than 30000


def test_a_combination_of_facts() -> None:
    """Loops split twice: three lines of arithmetic among facts that mislead elimination; a false goal has no proof."""
    from atoll.sizes import Sym, poly
    from atoll.sizes.combination import combination
    from atoll.sizes.prover import facts

    n, a, b, c = (poly(Sym(x)) for x in "nabc")
    q, at = (n + 2) // 3, b + 4 * a
    ctx = facts((n, a, (n + 11) // 12 - 1 - a, b, 3 - b, c, 2 - c, n - 1 - c - 3 * at))
    proof = combination(ctx, q - 1 - at)
    assert proof is not None
    goal = proof.goal if proof.cut is None else proof.cut * proof.goal + proof.cut - 1
    total = proof.rem
    for mult, fact in proof.terms:
        total = total + mult * fact
    assert proof.scale * goal == total
    assert combination(ctx, q - 2 - at) is None
