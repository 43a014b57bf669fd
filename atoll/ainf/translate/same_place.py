"""Branches that all put an element at one place put it there once: what is put is chosen, not whether.

    if c: a[i] = x                     t = x if c else (y if d else z)
    elif d: a[i] = y           is      a[i] = t
    else: a[i] = z

(Sinking of common code out of branches.) An update under each condition would be a chain of versions; a derivative would keep, for each of them, what it overwrote and whether it happened, and ask for all of
these again on its way back.

It is right where every branch ends with an update of the same array, which stands before the branches, at the same place; the place is made of what stands before them, and is an element of the array whichever
is taken (the caller proves that): so no update can fail, and nothing in a branch comes after its update. Updates that all combine with what is there by one operation (`a[i] += x` in one, `a[i] -= y` in the other)
stay apart: they are known as sums, which is worth more (ad/added.py, histograms).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from atoll.core import ir as core
from atoll.core.rewrite import mentioned, walk
from atoll.sizes import Sym
from atoll.types.types import Scalar, Tuple

_FAMILY = {"sub": "add"}


@dataclass
class _Branch:
    """The statements of a branch, and the names of its results."""

    stmts: list[core.Bind | core.Open | core.Assert | core.Require | core.Print | core.Fix]
    items: list[core.Expr]

    def update(self, k: int) -> tuple[int, core.Update] | None:
        """The update that makes a result, where it is the last thing done and only this result has it: its number among the statements."""
        at = max((n for n, x in enumerate(self.stmts) if not isinstance(x, core.Bind) or not isinstance(x.value, core.Var)), default=-1)
        last = self.stmts[at] if at >= 0 else None
        if not isinstance(last, core.Bind) or not isinstance(last.value, core.Update):
            return None
        names = self.names_of(at)
        has = [any(isinstance(x, core.Var) and x.sym in names for x in walk(item)) for item in self.items]
        return (at, last.value) if isinstance(self.items[k], core.Var) and has[k] and sum(has) == 1 else None

    def names_of(self, at: int) -> set[Sym]:
        """The names of what a statement binds; only names are bound after it."""
        names: set[Sym] = set()
        for stmt in self.stmts[at:]:
            assert isinstance(stmt, core.Bind)
            if not names or (isinstance(stmt.value, core.Var) and stmt.value.sym in names):
                names.add(stmt.sym)
        return names

    def without(self, at: int) -> None:
        names = self.names_of(at)
        self.stmts = [x for n, x in enumerate(self.stmts) if n < at or not isinstance(x, core.Bind) or x.sym not in names]

    def value_of(self, value: core.Expr) -> core.Expr:
        """What a name stands for."""
        while isinstance(value, core.Var):
            bound = self._bound(value.sym)
            if bound is None:
                break
            value = bound
        return value

    def _bound(self, name: Sym) -> core.Expr | None:
        return next((x.value for x in self.stmts if isinstance(x, core.Bind) and x.sym is name), None)


def put_once(e: core.If, is_element: Callable[[core.Update], bool], was: Callable[[core.If, core.If], None]) -> core.Expr:
    """Branches whose updates of one place are one update after them, or the expression itself. `is_element`: whether a place made before the branches is one whichever is taken;
    `was` is told which branches are made of which."""
    if not isinstance(e.type, Tuple) or not isinstance(e.then, core.Block) or not isinstance(e.orelse, core.Block):
        return e
    then, orelse = (_branch(x, is_element, was) for x in (e.then, e.orelse))
    if then is None or orelse is None:
        return e
    found: dict[int, core.Update] = {}
    while (k := _both_end_with(then, orelse, is_element)) is not None:
        for branch in (orelse, then):
            ends = branch.update(k)
            assert ends is not None
            at, found[k] = ends
            branch.without(at)
            branch.items[k] = found[k].value
    return _around(e, then, orelse, found, was) if found else e


def _both_end_with(then: _Branch, orelse: _Branch, is_element: Callable[[core.Update], bool]) -> int | None:
    """The result that both branches make by an update at one place, last of all."""
    for k in range(len(then.items)):
        one, other = then.update(k), orelse.update(k)
        if one is not None and other is not None:
            return k if _same(then, orelse, one[1], other[1]) and is_element(one[1]) else None
    return None


def _branch(block: core.Block, is_element: Callable[[core.Update], bool], was: Callable[[core.If, core.If], None]) -> _Branch | None:
    """A branch in which branches that are its last statement have put once what they could."""
    result = block.result
    if not isinstance(result, core.MakeTuple):
        return None
    stmts = list(block.stmts)
    items = list(result.items)
    ends = [k for k, x in enumerate(stmts) if isinstance(x, core.Bind) and isinstance(x.value, core.If)]
    if not ends:
        return _Branch(stmts, items)
    last = stmts[ends[-1]]
    assert isinstance(last, core.Bind) and isinstance(last.value, core.If)
    after = stmts[ends[-1] + 1 :]
    taken = [x for x in after if isinstance(x, core.Bind) and isinstance(x.value, core.Proj) and isinstance(x.value.value, core.Var) and x.value.value.sym is last.sym]
    if len(taken) != len(after) or any(isinstance(x, core.Var) and x.sym is last.sym for x in items):
        return _Branch(stmts, items)
    made = put_once(last.value, is_element, was)
    if not isinstance(made, core.Block) or not isinstance(made.result, core.MakeTuple):
        return _Branch(stmts, items)
    names = [core.Bind(x.sym, made.result.items[x.value.index]) for x in taken if isinstance(x.value, core.Proj)]
    return _Branch([*stmts[: ends[-1]], *made.stmts, *names], items)


def _same(then: _Branch, orelse: _Branch, x: core.Update, y: core.Update) -> bool:
    """Whether two updates put an element of one kind at one place, which stands before the branches."""
    inside = {stmt.sym for branch in (then, orelse) for stmt in branch.stmts if isinstance(stmt, (core.Bind, core.Open))}
    if not isinstance(x.array, core.Var) or not isinstance(y.array, core.Var) or x.array.sym is not y.array.sym or x.array.sym in inside:
        return False
    if not isinstance(x.value.type, Scalar) or x.value.type != y.value.type:
        return False
    if not _alike(x.items, y.items) or any(mentioned(item) & inside for item in x.items):
        return False
    one, other = (_combines(branch, update) for branch, update in ((then, x), (orelse, y)))
    return one is None or one != other


def _alike(x: tuple[core.Item, ...], y: tuple[core.Item, ...]) -> bool:
    return len(x) == len(y) and all(
        (isinstance(a, core.SizeOf) and isinstance(b, core.SizeOf) and a.poly == b.poly) or (isinstance(a, core.Var) and isinstance(b, core.Var) and a.sym is b.sym)
        for a, b in zip(x, y, strict=True)
    )


def _combines(branch: _Branch, update: core.Update) -> str | None:
    """The operation that puts what is there and something else together."""
    value = branch.value_of(update.value)
    if not isinstance(value, core.Prim):
        return None
    return _FAMILY.get(value.op, value.op) if any(_is_there(branch.value_of(x), update) for x in value.args) else None


def _is_there(x: core.Expr, update: core.Update) -> bool:
    """Whether a value is the element that an update overwrites."""
    items: list[core.Item] = []
    while isinstance(x, core.At):
        items.append(x.index)
        x = x.array
    return isinstance(x, core.Var) and isinstance(update.array, core.Var) and x.sym is update.array.sym and _alike(tuple(reversed(items)), update.items)


def _around(e: core.If, then: _Branch, orelse: _Branch, found: dict[int, core.Update], was: Callable[[core.If, core.If], None]) -> core.Expr:
    """The branches with values in the place of what updates made, then the updates."""
    kinds = tuple(x.type for x in then.items)
    assert isinstance(e.type, Tuple)
    type_ = Tuple(tuple(kinds[k] if k in found else t for k, t in enumerate(e.type.items)))
    blocks = [core.Block(tuple(x.stmts), core.MakeTuple(tuple(x.items), type=type_, span=e.span), type=type_, span=e.span) for x in (then, orelse)]
    chosen = core.If(e.cond, blocks[0], blocks[1], type=type_, span=e.span)
    was(chosen, e)
    joined = Sym("joined")
    stmts: list[core.Bind] = [core.Bind(joined, chosen)]
    items: list[core.Expr] = []
    for k, t in enumerate(type_.items):
        part = Sym("t")
        stmts.append(core.Bind(part, core.Proj(core.Var(joined, type=type_, span=e.span), k, type=t, span=e.span)))
        items.append(core.Var(part, type=t, span=e.span))
    for k, update in reversed(found.items()):  # the last one was found first
        name = Sym("u")
        stmts.append(core.Bind(name, dataclasses.replace(update, value=items[k])))
        items[k] = core.Var(name, type=update.type, span=e.span)
    return core.Block(tuple(stmts), core.MakeTuple(tuple(items), type=e.type, span=e.span), type=e.type, span=e.span)
