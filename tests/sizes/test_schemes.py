"""Schemes are compared up to a change of variables."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from atoll.sizes import Poly, Sym, poly
from atoll.sizes.schemes import Scheme, equivalent, is_instance, scheme

N, K, D = (Sym(name) for name in "nkd")
n, k, d = poly(N), poly(K), poly(D)


def test_convolution_has_many_spellings() -> None:
    spellings = [scheme([k, n, n - k + 1]), scheme([k, n + k - 1, n]), scheme([k + 1, n + k, n])]
    for a, b in itertools.product(spellings, repeat=2):
        assert equivalent(a, b)


def test_more_and_less_general() -> None:
    assert is_instance(scheme([n, k]), scheme([n, n])) and not is_instance(scheme([n, n]), scheme([n, k]))
    assert is_instance(scheme([n]), scheme([2 * n])) and not is_instance(scheme([2 * n]), scheme([n]))
    assert is_instance(scheme([n]), scheme([5])) and not equivalent(scheme([n]), scheme([5]))
    assert not is_instance(scheme([n]), scheme([n, n]))


def test_held_variables_are_held() -> None:
    assert not is_instance(Scheme(frozenset(), (n,)), scheme([5]))
    assert is_instance(Scheme(frozenset(), (n,)), Scheme(frozenset(), (n,)))


@st.composite
def changes(draw: st.DrawFn) -> dict[Sym, Poly]:
    """A change of variables that can be undone: x becomes x plus something in the others."""
    order = draw(st.permutations([N, K, D]))
    env = {s: poly(s) for s in order}
    for position, s in enumerate(order):
        for other in order[position + 1 :]:
            env[s] = env[s] + poly(other) * draw(st.integers(-2, 2))
        env[s] = env[s] + draw(st.integers(-3, 3))
    return env


@settings(max_examples=100, deadline=None)
@given(changes())
def test_a_change_of_variables_changes_nothing(env: dict[Sym, Poly]) -> None:
    sizes = [n, n + k, d, n - d + 1, k]
    assert equivalent(scheme(sizes), scheme([p.subst(env) for p in sizes]))  # type: ignore[arg-type]
