"""What is known at every statement: conditions, checks before it and the state of loops.

    p = 0
    forever:  break unless p + 1 < k and x[p] != y;  check 0 <= p < k;  p := p + 1           p >= 0 in every round, and p + 1 < k where it is read

A walk over the statements gives every integer variable a value and keeps what is known of it (values.py). A loop begins with new versions; what
holds for them in every round is guessed from the checks inside and kept if it holds before the loop and a round keeps it (inductive invariants; the
guesses that fail are dropped until none does: Houdini). Who wants to rewrite says what becomes of a check, of a loop and of other statements with statements inside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.knowledge.bounds import Bounds
from atoll.loops.knowledge.values import Fact, State, Values
from atoll.sizes import Atom, Poly, Sym, poly

Loop = lp.For | lp.Forever


@dataclass(frozen=True, slots=True)
class Rounds:
    """A loop that was walked over: what is known before it, at the end of a round, and the values its variables begin a round with."""

    loop: Loop
    before: State
    end: State
    heads: dict[lp.Var, Poly]

    def steps(self) -> dict[lp.Var, int]:
        """By how much a round changes variables."""
        found = {v: (self.end.values[v] - value).const() for v, value in self.heads.items()}
        return {v: step for v, step in found.items() if step}


@dataclass(slots=True)
class _Goal:
    """A test that was not proved, and what was learnt since the loop began."""

    goal: Poly
    since: tuple[Poly, ...]


class Walk:
    """Over the statements of a function, with what is known at each."""

    def __init__(self, fn: lp.Function) -> None:
        self.fn = fn
        self.values = Values(Bounds(fn.sizes))
        self.goals: list[_Goal] | None = None  # collected where invariants are guessed
        self.start = 0  # of what was learnt in the loop that is looked at
        self.exits: list[list[State]] = []
        self.guessed: dict[int, list[Poly]] = {}  # for every loop, in terms of its variables
        self.indices: list[Sym] = []  # of the loops around
        self.looking = 0  # loops around that are looked at and not rewritten

    def body(self) -> lp.Stmts:
        """The statements of the function, as they are rewritten."""
        state = State(known=tuple(poly(n) for n in self.fn.sizes))
        for given in self.fn.inputs:
            if isinstance(given, lp.Var):
                self.values.bind(given, None, state)
        return self.block(self.fn.body, state)

    # -- what becomes of statements

    def made_check(self, s: lp.Check, proves: Callable[[lp.Test], bool]) -> lp.Stmts:
        for t in s.tests:
            proves(t)
        return [s]

    def made_loop(self, s: Loop, rounds: Rounds) -> lp.Stmts:
        """`s`: with its new body."""
        return [s]

    def made_holder(self, s: lp.If | lp.Accumulate | lp.Chunks) -> lp.Stmts:
        return [s]

    # -- statements

    def block(self, stmts: lp.Stmts, state: State) -> lp.Stmts:
        out: list[lp.Stmt] = []
        for s in stmts:
            out += self.stmt(s, state)
        return out

    def stmt(self, s: lp.Stmt, state: State) -> lp.Stmts:
        match s:
            case lp.Let(var, value) | lp.Declare(var, value) | lp.Assign(var, value):
                self.values.bind(var, value, state)
            case lp.Check():
                return self.check(s, state)
            case lp.If(tests, then, orelse):
                first, second = state.copy(), state.copy()
                self.values.assume(self.values.all_hold(tests, first), first)
                self.values.assume(self.values.not_all(tests, second), second)
                made = lp.If(tests, self.block(then, first), self.block(orelse, second))
                self.join(first, second, state)
                return self.made_holder(made)
            case lp.BreakUnless(tests):
                left = state.copy()
                self.values.assume(self.values.not_all(tests, left), left)
                self.exits[-1].append(left)
                self.values.assume(self.values.all_hold(tests, state), state)
            case lp.For() | lp.Forever():
                return self.loop(s, state)
            case lp.Helper() if s.result is not None:
                self.values.bind(s.result, None, state)
            case lp.Accumulate() | lp.Chunks():
                self.forget(s, state)
                inside = state.copy()
                self.told(s, inside)
                around = [s.low, s.high] if isinstance(s, lp.Chunks) else [s.sym]
                self.indices += around
                made_body = self.block(s.body, inside)
                del self.indices[-len(around) :]
                for acc in s.accs:
                    self.values.bind(acc.var, None, state)
                return self.made_holder(replace(s, body=made_body))
        return [s]

    def check(self, s: lp.Check, state: State) -> lp.Stmts:
        made = self.made_check(s, lambda t: self.proves(t, state))
        for t in s.tests:
            self.values.assume(self.values.test(t, state, True), state)
        return made

    def proves(self, t: lp.Test, state: State) -> bool:
        """The test holds; one that is not seen to is a goal of those who guess."""
        found = self.values.test(t, state, True)
        if t.kind in ("ge", "ne") and t.poly is not None and self.values.holds(found[0], state):
            return True
        if self.goals is not None and t.kind == "ge":
            self.goals.append(_Goal(found[0][1], state.known[self.start :]))
        return False

    def join(self, first: State, second: State, state: State) -> None:
        """After a condition: what one of its branches left."""
        before = len(state.known)
        new = [first.known[before:], second.known[before:]]
        state.add(*(p for p in new[0] if p in new[1]))
        for var, old in list(state.values.items()):
            a, b = first.values[var], second.values[var]
            if a is not old or b is not old:
                state.values[var] = a if a == b else self.values.either((new[0], a), (new[1], b), state)
        for var in list(state.bools):
            x, y = first.bools[var], second.bools[var]
            if x is not y:
                ge: list[tuple[Fact, ...]] = [tuple(("ge", p) for p in some) for some in new]
                state.bools[var] = self.values.one_of(ge[0], x, ge[1], y)

    def told(self, s: lp.For | lp.Accumulate | lp.Chunks, state: State) -> None:
        if isinstance(s, lp.Chunks):
            state.add(poly(s.low), self.values.index(s.extent, state) - s.high, poly(s.high) - s.low)
        else:
            low, high = self.values.index(s.low, state), self.values.index(s.high, state)
            state.add(poly(s.sym) - low, high - s.sym - 1)
            self.decide(high, low, state)

    def decide(self, high: Poly, low: Poly, state: State) -> None:
        """There is a round: of the values that the end may have, those up to the beginning are none, and what one is left says is known."""
        for leaf in sorted(high.leaves() & self.values.cases.keys(), key=lambda a: a.uid):
            left = [(given, value) for given, value in self.values.cases[leaf] if not self.values.proves(low - high.subst({leaf: value}), (*state.known, *given), 0)]
            if len(left) == 1:
                given, value = left[0]
                state.add(*given, poly(leaf) - value, value - leaf)

    def forget(self, s: lp.Stmt, state: State) -> list[lp.Var]:
        """Variables that a loop assigns begin a round with values of their own."""
        changed = [v for v in dict.fromkeys(x.var for x in lp.walk([s]) if isinstance(x, (lp.Assign, lp.Add))) if v in state.values or v in state.bools]
        for var in changed:
            self.values.bind(var, None, state)
        return [v for v in changed if v in state.values]

    # -- loops

    def loop(self, s: Loop, state: State) -> lp.Stmts:
        before = state.copy()
        numbers = self.forget(s, state)
        heads = {v: state.values[v] for v in numbers}
        checks = any(isinstance(x, lp.Check) for x in lp.walk(s.body))
        kept = self.invariants(s, before, state, heads) if numbers and checks else []
        state.add(*(self.values.of(p, state) for p in kept))
        end, body = self.round(s, state.copy())
        exits = self.exits.pop()
        if isinstance(s, lp.For):
            for var in numbers:
                state.values[var] = self.values.fresh(var.dtype, state, var.name)
            state.add(*(self.values.of(p, state) for p in kept))
        elif len(exits) == 1:
            left = exits[0]
            state.known = left.known
            state.values = {v: left.values[v] for v in state.values}
            state.bools = {v: left.bools[v] for v in state.bools}
        else:
            self.forget(s, state)
            state.add(*(self.values.of(p, state) for p in kept if all(self.values.proves(self.values.of(p, left), left.known) for left in exits)))
        return [] if self.looking else self.made_loop(replace(s, body=body), Rounds(s, before, end, heads))

    def in_range(self, load: lp.Load, state: State) -> bool:
        """The element is one of its array, and what says which it is is known there."""
        if any(isinstance(a, Sym) and a not in self.values.bounds.fixed and a not in self.indices for p in load.index for a in p.leaves()):
            return False
        for p, size in zip(load.index, load.buffer.extents, strict=True):
            at, end = self.values.index(p, state), self.values.of(size, state)
            if not (self.values.proves(at, state.known) and self.values.proves(end - at - 1, state.known)):
                return False
        return True

    def far_from_overflow(self, p: Poly, state: State) -> bool:
        return self.values.bounds.within(self.values.of(p, state), state.known, -(1 << 62), 1 << 62)

    def round(self, s: Loop, inside: State) -> tuple[State, lp.Stmts]:
        """One round from a state at its beginning: the state at its end, and the body."""
        self.exits.append([])
        if isinstance(s, lp.For):
            self.told(s, inside)
            self.indices.append(s.sym)
        body = self.block(s.body, inside)
        if isinstance(s, lp.For):
            self.indices.pop()
        return inside, body

    def invariants(self, s: Loop, before: State, state: State, heads: dict[lp.Var, Poly]) -> list[Poly]:
        """What holds at the beginning of every round, over the variables of the loop."""
        self.looking += 1
        if id(s) not in self.guessed:
            self.guessed[id(s)] = self.guesses(s, state, heads)
        kept = [p for p in self.guessed[id(s)] if self.values.proves(self.values.of(p, before), before.known)]
        while kept and self.values.proofs > 0:
            inside = state.copy()
            inside.add(*(self.values.of(p, inside) for p in kept))
            goals, self.goals = self.goals, None
            end, _ = self.round(s, inside)
            self.goals = goals
            self.exits.pop()
            still = [p for p in kept if self.values.proves(self.values.of(p, end), end.known)]
            if len(still) == len(kept):
                break
            kept = still
        if self.values.proofs <= 0:
            kept = []
        self.looking -= 1
        return kept

    def guesses(self, s: Loop, state: State, heads: dict[lp.Var, Poly]) -> list[Poly]:
        """Tests that were not proved, and what is left of them when a condition around them is taken away."""
        goals, start = self.goals, self.start
        self.goals, self.start = [], len(state.known)
        self.round(s, state.copy())
        self.exits.pop()
        found, self.goals, self.start = self.goals, goals, start
        names: dict[Atom, Poly] = {}
        for var, value in state.values.items():
            if len(value.terms) == 1 and value.const() is None and len(value.leaves()) == 1 and value == poly(next(iter(value.leaves()))):
                names.setdefault(next(iter(value.leaves())), poly(var.atom))
        own = {leaf for p in heads.values() for leaf in p.leaves()}
        out: dict[Poly, None] = {}
        for goal in found:
            for p in (goal.goal, *(rest for t in goal.since for rest in _without(goal.goal, t))):
                leaves = p.leaves()
                if leaves & own and all(a in names or a in self.values.bounds.fixed or a in self.indices for a in leaves):
                    for q in (p, p + 1):
                        out[q.subst({a: names[a] for a in leaves if a in names})] = None
        ends = dict.fromkeys(Poly({m: c for m, c in goal.goal.terms.items() if m and self.values.bounds.fixed.issuperset(m)}) for goal in found)
        for var in heads if found else ():  # within what is indexed, although a check may look at something made of it
            out.update(dict.fromkeys((poly(var.atom), *(end - var.atom for end in ends if end.terms))))
        return list(out)[: profit.GUESSES]


def _without(goal: Poly, fact: Poly) -> list[Poly]:
    """The goal with a fact subtracted that has an unknown in common with it, of the same sign."""
    for atom in sorted(goal.leaves() & fact.leaves(), key=lambda a: a.uid):
        a, b = goal.terms.get((atom,), 0), fact.terms.get((atom,), 0)
        if a * b > 0 and a % b == 0:
            return [goal - fact * (a // b)]
    return []
