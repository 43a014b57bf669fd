"""Records in Python and in bodies: equal by their fields, with fields that may be left out."""

import numpy as np

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


@at.record
class Point:
    x: f64
    y: f64 = 2.0


@at.record
class Cloud:
    points: f64[n]
    centre: Point = Point(0.5)
    count: i64 = 3


@at.record
class Leaf:
    pass


@at.fn
def made(x: f64, p: f64[n]):
    return Point(x), Point(y=x, x=1.0), Cloud(p), Cloud(p, count=4)


def test_equal_by_fields():
    assert Leaf() == Leaf() and Point(1.0) == Point(1.0, 2.0) and Point(1.0) != Point(1.0, 3.0) and Point(1.0) != Leaf()
    assert Cloud(np.ones(2)) == Cloud(np.ones(2)) != Cloud(np.ones(3))
    assert Cloud(np.ones(2)) != Cloud(np.array([1.0, 2.0]))
    assert Point(1.0) == Point(np.float64(1.0)) and len({Point(1.0), Point(np.float64(1.0)), Leaf(), Leaf()}) == 2
    assert hash(Cloud(np.ones(2))) == hash(Cloud(np.ones(2))) and Point(1.0) != 1.0


def test_long_lists_are_compared_without_recursion():
    @at.record
    class Cons:
        head: i64
        tail: object

    def chain(last):
        made = last
        for k in range(100_000):
            made = Cons(k, made)
        return made

    assert chain(None) == chain(None) != chain(1)


def test_defaults_of_fields_in_a_body():
    p = np.arange(2.0)
    for call in (made, made.interpret):
        assert call(5.0, p) == (Point(5.0), Point(1.0, 5.0), Cloud(p), Cloud(p, count=4))
