"""Values in order instead of places in order, wherever that may be (transform/sorted_instead.py): what is only read at the places of a sort of itself is sorted itself.

    argsort(x[0], o[0], n);  for i in 0..n:  k = o[i];  y[i] = x[k]
becomes
    sort(x[0], y[0], n)

and, where more is done with the elements, sort(x[0], s[0], n) with s[i] for x[k]. Keys that are a copied row of an array are sorted where they are.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.sorted_instead import Sorted, keys_in_place, values_in_place, values_sorted


def sorted_values(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    for sort in [s for s in lp.walk(stmts) if isinstance(s, lp.Helper) and s.name == "argsort"]:
        here = Sorted(stmts, sort)
        if not isinstance(row := keys_in_place(here.stmts, here.sort), Refused):
            here = row
        if not isinstance(found := values_sorted(here.stmts, here.sort), Refused):
            decisions.append(f"{here.sort.buffers[0][0].name} is sorted itself, not its places")
            here = found if isinstance(straight := values_in_place(found.stmts, found.sort), Refused) else straight
        stmts = here.stmts
    return stmts
