"""The core language: every size explicit, every map explicit, one dtype and rank per function instance.

Gone since the surface: names to resolve, statements and loop state, weak literals, implicit maps and reps, keyword arguments, local
functions. What is left is a pure, strict, first-order language of scalars, tuples and regular arrays:

    program  ::= functions, the last one is the entry
    function ::= f <size...> (x: t ...) -> t = e               sizes are integers bound before the parameters
    e ::= x | literal | {poly}                                  a polynomial of sizes and integer variables, as an i64
        | prim e... | cast t e                                   scalar operations (core/prims.py)
        | block (stmt...; e)
        | if e then e else e                                     lazy
        | (e, ...) | e.k                                         tuples and records
        | build i < n. e                                         [e for i in range(n)], i : idx[n]
        | map (x... <- e...) e                                   one argument per array, equal sizes
        | e[e] | e[item, ...]                                    one element | a slice
        | update e [item, ...] e                                 a copy with the items replaced
        | reduce op ne e | scan op ne e | argreduce e            op a lambda of two elements, associative
        | hist op ne n e e | scatter e e e op? | argsort e
        | filter e e                                             values and mask; its size is named by `open`
        | for i < n (x = e, ...) e | while (x = e, ...) e e       loop state is a tuple; the body gives the next state
        | view op (params) e...                                  reshapes (views/)
        | zip e... | unzip e                                     between a tuple of arrays and an array of tuples: no code
        | call f <poly...> (e...)
        | inject k (e...)                                        case k of a union, from its fields
        | match x = e in tree with arms                          the tree looks at the cases and picks an arm; every value has one
        | closure (x...) e | apply e (e...)                      functions that exist at run time; sizes in their types are fixed
        | jvp (x...) e at e... along e... | vjp (x...) e at e... with e    derivatives of the function; | stop e is a constant for them
        | hide e                                                 the same array, its sizes known to its value only: `open` binds them
    tree ::= switch x {k <size...> (x...) -> tree, ...} | let x = e tree | test e tree tree | leaf arm (e...)
    stmt ::= x = e | fix x = closure, ... (each may mention all)
            | open n... x = e | assert e "text" | require poly >= 0 "text" | print part...

Meaning. Evaluation is strict except under `if`. Integers wrap at their width; floats are IEEE. An index out of range, an integer
division by zero, a failed assert or require, a float that is no integer: the program stops with an error that names the place.
Which of several errors is reported is not defined. `reduce` and `scan` may associate in any way that depends on sizes only, unless
the function says otherwise; `for` never. A loop or build whose extent is negative has no rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from atoll.errors import NOWHERE, Span
from atoll.sizes import Poly, Sym
from atoll.types.types import Type


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    type: Type
    span: Span = field(default=NOWHERE, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Var(Node):
    sym: Sym


@dataclass(frozen=True, slots=True, eq=False)
class Lit(Node):
    """A scalar constant; `value` is a Python number that fits the type."""

    value: bool | int | float | complex


@dataclass(frozen=True, slots=True, eq=False)
class SizeOf(Node):
    """The value of a polynomial, an i64 (or an index)."""

    poly: Poly


@dataclass(frozen=True, slots=True, eq=False)
class ConstArray(Node):
    """A captured NumPy array, frozen."""

    value: np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Prim(Node):
    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cast(Node):
    """Conversion to this node's scalar type. Float to integer truncates and fails when the value is not in range."""

    value: Expr


def from_u64(e: object) -> bool:
    """An index that was a u64: where it shows as negative, it was larger than any i64."""
    return isinstance(e, Cast) and getattr(getattr(e.value.type, "dtype", None), "name", "") == "u64"


@dataclass(frozen=True, slots=True, eq=False)
class If(Node):
    cond: Expr
    then: Expr
    orelse: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Bind:
    sym: Sym
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Open:
    """Bind a value and the sizes its type leaves open, from the value's own shape."""

    sizes: tuple[Sym, ...]
    sym: Sym
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Assert:
    """cond, or the program stops with the error `code`."""

    cond: Expr
    text: str
    span: Span
    parts: tuple[str | tuple[Expr, str], ...] = ()
    code: str = "E0703"


@dataclass(frozen=True, slots=True, eq=False)
class Require:
    """poly >= 0, or the program stops: `text` says what needs it, in the user's words."""

    poly: Poly
    text: str
    span: Span
    known: Any = field(default=None, repr=False)  # the hypotheses in force there, while types are checked


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    parts: tuple[str | tuple[Expr, str], ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Fix:
    """Functions that may mention each other and themselves."""

    defs: tuple[tuple[Sym, Closure], ...]


Stmt = Bind | Open | Assert | Require | Print | Fix


@dataclass(frozen=True, slots=True, eq=False)
class Block(Node):
    stmts: tuple[Stmt, ...]
    result: Expr


@dataclass(frozen=True, slots=True, eq=False)
class MakeTuple(Node):
    """A tuple or, when the type is a record, a record."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Proj(Node):
    value: Expr
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class MakeArray(Node):
    """[a, b, c]: literal size."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Build(Node):
    sym: Sym
    size: Poly
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Map(Node):
    params: tuple[Sym, ...]
    arrays: tuple[Expr, ...]
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class At(Node):
    """array[index], index an i64. Always checked by meaning; a later stage proves most checks away."""

    array: Expr
    index: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """An axis of a slice: elements low, low + step, ... (size of them)."""

    low: Poly
    step: int
    size: Poly


Item = Range | Node  # a Range keeps the axis, an i64 expression drops it


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Node):
    """array[items], one item per leading axis; the elements a Range names are in range by a `require` before it."""

    array: Expr
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Update(Node):
    """A copy of the array with array[items] = value; value has the shape of the slice."""

    array: Expr
    items: tuple[Item, ...]
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Lam:
    params: tuple[Sym, ...]
    types: tuple[Type, ...]
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Reduce(Node):
    """`monoid` names a known operator (add, mul, minimum, maximum, and, or) on scalars; then op says the same."""

    op: Lam
    neutral: Expr
    array: Expr
    monoid: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scan(Node):
    op: Lam
    neutral: Expr
    array: Expr
    exclusive: bool
    monoid: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ArgReduce(Node):
    """The first index of the least ("min") or greatest ("max") element; NaN counts as both. Fails on an empty array."""

    which: str
    array: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Hist(Node):
    """k copies of neutral, then result[index] = op(result[index], value) in order. drop: indices outside are ignored."""

    op: Lam
    neutral: Expr
    size: Poly
    indices: Expr
    values: Expr
    monoid: str | None = None
    drop: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Scatter(Node):
    """A copy of the array with values put (op None: a repeated index is an error) or combined at the indices."""

    array: Expr
    indices: Expr
    values: Expr
    op: Lam | None
    monoid: str | None = None
    drop: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Argsort(Node):
    """The stable order of scalar keys, NaN last."""

    keys: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Filter(Node):
    """The elements whose mask is true, in order. Its size is a symbol that an enclosing `Open` binds."""

    array: Expr
    mask: Expr


@dataclass(frozen=True, slots=True, eq=False)
class For(Node):
    """size rounds, sym = 0, 1, ...; `state` are the loop's variables with their first values, body their next ones."""

    sym: Sym
    size: Poly
    state: tuple[tuple[Sym, Expr], ...]
    body: Expr
    checkpoint: int | None = None
    no_false_deps: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class While(Node):
    """`count` is the position of a state that is the round's number, from 0, and less than `rounds` in every round: the condition sees to that."""

    state: tuple[tuple[Sym, Expr], ...]
    cond: Expr
    body: Expr
    bound: Poly | None = None
    count: int | None = None
    rounds: Poly | None = None


@dataclass(frozen=True, slots=True, eq=False)
class View(Node):
    """A reshape: `op` with polynomial parameters (see views/catalogue)."""

    op: str
    params: tuple[Any, ...]
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Zip(Node):
    """Arrays of one size as one array of tuples."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Unzip(Node):
    """One array of tuples as a tuple of arrays."""

    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    fn: Function
    sizes: tuple[Poly, ...]
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Inject(Node):
    """Case `member` of the union this node's type is."""

    member: int
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CaseOf:
    """A case of a switch: its fields, and the sizes that are the value's own, under these names."""

    member: int
    sizes: tuple[Sym, ...]
    fields: tuple[Sym, ...]
    types: tuple[Type, ...]
    tree: Tree


@dataclass(frozen=True, slots=True, eq=False)
class Switch:
    """Look at the case of a variable of union type; `default` is for the cases not listed."""

    sym: Sym
    type: Type
    cases: tuple[CaseOf, ...]
    default: Tree | None


@dataclass(frozen=True, slots=True, eq=False)
class LetTree:
    sym: Sym
    value: Expr
    tree: Tree


@dataclass(frozen=True, slots=True, eq=False)
class TestTree:
    cond: Expr
    then: Tree
    orelse: Tree


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """Go on with an arm; the arguments are sizes and parts of the value."""

    arm: int
    args: tuple[Expr, ...]


Tree = Switch | LetTree | TestTree | Leaf


@dataclass(frozen=True, slots=True, eq=False)
class Match(Node):
    sym: Sym
    value: Expr
    tree: Tree
    arms: tuple[Lam, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Closure(Node):
    lam: Lam
    name: str = "function"


@dataclass(frozen=True, slots=True, eq=False)
class Apply(Node):
    fn: Expr
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Hide(Node):
    """The value with sizes of its own: an enclosing `Open` binds them. So branches may give arrays of different sizes."""

    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Extern(Node):
    """The whole body of a function whose code is in a module compiled before: `unit` knows it (functions/modules.py)."""

    unit: Any
    name: str
    sizes: tuple[Poly, ...]
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Jvp(Node):
    """The derivative of a function at args along tangents (each like its argument). With value: (result, tangent)."""

    fn: Lam
    args: tuple[Expr, ...]
    tangents: tuple[Expr, ...]
    value: bool = False
    integers: bool = False  # integers have derivatives too, in their own arithmetic (Futhark's); the interpreter only


@dataclass(frozen=True, slots=True, eq=False)
class Vjp(Node):
    """The transposed derivative at args applied to seed (like the result): a tuple like args. With value: (result, tuple)."""

    fn: Lam
    args: tuple[Expr, ...]
    seed: Expr
    value: bool = False
    integers: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Stop(Node):
    """The value, as a constant for derivatives."""

    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Copy(Node):
    """A copy a user asked for."""

    value: Expr


Expr = (
    Var
    | Lit
    | SizeOf
    | ConstArray
    | Prim
    | Cast
    | If
    | Block
    | MakeTuple
    | Proj
    | MakeArray
    | Build
    | Map
    | At
    | Slice
    | Update
    | Reduce
    | Scan
    | ArgReduce
    | Hist
    | Scatter
    | Argsort
    | Filter
    | For
    | While
    | View
    | Zip
    | Unzip
    | Call
    | Inject
    | Match
    | Closure
    | Apply
    | Hide
    | Extern
    | Copy
    | Jvp
    | Vjp
    | Stop
)


@dataclass(slots=True, eq=False)
class Function:
    """One monomorphic instance. `sizes` are bound from the arguments, `params` by the caller.

    `body` is set after construction because recursive functions mention themselves.
    """

    name: str
    sizes: tuple[Sym, ...]
    params: tuple[tuple[Sym, Type], ...]
    result: Type
    body: Expr | None = None
    requires: tuple[Require, ...] = ()
    open_sizes: tuple[Sym, ...] = ()
    vjp: Function | None = None  # a transposed derivative its author supplied: (params..., seed) -> one adjoint per parameter
    jvp: Function | None = None  # a derivative its author supplied: (params..., tangents...) -> the tangent of the result
    believed: tuple[str, ...] = ()  # which of these nobody checked
    owned: tuple[bool, ...] = ()
    reassociate: bool = True
    portable: str = ""  # the same bits on every processor, with sums "in blocks" or "in order" (core/portable.py); `reassociate` is then False
    span: Span = NOWHERE
    recursive: bool = False
    plan: tuple[tuple[str, str], ...] = ()  # what the user decided about values, by their names
