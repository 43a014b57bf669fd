"""Projection functors: rows B1 to B14 of docs/sources.md, Pauget, and brute force on small sizes."""

from __future__ import annotations

import itertools

import pytest

from atoll.sizes import Sym, poly
from atoll.views.functor import (
    CATALOGUE,
    Fork,
    IllFormed,
    array_items,
    at_part,
    cut,
    fork,
    functor,
    prim,
    swap,
    view_then,
)
from atoll.views.index_map import IDENTITY, At, Component, IndexMap, compose, index_map, view_index
from atoll.views.overlap import covers, disjoint, includes

n, m, k, d = (poly(Sym(x)) for x in "nmkd")
i, j = poly(view_index(0)), poly(view_index(1))
KNOWN = (n, m, k, d)


def test_B1_reverse_twice_is_the_identity() -> None:
    assert functor(prim("reverse", n), prim("reverse", n)).map == IDENTITY


def test_B2_transpose_twice_is_the_identity() -> None:
    assert functor(prim("transpose", n, m), prim("transpose", m, n)).map == IDENTITY


def test_B3_unzip_uncons_pack() -> None:
    pairs = functor(prim("split", n, 2), prim("transpose", n, 2))
    assert pairs.map == IndexMap((poly(2), n), (At(2 * j + i, 2 * n),))
    halves = view_then(pairs.map, cut(1, 1))
    unzip = at_part(at_part(halves, (0,), prim("extract").map), (1,), prim("extract").map)
    assert unzip == Fork(0, (IndexMap((n,), (At(2 * i, 2 * n),)), IndexMap((n,), (At(2 * i + 1, 2 * n),))))
    uncons = at_part(cut(1, n), (0,), prim("extract").map)
    assert uncons == Fork(0, (IndexMap((), (At(poly(0), n + 1),)), IndexMap((n,), (At(i + 1, n + 1),))))
    pack = functor(prim("window", n * d - d + 1, k), prim("sample", n, d))
    assert pack.map == IndexMap((n, k), (At(i * d + j, n * d - d + k),))


def test_B4_pack_with_step_equal_to_length_is_split() -> None:
    assert functor(prim("window", n * k - k + 1, k), prim("sample", n, k)).map == prim("split", n, k).map


def test_B5_extract_and_single_are_inverse() -> None:
    assert functor(prim("extract"), prim("single")).map == IDENTITY
    assert functor(prim("single"), prim("extract")).map == IDENTITY


def test_B6_unary_arrays_cancel_across_other_axes() -> None:
    assert index_map((n, 1), (At(poly(0), poly(1)),)) == index_map((n,), ())


def test_B7_constant_view_of_a_component_in_two_spellings() -> None:
    first = compose(prim("component", 0, 2).map, prim("repeat", n).map)
    assert first == index_map((n,), (Component(0, 2),))
    every = view_then(prim("repeat", n).map, IndexMap((n,), (At(i, n), Component(0, 2))))  # the first component of each element
    assert every == first


def test_B8_rotation_by_invertible_functors() -> None:
    turn = functor(prim("reverse", n), prim("transpose", n, m), prim("reverse", m), prim("transpose", m, n))
    assert turn.map == IndexMap((n, m), (At(n - 1 - i, n), At(m - 1 - j, m)))
    assert turn.then(turn).map == IDENTITY
    assert turn.invertible and turn.then(turn.inverse()).map == IDENTITY


def test_B9_the_halves_of_a_cut_are_disjoint() -> None:
    halves = cut(n, m)
    assert isinstance(halves, Fork)
    assert disjoint(*halves.branches, KNOWN)  # type: ignore[arg-type]


def test_B10_rows_of_a_window_may_intersect() -> None:
    rows = [functor(prim("window", n, k), prim("index", r, n)).map for r in (0, 1)]
    assert not disjoint(rows[0], rows[1], KNOWN)


@pytest.mark.parametrize(
    ("view", "injective", "surjective", "invertible"),
    [
        (prim("window", n, k), False, True, False),
        (prim("sample", n, k), True, False, False),
        (prim("split", n, k), True, True, False),
        (prim("left", n, m), True, False, False),
        (prim("repeat", n), False, True, False),
        (prim("repeat", 1), False, True, False),
        (prim("reverse", n), True, True, True),
        (prim("transpose", n, m), True, True, True),
        (prim("single"), True, True, True),
        (prim("index", 0, 1), True, True, True),
        (prim("index", 0, n), True, False, False),
        (prim("component", 0, 2), True, False, False),
    ],
)
def test_B11_flags(view, injective: bool, surjective: bool, invertible: bool) -> None:  # type: ignore[no-untyped-def]
    assert (view.injective, view.surjective, view.inverse is not None) == (injective, surjective, invertible)
    chain = functor(view, prim("reverse", n))
    assert (chain.injective, chain.surjective, chain.invertible) == (injective, surjective, invertible)


def test_B11_a_cut_is_bijective_and_has_no_inverse() -> None:
    """Its halves are disjoint and together everything; the way back would need a case distinction, so neither half has one."""
    halves = cut(n, m)
    assert isinstance(halves, Fork)
    first, second = halves.branches
    assert isinstance(first, IndexMap) and isinstance(second, IndexMap)
    assert disjoint(first, second, KNOWN) and covers([first, second], IDENTITY, KNOWN)
    assert prim("left", n, m).inverse is None and prim("right", n, m).inverse is None


def test_B12_ill_formed_functors_are_refused() -> None:
    with pytest.raises(IllFormed, match=r"no component \(3/3\)"):
        fork({0: prim("index", 0, 3).map, 1: prim("index", 1, 3).map}, 3)
    with pytest.raises(IllFormed, match="different data"):
        fork([prim("index", 0, 1).map, prim("index", 1, 2).map, prim("index", 2, 3).map])


def test_B13_a_square_is_not_recognised_as_the_identity() -> None:
    assert index_map((2,), (At(i * i, poly(2)),)) != IDENTITY  # equal on 0 and 1: incomplete, and documented so


def test_B14_local_composition_reverses_every_row() -> None:
    rows = at_part(prim("split", n, k).map, (None,), prim("reverse", k).map)
    assert rows == IndexMap((n, k), (At(i * k - j + k - 1, n * k),))


# -- against the meaning, on small numbers


def image(m: IndexMap, sizes: dict[object, int]) -> list[tuple[object, ...]]:
    shape = [x.evaluate(sizes) for x in m.dims]
    found = []
    for index in itertools.product(*(range(s) for s in shape)):
        env = {**sizes, **{view_index(p): v for p, v in enumerate(index)}}
        found.append(tuple(s.index.evaluate(env) if isinstance(s, At) else s for s in m.path))
    return found


ROWS = {
    "single": (),
    "extract": (),
    "reverse": (n,),
    "transpose": (n, m),
    "window": (n, m),
    "sample": (n, m),
    "split": (n, m),
    "repeat": (n,),
    "left": (n, m),
    "right": (n, m),
}


@pytest.mark.parametrize("name", sorted(ROWS))
@pytest.mark.parametrize(("a", "b"), list(itertools.product(range(1, 4), repeat=2)))
def test_flags_hold_on_small_sizes(name: str, a: int, b: int) -> None:
    view = prim(name, *ROWS[name])
    sizes = {n.single(): a, m.single(): b}
    cells = image(view.map, sizes)
    if view.injective:
        assert len(set(cells)) == len(cells)
    if view.surjective:
        whole = itertools.product(*(range(s.extent.evaluate(sizes)) for s in view.map.path if isinstance(s, At)))
        assert set(cells) == set(whole)
    for cell in cells:
        for step, value in zip(view.map.path, cell, strict=True):
            assert not isinstance(step, At) or 0 <= value < step.extent.evaluate(sizes)  # type: ignore[operator]


CHAINS = [  # each a view of what the one before it makes: 12 elements, 3 rows of 4, ...
    [prim("split", 3, 4), prim("transpose", 3, 4), prim("reverse", 4), prim("index", 1, 4)],
    [prim("window", 10, 3), prim("sample", 4, 3), prim("transpose", 4, 3), prim("reverse", 3)],
    [prim("reverse", 12), prim("left", 6, 6), prim("split", 2, 3), prim("index", 1, 2), prim("repeat", 5)],
    [prim("slice", 2, 8, 12), prim("sample", 3, 3), prim("single"), prim("extract"), prim("reverse", 3)],
]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: " >> ".join(map(repr, c)))
def test_composition_is_associative_and_means_composition(chain: list[object]) -> None:
    """Any bracketing gives one map, and it sends each index where the maps one after another send it (thesis 3.9, 3.10)."""
    maps = [p.map for p in chain]  # type: ignore[attr-defined]
    whole = functor(*chain).map  # type: ignore[arg-type]
    for k in range(1, len(chain)):
        left, right = functor(*chain[:k]).map, functor(*chain[k:]).map  # type: ignore[arg-type]
        assert compose(left, right) == whole
    shape = [d.evaluate({}) for d in whole.dims]
    for index in itertools.product(*map(range, shape)):
        at: tuple[int, ...] = index
        for m_ in reversed(maps):
            used, rest = at[: len(m_.dims)], at[len(m_.dims) :]
            env = {view_index(p): v for p, v in enumerate(used)}
            at = (*(s.index.evaluate(env) for s in m_.path if isinstance(s, At)), *rest)
        env = {view_index(p): v for p, v in enumerate(index)}
        assert tuple(s.index.evaluate(env) for s in whole.path if isinstance(s, At)) == at


def test_every_inverse_undoes_its_primitive() -> None:
    for name, params in ROWS.items():
        inverse = prim(name, *params).inverse
        if inverse is not None:
            assert functor(prim(name, *params), inverse).map == IDENTITY
            assert functor(inverse, prim(name, *params)).map == IDENTITY
    assert set(ROWS) | {"slice", "index", "component"} == set(CATALOGUE)


PIECES = [
    IDENTITY,
    prim("left", 2, 4).map,
    prim("right", 2, 4).map,
    prim("index", 0, 6).map,
    prim("index", 5, 6).map,
    prim("slice", 1, 3, 6).map,
    prim("reverse", 6).map,
    index_map((3,), (At(2 * i, poly(6)),)),
    index_map((3,), (At(2 * i + 1, poly(6)),)),
]


@pytest.mark.parametrize(("first", "second"), list(itertools.product(PIECES, repeat=2)), ids=str)
def test_disjoint_and_includes_are_sound(first: IndexMap, second: IndexMap) -> None:
    whole = [(c,) for c in range(6)]
    a = set(image(first, {})) if first.path else set(whole)
    b = set(image(second, {})) if second.path else set(whole)
    if disjoint(first, second):
        assert not a & b
    if includes(first, second):
        assert b <= a
    if covers([first, second], IDENTITY):
        assert a | b == set(whole)


def test_disjoint_finds_what_there_is_to_find() -> None:
    even, odd = PIECES[-2:]
    assert disjoint(even, odd) and not disjoint(even, even)
    assert includes(IDENTITY, even) and includes(PIECES[6], IDENTITY) and not includes(even, odd)
    assert covers([PIECES[1], PIECES[2]], IDENTITY) and covers([prim("index", 0, 2).map, prim("index", 1, 2).map], IDENTITY)
    assert not covers([PIECES[1], PIECES[4]], IDENTITY)
    parts = [prim("component", c, 2).map for c in (0, 1)]
    assert covers(parts, IDENTITY) and not covers(parts[:1], IDENTITY) and disjoint(*parts)


def test_tuples_of_views_compose() -> None:
    assert view_then(swap(), swap()) == IDENTITY
    assert array_items(2) == Fork(0, (prim("index", 0, 2).map, prim("index", 1, 2).map))
