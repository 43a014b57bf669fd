"""Loops of the compiler as data, in the tables that check/rewrites/language.py reads: P, Q polynomials, E expressions, S statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atoll.check.encode import Encoder, number
from atoll.loops import ir as lp
from atoll.sizes import Atom, Sym, poly

FEW = 256  # elements of an array of constants that is written down


class LoopsData(Encoder):
    """One table for all stages of a function: what a rewrite left as it was is written once."""

    def __init__(self, fn: lp.Function) -> None:
        super().__init__({sym: sym.name for sym in fn.sizes})
        self.exprs: list[Any] = []
        self.stmts: list[Any] = []
        self._expr_rows: dict[str, int] = {}
        self._stmt_rows: dict[str, int] = {}
        self._expr_ids: dict[int, int] = {}
        self._sites: dict[int, int] = {}
        self._kept: list[Any] = []

    def name(self, x: Any) -> str:
        return super().name(x.var if isinstance(x, lp.VarAtom) else x)

    def atom(self, a: Atom) -> str | int:
        return self.name(a) if isinstance(a, lp.VarAtom) else super().atom(a)

    def _row(self, table: list[Any], rows: dict[str, int], row: Any) -> int:
        key = repr(row)
        if key not in rows:
            rows[key] = len(table)
            table.append(row)
        return rows[key]

    def expr(self, e: lp.Expr) -> int:
        if id(e) not in self._expr_ids:
            self._kept.append(e)
            self._expr_ids[id(e)] = self._row(self.exprs, self._expr_rows, self._expr(e))
        return self._expr_ids[id(e)]

    def _expr(self, e: lp.Expr) -> Any:
        match e:
            case lp.Use(v):
                return ["use", self.name(v)]
            case lp.Const(value, d):
                return ["const", number(value, d), d.name]
            case lp.Index(p):
                return ["index", self.poly(p)]
            case lp.Load(b, index):
                return ["load", self.name(b), self.many(index)]
            case lp.Call(op, args, d):
                return ["call", op, [self.expr(a) for a in args], d.name]
            case lp.Cast(arg, d):
                return ["cast", self.expr(arg), d.name]
            case lp.Choose(tests, then, orelse):
                return ["choose", self.tests(tests), self.expr(then), self.expr(orelse)]
            case lp.Truth(tests):
                return ["truth", self.tests(tests)]
        raise AssertionError(e)

    def tests(self, tests: tuple[lp.Test, ...]) -> list[Any]:
        return [[t.kind, None if t.poly is None else self.poly(t.poly), None if t.expr is None else self.expr(t.expr)] for t in tests]

    def body(self, stmts: lp.Stmts) -> list[int]:
        return [self._row(self.stmts, self._stmt_rows, self._stmt(s)) for s in stmts if not isinstance(s, lp.Note)]

    def _stmt(self, s: lp.Stmt) -> Any:
        match s:
            case lp.Let(v, e):
                return ["let", self.name(v), v.dtype.name, self.expr(e)]
            case lp.Declare(v, first):
                return ["declare", self.name(v), v.dtype.name, None if first is None else self.expr(first)]
            case lp.Assign(v, e):
                return ["assign", self.name(v), self.expr(e)]
            case lp.Store(b, index, e):
                return ["store", self.name(b), self.many(index), self.expr(e)]
            case lp.Update(b, index, op, e):
                return ["update", self.name(b), self.many(index), op, self.expr(e)]
            case lp.Add(v, monoid, e):
                return ["add", self.name(v), monoid, self.expr(e)]
            case lp.Check(tests, site, args):
                return ["check", self.tests(tests), self.site(site), [self.expr(a) for a in args]]
            case lp.For():
                return ["for", self.name(s.sym), self.poly(s.low), self.poly(s.high), self.body(s.body), [s.parallel, s.vector, s.unroll, s.scan]]
            case lp.Accumulate():
                return ["accumulate", self.name(s.sym), self.poly(s.low), self.poly(s.high), self.body(s.body), self.accs(s.accs), s.exact]
            case lp.Chunks():
                shared = [[self.name(a), self.name(b), monoid] for a, b, monoid in s.buffers]
                how = [s.work, *map(_number, (s.align, s.most, s.grain, s.rows))]
                return ["chunks", self.name(s.low), self.name(s.high), self.poly(s.extent), self.body(s.body), self.accs(s.accs), shared, self.many(how)]
            case lp.If(tests, then, orelse):
                return ["if", self.tests(tests), self.body(then), self.body(orelse)]
        return self._other(s)

    def _other(self, s: lp.Stmt) -> Any:
        """Statements that are not looked into."""
        match s:
            case lp.Alloc(b):
                home = None if b.home is None else self.name(b.home)
                return ["alloc", self.name(b), b.dtype.name, self.many(b.extents), [b.local, b.rows, b.private, home]]
            case lp.Free(b):
                return ["free", self.name(b)]
            case lp.CopyBuffer(a, b):
                return ["copy", self.name(a), self.name(b)]
            case lp.Swap(a, b):
                return ["swap", self.name(a), self.name(b)]
            case lp.Helper():
                how = [None if s.site is None else self.site(s.site), None if s.dtype is None else s.dtype.name]
                buffers = [[self.name(b), self.many(index)] for b, index in s.buffers]
                return ["helper", s.name, buffers, self.many(s.sizes), None if s.result is None else [self.name(s.result), s.result.dtype.name], how]
            case lp.Print():
                return self._print(s)
            case lp.BreakUnless(tests):
                return ["break", self.tests(tests)]
            case lp.Forever(body):
                return ["forever", self.body(body)]
            case lp.Section(label, body):
                return ["section", label, self.body(body)]
            case lp.Product():
                numbers = [s.rows, s.columns, *s.sums, s.left_row, *s.left_sums, s.right_column, *s.right_sums, s.target_row]
                return ["product", self.many(numbers), [self.expr(x) for x in (s.left, s.right, s.target)], self.body(s.body), self.body(s.after), s.adds]
        raise AssertionError(s)

    def _print(self, s: lp.Print) -> Any:
        text: list[str] = []
        buffers: list[str] = []
        exprs: list[int] = []
        for part in s.parts:
            if isinstance(part, str):
                text.append(part)
                continue
            t, leaves, how = part
            text.append(f"{t!r} {how!r}")
            for x in leaves:
                if isinstance(x, lp.Buffer):
                    buffers.append(self.name(x))
                else:
                    exprs.append(self.expr(x))
        return ["print", repr(text), buffers, exprs]

    def accs(self, accs: Sequence[lp.Acc]) -> list[Any]:
        return [[self.name(a.var), a.monoid, a.var.dtype.name] for a in accs]

    def site(self, site: Any) -> int:
        self._kept.append(site)
        return self._sites.setdefault(id(site), len(self._sites))

    def arguments(self, fn: lp.Function) -> list[Any]:
        """Arrays and numbers that no statement makes: [name, what it is, type], and of arrays that are as long as sizes say: how long."""
        made = {s.buffer for s in lp.walk(fn.body) if isinstance(s, lp.Alloc)}  # results whose length is found out
        arrays = dict.fromkeys(x for x in (*fn.inputs, *(o.buffer for o in fn.outputs), *fn.consts) if isinstance(x, lp.Buffer) and x not in made)
        sizes = set(fn.sizes)
        found = [[self.name(b), "an array", b.dtype.name, *([self.many(b.extents)] if all(sizes.issuperset(p.leaves()) for p in b.extents) else [])] for b in arrays]
        return found + [[self.name(v), "a variable", v.dtype.name] for v in fn.inputs if isinstance(v, lp.Var)]

    def constants(self, fn: lp.Function) -> list[Any]:
        """Short arrays of constants, with their elements."""
        found: list[Any] = []
        for b in fn.consts:
            if b.value is not None and b.value.size <= FEW:
                found.append([self.name(b), list(b.value.shape), [self.expr(lp.Const(x.item(), b.dtype)) for x in b.value.reshape(-1)]])
        return found

    def results(self, fn: lp.Function) -> list[str]:
        """Variables that say how long results are."""
        return [self.name(v) for o in fn.outputs for v in o.open_sizes if v is not None]

    def tables(self) -> Any:
        return {"P": self.polys, "Q": self.quots, "E": self.exprs, "S": self.stmts}


def _number(k: int) -> Any:
    return poly(k)


__all__ = ["LoopsData", "Sym"]
