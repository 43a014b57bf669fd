"""What files cite is in the repository: pages of docs/, and the numbered lines of docs/sources.md."""

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
