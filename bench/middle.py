"""How long normalising, planning and lowering take, by the number of lines: `python bench/middle.py [--long] [program...]`.

Programs of several shapes: long chains of array operations, many scalars, branches, updates in place, sums, stencils, reads of old
values. Processor time. The goal: normalising and planning take under 100 us per line, from 1,000 lines to 50,000 (`--long`); lowering to
loops, which plans once more, and the front end are shown beside them.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import atoll as at
from atoll.ainf import ir
from atoll.ainf.dead import remove_dead
from atoll.ainf.from_core import translate
from atoll.lower.function import lower
from atoll.plan.fuse import Fuser
from atoll.plan.inplace import plan_block
from atoll.uncollected import uncollected

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n"


def chain(k: int) -> str:
    steps = "".join(f"    y{i + 1} = y{i} * {1 + i % 7}.5 + x\n" for i in range(k // 2))
    return f"@at.fn\ndef f(x: f64[n]):\n    y0 = x\n{steps}    return y{k // 2}\n"


def scalars(k: int) -> str:
    steps = "".join(f"    a{i + 1} = a{i} * 1.5 + b{i}\n    b{i + 1} = b{i} - a{i} * x\n" for i in range(k // 4))
    return f"@at.fn\ndef f(x: f64):\n    a0 = x\n    b0 = x + 1.0\n{steps}    return a{k // 4} + b{k // 4}\n"


def branches(k: int) -> str:
    steps = "".join(f"    y = exp(y) if s > {i}.0 else y * 0.5\n" for i in range(k // 3))
    return f"@at.fn\ndef f(x: f64[n], s: f64):\n    y = x\n{steps}    return y\n"


def updates(k: int) -> str:
    steps = "".join(f"    x[{i}] = x[{i}] * 2.0 + {i}.0\n" for i in range(k // 4))
    return f"@at.fn\ndef f(x: f64[n + {k}]):\n{steps}    return x\n"


def sums(k: int) -> str:
    steps = "".join(f"    t = t + sum(x * {i}.5)\n" for i in range(k // 3))
    return f"@at.fn\ndef f(x: f64[n]):\n    t = 0.0\n{steps}    return t\n"


def stencils(k: int) -> str:
    steps = "".join(f"    y = [y[max(i - 1, 0)] + y[min(i + 1, n - 1)] * {i}.5 for i in range(n)]\n" for i in range(k // 6))
    return f"@at.fn\ndef f(x: f64[n]):\n    y = x\n{steps}    return y\n"


def old_values(k: int) -> str:
    steps = "".join(f"    t{i} = x[{i}]\n    x[{i}] = t{i} * 2.0 + x[{i + 1}]\n    s = s + t{i}\n" for i in range(k // 6))
    return f"@at.fn\ndef f(x: f64[n + {k}]):\n    s = 0.0\n{steps}    return x, s\n"


def measure(text: str) -> tuple[int, dict[str, float]]:
    times: dict[str, float] = {}

    def step(name: str, run: Any) -> Any:
        start = time.process_time()
        result = run()
        times[name] = time.process_time() - start
        return result

    f = step("front", lambda: at.fn(source=HEAD + text))
    core = step("types", lambda: f.core)
    program = step("ainf", lambda: remove_dead(translate(core)))
    step("plan", lambda: plan(program))
    step("lower", lambda: lower(program))
    return len(program.block.lines), times


@uncollected
def plan(program: ir.Program) -> None:
    """What lowering decides first: stages, updates in place, groups and nests."""
    lines = [line for line in program.block.lines if not isinstance(line.prim, (ir.Input, ir.Param, ir.ConstArray))]
    _, stages, inplace = plan_block(lines, program.results, set(), program.reassociate)
    fuser = Fuser(stages, True, inplace)
    for group in fuser.groups():
        fuser.nests(group)


PROGRAMS = {make.__name__: make for make in (chain, scalars, branches, updates, sums, stencils, old_values)}


def main() -> None:
    sizes = [250, 1000, 4000] + ([16000, 50000] if "--long" in sys.argv else [])
    asked = [name for name in sys.argv[1:] if name in PROGRAMS] or list(PROGRAMS)
    measure(chain(100))  # everything is imported
    print(f"{'program':<10} {'asked':>6} {'lines':>6} {'front ms':>9} {'ainf ms':>9} {'plan ms':>9} {'us/line':>8} {'lower ms':>9}")
    for name in asked:
        for k in sizes:
            lines, t = measure(PROGRAMS[name](k))
            middle = t["ainf"] + t["plan"]
            front = 1e3 * (t["front"] + t["types"])
            print(
                f"{name:<10} {k:>6} {lines:>6} {front:>9.0f} {1e3 * t['ainf']:>9.0f} {1e3 * t['plan']:>9.0f}"
                f" {1e6 * middle / max(lines, 1):>8.0f} {1e3 * t['lower']:>9.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
