"""The plan of a program as text: what is stored, which stages share loops."""

from __future__ import annotations

from collections.abc import Mapping

from atoll.ainf import ir
from atoll.ainf.scan_prim import line_refs
from atoll.ainf.show import prim_text
from atoll.core import ir as core
from atoll.errors import Span
from atoll.origins import Marks, plain
from atoll.plan.fuse import Fuser, Leaf, Node
from atoll.plan.inplace import plan_block
from atoll.plan.override import planned
from atoll.plan.stages import Inlining, Stage
from atoll.plan.strips import in_strips
from atoll.plan.sums_apart import with_products


def show_plan_of(fn: core.Function, plan: Mapping[str, str], marks: Marks | None = None) -> str:
    """Groups, nests and stages of a function's outermost block."""
    marked = marks if marks is not None else Marks()
    program = planned(fn, plan)
    if not plan and program.reassociate:
        program = with_products(program)
    lines = [line for line in program.block.lines if not isinstance(line.prim, (ir.Input, ir.ConstArray))]
    inlining, stages, inplace = plan_block(lines, program.results, set())
    fuser = Fuser(stages, True, inplace)
    text: list[str] = []

    def stage_text(stage: Stage) -> str:
        if stage.target is not None:
            return f"result {stage.position} = {stage.target.body!r}"
        assert stage.line is not None
        note = " (in place)" if any(line is stage.line for line, _ in inplace.takes) else ""
        if stage.line.keep is not None:
            note += f" ({stage.line.keep[1]}: {stage.line.keep[0]})"
        return f"{stage.line.name} = {prim_text(stage.line.prim)}{note}"

    def places(nodes: list[Node]) -> dict[Span, None]:
        """Where what is inside comes from."""
        found: dict[Span, None] = {}
        for node in nodes:
            found.update(dict.fromkeys(stage_origins(node.stage, program, inlining)) if isinstance(node, Leaf) else places(node.body))
        return found

    def go(nodes: list[Node], depth: int) -> None:
        for node in nodes:
            pad = marked.mark(places([node])) + "  " * depth
            if isinstance(node, Leaf):
                text.append(pad + (f"start {node.stage}" if node.start else stage_text(node.stage)))
            else:
                text.append(f"{pad}for {node.sym} in {node.low}..{node.high}:")
                go(node.body, depth + 1)

    for group in in_strips(fuser.groups(), fuser):
        nodes = fuser.nests(group)
        depth, extent = 0, f"{group.extent}"
        mark = marked.mark(places(nodes))
        if group.strip is not None:
            depth = 1
            if group.strip.maker is group:
                text.append(f"{mark}strips {group.strip.low}..{group.strip.high} of {group.extent}:")
                extent = f"{group.strip.high} - {group.strip.low}"
        if group.is_cut:
            text.append(f"{mark}{'  ' * depth}pieces {group.low}..{group.high} of {extent}:")
            go(nodes, 1 + depth)
        else:
            go(nodes, 0)
    return "\n".join(text if marks is not None else map(plain, text))


def stage_origins(stage: Stage, program: ir.Program, inlining: Inlining) -> dict[Span, None]:
    """Where what a stage computes comes from: its line and those inlined in it, and for a result where it is written."""
    if stage.line is not None:
        found, queue = dict.fromkeys(stage.line.origins), list(line_refs(stage.line))
    else:
        assert stage.target is not None
        found, queue = {program.returned: None}, list(ir.operand_refs(stage.target.body))
    seen: set[ir.Line] = set()
    while queue:
        line = queue.pop().line
        if line not in seen and inlining.is_inlined(line):
            seen.add(line)
            found.update(dict.fromkeys(line.origins))
            queue += line_refs(line)
    return found or {program.returned: None}
