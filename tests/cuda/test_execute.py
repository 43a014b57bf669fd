"""The checked executor of kernels: what it accepts, and every kind of mistake it is there to find (atoll/backends/cuda/execute.py)."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.backends.cuda import language as k
from atoll.backends.cuda.check import check
from atoll.backends.cuda.execute import execute
from atoll.backends.cuda.generate import lowered
from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.loops import ir as lp
from atoll.loops.execute import Stuck
from atoll.runtime.arguments import from_python
from atoll.sizes import Sym, poly
from atoll.types.dtypes import BOOL, F64, I64, U32

T, B = poly(k.THREAD), poly(k.BLOCK)


def run(body, threads=64, blocks=1, shared=(), extra=(), backwards=False):
    """A kernel over an output of 128 numbers that begins as zeros, launched once."""
    out = lp.Buffer("out", F64, (poly(128),), "out")
    body = body(out)
    zero = k.Kernel("zero", (out,), 128, (lp.Store(out, (T,), lp.Const(0.0, F64)),))
    kernel = k.Kernel("tried", (out, *extra), threads, tuple(body), tuple(shared))
    fn = lp.Function("f", (), [], [lp.Output(out, 1)], [], [])
    cells = tuple((lp.Var(b.name, b.dtype), b) for b in extra if not b.extents)
    allocs = [lp.Alloc(b) for b in extra if b.extents]
    launches = [k.Launch(zero, (poly(1), poly(1))), k.Launch(kernel, (poly(blocks), poly(1)))]
    program = check(k.Program(fn, (zero, kernel), cells, (*allocs, *launches)))
    return execute(program, [], {}, backwards)[0]


def shared(name="s", extent=64):
    return lp.Buffer(name, F64, (poly(extent),), "shared")


def number(p):
    return lp.Cast(lp.Index(p), F64)


def neighbour(s, between, out):
    """Every thread writes its place in shared memory and reads its neighbour's."""
    return [lp.Store(s, (T,), number(T)), *between, lp.Store(out, (T,), lp.Load(s, ((T + 1) % 64,)))]


BOTH = pytest.mark.parametrize("backwards", [False, True])


@BOTH
def test_a_barrier_between(backwards):
    s = shared()
    found = run(lambda out: neighbour(s, [k.Barrier()], out), shared=[s], backwards=backwards)
    assert found[:64].tolist() == [(t + 1) % 64 for t in range(64)]


@BOTH
@pytest.mark.parametrize("between", [[], [k.WarpBarrier()], [k.Fence()]])
def test_no_barrier_between(between, backwards):
    s = shared()
    with pytest.raises(Stuck, match=r"tried: a race on s\[|is read before it is written"):
        run(lambda out: neighbour(s, between, out), shared=[s], backwards=backwards)


@BOTH
def test_a_barrier_of_the_warp_serves_the_warp(backwards):
    s = shared()
    inside = 32 * (T // 32) + (T + 1) % 32
    found = run(lambda out: [lp.Store(s, (T,), number(T)), k.WarpBarrier(), lp.Store(out, (T,), lp.Load(s, (inside,)))], shared=[s], backwards=backwards)
    assert found[33] == 34 and found[63] == 32
    with pytest.raises(Stuck, match="race|before it is written"):
        run(lambda out: [lp.Store(s, (T,), number(T)), lp.Store(out, (T,), lp.Load(s, (inside,)))], shared=[s], backwards=backwards)


@BOTH
def test_written_again_without_a_barrier(backwards):
    s = shared()
    with pytest.raises(Stuck, match="race on s"):
        run(lambda out: [*neighbour(s, [k.Barrier()], out), lp.Store(s, (T,), number(T))], shared=[s], backwards=backwards)


@BOTH
def test_two_threads_write_one_element(backwards):
    with pytest.raises(Stuck, match=r"race on out\[0\]: thread \d+ of block 0 writes it, thread \d+ of block 0 writes it"):
        run(lambda out: [lp.Store(out, (poly(0),), number(T))], backwards=backwards)
    with pytest.raises(Stuck, match=r"race on out\[\d+\]: thread \d+ of block 0 writes it, thread \d+ of block 1 writes it"):
        run(lambda out: [lp.Store(out, (T,), number(T))], blocks=2, backwards=backwards)
    with pytest.raises(Stuck, match="race on out"):
        run(lambda out: [lp.Update(out, (T // 2,), "add", number(T))], backwards=backwards)


def cell(name="count", dtype=U32):
    return lp.Buffer(name, dtype, (), "temp")


def last_block(out, parts, count, fence, atomic):
    """Blocks leave a number each; the last one adds them up."""
    seen = lp.Var("seen", U32)
    arrive = k.Atomic(count, (), "add", lp.Const(1, U32), seen) if atomic else lp.Let(seen, lp.Const(1, U32))
    total = lp.Var("total", F64)
    i = Sym("i_")
    add = [lp.Declare(total, lp.Const(0.0, F64)), lp.For(i, poly(0), poly(k.BLOCKS), [lp.Assign(total, lp.Call("add", (lp.Use(total), lp.Load(parts, (poly(i),))), F64))], parallel=False)]
    is_last = lp.Test("true", None, lp.Call("eq", (lp.Cast(lp.Use(seen), I64), lp.Index(poly(k.BLOCKS) - 1)), BOOL))
    first = lp.Test("eq", T)
    inner = [lp.Store(parts, (B,), number(B)), *([k.Fence()] if fence else []), arrive, lp.If((is_last,), [*add, lp.Store(out, (poly(0),), lp.Use(total))])]
    return [lp.If((first,), inner)]


@BOTH
def test_the_last_block_adds_up(backwards):
    parts, count = lp.Buffer("parts", F64, (poly(4),), "temp"), cell()
    found = run(lambda out: last_block(out, parts, count, True, True), threads=32, blocks=4, extra=(parts, count), backwards=backwards)
    assert found[0] == 6.0


@BOTH
def test_the_last_block_without_a_fence(backwards):
    parts, count = lp.Buffer("parts", F64, (poly(4),), "temp"), cell()
    with pytest.raises(Stuck, match="race on parts"):
        run(lambda out: last_block(out, parts, count, False, True), threads=32, blocks=4, extra=(parts, count), backwards=backwards)


@BOTH
def test_atomics_are_in_any_order(backwards):
    count = cell("count", I64)
    found = run(lambda out: [k.Atomic(count, (), "add", lp.Index(T)), lp.Store(out, (T,), number(T))], extra=(count,), backwards=backwards)
    assert found[5] == 5.0
    with pytest.raises(Stuck, match="race on count"):
        run(lambda out: [k.Atomic(count, (), "add", lp.Index(T)), k.Atomic(count, (), "max", lp.Index(T))], extra=(count,), backwards=backwards)
    with pytest.raises(Stuck, match="race on count"):
        run(lambda out: [k.Atomic(count, (), "add", lp.Index(T)), lp.Store(out, (T,), lp.Cast(lp.Load(count, ()), F64))], extra=(count,), backwards=backwards)


@BOTH
def test_divergence(backwards):
    some = (lp.Test("ge", T - 5),)
    for body in (
        [lp.If(some, [k.Barrier()])],
        [lp.If(some, [k.Barrier()], [k.Barrier()])],
        [lp.If(some, [k.Shuffle(lp.Var("v", F64), number(T), poly(0))])],
        [lp.If(some, [k.WarpBarrier()], [k.Barrier()])],
        [lp.For(Sym("r_"), poly(0), T, [k.Barrier()], parallel=False)],
    ):
        with pytest.raises(Stuck, match="not all threads"):
            run(lambda out, body=body: body, backwards=backwards)


@BOTH
def test_shuffles(backwards):
    v = lp.Var("v", F64)
    found = run(lambda out: [k.Shuffle(v, number(T), (T + 3) % 32), lp.Store(out, (T,), lp.Use(v))], backwards=backwards)
    assert found[:64].tolist() == [32 * (t // 32) + (t + 3) % 32 for t in range(64)]
    with pytest.raises(Stuck, match="a shuffle from lane 32"):
        run(lambda out: [k.Shuffle(v, number(T), poly(32))], backwards=backwards)


def test_unwritten_and_out_of_range():
    s = shared()
    with pytest.raises(Stuck, match=r"s\[0\] is read before it is written"):
        run(lambda out: [lp.Store(out, (T,), lp.Load(s, (T,)))], shared=[s])
    with pytest.raises(Stuck, match="outside"):
        run(lambda out: [lp.Store(out, (T + 100,), number(T))])


n, m = at.sizes("n m")


@at.fn
def spread(a: f64[n, m], w: f64[m]) -> f64[n]:
    away = a - w
    return sqrt(sum(away * away))


@at.fn
def both(x: f64[n]):
    return sum(x), max(x), [v * 2.0 for v in x]


@at.fn
def ordered(x: f64[n]):
    return sort(x)


@at.fn
def picked(x: f64[n], i: i64[m]):
    return [x[j] for j in i]


@at.fn
def running(x: f64[n]):
    return cumsum(x)


CASES = [
    (spread, (np.arange(15.0).reshape(3, 5), np.arange(5.0))),
    (both, (np.arange(1030.0),)),
    (ordered, (np.array([3.0, 1.0, 2.0, 0.5, 9.0]),)),
    (picked, (np.arange(5.0), np.array([4, 0, 2]))),
    (running, (np.arange(40.0),)),
]


@pytest.mark.parametrize("f, args", CASES, ids=[f.name for f, _ in CASES])
def test_what_the_compiler_makes(f, args):
    given = from_python(f.core, args)
    inputs = [leaf for x in given for leaf in leaves(x)]
    expected = f.interpret(*args)
    expected = expected if isinstance(expected, tuple) else (expected,)
    program = lowered(f.core)
    for backwards in (False, True):
        for found, wanted in zip(execute(program, inputs, bind_call(f.core, given), backwards), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_failed_check_is_told_by_rank():
    given = from_python(picked.core, (np.arange(5.0), np.array([1, 9, 7])))
    inputs = [leaf for x in given for leaf in leaves(x)]
    for backwards in (False, True):
        with pytest.raises(at.RunError, match="index 9 is out of range for size 5"):
            execute(lowered(picked.core), inputs, bind_call(picked.core, given), backwards)
