"""The causality check: a size that a value makes is known before anything whose type needs it is evaluated.

Every expression knows which unknown sizes came about while it was typed (`made`: from, to), so what is known after it has been evaluated is a range of births.
Arguments are evaluated before the function they are given to, the last one first; operands from the left; parts of a tuple, of a condition and of a loop know nothing of each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from atoll.errors import fail
from atoll.futhark import syntax as s
from atoll.futhark.ftypes import Dim, DRef, Fun, Type, map_dim, map_type, show


def unknown_in(t: Type) -> dict[int, str]:
    """Sizes of a type that only a value knows: when each came about, and its name."""
    found: dict[int, str] = {}
    own: set[int] = set()

    def leaf(d: Dim) -> Dim:
        if isinstance(d, DRef):
            b = d.binding
            if b.kind == "size" and not b.declared and b.born > 0 and id(b) not in own:
                found[b.born] = b.name
        return d

    def on_type(x: Type) -> Type | None:
        if isinstance(x, Fun):
            own.update(map(id, (x.name, *x.exists)))
        return None

    map_type(t, on_type, lambda d: map_dim(d, leaf))
    return found


class Causality:
    """One definition; `start` is the birth of the last size that was made before it."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.known: set[int] = set()

    @contextmanager
    def knowing(self, births: Any) -> Iterator[None]:
        new = set(births) - self.known
        self.known |= new
        yield
        self.known -= new

    def after(self, *exps: Any) -> set[int]:
        """What is known when these have been evaluated: sizes that come about in a function are not known outside of it."""
        return {k for e in exps if e is not None and not isinstance(e, s.Lambda) and e.made for k in range(e.made[0] + 1, e.made[1] + 1)}

    def needs(self, e: Any, what: str) -> None:
        for born, name in unknown_in(e.ty).items() if e.ty is not None else ():
            if born > self.start and born not in self.known:
                size = f'the size "{name}"' if name not in ("", "unknown") else "a size"
                fail("E1404", e.span, found=show(e.ty), expected="sizes that are known before", why=f"Causality check: {size} needed for the type of {what} is computed later. Bind what computes it with `let` beforehand")

    def exp(self, e: Any) -> None:
        match e:
            case s.Var(name):
                self.needs(e, '"' + ".".join(name) + '"')
            case s.Hole():
                self.needs(e, "the hole")
            case s.PathSection():
                with self.knowing(self.after(e)):  # what it makes itself, each time it is applied
                    self.needs(e, "the projection section")
                    self.inside(e)
            case s.Section(fn=fn):
                if fn is not None:
                    self.needs(fn, "the operator section")
                self.inside(e)
            case s.ArrayLit([]):
                self.needs(e, "the empty array")
            case s.Lambda(params, _, body):
                for p in params:
                    self.needs(p, "the parameter")
                self.exp(body)
            case s.Let(value=value, body=body) | s.LetWith(value=value, body=body):
                self.exp(value)
                with self.knowing(self.after(value)):
                    self.exp(body)
            case s.Apply(fn, arg):
                self.exp(arg)
                with self.knowing(self.after(arg)):
                    self.exp(fn)
            case s.BinOp(left=left, right=right, fn=fn):
                self.exp(left)
                with self.knowing(self.after(left)):
                    self.exp(right)
                    if fn is not None:
                        with self.knowing(self.after(right)):
                            self.needs(fn, f"the operator {fn.name[-1]}")
            case s.Case(name, items):
                self.in_order(items)
                with self.knowing(self.after(*items)):
                    self.needs(e, f"#{name}")
            case s.Match(value, cases):
                self.exp(value)
                with self.knowing(self.after(value)):
                    for _, body in cases:
                        self.exp(body)
            case s.Loop():
                self.exp(e.init)
                with self.knowing(unknown_in(e.pat.ty)):  # a round knows the sizes of the state
                    self.exp(e.high)
                    self.exp(e.body)
            case _:
                self.inside(e)

    def in_order(self, items: list[Any]) -> None:
        if items:
            self.exp(items[0])
            with self.knowing(self.after(items[0])):
                self.in_order(items[1:])

    def inside(self, e: Any) -> None:
        """The expressions of a node, each by itself."""
        for f in dataclasses.fields(e):
            if f.name not in (*s.CHECKED, "fn", "type", "result", "params", "type_params", "pat"):
                self.part(getattr(e, f.name))

    def part(self, x: Any) -> None:
        if isinstance(x, (tuple, list)):
            for item in x:
                self.part(item)
        elif isinstance(x, s.Dim):
            self.part((x.low, x.high, x.step))
        elif isinstance(x, s.Node):
            self.exp(x)
