"""What is known about integers where code is being translated: facts for the prover, ranges, and what may be compared.

Facts come from indices (0 <= i < n), sizes, bounds of lines, requirements of the function, and the conditions on the path. Questions that no
condition bears on are asked about the same indices in every loop of one size, so that a proof is found once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from atoll.ainf import ir
from atoll.sizes import Atom, Poly, Quot, poly
from atoll.sizes.prover import Facts, facts


class Given:
    """A condition that holds where code is being translated. `lazy` ones guard a branch; the others were checked before.

    A condition that has no form of its own (not all of several) is made into a bool only when a line needs it.
    """

    __slots__ = ("block", "lazy", "facts", "_cond")

    def __init__(self, cond: ir.Cond | Callable[[], ir.Cond], block: ir.Block, lazy: bool) -> None:
        self._cond = cond
        self.block, self.lazy = block, lazy
        self.facts: tuple[Poly, ...] = cond.facts() if isinstance(cond, ir.Cond) else ()

    @property
    def cond(self) -> ir.Cond:
        if not isinstance(self._cond, ir.Cond):
            self._cond = self._cond()
        return self._cond

    @property
    def made(self) -> ir.Cond | None:
        """The condition, unless no line needed it yet."""
        return self._cond if isinstance(self._cond, ir.Cond) else None


class Known:
    path: list[Given]
    known: list[Poly]  # requirements and asserts that hold from here on
    sizes: set[Atom]
    index_facts: dict[Atom, tuple[Poly, ...]]
    _usual: dict[tuple[int, Poly], ir.Binder]
    _signs: dict[Poly, int]
    _quotients: dict[Quot, Poly]

    def context(self, goals: Iterable[Poly], path: bool = True) -> Facts:
        """Everything known that could matter for these polynomials."""
        general = self.known + ([fact for given in self.path for fact in given.facts or self.apart(given)] if path else [])
        seen = self.related(goals, general)
        found = dict.fromkeys(fact for atom in sorted(seen, key=lambda atom: atom.uid) for fact in self.atom_facts(atom))
        found.update(dict.fromkeys(fact for fact in general if not seen.isdisjoint(fact.leaves())))
        return facts().add(found)

    def apart(self, given: Given) -> tuple[Poly, ...]:
        """What follows from a condition that something is not 0: i != 0 where i >= 0 is i >= 1."""
        p = given.made.poly if given.made is not None and given.made.kind == "ne" else None
        if p is None or not self.trusted(p):
            return ()
        usual = self.canonical((p,))[0]
        if usual not in self._signs:
            known = self.context((usual,), path=False)
            self._signs[usual] = 1 if known.proves(usual) else -1 if known.proves(-usual) else 0
        sign = self._signs[usual]
        return (p * sign - 1,) if sign else ()

    def related(self, goals: Iterable[Poly], general: list[Poly]) -> set[Atom]:
        """The atoms of some polynomials and of what is known about these."""
        seen: set[Atom] = set()
        queue: list[Atom] = [leaf for goal in goals for leaf in goal.leaves()]
        while queue:
            atom = queue.pop()
            if atom in seen:
                continue
            seen.add(atom)
            for fact in self.atom_facts(atom):
                queue += fact.leaves()
            for fact in general:
                if atom in fact.leaves():
                    queue += fact.leaves()
        return seen

    def atom_facts(self, atom: Atom) -> list[Poly]:
        p = poly(atom)
        if isinstance(atom, ir.Binder):
            result = [p, atom.extent - 1 - p, *atom.facts]
            if len(atom.extent.terms) == 1:  # a non-empty product has no zero factor
                ((mono, coef),) = atom.extent.terms.items()
                if coef > 0 and len(mono) > 1:
                    result += [poly(a) - 1 for a in mono]
            return result
        if isinstance(atom, ir.RefAtom):
            bound = atom.ref.line.results[atom.ref.result].bound
            if bound is not None:
                env = dict(zip(atom.ref.line.dims, atom.ref.index, strict=False))
                return [p, bound.subst(env) - 1 - p]
            limits = _limits(atom.ref.line)
            return [] if limits is None else [p - limits[0], limits[1] - p]
        if atom in self.index_facts:
            return list(self.index_facts[atom])
        if atom in self.sizes:
            return [p]
        return []

    def trusted(self, p: Poly) -> bool:
        """True when evaluating p in 64-bit arithmetic cannot wrap: bounded atoms, small coefficients, low degree."""
        if p.degree() > 3 or any(abs(c) > 2**20 for mono, c in p.terms.items() if mono):
            return False
        return all(self.bounded(a) for a in p.atoms())

    def bounded(self, atom: Atom) -> bool:
        if isinstance(atom, ir.Binder) or atom in self.sizes or atom in self.index_facts:
            return True
        if isinstance(atom, ir.RefAtom):
            return atom.ref.line.results[atom.ref.result].bound is not None or _limits(atom.ref.line) is not None
        return isinstance(atom, Quot) and self.trusted(atom.num) and self.trusted(atom.den)

    def comparable(self, p: Poly) -> bool:
        """True when a comparison with p means what it means over the integers."""
        return p.single() is not None or self.trusted(p)

    def proves_range(self, p: Poly, size: Poly, path: bool = True) -> bool:
        atom = p.single()
        if isinstance(atom, ir.Binder) and atom.extent == size:
            return True
        if not path or not any(given.facts for given in self.path):
            p, size = self.canonical((p, size))
        return self.context((p, size), path).proves_range(p, size)

    def canonical(self, polys: tuple[Poly, ...]) -> tuple[Poly, ...]:
        """The polynomials over the same indices in every loop of one size, so that what is proved in one holds in all of them.

        Only for questions that no condition on the path bears on."""
        binders = sorted({leaf for p in polys for leaf in p.leaves() if isinstance(leaf, ir.Binder)}, key=lambda x: x.uid)
        env: dict[Atom, Poly] = {}
        for k, binder in enumerate(binders):
            if binder.facts:
                return polys
            extent = binder.extent.subst(env)
            if (k, extent) not in self._usual:
                self._usual[(k, extent)] = ir.Binder("i", extent)
            env[binder] = poly(self._usual[(k, extent)])
        return tuple(p.subst(env) for p in polys)

    def settled(self, quotient: Quot) -> Poly:
        """What a quotient of indices and sizes is, where their ranges alone determine it: (c*j + p) // (4*c) for j < 4 and p < c is 0."""
        if quotient not in self._quotients:
            p = poly(quotient)
            found = p
            if all(isinstance(leaf, ir.Binder) or leaf in self.sizes for leaf in p.leaves()):
                seen = self.related((p,), [])
                known = dict.fromkeys(fact for atom in sorted(seen, key=lambda atom: atom.uid) for fact in self.atom_facts(atom))
                found = facts().add(known).simplify(p)
            self._quotients[quotient] = found
        return self._quotients[quotient]

    def greater(self, x: Poly, y: Poly) -> bool | None:
        """Whether x >= y always, or y >= x, whatever conditions the code stands under."""
        x, y = self.canonical((x, y))
        known = self.context((x, y), path=False)
        return True if known.proves(x - y) else False if known.proves(y - x) else None

    def clamped(self, name: str, x: Poly, y: Poly) -> Poly | None:
        """A size that max(i - 1, 0) or min(i + 1, n - 1) is always an index of."""
        sizes = dict.fromkeys(leaf.extent for p in (x, y) for leaf in p.leaves() if isinstance(leaf, ir.Binder))
        sizes.update(dict.fromkeys(top + 1 for p in (x, y) if (top := _greatest(p)) is not None))
        for size in sizes:
            if not any(isinstance(leaf, ir.Binder) for leaf in size.leaves()):
                p, q, n = self.canonical((x, y, size))
                known = self.context((p, q, n), path=False)
                low = [known.proves(p), known.proves(q)]
                if any(low) if name == "max" else all(low):
                    high = [known.proves(n - 1 - p), known.proves(n - 1 - q)]
                    if all(high) if name == "max" else any(high):
                        return size
        return None

    def needed_for_range(self, goals: list[tuple[Poly, Poly]]) -> tuple[Given, ...] | None:
        """The fewest conditions of the path under which every p lies in 0..n-1; None when no proof is found."""
        goals = [(p, n) for p, n in goals if not (isinstance(at := p.single(), ir.Binder) and at.extent == n)]
        if not goals:
            return ()
        polys = [x for pair in goals for x in pair]
        base = self.context(polys, path=False)
        bounds = self.bounds_of_computed(polys)

        def enough(given: list[Given]) -> bool:
            more = [fact for g in given for fact in g.facts]
            if not all(facts().add((*least, *more)).proves(bound - 1) for bound, least in bounds):
                return False
            context = base.add(more)
            return all(context.proves_range(p, n) for p, n in goals)

        if enough([]):
            return ()
        if not self.path:
            return None
        kept = [given for given in self.path if given.facts]
        if not enough(kept):
            return None
        for one in list(kept):
            fewer = [given for given in kept if given is not one]
            if enough(fewer):
                kept = fewer
        return tuple(kept)


    def bounds_of_computed(self, polys: list[Poly]) -> list[tuple[Poly, tuple[Poly, ...]]]:
        """Bounds of values that are computed whatever the bound is, each with what is known of it: x % n is less than n only where n is not 0. Code that reads at such
        an index must stay where that is so. Elements of arguments, and what was checked, are not there otherwise."""
        found: list[tuple[Poly, tuple[Poly, ...]]] = []
        for atom in sorted(self.related(polys, self.known), key=lambda atom: atom.uid):
            if not isinstance(atom, ir.RefAtom) or isinstance(atom.ref.line.prim, (ir.Input, ir.Check)):
                continue
            bound = atom.ref.line.results[atom.ref.result].bound
            if bound is None or (bound.const() or 0) > 0:
                continue
            here = bound.subst(dict(zip(atom.ref.line.dims, atom.ref.index, strict=False)))
            least: list[Poly] = [*self.known, *(poly(leaf) for leaf in here.leaves() if leaf in self.sizes)]
            binders = {leaf for p in (*atom.ref.index, here) for leaf in p.leaves() if isinstance(leaf, ir.Binder)}
            for binder in sorted(binders, key=lambda binder: binder.uid):
                least += self.atom_facts(binder)
            found.append((here, tuple(least)))
        return found


def _limits(line: ir.Line) -> tuple[int, int] | None:
    """The least and the greatest element of a constant array of integers that are far from overflow."""
    prim = line.prim
    if not isinstance(prim, ir.ConstArray) or not line.results[0].dtype.is_integer or not 0 < prim.value.size <= _LOOKED_AT:
        return None
    low, high = int(prim.value.min()), int(prim.value.max())
    return (low, high) if -_FAR < low and high < _FAR else None


_LOOKED_AT = 1024
_FAR = 2**40


def _greatest(p: Poly) -> Poly | None:
    """An upper bound of a polynomial that is linear in its indices, free of them."""
    total = poly(0)
    for mono, coef in p.terms.items():
        inside = [atom for atom in mono if isinstance(atom, ir.Binder)]
        if not inside:
            total = total + Poly({mono: coef})
        elif len(mono) == 1 and coef > 0:
            total = total + (inside[0].extent - 1) * coef
        elif len(mono) > 1:
            return None
    return total
