"""Elaborating a whole program: one core function per Atoll function and choice of type variables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from atoll.core import ir
from atoll.core.rewrite import transform, walk
from atoll.elaborate.blanks import close_blanks, open_blanks
from atoll.elaborate.captures import Captures
from atoll.elaborate.checks import settle
from atoll.elaborate.coerce import coerce
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Frame, Home, NoneEntity, Scope, TupleEntity, TypeRef, Value
from atoll.elaborate.expansion import holds_functions
from atoll.elaborate.flexible import with_ranks
from atoll.elaborate.function_calls import open_value
from atoll.elaborate.function_values import as_function
from atoll.elaborate.open_names import name_open_sizes
from atoll.elaborate.statements import body
from atoll.elaborate.storage import loaded, stores
from atoll.errors import Error, Span, fail
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.declare import is_some, size_symbol
from atoll.surface import syntax as s
from atoll.types.types import (
    SCALARS,
    Array,
    Fn,
    Index,
    Record,
    Scalar,
    Type,
    has_more_parts,
    map_sizes,
    sizes_in,
    strong,
    subst_sizes,
    subst_types,
    type_vars,
)
from atoll.types.unions import NONE, hides_sizes, type_key

if TYPE_CHECKING:
    from atoll.elaborate.ranks.analysis import Decision, Plan

_DUPLICATIONS = 200
_INSTANCES = 100
_PARTS = 1000


class Session:
    """What the functions of one program share."""

    def __init__(self) -> None:
        self.instances: dict[tuple[Any, ...], ir.Function] = {}
        self.captures = Captures()
        self.bounded: set[Atom] = set()
        self._size_params: dict[int, set[Sym]] = {}
        self._duplications = 0
        self.expanded = 0  # calls that were expanded (elaborate/expansion.py)
        self.elaborators: dict[int, Elaborator] = {}
        self.rank_schemes: dict[int, Any] = {}  # of functions, by identity (elaborate/ranks)
        self.number_variables: dict[int, frozenset[str]] = {}
        self.decided: dict[int, bool] = {}  # functions whose ranks were read as a whole, and whether that worked
        self.plans: Plan = {}
        self.decisions: dict[int, Decision] = {}  # what was decided for each function
        self.firm: set[int] = set()  # functions in which no argument of a reduction is repeated (elaborate/flexible.py)
        self.local_ranks: dict[int, tuple[int | None, ...]] = {}
        self.latest: dict[int, Elaborator] = {}
        self.word_types: dict[int, Type] = {}  # what applications of NumPy's names gave, by node: their ranks are known only so
        self.many_places: set[int] = set()  # index expressions in which index arrays stand
        self.adopted: dict[int, ir.Function] = {}  # functions that another session has elaborated and checked
        self._others: list[Session] = []  # kept alive, so that ids name what they named there
        self.recorder: Any = None  # remembers the type of every expression (elaborate/explain.py)
        self.locals: dict[int, tuple[Any, Any]] = {}  # local functions as elaborate/ranks sees them (elaborate/flexible.py)
        self.alone: dict[Any, tuple[Any, tuple[int | None, ...]]] = {}  # local functions that need no insertion, and their ranks

    def instance(self, fn: Any, types: dict[str, Type], caller: Elaborator | None, span: Span) -> ir.Function:
        """The core function for these types, elaborated on first use."""
        key = (id(fn), *sorted((name, repr(type_key(t))) for name, t in types.items()))
        found = self.instances.get(key)
        if found is not None:
            if found.body is None:
                found.recursive = True
                if fn.signature.blanks:
                    fail("E0312", span, name=fn.name, where=caller.name if caller else None)
                if fn.signature.result is None:
                    fail("E0123", span, name=fn.name, where=caller.name if caller else None)
            return found
        if fn.made is not None:
            self.instances[key] = made = fn.made
            self._size_params[id(made)] = {sym for sym, t in made.params if t == SCALARS["i64"]}
            return made  # type: ignore[no-any-return]
        if caller is not None and not types and (ready := self._adopt(fn, key)) is not None:
            return ready
        if sum(k[0] == id(fn) for k in self.instances) > _INSTANCES or any(_is_huge(t) for t in types.values()):
            fail("E1114", span, name=fn.name, where=caller.name if caller else None)
        before = dict(self.instances)
        try:
            return _elaborate(self, fn, types, key)
        except Error as error:
            if error.code not in ("E0301", "E0302", "E0309") or fn.signature.result is None or not hides_sizes(fn.signature.result):
                raise
        self.instances = before  # some path returns another size: sizes of the result are its value's own
        return _elaborate(self, fn, types, key, hide=True)

    def _adopt(self, fn: Any, key: tuple[Any, ...]) -> ir.Function | None:
        """The function as it was elaborated when it was declared, with all it calls: a program of many functions reads each of them once."""
        other: Session | None = getattr(fn, "_session", None)
        if other is None or fn._core is None or self.recorder is not None or other.captures.changed() is not None:
            return None
        if key not in other.instances or any(self.instances.get(k, f) is not f for k, f in other.instances.items()):
            return None
        for name in ("instances", "_size_params", "elaborators", "latest", "rank_schemes", "number_variables", "decided", "plans", "decisions", "local_ranks", "word_types", "locals", "alone", "adopted"):
            mine: dict[Any, Any] = getattr(self, name)
            for k, value in getattr(other, name).items():
                mine.setdefault(k, value)
        self.adopted |= {id(f): f for f in other.instances.values()}
        self.bounded |= other.bounded
        self.firm |= other.firm
        self.many_places |= other.many_places
        self.captures.take(other.captures)
        self._others.append(other)
        return other.instances[key]

    def size_params(self, fn: ir.Function) -> set[Sym]:
        """Integer parameters that occur in sizes: declared ones, those found for the result, and what must hold on entry."""
        found = {leaf for p in (*sizes_in(fn.result), *(need.poly for need in fn.requires)) for leaf in p.leaves()}
        return self._size_params[id(fn)] | {sym for sym, _ in fn.params if sym in found}

    def local_size(self, el: Elaborator, p: Poly, span: Span) -> Poly:
        """A declared size in this function's own symbols."""
        for leaf in p.leaves():
            if leaf not in el.home.sizes:
                el.fail("E0304", span, name=repr(leaf))
        return p.subst(el.home.sizes)

    def spend_duplication(self, el: Elaborator, span: Span) -> None:
        """Branches that return only sometimes copy the rest of the body; a program must not explode that way."""
        self._duplications += 1
        if self._duplications > _DUPLICATIONS:
            el.fail("E0124", span)


def _is_huge(t: Type) -> bool:
    """A type nobody wrote: it doubles at every instance of a function that calls itself with larger types."""
    return has_more_parts(t, _PARTS)


def _elaborate(session: Session, fn: Any, types: dict[str, Type], key: tuple[Any, ...], hide: bool = False) -> ir.Function:
    return with_ranks(session, fn, lambda: _attempt(session, fn, types, key, hide))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a function is given, in symbols of this instance."""

    sizes: list[Sym]  # declared ones, then those inside the types that type variables stand for
    local: dict[Atom, Poly]  # declared sizes in them
    resolved: dict[str, Type]  # type variables
    params: list[tuple[Sym, Type]]  # as declared
    as_sizes: set[Sym]  # parameters that occur in sizes


def _entry(signature: Any, types: dict[str, Type]) -> _Entry:
    extra: list[Sym] = []

    def own_size(_: Poly) -> Poly:
        extra.append(Sym("s"))
        return poly(extra[-1])

    resolved = {name: map_sizes(t, own_size) for name, t in types.items()}  # every axis a size of its own, because one instance serves all sizes
    sizes = [Sym(sym.name) for sym in signature.sizes]
    local: dict[Atom, Poly] = {sym: poly(mine) for sym, mine in zip(signature.sizes, sizes, strict=True)}
    written = [p.type for p in signature.params] + ([] if signature.result is None else [signature.result])
    used = {leaf for t in written for size in sizes_in(t) for leaf in size.leaves()}
    params: list[tuple[Sym, Type]] = []
    as_sizes: set[Sym] = set()
    for p in signature.params:
        sym = Sym(p.name)
        if isinstance(p.type, Index) or p.type == Scalar(Index(poly(0)).dtype):
            local[size_symbol(p.name)] = poly(sym)
            if size_symbol(p.name) in used:
                as_sizes.add(sym)
        params.append((sym, p.type))
    return _Entry(sizes + extra, local, resolved, params, as_sizes)


def _declared_result(fn: Any, entry: _Entry) -> tuple[Type | None, dict[Atom, Poly]]:
    """The type that was written for the result, and the sizes in it that are the value's own (at.some)."""
    result = fn.signature.result
    open_sizes: dict[Atom, Poly] = {}
    if result is None:
        return None, open_sizes
    for leaf in (leaf for size in sizes_in(result) for leaf in size.leaves()):
        if is_some(leaf):
            open_sizes.setdefault(leaf, poly(Sym(repr(leaf))))
        elif leaf not in entry.local:
            fail("E0305", fn.surface.result.span, name=repr(leaf), where=fn.name)
    declared = subst_sizes(subst_types(result, entry.resolved), {**entry.local, **open_sizes})
    if type_vars(declared):
        fail("E0243", fn.surface.result.span, name=type_vars(declared)[0], where=fn.name)
    return declared, open_sizes


def _without_body(fn: Any, sizes: list[Sym], params: list[tuple[Sym, Type]], declared: Type | None, open_sizes: dict[Atom, Poly]) -> ir.Function:
    """The function as its callers see it, also those in its own body."""
    return ir.Function(
        fn.name,
        tuple(sizes),
        tuple(params),
        declared if declared is not None else strong(Scalar(Index(poly(0)).dtype)),
        owned=tuple(p.owned for p in fn.signature.params),
        reassociate=fn.options.reassociate and fn.options.bits != "portable",
        portable="" if fn.options.bits != "portable" else "in blocks" if fn.options.reassociate else "in order",
        plan=fn.options.plan,
        span=fn.surface.span,
        open_sizes=tuple(p.single() for p in open_sizes.values()),  # type: ignore[misc]
    )


def _bind_params(el: Elaborator, fn: Any, params: list[tuple[Sym, Type]], as_sizes: set[Sym]) -> None:
    """The names of the parameters, and what is known of their values."""
    el.scope = Scope(frame=Frame(fn.local_names, fn.surface.span))
    el.frames.append([])
    for (sym, t), p in zip(params, fn.signature.params, strict=True):
        is_int = isinstance(t, Index) or (isinstance(t, Scalar) and t.dtype.name == "i64")
        el.scope.names[p.name] = Value(ir.Var(sym, type=t, span=p.span), t, poly(sym) if is_int else None)
        if stores(t):
            el.scope.names[p.name] = loaded(el, el.scope.names[p.name], p.span)
        if holds_functions(t):
            el.made_of[sym] = None
        if isinstance(t, Index):
            el.assume(poly(sym), t.size - 1 - poly(sym))
        if sym in as_sizes:
            el.require(poly(sym), f"the size {p.name}", p.span)


def _attempt(session: Session, fn: Any, types: dict[str, Type], key: tuple[Any, ...], hide: bool) -> ir.Function:
    signature, entry = fn.signature, _entry(fn.signature, types)
    el = Elaborator(session, fn.name, Home(fn.namespace, entry.local, entry.resolved, fn))
    session.latest[id(fn)] = el
    el.entry_sizes = {*entry.sizes, *entry.as_sizes}
    if signature.blanks:
        entry.local.update(open_blanks(el, [(p.name, p.type) for p in signature.params], signature.result))
    params = [(sym, subst_sizes(subst_types(t, entry.resolved), entry.local)) for sym, t in entry.params]
    session.bounded |= set(entry.sizes)
    el.facts = el.facts.add([*map(poly, entry.sizes), *(size for _, t in params for size in sizes_in(t) if size.single() is None)])
    declared, open_sizes = _declared_result(fn, entry)
    out = _without_body(fn, entry.sizes, params, declared, open_sizes)
    el.hidden = declared if hide else None
    el.returns = declared
    session.instances[key] = out
    session._size_params[id(out)] = entry.as_sizes
    session.elaborators[id(out)] = el
    try:
        _bind_params(el, fn, params, entry.as_sizes)
        result = _external(el, fn, out, open_sizes) if fn.external is not None else body(el, fn.surface.body, fn.liveness)
        if result is None:
            fail("E0121", fn.surface.span, name=fn.name)
        if not isinstance(result, Value):
            if not isinstance(declared, Fn):
                _no_value(el, fn, result)
            result = as_function(el, result, declared, fn.surface.span)
        if declared is None and result.type == Record(NONE, ()):
            el.fail("E0113", fn.surface.span, help="return the result, not None")
        if hide:
            assert declared is not None
            result = open_value(el, result.expr, declared, [p.single() for p in open_sizes.values()], fn.surface.span)  # type: ignore[misc]
        _finish(el, fn, out, result, declared, set(open_sizes.values()))
        if fn.vjp is not None:
            out.vjp = session.instance(fn.vjp, _rule_types(fn.vjp, types), None, fn.surface.span)
        if fn.jvp is not None:
            out.jvp = session.instance(fn.jvp, _rule_types(fn.jvp, types), None, fn.surface.span)
        out.believed = fn.believed
    except BaseException:
        del session.instances[key]
        raise
    return out


def _rule_types(rule: Any, types: dict[str, Type]) -> dict[str, Type]:
    """What the type variables of a derivative that was supplied stand for: what those of the function do."""
    return {name: t for name, t in types.items() if name in rule.signature.type_vars}


def _no_value(el: Elaborator, fn: Any, result: Any) -> NoReturn:
    """What is returned is a function, or something else that no array or number stands for."""
    parts = result.items if isinstance(result, TupleEntity) else (result,)
    for part in parts:
        if isinstance(part, (NoneEntity, TypeRef)):
            el.fail("E0232", fn.surface.span, found=describe(part), help=f"{describe(part)} is nothing that is returned: return numbers, arrays, tuples or records")
    el.fail("E0244", fn.surface.span, name=fn.name)


def _external(el: Elaborator, fn: Any, out: ir.Function, open_sizes: dict[Atom, Poly]) -> Value:
    """The body of a function whose code is in a module compiled before."""
    args = tuple(ir.Var(sym, type=t) for sym, t in out.params)
    fresh: dict[Atom, Poly] = {s: poly(Sym(s.name)) for p in open_sizes.values() if (s := p.single()) is not None and isinstance(s, Sym)}
    t = subst_sizes(out.result, fresh)
    code = ir.Extern(fn.external, fn.name, tuple(map(poly, out.sizes)), args, type=t, span=fn.surface.span)
    if not fresh:
        return Value(code, t)
    return open_value(el, code, t, [p.single() for p in fresh.values()], fn.surface.span)  # type: ignore[misc]


def _finish(el: Elaborator, fn: Any, out: ir.Function, result: Value, declared: Type | None, opened: set[Poly]) -> None:
    """Give the result its type, solve the sizes, put them in, and move checks on sizes to the entry."""
    span = fn.surface.result.span if fn.surface.result is not None else fn.surface.span
    env: dict[Atom, Poly] = {}
    if declared is not None:
        env = _open_match(declared, result.type, opened)
        result = coerce(el, result, subst_sizes(declared, env), _returned(fn.surface) or span, "the result")
    t = strong(result.type)
    code = el.close(result.expr)
    if el.large_literals:
        for node in walk(code):
            if isinstance(node, ir.Lit) and node.type == SCALARS["i64"] and isinstance(node.value, int) and node.value >= 2**63:
                el.fail("E0212", node.span, value=node.value, dtype="i64")
    el.finish_sizes()
    if fn.signature.blanks:
        close_blanks(el, out)
    ghosts = [sym for sym in el.solver.unknowns if sym not in el.solver.solution]
    resolve = el.solver.resolve

    def final_type(x: Type) -> Type:
        return map_sizes(x, resolve)

    requires = [ir.Require(resolve(r.poly), r.text, r.span) for r in el.requires]
    if el.solver.solution:
        code = transform(code, resolve, final_type)
    if ghosts:
        _check_ghosts(el, code, set(ghosts))
    t = final_type(t)
    inner = {leaf for size in sizes_in(t) for leaf in size.leaves()} - set(out.sizes) - {sym for sym, _ in out.params}
    order = {leaf: k for k, leaf in enumerate(leaf for size in sizes_in(t) for leaf in size.leaves())}
    out.open_sizes = tuple(sorted((leaf for leaf in inner if isinstance(leaf, Sym)), key=lambda s: order[s]))
    name_open_sizes(out.open_sizes, {sym: resolve(p) for sym, p in env.items()}, [s.name for s in (*out.sizes, *(p for p, _ in out.params))])

    out.result = t
    out.body, out.requires = settle(code, requires, resolve, el.checks_inside)


def _returned(fn: s.Function) -> Span | None:
    """The place of what is returned, when there is one such place."""

    def returns(body: tuple[s.Stmt, ...]) -> list[s.Return]:
        found: list[s.Return] = []
        for stmt in body:
            match stmt:
                case s.Return():
                    found.append(stmt)
                case s.If(_, then, orelse):
                    found += returns(then) + returns(orelse)
                case s.Match(_, cases):
                    found += [r for case in cases for r in returns(case.body)]
        return found

    only = returns(fn.body)
    return only[0].value.span if len(only) == 1 and only[0].value is not None else None


def _open_match(declared: Type, found: Type, opened: set[Poly]) -> dict[Atom, Poly]:
    """An existential size of the declared result is whatever size the value has there."""
    env: dict[Atom, Poly] = {}

    def go(d: Type, f: Type) -> None:
        if isinstance(d, Array) and isinstance(f, Array):
            sym = d.size.single()
            if sym is not None and d.size in opened:
                env.setdefault(sym, f.size)
            go(d.elem, f.elem)
        else:
            for a, b in zip(getattr(d, "items", ()), getattr(f, "items", ()), strict=False):
                go(a, b)

    go(declared, found)
    return env


def _check_ghosts(el: Elaborator, code: ir.Expr, ghosts: set[Sym]) -> None:
    """A size nothing determines is an error at the place that needs it."""
    for node in walk(code):
        if isinstance(node, ir.Node):
            for size in (*sizes_in(node.type), *_own_polys(node)):
                bad = [leaf for leaf in size.leaves() if leaf in ghosts]
                if bad:
                    notes = el.lift_notes(node.span)
                    name = el.words(poly(bad[0]))
                    scalar = re.fullmatch(r"len\(rep\((\w+)\)\)", name)
                    is_len = scalar is not None and node.span.text() == f"len({scalar[1]})"
                    help_ = f"{scalar[1]} is not an array; only arrays have a length" if scalar and is_len else _array_last(node.span.text(), name)
                    el.fail("E0303", node.span, name=name, found=el.show(node.type), notes=notes, help=help_)


def _array_last(text: str, name: str) -> str | None:
    """reduce(f, xs, 0.0) has the order of Python's functools: its array was taken for the neutral element, and the number for the array."""
    written = re.match(r"(reduce|scan|fold)\(", text)
    if written is None or not name.startswith("len(rep("):
        return None
    return {"reduce": "the array comes last: reduce(op, ne, xs)", "scan": "the array comes last: scan(op, ne, xs)", "fold": "the array comes last: fold(f, init, xs)"}[written[1]]


def _own_polys(node: ir.Node) -> list[Poly]:
    """The polynomials a node holds besides its type: a size's value, the sizes of a call, an extent."""
    fields = [getattr(node, name) for name in ("poly", "size", "sizes", "params") if hasattr(node, name)]
    parts = [part for value in fields for part in (value if isinstance(value, tuple) else (value,))]
    return [part for part in parts if isinstance(part, Poly)]
