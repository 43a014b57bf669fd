"""What memory a compiled program uses: every allocation and every copy, with its place, its size and the reason."""

from __future__ import annotations

from dataclasses import dataclass

from atoll.core import ir as core
from atoll.core.rewrite import called, walk
from atoll.errors import Span, fail
from atoll.loops import ir as lp
from atoll.sizes import Poly, poly


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
    for stmt in lp.walk(fn.body):
        if isinstance(stmt, lp.Alloc) and stmt.buffer.kind != "out":
            b = stmt.buffer
            kind = "copy" if b.reason.startswith("copy: ") else "temporary"
            uses.append(Use(kind, b.name, _bytes(b), b.reason.removeprefix("copy: "), b.span))
        elif isinstance(stmt, lp.CopyBuffer):
            reason = f"{stmt.source.name} must not change" if stmt.source.kind == "in" else f"{stmt.source.name} is needed again"
            uses.append(Use("copy", stmt.target.name, _bytes(stmt.target), reason, stmt.target.span))
    return Memory(fn.name, tuple(uses))


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
    for n in b.extents:
        total = total * n
    return total
