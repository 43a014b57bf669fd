"""Loops as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.core.prims import ARITHMETIC
from atoll.loops import ir as lp
from atoll.loops.origins import Origins
from atoll.origins import Marks


def show(fn: lp.Function, marks: Marks | None = None) -> str:
    """The function as text, with marks where its lines come from when they are wanted."""
    origins = None if marks is None else Origins(fn)

    def mark(stmt: lp.Stmt) -> str:
        return "" if marks is None or origins is None else marks.mark(origins.of(stmt))

    sizes = ", ".join(s.name for s in fn.sizes)
    params = ", ".join(_param(p) for p in (*fn.inputs, *(o.buffer for o in fn.outputs)))
    head = f"{fn.name}<{sizes}>({params}):" + ("" if marks is None else marks.mark((fn.span,)))
    return "\n".join([head, *_stmts(fn.body, 1, mark)])


def statements(stmts: lp.Stmts) -> list[str]:
    """Lines of text for statements alone."""
    return _stmts(stmts, 0)


def _param(p: lp.Buffer | lp.Var) -> str:
    if isinstance(p, lp.Var):
        return f"{p.name}: {p.dtype}"
    kind = "out " if p.kind == "out" else ""
    return f"{kind}{p.name}: {p.dtype}[{', '.join(map(repr, p.extents))}]"


def _unmarked(stmt: lp.Stmt) -> str:
    return ""


def _stmts(stmts: lp.Stmts, depth: int, mark: Callable[[lp.Stmt], str] = _unmarked) -> list[str]:
    out: list[str] = []
    for stmt in stmts:
        pad = mark(stmt) + "  " * depth
        match stmt:
            case lp.Let(var, value):
                out.append(f"{pad}{var} = {expr(value)}")
            case lp.Declare(var, value):
                out.append(f"{pad}var {var} = {'?' if value is None else expr(value)}")
            case lp.Assign(var, value):
                out.append(f"{pad}{var} := {expr(value)}")
            case lp.Store(buffer, index, value):
                out.append(f"{pad}{_at(buffer, index)} = {expr(value)}")
            case lp.Update(buffer, index, op, value):
                out.append(f"{pad}{_at(buffer, index)} {ARITHMETIC.get(op, op)}= {expr(value)}")
            case lp.Alloc(b):
                out.append(f"{pad}alloc {b}: {b.dtype}[{', '.join(map(repr, b.extents))}]" + (f"  # {b.reason}" if b.reason else ""))
            case lp.Free(b):
                out.append(f"{pad}free {b}")
            case lp.For(sym, low, high, body, parallel, vector, unroll):
                how = "" if parallel else " in order"
                how += f" by {vector}" if vector else ""
                out.append(f"{pad}for{how}{' unrolled' if unroll else ''} {sym} in {low}..{high}:")
                out += _stmts(body, depth + 1, mark)
            case lp.Accumulate(sym, low, high, body, accs):
                names = ", ".join(f"{a.var} by {a.monoid}" for a in accs)
                out.append(f"{pad}accumulate {names} over {sym} in {low}..{high}:")
                out += _stmts(body, depth + 1, mark)
            case lp.Add(var, monoid, value):
                out.append(f"{pad}{var} {ARITHMETIC.get(monoid, monoid)}= {expr(value)}")
            case lp.Chunks(low, high, extent, _, body, accs):
                names = f" accumulate {', '.join(f'{a.var} by {a.monoid}' for a in accs)}" if accs else ""
                out.append(f"{pad}pieces {low}..{high} of {extent}{names}:")
                out += _stmts(body, depth + 1, mark)
            case lp.If(tests, then, orelse):
                out.append(f"{pad}if {tests_text(tests)}:")
                out += _stmts(then, depth + 1, mark)
                if orelse:
                    out.append(f"{pad}else:")
                    out += _stmts(orelse, depth + 1, mark)
            case lp.Forever(body):
                out.append(f"{pad}forever:")
                out += _stmts(body, depth + 1, mark)
            case lp.BreakUnless(tests):
                out.append(f"{pad}break unless {tests_text(tests)}")
            case lp.Check(tests, site, args):
                out.append(f"{pad}check {tests_text(tests)} else {site.code}({', '.join(map(expr, args))})")
            case lp.Helper(name, buffers, sizes, result):
                given = ", ".join([*(_at(b, i) for b, i in buffers), *map(repr, sizes)])
                out.append(f"{pad}{f'{result} = ' if result else ''}{name}({given})")
            case lp.CopyBuffer(target, source):
                out.append(f"{pad}copy {source} to {target}")
            case lp.Swap(a, b):
                out.append(f"{pad}swap {a}, {b}")
            case lp.Print(parts):
                shown = [p if isinstance(p, str) else ", ".join(x.name if isinstance(x, lp.Buffer) else expr(x) for x in p[1]) for p in parts]
                out.append(f"{pad}print {shown}")
            case lp.Section(label, body):
                out.append(f"{pad}section {label!r}:")
                out += _stmts(body, depth + 1, mark)
            case lp.Product():
                out.append(f"{pad}product of {stmt.rows} by {stmt.columns} over {' by '.join(map(repr, stmt.sums))}:")
                out += _stmts(stmt.body, depth + 1, mark)
                if stmt.after:
                    out += [f"{pad}then, for finished rows:", *_stmts(stmt.after, depth + 1, mark)]
            case lp.Note(text):
                out.append(f"{pad}# {text}")
    return out


def _at(buffer: lp.Buffer, index: tuple[Any, ...]) -> str:
    return f"{buffer}[{', '.join(map(repr, index))}]"


def tests_text(tests: tuple[lp.Test, ...]) -> str:
    parts = []
    for t in tests:
        if t.poly is not None:
            parts.append(f"{t.poly} {dict(ge='>=', eq='==', ne='!=')[t.kind]} 0")
        else:
            assert t.expr is not None
            parts.append(expr(t.expr) if t.kind == "true" else f"not {expr(t.expr)}")
    return " and ".join(parts)


def expr(e: lp.Expr) -> str:
    match e:
        case lp.Use(var):
            return var.name
        case lp.Const(value, _):
            return repr(value)
        case lp.Index(p):
            return f"{{{p}}}"
        case lp.Load(buffer, index):
            return _at(buffer, index)
        case lp.Call(op, args, _):
            if op in ARITHMETIC and len(args) == 2:
                return f"({expr(args[0])} {ARITHMETIC[op]} {expr(args[1])})"
            return f"{op}({', '.join(map(expr, args))})"
        case lp.Cast(arg, dtype):
            return f"{dtype}({expr(arg)})"
        case lp.Choose(tests, then, orelse):
            return f"({expr(then)} if {tests_text(tests)} else {expr(orelse)})"
        case lp.Truth(tests):
            return f"({tests_text(tests)})"
    raise AssertionError(e)
