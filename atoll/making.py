"""`at.fn`: a Function made of what is decorated, or of a module given as text."""

from __future__ import annotations

import ast
import functools
import sys
import types as pytypes
from collections.abc import Callable
from typing import Any, overload

from atoll.elaborate.namespace import Namespace
from atoll.errors import Source, Span, fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import calling, plain, users_code
from atoll.function import Function, Options
from atoll.runtime.arguments import Donated
from atoll.surface import source as text
from atoll.surface.parse import Parser


@plain
def donate(x: Any) -> Any:
    """Let a function overwrite this array, where its parameter is declared at.own[...]. The array's contents are then undefined."""
    return Donated(x)


@overload
def fn(function: Callable[..., Any], /) -> Function: ...
@overload
def fn(*, source: str, reassociate: bool = ..., copies: str = ..., bits: str = ...) -> Function: ...
@overload
def fn(*, reassociate: bool = ..., copies: str = ..., bits: str = ...) -> Callable[[Callable[..., Any]], Function]: ...
@calling
def fn(
    function: Callable[..., Any] | None = None,
    /,
    *,
    source: str | None = None,
    reassociate: bool = True,
    copies: str = "any",
    bits: str = "processor",
) -> Any:
    """Make a Python function an Atoll function. The body is parsed, never run by Python.

    >>> import atoll as at
    >>> n = at.sizes("n")
    >>> @at.fn
    ... def double(x: at.f64[n]) -> at.f64[n]:
    ...     return 2 * x
    """
    if bits not in ("processor", "portable"):
        fail("E0839", given=repr(bits))
    options = Options(reassociate, copies, bits=bits)
    if source is None and function is None:
        return calling(lambda given: _make(_from_function, given, options))
    return _make(_from_function, function, options) if source is None else _make(_from_text, source, options)


def _make(how: Callable[[Any, Options], Function], given: Any, options: Options) -> Function:
    if options.copies not in ("any", "explicit"):
        fail("E0808", given=options.copies)
    return how(given, options)


# What people decorate that is no plain function: the words for it, and what to write instead.
_NOT_FUNCTIONS: dict[type, tuple[str, str]] = {
    type: ("a class", "decorate a `def`; a class of data is a record: @at.record"),
    classmethod: ("a classmethod", "make it a function without `cls`"),
    property: ("a property", "make it a function of the fields it reads"),
    functools.partial: ("a functools.partial", "write the function out: def f(...): return g(..., y=2.0)"),
    pytypes.MethodType: ("a bound method", "make it a function without `self`, with the fields it needs as parameters"),
    pytypes.BuiltinFunctionType: ("a function written in C", "use it by its name inside a body, if it has a meaning there"),
}


def _from_function(function: Any, options: Options) -> Function:
    if isinstance(function, Function):
        return function if options in (Options(), function.options) else function.with_options(options)
    plain = text.unwrap(function)
    if not isinstance(plain, pytypes.FunctionType):
        words = (f"a value of type {type(function).__name__}", "use it as a decorator: @at.fn above a `def`")
        for kind, known in _NOT_FUNCTIONS.items():
            if isinstance(plain, kind):
                words = known
        fail("E0125", found=words[0], help=words[1])
    source, node = text.find(plain)
    parser = Parser(source)
    if isinstance(node, ast.Lambda):
        parser.refuse(node, "a lambda on its own", "write a `def` with annotated parameters; inside a body, lambdas are fine")
    if not isinstance(node, ast.FunctionDef):
        parser.refuse(node)
        raise AssertionError
    first = next(iter(node.args.posonlyargs + node.args.args), None)
    if first is not None and first.arg in ("self", "cls") and first.annotation is None:
        parser.refuse(first, f"`{first.arg}`", "make it a function outside the class, with the fields it needs as parameters")
    made = Function(source, node, Namespace(plain), options)
    made.__module__ = plain.__module__
    made.__qualname__ = plain.__qualname__
    made.__wrapped__ = plain
    if not (plain.__module__ or "").startswith("atoll.std."):  # the library is checked by its tests, and by its users' programs
        made.check_early()
    return made


def _undefined(source: Source, tree: ast.Module, error: NameError) -> None:
    """A name in a declaration that nothing defines, most often a size, shown where it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == error.name:
            end = node.end_col_offset or node.col_offset + 1
            help_ = f'sizes are declared first: {node.id} = at.sizes("{node.id}")' if node.id.islower() and len(node.id) < 3 else None
            fail("E0105", Span(source, node.lineno, node.col_offset, node.lineno, end), name=node.id, help=help_)


def _from_text(module_text: str, options: Options) -> Function:
    """The last function of a module given as text."""
    if not isinstance(module_text, str):
        fail("E0610", name="at.fn", text=f"source= takes the text of a module, not {kind_of(module_text)}", help="read the file first: at.fn(source=Path(...).read_text())")
    name = text.remember(module_text)
    source, tree = text.parse_text(module_text, name)
    module = pytypes.ModuleType(name)
    module.__file__ = name
    namespace = module.__dict__
    sys.modules[name] = module  # dataclasses looks there
    try:
        with users_code():
            exec(text.compiled(source, tree), namespace)  # noqa: S102  the user's own text
    except NameError as error:
        _undefined(source, tree, error)
        raise
    finally:
        del sys.modules[name]
    definitions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not definitions:
        fail("E0126")
    last = definitions[-1]
    found = namespace.get(last.name)
    if isinstance(found, Function):
        return _from_function(found, options)
    plain = text.unwrap(found)
    around = Namespace(plain) if isinstance(plain, pytypes.FunctionType) else Namespace(names=namespace)
    made = Function(source, last, around, options)
    made.__module__, made.__wrapped__ = name, found
    made.check_early()
    return made
