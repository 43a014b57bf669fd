"""How long normalising, planning and lowering take, by the number of lines: `python bench/middle.py`.

Programs of several shapes: long chains of array operations, many scalars, branches, and updates in place.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import atoll as at
from atoll.ainf.dead import remove_dead
from atoll.ainf.from_core import translate
from atoll.lower.function import lower

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
    step("plan", lambda: lower(program))
    return len(program.block.lines), times


def main() -> None:
    sizes = [250, 1000, 4000] + ([16000] if "--long" in sys.argv else [])
    print(f"{'program':<10} {'asked':>6} {'lines':>6} {'types ms':>9} {'ainf ms':>9} {'plan ms':>9} {'us/line':>8}")
    for make in (chain, scalars, branches, updates, sums):
        for k in sizes:
            lines, t = measure(make(k))
            middle = t["ainf"] + t["plan"]
            print(f"{make.__name__:<10} {k:>6} {lines:>6} {1e3 * (t['front'] + t['types']):>9.0f} {1e3 * t['ainf']:>9.0f} {1e3 * t['plan']:>9.0f} {1e6 * middle / max(lines, 1):>8.0f}", flush=True)


if __name__ == "__main__":
    main()
