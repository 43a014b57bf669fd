"""What a function is compiled for: the CPU, or a GPU. `f.on(target)` says it, or ATOLL_TARGET for every function that does not say.

No target is chosen by itself: one that is not there is an error when the function is called, and its text can be looked at without it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from atoll.core.needs import reason
from atoll.errors import NOWHERE, Span, fail
from atoll.loops import ir as lp
from atoll.runtime.memory import Memory, Use, bytes_of, copies_of

if TYPE_CHECKING:
    from atoll.core import ir

CPU = "cpu"
_KNOWN = re.compile(r"cpu|cuda(:\d{1,4})?|cuda-emulated")


def named(target: object) -> str:
    """A target as the user says it, checked."""
    if not isinstance(target, str) or _KNOWN.fullmatch(target) is None:
        fail("E0837", given=repr(target), place="f.on")
    return target


def usual() -> str:
    """The target of functions that do not say."""
    given = os.environ.get("ATOLL_TARGET", "")
    if given and _KNOWN.fullmatch(given) is None:
        fail("E0837", given=repr(given), place="ATOLL_TARGET")
    return given or CPU


def refuse_functions(fn: ir.Function) -> None:
    """What runs on a heap has no kernels."""
    found = reason(fn)
    if found is not None:
        fail("E0838", found.span, what=found.what)


def device_memory(fn: ir.Function, returned: object) -> Memory:
    """Allocations on the device, and the copies that a call with arrays of NumPy makes."""
    from atoll.backends.cuda.generate import lowered
    from atoll.backends.cuda.language import walk

    program = lowered(fn)
    at = returned if isinstance(returned, Span) else NOWHERE
    uses = [Use("result", o.buffer.name, bytes_of(o.buffer), "returned, on the device", at) for o in program.function.outputs]
    seen: set[lp.Buffer] = set()
    for stmt in walk(program.body):
        if isinstance(stmt, lp.Alloc) and stmt.buffer.kind != "out" and stmt.buffer not in seen:
            b = stmt.buffer
            seen.add(b)
            uses.append(Use("temporary", b.shown.split("__k")[0], bytes_of(b), b.reason, b.span))
    for given in program.function.inputs:
        if isinstance(given, lp.Buffer):
            uses.append(Use("copy", given.shown, bytes_of(given), "to the device, if it is an array of the host", given.span))
    for o in program.function.outputs:
        uses.append(Use("copy", o.buffer.shown, bytes_of(o.buffer), "from the device, unless an argument is there", at))
    return Memory(program.function.name, (*uses, *copies_of(program.function, fn, at)))
