"""Whether the operator of a fold is associative, tried on random values.

`reduce` and `scan` may regroup, as their operator is declared to be associative; a declaration that is not true (`lambda a, b: a + b * b`) would give other
results where there are many elements than where there are few. So what regroups asks first: an operator that is seen not to be associative, or of
which nothing is seen because its values are no numbers, goes from left to right everywhere.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from atoll.ainf import ir
from atoll.ainf.evaluate import Env, Evaluator, Frame
from atoll.ainf.scan_prim import blocks
from atoll.core.interpret import reduce_known
from atoll.core.prims import MONOIDS
from atoll.errors import Error
from atoll.sizes import Atom, poly
from atoll.types.dtypes import BOOL, I64, DType

POINTS = 6
SEEN = 3  # points with numbers in all results, at least
MOST = 20_000  # lines computed: an operator on larger arrays is not tried

Operator = ir.Fold | ir.ScanFold


def is_associative(prim: Operator) -> bool:
    """True when (a . b) . c and a . (b . c) are the same at random points, up to rounding."""
    if any(_has_effects(line) for line in prim.block.lines):
        return False
    if not all(p.results[0].dtype == q.results[0].dtype for p, q in _sides(prim)):
        return False
    seen = 0
    trial = _Trial(prim)
    try:
        with np.errstate(all="ignore"):
            for point in range(POINTS):
                found = trial.point(point)
                if found is False:
                    return False
                seen += found is True
    except (Error, _TooMuch, AssertionError, KeyError, IndexError, OverflowError, ZeroDivisionError):
        return False  # outside its domain, or too large to try
    return seen >= SEEN


def known_parts(block: ir.Block, results: tuple[ir.Abs, ...]) -> tuple[str, ...] | None:
    """The known operator of every part of a value, where an operator is nothing else: `lambda p, q: (p[0] + q[0], max(p[1], q[1]))` is add and maximum."""
    half = len(results)
    if any(not isinstance(line.prim, (ir.Param, ir.Op)) or line.conds for line in block.lines):
        return None
    found = [_known(result, block.params[k], block.params[half + k]) for k, result in enumerate(results)]
    return None if None in found else tuple(monoid for monoid in found if monoid is not None)


def _known(result: ir.Abs, left: ir.Line, right: ir.Line) -> str | None:
    """The operator of a part that is one operation on the same element of both sides."""
    here = tuple(poly(x) for x in result.binders)
    sides = (ir.Ref(left, 0, here), ir.Ref(right, 0, here))
    if isinstance(result.body, ir.IndexValue):
        p, q = (poly(ir.ref_atom(x)) for x in sides) if left.results[0].dtype == right.results[0].dtype == I64 else (poly(0), poly(0))
        return "add" if result.body.poly == p + q else "mul" if result.body.poly == p * q else None
    if not isinstance(result.body, ir.Ref) or not isinstance(result.body.line.prim, ir.Op):
        return None
    line, op = result.body.line, result.body.line.prim
    inside = dict(zip(line.dims, result.body.index, strict=True))
    args = tuple(_what_is_read(ir.subst_operand(x, inside)) for x in op.args)
    same = all(x.results[0].dtype == line.results[0].dtype for x in (left, right))
    if not same or args not in (sides, sides[::-1]):
        return None
    return next((monoid for monoid, (name, _) in MONOIDS.items() if name == op.name), None)


def _what_is_read(x: ir.Operand) -> ir.Operand:
    while isinstance(x, ir.Ref) and isinstance(x.line.prim, ir.Op) and x.line.prim.name == "read":
        x = ir.subst_operand(x.line.prim.args[0], dict(zip(x.line.dims, x.index, strict=True)))
    return x


def _sides(prim: Operator) -> list[tuple[ir.Line, ir.Line]]:
    half = len(prim.start)
    return list(zip(prim.block.params[:half], prim.block.params[half:], strict=True))


def _has_effects(line: ir.Line) -> bool:
    return isinstance(line.prim, (*ir.EFFECTS, ir.While)) or any(_has_effects(x) for block in blocks(line.prim) for x in block.lines)


class _TooMuch(Exception):
    pass


class _Trial(Evaluator):
    """An operator applied to random values; what it reads from around it is random too, and the same for all three."""

    def __init__(self, prim: Operator) -> None:
        self.operator = prim
        self.sizes: Env = {}
        self.work = 0
        self.seed = 0

    def point(self, number: int) -> bool | None:
        """Whether both ways agree at a point; None where one of them is no number."""
        self.seed = number
        prim = self.operator
        env: Env = {x: 0 for x in prim.block.ambient}
        sides = [[self.element(p, f"{side}{k}", env) for k, (p, _) in enumerate(_sides(prim))] for side in "abc"]
        a, b, c = sides
        left, right = self.apply(self.apply(a, b, env), c, env), self.apply(a, self.apply(b, c, env), env)
        numbers = True
        for x, y in zip(left, right, strict=True):
            p, q = np.asarray(x), np.asarray(y)
            if p.shape != q.shape:
                return False
            if p.dtype.kind not in "fc":
                if not np.array_equal(p, q):
                    return False
                continue
            numbers &= bool(np.all(np.isfinite(p)) and np.all(np.isfinite(q)))
            near = 1e-3 if p.dtype.itemsize < 8 else 1e-9
            if not np.allclose(p, q, rtol=near, atol=near, equal_nan=True):
                return False
        return True if numbers else None

    def apply(self, left: list[Any], right: list[Any], env: Env) -> list[Any]:
        frame = Frame(self.operator.block, None, [*left, *right], {})
        return [self.array(a, frame, env) for a in self.operator.results]

    def element(self, param: ir.Line, name: str, env: Env) -> Any:
        info = param.results[0]
        shape = tuple(self.poly(n, Frame(self.operator.block, None, [], {}), env) for n in info.axes)
        count = int(np.prod(shape))
        if count > MOST:
            raise _TooMuch
        values = [self.drawn(info.dtype, f"{name}:{k}") for k in range(count)]
        return np.array(values, info.dtype.numpy).reshape(shape) if shape else values[0]

    def drawn(self, dtype: DType, key: str) -> Any:
        rng = random.Random(f"{self.seed}:{key}")
        if dtype is BOOL:
            return np.bool_(rng.random() < 0.5)
        if dtype.is_integer:
            return dtype.numpy.type(rng.randint(0, 1 if self.seed % 2 else 3))
        if dtype.is_complex:
            return dtype.numpy.type(complex(rng.uniform(-2, 2), rng.uniform(-2, 2)))
        return dtype.numpy.type(rng.uniform(0.1, 2.0) if self.seed % 2 else rng.uniform(-2.0, 2.0))

    def reduce(self, monoid: str, binder: ir.Binder, arg: ir.Operand, dtype: Any, frame: Frame, env: Env) -> Any:
        neutral = dtype.numpy.type(MONOIDS[monoid][1](dtype))
        return reduce_known(monoid, self.array(ir.Abs((binder,), arg), frame, env), neutral, True)

    def atom(self, atom: Atom, frame: Frame, env: Env) -> int:
        try:
            return super().atom(atom, frame, env)
        except KeyError:
            return random.Random(f"{self.seed}:{atom!r}").randint(2, 3)  # a size, or the index of a loop around

    def value(self, line: ir.Line, result: int, index: tuple[int, ...], frame: Frame, env: Env) -> Any:
        if self.work > MOST:
            raise _TooMuch
        if not self.operator.block.encloses(line.block):
            return self.drawn(line.results[result].dtype, f"{line.id}:{result}:{index}")
        return super().value(line, result, index, frame, env)
