"""Every `last`, and every {.}, reads a memory that an `init` has written, exactly once (thesis 4.3.4, on places: docs/sources.md M7).

    complete   the place of what is read is covered by the places of flows with an initial value
    in time    every scope around the read but not around the init goes on between cycles (resume), and no scope around the
               init but not around the read restarts
    once       two initial values of the same restart do not overlap
    one place  a flow with an initial value is not the element of an array that the loop around it builds
"""

from __future__ import annotations

from atoll.errors import Span, fail
from atoll.madl import graph as g
from atoll.madl.elaborate import Elaborator
from atoll.madl.known import Known
from atoll.madl.layout import Layout


def _starts(graph: g.Graph) -> list[g.Start]:
    return list(dict.fromkeys(start for scope in graph.scopes() for start in scope.starts))


def check(el: Elaborator, layout: Layout, known: Known) -> None:
    graph = el.graph
    initialised = [(flow, start) for start in _starts(graph) for flow, _ in start.targets]
    _one_place(el, layout, initialised)
    for scope in graph.scopes():
        reads = [(w, old.span) for w, old in scope.lasts]
        if scope.kind == "loop":
            reads += [(w, whole.span) for w, whole in scope.accumulates]
        for flow, span in reads:
            _complete(layout, known, scope, flow, initialised, span)
    _once(layout, known, initialised)
    for span, note, help_ in sorted(layout.escapes, key=lambda e: (e[0].line, e[0].column)):
        fail("E0919", span, notes=[note], help=help_, where=graph.name)


def _one_place(el: Elaborator, layout: Layout, initialised: list[tuple[g.Wire, g.Start]]) -> None:
    graph = el.graph
    for flow, start in initialised:
        for sym in layout.map(flow).symbols():
            loop = graph.loops.get(sym)
            if loop is not None and loop.within(start.owner) and start.within.within(loop):
                here = next((el.aggregated_at[w] for w, _ in loop.aggregates if w in el.aggregated_at), None)
                if here:
                    notes, help_ = [f"Aggregated here: line {here.line}, {' '.join(here.text().split())}"], None
                else:
                    notes = [f"{flow.shown} is at {layout.told(flow)}, a place that moves from round to round; state stays where it is"]
                    help_ = f"copy what it becomes: {flow.shown} = !.."
                fail("E0923", start.span, notes=notes, help=help_, where=graph.name)


def _complete(
    layout: Layout, known: Known, scope: g.Scope, flow: g.Wire, initialised: list[tuple[g.Wire, g.Start]], span: Span
) -> None:
    chunk, here = layout.chunk(flow), layout.map(flow)
    near: list[tuple[g.Wire, g.Start]] = []
    late: list[tuple[g.Wire, g.Start]] = []
    for other, start in initialised:
        if layout.chunk(other) is not chunk:
            continue
        if known.disjoint(layout.map(other), here, -1):
            continue
        (near if _in_time(scope, start.within) else late).append((other, start))
    if known.covers([layout.map(other) for other, _ in near], here):
        return
    notes = [f"{flow.shown} has no initial value"]
    if late:
        other, start = late[0]
        notes = [f"the initial value of {other.shown} (line {start.span.line}) does not reach here: a scope in between restarts"]
    elif isinstance(layout.graph.producer.get(flow), g.Copy):
        copied = layout.graph.producer[flow]
        assert isinstance(copied, g.Copy)
        notes = [f"{flow.shown} is a copy, made in a memory of its own; initial values do not pass through copies"]
        help_ = f"write !last {copied.source.shown}, or ({flow.shown} init ..)"
        fail("E0921", span, notes=notes, help=help_, where=layout.graph.name)
    help_ = f"write {flow.shown} init .."
    if isinstance(layout.graph.producer.get(flow), g.Nest) and flow.name:
        help_ = f"write {flow.shown} init ..; before the bodies that define it"
    elif flow.role == "argument" or flow in layout.graph.arguments or any(layout.chunk(a) is chunk for a in layout.graph.arguments):
        help_ = f"keep a copy as the state: last (!{flow.shown} init ..)"
    fail("E0921", span, notes=notes, help=help_, where=layout.graph.name)


def _in_time(reads: g.Scope, starts: g.Scope) -> bool:
    around_read, around_init = list(reads.chain()), list(starts.chain())
    return all(s.reset == "resume" for s in around_read if s not in around_init) and all(
        s.reset != "restart" for s in around_init if s not in around_read
    )


def _once(layout: Layout, known: Known, initialised: list[tuple[g.Wire, g.Start]]) -> None:
    for k, (flow, start) in enumerate(initialised):
        for other, earlier in initialised[:k]:
            if start.owner is not earlier.owner or layout.chunk(flow) is not layout.chunk(other):
                continue
            if not known.disjoint(layout.map(flow), layout.map(other), -1):
                notes = [f"Initialized also here: line {earlier.span.line}, {' '.join(earlier.span.text().split())}"]
                if flow is not other and flow.shown != other.shown:
                    notes.append(f"{flow.shown} and {other.shown} share memory: {layout.told(flow)}")
                fail("E0922", start.span, notes=notes, help=_initialised_once(start, earlier), where=layout.graph.name)


def _initialised_once(start: g.Start, earlier: g.Start) -> str | None:
    """In the bodies of an `if`, a match or an automaton what they define is one value, with one first value."""
    texts = [" ".join(x.span.text().split()) for x in (earlier, start)]
    inside = [x.within.kind == "branch" for x in (earlier, start)]
    if all(inside):
        return f"initialise it once, before the bodies: {texts[0]}; state of one body has a name of its own there"
    return f"keep only `{texts[inside.index(False)]}`" if any(inside) else None
