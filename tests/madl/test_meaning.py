"""The memory-less semantics gives what the two-sided one gives, and takes nothing from the compiler but the text."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.madl.elaborate import Elaborator
from atoll.madl.library import Library
from atoll.madl.meaning import Meaning
from atoll.madl.meaning.wires import Wrong
from atoll.madl.typing import NAMES
from tests.madl.corpus import ACCEPTED
from tests.madl.harness import NoSizes, by_meaning, by_oracle, pick_sizes, random_inputs, same

LARGE = {"P9", "P10", "P11", "P17", "P18"}  # many rounds, or arguments that must be of a kind
EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "madl").glob("*.madl"))


def agree(library: Library, name: str, seeds: range) -> None:
    op = library.operators[name]
    for seed in seeds:
        rng = random.Random(seed)
        try:
            sizes = pick_sizes(op, rng, 4)
        except NoSizes:
            return
        inputs = random_inputs(op, sizes, rng, 3)
        wanted = by_oracle(op, sizes, inputs)
        assert same(by_meaning(library, op, sizes, inputs, wanted), wanted)


@pytest.mark.parametrize("name", sorted(set(ACCEPTED) - LARGE))
def test_the_thesis(name: str) -> None:
    library = Library(ACCEPTED[name])
    agree(library, list(library.operators)[-1], range(1, 4))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples(path: Path) -> None:
    library = Library(path.read_text(), folder=path.parent)
    for name in library.operators:
        agree(library, name, range(1, 3))


def test_recursion_ends_by_sizes() -> None:
    library = Library("""
let rec sum <<n>> (x of [n]f64) returns (s of f64):
  if n == 1 then [|a|] = x; s = !a else (low of [n/2]_) ++ high = x; s = sum<<n/2>>(low) + sum<<n-n/2>>(high) end
""")
    assert Meaning(library, "sum", {"n": 7}).step(np.arange(7.0)) == [21.0]


def test_a_compiler_that_is_wrong_about_types_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """f32 taken for f64: the compiler's own oracle goes along, the meaning does not."""
    text = "let third (x of f32) returns (y of f32): y = x / 3.0"
    right = Elaborator.type

    def wrong(self: Elaborator, t: Any, env: Any) -> Any:
        found = right(self, t, env)
        return NAMES["f64"] if found == NAMES["f32"] else found

    monkeypatch.setattr(Elaborator, "type", wrong)
    library = Library(text)
    believed = by_oracle(library.operators["third"], {}, [(np.float32(1),)])[0][0]
    meant = Meaning(library, "third").step(np.float32(1))[0]
    assert believed == 1 / 3 and meant == np.float32(1) / np.float32(3) and believed != meant


def test_arguments_that_contradict_the_text() -> None:
    with pytest.raises(Wrong, match="a size is 3 and 4"):
        Meaning(Library("let f (a of [3]int, b of [3]int) returns (c): c = a ++ b"), "f").step(np.zeros(3, "int32"), np.zeros(4, "int32"))


def test_state_lives_where_the_text_says() -> None:
    """An accumulated row of a built array begins anew with each row; a resumed loop goes on."""
    nd = at.madl(source="""
let rows (m of [_][_]int) returns (s): forward, ([[x]] = m) returns (s = [{t}] init [_]0): t += x
let on (m of [_][_]int) returns (s): forward ([r] = m) returns (s = {t}): forward ([x] = r) returns (t = {u}): u init 0 = last u + x resume
""")
    m = np.arange(6, dtype="int32").reshape(2, 3)
    library = nd._library
    assert Meaning(library, "rows").step(m)[0].tolist() == nd.rows(m).tolist() == [3, 12]
    assert Meaning(library, "on").step(m)[0] == nd.on(m) == 15
