"""From lark's trees to syntax. Most rules are one constructor applied to their parts: a table; the others are methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from atoll.errors import NOWHERE, Source, Span, fail
from atoll.madl import syntax as s

_OPERATES = {"+=": "add", "-=": "sub", "*=": "mul", "/=": "div", "%=": "mod"}
_COMPARES = {"==": "eq", "!=": "ne", "<>": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

_DIRECT: dict[str, Any] = {  # rule: the node made of its parts in order
    "equation": s.Equation,
    "typed": s.Typed,
    "located": s.Located,
    "initial": s.Initial,
    "alias": s.Alias,
    "copy": s.Copy,
    "last": s.Last,
    "constant": s.Constant,
    "array": s.ArrayOf,
    "tuple": s.TupleOf,
    "accumulate": s.Accumulate,
    "aggregate": s.Aggregate,
    "hole": s.Hole,
    "size_hole": s.SizeHole,
    "type_hole": s.TypeHole,
    "array_type": s.ArrayType,
}
_NAMED: dict[str, Any] = {  # rule: the node made of the token's text
    "variable": s.Variable,
    "size_name": s.SizeName,
    "type_name": s.TypeName,
}
_PRIMED: dict[str, Any] = {"meta": s.Meta, "size_meta": s.SizeMeta, "type_meta": s.TypeMeta}
_OPERATIONS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "mod": "mod",
    "either_or": "or",
    "both_of": "and",
    "negate": "not",
    "select": "select",
    "bit_and": "bit_and",
    "bit_or": "bit_or",
    "bit_xor": "bit_xor",
    "bit_not": "bit_not",
}
_SIZES = {"size_add": "+", "size_sub": "-", "size_mul": "*", "size_div": "/"}


def place(source: Source, line: int, column: int, end_line: int, end_column: int) -> Span:
    """A span from lark's positions, which count from 1; ours count columns in bytes."""
    return Span(source, line, _bytes(source, line, column - 1), end_line, _bytes(source, end_line, end_column - 1))


def _bytes(source: Source, line: int, characters: int) -> int:
    return len((source.line(line) or "")[:characters].encode()) if characters > 0 else 0


@dataclass
class _Clauses:
    """What stands in the parentheses of an interface."""

    kind: str  # args, results or short
    clauses: tuple[s.Clause, ...]


@dataclass
class _Places:
    """The section of an operator that says what lies where."""

    places: tuple[s.Located, ...]


@dataclass
class _Rounds:
    size: s.Size | None
    low: s.Size | None


@dataclass
class _Index:
    name: str | None
    size: str | None


class Reader:
    def __init__(self, source: Source) -> None:
        self.source = source

    def read(self, tree: Any) -> Any:
        if not hasattr(tree, "data"):
            return str(tree)
        rule = str(tree.data)
        parts = [self.read(child) for child in tree.children]
        meta = tree.meta
        span = NOWHERE if meta.empty else place(self.source, meta.line, meta.column, meta.end_line, meta.end_column)
        if rule in _DIRECT:
            return _DIRECT[rule](*parts, span=span)
        if rule in _NAMED:
            return _NAMED[rule](parts[0], span=span)
        if rule in _PRIMED:
            return _PRIMED[rule](parts[0][1:], span=span)
        if rule in _OPERATIONS:
            return s.Operation(_OPERATIONS[rule], tuple(parts), span=span)
        if rule in _SIZES:
            return s.SizeOp(_SIZES[rule], parts[0], parts[1], span=span)
        return getattr(self, f"read_{rule}")(parts, span)

    # -- the file

    def read_start(self, parts: list[Any], span: Span) -> s.Program:
        return s.Program(tuple(item for p in parts for item in (p if isinstance(p, list) else [p])), span=span)

    def read_import(self, parts: list[Any], span: Span) -> s.Import:
        return s.Import(parts[0][1:-1], tuple(parts[1:]), span=span)

    def read_record(self, parts: list[Any], span: Span) -> s.RecordType:
        return s.RecordType(parts[0], tuple(parts[1:]), span=span)

    def read_field(self, parts: list[Any], span: Span) -> tuple[str, s.TypeExpr]:
        return parts[0], parts[1]

    def read_lets(self, parts: list[Any], span: Span) -> list[s.Operator]:
        recursive = parts[0] == "rec"
        found = parts[1:] if recursive else parts
        return [s.Operator(o.kind, o.name, o.interface, o.body, o.reset, recursive, span=o.span) for o in found]

    def read_rec(self, parts: list[Any], span: Span) -> str:
        return "rec"

    def read_operator(self, parts: list[Any], span: Span) -> s.Operator:
        kind = parts.pop(0) if isinstance(parts[1], str) else None
        name, interface = parts[0], parts[1]
        body: tuple[s.Expr, ...] = ()
        reset = s.Reset("resume", span=span)
        for part in parts[2:]:
            if isinstance(part, _Places):
                interface, body = _placed(interface, part.places), (*body, *part.places)
            elif isinstance(part, _Clauses):
                interface = s.Interface(interface.params, interface.sizes, interface.args, part.clauses, span=interface.span)
            else:
                body, written = part
                reset = written or reset
        if len(parts) == 2 and not (interface.params or interface.sizes or interface.args or interface.results) and "(" not in span.text():
            fail("E0901", span, what=f"operator {name} has neither an interface nor a body", help=f"{name} (..) returns (..): ..; that two conditions hold is written `&&`, not `and`")
        return s.Operator(kind, name, interface, body, reset, span=span)

    def read_where(self, parts: list[Any], span: Span) -> _Places:
        return _Places(tuple(parts))

    def read_place(self, parts: list[Any], span: Span) -> s.Located:
        return s.Located(parts[0], parts[1], span=span)

    def read_short(self, parts: list[Any], span: Span) -> _Clauses:
        return _Clauses("short", tuple(s.Clause(None, p, span=p.span) for p in parts))

    def read_kind(self, parts: list[Any], span: Span) -> str:
        return str(parts[0])

    read_param_kind = read_kind

    def read_interface(self, parts: list[Any], span: Span) -> s.Interface:
        return s.Interface(
            tuple(p for p in parts if isinstance(p, s.Param)),
            next((p for p in parts if isinstance(p, tuple)), None),
            _clauses(parts, "args"),
            _clauses(parts, "results"),
            span=span,
        )

    def read_param(self, parts: list[Any], span: Span) -> s.Param:
        return s.Param(parts[0], tuple(parts[1:]), span=span)

    def read_argument(self, parts: list[Any], span: Span) -> _Clauses:
        return _Clauses("args", tuple(parts))

    read_result = read_argument

    def read_returns(self, parts: list[Any], span: Span) -> _Clauses:
        return _Clauses("results", tuple(c for p in parts for c in p.clauses))

    def read_clause(self, parts: list[Any], span: Span) -> s.Clause:
        return s.Clause(parts[0] if len(parts) == 2 else None, parts[-1], span=span)

    def read_sizes(self, parts: list[Any], span: Span) -> tuple[s.Size, ...]:
        return tuple(parts)

    def read_body(self, parts: list[Any], span: Span) -> tuple[tuple[s.Expr, ...], s.Reset | None]:
        statements = next((p for p in parts if isinstance(p, tuple)), ())
        return statements, next((p for p in parts if isinstance(p, s.Reset)), None)

    read_closed = read_body

    def read_reset(self, parts: list[Any], span: Span) -> s.Reset:
        return s.Reset(parts[0], next((p for p in parts[1:] if isinstance(p, s.Node)), None), span=span)  # type: ignore[arg-type]

    def read_statements(self, parts: list[Any], span: Span) -> tuple[s.Expr, ...]:
        return tuple(e for p in parts for e in (p if isinstance(p, tuple) else (p,)))

    read_done_list = read_statements

    # -- equations and scopes

    def read_operate(self, parts: list[Any], span: Span) -> s.Equation:
        pattern, op, value = parts
        before = s.Last(s.bare(pattern), span=pattern.span)
        return s.Equation(pattern, s.Operation(_OPERATES[op], (before, value), span=span), span=span)

    def read_forward(self, parts: list[Any], span: Span) -> s.Forward:
        each, levels, (body, reset) = parts if len(parts) == 3 else (*parts, ((), None))
        if each and reset is not None and reset.kind != "reset":
            fail("E0972", reset.span, what=f"`{reset.kind}` closes it", help="its state lives from cycle to cycle: close it with `end`, or `reset c`")
        return s.Forward(levels, body, reset or s.Reset("resume" if each else "restart", span=span), each, span=span)

    def read_each(self, parts: list[Any], span: Span) -> bool:
        return bool(parts[0] == "foreach")

    def read_levels(self, parts: list[Any], span: Span) -> tuple[s.Level, ...]:
        return tuple(parts)

    def read_level(self, parts: list[Any], span: Span) -> s.Level:
        rounds = next((p for p in parts if isinstance(p, _Rounds)), _Rounds(None, None))
        index = next((p for p in parts if isinstance(p, _Index)), _Index(None, None))
        args, results = _clauses(parts, "args"), _clauses(parts, "results")
        return s.Level(rounds.size, rounds.low, index.name, index.size, args, results, span=span)

    def read_rounds(self, parts: list[Any], span: Span) -> _Rounds:
        if len(parts) == 1:
            return _Rounds(parts[0], None)
        if len(parts) == 2:
            return _Rounds(None, parts[0])
        low, _, high = parts  # the index is below high, as in `for (i = low; i < high; i++)` (thesis 7.2.3)
        return _Rounds(s.SizeOp("-", high, low, span=span), low)

    def read_low(self, parts: list[Any], span: Span) -> str:
        return ":"

    def read_index(self, parts: list[Any], span: Span) -> _Index:
        if isinstance(parts[0], _Index):
            return parts[0]
        return _Index(parts[0], parts[1] if len(parts) > 1 else None)

    def read_index_size(self, parts: list[Any], span: Span) -> _Index:
        return _Index(None, parts[0])

    def read_block(self, parts: list[Any], span: Span) -> s.Block:
        body, reset = parts[1] if len(parts) > 1 else ((), None)
        return s.Block(parts[0], body, reset or s.Reset("resume", span=span), span=span)

    # -- expressions

    def read_group(self, parts: list[Any], span: Span) -> s.Group:
        return s.Group(tuple(parts), span=span)

    def read_concat(self, parts: list[Any], span: Span) -> s.Apply:
        return s.Apply("concat", None, s.Group(tuple(parts), span=span), span=span)

    def read_update(self, parts: list[Any], span: Span) -> s.Update:
        return s.Update(parts[0], tuple(parts[1:-1]), parts[-1], span=span)

    def read_field_of(self, parts: list[Any], span: Span) -> s.Field:
        return s.Field(parts[0][1:], span=span)

    def read_compare(self, parts: list[Any], span: Span) -> s.Operation:
        return s.Operation(_COMPARES[parts[1]], (parts[0], parts[2]), span=span)

    def read_minus(self, parts: list[Any], span: Span) -> s.Expr:
        (arg,) = parts
        if isinstance(arg, s.Number) and not isinstance(arg.value, bool):
            return s.Number(-arg.value, span=span)
        return s.Operation("neg", (arg,), span=span)

    def read_project(self, parts: list[Any], span: Span) -> s.Project:
        return s.Project(parts[0], s.Element(_index(parts[1]), span=parts[1].span), span=span)

    def read_element(self, parts: list[Any], span: Span) -> s.Element:
        return s.Element(_index(parts[0]), span=span)

    def read_branch(self, parts: list[Any], span: Span) -> s.Branch:
        condition, then, other = parts
        return s.Branch(condition, then, (other,) if isinstance(other, s.Branch) else other, span=span)

    def read_match(self, parts: list[Any], span: Span) -> s.Match:
        return s.Match(parts[0], tuple(parts[1:]), span=span)

    def read_case(self, parts: list[Any], span: Span) -> s.Case:
        return s.Case(tuple(p for p in parts if not isinstance(p, tuple)), next((p for p in parts if isinstance(p, tuple)), ()), span=span)

    def read_other(self, parts: list[Any], span: Span) -> s.Case:
        (body,) = parts
        return s.Case((), (body,) if isinstance(body, s.Branch) else body, span=span)

    def read_minus_integer(self, parts: list[Any], span: Span) -> s.Number:
        return s.Number(-_integer(parts[0], span), span=span)

    def read_automaton(self, parts: list[Any], span: Span) -> s.Automaton:
        named = [str(p) for p in parts if not isinstance(p, s.State)]
        name, declared = named or (None, None)
        return s.Automaton(name, declared, tuple(p for p in parts if isinstance(p, s.State)), span=span)

    def read_state(self, parts: list[Any], span: Span) -> s.State:
        return s.State(parts[0], parts[1] if len(parts) > 1 else (), span=span)

    def read_transition(self, parts: list[Any], span: Span) -> s.Transition:
        return s.Transition(*parts, span=span)

    def read_when(self, parts: list[Any], span: Span) -> str:
        return str(parts[0])

    read_into = read_when

    def read_enumeration(self, parts: list[Any], span: Span) -> s.EnumType:
        return s.EnumType(parts[0], tuple(parts[1:]), span=span)

    def read_contract(self, parts: list[Any], span: Span) -> s.Contract:
        return s.Contract(parts[0], parts[1], span=span)

    def read_const(self, parts: list[Any], span: Span) -> s.Const:
        return s.Const(parts[0], parts[1], span=span)

    def read_member(self, parts: list[Any], span: Span) -> s.Project:
        return s.Project(parts[0], s.Field(parts[1][1:], span=span), span=span)

    def read_integer(self, parts: list[Any], span: Span) -> s.Number:
        return s.Number(_integer(parts[0], span), span=span)

    def read_float(self, parts: list[Any], span: Span) -> s.Number:
        return s.Number(float(parts[0]), span=span)

    def read_true(self, parts: list[Any], span: Span) -> s.Number:
        return s.Number(True, span=span)

    def read_false(self, parts: list[Any], span: Span) -> s.Number:
        return s.Number(False, span=span)

    def read_apply(self, parts: list[Any], span: Span) -> s.Apply:
        sizes = next((p for p in parts[1:] if isinstance(p, tuple)), None)
        arg = next((p for p in parts[1:] if isinstance(p, s.Node)), s.Group((), span=span))
        return s.Apply(parts[0], sizes, arg, span=span)  # type: ignore[arg-type]

    def read_apply_block(self, parts: list[Any], span: Span) -> s.ApplyBlock | s.Forward:
        arg = parts[1] if len(parts) > 1 else s.Group((), span=span)
        return _applied(parts[0], arg) if isinstance(parts[0], s.Forward) else s.ApplyBlock(parts[0], arg, span=span)

    # -- sizes and types

    def read_size_integer(self, parts: list[Any], span: Span) -> s.SizeNumber:
        return s.SizeNumber(_integer(parts[0], span), span=span)

    def read_size_minus(self, parts: list[Any], span: Span) -> s.SizeOp:
        return s.SizeOp("-", s.SizeNumber(0, span=span), parts[0], span=span)

    def read_tuple_type(self, parts: list[Any], span: Span) -> s.TupleType:
        return s.TupleType(tuple(parts), span=span)

    def read_sized_type(self, parts: list[Any], span: Span) -> s.IndexType | s.FixedType:
        name, sizes = parts[0], parts[1:]
        if name in ("q", "uq") and len(sizes) == 2:
            return s.FixedType(name == "q", *sizes, span=span)
        if name != "idx" or len(sizes) != 1:
            fail("E0904", span, what="type", name=name, help="idx<<n>> is an index, q<<i, f>> and uq<<i, f>> are numbers with a fixed point")
        return s.IndexType(sizes[0], span=span)


_MOST_DIGITS = 4000  # of a number: Python reads no more in decimal


def _integer(text: str, span: Span) -> int:
    if len(text) > _MOST_DIGITS:
        fail("E0901", span, what=f"this number has {len(text):,} digits, more than any type holds")
    return int(text, {"0x": 16, "0b": 2}.get(text[:2].lower(), 10))


_SIZE_OPS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def _index(e: s.Expr) -> s.Size:
    """An index as a size, which can be proved to be in range, where it is made of what sizes are made of; else a value."""

    def size(e: s.Expr) -> s.Size | None:
        match e:
            case s.Number(int() as value) if not isinstance(value, bool):
                return s.SizeNumber(value, span=e.span)
            case s.Variable(name):
                return s.SizeName(name, span=e.span)
            case s.Meta(name):
                return s.SizeMeta(name, span=e.span)
            case s.Hole():
                return s.SizeHole(span=e.span)
            case s.Operation("neg", (arg,)):
                inner = size(arg)
                return None if inner is None else s.SizeOp("-", s.SizeNumber(0, span=e.span), inner, span=e.span)
            case s.Operation(op, (left, right)) if op in _SIZE_OPS:
                first, second = size(left), size(right)
                return None if first is None or second is None else s.SizeOp(_SIZE_OPS[op], first, second, span=e.span)
        return None

    return size(e) or s.SizeValue(e, span=e.span)


def _placed(interface: s.Interface, places: tuple[s.Located, ...]) -> s.Interface:
    """The interface with what `where` says of its arguments and results: callers see it there."""
    said = {place.arg.name: place.place for place in places if isinstance(place.arg, s.Variable)}

    def put(e: Any) -> Any:
        if isinstance(e, s.Variable) and e.name in said:
            return s.Located(e, said[e.name], span=e.span)
        if isinstance(e, s.Group):
            return replace(e, items=tuple(put(item) for item in e.items))
        return replace(e, arg=put(e.arg)) if isinstance(e, s.Typed) else e

    args = tuple(replace(c, right=put(c.right)) for c in interface.args)
    results = tuple(replace(c, right=put(c.right)) if c.left is None else replace(c, left=put(c.left)) for c in interface.results)
    return replace(interface, args=args, results=results)


def _applied(forward: s.Forward, arg: s.Expr) -> s.Forward:
    """`(forward ([x]) ..: ..)(u)`: arguments without `=` take those given, in order."""
    given = list(s.items(arg))

    def bound(clause: s.Clause) -> s.Clause:
        if clause.left is not None:
            return clause
        count = len(s.items(clause.right))
        taken = tuple(given[:count])
        if len(taken) < count:
            fail("E0905", clause.span, what=s.text(clause.right), given=f"{len(taken)} values", wanted=f"{count}", help="give each argument of the forward a value")
        del given[:count]
        return s.Clause(clause.right, taken[0] if count == 1 else s.Group(taken, span=arg.span), span=clause.span)

    levels = tuple(replace(level, args=tuple(bound(c) for c in level.args)) for level in forward.levels)
    if given:
        fail("E0905", given[0].span, what=s.text(given[0]), given="one value more", wanted="no more", help="the forward has fewer arguments")
    return replace(forward, levels=levels)


def _clauses(parts: list[Any], kind: str) -> tuple[s.Clause, ...]:
    return tuple(c for p in parts if isinstance(p, _Clauses) and p.kind == kind for c in p.clauses)
