"""Where values live: in a variable, in a buffer (and which part of their index it has), or nowhere, when they are computed at each use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from atoll.loops import ir as lp
from atoll.sizes import Poly, poly


@dataclass(frozen=True, slots=True)
class VarPlace:
    expr: lp.Expr


@dataclass(frozen=True, slots=True)
class BufferPlace:
    """Element [index] is at the kept positions of the index, each less its offset (the start of a piece)."""

    buffer: lp.Buffer
    positions: tuple[int, ...]
    offsets: dict[int, Poly] = field(default_factory=dict)

    def index(self, index: tuple[Poly, ...]) -> tuple[Poly, ...]:
        return tuple(index[k] - self.offsets.get(k, poly(0)) for k in self.positions)


@dataclass(frozen=True, slots=True)
class AgainPlace:
    """A checked index read in another loop than the check's: once checked it is just its value."""


Place = Union[VarPlace, BufferPlace, AgainPlace]


class Scope:
    """Statements under construction, and values already computed there.

    `holds` are the tests the statements stand under. `guarded` says that a statement reads what exists only under a
    condition, so the statements must stay under it. `relied` are the tests that values found here were simplified by.
    """

    __slots__ = ("stmts", "parent", "memo", "holds", "guarded", "relied")

    def __init__(self, parent: Scope | None = None, stmts: list[lp.Stmt] | None = None) -> None:
        self.stmts: list[lp.Stmt] = stmts if stmts is not None else []
        self.parent = parent
        self.memo: dict[object, lp.Expr] = {}
        self.holds: frozenset[lp.Test] = parent.holds if parent is not None else frozenset()
        self.guarded = False
        self.relied: set[lp.Test] = set()

    def known(self, key: object) -> lp.Expr | None:
        scope: Scope | None = self
        while scope is not None:
            found = scope.memo.get(key)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def child(self, *tests: lp.Test) -> Scope:
        """A scope inside this one, under tests."""
        inner = Scope(self)
        inner.holds |= frozenset(tests)
        return inner

    def absorb(self, child: Scope) -> None:
        """Take over what a child holds, as if it had been done here; values that rely on the child's tests are its own."""
        self.stmts += child.stmts
        if child.relied <= self.holds:
            self.memo.update(child.memo)
            self.relied |= child.relied
        self.guarded |= child.guarded

    def close(self, tests: tuple[lp.Test, ...], child: Scope) -> None:
        """Add what a child holds, under tests."""
        if tests:
            self.add(lp.If(tests, child.stmts))
        else:
            self.absorb(child)

    def add(self, stmt: lp.Stmt) -> None:
        self.stmts.append(stmt)
