"""What shares memory in NumPy and does not here, where arrays are values: two names of one array, a part of an array (`y = x[1:]`, `for row in a`), and
an array that a loop goes over while it is updated. Where an update would be seen through the other name, the user is told (AliasWarning).

Nothing here changes what a program means.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from atoll.core import ir
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.errors import AliasWarning, Span
from atoll.surface import syntax as s
from atoll.surface.names import reads
from atoll.types.types import Array, rank

_VIEWS = frozenset("reshape ravel transpose swapaxes squeeze".split())
_FUNCTIONS = _VIEWS | frozenset("asarray flip flipud fliplr moveaxis expand_dims rot90".split())
_VALUES = "arrays are values in Atoll"


# -- what shares memory


def viewed(el: Elaborator, node: s.Expr) -> tuple[str, ...]:
    """The names whose memory, or a part of it, the value of an expression is in NumPy. What an index array or a mask takes is a copy there too."""
    match node:
        case s.Name(name):
            return (name,)
        case s.IfExp(_, then, orelse):
            return (*viewed(el, then), *viewed(el, orelse))
        case s.Subscript(base, items):
            return viewed(el, base) if all(_is_place(el, item) for item in items) else ()
        case s.Attr(base, "T"):
            return viewed(el, base)
        case s.Call(s.Attr(s.Name("np" | "numpy"), name), (first, *_)):
            return viewed(el, first) if name in _FUNCTIONS else ()
        case s.Call(s.Attr(base, name), _):
            return viewed(el, base) if name in _VIEWS else ()
    return ()


def _is_place(el: Elaborator, item: s.Item) -> bool:
    """A number, a slice or a new axis."""
    if isinstance(item, (s.Slice, s.Ellipsis, s.NewAxis)):
        return True
    return not isinstance(item, (s.Compare, s.ListDisplay)) and not any(_is_array(el.scope.names.get(name)) for name in reads(item))


def _is_array(entity: Any) -> bool:
    return isinstance(entity, Value) and isinstance(entity.type, Array)


def note_parts(el: Elaborator, target: s.Target, roots: dict[str, Any], text: str) -> None:
    """A name was bound to a part of these arrays (what the names meant before)."""
    if not isinstance(target, s.Name):
        return
    part = el.scope.names.get(target.id)
    if isinstance(part, Value) and rank(part.type):
        el.parts += [(part, root, f"{target.id} = at.copy({text or target.id})") for root in roots.values() if _is_array(root) and root is not part]


def note_elements(el: Elaborator, target: s.Target, iterated: s.Expr) -> None:
    """The rows that `for row in a` goes over are parts of a."""
    for name, whole in _gone_over(target, iterated):
        note_parts(el, name, {root: el.scope.names.get(root) for root in viewed(el, whole)}, "")


def _gone_over(target: s.Target, iterated: s.Expr) -> Iterator[tuple[s.Target, s.Expr]]:
    """Targets of a `for`, and the array whose elements each is."""
    match iterated:
        case s.Call(s.Name("enumerate"), (first, *_)):
            if isinstance(target, s.TupleTarget) and len(target.items) == 2:
                yield from _gone_over(target.items[1], first)
        case s.Call(s.Name("reversed"), (first,)):
            yield from _gone_over(target, first)
        case s.Call(s.Name("zip"), arrays):
            if isinstance(target, s.TupleTarget) and len(target.items) == len(arrays):
                for item, array in zip(target.items, arrays, strict=True):
                    yield from _gone_over(item, array)
        case _:
            yield target, iterated


def sharing(el: Elaborator, entity: Any, but: str, names: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
    """Other names that are now bound to the same array, to a part of it, or to what it is a part of, with how to say that it is a copy; "" for the same array."""
    if not isinstance(entity, Value):
        return []
    found: list[tuple[Any, str]] = [(entity, "")]
    for known, _ in found:
        for part, root, text in el.parts:
            for one, other in ((part, root), (root, part)):
                if one is known and all(other is not have for have, _ in found):
                    found.append((other, text))
    return [(name, text) for name, bound in (el.scope.names if names is None else names).items() if name != but for known, text in found if bound is known]


# -- telling


def warn_update(el: Elaborator, target: s.Subscript, base: Value) -> None:
    """`y[0] = v`, where another name has the same memory in NumPy; of parts, where that name is read later."""
    if not isinstance(target.value, s.Name) or not isinstance(base.type, Array):
        return
    name = target.value.id
    others = sharing(el, base, name)
    if isinstance(base.expr, ir.Var):
        others += [(other, text) for other, text in el.same_before.get(base.expr.sym, ()) if other in el.scope.names and other != name]
    same = [other for other, text in others if not text]
    parts = [(other, text) for other, text in others if text and other in el.live]
    if same:
        _warn(el, target.span, f"{target.span.text()} = ... changes {name} only; {same[0]} keeps the old value ({_VALUES}). Write {name} = at.copy({same[0]}) to say so.")
    elif parts:
        other, copied = parts[0]
        _warn(el, target.span, f"{target.span.text()} = ... changes {name} only; {other}, which shares its memory in NumPy, keeps the old value ({_VALUES}). Write {copied} to say so.")


def warn_augmented(el: Elaborator, name: str, op: str, span: Span) -> None:
    """`y += v` changes the array itself in NumPy."""
    others = [other for other, _ in sharing(el, el.scope.names.get(name), name) if other in el.live]
    if _is_array(el.scope.names.get(name)) and others:
        _warn(el, span, f"{name} {op}= ... changes {name} only; {others[0]}, which shares its memory in NumPy, keeps the old value ({_VALUES}). Write {name} = {name} {op} ... to say so.")


def warn_iterated(el: Elaborator, loop: s.For) -> None:
    """`for v in x: x[0] += v`: the loop goes over what x was before it. An update of the element it is at is seen by no later round."""
    here = loop.target.items[0].id if isinstance(loop.iter, s.Call) and isinstance(loop.target, s.TupleTarget) and isinstance(loop.target.items[0], s.Name) else None
    arrays = {root for _, whole in _gone_over(loop.target, loop.iter) for root in viewed(el, whole) if _is_array(el.scope.names.get(root))}
    for target in _updates(loop.body):
        base = target.value
        if isinstance(base, s.Name) and base.id in arrays and not (here and isinstance(target.items[0], s.Name) and target.items[0].id == here):
            text = f"{target.span.text()} = ... does not change what the loop goes over: the elements that {base.id} had before it ({_VALUES})."
            _warn(el, target.span, f"{text} Go over range(len({base.id})) and read {base.id}[i], or go over at.copy({base.id}) to say so.")


def warn_passed(el: Elaborator, name: str, params: Sequence[s.Param], body: object, node: s.Call | None) -> None:
    """`pop(h)`, where pop updates its parameter: the caller's h, read later, keeps the old value."""
    if node is None or not isinstance(body, tuple):
        return
    updated = {t.value.id for t in _updates(body) if isinstance(t.value, s.Name)} - _bound_whole(body)
    given = [*zip(params, node.args, strict=False), *((p, value) for p in params for key, value in node.keywords if key == p.name)]
    for p, argument in given:
        if p.name in updated and isinstance(argument, s.Name) and argument.id in el.live and _is_array(el.scope.names.get(argument.id)):
            x = argument.id
            _warn(el, node.span, f"{name} updates its own {p.name} only; {x} keeps the old value ({_VALUES}). Return {p.name} and assign it to {x}, or pass at.copy({x}) to say so.")


def _bound_whole(stmts: tuple[s.Stmt, ...]) -> set[str]:
    """Names that are assigned as a whole: their updates are of something else."""
    found: set[str] = set()
    for stmt in stmts:
        found |= {t.id for t in stmt.targets if isinstance(t, s.Name)} if isinstance(stmt, s.Assign) else set()
        for block in s.bodies(stmt):
            found |= _bound_whole(block)
    return found


def _updates(stmts: tuple[s.Stmt, ...]) -> Iterator[s.Subscript]:
    for stmt in stmts:
        targets = stmt.targets if isinstance(stmt, s.Assign) else (stmt.target,) if isinstance(stmt, s.AugAssign) else ()
        yield from (t for target in targets for t in (target.items if isinstance(target, s.TupleTarget) else (target,)) if isinstance(t, s.Subscript))
        for block in s.bodies(stmt):
            yield from _updates(block)


def _warn(el: Elaborator, span: Span, text: str) -> None:
    if span in el.warned or span.in_library():  # rounds of loops are read again until their types are known
        return
    el.warned.add(span)
    warnings.warn_explicit(text, AliasWarning, span.source.name, span.line)

