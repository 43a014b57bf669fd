"""What `f.show("cuda")` prints: the kernels and the host program, without the support code around them."""

from __future__ import annotations

from atoll.backends.cuda.generate import generate
from atoll.core import ir as core
from atoll.targets import refuse_functions


def show(fn: core.Function) -> str:
    refuse_functions(fn)
    made = generate(fn)
    start = made.host_text.index("static int at_program_run(")
    end = made.host_text.index("\n}\n", start) + 3
    return made.kernels_text.rstrip() + "\n\n/* The host. */\n" + made.host_text[start:end]
