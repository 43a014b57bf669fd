"""The first result of a long program sooner: a version that is compiled in a tenth of the time answers the first call, while the good one is made.

The good version is compiled beside it, on a thread that waits for the C compiler. Every call after the first waits for it, so what is timed after a call is what
will run from then on; and a first call that still runs when the good version is there is ended (it looks now and then, as for Ctrl-C) and made anew with that.

Both versions give the same bits. Without optimisation a C compiler computes what stands in the text; with it, it computes the same, for the arithmetic of
IEEE 754, because the options forbid everything else (-ffp-contract=off, no reassociation). What the C library computes is another matter: an optimised loop may call a
vector function that rounds otherwise, and a scan under `omp simd reduction(inscan)` is grouped as the vectors are. So every unit that calls such a function, has
such a loop, or computes with complex numbers, is compiled in the first version as it is in the good one: units are closed to each other (backends/c/units.py), hence the same code. A program that prints is not begun twice, and gets no first version.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from atoll.backends.c.jit import Generated
from atoll.backends.c.units import parts
from atoll.core import ir
from atoll.errors import Error, Span
from atoll.lower.make import chosen
from atoll.runtime.arguments import Donated, refuse_axes
from atoll.runtime.cache import cache
from atoll.runtime.library import call_path, load
from atoll.runtime.program import Lifted, Prepared, Program, compiled, identity, prepare
from atoll.runtime.toolchain import give_up

Arrange = Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]]

_SHORT = 18_000  # characters of C that are compiled soon enough
_PART = 120_000  # in a file that is not optimised: starting a compiler takes as long as half of that
_ROUNDED = re.compile(
    r"(?:exp2?|expm1|log(?:2|10|1p)?|pow|cbrt|a?(?:sin|cos|tan)h?|atan2|hypot|erfc?|[tl]gamma|fmod|remainder|ldexp"
    r"|cabs|carg|cproj|csqrt|cexp|clog|cpow|ca?(?:sin|cos|tan)h?)f?|complex|reduction"
)
"""Calls of functions whose results are not those of IEEE 754 alone, complex arithmetic, and sums and scans that the compiler may regroup."""


class Superseded(BaseException):
    """The good version is there: what runs may stop."""


def is_exact(used: Collection[str]) -> bool:
    """Every compiler computes the same bits for C with these words, with every option we use."""
    return not any(map(_ROUNDED.fullmatch, used))


def wanted() -> bool:
    """ATOLL_FIRST=0 says no: the first call then waits too."""
    return os.environ.get("ATOLL_FIRST") != "0" and not os.environ.get("ATOLL_CFLAGS")


class Beginning:
    """A program of which a first version is there, and the good one is being made."""

    def __init__(self, first: FirstProgram, finish: Callable[[], Program]) -> None:
        self.first = first
        self.copies = first.copies
        self._finish = finish
        self._found: Program | None = None
        first.beginning = self
        self._thread = threading.Thread(target=self._work, name="atoll compiles", daemon=True)
        self._thread.start()
        _under_way.append(self)

    def _work(self) -> None:
        with contextlib.suppress(BaseException):  # who asks for the program meets what is wrong
            self._found = self._finish()

    def is_there(self) -> bool:
        return self._found is not None

    def result(self) -> Program:
        """The good version, when it is ready. A thread that failed, or that a fork left behind, is replaced by our own work."""
        self._thread.join()
        if self in _under_way:
            _under_way.remove(self)
        if self._found is None:
            self._found = self._finish()
        return self._found

    def call(self, args: tuple[Any, ...]) -> Any:
        """The result by the first version; Superseded when the good one is there before, or must do it."""
        if any(isinstance(x, Donated) for x in args):  # its memory can be overwritten once only
            raise Superseded
        return self.first.call(*args)

    def end(self) -> None:
        """Wait when the process ends, so that the next one finds the program; Ctrl-C ends the compiler instead."""
        try:
            self._thread.join()
        except KeyboardInterrupt:
            give_up()
            self._thread.join()


_under_way: list[Beginning] = []


def _at_exit() -> None:
    for beginning in list(_under_way):
        beginning.end()


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_under_way.clear)


def levels(generated: Generated) -> tuple[list[str], list[str]] | None:
    """The files of the first version and how far each is optimised; None where it would not be much sooner."""
    if generated.length < _SHORT or generated.prints:
        return None
    exact: list[str] = []
    rounded: list[str] = []
    for text in generated.units:
        (exact if is_exact(generated.with_support(text)) else rounded).append(text)
    main = generated.main
    main_is_exact = is_exact(generated.with_support(main))
    if sum(map(len, [main, *exact] if main_is_exact else exact)) < sum(map(len, rounded if main_is_exact else [main, *rounded])):
        return None
    beside, *more = parts(exact, _PART, len(main)) if main_is_exact else [[], *parts(exact, _PART)]
    groups = [*((part, "0") for part in more), *((part, "3") for part in parts(rounded))]
    return generated.split([texts for texts, _ in groups], beside), ["0" if main_is_exact else "3", *(level for _, level in groups)]


class FirstProgram(Program):
    """The version that is there soon. It is in no cache: it is needed once."""

    def __init__(self, fn: ir.Function, arrange: Arrange, lifted: Lifted, prepared: Prepared, spans: list[Span], split: tuple[list[str], list[str]]) -> None:
        refuse_axes(fn)
        self.fn, self.arrange, self.lifted, self.key = fn, arrange, lifted, ""
        self.beginning: Beginning | None = None
        self.look = self._look
        with tempfile.TemporaryDirectory(prefix="atoll-first-") as name:
            meta = compiled(prepared, Path(name), "3", *split)
            library = load(Path(name) / "program.so")
        self._open(library, Path(name), meta, spans)

    def _look(self) -> None:
        """Asked now and then while it runs."""
        if self.beginning is not None and self.beginning.is_there():
            raise Superseded


def begin(fn: ir.Function, arrange: Arrange, optimise: str, lifted: Lifted) -> Beginning | Program:
    """A program that is in the cache or compiled soon, or the beginning of one."""
    choices = chosen(fn)
    key, spans = identity(fn, choices, optimise)
    if call_path() is None or cache.find(key) is not None:
        return Program(fn, arrange, optimise, choices, lifted, known=(key, spans))
    refuse_axes(fn)
    prepared = prepare(fn, spans, choices)

    def finish() -> Program:
        return Program(fn, arrange, optimise, choices, lifted, prepared, (key, spans))

    split = levels(prepared.generated)
    if split is None:
        return finish()
    try:
        return Beginning(FirstProgram(fn, arrange, lifted, prepared, spans, split), finish)
    except Error:  # a folder whose files may not be run; a compiler that fails, which is told for the good version
        return finish()
