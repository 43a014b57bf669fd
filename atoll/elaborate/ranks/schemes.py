"""The rank types of functions: built-ins by a table, declared functions by their signatures.

The table is written in a small notation: `n` a number, `a b c` type variables, `[]` an axis, `(t, u)` a tuple, `{t, u -> r}` a function,
`k` a number that is never lifted over (a size decides a shape, so it is one number). Structural operators are polymorphic in the element and
act on the outermost axis; arithmetic ones take scalars and lift (docs/reference.md section 10).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from atoll.elaborate.builtins.names import OPERATORS, SCALAR_NARY, SCALAR_UNARY
from atoll.elaborate.ranks.kinds import NUMBER, Arrow, Product, RankType, Skeleton, Variable, arrow, own_rank, parts, product
from atoll.sizes import ZERO, Poly, poly
from atoll.types.types import Array, Fn, Record, Tuple, Type, Union, Var


@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """A type whose variables are new at every use. `exact` are the parameters nothing is inserted at."""

    type: RankType
    exact: frozenset[int] = frozenset()

    def instance(self) -> RankType:
        return rename(self.type, {})


def rename(t: RankType, known: dict[Variable, Variable]) -> RankType:
    """A copy with every type variable replaced by a new one (those in `known` by the given one)."""
    body = t.body
    if isinstance(body, Variable):
        if body not in known:
            form = body.skeleton.form
            known[body] = Variable(body.name, Skeleton(form) if form == "number" else None)
        return RankType(t.axes, known[body])
    if isinstance(body, Product):
        return RankType(t.axes, Product(tuple(rename(item, known) for item in body.items), body.tag))
    if isinstance(body, Arrow):
        params = tuple(rename(p, known) for p in body.params)
        return RankType(t.axes, Arrow(params, rename(body.result, known)))
    return t


def variables(t: RankType) -> list[Variable]:
    """The type variables of a closed type, in order."""
    body = t.body
    if isinstance(body, Variable):
        return [body]
    inner: tuple[RankType, ...] = ()
    if isinstance(body, Product):
        inner = body.items
    elif isinstance(body, Arrow):
        inner = (*body.params, body.result)
    return list(dict.fromkeys(v for part in inner for v in variables(part)))


# -- the notation

_TOKEN = re.compile(r"\[\]|->|[a-z]|[(){},]")


def parse(text: str) -> Scheme:
    """`[]a, n -> []a` as a scheme."""
    tokens = _TOKEN.findall(text)
    names: dict[str, Variable] = {}
    exact: set[int] = set()

    def one() -> RankType:
        token = tokens.pop(0)
        if token == "[]":
            return one().lift(poly(1))
        if token == "(":
            items = [one()]
            while tokens.pop(0) == ",":
                items.append(one())
            return product(*items)
        if token == "{":
            return function_type("}")
        if token in "nk":
            return RankType(ZERO, NUMBER)
        return RankType(ZERO, names.setdefault(token, Variable(token)))

    def function_type(end: str, top: bool = False) -> RankType:
        params: list[RankType] = []
        while True:
            if top and tokens[0] == "k":
                exact.add(len(params))
            params.append(one())
            if tokens.pop(0) == "->":
                break
        result = one()
        if end:
            assert tokens.pop(0) == end
        return arrow(tuple(params), result)

    return Scheme(function_type("", top=True), frozenset(exact))


_TABLE = {
    **dict.fromkeys(SCALAR_UNARY, "n -> n"),
    **{name: ", ".join("n" * arity) + " -> n" for name, (_, arity) in SCALAR_NARY.items()},
    **dict.fromkeys(OPERATORS, "n, n -> n"),
    **dict.fromkeys("int float bool complex square".split(), "n -> n"),
    **dict.fromkeys("sum prod any all mean min max argmin argmax".split(), "[]n -> n"),
    **dict.fromkeys("sort sorted argsort cumsum cumprod".split(), "[]n -> []n"),
    "pow": "n, n -> n",
    "clip": "n, n, n -> n",
    "where": "n, n, n -> n",
    "dot": "[]n, []n -> n",
    "outer": "[]n, []n -> [][]n",
    "len": "[]a -> n",
    "reverse": "[]a -> []a",
    "rotate": "[]a, n -> []a",
    "flatten": "[][]a -> []a",
    "transpose": "[][]a -> [][]a",
    "split": "[]a, k -> [][]a",
    "tile": "[]a, k -> [][]a",
    "window": "[]a, k -> [][]a",
    "sample": "[]a, k -> []a",
    **dict.fromkeys("pad_l pad_r trunc_l trunc_r".split(), "[]a, k -> []a"),
    "gather": "[]a, []n -> []a",
    "scatter": "[]a, []n, []a -> []a",
    "repeat": "a, n -> []a",
    "iota": "k -> []n",
    "size": "k -> n",
    "copy": "a -> a",
    "stop": "a -> a",
    **dict.fromkeys("zeros_like ones_like".split(), "a -> a"),
    "reduce": "{a, a -> a}, a, []a -> a",
    "scan": "{a, a -> a}, a, []a -> []a",
}
POLYMORPHIC = frozenset(name for name, text in _TABLE.items() if re.search(r"\b[abc]\b", text.replace("[]", "")))
SECOND_ORDER = frozenset(name for name, text in _TABLE.items() if "{" in text)


@lru_cache(maxsize=500)
def builtin(name: str, count: int | None = None) -> Scheme | None:
    """The scheme of a built-in applied to `count` arguments; None when it is a special form or has no rank type."""
    if name in ("min", "max") and count is not None and count > 1:
        return parse(", ".join(["n"] * count) + " -> n")
    if name == "concat":
        return parse(", ".join(["[]a"] * (count or 2)) + " -> []a")
    return parse(_TABLE[name]) if name in _TABLE else None


# -- declared types


def of_type(t: Type, variable: Callable[[str], RankType] | None = None) -> RankType:
    """The rank type of a declared type; `variable` says what its type variables are (numbers, without it)."""
    if isinstance(t, Array):
        return of_type(t.elem, variable).lift(poly(1))
    if isinstance(t, Tuple):
        return product(*(of_type(item, variable) for item in t.items))
    if isinstance(t, Record):
        return product(*(of_type(item, variable) for item in t.items), tag=t.decl)
    if isinstance(t, Fn):
        return arrow(tuple(of_type(p, variable) for p in t.params), of_type(t.result, variable))
    if isinstance(t, Var) and variable is not None:
        return variable(t.name)
    if isinstance(t, Union):
        return RankType(ZERO, Variable("case"))  # any of its cases, whose ranks are declared
    return RankType(ZERO, NUMBER)


def fixed_rank(t: RankType) -> int | None:
    """The rank of a parameter when nothing is left open in it: None for a type variable's."""
    return t.axes.const() if not isinstance(t.body, Variable) else None


def close(t: RankType, value: Callable[[Poly], tuple[int, object]], made: dict[object, Variable]) -> RankType:
    """t with its unknown ranks put in. `value` gives a leaf's rank as a number plus the class of ranks it floats with (or None)."""
    if t.is_function:
        *params, result = (close(part, value, made) for part in parts(t))
        return arrow(tuple(params), result)
    count, floating = value(own_rank(t))
    if t.is_product:
        tag = t.skeleton.form
        assert isinstance(tag, tuple)
        items = tuple(close(part, value, made) for part in parts(t))
        return RankType(poly(count), Product(items, tag[1]))
    if floating is None and t.skeleton.form == "number":
        return RankType(poly(count), NUMBER)
    if floating is None:
        floating = t.skeleton.root()
    key = (floating, t.skeleton.root())
    if key not in made:
        made[key] = Variable("abcdefghij"[len(made) % 10], Skeleton("number") if t.skeleton.form == "number" else None)
    return RankType(poly(count), made[key])


def show(t: RankType) -> str:
    """`[][]number`, `(number, []a)`, `a -> []a`: for tests and for looking at a solution."""
    axes = t.axes.const()
    before = "[]" * axes if axes is not None else f"[]^({t.axes})"
    body = t.body
    if isinstance(body, Product):
        return before + "(" + ", ".join(map(show, body.items)) + ")"
    if isinstance(body, Arrow):
        text = ", ".join(f"({show(p)})" if isinstance(p.body, Arrow) else show(p) for p in body.params)
        return f"{before}({text} -> {show(body.result)})" if before else f"{text} -> {show(body.result)}"
    if isinstance(body, Variable):
        return before + body.name
    return before + "number"


Types = Mapping[str, Any]
