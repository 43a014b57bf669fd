"""The state of one operator while it is elaborated: its graph under construction, its types, its obligations.

Elaboration reads an operator once and makes its graph: names are resolved, arities checked, types and sizes unified on the way;
scalar operations are typed when everything else is known (`type_scalars`), because a literal takes the type of what it meets. The functions
that read syntax are in expressions.py (what has a value), patterns.py (what is defined), iterate.py (scopes), state.py (last and init),
instances.py (operators used).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from atoll.errors import Span, fail
from atoll.madl import fixed, helps
from atoll.madl import graph as g
from atoll.madl import syntax as s
from atoll.madl.environment import Env, Names
from atoll.madl.represented import FIXED_HELP, Enum, Fixed, belongs, fixed_type
from atoll.madl.scalars import CONVERSIONS, SCALAR_OPS, SYMBOLS
from atoll.madl.typing import BOOL, INT, NAMES, Generic, Reason, Typer, Unknown, prune
from atoll.sizes import Poly, Sym, poly
from atoll.types.types import Array, Index, Scalar, Tuple, Type
from atoll.views.functor import ONE, Functor

if TYPE_CHECKING:
    from atoll.madl.instances import Item
    from atoll.madl.library import Library


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """An index that must lie in its array: 0 <= index < extent."""

    index: Poly
    extent: Poly
    wire: g.Wire
    text: str
    span: Span
    scope: g.Scope


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """`whole as alias` in the results of a loop: the part built so far, of size growth*index + fixed."""

    scope: g.Scope
    whole: g.Wire
    alias: g.Wire
    growth: Poly
    fixed: Poly
    relations: tuple[g.Relation, ...]  # between the elements and the whole
    elements: tuple[g.Wire, ...]
    span: Span


class Elaborator:
    def __init__(self, library: Library, operator: s.Operator, inlined: frozenset[Any] = frozenset(), opened: frozenset[Any] = frozenset()) -> None:
        self.library = library
        self.operator = operator
        self.inlined = inlined  # calls to expand in place, as blocks
        self.opened = opened  # calls whose equations become equations of the caller, for feedback through them
        self.graph = g.Graph(operator.name, operator.span)
        self.typer = Typer()
        self.use: s.Apply | None = None  # the outermost structural operator that is being expanded
        self.interface: Env | None = None  # the inside of the forward whose interface is being read
        self.partial: Poly | None = None  # size of [.] while typing the part built so far
        self.half_defined: dict[str, Span] = {}  # names that some branches of an if or match define
        self.labels: list[tuple[g.Wire, s.Number]] = []  # numbers that a match compares a value with
        self.dry = False  # types only: make no wires, nodes or relations
        self.defined: dict[g.Wire, Span] = {}
        self.operations: list[g.Op] = []
        self.bounds: list[Bound] = []
        self.built: list[Built] = []
        self.around: dict[g.Scope, Env] = {}  # the names outside a scope
        self.not_onto: list[tuple[Span, str]] = []  # patterns through views that miss cells
        self.dynamic: dict[g.Wire, Sym] = {}
        self.aggregated_at: dict[g.Wire, Span] = {}
        self.size_words: set[str] = set()  # names of sizes the user wrote

    def find(self, name: str) -> Item | None:
        """The operator, record or function with this name that is in sight."""
        return self.library.find(name, self.operator)

    # -- wires and relations

    def wire(self, env: Env, node: s.Node, type_: Type | None = None, name: str | None = None, role: str = "plain") -> g.Wire:
        if env.placing and role == "plain":
            role = "place"
        made = g.Wire(type_ if type_ is not None else Unknown(), env.scope, node.span, s.text(node), name, role)
        self._keep(made)
        return made

    def _keep(self, wire: g.Wire) -> None:
        if self.use is not None:
            wire.span, wire.site = self.use.span, s.text(self.use)
        if not self.dry:
            self.graph.wires.append(wire)

    def declare(self, env: Env, names: Names) -> None:
        for name, span in names.items():
            if name not in env.variables:
                shown = None if "#" in name else name
                made = g.Wire(Unknown(), env.scope, span, name.partition("#")[0], shown)
                made.hint = name.partition("##")[0] if "##" in name else None
                env.variables[name] = made
                self._keep(made)

    def relate(
        self,
        env: Env,
        whole: g.Wire,
        parts: list[tuple[Functor, g.Wire]],
        flow: str | None,
        construct: str,
        span: Span,
    ) -> None:
        """Record a relation; inside `at` it says where, and no value flows."""
        if self.dry:
            return
        relation = g.Relation(whole, tuple(parts), None if env.placing else flow, construct, self._told_at(span))
        self.graph.relations.append(relation)
        for target in relation.targets():
            self.graph.producer[target] = relation

    def same_place(self, first: g.Wire, second: g.Wire, construct: str, span: Span) -> None:
        """Two wires have one type and one place."""
        self.typer.unify(second.type, first.type, span)
        if not self.dry:
            self.graph.relations.append(g.Relation(first, ((ONE, second),), None, construct, self._told_at(span)))

    def _told_at(self, span: Span) -> Span:
        """Where a message points: what an operator rearranges is told where it is used."""
        return span if self.use is None else self.use.span

    def define(self, wire: g.Wire, span: Span) -> None:
        """A variable gets its one definition."""
        if self.dry:
            return
        if wire in self.defined:
            help_ = "an equation defines it in every cycle: take one of them away, or choose another name"
            fail("E0906", span, name=wire.shown, help=help_, where=self.operator.name)
        self.defined[wire] = span

    def node(self, scope: g.Scope, node: g.Computing) -> None:
        if self.dry:
            return
        scope.nodes.append(node)
        match node:
            case g.Op(output=out) | g.Copy(target=out):
                self.graph.producer[out] = node
            case g.Call(outputs=outs):
                for out in outs:
                    self.graph.producer[out] = node

    def variable(self, name: str, env: Env, span: Span) -> g.Wire:
        found = env.variable(name)
        if found is None:
            half = self.half_defined.get(name)
            notes = [f"{name} is not defined in every branch of the {half.text().split()[0]} in line {half.line}"] if half is not None else []
            fail("E0902", span, name=name.partition("#")[0], notes=notes, help=helps.undefined(self, name, env), where=self.operator.name)
        return found

    # -- sizes and types as written

    def size(self, size: s.Size, env: Env, as_index: bool = False) -> Poly:
        """The polynomial of a size; as an index it may also mention loop indices and values of type idx."""
        match size:
            case s.SizeNumber(value):
                return poly(value)
            case s.SizeHole():
                return self.typer.fresh_size(env.level)
            case s.SizeMeta(name):
                return self._size_meta(name, env)
            case s.SizeName(name):
                return self._size_name(name, env, as_index, size.span)
            case s.SizeValue(expr):
                from atoll.madl import expressions

                if not as_index:
                    fail("E0904", size.span, what="size", name=s.text(expr), where=self.operator.name)
                return self.dynamic_index(expressions.value(self, expr, env))
            case s.SizeOp(op, left, right):
                a, b = self.size(left, env, as_index), self.size(right, env, as_index)
                if op == "/":
                    return self._divide(a, b, size.span)
                return a + b if op == "+" else a - b if op == "-" else a * b
        raise AssertionError(size)

    def _divide(self, a: Poly, b: Poly, span: Span) -> Poly:
        a, b = self.typer.size(a), self.typer.size(b)
        divisor = b.const()
        if divisor is None or divisor < 1:
            fail("E0911", span, left=f"{a} / {b}", right="a size", help="divide by a positive number")
        return a // b

    def _size_meta(self, name: str, env: Env) -> Poly:
        known = env.metas.sizes.get(name)
        if known is None:
            known = env.metas.sizes[name] = self.typer.fresh_size(env.level, name)
        unknown = known.single()
        if isinstance(unknown, Sym) and unknown in self.typer.solver.unknowns:
            levels = self.typer.solver.unknowns
            levels[unknown] = min(levels[unknown], env.level)
        return known

    def _size_name(self, name: str, env: Env, as_index: bool, span: Span) -> Poly:
        here: Env | None = env
        while here is not None:
            if name in here.sizes:
                return here.sizes[name]
            if name in here.indices:
                return here.indices[name]
            if as_index and name in here.variables:
                return self.dynamic_index(here.variables[name])
            here = here.parent
        constant = self.library.constants.get(name)
        if isinstance(constant, s.Number) and isinstance(constant.value, int):
            return poly(constant.value)
        if as_index:
            fail("E0902", span, name=name, help=helps.undefined(self, name, env), where=self.operator.name)
        fail("E0904", span, what="size", name=name, where=self.operator.name)

    def dynamic_index(self, wire: g.Wire) -> Poly:
        """The symbol that stands for the value of an index, one per wire."""
        if wire not in self.dynamic:
            sym = Sym(wire.name or "k")
            self.dynamic[wire] = sym
            self.typer.solver.rigid[sym] = wire.scope.depth
        return poly(self.dynamic[wire])

    def type(self, t: s.TypeExpr, env: Env) -> Type:
        match t:
            case s.TypeHole():
                return Unknown()
            case s.TypeName(name):
                declared = env.type(name)
                if declared is not None:
                    return declared
                if name in NAMES:
                    return NAMES[name]
                record = self.library.record(name) or self.library.enums.get(name)
                if record is not None:
                    return record
                known = f"types are {', '.join(NAMES)}, records, enumerations, and those declared with (type ..)"
                fail("E0904", t.span, what="type", name=name, help=known, where=self.operator.name)
            case s.TypeMeta(name):
                return env.metas.types.setdefault(name, Unknown())
            case s.IndexType(size):
                return Index(self.size(size, env))
            case s.FixedType(signed, whole, fraction):
                return self.fixed(signed, (self.size(whole, env), self.size(fraction, env)), t.span)
            case s.ArrayType(size, elem):
                return Array(self.type(elem, env), self.size(size, env))
            case s.TupleType(parts):
                return Tuple(tuple(self.type(part, env) for part in parts))
        raise AssertionError(t)

    def fixed(self, signed: bool, sizes: tuple[Poly, ...], span: Span) -> Type:
        """q<<i, f>> or uq<<i, f>>."""
        whole, fraction = (self.typer.size(p).const() for p in sizes)
        found = fixed_type(signed, whole, fraction) if whole is not None and fraction is not None else None
        if found is None:
            shown = f"{'q' if signed else 'uq'}<<{', '.join(self.typer.show_size(p) for p in sizes)}>>"
            fail("E0904", span, what="type", name=shown, help=FIXED_HELP, where=self.operator.name)
        return found

    # -- scalar operations, typed at the end

    def type_scalars(self) -> None:
        for op in self.operations:
            found = self._tree_type(op.tree, op)
            self.typer.unify(found, op.output.type, op.span)

    def _tree_type(self, tree: g.Tree, op: g.Op) -> Type:
        match tree:
            case g.Input(k):
                t = prune(op.inputs[k].type)
                return INT if isinstance(t, Index) else t
            case g.Literal(_, t) | g.SizeValue(_, t):
                return t
            case g.Operate(name, args, result, span):
                types = [INT if isinstance(prune(t), Index) else t for t in (self._tree_type(a, op) for a in args)]
                self._operation_type(name, types, result, args, span, op)
                return result
        raise AssertionError(tree)

    def _operation_type(self, name: str, types: list[Type], result: Type, args: tuple[g.Tree, ...], span: Span, op: g.Op) -> None:
        row = SCALAR_OPS[name]
        shown = SYMBOLS.get(name, name)
        if name == "select":
            self.typer.unify(types[0], BOOL, _place(args[0], span))
            types, args = types[1:], args[1:]
        for t, arg in zip(types, args, strict=True):
            self._scalar(t, span, shown)
            known = prune(t)
            if isinstance(known, Scalar) and (known.dtype.kind == "b" or isinstance(known, Enum)) and not belongs(row.family, known):
                fail("E0915", span, op=shown, shown=self.typer.show(known), help=helps.family(row.family, known), where=self.operator.name)
            if row.family == "bool":
                self.typer.unify(t, BOOL, _place(arg, span))
        for t in types[1:]:
            if not self.typer._unify(t, types[0], _why(span, t, types[0])):
                help_ = helps.one_type(types[0], t, (_text(args[0], op), _text(args[-1], op)))
                fail("E0910", span, first=self.typer.show(t), second=self.typer.show(types[0]), help=help_, where=self.operator.name)
        self.typer.require(types[0], row.family, span, shown)
        if isinstance(known := prune(types[0]), Fixed):
            fixed.check(name, span, known, self.operator.name)
        if row.gives == "same":
            self.typer.unify(types[0], result, span)
        elif row.gives == "bool":
            self.typer.unify(result, BOOL, span)
        elif name in CONVERSIONS:
            self.typer.unify(result, NAMES[CONVERSIONS[name]], span)

    def _scalar(self, t: Type, span: Span, op: str) -> None:
        t = prune(t)
        if not isinstance(t, (Scalar, Unknown, Generic)):
            fail("E0915", span, op=op, shown=self.typer.show(t), help="iterate over it with forward", where=self.operator.name)


def _place(tree: g.Tree, around: Span) -> Span:
    """Where an operand is written."""
    return tree.span if isinstance(tree, (g.Input, g.Operate, g.Literal)) and tree.span.line else around


def _text(tree: g.Tree, op: g.Op) -> str:
    """An operand as it is written."""
    return " ".join(_place(tree, op.span).text().split()) if not isinstance(tree, g.SizeValue) else ".."


def _why(span: Span, a: Type, b: Type) -> Any:
    return Reason(span, a, b)
