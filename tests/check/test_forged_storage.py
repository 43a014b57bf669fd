"""False certificates of compiles, third part: pieces that are one, arrays of copies, sorts, constants, guards, scans and searches in blocks. Beside each stands what is right
and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import P, forged, lift, v
from tests.check.test_forged_memory import positive

Data = dict[str, Any]
SAME = {"i": "i"}
HOW = [None, "f64"]


def at(b: str, *index: Any) -> Any:
    return ("load", b, index)


def plus(a: Any, b: Any, d: str = "f64") -> Any:
    return ("call", "add", (a, b), d)


def one_piece(extent: Any = 4, exact: bool = False, inner: str = "add", given: Any = ("use", "t"), end: Any = "hi", twice: bool = False) -> Data:
    """A sum in pieces of which there is one: written out."""
    add, give = ("add", "t", inner, at("x", "i")), ("add", "s", "add", given)
    sums = ("accumulate", "i", "lo", end, (add,), [["t", inner, "f64"]], exact)
    more = (give,) if twice else ()
    before = (("declare", "s", "f64", 0.0), ("chunks", "lo", "hi", extent, (sums, give, *more), [["s", "add", "f64"]], [], []), ("store", "y", (0,), ("use", "s")))
    last = 4 if end == "hi" else 3
    steps = [(("assign", "t2", plus(("use", "t2"), at("x", k))), (3, {"lo": 0, "i": k})) for k in range(last)]
    give_ = (("assign", "s", plus(("use", "s"), ("use", "t2") if given == ("use", "t") else given)), (4, {"lo": 0}))
    again = [(("assign", "s", plus(("use", "s"), ("use", "t2"))), (5, {"lo": 0}))] if twice else []
    return forged(before, [(before[0], 0), (("declare", "t2", "f64", 0.0), None), *steps, give_, *again, (before[2], 5 + len(more))], roots={"t2": "t"})


def arrays_of_branches(d: str = "f64", size: Any = "n", outer: str = "c2", other: bool = False) -> Data:
    """A loop with an array of its own, copied for n >= 9. `outer`: which array the copy reads at last."""
    room, fill = ("alloc", "b", "f64", ("n",)), ("store", "b", ("i",), at("x", "i"))
    use = ("store", "y", ("i",), at("b", "i"))
    before = (room, ("for", "i", 0, "n", (fill,)), ("for", "i", 0, "n", (use,)), ("free", "b"))
    made = lambda b, d, size, of: [
        (("alloc", b, d, (size,)), 0), (("for", "i", 0, "n", [(("store", b, ("i",), at("x", "i")), (2, SAME))]), 1),
        (("for", "i", 0, "n", [(("store", "y", ("i",), at(of, "i")), (4, SAME))]), 3), (("free", b), 5),
    ]
    if other:  # an array of that name is in sight, and read in place of the copy's
        return forged(before, [(("alloc", "b", "f64", ("n",)), None), (("if", (("ge", v("n") - 9),), made("c2", d, size, "c2"), made("c3", d, size, "b")), None), (("free", "b"), None)])
    return forged(before, [(("if", (("ge", v("n") - 9),), made("b", "f64", "n", "b"), made("c2", d, size, outer)), None)])


def array_of_the_first_round(of: str) -> Data:
    """Round 0 with an array of its own, which is there in the others too."""
    room, fill, use, free = ("alloc", "b", "f64", (1,)), ("store", "b", (0,), at("x", "i")), ("store", "y", ("i",), at("b", 0)), ("free", "b")
    before = (("for", "i", 0, "n", (room, fill, use, free)),)
    first = [(room, (1, {"i": 0})), (("store", "b", (0,), at("x", 0)), (2, {"i": 0})), (("store", "y", (0,), at("b", 0)), (3, {"i": 0}))]
    mine = [(("alloc", "e", "f64", (1,)), (1, SAME)), (("store", "e", (0,), at("x", "i")), (2, SAME)), (("store", "y", ("i",), at(of, 0)), (3, SAME)), (("free", "e"), (4, SAME))]
    done = (free, (4, {"i": 0}))
    inner = [*first, done, (("for", "i", 1, "n", mine), 0)] if of == "e" else [*first, (("for", "i", 1, "n", mine), 0), done]
    if of == "e":  # in a branch of its own, so that it is out of sight
        inner = [(("if", (), [*first, done], []), None), (("for", "i", 1, "n", mine), 0)]
    return forged(before, [(("if", (("ge", v("n") - 1),), inner, []), None)])


def sorted_reads(also: str = "", between: Any = None, d: str = "f64", where: str = "x", count: Any = "n", name: str = "sort") -> Data:
    """x at the places of its sort: sorted values."""
    k, use = ("let", "k", "i64", at("o", "i")), ("store", "y", ("i",), plus(at(where, "k"), at(also, "k") if also else 1.0))
    more = [between] if between is not None else []
    before = (("alloc", "o", "i64", ("n",)), ("helper", "argsort", [["x", (0,)], ["o", (0,)]], ("n",), None, HOW), *more, ("for", "i", 0, "n", (k, use)), ("free", "o"))
    e = len(more)
    new = ("store", "y", ("i",), plus(at("t", "i"), at(also, "i") if also else 1.0))
    after = [(("alloc", "t", d, ("n",)), None), (("helper", name, [["x", (0,)], ["t", (0,)]], (count,), None, HOW), 1), *((m, 2) for m in more), (("for", "i", 0, "n", [(new, (4 + e, SAME))]), 2 + e), (("free", "t"), None)]
    return forged(before, after)


def sorted_row(filled: Any = "n", copied: Any = "n", row: Any = "j", into: Any = "j", between: Any = None) -> Data:
    """Every row sorted: of a copy, and copied back."""
    fill = ("for", "r", 0, filled, (("store", "keys", ("r",), at("x", "j", "r")),))
    call = ("helper", "argsort", [["keys", (0,)], ["o", (0,)]], ("n",), None, HOW)
    use = ("for", "i", 0, copied, (("let", "k", "i64", at("o", "i")), ("store", "y", ("j", "i"), at("x", "j", "k"))))
    more = [between] if between is not None else []
    before = (("alloc", "o", "i64", ("n",)), ("alloc", "keys", "f64", ("n",)), ("for", "j", 0, "m", (fill, call, *more, use)), ("free", "keys"), ("free", "o"))
    new = ("helper", "sort", [["x", (row, 0)], ["y", (into, 0)]], ("n",), None, HOW)
    return forged(before, [(("for", "j", 0, "m", [(new, (5, {"j": "j"})), *((m, (6, {"j": "j"})) for m in more)]), 2)], sizes="n m")


def constants(value: float = 2.0, at_: int = 1, written: bool = False, variable: bool = False, length: int = 3) -> Data:
    """Rounds written out, with elements of an array of constants as what they are."""
    load = at("c", "i") if not variable else at("c", "n")
    before = (("for", "i", 0, 2, (("let", "t", "f64", load), ("store", "y", ("i",), ("use", "t")), *((("store", "c", ("i",), 0.0),) if written else ()))),)
    after: list[Any] = []
    for k, e in ((0, 1.0), (at_, value)):
        after.append((("store", "y", (k,), e), (2, {"i": k})))
        if written:
            after.append((("store", "c", (k,), 0.0), (3, {"i": k})))
    data = forged(before, after, arrays="x y z c")
    data["E"] += [["const", {"f": x.hex()}, "f64"] for x in (1.0, 2.0, 3.0)]
    return {**data, "constants": [["c", [length], list(range(len(data["E"]) - 3, len(data["E"])))]]}


def read_again(writes: str = "z", assigned: bool = False) -> Data:
    """A name that is made no more: what it stands for is read where it was used."""
    change = ("assign", "w", 2.0) if assigned else ("store", writes, (0,), 5.0)
    head = ("declare", "w", "f64", 1.0)
    e = ("use", "w") if assigned else at("x", 0)
    before = (head, ("let", "t", "f64", plus(e, 1.0)), change, ("store", "y", (0,), ("use", "t")))
    return forged(before, [(head, 0), (change, 2), (("store", "y", (0,), plus(e, 1.0)), 3)])


def ends_are_tested(last: Any = None, step: Any = None, when: Any = None, of: Any = 0, first: bool = True) -> Data:
    """x[i + k] for all i, and z at what it says: that i + k is inside is tested in the first and in the last round, before all others."""
    cast = lambda e: ("cast", e, "i64")
    i_k = lambda i, k: (v(i) if step is None else step(i)) + v(k)
    inside = lambda p: (("ge", p), ("ge", v("n") - 1 - p))
    there = lambda q: (("ge", q), ("ge", v("n") - 1 - v(q)))
    body = lambda i, k, q: (("let", k, "i64", cast(at("a", 0))), ("check", inside(i_k(i, k)), 0), ("let", q, "i64", cast(at("x", i_k(i, k)))), ("check", there(q), 1))
    before = (("for", "i", 0, "n", (*body("i", "k", "q"), ("store", "y", ("i",), at("z", "q")))),)
    told = lambda i, made: [(s, (j + 1, {"i": i})) for j, s in enumerate(made)]
    begin, end = (v("k0") if step is None else step(0) + v("k0")), (v("n") - 1 if step is None else step("n")) + v("k0")
    ends = (*inside(begin if first else end), *inside(end if last is None else last), ("ge", v("n") - 1))
    exact = lambda j, k, q: (("for", j, 0, "n", told(j, body(j, k, q))), None)
    guard = [(("let", "k0", "i64", cast(at("a", of))), (1, {"i": 0})), (("if", ends, [], [exact("j", "k1", "q1")]), None)]
    head = (("if", (("ge", (v("n") - 1) if when is None else when),), guard, []), None)
    flag = (("add", "bad", "or", ("choose", there("q2"), ("const", 0, "i64"), ("const", 1, "i64"))), None)
    instead = (("let", "l", "i64", ("choose", there("q2"), ("use", "q2"), ("index", 0))), None)
    scan = [(body("i", "k2", "q2")[0], (1, SAME)), (body("i", "k2", "q2")[2], (3, SAME)), flag, instead, (("store", "y", ("i",), at("z", "l")), (5, SAME))]
    after = [head, (("accumulate", "i", 0, "n", scan, [["bad", "or", "i64"]], False), 0), (("if", (("ne", "bad"),), [exact("g", "k3", "q3")], []), None)]
    return forged(before, after, roots={"k0": "k", "k1": "k", "k2": "k", "k3": "k", "q1": "q", "q2": "q", "q3": "q", "l": "q"})


def made_in_its_place(filled: Any = "n", copied: Any = "n", between: Any = None, other: Any = None, d: str = "f64", leaves: bool = False, read: Any = "g") -> Data:
    """Rows that are made in an array of their own and then copied, made where they are copied to."""
    more = [between] if between is not None else []
    fill = lambda b, *p: ("for", "f", 0, filled, (("store", b, (*p, "f"), at("x", "i", "f")),))
    step = lambda b, *p: ("for", "h", 1, "n", (("store", b, (*p, "h"), plus(at(b, *p, "h"), at(b, *p, v("h") - 1))),))
    last = ("for", "g", 0, copied, (("store", "y", ("i", "g"), at("w", read) if other is None else plus(at("w", read), at(other, "i", "g"))),))
    leave = [("break", (("true", positive(at("c", 0))),))] if leaves else []
    loop = ("for", "i", 0, "m", (fill("w"), step("w"), *more, *leave, last))
    before = (("alloc", "w", d, ("n",)), ("forever", (loop, ("break", (("true", positive(at("c", 0))),)))) if leaves else loop, ("free", "w"))
    k = 3 if leaves else 2
    told = lambda s, n: (s, (n, {"i": "i"}))
    inner: list[Any] = [(fill("y", "i")[:4] + ([(fill("y", "i")[4][0], (k, {"i": "i", "f": "f"}))],), (k - 1, {})), (step("y", "i")[:4] + ([(step("y", "i")[4][0], (k + 2, {"i": "i", "h": "h"}))],), (k + 1, {}))]
    inner += [told(m, k + 3) for m in more] + [told(m, k + 3) for m in leave]
    e = len(more) + len(leave)
    if other is not None:
        inner.append((("for", "g", 0, copied, [(("store", "y", ("i", "g"), plus(at("y", "i", read), at(other, "i", "g"))), (k + 4 + e, {"i": "i", "g": "g"}))]), (k + 3 + e, {})))
    after: Any = (("for", "i", 0, "m", inner), k - 2 + 1 - 1)
    return forged(before, [(("forever", [after, (("break", (("true", positive(at("c", 0))),)), k + 6)]), 1) if leaves else after], sizes="n m")


def checked_before_a_product(inside: Any = None, product_first: bool = False) -> Data:
    """What is asked after a product may be asked before it, where nothing in it is asked."""
    body = (("for", "i", 0, "n", (("store", "y", ("i",), at("x", "i")), *([inside] if inside is not None else []))),)
    call, check = ("product", ("n",), (at("x", 0), at("y", 0)), body, (), False), ("check", (("ge", v("n") - 3),), 0)
    told = lambda first: ("product", ("n",), (at("x", 0), at("y", 0)), [(("for", "i", 0, "n", [(s, first + 2 + k) for k, s in enumerate(body[0][4])]), first + 1)], [], False)
    e = len(body[0][4])
    if product_first:  # what is asked before it is not asked after it
        return forged((check, call), [(told(1), 1), (check, 0)])
    return forged((call, check), [(check, 2 + e), (told(0), 0)])


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data], str]] = {
    "one piece: of a range that may be empty": (one_piece, lambda: one_piece("n"), "without origin|another"),
    "one piece: a sum in order": (one_piece, lambda: one_piece(exact=True), "without origin|another"),
    "one piece: of another operator": (one_piece, lambda: one_piece(inner="mul"), "without origin|another"),
    "one piece: something else is added": (one_piece, lambda: one_piece(given=1.0), "without origin|another"),
    "one piece: not all of it": (one_piece, lambda: one_piece(end=v("hi") - 1), "without origin|another"),
    "one piece: added twice": (one_piece, lambda: one_piece(twice=True), "without origin|another"),
    "a copy's array: narrower": (arrays_of_branches, lambda: arrays_of_branches(d="f32"), "another|origin"),
    "a copy's array: shorter": (arrays_of_branches, lambda: arrays_of_branches(size=v("n") - 1), "another statement"),
    "a copy's array: beside another": (arrays_of_branches, lambda: arrays_of_branches(other=True), "another|origin|once"),
    "sorted: written in between": (lambda: sorted_reads(between=("store", "z", (0,), 1.0)), lambda: sorted_reads(between=("store", "x", (0,), 1.0)), "another|origin"),
    "sorted: places of something else too": (sorted_reads, lambda: sorted_reads(also="z"), "another|origin"),
    "sorted: another array at its places": (sorted_reads, lambda: sorted_reads(where="z"), "another|origin"),
    "sorted: narrower": (sorted_reads, lambda: sorted_reads(d="f32"), "another|origin|operands of two types"),
    "sorted: not all of it": (sorted_reads, lambda: sorted_reads(count=v("n") - 1), "another|origin"),
    "sorted: by another routine": (sorted_reads, lambda: sorted_reads(name="reverse"), "another|origin"),
    "sorted rows: of a part": (sorted_row, lambda: sorted_row(filled=v("n") - 1), "another|origin"),
    "sorted rows: copied in part": (sorted_row, lambda: sorted_row(copied=v("n") - 1), "another|origin"),
    "sorted rows: another row": (sorted_row, lambda: sorted_row(row=0), "another|origin"),
    "sorted rows: into another row": (sorted_row, lambda: sorted_row(into=0), "another|origin"),
    "sorted rows: read in between": (lambda: sorted_row(between=("store", "z", (0,), at("c", 0))), lambda: sorted_row(between=("store", "z", (0,), at("y", "j", 0))), "another|origin"),
    "constants: another one": (constants, lambda: constants(value=3.0), "another value"),
    "constants: of another round": (constants, lambda: constants(at_=0), "another value|once"),
    "constants: one that is written": (constants, lambda: constants(written=True), "constants is written"),
    "constants: nobody says which": (constants, lambda: constants(variable=True), "another value"),
    "constants: fewer than there are": (constants, lambda: constants(length=2), "no array of constants"),
    "read again: of what is written": (read_again, lambda: read_again("x"), "another value"),
    "read again: of what is assigned": (read_again, lambda: read_again(assigned=True), "another value"),
    "ends: the last is not tested": (ends_are_tested, lambda: ends_are_tested(last=v("k0")), "origin|another|gone"),
    "ends: the first is not tested": (ends_are_tested, lambda: ends_are_tested(first=False), "origin|another|gone"),
    "ends: one round less": (ends_are_tested, lambda: ends_are_tested(last=v("n") - 2 + v("k0")), "origin|another|gone"),
    "ends: only when there are many": (ends_are_tested, lambda: ends_are_tested(when=v("n") - 100), "origin|another|gone"),
    "ends: of something else": (ends_are_tested, lambda: ends_are_tested(of=1), "origin|another|gone"),
    "ends: no even steps": (ends_are_tested, lambda: ends_are_tested(step=lambda i: P({(i, i): 1}) if isinstance(i, str) else lift(0)), "origin|another|gone"),
    "in its place: not all is filled": (made_in_its_place, lambda: made_in_its_place(filled=v("n") - 1), "another|origin"),
    "in its place: not all is copied": (made_in_its_place, lambda: made_in_its_place(copied=v("n") - 1), "another|origin"),
    "in its place: the place is read": (lambda: made_in_its_place(between=("store", "z", ("i",), at("c", 0))), lambda: made_in_its_place(between=("store", "z", ("i",), at("y", "i", 0))), "another|origin"),
    "in its place: narrower": (made_in_its_place, lambda: made_in_its_place(d="f32"), "another|origin"),
    "in its place: of another element": (lambda: made_in_its_place(other="z"), lambda: made_in_its_place(other="z", read=v("n") - 1 - v("g")), "another|origin"),
    "in its place: added to what is there": (lambda: made_in_its_place(other="z"), lambda: made_in_its_place(other="y"), "another|origin"),
    "in its place: left before the end": (made_in_its_place, lambda: made_in_its_place(leaves=True), "another|origin"),
    "a check before a product: which asks itself": (checked_before_a_product, lambda: checked_before_a_product(("check", (("ge", v("n") - 2),), 1)), "order"),
    "a check before a product: which shows something": (checked_before_a_product, lambda: checked_before_a_product(("print", "i", [], [("index", "n")])), "order"),
    "a check after the product it guards": (checked_before_a_product, lambda: checked_before_a_product(product_first=True), "order"),
    "a copy's array: of the first round": (lambda: array_of_the_first_round("e"), lambda: array_of_the_first_round("b"), "another|order|once"),
}


@pytest.mark.parametrize(("right", "wrong", "why"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data], why: str) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected, match=why):
        prove(wrong())
