"""Are loops well formed? Checked after lowering and after every rewrite; a failure is a bug of the compiler, never of the user.

    scope     expressions mention variables declared before, in this block or one around it, loop indices around them, and sizes
    buffers   are arguments, results, constants, or allocated before and not freed; have as many indices as axes; inputs are not written
    names     of two things that are alive together differ
    breaks    stand in a `forever`
"""

from __future__ import annotations

from typing import Any

from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym


class Malformed(AssertionError):
    """Loops that break the rules above."""


def check(fn: lp.Function, after: str = "") -> lp.Function:
    """The function itself, if it is well formed. `after`: the pass that made it so."""
    try:
        _Checker(fn).function()
    except Malformed as problem:
        raise (Malformed(f"after {after}: {problem}") if after else problem) from None
    return fn


_INSIDE: dict[type, tuple[str, ...]] = {
    lp.Call: ("args",), lp.Cast: ("arg",), lp.Choose: ("tests", "then", "orelse"), lp.Truth: ("tests",), lp.Test: ("expr", "poly"), lp.Index: ("poly",),
}  # fmt: skip
"""Fields of expressions that hold expressions."""


class _Checker:
    def __init__(self, fn: lp.Function) -> None:
        self.fn = fn
        self.syms: set[Sym] = set(fn.sizes)
        self.vars: set[lp.Var] = {p for p in fn.inputs if isinstance(p, lp.Var)}
        self.named = {v.name: v for v in self.vars}
        made = {s.buffer for s in lp.walk(fn.body) if isinstance(s, lp.Alloc)}
        self.buffers: set[lp.Buffer] = {p for p in fn.inputs if isinstance(p, lp.Buffer)} | set(fn.consts)
        self.buffers |= {o.buffer for o in fn.outputs if o.buffer not in made}
        self.forever = 0

    def need(self, ok: bool, what: str, stmt: Any = None) -> None:
        if not ok:
            raise Malformed(f"{self.fn.name}: {what}" + (f" in a {type(stmt).__name__}" if stmt is not None else ""))

    def function(self) -> None:
        self.block(self.fn.body)
        for o in self.fn.outputs:
            self.need(o.buffer in self.buffers, f"the result {o.buffer.name} is never allocated")

    # -- statements

    def block(self, stmts: list[lp.Stmt]) -> None:
        """Variables declared inside end with the block; buffers do not."""
        outside, named = set(self.vars), dict(self.named)
        for stmt in stmts:
            self.stmt(stmt)
        self.vars, self.named = outside, named

    def declare(self, var: lp.Var, stmt: Any) -> None:
        self.need(self.named.setdefault(var.name, var) is var, f"two variables are called {var.name}", stmt)
        self.vars.add(var)

    def loop(self, syms: tuple[Sym, ...], body: list[lp.Stmt]) -> None:
        new = set(syms) - self.syms
        self.syms |= new
        self.block(body)
        self.syms -= new

    def stmt(self, stmt: lp.Stmt) -> None:
        match stmt:
            case lp.Let(var, value):
                self.expr(value, stmt)
                self.declare(var, stmt)
            case lp.Declare(var, value):
                self.expr(value, stmt)
                self.declare(var, stmt)
            case lp.Assign(var, value) | lp.Add(var, _, value):
                self.need(var in self.vars, f"{var.name} is assigned before it is declared", stmt)
                self.expr(value, stmt)
            case lp.Store(buffer, index, value) | lp.Update(buffer, index, _, value):
                self.expr(value, stmt)
                self.access(buffer, index, stmt)
                self.need(buffer.kind not in ("in", "const"), f"{buffer.name} is written", stmt)
            case lp.Alloc(buffer):
                self.expr(buffer.extents, stmt)
                self.buffers.add(buffer)
            case lp.Free(buffer):
                self.need(buffer in self.buffers, f"{buffer.name} is freed before it is allocated", stmt)
                self.buffers.discard(buffer)
            case lp.For(sym, low, high, body):
                self.expr((low, high), stmt)
                self.loop((sym,), body)
            case lp.Accumulate(sym, low, high, body, accs):
                self.expr((low, high), stmt)
                for acc in accs:
                    self.declare(acc.var, stmt)
                self.loop((sym,), body)
            case lp.Chunks():
                self.chunks(stmt)
            case lp.If(tests, then, orelse):
                self.expr(tests, stmt)
                before = set(self.buffers)
                self.block(then)
                after, self.buffers = self.buffers, before
                self.block(orelse)
                self.buffers |= after
            case lp.Forever(body):
                self.forever += 1
                self.block(body)
                self.forever -= 1
            case lp.BreakUnless(tests):
                self.need(self.forever > 0, "a break outside a loop", stmt)
                self.expr(tests, stmt)
            case lp.Swap(first, second) | lp.CopyBuffer(first, second):
                for b in (first, second):
                    self.need(b in self.buffers, f"{b.name} is not allocated", stmt)
            case lp.Section(_, body):
                for inner in body:
                    self.stmt(inner)
            case lp.Product(body=body, after=after):
                self.block(body)
                self.block(after)
            case lp.Helper(result=result):
                for b, index in stmt.buffers:  # no index: the whole buffer
                    self.access(b, index or (Poly({}),) * len(b.extents), stmt)
                self.expr(stmt.sizes, stmt)
                if result is not None and result not in self.vars:
                    self.declare(result, stmt)
            case lp.Check(tests, _, args):
                self.expr((tests, args), stmt)
            case lp.Print(parts):
                for part in parts:
                    if not isinstance(part, str):
                        self.expr(part[1], stmt)

    def chunks(self, chunk: lp.Chunks) -> None:
        self.expr((chunk.extent, chunk.work), chunk)
        for acc in chunk.accs:
            if acc.var not in self.vars:
                self.declare(acc.var, chunk)
        private = {own for own, _, _ in chunk.buffers}
        self.buffers |= private
        forever, self.forever = self.forever, 0
        self.loop((chunk.low, chunk.high), chunk.body)
        self.forever = forever
        self.buffers -= private

    # -- expressions

    def access(self, buffer: lp.Buffer, index: tuple[Poly, ...], stmt: Any) -> None:
        self.allocated(buffer, stmt)
        if len(index) != len(buffer.extents):
            self.need(False, f"{len(index)} indices for {len(buffer.extents)} axes of {buffer.name}", stmt)
        for p in index:
            self.poly(p, stmt)

    def allocated(self, buffer: lp.Buffer, stmt: Any) -> None:
        if buffer not in self.buffers:
            self.need(False, f"{buffer.name} is not allocated", stmt)

    def declared(self, var: lp.Var, stmt: Any) -> None:
        if var not in self.vars:
            self.need(False, f"{var.name} is used before it is declared", stmt)

    def poly(self, p: Poly, stmt: Any) -> None:
        for leaf in p.leaves():
            if isinstance(leaf, lp.VarAtom):
                self.declared(leaf.var, stmt)
            elif isinstance(leaf, Sym) and leaf not in self.syms:
                self.need(False, f"the index {leaf.name} is used outside its loop", stmt)

    def expr(self, e: Any, stmt: Any) -> None:
        """This runs over all of a program after every pass: words are made only where something is wrong."""
        kind = type(e)
        if kind is lp.Use:
            self.declared(e.var, stmt)
        elif kind is lp.Load:
            self.access(e.buffer, e.index, stmt)
        elif kind is Poly:
            self.poly(e, stmt)
        elif kind is lp.Buffer:
            self.allocated(e, stmt)
        elif kind is tuple or kind is list:
            for item in e:
                self.expr(item, stmt)
        elif kind in _INSIDE:
            for name in _INSIDE[kind]:
                self.expr(getattr(e, name), stmt)
