"""Loops: what a round carries to the next, found by reading it until the types of the state stay the same. `for` over what can be gone over, `while`, and both left by a flag."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from atoll.core import ir
from atoll.elaborate import calls, comprehension, indexing, shared_memory
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import compare, condition, exact, scalar_binary
from atoll.elaborate.coerce import coerce, common, make_tuple, project, zero
from atoll.elaborate.data import join
from atoll.elaborate.decay import plain, plain_type
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.expansion import check_round
from atoll.elaborate.expressions import expr, truth
from atoll.elaborate.statements import bind_name, body
from atoll.errors import NOWHERE, Error, Span
from atoll.sizes import Sym, poly
from atoll.sizes.machine import bounds
from atoll.surface import syntax as s
from atoll.surface.names import Liveness, binds, binds_target
from atoll.types.dtypes import I64
from atoll.types.types import Array, Index, Record, Scalar, Tuple, Type, Union, rank, sizes_in, strong, with_components


def for_statement(el: Elaborator, stmt: s.For, live: Liveness) -> None:
    it = comprehension.iterable(el, expr(el, stmt.iter), stmt.iter)
    shared_memory.changed_while_gone_over(el, stmt)
    if el.facts.proves(it.size - 1):  # the first round gives its variables a value, whatever they had before
        for name in indexing_names(stmt.target) & live.after[id(stmt)]:
            if isinstance(el.scope.names.get(name, _NEVER), en.Unbound):
                el.scope.names[name] = en.Unset()
    if stmt.going is not None:
        _for_while(el, stmt, stmt.going, it, live)
        return
    loop = _Loop(el, stmt, live)
    el.level += 1
    name = stmt.target.id if isinstance(stmt.target, s.Name) else "i"

    def round_(state: list[Value]) -> tuple[list[Any], Any]:
        index = el.fresh_index(name, it.size)
        assert isinstance(index.expr, ir.Var)
        el.session.bounded.add(index.expr.sym)
        with el.hypotheses(*el.index_facts(index, it.size), lazy=False):
            indexing.assign(el, stmt.target, it.element(el, index), stmt.span)
            shared_memory.gone_over(el, stmt)
            body(el, stmt.body, live, in_loop=True)
            return loop.next_values(), index.expr.sym

    types, first, state, code, extra = loop.solve(round_)
    el.level -= 1
    out = ir.For(
        extra,
        it.size,
        tuple(zip(state, first, strict=True)),
        code,
        type=code.type,
        span=stmt.span,
        checkpoint=it.options.get("checkpoint", getattr(getattr(el.home.definition, "options", None), "checkpoint", None)),
        no_false_deps=bool(it.options.get("no_false_deps", False)),
    )
    loop.finish(out, types)


def _for_while(el: Elaborator, stmt: s.For, going: str, it: en.Iterable, live: Liveness) -> None:
    """A `for` that may end before its time: a `while` that counts. The count is an index, so what it reads is proved in range as in any `for`."""
    for option in it.options:
        el.fail("E0101", stmt.iter.span, what=f"`{option}=` of a loop that `break` or `return` leaves", help=f"leave out `{option}=`, or let all rounds run")
    called = stmt.target.id if isinstance(stmt.target, s.Name) else "i"
    count, span = called + " " * (el.level + 1), stmt.iter.span  # no name a program can have, and in messages the one it has
    el.scope.names[count] = Value(ir.Lit(0, type=_ANY_INDEX, span=span), _ANY_INDEX)
    loop = _Loop(el, stmt, live, (count,))
    el.level += 1
    rounds = Value(ir.SizeOf(it.size, type=_COUNT, span=span), _COUNT, it.size)
    if not exact(el, it.size):  # counted without wrapping around, as the rounds of other loops are
        low, high = (ir.SizeOf(p, type=_COUNT, span=span) for p in bounds(it.size))
        rounds = el.bind(Value(ir.Prim("rounds", (low, high, ir.Lit(1, type=_COUNT, span=span)), type=_COUNT, span=span), _COUNT), None, "rounds")

    def round_(state: list[Value]) -> tuple[list[Any], Any]:
        at = el.scope.names[count]
        assert isinstance(at.expr, ir.Var) and at.poly is not None
        el.session.bounded.add(at.expr.sym)
        el.labels[at.expr.sym] = called
        with el.block(), el.hypotheses(at.poly, lazy=False):
            goes_on = compare(el, "<", Value(at.expr, _COUNT, at.poly), rounds, span)
            flag = condition(el, el.scope.names[going], span, "`for`")
            never = ir.Lit(False, type=goes_on.expr.type, span=span)
            cond_code = el.close(ir.If(flag.expr, goes_on.expr, never, type=goes_on.expr.type, span=span))
        t = Index(it.size)
        index = Value(ir.Var(at.expr.sym, type=t, span=span), t, at.poly)
        with el.hypotheses(*el.index_facts(index, it.size)):
            indexing.assign(el, stmt.target, it.element(el, index), stmt.span)
            shared_memory.gone_over(el, stmt)
            body(el, stmt.body, live, in_loop=True)
            more = ir.Prim("add", (at.expr, ir.Lit(1, type=_ANY_INDEX, span=span)), type=_ANY_INDEX, span=span)
            el.scope.names[count] = Value(more, _ANY_INDEX)
            return loop.next_values(), cond_code

    types, first, state, code, extra = loop.solve(round_)
    el.level -= 1
    counting = ir.While(tuple(zip(state, first, strict=True)), extra, code, None, loop.names.index(count), it.size, type=code.type, span=stmt.span)
    loop.finish(counting, types)
    el.scope.names.pop(count, None)


def while_statement(el: Elaborator, stmt: s.While, live: Liveness) -> None:
    most: Value | None = None  # at.bound(most): one round more is an error
    rounds = f"rounds {el.level}"  # no name a program can have
    test = stmt.test
    if isinstance(test, s.BoolOp) and test.op == "and" and _is_bound(el, test.values[0]):
        call = test.values[0]
        assert isinstance(call, s.Call)
        (given,) = calls.Args(el, "bound", call.span, tuple(expr(el, a) for a in call.args), {k: expr(el, a) for k, a in call.keywords}).take("n")
        p = el.as_poly(given, call.span, "a bound")
        most = Value(ir.SizeOf(p, type=_COUNT, span=call.span), _COUNT, p)
        el.scope.names[rounds] = Value(ir.Lit(0, type=_COUNT, span=call.span), _COUNT)
        rest = test.values[1:]
        test = rest[0] if len(rest) == 1 else s.BoolOp("and", rest, span=test.span)
    loop = _Loop(el, stmt, live, () if most is None else (rounds,))
    el.level += 1

    def round_(state: list[Value]) -> tuple[list[Any], Any]:
        with el.block():
            cond = truth(el, test, "`while`")
            cond_code = el.close(cond.expr)
        with el.hypotheses(*cond.holds):
            if most is not None:
                _count_round(el, rounds, most)
            body(el, stmt.body, live, in_loop=True)
            return loop.next_values(), cond_code

    types, first, state, code, extra = loop.solve(round_)
    el.level -= 1
    out = ir.While(tuple(zip(state, first, strict=True)), extra, code, None if most is None else most.poly, type=code.type, span=stmt.span)
    loop.finish(out, types)
    el.scope.names.pop(rounds, None)


_COUNT = Scalar(I64)
_ANY_INDEX = Index(poly(2**62))
_NEVER = en.Unbound(NOWHERE)


def _count_round(el: Elaborator, rounds: str, most: Value) -> None:
    """A round begins: at most so many may."""
    count, span = el.scope.names[rounds], most.expr.span
    el.emit(ir.Assert(compare(el, "<", count, most, span).expr, span.text(), span, code="E1019"))
    el.scope.names[rounds] = scalar_binary(el, "+", count, Value(ir.Lit(1, type=_COUNT, span=span), _COUNT, poly(1)), span)


def _is_bound(el: Elaborator, node: s.Expr) -> bool:
    return isinstance(node, s.Call) and isinstance(found := _quiet(el, node.fn), en.Builtin) and found.name == "bound"


def _quiet(el: Elaborator, node: s.Expr) -> Any:
    return expr(el, node) if isinstance(node, (s.Name, s.Attr)) else None


class _Loop:
    """The state of a loop: which names, of which types.

    A name's type is the type of its first value; a weak first value takes the type the round gives it, so the round is elaborated
    again until nothing changes (at most three times: int, float, complex).
    """

    def __init__(self, el: Elaborator, stmt: s.For | s.While, live: Liveness, hidden: tuple[str, ...] = ()) -> None:
        self.el, self.stmt = el, stmt
        self.outer = el.scope
        carried = live.carried(stmt) | set(hidden)
        self.names: list[str] = []
        for name in sorted(carried):
            entity = el.scope.names.get(name)
            if isinstance(entity, (Value, en.Unset)):
                self.names.append(name)
            elif entity is not None and not isinstance(entity, en.Unbound):
                el.fail("E0116", stmt.span, name=name, found=describe(entity))
        self.first = [el.scope.names[name] for name in self.names]
        self.assigned = binds(stmt.body) | (indexing_names(stmt.target) if isinstance(stmt, s.For) else frozenset())

    def solve(self, round_: Any) -> tuple[list[Type], list[ir.Expr], list[Sym], ir.Expr, Any]:
        el = self.el
        self._set(round_)
        key = (id(self.stmt), tuple(repr(v.type) for v in self.first))
        types = list(el.loop_types.get(hash(key), tuple(v.type if v.type == _ANY_INDEX else decayed(v.type) for v in self.first)))
        for _ in range(4):
            saved, made = snapshot(el), len(el.made)
            state, syms = self._state(types)
            el.scope = self.outer.branch({**self._visible(), **dict(zip(self.names, state, strict=True))})
            el.frames.append([])
            depth = len(el.frames)
            try:
                next_values, extra = round_(state)
                new = [self._merge(name, t, v) for name, t, v in zip(self.names, types, next_values, strict=True)]
                if [_shape_key(t) for t in new] == [_shape_key(t) for t in types]:
                    parts = [self._coerce(v, t, name) for name, t, v in zip(self.names, types, next_values, strict=True)]
                    check_round(el, types, el.made[made:], self.assigned, self.stmt.span)
                    code = el.close(make_tuple(parts, None, self.stmt.span).expr)
                    break
            finally:
                el.scope = self.outer
            del el.frames[depth - 1 :]
            restore(el, saved)
            types = new
        else:
            raise AssertionError("loop types do not settle")
        el.loop_types[hash(key)] = tuple(types)
        first = [
            coerce(el, v, strong(t), self.stmt.span, f"`{name}` before the loop").expr
            for name, v, t in zip(self.names, self.first, types, strict=True)
        ]
        return types, first, syms, code, extra

    def _set(self, round_: Any) -> None:
        """What has no value before the loop has the type that a round gives it."""
        el = self.el
        known = [k for k, v in enumerate(self.first) if isinstance(v, Value)]
        if len(known) == len(self.first):
            return
        saved, depth = snapshot(el), len(el.frames)
        before = {*el.solver.rigid, *el.solver.unknowns}
        state, _ = self._state([decayed(self.first[k].type) for k in known], known)
        named = {self.names[k]: value for k, value in zip(known, state, strict=True)}
        el.scope = self.outer.branch({**self._visible(), **{name: en.Unset() for name in self.names}, **named})
        el.frames.append([])
        try:
            found, _ = round_(state)
        finally:
            el.scope = self.outer
        types = {k: plain_type(el.resolve(value.type)) for k, value in enumerate(found) if k not in known}
        for t in types.values():
            if any(leaf not in before and (leaf in el.solver.rigid or leaf in el.solver.unknowns) for size in sizes_in(t) for leaf in size.leaves()):
                el.fail("E0131", self.stmt.span, found=el.show(t))
        del el.frames[depth:]
        restore(el, saved)
        for k, t in types.items():
            self.first[k] = Value(zero(el, strong(t), self.stmt.span), t)

    def _visible(self) -> dict[str, Any]:
        """Names of the round: those assigned in it but not carried are unbound until they are assigned."""
        hidden = {name: en.Unbound(self.stmt.span) for name in self.assigned if name not in self.names}
        return {**self.outer.names, **hidden}

    def _state(self, types: list[Type], known: Iterable[int] | None = None) -> tuple[list[Value], list[Sym]]:
        values, syms = [], []
        some = range(len(self.names)) if known is None else known
        for name, t, first in zip((self.names[k] for k in some), types, (self.first[k] for k in some), strict=True):
            sym = Sym(name)
            self.el.same_before[sym] = [other for other, entity in self.outer.names.items() if entity is first and other != name]
            p = poly(sym) if isinstance(t, Index) or (isinstance(t, Scalar) and t.dtype is I64 and not t.weak) else None
            if p is not None:
                self.el.solver.rigid[sym] = self.el.level
            values.append(Value(ir.Var(sym, type=strong(t), span=self.stmt.span), t, p))
            syms.append(sym)
        return values, syms

    def next_values(self) -> list[Any]:
        found = []
        for name in self.names:
            entity = self.el.scope.names.get(name)
            if isinstance(entity, en.Unbound):
                self.el.fail("E0110", self.stmt.span, name=name, line=entity.why.line)
            if not isinstance(entity, (Value, en.Unset)):
                self.el.fail("E0116", self.stmt.span, name=name, found=describe(entity))
            found.append(entity)
        return found

    def _merge(self, name: str, t: Type, new: Value) -> Type:
        """The state's type after seeing what a round makes of it."""
        return merge_state(self.el, t, new.type, name, self.stmt.span)

    def _coerce(self, v: Value, t: Type, name: str) -> Value:
        try:
            part = coerce(self.el, v, strong(t), self.stmt.span, f"`{name}` after a round")
        except Error as error:
            if error.code != "E0201":
                raise
            _changes(self.el, name, t, v.type, self.stmt.span)
        if plain_type(strong(t)) == strong(t):  # a % b is an index below b, which is another number in the next round
            part = plain(part)
        return Value(part.expr, t)

    def finish(self, out: ir.For | ir.While, types: list[Type]) -> None:
        """Bind what comes out; names that are not carried are unbound after the loop."""
        el = self.el
        result = el.bind(Value(out, Tuple(tuple(types))), None, "loop")
        for name in self.assigned:
            if name not in self.names:
                el.scope.names[name] = en.Unbound(self.stmt.span)
        for position, name in enumerate(self.names):
            el.scope.names[name] = el.bind(project(result, position), name)


def indexing_names(target: Any) -> frozenset[str]:
    return binds_target(target)


def decayed(t: Type) -> Type:
    """An index as loop state is just an integer."""
    if isinstance(t, Index):
        return Scalar(I64)
    if isinstance(t, (Tuple, Record)):
        return with_components(t, map(decayed, t.items))
    return t


def merge_state(el: Elaborator, t: Type, new: Type, name: str, span: Span) -> Type:
    """A weak state type gives way to what it meets; a strong one stays, and what does not fit is an error."""
    if isinstance(t, Index) and isinstance(new, (Scalar, Index)):
        return t if isinstance(new, Index) and new.size == t.size else Scalar(I64)
    if isinstance(t, Scalar) and isinstance(new, (Scalar, Index)):
        if t.weak:
            both = common(t, decayed(new))  # an index of an inner loop has a size that nobody else knows
            return both if both is not None else t
        return t
    if isinstance(t, (Record, Union)) and isinstance(new, (Record, Union)):
        met = join(el, t, new, span, f"`{name}`")
        if met is not None:
            return met
    if isinstance(t, Array) and isinstance(new, Array) and rank(t) == rank(new):
        return Array(merge_state(el, t.elem, new.elem, name, span), t.size)
    if isinstance(t, (Tuple, Record)) and isinstance(new, (Tuple, Record)) and len(t.items) == len(new.items):
        return with_components(t, [merge_state(el, a, b, name, span) for a, b in zip(t.items, new.items, strict=True)])
    if type(t) is not type(new):
        _changes(el, name, t, new, span)
    return t


def _changes(el: Elaborator, name: str, t: Type, new: Type, span: Span) -> NoReturn:
    t, new = plain_type(t), plain_type(new)  # that it is an index is not what changes
    shown = el.show(new)
    help_ = f"give {name} one type before the loop and in it" if rank(t) or rank(new) else f"write {name}: {shown} = ... before the loop"
    if not name.isidentifier():  # the state of fold
        help_ = "give the first value the type of what the function returns"
    el.fail("E0117", span, name=name, expected=el.show(t), found=shown, help=help_)


def _shape_key(t: Type) -> object:
    return t


def snapshot(el: Elaborator) -> Any:
    sv = el.solver
    return (
        dict(sv.unknowns),
        dict(sv.rigid),
        dict(sv.solution),
        list(sv.pending),
        el.facts,
        len(el.made),
        len(el.inserted),
        len(el.requires),
        el.level,
        el.lazy,
    )


def restore(el: Elaborator, saved: Any) -> None:
    sv = el.solver
    sv.unknowns, sv.rigid, sv.solution, sv.pending, el.facts, made, inserted, requires, el.level, el.lazy = saved
    del el.made[made:]
    del el.inserted[inserted:]
    del el.requires[requires:]


__all__ = ["bind_name", "body"]
