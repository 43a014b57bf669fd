"""Rows that are read only by the rows just after them are kept in a window, not as a whole array (line buffering;
Halide's compute at a row, store at the image).

    alloc x;  pieces of n:  for i:  x[i] = blurred along u[i];     pieces of n - 2:  for i:  y[i] = x[i] + x[i + 1] + x[i + 2];     free x
becomes
    pieces of n - 2:  alloc x, 4 rows;  for r in lo..lo + 2:  x[r] = ...;     for in order i:  x[i + 2] = ...;  y[i] = x[i] + x[i + 1] + x[i + 2];     free x

A piece makes the rows before its first again; pieces have so many rows that this is little. What makes it right is
in transform/window.py.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import every_block, plain_parts
from atoll.loops.transform.window import in_window, pair


def window(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    return every_block(stmts, lambda body: _windows(body, decisions), plain_parts)


def _windows(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    place = 0
    while place < len(stmts):
        found = pair(stmts, place, profit.WINDOW_ROWS)
        if not isinstance(found, Refused):
            decisions.append(f"{found.array.shown}: a window of {found.last - found.first + 1} rows is kept of it")
            stmts = in_window(stmts, place, found, profit.ROWS_MADE_AGAIN)
        place += 1
    return stmts
