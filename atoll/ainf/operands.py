"""What primitives of the normal form read: references to elements of lines, constants, index polynomials; conditions; arrays by their elements.

`atoll.ainf.ir` gives these names on, with the primitives and lines that use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import Atoms
from atoll.types.dtypes import I64, DType

if TYPE_CHECKING:
    from atoll.ainf.ir import Line


class Binder(Sym):
    """An index 0 <= i < extent. Extents may mention outer binders. `facts` are further polynomials known >= 0."""

    __slots__ = ("extent", "facts")

    def __init__(self, name: str, extent: Poly, facts: tuple[Poly, ...] = ()) -> None:
        super().__init__(name)
        self.extent = extent
        self.facts = facts


@dataclass(frozen=True, slots=True)
class Const:
    value: Any  # a Python number
    dtype: DType


@dataclass(frozen=True, slots=True)
class IndexValue:
    """An i64 given by a polynomial."""

    poly: Poly


class Ref:
    """The value of result `result` of a line at an index (dims first, then the result's axes)."""

    __slots__ = ("line", "result", "index", "_hash", "_leaves", "_refs")

    def __init__(self, line: Line, result: int, index: tuple[Poly, ...]) -> None:
        self.line, self.result, self.index = line, result, index
        self._hash = hash((line.id, result, index))
        self._leaves: frozenset[Atom] | None = None
        self._refs: tuple[Ref, ...] | None = None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Ref) and self.line is other.line and self.result == other.result and self.index == other.index
        )

    def __repr__(self) -> str:
        name = self.line.name if self.result == 0 or len(self.line.results) == 1 else f"{self.line.name}.{self.result}"
        return f"{name}[{', '.join(map(repr, self.index))}]" if self.index else name

    @property
    def dtype(self) -> DType:
        return self.line.results[self.result].dtype

    def subst(self, env: Mapping[Any, Poly]) -> Ref:
        index = tuple([p.subst(env) for p in self.index])
        return self if index == self.index else Ref(self.line, self.result, index)

    def leaves(self) -> frozenset[Atom]:
        """All atoms in the index, also inside data-dependent parts."""
        if self._leaves is None:
            self._leaves = self.index[0].leaves() if len(self.index) == 1 else Atoms(frozenset().union(*[p.leaves() for p in self.index]))
        return self._leaves

    def refs(self) -> tuple[Ref, ...]:
        """This reference and every one inside its indices."""
        if self._refs is None:
            self._refs = (self, *[ref for p in self.index for ref in poly_refs(p)])
        return self._refs


class RefAtom(Atom):
    """The integer value of a reference, inside an index. Interned: one per reference."""

    __slots__ = ("ref",)

    def __init__(self, ref: Ref) -> None:
        super().__init__()
        self.ref = ref

    def __repr__(self) -> str:
        return repr(self.ref)

    def substitute(self, env: Mapping[Any, Poly]) -> Poly | None:
        new = self.ref.subst(env)
        return None if new is self.ref else poly(ref_atom(new))

    def leaves(self) -> frozenset[Atom]:
        return Atoms(self.ref.leaves() | {self})


def ref_atom(ref: Ref) -> RefAtom:
    atoms = ref.line.atoms
    if ref not in atoms:
        atoms[ref] = RefAtom(ref)
    return atoms[ref]


Operand = Union[Ref, Const, IndexValue]


def operand_dtype(operand: Operand) -> DType:
    if isinstance(operand, IndexValue):
        return I64
    return operand.dtype


def subst_operand(operand: Operand, env: Mapping[Any, Poly]) -> Operand:
    if isinstance(operand, Ref):
        return operand.subst(env)
    if isinstance(operand, IndexValue):
        new = operand.poly.subst(env)
        return operand if new is operand.poly else IndexValue(new)
    return operand


def operand_leaves(operand: Operand) -> frozenset[Atom]:
    if isinstance(operand, Ref):
        return operand.leaves()
    return operand.poly.leaves() if isinstance(operand, IndexValue) else frozenset()


def operand_refs(operand: Operand) -> Sequence[Ref]:
    """The reference and every reference inside its indices."""
    if isinstance(operand, Ref):
        return operand.refs()
    return poly_refs(operand.poly) if isinstance(operand, IndexValue) else ()


def poly_refs(p: Poly) -> Sequence[Ref]:
    return [ref for leaf in p.leaves() if isinstance(leaf, RefAtom) for ref in leaf.ref.refs()]


@dataclass(frozen=True, slots=True)
class Cond:
    """kind: ge, eq, ne on a polynomial; true, false on a bool operand."""

    kind: str
    poly: Poly | None = None
    ref: Ref | None = None

    def __repr__(self) -> str:
        if self.poly is not None:
            return f"{self.poly} {dict(ge='>=', eq='==', ne='!=')[self.kind]} 0"
        return f"{self.ref}" if self.kind == "true" else f"not {self.ref}"

    def negated(self) -> Cond:
        if self.kind == "ge":
            assert self.poly is not None
            return Cond("ge", -self.poly - 1)
        return Cond({"eq": "ne", "ne": "eq", "true": "false", "false": "true"}[self.kind], self.poly, self.ref)

    def subst(self, env: Mapping[Any, Poly]) -> Cond:
        if self.poly is not None:
            return Cond(self.kind, self.poly.subst(env))
        assert self.ref is not None
        return Cond(self.kind, None, self.ref.subst(env))

    def leaves(self) -> frozenset[Atom]:
        return self.poly.leaves() if self.poly is not None else self.ref.leaves()  # type: ignore[union-attr]

    def refs(self) -> Sequence[Ref]:
        if self.poly is not None:
            return poly_refs(self.poly)
        return self.ref.refs() if self.ref is not None else ()

    def facts(self) -> tuple[Poly, ...]:
        """What the prover may use."""
        if self.kind == "ge":
            return (self.poly,)  # type: ignore[return-value]
        if self.kind == "eq":
            assert self.poly is not None
            return (self.poly, -self.poly)
        return ()


@dataclass(frozen=True, slots=True)
class Abs:
    """An array by its elements: body, for binders in their ranges."""

    binders: tuple[Binder, ...]
    body: Operand

    def leaves(self) -> frozenset[Atom]:
        inner = operand_leaves(self.body).union(*(b.extent.leaves() for b in self.binders))
        return inner - set(self.binders)

    def __repr__(self) -> str:
        heads = "".join(f"λ{b}<{b.extent}. " for b in self.binders)
        return f"({heads}{self.body})" if heads else repr(self.body)
