"""Well-scopedness: every binder unique, every use in scope, joins known only where control can go on to them. Run after every pass.

A function body starts with no joins: control cannot jump out of a function. With `closed`, the program must be λANF-C: one bundle first, no
other definition of a function, no free variable in any of them.
"""

from __future__ import annotations

from atoll.functions import ir
from atoll.functions.deep import Deep, run

Names = frozenset[ir.Var]
_NONE: Names = frozenset()


class IllScoped(AssertionError):
    """A bug in Atoll: a pass made a λANF program that is not one."""


def check(program: ir.Program, closed: bool = False, given: tuple[ir.Var, ...] = ()) -> None:
    """Raise IllScoped unless the program is well scoped; `given` names are bound from outside."""
    checker = _Checker()
    given = (*program.params, *given)
    for name in given:
        checker.bind(name)
    if closed:
        first = program.block.binds[:1]
        top = first[0].bundle if first and isinstance(first[0], ir.Funs) else ()
        names = frozenset(f.name for f in top)
        checker.closed = names
        for each in ir.blocks(program.block):
            for bind in each.binds:
                if isinstance(bind, ir.Funs) and bind is not (first[0] if first else None):
                    raise IllScoped(f"{bind.bundle[0].name} is defined inside another function")
    run(checker.block(program.block, frozenset(given), _NONE))


class _Checker:
    def __init__(self) -> None:
        self.seen: set[ir.Var] = set()
        self.arity: dict[ir.Var, tuple[int, int]] = {}
        self.closed: Names | None = None

    def bind(self, x: ir.Var) -> None:
        if x in self.seen:
            raise IllScoped(f"{x} has two binders")
        self.seen.add(x)

    def need(self, names: ir.Vars, scope: Names | set[ir.Var], what: object) -> None:
        for name in names:
            if name not in scope:
                raise IllScoped(f"{name} is not in scope in {type(what).__name__}")

    def saturated(self, fn: ir.Var, args: int, results: int | None, what: object) -> None:
        if fn in self.arity:
            wanted, given = self.arity[fn]
            if wanted != args or (results is not None and given != results):
                raise IllScoped(f"{fn} takes {wanted} arguments and gives {given}, not {args} and {results}: {type(what).__name__}")

    def block(self, block: ir.Block, outer: Names, joins: Names) -> Deep[None]:
        scope = set(outer)
        for bind in block.binds:
            self.need(ir.uses(bind), scope, bind)
            match bind:
                case ir.Funs(bundle):
                    for f in bundle:
                        self.bind(f.name)
                        scope.add(f.name)
                        self.arity[f.name] = (len(f.params), len(f.results))
                    for f in bundle:
                        for p in f.params:
                            self.bind(p)
                        inside = self.closed if self.closed is not None else frozenset(scope)
                        yield self.block(f.body, inside | set(f.params), _NONE)
                case ir.Join(name, params, body):
                    self.bind(name)
                    for p in params:
                        self.bind(p)
                    yield self.block(body, frozenset(scope | set(params)), joins)
                    joins = joins | {name}
                    self.arity[name] = (len(params), 0)
                case _:
                    self.shape(bind)
                    for x in ir.bound(bind):
                        self.bind(x)
                        scope.add(x)
        yield from self.term(block.term, scope, joins)

    def shape(self, bind: ir.Bind) -> None:
        """As many arguments as the constructor, operator or function has places."""
        match bind:
            case ir.Make(_, con, args) if len(args) != len(con.fields):
                raise IllScoped(f"{con} has {len(con.fields)} fields, not {len(args)}")
            case ir.Take(_, _, con, index) if not 0 <= index < len(con.fields):
                raise IllScoped(f"{con} has no field {index}")
            case ir.Op(results, op, args) if len(args) != len(op.params) or len(results) != len(op.results):
                raise IllScoped(f"{op} on {len(args)} arguments for {len(results)} results")
            case ir.Call(results, fn, args):
                self.saturated(fn, len(args), len(results), bind)

    def term(self, term: ir.Term, scope: set[ir.Var], joins: Names) -> Deep[None]:
        match term:
            case ir.Jump(join, args):
                if join not in joins:
                    raise IllScoped(f"a jump to {join}, which is not a join point here")
                self.need(args, scope, term)
                self.saturated(join, len(args), None, term)
            case ir.Case(value, branches):
                self.need((value,), scope, term)
                if len({con for con, _ in branches}) != len(branches) or not branches:
                    raise IllScoped(f"the branches on {value} are not one per constructor")
                for _, inner in branches:
                    yield self.block(inner, frozenset(scope), joins)
            case ir.Tail(fn, args):
                self.need((fn, *args), scope, term)
                self.saturated(fn, len(args), None, term)
            case ir.Ret(values):
                self.need(values, scope, term)
