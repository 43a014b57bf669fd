"""Which requirements on sizes are left to check, and where.

A requirement that follows from what is known at its place is dropped, now that all sizes are solved. The rest stay where they are;
those about the function's own sizes were collected for the entry.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from atoll.core import ir
from atoll.core.rewrite import transform
from atoll.sizes import Poly
from atoll.sizes.prover import Facts, facts


def settle(
    code: ir.Expr, requires: list[ir.Require], resolve: Callable[[Poly], Poly], inside: bool
) -> tuple[ir.Expr, tuple[ir.Require, ...]]:
    """The code and the requirements for the entry. `inside` says whether there are any in the code."""
    entry: list[ir.Require] = []
    context = facts()
    for need in requires:
        if not context.proves(need.poly):
            entry.append(need)
            context = context.add((need.poly,))

    def keep(node: Any) -> Any:
        if isinstance(node, ir.Block) and any(isinstance(stmt, ir.Require) for stmt in node.stmts):
            stmts = [stmt for stmt in node.stmts if not (isinstance(stmt, ir.Require) and provable(stmt))]
            stmts = [dataclasses.replace(stmt, known=None) if isinstance(stmt, ir.Require) else stmt for stmt in stmts]
            return dataclasses.replace(node, stmts=tuple(stmts))
        return node

    def provable(need: ir.Require) -> bool:
        there: Facts = need.known
        return facts(tuple(resolve(p) for p in there.known)).proves(need.poly)

    return transform(code, on_node=keep) if inside else code, tuple(entry)
