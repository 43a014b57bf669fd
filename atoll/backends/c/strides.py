"""Multiples of a loop's index, as variables that go up by a constant in every round.

    for i:  x = (2 * i + 1) * 0x9E3779B97F4A7C15                becomes              for i, p += 0x3C6EF372FE94F82A:  x = p + 0x9E3779B97F4A7C15

64-bit integers have no quick product in vectors, and C compilers keep the one that is written. Only products of 64-bit integers by constants
that take more than shifts are looked for; arithmetic is that of the ring of 64-bit integers, so every bit stays.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.copier import Copier
from atoll.sizes import Sym
from atoll.types.dtypes import I64, U64

_MASK = (1 << 64) - 1
_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.Add)


def strides(body: lp.Stmts, index: Sym, number: int) -> tuple[lp.Stmts, list[tuple[lp.Var, int]]]:
    """The body with multiples of the index as variables; each with its multiple. They are numbered from `number`."""
    if not all(isinstance(s, _STRAIGHT) for s in body):
        return body, []
    copier = _Strides(index, number)
    found: list[lp.Stmt] = []
    for s in body:
        if isinstance(s, lp.Let) and (line := copier.line(s.value)) is not None:
            copier.known[s.var] = line
        found.append(copier.named(s))
    return (found, list(copier.found.values())) if copier.found else (body, [])


def _long(by: int) -> bool:
    """A product that is no shift, nor one or two shifts and an addition."""
    size = abs(by)
    return size > 10 and size & (size - 1) != 0


class _Strides(Copier):
    def __init__(self, index: Sym, number: int) -> None:
        super().__init__({})
        self.sym, self.number = index, number
        self.known: dict[lp.Var, tuple[int, int, int]] = {}  # multiple of the index, constant, products
        self.found: dict[int, tuple[lp.Var, int]] = {}

    def named(self, s: lp.Stmt) -> lp.Stmt:
        """A statement under the name it had."""
        match s:
            case lp.Let(var, value):
                return lp.Let(var, self.expr(value))
            case lp.Declare(var, first):
                return lp.Declare(var, None if first is None else self.expr(first))
        (new,) = self.stmt(s)
        return new

    def line(self, e: lp.Expr) -> tuple[int, int, int] | None:
        if e.dtype not in (I64, U64):
            return None
        match e:
            case lp.Const(value, _):
                return 0, int(value), 0
            case lp.Use(var):
                return self.known.get(var)
            case lp.Index(p):
                step = p.slope(self.sym)
                rest = None if step is None else (p - step * self.sym).const()
                by = None if step is None else step.const()
                return None if by is None or rest is None else (by, rest, int(_long(by)))
            case lp.Cast(arg, _):
                return self.line(arg)
            case lp.Call("add" | "sub" | "mul" as op, (a, b), _):
                left, right = self.line(a), self.line(b)
                if left is None or right is None:
                    return None
                if op != "mul":
                    sign = 1 if op == "add" else -1
                    return left[0] + sign * right[0], left[1] + sign * right[1], left[2] + right[2]
                if left[0] and right[0]:
                    return None
                long = (left[0] or right[0]) and _long((right if left[0] else left)[1])
                return left[0] * right[1] + right[0] * left[1], left[1] * right[1], left[2] + right[2] + bool(long)
        return None

    def expr(self, e: lp.Expr) -> lp.Expr:
        line = None if isinstance(e, lp.Use) else self.line(e)
        if line is None or line[2] == 0 or not line[0] & _MASK:
            return super().expr(e)
        multiple, constant = line[0] & _MASK, line[1] & _MASK
        if multiple not in self.found:
            self.found[multiple] = (lp.Var(f"stride__{self.number + len(self.found)}", U64), multiple)
        value: lp.Expr = lp.Call("add", (lp.Use(self.found[multiple][0]), lp.Const(constant, U64)), U64)
        return value if e.dtype is U64 else lp.Cast(value, e.dtype)
