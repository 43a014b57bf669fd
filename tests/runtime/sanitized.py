"""What the runtime does, run under a sanitizer by tests/runtime/sanitize.py: unusual numbers of everything, failures and prints from pieces, calls from several
threads, interruptions, index arrays that change, functional programs."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from typing import Any

import numpy as np

import atoll as at
from tests.agreement import same
from tests.runtime import interrupts, limits, races
from tests.runtime.test_failures import CASES, divides, rows, temporaries


def unusual() -> int:
    count = 0
    for case in limits.cases():
        f = case.function()
        with contextlib.redirect_stdout(io.StringIO()) as out:
            try:
                same(f(*case.args()), case.value, case.name)
            except at.RunError as error:
                assert case.error and case.error in str(error), case.name
        assert out.getvalue().strip() == case.printed
        count += 1
    return count


def failing() -> int:
    for call, args, code, *_ in CASES:
        try:
            call(*args)
        except at.RunError as error:
            assert error.code == code
    d = np.ones(2000, np.int64)
    d[1500:] = 0
    for _ in range(20):
        with contextlib.suppress(at.RunError):
            rows(np.ones((2000, 300)), d)
    return len(CASES) + 20


def together() -> int:
    """Calls from several threads, some of which use the pool."""
    x = np.random.default_rng(0).random(300_000)
    i = np.arange(300_000)
    errors: list[BaseException] = []
    expected = [temporaries(x, i), interrupts.scans(x, 2), interrupts.sums(interrupts.X, 100)]

    def work(k: int) -> None:
        try:
            for j in range(6):
                same(temporaries(x, i), expected[0], "temporaries")
                same(interrupts.scans(x, 2), expected[1], "scans")
                same(interrupts.sums(interrupts.X, 100), expected[2], "sums")
                at.set_threads(2 + (j + k) % 3)
                with contextlib.suppress(at.RunError):
                    divides(np.ones(200_000, np.int64), np.zeros(200_000, np.int64))
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors
    return 4 * 6 * 4


def interrupted() -> int:
    names = ["sums in a map", "while in a map", "triple sums", "product", "sorts", "histograms"]
    if "thread" not in os.environ.get("ATOLL_CC", ""):  # which does not know of stacks that are switched to
        names.append("recursion")
    os.environ["ATOLL_PATIENCE"] = "60"
    assert interrupts.main(3, 5, names) == 0
    return 3 * len(names)


def changing() -> int:
    return sum(sum(race) for race in (races.race(name, 0.4) for name in races.CALLS))


def main(*parts: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    at.set_threads(3)
    every: dict[str, Any] = {"unusual": unusual, "failing": failing, "together": together, "interrupted": interrupted, "changing": changing}
    for name in parts or every:
        print(f"{name}: {every[name]()} runs", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
