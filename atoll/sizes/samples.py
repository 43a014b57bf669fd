"""Numbers that satisfy hypotheses: where a false claim shows, before anyone searches for a proof of it.

The unknowns are taken in the order the hypotheses name them, each within the bounds that those before it leave; what a hypothesis does not
bound is tried small and large, and near multiples of what divides it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TYPE_CHECKING

from atoll.sizes.poly import Atom, Poly, Quot

if TYPE_CHECKING:
    from atoll.sizes.prover import Facts

SAMPLES = 12

Bounded = tuple[Atom, list[tuple["int | Poly", Poly]], list[int]]  # an unknown, (coefficient, fact) that bound it, what divides it


def sample(
    ctx: Facts, seed: int = 7, tries: int = 40, want: int = SAMPLES, against: Poly | None = None
) -> Iterable[dict[Atom, int]]:
    """Valuations that satisfy the facts: unknowns in order, each within the bounds the ones before it leave. With `against`, bounded
    unknowns are taken at the end that makes that polynomial small."""
    rng = random.Random(seed)
    if ctx.plan is None:
        ctx.plan = _bounds(ctx)
    plan, checks = ctx.plan
    slope: dict[Atom, int] = {}
    if against is not None:
        for leaf, _, _ in plan:
            coef = against.coefficient(leaf)
            if coef is not None and (c := coef.const()):
                slope[leaf] = c
    found = 0
    for _ in range(tries):
        try:
            env = _valuation(rng, plan, slope)
            satisfied = env is not None and all(fact.evaluate(env) >= 0 for fact in checks)
        except ZeroDivisionError:
            continue
        if env is not None and satisfied:
            yield env
            found += 1
            if found == want:
                return


def _valuation(rng: random.Random, plan: list[Bounded], slope: dict[Atom, int]) -> dict[Atom, int] | None:
    """Numbers for the unknowns in order, each within its bounds; None when some bounds leave nothing."""
    env: dict[Atom, int] = {}
    for leaf, bounds, divisors in plan:
        low: int | None = None
        high: int | None = None
        env[leaf] = 0
        for coef, fact in bounds:
            c = coef if isinstance(coef, int) else coef.evaluate(env)
            rest = fact.evaluate(env)
            if c > 0:
                low = max(low, -(rest // c)) if low is not None else -(rest // c)
            elif c < 0:
                high = min(high, rest // -c) if high is not None else rest // -c
        if low is None:
            low = 0 if high is None else min(high, 0) - rng.choice((0, 1, 5))
        if high is None:
            high = low + rng.choice((0, 1, 2, 3, 7, 70, 200, 1000))
        if low > high:
            return None
        choice = rng.choice((low, high, rng.randint(low, high)))
        if leaf in slope and len(bounds) > 1 and rng.random() < 0.8:
            choice = low if slope[leaf] > 0 else high
        elif divisors and rng.random() < 0.5:  # sizes that tiles divide, or just not
            d = rng.choice(divisors)
            choice = -(-low // d) * d + d * rng.randint(0, 3) + rng.choice((0, 0, 1, -1))
            choice = choice if low <= choice <= max(high, low + 4 * d) else low
        env[leaf] = choice
    return env


def _bounds(ctx: Facts) -> tuple[list[Bounded], list[Poly]]:
    """For each unknown in order: the facts that bound it (coefficient, fact) once earlier ones are known, and what divides it."""
    order = sorted(ctx.order, key=lambda leaf: (ctx.order[leaf], leaf.uid))
    rank = {leaf: k for k, leaf in enumerate(order)}
    bounds: dict[Atom, list[tuple[int | Poly, Poly]]] = {leaf: [] for leaf in order}
    divisors: dict[Atom, list[int]] = {leaf: [] for leaf in order}
    for fact in ctx.known:
        leaves = fact.leaves()
        if not leaves:
            continue
        last = max(leaves, key=rank.__getitem__)
        coef = fact.coefficient(last)
        if coef is not None and coef.terms and last not in (fact - coef * last).leaves():
            const = coef.const()
            bounds[last].append((coef if const is None else const, fact))
        for atom in fact.atoms():
            if isinstance(atom, Quot) and (d := atom.den.const()) is not None:
                for leaf in atom.num.leaves():
                    if d not in divisors[leaf]:
                        divisors[leaf].append(d)
    return [(leaf, bounds[leaf], divisors[leaf]) for leaf in order], list(ctx.known)


def negative(goal: Poly, sample: dict[Atom, int]) -> bool:
    """True when the goal has a value there and it is below 0; a quotient by 0 has none."""
    try:
        return goal.evaluate(sample) < 0
    except ZeroDivisionError:
        return False
