"""Lambda lifting: free variables of functions with known calls become parameters, so that no environment has to be built for them.

A *known copy* f' takes the lifted variables as parameters. Every known call of f is rewritten here to a call of f' with the names those
variables have at the call; f itself is kept as a wrapper `f(x...) = f'(x..., v...)` for uses as a value, outside and, where f escapes
from its own body, inside. f and f' are never in one bundle: a shared environment could not vanish.

Which variables are lifted (CertiCoq section 2; `Criteria`):
    registers    at most this many parameters in all; the rest of the variables stay free
    calls        only variables that are alive across at most this many calls on any path through the body: more often, keeping
                 them in registers or on the stack around each call costs more than an environment
    no_growth    a call is left to the wrapper where the function around it would have to capture more for it
None lifts without limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from atoll.functions import ir
from atoll.functions.deep import Deep, run
from atoll.functions.names import free


@dataclass(frozen=True, slots=True)
class Criteria:
    registers: int | None = 6
    calls: int | None = 1
    no_growth: bool = False


SELECTIVE = Criteria()
EVERYTHING = Criteria(None, None)


def lambda_lift(program: ir.Program, criteria: Criteria = SELECTIVE) -> ir.Program:
    """The program with free variables of known functions turned into parameters."""
    return program.with_block(run(_Lift(criteria).block(program.block, _Scope({}, {}, None))))


@dataclass(frozen=True, slots=True)
class _Scope:
    """What names are called here: lifted variables by their parameters, functions used as values by a wrapper."""

    names: dict[ir.Var, ir.Var]
    values: dict[ir.Var, ir.Var]
    captured: frozenset[ir.Var] | None  # of the closure around, None at the top or in a lifted function

    def name(self, x: ir.Var) -> ir.Var:
        return self.names.get(x, x)

    def value(self, x: ir.Var) -> ir.Var:
        return self.values.get(x, self.names.get(x, x))


class _Lift:
    def __init__(self, criteria: Criteria) -> None:
        self.criteria = criteria
        self.functions: set[ir.Var] = set()
        self.lifted: dict[ir.Var, tuple[ir.Var, list[ir.Var]]] = {}  # f: its known copy, the variables it takes

    def block(self, block: ir.Block, scope: _Scope) -> Deep[ir.Block]:
        out: list[ir.Bind] = []
        for position, bind in enumerate(block.binds):
            match bind:
                case ir.Funs(bundle):
                    out.extend((yield self.bundle(bundle, block, position, scope)))
                case ir.Join(name, params, body):
                    out.append(ir.Join(name, params, (yield self.block(body, scope))))
                case ir.Call(results, fn, args):
                    out.append(ir.Call(results, *self.call(fn, args, scope)))
                case ir.Take(x, value, con, index):
                    out.append(ir.Take(x, scope.value(value), con, index))
                case ir.Make(x, con, args):
                    out.append(ir.Make(x, con, tuple(map(scope.value, args))))
                case ir.Op(results, op, args, span):
                    out.append(ir.Op(results, op, tuple(map(scope.value, args)), span))
                case _:
                    out.append(bind)
        return ir.Block(tuple(out), (yield self.term(block.term, scope)))

    def term(self, term: ir.Term, scope: _Scope) -> Deep[ir.Term]:
        match term:
            case ir.Ret(values):
                return ir.Ret(tuple(map(scope.value, values)))
            case ir.Tail(fn, args):
                return ir.Tail(*self.call(fn, args, scope))
            case ir.Jump(join, args):
                return ir.Jump(join, tuple(map(scope.value, args)))
            case ir.Case(value, branches):
                done = []
                for con, inner in branches:
                    done.append((con, (yield self.block(inner, scope))))
                return ir.Case(scope.value(value), tuple(done))

    def call(self, fn: ir.Var, args: ir.Vars, scope: _Scope) -> tuple[ir.Var, ir.Vars]:
        given = tuple(map(scope.value, args))
        if fn not in self.lifted:
            return scope.value(fn), given
        copy, variables = self.lifted[fn]
        more = tuple(map(scope.name, variables))
        if self.criteria.no_growth and scope.captured is not None and not scope.captured.issuperset(more):
            return scope.value(fn), given
        return copy, (*given, *more)

    # -- bundles

    def bundle(self, bundle: tuple[ir.Fun, ...], block: ir.Block, position: int, scope: _Scope) -> Deep[list[ir.Bind]]:
        self.functions.update(f.name for f in bundle)
        variables = self.variables(bundle)
        names = {f.name for f in bundle}
        if not variables or any(f.marked for f in bundle) or not _called(block, position, names):
            captured = frozenset(map(scope.name, self.needed(bundle)))
            kept = []
            for f in bundle:
                inner = _Scope(scope.names, scope.values, captured)
                kept.append(ir.with_body(f, (yield self.block(f.body, inner))))
            return [ir.Funs(tuple(kept))]
        for f in bundle:
            self.lifted[f.name] = (f.name.again(), variables)
        copies = []
        for f in bundle:
            copies.append((yield self.known_copy(f, bundle, variables, scope)))
        wrappers = tuple(self.wrapper(f, f.name, tuple(map(scope.name, variables))) for f in bundle)
        return [ir.Funs(tuple(copies)), ir.Funs(wrappers)]

    def known_copy(self, f: ir.Fun, bundle: tuple[ir.Fun, ...], variables: list[ir.Var], scope: _Scope) -> Deep[ir.Fun]:
        """f with the variables as parameters. Where functions of the bundle escape from its body, it has wrappers inside."""
        more = tuple(v.again() for v in variables)
        values = dict(scope.values)
        inside = []
        escaping = _escaping(f.body, {g.name for g in bundle}) if not self.criteria.no_growth else {g.name for g in bundle}
        for g in bundle:
            if g.name in escaping:
                values[g.name] = g.name.again()
                inside.append(self.wrapper(g, values[g.name], more))
        names = {**scope.names, **dict(zip(variables, more, strict=True))}
        body = yield self.block(f.body, _Scope(names, values, None))
        if inside:
            body = ir.Block((ir.Funs(tuple(inside)), *body.binds), body.term)
        return ir.Fun(self.lifted[f.name][0], (*f.params, *more), body, f.results, False, f.span)

    def wrapper(self, f: ir.Fun, name: ir.Var, variables: ir.Vars) -> ir.Fun:
        params = tuple(p.again() for p in f.params)
        return ir.Fun(name, params, ir.Block((), ir.Tail(self.lifted[f.name][0], (*params, *variables))), f.results, True, f.span)

    def needed(self, bundle: tuple[ir.Fun, ...]) -> list[ir.Var]:
        """Values a bundle takes from outside, and what the known functions it mentions take."""
        found: dict[ir.Var, None] = {}
        for y in free(bundle):
            if y in self.lifted:
                found.update(dict.fromkeys(self.lifted[y][1]))
            elif y not in self.functions:
                found[y] = None
        return list(found)

    def variables(self, bundle: tuple[ir.Fun, ...]) -> list[ir.Var]:
        """The free variables worth lifting."""
        found = self.needed(bundle)
        if self.criteria.calls is not None:
            for f in bundle:
                across = live_across(f.body, found)
                found = [v for v in found if across.get(v, 0) <= self.criteria.calls]
        if self.criteria.registers is not None:
            room = min(max(0, self.criteria.registers - len(f.params)) for f in bundle)
            found = found[:room]
        return found


def _called(block: ir.Block, position: int, names: set[ir.Var]) -> bool:
    """Some function of these is called, in the bundle itself or after it."""
    rest = ir.Block(block.binds[position:], block.term)
    for each in ir.blocks(rest):
        if any(isinstance(bind, ir.Call) and bind.fn in names for bind in each.binds):
            return True
        if isinstance(each.term, ir.Tail) and each.term.fn in names:
            return True
    return False


def _escaping(block: ir.Block, names: set[ir.Var]) -> set[ir.Var]:
    """Which of these functions are used as values."""
    found: set[ir.Var] = set()
    for each in ir.blocks(block):
        for bind in each.binds:
            found |= names.intersection(bind.args if isinstance(bind, ir.Call) else ir.uses(bind))
        term = each.term
        found |= names.intersection(term.args if isinstance(term, ir.Tail) else ir.term_uses(term))
    return found


def live_across(body: ir.Block, variables: Iterable[ir.Var]) -> dict[ir.Var, int]:
    """For each variable, the most let-bound calls on a path through the body after which it is still needed."""
    return run(_across(body, frozenset(variables), {}))[1]


_Across = tuple[frozenset[ir.Var], dict[ir.Var, int]]


def _across(block: ir.Block, wanted: frozenset[ir.Var], joins: dict[ir.Var, _Across]) -> Deep[_Across]:
    for bind in block.binds:
        if isinstance(bind, ir.Join):
            joins[bind.name] = yield _across(bind.body, wanted, joins)
    live = wanted.intersection(ir.term_uses(block.term))
    count: dict[ir.Var, int] = {}
    match block.term:
        case ir.Case(_, branches):
            for _, inner in branches:
                more, calls = yield _across(inner, wanted, joins)
                live |= more
                for v, n in calls.items():
                    count[v] = max(count.get(v, 0), n)
        case ir.Jump(join):
            more, calls = joins[join]
            live |= more
            count = dict(calls)
    for bind in reversed(block.binds):
        match bind:
            case ir.Call():
                for v in live:
                    count[v] = count.get(v, 0) + 1
                live |= wanted.intersection(ir.uses(bind))
            case ir.Funs(bundle):
                live |= wanted.intersection(free(bundle))
            case ir.Join():
                pass
            case _:
                live |= wanted.intersection(ir.uses(bind))
    return live, count
