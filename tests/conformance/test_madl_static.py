"""Static checks of MADL by the ids of docs/sources.md, Pauget: T1 to T25 (types and sizes), S1 to S8 (scopes, arity, causality), I1 to I20
(initialisation). One row is one case; messages are the thesis' own words where it prints them.

Where we differ from the thesis, the row says so: T10 is refused as an escaping size, I7 and I8 are accepted because initial values are
checked where they lie (docs/sources.md M7), and they run correctly.
"""

from __future__ import annotations

import pytest

from atoll.errors import Error
from tests.madl.corpus import CONS, DOT, P, Q
from tests.madl.harness import call, last, load
from tests.madl.schemes import has_type

NODE_DOT = """
let dot (u, v) returns (s): forward ([ui] = u) ([vi] = v) returns (s = {si}): si init 0 = last si + ui*vi reset true
"""
EVEN = "let f (size n) <<2*n>> (u of [2*n]int) returns (v): v = reverse(u)\n"
_OPERATORS = "let fuse (l, d, r) = (l ++ [|d|] ++ r)"


def one(source: str, name: str) -> object:
    return load(source).operators[name]


# id: source, type
TYPES = {
    "T1": (P["P1"], "[i]int, [i]int -> int"),
    "T3": (Q["Q10"], "<<i>> -> [2*i]a -> [2*i]a"),
    "T4": (Q["Q16"], "[i][j]int, [j]int -> [i]int"),
    "T5": (_OPERATORS, "[i-1]a, a, [j-i]a -> [j]a"),
    "T6_head": (CONS, "[1+i]a -> a"),
    "T7_v1": (Q["Q24a"], "[1+i][j]int"),
    "T7_v3": (Q["Q24c"], "[i][j]int"),
    "T7_P16": (P["P16"], "[9][9]int"),
    "T8": (P["P13"], "[i]int, [j+i-1]int -> [j]int"),
    "T9": (P["P14"], "[1+2*k]int, [2*k+n]int -> [2*k+n]int"),
    "T11": (Q["Q23a"], "<<i>> -> [3*i]int"),
    "T12": (Q["Q23b"], "<<i>> -> [3][i]int"),
    "T14": (Q["Q15"], "<<n>> -> [n][n]int"),
    **{f"T15_{c}": (Q[f"Q18{c}"], "<<i, j>> -> [i][j]int -> int") for c in "abcde"},
    "T16": (Q["Q27"], "[j-i]a, [i]a, [k-i]a -> [j]a, [k]a"),
    "T17": (Q["Q8"], "[i]int -> [i]int"),
    "T19_even": (EVEN + "let g (u) returns (v): v = f<<6>>(u)", "[6]int -> [6]int"),
    "T20_P3": (P["P3"], "[9]int -> [9]int"),
    "T20_P4": (P["P4"], "[13]int -> [13]int"),
    **{f"T21_{c}": (Q[f"Q25{c}"], "<<a, b, c, d>> -> [a*b][c*d]t -> [a*d][c*b]t") for c in "abc"},
    "T21_at_1223": (Q["Q25a"] + "\nlet g (x) returns (y): y = reshape<<1, 2, 2, 3>>(x)", "[2][6]a -> [3][4]a"),
    "T22": (P["P11"], "<<4, 5>> -> [4][5]int, [27][29]int -> [24][25]int"),
    "T23_P17": (P["P17"], "[10][10]int -> [10][10]int"),
    "T23_P18": (P["P18"], "[i][i]int -> [i][i]int"),
    "T25": (P["P8"], "[2*i]int -> [2*i]int"),
    "S6": ("let f () returns (x): x init 0 = last x + 1", "int"),
    "S8": ("let id (a) returns (b): b = (block (type a) (x of a) returns (x of 'b))(a)", "t -> t"),
    "I3": ("let nat () returns (n): n = !last p; p init 0 = 1 + last p", "int"),
    "I5": (Q["Q3d"], "int"),
    "I6": ("let fib () returns (n): [|a, b|] = [|c init 0, d init 1|]; n = !last a; c = !last b; d = n + c", "int"),
    "I7": ("let fib () returns (n): [|a init 0, b|] = [|c, d init 1|]; n = !last a; c = !last b; d = n + c", "int"),
    "I8": ("let fib () returns (n): [|a, b init 1|] = [|c init 0, d|]; n = !last a; c = !last b; d = n + c", "int"),
    "I12": (Q["Q16i"], "[i][j]int, [j]int -> [i]int"),
    "I14_inner": (Q["Q34i_resume"], "bool -> int"),
    "I14_outer": (Q["Q34o_resume"], "bool -> int"),
    "I15_inner": (Q["Q34i_reset"], "bool -> int"),
    "I17_resume": (Q["Q17b"], "[i]int, [i][j]int -> [j]int"),
    "I20_copied": (NODE_DOT + "let mat_vec (a, u) returns (v): forward ([ai] = a) returns (v = [vi]): vi = !dot(ai, u)", "[i][j]int, [j]int -> [i]int"),
}  # fmt: skip

# id: source, code, what the message says
REFUSALS = {
    "T2": (
        DOT + "let f () returns (s): s = dot([|1,1,1|], [|1,1|])", "E0910",
        ["This expression has type [3]int but an expression of type [2]int was expected", "note: Size 3 is not compatible with size 2"],
    ),
    "T10": (Q["Q36"], "E0919", ["t would have type [n][i]int, but i is the index of a loop"]),
    "T13": (Q["Q23x"], "E0910", ["transpose([mi])", "only the outermost dimension of an array under construction grows"]),
    "T18": ("let f (a of [4]int) returns (b): b = split<<_>>(a)", "E0911", ["a size equation is left over: 4 = ", "add a size"]),
    "T19": (EVEN + "let g (u) returns (v): v = f<<5>>(u)", "E0911", ["a size equation is left over: 5 = 2*n"]),
    "T24": ("let f () returns (s): forward <<'n>> returns (s = {t}): t init 0 = last t + 2", "E0912", ["Unconstrained size"]),
    "T25_odd": (P["P8"] + "let g (u of [5]int at 'l) returns (v at 'l): v = rev(u)", "E0911", ["5 = 2*n"]),
    "S1": (
        "let f (x) returns (z): (|y,z|) = (|x,y|)", "E0920",
        ["Non causal definition of y", "Dependency cycle: y -> y", "Variable y used here"],
    ),
    "S2": ("let i_nat (i) returns (n): n init !i = last n + 1", "E0902", ["Undefined variable i"]),
    "S3": (Q["Q35a"], "E0902", ["Undefined variable ai"]),
    "S4": (
        "let f (a, b) returns (c): forward, ([[aij]] = a) ([[bij]] = b) returns (c = [cij]): cij = aij*bij", "E0902", ["Undefined variable c"],
    ),
    "S5": (
        "let f (a, b) returns (c): forward, ([[aij]] = a) ([[bij]] = b) returns (c = [[[cij]]]): cij = aij*bij", "E0907",
        ["Too many iteration levels"],
    ),
    "S6_same": ("let f () returns (x): x = x + 1", "E0920", ["Non causal definition of x"]),
    "I1": ("let f () returns (n): n = last n + 1", "E0921", ["Uninitialized last", "n has no initial value"]),
    "I2": ("let f () returns (n): n init 0 = last n + 1 init 1", "E0922", ["Conflicting initialization", "Initialized also here"]),
    "I4": (
        "let nat () returns (n): n = last !p; p init 0 = 1 + last p", "E0921",
        ["Uninitialized last", "!p is a copy", "help: write !last p, or (!p init ..)"],
    ),
    "I9": (Q["Q35b"], "E0921", ["Uninitialized last"]),
    "I10": (
        "let f <<n>> () returns (a): forward <<n>> returns (a = [i]): i init (-1) = last i + 1", "E0923",
        ["Initialization of aggregated element", "Aggregated here"],
    ),
    "I11": (
        "let f (a, u) returns (v): forward, ([[aij]] = a) ([uj] = u) returns (v = [{s}]): s init 0 = last s + aij*uj", "E0923",
        ["Initialization of aggregated element"],
    ),
    "I13": (
        "let f (a, b) returns (c): forward, ([[a]] = a), ([[b]] = b) returns (c = [{[c]}]): c init 0 += a*b", "E0923",
        ["Initialization of aggregated element"],
    ),
    "I15_outer": (Q["Q34o_reset"], "E0921", ["Uninitialized last"]),
    "I16_inner": (Q["Q34i_restart"], "E0921", ["Uninitialized last"]),
    "I16_outer": (Q["Q34o_restart"], "E0921", ["Uninitialized last"]),
    "I17_restart": (Q["Q17bx"], "E0921", ["Uninitialized last", "a scope in between restarts"]),
    "I18": (Q["Q17c"], "E0923", ["Initialization of aggregated element"]),
    "I20": (
        NODE_DOT + "let mat_vec (a, u) returns (v): forward ([ai] = a) returns (v = [vi]): vi = dot(ai, u)", "E0923",
        ["the result of dot is its state", "help: copy it: !dot(..)"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", TYPES)
def test_accepted(row: str) -> None:
    source, wanted = TYPES[row]
    op = last(source)
    assert has_type(op, wanted), op.scheme.show()


@pytest.mark.parametrize("row", REFUSALS)
def test_refused(row: str) -> None:
    source, code, words = REFUSALS[row]
    with pytest.raises(Error) as caught:
        load(source)
    text = str(caught.value)
    assert caught.value.code == code, text
    for word in words:
        assert word in text, text
    assert caught.value.span is not None and caught.value.span.line >= 1


def test_T6_cons_and_snoc() -> None:
    assert has_type(one(CONS, "cons"), "<<i>> -> a, [i]a -> [i+1]a")  # type: ignore[arg-type]
    assert has_type(one(CONS, "snoc"), "<<i>> -> [i]a, a -> [i+1]a")  # type: ignore[arg-type]
    free = "let cons (a, u) returns (v): v = [|a|] ++ u\nlet snoc (u, a) returns (v): v = u ++ [|a|]"
    assert has_type(one(free, "cons"), "a, [i-1]a -> [i]a")  # type: ignore[arg-type]
    assert has_type(one(free, "snoc"), "[i-1]a, a -> [i]a")  # type: ignore[arg-type]


def test_T14_the_third_size_is_what_is_left() -> None:
    """[k]0 ++ [|1|] ++ [_]0 in a row of n: the hole is n - k - 1, and the loop runs that often."""
    from tests.madl.c_shape import shape

    assert "for idx<n-k-1" in shape(last(Q["Q15"]))


def test_T15_forms_of_a_sum_are_one_program() -> None:
    from tests.madl.c_shape import shape

    assert len({shape(last(Q[f"Q18{c}"])) for c in "abcde"}) == 1


def test_S7_names_may_be_swapped_in_interfaces() -> None:
    """Inside, b is an element of a and a one of b."""
    straight = "let mm (a, b) returns (c): forward, ([[x]] = a), ([[y]] = b) returns (c = [{[z]}] init [_][_]0): z += x*y"
    swapped = "let mm (a, b) returns (c): forward, ([[b]] = a), ([[a]] = b) returns (c = [{[c]}] init [_][_]0): c += b*a"
    a, b = [[1, 2], [3, 4], [5, 6]], [[1, 0, 2], [0, 1, 3]]
    first, second = call(last(straight), a, b), call(last(swapped), a, b)
    assert first.tolist() == second.tolist() == [[1, 2, 8], [3, 4, 18], [5, 6, 28]]
    once = "let f (a, b) returns (c): forward ([b] = a) ([a] = b) returns (c = [c]): c = 10*a + b"
    assert call(last(once), [1, 2], [3, 4]).tolist() == [31, 42]


def test_I19_first_values_are_distributed() -> None:
    source = """
let f (x of int) returns (p, q, r):
  v init [|1, 2, 3, 4, 5|] = concat<<2, 3>>(a, b);
  p = !last a; q = !last b; r = !last v;
  forward returns (a = [e]): e = x + 1 end;
  forward returns (b = [e]): e = x + 2 end
"""
    first, second = call(last(source), 10, cycles=2)
    assert [v.tolist() for v in first] == [[1, 2], [3, 4, 5], [1, 2, 3, 4, 5]]
    assert [v.tolist() for v in second] == [[11, 11], [12, 12, 12], [11, 11, 12, 12, 12]]


@pytest.mark.parametrize("row", ["I5", "I6", "I7", "I8"])
def test_accepted_initialisations_run(row: str) -> None:
    assert [int(v) for v in call(last(TYPES[row][0]), cycles=6)] == [0, 1, 1, 2, 3, 5]


def test_every_row_is_here() -> None:
    rows = {r.split("_")[0] for r in (*TYPES, *REFUSALS)} | {"T6", "S7", "I19"}
    assert rows == {f"T{k}" for k in range(1, 26)} | {f"S{k}" for k in range(1, 9)} | {f"I{k}" for k in range(1, 21)}
