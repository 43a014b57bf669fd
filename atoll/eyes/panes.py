"""The panes of the explorer: every stage of a function as rows of text with the lines of the source they come from, why things are as they are, and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from atoll.ainf import ir
from atoll.core.needs import needs_functions
from atoll.errors import Error
from atoll.function import Function
from atoll.loops import ir as lp
from atoll.loops.show import show
from atoll.lower.make import chosen, compiled_loops
from atoll.origins import Row, in_words
from atoll.plan.fuse import Fuser
from atoll.plan.inplace import plan_block
from atoll.plan.override import planned
from atoll.plan.show import stage_origins
from atoll.sizes import Atom
from atoll.stages import rows, text_of

if TYPE_CHECKING:
    from atoll.eyes.looked import Looked

Data = dict[str, Any]

STAGES = ("inserted", "core", "ainf", "plan", "loops", "rewritten", "c", "memory", "schedule")


def panes(looked: Looked, stages: list[str]) -> Data:
    """The rows of each stage that is asked for."""
    return {"panes": {stage: looked.pane(stage) for stage in stages}}


def told(make: Callable[[], list[Any]]) -> list[Any]:
    try:
        return make()
    except Error as error:
        return [[line, []] for line in str(error).split("\n")]


def rows_of(looked: Looked, stage: str) -> list[Any]:
    f = looked.f
    source = text_of(f).surface.span.source
    if stage == "inserted" and source.name.endswith(".fut"):
        stage = "core"  # maps are inserted by Futhark's types, on the way to it
    if stage == "inserted":
        return [[line, [span.line]] for line, span in looked.explained.lines]
    if stage == "memory":
        uses = looked.memory.uses
        return [[repr(u), [u.span.line] if u.span.line and u.span.source.name == source.name else []] for u in uses] or [["no memory", []]]
    if stage == "schedule":
        return [[line, []] for line in f.explain("schedule").split("\n")]
    found = rows(f, stage)
    if stage == "c":
        found = own_part(found)
    return [[row.text, list(row.lines(source))] for row in found]


def own_part(found: list[Row]) -> list[Row]:
    """The part of a C file that is printed from the program, without the support code before it."""
    first = next((k for k, row in enumerate(found) if row.spans), 0)
    return found[first:]


def reasons(looked: Looked) -> dict[int, list[str]]:
    """Why values are stored, fused, checked or copied, by line of the source."""
    f = looked.f
    said: dict[int, dict[str, None]] = {}
    source = text_of(f).surface.span.source.name

    def say(line: int, text: str) -> None:
        said.setdefault(line, {})[text] = None

    if needs_functions(f.core):
        return {}
    program = planned(f.core, dict(chosen(f.core).plan))
    lines = [line for line in program.block.lines if not isinstance(line.prim, (ir.Input, ir.ConstArray))]
    inlining, stages, inplace = plan_block(lines, program.results, set())

    def own(line: ir.Line) -> set[int]:
        return {at.line for span in line.origins for at in span.chain() if at.source.name == source}

    for line in lines:
        if line.dims and inlining.is_inlined(line):
            for at in own(line):
                say(at, f"{line.name} is not stored: each element is computed where it is used")
    for group in Fuser(stages, True, inplace).groups():
        spans = [span for stage in group.stages for span in stage_origins(stage, program, inlining)]
        together = sorted({at.line for span in spans for at in span.chain() if at.source.name == source})
        if len(together) > 1 and group.is_cut:
            for at in together:
                others = in_words(tuple(x for x in together if x != at))
                say(at, f"fused: shares its loop over {group.extent} with lines {others}; the same range, and nothing is read before it is made")
    loops = compiled_loops(f.core)
    for stmt in lp.walk(loops.body):
        if isinstance(stmt, lp.Check) and stmt.site.span.source.name == source:
            say(stmt.site.span.line, f"checked while it runs ({stmt.site.code}): the sizes alone do not prove `{stmt.site.span.text()}`")
    for use in looked.memory.uses:
        if use.span.line and use.span.source.name == source and use.kind in ("temporary", "copy"):
            word = "stored" if use.kind == "temporary" else "copied"
            say(use.span.line, f"{use.name} is {word}: {use.reason} ({lp.in_words(use.bytes)} bytes)")
    return {line: list(texts) for line, texts in sorted(said.items())}


def at_sizes(looked: Looked, sizes: dict[str, int]) -> Data:
    """Memory and operations as formulas, and at these sizes as numbers."""
    f = looked.f
    env: dict[Atom, int] = {sym: sizes.get(sym.name, 1000) for sym in f.core.sizes}
    named = {sym.name: sizes.get(sym.name, 1000) for sym in f.core.sizes}
    uses = []
    for u in looked.memory.uses:
        known = all(leaf in env for leaf in u.bytes.leaves())
        uses.append({"kind": u.kind, "name": u.name, "formula": repr(u.bytes), "bytes": u.bytes.evaluate(env) if known else None, "line": u.span.line, "reason": u.reason})
    numbers = {}
    for name, formula in looked.formulas.items():
        cost = getattr(looked.cost, name)
        value = cost if isinstance(cost, int) else cost.at(**named)
        numbers[name] = {"formula": formula, "value": value if isinstance(value, int) else None}
    return {"sizes": named, "memory": uses, "cost": numbers}


def madl_panes(file: Any, name: str) -> Data:
    """The stages of an operator of a MADL file. Statements of C stand under the line of the source they come from, and are linked to it."""
    from pathlib import Path

    from atoll.madl.command import STAGES as KNOWN

    def pane(stage: str) -> list[Any]:
        text = madl_text(file, name, stage)
        return linked(text, Path(file.path).name) if stage in ("c", "loops") else [[line, []] for line in text.split("\n")]

    return {"panes": {stage: told(lambda stage=stage: pane(stage)) for stage in KNOWN if stage != "surface"}}  # type: ignore[misc]


def madl_text(file: Any, name: str, stage: str) -> str:
    """An operator of a MADL file at a stage, or its memory."""
    from pathlib import Path

    from atoll.madl.api import Module
    from atoll.madl.c_file import Options
    from atoll.madl.command import show_operator
    from atoll.madl.library import Library

    path = Path(file.path)
    operator = getattr(Module(Library(file.text, file.path, path.parent, False), path.stem), name)
    if stage == "memory":
        return "\n".join("  ".join(row.values()) for row in operator.memory()) or "no memory of its own"
    return show_operator(operator, path.stem, stage, Options(origins="comments"))


def linked(text: str, file: str) -> list[Any]:
    """C with the comments that say where statements come from: a statement belongs to the comment before it, to the end of its block."""
    comment = re.compile(rf"^(\s*)/\* {re.escape(file)}:(\d+): .*\*/$")
    rows: list[Any] = []
    line, depth = 0, 0
    for each in text.split("\n"):
        said = comment.match(each)
        if said is not None:
            line, depth = int(said[2]), len(said[1])
        elif each.strip() and len(each) - len(each.lstrip()) < depth:
            line = 0
        rows.append([each, [line] if line else []])
    return rows


def schedule_panes(schedule: Any, lines: list[int]) -> Data:
    """A schedule step by step: what each had to prove, and the program after it; linked to the lines where steps are written."""
    steps: list[Any] = []
    programs: list[Any] = [[each, []] for each in str(schedule.undo(len(schedule.steps))).split("\n")]
    for number, step in enumerate(schedule.steps):
        at, line = schedule.undo(len(schedule.steps) - number - 1), [lines[number]]
        records = at.theorem.steps[len(at.undo(1).theorem.steps) :]
        steps.append([f"{number + 1}. {step}  ({step.rules} rule{'s' if step.rules != 1 else ''}: {', '.join(dict.fromkeys(r.rule for r in records)) or 'a mark'})", line])
        steps += [[f"     proved: {said}", line] for said in dict.fromkeys(str(o) for r in records for o in r.obligations)] or [["     nothing to prove", line]]
        programs += [[f"after {number + 1}. {step}", line], *([each, line] for each in str(at).split("\n"))]
    panes_: Data = {"steps": steps, "programs": programs, "loops": told(lambda: [[each, []] for each in show(schedule.lowered.function).split("\n")])}
    return {"panes": panes_}


def measured(f: Function, sizes: dict[str, int]) -> Data:
    """A call at these sizes, timed on random arguments, against what the machine allows."""
    found = f.roofline(**sizes)
    return {"text": str(found), "svg": str(found.plot())}
