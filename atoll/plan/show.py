"""The plan of a program as text: what is stored, which stages share loops."""

from __future__ import annotations

from atoll.ainf.show import prim_text
from atoll.core import ir as core
from atoll.plan.fuse import Fuser, Leaf, Node
from atoll.plan.inplace import plan_block
from atoll.plan.override import planned
from atoll.plan.stages import Stage
from atoll.plan.strips import in_strips


def show_plan_of(fn: core.Function) -> str:
    """Groups, nests and stages of a function's outermost block."""
    from atoll.ainf import ir
    from atoll.runtime.program import chosen

    program = planned(fn, dict(chosen(fn).plan))
    lines = [line for line in program.block.lines if not isinstance(line.prim, (ir.Input, ir.ConstArray))]
    _, stages, inplace = plan_block(lines, program.results, set())
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

    def go(nodes: list[Node], depth: int) -> None:
        for node in nodes:
            pad = "  " * depth
            if isinstance(node, Leaf):
                text.append(pad + (f"start {node.stage}" if node.start else stage_text(node.stage)))
            else:
                text.append(f"{pad}for {node.sym} in {node.low}..{node.high}:")
                go(node.body, depth + 1)

    for group in in_strips(fuser.groups(), fuser):
        nodes = fuser.nests(group)
        depth, extent = 0, f"{group.extent}"
        if group.strip is not None:
            depth = 1
            if group.strip.maker is group:
                text.append(f"strips {group.strip.low}..{group.strip.high} of {group.extent}:")
                extent = f"{group.strip.high} - {group.strip.low}"
        if group.is_cut:
            text.append(f"{'  ' * depth}pieces {group.low}..{group.high} of {extent}:")
            go(nodes, 1 + depth)
        else:
            go(nodes, 0)
    return "\n".join(text)
