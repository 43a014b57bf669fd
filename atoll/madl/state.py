"""`last` and `init`: memory that lives from one cycle, or one round, to the next.

`last e` is the content of e's place before this round writes it; it costs nothing, and all that reads it must run before that write. In one
branch of an `if`, `last` of what both branches define is the last value of the whole `if`, so it is taken outside.

`e init c` gives the place of e its first value. c is computed when the nearest enclosing scope that restarts is started, so it sees the
names outside that scope only; for an operator, which restarts with its instance, these are sizes and constants (thesis 5.1.2).
"""

from __future__ import annotations

from atoll.errors import Span, fail
from atoll.madl import expressions
from atoll.madl import graph as g
from atoll.madl import syntax as s
from atoll.madl.elaborate import Elaborator
from atoll.madl.environment import Env, used_variables
from atoll.madl.levels import rank
from atoll.views.functor import ONE


def last(el: Elaborator, e: s.Last, env: Env) -> list[g.Wire]:
    if env.placing:
        fail("E0908", e.span, what="`last` is no place; it", where=el.operator.name)
    home = _home(e, env)
    found = []
    for wire in expressions.values(el, e.arg, home):
        scope = home.scope
        while scope.kind == "init" and scope.parent is not None:  # `init last t`: the t of the scope around
            scope = scope.parent
        old = g.Wire(wire.type, scope, e.span, s.text(e), None, "last")
        if not el.dry:
            el.graph.wires.append(old)
            el.graph.relations.append(g.Relation(wire, ((ONE, old),), None, "last", e.span))
            scope.lasts.append((wire, old))
            el.graph.producer[old] = None
        found.append(old)
    return found


def _home(e: s.Last, env: Env) -> Env:
    """Where the flow under `last` lives: outside a branch when all its names do."""
    names = used_variables(e.arg)
    while env.scope.kind == "branch" and env.parent is not None and names.isdisjoint(env.variables.keys() - env.exports.keys()):
        env = env.parent
    return env


def restarting(scope: g.Scope) -> tuple[g.Scope, list[g.Scope]]:
    """The scope whose start initialises what is in `scope`, and the `reset c` scopes in between."""
    conditional = []
    while scope.reset != "restart" and scope.parent is not None:
        if scope.reset == "reset":
            conditional.append(scope)
        scope = scope.parent
    return scope, conditional


def start_env(el: Elaborator, env: Env, scope: g.Scope, span: Span) -> tuple[Env, g.Scope, list[g.Scope]]:
    """Names and scope for code that runs when the scope around `scope` starts."""
    owner, conditional = restarting(scope)
    starting = g.Scope("init", owner.parent, span, depth=owner.parent.depth if owner.parent else 0)
    operator = env.outermost()
    outside = el.around.get(owner)
    if outside is not None and outside.inside(operator):
        return outside.inner(starting), owner, conditional
    closed = Env(starting, starting.depth, None, env.metas, sizes=dict(operator.sizes), types=dict(operator.types), path=env.path, root=True)
    return closed, owner, conditional


def initialise(el: Elaborator, wires: list[g.Wire], e: s.Initial, env: Env) -> None:
    """`wires init value`."""
    if el.dry:
        return
    scope = el.interface.scope if el.interface is not None and rank(e.arg) > 0 else env.scope
    if scope.kind == "init":
        fail("E0908", e.span, what="`init` inside `init`", where=el.operator.name)
    starting, owner, conditional = start_env(el, env, scope, e.span)
    saved, el.interface = el.interface, None
    first = expressions.values(el, e.value, starting)
    el.interface = saved
    if len(first) != len(wires):
        fail("E0905", e.span, what=f"init {s.text(e.value)}", given=f"{len(first)} values", wanted=f"{len(wires)}", where=el.operator.name)
    for wire, value in zip(wires, first, strict=True):
        el.same_place(wire, value, "init", e.span)
    start = g.Start(starting.scope, list(zip(wires, first, strict=True)), owner, scope, e.span)
    owner.starts.append(start)
    for crossed in conditional:
        if crossed is not owner:
            crossed.starts.append(start)
