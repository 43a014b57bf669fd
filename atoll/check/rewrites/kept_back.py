"""What a round stores and the next one reads, kept in a variable meanwhile: put back into its array before instances are compared.

    declare c;  if there are rounds:  c := b[f(low)]                                 for j in low..high:  b[f(j)] is read;  b[f(j + 1)] = e(b[f(j)])
    for j in low..high:  x = e(c);  b[f(j + 1)] = x;  ...  c := x           is

where that is the only store into b, f(j) and f(j + 1) differ, and every round reads its element (it is read before the first).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from atoll.check.rewrites.language import changed, names, read, walk
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.storage import replaced
from atoll.check.sums import Poly, const, sub, subst, var

Index = tuple[Poly, ...]


def kept_back(body: tuple[Node, ...], kinds: Kinds) -> tuple[Node, ...]:
    out = [replace(n, bodies=tuple(kept_back(b, kinds) for b in n.bodies)) for n in body]
    for k, n in enumerate(out):
        if n.stmt[0] == "if" and n.origin is None and k + 1 < len(out) and not n.bodies[1] and all(x.stmt[0] == "assign" for x in n.bodies[0]):
            made = {x.stmt[1]: x.stmt[2] for x in n.bodies[0]}
            declared = [j for j in range(k) if out[j].stmt[0] == "declare" and out[j].origin is None and out[j].stmt[3] is None and out[j].stmt[1] in made]
            loop = _loop(out[k + 1], n.stmt[1], made, kinds)
            if loop is None or len(declared) != len(made) or any(set(made) & _touched(x) for j, x in enumerate(out) if j not in (*declared, k, k + 1)):
                continue
            return kept_back(tuple(loop if j == k + 1 else x for j, x in enumerate(out) if j not in (*declared, k)), kinds)
    return tuple(out)


def _touched(n: Node) -> set[str]:
    s = (whole(n),)
    return read(s)[0] | changed(s)[0]


def _loop(loop: Node, tests: Any, made: dict[str, Any], kinds: Kinds) -> Node | None:
    if not made or loop.stmt[0] != "for" or any(loop.stmt[5][k] for k in (0, 1, 3)) or tests != (("ge", sub(sub(loop.stmt[3], loop.stmt[2]), const(1)), None),):
        return None
    body = loop.bodies[0]
    for c, first in made.items():
        found = _in_memory(body, c, first, loop.stmt[1], loop.stmt[2], kinds)
        if found is None:
            return None
        body = found
    if set(made) & (names(loop.stmt[2]) | names(loop.stmt[3])):
        return None
    return replace(loop, bodies=(body,))


def _in_memory(body: tuple[Node, ...], c: str, first: Any, j: str, low: Poly, kinds: Kinds) -> tuple[Node, ...] | None:
    """The body of the loop with c as the element that it stands for."""
    if first[0] != "load" or kinds[c][1] != kinds[first[1]][1] or kinds[first[1]][2] is not None:
        return None
    b = first[1]
    stores = [k for k, n in enumerate(body) if n.stmt[0] == "store" and n.stmt[1] == b]
    ends = [k for k, n in enumerate(body) if n.stmt[0] == "assign" and n.stmt[1] == c and n.origin is None]
    if len(stores) != 1 or len(ends) != 1 or ends[0] < stores[0] or stores[0] == 0:
        return None
    at, end = stores[0], ends[0]
    x, store = body[at - 1].stmt, body[at].stmt
    if x[0] != "let" or x[2] != kinds[b][1] or store[3] != ("use", x[1]) or body[end].stmt != ("assign", c, ("use", x[1])):
        return None
    there: Index = store[2]
    here = tuple(subst(p, {j: sub(var(j), const(1))}) for p in there)
    rest = tuple(n for k, n in enumerate(body) if k not in (at - 1, at, end))
    assigned, written = changed(tuple(map(whole, rest)))
    own = {s[1] for s in walk(tuple(map(whole, body))) if s[0] in ("let", "declare")} | assigned
    if first[2] != tuple(subst(p, {j: low}) for p in here) or b in written or own & set().union(*(names(p) for p in there)) or c in assigned:
        return None
    if x[1] in set().union(*(_touched(n) for n in rest)) or any(c in _touched(n) for n in body[end + 1 :]):
        return None
    plain = replace(body[at], stmt=("store", b, there, x[3]), apart=(*body[at].apart, (there, here)))
    kept = tuple(plain if k == at else n for k, n in enumerate(body) if k not in (at - 1, end))
    new = replaced(kept, {c: ("load", b, here)})
    if any(c in _touched(n) for n in new):
        return None
    return (Node(("peek", b, here), (), None), *new)
