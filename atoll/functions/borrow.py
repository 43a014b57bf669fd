"""Which parameters a function takes over, and which it only looks at.

A parameter is *borrowed* unless something needs it to be the function's own: it (or a field of it) is stored, returned or passed on to
an owned place; a `case` on it has a branch that builds a cell of the same size, which could use the cell again; or a tail call passes it
where the callee borrows, although the caller does not borrow it itself (the drop would come after the call, and the tail call would be gone).
Code used as a value owns everything, since its callers are not known.

A list that is walked to its end by a loop and that every caller drops right after is better owned: the walk then frees it as it goes, instead
of a second walk at the end (`walked`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from atoll.functions import ir
from atoll.functions.calls import Graph
from atoll.functions.counted import HOLE, counted, words
from atoll.functions.liveness import Liveness

Owned = dict[ir.Var, set[int]]


@dataclass(slots=True)
class _Body:
    """What inference needs of one function, gathered once."""

    fun: ir.Fun
    places: dict[ir.Var, int]
    parent: dict[ir.Var, ir.Var] = field(default_factory=dict)
    consumed: list[ir.Var] = field(default_factory=list)
    calls: list[tuple[ir.Var, ir.Vars]] = field(default_factory=list)
    tails: list[tuple[ir.Var, ir.Vars]] = field(default_factory=list)

    def root(self, x: ir.Var) -> ir.Var:
        while x in self.parent:
            x = self.parent[x]
        return x


def infer(functions: Mapping[ir.Var, ir.Fun], main: ir.Fun, graph: Graph, reuse: bool = True) -> Owned:
    """For each function, the positions it owns."""
    owned: Owned = {f: set() for f in functions}
    for f in graph.escaping:
        owned[f] = set(range(len(functions[f].params)))
    owned[main.name] = set(range(len(main.params)))
    bodies = [_gather(fun, functions, reuse) for fun in (*functions.values(), main)]
    _settle(bodies, functions, owned)
    walked = _walked(bodies, functions, owned)
    if walked:
        for f, k in walked:
            owned[f].add(k)
        _settle(bodies, functions, owned)
    return owned


def _settle(bodies: list[_Body], functions: Mapping[ir.Var, ir.Fun], owned: Owned) -> None:
    changed = True
    while changed:
        changed = False
        for body in bodies:
            mine = owned[body.fun.name]

            def own(x: ir.Var, body: _Body = body, mine: set[int] = mine) -> None:
                nonlocal changed
                k = body.places.get(body.root(x))
                if k is not None and k not in mine:
                    mine.add(k)
                    changed = True

            for x in body.consumed:
                own(x)
            for f, args in (*body.calls, *body.tails):
                for k, y in enumerate(args):
                    if k in owned[f]:
                        own(y)
            for f, args in body.tails:
                for k, y in enumerate(args):
                    if counted(y) and k not in owned[f]:
                        place = body.places.get(body.root(y))
                        if place is None or place in mine:
                            owned[f].add(k)
                            own(y)
                            changed = True
    del functions


def _gather(fun: ir.Fun, functions: Mapping[ir.Var, ir.Fun], reuse: bool) -> _Body:
    body = _Body(fun, {p: k for k, p in enumerate(fun.params)})
    blocks = list(ir.blocks(fun.body))
    for each in blocks:
        for bind in each.binds:
            if isinstance(bind, ir.Take) and counted(bind.result):
                body.parent[bind.result] = bind.value
    for each in blocks:
        for bind in each.binds:
            match bind:
                case ir.Make(_, _, args):
                    body.consumed += [y for y in args if counted(y) and y is not HOLE]
                case ir.Op(_, op, args):
                    body.consumed += [args[k] for k in op.takes if counted(args[k])]
                case ir.Call(_, fn, args):
                    _application(body, fn, args, functions, body.calls)
        match each.term:
            case ir.Ret(values):
                body.consumed += [y for y in values if counted(y)]
            case ir.Jump(_, args):
                body.consumed += [y for y in args if counted(y)]
            case ir.Tail(fn, args):
                _application(body, fn, args, functions, body.tails)
            case ir.Case(value, branches):
                if reuse and counted(value):
                    for con, inner in branches:
                        if con.fields and builds(inner, 0, words(con), con.data):
                            body.consumed.append(value)
    return body


def _application(body: _Body, fn: ir.Var, args: ir.Vars, functions: Mapping[ir.Var, ir.Fun], known: list[tuple[ir.Var, ir.Vars]]) -> None:
    if fn in functions:
        known.append((fn, args))
    else:
        body.consumed += [y for y in args if counted(y)]


def builds(block: ir.Block, start: int, size: int, data: ir.DataType | None = None) -> bool:
    """A cell of this size (of this type) is built from here on, before the stack would have to hold the old one across a call."""
    todo = [(block, start)]
    while todo:
        each, start = todo.pop()
        for bind in each.binds[start:]:
            if isinstance(bind, ir.Make) and bind.con.fields and words(bind.con) == size and data in (None, bind.con.data):
                return True
            if isinstance(bind, ir.Call):
                break
        else:
            if isinstance(each.term, ir.Case):
                todo.extend((inner, 0) for _, inner in each.term.branches)
    return False


def _walked(bodies: list[_Body], functions: Mapping[ir.Var, ir.Fun], owned: Owned) -> list[tuple[ir.Var, int]]:
    """Borrowed parameters whose parts a loop passes to itself, given only values nobody needs afterwards."""
    found: dict[tuple[ir.Var, int], bool] = {}
    for body in bodies:
        f = body.fun.name
        for fn, args in body.tails:
            if fn is f:
                for k, y in enumerate(args):
                    if k not in owned[f] and y in body.parent and body.places.get(body.root(y)) == k:
                        found[f, k] = True
    if not found:
        return []
    for body in bodies:
        live = Liveness(body.fun)
        for each in ir.blocks(body.fun.body):
            for position, bind in enumerate(each.binds):
                if isinstance(bind, ir.Call) and bind.fn in functions:
                    for k, y in enumerate(bind.args):
                        if found.get((bind.fn, k)):
                            root = body.root(y)
                            mine = (y not in body.parent and root not in body.places) or body.places.get(y) in owned[body.fun.name]
                            found[bind.fn, k] = mine and y not in live.after(each, position)
            if isinstance(each.term, ir.Tail) and each.term.fn is not body.fun.name:
                for k, y in enumerate(each.term.args):
                    if found.get((each.term.fn, k)) and body.root(y) in body.places and body.places[body.root(y)] not in owned[body.fun.name]:
                        found[each.term.fn, k] = False
    return [place for place, good in found.items() if good]
