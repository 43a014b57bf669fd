"""Counted code: λANF-C with every change of a reference count written out (Perceus, docs/sources.md).

    code  ::= instr... end, joins
    instr ::= a λANF bind without definitions
            | x = C(y...) [in t]            a constructor, in the cell of token t when there is one; a `hole` is filled later
            | dup x | drop x                one reference more, one less
            | unpack x of C keep y... [to t]
                 x is not needed any more, its fields y are: when nobody else has x its other fields are dropped and its cell is freed (or
                 becomes the token t), otherwise the y are dup'ed, x loses a reference and t is empty
            | free t                        a token nobody used
    end   ::= case | tail call | jump | ret
            | into x, hole i of y: f(z...)  the result is x, whose hole f's result will fill (tail recursion modulo constructor)

What is owned: every variable is given away exactly once on every path (an argument at an owned place, a constructor's field, a result)
or dropped. A borrowed parameter is only looked at; the caller keeps it alive. Counted are variables held as data or arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from atoll.functions import ir

HOLE = ir.Var("hole", ir.DATA)
"""Stands in a constructor's place for a field that is not there yet."""


def counted(x: ir.Var) -> bool:
    return x.rep in (ir.DATA, ir.ARRAY) and x is not HOLE


def words(con: ir.Constructor) -> int:
    """The size of a cell without its header, in words of 8 bytes."""
    return sum(2 if rep == "c128" else 1 for rep in con.fields)


class Token:
    """A cell that can be used again, or nothing."""

    __slots__ = ("words",)

    def __init__(self, size: int) -> None:
        self.words = size


@dataclass(frozen=True, slots=True, eq=False)
class MakeIn:
    result: ir.Var
    con: ir.Constructor
    args: ir.Vars
    token: Token | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Dup:
    var: ir.Var


@dataclass(frozen=True, slots=True, eq=False)
class Drop:
    var: ir.Var


@dataclass(frozen=True, slots=True, eq=False)
class Unpack:
    var: ir.Var
    con: ir.Constructor
    kept: tuple[tuple[int, ir.Var], ...]
    token: Token | None


@dataclass(frozen=True, slots=True, eq=False)
class FreeToken:
    token: Token


Instr = ir.Literal | ir.Op | ir.Take | ir.Call | MakeIn | Dup | Drop | Unpack | FreeToken


@dataclass(frozen=True, slots=True, eq=False)
class TailInto:
    """The function's result is `result`; its field `index` of `holder`, made by `con`, will be the result of the call."""

    result: ir.Var
    holder: ir.Var
    con: ir.Constructor
    index: int
    fn: ir.Var
    args: ir.Vars


@dataclass(frozen=True, slots=True, eq=False)
class CaseEnd:
    value: ir.Var
    branches: tuple[tuple[ir.Constructor, Code], ...]


End = CaseEnd | ir.Tail | ir.Jump | ir.Ret | TailInto


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    instrs: tuple[Instr, ...]
    end: End
    joins: tuple[tuple[ir.Var, ir.Vars, Code], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class CountedFun:
    """`owned[k]`: parameter k is given to the function."""

    fun: ir.Fun
    owned: tuple[bool, ...]
    code: Code


@dataclass(frozen=True, slots=True, eq=False)
class CountedProgram:
    """Functions by name; `main` has the program's parameters."""

    functions: dict[ir.Var, CountedFun]
    main: CountedFun


# -- looking around


def codes(code: Code) -> Iterable[Code]:
    todo = [code]
    while todo:
        each = todo.pop()
        yield each
        todo.extend(inner for _, _, inner in each.joins)
        if isinstance(each.end, CaseEnd):
            todo.extend(inner for _, inner in each.end.branches)


def calls(code: Code) -> Iterable[tuple[ir.Var, bool]]:
    """Functions called, and whether as a jump."""
    for each in codes(code):
        for instr in each.instrs:
            if isinstance(instr, ir.Call):
                yield instr.fn, False
        if isinstance(each.end, (ir.Tail, TailInto)):
            yield each.end.fn, True


def has_into(code: Code) -> bool:
    return any(isinstance(each.end, TailInto) for each in codes(code))


def declare(code: Code, declared: dict[ir.Var, None], tokens: dict[Token, None]) -> None:
    for each in codes(code):
        for instr in each.instrs:
            match instr:
                case ir.Literal() | ir.Take() | MakeIn():
                    declared[instr.result] = None
                case ir.Op() | ir.Call():
                    declared.update(dict.fromkeys(instr.results))
                case Unpack(_, _, _, token) if token is not None:
                    tokens[token] = None
        for _, params, _ in each.joins:
            declared.update(dict.fromkeys(params))
