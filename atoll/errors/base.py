"""The error classes and how a message is put together."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, NoReturn

from atoll.errors.span import NOWHERE, Span

if TYPE_CHECKING:
    from atoll.errors.edits import Edit


class AliasWarning(UserWarning):
    """A name that shares its value with another one is updated: the other keeps the old value."""


class CopyWarning(UserWarning):
    """A whole array is copied in every round of a loop, and nobody wrote that."""


class Error(Exception):
    """What Atoll raises. `code` is stable, `span` is the place in the user's text, `stage` the part of Atoll that noticed."""

    stage = "atoll"

    def __init__(self, text: str, code: str = "E0000", span: Span = NOWHERE) -> None:
        super().__init__(text)
        self.message = self.msg = text
        self.code = code
        self.span = span
        self.help = ""  # the suggestion, in words

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The suggestion as edits of the source, where it says one concrete thing to write."""
        from atoll.errors.edits import edits_of

        return edits_of(self.code, self.span, self.help, self.message.partition("\n")[0].partition(": ")[2])

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        from atoll.pages import error

        return error(self)


class ParseError(Error, SyntaxError):
    """The text is not an Atoll program."""

    stage = "surface"


class TypeError(Error, builtins.TypeError):
    """Types or ranks do not fit."""

    stage = "types"


class SizeError(Error, ValueError):
    """Sizes do not fit."""

    stage = "sizes"


class ScheduleError(Error, ValueError):
    """A schedule step does not hold."""

    stage = "schedule"


class CausalityError(ParseError):
    """A value that needs itself within a cycle."""


class LocationError(ParseError):
    """No place in memory for a value, or one that cannot be written there."""


class InitialisationError(ParseError):
    """State that is read before it is initialised, or initialised twice."""


class CompileError(Error, RuntimeError):
    """No code can be made here."""

    stage = "compile"


class RunError(Error, RuntimeError):
    """The program went wrong while it ran."""

    stage = "run"


class RunIndexError(RunError, IndexError):
    """An index was out of range."""


class RunZeroDivisionError(RunError, ZeroDivisionError):
    """An integer was divided by zero."""


class RunAssertionError(RunError, AssertionError):
    """An `assert` did not hold."""


class RunValueError(RunError, ValueError):
    """A value has no result: the minimum of nothing, a float that is no integer."""


class RunRecursionError(RunError, RecursionError):
    """The recursion was too deep."""


class RunMemoryError(RunError, MemoryError):
    """There was not enough memory."""


def make(
    code: str,
    span: Span = NOWHERE,
    *,
    expected: object = None,
    found: object = None,
    notes: builtins.list[str] | None = None,
    help: str | None = None,
    where: str | None = None,
    **values: object,
) -> Error:
    """The error with this code. The first line and the class come from the catalogue; `values` fill its holes."""
    from atoll.errors.catalog import CODES

    row = CODES[code]
    if code == "E0701":
        from atoll.errors.indices import shown

        values["index"], better = shown(span.text(), values["index"], values["size"], bool(values.get("unsigned")))
        help = help if help is not None else better
    everything = {name: _short(value) for name, value in {**values, "expected": expected, "found": found}.items()}
    lines = [f"{code}: {row.title.format(**everything)}"]
    if span is not NOWHERE and span.line:
        lines.append(f"  --> {span!r}" + (f", in {where}" if where else ""))
        lines += ["   " + line for line in span.excerpt()]
    if expected is not None and "{expected}" not in row.title:
        lines.append(f"   expected: {expected}")
    if found is not None and "{found}" not in row.title:
        lines.append(f"   found:    {found}")
    lines += [f"   note: {note}" for note in notes or ()]
    suggestion = help if help is not None else row.help
    if suggestion:
        suggestion = suggestion.format(**everything) if help is None else suggestion
        lines.append(f"   help: {suggestion}")
    error = row.cls("\n".join(lines), code, span)
    error.help = suggestion or ""
    return error


def _short(value: object) -> object:
    """A number of more digits than anybody reads (Python refuses to print more than 4,300), by its length."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {int(value.bit_length() * 0.30103) + 1:,} digits"
    return value


def fail(code: str, span: Span = NOWHERE, **parts: object) -> NoReturn:
    """Raise the error with this code; see `make`."""
    raise make(code, span, **parts) from None  # type: ignore[arg-type]
