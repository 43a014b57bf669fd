"""The state of instances: looked at, copied, saved, restored; compiled and interpreted."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.errors import Error

SOURCE = """
let count (x of int) returns (y): y init 0 = last y + x
let late (x of [_]int) returns (s): s = !last (!x init [_]0)
let both (x of int) returns (a, b): table init [|5, 6|] = last table; k = clamp<<2>>(x); a = count(x) + !(last table).[k]; b = count(2*x)
"""


@pytest.mark.parametrize("interpret", [False, True])
def test_copies_go_their_own_way(interpret: bool) -> None:
    nd = at.madl(source=SOURCE)
    first = nd.both.instance(interpret=interpret)
    first.step(3)
    for made in (first.copy(), copy.copy(first), copy.deepcopy(first)):
        assert tuple(map(int, made.step(1))) == (10, 8)
    assert tuple(map(int, first.step(0))) == (8, 6)


def test_state_is_a_copy_by_the_names_of_the_struct(tmp_path: Path) -> None:
    nd = at.madl(source=SOURCE)
    one = nd.both()
    one.step(3)
    state = one.state
    assert sorted(int(v) for v in state.values()) == [3, 6] and "table" not in state
    for value in state.values():
        value[...] = 100
    assert sorted(int(v) for v in one.state.values()) == [3, 6]
    one.save(tmp_path / "s.npz")
    other = nd.both()
    other.restore(tmp_path / "s.npz")
    assert tuple(map(int, other.step(1))) == (10, 8)
    other.restore(state)
    assert tuple(map(int, other.step(0))) == (105, 100)


def test_sized_state() -> None:
    late = at.madl(source=SOURCE).late()
    assert late.state == {}
    with pytest.raises(Error) as caught:
        late.restore({})
    assert caught.value.code == "E0961"
    late.step(np.arange(3, dtype="i4"))
    (name,) = late.state
    late.restore({name: np.array([7, 8, 9], "i4")})
    assert late.step(np.zeros(3, "i4")).tolist() == [7, 8, 9]


def test_what_does_not_fit_is_refused() -> None:
    one = at.madl(source=SOURCE).count()
    for wrong in ({}, {"z": np.int32(1)}, {"y": np.int64(1)}, {"y": np.zeros(2, "i4")}, 3, "no such file"):
        with pytest.raises(Error) as caught:
            one.restore(wrong)
        assert caught.value.code == "E0960"


def _delay() -> Any:
    @at.fn
    def delay(line: at.own[at.f64[3]], x: at.f64) -> (at.f64[3], at.f64):
        return concat(line[1:], [x]), line[0]

    return at.node(delay, np.zeros(3))


def _pair() -> Any:
    @at.fn
    def pair(s: (at.i64, at.f64[2]), x: at.f64) -> ((at.i64, at.f64[2]), at.f64):
        return (s[0] + 1, [s[1][1], x]), s[1][0] + s[0]

    return at.node(pair, (0, np.zeros(2)))


@pytest.mark.parametrize("make", [_delay, _pair])
def test_nodes_from_python_are_copied_saved_and_restored(make: Any, tmp_path: Path) -> None:
    one = make()
    for k in range(4):
        one.step(float(k))
    twin, deep, kept = one.copy(), copy.deepcopy(one), one.state
    one.save(tmp_path / "state.bin")
    after = [float(one.step(x)) for x in (10.0, 11.0, 12.0)]
    for other in (twin, deep):
        assert [float(other.step(x)) for x in (10.0, 11.0, 12.0)] == after
    for given in (kept, tmp_path / "state.bin"):
        fresh = make()
        fresh.restore(given)
        assert [float(fresh.step(x)) for x in (10.0, 11.0, 12.0)] == after
    for wrong in (np.zeros(5), "no such file", ("a",)):
        with pytest.raises(Error) as caught:
            one.restore(wrong)
        assert caught.value.code == "E0960"
