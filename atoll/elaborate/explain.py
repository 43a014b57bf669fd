"""`f.explain()`: the user's program with everything Atoll put in written out.

Inserted maps and reps are written as `map` and `rep`, inserted conversions as calls of the type, and the types and sizes that were inferred
stand in comments. The text is a program again: giving it back to Atoll inserts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from atoll.elaborate import entities as en
from atoll.elaborate.coerce import common
from atoll.elaborate.entities import Value
from atoll.elaborate.ranks.analysis import read_definition
from atoll.elaborate.ranks.kinds import Clash
from atoll.elaborate.ranks.propagate import Infeasible
from atoll.elaborate.ranks.readings import Elaborated, Marks, marks
from atoll.elaborate.session import Session
from atoll.elaborate.signature import show_signature
from atoll.errors import Span
from atoll.surface import syntax as s
from atoll.surface.show import children, level
from atoll.surface.show import parameters as written_parameters
from atoll.types.dtypes import DType
from atoll.types.types import Fn, Index, Scalar, Tuple, Type, map_sizes, shape_of, sizes_in, strong

if TYPE_CHECKING:
    from atoll.elaborate.elaborator import Elaborator
    from atoll.function import Function

_COLUMN = 60
_ARITHMETIC = frozenset("+ - * / // % ** & | ^".split())


class Explanation(str):
    """A text that shows itself as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Recorder:
    """The entity each expression denoted, the last time it was elaborated."""

    def __init__(self) -> None:
        self.seen: dict[int, tuple[Elaborator, Any]] = {}

    def saw(self, el: Elaborator, node: Any, entity: Any) -> None:
        self.seen[id(node)] = (el, entity)

    def type(self, node: Any) -> Type | None:
        """The type of a node's value, its sizes solved, weak literals still weak."""
        found = self.seen.get(id(node))
        if found is None or not isinstance(found[1], Value):
            return None
        el, value = found
        return map_sizes(value.type, el.solver.resolve)

    def show(self, node: Any) -> str | None:
        found = self.seen.get(id(node))
        if found is None or not isinstance(found[1], Value):
            return None
        return found[0].show(found[1].type)


@dataclass(frozen=True, slots=True)
class Explained:
    """A function looked at: the lines of its explanation with the statements they come from, and what each expression is."""

    lines: tuple[tuple[str, Span], ...]
    types: tuple[tuple[Span, str], ...]  # of expressions, in the order of the text
    inserted: tuple[tuple[Span, str], ...]  # statements into which something was put, as they are then
    result: str


def explain(fn: Function) -> Explanation:
    """The program with every insertion explicit."""
    return Explanation("\n".join(line for line, _ in explained(fn).lines))


def explained(fn: Function) -> Explained:
    """The same with the places its lines come from, and the types of all expressions."""
    session = Session()
    session.recorder = recorder = Recorder()
    result: Type | None = fn.signature.result
    notes: list[tuple[Any, str]] = []
    if not fn.signature.is_generic:
        result = session.instance(fn, {}, None, fn.surface.span).result
        notes = list(session.latest[id(fn)].notes)
    inserted, unread = _insertions(session, fn)
    text = _Text(recorder, inserted, fn)
    named = result is not None and (fn.signature.result is not None or _is_declared(fn, result))
    header = show_signature(fn.name, fn.signature, result if named else None)
    comment = f"-> {result!r}" if result is not None and not named else None
    text.line(0, f"def {header.replace('bool[', 'bool_[')}:", comment)  # Python's own bool takes no sizes
    if unread:
        text.line(1, "# ranks were decided one application at a time")
    text.notes = dict.fromkeys((span.line, note) for span, note in notes)
    text.body(fn.surface.body, 1, fn.signature.result)
    numeric = sorted(session.number_variables.get(id(fn), ()))
    if numeric:
        text.line(0, "# " + ", ".join(f"{name}: number" for name in numeric))
    types = tuple(_types(fn.surface.body, recorder))
    return Explained(tuple(zip(text.lines, text.places, strict=True)), types, tuple(text.touched), "" if result is None else repr(result))


def _types(body: Any, recorder: Recorder) -> Iterable[tuple[Span, str]]:
    """The types of expressions, and of names where they are given a value."""
    for node in _nodes(body):
        if isinstance(node, s.Expr) and (shown := recorder.show(node)) is not None:
            yield node.span, shown
        elif isinstance(node, s.Assign) and (shown := recorder.show(node.value)) is not None:
            yield from ((target.span, shown) for target in node.targets if isinstance(target, s.Name))


def _is_declared(fn: Function, result: Type) -> bool:
    """Whether a type's sizes are all names of the signature; others nobody declared, so they cannot stand in a text."""
    declared = {sym.name for sym in fn.signature.sizes}
    return all(repr(leaf) in declared for size in sizes_in(result) for leaf in size.leaves())


def _insertions(session: Any, fn: Function) -> tuple[Marks, bool]:
    """Every map and rep of the definition, by the analysis of the whole; True when the analysis does not cover it."""
    try:
        definition = read_definition(session, fn)
    except (Clash, Infeasible):
        return {}, True
    solution = definition.outcome.the_solution()
    applications = [(app, solution.insertion(app)) for app in solution.system.applications]
    return marks([*definition.gen.settled, *applications]), False


class _Expressions(Elaborated):
    """Expressions with insertions and conversions."""

    def __init__(self, recorder: Recorder, inserted: Marks, taken: Iterable[str]) -> None:
        super().__init__(inserted, taken)
        self.recorder = recorder
        self._converting: set[int] = set()

    def expr(self, node: Any, around: int = 0, within: bool = False) -> str:
        wanted = self.casts.get(id(node))
        if wanted is None or id(node) in self._converting:
            return super().expr(node, around, within)
        self._converting.add(id(node))
        try:
            return f"{wanted}({super().expr(node)})"
        finally:
            self._converting.discard(id(node))

    casts: dict[int, str]

    def is_tuple(self, node: Any) -> bool:
        return isinstance(self.recorder.type(node), Tuple)

    def is_touched(self, node: Any) -> bool:
        return id(node) in self.casts or super().is_touched(node)

    def find_casts(self, node: Any) -> None:
        """Which operands are converted before they are used."""
        match node:
            case s.BinOp(op, left, right) if op in _ARITHMETIC:
                self._operands([left, right], op)
            case s.Compare(first, rest) if len(rest) == 1:
                self._operands([first, rest[0][1]], "<")
        for part in children(node):
            self.find_casts(part)

    def _operands(self, operands: list[Any], op: str) -> None:
        types = [self.recorder.type(x) for x in operands]
        scalars = [shape_of(t)[1] for t in types if t is not None]
        if len(scalars) != 2 or not all(isinstance(t, (Scalar, Index)) for t in scalars):
            return
        both = common(scalars[0], scalars[1])
        if both is None or both.weak:
            return
        wanted = both.dtype.name
        if op == "/" and both.dtype.kind in "biu":
            wanted = "f64"
        if op == "**" or both.dtype.kind == "b":
            return
        for node, t in zip(operands, scalars, strict=True):
            if _dtype(t).name != wanted and not getattr(t, "weak", 0):
                self.casts[id(node)] = wanted


def _dtype(t: Type) -> DType:
    assert isinstance(t, (Scalar, Index))
    return t.dtype


class _Text:
    """The lines of a body."""

    def __init__(self, recorder: Recorder, inserted: Marks, fn: Function) -> None:
        self.recorder, self.fn = recorder, fn
        self.lines: list[str] = []
        self.places: list[Span] = []
        self.here = fn.surface.span
        self.touched: list[tuple[Span, str]] = []
        self.notes: dict[tuple[int, str], None] = {}
        taken = {p.name for p in fn.signature.params} | set(_names(fn.surface.body))
        self.printer = _Expressions(recorder, inserted, taken)
        self.printer.casts = {}
        self.plain = _Expressions(recorder, {}, taken)  # without what was inserted
        self.plain.casts = {}

    def line(self, depth: int, text: str, comment: str | None = None) -> None:
        text = "    " * depth + text
        if comment:
            text = f"{text:<{_COLUMN}}  # {comment}"
        self.lines.append(text)
        self.places.append(self.here)

    def expr(self, node: Any) -> str:
        self.printer.find_casts(node)
        written = self.printer.expr(node)
        if written != self.plain.expr(node):
            self.touched.append((node.span, written))
        return written

    def body(self, stmts: tuple[Any, ...], depth: int, declared: Type | None = None) -> None:
        for stmt in stmts:
            self.here = stmt.span
            for key in [key for key in self.notes if key[0] == stmt.span.line and not isinstance(stmt, (s.If, s.For, s.While))]:
                self.line(depth, f"# {key[1]}")
                del self.notes[key]
            self.statement(stmt, depth, declared)
        if not stmts:
            self.line(depth, "pass")

    def statement(self, stmt: Any, depth: int, declared: Type | None) -> None:
        match stmt:
            case s.Assign(targets, value, annotation):
                left = " = ".join(self.printer.expr(t) for t in targets)
                if annotation is not None:
                    self.line(depth, f"{left}: {annotation.span.text()} = {self.converted(value, None)}")
                else:
                    self.line(depth, f"{left} = {self.expr(value)}", self.bound(targets, value))
            case s.AugAssign(target, op, value):
                self.line(depth, f"{self.printer.expr(target)} {op}= {self.expr(value)}")
            case s.Return(value) if value is not None:
                shown = self.recorder.show(value)
                self.line(depth, f"return {self.converted(value, declared)}", shown if not isinstance(value, s.Name) else None)
            case s.If(test, then, orelse):
                self.line(depth, f"if {self.expr(test)}:")
                self.body(then, depth + 1, declared)
                if orelse:
                    self.here = stmt.span
                    self.line(depth, "else:")
                    self.body(orelse, depth + 1, declared)
            case s.For(target, iter_, body, _, going):
                self.line(depth, f"for {self.printer.expr(target)} in {self.expr(iter_)}:", None if going is None else f"while {going}")
                self.body(body, depth + 1, declared)
            case s.While(test, body):
                self.line(depth, f"while {self.expr(test)}:")
                self.body(body, depth + 1, declared)
            case s.Assert(test, message):
                self.line(depth, f"assert {self.expr(test)}" + (f", {self.expr(message)}" if message is not None else ""))
            case s.Function(name, params, result, body):
                end = f" -> {result.span.text()}" if result is not None else ""
                self.line(depth, f"def {name}({written_parameters(params)}){end}:", self.parameters(params, body))
                self.body(body, depth + 1)
            case s.Match(subject, cases):
                self.line(depth, f"match {self.expr(subject)}:")
                for case in cases:
                    guard = f" if {self.expr(case.guard)}" if case.guard is not None else ""
                    self.line(depth + 1, f"case {case.pattern.span.text()}{guard}:")
                    self.body(case.body, depth + 2, declared)
            case s.ExprStmt(value):
                self.line(depth, self.expr(value))
            case s.Pass():
                self.line(depth, "pass")

    def converted(self, node: Any, declared: Type | None) -> str:
        """An expression where a declared type is wanted."""
        t = self.recorder.type(node)
        if declared is not None and t is not None and isinstance(shape_of(t)[1], (Scalar, Index)):
            wanted, found = shape_of(declared)[1], shape_of(t)[1]
            if isinstance(wanted, Scalar) and _dtype(found) is not wanted.dtype and not getattr(found, "weak", 0):
                return f"{wanted!r}({self.expr(node)})"
        return self.expr(node)

    def bound(self, targets: tuple[Any, ...], value: Any) -> str | None:
        """`y: f64[n]` for what a name is bound to."""
        shown = self.recorder.show(value)
        if shown is None or not all(isinstance(t, (s.Name, s.TupleTarget)) for t in targets):
            return None
        return f"{self.printer.expr(targets[0])}: {shown}" if isinstance(targets[0], s.Name) else shown

    def parameters(self, params: tuple[s.Param, ...], body: Any) -> str | None:
        """The types an unannotated function's parameters have inside it."""
        found = []
        for p in params:
            if p.annotation is None:
                uses = (self.recorder.show(n) for n in _uses(body, p.name))
                shown = next((u for u in uses if u is not None), None)
                if shown is not None:
                    found.append(f"{p.name}: {shown}")
        return ", ".join(found) or None


def _nodes(part: Any) -> Iterable[Any]:
    import dataclasses

    if isinstance(part, (tuple, list)):
        for item in part:
            yield from _nodes(item)
    elif isinstance(part, s.Node):
        yield part
        for f in dataclasses.fields(part):
            if f.name != "span":
                yield from _nodes(getattr(part, f.name))


def _names(body: Any) -> Iterable[str]:
    return (node.id for node in _nodes(body) if isinstance(node, s.Name))


def _uses(body: Any, name: str) -> Iterable[s.Name]:
    return (node for node in _nodes(body) if isinstance(node, s.Name) and node.id == name)


__all__ = ["Explanation", "Fn", "en", "explain", "level", "strong"]
