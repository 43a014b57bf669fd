"""Kernels: array expressions inside λANF programs, made by the ordinary pipeline and called.

A kernel is a core function of its own: its sizes are the non-negative integers its text mentions, its parameters the other variables, its
result a tuple of what is wanted of it. Data may pass through: an element of union or function type is one opaque word to the kernel, which
can only move it about, and the caller counts the references in the result afterwards.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from atoll.core import interpret, ir
from atoll.core import values as v
from atoll.core.prims import PRIMS
from atoll.core.rewrite import transform, walk
from atoll.functions.ir import ARRAY, DATA, INT, Rep
from atoll.functions.operators import Operator
from atoll.sizes import Poly, Sym
from atoll.types.types import SCALARS, Array, Fn, Index, Record, Scalar, Tuple, Type, Union, flatten, shape_of, sizes_in


def leaf_rep(t: Type) -> Rep:
    """How a leaf is held."""
    if isinstance(t, Array):
        return ARRAY
    return t.dtype.name if isinstance(t, (Scalar, Index)) else DATA


def element_rep(t: Type) -> Rep:
    """How an element of an array leaf is held."""
    _, elem = shape_of(t)
    return elem.dtype.name if isinstance(elem, (Scalar, Index)) else DATA


def leaf_types(t: Type) -> list[Type]:
    return [leaf for _, leaf in flatten(t)]


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """`fn` computes; `opaque` is the same with data as words, which is what is compiled."""

    number: int
    fn: ir.Function
    opaque: ir.Function

    @property
    def name(self) -> str:
        return f"at_k{self.number}"

    @property
    def inputs(self) -> list[Type]:
        return [leaf for _, t in self.fn.params for leaf in leaf_types(t)]

    @property
    def outputs(self) -> list[Type]:
        return leaf_types(self.fn.result)


@dataclass(slots=True)
class Free:
    """What an expression takes from outside: variables with their types, symbols in sizes."""

    variables: dict[Sym, Type]
    symbols: dict[Sym, None]


def binders(node: Any) -> Iterable[Sym]:
    """The symbols a node or statement binds."""
    match node:
        case ir.Bind(sym):
            return (sym,)
        case ir.Open(sizes, sym):
            return (*sizes, sym)
        case ir.Build(sym):
            return (sym,)
        case ir.Map(params):
            return params
        case ir.Reduce() | ir.Scan() | ir.Hist():
            return node.op.params
        case ir.Scatter():
            return node.op.params if node.op is not None else ()
        case ir.Jvp() | ir.Vjp():
            return node.fn.params
        case ir.For():
            return (node.sym, *(sym for sym, _ in node.state))
        case ir.While():
            return tuple(sym for sym, _ in node.state)
    return ()


def free(e: Any) -> Free:
    """What a first-order expression mentions but does not bind (symbols are unique)."""
    bound: set[Sym] = set()
    variables: dict[Sym, Type] = {}
    symbols: dict[Sym, None] = {}

    def poly(p: Poly) -> Poly:
        for leaf in p.leaves():
            assert isinstance(leaf, Sym)
            symbols[leaf] = None
        return p

    def type_(t: Type) -> Type:
        for p in sizes_in(t):
            poly(p)
        return t

    for node in walk(e):
        bound.update(binders(node))
        if isinstance(node, ir.Var):
            variables[node.sym] = node.type
    transform(e, poly, type_)
    for t in list(variables.values()):
        type_(t)
    return Free({s: t for s, t in variables.items() if s not in bound}, {s: None for s in symbols if s not in bound})


def make_kernel(number: int, name: str, body: ir.Expr, sizes: tuple[Sym, ...], params: tuple[tuple[Sym, Type], ...], reassociate: bool, portable: str = "") -> Kernel:
    """The kernel that computes `body`, a tuple."""
    known = {*sizes, *(sym for sym, _ in params)}
    opened = {leaf for p in sizes_in(body.type) for leaf in p.leaves()} - known
    opens = tuple(sorted((s for s in opened if isinstance(s, Sym)), key=lambda s: s.uid))
    fn = ir.Function(
        name, sizes, params, body.type, body, open_sizes=opens, owned=(False,) * len(params), reassociate=reassociate, portable=portable, span=body.span
    )
    return Kernel(number, fn, _opaque(fn))


def _opaque(fn: ir.Function) -> ir.Function:
    def word(t: Type) -> Type:
        match t:
            case Union() | Fn():
                return SCALARS["u64"]
            case Array(elem, size):
                return Array(word(elem), size)
            case Tuple(items):
                return Tuple(tuple(map(word, items)))
            case Record(decl, items):
                return Record(decl, tuple(map(word, items)))
        return t

    params = tuple((sym, word(t)) for sym, t in fn.params)
    body = transform(fn.body, on_type=word)
    return dataclasses.replace(fn, params=params, result=word(fn.result), body=body)


def kernel_operator(kernel: Kernel) -> Operator:
    """Calling a kernel: sizes first, then the leaves of the parameters."""
    fn = kernel.fn
    params = (*(INT for _ in fn.sizes), *(leaf_rep(t) for t in kernel.inputs))
    results = tuple(leaf_rep(t) for t in kernel.outputs)

    def means(*args: Any) -> Any:
        sizes = {sym: int(x) for sym, x in zip(fn.sizes, args, strict=False)}
        leaves = iter(args[len(fn.sizes) :])
        values = tuple(_gather(t, leaves) for _, t in fn.params)
        found = v.leaves(interpret.call(fn, values, sizes))
        return found[0] if len(found) == 1 else tuple(found)

    return Operator(kernel.name, params, results, means, pure=not can_fail(fn), info=kernel)


def _gather(t: Type, leaves: Any) -> Any:
    """A value of this type from its leaves."""
    _, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        return tuple(_gather(item, leaves) for item in elem.items)
    return next(leaves)


def can_fail(fn: ir.Function) -> bool:
    """Whether running it can do more than give a value: stop, print, or go on for ever."""
    for node in walk(fn.body):
        match node:
            case ir.Print() | ir.Assert() | ir.Require() | ir.At() | ir.Slice() | ir.Update() | ir.While() | ir.ArgReduce() | ir.Hist():
                return True
            case ir.Scatter() | ir.Call() | ir.Cast():
                return True
            case ir.Prim() if PRIMS[node.op].can_fail:
                return True
    return False


_HEAVY = (
    ir.ConstArray,
    ir.MakeArray,
    ir.Build,
    ir.Map,
    ir.Slice,
    ir.Update,
    ir.Reduce,
    ir.Scan,
    ir.ArgReduce,
    ir.Hist,
    ir.Scatter,
    ir.Argsort,
    ir.Filter,
    ir.For,
    ir.While,
    ir.View,
    ir.Copy,
    ir.Jvp,
    ir.Vjp,
)


def heavy(e: Any) -> bool:
    """Worth a kernel: an operation on whole arrays or a loop, here or in a function it calls."""
    return any(isinstance(node, _HEAVY) or (isinstance(node, ir.Call) and heavy(node.fn.body)) for node in walk(e))
