"""Array expressions in λANF programs: single elements and parts directly, array code as a kernel, the rest as a loop.

An array operation whose own text is first order is a kernel; operands that are not are computed before and passed in. Where recursion or
data stands inside the body (`[count(t) for t in trees]`), the operation is a loop: a local function that carries the array it fills, which
is written in place since nobody else has it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from atoll.core import ir as core
from atoll.core.needs import first_order, grows
from atoll.errors import Span
from atoll.functions import arrays, ir
from atoll.functions.builder import Builder, Env, Val, leaves, rebuild
from atoll.functions.kernels import element_rep, heavy, leaf_types
from atoll.functions.operators import scalar
from atoll.sizes import Poly, Sym
from atoll.types.types import Array, Tuple, Type, elem_of, shape_of

if TYPE_CHECKING:
    from atoll.functions.from_core import Translator


def light(e: core.Expr) -> bool:
    """Elements, rows, slices and single updates of an array that is there: no kernel."""
    match e:
        case core.At(array):
            return _is_there(array) or light(array)
        case core.Slice(array, items):
            return (_is_there(array) or light(array)) and _leading(items)
        case core.Update(array, items, value):
            return (_is_there(array) or light(array)) and _single(items) and not _has_heavy(value)
    return False


def _has_heavy(e: core.Expr) -> bool:
    return heavy(e) and not light(e)


def _is_there(e: core.Expr) -> bool:
    while isinstance(e, core.Proj):
        e = e.value
    return isinstance(e, core.Var)


def _leading(items: Sequence[Any]) -> bool:
    """Only a contiguous part of the first axis, after any number of single indices."""
    ranges = [i for i in items if isinstance(i, core.Range)]
    if len(ranges) > 1 or (ranges and (ranges[0].step != 1 or items[-1] is not ranges[0])):
        return False
    return True


def _single(items: Sequence[Any]) -> bool:
    return not any(isinstance(i, core.Range) for i in items)


def array_value(tr: Translator, e: core.Expr, env: Env, b: Builder) -> Val:
    """The value of an array operation."""
    if light(e):
        return _light(tr, e, env, b)
    if not grows(e) and all(first_order(part, tr.plain) for part in _inner(e)):
        return _kernel(tr, e, env, b)
    return _LOOPS[type(e)](tr, e, env, b)


# -- kernels


def _inner(e: core.Expr) -> list[core.Expr]:
    """Expressions an operation evaluates many times, under its own variables."""
    match e:
        case core.Build() | core.Map():
            return [e.body]
        case core.Reduce() | core.Scan() | core.Hist():
            return [e.op.body]
        case core.Scatter():
            return [e.op.body] if e.op is not None else []
        case core.Jvp() | core.Vjp():
            return [e.fn.body]
        case core.For():
            return [e.body]
        case core.While():
            return [e.cond, e.body]
        case core.Call():
            return [e.fn.body] if e.fn.body is not None else []
    return []


def _kernel(tr: Translator, e: core.Expr, env: Env, b: Builder) -> Val:
    """One kernel; operands that are not array code become variables."""
    here = dict(env)
    inner = {id(x) for x in _inner(e)}

    def operand(x: Any) -> Any:
        if isinstance(x, core.Node) and not isinstance(x, core.Var) and id(x) not in inner and not first_order(x, tr.plain):  # type: ignore[arg-type]
            sym = Sym("operand")
            here[sym] = tr.value(x, env, b)  # type: ignore[arg-type]
            return core.Var(sym, type=x.type, span=x.span)
        if isinstance(x, tuple):
            return tuple(operand(i) for i in x)
        return x

    changed = {f.name: operand(getattr(e, f.name)) for f in dataclasses.fields(e) if f.name not in ("type", "span", "fn", "op")}
    same = all(changed[name] is getattr(e, name) for name in changed)
    node = e if same else dataclasses.replace(e, **changed)
    pair = core.MakeTuple((node,), type=Tuple((e.type,)), span=e.span)
    return tr.kernel(pair, here, b)[0]


# -- elements and parts


def _in_range(tr: Translator, i: ir.Var, n: Poly, env: Env, b: Builder, span: Span) -> None:
    size = tr.size(n, env, b)
    site = tr.site("E0701", span, args=("index", "size"))
    tr.check(b.op(arrays.in_range(), i, size), site, b, i, size)


def _map(f: Callable[[ir.Var, Type], Any], value: Val, t: Type) -> Val:
    """f on every leaf and its type."""
    done = iter([f(x, leaf) for x, leaf in zip(leaves(value), leaf_types(t), strict=True)])
    return rebuild(t, done)


def _light(tr: Translator, e: core.Expr, env: Env, b: Builder) -> Val:
    match e:
        case core.At():
            return _at(tr, e, env, b)
        case core.Slice():
            return _slice(tr, e, env, b)
        case core.Update():
            return _update(tr, e, env, b)
    raise AssertionError(e)


def _at(tr: Translator, e: core.At, env: Env, b: Builder) -> Val:
    """a[i][j]...: checked from the outside in, then one read per leaf."""
    indices: list[core.At] = []
    array: core.Expr = e
    while isinstance(array, core.At):
        indices.append(array)
        array = array.array
    base = tr.value(array, env, b)
    t = array.type
    at = []
    for node in reversed(indices):
        assert isinstance(t, Array)
        i = tr.value(node.index, env, b)
        _in_range(tr, i, t.size, env, b, node.span)
        at.append(i)
        t = t.elem
    return element(base, array.type, at, b)


def element(base: Val, t: Type, at: Sequence[ir.Var], b: Builder) -> Val:
    """base[at...] of every leaf, in range already."""
    found = []
    inner = t
    for _ in at:
        inner = elem_of(inner)
    for x, leaf in zip(leaves(base), leaf_types(t), strict=True):
        rank = len(shape_of(leaf)[0])
        if rank == len(at):
            found.append(b.op(arrays.get(element_rep(leaf), rank), x, *at))
        else:
            part = x
            for k, i in enumerate(at):
                part = b.op(arrays.row(rank - k - 1), part, i)
            found.append(part)
    return rebuild(inner, iter(found))


def _slice(tr: Translator, e: core.Slice, env: Env, b: Builder) -> Val:
    base = tr.value(e.array, env, b)
    t = e.array.type
    at: list[ir.Var] = []
    for item in e.items:
        assert isinstance(t, Array)
        if isinstance(item, core.Range):
            low, count = tr.size(item.low, env, b), tr.size(item.size, env, b)
            part = element(base, e.array.type, at, b) if at else base
            n = tr.size(t.size, env, b)
            last = b.op(scalar("add", "i64"), low, count)
            fine = b.op(scalar("le", "i64"), last, n)
            empty = b.op(scalar("le", "i64"), count, b.integer(0))
            start = b.op(scalar("ge", "i64"), low, b.integer(0))
            both = b.op(scalar("and", "bool"), fine, start)
            tr.check(b.op(scalar("or", "bool"), both, empty), tr.site("E0701", e.span, args=("index", "size")), b, last, n)
            return _map(lambda x, _: b.op(arrays.cut(), x, low, count), part, t)
        i = tr.value(item, env, b)  # type: ignore[arg-type]
        _in_range(tr, i, t.size, env, b, e.span)
        at.append(i)
        t = t.elem
    return element(base, e.array.type, at, b)


def _update(tr: Translator, e: core.Update, env: Env, b: Builder) -> Val:
    base = tr.value(e.array, env, b)
    t = e.array.type
    at: list[ir.Var] = []
    for item in e.items:
        assert isinstance(t, Array)
        i = tr.value(item, env, b)  # type: ignore[arg-type]
        _in_range(tr, i, t.size, env, b, e.span)
        at.append(i)
        t = t.elem
    return store(base, e.array.type, at, tr.value(e.value, env, b), b)


def store(base: Val, t: Type, at: Sequence[ir.Var], value: Val, b: Builder) -> Val:
    """base with base[at...] = value, leaf by leaf."""
    found = []
    for x, leaf, v in zip(leaves(base), leaf_types(t), leaves(value), strict=True):
        rank = len(shape_of(leaf)[0])
        found.append(_store_leaf(x, element_rep(leaf), rank, list(at), v, b))
    return rebuild(t, iter(found))


def _store_leaf(x: ir.Var, elem: str, rank: int, at: list[ir.Var], v: ir.Var, b: Builder) -> ir.Var:
    if rank == len(at):
        return b.op(arrays.put(elem, rank), x, *at, v)
    if len(at) == 1:
        return b.op(arrays.set_row(), x, at[0], v)
    inner = b.op(arrays.row(rank - 1), x, at[0])
    return b.op(arrays.set_row(), x, at[0], _store_leaf(inner, elem, rank - 1, at[1:], v, b))


# -- loops


def loop(
    tr: Translator, n: ir.Var, state: Sequence[ir.Var], body: Callable[[ir.Var, tuple[ir.Var, ...], Builder], tuple[ir.Var, ...]], b: Builder
) -> tuple[ir.Var, ...]:
    """n rounds of body(i, state) -> state; the last state."""
    name, i = ir.Var("loop", ir.CODE), ir.Var("i", ir.INT)
    params = tuple(x.again() for x in state)
    head, inner = Builder(), Builder()
    test = head.op(scalar("lt", "i64"), i, n)
    after = body(i, params, inner)
    following = inner.op(scalar("add", "i64"), i, inner.integer(1))
    again = inner.close(ir.Tail(name, (following, *after)))
    block = head.close(ir.Case(test, ((ir.TRUE, again), (ir.FALSE, ir.Block((), ir.Ret(params))))))
    b.add(ir.Funs((ir.Fun(name, (i, *params), block, tuple(x.rep for x in state)),)))
    results = tuple(x.again() for x in state)
    b.add(ir.Call(results, name, (b.integer(0), *state)))
    return results


def _new(tr: Translator, t: Type, env: Env, b: Builder, rounds: ir.Var | None = None) -> Val:
    """Arrays to fill, for a value of this array type; in so many rounds, where they are counted already."""
    made = []
    for leaf in leaf_types(t):
        sizes, _ = shape_of(leaf)
        axes = [tr.size(p, env, b) if k or rounds is None else rounds for k, p in enumerate(sizes)]
        made.append(b.op(arrays.new(element_rep(leaf), len(sizes)), *axes, name="new"))
    return rebuild(t, iter(made))


def _build(tr: Translator, e: core.Build, env: Env, b: Builder) -> Val:
    rounds = tr.rounds(e.size, env, b)
    start = _new(tr, e.type, env, b, rounds)
    tr.nonnegative.add(e.sym)

    def body(i: ir.Var, state: tuple[ir.Var, ...], inner: Builder) -> tuple[ir.Var, ...]:
        value = tr.value(e.body, {**env, e.sym: i}, inner)
        return leaves(store(rebuild(e.type, iter(state)), e.type, [i], value, inner))

    return rebuild(e.type, iter(loop(tr, rounds, leaves(start), body, b)))


def _map_loop(tr: Translator, e: core.Map, env: Env, b: Builder) -> Val:
    given = [tr.value(a, env, b) for a in e.arrays]
    start = _new(tr, e.type, env, b)
    assert isinstance(e.type, Array)

    def body(i: ir.Var, state: tuple[ir.Var, ...], inner: Builder) -> tuple[ir.Var, ...]:
        here = dict(env)
        for sym, a, value in zip(e.params, e.arrays, given, strict=True):
            here[sym] = element(value, a.type, [i], inner)
        out = tr.value(e.body, here, inner)
        return leaves(store(rebuild(e.type, iter(state)), e.type, [i], out, inner))

    return rebuild(e.type, iter(loop(tr, tr.size(e.type.size, env, b), leaves(start), body, b)))


def _operator(tr: Translator, op: core.Lam, env: Env, first: Val, second: Val, b: Builder) -> Val:
    return tr.value(op.body, {**env, op.params[0]: first, op.params[1]: second}, b)


def _reduce(tr: Translator, e: core.Reduce, env: Env, b: Builder) -> Val:
    array = tr.value(e.array, env, b)
    start = tr.value(e.neutral, env, b)
    assert isinstance(e.array.type, Array)

    def body(i: ir.Var, state: tuple[ir.Var, ...], inner: Builder) -> tuple[ir.Var, ...]:
        x = element(array, e.array.type, [i], inner)
        return leaves(_operator(tr, e.op, env, rebuild(e.type, iter(state)), x, inner))

    return rebuild(e.type, iter(loop(tr, tr.size(e.array.type.size, env, b), leaves(start), body, b)))


def _scan(tr: Translator, e: core.Scan, env: Env, b: Builder) -> Val:
    array = tr.value(e.array, env, b)
    start = tr.value(e.neutral, env, b)
    out = _new(tr, e.type, env, b)
    assert isinstance(e.type, Array)
    count = len(leaves(start))

    def body(i: ir.Var, state: tuple[ir.Var, ...], inner: Builder) -> tuple[ir.Var, ...]:
        before = rebuild(elem_of(e.type), iter(state[:count]))
        after = _operator(tr, e.op, env, before, element(array, e.type, [i], inner), inner)
        stored = store(rebuild(e.type, iter(state[count:])), e.type, [i], before if e.exclusive else after, inner)
        return (*leaves(after), *leaves(stored))

    results = loop(tr, tr.size(e.type.size, env, b), (*leaves(start), *leaves(out)), body, b)
    return rebuild(e.type, iter(results[count:]))


def _for(tr: Translator, e: core.For, env: Env, b: Builder) -> Val:
    first = tuple(tr.value(x, env, b) for _, x in e.state)
    t = Tuple(tuple(x.type for _, x in e.state))
    tr.nonnegative.add(e.sym)

    def body(i: ir.Var, state: tuple[ir.Var, ...], inner: Builder) -> tuple[ir.Var, ...]:
        here = {**env, e.sym: i, **dict(zip((s for s, _ in e.state), rebuild(t, iter(state)), strict=True))}
        return leaves(tr.value(e.body, here, inner))

    return rebuild(t, iter(loop(tr, tr.rounds(e.size, env, b), leaves(first), body, b)))


def _while(tr: Translator, e: core.While, env: Env, b: Builder) -> Val:
    first = tuple(tr.value(x, env, b) for _, x in e.state)
    t = Tuple(tuple(x.type for _, x in e.state))
    name = ir.Var("while_", ir.CODE)
    params = tuple(x.again() for x in leaves(first))
    here = {**env, **dict(zip((s for s, _ in e.state), rebuild(t, iter(params)), strict=True))}
    head, inner = Builder(), Builder()
    test = tr.value(e.cond, here, head)
    after = leaves(tr.value(e.body, here, inner))
    again = inner.close(ir.Tail(name, after))
    block = head.close(ir.Case(test, ((ir.TRUE, again), (ir.FALSE, ir.Block((), ir.Ret(params))))))
    b.add(ir.Funs((ir.Fun(name, params, block, tuple(x.rep for x in params)),)))
    results = tuple(x.again() for x in params)
    b.add(ir.Call(results, name, leaves(first)))
    return rebuild(t, iter(results))


def _hist(tr: Translator, e: core.Hist, env: Env, b: Builder) -> Val:
    """Rounds in order: the operator is not array code."""
    neutral = tr.value(e.neutral, env, b)
    start = _new(tr, e.type, env, b)
    n = tr.size(e.size, env, b)

    def fill(i: ir.Var, state: tuple[ir.Var, ...], inner: Builder) -> tuple[ir.Var, ...]:
        return leaves(store(rebuild(e.type, iter(state)), e.type, [i], neutral, inner))

    filled = rebuild(e.type, iter(loop(tr, n, leaves(start), fill, b)))
    return _combine(tr, filled, e.type, n, e.indices, e.values, e.op, e.drop, e.span, env, b)


def _scatter(tr: Translator, e: core.Scatter, env: Env, b: Builder) -> Val:
    assert e.op is not None and isinstance(e.type, Array)
    base = tr.value(e.array, env, b)
    return _combine(tr, base, e.type, tr.size(e.type.size, env, b), e.indices, e.values, e.op, e.drop, e.span, env, b)


def _combine(
    tr: Translator, base: Val, t: Type, n: ir.Var, indices: core.Expr, values: core.Expr, op: core.Lam, drop: bool, span: Span, env: Env, b: Builder
) -> Val:
    index, given = tr.value(indices, env, b), tr.value(values, env, b)
    assert isinstance(indices.type, Array)

    def combined(i: ir.Var, k: ir.Var, state: tuple[ir.Var, ...], inner: Builder) -> tuple[ir.Var, ...]:
        now = rebuild(t, iter(state))
        made = _operator(tr, op, env, element(now, t, [i], inner), element(given, values.type, [k], inner), inner)
        return leaves(store(now, t, [i], made, inner))

    def body(k: ir.Var, state: tuple[ir.Var, ...], inner: Builder) -> tuple[ir.Var, ...]:
        i = element(index, indices.type, [k], inner)
        fine = inner.op(arrays.in_range(), i, n)
        if not drop:
            tr.check(fine, tr.site("E0708", span, args=("index", "size")), inner, i, n)
            return combined(i, k, state, inner)
        join, after = ir.Var("after", ir.CODE), tuple(x.again() for x in state)
        some = Builder()
        changed = some.close(ir.Jump(join, combined(i, k, state, some)))
        same = ir.Block((), ir.Jump(join, state))
        inner.go_on(join, after, [], ir.Case(fine, ((ir.TRUE, changed), (ir.FALSE, same))))
        return after

    return rebuild(t, iter(loop(tr, tr.size(indices.type.size, env, b), leaves(base), body, b)))


_LOOPS: dict[type, Any] = {
    core.Build: _build,
    core.Map: _map_loop,
    core.Reduce: _reduce,
    core.Scan: _scan,
    core.For: _for,
    core.While: _while,
    core.Hist: _hist,
    core.Scatter: _scatter,
}
