"""Fusion, fission, interchange, coalescing and skewing (transform/fuse.py, permute.py, coalesce.py, skew.py) against every order that they allow, on families of small nests.

What is made must leave the same memory at all small sizes, pieces in any order; what would not must be refused; and the simple shapes must be made.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from atoll.loops import ir as lp
from atoll.loops.show import statements
from atoll.loops.transform.coalesce import coalesced, coalescible, places
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.fuse import fused, once, past
from atoll.loops.transform.permute import distributed, interchanged
from atoll.loops.transform.predicate import masked, total
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.scan import in_runs, scan_of
from atoll.loops.transform.skew import Rows, skewed
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, F64, I64

N = Sym("n")
BUFFERS = [lp.Buffer(name, F64, (poly(N), poly(N)), "temp") for name in "xyz"]
Memory = dict[tuple[str, tuple[int, ...]], object]


def run(stmts: lp.Stmts, n: int, backwards: bool = False) -> Memory:
    """What every element is made of at the end, as an expression of what was there before: two memories are the same only if the same was done to them."""
    memory: Memory = {}
    values: dict[object, int] = {N: n}

    def at(p: Poly) -> int:
        return p.evaluate(lambda a: values[a])

    def element(b: lp.Buffer, index: tuple[Poly, ...]) -> tuple[str, tuple[int, ...]]:
        return b.name, tuple(map(at, index))

    def number(e: lp.Expr) -> int:
        if isinstance(e, lp.Choose):
            return number(e.then if all(t.poly is not None and at(t.poly) >= 0 for t in e.tests) else e.orelse)
        assert isinstance(e, lp.Index)
        return at(e.poly)

    def go(stmts: lp.Stmts) -> None:
        for s in stmts:
            if isinstance(s, lp.For):
                rounds = range(at(s.low), at(s.high))
                for k in reversed(rounds) if backwards and s.parallel else rounds:
                    values[s.sym] = k
                    go(s.body)
            elif isinstance(s, lp.Let):
                values[s.var.atom] = number(s.value)
            elif isinstance(s, lp.Chunks):
                cuts = [(k, min(k + 2, n)) for k in range(0, n, 2)]
                for values[s.low], values[s.high] in reversed(cuts) if backwards else cuts:
                    go(s.body)
            else:
                assert isinstance(s, lp.Store) and isinstance(s.value, lp.Load)
                source = element(s.value.buffer, s.value.index)
                memory[element(s.buffer, s.index)] = ("f", s.instance and s.instance.number, memory.get(source, source))

    go(stmts)
    return memory


def index(rng: random.Random, i: Sym, j: Sym | None) -> tuple[Poly, ...]:
    def one(sym: Sym | None) -> Poly:
        return poly(rng.choice([0, 1])) if sym is None else poly(sym) * rng.choice([0, 1, 1, 1, 1, 2]) + rng.choice([0, 0, 0, 1, -1]) + poly(N) * rng.choice([0, 0, 0, 1])

    return one(i), one(j)


def store(rng: random.Random, i: Sym, j: Sym | None = None) -> lp.Store:
    return lp.Store(rng.choice(BUFFERS), index(rng, i, j), lp.Load(rng.choice(BUFFERS), index(rng, i, j)), instance=lp.Instance(rng.randint(0, 1 << 30), {}))


def same(before: lp.Stmts, after: lp.Stmts) -> bool:
    return all(run(before, n) == run(after, n, backwards) for n in range(5) for backwards in (False, True))


def test_fused_loops_do_the_same() -> None:
    made = {True: 0, False: 0}
    for seed in range(250):
        rng = random.Random(seed)
        i, k = Sym("i"), Sym("k")
        first, second = (lp.For(s, poly(0), poly(N), [store(rng, s) for _ in range(rng.randint(1, 2))], False) for s in (i, k))
        found = fused(first, second)
        made[not isinstance(found, Refused)] += 1
        if isinstance(found, Refused):
            assert found.why
            continue
        assert same([first, second], [found]), f"seed {seed}"
    assert made[True] > 60 and made[False] > 30


def test_fused_pieces_do_the_same() -> None:
    made = {True: 0, False: 0}
    for seed in range(200):
        rng = random.Random(seed)

        def pieces(rng: random.Random = rng) -> lp.Chunks:
            low, high, i = Sym("lo"), Sym("hi"), Sym("i")
            return lp.Chunks(low, high, poly(N), poly(1), [lp.For(i, poly(low), poly(high), [store(rng, i)], True)])

        first, second = pieces(), pieces()
        found = fused(first, second)
        made[not isinstance(found, Refused)] += 1
        if not isinstance(found, Refused) and all(same([c], [c]) for c in (first, second)):  # whose own pieces may go in any order
            assert same([first, second], [found]), f"seed {seed}"
    assert made[True] > 50 and made[False] > 25


def test_loops_taken_apart_do_the_same() -> None:
    made = {True: 0, False: 0}
    for seed in range(200):
        rng = random.Random(seed)
        i = Sym("i")
        loop = lp.For(i, poly(0), poly(N), [store(rng, i) for _ in range(3)], False)
        found = distributed(loop, 1)
        made[not isinstance(found, Refused)] += 1
        if not isinstance(found, Refused):
            assert same([loop], found), f"seed {seed}"
    assert made[True] > 40 and made[False] > 40


def test_loops_exchanged_do_the_same() -> None:
    made = {True: 0, False: 0}
    for seed in range(200):
        rng = random.Random(seed)
        i, j = Sym("i"), Sym("j")
        inner = lp.For(j, poly(rng.choice([0, 1])), poly(N), [store(rng, i, j) for _ in range(rng.randint(1, 2))], False)
        loop = lp.For(i, poly(0), poly(N), [inner], False)
        found = interchanged(loop)
        made[not isinstance(found, Refused)] += 1
        if not isinstance(found, Refused):
            assert same([loop], found), f"seed {seed}"
    assert made[True] > 40 and made[False] > 40


def test_loops_that_are_one_do_the_same() -> None:
    """Two and three loops, bounds that move with the round among them, and ranges that may be shorter than none."""
    made = {True: 0, False: 0}
    for seed in range(200):
        rng = random.Random(seed)
        i, j, k = Sym("i"), Sym("j"), Sym("k")
        body: lp.Stmts = [store(rng, i, j) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.4:
            body = [lp.For(k, poly(0), poly(rng.choice([0, 2, 3])), body, False)]
        high = rng.choice([poly(N), poly(N), poly(N) + 1, poly(N) - 2, poly(i)])
        loop = lp.For(i, poly(rng.choice([0, 0, -1])), poly(N), [lp.For(j, poly(rng.choice([0, 0, -1])), high, body, False)], False)
        found = coalesced(loop)
        made[not isinstance(found, Refused)] += 1
        if not isinstance(found, Refused):
            assert same([loop], found), f"seed {seed}"
    assert made[True] > 80 and made[False] > 40


def test_what_stands_before_an_inner_loop_is_done_again_only_where_that_changes_nothing() -> None:
    v = lp.Var("v", F64)
    first = lp.Let(v, lp.Load(X, (poly(I), poly(0))))
    cells = {b: over(I, first, over(J, lp.Store(b, (poly(I), poly(J)), lp.Use(v)))) for b in (X, Y)}
    assert [len(coalescible(cells[b], lambda _: True).loops) for b in (X, Y)] == [1, 2]
    assert len(coalescible(cells[Y]).loops) == 1
    parallel = replace(cells[Y], parallel=True)
    assert len(coalescible(parallel, lambda _: True).loops) == 1
    assert [str(p) for p in places(poly(I), (poly(9), poly(5), poly(7)))] == ["i // 35", "i // 7 - 5*(i // 35)", "i % 7"]


def test_skewed_rows_do_the_same() -> None:
    """Rows with something before and after their columns, in bands of two and three rows; lanes of a step in any order."""
    made = {True: 0, False: 0}
    for seed in range(300):
        rng = random.Random(seed)
        i, j = Sym("i"), Sym("j")
        cell = [store(rng, i, j) for _ in range(rng.randint(1, 2))]
        before, after = ([store(rng, i) for _ in range(rng.choice([0, 0, 1]))] for _ in range(2))
        inner = lp.For(j, poly(rng.choice([0, 1])), poly(N), cell, False)
        outer = lp.For(i, poly(rng.choice([0, 1])), poly(N), [*before, inner, *after], False)
        found = skewed(Rows(outer, inner, before, cell, after), {}, rng.choice([2, 3]))
        made[not isinstance(found, Refused)] += 1
        if not isinstance(found, Refused):
            assert same([outer], found), f"seed {seed}"
    assert made[True] > 100 and made[False] > 60


I, J = Sym("i"), Sym("j")
X, Y, Z = BUFFERS


def over(sym: Sym, *body: lp.Stmt, high: Poly | None = None) -> lp.For:
    return lp.For(sym, poly(0), poly(N) if high is None else high, list(body), False)


def cell(b: lp.Buffer, down: int, right: int, c: lp.Buffer, from_down: int, from_right: int) -> lp.Store:
    return lp.Store(b, (poly(I) + down, poly(J) + right), lp.Load(c, (poly(I) + from_down, poly(J) + from_right)))


@pytest.mark.parametrize(
    ("cells", "exchanged"),
    [
        ([cell(X, 0, 0, Y, 0, 0)], True),  # nothing in common
        ([cell(X, 0, 0, X, -1, 0)], True),  # waits for the row above
        ([cell(X, 0, 0, X, 0, -1)], True),  # waits for the cell to the left
        ([cell(X, 0, 0, X, -1, -1)], True),
        ([cell(X, 0, 0, X, -1, 1)], False),  # waits for the row above, one to the right
        ([cell(X, 0, 0, X, 1, -1)], False),  # must not see what the row below makes
    ],
)
def test_directions(cells: list[lp.Stmt], exchanged: bool) -> None:
    assert isinstance(interchanged(over(I, over(J, *cells))), Refused) is not exchanged


@pytest.mark.parametrize(
    ("cells", "made"),
    [
        ([cell(X, 0, 0, X, -1, 0)], True),  # waits for the row above
        ([cell(X, 0, 0, X, -1, -1)], True),
        ([cell(X, 0, 0, X, 0, -1)], True),  # and for the cell to the left
        ([cell(X, 0, 0, X, -1, 1)], False),  # the row above is there at the same step
        ([cell(X, 0, 0, X, -2, 1)], True),  # and two rows above at the step before
        ([cell(X, 0, 0, X, 1, 0)], True),  # wants what the row below has not made yet
        ([cell(X, 0, 0, X, 1, -1)], False),  # which it makes at the same step
        ([cell(X, 0, 0, X, 2, -1)], True),
        ([lp.Store(X, (poly(0), poly(J)), lp.Load(X, (poly(0), poly(J))))], True),  # one row for all
        ([lp.Store(X, (poly(0), poly(J)), lp.Load(X, (poly(0), poly(J) + 1)))], False),
    ],
)
def test_steps_of_a_wave(cells: list[lp.Stmt], made: bool) -> None:
    inner = over(J, *cells)
    assert isinstance(skewed(Rows(over(I, inner), inner, [], cells, []), {}, 2), Refused) is not made


def test_reasons() -> None:
    s, k = lp.Var("s", F64), lp.Var("k", I64)
    plain = lp.Store(X, (poly(I), poly(0)), lp.Load(Y, (poly(I), poly(0))))
    carried = over(I, lp.Assign(s, lp.Load(Y, (poly(I), poly(0)))))
    uses = over(J, lp.Store(X, (poly(J), poly(0)), lp.Use(s)))

    def why(found: object) -> str:
        assert isinstance(found, Refused)
        return found.why

    inner = over(J, cell(X, 0, 0, X, -1, 0))
    down = over(J, cell(X, 0, 0, X, -1, 0), high=poly(I))
    assert "depends on the row" in why(skewed(Rows(over(I, down), down, [], down.body, []), {}, 2))
    assert "leaves a variable" in why(skewed(Rows(over(I, inner, carried.body[0]), inner, [], inner.body, carried.body), {}, 2))
    edge = lp.Store(X, (poly(I), poly(N) - 1), lp.Const(0.0, F64))
    assert "beside the columns" in why(skewed(Rows(over(I, inner, edge), inner, [], inner.body, [edge]), {}, 2))
    assert "same range" in why(fused(over(I, plain), over(J, plain, high=poly(4))))
    assert "variable" in why(fused(carried, uses)) and "variable" in why(past(carried, [uses]))
    assert "variable" in why(distributed(carried, 1)) and "variable" in why(distributed(over(I, lp.Let(k, lp.Index(poly(I))), lp.Store(X, (poly(I), poly(0)), lp.Use(k))), 1))
    assert "depends on the round" in why(interchanged(over(I, over(J, cell(X, 0, 0, Y, 0, 0), high=poly(I)))))
    assert "as many rounds" in why(coalesced(over(I, over(J, cell(X, 0, 0, Y, 0, 0), high=poly(I))))) and "as many rounds" in why(coalesced(over(I, plain)))
    assert "fewer rounds" in why(coalesced(over(I, over(J, cell(X, 0, 0, Y, 0, 0), high=poly(N) - 2))))
    assert "too large" in why(coalesced(over(I, over(J, cell(X, 0, 0, Y, 0, 0), high=poly(k.atom)))))
    assert "as a whole" in why(fused(over(I, lp.CopyBuffer(X, Y)), over(J, cell(X, 0, 0, X, 0, 0))))
    assert "one may touch" in why(past(plain, [over(J, lp.Store(Y, (poly(J), poly(0)), lp.Const(0.0, F64)))])) and past(plain, [over(J, lp.Store(Z, (poly(J), poly(0)), lp.Const(0.0, F64)))]) is None


def test_equal_values_have_one_name_where_nothing_changes_them() -> None:
    a, b, c, d = (lp.Var(name, F64) for name in "abcd")
    kept, changes = lp.Load(Y, (poly(I), poly(0))), lp.Load(X, (poly(I), poly(0)))
    made = once([lp.Let(a, kept), lp.Let(c, changes), lp.Store(X, (poly(I), poly(0)), lp.Use(a)), lp.Let(b, kept), lp.Let(d, changes), lp.Store(Z, (poly(I), poly(0)), lp.Call("add", (lp.Use(b), lp.Use(d)), F64))])
    assert [type(s) for s in made] == [lp.Let, lp.Let, lp.Store, lp.Let, lp.Store]
    last = made[-1]
    assert isinstance(last, lp.Store) and isinstance(last.value, lp.Call) and last.value.args[0] == lp.Use(made[0].var) and last.value.args[1] == lp.Use(made[3].var)  # type: ignore[union-attr]


def test_equal_values_in_inner_loops_but_not_of_what_is_assigned() -> None:
    a, b, c, s = (lp.Var(name, F64) for name in "abcs")
    kept, doubled = lp.Load(Y, (poly(I), poly(0))), lp.Call("add", (lp.Use(s), lp.Use(s)), F64)
    inside = over(J, lp.Let(b, kept), lp.Store(Z, (poly(I), poly(J)), lp.Use(b)))
    assert [type(x) for x in lp.walk(once([lp.Let(a, kept), inside]))] == [lp.Let, lp.For, lp.Store]
    assigned: list[lp.Stmt] = [lp.Declare(s, kept), lp.Let(a, doubled), lp.Assign(s, lp.Use(a)), lp.Let(c, doubled), lp.Store(Z, (poly(I), poly(0)), lp.Use(c))]
    assert [type(x) for x in once(assigned)] == [type(x) for x in assigned]


def test_scans_in_chunks_and_why_not() -> None:
    """A running sum is made in runs, of floats only with the program's word; what depends on the running value, or meets, is refused (values: tests/speed/test_scans.py)."""
    s, v = lp.Var("s", F64), lp.Var("v", F64)
    place = (poly(0), poly(I))

    given: lp.Expr = lp.Load(Y, place)

    def loop(value: lp.Expr = given, at: tuple[Poly, ...] = place, op: str = "add", low: int = 0) -> lp.For:
        step = lp.Assign(s, lp.Call(op, (lp.Use(s), lp.Use(v)), F64))
        return lp.For(I, poly(low), poly(N), [lp.Let(v, value), step, lp.Store(X, at, lp.Use(s))], False)

    found = scan_of(loop())
    assert not isinstance(found, Refused) and [x.var for x in found.needed] == [v] and not found.compares
    assert isinstance(in_runs(found, 1, 8, 4, False), Refused)
    fewer = scan_of(replace(loop(), high=poly(N) - 3))
    assert not isinstance(fewer, Refused) and isinstance(in_runs(fewer, 1, 8, 4, True), Refused) and not isinstance(in_runs(fewer, 1, 8, 4, True, (poly(N) - 16,)), Refused)
    made = in_runs(found, 1, 8, 4, True)
    assert not isinstance(made, Refused) and sum(isinstance(x, lp.Chunks) for x in lp.walk(made)) == 2
    for wrong, why in [
        (loop(value=lp.Use(s)), "depends on the running value"),
        (loop(value=lp.Load(X, place)), "reads what another one writes"),
        (loop(at=(poly(0), poly(1))), "the same element"),
        (loop(op="sub"), "associative"),
        (loop(low=1), "from 0 on"),
    ]:
        refused = scan_of(wrong)
        assert isinstance(refused, Refused) and why in refused.why


def test_what_may_be_done_where_nobody_asked() -> None:
    v, w = lp.Var("v", F64), lp.Var("w", I64)
    inside = (poly(I), poly(N) - 1 - poly(I))
    known = (poly(I), poly(N) - 1 - poly(I), poly(N) - 1)
    read = lp.Let(v, lp.Load(X, (poly(I), poly(0))))
    assert total([read, lp.BreakUnless((lp.Test("true", None, lp.Truth((lp.Test("ge", poly(I)),))),))], known, ()) is None
    for wrong, why in [
        (lp.Let(v, lp.Load(X, (poly(I) + 1, poly(0)))), "seen to be there"),
        (lp.Let(v, lp.Load(X, (poly(w.atom), poly(0)))), "seen to be there"),
        (lp.Let(w, lp.Call("floordiv", (lp.Use(w), lp.Use(w)), I64)), "no value"),
        (lp.Let(w, lp.Cast(lp.Use(v), I64)), "no value"),
        (lp.Store(X, inside, lp.Use(v)), "more than compute"),
    ]:
        refused = total([read, wrong], known, {w})
        assert isinstance(refused, Refused) and why in refused.why


def test_a_masked_step_keeps_what_has_ended() -> None:
    x, going = lp.Var("x", F64), lp.Var("going", BOOL)
    copier = Copier({})
    begin = copier.stmts([lp.Let(x, lp.Const(1.0, F64))])
    stop = lp.BreakUnless((lp.Test("true", None, lp.Call("lt", (lp.Use(x), lp.Const(4.0, F64)), BOOL)),))
    body, after = masked([stop, lp.Assign(x, lp.Call("add", (lp.Use(x), lp.Use(x)), F64))], lp.Use(going), copier, {x})
    text = statements([*begin, *body])
    assert "going" in text[1] and "< 4.0" in text[1]
    last = body[-1]
    assert isinstance(last, lp.Let) and isinstance(last.value, lp.Choose) and last.value.orelse == lp.Use(begin[0].var) and last.value.tests[0].expr == after  # type: ignore[union-attr]
