"""Errors as part of the product: a stable code, one place in the user's file, expected and found, one suggestion.

`fail(code, span, ...)` is the only way to raise one; `catalog` holds a row per code (class, first line, longer story), so the text
of every message is data with a test. Every class is also the Python class a user would catch.
"""

from __future__ import annotations

from atoll.errors.base import (
    AliasWarning,
    CausalityError,
    CompileError,
    CopyWarning,
    Error,
    InitialisationError,
    LocationError,
    ParseError,
    RunError,
    ScheduleError,
    SizeError,
    TypeError,
    fail,
    make,
)
from atoll.errors.span import NOWHERE, Source, Span

__all__ = [
    "NOWHERE",
    "AliasWarning",
    "CopyWarning",
    "CompileError",
    "Error",
    "ParseError",
    "RunError",
    "CausalityError",
    "InitialisationError",
    "LocationError",
    "ScheduleError",
    "SizeError",
    "Source",
    "Span",
    "TypeError",
    "fail",
    "make",
]
