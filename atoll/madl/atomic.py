"""Each operation alone can be done at its places (thesis 7.1.1).

    patterns        define every part of what they take apart
    writes          no cell twice
    copies          source and target are the same place or do not overlap; a scalar is read before it is written
    calls           a memory that is written overlaps no other memory of the call; every memory is in one piece
    arguments       are written by the caller, all of them and before anything is read: they overlap neither each other nor old state
"""

from __future__ import annotations

from typing import Any

from atoll.errors import fail
from atoll.madl import graph as g
from atoll.madl.depend import Dependencies
from atoll.madl.elaborate import Elaborator
from atoll.madl.known import Known
from atoll.madl.layout import Layout
from atoll.madl.pieces import is_one_piece
from atoll.madl.tell import where_is
from atoll.madl.typing import prune
from atoll.types.types import Index, Scalar
from atoll.views.index_map import IDENTITY

SAME_MOMENT = 10**6  # no index is renamed: both places are taken in one round


def check(el: Elaborator, layout: Layout, known: Known) -> None:
    graph = el.graph
    for span, name in el.not_onto:
        fail("E0932", span, notes=[f"{name} leaves cells out"], where=graph.name)
    for node in g.scope_nodes(graph.body):
        match node:
            case g.Op(output=wire) | g.Copy(target=wire):
                _injective(layout, wire, node.span)
        if isinstance(node, g.Copy):
            _copy(layout, known, node)
        if isinstance(node, g.Call):
            _call(layout, known, node)
    _arguments(layout, known)


def _injective(layout: Layout, wire: g.Wire, span: Any) -> None:
    place = layout.place[wire]
    if place.chunk.role == "index":
        fail("E0938", span, notes=[f"{wire.shown} would overwrite a loop index"], where=layout.graph.name)
    if not place.view.injective:
        note = f"{wire.shown} is written at a view of {place.chunk.name} that shows a cell more than once"
        fail("E0931", span, notes=[note], where=layout.graph.name)


def _copy(layout: Layout, known: Known, node: g.Copy) -> None:
    source, target = layout.place[node.source], layout.place[node.target]
    if source.chunk is not target.chunk or source.map == target.map:
        return
    if isinstance(prune(node.source.type), (Scalar, Index)):
        return
    if not known.disjoint(source.map, target.map, SAME_MOMENT):
        names = layout.graph.size_names
        told = [where_is(p.map, p.chunk.name, names) for p in (source, target)]
        notes = [f"the source is {told[0]}, the target {told[1]}"]
        fail("E0933", node.span, notes=notes, where=layout.graph.name)


def _call(layout: Layout, known: Known, node: g.Call) -> None:
    infos = node.scheme.chunks
    for info, wire in zip(infos, node.chunks, strict=True):
        if not info.written:
            continue
        _injective(layout, wire, node.span)
        for other_info, other in zip(infos, node.chunks, strict=True):
            if other is wire or layout.chunk(other) is not layout.chunk(wire):
                continue
            if not known.disjoint(layout.map(wire), layout.map(other), SAME_MOMENT):
                notes = [f"{node.name} writes {info.name} and also uses {other_info.name}; both are in {layout.told(wire)}"]
                fail("E0934", node.span, notes=notes, where=layout.graph.name)


def scattered(layout: Layout) -> list[g.Call]:
    """Calls with a memory that is not in one piece."""
    return [
        node
        for node in g.scope_nodes(layout.graph.body)
        if isinstance(node, g.Call)
        and any(not is_one_piece(layout.map(w), w.type, layout.chunk(w).type) for w in node.chunks)
    ]


def refuse_scattered(layout: Layout, node: g.Call) -> None:
    wire = next(w for w in node.chunks if not is_one_piece(layout.map(w), w.type, layout.chunk(w).type))
    notes = [f"{wire.text} would be {layout.told(wire)}, which is not one piece of memory"]
    fail("E0936", node.span, notes=notes, help="copy it: !..", where=layout.graph.name)


def _arguments(layout: Layout, known: Known) -> None:
    graph = layout.graph
    for arg in graph.arguments:
        place = layout.place[arg]
        if not place.view.injective and place.map.dims and place.map != IDENTITY:
            note = f"the caller writes {arg.shown}, at a view of {layout.chunk(arg).name} that shows a cell more than once"
            fail("E0931", arg.span, notes=[note], where=graph.name)
    for k, first in enumerate(graph.arguments):
        for second in graph.arguments[:k]:
            if layout.chunk(first) is layout.chunk(second) and not known.disjoint(layout.map(first), layout.map(second), SAME_MOMENT):
                help_ = f"copy them where they meet: !{second.shown}, !{first.shown}"
                fail("E0941", first.span, first=second.shown, second=first.shown, help=help_, where=graph.name)


def check_inputs(deps: Dependencies) -> None:
    """The caller writes the arguments before the cycle starts: old state may not lie there."""
    graph, layout = deps.graph, deps.layout
    kept = [(flow, old.shown, old.span) for flow, old in graph.body.lasts]
    for node in graph.body.nodes:
        kept += [(read.wire, read.wire.shown, read.wire.span) for read in deps.persistent(node)]
    for flow, shown, span in kept:
        for arg in graph.arguments:
            if layout.chunk(arg) is not layout.chunk(flow) or deps.known.disjoint(layout.map(arg), layout.map(flow), 0):
                continue
            notes = [f"the caller writes {arg.shown} before the cycle starts, at the place where {shown} is to be read"]
            if arg.shown != flow.shown:
                notes.append(f"{arg.shown} and {flow.shown} share memory: {layout.told(flow)}")
            fail("E0940", span, notes=notes, help=f"keep a copy as the state: last (!{arg.shown} init ..)", where=graph.name)
