"""What the sizes of an operator must satisfy, said once: in headers, in errors from Python, in reports. What follows from the rest is left out."""

from __future__ import annotations

from atoll.madl.graph import Graph
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.describe import condition
from atoll.sizes.prover import Facts


def needed_sizes(graph: Graph) -> list[Poly]:
    """Polynomials over the operator's sizes that must be >= 0, none of which the others imply."""
    everything = [p for p, _, _ in graph.requirements if p.const() is None]
    found = list(dict.fromkeys(sorted(everything, key=lambda p: (len(p.terms), str(p)))))
    for p in list(reversed(found)):
        others = tuple(q for q in found if q is not p)
        if Facts(others).proves(p):
            found = list(others)
    return found


def needs(graph: Graph) -> list[str]:
    """`n >= 1`, `k <= n`: in the user's names."""
    named = {sym: poly(Sym(graph.size_names[sym])) for sym in graph.sizes}
    return list(dict.fromkeys(condition(p.subst(named)) for p in needed_sizes(graph)))
