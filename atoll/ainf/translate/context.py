"""What every part of the translation shares: the builder, values as leaves, sizes, conditions, and safe reads."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.guards import guard_cond, guard_operand, guard_ref
from atoll.ainf.keep import mark
from atoll.ainf.translate.into_state import IntoState
from atoll.ainf.values import Formula, Scalar, Value, VArray, VTuple, abstraction, index_poly, rows
from atoll.core import ir as core
from atoll.errors import NOWHERE, Span
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.machine import bounds
from atoll.types.dtypes import BOOL, I64, DType
from atoll.types.types import Array, Index, Record, Tuple, Type, flatten, shape_of
from atoll.types.types import Scalar as ScalarType


class Env:
    """What names mean: those bound here, then those around. Entering a scope costs the same however many names there are."""

    __slots__ = ("own", "outer")

    def __init__(self, outer: Env | None = None) -> None:
        self.own: dict[Any, Value] = {}
        self.outer = outer

    def __getitem__(self, sym: Any) -> Value:
        found = self.get(sym)
        if found is None:
            raise KeyError(sym)
        return found

    def get(self, sym: Any) -> Value | None:
        env: Env | None = self
        while env is not None:
            found = env.own.get(sym)
            if found is not None:
                return found
            env = env.outer
        return None

    def __contains__(self, sym: Any) -> bool:
        return self.get(sym) is not None

    def __setitem__(self, sym: Any, value: Value) -> None:
        self.own[sym] = value


_UPDATED = (ir.Param, ir.Scatter, ir.ScatterFold, ir.Loop, ir.While)


class Context:
    def __init__(self, fn: core.Function) -> None:
        self.fn = fn
        self.b = Builder(fn.name)
        self.b.portable = bool(fn.portable)
        self.where = fn.name
        self.told: tuple[Span, str] | None = None  # inside a function of Atoll's library: the user's call and function, which errors name
        self.calls: list[core.Function] = []
        self.called = 0  # how many calls were inlined
        self.plan: Mapping[str, str] = {}  # what becomes of values, by their names
        self.bound_names: dict[str, Span] = {}
        self.only_when: dict[ir.Line, frozenset[ir.Cond]] = {}  # updates that change nothing unless these hold
        self.into_state = IntoState()
        self.asked: dict[int, tuple[Formula, bool]] = {}  # formulas, and whether something they ask about exists only under conditions
        self.now: dict[tuple[ir.Line, int], tuple[ir.Line, int]] = {}  # arrays and, where code of another branch stands before, what became of them

    def eval(self, e: core.Expr, env: Env) -> Value:
        """The value of an expression; the whole translator knows how."""
        raise NotImplementedError

    def from_lines(self, t: Type, lines: Sequence[ir.Line], env: Env) -> Value:
        """The value of this type whose leaves are these lines (result 0 of each, or results of one line)."""
        return self.from_leaves(t, [LineLeaf(self, line, 0, ()) for line in lines], env)

    def from_leaves(self, t: Type, leaves: Sequence[Callable[[tuple[Poly, ...]], Value]], env: Env) -> Value:
        """The value of this type whose k-th leaf has element leaves[k](index)."""
        counter = iter(leaves)

        def build(t: Type, outer: tuple[Poly, ...]) -> Value:
            sizes, elem = shape_of(t)
            extents = outer + tuple(self.poly(s, env) for s in sizes)
            if isinstance(elem, (Tuple, Record)):
                return self.push_in(VTuple(tuple(build(item, extents) for item in elem.items)), len(extents))
            leaf = next(counter)
            made = rows(leaf, extents)
            if isinstance(made, VArray) and isinstance(leaf, LineLeaf):
                made = VArray(made.extent, made.get, (leaf.line, leaf.result, leaf.index))
            return made

        return build(t, ())

    def push_in(self, value: VTuple, depth: int) -> Value:
        """A tuple of arrays (depth axes each) as an array of tuples."""
        if depth == 0:
            return value

        def extent(v: Value) -> Poly:
            while isinstance(v, VTuple):
                v = v.items[0]
            assert isinstance(v, VArray)
            return v.extent

        first = extent(value)

        def get(p: Poly) -> Value:
            return self.push_in(VTuple(tuple(self.get(item, p) for item in value.items)), depth - 1)

        return VArray(first, get, None, value, depth)

    def leaves_of(
        self, value: Value, t: Type, env: Env
    ) -> list[tuple[tuple[Poly, ...], Callable[[tuple[Poly, ...]], ir.Operand], DType]]:
        """(extents, element function, dtype) for every leaf of a value of this type."""
        found: list[tuple[tuple[Poly, ...], Callable[[tuple[Poly, ...]], ir.Operand], DType]] = []
        for path, leaf_type in flatten(t):
            sizes, elem = shape_of(leaf_type)
            assert isinstance(elem, (ScalarType, Index))
            extents = tuple(self.poly(s, env) for s in sizes)

            def element(index: tuple[Poly, ...], path: tuple[int, ...] = path) -> ir.Operand:
                return self.operand(self.element(value, index, path))

            found.append((extents, element, elem.dtype))
        return found

    def leaf_abs(self, leaf: tuple[tuple[Poly, ...], Callable[[tuple[Poly, ...]], ir.Operand], DType]) -> ir.Abs:
        """A leaf as an array by its elements."""
        extents, element, _ = leaf
        binders = tuple(self.b.fresh_binder("ijklmn"[k % 6], e) for k, e in enumerate(extents))
        with self.b.binding(*binders):
            body = element(tuple(poly(x) for x in binders))
        return ir.Abs(binders, body)

    def result_abs(self, value: Value, path: tuple[int, ...]) -> ir.Abs:
        """A leaf of the result, with the extents it really has: a type may leave them open."""
        binders: list[ir.Binder] = []
        with ExitStack() as stack:
            while not isinstance(value, (Scalar, Formula)):
                if isinstance(value, VTuple):
                    value, path = value.items[path[0]], path[1:]
                else:
                    binders.append(self.b.fresh_binder(index_name(len(binders)), value.extent))
                    stack.enter_context(self.b.binding(binders[-1]))
                    value = self.get(value, poly(binders[-1]))
            return ir.Abs(tuple(binders), self.operand(value))

    def abs_of(self, value: Value, t: Type, env: Env) -> tuple[ir.Abs, ...]:
        return tuple(self.leaf_abs(leaf) for leaf in self.leaves_of(value, t, env))

    def poly(self, p: Poly, env: Env) -> Poly:
        """A size polynomial over core symbols as one over AiNF atoms."""
        return p.subst(self.atoms(p, env))

    def atoms(self, p: Poly, env: Env) -> dict[Atom, Poly]:
        """What the symbols of a polynomial stand for."""
        return {leaf: index_poly(value) for leaf in p.leaves() if (value := env.get(leaf)) is not None}

    def extents(self, t: Type, env: Env) -> tuple[Poly, ...]:
        sizes, _ = shape_of(t)
        return tuple(self.poly(s, env) for s in sizes)

    def operand(self, value: Value) -> ir.Operand:
        """A scalar value as an operand."""
        if isinstance(value, Scalar):
            return value.operand
        assert isinstance(value, Formula), value
        return self.formula(value)

    def formula(self, f: Formula) -> ir.Operand:
        if f.op == "is":
            return self.b.truth(f.parts[0])
        parts = [self.formula(p) for p in f.parts]
        result = parts[0]
        name = "and" if f.op == "all" else "or"
        for part in parts[1:]:
            result = scalars.op(self.b, name, (result, part), BOOL, NOWHERE)
        return result

    def cond(self, value: Value) -> Formula | bool:
        """A bool value as a condition, or the constant it is."""
        if isinstance(value, Formula):
            return value
        operand = value.operand  # type: ignore[union-attr]
        if isinstance(operand, ir.Const):
            return bool(operand.value)
        assert isinstance(operand, ir.Ref)
        return Formula("is", (ir.Cond("true", None, operand),))

    def path_conds(self, f: Formula) -> tuple[Any, ...]:
        """Conditions to put on the path for a formula: its parts when they hold together, else its truth value when needed."""
        found = f.conds()
        if found is not None:
            return found

        def truth() -> ir.Cond:  # "one of them" is "not all of the opposites": both branches then test one bool
            operand = self.formula(f.negated() if f.op == "any" else f)
            assert isinstance(operand, ir.Ref)
            return ir.Cond("false" if f.op == "any" else "true", None, operand)

        return (truth,)

    def conditions(self, f: Formula) -> tuple[ir.Cond, ...]:
        """Conditions that hold together exactly when the formula does."""
        return tuple(c if isinstance(c, ir.Cond) else c() for c in self.path_conds(f))

    def get(self, value: Value, p: Poly) -> Value:
        """Element p of an array (of every component of a tuple of arrays), safe to use where we are."""
        if isinstance(value, VTuple):
            return VTuple(tuple(self.get(item, p) for item in value.items))
        assert isinstance(value, VArray), value
        element = self.guard(value.get(p))
        if not self.b.evaluate and isinstance(element, Scalar) and isinstance(element.operand, ir.Ref):
            ref = element.operand
            bound = ref.line.results[ref.result].bound
            return Scalar(self.b.ref(ir.Op("read", (ref,)), ir.Result(ref.dtype, (), bound), hint="r"))
        return element

    def element(self, value: Value, index: tuple[Poly, ...], path: tuple[int, ...]) -> Value:
        """The scalar at an index tuple and a path of components, in whatever order they are nested."""
        while True:
            if isinstance(value, VTuple):
                value, path = value.items[path[0]], path[1:]
            elif isinstance(value, VArray):
                value, index = self.get(value, index[0]), index[1:]
            else:
                return value

    def guard(self, value: Value) -> Value:
        """A reference that is only in range under the conditions of the path becomes a line under those conditions."""
        if not self.b.path or isinstance(value, VArray):
            return value
        if isinstance(value, VTuple):
            return VTuple(tuple(self.guard(item) for item in value.items))
        if isinstance(value, Formula):
            return Formula(
                value.op, tuple(guard_cond(self.b, c) if isinstance(c, ir.Cond) else self.guard(c) for c in value.parts)
            )
        return Scalar(guard_operand(self.b, value.operand))

    def read(self, line: ir.Line, result: int, index: tuple[Poly, ...]) -> ir.Operand:
        """An element of a stored array. Reads of arrays that may be updated in place are lines, so that a plan can move them."""
        ref = ir.Ref(line, result, index)
        if not line.results[result].axes or not isinstance(line.prim, _UPDATED):
            return ref
        ref = guard_ref(self.b, ref) if self.b.path else ref
        if ref.line is not line:
            return ref
        return self.b.ref(ir.Op("read", (ref,)), ir.Result(ref.dtype, (), line.results[result].bound), hint="r")

    def site(self, code: str, span: Span, **values: Any) -> ir.Site:
        if self.told is not None and span.in_library():
            return ir.Site(code, self.told[0], values, self.told[1])
        return ir.Site(code, span, values, self.where)

    def reify(self, value: Value, name: str, label: str = "") -> Value:
        """Bind array elements to lines once; `label` is what the user calls them."""
        if isinstance(value, VTuple):
            return VTuple(tuple(self.reify(item, name, label) for item in value.items))
        if isinstance(value, VArray) and value.parts is not None:
            return self.push_in(VTuple(tuple(self.reify(item, name, label) for item in value.parts.items)), value.depth)
        if not isinstance(value, VArray) or value.source is not None:
            self.label(value, label)
            return value
        binder = self.b.fresh_binder("ijklmn"[len(self.b.binders) % 6], value.extent)
        with self.b.binding(binder):
            inner = self.reify(value.get(poly(binder)), name, label)
        return abstraction(binder, inner)

    def label(self, value: Value, label: str) -> None:
        """The line that a value is all of gets the name it is bound to first."""
        if isinstance(value, VArray) and value.source is not None and not value.source[2]:
            value.source[0].label = value.source[0].label or label
        elif isinstance(value, Scalar) and isinstance(value.operand, ir.Ref) and _is_whole(value.operand):
            value.operand.line.label = value.operand.line.label or label

    def planned(self, value: Value, name: str, word: str, span: Span) -> Value:
        """A value with the lines of its own marked; what is only a view of other lines is read into lines of its own first."""
        if isinstance(value, VTuple):
            return VTuple(tuple(self.planned(item, name, word, span) for item in value.items))
        if isinstance(value, VArray):
            binder = self.b.fresh_binder(index_name(len(self.b.binders)), value.extent)
            with self.b.binding(binder):
                inner = self.planned(self.get(value, poly(binder)), name, word, span)
            return abstraction(binder, inner)
        operand = self.operand(value)
        if not isinstance(operand, ir.Ref):
            return value
        line = operand.line
        if isinstance(line.prim, (ir.Input, ir.Param, ir.ConstArray)) or not _is_whole(operand):
            if word == "inline":
                return value
            operand = self.b.ref(ir.Op("read", (operand,)), ir.Result(operand.dtype, (), line.results[operand.result].bound), span, "r")

        mark(operand.line, name, word, span, self.where)
        return Scalar(operand)

    def bind_open(self, t: Type, value: Value, wanted: set[Sym], env: Env) -> None:
        """Give open sizes the extents the value has."""
        if isinstance(t, Array):
            assert isinstance(value, VArray)
            sym = t.size.single()
            if isinstance(sym, Sym) and sym in wanted:
                env[sym] = Scalar(scalars.from_poly(value.extent))
            if isinstance(t.elem, Array):
                binder = self.b.fresh_binder("i", value.extent)
                with self.b.binding(binder):
                    self.bind_open(t.elem, value.get(poly(binder)), wanted, env)
        elif isinstance(t, (Tuple, Record)):
            assert isinstance(value, VTuple)
            for item, part in zip(t.items, value.items, strict=True):
                self.bind_open(item, part, wanted, env)

    def result_types(self, t: Type, env: Env) -> tuple[ir.Result, ...]:
        found = []
        for _, leaf_type in flatten(t):
            sizes, elem = shape_of(leaf_type)
            assert isinstance(elem, (ScalarType, Index))
            found.append(ir.Result(elem.dtype, tuple(self.poly(s, env) for s in sizes)))
        return tuple(found)

    def from_emitted(self, t: Type, emitted: list[tuple[ir.Line, tuple[Poly, ...]]], env: Env) -> Value:
        return self.from_leaves(t, [LineLeaf(self, line, 0, index) for line, index in emitted], env)

    def from_results(self, t: Type, line: ir.Line, index: tuple[Poly, ...], env: Env, first: int = 0) -> Value:
        """The value whose leaves are results first, first+1, ... of one line."""
        count = len(flatten(t))
        refs = [LineLeaf(self, line, first + k, index) for k in range(count)]
        return self.from_leaves(t, refs, env)

    def param(self, block: ir.Block, position: int, name: str, dtype: DType, axes: tuple[Poly, ...]) -> ir.Line:
        """A parameter line of a block; not shared with anything."""
        line = ir.Line(self.b._count, (), (), ir.Param(position, name), (ir.Result(dtype, axes),), block, NOWHERE, f"{name}_")
        self.b._count += 1
        block.lines.append(line)
        block.params.append(line)
        return line

    def binder(self, name: str, size: Poly, span: Span) -> ir.Binder:
        """A new index; an extent that could wrap is computed without wrapping first."""
        extent, extra = self.safe_extent(size, span)
        binder = self.b.fresh_binder(name, extent)
        if extra is not None:
            binder.facts = (extra - 1 - poly(binder),)
        return binder

    def safe_extent(self, size: Poly, span: Span) -> tuple[Poly, Poly | None]:
        """An extent whose machine value is its integer value; second, a polynomial it equals when there are rounds at all."""
        if self.b.comparable(size):
            return size, None
        low, high = bounds(size)
        prim = ir.Extent(scalars.from_poly(low), scalars.from_poly(high))
        ref = self.b.ref(prim, ir.Result(I64), span, "n")
        exact = all(self.b.comparable(side) for side in (low, high))
        return poly(ir.ref_atom(ref)), size if exact else None

    def need(self, found: ir.Cond | ir.Operand, site: ir.Site, args: tuple[ir.Operand, ...]) -> None:
        if isinstance(found, ir.Const):
            if found.value:
                return
            found = ir.Cond("ge", poly(-1))
        cond = found if isinstance(found, ir.Cond) else ir.Cond("true", None, found)  # type: ignore[arg-type]
        self.b.check((cond,), site, args)


def _is_whole(ref: ir.Ref) -> bool:
    """The element of a line that the loops around are at, not one seen through a view."""
    at = [p.single() for p in ref.index]
    inside = [x for x in at if isinstance(x, ir.Binder)]
    if len(inside) < len(at) or any(a.uid >= b.uid for a, b in itertools.pairwise(inside)):
        return False
    env = dict(zip(ref.line.dims, ref.index, strict=False))
    return all(x.extent == n.subst(env) for x, n in zip(inside, ref.line.extents(ref.result), strict=True))


def component(value: Value, k: int) -> Value:
    """Component k of an array of tuples, as an array."""
    if isinstance(value, VTuple):
        return value.items[k]  # type: ignore[no-any-return]
    assert isinstance(value, VArray)
    if value.parts is not None:
        return value.parts.items[k]  # type: ignore[no-any-return]
    return VArray(value.extent, lambda p: component(value.get(p), k))


def extent_of(value: Value) -> Poly:
    while isinstance(value, VTuple):
        value = value.items[0]
    assert isinstance(value, VArray), value
    return value.extent


def index_name(k: int) -> str:
    return "ijklmn"[k % 6]


class LineLeaf:
    """A leaf that is a result of a line, read at an index."""

    __slots__ = ("context", "line", "result", "index")

    def __init__(self, context: Context, line: ir.Line, result: int, index: tuple[Poly, ...]) -> None:
        self.context, self.line, self.result, self.index = context, line, result, index

    def __call__(self, index: tuple[Poly, ...]) -> Value:
        return Scalar(self.context.read(self.line, self.result, self.index + index))
