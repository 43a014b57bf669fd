"""Operators: their bodies are read where they are used, in a round of their own."""

from __future__ import annotations

from typing import Any

from atoll.madl import syntax as s
from atoll.madl.environment import defined_names, pattern_names
from atoll.madl.instances import Defined, open_sizes
from atoll.madl.meaning import expressions
from atoll.madl.meaning import sizes as lengths
from atoll.madl.meaning.reading import Names, Reading, Round, Task
from atoll.madl.meaning.wires import Length, Shape, Value
from atoll.madl.recursion import size_names, specialise


def operator(m: Reading, operator: s.Operator, here: Round, given: list[Value], sizes: list[Length] | None) -> tuple[Names, list[Value]]:
    """Read an operator's body in a round of its own; the values it gives."""
    names = Names(here, root=True)
    interface = operator.interface
    for param in interface.params:
        for name in param.names:
            if param.kind == "size":
                names.sizes[name] = Length()
            elif param.kind == "type":
                names.types[name] = Shape()
            else:
                names.variables[name] = Value()
    for name in open_sizes(interface.sizes, names.sizes):  # type: ignore[arg-type]
        names.sizes[name] = Length()
    for size, length in zip(interface.sizes or (), sizes or (), strict=False):
        m.store.equal(lengths.written(m, size, names), length)
    found: dict[str, Any] = {}
    for clause in interface.args:
        pattern_names(clause.right, found)
    found.update(defined_names(operator.body))
    for clause in interface.results:
        if clause.left is not None:
            pattern_names(clause.left, found)
        found.update(defined_names((clause.right,)))
        found.update({n: None for n in pattern_names(clause.right) if names.find("sizes", n) is None})
    declare(m, names, found)
    params = [v for clause in interface.args for v in expressions.values_of(m, clause.right, names)]
    for mine, theirs in zip(params, given, strict=True):
        m.store.unify(mine, theirs)
    if operator.recursive:
        outs = [Value() for clause in interface.results for _ in range(arity(m, clause.left or clause.right))]
        m.agenda.append(recursive(m, operator, names, outs))
        return names, outs
    body(m, operator.body, names)
    return names, results(m, interface, names)


def results(m: Reading, interface: s.Interface, names: Names) -> list[Value]:
    outs: list[Value] = []
    for clause in interface.results:
        values = expressions.values_of(m, clause.right, names)
        if clause.left is not None:
            lefts = expressions.values_of(m, clause.left, names)
            for a, b in zip(lefts, values, strict=True):
                m.store.unify(a, b)
        outs += values
    return outs


def recursive(m: Reading, operator: s.Operator, names: Names, outs: list[Value]) -> Task:
    """The branch that the sizes decide, when they are known."""
    wanted = size_names(operator)
    while any(names.find("sizes", n).known() is None for n in wanted):
        yield
    known = {n: names.find("sizes", n).number() for n in wanted}
    key = (id(operator), tuple(known.items()))
    if key not in m.made:
        m.made[key] = specialise(operator, known)
    chosen = m.made[key]
    declare(m, names, defined_names(chosen.body))
    body(m, chosen.body, names)
    for a, b in zip(results(m, operator.interface, names), outs, strict=True):
        m.store.unify(a, b)


def arity(m: Reading, pattern: s.Expr) -> int:
    match pattern:
        case s.Group(parts):
            return sum(arity(m, part) for part in parts)
        case s.Typed(arg) | s.Located(arg) | s.Initial(arg) | s.Alias(arg):
            return arity(m, arg)
        case s.Apply(name) if isinstance(item := m.library.items.get(name), Defined):
            return sum(arity(m, c.left or c.right) for c in item.operator.interface.results)
    return 1


def declare(m: Reading, names: Names, found: Any, elements: frozenset[str] = frozenset()) -> None:
    """New variables. Those that are elements of an array have no state of their own in this scope."""
    for name in found:
        if name not in names.variables:
            made = Value()
            names.variables[name] = made
            if name not in elements:
                made.names.append((names.round, name))
                names.round.variables[name] = made


def body(m: Reading, statements: tuple[s.Expr, ...], names: Names) -> None:
    for statement in statements:
        expressions.values_of(m, statement, names)
