"""Checks that cannot fail, or tests of them that hold wherever the others do, in the program before the rewrite that leaves them out: a walk over the statements that knows what variables are at every place.

    j = i;  forever:  break unless j - 1 >= 0 ...;  check 0 <= j < n;  ...;  j := j - 1                 where 0 <= i < n

Every integer has a value in terms of unknowns that never change: an assignment gives its variable another value, where branches meet it is one of two, at the head of a loop it is a new unknown.
Of these is known what tests, checks and ranges say. What holds in every round is guessed from the checks inside that are left out: a guess is kept where it holds before the loop and a round
that begins with all guesses ends with it (inductive; those that fail are dropped until none does). Machine integers wrap around: arithmetic is a polynomial where it is seen to stay in
64 bits, else it is a new unknown. A truth is known by what holds where it is true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from atoll.check.rewrites.language import changed, names, put, walk
from atoll.check.rewrites.leaves import Node, cases, whole
from atoll.check.rewrites.refute import Cond, Group, cannot, negations
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.storage import every
from atoll.check.sums import Poly, Quotient, add, const, div, free, mod, sub, subst, value, var

GUESSES, ROUNDS, QUESTIONS, NEAR = 12, 8, 4_000, 40
HALF = 1 << 63
Tests = tuple[Any, ...]
Truth = tuple[Cond, ...] | None  # what holds where it is true; None: it never is


def without_needless(before: tuple[Node, ...], after: tuple[Node, ...], known: Sequence[Cond], kinds: Kinds) -> tuple[Node, ...]:
    """The program before, without tests that the program after leaves out and that cannot fail. `known`: what is known of sizes."""
    left: dict[Any, list[Tests]] = {}
    for n in every(after):
        if n.origin is not None:
            left.setdefault(n.origin[0], []).append(n.stmt[1] if n.stmt[0] == "check" else ())
    gone: dict[int, Tests] = {}
    for n in every(before):
        if n.stmt[0] == "check" and n.origin is not None:
            copies = left.get(n.origin[0], [])
            dropped = tuple(t for t in n.stmt[1] if not any(t in tests for tests in copies))
            if dropped and len(set(copies)) <= 1 and all(t in n.stmt[1] for tests in copies for t in tests):
                gone[id(n)] = dropped
    if not gone:
        return before
    seen = _Walk(kinds, gone)
    seen.block(before, State({}, {}, tuple(known), ()))
    needless = {k: found for k, tests in gone.items() if (found := tuple(t for t in tests if (k, t) not in seen.may_fail))}
    return _without(before, needless) if needless else before


def _without(body: tuple[Node, ...], needless: Mapping[int, Tests]) -> tuple[Node, ...]:
    out = []
    for n in body:
        stmt = n.stmt
        if id(n) in needless:
            kept = tuple(t for t in stmt[1] if t not in needless[id(n)])
            if not kept:
                continue
            stmt = ("check", kept, *stmt[2:])
        out.append(replace(n, stmt=stmt, bodies=tuple(_without(b, needless) for b in n.bodies)))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class State:
    """What variables are here, and what is known of the unknowns they are made of."""

    values: Mapping[str, Poly]
    truths: Mapping[str, Truth]
    known: tuple[Cond, ...]
    groups: tuple[Group, ...]

    def but(self, *more: Cond) -> State:
        return replace(self, known=(*self.known, *(c for c in more if c not in self.known)))

    def with_value(self, v: str, p: Poly) -> State:
        return replace(self, values={**self.values, v: p})

    def with_truth(self, v: str, truth: Truth) -> State:
        return replace(self, truths={**self.truths, v: truth})


@dataclass
class _Walk:
    kinds: Kinds
    gone: Mapping[int, Tests]  # of checks: tests that are left out
    may_fail: set[tuple[int, Any]] = field(default_factory=set)  # of these: not seen to hold
    exits: list[State] = field(default_factory=list)  # where the innermost loop without an end is left
    count: int = 0
    asked: int = 0
    trial: int = 0  # a round that is tried: what fails in it is not noted

    # -- statements

    def block(self, body: tuple[Node, ...], state: State) -> State:
        for n in body:
            state = self.stmt(n, state)
        return state

    def stmt(self, n: Node, state: State) -> State:
        s = n.stmt
        match s[0]:
            case "let" | "declare":
                return self.forgotten(state, {s[1]}) if s[3] is None else self.given(s[1], s[2], s[3], state)
            case "assign":
                return self.given(s[1], self.type(s[1]), s[2], state)
            case "check":
                if id(n) in self.gone and not self.trial:
                    self.left_out(n, state)
                return state.but(*self.conditions(s[1], state)[0])
            case "if":
                return self.branches(n, state)
            case "break":
                on, open_ = self.conditions(s[1], state)
                self.exits.append(state.but(*(negations(on[0])[:1] if len(on) == 1 and not open_ and on[0][0] == "ge" else ())))
                return state.but(*on)
            case "for" | "accumulate":
                low, high = (subst(p, dict(state.values)) for p in s[2:4])
                rounds: tuple[Cond, ...] = (("ge", sub(var(s[1]), low)), ("ge", sub(sub(high, var(s[1])), const(1))))
                return self.loop(n, state, rounds, [v for v, _, _ in s[5]] if s[0] == "accumulate" else [])
            case "chunks" if not s[6]:
                first, last = var(s[1]), var(s[2])
                return self.loop(n, state, (("ge", first), ("ge", sub(subst(s[3], dict(state.values)), last)), ("ge", sub(sub(last, first), const(1)))), [v for v, _, _ in s[5]])
            case "forever":
                return self.forever(n, state)
        state = self.forgotten(state, changed((whole(n),))[0])  # of statements that are not looked into nothing is known, nor of what they change
        for b in n.bodies:
            self.block(b, state)
        return state

    def left_out(self, n: Node, state: State) -> None:
        """The tests that are left out hold where those that are kept do: where one of these fails, the check fails with it and without."""
        dropped = self.gone[id(n)]
        here = state.but(*self.conditions(tuple(t for t in n.stmt[1] if t not in dropped), state)[0])
        for t in dropped:
            wanted, open_ = self.conditions((t,), state)
            if open_ or not all(self.holds(c, here) for c in wanted):
                self.may_fail.add((id(n), t))

    def branches(self, n: Node, state: State) -> State:
        on, open_ = self.conditions(n.stmt[1], state)
        off = negations(on[0]) if len(on) == 1 and not open_ else []
        one = self.block(n.bodies[0], state.but(*on))
        two = self.block(n.bodies[1], state.but(*off) if len(off) == 1 else state)
        return self.joined(state, one, two)

    def joined(self, state: State, one: State, two: State) -> State:
        """After one of two ways."""
        more, others = (tuple(c for c in x.known if c not in state.known) for x in (one, two))
        found = replace(state, groups=_united(one.groups, two.groups))
        mine: list[Cond] = []
        theirs: list[Cond] = []
        for v in dict.fromkeys((*one.values, *two.values)):
            p, q = one.values.get(v, var(v)), two.values.get(v, var(v))
            if p == q:
                found = found.with_value(v, p)
            else:
                new = self.new(v)
                found = found.with_value(v, new)
                mine.append(("eq", sub(new, p)))
                theirs.append(("eq", sub(new, q)))
        if mine:
            found = replace(found, groups=(*found.groups, [[*more, *mine], [*others, *theirs]]))
        for v in dict.fromkeys((*one.truths, *two.truths)):
            a, b = one.truths.get(v, ()), two.truths.get(v, ())
            here = None if a is None else (*more, *a)
            there = None if b is None else (*others, *b)
            if here is None or there is None:
                found = found.with_truth(v, there if here is None else here)
            else:
                found = found.with_truth(v, tuple(c for c in here if c in there))
        return found.but(*(c for c in more if c in others))

    # -- loops

    def loop(self, n: Node, state: State, around: tuple[Cond, ...], sums: list[str]) -> State:
        """Rounds that end by themselves: behind them what holds at the head of every round."""
        inside = changed(tuple(map(whole, n.bodies[0])))[0] | set(sums)
        outer, self.exits = self.exits, []
        head = self.head(n, state, inside, around)
        self.block(n.bodies[0], head.but(*around))
        left, self.exits = self.exits, [*outer, *self.exits]
        return head if not left else self.forgotten(state, inside)

    def forever(self, n: Node, state: State) -> State:
        inside = changed((whole(n),))[0]
        outer, self.exits = self.exits, []
        head = self.head(n, state, inside, ())
        self.exits = []
        self.block(n.bodies[0], head)
        left, self.exits = self.exits, outer
        top = [x.stmt[0] for x in n.bodies[0]].count("break")
        return left[0] if len(left) == top == 1 else self.forgotten(state, inside)

    def head(self, n: Node, state: State, inside: set[str], around: tuple[Cond, ...]) -> State:
        """A round begins: new unknowns for what rounds change, and what holds of them in every round."""
        head = self.forgotten(state, inside)
        guesses = [p for p in self.guesses(n, inside) if self.holds(("ge", subst(p, dict(state.values))), state)]
        self.trial += 1
        for _ in range(ROUNDS):
            begun = head.but(*(("ge", subst(p, dict(head.values))) for p in guesses))
            ended = self.block(n.bodies[0], begun.but(*around)) if guesses else begun
            kept = [p for p in guesses if self.holds(("ge", subst(p, dict(ended.values))), ended)]
            if kept == guesses:
                break
            guesses = kept
        else:
            guesses = []
        self.trial -= 1
        return head.but(*(("ge", subst(p, dict(head.values))) for p in guesses))

    def guesses(self, n: Node, inside: set[str]) -> list[Poly]:
        """What the checks inside that are left out ask of what rounds change."""
        if self.trial > 2:
            return []
        stmts = tuple(map(whole, n.bodies[0]))
        own = {x[1] for x in walk(stmts) if x[0] in ("let", "declare", "for", "accumulate", "chunks")} | {x[2] for x in walk(stmts) if x[0] == "chunks"}
        own |= {n.stmt[1]} if n.stmt[0] != "forever" else set()
        asked = [p for x in every(n.bodies[0]) for kind, p, _ in self.gone.get(id(x), ()) if kind == "ge"]
        return list(dict.fromkeys(p for p in asked if names(p) & inside and not names(p) & own))[:GUESSES]

    def forgotten(self, state: State, gone: set[str]) -> State:
        values = {v: p for v, p in state.values.items() if v not in gone}
        values |= {v: self.new(v) for v in sorted(gone)}
        return replace(state, values=values, truths={v: t for v, t in state.truths.items() if v not in gone})

    # -- values

    def type(self, v: str) -> str:
        return self.kinds[v][1] if v in self.kinds else "?"  # a name of the checker's own

    def new(self, v: str) -> Poly:
        self.count += 1
        return var(f"{v}%{self.count}")

    def given(self, v: str, d: str, e: Any, state: State) -> State:
        if d == "bool":
            return state.with_truth(v, self.truth(e, state))
        if d[0] not in "iu":
            return state
        found = cases(_divided(put(e, dict(state.values))), frozenset()) if d == "i64" else None
        if found is not None and all(self.fits(p, state.but(*(c for c in conds if c[0] != "op"))) for conds, p in found):
            if len(found) == 1:
                return state.with_value(v, found[0][1])
            new = self.new(v)
            some: Group = [[*(c for c in conds if c[0] != "op"), ("eq", sub(new, p))] for conds, p in found]
            return replace(state, groups=(*state.groups, some)).with_value(v, new)
        new = self.new(v)
        wide = self.width(e) if e[0] == "cast" else None
        bounds = () if wide is None else (("ge", sub(new, const(wide[0]))), ("ge", sub(const(wide[1]), new)))
        return state.with_value(v, new).but(*bounds)

    def width(self, e: Any) -> tuple[int, int] | None:
        """What an integer that was converted from a narrower type can be."""
        inner = e[1]
        d = self.type(inner[1]) if inner[0] in ("use", "load") else inner[2] if inner[0] in ("const", "cast") else inner[3] if inner[0] == "call" else ""
        if d == "bool":
            return 0, 1
        if e[2] != "i64" or d[:1] not in ("i", "u") or not d[1:].isdigit() or int(d[1:]) > 32:
            return None
        bits = int(d[1:])
        return (0, (1 << bits) - 1) if d[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    def fits(self, p: Poly, state: State) -> bool:
        """64 bits hold it, and what is divided in it."""
        if len(p) == 1 and p[0][1] == 1 and len(p[0][0]) == 1 and isinstance(p[0][0][0], str):
            return self.type(p[0][0][0].split("%")[0]) not in ("u64", "?")
        inside = [a for m, _ in p for a in m if isinstance(a, Quotient)]
        state = state.but(*(c for v in sorted(free(p)) for c in (("ge", add(var(v), const(HALF))), ("ge", sub(const(HALF - 1), var(v))))))
        return all((value(a.den) or 0) > 0 and self.fits(a.num, state) for a in inside) and self.holds(("ge", sub(const(HALF - 1), p)), state) and self.holds(("ge", add(p, const(HALF))), state)

    def truth(self, e: Any, state: State) -> Truth:
        """What holds where the expression is true."""
        match e:
            case ("const", "False", _):
                return None
            case ("use", v):
                return state.truths.get(v, ())
            case ("truth", tests):
                return self.all_true(tests, state)
            case ("choose", tests, then, ("const", "False", _)):
                on, inner = self.all_true(tests, state), self.truth(then, state)
                return None if on is None or inner is None else (*on, *inner)
            case ("call", "and", (a, b), "bool"):
                one, two = self.truth(a, state), self.truth(b, state)
                return None if one is None or two is None else (*one, *two)
            case ("call", ("lt" | "le" | "gt" | "ge" | "eq") as op, (a, b), _) if all(self.type(x)[0] in "iu" for x in names(e)):  # others have no value here
                p, q = (cases(put(x, dict(state.values)), frozenset()) for x in (a, b))
                if p is None or q is None or len(p) != 1 or len(q) != 1 or p[0][0] or q[0][0] or not (self.fits(p[0][1], state) and self.fits(q[0][1], state)):
                    return ()
                less = sub(q[0][1], p[0][1])
                more = sub(p[0][1], q[0][1])
                found = {"lt": ("ge", sub(less, const(1))), "le": ("ge", less), "gt": ("ge", sub(more, const(1))), "ge": ("ge", more), "eq": ("eq", less)}
                return (found[op],)
        return ()

    def all_true(self, tests: Any, state: State) -> Truth:
        on, _ = self.conditions(tests, state)
        return None if any(c == ("ge", const(-1)) for c in on) else tuple(on)

    def conditions(self, tests: Any, state: State) -> tuple[list[Cond], bool]:
        """What holds where all tests do, and whether that is not all of it."""
        found: list[Cond] = []
        open_ = False
        for kind, p, e in tests:
            if p is not None:
                found.append((kind, subst(p, dict(state.values))))
                continue
            open_ = True
            if kind == "true":
                inner = self.truth(e, state)
                found += [("ge", const(-1))] if inner is None else list(inner)
        return found, open_

    # -- questions

    def holds(self, c: Cond, state: State) -> bool:
        if c in state.known:
            return True
        self.asked += 1
        if self.asked > QUESTIONS:
            return False
        return all(cannot([*_near(n, state), n], state.groups) for n in negations(c))


def _divided(e: Any) -> Any:
    """A quotient or a remainder by a number above 0, as an index."""
    if e[0] == "call" and e[1] in ("floordiv", "mod") and e[3] == "i64":
        a, k = (cases(x, frozenset()) or [] for x in e[2])
        if len(a) == len(k) == 1 and (value(k[0][1]) or 0) > 0:
            return ("index", (div if e[1] == "floordiv" else mod)(a[0][1], k[0][1]))
    return e


def _united(a: tuple[Group, ...], b: tuple[Group, ...]) -> tuple[Group, ...]:
    return (*a, *(g for g in b if g not in a))


def _near(c: Cond, state: State) -> Iterator[Cond]:
    """What is known that has to do with it."""
    mine = set(free(c[1])) | {v for g in state.groups for case in g for x in case for v in free(x[1])}
    left = [k for k in state.known if k[0] in ("ge", "eq", "ne")]
    taken: list[Cond] = []
    for _ in range(3):
        more = [k for k in left if free(k[1]) & mine]
        left = [k for k in left if k not in more]
        taken += more
        mine |= {v for k in more for v in free(k[1])}
    yield from taken[:NEAR]
    yield from (k for k in taken[NEAR:] if free(k[1]) & set(free(c[1])))
