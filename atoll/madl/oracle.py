"""The two-sided semantics, run: the program's values on one side, its memory on the other, and every read checked against both.

The memory is declarative (thesis 4.2.4): each cell holds a value and a tag that says which computation wrote it; the tag stands for
the cell's history. Beside it the values of wires are computed purely, through the relations, with the same tags. A read is right when
the cells of the wire's place hold the tags of its value; otherwise the place or the order is wrong and the program is *stuck*:

    write     a fresh tag; no cell twice
    read      every cell holds the tag of the value that is meant
    last      the cells still hold what the flow had at the end of the round before, or its initial value
    end       new state, results, built arrays and final values are still there

Nothing here is inferred: the oracle is given places and orders and says whether they do. It is slow and meant for tests.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from atoll.errors import Span, fail
from atoll.madl import fixed, mcdc
from atoll.madl import graph as g
from atoll.madl.compiled import Compiled
from atoll.madl.layout import Chunk
from atoll.madl.represented import Fixed
from atoll.madl.scalars import CONVERSIONS, SCALAR_OPS, apply, clamp, convert, wrap
from atoll.madl.schedule import node_name
from atoll.madl.typing import Generic, prune
from atoll.madl.values import Key, component, dtype_of, join, keys, split
from atoll.sizes import Atom, Poly
from atoll.types.dtypes import DTYPES, I32, fits
from atoll.types.types import Type
from atoll.views.functor import Functor
from atoll.views.index_map import At, IndexMap, is_view_index, position


class Stuck(AssertionError):
    """Places or order are wrong: a read does not meet the value it means."""


Tagged = tuple[Any, int]
Value = dict[Key, Tagged]
Mapping_ = tuple[int, list[str | tuple[int, list[tuple[int, tuple[int, ...]]]]]]


def _through(mapping: Mapping_, key: Key) -> Key:
    """The cell of the data that an element of the view is."""
    count, steps = mapping
    path: list[Any] = []
    for step in steps:
        if isinstance(step, str):
            path.append(step)
            continue
        extent, terms = step
        index = 0
        for coef, positions in terms:
            for k in positions:
                coef *= key[k]
            index += coef
        if not 0 <= index < extent:
            raise Stuck(f"index {index} out of {extent}")
        path.append(index)
    return (*path, *key[count:])


class Oracle:
    """One instance of an operator at concrete sizes (and types, where it has type variables)."""

    def __init__(
        self, compiled: Compiled, sizes: dict[Atom, int], types: dict[Generic, Type] | None = None, tags: Iterator[int] | None = None, decisions: dict[Span, set[bool]] | None = None,
    ) -> None:  # fmt: skip
        self.op, self.graph, self.layout = compiled, compiled.graph, compiled.layout
        self.types = types or {}
        self.tags = tags if tags is not None else itertools.count(1)
        self.numbers: dict[Atom, int] = {**sizes}
        self.memory: dict[Chunk, dict[Key, Tagged]] = {c: {} for c in self.layout.chunks}
        self.values: dict[g.Scope, dict[g.Wire, Value]] = {}
        self.partial: dict[g.Wire, Value] = {}
        self.state: dict[tuple[Chunk, Key], Tagged] = {}
        self.instances: dict[g.Call, Oracle] = {}
        self.copies = 0  # elements copied
        self.decisions: dict[Span, set[bool]] = decisions if decisions is not None else {}  # what every choice has been
        self.vectors: mcdc.Vectors = {}  # what the parts of every boolean expression have been
        self.sequences = {scope: order.sequence for scope, order in compiled.schedule.bodies.items()}
        self.start_sequences = {scope: order.sequence for scope, order in compiled.schedule.starts.items()}
        for p, what, _ in self.graph.requirements:
            if self.number(p) < 0:
                raise Stuck(f"{what} has a negative size")

    # -- running

    def reset(self) -> None:
        """Put the state to its first value."""
        self._start(self.graph.body)

    def step(self, *args: Any) -> list[Any]:
        """One cycle on Python values."""
        self.values[self.graph.body] = {}
        for wire, arg in zip(self.graph.arguments, args, strict=True):
            given = split(wire.type, arg, self.number, self.types)
            self._put(wire, {k: (v, next(self.tags)) for k, v in given.items()})
        self._cycle()
        return [
            join(w.type, {k: v for k, (v, _) in self._read(w, "result").items()}, self.number, self.types) for w in self.graph.results
        ]

    def _cycle(self) -> None:
        self._round(self.graph.body)
        for wire in self.graph.results:
            self._read(wire, "result")

    def run(self, inputs: list[tuple[Any, ...]]) -> list[list[Any]]:
        self.reset()
        return [self.step(*args) for args in inputs]

    def copy(self) -> Oracle:
        """Another one in the same state; what was compiled is shared."""
        made = copy.copy(self)
        made.numbers, made.partial, made.state = dict(self.numbers), dict(self.partial), dict(self.state)
        made.memory = {chunk: dict(cells) for chunk, cells in self.memory.items()}
        made.values = {scope: dict(known) for scope, known in self.values.items()}
        made.instances = {call: inner.copy() for call, inner in self.instances.items()}
        return made

    def kept(self) -> dict[str, Any]:
        """The state, by the names of its memories."""
        chunks = [c for c in self.layout.params() if c.role == "state"]
        return {c.name: join(c.type, {k: v for k, (v, _) in self.memory[c].items()}, self.number, self.types) for c in chunks if self.memory[c]}

    # -- sizes and places

    def number(self, p: Poly, purely: bool = False) -> int:
        """A size or an index. What is computed is read from its memory, but for the value of what was built with it (purely): its place may hold another one by then."""

        def value(atom: Atom) -> int:
            if atom in self.graph.dynamic:
                wire = self.graph.dynamic[atom][0]
                return int((self._evaluate(wire) if purely else self._read(wire, "index"))[()][0])
            return self.numbers[atom]

        return p.evaluate(value)

    def _mapping(self, m: IndexMap, purely: bool = False) -> Mapping_:
        """A map with everything but the view's own indices put in."""
        steps: list[str | tuple[int, list[tuple[int, tuple[int, ...]]]]] = []
        for step in m.path:
            if not isinstance(step, At):
                steps.append(component(step.number))
                continue
            terms = []
            for mono, coef in step.index.terms.items():
                for atom in mono:
                    coef *= 1 if is_view_index(atom) else self.number(Poly({(atom,): 1}), purely)
                terms.append((coef, tuple(position(atom) for atom in mono if is_view_index(atom))))
            steps.append((self.number(step.extent), terms))
        return len(m.dims), steps

    def cells(self, wire: g.Wire) -> list[tuple[Key, Key]]:
        """The elements of a wire and the cells they lie in."""
        mapping = self._mapping(self.layout.map(wire))
        return [(k, _through(mapping, k)) for k in keys(wire.type, self.number)]

    # -- values, purely

    def _evaluate(self, wire: g.Wire, part: bool = False) -> Value:
        known = self.values.get(wire.scope, {})
        if wire in known:
            return known[wire]
        if part and wire in self.partial:
            return self.partial[wire]
        producer = self.graph.producer.get(wire)
        if not isinstance(producer, g.Relation):
            if part:
                return {}
            raise Stuck(f"{wire.shown} is used before it is computed")
        value: Value = {}
        if producer.flow == "build":
            for view, source in producer.parts:
                given, mapping = self._evaluate(source, part), self._mapping(view.map, purely=True)
                for key in given if part else keys(source.type, self.number):
                    value[_through(mapping, key)] = given[key]
        else:
            view = self._view_of(producer, wire)
            whole, mapping = self._evaluate(producer.whole, part), self._mapping(view.map, purely=True)
            for key in keys(wire.type, self.number):
                cell = _through(mapping, key)
                if cell in whole:
                    value[key] = whole[cell]
                elif not part:
                    raise Stuck(f"{wire.shown} has no value at {cell}")
        if not part:
            self._set(wire, value)
        return value

    def _view_of(self, relation: g.Relation, wire: g.Wire) -> Functor:
        return next(view for view, part in relation.parts if part is wire)

    def _set(self, wire: g.Wire, value: Value) -> None:
        self.values.setdefault(wire.scope, {})[wire] = value

    # -- memory

    def _read(self, wire: g.Wire, what: str) -> Value:
        value = self._evaluate(wire)
        chunk = self.layout.chunk(wire)
        if chunk.role == "index":
            return value
        memory = self.memory[chunk]
        for key, cell in self.cells(wire):
            if memory.get(cell) != value[key]:
                held = memory.get(cell, ("nothing", 0))[0]
                raise Stuck(f"{what}: {wire.shown} should be {value[key][0]} at {chunk}{list(cell)}, which holds {held}")
        return value

    def _put(self, wire: g.Wire, value: Value) -> None:
        """Write a value at its place."""
        memory = self.memory[self.layout.chunk(wire)]
        cells = self.cells(wire)
        if len({cell for _, cell in cells}) != len(cells):
            raise Stuck(f"{wire.shown} is written twice at one cell")
        for key, cell in cells:
            memory[cell] = value[key]
        self._set(wire, value)

    # -- nodes

    def _node(self, node: g.Computing) -> None:
        try:
            match node:
                case g.Op(tree, inputs, output):
                    given = [self._read(w, "read")[()][0] for w in inputs]
                    value = self._tree(tree, given, inputs)
                    self._put(output, {(): (value, next(self.tags))})
                    if output in self.graph.contracts and not value:
                        kind, text, span = self.graph.contracts[output]
                        fail("E0966", span, kind=kind, text=text, name=self.graph.name)
                case g.Copy():
                    self._copy(node)
                case g.Call():
                    self._call(node)
                case g.ResetCall(call):
                    self._reset_call(call)
                case g.Nest():
                    self._nest(node)
        except Stuck as problem:
            if "\n" in str(problem):
                raise
            raise Stuck(f"{problem}\n  in {node_name(self.graph, node)}") from None

    def _copy(self, node: g.Copy) -> None:
        """Element by element, so that an overlap shows."""
        value = self._evaluate(node.source)
        source, target = self.layout.place[node.source], self.layout.place[node.target]
        if source.chunk.role == "index":
            self._put(node.target, {k: (v, next(self.tags)) for k, (v, _) in value.items()})
            return
        copied: Value = {}
        if source.chunk is target.chunk and source.map == target.map:
            self._read(node.source, "copy")
        mapping = self._mapping(source.map)
        for key, cell in self.cells(node.target):
            there = _through(mapping, key)
            same = source.chunk is target.chunk and source.map == target.map
            if not same and self.memory[source.chunk].get(there) != value[key]:
                raise Stuck(f"copy: {node.source.shown} is gone from {source.chunk}{list(there)}")
            copied[key] = (value[key][0], next(self.tags))
            self.memory[target.chunk][cell] = copied[key]
            self.copies += 1
        if len({cell for _, cell in self.cells(node.target)}) != len(copied):
            raise Stuck(f"{node.target.shown} is written twice at one cell")
        self._set(node.target, copied)

    def _tree(self, tree: g.Tree, given: list[Any], inputs: tuple[g.Wire, ...]) -> Any:
        match tree:
            case g.Input(k):
                return given[k]
            case g.Literal(value, t):
                actual = self._actual(t)
                if isinstance(actual, Fixed):
                    return actual.dtype.numpy.type(fixed.represent(value, actual))
                return convert_literal(value, dtype_of(t, self.types))
            case g.SizeValue(size, t):
                return convert_literal(self.number(size), dtype_of(t, self.types))
        if mcdc.is_boolean(tree):
            return np.bool_(mcdc.evaluate(tree, lambda part: self._tree(part, given, inputs), self.vectors))
        args = [self._tree(a, given, inputs) for a in tree.args]
        if tree.op == "select":
            self.decisions.setdefault(tree.span, set()).add(bool(args[0]))
        types, result = [self._actual(g.tree_type(a, inputs)) for a in tree.args], self._actual(tree.type)
        if fixed.is_fixed(*types, result):
            fixed.check(tree.op, tree.span, result, self.graph.name)
            return fixed.apply(tree.op, args, types, result)
        if tree.op in CONVERSIONS:
            return convert(args[0], DTYPES[CONVERSIONS[tree.op]])
        if SCALAR_OPS[tree.op].gives == "idx":
            n = self.number(tree.sizes[0])
            return I32.numpy.type((clamp if tree.op == "clamp" else wrap)(int(args[0]), n))
        return apply(tree.op, args)

    # -- calls

    def _callee(self, call: g.Call) -> Oracle:
        compiled = call.scheme.compiled
        assert compiled is not None
        sizes = {sym: self.number(p) for sym, p in call.sizes.items()}
        types = {generic: self._actual(t) for generic, t in call.types.items()}
        made = Oracle(compiled, sizes, types, self.tags, self.decisions)
        made.vectors = self.vectors
        before = self.instances.get(call)
        if before is not None:
            made.state, made.instances = before.state, before.instances
        return made

    def _actual(self, t: Type) -> Type:
        t = prune(t)
        return self.types.get(t, t) if isinstance(t, Generic) else t

    def _call(self, call: g.Call) -> None:
        if call.scheme.external is not None:
            self._external(call)
            return
        callee = self._callee(call)
        params = callee.layout.params()
        for wire in call.inputs:
            self._read(wire, "argument")
        for chunk, wire in zip(params, call.chunks, strict=True):
            memory = self.memory[self.layout.chunk(wire)]
            for key, cell in self.cells(wire):
                if cell in memory:
                    callee.memory[chunk][key] = memory[cell]
        callee.values[callee.graph.body] = {a: dict(self._evaluate(w)) for a, w in zip(callee.graph.arguments, call.inputs, strict=True)}
        callee._cycle()
        self._take_back(call, callee, [c for c, i in zip(params, call.scheme.chunks, strict=True) if i.written])
        for result, wire in zip(callee.graph.results, call.outputs, strict=True):
            self._set(wire, dict(callee._evaluate(result)))
        self.copies += callee.copies
        self.instances[call] = callee

    def _take_back(self, call: g.Call, callee: Oracle, chunks: list[Chunk]) -> None:
        for chunk, wire in zip(callee.layout.params(), call.chunks, strict=True):
            if chunk in chunks:
                memory = self.memory[self.layout.chunk(wire)]
                for key, cell in self.cells(wire):
                    if key in callee.memory[chunk]:
                        memory[cell] = callee.memory[chunk][key]

    def _reset_call(self, call: g.Call) -> None:
        callee = self._callee(call)
        callee.state, callee.instances = {}, {}
        callee.reset()
        self._take_back(call, callee, [c for c in callee.layout.params() if c.role == "state"])
        self.instances[call] = callee

    def _external(self, call: g.Call) -> None:
        args = []
        for wire in call.inputs:
            value = self._read(wire, "argument")
            args.append(join(wire.type, {k: v for k, (v, _) in value.items()}, self.number, self.types))
        result = call.scheme.external.interpret(*args)
        results = result if len(call.outputs) > 1 else (result,)
        for wire, given in zip(call.outputs, results, strict=True):
            self._put(wire, {k: (v, next(self.tags)) for k, v in split(wire.type, given, self.number, self.types).items()})

    # -- scopes

    def _start(self, scope: g.Scope) -> None:
        """Run what initialises a scope."""
        for start in scope.starts:
            self.values[start.scope] = {}
        for node in self.start_sequences.get(scope, []):
            self._node(node)
        for start in scope.starts:
            for _, wire in start.targets:
                value = self._read(wire, "init")
                for key, cell in self.cells(wire):
                    self.state[(self.layout.chunk(wire), cell)] = value[key]

    def _nest(self, nest: g.Nest) -> None:
        if nest.condition is not None:
            value = self._read(nest.condition, "condition")[()][0]
            taken = next((k for k, labels in enumerate(nest.labels) if value in labels), len(nest.labels))
            for k, decision in enumerate(nest.decisions()):
                self.decisions.setdefault(decision, set()).add(taken == k)
            self._restart(nest.scopes[taken])
            self._round(nest.scopes[taken])
            for whole, parts in nest.merges:
                self._set(whole, dict(self._read(parts[taken], "branch")))
            return
        self._restart(nest.scope)
        self._rounds(nest.scope)

    def _restart(self, scope: g.Scope) -> None:
        restarts = scope.reset == "restart"
        if scope.condition is not None:
            restarts = bool(self._read(scope.condition, "condition")[()][0])
            self.decisions.setdefault(scope.condition.span, set()).add(restarts)
        if restarts:
            self._start(scope)

    def _rounds(self, scope: g.Scope) -> None:
        count = self.number(scope.extent) if scope.kind == "loop" else 1
        built: dict[g.Wire, Value] = {whole: {} for _, whole in scope.aggregates}
        final: dict[g.Wire, Value] = {}
        for k in range(count):
            if scope.index is not None:
                self.numbers[scope.index] = k
            self.partial.update(built)
            self._round(scope)
            for element, whole in scope.aggregates:
                for key, tagged in self._evaluate(element).items():
                    built[whole][(k, *key)] = tagged
            final = {whole: dict(self._evaluate(wire)) for wire, whole in scope.accumulates}
        if scope.index is not None:
            self.numbers.pop(scope.index, None)
        for whole, value in built.items():
            self.partial.pop(whole, None)
            self._set(whole, value)
            self._read(whole, "built array")
        for _, whole in scope.accumulates:
            if count:
                self._set(whole, final[whole])
            else:
                self._old(whole)
            self._read(whole, "final value")

    def _round(self, scope: g.Scope) -> None:
        if scope is not self.graph.body:
            self.values[scope] = {}
        for chunk in self.layout.chunks:
            if chunk.role == "local" and chunk.scope is scope:
                self.memory[chunk] = {}
        if scope.index_wire is not None and scope.index is not None:
            number = self.numbers[scope.index] + self.number(scope.low)
            self._set(scope.index_wire, {(): (I32.numpy.type(number), 0)})
        for _, old in scope.lasts:
            self._old(old)
        for whole, alias in scope.aliases:
            self._alias(whole, alias)
        for node in self.sequences[scope]:
            self._node(node)
        for wire in dict.fromkeys([w for w, _ in scope.lasts] + [w for w, _ in scope.accumulates]):
            value = self._read(wire, "new state")
            for key, cell in self.cells(wire):
                self.state[(self.layout.chunk(wire), cell)] = value[key]

    def _old(self, wire: g.Wire) -> None:
        chunk = self.layout.chunk(wire)
        value: Value = {}
        for key, cell in self.cells(wire):
            kept = self.state.get((chunk, cell))
            if kept is None:
                raise Stuck(f"{wire.shown} is not initialised at {chunk}{list(cell)}")
            if self.memory[chunk].get(cell) != kept:
                raise Stuck(f"{wire.shown} was overwritten at {chunk}{list(cell)}")
            value[key] = kept
        self._set(wire, value)

    def _alias(self, whole: g.Wire, alias: g.Wire) -> None:
        view = next(v for r in self.graph.relations if r.construct == "as" for v, p in r.parts if p is alias)
        so_far = self._evaluate(whole, part=True)
        value: Value = {}
        mapping = self._mapping(view.map)
        for key in keys(alias.type, self.number):
            cell = _through(mapping, key)
            if cell not in so_far:
                raise Stuck(f"{alias.shown}: element {list(cell)} is not built yet")
            value[key] = so_far[cell]
        self._set(alias, value)


def convert_literal(value: Any, dtype: Any) -> Any:
    if not fits(value, dtype):
        fail("E0929", value=value, shown=dtype)
    with np.errstate(all="ignore"):
        return dtype.numpy.type(value)

