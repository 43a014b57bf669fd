"""Write the list of error codes into docs/errors.md, from the registry and the cases of tests/errors: part of `make docs`."""

from __future__ import annotations

from pathlib import Path

from atoll.errors.catalog import CODES, Code

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "errors.md"
CASES = ROOT / "tests" / "errors" / "cases"
START = "<!-- everything below is written by tools/error_codes.py -->"
FAMILIES = {
    "E01": "Text and names",
    "E02": "Types and ranks",
    "E03": "Sizes",
    "E04": "Memory and modes",
    "E05": "Schedules and certificates",
    "E06": "Calls from Python",
    "E07": "Running",
    "E08": "Compiling, cache, tools",
    "E09": "MADL",
    "E10": "Derivatives",
    "E11": "Functions and data",
    "E12": "Beyond one machine",
    "E14": "Futhark",
}


def section(code: Code) -> str:
    """One code: its message, its story, and what it looks like."""
    head, *rest = code.describe().split("\n\n")
    title = head.removeprefix(f"{code.code} ")
    parts = [f"### {code.code}", f"`{title}`", *rest]
    case = CASES / f"{code.code}.py"
    named = [case] if case.exists() else sorted(CASES.glob(f"{code.code}_*.py"))
    if named:
        lines = [line.removeprefix("#>").removeprefix(" ") for line in named[0].read_text().splitlines() if line.startswith("#>")]
        parts.append("```text\n" + "\n".join(lines) + "\n```")
    return "\n\n".join(parts)


def listing() -> str:
    """Every code, by family."""
    assert {code[:3] for code in CODES} <= FAMILIES.keys(), "a family of codes has no name"
    text = [START]
    for prefix, name in FAMILIES.items():
        codes = sorted(code for code in CODES if code.startswith(prefix))
        if codes:
            text += [f"## {prefix}xx: {name}", *(section(CODES[code]) for code in codes)]
    return "\n\n".join(text) + "\n"


def main() -> None:
    written, _, _ = PAGE.read_text().partition(START)
    PAGE.write_text(written + listing())
    print(f"wrote {PAGE}: {len(CODES)} codes")


if __name__ == "__main__":
    main()
