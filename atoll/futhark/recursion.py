"""Recursive functions: one core function for every instance, called by itself.

Elsewhere functions are applied where they are called; a recursive one is specialised to its types and to the functions it is given, and what these
use of their surroundings are further arguments. `check_uses` are Futhark's restrictions, which make that possible.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from atoll.core import ir
from atoll.core.rewrite import transform
from atoll.errors import fail
from atoll.futhark import syntax as s
from atoll.futhark.build import clean
from atoll.futhark.env import Binding, Use, arrows
from atoll.futhark.ftypes import Dim, DRef, Type, has_function, map_dim, map_type, prune, show
from atoll.futhark.patterns import single_name
from atoll.futhark.regular import captured
from atoll.futhark.values import Code, Fn, Frame, V
from atoll.sizes import Poly, Sym, poly
from atoll.types import types as core
from atoll.types.types import I64_T, map_sizes, sizes_in

# -- the checker's part


def check_uses(name: str, binding: Binding, rec: Binding, params: list[Any], body: Any) -> None:
    """What a recursive function may not do."""
    fns, result = arrows(binding.type)
    if has_function(result) or len(fns) != len(params):
        fail("E1406", body.span, what=f"{name} is recursive, but its result is not first-order: {show(result)}")
    higher = [k for k, fn in enumerate(fns) if has_function(fn.param)]
    if not higher:
        return

    def go(x: Any) -> None:
        if isinstance(x, s.Apply):
            args: list[Any] = []
            at: Any = x
            while isinstance(at, s.Apply):
                args.insert(0, at.arg)
                at = at.fn
            if is_self(at):
                application(at, args)
                for arg in args:
                    go(arg)
                return
        if is_self(x):
            fail("E1406", x.span, what=f"The recursive function {name} has a higher-order parameter and may only be used in a saturated application")
        if isinstance(x, s.Node):
            for f in dataclasses.fields(x):
                if f.name not in s.CHECKED:
                    go(getattr(x, f.name))
        elif isinstance(x, (list, tuple)):
            for item in x:
                go(item)
        elif isinstance(x, s.Dim):
            go([x.low, x.high, x.step])

    def is_self(x: Any) -> bool:
        return isinstance(x, s.Var) and x.info is not None and x.info.binding is rec

    def application(at: Any, args: list[Any]) -> None:
        if len(args) < len(params):
            fail("E1406", at.span, what=f"The recursive application of {name} is not fully saturated, but {name} has a higher-order parameter")
        for k in higher:
            own, arg = single_name(params[k]), args[k]
            if own is None or not (isinstance(arg, s.Var) and arg.info is not None and arg.info.binding is own):
                fail("E1406", arg.span, what=f"Higher-order arguments of a recursive application must be passed unchanged: write the parameter of {name} itself")

    go(body)


# -- the elaborator's part


@dataclass(eq=False)
class Instance:
    """A recursive function at some types, given some functions."""

    node: Any
    fn: ir.Function
    given: list[V | None]  # the functions among the arguments
    own: list[Sym]  # the sizes of its parameters
    opened: list[Sym]  # sizes of its result that each call makes
    extra: tuple[tuple[Sym, core.Type], ...] = ()
    sizes: tuple[Sym, ...] = ()
    done: bool = False
    kept: list[Any] = field(default_factory=list)


def called(b: Any, use: Use, frame: Frame) -> V:
    """The function as a value: what calls it."""
    node = use.binding.node
    arity = len(node.params)

    def run(args: list[V]) -> V:
        inside = use.binding is not node.info  # a recursive call
        active = next((x for x in reversed(b.instances) if x.node is node), None) if inside else None
        return _call(b, active or _made(b, node, use, frame, args), args)

    return Fn(arity, run)


def _made(b: Any, node: Any, use: Use, frame: Frame, args: list[V]) -> Instance:
    binding: Binding = node.info
    fns, result = arrows(binding.type)
    inner = Frame(b.root)
    for con in binding.types:
        inner.types[id(con)] = b.resolve(use.types[id(con)], frame)
    given: list[V | None] = []
    own: list[Sym] = []
    params: list[tuple[Sym, core.Type]] = []
    values: list[V] = []
    for k, fn in enumerate(fns):
        for size in _sizes_of(fn.param):
            if inner.find(size) is None:
                own.append(Sym(clean(size.name) if size.name else "n"))
                inner.bind(size, Code(ir.SizeOf(poly(own[-1]), type=I64_T)))
        if isinstance(args[k], Fn):
            given.append(args[k])
            values.append(args[k])
        else:
            given.append(None)
            name = single_name(node.params[k])
            t = b.core_type(b.resolve(fn.param, inner))
            sym = Sym(clean(name.name if name is not None else f"arg{k}"))
            params.append((sym, t))
            values.append(Code(ir.Var(sym, type=t, span=b.span)))
        if fn.name is not None:
            inner.bind(fn.name, values[-1])
    opened = []
    for e in fns[-1].exists:
        opened.append(Sym("k"))
        inner.bind(e, Code(ir.SizeOf(poly(opened[-1]), type=I64_T)))
    t = b.core_type(b.resolve(result, inner))
    made = Instance(node, ir.Function(clean(node.name), (), tuple(params), t, None, open_sizes=tuple(opened), recursive=True, span=node.span), given, own, opened, kept=[inner])
    b.instances.append(made)
    scope = Frame(inner)

    def body() -> V:
        for p, v in zip(node.params, values, strict=True):
            b.bind_sizes(p.ty, v, scope)
            b.bind(p, v, scope)
        e = b.reify(b.eval(node.body, scope))
        known = set(opened)
        wanted = iter(sizes_in(t))
        have = map_sizes(e.type, lambda p: p if (w := next(wanted)).leaves() & known else w)
        e = b.resized(e, have, "the result has the size that its type says")
        if not opened:
            return Code(e)
        return Code(b.opened(ir.Hide(e, type=t, span=b.span), t, tuple(opened), "result"))

    code = b.closed(body)
    extra, free = captured(ir.Lam(tuple(sym for sym, _ in params), tuple(u for _, u in params), code))
    made.extra, made.sizes = tuple(extra.items()), (*own, *(x for x in free if x not in own and x not in opened))
    made.fn.sizes = made.sizes
    made.fn.params = (*params, *made.extra)
    passed = tuple(ir.Var(sym, type=u) for sym, u in made.extra)

    def complete(e: Any) -> Any:
        if isinstance(e, ir.Call) and e.fn is made.fn and len(e.args) == len(params):
            return dataclasses.replace(e, args=(*e.args, *passed), sizes=(*e.sizes, *(poly(x) for x in made.sizes[len(own) :])))
        return e

    made.fn.body = transform(code, on_node=complete)
    made.done = True
    b.instances.remove(made)
    return made


def _call(b: Any, x: Instance, args: list[V]) -> V:
    """A call: sizes are those of the arguments."""
    data = [b.name(b.reify(arg)) for arg, fn in zip(args, x.given, strict=True) if fn is None]
    known: dict[Any, Poly] = {}
    params = x.fn.params[: len(data)]
    for (sym, t), arg in zip(params, data, strict=True):
        if t == I64_T:
            known[sym] = b.poly(arg)
        for want, have in zip(sizes_in(t), sizes_in(arg.type), strict=True):
            only = want.single()
            if isinstance(only, Sym) and only in x.own and only not in known:
                known[only] = have
    for sym in x.own:
        known.setdefault(sym, poly(0))
    given = tuple(b.resized(arg, map_sizes(t, lambda p: p.subst(known)), "arguments have the sizes that their types say") for (_, t), arg in zip(params, data, strict=True))
    sizes: list[Poly] = [known[sym] for sym in x.own]
    if x.done:
        given = (*given, *(ir.Var(sym, type=t, span=b.span) for sym, t in x.extra))
        sizes += [poly(sym) for sym in x.sizes[len(x.own) :]]
    fresh = {sym: Sym("k") for sym in x.opened}
    known.update((sym, poly(new)) for sym, new in fresh.items())
    t = map_sizes(x.fn.result, lambda p: p.subst(known))
    e = ir.Call(x.fn, tuple(sizes), given, type=t, span=b.span)
    if fresh:
        return Code(b.opened(e, t, tuple(fresh.values()), "called"))
    return Code(b.name(e, "called"))


def _sizes_of(t: Type) -> list[Binding]:
    found: list[Binding] = []

    def leaf(d: Dim) -> Dim:
        if isinstance(d, DRef) and d.binding.kind == "size" and d.binding not in found:
            found.append(d.binding)
        return d

    map_type(prune(t), lambda x: None, lambda d: map_dim(d, leaf))
    return found
