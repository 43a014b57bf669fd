"""The cost of a random program's reverse derivative beside its own, counted at a size and its double (tests/cost)."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from atoll.ad.api import _reverse
from tests.cost.ratio import Ratios, counts
from tests.fuzz.stages import leaves

from .check import _like, value_of

SMALL, LARGE = 5, 10
MOST = 10.0  # operations: five times, and as much again for bodies of one or two, beside which what is tested and counted weighs (of 104 programs the dearest had 7.2)
GROWTH = 1.75  # of the ratio when sizes double: an order too many is 2


def measured(f: Any, seed: int, sizes: tuple[int, ...] = (SMALL, LARGE), fitted: Callable[[Any, int], Any] = lambda x, n: x) -> Ratios:
    """Of vjp with a random seed, beside the function and the elements of its arguments: each has an adjoint, used or not. Arguments are `fitted` to the size."""
    operations, work = [], []
    g = _reverse(f, "vjp")
    for n in sizes:
        made = (value_of(p.type, lambda size, n=n: int(size.evaluate(lambda atom: n)), random.Random(f"{seed}:{p.name}"), "argument") for p in f.signature.params)
        args = tuple(fitted(x, n) for x in made)
        elements = sum(np.size(leaf) for x in args for leaf in leaves(x))
        here, back = counts(f, args), counts(g, (*args, _like(f.interpret(*args), random.Random(seed))))
        operations.append(back.operations / (here.operations + elements))
        work.append(back.work / (here.work + elements))
    return Ratios(tuple(operations), tuple(work))


def too_dear(found: Ratios) -> bool:
    return max(found.operations) > MOST or found.growth > GROWTH

