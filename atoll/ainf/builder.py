"""Making lines: hash-consing, placement, conditions and proofs of ranges.

A new line goes into the outermost block that has everything it mentions; its dims are the indices free in it. `path` holds the conditions
under which code is being translated; a line keeps only those it needs: the conditions of the conditional lines it reads, all of them
when it has an effect, those of its own block when it is a loop or a reduction (so that work under a condition stays under it).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from atoll.ainf import ir
from atoll.ainf.accessible import exists_if, holds, needed_conds, tested_in_order, with_their_own, within
from atoll.ainf.known import Given, Known
from atoll.ainf.scan_prim import blocks, field_names, leaves, own_binders, parts, refs, subst
from atoll.errors import NOWHERE, Span
from atoll.sizes import Atom, Poly, Quot, Sym, poly
from atoll.types.dtypes import BOOL, I64, DType

_EXPENSIVE = (ir.Reduce, ir.ArgReduce, ir.Fold, ir.Scan, ir.ScanFold, ir.Argsort, ir.Compress, ir.Scatter, ir.ScatterFold, ir.Loop, ir.While)


class Builder(Known):
    def __init__(self, name: str) -> None:
        self.name = name
        self.portable = False  # functions of numbers are our own (core/portable.py)
        self.root = ir.Block(None)
        self.block = self.root
        self.path: list[Given] = []
        self.binders: list[ir.Binder] = []
        self.owner: dict[Atom, ir.Block] = {}  # loop indices
        self.index_facts: dict[Atom, tuple[Poly, ...]] = {}
        self.known: list[Poly] = []  # requirements and asserts that hold from here on
        self.sizes: set[Atom] = set()
        self._tables: dict[int, dict[Any, list[ir.Line]]] = {}
        self._usual: dict[tuple[int, Poly], ir.Binder] = {}
        self._signs: dict[Poly, int] = {}
        self._quotients: dict[Quot, Poly] = {}
        self._count = 0
        self.share = True  # equal lines are one
        self.evaluate = True  # what is known is computed, and arrays that were just made are not read back
        self.reverse = False  # in the reverse sweep of a derivative
        self.integers = False  # the derivative being taken is one of integers too (Futhark's)
        self.spelled = False  # such a derivative is being taken: sums of i64 values are lines that it can follow, no polynomials
        self.near = NOWHERE  # what is being translated or derived: where lines come from that have no place of their own
        self.call: Span | None = None  # the innermost call whose function is being put in its place

    def has_slope(self, dtype: DType) -> bool:
        """Numbers that the derivative being taken is about."""
        return dtype.has_slope or (self.integers and dtype.is_integer)

    # -- context

    def fresh_binder(self, name: str, extent: Poly, extra: tuple[Poly, ...] = ()) -> ir.Binder:
        return ir.Binder(name, extent, extra)

    @contextmanager
    def binding(self, *binders: ir.Binder) -> Iterator[None]:
        self.binders += binders
        try:
            yield
        finally:
            del self.binders[len(self.binders) - len(binders) :]

    @contextmanager
    def under(self, *conds: ir.Cond | Callable[[], ir.Cond], lazy: bool = True) -> Iterator[None]:
        before = len(self.path)
        self.path += [Given(cond, self.block, lazy) for cond in conds]
        try:
            yield
        finally:
            del self.path[before:]

    @contextmanager
    def about(self, span: Span) -> Iterator[None]:
        """Lines without a place of their own come from here."""
        before, self.near = self.near, span if span.line else self.near
        try:
            yield
        finally:
            self.near = before

    @contextmanager
    def calling(self, span: Span) -> Iterator[None]:
        """Lines are those of a function that is called here."""
        before = self.call
        self.call = span if before is None or not span.line else span.seen_from(before)
        try:
            yield
        finally:
            self.call = before

    def place(self, span: Span) -> Span:
        """A place as seen from the calls around."""
        return span if self.call is None or span.caller is not None or not span.line else span.seen_from(self.call)

    def given(self, *conds: ir.Cond) -> None:
        """Conditions that were checked: they hold until the enclosing block or branch ends."""
        self.path += [Given(cond, self.block, False) for cond in conds]

    @contextmanager
    def inside(self, block: ir.Block) -> Iterator[None]:
        outer, self.block = self.block, block
        before = len(self.path)
        try:
            yield
        finally:
            self.block = outer
            del self.path[before:]

    @contextmanager
    def reenter(self, block: ir.Block) -> Iterator[None]:
        """Add lines to a block made before, as if its code were being translated."""
        saved = (self.block, self.path, self.binders)
        self.block, self.path, self.binders = block, [], list(block.ambient)
        try:
            yield
        finally:
            self.block, self.path, self.binders = saved

    def new_block(self, owned: Iterable[Sym] = ()) -> ir.Block:
        block = ir.Block(self.block, frozenset(self.binders), frozenset(owned))
        for sym in owned:
            self.owner[sym] = block
        return block

    # -- lines

    def emit(
        self,
        prim: ir.Prim,
        results: tuple[ir.Result, ...],
        span: Span = NOWHERE,
        hint: str = "x",
        inner: int = 0,
        needs: tuple[Given, ...] = (),
    ) -> tuple[ir.Line, tuple[Poly, ...]]:
        """The line for a primitive and the index that reads it here; an equal line is used again.

        `inner` dims, the last ones made, are nested inside the result's axes in storage (rows of a scan). `needs` are the
        conditions on the path without which the line must not run.
        """
        prim = self._settled(prim)
        axes = [ref for result in results for axis in result.axes for ref in ir.poly_refs(axis)]
        used = [*refs(prim), *axes]
        free = leaves(prim)
        for result in results:
            for axis in result.axes:
                free |= axis.leaves()
        home = self._home(prim, used, free)
        for given in needs:
            if given.block.depth > home.depth:
                home = given.block
        effect = isinstance(prim, ir.EFFECTS)
        stays = effect or _may_stop(prim)  # one made for no round would be seen
        if stays:
            home = self.block
        needed = self._needed(prim, axes, used, home)
        if _prints(prim):  # once per round, whatever it prints
            free |= {x for x in self.binders if x not in home.ambient}
        elif stays:  # made once for all rounds, if there are any
            needed.update({cond: None for cond in self._rounds(free, home)})
        if needed:
            rounds = within((*self._dims(free, prim, home), *own_binders(prim)))
            needed = {cond: None for cond in needed if not holds(cond, rounds)}
            own = set(own_binders(prim))
            if own and not isinstance(prim, (ir.Loop, ir.While)) and any(cond.leaves() & own for cond in needed):
                return self.emit(self._guarded(prim, home), results, span, hint, inner, needs)
        needed.update({given.cond: None for given in needs if given.block is home})
        if effect or isinstance(prim, _EXPENSIVE):
            lazy = [given.cond for given in self.path if given.lazy and given.block is home]
            if lazy and isinstance(prim, (ir.Reduce, ir.Scan)):  # without rounds it costs nothing
                rounds = within((*self._dims(free, prim, home), *own_binders(prim)))
                lazy = [cond for cond in lazy if not holds(cond, rounds)]
            needed.update(dict.fromkeys(lazy))
        conds = tested_in_order(needed, home) if len(needed) > 1 else tuple(needed)
        for cond in conds:
            free |= cond.leaves()
        dims = self._dims(free, prim, home)
        equal: list[ir.Line] = []
        index = isinstance(prim, ir.Check) and prim.value is not None
        if index or not effect:
            equal = self._tables.setdefault(id(home), {}).setdefault(_key(prim, results, dims), equal)
        if equal and self.share:
            found = self._checked_before(equal, dims, conds) if index else self._find(equal, prim, dims, conds, home)
            if found is not None:
                found.reverse &= self.reverse
                found.comes_from(self.place(span))
                return found, tuple([poly(d) for d in dims])
        line = ir.Line(self._count, dims, conds, prim, results, home, self.place(span), hint)
        line.reverse = self.reverse
        if not span.line:
            line.comes_from(self.place(self.near))
        self._count += 1
        if inner:
            outer = len(dims) - inner
            line.order = (*range(outer), *range(len(dims), len(dims) + len(results[-1].axes)), *range(outer, len(dims)))
        home.lines.append(line)
        equal.append(line)
        return line, tuple([poly(d) for d in dims])

    def _settled(self, prim: ir.Prim) -> ir.Prim:
        """Quotients in indices that are known: an array that is split again as it was flattened is read without any, so a product of reshaped arrays is seen to be one."""
        if isinstance(prim, (ir.Loop, ir.While)) or blocks(prim):
            return prim
        found = [p for ref in refs(prim) for p in ref.index] + [p for p in parts(prim) if isinstance(p, Poly)]
        quotients = dict.fromkeys(atom for p in found for atom in p.atoms() if isinstance(atom, Quot))
        known = {q: value for q in quotients if (value := self.settled(q)) != poly(q)}
        return subst(prim, known) if known else prim

    def _needed(self, prim: ir.Prim, axes: list[ir.Ref], used: list[ir.Ref], home: ir.Block) -> dict[ir.Cond, None]:
        """Conditions without which what is read is not there. One of a line further out is the line's own where the code stands under it;
        elsewhere it is one of the loop around."""
        conditional = {id(ref.line.block): ref.line.block for ref in used if exists_if(ref)}
        if not conditional:
            return {}
        needed = needed_conds(prim, axes, home)
        here = {given.made for given in self.path if given.block is home}
        for block in conditional.values():
            if here and block.depth < home.depth:
                needed.update({cond: None for cond in needed_conds(prim, axes, block) if cond in here})
        return with_their_own(needed, home)

    def _guarded(self, prim: ir.Prim, home: ir.Block) -> ir.Prim:
        """A primitive over elements that are only there under conditions on its own index: it looks at them where these hold. (Elsewhere a check
        has stopped the program, but code may be moved before the check.)"""
        own = own_binders(prim)

        def operand(x: Any, binders: tuple[ir.Binder, ...] = ()) -> Any:
            if isinstance(x, tuple):
                return tuple(operand(item) for item in x)
            if isinstance(x, ir.Abs):
                return ir.Abs(x.binders, operand(x.body, x.binders))
            if not isinstance(x, ir.Ref):
                return x
            found = [cond for cond in with_their_own(needed_conds(ir.Op("read", (x,)), (), home), home) if cond.leaves() & {*own, *binders}]
            if not found:
                return x
            with self.binding(*(b for b in (*own, *binders) if b not in self.binders)):
                nothing = ir.Const(False if x.dtype is BOOL else 0 if x.dtype.is_integer else 0.0, x.dtype)
                return self.ref(ir.Select(tested_in_order(found, home), x, nothing), ir.Result(x.dtype))

        return dataclasses.replace(prim, **{f.name: operand(getattr(prim, f.name)) for f in dataclasses.fields(prim) if f.name not in ("base", "start", "results", "block")})

    def _rounds(self, free: set[Atom], home: ir.Block) -> Iterator[ir.Cond]:
        """The loops around code that does not mention their index run at all."""
        for binder in self.binders:
            if binder not in free and binder not in home.ambient and not self.context((binder.extent,)).proves(binder.extent - 1):
                yield ir.Cond("ge", binder.extent - 1)

    def home(self, prim: ir.Prim) -> ir.Block:
        """Where a line of this primitive would stand, if it needs no conditions."""
        return self._home(prim, list(refs(prim)), leaves(prim))

    def _home(self, prim: ir.Prim, used: list[ir.Ref], free: set[Atom]) -> ir.Block:
        if self.block is self.root and not self.owner:  # there is no other block that could be meant
            return self.root
        inner = set(map(id, blocks(prim)))
        home = self.root
        candidates = [ref.line.block for ref in used]
        seen: set[Atom] = set()
        queue = list(free)
        while queue:  # also what the ranges of its indices depend on
            atom = queue.pop()
            if atom in seen:
                continue
            seen.add(atom)
            if atom in self.owner:
                candidates.append(self.owner[atom])
            elif isinstance(atom, ir.Binder):
                queue += atom.extent.leaves()
            elif isinstance(atom, ir.RefAtom):
                candidates.append(atom.ref.line.block)
        for block in candidates:
            if block.depth > home.depth and not _within(block, inner):
                home = block
        return home

    def _dims(self, free: set[Atom], prim: ir.Prim, home: ir.Block) -> tuple[ir.Binder, ...]:
        queue = [atom for atom in free if isinstance(atom, ir.Binder)]
        if not queue:
            return ()
        own = own_binders(prim)
        found: set[ir.Binder] = set()
        while queue:
            atom = queue.pop()
            if atom not in found and atom not in own and atom not in home.ambient:
                found.add(atom)
                queue += [x for x in atom.extent.leaves() if isinstance(x, ir.Binder)]
                for fact in atom.facts:
                    queue += [x for x in fact.leaves() if isinstance(x, ir.Binder)]
        return tuple(found) if len(found) == 1 else tuple(sorted(found, key=lambda b: b.uid))

    def _checked_before(self, equal: list[ir.Line], dims: tuple[ir.Binder, ...], conds: tuple[ir.Cond, ...]) -> ir.Line | None:
        """An index that was checked already wherever it would be checked again: where one fails the other has failed before."""
        for line in equal:
            env: dict[Atom, Poly] = {a: poly(b) for a, b in zip(line.dims, dims, strict=True)}
            if {cond.subst(env) for cond in line.conds} <= set(conds):
                return line
        return None

    def _find(
        self, equal: list[ir.Line], prim: ir.Prim, dims: tuple[ir.Binder, ...], conds: tuple[ir.Cond, ...], home: ir.Block
    ) -> ir.Line | None:
        """One of these equal lines that has a value wherever this one would."""
        if blocks(prim):
            return None
        for line in equal:
            if line.conds == conds == ():
                return line
            env: dict[Atom, Poly] = {a: poly(b) for a, b in zip(line.dims, dims, strict=True)}
            theirs = [cond.subst(env) for cond in line.conds]
            if set(theirs) <= set(conds):
                return line
            back: dict[Atom, Poly] = {b: poly(a) for a, b in zip(line.dims, dims, strict=True)}
            if set(conds) < set(theirs) and self._dims_of(line, conds, back, home) == line.dims:
                line.conds = tuple(cond.subst(back) for cond in conds)
                return line
            opposite = _merge_opposite(theirs, list(conds))
            if opposite is not None and isinstance(prim, _EXPENSIVE):
                line.conds = tuple(cond.subst(back) for cond in opposite)
                return line
        return None

    def _dims_of(self, line: ir.Line, conds: tuple[ir.Cond, ...], back: dict[Atom, Poly], home: ir.Block) -> tuple[ir.Binder, ...]:
        free = leaves(line.prim)
        for result in line.results:
            for axis in result.axes:
                free |= axis.leaves()
        for cond in conds:
            free |= cond.subst(back).leaves()
        return self._dims(free, line.prim, home)

    def ref(
        self, prim: ir.Prim, result: ir.Result, span: Span = NOWHERE, hint: str = "x", needs: tuple[Given, ...] = ()
    ) -> ir.Ref:
        """A scalar line, read here."""
        line, index = self.emit(prim, (result,), span, hint, needs=needs)
        return ir.Ref(line, 0, index)

    # -- values out of conditions

    def truth(self, cond: ir.Cond, span: Span = NOWHERE) -> ir.Operand:
        """A condition as a bool operand."""
        if cond.kind == "true":
            assert cond.ref is not None
            return cond.ref
        if cond.kind == "false":
            assert cond.ref is not None
            return self.ref(ir.Op("not", (cond.ref,)), ir.Result(BOOL), span)
        return self.ref(ir.Truth(cond), ir.Result(BOOL), span)

    def check(self, conds: tuple[ir.Cond, ...], site: ir.Site, args: tuple[ir.Operand, ...] = ()) -> None:
        self.emit(ir.Check(conds, site, args), (), site.span, "check")

    def check_index(self, p: Poly, size: Poly, site: ir.Site) -> Poly:
        """p when 0 <= p < size is proved, otherwise a checked integer that equals it."""
        if self.proves_range(p, size):
            return p
        value = ir.IndexValue(p)
        conds = (ir.Cond("ge", p), ir.Cond("ge", size - 1 - p))
        prim = ir.Check(conds, site, (value, ir.IndexValue(size)), value)
        line, index = self.emit(prim, (ir.Result(I64, (), size),), site.span, "at")
        return poly(ir.ref_atom(ir.Ref(line, 0, index)))


def _within(block: ir.Block, inner: set[int]) -> bool:
    b: ir.Block | None = block
    while b is not None:
        if id(b) in inner:
            return True
        b = b.parent
    return False


def _merge_opposite(a: list[ir.Cond], b: list[ir.Cond]) -> list[ir.Cond] | None:
    """a and b differing in one condition of opposite polarity hold together wherever the rest holds."""
    only_a, only_b = [c for c in a if c not in b], [c for c in b if c not in a]
    if len(only_a) == 1 and len(only_b) == 1 and only_a[0] == only_b[0].negated():
        return [c for c in a if c in b]
    return None


# -- what a line does besides its value


def _may_stop(prim: ir.Prim) -> bool:
    """Code inside that checks or prints, or that need not end."""
    return isinstance(prim, ir.While) or any(
        isinstance(line.prim, ir.EFFECTS) or _may_stop(line.prim) for block in blocks(prim) for line in block.lines
    )


def _prints(prim: ir.Prim) -> bool:
    return isinstance(prim, ir.Print) or any(_prints(line.prim) for block in blocks(prim) for line in block.lines)


# -- keys for hash-consing: structure with bound indices by position


def _key(prim: ir.Prim, results: tuple[ir.Result, ...], dims: tuple[ir.Binder, ...]) -> Any:
    bound = (*dims, *own_binders(prim))
    position: dict[Atom, int] = {b: k for k, b in enumerate(bound)}
    extents = tuple([_poly_key(b.extent, position) for b in bound])
    if isinstance(prim, ir.Check):  # wherever it is written
        return ("Check", extents, prim.site.code, _any_key((prim.conds, prim.args, prim.value), position), *[_result_key(r, position) for r in results])
    if type(prim) is ir.Op:
        return (prim.name, extents, *[_any_key(a, position) for a in prim.args], *[_result_key(r, position) for r in results])
    return (type(prim).__name__, extents, _any_key(prim, position), *[_result_key(r, position) for r in results])


def _result_key(result: ir.Result, position: dict[Atom, int]) -> Any:
    return _any_key(result, position) if result.axes or result.bound is not None else result.dtype.name


def _any_key(x: Any, position: dict[Atom, int]) -> Any:
    kind = type(x)
    if kind is ir.Ref:
        return (x.line.id, x.result, *[_poly_key(p, position) for p in x.index])
    if kind is str or kind is int or x is None:
        return x
    if kind is tuple:
        return tuple([_any_key(item, position) for item in x])
    if kind is Poly:
        return _poly_key(x, position)
    if kind is ir.IndexValue:
        return ("index", _poly_key(x.poly, position))
    if kind is ir.Const:
        return ("const", x.dtype.name, repr(x.value))
    if isinstance(x, ir.Binder):
        return ("bound", position.get(x, x))
    if isinstance(x, ir.Abs):
        bound: dict[Any, int] = {b: len(position) + k for k, b in enumerate(x.binders)}
        inner = {**position, **bound}
        return ("abs", tuple(_poly_key(b.extent, inner) for b in x.binders), _any_key(x.body, inner))
    if isinstance(x, ir.Cond):
        return (x.kind, _any_key(x.poly, position), _any_key(x.ref, position))
    if isinstance(x, (ir.ConstArray, ir.Site, ir.Block)):
        return id(x)
    if hasattr(x, "__dataclass_fields__") and not isinstance(x, type):
        if kind.__module__ == ir.__name__:
            return tuple([_any_key(getattr(x, name), position) for name in field_names(kind)])
    return x


def _poly_key(p: Poly, position: dict[Atom, int]) -> Any:
    if not position:
        return p
    atom = p.single()
    if atom is not None:
        at = position.get(atom)
        if at is not None:
            return at
    if not (p.leaves() & position.keys()):
        return p
    return frozenset(
        (frozenset((_atom_key(a, position), mono.count(a)) for a in mono), coef) for mono, coef in p.terms.items()
    )


def _atom_key(atom: Atom, position: dict[Atom, int]) -> Any:
    if atom in position:
        return ("bound", position[atom])
    if isinstance(atom, Quot):
        return ("quot", _poly_key(atom.num, position), _poly_key(atom.den, position))
    if isinstance(atom, ir.RefAtom):
        return _any_key(atom.ref, position)
    return atom
