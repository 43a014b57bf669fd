"""Every name is one thing: an index, a variable, an array or a size, bound at one place of a program, and used only where it is known.

What is known of a name (the range of an index, the value of a variable) is known wherever the name stands, so a second thing of that name would be known to be both: from a
contradiction everything follows, also where the two are never alive together (what is known in two branches is asked about at once). Names that nobody binds are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import Any

from atoll.check.rewrites.language import (
    Body,
    Expr,
    Stmt,
    bodies,
    changed,
    free_in_polynomials,
    is_poly,
    loads,
    names,
    parts,
    subexprs,
    walk,
)
from atoll.check.sums import Poly, Quotient, free, need, unknown, value

Kind = tuple[str, str, int | None]  # a size, an index, a variable or an array; of which type; how many rows are kept, where row i is at i % rows


class Kinds(dict[str, Kind]):
    """What names are; of arrays that nobody writes, also what their elements are, and how long those are that nobody makes."""

    def __init__(self, known: Iterable[tuple[str, Kind]] = ()) -> None:
        super().__init__(known)
        self.constants: dict[str, tuple[tuple[int, ...], tuple[Expr, ...]]] = {}
        self.extents: dict[str, tuple[Poly, ...]] = {}  # of arrays that nobody makes, where they are told

    def with_rooms(self, *programs: Body) -> Kinds:
        """With the lengths of arrays that these programs make, where they are always the same and all rows are kept; arrays that change places with others keep theirs where those are as long."""
        made = Kinds(self.items())
        made.constants, made.extents = self.constants, dict(self.extents)
        found: dict[str, set[Any]] = {}
        for s in (s for body in programs for s in walk(body)):
            if s[0] == "alloc":
                found.setdefault(s[1], set()).add(s[3] if s[4][1] is None else None)
        made.extents |= {b: next(iter(each)) for b, each in found.items() if len(each) == 1 and None not in each}
        assigned = set().union(*(changed(body)[0] for body in programs))
        made.extents = {b: each for b, each in made.extents.items() if not any(assigned & free(p) for p in each)}
        swaps = [s[1:] for body in programs for s in walk(body) if s[0] == "swap"]
        while wrong := {b for pair in swaps if made.extents.get(pair[0]) != made.extents.get(pair[1]) for b in pair} & set(made.extents):
            made.extents = {b: each for b, each in made.extents.items() if b not in wrong}
        return made


MANY = 4_096  # elements of an array of constants
SIZE, INDEX = ("a size", "i64", None), ("an index", "i64", None)


def arguments(sizes: tuple[str, ...], given: list[Any], polys: Callable[[list[int]], tuple[Poly, ...]]) -> Kinds:
    """What nobody binds: sizes, arrays, perhaps with their lengths, and numbers."""
    kinds = Kinds((s, SIZE) for s in sizes)
    for name, kind, d, *long in given:
        need(kind in ("an array", "a variable") and unknown(name) not in kinds, "no argument:", name)
        kinds[name] = (kind, str(d), None)
        if long:
            need(kind == "an array" and len(long) == 1, "no argument:", name)
            kinds.extents[name] = polys(long[0])
    need(all(free(p) <= set(sizes) for extents in kinds.extents.values() for p in extents), "an array as long as nobody knows")
    return kinds


def constants(kinds: Kinds, rows: list[Any], expr: Callable[[int], Expr]) -> None:
    """Elements of arrays that nobody writes: [name, lengths, rows of constants]."""
    need(len(rows) <= MANY, "too many constants")
    for name, shape, elements in rows:
        need(kinds.get(unknown(name), SIZE)[0] == "an array" and name not in kinds.constants, "no array of constants:", name)
        need(isinstance(shape, list) and all(type(n) is int and 0 <= n <= MANY for n in shape) and prod(shape) == len(elements) <= MANY, "no array of constants:", name)
        found = tuple(map(expr, elements))
        need(all(e[0] == "const" and e[2] == kinds[name][1] for e in found), "no array of constants:", name)
        kinds.constants[name] = (tuple(shape), found)


def scoped(body: Body, kinds: Kinds, given: frozenset[str]) -> None:
    """Rejected when a name of the program is two things, or is used where it is not known. `kinds` are those of all programs, `given` names that nobody binds."""
    bound: set[str] = set()
    for s in walk(body):
        for name, kind in (*binders(s), *_inside(s, kinds)):
            need(name not in bound or s[0] == "helper", f"{name} is bound twice")  # a routine may give a variable that is there its value
            bound.add(name)
            known = kinds.setdefault(name, kind)
            if kind[2] is not None:
                kinds[name] = kind  # an array of which not all rows are kept may be one that was kept whole, in another program
            need(known[:2] == kind[:2] and name not in given, f"{name} is {_words(kind, known)} and {_words(known, kind)}")
    need(not set(kinds.constants) & changed(body)[1], "an array of constants is written")
    _list(body, given, kinds)


def _words(kind: Kind, other: Kind) -> str:
    return kind[0] if kind[0] != other[0] else f"{kind[0]} of {kind[1]}"


def binders(s: Stmt) -> list[tuple[str, Kind]]:
    """Names that are known after a statement."""
    match s[0]:
        case "let" | "declare":
            return [(s[1], ("a variable", s[2], None))]
        case "accumulate":
            return [(v, ("a variable", d, None)) for v, _, d in s[5]]
        case "helper" if s[4] is not None:
            return [(s[4][0], ("a variable", s[4][1], None))]
        case "alloc":
            return [(s[1], ("an array", s[2], s[4][1]))]
    return []


def _inside(s: Stmt, kinds: Kinds) -> list[tuple[str, Kind]]:
    """Names that are known inside a statement only."""
    match s[0]:
        case "for" | "accumulate":
            return [(s[1], INDEX)]
        case "chunks":
            return [(s[1], INDEX), (s[2], INDEX), *((own, kinds.get(b, ("an array", "", None))) for own, b, _ in s[6])]
    return []


def _list(body: Body, outer: frozenset[str], kinds: Kinds) -> None:
    known = set(outer)
    for s in body:
        used, arrays = _used(s)
        for v in used | arrays:
            need(v in known, f"{v} is not known there")
        need(all(kinds[v][0] != "an array" for v in used) and all(kinds[b][0] == "an array" for b in arrays), "a name of something else")
        need(all(kinds[v][1][0] in "iu" for v in free_in_polynomials(s)), "an index that is no integer")
        inside = _inside(s, kinds)
        for name, _ in inside:
            need(name not in known, f"{name} is known already")
        made = {name for name, _ in binders(s)}
        for name in made:
            need(name not in known or s[0] == "helper", f"{name} is known already")  # a routine may give a variable that is there its value
        known |= made
        inner = frozenset(known | {name for name, _ in inside})
        for b in bodies(s):
            _list(b, inner, kinds)


def _used(s: Stmt) -> tuple[set[str], set[str]]:
    """Variables, indices and sizes, and arrays, that a statement itself names, not those inside it."""
    variables: set[str] = set()
    arrays: set[str] = set()
    for e in parts(s):
        variables |= names(e)
        arrays |= {x[1] for x in loads(e)}
    extra: dict[str, Any] = {"assign": variables, "add": variables, "store": arrays, "update": arrays, "free": arrays}
    if s[0] in extra:
        extra[s[0]].add(s[1])
    match s[0]:
        case "copy" | "swap":
            arrays |= {s[1], s[2]}
        case "helper":
            arrays |= {b for b, _ in s[2]}
        case "print":
            arrays |= set(s[2])
        case "chunks":
            arrays |= {b for _, b, _ in s[6]}
            variables |= {v for v, _, _ in s[5]}
    return variables, arrays


LARGEST, FITS = 1 << 46, 1 << 62  # sizes, as the call checks; what index arithmetic may reach


def measured(body: Body, sizes: tuple[str, ...]) -> tuple[int, int, int]:
    """The largest coefficient of an unknown and the highest degree in the index arithmetic of a program, where it is not seen to stay small, and how many indices an array has."""
    most: dict[str, int] = dict.fromkeys(sizes, LARGEST)
    largest = degree = rank = 0
    for s in walk(body):
        match s:
            case ("for" | "accumulate", i, low, high, *_):
                _note(most, i, _reach(low, most), _reach(high, most))
            case ("chunks", i, j, extent, *_):
                _note(most, i, _reach(extent, most))
                _note(most, j, _reach(extent, most))
            case ("let", name, "i64", e):
                _note(most, name, _value(e, most))
        for e in parts(s):
            for p in subexprs(e):
                if is_poly(p) and (_reach(p, most) or FITS) >= FITS:
                    for monomial, c in p:
                        if monomial:
                            largest, degree = max(largest, abs(c)), max(degree, len(monomial))
        rank = max([rank, *(len(x[2]) for e in parts(s) for x in loads(e)), *([len(s[2])] if s[0] in ("store", "update") else [])])
    return largest, degree, rank


def _note(most: dict[str, int], name: str, *reached: int | None) -> None:
    known = [r for r in reached if r is not None]
    if len(known) == len(reached):
        most[name] = max(known)


def _reach(p: Poly, most: dict[str, int]) -> int | None:
    """A number that the polynomial stays below, on both sides of 0; None where an unknown has none."""
    total = 0
    for monomial, c in p:
        term = abs(c)
        for a in monomial:
            if isinstance(a, Quotient):
                inside, d = _reach(a.num, most), value(a.den)
                if inside is None:
                    return None
                term *= inside // d + 1 if d is not None and d > 0 else inside
            elif a in most:
                term *= most[a]
            else:
                return None
        total += term
    return total


def _value(e: Expr, most: dict[str, int]) -> int | None:
    match e:
        case ("index", p):
            return _reach(p, most)
        case ("const", text, "i64") if text.lstrip("-").isdigit():
            return abs(int(text))
        case ("call", "min" | "max", (a, b), "i64") | ("choose", _, a, b):
            x, y = _value(a, most), _value(b, most)
            return None if x is None or y is None else max(x, y)
    return None
