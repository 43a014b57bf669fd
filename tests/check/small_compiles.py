"""Certificates of compiles written by hand, for forgeries: statements as nested tuples, with polynomials as Python's integers, names and sums.

    forged(before, after, sizes="n")        the certificate that says: `after` comes from `before` by one rewrite, which is proved

A statement after the rewrite is a pair (statement, origin): the number of a statement before it (in the order of a walk) with its round, or None.
Loops beside each other may be written with one index: in the certificate each has its own (i, i'2), as the compiler's loops have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from atoll.check.rewrites.chain import FORMAT

Stmt = tuple[Any, ...]
BODIES = {"for": (4,), "accumulate": (4,), "chunks": (4,), "if": (2, 3), "forever": (1,), "section": (2,), "product": (3, 4)}


class P(dict[tuple[str, ...], int]):
    """A polynomial: `v("i") * 4 + 1`."""

    def __add__(self, other: Any) -> P:
        made = P(self)
        for m, c in lift(other).items():
            made[m] = made.get(m, 0) + c
        return made

    def __sub__(self, other: Any) -> P:
        return self + lift(other) * -1

    def __mul__(self, k: int) -> P:
        return P({m: c * k for m, c in self.items()})


def v(name: str) -> P:
    return P({(name,): 1})


def lift(x: Any) -> P:
    return x if isinstance(x, P) else v(x) if isinstance(x, str) else P({(): x} if x else {})


class Tables:
    def __init__(self) -> None:
        self.P: list[Any] = []
        self.E: list[Any] = []
        self.S: list[Any] = []
        self.Q: list[Any] = []
        self.own: dict[str, str] = {}  # what indices are called here
        self.bound: dict[str, int] = {}  # how often, in this program
        self.places: list[dict[str, str]] = []  # what indices are called at each statement, in the order of a walk

    def program(self, stmts: Sequence[Stmt]) -> tuple[list[int], list[dict[str, str]]]:
        self.own, self.bound, self.places = {}, {}, []
        return self.body(stmts), self.places

    def inside(self, names: Sequence[str], body: Sequence[Stmt]) -> tuple[list[str], list[int]]:
        outer = self.own
        for name in names:
            if name not in outer:  # one inside a loop of the same index is left as it is: it is wrong
                self.bound[name] = self.bound.get(name, 0) + 1
        self.own = outer | {name: name if self.bound[name] == 1 else f"{name}'{self.bound[name]}" for name in names if name not in outer}
        made = [self.own[name] for name in names], self.body(body)
        self.own = outer
        return made

    def row(self, table: list[Any], row: Any) -> int:
        if row not in table:
            table.append(row)
        return table.index(row)

    def poly(self, x: Any) -> int:
        if isinstance(x, dict) and "quotient" in x:
            return self.row(self.P, [[1, self.row(self.Q, self.polys(x["quotient"]))]])
        return self.row(self.P, [[c, *(self.own.get(a, a) for a in m)] for m, c in sorted(lift(x).items()) if c])

    def polys(self, xs: Sequence[Any]) -> list[int]:
        return [self.poly(x) for x in xs]

    def expr(self, e: Any) -> int:
        match e:
            case float():
                return self.row(self.E, ["const", {"f": e.hex()}, "f64"])
            case ("index", p):
                return self.row(self.E, ["index", self.poly(p)])
            case ("load", b, index):
                return self.row(self.E, ["load", b, self.polys(index)])
            case ("call", op, args, d):
                return self.row(self.E, ["call", op, [self.expr(a) for a in args], d])
            case ("cast", inner, d):
                return self.row(self.E, ["cast", self.expr(inner), d])
            case ("truth", tests):
                return self.row(self.E, ["truth", self.tests(tests)])
            case ("choose", tests, a, b):
                return self.row(self.E, ["choose", self.tests(tests), self.expr(a), self.expr(b)])
        return self.row(self.E, list(e))  # use, const

    def tests(self, tests: Any) -> list[Any]:
        return [[kind, None if kind in ("true", "false") else self.poly(x), self.expr(x) if kind in ("true", "false") else None] for kind, x in tests]

    def body(self, stmts: Sequence[Stmt]) -> list[int]:
        return [self.stmt(s) for s in stmts]

    def stmt(self, s: Stmt) -> int:
        self.places.append(self.own)
        match s:
            case ("let" | "declare", name, d, e):
                row = [s[0], name, d, None if e is None else self.expr(e)]
            case ("assign", name, e):
                row = ["assign", name, self.expr(e)]
            case ("store", b, index, e):
                row = ["store", b, self.polys(index), self.expr(e)]
            case ("update", b, index, op, e):
                row = ["update", b, self.polys(index), op, self.expr(e)]
            case ("add", name, op, e):
                row = ["add", name, op, self.expr(e)]
            case ("check", tests, site):
                row = ["check", self.tests(tests), site, []]
            case ("for", i, low, high, body, *flags):
                first, last, ((i,), inner) = self.poly(low), self.poly(high), self.inside([i], body)
                row = ["for", i, first, last, inner, [*flags, False, 0, False, False][:4] if flags else [False, 0, False, False]]
            case ("accumulate", i, low, high, body, accs, exact):
                first, last, ((i,), inner) = self.poly(low), self.poly(high), self.inside([i], body)
                row = ["accumulate", i, first, last, inner, accs, exact]
            case ("if", tests, then, orelse):
                row = ["if", self.tests(tests), self.body(then), self.body(orelse)]
            case ("break", tests):
                row = ["break", self.tests(tests)]
            case ("forever", body):
                row = ["forever", self.body(body)]
            case ("alloc", b, d, extents, *how):
                row = ["alloc", b, d, self.polys(extents), how[0] if how else [False, None, False, None]]
            case ("chunks", low, high, extent, body, accs, buffers, how):
                long, ((low, high), inner) = self.poly(extent), self.inside([low, high], body)
                row = ["chunks", low, high, long, inner, accs, buffers, self.polys(how)]
            case ("helper", name, buffers, sizes, result, how):
                row = ["helper", name, [[b, self.polys(index)] for b, index in buffers], self.polys(sizes), result, how]
            case ("product", numbers, elements, body, after, adds):
                row = ["product", self.polys(numbers), [self.expr(e) for e in elements], self.body(body), self.body(after), adds]
            case ("print", text, buffers, args):
                row = ["print", text, buffers, [self.expr(a) for a in args]]
            case _:
                row = list(s)  # free, copy, swap
        return self.row(self.S, row)


def walked(stmts: Sequence[Any]) -> list[Any]:
    """Origins of statements in the order of a walk."""
    found: list[Any] = []
    for s, origin in stmts:
        found.append(origin)
        for k in BODIES.get(s[0], ()):
            found += walked(s[k])
    return found


def plain(stmts: Sequence[Any]) -> tuple[Stmt, ...]:
    made = []
    for s, _ in stmts:
        s = list(s)
        for k in BODIES.get(s[0], ()):
            s[k] = plain(s[k])
        made.append(tuple(s))
    return tuple(made)


def forged(before: Sequence[Stmt], after: Sequence[Any], sizes: str = "n", roots: dict[str, str] | None = None, licensed: bool = False,
    arrays: str = "x y z c a", scalars: dict[str, str] | None = None) -> dict[str, Any]:
    t = Tables()
    lowered, old = t.program(before)
    made, new = t.program(plain(after))
    origins = []
    for o, t.own in zip(walked(after), new, strict=True):
        names = {} if o is None or isinstance(o, int) or o[0] >= len(old) else old[o[0]]
        origins.append(o if o is None or isinstance(o, int) else [o[0], [[names.get(s, s), t.poly(p)] for s, p in o[1].items()]])
    row = {"name": "forged", "status": "proved", "why": "", "after": made, "origins": origins, "roots": [list(x) for x in (roots or {}).items()], "regroups": licensed}
    text = "int main(void) { return 0; }"
    given = [*([b, "an array", "f64"] for b in arrays.split()), *([name, "a variable", d] for name, d in (scalars or {}).items())]
    head = {"format": FORMAT, "program": "small", "digest": "0" * 64, "reassociate": licensed, "notes": [], "sizes": sizes.split(), "arguments": given, "results": [], "lowered": lowered, "rewrites": [row]}
    return {**head, "P": t.P, "Q": t.Q, "E": t.E, "S": t.S, "c": {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}, "source": {"what": "none", "certificate": None}}
