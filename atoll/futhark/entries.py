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
from atoll.futhark.ftypes import Dim, DRef, Type, has_function, map_dim, map_type, prune, show, unsized
from atoll.futhark.patterns import single_name
from atoll.futhark.regular import bound_by
from atoll.futhark.representation import Later, _Unbound
from atoll.futhark.values import Code, Frame, Record
from atoll.sizes import Poly, Sym, poly
from atoll.types.types import I64_T, map_sizes, sizes_in

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
            t = p.core_type(p.resolve(fn.param, frame), (lambda: _new_size(sizes, taken)) if unsized(fn.param) else None)  # what an abstract type hides is any size
        if computed:  # a size that is computed of other arguments is any size here, and compared in the body
            inner = {x for stmt in computed for x in bound_by(stmt)}
            t = map_sizes(t, lambda size, inner=inner: _any_size(size, inner, sizes, taken))  # type: ignore[misc]
        params.append((sym, t))
        args.append(Code(ir.Var(sym, type=t)))
        if name is not None:
            frame.bind(name, args[-1])
        if fn.name is not None:
            frame.bind(fn.name, args[-1])
    use = Use(binding, {}, {id(b): DRef(b) for b in binding.sizes}, binding.type)
    with p.block() as stmts:
        if not args:
            p.top = stmts
        try:
            v = p.apply(p.used(use, frame), *args)
        except _Unbound as problem:
            fail("E1404", d.span, found="[]", expected="a size", why=f'the size "{problem}" is ambiguous: nothing says it')
        v = p.named(v, "result")
        result = p.reify(v) if not isinstance(v, Record) or v.fields else p.lit(0, "i8").e
    whole = [*p.top, *stmts] if args else stmts
    body = result if not whole else ir.Block(tuple(whole), result, type=result.type, span=d.span)
    known = {*sizes, *(sym for sym, _ in params)}
    opened = list(dict.fromkeys(leaf for size in sizes_in(result.type) for leaf in size.leaves() if isinstance(leaf, Sym) and leaf not in known))
    made = ir.Function(clean(d.name), tuple(sizes), tuple(params), result.type, body, span=d.span, owned=(False,) * len(params))
    made.open_sizes = tuple(opened)
    return made


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
