"""What memory a compiled program uses: every allocation and every copy, with its place, its size and the reason."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from atoll.core import ir as core
from atoll.core.rewrite import called, walk
from atoll.errors import Span, fail
from atoll.loops import ir as lp
from atoll.sizes import Poly, poly

_SORT = 32  # bytes per element: two arrays of pairs of a key and a place (backends/c/sort.py)


@dataclass(frozen=True, slots=True)
class Use:
    """One array the program allocates or copies. `bytes` is a polynomial of the sizes."""

    kind: str  # result, temporary, copy
    name: str
    bytes: Poly
    reason: str
    span: Span

    def __repr__(self) -> str:
        line = f"line {self.span.line}" if self.span.line else ""
        return f"{self.kind:<10} {self.name:<12} {self.bytes!r:<20} bytes  {self.reason}{'  (' + line + ')' if line else ''}"


@dataclass(frozen=True, slots=True)
class Memory:
    """`f.memory()`: iterate over its uses, or print it."""

    function: str
    uses: tuple[Use, ...]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self.uses)

    def __len__(self) -> int:
        return len(self.uses)

    @property
    def temporaries(self) -> tuple[Use, ...]:
        return tuple(u for u in self.uses if u.kind == "temporary")

    @property
    def copies(self) -> tuple[Use, ...]:
        return tuple(u for u in self.uses if u.kind == "copy")

    def __repr__(self) -> str:
        if not self.uses:
            return f"{self.function}: no memory"
        return "\n".join([f"{self.function}:", *(f"  {u!r}" for u in self.uses)])


def memory(fn: lp.Function) -> Memory:
    """The uses of a loop function, results first."""
    uses = [Use("result", o.buffer.name, _bytes(o.buffer), "returned", o.buffer.span) for o in fn.outputs]
    seen: set[lp.Buffer] = set()  # what is allocated in both branches of a condition counts once
    for stmt in lp.walk(fn.body):
        if isinstance(stmt, lp.Alloc) and stmt.buffer.kind != "out" and not stmt.buffer.local:
            b = stmt.buffer
            if b in seen:
                continue
            seen.add(b)
            kind = "copy" if b.reason.startswith("copy: ") else "temporary"
            uses.append(Use(kind, b.name, _bytes(b), b.reason.removeprefix("copy: "), b.span))
        elif isinstance(stmt, lp.CopyBuffer):
            reason = f"{stmt.source.name} must not change" if stmt.source.kind == "in" else f"{stmt.source.name} is needed again"
            uses.append(Use("copy", stmt.target.name, _bytes(stmt.target), reason, stmt.target.span))
        elif isinstance(stmt, lp.Helper) and stmt.name == "argsort":
            uses.append(Use("temporary", "sort", _SORT * stmt.sizes[0], "keys and places while sorting", stmt.buffers[0][0].span))
    return Memory(fn.name, tuple(uses))


def donations(fn: lp.Function) -> list[tuple[int, int]]:
    """(input, output): results that begin as a copy of an input which is not read otherwise, so that they may live in its memory."""
    found = []
    for k, source in enumerate(fn.inputs):
        if not isinstance(source, lp.Buffer):
            continue
        copies = [s for s in fn.body if isinstance(s, lp.CopyBuffer) and s.source is source]
        if len(copies) != 1 or _mentions(fn.body, source) != 1:
            continue
        for j, o in enumerate(fn.outputs):
            if o.buffer is copies[0].target and o.buffer.dtype is source.dtype and o.buffer.extents == source.extents:
                found.append((k, j))
    return found


def _mentions(x: object, buffer: lp.Buffer) -> int:
    """How often a buffer occurs in statements and expressions."""
    if x is buffer:
        return 1
    if isinstance(x, (list, tuple)):
        return sum(_mentions(item, buffer) for item in x)
    if dataclasses.is_dataclass(x) and type(x).__module__ == lp.__name__ and not isinstance(x, (lp.Buffer, lp.Var)):
        return sum(_mentions(getattr(x, f.name), buffer) for f in dataclasses.fields(x))
    return 0


def refuse_copies(fn: core.Function) -> None:
    """copies="explicit": there are no more copies in the compiled program than at.copy wrote."""
    from atoll.runtime.program import make_loops

    needed = memory(make_loops(fn)).copies
    written = sum(isinstance(node, core.Copy) for f in called(fn) for node in walk(f.body))
    if len(needed) > written:
        first = needed[written]
        fail("E0807", first.span, name=fn.name, reason=f"{first.reason} ({first.bytes!r} bytes)")


def _bytes(b: lp.Buffer) -> Poly:
    total = poly(b.dtype.size)
    for n in b.extents if b.rows is None else (poly(b.rows), *b.extents[1:]):
        total = total * n
    return total
