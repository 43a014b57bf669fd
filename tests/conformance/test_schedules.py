"""The conformance rows of ATL and Exo (docs/sources.md, ATL), 1 to 20, 37 to 45, 64 and 65, by number."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f32
from atoll.backends.c.jit import generate
from atoll.schedule import term as tm
from atoll.schedule.denote import evaluate
from atoll.schedule.kernel import Refused
from atoll.sizes import Sym, cdiv, poly
from atoll.types.dtypes import F32
from tests.schedule.holding import holds
from tests.schedule.small_terms import Small, one, ramp, view, where

n, m, k, h = at.sizes("n m k h")


def same(a: Any, b: Any) -> None:
    np.testing.assert_array_equal(a, b)


def refused(small: Small, *words: str) -> None:
    """The loops are refused, naming these words."""
    with pytest.raises(at.ScheduleError) as caught:
        _ = small.schedule.lowered
    for word in words:
        assert word in str(caught.value), str(caught.value)


# -- values and reshapes


def test_row_1_empty_and_negative_ranges() -> None:
    i = Sym("i")
    for high in (0, -3):
        assert evaluate(tm.Gen(i, poly(0), poly(high), one()), {}, {}).shape == (0,)


def test_row_2_empty_sum_keeps_its_shape() -> None:
    s = Small(lambda t: t.sum("j", t.m, lambda j: t.gen("i", 4, lambda i: one())))
    empty = np.zeros((2, 0), np.float32)
    same(s.value(a=empty), np.zeros(4))
    same(s.run(a=empty)[0], np.zeros(4))


def test_row_3_reads_are_total_and_refused() -> None:
    for index in (-1, 10):
        s = Small(lambda t, index=index: t.gen("i", 1, lambda i: t.v(index)))
        same(s.value(v=ramp(10)), [0.0])
        refused(s, "outside axis 0", "C5")


def test_row_4_false_guard_keeps_its_shape_and_adds_nothing() -> None:
    s = Small(lambda t: t.sum("j", 3, lambda j: t.gen("i", t.n, lambda i: where(t.v(i), i - t.n))))
    value, stores = s.run(v=ramp(5))
    same(value, np.zeros(5))
    assert stores == 0


def test_row_5_concat() -> None:
    s = Small(lambda t: tm.Cat(0, t.gen("i", 2, lambda i: one(1.0)), t.gen("j", 3, lambda j: one(2.0))))
    same(s.value(v=ramp(1)), [1, 1, 2, 2, 2])
    same(s.run(v=ramp(1))[0], [1, 1, 2, 2, 2])


def test_row_6_transpose_stores_by_the_extents_of_the_result() -> None:
    s = Small(lambda t: view("transpose", t.gen("i", t.n, lambda i: t.gen("j", t.m, lambda j: t.a(i, j)))))
    value, stores = s.run(a=ramp(3, 5))
    same(value, ramp(3, 5).T)
    assert stores == 15
    assert [repr(p) for p in s.schedule.lowered.function.outputs[0].buffer.extents] == ["m", "n"]


def test_row_7_flatten() -> None:
    s = Small(lambda t: view("flatten", t.gen("i", t.n, lambda i: t.gen("j", t.m, lambda j: t.a(i, j)))))
    same(s.run(a=ramp(3, 5))[0], ramp(15))


def test_row_8_tile_of_ten_by_four() -> None:
    s = Small(lambda t: view("tile", t.gen("i", t.n, lambda i: t.v(i)), 4))
    value, stores = s.run(v=ramp(10))
    assert value.shape == (3, 4) and stores == 10
    same(value.reshape(-1), [*range(1, 11), 0, 0])


def test_row_9_split_of_a_vector() -> None:
    @at.fn
    def f(x: f32[4 * n]) -> f32[n, 4]:
        return at.split(x, 4)

    same(holds(at.schedule(f), (ramp(12),))(ramp(12)), ramp(3, 4))


def test_row_10_truncations_drop() -> None:
    @at.fn
    def right(x: f32[n]) -> f32[n - 2]:
        return at.trunc_r(x, 2)

    @at.fn
    def left(x: f32[n]) -> f32[n - 3]:
        return at.trunc_l(x, 3)

    same(holds(at.schedule(right), (ramp(10),))(ramp(10)), ramp(10)[:8])
    same(holds(at.schedule(left), (ramp(10),))(ramp(10)), ramp(10)[3:])


def test_row_11_dropping_and_keeping_are_different_words() -> None:
    @at.fn
    def keep(x: f32[n + 2]) -> f32[2]:
        return x[:2]

    @at.fn
    def drop(x: f32[n + 2]) -> f32[n]:
        return at.trunc_r(x, 2)

    assert keep(ramp(10)).shape == (2,) and drop(ramp(10)).shape == (8,)


def test_row_12_truncations_undo_pads() -> None:
    def padded(op: str, k: int) -> Small:
        return Small(lambda t: view(op.replace("pad", "trunc"), view(op, t.gen("i", t.n, lambda i: t.v(i)), k), k))

    for s in (padded("pad_r", 2), padded("pad_l", 3)):
        value, stores = s.run(v=ramp(7))
        same(value, ramp(7))
        assert stores == 7
        ((store,),) = [[a for a in s.schedule.lowered.report.walk.accesses if a.kind == "store"]]
        assert store.index[0].single() is not None  # the reindexer is the identity


@pytest.mark.parametrize("size", [10, 8, 1, 4])
def test_row_13_the_right_amount(size: int) -> None:
    def build(t: Small) -> tm.Term:
        return view("trunc_r", view("flatten", view("tile", t.gen("i", t.n, lambda i: t.v(i)), 4)), cdiv(t.n, 4) * 4 - t.n)

    same(Small(build).run(v=ramp(size))[0], ramp(size))


def test_row_14_the_amount_as_printed_cuts_off_a_tile() -> None:
    """k - n % k: at n = 8, k = 4 it drops four numbers that are no padding. The counterexample divides."""
    s = Small(lambda t: view("trunc_r", view("flatten", view("tile", t.gen("i", t.n, lambda i: t.v(i)), 4)), 4 - t.n % 4))
    with pytest.raises(at.ScheduleError) as caught:
        _ = s.schedule.lowered
    text = str(caught.value)
    assert caught.value.code == "E0505" and ("truncation" in text or "outside" in text)
    values = dict(part.split(" = ") for part in text.split("it fails for ")[1].splitlines()[0].split(", "))
    assert int(values["n"]) % 4 == 0


def test_row_15_identities() -> None:
    @at.fn
    def f(x: f32[n, 4]) -> f32[n, 4]:
        return at.tile(at.flatten(x), 4)

    @at.fn
    def g(x: f32[n, m]) -> f32[n, m]:
        return at.transpose(at.transpose(x))

    same(holds(at.schedule(f), (ramp(3, 4),))(ramp(3, 4)), ramp(3, 4))
    same(holds(at.schedule(g), (ramp(3, 5),))(ramp(3, 5)), ramp(3, 5))


def test_row_16_truncation_of_what_is_no_padding() -> None:
    s = Small(lambda t: view("trunc_l", t.gen("i", t.n + 10, lambda i: one()), 3))
    refused(s, "outside", "i = 0")


def test_row_17_padding_that_is_too_short() -> None:
    s = Small(lambda t: view("trunc_l", t.gen("i", t.n + 10, lambda i: where(one(), i - 2)), 3))
    refused(s, "i = 2")


def test_row_18_padding_that_suffices() -> None:
    s = Small(lambda t: view("trunc_l", t.gen("i", t.n + 9, lambda i: where(one(), i - 3)), 3))
    value, stores = s.run(v=ramp(1))
    same(value, np.ones(7))


def test_row_19_overlap_with_the_next_row() -> None:
    s = Small(lambda t: t.gen("i", t.n, lambda i: view("trunc_r", t.gen("j", t.m + 2, lambda j: one()), 2)))
    refused(s, "outside")


def test_row_20_names_do_not_meet() -> None:
    x, y = tm.Tensor("x1", F32), tm.Tensor("x1", F32)
    inner = tm.Let(y, one(2.0), tm.Op("add", (tm.Get(y, ()), one()), F32))
    s = Small(lambda t: t.gen("i", 1, lambda i: tm.Let(x, inner, tm.Get(x, ()))))
    same(s.value(v=ramp(1)), [3.0])
    same(s.run(v=ramp(1))[0], [3.0])
    text = generate(s.schedule.function.core, s.schedule.lowered.function).text
    assert text.count("x1") >= 2
    with pytest.raises(Refused, match="bound twice"):
        Small(lambda t: t.gen("i", 1, lambda i: tm.Let(x, tm.Let(x, one(2.0), tm.Get(x, ())), tm.Get(x, ()))))


# -- obligations, refusals, printing


@at.fn
def matmul(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:
    return [[sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]


def test_row_38_a_missing_guard_is_found() -> None:
    """The tiled product without the guards of its last tiles: the loops are refused, with numbers."""
    s = at.schedule(matmul).split("i", 4, tail="guard").reorder("j", "i_i").split("j", 4, tail="guard")

    def bare(t: tm.Term) -> tm.Term:
        return bare(t.body) if isinstance(t, tm.Guard) else tm.map_kids(t, bare)

    s._work.theorem = _forged(s, bare(s.program))
    s._lowered = None  # the loops of the program that was not forged: every step looks at them
    with pytest.raises(at.ScheduleError, match="outside axis") as caught:
        _ = s.lowered
    assert "it fails for" in str(caught.value) and " = " in str(caught.value)


def _forged(s: Any, term: tm.Term) -> Any:
    """A theorem no rule gave."""
    from atoll.schedule import kernel

    t = s.theorem
    return kernel.Theorem(kernel._KEY, t.name, t.source, term, t.facts, t.inputs, t.steps, t.licences, t.forbidden, t.unknowns)


def test_row_39_symbolic_tile_sizes() -> None:
    """A tile whose size is an argument: proved, where it is known to be positive; refused where it is not."""
    @at.fn
    def f(x: f32[n], like: f32[h]) -> f32[n]:
        return [2 * x[i] for i in range(n)]

    with pytest.raises(at.ScheduleError) as caught:
        at.schedule(f).split("i", h)
    assert caught.value.code == "E0501" and "h = 0" in str(caught.value)
    for tail in ("cut", "guard"):
        s = at.schedule(f).assume("h >= 1").split("i", h, tail=tail)
        holds(s, (ramp(10), ramp(4)), (ramp(8), ramp(4)), (ramp(3), ramp(5)), (ramp(3), ramp(0)))


def test_row_40_conditions_are_named() -> None:
    with pytest.raises(at.ScheduleError) as caught:
        at.schedule(matmul).rewrite("split_gen", at="i", at_=n + 1)
    text = str(caught.value)
    assert "that the cut n + 1 is not after the range of i does not follow" in text and "it fails for n = " in text
    s = at.schedule(matmul).rewrite("sum_gen_swap", at="j")  # G S = S G holds for empty sums too: they keep their shape
    holds(s, (ramp(3, 0), ramp(0, 2)), (ramp(3, 2), ramp(2, 4)))


def test_row_41_buffers_come_and_go() -> None:
    @at.fn
    def f(x: f32[n]) -> f32[n]:
        y = [x[i] * x[i] for i in range(n)]
        return [y[i] + y[n - 1 - i] for i in range(n)]

    def allocations(s: Any) -> int:
        return len(s.lowered.report.walk.allocated)

    plain = at.schedule(f)
    none = plain.inline("y")
    again = none.rewrite("lbind_helper", at="i", name="z", part=(0, 0)).rewrite("ll_gen", at="i")
    assert [allocations(s) for s in (none, again, again.inline("z"))] == [0, 1, 0]
    holds(again, (ramp(5),))


def test_row_42_guards_vanish_in_full_tiles() -> None:
    s = at.schedule(matmul).split("i", 4, tail="guard").partition("i_o", [n // 4])
    full, rest = (s._work.at_loop(s._work.loop(name)) for name in ("i_o_0", "i_o_1"))
    assert not any(isinstance(t, tm.Guard) for _, t in tm.walk(full))
    assert any(isinstance(t, tm.Guard) for _, t in tm.walk(rest))


def test_row_43_calling_twice() -> None:
    f = at.schedule(matmul).interchange_sum("p", "j").compile()
    a, b = ramp(3, 4), ramp(4, 5)
    first = f(a, b)
    same(first, f(a, b))
    same(first, a @ b)


def test_row_44_indices_have_64_bits() -> None:
    text = at.schedule(matmul).compile().c
    body = text[text.index("at_program_run(") :]
    loops = [line.strip() for line in body.splitlines() if line.strip().startswith("for (")]
    assert len(loops) >= 3 and all(line.startswith("for (int64_t ") for line in loops)  # the innermost runs in stretches, for Ctrl-C
    assert "(int64_t)1 << 46" in text  # larger sizes are refused when the program is called
    assert "64 bits" in at.schedule(matmul).assumptions()


def test_row_45_guarded_reads() -> None:
    good = Small(lambda t: t.gen("i", t.n, lambda i: where(t.v(i - 1), i - 1)))
    same(good.run(v=ramp(4))[0], [0, 1, 2, 3])
    refused(Small(lambda t: t.gen("i", t.n, lambda i: t.v(i - 1))), "v[i - 1] is read outside axis 0", "i = 0")


def test_row_64_parentheses() -> None:
    @at.fn
    def f(x: f32[5 * n + 5]) -> f32[n]:
        return [x[5 * (i % 2)] - (x[i] - x[i + 1]) for i in range(n)]

    s = at.schedule(f)
    assert "(x[i] - x[i + 1]))" in str(s)
    x = ramp(20) ** 2
    same(holds(s, (x,))(x), x[5 * (np.arange(3) % 2)] - (x[:3] - x[1:4]))


def test_row_65_a_loop_is_not_moved_over_its_bound() -> None:
    @at.fn
    def f(x: f32[n]) -> f32[n]:
        return [sum(x[j] for j in range(i)) for i in range(n)]

    with pytest.raises(at.ScheduleError, match="the bounds of j depend on i"):
        at.schedule(f).reorder("j", "i")


def test_row_37_proofs_are_quick() -> None:
    start = time.process_time()
    s = at.schedule(matmul).split("i", 64, tail="guard").reorder("j", "i_i").split("j", 64, tail="guard")
    report = s.lowered.report
    assert {"C1", "C2", "C4", "C5", "C9"} <= report.counts.keys() and not report.by_reindexers
    assert time.process_time() - start < 10  # 0.3 on a quiet machine; bench/schedules has the figure
