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
from atoll.sizes import poly
from atoll.types.types import Array
from atoll.views.functor import ONE, functor, prim


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


def up_to_start(scope: g.Scope, target: g.Scope | None = None) -> list[g.Scope]:
    """The scopes from `scope` to the one that starts it (or to one in between), both included."""
    last_ = target if target is not None else restarting(scope)[0]
    found = []
    for here in scope.chain():
        found.append(here)
        if here is last_:
            break
    return found


def _start_env(el: Elaborator, env: Env, owner: g.Scope, target: g.Scope, span: Span) -> Env:
    """Names and scope for code that runs when `target` starts: the names are those outside `owner`."""
    starting = g.Scope("init", target.parent, span, depth=target.parent.depth if target.parent else 0)
    operator = env.outermost()
    outside = el.around.get(owner)
    if outside is not None and outside.inside(operator):
        return outside.inner(starting)
    return Env(starting, starting.depth, None, env.metas, sizes=dict(operator.sizes), types=dict(operator.types), path=env.path, root=True)


def initialise(el: Elaborator, wires: list[g.Wire], e: s.Initial, env: Env) -> None:
    """`wires init value`."""
    if el.dry:
        return
    scope = el.interface.scope if el.interface is not None and rank(e.arg) > 0 else env.scope
    if scope.kind == "init":
        fail("E0908", e.span, what="`init` inside `init`", where=el.operator.name)
    owner, conditional = restarting(scope)
    made: dict[tuple[g.Scope, ...], g.Start] = {}
    for target in dict.fromkeys([owner, *conditional]):
        each = tuple(x for x in up_to_start(scope, target) if x.each)
        if each not in made:  # a scope inside a foreach starts one element, one outside it all of them
            made[each] = _start(el, _wholes(el, wires, each, s.bare(e.arg)), each, e, env, scope, owner, owner if not made else target)
        target.starts.append(made[each])


def _wholes(el: Elaborator, wires: list[g.Wire], each: tuple[g.Scope, ...], flow: s.Expr) -> list[g.Wire]:
    """The arrays that hold the state of every element of the loops, innermost first."""
    for loop in each:
        assert loop.index is not None and loop.parent is not None
        view = functor(prim("index", poly(loop.index), loop.extent))
        around = []
        for wire in wires:
            whole = g.Wire(Array(wire.type, loop.extent), loop.parent, wire.span, wire.text)
            whole.hint = flow.name.partition("#")[0] if isinstance(flow, s.Variable) else wire.name
            el.graph.wires.append(whole)
            el.graph.relations.append(g.Relation(whole, ((view, wire),), None, "foreach", wire.span))
            around.append(whole)
        wires = around
    return wires


def _start(
    el: Elaborator, wires: list[g.Wire], each: tuple[g.Scope, ...], e: s.Initial, env: Env, scope: g.Scope, owner: g.Scope, target: g.Scope
) -> g.Start:
    starting = _start_env(el, env, owner, target, e.span)
    saved, el.interface = el.interface, None
    first = expressions.values(el, e.value, starting) if not each else []
    if each:
        for item in s.items(e.value):  # [_]c: the same for every element
            for _ in each:
                item = s.Constant(s.SizeHole(span=e.span), item, span=e.value.span)
            first += expressions.values(el, item, starting)
    el.interface = saved
    if len(first) != len(wires):
        fail("E0905", e.span, what=f"init {s.text(e.value)}", given=f"{len(first)} values", wanted=f"{len(wires)}", help="write a first value for each: (a init ..), (b init ..)", where=el.operator.name)
    for wire, value in zip(wires, first, strict=True):
        el.same_place(wire, value, "init", e.span)
    return g.Start(starting.scope, list(zip(wires, first, strict=True)), target, scope, e.span)
