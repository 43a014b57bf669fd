"""Every expression is of one type, and what it is given to is of that type: nothing changes its type but a `cast`, so a value is the same wherever it is written.

C would convert silently (an i64 given to an i32 loses bits), and a name that is replaced by its value would not. Numbers that stand in a text are numbers of their type. An array has as many indices as axes,
and one on the stack is small.
"""

from __future__ import annotations

from math import prod
from typing import Any

from atoll.check.rewrites.language import Body, Expr, Stmt, bodies, is_poly, parts
from atoll.check.rewrites.scopes import Kinds
from atoll.check.sums import need, value

STACK = 64 * 1024  # bytes of an array that may stand there
COMPARED = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
ALIKE = frozenset(("add", "sub", "mul", "div", "floordiv", "mod", "neg", "min", "max", "and", "or", "xor", "not", "fma"))  # of the type of their operands


class Types:
    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.found: dict[Expr, str] = {}
        self.seen: dict[int, Stmt] = {}  # statements by what they are in memory (each is kept): stages share most of theirs
        self.ranks: dict[str, int] = {b: len(extents) for b, extents in kinds.extents.items()}

    def program(self, body: Body) -> None:
        for s in body:
            if id(s) not in self.seen:
                self.seen[id(s)] = s
                for e in parts(s):
                    if not is_poly(e):
                        self.of(e)
                self.stmt(s)
                for inner in bodies(s):
                    self.program(inner)

    def stmt(self, s: Stmt) -> None:
        kinds = self.kinds
        match s[0]:
            case "let" | "declare":
                self.given(s[2], s[3])
            case "assign":
                self.given(kinds[s[1]][1], s[2])
            case "add":
                self.given(kinds[s[1]][1], s[3])
            case "store" | "update":
                self.ranked(s[1], len(s[2]))
                self.given(kinds[s[1]][1], s[-1])
            case "alloc":
                self.ranked(s[1], len(s[3]))
                if s[4][0]:
                    sizes = [value(p) for p in s[3]]
                    width = int("".join(c for c in s[2] if c.isdigit()) or 8)
                    need(None not in sizes and prod(max(0, n or 0) for n in sizes) * width <= 8 * STACK, "too large for the stack:", s[1])
            case "copy" | "swap":
                need(kinds[s[1]][1] == kinds[s[2]][1], "arrays of two types:", s[1], s[2])

    def given(self, d: str, e: Expr | None) -> None:
        need(e is None or self.of(e) == d, "a value of another type, where one is wanted of", d)

    def ranked(self, b: str, rank: int) -> None:
        need(self.ranks.setdefault(b, rank) == rank, "another number of indices:", b)

    def of(self, e: Expr) -> str:
        d = self.found.get(e)
        if d is None:
            d = self.found[e] = self.typed(e)
        return d

    def typed(self, e: Expr) -> str:
        match e:
            case ("use", v):
                return self.kinds[v][1]
            case ("const", text, d):
                return number(text, d)
            case ("index", _):
                return "i64"
            case ("load", b, index):
                self.ranked(b, len(index))
                return self.kinds[b][1]
            case ("cast", x, d):
                self.of(x)
                return str(d)
            case ("truth", tests):
                return self.truth(tests)
            case ("choose", tests, a, b):
                self.truth(tests)
                d = self.of(a)
                need(self.of(b) == d, "a choice of two types:", d)
                return d
            case ("call", op, args, d):
                return self.call(op, [self.of(a) for a in args], d)
        raise AssertionError(e)

    def call(self, op: str, given: list[str], d: str) -> str:
        if op == "select":
            need(given == ["bool", d, d], "a choice of two types:", d)
            return d
        need(len(set(given)) <= 1, "operands of two types:", op)
        if op in COMPARED:
            need(d == "bool", "a comparison that is", d)
        elif op in ALIKE:
            need(given and d == given[0], "operands of another type:", op)
        return d

    def truth(self, tests: Any) -> str:
        for _, _, e in tests:
            need(e is None or self.of(e) == "bool", "a test that is no truth")
        return "bool"


def number(text: str, d: str) -> str:
    """The type of a constant; an integer is one of its type."""
    if d[0] in "iu" and d[1:].isdigit():
        need(text.lstrip("-").isdigit() and text.count("-") <= 1, "no integer:", text)
        bits = int(d[1:])
        low, high = (-(1 << (bits - 1)), 1 << (bits - 1)) if d[0] == "i" else (0, 1 << bits)
        need(low <= int(text) < high, "an integer that its type does not hold:", text)
    elif d == "bool":
        need(text in ("True", "False"), "no truth:", text)
    return d


__all__ = ["Types"]
