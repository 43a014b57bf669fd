"""Looking into a function: its text at every stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atoll.ainf.dead import remove_dead
from atoll.ainf.from_core import translate
from atoll.ainf.show import show as show_ainf
from atoll.backends.c.jit import generate
from atoll.core.needs import needs_functions
from atoll.core.show import show as show_core
from atoll.errors import Span, fail
from atoll.loops.optimise import PASSES, optimise
from atoll.loops.show import show as show_loops
from atoll.lower.make import chosen, compiled_loops, make_loops
from atoll.origins import Marks, Row, in_margin
from atoll.plan.show import show_plan_of

if TYPE_CHECKING:
    from atoll.function import Function
    from atoll.loops import ir as lp
    from atoll.loops.optimise import Pass

STAGES = ("surface", "core", "ainf", "term", "plan", "loops", "passes", "rewritten", "c", "cuda")
"""As written; elaborated; in normal form; as the term schedules start from; what is stored and shares loops; the loops of the plan; the loops after every
rewrite that changed them; the loops after all of them, which are printed as C; C; the kernels and the host program of a GPU."""


def show(fn: Function, stage: str, origins: bool = False) -> str:
    """The program at a stage, as text; with `origins`, every line with the lines of the source it comes from."""
    if origins:
        return in_margin(rows(fn, stage), text_of(fn).surface.span.source)
    return _text(fn, stage, None)


def rows(fn: Function, stage: str) -> list[Row]:
    """The lines of a stage, each with the places of the text it comes from."""
    if stage == "surface":
        source, first = fn.surface.span.source, fn.surface.span.line
        return [Row(line, (Span(source, first + k, 0, first + k, len(line)),)) for k, line in enumerate(surface(fn).split("\n"))]
    marks = Marks()
    return marks.rows(_text(fn, stage, marks))


def text_of(fn: Function) -> Function:
    """The function whose text a user wrote: of a derivative, the one it was made of."""
    while fn.recipe is not None and fn.recipe[1] and isinstance(fn.recipe[1][0], type(fn)):
        fn = fn.recipe[1][0]
    return fn


def _text(fn: Function, stage: str, marks: Marks | None) -> str:
    if stage == "surface":
        return surface(fn)
    if stage == "core":
        return show_core(fn.core, marks)
    if stage in ("ainf", "term", "c") and needs_functions(fn.core):
        from atoll.functions.stages import show as show_functions

        return show_functions(fn.core, stage, marks)
    if stage == "ainf":
        return show_ainf(remove_dead(translate(fn.core)), marks=marks)
    if stage == "term":
        from atoll.schedule.api import schedule

        mark = "" if marks is None else marks.mark((fn.surface.span,))
        return "\n".join(mark + line for line in str(schedule(fn)).split("\n"))
    if stage == "plan":
        return show_plan_of(fn.core, dict(chosen(fn.core).plan), marks)
    if stage == "loops":
        return show_loops(make_loops(fn.core), marks)
    if stage == "passes":
        return passes(fn, marks)
    if stage == "rewritten":
        return show_loops(compiled_loops(fn.core), marks)
    if stage == "c":
        return generate(fn.core, compiled_loops(fn.core), marks).text
    if stage == "cuda":
        from atoll.backends.cuda.show import show as show_kernels

        return show_kernels(fn.core)
    fail("E0806", stage=stage)


def passes(fn: Function, marks: Marks | None = None) -> str:
    """The loops after every rewrite that changed them, with its number (for ATOLL_PASSES), why it stands there and what it said."""
    loops = make_loops(fn.core)
    texts = [show_loops(loops)]
    parts: list[str] = []

    def after(p: Pass, now: lp.Function, said: list[str]) -> None:
        text = show_loops(now)
        if text != texts[-1]:
            texts.append(text)
            head = f"-- {PASSES.index(p) + 1} {p.name} ({p.why})"
            parts.append("\n".join([head, *(f"--   {line}" for line in dict.fromkeys(said)), text if marks is None else show_loops(now, marks)]))

    optimise(loops, fn.core.reassociate, chosen(fn.core), after=after)
    return "\n\n".join(parts) or "no rewrite changes these loops"


def surface(fn: Function) -> str:
    """The function's own text."""
    source, first = fn.surface.span.source, fn.surface.span.line
    lines = []
    indent: int | None = None
    number = first
    while (line := source.line(number)) is not None:
        width = len(line) - len(line.lstrip())
        if indent is None:
            indent = width
        elif line.strip() and width <= indent and number > first and not line.strip().startswith(")"):
            break
        lines.append(line[indent:])
        number += 1
    return "\n".join(lines).rstrip()
