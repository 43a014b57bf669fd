"""A part of a program before and after a rewrite: the same instances of the same statements, each once, in an order that keeps every dependence.

Every leaf after the rewrite says which statement it is and in which round (its origin). With D the conditions of a place and f the round:

    text      under its round, the statement before reads the same, with variables that are copies of its variables in the same round
    inside    every instance after is one before:                 D'(y) and not D(f(y))                        cannot hold
    once      two that differ are different instances before:     D'(y), D'(z), f(y) = f(z), y != z            cannot hold
    all       every instance before is made:                      D(x) and no copy has D'(g(x)), f(g(x)) = x   cannot hold, where g is guessed from f
    asked     what a test or a name of the rewrite's own reads is there, what it divides by is not 0
    order     of two that touch one cell, one writing: before stays before, in rounds that are said to be independent too

"once" and "all" are asked of statements with effects; a name may be made again, or not at all. A check that is gone must be one that cannot fail.
A check may come earlier than it did (a program that fails has no result), what it guards may not come before it. Where sums may be regrouped, those that are not exact have no order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.asked import AskedQuestions
from atoll.check.rewrites.best_back import canonical
from atoll.check.rewrites.checks_back import checks_back, renamed
from atoll.check.rewrites.footprints import CHECK
from atoll.check.rewrites.kept_back import kept_back
from atoll.check.rewrites.lanes import Lanes
from atoll.check.rewrites.lanes_back import forwarded, parts_in_place, rooms, stored
from atoll.check.rewrites.language import (
    LEAVES,
    Stmt,
    changed,
    coefficient,
    loads,
    mapped,
    names,
    parts,
    put,
    put_whole,
    read,
    walk,
)
from atoll.check.rewrites.leaves import Around, Leaf, No, Node, cases, conditions, leaves, nodes, whole
from atoll.check.rewrites.parts_back import parts_back
from atoll.check.rewrites.places import apart, before, guess, not_before, pieces
from atoll.check.rewrites.questions import equal_all, moved, none_of
from atoll.check.rewrites.refute import Cond, Group, cannot, negations
from atoll.check.rewrites.steady import decided_before, no_other_scans
from atoll.check.rewrites.storage import every, in_one, is_neutral, sums_in_one, undone
from atoll.check.rewrites.strips_back import strips_back
from atoll.check.rewrites.texts import as_was, reads_under, texts
from atoll.check.rewrites.totals_back import totals_back
from atoll.check.rewrites.turns_back import turns_back
from atoll.check.rewrites.values import Values
from atoll.check.sums import Poly, add, const, mul, sub, subst, value, var

EFFECTS = ("store", "update", "add", "assign", "declare", "check", "acc")
ONE = const(1)
GONE = "%gone"  # what names before the rewrite end with that are nothing after it
Other = tuple[list[Cond], list[Group], dict[str, Poly], dict[str, Poly]]  # conditions, groups, rounds and names of a leaf in another round


class Region(Values, AskedQuestions, Lanes):
    def __init__(
        self, before: tuple[Node, ...], after: tuple[Node, ...], around: Around, roots: Mapping[str, str], outside: frozenset[str], licensed: bool = False
    ) -> None:
        """`roots`: what variables are copies of; `outside`: names that are used elsewhere in the program; `licensed`: sums into memory may be regrouped."""
        self.licensed = licensed
        self.asked, self.roots = 0, roots
        self._rounds: dict[str, list[str]] = {}
        self._roots: dict[str, str] = {}
        self.early: dict[Any, set[str]] = {}  # checks that stand for those of later rounds of these loops
        self._others: dict[int, tuple[Leaf, Other]] = {}  # asked once for each leaf, when rounds are settled
        self.moving, self.kinds = around.moving, around.kinds
        self.notes: set[str] = set()
        after = totals_back(before, kept_back(parts_back(after, self.notes, self.kinds) if licensed else after, self.kinds), roots, self.kinds, licensed)
        before, after = in_one(turns_back(sums_in_one(before, after))), in_one(checks_back(strips_back(turns_back(after)), roots))
        after, self.own = rooms(before, after, self.kinds)
        if self.own.extents:
            after = parts_in_place(after, self.own, self.kinds, licensed)
        before, after = decided_before(before), decided_before(after)
        no_other_scans(before, after)
        self.old: dict[Any, Leaf] = {}
        self.asks: dict[Any, Leaf] = {}
        for x in leaves(before, around.inside((0, 0, None, False)), {}, False):
            told = self.asks if x.stmt[0] == "asks" else self.old
            if x.number in told:
                raise No("a statement twice")
            told[x.number] = x
        sums = {x.stmt[1]: x.stmt[2] for x in self.old.values() if x.stmt[0] == "acc"}
        copies = {v: sums[root] for v, root in roots.items() if root in sums}
        self.inexact = {x.stmt[1] for x in self.old.values() if x.stmt[0] == "acc" and not x.stmt[4]}
        plain = undone(after, {**sums, **copies}, self.moving, self.kinds)
        if self.own.extents:
            plain = forwarded(stored(plain, self.own, self.kinds), self.own, self.kinds)
        made = list(leaves(plain, replace(around.inside((0, 0, None, False)), rooms=frozenset(self.own.extents)), {}, True))
        self.new, self.peeks = [x for x in made if x.stmt[0] not in ("peek", "room", "touch", "divides", "asks")], [x for x in made if x.stmt[0] == "peek" and x.stmt[1] not in self.own.extents]
        self.touched, self.looks = [x for x in made if x.stmt[0] == "touch"], [x for x in made if x.stmt[0] == "peek" and x.stmt[1] in self.own.extents]
        self.divided, self.asking = ([x for x in made if x.stmt[0] == kind] for kind in ("divides", "asks"))
        self.indices = {s for x in made for s in x.syms}
        self.rooms_at = {x.stmt[1]: x for x in made if x.stmt[0] == "room"}
        self.made = {x.stmt[1]: x for x in self.old.values() if x.stmt[0] in ("let", "declare", "acc")}
        if any(self.roots.get(v, v) != v for v in self.made) or any(v in self.made and leaf is None for x in made for v, leaf in x.scope.items()):
            raise No("a name that is another one's")  # what is said of one before the rewrite would be said of the other after it
        self.homes = {x.stmt[1]: x for x in self.old.values() if x.stmt[0] == "alloc"}
        bodies = [x.stmt for x in self.old.values()]
        self.vars, self.arrays = changed(tuple(s for s in bodies if s[0] != "acc"))
        self.vars |= {s[1] for s in bodies if s[0] in ("acc", "declare")}
        self.boxed = {y.origin[0] for x in every(before) if x.stmt[0] == "forever" and x.bodies[0] and x.bodies[0][0].stmt[0] == "if" for y in every(x.bodies[0]) if y.origin is not None}
        self.top = {n.origin[0] for n in before if n.origin is not None}
        self.outside = outside
        self.checked = any(x.stmt[0] == "check" for x in self.new)

    def behind(self) -> None:
        """Names made here and used elsewhere are made at the end as they were: by a statement that stands at the top, in its own round."""
        outside = self.outside
        for v, x in self.made.items():
            if v in outside:
                mine = [y for y in self.new if y.number == x.number and y.stmt[1] == v]
                ok = [y for y in mine if len(y.place) == 2 and (x.stmt[0] == "acc" or x.number in self.top)]
                bare = [b for y in mine if y.stmt[0] == "assign" and (b := y.scope.get(f"%bare {v}")) is not None and len(b.place) == 2]
                if len(ok) != 1 and not (x.number in self.top and len(bare) == len(mine) > 0):
                    raise No(f"{v} is read behind it")
        for x in self.new:
            if x.stmt[0] in ("let", "declare", "acc") and x.stmt[1] in outside and x.stmt[1] not in self.made:
                raise No(f"{x.stmt[1]} is another one's name")

    def rounds(self, root: str) -> list[str]:
        """The indices of the rounds in which a variable may have different values."""
        first = self.made[root]
        if first.stmt[0] != "let" or root in self._rounds:
            return self._rounds.get(root, first.syms)
        self._rounds[root] = first.syms  # while it is looked at
        used = names(first.stmt[3])
        if not any(x[1] in self.arrays for x in loads(first.stmt[3])) and not (used & self.vars):
            inside = {s for v in used if v in self.made for s in self.rounds(v)} | used
            self._rounds[root] = [s for s in first.syms if s in inside]
        return self._rounds[root]

    def root(self, v: str) -> str:
        found = self._roots.get(v)
        if found is None:
            plain = v.split("%")[0] or v  # parts that are written out have names of their own
            found = self._roots[v] = self.roots.get(plain, plain)
        return found

    def check(self) -> int:
        self.of_lanes()
        self.bind()
        self.behind()
        self.in_branches()
        for x in self.new:
            self.text(x)
            self.inside(x)
            for p in x.holds:
                self.no("storage", [*x.conds, *x.facts, ("ge", sub(const(-1), p))], [*x.groups, *x.known])
            for one, other in x.apart:
                self.no("storage", [*x.conds, *x.facts, *equal_all(one, other)], [*x.groups, *x.known])
        for x in self.peeks:
            self.there(x)
        for x in self.asking:
            self.can_be_asked(x)
        for x in self.divided:
            for d in x.stmt[1]:
                self.no("a quotient by what may be 0", [*x.conds, *x.facts, ("ge", mul(const(-1), d))], [*x.groups, *x.known])
        for number, old in self.old.items():
            copies = [x for x in self.new if x.number == number]
            if old.stmt[0] == "check":
                self.made_or_needless(old, copies)
            elif number in self.assigned or old.stmt[0] in EFFECTS or old.stmt[0] not in LEAVES:
                if old.stmt[0] in ("declare", "acc") and not copies:
                    continue  # names are looked up in their scope: nobody reads it
                self.once(old, copies)
                if old.stmt[0] != "acc" or any(x.lanes for x in copies):  # a sum is made where it is read: names are looked up in their scope, in their round
                    self.all(old, copies, self.adds_something(old))
        self.order()
        return self.asked

    # -- rounds of variables

    def bind(self) -> None:
        """Rounds that are not told are the same; those of accumulators are those of what is added to them, or reads them."""
        for x in self.new:
            if x.stmt[0] != "acc":
                if x.number not in self.old:
                    raise No("what decides is changed inside" if x.number in self.boxed else "an origin outside of the part")
                x.round = {s: x.round.get(s, var(s)) for s in self.old[x.number].syms}
        rounds: dict[str, Mapping[str, Poly]] = {}
        accs = {id(x): x for x in self.new if x.stmt[0] == "acc" and not x.lanes}
        holders: dict[str, list[Leaf]] = {}
        for a in accs.values():
            holders.setdefault(a.stmt[1], []).append(a)
        for x in sorted((x for x in self.new if x.stmt[0] != "acc"), key=lambda x: x.stmt[0] not in ("add", "assign")):
            used = {x.stmt[1]} if x.stmt[0] in ("add", "assign") else read((x.stmt,))[0]
            for v in sorted(used & set(holders)):
                first = self.made.get(self.root(v))
                if first is not None and v not in rounds and all(s in x.round for s in first.syms):
                    rounds[v] = {s: x.round[s] for s in first.syms}
        for a in accs.values():
            v = a.stmt[1]
            first = self.made.get(self.root(v))
            if first is None or first.stmt[0] != "acc":
                raise No(f"a sum without origin: {v}")
            a.number, a.round = first.number, rounds.get(v, {s: var(s) for s in first.syms})
            if a.stmt[2:4] != first.stmt[2:4]:
                raise No("another sum")
            if v not in rounds and v not in self.outside:
                self.new = [x for x in self.new if x is not a]  # nothing is added to it, and nobody reads it
                continue
            if not a.stmt[4] and first.stmt[4]:
                raise No("a sum in order, made in another")

    def in_branches(self) -> None:
        """Names that are variables now, with a value in every branch: made once and everywhere, before they are read, and one for each round."""
        self.assigned: set[Any] = set()
        rounds: dict[str, Mapping[str, Poly]] = {}
        for x in self.new:
            if x.stmt[0] == "assign" and self.old[x.number].stmt[0] == "let":
                bare = x.scope.get(f"%bare {x.stmt[1]}")
                if bare is None or bare.syms != x.syms or rounds.setdefault(x.stmt[1], x.round) != x.round:
                    raise No("a name that is a variable of other rounds too")
                self.assigned.add(x.number)
                self.vars.add(self.root(x.stmt[1]))

    def env(self, x: Leaf, old: Leaf | None = None) -> dict[str, Poly]:
        """What the names before the rewrite are for this instance: rounds of indices, and copies of variables in the same round. Names that are made here and of
        which there is no such copy are none of those after it, also where one is called the same: it is of another round."""
        if old is None:
            old = self.old[x.number]
        env = {s: x.round[s] for s in old.syms}
        for low, high, extent in old.pieces:  # where a piece of the same range ends, by where it begins
            ends = [end for begin, end, long in x.pieces if env[low] == var(begin) and subst(extent, env) == long]
            if ends:
                env[high] = var(ends[0])
        for v, leaf in x.scope.items():
            first = self.made.get(self.root(v))
            if leaf is None or first is None or leaf.number != first.number:
                continue
            if all(leaf.round.get(s) == x.round.get(s, var(s)) for s in self.rounds(self.root(v))):
                env[self.root(v)] = var(v)
        env = {**{v: var(f"{v}{GONE}") for v in (*self.made, *(high for _, high, _ in old.pieces)) if v not in env}, **env}
        self.said_by_another(x, old, env)
        return {**env, **{v: var(name) for name, v in x.lanes}}

    def said_by_another(self, x: Leaf, old: Leaf, env: dict[str, Poly]) -> None:
        """Names that the statement reads no more, because another one in sight says the same of what nothing changes here."""
        gone = [w for w in sorted(read((old.stmt,))[0]) if w in self.made and env[w] == var(f"{w}{GONE}")]
        if not gone:
            return
        others = [(v, leaf.stmt) for v in sorted(read((x.stmt,))[0]) if (leaf := x.scope.get(v)) is not None and leaf.stmt[0] == "let" and self.root(v) in self.made]
        for w in gone:
            first = self.made[w].stmt
            found = [v for v, s in others if first[0] == "let" and s[2] == first[2] and v not in self.moving and self.meant(w, env) == s[3]]
            if found:
                env[w] = var(found[0])

    # -- what it computes

    def text(self, x: Leaf) -> None:
        if x.stmt[0] == "acc" or id(x) in self.carried:
            return
        env, old = self.env(x), self.old[x.number].stmt
        new = as_was(old, x.stmt if old[0] in LEAVES else self.by_their_roots(x.stmt), self.kinds)
        self.scoped(x, new, env)
        if old[0] not in LEAVES:
            made = put_whole(old, env)
            if made is None or canonical((made,), variables=False) != canonical((new,), variables=False):
                raise No("another statement")
            return
        if old[0] == new[0] == "check":
            new = self.with_certain(put(("truth", old[1]), env)[1], new, x)
        heads, tails = texts(old), texts(new)
        target = old[1] if old[0] not in ("let", "declare", "check") else None
        if old[0] in ("assign", "add"):
            p = env.get(old[1])
            target = old[1] if p is None else p[0][0][0]
        if old[0] in ("let", "declare"):
            target = new[1]
            if self.root(new[1]) != old[1]:
                raise No("another name")
        if heads[0] != tails[0] or (target is not None and target != new[1]) or len(heads[1]) != len(tails[1]):
            raise No("another statement")
        for a, b in zip(heads[1], tails[1], strict=True):
            a = put(a, env)
            if a != b:
                a = self.unfolded(a, env)
            if a != b and not self.alike(a, b, x) and not self.never(x):
                raise No("another value")

    def by_their_roots(self, s: Stmt) -> Stmt:
        """A statement that is not looked into, with names that are made inside of it as those that they are copies of: it knows no others of these names."""
        made = [v for t in walk((s,)) for v in ([t[1]] if t[0] in ("let", "declare") else [a[0] for a in t[5]] if t[0] == "accumulate" else [])]
        known = read((s,))[0] | changed((s,))[0] | set(made)
        named = {v: self.roots[v] for v in made if v in self.roots and self.roots[v] not in known}
        if not named or len(set(named.values())) != len(named) or any(self.kinds[v] != self.kinds[root] for v, root in named.items()):
            return s
        one, *more = nodes((s,), iter(lambda: None, 0))
        new = whole(renamed(one, named))
        left = read((new,))[0] | changed((new,))[0] | {t[1] for t in walk((new,)) if t[0] in ("let", "declare")}  # where a statement keeps a name, it is another one
        return s if more or left & set(named) else new

    def unfolded(self, e: Any, env: Mapping[str, Poly]) -> Any:
        """With what names stand for that are made no more: of values that nothing changes here."""
        gone = {v: x for v in sorted(names(e)) if v.endswith(GONE) and (x := self.meant(v.removesuffix(GONE), env)) is not None}
        if not gone:
            return e
        numbers = {v: found[0][1] for v, x in gone.items() if (found := cases(self.literal(x), self.moving)) is not None and len(found) == 1 and not found[0][0]}
        return mapped(e, lambda p: subst(p, numbers), lambda x: gone.get(x[1]) if x[0] == "use" else None)

    def meant(self, v: str, env: Mapping[str, Poly]) -> Any:
        first = self.made.get(v)
        if first is None or first.stmt[0] != "let" or names(first.stmt[3]) & self.vars or any(x[1] in self.arrays for x in loads(first.stmt[3])):
            return None
        return self.unfolded(put(first.stmt[3], env), env)

    def with_certain(self, tests: Any, new: Stmt, x: Leaf) -> Stmt:
        """A check with the tests back that it had before and that cannot fail here."""
        kept = tuple(t for t in tests if t in new[1] or not all(self.holds(c, x) for c in conditions((t,), self.moving)))
        return ("check", tests, *new[2:]) if kept == new[1] else new

    def scoped(self, x: Leaf, new: Stmt, env: dict[str, Poly]) -> None:
        """Every variable that the region makes is read where it is known, in the round it is read for."""
        mine = {p[0][0][0] for p in env.values() if len(p) == 1 and len(p[0][0]) == 1}
        written = {new[1]} if new[0] in ("assign", "add") else set()
        for v in read((new,))[0] | written:
            root = self.root(v)
            if root in self.made and v not in mine and v not in x.syms:
                raise No(f"{v} of another round")
            if root not in self.made and root != v:
                raise No(f"{v} is a copy of something else")

    def there(self, peek: Leaf) -> None:
        """An element that is read for others is read by one of them, in the first round of the loops between."""
        made: list[list[Cond]] = []
        for x in self.new:
            if x.place[: len(peek.place) - 1] != peek.place[:-1] or x.stmt[0] not in LEAVES:
                continue
            first = {s: add(var(s), mul(const(-1), c[1])) for s in x.syms if s not in peek.syms for c in x.conds if c[0] == "ge" and coefficient(c[1], s) == 1}
            if not any(e[1:] == peek.stmt[1:] for p in parts(x.stmt) for e in loads(p)):
                continue
            early = replace(peek, number=x.number, round={s: subst(p, first) for s, p in x.round.items()})
            for c in self.new:
                if any(where == CHECK and writes for where, _, writes in self.cells(c)):
                    self.ordered(c, early, [((), ())], False)  # what guards the element still comes before it is read
            for e in parts(x.stmt):
                made += [[*(moved(c, first) for c in (*x.conds, *tests)), *(("or", [[moved(c, first) for c in case] for case in g]) for g in x.groups)] for tests in reads_under(e, peek.stmt[1:], self.moving)]
        if not self.covered([*peek.conds, *peek.facts], made, [*peek.groups, *peek.known]):
            raise No("an element is read that may not be there")

    # -- which instances

    def inside(self, x: Leaf) -> None:
        old = self.old[x.number]
        env = self.env(x)
        for c in old.conds:
            c = moved(c, env)
            if c in x.conds:
                continue
            for n in negations(c):
                self.no("inside", [*x.conds, *x.facts, n], [*x.groups, *x.known])
        for g in old.groups:
            self.no("inside", [*x.conds, *x.facts], [*x.groups, *x.known, *none_of([[moved(c, env) for c in case] for case in g])])

    def adds_something(self, old: Leaf) -> list[Cond]:
        """When an addition has to be made: `s += e if t else 0` does nothing to a sum that begins with 0 where t fails (such a sum is never -0)."""
        s = old.stmt
        first = self.made.get(s[1]) if s[0] == "add" else None
        if first is None or first.stmt[0] != "acc" or any(x.stmt[0] not in ("add", "acc") and s[1] in changed((x.stmt,))[0] for x in self.old.values()):
            return []  # assigned on the way, it may be -0
        if s[3][0] != "choose" or s[3][3][0] != "const" or not is_neutral(s[3][3][1], s[2], s[3][3][2]):
            return []
        return conditions(s[3][1], self.moving)

    def made_or_needless(self, old: Leaf, copies: list[Leaf]) -> None:
        """A check is made wherever it would fail. It may be made twice. One that looks at nothing but
        sizes and indices of some loops fails in every round of the others, or in none: made in a round that is not later, it stands for all, where all that comes after
        any of them comes after it (also what independent rounds do)."""
        tests = ("truth", old.stmt[1])
        looks = names(tests)
        steady = looks.isdisjoint(old.scope) and not looks & self.vars and not list(loads(tests))
        same = [s for s in old.syms if s not in looks] if steady else []
        for c in conditions(old.stmt[1], self.moving):
            for n in negations(c):
                if not copies:
                    self.no("a check that may fail is gone", [*old.conds, *old.facts, n], [*old.groups, *old.known])
                elif not same or not self.made_everywhere(old, copies, n):
                    self.all(old, copies, [n], same)
                    self.early.setdefault(old.number, set()).update(same)

    def made_everywhere(self, old: Leaf, copies: list[Leaf], n: Cond) -> bool:
        try:
            self.all(old, copies, [n])
        except No:
            return False
        return True

    def other(self, x: Leaf) -> Other:
        """The same place in another round: all that is known of names made here is known of others."""
        kept = self._others.get(id(x))
        if kept is None or kept[0] is not x:
            env = {s: var(f"{s}%") for s in (*x.syms, *x.scope)}
            conds = [moved(c, env) for c in (*x.conds, *x.facts)]
            groups = [[[moved(c, env) for c in case] for case in g] for g in (*x.groups, *x.known)]
            kept = self._others[id(x)] = x, (conds, groups, {s: subst(p, env) for s, p in x.round.items()}, env)
        return kept[1]

    def settled(self, conds: Sequence[Cond]) -> list[Cond]:
        """Without what is said of values that change: two instances see them at different times."""
        return [c for c in conds if c[0] != "op" or not self.changes(c[1])]

    def changes(self, key: Any) -> bool:
        if len(key) == 2 and key[0] in ("ge", "eq", "ne"):
            return True
        return bool(names(key) & self.vars) or any(x[1] in self.arrays for x in loads(key))

    def once(self, old: Leaf, copies: list[Leaf]) -> None:
        for i, a in enumerate(copies):
            mine = [*a.conds, *a.facts]
            for b in copies[i:]:
                conds, groups, round_, env = self.other(b)
                same = [("eq", sub(a.round[s], round_[s])) for s in old.syms]
                both, choice = self.settled([*mine, *conds, *same]), [*map(self.settled_group, (*a.groups, *a.known, *groups)), *pieces(a, b, env)]
                if a is not b:
                    self.no("once", both, choice)
                else:
                    for s in a.syms:
                        self.no("once", [*both, ("ge", sub(sub(env[s], var(s)), ONE))], choice)

    def settled_group(self, g: Group) -> Group:
        return [self.settled(case) for case in g]

    def all(self, old: Leaf, copies: list[Leaf], given: Sequence[Cond] = (), but: Collection[str] = ()) -> None:
        """Every instance is made, where `given` holds; of the loops `but` in a round that is not later."""
        made: list[list[Cond]] = []
        known: list[Group] = []
        for k, x in enumerate(copies):
            ranges: list[Cond] = []
            g = guess(x, old)
            if g is not None and x.pieces:
                g = guess(x, old, self.in_a_piece(x, old, g, str(k), known, ranges))
            if g is None:
                raise No("no inverse")
            g |= {v: var(f"{v}%{k}") for v in counted(x)}  # each copy counts in its own rounds
            for v, leaf in x.scope.items():
                first = self.made.get(self.root(v))
                if leaf is not None and first is not None and leaf.number == first.number and all(leaf.round.get(s) == x.round.get(s) for s in self.rounds(self.root(v))):
                    g.setdefault(v, var(self.root(v)))
            for v, leaf in x.scope.items():
                if leaf is not None:
                    g.setdefault(v, var(f"{v}%{k}"))  # of another round, or of another name
            copied = [v for v, leaf in x.scope.items() if leaf is not None]  # what is said of copies is so only where they are made
            known += [[[moved(c, g) for c in case] for case in grp] for grp in x.known if not any(coefficient(case[-1][1], v) != 0 for case in grp for v in copied if case and case[-1][0] == "eq")]
            made.append(
                [
                    *(("or", [[moved(c, g) for c in case] for case in grp]) for grp in x.groups),
                    *ranges,
                    *(moved(c, g) for c in x.conds),
                    *(("ge" if s in but else "eq", sub(var(s), subst(x.round[s], g))) for s in old.syms if subst(x.round[s], g) != var(s)),
                ]
            )
        unique = [g for k, g in enumerate(known) if g not in known[:k]]
        if not self.covered([*old.conds, *old.facts, *given], made, [*old.groups, *old.known, *unique]):
            raise No("all")

    def in_a_piece(self, x: Leaf, old: Leaf, g: Mapping[str, Poly], k: str, known: list[Group], ranges: list[Cond]) -> dict[str, Poly]:
        """Where pieces begin and end: as before, where the range was in pieces; else of all pieces the one that has the element which a witness says, in the range."""
        found: dict[str, Poly] = {}
        for low, high, extent in x.pieces:
            as_before = [(a, b) for a, b, all_ in old.pieces if x.round.get(a) == var(low) and subst(extent, dict(g)) == all_]
            if as_before:
                found |= {low: var(as_before[0][0]), high: var(as_before[0][1])}
                continue
            found |= {low: var(f"{low}%{k}"), high: var(f"{high}%{k}")}
            at, begin, end, long = g[low], found[low], found[high], subst(extent, {**g, **found})
            outside: Group = [[("ge", sub(const(-1), at))], [("ge", sub(at, long))]]
            known.append([*outside, [("ge", sub(at, begin)), ("ge", sub(sub(end, at), ONE)), ("ge", begin), ("ge", sub(long, end))]])
            ranges += [("ge", at), ("ge", sub(sub(long, at), ONE))]
        return found

    # -- order

    def order(self) -> None:
        touched: list[tuple[Leaf, dict[Any, list[tuple[Any, bool]]]]] = []
        for x in self.new:
            places: dict[Any, list[tuple[Any, bool]]] = {}
            for where, index, writes in self.cells(x):
                places.setdefault(where, []).append((index, writes))
            touched.append((x, places))
        for a, mine in touched:
            for b, theirs in touched:
                meet = [(p, q) for where in mine if where in theirs for p, w in mine[where] for q, v in theirs[where] if w or (v and where != CHECK)]
                if meet:
                    self.ordered(a, b, meet, self.free(a, b))

    def ordered(self, a: Leaf, b: Leaf, meet: list[tuple[Any, Any]], free: bool) -> None:
        """Instances of two leaves that touch one cell are in the order they were in; `free`: in any, but one after the other."""
        was = [([], None)] if free else list(before(self.old[a.number].place, (self.old.get(b.number) or self.asks[b.number]).place, self.early.get(a.number, frozenset())))
        if not was:
            return
        conds, groups, round_, env = self.other(b)
        now = list(apart(a.place, b.place, env) if free else not_before(a.place, b.place, env, self.added(a, b)))
        if not now:
            return
        groups = [*map(self.settled_group, (*a.groups, *a.known, *groups)), *pieces(a, b, env)]
        for p, q in dict.fromkeys(meet):
            cells = [] if p is None or q is None else equal_all(p, tuple(subst(v, env) for v in q))
            if any(c[1] and value(c[1]) is not None for c in cells):
                continue  # elements by number, and not the same
            base = self.settled([*a.conds, *a.facts, *conds, *cells])
            self.count()
            if cannot(base):
                continue
            for same, less in was:
                earlier = [("eq", sub(a.round[s], round_[s])) for s in same]
                if less is not None:
                    earlier.append(("ge", sub(sub(round_[less], a.round[less]), ONE)))
                for later in now:
                    self.no("order", [*base, *earlier, *later], groups)

    def added(self, a: Leaf, b: Leaf) -> bool:
        """Additions to one sum without an order."""
        return bool(a.stmt[0] == b.stmt[0] == "add" and self.root(a.stmt[1]) == self.root(b.stmt[1]) and self.root(a.stmt[1]) in self.inexact)

    def free(self, a: Leaf, b: Leaf) -> bool:
        """Additions into one sum, where the rewrite and the program may regroup sums: into a variable whose sum is not exact, or into memory."""
        if not self.licensed:
            return False
        if a.stmt[0] in ("add", "assign") and b.stmt[0] in ("add", "assign") and self.root(a.stmt[1]) == self.root(b.stmt[1]):
            return self.root(a.stmt[1]) in self.inexact and self.old[a.number].stmt[0] == self.old[b.number].stmt[0] == "add"
        return bool(a.stmt[0] == b.stmt[0] == "update" and a.stmt[1] == b.stmt[1] and a.stmt[3] == b.stmt[3] in ("add", "mul", "min", "max", "and", "or"))

def counted(x: Leaf) -> set[str]:
    """Integers that a rewrite counts by and that depend on the round."""
    own = {v for v, leaf in x.scope.items() if leaf is None} - {high for _, high, _ in x.pieces}
    found: set[str] = set()
    while True:
        more = {v for grp in x.known for used in [{v for case in grp for c in case if c[0] != "op" for v in names(c[1])}] if used & {*x.syms, *found} for v in used & own} - found
        if not more:
            return found
        found |= more
