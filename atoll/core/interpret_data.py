"""The meaning of unions, `match` and function values, beside interpret.py's.

A value of a union is a `Data`: which case, and its fields. A function value is a `FunctionValue`: its text and the variables around it. Both are
leaves: an array of them is an array of objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.core import ir
from atoll.sizes import Sym

if TYPE_CHECKING:
    from atoll.core.interpret import Interpreter



class Data:
    """Case `member` of a union."""

    __slots__ = ("fields", "member")

    def __init__(self, member: int, fields: tuple[Any, ...]) -> None:
        self.member, self.fields = member, fields


class FunctionValue:
    """A function and the variables around its definition."""

    __slots__ = ("env", "lam", "name")

    def __init__(self, lam: ir.Lam, env: dict[Sym, Any], name: str) -> None:
        self.lam, self.env, self.name = lam, env, name


def inject(self: Interpreter, e: ir.Inject) -> Any:
    return Data(e.member, self.evals(e.items))


def match(self: Interpreter, e: ir.Match) -> Any:
    self.env[e.sym] = self.eval(e.value)
    tree: ir.Tree = e.tree
    while True:
        match tree:
            case ir.Switch(sym, _, cases, default):
                value = self.env[sym]
                for case in cases:
                    if case.member == value.member:
                        self.env.update(zip(case.fields, value.fields, strict=True))
                        for t, field in zip(case.types, value.fields, strict=True):
                            self.bind_open(t, field, set(case.sizes))
                        tree = case.tree
                        break
                else:
                    assert default is not None
                    tree = default
            case ir.LetTree(sym, value, inner):
                self.env[sym] = self.eval(value)
                tree = inner
            case ir.TestTree(cond, then, orelse):
                tree = then if self.eval(cond) else orelse
            case ir.Leaf(arm, args):
                return self.apply(e.arms[arm], *self.evals(args))


def closure(self: Interpreter, e: ir.Closure) -> Any:
    return FunctionValue(e.lam, dict(self.env), e.name)


def fix(self: Interpreter, stmt: ir.Fix) -> None:
    around = dict(self.env)
    for sym, made in stmt.defs:
        self.env[sym] = around[sym] = FunctionValue(made.lam, around, made.name)


def apply(self: Interpreter, e: ir.Apply) -> Any:
    from atoll.core.interpret import Interpreter

    f = self.eval(e.fn)
    args = self.evals(e.args)
    return Interpreter({**f.env, **dict(zip(f.lam.params, args, strict=True))}, f.name, self.in_order, self.portable).eval(f.lam.body)


def extern(self: Interpreter, e: ir.Extern) -> Any:
    return e.unit.run(e.name, self.evals(e.args))


def hide(self: Interpreter, e: ir.Hide) -> Any:
    return self.eval(e.value)
