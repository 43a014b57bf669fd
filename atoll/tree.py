"""at.tree: values made of tuples, lists, dictionaries and records, part by part.

    at.tree.map(f, a, b, ...)     the same structure with f of every part
    at.tree.leaves(a)             the parts in order
    at.tree.zip(a, b, ...)        the same structure with tuples of the parts that stand at one place
    at.tree.unflatten(a, leaves)  the structure of a with other parts

A part is whatever is none of these: an array or a number. Lists and tuples of one length are built alike, the first one says what is made.
Inside a body `at.tree.map` works on tuples and records.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import calling, plain
from atoll.types.records import record_of


@calling
def map(f: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """f of every part; of several trees that are built alike, f of the parts that stand at one place."""
    parts = _parts(tree)
    if parts is None:
        for other in others:
            if _parts(other) is not None:
                _unlike(tree, other)
        return f(tree, *others)
    inner = [_parts(other) for other in others]
    for other, found in builtins.zip(others, inner, strict=True):
        if found is None or _names(tree) != _names(other) or len(found) != len(parts):
            _unlike(tree, other)
    return _made(tree, [map(f, *items) for items in builtins.zip(parts, *(x for x in inner if x is not None), strict=True)])


@plain
def leaves(tree: Any) -> list[Any]:
    """The parts in order."""
    parts = _parts(tree)
    return [tree] if parts is None else [leaf for part in parts for leaf in leaves(part)]


@plain
def zip(tree: Any, *others: Any) -> Any:
    """The structure of the first with tuples of the parts that stand at one place."""
    return map(lambda *parts: parts, tree, *others)


@calling
def unflatten(tree: Any, parts: Iterable[Any]) -> Any:
    """The structure of a tree with these parts, in the order of `leaves`."""
    given = list(parts)
    count = len(leaves(tree))
    if len(given) != count:
        fail("E1032", what=f"at.tree.unflatten: {len(given)} parts are given for a structure of {count}", help="give as many parts as at.tree.leaves finds")
    following: Iterator[Any] = iter(given)
    return map(lambda _: next(following), tree)


def _parts(tree: Any) -> list[Any] | None:
    """What a tree is made of; None for a leaf."""
    if isinstance(tree, (tuple, list)):
        return list(tree)
    if isinstance(tree, dict):
        return [tree[name] for name in tree]
    decl = record_of(type(tree))
    return None if decl is None else [getattr(tree, name) for name in decl.fields]


def _names(tree: Any) -> Any:
    """What two trees that are built alike agree on, beside the number of parts."""
    return type(tree) if record_of(type(tree)) is not None else tuple(tree) if isinstance(tree, dict) else None


def _made(like: Any, parts: list[Any]) -> Any:
    if isinstance(like, dict):
        return dict(builtins.zip(like, parts, strict=True))
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*parts)
    if isinstance(like, (tuple, list)):
        return list(parts) if isinstance(like, list) else tuple(parts)
    return type(like)(*parts)


def _unlike(a: Any, b: Any) -> None:
    fail("E1032", what=f"at.tree: {_described(a)} and {_described(b)} are not built alike", help="give values of the same tuples, lists and records")


def _described(tree: Any) -> str:
    parts = _parts(tree)
    return kind_of(tree) if parts is None else f"{kind_of(tree)} of {len(parts)}"


__all__ = ["leaves", "map", "unflatten", "zip"]


def __dir__() -> list[str]:
    return __all__
