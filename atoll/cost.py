"""`f.cost()`: what a call does, as formulas of the sizes, from the loops that are compiled.

    operations, bytes_read, bytes_written, rounds    of all loops, after rewriting: every element that is read counts, also one that is in a cache or a register
    arrays                                           bytes of arguments, results and temporaries: what has to come from memory at least once
    nests                                            the same for each of the outermost loops
    unknowns                                         names in the formulas that data decide, and what they mean

With sizes given the formulas are numbers. A sort counts as one reading and one writing of its keys; a product counts as its loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Union

from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.loops import ir as lp
from atoll.loops.cost import formulas
from atoll.lower.make import compiled_loops
from atoll.runtime.memory import bytes_of, memory
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import Quot
from atoll.sizes.sums import Clamp, Holds, Ratio, Total, reduced

if TYPE_CHECKING:
    from atoll.core import ir

Names = Mapping[Sym, int]


@dataclass(frozen=True)
class Formula:
    """A number that depends on sizes: print it, evaluate it with `at(n=100)`, ask for its `degree("n")`."""

    _of: Ratio

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names in it."""
        return tuple(dict.fromkeys(_name(a) for a in sorted(self._of.num.leaves(), key=_name)))

    def at(self, **sizes: int) -> Quantity:
        """With these sizes; a number when nothing is left unknown."""
        return _quantity(self._of.subst({a: poly(sizes[_name(a)]) for a in self._of.num.leaves() if _name(a) in sizes}))

    def degree(self, name: str) -> int:
        """The highest power of a size, its order of growth; what stands in a sum or a maximum counts as it stands there."""
        return max((sum(_degree(a, name) for a in mono) for mono in self._of.num.terms), default=0)

    def __str__(self) -> str:
        return show(self._of)

    def __repr__(self) -> str:
        return show(self._of)


Quantity = Union[int, Formula]


@dataclass(frozen=True)
class NestCost:
    """One of the outermost loops, and what it costs."""

    name: str
    operations: Quantity
    bytes_read: Quantity
    bytes_written: Quantity
    rounds: Quantity


@dataclass(frozen=True)
class Cost:
    """What a call does. See the head of this module."""

    function: str
    operations: Quantity
    bytes_read: Quantity
    bytes_written: Quantity
    rounds: Quantity
    arrays: Quantity
    nests: tuple[NestCost, ...]
    unknowns: dict[str, str]

    def at(self, **sizes: int) -> Cost:
        """With sizes, integer arguments or unknowns put in."""

        def put_in(q: Quantity) -> Quantity:
            return q.at(**sizes) if isinstance(q, Formula) else q

        nests = tuple(replace(n, operations=put_in(n.operations), bytes_read=put_in(n.bytes_read), bytes_written=put_in(n.bytes_written), rounds=put_in(n.rounds)) for n in self.nests)
        done = replace(
            self,
            operations=put_in(self.operations),
            bytes_read=put_in(self.bytes_read),
            bytes_written=put_in(self.bytes_written),
            rounds=put_in(self.rounds),
            arrays=put_in(self.arrays),
            nests=nests,
        )
        return replace(done, unknowns={k: text for k, text in self.unknowns.items() if k in done.names})

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    @property
    def names(self) -> set[str]:
        """Sizes, integer arguments and unknowns in its formulas."""
        return {name for q in (self.operations, self.bytes_read, self.bytes_written, self.rounds, self.arrays) if isinstance(q, Formula) for name in q.names}

    @property
    def intensity(self) -> float | None:
        """Operations for each byte of the arrays, once both are numbers: where a call stands under a roofline."""
        if isinstance(self.operations, Formula) or isinstance(self.arrays, Formula) or not self.arrays:
            return None
        return self.operations / self.arrays

    def __str__(self) -> str:
        lines = [f"{self.function}:"]
        for name, q, unit in (
            ("operations", self.operations, ""),
            ("bytes read", self.bytes_read, ""),
            ("bytes written", self.bytes_written, ""),
            ("rounds", self.rounds, ""),
            ("arrays", self.arrays, " bytes"),
        ):
            lines.append(f"  {name:<14} {q:,}{unit}" if isinstance(q, int) else f"  {name:<14} {q}{unit}")
        if self.unknowns:
            width = max(map(len, self.unknowns))
            lines += ["  where", *(f"    {name:<{width}}  {text}" for name, text in self.unknowns.items())]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def cost(loops: lp.Function, fn: ir.Function | None = None) -> Cost:
    """The cost of loops; `fn` is the function they were made from, which says what its sizes are known to be."""
    found = formulas(loops, () if fn is None else [need.poly for need in fn.requires])
    arrays = sum((bytes_of(b) for b in loops.inputs if isinstance(b, lp.Buffer)), poly(0)) + sum((u.bytes for u in memory(loops) if u.kind != "copy"), poly(0))
    by_var: dict[Any, Poly] = {v.atom: poly(s) for v in loops.inputs if isinstance(v, lp.Var) for s in found.names if s.name == v.name}
    whole, *nests = (
        NestCost(name, _quantity(t.operations), _quantity(t.bytes_read), _quantity(t.bytes_written), _quantity(t.rounds))
        for name, t in ((loops.name, found.whole), *((n.name, n.cost) for n in found.nests))
    )
    unknowns = {u.sym.name: u.text for u in found.unknowns}
    return Cost(loops.name, whole.operations, whole.bytes_read, whole.bytes_written, whole.rounds, _quantity(Ratio(arrays.subst(by_var))), tuple(nests), unknowns)


def cost_of(fn: ir.Function, sizes: Mapping[str, int]) -> Cost:
    """The cost of a function's compiled loops, at sizes where they are given."""
    return cost_at(compiled_loops(fn), fn, sizes)


def cost_at(loops: lp.Function, fn: ir.Function, sizes: Mapping[str, int]) -> Cost:
    """The cost of loops with sizes, integer arguments or unknowns put in by their names."""
    whole = cost(loops, fn)
    known = {s.name for s in fn.sizes} | {s.name for s, _ in fn.params} | whole.names
    for name, value in sizes.items():
        if name not in known:
            fail("E0610", name=f"{fn.name}.cost", text=f"{fn.name} has no size or unknown {name}", help=f"give some of: {', '.join(sorted(known))}" if known else "leave it out")
        if isinstance(value, bool) or not isinstance(value, int) or (value < 0 and name not in {s.name for s, _ in fn.params}):
            fail("E0610", name=f"{fn.name}.cost", text=f"{name} is a whole number from 0 on, not {kind_of(value)}", help=f"write {name}=1000")
    return whole.at(**sizes) if sizes else whole


def _name(atom: Atom) -> str:
    return atom.name if isinstance(atom, Sym) else repr(atom)


def _degree(atom: Atom, name: str) -> int:
    def of(p: Poly) -> int:
        return max((sum(_degree(a, name) for a in mono) for mono in p.terms), default=0)

    if isinstance(atom, Clamp):
        return of(atom.of)
    if isinstance(atom, Holds):
        return 0
    if isinstance(atom, Quot):
        return of(atom.num) - of(atom.den)
    if isinstance(atom, Total):
        width = max(of(atom.low), of(atom.high))
        return width + max((sum(width if a is atom.sym else _degree(a, name) for a in mono) for mono in atom.of.terms), default=0)
    return int(_name(atom) == name)


def _quantity(r: Ratio) -> Quantity:
    value = r.const()
    return Formula(r) if value is None else value


def show(r: Ratio) -> str:
    """`n**3/3 + 2*n*m - 1`"""
    r = reduced(r.num, r.den)
    if not r.num.terms:
        return "0"
    text = ""
    for mono, coef in sorted(r.num.terms.items(), key=lambda term: (-len(term[0]), [repr(a) for a in term[0]])):
        c = Fraction(coef, r.den)
        counts = {a: mono.count(a) for a in sorted(dict.fromkeys(mono), key=repr)}
        factors = [_factor(a) + (f"**{k}" if k > 1 else "") for a, k in counts.items()]
        size = abs(c.numerator)
        body = "*".join(([str(size)] if size != 1 or not factors else []) + factors) + (f"/{c.denominator}" if c.denominator != 1 else "")
        text += (" - " if c < 0 else " + ") + body if text else ("-" if c < 0 else "") + body
    return text


def _factor(atom: Atom) -> str:
    text = repr(atom)
    return f"({text})" if "//" in text and not text.endswith((")", "]")) else text
