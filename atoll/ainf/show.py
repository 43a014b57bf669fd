"""AiNF as text, after figure 2 of the paper: a line per primitive, its context in front. Indices that are in force together have different names."""

from __future__ import annotations

from typing import Any

from atoll.ainf import ir
from atoll.ainf.dead import alive
from atoll.ainf.scan_prim import own_binders, subst
from atoll.errors import Span
from atoll.origins import Marks
from atoll.sizes import Sym, poly


class Words:
    """How indices are called: by their own names, numbered where two would be called the same."""

    def __init__(self, outer: Words | None = None) -> None:
        self.names: dict[Sym, str] = dict(outer.names) if outer is not None else {}

    def bind(self, sym: Sym) -> str:
        if sym not in self.names:
            used, name, count = set(self.names.values()), sym.name, 1
            while name in used:
                name, count = f"{sym.name}{count}", count + 1
            self.names[sym] = name
        return self.names[sym]

    def say(self, x: Any) -> str:
        """An operand, a condition, a size, or several of them."""
        if isinstance(x, ir.Const):
            return repr(x.value)
        if isinstance(x, ir.IndexValue):
            return f"{{{self.say(x.poly)}}}"
        if isinstance(x, tuple):
            return f"({', '.join(map(self.say, x))})"
        if isinstance(x, ir.Abs):
            inner = Words(self)
            heads = "".join(f"λ{inner.bind(b)}<{inner.say(b.extent)}. " for b in x.binders)
            return f"({heads}{inner.say(x.body)})" if heads else self.say(x.body)
        if isinstance(x, Sym):
            return self.names.get(x, repr(x))
        return repr(subst(x, {sym: poly(Sym(name)) for sym, name in self.names.items() if name != sym.name}))

    def over(self, b: ir.Binder) -> str:
        """An index with its range."""
        return f"{self.bind(b)}:{self.say(b.extent)}"


def show(program: ir.Program, everything: bool = False, marks: Marks | None = None) -> str:
    """The program's live lines (all lines when asked) and its results."""
    keep = None if everything else alive(program)
    lines = _block(program.block, keep, 0, Words(), marks)
    results = ", ".join(map(Words().say, program.results))
    return "\n".join([*lines, f"ret {results}" + ("" if marks is None else marks.mark((program.returned,)))])


def _block(block: ir.Block, keep: set[ir.Line] | None, depth: int, outer: Words, marks: Marks | None, around: tuple[Span, ...] = ()) -> list[str]:
    out = []
    for line in block.lines:
        if keep is not None and line not in keep:
            continue
        words = Words(outer)
        context = "".join(f"for {words.over(d)}, " for d in line.dims) + "".join(f"if {words.say(c)}, " for c in line.conds)
        name = line.name if len(line.results) <= 1 else f"{line.name}.(0..{len(line.results) - 1})"
        axes = line.results[0].axes if line.results else ()
        own = f"[{', '.join(map(words.say, axes))}]" if axes else ""
        origins = line.origins or around  # the state of a loop comes from the loop
        mark = "" if marks is None else marks.mark(origins)
        out.append(mark + "  " * depth + f"let {context}{name}{own} = {prim_text(line.prim, words)}")
        for inner in _inner_blocks(line.prim):
            out += _block(inner, keep, depth + 1, words, marks, origins)
    return out


def _inner_blocks(prim: Any) -> list[ir.Block]:
    block = getattr(prim, "block", None)
    return [block] if isinstance(block, ir.Block) else []


def prim_text(p: ir.Prim, words: Words | None = None) -> str:
    """A primitive; its own indices are bound in `words`."""
    w = words if words is not None else Words()
    for b in own_binders(p):
        w.bind(b)
    say, over = w.say, w.over
    match p:
        case ir.Op(name, args):
            return f"{name}({', '.join(map(say, args))})"
        case ir.Cast(arg):
            return f"cast({say(arg)})"
        case ir.Select(conds, then, orelse):
            return f"if {' and '.join(map(say, conds))} then {say(then)} else {say(orelse)}"
        case ir.Truth(cond):
            return f"({say(cond)})"
        case ir.Extent(low, high):
            return f"extent({say(low)}, {say(high)})"
        case ir.Input(_, leaf, name):
            return f"input {name}.{leaf}" if leaf else f"input {name}"
        case ir.ConstArray(value):
            return f"const {value.dtype}{list(value.shape)}"
        case ir.Param(position, name):
            return f"param {position} {name}"
        case ir.Reduce(monoid, binder, arg):
            return f"{monoid} {over(binder)}. {say(arg)}"
        case ir.ArgReduce(which, binder, arg):
            return f"arg{which} {over(binder)}. {say(arg)}"
        case ir.Scan(monoid, binder, arg, start, exclusive):
            return f"scan{'_exclusive' if exclusive else ''} {monoid} {over(binder)}. {say(arg)} from {say(start)}"
        case ir.Fold(binder, start, elements, _, results):
            return f"fold {over(binder)} {say(start)} {say(elements)} -> {say(results)}"
        case ir.ScanFold(binder, start, elements, _, results, _):
            return f"scan {over(binder)} {say(start)} {say(elements)} -> {say(results)}"
        case ir.Argsort(binder, key):
            return f"argsort {over(binder)}. {say(key)}"
        case ir.Compress(binder, mask, values):
            return f"compress {over(binder)}. {say(mask)} {say(values)}"
        case ir.Display(items):
            return f"[{', '.join(map(say, items))}]"
        case ir.Scatter(base, binders, index, value, monoid, drop):
            ranges = "".join(f"{over(x)} " for x in binders)
            how = (monoid or "put") + (" drop" if drop else "")
            if p.when:
                how = f"if {' and '.join(map(say, p.when))} {how}"
            return f"scatter {say(base)} {ranges}. [{', '.join(map(say, index))}] {how} {say(value)}"
        case ir.Active(_, arg, _):
            return f"active {say(arg)}"
        case ir.ScatterFold(base, binder, index, elements, _, results, _):
            return f"scatter {say(base)} {over(binder)}. [{say(index)}] {say(elements)} -> {say(results)}"
        case ir.Loop(index, size, state, _, results):
            return f"loop {w.bind(index)}:{say(size)} {_when(p, say)}{say(state)} -> {say(results)}"
        case ir.While(state, cond, _, _, results):
            most = f"{w.bind(p.index)}:{say(p.size)} " if p.index is not None else ""
            return f"while {most}{say(cond)} {_when(p, say)}{say(state)} -> {say(results)}"
        case ir.Check(conds, site, args):
            return f"check {' and '.join(map(say, conds))} else {site.code} {say(args)}"
        case ir.CheckUnique(binder, index, size):
            return f"unique {over(binder)}. {say(index)} < {say(size)}"
        case ir.Print(parts):
            return f"print {parts}"
    return repr(p)


def _when(p: Any, say: Any) -> str:
    return f"if {' and '.join(map(say, p.when))} " if p.when else ""


__all__ = ["prim_text", "show"]
