"""An element that is replaced by whatever is better, round after round, is the best of all rounds (reduction of a guarded maximum in memory).

    for in order j:  if x[j] < x[i]:  if y[j] + 1 > y[i]:  y[i] = y[j] + 1
becomes
    if there is a round:  v = y[i];  accumulate m by max over j:  m max= (y[j] + 1 if x[j] < x[i] else v);     y[i] = max(v, m)

    best_in_place(loop, known)    the statements above; `known`: what is not negative around the loop

Right for integers, where a round does nothing else and leaves no variable behind; the element is the same in all rounds, is there in any case, and is compared last; and what a round reads besides
is never that element. A round is looked at as the conditions under which it stores, in their order, and what it stores.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.dependence import Place, never_meet, plain
from atoll.loops.questions import atoms, loads, told
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.predicate import defined, total
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.regroup import combined
from atoll.sizes import Poly, poly
from atoll.sizes.prover import facts
from atoll.types.dtypes import BOOL

_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.If, lp.Store, lp.Note)
_BETTER = {"gt": "maximum", "ge": "maximum", "lt": "minimum", "le": "minimum"}
_TURNED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}
Tests = tuple[lp.Test, ...]


@dataclass(frozen=True, slots=True)
class _Round:
    """What a round does: under these conditions it stores."""

    tests: Tests
    store: lp.Store
    lets: dict[lp.Var, lp.Expr]


def best_in_place(loop: lp.For, known: tuple[Poly, ...]) -> Made:
    if loop.parallel or loop.vector or loop.unroll or not copyable(loop.body) or not all(isinstance(s, _STRAIGHT) for s in lp.walk(loop.body)):
        return Refused("its rounds are not in order, or do more than compute, store and choose")
    found = _round(loop)
    if isinstance(found, Refused):
        return found
    element = lp.Load(found.store.buffer, found.store.index)
    ctx = facts((*known, *told(loop)))
    if not all(plain(p) and ctx.proves_range(p, size) for p, size in zip(element.index, element.buffer.extents, strict=True)):
        return Refused("the element may not be there")
    better = _better(found, element)
    if isinstance(better, Refused):
        return better
    way, tests = better
    names = _names(found.lets)
    value = _spelled(found.store.value, names)
    others = {*loads(tests), *loads(found.store.value), *loads(list(found.lets.values()))} - {element}
    here, around = Place(element.buffer, element.index, (), True), (*known, *told(loop))
    if any(x.buffer is element.buffer and not never_meet(here, Place(x.buffer, x.index, (), False), around) for x in others):
        return Refused("what is read may be what is written")
    if _reaches(element, (tests, value), found.lets):
        return Refused("the element decides what it is replaced by")
    best, first = fresh_like("best", element.dtype), fresh_like("first", element.dtype)
    body = _guarded(tests, value, found.lets, names, lp.Add(best, way, value))
    flat = [s for s in lp.walk(body) if not isinstance(s, (lp.If, lp.Add))]
    asked = tuple(t for s in lp.walk(body) if isinstance(s, lp.If) for t in s.tests)
    (add,) = (s for s in lp.walk(body) if isinstance(s, lp.Add))
    if asked and total([*flat, lp.BreakUnless(asked)], ctx.known, ()) is None and all(map(defined, lp.subexprs(add.value))):  # in vectors: a round that finds nothing finds what was there
        body = [*flat, lp.Add(best, way, lp.Choose(asked, add.value, lp.Use(first)))]
    rounds = lp.Accumulate(loop.sym, loop.low, loop.high, body, [lp.Acc(best, way)])
    put = lp.Store(element.buffer, element.index, combined(way, lp.Use(first), lp.Use(best)))
    return [lp.If((lp.Test("ge", loop.high - loop.low - 1),), [lp.Let(first, element), rounds, put])]


def _round(loop: lp.For) -> _Round | Refused:
    declared = {s.var for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare))}
    stores = [s for s in lp.walk(loop.body) if isinstance(s, lp.Store)]
    if len(stores) != 1 or not stores[0].buffer.dtype.is_integer or stores[0].buffer.rows is not None:
        return Refused("a round does not store one integer")
    if any(isinstance(s, lp.Assign) and (s.var not in declared or s.var.dtype is not BOOL) for s in lp.walk(loop.body)):
        return Refused("rounds leave more than the element")
    if any(loop.sym in p.leaves() or any(isinstance(a, lp.VarAtom) and a.var in declared for a in p.leaves()) for p in stores[0].index):
        return Refused("rounds store into different elements")
    lets: dict[lp.Var, lp.Expr] = {}
    flags: dict[lp.Var, Tests] = {}  # bools that are false but for what one branch says
    under: list[Tests] = []

    def go(stmts: lp.Stmts, tests: Tests) -> bool:
        for s in stmts:
            match s:
                case lp.Let(var, value):
                    lets[var] = value
                case lp.Declare(var, value) if var.dtype is BOOL and isinstance(value, lp.Const) and value.value is False:
                    flags[var] = ()
                case lp.Assign(var, value) if flags.get(var) == ():
                    flags[var] = (*tests, *_terms((lp.Test("true", None, value),), flags, lets))
                case lp.If(own, then, orelse):
                    if orelse or not go(then, (*tests, *_terms(own, flags, lets))):
                        return False
                case lp.Store():
                    under.append(tests)
                case lp.Note():
                    pass
                case _:
                    return False
        return True

    if not go(loop.body, ()):
        return Refused("a round does more than one thing or another")
    if not declared.isdisjoint(set(lp.used_vars((*under[0], stores[0].value, *lets.values()))) - lets.keys()):
        return Refused("a condition is not what one place makes it")
    return _Round(under[0], stores[0], lets)


def _terms(tests: Tests, flags: dict[lp.Var, Tests], lets: dict[lp.Var, lp.Expr]) -> Tests:
    """Conditions taken apart, in the order in which they are asked."""
    out: list[lp.Test] = []
    for t in tests:
        match t:
            case lp.Test("true", None, lp.Use(var)) if flags.get(var):
                out += _terms(flags[var], flags, lets)
            case lp.Test("true", None, lp.Use(var)) if var in lets:
                out += _terms((lp.Test("true", None, lets[var]),), flags, lets)
            case lp.Test("true", None, lp.Truth(inside)):
                out += _terms(inside, flags, lets)
            case lp.Test("true", None, lp.Call("and", (a, b), _)) if a.dtype is BOOL:
                out += _terms((lp.Test("true", None, a), lp.Test("true", None, b)), flags, lets)
            case _:
                out.append(t)
    return tuple(out)


def _better(found: _Round, element: lp.Load) -> tuple[str, Tests] | Refused:
    """Which way is better, and the conditions before the one that says so."""
    match found.tests[-1:]:
        case (lp.Test("true", None, lp.Call(op, (a, b), _)),) if op in _BETTER and element in (a, b):
            if a == element:
                a, b, op = b, a, _TURNED[op]
            names = _names(found.lets)
            if _spelled(a, names) == _spelled(found.store.value, names):
                return _BETTER[op], found.tests[:-1]
    return Refused("what is stored is not what is better")


def _names(lets: dict[lp.Var, lp.Expr]) -> dict[lp.Var, lp.Var]:
    """One variable for all that are the same."""
    first: dict[lp.Expr, lp.Var] = {}
    names: dict[lp.Var, lp.Var] = {}
    for var, value in lets.items():
        names[var] = first.setdefault(_spelled(value, names), var)
    return names


def _renaming(names: dict[lp.Var, lp.Var]) -> Copier:
    copier = Copier({old.atom: poly(new.atom) for old, new in names.items()})
    copier.vars.update(names)
    return copier


def _spelled(e: lp.Expr, names: dict[lp.Var, lp.Var]) -> lp.Expr:
    return _renaming(names).expr(e)


def _reaches(element: lp.Load, what: object, lets: dict[lp.Var, lp.Expr]) -> bool:
    """The element is among what these are made of."""
    seen: set[lp.Var] = set()
    left = [what]
    while left:
        x = left.pop()
        if element in loads(x):
            return True
        for atom in atoms(x):
            if isinstance(atom, lp.VarAtom) and atom.var in lets and atom.var not in seen:
                seen.add(atom.var)
                left.append(lets[atom.var])
    return False


def _guarded(tests: Tests, value: lp.Expr, lets: dict[lp.Var, lp.Expr], names: dict[lp.Var, lp.Var], add: lp.Add) -> lp.Stmts:
    """What a condition is made of stands before it, and nothing earlier."""
    fresh = {var: fresh_like(var.name, var.dtype) for var in dict.fromkeys(names.values())}
    copier = _renaming({old: fresh[same] for old, same in names.items()})
    made: set[lp.Var] = set()

    def needed(x: object) -> list[lp.Stmt]:
        out: list[lp.Stmt] = []
        for atom in sorted((a for a in atoms(x) if isinstance(a, lp.VarAtom)), key=lambda a: a.uid):
            var = names.get(atom.var, atom.var)
            if var in lets and var not in made:
                made.add(var)
                out += [*needed(lets[var]), lp.Let(fresh[var], copier.expr(lets[var]))]
        return out

    def under(left: Tests) -> list[lp.Stmt]:
        if not left:
            return [*needed(value), lp.Add(add.var, add.monoid, copier.expr(value))]
        before = needed(left[0])
        return [*before, lp.If((copier.test(left[0]),), under(left[1:]))]

    return under(tests)
