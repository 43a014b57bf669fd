"""The tensor language schedules rearrange: what a program computes, as loops that build, loops that sum, and reshapes.

    term ::= gen lo <= i < hi. term             an array, one row per i                                     (Gen)
          |  sum lo <= i < hi. term             rows added up in order, by `add` or another known monoid     (Sum)
          |  [p >= 0, ...] term                  the term where all hold, pads elsewhere                      (Guard)
          |  let x := term in term               x is computed before the body and kept                      (Let)
          |  let x, ... := nest(a, ...) in term   an opaque part, or one round of it: a scan, a sort, a check (Nest)
          |  a ++axis b | a (+) b                concatenation | added into the same place, a first           (Cat, Plus)
          |  op axis k term                      a reshape of axes axis, axis+1, ...: see reshapes.py          (Reshape)
          |  0                                   all pads, of a shape                                        (Zero)
          |  (term, ...)                         the results, below lets and nests only                      (Many)
    scalar, a term of rank 0:
          |  x[p, ...] | literal | {p}           an element | a constant | an integer                        (Get, Lit, Index)
          |  x[term, ...]                        the element at numbers that are data; nobody looks into it  (Look)
          |  op(term, ...) | cast term | term if test... else term                                         (Op, Cast, Choose)
    p    a polynomial of sizes and loop variables (sizes/poly.py)

Meaning (denote.py is the same in code). A read outside an array is a pad: zero. Every loop variable is a `Sym` and every array a
`Tensor`, unique for ever; the names users type are only what they are called. Extents of gen, amounts of reshapes and shapes are
closed: they mention sizes only; bounds of sum may mention loop variables around it. Every gen extent is >= 0 (a hypothesis has to say
so), so that extents add and multiply.

Floats make one more distinction. A term has a *value* (V), and it can be *folded* (F) into a place that already holds something: a sum
folds its rows one after the other, a guard that is false folds nothing, `a (+) b` is F b after V a, a scalar e folds as `place + e`. The
value of a sum is its fold into zeros (the monoid's neutral element). Where the monoid is not `add`, or differs from that of the sum around
it, a term is folded by its value: `max` over `[p] e` looks at the zero. So cutting a sum in two keeps every bit, while binding a partial sum to a name does not: whether a
rule is exact depends on whether its place is folded (docs/sources.md K2). `mulacc(a, b)` is a*b, folded with one rounding.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Union

from atoll.schedule.reshapes import RESHAPES, amount_or_zero
from atoll.sizes import Atom, Poly, Quot, Sym, poly
from atoll.types.dtypes import I64, DType

_numbers = itertools.count(1)


class Tensor:
    """A named array: an input, a constant, or what a let binds."""

    __slots__ = ("name", "dtype", "number", "value")

    def __init__(self, name: str, dtype: DType, value: Any = None) -> None:
        self.name, self.dtype, self.value = name, dtype, value
        self.number = next(_numbers)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Gen:
    sym: Sym
    low: Poly
    high: Poly
    body: Term


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    sym: Sym
    low: Poly
    high: Poly
    body: Term
    monoid: str = "add"


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    conds: tuple[Poly, ...]
    body: Term


@dataclass(frozen=True, slots=True, eq=False)
class Let:
    """`rolled` = (lead, rows): x is computed row by row while the body's outer loop j runs, row j + lead in round j, and only the
    last `rows` rows are kept. The value is that of a plain let."""

    name: Tensor
    bound: Term
    body: Term
    rolled: tuple[Poly, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """names := routine(args), computed once, before the body. `facts` hold after it (a check that passed).

    Its first `rows` axes are independent of each other: one round of them is a part of its own, at the indices `at`, which stands anywhere and
    makes what the whole has there."""

    names: tuple[Tensor, ...]
    shapes: tuple[tuple[Poly, ...], ...]
    routine: Any
    args: tuple[Tensor, ...]
    body: Term
    facts: tuple[Poly, ...] = ()
    rows: int = 0
    at: tuple[Poly, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Cat:
    axis: int
    left: Term
    right: Term


@dataclass(frozen=True, slots=True, eq=False)
class Plus:
    left: Term
    right: Term
    monoid: str = "add"


@dataclass(frozen=True, slots=True, eq=False)
class Reshape:
    op: str
    axis: int
    amount: Poly | None
    body: Term


@dataclass(frozen=True, slots=True, eq=False)
class Zero:
    shape: tuple[Poly, ...]
    dtype: DType


@dataclass(frozen=True, slots=True, eq=False)
class Many:
    items: tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Get:
    name: Tensor
    index: tuple[Poly, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """An element whose place is decided by data: `t[ix[j]]`. Rules move it, and see into its numbers only."""

    name: Tensor
    index: tuple[Term, ...]  # of type i64


@dataclass(frozen=True, slots=True, eq=False)
class Lit:
    value: Any
    dtype: DType


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    poly: Poly


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    name: str
    args: tuple[Term, ...]
    dtype: DType


@dataclass(frozen=True, slots=True, eq=False)
class Cast:
    arg: Term
    dtype: DType


@dataclass(frozen=True, slots=True, eq=False)
class Test:
    """kind: ge, eq, ne on a polynomial; true, false on a scalar."""

    kind: str
    poly: Poly | None = None
    term: Term | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Choose:
    """`then` where all tests hold, `orelse` elsewhere, both of rank 0; only the one taken is looked at (and folded)."""

    tests: tuple[Test, ...]
    then: Term
    orelse: Term


Term = Union[Gen, Sum, Guard, Let, Nest, Cat, Plus, Reshape, Zero, Many, Get, Look, Lit, Index, Op, Cast, Choose]
Shapes = Mapping[Tensor, tuple[Poly, ...]]
SCALARS = (Get, Look, Lit, Index, Op, Cast, Choose)
Path = tuple[int, ...]


# -- parts of a node: its terms, its polynomials


def kids(t: Term) -> tuple[Term, ...]:
    match t:
        case Gen() | Sum() | Guard() | Nest() | Reshape():
            return (t.body,)
        case Let():
            return (t.bound, t.body)
        case Cat() | Plus():
            return (t.left, t.right)
        case Many():
            return t.items
        case Op():
            return t.args
        case Look():
            return t.index
        case Cast():
            return (t.arg,)
        case Choose():
            return (t.then, t.orelse, *(test.term for test in t.tests if test.term is not None))
    return ()


def with_kids(t: Term, new: tuple[Term, ...]) -> Term:
    match t:
        case Gen():
            return Gen(t.sym, t.low, t.high, new[0])
        case Sum():
            return Sum(t.sym, t.low, t.high, new[0], t.monoid)
        case Guard():
            return guard(t.conds, new[0])
        case Let():
            return Let(t.name, new[0], new[1], t.rolled)
        case Nest():
            return replace(t, body=new[0])
        case Cat():
            return Cat(t.axis, new[0], new[1])
        case Plus():
            return Plus(new[0], new[1], t.monoid)
        case Reshape():
            return Reshape(t.op, t.axis, t.amount, new[0])
        case Many():
            return Many(new)
        case Op():
            return Op(t.name, new, t.dtype)
        case Look():
            return Look(t.name, new)
        case Cast():
            return Cast(new[0], t.dtype)
        case Choose():
            rest = iter(new[2:])
            tests = tuple(Test(x.kind, x.poly, None if x.term is None else next(rest)) for x in t.tests)
            return Choose(tests, new[0], new[1])
    return t


def map_kids(t: Term, f: Callable[[Term], Term]) -> Term:
    old = kids(t)
    new = tuple(f(k) for k in old)
    return t if all(a is b for a, b in zip(old, new, strict=True)) else with_kids(t, new)


def own_polys(t: Term) -> tuple[Poly, ...]:
    """The polynomials written in this node itself."""
    match t:
        case Gen() | Sum():
            return (t.low, t.high)
        case Guard():
            return t.conds
        case Let() if t.rolled is not None:
            return (t.rolled[0],)
        case Nest():
            return (*(p for shape in t.shapes for p in shape), *t.facts, *t.at)
        case Reshape():
            return () if t.amount is None else (t.amount,)
        case Zero():
            return t.shape
        case Get():
            return t.index
        case Index():
            return (t.poly,)
        case Choose():
            return tuple(test.poly for test in t.tests if test.poly is not None)
    return ()


def with_polys(t: Term, new: tuple[Poly, ...]) -> Term:
    match t:
        case Gen():
            return Gen(t.sym, new[0], new[1], t.body)
        case Sum():
            return Sum(t.sym, new[0], new[1], t.body, t.monoid)
        case Guard():
            return Guard(new, t.body)
        case Let() if t.rolled is not None:
            return Let(t.name, t.bound, t.body, (new[0], t.rolled[1]))
        case Nest():
            rest = iter(new)
            shapes = tuple(tuple(next(rest) for _ in shape) for shape in t.shapes)
            facts = tuple(next(rest) for _ in t.facts)
            return replace(t, shapes=shapes, facts=facts, at=tuple(rest))
        case Reshape():
            return t if t.amount is None else Reshape(t.op, t.axis, new[0], t.body)
        case Zero():
            return Zero(new, t.dtype)
        case Get():
            return Get(t.name, new)
        case Index():
            return Index(new[0])
        case Choose():
            rest = iter(new)
            tests = tuple(Test(x.kind, None if x.poly is None else next(rest), x.term) for x in t.tests)
            return Choose(tests, t.then, t.orelse)
    return t


def guard(conds: tuple[Poly, ...], body: Term) -> Term:
    """[conds] body, without conditions that are plainly true, merged with a guard below."""
    kept = tuple(dict.fromkeys(c for c in conds if (n := c.const()) is None or n < 0))
    if isinstance(body, Guard):
        return guard(kept + tuple(c for c in body.conds if c not in kept), body.body)
    return Guard(kept, body) if kept else body


def at(t: Term, path: Path) -> Term:
    for k in path:
        t = kids(t)[k]
    return t


def put(t: Term, path: Path, new: Term) -> Term:
    if not path:
        return new
    inner = list(kids(t))
    inner[path[0]] = put(inner[path[0]], path[1:], new)
    return with_kids(t, tuple(inner))


def walk(t: Term, path: Path = ()) -> Iterator[tuple[Path, Term]]:
    """Every node with its position, outermost first."""
    yield path, t
    for k, inner in enumerate(kids(t)):
        yield from walk(inner, (*path, k))


def largest_literal(t: Term) -> int:
    """The largest number, without its sign, in the indices, extents and conditions of a term."""
    waiting = [p for _, u in walk(t) for p in own_polys(u)]
    seen = set(waiting)
    found = 0
    while waiting:
        p = waiting.pop()
        found = max(found, *(abs(c) for c in p.terms.values()), 0)
        inside = {q for a in p.atoms() if isinstance(a, Quot) for q in (a.num, a.den)} - seen
        seen |= inside
        waiting += inside
    return found


def bound_syms(t: Term) -> set[Sym]:
    return {u.sym for _, u in walk(t) if isinstance(u, (Gen, Sum))}


def uses(t: Term, x: Tensor) -> int:
    """How often x is read, as an element or by a nest."""
    return sum((isinstance(u, (Get, Look)) and u.name is x) + (isinstance(u, Nest) and u.args.count(x)) for _, u in walk(t))


# -- renaming


def substitute(t: Term, env: Mapping[Atom, Poly], names: Mapping[Tensor, Tensor] | None = None, syms: Mapping[Sym, Sym] | None = None) -> Term:
    """t with unknowns replaced by polynomials, free arrays by others, and binders `syms` renamed (their uses are in env)."""
    names = names or {}
    syms = syms or {}

    def go(u: Term) -> Term:
        old_polys = own_polys(u)
        if old_polys:
            new_polys = tuple(p.subst(env) for p in old_polys)
            if any(a is not b for a, b in zip(old_polys, new_polys, strict=True)):
                u = with_polys(u, new_polys)
        if names:
            match u:
                case Get() if u.name in names:
                    u = Get(names[u.name], u.index)
                case Look() if u.name in names:
                    u = Look(names[u.name], u.index)
                case Let() if u.name in names:
                    u = Let(names[u.name], u.bound, u.body, u.rolled)
                case Nest():
                    u = replace(u, names=tuple(names.get(x, x) for x in u.names), args=tuple(names.get(x, x) for x in u.args))
        match u:
            case Gen() if u.sym in syms:
                u = Gen(syms[u.sym], u.low, u.high, u.body)
            case Sum() if u.sym in syms:
                u = Sum(syms[u.sym], u.low, u.high, u.body, u.monoid)
        return map_kids(u, go)

    return go(t)


def refresh(t: Term, copied: dict[Any, Any] | None = None) -> Term:
    """A copy whose binders are new; `copied` collects new -> old."""
    syms: dict[Sym, Sym] = {}
    names: dict[Tensor, Tensor] = {}
    for _, u in walk(t):
        if isinstance(u, (Gen, Sum)):
            syms[u.sym] = Sym(u.sym.name)
        elif isinstance(u, Let):
            names[u.name] = Tensor(u.name.name, u.name.dtype)
        elif isinstance(u, Nest):
            names.update({x: Tensor(x.name, x.dtype) for x in u.names})
    if not syms and not names:
        return t
    if copied is not None:
        copied.update({new: old for old, new in syms.items()})
        copied.update({new: old for old, new in names.items()})
    return substitute(t, {a: poly(b) for a, b in syms.items()}, names, syms)


# -- shapes and types


def shape(t: Term, shapes: Shapes) -> tuple[Poly, ...]:
    """The extents of the value. `shapes` are those of the arrays in scope."""
    match t:
        case Gen():
            return (t.high - t.low, *shape(t.body, shapes))
        case Sum() | Guard():
            return shape(t.body, shapes)
        case Let():
            return shape(t.body, {**shapes, t.name: shape(t.bound, shapes)})
        case Nest():
            return shape(t.body, {**shapes, **dict(zip(t.names, t.shapes, strict=True))})
        case Plus():
            return shape(t.left, shapes)
        case Zero():
            return t.shape
        case Cat():
            left, right = shape(t.left, shapes), shape(t.right, shapes)
            return (*left[: t.axis], left[t.axis] + right[t.axis], *left[t.axis + 1 :])
        case Reshape():
            row, inner = RESHAPES[t.op], shape(t.body, shapes)
            end = t.axis + row.takes
            return (*inner[: t.axis], *row.shape(inner[t.axis : end], amount_or_zero(t.amount)), *inner[end:])
        case Many():
            raise AssertionError("results have a shape each")
    return ()


def result_shapes(t: Term, shapes: Shapes) -> list[tuple[Poly, ...]]:
    """The shapes of the results of a term, below its lets and nests."""
    match t:
        case Let():
            return result_shapes(t.body, {**shapes, t.name: shape(t.bound, shapes)})
        case Nest():
            return result_shapes(t.body, {**shapes, **dict(zip(t.names, t.shapes, strict=True))})
        case Many():
            return [shape(item, shapes) for item in t.items]
    return [shape(t, shapes)]


def rank(t: Term) -> int:
    match t:
        case Gen():
            return 1 + rank(t.body)
        case Sum() | Guard() | Let() | Nest():
            return rank(t.body)
        case Cat() | Plus():
            return rank(t.left)
        case Reshape():
            row = RESHAPES[t.op]
            return rank(t.body) - row.takes + row.gives
        case Zero():
            return len(t.shape)
    return 0


def dtype(t: Term) -> DType:
    match t:
        case Gen() | Sum() | Guard() | Let() | Nest() | Reshape():
            return dtype(t.body)
        case Cat() | Plus():
            return dtype(t.left)
        case Zero() | Lit() | Op() | Cast():
            return t.dtype
        case Get() | Look():
            return t.name.dtype
        case Choose():
            return dtype(t.then)
        case Index():
            return I64
    raise AssertionError(t)


def accumulates(t: Term, monoid: str) -> bool:
    """True when folding t into a place by the monoid is not the same, bit for bit, as folding its value: a sum on the way."""
    match t:
        case Sum():
            return t.monoid == monoid
        case Plus():
            return t.monoid == monoid
        case Gen() | Guard() | Let() | Nest() | Reshape():
            return accumulates(t.body, monoid)
        case Cat():
            return accumulates(t.left, monoid) or accumulates(t.right, monoid)
        case Choose():
            return accumulates(t.then, monoid) or accumulates(t.orelse, monoid)
        case Op():
            return t.name == "mulacc" and monoid == "add"
    return False


def may_skip(t: Term) -> bool:
    """True when folding t by add may leave a place alone where its value is a zero."""
    match t:
        case Guard() | Zero():
            return True
        case Reshape():
            return RESHAPES[t.op].pads or may_skip(t.body)
        case Gen() | Sum() | Let() | Nest():
            return may_skip(t.body)
        case Cat() | Plus():
            return may_skip(t.left) or may_skip(t.right)
        case Choose():
            return may_skip(t.then) or may_skip(t.orelse)
    return False
