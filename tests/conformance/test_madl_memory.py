"""Places, order and copies by the ids of docs/sources.md, Pauget: L1 to L33 (locations, memory, scheduling), C1 to C15 (copies and temporaries).

L13 is accepted, with the call expanded; compiled separately (`separate=True`) it is refused as the thesis does.
"""

from __future__ import annotations

import pytest

from atoll.errors import Error
from atoll.madl import graph as g
from tests.madl.c_shape import count_copies, functions, shape, temporaries
from tests.madl.corpus import ADD2, ZIP, P, Q
from tests.madl.harness import by_oracle, call, last, load

_TWO_WAYS = "let f <<n>> (a of [2*n]int) returns (b): forward <<n>> (concat([l], [r]) = a) returns (b = %s as _): x = !l; y = !r"
_SWAP = """
let swap_ends (u at 'l) returns (v at 'l):
  c of [7]int;
  [|ul|] ++ c ++ [|ur|] = u;
  %s;
  v = [|vl|] ++ c ++ [|vr|]
"""

# id: source, copies
ACCEPTED = {
    "L2": (Q["Q28b"], 1), "L3": (Q["Q28c"], 0), "L5_placed": (Q["Q8"], 0), "L6_named": (Q["Q27"], 0), "L7_v3": (Q["Q24c"], 0),
    "L8_c": (Q["Q32c"], 2), "L8_d": (Q["Q32d"], 2), "L12_add2": (Q["Q29b"], 0), "L14_copied": (Q["Q11b"], 1), "L14_node": (Q["Q11"], 0),
    "L15_repeat": (Q["Q35d"], 0), "L17_zip": (ZIP + _TWO_WAYS % "zip([x], [y])", 2), "L18": (_TWO_WAYS % "concat(reverse([x]), [y])", 2),
    "L20": (Q["Q12"], 4), "L21": (Q["Q12b"], 3), "L22": (Q["Q13"], 0), "L24": (Q["Q5"], 1),
    "L25": (_SWAP % "tmp, vl, vr = !ul, !ur, !tmp", 3), "L26": (P["P14"], 2), "L27": (Q["Q9a"], 0), "L28": (Q["Q25a"], 0),
    "L30_nat": (Q["Q11"], 0), "L33_view": (Q["Q9x"].replace("patt", "view"), 0),
    "L29": (Q["Q26b"] + "\nlet back (a) returns (b): rotate_mat(b) = a", 0),
}  # fmt: skip

# id: source, code, what the message says
REFUSED = {
    "L1": (Q["Q28a"], "E0930", ["Invalid locations", "x is a[0]", "and also a[1]", "copy one of them: !x"]),
    "L4": (Q["Q28d"], "E0931", ["Non-injective write"]),
    "L5": (Q["Q8x"], "E0930", ["a is cons(o, a)[1..m] (line 5), and also cons(n, a)[1..m] (line 5)"]),
    "L6": (Q["Q27x"], "E0930", ["Invalid locations", "a ++ b and b ++ c would overlap in b"]),
    "L7": (Q["Q24b"], "E0930", ["Invalid locations", "d is c[0] (line 7), and also r[0] (line 8)"]),
    "L8_a": (Q["Q32a"], "E0930", ["Invalid locations"]),
    "L8_b": (Q["Q32b"], "E0933", ["Overlapping copy", "a read backwards"]),
    "L9_a": (Q["Q30a"], "E0931", ["Non-injective write"]),
    "L9_b": (Q["Q30b"], "E0931", ["Non-injective write"]),
    "L9_one": ("let f (a of [1]int) returns (b of [1]_ at repeat<<_>>(_)): b = !a", "E0931", ["Non-injective write"]),
    "L10": ("let f (a of [_][_]int) returns (b): window<<_>>(b) = !a", "E0931", ["Non-injective write"]),
    "L11": ("let f (a of [_]int) returns (b): sample<<_>>(b) = !a", "E0932", ["Non surjective function in pattern"]),
    "L12": (Q["Q29a"], "E0934", ["Modified location aliased", "add1 writes w and also uses u; both are in b"]),
    "L14": (Q["Q35e"], "E0938", ["abstract location would escape its scope", "help: write !i"]),
    "L15": (Q["Q35c"], "E0919", ["abstract size would escape its scope", "at repeat(_)"]),
    "L16": (Q["Q31"], "E0935", ["round i reads a at a[i]", "an earlier round may have overwritten it"]),
    "L17": (_TWO_WAYS % "concat([x], [y])", "E0937", ["the parts already built are not side by side"]),
    "L19": (_TWO_WAYS % "concat([x], reverse([y]))", "E0937", ["there is a hole"]),
    "L20_one_copy": (Q["Q12x"], "E0940", ["no order of execution works", "share memory because of `at 'l`"]),
    "L22_in_place": (Q["Q13x"], "E0940", ["no order of execution works"]),
    "L23": ("let f (a of int) returns (y): x init 0 = a + 1; y = x + last x", "E0940", ["`x = a + 1` writes x, where last x still lies"]),
    "L24_no_copy": (Q["Q5x"], "E0940", ["last (!x init ..)"]),
    "L25_two": (_SWAP % "vl = !ur; vr = !ul", "E0940", ["writes u[8], where ur still lies", "help: save the old value first: !!ur"]),
    "L30_aggregated": (Q["Q11'"], "E0923", ["the result of nat is its state"]),
    "L32": ("let f () returns (x): (x init 0) at 'l, (y init 1) at 'l; x = last x + 1; y = last y + 1", "E0922", ["Conflicting initialization"]),
    "L33": (Q["Q9x"], "E0925", ["sample is not bijective"]),
}  # fmt: skip


@pytest.mark.parametrize("row", ACCEPTED)
def test_accepted(row: str) -> None:
    source, copies = ACCEPTED[row]
    assert count_copies(last(source)) == copies


@pytest.mark.parametrize("row", REFUSED)
def test_refused(row: str) -> None:
    source, code, words = REFUSED[row]
    with pytest.raises(Error) as caught:
        load(source)
    text = str(caught.value)
    assert caught.value.code == code, text
    for word in words:
        assert word in text, text


def test_L2_L3_places() -> None:
    assert last(Q["Q28b"]).scheme.show_places() == "a.[0<2] -> a writes a"
    assert last(Q["Q28c"]).scheme.show_places() == r"x -> x.\[$0<2]."


def test_L6_one_memory_of_the_three_parts() -> None:
    op = last(Q["Q27"])
    (chunk,) = op.scheme.chunks
    assert [p.chunk for p in (*op.scheme.inputs, *op.scheme.outputs)] == [0] * 5
    assert not chunk.written


def test_L13_separate_compilation_needs_one_piece() -> None:
    assert shape(last(Q["Q33"])) == "*s=0; for idx<n *s+=u[idx]*v[n-idx-1];"
    with pytest.raises(Error) as caught:
        load(Q["Q33"], separate=True)
    assert caught.value.code == "E0936"
    assert "Non-single piece location" in str(caught.value)


def test_L18_the_built_part_grows_to_both_sides() -> None:
    """Offset n - i, length 2*i: round i reads back what it has built around the middle."""
    source = """
let f <<n>> (a of [2*n]int) returns (b):
  forward <<n>> (concat([l], [r]) = a) returns (b = concat(reverse([x]), [y]) as p):
    forward ([q] = p) returns (t = {s}): s init 0 = last s + q end
    x = l + t; y = !r
"""
    assert call(last(source), [1, 2, 3, 10, 20, 30], sizes={"n": 3}).tolist() == [47, 13, 1, 10, 20, 30]


def test_L21_L22_the_old_value_is_read_first() -> None:
    assert shape(last(Q["Q12b"])).endswith("for idx<n {b[idx]=tmp; tmp=a[idx];}")
    assert "for idx<n {b[idx]=at_max_i32(*v,a[idx]); *v=" in shape(last(Q["Q13"]))


def test_L26_the_loop_comes_first_and_the_copies_in_any_order() -> None:
    op = last(P["P14"])
    order = op.schedule.bodies[op.graph.body]
    loop = next(k for k, node in enumerate(order.nodes) if isinstance(node, g.Nest))
    copies = [k for k, node in enumerate(order.nodes) if isinstance(node, g.Copy)]
    assert len(copies) == 2 and all((loop, k) in order.before for k in copies)
    assert (copies[0], copies[1]) not in order.before and (copies[1], copies[0]) not in order.before


def test_L27_zip() -> None:
    assert last(Q["Q9a"]).scheme.show_places() == r"z.\[$0<n].[2*$0<2*n], z.\[$0<n].[2*$0 + 1<2*n] -> z"


def test_L28_reshape_is_one_memory() -> None:
    op = last(Q["Q25a"])
    assert len(op.scheme.chunks) == 1
    assert op.scheme.show_places() == (
        r"out.\[$0<a*b].\[$1<c*d].[$0*c*d + $1<a*b*c*d] -> out.\[$0<a*d].\[$1<b*c].[$0*b*c + $1<a*b*c*d]"
    )


def test_L29_a_rotation_twice_is_nothing() -> None:
    twice = Q["Q26b"] + "\nlet twice (a) returns (b): b = rotate_mat(rotate_mat(a))"
    assert last(twice).scheme.show_places() == "a -> a"


def test_L30_state_as_a_result() -> None:
    assert last(Q["Q1"]).scheme.show_places() == "() --p--> n writes n, p"
    assert last(Q["Q1'"]).scheme.show_places() == "() --n--> n writes n"


@pytest.mark.parametrize("view", ["reverse", "transpose"])
def test_L31_a_view_and_its_inverse_are_nothing(view: str) -> None:
    assert last(f"let f (a) returns (b): b = {view}({view}(a))").scheme.show_places() == "a -> a"


# -- copies and temporaries

# id: program, copies, temporaries
COPIES = {
    **{f"C1_{name}": (P[name], 0, []) for name in ("P1", "P9", "P10", "P11", "P12", "P16", "P17")},
    "C1_Q17": (Q["Q17b"], 0, []),
    "C3": (P["P3"], 3, ["tmp"]),
    "C4": (P["P4"], 3, ["tmp"]),
    "C5_P5": (P["P5"], 1, []),
    "C5_P6": (P["P6"], 1, []),
    "C6": (P["P7"], 2, ["tmp"]),
    "C7": (P["P8"], 3, ["tmp"]),
    "C8": (P["P14"], 2, []),
    "C9": (P["P15"], 4, ["reg", "tmp"]),
    "C10_fib": (Q["Q3"], 2, []),
    "C10_nat": (Q["Q1"], 1, []),
    "C10_nat'": (Q["Q1'"], 0, []),
    "C10_oscillate": (Q["Q4"], 3, []),
    "C11": (Q["Q10"], 2, []),
    "C12": (Q["Q11b"], 1, []),
    "C13_set_first": (Q["Q7"], 1, []),
    "C13_inc_left": (Q["Q8"], 0, []),
    "C13_add2": (ADD2, 0, []),
}


@pytest.mark.parametrize("row", COPIES)
def test_copies(row: str) -> None:
    source, copies, locals_ = COPIES[row]
    op = last(source)
    assert count_copies(op) == copies
    assert temporaries(op) == locals_


def test_C2_vector_matrix_where_KCG_copies_each_round() -> None:
    """KCG: an array of 5 and a copy of it per round, 4 in all (thesis fig. 1.13); here the accumulator is the result."""
    source = Q["Q17b"].replace("(u, a)", "(u of [4]int, a of [4][5]int)")
    op = last(source)
    assert (count_copies(op), temporaries(op)) == (0, [])
    assert shape(op) == "for idx<5 v[idx]=0; for idx<4 for idx_1<5 v[idx_1]+=u[idx]*a[idx][idx_1];"


def test_C4_C6_C8_copies_of_one_piece_are_memcpy() -> None:
    assert shape(last(P["P4"])).count("memcpy") == 3
    assert shape(last(P["P7"])).count("memcpy") == 1
    assert shape(last(P["P14"])).count("memcpy") == 2


def test_C11_strided_copies_are_loops() -> None:
    source = Q["Q10b"].replace("(a of [2*n]_)", "(a of [2*n]int)")
    assert shape(last(source)) == "for idx<n b[2*idx]=a[idx]; for idx<n b[2*idx+1]=a[idx+n];"
    assert "memcpy" not in shape(last(source))


@pytest.mark.parametrize(
    "expression",
    ["transpose(a)", "a ++ a2", "window<<2>>(a)", "repeat<<3>>(a)", "reverse(a)", "split<<1>>(a)", "flatten<<2>>(a)", "a"],
)
def test_C14_what_only_rearranges_is_no_code(expression: str) -> None:
    source = f"let f (a of [2][2]int, a2 of [2][2]int) returns (b): b = {expression}"
    assert shape(last(source)) == ""


def test_C14_last_and_init_are_no_code() -> None:
    """`init c0` says where the accumulator lies; the old value is where the new one will be."""
    source = "let f (a of [_]int, c0 of int at 'l) returns (c at 'l): forward ([x] = a) returns (c = {s} init c0): s = last s + x"
    assert shape(last(source)) == "for idx<n *c+=a[idx];"


def test_C15_reset_stands_before_the_loop() -> None:
    op = last(P["P2"])
    assert shape(op) == "if (rst) *v=0; for idx<n *v+=a[idx];"
    assert functions(op)["integr"].count("if") == 1


def test_copies_executed_are_those_written() -> None:
    """The oracle counts elements copied: a swap of blocks of 3 copies 9, a rotation of n copies 1 + 3n."""
    from atoll.madl.oracle import Oracle

    op = last(P["P4"])
    oracle = Oracle(op, {})
    oracle.run([(list(range(13)),)])
    assert oracle.copies == 9
    op = last(P["P15"])
    sizes = {sym: 5 for sym in op.graph.sizes}
    assert [r.tolist() for r in by_oracle(op, sizes, [([1, 2, 3, 4, 5],)])[0]] == [[5, 1, 2, 3, 4]]
    oracle = Oracle(op, sizes)
    oracle.run([([1, 2, 3, 4, 5],)])
    assert oracle.copies == 16


def test_every_row_is_here() -> None:
    rows = {r.split("_")[0] for r in (*ACCEPTED, *REFUSED)} | {"L13", "L29", "L31"}
    assert rows == {f"L{k}" for k in range(1, 34)}
    assert {r.split("_")[0] for r in COPIES} | {"C2", "C14", "C15"} == {f"C{k}" for k in range(1, 16)}
