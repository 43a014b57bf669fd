"""What a stranger found, who had only the docs: 17 November."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.cli import main

NODES = """
let bounds (x of u64) returns (a of int, b of int): i = clamp<<7>>(x); j = wrap<<7>>(x); a = i32(i); b = i32(j)
let inside (x of int) returns (z of int, w of f64): z = i32(clamp<<5>>(x)) + 1; w = f64(wrap<<3>>(x))
let rounds (x of u64) returns (s): m = clamp<<5>>(x); forward <<m>> returns (s = {t}): t init 0 = last t + 1
const table = [|1, 2, 3, 4|]
let thrice (k of idx<<3>>) returns (y of int): y = table.[k] + table.[k+1] + table.[k]
type c = { re of f64, im of f64 }
let parts (a of c) returns (b of f64): b = a.re + 2.0*a.im
let acc (x of f64) returns (s): s init 0.0 = last s + x
let kept <<n>> (x of f64) returns (y of f64): buf init [n]0.0; buf = last buf; y = x
"""


@pytest.fixture(scope="module")
def nd() -> at.madl:  # type: ignore[valid-type]
    return at.madl(source=NODES)


@pytest.mark.parametrize("x", [0, 5, 6, 7, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1])
def test_indices_of_numbers_without_a_sign(nd, x: int) -> None:
    wanted = (min(x, 6), x % 7)
    assert tuple(map(int, nd.bounds(np.uint64(x)))) == tuple(map(int, nd.bounds.interpret(np.uint64(x)))) == wanted
    assert int(nd.rounds(np.uint64(x))) == min(x, 4)


def test_indices_are_numbers_inside_expressions(nd) -> None:
    assert tuple(map(float, nd.inside(9))) == tuple(map(float, nd.inside.interpret(9))) == (5.0, 0.0)


def test_a_constant_is_one_table(nd) -> None:
    assert nd.thrice(1) == 7 and nd.thrice.c().count("static const int32_t") == 1


def test_complex_numbers_are_records(nd) -> None:
    assert nd.parts(1 + 2j) == nd.parts(np.complex128(1 + 2j)) == 5.0


def test_state_is_saved_under_the_name_that_is_given(nd, tmp_path: Path) -> None:
    one, two = nd.acc(), nd.acc()
    one.step(2.0)
    one.save(tmp_path / "state.bin")
    two.restore(tmp_path / "state.bin")
    assert two.step(1.0) == 3.0


def test_sizes_that_no_memory_has(nd) -> None:
    with pytest.raises(at.SizeError, match="E0612"):
        nd.kept(n=2**62)


def test_an_index_that_elements_are_taken_at_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.madl"
    path.write_text("let sum (x of [4]int) returns (s): forward <<4>> [i] returns (s = {t}): t init 0 = last t + x.[i]\n")
    assert main(["check", str(path)]) == 0 and "never used" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "words, said",
    [
        (["--in", "x.csv", "--out", "no/such/folder.csv"], "cannot be written"),
        (["--in", "twice.csv"], "two columns x"),
        (["--in", "x.csv", "--tolerance", "-1"], "--tolerance is -1.0"),
        (["1.0", "--cycles", "-3"], "--cycles is -3"),
        (["--in", "x.csv", "--cycles", "2"], "--cycles has no meaning with --in"),
        (["--in", "x.csv", "--on", ""], "there is no target"),
    ],
)
def test_words_of_the_command(words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.madl").write_text("let acc (x of f64) returns (s): s init 0.0 = last s + x\n")
    Path("x.csv").write_text("x\n1\n")
    Path("twice.csv").write_text("x,x\n1,2\n")
    assert main(["run", "m.madl:acc", *words]) == 2
    assert said in capsys.readouterr().err
