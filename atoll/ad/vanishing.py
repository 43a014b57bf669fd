"""Adjoints that are 0 because nobody reads the value there: they stay 0, also where the slope is infinite.

`r = sqrt(x)` read in branches that are not taken has an adjoint of 0, and 0 times the slope at x = 0 would be NaN. One condition is moved
outwards (ad/kronecker.py); what is a sum of such values, or was added up at some places of an array, is tested: `bar * slope if bar != 0
else 0`. Only rules whose slope may be infinite are, and only adjoints that may vanish.

State of a loop may be infinite too, as rounds may multiply until it overflows. Products with it are tested only where the adjoint has no other source
than rounds that may not be run (`unread`): elsewhere an adjoint is 0 at some places at most, and products are what loops like LU consist of.
"""

from __future__ import annotations

from atoll.ad.kronecker import guarded_value, negated, under
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.core.prims import PRIMS
from atoll.errors import NOWHERE
from atoll.types.dtypes import DType

STEEP = frozenset(name for name, p in PRIMS.items() if p.steep)
"""Operations whose value or slope may be infinite, or not a number, at finite arguments."""

_THROUGH = frozenset(("neg", "read", "add", "sub", "mul", "min", "max"))


class Vanishing:
    """Which adjoints may be 0 for want of a reader; what was found out about lines is kept."""

    def __init__(self, b: Builder) -> None:
        self.b = b
        self.sparse: set[ir.Line] = set()  # state of a loop that is added to at places
        self.unread: set[ir.Line] = set()  # adjoints of state that nobody reads after the loop
        self._known: dict[tuple[ir.Line, bool], bool] = {}
        self._steep: dict[ir.Line, bool] = {}
        self._tested: set[ir.Line] = set()

    def safe(self, name: str, args: tuple[ir.Operand, ...], bar: ir.Operand, dtype: DType) -> ir.Operand:
        """The adjoint, under the condition that it is not 0 where that matters."""
        product = name in ("mul", "fma")
        steep = name in STEEP or (product and any(self.steep(a) for a in args))
        if dtype.is_integer or (not steep and not (product and any(_is_state(a) for a in args))):
            return bar
        conds: tuple[ir.Cond, ...] = ()
        value = bar
        while (found := guarded_value(value)) is not None:
            conds, value = (*conds, *found[0]), found[1]
        if any(c.ref is not None and c.ref.line in self._tested for c in conds) or not self.vanishes(value, steep):
            return bar
        with self.b.under(*conds):
            test = scalars.compare(self.b, "ne", _unsigned(value), ir.Const(0.0, dtype), NOWHERE)
        if not isinstance(test, ir.Ref):
            return bar
        self._tested.add(test.line)
        return under(self.b, (*conds, ir.Cond("true", None, test)), value, dtype)

    def vanishes(self, x: ir.Operand, places: bool = True) -> bool:
        """True when an adjoint may be 0 because of conditions alone, or of `places` too."""
        if isinstance(x, ir.Const):
            return bool(x.value == 0)
        if not isinstance(x, ir.Ref):
            return False
        if (x.line, places) not in self._known:
            self._known[x.line, places] = self._vanishes(x, places)
        return self._known[x.line, places]

    def _vanishes(self, x: ir.Ref, places: bool) -> bool:
        prim = x.line.prim
        match prim:
            case ir.Op(name="add" | "sub"):
                return all(self.vanishes(a, places) for a in prim.args)
            case ir.Op(name="mul"):
                return any(self.vanishes(a, places) for a in prim.args)
            case ir.Op(name="neg" | "read" | "div"):
                return self.vanishes(prim.args[0], places)
            case ir.Select():
                return places and (self.vanishes(prim.orelse) or self.vanishes(prim.then))
            case ir.Reduce(monoid="add") | ir.Scan(monoid="add"):
                return self.vanishes(prim.arg, places)
            case ir.Scatter():
                return places
            case ir.Loop() if places:
                return bool(x.line.results[x.result].axes)
            case ir.Loop():  # as many rounds as a while loop had: none, perhaps
                return any(isinstance(a, ir.RefAtom) for a in prim.size.leaves()) and self.vanishes(prim.state[x.result].body, places)
        return x.line in self.unread or (places and x.line in self.sparse)

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


def _unsigned(x: ir.Operand) -> ir.Operand:
    """What is 0 where x is, before it was negated: the test of its adjoint is the same then."""
    plain = negated(x)
    return x if plain is None else _unsigned(plain)


def _is_state(x: ir.Operand) -> bool:
    """A value that rounds of a loop made, perhaps read from its tape."""
    while isinstance(x, ir.Ref):
        prim = x.line.prim
        if isinstance(prim, (ir.Loop, ir.While, ir.Param)):
            return True
        if isinstance(prim, ir.Active):
            x = prim.arg
        elif isinstance(prim, ir.Op) and prim.name == "read":
            x = prim.args[0]
        else:
            return False
    return False
