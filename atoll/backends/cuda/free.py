"""What statements of kernels mention but do not make: the parameters of a kernel made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from atoll.ainf.ir import Site
from atoll.backends.cuda import language as k
from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym


class Mentioned:
    """Indices, variables and buffers that statements use, those they make left out; in the order they are met."""

    def __init__(self, stmts: Sequence[k.Statement]) -> None:
        self.syms: dict[Sym, None] = {}
        self.vars: dict[lp.Var, None] = {}
        self.buffers: dict[lp.Buffer, None] = {}
        self.made: set[Any] = set(k.COORDINATES)
        for stmt in k.walk(stmts):
            self._makes(stmt)
        self._visit(tuple(stmts))

    def mention(self, x: Any) -> None:
        """These are used too."""
        self._visit(x)

    def _makes(self, stmt: k.Statement) -> None:
        match stmt:
            case lp.Let(var, _) | lp.Declare(var, _) | k.Shuffle(var, _, _):
                self.made.add(var)
            case k.Same(before, count, _):
                self.made |= {before, count}
            case k.Digit(var, _, _):
                self.made.add(var)
            case k.Atomic(old=old) if old is not None:
                self.made.add(old)
            case lp.Alloc(buffer) | k.Part(buffer, _, _):
                self.made.add(buffer)
            case lp.For(sym) | lp.Accumulate(sym):
                self.made.add(sym)
            case lp.Chunks(low, high):
                self.made |= {low, high}
            case lp.Helper(result=result) if result is not None:
                self.made.add(result)
        if isinstance(stmt, lp.Accumulate):
            self.made |= {a.var for a in stmt.accs}

    def _visit(self, x: Any) -> None:
        if isinstance(x, Poly):
            for leaf in x.leaves():
                if isinstance(leaf, lp.VarAtom):
                    self._var(leaf.var)
                elif isinstance(leaf, Sym) and leaf not in self.made:
                    self.syms[leaf] = None
        elif isinstance(x, lp.Var):
            self._var(x)
        elif isinstance(x, lp.Buffer):
            for p in x.extents:
                self._visit(p)
            if x not in self.made:
                self.buffers[x] = None
        elif isinstance(x, (tuple, list)):
            for item in x:
                self._visit(item)
        elif is_dataclass(x) and not isinstance(x, (Site, lp.Origin, k.Kernel)):
            for f in fields(x):
                if f.name not in ("dtype", "origin", "span"):
                    self._visit(getattr(x, f.name))

    def _var(self, var: lp.Var) -> None:
        if var not in self.made:
            self.vars[var] = None


def parameters(stmts: Sequence[k.Statement], shared: tuple[lp.Buffer, ...] = ()) -> tuple[k.Parameter, ...]:
    """Everything a kernel made of these statements is given: numbers first. Constants are in its text."""
    found = Mentioned(stmts)
    return (*found.syms, *found.vars, *(b for b in found.buffers if b.kind != "const" and b not in shared))
