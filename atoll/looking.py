"""What one can see of a function: its type, the program at every stage, its memory and cost, its C."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atoll.deep import as_deep_as_needed
from atoll.elaborate.signature import constraints, show_signature
from atoll.errors import NOWHERE, Span, fail
from atoll.errors.plain import all_plain
from atoll.lower.make import compiled_loops, make_loops, printed_loops
from atoll.runtime.memory import memory
from atoll.surface import syntax as s
from atoll.targets import CPU, device_memory, refuse_functions

if TYPE_CHECKING:
    from atoll.cost import Cost
    from atoll.eyes.explore import Explorer
    from atoll.roofline import Roofline, Rooflines


@all_plain
class Looking:
    """Mixed into at.Function."""

    @property
    def type(self: Any) -> str:
        """`matmul(a: f32[n, k], b: f32[k, m]) -> f32[n, m]`"""
        if self.signature.blanks and not self.signature.is_generic:
            inferred = [dataclasses.replace(p, type=t) for p, (_, t) in zip(self.signature.params, self.core.params, strict=True)]
            return show_signature(self.name, dataclasses.replace(self.signature, params=tuple(inferred)), self.core.result)
        result = None if self.signature.is_generic else self.core.result
        shown = show_signature(self.name, self.signature, result if result is not None else self.signature.result)
        return shown + constraints(self) if self.signature.type_vars else shown

    @as_deep_as_needed
    def explain(self: Any, what: str = "program") -> str:
        """The program with every inserted map, rep and conversion written out, and the types and sizes that were inferred.

        With "schedule": what was decided about its loops."""
        if what == "schedule":
            from atoll.runtime.describe import describe

            return describe(self.core)
        if what != "program":
            fail("E0814", given=what)
        from atoll.elaborate.explain import explain

        return explain(self)

    @as_deep_as_needed
    def show(self: Any, stage: str = "core", origins: bool = False) -> str:
        """The program at a stage: surface, core, ainf, term, plan, loops, passes, rewritten, c or cuda. With `origins`, every line with the
        lines of the source it comes from."""
        from atoll.stages import show

        return show(self, stage, origins)

    @as_deep_as_needed
    def memory(self: Any, **sizes: int) -> Any:
        """Every allocation and copy of the compiled program: place, bytes as a polynomial of the sizes, reason.

        With sizes, f.memory(n=1000): how many bytes a call takes then, arguments, results and the most that is allocated at the same time."""
        if sizes:
            from atoll.distribute.budget import needs

            return needs(self, sizes)
        if self.target != CPU:
            refuse_functions(self.core)
            return device_memory(self.core, self._returned)

        return memory(compiled_loops(self.core), self.core, self._returned)

    @as_deep_as_needed
    def cost(self: Any, **sizes: int) -> Cost:
        """Operations, bytes read and written and rounds of loops of a call, as formulas of the sizes, or as numbers: f.cost(n=1000)."""
        from atoll.cost import cost_of

        return cost_of(self.core, sizes)

    def roofline(self: Any, sizes: Mapping[str, int | Sequence[int]] | None = None, /, **named: int | Sequence[int]) -> Roofline | Rooflines:
        """How fast it runs at these sizes, measured on random arguments, against what memory and arithmetic of this machine allow: f.roofline(n=1000).

        Lists give a point for each size: f.roofline(n=[100, 1000]), also as a dict, f.roofline({"n": [100, 1000]}).
        """
        from atoll.roofline import at_sizes

        if sizes is not None and not isinstance(sizes, Mapping):
            fail("E0610", name="roofline", text=f"sizes are given by name, not as {type(sizes).__name__}", help="f.roofline(n=1000), f.roofline(n=[100, 1000])")
        return at_sizes(self, {**(sizes or {}), **named})

    def explore(self: Any) -> Explorer:
        """A page in the browser with the program at every stage, linked by where lines come from; its address is `.url`. Notebooks show it in place."""
        from atoll.eyes.explore import of_function

        return of_function(self)

    @property
    def _returned(self: Any) -> Span:
        """Where the body says what its result is."""
        last = self.surface.body[-1] if self.surface.body else None
        return last.span if isinstance(last, s.Return) else NOWHERE

    @as_deep_as_needed
    def export_c(self: Any, folder: str | Path, workspace: str = "heap", overwrite: bool = False, origins: str = "none") -> list[Path]:
        """Write readable C99 (a .c, a .h, an example caller) that needs neither Python nor a runtime library.

        Files that Atoll did not write stay as they are unless `overwrite` is True. `origins="comments"` says beside every line of C which lines of
        the source it comes from, `origins="lines"` says so by `#line`, for debuggers and compilers."""
        from atoll.backends.c.export import export

        return export(self.core, printed_loops(self.core, make_loops(self.core)), folder, workspace, overwrite, origins)
