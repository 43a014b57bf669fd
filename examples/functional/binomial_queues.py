"""Binomial queues: priority queues whose merge is binary addition (Vuillemin; CertiCoq's first benchmark).

A queue is a list of trees of sizes 1, 2, 4, ..., each a heap; `Hole` stands where the binary number has a 0. Merging two queues adds
them like numbers, with two trees of one size as the carry.
"""

from __future__ import annotations

import heapq
from typing import Any

import atoll as at
from atoll import i64
from atoll.std.lists import Cons, List, Nil
from atoll.std.options import Option, Some


@at.record
class Hole:
    """No tree of this size."""


@at.record
class Node:
    """The greatest key, the subtrees of smaller keys, and the next sibling."""

    key: i64
    child: Tree
    sibling: Tree


Tree = Hole | Node


@at.fn
def smash(t: Tree, u: Tree) -> Tree:
    """Two heaps of one size as one of twice the size."""
    match t, u:
        case Node(x, t1, Hole()), Node(y, u1, Hole()):
            if x > y:
                return Node(x, Node(y, u1, t1), Hole())
            return Node(y, Node(x, t1, u1), Hole())
        case _:
            return Hole()


@at.fn
def carry(q: List[Tree], t: Tree) -> List[Tree]:
    """Add one tree."""
    match q, t:
        case Nil(), Hole():
            return Nil()
        case Nil(), _:
            return Cons(t, Nil())
        case Cons(Hole(), rest), _:
            return Cons(t, rest)
        case Cons(_, _), Hole():
            return q
        case Cons(u, rest), _:
            return Cons(Hole(), carry(rest, smash(t, u)))


@at.fn
def join(p: List[Tree], q: List[Tree], c: Tree) -> List[Tree]:
    """Add two queues and a carry."""
    match p, q, c:
        case Nil(), _, _:
            return carry(q, c)
        case _, Nil(), _:
            return carry(p, c)
        case Cons(Hole(), p1), Cons(Hole(), q1), _:
            return Cons(c, join(p1, q1, Hole()))
        case Cons(Hole(), p1), Cons(b, q1), Hole():
            return Cons(b, join(p1, q1, Hole()))
        case Cons(Hole(), p1), Cons(b, q1), _:
            return Cons(Hole(), join(p1, q1, smash(c, b)))
        case Cons(a, p1), Cons(Hole(), q1), Hole():
            return Cons(a, join(p1, q1, Hole()))
        case Cons(a, p1), Cons(Hole(), q1), _:
            return Cons(Hole(), join(p1, q1, smash(c, a)))
        case Cons(a, p1), Cons(b, q1), _:
            return Cons(c, join(p1, q1, smash(a, b)))


@at.fn
def insert(q: List[Tree], x: i64) -> List[Tree]:
    """The queue with one more key."""
    return carry(q, Node(x, Hole(), Hole()))


@at.fn
def merge(p: List[Tree], q: List[Tree]) -> List[Tree]:
    """All keys of both."""
    return join(p, q, Hole())


@at.fn
def greatest(q: List[Tree], best: i64) -> i64:
    """The greatest key, or `best`."""
    match q:
        case Nil():
            return best
        case Cons(Hole(), rest):
            return greatest(rest, best)
        case Cons(Node(x, _, _), rest):
            return greatest(rest, x if x > best else best)


@at.fn
def children(t: Tree, trees: List[Tree]) -> List[Tree]:
    """The subtrees of a node, smallest first: a queue."""
    match t:
        case Hole():
            return trees
        case Node(x, child, sibling):
            return children(sibling, Cons(Node(x, child, Hole()), trees))


@at.fn
def take_out(q: List[Tree], x: i64) -> (List[Tree], List[Tree]):
    """The queue without the tree whose root is x, and that tree's children."""
    match q:
        case Nil():
            return Nil(), Nil()
        case Cons(Node(y, child, _), rest) if y == x:
            return Cons(Hole(), rest), children(child, Nil())
        case Cons(t, rest):
            others, found = take_out(rest, x)
            return Cons(t, others), found


@at.fn
def pop(q: List[Tree]) -> (Option[i64], List[Tree]):
    """The greatest key, and the queue without it."""
    nothing = -(2**62)
    x = greatest(q, nothing)
    if x == nothing:
        return None, q
    others, freed = take_out(q, x)
    return Some(x), merge(others, freed)


@at.fn
def filled(first: i64, step: i64, count: i64) -> List[Tree]:
    """A queue of count keys."""
    q: List[Tree] = Nil()
    for k in range(count):
        q = insert(q, (first + k * step) % 7919)
    return q


@at.fn
def merged_greatest(count: i64, times: i64) -> i64:
    """Two queues of `count` keys, merged, and the greatest key: again and again."""
    total = 0
    for k in range(times):
        total += greatest(merge(filled(k, 31, count), filled(k + 5, 17, count)), 0)
    return total


@at.fn
def sorted_down(xs: List[i64]) -> List[i64]:
    """Sorting by a queue: the smallest comes out last, so it ends up in front."""
    q: List[Tree] = Nil()
    rest = xs
    more = True
    while more:
        match rest:
            case Cons(x, r):
                q = insert(q, x)
                rest = r
            case Nil():
                more = False
    found: List[i64] = Nil()
    more = True
    while more:
        x, q = pop(q)
        match x:
            case Some(v):
                found = Cons(v, found)
            case None:
                more = False
    return found


def oracle_merged(count: int, times: int) -> int:
    """The same with Python's heaps."""
    total = 0
    for k in range(times):
        heap = [-((k + j * 31) % 7919) for j in range(count)] + [-((k + 5 + j * 17) % 7919) for j in range(count)]
        heapq.heapify(heap)
        total += -heap[0]
    return total


def check() -> list[Any]:
    """Pairs of what Atoll and Python say."""
    xs = [(k * 7919) % 1009 for k in range(300)]
    return [(merged_greatest(1000, 3), oracle_merged(1000, 3)), (sorted_down(xs), sorted(xs)), (sorted_down([]), [])]


def main() -> None:
    for ours, theirs in check():
        assert ours == theirs
    print(f"the greatest of two merged queues of 1000 keys: {merged_greatest(1000, 1)}")


if __name__ == "__main__":
    main()
