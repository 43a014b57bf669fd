"""Equal values have one name (local value numbering): x = a + b; ...; y = a + b, where nothing of it changes in between, is y = x.

Conditions of the normal form keep lines in branches of their own; once these are one branch (same_conditions.py), what each computed for itself is there twice.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.fuse import once
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import every_block


def same_values(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    found = 0

    def block(body: lp.Stmts) -> lp.Stmts:
        nonlocal found
        if not _repeats(body) or isinstance(made := once(body), Refused):
            return body
        fewer = sum(1 for _ in lp.walk(body)) - sum(1 for _ in lp.walk(made))
        if fewer <= 0:
            return body
        found += fewer
        return made

    out = every_block(stmts, block)
    if found:
        decisions.append(f"{found} values are computed once")
    return out


def _repeats(body: lp.Stmts) -> bool:
    """Whether two statements give a name to the same expression."""
    values = [s.value for s in body if isinstance(s, lp.Let) and not isinstance(s.value, (lp.Const, lp.Use))]
    return len(values) > 1 and len(set(values)) < len(values)
