"""What a region asks of the arithmetic: that conditions cannot hold, that some copy is made wherever they do. Questions are counted, so that no certificate asks for more than it may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atoll.check.rewrites.language import put
from atoll.check.rewrites.leaves import No
from atoll.check.rewrites.refute import Cond, Group, cannot, negations
from atoll.check.sums import Poly, sub, subst

MOST = 24_000  # questions of one region
DEEP = 40  # cases inside cases


class Questions:
    asked = 0

    def no(self, what: str, conds: Sequence[Cond], groups: Sequence[Group] = ()) -> None:
        self.count()
        if not cannot(conds, groups):
            raise No(what)

    def count(self) -> None:
        self.asked += 1
        if self.asked > MOST:
            raise No("too many questions")

    def certain(self, c: Cond, conds: list[Cond], groups: list[Group]) -> bool:
        self.count()
        if c[0] == "or":
            return cannot(conds, [*groups, *none_of(c[1])])
        return c in conds or all(cannot([*conds, n], groups) for n in negations(c))

    def covered(self, conds: list[Cond], rest: list[list[Cond]], groups: list[Group], depth: int = 0) -> bool:
        """Some copy is made wherever the conditions hold."""
        self.count()
        if depth > DEEP:
            return False
        if cannot(conds, groups):
            return True
        some = []
        for m in rest:
            left = [c for c in m if not self.certain(c, conds, groups)]
            if not left:
                return True
            if not any(cannot([*conds, c], groups) for c in left if c[0] != "or"):
                some.append(left)
        if not some:
            return False
        some.sort(key=len)
        c = next((c for c in some[0] if c[0] != "or"), None)
        if c is None:
            split: Group = some[0][0][1]
            inside = all(self.covered([*conds, *case], some, groups, depth + 1) for case in split)
            return inside and self.covered(conds, some[1:], [*groups, *none_of(split)], depth + 1)
        return self.covered([*conds, c], some, groups, depth + 1) and all(self.covered([*conds, n], some, groups, depth + 1) for n in negations(c))


def equal_all(a: Sequence[Poly], b: Sequence[Poly]) -> list[Cond]:
    return [("eq", sub(p, q)) for p, q in zip(a, b, strict=True)]


def moved(c: Cond, env: Mapping[str, Poly]) -> Cond:
    if c[0] != "op":
        return (c[0], subst(c[1], dict(env)))
    key = c[1]
    if len(key) == 2 and key[0] in ("ge", "eq", "ne"):
        return ("op", (key[0], subst(key[1], dict(env))), c[2])
    return ("op", put(key, env), c[2])


def none_of(cases: Group) -> list[Group]:
    return [[[n] for c in case for n in negations(c)] for case in cases]
