"""An order for the nodes of each scope in which every value is read before its memory is overwritten (thesis 7.1.2).

Data gives edges from the node that makes a value to those that read it; the start of the scope makes arguments, old state and what is outside, the end
reads results and new state. A third node that writes the cells of an edge may not run between its ends: an interference. Interferences with
one possible side are decided, which may force others; when none is forced, one is chosen and the choice undone if it fails. State inside a node
(a block that goes on, a called node) lives from the start to the end of the scope around it: only its owner may write it.

What is found is a partial order; any order that extends it will do, and the one nearest to the text is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from atoll.errors import Span, fail
from atoll.madl import graph as g
from atoll.madl.causality import crossing
from atoll.madl.depend import Dependencies, Read, Write
from atoll.madl.tell import cell
from atoll.views.index_map import At, IndexMap

START = -1


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """A value that is made at `source` and needed at `target`."""

    source: int
    target: int
    read: Read


@dataclass(frozen=True, slots=True, eq=False)
class Interference:
    """Node `node` writes the cells of an edge."""

    node: int
    edge: Edge
    write: Write


@dataclass(frozen=True, slots=True, eq=False)
class Because:
    """Why one node comes before another: a value, or an interference."""

    read: Read
    interference: Interference | None = None


@dataclass
class Order:
    """The order of one scope: `nodes` as written, `sequence` as run, `before` the pairs that must hold."""

    nodes: list[g.Computing]
    sequence: list[g.Computing]
    before: frozenset[tuple[int, int]]
    interferences: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass
class Schedule:
    bodies: dict[g.Scope, Order] = field(default_factory=dict)
    starts: dict[g.Scope, Order] = field(default_factory=dict)
    choices: int = 0
    undone: int = 0


def schedule(deps: Dependencies) -> Schedule:
    found = Schedule()
    for scope in deps.graph.scopes():
        if scope.kind == "init":
            continue
        if scope.starts:
            inside = {start.scope for start in scope.starts}
            nodes = [node for start in scope.starts for node in start.scope.nodes]
            kept = [v for start in scope.starts for _, v in start.targets]
            depth = min(s.depth for s in inside)
            found.starts[scope] = _Problem(deps, scope, nodes, inside, kept, depth, found, "the start").solve()
        found.bodies[scope] = _Problem(deps, scope, scope.nodes, {scope}, _needed_at_end(deps, scope), scope.depth, found, "").solve()
    return found


def _needed_at_end(deps: Dependencies, scope: g.Scope) -> list[g.Wire]:
    wires = crossing(scope)
    if scope is deps.graph.body:
        wires += deps.graph.results
    if scope.parent is not None:
        for node in scope.parent.nodes:
            if isinstance(node, g.Nest) and scope in node.scopes:
                position = node.scopes.index(scope)
                wires += [parts[position] for _, parts in node.merges]
    return list(dict.fromkeys(wires))


class _Relation:
    """A strict order on the start, the nodes and the end, closed as it grows."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.after: list[int] = [0] * size  # bit sets
        self.prior: list[int] = [0] * size
        self.direct: dict[tuple[int, int], Because] = {}

    def copy(self) -> _Relation:
        new = _Relation(self.size)
        new.after, new.prior, new.direct = list(self.after), list(self.prior), dict(self.direct)
        return new

    def holds(self, a: int, b: int) -> bool:
        return bool(self.after[a] >> b & 1)

    def add(self, a: int, b: int, why: Because | None) -> bool:
        """a before b; False when b is before a already."""
        if a == b or self.holds(b, a):
            return False
        if why is not None:
            self.direct.setdefault((a, b), why)
        if self.holds(a, b):
            return True
        below, above = self.prior[a] | 1 << a, self.after[b] | 1 << b
        for x in _bits(below):
            self.after[x] |= above
        for y in _bits(above):
            self.prior[y] |= below
        return True

    def path(self, a: int, b: int) -> list[tuple[int, int]]:
        """A chain of direct reasons from a to b."""
        queue: list[list[int]] = [[a]]
        seen = {a}
        while queue:
            chain = queue.pop(0)
            for x, y in self.direct:
                if x == chain[-1] and y not in seen:
                    if y == b:
                        return list(zip(chain, [*chain[1:], y], strict=True))
                    seen.add(y)
                    queue.append([*chain, y])
        return []


def _first_cell(maps: tuple[IndexMap, ...]) -> int | None:
    """The first index of some map, where it is a number: views of other numbers are elsewhere."""
    for m in maps:
        if m.path and isinstance(m.path[0], At) and (value := m.path[0].index.const()) is not None:
            return value
    return None


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class _Problem:
    def __init__(
        self,
        deps: Dependencies,
        scope: g.Scope,
        nodes: list[g.Computing],
        inside: set[g.Scope],
        at_end: list[g.Wire],
        depth: int,
        totals: Schedule,
        what: str,
    ) -> None:
        self.deps, self.scope, self.nodes, self.inside, self.depth = deps, scope, nodes, inside, depth
        self.totals, self.what = totals, what
        self.end = len(nodes)
        self.number = {node: k for k, node in enumerate(nodes)}
        self.edges = self._edges(at_end)
        self.failure: tuple[Interference, _Relation] | None = None

    # positions in the order are shifted by one: 0 is the start

    def _edges(self, at_end: list[g.Wire]) -> list[Edge]:
        found: dict[tuple[int, int, Read], Edge] = {}

        def add(source: int, target: int, read: Read) -> None:
            if source != target:
                found.setdefault((source, target, read), Edge(source, target, read))

        for k, node in enumerate(self.nodes):
            for read in self.deps.reads(node):
                self._trace(read, k, add)
            for read in self.deps.persistent(node):
                add(START, k, read)
                add(k, self.end, read)
        for wire in at_end:
            self._trace(Read(wire, (self.deps.layout.map(wire),)), self.end, add)
        return list(found.values())

    def _trace(self, read: Read, target: int, add: object) -> None:
        for source in self.deps.trace(read.wire, self.inside):
            origin = self.number.get(source.node, START) if source.node is not None else START
            within = tuple(dict.fromkeys((*source.read.within, *read.within)))
            without = tuple(dict.fromkeys((*source.read.without, *read.without)))
            add(origin, target, Read(read.wire, within, without))  # type: ignore[operator]

    def _interferences(self, order: _Relation) -> list[Interference]:
        """Edges are looked up by memory and, where it is a number, by the first index: cells of a long array are many."""
        near: dict[tuple[Any, int | None], list[int]] = {}
        all_of: dict[Any, list[int]] = {}
        for position, edge in enumerate(self.edges):
            chunk = self.deps.layout.chunk(edge.read.wire)
            near.setdefault((chunk, _first_cell(edge.read.within)), []).append(position)
            all_of.setdefault(chunk, []).append(position)
        found = []
        for k, node in enumerate(self.nodes):
            hit: dict[int, Write] = {}
            for write in self.deps.writes(node):
                cell_ = _first_cell((write.map,))
                candidates = all_of.get(write.chunk, []) if cell_ is None else near.get((write.chunk, cell_), []) + near.get((write.chunk, None), [])
                for position in candidates:
                    edge = self.edges[position]
                    if position in hit or k in (edge.source, edge.target):
                        continue
                    if order.holds(k + 1, edge.source + 1) or order.holds(edge.target + 1, k + 1):
                        continue
                    if self.deps.conflicts(edge.read, write, self.depth):
                        hit[position] = write
            found += [Interference(k, self.edges[position], hit[position]) for position in sorted(hit)]
        return found

    def solve(self) -> Order:
        order = _Relation(len(self.nodes) + 2)
        order.add(0, self.end + 1, None)
        for k in range(len(self.nodes)):
            order.add(0, k + 1, None)
            order.add(k + 1, self.end + 1, None)
        for edge in self.edges:
            if not order.add(edge.source + 1, edge.target + 1, Because(edge.read)):
                self._data_cycle(edge)
        interferences = self._interferences(order)
        solved = self._search(order, interferences)
        if solved is None:
            assert self.failure is not None
            self._tell(*self.failure)
        before = frozenset((a - 1, b - 1) for a in range(1, self.end + 1) for b in _bits(solved.after[a]) if 1 <= b <= self.end)
        return Order(
            self.nodes,
            self._sequence(before),
            before,
            [(i.node, i.edge.source, i.edge.target) for i in interferences],
        )

    def _search(self, order: _Relation, open_: list[Interference]) -> _Relation | None:
        while True:
            forced, left = False, []
            for i in open_:
                n, a, b = i.node + 1, i.edge.source + 1, i.edge.target + 1
                if order.holds(n, a) or order.holds(b, n):
                    continue
                if order.holds(n, b):
                    forced, fits = True, order.add(n, a, Because(i.edge.read, i))
                elif order.holds(a, n):
                    forced, fits = True, order.add(b, n, Because(i.edge.read, i))
                else:
                    left.append(i)
                    continue
                if not fits:
                    self.failure = self.failure or (i, order)
                    return None
            open_ = left
            if not forced:
                break
        if not open_:
            return order
        i = open_[0]
        n, a, b = i.node + 1, i.edge.source + 1, i.edge.target + 1
        self.totals.choices += 1
        for first, second in ((b, n), (n, a)):
            attempt = order.copy()
            if attempt.add(first, second, Because(i.edge.read, i)):
                solved = self._search(attempt, open_)
                if solved is not None:
                    return solved
                self.totals.undone += 1
        return None

    def _sequence(self, before: frozenset[tuple[int, int]]) -> list[g.Computing]:
        """The order nearest to the text."""
        prior: dict[int, set[int]] = {k: set() for k in range(len(self.nodes))}
        for a, b in before:
            prior[b].add(a)
        done: set[int] = set()
        sequence = []
        while len(done) < len(self.nodes):
            k = next(k for k in range(len(self.nodes)) if k not in done and prior[k] <= done)
            done.add(k)
            sequence.append(self.nodes[k])
        return sequence

    # -- telling

    def _tell(self, i: Interference, order: _Relation) -> NoReturn:
        n, a, b = i.node + 1, i.edge.source + 1, i.edge.target + 1
        layout = self.deps.layout
        shown = cell(i.write.map, i.write.chunk.name, self.deps.graph.size_names)
        writer, reader = self._name(n), self._name(b)
        held = i.edge.read.wire.shown
        needed = f"{reader} needs" if b <= self.end else f"{reader} needs"
        if self._is_state(i):
            notes = [f"{writer} writes {shown}, which holds {held}: state that only {self._name(a if a else b)} may change"]
            self._fail(i, notes, None)
        notes = [f"{writer} writes {shown}, where {held} still lies, which {needed}"]
        if order.holds(n, b):
            notes += self._chain(order, n, b, f"{writer} must come before {reader}")
        if order.holds(a, n):
            notes += self._chain(order, a, n, f"{writer} must come after {self._name(a)}")
        notes += self._shared(i, layout.chunk(i.edge.read.wire).wires)
        plain = held.removeprefix("last ")
        self._fail(i, notes, f"save the old value first: {'!' if plain != held else '!!'}{held}" if " " not in plain else None)

    def _fail(self, i: Interference, notes: list[str], help_: str | None) -> NoReturn:
        span = i.write.wire.span
        fail("E0940", span, notes=notes, help=help_, where=self.deps.graph.name)

    def _is_state(self, i: Interference) -> bool:
        k = i.edge.source if i.edge.source != START else i.edge.target
        if not 0 <= k < self.end:
            return False
        return any(read == i.edge.read for read in self.deps.persistent(self.nodes[k]))

    def _chain(self, order: _Relation, first: int, last: int, claim: str) -> list[str]:
        steps = order.path(first, last)
        if not steps:
            return []
        told = []
        for x, y in steps:
            why = order.direct[(x, y)]
            if why.interference is None:
                told.append(f"{self._name(y)} uses {why.read.wire.shown}")
                continue
            i = why.interference
            shown = cell(i.write.map, i.write.chunk.name, self.deps.graph.size_names)
            writer = self._name(i.node + 1)
            told.append(f"{writer} overwrites {shown}, where {self._name(i.edge.target + 1)} needs {i.edge.read.wire.shown}")
        return [f"{claim}: " + "; ".join(told)]

    def _shared(self, i: Interference, wires: list[g.Wire]) -> list[str]:
        """Which annotation made the two share memory."""
        here = set(wires)
        placed = [r for r in self.deps.graph.relations if r.construct.startswith("at ") and r.whole in here]
        if not placed:
            return []
        construct = placed[0].construct
        names = list(dict.fromkeys(w.shown for r in placed if r.construct == construct for _, w in r.parts if w.role != "place"))
        if len(names) < 2:
            names = sorted({w.name for w in here if w.name and w.role != "place" and w.scope is self.scope})
        return [f"{', '.join(names[:4])} share memory because of `{construct}` (line {placed[0].span.line})"] if names else []

    def _name(self, position: int) -> str:
        if position == 0:
            return "the start of the cycle" if self.scope.kind == "body" else "the start of the round"
        if position == self.end + 1:
            return "the end of the cycle" if self.scope.kind == "body" else "the end of the round"
        return node_name(self.deps.graph, self.nodes[position - 1])

    def _data_cycle(self, edge: Edge) -> NoReturn:
        wire = edge.read.wire
        note = f"{self._name(edge.target + 1)} needs {wire.shown}, whose place depends on it"
        span: Span = wire.span
        fail("E0940", span, notes=[note], where=self.deps.graph.name)


def node_name(graph: g.Graph, node: g.Computing) -> str:
    """A node as its user wrote it."""
    match node:
        case g.Op(output=wire) | g.Copy(target=wire):
            named = _named(graph, wire)
            return f"`{named} = {wire.text}`" if named and named != wire.text else f"`{wire.text}`"
        case g.Call(outputs=outs):
            return f"`{outs[0].text}`" if outs else f"`{node.name}(..)`"
        case g.ResetCall(call=call):
            return f"the reset of `{call.name}`"
    line = node.span.line
    words = " ".join(node.span.text().split())
    if node.kind == "block" and not words.startswith("block"):
        return f"`{words}`"  # a call that was expanded
    if node.kind == "loop":
        index = f" over {node.scope.index_name}" if node.scope.index_name else ""
        return f"the loop{index} (line {line})"
    return f"the {'if' if node.kind == 'branch' else node.kind} (line {line})"


def _named(graph: g.Graph, wire: g.Wire) -> str | None:
    for relation in graph.relations:
        if relation.construct == "=" and relation.whole is wire:
            return relation.parts[0][1].name
    return None
