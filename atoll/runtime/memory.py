"""What memory a compiled program uses: every allocation and every copy, with its place, its size and the reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from atoll.core import ir as core
from atoll.errors import NOWHERE, Span, fail
from atoll.loops import ir as lp
from atoll.lower.copies import EVERY_ROUND, SOME_ROUNDS
from atoll.lower.make import compiled_loops
from atoll.sizes import Poly, poly
from atoll.types.types import flatten

if TYPE_CHECKING:
    from atoll.pictures import Picture

_SORT = 16  # bytes per element: two arrays of pairs of a key and a place (backends/c/sort.py)


@dataclass(frozen=True, slots=True)
class Use:
    """One array the program allocates or copies. `bytes` is a polynomial of the sizes."""

    kind: str  # result, temporary, copy
    name: str
    bytes: Poly
    reason: str
    span: Span

    def __repr__(self) -> str:
        line = f"line {self.span.told().line}" if self.span.line else ""
        return f"{self.kind:<10} {self.name:<12} {lp.in_words(self.bytes):<20} bytes  {self.reason}{'  (' + line + ')' if line else ''}"


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

    def plot(self, **sizes: int | Sequence[int]) -> Picture:
        """Bars of the bytes at these sizes (1000 where none is given); with a sequence for one of them, curves over it: plot(n=[100, 1000, 10000])."""
        from atoll.pictures import bars, curves

        names = sorted({repr(leaf) for u in self.uses for leaf in u.bytes.leaves()})
        for odd in [name for name in sizes if name not in names]:
            fail("E0610", name="plot", text=f"{self.function} has no size {odd}; it has {', '.join(names) or 'none'}", help="give sizes by name: plot(n=1000)")
        many = [(name, [int(x) for x in given]) for name, given in sizes.items() if not isinstance(given, int)]
        if len(many) > 1:
            fail("E0610", name="plot", text="one size may be a sequence, not two", help="give a number for the others")

        def total(u: Use, at: Mapping[str, int]) -> int:
            return u.bytes.evaluate(lambda a: at.get(repr(a), 1000))

        fixed = {name: given for name, given in sizes.items() if isinstance(given, int)}
        said = ", ".join(f"{name} = {fixed.get(name, 1000):,}" for name in names if name not in dict(many))
        if not many:
            return bars(f"{self.function}: memory" + (f" at {said}" if said else ""), [(u.kind, u.name, total(u, fixed), f"{u.reason}: {u.bytes} bytes") for u in self.uses])
        name, xs = many[0]
        series = {u.name: [float(total(u, {**fixed, name: x})) for x in xs] for u in self.uses}
        return curves(f"{self.function}: memory over {name}" + (f" at {said}" if said else ""), name, xs, series, "bytes")

    def _repr_html_(self) -> str:
        from atoll.pages import memory as page

        return page(self)


def memory(loops: lp.Function, fn: core.Function | None = None, returned: Span = NOWHERE) -> Memory:
    """The uses of a loop function, results first; `fn` is the function it was made from, `returned` where it says what its result is."""
    uses = [Use("result", o.buffer.name, bytes_of(o.buffer), "returned", returned) for o in loops.outputs]
    seen: set[lp.Buffer] = set()  # what is allocated in both branches of a condition counts once
    for stmt in lp.walk(loops.body):
        if isinstance(stmt, lp.Alloc) and stmt.buffer.kind != "out" and not stmt.buffer.local:
            b = stmt.buffer
            if (b.copy_of or b) not in seen:
                seen.add(b.copy_of or b)
                uses.append(Use("temporary", b.shown, bytes_of(b), b.reason, b.span))
        elif isinstance(stmt, lp.Helper) and stmt.name in ("argsort", "sort"):
            each = _SORT if stmt.name == "argsort" else 2 * stmt.buffers[0][0].dtype.size
            uses.append(Use("temporary", "sort", each * stmt.sizes[0], "keys and places while sorting" if stmt.name == "argsort" else "keys while sorting", stmt.buffers[0][0].span))
    return Memory(loops.name, (*uses, *copies_of(loops, fn, returned)))


def copies_of(loops: lp.Function, fn: core.Function | None, returned: Span) -> list[Use]:
    """The copies of arrays that loops make."""
    return [_use(loops, fn, c, returned) for c in _copies(loops)]


def _copies(loops: lp.Function) -> list[lp.Copied]:
    """Copies to memory that is still there after the rewrites of loops."""
    made = {s.buffer.copy_of or s.buffer for s in lp.walk(loops.body) if isinstance(s, lp.Alloc)} | {o.buffer for o in loops.outputs}
    found = [dataclasses.replace(c, target=c.target.home or c.target, source=c.source.home or c.source) for c in loops.copied]
    return [c for c in found if c.target in made and c.target is not c.source and (c.source.kind != "temp" or c.source in made)]


def _use(loops: lp.Function, fn: core.Function | None, c: lp.Copied, returned: Span) -> Use:
    reason = c.reason
    if fn is not None and c.source in _owned(loops, fn):
        name = c.source.name
        reason = f"{name} is at.own: copied unless the caller writes at.donate" if _given_away(loops, fn, c) else f"{name} is at.own, but needed beside what it becomes"
    return Use("copy", c.target.shown, c.bytes, f"{reason}, {c.each}" if c.each else reason, c.span if c.span.line else returned)


def _given_away(loops: lp.Function, fn: core.Function, c: lp.Copied) -> bool:
    """True when the copy is not made for a caller that gives its argument away."""
    pairs = [(loops.inputs[k], loops.outputs[j].buffer) for k, j in donations(loops)]
    return c.source in _owned(loops, fn) and any(source is c.source and target is c.target for source, target in pairs)


def _owned(loops: lp.Function, fn: core.Function) -> list[lp.Buffer]:
    """The arrays that are declared at.own."""
    owned = [own for (_, p), own in zip(fn.params, fn.owned, strict=False) for _ in flatten(p)]
    return [x for x, own in zip(loops.inputs, owned, strict=False) if own and isinstance(x, lp.Buffer)]


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
    return sum(_mentions(getattr(x, name), buffer) for name in lp.FIELDS.get(type(x), ()))


def refuse_copies(fn: core.Function, returned: Span = NOWHERE) -> None:
    """copies="explicit": every array is copied no more often than at.copy wrote it, unless the caller may give it away."""
    loops = compiled_loops(fn)
    seen: dict[object, int] = {}
    for c in _copies(loops):
        if _given_away(loops, fn, c):
            continue
        seen[c.array] = seen.get(c.array, 0) + 1
        if seen[c.array] > c.allowed:
            _refuse(loops, fn, c, returned)


def repeated(loops: lp.Function) -> list[tuple[str, Span]]:
    """What to say about copies that loops make again and again: whole arrays, where nobody wrote at.copy. With the place of each."""
    seen: dict[object, int] = {}
    found: dict[str, Span] = {}
    for c in _copies(loops):
        seen[c.array] = seen.get(c.array, 0) + 1
        if seen[c.array] <= c.allowed or not c.each.startswith((EVERY_ROUND, SOME_ROUNDS)) or not c.span.line or c.bytes.const() is not None:
            continue
        if _put_back(loops.body, c, {}):
            continue
        meant = f"write at.copy({c.name})" if c.name.isidentifier() else "write at.copy"
        if c.bytes != bytes_of(c.source):  # a row of an array, say: the copy to write is that of the row
            meant = f"write {c.target.shown} = at.copy(...)" if c.target.shown.isidentifier() else "write at.copy of that part"
        text = f"{loops.name} copies {lp.in_words(c.bytes)} bytes here {c.each}: {c.reason}. If that is meant, {meant}; if not, take what is needed of the old array before it is changed."
        found.setdefault(text, c.span)
    return list(found.items())


def _put_back(x: object, c: lp.Copied, around: dict[Poly, Poly]) -> bool:
    """Rows that change places, or become others: of all that is kept of an array something is written into it again, so the copy costs no more than the update.
    `around`: counters from 0 and their ends."""
    if isinstance(x, lp.Chunks):
        around = {**around, poly(x.low): x.extent, poly(x.high): x.extent}
    elif isinstance(x, lp.For):
        around = {**around, poly(x.sym): around.get(x.low, x.high)}  # of a part from a piece's beginning to its end: of the whole
    if isinstance(x, (list, tuple)):
        if any(isinstance(stmt, lp.Store) and stmt.buffer is c.source for stmt in x):
            kept = [e.index for stmt in x if isinstance(stmt, (lp.Let, lp.Store)) for e in lp.subexprs(stmt.value) if isinstance(e, lp.Load) and e.buffer is c.target]
            if any(len(set(index)) == len(index) and all(around.get(at) == extent for at, extent in zip(index, c.target.extents, strict=True)) for index in kept):
                return True
        return any(_put_back(item, c, around) for item in x)
    return any(_put_back(getattr(x, name), c, around) for name in lp.FIELDS.get(type(x), ()))


def _refuse(loops: lp.Function, fn: core.Function, c: lp.Copied, returned: Span) -> NoReturn:
    name = c.source.shown
    use = _use(loops, fn, c, returned)
    what = f"write it: {name} = at.copy({name})" if name.isidentifier() else "write it where the value is made: x = at.copy(...)"
    if (not c.span.line or c.settled) and name.isidentifier():
        what = f"write it: return at.copy({name})"
    elif any(loops.inputs[k] is c.source and loops.outputs[j].buffer is c.target for k, j in donations(loops)):
        what += f", or let the caller give it away: {name}: at.own[...]"
    fail("E0807", use.span, name=fn.name, reason=f"{use.reason} ({lp.in_words(c.bytes)} bytes)", help=what, where=fn.name)


def bytes_of(b: lp.Buffer) -> Poly:
    """The bytes of an array."""
    total = poly(b.dtype.size)
    for n in b.extents if b.rows is None else (poly(b.rows), *b.extents[1:]):
        total = total * n
    return total
