"""Equations between rank types become linear equations between ranks, one per leaf (rank relaxation, Schenck, figs 4.8 and 4.9).

Functions are split before they are relaxed (E12), because `leaves` goes through them. A function that is passed as an argument is never
mapped over, it is only repeated: an array of functions does not exist, `rep(f)` is f lifted. So for such an argument M = 0 and R is at least
the frame. A lambda has no type but the one its place gives it, so what is to be lifted is lifted in its body: R is the frame.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from atoll.elaborate.ranks.constraints import Application, Constraints
from atoll.elaborate.ranks.kinds import leaves
from atoll.errors import Span
from atoll.sizes import Poly, poly
from atoll.surface import syntax as s


@dataclass(frozen=True, slots=True)
class System:
    """Linear equations `row = 0` and inequalities `row >= 0` over rank variables, and the applications they are about."""

    applications: tuple[Application, ...]
    equal: tuple[tuple[Poly, Span], ...]
    at_least: tuple[tuple[Poly, Span], ...]
    rows: int = field(default=0, compare=False)


def relax(constraints: Constraints) -> System:
    """The linear system of a set of constraints."""
    equal: list[tuple[Poly, Span]] = []
    at_least = list(constraints.at_least)
    for equation in constraints.equations:
        for left, right in zip(leaves(equation.left), leaves(equation.right), strict=True):
            equal.append((left - right, equation.span))
    for app in constraints.applications:
        if app.argument.is_function or app.param.is_function:
            equal.append((poly(app.maps), app.node.span))
            row = (poly(app.reps) - app.frame, app.node.span)
            (equal if isinstance(app.source, s.Lambda) else at_least).append(row)
    apps = tuple(constraints.applications)
    return System(apps, tuple(equal), tuple(at_least), len(equal) + len(at_least) + len(apps))
