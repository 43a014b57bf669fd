"""`last` and `init`.

`last x` is what x was in the round before of the scope that x is a variable of; of an element of an array under construction, what that same element was. A first
value is told by `init`, of the value itself, of what it is a part of, or of what lies where it lies: {x} and x, the result of a block and what it is inside,
an array and the same array with an element replaced. It counts for the scope whose start it is evaluated at.
"""

from __future__ import annotations

from typing import Any

from atoll.madl import syntax as s
from atoll.madl.instances import Defined
from atoll.madl.levels import rank
from atoll.madl.library import Library
from atoll.madl.meaning import expressions
from atoll.madl.meaning.reading import Names, Reading, Round
from atoll.madl.meaning.wires import NotYet, Value
from atoll.madl.scalars import FUNCTIONS


def last(m: Reading, v: Value, e: s.Last, names: Names) -> Value:
    here = names.round
    if not isinstance(s.bare(e.arg), (s.Variable, s.Project, s.Group, s.Apply, s.ArrayOf, s.TupleOf)) or _computes(e.arg, m.library):
        v.root().names.append((here, id(e)))  # type: ignore[arg-type]
        here.variables[id(e)] = v
    m.lasts.append(v)
    return Value(v.shape, lambda path: previous(m, m.store.at(v, path), here))


def previous(m: Reading, cell: Value, here: Round) -> Any:
    scopes = list(here.chain())
    known = [
        (scopes.index(r), r, name, path)
        for value, path in m.store.around(cell)
        for r, name in value.names
        if r in scopes
    ]
    if not known:
        return first(m, cell, here.owner)
    _, found, name, path = min(known, key=lambda row: row[0])
    mine, before = position(m, cell), found.before
    while before is not None:
        if name in before.variables:
            old = m.store.at(before.variables[name], path)
            if position(m, old) == mine:
                return m.store.scalar(old)
        before = before.before
    return first(m, cell, found.owner)


def position(m: Reading, cell: Value) -> frozenset[Any]:
    """Which elements of arrays under construction a value is: state of one element is not that of another."""
    return frozenset(mark for value, _ in m.store.around(cell, places=True) for mark in value.element)


def first(m: Reading, cell: Value, owner: tuple[Any, ...]) -> Any:
    for value, path in m.store.around(cell, places=True):
        for scope, first in value.firsts:
            if scope == owner:
                return m.store.scalar(m.store.at(first, path))
    raise NotYet("a first value")


def initial(m: Reading, e: s.Initial, names: Names) -> list[Value]:
    found = expressions.values_of(m, e.arg, names)
    owner = names.round.owner
    interface = m.interface
    if interface is not None and interface.so_far is not None:
        return found
    if interface is not None and rank(e.arg) > 0 and interface.restarts:
        owner = interface.scope
    root, outside = names.outermost(), m.outside.get(owner)
    here = outside
    while here is not None and here is not root:
        here = here.parent
    if outside is None or here is None:
        outside = Names(names.round, sizes=dict(root.sizes), types=dict(root.types), root=True)
    saved, m.interface = m.interface, None
    firsts = expressions.values_of(m, e.value, outside)
    m.interface = saved
    for value, first in zip(found, firsts, strict=True):
        m.store.same(value.shape, first.shape)
        value.root().firsts.append((owner, first))
    return found


def _computes(e: s.Expr, library: Library) -> bool:
    """Whether an expression makes a new value, rather than name one."""
    bare = s.bare(e)
    if not isinstance(bare, s.Apply):
        return False
    item = library.items.get(bare.name)
    return bare.name in FUNCTIONS if item is None else isinstance(item, Defined) and not item.structural
