"""Simulation from the command line: tables in and out, golden traces, back to back, coverage, contracts."""

from __future__ import annotations

from pathlib import Path

import pytest

from atoll.cli import main
from atoll.madl.targets import available

SOURCE = """
type pose = { x of f64, on of bool }
let pid (kp of f32, r of f32, y of f32) returns (u):
  assume kp >= 0.0;
  e = r - y; i init 0.0;
  i = if abs(e) > 100.0 then 0.0 else last i + e;
  u = clip(kp*e + i, -1.0, 1.0);
  guarantee u <= 1.0 && u >= -1.0
let squares (x of [_]int) returns (y): forward ([a] = x) returns (y = [b]): b = a*a
let move (p of pose, by of f64) returns (q of pose): if p.on then q = pose(p.x + by, !p.on) else q = !p end
let sums (x of [_]int) returns (s): assume first < 100; [|first|] ++ _ = x; forward ([a] = x) returns (s = {t}): guarantee t > a - 1; t init 0 = last t + a
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m.madl").write_text(SOURCE)
    (tmp_path / "pid.csv").write_text("kp,r,y\n0.5,1.0,0.75\n0.1,0.3,0.25\n0.5,-1.0,0.5\n")
    (tmp_path / "squares.csv").write_text("x[0], x[1]\n1, 2\n0x10, -4\n")
    (tmp_path / "move.csv").write_text("p.x,p.on,by\n1.5,true,2\n1.5,0,0.1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> int:
    return main(["run", *words])


def test_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.madl:squares", "--in", "squares.csv") == 0
    assert capsys.readouterr().out.split() == ["y[0],y[1]", "1,4", "256,16"]
    assert run("m.madl:move", "--in", "move.csv") == 0
    assert capsys.readouterr().out.split() == ["q.x,q.on", "3.5,true", "1.5,false"]


def test_golden_traces_and_back_to_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.madl:pid", "--in", "pid.csv", "--out", "golden.csv") == 0
    targets = ["python", "meaning", *(["gcc"] if any(t.name == "gcc" for t in available()) else [])]
    assert run("m.madl:pid", "--in", "pid.csv", "--golden", "golden.csv", "--on", ",".join(targets)) == 0
    assert capsys.readouterr().out.splitlines() == ["golden.csv: as the oracle", *(f"{t}: as the oracle" for t in targets)]
    text = (folder / "golden.csv").read_text().splitlines()
    (folder / "golden.csv").write_text("\n".join([*text[:2], "0.5", text[3]]))
    assert run("m.madl:pid", "--in", "pid.csv", "--golden", "golden.csv") == 1
    assert "cycle 2: u is" in capsys.readouterr().out
    assert run("m.madl:pid", "--in", "pid.csv", "--golden", "golden.csv", "--tolerance", "1") == 0


def test_coverage_and_plot(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.madl:pid", "--in", "pid.csv", "--out", "t.csv", "--coverage", "--plot") == 0
    out = capsys.readouterr().out
    assert "decisions: 1 of 2 outcomes" in out and "only false" in out and "█" in out
    assert run("m.madl:move", "--in", "move.csv", "--out", "t.csv", "--coverage") == 0
    assert "decisions: 2 of 2 outcomes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "table", "words"),
    [
        ("pid", "kp,r,y\n-1,0,0\n", "pid: assume kp >= 0.0 does not hold"),
        ("sums", "x[0],x[1]\n-5,0\n", "sums: guarantee t > a - 1 does not hold"),
        ("sums", "x[0],x[1]\n100,1\n", "sums: assume first < 100 does not hold"),
    ],
)
def test_contracts(folder: Path, capsys: pytest.CaptureFixture[str], name: str, table: str, words: str) -> None:
    (folder / "in.csv").write_text(table)
    assert run(f"m.madl:{name}", "--in", "in.csv") == 1
    assert words in capsys.readouterr().err


def test_contracts_have_no_code(folder: Path) -> None:
    from atoll.madl.api import madl

    text = madl(folder / "m.madl").pid.c()
    assert "0.0f" not in text.split("pid_cycle")[-1] and "<=" not in text.split("static void pid_cycle")[-1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["m.madl:pid", "--in", "squares.csv"], "squares.csv has no column kp"),
        (["m.madl:pid", "--in", "none.csv"], "none.csv cannot be read"),
        (["m.madl:pid", "--in", "bad.csv"], "bad.csv, line 2, column y: 'much' is no f32"),
        (["m.madl:pid", "--in", "pid.csv", "--on", "abacus"], "there is no target abacus"),
        (["m.madl:pid", "1.0", "--out", "t.csv"], "--out has no meaning for a run without --in"),
    ],
)
def test_mistakes_are_told(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    (folder / "bad.csv").write_text("kp,r,y\n1,2,much\n")
    assert run(*words) == 2
    assert told in capsys.readouterr().err


def test_conditions_are_covered_when_they_decide() -> None:
    """MC/DC against its definition: a pair of cycles that differ in the part and the outcome, all other parts masked or equal."""
    import itertools

    import numpy as np

    from atoll.madl.simulate import conditions, coverage, run_oracle
    from tests.madl.harness import last

    op = last("let f (a of bool, b of bool, c of bool) returns (y): guarantee y || not y; y = if a && (b || not c) then 1 == 1 else false")
    assert [words for _, _, words in conditions(op)] == [["a", "b", "c"]]

    def told(*cycles: str) -> list[str]:
        rows = [tuple(np.bool_(x == "1") for x in cycle) for cycle in cycles]
        return coverage(op, run_oracle(op, {}, rows)[1])[2:]

    assert told("111", "011", "101", "100") == ["conditions: 6 of 6 have decided (MC/DC)"]
    for chosen in itertools.combinations(["".join(x) for x in itertools.product("01", repeat=3)], 3):
        reached = 0
        for k, value in itertools.product(range(3), "01"):
            flips = [cycle for cycle in chosen if cycle[k] == value and _outcome(cycle) != _outcome(cycle[:k] + "10"[int(cycle[k])] + cycle[k + 1 :])]
            reached += bool(flips)
        assert told(*chosen)[0] == f"conditions: {reached} of 6 have decided (MC/DC)"


def _outcome(cycle: str) -> bool:
    a, b, c = (x == "1" for x in cycle)
    return a and (b or not c)
