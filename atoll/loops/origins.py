"""Where statements of loops come from: from what they set, what they compute, what is inside them.

Variables, buffers and operations carry their places (`lp.Origin`); lowering sets them and the copiers hand them on. A statement comes from what it sets and
from the operations in its expressions; a loop from all that is inside it. What has neither (the bound of a block, a lane's number) is part of what is around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atoll.errors import Span
from atoll.loops import ir as lp

Spans = dict[Span, None]


class Origins:
    """The places of every statement of a function, by the statement's identity."""

    def __init__(self, fn: lp.Function) -> None:
        self._written: dict[object, Spans] = {}
        self._found: dict[int, Spans] = {}
        for stmt in lp.walk(fn.body):
            for target in _targets(stmt):
                self._written.setdefault(target, {}).update(_operations(stmt))
        for stmt in fn.body:
            self._stmt(stmt)
        for stmt in fn.body:
            self._inherit(stmt, {})
        self._by_use(fn)

    def of(self, stmt: lp.Stmt) -> tuple[Span, ...]:
        """The places of a statement; none when the compiler made it for reasons of its own."""
        return tuple(self._found.get(id(stmt), ()))

    def _stmt(self, stmt: lp.Stmt) -> Spans:
        own: Spans = {}
        for target in _targets(stmt):
            own.update(dict.fromkeys(_carried(target)))
        own.update(_operations(stmt))
        if isinstance(stmt, lp.Check):
            own[stmt.site.span] = None
        elif isinstance(stmt, lp.Print):
            own[stmt.span] = None
        inside: Spans = {}
        for body in lp.bodies(stmt):
            for each in body:
                inside.update(self._stmt(each))
        if not isinstance(stmt, lp.If) or not own:
            own.update(inside)
        if not own:
            for target in _targets(stmt):
                own.update(self._written.get(target, {}))
        if not own:
            own.update(dict.fromkeys(span for x in _reads(stmt) for span in _carried(x)))
        self._found[id(stmt)] = {span: None for span in own if span.line}
        return {**self._found[id(stmt)], **inside}

    def _inherit(self, stmt: lp.Stmt, around: Spans) -> None:
        own = self._found[id(stmt)] or around
        self._found[id(stmt)] = own
        for body in lp.bodies(stmt):
            for each in body:
                self._inherit(each, own)


    def _by_use(self, fn: lp.Function) -> None:
        """What makes room for a value that has no place of its own comes from what uses it."""
        bare = [s for s in lp.walk(fn.body) if not self._found[id(s)]]
        wanted = {target for s in bare for target in _targets(s)}
        if not wanted:
            return
        used: dict[object, Spans] = {}
        for stmt in lp.walk(fn.body):
            for x in (*_targets(stmt), *_reads(stmt)):
                if x in wanted:
                    used.setdefault(x, {}).update(self._found[id(stmt)])
        for stmt in bare:
            self._found[id(stmt)] = {span: None for target in _targets(stmt) for span in used.get(target, ())}


def _carried(x: lp.Buffer | lp.Var) -> tuple[Span, ...]:
    return x.origin.spans


def _targets(stmt: lp.Stmt) -> Iterator[lp.Buffer | lp.Var]:
    """What a statement sets."""
    match stmt:
        case lp.Let(var, _) | lp.Declare(var, _) | lp.Assign(var, _) | lp.Add(var, _, _):
            yield var
        case lp.Store() | lp.Update() | lp.Alloc() | lp.Free():
            yield stmt.buffer
        case lp.Accumulate() | lp.Chunks():
            yield from (acc.var for acc in stmt.accs)
        case lp.Helper():
            yield from (b for b, _ in stmt.buffers)
            if stmt.result is not None:
                yield stmt.result
        case lp.CopyBuffer(target, _):
            yield target
        case lp.Swap(first, second):
            yield from (first, second)
        case lp.Product():
            yield stmt.target.buffer


def _expressions(stmt: lp.Stmt) -> Iterator[lp.Expr]:
    """The expressions of a statement, without those of statements inside it."""
    value = getattr(stmt, "value", None)
    if value is not None:
        yield value
    if isinstance(stmt, (lp.If, lp.BreakUnless, lp.Check)):
        yield from (t.expr for t in stmt.tests if t.expr is not None)
    if isinstance(stmt, lp.Check):
        yield from stmt.args


def _operations(stmt: lp.Stmt) -> Spans:
    """The places of the operations a statement does itself."""
    return {
        span: None
        for e in _expressions(stmt)
        for x in lp.subexprs(e)
        if isinstance(x, (lp.Call, lp.Cast, lp.Choose))
        for span in x.origin.spans
    }


def _reads(stmt: lp.Stmt) -> Iterator[Any]:
    """Variables and buffers in the expressions of a statement."""
    for e in _expressions(stmt):
        for x in lp.subexprs(e):
            if isinstance(x, lp.Load):
                yield x.buffer
            yield from lp.used_vars(x)
