"""Whether elements of two rounds can be the same: the answers of loops/dependence.py against every round of small nests.

The oracle runs the rounds: which elements each writes and reads, for several sizes. "Apart" must be so in all of them; and for the simple shapes it must be seen.
"""

from __future__ import annotations

import itertools
import random

import pytest

from atoll.loops import ir as lp
from atoll.loops.dependence import accesses, never_meet, place, rounds_apart, small_for_apart
from atoll.loops.ir import Buffer, Const, For, Load, Store, VarAtom
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import F64, I64

N = Sym("n")


def _buffer(name: str, rank: int = 1) -> Buffer:
    return Buffer(name, F64, tuple(poly(N) * 8 for _ in range(rank)), "input")


def _touched(loop: For, env: dict[Sym, int]) -> dict[int, tuple[set[tuple[str, tuple[int, ...]]], set[tuple[str, tuple[int, ...]]]]]:
    """By round: what it writes, and what it reads or writes."""
    found: dict[int, tuple[set[tuple[str, tuple[int, ...]]], set[tuple[str, tuple[int, ...]]]]] = {}

    def at(p: Poly, values: dict[Sym, int]) -> int:
        return p.evaluate(lambda a: values[a])  # type: ignore[index]

    def run(stmts: list[lp.Stmt], values: dict[Sym, int], round_: int) -> None:
        written, touched = found.setdefault(round_, (set(), set()))
        for s in stmts:
            if isinstance(s, For):
                for k in range(at(s.low, values), at(s.high, values)):
                    run(s.body, {**values, s.sym: k}, round_)
            elif isinstance(s, Store):
                here = (s.buffer.name, tuple(at(p, values) for p in s.index))
                written.add(here)
                touched.add(here)
                if isinstance(s.value, Load):
                    touched.add((s.value.buffer.name, tuple(at(p, values) for p in s.value.index)))

    for k in range(at(loop.low, env), at(loop.high, env)):
        run(loop.body, {**env, loop.sym: k}, k)
    return found


def _are_apart(loop: For, n: int) -> bool:
    rounds = _touched(loop, {N: n})
    return all(rounds[a][0].isdisjoint(rounds[b][1]) for a, b in itertools.permutations(rounds, 2))


def _nest(rng: random.Random) -> For:
    """A loop over i, perhaps one over j inside, stores and loads at indices a*i + b*j + c*n + d."""
    i, j = Sym("i"), Sym("j")
    buffers = [_buffer("x"), _buffer("y"), _buffer("z", 2)]

    def index(inside: bool) -> Poly:
        p = poly(i) * rng.choice([0, 1, 1, 1, 2, -1, 3]) + poly(N) * rng.choice([0, 0, 1, 2]) + rng.choice([0, 0, 1, -1, 2, 3])
        return p + poly(j) * rng.choice([0, 1, 1, 2]) if inside else p

    def store(inside: bool) -> Store:
        b, c = rng.choice(buffers), rng.choice(buffers)
        return Store(b, tuple(index(inside) for _ in b.extents), Load(c, tuple(index(inside) for _ in c.extents)))

    body: list[lp.Stmt] = [store(False) for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.6:
        low = rng.choice([poly(0), poly(i), poly(i) + 1])
        body.append(For(j, low, rng.choice([poly(N), poly(3), poly(i)]), [store(True) for _ in range(rng.randint(1, 2))], False))
    return For(i, rng.choice([poly(0), poly(1)]), rng.choice([poly(N), poly(N) - 1]), body or [store(False)], False)


def test_what_is_called_apart_is_apart() -> None:
    counted = {True: 0, False: 0}
    for seed in range(600):
        loop = _nest(random.Random(seed))
        said = rounds_apart(loop, (poly(N),))
        counted[said] += 1
        if said:
            assert all(_are_apart(loop, n) for n in range(6)), f"seed {seed}"
            assert small_for_apart(loop, (poly(N),)) == frozenset()
    assert counted[True] > 60 and counted[False] > 200


def _copy(write: Poly, read: Poly, i: Sym) -> For:
    x = _buffer("x")
    return For(i, poly(0), poly(N), [Store(x, (write,), Load(x, (read,)))], False)


@pytest.mark.parametrize(
    ("write", "read", "apart"),
    [
        ((1, 0, 0), (1, 0, 0), True),  # x[i] = x[i]
        ((1, 0, 0), (1, 0, 1), False),  # x[i] = x[i + 1]
        ((1, 0, 0), (1, 1, 0), True),  # x[i] = x[i + n]
        ((2, 0, 0), (2, 0, 1), True),  # x[2 i] = x[2 i + 1]
        ((2, 0, 0), (2, 0, 2), False),  # x[2 i] = x[2 i + 2]
        ((1, 0, 0), (0, 1, 0), True),  # x[i] = x[n]
        ((0, 0, 0), (1, 0, 1), False),  # x[0] is written by all
        ((-1, 1, -1), (1, 1, 0), True),  # x[n - 1 - i] = x[n + i]
    ],
)
def test_simple_shapes_are_seen(write: tuple[int, int, int], read: tuple[int, int, int], apart: bool) -> None:
    i = Sym("i")
    w, r = (a * poly(i) + b * poly(N) + c for a, b, c in (write, read))
    loop = _copy(w, r, i)
    assert rounds_apart(loop, (poly(N),)) is apart
    assert all(_are_apart(loop, n) for n in range(6)) is apart


def test_variables_that_must_be_small() -> None:
    """x[i] = x[i + v + n] for a variable v >= 0: sums of i64 may wrap around, so v has to be small; nobody's set is changed by asking."""
    i, v = Sym("i"), lp.Var("v", I64)
    loop = _copy(poly(i), poly(i) + poly(v.atom) + poly(N), i)
    known = (poly(N), poly(v.atom))
    assert not rounds_apart(loop, known)
    assert small_for_apart(loop, known) == frozenset({v.atom})
    assert isinstance(v.atom, VarAtom)


def test_private_arrays_do_not_count() -> None:
    i, x, y = Sym("i"), _buffer("x"), _buffer("y")
    loop = For(i, poly(0), poly(N), [Store(x, (poly(0),), Const(1.0, F64)), Store(y, (poly(i),), Load(x, (poly(0),)))], False)
    assert not rounds_apart(loop, ())
    assert rounds_apart(loop, (), frozenset({x}))


def test_places_of_named_rounds() -> None:
    """x[i, j] with j below i, in round k and in round k + 1: the rows differ."""
    i, j, k, z = Sym("i"), Sym("j"), Sym("k"), _buffer("z", 2)
    inner = For(j, poly(0), poly(i), [Store(z, (poly(i), poly(j)), Const(0.0, F64))], False)
    written, read = accesses([inner])
    (access,) = written
    assert not read
    here, there = (place(access, {i: poly(k) + step}, True) for step in (0, 1))
    assert never_meet(here, there, ()) and not never_meet(here, here, ())
    assert place(access, {i: poly(k), j: poly(0)}) is None
