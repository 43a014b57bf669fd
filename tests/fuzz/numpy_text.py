"""Random functions as NumPy users paste them, against NumPy running the same text.

    python -m tests.fuzz.numpy_text START STOP [--compiled] [--gradients] [--show]

Dotted names and methods mean what NumPy says, so NumPy itself is the oracle (tests/oracle.py makes the arrays values). Words stand inside each other, in loops and branches, over arrays of up to
three axes and several types; masks, index arrays, new axes and slices are read and assigned to. Left out are the rules that docs/for_numpy_users.md names as different: f32 beside integers in
operators, integer division by what may be 0, slices that are cut off, a size of 1 that stretches by itself.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import atoll as at
from tests.oracle import in_python

Shape = tuple[str, ...]
HEAD = """import numpy as np
import atoll as at
from atoll import f64, f32, i64, i32, u8, bool_
n, m = at.sizes("n m")

@at.fn
def f({parameters}):
"""
SIZES = ((3, 4), (4, 3), (1, 2), (2, 1), (5, 5), (1, 1), (0, 3), (3, 0), (17, 9))
FLOAT, INT, BOOL = "F", "I", "B"
LARGE = ((70, 33), (33, 260))  # of compiled code: around the blocks of its loops
AXES3 = ((0, 2, 1), (1, 0, 2), (2, 0, 1), (2, 1, 0))


@dataclass
class Var:
    name: str
    kind: str
    shape: Shape


@dataclass
class Writer:
    """Writes one program. Every expression is asked for by kind (floats, integers, bools) and shape."""

    r: random.Random
    floats: str = "f64"
    ints: str = "i64"
    names: list[Var] = field(default_factory=list)
    fresh: int = 0

    def pick(self, *options: Any) -> Any:
        return self.r.choice(options)

    def chance(self, p: float) -> bool:
        return self.r.random() < p

    # -- expressions

    def known(self, kind: str, shape: Shape) -> list[str]:
        return [v.name for v in self.names if v.kind == kind and v.shape == shape]

    def leaf(self, kind: str, shape: Shape) -> str:
        found = self.known(kind, shape)
        if found and (shape or self.chance(0.7)):
            return self.r.choice(found)
        if not shape:
            return {FLOAT: self.pick("0.5", "2.0", "-1.25", "s"), INT: self.pick("2", "3", "1", "t"), BOOL: self.pick("(s > 0)", "(t > 1)", "True")}[kind]
        inner = ", ".join(shape) + ("," if len(shape) == 1 else "")
        if kind == BOOL:
            return f"({self.leaf(INT, shape)} > 0)"
        word = self.pick("zeros", "ones", "full")
        dtype = f"np.{'float64' if self.floats == 'f64' else 'float32'}" if kind == FLOAT else f"np.{'int64' if self.ints == 'i64' else 'int32' if self.ints == 'i32' else 'uint8'}"
        return f"np.full(({inner}), {self.pick('2', '1')}, dtype={dtype})" if word == "full" else f"np.{word}(({inner}), dtype={dtype})"

    def expr(self, kind: str, shape: Shape, depth: int) -> str:
        if depth <= 0 or self.chance(0.1):
            return self.leaf(kind, shape)
        options = [self.elementwise, self.elementwise]
        options += {0: [self.number], 1: [self.vector, self.vector], 2: [self.matrix, self.matrix], 3: [self.cube, self.cube]}[len(shape)]
        return self.r.choice(options)(kind, shape, depth - 1)

    def elementwise(self, kind: str, shape: Shape, depth: int) -> str:
        a = lambda k=kind: self.expr(k, shape, depth)
        b = lambda k=kind: self.other(k, shape, depth)
        if kind == BOOL:
            k = self.pick(FLOAT, INT)
            return self.pick(
                f"({a(k)} {self.pick('<', '>', '<=', '>=', '==', '!=')} {b(k)})",
                f"({a()} {self.pick('&', '|', '^')} {b()})",
                f"(~{a()})" if shape else f"(not {a()})",
                f"np.logical_{self.pick('and', 'or', 'xor')}({a()}, {b()})",
                f"np.isnan({a(FLOAT)})",
                f"np.isclose({a(FLOAT)}, {b(FLOAT)})",
            )
        if kind == INT:
            return self.pick(
                f"({a()} {self.pick('+', '-', '*', '&', '|')} {b()})",
                f"({a()} {self.pick('//', '%')} {self.pick('2', '3', '7')})",
                f"np.{self.pick('minimum', 'maximum')}({a()}, {b()})",
                f"np.where({a(BOOL)}, {a()}, {b()})",
                f"np.clip({a()}, 0, 5)",
                f"np.abs({a()})",
            )
        return self.pick(
            f"({a()} {self.pick('+', '-', '*')} {b()})",
            f"({a()} / {self.pick('2.0', '4.0', '3.0')})",
            f"np.{self.pick('minimum', 'maximum', 'fmax', 'hypot', 'add', 'subtract', 'copysign')}({a()}, {b()})",
            f"np.where({a(BOOL)}, {a()}, {b()})",
            f"np.clip({a()}, {self.pick('-1.0', '0.0')}, {self.pick('1.5', '3.0')})",
            f"np.{self.pick('abs', 'floor', 'ceil', 'rint', 'square', 'tanh', 'sign', 'negative', 'sin', 'trunc')}({a()})",
            f"np.sqrt(np.abs({a()}))",
            f"np.round({a()}, 1)" if shape else a(),
            f"(-{a()})",
            f"({a()} * {self.expr(INT, shape, depth - 1)})" if self.floats == "f64" else a(),
        )

    def other(self, kind: str, shape: Shape, depth: int) -> str:
        """The second of two: the same shape, a number, or what NumPy stretches."""
        c = self.r.random()
        if not shape or c < 0.5:
            return self.expr(kind, shape, depth - 1)
        if c < 0.7:
            return self.expr(kind, (), depth - 1)
        if len(shape) == 1:
            return self.expr(kind, shape, depth - 1)
        if c < 0.85:
            return self.expr(kind, shape[1:], depth - 1)
        made = self.expr(kind, (*shape[:-1],), depth - 1)
        return f"{self.bracketed(made)}[{', '.join(':' for _ in shape[:-1])}, None]"

    @staticmethod
    def bracketed(text: str) -> str:
        return text if text.isidentifier() or text.endswith((")", "]")) else f"({text})"

    def any_shape(self, rank: int | None = None) -> Shape:
        rank = self.pick(1, 1, 2, 2, 3) if rank is None else rank
        return tuple(self.pick("n", "m") for _ in range(rank)) if rank < 3 else self.pick(("n", "m", "2"), ("n", "m", "3"), ("n", "m", "3"), ("n", "n", "m"), ("m", "n", "n"), ("n", "n", "n"))

    def number(self, kind: str, shape: Shape, depth: int) -> str:
        s = self.any_shape()
        if kind == BOOL:
            return self.pick(f"np.{self.pick('any', 'all')}({self.expr(BOOL, s, depth)})", f"{self.bracketed(self.expr(BOOL, s, depth))}.{self.pick('any', 'all')}()", f"np.array_equal({self.expr(INT, s, depth)}, {self.expr(INT, s, depth)})")
        if kind == INT:
            return self.pick(
                f"np.count_nonzero({self.expr(BOOL, s, depth)})",
                f"np.sum({self.expr(self.pick(INT, BOOL), s, depth)})",
                f"np.argmax({self.expr(INT, s, depth)})",
                f"{self.bracketed(self.expr(INT, s, depth))}.{self.pick('sum', 'max', 'min', 'argmin')}()",
                *self.lengths(s, depth),
                f"{self.bracketed(self.expr(INT, s[:1], depth))}[-1]",
            )
        v = self.expr(FLOAT, s, depth)
        if self.chance(0.25):
            return self.of_some(s, depth)
        return self.pick(
            f"np.{self.pick('sum', 'mean', 'max', 'min', 'std', 'var', 'median', 'ptp', 'prod', 'nansum', 'nanmax')}({v})",
            f"{self.bracketed(v)}.{self.pick('sum', 'mean', 'max', 'min', 'std')}()",
            f"np.dot({self.expr(FLOAT, ('n',), depth)}, {self.expr(FLOAT, ('n',), depth)})",
            f"np.linalg.norm({self.expr(FLOAT, ('n',), depth)})",
            f"np.trapezoid({self.expr(FLOAT, ('n',), depth)})",
            f"{self.bracketed(self.expr(FLOAT, ('n', 'm'), depth))}[{self.pick('0', '-1')}, {self.pick('0', '-1')}]",
            f"{self.bracketed(self.expr(FLOAT, s[:1], depth))}[{self.pick('0', '-1')}]",
            f"np.percentile({self.expr(FLOAT, s, depth)}, {self.pick('25', '50', '90')})",
            f"np.vdot({self.expr(FLOAT, ('m',), depth)}, {self.expr(FLOAT, ('m',), depth)})",
            f"np.inner({self.expr(FLOAT, ('m',), depth)}, {self.expr(FLOAT, ('m',), depth)})",
        )

    def of_some(self, s: Shape, depth: int) -> str:
        """A number made of as many elements as data decide."""
        v, b = self.bracketed(self.expr(FLOAT, s, depth)), self.expr(BOOL, s, depth - 1)
        return self.pick(
            f"{v}[{b}].sum()",
            f"np.sum(np.cumsum({v}[{b}]))",
            f"np.sum({v}, where={b})",
            f"np.max({v}, initial=-3.0, where={b})",
            f"np.sum(np.sort({v}[{b}])[::2])",
            f"np.sum(np.compress({self.expr(BOOL, s[:1], depth - 1)}, {v}, axis=0))",
            f"np.sum(np.extract({b}, {v}) * 0.5)",
            f"np.dot({v}[{b}], {v}[{b}])",
            f"np.sum(np.unique({v}))",
            f"np.sum({v}[np.nonzero({b})])",
            f"np.sum(np.where({b})[0] * 0.5)" if self.floats == "f64" else f"np.sum({v})",
            f"np.sum(np.delete({self.expr(FLOAT, ('n',), depth)}, 0))",
            f"np.sum(np.pad({v}, 1, mode='{self.pick('edge', 'constant', 'wrap', 'reflect')}'))",
            f"np.sum(np.concatenate([{self.expr(FLOAT, s, depth - 1)}, {self.expr(FLOAT, s, depth - 1)}], axis=0)[1::2])",
            f"np.sum(np.stack([{self.expr(FLOAT, s, depth - 1)}, {self.expr(FLOAT, s, depth - 1)}], axis={self.pick(0, 1, -1)}).max(axis={self.pick(0, 1, -1)}))",
            f"np.sum(np.bincount(p, weights={self.expr('F', ('n',), depth)}) * 0.5)" if self.floats == "f64" else f"np.sum({v})",
            f"np.sum(np.diff({self.expr(FLOAT, ('n',), depth)}) ** 2)",
            f"np.sum(np.split(np.concatenate([{self.expr(FLOAT, ('m',), depth)}, {self.expr(FLOAT, ('m',), depth - 1)}]), 2)[1])",
        )

    def lengths(self, s: Shape, depth: int) -> list[str]:
        """Numbers that are i64; in NumPy they take the type of what they meet."""
        array = self.bracketed(self.expr(FLOAT, s, depth))
        return [f"len({array})", f"{array}.shape[0]", f"{array}.{self.pick('size', 'ndim')}"] if self.ints == "i64" else []

    def reduced(self, kind: str, shape: Shape, depth: int) -> str:
        """Something of one axis more, reduced along it."""
        axis = self.r.randrange(len(shape) + 1)
        more = (*shape[:axis], self.pick("n", "m") if len(shape) < 2 else "2", *shape[axis:])
        axis_ = axis if self.chance(0.7) else axis - len(more)
        if kind == BOOL:
            return f"np.{self.pick('any', 'all')}({self.expr(BOOL, more, depth)}, axis={axis_})"
        if kind == INT:
            return self.pick(f"np.{self.pick('argmax', 'argmin', 'max', 'min')}({self.expr(INT, more, depth)}, axis={axis_})", f"np.sum({self.expr(self.pick(INT, BOOL), more, depth)}, axis={axis_})", f"{self.bracketed(self.expr(INT, more, depth))}.sum(axis={axis_})")
        word = self.pick("sum", "mean", "max", "min", "std", "median", "prod", "var", "ptp", "average", "nanmean")
        if word in ("sum", "mean", "max", "min", "std") and self.chance(0.4):
            return f"{self.bracketed(self.expr(FLOAT, more, depth))}.{word}(axis={axis_})"
        return f"np.{word}({self.expr(FLOAT, more, depth)}, axis={axis_})"

    def vector(self, kind: str, shape: Shape, depth: int) -> str:
        (d,) = shape
        v = lambda: self.bracketed(self.expr(kind, shape, depth))
        other = self.pick("n", "m")
        p = "p" if d == "n" else "q"
        options = [
            f"{v()}[::-1]",
            f"np.roll({v()}, {self.pick('1', '-1', '2', 't')})",
            f"{v()}[{p}]",
            f"np.take({v()}, {p})",
            f"np.flip({v()})",
            f"{self.bracketed(self.expr(kind, (other, d), depth))}[{self.pick('0', '-1')}]",
            f"{self.bracketed(self.expr(kind, (d, other), depth))}[:, {self.pick('0', '-1')}]",
            f"{self.bracketed(self.expr(kind, (d, other), depth))}[..., -1]",
            f"np.concatenate([{v()}[1:], {v()}[:1]])",
            f"np.append({v()}[1:], {v()}[0])",
            self.reduced(kind, shape, depth),
            self.reduced(kind, shape, depth),
        ]
        if kind != BOOL:
            options += [f"np.cumsum({v()})", f"np.sort({v()})", f"np.maximum.accumulate({v()})", f"{v()}.copy()", f"np.diff({v()}, prepend=0)", f"np.{self.pick('add', 'maximum')}.reduce({self.expr(kind, (other, d), depth)})", f"{v()}.cumsum()"]
        b = self.expr(BOOL, shape, depth - 1)
        options += [
            f"np.where({b}, {v()}, {v()})",
            f"np.select([{b}, {self.expr(BOOL, shape, depth - 1)}], [{v()}, {v()}], {self.expr(kind, (), depth - 1)})",
            f"np.array([{self.expr(kind, (), depth - 1)} for _ in range({d})])" if kind == FLOAT and self.floats == "f64" else v(),
            f"np.repeat({v()}, 2)[::2]",
            f"np.stack([{v()}, {v()}]).T[:, {self.pick('0', '1')}]",
            f"np.vstack([{v()}, {v()}])[{self.pick('0', '-1')}]",
            f"{self.bracketed(self.expr(kind, (d, d), depth))}.diagonal()" if self.chance(0.5) else f"np.diag({self.expr(kind, (d, d), depth)})",
            f"np.concatenate([{v()}, {v()}])[{d}:]",
            f"np.take_along_axis({v()}, np.argsort({self.expr(INT, shape, depth)}, kind='stable'), axis=0)",
        ]
        if kind == INT:
            options += [f"np.argsort({self.expr(INT, shape, depth)}, kind='stable')", f"np.searchsorted(np.sort({self.expr(FLOAT, (other,), depth)}), {self.expr(FLOAT, shape, depth)})", f"np.arange({d})", f"{v()}.astype(np.int64)"]
        if kind == FLOAT:
            options += [
                f"({self.bracketed(self.expr(FLOAT, (d, other), depth))} @ {self.bracketed(self.expr(FLOAT, (other,), depth))})",
                f"np.dot({self.expr(FLOAT, (other,), depth)}, {self.expr(FLOAT, (other, d), depth)})",
                f"np.convolve({v()}, [0.25, 0.5, 0.25], mode='same')" if self.chance(0.2) else f"np.linalg.norm({self.expr(FLOAT, (d, other), depth)}, axis=1)",
                f"np.einsum('ij,ij->i', {self.expr(FLOAT, (d, other), depth)}, {self.expr(FLOAT, (d, other), depth)})",
                f"np.interp({v()}, np.arange(5) * 0.5, np.arange(5) * 1.0)" if self.floats == "f64" else v(),
            ]
        return self.r.choice(options)

    def matrix(self, kind: str, shape: Shape, depth: int) -> str:
        c, d = shape
        v = lambda: self.bracketed(self.expr(kind, shape, depth))
        rows = "p" if c == "n" else "q"
        columns = "p" if d == "n" else "q"
        options = [
            f"{self.bracketed(self.expr(kind, (d, c), depth))}.T",
            f"np.transpose({self.expr(kind, (d, c), depth)})",
            f"{v()}[::-1]",
            f"{v()}[:, ::-1]",
            f"np.flip({v()}, axis={self.pick(0, 1)})",
            f"np.roll({v()}, {self.pick('1', '-1')}, axis={self.pick(0, 1)})",
            f"np.where({self.expr(BOOL, shape, depth)}, {self.expr(kind, (d,), depth)}, {v()})",
            f"np.broadcast_to({self.expr(kind, (d,), depth)}, ({c}, {d}))",
            f"np.tile({self.expr(kind, (d,), depth)}, ({c}, 1))",
            f"np.swapaxes({self.expr(kind, (d, c), depth)}, 0, 1)",
            f"{v()}.reshape({c}, {d})",
            f"{v()}.ravel().reshape({c}, {d})",
            f"{v()}.reshape(-1, {d})" if d in "23" else v(),
        ]
        if rows in ("p", "q") and c in ("n", "m"):
            options += [f"{v()}[{rows}]", f"np.take({v()}, {rows}, axis=0)"]
        if d in ("n", "m"):
            options += [f"{v()}[:, {columns}]"]
        if c in ("n", "m") and d in ("n", "m"):
            options += [self.reduced(kind, shape, depth)]
        if kind != BOOL:
            axis = self.pick(0, 1, -1)
            options += [
                f"({self.bracketed(self.expr(kind, (c,), depth))}[:, None] {self.pick('+', '-', '*')} {self.bracketed(self.expr(kind, (d,), depth))}[None, :])",
                f"np.outer({self.expr(kind, (c,), depth)}, {self.expr(kind, (d,), depth)})",
                f"np.cumsum({v()}, axis={axis})",
                f"np.sort({v()}, axis={axis})",
                f"({v()} - {v()}.{self.pick('max', 'min', 'sum')}(axis={axis}, keepdims=True))",
                f"np.maximum.accumulate({v()}, axis={axis})",
                f"np.triu({v()})",
                f"np.tril({v()}, {self.pick('0', '1', '-1')})",
                f"np.add.outer({self.expr(kind, (c,), depth)}, {self.expr(kind, (d,), depth)})",
                f"np.take_along_axis({v()}, np.argsort({self.expr(INT, shape, depth)}, axis=0, kind='stable'), axis=0)",
            ]
        if kind == FLOAT:
            k = self.pick("n", "m")
            options += [
                f"({self.bracketed(self.expr(FLOAT, (c, k), depth))} @ {self.bracketed(self.expr(FLOAT, (k, d), depth))})",
                f"np.einsum('ik,jk->ij', {self.expr(FLOAT, (c, k), depth)}, {self.expr(FLOAT, (d, k), depth)})",
                f"({v()} - np.mean({v()}, axis={self.pick(0, 1)}, keepdims=True))",
                f"np.dot({self.expr(FLOAT, (c, k), depth)}, {self.expr(FLOAT, (k, d), depth)})",
            ]
        return self.r.choice(options)

    def cube(self, kind: str, shape: Shape, depth: int) -> str:
        b, c, d = shape
        v = lambda: self.bracketed(self.expr(kind, shape, depth))
        order = self.r.choice(AXES3)
        back = [""] * 3
        for axis, place in enumerate(order):
            back[place] = shape[axis]
        turned = self.bracketed(self.expr(kind, (back[0], back[1], back[2]), depth))
        options = [
            f"{v()}[:, ::-1]",
            f"{v()}[..., ::-1]",
            f"np.where({self.expr(BOOL, shape, depth)}, {v()}, {v()})",
            f"np.roll({v()}, 1, axis={self.pick(0, 1, 2)})",
            f"np.flip({v()}, axis={self.pick(0, 1, 2, (0, 2))})",
            f"np.transpose({turned}, {order})",
            f"np.swapaxes({self.bracketed(self.expr(kind, (c, b, d), depth))}, 0, 1)",
            f"np.moveaxis({self.bracketed(self.expr(kind, (d, b, c), depth))}, 0, {self.pick('2', '-1')})",
        ]
        if kind != BOOL:
            axis = self.pick(0, 1, 2, -1)
            options += [
                f"np.cumsum({v()}, axis={axis})",
                f"np.sort({v()}, axis={axis})",
                f"({v()} - {v()}.max(axis={axis}, keepdims=True))",
                f"({self.bracketed(self.expr(kind, (b,), depth))}[:, None, None] * {self.bracketed(self.expr(kind, (c, d), depth))})",
                f"np.einsum('ij,k->ijk', {self.expr(kind, (b, c), depth)}, {self.expr(kind, (d,), depth)})",
            ]
        if {b, c} <= {"n", "m"} and d in ("2", "3"):
            inner = self.bracketed(self.expr(kind, (b, c), depth))
            options += [f"np.repeat({inner}[:, :, None], {d}, axis=2)", f"np.stack([{', '.join(self.expr(kind, (b, c), depth - 1) for _ in range(int(d)))}], axis=2)"]
            if kind != BOOL:
                options += [f"({inner}[:, :, None] * {self.literal(kind, int(d))})", f"({inner}[..., None] + {self.literal(kind, int(d))})"]
        return self.r.choice(options)

    def literal(self, kind: str, count: int) -> str:
        return f"np.array([{', '.join(self.pick('1', '2', '-1', '3') + ('.5' if kind == FLOAT else '') for _ in range(count))}]" + (f", dtype=np.{'float64' if self.floats == 'f64' else 'float32'})" if kind == FLOAT else ")")

    # -- statements

    def block(self, depth: int, level: int, count: int) -> list[str]:
        before = list(self.names)
        lines = [line for _ in range(count) for line in self.statement(depth, level)]
        if level > 1:
            self.names = before
        return lines or ["    " * level + "pass"]

    def statement(self, depth: int, level: int) -> list[str]:
        pad = "    " * level
        c = self.r.random()
        if depth > 0 and c < 0.22:
            return self.compound(depth, level)
        changing = [v for v in self.names if v.shape and v.name not in "pq" and v.kind != BOOL]
        if changing and c < 0.62:
            return [pad + self.update(self.r.choice(changing))]
        kind, shape = self.pick(FLOAT, FLOAT, INT, BOOL), self.pick((), self.any_shape(1), self.any_shape(2), self.any_shape())
        old = [v for v in self.names if v.kind == kind and v.shape == shape and v.name not in ("p", "q", "s", "t") and not v.name.startswith("i_")]
        if level > 1 or (old and self.chance(0.4)):
            if not old:
                return [pad + self.update(self.r.choice(changing))] if changing else [pad + "pass"]
            return [f"{pad}{self.r.choice(old).name} = {self.expr(kind, shape, 2)}"]
        self.fresh += 1
        made = Var(f"v{self.fresh}", kind, shape)
        line = f"{pad}{made.name} = {self.expr(kind, shape, 3)}"
        self.names.append(made)
        return [line]

    def update(self, v: Var) -> str:
        e = lambda shape: self.expr(v.kind, shape, 2)
        op = self.pick("=", "+=", "-=") if v.kind == INT else self.pick("=", "+=", "-=", "*=")
        d = v.shape[0]
        p = {"n": "p", "m": "q"}.get(d, "")
        rest = v.shape[1:]
        rounds = [w.name for w in self.names if w.name.startswith(f"i_{d}")]
        options = [
            f"{v.name} {op} {e(v.shape)}",
            f"{v.name}[{self.expr(BOOL, v.shape, 1)}] {op} {e(())}",
            f"{v.name}[{self.expr(BOOL, (d,), 1)}] {op} {e(rest if self.chance(0.5) else ())}",
            f"{v.name}[1:] {op} {v.name}[:-1]",
            f"{v.name}[::-1] {op} {e(v.shape)}",
            f"{v.name}[{self.pick('0', '-1')}] {op} {e(rest)}",
            f"{v.name}[::2] {op} {e(())}",
            f"{v.name}[...] = {e(v.shape)}",
            f"{v.name}[{self.expr(BOOL, v.shape[:2], 1)}] {op} {e(())}",
        ]
        if p:
            options += [f"np.put({v.name}, {p}, {e((d,))})"] if len(v.shape) == 1 else [f"{v.name}[{p}, 0] {op} {e((d, *rest[1:]))}", f"{v.name}[:, 0][{p}] = {e((d, *rest[1:]))}"]
            options += [f"{v.name}[{p}[::-1]] = {e(v.shape)}", f"np.copyto({v.name}, {e(v.shape)})", f"np.putmask({v.name}, {self.expr(BOOL, v.shape, 1)}, {e(())})", f"{v.name}[{self.expr(BOOL, v.shape, 1)}] *= 2"]
            options += [f"{v.name}[{p}] {op} {e(v.shape)}", f"{v.name}[{p}] {op} {e(())}", f"np.add.at({v.name}, {p}, {e(v.shape)})"]
        if rest:
            options += [f"{v.name}[:, {self.pick('0', '-1')}] {op} {e((d, *rest[1:]))}", f"{v.name}[:, 1:] {op} {v.name}[:, :-1]", f"{v.name}[0, :] {op} {e(rest)}"]
            if len(rest) == 1 and p and rest[0] == d:
                options += [f"{v.name}[{p}, {p}] {op} {e((d,))}", f"np.fill_diagonal({v.name}, {e(())})"]
        if rounds:
            i = self.r.choice(rounds)
            options += [f"{v.name}[{i}] {op} {e(rest)}"] * 4
            if rest:
                options += [f"{v.name}[{i}, {self.pick('0', '-1', ':', '::-1')}] {op} {e(())}"] * 2
        if v.shape == (d,) and self.chance(0.2):
            options += [f"{v.name}.sort()"]
        return self.r.choice(options)

    def compound(self, depth: int, level: int) -> list[str]:
        pad = "    " * level
        kind = self.r.randrange(6)
        count = self.r.randrange(1, 4)
        if kind == 0:
            lines = [f"{pad}if {self.expr(BOOL, (), 2)}:", *self.block(depth - 1, level + 1, count)]
            return [*lines, f"{pad}else:", *self.block(depth - 1, level + 1, count)] if self.chance(0.6) else lines
        self.fresh += 1
        d = self.pick("n", "m")
        if kind == 2:
            name = f"w{self.fresh}"
            leaves = [f"{pad}    if {self.expr(BOOL, (), 1)}:", f"{pad}        {self.pick('break', 'continue')}"] if self.chance(0.3) else []
            if self.chance(0.3):
                return [f"{pad}{name} = 0", f"{pad}while ({name} := {name} + {self.pick('1', '2')}) < {self.pick('3', d)}:", *leaves, *self.block(depth - 1, level + 1, count)]
            return [f"{pad}{name} = 0", f"{pad}while {name} < {self.pick('2', '3', d)}:", f"{pad}    {name} += 1", *leaves, *self.block(depth - 1, level + 1, count)]
        matrices = [v for v in self.names if len(v.shape) > 1 and v.kind != BOOL]
        if kind == 1 and matrices:
            over, name, before = self.r.choice(matrices), f"r{self.fresh}", list(self.names)
            self.names.append(Var(name, over.kind, over.shape[1:]))
            body = self.block(depth - 1, level + 1, count)
            self.names = before
            return [f"{pad}for {name} in {over.name}:", *body]
        name = f"i_{d}{self.fresh}"
        over = self.pick(d, d, f"1, {d}", f"{d} - 1, -1, -1", f"0, {d}, 2")
        before = list(self.names)
        self.names.append(Var(name, INT, ()))
        body = self.block(depth - 1, level + 1, count)
        self.names = before
        return [f"{pad}for {name} in range({over}):", *body]

    def program(self, one_number: bool = False) -> str:
        """`one_number`: the result is a float that depends on every array of floats, for derivatives."""
        self.floats = "f64" if one_number else self.pick("f64", "f64", "f64", "f32")
        self.ints = self.pick("i64", "i64", "i64", "i32")
        F, I = self.floats, self.ints
        self.names = [
            Var("x", FLOAT, ("n",)), Var("y", FLOAT, ("m",)), Var("a", FLOAT, ("n", "m")), Var("b", BOOL, ("n",)), Var("i", INT, ("n",)), Var("g", INT, ("n", "m")), Var("d", FLOAT, ("n", "m", "3")),
            Var("s", FLOAT, ()), Var("t", INT, ()),
        ]  # fmt: skip
        parameters = f"x: {F}[n], y: {F}[m], a: {F}[n, m], b: bool_[n], i: {I}[n], g: {I}[n, m], d: {F}[n, m, 3], p: i64[n], q: i64[m], s: {F}, t: {I}"
        body = self.block(2, 1, self.r.randrange(2, 7))
        if one_number:
            terms = [f"np.sum({v.name} * {self.pick('0.5', '1.5', '-0.75', 'np.cos(' + v.name + ')')})" for v in self.names if v.kind == FLOAT]
            return HEAD.format(parameters=parameters) + "\n".join(body) + f"\n    return {' + '.join(terms)}\n"
        results = [v.name for v in self.names if v.name not in ("s", "t")]
        chosen = results[-4:] if len(results) > 9 else self.r.sample(results, 3)
        return HEAD.format(parameters=parameters) + "\n".join(body) + f"\n    return {', '.join(dict.fromkeys(chosen))}\n"


def program(seed: int) -> str:
    return Writer(random.Random(seed)).program()


def arguments(seed: int, size: tuple[int, int], text: str) -> list[Any]:
    n, m = size
    g = np.random.default_rng((seed, n, m))
    F = np.float32 if "x: f32" in text else np.float64
    I = np.int32 if "i: i32" in text else np.int64
    quarters = lambda *shape: (g.integers(-12, 13, shape) / 4).astype(F)
    return [
        quarters(n), quarters(m), quarters(n, m), g.random(n) < 0.5, g.integers(-5, 6, n).astype(I), g.integers(-5, 6, (n, m)).astype(I), quarters(n, m, 3),
        g.integers(0, max(n, 1), n), g.integers(0, max(m, 1), m), F(g.integers(-6, 7) / 4), I(g.integers(0, 4)),
    ]  # fmt: skip


# -- the comparison


def _flat(value: Any) -> list[Any]:
    return [y for x in value for y in _flat(x)] if isinstance(value, tuple) else [value]


def _differ(found: Any, expected: Any) -> str:
    x, y = np.asarray(found), np.asarray(expected)
    if x.shape != y.shape:
        return f"shape {x.shape}, NumPy's {y.shape}"
    if x.dtype != y.dtype:
        return f"dtype {x.dtype}, NumPy's {y.dtype}"
    tolerance = 1e-9 if x.dtype == np.float64 else 2e-4
    same = np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True) if x.dtype.kind == "f" else np.array_equal(x, y)
    return "" if same else f"{x}\nNumPy's {y}"


@dataclass
class Outcome:
    kind: str  # right, refused, lenient (NumPy raises), wrong, stopped (only here)
    detail: str = ""

    @property
    def failed(self) -> bool:
        return self.kind in ("wrong", "stopped")


def check(seed: int, compiled: bool, text: str = "") -> Outcome:
    text = text or program(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f = at.fn(source=text)
            f.type  # noqa: B018
        except at.Error as error:
            return Outcome("refused", str(error))
        return _beside(seed, f, text, compiled)


def _beside(seed: int, f: Any, text: str, compiled: bool) -> Outcome:
    oracle = in_python(text, "f", n=0, m=0)
    raised = ""
    for size in (*SIZES, *LARGE) if compiled else SIZES:
        differ = 0
        for again in range(3):  # two sums in another order may fall on two sides of a test: not with other numbers too
            args = arguments(seed + 1000 * again, size, text)
            oracle.__globals__["n"], oracle.__globals__["m"] = size
            try:
                with np.errstate(all="ignore"):
                    expected = _flat(oracle(*args))
            except Exception as error:  # noqa: BLE001  whatever NumPy raises
                expected = error
            try:
                found = _flat((f if compiled else f.interpret)(*args))
            except at.Error as error:
                if not isinstance(expected, Exception) and min(size):  # without elements the first one and x[:-1] are errors here
                    raised = raised or f"{size}: {error}"
                break
            if isinstance(expected, Exception):
                raised = raised or f"{size}: NumPy raises {expected}"
                break
            told = next((t for x, y in zip(found, expected, strict=True) if (t := _differ(x, y))), "")
            if not told:
                break
            differ += 1
            if "dtype" in told or "shape" in told or differ == 3:
                return Outcome("wrong", f"seed {seed}, sizes {size}: {told}\n{text}")
    return Outcome("lenient" if "NumPy raises" in raised else "stopped" if raised else "right", f"{raised}\n{text}" if raised else "")


WRT = {"x": 0, "y": 1, "a": 2, "d": 6, "s": 9}  # the arguments that are floats
AT = ((3, 4), (2, 2), (1, 3))


def check_gradient(seed: int, compiled: bool) -> Outcome:
    """The gradient of a program along a direction, against differences of what NumPy computes; two steps tell whether the function is smooth there."""
    text = Writer(random.Random(seed)).program(one_number=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            g = at.grad(at.fn(source=text), wrt=tuple(WRT))
            g.type  # noqa: B018
        except at.Error as error:
            return Outcome("refused", str(error))
        oracle = in_python(text, "f", n=0, m=0)
        smooth = 0
        for size in AT:
            differ = []
            for again in range(3):
                args = arguments(seed + 1000 * again, size, text)
                rng = np.random.default_rng(seed + again)
                args = [x + 0.01 * rng.standard_normal(np.shape(x)) if k in WRT.values() else x for k, x in enumerate(args)]  # off the corners that quarters lie on
                oracle.__globals__["n"], oracle.__globals__["m"] = size
                way = {k: rng.standard_normal(np.shape(args[k])) for k in WRT.values()}
                slopes = [_slope(oracle, args, way, h) for h in (1e-5, 2e-6)]
                if None in slopes or not np.isclose(*slopes, rtol=1e-4, atol=1e-6):
                    continue
                try:
                    found = (g if compiled else g.interpret)(*args)
                except at.Error as error:
                    return Outcome("stopped", f"seed {seed}, sizes {size}: {error}\n{text}")
                if not all(np.isfinite(part).all() for part in found):
                    continue  # sqrt at 0 in a term that does not count
                slope = sum(float(np.sum(part * way[k])) for part, k in zip(found, WRT.values(), strict=True))
                smooth += 1
                if np.isclose(slope, slopes[1], rtol=1e-3, atol=1e-5):
                    break
                differ.append(f"seed {seed}, sizes {size}: {slope}, differences give {slopes}\n{text}")
            if len(differ) > 1:
                return Outcome("wrong", differ[0])
    return Outcome("right" if smooth else "nowhere smooth")


def _slope(oracle: Any, args: list[Any], way: dict[int, Any], h: float) -> float | None:
    try:
        with np.errstate(all="ignore"):
            up, down = (oracle(*(x + sign * h * way[k] if k in way else x for k, x in enumerate(args))) for sign in (1, -1))
    except Exception:  # noqa: BLE001  whatever NumPy raises
        return None
    found = float((up - down) / (2 * h))
    return found if np.isfinite(found) else None


def main() -> int:
    start, stop = int(sys.argv[1]), int(sys.argv[2])
    counted: Counter[str] = Counter()
    for seed in range(start, stop):
        found = (check_gradient if "--gradients" in sys.argv else check)(seed, "--compiled" in sys.argv)
        counted[found.kind if found.kind != "refused" else f"refused {found.detail[:5]}"] += 1
        if found.failed or ("--show" in sys.argv and found.kind != "right"):
            print(f"== {seed} {found.kind}\n{found.detail}\n", flush=True)
    print(dict(counted.most_common()))
    return 1 if any(Outcome(kind).failed for kind in counted if not kind.startswith("refused")) else 0


if __name__ == "__main__":
    sys.exit(main())
