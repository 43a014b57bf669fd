"""Types, which are also what a user writes in annotations.

    t ::= Scalar dtype          f32, i64, at.bool_
        | Index n               idx[n]: an i64 proved to lie in 0..n-1
        | Array t n             t[n]; t[n, m] is an array of n arrays of m t, and so is t[m][n]
        | Tuple t...            (t, u)
        | Record decl t...      a class made by @at.record, with the types of its fields
        | Union decl            records joined by `|`
        | Fn t... r             at.Fn[[t, u], r]
        | Var name              a type variable made by at.types

Arrays are regular and always carry their full shape. `Own` marks a parameter the function may overwrite; it stands only around
a parameter's type.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import plain
from atoll.sizes import Atom, Poly, PolyLike, poly
from atoll.sizes.poly import quotients
from atoll.types.dtypes import BOOL, DTYPES, I64, STORAGE, DType

if TYPE_CHECKING:
    import builtins


class Type:
    """Base of all types; `t[n, m]` makes an array type."""

    __slots__ = ()

    @plain
    def __getitem__(self, sizes: PolyLike | tuple[PolyLike, ...]) -> Array:
        items = sizes if isinstance(sizes, tuple) else (sizes,)
        if not items:
            fail("E0610", name=repr(self), text="there is no size between the brackets", help=f"write {self!r}[n], or {self!r} for one value")
        result: Type = self
        for size in reversed(items):
            result = Array(result, _size(self, size))
        assert isinstance(result, Array)
        return result

    def __or__(self, other: object) -> Any:
        from atoll.types.unions import union

        return union(self, other)

    def __ror__(self, other: object) -> Any:
        from atoll.types.unions import union

        return union(other, self)


def _size(t: Type, size: Any) -> Poly:
    """A size as the user wrote it between brackets."""
    if isinstance(size, (Poly, Atom)):
        if any(quot.den.const() is None for quot in quotients(poly(size))):
            fail("E0213", what="a size", found=f"{t!r}[{size!r}]", help="divide sizes by positive numbers only: n // 4, n % 4, at.cdiv(n, 4)")
        return poly(size)
    try:
        number = operator.index(size)
    except builtins.TypeError:
        fail("E0213", what="a size", found=f"{t!r}[{size!r}]", help='write a number, or a size declared with n = at.sizes("n")')
    if number < 0:
        fail("E0610", name=f"{t!r}[{number}]", text="a size is 0 or more", help='write a number, or a size declared with n = at.sizes("n")')
    return poly(number)


@dataclass(frozen=True, slots=True)
class Scalar(Type):
    """A number. `weak` marks literals and what is made of literals only: they take the type of what they meet.

    Weak 1 is a literal, which has a kind; weak 2 is a blank (zeros, ones), which takes even that from what it meets.
    """

    dtype: DType
    weak: int = 0

    def __repr__(self) -> str:
        return self.dtype.name

    @plain
    def __call__(self, value: Any, *more: Any) -> Any:
        """From Python: a NumPy scalar of this type. In a body: a conversion."""
        try:
            if self.dtype.is_storage and not more:
                value = float(value)  # ml_dtypes.bfloat16("x") ends the process
            return self.dtype.numpy.type(complex(value, *more) if more else value)
        except (builtins.TypeError, ValueError, OverflowError):  # NumPy's words for it differ from type to type
            given = " and ".join(map(kind_of, (value, *more)))
            fail("E0610", name=f"at.{self!r}", text=f"makes a number of this type, which cannot be made of {given}", help="give one number in its range" if not self.dtype.is_complex else "give one number, or its two parts")


@dataclass(frozen=True, slots=True)
class Index(Type):
    size: Poly

    def __repr__(self) -> str:
        return f"idx[{self.size}]"

    @property
    def dtype(self) -> DType:
        return I64


@dataclass(frozen=True, slots=True)
class Array(Type):
    elem: Type
    size: Poly

    def __repr__(self) -> str:
        sizes, elem = shape_of(self)
        inner = f"at.Tuple[{', '.join(map(repr, elem.items))}]" if isinstance(elem, Tuple) else repr(elem)
        return f"{inner}[{', '.join(map(repr, sizes))}]"


@dataclass(frozen=True, slots=True)
class Tuple(Type):
    items: tuple[Type, ...]

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.items))
        return f"({inner},)" if len(self.items) == 1 else f"({inner})"


@dataclass(frozen=True, slots=True)
class RecordDecl:
    """A class made by @at.record. Two declarations are different types even with equal fields."""

    name: str
    fields: tuple[str, ...]
    cls: builtins.type[Any] | None = field(default=None, compare=False)
    key: object = None


@dataclass(frozen=True, slots=True)
class Record(Type):
    decl: RecordDecl
    items: tuple[Type, ...]

    def __repr__(self) -> str:
        return self.decl.name

    def describe(self) -> str:
        return f"{self.decl.name}({', '.join(f'{n}: {t!r}' for n, t in zip(self.decl.fields, self.items, strict=True))})"


def told_apart(a: Type, b: Type, show: Callable[[Type], str] = repr) -> tuple[str, str]:
    """Two different types as texts that differ: declarations of one name say where they stand."""
    first, second = show(a), show(b)
    if first != second:
        return first, second

    where = [next((x.decl.cls.__module__ for x in (t, *getattr(t, "items", ())) if isinstance(x, Record) and x.decl.cls is not None), "") for t in (a, b)]
    return (f"{first} of {where[0]}", f"{second} of {where[1]}") if where[0] != where[1] else (first, f"another {second}, declared elsewhere")


@dataclass(frozen=True, slots=True)
class Union(Type):
    """Records joined by `|` (types/unions.py). `types` and `sizes` stand for the declaration's own variables; None: just those."""

    decl: Any
    types: tuple[Type, ...] | None = None
    sizes: tuple[Poly, ...] | None = None

    def __repr__(self) -> str:
        return f"{self.decl}[{', '.join(map(repr, self.types))}]" if self.types else repr(self.decl)

    def __getitem__(self, items: Any) -> Any:
        from atoll.types.unions import subscript

        return subscript(self, items)

    def __or__(self, other: object) -> Any:
        from atoll.types.unions import union

        return union(self, other)

    __ror__ = __or__


@dataclass(frozen=True, slots=True)
class Fn(Type):
    params: tuple[Type, ...]
    result: Type

    def __repr__(self) -> str:
        return f"at.Fn[[{', '.join(map(repr, self.params))}], {self.result!r}]"


@dataclass(frozen=True, slots=True)
class Var(Type):
    """A type variable; bounded by use to numbers or floats (`constraint` is shown, not part of identity)."""

    name: str

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Own(Type):
    inner: Type

    def __repr__(self) -> str:
        return f"at.own[{self.inner!r}]"


SCALARS = {name: Scalar(dtype) for name, dtype in (DTYPES | STORAGE).items()}
BOOL_T, I64_T = Scalar(BOOL), Scalar(I64)
UNIT = Tuple(())


def is_scalar(t: Type) -> bool:
    return isinstance(t, (Scalar, Index))


def dtype_of(t: Type) -> DType:
    """The dtype of a scalar type."""
    assert isinstance(t, (Scalar, Index)), t
    return t.dtype


def elem_of(t: Type) -> Type:
    """The type of an array's elements."""
    assert isinstance(t, Array), t
    return t.elem


def rank(t: Type) -> int:
    """How many array axes stand around the element."""
    count = 0
    while isinstance(t, Array):
        t, count = t.elem, count + 1
    return count


def shape_of(t: Type) -> tuple[tuple[Poly, ...], Type]:
    """All leading sizes, and what is below them."""
    sizes = []
    while isinstance(t, Array):
        sizes.append(t.size)
        t = t.elem
    return tuple(sizes), t


def array(elem: Type, sizes: Iterable[PolyLike]) -> Type:
    """elem with these axes around it, outermost first."""
    for size in reversed(list(sizes)):
        elem = Array(elem, poly(size))
    return elem


def components(t: Type) -> tuple[Type, ...]:
    """The parts of a tuple or record."""
    if isinstance(t, (Tuple, Record)):
        return t.items
    raise AssertionError(f"{t!r} has no components")


def with_components(t: Type, items: Iterable[Type]) -> Type:
    return Record(t.decl, tuple(items)) if isinstance(t, Record) else Tuple(tuple(items))


def map_sizes(t: Type, f: Callable[[Poly], Poly]) -> Type:
    """t with every size replaced."""
    if isinstance(t, Array):
        size = f(t.size)  # outermost first, which `sizes_in` promises
        return Array(map_sizes(t.elem, f), size)
    if isinstance(t, Index):
        return Index(f(t.size))
    if isinstance(t, Tuple):
        return Tuple(tuple(map_sizes(item, f) for item in t.items))
    if isinstance(t, Record):
        return Record(t.decl, tuple(map_sizes(item, f) for item in t.items))
    if isinstance(t, Fn):
        return Fn(tuple(map_sizes(p, f) for p in t.params), map_sizes(t.result, f))
    if isinstance(t, Union) and t.types is not None:
        return Union(t.decl, tuple(map_sizes(a, f) for a in t.types), tuple(f(p) for p in t.sizes or ()))
    if isinstance(t, Own):
        return Own(map_sizes(t.inner, f))
    return t


def subst_sizes(t: Type, env: Mapping[Atom, Poly]) -> Type:
    return map_sizes(t, lambda p: p.subst(env)) if env else t


def subst_types(t: Type, env: Mapping[str, Type]) -> Type:
    """t with type variables replaced."""
    if isinstance(t, Var):
        return env.get(t.name, t)
    if isinstance(t, Array):
        return Array(subst_types(t.elem, env), t.size)
    if isinstance(t, Tuple):
        return Tuple(tuple(subst_types(item, env) for item in t.items))
    if isinstance(t, Record):
        return Record(t.decl, tuple(subst_types(item, env) for item in t.items))
    if isinstance(t, Fn):
        return Fn(tuple(subst_types(p, env) for p in t.params), subst_types(t.result, env))
    if isinstance(t, Union) and t.types is not None:
        return Union(t.decl, tuple(subst_types(a, env) for a in t.types), t.sizes)
    if isinstance(t, Own):
        return Own(subst_types(t.inner, env))
    return t


def strong(t: Type) -> Type:
    """t with weak scalars given the type they have alone."""
    if isinstance(t, Scalar):
        return Scalar(t.dtype) if t.weak else t
    if isinstance(t, Array):
        return Array(strong(t.elem), t.size)
    if isinstance(t, Tuple):
        return Tuple(tuple(map(strong, t.items)))
    if isinstance(t, Record):
        return Record(t.decl, tuple(map(strong, t.items)))
    if isinstance(t, Union) and t.types is not None:
        return Union(t.decl, tuple(map(strong, t.types)), t.sizes)
    return t


def sizes_in(t: Type) -> list[Poly]:
    """Every size that occurs, outermost first."""
    found: list[Poly] = []

    def keep(p: Poly) -> Poly:
        found.append(p)
        return p

    map_sizes(t, keep)
    return found


def gives_functions(t: Type | None) -> bool:
    """A result that is a function, or a tuple with functions in it."""
    return isinstance(t, Fn) or (isinstance(t, Tuple) and any(map(gives_functions, t.items)))


MOST_PARTS = 4096  # of a value: each is one of its own in the compiled program


def has_more_parts(t: Type, limit: int) -> bool:
    """The type, written out, has more than so many parts."""
    todo, count = [t], 0
    while todo and count <= limit:
        part = todo.pop()
        count += 1
        todo += getattr(part, "items", None) or getattr(part, "types", None) or ([part.elem] if isinstance(part, Array) else [])
    return count > limit


def type_vars(t: Type) -> list[str]:
    """The names of the type variables that occur, in order."""
    if isinstance(t, Var):
        return [t.name]
    parts: tuple[Type, ...] = ()
    if isinstance(t, Array):
        parts = (t.elem,)
    elif isinstance(t, (Tuple, Record)):
        parts = t.items
    elif isinstance(t, Fn):
        parts = (*t.params, t.result)
    elif isinstance(t, Union):
        parts = t.types or ()
    elif isinstance(t, Own):
        parts = (t.inner,)
    return list(dict.fromkeys(name for part in parts for name in type_vars(part)))


def flatten(t: Type) -> list[tuple[tuple[int, ...], Type]]:
    """The scalar arrays a value of this type is stored as (structure of arrays), each with its path of components."""
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        return [
            ((k, *path), array(leaf, sizes)) for k, item in enumerate(elem.items) for path, leaf in flatten(item)
        ]
    return [((), t)]


def part_text(t: Type, path: tuple[int, ...]) -> str:
    """How a user writes the way to a leaf: `[1]` in a tuple, `.mass` in a record."""
    text = ""
    for k in path:
        _, elem = shape_of(t)
        assert isinstance(elem, (Tuple, Record))
        text += f".{elem.decl.fields[k]}" if isinstance(elem, Record) else f"[{k}]"
        t = elem.items[k]
    return text
