"""Constants are general in what nothing says of them: an empty array of any type, records of functions of any size."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

PROGRAM = """
def nothing = []
entry empty (xs: []i32) = (xs ++ nothing, length (nothing : []f32))

def total = let ahead [n] (xs: [n]f32) = (f32.sum xs, n) let back (_, n) = replicate n 1f32 in {ahead, back}
entry twice (xs: [2]f32) (ys: [3]f32) = (total.ahead xs, total.ahead ys, total.back (total.ahead ys))

def same = {f = \\x -> x, k = 3i32}
entry both = (same.f 1i32, same.f true, same.k)

module proof : { type eq [n] [m]  val refl [n] : eq [n] [n]  val sum [a] [b] : eq [a + b] [b + a]  val by [n] [m] 't : eq [n] [m] -> [n]t -> [m]t } = {
  type eq [n] [m] = [0][n][m]()
  def refl = []
  def sum = []
  def by [n] [m] 't (_: eq [n] [m]) (xs: [n]t) = xs :> [m]t
}
entry proved [n] [m] (xs: [n]i32) (ys: [m]i32) = zip (xs ++ ys) (proof.by proof.sum (ys ++ xs)) |> map (uncurry (-))
"""


def test_used_at_several_types() -> None:
    fut = at.futhark(source=PROGRAM)
    xs = np.array([3, 4], np.int32)
    for how in (lambda f: f, lambda f: f.interpret):
        joined, length = how(fut.empty)(xs)
        assert np.array_equal(joined, xs) and length == 0
        (a, n), (b, m), back = how(fut.twice)(np.ones(2, np.float32), np.ones(3, np.float32))
        assert (a, n, b, m) == (2, 2, 3, 3) and np.array_equal(back, [1, 1, 1])
        assert tuple(how(fut.both)()) == (1, True, 3)
        assert np.array_equal(how(fut.proved)(xs, np.array([7], np.int32)), [3 - 7, 4 - 3, 7 - 4])


def test_an_entry_is_not_general() -> None:
    with pytest.raises(at.Error) as told:
        at.futhark(source="def main = []").main  # noqa: B018
    assert told.value.code == "E1406" and "polymorphic" in str(told.value)


def test_a_general_constant_is_everybodys() -> None:
    with pytest.raises(at.Error) as told:
        at.futhark(source="def empty = []\ndef consume (xs: *[]i64) = xs\nentry main (_: bool) = consume empty").main  # noqa: B018
    assert told.value.code == "E1405" and "empty" in str(told.value)
