"""Every pass of the optimiser looked at, for one function: before and after it the loops compute the same expressions, at several small sizes.

    validate(core)            [Verdict]: one for each pass that changed the loops
    Verdict.kind              strict     every float is made by the same expression
                              regrouped  the same but for the order of sums and products (only where the program and the pass may)
                              wrong      another value, another failure, or something the loop language does not allow
                              unseen     no size ran to its end
    Verdict.ran, .new         new statements that ran, of how many: what never ran is not validated

It is bounded: sizes up to a few dozen. It covers every pass, and needs nothing from them.
"""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from atoll.core import ir as core_ir
from atoll.loops import ir as lp
from atoll.loops.choices import USUAL, Choices
from atoll.loops.optimise import Pass, optimise
from atoll.runtime.program import make_loops
from atoll.sizes import Sym
from atoll.validate.fingerprints import Outcome, outcome

ORDERS = ((3, False), (4, True))  # pieces of so many, and whether independent rounds go backwards
MANY = 14  # sizes
SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Verdict:
    name: str
    kind: str
    detail: str = ""
    ran: int = 0
    new: int = 0

    @property
    def whole(self) -> bool:
        """Right, and every new statement ran."""
        return self.kind in ("strict", "regrouped") and self.ran == self.new


def validate(core: core_ir.Function, choices: Choices = USUAL, seconds: float = SECONDS, many: int = MANY) -> list[Verdict]:
    loops = make_loops(core, choices)
    if not isinstance(loops, lp.Function):
        return []
    watch = _Watch(loops, core.reassociate, many, seconds)
    optimise(loops, core.reassociate, choices, after=watch.after)
    return watch.verdicts


class _Watch:
    """Runs the loops after every pass that changed them, while they are as the pass left them: a later one may change buffers that both mention."""

    def __init__(self, loops: lp.Function, reassociate: bool, many: int, seconds: float) -> None:
        self.reassociate, self.seconds, self.spent = reassociate, seconds, 0.0
        self.verdicts: list[Verdict] = []
        self.before = snapshot(loops)
        self.runs: dict[tuple[int, int], Outcome] = {}
        self.sizes = list(enumerate(sizes_for(loops, many)))
        self.regrouped: dict[tuple[int, int], Outcome | None] = {}
        start = time.process_time()
        for k, sizes in self.sizes:
            if time.process_time() - start > seconds / 4:
                break
            for o, (piece, backwards) in enumerate(ORDERS):
                found = outcome(self.before, sizes, k, piece, backwards, False)
                if found is not None and found[:1] != ("stuck",):
                    self.runs[k, o] = found
                    self.regrouped[k, o] = outcome(self.before, sizes, k, piece, backwards, True)
        self.spent = time.process_time() - start

    def after(self, done: Pass, loops: lp.Function, said: list[str]) -> None:
        if loops.body == self.before.body:
            return
        now = snapshot(loops)
        start = time.process_time()
        self.verdicts.append(self.verdict(done, now))
        self.spent += time.process_time() - start
        self.before = now

    def verdict(self, done: Pass, now: lp.Function) -> Verdict:
        kinds: set[str] = set()
        seen: set[int] = set()
        for k, sizes in self.sizes:
            for o, (piece, backwards) in enumerate(ORDERS):
                if (k, o) not in self.runs or self.spent > self.seconds:
                    continue
                found = outcome(now, sizes, k, piece, backwards, False, seen)
                if found is None:
                    del self.runs[k, o]
                    continue
                kind = "strict" if found == self.runs[k, o] else self.kind_of(done, now, sizes, k, o, found)
                if kind.startswith("wrong"):
                    where = ", ".join(f"{s} = {v}" for s, v in sizes.items())
                    return Verdict(done.name, "wrong", f"{kind.removeprefix('wrong: ')} at {where or 'any size'}, pieces of {piece}{', backwards' if backwards else ''}")
                kinds.add(kind)
                self.runs[k, o] = found
        new = _new_leaves(self.before.body, now.body)
        ran = sum(id(s) in seen for s in new)
        return Verdict(done.name, "regrouped" if "regrouped" in kinds else "strict" if kinds else "unseen", "", ran, len(new))

    def kind_of(self, done: Pass, now: lp.Function, sizes: dict[Sym, int], k: int, o: int, found: Outcome) -> str:
        """How it differs."""
        if found[:1] in (("stuck",), ("error",)) or self.runs[k, o][:1] == ("error",):
            return f"wrong: {' '.join(map(str, found[:2])) if found[:1] in (('stuck',), ('error',)) else 'no failure any more'}"
        if not self.reassociate:
            return "wrong: a sum in another order, which the program forbids"
        if not done.regroups:
            return "wrong: another expression"
        piece, backwards = ORDERS[o]
        return "regrouped" if outcome(now, sizes, k, piece, backwards, True) == self.regrouped[k, o] else "wrong: another expression, in any order"


def snapshot(loops: lp.Function) -> lp.Function:
    """The function as it is now: passes change statements in place."""
    return replace(loops, body=_copied(loops.body), outputs=list(loops.outputs))


def _copied(stmts: list[lp.Stmt]) -> list[lp.Stmt]:
    out = []
    for s in stmts:
        new = copy.copy(s)
        for name in ("body", "then", "orelse", "after"):
            inner = getattr(s, name, None)
            if isinstance(inner, list):
                setattr(new, name, _copied(inner))
        out.append(new)
    return out


def _new_leaves(before: list[lp.Stmt], after: list[lp.Stmt]) -> list[lp.Stmt]:
    """Statements that compute and that the loops did not have before, by their text."""
    old = {repr(s) for s in lp.walk(before)}
    return [s for s in lp.walk(after) if not isinstance(s, lp.Note) and not any(True for _ in lp.bodies(s)) and repr(s) not in old]


def sizes_for(fn: lp.Function, many: int) -> Iterable[dict[Sym, int]]:
    """All small sizes of one unknown; of more a sample; edges of blocks."""
    rng = random.Random(3)
    k = len(fn.sizes)
    found: list[tuple[int, ...]]
    if k == 0:
        return [{}]
    if k == 1:
        found = [(i,) for i in [*range(10), 13, 19, 35, 70]]
    else:
        found = [(v,) * k for v in (0, 1, 2, 9, 5)]
        found += [tuple(long if j == i else short for j in range(k)) for long, short in ((9, 4), (33, 3)) for i in range(k)]
        found += [tuple(rng.randrange(10) for _ in range(k)) for _ in range(12)]
    return [dict(zip(fn.sizes, sizes, strict=True)) for sizes in list(dict.fromkeys(found))[:many]]
