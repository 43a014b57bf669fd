"""A certificate is about a program and about a C file: `atoll prove --program --c`, as a user calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import atoll as at
from atoll.check.about import c_of
from atoll.cli import main
from tests.check.test_forgeries import arguments_exchanged, less, sums, twice
from tests.conformance.test_schedules_programs import load

PROGRAM = """
import atoll as at
from atoll import f32

n, m = at.sizes("n m")

@at.fn
def scaled(x: f32[n, m], by: f32[m]) -> f32[n, m]:
    twice = [2 * by[j] for j in range(m)]
    return [[x[i, j] * twice[j] for j in range(m)] for i in range(n)]

@at.fn
def other(x: f32[n, m], by: f32[m]) -> f32[n, m]:
    return [[x[i, j] * by[j] for j in range(m)] for i in range(n)]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prog.py").write_text(PROGRAM)
    source = at.fn(source=PROGRAM.rsplit("@at.fn", 1)[0])
    s = at.schedule(source).tile(("i", "j"), (4, 8), tail="guard").stage("twice", at="j_o").vectorize("j_i", 8).parallel("i_o")
    s.certificate().save(tmp_path / "scaled.cert")
    (tmp_path / "scaled.c").write_text(s.compile_text())
    return tmp_path


def test_this_program_and_this_c(folder: Path, capsys: Any) -> None:
    cert, prog, c = str(folder / "scaled.cert"), f"{folder / 'prog.py'}:scaled", str(folder / "scaled.c")
    assert main(["prove", cert]) == 0
    assert "not looked at here" in capsys.readouterr().out
    assert main(["prove", cert, "--program", prog, "--c", c]) == 0
    said = capsys.readouterr().out
    assert "made again from its text" in said and "what these loops are printed as" in said


def test_another_program(folder: Path, capsys: Any) -> None:
    assert main(["prove", str(folder / "scaled.cert"), "--program", f"{folder / 'prog.py'}:other"]) == 1
    assert "another program than other" in capsys.readouterr().out


def test_other_c(folder: Path, capsys: Any) -> None:
    c = folder / "scaled.c"
    c.write_text(c.read_text().replace(" * ", " + ", 1))
    assert main(["prove", str(folder / "scaled.cert"), "--program", f"{folder / 'prog.py'}:scaled", "--c", str(c)]) == 1
    assert "not printed from these loops" in capsys.readouterr().out


def test_c_needs_the_program(folder: Path, capsys: Any) -> None:
    assert main(["prove", str(folder / "scaled.cert"), "--c", str(folder / "scaled.c")]) == 2
    assert "--program" in capsys.readouterr().err


@pytest.mark.parametrize("make", [
    lambda: at.schedule(sums), lambda: at.schedule(twice), lambda: at.schedule(less).split("i", 4).parallel("i_o"),
    lambda: load("blur").fused_tails(), lambda: load("stencil").window(), lambda: load("matmul").tiled_tails(), lambda: load("matmul").packed(),
])  # fmt: skip
def test_loops_are_printed_as_they_were(make: Any) -> None:
    s = make()
    assert c_of(s.certificate().data, at.schedule(s.function)) == s.compile_text()


def test_places_come_from_the_program() -> None:
    """Names exchanged in the certificate do not exchange what the C does with its arguments."""
    assert c_of(arguments_exchanged(), at.schedule(less)) != at.schedule(less).compile_text()
