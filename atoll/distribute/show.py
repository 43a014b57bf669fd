"""A plan in words: what is cut along which axis, halos, what is whole on every worker, phases, bytes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from atoll.distribute.arguments import words_of
from atoll.distribute.graph import Graph, Step, Use
from atoll.pictures import Picture, phases


@dataclass(frozen=True)
class Plan:
    """`f.plan_distribution(...)`: print it, or look at its graph. Nothing has run."""

    graph: Graph
    parts: int

    @property
    def halos(self) -> dict[str, tuple[int, int]]:
        """Rows before and after those a worker computes that it needs of an argument, the most of any step."""
        found: dict[str, tuple[int, int]] = {}
        for step in self.graph.steps:
            for u in step.uses:
                if u.kind == "cut" and u.halo is not None:
                    old = found.get(u.name, (0, 0))
                    found[u.name] = (max(old[0], u.halo[0]), max(old[1], u.halo[1]))
        return found

    @property
    def bytes_per_worker(self) -> int:
        """The most that any task has at hand."""
        return max((t.bytes for t in self.graph.tasks), default=0)

    @property
    def bytes_moved(self) -> int:
        """What tasks take from arguments and from each other. Where the maker of a block also uses it, less is moved."""
        return sum(prod(p.shape) * r.dtype.itemsize for t in self.graph.tasks for r in t.needs() for p in r.parts)

    @property
    def phases(self) -> list[list[Step]]:
        """Steps that can go on without waiting for everyone: a phase ends where something is made of all parts."""
        found: list[list[Step]] = [[]]
        for step in self.graph.steps:
            found[-1].append(step)
            if step.kind == "sums":
                found.append([])
        return [p for p in found if p]

    @property
    def _title(self) -> str:
        g = self.graph
        return f"{g.name}: {len(g.tasks)} tasks in {len(g.steps)} steps, " + ", ".join(f"{name} = {n}" for name, n in g.sizes.items())

    @property
    def _last(self) -> str:
        return f"at most {words_of(self.bytes_per_worker)} in a task; {words_of(self.bytes_moved)} taken from arguments and other tasks"

    def __repr__(self) -> str:
        rows = [self._title]
        for number, phase in enumerate(self.phases):
            rows.append(f"phase {number + 1}")
            for step in _joined(phase):
                rows.append(f"  {_head(step)}")
                rows += [f"    {_use(u, 12)}" for u in step.uses]
        return "\n".join([*rows, self._last])

    def plot(self) -> Picture:
        """The same as a picture: phases, their steps, a cell for every task."""
        shown = [[(_head(step), len(step.tasks), step.kind == "in order", [_use(u) for u in step.uses]) for step in _joined(phase)] for phase in self.phases]
        return phases(self._title, shown, self._last)

    def _repr_html_(self) -> str:
        return str(self.plot())


def _use(u: Use, wide: int = 0) -> str:
    return f"{'<-' if u.kind != 'given' else '->'} {u.name:<{wide}} {u.text}, {words_of(u.bytes)} in a task"


def _head(step: Step) -> str:
    line = f" (line {step.line})" if step.line else ""
    if step.kind == "parts":
        return f"{step.what}{line}: {step.axis} cut in {len(step.tasks)}"
    if step.kind == "in order":
        return f"{step.what}{line}: {len(step.tasks)} parts one after the other"
    return f"{step.what}{line}" if step.kind == "sums" else f"{step.what}{line}: in one place"


def _joined(steps: list[Step]) -> list[Step]:
    """Steps in order that do the same, as one."""
    out: list[Step] = []
    for s in steps:
        if out and s.kind == "in order" == out[-1].kind and s.what == out[-1].what:
            out[-1] = Step(out[-1].number, s.what, s.kind, s.line, (*out[-1].tasks, *s.tasks), out[-1].uses, s.axis)
        else:
            out.append(s)
    return out
