"""What files cite is in the repository: pages of docs/ and their sections, the numbered lines of docs/sources.md, and other files."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("atoll", "tests", "bench", "tools", "examples")


def texts() -> dict[str, str]:
    """The sources, but this file and what `make bench` installs (bench/.peers)."""
    found = [p for folder in FOLDERS for ext in ("py", "c", "h") for p in (ROOT / folder).rglob(f"*.{ext}") if p != Path(__file__).resolve()]
    names = {p: p.relative_to(ROOT) for p in found}
    return {str(name): p.read_text() for p, name in names.items() if not any(part.startswith(".") for part in name.parts)}


def test_pages_and_lines_that_are_cited_are_there() -> None:
    page = (ROOT / "docs" / "sources.md").read_text()
    lines = set(re.findall(r"^\| (\w+) \|", page, re.MULTILINE))
    wrong, numbered = [], 0
    for name, text in texts().items():
        wrong += [f"{name}: {cited}" for cited in re.findall(r"\bnotes/\w+\.md", text)]
        wrong += [f"{name}: docs/{cited}.md" for cited in re.findall(r"\bdocs/(\w+)\.md", text) if not (ROOT / "docs" / f"{cited}.md").exists()]
        cited = re.findall(r"\bdocs/sources\.md,?(?: Schenck)? ([A-Z]\d+)\b", text)
        numbered += len(cited)
        wrong += [f"{name}: docs/sources.md {line}" for line in cited if line not in lines]
    assert wrong == []
    assert numbered > 20  # they are looked for as they are written


def test_sections_of_the_reference_that_are_cited_are_there() -> None:
    sections = set(re.findall(r"^## (\d+)\. ", (ROOT / "docs" / "reference.md").read_text(), re.MULTILINE))
    cited = [(name, number) for name, text in texts().items() for number in re.findall(r"\bdocs/reference\.md section (\d+)", text)]
    assert [(name, number) for name, number in cited if number not in sections] == []
    assert len(cited) > 5


def test_files_that_are_cited_are_there() -> None:
    """By a path from the root or from a folder that it is in, as transform/split.py; what programs make or a system has is no citation."""
    others = ("sys/", "numpy/", "out/")
    every = texts()
    known = {part for name in every for part in _ends(name)}
    cited = [(name, path) for name, text in every.items() for path in re.findall(r"(?<![\w/.])((?:[a-z_]+/)+[a-z_0-9]+\.(?:py|c|h))\b", text)]
    wrong = [(name, path) for name, path in cited if path not in known and not path.startswith(others)]
    assert wrong == []
    assert len(cited) > 200
    assert [name for name, text in every.items() if re.search(r"\bshared/(?:language|design|style|defects|trials)|(?<![\w/])language\.md", text)] == []


def _ends(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[k:]) for k in range(len(parts))]
