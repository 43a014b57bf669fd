"""MADL, the memory-aware declarative language: sizes, places and order are inferred, copies are only where they are written.

A program goes through analyses, never through transformations; each is a file, read in this order:

    grammar, parse       text to syntax                      syntax.py is the grammar in prose
    levels               several dimensions in one `forward` become nested ones
    kinds                which operators only rearrange (patt, view) and may be used in patterns
    graph                what a program becomes: wires, relations between places, computing nodes, scopes
    elaborate, ...       syntax to graph: names, arity, types and sizes; expressions, patterns, iterate, state, instances
    causality            every value is defined before it is used
    built                where the part of an array that is already built lies
    locations, layout    which wires share which memory; every wire gets a place: a chunk and an index map
    initial              every `last` reads what an `init` has written
    atomic, iteration    each operation, and each loop, can be done at its places
    schedule             an order in which nothing is overwritten before it is read
    scheme               what callers see: types, chunks, what is written
    oracle               the two-sided semantics, run: every read must meet the value it means
    lower, c_file        loops (atoll/loops) and C99; c_names: the names a C file may not use
    binding, plan        arguments from Python: their sizes, and which array is which memory
    api, node, command   at.madl, at.node; the `atoll` command on .madl files

Sources: docs/sources.md, Pauget (the thesis, and what a trial showed). The language is described in docs/madl.md.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from atoll.errors.plain import plain


class _Package(ModuleType):
    """`at.madl` is this package and the function that reads .madl files: whichever part of it was imported first."""

    @plain
    def __call__(self, path: Any = None, *, source: str | None = None, separate: bool = False, problems: Any = None) -> Any:
        from atoll.madl.api import madl

        return madl(path, source=source, separate=separate, problems=problems)


sys.modules[__name__].__class__ = _Package
