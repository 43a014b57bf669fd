"""Numbers, characters and texts as Futhark writes them."""

from __future__ import annotations

from typing import Any

from atoll.errors import Span, fail
from atoll.futhark import syntax as s

MOST_DIGITS = 4000  # of a number: Python reads no more in decimal
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "0": 0}


def number(token: Any, span: Span) -> s.Lit:
    """A number in any of Futhark's ways to write one: decimal, hexadecimal, binary, Roman, with or without its type."""
    text = str(token).replace("_", "")
    if token.type in ("FLOAT", "HEXFLOAT"):
        suffix = text[-3:] if text[-3:] in ("f16", "f32", "f64") else None
        body = text[:-3] if suffix else text
        value = float.fromhex(body) if token.type == "HEXFLOAT" else float(body)
        return s.Lit("float", value, suffix, span=span)
    suffix = next((x for x in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64") if text.endswith(x)), None)
    body = text[: -len(suffix)] if suffix else text
    if body[:2].lower() == "0r":
        value_ = 0
        for a, b in zip(body[2:], [*body[3:], "I"], strict=True):
            value_ += -_ROMAN[a] if _ROMAN[a] < _ROMAN[b] else _ROMAN[a]
        return s.Lit("int", value_, suffix, span=span)
    base = {"0x": 16, "0b": 2}.get(body[:2].lower(), 10)
    if len(body) > MOST_DIGITS:
        fail("E1401", span, what=f"this number has {len(body):,} digits, more than any type holds")
    return s.Lit("int", int(body, base), suffix, span=span)


def characters(text: str) -> list[int]:
    """The characters of a literal, escapes read."""
    found, k = [], 0
    while k < len(text):
        if text[k] == "\\":
            k += 1
            digits = ""
            while k + len(digits) < len(text) and text[k + len(digits)].isdigit():
                digits += text[k + len(digits)]
            if digits:
                found.append(int(digits))
                k += len(digits)
                continue
            found.append(_ESCAPES.get(text[k], ord(text[k])))
        else:
            found.append(ord(text[k]))
        k += 1
    return found


def text_bytes(text: str) -> bytes:
    return "".join(map(chr, characters(text))).encode("utf-8")
