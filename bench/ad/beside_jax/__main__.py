"""Gradients of programs beside JAX's, each compared first.

    python -m bench.ad.beside_jax [--only TEXT,TEXT] [--threads 1] [--scale 1.0] [--seconds 0.6] [--write]

Run it with a Python that has JAX (bench/.peers/bin/python, with PYTHONPATH=.). One thread by default: the clock is then the processor's, which other programs on the machine disturb
less. `jax/atoll` above 1: ours is faster. --write puts what was measured into bench/results/gradients_beside_jax.json; `python -m bench.standing` tells it in docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

from bench.npbench.run import environment

RESULTS = Path(__file__).parents[2] / "results" / "gradients_beside_jax.json"


def every() -> list[Any]:
    from bench.ad.beside_jax import convolutions, dense, elsewhere, over_time

    return [*dense.PROGRAMS, *over_time.PROGRAMS, *elsewhere.PROGRAMS, *convolutions.PROGRAMS]


def calls(program: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    """Both gradients, ready to be called on the same data."""
    import numpy as np

    import atoll as at
    from bench.ad.beside_jax.program import jax, jnp

    slope = at.grad(program.atoll, wrt=program.wrt)
    found: dict[str, Any] = {"atoll": lambda: slope(*args)}
    if jax is not None:
        fixed = tuple(k for k, a in enumerate(args) if isinstance(a, int))
        jitted = jax.jit(jax.grad(program.jax, argnums=program.wrt), static_argnums=fixed)
        moved = [jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        found["jax"] = lambda: jax.block_until_ready(jitted(*moved))
    return found


def off(ours: Any, theirs: Any) -> float:
    """How far two gradients are apart, beside the largest element."""
    import numpy as np

    pairs = zip(ours if isinstance(ours, tuple) else (ours,), theirs if isinstance(theirs, tuple) else (theirs,), strict=True)
    return max(float(np.abs(np.asarray(a) - np.asarray(b)).max() / max(np.abs(np.asarray(b)).max(), 1e-300)) for a, b in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes")
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    environment(options.threads)
    import numpy as np

    from bench.timing import measure

    clock = time.process_time if options.threads == 1 else time.perf_counter
    rows: dict[str, dict[str, Any]] = {}
    failed = 0
    print(f"{'gradient of':<26}{'atoll':>11}{'jax':>11}{'jax/atoll':>11}")
    for program in every():
        if options.only and not any(word in program.name for word in options.only.split(",")):
            continue
        args = program.data(np.random.default_rng(0), options.scale)
        both = calls(program, args)
        if "jax" not in both:
            sys.exit("there is no JAX in this Python: PYTHONPATH=. bench/.peers/bin/python -m bench.ad.beside_jax")
        apart = off(both["atoll"](), both["jax"]())
        if not apart < 1e-6:
            failed += 1
            print(f"{program.name:<26} WRONG: off by {apart:.1e}", flush=True)
            continue
        times = {name: t.median for name, t in measure(both, seconds=options.seconds, rounds=5, clock=clock).items()}
        rows[program.name] = {**{name: round(t * 1e3, 4) for name, t in times.items()}, "same": program.same, "load": round(os.getloadavg()[0], 1)}
        print(f"{program.name:<26}{times['atoll'] * 1e3:>11.3f}{times['jax'] * 1e3:>11.3f}{times['jax'] / times['atoll']:>11.2f}", flush=True)
    ratios = {name: row["jax"] / row["atoll"] for name, row in rows.items()}
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        below = sorted((r, name) for name, r in ratios.items() if r < 0.8)
        print(f"{len(ratios)} gradients: geometric mean {mean:.2f}; below 0.8: {', '.join(f'{name} {r:.2f}' for r, name in below) or 'none'}; wrong: {failed}")
    if options.write:
        data = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        data.setdefault(f"{options.threads} thread{'s' if options.threads > 1 else ''}", {}).update(rows)
        RESULTS.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
