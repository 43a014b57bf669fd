"""Seeds, run in a worker process: one that ends the worker, or never ends, is told of, and the rest goes on in a new worker."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Died:
    """The seed at which a worker ended."""

    seed: int
    exitcode: int | None


def each_seed(seeds: Iterable[int], run: Callable[[int], T], patience: float, prepare: Callable[[], None] = lambda: None) -> Iterator[T | Died]:
    """run(seed) for all seeds in order, each within `patience` seconds of its worker's time (and ten times that by the clock); `prepare` is called once in every worker."""
    left = list(seeds)
    context = multiprocessing.get_context("fork")
    while left:
        ours, theirs = context.Pipe()
        worker = context.Process(target=_work, args=(theirs, tuple(left), run, prepare))
        worker.start()
        theirs.close()
        try:
            while left:
                found = _next(ours, patience, worker.pid or 0)
                if found is None:
                    break
                left.pop(0)
                yield found[0]
        finally:
            if left and worker.is_alive():
                worker.kill()
            worker.join()
        if left:
            yield Died(left.pop(0), worker.exitcode)


def _work(connection: Any, seeds: Iterable[int], run: Callable[[int], Any], prepare: Callable[[], None]) -> None:
    prepare()
    for seed in seeds:
        connection.send(run(seed))
    connection.close()


def _next(connection: Any, patience: float, pid: int) -> tuple[Any] | None:
    begun, deadline = _spent(pid), time.monotonic() + 10 * patience
    with contextlib.suppress(EOFError, OSError):
        while not connection.poll(max(0.1, min(patience, deadline - time.monotonic()))):
            if time.monotonic() >= deadline or _spent(pid) - begun >= patience:
                return None
        return (connection.recv(),)
    return None


def _spent(pid: int) -> float:
    """Seconds of processor time, of the process and of those it has waited for; where nobody tells, as if all of it."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def parse(text: str) -> list[int]:
    """A:B, or a list a,b,c."""
    if ":" in text:
        low, high = text.split(":")
        return list(range(int(low), int(high)))
    return [int(x) for x in text.split(",") if x]
