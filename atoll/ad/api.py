"""`at.grad`, `at.jvp` and their relatives from Python: each makes an Atoll function whose body says it, `return grad(f)(x)`.

The function that is made has the parameters of the one it is made from, is remembered there, and is a function like any other: it has a
type, can be shown, compiled, exported and differentiated again.
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from atoll.ad.asking import asked, called, function_of, settled
from atoll.elaborate.namespace import Namespace
from atoll.elaborate.signature import ParamInfo, Signature
from atoll.errors import NOWHERE, Error, fail
from atoll.errors.caller import caller
from atoll.errors.misuse import kind_of
from atoll.errors.plain import plain
from atoll.function import Function, Options
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.declare import size_symbol
from atoll.surface import source as text
from atoll.types.types import Fn, Tuple, Type, subst_sizes

Wrt = int | str | Sequence[int | str]


def make(
    f: Function,
    key: Any,
    name: str,
    params: tuple[ParamInfo, ...],
    body: Callable[..., str],
    *used: Any,
    result: Type | None = None,
    sizes: tuple[Sym, ...] | None = None,
) -> Function:
    """The function `def name(params): return body`, made once; `body` is given the names f and `used` have in it."""
    if key not in f._derived:
        taken = {p.name for p in params}
        inner = {_fresh(getattr(x, "__name__", "f"), taken): x for x in (f, *used)}
        written = f"def {name}({', '.join(p.name for p in params)}):\n    return {body(*inner)}\n"
        source, tree = text.parse_text(written, text.remember(written))
        namespace = Namespace()
        namespace.globals = f.namespace.globals
        namespace.cells = {**f.namespace.cells, **{n: pytypes.CellType(x) for n, x in inner.items()}}
        signature = Signature(params, result, f.signature.sizes if sizes is None else sizes, f.signature.type_vars)
        made = Function(source, tree.body[0], namespace, Options(f.options.reassociate, f.options.copies, bits=f.options.bits, target=f.options.target), signature)  # type: ignore[arg-type]
        try:
            made.check_early()
        except Error as error:
            raise _at_the_call(error) if error.span.source is source else error from None
        f._derived[key] = made
    return f._derived[key]


def _at_the_call(error: Error) -> Error:
    """The error at the place of the user's call instead of one in a text that nobody saw."""
    span = caller()
    first, *rest = error.message.split("\n")
    kept = [line for line in rest if line.startswith(("   expected:", "   found:", "   note:", "   help:"))]
    place = [f"  --> {span!r}", *("   " + line for line in span.excerpt())] if span is not NOWHERE else []
    made = type(error)("\n".join([first, *place, *kept]), error.code, span)
    made.help = error.help
    return made


def _call(f: Function) -> str:
    return ", ".join(p.name for p in f.signature.params)


def _plain(f: Function) -> tuple[ParamInfo, ...]:
    """The parameters, none of them given away."""
    return tuple(ParamInfo(p.name, p.type, p.default, False, p.span) for p in f.signature.params)


def _wrt(f: Function, wrt: Any, what: str) -> Any:
    """wrt as Python text can say it, checked."""
    names = [p.name for p in f.signature.params]
    given = [int(w) if isinstance(w, np.integer) else w for w in (wrt if isinstance(wrt, (tuple, list)) else [wrt])]
    if not given:
        fail("E1005", caller(), wrt=repr(wrt), fn=f.name, choices=", ".join(names))
    for w in given:
        known = w in names if isinstance(w, str) else isinstance(w, int) and not isinstance(w, bool) and -len(names) <= w < len(names)
        if not known:
            fail("E1005", caller(), wrt=repr(w), fn=f.name, choices=", ".join(names))
    places = [names.index(w) if isinstance(w, str) else w % len(names) for w in given]
    for k, place in enumerate(places):
        if place in places[:k]:
            fail("E1014", caller(), name=names[place])
    return tuple(given) if isinstance(wrt, (tuple, list)) else given[0]


def _derivative(public: Callable[..., Function], f: Any, wrt: Wrt, has_aux: bool = False) -> Function:
    """The function that `public(f, ...)` is: `def grad_f(x): return grad(f, wrt=...)(x)`."""
    what = public.__name__
    fn = function_of(f, what)
    chosen = _wrt(fn, wrt, what)
    if not isinstance(has_aux, bool):
        fail("E1029", caller(), name=f"at.{what}", what="has_aux is True or False")
    aux = ", has_aux=True" if has_aux else ""
    body = lambda g, op: f"{op}({g}, wrt={chosen!r}{aux})({_call(fn)})"  # noqa: E731
    made = make(fn, (what, chosen, has_aux), f"{what}_{fn.name}", _plain(fn), body, public)
    made.recipe = public, (f, chosen, *((True,) if has_aux else ()))
    return made


@asked
def grad(f: Any, wrt: Wrt = 0, has_aux: bool = False, memory: Any = None) -> Any:
    """The gradient of a function with a float result: a function of the same arguments. wrt: a position, a name, or several.

    With has_aux=True the function returns a pair, the float and anything else; so does the gradient. With memory="2GB" a call keeps to that: it chooses
    how deep loops are cut into blocks that are computed again, computes in slabs, or is refused before it begins."""
    if memory is not None:
        return function_of(f, "grad")._grad_within(wrt, has_aux, memory)
    return _derivative(grad, f, wrt, has_aux)


@asked
def value_and_grad(f: Any, wrt: Wrt = 0, has_aux: bool = False) -> Function:
    """The value and the gradient, sharing their work. With has_aux=True the value is the pair that the function returns."""
    return _derivative(value_and_grad, f, wrt, has_aux)


@asked
def jacfwd(f: Any, wrt: Wrt = 0) -> Function:
    """The Jacobian by forward mode: the axes of the result, then those of the argument. For few inputs."""
    return _derivative(jacfwd, f, wrt)


@asked
def jacrev(f: Any, wrt: Wrt = 0) -> Function:
    """The Jacobian by reverse mode: the axes of the result, then those of the argument. For few outputs."""
    return _derivative(jacrev, f, wrt)


@asked
def hessian(f: Any, wrt: Wrt = 0) -> Function:
    """The second derivative of a function with a float result."""
    return _derivative(hessian, f, wrt)


class _Point:
    """The arguments at which a derivative is taken: a tuple of them, or one bare."""

    def __init__(self, f: Function, x: Any, what: str) -> None:
        self.what = what
        params = f.signature.params
        one = len(params) == 1
        for p in params:
            if isinstance(p.type, Fn):
                fail("E1023", caller(), name=f"at.{what}", fn=f.name, param=p.name)
        self.bare = not isinstance(x, tuple) or (one and (isinstance(params[0].type, Tuple) or len(x) != 1))
        self.values = (x,) if self.bare else x
        self.fn = f
        if len(self.values) != len(params):
            count = f"{len(params)} argument{'' if len(params) == 1 else 's'}"
            values = ", ".join(p.name for p in params)
            help_ = f"give them as one tuple: at.{what}({f.name}, ({values}{',' if one else ''}), ...)"
            fail("E1009", caller(), name=f"at.{what}", fn=f.name, wanted=count, given=len(self.values), help=help_)

    def parts(self, dx: Any) -> tuple[Any, ...]:
        """Tangents, one per argument."""
        if self.bare:
            dx = (dx,)
        if not isinstance(dx, tuple) or len(dx) != len(self.values):
            found = f"a tuple of {len(dx)}" if isinstance(dx, tuple) else kind_of(dx)
            fail("E1010", caller(), name=f"at.{self.what}", what="the tangent", wanted=len(self.values), given=found)
        pairs = zip(self.fn.signature.params, dx, strict=True)
        return tuple(settled(p.type, d, f"at.{self.what}", f"the tangent of {p.name}") for p, d in pairs)

    def forward(self, dx: Any, op: str) -> Any:
        made = _forward(self.fn, op)
        own = self.fn.signature.params
        extra = {d.name: f"the tangent of {p.name}" for p, d in zip(own, made.signature.params[len(own) :], strict=True)}
        return called(self.fn, self.what, made, extra, (*self.values, *self.parts(dx)))

    def reverse(self, dy: Any) -> Any:
        made = _reverse(self.fn, self.what)
        seed = made.signature.params[-1]
        dy = settled(seed.type, dy, f"at.{self.what}", "the seed")
        return called(self.fn, self.what, made, {seed.name: "the seed"}, (*self.values, dy))

    def like(self, adjoints: Any) -> Any:
        return adjoints[0] if self.bare else tuple(adjoints)


def _forward(f: Function, what: str) -> Function:
    """jvp_f(x..., dx...)"""
    params = _plain(f)
    taken = {p.name for p in params}
    tangents = tuple(ParamInfo(_fresh(f"d{p.name}", taken), p.type, None, False, NOWHERE) for p in params)
    xs, dxs = (", ".join(p.name for p in ps) + "," for ps in (params, tangents))
    plain = tuple(ParamInfo(p.name, p.type, None, False, p.span) for p in params)
    made = make(f, what, f"{what}_{f.name}", plain + tangents, lambda g, op: f"{op}({g}, ({xs}), ({dxs}))", OPERATORS[what])
    made.lifts = False  # tangents are shaped like the arguments
    return made


def _reverse(f: Function, what: str) -> Function:
    """vjp_f(x..., dy)"""
    plain = tuple(ParamInfo(p.name, p.type, None, False, p.span) for p in f.signature.params)
    seed = ParamInfo(_fresh("dy", {p.name for p in plain}), result_type(f, what), None, False, NOWHERE)
    xs = ", ".join(p.name for p in plain) + ","
    made = make(f, what, f"{what}_{f.name}", (*plain, seed), lambda g, op: f"{op}({g}, ({xs}), {seed.name})", OPERATORS[what])
    made.lifts = False
    return made


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def result_type(f: Function, what: str) -> Type:
    """The type of a function's result in the symbols of its signature."""
    core = f.core
    if core.open_sizes:
        fail("E1006", caller(), name=what, found=repr(core.result))
    back: dict[Atom, Poly] = {mine: poly(theirs) for mine, theirs in zip(core.sizes, f.signature.sizes, strict=False)}
    back.update({sym: poly(size_symbol(p.name)) for (sym, _), p in zip(core.params, f.signature.params, strict=True)})
    return subst_sizes(core.result, back)


@asked
def jvp(f: Any, x: Any, dx: Any) -> Any:
    """The derivative of f at x along dx. x and dx are tuples for several arguments; one may be bare."""
    return _Point(function_of(f, "jvp"), x, "jvp").forward(dx, "jvp")


@asked
def jvp2(f: Any, x: Any, dx: Any) -> Any:
    """(f(x), jvp(f, x, dx)), sharing their work."""
    return _Point(function_of(f, "jvp2"), x, "jvp2").forward(dx, "jvp2")


@asked
def vjp(f: Any, x: Any, dy: Any) -> Any:
    """The transposed derivative of f at x applied to dy, shaped like x."""
    point = _Point(function_of(f, "vjp"), x, "vjp")
    return point.like(point.reverse(dy))


@asked
def vjp2(f: Any, x: Any, dy: Any) -> Any:
    """(f(x), vjp(f, x, dy)), sharing their work."""
    point = _Point(function_of(f, "vjp2"), x, "vjp2")
    value, adjoints = point.reverse(dy)
    return value, point.like(adjoints)


@asked
def linearize(f: Any, x: Any) -> tuple[Any, Callable[..., Any]]:
    """(f(x), dx -> jvp(f, x, dx)); several tangents are given as a tuple or one by one."""
    fn = function_of(f, "linearize")
    point = _Point(fn, x, "linearize")

    def linear(*dx: Any) -> Any:
        return point.forward(dx[0] if len(dx) == 1 else dx, "jvp")

    linear.__name__ = f"linear_{fn.name}"
    return fn(*point.values), plain(linear)


OPERATORS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (grad, value_and_grad, jacfwd, jacrev, hessian, jvp, jvp2, vjp, vjp2, linearize)
}
