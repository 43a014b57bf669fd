"""Several least solutions are an error that shows each of them and the smallest edit that selects it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from atoll.elaborate.ranks.constraints import Application
from atoll.elaborate.ranks.entities import Local
from atoll.elaborate.ranks.kinds import Arrow, own_rank
from atoll.elaborate.ranks.readings import Elaborated, differing, encloses, identifiers, marks, nodes_of, outermost
from atoll.elaborate.ranks.solve import Solution
from atoll.errors import Error, make
from atoll.surface import syntax as s
from atoll.types.types import Type, array, shape_of

if TYPE_CHECKING:
    from atoll.elaborate.ranks.analysis import Definition

_SHOWN = 6


def ambiguous(definition: Definition, where: str, declared: Mapping[str, Type]) -> Error:
    """The error for a definition with several least solutions. `declared` are the types of its parameters."""
    solutions = _of_one_place(definition.outcome.alternatives())
    apps = differing(solutions)
    nodes = outermost(nodes_of(apps))
    report = _Report(definition, solutions, apps, nodes, declared)
    shown = range(min(len(solutions), _SHOWN))
    notes = [f"reading {k + 1}: {report.reading(solutions[k])}" for k in shown]
    if len(solutions) > _SHOWN:
        notes.append(f"and {len(solutions) - _SHOWN} more")
    edits = [f"{report.edit(k)} for reading {k + 1}{report.meaning(solutions[k])}" for k in shown]
    text = nodes[0].span.text() if len(nodes) == 1 else report.subject()
    return make("E0261", nodes[0].span, text=text, count=len(solutions), notes=notes, help="write " + ", ".join(edits), where=where)


def _of_one_place(solutions: list[Solution]) -> list[Solution]:
    """Where several expressions are ambiguous independently of each other, the readings of the first one alone."""
    apps = differing(solutions)
    nodes = outermost(nodes_of(apps))
    inside = [[a for a in apps if a.node is node or encloses(node, a.node)] for node in nodes]
    if len(nodes) < 2 or sum(map(len, inside)) < len(apps):
        return solutions

    def choice(solution: Solution, k: int) -> tuple[tuple[int, int], ...]:
        return tuple((solution.maps(a), solution.reps(a)) for a in inside[k])

    if prod(len({choice(sol, k) for sol in solutions}) for k in range(len(nodes))) != len(solutions):
        return solutions
    first = solutions[0]
    return [sol for sol in solutions if all(choice(sol, k) == choice(first, k) for k in range(1, len(nodes)))]


class _Report:
    def __init__(
        self,
        definition: Definition,
        solutions: Sequence[Solution],
        apps: Sequence[Application],
        nodes: Sequence[s.Node],
        declared: Mapping[str, Type],
    ) -> None:
        self.definition, self.solutions, self.apps, self.nodes = definition, solutions, apps, nodes
        self.declared = declared
        self.inside = {id(a.node) for a in apps}
        self.taken = set(declared) | {name for node in nodes for name in identifiers(node.span.text())}

    def subject(self) -> str:
        """What is ambiguous when it is not one expression: a local function."""
        for local, t in self.definition.gen.local_types:
            if isinstance(local, Local) and isinstance(t.body, Arrow):
                ranks = {tuple(sol.types().rank(own_rank(p)) for p in t.body.params if not p.is_function) for sol in self.solutions}
                if len(ranks) > 1:
                    return f"the function {local.name}"
        return "this"

    def reading(self, solution: Solution) -> str:
        """The applications that differ, as this solution elaborates them."""
        texts = [self._text(solution, node) for node in self.nodes]
        if len(texts) == 1:
            return texts[0]
        return "; ".join(f"line {n.span.line}: {text}" for n, text in zip(self.nodes, texts, strict=True))

    def _text(self, solution: Solution, node: s.Node) -> str:
        apps = [a for a in solution.system.applications if id(a.node) in self.inside]
        return Elaborated(marks((a, solution.insertion(a)) for a in apps), self.taken).expr(node)

    def edit(self, k: int) -> str:
        """The smallest change that makes this solution the only least one: one insertion the others lack, or an annotation."""
        solution = self.solutions[k]
        others = [sol for sol in self.solutions if sol is not solution]
        annotation = self._annotation(solution, others)
        if annotation is not None:
            return annotation
        for app in self.apps:
            if solution.maps(app) > max(sol.maps(app) for sol in others):
                at = [a for a in solution.system.applications if a.node is app.node]
                return Elaborated(marks((a, solution.insertion(a)) for a in at), self.taken).expr(app.node)
            reps = solution.insertion(app).reps
            if reps > max(sol.insertion(app).reps for sol in others) and app.source is not None:
                if app.argument.is_function:  # the whole call says more than the function repeated
                    return self._text(solution, app.node)
                return "rep(" * reps + app.source.span.text() + ")" * reps
        return self.reading(solution)

    def meaning(self, solution: Solution) -> str:
        """What a reading of reduce or scan over rows does, in words."""
        (node, *more) = self.nodes
        name = getattr(node.fn, "id", getattr(node.fn, "name", "")) if isinstance(node, s.Call) else ""
        if more or name not in ("reduce", "scan"):
            return ""
        by_itself = any(solution.maps(a) for a in solution.system.applications if a.node is node)
        return f" ({name} each row by itself)" if by_itself else " (combine whole rows, element by element)"

    def _annotation(self, solution: Solution, others: Sequence[Solution]) -> str | None:
        """A parameter whose rank is like this in no other solution."""
        for local, t in self.definition.gen.local_types:
            if not isinstance(local, Local) or not isinstance(t.body, Arrow):
                continue
            for param, kind in zip(local.params, t.body.params, strict=False):
                if param.annotation is not None or kind.is_function:
                    continue
                mine = solution.types().rank(own_rank(kind))[0]
                if all(sol.types().rank(own_rank(kind))[0] != mine for sol in others):
                    return self._annotated(param.name, kind, mine)
        return None

    def _annotated(self, name: str, kind: Any, rank: int) -> str:
        """`v: f64[m]`, with the element type and trailing sizes of an argument that is a parameter of the definition."""
        for app in self.solutions[0].system.applications:
            if app.param is kind and isinstance(app.source, s.Name) and app.source.id in self.declared:
                sizes, elem = shape_of(self.declared[app.source.id])
                if rank <= len(sizes):
                    return f"`{name}: {array(elem, sizes[len(sizes) - rank :])!r}`"
        axes = "no axis" if rank == 0 else "1 axis" if rank == 1 else f"{rank} axes"
        return f"an annotation that gives {name} {axes}"
