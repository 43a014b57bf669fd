"""The term of a program in normal form: what schedules start from.

Lines that are element-wise operations and known reductions over closed ranges become scalar terms, put back together where they are used;
a line a user gave a name, or that would be computed again at several places, becomes a `let`; lines of any other kind become opaque nests
(routine.py) between them. Reads and comparisons keep the user's indices; `x if p else 0.0` with an index condition is the guard `[p] x`.

The translation is part of what is trusted (`s.assumptions()`); tests hold the value of the term against the reference interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from atoll.ainf import ir
from atoll.ainf.scan_prim import line_refs, own_binders, parts
from atoll.core.prims import MONOIDS
from atoll.plan.stages import own_cost
from atoll.schedule import term as tm
from atoll.schedule.named_ainf import Named
from atoll.schedule.routine import Routine, gather
from atoll.sizes import ZERO, Atom, Poly, Quot, Sym, poly
from atoll.sizes.prover import Facts, facts
from atoll.types.dtypes import BOOL, I64, DType

_SCALAR = (ir.Op, ir.Cast, ir.Select, ir.Truth)
_SOURCES = (ir.Input, ir.ConstArray)
Reading = tuple[object, tuple[Poly, ...], frozenset[ir.Binder]]  # who reads (a line, or the number of a result), where, under what
_AGAIN = 3  # operations worth keeping a value for, when it is read at several places


class Inexpressible(Exception):
    """Something the tensor language has no form for; the text says what."""


@dataclass
class Source:
    """A term, its free arrays with their shapes, what is known of its unknowns, and where they come from."""

    name: str
    term: tm.Term
    inputs: dict[tm.Tensor, tuple[Poly, ...]]
    facts: tuple[Poly, ...]
    tensors: dict[ir.Line, tm.Tensor]  # inputs and constants
    params: dict[ir.Line, Sym]  # integer arguments used as unknowns
    program: ir.Program
    reassociate: bool = True
    nests: list[Routine] = field(default_factory=list)


def translate(named: Named) -> Source:
    """The term of a program."""
    return _Translation(named).source()


class _Translation:
    def __init__(self, named: Named) -> None:
        self.named, self.program = named, named.program
        self.params: dict[ir.Line, Sym] = {}
        self.tensors: dict[ir.Line, tm.Tensor] = {}
        self.inputs: dict[tm.Tensor, tuple[Poly, ...]] = {}
        self.values: dict[tuple[ir.Line, int], tm.Tensor] = {}
        self.sizes = set(self.program.sizes)
        for line in self.program.inputs:
            assert isinstance(line.prim, ir.Input)
            self._input(line)
        for line in self.program.block.lines:
            if isinstance(line.prim, ir.ConstArray):
                self.tensors[line] = tm.Tensor(line.name, line.results[0].dtype, line.prim.value)
                self.inputs[self.tensors[line]] = line.results[0].axes
        self.uses = self._count()
        self.opaque = {line for line in self.program.block.lines if not isinstance(line.prim, _SOURCES) and not self._expressible(line)}
        self.hidden = self._hide()
        self.kept = self._keep()

    def _input(self, line: ir.Line) -> None:
        result = line.results[0]
        assert isinstance(line.prim, ir.Input)
        name = line.prim.name if line.prim.leaf == 0 else f"{line.prim.name}_{line.prim.leaf}"
        if not result.axes and result.dtype.is_integer and self._is_unknown(line):
            self.params[line] = Sym(name)
            return
        self.tensors[line] = tm.Tensor(name, result.dtype)
        self.inputs[self.tensors[line]] = tuple(self.poly(p, {}) for p in result.axes)

    def _is_unknown(self, line: ir.Line) -> bool:
        """True when an integer argument occurs inside an index or a size."""
        return bool(line.atoms) or line.results[0].dtype.name == "i64"

    # -- which lines are what

    def _count(self) -> dict[ir.Line, set[Reading]]:
        uses: dict[ir.Line, set[Reading]] = {}
        for line in self.program.block.lines:
            around = frozenset((*line.dims, *own_binders(line.prim)))
            for ref in line_refs(line):
                uses.setdefault(ref.line, set()).add((line, ref.index, around))
        for k, array in enumerate(self.program.results):
            for ref in ir.operand_refs(array.body):
                uses.setdefault(ref.line, set()).add((k, ref.index, frozenset(array.binders)))
        return uses

    def _expressible(self, line: ir.Line) -> bool:
        prim = line.prim
        if not isinstance(prim, _SCALAR) and not (isinstance(prim, ir.Reduce) and prim.monoid in MONOIDS):
            return False
        polys: list[Poly] = [d.extent for d in (*line.dims, *own_binders(prim))]
        for part in parts(prim):
            if isinstance(part, Poly):
                polys.append(part)
            elif isinstance(part, ir.Ref):
                if self._by_data(part) and not self._can_look(line, part):
                    return False
                polys += [q for p in part.index for q in (self._inner_polys(p) if self._by_data(part) else (p,))]
            elif isinstance(part, ir.IndexValue):
                polys += self._inner_polys(part.poly)
            elif isinstance(part, ir.Cond):
                polys += self._inner_polys(part.poly) if part.poly is not None else part.ref.index if part.ref is not None else ()
        return all(self._closed(leaf) for p in polys for leaf in p.leaves())

    def _by_data(self, ref: ir.Ref) -> bool:
        """True when the place of an element is decided by data: it is looked up."""
        return any(isinstance(leaf, ir.RefAtom) and leaf.ref.line not in self.params for p in ref.index for leaf in p.leaves())

    def _can_look(self, line: ir.Line, ref: ir.Ref) -> bool:
        """Elements of whole arrays can be looked up. Where a line is computed only under conditions on data, what it looks up by may not be there,
        but for arguments."""
        bare = all(c.poly is not None and all(self._closed(leaf) for leaf in c.poly.leaves()) for c in line.conds)
        given = all(isinstance(leaf.ref.line.prim, _SOURCES) for p in ref.index for leaf in p.leaves() if isinstance(leaf, ir.RefAtom))
        return (bare or given) and self._closed_extents(ref.line)

    def _inner_polys(self, p: Poly) -> list[Poly]:
        """The indices a number made of indices and integer elements is read with; the number itself need not be closed."""
        return [q for leaf in p.leaves() if isinstance(leaf, ir.RefAtom) for q in leaf.ref.index]

    def _closed(self, leaf: Atom) -> bool:
        if isinstance(leaf, ir.RefAtom):
            return leaf.ref.line in self.params
        return isinstance(leaf, ir.Binder) or leaf in self.sizes

    def _closed_extents(self, line: ir.Line) -> bool:
        return all(not isinstance(leaf, ir.Binder) for d in line.dims for leaf in d.extent.leaves())

    def _hide(self) -> set[ir.Line]:
        """Opaque lines of sizes that only the opaque lines around them know: they are part of those."""
        found: set[ir.Line] = set()
        for line in reversed(self.program.block.lines):
            sizes = [d.extent for d in line.dims] + [p for k in range(len(line.results)) for p in line.results[k].axes]
            if line in self.opaque and any(not self._known(p) for p in sizes):
                users = [user for user, _, _ in self.uses.get(line, ())]
                if users and all(isinstance(user, ir.Line) and user in self.opaque for user in users):
                    found.add(line)
        return found

    def _known(self, p: Poly) -> bool:
        return all(self._closed(leaf) and not isinstance(leaf, ir.Binder) for leaf in p.leaves())

    def _keep(self) -> set[ir.Line]:
        """Lines that become named arrays."""
        kept = self.opaque - self.hidden
        again: dict[ir.Line, int] = {}
        only_result = {
            body.line
            for array in self.program.results
            if isinstance(body := array.body, ir.Ref) and len(self.uses.get(body.line, ())) == 1 and not body.line.results[0].axes
        }
        for line in self.program.block.lines:
            if line in self.opaque or isinstance(line.prim, _SOURCES):
                continue
            seen = self.uses.get(line, set())
            if seen and line not in self.named.arrays and all(isinstance(user, ir.Line) and user in self.opaque for user, _, _ in seen):
                continue  # part of what is opaque
            cost = own_cost(line) + sum(again.get(ref.line, 0) for ref in set(line_refs(line)))
            shifted = {index for _, index, _ in seen}
            named = line in self.named.arrays or (line in self.named.scalars and not line.dims)
            wanted = named and not (isinstance(line.prim, ir.Op) and line.prim.name == "read")
            if isinstance(line.prim, ir.Reduce):
                cost += 100
            looked_up = any(isinstance(leaf, ir.RefAtom) and leaf.ref.line not in self.params for _, index, _ in seen for p in index for leaf in p.leaves())
            again_and_again = any(not around <= _leaves(index) for _, index, around in seen)
            if cost >= _AGAIN and (len(shifted) > 1 or again_and_again):
                wanted = True
            if looked_up or (isinstance(line.prim, ir.Reduce) and len(seen) > 1):
                wanted = True
            if wanted and line not in only_result and self._closed_extents(line) and seen:
                kept.add(line)
                cost = 0
            again[line] = cost
        return kept

    # -- the whole program

    def source(self) -> Source:
        items: list[tuple[ir.Line, Routine | None]] = []
        nests: list[Routine] = []
        for line in self.program.block.lines:
            if line in self.opaque and line not in self.hidden:
                routine = gather(self.program, line, self.kept, self.params)
                nests.append(routine)
                items.append((line, routine))
            elif line in self.kept:
                items.append((line, None))
        taken = {x.name for x in self.inputs} | {sym.name for sym in self.params.values()}
        for line, _ in items:
            for k, result in enumerate(line.results):
                self.values[(line, k)] = tm.Tensor(_unique(self._name(line, k), taken), result.dtype)
        results = [self.result(array) for array in self.program.results]
        results = [_distinct(_pruned(t), frozenset()) for t in results]
        whole: tm.Term = results[0] if len(results) == 1 else tm.Many(tuple(results))
        for line, opaque in reversed(items):
            whole = self.let(line, whole) if opaque is None else self.nest(line, opaque, whole)
        facts = tuple(poly(s) for s in self.program.sizes) + tuple(self.poly(p, {}) for p in self.program.facts)
        return Source(self.program.name, whole, self.inputs, facts, self.tensors, self.params, self.program, self.program.reassociate, nests)

    def _name(self, line: ir.Line, result: int) -> str:
        name = self.named.arrays.get(line) or self.named.scalars.get(line) or line.name
        return name if result == 0 else f"{name}_{result}"

    def let(self, line: ir.Line, body: tm.Term) -> tm.Term:
        syms = [Sym(d.name) for d in line.dims]
        env: dict[Atom, Poly] = {d: poly(s) for d, s in zip(line.dims, syms, strict=True)}
        bound = _Scalars(self, self._ranges(line.dims, syms)).body(line, env)
        for d, sym in zip(reversed(line.dims), reversed(syms), strict=True):
            bound = tm.Gen(sym, ZERO, self.poly(d.extent, {}), bound)
        return tm.Let(self.values[(line, 0)], _distinct(_pruned(bound), frozenset()), body)

    def nest(self, line: ir.Line, routine: Routine, body: tm.Term) -> tm.Term:
        names = tuple(self.values[key] for key in routine.results)
        shapes = tuple(tuple(self.poly(p, {}) for p in line.extents(k)) for k in range(len(line.results)))
        for shape in shapes:
            for p in shape:
                if any(isinstance(leaf, (ir.RefAtom, ir.Binder)) for leaf in p.leaves()):
                    what = self.named.arrays.get(line) or "a part of it"
                    raise Inexpressible(f"the size of {what} is decided while the program runs")
        args = tuple(self.tensors.get(source) or self.values[(source, k)] for source, k in routine.given)
        return tm.Nest(names, shapes, routine, args, body, self._checked(line), routine.rows)

    def _checked(self, line: ir.Line) -> tuple[Poly, ...]:
        """What holds after a check on sizes."""
        if not isinstance(line.prim, ir.Check) or line.dims or line.conds:
            return ()
        found = [p for cond in line.prim.conds for p in cond.facts()]
        return tuple(self.poly(p, {}) for p in found if all(leaf in self.sizes for leaf in p.leaves()))

    def result(self, array: ir.Abs) -> tm.Term:
        """One result: loops named after the line it is, when it is one."""
        names = [b.name for b in array.binders]
        body = array.body
        if isinstance(body, ir.Ref):
            for d, p in zip(body.line.dims, body.index, strict=False):
                for k, b in enumerate(array.binders):
                    if p == poly(b):
                        names[k] = d.name
        syms = [Sym(name) for name in names]
        env: dict[Atom, Poly] = {b: poly(s) for b, s in zip(array.binders, syms, strict=True)}
        for b in array.binders:
            if not all(self._closed(leaf) and not isinstance(leaf, ir.Binder) for leaf in b.extent.leaves()):
                raise Inexpressible("the size of the result is decided while the program runs")
        scalars = _Scalars(self, self._ranges(array.binders, syms))
        if isinstance(body, ir.Ref) and body.line not in self.kept and not isinstance(body.line.prim, _SOURCES):
            inner = dict(env)
            inner.update({d: p.subst(env) for d, p in zip(body.line.dims, body.index, strict=True)})
            term = scalars.body(body.line, inner)
        else:
            term = scalars.wrapped(lambda: scalars.operand(body, env))
        for b, sym in zip(reversed(array.binders), reversed(syms), strict=True):
            term = tm.Gen(sym, ZERO, self.poly(b.extent, {}), term)
        return term

    def _ranges(self, binders: Sequence[ir.Binder], syms: list[Sym]) -> Facts:
        """What is known inside these loops."""
        known = [poly(s) for s in self.program.sizes] + [self.poly(p, {}) for p in self.program.facts]
        for b, s in zip(binders, syms, strict=True):
            known += [poly(s), self.poly(b.extent, {}) - 1 - s]
        return facts().add(known)

    def poly(self, p: Poly, env: dict[Atom, Poly]) -> Poly:
        """A polynomial of the normal form over the term's unknowns."""
        found: dict[Atom, Poly] = {}
        for leaf in p.leaves():
            if leaf in env:
                found[leaf] = env[leaf]
            elif isinstance(leaf, ir.RefAtom) and leaf.ref.line in self.params:
                found[leaf] = poly(self.params[leaf.ref.line])
        return p.subst(found) if found else p


class _Scalars:
    """Scalar terms of one loop body; a value read twice in it is bound to a name there."""

    def __init__(self, outer: _Translation, known: Facts) -> None:
        self.outer, self.known = outer, known
        self.levels: list[tuple[dict[tuple[ir.Line, tuple[Poly, ...]], tm.Tensor], list[tuple[tm.Tensor, tm.Term]], set[Atom]]] = []
        self.counts: dict[tuple[ir.Line, tuple[Poly, ...]], int] = {}

    def body(self, line: ir.Line, env: dict[Atom, Poly]) -> tm.Term:
        self._count_refs(line, env, set())
        return self.wrapped(lambda: self.prim(line, env))

    def wrapped(self, make: object, own: frozenset[Atom] = frozenset()) -> tm.Term:
        """A body with the lets that belong right around it."""
        self.levels.append(({}, [], set(own)))
        term: tm.Term = make()  # type: ignore[operator]
        _, lets, _ = self.levels.pop()
        for name, bound in reversed(lets):
            term = tm.Let(name, bound, term)
        return term

    def _count_refs(self, line: ir.Line, env: dict[Atom, Poly], seen: set[object]) -> None:
        """How often each line is read at each index inside one body, looking through lines that are not kept."""
        for ref in self._direct(line):
            if self.outer._by_data(ref):
                continue
            index = tuple(self.outer.poly(p, env) for p in ref.index)
            key = (ref.line, index)
            self.counts[key] = self.counts.get(key, 0) + 1
            if ref.line in self.outer.kept or isinstance(ref.line.prim, _SOURCES) or key in seen:
                continue
            seen.add(key)
            self._count_refs(ref.line, dict(zip(ref.line.dims, index, strict=True)), seen)

    def _direct(self, line: ir.Line) -> Iterator[ir.Ref]:
        for part in parts(line.prim):
            if isinstance(part, ir.Ref):
                yield part
            elif isinstance(part, ir.Cond) and part.ref is not None:
                yield part.ref

    # -- terms

    def operand(self, x: ir.Operand, env: dict[Atom, Poly]) -> tm.Term:
        if isinstance(x, ir.Const):
            return tm.Lit(x.value, x.dtype)
        if isinstance(x, ir.IndexValue):
            return self.number(x.poly, env)
        return self.ref(x, env)

    def number(self, p: Poly, env: dict[Atom, Poly]) -> tm.Term:
        """An integer made of indices, sizes and integer elements: the latter are read, the rest stays a polynomial."""
        if all(self.outer._closed(leaf) for leaf in p.leaves()):
            return tm.Index(self.outer.poly(p, env))
        closed, total = poly(0), None
        for mono, coef in p.terms.items():
            rest = poly(coef)
            factors: list[tm.Term] = []
            for atom in mono:
                if all(self.outer._closed(leaf) for leaf in atom.leaves()):
                    rest = rest * self.outer.poly(poly(atom), env)
                elif isinstance(atom, Quot):
                    factors.append(tm.Op("floordiv", (self.number(atom.num, env), self.number(atom.den, env)), I64))
                else:
                    assert isinstance(atom, ir.RefAtom)
                    read = self.ref(atom.ref, env)
                    factors.append(read if tm.dtype(read) is I64 else tm.Cast(read, I64))
            if not factors:
                closed = closed + rest
                continue
            product = factors[0]
            for factor in factors[1:]:
                product = tm.Op("mul", (product, factor), I64)
            if rest.const() != 1:
                product = tm.Op("mul", (tm.Index(rest), product), I64)
            total = product if total is None else tm.Op("add", (total, product), I64)
        assert total is not None
        return tm.Op("add", (total, tm.Index(closed)), I64) if closed.terms else total

    def ref(self, ref: ir.Ref, env: dict[Atom, Poly]) -> tm.Term:
        outer, line = self.outer, ref.line
        if outer._by_data(ref):
            made = (self.number(p, env) for p in ref.index)
            return tm.Look(outer.tensors.get(line) or outer.values[(line, ref.result)], tuple(made))
        index = tuple(outer.poly(p, env) for p in ref.index)
        if line in outer.params:
            return tm.Index(poly(outer.params[line]))
        if line in outer.tensors:
            return tm.Get(outer.tensors[line], index)
        if (line, ref.result) in outer.values:
            return tm.Get(outer.values[(line, ref.result)], index)
        inner: dict[Atom, Poly] = dict(zip(line.dims, index, strict=True))
        key = (line, index)
        shared = self.counts.get(key, 0) > 1 and not line.conds and own_cost(line) > 0
        if not shared or not self._always(line, index):
            return self.prim(line, inner)
        for names, _, _ in self.levels:
            if key in names:
                return tm.Get(names[key], ())
        bound = self.prim(line, inner)
        free = frozenset().union(*(p.leaves() for p in index))
        level = max((k for k, (_, _, own) in enumerate(self.levels) if own & free), default=0)
        names, lets, _ = self.levels[level]
        name = tm.Tensor(outer.named.scalars.get(line) or outer.named.arrays.get(line) or line.name, line.results[0].dtype)
        names[key] = name
        lets.append((name, bound))
        return tm.Get(name, ())

    def _always(self, line: ir.Line, index: tuple[Poly, ...]) -> bool:
        """True when an element exists in every round of the loops around, not only where a guard holds."""
        return all(self.known.proves_range(p, self.outer.poly(d.extent, {})) for d, p in zip(line.dims, index, strict=True))

    def prim(self, line: ir.Line, env: dict[Atom, Poly]) -> tm.Term:
        """The value of a line at an index."""
        d = line.results[0].dtype
        match line.prim:
            case ir.Op("read", (arg,)):
                made = self.operand(arg, env)
            case ir.Op(name, args):
                made = tm.Op(name, tuple(self.operand(a, env) for a in args), d)
            case ir.Cast(arg):
                made = _cast(self.operand(arg, env), d)
            case ir.Truth(cond):
                made = tm.Choose((self.test(cond, env),), tm.Lit(True, d), tm.Lit(False, d))
            case ir.Select(conds, then, orelse):
                made = self.select(conds, then, orelse, env)
            case ir.Reduce(monoid, binder, arg):
                sym = Sym(self._reduction_name(binder, arg))
                inner = {**env, binder: poly(sym)}
                extent = self.outer.poly(binder.extent, env)
                before, self.known = self.known, self.known.add((poly(sym), extent - 1 - sym))
                body = self.wrapped(lambda: self.operand(arg, inner), frozenset((sym,)))
                self.known = before
                if not self.outer.program.reassociate and tm.accumulates(body, monoid):
                    part = tm.Tensor("part", tm.dtype(body))  # sums of sums keep their own order
                    body = tm.Let(part, body, tm.Get(part, ()))
                made = tm.Sum(sym, ZERO, extent, body, monoid)
            case _:
                raise AssertionError(line.prim)
        facts = (p for c in line.conds for p in c.facts())
        needed = [self.outer.poly(p, env) for p in facts if all(self.outer._closed(leaf) for leaf in p.leaves())]
        return tm.guard(tuple(needed), made)

    def _reduction_name(self, binder: ir.Binder, arg: ir.Operand) -> str:
        if binder.name == "r" and isinstance(arg, ir.Ref):
            for d, p in zip(arg.line.dims, arg.index, strict=False):
                if p == poly(binder):
                    return d.name
        return binder.name

    def test(self, cond: ir.Cond, env: dict[Atom, Poly]) -> tm.Test:
        if cond.poly is not None:
            if all(self.outer._closed(leaf) for leaf in cond.poly.leaves()):
                return tm.Test(cond.kind, self.outer.poly(cond.poly, env))
            return tm.Test("true", None, tm.Op(cond.kind, (self.number(cond.poly, env), tm.Index(poly(0))), BOOL))
        assert cond.ref is not None
        return tm.Test(cond.kind, None, self.ref(cond.ref, env))

    def select(self, conds: tuple[ir.Cond, ...], then: ir.Operand, orelse: ir.Operand, env: dict[Atom, Poly]) -> tm.Term:
        if _is_zero(orelse) and all(c.kind in ("ge", "eq") and self._index_only(c) for c in conds):
            known = tuple(self.outer.poly(p, env) for c in conds for p in c.facts())
            return tm.guard(known, self.operand(then, env))
        if _is_zero(then) and len(conds) == 1 and conds[0].kind == "ge" and self._index_only(conds[0]):
            assert conds[0].poly is not None
            return tm.guard((-self.outer.poly(conds[0].poly, env) - 1,), self.operand(orelse, env))
        tests = tuple(self.test(c, env) for c in conds)
        return tm.Choose(tests, self.operand(then, env), self.operand(orelse, env))

    def _index_only(self, cond: ir.Cond) -> bool:
        return cond.poly is not None and all(self.outer._closed(leaf) for leaf in cond.poly.leaves())


def _cast(t: tm.Term, d: DType) -> tm.Term:
    """A conversion; constants are converted here, and the zero beside a guard is a zero in any type."""
    if isinstance(t, tm.Guard):
        return tm.guard(t.conds, _cast(t.body, d))
    if isinstance(t, tm.Lit) and d.is_float and (t.dtype.is_float or t.dtype.is_integer):
        return tm.Lit(float(d.numpy.type(t.value)), d)
    return tm.Cast(t, d)


def _leaves(index: tuple[Poly, ...]) -> frozenset[Atom]:
    return frozenset().union(*(p.leaves() for p in index))


def _pruned(t: tm.Term, known: frozenset[Poly] = frozenset()) -> tm.Term:
    """Without conditions that a guard around has already."""
    if isinstance(t, tm.Guard):
        kept = tuple(c for c in t.conds if c not in known)
        return tm.guard(kept, _pruned(t.body, known | frozenset(kept)))
    return tm.map_kids(t, lambda u: _pruned(u, known))


def _distinct(t: tm.Term, around: frozenset[str]) -> tm.Term:
    """Loops inside each other have different names."""
    if isinstance(t, (tm.Gen, tm.Sum)):
        name = _unique(t.sym.name, set(around))
        if name != t.sym.name:
            sym = Sym(name)
            renamed = tm.substitute(t, {t.sym: poly(sym)}, None, {t.sym: sym})
            assert isinstance(renamed, (tm.Gen, tm.Sum))
            t = renamed
        around = around | {name}
    return tm.map_kids(t, lambda u: _distinct(u, around))


def _unique(name: str, taken: set[str]) -> str:
    """The name, numbered when something else has it already."""
    found, n = name, 2
    while found in taken:
        found, n = f"{name}_{n}", n + 1
    taken.add(found)
    return found


def _is_zero(x: ir.Operand) -> bool:
    """A constant zero; not the negative one."""
    return isinstance(x, ir.Const) and not isinstance(x.value, bool) and x.value == 0 and str(x.value)[0] != "-"
