"""What a certificate may take to be checked: seconds of the processor and bytes of memory, whatever stands in it.

Counts inside the checker (rows, questions, statements) bound honest work the same way on every machine; this bounds the rest, where the system can: in the main thread, on Unix.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from atoll.check.sums import Rejected

SECONDS = 2.0
AGAIN = 0.05  # seconds until the limit is told once more, where the first time was not heard
MEMORY = 450_000_000  # beyond what the process has already


@contextlib.contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Rejected when what is done inside takes longer, or more memory."""
    try:
        import resource
        import signal
    except ImportError:  # not Unix
        yield
        return
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_PROF)[0]:
        yield
        return

    def late(*_: Any) -> None:
        raise Rejected(f"more than {seconds:g} s of work (atoll prove --seconds N allows more)")

    before = signal.signal(signal.SIGPROF, late)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _used() + MEMORY
    narrower = sys.platform == "linux" and (soft == resource.RLIM_INFINITY or wanted < soft) and (hard == resource.RLIM_INFINITY or wanted < hard)
    try:
        if narrower:
            resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
        # Again and again: Python drops what is raised inside a weak reference's callback or a __del__, and the checker may take Rejected for an answer.
        signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN)
        yield
    except MemoryError:
        raise Rejected("more memory than a certificate may need") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if narrower:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _used() -> int:
    try:
        with open("/proc/self/statm") as f:
            return int(f.read().split()[0]) * 4096
    except OSError:
        return 0
