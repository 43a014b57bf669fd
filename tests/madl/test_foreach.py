"""`foreach`: a bank of nodes is as many nodes, each with a state of its own."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.errors import Error
from atoll.madl.simulate import run_oracle
from tests.madl.harness import by_code, last, module, random_inputs

_EXAMPLES = Path(__file__).parents[2] / "examples" / "madl"
NODES = {
    "delay": "let f (x of int) returns (y): y = !last (!x init 7)",
    "array state": "let f (x of int) returns (y): line init [3]0 = older ++ [|!x|]; _ ++ newest = line; older of [2]int = !!last newest; [|a|] ++ _ = line; y = !a",
    "two states": "let f (x of int, c of bool) returns (y): s init 1 = last s + x; if c then t = last t + 1 else t = last t end; t init 0; y = s*t",
    "reset": "let f (x of int, c of bool) returns (y): block returns (y = !s): s init 0 = last s + x reset c",
    "nodes in nodes": "let g (x of int) returns (y): y = !s; s init 0 = last s + x\nlet f (x of int) returns (y): y = g(x) + g(x + 1)*10",
    "a loop that goes on": "let f (x of [2]int) returns (y): forward ([a] = x) returns (y = {s}): s init 0 = last s + a resume",
    "a record": "type p = { a of int, b of f64 }\nlet f (x of int) returns (y): q init p(1, 0.5) = p(last q.a + x, last q.b * 0.5); y = f64(q.a) + q.b",
    "automaton": "let f (x of int, c of bool) returns (y): automaton: state s: n init 0 = last n + x; y = !n; until c then t state t: y = -x; until c resume s end",
    "pid": (_EXAMPLES / "pid.madl").read_text().replace("let pid ", "let f "),
    "fixed point": (_EXAMPLES / "biquad_q15.madl").read_text().partition("let filter")[0].replace("let biquad_q15 ", "let f "),
}


@pytest.mark.parametrize("name", NODES)
def test_a_bank_is_many_nodes(name: str) -> None:
    one = last(NODES[name])
    args = [f"x{k}" for k in range(len(one.graph.arguments))]
    clauses = " ".join(f"([a{k}] = {x})" for k, x in enumerate(args))
    bank = last(f"{NODES[name]}\nlet bank ({', '.join(f'{x} of [3]_' for x in args)}) returns (y): foreach {clauses} returns (y = [b]): b = !f({', '.join(f'a{k}' for k in range(len(args)))}) end")
    rng = random.Random(name)
    each = [random_inputs(one, {}, rng, 5) for _ in range(3)]
    together = [tuple(np.stack([each[k][cycle][j] for k in range(3)]) for j in range(len(args))) for cycle in range(5)]
    wanted = [run_oracle(one, {}, inputs)[0] for inputs in each]
    for found in (run_oracle(bank, {}, together)[0], by_code(bank, {}, together)):
        for cycle in range(5):
            assert np.array_equal(found[cycle][0], np.stack([wanted[k][cycle][0] for k in range(3)])), (name, cycle)


def test_the_state_is_one_array_of_the_size_of_the_bank() -> None:
    nd = module("let bank (x of [_]int) returns (y): foreach ([a] = x) returns (y = [b]): s init 0 = last s + a; b = s*2 end")
    bank = nd.bank()
    assert bank.step(np.array([1, 2, 3], "int32")).tolist() == [2, 4, 6]
    assert bank.step(np.array([1, 2, 3], "int32")).tolist() == [4, 8, 12]
    assert {k: v.tolist() for k, v in bank.state.items()} == {"s": [2, 4, 6]}
    with pytest.raises(Error, match="E0961"):
        bank.step(np.array([1], "int32"))
    empty = nd.bank()
    assert empty.step(np.array([], "int32")).tolist() == []


def test_reset_of_the_whole_and_dimensions() -> None:
    nd = module("let f (x of [2][2]int, c of bool) returns (y): foreach, ([[a]] = x) returns (y = [[b]]): s init 5 = last s + a; b = !s reset c")
    for f in (nd.f(), nd.f.instance({}, True)):
        x = np.array([[1, 2], [3, 4]], "int32")
        assert [f.step(x, c).tolist() for c in (False, False, True)] == [[[6, 7], [8, 9]], [[7, 9], [11, 13]], [[6, 7], [8, 9]]]


WRONG = {
    "let f (x of [4]int) returns (y): foreach ([a] = x) returns (y = {s}): s init 0 = last s + a end": ("E0972", "one element"),
    "let f (x of [4]int) returns (y): foreach ([a] = x) returns (y = [s]): s = a + 1 restart": ("E0972", "`restart` closes it"),
    "let f (x of [4]int) returns (y): foreach ([a] = x) returns (y = [s]): s = last s + a end": ("E0921", "Uninitialized"),
    "let rec g <<n>> (x of [n]int) returns (y of int): s init 0 = last s + 1; y = s*2\nlet f (x of [4][2]int) returns (y): foreach ([a] = x) returns (y = [b]): b = g<<2>>(a) end": ("E0972", "recursive"),
    "let f (x of [4]int) returns (y): foreach ([a] = x) returns (y = [b]): b = c + 1; c = b + a end": ("E0920", "Non causal"),
    "let foreach (x of int) returns (y): y = x": ("E0901", "foreach"),
}  # fmt: skip


@pytest.mark.parametrize("source", WRONG)
def test_mistakes_are_told(source: str) -> None:
    code, words = WRONG[source]
    with pytest.raises(Error) as problem:
        at.madl(source=source)
    assert problem.value.code == code and words in str(problem.value)
