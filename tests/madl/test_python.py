"""MADL from Python: at.madl, instances, at.node, arguments and their errors (docs/madl.md)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.madl.corpus import Q

SOURCE = """
let fib () returns (n): n = !last a; a init 0 = !last b; b init 1 = n + a
let rotate_right <<n>> (a of [n]int at 'l) returns (b at 'l):
  concat(_, [|l|]) = a;
  forward ([ai] = a) returns (b = [bi]): bi = !!last (!ai init !l)
let iota <<n>> () returns (a): forward <<n>> [i] returns (a = [ai]): ai = !i
let delay (x of [_]f64) returns (y): y = !last (!x init [_]0.0)
let lag <<k>> (x of f64) returns (y):
  line init [k]0.0 = rest ++ [|!x|];
  [|oldest|] ++ kept = last line;
  y = !oldest;
  forward ([a] = kept) returns (rest = [b]): b = !a end
let axpy (type t) (a of t, x of [_]t, y of [_]t) returns (z): forward ([p] = x) ([q] = y) returns (z = [r]): r = a*p + q
let pick (v of [_]f64, i of idx<<4>>) returns (x): u of [4]f64 = v; x = !u.[i]
let rec total <<n>> (x of [n]int) returns (y of int): if n == 1 then [|a|] = x; y = !a else [|h|] ++ t = x; y = h + total<<n-1>>(t) end
"""


@pytest.fixture(scope="module")
def nd() -> Any:
    return at.madl(source=SOURCE)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ctl.madl"
    path.write_text(SOURCE)
    module = at.madl(path)
    assert list(module) == ["fib", "rotate_right", "iota", "delay", "lag", "axpy", "pick", "total"]
    assert module.rotate_right(np.array([1, 2, 3], "int32")).tolist() == [3, 1, 2]
    assert "ctl: fib, rotate_right" in repr(module)
    with pytest.raises(AttributeError, match=r"ctl.madl has no operator nope; it has fib, "):
        module.nope  # noqa: B018


def test_instances_are_independent(nd: Any) -> None:
    first, second = nd.fib(), nd.fib()
    assert [int(first.step()) for _ in range(6)] == [0, 1, 1, 2, 3, 5]
    assert int(second.step()) == 0
    first.reset()
    assert [int(first.step()) for _ in range(3)] == [0, 1, 1]


def test_calls_never_change_their_arguments(nd: Any) -> None:
    x = np.array([1, 2, 3], "int32")
    assert nd.rotate_right(x).tolist() == [3, 1, 2]
    assert x.tolist() == [1, 2, 3]


def test_a_donated_argument_is_worked_on_in_place(nd: Any) -> None:
    x = np.array([1, 2, 3], "int32")
    y = nd.rotate_right(at.donate(x))
    assert y.tolist() == [3, 1, 2] and np.shares_memory(x, y)
    frozen = np.array([1, 2, 3], "int32")
    frozen.flags.writeable = False
    assert nd.rotate_right(at.donate(frozen)).tolist() == [3, 1, 2] and frozen.tolist() == [1, 2, 3]
    add = at.madl(source="let add (u of [_]f64 at 'l, v of [_]f64) returns (w at 'l): forward ([a] = u) ([b] = v) returns (w = [c]): c = a + b").add
    both = np.array([1.0, 2.0])
    assert add(at.donate(both), both).tolist() == [2.0, 4.0] and both.tolist() == [1.0, 2.0], "the same memory twice is copied"


def test_sizes_that_no_argument_has(nd: Any) -> None:
    assert nd.iota(n=3).tolist() == nd.iota[3]().tolist() == [0, 1, 2]
    lag = nd.lag[2]()
    assert [float(lag.step(float(v))) for v in range(1, 6)] == [0.0, 0.0, 1.0, 2.0, 3.0]
    assert [float(v) for v in (lambda i: [i.step(1.0), i.step(2.0)])(nd.lag(k=1))] == [0.0, 1.0]


def test_state_of_symbolic_size(nd: Any) -> None:
    delay = nd.delay()
    assert delay.step(np.array([1.0, 2.0])).tolist() == [0.0, 0.0]
    assert delay.step(np.array([3.0, 4.0])).tolist() == [1.0, 2.0]
    with pytest.raises(at.SizeError, match="the state .* has size n = 2, but now it is 3"):
        delay.step(np.zeros(3))


def test_type_variables_are_those_of_the_arguments(nd: Any) -> None:
    for dtype in ("f4", "f8", "i4", "i8"):
        found = nd.axpy(np.dtype(dtype).type(2), np.array([1, 2], dtype), np.array([10, 20], dtype))
        assert found.dtype == np.dtype(dtype) and found.tolist() == [12, 24]


def test_recursive_operators_find_their_size(nd: Any) -> None:
    assert nd.total(np.arange(5, dtype="int32")) == 10
    assert nd.total[3](np.arange(3, dtype="int32")) == 3
    assert nd.total[4].type == "<<4>> -> [4]int -> int"


def test_non_contiguous_and_foreign_arrays(nd: Any) -> None:
    m = np.arange(12, dtype="int32").reshape(3, 4)
    assert nd.rotate_right(m[:, 1]).tolist() == [9, 1, 5]
    assert nd.rotate_right([1, 2]).tolist() == [2, 1]

    class Foreign:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([5, 6, 7], "int32")

    assert nd.rotate_right(Foreign()).tolist() == [7, 5, 6]


RECORDS = """
type complex = { re of f64, im of f64 }
type ball = { pos of complex, mass of f32 }
let turn (x of [_]complex, w of complex) returns (y): forward ([a] = x) returns (y = [b]): b = complex(a.re*w.re - a.im*w.im, a.re*w.im + a.im*w.re)
let grow (b of ball, k of f32) returns (c): c = ball(complex(!b.pos.re, !b.pos.im), b.mass*k)
"""


def test_records_from_and_to_python() -> None:
    """A record is a tuple whose parts have names; mappings, objects and complex arrays will do as arguments."""
    nd = at.madl(source=RECORDS)
    z = np.array([1 + 2j, 3 - 1j])
    wanted = z * 1j
    w = {"re": 0.0, "im": 1.0}
    for x in (z, (z.real, z.imag), {"re": z.real, "im": z.imag}, [z.real, z.imag]):
        for _ in range(2):
            y = nd.turn(x, w)
            assert np.allclose(y.re + 1j * y.im, wanted)
        assert np.allclose(nd.turn.interpret(x, w).im, wanted.imag)
    ball = nd.grow(((1.0, 2.0), np.float32(3.0)), np.float32(2.0))
    assert ball == ((1.0, 2.0), 6.0) and ball.pos.im == 2.0 and "ball(pos=complex(re=" in repr(ball)
    assert nd.grow(ball, np.float32(0.5)).mass == 3.0
    for wrong, words in ((3.0, r"a tuple of 2 parts \(pos, mass\), not a float"), (((1.0,), 2.0), r"2 parts \(re, im\), not 1"), ({"mass": 1}, "pos, mass")):
        with pytest.raises(at.TypeError, match=words):
            nd.grow(wrong, np.float32(1.0))


ERRORS = {
    "too many": (lambda nd: nd.rotate_right(1, 2), "rotate_right: takes 1 arguments, not 2"),
    "dtype": (lambda nd: nd.rotate_right(np.ones(3)), "argument a must have dtype int32, not float64"),
    "rank": (lambda nd: nd.rotate_right(np.ones((2, 2), "int32")), r"argument a must have 1 axes \(\[n\]int\), not 2"),
    "text": (lambda nd: nd.rotate_right("abc"), r"argument a must be \[n\]int, not a text"),
    "ragged": (lambda nd: nd.rotate_right([1, [2]]), "its rows have different lengths"),
    "does not fit": (lambda nd: nd.rotate_right([2**40]), "an element does not fit i32"),
    "no size": (lambda nd: nd.iota(), "iota: the size n is not known"),
    "other size": (lambda nd: nd.iota(m=3), "iota: has no size m"),
    "half a size": (lambda nd: nd.iota(n=2.5), "a size is a whole number, not 2.5"),
    "negative": (lambda nd: nd.iota(n=-1), "needs n >= 0, but n is -1"),
    "empty": (lambda nd: nd.rotate_right(np.zeros(0, "int32")), "needs n >= 1, but n is 0"),
    "many sizes": (lambda nd: nd.iota[1, 2], r"has 1 sizes in <<..>>, 2 are given"),
    "node with arguments": (lambda nd: nd.fib(3), r"fib has a state; call it without arguments"),
    "index": (lambda nd: nd.pick(np.zeros(4), 4), r"argument i is 4, which is not in 0..3"),
    "sizes differ": (lambda nd: nd.axpy(1.0, np.ones(2), np.ones(3)), "size n is 2 in argument x .axis 0. but 3 in argument y .axis 0."),
    "recursive": (lambda nd: nd.total(3), "total: the size n is not known"),
    "below": (lambda nd: nd.total(np.zeros(0, "int32")), "negative"),
    "no file": (lambda nd: at.madl("nowhere.madl"), "nowhere.madl: there is no such file"),
    "nothing": (lambda nd: at.madl(), "takes the path of a .madl file, or source=text"),
    "no function": (lambda nd: at.node(len, 0), "at.node: takes an Atoll function"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(nd: Any, case: str) -> None:
    act, words = ERRORS[case]
    with pytest.raises(at.Error, match=words):
        act(nd)


def test_interpreted(nd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOLL_INTERPRET", "1")
    assert nd.rotate_right(np.array([1, 2, 3], "int32")).tolist() == [3, 1, 2]
    fib = nd.fib()
    assert [int(fib.step()) for _ in range(5)] == [0, 1, 1, 2, 3]
    fib.reset()
    assert int(fib.step()) == 0


def test_looking_inside(nd: Any) -> None:
    assert nd.fib.kind == "node" and nd.fib.stateful and nd.rotate_right.kind == "func"
    assert nd.rotate_right.type == "size n. <<n>> -> [n]int -> [n]int"
    assert nd.rotate_right.places == "a -> a writes a"
    assert sorted((m["name"], m["role"]) for m in nd.fib.memory()) == [("a", "state"), ("b", "state"), ("n", "memory")]
    assert nd.fib.copies() == ["!last a", "!last b"]
    assert "void fib_step(" in nd.fib.c()
    assert nd.fib.source.endswith("b init 1 = n + a")


def test_an_argument_that_becomes_state_is_told() -> None:
    assert at.madl(source=Q["Q13"]).insert_max.overwritten() == ["v"]
    assert at.madl(source=Q["Q12"]).rotate_right.overwritten() == []


# -- at.node

n = at.sizes("n")


@at.fn
def count(total: at.i64, by: at.i64) -> (at.i64, at.i64):
    return total + by, total


@at.fn
def shift(line: at.own[at.f64[n]], x: at.f64) -> (at.f64[n], at.f64):
    out = line[0]
    return concat(line[1:], [x]), out


@at.fn
def three(a: at.i64) -> (at.i64, at.i64, at.i64):
    return a, a, a


@at.fn
def grows(a: at.f64[n]) -> (at.f64[n + 1], at.f64):
    return concat(a, [1.0]), 0.0


def test_a_node_from_a_function() -> None:
    counter = at.node(count, 0)
    assert [int(counter.step(k)) for k in (2, 3, 0)] == [0, 2, 5]
    other = counter()
    assert int(other.step(1)) == 0 and int(counter.step(1)) == 5
    counter.reset()
    assert int(counter.step(0)) == 0
    assert "count" in repr(counter) or "->" in repr(counter)


def test_a_node_whose_state_is_owned() -> None:
    start = np.zeros(2)
    line = at.node(shift, start)
    assert [float(line.step(float(v))) for v in range(1, 6)] == [0.0, 0.0, 1.0, 2.0, 3.0]
    assert start.tolist() == [0.0, 0.0] and line.state.tolist() == [4.0, 5.0]
    line.reset()
    assert line.state.tolist() == [0.0, 0.0]


def test_a_first_state_may_be_made_each_time() -> None:
    line = at.node(shift, lambda: np.ones(1))
    assert [float(line.step(7.0)), float(line.step(8.0))] == [1.0, 7.0]


@pytest.mark.parametrize(("step", "words"), [(three, "must take .state, input, .*and give .state, output."), (grows, "before a step and")])
def test_a_node_needs_a_state_that_stays(step: Any, words: str) -> None:
    with pytest.raises(at.TypeError, match=words):
        at.node(step, 0)


# -- importing


def test_at_madl_is_the_function_whatever_was_imported_first() -> None:
    program = """
import sys
import atoll as at
assert not any("madl" in m for m in sys.modules), "madl is loaded when it is asked for"
import atoll.madl.grammar
nd = at.madl(source="let f (x of int) returns (y): y = x + 1")
assert nd.f(1) == 2
from atoll import madl, node
assert madl(source="let f (x of int) returns (y): y = x + 1").f(1) == 2
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
