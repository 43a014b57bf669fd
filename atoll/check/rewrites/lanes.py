"""Elements of arrays that stand for variables of rounds side by side: which variable, in which round, and that it is so (lanes_back.py says when)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from atoll.check.rewrites.lanes_back import Index, Rooms
from atoll.check.rewrites.language import LEAVES, Expr, coefficient, loads, mapped, names, parts
from atoll.check.rewrites.leaves import Leaf, No
from atoll.check.rewrites.places import guess
from atoll.check.rewrites.questions import Questions, moved
from atoll.check.rewrites.refute import Cond, Group
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.storage import is_neutral
from atoll.check.rewrites.texts import OPERATORS
from atoll.check.sums import Poly, add, const, mul, sub, subst, var

BEGINS = ("declare", "acc", "let")


@dataclass
class Family:
    """What an array stands for: a variable, in the round that its index tells (%0, %1, ..., and the indices around its life)."""

    v: str
    round: dict[str, Poly]
    name: str


class Lanes(Questions):
    kinds: Kinds
    own: Rooms
    rooms_at: dict[str, Leaf]
    new: list[Leaf]
    old: dict[Any, Leaf]
    made: dict[str, Leaf]
    inexact: set[str]
    licensed: bool
    touched: list[Leaf]
    looks: list[Leaf]

    def root(self, v: str) -> str:
        raise NotImplementedError

    def equal(self, p: Poly, q: Poly, x: Leaf) -> bool:
        raise NotImplementedError

    def of_lanes(self) -> None:
        """Statements on elements as statements on the variables they stand for."""
        self.carried: set[int] = set()
        for x in self.touched:
            self.added_to(x)
        for x in self.looks:
            self.there_is(x, x.stmt[1], x.stmt[2])
        if not self.own.extents:
            return
        families: dict[str, Family] = {}
        for x in self.new:
            if x.stmt[0] in ("store", "update") and x.stmt[1] in self.own.extents and x.stmt[1] not in families:
                found = self.family(x)
                if found is not None:
                    families[x.stmt[1]] = found
        for t, f in families.items():
            self.apart_always(t, f)
            if t in self.own.regrouped and f.v not in self.inexact and self.kinds[t][1][0] in "fc" and not self.licensed:
                raise No("a sum in order, made in parts")
        changed = [x for x in self.new if self.stands_for(x, families)]
        for x in changed:
            for name, v in x.lanes:
                if not (x.stmt[0] in BEGINS and x.stmt[1] == name):
                    self.begun(x, name, v, [y for y in changed if y.stmt[0] in BEGINS and y.stmt[1] == name])

    def family(self, x: Leaf) -> Family | None:
        """What a statement that stores an element says it is."""
        t, index = x.stmt[1], x.stmt[2]
        told = self.told(x)
        if told is None:
            return None
        v, round_ = told
        room = self.rooms_at.get(t)
        if room is None or v not in self.made or self.kinds[t][1] != self.typed(v):
            return None
        env: dict[str, Poly] = {}
        for k, f in enumerate(index):
            mine = [y for y in sorted(names(f)) if y in x.syms and y not in room.syms and y not in env and coefficient(f, y) in (1, -1)]
            if mine:
                c = coefficient(f, mine[0]) or 1
                env[mine[0]] = mul(const(c), sub(var(f"%{k}"), subst(f, {mine[0]: ()})))
        rounds = {s: subst(round_.get(s, var(s)), env) for s in self.made[v].syms}
        inside = set(x.syms) - set(room.syms)
        if any(names(p) & inside for p in rounds.values()):
            return None
        name = f"{v}%{t}"
        self.kinds[name] = ("a variable", self.kinds[t][1], None)
        return Family(v, rounds, name)

    def typed(self, v: str) -> str:
        s = self.made[v].stmt
        return str(s[3] if s[0] == "acc" else s[2])

    def told(self, x: Leaf) -> tuple[str, Mapping[str, Poly]] | None:
        if x.number is None:
            kept = self.kept(x)
            return None if kept is None else (self.root(x.stmt[3][1]), kept.round)
        old = self.old.get(x.number)
        return (old.stmt[1], x.round) if old is not None and old.stmt[0] in ("declare", "assign", "add", "let") else None

    def kept(self, x: Leaf) -> Leaf | None:
        """A name that is made in this round and stored for later."""
        if x.stmt[0] != "store" or x.stmt[3][0] != "use":
            return None
        w = x.stmt[3][1]
        leaf, first = x.scope.get(w), self.made.get(self.root(w))
        return leaf if leaf is not None and first is not None and first.stmt[0] == "let" and leaf.number == first.number and leaf.stmt[0] == "let" else None

    def apart_always(self, t: str, f: Family) -> None:
        """Different elements, of all lives of the array, stand for different rounds."""
        room = self.rooms_at[t]
        numbers = [f"%{k}" for k in range(len(self.own.extents[t]))]
        env = {s: var(f"{s}%") for s in (*room.syms, *room.scope, *numbers)}
        conds: list[Cond] = [*room.conds, *room.facts]
        for n, extent in zip(numbers, self.own.extents[t], strict=True):
            conds += [("ge", var(n)), ("ge", sub(sub(extent, var(n)), const(1)))]
        both = [*conds, *(moved(c, env) for c in conds), *(("eq", sub(p, subst(p, env))) for p in f.round.values())]
        groups = [*room.groups, *room.known]
        others = [[[moved(c, env) for c in case] for case in g] for g in groups]
        for s in (*room.syms, *numbers):
            self.no("storage", [*both, ("ge", sub(sub(env[s], var(s)), const(1)))], [*groups, *others])

    def stands_for(self, x: Leaf, families: Mapping[str, Family]) -> bool:
        """The statement on variables; whether it was on elements."""
        s = x.stmt
        asked: dict[str, set[Index]] = {}
        for p in parts(s) if s[0] != "acc" else ():
            for e in loads(p):
                if e[1] in self.own.extents:
                    asked.setdefault(e[1], set()).add(e[2])
        if s[0] in ("store", "update") and s[1] in self.own.extents:
            asked.setdefault(s[1], set()).add(s[2])
        if not asked:
            return False
        if s[0] not in LEAVES or not set(asked) <= set(families):
            raise No("an array that stands for nothing")
        if x.number is None:
            self.begins(x, families[s[1]])
        else:
            x.round = {i: x.round.get(i, var(i)) for i in self.old[x.number].syms}
        for t, places in asked.items():
            for index in places:
                self.there_is(x, t, index)
                for i, p in self.round_of(families[t], index).items():
                    if i not in x.round or not self.equal(p, x.round[i], x):
                        raise No(f"{families[t].v} of another round")
        self.renamed(x, families)
        x.lanes = tuple(sorted((families[t].name, families[t].v) for t in asked))
        return True

    def there_is(self, x: Leaf, t: str, index: Index) -> None:
        """The element is inside of its array."""
        for f, extent in zip(index, self.own.extents[t], strict=True):
            for p in (f, sub(sub(extent, f), const(1))):
                self.no("storage", [*x.conds, *x.facts, ("ge", sub(const(-1), p))], [*x.groups, *x.known])

    def added_to(self, touch: Leaf) -> None:
        """Every element that parts are added to is one that some round adds to, in the same list: nothing else is touched."""
        _, b, to, j, start, extent = touch.stmt
        made: list[list[Cond]] = []
        known: list[Group] = []
        for x in self.new:
            if x.stmt[0] != "update" or x.stmt[1] != b or x.place[: len(touch.place) - 1] != touch.place[:-1] or x.place[len(touch.place) - 1][0] != touch.place[-1][0]:
                continue
            env: dict[str, Poly] = {}
            for mine, theirs in zip(x.stmt[2], to, strict=True):
                inside = [y for y in x.syms if y not in touch.syms and y not in env and coefficient(mine, y) in (1, -1)]
                if inside:
                    y = inside[-1]
                    env[y] = mul(const(coefficient(mine, y) or 1), sub(theirs, subst(mine, {y: ()})))
            for y in x.syms:  # of the other loops the first round
                low = [sub(var(y), c[1]) for c in x.conds if c[0] == "ge" and coefficient(c[1], y) == 1]
                if y not in touch.syms and y not in env and low:
                    env[y] = subst(low[0], env)
            equal: list[Cond] = [("eq", sub(subst(p, env), q)) for p, q in zip(x.stmt[2], to, strict=True)]
            known += [[[moved(c, env) for c in case] for case in g] for g in x.known]
            made.append([*equal, *(moved(c, env) for c in x.conds), *(("or", [[moved(c, env) for c in case] for case in g]) for g in x.groups)])
        some: list[Cond] = [("ge", sub(var(j), start)), ("ge", sub(sub(add(extent, start), var(j)), const(1)))]
        if not self.covered([*touch.conds, *touch.facts, *some], made, [*touch.groups, *touch.known, *known]):
            raise No("parts are added to more than rounds add to")

    def round_of(self, f: Family, index: Index) -> dict[str, Poly]:
        env = {f"%{k}": p for k, p in enumerate(index)}
        return {s: subst(p, env) for s, p in f.round.items()}

    def begins(self, x: Leaf, f: Family) -> None:
        """An element that is stored by nobody before: where a sum begins, or a name is kept."""
        first = self.made[f.v]
        x.number, x.round = first.number, self.round_of(f, x.stmt[2])
        if first.stmt[0] == "acc" and x.stmt[3][0] == "const" and is_neutral(x.stmt[3][1], first.stmt[2], first.stmt[3]):
            return
        leaf = self.kept(x) if self.told_name(x) == f.v else None
        if leaf is None or any(leaf.round.get(s, var(s)) != p for s, p in x.round.items()):
            raise No(f"an element that nobody stored before: {x.stmt[1]}")
        self.carried.add(id(x))

    def told_name(self, x: Leaf) -> str | None:
        return self.root(x.stmt[3][1]) if x.stmt[3][0] == "use" else None

    def renamed(self, x: Leaf, families: Mapping[str, Family]) -> None:
        def use(e: Expr) -> Expr | None:
            return ("use", families[e[1]].name) if e[0] == "load" and e[1] in families else None

        def go(e: Any) -> Any:
            return mapped(e, lambda p: p, use)

        s = x.stmt
        match s[0]:
            case "let" | "declare" | "add":
                x.stmt = (*s[:3], None if s[3] is None else go(s[3]))
            case "assign":
                x.stmt = (*s[:2], go(s[2]))
            case "check":
                x.stmt = ("check", go(("truth", s[1]))[1], s[2], tuple(map(go, s[3])))
            case "store" if s[1] not in families:
                x.stmt = (*s[:3], go(s[3]))
            case "update" if s[1] not in families:
                x.stmt = (*s[:4], go(s[4]))
            case "update":
                f, old = families[s[1]], self.old[x.number].stmt
                if old[0] != "add" or old[1] != f.v or OPERATORS.get(old[2]) != s[3]:
                    raise No("another statement")
                x.stmt = ("add", f.name, old[2], go(s[4]))
            case "store":
                f, old = families[s[1]], self.old[x.number].stmt
                if old[0] == "acc":
                    x.stmt = ("acc", f.name, old[2], old[3], True)
                elif old[0] in ("declare", "let") and old[1] == f.v:
                    x.stmt = (old[0], f.name, old[2], go(s[3]))
                elif old[0] in ("assign", "add") and old[1] == f.v:
                    x.stmt = ("assign", f.name, go(s[3]))
                else:
                    raise No("another statement")

    def begun(self, x: Leaf, name: str, v: str, first: list[Leaf]) -> None:
        """The variable begins as an element of this array wherever it is used as one."""
        made: list[list[Cond]] = []
        round_ = {s: x.round[s] for s in self.made[v].syms}
        for y in first:
            g = guess(y, self.made[v])
            if g is None:
                continue
            env = {s: subst(p, round_) for s, p in g.items()}
            elsewhere = {s for s, p in env.items() if p != var(s) and not (s in x.syms and self.equal(p, var(s), x))}  # it is another round of these loops: what is made in them is something else there
            env |= {v: var(f"{v}%begun") for v in _made_of(y, elsewhere)}
            made.append(
                [
                    *(("or", [[moved(c, env) for c in case] for case in grp]) for grp in y.groups),
                    *(moved(c, env) for c in y.conds),
                    *(("eq", sub(subst(y.round[s], env), p)) for s, p in round_.items() if subst(y.round[s], env) != p),
                ]
            )
        if not self.covered([*x.conds, *x.facts], made, [*x.groups, *x.known]):
            raise No(f"{v} may not have begun there")


def _made_of(y: Leaf, rounds: set[str]) -> set[str]:
    """Names in sight that depend on these indices."""
    found = {v for v, leaf in y.scope.items() if leaf is not None and rounds & set(leaf.syms)} | {high for low, high, _ in y.pieces if low in rounds}
    own = {v for v, leaf in y.scope.items() if leaf is None}
    while True:
        more = own & set().union(*(used for g in y.known if (used := {v for case in g for c in case if c[0] != "op" for v in names(c[1])}) & (rounds | found))) - found
        if not more:
            return found
        found |= more
