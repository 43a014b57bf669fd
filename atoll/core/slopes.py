"""Partial derivatives of the scalar primitives, as a table used by both modes, by AiNF and by the interpreter.

A row maps a primitive to a function of an algebra `c`, its arguments and its result; it gives one partial derivative per argument, None
where there is none (the derivative is zero or does not exist). `c` has the operations the formulas need, so the same row makes lines or
computes numbers. At a kink the choice is stated: min and max follow the first argument on a tie, abs has slope 0 at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from atoll.errors import Span, fail

if TYPE_CHECKING:
    from atoll.core import ir


class Algebra(Protocol):
    """What the formulas are written in."""

    def const(self, value: float) -> Any: ...
    def op(self, name: str, *args: Any) -> Any: ...
    def choose(self, test: str, a: Any, b: Any, then: Any, orelse: Any) -> Any: ...


Partials = tuple[Any, ...]
Rule = Callable[..., Partials]

_TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)


def _mul(c: Algebra, a: Any, b: Any) -> Any:
    return c.op("mul", a, b)


def _div(c: Algebra, a: Any, b: Any) -> Any:
    return c.op("div", a, b)


def _one_minus(c: Algebra, x: Any) -> Any:
    return c.op("sub", c.const(1.0), x)


def _inverse_sqrt(c: Algebra, x: Any) -> Any:
    return _div(c, c.const(1.0), c.op("sqrt", x))


def _quotient(c: Algebra, a: Any, b: Any, y: Any) -> Partials:
    """1 / b and -a / b**2: one division for both."""
    inverse = _div(c, c.const(1.0), b)
    return (inverse, c.op("neg", _mul(c, y, inverse)))


def _pow(c: Algebra, a: Any, b: Any, y: Any) -> Partials:
    """b*a**(b-1), which is 0 for b = 0 whatever a is, and a**b*log(a); where a is 0 the second is 0, as it is the limit for positive powers."""
    less = c.choose("eq", b, c.const(0.0), c.const(1.0), c.op("sub", b, c.const(1.0)))
    da = c.choose("eq", b, c.const(0.0), c.const(0.0), _mul(c, b, c.op("pow", a, less)))
    log_a = c.choose("gt", a, c.const(0.0), c.op("log", c.choose("gt", a, c.const(0.0), a, c.const(1.0))), c.const(0.0))
    return (da, _mul(c, y, log_a))


def _hypot(c: Algebra, a: Any, b: Any, y: Any) -> Partials:
    zero = c.const(0.0)
    safe = c.choose("gt", y, zero, y, c.const(1.0))
    return (_div(c, a, safe), _div(c, b, safe))


def _arctan2(c: Algebra, a: Any, b: Any, y: Any) -> Partials:
    size = c.op("add", _mul(c, a, a), _mul(c, b, b))
    return (_div(c, b, size), c.op("neg", _div(c, a, size)))


RULES: dict[str, Rule] = {
    "add": lambda c, a, b, y: (c.const(1.0), c.const(1.0)),
    "sub": lambda c, a, b, y: (c.const(1.0), c.const(-1.0)),
    "mul": lambda c, a, b, y: (b, a),
    "div": _quotient,
    "neg": lambda c, a, y: (c.const(-1.0),),
    "abs": lambda c, a, y: (c.op("sign", a),),
    "min": lambda c, a, b, y: (c.choose("le", a, b, c.const(1.0), c.const(0.0)), c.choose("le", a, b, c.const(0.0), c.const(1.0))),
    "max": lambda c, a, b, y: (c.choose("ge", a, b, c.const(1.0), c.const(0.0)), c.choose("ge", a, b, c.const(0.0), c.const(1.0))),
    "pow": _pow,
    "fma": lambda c, a, b, d, y: (b, a, c.const(1.0)),
    "sqrt": lambda c, a, y: (_div(c, c.const(0.5), y),),
    "cbrt": lambda c, a, y: (_div(c, c.const(1 / 3), _mul(c, y, y)),),
    "exp": lambda c, a, y: (y,),
    "exp2": lambda c, a, y: (_mul(c, c.const(math.log(2)), y),),
    "expm1": lambda c, a, y: (c.op("add", y, c.const(1.0)),),
    "log": lambda c, a, y: (_div(c, c.const(1.0), a),),
    "log2": lambda c, a, y: (_div(c, c.const(1 / math.log(2)), a),),
    "log10": lambda c, a, y: (_div(c, c.const(1 / math.log(10)), a),),
    "log1p": lambda c, a, y: (_div(c, c.const(1.0), c.op("add", a, c.const(1.0))),),
    "sin": lambda c, a, y: (c.op("cos", a),),
    "cos": lambda c, a, y: (c.op("neg", c.op("sin", a)),),
    "tan": lambda c, a, y: (c.op("add", c.const(1.0), _mul(c, y, y)),),
    "arcsin": lambda c, a, y: (_inverse_sqrt(c, _one_minus(c, _mul(c, a, a))),),
    "arccos": lambda c, a, y: (c.op("neg", _inverse_sqrt(c, _one_minus(c, _mul(c, a, a)))),),
    "arctan": lambda c, a, y: (_div(c, c.const(1.0), c.op("add", c.const(1.0), _mul(c, a, a))),),
    "arctan2": _arctan2,
    "sinh": lambda c, a, y: (c.op("cosh", a),),
    "cosh": lambda c, a, y: (c.op("sinh", a),),
    "tanh": lambda c, a, y: (_one_minus(c, _mul(c, y, y)),),
    "arcsinh": lambda c, a, y: (_inverse_sqrt(c, c.op("add", _mul(c, a, a), c.const(1.0))),),
    "arccosh": lambda c, a, y: (_inverse_sqrt(c, c.op("sub", _mul(c, a, a), c.const(1.0))),),
    "arctanh": lambda c, a, y: (_div(c, c.const(1.0), _one_minus(c, _mul(c, a, a))),),
    "hypot": _hypot,
    "fmod": lambda c, a, b, y: (c.const(1.0), c.op("neg", c.op("trunc", _div(c, a, b)))),
    "mod": lambda c, a, b, y: (c.const(1.0), c.op("neg", c.op("floor", _div(c, a, b)))),
    "floordiv": lambda c, a, b, y: (None, None),
    "erf": lambda c, a, y: (_mul(c, c.const(_TWO_OVER_SQRT_PI), c.op("exp", c.op("neg", _mul(c, a, a)))),),
    "erfc": lambda c, a, y: (_mul(c, c.const(-_TWO_OVER_SQRT_PI), c.op("exp", c.op("neg", _mul(c, a, a)))),),
    "lgamma": lambda c, a, y: (c.op("digamma", a),),
    "tgamma": lambda c, a, y: (_mul(c, y, c.op("digamma", a)),),
    "digamma": lambda c, a, y: (c.op("trigamma", a),),
    "copysign": lambda c, a, b, y: (_mul(c, c.op("sign", a), c.op("copysign", c.const(1.0), b)), None),
    "floor": lambda c, a, y: (None,),
    "ceil": lambda c, a, y: (None,),
    "round": lambda c, a, y: (None,),
    "trunc": lambda c, a, y: (None,),
    "sign": lambda c, a, y: (None,),
    "rounded_f16": lambda c, a, y: (c.const(1.0),),
    "rounded_bf16": lambda c, a, y: (c.const(1.0),),
    "read": lambda c, a, y: (c.const(1.0),),
    "stop": lambda c, a, y: (None,),
}
"""Primitives that are missing here have no derivative (comparisons, bits) or are refused by name (trigamma)."""



# -- complex numbers: pairs of reals. The adjoint w of z stands for the change Re(w dz), so that rows above whose function is holomorphic hold as they
# are: what flows back is multiplied by the slope, nothing is conjugated. What takes a complex number apart or makes one has a row of its own.


class Parts(Protocol):
    """What those rows are written in: `of` makes an operation in the type it has for its arguments, `nothing` is the 0 of the real type."""

    nothing: Any

    def of(self, name: str, *args: Any) -> Any: ...
    def where_positive(self, x: Any, then: Any) -> Any: ...


def _abs_ahead(c: Parts, a: Any, y: Any, da: Any) -> Any:
    along = c.of("add", c.of("mul", c.of("real", a), c.of("real", da)), c.of("mul", c.of("imag", a), c.of("imag", da)))
    return c.where_positive(y, lambda: c.of("div", along, y))


def _abs_back(c: Parts, a: Any, y: Any, bar: Any) -> Partials:
    """conj(z) / abs(z), and 0 at 0."""
    share = c.where_positive(y, lambda: c.of("div", bar, y))
    return (c.of("complex", c.of("mul", share, c.of("real", a)), c.of("neg", c.of("mul", share, c.of("imag", a)))),)


AHEAD: dict[str, Callable[..., Any]] = {
    "complex": lambda c, a, b, y, da, db: c.of("complex", c.nothing if da is None else da, c.nothing if db is None else db),
    "real": lambda c, a, y, da: c.of("real", da),
    "imag": lambda c, a, y, da: c.of("imag", da),
    "conj": lambda c, a, y, da: c.of("conj", da),
    "abs": _abs_ahead,
}
"""The tangent of the result, of the arguments, the result and their tangents (None: 0)."""
BACK: dict[str, Callable[..., Partials]] = {
    "complex": lambda c, a, b, y, bar: (c.of("real", bar), c.of("neg", c.of("imag", bar))),
    "real": lambda c, a, y, bar: (c.of("complex", bar, c.nothing),),
    "imag": lambda c, a, y, bar: (c.of("complex", c.nothing, c.of("neg", bar)),),
    "conj": lambda c, a, y, bar: (c.of("conj", bar),),
    "abs": _abs_back,
}
"""The adjoint of each argument, of the arguments, the result and its adjoint."""


def _complex_pow(c: Algebra, a: Any, b: Any, y: Any) -> Partials:
    less = c.op("sub", b, c.const(1.0))
    base = c.choose("eq", a, c.const(0.0), c.const(1.0), a)
    return (_mul(c, b, c.op("pow", a, less)), c.choose("eq", a, c.const(0.0), c.const(0.0), _mul(c, y, c.op("log", base))))


HOLOMORPHIC: dict[str, Rule] = {
    **{name: RULES[name] for name in ("add", "sub", "mul", "div", "neg", "fma", "sqrt", "exp", "log", "sin", "cos", "read", "stop")},
    "pow": _complex_pow,
}


def takes_apart(name: str, is_complex: bool) -> bool:
    """Whether an operation on an argument that is complex, or not, has rows in AHEAD and BACK."""
    return name in AHEAD and (is_complex or name == "complex")


def rule_of(name: str, is_complex: bool) -> Rule | None:
    return (HOLOMORPHIC if is_complex else RULES).get(name)


CONSTANT = frozenset(("floordiv", "floor", "ceil", "round", "trunc", "sign", "stop"))
"""Primitives whose slope is 0 everywhere: nothing flows through them."""
NOT_DIFFERENTIABLE = {"sampled": "a number drawn by rejection, seen as a function of its parameters,", "trigamma": "trigamma, the derivative of digamma,"}


def only_one(fn: ir.Function, span: Span) -> NoReturn:
    """The derivative of a function in the mode its author supplied none for. Atoll's own may be slow or endless: that is why one was supplied."""
    given, asked, missing = ("backwards", "forwards", "def_jvp") if fn.vjp is not None else ("forwards", "backwards", "def_vjp")
    fail("E1024", span, fn=fn.name, given=given, asked=asked, missing=missing)
