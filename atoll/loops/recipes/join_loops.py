"""Arrays that one loop makes and the next one reads, element by element, are not made wherever that may be (transform/contract.py).

The plan does this where it can (plan/fuse.py); here are the loops that it puts apart for other reasons.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.contract import Said, contracted
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import every_block


def join_loops(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def block(body: lp.Stmts) -> lp.Stmts:
        said = Said()
        here = 0
        while here < len(body):
            found = contracted(body, here, said)
            if isinstance(found, Refused):
                here += 1
                continue
            body = found.stmts
            decisions.append(f"{found.array.shown} is computed where it is read")
            here -= 1  # the array's memory stood before it
        return body

    return every_block(stmts, block)
