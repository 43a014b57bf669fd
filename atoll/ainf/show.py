"""AiNF as text, after figure 2 of the paper: a line per primitive, its context in front."""

from __future__ import annotations

from typing import Any

from atoll.ainf import ir
from atoll.ainf.dead import alive
from atoll.sizes import Poly


def show(program: ir.Program, everything: bool = False) -> str:
    """The program's live lines (all lines when asked) and its results."""
    keep = None if everything else alive(program)
    lines = _block(program.block, keep, 0)
    results = ", ".join(map(repr, program.results))
    return "\n".join([*lines, f"ret {results}"])


def _block(block: ir.Block, keep: set[ir.Line] | None, depth: int) -> list[str]:
    out = []
    for line in block.lines:
        if keep is not None and line not in keep:
            continue
        context = "".join(f"for {d}:{d.extent}, " for d in line.dims) + "".join(f"if {c}, " for c in line.conds)
        name = line.name if len(line.results) <= 1 else f"{line.name}.(0..{len(line.results) - 1})"
        axes = line.results[0].axes if line.results else ()
        own = f"[{', '.join(map(repr, axes))}]" if axes else ""
        out.append("  " * depth + f"let {context}{name}{own} = {prim_text(line.prim)}")
        for inner in _inner_blocks(line.prim):
            out += _block(inner, keep, depth + 1)
    return out


def _inner_blocks(prim: Any) -> list[ir.Block]:
    block = getattr(prim, "block", None)
    return [block] if isinstance(block, ir.Block) else []


def _operand(x: Any) -> str:
    if isinstance(x, ir.Const):
        return repr(x.value)
    if isinstance(x, ir.IndexValue):
        return f"{{{x.poly}}}"
    if isinstance(x, tuple):
        return f"({', '.join(map(_operand, x))})"
    return repr(x)


def prim_text(p: ir.Prim) -> str:
    match p:
        case ir.Op(name, args):
            return f"{name}({', '.join(map(_operand, args))})"
        case ir.Cast(arg):
            return f"cast({_operand(arg)})"
        case ir.Select(conds, then, orelse):
            return f"if {' and '.join(map(repr, conds))} then {_operand(then)} else {_operand(orelse)}"
        case ir.Truth(cond):
            return f"({cond})"
        case ir.Extent(low, high):
            return f"extent({_operand(low)}, {_operand(high)})"
        case ir.Input(_, leaf, name):
            return f"input {name}.{leaf}" if leaf else f"input {name}"
        case ir.ConstArray(value):
            return f"const {value.dtype}{list(value.shape)}"
        case ir.Param(position, name):
            return f"param {position} {name}"
        case ir.Reduce(monoid, binder, arg):
            return f"{monoid} {binder}:{binder.extent}. {_operand(arg)}"
        case ir.ArgReduce(which, binder, arg):
            return f"arg{which} {binder}:{binder.extent}. {_operand(arg)}"
        case ir.Scan(monoid, binder, arg, start, exclusive):
            return f"scan{'_exclusive' if exclusive else ''} {monoid} {binder}:{binder.extent}. {_operand(arg)} from {_operand(start)}"
        case ir.Fold(binder, start, elements, _, results):
            return f"fold {binder}:{binder.extent} {_operand(start)} {_operand(elements)} -> {_operand(results)}"
        case ir.ScanFold(binder, start, elements, _, results, _):
            return f"scan {binder}:{binder.extent} {_operand(start)} {_operand(elements)} -> {_operand(results)}"
        case ir.Argsort(binder, key):
            return f"argsort {binder}:{binder.extent}. {_operand(key)}"
        case ir.Compress(binder, mask, values):
            return f"compress {binder}:{binder.extent}. {_operand(mask)} {_operand(values)}"
        case ir.Display(items):
            return f"[{', '.join(map(_operand, items))}]"
        case ir.Scatter(base, binders, index, value, monoid, drop):
            over = "".join(f"{x}:{x.extent} " for x in binders)
            how = (monoid or "put") + (" drop" if drop else "")
            if p.when:
                how = f"if {' and '.join(map(repr, p.when))} {how}"
            return f"scatter {base} {over}. {list(index)} {how} {_operand(value)}"
        case ir.Active(_, arg, _):
            return f"active {_operand(arg)}"
        case ir.ScatterFold(base, binder, index, elements, _, results, _):
            return f"scatter {_operand(base)} {binder}:{binder.extent}. [{index}] {_operand(elements)} -> {_operand(results)}"
        case ir.Loop(index, size, state, _, results):
            return f"loop {index}:{size} {_operand(state)} -> {_operand(results)}"
        case ir.While(state, cond, _, _, results):
            return f"while {_operand(cond)} {_operand(state)} -> {_operand(results)}"
        case ir.Check(conds, site, args):
            return f"check {' and '.join(map(repr, conds))} else {site.code} {_operand(args)}"
        case ir.CheckUnique(binder, index, size):
            return f"unique {binder}:{binder.extent}. {_operand(index)} < {size}"
        case ir.Print(parts):
            return f"print {parts}"
    return repr(p)


__all__ = ["Poly", "show"]
