"""A check that has just been made is not made again: loops of nothing but checks are compared, and one that says the same goes.

Two reads at one computed index make two loops of the same tests one after the other; whatever the second would find, the first has found.
"""

from __future__ import annotations

import re

from atoll.loops import ir as lp
from atoll.loops.show import statements
from atoll.loops.transform.walk import every_block


def same_checks(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def block(body: lp.Stmts) -> list[lp.Stmt]:
        out: list[lp.Stmt] = []
        seen: set[str] = set()
        for stmt in body:
            if not only_checks(stmt):
                seen.clear()
            elif (text := _text(stmt)) in seen:
                decisions.append("a check that was just made is not made again")
                continue
            else:
                seen.add(text)
            out.append(stmt)
        return out

    return every_block(stmts, block)


def only_checks(stmt: lp.Stmt) -> bool:
    """A loop that computes nothing but what its checks look at."""
    if not isinstance(stmt, (lp.For, lp.Chunks)) or (isinstance(stmt, lp.Chunks) and (stmt.accs or stmt.buffers)):
        return False
    inner = list(lp.walk([stmt]))
    return all(isinstance(s, (lp.For, lp.Chunks, lp.Let, lp.Check)) for s in inner) and any(isinstance(s, lp.Check) for s in inner)


def _text(stmt: lp.Stmt) -> str:
    """The loop as text, variables by the order in which they appear, without what only the message needs."""
    text = "\n".join(re.sub(r" else E\d+\(.*$", "", line) for line in statements([stmt]))
    for number, var in enumerate(s.var for s in lp.walk([stmt]) if isinstance(s, lp.Let)):
        text = re.sub(rf"\b{re.escape(var.name)}\b", f"?{number}", text)
    return text
