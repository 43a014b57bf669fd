"""np.linalg: functions of the last two axes, lifted over those before."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import binary
from atoll.elaborate.builtins.contract import matmul
from atoll.elaborate.coerce import project, project_all
from atoll.elaborate.entities import Value
from atoll.elaborate.lifting import lift
from atoll.elaborate.numpy_names.algebra import WORDS as ALGEBRA
from atoll.elaborate.numpy_names.call import Call
from atoll.elaborate.numpy_names.create import WORDS as CREATE
from atoll.elaborate.numpy_names.create import _shorter
from atoll.elaborate.numpy_names.einsum import Operand, contract
from atoll.elaborate.numpy_names.places import together
from atoll.sizes import Poly, poly
from atoll.types.dtypes import BOOL, DTYPES
from atoll.types.types import rank

F64 = DTYPES["f64"]


def _matrix(c: Call, entity: Any, square: bool = False) -> Value:
    x = c.floats(c.array(entity))
    if rank(x.type) < 2:
        c.wrong(x, "a matrix")
    if square:
        n, m = c.shape(x)[-2:]
        c.same(n, m, "a square matrix in ")
    return x


def _real(c: Call, x: Value) -> Value:
    if c.dtype_of(x).is_complex:
        c.wrong(x, "a real matrix")
    return x


def _solve(c: Call, a: Any, b: Any) -> Value:
    x, y = _matrix(c, a, square=True), c.floats(c.array(b))
    x, y = together(c, x, y)
    many = rank(y.type) > 1
    found: Value = c.library("linear.solve_many" if many else "linear.solve", x, y)
    return found


def _square(function: str, real: bool = False) -> Callable[..., Any]:
    def handler(c: Call, a: Any) -> Any:
        x = _matrix(c, a, square=True)
        return c.library(f"linear.{function}", _real(c, x) if real else x)

    return handler


def _cholesky(c: Call, a: Any, upper: Any = False) -> Value:
    x = _matrix(c, a, square=True)
    kind = "complex_cholesky" if c.dtype_of(x).is_complex else "cholesky"
    found: Value = c.library(f"linear.{kind}", x)
    if c.flag(upper, "upper"):
        count = rank(found.type)
        found = c.moved(c.el.bind(found), [*range(count - 2), count - 1, count - 2])
        found = c.builtin("conj", found) if c.dtype_of(found).is_complex else found
    return found


def _symmetric(function: str) -> Callable[..., Any]:
    def handler(c: Call, a: Any, UPLO: Any = "L") -> Any:
        x = _real(c, _matrix(c, a, square=True))
        if c.text(UPLO, "UPLO").upper() == "U":
            count = rank(x.type)
            x = c.moved(x, [*range(count - 2), count - 1, count - 2])
        return c.library(f"linear.{function}", x)

    return handler


def _least(c: Call, x: Value) -> Poly:
    n, m = c.shape(x)[-2:]
    return _shorter(c, n, m)


def _qr(c: Call, a: Any, mode: Any = "reduced") -> Value:
    x = _real(c, _matrix(c, a))
    kind = c.text(mode, "mode")
    size = _least(c, x)
    count = c.count(size)
    if kind == "r":
        found: Value = c.library("linear.triangle", x, count)
        return found
    if kind not in ("reduced", "complete"):
        c.refuse(f'mode="{kind}"', 'write mode="reduced", mode="complete" or mode="r"')
    columns = count if kind == "reduced" else c.count(c.shape(x)[-2])
    result: Value = c.library("linear.qr", x, count, columns)
    return result


def _tall(c: Call, x: Value) -> tuple[Value, bool]:
    """The matrix with at least as many rows as columns, and whether it was turned."""
    n, m = c.shape(x)[-2:]
    if c.el.facts.proves(n - m):
        return x, False
    if c.el.facts.proves(m - n):
        count = rank(x.type)
        return c.moved(x, [*range(count - 2), count - 1, count - 2]), True
    c.refuse("a matrix of which it is not known whether it has more rows or columns", f"assert it before: assert {c.el.solver.resolve(n)} >= {c.el.solver.resolve(m)}")


def _turned(c: Call, x: Value) -> Value:
    count = rank(x.type)
    return c.moved(c.el.bind(x), [*range(count - 2), count - 1, count - 2])


def _svd(c: Call, a: Any, full_matrices: Any = True, compute_uv: Any = True) -> Value:
    x, turned = _tall(c, _real(c, _matrix(c, a)))
    if not c.flag(compute_uv, "compute_uv"):
        found: Value = c.library("linear.singular_values", x)
        return found
    n, m = c.shape(x)[-2:]
    if c.flag(full_matrices, "full_matrices") and not c.el.facts.proves_equal(n, m):
        c.refuse("full_matrices=True of a matrix that is not square", "write full_matrices=False: U and Vh as far as there are values")
    u, s, vt = project_all(c.el, c.el.bind(c.library("linear.svd_tall", x)))
    return c.tuple([_turned(c, vt), s, _turned(c, u)] if turned else [u, s, vt])


def _svdvals(c: Call, x: Any) -> Value:
    tall, _ = _tall(c, _real(c, _matrix(c, x)))
    found: Value = c.library("linear.singular_values", tall)
    return found


def _pinv(c: Call, a: Any, rcond: Any = None, rtol: Any = None) -> Value:
    x, turned = _tall(c, _real(c, _matrix(c, a)))
    cutoff = rcond if not c.none(rcond) else rtol if not c.none(rtol) else 1e-15
    found: Value = c.library("linear.pseudo_inverse", x, c.value(cutoff))
    return _turned(c, found) if turned else found


def _epsilon(c: Call, x: Value) -> float:
    import numpy as np

    return float(np.finfo(c.dtype_of(x).numpy).eps)


def _tolerance(c: Call, x: Value, s: Value) -> Value:
    """NumPy's: the greatest value times the larger size times the precision."""
    n, m = c.shape(x)[-2:]
    larger = n if c.el.facts.proves(n - m) else m
    most = c.builtin("max", s, default=c.number(0, s))
    return c.el.bind(binary(c.el, "*", most, binary(c.el, "*", c.count(larger), c.number(_epsilon(c, x), c.dtype_of(s)), c.span), c.span))


def _lstsq(c: Call, a: Any, b: Any, rcond: Any = None) -> Value:
    x, y = together(c, _real(c, _matrix(c, a)), c.floats(c.array(b)))
    if rank(x.type) != 2 or rank(y.type) > 2:
        c.wrong(x, "one matrix")
    tall, turned = _tall(c, x)
    u, s, vt = project_all(c.el, c.el.bind(c.library("linear.svd_tall", tall)))
    n, m = c.shape(tall)
    cutoff = c.value(rcond) if not c.none(rcond) else c.el.bind(binary(c.el, "*", c.count(n), c.number(_epsilon(c, x), c.dtype_of(s)), c.span))
    inverse = c.el.bind(c.library("linear.pseudo_inverse", tall, cutoff))
    inverse = _turned(c, inverse) if turned else inverse
    z = c.el.bind(ALGEBRA["dot"](c, inverse, y))
    most = c.el.bind(c.builtin("max", s, default=c.number(0, s)))
    found = c.el.bind(c.library("linear.rank_of", s, binary(c.el, "*", cutoff, most, c.span)))
    away = c.op("-", ALGEBRA["dot"](c, x, z), y)
    squares = c.op("*", away, away)
    if turned or c.el.facts.proves_equal(n, m):
        residuals = c.filled([poly(0)], c.number(0, s))
    else:
        columns = c.moved(squares, [1, 0]) if rank(y.type) == 2 else c.new_axis(squares, 0)
        residuals = c.builtin("sum", columns)
    _ = (u, vt)
    return c.tuple([z, residuals, found, s])


def _matrix_rank(c: Call, A: Any, tol: Any = None) -> Value:
    x = _real(c, _matrix(c, A))
    tall, _ = _tall(c, x)
    s = c.el.bind(c.library("linear.singular_values", tall))
    if rank(s.type) != 1:
        c.wrong(x, "one matrix")
    found: Value = c.library("linear.rank_of", s, _tolerance(c, x, s) if c.none(tol) else c.value(tol))
    return found


def _cond(c: Call, x: Any, p: Any = None) -> Value:
    order = _order(c, p)
    if order not in (None, 2.0, -2.0):
        value = c.floats(c.array(x))
        axes = [rank(value.type) - 2, rank(value.type) - 1]
        inverse = c.el.bind(_inv(c, value))
        return binary(c.el, "*", _matrix_norm_of(c, value, order, axes, False), _matrix_norm_of(c, inverse, order, axes, False), c.span)
    tall, _ = _tall(c, _real(c, _matrix(c, x)))

    def one(v: Value) -> Value:
        most, least = c.builtin("max", v), c.builtin("min", v)
        return binary(c.el, "/", least, most, c.span) if order == -2.0 else binary(c.el, "/", most, least, c.span)

    s = c.el.bind(c.library("linear.singular_values", tall))
    return lift(c.el, [s], [1], lambda v: one(c.el.bind(v[0])), c.span, c.name)


def _matrix_power(c: Call, a: Any, n: Any) -> Value:
    x = c.array(a)
    power = c.integer(n, "n")
    sizes = c.shape(x)
    if rank(x.type) != 2:
        c.wrong(x, "one matrix")
    if c.dtype_of(x) is BOOL:
        c.wrong(x, "numbers")
    c.same(sizes[0], sizes[1])
    if power < 0:
        x, power = c.el.bind(_square("inverse")(c, x)), -power
    if power == 0:
        return c.convert(CREATE["eye"](c, c.count(sizes[0])), c.dtype_of(x))
    result: Value | None = None
    while power:
        if power & 1:
            result = x if result is None else c.el.bind(matmul(c.el, result, x, c.span))
        power >>= 1
        if power:
            x = c.el.bind(matmul(c.el, x, x, c.span))
    assert result is not None
    return result


def _norm(c: Call, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Value:
    value = c.floats(c.array(x))
    count = rank(value.type)
    order = _order(c, ord)
    whole = c.none(axis)
    if order is None or (whole and count == 1) or (not whole and not _is_pair(c, axis)):
        return c.reduced(value, axis, keepdims, lambda v: _vector_norm(c, v, order))
    axes = list(range(count)) if whole else c.axes(axis, count)
    if len(axes) != 2:
        c.refuse("ord= of more than two axes", "flatten them first: np.linalg.norm(x.ravel(), ord)")
    return _matrix_norm_of(c, value, order, axes, c.flag(keepdims, "keepdims"))


def _is_pair(c: Call, axis: Any) -> bool:
    return c.is_many(axis) and len(c.parts(axis)) == 2


def _order(c: Call, entity: Any) -> float | str | None:
    if c.none(entity):
        return None
    if isinstance(entity, en.TextValue):
        return c.text(entity, "ord")
    value = c.value(entity)
    if isinstance(value.expr, ir.Lit) and isinstance(value.expr.value, (int, float)):
        return float(value.expr.value)
    if isinstance(value.expr, ir.Prim) and value.expr.op == "neg" and isinstance(value.expr.args[0], ir.Lit):
        return -float(value.expr.args[0].value.real)
    c.refuse("an order that is not a literal", "write the order as a number: ord=2")


def _vector_norm(c: Call, v: Value, order: float | str | None) -> Value:
    if order in (None, 2.0, "fro"):
        found: Value = c.library("linear.norm", v)
        return found
    sizes = c.el.bind(c.builtin("abs", v))
    if order == math.inf:
        return c.builtin("max", sizes)
    if order == -math.inf:
        return c.builtin("min", sizes)
    if order == 0:
        return c.builtin("sum", c.convert(c.op("!=", v, 0), c.dtype_of(sizes)))
    if order == 1:
        return c.builtin("sum", sizes)
    if isinstance(order, str):
        c.refuse(f'ord="{order}" of a vector', "leave ord= out, or write a number")
    dtype = c.dtype_of(v)
    result: Value = c.library("linear.norm_of_order", v, c.number(order, dtype.part() if dtype.is_complex else dtype))
    return result


def _matrix_norm_of(c: Call, x: Value, order: float | str | None, axes: list[int], keep: bool) -> Value:
    moved = c.last(x, axes)
    if order == "fro":
        result = lift(c.el, [c.flat(moved, 2)], [1], lambda v: c.library("linear.norm", v[0]), c.span, c.name)
    elif order in (1.0, -1.0, math.inf, -math.inf):
        count = rank(moved.type)
        down = moved if abs(order) == math.inf else c.moved(moved, [*range(count - 2), count - 1, count - 2])
        sums = c.el.bind(c.builtin("sum", c.el.bind(c.builtin("abs", down))))
        result = c.builtin("max" if order > 0 else "min", sums)
    elif order in (2.0, -2.0, "nuc"):
        s = c.el.bind(c.library("linear.singular_values", _tall(c, _real(c, moved))[0]))
        result = c.builtin({2.0: "max", -2.0: "min", "nuc": "sum"}[order], s)
    else:
        c.refuse(f"ord={order!r} of a matrix", 'choose 1, -1, 2, -2, np.inf, -np.inf, "fro" or "nuc"')
    if keep:
        for k in sorted(axes):
            result = c.new_axis(result, k)
    return result


def _vector_norm_word(c: Call, x: Any, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Value:
    value = c.floats(c.array(x))
    order = _order(c, ord)
    return c.reduced(value, axis, keepdims, lambda v: _vector_norm(c, v, order))


def _matrix_norm_word(c: Call, x: Any, *, keepdims: Any = False, ord: Any = "fro") -> Value:
    value = _matrix(c, x)
    count = rank(value.type)
    return _matrix_norm_of(c, value, _order(c, ord) if not isinstance(ord, str) else ord, [count - 2, count - 1], c.flag(keepdims, "keepdims"))


def _slogdet(c: Call, a: Any) -> Value:
    found: Value = c.library("linear.sign_and_log", _matrix(c, a, square=True))
    return found


def _multi_dot(c: Call, arrays: Any) -> Value:
    """A chain of products in the order einsum finds."""
    values = [c.array(part) for part in c.parts(arrays)]
    letters = "abcdefghijklmnopqrstuvwxyz"
    operands, place = [], 0
    for k, value in enumerate(values):
        if rank(value.type) == 2:
            operands.append(Operand(letters[place : place + 2], value))
            place += 1
        elif rank(value.type) == 1 and k in (0, len(values) - 1):
            operands.append(Operand(letters[place], value))
        else:
            c.wrong(value, "matrices, and vectors at the ends only")
    out = ("" if rank(values[0].type) == 1 else letters[0]) + ("" if rank(values[-1].type) == 1 else letters[place])
    return contract(c, operands, out)


def _inv(c: Call, a: Any) -> Value:
    found: Value = c.library("linear.inverse", _matrix(c, a, square=True))
    return found


def _last_axes(word: str) -> Callable[..., Any]:
    def handler(c: Call, x: Any, offset: Any = 0) -> Any:
        return CREATE[word](c, x, offset, -2, -1)

    return handler


WORDS: dict[str, Callable[..., Any]] = {
    "linalg.solve": _solve,
    "linalg.inv": _inv,
    "linalg.det": _square("determinant"),
    "linalg.slogdet": _slogdet,
    "linalg.cholesky": _cholesky,
    "linalg.qr": _qr,
    "linalg.eigh": _symmetric("eigh"),
    "linalg.eigvalsh": _symmetric("eigenvalues"),
    "linalg.svd": _svd,
    "linalg.svdvals": _svdvals,
    "linalg.pinv": _pinv,
    "linalg.lstsq": _lstsq,
    "linalg.matrix_rank": _matrix_rank,
    "linalg.cond": _cond,
    "linalg.matrix_power": _matrix_power,
    "linalg.norm": _norm,
    "linalg.vector_norm": _vector_norm_word,
    "linalg.matrix_norm": _matrix_norm_word,
    "linalg.multi_dot": _multi_dot,
    "linalg.diagonal": _last_axes("diagonal"),
    "linalg.trace": _last_axes("trace"),
    "linalg.matmul": ALGEBRA["matmul"],
    "linalg.outer": ALGEBRA["outer"],
    "linalg.cross": ALGEBRA["cross"],
    "linalg.tensordot": ALGEBRA["tensordot"],
    "linalg.vecdot": ALGEBRA["vecdot"],
}

__all__ = ["WORDS", "project"]
