"""What follows a product row by row is joined to it (transform/after_product.py): the matrix kernel does it for every piece of rows while that is in the cache.

Anything in pieces over the same rows will do (a bias, an activation, a softmax of every row). Results are the same: pieces of rows do not depend on each other. When every element of
the product is read once, to make the element of another array in its place, the product goes into that array and has no memory of its own.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.after_product import Follower, follower, into_its_reader, joined
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import every_block


def followers(stmts: lp.Stmts) -> list[Follower]:
    """Products with the pieces that can be joined to them. Seen before other rewrites, which change how indices are written."""
    found: list[Follower] = []
    for k, stmt in enumerate(stmts):
        if isinstance(stmt, lp.Product):
            after = follower(stmt, stmts[k + 1 :])
            found += [] if isinstance(after, Refused) else [after]
        elif not isinstance(stmt, lp.Chunks):  # inside pieces, products are small and one thread's own
            for body in lp.bodies(stmt):
                found += followers(body)
    return found


def join(stmts: lp.Stmts, found: list[Follower], decisions: list[str]) -> lp.Stmts:
    """The same statements, with the pieces in their products."""

    def block(out: lp.Stmts) -> lp.Stmts:
        for each in found:
            if not isinstance(made := joined(out, each), Refused):
                out = made
                decisions.append(f"what follows the product {each.product.target.buffer.shown} is done with its rows as they are finished")
        return out

    return every_block(stmts, block, lambda stmt: not isinstance(stmt, (lp.Chunks, lp.Product)))


def in_place(stmts: lp.Stmts, found: list[Follower]) -> lp.Stmts:
    """Products into the memory of what is made of them, when nobody else reads them. After `join`."""
    for each in found:
        made = into_its_reader(stmts, each)
        stmts = stmts if isinstance(made, Refused) else made
    return stmts
