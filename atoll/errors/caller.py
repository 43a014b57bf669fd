"""Where in the user's text something was asked for from Python: the call, as Python 3.11 and later remember it."""

from __future__ import annotations

import linecache
import sys
from itertools import islice
from pathlib import Path
from types import FrameType

from atoll.errors import NOWHERE, Source, Span

_OWN = str(Path(__file__).parents[1])


def caller(method: str | None = None) -> Span:
    """The innermost call outside the compiler; of a chain of calls, the part that starts with `.method`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    if frame is None:
        return NOWHERE
    name = frame.f_code.co_filename
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    line, end_line, column, end_column = positions
    lines = linecache.getlines(name)
    if line is None or end_line is None or column is None or end_column is None or not lines:
        return NOWHERE
    source = Source(name, "".join(lines))
    if method is not None and 0 < end_line <= len(lines):
        start = lines[end_line - 1].encode()[:end_column].rfind(f".{method}(".encode())
        if start >= 0:
            line, column = end_line, start
    return Span(source, line, column, end_line, end_column)
