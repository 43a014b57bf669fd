"""Specialise: a function given to a second-order function is known inside a copy of it, so nothing is passed and no closure is built.

A parameter is *static* when it is only called, or passed on unchanged to a static parameter of a known function (its own bundle's among
them, so recursion keeps it). At a call that gives a known function to a static parameter, a copy of the callee's bundle is defined
right there, where the argument's free variables are still in scope, with the argument in the parameter's place; lifting turns those
variables into parameters afterwards. Copies are shared by calls in their scope that give the same functions.

`map(f, xs)` over a list then is a loop with f inside. A function chosen at run time, stored in data, or changed in the recursion
(`go(compose(f, f))`) is not static and stays a closure. The pass repeats until nothing changes or the program has grown tenfold.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from atoll.functions import ir
from atoll.functions.deep import Deep, run
from atoll.functions.names import copy
from atoll.functions.walk import in_branches

Key = tuple[ir.Var, tuple[tuple[int, ir.Var], ...]]


def specialise(program: ir.Program, rounds: int = 8, growth: int = 10) -> ir.Program:
    """The program with second-order functions copied for the functions they are given."""
    limit = growth * ir.size(program.block) + 1000
    for _ in range(rounds):
        step = _Round(program.block, limit)
        block = run(step.block(program.block, {}))
        if not step.made:
            break
        program = program.with_block(block)
    return program


@dataclass(slots=True)
class _Info:
    """A function, and the bundle it belongs to."""

    fun: ir.Fun
    bundle: tuple[ir.Fun, ...]
    places: dict[ir.Var, int] = field(default_factory=dict)


class _Round:
    def __init__(self, block: ir.Block, limit: int) -> None:
        self.limit = limit - ir.size(block)
        self.made = 0
        self.infos: dict[ir.Var, _Info] = {}
        self.insides: dict[ir.Var, frozenset[ir.Var]] = {}
        for each in ir.blocks(block):
            for bind in each.binds:
                if isinstance(bind, ir.Funs):
                    for f in bind.bundle:
                        self.infos[f.name] = _Info(f, bind.bundle, {p: k for k, p in enumerate(f.params)})
        self.static = self._static(block)

    def _static(self, block: ir.Block) -> set[ir.Var]:
        """Parameters that are only called or passed on to such parameters."""
        params = {p for info in self.infos.values() for p in info.fun.params}
        bad: set[ir.Var] = set()
        passed: list[tuple[ir.Var, ir.Var]] = []  # a parameter given to a parameter

        def application(fn: ir.Var, args: ir.Vars) -> None:
            info = self.infos.get(fn)
            for k, y in enumerate(args):
                if y in params:
                    if info is not None and len(args) == len(info.fun.params):
                        passed.append((y, info.fun.params[k]))
                    else:
                        bad.add(y)

        for each in ir.blocks(block):
            for bind in each.binds:
                if isinstance(bind, ir.Call):
                    application(bind.fn, bind.args)
                else:
                    bad.update(params.intersection(ir.uses(bind)))
            if isinstance(each.term, ir.Tail):
                application(each.term.fn, each.term.args)
            else:
                bad.update(params.intersection(ir.term_uses(each.term)))
        changed = True
        while changed:
            changed = False
            for given, place in passed:
                if place in bad and given not in bad:
                    bad.add(given)
                    changed = True
        called = {bind.fn for each in ir.blocks(block) for bind in each.binds if isinstance(bind, ir.Call)}
        called |= {each.term.fn for each in ir.blocks(block) if isinstance(each.term, ir.Tail)}
        useful = params & called
        changed = True
        while changed:
            changed = False
            for given, place in passed:
                if place in useful and given not in useful:
                    useful.add(given)
                    changed = True
        return useful - bad

    # -- the walk; `known` maps a callee and the functions it is given to the copy in scope

    def block(self, block: ir.Block, known: dict[Key, ir.Var]) -> Deep[ir.Block]:
        known = dict(known)
        out: list[ir.Bind] = []
        for bind in block.binds:
            match bind:
                case ir.Funs(bundle):
                    done = []
                    for f in bundle:
                        done.append(ir.with_body(f, (yield self.block(f.body, known))))
                    out.append(ir.Funs(tuple(done)))
                case ir.Join(name, params, body):
                    out.append(ir.Join(name, params, (yield self.block(body, known))))
                case ir.Call(results, fn, args):
                    out.append(ir.Call(results, *self.call(fn, args, known, out)))
                case _:
                    out.append(bind)
        term = block.term
        match term:
            case ir.Tail(fn, args):
                term = ir.Tail(*self.call(fn, args, known, out))
            case ir.Case():
                term = yield in_branches(term, lambda inner: self.block(inner, known))
        return ir.Block(tuple(out), term)

    def call(self, fn: ir.Var, args: ir.Vars, known: dict[Key, ir.Var], out: list[ir.Bind]) -> tuple[ir.Var, ir.Vars]:
        info = self.infos.get(fn)
        if info is None or len(args) != len(info.fun.params):
            return fn, args
        given = tuple((k, y) for k, y in enumerate(args) if y in self.infos and info.fun.params[k] in self.static)
        if not given:
            return fn, args
        key = (fn, given)
        if key not in known:
            assigned = self.assign(info, dict(given))
            if assigned is None:
                return fn, args
            made = self.copies(info, assigned)
            size = sum(ir.size(f.body) for f in made.values())
            if size > self.limit:
                return fn, args
            self.limit -= size
            self.made += 1
            out.append(ir.Funs(tuple(made.values())))
            known[key] = made[fn].name
        places = {k for k, _ in given}
        return known[key], tuple(y for k, y in enumerate(args) if k not in places)

    def assign(self, info: _Info, given: dict[int, ir.Var]) -> dict[ir.Var, dict[int, ir.Var]] | None:
        """For each function of the bundle, which parameters are which functions; None when that is not one answer."""
        members = {f.name: f for f in info.bundle}
        inside = self.inside(info)
        found: dict[ir.Var, dict[int, ir.Var]] = {info.fun.name: given}
        todo = [info.fun.name]
        while todo:
            name = todo.pop()
            f = members[name]
            mine = {f.params[k]: y for k, y in found[name].items()}
            for callee, args in _applications(f.body):
                if callee not in members or len(args) != len(members[callee].params):
                    continue
                passed = {}
                for k, y in enumerate(args):
                    is_ = mine.get(y, y if y in self.infos else None)
                    if is_ is not None and members[callee].params[k] in self.static:
                        if is_ in inside:
                            return None  # made anew in every round of the recursion
                        passed[k] = is_
                if callee not in found:
                    found[callee] = passed
                    todo.append(callee)
                elif found[callee] != passed:
                    return None
        return found

    def inside(self, info: _Info) -> frozenset[ir.Var]:
        """The functions defined in the bodies of a bundle: each activation has its own."""
        key = info.bundle[0].name
        if key not in self.insides:
            self.insides[key] = frozenset(name for f in info.bundle for name in ir.functions(f.body))
        return self.insides[key]

    def copies(self, info: _Info, assigned: dict[ir.Var, dict[int, ir.Var]]) -> dict[ir.Var, ir.Fun]:
        """Copies of the members reached, their calls of each other without what is known now."""
        members = {f.name: f for f in info.bundle}
        names = {name: name.again() for name in assigned}
        made: dict[ir.Var, ir.Fun] = {}
        for name, known in assigned.items():
            f = members[name]
            params = tuple(p.again() for p in f.params)
            renaming = {p: known.get(k, params[k]) for k, p in enumerate(f.params)}
            body = copy(f.body, renaming)
            body = run(_redirect(body, names, {n: frozenset(k) for n, k in assigned.items()}))
            kept = tuple(p for k, p in enumerate(params) if k not in known)
            made[name] = ir.Fun(names[name], kept, body, f.results, f.marked, f.span)
        return made


def _applications(block: ir.Block) -> list[tuple[ir.Var, ir.Vars]]:
    found = []
    for each in ir.blocks(block):
        found += [(bind.fn, bind.args) for bind in each.binds if isinstance(bind, ir.Call)]
        if isinstance(each.term, ir.Tail):
            found.append((each.term.fn, each.term.args))
    return found


def _redirect(block: ir.Block, names: dict[ir.Var, ir.Var], dropped: dict[ir.Var, frozenset[int]]) -> Deep[ir.Block]:
    """Calls of the originals as calls of the copies."""

    def call(fn: ir.Var, args: ir.Vars) -> tuple[ir.Var, ir.Vars]:
        if fn not in names:
            return fn, args
        return names[fn], tuple(y for k, y in enumerate(args) if k not in dropped[fn])

    out: list[ir.Bind] = []
    for bind in block.binds:
        match bind:
            case ir.Funs(bundle):
                done = []
                for f in bundle:
                    done.append(ir.with_body(f, (yield _redirect(f.body, names, dropped))))
                out.append(ir.Funs(tuple(done)))
            case ir.Join(name, params, body):
                out.append(ir.Join(name, params, (yield _redirect(body, names, dropped))))
            case ir.Call(results, fn, args):
                out.append(ir.Call(results, *call(fn, args)))
            case _:
                out.append(bind)
    term = block.term
    match term:
        case ir.Tail(fn, args):
            term = ir.Tail(*call(fn, args))
        case ir.Case():
            term = yield in_branches(term, lambda inner: _redirect(inner, names, dropped))
    return ir.Block(tuple(out), term)
