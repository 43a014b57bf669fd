"""False certificates of compiles: checks that are left out though they may fail (rewrites/needless.py). Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import BODIES, P, forged, v
from tests.check.test_forged_memory import Data, at, positive

GONE = 9  # the site of checks that are left out
FALSE, TRUE = ("const", False, "bool"), ("const", True, "bool")


def without_checks(before: Sequence[Any], sizes: str = "n", **more: Any) -> Data:
    """The certificate that leaves out all checks of one site, and does nothing else."""
    count = -1

    def pairs(body: Sequence[Any]) -> list[Any]:
        nonlocal count
        made = []
        for s in body:
            count += 1
            number = count
            inner = {k: pairs(s[k]) for k in BODIES.get(s[0], ())}
            if s[0] != "check" or s[2] != GONE:
                made.append((tuple(inner.get(k, x) for k, x in enumerate(s)), number))
        return made

    return forged(before, pairs(before), sizes, **more)


def index(p: Any) -> Any:
    return ("index", p)


def check(*tests: Any, site: int = GONE) -> Any:
    return ("check", tests, site)


def between(p: P, n: Any = "n") -> tuple[Any, ...]:
    return ("ge", p), ("ge", v(n) - p - 1)


def going_down(
    start: Any = "i", step: Any = None, least: int = 1, first: Any = None, asked: Any = None, rest: tuple[Any, ...] = (), low: int = 0
) -> Data:
    """j = i; while j >= 1: y[j] is there; j = j - 1."""
    j = v("j")
    body = (
        ("break", (("ge", j - least),)),
        *(() if first is None else (first,)),
        check(*(asked or between(j))),
        ("store", "y", ("j",), at("x", "j")),
        *rest,
        ("assign", "j", step or index(j - 1)),
    )
    return without_checks((("for", "i", low, "n", (("declare", "j", "i64", index(start)), ("forever", body))),))


def counted(bounded: bool) -> Data:
    """k = 0, 1, 2, ...: not negative, unless it wraps around."""
    k = v("k")
    stop = ("ge", v("n") - k - 1) if bounded else ("true", positive(at("c", 0)))
    return without_checks((("declare", "k", "i64", index(0)), ("forever", (("break", (stop,)), check(("ge", k)), ("assign", "k", index(k + 1))))))


def known_by_truth(begin: Any = FALSE, then: Any = None, test: int = 3, again: Any = None, kind: str = "true", wanted: int = 3, orelse: Any = None) -> Data:
    """t is true only where i >= 3."""
    sets = ("if", (("ge", v("i") - test),), (("assign", "t", then or positive(at("x", "i"))),), () if orelse is None else (("assign", "t", orelse),))
    asks = ("if", ((kind, ("use", "t")),), (check(("ge", v("i") - wanted)),), ())
    return without_checks((("for", "i", 0, "n", (("declare", "t", "bool", begin), sets, *(() if again is None else (again,)), asks)),))


def compared(changes: bool, op: str = "lt", wanted: int = 1) -> Data:
    """w < u, and then perhaps w is another number."""
    begin = [("declare", name, "i64", ("cast", at("x", k), "i64")) for k, name in enumerate(("w", "u"))]
    other = (("assign", "w", ("cast", at("x", 2), "i64")),) if changes else ()
    return without_checks((*begin, ("if", (("true", ("call", op, (("use", "w"), ("use", "u")), "bool")),), (*other, check(("ge", v("u") - v("w") - wanted))), ())))


def one_of_two(other: Any = 0, chosen: Any = "j", after: Any = None) -> Data:
    """k is j or 0, both below n."""
    pick = ("if", (("true", positive(at("x", "j"))),), (("assign", "k", index(chosen)),), (("assign", "k", index(other)),))
    body = (("declare", "k", "i64", None), pick, *(() if after is None else (after,)), check(*between(v("k"))), ("store", "y", ("k",), 1.0))
    return without_checks((("for", "j", 0, "n", body),))


def left(early: bool = False, also: bool = False, changes: bool = False) -> Data:
    """What was asked in the round that leaves a loop holds behind it."""
    asked, leave = check(*between(v("k")), site=1), ("break", (("true", positive(at("c", 0))),))
    step, another = ("assign", "k", ("cast", at("a", 0), "i64")), ("break", (("true", positive(at("z", 0))),))
    body = (*((another,) if also else ()), *((leave, asked) if early else (asked, *((step,) if changes else ()), leave)), *(() if changes else (step,)))
    return without_checks((("declare", "k", "i64", ("cast", at("a", 1), "i64")), ("forever", body), check(*between(v("k")))))


def after_a_loop(target: str) -> Data:
    """What was asked before a loop still holds behind it, of what it does not change."""
    begin = [("declare", k, "i64", ("cast", at("a", 0), "i64")) for k in ("k", "m")]
    return without_checks((*begin, check(*between(v("k")), site=1), ("for", "i", 0, "n", (("assign", target, ("cast", at("a", "i"), "i64")),)), check(*between(v("k")))))


def chosen_in_rounds(pick: Any, low: Any = "p") -> Data:
    """The row of the largest: of p and those behind it."""
    test = (("true", ("call", "gt", (at("x", v("i") + v("p")), at("x", "best")), "bool")),)
    asks = check(*between(v("best")))
    body = (asks, ("assign", "best", ("choose", test, index(pick), ("use", "best"))))
    return without_checks((("for", "p", 0, "n", (("declare", "best", "i64", index(low)), ("for", "i", 0, v("n") - v("p"), body), asks, ("store", "y", ("best",), 1.0))),))


def converted(d: str) -> Data:
    b = ("let", "b", "i64", ("cast", ("use", "w"), "i64"))
    return without_checks((b, check(("ge", "b"))), scalars={"w": d})


J = v("j")
def left_out_in_part(asked: tuple[Any, ...] = (0, 1), kept: tuple[int, ...] = (1,), copies: int = 1, value: Any = None, over: bool = False) -> Data:
    """k = min(m, n - 1); check 0 <= k < n, of which only the first is asked."""
    k = v("k")
    tests = tuple((("ge", v("n") - k - 1), ("ge", k), ("ge", k - 1))[t] for t in asked)
    left = tuple((("ge", v("n") - k - 1), ("ge", k), ("ge", k - 1))[t] for t in kept)
    name = ("let", "k", "i64", value or ("call", "min" if not over else "max", (("use", "m"), index(v("n") - 1)), "i64"))
    store = ("store", "y", (0,), at("x", "k"))
    return forged((name, ("check", tests, 0), store), [(name, 0), *[(("check", left, 0), 1)] * copies, (store, 2)], scalars={"m": "i64"})


def remainder(by: Any = 8, wanted: int = 8, d: str = "i64", of: Any = None) -> Data:
    """j % 8 is one of 0, 1, ..., 7."""
    k = v("k")
    value = ("call", "mod", (of or ("use", "m"), ("const", by, "i64") if isinstance(by, int) else index(by)), "i64")
    return without_checks((("let", "k", "i64", value), check(("ge", k), ("ge", P({(): wanted - 1}) - k)), ("store", "y", (0,), ("cast", ("use", "k"), "f64"))), scalars={"m": d})


PART: dict[str, tuple[Callable[[], Data], Callable[[], Data]]] = {
    "the other test": (left_out_in_part, lambda: left_out_in_part(kept=(0,))),
    "the greater one": (left_out_in_part, lambda: left_out_in_part(over=True)),
    "both": (left_out_in_part, lambda: left_out_in_part(kept=())),
    "the one that says more": (lambda: left_out_in_part((0, 1, 2), (2,)), lambda: left_out_in_part((0, 1, 2), (1,))),
    "another test instead": (left_out_in_part, lambda: left_out_in_part(kept=(2,))),
    "of data": (left_out_in_part, lambda: left_out_in_part(value=("cast", at("a", 0), "i64"))),
    "a remainder by another number": (remainder, lambda: remainder(by=9)),
    "a remainder by what may be 0": (remainder, lambda: remainder(by=v("n"), wanted=8)),
    "less is there": (remainder, lambda: remainder(wanted=7)),
}


@pytest.mark.parametrize(("right", "wrong"), PART.values(), ids=PART)
def test_part_of_a_check(right: Callable[[], Data], wrong: Callable[[], Data]) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected):
        prove(wrong())


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data]]] = {
    "down: begun too far": (going_down, lambda: going_down(start=v("i") + 1)),
    "down: begun below": (going_down, lambda: going_down(low=-3, least=-5)),
    "down: up instead": (going_down, lambda: going_down(step=index(J + 1))),
    "down: too many steps": (going_down, lambda: going_down(least=-1)),
    "down: to anywhere": (going_down, lambda: going_down(step=("cast", at("a", "j"), "i64"))),
    "down: changed before it is asked": (going_down, lambda: going_down(first=("assign", "j", index(J - 5)))),
    "down: more is asked": (going_down, lambda: going_down(asked=(("ge", v("n") - J - 2),))),
    "down: another is asked": (going_down, lambda: going_down(asked=(("ge", J - v("n")),))),
    "down: a loop changes it": (going_down, lambda: going_down(rest=(("for", "k", 0, "n", (("assign", "j", index(J + 1)),)),))),
    "down: a branch changes it": (going_down, lambda: going_down(rest=(("if", (("true", positive(at("x", "j"))),), (("assign", "j", index(v("n") + 1)),), ()),))),
    "down: a loop inside is left, and it is changed there": (going_down, lambda: going_down(rest=(("forever", (("assign", "j", index(J + 1)), ("break", (("true", positive(at("c", 0))),)))),))),
    "down: what is not asked is not known": (going_down, lambda: going_down(asked=(("true", positive(at("x", "j"))),))),
    "left: before it was asked": (left, lambda: left(early=True)),
    "left: at two places": (left, lambda: left(also=True)),
    "left: changed before that": (left, lambda: left(changes=True)),
    "counted: it wraps around": (lambda: counted(True), lambda: counted(False)),
    "truth: begins true": (known_by_truth, lambda: known_by_truth(begin=TRUE)),
    "truth: begins with data": (known_by_truth, lambda: known_by_truth(begin=positive(at("z", "i")))),
    "truth: by less": (known_by_truth, lambda: known_by_truth(test=2)),
    "truth: more is asked": (known_by_truth, lambda: known_by_truth(wanted=4)),
    "truth: the contrary": (known_by_truth, lambda: known_by_truth(kind="false")),
    "truth: said again": (known_by_truth, lambda: known_by_truth(again=("assign", "t", TRUE))),
    "truth: in a loop again": (known_by_truth, lambda: known_by_truth(again=("for", "k", 0, "n", (("assign", "t", positive(at("x", "k"))),)))),
    "truth: said otherwise too": (lambda: known_by_truth(orelse=FALSE), lambda: known_by_truth(orelse=positive(at("z", "i")))),
    "compared: numbers that change": (lambda: compared(False), lambda: compared(True)),
    "compared: they may be equal": (lambda: compared(False), lambda: compared(False, "le")),
    "compared: more is asked": (lambda: compared(False), lambda: compared(False, wanted=2)),
    "one of two: the other is not there": (one_of_two, lambda: one_of_two(other="n")),
    "one of two: below": (one_of_two, lambda: one_of_two(other=-1)),
    "one of two: the first is not there": (one_of_two, lambda: one_of_two(chosen=J + 1)),
    "one of two: and then more": (one_of_two, lambda: one_of_two(after=("assign", "k", index(v("k") + 1)))),
    "one of two: by data": (one_of_two, lambda: one_of_two(after=("assign", "k", ("cast", at("a", "j"), "i64")))),
    "behind a loop: of what it changes": (lambda: after_a_loop("m"), lambda: after_a_loop("k")),
    "rounds: one too far": (lambda: chosen_in_rounds(v("i") + v("p")), lambda: chosen_in_rounds(v("i") + v("p") + 1)),
    "rounds: of another range": (lambda: chosen_in_rounds(v("i") + v("p")), lambda: chosen_in_rounds("i", low=-1)),
    "rounds: one before": (lambda: chosen_in_rounds(v("i") + v("p")), lambda: chosen_in_rounds(v("i") - 1)),
    "converted: with a sign": (lambda: converted("u32"), lambda: converted("i32")),
    "converted: as wide": (lambda: converted("u32"), lambda: converted("u64")),
    "converted: from a number with a point": (lambda: converted("bool"), lambda: converted("f32")),
}


@pytest.mark.parametrize(("right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data]) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected, match="a check that may fail is gone"):
        prove(wrong())
