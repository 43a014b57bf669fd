"""Why two writes never meet, per index tuple: proofs by order.

Two index tuples differ if some combination of their components differs: a component, a row-major run of neighbouring components, or a pair
in which a quotient cancels. To show that equal tuples come from equal rounds, loops are settled one after the other: assume loop v runs
further in the first copy than in the second, everything settled so far equal, and prove that a combination is then strictly
ordered. Each settled loop is a `Line`: which loop, which combination, which way (the digit rule, docs/sources.md K4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from atoll.check.accesses import Access, Around
from atoll.schedule.arith import Answer
from atoll.sizes import Atom, Poly, Quot, Sym, poly
from atoll.sizes.meeting import ways_apart
from atoll.sizes.prover import Facts, facts

Combination = tuple[tuple[Poly, int], ...]  # sum of coefficient * component


@dataclass(frozen=True, slots=True)
class Line:
    """Settles a loop (None: shows outright that the tuples differ). `sign` +1: the first copy's combination is the larger."""

    loop: Sym | None
    copies: dict[Atom, Poly]  # the second copy of each unknown that is not settled
    further: int  # +1, -1: the loop runs further in the first, in the second copy; 0: nothing is assumed
    combination: Combination
    sign: int
    facts: Facts
    goal: Poly
    why: Answer


def combinations(index: tuple[Poly, ...], extents: tuple[Poly, ...]) -> list[Combination]:
    """Functions of the tuple worth looking at."""
    found: dict[Combination, None] = {((poly(1), k),): None for k in range(len(index))}
    for i, p in enumerate(index):
        for atom in p.atoms():
            if not isinstance(atom, Quot):
                continue
            coef = p.coefficient(atom)
            for j, q in enumerate(index):
                if j != i and coef is not None and coef.terms and q.coefficient(atom) == poly(1):
                    found[((poly(1), i), (-coef, j))] = None
    n = len(index)
    for width in range(2, n + 1):
        for first in range(n - width + 1):
            weight, run = poly(1), []
            for k in range(first + width - 1, first - 1, -1):
                run.append((weight, k))
                weight = weight * extents[k]
            found[tuple(run)] = None
    return list(found)


def combine(c: Combination, index: tuple[Poly, ...]) -> Poly:
    total = poly(0)
    for weight, k in c:
        total = total + weight * index[k]
    return total


def primed(known: tuple[Poly, ...], loops: tuple[Around, ...], shared: set[Sym]) -> tuple[dict[Atom, Poly], tuple[Poly, ...]]:
    """A second copy of the rounds: new unknowns for loops that are not shared, and what is known of them."""
    env: dict[Atom, Poly] = {a.sym: poly(Sym(f"{a.sym.name}'")) for a in loops if a.sym not in shared}
    return env, tuple(p.subst(env) for p in known if p.leaves() & env.keys())


def ordered(
    known: tuple[Poly, ...], cs: list[Combination], a: tuple[Poly, ...], b: tuple[Poly, ...], allowed: set[Sym]
) -> Iterator[tuple[Combination, int, Facts, Poly, Answer]]:
    """Proofs that a combination of a is strictly above (+1) or below (-1) that of b. Weights must not mention loops."""
    ctx = facts().add(known)
    for c in cs:
        if any(w.leaves() & allowed for w, _ in c):
            continue
        difference = combine(c, a) - combine(c, b)
        for sign, goal, why in ways_apart(difference, ctx):
            yield c, sign, ctx, goal, why


def injective(a: Access, loops: tuple[Around, ...], rolling: set[Sym]) -> list[Line] | None:
    """C2: one store never writes a cell in two different rounds of its building loops (`rolling` ones run in order, but build)."""
    inside = {x.sym for x in loops}
    left = [x.sym for x in loops if x.independent or x.sym in rolling]
    outer = {x.sym for x in a.loops} - inside
    settled: set[Sym] = set()
    lines: list[Line] = []
    cs = combinations(a.index, a.buffer.extents)
    while left:
        env, copies = primed(a.known, loops, settled | outer)
        other = tuple(p.subst(env) for p in a.index)
        for v in left:
            known = (*a.known, *copies, poly(v) - env[v] - 1)
            found = next(ordered(known, cs, a.index, other, inside), None)
            if found is not None:
                c, sign, ctx, goal, why = found
                lines.append(Line(v, env, 1, c, sign, ctx, goal, why))
                settled.add(v)
                left.remove(v)
                break
        else:
            return None
    return lines


def disjoint(a: Access, b: Access, shared: tuple[Around, ...], outer: set[Sym]) -> list[Line] | None:
    """C3: two stores never write the same cell, in whatever rounds of the loops they share."""
    cs = list(dict.fromkeys(combinations(a.index, a.buffer.extents) + combinations(b.index, b.buffer.extents)))
    inside = {x.sym for x in (*a.loops, *b.loops)} - outer
    settled: set[Sym] = set()
    lines: list[Line] = []
    left = [x.sym for x in shared if x.independent]
    for _ in range(len(left) + 1):
        env, copies = primed(b.known, b.loops, settled | outer)
        other = tuple(p.subst(env) for p in b.index)
        known = (*a.known, *copies)
        found = next(ordered(known, cs, a.index, other, inside), None)
        if found is not None:
            c, sign, ctx, goal, why = found
            return [*lines, Line(None, env, 0, c, sign, ctx, goal, why)]
        for v in left:
            up = next(ordered((*known, poly(v) - env[v] - 1), cs, a.index, other, inside), None)
            down = up and next(ordered((*known, env[v] - poly(v) - 1), cs, a.index, other, inside), None)
            if up and down:
                lines += [Line(v, env, 1, *up), Line(v, env, -1, *down)]
                settled.add(v)
                left.remove(v)
                break
        else:
            return None
    return None


def no_race(a: Access, b: Access, loop: Around, position: int) -> list[Line] | None:
    """Two accesses in different rounds of a loop never touch the same cell. `position`: how many loops are around it."""
    outer = {x.sym for x in a.loops[:position]}
    cs = list(dict.fromkeys(combinations(a.index, a.buffer.extents) + combinations(b.index, b.buffer.extents)))
    inside = {x.sym for x in (*a.loops, *b.loops)} - outer
    env, copies = primed(b.known, b.loops, outer)
    other = tuple(p.subst(env) for p in b.index)
    lines: list[Line] = []
    v = loop.sym
    for further in (1, -1):
        ahead = (poly(v) - env[v]) * further - 1
        found = next(ordered((*a.known, *copies, ahead), cs, a.index, other, inside), None)
        if found is None:
            return None
        lines.append(Line(v, env, further, *found))
        if a is b:
            break  # the other direction is the same with the copies exchanged
    return lines
