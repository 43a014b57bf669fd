"""The words of a Futhark text, as tokens for lark. An attribute is one token; `[` right behind a name or a bracket is another token than `[` after a blank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lark import Token
from lark.exceptions import UnexpectedCharacters
from lark.lexer import Lexer

KEYWORDS = (
    "true false if then else def let loop in val for do with local open include import type entry module while assert match case"
).split()

_SUFFIX = r"(?:i8|i16|i32|i64|u8|u16|u32|u64)"
_NAME = r"(?:[a-zA-Z][a-zA-Z0-9_']*|_[a-zA-Z0-9][a-zA-Z0-9_']*)"
_OP = r"[+\-*/%=!><|&^][+\-*/%=!><|&^.]*"

_TOKENS = re.compile(
    rf"""
    (?P<blank>\s+|--[^\n]*)
  | (?P<HEXFLOAT>0[xX][0-9a-fA-F][0-9a-fA-F_]*\.[0-9a-fA-F][0-9a-fA-F_]*[pP][+\-]?[0-9_]+(?:f16|f32|f64)?)
  | (?P<based>0[xX][0-9a-fA-F][0-9a-fA-F_]*?(?:{_SUFFIX}(?![0-9a-zA-Z_]))|0[xX][0-9a-fA-F][0-9a-fA-F_]*|0[bB][01][01_]*{_SUFFIX}?|0[rR][IVXLCDM][IVXLCDM_]*{_SUFFIX}?)
  | (?P<FLOAT>[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+\-]?[0-9]+)?(?:f16|f32|f64)|[0-9][0-9_]*(?:\.[0-9][0-9_]*)(?:[eE][+\-]?[0-9]+)?|[0-9][0-9_]*[eE][+\-]?[0-9]+)
  | (?P<decimal>[0-9][0-9_]*{_SUFFIX}?)
  | (?P<CHAR>'(?:[^'\\\n]|\\(?:[0-9]+|[^\n]))')
  | (?P<STRING>"(?:[^"\\\n]|\\(?:[0-9]+|[^\n]))*")
  | (?P<QUALOP>(?:{_NAME}\.)+{_OP})
  | (?P<NAME>{_NAME})
  | (?P<CASENAME>\#{_NAME})
  | (?P<ATTR>\#\[)
  | (?P<HOLE>\?\?\?)
  | (?P<DOTS>\.\.<|\.\.>|\.\.\.)
  | (?P<DOTDOT>\.\.)
  | (?P<punct>->(?![+\-*/%=!><|&^.])|:>|[()\[\]{{}},?:\\~`_.])
  | (?P<TICK>'[\^~]?)
  | (?P<op>{_OP})
    """,
    re.VERBOSE,
)
_FIELD = re.compile(r"[0-9][0-9_]*")
_PUNCT = {
    "->": "ARROW", ":>": "COERCE", "(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", "{": "LBRACE", "}": "RBRACE", ",": "COMMA",
    "?": "QUESTION", ":": "COLON", "\\": "LAMBDA", "~": "TILDE", "`": "BACKTICK", "_": "UNDERSCORE", ".": "DOT",
}  # fmt: skip
_OPS = {"=": "EQUAL", "*": "STAR", "-": "MINUS", "!": "BANG", "<": "LESS", "^": "HAT", "|": "PIPE"}
TERMINALS = sorted(
    {"HEXFLOAT", "NATURAL", "INTEGER", "FLOAT", "CHAR", "STRING", "QUALOP", "NAME", "CASENAME", "ATTR", "HOLE", "DOTS", "DOTDOT", "TICK", "OP", "INDEX"}
    | set(_PUNCT.values())
    | set(_OPS.values())
    | {word.upper() for word in KEYWORDS}
)


class FutharkLexer(Lexer):
    """For lark: `lexer=FutharkLexer`."""

    def __init__(self, conf: Any) -> None:
        pass

    __future_interface__ = 1

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Token]:
        return tokens(str(getattr(lexer_state.text, "text", lexer_state.text)))


def tokens(text: str) -> Iterator[Token]:
    at, line, start = 0, 1, 0  # start: where the line begins
    while at < len(text):
        found = _FIELD.match(text, at) if at and text[at - 1] == "." and text[at - 2 : at] != ".." else None
        kind = "decimal" if found else None
        if found is None:
            found = _TOKENS.match(text, at)
            if found is None:
                raise UnexpectedCharacters(text, at, line, at - start + 1)  # type: ignore[no-untyped-call]
            kind = found.lastgroup
        assert kind is not None
        value, end = found.group(), found.end()
        if kind == "ATTR":
            end = _attribute_end(text, at)
            value = text[at:end]
        if kind != "blank":
            yield Token(_type(kind, value, text, at), value, at, line, at - start + 1, line, end - start + 1, end)
        breaks = text.count("\n", at, end)
        if breaks:
            line, start = line + breaks, text.rfind("\n", at, end) + 1
        at = end


def _type(kind: str, value: str, text: str, at: int) -> str:
    if kind == "NAME":
        return value.upper() if value in KEYWORDS else "NAME"
    if kind == "decimal":
        return "NATURAL" if value.replace("_", "").isdigit() else "INTEGER"
    if kind == "based":
        return "INTEGER"
    if kind == "punct":
        if value == "[" and at and re.match(r"[a-zA-Z0-9_')\]]", text[at - 1]):
            return "INDEX"
        return _PUNCT[value]
    if kind == "op":
        return _OPS.get(value, "OP")
    return kind


def _attribute_end(text: str, at: int) -> int:
    depth, k = 0, at
    while k < len(text):
        if text[k] == "[":
            depth += 1
        elif text[k] == "]":
            depth -= 1
            if depth == 0:
                return k + 1
        k += 1
    return len(text)
