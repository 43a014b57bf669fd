"""The call graph of closed code: which functions are merged because they tail-call each other, and which can nest without end.

Strongly connected components of the *tail-call* graph become one C function with a label per member, so mutual tail calls are jumps whatever
the C compiler does with sibling calls (it loses them in ordinary shapes, docs/sources.md F3). Components of the whole
graph that are left after that can use up the stack: their functions check it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from atoll.functions import ir
from atoll.functions.extern import Extern
from atoll.functions.tail_modulo import find_holes


@dataclass(frozen=True, slots=True)
class Graph:
    groups: tuple[tuple[ir.Var, ...], ...]  # functions merged into one, every function once
    deep: frozenset[ir.Var]  # functions that can be active any number of times at once
    escaping: frozenset[ir.Var]  # functions whose code is a value
    foldable: frozenset[ir.Var] = frozenset()  # deep functions of which a C compiler can make a loop that needs no stack

    def group_of(self, f: ir.Var) -> tuple[ir.Var, ...]:
        return next(g for g in self.groups if f in g)


@dataclass(slots=True)
class _Calls:
    """Who calls whom: as a jump, as a call; who calls what it does not know; whose code is a value."""

    tails: dict[ir.Var, dict[ir.Var, None]]
    calls: dict[ir.Var, dict[ir.Var, None]]
    unknown: set[ir.Var]
    escaping: dict[ir.Var, None]


def _look(functions: Mapping[ir.Var, ir.Fun], main: ir.Block) -> _Calls:
    found = _Calls({f: {} for f in functions}, {f: {} for f in functions}, set(), {})
    for name, block in (*((f, fun.body) for f, fun in functions.items()), (None, main)):
        for each in ir.blocks(block):
            for bind in each.binds:
                args = bind.args if isinstance(bind, ir.Call) else ir.uses(bind)
                found.escaping.update((y, None) for y in args if y in functions)
                if isinstance(bind, ir.Op) and isinstance(bind.op.info, Extern) and name is not None:
                    found.unknown.add(name)  # it may be given a function and call it
                if isinstance(bind, ir.Call) and name is not None:
                    if bind.fn in functions:
                        found.calls[name][bind.fn] = None
                    else:
                        found.unknown.add(name)
            term = each.term
            args = term.args if isinstance(term, ir.Tail) else ir.term_uses(term)
            found.escaping.update((y, None) for y in args if y in functions)
            if isinstance(term, ir.Tail) and name is not None:
                if term.fn in functions:
                    found.tails[name][term.fn] = None
                else:
                    found.unknown.add(name)
    return found


def graph(functions: Mapping[ir.Var, ir.Fun], main: ir.Block) -> Graph:
    everything = frozenset(functions)
    jumps = _look({f: find_holes(fun, everything)[0] for f, fun in functions.items()}, main)
    groups = components(jumps.tails)
    home = {f: frozenset(g) for g in groups for f in g}
    found = _look({f: find_holes(fun, home[f])[0] for f, fun in functions.items()}, main)
    whole = {f: {**found.calls[f], **found.tails[f], **(found.escaping if f in found.unknown else {})} for f in functions}
    deep: set[ir.Var] = set()
    foldable: set[ir.Var] = set()
    for component in components(whole):
        members = set(component)
        if any(found.calls[f].keys() & members or (f in found.unknown and found.escaping.keys() & members) for f in component):
            deep |= members
            if any(_only_adds(functions[f].body, members) for f in component):
                foldable |= members
    return Graph(tuple(groups), frozenset(deep), frozenset(found.escaping), frozenset(foldable))


def _only_adds(body: ir.Block, members: set[ir.Var]) -> bool:
    """After some call of a member there is nothing but arithmetic: `1 + f(k - 1)`, which C compilers turn into a sum in a loop."""
    joins = {bind.name: bind.body for block in ir.blocks(body) for bind in block.binds if isinstance(bind, ir.Join)}

    def plain(block: ir.Block, start: int) -> bool:
        for bind in block.binds[start:]:
            if not isinstance(bind, (ir.Literal, ir.Join)) and not (isinstance(bind, ir.Op) and bind.op.pure):
                return False
        term = block.term
        return isinstance(term, ir.Ret) or (isinstance(term, ir.Jump) and plain(joins[term.join], 0))

    return any(
        isinstance(bind, ir.Call) and bind.fn in members and plain(block, k + 1)
        for block in ir.blocks(body)
        for k, bind in enumerate(block.binds)
    )


def components(edges: Mapping[ir.Var, Iterable[ir.Var]]) -> list[tuple[ir.Var, ...]]:
    """Strongly connected components, callees first (Tarjan, without recursion)."""
    index: dict[ir.Var, int] = {}
    low: dict[ir.Var, int] = {}
    stack: list[ir.Var] = []
    on_stack: set[ir.Var] = set()
    found: list[tuple[ir.Var, ...]] = []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for s in successors:
                if s not in index:
                    index[s] = low[s] = len(index)
                    stack.append(s)
                    on_stack.add(s)
                    work.append((s, iter(edges[s])))
                    break
                if s in on_stack:
                    low[node] = min(low[node], index[s])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        x = stack.pop()
                        on_stack.discard(x)
                        component.append(x)
                        if x is node:
                            break
                    found.append(tuple(reversed(component)))
    return found
