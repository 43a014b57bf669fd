"""What a rewrite asks by itself, in tests of branches and in names of its own, can be asked there: elements that it reads are there, and nothing is divided by what may be 0.

That is so where sizes, ranges and checks before it say so, where a branch before the rewrite asks the same in that round, or where a statement beside it reads the element anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.footprints import CHECK, Footprints
from atoll.check.rewrites.language import is_poly, names, put
from atoll.check.rewrites.leaves import Leaf, No, conditions
from atoll.check.rewrites.questions import Questions, moved, none_of
from atoll.check.rewrites.refute import Cond, cannot, negations
from atoll.check.rewrites.texts import may_trap
from atoll.check.sums import Poly, const, sub, var

Asked = tuple[Any, list[Cond]]  # an expression that not all rounds can ask, and when it is asked


def asked(e: Any, moving: frozenset[str], on: list[Cond]) -> Iterator[Asked]:
    """Elements that are read and operations that may fail, in the order of C: the second test only where the first holds."""
    if is_poly(e):
        return
    if e[0] == "load" or may_trap(e):
        yield e, on
    match e[0]:
        case "call":
            for a in e[2]:
                yield from asked(a, moving, on)
        case "cast":
            yield from asked(e[1], moving, on)
        case "choose" | "truth":
            before = on
            for t in e[1]:
                if t[2] is not None:
                    yield from asked(t[2], moving, before)
                before = [*before, *conditions((t,), moving)]
            if e[0] == "choose":
                yield from asked(e[2], moving, before)
                found = conditions(e[1], moving)
                yield from asked(e[3], moving, [*on, *negations(found[0])[:1]] if len(found) == 1 and found[0][0] == "ge" else on)


class AskedQuestions(Footprints, Questions):
    new: list[Leaf]
    asks: dict[Any, Leaf]  # branches before the rewrite
    indices: set[str]  # of its loops after the rewrite

    def env(self, x: Leaf, old: Leaf | None = None) -> dict[str, Poly]:
        raise NotImplementedError

    def there(self, peek: Leaf) -> None:
        raise NotImplementedError

    def changes(self, key: Any) -> bool:
        raise NotImplementedError

    def ordered(self, a: Leaf, b: Leaf, meet: list[tuple[Any, Any]], free: bool) -> None:
        raise NotImplementedError

    def can_be_asked(self, x: Leaf) -> None:
        for e in x.stmt[1:]:
            for item, on in asked(e, self.moving, []):
                if not (self.certain_there(item, on, x) or self.asked_before(item, on, x) or self.read_beside(item, on, x)):
                    raise No("an element is asked for that may not be there" if item[0] == "load" else "something is asked that may fail")

    def certain_there(self, e: Any, on: list[Cond], x: Leaf) -> bool:
        here = [*x.conds, *x.facts, *(c for c in on if c[0] != "op")]
        groups = [*x.groups, *x.known]
        if e[0] == "load":
            long = self.kinds.extents.get(e[1])
            if long is None or len(long) != len(e[2]) or any(names(p) & self.moving for p in (*long, *e[2])):
                return False
            self.count()
            return all(cannot([*here, ("ge", sub(const(-1), p))], groups) and cannot([*here, ("ge", sub(p, n))], groups) for p, n in zip(e[2], long, strict=True))
        if e[0] != "call" or e[1] not in ("floordiv", "mod") or len(e[2]) != 2:
            return False
        d = e[2][1]
        if d[0] == "const":
            return d[1].isdigit() and int(d[1]) > 0
        p = d[1] if d[0] == "index" else var(d[1]) if d[0] == "use" and d[2:] == () else None
        self.count()
        return p is not None and not names(p) & self.moving and e[3] == "i64" and cannot([*here, ("ge", sub(const(0), p))], groups)

    def asked_before(self, e: Any, on: list[Cond], x: Leaf) -> bool:
        """A branch before the rewrite asks it, in a round in which all that leads there holds, behind the same checks. What it is made of does not change here."""
        if (e[0] == "load" and names(e) & self.vars) or (e[0] != "load" and self.changes(e)):
            return False
        here = [*x.conds, *x.facts, *on]
        for old, y in self.rounds_of(x):
            env = self.env(y, old)
            found = [under for part in old.stmt[1:] for item, under in asked(part, self.moving, []) if put(item, env) == e]
            if any(self.follows([*old.conds, *under], old, env, here, x) for under in found) and self.behind_checks(y):
                return True
        return False

    def behind_checks(self, x: Leaf) -> bool:
        try:
            for c in self.new:
                if any(where == CHECK and writes for where, _, writes in self.cells(c)):
                    self.ordered(c, x, [((), ())], False)
        except No:
            return False
        return True

    def follows(self, wanted: list[Cond], old: Leaf, env: dict[str, Poly], here: list[Cond], x: Leaf) -> bool:
        groups = [*x.groups, *x.known]
        self.count()
        for c in wanted:
            c = moved(c, env)
            if c[0] == "op" and self.changes(c[1]):
                return False
            if c not in here and not all(cannot([*here, n], groups) for n in negations(c)):
                return False
        return all(cannot(here, [*groups, *none_of([[moved(c, env) for c in case] for case in g])]) for g in old.groups)

    def rounds_of(self, x: Leaf) -> Iterator[tuple[Leaf, Leaf]]:
        """Branches before the rewrite, and the place with a round of theirs: that which it tells, or the rounds of statements inside of it."""
        rounds = [x.round] if x.number in self.asks else []
        inside = (x.place[-1][0], x.place[-1][1] + 0.5)
        rounds += [y.round for y in self.new if y.place[: len(x.place) - 1] == x.place[:-1] and y.place[len(x.place) - 1][:2] == inside]
        for old in self.asks.values():
            seen: list[dict[str, Poly]] = []
            for r in (*rounds, {s: var(s) for s in x.syms}):
                mine = {s: r[s] if s in r else var(s) for s in old.syms}
                own = set().union(*map(names, mine.values())) if mine else set()
                if mine not in seen and own <= {*x.syms, *x.scope} | (own - self.indices):
                    seen.append(mine)
                    yield old, replace(x, number=old.number, round=mine)

    def read_beside(self, e: Any, on: list[Cond], x: Leaf) -> bool:
        if e[0] != "load":
            return False
        try:
            self.there(replace(x, stmt=("peek", *e[1:]), conds=[*x.conds, *(c for c in on if c[0] != "op" or not self.changes(c[1]))]))
        except No:
            return False
        return True
