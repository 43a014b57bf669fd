"""Scopes: forward, block, branches."""

from __future__ import annotations

from typing import Any

from atoll.madl import syntax as s
from atoll.madl.environment import alias_names, defined_names, pattern_names
from atoll.madl.meaning import expressions, operators, state
from atoll.madl.meaning import sizes as lengths
from atoll.madl.meaning.reading import Interface, Names, Reading, Round, Task
from atoll.madl.meaning.wires import Length, NotYet, Shape, Value, array
from atoll.madl.typing import NAMES


def restart(m: Reading, reset: s.Reset | None, scope: tuple[Any, ...], names: Names) -> Task:
    if reset is None:
        return
    if reset.kind == "restart":
        m.forget(scope)
    elif reset.kind == "reset":
        assert reset.condition is not None
        condition = expressions.plain(m, reset.condition, names)
        while True:
            try:
                holds = bool(m.store.scalar(condition))
                break
            except NotYet:
                yield
        if holds:
            m.forget(scope)


def aggregate(m: Reading, e: s.Aggregate, arg: s.Expr) -> Value:
    interface = m.interface
    assert interface is not None
    if interface.so_far is not None:
        whole = interface.wholes[id(e)]
        made = Value(array(interface.so_far, whole.shape.parts[0]))
        if interface.so_far.known() is not None:
            for a, b in zip(m.store.parts(made), m.store.parts(whole), strict=False):
                m.store.unify(a, b)
        return made
    made = Value(array(interface.count, Shape()))
    interface.collected.append((arg, made, interface.results))
    interface.wholes[id(e)] = made
    return made


def accumulate(m: Reading, arg: s.Expr) -> Value:
    interface = m.interface
    assert interface is not None
    made = Value()
    interface.final.append((arg, made))
    return made


def forward(m: Reading, e: s.Forward, names: Names) -> list[Value]:
    (level,) = e.levels
    count = lengths.written(m, level.size, names) if level.size is not None else Length()
    low = lengths.written(m, level.low, names) if level.low is not None else Length(0)
    scope = (*names.round.scope, id(e))
    m.outside[scope] = names
    interface = Interface(count, scope, e.reset.kind == "restart")
    outer = Names(names.round, names)
    saved, m.interface = m.interface, None
    for clause in level.args:
        whole = expressions.values_of(m, clause.right, names)
        assert clause.left is not None
        brackets = {n for node in s.walk(clause.left) if isinstance(node, s.Aggregate) for n in pattern_names(node.arg)}
        for name in pattern_names(clause.left):
            if name not in brackets:
                outer.variables.setdefault(name, Value())
        m.interface = interface
        for a, b in zip(expressions.values_of(m, clause.left, outer), whole, strict=True):
            m.store.unify(a, b)
        m.interface = None
    outs: list[Value] = []
    interface.results = True
    for clause in level.results:
        m.interface = interface
        found = expressions.values_of(m, clause.right, names)
        m.interface = None
        if clause.left is None:
            outs += found
        else:
            for a, b in zip(expressions.values_of(m, clause.left, names), found, strict=True):
                m.store.unify(a, b)
    m.interface = saved
    m.agenda.append(rounds(m, e, level, interface, low, outer))
    return outs


def rounds(m: Reading, e: s.Forward, level: s.Level, interface: Interface, low: Length, names: Names) -> Task:
    if interface.count.known() is None:
        yield
    unreal = "pattern" in interface.scope
    if unreal or not interface.count.known() or low.known() is None:
        pattern_round(m, e, level, interface, names)
    if unreal:
        return
    while interface.count.known() is None or low.known() is None:
        yield
    scope, count = interface.scope, interface.count.number()
    yield from restart(m, e.reset, scope, names)
    owner = scope if interface.restarts else names.round.owner
    kept = m.memory.get(scope)
    last_values: list[Value] = []
    for k in range(count):
        here = m.enter((*scope, k) if e.each else scope, owner, names.round)
        inner = Names(here, names)
        last_values = []
        yield from m.inside(lambda: last_values.extend(one_round(m, e, level, interface, inner, k, low.number())))
    for (_, whole), value in zip(interface.final, last_values, strict=False):
        whole.root().source = expressions.copy_of(m, value).source
        m.store.changes += 1
    if count == 0:
        for arg, whole in interface.final:
            nothing(m, arg, whole, kept, owner)


def pattern_round(m: Reading, e: s.Forward, level: s.Level, interface: Interface, names: Names) -> None:
    """The body read for its shapes and first values alone, where it is not known how many rounds there are, or there are none."""
    scope = interface.scope
    here = Round((*scope, "pattern"), names.round, None, scope if interface.restarts else names.round.owner)
    mine: list[Task] = []
    outer, m.agenda = m.agenda, mine
    saved, m.interface = m.interface, None
    lasts = len(m.lasts)
    one_round(m, e, level, interface, Names(here, names), None, None)
    del m.lasts[lasts:]
    m.agenda, m.interface = outer, saved
    m.patterns.append(mine)


def nothing(m: Reading, arg: s.Expr, whole: Value, kept: Round | None, owner: tuple[Any, ...]) -> None:
    """The last value of a loop without rounds is the state as it is."""
    bare = s.bare(arg)
    known = kept.variables.get(bare.name) if kept is not None and isinstance(bare, s.Variable) else None
    if known is not None:
        whole.root().source = expressions.copy_of(m, known).source
    else:
        whole.root().source = lambda path: state.first(m, m.store.at(whole, path), owner)
    m.store.changes += 1


def one_round(m: Reading, e: s.Forward, level: s.Level, interface: Interface, names: Names, k: int | None, low: int | None) -> list[Value]:
    """Read the body for round k, or for any round (a pattern)."""
    number = Length(k + low) if k is not None and low is not None else Length()
    if level.index_size is not None:
        names.sizes[level.index_size] = number
    if level.index is not None:
        names.sizes[level.index] = number
        names.variables[level.index] = m.scalars.number(number, NAMES["int"])
    elements = frozenset(n for arg, _, _ in interface.collected for n in pattern_names(arg))
    found: dict[str, Any] = {n: None for clause in level.args for n in pattern_names(clause.left) if n in elements}
    for clause in level.results:
        found.update(alias_names(clause.right))
    found.update(defined_names(e.body))
    operators.declare(m, names, found, elements)
    for arg, whole, built in interface.collected:
        element = expressions.value_of(m, arg, names)
        if k is None:
            m.store.same(element.shape, whole.shape.parts[0])
            element.root().places.append(whole)
            continue
        m.store.unify(element, m.store.parts(whole)[k])
        if built:
            element.root().element.append((names.round.scope, k))
    interface.so_far = Length(k)
    for arg, pattern in interface.built:
        m.interface = interface
        parts = expressions.values_of(m, arg, names.parent or names)
        m.interface = None
        for a, b in zip(expressions.values_of(m, pattern, names), parts, strict=True):
            m.store.unify(a, b)
    interface.so_far = None
    operators.body(m, e.body, names)
    finals = []
    for arg, whole in interface.final:
        value = expressions.value_of(m, arg, names)
        m.store.same(whole.shape, value.shape)
        value.root().places.append(whole)
        whole.root().places.append(value)
        finals.append(value)
    return finals


def block(m: Reading, e: s.Block, names: Names, given: list[Value]) -> list[Value]:
    scope = (*names.round.scope, id(e))
    m.outside[scope] = names
    owner = scope if e.reset.kind == "restart" else names.round.owner
    outs = [Value() for clause in e.interface.results for _ in range(operators.arity(m, clause.right))]
    lefts = [v for clause in e.interface.results if clause.left is not None for v in expressions.values_of(m, clause.left, names)]
    for a, b in zip(lefts, outs, strict=False):
        m.store.unify(a, b)
    m.agenda.append(block_round(m, e, names, given, scope, owner, outs))
    return outs if not lefts else []


def block_round(m: Reading, e: s.Block, names: Names, given: list[Value], scope: tuple[Any, ...], owner: tuple[Any, ...], outs: list[Value]) -> Task:
    yield from restart(m, e.reset, scope, names)
    inner = Names(m.enter(scope, owner, names.round), names)

    def read() -> None:
        found: dict[str, Any] = {}
        for clause in e.interface.args:
            pattern_names(clause.left if clause.left is not None else clause.right, found)
        found.update(defined_names(e.body))
        for param in e.interface.params:
            for name in param.names:
                if param.kind == "size":
                    inner.sizes[name] = Length()
                elif param.kind == "type":
                    inner.types[name] = Shape()
        operators.declare(m, inner, found)
        queue = list(given)
        for clause in e.interface.args:
            pattern = clause.left if clause.left is not None else clause.right
            outside = expressions.values_of(m, clause.right, names) if clause.left is not None else [queue.pop(0) for _ in range(operators.arity(m, pattern))]
            for a, b in zip(expressions.values_of(m, pattern, inner), outside, strict=True):
                m.store.unify(a, b)
        operators.body(m, e.body, inner)
        values = [v for clause in e.interface.results for v in expressions.values_of(m, clause.right, inner)]
        for out, value in zip(outs, values, strict=True):
            m.store.same(out.shape, value.shape)
            out.root().source = expressions.copy_of(m, value).source
            out.root().places.append(value)
            value.root().places.append(out)
            m.store.changes += 1

    yield from m.inside(read)


def cases(m: Reading, e: s.Expr, condition: Value, cases: tuple[s.Case, ...], labels: Any, names: Names) -> None:
    defined = [defined_names(case.body) for case in cases]
    shared = [name for name in defined[0] if all(name in other for other in defined)]
    for k, case in enumerate(cases):
        pattern_case(m, e, case, k, names, shared)
    if "pattern" not in names.round.scope:
        m.agenda.append(one_case(m, e, condition, cases, labels, names, shared))


def pattern_case(m: Reading, e: s.Expr, case: s.Case, k: int, names: Names, shared: list[str]) -> None:
    """The body of a case read for its shapes alone: a type is said by the whole text, not by the case that runs in this cycle."""
    here = Round((*names.round.scope, id(e), k, "pattern"), names.round, None, names.round.owner)
    inner = Names(here, names)
    for name in shared:
        inner.variables[name] = Value()
        m.store.same(inner.variables[name].shape, names.find("variables", name).shape)
    mine: list[Task] = []
    outer, m.agenda = m.agenda, mine
    saved, m.interface = m.interface, None
    lasts = len(m.lasts)
    operators.declare(m, inner, defined_names(case.body))
    operators.body(m, case.body, inner)
    del m.lasts[lasts:]
    m.agenda, m.interface = outer, saved
    m.patterns.append(mine)


def one_case(m: Reading, e: s.Expr, condition: Value, cases: tuple[s.Case, ...], labels: Any, names: Names, shared: list[str]) -> Task:
    while True:
        try:
            value = m.store.scalar(condition)
            break
        except NotYet:
            yield
    taken = next((k for k, row in enumerate(labels) if value in row), len(labels))
    case = cases[taken]
    scope = (*names.round.scope, id(e), taken)
    m.outside[scope] = names
    yield from restart(m, case.reset, scope, names)
    inner = Names(m.enter(scope, names.round.owner, names.round), names)
    for name in shared:
        inner.variables[name] = names.find("variables", name)

    def read() -> None:
        operators.declare(m, inner, defined_names(case.body))
        operators.body(m, case.body, inner)

    yield from m.inside(read)
