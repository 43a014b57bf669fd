"""The text of a .tune file: sections named after functions, each with lines `choice = value`. What is wrong is told with its place.

    [blur]          a function of the source file beside it
    jam = 4         # what follows a # is for people
"""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from atoll.errors import NOWHERE, Source, Span, fail


@dataclass
class Section:
    """The choices of one function, with the places of its name and of theirs."""

    span: Span
    values: dict[str, str] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)


def read(path: Path) -> dict[str, Section]:
    """The sections of a file, by the names of their functions."""
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        wrong(path, f"it cannot be read ({error.strerror})")
    except UnicodeDecodeError as error:
        wrong(path, f"it is no text: byte {error.start + 1} is not UTF-8")
    source = Source(str(path), text)
    found: dict[str, Section] = {}
    current: Section | None = None
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(r"(^|\s)[#;].*", "", line).strip()
        if not words:
            continue
        start = len(line[: len(line) - len(line.lstrip())].encode())
        span = Span(source, number, start, number, start + len(words.encode()))
        head = re.fullmatch(r"\[\s*(\S+)\s*\]", words)
        if head is not None:
            if head.group(1) in found:
                wrong(path, f"[{head.group(1)}] is there twice", span)
            current = found.setdefault(head.group(1), Section(span))
            continue
        key, sign, value = (part.strip() for part in words.partition("="))
        if not sign or not key or not value:
            wrong(path, f"{words!r} is neither [function] nor choice = value", span)
        if current is None:
            wrong(path, f"{key} stands before the first [function]", span)
        if key in current.values:
            wrong(path, f"{key} is there twice for one function", span)
        current.values[key], current.spans[key] = value, span
    return found


def check_names(path: Path, source: str, sections: dict[str, Section]) -> None:
    """Sections are named after functions that the source file defines."""
    try:
        tree = ast.parse(Path(source).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    names |= {target.id for node in ast.walk(tree) if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}
    for name, section in sections.items():
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            wrong(path, f"{Path(source).name} has no function {name}", section.span, f"did you mean [{near[0]}]?" if near else None)


def wrong(path: Path, what: str, span: Span = NOWHERE, help: str | None = None) -> NoReturn:
    fail("E0813", span, path=path.name, what=what, help=help)


def write(path: Path, head: str, sections: dict[str, dict[str, str]]) -> None:
    parts = ["".join([f"[{name}]\n", *(f"{key} = {value}\n" for key, value in values.items())]) for name, values in sections.items()]
    path.write_text(head + "\n".join(parts))
