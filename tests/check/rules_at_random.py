"""Rules of the checker tried on random terms with random arguments; what one accepts is evaluated. `python -m tests.check.rules_at_random FIRST LAST`.

Side conditions are not looked up here but decided, by trying small numbers (`Decided`), so that whatever is true may be used. What a rule then accepts has to have the same elements as
before, at every size tried: a condition that is missing in the checker is seen, whatever certificates the compiler makes. exp is 2 ** x here, so that numbers stay exact and
exp(a - b) = exp(a - c) * exp(c - b) all the same.
"""

from __future__ import annotations

import itertools
import random
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np

from atoll.check.rules import Rules
from atoll.check.sums import ONE, ZERO, Facts, Poly, Rejected, Tables, add, const, free, sub, subst, var
from atoll.check.terms import Env, Term, bound, change, dtype, kids, result_shapes, result_types, walk, well_formed, with_kids
from tests.check.run_loops import NUMPY, Source, Wrong, evaluate, neutral

SIZES = [dict(zip("nm", s, strict=True)) for s in itertools.product((0, 1, 2, 3), (0, 1, 2, 4))]
N, M = var("n"), var("m")
ARRAYS: dict[str, tuple[Poly, ...]] = {"s": (N, M), "t": (N, M), "u": (N, M), "w": (M,), "v": (N,), "ix": (N, M)}
TYPES = {"s": "f64", "t": "f64", "u": "f32", "w": "f64", "v": "f64", "ix": "i64"}
MARGIN = (-2, -1, 0, 1, 2, 3, 4)


class Decided:
    """In the place of the table of proofs: what holds for all small numbers that the facts allow."""

    def __init__(self) -> None:
        self.known: dict[Any, bool] = {}

    def holds(self, facts: Facts, goal: Poly) -> bool:
        key = (facts.known, goal)
        if key not in self.known:
            self.known[key] = self.decide(tuple(facts.members), goal)
        return self.known[key]

    def decide(self, facts: tuple[Poly, ...], goal: Poly) -> bool:
        names = {x for p in (*facts, goal) for x in free(p)} - {"n", "m"}
        for sizes in SIZES:
            for some in itertools.product(MARGIN, repeat=len(names)):
                env = {**sizes, **dict(zip(sorted(names), some, strict=True))}
                try:
                    if all(evaluate(p, env) >= 0 for p in facts) and evaluate(goal, env) < 0:
                        return False
                except Wrong:
                    continue
        return True

    def equal(self, facts: Facts, a: Poly, b: Poly) -> bool:
        return a == b or (self.holds(facts, sub(a, b)) and self.holds(facts, sub(b, a)))


class Meaning(Source):
    """The value of a term at given sizes. `beside`: how often an element that is not there was read."""

    def __init__(self, t: Term, sizes: dict[str, int], arguments: dict[str, Any]) -> None:
        self.sizes, self.beside = dict(sizes), 0
        self.shapes, self.types = dict(ARRAYS), dict(TYPES)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.results = [np.asarray(x) for x in self.top(t, dict(arguments))]

    def element(self, t: Term, index: tuple[int, ...], arrays: dict[str, Any], env: dict[str, int]) -> Any:
        if t[0] == "get":
            cell = tuple(evaluate(p, env) for p in t[2])
            self.beside += not all(0 <= i < k for i, k in zip(cell, np.shape(arrays[t[1]]), strict=True))
        return super().element(t, index, arrays, env)

    def fold(self, monoid: str, values: list[Any], t: Term, arrays: dict[str, Any]) -> Any:
        d = self._type(t)
        values = [NUMPY[d].type(v) for v in values]
        return super().fold(monoid, values, t, arrays) if values else neutral(monoid, d)

    def _type(self, t: Term) -> str:
        return dtype(t, self.types)


def same(a: Any, b: Any, finite: bool = False) -> bool:
    """Equal where the first is a number, a rule about real numbers says nothing of others; `finite`: where both are."""
    told = np.isfinite(np.asarray(a, np.float64))
    told = told & np.isfinite(np.asarray(b, np.float64)) if finite and a.shape == b.shape else told
    return a.shape == b.shape and bool(np.allclose(np.asarray(a, np.float64)[told], np.asarray(b, np.float64)[told], rtol=1e-6, atol=1e-9))


class Random:
    """Random programs that the rules of this file are about, and random arguments."""

    def __init__(self, seed: int) -> None:
        self.rng, self.count = random.Random(seed), 0

    def name(self, kind: str = "i") -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def number(self, i: str, j: str, deep: int = 1) -> Term:
        """An element that depends on a row and a column."""
        r, x, y = self.rng, var(i), var(j)
        d = "f64"
        simple: list[Term] = [("get", "s", (x, y)), ("get", "s", (x, y)), ("get", "t", (x, y)), ("get", "w", (y,)), ("get", "v", (x,)), ("get", "s", (x, ZERO)), ("lit", repr({"f": (2.0).hex()}), d)]
        if deep == 0 or r.random() < 0.5:
            return r.choice(simple)
        p = self.name("p")
        parts: list[Any] = [
            lambda: ("op", r.choice(("add", "sub", "mul")), (self.number(i, j, 0), self.number(i, j, 0)), d),
            lambda: ("guard", (sub(r.choice((M, const(3))), add(y, ONE)),), self.number(i, j, 0)),
            lambda: ("choose", self.number(i, j, 0), self.number(i, j, 0), (("ge", sub(y, ONE), None),)),
            lambda: ("choose", self.number(i, j, 0), self.number(i, j, 0), (("true", None, ("op", "gt", (("get", "t", (x, y)), ("lit", repr({"f": (0.0).hex()}), d)), "bool")),)),
            lambda: ("sum", p, ZERO, r.choice((M, y, const(2))), ("get", "s", (x, var(p))), r.choice(("add", "maximum"))),
            lambda: ("cast", ("get", "u", (x, y)), d),
        ]
        return r.choice(parts)()  # type: ignore[no-any-return]

    def range(self) -> tuple[Poly, Poly]:
        r = self.rng
        low = r.choice((ZERO, ZERO, ONE, const(2)))
        return low, r.choice((M, M, sub(M, ONE), const(3), const(1), low))

    def row(self, i: str) -> Poly:
        return self.rng.choice((var(i), var(i), var(i), var(i), ZERO, sub(N, add(var(i), ONE)), sub(var(i), ONE)))

    def rescale(self) -> tuple[Term, str, dict[str, Any]]:
        r, i, j, k, h = self.rng, self.name(), self.name("j"), self.name("k"), self.name("h")
        s, low, high = self.number(h, j), *self.range()
        top: Term = ("sum", j, low, high, s, r.choice(("maximum",) * 6 + ("minimum", "add", "mul")))
        if r.random() < 0.4:
            top = ("op", r.choice(("max", "max", "max", "min", "add")), r.sample((top, self.number(h, "m") if r.random() < 0.1 else ("get", "v", (var(h),))), 2), "f64")
            top = (*top[:2], tuple(top[2]), top[3])
        if r.random() < 0.1:
            top = ("guard", (sub(var(h), ONE),), top)
        a = self.swapped(s, {h: i, j: k}) if r.random() < 0.8 else self.number(i, k)
        if r.random() < 0.3:  # not of this row, or of a shifted column
            a = self.swapped(s, {h: i, j: k}, add(var(k), ONE))
        b: Term = ("get", "top", (self.row(i),))
        power: Term = ("op", "exp", (("op", r.choice(("sub",) * 9 + ("add",)), (a, b) if r.random() < 0.95 else (b, a), "f64"),), "f64")
        product: Term = ("op", "mul", (power, ("get", "w", (var(k),))), "f64")
        lo, hi = self.range() if r.random() < 0.5 else (low, high)
        body: Term = ("sum", k, lo, hi, product if r.random() < 0.5 else power, "add")
        t: Term = ("let", "top", ("gen", h, ZERO, N, top), ("gen", i, ZERO, N, body), None)
        block = self.range() if r.random() < 0.3 else (lo, hi)
        at = r.choice((var(k), var(k), var(k), var(k), add(var(k), ONE), ZERO, lo))
        return t, "rescale", {"at": at, "low": block[0], "high": block[1]}

    def swapped(self, t: Term, names: dict[str, str], column: Poly | None = None) -> Term:
        """A copy with other loops around it, and binders of its own."""
        own = {x: self.name("p") for u in walk(t) for x in bound(u)}
        env = {x: var(y) for x, y in {**names, **own}.items()}
        if column is not None:
            env[next(x for x in names if x.startswith("j"))] = column
        return change(t, lambda p: subst(p, env), own)

    def factor(self) -> tuple[Term, str, dict[str, Any]]:
        r, i, k = self.rng, self.name(), self.name("k")
        d = r.choice(("f64", "f64", "f64", "f32"))
        part: list[int] = []

        def product(deep: int) -> Term:
            here = r.choice((0, 1))
            part.append(here)
            other, inner = self.any(i, k), product(deep - 1) if deep and r.random() < 0.6 else self.any(i, k)
            return ("op", r.choice(("mul", "mul", "div", "sub")), (inner, other) if here == 0 else (other, inner), d if r.random() < 0.9 else "f32")

        low, high = self.range()
        body = product(2)
        monoid = r.choice(("add",) * 6 + ("mul", "maximum"))
        t: Term = ("gen", i, ZERO, N, ("sum", k, low, high if r.random() < 0.7 else var(i), body, monoid))
        cut = part if r.random() < 0.8 else part[: r.randrange(len(part) + 1)]
        if cut and r.random() < 0.2:
            cut = [*cut[:-1], 1 - cut[-1]]
        return t, "factor", {"part": tuple(cut)}

    def any(self, i: str, k: str) -> Term:
        """A number of some type, which may change with the round."""
        r, x, y = self.rng, var(i), var(k)
        return r.choice((("get", "w", (y,)), ("get", "v", (x,)), ("get", "v", (x,)), ("get", "s", (x, y)), ("get", "u", (x, ZERO)), ("get", "ix", (x, y)), ("index", y), ("cast", ("op", "mul", (("get", "ix", (x, y)), ("lit", "40", "i64")), "i64"), "i8"),
                         ("get", "v", (ZERO,)), self.number(i, k), ("look", "w", (("get", "ix", (x, ZERO)),)), ("look", "w", (("get", "ix", (x, y)),))))

    def let_join(self) -> tuple[Term, str, dict[str, Any]]:
        r = self.rng
        count = r.choice((2, 2, 3))
        low, high = r.choice(((ZERO, N), (ZERO, N), (ONE, add(N, ONE)), (ZERO, M)))
        made: list[tuple[str, Term]] = []
        rows: dict[str, Poly | None] = {}

        def read(at: Poly) -> Term:
            x = r.choice(list(rows))
            extent = rows[x]
            return ("get", x, (at, *(() if extent is None else (r.choice((ZERO, ZERO, const(1), sub(extent, ONE))),))))

        for _ in range(count):
            i, x, p = self.name(), r.choice("xyzabcdef") + str(self.count), self.name("p")
            lo, hi = (low, high) if r.random() < 0.85 else r.choice(((ZERO, N), (ONE, N), (ZERO, M), (ZERO, const(2))))
            extent = r.choice((None, None, M, const(2), ONE, sub(M, ONE)))
            e = self.number(i, p if extent is not None else "m")
            e = self.swapped(e, {}) if extent is not None else ("get", r.choice(("v", "v")), (sub(var(i), low),))
            if r.random() < 0.1:
                e = ("cast", e, "f32")
            if rows and r.random() < 0.7:
                where = sub(var(i), low) if r.random() < 0.8 else r.choice((var(i), ZERO, sub(N, add(var(i), ONE))))
                found = read(where)
                e = ("op", "add", (e, found), "f64") if e[0] != "cast" else e
            if r.random() < 0.15:
                e = ("guard", (sub(var(i), ONE),), e)
            body: Term = e if extent is None else ("gen", p, ZERO, extent, e)
            made.append((x, ("gen", i, lo, hi, body)))
            rows[x] = extent
        i = self.name()
        t: Term = ("op", "add", (read(r.choice((var(i), var(i), sub(N, add(var(i), ONE)), ZERO, add(var(i), ONE)))), read(var(i))), "f64")
        if r.random() < 0.15:
            t = ("op", "add", (t, ("look", r.choice([x for x, e in rows.items() if e is None] or ["v"]), (("get", "ix", (var(i), ZERO)),))), "f64")
        t = ("gen", i, ZERO, r.choice((N, N, sub(high, low))), t)
        for x, e in reversed(made):
            t = ("let", x, e, t, None)
        return t, "let_join", {"count": count if r.random() < 0.9 else r.choice((1, count + 1)), "name": "joined"}

    def part(self, body: Term, rows: int | None = None) -> Term:
        r = self.rng
        made = (("h", "f64"), ("g", "f64")) if r.random() < 0.4 else (("h", "f64"),)
        extents = tuple(r.choice(((N, M), (N, M), (N, const(3)))) for _ in made)
        rows = r.choice((1, 1, 1, 0, 2)) if rows is None else rows
        return ("nest", made, extents, "digest", tuple(r.sample(("s", "w", "v"), r.randrange(3))), body, (), rows, ())

    def nest_round(self) -> tuple[Term, str, dict[str, Any]]:
        r, i, j = self.rng, self.name(), self.name("j")

        def read() -> Term:
            x = r.choice(("h", "h", "h", "g"))
            if r.random() < 0.15:
                return ("look", x, (r.choice((("index", var(i)), ("get", "ix", (var(i), var(j))))), ("get", "ix", (var(i), var(j)))))
            return ("get", x, (self.row(i), r.choice((var(j), var(j), ZERO))))

        e: Term = ("op", "add", (read(), read()), "f64")
        t: Term = ("gen", i, ZERO, N, ("gen", j, ZERO, r.choice((M, const(3))), e))
        nest = self.part(t)
        if not all(u[1] in dict(nest[1]) for u in walk(t) if u[0] in ("get", "look") and u[1] in "hg"):
            nest = (*nest[:1], (("h", "f64"), ("g", "f64")), (nest[2][0], nest[2][-1]), *nest[3:])
        index = (self.row(i),) if r.random() < 0.7 else (self.row(i), r.choice((var(j), ZERO)))
        return nest, "nest_round", {"x": r.choice(("h", "h", "g")), "index": index if r.random() < 0.95 else ()}

    def let_dead(self) -> tuple[Term, str, dict[str, Any]]:
        r, i, j = self.rng, self.name(), self.name("j")
        e: Term = ("get", r.choice(("s", "t", "h")), (var(i), var(j)))
        t: Term = ("gen", i, ZERO, N, ("gen", j, ZERO, M, e if r.random() < 0.8 else ("look", "h", (("index", var(i)), ("get", "ix", (var(i), var(j)))))))
        if r.random() < 0.5:
            p, q = self.name("p"), self.name("p")
            return ("let", "h", ("gen", p, ZERO, N, ("gen", q, ZERO, M, ("get", "s", (var(p), var(q))))), t, None), "let_dead", {}
        nest = self.part(t)
        return (*nest[:2], tuple((N, M) for _ in nest[1]), *nest[3:]), "let_dead", {}


def positions(t: Term, env: Env, path: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], Env, Term]]:
    return [(path, env, t), *(found for n, k in enumerate(kids(t)) for found in positions(k, env.down(t, n), (*path, n)))]


def put(t: Term, path: tuple[int, ...], new: Term) -> Term:
    return new if not path else with_kids(t, tuple(put(k, path[1:], new) if n == path[0] else k for n, k in enumerate(kids(t))))


WHERE = {"rescale": ("op",), "factor": ("sum",), "let_join": ("let",), "nest_round": ("gen", "op", "get", "look"), "let_dead": ("let", "nest")}
RULES = tuple(WHERE)
TABLES = Tables({"P": [], "Q": [], "T": [], "H": []})


def top() -> Env:
    facts = Facts((N, M))
    return Env(facts, dict(ARRAYS), dict(TYPES), {}, facts)


def applied(rules: Rules, t: Term, rule: str, args: dict[str, Any], path: tuple[int, ...], env: Env, u: Term) -> Term:
    """The whole term after a step, as prove.py takes it."""
    rules.licences = set()
    made = getattr(rules, f"rule_{rule}")(env, u, u, **args)
    for a, b in zip(result_shapes(u, env.shapes), result_shapes(made, env.shapes), strict=True):
        if len(a) != len(b) or not all(rules.proofs.equal(env.closed, p, q) for p, q in zip(a, b, strict=True)):
            raise Rejected("another shape")
    if result_types(u, env.types) != result_types(made, env.types):
        raise Rejected("another type")
    whole = put(t, path, made)
    well_formed(whole, frozenset("nm"), frozenset(ARRAYS), dict(TYPES))
    return whole


def differs(t: Term, whole: Term, finite: bool = False) -> str | None:
    """Where the two have other elements: at sizes at which the first reads nothing that is not there, and its extents are no negative numbers."""
    rng = np.random.default_rng(len(repr(t)))
    for sizes in SIZES:
        arguments = {x: rng.integers(-3, 4, [evaluate(p, sizes) for p in e]).astype(NUMPY[TYPES[x]]) for x, e in ARRAYS.items()}
        try:
            before = Meaning(t, sizes, arguments)
            if before.beside:
                continue
        except (Wrong, ValueError):  # an extent below 0
            continue
        try:
            after = Meaning(whole, sizes, arguments)
        except (Wrong, ValueError) as problem:
            return f"{sizes}: {problem}"
        if not all(same(a, b, finite) for a, b in zip(before.results, after.results, strict=True)):
            return f"{sizes}: {[x.tolist() for x in before.results]} and {[x.tolist() for x in after.results]}"
    return None


def check(seed: int) -> tuple[str, str | None]:
    """What became of one rule, and what is wrong with it."""
    made = Random(seed)
    rule = made.rng.choice(RULES)
    t, rule, args = getattr(made, rule)()
    try:
        well_formed(t, frozenset("nm"), frozenset(ARRAYS), dict(TYPES))
        if any(u[0] == "nest" and any(len(e) != len(x[2]) for e in u[2] for x in walk(u) if x[0] in ("get", "look") and x[1] in dict(u[1])) for u in walk(t)):
            return "no program", None
    except Rejected:
        return "no program", None
    rules = Rules(TABLES, Decided())  # type: ignore[arg-type]
    found = [x for x in positions(t, top()) if x[2][0] in WHERE[rule] and (rule != "rescale" or x[2][1] == "exp")]
    found = found[:1] if rule == "let_join" and made.rng.random() < 0.9 else found
    if not found:
        return "no program", None
    path, env, u = made.rng.choice(found)
    try:
        whole = applied(rules, t, rule, args, path, env, u)
    except Rejected:
        return f"{rule} refused", None
    problem = differs(t, whole, "finite" in rules.licences)
    return f"{rule} accepted", None if problem is None else f"seed {seed}: {rule} {args} at {path} of {t}: {problem}"


def main() -> int:
    counts: Counter[str] = Counter()
    wrong = 0
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        kind, problem = check(seed)
        counts[kind] += 1
        if problem is not None:
            wrong += 1
            if wrong <= 12:
                print(problem[:1500], flush=True)
    print(f"{wrong} wrong: " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
