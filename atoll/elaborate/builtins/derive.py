"""jvp, vjp, grad and their relatives in bodies: a function is applied to variables, which makes a lambda of core to differentiate.

`grad(f)`, `jacrev(f)` and so on are functions themselves (`entities.Derived`), so they nest. Everything is made of two nodes of core,
Jvp and Vjp: a gradient is a transposed derivative applied to 1, a Jacobian has one derivative per unit vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import compare
from atoll.elaborate.builtins.reshape import transpose
from atoll.elaborate.builtins.vmap import apply_vmap
from atoll.elaborate.calls import Args, apply, closure_annotations, is_function
from atoll.elaborate.coerce import coerce, make_tuple, project, project_all
from atoll.elaborate.comprehension import build_array
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.expressions import as_value
from atoll.elaborate.function_calls import open_value
from atoll.elaborate.lifting import lift
from atoll.errors import Span
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.surface import syntax as s
from atoll.types.dtypes import F32, DType
from atoll.types.types import (
    Array,
    Fn,
    Index,
    Record,
    Scalar,
    Tuple,
    Type,
    rank,
    shape_of,
    sizes_in,
    strong,
    subst_sizes,
    type_vars,
)

Run = Callable[[list[Value]], Any]


# -- functions and their parameters


def _parameters(el: Elaborator, fn: Any) -> list[tuple[str, Type | None]] | None:
    """Names and declared types of a function's parameters, where they are known."""
    if isinstance(fn, en.FnRef):
        return [(p.name, None if type_vars(p.type) or isinstance(p.type, Fn) else p.type) for p in fn.fn.signature.params]
    if isinstance(fn, en.Closure):
        return [(p.name, t) for p, t in zip(fn.params, closure_annotations(el, fn), strict=True)]
    if isinstance(fn, en.Declared):
        names = _parameters(el, fn.fn)
        if names is None:
            return None
        return [(name, t if type_vars(stated) else None if isinstance(stated, Fn) else stated) for (name, t), stated in zip(names, fn.type.params, strict=False)]
    if isinstance(fn, en.Derived) and fn.kind == "vmap":
        inner = _parameters(el, fn.fn)
        return None if inner is None else [(name, None) for name, _ in inner]
    if isinstance(fn, en.Derived) and fn.kind != "linear":
        return _parameters(el, fn.fn)
    return None


def _name(fn: Any) -> str:
    if isinstance(fn, en.Declared):
        return _name(fn.fn)
    if isinstance(fn, en.FnRef):
        return str(fn.fn.name)
    return str(getattr(fn, "name", "the function"))


def known_function(args: Args, fn: Any) -> Any:
    """An argument that must be a function."""
    if not is_function(fn):
        found = args.el.show(fn.type) if isinstance(fn, Value) else describe(fn)
        help_ = f"give the function and then its arguments: {args.name}(f)(x), not {args.name}(f(x))" if isinstance(fn, Value) else None
        args.el.fail("E1004", args.span, name=args.name, found=found, help=help_)
    return fn


def _prepared(el: Elaborator, value: Value, declared: Type | None, span: Span) -> Value:
    """An argument under a name, with a definite type: that of the parameter when it is a bare number."""
    wanted = strong(value.type)
    if value.weak and declared is not None and isinstance(declared, Scalar):
        wanted = Scalar(F32) if declared.dtype.is_storage else declared
    return el.bind(coerce(el, value, wanted, span, "the argument"), None, "x")


# -- the two nodes


def _lambda(el: Elaborator, run: Run, values: Sequence[Value], span: Span, what: str) -> tuple[ir.Lam, Type, set[Atom]]:
    """The function as a lambda of core over the values; the sizes of its result that only its value knows."""
    params = tuple(Sym(v.expr.sym.name if isinstance(v.expr, ir.Var) else "x") for v in values)
    types = tuple(strong(v.type) for v in values)
    for t in types:
        if _has_complex(t):
            help_ = "take the real and the imaginary part as arguments of their own"
            el.fail("E1001", span, what="an argument with complex numbers", help=help_)
    if what in _DERIVED or not any(map(_has_float, types)):
        for v, t in zip(values, types, strict=True):
            _need_floats(el, v, t, span, what)
    el.level += 1
    with el.block(), el.hypotheses(lazy=False):
        # an integer that may be a size of the others is not differentiated: it stays the same variable inside
        given = [Value(ir.Var(p, type=t, span=v.expr.span), t) if v.poly is None else v for p, t, v in zip(params, types, values, strict=True)]
        result = as_value(el, run(given), s.NoneValue(span=span))
        result = coerce(el, result, strong(result.type), span, "the result")
        stmts = el.frames.pop()
    el.level -= 1
    body = ir.Block(tuple(stmts), result.expr, type=result.expr.type, span=span) if stmts else result.expr
    result_type = strong(el.resolve(result.type))
    inner: set[Atom] = {stmt.sym for stmt in stmts if isinstance(stmt, ir.Bind)}
    inner |= {sym for stmt in stmts if isinstance(stmt, ir.Open) for sym in stmt.sizes}
    leaves = {leaf for size in sizes_in(result_type) for leaf in size.leaves()}
    return ir.Lam(params, types, body), result_type, leaves & (inner | set(params))


def _need_floats(el: Elaborator, value: Value, t: Type, span: Span, what: str) -> None:
    """Something must be differentiable."""
    if not _has_float(t):
        arg = value.expr.sym.name if isinstance(value.expr, ir.Var) else value.expr.span.text() or "the argument"
        el.fail("E1002", span, name=what, arg=arg, found=el.show(t))


def _has_float(t: Type) -> bool:
    return any(dtype.is_float for dtype in _dtypes(t))


def _has_complex(t: Type) -> bool:
    return any(dtype.is_complex for dtype in _dtypes(t))


def _dtypes(t: Type) -> list[DType]:
    """The scalar types of the parts."""
    _, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        return [dtype for item in elem.items for dtype in _dtypes(item)]
    return [elem.dtype] if isinstance(elem, Scalar) else []


def jvp(el: Elaborator, run: Run, values: list[Value], tangents: list[Value], both: bool, span: Span) -> Value:
    lam, result, own = _lambda(el, run, values, span, "jvp")
    for d, t in zip(tangents, lam.types, strict=True):
        if not _has_float(t) and isinstance(d.expr, ir.Lit) and d.expr.value != 0:
            el.fail("E1020", span, name="jvp", what="the tangent of an integer", dtype=el.show(t))
    moved = [coerce(el, d, t, span, "the tangent") for d, t in zip(tangents, lam.types, strict=True)]
    fresh: dict[Atom, Poly] = {leaf: poly(Sym(leaf.name)) for leaf in own if isinstance(leaf, Sym)}
    result = subst_sizes(result, fresh)
    t = Tuple((result, result)) if both else result
    node = ir.Jvp(lam, tuple(v.expr for v in values), tuple(d.expr for d in moved), both, type=t, span=span)
    if not fresh:
        return Value(node, t)
    return open_value(el, node, t, [sym for p in fresh.values() if isinstance(sym := p.single(), Sym)], span)


def vjp(
    el: Elaborator,
    run: Run,
    values: list[Value],
    seed: Value | None,
    both: bool,
    span: Span,
    what: str = "vjp",
    said: str = "",
    has_aux: bool = False,
) -> Value:
    """A tuple of adjoints, one per value; with `both`, (result, adjoints). Without a seed it is 1, for a scalar result.

    With `has_aux` the result is a number and something else, whose seed is 0: nothing of it comes back (ad/vanishing.py)."""
    lam, result, own = _lambda(el, run, values, span, what)
    if own:
        el.fail("E1006", span, name=what, found=_shown(el, result, own))
    if has_aux:
        if not (isinstance(result, Tuple) and len(result.items) == 2 and isinstance(result.items[0], Scalar) and result.items[0].dtype.is_float):
            el.fail("E1029", span, name=said or what, what=f"with has_aux=True the function returns a float and something else, not {el.show(result)}")
        seed = make_tuple([_constant(el, t, value, span) for t, value in zip(result.items, (1, 0), strict=True)], None, span)
    if seed is None:
        if not (isinstance(result, Scalar) and result.dtype.is_float):
            el.fail("E1003", span, name=said or what, found=el.show(result), help=_one_number(result))
        one = ir.Lit(1.0, type=result, span=span)
        seed = Value(one, result)
    seed = coerce(el, seed, result, span, "the seed")
    adjoints = Tuple(lam.types)
    t = Tuple((result, adjoints)) if both else adjoints
    return Value(ir.Vjp(lam, tuple(v.expr for v in values), seed.expr, both, type=t, span=span), t)


def _constant(el: Elaborator, t: Type, value: int, span: Span) -> Value:
    """A value of a type with the same number everywhere."""
    if isinstance(t, (Tuple, Record)):
        return make_tuple([_constant(el, item, value, span) for item in t.items], t, span)
    if isinstance(t, Array):
        inner = _constant(el, t.elem, value, span)
        return Value(ir.View("repeat", (t.size,), (inner.expr,), type=t, span=span), t)
    if not isinstance(t, (Scalar, Index)):
        el.fail("E1029", span, name="has_aux", what=f"beside the number stands {el.show(t)}, which has no zero")
    number = bool(value) if t.dtype.kind == "b" else float(value) if t.dtype.is_float else complex(value) if t.dtype.is_complex else value
    return Value(ir.Lit(number, type=t, span=span), t)


def _shown(el: Elaborator, result: Type, own: set[Atom]) -> str:
    """A type with sizes that only a value knows, by short names."""
    return el.show(subst_sizes(result, {leaf: poly(Sym("k")) for leaf in own}))


def _one_number(result: Type) -> str:
    """What to do about a result that has no gradient."""
    if isinstance(result, (Tuple, Record)):
        return "return the number only, or use vjp with a seed for every part"
    if isinstance(result, Array):
        return "sum the result, or use jacrev"
    if _has_complex(result):
        return "return a real number: abs(z), z.real or z.imag"
    return "return a float: integers are not differentiated"


# -- jvp, vjp and linearize


class _Point:
    """Where a derivative is taken: one bare argument, or a tuple of them."""

    def __init__(self, args: Args, fn: Any, x: Any) -> None:
        self.args, self.el = args, args.el
        params = _parameters(args.el, fn)
        given = args.value(x)
        self.bare = not isinstance(given.type, Tuple) or (
            params is not None and len(params) == 1 and (isinstance(params[0][1], Tuple) or len(given.type.items) != 1)
        )
        parts = [given] if self.bare else project_all(args.el, given)
        if params is not None and len(parts) > len(params):
            count = f"{len(params)} argument{'' if len(params) == 1 else 's'}"
            args.el.fail("E1009", args.span, name=args.name, fn=_name(fn), wanted=count, given=len(parts))
        declared = [t for _, t in params] if params is not None else [None] * len(parts)
        self.values = [_prepared(args.el, p, t, args.span) for p, t in zip(parts, declared, strict=False)]

    def parts(self, x: Any, what: str) -> list[Value]:
        """Something shaped like the point."""
        given = self.args.value(x)
        if self.bare and not (isinstance(given.type, Tuple) and len(given.type.items) == 1 and not isinstance(self.values[0].type, Tuple)):
            return [given]
        if not isinstance(given.type, Tuple) or len(given.type.items) != len(self.values):
            found = self.el.show(given.type)
            self.el.fail("E1010", self.args.span, name=self.args.name, what=what, wanted=len(self.values), given=found)
        return project_all(self.el, given)

    def like(self, adjoints: Value) -> Value:
        return project(adjoints, 0) if self.bare else adjoints


def _jvp(args: Args) -> Value:
    f, x, dx = args.take("f", "x", "dx")
    fn = known_function(args, f)
    point = _Point(args, fn, x)
    return jvp(args.el, _applied(args, fn), point.values, point.parts(dx, "the tangent"), args.name == "jvp2", args.span)


def _applied(args: Args, fn: Any) -> Run:
    return lambda xs: apply(args.el, fn, xs, args.span)


def _vjp(args: Args) -> Value:
    f, x, dy = args.take("f", "x", "dy")
    fn = known_function(args, f)
    point = _Point(args, fn, x)
    seed = args.value(dy)
    both = args.name == "vjp2"
    made = vjp(args.el, _applied(args, fn), point.values, seed, both, args.span, args.name)
    if not both:
        return point.like(made)
    value, adjoints = project_all(args.el, made)
    return make_tuple([value, point.like(adjoints)], None, args.span)


def _linearize(args: Args) -> en.TupleEntity:
    """(f(x), dx -> jvp(f, x, dx))"""
    f, x = args.take("f", "x")
    fn = known_function(args, f)
    point = _Point(args, fn, x)
    value = apply(args.el, fn, point.values, args.span)
    return en.TupleEntity((value, en.Derived("linear", fn, point.values[0] if point.bare else make_tuple(point.values, None, args.span))))


# -- functions made of functions


def _derived(args: Args) -> en.Derived:
    if args.name in ("grad", "value_and_grad"):
        f, wrt, aux = args.take("f", optional=("wrt", "has_aux"))
    else:
        (f, wrt), aux = args.take("f", optional=("wrt",)), None
    return en.Derived(args.name, known_function(args, f), _wrt(args, wrt), has_aux=_flag(args, aux))


def _flag(args: Args, given: Any) -> bool:
    if given is None:
        return False
    if isinstance(given, Value) and isinstance(given.expr, ir.Lit) and isinstance(given.expr.value, bool):
        return given.expr.value
    args.el.fail("E1029", args.span, name=args.name, what="has_aux is True or False, written out")


def _wrt(args: Args, wrt: Any) -> Any:
    """A position, a name, or a tuple of them."""
    if wrt is None:
        return 0
    if isinstance(wrt, en.TextValue) and len(wrt.parts) == 1 and isinstance(wrt.parts[0], str):
        return wrt.parts[0]
    if isinstance(wrt, en.TupleEntity):
        return tuple(_wrt(args, item) for item in wrt.items)
    if isinstance(wrt, Value):
        if isinstance(wrt.type, Tuple):
            return tuple(_wrt(args, part) for part in project_all(args.el, wrt))
        number = wrt.poly.const() if wrt.poly is not None else None
        if number is not None:
            return number
    args.el.fail("E1016", args.span, name=args.name)


def apply_derived(el: Elaborator, d: en.Derived, args: Sequence[Any], keywords: dict[str, Any], span: Span) -> Any:
    """grad(f)(x, ...) and the like."""
    if d.kind == "vmap":
        return apply_vmap(el, d, args, keywords, span)
    if d.kind == "linear":
        a = Args(el, "the linear function", span, tuple(args), keywords)
        (dx,) = a.take("dx")
        point = _Point(a, d.fn, d.wrt)
        return jvp(el, _applied(a, d.fn), point.values, point.parts(dx, "the tangent"), False, span)
    params = _parameters(el, d.fn)
    names: list[Any] = list(range(len(args)))
    if params is not None:
        names = [params[k][0] if k < len(params) else k for k in range(len(args))]
    given: dict[Any, Any] = {**dict(zip(names, args, strict=True)), **keywords}
    declared = dict(params or [])
    for key, entity in given.items():
        if not is_function(entity):
            value = Args(el, _name(d.fn), span, (), {}).value(entity)
            given[key] = _prepared(el, value, declared.get(key), span)
    wrt = d.wrt if isinstance(d.wrt, tuple) else (d.wrt,)
    if not wrt:
        el.fail("E1005", span, wrt="()", fn=_name(d.fn), choices=", ".join(map(str, given)))
    chosen = [_position(el, d, w, list(given), params, span) for w in wrt]
    for k, place in enumerate(chosen):
        if place in chosen[:k]:
            el.fail("E1014", span, name=list(given)[place])
    keys = list(given)
    ranks = [None if declared.get(key) is None else rank(declared[key]) for key in keys]  # type: ignore[arg-type]
    count = len(args)

    def run(xs: list[Any]) -> Any:
        return _DERIVED[d.kind](el, d, xs, keys, count, chosen, span)

    return lift(el, [given[key] for key in keys], ranks, run, span, d.kind)


def _position(el: Elaborator, d: en.Derived, wrt: Any, keys: list[Any], params: Any, span: Span) -> int:
    if isinstance(wrt, str) and wrt in keys:
        return keys.index(wrt)
    if isinstance(wrt, int) and params is not None and -len(params) <= wrt < len(params):
        name = params[wrt][0]
        if name in keys:
            return keys.index(name)
    if isinstance(wrt, int) and params is None and 0 <= wrt < len(keys):
        return wrt
    choices = ", ".join(str(name) for name, _ in params) if params is not None else "positions"
    el.fail("E1005", span, wrt=repr(wrt), fn=_name(d.fn), choices=choices)


class _Partial:
    """A function of some of its arguments, the others given."""

    def __init__(self, el: Elaborator, fn: Any, xs: list[Any], keys: list[Any], count: int, chosen: list[int], span: Span) -> None:
        self.el, self.fn, self.xs, self.keys, self.count, self.chosen, self.span = el, fn, xs, keys, count, chosen, span
        self.values = [xs[k] for k in chosen]

    def __call__(self, values: list[Value]) -> Any:
        xs = list(self.xs)
        for k, v in zip(self.chosen, values, strict=True):
            xs[k] = v
        keywords = dict(zip(self.keys[self.count :], xs[self.count :], strict=True))
        return apply(self.el, self.fn, xs[: self.count], self.span, keywords)

    def shaped(self, d: en.Derived, adjoints: Value) -> Value:
        return adjoints if isinstance(d.wrt, tuple) else project(adjoints, 0)


def _grad(el: Elaborator, d: en.Derived, xs: list[Any], keys: list[Any], count: int, chosen: list[int], span: Span) -> Value:
    f = _Partial(el, d.fn, xs, keys, count, chosen, span)
    if d.has_aux:
        value, adjoints = project_all(el, vjp(el, f, f.values, None, True, span, d.kind, d.said, has_aux=True))
        kept = project_all(el, value)[1] if d.kind == "grad" else value
        slope = f.shaped(d, adjoints)
        return make_tuple([slope, kept] if d.kind == "grad" else [kept, slope], None, span)
    made = vjp(el, f, f.values, None, d.kind == "value_and_grad", span, d.kind, d.said)
    if d.kind == "grad":
        return f.shaped(d, el.bind(made))
    value, adjoints = project_all(el, made)
    return make_tuple([value, f.shaped(d, adjoints)], None, span)


def _hessian(el: Elaborator, d: en.Derived, xs: list[Any], keys: list[Any], count: int, chosen: list[int], span: Span) -> Value:
    inner = en.Derived("grad", d.fn, d.wrt, "hessian")
    return _jacobian(el, en.Derived("jacfwd", inner, d.wrt, "hessian"), xs, keys, count, chosen, span)


def _jacobian(el: Elaborator, d: en.Derived, xs: list[Any], keys: list[Any], count: int, chosen: list[int], span: Span) -> Value:
    """Per chosen argument: the axes of the result, then those of the argument."""
    parts = []
    for k in chosen:
        f = _Partial(el, d.fn, xs, keys, count, [k], span)
        x = f.values[0]
        _, elem = shape_of(x.type)
        if not (isinstance(elem, Scalar) and elem.dtype.is_float):
            el.fail("E1011", span, name=d.said or d.kind, what=f"the argument {keys[k]}", found=el.show(x.type))
        lam, result, own = _lambda(el, f, [x], span, d.kind)
        del lam
        if own:
            el.fail("E1006", span, name=d.said or d.kind, found=_shown(el, result, own))
        parts.append(_matrix(el, d, f, x, result, span))
    return make_tuple(parts, None, span) if isinstance(d.wrt, tuple) else parts[0]


def _matrix(el: Elaborator, d: en.Derived, run: Run, x: Value, result: Type, span: Span, part: str = "") -> Value:
    if isinstance(result, (Tuple, Record)):

        def component(k: int) -> Run:
            return lambda values: project_all(el, Args(el, d.kind, span, (), {}).value(run(values)))[k]

        names = list(result.decl.fields) if isinstance(result, Record) else [str(k) for k in range(len(result.items))]
        parts = [_matrix(el, d, component(k), x, item, span, f"{part or 'part '}{'.' if part else ''}{names[k]}") for k, item in enumerate(result.items)]
        return make_tuple(parts, result if isinstance(result, Tuple) else None, span)
    out_sizes, out_elem = shape_of(result)
    if not (isinstance(out_elem, Scalar) and out_elem.dtype.is_float):
        help_ = "differentiate a function that gives the floats only"
        el.fail("E1011", span, name=d.said or d.kind, what=f"{part} of the result" if part else "the result", found=el.show(result), help=help_)
    in_sizes, in_elem = shape_of(x.type)
    if d.kind == "jacrev":

        def row(index: list[Value]) -> Value:
            unit = _unit(el, list(out_sizes), out_elem, index, span)
            return project(el.bind(vjp(el, run, [x], unit, False, span)), 0)

        return _over(el, list(out_sizes), row, [], span)

    def column(index: list[Value]) -> Value:
        assert isinstance(in_elem, Scalar)
        unit = _unit(el, list(in_sizes), in_elem, index, span)
        return jvp(el, run, [x], [unit], False, span)

    columns = _over(el, list(in_sizes), column, [], span)
    inputs, outputs = len(in_sizes), len(out_sizes)
    if not inputs or not outputs:
        return columns
    return transpose(el, el.bind(columns), (*range(inputs, inputs + outputs), *range(inputs)), span, d.kind)


def _over(el: Elaborator, sizes: list[Any], body: Callable[[list[Value]], Value], index: list[Value], span: Span) -> Value:
    """An array over these sizes."""
    if not sizes:
        return body(index)
    return build_array(el, sizes[0], "ijklmn"[len(index) % 6], lambda i: _over(el, sizes[1:], body, [*index, i], span), span)


def _unit(el: Elaborator, sizes: list[Any], elem: Scalar, at: list[Value], span: Span) -> Value:
    """1 at an index, 0 elsewhere."""
    one, zero = (Value(ir.Lit(x, type=elem, span=span), elem) for x in (1.0, 0.0))

    def element(index: list[Value]) -> Value:
        value: Value = one
        for i, j in zip(index, at, strict=True):
            test = compare(el, "==", i, j, span)
            value = Value(ir.If(test.expr, value.expr, zero.expr, type=elem, span=span), elem)
        return value

    return _over(el, sizes, element, [], span)


_DERIVED: dict[str, Callable[..., Value]] = {
    "grad": _grad,
    "value_and_grad": _grad,
    "jacfwd": _jacobian,
    "jacrev": _jacobian,
    "hessian": _hessian,
}
HANDLERS: dict[str, Callable[[Args], Any]] = {
    "jvp": _jvp,
    "jvp2": _jvp,
    "vjp": _vjp,
    "vjp2": _vjp,
    "linearize": _linearize,
    **dict.fromkeys(_DERIVED, _derived),
}
__all__ = ["Array", "HANDLERS", "apply_derived", "jvp", "vjp"]
