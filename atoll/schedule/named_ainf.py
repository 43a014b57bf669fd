"""The normal form of a function with the user's names kept: which line is `bx`, which index of a sum was `p`.

AiNF itself forgets names, because lines are shared by what they compute. This translator is the ordinary one, watched: it notes what
every name was bound to, and calls the index of a reduction what its generator called it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.ainf.dead import remove_dead
from atoll.ainf.from_core import Translator
from atoll.ainf.translate.context import Env
from atoll.ainf.values import Formula, Scalar, Value, VArray, VTuple
from atoll.core import ir as core
from atoll.sizes import Poly, poly


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
        return super().eval(e, env)

    def stmt(self, stmt: core.Stmt, env: Env) -> None:
        super().stmt(stmt, env)
        if isinstance(stmt, (core.Bind, core.Open)):
            self.bound.append((stmt.sym.name, env[stmt.sym]))


def translate(fn: core.Function) -> Named:
    """The normal form, dead lines removed, with names."""
    translator = _Translator(fn)
    program = remove_dead(translator.program())
    named = Named(program)
    for name, value in translator.bound:
        _note(named, name, value)
    return named


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
