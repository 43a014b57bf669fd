"""One rewrite: the smallest parts in which the programs before and after it differ, each validated.

`validate` gives one line for each part: why it is not validated, or nothing, and how many questions it took. What is around a part is the same before and
after, so parts are validated one by one, under what is known around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from atoll.check.rewrites.arrays_back import own_arrays
from atoll.check.rewrites.best_back import best_back
from atoll.check.rewrites.elements_back import elements_back
from atoll.check.rewrites.filters_back import filters_back
from atoll.check.rewrites.first_values import first_values
from atoll.check.rewrites.language import Body, changed, names, read, walk
from atoll.check.rewrites.leaves import Around, No, Node, Origin, conditions, definition, nodes, otherwise, whole
from atoll.check.rewrites.needless import without_needless
from atoll.check.rewrites.numbered import numbered
from atoll.check.rewrites.private_back import private_back
from atoll.check.rewrites.refute import Cond, cannot, negations
from atoll.check.rewrites.region import Region
from atoll.check.rewrites.retargeted import retargeted
from atoll.check.rewrites.scans_back import scans_back
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.searches_back import searches_back
from atoll.check.rewrites.sorts_back import sorted_values
from atoll.check.rewrites.twice_back import said_once
from atoll.check.rewrites.window_back import window_back
from atoll.check.sums import Poly, Rejected, const, sub, var

LARGEST = 1 << 60
MANY = 60  # statements of a list that is looked at as one part
MOVED = ("an origin outside", "all", "another statement")


@dataclass(frozen=True, slots=True)
class Part:
    """What was found of one part that differs. `why` is empty when it is validated."""

    why: str
    asked: int
    notes: tuple[str, ...] = ()  # what is taken on trust of it


def validate(sizes: tuple[str, ...], before: Body, after: Body, origins: list[Origin | None], roots: Mapping[str, str], licensed: bool, kinds: Kinds, results: frozenset[str]) -> list[Part]:
    """`kinds`: what names are; `results`: variables that are read behind it; `origins` of all statements after the rewrite, in the order of a walk; `roots`: which variables are copies of which; `licensed`: sums into memory
    may be made in another order."""
    moving, kinds = frozenset(_moving(before) | _moving(after)), kinds.with_rooms(before, after)
    around = Around(moving, kinds, facts=[c for s in sizes for c in (("ge", var(s)), ("ge", sub(const(LARGEST), var(s))))])
    numbers: Iterator[Origin | None] = iter((k, {}) for k in range(1 << 40))
    first, new = nodes(before, numbers), nodes(after, iter(origins))
    notes: set[str] = set()
    new = filters_back(first, new, kinds, notes)
    one, two = (_plain(x, kinds, licensed, notes, around.facts) for x in (first, new))
    found = _validated(one, two, around, roots, results, licensed)
    if any(p.why for p in found) and (one is not first or two is not new):  # what was rewritten inside of an idiom is seen there
        again = _validated(first, new, around, roots, results, licensed)
        if not any(p.why for p in again):
            return again
    return [*found, Part("", 0, tuple(sorted(notes)))] if notes else found


def _plain(body: tuple[Node, ...], kinds: Kinds, licensed: bool, notes: set[str], facts: list[Cond]) -> tuple[Node, ...]:
    """With idioms as the loops they stand for; the same object where there are none."""
    made = searches_back(private_back(scans_back(best_back(body), kinds, licensed, notes), kinds, licensed, notes, facts), kinds, facts)
    return body if made == body else made


def _validated(before: tuple[Node, ...], after: tuple[Node, ...], around: Around, roots: Mapping[str, str], results: frozenset[str], licensed: bool) -> list[Part]:
    kinds = around.kinds
    first, new = sorted_values(before, own_arrays(before, after, kinds), kinds)
    first = retargeted(first, new, kinds, around.facts)
    first = numbered(first, new, kinds)
    new = window_back(first, elements_back(first, new, kinds), around.facts)
    first = without_needless(said_once(first, new), new, around.facts, kinds)
    return _level(_own_rounds(first, ()), new, around, roots, results, licensed)


def _level(before: tuple[Node, ...], after: tuple[Node, ...], at: Around, roots: Mapping[str, str], outside: frozenset[str], licensed: bool) -> list[Part]:
    """The smallest parts of two lists of statements; all of both, where a statement has gone from one part to another."""
    found: list[Part] = []
    for a, b, inner, used, deeper in _differing(before, after, at, outside):
        found += _level(a, b, inner, roots, used, licensed) if deeper else [_part(a, b, inner, roots, used, licensed)]
    if any(p.why.startswith(MOVED) for p in found) and len(before) + len(after) <= MANY:
        all_ = _part(before, after, at, roots, outside, licensed)
        if not all_.why:
            return [Part("", all_.asked + sum(p.asked for p in found), all_.notes)]
    return found


def _moving(body: Body) -> set[str]:
    return changed(body)[0]


def _own_rounds(body: tuple[Node, ...], syms: tuple[str, ...]) -> tuple[Node, ...]:
    out = []
    for n in body:
        inner = (*syms, n.stmt[1]) if n.stmt[0] in ("for", "accumulate", "chunks") else syms
        assert n.origin is not None
        out.append(Node(n.stmt, tuple(_own_rounds(b, inner) for b in n.bodies), (n.origin[0], {s: var(s) for s in syms})))
    return tuple(out)


def _part(a: tuple[Node, ...], b: tuple[Node, ...], at: Around, roots: Mapping[str, str], outside: frozenset[str], licensed: bool) -> Part:
    found = _region(a, b, at, roots, outside, licensed)
    if found.why:
        begun = first_values(a), first_values(b)
        again = _region(*begun, at, roots, outside, licensed) if begun != (a, b) else found
        return found if again.why else replace(again, asked=found.asked + again.asked)
    return found


def _region(a: tuple[Node, ...], b: tuple[Node, ...], at: Around, roots: Mapping[str, str], outside: frozenset[str], licensed: bool) -> Part:
    region = None
    try:
        asked = _only_guarded(a, b, at)
        if asked:
            return Part("", asked)
        region = Region(a, b, at, roots, outside, licensed)
        asked = region.check()
        return Part("", asked, tuple(sorted(region.notes)))
    except No as problem:
        return Part(str(problem), region.asked if region is not None else 0)
    except (KeyError, Rejected, RecursionError) as problem:
        return Part(f"not followed: {type(problem).__name__} {problem}", region.asked if region is not None else 0)


def _only_guarded(a: tuple[Node, ...], b: tuple[Node, ...], at: Around) -> int:
    """The same statements under tests, where they do nothing when one of these fails: how many questions that took; 0 when it is not so."""
    if len(b) != 1 or b[0].stmt[0] != "if" or b[0].bodies[1] or len(a) != len(b[0].bodies[0]) or not all(map(_same, a, b[0].bodies[0])):
        return 0
    stmts = tuple(map(whole, a))
    own = {x[1] for x in walk(stmts) if x[0] in ("let", "declare")} | {v for x in walk(stmts) if x[0] in ("accumulate", "chunks") for v, _, _ in x[5]}
    if any(n.stmt[0] in ("let", "declare", "accumulate") for n in a) or not changed(stmts)[0] <= own:
        return 0
    if {n.stmt[1] for n in a if n.stmt[0] == "alloc"} != {n.stmt[1] for n in a if n.stmt[0] == "free"}:
        return 0  # memory that is there only sometimes
    conds = conditions(b[0].stmt[1], at.moving)
    if not all(_idle(n, [*at.facts, m], at.moving) for n in a for c in conds for m in negations(c)):
        return 0
    return len(conds)


def _idle(n: Node, conds: list[Cond], moving: frozenset[str]) -> bool:
    """Under these conditions the statement changes nothing and cannot fail. Of variables that are assigned nothing is kept in mind: it may not be so any more further inside."""
    s = n.stmt
    if cannot(conds):
        return True

    def steady(*known: Cond) -> list[Cond]:
        return [*conds, *(c for c in known if moving.isdisjoint(_about(c)))]

    match s[0]:
        case "for":
            inside = steady(("ge", sub(var(s[1]), s[2])), ("ge", sub(sub(s[3], var(s[1])), const(1))))
            return all(_idle(x, inside, moving) for x in n.bodies[0])
        case "chunks" if not s[5] and not s[6]:
            low, high = var(s[1]), var(s[2])
            inside = steady(("ge", low), ("ge", sub(s[3], high)), ("ge", sub(sub(high, low), const(1))))
            return all(_idle(x, inside, moving) for x in n.bodies[0])
        case "if":
            on = steady(*conditions(s[1], moving))
            return all(_idle(x, on, moving) for x in n.bodies[0]) and all(_idle(x, conds, moving) for x in n.bodies[1])
        case "accumulate":
            inside = steady(("ge", sub(var(s[1]), s[2])), ("ge", sub(sub(s[3], var(s[1])), const(1))))
            return all(_idle(x, inside, moving) for x in n.bodies[0] if x.stmt[0] != "add")
        case "let" | "declare" | "assign":
            return True  # of names in here: none of them is known outside
        case "alloc" | "free":
            return True
        case "helper":
            return s[1] == "fence" or (s[1] in ("sort", "argsort") and cannot([*conds, ("ge", sub(s[3][0], const(1)))]))  # of nothing: nothing
        case "product":
            return all(_idle(x, conds, moving) for b in n.bodies for x in b)
    return False


def _about(c: Cond) -> set[str]:
    """Variables and unknowns of a condition."""
    key = c[1]
    return names(key[1] if c[0] == "op" and key[0] in ("ge", "eq", "ne") and len(key) == 2 else key)


def _same(a: Node, b: Node) -> bool:
    return a.stmt == b.stmt and len(a.bodies) == len(b.bodies) and all(len(x) == len(y) and all(map(_same, x, y)) for x, y in zip(a.bodies, b.bodies, strict=True))


def _differing(before: tuple[Node, ...], after: tuple[Node, ...], at: Around, outside: frozenset[str]) -> Iterator[tuple[tuple[Node, ...], tuple[Node, ...], Around, frozenset[str], bool]]:
    """The parts, with what is known there and the names used around them; the last says that it is a list inside a statement that is the same."""
    first = 0
    while first < min(len(before), len(after)) and _same(before[first], after[first]):
        first += 1
    last = 0
    while last < min(len(before), len(after)) - first and _same(before[-1 - last], after[-1 - last]):
        last += 1
    a, b = before[first : len(before) - last], after[first : len(after) - last]
    if not a and not b:
        return
    known = list(at.known)
    facts = list(at.facts)
    for n in before[:first]:
        means = definition(n.stmt, at.moving)
        if means is not None:
            known.append(means)
        if n.stmt[0] == "check":
            facts += [c for c in conditions(n.stmt[1], at.moving) if c[0] != "op"]
    at = Around(at.moving, at.kinds, facts=facts, known=known)
    outside = outside | _names(after[:first]) | _names(after[len(after) - last :])
    if len(a) == len(b) and all(_same(x, y) or _same_head(x, y) or _guarded(x, y) for x, y in zip(a, b, strict=True)):
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            if _guarded(x, y):
                yield (x,), (y,), at, outside | _names(tuple(z for j, z in enumerate(b) if j != k)), False
            elif not _same(x, y):
                for branch, (p, q) in enumerate(zip(x.bodies, y.bodies, strict=True)):
                    others = tuple(z for j, z in enumerate(b) if j != k)
                    beside = tuple(z for j, other in enumerate(y.bodies) if j != branch for z in other)
                    if len(p) != len(q) or not all(map(_same, p, q)):
                        yield p, q, _inside(at, x, branch), outside | _names(others) | _names(beside) | _head_names(y), True
        return
    yield a, b, at, outside, False


def _names(body: tuple[Node, ...]) -> frozenset[str]:
    stmts = tuple(whole(n) for n in body)
    return frozenset(read(stmts)[0] | changed(stmts)[0])


def _head_names(n: Node) -> frozenset[str]:
    return frozenset(read((n.stmt,))[0] | changed((n.stmt,))[0])


def _same_head(a: Node, b: Node) -> bool:
    return a.stmt == b.stmt and bool(a.bodies)


def _guarded(a: Node, b: Node) -> bool:
    """The same statement under a test."""
    return b.stmt[0] == "if" and not b.bodies[1] and len(b.bodies[0]) == 1 and _same(a, b.bodies[0][0])


def _inside(at: Around, n: Node, branch: int) -> Around:
    """What is known inside a statement besides."""
    s = n.stmt
    facts: list[Cond] = list(at.facts)
    known = list(at.known)
    match s[0]:
        case "for" | "accumulate":
            facts += [("ge", sub(var(s[1]), s[2])), ("ge", sub(sub(s[3], var(s[1])), const(1)))]
        case "chunks":
            low, high = var(s[1]), var(s[2])
            facts += [("ge", low), ("ge", sub(s[3], high)), ("ge", sub(sub(high, low), const(1)))]
        case "if":
            on = [c for c in conditions(s[1], at.moving) if c[0] != "op"]
            if branch == 0:
                facts += on
            elif len(on) == len(s[1]):
                known.append(otherwise(on))
    facts = [c for c in facts if at.moving.isdisjoint(names(c[1]))]  # bounds that are changed inside are known no more
    return Around(at.moving, at.kinds, facts=facts, known=known)


__all__ = ["Part", "Poly", "validate"]
