"""Slips of the pen: what people write who come from C, Python or SCADE, and how it is written in MADL.

Asked only when a text is no program, with the place where reading stopped. Every row has a program in tests/madl/test_helps.py in which its help is followed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slip:
    """What is written (the group `at` is what the message points at), where reading stops on it, how it is said instead."""

    written: re.Pattern[str]
    help: str  # groups of the pattern stand in it as {name}

    @property
    def speaks_of(self) -> set[str]:
        return set(re.findall(r"{(\w+)}", self.help))


@dataclass(frozen=True, slots=True)
class Found:
    start: int
    end: int
    word: str
    help: str


_NAME = r"[A-Za-z_][\w']*"
_ROWS: list[tuple[str, str]] = [
    (rf"\b(?:forward|foreach)\s*(?:<<[^<>]*>>)?\s*(?P<at>{_NAME})\s*(?:\([^()=]*)?", "the index of a loop stands in brackets: [{at}]"),
    (rf"<<\s*(?P<at>(?P<f>{_NAME})<<[^<>]*>>\([^()]*\))\s*>>", "give it a name before: rounds = {at}; then <<rounds>>"),
    (rf"(?P<a>{_NAME})(?P<at>\[(?P<k>[^\[\]|]*)\])", "an element is written with a point: {a}.[{k}]"),
    (rf"(?P<a>{_NAME})\.\[[^\[\]:]*(?P<at>:)[^\[\]]*\]", "parts of an array are named by a pattern: first ++ rest = {a}, with sizes where they are not plain: (first of [8]_) ++ rest = {a}"),
    (rf"\)\s*(?P<at>\[\s*(?P<i>{_NAME})\s*\])\s*(?:returns|:)?", "the index stands before the arguments: forward [{i}] (..)"),
    (rf"\b(?P<at>and)\s+(?:not\s+)?\(*(?:{_NAME}|[\d.]+)\s*", "`and` begins another operator; that both hold is written `&&`"),
    (r"\b(?P<at>or)\b", "it is written `||`"),
    (r"\b(?P<at>xor)\b", "it is written `^`, of bools `!=`"),
    (r"\b(?P<at>mod)\b", "it is written `%`"),
    (r"(?P<at>:=)", "an equation is written with `=`"),
    (r"(?P<at>#)", "comments begin with `//`"),
    (r"(?P<at>/\*)", "comments begin with `//` and end with their line"),
    (r"(?P<at>->|=>)", "results are named: returns (y)"),
    (r"\bof\s*(?P<at>[),;=])", "a type is missing behind `of`: of f64"),
    (rf"[(,]\s*(?P<x>{_NAME})\s*(?P<at>:)\s*(?P<t>[\w\[\]<>, ]*?)\s*[,)]", "types are written with `of`: {x} of {t}"),
    (r"(?:^|\n)\s*(?P<at>def|fn|func|fun|function|node|operator)\b", "operators begin with `let`"),
    (rf"(?P<x>{_NAME}|\d+)\s*(?P<at><<)\s*(?P<k>{_NAME}|\w+)\s*(?:[;),]|\Z|\n)", "shifts are written shift_left({x}, {k})"),
    (r"\)\s*(?P<at><<)\s*(?P<k>\w+)", "shifts are written shift_left(.., {k})"),
    (rf"(?P<x>{_NAME}|\d+|\))\s*(?P<at>>>)\s*(?P<k>\w+)\s*(?:[;),]|\Z|\n)", "shifts are written shift_right(.., {k})"),
    (r"(?P<at>\?)", "a choice is written: if c then a else b"),
    (r"(?P<a>\d+)(?P<at>\.)(?!\d)", "a number has digits on both sides of its point: {a}.0"),
    (r"(?<![\w\])])(?P<at>\.)(?P<a>\d+)", "a number has digits on both sides of its point: 0.{a}"),
    (rf"\b(?P<at>while)\s+{_NAME}", "there is no `while`: forward <<k>> with k of idx<<n>> has a number of rounds that is computed"),
    (r"\b(?P<at>return)\s+(?P<e>[^;\n]*)", "results are named in the interface, returns (y), and defined: y = {e}"),
    (rf"\b(?P<at>for)\s+(?P<i>{_NAME})", "loops are written: forward [{i}] ([x] = array) returns (..): .. end"),
    (rf"\b(?P<at>switch)\s+(?P<x>{_NAME})", "it is written: match {x}: case 1: .. else .. end"),
    (rf"(?P<n>{_NAME})(?P<at>\+\+|--)\s*(?:;|\Z)", "counting is an equation: {n} = last {n} + 1"),
    (rf"\b(?P<at>int|bool|float|double|char|[iuf](?:8|16|32|64)(?:_t)?|u?int(?:8|16|32|64)_t)\s+(?P<x>{_NAME})", "types are written behind names, or left out: {x} of int"),
    (r"(?P<at>\*\*)", "powers are written pow(x, 2.0)"),
    (rf"(?P<at>\{{)\s*{_NAME}\s*=", "a record is made by the name of its type: point(x, y)"),
    (r"(?P<at>\"[^\"\n]*\"|'[^'\n ]*')", "there are no texts: an enumeration has values with names, type mode = on | off"),
    (r"\b(?P<at>elsif|elseif)\b", "it is written `else if`"),
]  # fmt: skip
SLIPS = [Slip(re.compile(written), help_) for written, help_ in _ROWS]


def find(text: str, position: int) -> Found | None:
    """The slip around the place where reading stopped, if it is one we know and everything its help speaks of is written."""
    blank = re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), text)
    for slip in SLIPS:
        for match in slip.written.finditer(blank):
            if match.start() > position:
                break
            if position <= match.end():
                groups = {name: value.strip() for name, value in match.groupdict().items() if value}
                if slip.speaks_of <= groups.keys():
                    return Found(match.start("at"), match.end("at"), match.group("at"), slip.help.format(**groups))
    return None
