"""Red-black trees (Okasaki): the four cases of balancing are four nested patterns."""

from __future__ import annotations

import random
from typing import Any

import atoll as at
from atoll import i64
from atoll.std.lists import Cons, List, Nil


@at.record
class Leaf:
    """The empty tree, black."""


@at.record
class Red:
    """No red node has a red child."""

    left: Tree
    key: i64
    right: Tree


@at.record
class Black:
    """Every way down has the same number of these."""

    left: Tree
    key: i64
    right: Tree


Tree = Leaf | Red | Black


@at.fn
def balance(left: Tree, key: i64, right: Tree) -> Tree:
    """A black node of these parts, one of which may be red with a red child."""
    match left, right:
        case Red(Red(a, x, b), y, c), d:
            return Red(Black(a, x, b), y, Black(c, key, d))
        case Red(a, x, Red(b, y, c)), d:
            return Red(Black(a, x, b), y, Black(c, key, d))
        case a, Red(Red(b, y, c), z, d):
            return Red(Black(a, key, b), y, Black(c, z, d))
        case a, Red(b, y, Red(c, z, d)):
            return Red(Black(a, key, b), y, Black(c, z, d))
        case _:
            return Black(left, key, right)


@at.fn
def add(t: Tree, x: i64) -> Tree:
    """The tree with x; its root may be red with a red child."""
    match t:
        case Leaf():
            return Red(Leaf(), x, Leaf())
        case Red(l, y, r):
            if x < y:
                return Red(add(l, x), y, r)
            if x > y:
                return Red(l, y, add(r, x))
            return t
        case Black(l, y, r):
            if x < y:
                return balance(add(l, x), y, r)
            if x > y:
                return balance(l, y, add(r, x))
            return t


@at.fn
def insert(t: Tree, x: i64) -> Tree:
    """The tree with x in it."""
    match add(t, x):
        case Red(l, y, r):
            return Black(l, y, r)
        case other:
            return other


@at.fn
def contains(t: Tree, x: i64) -> at.bool_:
    """Whether x is in the tree."""
    match t:
        case Leaf():
            return False
        case Red(l, y, r) | Black(l, y, r):
            if x < y:
                return contains(l, x)
            if x > y:
                return contains(r, x)
            return True


@at.fn
def black_height(t: Tree) -> i64:
    """The number of black nodes on every way down; -1 when two ways differ or a red node has a red child."""
    match t:
        case Leaf():
            return 0
        case Red(Red(_, _, _), _, _) | Red(_, _, Red(_, _, _)):
            return -1
        case Red(l, _, r):
            a, b = black_height(l), black_height(r)
            return a if a == b else -1
        case Black(l, _, r):
            a, b = black_height(l), black_height(r)
            return a + 1 if a == b and a >= 0 else -1


@at.fn
def onto(t: Tree, xs: List[i64]) -> List[i64]:
    """The keys in order, then xs."""
    match t:
        case Leaf():
            return xs
        case Red(l, x, r) | Black(l, x, r):
            return onto(l, Cons(x, onto(r, xs)))


@at.fn
def sorted_keys(xs: List[i64]) -> (List[i64], i64):
    """The keys without repetitions in order, and the tree's black height."""
    t: Tree = Leaf()
    rest = xs
    more = True
    while more:
        match rest:
            case Cons(x, r):
                t = insert(t, x)
                rest = r
            case _:
                more = False
    return onto(t, Nil()), black_height(t)


@at.fn
def many(count: i64) -> i64:
    """Insert pseudo-random keys, then count how many of the first numbers are there."""
    t: Tree = Leaf()
    x = 12345
    for _ in range(count):
        x = (x * 1103515245 + 12345) % 2147483648
        t = insert(t, x % (2 * count))
    return sum(1 if contains(t, k) else 0 for k in range(2 * count))


def oracle_many(count: int) -> int:
    """The same with a Python set."""
    seen, x = set(), 12345
    for _ in range(count):
        x = (x * 1103515245 + 12345) % 2147483648
        seen.add(x % (2 * count))
    return len(seen)


def check() -> list[Any]:
    """Pairs of what Atoll and Python say."""
    xs = random.Random(1).choices(range(1000), k=800)
    keys, height = sorted_keys(xs)
    return [(keys, sorted(set(xs))), (height >= 5, True), (many(5000), oracle_many(5000)), (sorted_keys([])[0], [])]


def main() -> None:
    for ours, theirs in check():
        assert ours == theirs
    print(f"of the first 20000 numbers {many(10000)} are in the tree")


if __name__ == "__main__":
    main()
