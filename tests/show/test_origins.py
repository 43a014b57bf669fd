"""Every line of every stage knows where it comes from, or is made by the compiler and on the list of what it makes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import atoll as at
from atoll.errors import Error
from atoll.function import Function
from atoll.origins import Row
from atoll.stages import rows, text_of
from tests.show import programs

FUNCTIONS = [f for f in vars(programs).values() if isinstance(f, Function)]
MADE = re.compile(r"int status = 0;.*|done:|\(void\)\w+;.*|int64_t at_units = AT_UNITS;")
"""What the compiler makes for reasons of its own, inside the functions of a C file: where they keep their status, and where they end."""


def kernel(found: list[Row]) -> list[Row]:
    """The part of a C file that is printed from the program: not the support code, nor how it is called from Python."""
    inside, chosen = False, []
    for row in found:
        inside = inside or bool(re.match(r"AT_PIECE int|static \w+ \*?(at_program|f_)|typedef struct \{ int64_t at_extent", row.text))
        if inside:
            chosen.append(row)
        inside = inside and not row.text.startswith("}")
    return chosen


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.name)
def test_every_line_has_an_origin(f: Function) -> None:
    source = text_of(f).surface.span.source
    for stage in ("core", "ainf", "plan", "loops", "passes", "rewritten", "c"):
        try:
            found = rows(f, stage)
        except Error as error:
            assert error.code in ("E1124", "E0801"), stage  # no loops of functions that recurse
            continue
        assert [row.text for row in found] == f.show(stage).split("\n"), stage  # marks change nothing
        if stage == "c":
            found = kernel(found)
            assert found
        for row in found:
            made = (stage == "c" and MADE.fullmatch(row.text.strip())) or (stage == "passes" and row.text.startswith("-- "))
            if row.text.strip() and not made and row.text != "no rewrite changes these loops":
                assert row.spans, f"{stage}: {row.text}"
                header = row.text.startswith(("def ", "grad_loss<", "let a_", "let w_", "static int"))  # of the derivative itself, which nobody wrote
                assert row.lines(source) or "numpy/" in row.spans[0].source.name or header or f is programs.slope, f"{stage}: {row.text}"


def lines(f: Function, stage: str, text: str) -> tuple[int, ...]:
    """The lines of the source, counted from the `def`, that the lines of a stage with this text come from."""
    source, first = text_of(f).surface.span.source, text_of(f).surface.span.line
    return tuple(sorted({at - first for row in rows(f, stage) if text in row.text for at in row.lines(source)}))


def test_the_lines_are_the_right_ones() -> None:
    f = programs.spread
    assert lines(f, "ainf", "= sub(") == (1,)
    assert lines(f, "ainf", "= mul(") == (2,)
    assert lines(f, "loops", "accumulate") == (1, 2, 3)
    assert lines(f, "rewritten", "+= (x2") == (2, 3)  # the product is fused into the sum, in every copy of the loop
    assert lines(f, "rewritten", "sqrt(") == (3,)
    assert lines(f, "c", "sqrt(s4") == (3,)
    assert lines(f, "plan", "for r in") == (1, 2, 3)


def test_equal_lines_come_from_all_places_that_say_them() -> None:
    assert lines(programs.twice, "ainf", "= mul(") == (1, 2)


def test_calls_and_derivatives_lead_back_to_the_text() -> None:
    first = programs.spread.surface.span.line - programs.loss.surface.span.line
    assert lines(programs.loss, "ainf", "= sqrt(") == (first + 3, 1)  # in spread, called by loss
    assert lines(programs.slope, "rewritten", "sqrt(") == (first + 3, 1)
    assert lines(programs.slope, "ainf", "div(0.5") == (first + 3, 1)  # the derivative of sqrt


def test_shown_in_the_margin() -> None:
    f = programs.spread
    first = f.surface.span.line
    shown = f.show("ainf", origins=True).split("\n")
    assert shown[2].startswith(f"{first + 1} | let for i")
    assert f.show("c", origins=True).count(" . | ") > 10  # support code is made by the compiler


def test_exported_c_carries_them(tmp_path: Path) -> None:
    f = programs.spread
    first = f.surface.span.line
    f.export_c(tmp_path / "comments", origins="comments")
    text = (tmp_path / "comments" / "spread.c").read_text()
    assert re.search(rf"sqrt\(s4\).*/\* line {first + 3} \*/", text)
    f.export_c(tmp_path / "lines", origins="lines")
    text = (tmp_path / "lines" / "spread.c").read_text()
    assert f'#line {first + 3} "{f.surface.span.source.name}"' in text
    for folder in ("comments", "lines"):
        command = ["cc", "-std=c99", "-Wall", "-Werror", "spread.c", "spread_example.c", "-lm", "-o", "example"]
        subprocess.run(command, cwd=tmp_path / folder, check=True, timeout=60)
    both = [subprocess.run([tmp_path / folder / "example"], check=True, capture_output=True, timeout=10).stdout for folder in ("comments", "lines")]
    assert both[0] == both[1]


def test_a_compiler_speaks_of_the_source(tmp_path: Path) -> None:
    """What `#line` is for: gcc names the file and the line of the program."""
    f = programs.spread
    f.export_c(tmp_path, origins="lines")
    text = (tmp_path / "spread.c").read_text().replace("sqrt(s4)", "sqrt(s4) oops", 1)
    (tmp_path / "spread.c").write_text(text)
    made = subprocess.run(["cc", "-c", "spread.c"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert f"programs.py:{f.surface.span.line + 3}:" in made.stderr


def test_odd_origins() -> None:
    with pytest.raises(at.Error, match="E0610"):
        programs.spread.export_c("/tmp", origins="all")
