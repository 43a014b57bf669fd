"""A scan in chunks, put back as the loop that adds one by one: with the program's licence to regroup, where it is of floats.

    if n >= c:  RUNS   else:  LOOP        is        LOOP

    LOOP    for r in 0..n, in order:  names;  s := s op v(r);  y[i(r)] = ... s ...
    RUNS    for blocks of chunks:  totals of every run of every chunk, by any thread;  in order: what is before each run, and s;  every run from what is before it, by any thread;
            then the rounds that are left, from s

What is before a run is s op all values of the runs before, which is the same by an associative operator; s is the only thing that a round leaves to the next. Values are computed twice: nothing that
a round reads is written by one, and no two write one element (asked of the index: it is r times a number, and something that is the same in all rounds). A running minimum or maximum of
floats may compare plainly in a chunk at whose end it is a number, since NaN would have stayed. The texts are made here, for the lengths that are there, and compared up to names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from atoll.check.rewrites.best_back import ORDER, call, canonical
from atoll.check.rewrites.language import Body, Expr, Stmt, coefficient, loads, mapped, names, parts, walk
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.parts_back import REGROUPED
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.texts import OPERATORS
from atoll.check.sums import Poly, add, const, div, mul, sub, subst, value, var

MONOIDS = {op: monoid for monoid, op in OPERATORS.items()}
SIDE_BY_SIDE = (True, 0, False, False)
MOST = 64  # runs of a chunk


def scans_back(body: tuple[Node, ...], kinds: Kinds, licensed: bool, notes: set[str]) -> tuple[Node, ...]:
    out = []
    for n in body:
        n = replace(n, bodies=tuple(scans_back(b, kinds, licensed, notes) for b in n.bodies))
        out.append(_found(n, kinds, licensed, notes) or n)
    return tuple(out)


@dataclass(frozen=True)
class Scan:
    """The rounds of a loop, which of them adds, to what, by which operator, what, made of which names."""

    i: str
    n: Poly
    body: Body
    step: Stmt
    s: str
    d: str
    op: str
    added: Expr
    needed: Body

    @property
    def compares(self) -> bool:
        return self.op in ("min", "max") and self.d[0] == "f"


def _found(n: Node, kinds: Kinds, licensed: bool, notes: set[str]) -> Node | None:
    tests: tuple[Any, ...] = n.stmt[1] if n.stmt[0] == "if" else ()
    if len(tests) != 1 or tests[0][0] != "ge" or len(n.bodies[1]) != 1 or not n.bodies[0] or n.bodies[0][0].stmt[0] != "alloc":
        return None
    scan = _scan(n.bodies[1][0])
    if scan is None or kinds[scan.s][1] != scan.d or (scan.d[0] == "f" and not licensed):
        return None
    least = value(sub(scan.n, tests[0][1]))
    if least is None or least < 0:
        return None  # of a range that is negative nothing is right
    there = tuple(map(whole, n.bodies[0]))
    if not any(canonical(there) == canonical(made) for made in _runs(scan, there)):
        return None
    if scan.d[0] == "f":
        notes.add(REGROUPED)
    return n.bodies[1][0]


def _scan(loop: Node) -> Scan | None:
    if loop.stmt[0] != "for" or loop.stmt[2] != () or loop.stmt[5] != ORDER:
        return None
    i, body = loop.stmt[1], tuple(map(whole, loop.bodies[0]))
    steps = [s for s in body if s[0] == "assign"]
    stores = [s for s in body if s[0] == "store"]
    if len(steps) != 1 or not stores or len(body) != len(steps) + len(stores) + sum(s[0] == "let" for s in body):
        return None
    (step,) = steps
    e = step[2]
    if e[0] != "call" or e[1] not in MONOIDS or len(e[2]) != 2 or e[2][0] != ("use", step[1]) or e[3][0] not in "fiu":
        return None
    lets = [s for s in body[: body.index(step)] if s[0] == "let"]
    wanted = names(e[2][1])
    for s in reversed(lets):
        if s[1] in wanted:
            wanted |= names(s[3])
    written = {s[1] for s in stores}
    if step[1] in wanted or any(x[1] in written for s in body for p in parts(s) for x in loads(p)) or step[1] in set().union(*(names(p) for s in stores for p in s[2])):
        return None
    own = {s[1] for s in body if s[0] == "let"}
    for s in stores:  # different rounds, different elements; one store of an array
        told = [p for p in s[2] if (coefficient(p, i) or 0) != 0 and not names(p) & own]
        if not told or sum(x[1] == s[1] for x in stores) != 1:
            return None
    needed = tuple(s for s in lets if s[1] in wanted)
    return Scan(i, loop.stmt[3], body, step, step[1], e[3], e[1], e[2][1], needed)


# -- what it may be


def _runs(scan: Scan, there: Body) -> Iterator[Body]:
    rooms = [s for s in there if s[0] == "alloc"]
    lengths = {value(s[3]) for s in walk(there) if s[0] == "accumulate" and s[2] == ()}
    if not 1 <= len(rooms) <= 2 or len(rooms[0][3]) != 2 or len(lengths) != 1:
        return
    chunks, number, length = value(rooms[0][3][0]), value(rooms[0][3][1]), lengths.pop()
    if chunks is None or number is None or length is None or min(chunks, number, length) < 1 or number > MOST:
        return
    yield _Runs(scan, chunks, number, length, [(r[1], r[4]) for r in rooms]).text()


class _Runs:
    def __init__(self, scan: Scan, chunks: int, number: int, length: int, rooms: list[tuple[str, Any]]) -> None:
        self.scan, self.chunks, self.number, self.length = scan, chunks, number, length
        self.starts, self.ends = rooms[0], rooms[-1]

    def text(self) -> Body:
        scan, in_chunk = self.scan, self.number * self.length
        all_ = div(scan.n, const(in_chunk))
        left = call("min", ("index", const(self.chunks)), ("index", sub(all_, mul(const(self.chunks), var("%block")))), d="i64")
        steps = (("let", "%count", "i64", left), self.pieces(self.totals, "a"), self.before(), self.pieces(self.each, "b"))
        rest = ("for", "%rest", mul(all_, const(in_chunk)), scan.n, self.copied(var("%rest"), "rest", scan.s), ORDER)
        rooms: list[Stmt] = [("alloc", self.starts[0], scan.d, (const(self.chunks), const(self.number)), self.starts[1])]
        if scan.compares:
            rooms.append(("alloc", self.ends[0], scan.d, (const(self.chunks),), self.ends[1]))
        blocks = ("for", "%block", (), div(add(all_, const(self.chunks - 1)), const(self.chunks)), steps, ORDER)
        return *rooms, blocks, rest, *(("free", r[1]) for r in rooms)

    def pieces(self, of: Any, tag: str) -> Stmt:
        chunk = f"%chunk{tag}"
        return ("chunks", f"%lo{tag}", f"%hi{tag}", var("%count"), (("for", chunk, var(f"%lo{tag}"), var(f"%hi{tag}"), of(chunk), SIDE_BY_SIDE),), (), (), ())

    def first(self, chunk: str, run: Poly) -> Poly:
        return add(mul(add(mul(const(self.chunks), var("%block")), var(chunk)), const(self.number * self.length)), mul(const(self.length), run))

    def totals(self, chunk: str) -> Body:
        scan, monoid = self.scan, MONOIDS[self.scan.op]
        place = add(self.first(chunk, var("%run")), var("%t"))
        env, lets = self.renamed(scan.needed, place, "t", None)
        summed = ("accumulate", "%t", (), const(self.length), (*lets, ("add", "%total", monoid, put(scan.added, env))), (("%total", monoid, scan.d),), False)
        return (("for", "%run", (), const(self.number), (summed, ("store", self.starts[0], (var(chunk), var("%run")), ("use", "%total"))), SIDE_BY_SIDE),)

    def before(self) -> Stmt:
        """The totals become what is before each run."""
        scan, place = self.scan, (var("%c"), var("%q"))
        each = (
            ("let", "%here", scan.d, ("load", self.starts[0], place)),
            ("store", self.starts[0], place, ("use", scan.s)),
            ("assign", scan.s, call(scan.op, ("use", scan.s), ("use", "%here"), d=scan.d)),
        )
        runs: Body = (("for", "%q", (), const(self.number), each, ORDER),)
        if scan.compares:
            runs = (*runs, ("store", self.ends[0], (var("%c"),), ("use", scan.s)))
        return ("for", "%c", (), var("%count"), runs, ORDER)

    def each(self, chunk: str) -> Body:
        scan = self.scan
        own = tuple(("declare", f"%s{k}", scan.d, ("load", self.starts[0], (var(chunk), const(k)))) for k in range(self.number))
        if not scan.compares:
            return *own, self.rounds(chunk, "o", False)
        end = ("let", "%end", scan.d, ("load", self.ends[0], (var(chunk),)))
        number = (("true", None, call("eq", ("use", "%end"), ("use", "%end"))),)
        return *own, end, ("if", number, (self.rounds(chunk, "p", True),), (self.rounds(chunk, "o", False),))

    def rounds(self, chunk: str, tag: str, plainly: bool) -> Stmt:
        t = f"%t{tag}"
        inner: list[Stmt] = []
        for k in range(self.number):
            inner += self.copied(add(self.first(chunk, const(k)), var(t)), f"{tag}{k}", f"%s{k}", plainly)
        return ("for", t, (), const(self.length), tuple(inner), (False, 0, False, self.number == 1))

    def renamed(self, lets: Body, place: Poly, tag: str, s: str | None) -> tuple[dict[str, Poly], list[Stmt]]:
        env = {self.scan.i: place, **{x[1]: var(f"{x[1]}%{tag}") for x in lets}, **({} if s is None else {self.scan.s: var(s)})}
        return env, [("let", f"{x[1]}%{tag}", x[2], put(x[3], env)) for x in lets]

    def copied(self, place: Poly, tag: str, s: str, plainly: bool = False) -> Body:
        """A round, with s by another name."""
        scan = self.scan
        env, _ = self.renamed(tuple(x for x in scan.body if x[0] == "let"), place, tag, s)
        out: list[Stmt] = []
        for x in scan.body:
            if x[0] == "let":
                out.append(("let", f"{x[1]}%{tag}", x[2], put(x[3], env)))
            elif x[0] == "store":
                out.append(("store", x[1], tuple(put(p, env) for p in x[2]), put(x[3], env)))
            elif plainly:
                stays = (("true", None, call("gt" if scan.op == "max" else "lt", ("use", s), ("use", f"%v{tag}"))),)
                out += [("let", f"%v{tag}", scan.d, put(scan.added, env)), ("assign", s, ("choose", stays, ("use", s), ("use", f"%v{tag}")))]
            else:
                out.append(("assign", s, put(x[2], env)))
        return tuple(out)


def put(e: Any, env: dict[str, Poly]) -> Any:
    return mapped(e, lambda p: subst(p, env), lambda x: ("use", env[x[1]][0][0][0]) if x[0] == "use" and x[1] in env else None)


