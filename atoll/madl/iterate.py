"""Scopes: forward, block, and the branches of an `if` or `match`.

A forward runs its body once per index. [x] in an argument is the element of this round; [x] in a result collects the elements of all rounds; {x} is
the value after the last round, so x must be state. What is written outside the brackets belongs to the enclosing scope. A block is a
forward of one round. A branch runs one of several bodies; what all define goes on outside, at one place.
"""

from __future__ import annotations

from typing import Any

from atoll.errors import fail
from atoll.madl import expressions, patterns
from atoll.madl import graph as g
from atoll.madl import syntax as s
from atoll.madl.elaborate import Built, Elaborator
from atoll.madl.environment import Env, Names, alias_names, defined_names, pattern_names
from atoll.madl.structure import BUILTINS
from atoll.madl.typing import BOOL, INT, Generic, Unknown, prune, rebuild
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.types import Array, Type
from atoll.views.functor import ONE


def body(el: Elaborator, statements: tuple[s.Expr, ...], env: Env) -> None:
    for statement in statements:
        _has_effect(el, statement)
        expressions.values(el, statement, env)


def _has_effect(el: Elaborator, statement: s.Expr) -> None:
    """A statement that only computes, or only names a value, is a typo."""
    root = s.bare(statement)
    computes = isinstance(root, (s.Operation, s.Copy, s.Number, s.Last, s.Constant))
    if isinstance(root, s.Apply):
        item = el.find(root.name)
        structural = getattr(item, "structural", False) or (item is None and root.name in BUILTINS)
        operator = getattr(item, "operator", None)
        computes = not structural and (operator is None or bool(operator.interface.results))
    if not computes and not (isinstance(root, (s.Variable, s.Project)) and root is statement):
        return
    help_ = ""
    if isinstance(root, s.Operation) and root.op == "eq":
        help_ = f"`=` defines, `==` compares: {s.text(root.args[0])} = {s.text(root.args[1])}"
    elif isinstance(root, s.Apply):
        help_ = f"give its result a name, or drop it explicitly: _ = {s.text(root)}"
    elif isinstance(root, (s.Variable, s.Number)):
        help_ = "is an operator or a `;` missing before it?"
    else:
        help_ = f"give it a name, name = {s.text(root)}, or take it away"
    fail("E0943", root.span, what=s.text(root), help=help_, where=el.operator.name)


def _condition(el: Elaborator, e: s.Expr, env: Env) -> g.Wire:
    saved, el.interface = el.interface, None
    wire = expressions.value(el, e, env)
    el.typer.unify(wire.type, BOOL, e.span)
    el.interface = saved
    return wire


def _reset(el: Elaborator, scope: g.Scope, reset: s.Reset, env: Env) -> None:
    scope.reset = reset.kind
    if reset.condition is not None:
        scope.condition = _condition(el, reset.condition, env)


def contract(el: Elaborator, e: s.Contract, env: Env) -> list[g.Wire]:
    """`assume e`: a value that nobody needs, so it has no code; the oracle looks at it."""
    wire = expressions.value(el, s.Operation("and", (e.condition, s.Number(True, span=e.span)), span=e.span), env)
    el.typer.unify(wire.type, BOOL, e.span)
    if not el.dry:
        el.graph.contracts[wire] = (e.kind, s.text(e.condition), e.span)
    return []


# -- forward


def forward(el: Elaborator, e: s.Forward, env: Env) -> list[g.Wire]:
    (level,) = e.levels
    if env.placing:
        fail("E0908", e.span, what="a forward computes, so it is no place; it", where=el.operator.name)
    scope = g.Scope("loop", env.scope, e.span)
    el.around[scope] = env
    inner = env.inner(scope)
    scope.extent = el.size(level.size, env, as_index=True) if level.size is not None else el.typer.fresh_size(env.level, "n")
    scope.low = el.size(level.low, env, as_index=True) if level.low is not None else poly(0)
    scope.each = e.each
    _index(el, level, scope, inner)
    names: Names = {}
    for clause in level.args:
        pattern_names(clause.left, names)
    for clause in level.results:
        names.update(alias_names(clause.right))
    el.declare(inner, {**names, **defined_names(e.body)})
    _reset(el, scope, e.reset, env)
    saved = el.interface
    node = g.Nest((scope,), e.span)
    for clause in level.args:
        if clause.left is None:
            fail("E0905", clause.span, what="an argument of forward", given="no `=`", wanted="`[x] = array`", help="write ([x] = array), or call the forward: (forward ([x]) ..)(array)", where=el.operator.name)
        el.interface = None
        whole = expressions.values(el, clause.right, env)
        el.interface = inner
        outside = Env(scope, env.level, env, env.metas, inner.variables, path=env.path)
        patterns.define(el, clause.left, whole, outside)
    el.interface = None
    body(el, e.body, inner)
    el.node(env.scope, node)
    outs: list[g.Wire] = []
    for clause in level.results:
        el.interface = inner
        found = expressions.values(el, clause.right, env)
        el.interface = None
        if clause.left is None:
            outs += found
        else:
            patterns.define(el, clause.left, found, env)
    if not el.dry:
        for _, whole_wire in scope.aggregates + scope.accumulates:
            el.graph.producer[whole_wire] = node
    el.interface = saved
    return outs


def _index(el: Elaborator, level: s.Level, scope: g.Scope, inner: Env) -> None:
    sym = Sym(level.index or level.index_size or "i")
    scope.index, scope.index_name = sym, level.index or level.index_size
    el.typer.solver.rigid[sym] = scope.depth
    if not el.dry:
        el.graph.loops[sym] = scope
    number = poly(sym) + scope.low
    if level.index_size is not None:
        inner.sizes[level.index_size] = number
    if level.index is not None:
        wire = g.Wire(INT, scope, level.span, level.index, level.index, "index")
        inner.variables[level.index] = wire
        inner.indices[level.index] = number
        scope.index_wire = wire
        if not el.dry:
            el.graph.wires.append(wire)
            el.graph.producer[wire] = None


def built(el: Elaborator, e: s.Alias, env: Env) -> g.Wire:
    """`e as p` in a result: p is the part of e that earlier rounds have built, of size growth*index + fixed.

    The expression is read twice: once with arrays of `index` elements, which gives the type of the part, and once with all of
    them. With literal sizes the second reading alone would be ambiguous: 9 = 1*8 + 1 = 1*9 + 0.
    """
    inner = el.interface
    assert inner is not None
    scope = inner.scope
    assert scope.index is not None
    growth, fixed, elem = el.typer.fresh_size(env.level, "g"), el.typer.fresh_size(env.level, "c"), Unknown()
    part_type = Array(elem, growth * poly(scope.index) + fixed)
    was_dry, was_partial = el.dry, el.partial
    el.dry, el.partial = True, poly(scope.index)
    part = expressions.value(el, e.arg, Env(env.scope, scope.depth, env, env.metas, path=env.path))
    el.dry, el.partial = was_dry, was_partial
    before, elements = len(el.graph.relations), len(scope.aggregates)
    whole = expressions.value(el, e.arg, env)
    rule = f"only the outermost dimension of an array under construction grows: `as` cannot name a part of {s.text(e.arg)}"
    el.typer.unify(part.type, part_type, e.arg.span, rule)
    el.typer.unify(whole.type, Array(elem, growth * scope.extent + fixed), e.arg.span, rule)
    alias = g.Wire(part_type, scope, e.pattern.span, f"the built part of {s.text(e.arg)}", None, "alias")
    if not el.dry:
        el.graph.wires.append(alias)
        el.graph.producer[alias] = None
        scope.aliases.append((whole, alias))
        inside = tuple(x for x, _ in scope.aggregates[elements:])
        relations = tuple(el.graph.relations[before:])
        el.built.append(Built(scope, whole, alias, growth, fixed, relations, inside, e.span))
    el.interface = None
    patterns.define(el, e.pattern, [alias], inner)
    el.interface = inner
    return whole


def traversed(el: Elaborator, pattern: s.Alias) -> None:
    fail(
        "E0908",
        pattern.span,
        what=f"{s.text(pattern)}: `as` with the elements of an argument",
        where=el.operator.name,
        help="name the array, and use the loop index to split it",
    )


# -- block


def block(el: Elaborator, e: s.Block, env: Env, given: list[g.Wire] | None) -> list[g.Wire]:
    if env.placing:
        fail("E0908", e.span, what="a block computes, so it is no place; it", where=el.operator.name)
    scope = g.Scope("block", env.scope, e.span)
    el.around[scope] = env
    inner = env.inner(scope)
    border = _parameters(el, e.interface, scope, inner, env)
    names: Names = {}
    for clause in e.interface.args:
        pattern_names(clause.left if clause.left is not None else clause.right, names)
    el.declare(inner, {**names, **defined_names(e.body)})
    _reset(el, scope, e.reset, env)
    saved, el.interface = el.interface, None
    node = g.Nest((scope,), e.span)
    _block_arguments(el, e, env, inner, given, border)
    body(el, e.body, inner)
    el.node(env.scope, node)
    outs: list[g.Wire] = []
    for clause in e.interface.results:
        found = []
        for wire in expressions.values(el, clause.right, inner):
            found.append(leave(el, node, wire, env, clause, border))
        if clause.left is None:
            outs += found
        else:
            patterns.define(el, clause.left, found, env)
    el.interface = saved
    return outs


def leave(el: Elaborator, node: g.Nest, wire: g.Wire, env: Env, where: s.Node, border: Border | None = None) -> g.Wire:
    """The wire outside a block that is `wire` inside."""
    t = border.outwards(el, wire.type) if border is not None else wire.type
    outside = el.wire(env, where, t)
    outside.text, outside.name = wire.text, None
    if not el.dry:
        el.graph.relations.append(g.Relation(outside, ((ONE, wire),), None, "block", where.span))
        node.scope.accumulates.append((wire, outside))
        el.graph.producer[outside] = node
    return outside


class Border:
    """Abstract sizes and types of a block: rigid inside, ordinary unknowns outside."""

    def __init__(self) -> None:
        self.sizes: dict[Atom, Poly] = {}
        self.types: dict[Type, Type] = {}

    def outwards(self, el: Elaborator, t: Type) -> Type:
        if not self.sizes and not self.types:
            return t
        return rebuild(t, lambda x: self.types.get(x, x), lambda p: el.typer.size(p).subst(self.sizes))


def _parameters(el: Elaborator, interface: s.Interface, scope: g.Scope, inner: Env, env: Env) -> Border:
    border = Border()
    for param in interface.params:
        for name in param.names:
            if param.kind == "size":
                sym, outside = Sym(name), el.typer.fresh_size(env.level, name)
                el.typer.solver.rigid[sym] = scope.depth
                inner.sizes[name] = poly(sym)
                border.sizes[sym] = outside
                el.typer.abstract[sym] = outside
            elif param.kind == "type":
                generic = Generic(name)
                inner.types[name] = generic
                border.types[generic] = Unknown()
            else:
                inner.variables[name] = el.wire(inner, param, name=name, role="place")
    return border


def _block_arguments(el: Elaborator, e: s.Block, env: Env, inner: Env, given: list[g.Wire] | None, border: Border) -> None:
    queue = list(given) if given is not None else None
    for clause in e.interface.args:
        if clause.left is not None:
            pattern, outside = clause.left, expressions.values(el, clause.right, env)
        else:
            pattern = clause.right
            count = patterns.arity(el, pattern)
            if queue is None or len(queue) < count:
                have = 0 if queue is None else len(queue)
                help_ = f"give it a value: ({s.text(pattern)} = ..), or call the block: (block ..)(..)"
                fail("E0905", clause.span, what=s.text(pattern), given=f"{have} values", wanted=f"{count}", help=help_, where=el.operator.name)
            outside, queue = queue[:count], queue[count:]
        entering = []
        for wire in outside:
            inside = el.wire(inner, clause)
            inside.text = wire.shown
            el.relate(inner, wire, [(ONE, inside)], "access", "block", clause.span)
            entering.append(inside)
        patterns.define(el, pattern, entering, inner)
        for wire, inside in zip(outside, entering, strict=True):
            el.typer.unify(wire.type, border.outwards(el, inside.type), clause.span)
            if isinstance(prune(inside.type), Unknown):
                el.typer.unify(inside.type, wire.type, clause.span)
    if queue:
        fail("E0905", e.span, what="block", given=f"{len(given or ())} values", wanted="fewer", help="the block has fewer arguments", where=el.operator.name)


# -- branches


def branch(el: Elaborator, e: s.Branch, env: Env) -> list[g.Wire]:
    if env.placing:
        fail("E0908", e.span, what="a branch computes, so it is no place; it", where=el.operator.name)
    condition = _condition(el, e.condition, env)
    cases = (s.Case((), e.then, span=e.span), s.Case((), e.orelse, span=e.span))
    return _cases(el, e, condition, cases, ((True,),), env)


def match(el: Elaborator, e: s.Match, env: Env) -> list[g.Wire]:
    """One of several bodies. What labels may be was checked on the text (cases.py)."""
    if env.placing:
        fail("E0908", e.span, what="a match computes, so it is no place; it", where=el.operator.name)
    saved, el.interface = el.interface, None
    selector = expressions.value(el, e.value, env)
    el.interface = saved
    for label in (label for case in e.cases for label in case.labels):
        el.typer.unify(selector.type, label_type(label), e.value.span)
        if isinstance(label, s.Number):
            el.labels.append((selector, label))
    labels = tuple(tuple(label.value for label in case.labels) for case in e.cases[:-1])  # type: ignore[union-attr]
    return _cases(el, e, selector, e.cases, labels, env)


def label_type(label: s.Expr) -> Type:
    if isinstance(label, s.EnumValue):
        return label.type  # type: ignore[no-any-return]
    assert isinstance(label, s.Number)
    return BOOL if isinstance(label.value, bool) else Unknown("integer")


def _cases(el: Elaborator, e: s.Branch | s.Match, condition: g.Wire, cases: tuple[s.Case, ...], labels: Any, env: Env) -> list[g.Wire]:
    saved, el.interface = el.interface, None
    defined = [defined_names(case.body) for case in cases]
    shared = [name for name in defined[0] if all(name in names for names in defined)]
    el.half_defined.update({name: e.span for names in defined for name in names if name not in shared})
    outer = {name: el.variable(name, env, e.span) for name in shared}
    scopes, inners = [], []
    for case, names in zip(cases, defined, strict=True):
        scope = g.Scope("branch", env.scope, e.span)
        el.around[scope] = env
        inner = env.inner(scope)
        inner.exports = outer
        el.declare(inner, names)
        if case.reset is not None:
            _reset(el, scope, case.reset, env)
        body(el, case.body, inner)
        scopes.append(scope)
        inners.append(inner)
    node = g.Nest(tuple(scopes), e.span, condition, labels=labels, places=tuple(case.span for case in cases))
    el.node(env.scope, node)
    for name, whole in outer.items():
        el.define(whole, defined[0][name])
        parts = tuple(inner.variables[name] for inner in inners)
        for part in parts:
            el.same_place(whole, part, "if" if isinstance(e, s.Branch) else "match", part.span)
        if not el.dry:
            node.merges.append((whole, parts))
            el.graph.producer[whole] = node
    el.interface = saved
    return []

