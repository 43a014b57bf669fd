"""What automap.py found, written into the text of a definition: maps around applications, reps around arguments."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from atoll.elaborate.ranks.solve import Insertion
from atoll.futhark import syntax as s
from atoll.futhark.env import Env

_numbers = itertools.count(1)
MOST = 5  # map5 takes the most arrays


def rebuilt(x: Any, node: Any) -> Any:
    """A copy that can be checked anew; `node` may say what stands for a part of it, given the copy of that part and the part."""
    if isinstance(x, s.Node):
        made = {f.name: rebuilt(getattr(x, f.name), node) for f in dataclasses.fields(x) if f.name not in s.CHECKED and not (f.name == "fn" and isinstance(x, (s.BinOp, s.Section)))}
        copy = type(x)(**made, span=x.span)
        return node(copy, x)
    if isinstance(x, s.Dim):
        return s.Dim(x.slice, *(rebuilt(part, node) for part in (x.low, x.high, x.step)))
    if isinstance(x, list):
        return [rebuilt(item, node) for item in x]
    if isinstance(x, tuple):
        return tuple(rebuilt(item, node) for item in x)
    return x


def desugared(x: Any, env: Env) -> Any:
    """Sections as lambdas, x.f as a projection: an application is what maps are put around."""

    def node(e: Any, _: Any) -> Any:
        if isinstance(e, s.Section) and (e.left is not None or e.right is not None):
            name, var = _fresh(e.span)
            left: Any = var if e.left is None else e.left
            right: Any = var if e.left is not None else e.right
            return s.Lambda([name], None, s.BinOp(e.op, left, right, span=e.span), span=e.span)
        if isinstance(e, s.Var) and len(e.name) > 1 and env.find("mods", e.name[0]) is None:
            made: Any = s.Var(e.name[:1], span=e.span)
            for f in e.name[1:]:
                made = s.Project(made, f, span=e.span)
            return made
        if isinstance(e, s.PathSection):
            name, var = _fresh(e.span)
            body: Any = var
            for kind, what in e.steps:
                body = s.Project(body, what, span=e.span) if kind == "field" else s.Index(body, what, span=e.span)
            return s.Lambda([name], None, body, span=e.span)
        return e

    return rebuilt(x, node)


def _fresh(span: Any) -> tuple[s.PName, s.Var]:
    name = f"implicit{next(_numbers)}"
    return s.PName(name, span=span), s.Var((name,), span=span)


def inserted(x: Any, insertions: dict[Any, list[Insertion]]) -> Any:
    """The text with everything put in. Keys are the nodes of x; the outermost application of a spine has the insertions of all its arguments."""

    def node(copy: Any, old: Any) -> Any:
        found = insertions.get(old)
        if found is None or all(i.excess == 0 and i.reps == 0 for i in found):
            return copy
        return _mapped(copy, found)

    return rebuilt(x, node)


def _mapped(e: Any, found: list[Insertion]) -> Any:
    span = e.span
    args, again = _parts(e)
    lets: list[tuple[s.PName, Any]] = []
    depth = max(i.excess for i in found)
    for k, (arg, i) in enumerate(zip(args, found, strict=True)):
        if i.excess < depth and not isinstance(arg, (s.Lit, s.Var, s.Lambda, s.Section, s.String)):  # computed once, not in every round
            name, var = _fresh(span)
            lets.append((name, arg))
            args[k] = var
    body = _levels(depth, args, found, again, span)
    for name, value in reversed(lets):
        body = s.Let([], name, value, body, span=span)
    return body


def _levels(level: int, args: list[Any], found: list[Insertion], again: Any, span: Any) -> Any:
    if level == 0:
        made = []
        for arg, i in zip(args, found, strict=True):
            for _ in range(i.reps):
                arg = s.Apply(s.Var(("%rep",), span=span), arg, span=span)
            made.append(arg)
        return again(made)
    names: list[s.Pat] = []
    arrays, inner = [], list(args)
    for k, i in enumerate(found):
        if i.excess >= level:
            name, var = _fresh(span)
            names.append(name)
            arrays.append(args[k])
            inner[k] = var
    body = _levels(level - 1, inner, found, again, span)
    if len(names) > MOST:
        tail = s.PRecord([(str(k), p) for k, p in enumerate(names[MOST - 1 :])], span=span)
        names = [*names[: MOST - 1], tail]
        arrays = [*arrays[: MOST - 1], _zipped(arrays[MOST - 1 :], span)]
    fn: Any = s.Apply(s.Var((f"%map{len(names)}",), span=span), s.Lambda(names, None, body, span=span), span=span)
    for array in arrays:
        fn = s.Apply(fn, array, span=span)
    return fn


def _zipped(arrays: list[Any], span: Any) -> Any:
    """An array of tuples, by a map of its own."""
    return _levels(1, arrays, [Insertion(1, 0)] * len(arrays), lambda xs: s.RecordLit([(str(k), x) for k, x in enumerate(xs)], True, span=span), span)


def _parts(e: Any) -> tuple[list[Any], Any]:
    """The arguments of an application, and how it is put together again."""
    span = e.span
    if isinstance(e, s.BinOp):
        return [e.left, e.right], lambda xs: s.BinOp(e.op, xs[0], xs[1], e.quoted, span=span)
    if isinstance(e, (s.Neg, s.Not)):
        return [e.value], lambda xs: type(e)(xs[0], span=span)
    if isinstance(e, s.Project):
        return [e.value], lambda xs: s.Project(xs[0], e.field_, span=span)
    args: list[Any] = []
    fn = e
    while isinstance(fn, s.Apply):
        args.insert(0, fn.arg)
        fn = fn.fn

    def again(xs: list[Any]) -> Any:
        made = fn
        for x in xs:
            made = s.Apply(made, x, span=span)
        return made

    return args, again
