"""Operators used: structural ones are expanded, in both directions; computing ones are called, or expanded when asked.

A structural operator has no code of its own: its equations become relations of the program that uses it. Read backwards, its results are patterns, its
parameters expressions, and each of its equations changes sides. A computing operator was compiled once; its scheme says what a call
reads, writes and relates. A call is expanded when one of its memories would not be in one piece (layout asks for it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from atoll.errors import Span, fail
from atoll.madl import expressions, helps, iterate, patterns, state
from atoll.madl import graph as g
from atoll.madl import syntax as s
from atoll.madl.elaborate import Elaborator
from atoll.madl.environment import Env, Metas, Names, defined_names, pattern_names
from atoll.madl.typing import Generic, Reason, Unknown, rebuild
from atoll.sizes import Atom, Poly
from atoll.types.types import Record, Type
from atoll.views.functor import functor, prim

if TYPE_CHECKING:
    from atoll.madl.scheme import Scheme


@dataclass(eq=False)
class Defined:
    """An operator of the file. kind: patt, view, or what computes."""

    operator: s.Operator
    order: int
    kind: str = "func"

    @property
    def structural(self) -> bool:
        return self.kind in ("patt", "view")


@dataclass(eq=False)
class RecordItem:
    record: Record
    order: int


@dataclass(eq=False)
class External:
    """An imported Atoll function."""

    name: str
    function: Any
    order: int


Item = Defined | RecordItem | External


def results_of(el: Elaborator, name: str) -> int:
    """How many values an operator gives."""
    item = el.find(name)
    if isinstance(item, Defined):
        return sum(patterns.arity(el, c.left or c.right) for c in item.operator.interface.results)
    return 1


def use(el: Elaborator, e: s.Apply, env: Env, args: list[g.Wire]) -> list[g.Wire]:
    """The results of an operator applied to values."""
    item = el.find(e.name)
    match item:
        case None:
            fail("E0903", e.span, name=e.name, help=helps.operator(el, e.name), where=el.operator.name)
        case RecordItem(record):
            return [_construct(el, record, e, env, args)]
        case Defined() if item.structural:
            return expand_structure(el, item.operator, e, env, args, None)
    if env.placing:
        fail("E0908", e.span, what=f"{e.name} computes, so it is no place; it", where=el.operator.name)
    site = (*env.path, (e.span.line, e.span.column))
    if isinstance(item, Defined) and site in el.opened:
        return open_call(el, item.operator, e, env, args, site)
    if isinstance(item, Defined) and site in el.inlined and not item.operator.recursive:
        return expand_call(el, item.operator, e, env, args, site)
    scheme = el.library.scheme(item, el, e, env)
    if scheme.stateful and isinstance(item, Defined) and any(scope.each for scope in state.up_to_start(env.scope)):
        if item.operator.recursive:
            fail("E0972", e.span, what=f"{e.name} is recursive and has state", help="in a foreach, use operators that are not recursive", where=el.operator.name)
        return expand_call(el, item.operator, e, env, args, site)  # its state is one element of an array
    return call(el, scheme, e, env, args, site)


def undo(el: Elaborator, e: s.Apply, env: Env, wires: list[g.Wire]) -> list[g.Wire]:
    """The arguments an operator must have been applied to, to give these values."""
    item = el.find(e.name)
    if isinstance(item, RecordItem):
        if len(wires) != 1:
            fail("E0905", e.span, what=s.text(e), given=f"{len(wires)} values", wanted="1", help=helps.as_many(s.text(e), len(wires), 1), where=el.operator.name)
        el.typer.unify(wires[0].type, item.record, e.span)
        parts = [el.wire(env, e, t) for t in item.record.items]
        el.relate(env, wires[0], expressions.components(parts), "access", e.name, e.span)
        return parts
    if not isinstance(item, Defined) or item.kind != "patt":
        why = "it is no bijective rearrangement (patt)" if isinstance(item, Defined) else "it is no operator of this file"
        fail("E0908", e.span, what=s.text(e), where=el.operator.name, notes=[f"{e.name}: {why}"])
    return expand_structure(el, item.operator, e, env, None, wires)


def _construct(el: Elaborator, record: Record, e: s.Apply, env: Env, args: list[g.Wire]) -> g.Wire:
    if len(args) != len(record.items):
        help_ = helps.takes(e.name, record.decl.fields)
        fail("E0905", e.span, what=e.name, given=f"{len(args)} values", wanted=f"{len(record.items)}", help=help_, where=el.operator.name)
    for wire, t, at in zip(args, record.items, expressions.places(e.arg, args), strict=True):
        el.typer.unify(wire.type, t, at)
    whole = el.wire(env, e, record)
    parts = [(functor(prim("component", k, len(args))), w) for k, w in enumerate(args)]
    el.relate(env, whole, parts, "build", e.name, e.span)
    return whole


# -- interfaces of operators


def open_sizes(sizes: tuple[s.Size, ...] | None, known: dict[str, Poly]) -> list[str]:
    """Names in <<..>> that nothing declares; <<n>> declares n."""
    found: dict[str, None] = {}
    for size in sizes or ():
        for node in s.walk(size):
            if isinstance(node, s.SizeName) and node.name not in known:
                found[node.name] = None
    return list(found)


def enter(el: Elaborator, operator: s.Operator, env: Env, types: dict[str, Type] | None = None) -> None:
    """Declare the sizes, types and places of an operator's interface, and all variables of its body."""
    interface = operator.interface
    for param in interface.params:
        for name in param.names:
            if param.kind == "size":
                env.sizes[name] = el.typer.fresh_size(env.level, name)
            elif param.kind == "type":
                env.types[name] = (types or {}).get(name) or Unknown()
            else:
                env.variables[name] = el.wire(env, param, name=name, role="place")
    for name in open_sizes(interface.sizes, env.sizes):
        env.sizes[name] = el.typer.fresh_size(env.level, name)
    names: Names = {}
    for clause in interface.args:
        pattern_names(clause.right, names)
    names.update(defined_names(operator.body))
    for clause in interface.results:
        if clause.left is not None:
            pattern_names(clause.left, names)
        names.update(defined_names((clause.right,)))
    el.declare(env, names)


def give_sizes(el: Elaborator, operator: s.Operator, inner: Env, given: tuple[s.Size, ...] | None, env: Env, span: Span) -> None:
    """f<<s, ..>>: the sizes of the interface are those given."""
    if given is None:
        return
    wanted = operator.interface.sizes or ()
    if len(given) != len(wanted):
        help_ = helps.takes_sizes(operator.name, map(s.text, wanted))
        fail("E0905", span, what=f"sizes of {operator.name}", given=len(given), wanted=len(wanted), help=help_, where=el.operator.name)
    for mine, theirs in zip(wanted, given, strict=True):
        el.typer.solver.equate(el.size(theirs, env), el.size(mine, inner), Reason(span, None, None))


def _as_group(clauses: tuple[s.Clause, ...], span: Span) -> s.Expr:
    return s.Group(tuple(c.right for c in clauses), span=span)


# -- structural operators


def expand_structure(
    el: Elaborator, operator: s.Operator, e: s.Apply, env: Env, args: list[g.Wire] | None, results: list[g.Wire] | None
) -> list[g.Wire]:
    """The operator's relations, in the direction of use: from arguments to results, or back."""
    inner = Env(env.scope, env.level, None, Metas(), placing=env.placing, path=env.path, root=True)
    outermost, el.use = el.use, el.use or e
    enter(el, operator, inner)
    give_sizes(el, operator, inner, e.sizes, env, e.span)
    interface = operator.interface
    params, outs = _as_group(interface.args, e.span), _as_group(interface.results, e.span)
    saved, el.interface = el.interface, None
    if results is None:
        assert args is not None
        wanted = patterns.arity(el, params)
        if wanted != len(args):
            help_ = helps.takes(operator.name, (s.text(s.bare(c.right)) for c in interface.args))
            fail("E0905", e.span, what=operator.name, given=f"{len(args)} values", wanted=f"{wanted}", help=help_, where=el.operator.name)
        patterns.define(el, params, args, inner)
        iterate.body(el, operator.body, inner)
        found = expressions.values(el, outs, inner)
    else:
        el.declare(inner, pattern_names(outs))
        patterns.define(el, outs, results, inner)
        for statement in operator.body:
            if isinstance(statement, s.Equation):
                patterns.define(el, statement.value, expressions.values(el, statement.pattern, inner), inner)
            else:
                expressions.values(el, statement, inner)
        found = expressions.values(el, params, inner)
    el.interface, el.use = saved, outermost
    return found


# -- computing operators


def expand_call(el: Elaborator, operator: s.Operator, e: s.Apply, env: Env, args: list[g.Wire], site: Any) -> list[g.Wire]:
    """The operator's body as a block of this program."""
    scope = g.Scope("block", env.scope, e.span)
    el.around[scope] = env
    inner = Env(scope, scope.depth, None, Metas(), path=site, root=True)
    enter(el, operator, inner)
    give_sizes(el, operator, inner, e.sizes, env, e.span)
    saved, el.interface = el.interface, None
    node = g.Nest((scope,), e.span)
    entering = []
    for wire in args:
        inside = el.wire(inner, e, wire.type)
        inside.text = wire.shown
        el.relate(inner, wire, [(functor(), inside)], "access", "argument", e.span)
        entering.append(inside)
    patterns.define(el, _as_group(operator.interface.args, e.span), entering, inner)
    iterate.body(el, operator.body, inner)
    el.node(env.scope, node)
    found = operator_results(el, operator, inner)
    outs = [iterate.leave(el, node, wire, env, e) for wire in found]
    el.interface = saved
    return outs


def open_call(el: Elaborator, operator: s.Operator, e: s.Apply, env: Env, args: list[g.Wire], site: Any) -> list[g.Wire]:
    """The operator's equations as equations of this scope: what is fed back through it need not wait for all of it."""
    inner = Env(env.scope, env.level, None, Metas(), path=site, root=True)
    enter(el, operator, inner)
    give_sizes(el, operator, inner, e.sizes, env, e.span)
    saved, el.interface = el.interface, None
    patterns.define(el, _as_group(operator.interface.args, e.span), args, inner)
    iterate.body(el, operator.body, inner)
    found = operator_results(el, operator, inner)
    el.interface = saved
    return found


def operator_results(el: Elaborator, operator: s.Operator, env: Env) -> list[g.Wire]:
    """The result wires of an operator whose body has been read."""
    found: list[g.Wire] = []
    for clause in operator.interface.results:
        if clause.left is None:
            found += expressions.values(el, clause.right, env)
        else:
            patterns.define(el, clause.left, expressions.values(el, clause.right, env), env)
            found += expressions.values(el, clause.left, env)
    return found


def call(el: Elaborator, scheme: Scheme, e: s.Apply, env: Env, args: list[g.Wire], site: Any) -> list[g.Wire]:
    """A call of a compiled operator."""
    if len(args) != len(scheme.inputs):
        help_ = helps.takes(e.name, (port.name for port in scheme.inputs))
        fail("E0905", e.span, what=scheme.name, given=f"{len(args)} values", wanted=f"{len(scheme.inputs)}", help=help_, where=el.operator.name)
    sizes: dict[Atom, Poly] = {sym: el.typer.fresh_size(env.level, sym.name) for sym in scheme.sizes}
    types: dict[Any, Type] = {generic: Unknown(generic.family) for generic in scheme.generics}

    def here(t: Type) -> Type:
        return rebuild(t, lambda x: types.get(x, x) if isinstance(x, Generic) else x, lambda p: p.subst(sizes))

    if e.sizes is not None and scheme.compiled is not None and not scheme.compiled.fixed_sizes:
        if len(e.sizes) != len(scheme.size_params):
            what = f"sizes of {scheme.name}"
            help_ = helps.takes_sizes(e.name, (n or "n" for n, _ in scheme.size_params))
            fail("E0905", e.span, what=what, given=len(e.sizes), wanted=len(scheme.size_params), help=help_, where=el.operator.name)
        for (_, mine), theirs in zip(scheme.size_params, e.sizes, strict=True):
            el.typer.solver.equate(el.size(theirs, env), mine.subst(sizes), Reason(e.span, None, None))
    chunks = []
    for info in scheme.chunks:
        wire = el.wire(env, e, here(info.type), role="chunk")
        wire.text = f"{info.name} of {scheme.name}"
        chunks.append(wire)
    outs = [el.wire(env, e) for _ in scheme.outputs]
    given = list(zip(scheme.inputs, args, expressions.places(e.arg, args), strict=True))
    for port, wire, at in [*reversed(given), *((port, wire, wire.span) for port, wire in zip(scheme.outputs, outs, strict=True))]:
        el.typer.unify(wire.type, here(port.type), at)
        if not el.dry:
            part = ((port.view.subst(sizes), wire),)
            el.graph.relations.append(g.Relation(chunks[port.chunk], part, None, f"{port.name} of {scheme.name}", e.span))
    node = g.Call(scheme, tuple(args), tuple(outs), tuple(chunks), sizes, types, e.span, site)
    el.node(env.scope, node)
    if not el.dry:
        el.graph.requirements += [(p.subst(sizes), f"{what} in {scheme.name}", e.span) for p, what, _ in scheme.requirements]
        if scheme.stateful:
            _own_state(el, node, env, e)
    return outs


def _own_state(el: Elaborator, node: g.Call, env: Env, e: s.Apply) -> None:
    """The state of a call starts with the scope around it that restarts, and with every `reset c` in between."""
    if env.scope.kind == "init":
        fail("E0925", e.span, name=node.name, declared="a node, which has state", why="`init` may only compute", where=el.operator.name)
    owner, conditional = state.restarting(env.scope)
    starting = g.Scope("init", owner.parent, e.span, depth=owner.parent.depth if owner.parent else 0)
    starting.nodes.append(g.ResetCall(node, e.span))
    node.home = owner
    start = g.Start(starting, [], owner, env.scope, e.span)
    owner.starts.append(start)
    for crossed in conditional:
        if crossed is not owner:
            crossed.starts.append(start)
