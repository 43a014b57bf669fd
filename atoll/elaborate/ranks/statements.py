"""Bodies: assignments bind, branches and loops demand equal types of what is read later."""

from __future__ import annotations

from typing import Any

from atoll.elaborate.ranks import special
from atoll.elaborate.ranks.entities import Env, Known, Local, Nothing, Unset
from atoll.elaborate.ranks.generate import Generator
from atoll.elaborate.ranks.kinds import SCALAR, RankType, Skeleton, fresh, parts
from atoll.elaborate.ranks.schemes import of_type, parse
from atoll.sizes import poly
from atoll.surface import syntax as s
from atoll.surface.names import Liveness, binds, binds_pattern, has_return
from atoll.types.records import record_of, record_type
from atoll.types.types import Record


class Body:
    """Reads the statements of one function; `result` is what its `return`s agree on."""

    def __init__(self, gen: Generator, live: Liveness, result: RankType | None = None) -> None:
        self.gen, self.live = gen, live
        self.result = result

    def read(self, stmts: tuple[s.Stmt, ...]) -> None:
        for stmt in stmts:
            self.statement(stmt)

    def statement(self, stmt: Any) -> None:
        gen = self.gen
        match stmt:
            case s.Return(value) if value is not None:
                t = gen.expr(value)
                if self.result is None:
                    self.result = t
                else:
                    gen.equal(self.result, t, stmt.span)
            case s.Assign(targets, value, annotation):
                self._assign(targets, value, annotation)
            case s.AugAssign(target, op, value):
                current = gen.expr(target)
                node = s.BinOp(op, target, value, span=stmt.span)  # type: ignore[arg-type]
                self.assign(target, gen.spine(node, _binary(), [current, gen.expr(value)], [target, value]))
            case s.If(test, then, orelse):
                gen.scalar(test)
                self._branches(stmt, [(lambda b=b: self.read(b)) for b in (then, orelse)], [then, orelse])
            case s.Match(subject, cases):
                t = gen.expr(subject)
                self._branches(stmt, [lambda c=c: self._case(c, t) for c in cases], [c.body for c in cases])
            case s.For(target, iter_, body):
                element = gen.element(gen.expr(iter_), stmt.span)
                self._loop(stmt, body, lambda: special.bind_target(self.gen, target, element))
            case s.While(test, body):
                self._loop(stmt, body, lambda: self._condition(test))
            case s.Assert(test):
                gen.scalar(test)
            case s.ExprStmt(value):
                gen.entity(value)
            case s.Function(name, params, result, body):
                env = gen.env.copy()
                local = Local(name, params, body, env, stmt.span, result)
                env.names[name] = gen.env.names[name] = local

    # -- assignment

    def _assign(self, targets: tuple[Any, ...], value: s.Expr, annotation: s.Expr | None) -> None:
        gen = self.gen
        if isinstance(value, s.Lambda) and len(targets) == 1 and isinstance(targets[0], s.Name):
            gen.env.names[targets[0].id] = Local(targets[0].id, value.params, value.body, gen.env.copy(), value.span)
            return
        entity = gen.entity(value)
        if isinstance(entity, Known) and annotation is not None:
            t = gen.annotation(annotation)
            gen.equal(t, entity.type, value.span)
            entity = Known(t)
        for target in targets:
            if isinstance(target, s.Name):
                gen.env.names[target.id] = entity
            else:
                self.assign(target, gen.as_type(entity))

    def assign(self, target: Any, t: RankType) -> None:
        """target = value of this type."""
        gen = self.gen
        match target:
            case s.Name(id):
                gen.env.names[id] = Known(t)
            case s.TupleTarget(items):
                for item, part in zip(items, special.unpack(gen, t, len(items), target.span), strict=True):
                    self.assign(item, part)
            case s.Subscript():
                place = special.subscript(gen, target)
                if t.skeleton.form == "number" or place.skeleton.form == "number":
                    gen.equal(place, t.lift(gen.constraints.slack()), target.span)
                else:
                    gen.equal(place, t, target.span)

    def _condition(self, test: s.Expr) -> None:
        if isinstance(test, s.BoolOp):
            for value in test.values:
                if not isinstance(value, s.Call):
                    self.gen.scalar(value)
                else:
                    self.gen.entity(value)
        else:
            self.gen.scalar(test)

    # -- joins

    def _branches(self, stmt: s.If | s.Match, branches: list[Any], bodies: list[tuple[s.Stmt, ...]]) -> None:
        """Read each branch with the names before it; afterwards a name both bind and somebody reads has one type."""
        gen = self.gen
        before = gen.env
        ends: list[Env] = []
        for read, body in zip(branches, bodies, strict=True):
            gen.env = before.copy()
            read()
            if not (has_return(body) and isinstance(body[-1], s.Return)):
                ends.append(gen.env)
        gen.env = before
        if not ends:
            return
        after = self.live.after.get(id(stmt), frozenset())
        for name in binds([stmt]):
            found = [end.names.get(name) for end in ends]
            found = [entity for entity in found if not isinstance(entity, Unset)] or found
            known = [entity for entity in found if isinstance(entity, Known)]
            if len(known) == len(found):
                if name in after:
                    for other in known[1:]:
                        if other is not known[0]:
                            gen.equal(known[0].type, other.type, stmt.span)
                before.names[name] = known[0]
            else:
                before.names[name] = next((entity for entity in found if entity is not None), Nothing())

    def _loop(self, stmt: s.For | s.While, body: tuple[s.Stmt, ...], start: Any) -> None:
        gen = self.gen
        before = gen.env
        carried = self.live.carried(stmt)
        gen.env = before.copy()
        start()
        self.read(body)
        for name in sorted(carried):
            first, last = before.names.get(name), gen.env.names.get(name)
            if isinstance(first, Known) and isinstance(last, Known) and first is not last:
                gen.equal(first.type, last.type, stmt.span)
            elif isinstance(first, Unset) and last is not None:
                before.names[name] = last
        gen.env = before

    # -- patterns

    def _case(self, case: s.Case, t: RankType) -> None:
        self._pattern(case.pattern, t)
        if case.guard is not None:
            self.gen.scalar(case.guard)
        self.read(case.body)

    def _pattern(self, pattern: Any, t: RankType) -> None:
        gen = self.gen
        match pattern:
            case s.Capture(name, inner):
                gen.env.names[name] = Known(t)
                if inner is not None:
                    self._pattern(inner, t)
            case s.TuplePattern(items):
                for item, part in zip(items, special.unpack(gen, t, len(items), pattern.span), strict=True):
                    self._pattern(item, part)
            case s.ClassPattern(cls, args, keywords):
                self._class_pattern(cls, args, keywords, t)
            case s.OrPattern(options):
                for option in options:
                    self._pattern(option, t)

    def _class_pattern(self, cls: s.Expr, args: Any, keywords: Any, t: RankType) -> None:
        """The fields of a record; of one case of a union, as declared."""
        declared = getattr(self.gen.entity(cls), "type", None)
        fields: dict[str, RankType] = {}
        if record_of(declared) is not None:
            made = record_type(declared)
            if isinstance(made, Record):
                items = parts(t) if t.is_product else [of_type(item) for item in made.items]
                fields = dict(zip(made.decl.fields, items, strict=False))
        pairs = list(zip(fields, args, strict=False)) + list(keywords)
        for name, inner in pairs:
            self._pattern(inner, fields.get(name, fresh(name)))
        for name in binds_pattern(s.OrPattern(tuple(args))):
            self.gen.env.names.setdefault(name, Known(fresh(name)))


def _binary() -> RankType:
    return parse("n, n -> n").instance()


def read_function(
    gen: Generator, params: list[tuple[str, RankType]], body: tuple[s.Stmt, ...] | Any, live: Liveness | None, result: RankType | None
) -> RankType:
    """The result of a function whose parameters have these types."""
    for name, t in params:
        gen.env.names[name] = Known(t)
    if not isinstance(body, tuple):
        return gen.expr(body)
    reader = Body(gen, live or Liveness(body), result)
    reader.read(body)
    return reader.result if reader.result is not None else fresh()


__all__ = ["SCALAR", "Body", "Skeleton", "poly", "read_function"]
