"""Which argument of a public function is not what the function says it takes: asked when a call ended in an error that nobody foresaw.

Parameters say in their annotations what they take. Kinds that Python's own objects have are looked at (a text, a number, a path, something to call);
`Any` and our own classes are checked by the functions themselves. Also found: texts and numbers that cannot be printed.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from atoll.errors.misuse import kind_of

_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "str": (lambda x: isinstance(x, str), "a text"),
    "bool": (lambda x: isinstance(x, bool), "True or False"),
    "int": (lambda x: isinstance(x, Integral) and not isinstance(x, bool), "a whole number"),
    "float": (lambda x: isinstance(x, Real) and not isinstance(x, bool), "a number"),
    "None": (lambda x: x is None, "None"),
    "dict": (lambda x: isinstance(x, dict), "a dictionary"),
    "Mapping": (lambda x: isinstance(x, Mapping), "a dictionary"),
    "list": (lambda x: isinstance(x, list), "a list"),
    "tuple": (lambda x: isinstance(x, tuple), "a tuple"),
    "Iterable": (lambda x: isinstance(x, Iterable), "several values"),
    "Path": (lambda x: isinstance(x, os.PathLike), "a path"),
    "os.PathLike": (lambda x: isinstance(x, os.PathLike), "a path"),
    "Callable": (callable, "a function"),
}


def misfit(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> str | None:
    """In words, the first argument that does not fit; None where all do, as far as can be told."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError:
        return None
    for name, value in bound.arguments.items():
        p = signature.parameters[name]
        if p.kind is p.VAR_POSITIONAL:
            given = [(name, x) for x in value]
        elif p.kind is p.VAR_KEYWORD:
            given = list(value.items())
        else:
            given = [(name, value)]
        for word, x in given:
            found = _wrong(str(p.annotation), word, x) or _unprintable(word, x)
            if found is not None:
                return found
    return None


def arity(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> str | None:
    """What Python says about the number of arguments, or about their names."""
    try:
        inspect.signature(function).bind(*args, **keywords)
    except TypeError as error:
        return f"{getattr(function, '__name__', 'the function')}() {error}"
    return None


def _wrong(annotation: str, word: str, value: Any) -> str | None:
    kinds = [_KINDS.get(part.partition("[")[0]) for part in _alternatives(annotation)]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds) or any(fits(value) for fits, _ in known):
        return None
    return f"{word} takes {' or '.join(words for _, words in known)}, not {kind_of(value)}"


def _alternatives(annotation: str) -> list[str]:
    """The parts of `A | B[C | D]`."""
    parts, depth = [""], 0
    for c in annotation:
        depth += (c == "[") - (c == "]")
        if c == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def _unprintable(word: str, value: Any) -> str | None:
    if isinstance(value, int) and value.bit_length() > 10_000:
        return f"{word} is a number of {int(value.bit_length() * 0.30103) + 1:,} digits"
    if isinstance(value, str) and not value.isprintable() and ("\0" in value or any("\ud800" <= c <= "\udfff" for c in value)):
        return f"{word} is a text with a character that no text has ({ascii(value)[:60]})"
    return None
