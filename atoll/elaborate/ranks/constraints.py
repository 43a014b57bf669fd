"""What a definition demands of its ranks.

An application of one argument has two unknowns, M and R, at most one of them non-zero: M maps lift the function over the argument, or R reps
raise the argument. With the function's frame S1 (the axes that earlier arguments of the same spine already map over) the rule is

    e1 e2 :  []^M S1 param  =  []^R argument            M or R is 0                (C-APP, Schenck, figs 4.6 and 4.7)

R up to the frame is *induced*: the argument is simply used as it is inside those maps, which costs nothing. What is minimised is M plus the
rest of R; induced reps break ties (docs/reference.md section 10).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from atoll.elaborate.ranks.kinds import RankType, RankVar
from atoll.errors import Span
from atoll.sizes import ZERO, Poly, poly
from atoll.surface import syntax as s


@dataclass(frozen=True, slots=True, eq=False)
class Application:
    """One argument of a spine. `node` is the application in the text, `frame` the axes mapped over before this argument."""

    node: s.Node
    position: int
    maps: RankVar
    reps: RankVar
    frame: Poly
    param: RankType
    argument: RankType
    source: s.Node | None = None  # the argument in the text


@dataclass(frozen=True, slots=True, eq=False)
class Equation:
    left: RankType
    right: RankType
    span: Span


@dataclass(eq=False, slots=True)
class Constraints:
    """All that is known about a definition; grows while it is read."""

    applications: list[Application] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    at_least: list[tuple[Poly, Span]] = field(default_factory=list)  # each >= 0
    waiting: list[tuple[RankType, Callable[[bool], bool]]] = field(default_factory=list)

    def equal(self, left: RankType, right: RankType, span: Span) -> None:
        """left = right; raises Clash at once if not even the skeletons fit."""
        left.skeleton.unify(right.skeleton)
        self.equations.append(Equation(left, right, span))

    def apply(
        self, node: s.Node, position: int, frame: Poly, param: RankType, argument: RankType, source: s.Node | None = None
    ) -> Application:
        """The application of a function with this frame and parameter to an argument."""
        maps, reps = RankVar(f"M{position}", "M"), RankVar(f"R{position}", "R")
        app = Application(node, position, maps, reps, frame, param, argument, source)
        self.applications.append(app)
        self.equal(param.lift(frame + poly(maps)), argument.lift(poly(reps)), node.span)
        return app

    def slack(self) -> Poly:
        """A number of axes nothing is charged for: a value repeated into a slice it is assigned to."""
        return poly(RankVar("slack", "slack"))

    def wait_for(self, t: RankType, resume: Callable[[bool], bool]) -> None:
        """Call `resume(False)` when the skeleton of t is known, or `resume(True)` when it will not be; it says whether it is done."""
        if not (t.skeleton.form is not None and resume(False)):
            self.waiting.append((t, resume))

    def settle(self) -> None:
        """Resume what waited, first what can be resumed, then by default."""
        while self.waiting:
            ready = [item for item in self.waiting if item[0].skeleton.form is not None]
            if ready:
                item = ready[0]
                self.waiting.remove(item)
                if not item[1](False):
                    item[1](True)
            else:
                _, resume = self.waiting.pop(0)
                resume(True)


__all__ = ["ZERO", "Application", "Constraints", "Equation"]
