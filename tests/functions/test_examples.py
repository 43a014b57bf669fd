"""Every program of examples/functional against its Python oracle, compiled; the smaller ones interpreted too."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "functional"
NAMES = sorted(p.stem for p in FOLDER.glob("*.py"))


def program(name: str) -> Any:
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def test_all_are_there() -> None:
    assert NAMES == "binomial_queues differentiator graph_colouring json_parser lambda_anf queens red_black sha256".split()


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_python(name: str) -> None:
    pairs = program(name).check()
    assert len(pairs) >= 2
    for ours, theirs in pairs:
        assert ours == theirs


INTERPRETED = {
    "binomial_queues": ("sorted_down", [([5, 3, 9, 1],)]),
    "differentiator": ("derived_size", [(2,)]),
    "queens": ("all_queens", [(4,)]),
    "red_black": ("sorted_keys", [([3, 1, 2, 5, 4, 3],)]),
}


@pytest.mark.parametrize("name", INTERPRETED)
def test_interpreter_agrees(name: str) -> None:
    entry, calls = INTERPRETED[name]
    f = getattr(program(name), entry)
    for args in calls:
        assert f.interpret(*args) == f(*args)


def test_interpreter_reads_json() -> None:
    j = program("json_parser")
    for text in j.RIGHT[1:4]:
        assert j.python(j.parse.interpret(j.bytes_of(text))) == j.python(j.parse(j.bytes_of(text)))
