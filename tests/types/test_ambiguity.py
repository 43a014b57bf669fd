"""The edits an ambiguity error suggests do what they say: one expression or one parameter replaced, and the reading is the only one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

import atoll as at

from .wrong import FOLDER, HEAD, cases

AMBIGUOUS = [(title, program, message) for path in sorted(FOLDER.glob("*.txt")) for title, program, message in cases(path) if "E0261" in message and "two places, one" not in title]


def readings(message: str) -> list[str]:
    return re.findall(r"reading \d+: (.*)", message)


def edits(message: str) -> list[str]:
    """What the help line says to write for each reading, in order."""
    (help_,) = re.findall(r"help: write (.*)", message)
    help_ = re.sub(r"(for reading \d+) \([a-z, ]+\)", r"\1", help_)  # what the reading means, in words
    found = []
    rest = help_
    for k in range(1, len(readings(message)) + 1):
        text, rest = rest.split(f" for reading {k}", 1)
        found.append(text.removeprefix(", "))
    return found


def edited(program: str, edit: str) -> Iterator[str]:
    """The program with the edit in one place: a parameter's annotation, or any one expression that the edit is about."""
    parameter = re.fullmatch(r"`(\w+): (.*)`", edit)
    if parameter:
        yield re.sub(rf"(    def \w+\([^)]*\b){parameter[1]}(?=[,)])", rf"\g<1>{parameter[1]}: {parameter[2]}", program, count=1)
        return
    lines = program.splitlines()
    returned = [n.value for n in ast.walk(ast.parse(program)) if isinstance(n, ast.Return) and n.value is not None]
    for node in (inner for value in returned for inner in ast.walk(value)):
        if isinstance(node, (ast.Call, ast.BinOp, ast.Name)) and node.lineno == node.end_lineno:
            line = lines[node.lineno - 1]
            new = line[: node.col_offset] + edit + line[node.end_col_offset :]
            yield "\n".join([*lines[: node.lineno - 1], new, *lines[node.lineno :]])


def explained(program: str) -> str | None:
    """The elaborated program without comments and names of elements; None where it is refused (sizes excepted)."""
    try:
        text = at.fn(source=HEAD + program).explain()
    except at.SizeError as error:
        return f"accepted by rank: {error.code}"
    except at.Error:
        return None
    code = [line.split("  #")[0].rstrip() for line in text.splitlines()]
    return "\n".join(_renamed(line) for line in code if line and not line.lstrip().startswith("#"))


def _renamed(line: str) -> str:
    """Parameters of lambdas by position."""
    for k, params in enumerate(re.findall(r"lambda ([\w, ]+):", line)):
        for j, name in enumerate(params.split(", ")):
            line = re.sub(rf"\b{name}\b(?!\()", f"v{k}{j}", line)
    return line


@pytest.mark.parametrize(("title", "program", "message"), AMBIGUOUS, ids=[t for t, *_ in AMBIGUOUS])
def test_every_edit_selects_its_reading(title: str, program: str, message: str) -> None:
    wanted = readings(message)
    assert len(wanted) >= 2 and len(edits(message)) == len(wanted) == len(set(wanted))
    outcomes = []
    for reading, edit in zip(wanted, edits(message), strict=True):
        found = [text for new in edited(program, edit) if (text := explained(new)) is not None]
        assert found, f"no single place takes {edit}"
        parts = [_renamed(re.sub(r"^line \d+: ", "", part)) for part in reading.split("; ")]
        by_rank = [text for text in found if text.startswith("accepted by rank")]
        as_read = [text for text in found if all(part in text for part in parts)]
        assert by_rank or as_read, (reading, found)
        outcomes.append((as_read or found)[0])
    assert len(set(outcomes)) == len(outcomes) or all(o.startswith("accepted by rank") for o in outcomes)


def test_independent_places_are_told_one_by_one() -> None:
    program = "@at.fn\ndef f(a: f64[n, m, k]):\n    return {} * {}"
    for first, second, column in (("sum(len(a))", "sum(len(a))", 12), ("sum(map(len, a))", "sum(len(a))", 31)):
        with pytest.raises(at.Error, match="E0261: sum\\(len\\(a\\)\\) has 2 readings") as caught:
            at.fn(source=HEAD + program.format(first, second))
        assert caught.value.span is not None and caught.value.span.column == column - 1
    assert at.fn(source=HEAD + program.format("sum(map(len, a))", "sum(map(len, a))")).type.endswith("-> i64")


def test_there_are_enough() -> None:
    assert len(AMBIGUOUS) >= 8
