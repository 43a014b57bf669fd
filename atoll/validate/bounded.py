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

import random
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from atoll.core import ir as core_ir
from atoll.loops import ir as lp
from atoll.loops.choices import USUAL, Choices
from atoll.loops.optimise import Pass, optimise
from atoll.lower.make import make_loops
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
    sizes: int = 0  # tuples of sizes that ran to their end

    @property
    def whole(self) -> bool:
        """Right, and every new statement ran."""
        return self.kind in ("strict", "regrouped") and self.ran == self.new


def validate(core: core_ir.Function, choices: Choices = USUAL, seconds: float = SECONDS, many: int = MANY) -> list[Verdict]:
    loops = make_loops(core, choices)
    if not isinstance(loops, lp.Function):
        return []
    watch = Watch(loops, core.reassociate, many, seconds)
    optimise(loops, core.reassociate, choices, after=watch.after)
    return watch.verdicts


class Watch:
    """Runs the loops after every pass that changed them, while they are as the pass left them: a later one may change buffers that both mention."""

    def __init__(self, loops: lp.Function, reassociate: bool, many: int = MANY, seconds: float = SECONDS) -> None:
        self.reassociate, self.seconds, self.spent = reassociate, seconds, 0.0
        self.verdicts: list[Verdict] = []
        self.before = snapshot(loops)
        self.runs: dict[tuple[int, int], Outcome | None] = {}  # of `before`, as far as they were asked for; None: nothing is said of that size
        self.sizes = list(enumerate(sizes_for(loops, many)))

    def after(self, done: Pass, loops: lp.Function, said: list[str]) -> None:
        if loops.body == self.before.body:
            return
        now = snapshot(loops)
        start = time.process_time()
        self.verdicts.append(self.verdict(done, now, start))
        self.spent += time.process_time() - start
        self.before = now

    def skip(self, loops: lp.Function) -> None:
        """A pass that needs no look."""
        self.before, self.runs = snapshot(loops), {}

    def run(self, k: int, o: int, sizes: dict[Sym, int]) -> Outcome | None:
        if (k, o) not in self.runs:
            found = outcome(self.before, sizes, k, *ORDERS[o], False)
            self.runs[k, o] = None if found is None or found[:1] == ("stuck",) else found
        return self.runs[k, o]

    def verdict(self, done: Pass, now: lp.Function, start: float) -> Verdict:
        kinds: set[str] = set()
        seen: set[int] = set()
        ended: set[int] = set()
        for k, sizes in self.sizes:
            for o, (piece, backwards) in enumerate(ORDERS):
                if self.spent + time.process_time() - start > self.seconds:
                    self.runs.pop((k, o), None)
                    continue
                was = self.run(k, o, sizes)
                if was is None:
                    continue
                found = outcome(now, sizes, k, piece, backwards, False, seen)
                if found is None:
                    self.runs[k, o] = None
                    continue
                kind = "strict" if found == was else self.kind_of(done, now, sizes, k, o, was, found)
                if kind.startswith("wrong"):
                    where = ", ".join(f"{s} = {v}" for s, v in sizes.items())
                    return Verdict(done.name, "wrong", f"{kind.removeprefix('wrong: ')} at {where or 'any size'}, pieces of {piece}{', backwards' if backwards else ''}")
                kinds.add(kind)
                ended.add(k)
                self.runs[k, o] = found
        new = _new_leaves(self.before.body, now.body)
        ran = sum(id(s) in seen for s in new)
        return Verdict(done.name, "regrouped" if "regrouped" in kinds else "strict" if kinds else "unseen", "", ran, len(new), len(ended))

    def kind_of(self, done: Pass, now: lp.Function, sizes: dict[Sym, int], k: int, o: int, was: Outcome, found: Outcome) -> str:
        """How it differs."""
        if found[:1] in (("stuck",), ("error",)) or was[:1] == ("error",):
            return f"wrong: {' '.join(map(str, found[:2])) if found[:1] in (('stuck',), ('error',)) else 'no failure any more'}"
        if not self.reassociate:
            return "wrong: a sum in another order, which the program forbids"
        if not done.regroups:
            return "wrong: another expression"
        piece, backwards = ORDERS[o]
        return "regrouped" if outcome(now, sizes, k, piece, backwards, True) == outcome(self.before, sizes, k, piece, backwards, True) else "wrong: another expression, in any order"


def same_results(one: lp.Function, other: lp.Function, reassociate: bool, many: int = 9, seconds: float = 4.0) -> tuple[int, bool]:
    """Two programs for one function: at how many sizes both ran to their end, and whether the results were the same expressions (but for the order of sums,
    where the program may)."""
    if len(one.sizes) != len(other.sizes) or [type(x) for x in one.inputs] != [type(x) for x in other.inputs]:
        return 0, True
    runs, start = 0, time.process_time()
    piece, backwards = ORDERS[0]
    for k, sizes in enumerate(sizes_for(one, many)):
        if time.process_time() - start > seconds:
            break
        mine = outcome(one, sizes, k, piece, backwards, reassociate)
        theirs = outcome(other, dict(zip(other.sizes, sizes.values(), strict=True)), k, piece, backwards, reassociate)
        if mine is None or theirs is None or mine[:1] == ("stuck",):
            continue
        runs += 1
        if mine != theirs:
            return runs, False
    return runs, True


def snapshot(loops: lp.Function) -> lp.Function:
    """The function as it is now: a pass gives the function other statements."""
    return replace(loops, outputs=list(loops.outputs))


def _new_leaves(before: lp.Stmts, after: lp.Stmts) -> list[lp.Stmt]:
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
