"""`forward` over several dimensions, as nested ones.

    forward l1, .., ln: body r      is      forward l1: (forward l2, .., ln: body resume) r

Clauses with nested brackets belong to several levels: the outermost bracket of a clause of rank r at level l moves to level l-r+1, with a
name of our own between the two (thesis 5.3). So `c = [[cij]]` on two levels is `c = [ci]` outside and
`ci = [cij]` inside; brackets of fewer levels than the deepest one of their clause stay where the deepest goes.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from atoll.errors import fail
from atoll.madl import syntax as s

_fresh = itertools.count()


def rank(expr: Any) -> int:
    """How deeply [.] and {.} are nested; what is inside `init`, places and nested scopes does not count."""
    if isinstance(expr, (s.Forward, s.Block, s.Branch, s.Match)):
        return 0
    if isinstance(expr, (s.Initial, s.Alias, s.Located, s.Typed)):
        return rank(expr.arg)
    inner = max((rank(child) for child in s.children(expr)), default=0)
    return inner + 1 if isinstance(expr, (s.Aggregate, s.Accumulate)) else inner


def one_dimension_each(operator: s.Operator) -> s.Operator:
    """The operator with one dimension per forward everywhere."""
    changed = s.rewrite(operator, lambda node: nested(node) if isinstance(node, s.Forward) else node)
    assert isinstance(changed, s.Operator)
    return changed


def nested(expr: s.Forward) -> s.Forward:
    """The same loop with one dimension per forward."""
    args = _distribute([level.args for level in expr.levels], "args")
    results = _distribute([level.results for level in expr.levels], "results")
    levels = [
        replace(level, args=tuple(a), results=tuple(r)) for level, a, r in zip(expr.levels, args, results, strict=True)
    ]
    body: tuple[s.Expr, ...] = expr.body
    resume = s.Reset("resume", span=expr.span)
    for level in reversed(levels[1:]):
        body = (s.Forward((level,), body, resume, expr.each, span=level.span if level.span.line else expr.span),)
    return s.Forward((levels[0],), body, expr.reset, expr.each, span=expr.span)


def _distribute(clauses: list[tuple[s.Clause, ...]], kind: str) -> list[list[s.Clause]]:
    out: list[list[s.Clause]] = [[] for _ in clauses]

    def put(level: int, inner: s.Expr, outer: s.Expr | None, clause: s.Clause) -> None:
        """`inner` is the side with the brackets, `outer` the other one."""
        depth = rank(inner)
        if depth <= 1:
            left, right = (inner, outer) if kind == "args" else (outer, inner)
            assert right is not None
            out[level].append(s.Clause(left, right, span=clause.span))
            return
        target = level - depth + 1
        if target < 0:
            dimensions = f"{level + 1} dimension{'s' if level else ''}"
            notes = [f"{s.text(inner)} has {depth} levels of brackets, the forward has {dimensions} here"]
            fail("E0907", inner.span, notes=notes, help="dimensions are separated by commas: forward, ([[x]] = m) ..")
        moved: list[tuple[s.Variable, s.Expr]] = []
        peeled = _peel(inner, depth, moved)
        put_here = (peeled, outer) if kind == "args" else (outer, peeled)
        left, right = put_here
        assert right is not None
        out[target].append(s.Clause(left, right, span=clause.span))
        for name, rest in moved:
            put(level, rest, name, clause)

    for level, here in enumerate(clauses):
        for clause in here:
            if kind == "args":
                if clause.left is None:  # elaboration tells the user
                    fail("E0905", clause.span, what="an argument of forward", given="no `=`", wanted="`[x] = array`", help="write ([x] = array), or call the forward: (forward ([x]) ..)(array)")
                put(level, clause.left, clause.right, clause)
            else:
                put(level, clause.right, clause.left, clause)
    return out


def _peel(expr: Any, depth: int, moved: list[tuple[s.Variable, s.Expr]]) -> Any:
    """Take the inside out of every bracket of the greatest depth."""
    if isinstance(expr, (s.Aggregate, s.Accumulate)) and rank(expr) == depth:
        name = s.Variable(f"{s.text(expr.arg)}#{next(_fresh)}", span=expr.arg.span)
        moved.append((name, expr.arg))
        return replace(expr, arg=name)
    if isinstance(expr, (s.Initial, s.Alias, s.Located, s.Typed)):
        return replace(expr, arg=_peel(expr.arg, depth, moved))
    if isinstance(expr, s.Group):
        return replace(expr, items=tuple(_peel(item, depth, moved) for item in expr.items))
    if isinstance(expr, (s.Apply, s.ArrayOf, s.TupleOf, s.Copy, s.Last)):
        return replace(expr, arg=_peel(expr.arg, depth, moved))
    return expr
