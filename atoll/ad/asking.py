"""How derivatives are asked for from Python: the function, the other arguments, and errors that speak of the user's call.

What is asked wrongly is told as in a body: E0235, E0236 and E0237 for the arguments of `at.grad` and its relatives, E1012 for the function.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from atoll.core.slopes import RULES
from atoll.elaborate.builtins.names import DERIVATIVES, SCALAR_NARY, SCALAR_UNARY, BuiltinName, meaning_of_object
from atoll.errors import NOWHERE, Error, fail
from atoll.errors.caller import caller
from atoll.errors.misuse import kind_of
from atoll.errors.plain import plain
from atoll.function import Function
from atoll.making import fn
from atoll.types.types import Index, Record, Scalar, Tuple, Type, shape_of

P = ParamSpec("P")
R = TypeVar("R")

_INSTEAD = {
    "argnums": "wrt= chooses arguments, by position or by name: {name}(f, wrt=1)",
    "argnum": "wrt= chooses arguments, by position or by name: {name}(f, wrt=1)",
    "has_aux": "at.grad and at.value_and_grad have it; here, differentiate a function that gives the arrays only",
}


def asked(function: Callable[P, R]) -> Callable[P, R]:
    """A function of the API whose calls are checked: one that does not fit is an error of Atoll."""
    signature = inspect.signature(function)

    @plain
    @functools.wraps(function)
    def checked(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            signature.bind(*args, **keywords)
        except TypeError:
            _misfit(f"at.{function.__name__}", list(signature.parameters.values()), args, keywords)
        return function(*args, **keywords)

    return checked


def _misfit(name: str, parameters: list[inspect.Parameter], args: tuple[Any, ...], keywords: dict[str, Any]) -> NoReturn:
    names = [p.name for p in parameters]
    for word in keywords:
        if word not in names:
            near = difflib.get_close_matches(word, names, 1)
            help_ = _INSTEAD[word].format(name=name) if word in _INSTEAD else f"write {near[0]}=" if near else f"it takes {', '.join(names)}"
            fail("E0236", caller(), name=name, keyword=word, help=help_)
    takes = f"{len(names)} argument{'' if len(names) == 1 else 's'}"
    if len(args) > len(names):
        fail("E0235", caller(), name=name, expected=takes, found=len(args), help=f"write {name}({', '.join(names)})")
    given = {*names[: len(args)], *keywords}
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in given]
    if missing:
        fail("E0237", caller(), name=name, missing=missing[0], help=f"write {name}({', '.join(p.name for p in parameters if p.default is p.empty)})")
    twice = next(word for word in keywords if word in names[: len(args)])
    fail("E0235", caller(), name=name, expected=takes, found=f"{twice} twice", help=f"give {twice} once")


# -- the function


def function_of(f: Any, what: str) -> Function:
    """The function to differentiate: one of the user's, or a scalar function of the language on f64."""
    if isinstance(f, Function):
        if not f.signature.params:
            fail("E1022", caller(), name=f"at.{what}", fn=f.name)
        return f
    name = f.__name__ if isinstance(f, BuiltinName) else meaning_of_object(f)
    if name in DERIVATIVES:
        fail("E1012", caller(), name=f"at.{what}", found=f"at.{name}", help=f"apply it to a function first: at.{what}(at.{name}(f))")
    if name is not None:
        name = name.removeprefix("np.")
        prim, arity = (SCALAR_UNARY[name], 1) if name in SCALAR_UNARY else SCALAR_NARY.get(name, ("", 0))
        if prim in RULES:
            return _scalar(name, arity)
        help_ = f"say of which type: @at.fn above `def f(x: f64[n]): return {name}(x)`"
        fail("E1012", caller(), name=f"at.{what}", found=f"the built-in {name}, which has many types", help=help_)
    found = f"the class {f.__name__}" if isinstance(f, type) else "a plain Python function" if callable(f) else kind_of(f)
    if getattr(f, "__name__", "") == "<lambda>":
        fail("E1012", caller(), name=f"at.{what}", found="a lambda", help="write a `def` with annotated parameters, decorated with @at.fn")
    instead = f"give the function and then its arguments: at.{what}(f)(x), not at.{what}(f(x))" if isinstance(f, (int, float, complex, np.ndarray, np.generic)) else None
    fail("E1012", caller(), name=f"at.{what}", found=found, help=instead)


@functools.cache
def _scalar(name: str, arity: int) -> Function:
    """sin and the like as functions of f64."""
    params = ["x", "y", "z"][:arity]
    typed = ", ".join(f"{p}: f64" for p in params)
    return fn(source=f"import atoll as at\nfrom atoll import f64\n@at.fn\ndef {name}({typed}) -> f64:\n    return at.{name}({', '.join(params)})\n")


# -- tangents and seeds


def settled(t: Type, value: Any, name: str, of: str) -> Any:
    """A tangent or seed in which integers have 0, as they are not differentiated: a zero of any kind will do."""
    _, elem = shape_of(t)
    if isinstance(elem, Tuple):
        if not isinstance(value, tuple) or len(value) != len(elem.items):
            return value
        return tuple(settled(item, part, name, f"{of}[{k}]") for k, (item, part) in enumerate(zip(elem.items, value, strict=True)))
    if isinstance(elem, Record):
        if not isinstance(value, elem.decl.cls or ()):
            return value
        parts = [settled(item, getattr(value, n), name, f"{of}.{n}") for n, item in zip(elem.decl.fields, elem.items, strict=True)]
        return type(value)(*parts)
    if isinstance(elem, (Scalar, Index)) and not (elem.dtype.is_float or elem.dtype.is_complex or elem.dtype.is_storage):
        if not isinstance(value, (bool, int, float, np.generic, np.ndarray)):
            return value
        if np.any(value):
            fail("E1020", caller(), name=name, what=of, dtype=elem.dtype.name)
        return np.zeros(value.shape, elem.dtype.numpy) if isinstance(value, np.ndarray) else elem.dtype.numpy.type(0)
    return value


def called(f: Function, what: str, made: Function, extra: dict[str, str], args: tuple[Any, ...]) -> Any:
    """made(*args), the derivative of f, whose errors about arguments are told of the call of at.jvp or at.vjp. `extra` says what parameters that f has not are."""
    try:
        return made(*args)
    except Error as error:
        prefix = f"{error.code}: {made.name}: "
        if error.span is not NOWHERE or not error.message.startswith(prefix):
            raise
        text = error.message.replace(prefix, f"{error.code}: at.{what} of {f.name}: ", 1)
        for name, words in extra.items():
            text = text.replace(f"argument {name} ", f"{words} ").replace(f"argument {name}[", f"{words} [")
        first, *rest = text.split("\n")
        rest = [line for line in rest if f"fit {made.name}(" not in line]
        if len(rest) < error.message.count("\n"):
            rest.append("   help: " + ("seeds are shaped like the result" if what.startswith("vjp") else "tangents are shaped like the arguments") + f": {f.type}")
        span = caller()
        place = [f"  --> {span!r}", *("   " + line for line in span.excerpt())] if span is not NOWHERE else []
        told = type(error)("\n".join([first, *place, *rest]), error.code, span)
        told.help = error.help
        raise told from None
