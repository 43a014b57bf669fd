"""docs/trust.md says how many lines are believed: the counts are those of the files, give or take a tenth."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKER = ("prove", "terms", "rules", "blocks", "follow", "loops", "nests", "sums", "verified", "replayed", "limits")
PARTS = {
    "`atoll/check/` without": [*(ROOT / "atoll" / "check" / f"{x}.py" for x in CHECKER), *(ROOT / "atoll" / "check" / "rewrites").glob("*.py")],
    "`proofs/main.ml`": [ROOT / "proofs" / "main.ml"],
    "`proofs/*.v`": list((ROOT / "proofs").glob("*.v")),
    "front end": [p for x in ("surface", "elaborate", "types", "core", "ainf", "plan", "lower") for p in (ROOT / "atoll" / x).rglob("*.py")],
    "`atoll/backends/c/`": list((ROOT / "atoll" / "backends" / "c").rglob("*.py")),
    "`atoll/runtime/native/`": [p for p in (ROOT / "atoll" / "runtime" / "native").glob("*.[ch]")],
}


@pytest.mark.parametrize("part", PARTS)
def test_lines(part: str) -> None:
    row = next(line for line in (ROOT / "docs" / "trust.md").read_text().splitlines() if line.startswith(f"| {part}"))
    said = int(row.split("|")[2].strip().replace(",", ""))
    found = sum(len(p.read_text().splitlines()) for p in PARTS[part])
    assert 0.9 < said / found < 1.1, (part, said, found)


def test_theorems_that_are_printed() -> None:
    """`make proofs` prints of as many theorems as the page says that they rest on nothing."""
    printed = sum(p.read_text().count("\nPrint Assumptions ") for p in (ROOT / "proofs").glob("*.v"))
    assert f"({printed} theorems are printed" in (ROOT / "docs" / "trust.md").read_text()
