"""Code of operators, compiled, loaded, and called on NumPy arrays."""

from __future__ import annotations

import ctypes
import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from atoll.madl.binding import Arguments, positions, structure
from atoll.madl.c_file import CFile, Options
from atoll.madl.compiled import Compiled
from atoll.madl.layout import Chunk
from atoll.madl.lower import Lowered, LoweredOperator
from atoll.madl.pieces import chunk_leaf, leaf_index, leaves_of
from atoll.madl.typing import rebuild
from atoll.sizes import Atom, poly
from atoll.types.types import Type
from atoll.views.index_map import IDENTITY


class NativeFile:
    """Some operators in one shared object."""

    def __init__(self, operators: list[tuple[Compiled, tuple[Type, ...]]]) -> None:
        from atoll.runtime.cache import cache
        from atoll.runtime.toolchain import compile_c, compiler, target

        self.file = CFile("madl", list(operators), Options(visible=True))
        text = self.file.header() + self.file.source().replace('#include "madl.h"', "")
        cc = compiler()
        key = hashlib.sha256("\0".join(["madl", text, cc.version, " ".join(cc.flags("3")), target()]).encode()).hexdigest()

        def build(folder: Path) -> dict[str, Any]:
            (folder / "program.c").write_text(text)
            compile_c(folder / "program.c", folder / "program.so")
            return {}

        path, _ = cache.get(key, build)
        self.library = ctypes.CDLL(str(path))
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
        self._leaf = {b: (chunk, components) for (chunk, components), b in op.buffers.items()}

    def _function(self, native: NativeFile, fn: Lowered) -> Any:
        found = getattr(native.library, fn.name)
        found.restype = None
        found.argtypes = [ctypes.c_int64] * len(fn.sizes) + [ctypes.c_void_p] * len(fn.params)
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
                for leaf in leaves_of(self._type(chunk.type)):
                    shape = tuple(max(0, number(n)) for n in leaf.extents)
                    found[(chunk, leaf.components)] = np.zeros(shape, self.op.buffers[(chunk, leaf.components)].dtype.numpy)
        return found

    def _type(self, t: Type) -> Type:
        return rebuild(t, lambda x: self.generics.get(x, x), lambda p: p)

    def _call(self, function: Any, fn: Lowered, memory: dict[tuple[Chunk, tuple[int, ...]], Any], sizes: dict[Atom, int]) -> None:
        values = [sizes[sym] for sym in self.compiled.graph.sizes]
        pointers = [memory[self._leaf[b]].ctypes.data for b in fn.params]
        function(*values, *pointers)

    def reset(self, state: dict[tuple[Chunk, tuple[int, ...]], Any], sizes: dict[Atom, int]) -> None:
        if self.start is not None and self.op.reset is not None:
            memory = {**state, **self.allocate(("workspace",), sizes)}
            self._call(self.start, self.op.reset, memory, sizes)

    def run(self, given: Arguments, state: dict[tuple[Chunk, tuple[int, ...]], Any]) -> list[Any]:
        """One cycle: lay the arguments out, call, read the results."""
        sizes, number = given.sizes, self.number(given.sizes)
        memory = {**state, **self.allocate(("workspace",), sizes)}
        written = {c.name for c in self.compiled.scheme.chunks if c.written}
        borrowed: set[tuple[Chunk, tuple[int, ...]]] = set()
        for wire, parts in zip(self.compiled.graph.arguments, given.leaves, strict=True):
            place = self.layout.place[wire]
            for leaf in leaves_of(self._type(wire.type)):
                components, _ = leaf_index(place.map, leaf, tuple(poly(0) for _ in leaf.extents))
                key = (place.chunk, components)
                array = parts[leaf.components]
                if key not in memory and place.map == IDENTITY and place.chunk.name not in written:
                    memory[key] = array
                    borrowed.add(key)
                    continue
                if key not in memory:
                    memory.update(self._chunk(place.chunk, sizes, memory))
                if key in borrowed:
                    memory[key] = memory[key].copy()
                    borrowed.discard(key)
                target = memory[key].reshape(-1)
                extents = chunk_leaf(self._type(place.chunk.type), components).extents
                target[positions(place.map, leaf, extents, number)] = array
        for chunk in self.layout.params():
            memory.update(self._chunk(chunk, sizes, memory))
        self._call(self.cycle, self.op.cycle, memory, sizes)
        return [self._result(wire, memory, number, borrowed, state) for wire in self.compiled.graph.results]

    def _chunk(self, chunk: Chunk, sizes: dict[Atom, int], known: dict[Any, Any]) -> dict[tuple[Chunk, tuple[int, ...]], Any]:
        number = self.number(sizes)
        found = {}
        for leaf in leaves_of(self._type(chunk.type)):
            key = (chunk, leaf.components)
            if key not in known:
                shape = tuple(max(0, number(n)) for n in leaf.extents)
                found[key] = np.zeros(shape, self.op.buffers[key].dtype.numpy)
        return found

    def _result(self, wire: Any, memory: dict[Any, Any], number: Any, borrowed: set[Any], state: dict[Any, Any]) -> Any:
        place = self.layout.place[wire]
        parts = {}
        for leaf in leaves_of(self._type(wire.type)):
            components, _ = leaf_index(place.map, leaf, tuple(poly(0) for _ in leaf.extents))
            key = (place.chunk, components)
            array = memory[key]
            if place.map == IDENTITY and key not in borrowed and key not in state:
                parts[leaf.components] = array if leaf.extents else array[()]
                continue
            extents = chunk_leaf(self._type(place.chunk.type), components).extents
            found = array.reshape(-1)[positions(place.map, leaf, extents, number)]
            parts[leaf.components] = np.array(found) if leaf.extents else found[()]
        return structure(self._type(wire.type), parts)

