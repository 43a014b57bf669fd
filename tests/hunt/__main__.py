"""python -m tests.hunt [--seconds S] [--only NAMES] [--from SEED] [--seeds A:B | a,b,] [--jobs N] [--slice S] [--cc COMPILER]"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

BLOCK = 5000  # seeds that are set aside for a slice, of which it takes as many as it can
PATIENCE = 240.0  # seconds that a slice may take beyond its time: a program that does not end
WITH_FIRST = 8  # one slice of so many compiles long programs twice, as users do: a version for the first call, and the good one
SHOWN = 3  # failures of a class that are shown whole


@dataclass
class Class:
    name: str
    next: int
    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)
    dear: list[int] = field(default_factory=list)  # seeds of programs that are right and cost too much
    spent: float = 0.0  # also what is begun
    processor: float = 0.0  # seconds, of slices that ended

    def block(self) -> int:
        """The first seed of a slice."""
        self.next += BLOCK
        return self.next - BLOCK


def work(name: str, seeds: Any, seconds: float) -> int:
    """One slice, in this process: a line for every seed."""
    from .classes import CLASSES

    start, bad = time.monotonic(), 0
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if seeds[0] // BLOCK % WITH_FIRST:
        os.environ["ATOLL_FIRST"] = "0"
    for found in CLASSES[name](seeds):
        bad += found.failed
        print("@" + json.dumps(asdict(found)))
        if seconds and time.monotonic() - start > seconds:
            break
    print(f"={sum(os.times()[:4])}")
    return 1 if bad else 0


def slice_of(one: Class, seconds: float) -> None:
    """A process of its own for some seconds; what it printed is counted."""
    first = one.block()
    command = [sys.executable, "-W", "ignore", "-m", "tests.hunt", "--work", one.name, "--seeds", f"{first}:{first + BLOCK}", "--seconds", str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=seconds + PATIENCE)
        ended = process.returncode in (0, 1)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with the workers it has started, which hold its pipes
        out, err = process.communicate()
        ended = False
    lines = [json.loads(line[1:]) for line in out.splitlines() if line.startswith("@")]
    for found in lines:
        one.kinds[found["kind"]] += 1
        if found["failed"]:
            one.failures.append(found)
            print(f"failed: --only {one.name} --seeds {found['seed']},", flush=True)  # a long hunt tells it at once
        if found["dear"]:
            one.dear.append(found["seed"])
    one.processor += sum(float(line[1:]) for line in out.splitlines() if line.startswith("="))
    if not ended or not lines:  # the one after the last that was told of ended the process
        one.kinds["died"] += 1
        one.failures.append({"seed": lines[-1]["seed"] + 1 if lines else first, "kind": "died", "detail": f"exit {process.returncode}\n{err[-1500:]}"})


def hunt(classes: list[Class], seconds: float, jobs: int, each: float) -> None:
    """Slices of the classes in turn, on so many cores; those that had least time go first. A signal ends it after the slices that have begun, with its report."""
    deadline, lock, told = time.monotonic() + seconds, threading.Lock(), threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: told.set())

    def go() -> None:
        while (left := deadline - time.monotonic()) > 1 and not told.is_set():
            with lock:
                one, time_of_it = min(classes, key=lambda c: c.spent), min(each, left)
                one.spent += time_of_it
            slice_of(one, time_of_it)

    workers = [threading.Thread(target=go) for _ in range(jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hunt", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--only", default="")
    parser.add_argument("--from", dest="first", type=int, default=-1, help="the first seed; default: one that nobody has tried")
    parser.add_argument("--seeds", default="", help="these seeds of --only, in this process")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--slice", type=float, default=60)
    parser.add_argument("--cc", default="", help="the C compiler (ATOLL_CC)")
    parser.add_argument("--work", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("ATOLL_CACHE_DIR", "/tmp/atoll-fuzz-cache")
    if options.cc:
        os.environ["ATOLL_CC"] = options.cc

    from tests.fuzz.seeds import parse

    if options.work:
        return work(options.work, parse(options.seeds), options.seconds)
    from .classes import CLASSES

    names = options.only.split(",") if options.only else list(CLASSES)
    if options.seeds:
        from .classes import CLASSES

        bad = 0
        for name in names:
            for found in CLASSES[name](parse(options.seeds)):
                bad += found.failed
                print(f"{name} {found.seed}: {found.kind}\n{found.detail}".rstrip())
        return 1 if bad else 0
    first = options.first if options.first >= 0 else int(time.time()) % 1_000_000 * 1000
    classes = [Class(name, first) for name in names]
    hunt(classes, options.seconds, options.jobs, options.slice)
    return report(classes, first)


def report(classes: list[Class], first: int) -> int:
    for one in classes:
        for found in one.failures[:SHOWN]:
            print(f"\n== {one.name}, {found['kind']}: python -m tests.hunt --only {one.name} --seeds {found['seed']},\n{found['detail'].strip()}")
        if len(one.failures) > SHOWN:
            print(f"\n== {one.name}: {len(one.failures) - SHOWN} more, seeds {', '.join(str(f['seed']) for f in one.failures[SHOWN:][:20])}")
    print(f"\nfrom seed {first}")
    for one in classes:
        rate = f"{60 * one.kinds.total() / one.processor:6.0f} a processor minute" if one.processor else ""
        print(f"{one.name:12} {one.kinds.total():7} programs  {len(one.failures):4} failures {rate}   " + ", ".join(f"{k} {v}" for k, v in one.kinds.most_common()))
    for one in classes:
        if one.dear:
            print(f"right and dear: {one.name}, seeds {', '.join(map(str, one.dear[:20]))}")
    total, bad, minutes = sum(c.kinds.total() for c in classes), sum(len(c.failures) for c in classes), sum(c.processor for c in classes) / 60
    print(f"{'all':12} {total:7} programs  {bad:4} failures, {sum(len(c.dear) for c in classes)} dear, {minutes:.1f} processor minutes")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
