"""Many sums in one loop as C: a vector for each, written out, so that what several sums read stays in a register.

C compilers find these vectors by themselves, but then read every element again for each sum that uses it, because an operand in memory
costs them nothing; the processor reads two a cycle. `at_hold` makes a register's content unknown to them, so it is kept. Terms that count only
where a comparison holds are read only there, as they are in a loop: an element may not exist where it does not count.
"""

from __future__ import annotations

import math

from atoll.backends.c.text import Text, safe
from atoll.loops import ir as lp
from atoll.sizes import Sym, poly
from atoll.types.dtypes import DType

BYTES = 32
_SIGNS = {"add": "+", "sub": "-", "mul": "*"}
_COMPARED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class Vectors(Text):
    def in_vectors(self, loop: lp.Accumulate) -> bool:
        """Sums of products and the like, over neighbouring elements or the same one."""
        dtype = loop.accs[0].var.dtype
        wide: set[lp.Var] = set()
        if not self.dialect.gnu or not dtype.is_float or dtype.is_complex or any(a.var.dtype is not dtype or a.monoid != "add" for a in loop.accs):
            return False
        for s in loop.body:
            if not isinstance(s, (lp.Let, lp.Add)) or not self.simple(s.value, loop.sym, dtype) or not self.told_apart(s.value, loop.sym, wide):
                return False
            if isinstance(s, lp.Let) and self.is_wide(s.value, loop.sym, wide):
                wide.add(s.var)
        return True

    def simple(self, e: lp.Expr, r: Sym, dtype: DType) -> bool:
        match e:
            case lp.Use(var):
                return var.dtype is dtype
            case lp.Const():
                return e.dtype is dtype
            case lp.Load(buffer, index):
                moves = [r in p.leaves() for p in index]
                steady = not any(moves) or (not any(moves[:-1]) and index[-1].slope(r) == poly(1) and r not in (index[-1] - poly(r)).leaves())
                return e.dtype is dtype and buffer.rows is None and steady
            case lp.Call(op, args):
                known = (op in _SIGNS and len(args) == 2) or (op == "neg" and len(args) == 1)
                return known and e.dtype is dtype and all(self.simple(a, r, dtype) for a in args)
            case lp.Choose(tests, then, lp.Const(zero)) if zero == 0 and math.copysign(1.0, zero) > 0:
                test = tests[0].expr
                compared = len(tests) == 1 and tests[0].kind == "true" and isinstance(test, lp.Call) and test.op in _COMPARED and all(self.simple(a, r, dtype) for a in test.args)
                inside = isinstance(test, lp.Call) and not any(isinstance(x, lp.Choose) for y in (then, *test.args) for x in lp.subexprs(y))
                return compared and inside and self.simple(then, r, dtype)
        return False

    def told_apart(self, e: lp.Expr, r: Sym, wide: set[lp.Var]) -> bool:
        """Comparisons are different in every lane, not the same for all."""
        tests = [t.expr for x in lp.subexprs(e) if isinstance(x, lp.Choose) for t in x.tests if t.expr is not None]
        return all(self.is_wide(t, r, wide) for t in tests)

    def is_wide(self, e: lp.Expr, r: Sym, wide: set[lp.Var]) -> bool:
        """It has a value of its own in every lane."""
        return any((isinstance(x, lp.Use) and x.var in wide) or (isinstance(x, lp.Load) and any(r in p.leaves() for p in x.index)) for x in lp.subexprs(e))

    def vector_body(self, loop: lp.Accumulate) -> None:
        """One round: every statement for all lanes; loop.sym is the index of the first lane."""
        dtype = loop.accs[0].var.dtype
        kind = f"at_vector_{dtype.name}"
        wide: set[lp.Var] = set()
        self.masks: dict[str, str] = {}
        for s in loop.body:
            assert isinstance(s, (lp.Let, lp.Add))
            text = self.vector(s.value, loop.sym, kind)
            if isinstance(s, lp.Add):
                v = f"{safe(s.var.name)}_vector"
                self.put(f"{v} = {v} + {text};")
            elif self.is_wide(s.value, loop.sym, wide):
                wide.add(s.var)
                self.put(f"{kind} {safe(s.var.name)} = {text};")
                if isinstance(s.value, lp.Load):
                    self.put(f"at_hold({safe(s.var.name)});")
            else:
                self.put(f"const {dtype.c_name} {safe(s.var.name)} = {text};")

    def vector(self, e: lp.Expr, r: Sym, kind: str, mask: str = "") -> str:
        """A value for all lanes; with a mask only where it holds."""
        match e:
            case lp.Load(buffer, index) if any(r in p.leaves() for p in index):
                place = f"&{self.element(buffer, index)}"
                return f"{kind.replace('vector', 'some')}({place}, {mask})" if mask else f"*(const {kind} *){place}"
            case lp.Call("neg", args):
                return f"(-{self.vector(args[0], r, kind, mask)})"
            case lp.Call(op, args):
                sign = _SIGNS.get(op) or _COMPARED[op]
                return f"({self.vector(args[0], r, kind, mask)} {sign} {self.vector(args[1], r, kind, mask)})"
            case lp.Choose(tests, then):
                assert tests[0].expr is not None
                where = self.mask(self.vector(tests[0].expr, r, kind), kind)
                return f"{kind.replace('vector', 'where')}({where}, {self.vector(then, r, kind, where)})"
        return self.expr(e)

    def mask(self, test: str, kind: str) -> str:
        """The name of a comparison of all lanes."""
        if test not in self.masks:
            self.masks[test] = f"at_m{len(self.masks)}"
            self.put(f"const {kind.replace('vector', 'mask')} {self.masks[test]} = {test};")
        return self.masks[test]
