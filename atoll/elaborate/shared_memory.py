"""Names that have one memory in NumPy, and not here: `row = c[0]`, `v = c[:, 0]`, `d = c.T`, `for row in c`, `d = c`.

Arrays are values, so a change of one name is not seen through another. Where a program changes such a name, in place as NumPy would, while the array it was
taken from is read later, its author is told. Nothing else depends on what is kept here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.errors import AliasWarning
from atoll.surface import syntax as s
from atoll.surface.names import Liveness, binds, in_place, reads
from atoll.types.types import Array

_ATTRIBUTES = {"T", "mT"}
_METHODS = {"ravel", "reshape", "squeeze", "swapaxes", "transpose"}
_FUNCTIONS = {"asarray", "atleast_1d", "atleast_2d", "expand_dims", "flip", "fliplr", "flipud", "moveaxis", "ravel", "reshape", "squeeze", "swapaxes", "transpose"}
_WALKS = {"enumerate", "reversed", "zip"}


@dataclass(frozen=True, slots=True)
class View:
    """`names` are the arrays whose memory it would be, the nearest first; `text` is how it was taken from that: by `part`, a row of it; `place` its first index."""

    names: tuple[str, ...]
    text: str
    part: bool
    whole: bool
    place: s.Item | None


def taken(el: Elaborator, target: s.Target, node: s.Expr, part: bool = False) -> None:
    """target = node was carried out, or target is a `part` of it: what the names of the target would share memory with."""
    if isinstance(target, s.TupleTarget):
        parts = node.items if isinstance(node, s.TupleDisplay) and len(node.items) == len(target.items) else None
        for k, item in enumerate(target.items):
            taken(el, item, node if parts is None else parts[k], part or parts is None)
    elif isinstance(target, s.Name):
        source = _source(el, node, target.id)
        for key in [key for key, view in el.views.items() if key[0] is el.scope.frame and target.id in view.names]:
            del el.views[key]
        if source is None or not _is_array(el, target.id):
            el.views.pop((el.scope.frame, target.id), None)
            return
        further = el.views.get((el.scope.frame, source))
        names = (source, *(further.names if further is not None else ()))
        el.views[(el.scope.frame, target.id)] = View(names, node.span.text() or source, part, not part and isinstance(node, s.Name), _first(node))


def gone_over(el: Elaborator, stmt: s.For) -> None:
    """A round of a loop has its elements: rows of the arrays that it goes over."""
    if isinstance(stmt.iter, s.Call) and isinstance(stmt.iter.fn, s.Name) and stmt.iter.fn.id in _WALKS:
        targets: tuple[s.Target, ...] = (stmt.target,)
        if stmt.iter.fn.id != "reversed":
            targets = stmt.target.items if isinstance(stmt.target, s.TupleTarget) else ()
        if stmt.iter.fn.id == "enumerate":
            targets = targets[1:]
        for target, node in zip(targets, stmt.iter.args, strict=False):
            taken(el, target, node, part=True)
    else:
        taken(el, stmt.target, stmt.iter, part=True)


def changed_while_gone_over(el: Elaborator, stmt: s.For) -> None:
    """`for z in c: c[k] = v`: the rounds have the elements of before the loop; in NumPy and Python they have what is there by then."""
    nodes: tuple[s.Expr, ...] = (stmt.iter,)
    own = None
    if isinstance(stmt.iter, s.Call) and isinstance(stmt.iter.fn, s.Name) and stmt.iter.fn.id in _WALKS:
        nodes = stmt.iter.args
        if stmt.iter.fn.id == "enumerate" and isinstance(stmt.target, s.TupleTarget) and isinstance(stmt.target.items[0], s.Name):
            own = stmt.target.items[0].id
    names = {name for node in nodes if (name := _source(el, node, "")) is not None}
    for target in _updated(stmt.body) if names else ():
        root, first = _root(target), target
        while isinstance(first, s.Subscript) and isinstance(first.value, s.Subscript):
            first = first.value
        at_own = isinstance(first, s.Subscript) and isinstance(first.items[0], s.Name) and first.items[0].id == own
        if root in names and not at_own:
            _warn(el, target, f"{target.span.text()} = ... is not seen by the rounds of `for ... in {stmt.iter.span.text()}`, which goes over {root} as it was before the loop (arrays are values in Atoll). "
                  f"Write at.copy({root}) in the head of the loop to say so, or go over range(len({root})) and read {root}[i].")  # fmt: skip


def changed(el: Elaborator, stmt: s.Assign | s.AugAssign | s.ExprStmt, live: Liveness) -> None:
    """Tell of a change that would be one of another array too, if that is read afterwards."""
    for target in _updated((stmt,)):
        name = _root(target)
        view = el.views.get((el.scope.frame, name)) if name is not None else None
        if name is not None:
            _changed_under(el, stmt, target, name)
        if name is None or view is None or not _is_array(el, name) or (view.whole and isinstance(target, s.Subscript)):
            continue
        seen = next((other for other in view.names if other in live.after.get(id(stmt), ())), None)
        if seen is None or any(_puts_back(other, name, view) for other in _statements(live.body)):
            continue
        if isinstance(stmt, s.ExprStmt):
            what, way = f"{stmt.span.text()} changes {name} only", f"{name} = at.copy({name if view.part else view.text})"
        elif isinstance(stmt, s.AugAssign) and isinstance(target, s.Name):
            what, way = f"{name} {stmt.op}= ... makes a new {name}", f"{name} = {name} {stmt.op} ..."
        else:
            what, way = f"{target.span.text()} = ... changes {name} only", f"{name} = at.copy({name if view.part else view.text})"
        why = "" if view.whole else f", a part of {view.text} is no view" if view.part else f", {view.text} is no view"
        _warn(el, target, f"{what}; {seen} keeps its elements (arrays are values in Atoll{why}). Write {way}{' before it' if view.part and '.copy' in way else ''} to say so, or change {seen} itself.")


def _changed_under(el: Elaborator, stmt: s.Stmt, target: s.Subscript | s.Name, name: str) -> None:
    """The other way round, `row = c[0]; c[0, 1] = v`, where row is read later."""
    for (frame, other), view in el.views.items():
        taken_from = frame is el.scope.frame and view.names[0] == name and not view.part and not view.whole
        if taken_from and other in el.live and _is_array(el, other) and isinstance(target, s.Subscript):
            if not _apart(view.place, _first(target)) and not _puts_back(stmt, other, view):
                _warn(el, target, f"{target.span.text()} = ... changes {name} only; {other} keeps its elements (arrays are values in Atoll, {view.text} is no view). Write {other} = at.copy({view.text}) to say so.")
                return


def _first(node: Any) -> s.Item | None:
    """The first index after a name: i of c[i, j]."""
    while isinstance(node, s.Subscript) and not isinstance(node.value, s.Name):
        node = node.value
    return node.items[0] if isinstance(node, s.Subscript) else None


def _apart(one: s.Item | None, other: s.Item | None) -> bool:
    """Different rows, as far as their texts say, or slices of which one ends where the other begins."""
    if one is None or other is None or isinstance(one, (s.Ellipsis, s.NewAxis)) or isinstance(other, (s.Ellipsis, s.NewAxis)):
        return False
    if isinstance(one, s.Slice) and isinstance(other, s.Slice):
        return any(end is not None and begin is not None and end.span.text() == begin.span.text() for end, begin in ((one.high, other.low), (other.high, one.low)))
    return not isinstance(one, s.Slice) and not isinstance(other, s.Slice) and one.span.text() != other.span.text()


def passed(el: Elaborator, name: str, params: Sequence[s.Param], body: object, node: s.Call | None) -> None:
    """`top = pop(heap)`, where pop changes its parameter: the heap, if it is read later, keeps its elements."""
    if node is None or not isinstance(body, tuple):
        return
    whole = binds(tuple(stmt for stmt in _statements(body) if isinstance(stmt, s.Assign) and any(isinstance(t, s.Name) for t in stmt.targets)))
    inside = {_root(target) for stmt in _statements(body) for target in _updated((stmt,)) if isinstance(target, s.Subscript) or isinstance(stmt, s.ExprStmt)} - whole
    given = [*zip(params, node.args, strict=False), *((p, value) for p in params for key, value in node.keywords if key == p.name)]
    for p, argument in given:
        if p.name in inside and isinstance(argument, s.Name) and argument.id in el.live and _is_array(el, argument.id):
            x = argument.id
            _warn(el, node, f"{name} changes its own {p.name}; {x} keeps its elements (arrays are values in Atoll). Return {p.name} and assign it to {x}, or pass at.copy({x}) to say so.")


def _puts_back(stmt: s.Stmt, name: str, view: View) -> bool:
    """c[0] = row, for row = c[0]: then it is the same with and without views."""
    return isinstance(stmt, s.Assign) and isinstance(stmt.value, s.Name) and stmt.value.id == name and any(isinstance(t, s.Subscript) and _root(t) in view.names for t in stmt.targets)


def _warn(el: Elaborator, target: s.Target | s.Call, text: str) -> None:
    if target.span not in el.warned and not target.span.in_library():  # rounds of loops are read again until their types are known
        el.warned.add(target.span)
        warnings.warn_explicit(text, AliasWarning, target.span.source.name, target.span.line)


def _statements(stmts: tuple[s.Stmt, ...]) -> Iterator[s.Stmt]:
    for stmt in stmts:
        yield stmt
        for body in s.bodies(stmt):
            yield from _statements(body)


def _updated(stmts: tuple[s.Stmt, ...]) -> Iterator[s.Subscript | s.Name]:
    """What statements change in place in NumPy: parts of arrays, names by `op=`, and what np.add.at(x, i, v) and x.sort() change."""
    for stmt in _statements(stmts):
        whole = in_place(stmt)
        if isinstance(whole, (s.Subscript, s.Name)):
            yield whole
        targets: tuple[s.Target, ...] = stmt.targets if isinstance(stmt, s.Assign) else (stmt.target,) if isinstance(stmt, s.AugAssign) else ()
        queue = list(targets)
        while queue:
            target = queue.pop(0)
            if isinstance(target, s.TupleTarget):
                queue += target.items
            elif isinstance(target, s.Subscript) or (isinstance(target, s.Name) and isinstance(stmt, s.AugAssign)):
                yield target


def _root(target: Any) -> str | None:
    while isinstance(target, (s.Subscript, s.Attr)):
        target = target.value
    return target.id if isinstance(target, s.Name) else None


def _is_array(el: Elaborator, name: str) -> bool:
    entity = el.scope.lookup(name)
    return isinstance(entity, Value) and isinstance(entity.type, Array)


def _source(el: Elaborator, node: s.Expr, but: str) -> str | None:
    """The name of the array whose memory an expression would be."""
    match node:
        case s.Name(id):
            return id if id != but and _is_array(el, id) else None
        case s.Subscript(value, items) if not any(_may_be_array(el, item) for item in items):
            return _source(el, value, but)
        case s.Attr(value, name) if name in _ATTRIBUTES:
            return _source(el, value, but)
        case s.Call(s.Attr(value, name), args):
            mine = _source(el, value, but) if name in _METHODS else None
            return mine or (_source(el, args[0], but) if name in _FUNCTIONS and args else None)
    return None


def _may_be_array(el: Elaborator, item: Any) -> bool:
    """Whether what stands in an index may be an array: then NumPy makes a copy."""
    if isinstance(item, (s.Slice, s.Num, s.NewAxis, s.Ellipsis)):
        return False
    return isinstance(item, (s.Compare, s.BoolOp, s.Call, s.ListDisplay, s.Comprehension)) or any(_is_array(el, name) for name in reads(item))
