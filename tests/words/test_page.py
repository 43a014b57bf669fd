"""docs/for_numpy_users.md: every row of its tables is run."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import atoll as at

from .spellings import scene
from .test_spellings import HEAD, _check, _signature

PAGE = (Path(__file__).parents[2] / "docs" / "for_numpy_users.md").read_text()


def _rows(title: str) -> list[list[str]]:
    section = PAGE.split(f"## {title}")[1].split("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
    return [row for row in cells[2:]]


def _code(cell: str) -> str:
    found = re.match(r"`(.*?)`$", cell)
    assert found is not None, cell
    return found.group(1)


def test_words() -> None:
    texts = [_code(row[0]) for row in _rows("Words")]
    assert len(texts) >= 30
    assert not _check(_signature("float64"), texts, scene("float64", 4, 6), 1e-9, compiled=False)


@pytest.mark.parametrize("row", _rows("What is refused"), ids=lambda row: str(row[0]))
def test_refused(row: list[str]) -> None:
    """What is refused is refused, and what to write instead is a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(at.Error):
            at.fn(source=f"{HEAD}\ndef f({_signature('float64')}):\n    return {_code(row[0])}\n")
        at.fn(source=f"{HEAD}\ndef f({_signature('float64')}):\n    return {_code(row[1])}\n")
