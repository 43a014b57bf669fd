"""Text to syntax, with lark."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from atoll.errors import NOWHERE, Source, Span, fail
from atoll.madl import slips
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
    "CONTRACT": "`assume`",
    "_STATE": "`state`",
    "_CONSTANT": "`[`",
    "ELIF": "`else if`",
    "$END": "the end of the file",
}
_MANY = ("OPERATE", "COMPARE")  # not told one by one


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
        _slip(source, text, problem.pos_in_stream or 0, None)
        span = place(source, problem.line, problem.column, problem.line, problem.column + 1)
        fail("E0901", span, found=repr(problem.char), what="this character has no meaning here")
    except UnexpectedToken as problem:
        _unexpected(source, text, problem.token, problem.accepts or problem.expected)
    except UnexpectedInput as problem:  # pragma: no cover  lark has no other kinds today
        fail("E0901", NOWHERE, what=str(problem).splitlines()[0])
    made = Reader(source).read(tree)
    assert isinstance(made, s.Program)
    return made


def _unexpected(source: Source, text: str, token: Any, accepted: Any) -> NoReturn:
    """A word that cannot stand where it does."""
    ends = token.type == "$END"
    _slip(source, text, len(text) if ends else token.start_pos, accepted)
    if ends:
        lines = text.splitlines() or [""]
        span = place(source, len(lines), len(lines[-1]), len(lines), len(lines[-1]) + 1)
        help_ = {"help": "close what is open: end"} if set(accepted) == {"END"} else {}
        fail("E0901", span, what="the file ends too early", expected=_expected(accepted), **help_)
    span = place(source, token.line or 1, token.column or 1, token.end_line or 1, token.end_column or 1)
    _keyword_as_name(source, text, token)
    help_ = {}
    if str(token.value) in KEYWORDS and "NAME" in accepted:
        help_ = {"help": f"`{token.value}` is a word of the language; if it is to be a name, choose another"}
    elif token.type == "END" and "ELSE" in accepted:
        help_ = {"help": "an `if` has an `else`, which defines the same: else .. end"}
    elif {"SEMICOLON", "END"} <= set(accepted) and token.type in ("NAME", "FORWARD", "LSQB", "IF"):
        help_ = {"help": "statements end with `;`, loops and blocks with `end`; or is an operator missing?"}
    fail("E0901", span, what=f"{token.value!r} cannot stand here", expected=_expected(accepted), **help_)


def _slip(source: Source, text: str, position: int, accepted: Any) -> None:
    """What people write who come from another language is told as that."""
    found = slips.find(text, position)
    if found is not None:
        more = {"expected": _expected(accepted)} if accepted and found.start == position else {"found": repr(found.word)} if accepted is None else {}
        what = "this character has no meaning here" if accepted is None else f"{found.word!r} cannot stand here"
        fail("E0901", _between(source, text, found.start, found.end), what=what, help=found.help, **more)


def _between(source: Source, text: str, start: int, end: int) -> Span:
    """The place of some characters of one line."""
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return place(source, line, column, line, column + end - start)


def _keyword_as_name(source: Source, text: str, token: Any) -> None:
    """`(data of [_]u8)`: the word before is what is wrong, where it stands as a name does."""
    before = re.search(r"([A-Za-z_]\w*)\s*$", text[: token.start_pos])
    if before is None or before.group(1) not in KEYWORDS or token.type not in ("OF", "AT", "INIT", "COMMA", "RPAR", "EQUAL", "SEMICOLON"):
        return
    if before.group(1) in ("end", "true", "false", "resume", "restart"):
        return
    span = _between(source, text, before.start(1), before.end(1))
    fail("E0901", span, what=f"`{before.group(1)}` is a word of the language, so it is no name", help=f"choose another: {before.group(1)}_")


def _expected(names: Any) -> str:
    parser = _parser()
    shown = set()
    for name in names:
        if name in _WORDS:
            shown.add(_WORDS[name])
            continue
        terminal = next((t for t in parser.terminals if t.name == name), None)
        if terminal is not None and name not in _MANY:
            shown.add(f"`{terminal.pattern.value}`".replace("\\", ""))
    first = sorted(shown, key=lambda w: (w not in ("`;`", "`:`", "`)`", "`end`"), w))
    return ", ".join(first[:6]) + (", .." if len(first) > 6 else "")
