"""Dead parameters: what no function looks at is not passed. Mostly environments of functions that turned out to be closed.

One graph over all functions and joins: a parameter is alive when its variable is used other than as an argument of a known function, or
passed to a parameter that is alive. Parameters of functions used as values all stay. Linear, and mutual recursion needs nothing special.
"""

from __future__ import annotations

from collections import defaultdict

from atoll.functions import ir
from atoll.functions.deep import Deep, run
from atoll.functions.walk import in_branches


def drop_dead_parameters(program: ir.Program) -> ir.Program:
    """The program without parameters that nothing needs."""
    params: dict[ir.Var, ir.Vars] = {}
    for each in ir.blocks(program.block):
        for bind in each.binds:
            if isinstance(bind, ir.Funs):
                params.update((f.name, f.params) for f in bind.bundle)
            elif isinstance(bind, ir.Join):
                params[bind.name] = bind.params
    escaping, alive = _alive(program.block, params)
    keep: dict[ir.Var, tuple[int, ...]] = {}
    for name, mine in params.items():
        if name not in escaping:
            kept = tuple(k for k, p in enumerate(mine) if p in alive)
            if len(kept) < len(mine):
                keep[name] = kept
    return program.with_block(run(_filter(program.block, keep))) if keep else program


def _alive(block: ir.Block, params: dict[ir.Var, ir.Vars]) -> tuple[set[ir.Var], set[ir.Var]]:
    """Functions used as values, and variables that matter."""
    escaping: set[ir.Var] = set()
    alive: set[ir.Var] = set()
    needs: defaultdict[ir.Var, list[ir.Var]] = defaultdict(list)  # if the key is alive, so are these

    def values(xs: ir.Vars) -> None:
        alive.update(xs)
        escaping.update(x for x in xs if x in params)

    def application(fn: ir.Var, args: ir.Vars) -> None:
        mine = params.get(fn)
        if mine is None or len(mine) != len(args):
            values((fn, *args))
            return
        for p, y in zip(mine, args, strict=True):
            needs[p].append(y)
            if y in params:
                escaping.add(y)

    for each in ir.blocks(block):
        for bind in each.binds:
            if isinstance(bind, ir.Call):
                application(bind.fn, bind.args)
            else:
                values(ir.uses(bind))
        match each.term:
            case ir.Tail(fn, args) | ir.Jump(fn, args):
                application(fn, args)
            case _:
                values(ir.term_uses(each.term))
    for name in escaping:
        alive.update(params[name])
    todo = list(alive)
    while todo:
        for y in needs.get(todo.pop(), ()):
            if y not in alive:
                alive.add(y)
                todo.append(y)
    return escaping, alive


def _filter(block: ir.Block, keep: dict[ir.Var, tuple[int, ...]]) -> Deep[ir.Block]:
    def some(name: ir.Var, xs: ir.Vars) -> ir.Vars:
        return tuple(xs[k] for k in keep[name]) if name in keep else xs

    out: list[ir.Bind] = []
    for bind in block.binds:
        match bind:
            case ir.Funs(bundle):
                done = []
                for f in bundle:
                    body = yield _filter(f.body, keep)
                    done.append(ir.Fun(f.name, some(f.name, f.params), body, f.results, f.marked, f.span))
                out.append(ir.Funs(tuple(done)))
            case ir.Join(name, params, body):
                inner = yield _filter(body, keep)
                out.append(ir.Join(name, some(name, params), inner))
            case ir.Call(results, fn, args):
                out.append(ir.Call(results, fn, some(fn, args)))
            case _:
                out.append(bind)
    term = block.term
    match term:
        case ir.Tail(fn, args):
            term = ir.Tail(fn, some(fn, args))
        case ir.Jump(name, args):
            term = ir.Jump(name, some(name, args))
        case ir.Case():
            term = yield in_branches(term, lambda branch: _filter(branch, keep))
    return ir.Block(tuple(out), term)
