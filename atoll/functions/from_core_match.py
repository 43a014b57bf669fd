"""Unions in λANF programs: a case of a union is a constructor applied; `match` is a tree of `case` with a join per arm."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from atoll.core import ir as core
from atoll.functions import ir
from atoll.functions.builder import Builder, Env, Val, leaves, variables
from atoll.sizes import Sym
from atoll.types.types import I64_T, Tuple, Union, sizes_in

if TYPE_CHECKING:
    from atoll.functions.from_core import Translator


def inject(tr: Translator, e: core.Inject, env: Env, b: Builder) -> Val:
    """A value of a union."""
    assert isinstance(e.type, Union)
    args = tuple(x for item in e.items for x in leaves(tr.value(item, env, b)))
    con = tr.data_type(e.type).constructors[e.member]
    made = ir.Var(con.name.lower(), ir.DATA)
    b.add(ir.Make(made, con, args))
    return made


def match_value(tr: Translator, e: core.Match, env: Env, b: Builder) -> Val:
    """`match` as a value: the arms go on at one join."""
    join = ir.Var("after", ir.CODE)
    result = variables(e.type, "x")

    def end(body: core.Expr, inner: Env, block: Builder) -> ir.Block:
        return block.close(ir.Jump(join, leaves(tr.value(body, inner, block))))

    match(tr, e, env, b, end, (join, leaves(result)))
    return result


def match(
    tr: Translator,
    e: core.Match,
    env: Env,
    b: Builder,
    end: Callable[[core.Expr, Env, Builder], ir.Block],
    after: tuple[ir.Var, ir.Vars] | None = None,
) -> Any:
    """Arms as joins, the tree as nested cases. With `after`, what follows goes on there; without, the block is done."""
    env = dict(env)
    env[e.sym] = tr.value(e.value, env, b)
    names = [ir.Var(f"arm{k}", ir.CODE) for k in range(len(e.arms))]
    joins: list[ir.Bind] = []
    for name, arm in zip(names, e.arms, strict=True):
        inner = dict(env)
        for sym, t in zip(arm.params, arm.types, strict=True):
            inner[sym] = variables(t, sym.name)
        tr.nonnegative.update(_arm_sizes(arm))
        params = tuple(x for sym in arm.params for x in leaves(inner[sym]))
        joins.append(ir.Join(name, params, end(arm.body, inner, Builder())))
    block = _tests(tr, e.tree, env, names, Builder())
    if after is None:
        for bind in (*joins, *block.binds):
            b.add(bind)
        return b.close(block.term)
    b.go_on(after[0], after[1], [*joins, *block.binds], block.term)
    return None


def _arm_sizes(arm: core.Lam) -> set[Sym]:
    """Parameters of an arm that are sizes of others."""
    mentioned = {leaf for t in arm.types for p in sizes_in(t) for leaf in p.leaves()}
    return {s for s, t in zip(arm.params, arm.types, strict=True) if s in mentioned and t == I64_T}


def _tests(tr: Translator, tree: core.Tree, env: Env, arms: list[ir.Var], b: Builder) -> ir.Block:
    match tree:
        case core.Leaf(arm, args):
            given = tuple(x for a in args for x in leaves(tr.value(a, env, b)))
            return b.close(ir.Jump(arms[arm], given))
        case core.LetTree(sym, value, inner):
            return _tests(tr, inner, {**env, sym: tr.value(value, env, b)}, arms, b)
        case core.TestTree(cond, then, orelse):
            test = tr.value(cond, env, b)
            yes, no = _tests(tr, then, env, arms, Builder()), _tests(tr, orelse, env, arms, Builder())
            return b.close(ir.Case(test, ((ir.TRUE, yes), (ir.FALSE, no))))
        case core.Switch():
            return _switch(tr, tree, env, arms, b)


def _switch(tr: Translator, tree: core.Switch, env: Env, arms: list[ir.Var], b: Builder) -> ir.Block:
    t = tree.type
    assert isinstance(t, Union)
    data = tr.data_type(t)
    value = env[tree.sym]
    branches: list[tuple[ir.Constructor, ir.Block]] = []
    for case in tree.cases:
        inner, block = dict(env), Builder()
        con = data.constructors[case.member]
        position = 0
        for sym, ft in zip(case.fields, case.types, strict=True):
            inner[sym] = variables(ft, sym.name)
            for x in leaves(inner[sym]):
                block.add(ir.Take(x, value, con, position))
                position += 1
        tr.open_sizes(case.sizes, Tuple(case.types), tuple(inner[s] for s in case.fields), inner, block)
        branches.append((con, _tests(tr, case.tree, inner, arms, block)))
    rest = [con for con in data.constructors if con not in {c for c, _ in branches}]
    if rest:
        assert tree.default is not None
        default = _tests(tr, tree.default, env, arms, Builder())
        if len(rest) == 1:
            branches.append((rest[0], default))
        else:
            name = ir.Var("other", ir.CODE)
            b.add(ir.Join(name, (), default))
            branches += [(con, ir.Block((), ir.Jump(name, ()))) for con in rest]
    return b.close(ir.Case(value, tuple(branches)))
