"""An operator without state as an Atoll function: it can be called in `@at.fn`, and differentiated.

The loops of the operator, with every call expanded, are written as the text of a function: memories are local arrays, which start as the arguments that lie in them; stores are updates.
So derivatives, sizes and checks are those of Atoll. Where MADL has a value and a function would stop (n / 0), the text says what MADL says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from atoll.backends.c.emit import safe
from atoll.errors import fail
from atoll.loops import ir as lp
from atoll.madl import graph as g
from atoll.madl.compiled import Compiled, compile_operator
from atoll.madl.layout import Chunk
from atoll.madl.library import Library
from atoll.madl.lower import LoweredFile
from atoll.madl.lowered import CopyPiece
from atoll.madl.pieces import leaf_index, leaves_of
from atoll.madl.represented import Enum, Fixed
from atoll.making import fn
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import show
from atoll.types.types import Scalar
from atoll.views.index_map import IDENTITY

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "and", "or": "or"}
_CALLED = frozenset("exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arccos arctan arctan2 sqrt abs floor ceil min max sign hypot cbrt erf".split())


def as_function(library: Library, op: Compiled) -> Any:
    """The function of an operator."""
    expanded = compile_operator(library, op.operator, expand=True)
    return fn(source=_Text(expanded).text())


class _Text:
    def __init__(self, op: Compiled) -> None:
        self.op, self.graph = op, op.graph
        if op.scheme.stateful:
            self._refuse("it has state, which functions do not have")
        if self.graph.generics:
            self._refuse("its types are not known")
        self.lowered = LoweredFile().operator(op)
        self.lines: list[str] = []
        self.names: dict[lp.Buffer, str] = {}
        self.counters: dict[Atom, Poly] = {}
        self.taken = {"at", *(self.graph.size_names[sym] for sym in self.graph.sizes)}

    def _refuse(self, why: str) -> Any:
        fail("E0973", self.op.operator.span, name=self.op.name, why=why, where=self.op.name)

    def _free(self, base: str) -> str:
        stem = re.sub(r"\W", "_", safe(base))
        name, number = stem, 2
        while name in self.taken:
            name, number = f"{stem}_{number}", number + 1
        self.taken.add(name)
        return name

    def text(self) -> str:
        words = [self.graph.size_names[sym] for sym in self.graph.sizes]
        head = ["import atoll as at", *([f'{", ".join(words)} = at.sizes("{" ".join(words)}")'] if words else [])]
        params = []
        for wire in self.graph.arguments:
            name = self._free(wire.name or "arg")
            params.append((wire, name))
        for buffer in self.lowered.cycle.params:
            self.names[buffer] = self._free(buffer.name)
        self._arguments(params)
        self._body(self.lowered.cycle.body, 1)
        results = [self._result(w) for w in self.graph.results]
        signature = ", ".join(f"{name}: {self._type(w)}" for w, name in params)
        gives = ", ".join(self._type(w) for w in self.graph.results)
        gives = f"({gives})" if len(results) > 1 else gives
        name = self.op.name if self.op.name.isidentifier() else "operator"
        return "\n".join([*head, "@at.fn", f"def {name}({signature}) -> {gives}:", *self.lines, f"    return {', '.join(results)}", ""])

    def _type(self, wire: g.Wire) -> str:
        (leaf,) = self._leaves(wire)
        assert isinstance(leaf.type, Scalar)
        scalar = "bool" if leaf.type.dtype.kind == "b" else f"at.{leaf.type.dtype.name}"
        sizes = ", ".join(self._size(n.subst({sym: poly(new) for sym, new in self._sizes().items()})) for n in leaf.extents)
        if scalar == "bool" and sizes:
            self._refuse("it has arrays of bool in its interface")
        return f"{scalar}[{sizes}]" if sizes else scalar

    def _sizes(self) -> dict[Atom, Sym]:
        return {sym: new for sym, new in zip(self.graph.sizes, self.lowered.cycle.sizes, strict=True)}

    def _leaves(self, wire: g.Wire) -> list[Any]:
        found = leaves_of(wire.type)
        if len(found) != 1 or not isinstance(found[0].type, Scalar) or isinstance(found[0].type, (Enum, Fixed)):
            self._refuse(f"{wire.shown} is neither a number nor an array of numbers")
        return found

    # -- memories

    def _put(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def _blank(self, buffer: lp.Buffer) -> str:
        text = f"at.{buffer.dtype.name}(0)" if buffer.dtype.kind != "b" else "False"
        for n in reversed(buffer.extents):
            text = f"[{text} for _ in range({self._size(n)})]"
        return text

    def _arguments(self, params: list[tuple[g.Wire, str]]) -> None:
        started: set[lp.Buffer] = set()
        for buffer in self.lowered.cycle.params:
            whole = next((name for w, name in params if self._buffer(w) is buffer and self.op.layout.map(w) == IDENTITY), None)
            if whole is not None:
                own = buffer in self.lowered.cycle.written and buffer.extents
                self._put(1, f"{self.names[buffer]} = at.copy({whole})" if own else f"{self.names[buffer]} = {whole}")
                started.add(buffer)
        for buffer in self.lowered.cycle.params:
            if buffer not in started:
                self._put(1, f"{self.names[buffer]} = {self._blank(buffer)}")
        for wire, name in params:
            if self.op.layout.map(wire) != IDENTITY:
                self._moved(wire, lambda there, view, name=name: f"{there} = {name}{view}")

    def _buffer(self, wire: g.Wire) -> lp.Buffer:
        place = self.op.layout.place[wire]
        (leaf,) = self._leaves(wire)
        components, _ = leaf_index(place.map, leaf, tuple(poly(0) for _ in leaf.extents))
        chunk: Chunk = place.chunk
        return self.lowered.buffers[(chunk, components)]

    def _moved(self, wire: g.Wire, line: Any) -> None:
        """A line for every element of a view of a memory."""
        (leaf,) = self._leaves(wire)
        sizes: dict[Atom, Poly] = {sym: poly(new) for sym, new in self._sizes().items()}
        counters = [Sym(self._free("k")) for _ in leaf.extents]
        for depth, (k, n) in enumerate(zip(counters, leaf.extents, strict=True), 1):
            self._put(depth, f"for {k.name} in range({self._size(n.subst(sizes))}):")
        _, index = leaf_index(self.op.layout.map(wire), leaf, tuple(poly(k) for k in counters))
        buffer = self._buffer(wire)
        there = self._element(buffer, tuple(i.subst(sizes) for i in index))
        self._put(len(counters) + 1, line(there, f"[{', '.join(k.name for k in counters)}]" if counters else ""))

    def _result(self, wire: g.Wire) -> str:
        buffer = self._buffer(wire)
        if self.op.layout.map(wire) == IDENTITY:
            return self.names[buffer]
        (leaf,) = self._leaves(wire)
        name = self._free(f"{wire.name or 'result'}_out")
        sizes: dict[Atom, Poly] = {sym: poly(new) for sym, new in self._sizes().items()}
        self._put(1, f"{name} = {self._blank(lp.Buffer(name, buffer.dtype, tuple(n.subst(sizes) for n in leaf.extents), 'temp'))}")
        self._moved(wire, lambda there, view: f"{name}{view} = {there}")
        return name

    def _element(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> str:
        name = self.names[buffer]
        return f"{name}[{', '.join(map(self._size, index))}]" if index else name

    def _size(self, p: Poly) -> str:
        return show(p.subst(self.counters))

    # -- statements

    def _body(self, body: Sequence[Any], depth: int) -> None:
        if not any(not isinstance(s, lp.Note) for s in body):
            self._put(depth, "pass")
        for stmt in body:
            self._statement(stmt, depth)

    def _statement(self, stmt: Any, depth: int) -> None:
        match stmt:
            case lp.Alloc(buffer):
                self.names[buffer] = self._free(buffer.name)
                self._put(depth, f"{self.names[buffer]} = {self._blank(buffer)}")
            case lp.Store(buffer, index, value):
                self._put(depth, f"{self._element(buffer, index)} = {self._expr(value)}")
            case lp.Update(buffer, index, op, value):
                there = self._element(buffer, index)
                self._put(depth, f"{there} = {there} {_INFIX[op]} {self._expr(value)}")
            case lp.For(sym, low, high, inner):
                bounds = f"{self._size(low)}, {self._size(high)}"
                name = self._free(sym.name)
                self.counters[sym] = poly(Sym(name))
                self._put(depth, f"for {name} in range({bounds}):")
                self._body(inner, depth + 1)
                del self.counters[sym]
            case lp.If(tests, then, orelse):
                self._put(depth, f"if {' and '.join(self._expr(t.expr) for t in tests)}:")
                self._body(then, depth + 1)
                if orelse:
                    self._put(depth, "else:")
                    self._body(orelse, depth + 1)
            case CopyPiece(target, at, source, there, _):
                self._piece(target, at, source, there, stmt.count, depth)
            case lp.Note():
                pass
            case _:
                self._refuse(f"it has a part that functions do not have ({type(stmt).__name__.lower()})")

    def _piece(self, target: lp.Buffer, at: tuple[Poly, ...], source: lp.Buffer, there: tuple[Poly, ...], count: Poly, depth: int) -> None:
        """A copy of elements that lie side by side: whole rows of both."""
        for rank in range(1, min(len(target.extents), len(source.extents)) + 1):
            mine, other = target.extents[len(target.extents) - rank :], source.extents[len(source.extents) - rank :]
            inner = poly(1)
            for n in mine[1:]:
                inner = inner * n
            rows = _quotient(count, inner)
            if mine[1:] != other[1:] or rows is None or any(i.terms for i in (*at[len(at) - rank + 1 :], *there[len(there) - rank + 1 :])):
                continue
            counters = [Sym(self._free("k")) for _ in mine]
            for k, (c, n) in enumerate(zip(counters, (rows, *mine[1:]), strict=True)):
                self._put(depth + k, f"for {c.name} in range({self._size(n)}):")
            to = (*at[: len(at) - rank], at[len(at) - rank] + poly(counters[0]), *map(poly, counters[1:]))
            from_ = (*there[: len(there) - rank], there[len(there) - rank] + poly(counters[0]), *map(poly, counters[1:]))
            self._put(depth + rank, f"{self._element(target, to)} = {self._element(source, from_)}")
            return
        self._refuse("it copies memory across the rows of an array")

    def _expr(self, e: Any) -> str:
        match e:
            case lp.Load(buffer, index):
                return self._element(buffer, index)
            case lp.Const(value, dtype):
                return repr(bool(value)) if dtype.kind == "b" else f"at.{dtype.name}({value!r})"
            case lp.Index(p):
                return f"({self._size(p)})"
            case lp.Cast(arg, dtype) if dtype.kind != "b" and not (arg.dtype.is_float and dtype.is_integer):
                return f"at.{dtype.name}({self._expr(arg)})"
            case lp.Call("select", (c, a, b)):
                return f"({self._expr(a)} if {self._expr(c)} else {self._expr(b)})"
            case lp.Call("neg", (a,)):
                return f"(-{self._expr(a)})"
            case lp.Call("not", (a,)) if a.dtype.kind == "b":
                return f"(not {self._expr(a)})"
            case lp.Call("floordiv" | "mod" as op, (a, b)):
                x, y = self._expr(a), self._expr(b)
                return f"({x} {'//' if op == 'floordiv' else '%'} {y} if {y} != 0 else at.{e.dtype.name}(0))"
            case lp.Call(op, (a, b)) if op in _INFIX:
                return f"({self._expr(a)} {_INFIX[op]} {self._expr(b)})"
            case lp.Call(op, args) if op in _CALLED:
                return f"{op}({', '.join(self._expr(a) for a in args)})"
        return str(self._refuse(f"it uses {getattr(e, 'op', type(e).__name__.lower())}, which has another meaning in functions"))


def _quotient(p: Poly, by: Poly) -> Poly | None:
    """p / by, where it is a number of rows."""
    number, divisor = p.const(), by.const()
    if divisor == 1:
        return p
    if number is not None and divisor:
        return poly(number // divisor) if number % divisor == 0 else None
    for mono in p.terms:
        for k in range(len(mono) + 1):
            rest = Poly({mono[:k]: 1})
            if rest * by == p:
                return rest
    return None
