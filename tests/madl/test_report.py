"""`atoll report` and traceability: what the C compiler says, bounds that hold, comments that lead back to the source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.madl.c_file import CFile
from atoll.madl.report import count
from atoll.sizes.poly import show
from tests.madl.harness import last, module, strict_compile

SOURCE = """
let dot (u of [_]f32, v) returns (s):
  forward ([a] = u) ([b] = v) returns (s = {t}): t init 0.0 += a*b

let node avg (x of f32) returns (y):
  line init [4]0.0;
  forward ([o] = last line) returns (line = [d]): d = !!last (!o init !x) end
  y = 0.25*dot(line, [4]1.0)
"""


def test_report_tells_what_an_operator_costs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.madl").write_text(SOURCE)
    assert main(["report", str(tmp_path / "m.madl"), "--target", "gcc"]) == 0
    out = capsys.readouterr().out
    for words in ("func dot", "needs     n >= 0", "at most n rounds", "mul n", "node avg", "16 bytes of state", "calls 1", "bytes along the deepest chain", "copies    !x", "shared    line: line, o, d"):
        assert words in out, words
    assert main(["report", str(tmp_path / "m.madl"), "--target", "abacus"]) == 2


def test_bounds_are_polynomials_of_sizes() -> None:
    op = last("let f (a of [_][_]int) returns (s): forward ([r] = a) returns (s = {t}): t init 0; forward ([x] = r) returns (t = {u} init last t): u += x end")
    file = CFile("m", [op])
    found = count(file, file.exported[0].cycle)
    assert {show(rounds) for _, _, rounds in found.loops} == {"n", "m"}
    assert show(found.operations["add"]) in ("m*n", "n*m")


def test_the_larger_branch_counts() -> None:
    op = last("let f (c of bool, a of int) returns (b): if c then b = a + 1 else b = a*a + a*3 + 1 end")
    file = CFile("m", [op])
    assert {k: show(v) for k, v in count(file, file.exported[0].cycle).operations.items() if k in ("add", "mul", "branches")} == {"add": "2", "mul": "2", "branches": "1"}


def test_every_statement_leads_to_its_line(tmp_path: Path) -> None:
    nd = module(SOURCE)
    nd.export_c(tmp_path, origins="comments")
    text = (tmp_path / "madl.c").read_text().splitlines()
    rows = json.loads((tmp_path / "madl_map.json").read_text())["lines"]
    leads = {text[row["c"] - 1].strip(): row["line"] for row in rows}
    assert leads["*s += u[idx] * v[idx];"] == 3
    assert any(line == 7 for line in leads.values())
    strict_compile((tmp_path / "madl.c").read_text(), (tmp_path / "madl.h").read_text(), "madl", tmp_path)
    lined = nd.c_file(origins="lines").source()
    assert '#line 3 "' in lined
    strict_compile(lined, nd.c_file(origins="lines").header(), "madl", tmp_path)
