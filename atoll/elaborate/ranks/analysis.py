"""The entry: one definition in, what to insert at each application out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from atoll.elaborate.namespace import Namespace
from atoll.elaborate.ranks.ambiguity import ambiguous
from atoll.elaborate.ranks.constraints import Application
from atoll.elaborate.ranks.entities import Env, Local
from atoll.elaborate.ranks.generate import Generator
from atoll.elaborate.ranks.kinds import SCALAR, Arrow, Clash, RankType, Variable, arrow, fresh, own_rank
from atoll.elaborate.ranks.locals import read_alone
from atoll.elaborate.ranks.names import Names, number_variables
from atoll.elaborate.ranks.propagate import Infeasible
from atoll.elaborate.ranks.readings import Elaborated, identifiers, marks
from atoll.elaborate.ranks.schemes import of_type
from atoll.elaborate.ranks.solve import Insertion, Outcome, Solution, Types, least
from atoll.elaborate.ranks.statements import read_function
from atoll.errors import Span
from atoll.sizes import poly
from atoll.surface import syntax as s

if TYPE_CHECKING:
    from atoll.elaborate.session import Session


_REDUCTIONS = frozenset("sum prod min max any all argmin argmax mean sort argsort len".split())


@dataclass(frozen=True, slots=True)
class Planned:
    """What one argument gets, and the rank it should have (None when that is open)."""

    excess: int
    reps: int
    rank: int | None


Plan = dict[int, tuple[Planned, ...]]
"""What to insert, by the identity of the application's node: one entry per argument."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the elaborator inserts, and the ranks of local functions' parameters by the identity of their parameter list."""

    plan: Plan
    local_ranks: dict[int, tuple[int | None, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A definition that has been read: its constraints, its type, and the least solutions."""

    gen: Generator
    type: RankType
    outcome: Outcome

    def decision(self, solution: Solution) -> Decision:
        """What a solution inserts, with what local functions insert in their own bodies."""
        found: dict[int, dict[int, Planned]] = {}
        types = solution.types()

        def put(app: Application, insertion: Insertion, known: Types | None) -> None:
            if not isinstance(app.node, s.Call):  # operators see the ranks themselves; and only calls are sure to outlive this
                return
            count, floating = known.rank(own_rank(app.argument)) if known is not None else (0, app)
            found.setdefault(id(app.node), {})[app.position] = Planned(
                insertion.excess, insertion.reps, count if floating is None else None
            )

        for app, insertion in self.gen.settled:
            put(app, insertion, None)
        for app in solution.system.applications:
            put(app, solution.insertion(app), None if app.argument.is_function else types)
        nothing = Planned(0, 0, None)
        plan = {
            node: tuple(at.get(k, nothing) for k in range(max(at) + 1))
            for node, at in found.items()
            if any(planned.excess or planned.reps for planned in at.values())
        }
        ranks: dict[int, tuple[int | None, ...]] = {}
        for local, t in self.gen.local_types:
            if isinstance(local, Local) and local in self.gen.joint and isinstance(t.body, Arrow):
                given = [types.rank(own_rank(p)) for p in t.body.params]
                ranks[id(local.params)] = tuple(
                    None if p.is_function or floating is not None else count
                    for p, (count, floating) in zip(t.body.params, given, strict=True)
                )
        return Decision(plan, ranks)


def decide(session: Session, fn: Any) -> Decision:
    """What to insert in a definition. Several least solutions are an error; raises Clash or Infeasible when there is none."""
    definition = read_definition(session, fn)
    if not definition.outcome.unique:
        raise ambiguous(definition, fn.name, {p.name: p.type for p in fn.signature.params}) from None
    return definition.decision(definition.outcome.the_solution())


def read_definition(session: Session, fn: Any) -> Definition:
    """The constraints of an annotated function and their least solutions."""
    gen = Generator(Names(session, fn.namespace), Env())
    numeric = number_variables(session, fn) if fn.signature.type_vars else frozenset()
    made = {name: fresh(name) for name in fn.signature.type_vars}

    def variable(name: str) -> RankType:
        return SCALAR if name in numeric else made.setdefault(name, fresh(name))

    params = tuple(of_type(p.type, variable) for p in fn.signature.params)
    declared = of_type(fn.signature.result, variable) if fn.signature.result is not None else None
    t = _read(gen, fn, params, declared)
    if id(fn) in session.firm:
        _nothing_repeated_to_be_reduced(gen)
    return Definition(gen, t, least(gen.constraints))


def _nothing_repeated_to_be_reduced(gen: Generator) -> None:
    """`sum(rep(x))` is no reading: nothing can ever determine how often x would be repeated."""
    gen.constraints.settle()
    for app in gen.constraints.applications:
        fn = app.node.fn if isinstance(app.node, s.Call) else None
        name = fn.id if isinstance(fn, s.Name) else fn.name if isinstance(fn, s.Attr) else None
        if name in _REDUCTIONS and app.position == 0:
            gen.constraints.at_least.append((app.frame - poly(app.reps), app.node.span))


def reading_at(session: Session, fn: Any, span: Span) -> str | None:
    """How the application at a place is lifted, in the user's syntax; None when that is not known."""
    try:
        definition = read_definition(session, fn)
    except (Clash, Infeasible):
        return None
    solution = definition.outcome.the_solution()
    pairs = [*definition.gen.settled, *((app, solution.insertion(app)) for app in solution.system.applications)]
    here = [(app, insertion) for app, insertion in pairs if app.node.span is span]
    if not here or not any(i.excess or i.reps for _, i in here):
        return None
    return Elaborated(marks(here), identifiers(span.text())).expr(here[0][0].node)


def _read(gen: Generator, fn: Any, params: tuple[RankType, ...], declared: RankType | None) -> RankType:
    named = [(p.name, t) for p, t in zip(fn.signature.params, params, strict=True)]
    return arrow(params, read_function(gen, named, fn.surface.body, fn.liveness, declared))


def read_body(
    session: Session, fn: Any, params: tuple[RankType, ...], declared: RankType, made: tuple[Variable, ...] = ()
) -> Types:
    """The ranks of a generic function's body; type variables that meet numbers are numbers."""
    gen = Generator(Names(session, fn.namespace), Env())
    _read(gen, fn, params, declared)
    gen.constraints.settle()
    for variable in made:
        if variable.skeleton.form == "number":
            gen.equal(RankType(SCALAR.axes, variable), SCALAR, fn.surface.span)
    return least(gen.constraints).the_solution().types()


def read_local(session: Session, namespace: Namespace, env: Env, function: s.Function) -> Definition:
    """A function without annotations, read on its own: what `tests/conformance/test_automap.py` looks at."""
    gen = Generator(Names(session, namespace), env)
    local = Local(function.name, function.params, function.body, env, function.span, function.result)
    alone = read_alone(gen, local, ())
    return Definition(alone.gen, alone.type, alone.outcome)


__all__ = ["Decision", "Definition", "Plan", "Planned", "decide", "read_body", "read_definition", "read_local"]
