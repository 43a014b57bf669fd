"""The C compiler is tried before it is trusted: small programs that compilers are known to get wrong, run once for each compiler and options.

Each file of native/probes/ is one such program: a function of the file's name that counts what is wrong, and in its head the options that make it right ("without").
They are compiled into one binary with the options that programs are compiled with. What fails is compiled again with its options, and so are programs then;
what still fails is refused (E0829). The outcome is an entry of the cache.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atoll.backends.c.known_wrong import probes
from atoll.backends.c.prelude import needed
from atoll.errors import Error, fail
from atoll.runtime.cache import cache
from atoll.runtime.toolchain import Compiler, run_compiler, started, target

_ROUNDS = 3
_HEAD = """#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a compiler gets wrong with some options, and the options that mend it."""

    wrong: tuple[str, ...]
    mended_by: tuple[str, ...]
    still_wrong: tuple[str, ...]


def mending(cc: Compiler, optimise: str) -> list[str]:
    """The options that mend what this compiler gets wrong; they stand after all others. One that cannot be mended is refused."""
    outcome = tried(cc, optimise)
    if outcome.still_wrong:
        fail("E0829", compiler=" ".join(cc.command), what=", ".join(outcome.still_wrong))
    return list(outcome.mended_by)


def tried(cc: Compiler, optimise: str) -> Outcome:
    """What a compiler gets wrong: remembered by this process, and by the cache."""
    return _tried(cc, cc.identity, optimise, tuple(os.environ.get("ATOLL_CFLAGS", "").split()))


@functools.cache
def _tried(cc: Compiler, identity: str, optimise: str, extra: tuple[str, ...]) -> Outcome:
    flags = [*(f for f in cc.flags(optimise) if f != "-shared"), *extra]
    parts = ["probes", identity, " ".join(flags), target(), Path(__file__).read_text(), *(p.text for p in probes())]

    def build(folder: Path) -> dict[str, Any]:
        wrong = still = _wrong(cc, flags, folder)
        options: list[str] = []
        for _ in range(_ROUNDS):  # an option that mends one program may change another
            if not still:
                break
            options += [option for p in probes() if p.name in still for option in p.without]
            try:
                still = _wrong(cc, [*flags, *options], folder)
            except Error as problem:
                if problem.code != "E0803":
                    raise  # it was not waited for: nothing is known, and nothing is to be remembered
                break  # it does not know the options
            wrong += tuple(name for name in still if name not in wrong)
        return {"kind": "probes", "wrong": wrong, "mended_by": options, "still": still}

    _, meta = cache.get(hashlib.sha256("\0".join(parts).encode()).hexdigest(), build, counted=False)
    return Outcome(tuple(meta["wrong"]), tuple(meta["mended_by"]), tuple(meta["still"]))


def _wrong(cc: Compiler, flags: list[str], folder: Path) -> tuple[str, ...]:
    """The programs that a compiler gets wrong with these options."""
    source, program = folder / "program.c", folder / "program.so"  # the names of an entry; the program is one that runs by itself
    calls = "".join(f'    printf("{p.name} %d\\n", {p.name}());\n    fflush(stdout);\n' for p in probes())
    source.write_text("\n".join([_HEAD, *needed("at_order()"), *(p.text for p in probes()), f"int main(void) {{\n{calls}    return 0;\n}}\n"]))
    program.unlink(missing_ok=True)
    run_compiler(cc, [*cc.command, *flags, "-o", str(program), str(source), "-lm"], program, cc.patience)
    try:
        _, printed = started([str(program)], cc.patience)
    except TimeoutError:  # somebody's alarm, which is an OSError too; it says nothing about the compiler
        raise
    except (OSError, subprocess.TimeoutExpired):
        printed = ""
    right = {line.removesuffix(" 0") for line in printed.splitlines() if line.endswith(" 0")}
    return tuple(p.name for p in probes() if p.name not in right)
