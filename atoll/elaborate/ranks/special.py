"""Special forms: where the text itself says what is mapped over, nothing is inserted (C-MAP, C-REP), only types must fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from atoll.elaborate.ranks.entities import Entity, Known, Local, Nothing
from atoll.elaborate.ranks.kinds import NUMBER, SCALAR, Product, RankType, Skeleton, fresh, numbers, parts, product
from atoll.elaborate.ranks.schemes import parse
from atoll.errors import Span
from atoll.sizes import ZERO, Poly, poly
from atoll.surface import syntax as s

if TYPE_CHECKING:
    from atoll.elaborate.ranks.generate import Generator

Args = list[s.Expr]
Keywords = dict[str, s.Expr]

_LEN = parse("[]a -> n")
_DOT = {
    (1, 1): parse("[]n, []n -> n"),
    (1, 2): parse("[]n, [][]n -> []n"),
    (2, 1): parse("[][]n, []n -> []n"),
    (2, 2): parse("[][]n, [][]n -> [][]n"),
}


# -- functions applied to elements


def applied(gen: Generator, fn: s.Expr, elements: list[RankType], span: Span, exact: bool) -> RankType:
    """The result of a function applied to elements. A lambda takes them as they are; a name too when `exact`, else it lifts."""
    if isinstance(fn, s.Lambda):
        return parts(gen.lambda_type(fn, elements))[-1]
    entity = gen.entity(fn)
    if isinstance(entity, Local) and not isinstance(entity.body, tuple):  # a lambda that was given a name
        named = s.Lambda(entity.params, entity.body, span=entity.span)
        return parts(gen.child_of(entity).lambda_type(named, elements))[-1]
    t = gen.as_type(entity, len(elements))
    if not exact:
        return gen.spine(fn, t, elements)
    frame, params, result = gen.signature_of(t, len(elements))
    for param, element in zip(params, elements, strict=False):
        gen.equal(param.lift(frame), element, span)
    from atoll.elaborate.ranks.generate import distribute

    return distribute(result, frame)


def _map(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    if len(args) < 2:
        return Nothing()
    elements = [gen.element(gen.expr(a), node.span) for a in args[1:]]
    return Known(applied(gen, args[0], elements, node.span, exact=True).lift(poly(1)))


def _rep(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    return Known(gen.expr(args[0]).lift(poly(1))) if args else Nothing()


def _fold(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    given = args + [keywords[k] for k in ("f", "init", "xs")[len(args) :] if k in keywords]
    if len(given) != 3:
        return Nothing()
    state = gen.expr(given[1])
    element = gen.element(gen.expr(given[2]), node.span)
    gen.equal(state, applied(gen, given[0], [state, element], node.span, exact=False), node.span)
    return Known(state)


def _filter(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    if len(args) != 2:
        return Nothing()
    xs = gen.expr(args[1])
    gen.equal(applied(gen, args[0], [gen.element(xs, node.span)], node.span, exact=True), SCALAR, node.span)
    return Known(xs)


def _hist(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    given = args + [keywords[k] for k in ("op", "ne", "k", "is", "vs")[len(args) :] if k in keywords]
    if len(given) != 5:
        return Nothing()
    op, ne, k, indices, values = given
    gen.scalar(k)
    gen.equal(gen.expr(indices), numbers(1), node.span)
    vs = gen.expr(values)
    element = gen.element(vs, node.span)
    if element.skeleton.form == "number":
        gen.equal(gen.expr(ne).lift(gen.constraints.slack()), element, node.span)
    else:
        gen.equal(gen.expr(ne), element, node.span)
    gen.equal(applied(gen, op, [element, element], node.span, exact=False), element, node.span)
    return Known(vs)


def _sort(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    key = keywords.get("key") or (args[1] if len(args) > 1 else None)
    if not args:
        return None
    if key is None or isinstance(key, s.NoneValue):
        xs = gen.expr(args[0])
        if not xs.is_product and "reverse" not in keywords:
            return None
    else:
        xs = gen.expr(args[0])
        element = gen.element(xs, node.span)
        by = applied(gen, key, [element], node.span, exact=True)
        if not by.is_product:
            gen.equal(by, SCALAR, node.span)
    name = getattr(node.fn, "id", getattr(node.fn, "name", ""))
    return Known(numbers(1) if name == "argsort" else xs)


# -- reductions that say over what they go


def _reduction(elementwise: bool) -> Callable[..., Entity | None]:
    """Over a generator (one result per element's shape), or along the axes that axis= names."""

    def form(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
        for key, value in keywords.items():
            if key in ("start", "default") and "key" not in keywords:
                gen.scalar(value)
        if len(args) == 1 and not elementwise and (found := _best_by_key(gen, args[0], keywords.get("key"), node.span)) is not None:
            return Known(found)
        if args and isinstance(args[0], s.Comprehension) and not args[0].is_list:
            element = _clauses(gen, args[0])
            if elementwise:
                element.skeleton.unify(Skeleton("number"))
                return Known(element)
            gen.equal(element, SCALAR, node.span)
            return Known(SCALAR)
        axis = keywords.get("axis") or (args[1] if len(args) == 2 and elementwise else None)
        if axis is None or not args:
            return None
        return Known(_along(gen, gen.expr(args[0]), axis, node.span))

    return form


def _best_by_key(gen: Generator, xs: s.Expr, key: s.Expr | None, span: Span) -> RankType | None:
    """min(xs, key=f), and min of a generator of tuples: an element."""
    if isinstance(xs, s.Comprehension) and not xs.is_list:
        if key is None and not isinstance(xs.element, s.TupleDisplay):
            return None
        xs = s.Comprehension(xs.element, xs.clauses, True, span=xs.span)
    elif key is None:
        return None
    element = gen.element(gen.expr(xs), span)
    if key is not None and not isinstance(key, s.NoneValue):
        by = applied(gen, key, [element], span, exact=True)
        if not by.is_product:
            gen.equal(by, SCALAR, span)
    return element


def _along(gen: Generator, t: RankType, axis: s.Expr, span: Span) -> RankType:
    if isinstance(axis, s.NoneValue):
        return SCALAR
    count = len(axis.items) if isinstance(axis, s.TupleDisplay) else 1
    rest = fresh("rest")
    gen.equal(t, rest.lift(poly(count)), span)
    return rest


# -- making arrays


def _shape(gen: Generator, node: s.Expr) -> int | None:
    """How many axes a shape has."""
    if isinstance(node, s.TupleDisplay):
        for item in node.items:
            gen.scalar(item)
        return len(node.items)
    t = gen.expr(node)
    if t.is_product:
        return len(parts(t))
    return 1 if t.skeleton.form == "number" else None


def _filled(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    shape = args[0] if args else keywords.get("shape")
    count = _shape(gen, shape) if shape is not None else None
    return Known(numbers(count) if count is not None else fresh())


def _full(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    if len(args) != 2:
        return Nothing()
    count = _shape(gen, args[0])
    value = gen.expr(args[1])
    return Known(value.lift(poly(count)) if count is not None else fresh())


def _full_like(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    return Known(gen.expr(args[0])) if args else Nothing()


def _stack(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    t = gen.expr(args[0]) if args else fresh()
    if not t.is_product:
        return Known(t)
    items = parts(t)
    for other in items[1:]:
        gen.equal(items[0], other, node.span)
    return Known(items[0].lift(poly(1)))


def _concat(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    """concat((a, b)): the parts as one tuple."""
    if len(args) == 1 and isinstance(args[0], s.TupleDisplay):
        t = parse(", ".join(["[]a"] * len(args[0].items)) + " -> []a").instance()
        return Known(gen.spine(node, t, [gen.expr(item) for item in args[0].items], args[0].items))
    return None


def _pad(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    for other in args[1:]:
        gen.expr(other)
    return Known(gen.expr(args[0])) if args else Nothing()


def _transpose(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    axes = keywords.get("axes") or (args[1] if len(args) > 1 else None)
    if not isinstance(axes, s.TupleDisplay):
        return None
    t = parse("[]" * len(axes.items) + "a -> " + "[]" * len(axes.items) + "a").instance()
    return Known(gen.spine(node, t, [gen.expr(args[0])], args[:1]))


def _len(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    """len of a tuple is its number of items."""
    if len(args) != 1:
        return Nothing()
    t = gen.expr(args[0])
    if t.is_product and not t.axes.constant_term():
        return Known(SCALAR)
    return Known(gen.spine(node, _LEN.instance(), [t], args))


def _print(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    for arg in args:
        gen.entity(arg)
    return Nothing()


# -- iterables


def _range(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    for arg in args:
        gen.scalar(arg)
    return Known(numbers(1))


def _loop(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    if args:
        gen.expr(args[0])
    return Known(numbers(1))


def _enumerate(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    if not args:
        return Nothing()
    inner = gen.element(gen.expr(args[0]), node.span)
    return Known(product(SCALAR, inner).lift(poly(1)))


def _zip(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    return Known(product(*(gen.element(gen.expr(a), node.span) for a in args)).lift(poly(1)))


def _reversed(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    return Known(gen.expr(args[0])) if args else Nothing()


def _unzip(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    if not args:
        return Nothing()
    element = gen.element(gen.expr(args[0]), node.span)
    if not element.is_product:
        return Known(fresh())
    return Known(product(*(item.lift(poly(1)) for item in parts(element))))


# -- comprehensions, indexing, attributes


def _vjp(both: bool) -> Callable[..., Entity | None]:
    """vjp(f, x, seed) is shaped like x; vjp2 is the value of f beside it. What f is made of is its own affair."""

    def form(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
        if len(args) != 3 or keywords:
            return None
        for arg in (args[0], args[2]):
            gen.argument(arg)
        found = gen.expr(args[1])
        return Known(product(fresh("value"), found) if both else found)

    return form


def comprehension(gen: Generator, node: s.Comprehension) -> RankType:
    """[e for ...]: one new axis, whatever the number of clauses."""
    return _clauses(gen, node).lift(poly(1))


def _clauses(gen: Generator, node: s.Comprehension) -> RankType:
    inner = gen.child(gen.env.copy())
    for clause in node.clauses:
        bind_target(inner, clause.target, inner.element(inner.expr(clause.iter), clause.span))
        for condition in clause.conditions:
            inner.scalar(condition)
    return inner.expr(node.element)


def bind_target(gen: Generator, target: Any, t: RankType) -> None:
    """Give the names of a target their types."""
    match target:
        case s.Name(id):
            gen.env.names[id] = Known(t)
        case s.TupleTarget(items):
            for item, part in zip(items, unpack(gen, t, len(items), target.span), strict=True):
                bind_target(gen, item, part)


def unpack(gen: Generator, t: RankType, count: int, span: Span) -> list[RankType]:
    """The parts of a tuple, or the elements of an array of literal size."""
    if t.is_product and not (isinstance(t.body, Product) and t.axes.constant_term()):
        found = parts(t)
        return found if len(found) == count else [fresh() for _ in range(count)]
    if t.axes.constant_term() >= 1:
        return [gen.element(t, span)] * count
    made = [fresh(f"u{k}") for k in range(count)]

    def resume(give_up: bool) -> bool:
        if t.is_product:
            for part, item in zip(parts(t), made, strict=False):
                gen.equal(part, item, span)
        else:
            inner = gen.element(t, span)
            for item in made:
                gen.equal(inner, item, span)
        return True

    gen.constraints.wait_for(t, resume)
    return made


def subscript(gen: Generator, node: s.Subscript) -> RankType:
    """a[i, lo:hi] of an array, t[0] of a tuple; what is indexed may only be known later."""
    t = gen.expr(node.value)
    only = node.items[0] if len(node.items) == 1 else None
    literal = only.value if isinstance(only, s.Num) and isinstance(only.value, int) else None
    if literal is None or t.axes.constant_term() >= 1 or t.skeleton.form == "number":
        return _index(gen, t, node)
    result = fresh("item")

    def resume(give_up: bool) -> bool:
        found = t.is_product and not t.axes.constant_term()
        items = parts(t) if found else []
        if found and -len(items) <= literal < len(items):
            gen.equal(items[literal], result, node.span)
        else:
            gen.equal(_index(gen, t, node), result, node.span)
        return True

    gen.constraints.wait_for(t, resume)
    return result


def _index(gen: Generator, t: RankType, node: s.Subscript) -> RankType:
    """Leading axes are taken or cut; arrays of indices lift like arguments of a function of numbers."""
    kept, taken, indices = 0, 0, []
    if id(node) in gen.names.session.word_types:
        return gen.found(node)
    for item in node.items:
        if isinstance(item, s.NewAxis):
            kept += 1
            continue
        if isinstance(item, s.Ellipsis):
            return _dotted(t, node)
        taken += 1
        if isinstance(item, s.Slice):
            kept += 1
            for bound in (item.low, item.high):
                if bound is not None and not isinstance(bound, s.NoneValue):
                    gen.scalar(bound)
        else:
            indices.append((item, gen.expr(item)))
    rest = _below(gen, t, taken, node.span)
    frame: Poly = ZERO
    for k, (item, index) in enumerate(indices):
        app = gen.constraints.apply(node, k, frame, SCALAR, index, item)
        frame = frame + poly(app.maps)
    return rest.lift(frame + kept)


def _below(gen: Generator, t: RankType, count: int, span: Span) -> RankType:
    if t.axes.constant_term() >= count:
        return RankType(t.axes - count, t.body)
    rest = fresh("rest")
    gen.equal(t, rest.lift(poly(count)), span)
    return rest


def _dotted(t: RankType, node: s.Subscript) -> RankType:
    """a[..., i]: as many axes as there are; only where that is a number already."""
    axes = t.axes.const()
    dropped = sum(1 for item in node.items if not isinstance(item, (s.Slice, s.Ellipsis, s.NewAxis)))
    if axes is None or axes < dropped:
        return fresh("rest")
    added = sum(1 for item in node.items if isinstance(item, s.NewAxis))
    return RankType(poly(axes - dropped + added), t.body)


def attribute(gen: Generator, t: RankType, name: str, span: Span) -> RankType:
    """p.x of a record, .T, .shape, .real, ... of an array."""
    if t.is_product:
        form = t.skeleton.form
        fields = getattr(form[1], "fields", ()) if isinstance(form, tuple) else ()
        if name in fields:
            outer = t.axes
            return parts(t)[fields.index(name)].lift(outer)
    if name == "T":
        inner = fresh("e")
        gen.equal(t, inner.lift(poly(2)), span)
        return inner.lift(poly(2))
    if name in ("ndim", "size"):
        return SCALAR
    if name == "shape":
        axes = t.axes.const()
        return product(*[SCALAR] * axes) if axes is not None and t.skeleton.form == "number" else fresh("shape")
    if name in ("real", "imag"):
        return t
    return fresh(name)


def matmul(gen: Generator, left: s.Expr, right: s.Expr, node: s.Node) -> RankType:
    """a @ b: by the ranks where they are known, of matrices otherwise."""

    def axes(t: RankType) -> int:
        known = t.axes.const()
        return 2 if known is None or t.skeleton.form != "number" or not _is_plain(t) else max(1, min(known, 2))

    a, b = gen.expr(left), gen.expr(right)
    if not _is_plain(a) or not _is_plain(b):
        result = fresh("product")

        def resume(give_up: bool) -> bool:
            t = _DOT[axes(a), axes(b)].instance()
            gen.equal(gen.spine(node, t, [a, b], [left, right]), result, node.span)
            return True

        gen.constraints.wait_for(a, resume)
        return result
    return gen.spine(node, _DOT[axes(a), axes(b)].instance(), [a, b], [left, right])


def _is_plain(t: RankType) -> bool:
    return t.axes.const() is not None and t.body is NUMBER


def _matmul(gen: Generator, node: s.Call, args: Args, keywords: Keywords) -> Entity | None:
    return Known(matmul(gen, args[0], args[1], node)) if len(args) == 2 else Nothing()


FORMS: dict[str, Callable[..., Entity | None]] = {
    "map": _map,
    "rep": _rep,
    "fold": _fold,
    "filter": _filter,
    "hist": _hist,
    "sort": _sort,
    "sorted": _sort,
    "argsort": _sort,
    **dict.fromkeys(("sum", "prod", "mean"), _reduction(True)),
    **dict.fromkeys(("min", "max", "any", "all", "argmin", "argmax"), _reduction(False)),
    "zeros": _filled,
    "ones": _filled,
    "full": _full,
    "full_like": _full_like,
    "stack": _stack,
    "concat": _concat,
    "pad": _pad,
    "transpose": _transpose,
    "len": _len,
    "print": _print,
    "range": _range,
    "loop": _loop,
    "enumerate": _enumerate,
    "zip": _zip,
    "reversed": _reversed,
    "unzip": _unzip,
    "matmul": _matmul,
    "vjp": _vjp(both=False),
    "vjp2": _vjp(both=True),
}
