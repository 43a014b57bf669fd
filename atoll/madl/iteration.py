"""Each loop can be done at its places: no round destroys what another needs. The scheduler sees a loop as one node, so this is checked apart.

    read      what a round reads from outside was not overwritten by an earlier round          (thesis 7.1.1, specified there)
    kept      an element of an array that a round has built is not overwritten by a later one    (docs/sources.md M6, 6b)
    distant   what `last` reads at a place that moves with the index was not overwritten by an earlier round   (6c)
    start     what the rounds read from outside was not overwritten when the scope started
    branch    the state of one branch is not overwritten by the other

Reads through `last` and through the alias of an array under construction want earlier rounds' writes, so they are not reads from outside.
"""

from __future__ import annotations

import itertools
from typing import NoReturn

from atoll.errors import fail
from atoll.madl import graph as g
from atoll.madl.depend import Dependencies, Read, Write
from atoll.madl.tell import cell


def check(deps: Dependencies) -> None:
    for scope in deps.graph.scopes():
        if scope.kind == "loop":
            _loop(deps, scope)
        if scope.kind in ("loop", "block", "branch"):
            _start(deps, scope)
    for node in g.scope_nodes(deps.graph.body):
        if isinstance(node, g.Nest) and len(node.scopes) > 1:
            _branch(deps, node)


def _loop(deps: Dependencies, scope: g.Scope) -> None:
    assert scope.index is not None
    if (rounds := scope.extent.const()) is not None and rounds <= 1:
        return  # there is no other round
    writes = deps.body_writes(scope)
    outside = scope.depth - 1
    for read in deps.outer_reads(scope):
        for write in writes:
            if deps.conflicts(read, write, outside, (scope.index, "before")):
                _refuse_read(deps, scope, read, write)
    for element, _ in scope.aggregates:
        kept = Read(element, (deps.layout.map(element),))
        for write in writes:
            if deps.conflicts(kept, write, outside, (scope.index, "after")):
                note = f"round {_name(scope)} makes {element.shown} at {deps.layout.told(element)}"
                _refuse(deps, scope, note, write, "a later round")
    for inner in deps.graph.scopes():
        if not inner.within(scope):
            continue
        for _, old in inner.lasts:
            if scope.index not in deps.layout.map(old).symbols():
                continue
            for write in writes:
                if deps.conflicts(Read(old, (deps.layout.map(old),)), write, outside, (scope.index, "before")):
                    note = f"round {_name(scope)} reads {old.shown} at {deps.layout.told(old)}"
                    _refuse(deps, scope, note, write, "an earlier round")


def _start(deps: Dependencies, scope: g.Scope) -> None:
    for read in deps.outer_reads(scope):
        for write in deps.start_writes(scope):
            if deps.conflicts(read, write, scope.depth - 1):
                note = f"{read.wire.shown} is read here, at {deps.layout.told(read.wire)}"
                _refuse(deps, scope, note, write, "the start of this scope")


def _branch(deps: Dependencies, node: g.Nest) -> None:
    for scope, other in itertools.permutations(node.scopes, 2):
        kept = [Read(w, (deps.layout.map(w),)) for w, _ in scope.lasts]
        kept += [read for inner in scope.nodes for read in deps.persistent(inner)]
        for read in kept:
            for write in [*deps.start_writes(other), *deps.body_writes(other)]:
                if deps.conflicts(read, write, scope.depth - 1):
                    note = f"one branch keeps {read.wire.shown} from cycle to cycle, at {deps.layout.told(read.wire)}"
                    _refuse(deps, scope, note, write, "the other branch")


def _name(scope: g.Scope) -> str:
    return scope.index_name or "i"


def _refuse_read(deps: Dependencies, scope: g.Scope, read: Read, write: Write) -> NoReturn:
    chunk = deps.layout.chunk(read.wire)
    shown = cell(read.within[-1], chunk.name, deps.graph.size_names)
    note = f"round {_name(scope)} reads {read.wire.shown} at {shown}"
    _refuse(deps, scope, note, write, "an earlier round")


def _refuse(deps: Dependencies, scope: g.Scope, note: str, write: Write, who: str) -> NoReturn:
    target = cell(write.map, write.chunk.name, deps.graph.size_names)
    notes = [note, f"{who} may have overwritten it: it writes {write.wire.shown} at {target} (line {write.wire.span.line})"]
    if who == "a later round":
        notes[1] = f"a later round may overwrite it: it writes {write.wire.shown} at {target} (line {write.wire.span.line})"
    help_ = "copy what is read before the loop, or give the result a place of its own"
    if scope.kind == "branch":
        help_ = f"what lives on in several bodies is initialised before them: {write.chunk.name} init ..; state of one body has a name of its own there"
    fail("E0935", scope.span, notes=notes, help=help_, where=deps.graph.name)
