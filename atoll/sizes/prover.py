"""What follows from what: `facts |- goal >= 0` over integer polynomials, with a proof that can be replayed.

A `Facts` is a list of hypotheses, each a polynomial known to be >= 0, outermost first. A goal is proved by eliminating its atoms,
innermost first: subtract `mult * fact` with a multiplier of known sign so that an atom cancels, until only a non-negative
combination of non-negative atoms is left. So a proof is a polynomial identity

    scale * goal'  =  sum of mult * fact  +  rem          scale > 0, every mult and rem >= 0

which a checker verifies without any search (docs/sources.md K3). `goal'` is the goal, or `cut*goal + cut - 1` (the
integer cut: goal >= 0 follows because the goal is an integer). Quotients add the two facts that define a floor. Before searching,
the goal is tried on a dozen sampled valuations that satisfy the facts: most false goals die there, and the valuation is the
counterexample the user is shown. The prover is incomplete on purpose: it has a node budget and never asks a solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from atoll.sizes.poly import ONE, ZERO, Atom, Poly, PolyLike, Quot, Sym, exact_quotient, floordiv, poly
from atoll.sizes.samples import Bounded, negative, sample

_DEPTH = 8
_NODES = 400
_FEW = 40
_LEMMAS = 100  # new lemmas one search may ask for, and the nodes of one: those that hold are found within 33
_LEMMA_NODES = 60
_TRIES = 200  # valuations tried before a long search, which costs as much as thousands
_sampling = Lock()



@dataclass(frozen=True, slots=True)
class Proof:
    """scale * (cut*goal + cut - 1, or goal) = sum(mult * fact) + rem. See the head of this module."""

    goal: Poly
    scale: Poly
    terms: tuple[tuple[Poly, Poly], ...]
    rem: Poly
    cut: Poly | None = None
    via: tuple[int, int, Proof] | None = None  # goal = k*g + r with 0 <= r < k, and a proof of g >= 0
    lemmas: tuple[Proof, ...] = ()  # proofs of facts among the terms that are no hypotheses


class Facts:
    """Hypotheses `p >= 0`, with memo tables. Made by `facts(...)` so that equal contexts share their memo."""

    __slots__ = ("known", "_memo", "_nonneg", "_by_atom", "order", "_floors", "_zeros", "_signs", "_samples", "_rest", "_lemmas", "_inside", "plan")

    def __init__(self, known: tuple[Poly, ...]) -> None:
        self.known = known
        self._memo: dict[Poly, Proof | None] = {}
        self._nonneg: dict[object, bool] = {}
        self._by_atom: dict[Atom, list[Poly]] = {}
        self.order: dict[Atom, int] = {}
        self._floors: dict[Quot, Poly | None] = {}
        self._zeros: dict[Poly, Proof | None] = {}
        self._signs: dict[object, Proof | None] = {}  # why, as first found: no proof of a sign rests on itself
        self._lemmas: dict[Poly, Proof | None] = {}
        self.plan: tuple[list[Bounded], list[Poly]] | None = None
        self._samples: list[dict[Atom, int]] = []  # those made so far
        self._rest: Iterator[dict[Atom, int]] | None = None  # where more come from
        for position, fact in enumerate(known):
            for atom in fact.atoms():
                self._by_atom.setdefault(atom, []).append(fact)
            for leaf in fact.leaves():
                self.order.setdefault(leaf, position)
        self._inside: dict[Atom, list[Quot]] = {}  # quotients the facts speak of, by what is divided
        for quot in [a for a in self._by_atom if isinstance(a, Quot)]:
            for atom in quot.num.atoms():
                self._inside.setdefault(atom, []).append(quot)

    def __repr__(self) -> str:
        return ", ".join(f"{fact} >= 0" for fact in self.known)

    def add(self, more: Iterable[Poly]) -> Facts:
        """These hypotheses and more; those that are trivially true are left out."""
        new = dict.fromkeys(p for p in more if ((c := p.const()) is None or c < 0) and p not in self.known)
        return facts(self.known + tuple(new)) if new else self

    # -- questions

    def proves(self, goal: PolyLike) -> bool:
        """True when goal >= 0 follows."""
        return self.proof(poly(goal)) is not None

    def follows(self, goal: Poly) -> bool:
        """True when goal >= 0 is seen at once: a short search, no numbers tried. For many small questions."""
        if goal not in self._memo:
            cuts = [d for d in _cuts(self, goal) if d.const() is not None and goal.const() is None]
            wanted = (goal, *(d * goal + d - 1 for d in cuts[:1]))
            self._memo[goal] = next((p for g in wanted if (p := _search(self, g, 5, lemmas=False, nodes=_FEW)) is not None), None)
        return self._memo[goal] is not None

    def proves_range(self, value: PolyLike, size: PolyLike) -> bool:
        """True when 0 <= value < size follows."""
        value, size = poly(value), poly(size)
        return self.proves(value) and self.proves(size - 1 - value)

    def proves_equal(self, a: PolyLike, b: PolyLike) -> bool:
        difference = self.simplify(poly(a) - poly(b))
        return not difference.terms or (self.proves(difference) and self.proves(-difference))

    def proof(self, goal: Poly) -> Proof | None:
        """A proof of goal >= 0, or None."""
        const = goal.const()
        if const is not None and const >= 0:
            return Proof(goal, ONE, (), goal)
        if goal not in self._memo:
            self._memo[goal] = None  # a provisional "no" stops circular sign questions
            found = _assumed(self, goal)
            if found is None and self.counterexample(goal) is None:
                found = _prove(self, goal)
            self._memo[goal] = found
        return self._memo[goal]

    def counterexample(self, goal: Poly) -> dict[Atom, int] | None:
        """A sampled valuation that satisfies every fact and makes goal negative."""
        leaves = goal.leaves()
        return next((s for s in self.samples() if leaves <= s.keys() and negative(goal, s)), None)

    def samples(self) -> Iterator[dict[Atom, int]]:
        """Valuations that satisfy the facts, each made when it is first looked at."""
        at = 0
        while True:
            if at == len(self._samples):
                with _sampling:  # contexts are shared by threads
                    if self._rest is None:
                        self._rest = iter(sample(self))
                    new = next(self._rest, None) if at == len(self._samples) else None
                    if new is not None:
                        self._samples.append(new)
                if at == len(self._samples):
                    return
            yield self._samples[at]
            at += 1

    def simplify(self, p: Poly) -> Poly:
        """p with every quotient whose value the facts determine replaced by it."""
        result = p
        for _ in range(4):
            env: dict[Atom, Poly] = {}
            for atom in result.atoms():
                if isinstance(atom, Quot):
                    num, den = self.simplify(atom.num), self.simplify(atom.den)
                    value = self._quotient(num, den)
                    if value is not None:
                        env[atom] = value
                    elif num != atom.num or den != atom.den:
                        env[atom] = floordiv(num, den)
            if not env:
                return result
            result = result.subst(env)
        return result

    def _quotient(self, num: Poly, den: Poly) -> Poly | None:
        candidates = [ZERO] + ([poly(-1)] if num.constant_term() < 0 else [])
        if len(den.terms) > 1:
            candidates[0:0] = [poly(a) for a in num.atoms() if num.coefficient(a) == den]
        for guess in candidates:
            rest = num - guess * den
            if self.proves(rest) and self.proves(den - 1 - rest):
                return guess
            if guess.const() is None:
                return guess + floordiv(rest, den)
        return None

    # -- signs

    def is_nonneg(self, atom: Atom) -> bool:
        if atom not in self._nonneg:
            self._nonneg[atom] = False
            if poly(atom) in self.known:
                self._nonneg[atom] = True
            else:
                if isinstance(atom, Quot):
                    self._signs[atom] = self._plausible(atom.num) if self.is_positive(atom.den) else None
                else:
                    self._signs[atom] = _search(self, poly(atom), 5, use_signs=False)
                self._nonneg[atom] = self._signs[atom] is not None
        return self._nonneg[atom]

    def is_positive(self, p: Poly) -> bool:
        const = p.const()
        if const is not None:
            return const > 0
        if p - 1 in self.known:
            return True
        key = ("positive", p)
        if key not in self._nonneg:
            self._nonneg[key] = False
            self._signs[key] = _positive(self, p)
            self._nonneg[key] = self._signs[key] is not None
        return self._nonneg[key]

    def sign(self, p: Poly) -> int:
        """+1 if p is a non-negative combination of non-negative atoms, -1 if -p is, else 0."""
        const = p.const()
        if const is not None:
            return (const > 0) - (const < 0)
        positive = all(c > 0 for c in p.terms.values())
        if not positive and not all(c < 0 for c in p.terms.values()):
            return 0
        if all(self.is_nonneg(a) for a in p.atoms()):
            return 1 if positive else -1
        return 0

    def floor_bound(self, quot: Quot) -> Poly | None:
        """quot - c >= 0 for c in (2, 1) when num - c*den >= 0: constants reduced by `floordiv` hide such bounds."""
        if quot not in self._floors:
            self._floors[quot] = None
            for c in (2, 1):
                found = self._plausible(quot.num - quot.den * c)
                if found is not None:
                    self._signs[("floor", quot, c)] = found
                    self._floors[quot] = poly(quot) - c
                    break
        return self._floors[quot]

    def zero_bound(self, quot: Quot) -> Poly | None:
        """-quot >= 0 when num < den, for a divisor that is no number (for numbers the integer cut finds it)."""
        goal = -poly(quot)
        if goal not in self._zeros:
            self._zeros[goal] = None
            small = None if quot.den.const() is not None else _search(self, quot.den - 1 - quot.num, 6, lemmas=False)
            if small is not None:  # den*(-q) + den - 1 = (num - den*q) + (den - 1 - num)
                terms = ((small.scale, quotient_facts(quot)[0]), *small.terms)
                self._zeros[goal] = Proof(goal, small.scale, terms, small.rem, cut=quot.den, lemmas=small.lemmas)
        return None if self._zeros[goal] is None else goal

    def _plausible(self, goal: Poly) -> Proof | None:
        """A proof of goal >= 0, searched for only if no sample breaks it."""
        return None if self.counterexample(goal) is not None else _search(self, goal, 6)

    # -- the proofs behind signs, for certificates

    def nonneg_proof(self, atom: Atom) -> Proof | None:
        """Why an atom is >= 0: a proof of that, or for a quotient of its numerator being >= 0; None when it is a hypothesis."""
        return None if poly(atom) in self.known or not self.is_nonneg(atom) else self._signs[atom]

    def positive_proof(self, p: Poly) -> Proof | None:
        """Why p >= 1: a proof of p - 1 >= 0."""
        if p - 1 in self.known:
            return Proof(p - 1, ONE, ((ONE, p - 1),), ZERO)
        return self._signs[("positive", p)] if self.is_positive(p) else None

    def floor_proof(self, quot: Quot, c: int) -> Proof | None:
        """Why quot >= c: a proof of num - c*den >= 0."""
        key = ("floor", quot, c)
        return self._signs[key] if key in self._signs else _search(self, quot.num - quot.den * c, 6)


def refute(ctx: Facts, goal: Poly, tries: int = 400) -> dict[Atom, int] | None:
    """A valuation of the unknowns that satisfies the facts and makes goal negative, looked for harder than the prover does."""
    known = ctx.counterexample(goal)
    if known is not None:
        return known
    wider = ctx.add(p for leaf in goal.leaves() if leaf not in ctx.order for p in (poly(leaf) + 10**6,))
    for found in sample(wider, seed=11, tries=tries, want=tries):
        if goal.leaves() <= found.keys() and negative(goal, found):
            return found
    return None


@lru_cache(maxsize=20_000)
def facts(known: tuple[Poly, ...] = ()) -> Facts:
    """The context with these hypotheses; equal lists give the same object and so share proofs."""
    return Facts(known)


def _assumed(ctx: Facts, goal: Poly) -> Proof | None:
    """The goal is a hypothesis plus a constant, or what defines a quotient in it: an index that is wrapped is within its size."""
    for fact in ctx.known:
        if fact is goal:
            return Proof(goal, ONE, ((ONE, fact),), ZERO)
        if abs(len(fact.terms) - len(goal.terms)) <= 1:
            const = (goal - fact).const()
            if const is not None and const >= 0:
                return Proof(goal, ONE, ((ONE, fact),), poly(const))
    for atom in goal.atoms():
        if isinstance(atom, Quot):
            for fact in quotient_facts(atom):
                const = (goal - fact).const()
                if const is not None and const >= 0 and ctx.is_positive(atom.den):
                    return Proof(goal, ONE, ((ONE, fact),), poly(const))
    return None


def _prove(ctx: Facts, goal: Poly) -> Proof | None:
    common = goal.content()
    if common > 1:  # goal = common*g + r: prove g >= 0
        whole, rest = divmod(goal.constant_term(), common)
        reduced = Poly({mono: coef // common for mono, coef in goal.terms.items() if mono}) + whole
        inner = ctx.proof(reduced)
        return inner and Proof(goal, ONE, (), ZERO, via=(common, rest, inner))
    if any(fact.const() is not None for fact in ctx.known):  # only a negative one is kept: nothing runs here, so nothing is worth a long search
        return _search(ctx, goal, 4, lemmas=False, nodes=_FEW)
    direct = _search(ctx, goal, _DEPTH, nodes=_FEW)
    if direct is not None:
        return direct
    if goal.leaves() <= ctx.order.keys():  # before searching long, look for numbers that break it
        for numbers in sample(ctx, seed=5, tries=_TRIES, want=12, against=goal):
            if negative(goal, numbers):
                return None
    direct = _search(ctx, goal, _DEPTH)
    if direct is not None:
        return direct
    for divisor in _cuts(ctx, goal)[:4]:
        if ctx.is_positive(divisor):
            found = _search(ctx, divisor * goal + divisor - 1, _DEPTH)
            if found is not None:
                return Proof(goal, found.scale, found.terms, found.rem, cut=divisor, lemmas=found.lemmas)
    return None


def _cuts(ctx: Facts, goal: Poly) -> list[Poly]:
    """Divisors in sight of the goal, for the integer cut."""
    found: dict[Poly, None] = {}
    for atom in goal.atoms():
        if isinstance(atom, Quot):
            found[atom.den] = None
    for atom in goal.atoms():
        for fact in ctx._by_atom.get(atom, ()):
            coef = fact.coefficient(atom)
            if coef is not None and coef.terms:
                found[coef if all(c > 0 for c in coef.terms.values()) else -coef] = None
            for other in fact.atoms():
                if isinstance(other, Quot):
                    found[other.den] = None
    return [p for p in found if p.const() != 1]


def _search(ctx: Facts, goal: Poly, depth: int, use_signs: bool = True, lemmas: bool = True, nodes: int = 0) -> Proof | None:
    """Depth-first elimination of the goal's atoms, innermost first, within a node budget."""
    seen: set[Poly] = set()
    budget = nodes or _NODES
    allowed = _LEMMAS if lemmas else 0  # were there one at every node, a search would cost the square of its nodes

    def go(g: Poly, scale: Poly, terms: tuple[tuple[Poly, Poly], ...], left: int) -> Proof | None:
        nonlocal budget, allowed
        if budget <= 0 or g in seen:
            return None
        budget -= 1
        seen.add(g)
        const = g.const()
        if const is not None:
            return Proof(goal, scale, terms, g, lemmas=_used(ctx, terms)) if const >= 0 else None
        if use_signs and all(c > 0 for c in g.terms.values()) and all(ctx.is_nonneg(a) for a in g.atoms()):
            return Proof(goal, scale, terms, g, lemmas=_used(ctx, terms))
        if left == 0:
            return None
        if allowed > 0 and left < depth:
            had = len(ctx._lemmas)
            lemma = _divided(ctx, g)
            allowed -= len(ctx._lemmas) - had
            if lemma is not None:
                common, more, inner = lemma
                return Proof(goal, scale, (*terms, (poly(common), inner.goal)), poly(more), lemmas=(inner, *_used(ctx, terms)))
        for atom in sorted(g.atoms(), key=lambda a: (-ctx.order.get(a, -1), isinstance(a, Quot), a.uid)):
            coef = g.coefficient(atom)
            if coef is None or not coef.terms:
                continue
            ways: list[tuple[int, Poly, Poly, Poly, Poly]] = []
            for fact in _candidates(ctx, atom):
                step = _cancel(ctx, coef, fact.coefficient(atom))
                if step is not None:
                    mult, factor = step
                    rest = (g if factor is ONE else factor * g) - mult * fact
                    ways.append((len(rest.terms), rest, mult, fact, factor))
            ways.sort(key=_fewest)
            for _, rest, mult, fact, factor in ways:
                before = terms if factor is ONE else tuple((m * factor, f) for m, f in terms)
                result = go(rest, scale * factor, (*before, (mult, fact)), left - 1)
                if result is not None:
                    return result
        return None

    if goal in ctx.known:
        return Proof(goal, ONE, ((ONE, goal),), ZERO)
    return go(goal, ONE, (), depth)


def _positive(ctx: Facts, p: Poly) -> Proof | None:
    """A proof of p - 1 >= 0. Where a hypothesis speaks of a product d*p, that d*p >= 1 and d >= 0 suffices: the integer cut by d."""
    found = _search(ctx, p - 1, 5)
    if found is not None or len(p.terms) != 1:
        return found
    (own, coef), *_ = p.terms.items()
    if coef != 1 or not own:
        return None
    tried: set[Poly] = set()
    for fact in ctx.known:
        for mono, factor in fact.terms.items():
            rest = list(mono)
            if factor <= 0 or len(mono) <= len(own) or any(rest.count(a) < own.count(a) for a in own):
                continue
            for a in own:
                rest.remove(a)
            d = poly(1)
            for a in rest:
                d = d * a
            if d in tried or ctx.sign(d) <= 0:
                continue
            tried.add(d)
            cut = _search(ctx, d * p - 1, 5, lemmas=False)
            if cut is not None:
                return Proof(p - 1, cut.scale, cut.terms, cut.rem, cut=d, lemmas=cut.lemmas)
    return None


def _divided(ctx: Facts, g: Poly) -> tuple[int, int, Proof] | None:
    """(k, r, proof of h) with g = k*h + r, 0 <= r < k: quotients are integers, so dividing by what all terms share loses nothing.

    Asked only when nothing but quotients and what they are quotients of is left, and proved by one integer cut.
    """
    common = g.content()
    quotients = [a for a in g.atoms() if isinstance(a, Quot)]
    if common <= 1 or not quotients:
        return None
    inside = frozenset().union(*(q.leaves() for q in quotients))
    if any(not isinstance(a, Quot) and a not in inside for a in g.atoms()):
        return None
    whole, rest = divmod(g.constant_term(), common)
    reduced = Poly({mono: coef // common for mono, coef in g.terms.items() if mono}) + whole
    if reduced not in ctx._lemmas:
        ctx._lemmas[reduced] = None
        if ctx.counterexample(reduced) is None:
            for divisor in dict.fromkeys(q.den for q in quotients):
                if ctx.is_positive(divisor):
                    found = _search(ctx, divisor * reduced + divisor - 1, 5, lemmas=False, nodes=_LEMMA_NODES)
                    if found is not None:
                        ctx._lemmas[reduced] = Proof(reduced, found.scale, found.terms, found.rem, cut=divisor, lemmas=found.lemmas)
                        break
    inner = ctx._lemmas[reduced]
    return None if inner is None else (common, rest, inner)


def _used(ctx: Facts, terms: tuple[tuple[Poly, Poly], ...]) -> tuple[Proof, ...]:
    """The proofs of terms that say a quotient is not positive."""
    return tuple(lemma for _, fact in terms if (lemma := ctx._zeros.get(fact)) is not None)


def _fewest(way: tuple[int, Poly, Poly, Poly, Poly]) -> int:
    return way[0]


def _candidates(ctx: Facts, atom: Atom) -> list[Poly]:
    """Facts an atom can be eliminated with."""
    found = list(ctx._by_atom.get(atom, ()))
    if isinstance(atom, Quot) and ctx.is_positive(atom.den):
        bound = ctx.floor_bound(atom)
        if bound is not None:
            found.append(bound)
        upper = ctx.zero_bound(atom)
        if upper is not None:
            found.append(upper)
        found += quotient_facts(atom)
    for quot in ctx._inside.get(atom, ()):
        if ctx.is_positive(quot.den):
            found += quotient_facts(quot)
    return found


def quotient_facts(quot: Quot) -> tuple[Poly, Poly]:
    """num - den*q >= 0 and den*q + den - 1 - num >= 0."""
    scaled = quot.den * quot
    return quot.num - scaled, scaled + quot.den - 1 - quot.num


def _cancel(ctx: Facts, wanted: Poly, offered: Poly | None) -> tuple[Poly, Poly] | None:
    """(mult, factor) with factor*wanted = mult*offered, mult >= 0 and factor > 0."""
    if offered is None or not offered.terms:
        return None
    exact = exact_quotient(wanted, offered)
    if exact is not None:
        return (exact, ONE) if ctx.sign(exact) > 0 else None
    sign = ctx.sign(offered)
    if sign == 0 or ctx.sign(wanted) != sign or not ctx.is_positive(offered * sign):
        return None
    return wanted * sign, offered * sign


def size_atoms(p: Poly) -> list[Sym]:
    """The named unknowns of a polynomial, in a stable order."""
    return sorted((leaf for leaf in p.leaves() if isinstance(leaf, Sym)), key=lambda s: s.uid)
