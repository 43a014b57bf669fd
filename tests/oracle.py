"""The text of an Atoll function as plain Python, where arrays are values: the reference that shares nothing with the compiler.

Whatever is bound, stored, iterated over or passed to a local function is copied first; annotations and decorators go. A few built-ins that programs of tests use
have NumPy's meaning. The text is the tests' own.
"""

from __future__ import annotations

import ast
import dataclasses
import math
from typing import Any

import numpy as np


def own(value: Any) -> Any:
    """A copy of a value: arrays are new, also inside tuples and records; lists (displays, comprehensions) become arrays."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        if value and isinstance(value[0], (tuple, Pairs)):
            return Pairs([own(x) for x in value])
        return np.array([own(x) for x in value]) if value else np.zeros(0, np.int64)
    if isinstance(value, tuple):
        return tuple(own(x) for x in value)
    if isinstance(value, Pairs):
        return Pairs([own(x) for x in value.items])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{f.name: own(getattr(value, f.name)) for f in dataclasses.fields(value)})
    return value


class Pairs:
    """An array of tuples."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Any:
        return iter(self.items)

    def __getitem__(self, k: Any) -> Any:
        return Pairs(self.items[k]) if isinstance(k, slice) else self.items[k]

    def __setitem__(self, k: Any, value: Any) -> None:
        self.items[k] = value


class _Values(ast.NodeTransformer):
    """Copies where Atoll's values would be others than Python's objects."""

    def _own(self, value: ast.expr) -> ast.expr:
        return ast.Call(ast.Name("own", ast.Load()), [value], [])

    def visit_Assign(self, node: ast.Assign) -> Any:
        node.value = self._own(self.visit(node.value))
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        assert node.value is not None
        return ast.Assign([node.target], self._own(self.visit(node.value)))

    def visit_Return(self, node: ast.Return) -> Any:
        assert node.value is not None
        node.value = self._own(self.visit(node.value))
        return node

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if isinstance(node.iter, ast.Name):
            node.iter = self._own(node.iter)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        node.decorator_list, node.returns = [], None
        every = [*node.args.args, *node.args.kwonlyargs]
        for a in every:
            a.annotation = None
        copies: list[ast.stmt] = [ast.Assign([ast.Name(a.arg, ast.Store())], self._own(ast.Name(a.arg, ast.Load()))) for a in every]
        node.body = copies + node.body
        return node


def _numbers(*shape: Any) -> tuple[int, ...]:
    return tuple(shape[0]) if isinstance(shape[0], tuple) else shape


def _ordered(items: Any, key: Any = None, reverse: bool = False) -> Any:
    found = sorted(items, key=key, reverse=reverse)
    return own(found) if found else own(items)


NAMES: dict[str, Any] = {
    "own": own,
    "np": np,
    "math": math,
    "zeros": lambda shape, dtype=None: np.zeros(shape, dtype or np.int64),
    "ones": lambda shape, dtype=None: np.ones(shape, dtype or np.int64),
    "full": lambda shape, x: np.full(shape, x),
    "iota": lambda k: np.arange(k),
    "sort": _ordered,
    "sorted": _ordered,
    "argsort": lambda x, key=None, reverse=False: np.array(sorted(range(len(x)), key=lambda k: x[k] if key is None else key(x[k]), reverse=reverse), np.int64),
    "enumerate": lambda x, start=0: enumerate(own(x), start),
    "zip": lambda *x: zip(*map(own, x), strict=True),
    "reversed": lambda x: reversed(own(x)) if isinstance(x, (np.ndarray, range)) else reversed(list(x)),
    "where": np.where,
    "concat": lambda *x: np.concatenate(x),
    "sin": np.sin,
    "exp": np.exp,
    "i64": int,
    "f64": float,
    "bool_": bool,
    "inf": math.inf,
}


def in_python(text: str, name: str, **names: Any) -> Any:
    """The function of this name of a text, for Python. `names` are sizes and records; sizes may be changed in the result's __globals__."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    _Values().visit(tree)
    scope = {**NAMES, **names}
    exec(compile(ast.fix_missing_locations(tree), "<oracle>", "exec"), scope)  # noqa: S102  tests' own text
    return scope[name]
