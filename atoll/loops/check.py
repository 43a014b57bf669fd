"""Are loops well formed? Checked after lowering and after every rewrite; a failure is a bug of the compiler, never of the user.

    scope     expressions mention variables declared before, in this block or one around it, loop indices around them, and sizes
    buffers   are arguments, results, constants, or allocated before and not freed; have as many indices as axes; inputs are not written
    binders   a variable is declared at one place (but what a sum makes for its piece, which the piece declares too), an index belongs to one loop
    names     of two variables that are alive together differ
    breaks    stand in a `forever`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym


class Malformed(AssertionError):
    """Loops that break the rules above."""


Known = dict[int, tuple[Any, "Needs"]]
"""What expressions need, by their identity (each is kept, so that no other gets it)."""


def check(fn: lp.Function, after: str = "", known: Known | None = None) -> lp.Function:
    """The function itself, if it is well formed. `after`: the pass that made it so. `known` is for those who check again and again: expressions never
    change, and most are the same ones after a pass."""
    try:
        _Checker(fn, {} if known is None else known).function()
    except Malformed as problem:
        raise (Malformed(f"after {after}: {problem}") if after else problem) from None
    return fn


_INSIDE: dict[type, tuple[str, ...]] = {
    lp.Call: ("args",), lp.Cast: ("arg",), lp.Choose: ("tests", "then", "orelse"), lp.Truth: ("tests",), lp.Test: ("expr", "poly"), lp.Index: ("poly",),
}  # fmt: skip
"""Fields of expressions that hold expressions."""


class Needs:
    """What must be there where an expression is computed."""

    __slots__ = ("buffers", "ranks", "syms", "vars")

    def __init__(self, e: Any) -> None:
        self.vars: set[lp.Var] = set()
        self.syms: set[Sym] = set()
        self.buffers: set[lp.Buffer] = set()
        self.ranks: list[tuple[lp.Buffer, int]] = []
        self.add(e)

    def add(self, e: Any) -> None:
        kind = type(e)
        if kind is lp.Use:
            self.vars.add(e.var)
        elif kind is lp.Load:
            self.buffers.add(e.buffer)
            self.ranks.append((e.buffer, len(e.index)))
            for p in e.index:
                self.add(p)
        elif kind is Poly:
            for leaf in e.leaves():
                if isinstance(leaf, lp.VarAtom):
                    self.vars.add(leaf.var)
                elif isinstance(leaf, Sym):
                    self.syms.add(leaf)
        elif kind is lp.Buffer:
            self.buffers.add(e)
        elif kind is tuple or kind is list:
            for item in e:
                self.add(item)
        elif kind in _INSIDE:
            for name in _INSIDE[kind]:
                self.add(getattr(e, name))


def _allocated(stmts: lp.Stmts, found: set[lp.Buffer]) -> None:
    for stmt in stmts:
        if type(stmt) is lp.Alloc:
            found.add(stmt.buffer)
        else:
            for name in lp.BODIES.get(type(stmt), ()):
                _allocated(getattr(stmt, name), found)


class _Checker:
    def __init__(self, fn: lp.Function, known: Known) -> None:
        self.fn = fn
        self.known = known
        self.syms: set[Sym] = set(fn.sizes)
        self.indices: set[Sym] = set(fn.sizes)  # of all loops so far
        self.vars: set[lp.Var] = {p for p in fn.inputs if isinstance(p, lp.Var)}
        self.named = {v.name: v for v in self.vars}
        made: set[lp.Buffer] = set()
        _allocated(fn.body, made)
        self.buffers: set[lp.Buffer] = {p for p in fn.inputs if isinstance(p, lp.Buffer)} | set(fn.consts)
        self.buffers |= {o.buffer for o in fn.outputs if o.buffer not in made}
        self.here: list[lp.Var] = []  # declared in this block
        self.ever: set[lp.Var] = set(self.vars)  # declared anywhere so far
        self.pieces: set[lp.Var] = set()  # declared by pieces, for which a sum inside makes them
        self.forever = 0

    def need(self, ok: bool, what: str, stmt: Any = None) -> None:
        if not ok:
            raise Malformed(f"{self.fn.name}: {what}" + (f" in a {type(stmt).__name__}" if stmt is not None else ""))

    def function(self) -> None:
        self.block(self.fn.body)
        for o in self.fn.outputs:
            self.need(o.buffer in self.buffers, f"the result {o.buffer.name} is never allocated")

    # -- statements

    def block(self, stmts: lp.Stmts) -> None:
        """Variables declared inside end with the block; buffers do not."""
        outside, self.here = self.here, []
        for stmt in stmts:
            self.stmt(stmt)
        for var in self.here:
            self.vars.discard(var)
            del self.named[var.name]
        self.here = outside

    def declare(self, var: lp.Var, stmt: Any) -> None:
        before = self.named.setdefault(var.name, var)
        if before is not var:
            self.need(False, f"two variables are called {var.name}", stmt)
        if var in self.ever and var not in self.pieces:
            self.need(False, f"{var.name} is declared twice", stmt)
        self.ever.add(var)
        if var not in self.vars:
            self.vars.add(var)
            self.here.append(var)

    def loop(self, syms: tuple[Sym, ...], body: lp.Stmts) -> None:
        for sym in syms:
            self.need(sym not in self.indices, f"two loops have the index {sym.name}")
        self.indices.update(syms)
        self.syms.update(syms)
        outside, self.forever = self.forever, 0  # what leaves a loop that ends when it likes does not stand in rounds that all run
        self.block(body)
        self.forever = outside
        self.syms.difference_update(syms)

    def stmt(self, stmt: Any) -> None:
        """Statements are looked up by their kind: a long `match` would be most of the time that checking takes."""
        rule = _RULES.get(type(stmt))
        if rule is not None:
            rule(self, stmt)

    def set_once(self, s: lp.Let | lp.Declare) -> None:
        self.expr(s.value, s)
        self.declare(s.var, s)

    def set_again(self, s: lp.Assign | lp.Add) -> None:
        if s.var not in self.vars:
            self.need(False, f"{s.var.name} is assigned before it is declared", s)
        self.expr(s.value, s)

    def write(self, s: lp.Store | lp.Update) -> None:
        self.expr(s.value, s)
        self.access(s.buffer, s.index, s)
        if s.buffer.kind in ("in", "const"):
            self.need(False, f"{s.buffer.name} is written", s)

    def alloc(self, s: lp.Alloc) -> None:
        self.expr(s.buffer.extents, s)
        self.buffers.add(s.buffer)

    def free(self, s: lp.Free) -> None:
        if s.buffer not in self.buffers:
            self.need(False, f"{s.buffer.name} is freed before it is allocated", s)
        self.buffers.discard(s.buffer)

    def rounds(self, s: lp.For | lp.Accumulate) -> None:
        self.expr(s.low, s)
        self.expr(s.high, s)
        for acc in s.accs if isinstance(s, lp.Accumulate) else ():
            self.declare(acc.var, s)
        self.loop((s.sym,), s.body)

    def branches(self, s: lp.If) -> None:
        self.expr(s.tests, s)
        before = set(self.buffers)
        self.block(s.then)
        after, self.buffers = self.buffers, before
        self.block(s.orelse)
        self.buffers |= after

    def endless(self, s: lp.Forever) -> None:
        self.forever += 1
        self.block(s.body)
        self.forever -= 1

    def leave(self, s: lp.BreakUnless) -> None:
        self.need(self.forever > 0, "a break outside a loop", s)
        self.expr(s.tests, s)

    def two_buffers(self, s: lp.Swap | lp.CopyBuffer) -> None:
        for b in (s.first, s.second) if isinstance(s, lp.Swap) else (s.target, s.source):
            self.need(b in self.buffers, f"{b.name} is not allocated", s)

    def section(self, s: lp.Section) -> None:
        for inner in s.body:
            self.stmt(inner)

    def product(self, s: lp.Product) -> None:
        self.block(s.body)
        self.block(s.after)

    def helper(self, s: lp.Helper) -> None:
        for b, index in s.buffers:  # no index: the whole buffer
            self.access(b, index or (Poly({}),) * len(b.extents), s)
        self.expr(s.sizes, s)
        if s.result is not None and s.result not in self.vars:
            self.declare(s.result, s)

    def test(self, s: lp.Check) -> None:
        self.expr(s.tests, s)
        self.expr(s.args, s)

    def show(self, s: lp.Print) -> None:
        for part in s.parts:
            for shown in part[1] if not isinstance(part, str) else ():
                self.expr(shown, s)

    def chunks(self, chunk: lp.Chunks) -> None:
        self.expr(chunk.extent, chunk)
        self.expr(chunk.work, chunk)
        for acc in chunk.accs:
            if acc.var not in self.vars:
                self.declare(acc.var, chunk)
            self.pieces.add(acc.var)
        private = {own for own, _, _ in chunk.buffers}
        self.buffers |= private
        forever, self.forever = self.forever, 0
        self.loop((chunk.low, chunk.high), chunk.body)
        self.forever = forever
        self.buffers -= private

    # -- expressions

    def access(self, buffer: lp.Buffer, index: tuple[Poly, ...], stmt: Any) -> None:
        if buffer not in self.buffers:
            self.need(False, f"{buffer.name} is not allocated", stmt)
        if len(index) != len(buffer.extents):
            self.need(False, f"{len(index)} indices for {len(buffer.extents)} axes of {buffer.name}", stmt)
        self.expr(index, stmt)

    def expr(self, e: Any, stmt: Any) -> None:
        """This runs over all of a program after every pass: what an expression needs is found once, and words are made only where something is wrong."""
        found = self.known.get(id(e))
        if found is None:
            found = self.known[id(e)] = (e, Needs(e))
        needs = found[1]
        for buffer, count in needs.ranks:
            if count != len(buffer.extents):
                self.need(False, f"{count} indices for {len(buffer.extents)} axes of {buffer.name}", stmt)
        if needs.vars <= self.vars and needs.syms <= self.syms and needs.buffers <= self.buffers:
            return
        for var in sorted(needs.vars - self.vars, key=_name):
            self.need(False, f"{var.name} is used before it is declared", stmt)
        for sym in sorted(needs.syms - self.syms, key=_name):
            self.need(False, f"the index {sym.name} is used outside its loop", stmt)
        for buffer in sorted(needs.buffers - self.buffers, key=_name):
            self.need(False, f"{buffer.name} is not allocated", stmt)


def _name(x: Any) -> str:
    return str(x.name)


_RULES: dict[type, Callable[[_Checker, Any], None]] = {
    **dict.fromkeys((lp.Let, lp.Declare), _Checker.set_once),
    **dict.fromkeys((lp.Assign, lp.Add), _Checker.set_again),
    **dict.fromkeys((lp.Store, lp.Update), _Checker.write),
    lp.Alloc: _Checker.alloc,
    lp.Free: _Checker.free,
    **dict.fromkeys((lp.For, lp.Accumulate), _Checker.rounds),
    lp.Chunks: _Checker.chunks,
    lp.If: _Checker.branches,
    lp.Forever: _Checker.endless,
    lp.BreakUnless: _Checker.leave,
    **dict.fromkeys((lp.Swap, lp.CopyBuffer), _Checker.two_buffers),
    lp.Section: _Checker.section,
    lp.Product: _Checker.product,
    lp.Helper: _Checker.helper,
    lp.Check: _Checker.test,
    lp.Print: _Checker.show,
}
"""What holds of every kind of statement; a note says nothing."""
