"""Loops whose number of rounds is a value: forward <<k>> with k of type idx<<n>>. Nothing can fail, so k has a bound, and arrays keep sizes that are known before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.madl.report import report_file
from tests.madl.harness import agree, by_code, by_meaning, by_oracle, load, same

FIRST = """
let first <<n>> (x of [n]f64, k of idx<<n+1>>) returns (s):
  forward <<k>> [i] returns (s = {t}): t init 0.0 = last t + x.[i]
"""
COMPUTED = """
let total (v of int) returns (s):
  k = clamp<<100>>(v);
  forward <<k>> [i] returns (s = {t}): t init 0 = last t + i
"""
BETWEEN = """
let between <<n>> (x of [n]int, a of idx<<n+1>>) returns (s):
  forward <<a:n>> [i] returns (s = {t}): t init 0 = last t + x.[i]
"""
FILL = """
let fill <<n>> (x of [n]int at 'l, k of idx<<n+1>>) returns (y at 'l):
  forward <<k>> [i] returns (y = {z} init x): z = last z with [i] = 0
"""
NESTED = """
let triangle (v of int) returns (s):
  k = clamp<<9>>(v);
  forward <<k>> [i] returns (s = {t}):
    j = clamp<<9>>(i);
    forward <<j>> returns (c = {d}): d init 0 = last d + 1 end
    t init 0 = last t + c
"""
STATE = """
let kept (v of int) returns (s): k = clamp<<5>>(v); forward <<k>> returns (s = {t}): t init 0 = last t + 1 resume
"""


@pytest.mark.parametrize("text", [FIRST, COMPUTED, BETWEEN, FILL, NESTED, STATE], ids=["first", "computed", "between", "fill", "nested", "state"])
def test_code_oracle_and_meaning_agree(text: str) -> None:
    library = load(text)
    (op,) = library.operators.values()
    for seed in range(4):
        agree(op, seed=seed, cycles=4, code=seed == 0)
    for n in (0, 1, 4):
        sizes = {sym: n for sym in op.graph.sizes}
        inputs = [tuple(np.arange(n, dtype="float64" if "f64" in text else "int32") + 1 if len(op.graph.arguments) == 2 and w is op.graph.arguments[0] else np.int32(k) for w in op.graph.arguments) for k in range(n + 1)]
        wanted = by_oracle(op, sizes, inputs)
        assert same(by_meaning(library, op, sizes, inputs, wanted), wanted)
        assert same(by_code(op, sizes, inputs), wanted)


def test_values() -> None:
    assert [at.madl(source=FIRST).first(np.arange(4.0), k) for k in range(5)] == [0.0, 0.0, 1.0, 3.0, 6.0]
    assert [at.madl(source=COMPUTED).total(v) for v in (-3, 5, 500)] == [0, 10, sum(range(99))]
    assert [at.madl(source=BETWEEN).between(np.arange(5, dtype="int32"), a) for a in (0, 3, 5)] == [10, 7, 0]
    assert at.madl(source=FILL).fill(np.array([1, 2, 3], "int32"), 2).tolist() == [0, 0, 3]
    assert at.madl(source=NESTED).triangle(4) == 6
    kept = at.madl(source=STATE).kept()
    assert [int(kept.step(v)) for v in (2, 0, 3)] == [2, 2, 5]


@pytest.mark.parametrize(
    "text, code, words",
    [
        ("let f (k of int) returns (s): forward <<k>> returns (s = {t}): t init 0 = last t + 1", "E0904", "clamp<<n>>(k)"),
        ("let f (x of [8]f64, k of idx<<10>>) returns (s): forward <<k>> [i] returns (s = {t}): t init 0.0 = last t + x.[i]", "E0918", "i is in 0..k - 1"),
        ("let f (x of [8]f64, k of idx<<9>>) returns (y): forward <<k>> [i] returns (y = [t]): t = x.[i] + 1.0", "E0919", "only known when the program runs"),
        ("let f (k of idx<<9>>) returns (s): forward <<k:5>> returns (s = {t}): t init 0 = last t + 1", "E0913", "may have a negative size"),
        ("let f (x of [4]int, k of idx<<4>>) returns (s): forward <<k>> ([a] = x) returns (s = {t}): t init 0 = last t + a", "E0910", "idx"),
    ],
)
def test_what_is_refused(text: str, code: str, words: str) -> None:
    with pytest.raises(at.Error) as caught:
        at.madl(source=text)
    assert caught.value.code == code and words in str(caught.value)


def test_bounds_know_how_large_the_value_can_be(tmp_path: Path) -> None:
    (tmp_path / "r.madl").write_text(FIRST + COMPUTED)
    lines = report_file(tmp_path / "r.madl", None, "gcc", "-Os", "int32_t").splitlines()
    assert [x.strip() for x in lines if "loop " in x] == ["loop      i: at most n rounds", "loop      i: at most 99 rounds"]
    header = next(p for p in at.madl(source=FIRST).export_c(tmp_path, index="int16_t") if p.suffix == ".h").read_text()
    assert "<= 32767" in header
