"""Terms of rank 0 as expressions of loops; what is looked up by data stands in variables before the statement."""

from __future__ import annotations

from typing import Any

from atoll.loops import ir as lp
from atoll.lower.function import FunctionLowerer
from atoll.schedule import term as tm
from atoll.schedule.place import NotLowered
from atoll.sizes import Atom, Poly, poly
from atoll.types.dtypes import BOOL, I64, DType

Path = tuple[tuple[tuple[lp.Test, ...], bool], ...]  # tests around, and which way they go


class Scalars:
    """Expressions of one function: where its tensors live, and what its integer arguments are in its loops."""

    def __init__(self, fl: FunctionLowerer) -> None:
        self.fl = fl
        self.places: dict[tm.Tensor, lp.Buffer | lp.Var] = {}
        self.params: dict[Atom, Poly] = {}
        self.looked: list[lp.Stmt] = []  # numbers that elements are looked up by, to stand before the statement that is being made

    def poly(self, p: Poly) -> Poly:
        """Integer arguments are variables of the loops."""
        return p.subst(self.params) if self.params else p

    def constant(self, value: Any, d: DType) -> lp.Const:
        if d is BOOL:
            return lp.Const(bool(value), d)
        return lp.Const(int(value) if d.is_integer else complex(value) if d.is_complex else float(value), d)

    def numbers(self) -> list[lp.Stmt]:
        """What has to stand before the statement that was made, once."""
        made, self.looked = self.looked, []
        return made

    def expr(self, t: tm.Term, path: Path = ()) -> lp.Expr:
        """A scalar as an expression. `path`: the tests around it inside of the statement, and which way they go."""
        match t:
            case tm.Look():
                return self.look(t, path)
            case tm.Get():
                place = self.places[t.name]
                return lp.Use(place) if isinstance(place, lp.Var) else lp.Load(place, tuple(self.poly(p) for p in t.index))
            case tm.Lit():
                return self.constant(t.value, t.dtype)
            case tm.Zero():
                return self.constant(0, t.dtype)
            case tm.Index():
                p = self.poly(t.poly)
                atom = p.single()
                return lp.Use(atom.var) if isinstance(atom, lp.VarAtom) else lp.Index(p)
            case tm.Op():
                return lp.Call("mul" if t.name == "mulacc" else t.name, tuple(self.expr(a, path) for a in t.args), t.dtype)
            case tm.Cast():
                return lp.Cast(self.expr(t.arg, path), t.dtype)
            case tm.Guard():
                tests = tuple(lp.Test("ge", self.poly(c)) for c in t.conds)
                return lp.Choose(tests, self.expr(t.body, (*path, (tests, True))), self.constant(0, tm.dtype(t)))
            case tm.Choose():
                tests = self.tests(t.tests, path)
                if isinstance(t.then, tm.Lit) and isinstance(t.orelse, tm.Lit) and (t.then.value, t.orelse.value) == (True, False):
                    return lp.Truth(tests)
                return lp.Choose(tests, self.expr(t.then, (*path, (tests, True))), self.expr(t.orelse, (*path, (tests, False))))
        raise NotLowered("a sum inside an operation has to be bound to a name first")

    def look(self, t: tm.Look, path: Path) -> lp.Expr:
        """An element at numbers that are data, or a zero where there is none: each number is a variable before the statement (-1 where the tests
        around do not ask for it), and is tested here, so that no word is taken for it that it is in range."""
        place = self.places[t.name]
        assert isinstance(place, lp.Buffer)
        index = []
        for k in t.index:
            if isinstance(k, tm.Index):
                index.append(self.poly(k.poly))
                continue
            value = self.expr(k, path)
            for tests, taken in reversed(path):
                none = self.constant(-1, I64)
                value = lp.Choose(tests, value, none) if taken else lp.Choose(tests, none, value)
            var = self.fl.var("at", I64)
            self.looked.append(lp.Let(var, value))
            index.append(poly(var.atom))
        there = tuple(lp.Test("ge", p) for i, n in zip(index, place.extents, strict=True) for p in (i, n - 1 - i))
        return lp.Choose(there, lp.Load(place, tuple(index)), self.constant(0, place.dtype))

    def tests(self, tests: tuple[tm.Test, ...], path: Path = ()) -> tuple[lp.Test, ...]:
        """Tests, which are looked at in order."""
        made: tuple[lp.Test, ...] = ()
        for x in tests:
            inside = (*path, (made, True)) if made else path
            made = (*made, lp.Test(x.kind, None if x.poly is None else self.poly(x.poly), None if x.term is None else self.expr(x.term, inside)))
        return made


def is_pure(t: tm.Term) -> bool:
    """A scalar without loops and names of its own."""
    match t:
        case tm.Get() | tm.Lit() | tm.Index():
            return True
        case tm.Look():
            return all(is_pure(k) for k in t.index)
        case tm.Zero():
            return not t.shape
        case tm.Op() | tm.Cast() | tm.Choose():
            return all(is_pure(k) for k in tm.kids(t))
        case tm.Guard():
            return is_pure(t.body)
    return False
