"""The reference interpreter: the meaning of the language, in plain Python over NumPy scalars and arrays.

Slow and obvious on purpose. Every later stage is tested against it; `f.interpret(...)` and ATOLL_INTERPRET=1 run it, so a user can
step through a program with an ordinary debugger. `env` maps symbols to values; sizes and integer variables share it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from atoll.core import dual, ir, portable
from atoll.core import interpret_data as data
from atoll.core import values as v
from atoll.core.binding import bind_call
from atoll.core.dual import apply
from atoll.core.meanings import DivisionByZero, NegativePower, NegativeShift, wrap
from atoll.core.portable import in_blocks
from atoll.core.prims import PRIMS
from atoll.core.rewrite import called, depth, walk
from atoll.deep import as_deep_as_needed, on_deep_stack
from atoll.errors import NOWHERE, Span, fail
from atoll.errors.plain import say
from atoll.sizes import Atom, Poly, Sym
from atoll.sizes.describe import requirement
from atoll.sizes.machine import extent, wrapped
from atoll.types.types import Array, Index, Record, Scalar, Tuple, Type, shape_of
from atoll.views.catalogue import evaluate_view

Env = dict[Sym, Any]
Told = tuple[Span, str]
MOST_ELEMENTS = 2**46  # of one array, here and in compiled code
_SHALLOW = 80  # code nested no deeper than this is evaluated within Python's own limit


class TooSlow(Exception):
    """The time that was given is over."""


def call(fn: ir.Function, args: tuple[Any, ...], sizes: dict[Sym, int] | None = None, until: float | None = None) -> Any:
    """The value of the function on these arguments; sizes are taken from the arguments when not given. `until`: a time of the processor, TooSlow after it."""
    env: Env = {}
    if sizes is None:
        sizes = bind_call(fn, args)
    env.update({sym: np.int64(n) for sym, n in sizes.items()})
    env.update({sym: arg for (sym, _), arg in zip(fn.params, args, strict=True)})

    def run() -> Any:
        with np.errstate(all="ignore"):
            return _run(fn, env, until=until)

    return on_deep_stack(run) if _is_deep(fn) else run()


@as_deep_as_needed
def _is_deep(fn: ir.Function) -> bool:
    return recurses(fn) or sum(depth(f.body) for f in called(fn)) > _SHALLOW


def recurses(fn: ir.Function) -> bool:
    """Some function calls itself, or functions exist at run time: the depth of calls is not known."""
    return any(f.recursive or any(isinstance(node, ir.Apply) for node in walk(f.body)) for f in called(fn))


def _run(fn: ir.Function, env: Env, of: Interpreter | None = None, call: Span = NOWHERE, until: float | None = None) -> Any:
    """`of`: who calls it, and where; it takes its mode."""
    in_order, portable = (False, fn.portable) if of is None else (of.in_order, of.portable)
    told = None if of is None else of.told if of.told is not None or not fn.span.in_library() else (call, of.name)
    inter = Interpreter(env, fn.name, in_order or not fn.reassociate, portable, told)
    inter.until = until if of is None else of.until
    for need in fn.requires:
        inter.require(need)
    assert fn.body is not None
    try:
        return inter.eval(fn.body)
    except RecursionError:
        pass
    fail("E0712", fn.span, name=fn.name)


class Interpreter:
    def __init__(self, env: Env, name: str, in_order: bool = False, portable: str = "", told: Told | None = None) -> None:
        self.env = env
        self.name = name
        self.told = told  # inside a function of Atoll's library: the user's call and function, which errors name
        self.in_order = in_order  # sums go from left to right
        self.portable = portable  # functions are our own, and sums go in blocks or in order (core/portable.py)
        self.until: float | None = None

    def tick(self) -> None:
        """Once per round of anything."""
        if self.until is not None and time.process_time() > self.until:
            raise TooSlow

    def stop(self, code: str, span: Span, **values: Any) -> NoReturn:
        span, where = self.place(span)
        fail(code, span, where=where, **values)

    def place(self, span: Span) -> Told:
        """The place an error names, and the function: what the library does is the user's call of it."""
        return self.told if self.told is not None and span.in_library() else (span, self.name)

    # -- sizes

    def size(self, p: Poly) -> int:
        return wrapped(p.evaluate(lambda atom: int(self.env[atom])))  # type: ignore[index]

    def rounds(self, p: Poly) -> int:
        return extent(p, lambda atom: int(self.env[atom]))  # type: ignore[index]

    def memory_for(self, count: int) -> int:
        """So many elements, if any machine could hold them."""
        if count > MOST_ELEMENTS:
            fail("E0713", name=self.name)
        return count

    def require(self, need: ir.Require) -> None:
        def value(atom: Atom) -> int:
            return int(self.env[atom])  # type: ignore[index]

        if need.poly.evaluate(value) not in range(2**63):
            text = requirement(need.poly, value)
            fail("E0709", name=self.name, what=need.text, line=need.span.line, need=text)

    def bind_open(self, t: Type, value: Any, wanted: set[Sym]) -> None:
        """Give open sizes the values the shapes say."""
        if isinstance(t, Array):
            sym = t.size.single()
            if isinstance(sym, Sym) and sym in wanted:
                self.env[sym] = np.int64(v.length(value))
            if v.length(value) or not isinstance(value, tuple):
                shape = v.leaves(value)[0].shape
                inner: Type = t
                for n in shape:
                    if not isinstance(inner, Array):
                        break
                    sym = inner.size.single()
                    if isinstance(sym, Sym) and sym in wanted:
                        self.env[sym] = np.int64(n)
                    inner = inner.elem
        elif hasattr(t, "items"):
            for item, part in zip(t.items, value, strict=True):
                self.bind_open(item, part, wanted)

    # -- expressions

    def eval(self, e: ir.Expr) -> Any:
        return _EVAL[type(e)](self, e)

    def evals(self, es: tuple[ir.Expr, ...]) -> tuple[Any, ...]:
        return tuple(self.eval(e) for e in es)

    def apply(self, lam: ir.Lam, *args: Any) -> Any:
        self.tick()
        self.env.update(zip(lam.params, args, strict=True))
        return self.eval(lam.body)

    def var(self, e: ir.Var) -> Any:
        return self.env[e.sym]

    def lit(self, e: ir.Lit) -> Any:
        return v.dtype_of(e.type).type(e.value)

    def size_of(self, e: ir.SizeOf) -> Any:
        return np.int64(self.size(e.poly))

    def const_array(self, e: ir.ConstArray) -> Any:
        return e.value

    def prim(self, e: ir.Prim) -> Any:
        args = self.evals(e.args)
        if any(isinstance(a, v.Dual) for a in args):
            return apply(self, e, args)
        try:
            result = (own if self.portable and (own := own_meaning(e.op, args)) is not None else PRIMS[e.op].means)(*args)
        except DivisionByZero:
            self.stop("E0702", e.span)
        except NegativeShift:
            self.stop("E0706", e.span, count=int(args[1]))
        except NegativePower:
            self.stop("E0711", e.span, power=int(args[1]))
        return v.dtype_of(e.type).type(result)

    def cast(self, e: ir.Cast) -> Any:
        return cast(self.eval(e.value), e.type, *self.place(e.span))

    def if_(self, e: ir.If) -> Any:
        return self.eval(e.then if self.eval(e.cond) else e.orelse)

    def block(self, e: ir.Block) -> Any:
        for stmt in e.stmts:
            self.stmt(stmt)
        return self.eval(e.result)

    def stmt(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Bind(sym, value):
                self.env[sym] = self.eval(value)
            case ir.Open(sizes, sym, value):
                self.env[sym] = result = self.eval(value)
                self.bind_open(value.type, result, set(sizes))
            case ir.Assert(cond, text, span, parts, code):
                if not self.eval(cond):
                    self.stop(code, span, text=self.text(parts) if parts else text, what=text)
            case ir.Require():
                self.require(stmt)
            case ir.Print(parts):
                say(self.text(parts))
            case ir.Fix():
                data.fix(self, stmt)

    def text(self, parts: tuple[str | tuple[ir.Expr, str], ...]) -> str:
        return "".join(part if isinstance(part, str) else format_value(self.eval(part[0]), part[1]) for part in parts)

    def make_tuple(self, e: ir.MakeTuple) -> Any:
        return self.evals(e.items)

    def proj(self, e: ir.Proj) -> Any:
        return self.eval(e.value)[e.index]

    def make_array(self, e: ir.MakeArray) -> Any:
        assert isinstance(e.type, Array)
        return v.stack(e.type.elem, self.evals(e.items), self.size)

    def build(self, e: ir.Build) -> Any:
        assert isinstance(e.type, Array)
        items = []
        for i in range(self.memory_for(self.rounds(e.size))):
            self.tick()
            self.env[e.sym] = np.int64(i)
            items.append(self.eval(e.body))
        return v.stack(e.type.elem, items, self.size)

    def length(self, value: Any, e: ir.Expr) -> int:
        """The outermost size of the value of e; an array of empty tuples has no leaf that knows it."""
        if v.leaves(value):
            return v.length(value)
        assert isinstance(e.type, Array)
        return self.size(e.type.size)

    def map(self, e: ir.Map) -> Any:
        assert isinstance(e.type, Array)
        arrays = self.evals(e.arrays)
        items = []
        for i in range(self.length(arrays[0], e.arrays[0])):
            self.tick()
            self.env.update(zip(e.params, (v.element(a, i) for a in arrays), strict=True))
            items.append(self.eval(e.body))
        return v.stack(e.type.elem, items, self.size)

    def index(self, i: Any, n: int, span: Span, unsigned: bool = False) -> int:
        i = v.primal(i)
        if not 0 <= i < n:
            self.stop("E0701", span, index=int(i), size=n, unsigned=unsigned)
        return int(i)

    def at(self, e: ir.At) -> Any:
        array = self.eval(e.array)
        return v.element(array, self.index(self.eval(e.index), self.length(array, e.array), e.span, ir.from_u64(e.index)))

    def items(self, array: Any, items: tuple[ir.Item, ...], span: Span) -> tuple[Any, ...]:
        """NumPy's basic index for a slice."""
        shape = v.leaves(array)[0].shape
        result: list[Any] = []
        for n, item in zip(shape, items, strict=False):
            if isinstance(item, ir.Range):
                low, count = self.size(item.low), max(0, self.size(item.size))
                last = low + (count - 1) * item.step
                if count and not (0 <= low < n and 0 <= last < n):
                    self.stop("E0701", span, index=last if 0 <= low < n else low, size=n)
                if item.step > 0:
                    result.append(slice(low, low + count * item.step, item.step) if count else slice(0, 0))
                else:
                    stop = last - 1
                    result.append(slice(low, None if stop < 0 else stop, item.step) if count else slice(0, 0))
            else:
                result.append(self.index(self.eval(item), n, span, ir.from_u64(item)))  # type: ignore[arg-type]
        return tuple(result)

    def slice(self, e: ir.Slice) -> Any:
        array = self.eval(e.array)
        return v.element(array, self.items(array, e.items, e.span))

    def update(self, e: ir.Update) -> Any:
        array = self.eval(e.array)
        where = self.items(array, e.items, e.span)
        return v.assign(v.copy(array), where, self.eval(e.value))

    def reduce(self, e: ir.Reduce) -> Any:
        array, result = self.eval(e.array), self.eval(e.neutral)
        if e.monoid is not None and isinstance(e.type, (Scalar, Index)) and not isinstance(array, v.Dual):
            return reduce_known(e.monoid, array, result, self.in_order, self.portable)
        for i in range(v.length(array)):
            result = self.apply(e.op, result, v.element(array, i))
        return result

    def scan(self, e: ir.Scan) -> Any:
        assert isinstance(e.type, Array)
        array, result = self.eval(e.array), self.eval(e.neutral)
        items = []
        for i in range(v.length(array)):
            before = result
            result = self.apply(e.op, result, v.element(array, i))
            items.append(before if e.exclusive else result)
        return v.stack(e.type.elem, items, self.size)

    def arg_reduce(self, e: ir.ArgReduce) -> Any:
        array = self.eval(e.array)
        if v.length(array) == 0:
            self.stop("E0704", e.span, what=f"arg{e.which}")
        return np.int64((np.argmin if e.which == "min" else np.argmax)(v.primal(array)))

    def hist(self, e: ir.Hist) -> Any:
        neutral, indices, values = self.eval(e.neutral), self.eval(e.indices), self.eval(e.values)
        n = self.size(e.size)
        assert isinstance(e.type, Array)
        result = v.stack(e.type.elem, [neutral] * n, self.size)
        return self.combine(result, n, indices, values, e.op, e.drop, e.span)

    def scatter(self, e: ir.Scatter) -> Any:
        result = v.copy(self.eval(e.array))
        indices, values = self.eval(e.indices), self.eval(e.values)
        return self.combine(result, v.length(result), indices, values, e.op, e.drop, e.span)

    def combine(self, result: Any, n: int, indices: Any, values: Any, op: ir.Lam | None, drop: bool, span: Span) -> Any:
        seen: set[int] = set()
        for k in range(len(indices)):
            i = int(indices[k])
            if not 0 <= i < n:
                if drop:
                    continue
                self.stop("E0708", span, index=i, size=n)
            new = v.element(values, k)
            if op is not None:
                new = self.apply(op, v.copy(v.element(result, i)), new)
            elif i in seen:
                self.stop("E0707", span, index=i)
            seen.add(i)
            result = v.assign(result, i, new)
        return result

    def argsort(self, e: ir.Argsort) -> Any:
        return np.argsort(v.primal(self.eval(e.keys)), kind="stable").astype(np.int64)

    def filter(self, e: ir.Filter) -> Any:
        array, mask = self.eval(e.array), self.eval(e.mask)
        return v.element(array, np.asarray(mask, bool))

    def for_(self, e: ir.For) -> Any:
        state = tuple(self.eval(first) for _, first in e.state)
        for i in range(self.rounds(e.size)):
            self.tick()
            self.env[e.sym] = np.int64(i)
            self.env.update(zip((sym for sym, _ in e.state), state, strict=True))
            state = self.eval(e.body)
        return state

    def while_(self, e: ir.While) -> Any:
        state = tuple(self.eval(first) for _, first in e.state)
        names = [sym for sym, _ in e.state]
        while True:
            self.tick()
            self.env.update(zip(names, state, strict=True))
            if not self.eval(e.cond):
                return state
            state = self.eval(e.body)

    def view(self, e: ir.View) -> Any:
        return evaluate_view(e.op, e.params, self.evals(e.args), self.size)

    def zip(self, e: ir.Zip) -> Any:
        return self.evals(e.items)

    def unzip(self, e: ir.Unzip) -> Any:
        return self.eval(e.value)

    def call(self, e: ir.Call) -> Any:
        env: Env = {sym: np.int64(self.size(p)) for sym, p in zip(e.fn.sizes, e.sizes, strict=True)}
        args = self.evals(e.args)
        if (e.fn.vjp is not None or e.fn.jvp is not None) and any(isinstance(leaf, v.Dual) for arg in args for leaf in v.leaves(arg)):
            sizes = tuple(env.values())

            def run(fn: ir.Function, values: tuple[Any, ...]) -> Any:
                names = (*fn.sizes, *(sym for sym, _ in fn.params))
                return _run(fn, dict(zip(names, (*sizes, *values), strict=True)), self, e.span)

            return dual.customised(e.fn, args, e.span, run)
        env.update({sym: arg for (sym, _), arg in zip(e.fn.params, args, strict=True)})
        return _run(e.fn, env, self, e.span)

    def copy(self, e: ir.Copy) -> Any:
        return v.copy(self.eval(e.value))


_EVAL: dict[type, Callable[[Interpreter, Any], Any]] = {
    ir.Var: Interpreter.var,
    ir.Lit: Interpreter.lit,
    ir.SizeOf: Interpreter.size_of,
    ir.ConstArray: Interpreter.const_array,
    ir.Prim: Interpreter.prim,
    ir.Cast: Interpreter.cast,
    ir.If: Interpreter.if_,
    ir.Block: Interpreter.block,
    ir.MakeTuple: Interpreter.make_tuple,
    ir.Proj: Interpreter.proj,
    ir.MakeArray: Interpreter.make_array,
    ir.Build: Interpreter.build,
    ir.Map: Interpreter.map,
    ir.At: Interpreter.at,
    ir.Slice: Interpreter.slice,
    ir.Update: Interpreter.update,
    ir.Reduce: Interpreter.reduce,
    ir.Scan: Interpreter.scan,
    ir.ArgReduce: Interpreter.arg_reduce,
    ir.Hist: Interpreter.hist,
    ir.Scatter: Interpreter.scatter,
    ir.Argsort: Interpreter.argsort,
    ir.Filter: Interpreter.filter,
    ir.For: Interpreter.for_,
    ir.While: Interpreter.while_,
    ir.View: Interpreter.view,
    ir.Zip: Interpreter.zip,
    ir.Unzip: Interpreter.unzip,
    ir.Call: Interpreter.call,
    ir.Copy: Interpreter.copy,
    ir.Stop: lambda self, e: v.map_leaves(v.primal, self.eval(e.value)),
    ir.Jvp: dual.jvp,
    ir.Vjp: dual.vjp,
    ir.Inject: data.inject,
    ir.Match: data.match,
    ir.Closure: data.closure,
    ir.Apply: data.apply,
    ir.Hide: data.hide,
    ir.Extern: data.extern,
}


def own_meaning(op: str, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """Our own function for a primitive on these arguments, if there is one."""
    kind = args[-1].dtype.kind if isinstance(args[-1], np.generic) else ""
    if kind not in "fc" or not kind:
        return None

    return portable.meaning(op) if op in (portable.COMPLEX if kind == "c" else portable.REAL) else None


def reduce_known(monoid: str, array: Any, neutral: Any, in_order: bool, portable: str = "") -> Any:
    """A known operator over an array of scalars: NumPy's own reduction, which adds floats pairwise; running values are made in order."""
    ufunc = {
        "add": np.add,
        "mul": np.multiply,
        "minimum": np.minimum,
        "maximum": np.maximum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }[monoid]
    if array.shape[0] == 0:
        return neutral
    if portable == "in blocks":
        return in_blocks(ufunc, array, neutral)
    if in_order:
        return array.dtype.type(ufunc.accumulate(np.concatenate([np.asarray([neutral], array.dtype), array]))[-1])
    return ufunc(neutral, array.dtype.type(ufunc.reduce(np.ascontiguousarray(array), dtype=array.dtype)))


def cast(value: Any, to: Type, span: Span = NOWHERE, where: str = "") -> Any:
    """A scalar conversion: float to integer truncates, NaN and what does not fit is an error; integers wrap."""
    assert isinstance(to, (Scalar, Index))
    target = to.dtype
    if isinstance(value, v.Dual):
        if target.is_storage:  # rounding has the slope 1
            return v.Dual(value.tag, cast(value.primal, to, span, where), value.tangent)
        integral = np.asarray(v.primal(value)).dtype.kind in "iu" or value.tag & 2  # of integers (core/dual.py)
        if not target.has_slope and not (target.is_integer and integral):
            return cast(v.primal(value), to, span, where)
        return v.Dual(value.tag, cast(value.primal, to, span, where), cast(value.tangent, to, span, where))
    kind = np.asarray(value).dtype.kind
    if target.is_integer and kind == "f":
        low, high = target.limits()
        whole = float(np.trunc(value))  # f32 would round the limits
        if not (low <= whole and (whole <= high if high < 2**53 else whole < float(high + 1))):
            fail("E0705", span, value=repr(float(value)), dtype=target.name, where=where)
        return target.numpy.type(int(whole))
    if target.is_integer:
        return wrap(int(value), target.numpy)
    if target.kind == "b":
        return np.bool_(value != 0)
    if target.is_storage:
        with np.errstate(all="ignore"):
            return target.numpy.type(value)
    return target.numpy.type(value)


def format_leaves(t: Type, leaves: Iterator[Any], spec: str) -> str:
    """A value of a type, given by its leaves, as `print` shows it."""

    def put_together(t: Type) -> Any:
        _, elem = shape_of(t)
        return tuple(map(put_together, elem.items)) if isinstance(elem, (Tuple, Record)) else next(leaves)

    return format_value(put_together(t), spec)


def format_value(value: Any, spec: str) -> str:
    """A value as `print` shows it."""
    if isinstance(value, tuple):
        return "(" + ", ".join(format_value(item, "") for item in value) + (",)" if len(value) == 1 else ")")
    return format(value.item() if isinstance(value, np.generic) else value, spec) if spec else str(value)
