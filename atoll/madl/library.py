"""The operators of a file, compiled in order, and what each can see: those above it, itself if recursive, records, imported functions."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

from atoll.errors import NOWHERE, Error, SizeError, Span, fail
from atoll.madl import helps, kinds
from atoll.madl import syntax as s
from atoll.madl.cases import check_matches, without_automata
from atoll.madl.compiled import Compiled, compile_operator
from atoll.madl.deep import deep
from atoll.madl.elaborate import Elaborator
from atoll.madl.environment import Env, defined_names, pattern_names
from atoll.madl.imports import load, scheme_of
from atoll.madl.instances import Defined, External, Item, RecordItem
from atoll.madl.levels import one_dimension_each
from atoll.madl.parse import parse
from atoll.madl.recursion import folded, size_names, specialise
from atoll.madl.represented import MOST, Enum, fixed_type
from atoll.madl.scheme import Scheme
from atoll.madl.typing import NAMES
from atoll.sizes import poly
from atoll.types.dtypes import U8
from atoll.types.types import Array, Record, RecordDecl, Tuple, Type

_OF_SIZES = ("E0910", "E0922", "E0930", "E0933", "E0934", "E0935", "E0936", "E0940", "E0951")  # errors that other sizes may not have
_GROWING = 64  # expansions of a recursive operator at sizes that do not become smaller
_TRIED = (1, 2, 4)  # sizes at which a recursive operator is tried before it is used
_FURTHER = (3, 5, 6, 7, 8, 9, 10, 12, 16)  # and these, when only 1 will do: some split by 3 or 5


class _Needs(Exception):
    """An instance of a recursive operator that must be made first."""

    def __init__(self, wanted: tuple[Defined, tuple[int, ...], Span]) -> None:
        super().__init__()
        self.wanted = wanted


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
        with deep(NOWHERE):
            self.program = parse(text, name)
        self.items: dict[str, Item] = dict(base.items) if base else {}
        self.constants: dict[str, s.Expr] = dict(base.constants) if base else {}
        self.enums: dict[str, Enum] = dict(base.enums) if base else {}
        self.operators: dict[str, Compiled] = dict(base.operators) if base else {}
        self.fields: dict[str, list[tuple[Record, int]]] = dict(base.fields) if base else {}
        self._instances: dict[tuple[str, tuple[int, ...]], Compiled] = {}
        self._schemes: dict[str, Scheme] = dict(base._schemes) if base else {}
        self._expanding: list[tuple[Defined, tuple[int, ...], Span]] = []
        first = max((item.order + 1 for item in self.items.values()), default=0)
        wrong: set[str] = set()
        for order, item in enumerate(self.program.items, first):
            try:
                with deep(item.span):
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
        elif isinstance(item, s.EnumType):
            self._enumeration(item)
        elif isinstance(item, s.Const):
            self._constant(item)
        elif isinstance(item, s.Import):
            for name, function in load(item, self.folder).items():
                self._new(name, External(name, function, order), item.span)
        else:
            operator = self._with_constants(without_automata(item, self.enums, self.items))
            check_matches(operator)
            operator = one_dimension_each(with_own_reset(operator))
            defined = Defined(operator, order)
            if operator.recursive:
                self._new(operator.name, defined, operator.span)
                try:
                    self._try(defined)
                except Error:
                    del self.items[operator.name]
                    raise
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
            fail("E0906", span, name=name, help="choose another name for one of them")
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

    def _try(self, item: Defined) -> None:
        """A recursive operator is wrong when it is wrong at every small size but 1, where it does not call itself, or wrong in a way that sizes cannot mend."""
        count = len(size_names(item.operator))
        trials: list[tuple[int, ...]] = [()] if count == 0 else list(itertools.product(_TRIED, repeat=count)) if count <= 2 else [(n,) * count for n in _TRIED]
        first, right = self._tried(item, trials)
        if not right and first is not None and count:
            right = self._tried(item, [(n,) * count for n in _FURTHER])[1]
        if not right and first is not None:
            raise first

    def _tried(self, item: Defined, trials: list[tuple[int, ...]]) -> tuple[Error | None, bool]:
        """The first size error among the trials, and whether one of them, other than 1, is right."""
        first, right = None, False
        for sizes in trials:
            try:
                self.instance(item, sizes, item.operator.span)
                right |= not sizes or any(n != 1 for n in sizes)
            except Error as problem:
                if not isinstance(problem, SizeError) and problem.code not in _OF_SIZES:
                    raise
                first = first or problem
        return first, right

    def _enumeration(self, item: s.EnumType) -> None:
        """The members are constants of the file."""
        if item.name in self.enums or item.name in self.items or item.name in NAMES:
            fail("E0906", item.span, name=item.name, help="choose another name for one of them")
        if len(item.members) > MOST:
            fail("E0970", item.span, what=f"{item.name} has {len(item.members)} members", help=f"an enumeration is one byte: it has at most {MOST}")
        made = Enum(U8, name=item.name, members=item.members)
        for k, member in enumerate(item.members):
            if member in self.constants or member in self.items:
                fail("E0906", item.span, name=member, help="members are constants of the file; each name is one constant")
            self.constants[member] = s.EnumValue(made, k, span=item.span)
        self.enums[item.name] = made

    def _constant(self, item: s.Const) -> None:
        """A number, or an array of numbers; earlier constants may stand in it."""
        if item.name in self.constants or item.name in self.items:
            fail("E0906", item.span, name=item.name, help="choose another name for one of them")
        for node in s.walk(item.value):
            known = isinstance(node, s.Variable) and node.name in self.constants
            if not known and not isinstance(node, (s.Number, s.ArrayOf, s.Group, s.Operation, s.Constant, s.SizeNumber)):
                fail("E0908", node.span, what=f"{s.text(node)} is not known before the program runs, so it", where=f"const {item.name}")
        self.constants[item.name] = folded(item.value, self.constants)

    def _with_constants(self, operator: s.Operator) -> s.Operator:
        """The operator with constants put in. A variable may not have the name of one."""
        if not self.constants:
            return operator
        bound: dict[str, Span] = {}
        for clause in [*operator.interface.args, *operator.interface.results]:
            pattern_names(clause.left or clause.right, bound)
        for node in s.walk(operator):
            for body in (getattr(node, "body", ()), getattr(node, "then", ()), getattr(node, "orelse", ())):
                bound.update(defined_names(body))
        for name, span in bound.items():
            if name in self.constants:
                fail("E0906", span, name=name, help="it is a constant of this file; choose another name")

        def put(node: Any) -> Any:
            if not isinstance(node, s.Variable) or node.name not in self.constants:
                return node
            value = self.constants[node.name]
            return replace(value, span=node.span) if isinstance(value, (s.Number, s.EnumValue)) else value

        changed = s.rewrite(operator, put)
        assert isinstance(changed, s.Operator)
        return changed

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
            case s.FixedType(signed, s.SizeNumber(whole), s.SizeNumber(fraction)) if (found := fixed_type(signed, whole, fraction)) is not None:
                return found
            case s.TypeName(name) if name in self.enums:
                return self.enums[name]
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
            help_ = "say which record it is: (x of name)" if found and not isinstance(t, Record) else helps.fields(t, self.fields, name)
            fail("E0917", span, name=name, shown=shown, help=help_)
        return found[0]

    # -- schemes of operators that compute

    def scheme(self, item: Item, el: Elaborator, e: s.Apply, env: Env) -> Scheme:
        if isinstance(item, External):
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
        """A recursive operator at given sizes. What it needs itself is made first, one after the other: the depth of the recursion is no depth of calls here."""
        wanted = (item, sizes, span)
        if (item.operator.name, sizes) in self._instances:
            return self._instances[(item.operator.name, sizes)]
        if self._expanding:
            raise _Needs(wanted)
        self._expanding = [wanted]
        try:
            while self._expanding:
                try:
                    self._make(*self._expanding[-1])
                    self._expanding.pop()
                except _Needs as more:
                    self._must_end(*more.wanted)
                    self._expanding.append(more.wanted)
        finally:
            self._expanding = []
        return self._instances[(item.operator.name, sizes)]

    def _make(self, item: Defined, sizes: tuple[int, ...], span: Span) -> None:
        for size_name, size in zip(size_names(item.operator), sizes, strict=True):
            if size < 0:
                fail("E0914", span, name=item.operator.name, what=size_name, size=size)
        known = dict(zip(size_names(item.operator), sizes, strict=True))
        operator = specialise(item.operator, known)
        shown = "_".join([operator.name, *map(str, sizes)])
        with deep(span):
            self._instances[(item.operator.name, sizes)] = compile_operator(self, operator, name=shown, sizes=known, separate=self.separate)

    def _must_end(self, item: Defined, sizes: tuple[int, ...], span: Span) -> None:
        """Sizes that become smaller end by themselves, however many they are; those that do not are counted."""
        around = [s for i, s, _ in self._expanding if i is item]
        if sizes in around:
            at = f"<<{', '.join(map(str, sizes))}>>" if sizes else "itself"
            fail("E0951", span, name=item.operator.name, why=f"it needs {at} to make {at}")
        growing = sum(all(a <= b for a, b in zip(s, sizes, strict=True)) for s in around)
        if growing >= _GROWING:
            fail("E0951", span, name=item.operator.name, why=f"its sizes grew {_GROWING} times")


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
