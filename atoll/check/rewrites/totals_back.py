"""Sums over parts of a range, each added to a total, as one sum over all of them: undone before instances are compared.

    declare s = neutral;  ... sum r in a..b of e into p;  s := s op p ...        is        declare s = neutral;  ... for r in a..b:  s op= e ...

where p is read nowhere else, and s stands for a sum that the program before makes with the same operator. Of floats only where the program lets sums be regrouped, and that sum has no order;
integers, and what is true of some or of all, may be grouped in any way. A part without rounds is the neutral element, which changes nothing: a sum that begins with 0 is never -0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from atoll.check.rewrites.language import changed, names, read
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.storage import every
from atoll.check.rewrites.texts import OPERATORS


def totals_back(before: tuple[Node, ...], after: tuple[Node, ...], roots: Mapping[str, str], kinds: Kinds, licensed: bool) -> tuple[Node, ...]:
    sums = {v: (monoid, d, n.stmt[6]) for n in every(before) if n.stmt[0] == "accumulate" for v, monoid, d in n.stmt[5]}
    totals: dict[str, str] = {}
    for n in every(after):
        s = n.stmt
        if s[0] == "declare" and n.origin is None and (found := sums.get(roots.get(s[1], s[1]))) is not None and found[1] == s[2]:
            if s[2][0] in "iu" or s[2] == "bool" or (licensed and not found[2]):
                totals[s[1]] = found[0]
    return _list(after, totals, kinds) if totals else after


def _list(body: tuple[Node, ...], totals: Mapping[str, str], kinds: Kinds) -> tuple[Node, ...]:
    out: list[Node] = []
    k = 0
    while k < len(body):
        n = replace(body[k], bodies=tuple(_list(b, totals, kinds) for b in body[k].bodies))
        many = len(n.stmt[5]) if n.stmt[0] == "accumulate" else 0
        made = _together(n, body[k + 1 : k + 1 + many], body[k + 1 + many :], totals, kinds) if many else None
        out.append(n if made is None else made)
        k += 1 if made is None else 1 + many
    return tuple(out)


def _together(loop: Node, given: tuple[Node, ...], later: tuple[Node, ...], totals: Mapping[str, str], kinds: Kinds) -> Node | None:
    """The loop over a part with its sums made in the totals."""
    into: dict[str, str] = {}
    for (p, monoid, d), n in zip(loop.stmt[5], given, strict=False):
        s = n.stmt
        if n.origin is not None or s[0] != "assign" or totals.get(s[1]) != monoid or kinds[s[1]][1] != d or s[1] in into.values():
            return None
        if s[2] != ("call", OPERATORS.get(monoid), (("use", s[1]), ("use", p)), d):
            return None
        into[p] = s[1]
    if len(into) != len(loop.stmt[5]):
        return None
    rest = tuple(map(whole, later))
    if set(into) & (read(rest)[0] | changed(rest)[0]):
        return None  # somebody else looks at a part
    body = _into(loop.bodies[0], into, {p: monoid for p, monoid, _ in loop.stmt[5]})
    looked = names(loop.stmt[2]) | names(loop.stmt[3]) | set().union(*(_named(x, totals) for x in every(body)))
    if {*into, *into.values()} & looked:
        return None  # a part, or a total, that is looked at on the way
    return replace(loop, stmt=("accumulate", *loop.stmt[1:4], (), (), loop.stmt[6]), bodies=(body,))


def _named(n: Node, totals: Mapping[str, str]) -> set[str]:
    """Names in a statement itself, but for a total that it adds to."""
    s = n.stmt
    return names(s[3]) if s[0] == "add" and s[1] in totals else read((s,))[0] | changed((s,))[0]


def _into(body: tuple[Node, ...], into: Mapping[str, str], monoids: Mapping[str, str]) -> tuple[Node, ...]:
    made = []
    for n in body:
        s = n.stmt
        if s[0] == "add" and s[1] in into and s[2] == monoids[s[1]]:
            s = ("add", into[s[1]], *s[2:])
        made.append(replace(n, stmt=s, bodies=tuple(_into(b, into, monoids) for b in n.bodies)))
    return tuple(made)


__all__ = ["totals_back"]
