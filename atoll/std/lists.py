"""Lists: a first element and the rest, or nothing. From Python a list is passed and returned as a Python list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import atoll as at
from atoll import i64
from atoll.types.unions import PythonForm

a, b, c = at.types("a b c")
n = at.sizes("n")
k = at.some("k")


@at.record
class Nil:
    """The empty list."""


@at.record
class Cons:
    """A list of at least one element."""

    head: a
    tail: List


if TYPE_CHECKING:  # from Python it is a list, and anything that is gone over as one
    Element = TypeVar("Element")
    List = Sequence[Element] | Any
else:
    List = Nil | Cons


@at.fn
def length(xs: List[a]) -> i64:
    """How many elements."""
    count = 0
    rest = xs
    more = True
    while more:
        match rest:
            case Cons(_, t):
                count = count + 1
                rest = t
            case Nil():
                more = False
    return count


@at.fn
def reverse_onto(xs: List[a], ys: List[a]) -> List[a]:
    """The elements of xs backwards, then those of ys."""
    match xs:
        case Nil():
            return ys
        case Cons(h, t):
            return reverse_onto(t, Cons(h, ys))


@at.fn
def reverse(xs: List[a]) -> List[a]:
    """The elements backwards."""
    empty: List[a] = Nil()
    return reverse_onto(xs, empty)


@at.fn
def append(xs: List[a], ys: List[a]) -> List[a]:
    """The elements of xs, then those of ys."""
    match xs:
        case Nil():
            return ys
        case Cons(h, t):
            return Cons(h, append(t, ys))


@at.fn
def map_list(f: at.Fn[[a], b], xs: List[a]) -> List[b]:
    """f of every element."""
    match xs:
        case Nil():
            return Nil()
        case Cons(h, t):
            return Cons(f(h), map_list(f, t))


@at.fn
def filter_list(p: at.Fn[[a], at.bool_], xs: List[a]) -> List[a]:
    """The elements for which p is true."""
    match xs:
        case Nil():
            return Nil()
        case Cons(h, t):
            if p(h):
                return Cons(h, filter_list(p, t))
            return filter_list(p, t)


@at.fn
def fold_left(f: at.Fn[[b, a], b], start: b, xs: List[a]) -> b:
    """f(...f(f(start, x0), x1)..., xn)"""
    match xs:
        case Nil():
            return start
        case Cons(h, t):
            return fold_left(f, f(start, h), t)


@at.fn
def fold_right(f: at.Fn[[a, b], b], xs: List[a], end: b) -> b:
    """f(x0, f(x1, ... f(xn, end)))"""
    match xs:
        case Nil():
            return end
        case Cons(h, t):
            return f(h, fold_right(f, t, end))


@at.fn
def zip_with(f: at.Fn[[a, b], c], xs: List[a], ys: List[b]) -> List[c]:
    """f of the elements at the same places, as long as both have one."""
    match xs, ys:
        case Cons(x, s), Cons(y, t):
            return Cons(f(x, y), zip_with(f, s, t))
        case _:
            return Nil()


@at.fn
def take(xs: List[a], count: i64) -> List[a]:
    """The first `count` elements, or all there are."""
    if count <= 0:
        return Nil()
    match xs:
        case Nil():
            return Nil()
        case Cons(h, t):
            return Cons(h, take(t, count - 1))


@at.fn
def drop(xs: List[a], count: i64) -> List[a]:
    """What is left without the first `count` elements."""
    if count <= 0:
        return xs
    match xs:
        case Nil():
            return xs
        case Cons(_, t):
            return drop(t, count - 1)


@at.fn
def nth(xs: List[a], index: i64, otherwise: a) -> a:
    """The element at an index, counted from 0."""
    match xs:
        case Nil():
            return otherwise
        case Cons(h, t):
            if index == 0:
                return h
            return nth(t, index - 1, otherwise)


@at.fn
def any_list(p: at.Fn[[a], at.bool_], xs: List[a]) -> at.bool_:
    """Whether p is true of some element."""
    match xs:
        case Nil():
            return False
        case Cons(h, t):
            return p(h) or any_list(p, t)


@at.fn
def all_list(p: at.Fn[[a], at.bool_], xs: List[a]) -> at.bool_:
    """Whether p is true of every element."""
    match xs:
        case Nil():
            return True
        case Cons(h, t):
            return p(h) and all_list(p, t)


@at.fn
def merge(less: at.Fn[[a, a], at.bool_], xs: List[a], ys: List[a]) -> List[a]:
    """Two sorted lists as one; of equal elements those of xs come first."""
    match xs, ys:
        case Nil(), _:
            return ys
        case _, Nil():
            return xs
        case Cons(x, s), Cons(y, t):
            if less(y, x):
                return Cons(y, merge(less, xs, t))
            return Cons(x, merge(less, s, ys))


@at.fn
def sort_by(less: at.Fn[[a, a], at.bool_], xs: List[a]) -> List[a]:
    """The elements in order; equal ones stay as they are (merge sort)."""
    count = length(xs)
    if count <= 1:
        return xs
    half = count // 2
    return merge(less, sort_by(less, take(xs, half)), sort_by(less, drop(xs, half)))


@at.fn
def of_array(x: a[n]) -> List[a]:
    """The elements of an array."""
    xs: List[a] = Nil()
    for i in range(n):
        xs = Cons(x[n - 1 - i], xs)
    return xs


@at.fn
def to_array(xs: List[a]) -> a[k]:
    """The elements as an array; they are numbers."""
    count = length(xs)
    match xs:
        case Nil():
            return zeros(0)
        case Cons(h, t):
            out = full(count, h)
            rest = t
            for i in range(1, count):
                match rest:
                    case Cons(x, r):
                        out[i] = x
                        rest = r
                    case Nil():
                        pass
            return out


# -- Python's lists


def _expand(value: Any) -> Any:
    if not isinstance(value, (list, np.ndarray)):
        return value
    made: Any = Nil()
    for x in reversed(value):
        made = Cons(x, made)
    return made


def _finish(value: Any) -> Any:
    if isinstance(value, list):
        return value
    found = []
    while isinstance(value, Cons):
        found.append(value.head)
        value = value.tail
    return found


List.decl.python = PythonForm(_expand, _finish, (Nil, Cons))
