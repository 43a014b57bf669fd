"""The checker's own lowering: the loops of a certificate are read beside its last term and must be what destination passing makes of it.

Each store is found through the checker's own reindexers, with what must hold for a truncation to cut off only padding (C4). What is free
is where zeros are written first and whether a guarded scalar is stored under a test or as a choice; that every cell is written is
checked afterwards, on the loops alone (nests.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.check.sums import ZERO, Poly, Proofs, Quotient, Rejected, Tables, add, const, need, sub, unknown, value, var
from atoll.check.terms import (
    VIEWS,
    Env,
    Pairs,
    Shape,
    Term,
    below,
    dtype,
    kids,
    number_type,
    set_vars,
    shape,
    test_kind,
    view_push,
)

Stmt = tuple[Any, ...]
Path = tuple[tuple[Any, bool], ...]
Push = Callable[[Pairs], tuple[Pairs, list[Poly]]]
STACK = 64 * 1024  # bytes of literal size that may stand on the stack
BYTES = {"bool": 1} | {f"{k}{n}": n // 8 for k in "iufc" for n in (8, 16, 32, 64, 128)}
OPERATORS = {"add": "add", "mul": "mul", "minimum": "min", "maximum": "max", "and": "and", "or": "or", "xor": "xor"}
NONE = ("const", "-1", "i64")  # the number of no element
LARGEST = 2**46  # what literals of loops stay below, as sizes do: C has 64-bit integers


class Reader:
    """Loops decoded; every store gets a number."""

    def __init__(self, tables: Tables) -> None:
        self.t, self.stores = tables, 0

    def poly(self, k: int) -> Poly:
        """A polynomial that C computes."""
        found = self.t.poly(k)
        waiting, seen = [found], {found}
        while waiting:
            for monomial, coef in waiting.pop():
                need(abs(coef) < LARGEST, "the number", coef, "is too large for loops")
                inside = {p for x in monomial if isinstance(x, Quotient) for p in (x.num, x.den)} - seen
                seen |= inside
                waiting += inside
        return found

    def polys(self, ks: list[int]) -> tuple[Poly, ...]:
        return tuple(map(self.poly, ks))

    def stmts(self, data: list[Any]) -> tuple[Stmt, ...]:
        return tuple(self.stmt(x) for x in data)

    def stmt(self, x: list[Any]) -> Stmt:
        p, ps = self.poly, self.polys
        match x:
            case ["for", sym, low, high, [bool() as parallel, int() as vector, unroll, bool() as pieces], body]:
                need(vector >= 0 and isinstance(unroll, (bool, int)), "how a loop runs")
                return ("for", unknown(sym), p(low), p(high), (parallel, vector, unroll, pieces), self.stmts(body))
            case ["if", tests, then, orelse]:
                return ("if", self.tests(tests), self.stmts(then), self.stmts(orelse))
            case ["store", b, index, e]:
                self.stores += 1
                return ("store", unknown(b), ps(index), self.expr(e), self.stores)
            case ["update", b, index, op, e]:
                self.stores += 1
                return ("update", unknown(b), ps(index), op, self.expr(e), self.stores)
            case ["set" | "declare" as kind, v, d, e]:
                return (kind, unknown(v), number_type(d), None if e is None else self.expr(e))
            case ["assign", v, e]:
                return ("assign", unknown(v), self.expr(e))
            case ["alloc", b, d, extents, bool() as local, rows]:
                return self.alloc(unknown(b), number_type(d), ps(extents), local, rows)
            case ["free", what]:
                return ("free", unknown(what))
            case ["section", what, at, args]:
                return ("section", unknown(what), ps(at), tuple(map(unknown, args)))
        raise Rejected("no such statement")

    def alloc(self, b: str, d: str, extents: tuple[Poly, ...], local: bool, rows: int | None) -> Stmt:
        """Memory for an array, on the heap or, where its size is a small number, on the stack; or only for some of its rows."""
        need(rows is None or (type(rows) is int and rows >= 1 and extents), "rows of", b)
        if local:
            bytes, sizes = BYTES[d], list(map(value, extents))
            if rows is not None and sizes[0] is not None:
                sizes[0] = max(sizes[0], rows)  # what is kept are rows, also where the array has fewer
            for n in () if 0 in sizes else sizes:  # of an array without elements the other extents do not matter
                need(n is not None and n >= 0, "the stack holds arrays of literal size only, not", b)
                assert n is not None
                bytes *= n
            need(bytes <= STACK, "too large for the stack:", b)
        return ("alloc", b, d, extents, local, rows)

    def tests(self, tests: list[Any]) -> Any:
        return tuple((test_kind(k, q, e), None if q is None else self.poly(q), None if e is None else self.expr(e)) for k, q, e in tests)

    def expr(self, x: list[Any]) -> Any:
        match x:
            case ["use", v]:
                return ("use", unknown(v))
            case ["const", number, d]:
                return ("const", repr(number), number_type(d))
            case ["index", p]:
                return ("index", self.poly(p))
            case ["load", b, index]:
                return ("load", unknown(b), self.polys(index))
            case ["call", op, args, d]:
                return ("call", op, tuple(map(self.expr, args)), number_type(d))
            case ["cast", e, d]:
                return ("cast", self.expr(e), number_type(d))
            case ["choose", tests, a, b]:
                return ("choose", self.tests(tests), self.expr(a), self.expr(b))
            case ["truth", tests]:
                return ("truth", self.tests(tests))
        raise Rejected("no such expression")


class Place:
    """Where a term goes: a buffer or variable, the way there, and whether it is set or added to."""

    __slots__ = ("kind", "name", "push", "mode", "arms")

    def __init__(self, kind: str, name: str, push: Push, mode: str = "=", arms: tuple[tuple[int, int], ...] = ()) -> None:
        self.kind, self.name, self.push, self.mode, self.arms = kind, name, push, mode, arms

    def by(self, push: Push, arm: tuple[int, int] | None = None) -> Place:
        return Place(self.kind, self.name, push, self.mode, self.arms if arm is None else (*self.arms, arm))

    def adding(self, monoid: str) -> Place:
        need(self.mode in ("=", monoid), "one sum inside another")
        return Place(self.kind, self.name, self.push, monoid, self.arms)

    def enter(self, pair: tuple[Poly, Poly]) -> Place:
        return self.by(lambda pairs: self.push([pair, *pairs]))

    def through(self, t: Term) -> Place:
        a, takes = t[2], VIEWS[t[1]][0]

        def push(pairs: Pairs) -> tuple[Pairs, list[Poly]]:
            moved, drops = view_push(t[1], pairs[a : a + takes], t[3] or ZERO)
            found, more = self.push([*pairs[:a], *moved, *pairs[a + takes :]])
            return found, drops + more

        return self.by(push)

    def beside(self, axis: int, shift: Poly, more: Poly, arm: tuple[int, int]) -> Place:
        def push(pairs: Pairs) -> tuple[Pairs, list[Poly]]:
            i, d = pairs[axis]
            return self.push([*pairs[:axis], (add(i, shift), add(d, more)), *pairs[axis + 1 :]])

        return self.by(push, arm)


def here(pairs: Pairs) -> tuple[Pairs, list[Poly]]:
    return pairs, []


class Match:
    """Statements read beside terms. Methods take statements and a position and give the next position."""

    def __init__(
        self, proofs: Proofs, places: dict[str, tuple[str, str]], types: dict[str, str], shapes: dict[str, Shape], params: dict[str, str], filled: set[tuple[str, bool]]
    ) -> None:
        self.proofs, self.places, self.types, self.shapes, self.params, self.filled = proofs, dict(places), dict(types), dict(shapes), params, filled
        self.ahead: tuple[tuple[Stmt, ...], int] = ((), 0)
        self.prefix: dict[str, Callable[[tuple[Stmt, ...]], int]] = {}
        self.arms: dict[int, tuple[tuple[int, int], ...]] = {}
        self.rolled: dict[str, tuple[dict[str, Poly], int]] = {}  # loops in which rows are written, how far ahead of them the newest is, rows kept
        self.seen: set[int] = set()
        self.opaque: set[str] = set()  # buffers that opaque parts fill
        self.cats = self.drops = 0
        self.main = True  # not the program for other sizes
        self.copying = False

    def all(self, t: Term, env: Env, place: Place, stmts: tuple[Stmt, ...]) -> None:
        need(self.term(t, env, place, stmts, 0) == len(stmts), "more statements than the term has")

    def at(self, stmts: tuple[Stmt, ...], i: int, kind: str) -> Stmt:
        need(i < len(stmts) and stmts[i][0] == kind, "expected", kind, "in the loops")
        return stmts[i]

    # -- the top: lets, opaque parts, results

    def results(self, t: Term, env: Env, outputs: dict[str, Shape], stmts: tuple[Stmt, ...], i: int) -> int:
        """`outputs` with their extents as declared: a term's own may be the same in other words, and memory is filled as it is declared."""
        if t[0] == "let":
            return self.let(t, env, stmts, i, lambda inner, j: self.results(t[3], inner, outputs, stmts, j))
        if t[0] == "nest":
            return self.nest(t, env, stmts, i, lambda inner, j: self.results(t[5], inner, outputs, stmts, j))
        for item, (name, extents) in zip(t[1] if t[0] == "many" else (t,), outputs.items(), strict=True):
            if (name, self.main) in self.filled:
                i = self.zeros(("zero", extents, dtype(item, env.types)), env, Place("buffer", name, here), _zero(dtype(item, env.types)), stmts, i)
            i = self.term(item, env, Place("buffer", name, here), stmts, i)
        return i

    def nest(self, t: Term, env: Env, stmts: tuple[Stmt, ...], i: int, rest: Callable[[Env, int], int]) -> int:
        """What an opaque part makes, or one round of it."""
        for (x, d), extents in zip(t[1], t[2], strict=True):
            a = self.at(stmts, i, "alloc")
            need(a[2:] == (d, extents, False, None), "memory of an opaque part")
            self.places[x], self.types[x], self.shapes[x] = ("buffer", a[1]), d, extents
            self.opaque.add(a[1])
            i += 1
        need(self.at(stmts, i, "section")[1:] == (t[3], t[8], tuple(self.places[x][1] for x in t[4])), "another opaque part, or of something else")
        i = rest(env.down(t, 0), i + 1)
        return self.frees(stmts, i, [self.places[x][1] for x, _ in t[1]])

    def frees(self, stmts: tuple[Stmt, ...], i: int, names: list[str]) -> int:
        """Each of these is given back, once, where its name ends."""
        freed = [self.at(stmts, i + k, "free")[1] for k in range(len(names))]
        need(sorted(freed) == sorted(names), "other memory is freed than", *names)
        return i + len(names)

    # -- terms

    def term(self, t: Term, env: Env, place: Place, stmts: tuple[Stmt, ...], i: int) -> int:
        if silent(t, place.mode):
            return i
        if place.kind == "buffer" and place.mode == "=" and blank(t):
            try:
                return self.parts(t, env, place, stmts, i)
            except Rejected:
                return i  # zeros that were written first, or have no room: C9 says whether that is enough
        return self.parts(t, env, place, stmts, i)

    def parts(self, t: Term, env: Env, place: Place, stmts: tuple[Stmt, ...], i: int) -> int:
        match t[0]:
            case "gen":
                t = self.copied(t, stmts, i)
                return self.loop(t, env, place.enter((sub(var(t[1]), t[2]), sub(t[3], t[2]))), stmts, i)
            case "sum":
                if place.mode == "=":
                    i = self.first(t, env, place, stmts, i)
                return self.loop(self.copied(t, stmts, i), env, place.adding(t[5]), stmts, i)
            case "plus":
                need(place.mode in ("=", t[3]), "one sum inside another")
                i = self.term(t[1], env.down(t, 0), place, stmts, i)
                return self.term(t[2], env.down(t, 1), place.adding(t[3]), stmts, i)
            case "let":
                return self.let(t, env, stmts, i, lambda inner, j: self.term(t[3], inner, place, stmts, j))
            case "nest":
                return self.nest(t, env, stmts, i, lambda inner, j: self.term(t[5], inner, place, stmts, j))
            case "cat":
                self.cats += 1
                arm, n, m = self.cats, shape(t[2], env.shapes)[t[1]], shape(t[3], env.shapes)[t[1]]
                i = self.term(t[2], env, place.beside(t[1], ZERO, m, (arm, 0)), stmts, i)
                return self.term(t[3], env, place.beside(t[1], n, n, (arm, 1)), stmts, i)
            case "view":
                return self.term(t[4], env, place.through(t), stmts, i)
            case "zero" if place.mode == "=":
                return self.zeros(t, env, place, _zero(t[2]), stmts, i)
            case "zero" if t[1]:  # an element like others of a maximum
                x = self.at(stmts, i, "for")
                return self.term(("gen", x[1], ZERO, t[1][0], ("zero", t[1][1:], t[2])), env, place, stmts, i)
            case "guard" if not pure(t):
                x = self.at(stmts, i, "if")
                need(x[1] == self.tests(t) and place.mode in ("=", "add"), "another test")
                self.all(t[2], env.down(t, 0), place, x[2])
                need(x[3] or place.kind == "buffer" or place.mode == "add", "a variable without a value:", place.name)
                if x[3]:
                    beyond = env.know(sub(const(-1), t[1][0])) if len(t[1]) == 1 else env
                    need(place.mode == "=" and self.zeros(t[2], beyond, place, _zero(dtype(t, env.types)), x[3], 0) == len(x[3]))
                return i + 1
            case "choose" if not pure(t):
                wanted, i = self.before(lambda: self.choose_tests(t), stmts, i)
                x = self.at(stmts, i, "if")
                need(x[1] == wanted, "another test")
                self.all(t[1], env.down(t, 0), place, x[2])
                self.all(t[2], env.down(t, 1), place, x[3])
                return i + 1
        return self.store(t, env, place, stmts, i)

    def copied(self, t: Term, stmts: tuple[Stmt, ...], i: int) -> Term:
        """Rows of a rolled value are written at two places, with loops of their own: the term by the name of the loop at this place."""
        if not self.copying or i >= len(stmts) or stmts[i][0] != "for":
            return t
        sym = stmts[i][1]
        return (t[0], sym, *t[2:4], set_vars(t[4], {t[1]: var(sym)}), *t[5:])

    def loop(self, t: Term, env: Env, place: Place, stmts: tuple[Stmt, ...], i: int) -> int:
        x = self.at(stmts, i, "for")
        first = self.prefix.pop(t[1], None)  # the row a rolled value gets in this round
        need(x[1:4] == t[1:4], "another loop than", t[1])
        parallel, vector, _, pieces = x[4]
        need(t[0] == "gen" or not (parallel or vector or pieces), t[1], "is a sum")
        need(not first or not (parallel or vector or pieces), t[1], "must run in order")
        start = first(x[5]) if first else 0
        need(self.term(t[4], env.down(t, 0), place, x[5], start) == len(x[5]), "more statements than the term has")
        return i + 1

    def first(self, t: Term, env: Env, place: Place, stmts: tuple[Stmt, ...], i: int) -> int:
        """The neutral element, before a sum adds to it."""
        start = _neutral(t[5], dtype(t, env.types))
        if place.kind == "var":
            x = self.at(stmts, i, "assign")
            need(x[1] == place.name and x[2] == start, "a sum starts from something else")
            return i + 1
        return self.zeros(t[4], env.down(t, 0), place, start, stmts, i)

    def zeros(self, t: Term, env: Env, place: Place, start: Any, stmts: tuple[Stmt, ...], i: int) -> int:
        """A constant into every place t would write, perhaps under its guards."""
        match t[0]:
            case "gen":
                x = self.at(stmts, i, "for")
                copy = ("gen", x[1], t[2], t[3], set_vars(t[4], {t[1]: var(x[1])}))
                need(x[2:4] == (t[2], t[3]), "zeros over another range")
                pair = (sub(var(x[1]), t[2]), sub(t[3], t[2]))
                need(self.zeros(copy[4], env.down(copy, 0), place.enter(pair), start, x[5], 0) == len(x[5]))
                return i + 1
            case "sum" | "nest":
                return self.zeros(kids(t)[0], env.down(t, 0), place, start, stmts, i)
            case "let" | "plus":
                k = 1 if t[0] == "let" else 0
                return self.zeros(kids(t)[k], env.down(t, k), place, start, stmts, i)
            case "guard":
                if i < len(stmts) and stmts[i][0] == "if" and stmts[i][1] == self.tests(t) and not stmts[i][3]:
                    need(self.zeros(t[2], env.down(t, 0), place, start, stmts[i][2], 0) == len(stmts[i][2]))
                    return i + 1
                return self.zeros(t[2], env, place, start, stmts, i)
            case "cat":
                self.cats += 1
                arm, n, m = self.cats, shape(t[2], env.shapes)[t[1]], shape(t[3], env.shapes)[t[1]]
                i = self.zeros(t[2], env, place.beside(t[1], ZERO, m, (arm, 0)), start, stmts, i)
                return self.zeros(t[3], env, place.beside(t[1], n, n, (arm, 1)), start, stmts, i)
            case "view":
                return self.zeros(t[4], env, place.through(t), start, stmts, i)
            case "zero" if t[1]:
                nest: Term = ("zero", (), t[2])
                for k, n in reversed(list(enumerate(t[1]))):
                    nest = ("gen", f"%z{k}", ZERO, n, nest)
                return self.zeros(nest, env, place, start, stmts, i)
        return self.put(start, env, Place(place.kind, place.name, place.push, "=", place.arms), stmts, i)

    # -- names

    def let(self, t: Term, env: Env, stmts: tuple[Stmt, ...], i: int, rest: Callable[[Env, int], int]) -> int:
        extents, d = shape(t[2], env.shapes), dtype(t[2], env.types)
        inside = env.down(t, 1)
        self.types[t[1]], self.shapes[t[1]] = d, extents
        need(i < len(stmts), "no statement for", t[1])
        x = stmts[i]
        if not extents:
            if pure(t[2]):
                wanted, i = self.before(lambda: self.expr(t[2]), stmts, i)
                x = self.at(stmts, i, "set")
                need(x[2:] == (d, wanted), "another value of", t[1])
                self.places[t[1]] = ("var", x[1])
                return rest(inside, i + 1)
            need(x[0] == "declare" and x[2] == d, "no variable for", t[1])
            self.places[t[1]] = ("var", x[1])
            # a declaration with a value is a declaration and an assignment
            if x[3] is None:
                i = self.term(t[2], env.down(t, 0), Place("var", x[1], here), stmts, i + 1)
            else:
                whole = (("assign", x[1], x[3]), *stmts[i + 1 :])
                i += self.term(t[2], env.down(t, 0), Place("var", x[1], here), whole, 0)
            return rest(inside, i)
        need(x[0] == "alloc" and x[2] == d and x[3] == extents, "memory of", t[1])
        self.places[t[1]] = ("buffer", x[1])
        if t[4] is not None:
            i = self.roll(t, env, inside, x, stmts, i + 1, rest)
        else:
            need(x[5] is None, t[1], "is not rolled")
            i += 1
            if (x[1], self.main) in self.filled:
                i = self.zeros(("zero", extents, d), env, Place("buffer", x[1], here), _zero(d), stmts, i)
            i = rest(inside, self.term(t[2], env.down(t, 0), Place("buffer", x[1], here), stmts, i))
        return self.frees(stmts, i, [x[1]])

    def roll(self, t: Term, env: Env, inside: Env, x: Stmt, stmts: tuple[Stmt, ...], i: int, rest: Callable[[Env, int], int]) -> int:
        """Rows before the loop, then one row per round."""
        (lead, rows), made, body = t[4], t[2], t[3]
        need(x[5] == rows and not x[4] and made[0] == body[0] == "gen" and made[2] == ZERO, "a rolled value out of shape")
        advance = {body[1]: lead}
        self.rolled[x[1]] = (advance, rows)
        early = add(body[2], lead)

        def row(at: Poly, here_env: Env, inner: tuple[Stmt, ...], j: int) -> int:
            """One row, under the test that there is such a row unless that is plain."""
            conds = [at, below(at, made[3])]
            term, place = set_vars(made[4], {made[1]: at}), Place("buffer", x[1], here).enter((at, made[3]))
            self.copying = True
            if inner[j][0] == "if" and all(k == "ge" and p in conds for k, p, _ in inner[j][1]) and not inner[j][3]:
                self.all(term, here_env.know(*(p for _, p, _ in inner[j][1])), place, inner[j][2])
                end = j + 1
            else:
                end = self.term(term, here_env, place, inner, j)
            self.copying = False
            return end

        if i < len(stmts) and stmts[i][0] == "for" and stmts[i][1] != body[1]:
            warm = stmts[i]
            need(warm[2:4] == (ZERO, early) and not (warm[4][0] or warm[4][1] or warm[4][3]), "other rows first")
            inner_env = env.down(("gen", warm[1], ZERO, early, made[4]), 0)
            advance[warm[1]] = ZERO
            need(row(var(warm[1]), inner_env, warm[5], 0) == len(warm[5]))
            i += 1
        newest = add(var(body[1]), lead)
        self.prefix[body[1]] = lambda inner: row(newest, inside.down(body, 0), inner, 0)
        return rest(inside, i)

    # -- scalars

    def store(self, t: Term, env: Env, place: Place, stmts: tuple[Stmt, ...], i: int) -> int:
        need(pure(t), "a sum inside an operation")
        if t[0] == "guard" and i < len(stmts) and stmts[i][0] == "if":
            x = stmts[i]
            need(x[1] == self.tests(t) and not x[3] and (place.mode == "add" or (place.mode == "=" and place.kind == "buffer")), "another test")
            self.all(t[2], env.down(t, 0), place, x[2])
            return i + 1
        need(t[0] != "guard" or place.mode != "add", "a guard that adds zeros")
        if t[0] == "op" and t[1] == "mulacc" and place.mode == "add":
            value, i = self.before(lambda: tuple(self.expr(a) for a in t[2]), stmts, i)
            return self.put(value, env, place, stmts, i, t[3])
        value, i = self.before(lambda: self.expr(t), stmts, i)
        return self.put(value, env, place, stmts, i, dtype(t, env.types))

    def put(self, value: Any, env: Env, place: Place, stmts: tuple[Stmt, ...], i: int, d: str = "") -> int:
        fused = not isinstance(value[0], str)
        if place.kind == "var":
            x = self.at(stmts, i, "assign")
            old = ("use", place.name)
            wanted = value if place.mode == "=" else ("call", "fma", (*value, old), d) if fused else ("call", OPERATORS[place.mode], (old, value), d)
            need(x[1] == place.name and x[2] == wanted, "another value for", place.name)
            return i + 1
        pairs, drops = place.push([])
        index = tuple(p for p, _ in pairs)
        adds = place.mode != "=" and not fused
        x = self.at(stmts, i, "update" if adds else "store")
        wanted = value if not fused else ("call", "fma", (*value, ("load", place.name, index)), d)
        need(x[1] == place.name and x[2] == index and x[-2] == wanted and (not adds or x[3] == OPERATORS[place.mode]), "another store to", place.name)
        for p in drops:
            need(self.proofs.holds(env.facts, p), "C4: a truncation cuts off", place.name)
            self.drops += 1
        self.arms[x[-1]] = place.arms
        self.seen.add(x[-1])
        return i + 1

    def tests(self, t: Term) -> Any:
        return tuple(("ge", c, None) for c in t[1])

    def before(self, make: Callable[[], Any], stmts: tuple[Stmt, ...], i: int) -> tuple[Any, int]:
        """An expression, and the position behind the numbers that are made for it: what elements are looked up by."""
        self.ahead = (stmts, i)
        return make(), self.ahead[1]

    def choose_tests(self, t: Term, path: Path = ()) -> Any:
        made: tuple[Any, ...] = ()
        for k, p, x in t[3]:
            made = (*made, (k, p, None if x is None else self.expr(x, (*path, (made, True)) if made else path)))
        return made

    def look(self, t: Term, path: Path) -> Any:
        """An element at numbers that are data: each a variable that was made before (-1 where the tests around do not ask for it), tested here to be in range."""
        kind, name = self.places[t[1]]
        need(kind == "buffer" and len(t[2]) == len(self.shapes[t[1]]), "no array to look up in:", t[1])
        index = []
        for k in t[2]:
            if k[0] == "index":
                index.append(k[1])
                continue
            e = self.expr(k, path)
            for tests, taken in reversed(path):
                e = ("choose", tests, e, NONE) if taken else ("choose", tests, NONE, e)
            stmts, i = self.ahead
            x = self.at(stmts, i, "set")
            need(x[2:] == ("i64", e), "another number to look up by")
            self.ahead = (stmts, i + 1)
            index.append(var(x[1]))
        there = tuple(("ge", q, None) for p, n in zip(index, self.shapes[t[1]], strict=True) for q in (p, below(p, n)))
        return ("choose", there, ("load", name, tuple(index)), _zero(self.types[t[1]]))

    def expr(self, t: Term, path: Path = ()) -> Any:
        """A scalar. `path`: the tests around it inside of the statement, and which way they go."""
        match t[0]:
            case "look":
                return self.look(t, path)
            case "get":
                kind, name = self.places[t[1]]
                return ("use", name) if kind == "var" else ("load", name, t[2])
            case "lit":
                return ("const", t[1], t[2])
            case "zero":
                return _zero(t[2])
            case "index":
                mono: tuple[Any, ...] = t[1][0][0] if len(t[1]) == 1 and t[1][0][1] == 1 else ()
                return ("use", self.params[mono[0]]) if len(mono) == 1 and mono[0] in self.params else ("index", t[1])
            case "op":
                return ("call", "mul" if t[1] == "mulacc" else t[1], tuple(self.expr(x, path) for x in t[2]), t[3])
            case "cast":
                return ("cast", self.expr(t[1], path), t[2])
            case "guard":
                return ("choose", self.tests(t), self.expr(t[2], (*path, (self.tests(t), True))), _zero(dtype(t, self.types)))
            case "choose":
                tests = self.choose_tests(t, path)
                if t[1][0] == t[2][0] == "lit" and (t[1][1], t[2][1]) == ("True", "False"):
                    return ("truth", tests)
                return ("choose", tests, self.expr(t[1], (*path, (tests, True))), self.expr(t[2], (*path, (tests, False))))
        raise Rejected("no scalar")


def _zero(d: str) -> Any:
    return _constant(0, d)


def _constant(v: Any, d: str) -> Any:
    if d == "bool":
        return ("const", repr(bool(v)), d)
    if d[0] in "iu":
        return ("const", repr(int(v)), d)
    text = float(v).hex() if v == v and abs(v) != float("inf") else repr(float(v))
    return ("const", repr({"f": text} if d[0] == "f" else {"c": [{"f": text}, {"f": (0.0).hex()}]}), d)


def _neutral(monoid: str, d: str) -> Any:
    bits = int(d[1:]) if d[0] in "iu" else 0
    top = (1 << (bits - 1)) - 1 if d[0] == "i" else (1 << bits) - 1 if d[0] == "u" else 0
    match monoid:
        case "add" | "or" | "xor":
            return _constant(0, d)
        case "mul":
            return _constant(1, d)
        case "minimum" | "maximum":
            low = -top - 1 if d[0] == "i" else 0
            if d == "bool":
                return _constant(monoid == "minimum", d)
            return _constant((top if monoid == "minimum" else low) if bits else float("inf") * (1 if monoid == "minimum" else -1), d)
        case "and":
            return _constant(True if d == "bool" else -1 if d[0] == "i" else top, d)
    raise Rejected(f"no monoid {monoid}")


def pure(t: Term) -> bool:
    """A scalar without loops and names of its own."""
    if t[0] in ("get", "lit", "index"):
        return True
    if t[0] in ("op", "look", "cast", "choose", "guard"):
        return all(pure(k) for k in kids(t))
    return t[0] == "zero" and not t[1]


def blank(t: Term) -> bool:
    """Zeros everywhere, whatever loops stand around them."""
    match t[0]:
        case "zero":
            return True
        case "gen" | "view":
            return blank(t[4])
        case "guard":
            return blank(t[2])
        case "cat":
            return blank(t[2]) and blank(t[3])
    return False


def silent(t: Term, mode: str) -> bool:
    """Nothing to do: zeros that would be added."""
    match t[0]:
        case "zero":
            return mode == "add"
        case "gen" | "view":
            return silent(t[4], mode)
        case "sum":
            return mode == "add" and silent(t[4], "add")
        case "guard":
            return not pure(t) and mode == "add" and silent(t[2], mode)
        case "cat":
            return silent(t[2], mode) and silent(t[3], mode)
        case "plus":
            return mode == "add" and silent(t[1], mode) and silent(t[2], mode)
    return False

