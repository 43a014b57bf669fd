"""Text to syntax, with lark."""

from __future__ import annotations

import functools
from typing import Any

from atoll.deep import as_deep_as_needed
from atoll.errors import Source, Span, fail
from atoll.futhark import syntax as s


@functools.cache
def _parser() -> Any:
    try:
        from lark import Lark
    except ImportError:
        fail("E1400")
    from atoll.futhark.grammar import GRAMMAR
    from atoll.futhark.lexer import FutharkLexer

    return Lark(GRAMMAR, parser="lalr", lexer=FutharkLexer, maybe_placeholders=False)


@as_deep_as_needed
def parse(text: str, name: str = "<futhark>") -> list[s.Dec]:
    """The declarations of a text; `name` is shown in messages."""
    source = Source(name, text)
    parser = _parser()
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    from atoll.futhark.read import Reader

    try:
        tree = parser.parse(text)
    except UnexpectedCharacters as problem:
        span = Span(source, problem.line, problem.column - 1, problem.line, problem.column)
        fail("E1401", span, what=f"{problem.char!r} has no meaning here")
    except UnexpectedToken as problem:
        token = problem.token
        if token.type == "$END":
            lines = text.splitlines() or [""]
            fail("E1401", Span(source, len(lines), max(0, len(lines[-1]) - 1), len(lines), len(lines[-1])), what="the file ends too early")
        span = Span(source, token.line or 1, (token.column or 1) - 1, token.end_line or 1, (token.end_column or 1) - 1)
        fail("E1401", span, what=f"unexpected {str(token.value)!r}")
    made: list[s.Dec] = Reader(source).transform(tree)
    return made
