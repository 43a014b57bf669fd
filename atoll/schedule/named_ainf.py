"""The normal form of a function with the user's names kept: which line is `bx`, which index of a sum was `p`.

AiNF itself forgets names, because lines are shared by what they compute. This translator is the ordinary one, watched: it notes what
every name was bound to, and calls the index of a reduction what its generator called it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.ainf.dead import remove_dead
from atoll.ainf.from_core import Translator
from atoll.ainf.translate.context import Env
from atoll.ainf.values import Formula, Scalar, Value, VArray, VTuple
from atoll.core import ir as core
from atoll.sizes import Poly, Sym, poly


@dataclass
class Named:
    """A program in normal form, and the names of its lines: those bound to whole arrays, and those bound to scalars."""

    program: ir.Program
    arrays: dict[ir.Line, str] = field(default_factory=dict)
    scalars: dict[ir.Line, str] = field(default_factory=dict)


class _Builder(Builder):
    hint: str | None = None

    def fresh_binder(self, name: str, extent: Poly, extra: tuple[Poly, ...] = ()) -> ir.Binder:
        if name == "r" and self.hint is not None:
            name, self.hint = self.hint, None
        return super().fresh_binder(name, extent, extra)


class _Translator(Translator):
    def __init__(self, fn: core.Function) -> None:
        super().__init__(fn)
        self.b: _Builder = _Builder(fn.name)
        self.bound: list[tuple[str, Value]] = []
        self.written: dict[Sym, core.Expr] = {}

    def eval(self, e: core.Expr, env: Env) -> Value:
        if isinstance(e, core.Reduce) and isinstance(e.array, core.Build):
            array = super().eval(e.array, env)
            start = super().eval(e.neutral, env)
            if e.monoid is not None:
                self.b.hint = e.array.sym.name
                result = self.reduce_known(e.monoid, array, start, e.type, env, e.span)
                self.b.hint = None
                return result
            return self.fold_general(e, array, start, env)
        if isinstance(e, core.Reduce):
            self.b.hint = self.loop_name(e.array)
            result = super().eval(e, env)
            self.b.hint = None
            return result
        return super().eval(e, env)

    def loop_name(self, e: core.Expr) -> str | None:
        """The variable of the comprehension an array was written as, through names and tuples."""
        match e:
            case core.Build():
                return e.sym.name
            case core.Var() if e.sym in self.written:
                return self.loop_name(self.written[e.sym])
            case core.Proj():
                return self.loop_name(e.value)
            case core.Unzip():
                return self.loop_name(e.value)
        return None

    def stmt(self, stmt: core.Stmt, env: Env) -> None:
        if isinstance(stmt, core.Bind):
            self.written[stmt.sym] = stmt.value
        super().stmt(stmt, env)
        if isinstance(stmt, (core.Bind, core.Open)):
            self.bound.append((stmt.sym.name, env[stmt.sym]))


_INVENTED = re.compile(r"(t|result|joined|loop)(_\d+)*")  # what elaboration calls values nobody named


def translate(fn: core.Function, written: frozenset[str] = frozenset()) -> Named:
    """The normal form, dead lines removed, with names. `written` are the names the user assigns in the text."""
    translator = _Translator(fn)
    program = remove_dead(translator.program())
    named = Named(program)
    for name, value in translator.bound:
        if name in written or not _INVENTED.fullmatch(name):
            _note(named, name, value)
    return named


def names_written(function: Any) -> frozenset[str]:
    """The names a function's own text assigns, where there is a text."""
    node = getattr(function, "_text", (None, None))[1]
    if node is None:
        return frozenset()
    return frozenset(x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store))


def _note(named: Named, name: str, value: Value) -> None:
    if isinstance(value, VTuple):
        for item in value.items:
            _note(named, name, item)
        return
    binders: list[ir.Binder] = []
    inner = value
    while isinstance(inner, VArray):
        binder = ir.Binder(f"i{len(binders)}", inner.extent)
        binders.append(binder)
        inner = inner.get(poly(binder))
    if isinstance(inner, VTuple):
        return
    if isinstance(inner, Formula) or not isinstance(inner, Scalar) or not isinstance(inner.operand, ir.Ref):
        return
    ref = inner.operand
    own = ref.index[len(ref.index) - len(binders) :]
    if tuple(own) != tuple(poly(b) for b in binders) or ref.result != 0:
        return
    table = named.arrays if binders else named.scalars
    table.setdefault(ref.line, name)
    prim = ref.line.prim
    while isinstance(prim, ir.Op) and prim.name == "read" and isinstance(read := prim.args[0], ir.Ref) and read.index == tuple(map(poly, ref.line.dims)) and read.result == 0:
        ref, prim = read, read.line.prim
        table.setdefault(ref.line, name)
