"""Entry points as core functions."""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.deep import as_deep_as_needed
from atoll.errors import fail
from atoll.futhark import syntax as s
from atoll.futhark.build import clean
from atoll.futhark.builtins import Program
from atoll.futhark.env import Binding, Use, arrows
from atoll.futhark.ftypes import Arr, Dim, DRef, Prim, Rec, Sum, Type, has_function, map_dim, map_type, prune, show, unsized
from atoll.futhark.patterns import single_name
from atoll.futhark.regular import bound_by
from atoll.futhark.representation import Later, _Unbound
from atoll.futhark.values import Code, Frame, Record, names_of, sum_order
from atoll.sizes import Poly, Sym, poly
from atoll.types import types as core
from atoll.types.dtypes import F16
from atoll.types.types import I64_T, SCALARS, map_sizes, sizes_in

_NAMES = "nmklopqrsuvwxyz"


@as_deep_as_needed
def entry(d: s.Def, binding: Binding, tuning: dict[str, int] | None = None) -> ir.Function:
    """The core function of a definition without type parameters; `tuning` are values of #[param(x)]."""
    p = Program()
    p.tuning = tuning or {}
    p.span = d.span
    frame = Frame(p.root)
    taken: set[str] = set()
    sizes: list[Sym] = []
    params: list[tuple[Sym, Any]] = []
    args = []
    held: list[core.Type] = []
    fns, _ = arrows(binding.type)
    p.top = []
    names = [single_name(pat) for pat in d.params] + [None] * (len(fns) - len(d.params))
    if any(has_function(fn.param) for fn in fns) or has_function(arrows(binding.type)[1]):
        fail("E1406", d.span, what="Entry point functions may not be higher-order")
    given = [b for fn in fns for b in _sizes_of(fn.param)]
    if any(b in binding.sizes and b not in given for b in _sizes_of(arrows(binding.type)[1])):
        fail("E1404", d.span, found=show(arrows(binding.type)[1]), expected="sizes that the arguments or the value say", why="Entry point functions must not be size-polymorphic in their return type")
    for k, (fn, name) in enumerate(zip(fns, names, strict=True)):
        for b in _sizes_of(fn.param):
            if frame.find(b) is None:
                sym = Sym(_fresh(clean(b.name) if b.name else "", taken))
                sizes.append(sym)
                frame.bind(b, Code(ir.SizeOf(poly(sym), type=I64_T)))
        sym = Sym(_fresh(clean(name.name if name is not None else f"arg{k}"), taken))
        with p.block() as computed:
            given_type = p.resolve(fn.param, frame)
            t = p.core_type(given_type, (lambda: _new_size(sizes, taken)) if unsized(fn.param) else None)  # what an abstract type hides is any size
        if computed:  # a size that is computed of other arguments is any size here, and compared in the body
            inner = {x for stmt in computed for x in bound_by(stmt)}
            t = map_sizes(t, lambda size, inner=inner: _any_size(size, inner, sizes, taken))  # type: ignore[misc]
        held.append(t)
        params.append((sym, _stored(t, given_type)))
        args.append(Code(ir.Var(sym, type=params[-1][1])))
        if name is not None:
            frame.bind(name, args[-1])
        if fn.name is not None:
            frame.bind(fn.name, args[-1])
    use = Use(binding, {}, {id(b): DRef(b) for b in binding.sizes}, binding.type)
    with p.block() as stmts:
        if not args:
            p.top = stmts
        try:
            v = p.apply(p.used(use, frame), *(Code(_converted(p, a.e, t)) for a, t in zip(args, held, strict=True)))
        except _Unbound as problem:
            fail("E1404", d.span, found="[]", expected="a size", why=f'the size "{problem}" is ambiguous: nothing says it')
        v = p.named(v, "result")
        result = p.reify(v) if not isinstance(v, Record) or v.fields else p.lit(0, "i8").e
        result = _converted(p, result, _stored(result.type, p.resolve(arrows(binding.type)[1], frame)))
    whole = [*p.top, *stmts] if args else stmts
    body = result if not whole else ir.Block(tuple(whole), result, type=result.type, span=d.span)
    known = {*sizes, *(sym for sym, _ in params)}
    opened = list(dict.fromkeys(leaf for size in sizes_in(result.type) for leaf in size.leaves() if isinstance(leaf, Sym) and leaf not in known))
    made = ir.Function(clean(d.name), tuple(sizes), tuple(params), result.type, body, span=d.span, owned=(False,) * len(params))
    made.open_sizes = tuple(opened)
    for sym in opened:  # in the type that people read each size has a name of its own
        sym.name = _fresh(sym.name if sym.name not in taken else "", taken)
    return made


_UNIT = SCALARS["i8"]  # what () is in arrays outside


def _stored(t: core.Type, of: Type) -> core.Type:
    """The type a value has outside: an f16 is an f32 inside, elements without a value are zeros outside."""
    of = prune(of)
    if isinstance(of, Prim):
        return core.Scalar(F16) if of.name == "f16" else t
    if isinstance(of, Arr):
        assert isinstance(t, core.Array)
        return core.Array(_UNIT if t.elem == core.Tuple(()) else _stored(t.elem, of.elem), t.size)
    if not isinstance(t, core.Tuple) or not t.items:
        return t
    parts = [of.fields[f] for f in names_of(of)] if isinstance(of, Rec) else [x for _, x in sum_order(of)] if isinstance(of, Sum) else []
    return core.Tuple(tuple(item if part is None else _stored(item, part) for item, part in zip(t.items, parts, strict=True)))


def _converted(p: Program, e: ir.Expr, wanted: core.Type) -> ir.Expr:
    """A value between what it is inside and what it is outside."""
    if e.type == wanted:
        return e
    if e.type == core.Tuple(()):
        return ir.Lit(0, type=wanted, span=p.span)
    if wanted == core.Tuple(()):
        return ir.MakeTuple((), type=wanted, span=p.span)
    if isinstance(wanted, core.Array):
        assert isinstance(e.type, core.Array)
        x = Sym("x")
        elem = e.type.elem
        body = p.closed(lambda: Code(_converted(p, ir.Var(x, type=elem), wanted.elem)))
        return p.name(ir.Map((x,), (e,), body, type=wanted, span=p.span))
    if isinstance(wanted, core.Tuple):
        e = p.name(e)
        assert isinstance(e.type, core.Tuple)
        parts = tuple(_converted(p, ir.Proj(e, k, type=t), w) for k, (t, w) in enumerate(zip(e.type.items, wanted.items, strict=True)))
        return ir.MakeTuple(parts, type=wanted, span=p.span)
    return p.name(ir.Cast(e, type=wanted, span=p.span))


def _any_size(size: Poly, made: set[Sym], sizes: list[Sym], taken: set[str]) -> Poly:
    return _new_size(sizes, taken) if made & set(size.leaves()) else size


def _new_size(sizes: list[Sym], taken: set[str]) -> Poly:
    sizes.append(Sym(_fresh("", taken)))
    return poly(sizes[-1])


def _fresh(name: str, taken: set[str]) -> str:
    if not name:
        name = next((c for c in _NAMES if c not in taken), "n")
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _sizes_of(t: Type) -> list[Binding]:
    found: list[Binding] = []

    def leaf(d: Dim) -> Dim:
        if isinstance(d, DRef) and d.binding.kind == "size" and d.binding not in found:
            found.append(d.binding)
        return d

    map_type(prune(t), lambda x: None, lambda d: map_dim(d, leaf))
    return found


__all__ = ["Later", "entry"]
