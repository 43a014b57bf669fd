"""Columns that are made one by one beside a result, and then copied into it turned, are made in their place (transform/made_in_place.py).

    for i:  s = 0;  for in order r:  s = s + x[r, i];  t[i, r] = s                        for i:  s = 0;  for in order r:  s = s + x[r, i];  y[r, i] = s
    for i, j:  y[i, j] = t[j, i]                                             becomes

Running sums along the first axis are like this. t is gone; the rounds of i read and write neighbours, so they go side by side along rows (lanes.py).
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.made_in_place import columns_in_place
from atoll.loops.transform.refused import Refused


def turned(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    """Statements of the program itself, which run once."""
    for stmt in list(stmts):
        at = next((k for k, s in enumerate(stmts) if s is stmt), None)
        if at is None or isinstance(found := columns_in_place(stmts, at), Refused):
            continue
        decisions.append(f"{found.own.shown} is made where it is returned, a row of all columns at a time")
        found.own.home = found.target
        stmts = found.stmts
    return stmts
