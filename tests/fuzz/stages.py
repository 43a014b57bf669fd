"""Every way to run a function. Each stage gives the leaves of the result, or raises."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

import numpy as np

import atoll as at
from atoll.check.compiled import certify
from atoll.core import values as v
from atoll.core.binding import bind_call
from atoll.function import Function
from atoll.lower.make import make_loops
from atoll.runtime.arguments import from_python
from atoll.sizes.describe import requirement

Runner = Callable[[tuple[Any, ...]], list[Any]]


class Failed(Exception):
    """Not used for comparison: a stage that cannot start."""


def leaves(value: Any) -> list[Any]:
    """The leaves of a result as a user sees it."""
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [leaf for f in dataclasses.fields(value) for leaf in leaves(getattr(value, f.name))]
    return [value]


class Stages:
    """The stages of one function; what they share is made once."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self._ainf: Any = None
        self._loops: Any = None
        self._rewritten: Any = None
        self._kernels: Any = None

    def runner(self, stage: str) -> Runner:
        if stage == "interpret":
            return lambda args: leaves(self.f.interpret(*args))
        if stage == "ainf":
            return self.run_ainf
        if stage.startswith("loops"):
            piece = int(stage.removeprefix("loops") or "3")
            return lambda args: self.run_loops(args, piece)
        if stage == "rewritten":
            if os.environ.get("ATOLL_CHECK") == "certify":
                certify(self.f.core)
            return self.run_rewritten
        if stage == "kernels":
            return self.run_kernels
        if stage in ("warps", "blocks", "rows"):
            return lambda args: self.run_groups(args, stage)
        if stage.startswith("cuda"):
            return lambda args: leaves(self.f.on(stage)(*args))
        if stage.startswith("O"):
            level, _, threads = stage[1:].partition("T")
            return lambda args: self.run_compiled(args, level, int(threads or "2"))
        raise ValueError(stage)

    def run_compiled(self, args: tuple[Any, ...], level: str, threads: int) -> list[Any]:
        at.set_threads(threads)
        return leaves(self.f.compile(level).call(*args))

    def _prepare(self, args: tuple[Any, ...]) -> tuple[list[Any], Any]:
        """Argument leaves and sizes, after the checks a call makes on entry."""
        from atoll.errors import fail

        fn = self.f.core
        values = from_python(fn, args)
        sizes = bind_call(fn, values)
        env: dict[Any, int] = dict(sizes)
        env.update({sym: int(x) for (sym, _), x in zip(fn.params, values, strict=True) if isinstance(x, np.integer)})
        for need in fn.requires:
            if need.poly.evaluate(lambda atom: env[atom]) < 0:
                text = requirement(need.poly, lambda atom: env[atom])
                fail("E0709", name=fn.name, what=need.text, line=need.span.line, need=text)
        return [leaf for value in values for leaf in v.leaves(value)], sizes

    def run_ainf(self, args: tuple[Any, ...]) -> list[Any]:
        from atoll.ainf.dead import remove_dead
        from atoll.ainf.evaluate import evaluate
        from atoll.ainf.from_core import translate

        given, sizes = self._prepare(args)
        if self._ainf is None:
            self._ainf = remove_dead(translate(self.f.core))
        return evaluate(self._ainf, given, sizes)

    def run_loops(self, args: tuple[Any, ...], piece: int) -> list[Any]:
        from atoll.loops.execute import execute

        given, sizes = self._prepare(args)
        if self._loops is None:
            self._loops = make_loops(self.f.core)
        return execute(self._loops, given, sizes, piece)


    def run_rewritten(self, args: tuple[Any, ...]) -> list[Any]:
        """The loops that are printed as C, executed."""
        from atoll.loops.execute import execute
        from atoll.lower.make import compiled_loops

        given, sizes = self._prepare(args)
        if self._rewritten is None:
            self._rewritten = compiled_loops(self.f.core)
        return execute(self._rewritten, given, sizes, 3)

    def run_kernels(self, args: tuple[Any, ...], backwards: bool = False) -> list[Any]:
        """The kernels for a GPU, executed with every access looked at."""
        from atoll.backends.cuda.execute import execute
        from atoll.backends.cuda.generate import lowered

        given, sizes = self._prepare(args)
        if self._kernels is None:
            self._kernels = lowered(self.f.core)
        return execute(self._kernels, given, sizes, backwards)

    def run_groups(self, args: tuple[Any, ...], lanes: str) -> list[Any]:
        """The same with every row for a warp or a block, in memory or in registers, which small sizes never have: what a race needs."""
        from unittest.mock import patch

        from atoll.backends.cuda import group, held
        from atoll.backends.cuda.execute import execute
        from atoll.backends.cuda.generate import lowered

        given, sizes = self._prepare(args)
        classes = ((32, 1, 64), (32, 3, 64)) if lanes == "rows" else ()
        with patch.multiple(group, SHORT=1, LONG=0 if lanes == "blocks" else 1 << 40, FEW=-1, LEAST=1 << 40 if lanes == "warps" else 2), patch.object(held, "CLASSES", classes):
            return execute(lowered(self.f.core), given, sizes)


FAST = ("interpret", "ainf", "loops1", "loops3", "loops100", "rewritten")
COMPILED = ("O0", "O3")
THREADS = ("O0T1", "O3T1", "O3T4")  # for big sizes: the same bits for any number of threads
