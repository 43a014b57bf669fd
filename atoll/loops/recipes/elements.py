"""Small arrays whose elements are all known by number are variables (transform/in_variables.py).

The state of a system of equations is like this once loops over its elements are written out (unroll.py). What a
round keeps for itself in variables can run in vectors and in lanes (lanes.py).
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.in_variables import in_variables
from atoll.loops.transform.refused import Refused


def elements(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    found = in_variables(stmts, _small)
    if isinstance(found, Refused):
        return stmts
    decisions += [f"{b.shown}: its elements are variables" for b in found.arrays]
    return found.stmts


def _small(b: lp.Buffer) -> bool:
    count = 1
    for p in b.extents:
        n = p.const()
        count *= n if n is not None else profit.ELEMENTS + 1
    return 0 < count <= profit.ELEMENTS
