"""The checker's own terms: tuples as they stand in a certificate. schedule/term.py has the grammar in words; here it is a table of fields.

Shapes, elements, substitution and comparison up to the names of binders are written again, so that a mistake there is not trusted here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from atoll.check.sums import (
    ONE,
    ZERO,
    Facts,
    Poly,
    Rejected,
    Tables,
    add,
    ceil,
    const,
    div,
    free,
    mod,
    mul,
    need,
    sub,
    subst,
    unknown,
    value,
    var,
)

Term = tuple[Any, ...]
Shape = tuple[Poly, ...]
Pairs = list[tuple[Poly, Poly]]
TYPES = frozenset("i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 c64 c128 bool".split())
MONOIDS = frozenset("add mul minimum maximum and or xor".split())
ALIKE = frozenset(  # operations on numbers of one type, with a result of that type
    "add sub mul div floordiv mod neg sign min max minimum maximum fma mulacc and or xor not shl shr rounds select floor ceil round rounded_f16 rounded_bf16 trunc copysign sqrt exp exp2"
    " expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh fmod erf erfc cbrt pow arctan2 hypot lgamma tgamma sampled digamma trigamma conj".split()
)
ASKED = frozenset("lt le gt ge eq ne isnan isinf isfinite signbit".split())  # of one type too: whether something is so
WEIGHT = 100_000  # nodes of a term, written out

# fields after the kind: i bound unknown, x bound array, N bound arrays with types, u used array, U used arrays, p polynomial,
# q polynomial or none, P polynomials, S shapes, R (polynomial, number) or none, t term, T terms, C tests, v a constant, D a type,
# M a monoid, a an axis, o the name of an operation, a view or an opaque part
FIELDS = {
    "gen": "ippt",
    "sum": "ipptM",
    "guard": "Pt",
    "let": "xttR",
    "nest": "NSoUtPaP",
    "cat": "att",
    "plus": "ttM",
    "view": "oaqt",
    "zero": "PD",
    "many": "T",
    "get": "uP",
    "look": "uT",
    "lit": "vD",
    "index": "p",
    "op": "oTD",
    "cast": "tD",
    "choose": "ttC",
}
GEN, SUM, BODY = ("gen",), ("sum",), {"gen": 4, "sum": 4, "guard": 2, "let": 3, "nest": 5, "view": 4}


def fields(t: Term) -> Iterator[tuple[str, Any]]:
    return zip(FIELDS[t[0]], t[1:], strict=True)


def kids(t: Term) -> tuple[Term, ...]:
    found: list[Term] = []
    for code, v in fields(t):
        if code == "t":
            found.append(v)
        elif code == "T":
            found += v
        elif code == "C":
            found += [x for _, _, x in v if x is not None]
    return tuple(found)


def with_kids(t: Term, new: tuple[Term, ...]) -> Term:
    rest = iter(new)
    made: list[Any] = [t[0]]
    for code, v in fields(t):
        if code == "t":
            v = next(rest)
        elif code == "T":
            v = tuple(next(rest) for _ in v)
        elif code == "C":
            v = tuple((k, p, None if x is None else next(rest)) for k, p, x in v)
        made.append(v)
    return guard(made[1], made[2]) if t[0] == "guard" else tuple(made)


def change(t: Term, f: Callable[[Poly], Poly], names: dict[str, str]) -> Term:
    """t with its polynomials replaced and its binders and arrays renamed."""

    def one(code: str, v: Any) -> Any:
        match code:
            case "i" | "x" | "u":
                return names.get(v, v)
            case "N":
                return tuple((names.get(x, x), d) for x, d in v)
            case "U":
                return tuple(names.get(x, x) for x in v)
            case "p":
                return f(v)
            case "q":
                return None if v is None else f(v)
            case "P":
                return tuple(map(f, v))
            case "S":
                return tuple(tuple(map(f, s)) for s in v)
            case "R":
                return None if v is None else (f(v[0]), v[1])
            case "C":
                return tuple((k, None if p is None else f(p), x) for k, p, x in v)
        return v

    here = (t[0], *(one(code, v) for code, v in fields(t)))
    return with_kids(here, tuple(change(k, f, names) for k in kids(here)))


def polys(t: Term) -> list[Poly]:
    """The polynomials written in a node itself."""
    found: list[Poly] = []
    change(with_kids(t, tuple(("many", ()) for _ in kids(t))), lambda p: found.append(p) or p, {})  # type: ignore[func-returns-value]
    return found


def set_vars(t: Term, env: dict[str, Poly]) -> Term:
    return change(t, lambda p: subst(p, env), {})


def walk(t: Term) -> Iterator[Term]:
    yield t
    for k in kids(t):
        yield from walk(k)


def bound(t: Term) -> list[str]:
    """What a node binds itself."""
    return [x for code, v in fields(t) for x in ((v,) if code in "ix" else [n for n, _ in v] if code == "N" else ())]


_count = [0]


def fresh() -> str:
    _count[0] += 1
    return f"%{_count[0]}"


def refresh(t: Term) -> Term:
    """A copy with new binders."""
    names = {x: fresh() for u in walk(t) for x in bound(u)}
    return change(t, lambda p: subst(p, {x: var(y) for x, y in names.items()}), names) if names else t


def guard(conds: tuple[Poly, ...], body: Term) -> Term:
    kept = tuple(dict.fromkeys(c for c in conds if (n := value(c)) is None or n < 0))
    if body[0] == "guard":
        return guard(kept + tuple(c for c in body[1] if c not in kept), body[2])
    return ("guard", kept, body) if kept else body


def uses(t: Term, x: str) -> bool:
    return any((u[0] in ("get", "look") and u[1] == x) or (u[0] == "nest" and x in u[4]) for u in walk(t))


def mentions(t: Term) -> set[str]:
    """Unknowns and arrays a term mentions and does not bind."""
    found = {x for u in walk(t) for p in polys(u) for x in free(p)}
    found |= {x for u in walk(t) for code, v in fields(u) for x in ((v,) if code == "u" else v if code == "U" else ())}
    return found - {x for u in walk(t) for x in bound(u)}


def alike(a: Term, b: Term, names: dict[str, str]) -> bool:
    """Equal up to the names of binders; `names` maps those of a to those of b."""
    if a[0] != b[0] or len(a) != len(b) or len(kids(a)) != len(kids(b)) or len(bound(a)) != len(bound(b)):
        return False
    names = {**names, **dict(zip(bound(a), bound(b), strict=True))}
    env = {x: var(y) for x, y in names.items()}
    blank = ("many", ())
    here = change(with_kids(a, tuple(blank for _ in kids(a))), lambda p: subst(p, env), names)
    there = with_kids(b, tuple(blank for _ in kids(b)))
    if a[0] in ("guard", "nest"):  # the order of conditions says nothing
        k = 1 if a[0] == "guard" else 6
        if set(here[k]) != set(there[k]):
            return False
        here, there = (*here[:k], *here[k + 1 :]), (*there[:k], *there[k + 1 :])
    return here == there and all(alike(x, y, names) for x, y in zip(kids(a), kids(b), strict=True))


# -- views: (axes taken, axes given, has an amount), shape, where elements come from, where they go

VIEWS = {"transpose": (2, 2, 0), "flatten": (2, 1, 0), "split": (1, 2, 1), "tile": (1, 2, 1), "trunc_r": (1, 1, 1), "trunc_l": (1, 1, 1)}
VIEWS |= {"pad_r": (1, 1, 1), "pad_l": (1, 1, 1), "reverse": (1, 1, 0), "sample": (1, 1, 1), "window": (1, 2, 1)}
PADS = ("tile", "pad_r", "pad_l")


def view_shape(op: str, s: Shape, k: Poly) -> Shape:
    n = s[0]
    table: dict[str, Callable[[], Shape]] = {
        "transpose": lambda: (s[1], s[0]),
        "flatten": lambda: (mul(s[0], s[1]),),
        "split": lambda: (div(n, k), k),
        "tile": lambda: (ceil(n, k), k),
        "trunc_r": lambda: (sub(n, k),),
        "trunc_l": lambda: (sub(n, k),),
        "pad_r": lambda: (add(n, k),),
        "pad_l": lambda: (add(n, k),),
        "reverse": lambda: (n,),
        "sample": lambda: (ceil(n, k),),
        "window": lambda: (add(sub(n, k), ONE), k),
    }
    return table[op]()


def below(i: Poly, n: Poly) -> Poly:
    """i < n"""
    return sub(sub(n, ONE), i)


def view_pull(op: str, s: Shape, k: Poly, i: Shape) -> tuple[Shape, Shape]:
    """(conditions, index into the argument)."""
    match op:
        case "transpose":
            return (), (i[1], i[0])
        case "flatten":
            return (), (div(i[0], s[1]), mod(i[0], s[1]))
        case "split" | "tile":
            q = add(mul(i[0], k), i[1])
            return (below(q, s[0]),) if op == "tile" else (), (q,)
        case "trunc_r" | "trunc_l":
            return (), i if op == "trunc_r" else (add(i[0], k),)
        case "pad_r" | "pad_l":
            q = i[0] if op == "pad_r" else sub(i[0], k)
            return (q, below(q, s[0])), (q,)
        case "reverse":
            return (), (below(i[0], s[0]),)
        case "sample" | "window":
            return (), (mul(i[0], k) if op == "sample" else add(i[0], i[1]),)
    raise Rejected(f"no view {op}")


def view_push(op: str, p: Pairs, k: Poly) -> tuple[Pairs, list[Poly]]:
    """Where an element of the argument goes, and what must hold for it to go anywhere."""
    (i, d) = p[0]
    match op:
        case "transpose":
            return [p[1], p[0]], []
        case "flatten":
            return [(add(mul(i, p[1][1]), p[1][0]), mul(d, p[1][1]))], []
        case "split" | "tile":
            return [(div(i, k), div(d, k) if op == "split" else ceil(d, k)), (mod(i, k), k)], []
        case "trunc_r":
            return [(i, sub(d, k))], [below(i, sub(d, k))]
        case "trunc_l":
            return [(sub(i, k), sub(d, k))], [sub(i, k)]
        case "pad_r" | "pad_l":
            return [(i if op == "pad_r" else add(i, k), add(d, k))], []
        case "reverse":
            return [(below(i, d), d)], []
    raise Rejected(f"{op} has no place to write to")


# -- what a term is, and what is known inside it


def rank(t: Term) -> int:
    match t[0]:
        case "gen" | "view":
            return rank(t[4]) + (1 if t[0] == "gen" else VIEWS[t[1]][1] - VIEWS[t[1]][0])
        case "sum" | "guard" | "let" | "nest":
            return rank(t[BODY[t[0]]])
        case "cat" | "plus":
            return rank(kids(t)[0])
    return len(t[1]) if t[0] == "zero" else 0


def nest_shapes(t: Term) -> dict[str, Shape]:
    return {x: s for (x, _), s in zip(t[1], t[2], strict=True)}


def shape(t: Term, shapes: dict[str, Shape]) -> Shape:
    match t[0]:
        case "gen":
            return (sub(t[3], t[2]), *shape(t[4], shapes))
        case "sum" | "guard":
            return shape(t[BODY[t[0]]], shapes)
        case "let":
            return shape(t[3], {**shapes, t[1]: shape(t[2], shapes)})
        case "nest":
            return shape(t[5], {**shapes, **nest_shapes(t)})
        case "plus":
            return shape(t[1], shapes)
        case "zero":
            return tuple(t[1])
        case "cat":
            left, right, a = shape(t[2], shapes), shape(t[3], shapes), t[1]
            return (*left[:a], add(left[a], right[a]), *left[a + 1 :])
        case "view":
            inner, a = shape(t[4], shapes), t[2]
            end = a + VIEWS[t[1]][0]
            return (*inner[:a], *view_shape(t[1], inner[a:end], t[3] or ZERO), *inner[end:])
        case "many":
            raise Rejected("several results have no one shape")
    return ()


def dtype(t: Term, types: dict[str, str]) -> str:
    match t[0]:
        case "get" | "look":
            return types[t[1]]
        case "lit" | "zero" | "cast":
            return str(t[2])
        case "op":
            return str(t[3])
        case "index":
            return "i64"
        case "let":
            return dtype(t[3], {**types, t[1]: dtype(t[2], types)})
        case "nest":
            return dtype(t[5], {**types, **dict(t[1])})
    return dtype(kids(t)[0], types)


def typed(t: Term, types: dict[str, str]) -> str:
    """The type of a term whose parts all have the types they must have: what stands beside each other is of one type."""
    match t[0]:
        case "let":
            return typed(t[3], {**types, t[1]: typed(t[2], types)})
        case "nest":
            return typed(t[5], {**types, **dict(t[1])})
        case "many":
            return " ".join(typed(k, types) for k in t[1])
    found = [typed(k, types) for k in kids(t)]
    match t[0]:
        case "cat" | "plus" | "choose":
            need(found[0] == found[1], "parts of two types:", *found[:2])
        case "op" if t[1] in ALIKE | ASKED:
            need(all(d == (t[3] if t[1] in ALIKE else found[0]) for d in found) and (t[1] in ALIKE or t[3] == "bool"), t[1], "of several types:", *found)
        case "look":
            need(all(d == "i64" for d in found), t[1], "is looked up by something that is no number")
    return dtype(t, types) if t[0] in ("get", "look", "lit", "zero", "cast", "op", "index") else found[0]


def accumulates(t: Term, monoid: str) -> bool:
    """Folding t is not folding its value."""
    if t[0] in ("sum", "plus"):
        return bool(t[-1] == monoid)
    if t[0] == "op":
        return bool(t[1] == "mulacc" and monoid == "add")
    inner = (t[3],) if t[0] == "let" else kids(t)[:2] if t[0] not in ("cast", "look") else ()
    return any(accumulates(k, monoid) for k in inner)


def may_skip(t: Term) -> bool:
    """Folding t may leave a place alone where its value is a zero."""
    if t[0] in ("guard", "zero") or (t[0] == "view" and t[1] in PADS):
        return True
    inner = (t[3],) if t[0] == "let" else kids(t)[:2] if t[0] not in ("cast", "op", "look") else ()
    return any(may_skip(k) for k in inner)


@dataclass(frozen=True)
class Env:
    """What is known at a position: hypotheses, shapes, types and definitions of arrays, and by what the term is folded, if it is."""

    facts: Facts
    shapes: dict[str, Shape]
    types: dict[str, str]
    defs: dict[str, Term]
    closed: Facts  # of sizes only: what holds also where no loop around runs
    folding: str | None = None
    parts: dict[str, Term] = field(default_factory=dict)  # what opaque parts made

    def know(self, *more: Poly) -> Env:
        return replace(self, facts=self.facts.add(*more))

    def is_float(self, t: Term) -> bool:
        return dtype(t, self.types)[0] in "fc"

    def down(self, t: Term, k: int) -> Env:
        match t[0]:
            case "gen" | "sum":
                inner = self.know(sub(var(t[1]), t[2]), below(var(t[1]), t[3]))
                return replace(inner, folding=t[5]) if t[0] == "sum" else inner
            case "guard":
                return self.know(*t[1])
            case "let":
                if k == 0:
                    return replace(self, folding=None)
                shapes, types = {**self.shapes, t[1]: shape(t[2], self.shapes)}, {**self.types, t[1]: dtype(t[2], self.types)}
                return replace(self, shapes=shapes, types=types, defs={**self.defs, t[1]: t[2]})
            case "nest":
                shapes, types, parts = {**self.shapes, **nest_shapes(t)}, {**self.types, **dict(t[1])}, {**self.parts, **{x: t for x, _ in t[1]}}
                return replace(self.know(*t[6]), closed=self.closed.add(*t[6]), shapes=shapes, types=types, parts=parts)
            case "plus":
                same = self.folding in (None, t[3])
                return replace(self, folding=t[3]) if k == 1 else self if same else replace(self, folding=None)
            case "op" | "cast" | "look":
                return replace(self, folding=None)
            case "choose":
                return replace(self, folding=None) if k >= 2 else self.know(*test_facts(t[3], k == 0))
        return self


def result_shapes(t: Term, shapes: dict[str, Shape]) -> list[Shape]:
    """Below lets and opaque parts."""
    while t[0] in ("let", "nest"):
        shapes = {**shapes, t[1]: shape(t[2], shapes)} if t[0] == "let" else {**shapes, **nest_shapes(t)}
        t = t[3] if t[0] == "let" else t[5]
    return [shape(x, shapes) for x in (t[1] if t[0] == "many" else (t,))]


def result_types(t: Term, types: dict[str, str]) -> list[str]:
    """Below lets and opaque parts."""
    return typed(t, types).split()


def test_facts(tests: Any, hold: bool) -> tuple[Poly, ...]:
    if not hold:
        return (sub(const(-1), tests[0][1]),) if len(tests) == 1 and tests[0][0] == "ge" else ()
    return tuple(q for kind, p, _ in tests if kind in ("ge", "eq") for q in ((p,) if kind == "ge" else (p, sub(ZERO, p))))


def element(t: Term, index: Shape, shapes: dict[str, Shape]) -> Term:
    """The scalar t[index]."""
    if not index:
        return t
    match t[0]:
        case "gen":
            return element(set_vars(t[4], {t[1]: add(t[2], index[0])}), index[1:], shapes)
        case "sum" | "plus":
            return with_kids(t, tuple(element(k, index, shapes) for k in kids(t)))
        case "let" | "nest":
            inner = {**shapes, t[1]: shape(t[2], shapes)} if t[0] == "let" else {**shapes, **nest_shapes(t)}
            return with_kids(t, (*kids(t)[:-1], element(kids(t)[-1], index, inner)))
        case "guard":
            return guard(t[1], element(t[2], index, shapes))
        case "zero":
            return ("zero", (), t[2])
        case "cat":
            a, first = t[1], shape(t[2], shapes)[t[1]]
            moved = (*index[:a], sub(index[a], first), *index[a + 1 :])
            return ("choose", element(t[2], index, shapes), element(t[3], moved, shapes), (("ge", below(index[a], first), None),))
        case "view":
            a, (takes, gives, _) = t[2], VIEWS[t[1]]
            conds, source = view_pull(t[1], shape(t[4], shapes)[a : a + takes], t[3] or ZERO, index[a : a + gives])
            return guard(conds, element(t[4], (*index[:a], *source, *index[a + gives :]), shapes))
    raise Rejected(f"no element of {t[0]}")


# -- reading


class Terms:
    """The table of terms, decoded."""

    def __init__(self, tables: Tables) -> None:
        self.t = tables
        self._done: dict[int, Term] = {}
        self._weight: dict[int, int] = {}

    def term(self, k: int, above: int = 1 << 60) -> Term:
        need(type(k) is int and 0 <= k < above and k < len(self.t.data["T"]), "a term that contains itself, or is not there")
        if k not in self._done:
            kind, *rest = self.t.data["T"][k]
            need(kind in FIELDS and len(rest) == len(FIELDS[kind]), "no term", kind)
            parts = [x for code, v in zip(FIELDS[kind], rest, strict=True) for x in _numbers(code, v)]
            made: Term = (kind, *(self._field(code, v, k) for code, v in zip(FIELDS[kind], rest, strict=True)))
            self._weight[k] = 1 + sum(self._weight[x] for x in parts)
            need(self._weight[k] <= WEIGHT, "a term that is too large")
            if kind == "view":
                need(made[1] in VIEWS and VIEWS[made[1]][2] == (made[3] is not None), "no view", made[1])
            self._done[k] = guard(made[1], made[2]) if kind == "guard" else made
        return self._done[k]

    def _field(self, code: str, v: Any, k: int) -> Any:
        p, t = self.t.poly, self.term
        match code:
            case "p" | "q":
                return None if v is None and code == "q" else p(v)
            case "P":
                return self.t.polys(v)
            case "S":
                return tuple(self.t.polys(s) for s in v)
            case "R":
                return None if v is None else (p(v[0]), v[1])
            case "t":
                return t(v, k)
            case "T":
                return tuple(t(x, k) for x in v)
            case "C":
                return tuple((test_kind(kind, q, x), None if q is None else p(q), None if x is None else t(x, k)) for kind, q, x in v)
            case "N":
                return tuple((unknown(x), number_type(d)) for x, d in v)
            case "U":
                return tuple(map(unknown, v))
            case "i" | "x" | "u":
                return unknown(v)
            case "D":
                return number_type(v)
            case "M":
                need(v in MONOIDS, "no monoid", v)
            case "a":
                need(type(v) is int and v >= 0, "no axis", v)
            case "o":
                need(isinstance(v, str), "a name of something else")
            case "v":
                return repr(v)
        return v


def _numbers(code: str, v: Any) -> list[int]:
    """The terms a field of a row refers to."""
    return [v] if code == "t" else list(v) if code == "T" else [x for _, _, x in v if x is not None] if code == "C" else []


def number_type(d: Any) -> str:
    need(isinstance(d, str) and d in TYPES, "a type of numbers that is none:", d)
    return str(d)


def test_kind(kind: Any, on_poly: Any, on_value: Any) -> str:
    """A test is on a polynomial or on a value, as its kind says."""
    of_poly, of_value = kind in ("ge", "eq", "ne"), kind in ("true", "false")
    need((of_poly or of_value) and of_poly == (on_poly is not None) and of_value == (on_value is not None), "no test", kind)
    return str(kind)


def well_formed(t: Term, sizes: frozenset[str], arrays: frozenset[str], types: dict[str, str]) -> None:
    """Binders unique and not sizes or inputs; every name in scope; extents and amounts closed; opaque parts and results at the top; one type."""
    seen = set(sizes) | set(arrays)

    def go(u: Term, known: frozenset[str], names: frozenset[str], spine: bool) -> None:
        for x in bound(u):
            need(x not in seen, x, "is bound twice")
            seen.add(x)
        here = sizes if u[0] in ("gen", "view", "zero", "nest", "let") else known
        for p in polys(u) if u[0] != "nest" else [p for s in (*u[2], u[6]) for p in s]:
            need(free(p) <= here, "not in scope:", free(p) - here)
        need(u[0] not in ("nest", "many") or spine or (u[0] == "nest" and u[8]), u[0], "out of place")
        if u[0] == "nest":
            need(all(free(p) <= known for p in u[8]) and not (u[8] and u[6]), "a round that is not in scope")
            need(len(u[8]) <= u[7] <= min((len(s) + len(u[8]) for s in u[2]), default=u[7]), "rounds of an opaque part")
        need(u[0] != "look" or not any(map(rank, u[2])), "an array as a number")
        need({v for code, x in fields(u) for v in ((x,) if code == "u" else x if code == "U" else ())} <= names, "an array out of scope")
        if u[0] == "view":
            need(0 <= u[2] <= rank(u[4]) - VIEWS[u[1]][0], "an axis that is not there")
        if u[0] in ("cat", "plus"):
            left, right = (rank(k) for k in kids(u))
            need(left == right and (u[0] == "plus" or u[1] < left), "parts of different ranks")
        below_known = known | set(bound(u)) if u[0] in ("gen", "sum") else known
        for k, inner in enumerate(kids(u)):
            last = u[0] == "nest" or (u[0] == "let" and k == 1)
            go(inner, below_known, names | set(bound(u)) if last else names, spine and last)

    go(t, sizes, arrays, True)
    typed(t, types)
