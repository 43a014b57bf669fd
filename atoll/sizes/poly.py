"""Integer polynomials in normal form: the one arithmetic of sizes, indices, views, buffer extents and costs.

    poly  ::=  sum of  coefficient * monomial          coefficient in Z, monomial a product of atoms
    atom  ::=  Sym name                                an integer unknown: a size, an index, an integer variable
            |  Quot num den                            floor(num / den), den >= 1 by the user's word or a proof
            |  any other subclass of Atom              a stage may add opaque atoms (AiNF: the value of a line)

Two sizes are equal exactly when their normal forms are (MADL, Pauget, chapter 2). `a % k` is `a - k*(a // k)` and
`cdiv(a, k)` is `(a + k - 1) // k`, so quotient rules meet in one place, `floordiv`. Polynomials are values: hashable, immutable,
compared structurally. They are over Z, while machine integers wrap at 64 bits; + - * agree modulo 2**64, so a polynomial may be
evaluated in wrapping arithmetic, and an index *proved* to lie in a range lies there on the machine too.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from math import gcd
from numbers import Integral
from operator import attrgetter
from typing import Any, Union

from atoll.errors.base import fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import plain

_LARGEST_POWER = 64
_uids = itertools.count(1)
_uid = attrgetter("uid")


class Atom:
    """An indivisible factor of a monomial. Subclasses are compared by identity unless they intern themselves."""

    __slots__ = ("uid", "itself", "_alone")

    def __init__(self) -> None:
        self.uid = next(_uids)
        self.itself: Poly | None = None  # the polynomial that is just this atom, once someone asked for it
        self._alone: frozenset[Atom] | None = None

    def substitute(self, env: Mapping[Any, Poly]) -> Poly | None:
        """The polynomial this atom becomes when its parts are replaced, or None when nothing changes."""
        return None

    def leaves(self) -> frozenset[Atom]:
        """The atoms this one is made of (itself, unless it has parts)."""
        if self._alone is None:
            self._alone = frozenset((self,))
        return self._alone

    def value(self, env: Callable[[Atom], int]) -> int:
        return env(self)


class Atoms(frozenset[Atom]):
    """A set of atoms that is walked in the order in which they were made: any other has an order of its own in every process, and whoever makes atoms on
    the way would number them so."""

    __slots__ = ("_order",)
    _order: tuple[Atom, ...]

    def __iter__(self) -> Iterator[Atom]:
        try:
            return iter(self._order)
        except AttributeError:
            self._order = tuple(sorted(frozenset.__iter__(self), key=_uid))
            return iter(self._order)


class Sym(Atom):
    """A named integer unknown; two symbols of one name are different unknowns."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name,)  # a number of its own in the process it comes to


class Temporary(Sym):
    """A name the compiler gives to a value that the user did not name; `given` is the name the user gave it afterwards."""

    __slots__ = ("given",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.given: str | None = None


class Quot(Atom):
    """floor(num / den) that no rule simplifies. Made only by `floordiv`, which interns it."""

    __slots__ = ("num", "den")

    def __init__(self, num: Poly, den: Poly) -> None:
        super().__init__()
        self.num, self.den = num, den

    def __repr__(self) -> str:
        den = show(self.den)
        return f"{_factor(self.num)} // {den if self.den.const() or self.den.single() else f'({den})'}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _quotient, (self.num, self.den)

    def substitute(self, env: Mapping[Any, Poly]) -> Poly | None:
        num, den = self.num.subst(env), self.den.subst(env)
        if num is self.num and den is self.den:
            return None
        return floordiv(num, den)

    def leaves(self) -> frozenset[Atom]:
        return Atoms(self.num.leaves() | self.den.leaves())

    def value(self, env: Callable[[Atom], int]) -> int:
        return self.num.evaluate(env) // self.den.evaluate(env)


Monomial = tuple[Atom, ...]
_Key = Union["tuple[Monomial, int]", "frozenset[tuple[Monomial, int]]"]  # one term is its own key


class _Interned:
    """Polynomials that live, by their terms. What is dead is taken out when as many are new as were there: a callback for each, as
    WeakValueDictionary has, takes longer than all of arithmetic."""

    __slots__ = ("known", "most")

    def __init__(self) -> None:
        self.known: dict[_Key, weakref.ref[Poly]] = {}
        self.most = 1 << 14

    def add(self, key: _Key, value: Poly) -> None:
        self.known[key] = weakref.ref(value)
        if len(self.known) > self.most:
            for old, ref in list(self.known.items()):
                if ref() is None and self.known.get(old) is ref:
                    self.known.pop(old, None)
            self.most = max(1 << 14, 2 * len(self.known))


_interned = _Interned()
PolyLike = Union["Poly", Atom, int]


class Poly:
    """A polynomial; `terms` maps each monomial (atoms sorted by uid) to its non-zero coefficient.

    Hash-consed: equal polynomials that live at the same time are one object, so comparing them is comparing addresses and what
    one of them knows about itself (its unknowns, its hash) is known once. Nobody may change `terms`.
    """

    __slots__ = ("terms", "_hash", "_leaves", "__weakref__")

    terms: dict[Monomial, int]
    _hash: int
    _leaves: frozenset[Atom] | None

    def __new__(cls, terms: dict[Monomial, int]) -> Poly:
        key: _Key = next(iter(terms.items())) if len(terms) == 1 else frozenset(terms.items())
        ref = _interned.known.get(key)
        if ref is not None and (known := ref()) is not None:
            return known
        self = object.__new__(cls)
        self.terms = terms if len(terms) < 2 else _in_order(terms)
        self._hash = hash(key)
        self._leaves = None
        _interned.add(key, self)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (tuple(self.terms.items()),)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, Poly):  # two threads may have made one each
            return self._hash == other._hash and self.terms == other.terms
        if isinstance(other, int):
            return self.const() == other
        return NotImplemented

    # -- arithmetic

    def __add__(self, other: PolyLike) -> Poly:
        if not isinstance(other, Poly):
            if not _is_size(other):
                return NotImplemented
            other = poly(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        terms = dict(self.terms)
        for mono, coef in other.terms.items():
            total = terms.get(mono, 0) + coef
            if total:
                terms[mono] = total
            else:
                del terms[mono]
        return Poly(terms)

    __radd__ = __add__

    def __neg__(self) -> Poly:
        return Poly({mono: -coef for mono, coef in self.terms.items()})

    def __sub__(self, other: PolyLike) -> Poly:
        if not isinstance(other, Poly):
            if not _is_size(other):
                return NotImplemented
            other = poly(other)
        if not other.terms:
            return self
        terms = dict(self.terms)
        for mono, coef in other.terms.items():
            total = terms.get(mono, 0) - coef
            if total:
                terms[mono] = total
            else:
                del terms[mono]
        return Poly(terms)

    def __rsub__(self, other: PolyLike) -> Poly:
        return poly(other) - self if _is_size(other) else NotImplemented

    def __mul__(self, other: PolyLike) -> Poly:
        if not isinstance(other, Poly):
            if not _is_size(other):
                return NotImplemented
            other = poly(other)
        const = other.const()
        if const is not None:
            if const == 1:
                return self
            return Poly({mono: coef * const for mono, coef in self.terms.items()} if const else {})
        terms: dict[Monomial, int] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                mono = _times(left, right)
                total = terms.get(mono, 0) + a * b
                if total:
                    terms[mono] = total
                else:
                    del terms[mono]
        return Poly(terms)

    __rmul__ = __mul__

    @plain
    def __pow__(self, exponent: int) -> Poly:
        if not isinstance(exponent, int) or not 0 <= exponent <= _LARGEST_POWER:
            fail("E0213", what="the power of a size", found=f"{self!r} ** {kind_of(exponent)}", help=f"write a whole number from 0 to {_LARGEST_POWER}")
        result = ONE
        for _ in range(exponent):
            result = result * self
        return result

    @plain
    def __truediv__(self, other: object) -> Any:
        fail("E0213", what="a size", found=f"{self!r} / {other!r}", help=f"write {self!r} // {other!r}, or at.cdiv({self!r}, {other!r}) to round up")

    @plain
    def __floordiv__(self, other: PolyLike) -> Poly:
        return floordiv(self, poly(other)) if _is_size(other) else NotImplemented

    @plain
    def __rfloordiv__(self, other: PolyLike) -> Poly:
        return floordiv(poly(other), self) if _is_size(other) else NotImplemented

    @plain
    def __mod__(self, other: PolyLike) -> Poly:
        if not _is_size(other):
            return NotImplemented
        other = poly(other)
        return self - other * floordiv(self, other)

    @plain
    def __rmod__(self, other: PolyLike) -> Poly:
        return poly(other) % self if _is_size(other) else NotImplemented

    # -- looking inside

    def const(self) -> int | None:
        """The value, when there is no unknown in it."""
        if not self.terms:
            return 0
        if len(self.terms) == 1:
            return self.terms.get(())
        return None

    def constant_term(self) -> int:
        return self.terms.get((), 0)

    def single(self) -> Atom | None:
        """The atom, when the polynomial is just one atom."""
        if len(self.terms) == 1:
            ((mono, coef),) = self.terms.items()
            if coef == 1 and len(mono) == 1:
                return mono[0]
        return None

    def atoms(self) -> list[Atom]:
        """The distinct atoms, in order of first appearance."""
        return list(dict.fromkeys(atom for mono in self.terms for atom in mono))

    def leaves(self) -> frozenset[Atom]:
        """All unknowns, also those inside quotients; walked in the order in which they were made."""
        if self._leaves is None:
            self._leaves = Atoms(frozenset().union(*(a.leaves() for mono in self.terms for a in mono)))
        return self._leaves

    def degree(self) -> int:
        return max((len(mono) for mono in self.terms), default=0)

    def coefficient(self, atom: Atom) -> Poly | None:
        """What stands beside the atom in the terms that have it; None when some have it twice. Quotients are atoms of their own: i % 4 is i - 4*(i // 4), with 1 beside i.
        Who asks how far a value moves with an index asks `slope`."""
        terms: dict[Monomial, int] = {}
        for mono, coef in self.terms.items():
            count = mono.count(atom)
            if count > 1:
                return None
            if count:
                at = mono.index(atom)
                terms[mono[:at] + mono[at + 1 :]] = coef
        return Poly(terms)

    def slope(self, atom: Atom) -> Poly | None:
        """By how much it grows with each step of an atom: the polynomial c with self = c*atom + r, where the atom is nowhere in c and r, quotients included; None when it is
        not linear."""
        step = self.coefficient(atom)
        inside = step is not None and any(x is not atom and atom in x.leaves() for mono in self.terms for x in mono)
        return None if inside else step

    def content(self) -> int:
        """The greatest common divisor of the coefficients of all non-constant terms (0 if there are none)."""
        result = 0
        for mono, coef in self.terms.items():
            if mono:
                result = gcd(result, coef)
        return result

    # -- replacing and evaluating

    def subst(self, env: Mapping[Any, Poly]) -> Poly:
        """Replace atoms by polynomials, also inside quotients and opaque atoms; returns self when nothing changes."""
        if not env or not self.terms:
            return self
        atom = self.single()
        if atom is not None:  # most indices are one atom
            new = env.get(atom)
            return self if new is None and (new := atom.substitute(env)) is None else new
        changed: dict[Atom, Poly] = {}
        for atom in self.atoms():
            new = env.get(atom)
            if new is None:
                new = atom.substitute(env)
            if new is not None:
                changed[atom] = new
        if not changed:
            return self
        result = ZERO
        for mono, coef in self.terms.items():
            term = Poly({(): coef})
            for atom in mono:
                replaced = changed.get(atom)
                term = term * (poly(atom) if replaced is None else replaced)
            result = result + term
        return result

    def evaluate(self, env: Callable[[Atom], int] | Mapping[Atom, int]) -> int:
        look = env if callable(env) else env.__getitem__
        total = 0
        for mono, coef in self.terms.items():
            term = coef
            for atom in mono:
                term *= atom.value(look)
            total += term
        return total

    def __repr__(self) -> str:
        return show(self)


def _remade(terms: tuple[tuple[Monomial, int], ...]) -> Poly:
    """A polynomial from another process, where its atoms have other numbers."""
    return Poly({tuple(sorted(mono, key=_uid)): coef for mono, coef in terms})


def _quotient(num: Poly, den: Poly) -> Atom:
    return floordiv(num, den).single() or Quot(num, den)


def _times(left: Monomial, right: Monomial) -> Monomial:
    if not left:
        return right
    if not right:
        return left
    return tuple(sorted(left + right, key=_uid))


def _in_order(terms: dict[Monomial, int]) -> dict[Monomial, int]:
    """The terms in the order of their atoms, the constant last: whoever makes n + m finds the polynomial that whoever made m + n left, and walks it the same way."""
    order = sorted(terms, key=_uids_of)
    return {mono: terms[mono] for mono in order}


def _uids_of(mono: Monomial) -> tuple[bool, list[int]]:
    return not mono, list(map(_uid, mono))


ZERO = Poly({})
ONE = Poly({(): 1})


def poly(value: PolyLike) -> Poly:
    """The polynomial of an integer, an atom or a polynomial."""
    if isinstance(value, Poly):
        return value
    if isinstance(value, Atom):
        if value.itself is None:
            value.itself = Poly({(value,): 1})
        return value.itself
    if not _is_size(value):
        fail("E0213", what="a size", found=kind_of(value), help="write a whole number, or a size made of them")
    return Poly({(): int(value)} if value else {})


def _is_size(value: object) -> bool:
    return isinstance(value, (int, Poly, Atom, Integral))


@plain
def cdiv(a: PolyLike, k: PolyLike) -> Poly:
    """Ceiling division: the number of rows of k that hold a elements.

    >>> cdiv(10, 4)
    3
    """
    k = poly(k)
    return floordiv(poly(a) + k - 1, k)


def product(factors: Iterable[PolyLike]) -> Poly:
    result = ONE
    for factor in factors:
        result = result * factor
    return result


@lru_cache(maxsize=100_000)
def floordiv(num: Poly, den: Poly) -> Poly:
    """floor(num / den) for den >= 1, in a canonical form that needs no hypotheses.

    Exact terms leave the numerator, a literal denominator reduces the constant to 0..den-1 and cancels common factors, and
    nested quotients flatten: (x // m + c) // k = (x + c*m) // (m*k). Flattened and re-split indices therefore meet.
    """
    divisor = den.const()
    if divisor == 1:
        return num
    if divisor is not None:
        if divisor <= 0:
            fail("E0314", divisor=divisor)
        const = num.const()
        if const is not None:
            return poly(const // divisor)
    if num == den:
        return ONE
    if not num.terms:
        return ZERO
    whole = ZERO
    if len(den.terms) == 1:
        whole, num = _divide_terms(num, den)
        if divisor is not None:
            constant = num.constant_term()
            whole = whole + constant // divisor
            num = num - constant + constant % divisor
            common = gcd(divisor, num.content())
            if common > 1:
                reduced = Poly({mono: coef // common for mono, coef in num.terms.items() if coef // common})
                return whole + floordiv(reduced, poly(divisor // common))
        if not num.terms:
            return whole
    const = num.const()
    if const is not None and divisor is not None:
        return whole + const // divisor
    if const == -1:
        return whole - 1  # -1 // k is -1 for every k >= 1
    inner = (num - num.constant_term()).single()
    if isinstance(inner, Quot):
        return whole + floordiv(inner.num + inner.den * num.constant_term(), inner.den * den)
    return whole + _quot(num, den)


@lru_cache(maxsize=100_000)
def _quot(num: Poly, den: Poly) -> Poly:
    return poly(Quot(num, den))


def _divide_terms(num: Poly, den: Poly) -> tuple[Poly, Poly]:
    """(q, r) with num = q*den + r, moving every term that den's single monomial divides exactly."""
    ((mono_d, coef_d),) = den.terms.items()
    quotient: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for mono, coef in num.terms.items():
        left = _remove(mono, mono_d)
        if left is not None and coef % coef_d == 0 and (mono or mono_d):
            quotient[left] = quotient.get(left, 0) + coef // coef_d
        else:
            rest[mono] = coef
    return Poly(quotient), Poly(rest)


def _remove(mono: Monomial, factor: Monomial) -> Monomial | None:
    left = list(mono)
    for atom in factor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def quotients(p: Poly) -> list[Quot]:
    """Every quotient in a polynomial, also those inside others."""
    found = [atom for atom in p.atoms() if isinstance(atom, Quot)]
    return found + [inner for quot in found for part in (quot.num, quot.den) for inner in quotients(part)]


def exact_quotient(num: Poly, den: Poly) -> Poly | None:
    """num / den when den is a single term that divides every term of num."""
    if len(den.terms) != 1:
        return ONE if num == den else None
    quotient, rest = _divide_terms(num, den)
    if rest.terms:
        const, divisor = rest.const(), den.const()
        if const is None or divisor is None or const % divisor:
            return None
        quotient = quotient + const // divisor
    return quotient


# -- printing, in the user's own notation


def show(p: Poly) -> str:
    """`2*n + m - 1`, with `x % k` where a remainder can be seen."""
    if not p.terms:
        return "0"
    p, remainders = _find_remainders(p)
    pieces: list[tuple[int, str]] = []
    for mono, coef in sorted(p.terms.items(), key=_print_order):
        pieces.append((coef, "*".join(factors(mono, lambda a: _factor_atom(a, alone=len(mono) == 1 and coef == 1)))))
    pieces[0:0] = remainders
    leads = any(coef > 0 and body for coef, body in pieces)  # what is added, what is taken away, then the number
    pieces.sort(key=lambda piece: (bool(leads and not piece[1]), piece[0] < 0))
    text = ""
    for coef, body in pieces:
        size = abs(coef)
        shown = str(size) if not body else body if size == 1 else f"{size}*{body}"
        if not text:
            text = f"-{shown}" if coef < 0 else shown
        else:
            text += f" - {shown}" if coef < 0 else f" + {shown}"
    return text


def _find_remainders(p: Poly) -> tuple[Poly, list[tuple[int, str]]]:
    """Pull c*(a - k*(a // k)) out as c * `a % k`."""
    found: list[tuple[int, str]] = []
    for mono, coef in list(p.terms.items()):
        if len(mono) == 1 and isinstance(mono[0], Quot):
            quot = mono[0]
            divisor, whole = quot.den.const(), quot.num
            if divisor is None or coef % divisor:
                continue
            times = -coef // divisor
            rest = p - (whole - poly(quot) * divisor) * times
            if len(rest.terms) + len(whole.terms) <= len(p.terms) - 1 + bool(rest.terms.get(())):
                found.append((times, f"{_factor(whole)} % {divisor}"))
                p = rest
    return p, [(c, body if c == 1 else f"({body})") for c, body in found]


def _print_order(term: tuple[Monomial, int]) -> tuple[bool, int, list[str]]:
    mono, _ = term
    return (not mono, -len(mono), factors(mono, repr))


def factors(mono: Monomial, text: Callable[[Atom], str]) -> list[str]:
    """The factors of a term as they are printed: names in the order in which they were made, then quotients by their text, for one may be left from a program before."""
    return [*(text(a) for a in mono if not isinstance(a, Quot)), *sorted(text(a) for a in mono if isinstance(a, Quot))]


def terms_in_order(p: Poly, text: Callable[[Atom], str]) -> list[tuple[Monomial, int]]:
    """The terms as they stand, those with quotients behind the others by their text, the constant last."""
    return sorted(p.terms.items(), key=lambda term: (not term[0], sorted(text(a) for a in term[0] if isinstance(a, Quot))))


def _factor(p: Poly) -> str:
    text = show(p)
    return text if len(p.terms) <= 1 and "//" not in text and "%" not in text and not text.startswith("-") else f"({text})"


def _factor_atom(atom: Atom, alone: bool) -> str:
    text = repr(atom)
    return text if alone or isinstance(atom, Sym) or "//" not in text else f"({text})"
