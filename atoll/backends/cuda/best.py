"""Loops in order that look for the best: the first round whose value is better than all before it.

    for r in 0..n: v = value(r); if v < best: best := v; at := r

Every thread looks through rounds of its own, then threads, warps and blocks are compared as in a sum (reduce.py): of two that are as good the earlier round.
The last block does the round that was found once more, by the loop's own statements and from the values before the loop, so what is told of it is what the
loop tells. NaN is better than every number, as in the test that the loop makes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.jam import Renaming, ways
from atoll.backends.cuda.points import Single
from atoll.backends.cuda.reduce import EACH, MOST_BLOCKS, THREADS, WARPS
from atoll.backends.cuda.threads import Names
from atoll.loops import ir as lp
from atoll.sizes import Poly, poly
from atoll.types.dtypes import BOOL, I64, U32

NONE = (1 << 63) - 1  # no round


@dataclass(frozen=True, slots=True)
class Best:
    """The loop, what is declared in a round first, the value, the variable that holds the best one, and whether greater is better."""

    loop: lp.For
    first: list[lp.Stmt]
    value: lp.Expr
    best: lp.Var
    state: tuple[lp.Var, ...]
    greater: bool
    nan: bool

    def better(self, a: lp.Expr, b: lp.Expr) -> lp.Expr:
        """a is better than b."""
        found: lp.Expr = lp.Call("gt" if self.greater else "lt", (a, b), BOOL)
        if self.nan:
            found = _or(found, _and(lp.Call("isnan", (a,), BOOL), _not(lp.Call("isnan", (b,), BOOL))))
        return found


def _and(a: lp.Expr, b: lp.Expr) -> lp.Expr:
    return lp.Call("and", (a, b), BOOL)


def _or(a: lp.Expr, b: lp.Expr) -> lp.Expr:
    return lp.Call("or", (a, b), BOOL)


def _not(a: lp.Expr) -> lp.Expr:
    return lp.Call("not", (a,), BOOL)


def find_best(loop: lp.Stmt) -> Best | None:
    """The search that a loop in order is, if it is one."""
    if not isinstance(loop, lp.For) or loop.parallel:
        return None
    body: list[lp.Stmt] = [s for s in loop.body if not isinstance(s, lp.Note)]
    if not body or not isinstance(body[-1], lp.If) or body[-1].orelse or not all(isinstance(s, lp.Let) for s in body[:-1]):
        return None
    first, choice = body[:-1], body[-1]
    if len(choice.tests) != 1 or not choice.then or not all(isinstance(s, lp.Assign) for s in choice.then):
        return None
    steps = {s.var: s.value for s in choice.then if isinstance(s, lp.Assign)}
    compared = _compared(choice.tests[0], set(steps))
    if compared is None or len(steps) != len(choice.then) or any(v in steps for s in (*first, *steps.values()) for v in lp.used_vars(s)):
        return None
    value, best, greater, nan = compared
    if steps[best] != value or best.dtype.is_complex or (best.dtype.is_float and not nan):
        return None  # without the clause for NaN the outcome depends on the order
    return Best(loop, first, value, best, tuple(steps), greater, nan)


def _compared(test: lp.Test, state: set[lp.Var]) -> tuple[lp.Expr, lp.Var, bool, bool] | None:
    """value, best, whether greater is better, and whether NaN is the best of all."""
    if test.kind == "ge" and test.poly is not None:
        for best in state:
            rest = test.poly + 1
            for greater in (True, False):
                value = rest + poly(best.atom) if greater else poly(best.atom) - rest
                if best.atom not in value.leaves() and (other := value.single()) is not None and isinstance(other, lp.VarAtom):
                    return lp.Use(other.var), best, greater, False
        return None
    if test.kind != "true" or not isinstance(test.expr, lp.Call):
        return None
    order, nan = test.expr, False
    if order.op == "or":
        left, right = order.args
        if not isinstance(left, lp.Call) or left.op not in ("lt", "gt") or len(left.args) != 2:
            return None
        if right != _and(lp.Call("isnan", (left.args[0],), BOOL), _not(lp.Call("isnan", (left.args[1],), BOOL))):
            return None
        order, nan = left, True
    if order.op not in ("lt", "gt") or not isinstance(order.args[1], lp.Use) or order.args[1].var not in state:
        return None
    return order.args[0], order.args[1].var, order.op == "gt", nan


Pair = tuple[lp.Var, lp.Var]


def _take(b: Best, mine: Pair, value: lp.Expr, at: lp.Expr) -> lp.Stmt:
    """mine := the better of it and another."""
    have, here, none = lp.Use(mine[0]), lp.Use(mine[1]), lp.Const(NONE, I64)
    same = _and(_not(b.better(have, value)), lp.Call("lt", (at, here), BOOL))
    wins = _and(lp.Call("lt", (at, none), BOOL), _or(lp.Call("eq", (here, none), BOOL), _or(b.better(value, have), same)))
    return lp.If((lp.Test("true", None, wins),), [lp.Assign(mine[0], value), lp.Assign(mine[1], at)])


def _in_warp(names: Names, b: Best, mine: Pair, lanes: int) -> list[Any]:
    out: list[Any] = []
    half = lanes // 2
    while half:
        other, at = names.var("other", b.best.dtype), names.var("at", I64)
        lane = (poly(k.THREAD) % k.WARP + half) % k.WARP
        out += [k.Shuffle(other, lp.Use(mine[0]), lane), k.Shuffle(at, lp.Use(mine[1]), lane), _take(b, mine, lp.Use(other), lp.Use(at))]
        half //= 2
    return out


def _in_block(names: Names, b: Best, mine: Pair, shared: tuple[lp.Buffer, lp.Buffer]) -> list[Any]:
    out = _in_warp(names, b, mine, k.WARP)
    values, rounds = shared
    warp, first = poly(k.THREAD) // k.WARP, lp.Test("eq", poly(k.THREAD) % k.WARP)
    out += [lp.If((first,), [lp.Store(values, (warp,), lp.Use(mine[0])), lp.Store(rounds, (warp,), lp.Use(mine[1]))]), k.Barrier()]
    there = lp.Test("ge", WARPS - 1 - poly(k.THREAD))
    here = (poly(k.THREAD),)
    out.append(lp.If((there,), [lp.Assign(mine[0], lp.Load(values, here)), lp.Assign(mine[1], lp.Load(rounds, here))], [lp.Assign(mine[1], lp.Const(NONE, I64))]))
    return [*out, *_in_warp(names, b, mine, WARPS)]


def best_kernel(lowering: Any, b: Best, start: dict[lp.Var, lp.Expr], following: Callable[[], tuple[list[Any], list[lp.Var]]]) -> list[k.Statement]:
    """The launch of a search. `start`: what variables are before the loop, where that is not in a cell."""
    names: Names = lowering.names
    loop, t = b.loop, b.best.dtype
    out: list[k.Statement] = []
    n = lowering.extent(loop.high - loop.low, out)
    blocks = names.var("grid", I64, True)
    lowering.host.add(blocks)
    many = lp.Call("min", (lp.Index((n + (THREADS * EACH - 1)) // (THREADS * EACH)), lp.Index(poly(MOST_BLOCKS))), I64)
    out.append(lp.Let(blocks, lp.Call("max", (many, lp.Const(1, I64)), I64)))
    grid = poly(blocks.atom)
    mine: Pair = (names.var("mine", t), names.var("round", I64))
    shared = (names.buffer("values", t, (poly(WARPS),), "shared"), names.buffer("rounds", I64, (poly(WARPS),), "shared"))
    parts = (names.buffer("values", t, (poly(MOST_BLOCKS),), "temp", "the best of the blocks of a search"), names.buffer("rounds", I64, (poly(MOST_BLOCKS),), "temp", "where it is"))
    last, counter, arrived = names.buffer("last", U32, (poly(1),), "shared"), lowering.counter(), names.var("arrived", U32)
    zero = lp.Test("eq", poly(k.THREAD))
    own = [mine, *((names.var("mine", t), names.var("round", I64)) for _ in range(ways([*b.first, lp.Let(names.var("value", t), b.value)], {}) - 1))]
    code: list[Any] = [s for pair in own for s in (lp.Declare(pair[0], lp.Const(0, t)), lp.Declare(pair[1], lp.Const(NONE, I64)))]
    code += [k.Region(tuple(_rounds(names, b, own, n, grid))), *(_take(b, mine, lp.Use(value), lp.Use(at)) for value, at in own[1:])]
    code += _in_block(names, b, mine, shared)
    told: list[Any] = [lp.Store(p, (poly(k.BLOCK),), lp.Use(v)) for p, v in zip(parts, mine, strict=True)]
    told += [k.Fence(), k.Atomic(counter, (), "add", lp.Const(1, U32), arrived), lp.Store(last, (poly(0),), lp.Use(arrived))]
    code += [lp.If((zero,), told), k.Barrier()]
    q = names.sym("b")
    at = (THREADS * poly(q) + poly(k.THREAD),)
    end: list[Any] = [k.Fence(), lp.Assign(mine[1], lp.Const(NONE, I64))]
    rounds = (poly(k.BLOCKS) - poly(k.THREAD) + (THREADS - 1)) // THREADS
    end.append(lp.For(q, poly(0), rounds, [_take(b, mine, lp.Load(parts[0], at), lp.Load(parts[1], at))], parallel=False))
    end += _in_block(names, b, mine, shared)
    tail, sets = following()
    again = names.var("again", I64, True)
    once = Single(names, {loop.sym: loop.low + poly(again.atom)}, poly(0)).stmts(loop.body)
    done: list[Any] = [lp.Declare(v, start[v] if v in start else lp.Load(lowering.cell(v), ())) for v in b.state]
    done.append(lp.If((lp.Test("true", None, lp.Call("lt", (lp.Use(mine[1]), lp.Const(NONE, I64)), BOOL)),), [lp.Let(again, lp.Use(mine[1])), *once]))  # type: ignore[list-item]
    done += [*(lp.Store(lowering.cell(v), (), lp.Use(v)) for v in b.state), lp.Store(counter, (), lp.Const(0, U32)), *tail]
    end.append(lp.If((zero,), done))
    is_last = lp.Call("eq", (lp.Cast(lp.Load(last, (poly(0),)), I64), lp.Index(poly(k.BLOCKS) - 1)), BOOL)
    code.append(lp.If((lp.Test("true", None, is_last),), end))
    out += [lp.Alloc(p) for p in parts]
    out += lowering.launch("best", code, THREADS, grid, (*shared, last), sets=(*b.state, *sets), own=b.state, note=f"the best of {b.best.name}")
    return [*out, *(lp.Free(p) for p in parts)]


def _rounds(names: Names, b: Best, own: list[Pair], n: Poly, grid: Poly) -> list[lp.Stmt]:
    """A thread's own rounds, several at a time, each with a best of its own; then those that are left, by the first."""
    worker, apart = THREADS * poly(k.BLOCK) + poly(k.THREAD), THREADS * grid
    many = names.var("rounds", I64, True)
    rounds = poly(many.atom)
    step, rest, whole = names.sym("t"), names.sym("t"), rounds // len(own)
    made = [_round(names, b, mine, worker + apart * (len(own) * poly(step) + u)) for u, mine in enumerate(own)]
    together = [*(s for reading, _ in made for s in reading), *(choice for _, choice in made)]  # all are asked for before the first is looked at
    reading, choice = _round(names, b, own[0], worker + apart * poly(rest))
    return [
        lp.Let(many, lp.Call("max", (lp.Index((n - worker + apart - 1) // apart), lp.Const(0, I64)), I64)),
        lp.For(step, poly(0), whole, together, parallel=False),
        lp.For(rest, len(own) * whole, rounds, [*reading, choice], parallel=False),
    ]


def _round(names: Names, b: Best, mine: Pair, at: Poly) -> tuple[list[lp.Stmt], lp.Stmt]:
    """What a later round reads, and: mine := the better of it and that round."""
    r = names.var("r", I64, True)
    copy = Renaming(names, {b.loop.sym: b.loop.low + poly(r.atom)})
    first, read = copy.stmts(b.first), names.var("value", mine[0].dtype)
    first.append(lp.Let(read, copy.expr(b.value)))
    value, have, none = lp.Use(read), lp.Use(mine[0]), lp.Call("eq", (lp.Use(mine[1]), lp.Const(NONE, I64)), BOOL)
    better = lp.If((lp.Test("true", None, _or(none, b.better(value, have))),), [lp.Assign(mine[0], value), lp.Assign(mine[1], lp.Use(r))])
    (choice,) = Single(names, {}, poly(0)).stmts([better])
    return [lp.Let(r, lp.Index(at)), *Single(names, {}, poly(0)).stmts(first)], choice  # type: ignore[list-item, return-value]
