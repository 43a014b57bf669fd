"""`atoll tune`: try the compiler's choices for a function one after the other and pin those that are faster.

Every choice is tried at its alternatives while the others stay; one that is at least 3 % faster is kept. What is pinned is a file a person
can read (loops/choices.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from atoll.loops.choices import ALTERNATIVES, USUAL, Choices, pin
from atoll.loops.show import show
from atoll.lower.make import chosen, compiled_loops
from atoll.runtime.program import Program

GAIN = 0.97


def tune(f: Any, args: list[Any], say: Callable[[str], None] = print, seconds: float = 0.3) -> Choices:
    """The best choices found for a function on these arguments; written beside its source where it has a file."""
    def measured(choices: Choices) -> float:
        call = Program(f.core, f._arguments, "3", choices).call
        call(*args)
        times: list[float] = []
        until = time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < until:
            began = time.perf_counter()
            call(*args)
            times.append(time.perf_counter() - began)
        return sorted(times)[len(times) // 4]

    start = replace(USUAL, plan=chosen(f.core).plan)
    best, fastest = start, measured(start)
    say(f"{f.name}: {fastest * 1e3:.4f} ms as usual")
    text = _text(compiled_loops(f.core, start))
    for name, values in ALTERNATIVES.items():
        for value in values:
            tried = replace(best, **{name: value})
            new = _text(compiled_loops(f.core, tried))
            if name != "grain" and new == text:
                continue  # nothing to decide here
            took = measured(tried)
            say(f"  {name} = {_word(value)}: {took * 1e3:.4f} ms")
            if took < GAIN * fastest and measured(tried) < GAIN * measured(best):  # a second time, as machines are noisy
                best, fastest, text = tried, took, new
    path = pin(f.core.span.source.name, f.name, best)
    changed = best.changed()
    say(f"best {fastest * 1e3:.4f} ms with {', '.join(f'{k} = {_word(v)}' for k, v in changed.items()) or 'the usual choices'}" + (f"; written to {path}" if path else ""))
    f.refresh()
    return best


def _word(value: Any) -> str:
    """A choice as the file has it."""
    return "on" if value is True else "off" if value is False else str(value)


def _text(loops: Any) -> str:
    return show(loops)
