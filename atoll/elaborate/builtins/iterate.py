"""range, enumerate, zip, reversed, at.loop: what loops and comprehensions go over."""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import compare
from atoll.elaborate.builtins.reshape import view
from atoll.elaborate.calls import Args
from atoll.elaborate.comprehension import counted_rounds, iterable, range_of
from atoll.elaborate.elaborator import Elaborator, Mismatch
from atoll.elaborate.entities import Value
from atoll.errors import Span
from atoll.sizes import Poly, poly
from atoll.surface import syntax as s
from atoll.types.types import I64_T, Array, Index, Tuple


def _range(args: Args) -> en.Iterable:
    el = args.el
    if args.keywords:
        el.fail("E0236", args.span, name="range", keyword=next(iter(args.keywords)), help="give the bounds by position: range(low, high, step)")
    if not 1 <= len(args.args) <= 3:
        el.fail("E0235", args.span, name="range", expected="1 to 3 arguments", found=len(args.args))
    bounds = [args.poly(a, "a bound of range") for a in args.args]
    step = 1
    if len(bounds) == 3:
        const = bounds[2].const()
        if const is None:
            return stepping(el, bounds[0], bounds[1], bounds[2], args.span)
        if const == 0:
            el.fail("E0223", args.span, help="write another step: range(n - 1, -1, -1) goes backwards")
        step = const
    low, high = (poly(0), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    return range_of(el, low, high, step, args.span)


def stepping(el: Elaborator, low: Poly | None, high: Poly | None, step: Poly, span: Span, size: Poly | None = None) -> en.Iterable:
    """A range whose step only running decides: its rounds are counted before. A step of 0 is a division by zero. Bounds that are left out are
    the ends of `size`, of which the sign of the step decides which is which. The same range has the same size wherever it stands."""
    key = (low, high, step, size)
    for known, block, found in el.stepped_ranges:
        if known == key and any(block is frame for frame in el.frames):
            return found

    def number(p: Poly) -> Value:
        return Value(ir.SizeOf(p, type=I64_T, span=span), I64_T, p)

    back = compare(el, "<", number(step), number(poly(0)), span)

    def either(downwards: Poly, upwards: Poly) -> Value:
        return el.bind(Value(ir.If(back.expr, number(downwards).expr, number(upwards).expr, type=I64_T, span=span), I64_T))

    if size is not None:
        back = el.bind(back)
        low = either(size - 1, poly(0)).poly if low is None else low
        high = either(poly(-1), size).poly if high is None else high
    assert low is not None and high is not None
    el.emit(ir.Assert(compare(el, "!=", number(step), number(poly(0)), span).expr, span.text(), span, code="E0702"))
    count = counted_rounds(el, low, high, step, span)

    def element(el: Elaborator, index: Value) -> Value:
        assert index.poly is not None
        p = low + index.poly * step
        return number(p)

    made = en.Iterable(count, element)
    el.stepped_ranges.append((key, el.frames[-1], made))
    return made


def _iterable(args: Args, entity: Any) -> en.Iterable:
    return iterable(args.el, entity, s.NoneValue(span=args.span))


def _enumerate(args: Args) -> en.Iterable:
    xs, start = args.take("xs", optional=("start",))
    it = _iterable(args, xs)
    first = args.poly(start, "the start") if start is not None else poly(0)

    def element(el: Elaborator, index: Value) -> en.TupleEntity:
        assert index.poly is not None
        p = first + index.poly
        number = index if not first.terms else Value(ir.SizeOf(p, type=I64_T, span=args.span), I64_T, p)
        return en.TupleEntity((number, it.element(el, index)))

    return en.Iterable(it.size, element)


def zip_iterables(args: Args, entities: list[Any]) -> en.Iterable:
    """As in Python, it ends with the shortest."""
    el = args.el
    parts = [_iterable(args, x) for x in entities]
    size = parts[0].size
    for other in parts[1:]:
        shown = [p.array.type if p.array is not None else Index(p.size) for p in (parts[0], other)]
        size = _shorter(el, size, other.size, Mismatch(args.span, shown[0], shown[1], "`zip`", el.facts))

    def element(el: Elaborator, index: Value) -> en.TupleEntity:
        return en.TupleEntity(tuple(p.element(el, index) for p in parts))

    array = None
    if all(p.array is not None for p in parts):
        values = [_first(el, p.array, size, args.span) for p in parts if p.array is not None]
        elems = tuple(v.type.elem for v in values if isinstance(v.type, Array))
        core = tuple(v.expr.type.elem for v in values if isinstance(v.expr.type, Array))
        expr = ir.Zip(tuple(v.expr for v in values), type=Array(Tuple(core), size), span=args.span)
        array = Value(expr, Array(Tuple(elems), size))
    return en.Iterable(size, element, array)


def _shorter(el: Elaborator, left: Poly, right: Poly, why: Mismatch) -> Poly:
    """The smaller of two sizes: one of them where that is known, else found when the program runs. What inference still has to find is the other one."""
    left, right = el.solver.resolve(left), el.solver.resolve(right)
    if el.solver.open_unknowns(left - right):
        el.equate(left, right, why)
        return left
    if el.facts.proves(right - left):
        return left
    if el.facts.proves(left - right):
        return right
    span = why.span
    sides = [Value(ir.SizeOf(p, type=I64_T, span=span), I64_T, p) for p in (left, right)]
    less = compare(el, "<", sides[0], sides[1], span)
    size = el.as_poly(el.bind(Value(ir.If(less.expr, sides[0].expr, sides[1].expr, type=I64_T, span=span), I64_T)), span)
    found = size.single()
    assert found is not None
    el.labels[found] = f"min({el.words(left)}, {el.words(right)})"
    el.assume(left - size, right - size, size)
    return size


def _first(el: Elaborator, array: Value, size: Poly, span: Span) -> Value:
    """Its first elements."""
    t = array.type
    assert isinstance(t, Array)
    dropped = el.solver.resolve(t.size) - size
    return array if not dropped.terms else view("trunc_r", (dropped,), [el.bind(array)], Array(t.elem, size), span)


def _zip(args: Args) -> en.Iterable:
    for keyword in args.keywords:
        help_ = "zip ends with the shortest; assert len(a) == len(b) before it says that they are equally long" if keyword == "strict" else "give the arguments by position"
        args.el.fail("E0236", args.span, name="zip", keyword=keyword, help=help_)
    if not args.args:
        args.el.fail("E0237", args.span, name="zip", missing="xs")
    return zip_iterables(args, list(args.args))


def _reversed(args: Args) -> en.Iterable:
    (xs,) = args.take("xs")
    it = _iterable(args, xs)

    def element(el: Elaborator, index: Value) -> Any:
        assert index.poly is not None
        p = it.size - 1 - index.poly
        t = Index(it.size)
        return it.element(el, Value(ir.SizeOf(p, type=t, span=args.span), t, p))

    return en.Iterable(it.size, element)


def _loop(args: Args) -> en.Iterable:
    """at.loop(n, checkpoint=k, no_false_deps=True): a range with advice for derivatives."""
    if len(args.args) > 1:
        args.el.fail("E1017", args.span)
    n, checkpoint, no_false_deps = args.take("n", optional=("checkpoint", "no_false_deps"))
    it = n if isinstance(n, en.Iterable) else range_of(args.el, poly(0), args.poly(n, "the number of rounds"), 1, args.span)
    options: dict[str, Any] = {}
    if checkpoint is not None:
        depth = checkpoint.poly.const() if isinstance(checkpoint, Value) and checkpoint.poly is not None else None
        if depth is None or depth < 0:
            args.el.fail("E1018", args.span)
        options["checkpoint"] = depth
    if no_false_deps is not None:
        options["no_false_deps"] = isinstance(no_false_deps, Value) and getattr(no_false_deps.expr, "value", False) is True
    return en.Iterable(it.size, it.element, it.array, options)


def _bound(args: Args) -> Any:
    args.el.fail("E0245", args.span)


HANDLERS = {
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "reversed": _reversed,
    "loop": _loop,
    "bound": _bound,
}
