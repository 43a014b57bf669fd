"""Every function of the corpus (tools/corpus.py) on a target, against the interpreter: the same values or the same error. For machines with a GPU: `make test-cuda`.

    python -m tests.cuda.corpus [--target cuda-emulated] [--jobs 8] [--seconds 200] [--only WORD] [--backwards]

What a GPU refuses by name (E0838) is counted. Failures are listed with the module and the function. --backwards: the last modules first, which a run before this one may not have come to.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from typing import Any

import numpy as np

import atoll as at
from atoll.command_data import random_arguments
from atoll.runtime.cuda.devices import EMULATED
from tests.cuda.in_turn import answer, ask, told
from tests.fuzz.harness import compare
from tests.fuzz.stages import leaves
from tools.corpus import modules

SIZES = (5, 1, 40)  # of everything; the last only where the interpreter is quick
MEMORY = 8 << 30  # bytes of the host for one process
PATIENCE = 20  # seconds for one function


def _outcome(call: Any, args: list[Any]) -> tuple[str, Any]:
    try:
        return "value", leaves(call(*args))
    except at.Error as error:
        return "error", error.code


def _arguments(f: at.Function, size: int) -> list[Any] | None:
    """Random arguments with all sizes alike; None where there is no such data."""
    names = {s.name for s in f.core.sizes}
    numbers = {sym.name for sym, t in f.core.params if getattr(getattr(t, "dtype", None), "kind", "") == "i"}
    try:
        return random_arguments(f, dict.fromkeys(sorted(names | numbers), size))
    except Exception:  # noqa: BLE001  sizes that do not go together
        return None


def tried(f: at.Function, target: str) -> str:
    """In a word how it went; what is wrong is told in more."""
    if f.signature.is_generic:
        return "generic"
    there = f.on(target)
    word = "no arguments"
    for size in SIZES:
        args = _arguments(f, size)
        if args is None:
            continue
        begun = time.monotonic()
        expected = _outcome(f.interpret, args)
        found = _outcome(there, args)
        if found == ("error", "E0838"):
            return "refused"
        if found[0] == "error" and found[1] in ("E0842", "E0844", "E0803"):
            return f"WRONG {found[1]}"
        loose = any(np.asarray(x).dtype.name in ("float32", "complex64", "float16", "bfloat16") for x in [*args, *(expected[1] if expected[0] == "value" else ())] if not isinstance(x, tuple))
        difference = compare(expected, found, 2e-3 if loose else 1e-6)
        if difference is not None:
            return f"WRONG {difference[0]} at size {size}: {difference[1]}"[:600]
        word = "right"
        if time.monotonic() - begun > 2.0:
            break
    return word


def bounded() -> None:
    """This process gets no more memory than that: some functions are exponential in their size."""
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY if limits[1] == resource.RLIM_INFINITY else min(MEMORY, limits[1]), limits[1]))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cuda.corpus", description=__doc__)
    parser.add_argument("--target", default=EMULATED)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--till", type=float)
    parser.add_argument("--backwards", action="store_true")
    options = parser.parse_args()
    if options.till is not None:
        bounded()
        answer(lambda f: tried(f, options.target), options.till, PATIENCE)
        return 0
    command = [sys.executable, "-W", "ignore", "-m", "tests.cuda.corpus", "--target", options.target, "--till", str(time.time() + options.seconds)]
    names = list(modules(options.only))
    return told(ask(command, reversed(names) if options.backwards else names, options.jobs), f"on {options.target}")


if __name__ == "__main__":
    sys.exit(main())
