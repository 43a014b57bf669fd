"""The checker's own arithmetic: polynomials over named unknowns and floor quotients, and the verification of proofs.

Standard library only. A polynomial is a sorted tuple of (monomial, coefficient), a monomial a sorted tuple of atoms. An atom is an unknown,
which is a name, or a `Quotient`, which is none: no name that a certificate can choose stands for a quotient, so nothing known of one
becomes known of the other. A proof is a polynomial identity that is multiplied out and compared; nothing is searched.

What a certificate can make the checker do is bounded: polynomials have at most TERMS terms of at most DEGREE factors, products at most
WORK, quotients at most TEXT characters; anything larger is refused.
"""

from __future__ import annotations

from math import gcd
from typing import Any

TERMS, DEGREE, WORK, TEXT, BITS = 2_000, 40, 50_000, 20_000, 256


class Rejected(Exception):
    """The certificate does not prove what it claims."""


def need(condition: object, *what: object) -> None:
    if not condition:
        raise Rejected(" ".join(map(_short, what)))


def _short(x: object) -> str:
    """Anything in a message; what stands in a hostile certificate may be long."""
    try:
        text = str(x)
    except ValueError:  # an integer of more digits than Python prints
        return "..."
    return text if len(text) <= 200 else f"{text[:200]}..."


class Quotient:
    """floor(num / den): an atom of its own kind. Equal when numerator and denominator are the same polynomials."""

    __slots__ = ("num", "den", "text")

    def __init__(self, num: Poly, den: Poly) -> None:
        self.num, self.den = num, den
        self.text = f"[{num!r}/{den!r}]"
        need(len(self.text) <= TEXT, "a quotient that is too large")

    def __repr__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quotient) and self.text == other.text

    # any order will do as long as it is one: unknowns first
    def __lt__(self, other: Atom) -> bool:
        return isinstance(other, Quotient) and self.text < other.text

    def __gt__(self, other: Atom) -> bool:
        return not isinstance(other, Quotient) or self.text > other.text


Atom = str | Quotient
Monomial = tuple[Atom, ...]
Poly = tuple[tuple[Monomial, int], ...]


def make(terms: dict[Monomial, int]) -> Poly:
    need(len(terms) <= TERMS, "a polynomial that is too large")
    return tuple(sorted((m, c) for m, c in terms.items() if c))


def const(n: int) -> Poly:
    return (((), n),) if n else ()


ZERO, ONE = const(0), const(1)
PARAMETERS = frozenset(f"${kind}{k}" for kind in "jp" for k in range(40))  # of a view: the checker's rule for let_view


def var(name: Atom) -> Poly:
    return (((name,), 1),)


def add(a: Poly, b: Poly, factor: int = 1) -> Poly:
    terms = dict(a)
    for m, c in b:
        terms[m] = terms.get(m, 0) + factor * c
    return make(terms)


def sub(a: Poly, b: Poly) -> Poly:
    return add(a, b, -1)


def mul(a: Poly, b: Poly) -> Poly:
    terms: dict[Monomial, int] = {}
    need(len(a) * len(b) <= WORK, "a product that is too large")
    for m, c in a:
        for n, d in b:
            key = tuple(sorted(m + n))
            need(len(key) <= DEGREE and c.bit_length() + d.bit_length() <= BITS, "a product that is too large")
            terms[key] = terms.get(key, 0) + c * d
    return make(terms)


def value(a: Poly) -> int | None:
    """The number, when there is no unknown."""
    return 0 if not a else a[0][1] if len(a) == 1 and not a[0][0] else None


def div(a: Poly, k: Poly) -> Poly:
    """floor(a / k), k >= 1, in normal form: exact terms out, literal divisors reduced, nested quotients flattened."""
    divisor = value(k)
    need(divisor is None or divisor > 0, "division by", divisor)
    if divisor == 1:
        return a
    if divisor is not None and value(a) is not None:
        return const(value(a) // divisor)  # type: ignore[operator]
    if a == k:
        return ONE
    whole = ZERO
    if len(k) == 1:
        ((km, kc),) = k
        quotient: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for m, c in a:
            left = _without(m, km)
            if left is not None and c % kc == 0 and (m or km):
                quotient[left] = quotient.get(left, 0) + c // kc
            else:
                rest[m] = c
        whole, a = make(quotient), make(rest)
        if divisor is not None:
            n = dict(a).get((), 0)
            whole, a = add(whole, const(n // divisor)), add(a, const(n % divisor - n))
            shared = gcd(divisor, *(c for m, c in a if m))
            if shared > 1:
                return add(whole, div(make({m: c // shared for m, c in a}), const(divisor // shared)))
        if not a:
            return whole
    n2 = value(a)
    if n2 is not None and divisor is not None:
        return add(whole, const(n2 // divisor))
    if n2 == -1:
        return add(whole, const(-1))
    unknown = [(m, c) for m, c in a if m]
    if len(unknown) == 1 and unknown[0][1] == 1 and len(unknown[0][0]) == 1 and isinstance(nested := unknown[0][0][0], Quotient):
        return add(whole, div(add(nested.num, mul(nested.den, const(dict(a).get((), 0)))), mul(nested.den, k)))
    return add(whole, var(Quotient(a, k)))


def _without(m: Monomial, factor: Monomial) -> Monomial | None:
    left = list(m)
    for x in factor:
        if x not in left:
            return None
        left.remove(x)
    return tuple(left)


def mod(a: Poly, k: Poly) -> Poly:
    return sub(a, mul(k, div(a, k)))


def ceil(a: Poly, k: Poly) -> Poly:
    return div(sub(add(a, k), ONE), k)


def subst(a: Poly, env: dict[str, Poly]) -> Poly:
    if not env:
        return a
    total = ZERO
    for m, c in a:
        term = const(c)
        for x in m:
            if isinstance(x, Quotient):
                term = mul(term, div(subst(x.num, env), subst(x.den, env)))
            else:
                term = mul(term, env[x] if x in env else var(x))
        total = add(total, term)
    return total


def free(a: Poly) -> set[str]:
    """Unknowns, also inside quotients."""
    found: set[str] = set()
    for m, _ in a:
        for x in m:
            found |= free(x.num) | free(x.den) if isinstance(x, Quotient) else {x}
    return found


def text_of(a: Poly) -> str:
    """For people."""

    def atom(x: Atom) -> str:
        return f"floor(({text_of(x.num)}) / ({text_of(x.den)}))" if isinstance(x, Quotient) else x

    found = ""
    for m, c in reversed(a):
        factors = ([] if m and abs(c) == 1 else [str(abs(c))]) + [atom(x) for x in m]
        sign = ("-" if c < 0 else "") if not found else " - " if c < 0 else " + "
        found += sign + "*".join(factors)
    return found or "0"


def divisors(a: Poly) -> set[Poly]:
    found: set[Poly] = set()
    for m, _ in a:
        for x in m:
            if isinstance(x, Quotient):
                found |= {x.den} | divisors(x.num) | divisors(x.den)
    return found


def unknown(x: object) -> str:
    """A name that a certificate may use. Those with % are the checker's own, $ stands for the parameters of a view."""
    need(isinstance(x, str) and 0 < len(x) <= 200 and x.isprintable() and not set(x) & set("[]%$"), "not a name:", repr(x))
    return str(x)


class Tables:
    """The tables of a certificate, decoded as they are needed."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self._polys: dict[int, Poly] = {}
        self._open: set[int] = set()

    def poly(self, k: int) -> Poly:
        need(type(k) is int and 0 <= k < len(self.data["P"]), "no polynomial", k)
        if k not in self._polys:
            need(k not in self._open, "a polynomial that contains itself")
            self._open.add(k)
            total = ZERO
            for coef, *atoms in self.data["P"][k]:
                need(type(coef) is int and coef.bit_length() <= BITS, "no coefficient", coef)
                term = const(coef)
                for x in atoms:
                    term = mul(term, self.atom(x))
                total = add(total, term)
            self._polys[k] = total
            self._open.remove(k)
        return self._polys[k]

    def atom(self, x: str | int) -> Poly:
        if isinstance(x, str):
            return var(x if x in PARAMETERS else unknown(x))
        need(type(x) is int and 0 <= x < len(self.data["Q"]), "no quotient", x)
        num, den = (self.poly(k) for k in self.data["Q"][x])
        made = div(num, den)
        need(value(den) is not None or den in divisors(made), "a divisor that is divided out, and may be zero")
        return made

    def polys(self, ks: list[int]) -> tuple[Poly, ...]:
        return tuple(self.poly(k) for k in ks)


class Facts:
    """Hypotheses, each >= 0."""

    __slots__ = ("known", "members", "_bases")

    def __init__(self, known: tuple[Poly, ...]) -> None:
        self.known = known
        self.members = frozenset(known)
        self._bases: dict[Poly, int] | None = None

    def add(self, *more: Poly) -> Facts:
        new = tuple(p for p in more if p not in self.members)
        return Facts(self.known + new) if new else self

    def nearly(self, goal: Poly) -> bool:
        """goal is a hypothesis plus a constant."""
        if self._bases is None:
            self._bases = {}
            for p in self.known:
                base, c = _split(p)
                self._bases[base] = min(c, self._bases.get(base, c))
        base, c = _split(goal)
        return base in self._bases and self._bases[base] <= c


def _split(p: Poly) -> tuple[Poly, int]:
    c = dict(p).get((), 0)
    return add(p, const(-c)), c


class Proofs:
    """The table of proofs: which goals are proved, from which hypotheses."""

    def __init__(self, tables: Tables, trust: bool) -> None:
        self.t, self.rows, self.trust = tables, tables.data["H"], trust
        self.by_goal: dict[Poly, list[int]] = {}
        for k, row in enumerate(self.rows):
            self.by_goal.setdefault(tables.poly(row["g"]), []).append(k)
        self._done: dict[tuple[int, tuple[Poly, ...]], bool] = {}
        self.accepted: list[tuple[int, tuple[Poly, ...]]] = []  # rows and their hypotheses, lemmas before what cites them
        self.noted: list[tuple[int, tuple[Poly, ...]]] = []  # rows that were looked up, and the hypotheses they were wanted from
        self.used = self.trusted = 0

    def holds(self, facts: Facts, goal: Poly) -> bool:
        n = value(goal)
        if n is not None:
            return n >= 0
        if goal in facts.members or facts.nearly(goal):
            return True
        for k in self.by_goal.get(goal, ()):
            if self.valid(k, facts):
                self.noted.append((k, facts.known))
                return True
        return False

    def equal(self, facts: Facts, a: Poly, b: Poly) -> bool:
        return a == b or (self.holds(facts, sub(a, b)) and self.holds(facts, sub(b, a)))

    def valid(self, k: int, facts: Facts) -> bool:
        key = (k, facts.known)
        if key not in self._done:
            self._done[key] = False  # a proof that cites itself is none
            try:
                self._check(self.rows[k], facts)
                self._done[key] = True
                self.accepted.append(key)
                self.used += 1
            except Rejected:
                pass
        return self._done[key]

    def goal(self, k: int) -> Poly:
        return self.t.poly(self.rows[k]["g"])

    def _lemma(self, k: int, facts: Facts, goal: Poly) -> None:
        need(self.goal(k) == goal and self.valid(k, facts), "a lemma does not fit")

    def _check(self, row: dict[str, Any], facts: Facts) -> None:
        goal = self.t.poly(row["g"])
        if "trusted" in row:
            need(self.trust and set(self.t.polys(row["from"])) <= facts.members, "settled by a solver")
            self.trusted += 1
            return
        if "v" in row:
            k, r, inner = row["v"]
            need(isinstance(k, int) and k > 0 and isinstance(r, int) and r >= 0)
            need(add(mul(const(k), self.goal(inner)), const(r)) == goal and self.valid(inner, facts))
            return
        positive = {self.t.poly(p): why for p, why in row["p"]}
        signs = {x: why for x, why in ((self.t.atom(a), why) for a, why in row["n"])}

        def is_positive(p: Poly) -> None:
            n = value(p)
            if n is not None:
                return need(n > 0)
            need(p in positive, "no sign of", p)
            self._lemma(positive[p], facts, sub(p, ONE))

        def nonneg(p: Poly) -> None:
            """Positive coefficients over atoms that are >= 0."""
            for m, c in p:
                need(c > 0, "a negative multiplier")
                for x in m:
                    if var(x) in facts.members:
                        continue
                    need(var(x) in signs and signs[var(x)] is not None, "no sign of", x)
                    wanted = var(x)
                    if isinstance(x, Quotient):
                        is_positive(x.den)
                        wanted = x.num
                    self._lemma(signs[var(x)], facts, wanted)

        scale, total = self.t.poly(row["s"]), self.t.poly(row["r"])
        nonneg(total)
        nonneg(scale)
        need(any(all(var(x) in positive for x in m) for m, _ in scale), "the scale may be zero")
        for m, _ in scale:
            if all(var(x) in positive for x in m):
                for x in m:
                    is_positive(var(x))
                break
        for mult, kind, *rest in row["t"]:
            multiplier = self.t.poly(mult)
            nonneg(multiplier)
            if kind == "h":
                fact = self.t.poly(rest[0])
                need(fact in facts.members, "no hypothesis", fact)
            elif kind == "l":
                fact = self.goal(rest[0])
                need(self.valid(rest[0], facts), "a lemma does not hold")
            else:
                quotient = self.t.atom(rest[0])
                need(len(quotient) == 1 and quotient[0][1] == 1 and len(quotient[0][0]) == 1, "no quotient")
                atom = quotient[0][0][0]
                need(isinstance(atom, Quotient), "no quotient")
                assert isinstance(atom, Quotient)
                num, den = atom.num, atom.den
                is_positive(den)
                if kind == "q":
                    scaled = mul(den, quotient)
                    fact = sub(num, scaled) if rest[1] == 0 else sub(sub(add(scaled, den), ONE), num)
                else:
                    need(kind == "f" and isinstance(rest[1], int))
                    fact = sub(quotient, const(rest[1]))
                    self._lemma(rest[2], facts, sub(num, mul(const(rest[1]), den)))
            total = add(total, mul(multiplier, fact))
        if row["c"] is not None:
            cut = self.t.poly(row["c"])
            if cut in positive or value(cut) is not None:
                is_positive(cut)
            else:
                nonneg(cut)  # it is not 0, for then the identity would say -1 >= 0
            goal = sub(add(mul(cut, goal), cut), ONE)
        need(mul(scale, goal) == total, "the identity does not hold")
