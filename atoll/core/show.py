"""Core as text: what `f.show("core")` prints. Python-like, every size and map explicit."""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.core.prims import PRIMS
from atoll.core.rewrite import called
from atoll.errors import Span
from atoll.origins import Marks
from atoll.sizes import Sym
from atoll.types.types import Union, dtype_of

_SIGNS = {name: p.sign for name, p in PRIMS.items() if p.sign}


def show(fn: ir.Function, marks: Marks | None = None) -> str:
    """The function and everything it calls, callees first."""
    return "\n\n".join(_Printer(marks).function(f) for f in called(fn))


class _Printer:
    """Symbols of one name get numbers, so that the text is unambiguous."""

    def __init__(self, marks: Marks | None = None) -> None:
        self.marks = marks
        self.names: dict[Sym, str] = {}
        self.used: dict[str, int] = {}

    def name(self, sym: Sym) -> str:
        if sym not in self.names:
            count = self.used.get(sym.name, 0)
            self.used[sym.name] = count + 1
            self.names[sym] = sym.name if count == 0 else f"{sym.name}_{count}"
        return self.names[sym]

    def mark(self, *spans: Span) -> str:
        """The mark of places, before what comes from there."""
        return "" if self.marks is None else self.marks.mark(spans)

    def function(self, f: ir.Function) -> str:
        sizes = ", ".join(self.name(s) for s in f.sizes)
        params = ", ".join(f"{self.name(sym)}: {t!r}" for sym, t in f.params)
        head = f"def {f.name}[{sizes}]({params}) -> {f.result!r}:" if f.sizes else f"def {f.name}({params}) -> {f.result!r}:"
        lines = [self.mark(f.span) + head]
        for need in f.requires:
            lines.append(f"{self.mark(need.span, f.span)}    require {need.poly} >= 0  # {need.text}")
        assert f.body is not None
        return "\n".join([*lines, *self.body(f.body, 1)])

    def body(self, e: ir.Expr, depth: int) -> list[str]:
        """A block as lines, its result last."""
        pad = "    " * depth
        if not isinstance(e, ir.Block):
            return [f"{self.mark(e.span)}{pad}{self.expr(e, depth)}"]
        lines = []
        for stmt in e.stmts:
            if isinstance(stmt, (ir.Bind, ir.Open)):
                pad = (self.mark(stmt.value.span) or self.mark(e.span) or self.mark(e.result.span)) + "    " * depth
            match stmt:
                case ir.Bind(sym, value):
                    lines.append(f"{pad}{self.name(sym)}: {value.type!r} = {self.expr(value, depth)}")
                case ir.Open(sizes, sym, value):
                    opened = ", ".join(self.name(s) for s in sizes)
                    lines.append(f"{pad}open {opened}: {self.name(sym)} = {self.expr(value, depth)}")
                case ir.Assert(cond, text):
                    lines.append(f"{self.mark(stmt.span)}{pad}assert {self.expr(cond, depth)}  # {text}")
                case ir.Require(p, text):
                    lines.append(f"{self.mark(stmt.span)}{pad}require {p} >= 0  # {text}")
                case ir.Fix(defs):
                    lines += [f"{self.mark(made.span)}{pad}def {self.name(sym)} = {self.lam(made.lam, depth)}" for sym, made in defs]
                case ir.Print(parts):
                    shown = ", ".join(repr(p) if isinstance(p, str) else self.expr(p[0], depth) for p in parts)
                    lines.append(f"{self.mark(stmt.span)}{pad}print({shown})")
        return [*lines, f"{self.mark(e.result.span)}{pad}{self.expr(e.result, depth)}"]

    def nested(self, e: ir.Expr, depth: int) -> str:
        """A body on lines of its own when it has statements."""
        if isinstance(e, ir.Block):
            return "\n" + "\n".join(self.body(e, depth + 1))
        return " " + self.expr(e, depth)

    def exprs(self, es: tuple[Any, ...], depth: int) -> str:
        return ", ".join(self.expr(e, depth) for e in es)

    def items(self, items: tuple[Any, ...], depth: int) -> str:
        return ", ".join(
            f"{i.low}:{i.low}+{i.size}:{i.step}" if isinstance(i, ir.Range) else self.expr(i, depth) for i in items
        )

    def lam(self, lam: ir.Lam, depth: int) -> str:
        return f"(lambda {', '.join(self.name(p) for p in lam.params)}:{self.nested(lam.body, depth)})"

    def expr(self, e: Any, depth: int) -> str:
        written = self.written(e, depth)
        return written if isinstance(e, ir.Var) else self.mark(e.span) + written  # a name stands for what was said elsewhere

    def written(self, e: Any, depth: int) -> str:
        match e:
            case ir.Var(sym):
                return self.name(sym)
            case ir.Lit(value):
                return repr(value) if dtype_of(e.type).name in ("i64", "f64", "bool", "c128") else f"{e.type!r}({value!r})"
            case ir.SizeOf(p):
                return f"{{{p}}}"
            case ir.ConstArray(value):
                return f"constant {value.dtype}{list(value.shape)}"
            case ir.Prim(op, args):
                if op in _SIGNS and len(args) == 2:
                    return f"({self.expr(args[0], depth)} {_SIGNS[op]} {self.expr(args[1], depth)})"
                return f"{op}({self.exprs(args, depth)})"
            case ir.Cast(value):
                return f"{e.type!r}({self.expr(value, depth)})"
            case ir.If(cond, then, orelse):
                pad = "    " * depth
                if isinstance(then, ir.Block) or isinstance(orelse, ir.Block):
                    return (
                        f"if {self.expr(cond, depth)}:{self.nested(then, depth)}\n{self.mark(e.span)}{pad}else:{self.nested(orelse, depth)}"
                    )
                return f"({self.expr(then, depth)} if {self.expr(cond, depth)} else {self.expr(orelse, depth)})"
            case ir.Block():
                return "block:" + self.nested(e, depth)
            case ir.MakeTuple(items):
                return f"({self.exprs(items, depth)}{',' if len(items) == 1 else ''})"
            case ir.Proj(value, index):
                return f"{self.expr(value, depth)}.{index}"
            case ir.MakeArray(items):
                return f"[{self.exprs(items, depth)}]"
            case ir.Build(sym, size, body):
                return f"build({self.name(sym)} < {size}:{self.nested(body, depth)})"
            case ir.Map(params, arrays, body):
                names = ", ".join(self.name(p) for p in params)
                return f"map(lambda {names}:{self.nested(body, depth)}, {self.exprs(arrays, depth)})"
            case ir.At(array, index):
                return f"{self.expr(array, depth)}[{self.expr(index, depth)}]"
            case ir.Slice(array, items):
                return f"{self.expr(array, depth)}[{self.items(items, depth)}]"
            case ir.Update(array, items, value):
                return f"update({self.expr(array, depth)}[{self.items(items, depth)}] = {self.expr(value, depth)})"
            case ir.Reduce(op, neutral, array, monoid):
                return f"reduce({monoid or self.lam(op, depth)}, {self.expr(neutral, depth)}, {self.expr(array, depth)})"
            case ir.Scan(op, neutral, array, exclusive, monoid):
                word = "scan_exclusive" if exclusive else "scan"
                return f"{word}({monoid or self.lam(op, depth)}, {self.expr(neutral, depth)}, {self.expr(array, depth)})"
            case ir.ArgReduce(which, array):
                return f"arg{which}({self.expr(array, depth)})"
            case ir.Hist(op, neutral, size, indices, values, monoid):
                return f"hist({monoid or self.lam(op, depth)}, {self.expr(neutral, depth)}, {size}, {self.expr(indices, depth)}, {self.expr(values, depth)})"
            case ir.Scatter(array, indices, values, op, monoid):
                how = f", {monoid or self.lam(op, depth)}" if op is not None else ""
                return f"scatter({self.expr(array, depth)}, {self.expr(indices, depth)}, {self.expr(values, depth)}{how})"
            case ir.Argsort(keys):
                return f"argsort({self.expr(keys, depth)})"
            case ir.Filter(array, mask):
                return f"filter({self.expr(mask, depth)}, {self.expr(array, depth)})"
            case ir.For(sym, size, state, body):
                return f"for {self.name(sym)} < {size} {self.state(state, depth)}:{self.nested(body, depth)}"
            case ir.While(state, cond, body):
                return f"while {self.expr(cond, depth)} {self.state(state, depth)}:{self.nested(body, depth)}"
            case ir.View(op, params, args):
                given = ", ".join(map(repr, params))
                return f"{op}({self.exprs(args, depth)}{', ' + given if given else ''})"
            case ir.Zip(items):
                return f"zip({self.exprs(items, depth)})"
            case ir.Unzip(value):
                return f"unzip({self.expr(value, depth)})"
            case ir.Call(fn, sizes, args):
                return f"{fn.name}[{', '.join(map(repr, sizes))}]({self.exprs(args, depth)})"
            case ir.Jvp(lam, args, tangents, both):
                along = ", ".join(self.expr(x, depth) for x in tangents)
                at = ", ".join(self.expr(x, depth) for x in args)
                return f"jvp{2 if both else ''}({self.lam(lam, depth)}, ({at}), ({along}))"
            case ir.Vjp(lam, args, seed, both):
                at = ", ".join(self.expr(x, depth) for x in args)
                return f"vjp{2 if both else ''}({self.lam(lam, depth)}, ({at}), {self.expr(seed, depth)})"
            case ir.Inject(member, items):
                decls = e.type.decl.decls if isinstance(e.type, Union) else ()
                return f"{decls[member].name}({self.exprs(items, depth)})"
            case ir.Match():
                return self.match(e, depth)
            case ir.Closure(lam, name):
                return f"{name} = {self.lam(lam, depth)}"
            case ir.Apply(fn, args):
                return f"{self.expr(fn, depth)}({self.exprs(args, depth)})"
            case ir.Hide(value):
                return f"hide({self.expr(value, depth)})"
            case ir.Extern(unit, name, _, args):
                return f"{unit.name}.{name}({self.exprs(args, depth)})  # compiled before"
            case ir.Stop(value):
                return f"stop({self.expr(value, depth)})"
            case ir.Copy(value):
                return f"copy({self.expr(value, depth)})"
        return f"{type(e).__name__}(...)"

    def match(self, e: ir.Match, depth: int) -> str:
        """The tests as a tree whose leaves name the arms, then the arms."""
        pad = "    " * (depth + 1)
        lines = [f"match {self.name(e.sym)} = {self.expr(e.value, depth)}:", *(self.mark(e.span) + line for line in self.tree(e.tree, depth + 1))]
        for k, arm in enumerate(e.arms):
            lines.append(f"{self.mark(e.span)}{pad}arm {k}({', '.join(self.name(p) for p in arm.params)}):{self.nested(arm.body, depth + 1)}")
        return "\n".join(lines)

    def tree(self, tree: ir.Tree, depth: int) -> list[str]:
        pad = "    " * depth
        match tree:
            case ir.Leaf(arm, args):
                return [f"{pad}arm {arm}({self.exprs(args, depth)})"]
            case ir.LetTree(sym, value, inner):
                return [f"{pad}{self.name(sym)} = {self.expr(value, depth)}", *self.tree(inner, depth)]
            case ir.TestTree(cond, then, orelse):
                return [f"{pad}if {self.expr(cond, depth)}:", *self.tree(then, depth + 1), f"{pad}else:", *self.tree(orelse, depth + 1)]
            case ir.Switch(sym, t, cases, default):
                lines = []
                assert isinstance(t, Union)
                for case in cases:
                    fields = ", ".join(self.name(s) for s in case.fields)
                    lines += [f"{pad}case {self.name(sym)} of {t.decl.decls[case.member].name}({fields}):", *self.tree(case.tree, depth + 1)]
                return [*lines, f"{pad}otherwise:", *self.tree(default, depth + 1)] if default is not None else lines

    def state(self, state: tuple[tuple[Sym, Any], ...], depth: int) -> str:
        return "(" + ", ".join(f"{self.name(sym)} = {self.expr(first, depth)}" for sym, first in state) + ")"
