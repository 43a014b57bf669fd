"""The meaning of AiNF: lines evaluated on demand, element by element, with a memo. For tests; slow and obvious.

`work` counts how many line instances were computed, so that a test can say that a pass does not add work.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from atoll.ainf import ir
from atoll.ainf.accessible import begins_if, exists_if
from atoll.ainf.dead import has_effect
from atoll.core.interpret import cast, format_leaves, format_value, own_meaning, reduce_known
from atoll.core.meanings import DivisionByZero, NegativePower, NegativeShift
from atoll.core.prims import MONOIDS, PRIMS
from atoll.errors import Error, fail
from atoll.sizes import Atom, Poly, Sym
from atoll.sizes.describe import requirement
from atoll.sizes.machine import compared, rounds, wrapped
from atoll.types.types import Scalar


class Frame:
    """One activation of a block: its parameters, its loop index, its memo."""

    __slots__ = ("block", "parent", "params", "index", "memo")

    def __init__(self, block: ir.Block, parent: Frame | None, params: list[Any], index: dict[Atom, int]) -> None:
        self.block, self.parent, self.params, self.index = block, parent, params, index
        self.memo: dict[tuple[int, int, tuple[int, ...]], Any] = {}


Env = dict[Atom, int]


def evaluate(program: ir.Program, args: list[Any], sizes: dict[Sym, int]) -> list[Any]:
    """The leaves of the result; `args` are the leaves of the arguments."""
    run = Evaluator(program, args, sizes)
    return run.results()


class Evaluator:
    portable = ""  # as of the program

    def __init__(self, program: ir.Program, args: list[Any], sizes: dict[Sym, int]) -> None:
        self.program, self.portable = program, program.portable
        self.inputs = {line.id: arg for line, arg in zip(program.inputs, args, strict=True)}
        self.sizes: Env = dict(sizes.items())
        self.work = 0

    def results(self) -> list[Any]:
        frame = Frame(self.program.block, None, [], {})
        with np.errstate(all="ignore"):
            self.effects(frame, {})
            return [self.array(a, frame, {}) for a in self.program.results]

    # -- indices and conditions

    def poly(self, p: Poly, frame: Frame, env: Env) -> int:
        return wrapped(p.evaluate(lambda atom: self.atom(atom, frame, env)))

    def extent(self, p: Poly, frame: Frame, env: Env) -> int:
        """How long an axis is. What does not exist here counts as 0, as in loops (lower/values.py, `there`): state of a loop that has no rounds here is asked for its extents, too."""
        return max(0, wrapped(p.evaluate(lambda atom: self.atom(atom, frame, env) if self.exists(atom, frame, env) else 0)))

    def exists(self, atom: Atom, frame: Frame, env: Env) -> bool:
        if not isinstance(atom, ir.RefAtom):
            return True
        line = atom.ref.line
        home = self.home(line, frame)
        inner: Env = {a: v for a, v in env.items() if a in line.block.ambient}
        inner.update(zip(line.dims, (self.poly(p, frame, env) for p in atom.ref.index), strict=False))
        return all(0 <= inner[d] < self.extent(d.extent, home, inner) for d in line.dims) and all(self.holds(cond, home, inner) for cond in line.conds)

    def atom(self, atom: Atom, frame: Frame, env: Env) -> int:
        if isinstance(atom, ir.RefAtom):
            return int(self.ref(atom.ref, frame, env))
        if atom in env:
            return env[atom]
        if atom in self.sizes:
            return self.sizes[atom]
        f: Frame | None = frame
        while f is not None:
            if atom in f.index:
                return f.index[atom]
            f = f.parent
        raise KeyError(atom)

    def holds(self, cond: ir.Cond, frame: Frame, env: Env) -> bool:
        if cond.poly is not None:
            v = compared(cond.poly, lambda atom: self.atom(atom, frame, env), _is_wide)
            return v >= 0 if cond.kind == "ge" else (v == 0) == (cond.kind == "eq")
        assert cond.ref is not None
        return bool(self.ref(cond.ref, frame, env)) == (cond.kind == "true")

    # -- operands

    def operand(self, x: ir.Operand, frame: Frame, env: Env) -> Any:
        if isinstance(x, ir.Const):
            return x.dtype.numpy.type(x.value)
        if isinstance(x, ir.IndexValue):
            v = self.poly(x.poly, frame, env) & (2**64 - 1)
            return np.int64(v - 2**64 if v >> 63 else v)
        return self.ref(x, frame, env)

    def ref(self, ref: ir.Ref, frame: Frame, env: Env) -> Any:
        index = tuple(self.poly(p, frame, env) for p in ref.index)
        return self.value(ref.line, ref.result, index, frame, env)

    def home(self, line: ir.Line, frame: Frame) -> Frame:
        found: Frame | None = frame
        while found is not None and found.block is not line.block:
            found = found.parent
        assert found is not None, line
        return found

    def value(self, line: ir.Line, result: int, index: tuple[int, ...], frame: Frame, env: Env) -> Any:
        home = self.home(line, frame)
        dims = index[: len(line.dims)]
        axes = index[len(line.dims) :]
        key = (line.id, result, dims)
        if key not in home.memo:
            inner: Env = {a: v for a, v in env.items() if a in line.block.ambient}
            inner.update(zip(line.dims, dims, strict=True))
            for k, d in enumerate(line.dims):
                n = self.poly(d.extent, home, inner)
                assert 0 <= dims[k] < n, f"{line} read at {dims}, extent {n} of {d}"
            for cond in line.conds:
                assert self.holds(cond, home, inner), f"{line} read where {cond} does not hold"
            self.work += 1
            for k, v in enumerate(self.prim(line, home, inner)):
                home.memo[(line.id, k, dims)] = v
        found = home.memo[key]
        if axes:
            assert all(0 <= i < n for i, n in zip(axes, found.shape, strict=True)), f"{line} read at {axes} of {found.shape}"
            return found[axes]
        return found

    def array(self, a: ir.Abs, frame: Frame, env: Env) -> Any:
        """The whole array; a scalar when there are no binders."""
        dtype = ir.operand_dtype(a.body).numpy
        if not a.binders:
            return self.operand(a.body, frame, env)
        return self._rows(a, 0, frame, dict(env), dtype)

    def _rows(self, a: ir.Abs, k: int, frame: Frame, env: Env, dtype: Any) -> Any:
        if k == len(a.binders):
            return self.operand(a.body, frame, env)
        n = self.extent(a.binders[k].extent, frame, env)
        if n == 0:
            shape = [0]
            for b in a.binders[k + 1 :]:
                shape.append(self.extent(b.extent, frame, env))
            return np.zeros(shape, dtype)
        items = []
        for i in range(n):
            env[a.binders[k]] = i
            items.append(self._rows(a, k + 1, frame, env, dtype))
        return np.array(items, dtype)

    def each(self, binders: tuple[ir.Binder, ...], frame: Frame, env: Env) -> Any:
        """All environments the binders range over."""
        if not binders:
            yield env
            return
        for i in range(max(0, self.poly(binders[0].extent, frame, env))):
            yield from self.each(binders[1:], frame, {**env, binders[0]: i})

    # -- effects

    def effects(self, frame: Frame, env: Env) -> None:
        for line in frame.block.lines:
            self.effect(line, frame, env)

    def effect(self, line: ir.Line, frame: Frame, env: Env) -> None:
        if not isinstance(line.prim, ir.EFFECTS) and not has_effect(line):
            return
        for inner in self.where(line.dims, line.conds, frame, env):
            index = tuple(inner[d] for d in line.dims)
            if line.results:
                self.value(line, 0, index, frame, inner)
            else:
                self.prim(line, frame, inner)

    def where(self, dims: tuple[ir.Binder, ...], conds: tuple[ir.Cond, ...], frame: Frame, env: Env) -> Any:
        """All environments of some dims in which conditions hold. Each is asked as soon as its indices are there, as the next extent may exist only under it."""
        while conds and conds[0].leaves().isdisjoint(dims):
            if not self.holds(conds[0], frame, env):
                return
            conds = conds[1:]
        if not dims:
            yield env
            return
        for i in range(max(0, self.poly(dims[0].extent, frame, env))):
            yield from self.where(dims[1:], conds, frame, {**env, dims[0]: i})

    # -- primitives: a list of results

    def prim(self, line: ir.Line, frame: Frame, env: Env) -> list[Any]:
        dtype = line.results[0].dtype if line.results else None
        match line.prim:
            case ir.Input():
                return [self.inputs[line.id]]
            case ir.ConstArray(value):
                return [value]
            case ir.Param(position, _):
                return [frame.params[position]]
            case ir.Op("read", (arg,)) | ir.Active(_, arg, _):
                return [self.operand(arg, frame, env)]
            case ir.Op(name, args):
                return [self.op(name, [self.operand(a, frame, env) for a in args], dtype)]
            case ir.Cast(arg):
                return [self.total_cast(self.operand(arg, frame, env), dtype)]
            case ir.Select(conds, then, orelse):
                taken = then if all(self.holds(c, frame, env) for c in conds) else orelse
                return [self.operand(taken, frame, env)]
            case ir.Truth(cond):
                return [np.bool_(self.holds(cond, frame, env))]
            case ir.Extent(low, high):
                return [np.int64(rounds(int(self.operand(low, frame, env)), int(self.operand(high, frame, env))))]
            case ir.Reduce(monoid, binder, arg):
                return [self.reduce(monoid, binder, arg, dtype, frame, env)]
            case ir.ArgReduce(which, binder, arg):
                values = self.array(ir.Abs((binder,), arg), frame, env)
                return [np.int64((np.argmin if which == "min" else np.argmax)(values)) if len(values) else np.int64(0)]
            case ir.Scan():
                return [self.scan(line.prim, dtype, frame, env)]
            case ir.Fold() | ir.ScanFold():
                return self.fold(line.prim, frame, env)
            case ir.Argsort(binder, key):
                keys = self.array(ir.Abs((binder,), key), frame, env)
                return [np.argsort(keys, kind="stable").astype(np.int64)]
            case ir.Compress(binder, mask, values):
                return self.compress(binder, mask, values, frame, env)
            case ir.Display(items):
                return [np.array([self.operand(i, frame, env) for i in items], dtype.numpy)]  # type: ignore[union-attr]
            case ir.Scatter():
                return [self.scatter(line.prim, line.results[0], frame, env)]
            case ir.ScatterFold():
                return self.scatter_fold(line.prim, frame, env)
            case ir.Loop():
                kept = self.untouched(line.prim, line, frame, env)  # no state at all is kept too: []
                return self.loop(line.prim, frame, env) if kept is None else kept
            case ir.While():
                kept = self.untouched(line.prim, line, frame, env)
                return self.while_(line.prim, frame, env) if kept is None else kept
            case ir.Check():
                return self.check(line.prim, frame, env)
            case ir.CheckUnique():
                self.unique(line.prim, frame, env)
                return []
            case ir.Print():
                self.print(line.prim, frame, env)
                return []
        raise AssertionError(line.prim)

    def op(self, name: str, args: list[Any], dtype: Any) -> Any:
        try:
            own = self.portable and own_meaning(name, tuple(args))
            return dtype.numpy.type((own or PRIMS[name].means)(*args))
        except (DivisionByZero, NegativeShift, NegativePower):
            return dtype.numpy.type(0)  # total: a check stands before it

    def total_cast(self, value: Any, dtype: Any) -> Any:
        try:
            return cast(value, Scalar(dtype))
        except Error:
            return dtype.numpy.type(0)

    def reduce(self, monoid: str, binder: ir.Binder, arg: ir.Operand, dtype: Any, frame: Frame, env: Env) -> Any:
        values = self.array(ir.Abs((binder,), arg), frame, env)
        neutral = dtype.numpy.type(MONOIDS[monoid][1](dtype))
        return reduce_known(monoid, values, neutral, not self.program.reassociate, self.portable)

    def scan(self, p: ir.Scan, dtype: Any, frame: Frame, env: Env) -> Any:
        total = self.operand(p.start, frame, env)
        op = MONOIDS[p.monoid][0]
        out = []
        for inner in self.each((p.binder,), frame, env):
            before = total
            total = self.op(op, [total, self.operand(p.arg, frame, inner)], dtype)
            out.append(before if p.exclusive else total)
        return np.array(out, dtype.numpy)

    def fold(self, p: ir.Fold | ir.ScanFold, frame: Frame, env: Env) -> list[Any]:
        state = [self.array(a, frame, env) for a in p.start]
        history: list[list[Any]] = [[] for _ in state]
        for inner in self.each((p.binder,), frame, env):
            elements = [self.array(a, frame, inner) for a in p.elements]
            before = state
            body = Frame(p.block, frame, [*state, *elements], {})
            ambient = {a: v for a, v in env.items()}
            self.effects(body, ambient)
            state = [self.array(a, body, ambient) for a in p.results]
            if isinstance(p, ir.ScanFold):
                for rows, v in zip(history, before if p.exclusive else state, strict=True):
                    rows.append(v)
        if isinstance(p, ir.Fold):
            return state
        return [
            np.array(rows) if rows else np.zeros((0, *np.shape(first)), np.asarray(first).dtype)
            for rows, first in zip(history, state, strict=True)
        ]

    def compress(self, binder: ir.Binder, mask: ir.Operand, values: tuple[ir.Operand, ...], frame: Frame, env: Env) -> list[Any]:
        keep = self.array(ir.Abs((binder,), mask), frame, env)
        n = len(keep)
        positions = np.nonzero(keep)[0].astype(np.int64)

        def padded(a: Any, dtype: Any) -> Any:
            out = np.zeros(n, dtype)
            out[: len(a)] = a
            return out

        results = [np.int64(len(positions)), padded(positions, np.int64)]
        for value in values:
            picked = [self.operand(value, frame, {**env, binder: int(i)}) for i in positions]
            dtype = ir.operand_dtype(value).numpy
            results.append(padded(np.array(picked, dtype), dtype))
        return results

    def scatter(self, p: ir.Scatter, result: ir.Result, frame: Frame, env: Env) -> Any:
        out = np.array(self.array(p.base, frame, env), result.dtype.numpy)
        own = set(p.binders)
        if not all(self.holds(c, frame, env) for c in p.when if not c.leaves() & own):
            return out
        for inner in self.each(p.binders, frame, env):
            if not all(self.holds(c, frame, inner) for c in p.when):
                continue
            index = tuple(self.poly(q, frame, inner) for q in p.index)
            if not all(0 <= i < n for i, n in zip(index, out.shape, strict=True)):
                assert p.drop, f"scatter to {index} of {out.shape}"
                continue
            value = self.operand(p.value, frame, inner)
            if p.monoid is not None:
                value = self.op(MONOIDS[p.monoid][0], [out[index], value], result.dtype)
            out[index] = value
        return out

    def scatter_fold(self, p: ir.ScatterFold, frame: Frame, env: Env) -> list[Any]:
        outs = [np.array(self.array(a, frame, env)) for a in p.base]
        for inner in self.each((p.binder,), frame, env):
            i = self.poly(p.index, frame, inner)
            if not 0 <= i < len(outs[0]):
                assert p.drop
                continue
            elements = [self.array(a, frame, inner) for a in p.elements]
            body = Frame(p.block, frame, [*(np.array(o[i])[()] for o in outs), *elements], {})
            self.effects(body, env)
            for out, a in zip(outs, p.results, strict=True):
                out[i] = self.array(a, body, env)
        return outs

    def untouched(self, p: ir.Loop | ir.While, line: ir.Line, frame: Frame, env: Env) -> list[Any] | None:
        """The first state of a loop that has no rounds, as far as there is one."""
        if all(self.holds(c, frame, env) for c in p.when):
            return None
        found = []
        for k, (a, result) in enumerate(zip(p.state, line.results, strict=True)):
            there = begins_if(line, k) if a.binders else tuple(cond for ref in ir.operand_refs(a.body) for cond in exists_if(ref))
            if all(self.holds(c, frame, env) for c in there):
                found.append(self.array(a, frame, env))
            else:
                found.append(np.zeros(tuple(self.poly(n, frame, env) for n in result.axes), result.dtype.numpy)[()])
        return found

    def loop(self, p: ir.Loop, frame: Frame, env: Env) -> list[Any]:
        state = [self.array(a, frame, env) for a in p.state]
        for t in range(self.poly(p.size, frame, env)):
            body = Frame(p.block, frame, state, {p.index: t})
            self.effects(body, env)
            state = [self.array(a, body, env) for a in p.results]
        return state

    def while_(self, p: ir.While, frame: Frame, env: Env) -> list[Any]:
        state = [self.array(a, frame, env) for a in p.state]
        most = None if p.index is None else self.poly(p.size, frame, env)
        for t in itertools.count():
            if most is not None and t >= most:
                return state
            body = Frame(p.block, frame, state, {} if p.index is None else {p.index: t})
            for line in p.head:
                self.effect(line, body, env)
            if not self.operand(p.cond, body, env):
                return state
            self.effects(body, env)
            state = [self.array(a, body, env) for a in p.results]
        raise AssertionError

    # -- checks

    def check(self, p: ir.Check, frame: Frame, env: Env) -> list[Any]:
        if not all(self.holds(c, frame, env) for c in p.conds):
            raise_site(p.site, [self.operand(a, frame, env) for a in p.args])
        return [self.operand(p.value, frame, env)] if p.value is not None else []

    def unique(self, p: ir.CheckUnique, frame: Frame, env: Env) -> None:
        seen: set[int] = set()
        n = self.poly(p.size, frame, env)
        for inner in self.each((p.binder,), frame, env):
            i = int(self.operand(p.index, frame, inner))
            if i in seen and 0 <= i < n:
                raise_site(p.site, [i])
            seen.add(i)

    def print(self, p: ir.Print, frame: Frame, env: Env) -> None:
        text = ""
        for part in p.parts:
            if isinstance(part, str):
                text += part
            else:
                (t, arrays), spec = part
                text += format_leaves(t, iter([self.array(a, frame, env) for a in arrays]), spec)
        print(text)


def raise_site(site: ir.Site, args: list[Any]) -> None:
    """Raise the error of a site with the values it shows; compiled code comes here too."""
    values = dict(site.values)
    names = values.pop("args", ())
    if site.code == "E0709":
        known = dict(zip(values["names"], (int(a) for a in args), strict=True))
        need = requirement(values["poly"], lambda atom: known[repr(atom)])
        fail("E0709", name=site.where, what=values["what"], line=site.span.line, need=need)
    template = values.pop("template", ())
    if template:
        values["text"] = "".join(
            part if isinstance(part, str) else format_value(_as(args[part[0]], part[2]), part[1]) for part in template
        )
    for name, arg in zip(names, args, strict=False):
        values[name] = repr(float(arg)) if isinstance(arg, (float, np.floating)) else int(arg)
    fail(site.code, site.span, where=site.where, **values)


def _as(value: Any, t: Any) -> Any:
    return t.dtype.numpy.type(value)


def _is_wide(atom: Atom) -> bool:
    return isinstance(atom, ir.RefAtom) and atom.ref.line.results[atom.ref.result].bound is None
