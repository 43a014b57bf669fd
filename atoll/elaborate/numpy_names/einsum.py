"""einsum: the text is read while the program is elaborated, operands are contracted two at a time in a good order.

Every letter is an axis. What only one operand has and the result has not is summed out of it first; then the pair whose result has the fewest
axes is contracted, until one operand is left. Sizes are unknown here, so an order is good by its numbers of axes: of all orders (greedily
from seven operands on) the one whose largest step goes over the fewest letters, then the one whose steps go over the fewest altogether.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

from atoll.elaborate.arithmetic import scalar_binary
from atoll.elaborate.builtins.reductions import Known, _prepare, _reduce_known
from atoll.elaborate.elaborator import Mismatch
from atoll.elaborate.entities import Value
from atoll.elaborate.indexing import element_at
from atoll.elaborate.numpy_names.call import Call
from atoll.sizes import Poly
from atoll.types.dtypes import BOOL, I64
from atoll.types.types import I64_T, Array, rank, shape_of

_DOTS = "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089"
"""Letters for the axes of `...`."""


@dataclass(frozen=True, slots=True)
class Operand:
    letters: str
    value: Value


def einsum(c: Call, subscripts: Any, *operands: Any, optimize: Any = True) -> Value:
    c.flag(optimize, "optimize") if not isinstance(optimize, bool) else None
    text = c.text(subscripts, "the subscripts").replace(" ", "")
    values = c.promoted([c.value(operand) for operand in operands])
    inputs, output = _parse(c, text, values)
    truths = all(c.dtype_of(value) is BOOL for value in values)
    if truths:  # of bools: whether any of the products is true
        values = [c.convert(value, I64) for value in values]
    found = contract(c, [Operand(letters, value) for letters, value in zip(inputs, values, strict=True)], output)
    return c.op("!=", c.el.bind(found), 0) if truths else c.as_narrow(found, c.dtype_of(values[0]))


def _parse(c: Call, text: str, values: list[Value]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, `...` written out."""
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(values):
        c.el.fail("E0268", c.span, text=text, what=f"names {len(parts)} operand{'s' * (len(parts) != 1)}, but {len(values)} are given")
    allowed = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.")
    bad = sorted({ch for ch in left.replace(",", "") + right if ch not in allowed})
    if bad:
        c.el.fail("E0268", c.span, text=text, what=f"has {bad[0]!r} in it, which is no letter")
    inputs = []
    for part, value in zip(parts, values, strict=True):
        named = part.replace("...", "")
        missing = rank(value.type) - len(named)
        if "." in named or part.count("...") > 1:
            c.el.fail("E0268", c.span, text=text, what="has dots that are not `...`")
        if missing < 0 or (missing > 0 and "..." not in part):
            c.el.fail("E0268", c.span, text=text, what=f"gives {len(named)} letters to an array with {rank(value.type)} axes")
        inputs.append(part.replace("...", _DOTS[len(_DOTS) - missing :] if missing else ""))
    dots = max(("".join(ch for ch in part if ch in _DOTS) for part in inputs), key=len)
    if arrow:
        output = right.replace("...", dots)
    else:
        once = [ch for ch in "".join(inputs) if ch not in _DOTS and "".join(inputs).count(ch) == 1]
        output = dots + "".join(sorted(once))
    for ch in output:
        if output.count(ch) > 1:
            c.el.fail("E0268", c.span, text=text, what=f"has {ch} twice in the result")
        if not any(ch in part for part in inputs):
            c.el.fail("E0268", c.span, text=text, what=f"has {ch} in the result but in no operand")
    return inputs, output


def contract(c: Call, operands: list[Operand], output: str) -> Value:
    """The sum over everything that is not in the output, pair by pair."""
    sizes = _sizes(c, operands)
    left = [_alone(c, op, output + "".join(o.letters for k, o in enumerate(operands) if k != j), sizes) for j, op in enumerate(operands)]
    for first, second in _order(tuple(op.letters for op in left), output):
        a, b = left[first], left[second]
        rest = [op for k, op in enumerate(left) if k not in (first, second)]
        kept = output if not rest else "".join(dict.fromkeys(ch for ch in a.letters + b.letters if ch in output or any(ch in op.letters for op in rest)))
        left = [*rest, Operand(kept, _pair(c, a, b, kept, sizes))]
    (only,) = left
    return _summed(c, [only], output, sizes).value if only.letters != output else only.value


def _sizes(c: Call, operands: list[Operand]) -> dict[str, Poly]:
    found: dict[str, Poly] = {}
    seen: dict[str, str] = {}
    for number, op in enumerate(operands):
        sizes, _ = shape_of(op.value.type)
        for k, (ch, size) in enumerate(zip(op.letters, sizes, strict=True)):
            if ch in found:
                here = f"{ch} is axis {seen[ch]} and axis {k} of operand {number}"
                sides = (Array(I64_T, found[ch]), Array(I64_T, size))
                c.el.equate(found[ch], size, Mismatch(c.span, *sides, f"{c.name}, where {here}", c.el.facts, alone=True))
            else:
                found[ch], seen[ch] = size, f"{k} of operand {number}"
    return found


def _alone(c: Call, op: Operand, needed: str, sizes: dict[str, Poly]) -> Operand:
    """An operand without the letters nobody else has, and without a letter twice."""
    kept = "".join(dict.fromkeys(ch for ch in op.letters if ch in needed))
    return op if kept == op.letters else _summed(c, [op], kept, sizes)


def _pair(c: Call, a: Operand, b: Operand, kept: str, sizes: dict[str, Poly]) -> Value:
    return _summed(c, [a, b], kept, sizes).value


def _summed(c: Call, operands: list[Operand], kept: str, sizes: dict[str, Poly]) -> Operand:
    """[[sum(product of the operands' elements) ...] for the letters kept]"""
    el = c.el
    over = [ch for ch in dict.fromkeys("".join(op.letters for op in operands)) if ch not in kept]

    def element(places: dict[str, Value]) -> Value:
        result: Value | None = None
        for op in operands:
            value = op.value
            for ch in op.letters:
                value = element_at(el, value, places[ch], c.span)
            result = value if result is None else scalar_binary(el, "*", result, value, c.span)
        assert result is not None
        return result

    def sums(places: dict[str, Value], rest: list[str]) -> Value:
        if not rest:
            return element(places)
        inner = c.build(sizes[rest[0]], lambda i: sums({**places, rest[0]: i}, rest[1:]))
        return _reduce_known(el, _prepare(el, inner, "sum", c.span), Known("add", "+"), c.span)

    def axes(places: dict[str, Value], rest: str) -> Value:
        if not rest:
            return sums(places, over)
        return c.build(sizes[rest[0]], lambda i: axes({**places, rest[0]: i}, rest[1:]))

    return Operand(kept, el.bind(axes({}, kept)))


_EXHAUSTIVE = 6


@lru_cache(maxsize=256)
def _order(letters: tuple[str, ...], output: str) -> tuple[tuple[int, int], ...]:
    """Which two to contract, as positions in the list that is left: the result of a pair is put at its end."""

    def after(terms: tuple[str, ...], pair: tuple[int, int]) -> tuple[tuple[str, ...], int]:
        first, second = terms[pair[0]], terms[pair[1]]
        rest = tuple(t for k, t in enumerate(terms) if k not in pair)
        met = set(first) | set(second)
        kept = "".join(sorted(ch for ch in met if ch in output or any(ch in t for t in rest)))
        return (*rest, kept), len(met)

    def best(terms: tuple[str, ...]) -> tuple[tuple[int, int], tuple[tuple[int, int], ...]]:
        if len(terms) == 1:
            return (0, 0), ()
        found = None
        pairs = list(combinations(range(len(terms)), 2))
        if len(terms) > _EXHAUSTIVE:
            pairs = [min(pairs, key=lambda p: (after(terms, p)[1], p))]
        for pair in pairs:
            left, letters_met = after(terms, pair)
            (largest, total), steps = best(left)
            cost = (max(largest, letters_met), total + letters_met)
            if found is None or cost < found[0]:
                found = (cost, (pair, *steps))
        assert found is not None
        return found

    return best(letters)[1]
