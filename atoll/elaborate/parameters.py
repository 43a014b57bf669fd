"""Which argument each parameter gets, as in Python, with errors that say what the function takes.

Used for local functions, other Atoll functions, built-ins and records alike.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from atoll.elaborate.elaborator import Elaborator
from atoll.errors import Span


@dataclass(frozen=True, slots=True)
class Place:
    """A parameter as a call sees it; `given` says how: "either", by "position" only, by "name" only."""

    name: str
    optional: bool
    given: str = "either"


def places(params: Sequence[Any]) -> list[Place]:
    """The places of declared parameters (surface or signature)."""
    return [Place(p.name, p.default is not None, p.given) for p in params]


def assign(
    el: Elaborator, name: str, params: Sequence[Place], args: Sequence[Any], keywords: Mapping[str, Any], span: Span, written: bool = True
) -> list[Any]:
    """Arguments in the order of the parameters; None where a default applies. `written` where the user calls, not what the function was given to."""
    most = sum(p.given != "name" for p in params)
    if len(args) > most:
        _too_many(el, name, params, len(args), span, written)
    found: dict[str, Any] = {p.name: a for p, a in zip(params, args, strict=False)}
    by_name = {p.name for p in params if p.given != "position"}
    for key, value in keywords.items():
        if key not in by_name:
            no_parameter(el, name, key, [p.name for p in params], span)
        if key in found:
            el.fail("E0264", span, name=name, keyword=key)
        found[key] = value
    for p in params:
        if p.name not in found and not p.optional:
            by = f"{p.name}=..., which is given by name only" if p.given == "name" else p.name
            whole = f": {name}({', '.join(q.name for q in params if not q.optional)})" if len(params) > 1 and p.given != "name" and name.isidentifier() else ""
            el.fail("E0237", span, name=name, missing=p.name, help=f"add {by}{whole}" if written else _other_function(args))
    return [found.get(p.name) for p in params]


def _too_many(el: Elaborator, name: str, params: Sequence[Place], given: int, span: Span, written: bool) -> NoReturn:
    by_position = [p for p in params if p.given != "name"]
    rest = [p.name for p in params if p.given == "name"]
    least = sum(not p.optional for p in by_position)
    taken = arguments(least, len(by_position))
    if rest:
        el.fail("E0235", span, name=name, expected=f"{taken} by position", found=given, help=f"give {rest[0]} by name: {rest[0]}=...")
    el.fail("E0235", span, name=name, expected=taken, found=given, help=None if written else _other_function(range(given)))


def _other_function(args: Sequence[Any]) -> str:
    """What a built-in, or a function of functions, calls is not called by the user."""
    return f"give a function of {len(args)} parameter{'s' if len(args) > 1 else ''}: each call has as many arguments"


def arguments(low: int, high: int | None = None) -> str:
    """`1 argument`, `2 arguments`, `1 to 3 arguments`."""
    if high is not None and high != low:
        return f"{low} to {high} arguments"
    return "1 argument" if low == 1 else f"{low} arguments"


# What people who know Python and NumPy write, and what says it here.
_OTHERWISE = {
    ("sort", "reverse"): "write reverse(sort(x)) for the greatest first",
    ("argsort", "reverse"): "write reverse(argsort(x)) for the greatest first",
    ("min", "key"): "give a list: min([a, b], key=f)",
    ("max", "key"): "give a list: max([a, b], key=f)",
    ("print", "end"): "every print ends its line; put everything into one print(...)",
    ("print", "file"): "print writes to the standard output",
    ("sum", "start"): "add it: start + sum(x)",
    ("sum", "initial"): "add it: initial + sum(x)",
    ("min", "initial"): "write default= for an empty array, or minimum(initial, min(x))",
    ("max", "initial"): "write default= for an empty array, or maximum(initial, max(x))",
    **{(name, "keepdims"): f"NumPy's word has it: np.{name}(x, axis=1, keepdims=True)" for name in ("sum", "prod", "min", "max", "mean")},
    **{(name, "dtype"): f"convert first: {name}(f64(x))" for name in ("sum", "prod", "mean", "cumsum", "cumprod")},
}


# What NumPy's functions of numbers take beside them.
_AFTERWARDS = {"where": "choose afterwards: where(mask, {name}(x), 0.0)", "out": "bind the result to a name instead: y = {name}(x)"}


def no_parameter(el: Elaborator, name: str, keyword: str, known: Sequence[str], span: Span) -> NoReturn:
    """A keyword the function does not take."""
    if keyword in known:
        el.fail("E0236", span, name=name, keyword=f"{keyword} that is given by name", help=f"give {keyword} by position")
    close = difflib.get_close_matches(keyword, known, 1, 0.7)
    if (name, keyword) in _OTHERWISE:
        help_ = _OTHERWISE[name, keyword]
    elif close:
        help_ = f"did you mean {close[0]}?"
    elif keyword in _AFTERWARDS:
        help_ = _AFTERWARDS[keyword].format(name=name)
    else:
        help_ = f"it takes {', '.join(known)}" if known else "give the arguments by position"
    el.fail("E0236", span, name=name, keyword=keyword, help=help_)
