"""`match` on values that contain unions: cases to a tree of tests, every case's body once, and a missing case named.

The classical algorithm over a matrix: a row per case, a column per part of the value still to be looked at. The first row's first
part that is not a plain name decides what is looked at next; its cases split the matrix. A matrix without rows is a missing case, and the
choices on the way to it spell the pattern that is missing. Bodies are arms: the tree's leaves name them, so no body is copied
however often the tree reaches it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import binary, condition
from atoll.elaborate.coerce import coerce, join_types, make_tuple, project
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.expansion import after_branches
from atoll.elaborate.expressions import as_value, expr, truth, value
from atoll.elaborate.function_values import parameter
from atoll.elaborate.joined import chosen, join_functions
from atoll.elaborate.parameters import arguments
from atoll.sizes import Sym, poly
from atoll.surface import syntax as s
from atoll.surface.names import Liveness, binds
from atoll.types.records import record_of
from atoll.types.types import I64_T, Record, RecordDecl, Tuple, Type, Union, sizes_in, strong, subst_sizes
from atoll.types.unions import NONE, has_data, own_sizes, type_key


def applies(t: Type) -> bool:
    """This kind of match is for values with unions in them; numbers, tuples and records alone are a chain of `if`."""
    return has_data(t)


@dataclass(slots=True)
class _Row:
    patterns: list[s.Pattern | None]
    names: dict[str, Value]
    arm: int


@dataclass(slots=True)
class _Arm:
    case: s.Case
    names: list[str] = field(default_factory=list)
    sizes: list[Sym] = field(default_factory=list)
    params: list[Sym] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    reached: bool = False


class _Matcher:
    def __init__(self, el: Elaborator, stmt: s.Match, subject: Value) -> None:
        self.el, self.stmt, self.subject = el, stmt, subject
        self.arms = [_Arm(c) for c in stmt.cases]
        self.opened: set[Sym] = set()
        self.chosen: dict[Sym, tuple[str, list[Value]]] = {}  # for the missing case: what is known of a part

    def tree(self) -> ir.Tree:
        rows = [_Row([c.pattern], {}, k) for k, c in enumerate(self.stmt.cases)]
        made = self.compile(rows, [self.subject])
        for arm in self.arms:
            if not arm.reached:
                self.el.fail("E1107", arm.case.span)
        return made

    # -- the matrix

    def compile(self, rows: list[_Row], parts: list[Value]) -> ir.Tree:
        if not rows:
            self.el.fail("E1106", self.stmt.subject.span, missing=self.describe(self.subject))
        first = rows[0]
        rows = [self.simplify(row, parts) for row in self.options(rows)]
        first = rows[0]
        column = next((k for k, p in enumerate(first.patterns) if p is not None), None)
        if column is None:
            return self.leaf(first, rows[1:], parts)
        part, pattern = parts[column], first.patterns[column]
        if isinstance(part.type, Union):
            return self.switch(rows, parts, column)
        if isinstance(pattern, s.ValuePattern):
            return self.test(rows, parts, column)
        return self.spread(rows, parts, column)

    def options(self, rows: list[_Row]) -> list[_Row]:
        """Rows with `|` in a pattern as one row per option."""
        done: list[_Row] = []
        for row in rows:
            split = [row]
            for k in range(len(row.patterns)):
                more: list[_Row] = []
                for r in split:
                    p = r.patterns[k]
                    while isinstance(p, s.Capture) and p.pattern is not None and isinstance(p.pattern, s.OrPattern):
                        p = s.OrPattern(tuple(s.Capture(p.name, o, span=p.span) for o in p.pattern.options), span=p.span)
                    if isinstance(p, s.OrPattern):
                        for option in p.options:
                            more += self.options([_Row([*r.patterns[:k], option, *r.patterns[k + 1 :]], dict(r.names), r.arm)])
                    else:
                        more.append(r)
                split = more
            done += split
        return done

    def simplify(self, row: _Row, parts: list[Value]) -> _Row:
        """Names are bound, and `_` looks at nothing."""
        patterns: list[s.Pattern | None] = []
        names = dict(row.names)
        for p, part in zip(row.patterns, parts, strict=True):
            while isinstance(p, s.Capture):
                names[p.name] = part
                p = p.pattern
            patterns.append(None if isinstance(p, s.Wildcard) else p)
        return _Row(patterns, names, row.arm)

    # -- ends

    def leaf(self, row: _Row, rest: list[_Row], parts: list[Value]) -> ir.Tree:
        arm = self.arms[row.arm]
        if arm.case.guard is None:
            return self.reach(arm, row)
        saved = self.el.scope
        self.el.scope = saved.branch({**saved.names, **row.names})
        try:
            with self.el.block(), self.el.hypotheses():
                test = truth(self.el, arm.case.guard, "the guard")
                cond = self.el.close(test.expr)
        finally:
            self.el.scope = saved
        return ir.TestTree(cond, self.reach(arm, row), self.compile(rest, parts))

    def reach(self, arm: _Arm, row: _Row) -> ir.Leaf:
        """Pass the parts a case names to its arm; sizes of the value's own are passed beside them."""
        names = sorted(row.names)
        values = [row.names[n] for n in names]
        sizes = [x for x in dict.fromkeys(leaf for v in values for p in sizes_in(v.type) for leaf in p.leaves()) if x in self.opened]
        here = [x for x in sizes if isinstance(x, Sym)]
        if not arm.reached:
            arm.reached = True
            arm.names = names
            arm.sizes = [Sym(x.name) for x in here]
            env = dict(zip(here, map(poly, arm.sizes), strict=True))
            arm.params = [Sym(n) for n in names]
            arm.types = [strong(subst_sizes(v.type, env)) for v in values]  # type: ignore[arg-type]
        elif arm.names != names or len(arm.sizes) != len(here):
            self.el.fail("E1115", arm.case.span)

        if any(type_key(a) != type_key(strong(v.type)) for a, v in zip(arm.types, values, strict=True)):
            self.el.fail("E1115", arm.case.span)
        number = self.arms.index(arm)
        return ir.Leaf(number, (*(ir.SizeOf(poly(x), type=I64_T) for x in here), *(v.expr for v in values)))

    # -- looking

    def switch(self, rows: list[_Row], parts: list[Value], column: int) -> ir.Tree:
        """A part of union type: its cases as far as some row names them, the rest together."""
        part = parts[column]
        t = part.type
        assert isinstance(t, Union) and isinstance(part.expr, ir.Var)
        named = {self.case_of(r.patterns[column], t) for r in rows if r.patterns[column] is not None}
        cases = []
        sym = part.expr.sym
        for k in sorted(named):
            member = t.decl.member(t, k)
            sizes, fields = self.open(member)
            inner = [*parts[:column], *fields, *parts[column + 1 :]]
            kept = []
            for row in rows:
                p = row.patterns[column]
                if p is None or self.case_of(p, t) == k:
                    below = self.fields(p, member.decl, len(fields))
                    kept.append(_Row([*row.patterns[:column], *below, *row.patterns[column + 1 :]], row.names, row.arm))
            self.chosen[sym] = (member.decl.name, fields)
            syms = tuple(f.expr.sym for f in fields)  # type: ignore[union-attr]
            cases.append(ir.CaseOf(k, tuple(sizes), syms, tuple(f.type for f in fields), self.compile(kept, inner)))
        default = None
        if len(named) < len(t.decl.members):
            other = next(k for k in range(len(t.decl.members)) if k not in named)
            unnamed = t.decl.member(t, other)
            self.chosen[sym] = (unnamed.decl.name, [Value(part.expr, part.type)] * 0 + [_BLANK] * len(unnamed.items))
            kept = [_without(row, column) for row in rows if row.patterns[column] is None]
            default = self.compile(kept, [*parts[:column], *parts[column + 1 :]])
        del self.chosen[sym]
        return ir.Switch(sym, strong(t), tuple(cases), default)

    def open(self, member: Record) -> tuple[list[Sym], list[Value]]:
        """Variables for the fields of a case and for the sizes only the value knows."""
        env = {}
        sizes = []
        for own in own_sizes(member):
            sym = Sym(own.name)
            sizes.append(sym)
            env[own] = poly(sym)
            self.opened.add(sym)
            self.el.solver.rigid[sym] = self.el.level
            self.el.session.bounded.add(sym)
            self.el.assume(poly(sym))
        fields = [
            parameter(self.el, Sym(name), subst_sizes(item, env))  # type: ignore[arg-type]
            for name, item in zip(member.decl.fields, member.items, strict=True)
        ]
        return sizes, fields

    def case_of(self, p: s.Pattern | None, t: Union) -> int:
        """Which case of the union a pattern is about."""
        decl = self.record(p) if p is not None else None
        k = t.decl.position(decl) if decl is not None else None
        if k is None:
            assert p is not None
            if decl is not None:
                cases = ", ".join(d.name for d in t.decl.decls)
                self.el.fail("E1105", p.span, record=decl.name, union=repr(t.decl), cases=cases)
            self.el.fail("E0242", p.span, found=self.el.show(t))
        return int(k)

    def record(self, p: s.Pattern) -> RecordDecl | None:
        if isinstance(p, s.ValuePattern) and isinstance(p.value, s.NoneValue):
            return NONE
        if not isinstance(p, s.ClassPattern):
            return None
        entity: Any = expr(self.el, p.cls)
        decl = record_of(entity.type) if isinstance(entity, en.TypeRef) else None
        if decl is None:
            self.el.fail("E0242", p.span, found=describe(entity))
        return decl

    def fields(self, p: s.Pattern | None, decl: RecordDecl, count: int) -> list[s.Pattern | None]:
        """The patterns of a record's fields, by position and by name."""
        below: list[s.Pattern | None] = [None] * count
        if isinstance(p, s.ClassPattern):
            if len(p.args) > count:
                self.el.fail("E0235", p.span, name=decl.name, expected=arguments(count), found=len(p.args))
            for k, inner in enumerate(p.args):
                below[k] = inner
            for name, inner in p.keywords:
                if name not in decl.fields:
                    self.el.fail("E0229", p.span, name=name, record=decl.name, fields=", ".join(decl.fields))
                below[decl.fields.index(name)] = inner
        return [s.Wildcard() if b is None else b for b in below]

    def spread(self, rows: list[_Row], parts: list[Value], column: int) -> ir.Tree:
        """A tuple or record: its components are parts of their own."""
        part = parts[column]
        t = part.type
        if not isinstance(t, (Tuple, Record)):
            pattern = rows[0].patterns[column]
            assert pattern is not None
            self.el.fail("E0242", pattern.span, found=self.el.show(t))
        components = []
        lets: list[tuple[Sym, ir.Expr]] = []
        for k in range(len(t.items)):
            value = project(part, k)
            sym = Sym("part")
            lets.append((sym, value.expr))
            components.append(Value(ir.Var(sym, type=value.expr.type), value.type, poly(sym) if value.poly is not None else None))
        assert isinstance(part.expr, ir.Var)
        name = t.decl.name if isinstance(t, Record) else ""
        self.chosen[part.expr.sym] = (name, components)
        kept = []
        for row in rows:
            p = row.patterns[column]
            if isinstance(t, Record):
                if p is not None and self.record(p) != t.decl:
                    self.el.fail("E0242", p.span, found=self.el.show(t))
                below = self.fields(p, t.decl, len(t.items))
            elif p is None:
                below = [s.Wildcard()] * len(t.items)
            elif isinstance(p, s.TuplePattern) and len(p.items) == len(t.items):
                below = list(p.items)
            else:
                self.el.fail("E0242", p.span, found=self.el.show(t))
            kept.append(_Row([*row.patterns[:column], *below, *row.patterns[column + 1 :]], row.names, row.arm))
        tree = self.compile(kept, [*parts[:column], *components, *parts[column + 1 :]])
        for sym, component in reversed(lets):
            tree = ir.LetTree(sym, component, tree)
        del self.chosen[part.expr.sym]
        return tree

    def test(self, rows: list[_Row], parts: list[Value], column: int) -> ir.Tree:
        """A number: is it the one the first row names?"""
        pattern = rows[0].patterns[column]
        assert isinstance(pattern, s.ValuePattern)
        with self.el.block(), self.el.hypotheses():
            test = condition(self.el, binary(self.el, "==", parts[column], value(self.el, pattern.value), pattern.span), pattern.span, "the pattern")
            cond = self.el.close(test.expr)
        text = _literal(pattern)
        same = [_with(row, column, None) for row in rows if (p := row.patterns[column]) is None or _literal(p) == text]
        other = [row for row in rows if row.patterns[column] is None or _literal(row.patterns[column]) != text]
        if isinstance(text, bool):  # then it is the other one
            other = [_with(row, column, None) if isinstance(_literal(row.patterns[column]), bool) else row for row in other]
        return ir.TestTree(cond, self.compile(same, parts), self.compile(other, parts))

    # -- the missing case

    def describe(self, part: Value) -> str:
        if part is _BLANK or not isinstance(part.expr, ir.Var) or part.expr.sym not in self.chosen:
            return "_"
        name, below = self.chosen[part.expr.sym]
        if name == "None":
            return name
        inner = ", ".join(map(self.describe, below))
        return f"{name}({inner})"


_BLANK = Value(ir.Lit(0, type=I64_T), I64_T)


def _literal(p: object) -> object:
    if isinstance(p, s.ValuePattern):
        return p.value.value if isinstance(p.value, s.Num) else id(p)
    return id(p)


def _with(row: _Row, column: int, p: s.Pattern | None) -> _Row:
    return _Row([*row.patterns[:column], p, *row.patterns[column + 1 :]], row.names, row.arm)


def _without(row: _Row, column: int) -> _Row:
    return _Row([*row.patterns[:column], *row.patterns[column + 1 :]], row.names, row.arm)


# -- statements


def _arm_scope(el: Elaborator, arm: _Arm, saved: en.Scope) -> en.Scope:
    names = dict(saved.names)
    for sym in arm.sizes:
        el.solver.rigid[sym] = el.level
        el.session.bounded.add(sym)
        el.assume(poly(sym))
    for name, sym, t in zip(arm.names, arm.params, arm.types, strict=True):
        names[name] = parameter(el, sym, t)
    return saved.branch(names)


def _each_arm(el: Elaborator, matcher: _Matcher, work: Callable[[_Arm], Any]) -> list[Any]:
    saved = el.scope
    done = []
    with el.alternatives() as turn:
        for arm in matcher.arms:
            turn()
            with el.block(), el.hypotheses():
                el.scope = _arm_scope(el, arm, saved)
                try:
                    done.append(work(arm))
                finally:
                    el.scope = saved
    return done


def _node(el: Elaborator, matcher: _Matcher, tree: ir.Tree, bodies: list[ir.Expr], t: Type) -> ir.Match:
    subject = matcher.subject
    assert isinstance(subject.expr, ir.Var)
    leaves = {leaf for p in sizes_in(el.resolve(t)) for leaf in p.leaves()}
    for arm in matcher.arms:
        escaping = leaves & set(arm.sizes)
        if escaping:
            el.fail("E0309", arm.case.span, name=sorted(map(repr, escaping))[0], found=el.show(t))
    arms = tuple(
        ir.Lam((*arm.sizes, *arm.params), (*(I64_T for _ in arm.sizes), *arm.types), body)
        for arm, body in zip(matcher.arms, bodies, strict=True)
    )
    return ir.Match(subject.expr.sym, subject.expr, tree, arms, type=t, span=matcher.stmt.span)


def _start(el: Elaborator, stmt: s.Match, subject: Value) -> tuple[_Matcher, ir.Tree]:
    """The subject under a variable of its own, whatever it was."""
    sym = Sym("subject")
    el.emit(ir.Bind(sym, subject.expr))
    own = Value(ir.Var(sym, type=subject.expr.type, span=stmt.subject.span), subject.type, subject.poly)
    matcher = _Matcher(el, stmt, own)
    return matcher, matcher.tree()


def returning(el: Elaborator, stmt: s.Match, subject: Value, rest: tuple[s.Stmt, ...], live: Liveness) -> Value:
    """A match some case of which returns: what follows it belongs to the other cases."""
    from atoll.elaborate.statements import body

    matcher, tree = _start(el, stmt, subject)

    def work(arm: _Arm) -> Value:
        result = body(el, arm.case.body + rest, live)
        if result is None:
            el.fail("E0114", arm.case.span, what="`match`", more="return a value in every branch")
        value = as_value(el, result, arm.case)
        return Value(el.close(value.expr), value.type, value.poly)

    values = _each_arm(el, matcher, work)
    t = values[0].type
    for v in values[1:]:
        t = join_types(el, t, v.type, stmt.span, "the cases")
    bodies = []
    for v in values:
        with el.block():
            bodies.append(el.close(coerce(el, v, strong(t), stmt.span, "the case").expr))
    return Value(_node(el, matcher, tree, bodies, strong(t)), t)


def joining(el: Elaborator, stmt: s.Match, subject: Value, live: Liveness, in_loop: bool) -> None:
    """A match whose cases go on after it: names bound in every case and read later are one value of one type."""
    from atoll.elaborate.statements import body, with_values

    matcher, tree = _start(el, stmt, subject)
    after = live.after.get(id(stmt), frozenset())
    saved = el.scope
    scopes: list[en.Scope] = []

    def work(arm: _Arm) -> list[ir.Stmt]:
        body(el, arm.case.body, live, in_loop)
        scopes.append(el.scope)
        return el.frames.pop()

    codes = _each_arm(el, matcher, work)
    names = sorted(frozenset().union(*(binds(c.body) | frozenset(a.names) for c, a in zip(stmt.cases, matcher.arms, strict=True))))
    before = dict(saved.names)
    joined: list[tuple[str, list[Value], Type]] = []
    picks: dict[str, tuple[Any, ...]] = {}
    for name in names:
        found = [scope.names.get(name) for scope in scopes]
        if all(f is found[0] for f in found) and found[0] is not None:
            el.scope.names[name] = found[0]
            continue
        if name in after:
            found = with_values(el, found, [arm.case.body for arm in matcher.arms], stmt.span)
        functions = join_functions(el, found, codes, stmt.span) if name in after else None
        if functions is not None:
            found, picks[name] = list(functions[0]), functions[1]
        if name in after and all(isinstance(f, Value) for f in found):
            values: list[Value] = [f for f in found if isinstance(f, Value)]
            t = values[0].type
            el.frames.append([])
            for v in values[1:]:
                t = join_types(el, t, v.type, stmt.span, f"`{name}` after the `match`")
            el.frames.pop()
            joined.append((name, values, t))
        elif name in after or name not in saved.names:
            el.scope.names[name] = en.Unbound(stmt.span)
    bodies = []
    for k, code in enumerate(codes):
        el.frames.append(code)
        parts = []
        for name, values, t in joined:
            part = coerce(el, values[k], strong(t), stmt.span, f"`{name}` after the `match`")
            parts.append(Value(part.expr, t))
        bodies.append(el.close(make_tuple(parts, None, stmt.span).expr))
    out = _node(el, matcher, tree, bodies, bodies[0].type)
    pair = el.bind(Value(out, Tuple(tuple(t for *_, t in joined))), None, "joined")
    for position, (name, *_) in enumerate(joined):
        el.scope.names[name] = chosen(el, el.bind(project(pair, position), name), picks.get(name, ()), stmt.span)
    for name in names:
        if name in el.scope.names and el.scope.names[name] is not before.get(name):
            after_branches(el, name, before.get(name), [scope.names.get(name) for scope in scopes])
