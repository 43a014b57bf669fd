"""The meaning of terms on NumPy arrays: the reference every rule, lowering and schedule is tested against. Slow and obvious.

`value` is V and `fold` is F of term.py: values are computed with exactly the additions, in exactly the order, that the term says. A pad is
zero. Reads outside an array are pads; `strict` makes them errors, which is how a lowered program would see them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from atoll.core.interpret import cast
from atoll.core.meanings import DivisionByZero, NegativePower, NegativeShift
from atoll.core.prims import MONOIDS, PRIMS
from atoll.errors import Error
from atoll.schedule import term as tm
from atoll.schedule.reshapes import RESHAPES
from atoll.sizes import Atom, Poly, poly
from atoll.types.dtypes import DType
from atoll.types.types import Scalar
from atoll.views.catalogue import VIEWS

Arrays = dict[tm.Tensor, Any]


class OutOfRange(AssertionError):
    """A read outside an array, in strict mode."""


class Denotation:
    def __init__(self, sizes: Mapping[Atom, int], strict: bool = False) -> None:
        self.sizes = dict(sizes)
        self.strict = strict

    # -- V

    def value(self, t: tm.Term, arrays: Arrays, env: dict[Atom, int]) -> Any:
        match t:
            case tm.Gen():
                return self.gen(t, arrays, env)
            case tm.Sum() | tm.Plus():
                start = self.neutral(t, arrays, env) if isinstance(t, tm.Sum) else self.value(t.left, arrays, env)
                return self.fold(t if isinstance(t, tm.Sum) else t.right, arrays, env, start, t.monoid)
            case tm.Guard():
                if all(self.poly(c, env) >= 0 for c in t.conds):
                    return self.value(t.body, arrays, env)
                return self.pads(t, arrays, env)
            case tm.Let():
                return self.value(t.body, {**arrays, t.name: self.value(t.bound, arrays, env)}, env)
            case tm.Nest():
                return self.value(t.body, self.nest(t, arrays, env), env)
            case tm.Cat():
                return np.concatenate([self.value(t.left, arrays, env), self.value(t.right, arrays, env)], t.axis)
            case tm.Reshape():
                return self.reshape(t, self.value(t.body, arrays, env))
            case tm.Zero():
                return self.pads(t, arrays, env)
            case tm.Many():
                return tuple(self.value(item, arrays, env) for item in t.items)
            case tm.Get():
                return self.get(t, tuple(self.poly(p, env) for p in t.index), arrays)
            case tm.Look():
                return self.get(t, tuple(int(self.value(k, arrays, env)) for k in t.index), arrays)
            case tm.Lit():
                return t.dtype.numpy.type(t.value)
            case tm.Index():
                return np.int64(self.poly(t.poly, env))
            case tm.Op():
                return self.op(t.name, [self.value(a, arrays, env) for a in t.args], t.dtype)
            case tm.Cast():
                try:
                    return cast(self.value(t.arg, arrays, env), Scalar(t.dtype))
                except Error:
                    return t.dtype.numpy.type(0)
            case tm.Choose():
                return self.value(t.then if self.holds(t.tests, arrays, env) else t.orelse, arrays, env)
        raise AssertionError(t)

    # -- F

    def fold(self, t: tm.Term, arrays: Arrays, env: dict[Atom, int], place: Any, monoid: str = "add") -> Any:
        """What a place that held `place` holds after t has been folded into it."""
        match t:
            case tm.Sum() if t.monoid == monoid:
                for i in range(self.poly(t.low, env), self.poly(t.high, env)):
                    place = self.fold(t.body, arrays, {**env, t.sym: i}, place, monoid)
                return place
            case tm.Plus() if t.monoid == monoid:
                return self.fold(t.right, arrays, env, self.fold(t.left, arrays, env, place, monoid), monoid)
            case tm.Gen():
                low = self.poly(t.low, env)
                rows = [
                    self.fold(t.body, arrays, {**env, t.sym: i}, place[i - low], monoid) for i in range(low, self.poly(t.high, env))
                ]
                return np.array(rows, place.dtype).reshape(place.shape)
            case tm.Guard() if monoid == "add" or all(self.poly(c, env) >= 0 for c in t.conds):
                return self.fold(t.body, arrays, env, place, monoid) if all(self.poly(c, env) >= 0 for c in t.conds) else place
            case tm.Let():
                return self.fold(t.body, {**arrays, t.name: self.value(t.bound, arrays, env)}, env, place, monoid)
            case tm.Nest():
                return self.fold(t.body, self.nest(t, arrays, env), env, place, monoid)
            case tm.Choose():
                return self.fold(t.then if self.holds(t.tests, arrays, env) else t.orelse, arrays, env, place, monoid)
            case tm.Zero() if monoid == "add":
                return place
            case tm.Cat():
                cut = self.extent(t.left, t.axis, arrays, env)
                left, right = np.split(place, [cut], t.axis)
                parts = [self.fold(t.left, arrays, env, left, monoid), self.fold(t.right, arrays, env, right, monoid)]
                return np.concatenate(parts, t.axis)
            case tm.Reshape() if monoid == "add" or not RESHAPES[t.op].pads:
                return self.fold_through(t, arrays, env, place, monoid)
            case tm.Op("mulacc", (a, b), d) if monoid == "add":
                return self.op("fma", [self.value(a, arrays, env), self.value(b, arrays, env), place], d)
        added = self.value(t, arrays, env)
        return self.op(MONOIDS[monoid][0], [place, added], tm.dtype(t))

    def fold_through(self, t: tm.Reshape, arrays: Arrays, env: dict[Atom, int], place: Any, monoid: str) -> Any:
        """Fold below a reshape: cells of the argument that have a place start from it, the others from a pad and are dropped."""
        numbers = np.arange(1, 1 + int(np.prod(self.shape_of(t.body, arrays, env), dtype=np.int64)))
        source = self.reshape(t, numbers.reshape(self.shape_of(t.body, arrays, env)))
        inner = np.zeros(numbers.shape, place.dtype)
        for cell, old in zip(source.reshape(-1), place.reshape(-1), strict=True):
            if cell:
                inner[cell - 1] = old
        done = self.fold(t.body, arrays, env, inner.reshape(self.shape_of(t.body, arrays, env)), monoid).reshape(-1)
        flat = place.reshape(-1).copy()
        for k, cell in enumerate(source.reshape(-1)):
            if cell:
                flat[k] = done[cell - 1]
        return flat.reshape(place.shape)

    # -- parts

    def poly(self, p: Poly, env: Mapping[Atom, int]) -> int:
        return p.evaluate(lambda atom: env[atom] if atom in env else self.sizes[atom])

    def holds(self, tests: tuple[tm.Test, ...], arrays: Arrays, env: dict[Atom, int]) -> bool:
        for test in tests:
            if test.poly is not None:
                v = self.poly(test.poly, env)
                ok = v >= 0 if test.kind == "ge" else (v == 0) == (test.kind == "eq")
            else:
                assert test.term is not None
                ok = bool(self.value(test.term, arrays, env)) == (test.kind == "true")
            if not ok:
                return False
        return True

    def gen(self, t: tm.Gen, arrays: Arrays, env: dict[Atom, int]) -> Any:
        rows = [self.value(t.body, arrays, {**env, t.sym: i}) for i in range(self.poly(t.low, env), self.poly(t.high, env))]
        if rows:
            return np.array(rows, tm.dtype(t).numpy)
        return np.zeros(self.shape_of(t, arrays, env), tm.dtype(t).numpy)

    def get(self, t: tm.Get | tm.Look, index: tuple[int, ...], arrays: Arrays) -> Any:
        array = arrays[t.name]
        if len(index) != np.ndim(array):
            raise AssertionError(f"{t.name} has {np.ndim(array)} axes, read with {index}")
        if all(0 <= i < n for i, n in zip(index, np.shape(array), strict=True)):
            return array[index] if index else t.name.dtype.numpy.type(array)
        if self.strict:
            raise OutOfRange(f"{t.name}{list(index)} of {np.shape(array)}")
        return t.name.dtype.numpy.type(0)

    def op(self, name: str, args: list[Any], d: DType) -> Any:
        with np.errstate(all="ignore"):
            if np.ndim(args[0]) > 0 or np.ndim(args[-1]) > 0:  # folding whole arrays
                flat = [np.broadcast_to(a, np.shape(args[0])).reshape(-1) for a in args]
                cells = [self.op(name, list(cell), d) for cell in zip(*flat, strict=True)]
                return np.array(cells, d.numpy).reshape(np.shape(args[0]))
            try:
                means = PRIMS["mul" if name == "mulacc" else name].means
                return d.numpy.type(means(*args))
            except (DivisionByZero, NegativeShift, NegativePower):
                return d.numpy.type(0)

    def shape_of(self, t: tm.Term, arrays: Arrays, env: dict[Atom, int]) -> tuple[int, ...]:
        """The extents of a value. They add and multiply as polynomials do: where no round of an outer loop runs, or a guard around is
        false, a part may have a negative extent that another part makes up for."""
        return tuple(max(0, n) for n in self.extents(t, env))

    def extents(self, t: tm.Term, env: dict[Atom, int]) -> tuple[int, ...]:
        match t:
            case tm.Gen():
                low, high = self.poly(t.low, env), self.poly(t.high, env)
                return (high - low, *self.extents(t.body, {**env, t.sym: low}))
            case tm.Sum():
                return self.extents(t.body, {**env, t.sym: self.poly(t.low, env)})
            case tm.Guard() | tm.Let() | tm.Nest():
                return self.extents(t.body, env)
            case tm.Plus():
                return self.extents(t.left, env)
            case tm.Zero():
                return tuple(self.poly(p, env) for p in t.shape)
            case tm.Cat():
                left = list(self.extents(t.left, env))
                left[t.axis] += self.extents(t.right, env)[t.axis]
                return tuple(left)
            case tm.Reshape():
                inner, row = self.extents(t.body, env), RESHAPES[t.op]
                end, k = t.axis + row.takes, 0 if t.amount is None else self.poly(t.amount, {})
                found = row.shape(tuple(map(poly, inner[t.axis : end])), poly(k))
                return (*inner[: t.axis], *(self.poly(p, {}) for p in found), *inner[end:])
        return ()

    def extent(self, t: tm.Term, axis: int, arrays: Arrays, env: dict[Atom, int]) -> int:
        return self.shape_of(t, arrays, env)[axis]

    def pads(self, t: tm.Term, arrays: Arrays, env: dict[Atom, int]) -> Any:
        found = self.shape_of(t, arrays, env)
        zero = tm.dtype(t).numpy.type(0)
        return np.zeros(found, tm.dtype(t).numpy) if found else zero

    def neutral(self, t: tm.Sum, arrays: Arrays, env: dict[Atom, int]) -> Any:
        d = tm.dtype(t)
        first = d.numpy.type(MONOIDS[t.monoid][1](d))
        found = self.shape_of(t, arrays, env)
        return np.full(found, first, d.numpy) if found else first

    def reshape(self, t: tm.Reshape, array: Any) -> Any:
        """The reshape of its axes, by the view's own meaning."""
        row = RESHAPES[t.op]
        k = 0 if t.amount is None else self.poly(t.amount, {})
        front = list(range(t.axis, t.axis + row.takes)) + [a for a in range(array.ndim) if not t.axis <= a < t.axis + row.takes]
        moved = np.transpose(array, front)
        if t.op == "split":
            params: tuple[Any, ...] = (k, moved.shape[0] // k)
        elif t.op in ("pad_r", "pad_l"):
            params = ((0, k),) if t.op == "pad_r" else ((k, 0),)
        elif t.op == "transpose":
            params = (1, 0)
        else:
            params = () if t.amount is None else (k,)
        info = VIEWS[row.view]
        out = info.means([moved, array.dtype.type(0)] if info.fills else [moved], params)
        back = list(range(row.gives, row.gives + t.axis)) + list(range(row.gives)) + list(range(row.gives + t.axis, out.ndim))
        return np.transpose(out, back)

    def nest(self, t: tm.Nest, arrays: Arrays, env: dict[Atom, int]) -> Arrays:
        results = t.routine.evaluate([arrays[a] for a in t.args], self.sizes)
        if t.at:
            row = tuple(self.poly(p, env) for p in t.at)
            results = [np.asarray(x)[row] for x in results]
        return {**arrays, **dict(zip(t.names, results, strict=True))}


def evaluate(t: tm.Term, arrays: Arrays, sizes: Mapping[Atom, int], strict: bool = False) -> Any:
    """The value of a closed term: an array, a scalar, or a tuple of them."""
    with np.errstate(all="ignore"):
        return Denotation(sizes, strict).value(t, dict(arrays), {})
