"""Every rewrite of a function's loops, watched: what was there before and after it as data, and the instances that its statements say they are.

Before a rewrite every statement is marked with its number and its own round (`lp.Instance`); the copier hands marks on, with the round under the copy. What
has no mark afterwards was made by the rewrite itself. check/rewrites/ validates what is written down here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from atoll.check.loops_data import LoopsData
from atoll.core import ir as core_ir
from atoll.loops import ir as lp
from atoll.loops.choices import Choices
from atoll.loops.optimise import Pass, optimise
from atoll.loops.transform.walk import with_bodies
from atoll.lower.make import chosen, make_loops
from atoll.sizes import Poly, Sym, poly
from atoll.validate.bounded import Verdict, Watch


@dataclass
class Rewrite:
    """A use of a rewrite that changed the loops."""

    name: str
    regroups: bool
    after: list[int]  # rows of statements
    origins: list[Any]  # of all statements after it, in the order of a walk: null, a number, or [number, [[index, polynomial]]]
    roots: list[list[str]]  # variables and what they are copies of
    bounded: Verdict | None = None


@dataclass
class Watched:
    """A function's loops before all rewrites, and after each."""

    core: core_ir.Function
    data: LoopsData
    lowered: list[int]
    loops: lp.Function
    rewrites: list[Rewrite] = field(default_factory=list)


class _Marks:
    """Marks on all statements of a function, which are made anew with them."""

    def __init__(self, loops: lp.Function) -> None:
        self.count = 0
        self.vars: set[lp.Var] = set()
        loops.body = self.marked(loops.body, ())

    def marked(self, stmts: lp.Stmts, syms: tuple[Sym, ...]) -> list[lp.Stmt]:
        out: list[lp.Stmt] = []
        for s in stmts:
            if isinstance(s, lp.Note):
                out.append(s)
                continue
            instance = lp.Instance(self.count, {x: poly(x) for x in syms})
            self.count += 1
            if isinstance(s, (lp.Let, lp.Declare)):
                self.vars.add(s.var)
            if isinstance(s, (lp.Accumulate, lp.Chunks)):
                self.vars |= {a.var for a in s.accs}
            inner = (*syms, s.sym) if isinstance(s, (lp.For, lp.Accumulate)) else (*syms, s.low) if isinstance(s, lp.Chunks) else syms
            out.append(replace(with_bodies(s, lambda body, inner=inner: self.marked(body, inner)), instance=instance))  # type: ignore[misc]
        return out

    def root(self, v: lp.Var) -> lp.Var | None:
        """The variable of the program before that this is a copy of."""
        seen = v
        while seen not in self.vars:
            if seen.copy_of is None:
                return None
            seen = seen.copy_of
        return None if seen is v else seen


class _Watcher:
    def __init__(self, watched: Watched, bounded: Watch | None, wanted: frozenset[int]) -> None:
        self.watched, self.bounded, self.wanted = watched, bounded, wanted
        self.before = watched.lowered
        self.marks = _Marks(watched.loops)

    def after(self, done: Pass, loops: lp.Function, said: list[str]) -> None:
        data = self.watched.data
        now = data.body(loops.body)
        if now != self.before:
            origins: list[Any] = []
            roots: dict[str, str] = {}
            for s in lp.walk(loops.body):
                if isinstance(s, lp.Note):
                    continue
                origins.append(self.origin(s.instance))
                made = [s.var] if isinstance(s, (lp.Let, lp.Declare)) else [a.var for a in s.accs] if isinstance(s, (lp.Accumulate, lp.Chunks)) else []
                for v in made:
                    root = self.marks.root(v)
                    if root is not None:
                        roots[data.name(v)] = data.name(root)
            self.watched.rewrites.append(Rewrite(done.name, done.regroups, now, origins, [[a, b] for a, b in roots.items()]))
            if self.bounded is not None and len(self.watched.rewrites) - 1 not in self.wanted:
                self.bounded.skip(loops)
            elif self.bounded is not None:
                known = len(self.bounded.verdicts)
                self.bounded.after(done, loops, said)
                self.watched.rewrites[-1].bounded = self.bounded.verdicts[-1] if len(self.bounded.verdicts) > known else None
            self.before = now
        self.marks = _Marks(loops)

    def origin(self, instance: lp.Instance | None) -> Any:
        if instance is None:
            return None
        data = self.watched.data
        moved: list[tuple[Sym, Poly]] = [(s, p) for s, p in instance.round.items() if p != poly(s)]
        if not moved:
            return instance.number
        return [instance.number, [[data.name(s), data.poly(p)] for s, p in moved]]


def watch(core: core_ir.Function, choices: Choices | None = None, bounded: frozenset[int] = frozenset(), seconds: float = 8.0) -> Watched | None:
    """The rewrites of a function; None when it has no loops of this kind. `bounded`: with the bounded validator's verdict on these, by number."""
    choices = choices if choices is not None else chosen(core)
    loops = make_loops(core, choices)
    if not isinstance(loops, lp.Function):
        return None
    data = LoopsData(loops)
    watched = Watched(core, data, data.body(loops.body), loops)
    watcher = _Watcher(watched, Watch(loops, core.reassociate, seconds=seconds) if bounded else None, bounded)
    optimise(loops, core.reassociate, choices, after=watcher.after)
    return watched
