"""What slopes of scalar primitives are written in (core/prims.py has the rows): an algebra `c` that makes lines or computes numbers, and the longer formulas.

A slope is a function of the algebra, the arguments and the result; it gives one partial derivative per argument, None where there is none (the derivative is zero or
does not exist). At a kink the choice is stated: min and max follow the first argument on a tie, abs has slope 0 at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol


class Algebra(Protocol):
    """What the formulas are written in."""

    def const(self, value: float) -> Any: ...
    def op(self, name: str, *args: Any) -> Any: ...
    def choose(self, test: str, a: Any, b: Any, then: Any, orelse: Any) -> Any: ...


Partials = tuple[Any, ...]
Rule = Callable[..., Partials]

TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)


def mul(c: Algebra, a: Any, b: Any) -> Any:
    return c.op("mul", a, b)


def div(c: Algebra, a: Any, b: Any) -> Any:
    return c.op("div", a, b)


def one_minus(c: Algebra, x: Any) -> Any:
    return c.op("sub", c.const(1.0), x)


def inverse_sqrt(c: Algebra, x: Any) -> Any:
    return div(c, c.const(1.0), c.op("sqrt", x))


def quotient(c: Algebra, a: Any, b: Any, y: Any) -> Partials:
    """1 / b and -a / b**2: one division for both."""
    inverse = div(c, c.const(1.0), b)
    return (inverse, c.op("neg", mul(c, y, inverse)))


def pow(c: Algebra, a: Any, b: Any, y: Any) -> Partials:
    """b*a**(b-1), which is 0 for b = 0 whatever a is, and a**b*log(a); where a is 0 the second is 0, as it is the limit for positive powers."""
    less = c.choose("eq", b, c.const(0.0), c.const(1.0), c.op("sub", b, c.const(1.0)))
    da = c.choose("eq", b, c.const(0.0), c.const(0.0), mul(c, b, c.op("pow", a, less)))
    log_a = c.choose("gt", a, c.const(0.0), c.op("log", c.choose("gt", a, c.const(0.0), a, c.const(1.0))), c.const(0.0))
    return (da, mul(c, y, log_a))


def hypot(c: Algebra, a: Any, b: Any, y: Any) -> Partials:
    zero = c.const(0.0)
    safe = c.choose("gt", y, zero, y, c.const(1.0))
    return (div(c, a, safe), div(c, b, safe))


def arctan2(c: Algebra, a: Any, b: Any, y: Any) -> Partials:
    size = c.op("add", mul(c, a, a), mul(c, b, b))
    return (div(c, b, size), c.op("neg", div(c, a, size)))


def flat(c: Algebra, *given: Any) -> Partials:
    """The slope is 0 everywhere: nothing flows through."""
    return (None,) * (len(given) - 1)  # the last is the result


# -- complex numbers: pairs of reals. The adjoint w of z stands for the change Re(w dz), so that rows above whose function is holomorphic hold as they
# are: what flows back is multiplied by the slope, nothing is conjugated. What takes a complex number apart or makes one has a row of its own.


class Parts(Protocol):
    """What those rows are written in: `of` makes an operation in the type it has for its arguments, `nothing` is the 0 of the real type."""

    nothing: Any

    def of(self, name: str, *args: Any) -> Any: ...
    def where_positive(self, x: Any, then: Any) -> Any: ...


def abs_ahead(c: Parts, a: Any, y: Any, da: Any) -> Any:
    along = c.of("add", c.of("mul", c.of("real", a), c.of("real", da)), c.of("mul", c.of("imag", a), c.of("imag", da)))
    return c.where_positive(y, lambda: c.of("div", along, y))


def abs_back(c: Parts, a: Any, y: Any, bar: Any) -> Partials:
    """conj(z) / abs(z), and 0 at 0."""
    share = c.where_positive(y, lambda: c.of("div", bar, y))
    return (c.of("complex", c.of("mul", share, c.of("real", a)), c.of("neg", c.of("mul", share, c.of("imag", a)))),)


def complex_pow(c: Algebra, a: Any, b: Any, y: Any) -> Partials:
    less = c.op("sub", b, c.const(1.0))
    base = c.choose("eq", a, c.const(0.0), c.const(1.0), a)
    return (mul(c, b, c.op("pow", a, less)), c.choose("eq", a, c.const(0.0), c.const(0.0), mul(c, y, c.op("log", base))))
