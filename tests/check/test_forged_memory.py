"""False certificates of compiles, second part: types that are narrower, routines of other rounds, checks that no longer guard, pieces that leave something out, memory that is
written twice. Seventeen of these were accepted on 17 November. Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import P, forged, v

Data = dict[str, Any]
SAME = {"i": "i"}
HOW = [None, None]


def at(b: str, *index: Any) -> Any:
    return ("load", b, index)


def plus(a: Any, b: Any, d: str = "f64") -> Any:
    return ("call", "add", (a, b), d)


def positive(e: Any) -> Any:
    return ("call", "gt", (e, 0.0), "bool")


COPY = (("for", "i", 0, "n", (("store", "y", ("i",), at("x", "i")),)),)
SUM = (("for", "i", 0, "n", (("update", "y", (0,), "add", at("x", "i")),)),)
ADD, RESULT = ("add", "s", "add", at("x", "i")), ("store", "y", (0,), ("use", "s"))
PASSED = ("const", 0, "i64"), ("const", 1, "i64")


def element_kept(d: str) -> Data:
    return forged(COPY, [(("for", "i", 0, "n", [(("let", "t", d, at("x", "i")), None), (("store", "y", ("i",), ("use", "t")), (1, SAME))]), 0)])


def value_of_branches(d: str) -> Data:
    """A name is a variable now, with a value in each branch."""
    before = (("for", "i", 0, "n", (("let", "t", "f64", at("x", "i")), ("store", "y", ("i",), ("use", "t")))),)
    given = (("assign", "u", at("x", "i")), (1, SAME))
    body = [(("declare", "u", d, None), None), (("if", (("ge", v("i") - 3),), [given], [given]), None), (("store", "y", ("i",), ("use", "u")), (2, SAME))]
    return forged(before, [(("for", "i", 0, "n", body), 0)], roots={"u": "t"})


def sum_written_out(*operands: Any, d: str = "f64") -> Data:
    before = (("accumulate", "i", 0, "n", (ADD,), [["s", "add", "f64"]], True), RESULT)
    more = ("assign", "s", ("call", "add", (("use", "s"), *operands), d))
    return forged(before, [(("declare", "s", "f64", 0.0), None), (("for", "i", 0, "n", [(more, (1, SAME))]), None), (RESULT, 2)])


def update_written_out(d: str) -> Data:
    return forged(SUM, [(("for", "i", 0, "n", [(("store", "y", (0,), plus(at("y", 0), at("x", "i"), d)), (1, SAME))]), None)])


def element_in_a_variable(d: str) -> Data:
    before = (("store", "y", (0,), at("x", 0)), ("store", "y", (0,), plus(at("y", 0), at("x", 1))))
    after = [(("declare", "t", d, at("y", 0)), None), (("assign", "t", at("x", 0)), 0), (("assign", "t", plus(("use", "t"), at("x", 1))), 1), (("store", "y", (0,), ("use", "t")), None)]
    return forged(before, after)


def streamed(d: str = "f64", writes_it_too: bool = False) -> Data:
    """A line goes past the caches: of the type of the array, which nothing else writes meanwhile."""
    body = (COPY[0][4][0], ("store", "y", ("i",), 0.0)) if writes_it_too else COPY[0][4]
    fill = [(("store", "l", ("k",), at("x", "k")), (1, {"i": "k"})), *([(("store", "y", ("k",), 0.0), (2, {"i": "k"}))] if writes_it_too else [])]
    stream = ("helper", "stream", [["y", (0,)], ["l", (0,)]], ("n",), None, HOW)
    after = [(("alloc", "l", d, ("n",)), None), (("for", "k", 0, "n", fill), None), (stream, None), (("free", "l"), None)]
    return forged((("for", "i", 0, "n", body),), after)


def in_parts(d: str = "f64", changes: bool = False) -> Data:
    """Column sums of two parts of the rows, added up."""
    made = ("call", "mul", (at("a", "r", "j"), ("use", "w")), "f64")
    upd = ("update", "y", ("j",), "add", made)
    head: tuple[Any, ...] = (("declare", "w", "f64", 1.0), ("assign", "w", 2.0))
    before = (*head, ("for", "r", 0, 8, (("for", "j", 0, "n", (upd,)),)))
    zero = (("for", "q", 0, "n", [(("store", "own", ("p", "q"), 0.0), None)]), None)
    inner = (("for", "j", 0, "n", [(("update", "own", ("p", "j"), "add", made), (4, {"r": "r", "j": "j"}))]), None)
    each = (("for", "p", "lo", "hi", [zero, (("for", "r", v("p") * 4, v("p") * 4 + 4, [inner]), None)]), None)
    adds = (("for", "o", 0, 2, [(("for", "e", 0, "n", [(("update", "y", ("e",), "add", at("own", "o", "e")), None)]), None)]), None)
    room, making = (("alloc", "own", d, (2, "n")), None), (("chunks", "lo", "hi", 2, [each], [], [], []), None)
    first, second = (head[0], 0), (head[1], 1)
    order = [first, room, making, second, adds] if changes else [first, second, room, making, adds]
    return forged(before, [*order, (("free", "own"), None)], licensed=True)


def call(i: Any) -> Any:
    return ("helper", "mystery", [["y", (i,)]], (), None, HOW)


def shown(i: Any) -> Any:
    return ("print", "i", [], [("index", i)])


def one_by_one(made: Callable[[Any], Any], second: Any) -> Data:
    """Two rounds written apart, the second with index 0 as well."""
    before = (("for", "i", 0, 2, (made("i"),)),)
    return forged(before, [(("for", "i", 0, 1, [(made("i"), (1, SAME))]), None), (("for", "k", 0, 1, [(made(second), (1, {"i": v("k") + 1}))]), None)])


def read_early(checked: bool) -> Data:
    check, store = ("check", (("ge", v("n") - 5),), 0), ("store", "y", (0,), at("x", 4))
    early, late = (("let", "t", "f64", at("x", 4)), None), (("store", "y", (0,), ("use", "t")), 1)
    return forged((check, store), [(check, 0), early, late] if checked else [early, (check, 0), late])


def read_before_it_is_left(first: bool) -> Data:
    leave, store = ("break", (("ge", v("n") - 5),)), ("store", "y", (0,), at("x", 4))
    early, late = (("let", "t", "f64", at("x", 4)), None), (("store", "y", (0,), ("use", "t")), 2)
    return forged((("forever", (leave, store)),), [(("forever", [early, (leave, 1), late] if first else [(leave, 1), early, late]), 0)])


def checked_afterwards(replaced: bool, other: bool = False, when: int = 1) -> Data:
    """x[k] for k = int(a[i]), all k tested at once: a round that fails must read something else meanwhile."""
    test = lambda k: (("ge", k), ("ge", v("n") - 1 - v(k)))
    k, check = ("let", "k", "i64", ("cast", at("a", "i"), "i64")), ("check", test("k"), 0)
    before: tuple[Any, ...] = (("for", "i", 0, "n", (k, check, ("store", "y", ("i",), at("x", "k"))), True),)
    flag = (("add", "bad", "or", ("choose", test("k"), *PASSED)), None)
    instead = [(("let", "l", "i64", ("choose", test("k"), ("use", "k"), ("index", 0))), None)] if replaced else []
    scan = [(k, (1, SAME)), flag, *instead, (("store", "y", ("i",), at("x", "l" if replaced else "k")), (3, SAME))]
    if other:
        before = (*before, ("for", "g", 0, "n", (("check", (("true", positive(at("z", "g"))),), 1),)))
        scan.append((("check", (("true", positive(at("z", "i"))),), 1), (5, {"g": "i"})))
    again = lambda k: [(("let", k, "i64", ("cast", at("a", "j"), "i64")), (1, {"i": "j"})), (("check", test(k), 0), (2, {"i": "j"}))]
    exact = lambda k: (("for", "j", 0, "n", again(k)), None)
    first = (("if", (("ge", v("n") - when),), [(("if", (("ge", v("n") - 1),), [], [exact("k2")]), None)], []), None)
    return forged(before, [first, (("accumulate", "i", 0, "n", scan, [["bad", "or", "i64"]], False), 0), (("if", (("ne", "bad"),), [exact("k3")], []), None)], roots={"k2": "k", "k3": "k"})


def in_pieces(all_: bool) -> Data:
    some, whole = (("store", "y", ("lo",), at("x", "lo")), (1, {"i": "lo"})), (("for", "i", "lo", "hi", [(COPY[0][4][0], (1, SAME))]), None)
    return forged(COPY, [(("chunks", "lo", "hi", "n", [whole if all_ else some], [], [], []), None)])


def in_other_pieces(extent: str, low: str = "p", high: str = "q") -> Data:
    """Two loops in pieces of n, which are in pieces of something else now."""
    two = lambda i, b: ("store", b, (i,), at("x", i))
    before = (("chunks", "lo", "hi", "n", (("for", "i", "lo", "hi", (two("i", "y"),)), ("for", "j", "lo", "hi", (two("j", "z"),))), [], [], []),)
    first = (("for", "k", low, high, [(two("k", "y"), (2, {"lo": low, "i": "k"}))], True), None)
    second = (("for", "l", low, high, [(two("l", "z"), (4, {"lo": low, "j": "l"}))], True), None)
    return forged(before, [(("chunks", low, high, extent, [first, second], [], [], []), None)], sizes="n m")


def joined_to_a_sum(other: Any) -> Data:
    """What is in the loop of a sum without an order runs in lanes too."""
    accs = [["s", "add", "f64"]]
    mine = lambda k: ("store", "z", (k,), other(k))
    before = (("accumulate", "i", 1, "n", (ADD,), accs, False), ("for", "j", 1, "n", (mine("j"),)), RESULT)
    return forged(before, [(("accumulate", "i", 1, "n", [(ADD, (1, SAME)), (mine("i"), (3, {"j": "i"}))], accs, False), 0), (RESULT, 4)])


def kept_while_a_loop_runs(writes: str) -> Data:
    """z = x[0] and then x[0] again inside a loop: one read is enough where the loop does not write it."""
    leave, store = ("break", (("true", positive(at("c", 0))),)), ("store", writes, (0,), 0.0)
    before = (("store", "z", (0,), at("x", 0)), ("forever", (("store", "y", (0,), at("x", 0)), leave, store)))
    use = ("use", "t")
    return forged(before, [(("let", "t", "f64", at("x", 0)), None), (("store", "z", (0,), use), 0), (("forever", [(("store", "y", (0,), use), 2), (leave, 3), (store, 4)]), 1)])


def of_numbers(d: str) -> Data:
    """2 q = 5 has no solution among integers."""
    one = ("store", "y", (0,), 0.0)
    return forged((("if", (("eq", v("q") * 2 - 5),), (one,), ()),), [(("if", (("ge", -1),), [(one, 1)], []), None)], scalars={"q": d})


def under_a_test(factor: int) -> Data:
    """Of integers factor * i >= 0; of 64 bits it may not be."""
    return forged(COPY, [(("for", "i", 0, "n", [(("if", (("ge", v("i") * factor),), [(COPY[0][4][0], (1, SAME))], []), None)]), 0)])


def two_loops(rows: int | None) -> Data:
    """t[i] for all i and then y[i] = t[i]: not where t keeps two rows."""
    room = ("alloc", "t", "f64", ("n",), [False, rows, False, None])
    fill, use = ("store", "t", ("i",), at("x", "i")), ("store", "y", ("i",), at("t", "i"))
    before = (room, ("for", "i", 0, "n", (fill, use)), ("free", "t"))
    after = [(room, 0), (("for", "i", 0, "n", [(fill, (2, SAME))]), None), (("for", "j", 0, "n", [(("store", "y", ("j",), at("t", "j")), (3, {"i": "j"}))]), None), (("free", "t"), 4)]
    return forged(before, after)


def length_of_the_result(read: bool) -> Data:
    """A name that nobody in the program reads may say how long the result is."""
    before = (("let", "k", "i64", ("cast", at("x", 0), "i64")), ("store", "y", (0,), 0.0))
    return {**forged(before, [(before[1], 1)]), "results": ["k"] if read else []}


def until_known(start: bool, ask: str, last: str, op: str, negated: bool) -> Data:
    """any and all in blocks, until the answer is known."""
    p = ("call", "lt", (at("x", "i"), 0.0), "bool")
    says, mine = ("const", start, "bool"), ("call", "not", (p,), "bool") if negated else p
    before = (("accumulate", "i", 0, "n", (("add", "s", op, p),), [["s", op, "bool"]], False), ("store", "y", (0,), ("cast", ("use", "s"), "f64")))
    end = ("let", "e", "i64", ("call", "min", (("index", v("b") * 8 + 8), ("index", "n")), "i64"))
    hit = (("add", "h", "or", ("cast", mine, "i8")), (1, SAME))
    block = [(end, None), (("accumulate", "i", v("b") * 8, "e", [hit], [["h", "or", "i8"]], False), None)]
    block.append((("assign", "s", ("call", last, (("use", "h"), ("const", 0, "i8")), "bool")), None))
    after = [(("declare", "s", "bool", says), None), (("for", "b", 0, {"quotient": (v("n") + 7, 8)}, [(("if", ((ask, ("use", "s")),), block, []), None)]), None), (before[1], 2)]
    return forged(before, after)


def kept_for_the_next(first: int = 0, d: str = "f64", next_: Any = ("use", "u"), other: int | None = None, index: Any = None, read: bool = True) -> Data:
    """z[i] = (z[i - 1] if i >= r) + x[i], with z[i - 1] in a variable."""
    to = v("i") if index is None else index
    half = lambda e: ("call", "mul", (e, 0.5), "f64")
    mine = lambda e: e if read else ("choose", (("ge", v("i") - 5),), e, 0.0)
    more = [("store", "z", (v("n") + other,), 1.0)] if other is not None else []
    before = (("for", "i", 1, "n", (("store", "z", (to,), plus(half(mine(at("z", to - 1 if index is None else to))), at("x", "i"))), *more)),)
    body = [(("let", "u", "f64", plus(half(mine(("use", "k"))), at("x", "i"))), None), (("store", "z", (to,), ("use", "u")), (1, SAME)), *((m, (2, SAME)) for m in more), (("assign", "k", next_), None)]
    start = [(("declare", "k", d, None), None), (("if", (("ge", v("n") - 2),), [(("assign", "k", at("z", first)), None)], []), None)]
    return forged(before, [*start, (("for", "i", 1, "n", body), 0)])


def in_turns(c: int = 0, steps: int = 0, guard: str = "m", low: int = 0, named: str = "", element: Any = 0) -> Data:
    """x[i // m] for all i, a turn of m at a time."""
    def over(k: Any) -> Any:
        return {"quotient": (k, "m")}

    value = lambda q, k: plus(at("x", q), ("use", k)) if named else at("x", q)
    store = ("store", "y", ("i",), value(over("i"), "w"))
    name = lambda k, i: ("let", k, "f64", at(named, element if element != "i" else i))
    before = (("for", "i", 0, "n", (*([name("w", "i")] if named else []), store)),)
    e = 1 if named else 0
    turn = ("let", "t", "i64", ("call", "floordiv", (("index", v("p") + c), ("index", "m")), "i64"))
    length = ("let", "l", "i64", ("call", "max", (("index", P({("m", "t"): 1, ("m",): 1}) - v("p") - c + steps), ("const", 1, "i64")), "i64"))
    stop = ("let", "q", "i64", ("call", "min", (("index", "n"), ("index", v("p") + v("l"))), "i64"))
    inner = ("for", "i", "p", "q", [(("store", "y", ("i",), value("t", "w1")), (1 + e, SAME))], True)
    loop = [(("break", (("ge", v("n") - v("p") - 1),)), None), *([(name("w1", "p"), (1, {"i": "p"}))] if named else []), (turn, None), (length, None), (stop, None), (inner, None), (("assign", "p", ("index", "q")), None)]
    cut = [(("declare", "p", "i64", ("index", low)), None), (("forever", loop), None)]
    plain = [(("for", "i", 0, "n", [*([(name("w", "i"), (1, SAME))] if named else []), (store, (1 + e, SAME))], True), None)]
    return forged(before, [(("if", (("ge", v(guard) - 1),), cut, plain), None)], sizes="n m", roots={"w1": "w"})


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data], str]] = {
    "an element in a narrower variable": (lambda: element_kept("f64"), lambda: element_kept("f32"), "of another type"),
    "a value in a narrower variable": (lambda: value_of_branches("f64"), lambda: value_of_branches("f32"), "another"),
    "a sum in narrower steps": (lambda: sum_written_out(at("x", "i")), lambda: sum_written_out(at("x", "i"), d="f32"), "of another type"),
    "a sum of more": (lambda: sum_written_out(at("x", "i")), lambda: sum_written_out(at("x", "i"), at("x", "i")), "another statement"),
    "an update in narrower steps": (lambda: update_written_out("f64"), lambda: update_written_out("f32"), "of another type"),
    "an array's element in a narrower variable": (lambda: element_in_a_variable("f64"), lambda: element_in_a_variable("f32"), "of another type"),
    "a line of another type": (streamed, lambda: streamed("f32"), "of another type"),
    "a line over another write": (streamed, lambda: streamed(writes_it_too=True), "without origin"),
    "parts of another type": (in_parts, lambda: in_parts("f32"), "of another type"),
    "parts of what a variable was": (in_parts, lambda: in_parts(changes=True), "without origin|origin outside"),
    "a routine of another round": (lambda: one_by_one(call, v("k") + 1), lambda: one_by_one(call, "k"), "another statement"),
    "a print of another round": (lambda: one_by_one(shown, v("k") + 1), lambda: one_by_one(shown, "k"), "another statement"),
    "read before its check": (lambda: read_early(True), lambda: read_early(False), "order"),
    "read before the loop is left": (lambda: read_before_it_is_left(False), lambda: read_before_it_is_left(True), "order"),
    "unchecked meanwhile": (lambda: checked_afterwards(True), lambda: checked_afterwards(False), "without origin"),
    "another check meanwhile": (lambda: checked_afterwards(True), lambda: checked_afterwards(True, other=True), "without origin"),
    "tested when there are many": (lambda: checked_afterwards(True), lambda: checked_afterwards(True, when=100), "without origin"),
    "the first of every piece": (lambda: in_pieces(True), lambda: in_pieces(False), "all"),
    "pieces of another range": (lambda: in_other_pieces("n"), lambda: in_other_pieces("m"), "inside|all"),
    "pieces of another range, by the same names": (lambda: in_other_pieces("n"), lambda: in_other_pieces("m", "lo", "hi"), "inside|all"),
    "a recurrence in lanes": (lambda: joined_to_a_sum(lambda k: at("x", k)), lambda: joined_to_a_sum(lambda k: at("z", v(k) - 1)), "order"),
    "a copy while a loop writes": (lambda: kept_while_a_loop_runs("c"), lambda: kept_while_a_loop_runs("x"), "storage"),
    "numbers that are none": (lambda: of_numbers("i64"), lambda: of_numbers("f64"), "no integer"),
    "arithmetic that overflows": (lambda: under_a_test(4), lambda: under_a_test(1 << 62), "64 bits"),
    "rows that are not kept": (lambda: two_loops(None), lambda: two_loops(2), "order"),
    "any: begun wrong": (lambda: until_known(False, "false", "ne", "or", False), lambda: until_known(True, "false", "ne", "or", False), "without origin|another"),
    "any: left wrong": (lambda: until_known(False, "false", "ne", "or", False), lambda: until_known(False, "true", "ne", "or", False), "without origin|another"),
    "any: kept wrong": (lambda: until_known(False, "false", "ne", "or", False), lambda: until_known(False, "false", "eq", "or", False), "without origin|another"),
    "all: of the contrary": (lambda: until_known(True, "true", "eq", "and", True), lambda: until_known(True, "true", "eq", "and", False), "without origin|another"),
    "kept: the wrong first": (kept_for_the_next, lambda: kept_for_the_next(first=1), "without origin"),
    "kept: narrower": (kept_for_the_next, lambda: kept_for_the_next(d="f32"), "of another type"),
    "kept: another value": (kept_for_the_next, lambda: kept_for_the_next(next_=at("x", "i")), "without origin"),
    "kept: something else writes it": (kept_for_the_next, lambda: kept_for_the_next(other=0), "without origin"),
    "kept: the same element": (kept_for_the_next, lambda: kept_for_the_next(index=v("n") * 1), "without origin|storage|may not be there|another"),
    "kept: read only sometimes": (kept_for_the_next, lambda: kept_for_the_next(read=False), "may not be there"),
    "turns: one too far": (in_turns, lambda: in_turns(steps=1), "without origin"),
    "turns: of another place": (in_turns, lambda: in_turns(c=1), "another value"),
    "turns: nobody asked for m": (in_turns, lambda: in_turns(guard="n"), "without origin"),
    "turns: the first left out": (in_turns, lambda: in_turns(low=1), "all"),
    "turns: a name of what is written": (lambda: in_turns(named="z"), lambda: in_turns(named="y"), "without origin|another|order"),
    "turns: a name of the first of a turn": (lambda: in_turns(named="z"), lambda: in_turns(named="z", element="i"), "without origin|another"),
    "turns: a name, and one too far": (lambda: in_turns(named="z"), lambda: in_turns(named="z", steps=1), "without origin"),
    "the length of a result": (lambda: length_of_the_result(False), lambda: length_of_the_result(True), "is read behind it"),
}


@pytest.mark.parametrize(("right", "wrong", "why"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data], why: str) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected, match=why):
        prove(wrong())
