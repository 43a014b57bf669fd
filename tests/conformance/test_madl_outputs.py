"""What the programs of the thesis compute: rows O1 to O26 of docs/sources.md, Pauget. Oracle and compiled code agree on every one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.madl.corpus import DOT, P, Q
from tests.madl.harness import call, last

_SUM = "let total (a) returns (v): forward ([ai] = a) returns (v = {s}): s init 0 += ai %s"
_IOTA = """
let iota <<n>> () returns (a): forward <<n>> [i] returns (a = [ai]): ai = !last k; k init 0 = last k + 1 %s
"""
_CONVOLUTION = """
let convol_2D <<k, l>> (ke, im) returns (res):
  forward [i], [k] ([[ke]] = repeat<<_>>(ke)) ([[im]] = window<<k>>(im)), [j], [l] ([[ke]] = repeat<<_>>(ke)) ([[im]] = window<<l>>(im))
    returns (res = [{[{res}]}] init [_][_]0):
    res += ke*im
"""
CHOLESKY = ([[4, 12, -16], [12, 37, -43], [-16, -43, 98]], [[2, 0, 0], [6, 1, 0], [-8, 5, 3]])
P17_3 = P["P17"].replace("[10][10]", "[3][3]")
PASCAL = [[1, 1, 1, 1], [1, 2, 3, 4], [1, 3, 6, 10]]
PACK = "let pack <<k>> (a) returns (b): b = sample<<k>>(window<<k+1>>(a))"
COUNT = list(range(1, 13))

# id: source, arguments, sizes, what is given
ROWS: dict[str, tuple[str, list[Any], dict[str, int], Any]] = {
    "O1": (P["P12"], [], {"n": 8}, [1, 2, 4, 8, 16, 32, 64, 128]),
    "O2": (Q["Q24a"].replace("[_][_]", "[3][4]"), [], {}, PASCAL),
    "O4_P17": (P17_3, [CHOLESKY[0]], {}, CHOLESKY[1]),
    "O4_P18": (P["P18"], [CHOLESKY[0]], {}, CHOLESKY[1]),
    "O5": (Q["Q12"], [[1, 2, 3, 4]], {}, [4, 1, 2, 3]),
    "O6": (Q["Q10"].replace("(a)", "(a of [2*n]int)"), [[1, 2, 3, 4, 5, 6, 7, 8]], {}, [1, 5, 2, 6, 3, 7, 4, 8]),
    "O9": (Q["Q13"], [3, [6, 4, 2, 1]], {}, [6, 4, 3, 2]),
    "O13": (P["P13"], [[1, 2, 3], [1, 2, 3, 4, 5]], {}, [14, 20, 26]),
    "O14": (P["P14"], [[1, 2, 3], [5, 1, 2, 3, 4, 5, 1]], {}, [17, 13, 14, 20, 26, 17, 13]),
    "O15": (_CONVOLUTION, [[[1, 0], [0, 1]], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]], {}, [[6, 8], [12, 14]]),
    "O17": (Q["Q26b"], [np.array(COUNT, "int32").reshape(3, 4)], {}, [[12, 11, 10, 9], [8, 7, 6, 5], [4, 3, 2, 1]]),
    "O17_by_flattening": (
        Q["Q26a"], [np.array(COUNT, "int32").reshape(3, 4)], {}, [[12, 11, 10, 9], [8, 7, 6, 5], [4, 3, 2, 1]],
    ),
    "O18": (Q["Q22"], [], {"n": 1, "p": 3}, [[1, 1, 1], [0, 0, 0]]),
    "O19": ("let w () returns (b): b = window<<3>>([|1, 2, 3, 4, 5|])", [], {}, [[1, 2, 3], [2, 3, 4], [3, 4, 5]]),
    "O20": (PACK, [np.arange(7, dtype="int32")], {"k": 2}, [[0, 1, 2], [2, 3, 4], [4, 5, 6]]),
    "O21": (DOT, [np.zeros(0, "int32"), np.zeros(0, "int32")], {}, 0),
    "O22_vec_mat": (Q["Q17b"], [[1, 1], [[1, 2], [3, 4]]], {}, [4, 6]),
    "O22_mat_vec": (Q["Q16"], [[[1, 2], [3, 4]], [1, 1]], {}, [3, 7]),
    **{f"O23_{c}": (Q[f"Q18{c}"], [[[1, 2], [3, 4]]], {}, 10) for c in "abcde"},
    "O26": (Q["Q15"], [], {"n": 3}, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    **{
        f"O16_{c}": (Q[f"Q25{c}"], [np.array(COUNT, "int32").reshape(2, 6)], {"a": 1, "b": 2, "c": 2, "d": 3}, np.arange(1, 13).reshape(3, 4).tolist())
        for c in "abc"
    },
}  # fmt: skip

# id: source, arguments of every cycle, sizes, what each cycle gives
STREAMS: dict[str, tuple[str, list[Any], dict[str, int], list[Any]]] = {
    **{f"O7_{q}": (Q[q], [], {}, [0, 1, 1, 2, 3, 5, 8, 13]) for q in ("Q3", "Q3b", "Q3c", "Q3d")},
    "O8": (Q["Q4"], [], {}, [1, 0, 1, 0, 1, 0]),
    "O10_restart": (_IOTA % "", [], {"n": 4}, [[0, 1, 2, 3]] * 3),
    "O10_resume": (_IOTA % "reset false", [], {"n": 4}, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]),
    "O11_restart": (_SUM % "", [[1, 2, 3]], {}, [6, 6, 6, 6]),
    "O11_resume": (_SUM % "resume", [[1, 2, 3]], {}, [6, 12, 18, 24]),
}


def plain(value: Any) -> Any:
    return np.asarray(value).tolist()


@pytest.mark.parametrize("row", ROWS)
def test_output(row: str) -> None:
    source, args, sizes, wanted = ROWS[row]
    assert plain(call(last(source), *args, sizes=sizes)) == wanted


@pytest.mark.parametrize("row", STREAMS)
def test_stream(row: str) -> None:
    source, args, sizes, wanted = STREAMS[row]
    assert [plain(v) for v in call(last(source), *args, sizes=sizes, cycles=len(wanted))] == wanted


def test_O3_pascal() -> None:
    rows = call(last(P["P16"]))
    assert rows[8].tolist() == [1, 9, 45, 165, 495, 1287, 3003, 6435, 12870]


def test_O12_sum_of_a_tensor_product() -> None:
    nested = """
let tensor_prod_sum (u, v) returns (s):
  forward ([ui] = u) returns (s = {t} init 0):
    forward ([vj] = v) returns (t = {w} init last t): w = last w + ui*vj
"""
    flat = "let tensor_prod_sum (u, v) returns (s): forward ([ui] = u), ([vj] = v) returns (s = {{w}}): w init 0 = last w + ui*vj"
    assert call(last(nested), [1, 2], [3, 4, 5]) == call(last(flat), [1, 2], [3, 4, 5]) == 36


@pytest.mark.parametrize("name", ["Q2", "Q2b", "Q2c"])
def test_O24_delay(name: str) -> None:
    from tests.madl.harness import by_code, by_oracle

    op = last(Q[name])
    inputs = [(v,) for v in (7, 8, 9)]
    assert [int(r[0]) for r in by_oracle(op, {}, inputs)] == [int(r[0]) for r in by_code(op, {}, inputs)] == [0, 7, 8]


def test_O25_the_first_difference_is_from_zero() -> None:
    source = Q["Q5"].replace("(h, x)", "(h of f64, x of f64)").replace("init 0", "init 0.0")
    assert [float(v) for v in call(last(source), 0.5, 3.0, cycles=2)] == [6.0, 0.0]


def test_every_row_is_here() -> None:
    rows = {r.split("_")[0] for r in (*ROWS, *STREAMS)} | {"O3", "O12", "O24", "O25"}
    assert rows == {f"O{k}" for k in range(1, 27)}
