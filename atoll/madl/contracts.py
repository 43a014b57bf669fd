"""Contracts proved before the program runs, where they are linear in whole numbers.

A guarantee follows when the size prover shows it from what is known: what the operator assumes, sizes and indices in their ranges, every number in the range of its type, and
how values are computed. `+`, `-` and products by constants count as exact only where they are proved not to wrap around; `min`, `max`, `abs` and `if` are looked at case by case. A
guarantee about a flow with an initial value is proved by induction: it holds for that value, and in every cycle if it held in the one before. What a called operator assumes must follow
at the call, and what it guarantees is known there.

What is not proved is not wrong: it is checked in simulation, as everything is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from atoll.errors import Span
from atoll.madl import graph as g
from atoll.madl.compiled import Compiled
from atoll.madl.represented import Enum, Fixed
from atoll.madl.scalars import CONVERSIONS
from atoll.madl.typing import prune
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.prover import facts
from atoll.types.dtypes import DType
from atoll.types.types import Index, Scalar
from atoll.views.functor import ONE

_MOST_CASES = 6  # choices that one proof looks at: 64 cases
_TURNED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True, slots=True)
class Told:
    """A contract and what is known of it: `proved`, `assumed` (of the caller), or `checked` in simulation."""

    kind: str
    text: str
    status: str
    span: Span


@dataclass(frozen=True, slots=True)
class Case:
    """One of the two values that a choice may have, and what then holds."""

    value: Poly
    holds: tuple[Poly, ...]


def contracts(op: Compiled) -> list[Told]:
    """What an operator promises, what it asks for, and what is proved of it."""
    graph = op.graph
    found = []
    for wire, (kind, text, span) in graph.contracts.items():
        if kind == "assume":
            found.append(Told(kind, text, "assumed", span))
        else:
            found.append(Told(kind, text, "proved" if _Proof(op, wire.scope).guarantees(wire) else "checked", span))
    for node in g.scope_nodes(graph.body):
        if isinstance(node, g.Call) and node.scheme.compiled is not None:
            for wire, (kind, text, _) in node.scheme.compiled.graph.contracts.items():
                if kind == "assume":
                    status = "proved" if _Proof(op, node.inputs[0].scope if node.inputs else graph.body).call_fits(node, wire) else "checked"
                    found.append(Told("assume", f"{text} in {node.name}", status, node.span))
    return found


class _Proof:
    """The numbers of one cycle, and what is known of them."""

    def __init__(self, op: Compiled, scope: g.Scope) -> None:
        self.op, self.graph = op, op.graph
        self.known: list[Poly] = [p for p, _, _ in op.graph.requirements if p.const() is None]
        self.values: dict[g.Wire, Poly | None] = {}
        self.choices: dict[Sym, tuple[Case, Case]] = {}
        self.same: dict[g.Wire, g.Wire] = {}  # every `last x` of one scope is one value
        for inner in op.graph.scopes():
            first: dict[g.Wire, g.Wire] = {}
            for flow, old in inner.lasts:
                self.same[old] = first.setdefault(_root(op.graph, flow), old)
        for wire, (kind, _, _) in op.graph.contracts.items():
            if kind == "assume" and scope.within(wire.scope):  # others are not asked for whenever this runs
                self._assume(self._tree(wire))

    # -- goals

    def guarantees(self, wire: g.Wire) -> bool:
        tree, inputs = self._tree(wire)
        states = self._states(wire, inputs)
        if states is not None:
            self._assume((tree, tuple(old for old, _ in states)))
        return self._true(tree, inputs) and (states is None or self._true(tree, tuple(first for _, first in states)))

    def _tree(self, wire: g.Wire) -> tuple[g.Tree, tuple[g.Wire, ...]]:
        node = self.graph.producer[wire]
        assert isinstance(node, g.Op)
        return node.tree, node.inputs

    def _states(self, wire: g.Wire, inputs: tuple[g.Wire, ...]) -> list[tuple[g.Wire, g.Wire]] | None:
        """For a goal about nothing but state of the operator itself: each flow's value in the cycle before, and its first value."""
        body = self.graph.body
        last = {_root(self.graph, flow): old for flow, old in body.lasts}
        first = {_root(self.graph, flow): value for start in body.starts for flow, value in start.targets if start.within is body}
        roots = [_root(self.graph, w) for w in inputs]
        if wire.scope is not body or not roots or any(root not in last or root not in first for root in roots):
            return None
        return [(last[root], first[root]) for root in roots]

    def call_fits(self, call: g.Call, wire: g.Wire) -> bool:
        compiled = call.scheme.compiled
        assert compiled is not None
        node = compiled.graph.producer[wire]
        assert isinstance(node, g.Op)
        here = _at_call(compiled, call, node.inputs)
        if here is None:
            return False
        return self._true(_moved(node.tree, call.sizes), here)

    def _true(self, tree: g.Tree, inputs: tuple[g.Wire, ...]) -> bool:
        match tree:
            case g.Literal(bool() as value):
                return value
            case g.Input(k):
                producer = self.graph.producer.get(_root(self.graph, inputs[k]))
                return isinstance(producer, g.Op) and self._true(producer.tree, producer.inputs)
            case g.Operate("and", args):
                return all(self._true(a, inputs) for a in args)
            case g.Operate("or", args):
                return any(self._true(a, inputs) for a in args)
            case g.Operate("not", (g.Operate(op, args) as inner,)) if op in _TURNED:
                return self._true(replace(inner, op=_TURNED[op]), inputs)
            case g.Operate(op, (left, right)) if op in _TURNED and op != "ne":
                a, b = self._term(left, inputs), self._term(right, inputs)
                return a is not None and b is not None and all(self.proves(p) for p in _differences(op, a, b))
        return False

    def proves(self, p: Poly) -> bool:
        return self._cases(p, tuple(self.known), dict(self.choices), 0)

    def _cases(self, goal: Poly, known: tuple[Poly, ...], left: dict[Sym, tuple[Case, Case]], depth: int) -> bool:
        if facts(known).proves(goal):
            return True
        choice = next((x for x in left if any(x in p.leaves() for p in (goal, *known))), None)
        if choice is None or depth >= _MOST_CASES:
            return False
        both = left.pop(choice)
        for case in both:
            env: dict[Atom, Poly] = {choice: case.value}
            rest = {x: (_put(a, env), _put(b, env)) for x, (a, b) in left.items()}
            more = tuple(p.subst(env) for p in (*known, *case.holds))
            if not self._cases(goal.subst(env), more, rest, depth + 1):
                return False
        return True

    # -- hypotheses

    def _assume(self, condition: tuple[g.Tree, tuple[g.Wire, ...]]) -> None:
        self.known += list(self._facts(*condition))

    def _facts(self, tree: g.Tree, inputs: tuple[g.Wire, ...]) -> Iterator[Poly]:
        match tree:
            case g.Operate("and", args):
                for arg in args:
                    yield from self._facts(arg, inputs)
            case g.Operate("not", (g.Operate(op, args) as inner,)) if op in _TURNED:
                yield from self._facts(replace(inner, op=_TURNED[op]), inputs)
            case g.Operate(op, (left, right)) if op in _TURNED and op != "ne":
                a, b = self._term(left, inputs), self._term(right, inputs)
                if a is not None and b is not None:
                    yield from _differences(op, a, b)

    # -- numbers

    def _value(self, wire: g.Wire) -> Poly | None:
        root = _root(self.graph, wire)
        root = self.same.get(root, root)
        if root not in self.values:
            self.values[root] = None  # while it is being found
            self.values[root] = self._find(root)
        return self.values[root]

    def _find(self, wire: g.Wire) -> Poly | None:
        t = prune(wire.type)
        if wire.role == "index" and wire.scope.index is not None:
            self.known += [poly(wire.scope.index), wire.scope.extent - 1 - poly(wire.scope.index)]
            return poly(wire.scope.index) + wire.scope.low
        if isinstance(t, Index):
            sym = poly(Sym(wire.name or "k"))
            self.known += [sym, t.size - 1 - sym]
            return sym
        if not isinstance(t, Scalar) or isinstance(t, (Enum, Fixed)) or not t.dtype.is_integer:
            return None
        producer = self.graph.producer.get(wire)
        found = self._term(producer.tree, producer.inputs) if isinstance(producer, g.Op) else None
        if found is not None:
            return found
        fresh = self._any(t.dtype, wire.name or "v")
        if isinstance(producer, g.Call):
            self.values[wire] = fresh
            self._guaranteed(producer)
        return fresh

    def _any(self, dtype: DType, name: str) -> Poly:
        """A number of which only the type is known."""
        low, high = dtype.limits()
        sym = poly(Sym(name))
        self.known += [sym, poly(high - low) - sym]
        return sym + low

    def _guaranteed(self, call: g.Call) -> None:
        """What a called operator has been proved to guarantee, if what it assumes holds here."""
        compiled = call.scheme.compiled
        if compiled is None or not all(self.call_fits(call, w) for w, (kind, _, _) in compiled.graph.contracts.items() if kind == "assume"):
            return
        for wire, (kind, _, _) in compiled.graph.contracts.items():
            node = compiled.graph.producer[wire]
            if kind == "guarantee" and isinstance(node, g.Op) and _Proof(compiled, wire.scope).guarantees(wire):
                here = _at_call(compiled, call, node.inputs)
                if here is not None:
                    self._assume((_moved(node.tree, call.sizes), here))

    def _term(self, tree: g.Tree, inputs: tuple[g.Wire, ...]) -> Poly | None:
        match tree:
            case g.Input(k):
                return self._value(inputs[k])
            case g.Literal(int() as value) if not isinstance(value, bool):
                return poly(value)
            case g.SizeValue(size):
                return size
            case g.Operate():
                return self._operation(tree, inputs)
        return None

    def _operation(self, tree: g.Operate, inputs: tuple[g.Wire, ...]) -> Poly | None:
        t = prune(tree.type)
        if isinstance(t, Index):
            sym = poly(Sym("k"))
            self.known += [sym, t.size - 1 - sym]
            return sym
        if not isinstance(t, Scalar) or isinstance(t, (Enum, Fixed)) or not t.dtype.is_integer:
            return None
        if tree.op == "select":
            then, other = self._term(tree.args[1], inputs), self._term(tree.args[2], inputs)
            if then is None or other is None:
                return None
            condition = (tree.args[0], inputs)
            turned = (g.Operate("not", (tree.args[0],), tree.args[0].type, tree.span), inputs) if isinstance(tree.args[0], g.Operate) else None
            return self._choice(Case(then, tuple(self._facts(*condition))), Case(other, tuple(self._facts(*turned)) if turned else ()))
        args = [self._term(a, inputs) for a in tree.args]
        if any(a is None for a in args):
            return None
        terms: list[Poly] = [a for a in args if a is not None]
        if tree.op in ("min", "max"):
            a, b = terms if tree.op == "min" else terms[::-1]
            return self._choice(Case(terms[0], (b - a,)), Case(terms[1], (a - b,)))
        exact = _exact(tree.op, terms)
        if tree.op == "abs":
            exact = self._choice(Case(terms[0], (terms[0],)), Case(-terms[0], (-terms[0],)))
        low, high = t.dtype.limits()
        if exact is None or not (self.proves(exact - low) and self.proves(poly(high) - exact)):
            return None
        return exact

    def _choice(self, first: Case, second: Case) -> Poly:
        sym = Sym("c")
        self.choices[sym] = (first, second)
        return poly(sym)


def _put(case: Case, env: dict[Atom, Poly]) -> Case:
    return Case(case.value.subst(env), tuple(p.subst(env) for p in case.holds))


def _exact(op: str, terms: list[Poly]) -> Poly | None:
    if op in CONVERSIONS:
        return terms[0]
    match op, terms:
        case "add", [a, b]:
            return a + b
        case "sub", [a, b]:
            return a - b
        case "neg", [a]:
            return -a
        case "mul", [a, b] if a.const() is not None or b.const() is not None:
            return a * b
    return None


def _differences(op: str, a: Poly, b: Poly) -> list[Poly]:
    return {"lt": [b - a - 1], "le": [b - a], "gt": [a - b - 1], "ge": [a - b], "eq": [a - b, b - a]}[op]


def _root(graph: g.Graph, wire: g.Wire) -> g.Wire:
    """Where a value comes from, through names and copies."""
    while True:
        producer: Any = graph.producer.get(wire)
        if isinstance(producer, g.Copy):
            wire = producer.source
        elif isinstance(producer, g.Relation) and len(producer.parts) == 1 and producer.parts[0][0] == ONE and producer.flow is not None:
            wire = producer.whole if producer.flow == "access" else producer.parts[0][1]
        else:
            return wire


def _at_call(callee: Compiled, call: g.Call, wires: tuple[g.Wire, ...]) -> tuple[g.Wire, ...] | None:
    """The caller's wires for arguments and results of a called operator."""
    here = {_root(callee.graph, w): x for w, x in [*zip(callee.graph.results, call.outputs, strict=True), *zip(callee.graph.arguments, call.inputs, strict=True)]}
    found = [here.get(_root(callee.graph, w)) for w in wires]
    return tuple(w for w in found if w is not None) if all(w is not None for w in found) else None


def _moved(tree: g.Tree, sizes: dict[Atom, Poly]) -> g.Tree:
    """A condition of a called operator with the caller's sizes."""
    if isinstance(tree, g.SizeValue):
        return replace(tree, size=tree.size.subst(sizes))
    if isinstance(tree, g.Operate):
        return replace(tree, args=tuple(_moved(a, sizes) for a in tree.args))
    return tree

