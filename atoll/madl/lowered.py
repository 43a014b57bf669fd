"""What operators are lowered to: functions of loops, with two statements more, and which buffers hold what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from atoll.loops import ir as lp
from atoll.madl.compiled import Compiled
from atoll.madl.layout import Chunk
from atoll.madl.scheme import Scheme
from atoll.sizes import Atom, Poly, Sym
from atoll.types.types import Type


@dataclass(slots=True)
class CopyPiece:
    """Copy `count` scalars that lie side by side, from one place to another."""

    target: lp.Buffer
    target_index: tuple[Poly, ...]
    source: lp.Buffer
    source_index: tuple[Poly, ...]
    count: Poly


@dataclass(slots=True)
class Invoke:
    """Call a function made from another operator."""

    function: FunctionName
    sizes: tuple[Poly, ...]
    args: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """The address of a buffer's element, and the buffer the callee declares for it; a value when it is passed as one."""

    buffer: lp.Buffer
    index: tuple[Poly, ...]
    formal: lp.Buffer | None
    by_value: bool = False
    writes: bool = False


@dataclass(frozen=True, slots=True)
class FunctionName:
    """Which function: an operator at types, its cycle or its reset; or an Atoll function."""

    scheme: Scheme
    types: tuple[Type, ...]
    part: str  # cycle, reset, external


@dataclass(slots=True)
class Lowered:
    """A function: parameters are the sizes, then the buffers of its chunks. `values` are those that are passed by value: scalars it only reads."""

    name: str
    sizes: tuple[Sym, ...]
    params: list[lp.Buffer]
    written: set[lp.Buffer]
    body: list[Any]
    calls: list[FunctionName] = field(default_factory=list)
    values: set[lp.Buffer] = field(default_factory=set)
    limits: dict[Atom, Poly] = field(default_factory=dict)  # the largest value of variables that hold an index


@dataclass(slots=True, eq=False)
class LoweredOperator:
    compiled: Compiled
    types: tuple[Type, ...]
    cycle: Lowered
    reset: Lowered | None
    buffers: dict[tuple[Chunk, tuple[int, ...]], lp.Buffer]
    tables: dict[lp.Buffer, Any] = field(default_factory=dict)  # buffers that never change, with what is in them
