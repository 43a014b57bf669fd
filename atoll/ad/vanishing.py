"""Adjoints that are 0 because nobody reads the value there: they stay 0, also where the slope is infinite.

`r = sqrt(x)` read in branches that are not taken has an adjoint of 0, and 0 times the slope at x = 0 would be NaN. One condition is moved
outwards (ad/kronecker.py); what is a sum of such values, or was added up at some places of an array, is tested: `bar * slope if bar != 0
else 0`. Only rules whose slope may be infinite are, and only adjoints that may vanish.
"""

from __future__ import annotations

from atoll.ad.kronecker import guarded_value, under
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.errors import NOWHERE
from atoll.types.dtypes import DType

STEEP = frozenset(
    "div sqrt cbrt log log2 log10 log1p exp exp2 expm1 pow arcsin arccos arctanh arccosh arctan2 hypot tan sinh cosh lgamma tgamma digamma fmod mod".split()
)
"""Operations whose value or slope may be infinite, or not a number, at finite arguments."""

_THROUGH = frozenset(("neg", "read", "add", "sub", "mul", "min", "max"))


class Vanishing:
    """Which adjoints may be 0 for want of a reader; what was found out about lines is kept."""

    def __init__(self, b: Builder) -> None:
        self.b = b
        self.sparse: set[ir.Line] = set()  # state of a loop that is added to at places
        self._known: dict[ir.Line, bool] = {}
        self._steep: dict[ir.Line, bool] = {}
        self._tested: set[ir.Line] = set()

    def safe(self, name: str, args: tuple[ir.Operand, ...], bar: ir.Operand, dtype: DType) -> ir.Operand:
        """The adjoint, under the condition that it is not 0 where that matters."""
        if name not in STEEP and not (name in ("mul", "fma") and any(self.steep(a) for a in args)):
            return bar
        conds: tuple[ir.Cond, ...] = ()
        value = bar
        while (found := guarded_value(value)) is not None:
            conds, value = (*conds, *found[0]), found[1]
        if any(c.ref is not None and c.ref.line in self._tested for c in conds) or not self.vanishes(value):
            return bar
        with self.b.under(*conds):
            test = scalars.compare(self.b, "ne", value, ir.Const(0.0, dtype), NOWHERE)
        if not isinstance(test, ir.Ref):
            return bar
        self._tested.add(test.line)
        return under(self.b, (*conds, ir.Cond("true", None, test)), value, dtype)

    def vanishes(self, x: ir.Operand) -> bool:
        """True when an adjoint may be 0 because of conditions or places alone."""
        if isinstance(x, ir.Const):
            return bool(x.value == 0)
        if not isinstance(x, ir.Ref):
            return False
        if x.line not in self._known:
            self._known[x.line] = self._vanishes(x)
        return self._known[x.line]

    def _vanishes(self, x: ir.Ref) -> bool:
        prim = x.line.prim
        match prim:
            case ir.Op(name="add" | "sub"):
                return all(self.vanishes(a) for a in prim.args)
            case ir.Op(name="mul"):
                return any(self.vanishes(a) for a in prim.args)
            case ir.Op(name="neg" | "read" | "div"):
                return self.vanishes(prim.args[0])
            case ir.Select():
                return self.vanishes(prim.orelse) or self.vanishes(prim.then)
            case ir.Reduce(monoid="add") | ir.Scan(monoid="add"):
                return self.vanishes(prim.arg)
            case ir.Scatter():
                return True
            case ir.Loop():
                return bool(x.line.results[x.result].axes)
        return x.line in self.sparse

    def steep(self, x: ir.Operand) -> bool:
        """True when a value may be infinite though what it is computed from is finite, as far as a look upwards tells."""
        if not isinstance(x, ir.Ref):
            return False
        line = x.line
        if line not in self._steep:
            self._steep[line] = False
            prim = line.prim
            if isinstance(prim, ir.Op):
                self._steep[line] = prim.name in STEEP or (prim.name in _THROUGH and any(self.steep(a) for a in prim.args))
            elif isinstance(prim, ir.Select):
                self._steep[line] = self.steep(prim.then) or self.steep(prim.orelse)
        return self._steep[line]
