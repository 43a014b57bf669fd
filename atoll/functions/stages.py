"""Looking into a function that goes through λANF: what stands where array code has AiNF, terms and C."""

from __future__ import annotations

from atoll.core import ir as core
from atoll.functions.from_core import translate
from atoll.functions.native_text import generate
from atoll.functions.program import compiled, externs
from atoll.functions.show import show as show_anf
from atoll.origins import Marks


def show(fn: core.Function, stage: str, marks: Marks | None = None) -> str:
    """`ainf`: λANF as it comes from the core; `term`: closed first-order code, after the passes; `c`: the C file."""
    if stage == "ainf":
        return show_anf(translate(fn).program, marks)
    program, tables = compiled(fn)
    if stage == "c":
        return generate(program, tables, units=externs([fn]), marks=marks).text
    return show_anf(program, marks)
