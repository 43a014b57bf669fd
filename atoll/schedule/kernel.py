"""The kernel: theorems `facts |- source = term` and the only way to make them, one rule at one position.

A `Theorem` cannot be constructed outside this module (its constructor wants a key that is not exported). `start` gives source = source;
`step(theorem, path, rule, **args)` rewrites the subterm at a position by a row of the table RULES, after proving the rule's side
conditions there, and checks the whole new term (`well_formed`). Arguments are data, polynomials, names, numbers, never functions, so the
list of steps with its proofs is the certificate. `assume` weakens a theorem by a fact about sizes; whoever compiles it must test the fact.

Licences say what a step does to floating-point results: nothing ("exact", not recorded), the sign of a zero ("signed-zero"), the order of
additions ("reassociate"), one rounding instead of two ("contract"), that no infinity or NaN is multiplied by a pad ("finite"), or that an
exponential is a product of two ("rescale").
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from atoll.errors import NOWHERE, ScheduleError, Span, make
from atoll.schedule import term as tm
from atoll.schedule.arith import Answer, Trusted, counterexample, describe, prove
from atoll.schedule.context import Context, locate, top
from atoll.schedule.reshapes import RESHAPES
from atoll.sizes import Atom, Poly, Sym
from atoll.sizes.describe import condition
from atoll.sizes.prover import Facts

LICENCES = ("signed-zero", "contract", "reassociate", "finite", "rescale")


@dataclass(frozen=True, slots=True)
class Obligation:
    """goal >= 0 follows from the facts; `why` says so."""

    facts: Facts
    goal: Poly
    why: Answer
    what: str

    def __str__(self) -> str:
        """`8*i_o + i_i <= n - 1 (an index is in range)`; what only a solver says is told."""
        return f"{condition(self.goal)} ({self.what})" + (f", trusted: {self.why.by}" if isinstance(self.why, Trusted) else "")


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One application of a rule: enough to replay it."""

    path: tm.Path
    rule: str
    args: dict[str, Any]
    new: tm.Term | None
    obligations: tuple[Obligation, ...]
    licences: frozenset[str]


_KEY = object()


class Theorem:
    """facts |- source = term, by these steps, under these licences."""

    __slots__ = ("source", "term", "facts", "inputs", "steps", "licences", "forbidden", "unknowns", "name")

    def __init__(
        self,
        key: object,
        name: str,
        source: tm.Term,
        term: tm.Term,
        facts: tuple[Poly, ...],
        inputs: dict[tm.Tensor, tuple[Poly, ...]],
        steps: tuple[StepRecord, ...],
        licences: frozenset[str],
        forbidden: frozenset[str],
        unknowns: frozenset[Atom] = frozenset(),
    ) -> None:
        if key is not _KEY:
            raise TypeError("theorems are made by rules only: see atoll.schedule.kernel.step")
        self.name, self.source, self.term, self.facts, self.inputs = name, source, term, facts, inputs
        self.steps, self.licences, self.forbidden, self.unknowns = steps, licences, forbidden, unknowns

    @property
    def context(self) -> Context:
        return top(self.facts, self.inputs)

    @property
    def sizes(self) -> frozenset[Atom]:
        """The unknowns extents may mention."""
        return sizes_of(self.facts, self.inputs) | self.unknowns

    def locate(self, path: tm.Path) -> tuple[Context, tm.Term]:
        return locate(self.context, self.term, path)


def sizes_of(facts: tuple[Poly, ...], inputs: dict[tm.Tensor, tuple[Poly, ...]]) -> frozenset[Atom]:
    return frozenset().union(*(f.leaves() for f in facts), *(p.leaves() for shape in inputs.values() for p in shape))


# -- refusing


class Refused(Exception):
    """A step does not apply or its condition does not hold. `error` words it for the user."""

    def __init__(self, problem: str, facts: Facts | None = None, goal: Poly | None = None, what: str = "") -> None:
        super().__init__(problem)
        self.problem, self.facts, self.goal, self.what = problem, facts, goal, what

    def error(self, step: str, span: Span = NOWHERE) -> ScheduleError:
        if self.goal is None or self.facts is None:
            return make("E0503", span, step=step, problem=self.problem)  # type: ignore[return-value]
        wanted = self.goal.leaves()
        if not wanted:  # it holds nowhere
            values = counterexample(self.facts, self.goal) or {}
            values = {a: v for a, v in values.items() if re.search(rf"\b{a!r}\b", self.what)}
            notes = [f"it fails for {describe(values)}"] if values else []
            return make("E0501", span, step=step, condition=f"that {self.what}", notes=notes)  # type: ignore[return-value]
        values = counterexample(self.facts, self.goal) or {}
        shown = [f for f in self.facts.known if f.leaves() & wanted] or list(self.facts.known)
        notes = [f"needed: {self.what}"] if self.what else []
        notes.append("known: " + (", ".join(condition(f) for f in shown) or "nothing about these sizes"))
        notes.append(f"it fails for {describe(values)}" if values else "no counterexample was found, and no proof")
        return make("E0501", span, step=step, condition=condition(self.goal), notes=notes)  # type: ignore[return-value]


class Unnamed(Refused):
    """A name that means no loop or value, or several."""

    def __init__(self, name: str, problem: str, choices: str) -> None:
        super().__init__(problem)
        self.name, self.choices = name, choices

    def error(self, step: str, span: Span = NOWHERE) -> ScheduleError:
        return make("E0502", span, step=step, name=self.name, problem=self.problem, choices=self.choices)  # type: ignore[return-value]


class Misused(Refused):
    """Arguments a step does not take."""

    def error(self, step: str, span: Span = NOWHERE) -> ScheduleError:
        return make("E0507", span, step=step, problem=self.problem)  # type: ignore[return-value]


@dataclass
class Services:
    """What a rule may ask for while it runs: proofs, copies with new names, licences."""

    obligations: list[Obligation] = field(default_factory=list)
    licences: set[str] = field(default_factory=set)
    copied: dict[Any, Any] = field(default_factory=dict)

    def need(self, context: Context, goal: Poly, what: str) -> None:
        """goal >= 0 here, or the step is refused."""
        why = prove(context.facts, goal)
        if why is None:
            raise Refused(what, context.facts, goal, what)
        self.obligations.append(Obligation(context.facts, goal, why, what))

    def need_equal(self, context: Context, a: Poly, b: Poly, what: str) -> None:
        if a != b:
            self.need(context, a - b, what)
            self.need(context, b - a, what)

    def known(self, context: Context, goal: Poly, what: str) -> bool:
        """Whether goal >= 0 is proved here; recorded if so."""
        why = prove(context.facts, goal, optional=True)
        if why is not None:
            self.obligations.append(Obligation(context.facts, goal, why, what))
        return why is not None

    def copy(self, t: tm.Term) -> tm.Term:
        return tm.refresh(t, self.copied)

    def licence(self, name: str, dtype_is_float: bool = True) -> None:
        if dtype_is_float:
            self.licences.add(name)


Apply = Callable[..., tm.Term]


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of the table: an equation, what it needs, what it costs in floating point, and the code that applies it."""

    name: str
    equation: str
    needs: str
    licence: str
    apply: Apply


RULES: dict[str, Rule] = {}


def rule(equation: str, needs: str = "", licence: str = "exact") -> Callable[[Apply], Apply]:
    """Enter a function into the table under its own name."""

    def enter(apply: Apply) -> Apply:
        RULES[apply.__name__] = Rule(apply.__name__, equation, needs, licence, apply)
        return apply

    return enter


# -- making theorems


def start(
    name: str,
    source: tm.Term,
    facts: tuple[Poly, ...],
    inputs: dict[tm.Tensor, tuple[Poly, ...]],
    forbidden: frozenset[str] = frozenset(),
    unknowns: frozenset[Sym] = frozenset(),
) -> Theorem:
    """facts |- source = source. Every gen extent must be provably >= 0. `unknowns` are integers nothing is known of."""
    well_formed(source, sizes_of(facts, inputs) | unknowns, inputs)
    services = Services()
    _extents(services, top(facts, inputs), source)
    record = StepRecord((), "start", {}, source, tuple(services.obligations), frozenset())
    return Theorem(_KEY, name, source, source, facts, inputs, (record,), frozenset(), forbidden, unknowns)


def _extents(services: Services, context: Context, t: tm.Term) -> None:
    if isinstance(t, tm.Gen):
        services.need(context, t.high - t.low, f"the loop {t.sym} has a size that is not negative")
    for k, inner in enumerate(tm.kids(t)):
        _extents(services, context.down(t, k), inner)


def step(theorem: Theorem, path: tm.Path, rule_name: str, /, **args: Any) -> Theorem:
    """The theorem after one rule at one position."""
    return apply(theorem, path, rule_name, args)[0]


def apply(theorem: Theorem, path: tm.Path, name: str, args: dict[str, Any]) -> tuple[Theorem, dict[Any, Any]]:
    """The theorem after one rule, and which new binders are copies of which."""
    context, t = theorem.locate(path)
    services = Services()
    new = RULES[name].apply(services, context, t, **args)
    _same_shape(services, context, t, new)
    licences = frozenset(services.licences)
    if licences & theorem.forbidden:
        raise Forbidden(name, licences & theorem.forbidden)
    whole = tm.put(theorem.term, path, new)
    well_formed(whole, theorem.sizes, theorem.inputs)
    # a guard that meets a guard is merged by the constructor, so the record keeps the smallest subtree that says it all
    record = StepRecord(path, name, args, new, tuple(services.obligations), licences)
    made = Theorem(
        _KEY,
        theorem.name,
        theorem.source,
        whole,
        theorem.facts,
        theorem.inputs,
        (*theorem.steps, record),
        theorem.licences | licences,
        theorem.forbidden,
        theorem.unknowns,
    )
    return made, services.copied


def _same_shape(services: Services, context: Context, old: tm.Term, new: tm.Term) -> None:
    """The shapes agree for all sizes, also those for which no loop around runs: memory is laid out by them."""
    closed = replace(context, facts=context.closed)
    for a, b in zip(tm.result_shapes(old, context.shapes), tm.result_shapes(new, context.shapes), strict=True):
        if len(a) != len(b):
            raise Refused("the number of axes would change")
        for p, q in zip(a, b, strict=True):
            services.need_equal(closed, p, q, f"the extent {p} stays what it is")


def assume(theorem: Theorem, *facts: Poly) -> Theorem:
    """The weaker theorem that holds where the facts do."""
    sizes = theorem.sizes
    for fact in facts:
        if not fact.leaves() <= sizes:
            raise Refused(f"{fact} >= 0 is not about sizes")
    record = StepRecord((), "assume", {"facts": facts}, None, (), frozenset())
    return Theorem(
        _KEY,
        theorem.name,
        theorem.source,
        theorem.term,
        theorem.facts + tuple(facts),
        theorem.inputs,
        (*theorem.steps, record),
        theorem.licences,
        theorem.forbidden,
        theorem.unknowns,
    )


class Forbidden(Exception):
    """A step needs a licence the function does not give."""

    def __init__(self, rule: str, licences: frozenset[str]) -> None:
        super().__init__(rule)
        self.rule, self.licences = rule, licences


def trusted(theorem: Theorem) -> list[Trusted]:
    """What a solver's word was taken for."""
    return [o.why for record in theorem.steps for o in record.obligations if isinstance(o.why, Trusted)]


# -- well-formed terms


def well_formed(t: tm.Term, sizes: frozenset[Atom], inputs: dict[tm.Tensor, tuple[Poly, ...]]) -> None:
    """Binders unique and not sizes or inputs; every name in scope; extents and amounts closed; results below lets only."""
    seen: set[Any] = set(sizes) | set(inputs)

    def bind(x: Any) -> None:
        if x in seen:
            raise Refused(f"{x} would be bound twice")
        seen.add(x)

    def scope(p: Poly, known: frozenset[Atom], what: str) -> None:
        if not p.leaves() <= known:
            names = ", ".join(sorted(map(repr, p.leaves() - known)))
            raise Refused(f"{what} {p} mentions {names}")

    def go(t: tm.Term, known: frozenset[Atom], arrays: frozenset[tm.Tensor], spine: bool) -> None:
        match t:
            case tm.Gen():
                bind(t.sym)
                scope(t.low, sizes, "the bound")
                scope(t.high, sizes, "the bound")
                go(t.body, known | {t.sym}, arrays, False)
                return
            case tm.Sum():
                bind(t.sym)
                scope(t.low, known, "the bound")
                scope(t.high, known, "the bound")
                go(t.body, known | {t.sym}, arrays, False)
                return
            case tm.Let():
                bind(t.name)
                go(t.bound, known, arrays, False)
                go(t.body, known, arrays | {t.name}, spine)
                return
            case tm.Nest():
                if not (spine or t.at) or not set(t.args) <= arrays or len(t.at) > t.rows:
                    raise Refused("an opaque part stands at the top and reads arrays in scope")
                for p in (p for shape in t.shapes for p in shape):
                    scope(p, sizes, "the extent")
                for p in t.at:
                    scope(p, known, "the index")
                for x in t.names:
                    bind(x)
                go(t.body, known, arrays | set(t.names), spine)
                return
            case tm.Many():
                if not spine:
                    raise Refused("results stand at the top")
            case tm.Get():
                if t.name not in arrays:
                    raise Refused(f"{t.name} is not in scope there")
                for p in t.index:
                    scope(p, known, "the index")
            case tm.Look():
                if t.name not in arrays:
                    raise Refused(f"{t.name} is not in scope there")
                if any(tm.rank(k) or tm.dtype(k).name != "i64" for k in t.index):
                    raise Refused(f"{t.name} is read at something that is no number")
            case tm.Guard():
                for p in t.conds:
                    scope(p, known, "the condition")
            case tm.Reshape():
                if t.amount is not None:
                    scope(t.amount, sizes, "the amount")
                if t.axis < 0 or t.axis + RESHAPES[t.op].takes > tm.rank(t.body):
                    raise Refused(f"{t.op} of axis {t.axis} in rank {tm.rank(t.body)}")
            case tm.Zero():
                for p in t.shape:
                    scope(p, sizes, "the extent")
            case tm.Index() | tm.Choose():
                for p in tm.own_polys(t):
                    scope(p, known, "the index")
        for inner in tm.kids(t):
            go(inner, known, arrays, False)

    go(t, frozenset(sizes), frozenset(inputs), True)


def signature(name: str) -> dict[str, bool]:
    """The arguments a rule takes, and which it needs, for `s.rewrite`."""
    taken = list(inspect.signature(RULES[name].apply).parameters.values())[3:]
    return {p.name: p.default is inspect.Parameter.empty for p in taken}


def closed(p: Poly, sizes: frozenset[Atom]) -> bool:
    return p.leaves() <= sizes


__all__ = ["LICENCES", "RULES", "Forbidden", "Obligation", "Refused", "Rule", "Services", "StepRecord", "Sym", "Theorem", "apply", "assume", "rule", "start", "step"]
