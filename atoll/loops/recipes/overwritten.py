"""Arrays that are written all over after they are filled are not filled (transform/overwritten.py): `out = np.zeros((h, w))` before two loops that set every element."""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.overwritten import without_fill
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import every_block, plain_parts


def overwritten(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def block(body: lp.Stmts) -> lp.Stmts:
        for place in reversed(range(len(body))):
            found = without_fill(body, place)
            if not isinstance(found, Refused):
                decisions.append("an array is not filled that is written all over")
                body = found
        return body

    return every_block(stmts, block, plain_parts)
