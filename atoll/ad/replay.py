"""Making lines again with other values in them: the body of a loop in its reverse sweep, a fold turned into a loop.

A replay maps every line of a block to an *open value*: an operand over the line's own indices. References are replaced by the operand at
their index, so a line may come back with fewer or other indices than it had; hash-consing makes equal lines one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.scan_prim import blocks, field_names
from atoll.sizes import Atom, Poly, Sym, poly

Reader = Callable[[tuple[Poly, ...]], ir.Operand]


class Replay:
    """Copies lines into the builder's current block."""

    def __init__(self, b: Builder, atoms: dict[Atom, Poly]) -> None:
        self.b = b
        self.atoms = dict(atoms)  # loop indices and binders that mean something else now
        self.readers: dict[tuple[ir.Line, int], Reader] = {}

    def give(self, line: ir.Line, result: int, reader: Reader) -> None:
        """Reading this result of a line means this instead."""
        self.readers[(line, result)] = reader

    # -- replacing

    def poly(self, p: Poly, env: dict[Atom, Poly]) -> Poly:
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
        return p.subst(replace) if replace else p

    def operand(self, x: ir.Operand, env: dict[Atom, Poly]) -> ir.Operand:
        if isinstance(x, ir.Const):
            return x
        if isinstance(x, ir.IndexValue):
            return scalars.from_poly(self.poly(x.poly, env))
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
        if isinstance(x, (ir.Site, ir.Binder, ir.Block)) or not dataclasses.is_dataclass(x):
            return x
        return dataclasses.replace(x, **{n: self.any(getattr(x, n), env) for n in field_names(type(x))})  # type: ignore[type-var]

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

    def line(self, line: ir.Line) -> None:
        """Copy one line; afterwards references to it are replaced."""
        fresh, env = self.binders(line.dims, {})
        with self.b.binding(*fresh), self.b.under(*(self.cond(c, env) for c in line.conds)):
            prim, own = self.prim(line.prim, env)
            results = tuple(
                ir.Result(r.dtype, tuple(self.poly(a, env) for a in r.axes), None if r.bound is None else self.poly(r.bound, env))
                for r in line.results
            )
            needs = tuple(self.b.path[len(self.b.path) - len(line.conds) :]) if line.conds else ()
            new, index = self.b.emit(prim, results, line.span, line.hint, needs=needs)
            if new.order is None and line.order is not None and len(new.dims) == len(line.dims):
                new.order = line.order
        del own
        for k in range(len(results)):
            self.give(line, k, _reader(new, k, index, fresh))

    def prim(self, prim: Any, env: dict[Atom, Poly]) -> tuple[Any, dict[Atom, Poly]]:
        own = tuple(part for part in _own(prim))
        fresh, inner = self.binders(own, env)
        renamed = dict(zip(own, fresh, strict=True))
        changed: dict[str, Any] = {}
        with self.b.binding(*fresh):
            for name in field_names(type(prim)):
                value = getattr(prim, name)
                if isinstance(value, ir.Block):
                    continue
                if isinstance(value, ir.Binder):
                    changed[name] = renamed[value]
                elif name == "binders":
                    changed[name] = tuple(renamed[b] for b in value)
                elif name in ("results", "head", "index") and blocks(prim) and not isinstance(value, Poly):
                    continue
                elif isinstance(value, Sym):
                    continue
                else:
                    changed[name] = self.any(value, inner)
        for name in field_names(type(prim)):
            value = getattr(prim, name)
            if isinstance(value, ir.Block):
                block, results, index, head = self.block(prim, value, inner)
                changed[name] = block
                changed["results"] = results
                if isinstance(prim, ir.Loop):
                    changed["index"] = index
                if isinstance(prim, ir.While):
                    changed["head"] = head
                    changed["cond"] = self._cond
        return dataclasses.replace(prim, **changed), inner  # type: ignore[type-var]

    _cond: ir.Operand

    def block(self, prim: Any, old: ir.Block, env: dict[Atom, Poly]) -> tuple[ir.Block, Any, Sym | None, tuple[ir.Line, ...]]:
        """A copy of a block, with a loop index of its own."""
        b = self.b
        index = Sym(prim.index.name) if isinstance(prim, ir.Loop) else None
        owned = (index,) if index is not None else ()
        block = b.new_block(owned)
        inner = Replay(b, {**self.atoms, **env})
        inner.readers = dict(self.readers)
        if isinstance(prim, ir.Loop) and index is not None:
            size = self.poly(prim.size, env)
            b.index_facts[index] = (poly(index), size - 1 - poly(index))
            inner.atoms[prim.index] = poly(index)
        with b.inside(block):
            for param in old.params:
                info = param.results[0]
                assert isinstance(param.prim, ir.Param)
                new = make_param(b, block, param.prim, ir.Result(info.dtype, tuple(self.poly(a, env) for a in info.axes), None))
                inner.give(param, 0, _reader(new, 0, (), ()))
            head = []
            for line in old.lines:
                if line in old.params:
                    continue
                before = len(block.lines)
                inner.line(line)
                if isinstance(prim, ir.While) and line in prim.head:
                    head += [x for x in block.lines[before:] if isinstance(x.prim, ir.EFFECTS)]
            results = inner.any(prim.results, {})
            if isinstance(prim, ir.While):
                self._cond = inner.operand(prim.cond, {})
        return block, results, index, tuple(head)


def make_param(b: Builder, block: ir.Block, prim: ir.Param, result: ir.Result) -> ir.Line:
    """A parameter line; never shared."""
    line = ir.Line(b._count, (), (), prim, (result,), block, hint=f"{prim.name}_")
    b._count += 1
    block.lines.append(line)
    block.params.append(line)
    return line


def _own(prim: Any) -> list[ir.Binder]:
    from atoll.ainf.scan_prim import own_binders

    return own_binders(prim)


def _reader(line: ir.Line, result: int, index: tuple[Poly, ...], dims: tuple[ir.Binder, ...]) -> Reader:
    """Reading a copied line at an index over the original's dims and axes."""

    def read(given: tuple[Poly, ...]) -> ir.Operand:
        env = dict(zip(dims, given[: len(dims)], strict=True))
        return ir.Ref(line, result, tuple(p.subst(env) for p in index) + given[len(dims) :])

    return read


def replay_block(b: Builder, lines: list[ir.Line], replay: Replay) -> None:
    """Copy lines in order."""
    for line in lines:
        replay.line(line)
    del b
