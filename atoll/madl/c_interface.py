"""What a C caller sees of an operator: a signature that is a function of its interface alone, never of where the body keeps things.

    void f([f_state *self,] sizes, arguments as declared, results as declared, workspaces)

A scalar argument is a value, a scalar result a pointer. An array is a pointer, const when it is only read. A result that the body keeps in
state or in an argument is copied out at the border. Two exceptions, both said in the interface: an array argument and a result that
name one place (`a at 'l .. b at 'l`) are one parameter, which is updated in place; and arguments (or results) that the program wants side by side in one array
are that array.

The function that computes takes one pointer per memory. Where that is the signature it is the public function; elsewhere a public one is put
around it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from atoll.backends.c.emit import safe
from atoll.loops import ir as lp
from atoll.madl import graph as g
from atoll.madl import syntax as s
from atoll.madl.lowered import Argument, CopyPiece, FunctionName, Invoke, Lowered, LoweredOperator
from atoll.madl.pieces import Leaf, count, leaf_index, leaves_of
from atoll.madl.typing import rebuild
from atoll.sizes import Poly, Sym, poly
from atoll.views.index_map import IDENTITY


@dataclass(slots=True)
class Public:
    """The public function: `direct` when it is the one that computes."""

    op: LoweredOperator
    direct: bool
    params: list[lp.Buffer]
    values: set[lp.Buffer]
    written: set[lp.Buffer]
    before: list[Any] = field(default_factory=list)
    after: list[Any] = field(default_factory=list)
    bound: dict[lp.Buffer, lp.Buffer] = field(default_factory=dict)  # memory of the operator: the parameter it is
    overwritten: list[str] = field(default_factory=list)  # arguments that are changed although no result lies in them
    own: dict[tuple[str, int, tuple[int, ...]], lp.Buffer] = field(default_factory=dict)  # ("argument", 0, leaf): where it has a parameter of its own

    def function(self, name: str) -> Lowered:
        """The function around the one that computes."""
        cycle = self.op.cycle
        call = FunctionName(self.op.compiled.scheme, self.op.types, "cycle")
        args = []
        for b in cycle.params:
            mine = self.bound.get(b, b)
            args.append(Argument(mine, tuple(poly(0) for _ in mine.extents), b, b in cycle.values, b in cycle.written))
        inside = Invoke(call, tuple(poly(sym) for sym in cycle.sizes), tuple(args))
        return Lowered(name, cycle.sizes, list(self.params), set(self.written), [*self.before, inside, *self.after], [call], set(self.values), cycle.limits)


def state_buffers(op: LoweredOperator) -> list[lp.Buffer]:
    """What lives from cycle to cycle, in the order of the struct."""
    kept = {b for fn in (op.cycle, op.reset) if fn is not None for b in fn.params}
    return [b for (chunk, _), b in op.buffers.items() if chunk.role == "state" and b in kept]


def public(op: LoweredOperator) -> Public:
    return _Making(op).run()


class _Making:
    def __init__(self, op: LoweredOperator) -> None:
        self.op = op
        self.graph, self.layout = op.compiled.graph, op.compiled.layout
        self.sizes: dict[Any, Poly] = {old: poly(new) for old, new in zip(self.graph.sizes, op.cycle.sizes, strict=True)}
        self.generics = dict(zip(self.graph.generics, op.types, strict=True))
        self.taken: set[str] = set()
        self.made = Public(op, True, [], set(), set())
        self.shared = _shared_places(op.compiled.operator)

    def run(self) -> Public:
        made, op = self.made, self.op
        arguments = {self.layout.chunk(w) for w in self.graph.arguments}
        for k, wire in enumerate(self.graph.arguments):
            for leaf, key, _ in self._leaves(wire):
                self._argument(k, wire, leaf, op.buffers[key])
        for k, wire in enumerate(self.graph.results):
            chunk = self.layout.chunk(wire)
            for leaf, key, _ in self._leaves(wire):
                b = op.buffers[key]
                inside = chunk.role == "state" or (chunk in arguments and not (b.extents and self._in_place(k, chunk)))
                self._result(k, wire, leaf, b, inside)
        for b in op.cycle.params:
            if b not in made.params and b not in made.bound and self._role(b) != "state":
                self._add(b, b in op.cycle.written)
        if op.reset is not None or made.before or made.after or made.bound or made.values != op.cycle.values or made.params != op.cycle.params:
            made.direct = False
        results = {self.layout.chunk(w) for w in self.graph.results}
        for wire in self.graph.arguments:
            chunk = self.layout.chunk(wire)
            if chunk not in results and any(op.buffers[key] in made.written for _, key, _ in self._leaves(wire)):
                made.overwritten.append(wire.shown)
        return made

    def _role(self, b: lp.Buffer) -> str:
        return next(chunk.role for (chunk, _), x in self.op.buffers.items() if x is b)

    def _leaves(self, wire: g.Wire) -> list[tuple[Leaf, Any, tuple[Poly, ...]]]:
        """Each leaf of a wire, the key of the buffer it is in, and where in it its elements lie."""
        place = self.layout.place[wire]
        found = []
        for leaf in leaves_of(rebuild(wire.type, lambda t: self.generics.get(t, t), lambda p: p)):
            view = tuple(poly(0) for _ in leaf.extents)
            components, index = leaf_index(place.map, leaf, view)
            found.append((leaf, (place.chunk, components), index))
        return found

    def _add(self, b: lp.Buffer, written: bool) -> None:
        self.made.params.append(b)
        self.taken.add(safe(b.name))
        if written:
            self.made.written.add(b)

    def _fresh(self, name: str, like: lp.Buffer, extents: tuple[Poly, ...]) -> lp.Buffer:
        later = {safe(b.name) for b in self.op.cycle.params if self._role(b) != "state"}
        shown, number = name, 2
        while safe(shown) in self.taken or (safe(shown) in later and like.name != name) or safe(shown) == "self":
            shown, number = f"{name}_{number}", number + 1
        self.taken.add(safe(shown))
        return lp.Buffer(shown, like.dtype, extents, "out", span=like.span)

    def _argument(self, k: int, wire: g.Wire, leaf: Leaf, b: lp.Buffer) -> None:
        made, place = self.made, self.layout.place[wire]
        if b in made.params or b in made.bound:
            return
        own = ("argument", k, leaf.components)
        if place.chunk.role == "state":  # `init x` makes an argument the state: it is copied in
            mine = self._fresh((wire.name or "arg") + leaf.label, b, tuple(n.subst(self.sizes) for n in leaf.extents))
            self._add(mine, False)
            made.own[own] = mine
            made.values |= {mine} if not mine.extents else set()
            made.before += self._copy(wire, leaf, b, mine, inwards=True)
            return
        written = b in self.op.cycle.written
        if not b.extents:
            self._add(b, False)
            made.values.add(b)
            return
        result = next((r for k, r in enumerate(self.graph.results) if self.layout.chunk(r) is place.chunk and not self._in_place(k, place.chunk)), None)
        whole = place.map == IDENTITY and result is not None and self.layout.place[result].map == IDENTITY
        if written and whole:  # the operator works in place, its interface does not say so: it works on the result
            assert result is not None
            mine = self._fresh((wire.name or "arg") + leaf.label, b, b.extents)
            self._add(mine, False)
            made.own[own] = mine
            made.bound[b] = self._fresh((result.name or "out") + leaf.label, b, b.extents)
            zero = tuple(poly(0) for _ in b.extents)
            made.before.append(CopyPiece(made.bound[b], zero, mine, zero, count(b.extents)))
            return
        self._add(b, written)

    def _result(self, k: int, wire: g.Wire, leaf: Leaf, b: lp.Buffer, inside: bool) -> None:
        made = self.made
        if b in made.bound and made.bound[b] not in made.params:
            self._add(made.bound[b], True)
            made.own[("result", k, leaf.components)] = made.bound[b]
        elif inside:
            mine = self._fresh((wire.name or "out") + leaf.label, b, tuple(n.subst(self.sizes) for n in leaf.extents))
            self._add(mine, True)
            made.own[("result", k, leaf.components)] = mine
            made.after += self._copy(wire, leaf, self.made.bound.get(b, b), mine, inwards=False)
        elif b not in made.params:
            self._add(b, True)

    def _in_place(self, result: int, chunk: Any) -> bool:
        """The interface says that this result lies in the memory of an argument of this chunk."""
        return any(self.layout.chunk(w) is chunk and (k, result) in self.shared for k, w in enumerate(self.graph.arguments))

    def _copy(self, wire: g.Wire, leaf: Leaf, inner: lp.Buffer, outer: lp.Buffer, inwards: bool) -> list[Any]:
        """From a part of a memory of the operator to a parameter, or back."""
        place = self.layout.place[wire]
        view: tuple[Poly, ...] = ()
        syms: list[tuple[Sym, Poly]] = []
        for n in outer.extents:
            sym = Sym("idx")
            syms.append((sym, n))
            view = (*view, poly(sym))
        if place.map == IDENTITY and inner.extents:
            zero = tuple(poly(0) for _ in inner.extents)
            first, second = (inner, outer) if inwards else (outer, inner)
            return [CopyPiece(first, zero, second, zero, count(inner.extents))]
        _, index = leaf_index(place.map, leaf, view)
        index = tuple(i.subst(self.sizes) for i in index)
        here, there = (inner, index), (outer, view)
        target, source = (here, there) if inwards else (there, here)
        body: list[Any] = [lp.Store(*target, lp.Load(*source))]
        for sym, n in reversed(syms):
            body = [lp.For(sym, poly(0), n, body, True)]
        return body


def _shared_places(operator: s.Operator) -> set[tuple[int, int]]:
    """Pairs of an argument and a result that name one place in the interface."""

    def words(e: s.Expr) -> set[str]:
        found: set[str] = set()
        for node in s.walk(e):
            match node:
                case s.Variable(name):
                    found.add(name)
                case s.Located(_, place):
                    found |= {x.name if isinstance(x, s.Variable) else f"'{x.name}" for x in s.walk(place) if isinstance(x, (s.Meta, s.Variable))}
        return found

    inner = {c.left: c.right for e in operator.body if isinstance(e, s.Block) for c in e.interface.results}  # library.with_own_reset
    args = [words(item) for c in operator.interface.args for item in s.items(c.right)]
    results = [words(inner.get(item, item)) for c in operator.interface.results for item in s.items(c.left or c.right)]
    return {(k, n) for k, a in enumerate(args) for n, r in enumerate(results) if a & r}
