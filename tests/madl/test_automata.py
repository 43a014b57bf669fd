"""Enumerations, match and automata: against a simulation of automata that knows nothing of equations, and their errors as a table."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.errors import Error
from atoll.madl.c_file import CFile, Options
from atoll.madl.meaning import Meaning
from atoll.madl.simulate import coverage, run_oracle
from tests.madl.harness import by_code, last, module, strict_compile


@dataclass
class Jump:
    when: str
    condition: tuple[str, int]  # p or q with 0; n with the number it must have reached; t with the number of cycles the condition itself has been looked at
    into: str
    target: int


@dataclass
class Machine:
    """Every state counts its own cycles in n, and adds to a v that all of them share."""

    steps: list[int]
    jumps: list[list[Jump]]
    memory: bool
    chosen: int = 0
    again: bool = False
    fresh: bool = False  # the conditions of the chosen state begin anew
    ages: dict[tuple[int, int], int] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    shared: int = 0

    def text(self) -> str:
        lines = ["let age () returns (n): n init 0 = last n + 1", "type kind = " + " | ".join(f"s{k}" for k in range(len(self.steps))), "let f (p of bool, q of bool) returns (y, z, now of kind):", "  v init 0;", "  automaton now of kind:"]
        for k, step in enumerate(self.steps):
            lines += [f"    state s{k}:", *(f"      {j.when} {self._condition(j, k)} {j.into} s{j.target};" for j in self.jumps[k])]
            lines += [f"      n{k} init 0 = last n{k} + {step};" if self.memory else f"      n{k} = {step} + 0;", f"      y = n{k} + {100 * k}; v = last v + {step};"]
        return "\n".join([*lines, "  end;", "  z = !v"])

    @staticmethod
    def _condition(j: Jump, k: int) -> str:
        name, least = j.condition
        return name if name in "pq" else f"age() >= {least}" if name == "t" else f"n{k} >= {least}"

    def step(self, p: bool, q: bool) -> tuple[int, int, int]:
        if not self.counts:
            self.counts = [0] * len(self.steps)
        here, anew, struck = self.chosen, self.again, False
        strong = [(k, j) for k, j in enumerate(self.jumps[here]) if j.when == "unless"]
        for k, j in strong:
            if j.condition[0] == "t":
                self.ages[here, k] = (0 if self.fresh else self.ages.get((here, k), 0)) + 1
        for k, j in strong:
            if self.ages[here, k] >= j.condition[1] if j.condition[0] == "t" else {"p": p, "q": q}[j.condition[0]]:
                here, anew = j.target, j.into == "then"
                struck = anew
                break
        if anew or not self.memory:
            self.counts[here] = 0
        self.counts[here] += self.steps[here]
        self.shared += self.steps[here]
        y, self.chosen, self.again, self.fresh = self.counts[here] + 100 * here, here, False, struck
        for j in (j for j in self.jumps[here] if j.when == "until"):
            holds = {"p": p, "q": q}[j.condition[0]] if j.condition[0] in "pq" else self.counts[here] >= j.condition[1]
            if holds:
                self.chosen, self.again = j.target, j.into == "then"
                self.fresh = self.again
                break
        return y, self.shared, here


def random_machine(rng: random.Random) -> Machine:
    count = rng.randint(2, 5)
    jumps: list[list[Jump]] = []
    for _ in range(count):
        here = []
        for _ in range(rng.randint(0, 3)):
            when = rng.choice(["unless", "until", "until"])
            condition = rng.choice([("p", 0), ("q", 0), ("n", rng.randint(1, 6)) if when == "until" else ("t", rng.randint(1, 4))])
            here.append(Jump(when, condition, rng.choice(["then", "resume"]), rng.randrange(count)))
        jumps.append(here)
    return Machine([rng.randint(1, 3) for _ in range(count)], jumps, rng.random() < 0.8)


@pytest.mark.parametrize("seed", range(16))
def test_automata_do_what_automata_do(seed: int) -> None:
    rng = random.Random(seed)
    machine = random_machine(rng)
    op = last(machine.text())
    inputs = [(rng.random() < 0.4, rng.random() < 0.3) for _ in range(40)]
    wanted = [[*machine.step(p, q)] for p, q in inputs]
    values = [(np.bool_(p), np.bool_(q)) for p, q in inputs]
    assert [[int(v) for v in row] for row in run_oracle(op, {}, values)[0]] == wanted
    meaning = Meaning(module(machine.text())._library, "f", {})
    assert [[int(v) for v in meaning.step(*row)] for row in values] == wanted
    if seed % 4 == 0:
        assert [[int(v) for v in row] for row in by_code(op, {}, values)] == wanted


PASSED = """
let f (go of bool, out of bool, back of bool) returns (y of int):
  automaton:
    state a: y = 0; until go then b
    state b: unless out resume c; n init 0 = last n + 1; y = !n; until go resume a
    state c: y = -1; until back resume b
  end
"""


def test_a_state_that_is_left_before_its_body_runs_has_not_been_entered() -> None:
    """`until go then b` chooses b, whose `unless out` leaves at once: n, which `then b` would have restarted, is found by `resume b` as it was (as in Lucid Synchrone and SCADE)."""
    words = ["go", "", "", "go", "go", "out", "back", "", "go", "go", ""]
    values = [tuple(np.bool_(w == word) for w in ("go", "out", "back")) for word in words]
    wanted = [0, 1, 2, 3, 0, -1, -1, 4, 5, 0, 1]
    op = last(PASSED)
    assert [int(row[0]) for row in run_oracle(op, {}, values)[0]] == wanted
    assert [int(row[0]) for row in by_code(op, {}, values)] == wanted
    meaning = Meaning(module(PASSED)._library, "f", {})
    assert [int(meaning.step(*row)[0]) for row in values] == wanted


NESTED = """
type gear = low | high
let shift (go of bool, x of [2]int) returns (y, total):
  forward ([a] = x) returns (y = [b]):
    automaton:
      state off: b = 0; until a > 3 then on;
      state on:
        automaton:
          state first: c = a + 1; until a > 5 then second
          state second: c = a - 1
        end
        b = !c; until a < 2 resume off
    end
    resume;
  total init 0;
  match go:
    case true: total = last total + 1
    case false: total = last total
  end
"""


def test_automata_nest_and_stand_in_loops() -> None:
    op = last(NESTED)
    values = [(np.bool_(k % 2), np.array([a, b], "int32")) for k, (a, b) in enumerate([(4, 4), (6, 1), (7, 9), (4, 6), (3, 3)])]
    found = run_oracle(op, {}, values)[0]
    # one automaton that runs twice per cycle: off on(first) | on(first) .. off | off on | ..
    assert [row[0].tolist() for row in found] == [[0, 5], [7, 0], [0, 10], [3, 5], [2, 2]]
    assert [int(row[1]) for row in found] == [0, 1, 1, 2, 2]
    assert [r[0].tolist() for r in by_code(op, {}, values)] == [r[0].tolist() for r in found]


def test_a_case_has_code_for_its_labels_only(tmp_path: Path) -> None:
    source = """
type mode = idle | run | fault
let f (m of mode, k of u8) returns (y of int, z of mode):
  match m: case idle, fault: y = 1 case run: y = 2 end
  match k: case 1, 2: z = idle case 255: z = run else z = fault end
"""
    op = last(source)
    file = CFile("f", [op], Options())
    text = file.source()
    assert "if ((m == 0U) || (m == 2U)) {" in text and "else if (k == 255U) {" in text
    assert "#define MODE_FAULT 2U" in file.header()
    strict_compile(text, file.header(), "f", tmp_path)
    nd = module(source)
    assert [[(int(y), z.name) for y, z in [call(m, k) for m, k in (("idle", 1), (nd.enums["mode"].run, 255), (2, 7))]] for call in (nd.f, nd.f.interpret)] == [
        [(1, "idle"), (2, "run"), (1, "fault")]
    ] * 2


def test_enumerations_in_arrays_and_records_are_their_numbers() -> None:
    nd = at.madl(source="""
type mode = idle | run
type unit = { m of mode, n of int }
let turn (a of [_]mode) returns (b): forward ([x] = a) returns (b = [y]): match x: case idle: y = run case run: y = idle end end
let one (u of unit) returns (v of unit): v = unit(if u.m == idle then run else idle, u.n + 1)
""")
    for call in (nd.turn, nd.turn.interpret):
        assert call(["idle", "run", "run"]).tolist() == [1, 0, 0]
    for call in (nd.one, nd.one.interpret):
        assert repr(call(("run", 2))[0]) == "<mode.idle: 0>" and call({"m": 0, "n": 4}).n == 5
    assert nd.turn([]).tolist() == []


def test_coverage_counts_every_case() -> None:
    op = last("type m = a | b | c\nlet f (x of m) returns (y of int): match x: case a: y = 1 case b: y = 2 case c: y = 3 end")
    _, oracle = run_oracle(op, {}, [(np.uint8(0),), (np.uint8(1),)])
    assert coverage(op, oracle)[0] == "decisions: 5 of 6 outcomes"
    assert [line.rsplit(": ", 1)[1] for line in coverage(op, oracle)[1:]] == ["both ways", "both ways", "only false"]


_A = "type m = a | b\nlet f (x of m, p of bool) returns (y of int):\n  "
WRONG: dict[str, tuple[str, str]] = {
    _A + "match x: case a: y = 1 end": ("E0970", "b has no case"),
    _A + "match x: case a: y = 1 case a: y = 2 case b: y = 3 end": ("E0970", "a has a case already"),
    _A + "match x: case a: y = 1 case b: y = 2 else y = 3 end": ("E0970", "nothing is left for `else`"),
    _A + "match x: case a: y = 1 case 1: y = 2 end": ("E0970", "different types"),
    _A + "match x: case a: y = 1 case c: y = 2 end": ("E0970", "c is no constant"),
    _A + "match p: case true: y = 1 end": ("E0970", "false has no case"),
    "let f (k of u8) returns (y of int): match k: case 1: y = 1 end": ("E0970", "other numbers have no case"),
    "let f (k of u8) returns (y of int): match k: case 300: y = 1 else y = 2 end": ("E0929", "300 does not fit u8"),
    _A + "match p: case a: y = 1 case b: y = 2 end": ("E0910", "bool"),
    _A + "match x: case a: y = 1 case b: z = 2 end": ("E0902", "y"),
    _A + "y = x + 1": ("E0915", "m"),
    _A + "y = i32(x + x)": ("E0915", "not defined for m"),
    _A + "y = if x < a then 1 else 2": ("E0915", "not defined for m"),
    _A + "a = 1; y = 2": ("E0906", "a"),
    "type m = a | b\ntype n = b | c\nlet f (x of m) returns (y of int): y = 1": ("E0906", "b"),
    _A + "automaton: state s: y = 1; until p then t end": ("E0971", "there is no state t"),
    _A + "automaton: state s: y = 1 state s: y = 2 end": ("E0971", "state s is there twice"),
    _A + "automaton x of m: state a: y = 1 end": ("E0971", "a member b that is no state"),
    _A + "automaton z of m: state a: y = 1 state c: y = 2 end": ("E0971", "c is no member of m"),
    _A + "automaton z of w: state a: y = 1 state b: y = 2 end": ("E0904", "w"),
    _A + "y = 1; until p then s": ("E0971", "`until` stands outside"),
    _A + "automaton: state s: n = last n + 1; y = !n; end": ("E0921", "Uninitialized last"),
    _A + "automaton: state s: n init 0 = last n + 1; y = !n; state t: n init 0 = last n + 2; y = !n end": ("E0922", "Conflicting"),
    _A + "automaton: state s: y = z + 1; z = y + 1 end": ("E0920", "Non causal"),
}  # fmt: skip


@pytest.mark.parametrize("source", WRONG)
def test_mistakes_are_told(source: str) -> None:
    code, words = WRONG[source]
    with pytest.raises(Error) as problem:
        at.madl(source=source)
    assert problem.value.code == code and words in str(problem.value)


@pytest.mark.parametrize("value", ["c", 2, -1, 0.5, None, [["a"], ["b"]]])
def test_what_is_no_member_is_refused(value: Any) -> None:
    nd = at.madl(source="type m = a | b\nlet f (x of m) returns (y of int): match x: case a: y = 1 case b: y = 2 end")
    with pytest.raises(Error, match="E0960"):
        nd.f(value)


def test_state_is_a_name_elsewhere() -> None:
    nd = at.madl(source="let f (state of int) returns (y): y = state + 1")
    assert nd.f(2) == 3
