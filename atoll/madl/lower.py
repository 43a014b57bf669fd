"""From a scheduled operator to loops (atoll/loops/ir.py): one function for the cycle, one for the reset of its state.

Structural constructs are gone: they are the index maps through which nodes read and write. A chunk is one buffer per scalar leaf. What
is added to the loop language are two statements: a copy that is one piece of memory, and the call of another operator.

    op      buffer[index] = e, or op= when the result lies where the first operand does
    copy    nothing (same place), one assignment (scalar), one piece, or a nest of loops over the view
    nest    what starts it, then its rounds; memory local to a scope is declared at its beginning
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from atoll.backends.c.emit import safe
from atoll.errors import fail
from atoll.loops import ir as lp
from atoll.madl import fixed
from atoll.madl import graph as g
from atoll.madl.c_names import RESERVED, all_names, functions
from atoll.madl.compiled import Compiled
from atoll.madl.layout import Chunk
from atoll.madl.loaded import loaded
from atoll.madl.lowered import Argument, CopyPiece, FunctionName, Invoke, Lowered, LoweredOperator
from atoll.madl.pieces import Leaf, count, is_one_piece, leaf_index, leaves_of
from atoll.madl.represented import Fixed
from atoll.madl.resolve import literal_fits
from atoll.madl.scalars import CONVERSIONS, SCALAR_OPS
from atoll.madl.scheme import Scheme
from atoll.madl.tables import keep_tables
from atoll.madl.typing import Generic, prune, rebuild, show_type
from atoll.madl.values import dtype_of
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import BOOL, DTYPES, I32, I64, U64, DType
from atoll.types.types import Scalar, Type


class LoweredFile:
    """Operators lowered once per choice of types, callees before callers."""

    def __init__(self, prefix: str = "", origins: str = "none") -> None:
        self.prefix, self.origins = prefix, origins
        self.operators: dict[tuple[Compiled, tuple[Type, ...]], LoweredOperator] = {}
        self.external: dict[Scheme, str] = {}
        self.names: set[str] = set()

    def operator(self, compiled: Compiled, types: tuple[Type, ...] = ()) -> LoweredOperator:
        """The loops of an operator, at given types for its type variables."""
        key = (compiled, types)
        if key not in self.operators:
            if len(types) < len(compiled.graph.generics):
                fail("E0963", compiled.operator.span, name=compiled.name)
            suffix = "".join("_" + re.sub(r"\W+", "", show_type(t)) for t in types)
            self.operators[key] = _Lowering(self, compiled, types, self.fresh(compiled.name + suffix)).run()
        return self.operators[key]

    def fresh(self, base: str) -> str:
        """A C name for a function."""
        first = safe(self.prefix + base)
        if first.startswith("madl_") and not self.prefix:
            first = f"op_{first}"
        name, number = f"{first}_" if first in RESERVED else first, 2
        while self.names & all_names(name):
            name, number = f"{first}_{number}", number + 1
        self.names |= all_names(name)
        return name


_OF_EQUALS = {"lt": False, "gt": False, "ne": False, "le": True, "ge": True, "eq": True}


class _Lowering:
    def __init__(self, file: LoweredFile, compiled: Compiled, types: tuple[Type, ...], name: str) -> None:
        self.file = file
        self.op, self.graph, self.layout = compiled, compiled.graph, compiled.layout
        self.types, self.name = types, name
        self.generics: dict[Any, Type] = dict(zip(self.graph.generics, types, strict=True))
        self.sizes = {sym: Sym(self.graph.size_names[sym]) for sym in self.graph.sizes}
        self.env: dict[Atom, Poly] = {sym: poly(new) for sym, new in self.sizes.items()}
        self.buffers: dict[tuple[Chunk, tuple[int, ...]], lp.Buffer] = {}
        self.used: dict[lp.Buffer, None] = {}
        self.written: set[lp.Buffer] = set()
        self.calls: list[FunctionName] = []
        self.bodies: list[list[Any]] = []
        self.values: list[dict[Sym, Poly]] = []  # index values already in a variable
        self.limits: dict[Atom, Poly] = {}
        self.taken: set[str] = set()
        self.functions = functions(self.graph)
        for chunk in self.layout.chunks:
            if chunk.role in ("memory", "state", "workspace", "local"):
                self._buffers(chunk)

    def run(self) -> LoweredOperator:
        body = self.graph.body
        with self._body() as cycle:
            self._sequence(self.op.schedule.bodies[body].sequence)
        main = self._function(self.name, cycle, [c for c in self.layout.params() if c.role != "none"])
        reset = None
        if self.op.scheme.stateful:
            self.used, self.written, self.calls = {}, set(), []
            with self._body() as start:
                if body in self.op.schedule.starts:
                    self._sequence(self.op.schedule.starts[body].sequence)
            chunks = [c for c in self.layout.params() if c.role == "state" or self._uses(c)]
            reset = self._function(f"{self.name}_start", start, chunks)
        lowered = LoweredOperator(self.op, self.types, main, reset, self.buffers)
        keep_tables(lowered)
        return lowered

    def _function(self, name: str, body: list[Any], chunks: list[Chunk]) -> Lowered:
        local = [b for b in self.used if b.local and self._scope_of(b) is self.graph.body]
        params = [self.buffers[(c, leaf.components)] for c in chunks for leaf in self._leaves(c)]
        values = {b for b in params if not b.extents and b not in self.written}
        sizes = tuple(self.sizes.values())
        return Lowered(name, sizes, params, set(self.written), [*(lp.Alloc(b) for b in local), *loaded(body, params, self.written)], list(self.calls), values, self.limits)

    def _uses(self, chunk: Chunk) -> bool:
        return any(self.buffers[(chunk, leaf.components)] in self.used for leaf in self._leaves(chunk))

    def _scope_of(self, buffer: lp.Buffer) -> g.Scope:
        return next(chunk.scope for (chunk, _), b in self.buffers.items() if b is buffer)

    # -- memory

    def _type(self, t: Type) -> Type:
        t = prune(t)
        return self.generics.get(t, t) if isinstance(t, Generic) else t

    def _dtype(self, t: Type) -> DType:
        t = self._type(t)
        if isinstance(t, Generic):
            fail("E0916", self.op.operator.span, what=show_type(t))
        return dtype_of(t)

    def _leaves(self, chunk: Chunk) -> list[Leaf]:
        return leaves_of(self._whole_type(chunk.type))

    def _whole_type(self, t: Type) -> Type:
        return rebuild(t, self._type, lambda p: p)

    def _buffers(self, chunk: Chunk) -> None:
        for leaf in self._leaves(chunk):
            name = self._free(chunk.name + leaf.label)
            extents = tuple(n.subst(self.env) for n in leaf.extents)
            kind = "temp" if chunk.role == "local" else "out"
            buffer = lp.Buffer(name, self._dtype(leaf.type), extents, kind, span=chunk.wires[0].span)
            buffer.local = chunk.role == "local"
            self.buffers[(chunk, leaf.components)] = buffer

    def _free(self, base: str) -> str:
        """A name for a variable: no other's, and not that of a function that is called here."""
        if self.functions.fullmatch(safe(base)):
            base = f"the_{base}"
        name, number = base, 2
        while safe(name) in self.taken or self.functions.fullmatch(safe(name)):
            name, number = f"{base}_{number}", number + 1
        self.taken.add(safe(name))
        return name

    def _size(self, p: Poly) -> Poly:
        """A polynomial over what the C can name."""
        missing: dict[Atom, Poly] = {sym: self._value(sym) for sym in p.leaves() if isinstance(sym, Sym) and sym in self.graph.dynamic}
        return p.subst({**self.env, **missing})

    def _value(self, sym: Sym) -> Poly:
        """An index that is a value: read once into a variable."""
        for known in reversed(self.values):
            if sym in known:
                return known[sym]
        wire = self.graph.dynamic[sym][0]
        name = self._free(f"{wire.name or 'k'}_at")
        var = lp.Var(name, I64)
        self._emit(lp.Let(var, lp.Cast(self._read(wire), I64)))
        self.values[-1][sym] = poly(var.atom)
        self.limits[var.atom] = self._size(self.graph.dynamic[sym][1] - 1)
        return self.values[-1][sym]

    def _place(self, wire: g.Wire, leaf: Leaf, view: tuple[Poly, ...]) -> tuple[lp.Buffer, tuple[Poly, ...]]:
        """The buffer and index of one element of a wire."""
        place = self.layout.place[wire]
        components, index = leaf_index(place.map, leaf, view)
        buffer = self.buffers[(place.chunk, components)]
        self.used[buffer] = None
        return buffer, tuple(self._size(i) for i in index)

    def _wire_leaves(self, wire: g.Wire) -> list[Leaf]:
        return leaves_of(self._whole_type(wire.type))

    def _read(self, wire: g.Wire) -> lp.Expr:
        """The value of a scalar wire."""
        chunk = self.layout.chunk(wire)
        if chunk.role == "index":
            loop = next(w for w in chunk.wires if w.role == "index").scope
            assert loop.index is not None
            return lp.Cast(lp.Index(self._size(poly(loop.index) + loop.low)), I32)
        (leaf,) = self._wire_leaves(wire)
        return lp.Load(*self._place(wire, leaf, ()))

    # -- statements

    def _emit(self, stmt: Any) -> None:
        self.bodies[-1].append(stmt)
        match stmt:
            case lp.Store(buffer=b) | lp.Update(buffer=b) | CopyPiece(target=b):
                self.written.add(b)

    @contextmanager
    def _body(self) -> Iterator[list[Any]]:
        self.bodies.append([])
        self.values.append({})
        yield self.bodies[-1]
        self.bodies.pop()
        self.values.pop()

    def _sequence(self, nodes: Iterable[g.Computing]) -> None:
        for node in nodes:
            if id(node) in self.op.dead:
                continue
            self._origin(node)
            match node:
                case g.Op():
                    self._op(node)
                case g.Copy():
                    self._copy(node)
                case g.Call():
                    self._call(node, "cycle")
                case g.ResetCall(call):
                    self._call(call, "reset")
                case g.Nest():
                    self._nest(node)

    def _origin(self, node: g.Computing) -> None:
        """Which line of the source a statement comes from, where that is asked for."""
        span = node.span
        if self.file.origins == "none" or not span.line:
            return
        file = span.source.name.replace("\\", "/").rsplit("/", 1)[-1]
        if self.file.origins == "lines":
            self.bodies[-1].append(lp.Note(f'#line {span.line} "{file}"'))
            return
        words = " ".join(span.text().split()).replace("*/", "* /").replace("/*", "/ *")
        self.bodies[-1].append(lp.Note(f"{file}:{span.line}: {words if len(words) <= 60 else words[:58] + '..'}"))

    def _op(self, node: g.Op) -> None:
        (leaf,) = self._wire_leaves(node.output)
        buffer, index = self._place(node.output, leaf, ())
        tree = node.tree
        if isinstance(tree, g.Operate) and tree.op in ("add", "sub", "mul", "div") and isinstance(tree.args[0], g.Input):
            first = node.inputs[tree.args[0].number]
            place, own = self.layout.place[first], self.layout.place[node.output]
            if place.chunk is own.chunk and place.map == own.map and not isinstance(self._type(tree.type), Fixed) and (tree.op != "div" or buffer.dtype.is_float):
                self._emit(lp.Update(buffer, index, tree.op, self._tree(tree.args[1], node.inputs)))
                return
        self._emit(lp.Store(buffer, index, self._tree(tree, node.inputs)))

    def _tree(self, tree: g.Tree, inputs: tuple[g.Wire, ...]) -> lp.Expr:
        match tree:
            case g.Input(k):
                return self._read(inputs[k])
            case g.Literal(value, t, span):
                dtype, actual = self._dtype(t), self._type(t)
                if not isinstance(actual, Scalar) or not literal_fits(value, actual):  # where a type variable has become this type
                    fail("E0929", span, value=value, shown=actual, where=self.graph.name)
                return lp.Const(fixed.represent(value, actual) if isinstance(actual, Fixed) else value, dtype)
            case g.SizeValue(size, t):
                return lp.Cast(lp.Index(self._size(size)), self._dtype(t))
        args = tuple(self._tree(a, inputs) for a in tree.args)
        row = SCALAR_OPS[tree.op]
        types, result = [self._type(g.tree_type(a, inputs)) for a in tree.args], self._type(tree.type)
        if fixed.is_fixed(*types, result):
            fixed.check(tree.op, tree.span, result, self.graph.name)
            return fixed.lower(tree.op, args, types, result)
        if tree.op in CONVERSIONS:
            target = DTYPES[CONVERSIONS[tree.op]]
            return args[0] if args[0].dtype is target else lp.Cast(args[0], target)
        if row.gives == "idx":
            bound = lp.Index(self._size(tree.sizes[0]))
            return lp.Call(f"madl_{tree.op}", (lp.Cast(_signed(tree.op, args[0], bound), I64), bound), I32)
        dtype = args[-1].dtype
        if row.prim is None and not dtype.is_float:
            return lp.Call(row.int_prim or f"madl_{tree.op}", args, dtype)
        if not dtype.is_float and len(args) == 2 and args[0] == args[1] and tree.op in _OF_EQUALS:
            return lp.Const(_OF_EQUALS[tree.op], BOOL)  # C compilers warn
        prim = row.prim or row.float_prim
        assert prim is not None
        if prim in ("min", "max") and isinstance(args[1], lp.Const) and args[1].value and dtype.is_float:
            args = args[::-1]  # the first operand is tested for NaN, which a number of the text is not
        return lp.Call(prim, args, BOOL if row.gives == "bool" else dtype)

    def _copy(self, node: g.Copy) -> None:
        source, target = self.layout.place[node.source], self.layout.place[node.target]
        if source.chunk is target.chunk and source.map == target.map:
            return  # the value is where it should be
        leaves = self._wire_leaves(node.target)
        whole = self._whole_type(node.target.type)
        in_pieces = source.chunk.role == "index" or not (
            is_one_piece(source.map, whole, self._whole_type(source.chunk.type))
            and is_one_piece(target.map, whole, self._whole_type(target.chunk.type))
        )
        for leaf in leaves:
            if not leaf.extents:
                value = self._read(node.source) if len(leaves) == 1 else lp.Load(*self._place(node.source, leaf, ()))
                self._emit(lp.Store(*self._place(node.target, leaf, ()), value))
            elif in_pieces:
                self._copy_loops(node, leaf, ())
            else:
                zero = tuple(poly(0) for _ in leaf.extents)
                to, at = self._place(node.target, leaf, zero)
                from_, there = self._place(node.source, leaf, zero)
                self._emit(CopyPiece(to, at, from_, there, self._size(count(leaf.extents))))

    def _copy_loops(self, node: g.Copy, leaf: Leaf, view: tuple[Poly, ...]) -> None:
        if len(view) == len(leaf.extents):
            self._emit(lp.Store(*self._place(node.target, leaf, view), lp.Load(*self._place(node.source, leaf, view))))
            return
        sym = Sym("idx")
        high = self._size(leaf.extents[len(view)])
        with self._body() as body:
            self._copy_loops(node, leaf, (*view, poly(sym)))
        self._emit(lp.For(sym, poly(0), high, body, True))

    # -- calls

    def _call(self, node: g.Call, part: str) -> None:
        scheme = node.scheme
        types = tuple(self._whole_type(node.types[generic]) for generic in scheme.generics)
        function = FunctionName(scheme, types, "external" if scheme.external is not None else part)
        args = self._external_arguments(node) if scheme.external is not None else self._arguments(node, function)
        self.calls.append(function)
        sizes = tuple(self._size(node.sizes[sym]) for sym in scheme.sizes)
        for info, wire in zip(scheme.chunks, node.chunks, strict=True):
            if info.written:
                self.written |= {self.buffers[(self.layout.chunk(wire), c)] for c in self._components(wire)}
        self._emit(Invoke(function, sizes, tuple(args)))

    def _components(self, wire: g.Wire) -> list[tuple[int, ...]]:
        place = self.layout.place[wire]
        return [leaf_index(place.map, leaf, tuple(poly(0) for _ in leaf.extents))[0] for leaf in self._wire_leaves(wire)]

    def _arguments(self, node: g.Call, function: FunctionName) -> list[Argument]:
        """The address of each memory the callee declares."""
        compiled = node.scheme.compiled
        assert compiled is not None
        callee = self.file.operator(compiled, function.types)
        declared = callee.cycle if function.part == "cycle" else callee.reset
        assert declared is not None
        found = []
        for chunk, wire in zip(compiled.layout.params(), node.chunks, strict=True):
            for leaf in self._wire_leaves(wire):
                formal = callee.buffers[(chunk, leaf.components)]
                if formal in declared.params:
                    place = self._place(wire, leaf, tuple(poly(0) for _ in leaf.extents))
                    found.append(Argument(*place, formal, formal in declared.values, formal in declared.written))
        return found

    def _external_arguments(self, node: g.Call) -> list[Argument]:
        """An Atoll function takes scalars by value and arrays by address."""
        found = []
        for info, wire in zip(node.scheme.chunks, node.chunks, strict=True):
            for leaf in self._wire_leaves(wire):
                place = self._place(wire, leaf, tuple(poly(0) for _ in leaf.extents))
                found.append(Argument(*place, None, not info.written and not leaf.extents, info.written))
        return found

    # -- scopes

    def _locals(self, scope: g.Scope, body: list[Any]) -> None:
        """Declare the memory that is local to a scope, before what uses it."""
        declared = [b for (chunk, _), b in self.buffers.items() if b.local and chunk.scope is scope and b in self.used]
        body[0:0] = [lp.Alloc(b) for b in declared]

    def _starts(self, scope: g.Scope) -> None:
        if scope not in self.op.schedule.starts:
            return
        sequence = self.op.schedule.starts[scope].sequence
        if scope.reset == "restart":
            self._sequence(sequence)
        elif scope.reset == "reset":
            assert scope.condition is not None
            test = lp.Test("true", expr=self._read(scope.condition))
            with self._body() as body:
                self._sequence(sequence)
            if body:
                self._emit(lp.If((test,), body))

    def _is_one_of(self, wire: g.Wire, labels: tuple[int | bool, ...]) -> lp.Test:
        value = self._read(wire)
        if labels[0] is True and len(labels) == 1:
            return lp.Test("true", expr=value)
        tests = [lp.Call("eq", (value, lp.Const(label, value.dtype)), BOOL) for label in labels]
        return lp.Test("true", expr=functools.reduce(lambda a, b: lp.Call("or", (a, b), BOOL), tests))

    def _nest(self, nest: g.Nest) -> None:
        if nest.condition is not None:
            branches = []
            for scope in nest.scopes:
                with self._body() as body:
                    self._starts(scope)
                    self._sequence(self.op.schedule.bodies[scope].sequence)
                self._locals(scope, body)
                branches.append(body)
            rest = branches.pop()
            while branches:  # from the last case to the first
                then = branches.pop()
                if then or rest:
                    rest = [lp.If((self._is_one_of(nest.condition, nest.labels[len(branches)]),), then, rest)]
            self.bodies[-1] += rest
            return
        scope = nest.scope
        self._starts(scope)
        sequence = self.op.schedule.bodies[scope].sequence
        if scope.kind == "block":
            at = len(self.bodies[-1])
            self._sequence(sequence)
            declared = self.bodies[-1][at:]
            self._locals(scope, declared)
            self.bodies[-1][at:] = declared
            return
        assert scope.index is not None
        counter = Sym(scope.index_name or "idx")
        low = self._size(scope.low)
        high = self._size(scope.low + scope.extent)
        self.env[scope.index] = poly(counter) - low
        with self._body() as body:
            self._sequence(sequence)
        del self.env[scope.index]
        self._locals(scope, body)
        if body:
            self._emit(lp.For(counter, low, high, body, False))


def _signed(op: str, value: lp.Expr, bound: lp.Expr) -> lp.Expr:
    """The argument of clamp or wrap, so that it fits 64 bits with a sign and means the same."""
    if value.dtype is not U64:
        return value
    if op == "clamp":
        return lp.Call("min", (value, lp.Const(2**63 - 1, U64)), U64)
    return lp.Call("mod", (value, lp.Cast(bound, U64)), U64)
