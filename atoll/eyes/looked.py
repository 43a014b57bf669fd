"""A function that is being looked at: what was found out about it is kept as long as the function is, so a slider that moves or a pane that is opened costs nothing twice."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from atoll.cost import Cost
from atoll.deep import as_deep_as_needed
from atoll.elaborate.explain import Explained, explained
from atoll.errors import Error
from atoll.eyes.panes import reasons, rows_of, told
from atoll.function import Function
from atoll.uncollected import uncollected


class Looked:
    """Each stage is made when it is first asked for."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self._panes: dict[str, list[Any]] = {}

    @cached_property
    def explained(self) -> Explained:
        return as_deep_as_needed(uncollected(explained))(self.f)

    @cached_property
    def memory(self) -> Any:
        return self.f.memory()

    @cached_property
    def cost(self) -> Cost:
        return self.f.cost()

    @cached_property
    def formulas(self) -> dict[str, str]:
        """What a call does, as formulas of the sizes; of long ones the beginning."""
        found = {name: str(getattr(self.cost, name)) for name in ("operations", "bytes_read", "bytes_written", "rounds")}
        return {name: text if len(text) < 400 else text[:400] + " ..." for name, text in found.items()}

    @cached_property
    def reasons(self) -> dict[int, list[str]]:
        try:
            return reasons(self)
        except Error:
            return {}  # the panes tell it

    def pane(self, stage: str) -> list[Any]:
        """The rows of a stage, [text, [line...]], or the error that stands in its place."""
        if stage not in self._panes:
            self._panes[stage] = told(lambda: rows_of(self, stage))
        return self._panes[stage]
