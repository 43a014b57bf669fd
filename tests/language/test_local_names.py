"""Functions defined inside functions: sizes, records and types may be local, also when only annotations mention them."""

import numpy as np
import pytest

import atoll as at
from atoll import f64


def test_a_local_size_in_annotations_only():
    rows, columns = at.sizes("rows columns")

    @at.fn
    def total(x: f64[rows, columns]) -> f64[rows]:
        return [sum(r) for r in x]

    assert total.type == "total(x: f64[rows, columns]) -> f64[rows]"
    np.testing.assert_array_equal(total(np.ones((2, 3))), [3.0, 3.0])


def test_a_local_size_inside_the_body():
    rows, columns = at.sizes("rows columns")

    @at.fn
    def shifted(x: f64[rows, columns], y: f64[columns]) -> f64[rows]:
        t: f64[rows] = [sum(r * y) for r in x]

        def more(v: f64[rows]):
            return v + 1

        return more(t)

    np.testing.assert_array_equal(shifted(np.ones((2, 3)), np.ones(3)), [4.0, 4.0])


def test_a_local_record_and_a_local_result():
    @at.record
    class Pair:
        low: f64
        high: f64

    @at.fn
    def same(p: Pair) -> Pair:
        return p

    found = same(Pair(1.0, 2.0))
    assert isinstance(found, Pair) and (found.low, found.high) == (1.0, 2.0)


def test_a_local_class_that_is_no_type():
    class Other:
        pass

    with pytest.raises(at.ParseError) as caught:

        @at.fn
        def f(x: Other) -> f64:
            return 1.0

    assert caught.value.code == "E0211" and "Other is not a type" in str(caught.value)
