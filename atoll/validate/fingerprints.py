"""What loops compute at concrete sizes, as expressions: the checked executor over pairs (value, fingerprint).

A fingerprint is the hash of the expression that made a float, down to elements of the inputs; integers and truths are exact and are their own
fingerprints; control follows the values. Equal fingerprints mean the same expression over the same inputs: every instance was done once, on the same
operands, in an order that keeps every dependence, wherever it was stored meanwhile.

    strict     + and * are free symbols: not one bit changes
    regrouped  + and * are those of a prime field: sums and products in another order are the same
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from atoll.ainf.evaluate import raise_site
from atoll.core.interpret import cast
from atoll.core.prims import MONOIDS
from atoll.errors import Error
from atoll.loops import ir as lp
from atoll.loops.execute import Executor, Memory, Stuck
from atoll.sizes import Sym
from atoll.types.dtypes import DType
from atoll.types.types import Scalar

PRIME = (1 << 61) - 1
MOST_STEPS = 60_000


class Marked:
    """A float and where it comes from."""

    __slots__ = ("value", "mark")

    def __init__(self, value: Any, mark: int) -> None:
        self.value, self.mark = value, mark


class TooLong(Exception):
    """More steps than anybody waits for: nothing is said about this size."""


def inexact(dtype: DType) -> bool:
    return dtype.is_float or dtype.is_complex


def _plain(x: Any) -> Any:
    return x.value if isinstance(x, Marked) else x


def literal(value: Any, dtype: DType) -> Marked:
    """0 and 1 have the marks that make them neutral."""
    exact = dtype.numpy.type(value)
    return Marked(exact, 0 if exact == 0 else 1 if exact == 1 else hash(("literal", complex(exact))) % PRIME)


class Fingerprints(Executor):
    """Runs loops; `seen` collects the statements that ran, as identities."""

    def __init__(self, fn: lp.Function, inputs: list[Any], sizes: dict[Sym, int], piece: int, backwards: bool, regrouped: bool, seen: set[int] | None = None) -> None:
        super().__init__(fn, inputs, sizes, piece, backwards)
        self.regrouped, self.steps, self.seen = regrouped, 0, seen
        self.printed: list[Any] = []
        for c in fn.consts:
            if inexact(c.dtype):
                cells = np.empty(c.value.shape, object)
                for at in np.ndindex(c.value.shape):
                    cells[at] = literal(c.value[at], c.dtype)
                self.memory[c] = Memory(c.value.shape, object, cells)

    def _alloc(self, b: lp.Buffer) -> None:
        self.memory[b] = Memory(tuple(max(0, self.poly(p)) for p in b.extents), object, rows=b.rows)

    def stmts(self, stmts: lp.Stmts) -> None:
        self.steps += len(stmts)
        if self.steps > MOST_STEPS:
            raise TooLong
        if self.seen is not None:
            self.seen.update(map(id, stmts))
        super().stmts(stmts)

    def stmt(self, stmt: lp.Stmt) -> None:
        if isinstance(stmt, lp.Check):
            if not self.tests(stmt.tests):
                raise_site(stmt.site, [_plain(self.expr(a)) for a in stmt.args])
        elif isinstance(stmt, lp.Print):
            self.printed.append(len(stmt.parts))  # that it prints, and when; what it prints is read from places that results are compared by
        else:
            super().stmt(stmt)

    def expr(self, e: lp.Expr) -> Any:
        match e:
            case lp.Const(value, dtype) if inexact(dtype):
                return literal(value, dtype)
            case lp.Cast(arg, dtype):
                return self._cast(self.expr(arg), dtype)
        return super().expr(e)

    def _cast(self, given: Any, dtype: DType) -> Any:
        try:
            value = cast(_plain(given), Scalar(dtype))
        except Error:
            value = dtype.numpy.type(0)
        if not inexact(dtype):
            return value
        if not isinstance(given, Marked):
            return literal(value, dtype)
        return Marked(value, given.mark if given.mark < 2 else hash(("cast", str(dtype), given.mark)) % PRIME)

    def op(self, op: str, args: list[Any], dtype: DType) -> Any:
        value = super().op(op, [_plain(a) for a in args], dtype)
        return Marked(value, self._mark(op, args, value)) if inexact(dtype) else value

    def _mark(self, op: str, args: list[Any], value: Any) -> int:
        marks = [a.mark if isinstance(a, Marked) else int(a) if isinstance(a, (bool, np.bool_)) else hash(("integer", int(a))) % PRIME for a in args]  # a truth is 0.0 or 1.0
        if op in ("min", "max") and len(marks) == 2:  # one of the two; of equals either
            first, second = map(_plain, args)
            return min(marks) if first == second else marks[0] if value == first else marks[1]
        if op == "select":
            return marks[1] if bool(args[0]) else marks[2]
        if self.regrouped and op in _FIELD:
            return _FIELD[op](*marks) % PRIME
        if (op == "add" and 0 in marks) or (op == "mul" and 1 in marks):
            return marks[1] if marks[0] == (op == "mul") else marks[0]
        return hash((op, *marks)) % PRIME

    def set(self, var: lp.Var, value: Any) -> None:
        if inexact(var.dtype):
            self.values[var] = value if isinstance(value, Marked) else literal(value, var.dtype)
        else:
            super().set(var, value)

    def neutral(self, acc: lp.Acc) -> Any:
        dtype = acc.var.dtype
        return literal(MONOIDS[acc.monoid][1](dtype), dtype) if inexact(dtype) else super().neutral(acc)

    def helper(self, h: lp.Helper) -> None:
        if h.name not in ("argsort", "sort"):
            super().helper(h)
            return
        (keys, first), (out, at) = h.buffers
        n, where = self.poly(h.sizes[0]), tuple(self.poly(p) for p in at)
        source = [self.expr(lp.Load(keys, (*first[:-1], first[-1] + k))) for k in range(n)]
        order = np.argsort(np.array([_plain(v) for v in source], keys.dtype.numpy), kind="stable")
        for k, o in enumerate(order):
            self.write(out, (*where[:-1], where[-1] + k), o if h.name == "argsort" else source[o])


_FIELD: dict[str, Callable[..., int]] = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "neg": lambda a: -a, "mul": lambda a, b: a * b}


def inputs_for(fn: lp.Function, sizes: dict[Sym, int], seed: int) -> list[Any] | None:
    """Arrays of random numbers, each marked with its place; integers may be indices, so they are small. None: no arrays have such sizes."""
    rng = np.random.default_rng(seed)
    top = max(1, min([v for v in sizes.values() if v > 0], default=1))
    scalars = {p: _scalar(p.dtype, k, rng) for k, p in enumerate(fn.inputs) if isinstance(p, lp.Var)}
    lengths: dict[Any, int] = {**sizes, **{p.atom: int(v) for p, v in scalars.items() if not isinstance(v, Marked)}}  # an argument may be one
    out: list[Any] = []
    for k, p in enumerate(fn.inputs):
        if isinstance(p, lp.Var):
            out.append(scalars[p])
            continue
        shape = tuple(e.evaluate(lambda a: lengths[a]) for e in p.extents)
        if any(s < 0 for s in shape):
            return None
        if inexact(p.dtype):
            cells = np.empty(shape, object)
            for at in np.ndindex(shape):
                cells[at] = Marked(p.dtype.numpy.type(rng.random() + 0.25), hash(("input", k, at)) % PRIME)
        else:
            cells = rng.integers(0, 2 if p.dtype.kind == "b" else top, shape).astype(p.dtype.numpy)
        out.append(cells)
    return out


def _scalar(dtype: DType, number: int, rng: np.random.Generator) -> Any:
    if inexact(dtype):
        return Marked(dtype.numpy.type(rng.random() + 0.25), hash(("input", number)) % PRIME)
    return dtype.numpy.type(rng.integers(0, 2) if dtype.kind == "b" else rng.integers(1, 4))


Outcome = tuple[Any, ...]


def outcome(fn: lp.Function, sizes: dict[Sym, int], seed: int, piece: int, backwards: bool, regrouped: bool, seen: set[int] | None = None) -> Outcome | None:
    """What a call gives: the marks of all results, or how it fails. None: nothing can be said (no such arrays, or too long)."""
    given = inputs_for(fn, sizes, seed)
    if given is None:
        return None
    try:
        run = Fingerprints(fn, given, sizes, piece, backwards, regrouped, seen)
        results = run.run()
    except TooLong:
        return None
    except Stuck as problem:
        return ("stuck", str(problem))
    except Error as error:
        return ("error", error.code)
    marks = tuple((x.shape, tuple(v.mark if isinstance(v, Marked) else complex(v) for v in x.ravel())) for x in (np.asarray(r, object) for r in results))
    return (*marks, tuple(run.printed))
