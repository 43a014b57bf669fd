"""The transformations that rewrites of loops are made of: each is made where it is right, and says why where it is not."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.loops import ir as lp
from atoll.loops.recipes.unroll import unroll
from atoll.loops.show import statements
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.cut import cut
from atoll.loops.transform.expand import in_lanes, lane_array
from atoll.loops.transform.forward import Forwarded, retargeted
from atoll.loops.transform.indices import own_indices
from atoll.loops.transform.jam import loops_together, one_sum, row_updates, sums_together
from atoll.loops.transform.pieces import SeenPieces, marked, seen_pieces
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import as_assignments, monoid_of, neutral
from atoll.loops.transform.split import block_end, in_blocks, over_blocks, part_of
from atoll.loops.transform.unroll import in_one_piece, written_out
from atoll.sizes import Sym, poly
from atoll.types.dtypes import BOOL, DTYPES, I64

F64 = DTYPES["f64"]
n, m, i, j, r, q = (Sym(name) for name in "nmijrq")
x, y, c = (lp.Buffer(name, F64, (poly(n), poly(m)), "temp") for name in "xyc")
row = lp.Buffer("row", F64, (poly(m),), "temp")
total, value, k = lp.Var("s", F64), lp.Var("v", F64), lp.Var("k", I64)


def at(b: lp.Buffer, *index: Sym) -> lp.Load:
    return lp.Load(b, tuple(map(poly, index)))


def text(made: lp.Stmts | Refused) -> str:
    assert not isinstance(made, Refused), made.why
    return "\n".join(statements(list(made)))


def why(made: object) -> str:
    assert isinstance(made, Refused)
    return made.why


def over(sym: Sym, size: Sym, *body: lp.Stmt, parallel: bool = True) -> lp.For:
    return lp.For(sym, poly(0), poly(size), list(body), parallel)


def summed(high: Sym = m) -> lp.Accumulate:
    return lp.Accumulate(r, poly(0), poly(high), [lp.Add(total, "add", at(x, i, r))], [lp.Acc(total, "add")])


def test_split_has_every_round_and_none_of_an_empty_range() -> None:
    loop = lp.For(i, poly(2), poly(n), [lp.Store(row, (poly(i),), lp.Const(0.0, F64))], True)
    made = text(in_blocks(loop, 4, q, [lp.Note("a block")]))
    assert "if n - 3 >= 0" in made and "for q in 0..(n + 2) // 4 - 1" in made and "for i in 4*((n + 2) // 4) - 2..n" in made
    until, end = block_end("end", poly(q), 4, poly(n))
    assert "min({q + 4}, {n})" in text([until]) and isinstance(next(iter(end.leaves())), lp.VarAtom)


def test_blocks_that_are_begun_and_parts_of_one_length() -> None:
    loop = lp.For(i, poly(2), poly(n), [lp.Store(row, (poly(i),), lp.Const(0.0, F64))], True)
    assert "for in order q in 1..(n + 1) // 4" in text([over_blocks(loop, 4, q, [lp.Note("a block")], first=1)])
    bounds, first, last = part_of(loop, 8, poly(q))
    assert "min({q*((n + 5) // 8) + 2}, {n})" in text(bounds) and "min({(q + 1)*((n + 5) // 8) + 2}, {n})".replace("(q + 1)*((n + 5) // 8)", "q*((n + 5) // 8) + (n + 5) // 8") in text(bounds)
    assert first != last


def test_pieces_for_threads_where_rounds_are_seen_to_be_apart() -> None:
    own, cell = lp.Store(row, (poly(i),), at(x, i, i)), lp.Store(c, (poly(i), poly(r)), at(c, i, r))
    found = seen_pieces(loop := over(i, n, own, over(r, m, cell), parallel=False), lambda: poly(m), (), [loop], align=4)
    assert isinstance(found, SeenPieces) and found.chunk.align == 4 and found.chunk.extent == poly(n) and found.own == []
    assert text([found.chunk]).split("\n")[:2] == ["pieces i_lo..i_hi of n:", "  for i in i_lo..i_hi:"]
    back = lp.Store(row, (poly(i) + 1,), lp.Load(row, (poly(i),)))
    assert "same element" in why(seen_pieces(over(i, n, back, parallel=False), lambda: poly(1), (), []))
    assert "scheduled" in why(seen_pieces(replace(over(i, n, own), vector=4), lambda: poly(1), (), []))


def test_arrays_that_every_round_fills_are_the_pieces_own() -> None:
    fill = over(r, m, lp.Store(row, (poly(r),), at(x, i, r)))
    use = over(r, m, lp.Store(c, (poly(i), poly(r)), at(row, r)))

    def found(*body: lp.Stmt, beside: tuple[lp.Stmt, ...] = ()) -> SeenPieces | Refused:
        loop = over(i, n, *body, parallel=False)
        return seen_pieces(loop, lambda: poly(1), (), [loop, *beside])

    alone = found(fill, use)
    assert isinstance(alone, SeenPieces) and alone.own == [row] and "alloc row" in text([alone.chunk])
    shared = "same element"
    assert shared in why(found(fill, use, beside=(use,)))  # another one reads it
    assert shared in why(found(use, fill))  # a round reads what another one left
    assert shared in why(found(over(r, poly(m) - 1, *fill.body), use))  # not all of it is filled
    assert shared in why(found(lp.If((lp.Test("ge", poly(m) - 3),), [fill]), use))  # or not in every round
    assert shared in why(found(over(r, m, lp.Store(row, (poly(r),), at(row, r))), use))  # which reads it


def test_rounds_that_are_seen_to_be_apart_are_marked() -> None:
    moved = lp.Store(row, (poly(i) + m,), lp.Load(row, (poly(i),)))
    known = (poly(m) - n,)
    (loop,) = lp_marked(over(i, n, moved, parallel=False), known)
    assert isinstance(loop, lp.For) and loop.parallel
    assert "same element" in why(marked(over(i, n, moved, parallel=False), (), 8))
    assert "does more" in why(marked(over(i, n, over(r, m, moved), parallel=False), known, 8))
    assert "scheduled" in why(marked(replace(over(i, n, moved), vector=4), known, 8))
    k = lp.Var("k", I64)
    behind = over(i, n, lp.Store(row, (poly(i),), lp.Load(row, (poly(i) + k.atom + n,))), parallel=False)
    (tested,) = lp_marked(behind, (poly(n), poly(k.atom)))  # which may wrap around
    assert isinstance(tested, lp.If) and [t.poly for t in tested.tests] == [poly(k.atom) + 8, 8 - poly(k.atom)]
    assert [s.parallel for s in (*tested.then, *tested.orelse) if isinstance(s, lp.For)] == [True, False]


def lp_marked(loop: lp.For, known: tuple[Poly, ...]) -> lp.Stmts:
    made = marked(loop, known, 8)
    assert not isinstance(made, Refused)
    return made


def test_loops_are_written_out_where_their_rounds_are_in_the_text() -> None:
    few = lp.Accumulate(r, poly(1), poly(3), [lp.Add(total, "add", at(x, i, r))], [lp.Acc(total, "add")])
    assert text(written_out(few)).split("\n") == ["var s = 0", "s := (s + x[i, 1])", "s := (s + x[i, 2])"]
    assert "rounds" in why(written_out(summed()))
    assert "copied" in why(written_out(lp.For(r, poly(0), poly(2), [lp.Alloc(row)], True)))
    chosen = lp.Choose((lp.Test("eq", poly(r) - 1),), at(x, i, r), lp.Const(0.0, F64))
    assert text(written_out(lp.For(r, poly(0), poly(2), [lp.Store(row, (poly(r),), chosen)], True))).split("\n") == ["row[0] = 0.0", "row[1] = x[i, 1]"]


def test_pieces_of_a_few_elements_are_written_out() -> None:
    few = lp.Chunks(Sym("lo"), Sym("hi"), poly(2), poly(1), [])
    each = lp.For(r, poly(few.low), poly(few.high), [lp.Store(row, (poly(r),), at(x, i, r))], True)
    assert "for r in 0..2" in text(in_one_piece(replace(few, body=[each])))
    assert "copied" in why(in_one_piece(replace(few, body=[lp.Alloc(row)])))
    assert text(unroll([replace(few, body=[each])], [], most=9)).split("\n") == ["row[0] = x[i, 0]", "row[1] = x[i, 1]"]
    part = lp.Var("part", F64)
    adding = lp.Accumulate(r, poly(few.low), poly(few.high), [lp.Add(part, "add", at(x, i, r))], [lp.Acc(part, "add")])
    summed_up = text(unroll([replace(few, body=[adding, lp.Add(total, "add", lp.Use(part))], accs=[lp.Acc(total, "add")])], [], most=9))
    assert "accumulate" not in summed_up and "pieces" not in summed_up and summed_up.endswith(f"s := (s + {summed_up.split(' = ')[0].removeprefix('var ')})")
    rows = lp.For(r, poly(few.low), poly(few.high), [over(j, m, lp.Store(y, (poly(r), poly(j)), at(x, r, j)))], True)
    for kept in (replace(few, body=[rows]), replace(few, body=[each], extent=poly(n)), replace(few, body=[each], extent=poly(100))):
        assert unroll([kept], [], most=9) == [kept]  # rows are work for threads, and so are many elements


def test_sums_of_several_rounds() -> None:
    loop = over(i, n, summed(), lp.Store(row, (poly(i),), lp.Use(total)))
    found = one_sum(loop)
    assert not isinstance(found, Refused)
    made = text(sums_together(found, [poly(q), poly(q) + 1]))
    assert made.count("accumulate") == 1 and "x[q + 1, r]" in made and "row[q + 1]" in made
    assert "range" in why(one_sum(over(i, n, summed(i), lp.Store(row, (poly(i),), lp.Use(total)))))
    assert "more than a sum" in why(one_sum(over(i, n, lp.Alloc(row), summed())))
    assert "no sum" in why(one_sum(over(i, n, lp.Store(row, (poly(i),), lp.Const(0.0, F64)))))
    back = over(i, n, summed(), lp.Store(row, (poly(0),), lp.Use(total)), parallel=False)
    in_order = one_sum(back)
    assert not isinstance(in_order, Refused) and "independent" in why(sums_together(in_order, [poly(q)]))


def test_inner_loops_of_several_rounds() -> None:
    inner = over(j, m, lp.Store(y, (poly(i), poly(j)), at(x, i, j)))
    assert text(loops_together(over(i, n, inner), 2, q)).count("y[") == 3
    assert "independent" in why(loops_together(over(i, n, inner, parallel=False), 2, q))
    assert "range" in why(loops_together(over(i, n, over(j, i, *inner.body)), 2, q))
    assert "more than loops" in why(loops_together(over(i, n, lp.Let(value, lp.Const(0.0, F64)), inner), 2, q))


ADDED = lp.Update(row, (poly(j),), "add", at(x, i, j))
UPDATES = [
    (over(i, n, over(j, m, ADDED), parallel=False), None),
    (over(i, n, over(j, m, ADDED)), "in order"),
    (over(i, n, over(j, i, ADDED), parallel=False), "range"),
    (over(i, n, over(j, m, replace(ADDED, index=(poly(0),))), parallel=False), "may meet"),
    (over(i, n, over(j, m, replace(ADDED, index=(poly(i) + poly(j),))), parallel=False), "may meet"),
    (over(i, n, over(j, m, replace(ADDED, index=(poly(k.atom),))), parallel=False), "may meet"),
    (over(i, n, over(j, m, replace(ADDED, value=lp.Load(row, (poly(j) + 1,)))), parallel=False), "reads"),
    (over(i, n, over(j, m, ADDED, lp.Store(y, (poly(i), poly(j)), lp.Const(0.0, F64))), parallel=False), "more than add"),
]


@pytest.mark.parametrize(("loop", "reason"), UPDATES)
def test_additions_of_rows(loop: lp.For, reason: str | None) -> None:
    found = row_updates(loop)
    assert not isinstance(found, Refused) if reason is None else reason in why(found)


def test_a_range_is_cut_where_bounds_are_the_same_in_every_round() -> None:
    loop = over(i, n, lp.Let(k, lp.Index(poly(i))), lp.Store(row, (poly(i),), lp.Const(0.0, F64)))
    parts = cut(loop, [poly(m)], [poly(m) + 3])
    assert not isinstance(parts, Refused)
    assert "= max({0}, {m})" in text(parts.before[:1]) and len(parts.before) == 4  # within the range, and not behind its end
    assert "round to round" in why(cut(loop, [poly(i)], [])) and "round to round" in why(cut(loop, [], [poly(k.atom)]))
    whole = cut(loop, [], [])
    assert not isinstance(whole, Refused) and (whole.before, whole.start, whole.stop) == ([], loop.low, loop.high)


def test_rows_are_made_elsewhere() -> None:
    made = retargeted([over(j, m, lp.Store(row, (poly(j),), at(row, j)))], row, y, lambda index: (poly(i), *index))
    assert "y[i, j] = y[i, j]" in text(made)
    assert "as a whole" in why(retargeted([lp.Swap(row, lp.Buffer("t", F64, (poly(m),), "temp"))], row, y, lambda index: index))
    assert "as a whole" in why(retargeted([lp.Helper("sort", ((row, ()),), (poly(m),))], row, y, lambda index: index))
    assert "does not hold" in why(retargeted([], row, lp.Buffer("t", I64, (poly(m),), "temp"), lambda index: index))


def test_an_element_that_is_a_variable() -> None:
    made = Forwarded({}, {at(row, j): value}).stmts([lp.Store(y, (poly(i), poly(j)), lp.Call("add", (at(row, j), at(row, i)), F64))])
    assert "(v + row[i])" in text(made)


def test_what_lanes_hand_on_is_kept_for_each() -> None:
    kept = {value: lane_array("v", F64, 8)}
    step = [lp.Assign(value, lp.Call("add", (lp.Use(value), at(x, i, j)), F64))]
    made = text(in_lanes(step, Copier({i: poly(q)}), kept, poly(q)))
    assert made.count("v__") >= 3 and "x[q, j]" in made
    with pytest.raises(AssertionError, match="a lane would change v"):
        in_lanes(step, Copier({i: poly(q)}), {}, poly(q))


def test_every_loop_has_an_index_of_its_own() -> None:
    """The second loop has another index, which prints the same, everywhere in it; memory that a loop makes by its index is another one too; a loop that is alone is itself."""
    inner = over(r, m, lp.Store(row, (poly(i) + poly(r),), lp.Index(poly(i))))  # type: ignore[arg-type]
    first, second = over(i, n, inner), over(i, m, inner)
    made = own_indices([first, second])
    assert made[0] is first and text(made) == text([first, second])
    one, other = (s.sym for s in made if isinstance(s, lp.For))
    found = next(s for s in lp.walk([made[1]]) if isinstance(s, lp.Store))
    assert one is i and other is not i and {a for p in found.index for a in p.leaves()}.isdisjoint({i, r})
    assert own_indices([first]) is not None and own_indices(made) is made
    sized = lp.Buffer("t", F64, (poly(i) + 1,), "temp")
    pieces = [over(i, n, lp.Alloc(sized), lp.Store(sized, (poly(0),), lp.Const(0.0, F64)), lp.Free(sized)) for _ in range(2)]
    kept, moved = ({s.buffer for s in lp.walk([loop]) if isinstance(s, (lp.Alloc, lp.Store, lp.Free))} for loop in own_indices(pieces))
    assert kept == {sized} and [b.copy_of for b in moved] == [sized] and i not in next(iter(moved)).extents[0].leaves()


def test_operators() -> None:
    assert (monoid_of("add"), monoid_of("min"), monoid_of("sub")) == ("add", "minimum", None)
    assert neutral("and", BOOL) == lp.Const(True, BOOL) and neutral("maximum", I64).value == -(2**63)
    adds = [lp.If((lp.Test("ge", poly(n)),), [lp.Add(total, "add", at(x, i, j))]), lp.Add(value, "mul", at(x, i, j))]
    assert text(as_assignments(adds, {total})).split("\n") == ["if n >= 0:", "  s := (s + x[i, j])", "v *= x[i, j]"]


def test_the_page_names_what_is_there() -> None:
    """docs/architecture.md: every transformation is in its file, every pass of the table is in a row of recipes, and no number that pays stands in a recipe."""
    root = Path(__file__).parents[2]
    page = (root / "docs" / "architecture.md").read_text().split("## How loops are rewritten")[1].split("\n## ")[0]
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    transformations = [cells for cells in rows if len(cells) == 6]
    assert len(transformations) > 8
    for cells in transformations:
        files = [root / "atoll" / name if "/" in name else root / "atoll" / "loops" / "transform" / name for name in re.findall(r"`([\w/]+\.py)`", cells[4])]
        made = "".join(path.read_text() for path in files)
        for name in re.findall(r"`(\w+)`", cells[1]):
            assert re.search(rf"^(def|class) {name}\b", made, re.MULTILINE), name
    named = {name for cells in rows if len(cells) == 4 for name in re.findall(r"`(\w+)`", cells[1])}
    files = {path.stem for folder in ("recipes", "idioms", "control") for path in (root / "atoll" / "loops" / folder).glob("*.py")} - {"__init__"}
    assert files <= named, files - named
    for path in [*(root / "atoll" / "loops" / "recipes").glob("*.py"), *(root / "atoll" / "loops" / "idioms").glob("*.py")]:
        found = set(re.findall(r"^([A-Z][A-Z_]+) = ", path.read_text(), re.MULTILINE))
        assert found <= {"SMALL", "PAIRS"}, f"{path.name}: {found} belong to loops/profit.py"  # what makes a proof right, or ends it
