"""Making lines again with other values in them: the body of a loop in its reverse sweep, a fold turned into a loop, a whole program.

A replay maps every line of a block to an *open value*: an operand over the line's own indices. References are replaced by the operand at
their index, so a line may come back with fewer or other indices than it had; hash-consing makes equal lines one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.dead import Live
from atoll.ainf.identity import is_read, read_arg
from atoll.ainf.scan_prim import blocks, field_names, line_refs, own_binders
from atoll.sizes import Atom, Poly, Sym, poly

Reader = Callable[[tuple[Poly, ...]], ir.Operand]


class Before(NamedTuple):
    """A loop as it was before state was added to it."""

    prim: Any
    results: tuple[ir.Result, ...]
    lines: tuple[ir.Line, ...]


class Replay:
    """Copies lines into the builder's current block."""

    def __init__(self, b: Builder, atoms: dict[Atom, Poly], live: Live | None = None, index_facts: dict[Atom, tuple[Poly, ...]] | None = None) -> None:
        self.b = b
        self.atoms = dict(atoms)  # loop indices and binders that mean something else now
        self.readers: dict[tuple[ir.Line, int], Reader] = {}
        self.live = live  # when given, only these are made, and derivatives are over: what is active is itself again
        self.index_facts = b.index_facts if index_facts is None else index_facts
        self.before: dict[ir.Line, Before] = {}  # loops that are made as they were before
        self.checked = False  # everything was run before: checks hold, and nothing is printed again

    def give(self, line: ir.Line, result: int, reader: Reader) -> None:
        """Reading this result of a line means this instead."""
        self.readers[(line, result)] = reader

    # -- replacing

    def poly(self, p: Poly, env: dict[Atom, Poly]) -> Poly:
        return p.subst(self.replaced(p, env))

    def replaced(self, p: Poly, env: dict[Atom, Poly]) -> dict[Atom, Poly]:
        """What the atoms of a polynomial become."""
        replace: dict[Atom, Poly] = {}
        for leaf in p.leaves():
            if isinstance(leaf, ir.RefAtom):
                new = self.operand(leaf.ref, env)
                q = scalars.as_poly(self.b, new)
                assert q is not None
                replace[leaf] = q
            elif leaf in env:
                replace[leaf] = env[leaf]
            elif leaf in self.atoms:
                replace[leaf] = self.atoms[leaf]
        return replace

    def operand(self, x: ir.Operand, env: dict[Atom, Poly]) -> ir.Operand:
        if isinstance(x, ir.Const):
            return x
        if isinstance(x, ir.IndexValue):
            return scalars.from_poly(scalars.substituted(self.b, x.poly, self.replaced(x.poly, env)))
        index = tuple(self.poly(p, env) for p in x.index)
        reader = self.readers.get((x.line, x.result))
        if reader is not None:
            return reader(index)
        return ir.Ref(x.line, x.result, index)

    def cond(self, c: ir.Cond, env: dict[Atom, Poly]) -> ir.Cond:
        if c.poly is not None:
            return ir.Cond(c.kind, self.poly(c.poly, env))
        assert c.ref is not None
        new = self.operand(c.ref, env)
        if isinstance(new, ir.Ref):
            return ir.Cond(c.kind, None, new)
        assert isinstance(new, ir.Const)
        return ir.Cond("ge", poly(0 if bool(new.value) == (c.kind == "true") else -1))

    def any(self, x: Any, env: dict[Atom, Poly]) -> Any:
        if isinstance(x, (ir.Ref, ir.Const, ir.IndexValue)):
            return self.operand(x, env)
        if isinstance(x, Poly):
            return self.poly(x, env)
        if isinstance(x, ir.Cond):
            return self.cond(x, env)
        if isinstance(x, tuple):
            return tuple(self.any(item, env) for item in x)
        if isinstance(x, ir.Abs):
            fresh, inner = self.binders(x.binders, env)
            with self.b.binding(*fresh):
                return ir.Abs(fresh, self.operand(x.body, inner))
        if type(x).__module__ != ir.__name__ or isinstance(x, (ir.Site, ir.Binder, ir.Block)):
            return x
        return dataclasses.replace(x, **{n: self.any(getattr(x, n), env) for n in field_names(type(x))})

    def binders(self, old: tuple[ir.Binder, ...], env: dict[Atom, Poly]) -> tuple[tuple[ir.Binder, ...], dict[Atom, Poly]]:
        """Fresh binders with the replaced extents."""
        inner = dict(env)
        fresh = []
        for b in old:
            new = self.b.fresh_binder(b.name, self.poly(b.extent, inner))
            new.facts = tuple(self.poly(f, {**inner, b: poly(new)}) for f in b.facts)
            fresh.append(new)
            inner[b] = poly(new)
        return tuple(fresh), inner

    # -- lines

    def lines(self, block: ir.Block, of: tuple[ir.Line, ...] | None = None) -> Iterator[ir.Line]:
        """Lines of a block to copy, in an order that respects uses; `of` are those it had before."""
        lines = [line for line in (block.lines if of is None else of) if line not in block.params]
        return in_order(lines if self.live is None else [line for line in lines if line in self.live.lines])

    def line(self, line: ir.Line) -> None:
        """Copy one line; afterwards references to it are replaced."""
        if self.live is not None and (is_marker(line.prim) or self._is_of_a_value(line)):
            for k, array in enumerate(marked(line.prim)):
                binders = (*line.dims, *array.binders)

                def element(index: tuple[Poly, ...], array: ir.Abs = array, bs: tuple[ir.Binder, ...] = binders) -> ir.Operand:
                    return _decided(self.b, self.operand(array.body, dict(zip(bs, index, strict=True))))

                self.give(line, k, element)
            return
        if self.checked and isinstance(line.prim, ir.EFFECTS) and not line.results:
            return
        fresh, env = self.binders(line.dims, {})
        kept = self.kept(line)
        with self.b.binding(*fresh), self.b.under(*(self.cond(c, env) for c in line.conds)):
            prim = self.prim(line, env)
            had = self.before[line].results if line in self.before else line.results
            results = tuple(self.result(had[k], env) for k in kept)
            if self.checked and isinstance(prim, ir.Check) and prim.value is not None and self._is_known(prim.value, results[0].bound):
                prim = ir.Op("read", (prim.value,))
            needs = tuple(self.b.path[len(self.b.path) - len(line.conds) :]) if line.conds else ()
            if self.live is not None:
                self.b.reverse = line.reverse
            new, index = self.b.emit(prim, results, line.span, line.hint, needs=needs)
            if new.order is None and line.order is not None and len(new.dims) == len(line.dims):
                new.order = line.order
            new.keep = new.keep or line.keep
            new.label = new.label or line.label
            new.copied = max(new.copied, line.copied)
            for span in line.also:
                new.comes_from(span)
        for position, k in enumerate(kept):
            self.give(line, k, _reader(new, position, index, fresh))
        if self.live is not None and is_read(new) and new.dims:
            self.give(line, 0, self._read_where_asked(new, index, fresh))

    def _is_known(self, value: ir.Operand, size: Poly | None) -> bool:
        """Whether an index that was checked may be read without the check: it is one wherever it is known, or known only in rounds in which it was checked. Else the check stays:
        further out there may be no such round, and no such element."""
        if self.b.home(ir.Op("read", (value,))) is self.b.block:
            return True
        at = scalars.as_poly(self.b, value)
        return at is not None and size is not None and self.b.needed_for_range([(at, size)]) == ()

    def _read_where_asked(self, new: ir.Line, index: tuple[Poly, ...], fresh: tuple[ir.Binder, ...]) -> Reader:
        """Reading a line that reads an array, which may be updated before all is read. One place of it, seen to be there, is read for itself: all of them would be a copy of the array.
        A place that a loop inside chooses is one of those that are kept before that loop: it would be read while the loop goes on."""
        usual = _reader(new, 0, index, fresh)

        def at(where: tuple[Poly, ...]) -> ir.Operand:
            found = usual(where)
            if not isinstance(found, ir.Ref) or any(isinstance(leaf, ir.Binder) for p in found.index for leaf in p.leaves()):
                return found
            place = dict(zip(new.dims, found.index, strict=True))
            if self.b.needed_for_range([(place[d], d.extent.subst(place)) for d in new.dims]) != ():
                return found
            bound = new.results[0].bound
            one = ir.Op("read", (ir.subst_operand(read_arg(new), place),))
            if self.b.home(one) is not new.block:
                return found
            return self.b.ref(one, ir.Result(found.dtype, (), None if bound is None else bound.subst(place)), hint="r")

        return at

    def _is_of_a_value(self, line: ir.Line) -> bool:
        """A read of something that is computed for the same indices, and so is in no array: that itself is meant, at the index where it is read."""
        if line.conds or not is_read(line):
            return False
        fresh, env = self.binders(line.dims, {})
        with self.b.binding(*fresh):
            x = self.operand(read_arg(line), env)
        return isinstance(x, ir.Ref) and not x.line.results[x.result].axes and not x.line.conds

    def result(self, r: ir.Result, env: dict[Atom, Poly]) -> ir.Result:
        return ir.Result(r.dtype, tuple(self.poly(a, env) for a in r.axes), None if r.bound is None else self.poly(r.bound, env))

    def kept(self, line: ir.Line) -> list[int]:
        """Results of a line that are made: state of a loop that nobody needs is not."""
        every = list(range(len(self.before[line].results if line in self.before else line.results)))
        if self.live is None or not isinstance(line.prim, (ir.Loop, ir.While)):
            return every
        return [k for k in every if (line, k) in self.live.keys]

    def prim(self, line: ir.Line, env: dict[Atom, Poly]) -> Any:
        was = self.before.get(line)
        prim: Any = line.prim if was is None else was.prim
        kept = self.kept(line)
        own = tuple(own_binders(prim))
        fresh, inner = self.binders(own, env)
        renamed = dict(zip(own, fresh, strict=True))
        changed: dict[str, Any] = {}
        inside = bool(blocks(prim))
        with self.b.binding(*fresh):
            for name in field_names(type(prim)):
                value = getattr(prim, name)
                if isinstance(value, ir.Binder):
                    changed[name] = renamed[value]
                elif name == "binders":
                    changed[name] = tuple(renamed[b] for b in value)
                elif inside and name == "state":
                    changed[name] = tuple(self.any(value[k], inner) for k in kept)
                elif not inside or name not in _OF_THE_BLOCK or isinstance(value, Poly):
                    changed[name] = self.any(value, inner)
        if inside:
            changed.update(self.block(prim, kept, inner, None if was is None else was.lines))
        return dataclasses.replace(prim, **changed)

    def block(self, prim: Any, kept: list[int], env: dict[Atom, Poly], of: tuple[ir.Line, ...] | None = None) -> dict[str, Any]:
        """A copy of a primitive's block, with a loop index of its own: the fields that belong to it."""
        b = self.b
        old: ir.Block = prim.block
        is_loop = isinstance(prim, (ir.Loop, ir.While))
        index = Sym(prim.index.name) if is_loop and prim.index is not None else None
        block = b.new_block((index,) if index is not None else ())
        inner = Replay(b, {**self.atoms, **env}, self.live, self.index_facts)
        inner.readers = dict(self.readers)
        inner.checked, inner.before = self.checked, self.before
        if index is not None:
            inner.atoms[prim.index] = poly(index)
            b.index_facts[index] = tuple(inner.poly(f, {}) for f in self.index_facts[prim.index])
        with b.inside(block):
            for k, param in enumerate(old.params):
                if is_loop and k not in kept:
                    continue
                assert isinstance(param.prim, ir.Param)
                position = ir.Param(len(block.params), param.prim.name)
                made = make_param(b, block, position, self.result(param.results[0], env))
                made.copied = param.copied
                inner.give(param, 0, _reader(made, 0, (), ()))
            head: list[ir.Line] = []
            for line in inner.lines(old, of):
                before = len(block.lines)
                inner.line(line)
                if isinstance(prim, ir.While) and line in prim.head:
                    head += [x for x in block.lines[before:] if isinstance(x.prim, ir.EFFECTS)]
            results = tuple(inner.any(a, {}) for k, a in enumerate(prim.results) if not is_loop or k in kept)
            fields: dict[str, Any] = {"block": block, "results": results}
            if index is not None:
                fields["index"] = index
            if isinstance(prim, ir.While):
                fields |= {"head": tuple(head), "cond": inner.operand(prim.cond, {})}
        return fields


def _decided(b: Builder, operand: ir.Operand) -> ir.Operand:
    """A choice read at an index: what is chosen where the ranges of indices and the conditions here decide it, else only what is open."""
    while isinstance(operand, ir.Ref) and isinstance(operand.line.prim, ir.Select) and not operand.line.conds:
        prim = operand.line.prim
        env = dict(zip(operand.line.dims, operand.index, strict=True))
        asked = tuple(c.subst(env) for c in prim.conds)
        found = [c if c.poly is None else scalars.simplify_cond(b, c) for c in asked]
        left = tuple(c for c in found if isinstance(c, ir.Cond))
        if any(isinstance(c, ir.Const) and not c.value for c in found):
            operand = ir.subst_operand(prim.orelse, env)
        elif not left:
            operand = ir.subst_operand(prim.then, env)
        else:
            orelse = ir.subst_operand(prim.orelse, env)
            other = _decided(b, orelse)
            if left == asked and other == orelse:
                break
            return scalars.select(b, left, ir.subst_operand(prim.then, env), other, operand.line.span)
    return operand


def is_marker(prim: ir.Prim) -> bool:
    """A line that says something to derivatives only: what is active, what is a constant."""
    return isinstance(prim, (ir.Active, ir.Custom)) or (isinstance(prim, ir.Op) and prim.name == "stop")


def marked(prim: ir.Prim) -> tuple[ir.Abs, ...]:
    """The values such a line just passes on."""
    if isinstance(prim, ir.Custom):
        return prim.values
    assert isinstance(prim, (ir.Active, ir.Op))
    return (ir.Abs((), prim.arg if isinstance(prim, ir.Active) else prim.args[0]),)


_OF_THE_BLOCK = {"block", "results", "head", "cond", "index"}


def in_order(lines: list[ir.Line]) -> Iterator[ir.Line]:
    """Every line after those it uses, else as they were."""
    here = set(lines)
    done: set[ir.Line] = set()
    for first in lines:
        if first in done:
            continue
        stack = [(first, _used(first, here))]
        done.add(first)
        while stack:
            line, rest = stack[-1]
            following = next((x for x in rest if x not in done), None)
            if following is None:
                stack.pop()
                yield line
            else:
                done.add(following)
                stack.append((following, _used(following, here)))


def _used(line: ir.Line, here: set[ir.Line]) -> Iterator[ir.Line]:
    return iter(dict.fromkeys(ref.line for ref in line_refs(line) if ref.line in here and ref.line is not line))


def make_param(b: Builder, block: ir.Block, prim: ir.Param, result: ir.Result) -> ir.Line:
    """A parameter line; never shared."""
    line = ir.Line(b._count, (), (), prim, (result,), block, hint=f"{prim.name}_")
    b._count += 1
    block.lines.append(line)
    block.params.append(line)
    return line


def _reader(line: ir.Line, result: int, index: tuple[Poly, ...], dims: tuple[ir.Binder, ...]) -> Reader:
    """Reading a copied line at an index over the original's dims and axes."""

    def read(given: tuple[Poly, ...]) -> ir.Operand:
        env = dict(zip(dims, given[: len(dims)], strict=True))
        return ir.Ref(line, result, tuple(p.subst(env) for p in index) + given[len(dims) :])

    return read
