"""Local arrays whose lifetimes do not meet share memory, and as little of it as equal arrays can."""

from __future__ import annotations

import random

import pytest

import atoll as at
from atoll.loops import ir as lp
from atoll.madl.c_file import CFile, Options
from atoll.madl.share import buffers, share
from tests.madl.harness import agree, last


def random_chain(rng: random.Random) -> str:
    """Arrays made of earlier ones, some needed much later."""
    lines, names = [], ["x"]
    for k in range(rng.randint(3, 8)):
        a, b = rng.choice(names[-3:]), rng.choice(names)
        rows = 4 if rng.random() < 0.7 else 6
        if rows == 4:
            lines.append(f"forward ([p] = {a}4) ([q] = {b}4) returns (t{k} = [r]): r = p*{k + 2} - q end; t{k}4 = t{k};")
        else:
            lines.append(f"forward ([p] = {a}4) ([q] = {b}4) returns (u{k} = [r]): r = p - q*{k + 1} end; t{k} of [6]int = !(u{k} ++ [|{k}, 7|]); (t{k}4 of [4]_) ++ _ = t{k};")
        names.append(f"t{k}")
    return "let f (x of [4]int) returns (y of [4]int): x4 = x; " + " ".join(lines) + f" y = !{names[-1]}4"


@pytest.mark.parametrize("seed", range(12))
def test_sharing_changes_no_value(seed: int) -> None:
    op = last(random_chain(random.Random(seed)))
    agree(op, seed)


def lifetimes(body: list[object]) -> list[tuple[int, int, lp.Buffer]]:
    made = [s.buffer for s in body if isinstance(s, lp.Alloc) and s.buffer.extents]
    found = []
    for b in made:
        used = [k for k, s in enumerate(body) if not isinstance(s, lp.Alloc) and b in set(buffers(s))]
        if used:
            found.append((used[0], used[-1], b))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_equal_arrays_take_no_more_than_live_at_once(seed: int) -> None:
    lines = [f"forward ([p] = t{k - 1 if k else 0}) returns (t{k + 1} = [r]): r = p + {k} end;" for k in range(6)]
    op = last("let f (x of [4]int) returns (y): t0 = x; " + " ".join(lines) + f" forward ([p] = t6) ([q] = t{seed % 6}) returns (y = [r]): r = p*q")
    fn = CFile("f", [op], Options()).lowered.operator(op).cycle
    lives = lifetimes(fn.body)
    most = max((sum(first <= k <= last_ for first, last_, _ in lives) for k in range(len(fn.body))), default=0)
    assert share(fn.body).bytes(fn.body) == most * 16
    sharing = share(fn.body)
    for first, last_, b in lives:
        for other_first, other_last, other in lives:
            if b is not other and sharing.home.get(b, b) is sharing.home.get(other, other):
                assert last_ < other_first or other_last < first
    agree(op, seed)


def test_kalman_needs_less() -> None:
    from pathlib import Path

    nd = at.madl(Path(__file__).parents[2] / "examples" / "madl" / "kalman.madl")
    text = nd.kalman.c()
    assert "#define KALMAN_STACK_BYTES 352" in nd.c_file().header()
    assert "double tmp[4][4]; /* later hp */" in text
