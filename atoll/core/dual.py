"""Derivatives in the interpreter: dual numbers forwards, and one forward derivative per input element for the transposed ones.

This is the meaning of `jvp` and `vjp`, independent of how compiled code gets them: slow, obvious, nested by tags. Tags of transposed derivatives
are odd: a function whose author supplied derivatives has one for each way. Tags with the bit 2 are those of derivatives of integers (Futhark's), where
tangents go through conversions too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.core import ir
from atoll.core import values as v
from atoll.core.meanings import DivisionByZero, wrap
from atoll.core.prims import PRIMS
from atoll.core.slopes import AHEAD, NOT_DIFFERENTIABLE, ON_INTEGERS, VIEWS, only_one, rule_of, takes_apart
from atoll.errors import Span, fail
from atoll.types.dtypes import BOOL
from atoll.types.types import Type, dtype_of, flatten, shape_of

if TYPE_CHECKING:
    from atoll.core.interpret import Interpreter

_tags = itertools.count(1)


class _Numbers:
    """The algebra the rules are written in, on numbers and duals of one dtype."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def const(self, value: float) -> Any:
        return wrap(int(value), self.dtype) if self.dtype.kind in "iu" else self.dtype.type(value)

    def op(self, name: str, *args: Any) -> Any:
        return _apply(name, args, self.dtype)

    def choose(self, test: str, a: Any, b: Any, then: Any, orelse: Any) -> Any:
        return then if PRIMS[test].means(v.primal(a), v.primal(b)) else orelse


class _Parts:
    """The same for what takes complex numbers apart: every operation in the type of its arguments."""

    def __init__(self, dtype: Any) -> None:
        self.nothing = np.real(np.zeros((), dtype))[()]

    def of(self, name: str, *args: Any) -> Any:
        kind = np.asarray(v.primal(args[0])).dtype
        plain = PRIMS[name].means(*(kind.type(1) for _ in args))
        return _apply(name, args, np.asarray(plain).dtype)

    def where_positive(self, x: Any, then: Callable[[], Any]) -> Any:
        return then() if v.primal(x) > 0 else self.nothing


# Of truth values the sum is "or", the product "and"; a conversion's tangent is the tangent converted.
_ON_BOOLS: dict[str, Any] = {
    "and": lambda c, a, b, y: (b, a),
    "or": lambda c, a, b, y: (c.const(True), c.const(False)),
    "not": lambda c, a, y: (a,),
}


def of_integers(x: Any) -> bool:
    """Whether a number with a tangent belongs to a derivative of integers."""
    return isinstance(x, v.Dual) and bool(x.tag & 2)


class _NoRule(Exception):
    """A primitive, perhaps in the derivative of another one, that has no derivative."""


def _apply(name: str, args: tuple[Any, ...], dtype: Any) -> Any:
    """A primitive on numbers and duals."""
    tags = [a.tag for a in args if isinstance(a, v.Dual)]
    if not tags:
        return dtype.type(PRIMS[name].means(*args))
    tag = max(tags)
    primals = tuple(a.primal if isinstance(a, v.Dual) and a.tag == tag else a for a in args)
    y = _apply(name, primals, dtype)
    if takes_apart(name, np.asarray(v.primal(args[0])).dtype.kind == "c"):
        tangents = [a.tangent if isinstance(a, v.Dual) and a.tag == tag else None for a in args]
        return v.Dual(tag, y, AHEAD[name](_Parts(dtype), *primals, y, *tangents))
    if name in VIEWS and tag & 2:
        return v.Dual(tag, y, _apply(name, (args[0].tangent,), dtype))
    c = _Numbers(dtype)
    total: Any = None
    rule = _ON_BOOLS.get(name) if dtype.kind == "b" else rule_of(name, dtype.kind)
    if rule is None:
        raise _NoRule(name)
    times, plus = ("and", "or") if dtype.kind == "b" else ("mul", "add")
    for partial, a in zip(rule(c, *primals, y), args, strict=True):
        if partial is None or not (isinstance(a, v.Dual) and a.tag == tag):
            continue
        term = c.op(times, partial, a.tangent)
        total = term if total is None else c.op(plus, total, term)
    return y if total is None else v.Dual(tag, y, total)


def apply(inter: Interpreter, e: ir.Prim, args: tuple[Any, ...]) -> Any:
    """A primitive of the core with duals among its arguments."""
    dtype = dtype_of(e.type)
    if e.op == "select":
        return args[1] if args[0] else args[2]
    through = of_integers(max((a for a in args if isinstance(a, v.Dual)), key=lambda a: a.tag)) and (e.op in VIEWS or (dtype is BOOL and e.op in _ON_BOOLS))
    if not dtype.has_slope and not (dtype.is_integer and e.op in ON_INTEGERS) and not through:
        try:
            return dtype.numpy.type(PRIMS[e.op].means(*map(v.primal, args)))
        except DivisionByZero:
            inter.stop("E0702", e.span)
    try:
        return _apply(e.op, args, dtype.numpy)
    except DivisionByZero:
        inter.stop("E0702", e.span)
    except _NoRule as error:
        op = str(error)
        fail("E1001", e.span, what=NOT_DIFFERENTIABLE.get(op, op), where=inter.name)


def _floats(t: Type, integers: bool = False) -> list[bool]:
    """Which leaves have derivatives."""
    return [d.has_slope or (integers and (d.is_integer or d is BOOL)) for _, leaf in flatten(t) for d in [dtype_of(shape_of(leaf)[1])]]


def _with_leaves(value: Any, new: list[Any]) -> Any:
    items = iter(new)
    return v.map_leaves(lambda _: next(items), value)


def _seeded(tag: int, t: Type, value: Any, tangent: Any, integers: bool = False) -> Any:
    """A value whose float leaves carry tangents."""
    pairs = zip(_floats(t, integers), v.leaves(value), v.leaves(tangent), strict=True)
    return _with_leaves(value, [v.Dual(tag, x, dx) if is_float else x for is_float, x, dx in pairs])


def _split(tag: int, value: Any) -> tuple[Any, Any]:
    """The value and the tangent of a result."""

    def parts(leaf: Any) -> tuple[Any, Any]:
        if isinstance(leaf, v.Dual) and leaf.tag == tag:
            return leaf.primal, leaf.tangent
        return leaf, v.zeros_like(leaf)

    pairs = [parts(leaf) for leaf in v.leaves(value)]
    return _with_leaves(value, [a for a, _ in pairs]), _with_leaves(value, [t for _, t in pairs])


def _along(inter: Interpreter, e: ir.Jvp | ir.Vjp, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    tag = 4 * next(_tags) + 2 * e.integers + isinstance(e, ir.Vjp)
    seeded = tuple(_seeded(tag, t, a, d, e.integers) for t, a, d in zip(e.fn.types, args, tangents, strict=True))
    return _split(tag, inter.apply(e.fn, *seeded))


def jvp(inter: Interpreter, e: ir.Jvp) -> Any:
    value, tangent = _along(inter, e, inter.evals(e.args), inter.evals(e.tangents))
    return (value, tangent) if e.value else tangent


def vjp(inter: Interpreter, e: ir.Vjp) -> Any:
    """One forward derivative per element of the arguments, dotted with the seed."""
    args, seed = inter.evals(e.args), inter.eval(e.seed)
    zeros = [v.map_leaves(v.zeros_like, a) for a in args]
    value = inter.apply(e.fn, *args)
    results = []
    for k, (t, arg) in enumerate(zip(e.fn.types, args, strict=True)):
        new = []
        for position, (is_float, leaf) in enumerate(zip(_floats(t, e.integers), v.leaves(arg), strict=True)):
            new.append(_gradient(inter, e, args, zeros, k, position, leaf, seed) if is_float else v.zeros_like(leaf))
        results.append(_with_leaves(arg, new))
    adjoints = tuple(results)
    return (value, adjoints) if e.value else adjoints


def customised(fn: ir.Function, args: tuple[Any, ...], span: Span, run: Callable[[ir.Function, tuple[Any, ...]], Any]) -> Any:
    """A call, with duals among its arguments, of a function whose derivative its author supplied: transposed, one adjoint per element of the result."""
    tag = max((leaf.tag for arg in args for leaf in v.leaves(arg) if isinstance(leaf, v.Dual)), default=0)
    if not tag:
        return run(fn, args)
    primals, tangents = zip(*(_split(tag, arg) for arg in args), strict=True)
    value = customised(fn, primals, span, run)
    rule = fn.vjp if tag % 2 else fn.jvp
    integers = bool(tag & 2)
    if rule is None:
        only_one(fn, span)
    if rule is fn.jvp:
        return _seeded(tag, fn.result, value, run(rule, (*primals, *tangents)), integers)

    def moved(position: int, leaf: Any) -> Any:
        dtype = np.asarray(v.primal(leaf)).dtype
        cells = []
        part = np.real(np.zeros((), dtype)).dtype
        zeros = v.map_leaves(v.zeros_like, value)
        for seeds in zip(*(_units(zeros, position, leaf, one) for one in ((1, -1j) if dtype.kind == "c" else (1,))), strict=True):
            found = [run(rule, (*primals, seed)) for seed in seeds]
            sums = [_dot(adjoints if len(args) > 1 else (adjoints,), tangents, part, "fciub" if integers else "fc") for adjoints in found]
            cells.append(sums[0] if len(sums) == 1 else _apply("complex", tuple(sums), dtype))  # Re(dz) and Re(-i dz) = Im(dz)
        return _collected(cells, np.shape(v.primal(leaf)), dtype)

    leaves = enumerate(zip(_floats(fn.result, integers), v.leaves(value), strict=True))
    return _seeded(tag, fn.result, value, _with_leaves(value, [moved(k, x) if is_float else v.zeros_like(x) for k, (is_float, x) in leaves]), integers)


def _gradient(inter: Interpreter, e: ir.Vjp, args: Any, zeros: list[Any], k: int, position: int, leaf: Any, seed: Any) -> Any:
    """The adjoint of one leaf of one argument."""
    dtype = np.asarray(v.primal(leaf)).dtype
    cells = []
    for unit in _units(zeros[k], position, leaf):
        tangents = list(zeros)
        tangents[k] = unit
        _, column = _along(inter, e, args, tuple(tangents))
        cells.append(_dot(column, seed, dtype, "fciub" if e.integers else "fc"))
    return _collected(cells, np.shape(v.primal(leaf)), dtype)


def _units(zero: Any, position: int, leaf: Any, unit: complex = 1) -> Iterator[Any]:
    """Values that are 0 but for one element of one leaf, which is 1 (or another unit)."""
    shape, dtype = np.shape(v.primal(leaf)), np.asarray(v.primal(leaf)).dtype
    for index in np.ndindex(*shape):
        one = np.zeros(shape, dtype)
        one[index] = unit
        spots = v.leaves(zero)
        spots[position] = one if shape else dtype.type(unit)
        yield _with_leaves(zero, spots)


def _collected(cells: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers, one per element, as an array of that shape."""
    if not shape:
        return cells[0]
    if not cells:
        return np.zeros(shape, dtype)
    return _reshape(v.stack_leaves(tuple(cells)), shape)


def _reshape(x: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(x, v.Dual):
        return v.Dual(x.tag, _reshape(x.primal, shape), _reshape(x.tangent, shape))
    return x.reshape(shape)


def _dot(a: Any, b: Any, dtype: Any, kinds: str = "fc") -> Any:
    """The sum of products of the leaves of two values that have derivatives; of complex ones, their real parts."""
    total: Any = dtype.type(0)
    for x, y in zip(v.leaves(a), v.leaves(b), strict=True):
        if np.asarray(v.primal(x)).dtype.kind not in kinds:
            continue
        for index in np.ndindex(*np.shape(v.primal(x))):
            left, right = (z[index] if index else z for z in (x, y))
            kind = np.asarray(v.primal(left)).dtype
            term = _apply("and" if kind.kind == "b" else "mul", (left, right), kind)
            if np.asarray(v.primal(term)).dtype.kind == "c":
                term = _Parts(dtype).of("real", term)
            total = _apply("or" if dtype.kind == "b" else "add", (total, _as(term, dtype)), dtype)
    return total


def _as(x: Any, dtype: Any) -> Any:
    if isinstance(x, v.Dual):
        return v.Dual(x.tag, _as(x.primal, dtype), _as(x.tangent, dtype))
    return dtype.type(x)
