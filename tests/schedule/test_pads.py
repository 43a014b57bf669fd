"""Pad types: what is known to be padding at the ends of every axis."""

from __future__ import annotations

from typing import Any

import pytest

from atoll.schedule import term as tm
from atoll.schedule.pads import infer
from atoll.sizes import cdiv
from tests.schedule.small_terms import Small, one, view, where


def types(build: Any) -> tuple[str, list[str]]:
    """(the pad type of a term, the truncations it does not justify)."""
    s = Small(build).schedule
    found, violations = infer(s.program, s.theorem.context)
    return str(found), [f"{v.op} {v.amount} of axis {v.axis}, but {v.known} is padding" for v in violations]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda t: t.gen("i", t.n, lambda i: one()), "[..]"),
        (lambda t: t.gen("i", t.n + 5, lambda i: where(one(), i - 2)), "[2 | .. | 0]"),
        (lambda t: t.gen("i", t.n + 5, lambda i: where(one(), t.n - 1 - i)), "[0 | .. | 5]"),
        (lambda t: view("pad_r", t.gen("i", t.n, lambda i: one()), 3), "[0 | .. | 3]"),
        (lambda t: view("pad_l", t.gen("i", t.n, lambda i: one()), 3), "[3 | .. | 0]"),
        (lambda t: view("reverse", view("pad_l", t.gen("i", t.n, lambda i: one()), 3)), "[0 | .. | 3]"),
        (lambda t: view("transpose", t.gen("i", 2, lambda i: view("pad_r", t.gen("j", t.n, lambda j: one()), 1))), "[0 | .. | 1, ..]"),
        (lambda t: tm.Zero((t.n,), tm.dtype(one())), "all padding"),
        (lambda t: tm.Plus(view("pad_r", t.gen("i", t.n, lambda i: one()), 3), view("pad_r", t.gen("j", t.n + 1, lambda j: one()), 2)), "[0 | .. | 2]"),
    ],
)
def test_pad_types(build: Any, expected: str) -> None:
    assert types(build)[0] == expected


def test_truncations_need_padding() -> None:
    assert types(lambda t: view("trunc_r", view("pad_r", t.gen("i", t.n, lambda i: one()), 3), 3)) == ("[..]", [])
    bad = types(lambda t: view("trunc_r", view("pad_r", t.gen("i", t.n, lambda i: one()), 3), 4))[1]
    assert bad == ["trunc_r 4 of axis 0, but 3 is padding"]


def test_the_amount_as_printed_in_the_paper() -> None:
    def tiles(t: Small, amount: Any) -> tm.Term:
        return view("trunc_r", view("flatten", view("tile", t.gen("i", t.n, lambda i: t.v(i)), 4)), amount)

    assert types(lambda t: tiles(t, cdiv(t.n, 4) * 4 - t.n)) == ("[..]", [])
    wrong = types(lambda t: tiles(t, 4 - t.n % 4))[1]
    assert len(wrong) == 1 and wrong[0].startswith("trunc_r")
