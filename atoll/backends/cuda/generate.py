"""The two texts of a function for a GPU: its kernels and its host program."""

from __future__ import annotations

from dataclasses import dataclass

from atoll.ainf.ir import Site
from atoll.backends.cuda import language as k
from atoll.backends.cuda.host_text import host_text
from atoll.backends.cuda.lower import to_kernels
from atoll.backends.cuda.text import kernels_text
from atoll.core import ir as core
from atoll.loops import ir as lp
from atoll.lower.make import make_loops


@dataclass(frozen=True, slots=True)
class Generated:
    """What is compiled, and what is needed to talk about it."""

    kernels_text: str
    kernels: tuple[tuple[str, tuple[str, ...]], ...]  # name and types of parameters, in the order launches count
    host_text: str
    sites: list[Site]
    kinds: list[str]
    prints: list[lp.Print]
    program: k.Program


def lowered(core_fn: core.Function) -> k.Program:
    """The kernels and the host program of a function."""
    return to_kernels(make_loops(core_fn, in_memory=False), core_fn.reassociate, not core_fn.portable)


def generate(core_fn: core.Function) -> Generated:
    program = lowered(core_fn)
    text, table, failures = kernels_text(program)
    host, printer = host_text(core_fn, program, failures)
    return Generated(text, tuple(table), host, printer.sites, printer.kinds, printer.prints, program)
