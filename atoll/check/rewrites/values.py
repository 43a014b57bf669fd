"""Two expressions have the same value wherever an instance is done: the same text, or equal indices, choices that are decided there, choices by other tests case by case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.language import Expr, is_poly
from atoll.check.rewrites.leaves import Leaf, cases, conditions, otherwise
from atoll.check.rewrites.questions import Questions
from atoll.check.rewrites.refute import Cond, cannot, negations
from atoll.check.rewrites.scopes import Kinds
from atoll.check.sums import Poly, const, div, free, mod, sub, subst, value, var

DEEP = 8  # names of names
REGROUPED = ("min", "max")


class Values(Questions):
    moving: frozenset[str]  # variables that are assigned
    kinds: Kinds

    def alike(self, a: Any, b: Any, x: Leaf) -> bool:
        """The same value wherever the instance is done."""
        if a == b:
            return True
        a, b = self.literal(a), self.literal(b)
        if a == b:
            return True
        if is_poly(a) or is_poly(b):
            return is_poly(a) and is_poly(b) and self.equal(a, b, x)
        if a[0] == "choose" and (found := self.decided(a, x)) is not None:
            return self.alike(found, b, x)
        if b[0] == "choose" and (found := self.decided(b, x)) is not None:
            return self.alike(a, found, x)
        if a[0] != b[0] or (a[0] == "call" and a[1] != b[1]):
            return self.same_integer(a, b, x)
        match a[0]:
            case "index":
                return self.equal(a[1], b[1], x)
            case "load":
                return a[1] == b[1] and len(a[2]) == len(b[2]) and all(self.equal(p, q, x) for p, q in zip(a[2], b[2], strict=True))
            case "call":
                if a[1] in REGROUPED and a[3] == b[3] and a[3][0] in "iu" and self.regrouped(a, b, x):
                    return True
                return (a[1], a[3]) == (b[1], b[3]) and len(a[2]) == len(b[2]) and all(self.alike(p, q, x) for p, q in zip(a[2], b[2], strict=True))
            case "cast":
                return a[2] == b[2] and self.alike(a[1], b[1], x)
            case "choose" | "truth":
                tests, others = self.left(a[1], x), self.left(b[1], x)
                if self.same_tests(tests, others, x) and all(self.alike(p, q, x) for p, q in zip(a[2:], b[2:], strict=True)):
                    return True
                return bool(a[0] == "choose" and self.by_cases(a, b, x))
        return False

    def regrouped(self, a: Expr, b: Expr, x: Leaf) -> bool:
        """The least or the greatest of the same integers, in whatever order they are looked at."""
        left = list(_operands(b))
        for p in _operands(a):
            found = next((k for k, q in enumerate(left) if p == q), next((k for k, q in enumerate(left) if self.alike(p, q, x)), None))
            if found is None:
                return False
            del left[found]
        return not left

    def literal(self, e: Any) -> Any:
        """An element of an array of constants, by number, is what it is."""
        if is_poly(e) or e[0] != "load" or e[1] not in self.kinds.constants:
            return e
        shape, elements = self.kinds.constants[e[1]]
        place = 0
        for p, n in zip(e[2], shape, strict=True):
            k = value(p)
            if k is None or not 0 <= k < n:
                return e
            place = place * n + k
        return elements[place]

    def by_cases(self, a: Expr, b: Expr, x: Leaf) -> bool:
        """A choice by tests of indices has the value of b where they hold and where they do not: other tests may say the same (i == 0 of i >= 0 is not i >= 1)."""
        on = conditions(a[1], self.moving)
        if any(c[0] == "op" for c in on):
            return False  # what a text says of data may not be so any more
        self.count()

        def under(value: Expr, case: list[Cond]) -> bool:
            there = replace(x, conds=[*x.conds, *case])
            return self.alike(value, b, there) or self.never(there)

        return under(a[2], on) and all(under(a[3], case) for case in otherwise(on))

    def never(self, x: Leaf) -> bool:
        """Nothing is done there."""
        self.count()
        return cannot([*x.conds, *x.facts], [*x.groups, *x.known])

    def same_integer(self, a: Expr, b: Expr, x: Leaf) -> bool:
        """Two integers in other words: in every case the same polynomial."""
        a, b = self.counted(a, x), self.counted(b, x)
        one, two = cases(a, self.moving), cases(b, self.moving)
        if one is None or two is None:
            return False
        self.count()
        return all(
            cannot([*x.conds, *x.facts, *c, *d, n], [*x.groups, *x.known]) for c, p in one for d, q in two for n in negations(("eq", sub(p, q)))
        )

    def counted(self, e: Expr, x: Leaf) -> Expr:
        """Quotients and remainders by what is at least 1 here, as indices; names in them are what they say."""
        if e[0] == "index":
            return ("index", self.said(e[1], x))
        if e[0] == "use" and e[1] not in self.moving:
            return ("index", self.said(var(e[1]), x))
        if e[0] != "call" or e[1] not in ("floordiv", "mod") or e[3] != "i64":
            return e
        a, m = (self.counted(part, x) for part in e[2])
        if a[0] != "index" or m[0] != "index" or not self.holds(("ge", sub(m[1], const(1))), x):
            return e
        return ("index", div(a[1], m[1]) if e[1] == "floordiv" else mod(a[1], m[1]))

    def said(self, p: Poly, x: Leaf) -> Poly:
        """A polynomial with names that are made here as what they say, where that is one thing."""
        for _ in range(DEEP):
            env: dict[str, Poly] = {}
            for v in free(p):
                leaf = x.scope.get(v)
                meant = cases(leaf.stmt[3], self.moving) if leaf is not None and leaf.stmt[:1] == ("let",) and leaf.stmt[2] == "i64" else None
                if meant is not None and len(meant) == 1 and not meant[0][0]:
                    env[v] = meant[0][1]
            if not env:
                return p
            p = subst(p, env)
        return p

    def same_tests(self, a: Sequence[Any], b: Sequence[Any], x: Leaf) -> bool:
        if a == b:
            return True
        return len(a) == len(b) and all(
            s[0] == t[0] and (self.said(s[1], x) == self.said(t[1], x) if s[1] is not None and t[1] is not None else s[2] is not None and t[2] is not None and self.alike(s[2], t[2], x)) for s, t in zip(a, b, strict=True)
        )

    def left(self, tests: Sequence[Any], x: Leaf) -> tuple[Any, ...]:
        """The tests that are not certain here."""
        return tuple(t for t in tests if not all(self.holds(c, x) for c in conditions((t,), self.moving)))

    def decided(self, e: Expr, x: Leaf) -> Expr | None:
        conds = conditions(e[1], self.moving)
        if any(self.fails(c, x) for c in conds):
            return e[3]  # type: ignore[no-any-return]
        return e[2] if all(self.holds(c, x) for c in conds) else None

    def holds(self, c: Cond, x: Leaf) -> bool:
        self.count()
        return c in x.conds or all(cannot([*x.conds, *x.facts, n], [*x.groups, *x.known]) for n in negations(c))

    def fails(self, c: Cond, x: Leaf) -> bool:
        self.count()
        return cannot([*x.conds, *x.facts, c], [*x.groups, *x.known])

    def equal(self, p: Poly, q: Poly, x: Leaf) -> bool:
        return p == q or self.said(p, x) == self.said(q, x) or self.holds(("eq", sub(p, q)), x)


def _operands(e: Expr) -> Iterator[Expr]:
    """What a chain of one operator is made of."""
    for a in e[2]:
        if a[0] == "call" and (a[1], a[3]) == (e[1], e[3]):
            yield from _operands(a)
        else:
            yield a
