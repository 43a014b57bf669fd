"""Room for programs that are nested deeply: Python's own limit on calls is for programs that never end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from atoll.errors import Span, fail

_FRAMES = 100_000  # Python calls that many expansions take


@contextmanager
def deep(span: Span) -> Iterator[None]:
    """Expansions and long expressions take many Python calls; what takes too many is told."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    except RecursionError:
        fail("E0901", span, what="this is nested too deeply", help="give its parts names")
    finally:
        sys.setrecursionlimit(before)
