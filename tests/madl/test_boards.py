"""The programs of boards.py: oracle, meaning, compiled code and, for the shortest, exported C of gcc, against what they compute in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from atoll.madl.api import Module
from atoll.madl.back_to_back import Caller
from atoll.madl.meaning import Meaning
from atoll.madl.simulate import coverage, run_oracle
from atoll.madl.targets import TARGETS
from tests.madl.boards import BOARDS, stimuli
from tests.madl.harness import by_code, module

CYCLES = {"charge": 25, "can": 6, "beams": 12, "crc32": 6, "ring": 30, "motor": 25, "pwm": 60}  # the meaning is slow; `make test-firmware` runs more


def flat(value: Any) -> Any:
    return [flat(v) for v in value] if isinstance(value, (tuple, list)) else np.asarray(value).tolist()


def same_bits(found: list[Any], wanted: list[Any]) -> None:
    for number, (a, b) in enumerate(zip(found, wanted, strict=True)):
        assert flat(a) == flat(b), number


def sized(nd: Module, name: str) -> tuple[Any, dict[Any, int]]:
    op = nd._library.operators[name if name in nd._library.operators else list(nd._library.operators)[-1]]
    return op, {sym: 9 for sym in op.graph.sizes}


@pytest.mark.parametrize("name", BOARDS)
def test_everyone_computes_the_same(name: str) -> None:
    source, model = BOARDS[name]
    nd = module(source)
    op, sizes = sized(nd, name)
    cycles = stimuli(name, CYCLES.get(name, 120))
    step = model()
    wanted = [list(step(*row)) for row in cycles]
    found, oracle = run_oracle(op, sizes, cycles)
    same_bits(found, wanted)
    meaning = Meaning(nd._library, op.name, {op.graph.size_names[s]: n for s, n in sizes.items()})
    same_bits([meaning.step(*row) for row in cycles], found)
    same_bits(by_code(op, sizes, cycles), found)
    if name in ("can", "protocol"):
        same_bits(Caller(op, (), dict(sizes)).run(cycles, TARGETS["gcc"], ["-Os"]), found)
    if name == "protocol":
        assert "never reached" not in "\n".join(coverage(op, oracle))


_INDEX = {"next": "wrap<<4>>(last pos + 1)", "given": "clamp<<4>>(k)", "computed": "wrap<<4>>(last pos + k)"}
_USE = {
    "replaced": "store = last store with [last pos] = !x; y = !store.[0]",
    "read": "y = (last store).[last pos] + 1; store = last store with [0] = !x",
    "both": "old = !(last store).[last pos]; store = last store with [last pos] = !x; y = old + 0",
    "new index": "store = last store with [pos] = !x; y = store.[pos] + store.[3]",
}
_AROUND = {
    "top": "  {use}; {following}",
    "if": "  if k > 0 then {use}; {following} else y = 7; store = last store; pos = last pos end",
    "automaton": "  automaton: state a: {use}; {following}; until k > 2 then b state b: y = 7; store = last store; pos = last pos; until k < 2 then a end",
    "forward": "  forward <<3>> returns (y = {{z}}): z init 0; store init [4]0; pos init clamp<<4>>(0); {inside}; {following} resume",
}


@pytest.mark.parametrize("around", _AROUND)
def test_indices_that_are_state(around: str) -> None:
    """What is built with an index keeps its value when the index moves on in the same cycle."""
    for use in _USE.values():
        for following in _INDEX.values():
            body = _AROUND[around].format(use=use, following=f"pos = {following}", inside=use.replace("y = ", "z = "))
            first = "" if around == "forward" else "  store init [4]0; pos init clamp<<4>>(0);\n"
            nd = module(f"let f (x of int, k of int) returns (y of int):\n{first}{body}\n")
            op, meaning = nd._library.operators["f"], Meaning(nd._library, "f", {})
            cycles = [(np.int32(10 + n), np.int32(n % 4)) for n in range(7)]
            found = run_oracle(op, {}, cycles)[0]
            same_bits([meaning.step(*row) for row in cycles], found)
            if following.startswith("wrap<<4>>(last pos + 1"):
                same_bits(by_code(op, {}, cycles), found)


@pytest.mark.parametrize("t", ["u8", "i16", "f32", "q<<2,6>>"])
@pytest.mark.parametrize("form", ["if p then {a} else {b} end", "match p: case true: {a} case false: {b} end", "automaton: state on: {a}; until p then off state off: {b}; until p then on end"])
def test_types_that_another_case_says(t: str, form: str) -> None:
    """The meaning of `s = 3` does not depend on which case runs first."""
    one = "1.5" if t[0] in "fq" else "100"
    source = f"let f (p of bool, x of {t}) returns (y of bool):\n  s init 0; {form.format(a='s = 1', b='s = last s*last s + x')};\n  y = s + s < {one}\n"
    nd = module(source)
    op = nd._library.operators["f"]
    values = {"u8": np.uint8(190), "i16": np.int16(30000), "f32": np.float32(0.1), "q<<2,6>>": np.int8(100)}
    cycles = [(np.bool_(p), values[t]) for p in (1, 1, 0, 0, 0, 1, 0, 0)]
    found = run_oracle(op, {}, cycles)[0]
    meaning = Meaning(nd._library, "f", {})
    same_bits([meaning.step(*row) for row in cycles], found)
    same_bits(by_code(op, {}, cycles), found)
