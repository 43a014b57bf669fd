"""Applications whose ranks are decided for a whole definition (elaborate/ranks), seen from the elaborator.

The elaborator reads a body once and lifts each application by the ranks it meets. That reading is the least one, and the only least one, as
long as it inserts nothing at polymorphic functions and repeats nothing: then every other reading costs more and has no smaller rank
anywhere. It stops being certain when

    a function without annotations needs an insertion in its own body, or is passed where another rank is expected,
    a value is repeated (`rep`) or something does not fit, in a definition that also applies polymorphic functions.

Only then is the definition read by elaborate/ranks; the elaborator starts again and inserts what the analysis says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from atoll.elaborate import entities as en
from atoll.elaborate.as_given import takes_as_given
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.elaborate.function_values import calls_itself
from atoll.elaborate.lifting import lift, lift_by
from atoll.elaborate.ranks import entities as ranked
from atoll.elaborate.ranks.analysis import Decision, Planned, decide
from atoll.elaborate.ranks.generate import Argument, Generator
from atoll.elaborate.ranks.kinds import Arrow, Clash, RankType, arrow, fresh, product
from atoll.elaborate.ranks.locals import read_alone, structure_key, structure_of
from atoll.elaborate.ranks.names import Names, function_scheme
from atoll.elaborate.ranks.propagate import Infeasible
from atoll.elaborate.ranks.schemes import POLYMORPHIC, SECOND_ORDER, builtin, fixed_rank, of_type
from atoll.elaborate.ranks.solve import least
from atoll.errors import Error, Span
from atoll.sizes import poly
from atoll.surface import syntax as s
from atoll.types.types import Fn, Scalar, Type, rank, type_vars

if TYPE_CHECKING:
    from atoll.elaborate.calls import Args
    from atoll.elaborate.session import Session

WATCHED = POLYMORPHIC | SECOND_ORDER | {"concat"}
_RANK_ERRORS = frozenset(f"E0{n}" for n in (117, 201, 202, 203, 207, 213, 222, 238, 241, 250, 251, 253, 257, 260))


_UNSIZED = ("E0238", "E0303")


class NeedRanks(Exception):
    """The definition must be read as a whole before it can be elaborated."""

    def __init__(self, definition: Any) -> None:
        super().__init__()
        self.definition = definition


# -- starting again


def with_ranks(session: Session, fn: Any, attempt: Callable[[], Any]) -> Any:
    """attempt(), again after an analysis of ranks where that is needed."""
    while True:
        session.latest.pop(id(fn), None)
        try:
            made = attempt()
        except NeedRanks as need:
            _decide(session, need.definition)
            continue
        except Error as error:
            el = session.latest.get(id(fn))
            doubtful = el is not None and el.flexible and (el.repeated or error.code in _RANK_ERRORS)
            if doubtful and id(fn) not in session.decided and _decide(session, fn):
                continue
            if error.code in _UNSIZED and session.decided.get(id(fn)) and id(fn) not in session.firm and _decide_again(session, fn):
                continue
            raise
        el = session.latest[id(fn)]
        if el.flexible and el.repeated and id(fn) not in session.decided and _decide(session, fn):
            continue
        if session.decided.get(id(fn)) is False and el.unsure:
            el.fail("E0262", el.unsure[0], name=el.unsure[0].text())
        return made


def _decide(session: Session, fn: Any) -> bool:
    """Read the definition; True when there is something to insert that the elaborator would not insert by itself."""
    try:
        found = decide(session, fn)
    except (Clash, Infeasible):
        session.decided[id(fn)] = False
        return False
    session.decided[id(fn)] = True
    _put(session, fn, found)
    return bool(found.plan or found.local_ranks)


def _put(session: Session, fn: Any, decision: Decision) -> None:
    """This decision in the place of an earlier one."""
    earlier = session.decisions.get(id(fn))
    for node in earlier.plan if earlier is not None else ():
        session.plans.pop(node, None)
    for params in earlier.local_ranks if earlier is not None else ():
        session.local_ranks.pop(params, None)
    session.decisions[id(fn)] = decision
    session.plans.update(decision.plan)
    session.local_ranks.update(decision.local_ranks)


def _decide_again(session: Session, fn: Any) -> bool:
    """The least type of a local function repeats what a reduction takes, and nothing says how often: is there a least one without that?"""
    earlier = session.decisions[id(fn)]
    if not earlier.local_ranks:
        return False
    session.firm.add(id(fn))
    try:
        if _decide(session, fn):
            return True
    except Error:
        pass  # several: what was wrong with the least one says more
    session.decided[id(fn)] = True
    _put(session, fn, earlier)
    return False


# -- built-ins


def apply_watched(args: Args, node: s.Call | None) -> Any:
    """A polymorphic or second-order built-in."""
    from atoll.elaborate.builtins.table import apply_builtin

    el = args.el
    el.flexible = True
    plan = el.session.plans.get(id(node))
    if plan is not None:
        given, names = list(args.args), list(args.keywords)
        for key in names[: max(0, len(plan) - len(given))]:
            given.append(args.keywords[key])
        rest = {key: value for key, value in args.keywords.items() if key not in names[: len(given) - len(args.args)]}
        return insert(el, given, plan, lambda xs: apply_builtin(replace(args, args=tuple(xs), keywords=rest)), args.span, args.name)
    if args.name in SECOND_ORDER and node is not None and id(el.definition) not in el.session.decided:
        start = args.args[1] if len(args.args) > 1 else args.keywords.get("ne")
        if isinstance(start, Value) and rank(start.type) > 0:
            scheme = builtin(args.name)
            assert scheme is not None
            if not _fits(el, scheme.instance(), list(args.args), args.span):
                raise NeedRanks(el.definition)
    return apply_builtin(args)


def insert(
    el: Elaborator, args: Sequence[Any], plan: Sequence[Planned], run: Callable[[list[Any]], Any], span: Span, what: str
) -> Any:
    """run(args) with what the analysis says inserted."""
    from atoll.elaborate.comprehension import materialise

    given = list(args)
    excess = [0] * len(given)
    reps = [0] * len(given)
    for k, planned in enumerate(plan[: len(given)]):
        x = given[k]
        if isinstance(x, Value) and not isinstance(x.type, Fn):
            if planned.rank is not None and planned.rank != rank(x.type):
                el.fail("E0262", span, name=what)
            excess[k], reps[k] = planned.excess, planned.reps
        elif planned.reps and isinstance(x, en.Iterable):
            given[k], reps[k] = materialise(el, x, span), planned.reps
        elif planned.reps:
            given[k] = en.Lifted(x, planned.reps)
    return lift_by(el, given, excess, reps, run, span, what)


def apply_lifted(el: Elaborator, fn: en.Lifted, args: Sequence[Any], span: Span) -> Any:
    """rep(f)(args): f mapped over the outermost axis of every argument, as often as it was repeated."""
    from atoll.elaborate.calls import apply

    excess = [fn.times if isinstance(x, Value) and not isinstance(x.type, Fn) else 0 for x in args]
    for x, count in zip(args, excess, strict=True):
        if count and rank(x.type) < count:
            el.fail("E0238", span, name="rep(...)", found=el.show(x.type))
    return lift_by(el, args, excess, [0] * len(args), lambda xs: apply(el, fn.fn, xs, span), span, "rep(...)")


# -- functions


def lifted(
    el: Elaborator,
    node: s.Call | None,
    given: Sequence[Any],
    values: Sequence[Any],
    ranks: Sequence[int | None],
    run: Callable[[list[Any]], Any],
    span: Span,
    what: str,
) -> Any:
    """run(values), lifted as the analysis says, or else by the ranks of the parameters. `given` is None where a default stands."""
    plan = el.session.plans.get(id(node)) if node is not None else None
    if plan is not None:
        planned = iter(plan)
        full = [Planned(0, 0, None) if g is None else next(planned, Planned(0, 0, None)) for g in given]
        return insert(el, values, full, run, span, what)
    return lift(el, values, ranks, run, span, what)


def declared(fn: Any, t: Type) -> Any:
    """A local function as a parameter of a declared type sees it: with the ranks that type says."""
    if not isinstance(t, Fn) or not isinstance(fn, en.Closure) or all(p.annotation is not None for p in fn.params) or calls_itself(fn):
        return fn
    ranks = [None if type_vars(p) or isinstance(p, Fn) else rank(p) for p in t.params]
    return replace(fn, ranks=(*ranks, *[None] * (len(fn.params) - len(ranks))))  # further parameters have defaults


def wanted_ranks(el: Elaborator, fn: en.Closure, values: Sequence[Any], node: s.Call | None) -> list[int | None]:
    """The ranks of a local function's parameters: declared, or by its ordinary type. None takes any rank."""
    known = fn.ranks if fn.ranks is not None else el.session.local_ranks.get(id(fn.params))
    if known is not None:
        return list(known)
    anything: list[int | None] = [None] * len(fn.params)
    if takes_as_given(fn):
        return anything
    is_lambda = fn.name == "<lambda>"
    if is_lambda and (node is None or node.span is node.fn.span):
        return anything
    direct = node is not None and isinstance(node.fn, s.Lambda)
    if direct and all(rank(v.type) == 0 for v in values if isinstance(v, Value)):
        return anything
    hints = [structure_of(_type(el, v).skeleton) if isinstance(v, Value) else None for v in values]
    key = (id(fn), direct, *map(structure_key, hints))
    memo = el.session.alone.get(key)
    if memo is not None and not direct:
        el.flexible = el.flexible or None in memo[1]
        return list(memo[1])
    gen = _generator(el)
    local = _local(el, fn)
    try:
        if direct:
            gen.joint[local] = t = gen.child_of(local).lambda_type(s.Lambda(fn.params, fn.body, span=fn.span))  # type: ignore[arg-type]
            if _fits(el, t, list(values), fn.span, gen):
                return anything
        else:
            alone = read_alone(gen, local, hints)
            if alone.outcome.unique and alone.outcome.the_solution().cost == 0:
                closed = alone.outcome.the_solution().types().close(alone.type)
                assert isinstance(closed.body, Arrow)
                found = [fixed_rank(p) for p in closed.body.params]
                el.flexible = el.flexible or None in found
                el.session.alone[key] = (fn, tuple(found))
                return found
    except (Clash, Infeasible):
        el.unsure.append(fn.span)
        return anything
    if id(fn.home.definition) in el.session.decided:
        el.unsure.append(fn.span)
        return anything
    raise NeedRanks(fn.home.definition)


def generic_ranks(el: Elaborator, fn: Any) -> list[int | None]:
    """The ranks of a generic function's parameters; type variables that are numbers have rank 0."""
    el.flexible = True
    t = function_scheme(el.session, fn).type
    assert isinstance(t.body, Arrow)
    return [None if p.is_function else fixed_rank(p) for p in t.body.params]


def check_functions(el: Elaborator, fn: Any, values: Sequence[Any], span: Span) -> None:
    """Functions passed as arguments must fit as they are; else the definition is read as a whole."""
    if id(el.definition) in el.session.decided:
        return
    if not _fits(el, function_scheme(el.session, fn).instance(), list(values), span):
        raise NeedRanks(el.definition)


def exact_ranks(el: Elaborator, fn: Any, count: int, values: Sequence[Value]) -> list[int | None]:
    """The ranks `map(f, ...)` applies f to; None where anything fits."""
    anything: list[int | None] = [None] * count
    match fn:
        case en.Builtin(name):
            scheme = builtin(name, count)
            t = scheme.type if scheme is not None else None
        case en.FnRef():
            t = function_scheme(el.session, fn.fn).type
        case en.Declared():
            inner = exact_ranks(el, fn.fn, count, values) if any(map(type_vars, fn.type.params)) else anything
            stated = [r if type_vars(p) else None if isinstance(p, Fn) else rank(p) for p, r in zip(fn.type.params, inner, strict=False)]
            return [*stated, *anything][:count]
        case en.TypeRef():
            return [0] * count if rank_zero(fn) else anything
        case en.Closure() if fn.name != "<lambda>":
            from atoll.elaborate.calls import closure_annotations

            declared = closure_annotations(el, fn)
            if any(d is None for d in declared[:count]):
                return wanted_ranks(el, fn, [*values, *[None] * (len(declared) - count)], None)[:count]
            return [rank(d) for d in declared[:count] if d is not None]
        case _:
            return anything
    if t is None or not isinstance(t.body, Arrow):
        return anything
    return ([None if p.is_function else fixed_rank(p) for p in t.body.params] + anything)[:count]


def rank_zero(fn: en.TypeRef) -> bool:
    return isinstance(fn.type, Scalar)


# -- one application on its own


def _fits(el: Elaborator, fn: RankType, args: list[Any], span: Span, gen: Generator | None = None) -> bool:
    """True when the application needs no insertion, neither here nor in lambdas among the arguments."""
    gen = gen or _generator(el)
    before = len(gen.constraints.applications)
    types: list[Argument] = []
    try:
        for arg in args:
            types.append(_argument(el, gen, arg))
        gen.spine(s.NoneValue(span=span), fn, types)
        outcome = least(gen.constraints, limit=2)
    except (Clash, Infeasible):
        return False
    return before >= 0 and outcome.unique and outcome.the_solution().cost == 0


def _argument(el: Elaborator, gen: Generator, entity: Any) -> Argument:
    entity = en.undeclared(entity)
    if isinstance(entity, en.Closure):
        local = _local(el, entity)
        return local if entity.name == "<lambda>" else gen.as_type(local)
    return gen.as_type(rank_entity(el, entity))


def _generator(el: Elaborator) -> Generator:
    return Generator(Names(el.session, el.namespace), ranked.Env())


def _local(el: Elaborator, fn: en.Closure) -> ranked.Local:
    """One for each function that was made, so that it is read once."""
    found = el.session.locals.get(id(fn.captured))
    if found is None:
        env = ranked.Env(outer=lambda name: rank_entity(el, fn.captured[name]) if name in fn.captured else None)
        local = ranked.Local(fn.name, fn.params, fn.body, env, fn.span, fn.result, Names(el.session, fn.home.namespace))
        found = el.session.locals[id(fn.captured)] = (fn, local)
    return found[1]


def _type(el: Elaborator, value: Value) -> RankType:
    return of_type(el.resolve(value.type))


def rank_entity(el: Elaborator, entity: Any) -> ranked.Entity:
    """An entity of the elaborator as one of the analysis."""
    match entity:
        case Value():
            return ranked.Known(of_type(entity.type))
        case en.Builtin(name):
            return ranked.Builtin(name)
        case en.FnRef(fn):
            return Names(el.session, el.namespace).of_object(fn)
        case en.TypeRef(t):
            return ranked.Constructor(t)
        case en.Module(module):
            return ranked.Module(module)
        case en.Closure():
            return _local(el, entity)
        case en.Declared():
            return rank_entity(el, entity.fn)
        case en.Choice():
            return rank_entity(el, entity.then)
        case en.Pick():
            return rank_entity(el, entity.items[0])
        case en.Lifted(fn, times):
            gen = _generator(el)
            return ranked.Known(gen.as_type(rank_entity(el, fn)).lift(_poly(times)))
        case en.Iterable():
            inner = of_type(entity.array.type) if entity.array is not None else fresh("e").lift(_poly(1))
            return ranked.Known(inner)
        case en.TupleEntity(items):
            gen = _generator(el)
            return ranked.Known(product(*(gen.as_type(rank_entity(el, item)) for item in items)))
    return ranked.Known(fresh())


def _poly(n: int) -> Any:
    return poly(n)


__all__ = ["NeedRanks", "apply_lifted", "apply_watched", "arrow", "check_functions", "exact_ranks", "wanted_ranks", "with_ranks"]
