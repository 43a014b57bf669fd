"""Places in the user's text."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=32)
def _lines(text: str) -> list[str]:
    return text.splitlines()


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A text a user wrote: a file, a notebook cell, a string. `first_line` is the line number of its first line."""

    name: str
    text: str = field(repr=False)
    first_line: int = 1

    def line(self, number: int) -> str | None:
        lines = _lines(self.text)
        at = number - self.first_line
        return lines[at] if 0 <= at < len(lines) else None


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A stretch of a source, lines from 1, columns from 0, end exclusive."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int
    caller: Span | None = None  # the call through which it is seen, for code that was put in place of calls

    def seen_from(self, call: Span) -> Span:
        """The place as part of what a call does."""
        return Span(self.source, self.line, self.column, self.end_line, self.end_column, call)

    def chain(self) -> list[Span]:
        """The place, the call it is seen from, the call around that one, and so on."""
        found, at = [self], self.caller
        while at is not None:
            found.append(at)
            at = at.caller
        return found

    def in_library(self) -> bool:
        """Whether it is a place in Atoll's own library, which no user wrote: errors then name the call of it."""
        return self.source.name.startswith(_LIBRARY)

    def told(self) -> Span:
        """The place that an error names: the user's call where it is one in the library, and the call is known."""
        return next((at for at in self.chain() if not at.in_library()), self)

    def __repr__(self) -> str:
        line = self.source.line(self.line)
        column = self.column if line is None else len(_slice_bytes(line, 0, self.column))
        return f"{self.source.name}:{self.line}:{column + 1}"

    def text(self) -> str:
        """The characters of the span, on one line."""
        lines = []
        for number in range(self.line, self.end_line + 1):
            line = self.source.line(number)
            if line is None:
                return ""
            start = self.column if number == self.line else 0
            end = self.end_column if number == self.end_line else None
            lines.append(_slice_bytes(line, start, end).strip())
        return " ".join(lines)

    def excerpt(self) -> list[str]:
        """The first line of the span with a caret below it; empty when the text is not at hand."""
        line = self.source.line(self.line)
        if line is None or self is NOWHERE:
            return []
        start = len(_slice_bytes(line, 0, self.column))
        end = len(_slice_bytes(line, 0, self.end_column)) if self.end_line == self.line else len(line.rstrip())
        if len(line) > _WIDEST:  # only what is around the place
            cut = max(0, min(start - _WIDEST // 4, len(line) - _WIDEST))
            line, start, end = line[cut : cut + _WIDEST], start - cut, min(end - cut, _WIDEST)
        gutter = str(self.line)
        pad = " " * len(gutter)
        before = "".join(c if c == "\t" else " " for c in line[:start])  # a tab is as wide below as above
        return [f"{gutter} | {line.rstrip()}", f"{pad} | {before}{'^' * max(1, end - start)}"]


_LIBRARY = str(Path(__file__).parents[1] / "std")
_WIDEST = 400  # characters of a line that are shown


def _slice_bytes(line: str, start: int, end: int | None) -> str:
    """Python's ast counts columns in UTF-8 bytes."""
    raw = line.encode()
    return raw[start : len(raw) if end is None else end].decode(errors="replace")


NOWHERE = Span(Source("<atoll>", ""), 0, 0, 0, 0)
