"""The values of lines as expressions over loop indices, variables and memory.

A reference to a stage reads its place; a reference to an inlined line becomes the line's expression, a variable when it is used more
than once, and an `if` when the line has conditions that do not already hold. What only one branch of a choice may read stays in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.ainf import ir
from atoll.ainf.guards import extents_at
from atoll.ainf.identity import identity_of
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.lower.in_range import always_holds, in_range
from atoll.lower.places import AgainPlace, BufferPlace, Place, Scope, VarPlace
from atoll.plan.fuse import Fuser
from atoll.plan.inplace import InPlace
from atoll.plan.stages import Inlining, Stage
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import BOOL, I64

if TYPE_CHECKING:
    from atoll.lower.block import BlockLowerer
    from atoll.lower.function import FunctionLowerer

_DEPTH = 10


class Values:
    """What the values of a block's lines are, where it is being lowered."""

    fn: FunctionLowerer
    parent: BlockLowerer | None
    block: ir.Block
    places: dict[tuple[ir.Line, int], Place]
    ambient: dict[Atom, Poly]  # what fixed indices are here
    inlining: Inlining
    inplace: InPlace
    fuser: Fuser
    uses: dict[ir.Line, int]

    def env(self, stage: Stage) -> dict[Atom, Poly]:
        """What a stage's indices are in the loops around it."""
        env: dict[Atom, Poly] = dict(self.ambient)
        for binder in (*stage.dims, *stage.inner):
            known = self.fuser.syms.get((stage, binder))
            if known is not None:
                env[binder] = known
        return env

    def owner(self, line: ir.Line) -> BlockLowerer:
        lowerer: BlockLowerer | None = self  # type: ignore[assignment]
        while lowerer is not None and lowerer.block is not line.block:
            lowerer = lowerer.parent
        assert lowerer is not None, f"{line} belongs to no enclosing block"
        return lowerer

    def place(self, line: ir.Line, result: int) -> Place:
        return self.owner(line).places[(line, result)]

    def translate(self, p: Poly, env: dict[Atom, Poly], scope: Scope, is_bound: bool = False) -> Poly:
        """A polynomial over lines' indices as one over loop indices and variables. A bound of a loop is asked for before the conditions that the loop's body is under."""
        replace: dict[Atom, Poly] = {}
        for leaf in p.leaves():
            if isinstance(leaf, ir.RefAtom):
                replace[leaf] = self.index_ref(leaf.ref, env, scope, is_bound)
            elif leaf in env:
                replace[leaf] = env[leaf]
            elif leaf in self.ambient:
                replace[leaf] = self.ambient[leaf]
        return p.subst(replace) if replace else p

    def index_ref(self, ref: ir.Ref, env: dict[Atom, Poly], scope: Scope, is_bound: bool = False) -> Poly:
        """The value of a line inside an index; read once per scope."""
        index = tuple(self.translate(p, env, scope, is_bound) for p in ref.index)
        key = ("index", ref.line, ref.result, index)
        known = scope.known(key)
        if known is None:
            known = lp.Index(self.as_index(self.there(ref, index, env, scope, is_bound), scope))
            scope.memo[key] = known
        assert isinstance(known, lp.Index)
        return known.poly

    def there(self, ref: ir.Ref, index: tuple[Poly, ...], env: dict[Atom, Poly], scope: Scope, is_bound: bool) -> lp.Expr:
        """The value of a line inside an index or a bound: 0 where its conditions do not hold. Memory holds nothing there, and a reduction its neutral element,
        but the bounds of a loop are asked for in every round of the loop around it; so a bound is 0, too, where the line has no such element."""
        owner = self.owner(ref.line)
        place = None if owner.inlining.is_inlined(ref.line) else owner.places[(ref.line, ref.result)]
        held = isinstance(place, BufferPlace) or (isinstance(place, VarPlace) and isinstance(ref.line.prim, ir.Reduce))
        tests = self._beside(ref, index, scope) if is_bound else ()
        if held and ref.line.conds:
            tests += owner.tests(ref.line.conds, {**owner.ambient, **dict(zip(ref.line.dims, index, strict=False))}, scope)
        if not tests:
            return self.ref(ref, env, scope)
        dtype = ref.line.results[ref.result].dtype
        var, inner = self.fn.line_var(ref.line, dtype, ref.line.results[ref.result].bound is not None), scope.child(*tests)
        scope.add(lp.Declare(var, self.fn.zero(dtype)))
        inner.add(lp.Assign(var, self.ref(ref, env, inner)))
        scope.add(lp.If(tests, inner.stmts))
        return lp.Use(var)

    def _beside(self, ref: ir.Ref, index: tuple[Poly, ...], scope: Scope) -> tuple[lp.Test, ...]:
        """What says that an index of loops lies in its axis, where the ranges of these loops and the tests around do not. An index that is data was checked."""
        ranges, sizes = self.fn.ranges, self.fn.program.sizes
        tests: list[lp.Test] = []
        for p, extent in zip(index, extents_at(ref.line, ref.result, ref.index), strict=True):
            if in_range(p, extent, ranges, sizes) or not all(leaf in ranges or leaf in self.fn.size_atoms for leaf in (*p.leaves(), *extent.leaves())):
                continue
            tests += [t for t in (lp.Test("ge", p), lp.Test("ge", extent - 1 - p)) if not always_holds(t, ranges, sizes) and t not in scope.holds]
        return tuple(tests)

    def as_index(self, e: lp.Expr, scope: Scope) -> Poly:
        """An integer expression as something that can stand in an index."""
        if isinstance(e, lp.Use):
            return poly(e.var.atom)
        if isinstance(e, lp.Index):
            return e.poly
        if isinstance(e, lp.Const):
            return poly(int(e.value))
        var = self.fn.var("k", I64)
        scope.add(lp.Let(var, e))
        return poly(var.atom)

    def value(self, operand: ir.Operand, env: dict[Atom, Poly], scope: Scope, depth: int = 0) -> lp.Expr:
        if isinstance(operand, ir.Const):
            return lp.Const(operand.value, operand.dtype)
        if isinstance(operand, ir.IndexValue):
            p = self.translate(operand.poly, env, scope)
            atom = p.single()
            return lp.Use(atom.var) if isinstance(atom, lp.VarAtom) else lp.Index(p)
        return self.ref(operand, env, scope, depth)

    def ref(self, ref: ir.Ref, env: dict[Atom, Poly], scope: Scope, depth: int = 0) -> lp.Expr:
        index = tuple(self.translate(p, env, scope) for p in ref.index)
        owner = self.owner(ref.line)
        inner: dict[Atom, Poly] = {**owner.ambient, **dict(zip(ref.line.dims, index, strict=False))}
        inlined = owner.inlining.is_inlined(ref.line)
        scope.guarded |= not self._total(ref, index) or (bool(ref.line.conds) and not inlined)
        if not inlined:
            place = owner.places[(ref.line, ref.result)]
            if isinstance(place, AgainPlace):
                assert isinstance(ref.line.prim, ir.Check) and ref.line.prim.value is not None
                return owner.value(ref.line.prim.value, inner, scope, depth)
            return self.read(place, index)
        key = (ref.line, ref.result, index)
        found = scope.known(key)
        if found is not None:
            return found
        return owner.inline(ref.line, inner, scope, key, depth)

    def read(self, place: Place, index: tuple[Poly, ...]) -> lp.Expr:
        if isinstance(place, VarPlace):
            return place.expr
        assert isinstance(place, BufferPlace)
        return lp.Load(place.buffer, place.index(index))

    def inline(self, line: ir.Line, env: dict[Atom, Poly], scope: Scope, key: object, depth: int) -> lp.Expr:
        """The value of an inlined line: an expression when used once, a variable otherwise."""
        dtype = line.results[0].dtype
        tests = self.tests(line.conds, env, scope)
        if tests and dtype is I64 and isinstance(line.prim, ir.Op) and line.prim.name == "read":
            inner = scope.child(*tests)
            e = self.expression(line, env, inner, 0)
            if not inner.guarded and inner.relied <= scope.holds:  # an index that can be computed whether it is used or not
                scope.absorb(inner)
                scope.memo[key] = lp.Index(self.as_index(e, scope))
                return scope.memo[key]
        if tests:
            var = self.fn.line_var(line, dtype, line.results[0].bound is not None)
            scope.add(lp.Declare(var, self.fn.zero(dtype)))
            inner = scope.child(*tests)
            inner.add(lp.Assign(var, self.expression(line, env, inner, 0)))
            scope.add(lp.If(tests, inner.stmts))
            scope.guarded |= len(tests) < len(line.conds) or (inner.guarded and bool(scope.holds))  # it may need more than its tests
            scope.memo[key] = lp.Use(var)
            return lp.Use(var)
        scope.guarded |= bool(line.conds)  # the tests hold here, but not further out
        shared = self.uses.get(line, 0) > 1 or depth >= _DEPTH
        e = self.expression(line, env, scope, 0 if shared else depth + 1)
        if shared and not isinstance(e, (lp.Use, lp.Const, lp.Index)):
            var = self.fn.line_var(line, dtype, line.results[0].bound is not None)
            scope.add(lp.Let(var, e))
            e = lp.Use(var)
        if shared and isinstance(e, lp.Use):
            scope.memo[key] = e
        return e

    def expression(self, line: ir.Line, env: dict[Atom, Poly], scope: Scope, depth: int) -> lp.Expr:
        dtype = line.results[0].dtype
        match line.prim:
            case ir.Op("read", (arg,)):
                return self.value(arg, env, scope, depth)
            case ir.Op(name, args):
                return lp.Call(name, tuple(self.value(a, env, scope, depth) for a in args), dtype, lp.Origin(line.origins))
            case ir.Cast(arg):
                return lp.Cast(self.value(arg, env, scope, depth), dtype, lp.Origin(line.origins))
            case ir.Select(conds, then, orelse):
                return self.choose(self.tests(conds, env, scope), then, orelse, line, env, scope, depth)
            case ir.Truth(cond):
                tests = self.tests((cond,), env, scope)
                return lp.Truth(tests) if tests else lp.Const(True, BOOL)
            case ir.Extent(low, high):
                bounds = (self.value(low, env, scope, depth), self.value(high, env, scope, depth))
                return lp.Call("extent", bounds, I64, lp.Origin(line.origins))
        raise AssertionError(line.prim)

    def choose(
        self, tests: tuple[lp.Test, ...], then: ir.Operand, orelse: ir.Operand, line: ir.Line, env: dict[Atom, Poly], scope: Scope, depth: int
    ) -> lp.Expr:
        """One of two values; statements that only one of them may do stay in its branch."""
        if not tests or (len(tests) == 1 and tests[0].negated() in scope.holds):
            scope.relied |= {t.negated() for t in tests}
            return self.value(orelse if tests else then, env, scope, depth)
        yes, no = scope.child(*tests), scope.child(*((tests[0].negated(),) if len(tests) == 1 else ()))
        values = self.value(then, env, yes, depth), self.value(orelse, env, no, depth)
        if not any(branch.guarded and branch.stmts for branch in (yes, no)):
            for branch in (yes, no):
                branch.guarded &= bool(scope.holds)  # a choice reads only what it chooses, but may need what holds around it
                scope.absorb(branch)
            return lp.Choose(tests, *values, lp.Origin(line.origins))
        scope.guarded |= bool(scope.holds) and (yes.guarded or no.guarded)
        dtype = line.results[0].dtype
        var = self.fn.var("v", dtype)
        var.origin = lp.Origin(line.origins)
        yes.add(lp.Assign(var, values[0]))
        no.add(lp.Assign(var, values[1]))
        scope.add(lp.Declare(var, self.fn.zero(dtype)))
        scope.add(lp.If(tests, yes.stmts, no.stmts))
        return lp.Use(var)

    def tests(self, conds: tuple[ir.Cond, ...], env: dict[Atom, Poly], scope: Scope) -> tuple[lp.Test, ...]:
        """Conditions that do not hold already, in order: what a later one computes for itself may need the earlier ones. What had to be asked step by step is asked once
        in a scope: every update of a branch has the conditions of the branch."""
        found, asked = self._asked(conds, env, scope)
        for number, cond in enumerate(conds[asked:], asked + 1):
            inner = scope.child(*found)
            if cond.poly is not None:
                test = lp.Test(cond.kind, self.translate(cond.poly, env, inner))
                if not inner.stmts and always_holds(test, self.fn.ranges, self.fn.program.sizes):
                    continue
            else:
                assert cond.ref is not None
                test = lp.Test(cond.kind, None, self.kept(self.ref(cond.ref, env, inner), inner))
            if test in scope.holds and not inner.stmts:
                scope.relied.add(test)
                continue
            if found and inner.guarded and inner.stmts:
                both = self.fn.var("c", BOOL)
                inner.add(lp.Assign(both, lp.Truth((test,))))
                scope.add(lp.Declare(both, self.fn.zero(BOOL)))
                scope.add(lp.If(tuple(found), inner.stmts))
                scope.memo[self._conditions_here(conds[:number], env)] = lp.Use(both)
                found = [lp.Test("true", None, lp.Use(both))]
            else:
                scope.absorb(inner)
                found.append(test)
        return tuple(found)

    def _asked(self, conds: tuple[ir.Cond, ...], env: dict[Atom, Poly], scope: Scope) -> tuple[list[lp.Test], int]:
        """The first of the conditions as one test, where a variable says already whether they hold; and how many they are."""
        for number in range(len(conds), 1, -1):
            known = scope.known(self._conditions_here(conds[:number], env))
            if known is not None:
                return [lp.Test("true", None, known)], number
        return [], 0

    def _conditions_here(self, conds: tuple[ir.Cond, ...], env: dict[Atom, Poly]) -> object:
        """Conditions, and what their indices are here."""
        places = {**self.ambient, **env}
        return "conditions", conds, frozenset((leaf, places[leaf]) for cond in conds for leaf in cond.leaves() if leaf in places)

    def kept(self, e: lp.Expr, scope: Scope) -> lp.Expr:
        """A bool that stays what it is: in a variable when it stands in memory that an update changes."""
        changing = {place.buffer for base in self.inplace.taken if isinstance(place := self._place_of(*base), BufferPlace)}
        if not changing or not any(isinstance(x, lp.Load) and x.buffer in changing for x in lp.subexprs(e)):
            return e
        var = self.fn.var("c", BOOL)
        scope.add(lp.Let(var, e))
        return lp.Use(var)

    def _place_of(self, line: ir.Line, result: int) -> Place | None:
        return self.owner(line).places.get((line, result))

    def neutral(self, monoid: str, dtype: Any) -> lp.Const:
        value = MONOIDS[monoid][1](dtype)
        if dtype is BOOL:
            return lp.Const(bool(value), dtype)
        if dtype.is_integer:
            return lp.Const(int(value), dtype)
        return lp.Const(complex(value) if dtype.is_complex else float(value), dtype)

    def is_kept(self, line: ir.Line) -> bool:
        """True for a line with memory of its own."""
        return not self.owner(line).inlining.is_inlined(line)

    def fill(self, array: ir.Abs, buffer: lp.Buffer, prefix: tuple[Poly, ...], env: dict[Atom, Poly], scope: Scope) -> None:
        """buffer[prefix, i, ...] = element, for all i."""
        found = identity_of(array, kept=self.is_kept) if not prefix else None
        if found is not None and not found[0].dims and not self.owner(found[0]).inlining.is_inlined(found[0]):
            place = self.place(*found)
            same = tuple(b.extent for b in array.binders) == found[0].extents(found[1])
            if same and isinstance(place, BufferPlace) and place.positions == tuple(range(len(array.binders))) and not place.offsets:
                scope.add(lp.CopyBuffer(buffer, place.buffer))
                return
        self._fill(array, 0, buffer, prefix, dict(env), scope)

    def _fill(self, array: ir.Abs, k: int, buffer: lp.Buffer, index: tuple[Poly, ...], env: dict[Atom, Poly], scope: Scope) -> None:
        if k == len(array.binders):
            scope.add(lp.Store(buffer, index, self.value(array.body, env, scope)))
            return
        binder = array.binders[k]
        sym = Sym(binder.name)
        high = self.fn.ranges[sym] = self.translate(binder.extent, env, scope)
        inner = scope.child()
        self._fill(array, k + 1, buffer, (*index, poly(sym)), {**env, binder: poly(sym)}, inner)
        scope.add(lp.For(sym, poly(0), high, inner.stmts, parallel=True))

    def whole_buffer(self, array: ir.Abs, env: dict[Atom, Poly], scope: Scope, name: str, reason: str) -> lp.Buffer:
        """A contiguous buffer that holds the array: the one it lives in, or a filled copy."""
        found = identity_of(array, kept=self.is_kept)
        if found is not None:
            line, result = found
            if not line.dims and not self.owner(line).inlining.is_inlined(line):
                place = self.place(line, result)
                if isinstance(place, BufferPlace) and not place.offsets:
                    return place.buffer
        extents = tuple(self.translate(b.extent, env, scope) for b in array.binders)
        buffer = self.fn.buffer(name, ir.operand_dtype(array.body), extents, "temp", reason)
        if isinstance(array.body, ir.Ref):
            buffer.origin = lp.Origin(array.body.line.origins)
        scope.add(lp.Alloc(buffer))
        self.fill(array, buffer, (), env, scope)
        return buffer

    def abs_value(self, array: ir.Abs, env: dict[Atom, Poly], scope: Scope, name: str) -> Place:
        """A scalar as a variable, an array in a buffer."""
        if not array.binders:
            var = self.fn.var(name, ir.operand_dtype(array.body))
            scope.add(lp.Let(var, self.value(array.body, env, scope)))
            return VarPlace(lp.Use(var))
        buffer = self.whole_buffer(array, env, scope, name, "an element of a reduction")
        return BufferPlace(buffer, tuple(range(len(array.binders))))

    def _total(self, ref: ir.Ref, index: tuple[Poly, ...]) -> bool:
        """True when a reference is in range whatever its indices are: each is an index of the same extent, counted from either end, or a constant, or the ranges of the loops
        around say so of where it is here (`index`)."""
        for p, here, extent in zip(ref.index, index, extents_at(ref.line, ref.result, ref.index), strict=True):
            atom, const, limit = p.single(), p.const(), extent.const()
            if atom is None and const is None:
                atom = (extent - 1 - p).single()
            if isinstance(atom, ir.Binder) and atom.extent == extent:
                continue
            if isinstance(atom, Sym) and self.fn.rounds.get(atom) == extent:
                continue
            if const is not None and limit is not None and 0 <= const < limit:
                continue
            if not in_range(here, extent, self.fn.ranges, self.fn.program.sizes):
                return False
        return True
