"""Schedules as users write them, right and wrong, of programs that were not made for scheduling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import c128, f32, f64, i32, i64, u8
from atoll.schedule.library import im2col, register_tile, separate_tails, sliding_window, tile2d
from atoll.schedule.value_steps import Permuted
from tests.schedule.holding import holds

n, m, k, h, w = at.sizes("n m k h w")
q = at.some("q")
WEIGHTS = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], np.float32) / 16


def F(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).integers(-9, 9, shape).astype(np.float32)


def D(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


@at.fn
def softmax(x: f64[n, m]) -> f64[n, m]:
    top = [max(x[i, j] for j in range(m)) for i in range(n)]
    e = [[exp(x[i, j] - top[i]) for j in range(m)] for i in range(n)]
    z = [sum(e[i, j] for j in range(m)) for i in range(n)]
    return [[e[i, j] / z[i] for j in range(m)] for i in range(n)]


def test_softmax_row_by_row() -> None:
    s = at.schedule(softmax).stage("z", at="i").stage("e", at="i").stage("top", at="i").parallel("i")
    holds(s, (D(5, 7),), (D(1, 1),))
    assert all(len(b.extents) == 1 or b.extents[0].const() == 1 for b in s.lowered.report.walk.allocated)


def test_softmax_without_memory_for_e() -> None:
    holds(at.schedule(softmax).inline("e"), (D(5, 7),))


@at.fn
def normalised(x: f64[n]):
    mean = sum(x) / n
    var = sum((x[i] - mean) ** 2 for i in range(n)) / n
    return mean, [(x[i] - mean) / sqrt(var + 1e-5) for i in range(n)]


def test_several_results() -> None:
    s = at.schedule(normalised).reassociate("var/i", 4).split("i", 4, tail="guard").vectorize("i_i", 4)
    holds(s, (D(9),), (D(4),))
    assert s.licences == {"reassociate"}


@at.fn
def prediction_error(weights: f64[n, m], x: f64[m], y: f64[n]) -> f64:
    p = [sum(weights[i, j] * x[j] for j in range(m)) for i in range(n)]
    return sum((p[i] - y[i]) ** 2 for i in range(n))


def test_schedules_of_derivatives() -> None:
    g = at.grad(prediction_error)
    s = at.schedule(g).tile(("i", "j"), (2, 4)).vectorize("j_o/j_i", 4).parallel("i_o")
    holds(s, (D(5, 7), D(7), D(5)), (D(1, 1), D(1), D(1)))
    both = at.schedule(at.value_and_grad(prediction_error, wrt=(0, 1)))
    holds(both.split("i#2" if "i#2" in both.loops() else both.loops()[0], 2), (D(5, 7), D(7), D(5)))


def test_a_derivative_of_a_stencil() -> None:
    @at.fn
    def energy(v: f64[n]) -> f64:
        return sum((v[i + 1] - v[i]) ** 2 for i in range(n - 1))

    s = at.schedule(at.grad(energy)).partition("i")
    holds(s, (D(7),), (D(2),), (D(1),))


@at.fn
def smoothed(x: f32[n + 2, m + 2]) -> f32[n, m]:
    return [[sum(WEIGHTS[a, b] * x[i + a, j + b] for a in range(3) for b in range(3)) for j in range(m)] for i in range(n)]


def test_constants_and_unrolled_sums() -> None:
    s = at.schedule(smoothed).unroll("a").unroll("b").tile(("i", "j"), (2, 4)).vectorize("i_o/j_i", 4)
    holds(s, (F(9, 11),), (F(2, 3),))
    assert [name for name, _ in s.certificate().data["constants"]] != []


@at.fn
def pooled(x: f32[4 * n, 4 * m]) -> f32[n, m]:
    return [[max(x[4 * i + a, 4 * j + b] for a in range(4) for b in range(4)) for j in range(m)] for i in range(n)]


def test_other_monoids() -> None:
    s = at.schedule(pooled).unroll("a/b").unroll("a").tile(("i", "j"), (2, 2)).interchange_sum("i_o/j_o/a", "j_o/j_i")
    holds(s, (F(12, 20),), (F(4, 4),), optimise="2")  # gcc 12 takes 6 s with -O3: what is unrolled is vectorized in every order


@at.fn
def cumulated(x: f64[n], y: f64[n]) -> f64[n]:
    c = scan(add, 0.0, x)
    return [c[i] * y[i] + c[n - 1] for i in range(n)]


def test_around_a_scan() -> None:
    s = at.schedule(cumulated).split("i", 4).vectorize("i_i", 4)
    holds(s, (D(9), D(9)))
    assert "opaque" in s.assumptions()


@at.fn
def diffused(u: f64[n]) -> f64[n]:
    for _ in range(3):
        u = [u[i] + 0.25 * ((u[i - 1] if i > 0 else 0.0) - 2 * u[i] + (u[i + 1] if i + 1 < n else 0.0)) for i in range(n)]
    return [2 * u[i] for i in range(n)]


def test_around_a_loop_of_steps() -> None:
    holds(at.schedule(diffused).split("i", 4, tail="guard"), (D(9),), (D(1),))


@at.fn
def rotated(z: c128[n], by: c128) -> c128[n]:
    return [z[i] * by + z[n - 1 - i] for i in range(n)]


def test_complex_numbers() -> None:
    holds(at.schedule(rotated).split("i", 2), (D(5) + 1j * D(5), 1j))


@at.fn
def integers(x: i32[n], scale: i64) -> i64[n]:
    return [x[i] * scale + i if x[i] > 0 else i64(0) - i for i in range(n)]


def test_integers_and_their_formulas() -> None:
    s = at.schedule(integers).split("i", 4).vectorize("i_i", 4)
    x = np.arange(-3, 6, dtype=np.int32)
    np.testing.assert_array_equal(holds(s, (x, 5))(x, 7), np.where(x > 0, x * 7 + np.arange(9), -np.arange(9)))


@at.fn
def correlation(x: f32[n, m]) -> f32[n, n]:
    return [[sum(x[i, t] * x[j, t] for t in range(m)) for j in range(n)] for i in range(n)]


def test_one_argument_in_two_layouts() -> None:
    s = at.schedule(correlation).stage("x", name="xt", layout=Permuted((1, 0))).interchange_sum("t", "j").vectorize("j", 8)
    holds(s, (F(5, 7),), (F(1, 3),))


@at.fn
def heat(t: f32[n, m, k]) -> f32[n, m, k]:
    return [
        [
            [
                (t[a - 1, b, c] if a > 0 else 0.0) + (t[a + 1, b, c] if a + 1 < n else 0.0) + (t[a, b - 1, c] if b > 0 else 0.0) - 3 * t[a, b, c]
                for c in range(k)
            ]
            for b in range(m)
        ]
        for a in range(n)
    ]


def test_three_dimensions() -> None:
    s = at.schedule(heat).tile(("a", "b", "c"), (2, 2, 4), tail="guard")
    holds(s, (F(3, 5, 6),), (F(1, 1, 1),))
    s = at.schedule(heat).apply(separate_tails, "a", "b").vectorize("a_1/b_1/c", 4).parallel("a_1")
    holds(s, (F(4, 5, 6),), (F(1, 1, 1),))


@at.fn
def windows(x: f32[n]) -> f32[n - 3]:
    return [sum(row) for row in window(x, 4)]


def test_views_of_the_language() -> None:
    holds(at.schedule(windows).split(at.schedule(windows).loops()[0], 4), (F(9),), (F(4),))


@at.fn
def banded(a: f64[n, n], x: f64[n]) -> f64[n]:
    return [sum(a[i, j] * x[j] for j in range(n) if abs(i - j) <= 1) for i in range(n)]


def test_sums_with_a_condition() -> None:
    holds(at.schedule(banded).split("i", 2), (D(5, 5), D(5)))


@at.record
class Line:
    slope: f64
    start: f64


@at.fn
def on_line(p: Line, v: f64[n]) -> f64[n]:
    return [p.slope * v[i] + p.start for i in range(n)]


@at.fn
def gathered(x: f64[n], at_: i64[m]) -> f64[m]:
    return [x[at_[j]] * 2 for j in range(m)]


@at.fn
def sparse(first: i64[n + 1], column: i64[m], value: f64[m], x: f64[k]) -> f64[n]:
    y = [sum(value[j] * x[column[j]] for j in range(first[i], first[i + 1])) for i in range(n)]
    return [2 * y[i] + (y[i - 1] if i > 0 else 0.0) for i in range(n)]


@at.fn
def compared(x: f64[n], t: f64) -> at.bool_[n]:
    return [x[i] > t and i % 2 == 0 for i in range(n)]


@at.fn
def inverted(x: u8[n, m]) -> u8[n, m]:
    return [[u8(255) - x[i, j] for j in range(m)] for i in range(n)]


@at.fn
def next_one(v: f64[n]) -> f64[n]:
    p = [v[i] for i in range(n)]
    return [p[i + 1] if i + 1 < n else 0.0 for i in range(n)]


def test_a_tail_of_a_tail_that_is_nothing() -> None:
    """Parts without elements beside zeros are zeros: the checker follows it."""
    s = at.schedule(next_one).split("i", 2, tail="cut").split("i_t", 2, tail="cut").partition("i_t_t", [2])
    for count in (0, 1, 2, 3, 7):
        holds(s, (D(count),))


@at.fn
def shifted(x: f64[n, m]) -> f64[n, m]:
    return [[x[i, m - 1 - j] for j in range(m)] for i in range(n)]


@pytest.mark.long
def test_zeros_that_have_no_room() -> None:
    """A part that no size has, beside one that is cut off: nothing is written for it, and the checker follows that too."""
    s = at.schedule(shifted).tile(("j", "i"), (5, 3), tail="guard").tile(("i_i", "j_i"), (2, 3), tail="guard").partition("i_o", [1])
    s = s.partition("i_o_1/i_i_o/j_i_o", ["n // 2"]).split("j_i_o_0/i_i_i", 5, tail="guard").split("i_i_i_o", 3, tail="guard")
    for rows, columns in ((0, 0), (4, 7), (5, 5), (9, 3)):
        holds(s, (D(rows, columns),))


@at.fn
def extremes(x: f64[n, m]):
    top = [reduce(maximum, -9.0, [x[i, p] if p < 3 else 0.0 for p in range(m)]) for i in range(n)]
    low = [reduce(minimum, 9.0, [x[i, q] - 5.0 if q < 2 else 0.0 for q in range(m)]) for i in range(n)]
    return top, low, [prod(x[i, r] * 2.0 if r < 3 else 0.0 for r in range(m)) for i in range(n)]


@pytest.mark.parametrize(("part", "cut"), [("p", 3), ("q", 2), ("r", 3)])
def test_zeros_are_elements_of_a_maximum(part: str, cut: int) -> None:
    """Where a guard vanishes, the zeros that are left are compared like other elements; only a sum may leave them out."""
    s = at.schedule(extremes).partition(part, [cut])
    holds(s, *((sign * (np.abs(D(4, count)) + 1.0),) for count in (0, 2, 3, 5) for sign in (1.0, -1.0)))


def test_other_kinds_of_arguments() -> None:
    holds(at.schedule(on_line).split("i", 4), (Line(1.0, 2.0), D(9)))
    holds(at.schedule(gathered).split("j", 2), (D(5), np.array([1, 2, 0])))
    holds(at.schedule(sparse).partition("i"), (np.array([0, 1, 3]), np.array([0, 1, 0]), D(3), D(2)))
    holds(at.schedule(compared).split("i", 4), (D(9), 0.1))
    holds(at.schedule(inverted).tile(("i", "j"), (4, 4)), (np.arange(35, dtype=np.uint8).reshape(5, 7),))


def test_the_library() -> None:
    @at.fn
    def two(v: f32[n, m]) -> f32[n, m]:
        p = [[(v[y, x - 1] if x >= 1 else 0.0) + v[y, x] for x in range(m)] for y in range(n)]
        return [[(p[y - 1, x] if y >= 1 else 0.0) + p[y, x] for x in range(m)] for y in range(n)]

    for s in (
        at.schedule(two).apply(tile2d, ("y", "x"), (4, 4), stage="p", vector=4),
        at.schedule(two).apply(sliding_window, "p", "y", strip=4),
        at.schedule(two).inline("p").apply(separate_tails, "y", "x"),
    ):
        holds(s, (F(11, 13),), (F(1, 1),), (F(8, 2),))

    @at.fn
    def product(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:
        return [[sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]

    holds(at.schedule(product).apply(register_tile, "i", "j", "p", left="a", right="b", tile=(2, 8), vector=8), (F(3, 5), F(5, 9)))
    holds(at.schedule(product).apply(im2col, "b"), (F(3, 5), F(5, 4)))


def test_steps_undo_and_looking() -> None:
    s = at.schedule(smoothed)
    t = s.split("j", 8).vectorize("j_i", 8)
    assert [str(x) for x in t.steps] == ["split('j', 8, tail='cut')", "vectorize('j_i', 8)"]
    assert str(t.undo(2)) == str(s) and str(t.undo()) == str(s.split("j", 8))
    assert "# vector of 8" in str(t) and "j_t" in t.loops()
    assert "result" in t.pads() and t.compile().c.count("for (") >= 6
    assert repr(t) == "<schedule of smoothed, 2 steps>"


# -- what is refused, and in which words


@at.fn
def product(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:
    return [[sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]


@at.fn(reassociate=False)
def in_order(a: f32[n, k]) -> f32[n]:
    return [sum(a[i, p] for p in range(k)) for i in range(n)]


@at.fn
def chained(v: f32[n]) -> f32[n]:
    b = [v[i] * 2 for i in range(n)]
    return [b[i] + (b[i - 1] if i >= 1 else 0.0) for i in range(n)]


@at.fn
def positives(v: f64[n]) -> f64[q]:
    return filter(lambda x: x > 0, v)


def P() -> Any:
    return at.schedule(product)


WRONG: list[tuple[str, Any, str, str]] = [
    ("no such loop", lambda: P().split("q", 4), "E0502", "loops here: i, j, p"),
    ("ambiguous", lambda: P().split("i", 4).split("j", 2), "E0502", "'j' means 2 loops"),
    ("tile of nothing", lambda: P().split("i", 0), "E0501", "that the size 0 is positive"),
    ("unknown tail", lambda: P().split("i", 4, tail="round"), "E0507", "tail is one of cut, guard, perfect"),
    ("does not divide", lambda: P().split("i", 4, tail="perfect"), "E0501", "it fails for n ="),
    ("a size that is none", lambda: P().split("i", 2.5), "E0507", "2.5 is not a size"),
    ("a formula that is none", lambda: P().split("i", "n +"), "E0507", "is not a formula"),
    ("vector of a sum", lambda: P().vectorize("p", 8), "E0503", "p is a sum"),
    ("threads inside threads", lambda: P().parallel("i").parallel("j"), "E0503", "i around it is parallel already"),
    ("unrolling a size", lambda: P().unroll("i"), "E0503", "i has n rounds"),
    ("a loop twice", lambda: P().reorder("i", "i"), "E0507", "named twice"),
    ("not nested", lambda: P().split("i", 4).reorder("i_o", "i_t"), "E0503", "not inside each other"),
    ("no such value", lambda: P().stage("c", at="i"), "E0502", "'c' is not the name of a value"),
    ("an argument inlined", lambda: P().inline("a"), "E0503", "a is an argument"),
    ("outside the range", lambda: P().partition("i", [n + 1]), "E0501", "it fails for n ="),
    ("nothing to cut", lambda: P().partition("i"), "E0503", "nothing inside i changes"),
    ("order fixed", lambda: at.schedule(in_order).reassociate("p", 4), "E0504", "which in_order forbids"),
    ("contraction forbidden", lambda: at.schedule(in_order).interchange_sum("p", "i").rewrite("simplify").rewrite("contract", at="p"), "E0503", "product"),
    ("window on threads", lambda: at.schedule(chained).roll("b", "i").parallel("i"), "E0503", "its rounds run in order"),
    ("threads, then window", lambda: at.schedule(chained).parallel("i").roll("b", "i"), "E0503", "run together"),
    ("accumulating a builder", lambda: P().accumulate_in_register("i"), "E0503", "i is not a sum"),
    ("tile of sums upside down", lambda: P().accumulate_in_register("p", over=("j", "i")), "E0503", "outermost first"),
    ("one part", lambda: P().fission("i"), "E0503", "one part"),
    ("a sum with a builder", lambda: P().fuse("j", "p"), "E0503", "two loops of one kind"),
    ("no such rule", lambda: P().rewrite("teleport"), "E0507", "there is no rule 'teleport'"),
    ("arguments of a rule", lambda: P().rewrite("gen_cut", at="i"), "E0507", "gen_cut takes at_"),
    ("a rule that does not fit", lambda: P().rewrite("let_dead", at="i"), "E0503", "let_dead needs a let"),
    ("too many steps back", lambda: P().split("i", 4).undo(3), "E0507", "3 of 1 steps"),
    ("not a function", lambda: P().apply(3), "E0507", "not a function"),
    ("a condition that is none", lambda: P().assume("n > q"), "E0507", "q is not made of"),
    ("no Atoll function", lambda: at.schedule(len), "E0506", "decorate it with @at.fn"),
    ("a size found while running", lambda: at.schedule(positives), "E0506", "decided while the program runs"),
    ("padding of a product", lambda: at.schedule(in_order).rewrite("exchange_range", at="p", low=0, high=3), "E0503", "sum over a guard"),
]


@pytest.mark.parametrize(("name", "make", "code", "words"), WRONG, ids=[row[0] for row in WRONG])
def test_refused(name: str, make: Any, code: str, words: str) -> None:
    with pytest.raises(at.ScheduleError) as caught:
        make()
    assert caught.value.code == code and words in str(caught.value), str(caught.value)
    assert caught.value.span.source.name == __file__ and "^" in str(caught.value)


def test_a_refusal_in_full() -> None:
    with pytest.raises(at.ScheduleError) as caught:
        P().split("i", 4, tail="perfect")
    lines = str(caught.value).splitlines()
    assert lines[0] == "E0501: split('i', 4, tail='perfect'): n % 4 == 0 does not follow"
    assert lines[3].endswith("^" * len('.split("i", 4, tail="perfect")')) and lines[2].endswith('P().split("i", 4, tail="perfect")')
    assert lines[4] == "   note: needed: tiles of 4 are all of i"
    assert lines[5] == "   note: known: n >= 0"
    assert lines[6].startswith("   note: it fails for n = ")
