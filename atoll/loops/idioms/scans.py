"""Scans in one pass over memory, in parallel (transform/scan.py): runs that stay in the cache, in chunks for threads.

The last loop of a chunk is scanned in vectors by the C compiler (`scan`), one stream through memory: eight runs of a chunk side by side, without vectors, took
two and a half times as long when y was not in a cache. Running minimums and maximums of floats have four runs in a chunk, which do not wait for each other. Only what is cheap to
compute twice, and only ranges of two chunks and more.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.scan import in_runs, scan_of
from atoll.loops.transform.walk import Known, innermost_first


def scans(stmts: lp.Stmts, decisions: list[str], reassociate: bool = True) -> list[lp.Stmt]:
    """Loops of the program itself, not those inside pieces or other loops."""

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, lp.For) or isinstance(scan := scan_of(stmt), Refused) or not _cheap([scan.value, *(s.value for s in scan.needed)]):
            return None
        number, length = (profit.COMPARED_RUNS, profit.COMPARED_LENGTH) if scan.compares else (1, profit.SCAN_CHUNK)
        long = stmt.high - 2 * number * length
        made = in_runs(scan, number, length, profit.SCAN_CHUNKS, reassociate, (long,))
        if isinstance(made, Refused):
            return None
        decisions.append(f"the scan over {stmt.sym} is made in runs of {length} elements, in parallel")
        return [lp.If((lp.Test("ge", long),), made, [stmt])]

    return innermost_first(stmts, rewrite, lambda stmt: isinstance(stmt, lp.If))


def _cheap(values: list[lp.Expr]) -> bool:
    """Worth computing twice."""
    for e in values:
        if isinstance(e, lp.Call):
            if e.op not in profit.QUICK or not _cheap(list(e.args)):
                return False
        elif isinstance(e, lp.Cast):
            if not _cheap([e.arg]):
                return False
        elif isinstance(e, (lp.Choose, lp.Truth)):
            return False
    return True
