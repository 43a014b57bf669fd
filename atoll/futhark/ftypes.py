"""Futhark's types while they are inferred, and their unification.

    t ::= Prim | Arr d t | Rec {f: t} | Sum {c: t...} | Fun t t | Con name args | TVar        d ::= number | DRef x | DOp op d d | DExp e | DVar

A `Con` is a type parameter or an abstract type; an abstract one knows what it stands for (`real`), which only code generation looks at.
A `TVar` may be bounded: to some scalar types, to records with certain fields, to sums with certain cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from atoll.errors import Span, fail
from atoll.types.types import MOST_PARTS

INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "f32", "f64")
NUMBERS = (*INTS, *FLOATS)
PRIMS = (*NUMBERS, "bool")
_KINDS = {frozenset(NUMBERS): "a number", frozenset(INTS): "an integer", frozenset(FLOATS): "a float", frozenset((*INTS, "bool")): "an integer or a truth value", frozenset(PRIMS): "a number or a truth value"}


@dataclass(frozen=True, slots=True)
class Prim:
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Arr:
    dim: Dim
    elem: Type


@dataclass(frozen=True, slots=True, eq=False)
class Rec:
    fields: dict[str, Type]


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    cases: dict[str, tuple[Type, ...]]


@dataclass(slots=True, eq=False)
class Fun:
    """`name` is what the result's sizes call the parameter; `exists` are the sizes of the result that each call makes anew."""

    param: Type
    result: Type
    name: Any = None
    exists: tuple[Any, ...] = ()
    consumes: Any = None  # which parts of the argument are consumed
    fresh: Any = False  # True, or the fields of the result that are unique: they alias nothing


@dataclass(slots=True, eq=False)
class Con:
    name: str
    args: tuple[Any, ...] = ()  # types and sizes
    key: Any = None  # what makes it the same type: the declaration
    real: Callable[[tuple[Any, ...]], Type] | None = field(default=None, repr=False)
    kind: str = "type"
    level: int = 0  # of the function whose parameter it is


@dataclass(slots=True, eq=False)
class TVar:
    level: int
    kinds: tuple[str, ...] | None = None
    fields: dict[str, Type] | None = None
    cases: dict[str, tuple[Type, ...]] | None = None
    link: Type | None = None
    equality: bool = False  # compared with ==
    unlifted: bool = False
    sized: bool = False  # stands for types of known size only
    span: Any = field(default=None, repr=False)


Type = Prim | Arr | Rec | Sum | Fun | Con | TVar


@dataclass(frozen=True, slots=True, eq=False)
class DRef:
    """The value of a variable, or a size that only its own value knows."""

    binding: Any


@dataclass(frozen=True, slots=True)
class DOp:
    op: str
    left: Dim
    right: Dim


@dataclass(frozen=True, slots=True, eq=False)
class DExp:
    """Another expression; equal to one with the same text about the same variables. `given` says what stands for some of its variables."""

    exp: Any
    key: Any
    given: tuple[tuple[Any, Dim], ...] = ()


@dataclass(slots=True, eq=False)
class DVar:
    level: int
    link: Dim | None = None
    of_loop: bool = False  # of a loop's state, which may be found to have the size of what a branch gives
    of_use: bool = False  # of a function's scheme where it is used: it may stand for sizes that only calls of an argument make


Dim = int | DRef | DOp | DExp | DVar

UNIT = Rec({})
MOST_DEEP = 500  # types inside each other: each expression around another walks the type of what is inside it
BOOL, I32, I64, U8, F64 = Prim("bool"), Prim("i32"), Prim("i64"), Prim("u8"), Prim("f64")


def prune(t: Type) -> Type:
    while isinstance(t, TVar) and t.link is not None:
        t = t.link
    return t


def prune_dim(d: Dim) -> Dim:
    while isinstance(d, DVar) and d.link is not None:
        d = d.link
    return d


def tuple_of(*items: Type) -> Rec:
    return Rec({str(k): t for k, t in enumerate(items)})


def is_tuple(fields: Any) -> bool:
    return len(fields) != 1 and all(str(k) in fields for k in range(len(fields)))


def map_type(t: Type, on_type: Callable[[Type], Type | None], on_dim: Callable[[Dim], Dim], deep: int = 0) -> Type:
    """t rebuilt; `on_type` may give what stands instead of a part."""
    if deep > MOST_DEEP:
        fail("E0129")
    t = prune(t)
    found = on_type(t)
    if found is not None:
        return found
    match t:
        case Arr(dim, elem):
            return Arr(on_dim(dim), map_type(elem, on_type, on_dim, deep + 1))
        case Rec(fields):
            return Rec({f: map_type(x, on_type, on_dim, deep + 1) for f, x in fields.items()})
        case Sum(cases):
            return Sum({c: tuple(map_type(x, on_type, on_dim, deep + 1) for x in xs) for c, xs in cases.items()})
        case Fun(param, result, name, exists, consumes, fresh):
            return Fun(map_type(param, on_type, on_dim, deep + 1), map_type(result, on_type, on_dim, deep + 1), name, exists, consumes, fresh)
        case Con() if t.args:
            args = tuple(on_dim(a) if isinstance(a, (int, DRef, DOp, DExp, DVar)) else map_type(a, on_type, on_dim, deep + 1) for a in t.args)
            return Con(t.name, args, t.key, t.real, t.kind, t.level)
    return t


def map_dim(d: Dim, on_leaf: Callable[[Dim], Dim]) -> Dim:
    d = prune_dim(d)
    if isinstance(d, DOp):
        return DOp(d.op, map_dim(d.left, on_leaf), map_dim(d.right, on_leaf))
    return on_leaf(d)


def same_dim(a: Dim, b: Dim) -> bool:
    a, b = prune_dim(a), prune_dim(b)
    if a is b:
        return True
    match a, b:
        case int(), int():
            return a == b
        case DRef(x), DRef(y):
            return x is y
        case DOp(), DOp():
            return a.op == b.op and same_dim(a.left, b.left) and same_dim(a.right, b.right)
        case DExp(), DExp():
            return bool(settled_key(a) == settled_key(b))
    return False


def settled_key(d: DExp) -> Any:
    """The key, with what has been found of the sizes that were open when it was made."""
    found = {id(x): x for _, dim in d.given for x in leaves_of(dim) if isinstance(x, DVar)}

    def go(k: Any) -> Any:
        if not isinstance(k, tuple):
            return k
        if len(k) == 2 and k[0] == "size" and k[1] in found and prune_dim(found[k[1]]) is not found[k[1]]:
            return key_of_dim(found[k[1]])
        return tuple(map(go, k))

    return go(d.key) if found else d.key


def leaves_of(d: Dim) -> list[Dim]:
    """The parts of a size that are no operators, as they were written down: variables that are known by now among them."""
    if isinstance(d, DOp):
        return [*leaves_of(d.left), *leaves_of(d.right)]
    return [d, *leaves_of(d.link)] if isinstance(d, DVar) and d.link is not None else [d]


def names_in(key: Any) -> set[int]:
    """The variables that a key is about."""
    if isinstance(key, tuple):
        if len(key) == 2 and key[0] == "var":
            return {key[1]}
        return {n for part in key for n in names_in(part)}
    return set()


def key_of_dim(d: Dim) -> Any:
    match prune_dim(d):
        case int(n):
            return "lit", n
        case DRef(binding):
            return "var", id(binding)
        case DOp(op, left, right):
            return "BinOp", (op,), key_of_dim(left), key_of_dim(right), False
        case DExp() as e:
            return settled_key(e)
    return "size", id(prune_dim(d))


def replaced(d: Dim, sizes: dict[int, Dim]) -> Dim:
    """A size without operators, with variables replaced."""
    if isinstance(d, DRef):
        return sizes.get(id(d.binding), d)
    if not isinstance(d, DExp) or not names_in(d.key) & sizes.keys():
        return d

    def key(k: Any) -> Any:
        if isinstance(k, tuple):
            if len(k) == 2 and k[0] == "var":
                return key_of_dim(sizes[k[1]]) if k[1] in sizes else k
            return tuple(map(key, k))
        return k

    known = {id(b) for b, _ in d.given}
    given = [(b, map_dim(x, lambda y: replaced(y, sizes))) for b, x in d.given]
    from atoll.futhark.aliases import variables

    given += [(b, sizes[id(b)]) for b in variables(d.exp) if id(b) in sizes and id(b) not in known]
    return DExp(d.exp, key(d.key), tuple(given))


def free_vars(t: Type, types: list[TVar], dims: list[DVar]) -> None:
    """The variables of a type, in order."""

    def on_type(x: Type) -> Type | None:
        if isinstance(x, TVar):
            if x not in types:
                types.append(x)
            for part in [*(x.fields or {}).values(), *(p for ps in (x.cases or {}).values() for p in ps)]:
                map_type(part, on_type, on_dim)
        return None

    def on_dim(d: Dim) -> Dim:
        def leaf(d: Dim) -> Dim:
            if isinstance(d, DVar) and d not in dims:
                dims.append(d)
            return d

        return map_dim(d, leaf)

    map_type(t, on_type, on_dim)


def has_function(t: Type) -> bool:
    found = []

    def on_type(x: Type) -> Type | None:
        if isinstance(x, Fun) or (isinstance(x, Con) and x.kind == "lifted"):
            found.append(x)
        return None

    map_type(t, on_type, lambda d: d)
    return bool(found)


def unsized(t: Type) -> str | None:
    """The name of a size-lifted type in a type: its values may be of different sizes."""
    found: list[str] = []

    def on_type(x: Type) -> Type | None:
        if isinstance(x, Con) and x.kind == "lifted size":
            found.append(x.name)
        return None

    map_type(t, on_type, lambda d: d)
    return found[0] if found else None


# -- words


def show_dim(d: Dim) -> str:
    match prune_dim(d):
        case int(n):
            return str(n)
        case DRef(binding):
            name = str(getattr(binding, "name", "?"))
            return "" if name == "unknown" else name
        case DOp(op, left, right):
            return f"{show_dim(left) or '?'} {op} {show_dim(right) or '?'}"
        case DExp(exp):
            return str(exp.span.text()) if exp is not None else "?"
    return ""


def in_words(d: Dim) -> str:
    """A size in a message; one without a name is told by what it is."""
    d = prune_dim(d)
    if isinstance(d, DVar):
        return "any"
    if isinstance(d, DRef) and d.binding.name in ("", "unknown"):
        return "one that only its value knows" if d.binding.born else "one without a name"
    return f'"{show_dim(d)}"'


def of_few_parts(t: Type, span: Span) -> Type:
    """The same type; one that, written out, has too many parts is refused: tuples of tuples double with each level."""
    todo, count = [t], 0
    while todo and count <= MOST_PARTS:
        part = prune(todo.pop())
        count += 1
        if isinstance(part, Rec):
            todo += part.fields.values()
        elif isinstance(part, Sum):
            todo += [x for given in part.cases.values() for x in given]
        elif isinstance(part, Arr):
            todo.append(part.elem)
    if count > MOST_PARTS:
        fail("E0130", span, limit=f"{MOST_PARTS:,}")
    return t


def show(t: Type) -> str:
    t = prune(t)
    match t:
        case Prim(name):
            return name
        case Arr(dim, elem):
            return f"[{show_dim(dim)}]{show(elem)}"
        case Rec(fields):
            if is_tuple(fields):
                return f"({', '.join(show(fields[str(k)]) for k in range(len(fields)))})"
            return "{" + ", ".join(f"{f}: {show(x)}" for f, x in sorted(fields.items())) + "}"
        case Sum(cases):
            return " | ".join(" ".join([f"#{c}", *map(show, xs)]) for c, xs in sorted(cases.items()))
        case Fun(param, result):
            inner = show(param)
            return f"({inner}) -> {show(result)}" if isinstance(prune(param), Fun) else f"{inner} -> {show(result)}"
        case Con(name, args):
            return " ".join([name, *(f"[{show_dim(a)}]" if isinstance(a, (int, DRef, DOp, DExp, DVar)) else show(a) for a in args)])
        case TVar():
            if t.kinds is not None:
                return _KINDS.get(frozenset(t.kinds), "one of " + ", ".join(t.kinds))
            if t.fields is not None:
                return "{..., " + ", ".join(f"{f}: {show(x)}" for f, x in t.fields.items()) + "}"
            if t.cases is not None:
                return "... | " + " | ".join(f"#{c}" for c in t.cases)
            return "'a"
