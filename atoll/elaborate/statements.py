"""Statements: assignments rebind names, `if` joins them; loops are in loop_statements.py. A body either returns a value or falls through."""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.elaborate import calls, indexing, match_data, matching, shared_memory
from atoll.elaborate import entities as en
from atoll.elaborate.coerce import coerce, join_types, make_tuple, project, zero
from atoll.elaborate.data import with_sizes_of
from atoll.elaborate.decay import leaving_code, plain_type
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.elaborate.expansion import after_branches, check_leaving, check_value
from atoll.elaborate.expected import expecting
from atoll.elaborate.expressions import as_value, choose, expr, truth
from atoll.elaborate.function_values import as_function
from atoll.elaborate.joined import chosen, join_functions
from atoll.errors import Span
from atoll.surface import syntax as s
from atoll.surface.names import Liveness, binds, has_left, has_return
from atoll.types.types import Array, Fn, Record, Tuple, Type, Union, sizes_in, strong


def bind_name(el: Elaborator, name: str, entity: Any) -> None:
    """name = entity; a computed value gets a variable of its own in the core."""
    declared = el.scope.declared.get(name)
    if declared is not None and isinstance(entity, Value) and _is_case(entity.type, declared):
        entity = coerce(el, entity, declared, entity.expr.span, f"`{name}`")
    if isinstance(entity, Value):
        entity = el.bind(entity, name)
        _name_size(el, name, entity)
    elif isinstance(entity, en.Generator):
        el.fail("E0231", entity.node.span)
    el.scope.names[name] = entity


def _is_case(t: Type, declared: Union) -> bool:
    return isinstance(t, Record) and declared.decl.position(t.decl) is not None


def _name_size(el: Elaborator, name: str, value: Value) -> None:
    """A size that only a value knows is called after the first name the value gets: len(ys)."""
    size = value.type.size.single() if isinstance(value.type, Array) else None
    if size is not None and size in el.labels and size in el.solver.rigid and not (el.labels[size].isidentifier() or el.labels[size][4:-1].isidentifier()):
        el.labels[size] = f"len({name})"


def body(el: Elaborator, stmts: tuple[s.Stmt, ...], live: Liveness, in_loop: bool = False) -> Any | None:
    """Elaborate statements in order; what is returned, or None when control falls off the end."""
    for k, stmt in enumerate(stmts):
        rest = stmts[k + 1 :]
        match stmt:
            case s.Return(value):
                if value is None:
                    el.fail("E0113", stmt.span)
                entity = expecting(el, value, el.returns)
                check_leaving(el, entity, stmt.span)
                if isinstance(entity, Value):
                    check_value(el, entity, stmt.span)
                if isinstance(el.returns, Fn):
                    return el.bind(as_function(el, entity, el.returns, value.span), None, "result")
                if el.hidden is not None:
                    return _hidden(el, as_value(el, entity, value), value.span)
                if calls.is_function(entity) or (isinstance(entity, en.TupleEntity) and el.returns is None):
                    return entity
                return el.bind(as_value(el, entity, value), None, "result")
            case s.If() | s.Match() if has_return((stmt,)) is not None and not in_loop:
                return _branching_return(el, stmt, rest, live)
            case _:
                _statement(el, stmt, live, in_loop)
    return None


def _branching_return(el: Elaborator, stmt: s.If | s.Match, rest: tuple[s.Stmt, ...], live: Liveness) -> Value:
    """An `if` that returns in some branch: the rest of the body is the other branch."""
    if isinstance(stmt, s.Match):
        subject = matching.subject_of(el, stmt)
        if match_data.applies(subject.type):
            return match_data.returning(el, stmt, subject, rest, live)
        left = matching.missing_case(stmt.cases, subject.type)
        if left is not None and not rest:
            help_ = f"add `case {left}:`, or `case _:` for everything else" if left != "_" else "add `case _:` for everything else"
            el.fail("E1106", stmt.subject.span, missing=left if left != "_" else f"any other {el.show(subject.type)}", help=help_)
        stmt = matching.as_if(el, stmt, live, subject)
    el.session.spend_duplication(el, stmt.span)
    test = truth(el, stmt.test, "`if`")
    saved = el.scope

    def branch(stmts: tuple[s.Stmt, ...]) -> Value:
        el.scope = saved.branch(dict(saved.names))
        try:
            result: Value | None = body(el, stmts + rest, live)
        finally:
            el.scope = saved
        if result is None:
            if stmt.span.text().startswith(("for", "while")):  # which became an `if`: whether the loop was left
                el.fail("E0114", stmt.span, what="loop", more="return a value after the loop too, for when it ends without one")
            el.fail("E0114", stmt.span, what="`if` or `match`", more="return a value in every branch")
        return result

    chosen: Value = choose(el, test, lambda: branch(stmt.then), lambda: branch(stmt.orelse), stmt)
    return chosen


def _statement(el: Elaborator, stmt: s.Stmt, live: Liveness, in_loop: bool) -> None:
    from atoll.elaborate.loop_statements import for_statement, while_statement  # whose rounds are bodies again

    before = el.live
    el.live = live.after.get(id(stmt), frozenset()) - (binds((stmt,)) if isinstance(stmt, s.Assign) else frozenset())
    match stmt:
        case s.Assign((s.Name(unset),), s.Unset()):
            el.scope.names[unset] = en.Unset()
        case s.Assign(targets, value, annotation):
            t = calls.local_type(el, annotation) if annotation is not None else None
            name = targets[0].id if len(targets) == 1 and isinstance(targets[0], s.Name) else None
            if t is not None and name is not None:
                el.scope.declared.pop(name, None)
            entity = expecting(el, value, t if t is not None or name is None else el.scope.declared.get(name))
            if isinstance(entity, (en.Iterable, en.Generator)):
                entity = as_value(el, entity, value)
            if t is not None:
                entity = coerce(el, as_value(el, entity, value), t, value.span, "the value")
                if isinstance(t, Union) and name is not None:
                    el.scope.declared[name] = t
            if isinstance(entity, Value) and (len(targets) > 1 or not isinstance(targets[0], s.Name)):
                entity = el.bind(entity)
            shared_memory.changed(el, stmt, live)
            for target in targets:
                indexing.assign(el, target, entity, stmt.span)
                shared_memory.taken(el, target, value)
        case s.AugAssign():
            shared_memory.changed(el, stmt, live)
            indexing.aug_assign(el, stmt)
        case s.If():
            _if(el, stmt, live, in_loop)
        case s.For():
            for_statement(el, stmt, live)
        case s.While():
            while_statement(el, stmt, live)
        case s.Assert(test, message):
            _assert(el, test, message, stmt.span)
        case s.ExprStmt(value):
            shared_memory.changed(el, stmt, live)
            _expression(el, value)
        case s.Function():
            closure = calls.make_closure(el, stmt.name, stmt.params, stmt.body, stmt.span, stmt.result)
            el.scope.names[stmt.name] = closure
            if stmt.name in closure.captured:
                closure.captured[stmt.name] = closure
            _complete(el, stmt.name, closure)
        case s.Match():
            subject = matching.subject_of(el, stmt)
            if match_data.applies(subject.type):
                match_data.joining(el, stmt, subject, live, in_loop)
            else:
                _if(el, matching.as_if(el, stmt, live, subject), live, in_loop)
    el.live = before


def _complete(el: Elaborator, name: str, closure: en.Closure) -> None:
    """Functions defined above in this body that use the name mean this one, as in Python: it had no meaning for them before."""
    for other in el.scope.names.values():
        if isinstance(other, en.Closure) and isinstance(other.captured.get(name), en.Unbound) and other.owners[name] is el.scope.frame:
            other.captured[name] = closure


def _hidden(el: Elaborator, value: Value, span: Span) -> Value:
    """A returned value whose sizes are its own: other paths may return other sizes."""
    assert el.hidden is not None
    opened = {leaf for size in sizes_in(el.hidden) for leaf in size.leaves()} - el.entry_sizes
    value = coerce(el, value, with_sizes_of(el.hidden, value.type, lambda leaf: leaf in opened), span, "the result")
    return Value(ir.Hide(value.expr, type=el.hidden, span=span), el.hidden)


def _expression(el: Elaborator, node: s.Expr) -> None:
    if isinstance(node, s.Call) and calls.in_place(el, node):
        return
    entity = expr(el, node)
    if isinstance(entity, en.NoneEntity):
        return
    if isinstance(node, s.Text):
        return
    el.fail("E0115", node.span)


def _assert(el: Elaborator, test: s.Expr, message: s.Expr | None, span: Span) -> None:
    """Checked, and then known."""
    cond = truth(el, test, "`assert`")
    text = test.span.text()
    parts: tuple[Any, ...] = ()
    if message is not None:
        said = expr(el, message)
        if not isinstance(said, en.TextValue):
            said = en.TextValue(((as_value(el, said, message), ""),))
        parts = calls.text_parts(said)
    el.emit(ir.Assert(cond.expr, text, span, parts))
    el.assume(*cond.holds)


# -- joining branches


def _if(el: Elaborator, stmt: s.If, live: Liveness, in_loop: bool) -> None:
    test = truth(el, stmt.test, "`if`")
    if isinstance(test.expr, ir.Lit):
        body(el, stmt.then if test.expr.value else stmt.orelse, live, in_loop)
        return
    after = live.after.get(id(stmt), frozenset())
    saved = el.scope
    scopes = []
    codes: list[list[ir.Stmt]] = []
    with el.alternatives() as turn:
        for stmts, given in ((stmt.then, test.holds), (stmt.orelse, test.fails)):
            turn()
            el.scope = saved.branch(dict(saved.names))
            with el.block(), el.hypotheses(*given):
                body(el, stmts, live, in_loop)
                codes.append(el.frames.pop())
            scopes.append(el.scope)
    el.scope = saved
    _join(el, test, scopes, codes, sorted(binds(stmt.then) | binds(stmt.orelse)), after, stmt)


def _join(
    el: Elaborator,
    test: Value,
    scopes: list[en.Scope],
    codes: list[list[ir.Stmt]],
    names: list[str],
    after: frozenset[str],
    stmt: s.If,
) -> None:
    """After the `if`, each name bound in a branch and read later is one value of one type."""
    before = dict(el.scope.names)
    joined: list[tuple[str, Value, Value, Type]] = []
    picks: dict[str, tuple[Any, ...]] = {}
    for name in names:
        first, second = (scope.names.get(name) for scope in scopes)
        if first is second:
            if first is not None:
                el.scope.names[name] = first
            continue
        if name not in after:
            el.scope.names[name] = en.Unbound(stmt.span)
            continue
        first, second = with_values(el, [first, second], [stmt.then, stmt.orelse], stmt.span)
        functions = join_functions(el, (first, second), codes, stmt.span)
        if functions is not None:
            (first, second), picks[name] = functions
        if isinstance(first, Value) and isinstance(second, Value):
            first, second = (leaving_code(v, code) for v, code in zip((first, second), codes, strict=True))
            el.frames.append([])
            t = join_types(el, first.type, second.type, stmt.span, f"`{name}` after the `if`")
            el.frames.pop()
            joined.append((name, first, second, t))
        else:
            el.scope.names[name] = en.Unbound(stmt.span)
    effects = any(isinstance(x, (ir.Assert, ir.Print, ir.Require)) or _effectful(x) for code in codes for x in code)
    _remember(el, names, before, scopes)
    if not joined and not effects:
        return
    branches = []
    for k, code in enumerate(codes):
        el.frames.append(code)
        parts = []
        for name, first, second, t in joined:
            given = (first, second)[k]
            part = coerce(el, given, strong(t), stmt.span, f"`{name}` after the `if`")
            parts.append(Value(part.expr, t))
        branches.append(el.close(make_tuple(parts, None, stmt.span).expr))
    out = ir.If(test.expr, branches[0], branches[1], type=branches[0].type, span=stmt.span)
    pair = el.bind(Value(out, Tuple(tuple(t for *_, t in joined))), None, "joined")
    if not joined:
        return
    for position, (name, *_) in enumerate(joined):
        part = project(pair, position)
        el.scope.names[name] = chosen(el, el.bind(part, name), picks.get(name, ()), stmt.span)
    _remember(el, names, before, scopes)


def _remember(el: Elaborator, names: list[str], before: dict[str, Any], scopes: list[en.Scope]) -> None:
    for name in names:
        if el.scope.names.get(name) is not before.get(name):
            after_branches(el, name, before.get(name), [scope.names.get(name) for scope in scopes])


def with_values(el: Elaborator, found: list[Any], branches: list[tuple[s.Stmt, ...]], span: Span) -> list[Any]:
    """What a name is after each branch, where one that nobody reads after a branch has any value: it is `Unset`, or the branch has left the round without binding it."""
    like = next((entity for entity in found if isinstance(entity, Value)), None)
    if like is None:
        return found
    return [
        _anything(el, like, span) if isinstance(entity, en.Unset) or ((entity is None or isinstance(entity, en.Unbound)) and has_left(stmts)) else entity
        for entity, stmts in zip(found, branches, strict=True)
    ]


def _anything(el: Elaborator, like: Value, span: Span) -> Value:
    return Value(zero(el, plain_type(strong(like.type)), span), plain_type(like.type))


def _effectful(stmt: ir.Stmt) -> bool:
    """A binding nobody reads can still matter: it may check or print."""
    return isinstance(stmt, (ir.Bind, ir.Open))
