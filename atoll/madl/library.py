"""The operators of a file, compiled in order, and what each can see: those above it, itself if recursive, records, imported functions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atoll.errors import NOWHERE, Error, Span, fail
from atoll.madl import kinds
from atoll.madl import syntax as s
from atoll.madl.compiled import Compiled, compile_operator
from atoll.madl.elaborate import Elaborator
from atoll.madl.environment import Env
from atoll.madl.instances import Defined, External, Item, RecordItem
from atoll.madl.levels import one_dimension_each
from atoll.madl.parse import parse
from atoll.madl.recursion import size_names, specialise
from atoll.madl.scheme import Scheme
from atoll.madl.typing import NAMES
from atoll.sizes import poly
from atoll.types.types import Array, Record, RecordDecl, Tuple, Type

_DEEPEST = 64  # sizes one recursive operator may be expanded at
_FRAMES = 20_000  # Python calls that many expansions take


class Library:
    """A compiled file. `operators` has one entry per operator, by name; those of `base` are in sight."""

    def __init__(
        self,
        text: str,
        name: str = "<madl>",
        folder: Path | None = None,
        separate: bool = False,
        base: Library | None = None,
        problems: list[Error] | None = None,
    ) -> None:
        """With `problems`, operators that are wrong are told there and left out, and so are those that use them."""
        self.folder = folder
        self.separate = separate
        with _deep(NOWHERE):
            self.program = parse(text, name)
        self.items: dict[str, Item] = dict(base.items) if base else {}
        self.operators: dict[str, Compiled] = dict(base.operators) if base else {}
        self.fields: dict[str, list[tuple[Record, int]]] = dict(base.fields) if base else {}
        self._instances: dict[tuple[str, tuple[int, ...]], Compiled] = {}
        self._schemes: dict[str, Scheme] = dict(base._schemes) if base else {}
        self._expanding: list[tuple[str, tuple[int, ...]]] = []
        first = max((item.order + 1 for item in self.items.values()), default=0)
        wrong: set[str] = set()
        for order, item in enumerate(self.program.items, first):
            try:
                with _deep(item.span):
                    self._add(item, order)
            except Error as problem:
                if problems is None:
                    raise
                used = {node.name for node in s.walk(item) if isinstance(node, s.Apply)}
                if problem.code != "E0903" or not used & wrong:
                    problems.append(problem)
                wrong |= {item.name} if isinstance(item, s.Operator) else set()

    def _add(self, item: s.Item, order: int) -> None:
        if isinstance(item, s.RecordType):
            self._new(item.name, RecordItem(self._record(item), order), item.span)
        elif isinstance(item, s.Import):
            from atoll.madl.imports import load

            for name, function in load(item, self.folder).items():
                self._new(name, External(name, function, order), item.span)
        else:
            operator = one_dimension_each(with_own_reset(item))
            defined = Defined(operator, order)
            if operator.recursive:
                self._new(operator.name, defined, operator.span)
                if not operator.interface.sizes:
                    self.instance(defined, (), operator.span)
                return
            holds = kinds.structural_kind(operator, self.kind_finder(operator))
            if operator.kind in ("patt", "view"):
                kinds.check_declared(operator, holds)
            compiled = compile_operator(self, operator, separate=self.separate)
            defined.kind = compiled.kind
            self._new(operator.name, defined, operator.span)
            self.operators[operator.name] = compiled
            self._schemes[operator.name] = compiled.scheme

    def _new(self, name: str, item: Item, span: Span) -> None:
        if name in self.items:
            fail("E0906", span, name=name)
        self.items[name] = item

    # -- what is in sight

    def find(self, name: str, user: s.Operator) -> Item | None:
        item = self.items.get(name)
        mine = self.items.get(user.name)
        if item is None or mine is None or item.order < mine.order or (isinstance(item, Defined) and item.operator.recursive):
            return item
        return None

    def kind_finder(self, user: s.Operator) -> kinds.Find:
        def kind(name: str) -> str | None:
            item = self.find(name, user)
            if isinstance(item, Defined):
                return item.kind
            return None if item is None else "patt" if isinstance(item, RecordItem) else "func"

        return kind

    # -- records

    def _record(self, item: s.RecordType) -> Record:
        names = tuple(name for name, _ in item.fields)
        record = Record(RecordDecl(item.name, names, key=item), tuple(self._field_type(t) for _, t in item.fields))
        for k, name in enumerate(names):
            self.fields.setdefault(name, []).append((record, k))
        return record

    def _field_type(self, t: s.TypeExpr) -> Type:
        match t:
            case s.TypeName(name) if name in NAMES:
                return NAMES[name]
            case s.TypeName(name) if (record := self.record(name)) is not None:
                return record
            case s.ArrayType(s.SizeNumber(size), elem):
                return Array(self._field_type(elem), poly(size))
            case s.TupleType(parts):
                return Tuple(tuple(self._field_type(p) for p in parts))
        fail("E0904", t.span, what="type", name=s.text(t), help="fields have scalar types, records, and arrays of literal size")

    def record(self, name: str) -> Record | None:
        item = self.items.get(name)
        return item.record if isinstance(item, RecordItem) else None

    def field(self, name: str, t: Type, span: Span) -> tuple[Record, int]:
        """The record a field belongs to: that of the value if it is known, else the only one that has it."""
        found = self.fields.get(name, [])
        if isinstance(t, Record):
            found = [(r, k) for r, k in found if r.decl == t.decl]
        if len(found) != 1:
            shown = t.decl.name if isinstance(t, Record) else "any record" if not found else "one record only: say which with `of`"
            fail("E0917", span, name=name, shown=shown)
        return found[0]

    # -- schemes of operators that compute

    def scheme(self, item: Item, el: Elaborator, e: s.Apply, env: Env) -> Scheme:
        if isinstance(item, External):
            from atoll.madl.imports import scheme_of

            if item.name not in self._schemes:
                self._schemes[item.name] = scheme_of(item.name, item.function, e.span)
            return self._schemes[item.name]
        assert isinstance(item, Defined)
        if not item.operator.recursive:
            return self._schemes[item.operator.name]
        names = size_names(item.operator)
        given = [el.typer.size(el.size(z, env)).const() for z in e.sizes or ()]
        if len(given) != len(names) or any(v is None for v in given):
            fail("E0950", e.span, name=e.name, where=el.operator.name)
        return self.instance(item, tuple(v for v in given if v is not None), e.span).scheme

    def instance(self, item: Defined, sizes: tuple[int, ...], span: Span) -> Compiled:
        """A recursive operator at given sizes."""
        key = (item.operator.name, sizes)
        if key not in self._instances:
            if key in self._expanding:
                at = f"<<{', '.join(map(str, sizes))}>>" if sizes else "itself"
                fail("E0951", span, name=item.operator.name, why=f"it needs {at} to make {at}")
            if len(self._expanding) >= _DEEPEST:
                fail("E0951", span, name=item.operator.name, why=f"more than {_DEEPEST} sizes")
            for size_name, size in zip(size_names(item.operator), sizes, strict=True):
                if size < 0:
                    fail("E0914", span, name=item.operator.name, what=size_name, size=size)
            self._expanding.append(key)
            known = dict(zip(size_names(item.operator), sizes, strict=True))
            operator = specialise(item.operator, known)
            shown = "_".join([operator.name, *map(str, sizes)])
            try:
                with _deep(span):
                    self._instances[key] = compile_operator(self, operator, name=shown, sizes=known, separate=self.separate)
            finally:
                self._expanding.pop()
        return self._instances[key]


@contextmanager
def _deep(span: Span) -> Iterator[None]:
    """Expansions and long expressions take many Python calls; what takes too many is told."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    except RecursionError:
        fail("E0901", span, what="this is nested too deeply", help="give its parts names")
    finally:
        sys.setrecursionlimit(before)


def with_own_reset(operator: s.Operator) -> s.Operator:
    """`let f (p) returns (c): body reset r` is f with a block around its body, which can see p."""
    if operator.reset.kind == "resume":
        return operator
    interface, span = operator.interface, operator.reset.span
    outer = [s.Variable(f"{s.text(c.right)}#{k}", span=c.right.span) for k, c in enumerate(interface.results)]
    inner = tuple(s.Clause(o, c.right, span=c.span) for o, c in zip(outer, interface.results, strict=True))
    block = s.Block(s.Interface(results=inner, span=span), operator.body, operator.reset, span=operator.span)
    results = tuple(s.Clause(None, o, span=o.span) for o in outer)
    new = s.Interface(interface.params, interface.sizes, interface.args, results, span=interface.span)
    resume = s.Reset("resume", span=span)
    return s.Operator(operator.kind, operator.name, new, (block,), resume, operator.recursive, span=operator.span)
