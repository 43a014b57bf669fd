"""What is known of the symbols in index maps: sizes are what the operator requires, loop indices and index values lie in their ranges.

Two operations are compared at one moment of a scope: the indices of loops around it are the same for both, those of loops further
inside are not, so one side's are renamed (twins). An iteration check compares two rounds of one loop instead: then the loop's own index has
a twin too, which is earlier or later.
"""

from __future__ import annotations

from collections.abc import Iterable

from atoll.madl.graph import Graph
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.prover import Facts, facts
from atoll.views.index_map import IndexMap
from atoll.views.overlap import covers, disjoint, in_range, includes


class Known:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sizes = tuple(dict.fromkeys(p for p, _, _ in graph.requirements if p.const() is None))
        self._twins: dict[Sym, Sym] = {}
        self._disjoint: dict[tuple[object, ...], bool] = {}

    def depth(self, sym: Atom) -> int | None:
        """How deep the scope is in which a symbol has one value; None for sizes."""
        if sym in self.graph.loops:
            return self.graph.loops[sym].depth
        if sym in self.graph.dynamic:
            return self.graph.dynamic[sym][0].scope.depth
        return None

    def range_of(self, sym: Atom) -> Poly:
        """The number of values of a loop index or index value."""
        if sym in self.graph.loops:
            return self.graph.loops[sym].extent
        return self.graph.dynamic[sym][1]

    def twin(self, sym: Sym) -> Sym:
        if sym not in self._twins:
            self._twins[sym] = Sym(sym.name + "'")
        return self._twins[sym]

    def ranged(self, symbols: Iterable[Atom]) -> list[Sym]:
        """The loop indices and index values among some symbols, and those their ranges mention; outermost first."""
        found: dict[Sym, None] = {}
        todo = [x for x in symbols if isinstance(x, Sym)]
        while todo:
            sym = todo.pop()
            if sym not in found and self.depth(sym) is not None:
                found[sym] = None
                todo += [x for x in self.range_of(sym).leaves() if isinstance(x, Sym)]
        return sorted(found, key=lambda x: (self.depth(x) or 0, x in self.graph.dynamic, x.uid))

    def ranges(self, symbols: Iterable[Atom]) -> list[Poly]:
        return [p for sym in self.ranged(symbols) for p in in_range(sym, self.range_of(sym))]

    def about(self, *polys: Poly) -> Facts:
        """The hypotheses for a question about some polynomials."""
        symbols = {leaf for p in polys for leaf in p.leaves()}
        return facts(tuple(dict.fromkeys([*self.sizes, *self.ranges(symbols)])))

    # -- questions about places in one chunk

    def disjoint(self, first: IndexMap, second: IndexMap, depth: int, extra: tuple[Sym, str] | None = None) -> bool:
        """No cell in common, whatever the indices of loops deeper than `depth` are on either side.

        `extra` relates the twin of a loop index to the index: (i, "before") the second map is taken in an earlier round, "after" in
        a later one.
        """
        key = (first, second, depth, extra)
        if key not in self._disjoint:
            self._disjoint[key] = self._decide(first, second, depth, extra)
        return self._disjoint[key]

    def _decide(self, first: IndexMap, second: IndexMap, depth: int, extra: tuple[Sym, str] | None) -> bool:
        symbols = self.ranged([*first.symbols(), *second.symbols(), *([extra[0]] if extra else [])])
        apart: dict[Atom, Poly] = {sym: poly(self.twin(sym)) for sym in symbols if (self.depth(sym) or 0) > depth}
        known = [*self.sizes]
        for sym in symbols:
            known += in_range(sym, self.range_of(sym))
            if sym in apart:
                known += in_range(self.twin(sym), self.range_of(sym).subst(apart))
        if extra is not None:
            sym, when = extra
            gap = poly(sym) - poly(self.twin(sym))
            known.append(gap - 1 if when == "before" else -gap - 1)
        return disjoint(first, second.subst(apart), known)

    def includes(self, big: IndexMap, small: IndexMap) -> bool:
        return includes(big, small, [*self.sizes, *self.ranges(big.symbols() | small.symbols())])

    def covers(self, parts: list[IndexMap], whole: IndexMap) -> bool:
        symbols = whole.symbols().union(*(p.symbols() for p in parts))
        return covers(parts, whole, [*self.sizes, *self.ranges(symbols)])
