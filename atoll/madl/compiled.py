"""One operator through all analyses.

    elaborate -> settle types and sizes -> causality -> places -> initialisation -> operations -> loops -> order -> scheme

A call whose memories do not lie in one piece cannot be a call: the operator is elaborated again with it expanded, until all are. With
`separate=True` it is refused instead, as the thesis does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from atoll.errors import CausalityError, Span, fail
from atoll.madl import atomic, causality, initial, instances, iterate, iteration, kinds, live, patterns, resolve
from atoll.madl import graph as g
from atoll.madl import syntax as s
from atoll.madl.built import place_aliases
from atoll.madl.depend import Dependencies
from atoll.madl.elaborate import Elaborator
from atoll.madl.environment import Env, Metas
from atoll.madl.known import Known
from atoll.madl.layout import Layout, lay_out
from atoll.madl.schedule import Schedule, schedule
from atoll.madl.scheme import ChunkInfo, Port, Scheme
from atoll.madl.typing import Generic
from atoll.madl.workspaces import share_workspaces
from atoll.sizes import poly
from atoll.types.types import Type

if TYPE_CHECKING:
    from atoll.madl.library import Library


@dataclass(eq=False)
class Compiled:
    """An operator that passed every check."""

    operator: s.Operator
    kind: str
    graph: g.Graph
    layout: Layout
    known: Known
    deps: Dependencies
    schedule: Schedule
    fixed_sizes: dict[str, int]
    inlined: frozenset[Any]
    scheme: Scheme
    dead: frozenset[int]  # ids of nodes whose results nobody needs: they have no code
    unused: tuple[tuple[str, Span], ...]

    @property
    def name(self) -> str:
        return self.scheme.name


class Everything(frozenset[Any]):
    """The set of all calls."""

    def __contains__(self, site: object) -> bool:
        return True

    def __or__(self, more: Any) -> Any:
        return self


def compile_operator(
    library: Library,
    operator: s.Operator,
    *,
    name: str | None = None,
    types: dict[str, Type] | None = None,
    sizes: dict[str, int] | None = None,
    separate: bool = False,
    expand: bool = False,
) -> Compiled:
    """All analyses. `types` says what the (type ..) parameters are, `sizes` what a recursive operator's sizes are; with `expand` every call is expanded that can be."""
    inlined: frozenset[Any] = Everything() if expand else frozenset()
    opened: frozenset[Any] = frozenset()
    while True:
        el = elaborate(library, operator, inlined, types, sizes, opened)
        try:
            causality.check(el.graph, look_into_calls=not separate)
        except causality.Feedback as feedback:
            opened |= frozenset(feedback.sites)
            continue
        except CausalityError:
            if opened:  # a cycle all the same: told as it is without looking into calls
                causality.check(elaborate(library, operator, inlined, types, sizes).graph)
            raise
        place_aliases(el.graph, el.built)
        layout = lay_out(el.graph)
        known = Known(el.graph)
        initial.check(el, layout, known)
        atomic.check(el, layout, known)
        pieces = atomic.scattered(layout)
        if not pieces:
            break
        expandable = [c for c in pieces if c.scheme.external is None and not separate and not c.scheme.compiled_recursive()]
        if len(expandable) != len(pieces):
            atomic.refuse_scattered(layout, next(c for c in pieces if c not in expandable))
        inlined |= {c.site for c in expandable}
    deps = Dependencies(el.graph, layout, known)
    atomic.check_inputs(deps)
    iteration.check(deps)
    order = schedule(deps)
    deps = share_workspaces(deps, order)
    stateful = any(c.role == "state" for c in layout.chunks)
    kind = kinds.check_declared(operator, kinds.structural_kind(operator, library.kind_finder(operator)), stateful)
    scheme = _scheme(name or operator.name, el.graph, layout, deps, stateful)
    needed = live.live_wires(el.graph)
    dead = live.dead_nodes(el.graph, needed)
    unused = tuple(live.unused(el.graph, live.live_wires(el.graph, contracts=True), operator.span))
    compiled = Compiled(operator, kind, el.graph, layout, known, deps, order, sizes or {}, inlined, scheme, frozenset(dead), unused)
    object.__setattr__(scheme, "compiled", compiled)
    return compiled


def elaborate(
    library: Library,
    operator: s.Operator,
    inlined: frozenset[Any] = frozenset(),
    types: dict[str, Type] | None = None,
    sizes: dict[str, int] | None = None,
    opened: frozenset[Any] = frozenset(),
) -> Elaborator:
    """The graph of an operator, with final types and sizes. Calls at `inlined` become blocks, those at `opened` a part of the body itself."""
    el = Elaborator(library, operator, inlined, opened)
    graph = el.graph
    env = Env(graph.body, 0, None, Metas(), root=True)
    declared = [n for p in operator.interface.params if p.kind == "type" for n in p.names]
    instances.enter(el, operator, env, {n: (types or {}).get(n) or Generic(n) for n in declared})
    for n, value in (sizes or {}).items():
        env.sizes[n] = poly(value)
    for clause in operator.interface.args:
        if clause.left is not None:
            fail("E0905", clause.span, what="a parameter", given="an equation", wanted="a pattern", where=operator.name)
        for item in s.items(clause.right):
            bare = s.bare(item)
            shown = bare.name if isinstance(bare, s.Variable) else None
            wires = [el.wire(env, item, name=shown, role="argument") for _ in range(patterns.arity(el, item))]
            for wire in wires:
                graph.producer[wire] = None
            graph.arguments += wires
            patterns.define(el, item, wires, env)
    iterate.body(el, operator.body, env)
    graph.results += instances.operator_results(el, operator, env)
    graph.size_params = [(z.name if isinstance(z, s.SizeName) else None, el.size(z, env)) for z in operator.interface.sizes or ()]
    el.size_words = {*env.sizes, *env.metas.sizes}
    resolve.settle(el)
    return el


def _scheme(name: str, graph: g.Graph, layout: Layout, deps: Dependencies, stateful: bool) -> Scheme:
    params = layout.params()
    number = {chunk: k for k, chunk in enumerate(params)}
    written = {w.chunk for node in g.scope_nodes(graph.body) for w in deps.writes(node)}

    def port(wire: g.Wire) -> Port:
        place = layout.place[wire]
        return Port(number[place.chunk], place.view, wire.type, wire.shown)

    return Scheme(
        name,
        tuple(graph.sizes),
        tuple(graph.size_params),
        tuple(graph.generics),
        tuple(ChunkInfo(c.name, c.type, c in written, c.role) for c in params),
        tuple(port(w) for w in graph.arguments),
        tuple(port(w) for w in graph.results),
        tuple(graph.requirements),
        stateful,
        names=dict(graph.size_names),
    )
