"""The text of a program run as plain Python: arrays are values, so whatever is bound or stored is copied first.

Nothing of Atoll is used here. Only what the templates write has a meaning: numbers and arrays of NumPy, loops, comprehensions, a few functions.
"""

from __future__ import annotations

import ast
import builtins
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

DTYPES = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "u8": np.uint8, "bool_": np.bool_}


def python(text: str) -> Callable[..., Any]:
    """The function f of a text, as Python."""
    tree = ast.parse(text)
    f = next(s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "f")
    sizes = _sizes(f)
    f.decorator_list = []
    for arg in f.args.args:
        arg.annotation = None
    f.returns = None
    f = _Copied().visit(f)
    f.body = [*sizes, *f.body]
    module = ast.Module([f], [])
    ast.fix_missing_locations(module)
    names = dict(NAMES)
    exec(compile(module, "oracle", "exec"), names)  # noqa: S102  the text is our own
    return names["f"]  # type: ignore[no-any-return]


def _sizes(f: ast.FunctionDef) -> list[ast.stmt]:
    """n, m = a.shape for the sizes that annotations name."""
    found: dict[str, str] = {}
    given = {arg.arg for arg in f.args.args}
    for arg in f.args.args:
        if isinstance(arg.annotation, ast.Subscript):
            axes = arg.annotation.slice.elts if isinstance(arg.annotation.slice, ast.Tuple) else [arg.annotation.slice]
            for k, axis in enumerate(axes):
                more = ""
                if isinstance(axis, ast.BinOp) and isinstance(axis.right, ast.Constant):
                    axis, more = axis.left, f" - {axis.right.value}"
                if isinstance(axis, ast.Name) and axis.id not in given:
                    found.setdefault(axis.id, f"{axis.id} = int({arg.arg}.shape[{k}]){more}")
    return [s for line in found.values() for s in ast.parse(line).body]


class _Copied(ast.NodeTransformer):
    """Values that are bound, given to functions, gone over, stored or returned are copies; a list is an array."""

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id in ("zip", "enumerate"):
            node.iter.args = [_call("own", arg) for arg in node.iter.args]
        else:
            node.iter = _call("own", node.iter)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        for arg in node.args.args:
            arg.annotation = None
        node.body = [ast.Assign([ast.Name(arg.arg, ast.Store())], _call("own", ast.Name(arg.arg, ast.Load()))) for arg in node.args.args] + node.body
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        node.value = _call("own", node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """x op= v reads and stores, so that x is not changed for others that had its value."""
        self.generic_visit(node)
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        return ast.Assign([node.target], _call("own", self.visit_BinOp(ast.BinOp(read, node.op, node.value))))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """NumPy's + of two bools is `or`, and it has no -; here they count."""
        self.generic_visit(node)
        if not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            return node
        name = type(node.op).__name__.lower()
        return ast.Call(ast.Name(f"counted_{name}", ast.Load()), [node.left, node.right], [])

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None:
            node.value = _call("own", node.value)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        return _call("array", node)

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return _call("array", node) if isinstance(node.ctx, ast.Load) else node


def _call(name: str, value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [value], [])


def counted(f: Any) -> Any:
    """An operator of numbers, of which two bools are integers."""

    def of(a: Any, b: Any) -> Any:
        both = isinstance(a, (np.bool_, np.ndarray)) and isinstance(b, (np.bool_, np.ndarray)) and a.dtype == b.dtype == np.bool_
        return f(a.astype(np.int64), b) if both else f(a, b)

    return of


def own(v: Any) -> Any:
    if isinstance(v, tuple):
        return tuple(own(x) for x in v)
    return np.array(v) if isinstance(v, np.ndarray) and v.ndim else v


def array(items: list[Any]) -> Any:
    return np.array(items) if items else np.zeros(0, np.int64)


def _axis(f: Any) -> Any:
    """A reduction of numbers, or with axis= along it; of a matrix without one its rows."""

    def reduce(x: Any, axis: int | None = None, default: Any = None) -> Any:
        if axis is not None:
            return f(np.asarray(x), axis=axis)
        values = list(x) if not isinstance(x, np.ndarray) else x
        if default is not None and len(values) == 0:
            return default
        return f(np.asarray(values), axis=-1)

    return reduce


def _least(pick: Any) -> Any:
    def least(*args: Any, **options: Any) -> Any:
        return functools.reduce(pick, args) if len(args) > 1 else _axis(np.min if pick is np.minimum else np.max)(args[0], **options)

    return least


def total(x: Any, axis: int | None = None) -> Any:
    if axis is not None:
        return np.sum(np.asarray(x), axis=axis)
    if isinstance(x, np.ndarray):
        return np.sum(x, axis=-1, dtype=x.dtype)
    found: Any = 0
    for v in x:
        found = found + v
    return found


def scan(op: Any, ne: Any, x: Any, exclusive: bool = False) -> Any:
    out, s = [], ne
    for v in x:
        if exclusive:
            out.append(s)
        s = op(s, v)
        if not exclusive:
            out.append(s)
    return np.array(out, np.asarray(x).dtype)


def hist(op: Any, ne: Any, k: int, places: Any, values: Any) -> Any:
    out = np.full(k, ne, np.asarray(values).dtype)
    for p, v in zip(places, values, strict=True):
        out[p] = op(out[p], v)
    return out


def reduce(op: Any, ne: Any, x: Any) -> Any:
    return functools.reduce(op, list(x), ne)


NAMES: dict[str, Any] = {
    "own": own,
    "counted_add": counted(operator.add),
    "counted_sub": counted(operator.sub),
    "counted_mult": counted(operator.mul),
    "array": array,
    "range": range,
    "len": len,
    "abs": abs,
    "zip": builtins.zip,
    "enumerate": enumerate,
    "sum": total,
    "prod": _axis(np.prod),
    "min": _least(np.minimum),
    "max": _least(np.maximum),
    "any": _axis(np.any),
    "all": _axis(np.all),
    "argmin": _axis(np.argmin),
    "argmax": _axis(np.argmax),
    "sqrt": np.sqrt,
    "exp": np.exp,
    "zeros": lambda shape, dtype=np.float64: np.zeros(shape, dtype),
    "ones": lambda shape, dtype=np.float64: np.ones(shape, dtype),
    "sort": lambda x: np.sort(x, kind="stable"),
    "sorted": lambda x, key=None, reverse=False: np.array(sorted(np.asarray(x), key=key, reverse=reverse), np.asarray(x).dtype),
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "reverse": lambda x: np.asarray(x)[::-1].copy(),
    "transpose": lambda x: np.asarray(x).T.copy(),
    "where": np.where,
    "rotate": lambda x, k: np.roll(np.asarray(x), -k, 0),
    "flatten": lambda x: np.asarray(x).reshape(-1, *np.shape(x)[2:]),
    "pad_l": lambda x, k: np.concatenate([np.zeros(k, np.asarray(x).dtype), x]),
    "pad_r": lambda x, k: np.concatenate([x, np.zeros(k, np.asarray(x).dtype)]),
    "trunc_l": lambda x, k: np.asarray(x)[k:],
    "trunc_r": lambda x, k: np.asarray(x)[: len(x) - k],
    "concat": lambda *x: np.concatenate(x),
    "map": lambda f, *xs: array([f(*row) for row in builtins.zip(*xs, strict=True)]),
    "scan": scan,
    "hist": hist,
    "reduce": reduce,
    "add": counted(operator.add),
    "mul": counted(operator.mul),
    "minimum": np.minimum,
    "maximum": np.maximum,
    **DTYPES,
}
