"""What to write instead: the helps of elaboration errors. Each is right when it is followed (tests/madl/test_helps.py does)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from atoll.madl import syntax as s
from atoll.madl.environment import Env, defined_names
from atoll.madl.represented import Enum, Fixed
from atoll.madl.scalars import FUNCTIONS
from atoll.madl.typing import INT, Unknown, extents, prune, show_type
from atoll.types.types import Array, Index, Record, Scalar, Type

if TYPE_CHECKING:
    from atoll.madl.elaborate import Elaborator


def near(name: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant."""
    names = [n for n in dict.fromkeys(known) if "#" not in n]
    small = {n.lower(): n for n in names}
    found = difflib.get_close_matches(name.lower(), list(small), 1, 0.7)
    return small[found[0]] if found and small[found[0]] != name else None


# -- names


def undefined(el: Elaborator, name: str, env: Env) -> str:
    """A variable that nothing in sight defines."""
    if name in el.half_defined:
        return f"define it in every branch: {name} = .."
    if env.scope.kind == "init" and name in _names_of(el.operator):
        return "a first value is computed before the first cycle: write a number, or an expression of constants and sizes"
    if el.find(name) is not None or any(isinstance(item, s.Operator) and item.name == name for item in el.library.program.items):
        return f"{name} is an operator: {name}(..)" if el.find(name) is not None else f"{name} is an operator: define it above {el.operator.name}, and write {name}(..)"
    inside = next((node for node in s.walk(el.operator) if isinstance(node, s.Forward) and name in defined_names(node.body)), None)
    if inside is not None:
        return f"it is inside the loop: [{name}] in its returns collects the values of all rounds, {{{name}}} is the last one"
    visible: list[str] = ["true", "false"]
    here: Env | None = env
    while here is not None:
        visible += [*here.variables, *here.sizes]
        here = here.parent
    meant = near(name, [*visible, *el.library.constants])
    return f"did you mean {meant}?" if meant else f"define it: {name} = .., or take it as an argument"


def _names_of(operator: s.Operator) -> set[str]:
    return {node.name for node in s.walk(operator) if isinstance(node, s.Variable)}


def operator(el: Elaborator, name: str) -> str | None:
    """An operator that is not in sight; None leaves the usual help."""
    from atoll.madl.structure import BUILTINS

    meant = near(name, [*(n for n in el.library.items if el.find(n) is not None), *FUNCTIONS, *BUILTINS])
    return f"did you mean {meant}?" if meant else None


# -- numbers of values


def as_many(pattern: str, given: int, wanted: int) -> str:
    """A pattern for another number of values."""
    if given > wanted:
        return f"name every value, `_` for those nobody needs: {', '.join([pattern, *['_'] * (given - wanted)])} = .."
    return f"there {'is one value' if given == 1 else f'are {given} values'}: write as many names"


def takes(name: str, parameters: Iterable[str]) -> str:
    """A call with another number of arguments."""
    shown = list(parameters)
    return f"write {name}({', '.join(shown)})" if shown else f"write {name}()"


def takes_sizes(name: str, parameters: Iterable[str]) -> str:
    shown = ", ".join(parameters)
    return f"write {name}<<{shown}>>(..)" if shown else f"write {name}(..)"


LETTERS = "abcdefgh"


# -- types


def _conversion(t: Type) -> str | None:
    """What converts a number to a type."""
    t = prune(t)
    if isinstance(t, Enum) or not isinstance(t, (Scalar, Index)):
        return None
    return "i32" if isinstance(t, Index) or t == INT else show_type(t)


def fits(found: Type, expected: Type, text: str) -> str | None:
    """What to write for an expression of one type where another is expected."""
    found, expected = prune(found), prune(expected)
    text = text if text and len(text) <= 30 and "\n" not in text else ".."
    for one, other in ((found, expected), (expected, found)):
        if isinstance(one, Enum):
            return f"the values of {one.name} are {', '.join(one.members)}" if not isinstance(other, Enum) else None
    if isinstance(expected, Index):
        return f"write clamp<<{show_type(expected)[5:-2]}>>({text}), or wrap" if isinstance(found, Scalar) and found.dtype.is_integer and not isinstance(found, Fixed) else None
    number = _conversion(expected)
    if isinstance(found, (Scalar, Index)) and number is not None:
        return f"compare it: {text} != 0" if number == "bool" and _is_number(found) else f"convert it: {number}({text})"
    if isinstance(found, Unknown) and found.family in ("number", "real") and number == "bool":
        return "write true or false, or compare: .. != 0"
    if isinstance(expected, Unknown) and isinstance(found, Scalar) and expected.family == "integer":
        return f"convert it: i32({text})"
    mine, theirs = extents(found), extents(expected)
    if len(mine[0]) == len(theirs[0]) > 0 and mine[0] == theirs[0] and _conversion(theirs[1]) and isinstance(prune(mine[1]), Scalar):
        return f"convert its elements: forward ([a] = {text}) returns (b = [c]): c = {_conversion(theirs[1])}(a)"
    if isinstance(found, Array) and isinstance(expected, Scalar):
        return f"take an element, {text}.[k], or all with forward"
    if isinstance(expected, Array) and isinstance(found, Scalar) and _same(found, theirs[1]):
        return f"an array of it is written {'[_]' * len(theirs[0])}{text}"
    return None


def _same(a: Type, b: Type) -> bool:
    return prune(a) == prune(b)


def _is_number(t: Type) -> bool:
    return isinstance(t, Index) or (isinstance(t, Scalar) and t.dtype.kind != "b")


def one_type(first: Type, second: Type, texts: tuple[str, str]) -> str | None:
    """Two operands of one operation that differ."""
    ways = []
    for own, other, text in ((first, second, texts[1]), (second, first, texts[0])):
        number = _conversion(own)
        if number is not None and isinstance(prune(other), (Scalar, Index)) and not isinstance(prune(other), Enum):
            ways.append(f"{number}({text if len(text) <= 30 else '..'})")
    if ways:
        return f"convert one side: {' or '.join(dict.fromkeys(ways))}"
    return fits(second, first, texts[1])


def family(family_: str, t: Type) -> str | None:
    """An operation on a type it is not defined for; None leaves the usual help."""
    t = prune(t)
    if isinstance(t, Enum):
        return "enumerations are compared with == and !=, or taken apart with match"
    if isinstance(t, Scalar) and t.dtype.kind == "b":
        return "a bool is no number: write i32(..) of it, or if .. then 1 else 0" if family_ != "bool" else None
    if family_ == "bool":
        return "a condition is a bool: compare, .. != 0"
    if isinstance(t, Fixed):
        return "fixed-point numbers have + - * / min max abs, comparisons and conversions: f64(..), or i32(..) for what is before the point"
    return {"integer": "convert to a whole number: i32(..), u32(..)", "float": "convert to a float: f64(..), f32(..)"}.get(family_)


def outside_forward(e: s.Expr) -> str:
    """[..] and {..} that stand where no forward's interface is."""
    parts = s.text(e)[1:-1]
    return f"an array is written [|{parts}|]" if isinstance(e, s.Aggregate) else f"parentheses are round: ({parts})"


def wider(value: int | float | bool, t: Type) -> str | None:
    """A number that a type does not have; None leaves the usual help."""
    if not isinstance(t, Scalar) or isinstance(t, Enum) or isinstance(value, bool):
        return None
    if isinstance(t, Fixed):
        bits = [(whole, total - whole) for total in (t.dtype.bits, 32) for whole in range(1, total + 1)]
        sign = "q" if t.dtype.kind == "i" else "uq"
        most = [w for w in bits if -(2.0 ** (w[0] - 1)) <= value < 2.0 ** (w[0] - (sign == "q"))]
        return f"use a type that has it: {sign}<<{most[0][0]},{most[0][1]}>>(..)" if most else None
    if t.dtype.is_integer and isinstance(value, int):
        kinds = ("u", "i") if value >= 0 and t.dtype.kind == "u" else ("i",)
        names = [f"{kind}{bits}" for bits in (8, 16, 32, 64) for kind in kinds if -(2 ** (bits - 1)) * (kind == "i") <= value < 2 ** (bits - (kind == "i"))]
        return f"use a type that has it: {names[0]}(..)" if names else None
    return None


# -- fields


def fields(record: Type, known: Iterable[str], name: str) -> str:
    if isinstance(record, Record):
        meant = near(name, record.decl.fields)
        return f"did you mean {meant}?" if meant else f"its fields are {', '.join(record.decl.fields)}"
    meant = near(name, known)
    return f"did you mean {meant}?" if meant else f"declare a record that has it: type name = {{ {name} of f64 }}"
