"""Terms, loops and proofs as JSON data, in tables, so that what is shared is written once.

    P   polynomials: [[coefficient, atom, ...], ...]; an atom is a name or the number of a quotient
    Q   quotients: [numerator, denominator], numbers of polynomials
    T   terms: [kind, ...], inside them numbers of polynomials and terms by position
    H   proofs: see `Encoder.proof`

Names of unknowns and arrays are made unique here (y_o#3), so that a reader needs no identities.
"""

from __future__ import annotations

import math
from typing import Any

from atoll.schedule import term as tm
from atoll.schedule.arith import Answer, Trusted
from atoll.sizes import Atom, Poly, Quot, Sym, poly
from atoll.sizes.prover import Facts, Proof, quotient_facts
from atoll.types.dtypes import BOOL, DType

Data = Any


class Unprovable(Exception):
    """A proof that cannot be written down."""


class Encoder:
    def __init__(self, sizes: dict[Atom, str]) -> None:
        self.polys: list[Data] = []
        self.quots: list[Data] = []
        self.terms: list[Data] = []
        self.proofs: list[Data] = []
        self.names: dict[Any, str] = dict(sizes)
        self._poly: dict[Poly, int] = {}
        self._quot: dict[Quot, int] = {}
        self._term: dict[int, int] = {}
        self._seen: dict[str, int] = {}
        self._alive: list[Any] = []
        self._proof: dict[tuple[int, Poly, str], int] = {}
        self._text: dict[str, int] = {}

    # -- names, polynomials

    def name(self, x: Any) -> str:
        """The name of an unknown or array, unique in this certificate."""
        if x not in self.names:
            base = str(x.name if isinstance(x, (Sym, tm.Tensor)) else x)
            count = self._seen.get(base, 0)
            self._seen[base] = count + 1
            self.names[x] = f"{base}#{count}"
        return self.names[x]

    def poly(self, p: Poly) -> int:
        if p not in self._poly:
            terms = [[coef, *(self.atom(a) for a in mono)] for mono, coef in p.terms.items()]
            self.polys.append(sorted(terms, key=repr))
            self._poly[p] = len(self.polys) - 1
        return self._poly[p]

    def atom(self, a: Atom) -> str | int:
        if not isinstance(a, Quot):
            return self.name(a)
        if a not in self._quot:
            pair = [self.poly(a.num), self.poly(a.den)]
            self.quots.append(pair)
            self._quot[a] = len(self.quots) - 1
        return self._quot[a]

    def many(self, ps: Any) -> list[int]:
        return [self.poly(p) for p in ps]

    # -- terms

    def term(self, t: tm.Term) -> int:
        key = id(t)
        if key not in self._term:
            self._alive.append(t)
            data = self._encode(t)
            text = repr(data)
            if text not in self._text:
                self.terms.append(data)
                self._text[text] = len(self.terms) - 1
            self._term[key] = self._text[text]
        return self._term[key]

    def _encode(self, t: tm.Term) -> Data:
        match t:
            case tm.Gen():
                return ["gen", self.name(t.sym), self.poly(t.low), self.poly(t.high), self.term(t.body)]
            case tm.Sum():
                return ["sum", self.name(t.sym), self.poly(t.low), self.poly(t.high), self.term(t.body), t.monoid]
            case tm.Guard():
                return ["guard", self.many(t.conds), self.term(t.body)]
            case tm.Let():
                rolled = None if t.rolled is None else [self.poly(t.rolled[0]), t.rolled[1]]
                return ["let", self.name(t.name), self.term(t.bound), self.term(t.body), rolled]
            case tm.Nest():
                names = [[self.name(x), x.dtype.name] for x in t.names]
                shapes = [self.many(s) for s in t.shapes]
                return ["nest", names, shapes, t.routine.digest, [self.name(x) for x in t.args], self.term(t.body), self.many(t.facts), t.rows, self.many(t.at)]
            case tm.Cat():
                return ["cat", t.axis, self.term(t.left), self.term(t.right)]
            case tm.Plus():
                return ["plus", self.term(t.left), self.term(t.right), t.monoid]
            case tm.Reshape():
                return ["view", t.op, t.axis, None if t.amount is None else self.poly(t.amount), self.term(t.body)]
            case tm.Zero():
                return ["zero", self.many(t.shape), t.dtype.name]
            case tm.Many():
                return ["many", [self.term(x) for x in t.items]]
            case tm.Get():
                return ["get", self.name(t.name), self.many(t.index)]
            case tm.Look():
                return ["look", self.name(t.name), [self.term(k) for k in t.index]]
            case tm.Lit():
                return ["lit", number(t.value, t.dtype), t.dtype.name]
            case tm.Index():
                return ["index", self.poly(t.poly)]
            case tm.Op():
                return ["op", t.name, [self.term(x) for x in t.args], t.dtype.name]
            case tm.Cast():
                return ["cast", self.term(t.arg), t.dtype.name]
            case tm.Choose():
                tests = [[x.kind, None if x.poly is None else self.poly(x.poly), None if x.term is None else self.term(x.term)] for x in t.tests]
                return ["choose", self.term(t.then), self.term(t.orelse), tests]
        raise AssertionError(t)

    def argument(self, x: Any) -> Data:
        """An argument of a rule."""
        if isinstance(x, Poly):
            return {"p": self.poly(x)}
        if isinstance(x, tm.Tensor):
            return {"x": self.name(x)}
        if isinstance(x, (tuple, list)):
            return [self.argument(y) for y in x]
        return x

    # -- proofs

    def claim(self, facts: Facts, goal: Poly, why: Answer) -> None:
        """Enter a proof into the table, unless a reader sees it without one."""
        if isinstance(why, Trusted):
            self.proofs.append({"g": self.poly(goal), "trusted": why.by, "from": self.many(facts.known)})
            return
        if obvious(facts, goal):
            return
        self.proof(facts, why)

    def proof(self, facts: Facts, proof: Proof) -> int:
        """The number of a proof: scale * goal' = sum of multiplier * fact + rest, with why signs are what they are.

        {"g": goal, "s": scale, "t": [[multiplier, "h", fact] | [multiplier, "q", quotient, side] | [multiplier, "f", quotient, c, proof] |
        [multiplier, "l", proof]], "r": rest, "c": cut, "n": [[atom, proof or null]], "p": [[divisor, proof]]}, or {"g", "v": [k, r, proof]}
        """
        key = (id(facts), proof.goal, repr(proof.cut) + repr(proof.via is None))
        if key in self._proof:
            return self._proof[key]
        self._alive.append(facts)
        if proof.via is not None:
            k, r, inner = proof.via
            data: Data = {"g": self.poly(proof.goal), "v": [k, r, self.sub(facts, inner)]}
        else:
            data = self._combination(facts, proof)
        text = repr(data)
        if text not in self._text:
            self.proofs.append(data)
            self._text[text] = len(self.proofs) - 1
        self._proof[key] = self._text[text]
        return self._text[text]

    def sub(self, facts: Facts, proof: Proof | None) -> int:
        if proof is None:
            raise Unprovable("a sign has no proof")
        return self.proof(facts, proof)

    def _combination(self, facts: Facts, proof: Proof) -> Data:
        signs: dict[Atom, int | None] = {}
        divisors: dict[Poly, int] = {}

        def positive(p: Poly) -> None:
            if p.const() is None and p not in divisors:
                divisors[p] = self.sub(facts, facts.positive_proof(p))

        def nonneg(p: Poly) -> None:
            for a in p.atoms():
                if a in signs:
                    continue
                why = facts.nonneg_proof(a)
                if isinstance(a, Quot):
                    positive(a.den)
                signs[a] = None if poly(a) in facts.known else self.sub(facts, why)

        terms: list[Data] = []
        lemmas = {lemma.goal: lemma for lemma in proof.lemmas}
        for mult, fact in proof.terms:
            nonneg(mult)
            terms.append([self.poly(mult), *self._fact(facts, fact, lemmas, positive)])
        nonneg(proof.rem)
        nonneg(proof.scale)
        for a in proof.scale.atoms():
            if facts.is_positive(poly(a)):
                positive(poly(a))
        if proof.cut is not None:
            if facts.sign(proof.cut) > 0:  # that it is not 0 is seen by the reader
                nonneg(proof.cut)
            else:
                positive(proof.cut)
        return {
            "g": self.poly(proof.goal),
            "s": self.poly(proof.scale),
            "t": terms,
            "r": self.poly(proof.rem),
            "c": None if proof.cut is None else self.poly(proof.cut),
            "n": [[self.atom(a), why] for a, why in signs.items()],
            "p": [[self.poly(p), why] for p, why in divisors.items()],
        }

    def _fact(self, facts: Facts, fact: Poly, lemmas: dict[Poly, Proof], positive: Any) -> list[Data]:
        if fact in facts.known:
            return ["h", self.poly(fact)]
        if fact in lemmas:
            return ["l", self.proof(facts, lemmas[fact])]
        for a in fact.atoms():
            if not isinstance(a, Quot):
                continue
            sides = quotient_facts(a)
            if fact in sides:
                positive(a.den)
                return ["q", self.atom(a), sides.index(fact)]
            c = (poly(a) - fact).const()
            if c is not None:
                positive(a.den)
                return ["f", self.atom(a), c, self.sub(facts, facts.floor_proof(a, c))]
        raise Unprovable(f"{fact} >= 0 is no hypothesis")

    def tables(self) -> Data:
        return {"P": self.polys, "Q": self.quots, "T": self.terms, "H": self.proofs}


def obvious(facts: Facts, goal: Poly) -> bool:
    """A constant, or a hypothesis plus a constant: a reader sees that by itself."""
    const = goal.const()
    if const is not None:
        return const >= 0
    return any((d := (goal - fact).const()) is not None and d >= 0 for fact in facts.known)


def number(value: Any, d: DType) -> Data:
    """A constant of a type, exactly."""
    if d is BOOL:
        return bool(value)
    if d.is_integer:
        return int(value)
    if d.is_complex:
        z = complex(value)
        return {"c": [number(z.real, d.part()), number(z.imag, d.part())]}
    x = float(value)
    return {"f": x.hex() if math.isfinite(x) else repr(x)}
