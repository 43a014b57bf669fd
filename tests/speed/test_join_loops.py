"""Arrays that one loop makes for the next are not made; where they are needed otherwise they are."""

from dataclasses import replace

import numpy as np

import atoll as at
from atoll.loops import ir as lp
from atoll.loops.recipes.join_loops import join_loops
from atoll.loops.show import statements
from atoll.loops.transform.contract import Contracted, Said, contracted
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.refused import Refused
from atoll.lower.make import compiled_loops
from atoll.sizes import Sym, poly
from atoll.types.dtypes import F64
from bench.kernels.physics import monte_carlo
from tests.agreement import agree


def example(index_shift: int = 0, also_written: int | None = None) -> list[lp.Stmt]:
    """t[i] = x[i] + x[i] in pieces, then s += t[i] in pieces."""
    n, i, r = Sym("n"), Sym("i"), Sym("r")
    low, high, low2, high2 = Sym("i_lo"), Sym("i_hi"), Sym("r_lo"), Sym("r_hi")
    x, t = lp.Buffer("x", F64, (poly(n),), "out"), lp.Buffer("t", F64, (poly(n),), "temp")
    total, part = lp.Var("s", F64), lp.Var("s_1", F64)
    read = lp.Load(x, (poly(i),))
    make = lp.For(i, poly(low), poly(high), [lp.Store(t, (poly(i),), lp.Call("add", (read, read), F64))], True)
    body: list[lp.Stmt] = [lp.Add(part, "add", lp.Load(t, (poly(r) + index_shift,)))]
    if also_written is not None:
        body.append(lp.Store(x, (poly(r) + also_written,), lp.Const(0.0, F64)))
    use = [lp.Accumulate(r, poly(low2), poly(high2), body, [lp.Acc(part, "add")]), lp.Add(total, "add", lp.Use(part))]
    return [
        lp.Alloc(t),
        lp.Chunks(low, high, poly(n), poly(1), [make]),
        lp.Declare(total, lp.Const(0.0, F64)),
        lp.Chunks(low2, high2, poly(n), poly(1), use, [lp.Acc(total, "add")]),
        lp.Free(t),
    ]


def test_it_happens():
    decisions: list[str] = []
    text = "\n".join(statements(join_loops(example(), decisions)))
    assert decisions == ["t is computed where it is read"]
    assert "alloc" not in text and text.count("pieces") == 1 and "t__" in text


def test_chains_of_loops():
    """u[i] = t[i] * t[i] between the two: both arrays go."""
    stmts = example()
    maker, user = stmts[1], stmts[3]
    assert isinstance(maker, lp.Chunks) and isinstance(user, lp.Chunks)
    n = maker.extent
    t = stmts[0].buffer  # type: ignore[union-attr]
    low, high, i = Sym("k_lo"), Sym("k_hi"), Sym("k")
    u = lp.Buffer("u", F64, (n,), "temp")
    read = lp.Load(t, (poly(i),))
    middle = lp.For(i, poly(low), poly(high), [lp.Store(u, (poly(i),), lp.Call("mul", (read, read), F64))], True)
    loop = user.body[0]
    assert isinstance(loop, lp.Accumulate)
    reads = replace(loop, body=[lp.Add(loop.accs[0].var, "add", lp.Load(u, (poly(loop.sym),)))])
    stmts[2:4] = [lp.Alloc(u), lp.Chunks(low, high, n, poly(1), [middle]), stmts[2], replace(user, body=[reads])]
    text = "\n".join(statements(join_loops([*stmts, lp.Free(u)], decisions := [])))
    assert len(decisions) == 2 and "alloc" not in text and text.count("pieces") == 1
    assert "t[" not in text and "u[" not in text


def test_where_it_must_not():
    """An element of another round; an element that a later round of the first loop reads is written by the second."""
    for stmts in (example(index_shift=1), example(also_written=1)):
        before = statements(stmts)
        assert statements(join_loops(stmts, [])) == before


def test_why_not():
    def why(stmts: list[lp.Stmt], at: int = 1) -> str:
        found = contracted(stmts, at, Said())
        assert isinstance(found, Refused)
        return found.why

    alloc, maker, start, reader, free = example()
    assert isinstance(maker, lp.Chunks) and isinstance(reader, lp.Chunks) and isinstance(alloc, lp.Alloc)
    assert isinstance(contracted([alloc, maker, start, reader, free], 1, Said()), Contracted)
    assert "make one array" in why([alloc, maker, start, reader, free], 2)
    assert "make one array" in why([alloc, replace(maker, body=[*maker.body, *maker.body]), start, reader, free])
    assert "one other loop alone" in why([alloc, maker, start, reader, reader, free])
    assert "one other loop alone" in why([start, maker, reader])  # it is not made here
    assert "more than memory" in why([alloc, maker, start, lp.Note("between"), reader, free])
    assert "piece of the second may touch" in why(example(index_shift=1))  # of the next piece
    assert "piece of the second may touch" in why(example(also_written=1))
    (loop, add) = reader.body
    assert isinstance(loop, lp.Accumulate)
    twice = replace(reader, body=[loop, *Copier({}).stmt(loop), add])
    assert "more than one loop" in why([alloc, maker, start, twice, free])
    kept = lp.Store(alloc.buffer, (poly(loop.sym),), lp.Const(0.0, F64))
    assert "own element" in why([alloc, maker, start, replace(reader, body=[replace(loop, body=[*loop.body, kept]), add]), free])


def test_what_a_round_reads_it_may_write_afterwards():
    """Each round of the second loop writes what the same round of the first has read: in one loop it still comes after it."""
    text = "\n".join(statements(join_loops(example(also_written=0), decisions := [])))
    assert decisions and text.count("pieces") == 1 and text.index("x[r] + x[r]") < text.index("x[r] = 0.0")


def test_random_numbers_are_not_stored():
    assert "alloc" not in "\n".join(statements(compiled_loops(monte_carlo.core).body))
    for count in (1, 2, 1000):
        agree(monte_carlo, count)
    results = []
    try:
        for threads in (1, 3):
            at.set_threads(threads)
            results.append(monte_carlo(100_000))
    finally:
        at.set_threads(2)
    assert results[0] == results[1] and abs(results[0] - np.pi) < 0.05
