"""How a call from Python is done once its sizes are known: which array is which memory. Made once per shapes of arguments, then used again.

    argument   lent       the whole of a memory that nobody writes: the caller's own array
               copied     the whole of a memory that is written: a copy of it, or with at.donate(x) the array itself
               laid       a view of a memory: its elements go to their positions in a new array
    result     taken      the whole of a new array
               gathered   from its positions; also what lies in an argument or in state, which the caller must not get hold of
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.madl.binding import positions
from atoll.madl.pieces import chunk_leaf, leaf_index, leaves_of
from atoll.madl.typing import prune
from atoll.madl.values import nest, part_of
from atoll.sizes import Atom, poly
from atoll.types.dtypes import fits
from atoll.types.types import Index
from atoll.views.index_map import IDENTITY

if TYPE_CHECKING:
    from atoll.madl.native import NativeOperator

Memory = dict[Any, Any]  # (chunk, components): array


def signature(args: tuple[Any, ...]) -> Any:
    """What a plan depends on: the types and shapes of arguments. None when they must be looked at one by one."""
    found: list[Any] = []
    for arg in args:
        kind = type(arg)
        if kind is np.ndarray:
            found.append((arg.dtype, arg.shape))
        elif kind is float or kind is int or kind is bool or issubclass(kind, np.generic):
            found.append(kind)
        elif issubclass(kind, tuple):
            inner = signature(arg)
            if inner is None:
                return None
            found.append(inner)
        else:
            return None
    return tuple(found)


def _alone(value: Any, leaves: list[Any]) -> bool:
    """An array that may be overwritten: no other argument lies in its memory."""
    return bool(value.flags.writeable) and not any(other is not value and np.may_share_memory(value, other) for other in leaves) and (
        sum(other is value for other in leaves) == 1
    )


@dataclass(slots=True)
class _Argument:
    """One leaf of an argument and where it goes."""

    number: int
    type: Any
    components: tuple[int, ...]
    dtype: Any
    scalar: bool
    range: int | None  # of an index
    key: Any
    how: str  # lent, copied, laid
    where: Any = None


@dataclass(slots=True)
class _Result:
    type: Any
    leaves: list[tuple[tuple[int, ...], Any, Any, bool]]  # components, key, positions (None: taken), scalar


class Plan:
    """A call at given sizes."""

    def __init__(self, native: NativeOperator, sizes: dict[Atom, int]) -> None:
        self.native, self.sizes = native, sizes
        number = native.number(sizes)
        layout, op = native.layout, native.compiled
        written = {c.name for c in op.scheme.chunks if c.written}
        self.values = [sizes[sym] for sym in op.graph.sizes]
        self.order = [(native.leaf_of[b], b in native.op.cycle.values) for b in native.op.cycle.params]
        state = {c for c in layout.params() if c.role == "state"}
        self.new: dict[Any, tuple[tuple[int, ...], Any]] = {}
        for chunk in layout.params():
            if chunk not in state:
                for leaf in leaves_of(native.actual(chunk.type)):
                    shape = tuple(max(0, number(n)) for n in leaf.extents)
                    self.new[(chunk, leaf.components)] = (shape, native.op.buffers[(chunk, leaf.components)].dtype.numpy)
        uses: dict[Any, int] = {}
        for wire in op.graph.arguments:
            for _, key, _ in self._leaves(wire, native):
                uses[key] = uses.get(key, 0) + 1
        self.arguments: list[_Argument] = []
        for n, wire in enumerate(op.graph.arguments):
            place = layout.place[wire]
            for leaf, key, extents in self._leaves(wire, native):
                t = prune(leaf.type)
                whole = place.map == IDENTITY and uses[key] == 1
                how = "laid" if not whole else "copied" if place.chunk.name in written else "lent"
                where = None if whole else positions(place.map, leaf, extents, number)
                bound = number(t.size) if isinstance(t, Index) else None
                dtype = native.op.buffers[key].dtype
                self.arguments.append(_Argument(n, wire.type, leaf.components, dtype, not leaf.extents, bound, key, how, where))
        lent = {a.key for a in self.arguments if a.how == "lent"}
        self.results: list[_Result] = []
        for wire in op.graph.results:
            place = layout.place[wire]
            parts = []
            for leaf, key, extents in self._leaves(wire, native):
                taken = place.map == IDENTITY and key not in lent and key[0] not in state
                parts.append((leaf.components, key, None if taken else positions(place.map, leaf, extents, number), not leaf.extents))
            self.results.append(_Result(native.actual(wire.type), parts))
        taken_twice = [key for r in self.results for _, key, where, _ in r.leaves if where is None]
        if len(taken_twice) != len(set(taken_twice)):
            self._separate(number, op, layout, native)
        self.single = len(self.results) == 1 and len(self.results[0].leaves) == 1 and self.results[0].leaves[0][0] == ()

    def _separate(self, number: Callable[[Any], int], op: Any, layout: Any, native: NativeOperator) -> None:
        """Two results that are one memory become two arrays."""
        seen: set[Any] = set()
        for wire, result in zip(op.graph.results, self.results, strict=True):
            leaves = {leaf.components: (leaf, extents) for leaf, _, extents in self._leaves(wire, native)}
            for k, (components, key, where, scalar) in enumerate(result.leaves):
                if where is None and key in seen:
                    leaf, extents = leaves[components]
                    result.leaves[k] = (components, key, positions(layout.place[wire].map, leaf, extents, number), scalar)
                seen.add(key)

    @staticmethod
    def _leaves(wire: Any, native: NativeOperator) -> list[tuple[Any, Any, Any]]:
        """Each leaf of a wire, the buffer it is in, and that buffer's extents."""
        place = native.layout.place[wire]
        found = []
        for leaf in leaves_of(native.actual(wire.type)):
            components, _ = leaf_index(place.map, leaf, tuple(poly(0) for _ in leaf.extents))
            extents = chunk_leaf(native.actual(place.chunk.type), components).extents
            found.append((leaf, (place.chunk, components), extents))
        return found

    # -- arguments of a later call with the same signature

    def leaves(self, args: tuple[Any, ...]) -> list[Any] | None:
        """One array per leaf; None when an argument is out of range, and must be told about."""
        found = []
        for a in self.arguments:
            value = args[a.number]
            if a.components:
                value = part_of(value, a.type, a.components)
            if a.scalar:
                if type(value) is int and not fits(value, a.dtype):
                    return None
                value = np.array(value, a.dtype.numpy)
            elif not value.flags.c_contiguous:
                value = np.ascontiguousarray(value)
            if a.range is not None and value.size and (value.min() < 0 or value.max() >= a.range):
                return None
            found.append(value)
        return found

    # -- a call

    def run(self, leaves: list[Any], state: Memory, donated: frozenset[int] = frozenset()) -> list[Any]:
        memory = dict(state)
        for a, value in zip(self.arguments, leaves, strict=True):
            if a.how == "lent" or (a.number in donated and a.how == "copied" and _alone(value, leaves)):
                memory[a.key] = value
            elif a.how == "copied":
                memory[a.key] = value.copy()
            else:
                if a.key not in memory:
                    memory[a.key] = np.zeros(*self.new[a.key])
                memory[a.key].reshape(-1)[a.where] = value
        for key, (shape, dtype) in self.new.items():
            if key not in memory:
                memory[key] = np.empty(shape, dtype)
        pointers = [memory[key].item() if value else memory[key].__array_interface__["data"][0] for key, value in self.order]
        self.native.cycle(*self.values, *pointers)
        if self.single:
            return [self._part(memory, *self.results[0].leaves[0][1:])]
        return [nest(r.type, {leaf[0]: self._part(memory, *leaf[1:]) for leaf in r.leaves}, ()) for r in self.results]

    @staticmethod
    def _part(memory: Memory, key: Any, where: Any, scalar: bool) -> Any:
        array = memory[key]
        if where is None:
            return array[()] if scalar else array
        found = array.reshape(-1)[where]
        return found[()] if scalar else np.array(found)
