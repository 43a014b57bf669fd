"""False certificates of compiles: filters in blocks. Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged, v

Data = dict[str, Any]
ZERO = ("const", 0, "i64")


def at(b: str, *index: Any) -> Any:
    return ("load", b, index)


def in_blocks(size: int = 4, long: Any = "n", first: Any = ZERO, begun: bool = True, filled: bool = False, op: str = "gt", source: str = "x", helper: str = "compress", last: Any = None, order: bool = False,
    test: str = "x", stored: Any = None, copied: bool = True, used: bool = False, extent: Any = "n", told: bool = True, reads: str = "starts", step: Any = 1, apart: bool = True, next_: Any = 1, from_: Any = 4, grown: bool = False) -> Data:
    """What is positive in x is kept."""
    e = at("x", "r") if stored is None else stored
    body = ("if", (("true", ("call", op, (at(test, "r"), 0.0), "bool")),), (("store", "y", ("c",), e), ("assign", "c", ("index", v("c") + step))), ())
    fill = ("for", "q", 0, "n", (("store", "y", ("q",), 7.0),))
    room = ("alloc", "w", "f64", ("c",))
    copy = ("chunks", "lo3", "hi3", "c", (("for", "i", "lo3", "hi3", (("store", "w", ("i",), at("y", "i")),), True, 0, False, False),), [], [], [])
    end = (("store", "z", (0,), at("y", 0)),) if used else ()
    head = (*((("declare", "m", "i64", ("index", v("n") - 1)),) if grown else ()), ("alloc", "y", "f64", ("m" if grown else long,)), *((("assign", "m", ("index", "n")),) if grown else ()), *((fill,) if filled else ()), ("declare", "c", "i64", first), *((("assign", "c", ("index", 2)),) if not begun else ()))
    loop = ("for", "r", 0, "m" if grown else "n", (body,), order, 0, False, False)
    rest = (room, copy) if copied else ()
    before = (*head, loop, *rest, *end, ("free", "y"), *((("free", "w"),) if copied else ()))
    numbers: list[Any] = []

    def count(stmts: Any) -> None:
        for s in stmts:
            numbers.append(s)
            for k in {"for": (4,), "if": (2, 3), "chunks": (4,)}.get(s[0], ()):
                count(s[k])

    count(before)
    place = {id(s): k for k, s in enumerate(numbers)}

    def same(s: Any) -> Any:
        made = list(s)
        for k in {"for": (4,), "if": (2, 3), "chunks": (4,)}.get(s[0], ()):
            made[k] = [same(x) for x in s[k]]
        return tuple(made), place[id(s)]

    b, j = v("b") * 4, v("j")
    long_ = v("m" if grown else "n")
    blocks = {"quotient": (long_ + 3, 4)}
    value: Any = None if stored is None else ("store", "made", ("j",), _moved(stored))
    flags = ("store", "flags", ("j",), ("truth", (("true", ("call", "gt", (at("x", b + j), 0.0), "bool")),)))
    made = [] if stored is None else [(("alloc", "made", "f64", (4,), [True, None, False, None]), None)]
    moved = ("helper", helper, [[source if stored is None else "made", (b if stored is None else 0,)], ["flags", (0,)], ["y", (b,)]], ("length",), ["count", "i64"], [None, "f64"])
    each = [
        (("let", "length", "i64", ("call", "min", (("const", size, "i64"), ("index", long_ - b)), "i64")), None),
        (("alloc", "flags", "bool", (4,), [True, None, False, None]), None), *made,
        (("for", "j", 0, "length", [(flags, None), *([(value, None)] if value else [])], True, 0, False, False), None), (moved, None),
        (("store", "starts", ("b",), ("use", "count")), None),
    ]  # fmt: skip
    counting = [
        (("let", "kept", "i64", at("starts", "e")), None), (("store", "starts", ("e",), ("use", "c")), None),
        (("assign", "c", ("index", v("c") + v("kept"))), None),
    ]  # fmt: skip
    target = "w" if copied else "y"
    put = [
        (("let", "begin", "i64", at(reads, "z2")), None), (("let", "end", "i64", at("starts", v("z2") + next_)), None),
        (("for", "k", 0, v("end") - v("begin"), [(("store", target, (v("begin") + v("k"),), at("y", v("z2") * from_ + v("k"))), None)], copied and apart, 0, False, False), None),
    ]  # fmt: skip
    together = (("chunks", "lo2", "hi2", blocks, [(("for", "z2", "lo2", "hi2", put, True, 0, False, False), None)], [], [], []), None) if copied else (("for", "z2", 0, blocks, put, False, 0, False, False), None)
    after = [
        *map(same, head), (("alloc", "starts", "i64", ("n",), [False, None, False, None]), None),
        (("chunks", "lo", "hi", blocks, [(("for", "b", "lo", "hi", each, True, 0, False, False), None)], [], [], []), None),
        (("for", "e", 0, blocks, counting, False, 0, False, False), None), (("store", "starts", (blocks,), ("use", "c") if last is None else last), None),
        *([same(room)] if copied else []), together, (("free", "starts"), None), *map(same, end), same(before[-2] if copied else before[-1]), *([same(before[-1])] if copied else []),
    ]  # fmt: skip
    data = forged(before, after, arrays="z", scalars=None)
    return _with_lengths(data, extent, told)


def _moved(e: Any) -> Any:
    """The value of round 4 b + j."""
    return tuple(_moved(x) for x in e) if isinstance(e, tuple) and e[:1] != ("load",) else ("load", e[1], tuple(v("b") * 4 + v("j") if p == "r" else p for p in e[2])) if isinstance(e, tuple) else e


def _with_lengths(data: Data, extent: Any, told: bool) -> Data:
    """x is `extent` long, and the number of blocks and one more is what the alloc asks for."""
    def row(p: Any) -> int:
        if p not in data["P"]:
            data["P"].append(p)
        return data["P"].index(p)

    (quotient,) = [k for k, q in enumerate(data["Q"])]
    one_more = row([[1], [1, quotient]])
    for s in data["S"]:
        if s[0] == "alloc" and s[1] == "starts":
            s[3] = [one_more]
    long = row([[1, "n"]] if extent == "n" else [[-1], [1, "n"]])
    for name in ("x", "a"):
        data["arguments"].append([name, "an array", "f64", *([[long]] if told else [])])
    return data


def plus(a: Any, b: Any) -> Any:
    return ("call", "add", (a, b), "f64")


RIGHT: dict[str, Callable[[], Data]] = {
    "copied": in_blocks,
    "in place": lambda: in_blocks(copied=False),
    "of another array": lambda: in_blocks(stored=plus(at("a", "r"), 1.0)),
}
WRONG: dict[str, Callable[[], Data]] = {
    "an array that is not long enough": lambda: in_blocks(long=v("n") - 1),
    "a count that begins with 1": lambda: in_blocks(first=("const", 1, "i64")),
    "a count that is 2 by then": lambda: in_blocks(begun=False),
    "an array that was filled before": lambda: in_blocks(filled=True, copied=False),
    "another test": lambda: in_blocks(op="ge"),
    "a test of another array": lambda: in_blocks(test="a"),
    "other elements": lambda: in_blocks(source="a"),
    "another routine": lambda: in_blocks(helper="sort"),
    "blocks of another size": lambda: in_blocks(size=5),
    "another end": lambda: in_blocks(last=ZERO),
    "rounds in any order": lambda: in_blocks(order=True),
    "what is kept read elsewhere": lambda: in_blocks(used=True),
    "an input that is too short to be read in every round": lambda: in_blocks(extent=1),
    "an input of which nobody says how long it is": lambda: in_blocks(told=False),
    "a count by two": lambda: in_blocks(step=2),
    "an end of another block": lambda: in_blocks(next_=2),
    "from the places of other blocks": lambda: in_blocks(from_=3),
    "what may fail in a round that keeps nothing": lambda: in_blocks(stored=at("a", v("r") + 1)),
    "in place, in any order": lambda: _apart_in_place(),
    "an array as long as the range was": lambda: in_blocks(grown=True, stored=plus(1.0, 1.0)),
}


def _apart_in_place() -> Data:
    data = in_blocks(copied=False)
    for s in data["S"]:
        if s[0] == "for" and s[1] == "z2":
            s[5] = [True, 0, False, False]
    return data


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    said = prove(RIGHT[name]())
    assert "1 of 1 rewrites proved" in said and "taken on trust of forged: `compress` of the runtime" in said


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    with pytest.raises(Rejected):
        prove(WRONG[name]())
