"""Places in the order of a program: which instances come before others, and which instance of a copy is a given one of the original."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from atoll.check.rewrites.language import coefficient, constant, names
from atoll.check.rewrites.leaves import Leaf, Place
from atoll.check.rewrites.refute import Cond, Group
from atoll.check.sums import ONE, Poly, add, const, div, mul, sub, subst, var


def pieces(a: Leaf, b: Leaf, env: Mapping[str, Poly]) -> list[Group]:
    """Two instances in pieces of one range: it is the same piece, or one ends before the other begins."""
    found: list[Group] = []
    for low, high, extent in a.pieces:
        if (low, high, extent) in b.pieces:
            same: list[Cond] = [("eq", sub(var(low), env[low])), ("eq", sub(var(high), env[high]))]
            found.append([same, [("ge", sub(env[low], var(high)))], [("ge", sub(var(low), env[high]))]])
    return found


def before(a: list[Place], b: list[Place], in_order: Collection[str] = ()) -> Iterator[tuple[list[str], str | None]]:
    """How an instance of a can come before one of b: indices that are equal, and one that is less. Rounds that are independent do not meet, but for those of the loops `in_order`."""
    same: list[str] = []
    for (list_a, at_a, sym, parallel), (list_b, at_b, _, _) in zip(a, b, strict=False):
        if list_a != list_b:
            return
        if at_a != at_b:
            if at_a < at_b:
                yield list(same), None
            return
        if sym is not None:
            if not parallel or sym in in_order:
                yield list(same), sym
            same.append(sym)


def not_before(a: list[Place], b: list[Place], env: Mapping[str, Poly], added: bool) -> Iterator[list[Cond]]:
    """How it can be that an instance of a does not come before one of b. `added`: both are additions to one sum."""
    same: list[Cond] = []
    for (list_a, at_a, sym, parallel), (list_b, at_b, other, _) in zip(a, b, strict=False):
        if list_a != list_b:
            return
        if at_a != at_b:
            if at_a > at_b:
                yield list(same)
            return
        if sym is not None and other is not None:
            yield [*same, ("ge", sub(sub(var(sym), env[other]), ONE))]
            if parallel is True or (parallel and not added):
                yield [*same, ("ge", sub(sub(env[other], var(sym)), ONE))]
            same.append(("eq", sub(var(sym), env[other])))


def apart(a: list[Place], b: list[Place], env: Mapping[str, Poly]) -> Iterator[list[Cond]]:
    """How two instances can be done at the same time: in different rounds of a loop whose rounds are independent."""
    same: list[Cond] = []
    for (list_a, at_a, sym, parallel), (list_b, at_b, other, _) in zip(a, b, strict=False):
        if list_a != list_b or at_a != at_b:
            return
        if sym is not None and other is not None:
            if parallel is True:
                yield [*same, ("ge", sub(sub(var(sym), env[other]), ONE))]
                yield [*same, ("ge", sub(sub(env[other], var(sym)), ONE))]
            same.append(("eq", sub(var(sym), env[other])))


def guess(x: Leaf, old: Leaf, given: Mapping[str, Poly] = {}) -> dict[str, Poly] | None:
    """Indices of a copy from those of the original: a witness, checked by whoever uses it."""
    env: dict[str, Poly] = dict(given)
    for _ in range(3 * len(x.syms) + 3):
        left = [s for s in x.syms if s not in env]
        if not left:
            return env
        if not (_solved(x, old, env, left) or _bounded(x, env, left)):
            return None
    return None


def _solved(x: Leaf, old: Leaf, env: dict[str, Poly], left: list[str]) -> bool:
    for s in old.syms:
        f = x.round[s]
        inside = [y for y in left if y in names(f)]
        steps = {y: coefficient(f, y) for y in inside}
        if not inside or any(not c for c in steps.values()):
            continue
        y = max(inside, key=lambda y: abs(steps[y] or 0))
        c = steps[y] or 1
        rest = f
        for z in inside:
            rest = sub(rest, mul(const(steps[z] or 0), var(z)))
        found = sub(var(s), subst(rest, env))
        if c < 0:
            found, c = mul(const(-1), found), -c
        found = add(found, const(-constant(found) % c))  # copies that differ by a literal have the same quotient
        env[y] = found if c == 1 else div(found, const(c))
        return True
    return False


def _bounded(x: Leaf, env: dict[str, Poly], left: list[str]) -> bool:
    """An index that only bounds others: the block of i where i is known."""
    bounds = []
    for c in x.conds:
        if c[0] == "ge":
            unknown = [y for y in left if y in names(c[1])]
            if len(unknown) == 1 and (k := coefficient(c[1], unknown[0])) is not None and k < 0:
                bounds.append((-k, unknown[0], c[1]))
    for c in x.conds:  # blocks of blocks: the outer one, as if there were no inner ones
        steps = {y: coefficient(c[1], y) for y in left if y in names(c[1])} if c[0] == "ge" else {}
        if len(steps) > 1 and all(k is not None and k < 0 for k in steps.values()):
            y = min(steps, key=lambda y: steps[y] or 0)
            bounds.append((-(steps[y] or 0), y, subst(c[1], {z: () for z in steps if z != y})))
    if not bounds:
        return False
    k, y, p = max(bounds, key=lambda b: b[0])
    env[y] = div(subst(add(p, mul(const(k), var(y))), env), const(k))
    return True
