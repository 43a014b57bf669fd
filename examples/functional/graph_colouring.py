"""Graph colouring as a register allocator does it (Kempe, Chaitin): take away nodes of few neighbours, colour them on the way back.

The graph is a persistent map from nodes to persistent sets of neighbours: taking a node away makes a new graph and keeps the old.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import atoll as at
from atoll import i64
from atoll.std import maps
from atoll.std.lists import Cons, List, Nil
from atoll.std.maps import Empty, Entry, Map
from atoll.std.options import Option, Some

n = at.sizes("n")


@at.fn
def neighbours(graph: Map[i64, Map[i64, i64]], node: i64) -> Map[i64, i64]:
    """The set of a node's neighbours."""
    match maps.get(graph, node):
        case Some(found):
            return found
        case None:
            return Empty()


@at.fn
def with_edge(graph: Map[i64, Map[i64, i64]], a: i64, b: i64) -> Map[i64, Map[i64, i64]]:
    """The graph with an edge from a to b."""
    return maps.put(graph, a, maps.put(neighbours(graph, a), b, 1))


@at.fn
def read_graph(nodes: i64, ends: i64[n, 2]) -> Map[i64, Map[i64, i64]]:
    """A graph from the ends of its edges."""
    graph: Map[i64, Map[i64, i64]] = Empty()
    none: Map[i64, i64] = Empty()
    for k in range(nodes):
        graph = maps.put(graph, k, none)
    for k in range(n):
        a, b = ends[k, 0], ends[k, 1]
        if a != b:
            graph = with_edge(with_edge(graph, a, b), b, a)
    return graph


@at.fn
def without(graph: Map[i64, Map[i64, i64]], node: i64, around: Map[i64, i64]) -> Map[i64, Map[i64, i64]]:
    """The graph with a node gone from the sets of its neighbours."""
    match around:
        case Empty():
            return graph
        case Entry(_, other, _, left, right):
            here = maps.put(graph, other, maps.remove(neighbours(graph, other), node))
            return without(without(here, node, left), node, right)


@at.fn
def few(graph: Map[i64, Map[i64, i64]], colours: i64) -> Option[i64]:
    """The first node with fewer neighbours than there are colours."""
    match graph:
        case Empty():
            return None
        case Entry(_, node, around, left, right):
            match few(left, colours):
                case Some(found):
                    return Some(found)
                case None:
                    return Some(node) if maps.size(around) < colours else few(right, colours)


@at.fn
def any_node(graph: Map[i64, Map[i64, i64]]) -> i64:
    """A node that is certainly there."""
    match graph:
        case Entry(_, node, _, _, _):
            return node
        case Empty():
            return -1


@at.fn
def simplify(graph: Map[i64, Map[i64, i64]], colours: i64, stack: List[i64]) -> List[i64]:
    """The nodes in the order they were taken away, last first; where none has few neighbours, some node is tried all the same."""
    if maps.size(graph) == 0:
        return stack
    node = any_node(graph)
    match few(graph, colours):
        case Some(found):
            node = found
        case None:
            pass
    smaller = maps.remove(without(graph, node, neighbours(graph, node)), node)
    return simplify(smaller, colours, Cons(node, stack))


@at.fn
def taken(around: Map[i64, i64], coloured: Map[i64, i64], colour: i64) -> at.bool_:
    """Whether a neighbour has this colour."""
    match around:
        case Empty():
            return False
        case Entry(_, other, _, left, right):
            match maps.get(coloured, other):
                case Some(c) if c == colour:
                    return True
                case _:
                    return taken(left, coloured, colour) or taken(right, coloured, colour)


@at.fn
def first_free(around: Map[i64, i64], coloured: Map[i64, i64], colour: i64) -> i64:
    """The least colour no neighbour has."""
    return first_free(around, coloured, colour + 1) if taken(around, coloured, colour) else colour


@at.fn
def select(graph: Map[i64, Map[i64, i64]], stack: List[i64], coloured: Map[i64, i64]) -> Map[i64, i64]:
    """Colours for the nodes of the stack, in its order."""
    match stack:
        case Nil():
            return coloured
        case Cons(node, rest):
            return select(graph, rest, maps.put(coloured, node, first_free(neighbours(graph, node), coloured, 0)))


@at.fn
def colour(nodes: i64, ends: i64[n, 2], colours: i64) -> i64[nodes]:
    """A colour for every node, neighbours different; more than `colours` only where the heuristic fails."""
    graph = read_graph(nodes, ends)
    stack: List[i64] = Nil()
    nothing: Map[i64, i64] = Empty()
    found = select(graph, simplify(graph, colours, stack), nothing)
    return [lookup(found, k) for k in range(nodes)]


@at.fn
def lookup(m: Map[i64, i64], k: i64) -> i64:
    """The value at a key that is there."""
    match maps.get(m, k):
        case Some(c):
            return c
        case None:
            return -1


def example(nodes: int = 156, edges: int = 1168) -> Any:
    """A random graph as large as CertiCoq's."""
    r = random.Random(42)
    found: set[tuple[int, int]] = set()
    while len(found) < edges:
        a, b = sorted(r.sample(range(nodes), 2))
        found.add((a, b))
    return np.array(sorted(found), np.int64)


def oracle(nodes: int, ends: Any, colours: int) -> list[int]:
    """The same order of the same steps in Python: the map's order is the order of the keys, its root is asked for."""
    around = {k: {int(b) for a, b in ends if a == k} | {int(a) for a, b in ends if b == k} for k in range(nodes)}
    graph = {k: set(v) for k, v in around.items()}
    stack = []
    while graph:
        node = next((k for k in sorted(graph) if len(graph[k]) < colours), None)
        assert node is not None, "the example has enough colours"
        for other in graph.pop(node):
            graph[other].discard(node)
        stack.append(node)
    found: dict[int, int] = {}
    for node in reversed(stack):
        found[node] = next(c for c in range(nodes) if all(found.get(o) != c for o in around[node]))
    return [found[k] for k in range(nodes)]


def check() -> list[Any]:
    """Pairs of what Atoll and Python say."""
    ends = example()
    colours = colour(156, ends, 12)
    proper = all(colours[a] != colours[b] for a, b in ends)
    return [(list(colours), oracle(156, ends, 12)), (proper, True), (list(colour(3, ends[:0], 1)), [0, 0, 0])]


def main() -> None:
    for ours, theirs in check():
        assert ours == theirs
    print(f"156 nodes, 1168 edges: {max(colour(156, example(), 12)) + 1} colours")


if __name__ == "__main__":
    main()
