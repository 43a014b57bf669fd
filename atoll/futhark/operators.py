"""Chains of operators, put together by precedence. What a user's operator binds like is said by its first characters."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from atoll.errors import Span
from atoll.futhark import syntax as s

# Longest beginnings first; the level, and whether it goes to the right.
_LEVELS: list[tuple[str, int]] = [
    ("<|", 5), ("|>", 4), ("||", 6), ("&&", 7), ("<=", 8), (">=", 8), ("==", 8), ("!=", 8), ("<<", 10), (">>", 10), ("**", 13), ("//", 12), ("%%", 12),
    ("&", 9), ("^", 9), ("|", 9), ("<", 8), (">", 8), ("=", 8), ("!", 8), ("+", 11), ("-", 11), ("*", 12), ("/", 12), ("%", 12),
]  # fmt: skip
_QUOTED, _WITH, _RANGE = 2, 3, 1


class Chain(list[Any]):
    """operand, link, operand, link, ...: a link is ("op", variable), ("with", steps) or ("range", dots)."""

    def __init__(self, items: list[Any], span: Span) -> None:
        super().__init__(items)
        self.span = span

    def more(self, link: Any, operand: Any) -> Chain:
        """The chain goes on. It is the same list: a chain is read from left to right, and nothing else has what it was before."""
        a, b = self.span, operand.span
        self += (link, operand)
        self.span = Span(a.source, a.line, a.column, b.end_line, b.end_column)
        return self


def level(link: Any) -> int:
    kind, what = link
    if kind == "with":
        return _WITH
    if kind == "range":
        return _RANGE
    if what.info == "quoted":
        return _QUOTED
    return _level(what.name[-1])


@lru_cache(maxsize=256)
def _level(name: str) -> int:
    return next((n for start, n in _LEVELS if name.startswith(start)), 8)


def resolve(chain: Chain) -> Any:
    """The expression a chain stands for."""
    if len(chain) == 1:
        return chain[0]
    made, rest = _climb(chain, 0, 0)
    assert rest == len(chain)
    return made


def _climb(chain: Chain, at: int, least: int) -> tuple[Any, int]:
    left = chain[at]
    at += 1
    while at < len(chain) and level(chain[at]) >= least:
        kind, what = link = chain[at]
        n = level(link)
        right, at = _climb(chain, at + 1, n if n == 5 else n + 1)
        span = Span(left.span.source, left.span.line, left.span.column, right.span.end_line, right.span.end_column)
        if kind == "with":
            left = s.Update(left, what, right, span=span)
        elif kind == "range":
            if what == ".." and at < len(chain) and chain[at][0] == "range":
                dots = chain[at][1]
                high, at = _climb(chain, at + 1, _RANGE + 1)
                span = Span(span.source, span.line, span.column, high.span.end_line, high.span.end_column)
                left = s.Range(left, right, dots, high, span=span)
            else:
                left = s.Range(left, None, what, right, span=span)
        else:
            left = s.BinOp(what.name, left, right, what.info == "quoted", span=span)
    return left, at
