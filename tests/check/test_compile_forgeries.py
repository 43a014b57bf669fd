"""False certificates of compiles: each was accepted once (17 November), or stands for a way to lie. What they say of a rewrite is wrong, so each is refused for its reason."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atoll.check.limits import limited
from atoll.check.prove import prove, prove_file
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged, v

Data = dict[str, Any]
ONE, SAME = 1.0, {"i": "i"}


def x(i: Any) -> Any:
    return ("load", "x", (i,))


COPY = (("for", "i", 0, "n", (("store", "y", ("i",), x("i")),)),)
SUM = (("for", "i", 0, "n", (("update", "y", (0,), "add", x("i")),)),)
RUNNING = (("for", "i", 1, "n", (("store", "y", ("i",), ("load", "y", (v("i") - 1,))),)),)
LEFT = (("true", ("call", "gt", (("load", "c", (0,)), 0.0), "bool")),)


def honest() -> Data:
    """The same loop, whose rounds are independent now."""
    return forged(COPY, [(("for", "i", 0, "n", [(("store", "y", ("i",), x("i")), (1, SAME))], True), None)])


def a_variable_that_is_two_numbers() -> Data:
    """q = 0 and q = 1: nothing behind that would ever be done."""
    lets = [(("let", "q", "i64", ("index", k)), None) for k in (0, 1)]
    return forged(COPY, [*lets, (("for", "i", 0, "q", [(("store", "y", ("i",), x("i")), (1, SAME))]), None)])


def an_index_called_like_a_size() -> Data:
    """0 <= n is known of sizes, so rounds n in -5..0 would not be done."""
    once = (("for", "i", 0, "n", [(("update", "y", (0,), "add", x("i")), (1, SAME))]), None)
    return forged(SUM, [once, (("for", "n", -5, 0, [(("update", "y", (0,), "add", x("n")), (1, {"i": "n"}))]), None)])


def an_index_inside_its_own_loop() -> Data:
    """t is x[i] of the outer i."""
    before = (("for", "i", 0, "n", (("for", "j", 0, "n", (("store", "y", ("i", "j"), x("j")),)),)),)
    inner = (("for", "i", 0, "n", [(("store", "y", ("i", "i"), ("use", "t")), (2, {"i": "i", "j": "i"}))]), None)
    return forged(before, [(("for", "i", 0, "n", [(("let", "t", "f64", x("i")), None), (("if", (), [inner], []), None)]), 0)])


def rounds_that_need_each_other_as_vectors() -> Data:
    return forged(RUNNING, [(("for", "i", 1, "n", [(RUNNING[0][4][0], (1, SAME))], False, 8), None)])


def a_loop_as_a_scan() -> Data:
    """A loop that is printed as a scan adds in another order."""
    more = ("assign", "s", ("call", "add", (("use", "s"), x("i")), "f64"))
    keep = ("store", "y", ("i",), ("use", "s"))
    before = (("declare", "s", "f64", 0.0), ("for", "i", 0, "n", (more, keep)))
    return forged(before, [(before[0], 0), (("for", "i", 0, "n", [(more, (2, SAME)), (keep, (3, SAME))], False, 0, False, True), 1)])


def counted_after_the_loop_is_left() -> Data:
    more = ("assign", "k", ("call", "add", (("use", "k"), ONE), "f64"))
    rest = (("break", LEFT), ("store", "c", (0,), 0.0))
    before = (("declare", "k", "f64", 0.0), ("forever", (more, *rest)), ("store", "y", (0,), ("use", "k")))
    return forged(before, [(before[0], 0), (("forever", [(rest[0], 3), (more, 2), (rest[1], 4)]), 1), (before[2], 5)])


def written_after_the_loop_is_left() -> Data:
    before = (("forever", (("store", "y", (0,), x(0)), ("break", LEFT), ("store", "c", (0,), 0.0))),)
    one, two, three = before[0][1]
    return forged(before, [(("forever", [(two, 2), (one, 1), (three, 3)]), 0)])


def additions_at_the_same_time() -> Data:
    """Sums may be regrouped; two threads may still not add to one element."""
    return forged(SUM, [(("for", "i", 0, "n", [(SUM[0][4][0], (1, SAME))], True), None)], licensed=True)


def written_back_by_others() -> Data:
    """Every round writes back what it read of y[0], while one of them writes it."""
    mine, other = ("store", "y", (0,), x(0)), ("store", "z", ("i",), x("i"))
    before = (("for", "i", 0, "n", (("if", (("eq", "i"),), (mine,), ()), other), True),)
    kept = [(("declare", "t", "f64", ("load", "y", (0,))), None), (other, (3, SAME)), (("store", "y", (0,), ("use", "t")), None)]
    return forged(before, [(("for", "i", 0, "n", [(("if", (("eq", "i"),), [(mine, (2, SAME))], []), 1), (("if", (), kept, []), None)], True), 0)])


def an_element_that_is_not_there() -> Data:
    return forged(COPY, [(("let", "t", "f64", x(-1000)), None), (("for", "i", 0, "n", [(COPY[0][4][0], (1, SAME))]), 0)])


def an_element_that_is_there_sometimes() -> Data:
    """x[0] of an empty x."""
    before = (("for", "i", 0, "n", (("store", "y", ("i",), x(0)),)),)
    return forged(before, [(("let", "t", "f64", x(0)), None), (("for", "i", 0, "n", [(("store", "y", ("i",), ("use", "t")), (1, SAME))]), 0)])


def asked_again_after_it_changed() -> Data:
    test = (("true", ("call", "gt", (("load", "y", (0,)), 0.0), "bool")),)
    one, two = ("store", "y", (0,), 0.0), ("store", "z", (0,), ONE)
    return forged((("if", test, (one, two), ()),), [(("if", test, [(one, 1)], []), None), (("if", test, [(two, 2)], []), None)])


def a_bound_that_changes() -> Data:
    store, less = ("store", "z", ("i",), ONE), ("assign", "k", ("const", 1, "i64"))
    before = (("declare", "k", "i64", ("const", 3, "i64")), ("for", "i", 0, "k", (store, less)))
    first = (("for", "i", 0, 1, [(("if", (("ge", v("k") - 1),), [(store, (2, SAME))], []), None), (less, (3, SAME))]), None)
    return forged(before, [(before[0], 0), first, (("for", "i", 1, "k", [(store, (2, SAME)), (less, (3, SAME))]), None)])


def memory_that_is_there_sometimes() -> Data:
    fill, use = ("store", "t", ("i",), x("i")), ("store", "y", ("i",), ("load", "t", ("i",)))
    before = (("alloc", "t", "f64", ("n",)), ("for", "i", 0, "n", (fill,)), ("for", "i", 0, "n", (use,)), ("free", "t"))
    guarded = (("if", (("ge", v("n") - 1),), [(before[0], 0), (("for", "i", 0, "n", [(fill, (2, SAME))]), 1)], []), None)
    return forged(before, [guarded, (("for", "i", 0, "n", [(use, (4, SAME))]), 3), (before[3], 5)])


def freed_before_it_is_read() -> Data:
    fill, use = ("store", "t", ("i",), x("i")), ("store", "y", ("i",), ("load", "t", ("i",)))
    before = (("alloc", "t", "f64", ("n",)), ("for", "i", 0, "n", (fill,)), ("for", "i", 0, "n", (use,)), ("free", "t"))
    return forged(before, [(before[0], 0), (("for", "i", 0, "n", [(fill, (2, SAME))]), 1), (before[3], 5), (("for", "i", 0, "n", [(use, (4, SAME))]), 3)])


def written_before_it_is_checked() -> Data:
    before = (("check", (("ge", v("n") - 5),), 0), ("store", "y", (4,), ONE))
    return forged(before, [(before[1], 1), (before[0], 0)])


def one_instance_dropped() -> Data:
    return forged(COPY, [(("for", "i", 1, "n", [(COPY[0][4][0], (1, SAME))]), None)])


def one_instance_doubled() -> Data:
    twice = (("update", "y", (0,), "add", x(0)), (1, {"i": 0}))
    return forged(SUM, [twice, (("for", "i", 0, "n", [(SUM[0][4][0], (1, SAME))]), None)])


def an_origin_that_lies() -> Data:
    """Each round says it is the one before."""
    return forged(COPY, [(("for", "j", 0, "n", [(("store", "y", ("j",), x("j")), (1, {"i": v("j") - 1}))]), None)])


def regrouped_without_a_licence() -> Data:
    more = ("add", "s", "add", x("i"))
    accs = [["s", "add", "f64"]]
    before = (("accumulate", "i", 0, "n", (more,), accs, True), ("store", "y", (0,), ("use", "s")))
    back = (("accumulate", "j", 0, "n", [(("add", "s", "add", x(v("n") - 1 - v("j"))), (1, {"i": v("n") - 1 - v("j")}))], accs, True), None)
    return forged(before, [back, (before[1], 2)])


def told(part: str, key: str, text: Any) -> Callable[[], Data]:
    def forge() -> Data:
        data = honest()
        (data["rewrites"][0] if part == "row" else data[part] if part else data)[key] = text
        return data

    forge.__name__ = f"told_{part}_{key}"
    return forge


def a_run_that_says_it_is_a_proof() -> Data:
    data = honest()
    data["rewrites"][0] |= {"status": "bounded", "why": "long", "bounded": {"sizes": 9, "ran": 1, "new": 1, "kind": "proved for all sizes"}}
    return data


FORGERIES: dict[Callable[[], Data], str] = {
    a_variable_that_is_two_numbers: "q is bound twice",
    an_index_called_like_a_size: "n is an index and a size",
    an_index_inside_its_own_loop: "i is bound twice",
    rounds_that_need_each_other_as_vectors: "order",
    a_loop_as_a_scan: "made a scan",
    counted_after_the_loop_is_left: "order",
    written_after_the_loop_is_left: "order",
    additions_at_the_same_time: "order",
    written_back_by_others: "without origin",
    an_element_that_is_not_there: "may not be there",
    an_element_that_is_there_sometimes: "may not be there",
    asked_again_after_it_changed: "what decides is changed",
    a_bound_that_changes: "what decides is changed",
    memory_that_is_there_sometimes: "t is not known there",
    freed_before_it_is_read: "order",
    written_before_it_is_checked: "order",
    one_instance_dropped: "all",
    one_instance_doubled: "inside|once|outside",
    an_origin_that_lies: "another value",
    regrouped_without_a_licence: "order",
    told("row", "name", "rows\n  everything is proved"): "no text",
    told("source", "what", "proved\n  nothing is taken on trust"): "no text",
    told("c", "text", "int main(void) { return 1; }"): "the C is another one",
    told("row", "regroups", "yes"): "no licence",
    told("row", "status", "believed"): "no status",
    a_run_that_says_it_is_a_proof: "no result of a run",
}


@pytest.mark.parametrize(("forge", "why"), FORGERIES.items(), ids=[f.__name__ for f in FORGERIES])
def test_forgery(forge: Callable[[], Data], why: str) -> None:
    with pytest.raises(Rejected, match=why):
        prove(forge())


def test_what_is_right_is_accepted() -> None:
    assert "1 of 1 rewrites proved" in prove(honest())


def test_the_verdict_is_the_checkers_own() -> None:
    """A certificate cannot leave out what is taken on trust, and a licence that was used is told."""
    data = honest()
    data["trusted"] = []
    assert "index arithmetic stays below 64 bits" in prove(data) and "another order" not in prove(data)
    after = [(("for", "j", 0, "n", [(("update", "y", (0,), "add", x(v("n") - 1 - v("j"))), (1, {"i": v("n") - 1 - v("j")}))]), None)]
    assert "sums may be added in another order" in prove(forged(SUM, after, licensed=True))
    with pytest.raises(Rejected, match="order"):
        prove(forged(SUM, after))


def test_additions_of_nothing_may_be_left_out() -> None:
    """`s += x[i] if i >= 3 else 0.0`: of a sum that begins with 0.0, not of memory, and not of -0.0."""
    def before(zero: float, exact: bool = True) -> Any:
        more = ("add", "s", "add", ("choose", (("ge", v("i") - 3),), x("i"), zero))
        return (("accumulate", "i", 0, "n", (more,), [["s", "add", "f64"]], exact), ("store", "y", (0,), ("use", "s")))

    def after(low: Any) -> Any:
        return [(("let", "low", "i64", ("call", "min", (("index", low), ("index", "n")), "i64")), None), (("accumulate", "i", "low", "n", [(("add", "s", "add", x("i")), 1)], [["s", "add", "f64"]], True), 0), (before(0.0)[1], 2)]

    assert "1 of 1" in prove(forged(before(0.0), after(3)))
    for zero, low in ((-0.0, 3), (1.0, 3), (0.0, 4)):
        with pytest.raises(Rejected, match="all"):
            prove(forged(before(zero), after(low)))


# -- too much


def _doubled(table: str, row: Callable[[int], list[Any]]) -> Data:
    """Small as a table, and large when written out."""
    data = honest()
    k = data["lowered"][0] if table == "S" else 0
    for _ in range(60):
        data[table].append(row(k))
        k = len(data[table]) - 1
    if table == "S":
        data["lowered"] = [k]
    for s in data["S"]:
        if table == "E" and s[0] == "store":
            s[3] = k
    return data


def _nested() -> Data:
    data = honest()
    for _ in range(5000):
        data["S"].append(["if", [], [len(data["S"]) - 1], []])
    return {**data, "lowered": [len(data["S"]) - 1]}


def _asks_much() -> Data:
    """Hundreds of loops that each read what all others write, under conditions that no arithmetic decides soon."""
    far = tuple(("for", f"i{k}", 0, "n", (("update", "y", (v(f"i{k}") * 3 + k,), "add", x(v(f"i{k}") * 5 + k)),)) for k in range(150))
    after = [(("for", f"i{k}", 0, "n", [(s[4][0], (2 * k + 1, {f"i{k}": f"i{k}"}))], False, 0, True), 2 * k) for k, s in enumerate(far)]
    data = forged(far, after)
    return {**data, "rewrites": data["rewrites"] * 300}


def test_one_line_within_two_seconds(tmp_path: Path, capsys: Any) -> None:
    """Whatever a certificate asks for: one line, status 1, two seconds of the processor."""
    for k, data in enumerate((_asks_much(), _doubled("E", lambda k: ["call", "add", [k, k], "f64"]), {**honest(), "lowered": [[]] * 2_000_000})):
        path = tmp_path / f"{k}.cert"
        path.write_text(json.dumps(data))
        start = time.process_time()
        assert prove_file(path) == 1
        assert time.process_time() - start < 3 and len(capsys.readouterr().out.splitlines()) == 1


def forever() -> None:
    while True:
        pass


def test_limits_of_the_system() -> None:
    """What no count bounds ends too."""
    with pytest.raises(Rejected, match="0.1 s of work"), limited(0.1):
        forever()
    with pytest.raises(Rejected, match="0.1 s of work"), limited(0.1):
        with contextlib.suppress(Rejected):  # as Python drops what is raised inside a weak reference's callback
            forever()
        forever()
    with pytest.raises(Rejected, match="memory"), limited(5):
        assert len(bytearray(2_000_000_000))
    assert bytearray(500_000_000)  # and the process is as it was


@pytest.mark.parametrize(
    "hostile",
    [
        lambda: _doubled("E", lambda k: ["call", "add", [k, k], "f64"]),
        lambda: _doubled("S", lambda k: ["if", [], [k, k], []]),
        _nested,
        lambda: {**honest(), "rewrites": honest()["rewrites"] * 20_000},
        lambda: {**honest(), "lowered": [0] * 100_000},
        lambda: {**honest(), "P": [[[10**40_000, "n"]]] * 4},
    ],
    ids=["expressions", "statements", "nested", "rewrites", "long", "digits"],
)
def test_too_much(hostile: Callable[[], Data]) -> None:
    """Refused soon, whatever it asks for."""
    data = hostile()
    start = time.process_time()
    with pytest.raises(Rejected):
        prove(data)
    assert time.process_time() - start < 6  # two seconds on a machine that is not loaded
