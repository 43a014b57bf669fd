"""Loops as the checker reads them: tuples, with polynomials of check/sums.py. Every name is one thing: an index, a variable or an array.

    stmt ::= let v d e | declare v d e? | assign v e | store b index e | update b index op e | add v monoid e | check tests site args
          |  for i low high body flags | accumulate i low high body accs exact | chunks lo hi extent body accs buffers how | if tests body body
          |  alloc b d extents how | free b | copy b b | swap b b | helper ... | print ... | break tests | forever body | section label body | product ...
    e ::= use v | const text d | index p | load b index | call op args d | cast e d | choose tests e e | truth tests
    test ::= (kind, p?, e?)

Tables of a certificate: P and Q polynomials (check/sums.py), E expressions, S statements; what is shared is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from atoll.check.sums import Poly, Quotient, Rejected, Tables, free, need, subst, unknown, value, var

Expr = tuple[Any, ...]
Test = tuple[Any, ...]
Stmt = tuple[Any, ...]
Body = tuple[Stmt, ...]
LEAVES = ("let", "declare", "assign", "store", "update", "add", "check")
LOOPS = ("for", "accumulate")
DEEP = 200  # statements inside statements, expressions inside expressions
WIDEST = 1 << 63  # a coefficient: what 64 bits hold
WIDE, LONG = 20_000, 60_000  # nodes of an expression, statements of a program, written out: rows are shared, so few of them can say much


class Reader:
    def __init__(self, data: dict[str, Any]) -> None:
        self.data, self.tables = data, Tables(data)
        self._exprs: dict[int, Expr] = {}
        self._stmts: dict[int, Stmt] = {}
        self._open: set[tuple[str, int]] = set()
        self._bounded: set[int] = set()
        self._sizes: dict[tuple[str, int], int] = {}
        self._size = 0  # of what is being read

    def _sized(self, key: tuple[str, int], most: int, read: Callable[[], Any]) -> Any:
        """Read a row and count what is in it, written out."""
        before, self._size = self._size, 1
        self._open.add(key)
        found = read()
        self._open.discard(key)
        need(self._size <= most, "too large")
        self._sizes[key] = self._size
        self._size = before
        return found

    def _row(self, table: str, k: int) -> list[Any]:
        need(type(k) is int and 0 <= k < len(self.data[table]), "no row", k, "in", table)
        need((table, k) not in self._open and len(self._open) < DEEP, "a row that contains itself, or too many")
        row: list[Any] = self.data[table][k]
        need(isinstance(row, list) and row and isinstance(row[0], str), "no row of a table")
        return row

    def poly(self, k: int) -> Poly:
        p = self.tables.poly(k)
        if k not in self._bounded:
            _bounded(p)
            self._bounded.add(k)
        return p

    def polys(self, ks: list[int]) -> tuple[Poly, ...]:
        return tuple(self.poly(k) for k in ks)

    def expr(self, k: int) -> Expr:
        if k not in self._exprs:
            row = self._row("E", k)
            self._exprs[k] = self._sized(("E", k), WIDE, lambda: self._expr(row))
        self._size += self._sizes["E", k]
        return self._exprs[k]

    def exprs(self, ks: list[int]) -> tuple[Expr, ...]:
        return tuple(self.expr(k) for k in ks)

    def _expr(self, row: list[Any]) -> Expr:
        match row:
            case ["use", v]:
                return ("use", unknown(v))
            case ["const", x, d]:
                return ("const", repr(x), str(d))
            case ["index", p]:
                return ("index", self.poly(p))
            case ["load", b, index]:
                return ("load", unknown(b), self.polys(index))
            case ["call", op, args, d]:
                return ("call", str(op), self.exprs(args), str(d))
            case ["cast", e, d]:
                return ("cast", self.expr(e), str(d))
            case ["choose", tests, a, b]:
                return ("choose", self.tests(tests), self.expr(a), self.expr(b))
            case ["truth", tests]:
                return ("truth", self.tests(tests))
        raise Rejected(f"no expression: {row[0]}")

    def tests(self, tests: list[Any]) -> tuple[Test, ...]:
        found = []
        for kind, p, e in tests:
            need((kind in ("ge", "eq", "ne") and e is None) or (kind in ("true", "false") and p is None), "no test:", kind)
            found.append((kind, None if p is None else self.poly(p), None if e is None else self.expr(e)))
        return tuple(found)

    def body(self, ks: list[int]) -> Body:
        need(len(ks) <= LONG, "too large")
        return tuple(self.stmt(k) for k in ks)

    def program(self, ks: list[int]) -> Body:
        """All statements of a program."""
        self._size = 0
        found = self.body(ks)
        need(self._size <= LONG, "too large")
        return found

    def stmt(self, k: int) -> Stmt:
        if k not in self._stmts:
            row = self._row("S", k)
            self._stmts[k] = self._sized(("S", k), LONG, lambda: self._stmt(row))
        self._size += self._sizes["S", k]
        return self._stmts[k]

    def _stmt(self, row: list[Any]) -> Stmt:
        match row:
            case [("let" | "declare") as kind, v, d, e]:
                need(kind == "declare" or e is not None, "a name without a value")
                return (kind, unknown(v), str(d), None if e is None else self.expr(e))
            case ["assign", v, e]:
                return ("assign", unknown(v), self.expr(e))
            case ["store", b, index, e]:
                return ("store", unknown(b), self.polys(index), self.expr(e))
            case ["update", b, index, op, e]:
                return ("update", unknown(b), self.polys(index), str(op), self.expr(e))
            case ["add", v, monoid, e]:
                return ("add", unknown(v), str(monoid), self.expr(e))
            case ["check", tests, site, args]:
                return ("check", self.tests(tests), int(site), self.exprs(args))
            case ["for", i, low, high, body, flags]:
                parallel, vector, unroll, scan = flags
                return ("for", unknown(i), self.poly(low), self.poly(high), self.body(body), (bool(parallel), int(vector), bool(unroll), bool(scan)))
            case ["accumulate", i, low, high, body, accs, exact]:
                return ("accumulate", unknown(i), self.poly(low), self.poly(high), self.body(body), _accs(accs), bool(exact))
            case ["chunks", low, high, extent, body, accs, buffers, how]:
                shared = tuple((unknown(a), unknown(b), str(m)) for a, b, m in buffers)
                return ("chunks", unknown(low), unknown(high), self.poly(extent), self.body(body), _accs(accs), shared, self.polys(how))
            case ["if", tests, then, orelse]:
                return ("if", self.tests(tests), self.body(then), self.body(orelse))
            case ["alloc", b, d, extents, how]:
                local, rows, private, _ = how
                need(rows is None or (type(rows) is int and rows > 0), "no memory")
                return ("alloc", unknown(b), str(d), self.polys(extents), (bool(local), rows, bool(private)))
            case ["free", b]:
                return ("free", unknown(b))
            case [("copy" | "swap") as kind, a, b]:
                return (kind, unknown(a), unknown(b))
            case ["helper", name, buffers, sizes, result, how]:
                places = tuple((unknown(b), self.polys(index)) for b, index in buffers)
                return ("helper", str(name), places, self.polys(sizes), None if result is None else (unknown(result[0]), str(result[1])), repr(how))
            case ["print", text, buffers, args]:
                return ("print", str(text), tuple(map(unknown, buffers)), self.exprs(args))
            case ["break", tests]:
                return ("break", self.tests(tests))
            case ["forever", body]:
                return ("forever", self.body(body))
            case ["section", label, body]:
                return ("section", str(label), self.body(body))
            case ["product", numbers, elements, body, after, adds]:
                return ("product", self.polys(numbers), self.exprs(elements), self.body(body), self.body(after), bool(adds))
        raise Rejected(f"no statement: {row[0]}")


def _bounded(p: Poly) -> None:
    for m, c in p:
        need(-WIDEST < c < WIDEST, "index arithmetic that 64 bits do not hold")
        for a in m:
            if isinstance(a, Quotient):
                _bounded(a.num)
                _bounded(a.den)


def _accs(accs: list[Any]) -> tuple[tuple[str, str, str], ...]:
    return tuple((unknown(v), str(monoid), str(d)) for v, monoid, d in accs)


# -- questions

_BODIES = {"for": (4,), "accumulate": (4,), "chunks": (4,), "if": (2, 3), "forever": (1,), "section": (2,), "product": (3, 4)}


def bodies(s: Stmt) -> tuple[Body, ...]:
    return tuple(s[k] for k in _BODIES.get(s[0], ()))


def with_bodies(s: Stmt, new: tuple[Body, ...]) -> Stmt:
    made = list(s)
    for k, body in zip(_BODIES.get(s[0], ()), new, strict=True):
        made[k] = body
    return tuple(made)


def walk(body: Body) -> Iterator[Stmt]:
    for s in body:
        yield s
        for inner in bodies(s):
            yield from walk(inner)


def parts(x: Any) -> Iterator[Any]:
    """Expressions and polynomials of a statement itself, without those of statements inside it."""
    match x[0]:
        case "let" | "declare":
            if x[3] is not None:
                yield x[3]
        case "assign":
            yield x[2]
        case "store":
            yield from x[2]
            yield x[3]
        case "update":
            yield from x[2]
            yield x[4]
        case "add":
            yield x[3]
        case "check":
            yield ("truth", x[1])
            yield from x[3]
        case "break" | "if":
            yield ("truth", x[1])
        case "for" | "accumulate":
            yield from x[2:4]
        case "chunks":
            yield x[3]
        case "alloc":
            yield from x[3]
        case "helper":
            for _, index in x[2]:
                yield from index
            yield from x[3]
        case "print":
            yield from x[3]
        case "product":
            yield from x[1]
            yield from x[2]


def is_poly(x: Any) -> bool:
    return not x or not isinstance(x[0], str)


def subexprs(e: Any) -> Iterator[Any]:
    """An expression, all inside it, and its polynomials."""
    yield e
    if is_poly(e):
        return
    match e[0]:
        case "index":
            yield e[1]
        case "load":
            yield from e[2]
        case "call":
            for a in e[2]:
                yield from subexprs(a)
        case "cast":
            yield from subexprs(e[1])
        case "choose" | "truth":
            for _, p, x in e[1]:
                if p is not None:
                    yield p
                if x is not None:
                    yield from subexprs(x)
            for a in e[2:]:
                yield from subexprs(a)


def names(e: Any) -> set[str]:
    """Variables and unknowns in an expression or polynomial; not arrays."""
    found: set[str] = set()
    for x in subexprs(e):
        if is_poly(x):
            found |= free(x)
        elif x[0] == "use":
            found.add(x[1])
    return found


def free_in_polynomials(s: Stmt) -> set[str]:
    """Unknowns in the index arithmetic of a statement itself."""
    return {v for e in parts(s) for p in subexprs(e) if is_poly(p) for v in free(p)}


def loads(e: Any) -> Iterator[Expr]:
    return (x for x in subexprs(e) if not is_poly(x) and x[0] == "load")


def mapped(e: Any, poly: Callable[[Poly], Poly], leaf: Callable[[Expr], Expr | None]) -> Any:
    """An expression with its polynomials and some of its parts replaced (`leaf` gives the new part, or None)."""
    if is_poly(e):
        return poly(e)
    new = leaf(e)
    if new is not None:
        return new
    match e[0]:
        case "index":
            return ("index", poly(e[1]))
        case "load":
            return ("load", e[1], tuple(map(poly, e[2])))
        case "call":
            return ("call", e[1], tuple(mapped(a, poly, leaf) for a in e[2]), e[3])
        case "cast":
            return ("cast", mapped(e[1], poly, leaf), e[2])
        case "choose" | "truth":
            tests = tuple((k, None if p is None else poly(p), None if x is None else mapped(x, poly, leaf)) for k, p, x in e[1])
            return (e[0], tests, *(mapped(a, poly, leaf) for a in e[2:]))
    return e


def with_parts(s: Stmt, part: Callable[[Expr], Expr | None]) -> Stmt:
    """A statement's own expressions with some of their parts replaced (`part` gives the new one, or None)."""

    def new(e: Any) -> Any:
        return mapped(e, lambda p: p, part)

    match s[0]:
        case "let" | "declare" | "store" | "add":
            return (*s[:3], None if s[3] is None else new(s[3]))
        case "assign":
            return (*s[:2], new(s[2]))
        case "update":
            return (*s[:4], new(s[4]))
        case "check":
            return ("check", new(("truth", s[1]))[1], s[2], tuple(map(new, s[3])))
        case "if" | "break":
            return (s[0], new(("truth", s[1]))[1], *s[2:])
    return s


def put(e: Any, env: Mapping[str, Poly]) -> Any:
    """With unknowns replaced by polynomials; a variable only by another variable."""
    known = dict(env)

    def use(x: Expr) -> Expr | None:
        if x[0] == "use" and x[1] in known:
            p = known[x[1]]
            one = p[0][0] if len(p) == 1 and p[0][1] == 1 else ()
            return ("use", one[0]) if len(one) == 1 and isinstance(one[0], str) else ("index", p)
        return None

    return mapped(e, lambda p: subst(p, known), use)


def put_whole(s: Stmt, env: Mapping[str, Poly]) -> Stmt | None:
    """A statement with its unknowns replaced, also inside it; None where it binds one of them or what one becomes, or sets one that is no other variable."""
    used = read((s,))[0] | changed((s,))[0]
    moved = {v: p for v, p in env.items() if v in used and p != var(v)}
    bound = {v for x in walk((s,)) for v in own_names(x)}
    return None if bound & set(moved).union(*map(names, moved.values())) else _put_whole(s, moved)


def _put_whole(s: Stmt, env: Mapping[str, Poly]) -> Stmt | None:
    inner = tuple(tuple(_put_whole(x, env) for x in b) for b in bodies(s))
    if any(x is None for b in inner for x in b):
        return None
    s = with_bodies(s, tuple(tuple(x for x in b if x is not None) for b in inner))

    def go(es: Any) -> Any:
        return tuple(put(e, env) for e in es)

    match s[0]:
        case "let" | "declare":
            return (*s[:3], None if s[3] is None else put(s[3], env))
        case "assign" | "add":
            to = put(("use", s[1]), env)
            return (s[0], to[1], *s[2:-1], put(s[-1], env)) if to[0] == "use" else None
        case "store":
            return (*s[:2], go(s[2]), put(s[3], env))
        case "update":
            return (*s[:2], go(s[2]), s[3], put(s[4], env))
        case "check":
            return ("check", put(("truth", s[1]), env)[1], s[2], go(s[3]))
        case "if" | "break":
            return (s[0], put(("truth", s[1]), env)[1], *s[2:])
        case "for" | "accumulate":
            return (*s[:2], *go(s[2:4]), *s[4:])
        case "chunks":
            return (*s[:3], put(s[3], env), *s[4:7], go(s[7]))
        case "alloc":
            return (*s[:3], go(s[3]), s[4])
        case "helper":
            return (*s[:2], tuple((b, go(index)) for b, index in s[2]), go(s[3]), *s[4:])
        case "print":
            return (*s[:3], go(s[3]))
        case "product":
            return ("product", go(s[1]), go(s[2]), *s[3:])
    return s


def own_names(s: Stmt) -> Iterator[str]:
    """Variables and indices that a statement itself binds, for what is inside of it or behind it."""
    match s[0]:
        case "let" | "declare" | "for":
            yield s[1]
        case "accumulate" | "chunks":
            yield from s[1:2] if s[0] == "accumulate" else s[1:3]
            yield from (v for v, _, _ in s[5])
        case "helper" if s[4] is not None:
            yield s[4][0]


def rename(names: Mapping[str, str]) -> dict[str, Poly]:
    return {a: var(b) for a, b in names.items()}


def changed(body: Body) -> tuple[set[str], set[str]]:
    """Variables that are assigned and arrays that are written, anywhere inside."""
    variables: set[str] = set()
    arrays: set[str] = set()
    for s in walk(body):
        match s[0]:
            case "assign" | "add" | "declare":
                variables.add(s[1])
            case "accumulate" | "chunks":
                variables |= {a[0] for a in s[5]}
                if s[0] == "chunks":
                    arrays |= {b for pair in s[6] for b in pair[:2]}
            case "store" | "update" | "alloc" | "free":
                arrays.add(s[1])
            case "copy":
                arrays.add(s[1])
            case "swap":
                arrays |= {s[1], s[2]}
            case "helper":
                arrays |= {b for b, _ in s[2]}
                variables |= {s[4][0]} if s[4] is not None else set()
            case "product":
                arrays |= {e[1] for e in s[2]}
    return variables, arrays


def read(body: Body) -> tuple[set[str], set[str]]:
    """Variables and unknowns, and arrays, that statements read anywhere inside."""
    variables: set[str] = set()
    arrays: set[str] = set()
    for s in walk(body):
        for e in parts(s):
            variables |= names(e)
            arrays |= {x[1] for x in loads(e)}
        match s[0]:
            case "update" | "add":
                (arrays if s[0] == "update" else variables).add(s[1])
            case "copy":
                arrays.add(s[2])
            case "swap":
                arrays |= {s[1], s[2]}
            case "helper":
                arrays |= {b for b, _ in s[2]}
            case "print":
                arrays |= set(s[2])
            case "chunks":
                arrays |= {b for pair in s[6] for b in pair[:2]}
    return variables, arrays


def coefficient(p: Poly, name: str) -> int | None:
    """The literal that multiplies an unknown; None when it is none, or the unknown stands elsewhere too."""
    found = 0
    for m, c in p:
        if m == (name,):
            found = c
        elif any(name in free(var(a)) for a in m):
            return None
    return found


def constant(p: Poly) -> int:
    return dict(p).get((), 0)


__all__ = ["Body", "Expr", "Reader", "Stmt", "Test", "bodies", "value", "walk"]
