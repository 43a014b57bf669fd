"""Rows that are made beside an array and then copied into it are made in their place, wherever that may be (transform/made_in_place.py).

    alloc t                                         for k:
    for k:                                             for i: y[k, i] = ...
       for i: t[i] = ...                    becomes    what changes y[k, ..]
       what changes t
       for i: y[k, i] = t[i]
The state of a loop inside a loop is like this when the last state is an element of a comprehension.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.loops.transform.made_in_place import InPlace, row_in_place
from atoll.loops.transform.walk import every_block, not_products, without_memory


def in_rows(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    everywhere = mentions(stmts)
    made: set[lp.Buffer] = set()

    def block(body: lp.Stmts) -> lp.Stmts:
        while row := next((x for k in range(len(body)) if isinstance(x := row_in_place(body, k, everywhere), InPlace)), None):
            body = row.stmts
            decisions.append(f"each {row.own.shown} is made where all of them are kept, not copied there")
            made.add(row.own)
            row.own.home = row.own.home or row.target
        return body

    found = every_block(stmts, block, not_products)
    return without_memory(found, made) if made else found
