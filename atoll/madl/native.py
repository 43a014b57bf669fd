"""Code of operators, compiled, loaded, and called on NumPy arrays."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from atoll.madl.binding import Arguments
from atoll.madl.c_file import CFile, Options
from atoll.madl.compiled import Compiled
from atoll.madl.layout import Chunk
from atoll.madl.lowered import Lowered, LoweredOperator
from atoll.madl.pieces import leaves_of
from atoll.madl.plan import Plan
from atoll.madl.typing import rebuild
from atoll.runtime.cache import cache
from atoll.runtime.identity import text_key
from atoll.runtime.library import load
from atoll.runtime.toolchain import compile_c
from atoll.sizes import Atom
from atoll.types.dtypes import DType
from atoll.types.types import Type


def c_type(dtype: DType) -> Any:
    """The type of a scalar that is passed by value."""
    return {"bool": ctypes.c_bool, "f32": ctypes.c_float, "f64": ctypes.c_double}.get(dtype.name) or getattr(
        ctypes, f"c_{'u' if dtype.kind == 'u' else ''}int{dtype.bits}"
    )


class NativeFile:
    """Some operators in one shared object."""

    def __init__(self, operators: list[tuple[Compiled, tuple[Type, ...]]]) -> None:
        self.file = CFile("madl", list(operators), Options(visible=True))
        text = self.file.header() + self.file.source().replace('#include "madl.h"', "")

        def build(folder: Path) -> dict[str, Any]:
            (folder / "program.c").write_text(text)
            compile_c(folder / "program.c", folder / "program.so")
            return {}

        self.library, _, _ = cache.use(text_key("madl", text), build, load)
        self.operators = {(op.compiled, op.types): op for op in self.file.exported}

    def operator(self, compiled: Compiled, types: tuple[Type, ...]) -> NativeOperator:
        return NativeOperator(self, self.operators[(compiled, types)])


class NativeOperator:
    """One operator: its functions and the memory they take."""

    def __init__(self, native: NativeFile, op: LoweredOperator) -> None:
        self.op, self.compiled = op, op.compiled
        self.layout = op.compiled.layout
        self.generics = dict(zip(op.compiled.graph.generics, op.types, strict=True))
        self.cycle = self._function(native, op.cycle)
        self.start = self._function(native, op.reset) if op.reset is not None else None
        self.leaf_of = {b: (chunk, components) for (chunk, components), b in op.buffers.items()}

    def _function(self, native: NativeFile, fn: Lowered) -> Any:
        found = getattr(native.library, fn.name)
        found.restype = None
        found.argtypes = [ctypes.c_int64] * len(fn.sizes) + [c_type(b.dtype) if b in fn.values else ctypes.c_void_p for b in fn.params]
        return found

    # -- memory

    def number(self, sizes: dict[Atom, int]) -> Any:
        env: dict[Any, int] = dict(sizes)
        return lambda p: p.evaluate(env)

    def allocate(self, roles: tuple[str, ...], sizes: dict[Atom, int]) -> dict[tuple[Chunk, tuple[int, ...]], Any]:
        """New arrays for the chunks with these roles."""
        number = self.number(sizes)
        found = {}
        for chunk in self.layout.params():
            if chunk.role in roles:
                for leaf in leaves_of(self.actual(chunk.type)):
                    shape = tuple(max(0, number(n)) for n in leaf.extents)
                    found[(chunk, leaf.components)] = np.zeros(shape, self.op.buffers[(chunk, leaf.components)].dtype.numpy)
        return found

    def actual(self, t: Type) -> Type:
        """A type with its type variables known."""
        return rebuild(t, lambda x: self.generics.get(x, x), lambda p: p)

    def _call(self, function: Any, fn: Lowered, memory: dict[tuple[Chunk, tuple[int, ...]], Any], sizes: dict[Atom, int]) -> None:
        values = [sizes[sym] for sym in self.compiled.graph.sizes]
        pointers = [memory[self.leaf_of[b]].item() if b in fn.values else memory[self.leaf_of[b]].ctypes.data for b in fn.params]
        function(*values, *pointers)

    def reset(self, state: dict[tuple[Chunk, tuple[int, ...]], Any], sizes: dict[Atom, int]) -> None:
        if self.start is not None and self.op.reset is not None:
            memory = {**state, **self.allocate(("workspace",), sizes)}
            self._call(self.start, self.op.reset, memory, sizes)

    def run(self, given: Arguments, state: dict[tuple[Chunk, tuple[int, ...]], Any]) -> list[Any]:
        """One cycle: lay the arguments out, call, read the results."""
        leaves = [array for parts in given.leaves for array in parts.values()]
        return Plan(self, given.sizes).run(leaves, state)
