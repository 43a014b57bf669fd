"""Elements looked up by data: certificates that differ from a right one in one thing, each refused for its reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import atoll as at
from atoll.check.prove import Checker, prove
from atoll.check.replayed import NotReplayed, replay
from atoll.check.sums import Rejected
from tests.check.mutations import holds, looked_up, rows
from tests.check.test_forgeries import Data, data_of, each, poly


def right() -> Data:
    return data_of(at.schedule(looked_up))


def the_read(data: Data) -> tuple[Any, Any]:
    """The element of b with the test that it is there, and where that stands."""
    around = next(x for x in each(data["loops"]["body"], "choose") if isinstance(x[2], list) and x[2][0] == "choose" and x[2][2][:2] == ["load", "b"])
    return around, around[2]


def without_the_test() -> Data:
    data = right()
    around, read = the_read(data)
    around[2] = read[2]
    return data


def a_test_on_another_extent() -> Data:
    data = right()
    _, read = the_read(data)
    read[1][1] = ["ge", poly(data, (-1, "at"), (-1,), (1, "m")), None]
    return data


def half_a_test() -> Data:
    data = right()
    _, read = the_read(data)
    read[1] = read[1][1:]
    return data


def another_array() -> Data:
    data = right()
    _, read = the_read(data)
    read[2][1] = "t"
    return data


def the_number_of_another_round() -> Data:
    data = right()
    number = each(data["loops"]["body"], "set")[0]
    number[3][2][2] = [poly(data, (1, "j#0"), (1,))]
    return data


def a_number_that_is_made_where_it_is_not_asked_for() -> Data:
    data = right()
    number = each(data["loops"]["body"], "set")[0]
    number[3] = number[3][2]
    return data


def a_number_for_none_that_is_one() -> Data:
    data = right()
    each(data["loops"]["body"], "set")[0][3][3][1] = 0
    return data


def a_number_that_changes() -> Data:
    data = right()
    each(data["loops"]["body"], "set")[0][0] = "declare"
    return data


def a_number_of_another_type() -> Data:
    data = right()
    each(data["loops"]["body"], "set")[0][2] = "i32"
    return data


def a_number_called_like_a_loop() -> Data:
    data = right()
    text = {"at": "j#0"}
    data["P"] = [[[c, *(text.get(x, x) for x in xs)] for c, *xs in row] for row in data["P"]]
    each(data["loops"]["body"], "set")[0][1] = "j#0"
    return data


def another_element_in_the_term() -> Data:
    """The source says b, the last term t, by a step that changes nothing."""
    data = right()
    table = data["T"]
    look = next(k for k, row in enumerate(table) if row[0] == "look")

    def copied(k: int) -> int:
        row = table[k]
        if row[0] == "look":
            new = ["look", "t", row[2]]
        elif row[0] == "choose":
            new = ["choose", copied(row[1]), row[2], row[3]] if row[1] == look else row
        elif row[0] == "op":
            new = [*row[:2], [copied(x) for x in row[2]], row[3]]
        elif row[0] == "gen":
            new = [*row[:4], copied(row[4])]
        elif row[0] == "let":
            new = [*row[:3], copied(row[3]), row[4]]
        else:
            return k
        table.append(new)
        return len(table) - 1

    data["final"] = copied(data["source"])
    data["steps"].append([[], "simplify", {}, data["final"], []])
    return data


def rows_rolled_that_are_looked_up() -> Data:
    data = right()
    let = data["T"][data["source"]]
    data["T"].append([*let[:4], [poly(data), 1]])
    data["final"] = len(data["T"]) - 1
    data["steps"].append([[], "let_roll", {"lead": {"p": poly(data)}, "rows": 1}, data["final"], []])
    return data


def looked_up_by_a_float() -> Data:
    data = right()
    row = next(row for row in data["T"] if row[0] == "look")
    row[2] = [next(k for k, other in enumerate(data["T"]) if other[0] == "get" and other[1] == "t")]
    return data


def nobody_wrote_it() -> Data:
    data = right()
    data["covers"] = []
    return data


def written_in_a_round_of_its_own() -> Data:
    """C9: the element was stored in the round of j, not in that of its number."""
    data = right()
    data["covers"][0][1][1][0][1] = poly(data, (1, "j#0"))
    return data


FORGERIES: dict[Callable[[], Data], str] = {
    without_the_test: "another store",
    a_test_on_another_extent: "another store",
    half_a_test: "another store",
    another_array: "another store",
    the_number_of_another_round: "another number",
    a_number_that_is_made_where_it_is_not_asked_for: "another number",
    a_number_for_none_that_is_one: "another number",
    a_number_that_changes: "expected set",
    a_number_of_another_type: "another number",
    a_number_called_like_a_loop: "stands twice|another",
    another_element_in_the_term: "does not follow|simplify",
    rows_rolled_that_are_looked_up: "rows that are looked up",
    looked_up_by_a_float: "no number|not in scope|out of scope",
    nobody_wrote_it: "C9: nothing says who writes",
    written_in_a_round_of_its_own: "C9",
}


@pytest.mark.parametrize(("forge", "why"), FORGERIES.items(), ids=[f.__name__ for f in FORGERIES])
def test_forgery(forge: Callable[[], Data], why: str) -> None:
    with pytest.raises(Rejected, match=why):
        prove(forge())


def test_some_would_be_wrong() -> None:
    """What is refused would compute something else, or read outside."""
    assert holds(right()) is None
    for forge in (another_array, the_number_of_another_round):
        assert holds(forge()) is not None, forge.__name__


def test_replayed() -> None:
    """An argument that is looked up in is a function nothing is known of; a named value is not replayed, and that is said."""
    words: list[str] = []

    def asked(made: Any) -> str:
        words.extend(made)
        return "yes"

    for s, covered in ((at.schedule(rows).tile(("i", "p"), (2, 3)), True), (at.schedule(looked_up).split("j", 4), False)):
        checker = Checker(data_of(s))
        checker.run()
        if covered:
            assert replay(checker, asked) > 0 and "op" in words
        else:
            with pytest.raises(NotReplayed, match="looked up by data"):
                replay(checker, asked)
