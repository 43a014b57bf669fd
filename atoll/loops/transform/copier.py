"""Copies of statements, with indices replaced and everything they declare renamed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from atoll.loops import ir as lp
from atoll.sizes import Atom, Poly, Sym, poly

HOLDERS = (lp.For, lp.Accumulate, lp.Chunks, lp.If, lp.Forever, lp.Section, lp.Product)
"""Statements with statements inside."""
_numbers: ContextVar[Iterator[str]] = ContextVar("numbers of names", default=map(str, itertools.count(1)))  # noqa: B039  the supply of who rewrites no function
_COPY = re.compile(r"__\d+$")


@contextmanager
def names(mark: str = "") -> Iterator[None]:
    """A supply of names for the rewrites of one function: counted from 1, so that its text is always the same, whoever else rewrites meanwhile. Who rewrites it
    before others do has a mark of its own: both count from 1."""
    before = _numbers.set(mark + str(number) for number in itertools.count(1))
    try:
        yield
    finally:
        _numbers.reset(before)


def fresh(var: lp.Var) -> lp.Var:
    """Another variable like this one. Names stay unique because a mark no user can write is in them."""
    made = lp.Var(f"{_COPY.sub('', var.name)}__{next(_numbers.get())}", var.dtype, var.small)
    made.label, made.origin, made.copy_of = var.label, var.origin, var
    return made


def fresh_like(name: str, dtype: Any) -> lp.Var:
    return lp.Var(f"{name}__{next(_numbers.get())}", dtype)


class Copier:
    """One copy: `env` replaces indices, variables declared inside get new names. `tests` may decide tests by themselves."""

    def __init__(self, env: Mapping[Atom, Poly], decide: Callable[[lp.Test], bool | None] | None = None) -> None:
        self.env: dict[Atom, Poly] = dict(env)
        self.vars: dict[lp.Var, lp.Var] = {}
        self.decide = decide

    def var(self, var: lp.Var) -> lp.Var:
        new = fresh(var)
        self.vars[var] = new
        self.env[var.atom] = poly(new.atom)
        return new

    def bound(self, sym: Sym) -> Sym:
        """The index of a copied loop: of the same name, but its own."""
        new = Sym(sym.name)
        self.env[sym] = poly(new)
        return new

    def poly(self, p: Poly) -> Poly:
        return p.subst(self.env) if self.env else p

    def index(self, index: tuple[Poly, ...]) -> tuple[Poly, ...]:
        return tuple(self.poly(p) for p in index)

    def expr(self, e: lp.Expr) -> lp.Expr:
        match e:
            case lp.Use(var):
                return lp.Use(self.vars.get(var, var))
            case lp.Const():
                return e
            case lp.Index(p):
                return lp.Index(self.poly(p))
            case lp.Load(buffer, index):
                return lp.Load(buffer, self.index(index))
            case lp.Call(op, args, dtype, origin):
                return lp.Call(op, tuple(self.expr(a) for a in args), dtype, origin)
            case lp.Cast(arg, dtype, origin):
                return lp.Cast(self.expr(arg), dtype, origin)
            case lp.Choose(tests, then, orelse, origin):
                known = self.tests(tests)
                if known is None:
                    return self.expr(orelse)
                return lp.Choose(known, self.expr(then), self.expr(orelse), origin) if known else self.expr(then)
            case lp.Truth(tests):
                known = self.tests(tests)
                if known is None or not known:
                    return lp.Const(known is not None, e.dtype)
                return lp.Truth(known)
        raise AssertionError(e)

    def tests(self, tests: tuple[lp.Test, ...]) -> tuple[lp.Test, ...] | None:
        """What is left to test; None when they cannot all hold."""
        left = []
        for t in tests:
            known = self.decide(t) if self.decide is not None else None
            if known is False:
                return None
            if known is None:
                left.append(self.test(t))
        return tuple(left)

    def test(self, t: lp.Test) -> lp.Test:
        return lp.Test(t.kind, None if t.poly is None else self.poly(t.poly), None if t.expr is None else self.expr(t.expr))

    def stmts(self, stmts: lp.Stmts) -> list[lp.Stmt]:
        made: list[lp.Stmt] = []
        for s in stmts:
            new = self.stmt(s)
            if s.instance is not None and not isinstance(s, HOLDERS):
                here = s.instance.subst(self.env)
                new = [replace(x, instance=here) if x.instance is None and not isinstance(x, HOLDERS) else x for x in new]
            elif s.instance is not None and isinstance(s, lp.If) and len(new) == 1 and isinstance(new[0], lp.If) and new[0].instance is None:
                new = [replace(new[0], instance=s.instance.subst(self.env))]  # what changes what decides over it is looked at as one statement
            made += new
        return made

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        match s:
            case lp.Let(var, value):
                new = self.expr(value)
                return [lp.Let(self.var(var), new)]
            case lp.Declare(var, value):
                first = None if value is None else self.expr(value)
                return [lp.Declare(self.var(var), first)]
            case lp.Assign(var, value):
                return [lp.Assign(self.vars.get(var, var), self.expr(value))]
            case lp.Store(buffer, index, value):
                return [lp.Store(buffer, self.index(index), self.expr(value))]
            case lp.Update(buffer, index, op, value):
                return [lp.Update(buffer, self.index(index), op, self.expr(value))]
            case lp.Add(var, monoid, value):
                return [lp.Add(self.vars.get(var, var), monoid, self.expr(value))]
            case lp.If(tests, then, orelse):
                known = self.tests(tests)
                if known is None:
                    return self.stmts(orelse)
                return [lp.If(known, self.stmts(then), self.stmts(orelse))] if known else self.stmts(then)
            case lp.For():
                low, high = self.poly(s.low), self.poly(s.high)
                return [lp.For(self.bound(s.sym), low, high, self.stmts(s.body), s.parallel, s.vector, s.unroll)]
            case lp.Accumulate():
                low, high = self.poly(s.low), self.poly(s.high)
                accs = [lp.Acc(self.var(a.var), a.monoid) for a in s.accs]
                return [lp.Accumulate(self.bound(s.sym), low, high, self.stmts(s.body), accs, s.exact)]
            case lp.Chunks(buffers=()):
                accs = [lp.Acc(self.vars.get(a.var, a.var), a.monoid) for a in s.accs]
                extent, work = self.poly(s.extent), self.poly(s.work)
                return [replace(s, low=self.bound(s.low), high=self.bound(s.high), extent=extent, work=work, body=self.stmts(s.body), accs=accs)]
            case lp.Check(tests, site, args):
                known = self.tests(tests)
                if known == ():
                    return []
                return [lp.Check(tuple(map(self.test, tests)) if known is None else known, site, tuple(self.expr(a) for a in args))]  # one that fails stays
            case lp.Note():
                return [s]
        raise NotImplementedError(type(s).__name__)


def copyable(stmts: lp.Stmts) -> bool:
    """True when a Copier knows all of these statements."""
    known = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.Add, lp.If, lp.For, lp.Accumulate, lp.Check, lp.Note)
    return all(isinstance(s, known) for s in lp.walk(stmts))
