"""A scheduled program as native code: the checked loops, printed, built and called like any other program (runtime/program.py)."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atoll.backends.c.jit import Generated, generate
from atoll.core.fingerprint import fingerprint
from atoll.cost import Cost, cost_at
from atoll.errors import fail
from atoll.errors.caller import caller
from atoll.errors.plain import all_plain, calling
from atoll.loops import ir as lp
from atoll.runtime import program as host
from atoll.runtime.cache import cache
from atoll.runtime.identity import build_key
from atoll.runtime.library import load
from atoll.runtime.memory import Memory, memory
from atoll.runtime.toolchain import compile_c

if TYPE_CHECKING:
    from atoll.schedule.api import Schedule


class ScheduledProgram(host.Program):
    """A program whose loops are given. The printed C is part of its key, so two schedules never share an entry by mistake."""

    def __init__(self, s: Schedule, generated: Generated, optimise: str) -> None:
        fn = s.function.core
        self.fn, self.arrange = fn, s.function._arguments
        digest, spans = fingerprint(fn)
        extra = os.environ.get("ATOLL_CFLAGS", "").split()
        text = hashlib.sha256(generated.text.encode()).hexdigest()
        self.key = build_key("scheduled", digest, text, optimise=optimise, extra=extra)

        def build(folder: Path) -> dict[str, Any]:
            (folder / "program.c").write_text(generated.text)
            compile_c(folder / "program.c", folder / "program.so", optimise, extra)
            number = {id(span): k for k, span in reversed(list(enumerate(spans)))}
            sites = [host.site_to_json(x, kinds, number) for x, kinds in zip(generated.sites, generated.kinds, strict=True)]
            return {"kind": "program", "name": fn.name, "sites": sites, "prints": [host._print_to_json(p) for p in generated.prints]}

        library, path, meta = cache.use(self.key, build, load)
        self.lifted, self.donations = host.not_lifted, {}
        self._open(library, path, meta, spans)


@all_plain
class Compiled:
    """`s.compile()`: call it like the function it is a schedule of."""

    def __init__(self, s: Schedule, optimise: str = "3") -> None:
        if optimise not in ("0", "1", "2", "3"):
            fail("E0507", caller("compile"), step="compile", problem=f"optimise is '0', '1', '2' or '3', not {optimise!r}")
        self.schedule = s
        self.loops: lp.Function = s.lowered.function
        self._generated = generate(s.function.core, self.loops)
        self.program = ScheduledProgram(s, self._generated, optimise)
        self.__name__ = s.name
        self.call = self.program.call

    @calling
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.call(*args, **keywords)

    def __repr__(self) -> str:
        return f"<compiled schedule of {self.schedule.name}>"

    @property
    def c(self) -> str:
        """The C that was compiled."""
        return self._generated.text

    def memory(self) -> Memory:
        """Every allocation and copy, as `f.memory()` lists them."""
        return memory(self.loops)

    def cost(self, **sizes: int) -> Cost:
        """Operations, bytes and rounds of the scheduled loops, as `f.cost()` gives them."""
        return cost_at(self.loops, self.schedule.function.core, sizes)
