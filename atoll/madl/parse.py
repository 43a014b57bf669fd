"""Text to syntax, with lark."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from atoll.errors import NOWHERE, Source, fail
from atoll.madl import syntax as s
from atoll.madl.grammar import GRAMMAR, KEYWORDS
from atoll.madl.read_tree import Reader, place

if TYPE_CHECKING:
    from lark import Lark, Token

_OPERAND = frozenset("NAME INTEGER FLOAT META TRUE FALSE UNDERSCORE LPAR LSQB _ARRAY _TUPLE BANG LAST".split())
_WORDS = {  # lark's names for what could have stood somewhere, where they are not words themselves
    "NAME": "a name",
    "INTEGER": "a number",
    "FLOAT": "a number",
    "META": "a 'name",
    "STRING": "a file name in quotes",
    "FIELD": ".field",
    "$END": "the end of the file",
}


class _MarkConstants:
    """`[` becomes the opening of a constant array when an operand follows its partner; `state x:` begins a state."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        from lark import Token

        tokens = list(stream)
        partner: dict[int, int] = {}
        stack: list[int] = []
        for k, token in enumerate(tokens):
            if token.type in ("LSQB", "_PART"):
                stack.append(k)
            elif token.type == "RSQB" and stack:
                partner[stack.pop()] = k
        for k, token in enumerate(tokens):
            if token.type == "ELSE" and tokens[k + 1 : k + 2] and tokens[k + 1].type == "IF" and tokens[k + 1].line == token.line:
                continue  # `else if` on one line is one word
            if token.type == "IF" and k and tokens[k - 1].type == "ELSE" and tokens[k - 1].line == token.line:
                token = Token.new_borrow_pos("ELIF", "else if", token)
            if token.type == "NAME" and token.value == "state" and [t.type for t in tokens[k + 1 : k + 3]] == ["NAME", "COLON"]:
                token = Token.new_borrow_pos("_STATE", token.value, token)
            if token.type == "LSQB" and k in partner:
                after = [t.type for t in tokens[partner[k] + 1 : partner[k] + 3]]
                if after[:1] and (after[0] in _OPERAND or (after[0] == "MINUS" and after[1:] and after[1] in ("INTEGER", "FLOAT"))):
                    token = Token.new_borrow_pos("_CONSTANT", token.value, token)
            yield token


@functools.cache
def _parser() -> Lark:
    try:
        from lark import Lark
    except ImportError:
        fail("E0900")
    return Lark(GRAMMAR, parser="lalr", lexer="basic", propagate_positions=True, postlex=_MarkConstants(), maybe_placeholders=False)


def parse(text: str, name: str = "<madl>") -> s.Program:
    """The program in a text; `name` is shown in messages."""
    source = Source(name, text)
    parser = _parser()
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    try:
        tree = parser.parse(text)
    except UnexpectedCharacters as problem:
        span = place(source, problem.line, problem.column, problem.line, problem.column + 1)
        fail("E0901", span, found=repr(problem.char), what="this character has no meaning here")
    except UnexpectedToken as problem:
        token = problem.token
        if token.type == "$END":
            lines = text.splitlines() or [""]
            span = place(source, len(lines), len(lines[-1]), len(lines), len(lines[-1]) + 1)
            fail("E0901", span, what="the file ends too early", expected=_expected(problem.accepts or problem.expected))
        span = place(source, token.line or 1, token.column or 1, token.end_line or 1, token.end_column or 1)
        accepted = problem.accepts or problem.expected
        _keyword_as_name(source, text, token)
        reserved = str(token.value) in KEYWORDS and "NAME" in accepted
        help_ = {"help": f"`{token.value}` is a word of the language; if it is to be a name, choose another"} if reserved else {}
        if not reserved and {"SEMICOLON", "END"} <= set(accepted) and token.type in ("NAME", "FORWARD", "LSQB", "IF"):
            help_ = {"help": "statements end with `;`, loops and blocks with `end`; or is an operator missing?"}
        fail("E0901", span, what=f"{token.value!r} cannot stand here", expected=_expected(accepted), **help_)
    except UnexpectedInput as problem:  # pragma: no cover  lark has no other kinds today
        fail("E0901", NOWHERE, what=str(problem).splitlines()[0])
    made = Reader(source).read(tree)
    assert isinstance(made, s.Program)
    return made


def _keyword_as_name(source: Source, text: str, token: Any) -> None:
    """`(data of [_]u8)`: the word before is what is wrong, where it stands as a name does."""
    before = re.search(r"([A-Za-z_]\w*)\s*$", text[: token.start_pos])
    if before is None or before.group(1) not in KEYWORDS or token.type not in ("OF", "AT", "INIT", "COMMA", "RPAR", "EQUAL", "SEMICOLON"):
        return
    start = before.start(1)
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    span = place(source, line, column, line, column + len(before.group(1)))
    if before.group(1) in ("end", "true", "false", "resume", "restart"):
        return
    fail("E0901", span, what=f"`{before.group(1)}` is a word of the language, so it is no name", help=f"choose another: {before.group(1)}_")


def _expected(names: Any) -> str:
    parser = _parser()
    shown = set()
    for name in names:
        if name in _WORDS:
            shown.add(_WORDS[name])
            continue
        terminal = next((t for t in parser.terminals if t.name == name), None)
        if terminal is not None and name not in ("OPERATE", "COMPARE", "_CONSTANT"):
            shown.add(f"`{terminal.pattern.value}`".replace("\\", ""))
    first = sorted(shown, key=lambda w: (w not in ("`;`", "`:`", "`)`", "`end`"), w))
    return ", ".join(first[:6]) + (", .." if len(first) > 6 else "")
