"""Variables that begin with nothing and are set first of all, as variables that begin with that: in both programs, before instances are compared.

    declare v;  ... v := e        is        ... declare v = e

where all is in one list, nothing in between names v, and e does not. What it is called by is the instance of the assignment.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.check.rewrites.language import changed, read
from atoll.check.rewrites.leaves import Node, whole


def first_values(body: tuple[Node, ...]) -> tuple[Node, ...]:
    out = [replace(n, bodies=tuple(map(first_values, n.bodies))) for n in body]
    for n in [n for n in out if n.stmt[0] == "declare" and n.stmt[3] is None and n.origin is not None]:
        v, d = n.stmt[1:3]
        k = next(j for j, x in enumerate(out) if x is n)
        end = next((j for j in range(k + 1, len(out)) if v in read((whole(out[j]),))[0] | changed((whole(out[j]),))[0]), None)
        if end is not None and out[end].stmt[:2] == ("assign", v) and v not in read((out[end].stmt,))[0] and out[end].origin is not None:
            out[end] = replace(out[end], stmt=("declare", v, d, out[end].stmt[2]))
            del out[k]
    return tuple(out)
