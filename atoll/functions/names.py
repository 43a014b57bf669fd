"""Renaming, copying and counting: what the passes share about names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from atoll.functions import ir
from atoll.functions.deep import Deep, run
from atoll.functions.walk import in_branches

Renaming = Mapping[ir.Var, ir.Var]


class Resolved(dict[ir.Var, ir.Var]):
    """What stands for what, through any number of steps; paths are shortened as they are followed."""

    def get(self, x: ir.Var, default: Any = None) -> Any:
        if x not in self:
            return x
        end = self[x]
        while end in self:
            end = self[end]
        while self[x] is not end:
            self[x], x = end, self[x]
        return end


def occurrences(block: ir.Block) -> Counter[ir.Var]:
    """How often each name is used."""
    found: Counter[ir.Var] = Counter()
    for each in ir.blocks(block):
        for bind in each.binds:
            found.update(ir.uses(bind))
        found.update(ir.term_uses(each.term))
    return found


def mentions(block: ir.Block, names: Iterable[ir.Var]) -> bool:
    wanted = set(names)
    for each in ir.blocks(block):
        if any(not wanted.isdisjoint(ir.uses(bind)) for bind in each.binds) or not wanted.isdisjoint(ir.term_uses(each.term)):
            return True
    return False


def free(bundle: Iterable[ir.Fun]) -> list[ir.Var]:
    """Names the functions of a bundle take from outside, in order of appearance; names of other functions among them."""
    bound: set[ir.Var] = set()
    used: dict[ir.Var, None] = {}
    todo = []
    for f in bundle:
        bound.add(f.name)
        bound.update(f.params)
        todo.append(f.body)
    for start in todo:
        for each in ir.blocks(start):
            for bind in each.binds:
                bound.update(ir.bound(bind))
                if isinstance(bind, ir.Funs):
                    for f in bind.bundle:
                        bound.update(f.params)
                elif isinstance(bind, ir.Join):
                    bound.update(bind.params)
                used.update(dict.fromkeys(ir.uses(bind)))
            used.update(dict.fromkeys(ir.term_uses(each.term)))
    return [name for name in used if name not in bound]


def rename_bind(bind: ir.Bind, r: Renaming) -> ir.Bind:
    """The bind with the names it uses replaced; functions and joins it defines are left alone."""

    def all_(xs: ir.Vars) -> ir.Vars:
        return tuple(r.get(x, x) for x in xs)

    match bind:
        case ir.Op(results, op, args, span):
            return ir.Op(results, op, all_(args), span)
        case ir.Make(x, con, args):
            return ir.Make(x, con, all_(args))
        case ir.Take(x, value, con, index):
            return ir.Take(x, r.get(value, value), con, index)
        case ir.Call(results, fn, args):
            return ir.Call(results, r.get(fn, fn), all_(args))
    return bind


def rename_term(term: ir.Term, r: Renaming) -> ir.Term:
    """The term with the names it uses replaced; branches are left alone."""

    def all_(xs: ir.Vars) -> ir.Vars:
        return tuple(r.get(x, x) for x in xs)

    match term:
        case ir.Ret(values):
            return ir.Ret(all_(values))
        case ir.Tail(fn, args):
            return ir.Tail(r.get(fn, fn), all_(args))
        case ir.Jump(join, args):
            return ir.Jump(r.get(join, join), all_(args))
        case ir.Case(value, branches):
            return ir.Case(r.get(value, value), branches)


def rename(block: ir.Block, r: Renaming) -> ir.Block:
    """The block with names replaced everywhere inside. No binder is among them."""
    return run(_rename(block, r)) if r else block


def _rename(block: ir.Block, r: Renaming) -> Deep[ir.Block]:
    out: list[ir.Bind] = []
    for bind in block.binds:
        if isinstance(bind, ir.Funs):
            bundle = []
            for f in bind.bundle:
                body = yield _rename(f.body, r)
                bundle.append(ir.with_body(f, body))
            out.append(ir.Funs(tuple(bundle)))
        elif isinstance(bind, ir.Join):
            body = yield _rename(bind.body, r)
            out.append(ir.Join(bind.name, bind.params, body))
        else:
            out.append(rename_bind(bind, r))
    return ir.Block(tuple(out), (yield in_branches(rename_term(block.term, r), lambda inner: _rename(inner, r))))


def copy(block: ir.Block, r: Renaming) -> ir.Block:
    """A copy with every binder fresh, and the given names replaced."""
    return run(_copy(block, dict(r)))


def _copy(block: ir.Block, r: dict[ir.Var, ir.Var]) -> Deep[ir.Block]:
    def new(x: ir.Var) -> ir.Var:
        made = r[x] = x.again()
        return made

    out: list[ir.Bind] = []
    for bind in block.binds:
        renamed = rename_bind(bind, r)
        match renamed:
            case ir.Literal(x, value):
                out.append(ir.Literal(new(x), value))
            case ir.Op(results, op, args, span):
                out.append(ir.Op(tuple(map(new, results)), op, args, span))
            case ir.Make(x, con, args):
                out.append(ir.Make(new(x), con, args))
            case ir.Take(x, value, con, index):
                out.append(ir.Take(new(x), value, con, index))
            case ir.Call(results, fn, args):
                out.append(ir.Call(tuple(map(new, results)), fn, args))
            case ir.Funs(bundle):
                names = [new(f.name) for f in bundle]
                made = []
                for name, f in zip(names, bundle, strict=True):
                    params = tuple(map(new, f.params))
                    body = yield _copy(f.body, r)
                    made.append(ir.Fun(name, params, body, f.results, f.marked, f.span))
                out.append(ir.Funs(tuple(made)))
            case ir.Join(name, params, body):
                params = tuple(map(new, params))
                inner = yield _copy(body, r)
                out.append(ir.Join(new(name), params, inner))
    return ir.Block(tuple(out), (yield in_branches(rename_term(block.term, r), lambda inner: _copy(inner, r))))
