"""Binary trees, and search trees by an order that is given: `less(x, y)`."""

from __future__ import annotations

import atoll as at
from atoll import i64
from atoll.std.lists import Cons, List

a, b = at.types("a b")


@at.record
class Leaf:
    """The empty tree."""


@at.record
class Node:
    """A value between two trees."""

    left: Tree
    value: a
    right: Tree


Tree = Leaf | Node


@at.fn
def size(t: Tree[a]) -> i64:
    """How many values."""
    match t:
        case Leaf():
            return 0
        case Node(l, _, r):
            return size(l) + 1 + size(r)


@at.fn
def depth(t: Tree[a]) -> i64:
    """The longest way down."""
    match t:
        case Leaf():
            return 0
        case Node(l, _, r):
            return 1 + maximum(depth(l), depth(r))


@at.fn
def map_tree(f: at.Fn[[a], b], t: Tree[a]) -> Tree[b]:
    """f of every value."""
    match t:
        case Leaf():
            return Leaf()
        case Node(l, x, r):
            return Node(map_tree(f, l), f(x), map_tree(f, r))


@at.fn
def fold_tree(f: at.Fn[[b, a, b], b], end: b, t: Tree[a]) -> b:
    """f of the left, the value and the right, from the leaves up."""
    match t:
        case Leaf():
            return end
        case Node(l, x, r):
            return f(fold_tree(f, end, l), x, fold_tree(f, end, r))


@at.fn
def insert(less: at.Fn[[a, a], at.bool_], t: Tree[a], x: a) -> Tree[a]:
    """The search tree with x in it."""
    match t:
        case Leaf():
            return Node(Leaf(), x, Leaf())
        case Node(l, y, r):
            if less(x, y):
                return Node(insert(less, l, x), y, r)
            if less(y, x):
                return Node(l, y, insert(less, r, x))
            return t


@at.fn
def contains(less: at.Fn[[a, a], at.bool_], t: Tree[a], x: a) -> at.bool_:
    """Whether x is in the search tree."""
    match t:
        case Leaf():
            return False
        case Node(l, y, r):
            if less(x, y):
                return contains(less, l, x)
            if less(y, x):
                return contains(less, r, x)
            return True


@at.fn
def onto_list(t: Tree[a], xs: List[a]) -> List[a]:
    """The values from left to right, then xs."""
    match t:
        case Leaf():
            return xs
        case Node(l, x, r):
            return onto_list(l, Cons(x, onto_list(r, xs)))
