"""Random schedules of random programs: `python -m tests.schedule.fuzz --seeds 0:500` (`make fuzz-schedule`).

Each step is drawn from the primitives with loops and values that exist and numbers that look reasonable. An accepted step must keep every
result, bit for bit or within the licence it declares; a refused one must say which condition failed. At the end the loops are checked,
run in the executor, sometimes compiled, and the certificate is put before the independent checker. A schedule whose every step was accepted has
loops. Every third seed takes steps that cut and join loops only, so that tiles of tiles, of pads and of fused loops come up. Prints how many steps
were accepted.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import time
import traceback
from typing import Any

import numpy as np

import atoll as at
from atoll.schedule import term as tm
from atoll.schedule.denote import evaluate
from tests.agreement import flat
from tests.schedule.holding import certified, given, holds
from tests.schedule.random_programs import Program
from tests.schedule.random_terms import same


class Wrong(AssertionError):
    """A schedule that should not have been accepted."""


def values(s: Any) -> list[str]:
    found = [x.name for _, t in tm.walk(s.program) for x in ((t.name,) if isinstance(t, tm.Let) else t.names if isinstance(t, tm.Nest) else ())]
    return list(dict.fromkeys(found))


def random_step(s: Any, r: random.Random) -> Any:
    """(text, schedule or error) of one step that may or may not hold."""
    loops, names = s.loops(), values(s)
    loop = r.choice(loops)
    other = r.choice(loops)
    size = r.choice([1, 2, 3, 4, 8])
    tail = r.choice(["cut", "guard", "guard", "perfect"])
    value = r.choice([*names, *(x.name for x in s.theorem.inputs)])
    if "top" in names and r.random() < 0.4:
        return lambda: s.online("top", size, at=r.choice(["i", "i", loop]))
    choices = [
        lambda: s.split(loop, size, tail),
        lambda: s.split(loop, size, tail),
        lambda: s.reorder(loop, other),
        lambda: s.reorder(loop, other),
        lambda: s.tile((loop, other), (size, r.choice([2, 3])), tail),
        lambda: s.fuse(loop, other),
        lambda: s.fission(loop, r.choice(["left", "right"])),
        lambda: s.partition(loop),
        lambda: s.partition(loop, [r.choice([1, 2, "n - 1", "n // 2", "m"])]),
        lambda: s.pad(loop, size),
        lambda: s.stage(value, at=loop, elsewhere=r.choice(["stage", "inline", "keep"])),
        lambda: s.stage(value, at=loop),
        lambda: s.stage(value),
        lambda: s.stage("result", at=loop),
        lambda: s.inline(value, at=r.choice([None, loop])),
        lambda: s.interchange_sum(loop, other),
        lambda: s.reassociate(loop, size),
        lambda: s.accumulate_in_register(loop, over=r.choice([(), (other,)])),
        lambda: s.roll(value, loop),
        lambda: s.vectorize(loop, 4),
        lambda: s.parallel(loop),
        lambda: s.unroll(loop),
        lambda: s.rewrite(r.choice(["swap", "float_out", "guard_in", "let_lift", "loop_shift", "expand", "simplify", "contract", "sum_one"]), at=loop),
    ]
    return r.choice(choices)


def cutting_step(s: Any, r: random.Random) -> Any:
    """A step that cuts or joins loops."""
    loops = s.loops()
    loop, other = r.choice(loops), r.choice(loops)
    size = r.choice([2, 3, 4, 5, 8])
    tail = r.choice(["cut", "guard", "guard"])
    choices = [
        lambda: s.split(loop, size, tail),
        lambda: s.tile((loop, other), (size, r.choice([2, 3])), tail),
        lambda: s.fuse(loop, loops[(loops.index(loop) + 1) % len(loops)]),
        lambda: s.pad(loop, size),
        lambda: s.partition(loop, [r.choice([1, 2, "n // 2"])]),
        lambda: s.reorder(loop, other),
    ]
    return r.choice(choices)


def one(seed: int, steps: int, counts: collections.Counter[str], compile_every: int) -> str | None:
    """A random schedule; the text of what went wrong, or None."""
    r = random.Random(seed)
    program = Program(seed // 3)
    s = at.schedule(program.function)
    taken: list[str] = []
    arguments = [program.arguments(r) for _ in range(2)]
    try:
        for _ in range(r.randint(1, steps)):
            if sum(1 for _ in tm.walk(s.program)) > 250:
                break
            attempt = cutting_step(s, r) if seed % 3 == 2 else random_step(s, r)
            try:
                new = attempt()
            except at.ScheduleError as error:
                counts[f"refused {error.code}"] += 1
                if len(str(error).splitlines()[0]) < 15:
                    raise Wrong(f"a refusal that says nothing: {error}") from None
                continue
            counts["accepted"] += 1
            taken.append(str(new.steps[-1]))
            s = new
            agree(s, arguments)
        finish(s, arguments, counts, seed % compile_every == 0)
    except Exception:  # noqa: BLE001  whatever it is, it is a finding
        trace = "".join(traceback.format_exc(limit=-4))
        return f"seed {seed}\n{program.text}{chr(10).join(taken)}\n{trace}"
    return None


def agree(s: Any, arguments: list[tuple[Any, ...]]) -> None:
    for args in arguments:
        _, sizes, arrays = given(s, args)
        if not all(f.evaluate(sizes) >= 0 for f in s.theorem.facts):
            continue
        before, after = evaluate(s.theorem.source, arrays, sizes), evaluate(s.theorem.term, arrays, sizes)
        for x, y in zip(flat(before), flat(after), strict=True):
            if np.size(x) == np.size(y) == 0:
                continue  # parts of an array of no rows: at n = 0 one of 0 x (n - 1) elements is counted as 0 x 0 by NumPy; loops take the shape from the type
            if not same(x, y, s.licences):
                raise Wrong(f"differs at {sizes}: {x} {y}")


def finish(s: Any, arguments: list[tuple[Any, ...]], counts: collections.Counter[str], compiled: bool) -> None:
    _ = s.lowered
    counts["loops checked"] += 1
    if compiled:
        counts["compiled"] += 1
        holds(s, *arguments)
        return
    from atoll.loops.execute import execute

    for args in arguments:
        inputs, sizes, _ = given(s, args)
        found = execute(s.lowered.function, inputs, {k: v for k, v in sizes.items() if k in s.source.program.sizes}, 2)
        wanted = s.function.interpret(*args)
        for x, y in zip(found, flat(wanted), strict=True):
            if not same(x, y, frozenset(("reassociate",))):
                raise Wrong(f"loops give {x}, the function {y}")
    certified(s)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0:300")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--compile-every", type=int, default=10)
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    counts: collections.Counter[str] = collections.Counter()
    found = []
    start = time.perf_counter()
    for seed in range(first, last):
        problem = one(seed, options.steps, counts, options.compile_every)
        if problem is not None:
            found.append(problem)
            print(problem, flush=True)
    accepted, refused = counts["accepted"], sum(c for key, c in counts.items() if key.startswith("refused"))
    rate = accepted / max(1, accepted + refused)
    print(f"{last - first} schedules in {time.perf_counter() - start:.0f} s: {accepted} steps accepted, {refused} refused ({rate:.0%} accepted)")
    print(", ".join(f"{key} {n}" for key, n in sorted(counts.items())))
    print(f"{len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
