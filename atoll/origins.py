"""Where the lines of a stage come from: the places of the user's text.

One mechanism for every stage. Values carry their places (spans of core nodes and AiNF lines, `lp.Origin` of variables, buffers and operations of loops), the
builders and copiers hand them on, and a printer that is given `Marks` puts a mark beside what it prints: characters that no text has, around a number.
`Marks.rows` takes the marks out again and gives every line with its places. Without marks the printers print what they always did.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from atoll.errors import Source, Span

_OPEN, _SHUT = "\ue0a0", "\ue0a1"
_MARK = re.compile(f"{_OPEN}(\\d*){_SHUT}")

MADE = "made by the compiler"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a stage with the places it comes from; without any, it is made by the compiler (or is empty)."""

    text: str
    spans: tuple[Span, ...]

    def lines(self, source: Source | None) -> tuple[int, ...]:
        """The line numbers of the places in a source, also of calls that lead to them."""
        return tuple(sorted({at.line for span in self.spans for at in span.chain() if source is None or same_text(at.source, source)}))


def same_text(a: Source, b: Source) -> bool:
    """Two sources are the same file or the same cell."""
    return a is b or a.name == b.name


class Marks:
    """The marks of one text."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._numbers: dict[int, int] = {}

    def mark(self, spans: Iterable[Span]) -> str:
        """What is put into the text for these places."""
        text = ""
        for span in spans:
            if span.line:
                number = self._numbers.setdefault(id(span), len(self._spans))
                if number == len(self._spans):
                    self._spans.append(span)
                text += f"{_OPEN}{number}{_SHUT}"
        return text

    def rows(self, text: str) -> list[Row]:
        """The lines without marks, each with the places that were marked in it."""
        found = []
        for line in text.split("\n"):
            numbers = dict.fromkeys(_MARK.findall(line))
            found.append(Row(_MARK.sub("", line), tuple(self._spans[int(n)] for n in numbers if n)))
        return found


def plain(text: str) -> str:
    """The text without marks."""
    return _MARK.sub("", text)


def where(row: Row, source: Source) -> str:
    """The places of a row in words: lines of the source, else lines of other files."""
    own = row.lines(source)
    if own:
        return in_words(own)
    others: dict[str, set[int]] = {}
    for span in row.spans:
        others.setdefault(span.source.name.rpartition("/")[2], set()).add(span.line)
    return ", ".join(f"{name}:{in_words(tuple(sorted(lines)))}" for name, lines in others.items())


def in_words(lines: tuple[int, ...]) -> str:
    """Line numbers, neighbours as a range: 3, 5-7.

    >>> in_words((3, 5, 6, 7))
    '3, 5-7'
    """
    runs: list[list[int]] = []
    for n in lines:
        if runs and runs[-1][-1] == n - 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def in_margin(rows: list[Row], source: Source) -> str:
    """The rows with their places at the left; a dot stands for what the compiler made."""
    words = [where(row, source) or ("." if row.text.strip() else "") for row in rows]
    width = min(24, max(map(len, words), default=0))
    return "\n".join(f"{word:>{width}} | {row.text}".rstrip() for word, row in zip(words, rows, strict=True))


def with_comments(rows: list[Row], source: Source) -> str:
    """C with the places of every line in a comment at its end."""
    shown = []
    for row in rows:
        said = where(row, source)
        word = "line" if said.isdigit() else "lines"
        tail, line = (" \\", row.text[:-1].rstrip()) if row.text.endswith("\\") else ("", row.text)
        shown.append(f"{line} /* {word} {said} */{tail}" if said and line.strip() else row.text)
    return "\n".join(shown)


def with_directives(rows: list[Row], source: Source, name: str) -> str:
    """C with `#line` where the place changes, so that compilers and debuggers speak of the source; what the compiler made is lines of `name`."""
    shown: list[str] = []
    there: tuple[int, str] | None = None  # what C takes the next line for
    continued = False
    for row in rows:
        own = row.lines(source)
        wanted = (own[-1], source.name) if own else None
        if not continued and row.text.strip() and wanted != there and (wanted is not None or (there is not None and there[1] != name)):
            number, file = wanted if wanted is not None else (len(shown) + 2, name)
            shown.append(f'#line {number} "{file}"'.replace("\\", "\\\\"))
            there = (number, file)
        shown.append(row.text)
        continued = row.text.endswith("\\")
        there = None if there is None else (there[0] + 1, there[1])
    return "\n".join(shown)
