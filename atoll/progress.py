"""A word about what takes long: after a second, a line on standard error that says what is being done and for how long, where somebody looks (a terminal, a notebook)."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0  # seconds before anything is said


def _is_watched() -> bool:
    choice = os.environ.get("ATOLL_PROGRESS")
    if choice in ("0", "1"):
        return choice == "1"
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


@contextmanager
def telling(what: str, patience: float = PATIENCE) -> Iterator[None]:
    """While this runs: `compiling f, 3 s`, on one line that is wiped out at the end. ATOLL_PROGRESS=0 keeps it quiet, =1 speaks to files too."""
    if not _is_watched():
        yield
        return
    done = threading.Event()
    said = 0
    start = time.monotonic()

    def speak() -> None:
        nonlocal said
        wait = patience
        while not done.wait(wait):
            text = f"{what}, {time.monotonic() - start:.0f} s"
            said = max(said, len(text))
            sys.stderr.write(f"\r{text}")
            sys.stderr.flush()
            wait = 1.0

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield
    finally:
        done.set()
        speaker.join()
        if said:
            sys.stderr.write("\r" + " " * said + "\r")
            sys.stderr.flush()
