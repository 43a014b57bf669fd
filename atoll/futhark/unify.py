"""Unification of Futhark's types. Sizes that differ are told by `SizeMismatch`, other types by `Mismatch`."""

from __future__ import annotations

from typing import Any

from atoll.futhark.env import Binding
from atoll.futhark.ftypes import (
    I64,
    Arr,
    Con,
    DExp,
    Dim,
    DOp,
    DRef,
    DVar,
    Fun,
    Prim,
    Rec,
    Sum,
    TVar,
    Type,
    free_vars,
    has_function,
    in_words,
    key_of_dim,
    leaves_of,
    map_dim,
    map_type,
    names_in,
    prune,
    prune_dim,
    replaced,
    same_dim,
    settled_key,
    show,
    show_dim,
    unsized,
)

BOTTOM = 1_000_000  # the level of what exists inside one type only


class Mismatch(Exception):
    pass


class SizeMismatch(Mismatch):
    never = False  # no coercion helps: two numbers, a size that is not there


class Scope(SizeMismatch):
    """A size is used where its variable does not exist."""

    never = True


def unify(a: Type, b: Type, late: list[SizeMismatch] | None = None) -> None:
    """Make both the same. Sizes that differ are raised, or put into `late` and the rest goes on."""
    a, b = prune(a), prune(b)
    if a is b:
        return
    if isinstance(a, TVar):
        _bind(a, b, late)
        return
    if isinstance(b, TVar):
        _bind(b, a, late)
        return
    match a, b:
        case Prim(x), Prim(y) if x == y:
            return
        case Arr(d, x), Arr(e, y):
            _dims(d, e, late)
            unify(x, y, late)
            return
        case Rec(fs), Rec(gs) if fs.keys() == gs.keys():
            for f in fs:
                unify(fs[f], gs[f], late)
            return
        case Sum(cs), Sum(ds) if cs.keys() == ds.keys() and all(len(cs[c]) == len(ds[c]) for c in cs):
            for c in cs:
                for x, y in zip(cs[c], ds[c], strict=True):
                    unify(x, y, late)
            return
        case Fun(), Fun():
            unify(a.param, b.param, late)
            unify(a.result, matching_names(a, b), late)
            return
        case Con(), Con() if a.key is b.key and len(a.args) == len(b.args):
            for p, q in zip(a.args, b.args, strict=True):
                if is_dim(p):
                    _dims(p, q, late)
                else:
                    unify(p, q, late)
            return
    raise Mismatch(f"{show(a)} is not {show(b)}")


def _dims(d: Dim, e: Dim, late: list[SizeMismatch] | None) -> None:
    try:
        unify_dims(d, e)
    except SizeMismatch as problem:
        if late is None:
            raise
        late.append(problem)


def matching_names(a: Fun, b: Fun) -> Type:
    """The result of b, with its parameter called as in a and its own sizes left open."""
    names: dict[int, Dim] = {}
    if b.name is not None and a.name is not None:
        names[id(b.name)] = DRef(a.name)
    for y in b.exists:  # any size will do, wherever it stands the same
        names[id(y)] = DVar(BOTTOM, of_use=True)
    if not names:
        return b.result
    return rename(b.result, names)


def rename(t: Type, names: dict[int, Dim]) -> Type:
    return map_type(t, lambda x: None, lambda d: map_dim(d, lambda x: replaced(x, names)))


def is_dim(x: Any) -> bool:
    return not isinstance(x, (Prim, Arr, Rec, Sum, Fun, Con, TVar))


def unify_dims(d: Dim, e: Dim) -> None:
    d, e = prune_dim(d), prune_dim(e)
    if same_dim(d, e):
        return
    if _to_come(d, e) or _to_come(e, d):
        return  # what is computed is looked at when the program runs
    if isinstance(d, DVar):
        bind_dim(d, e)
    elif isinstance(e, DVar):
        bind_dim(e, d)
    elif isinstance(d, DOp) and isinstance(e, DOp) and d.op == e.op:
        try:
            unify_dims(d.left, e.left)
            unify_dims(d.right, e.right)
        except Scope:
            raise
        except SizeMismatch:  # the whole is told
            raise _differ(d, e) from None
    elif not (isinstance(d, DExp) and isinstance(e, DExp) and _expressions(d, settled_key(d), e, settled_key(e))):
        raise _differ(d, e)


def _differ(d: Dim, e: Dim) -> SizeMismatch:
    a, b = in_words(d), in_words(e)
    told = SizeMismatch(f"the size {a} is not {b}" if a != b else f"the size {a} of one value is not that of the other: each is known only by its own value")
    told.never = isinstance(d, int) and isinstance(e, int)
    return told


def _expressions(d: DExp, left: Any, e: DExp, right: Any) -> bool:
    """Two expressions of one form are one size where the sizes they are given are: [inc n] is [inc k] for n = k."""
    if left == right:
        return True
    for key, other, own, others in ((left, right, d, e), (right, left, e, d)):
        open_ = _named(key, own) if isinstance(key, tuple) and key[:1] == ("size",) else None
        found = _named(other, others)
        if isinstance(open_, DVar) and found is not None:
            unify_dims(open_, found)
            return True
    if not (isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right)):
        return False
    return all(_expressions(d, x, e, y) for x, y in zip(left, right, strict=True))


def _named(key: Any, d: DExp) -> Dim | None:
    """The size that a part of a key stands for."""
    match key:
        case ("lit", int(n)):
            return n
        case ("var", name):
            return next((DRef(b) for b in _known(d) if id(b) == name), None)
        case ("size", name):
            return next((x for _, dim in d.given for x in leaves_of(dim) if id(x) == name), None)
        case ("BinOp", (str(op),), left, right, False):
            a, b = _named(left, d), _named(right, d)
            return DOp(op, a, b) if a is not None and b is not None else None
    return None


def bind_dim(var: DVar, d: Dim) -> None:
    if var.of_use and var.level < BOTTOM and any(b.level == BOTTOM for b in _names(d)):
        d = to_come(var.level, d)

    def leaf(x: Dim) -> Dim:
        if x is var:
            raise SizeMismatch(f'the size "{show_dim(d)}" contains itself')
        if isinstance(x, DVar):
            x.level = min(x.level, var.level)
        if isinstance(x, DRef) and getattr(x.binding, "level", 0) > var.level:
            raise Scope(f'the size "{show_dim(x)}" is not in scope')
        return x

    map_dim(d, leaf)
    if isinstance(d, DVar):
        d.of_loop, d.of_use = d.of_loop or var.of_loop, d.of_use and var.of_use
    var.link = d


def _names(d: Dim) -> list[Any]:
    """The names that a size is about. Those of the level BOTTOM are inside the type of a function only: each call has its own."""
    found: list[Any] = []
    for x in leaves_of(d):
        if isinstance(x, DRef):
            found.append(x.binding)
        elif isinstance(x, DExp):
            about = names_in(settled_key(x))
            found += [b for b in _known(x) if id(b) in about]
    return found


def _known(d: DExp) -> list[Any]:
    """The names of an expression, and those that stand for some of them."""
    from atoll.futhark.aliases import variables

    return [*variables(d.exp), *(x.binding for _, dim in d.given for x in leaves_of(dim) if isinstance(x, DRef))]


def to_come(level: int, inside: Dim | None = None) -> DRef:
    """A size of what each call of a function makes, seen from outside of its type; `inside` it was one that a size parameter stands for."""
    return DRef(Binding("unknown", I64, "size", level=level, target=inside, born=-1))


def _to_come(d: Dim, e: Dim) -> bool:
    """Whether d is a size that each call of a function makes, where no call is. A size parameter that is one of a call is no other one of it."""
    if not (isinstance(d, DRef) and d.binding.born == -1):
        return False
    inside = d.binding.target
    return inside is None or same_dim(inside, e) or not {*map(id, _names(inside))} & {*map(id, _names(e))}


def _bind(var: TVar, t: Type, late: list[SizeMismatch] | None) -> None:
    kept = {**(var.fields or {})}, {**(var.cases or {})}
    if isinstance(t, TVar):
        _join(var, t, late)
        return
    if var.kinds is not None and not (isinstance(t, Prim) and t.name in var.kinds):
        raise Mismatch(f"{show(t)} is not {show(var)}" if len(var.kinds) > 1 else f"{show(t)} is not {var.kinds[0]}")
    types: list[TVar] = []
    dims: list[DVar] = []
    free_vars(t, types, dims)
    if var in types:
        raise Mismatch(f"Occurs check: the type would contain itself: {show(t)}")
    if var.equality and has_function(t):
        raise Mismatch(f"{show(t)} does not support equality")
    if var.unlifted and has_function(t):
        raise Mismatch(f"{show(t)} is functional, or may be: it cannot stand here")
    if var.sized and (lifted := unsized(t)) is not None:
        raise Mismatch(f'the type "{lifted}" is lifted: values of different sizes cannot stand here, as an array element cannot')
    if not var.sized:
        t = opened(t, var.level)
    _levels(t, var.level, late)
    fields, cases = kept
    if fields and not isinstance(t, Rec):
        raise Mismatch(f"{show(t)} has no field {next(iter(fields))!r}")
    if cases and not isinstance(t, Sum):
        raise Mismatch(f"{show(t)} has no constructor #{next(iter(cases))}")
    var.link = t
    if fields:
        assert isinstance(t, Rec)
        for f, x in fields.items():
            if f not in t.fields:
                raise Mismatch(f"Attempt to access field {f!r} of {show(t)}, which has none of this name")
            unify(t.fields[f], x, late)
    if cases:
        assert isinstance(t, Sum)
        for c, xs in cases.items():
            if c not in t.cases or len(t.cases[c]) != len(xs):
                raise Mismatch(f"constructor #{c} is not one of {show(t)}")
            for x, y in zip(t.cases[c], xs, strict=True):
                unify(x, y, late)


def opened(t: Type, level: int) -> Type:
    """A function's result outside of the function's type: sizes that each call makes are unknown ones."""
    own: set[int] = set()
    loose: dict[Any, Dim] = {}

    def functions(x: Type) -> Type | None:
        if isinstance(x, Fun):
            own.update(map(id, (x.name, *x.exists)))
        return None

    def outside(d: Dim) -> Dim:
        if any(b.level == BOTTOM and id(b) not in own for b in _names(d)):
            return loose.setdefault(key_of_dim(d), to_come(level))
        return d

    map_type(t, functions, lambda d: d)
    made = map_type(t, lambda x: None, outside)
    return made if loose else t


def _levels(t: Type, level: int, late: list[SizeMismatch] | None) -> None:
    def on_type(x: Type) -> Type | None:
        if isinstance(x, Con) and x.level > level:
            raise Mismatch(f'the type "{x.name}" is a parameter of an inner function: scope violation')
        if isinstance(x, TVar):
            x.level = min(x.level, level)
            for part in [*(x.fields or {}).values(), *(p for ps in (x.cases or {}).values() for p in ps)]:
                _levels(part, level, late)
        return None

    own: set[int] = set()

    def functions(x: Type) -> Type | None:
        if isinstance(x, Fun):
            own.update(map(id, (x.name, *x.exists)))
        return None

    map_type(t, functions, lambda d: d)

    def leaf(d: Dim) -> Dim:
        if isinstance(d, DVar):
            d.level = min(d.level, level)
        if isinstance(d, DRef) and getattr(d.binding, "level", 0) > level and id(d.binding) not in own:
            problem = Scope(f'the size "{show_dim(d)}" is not in scope here')
            if late is None:
                raise problem
            late.append(problem)
        return d

    map_type(t, on_type, lambda d: map_dim(d, leaf))


def _join(var: TVar, t: TVar, late: list[SizeMismatch] | None) -> None:
    """Two variables become one, with the bounds of both."""
    if var.kinds is not None and t.kinds is not None:
        both = tuple(k for k in t.kinds if k in var.kinds)
        if not both:
            raise Mismatch(f"{show(var)} is not {show(t)}")
        t.kinds = both
    else:
        t.kinds = t.kinds or var.kinds
    if t.kinds is not None and (t.fields or var.fields or t.cases or var.cases):
        raise Mismatch(f"{show(var)} is not {show(t)}")
    t.level = min(t.level, var.level)
    t.equality, t.unlifted, t.sized = t.equality or var.equality, t.unlifted or var.unlifted, t.sized or var.sized
    t.span = t.span or var.span
    mine, other = var.fields, t.fields
    var.link = t
    if mine is not None:
        t.fields = {**mine, **(other or {})}
        for f in mine:
            if other and f in other:
                unify(mine[f], other[f], late)
    cases, others = var.cases, t.cases
    if cases is not None:
        t.cases = {**cases, **(others or {})}
        for c, xs in cases.items():
            if others and c in others:
                if len(xs) != len(others[c]):
                    raise Mismatch(f"constructor #{c} has different numbers of parts")
                for x, y in zip(xs, others[c], strict=True):
                    unify(x, y, late)
    for part in [*(t.fields or {}).values(), *(p for ps in (t.cases or {}).values() for p in ps)]:  # parts live as long as the whole
        _levels(part, t.level, late)
