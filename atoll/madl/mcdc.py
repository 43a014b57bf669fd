"""Coverage of conditions: for every `&&`, `||`, `not` expression, whether each part of it has decided the outcome, once by being true and once by being false.

A part decides when the outcome would be the other one if the part were (MC/DC with masking: parts that have no say at the moment may change too).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from atoll.errors import Span
from atoll.madl import graph as g

_BOOLEAN = ("and", "or", "not")
Vectors = dict[Span, set[tuple[bool, ...]]]


def parts(tree: g.Tree) -> list[g.Tree]:
    """The conditions that a boolean expression is made of."""
    if isinstance(tree, g.Operate) and tree.op in _BOOLEAN:
        return [p for a in tree.args for p in parts(a)]
    return [tree]


def outcome(tree: g.Tree, values: list[bool]) -> bool:
    """The value of a boolean expression, from those of its parts in order; they are used up."""
    if not (isinstance(tree, g.Operate) and tree.op in _BOOLEAN):
        return values.pop(0)
    args = [outcome(a, values) for a in tree.args]
    return all(args) if tree.op == "and" else any(args) if tree.op == "or" else not args[0]


def evaluate(tree: g.Operate, value: Callable[[g.Tree], Any], seen: Vectors) -> bool:
    """The value of a boolean expression; what its parts were is kept."""
    found = [bool(value(p)) for p in parts(tree)]
    seen.setdefault(tree.span, set()).add(tuple(found))
    return outcome(tree, list(found))


def is_boolean(tree: g.Tree) -> bool:
    return isinstance(tree, g.Operate) and tree.op in _BOOLEAN


def expressions(tree: g.Tree) -> Iterator[g.Operate]:
    """The boolean expressions of several parts in an operation, outermost first."""
    if isinstance(tree, g.Operate) and tree.op in _BOOLEAN:
        if len([p for p in parts(tree) if not isinstance(p, g.Literal)]) > 1:
            yield tree
        for p in parts(tree):
            yield from expressions(p)
    elif isinstance(tree, g.Operate):
        for a in tree.args:
            yield from expressions(a)


def decided(tree: g.Operate, seen: set[tuple[bool, ...]], k: int) -> set[bool]:
    """The values of the k-th part at which it has decided the outcome."""
    found = set()
    for vector in seen:
        other = (*vector[:k], not vector[k], *vector[k + 1 :])
        if outcome(tree, list(vector)) != outcome(tree, list(other)):
            found.add(vector[k])
    return found


def report(trees: list[tuple[str, g.Operate, list[str]]], seen: Vectors) -> list[str]:
    """A line for every expression with a part that has not decided both ways; the operator's name and the words for the parts come with the expression."""
    lines, reached, total = [], 0, 0
    for name, tree, words in trees:
        missing = []
        for k, part in enumerate(parts(tree)):
            if isinstance(part, g.Literal):
                continue
            found = decided(tree, seen.get(tree.span, set()), k)
            reached, total = reached + len(found), total + 2
            missing += [f"{words[k]} {'true' if v else 'false'}" for v in (True, False) if v not in found]
        if missing:
            text = " ".join(tree.span.text().split())
            lines.append(f"  {name}, line {tree.span.line}: {text[:50]}{'..' if len(text) > 50 else ''}: never decided by {', '.join(missing)}")
    return [f"conditions: {reached} of {total} have decided (MC/DC)", *lines] if total else []
