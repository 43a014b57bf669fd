"""λANF as C: random programs have the evaluator's value and leave no cell behind; memory, depth and interrupts of whole programs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import i64
from atoll.functions.evaluate import evaluate, observe
from atoll.functions.pipeline import SELECTIONS, compile_away
from atoll.functions.program import FunctionProgram
from atoll.std.lists import Cons, List, Nil
from tests.functions.little import random_program
from tests.functions.native import run_native


@pytest.mark.parametrize(("seed", "selection"), [(1, "default"), (7, "none"), (23, "no lifting"), (31, "lift everything"), (44, "default")])
def test_random_programs(seed: int, selection: str, tmp_path: Path) -> None:
    p = random_program(seed, 5)
    value = observe(evaluate(p, 10**6).values)
    found, live = run_native(compile_away(p, SELECTIONS[selection]), tmp_path)
    assert found == value
    assert live == 0


@at.fn
def numbers(k: i64, xs: List[i64]) -> List[i64]:
    return xs if k == 0 else numbers(k - 1, Cons(k, xs))


@at.fn
def doubled(xs: List[i64]) -> List[i64]:
    match xs:
        case Nil():
            return Nil()
        case Cons(x, rest):
            return Cons(2 * x, doubled(rest))


@at.fn
def total(xs: List[i64], acc: i64) -> i64:
    match xs:
        case Nil():
            return acc
        case Cons(x, rest):
            return total(rest, acc + x)


@at.fn
def churn(rounds: i64, size: i64) -> i64:
    """A list built, mapped and summed again and again."""
    found = 0
    for _ in range(rounds):
        found = found + total(doubled(numbers(size, Nil())), 0)
    return found


def test_a_loop_that_allocates_needs_no_more_memory_than_one_round() -> None:
    p = FunctionProgram(churn.core, churn._arguments, counters=True)
    assert p.call(300, 1000) == 300 * 1000 * 1001
    assert p.live == 0
    once = FunctionProgram(churn.core, churn._arguments, counters=True)
    once.call(1, 1000)
    assert p.made == 300 * once.made
    assert once.made <= 1001  # `doubled` works in the cells of its argument


def test_many_rounds_in_bounded_memory() -> None:
    script = (
        "import resource, tests.functions.test_native as t\n"
        "t.churn(1, 1000)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert t.churn(3000, 1000) == 3000 * 1000 * 1001\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=root, check=True)
    assert int(done.stdout) < 2000  # kilobytes


@at.fn
def deep(k: i64) -> i64:
    return 0 if k == 0 else 1 + maximum(deep(k - 1), 0)


@at.fn
def for_ever(k: i64) -> i64:
    return 1 + for_ever(k + 1)


@at.fn
def one_way(k: i64) -> i64:
    return 1 + other_way(k + 1)


@at.fn
def other_way(k: i64) -> i64:
    return 2 * one_way(k)


@at.fn
def list_for_ever(k: i64) -> List[i64]:
    return numbers(1, list_for_ever(k + 1))


def test_deep_recursion_works() -> None:
    assert deep(1_000_000) == 1_000_000


@pytest.mark.parametrize("f", [for_ever, one_way, list_for_ever])
def test_runaway_recursion_is_an_error(f: Any) -> None:
    with pytest.raises(RecursionError) as error:
        f(0)
    assert isinstance(error.value, at.RunError)
    assert "E0712" in str(error.value) and f.name in str(error.value)
    assert deep(10) == 10  # the next call is none the worse


@at.fn
def spin(k: i64) -> i64:
    return k if k == -1 else spin((7 * k + 1) % 1000)


@at.fn
def fib(k: i64) -> i64:
    return k if k < 2 else fib(k - 1) + fib(k - 2)


@pytest.mark.parametrize(("f", "x"), [(spin, 3), (fib, 70)])
def test_control_c_stops_it(f: Any, x: int) -> None:
    f.compile()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs tests in the background has it ignored

    def press() -> None:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            f(x)
    finally:
        signal.signal(signal.SIGINT, before)


def test_calls_from_several_threads() -> None:
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append((churn(50, 200), deep(100_000)))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [(50 * 200 * 201, 100_000)] * 4


def test_long_lists_cross_without_recursion() -> None:
    xs = list(range(200_000))
    assert total(xs, 0) == sum(xs)
    back = doubled(xs)
    assert back[-1] == 2 * xs[-1] and len(back) == len(xs)
    assert doubled(np.arange(3)) == [0, 2, 4]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize("which", ["lists", "tables"])
def test_valgrind_finds_nothing(which: str) -> None:
    from bench.functions import memory

    status, printed, said = memory.valgrind(getattr(memory, which), (8, 100) if which == "lists" else (500, 100))
    assert status == 0, said
    assert printed.split()[2] == "0"
