"""The steps of a schedule's certificate again, by the checker that is proved in Coq and extracted (proofs/Replay.v): atoll prove --verified.

The checker of Python notes every step it accepted, with the rows it looked up; here they are written as words, names as de Bruijn indices, and handed to the extracted program, which
applies every rule again at its position. It answers with the laws of operators that the steps rest on; `granted` holds them against the licences of the certificate and what is true of integers.
What is trusted of this file: that a term is written as it stands, and the table of laws. Standard library only.

    replay := "replay" count (count poly* count step*)* count idx* count (count idx*)* term count move* term   (rows and their hypotheses, facts, shapes of arguments, source, steps, last term)
    move   := count number* rule term term                                                    (position, rule and arguments, the new part, the whole after it)
    idx    := "v" number | "n" number | ("+" | "*" | "/") idx idx                             monoid := name type
    term   := "gen" idx idx term | "sum" monoid idx idx term | "guard" count idx* term | "let" term term | "cat" number term term | "plus" monoid term term | "view" view number term
            | "zeros" count idx* | "get" number count idx* | "lit" number | "index" idx | "op" number count term* | "mulacc" term term | "choose" count (test idx)* term term
            | "choosev" truth term term term

What an opaque part makes of arguments and of other opaque parts is written as one more argument, of which nothing is known but its shape and what the part promises; one that makes nothing is left out.
Unknowns of rows are numbered as Normal.v numbers them: a size 2k + 3, the loop at depth k 2k + 2. Of several results each is replayed by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atoll.check.blocks import LEAST
from atoll.check.sums import Poly, Proofs, Quotient, Tables, need
from atoll.check.terms import Term, dtype, kids

FLOATS = ("f32", "f64", "c64", "c128")
ARGUMENTS = {  # of rules: which of a step's arguments the replay wants, and what they are
    "gen_cut": ("at",), "sum_cut": ("at",), "loop_flat": ("count", "size"), "loop_trunc": ("amount",), "exchange_range": ("low", "high"),
    "rescale": ("at", "low", "high"),
}  # fmt: skip
SAME = ("nest_round",)  # rules whose two sides are one term here
PLAIN = ("loop_join", "sum_one", "swap", "float_out", "float_in", "distribute", "guard_mul", "contract", "expand", "let_dead", "let_lift", "let_roll", "simplify", "unfold", "fold", "guard_get", "let_bind", "let_view")
RULES = frozenset((*ARGUMENTS, *PLAIN, *SAME, "loop_shift", "guard_in", "wrap", "let_out", "factor", "let_join"))


class NotReplayed(Exception):
    """What the replay does not cover."""


@dataclass(frozen=True)
class Move:
    """A step as the other checker accepted it."""

    path: list[int]
    rule: str
    args: dict[str, Any]
    before: Term
    new: Term
    after: Term
    rows: tuple[tuple[int, tuple[Poly, ...]], ...]


@dataclass(frozen=True)
class Place:
    """Where something stands: the loops and the names around it, from the inside, and types of arrays."""

    loops: tuple[str, ...]
    names: tuple[str, ...]
    types: Mapping[str, str]
    rounds: Mapping[str, tuple[str, tuple[Poly, ...]]]  # what one round of an opaque part makes: of which array of arguments, at which indices

    def down(self, t: Term, k: int) -> Place:
        if t[0] in ("gen", "sum"):
            return replace(self, loops=(t[1], *self.loops))
        if t[0] == "let" and k == 1:
            return replace(self, names=(t[1], *self.names), types={**self.types, t[1]: dtype(t[2], dict(self.types))})
        return self

    def part(self, t: Term, whole: Term) -> Place:
        """Inside of one round of an opaque part."""
        rounds = {x: (y, t[8]) for (x, _), (y, _) in zip(t[1], whole[1], strict=True)}
        return replace(self, types={**self.types, **dict(t[1])}, rounds={**self.rounds, **rounds})


class Words:
    def __init__(self, proofs: Proofs, sizes: Sequence[str], types: Mapping[str, str], result: int, parts: Sequence[Term] = ()) -> None:
        self.proofs, self.sizes, self.result = proofs, {s: k for k, s in enumerate(sizes)}, result
        self.top, self.parts = Place((), tuple(types), types, {}), parts
        self.kinds: dict[str, int] = {}
        self.operations: dict[tuple[Any, ...], int] = {}
        self.given = frozenset(types)
        self.constants: dict[tuple[str, str], int] = {}

    def all(self, facts: Sequence[Poly], shapes: Sequence[Sequence[Poly]], source: Term, moves: Sequence[Move], final: Term) -> Iterator[str]:
        yield from ("1", "replay")
        kept = [m for m in moves if self.concerns(m)]
        tables = list(dict.fromkeys(w for m in kept for w in self.lemmas(m)))
        yield str(len(tables))
        for t in tables:
            yield from t
        yield str(len(facts))
        for p in facts:
            yield from self.idx(p, self.top)
        yield str(len(shapes))
        for s in shapes:
            yield from self.many(s, self.top)
        yield from self.term(source, self.top)
        yield str(len(kept))
        for m in kept:
            yield from self.move(m)
        yield from self.term(final, self.top)

    # -- rows, with unknowns by their depth

    def lemmas(self, m: Move) -> Iterator[tuple[str, ...]]:
        numbers = {s: 2 * k + 3 for s, k in self.sizes.items()}

        def deepen(t: Term, depth: int) -> None:
            loop = t[0] in ("gen", "sum")
            if loop:
                numbers[t[1]] = 2 * depth + 2
            for k in kids(t):
                deepen(k, depth + loop)

        deepen(m.before, 0)
        for row, known in m.rows:
            rows: dict[int, None] = {}
            self.cited(row, known, rows)
            wanted = [p for p in known if any(self.mentions(k, p) for k in rows)]
            words = [str(len(wanted)), *(w for p in wanted for w in poly_words(p, numbers)), str(len(rows))]
            yield (*words, *(w for k in rows for w in row_words(self.proofs, k, numbers)))

    def cited(self, k: int, known: tuple[Poly, ...], found: dict[int, None]) -> None:
        """A row and the rows it rests on, those first."""
        if k in found:
            return
        row = self.proofs.rows[k]
        inner = [row["v"][2]] if "v" in row else [why for _, why in row["p"]] + [why for _, why in row["n"] if why is not None]
        if "v" not in row:
            inner += [rest[0] for _, kind, *rest in row["t"] if kind == "l"] + [rest[2] for _, kind, *rest in row["t"] if kind == "f"]
        for j in inner:
            if self.proofs._done.get((j, known)):
                self.cited(j, known, found)
        found[k] = None

    def mentions(self, k: int, p: Poly) -> bool:
        """A row uses a hypothesis: as a term, or as the sign of a factor."""
        row, t = self.proofs.rows[k], self.proofs.t
        if "v" in row:
            return False
        if any(kind == "h" and t.poly(rest[0]) == p for _, kind, *rest in row["t"]):
            return True
        if len(p) != 1 or p[0][1] != 1 or len(p[0][0]) != 1:
            return False
        factors = [t.poly(row["s"]), t.poly(row["r"]), *(t.poly(x) for x, *_ in row["t"]), *([] if row["c"] is None else [t.poly(row["c"])])]
        return any(p[0][0][0] in m for q in factors for m, _ in q)

    # -- terms

    def idx(self, p: Poly, place: Place) -> Iterator[str]:
        yield from ("+" for _ in p)
        yield from ("n", "0")
        for m, c in p:
            yield from ("*" for _ in m)
            yield from ("n", str(c))
            for a in m:
                if isinstance(a, Quotient):
                    yield "/"
                    yield from self.idx(a.num, place)
                    yield from self.idx(a.den, place)
                else:
                    yield from ("v", str(self.number(a, place)))

    def number(self, name: str, place: Place) -> int:
        return place.loops.index(name) if name in place.loops else len(place.loops) + self.sizes[name]

    def many(self, ps: Sequence[Poly], place: Place) -> Iterator[str]:
        yield str(len(ps))
        for p in ps:
            yield from self.idx(p, place)

    def monoid(self, name: str, body: Term, place: Place) -> Iterator[str]:
        yield from (name, self.kind(dtype(body, dict(place.types))))

    def kind(self, d: str) -> str:
        return str(self.kinds.setdefault(d, len(self.kinds) + 1))

    def operation(self, *what: Any) -> str:
        return str(self.operations.setdefault(what, len(self.operations) + 1))

    def term(self, t: Term, place: Place) -> Iterator[str]:
        inner = [self.down(place, t, k) for k in range(len(kids(t)))]
        match t[0]:
            case "gen":
                yield "gen"
                yield from (*self.idx(t[2], place), *self.idx(t[3], place), *self.term(t[4], inner[0]))
            case "sum":
                yield "sum"
                yield from (*self.monoid(t[5], t[4], place), *self.idx(t[2], place), *self.idx(t[3], place), *self.term(t[4], inner[0]))
            case "guard":
                yield "guard"
                yield from (*self.many(t[1], place), *self.term(t[2], place))
            case "let":
                yield "let"
                yield from (*self.term(t[2], inner[0]), *self.term(t[3], inner[1]))
            case "cat":
                yield from ("cat", str(t[1]), *self.term(t[2], place), *self.term(t[3], place))
            case "plus":
                yield from ("plus", *self.monoid(t[3], t[1], place), *self.term(t[1], place), *self.term(t[2], place))
            case "view":
                yield from ("view", t[1], *(() if t[3] is None else self.idx(t[3], place)), str(t[2]), *self.term(t[4], place))
            case "zero":
                yield from ("zeros", *self.many(t[1], place))
            case "get":
                name, at = place.rounds.get(t[1], (t[1], ()))
                yield from ("get", str(place.names.index(name)), *self.many((*at, *t[2]), place))
            case "lit":
                yield from ("lit", str(self.constants.setdefault((t[1], t[2]), len(self.constants) + 1)))
            case "index":
                yield from ("index", *self.idx(t[1], place))
            case "op" if t[1] == "mulacc":
                need(len(t[2]) == 2, "a product of", len(t[2]))
                yield from ("mulacc", *self.term(t[2][0], place), *self.term(t[2][1], place))
            case "op" | "cast":
                args = kids(t)
                types = [dtype(x, dict(place.types)) for x in args]
                yield from ("op", self.operation(t[1] if t[0] == "op" else "cast", t[3] if t[0] == "op" else t[2], *types), str(len(args)))
                for x in args:
                    yield from self.term(x, place)
            case "look":  # an argument that never changes, as a function of numbers: nothing is known of it
                name, at = place.rounds.get(t[1], (t[1], ()))
                if name not in self.given:
                    raise NotReplayed("an element of a named value, looked up by data")
                numbers = (*(("index", p) for p in at), *t[2])
                yield from ("op", self.operation(("look", name), *(dtype(x, dict(place.types)) for x in numbers)), str(len(numbers)))
                for x in numbers:
                    yield from self.term(x, place)
            case "choose":
                yield from self.choose(t[1], t[2], list(t[3]), place)
            case "many":
                yield from self.term(t[1][self.result], place)
            case "nest":
                yield from self.term(t[5], inner[0])
            case _:
                raise NotReplayed(t[0])

    def choose(self, a: Term, b: Term, tests: list[Any], place: Place) -> Iterator[str]:
        """Tests on indices together, each test on a value by itself."""
        if not tests:
            yield from self.term(a, place)
        elif tests[0][1] is None:
            yield from ("choosev", tests[0][0], *self.term(tests[0][2], place), *self.choose(a, b, tests[1:], place), *self.term(b, place))
        else:
            n = next((k for k, t in enumerate(tests) if t[1] is None), len(tests))
            yield from ("choose", str(n))
            for kind, p, _ in tests[:n]:
                yield from (kind, *self.idx(p, place))
            yield from (*self.choose(a, b, tests[n:], place), *self.term(b, place))

    def down(self, place: Place, t: Term, k: int) -> Place:
        """Inside of a term; what an opaque part or a round of it makes is, or is of, an argument."""
        if t[0] != "nest":
            return place.down(t, k)
        same = [w for w in self.parts if w[3:5] == t[3:5]]
        if not same or not (t[8] or (*t[:5], *t[6:]) in same):
            raise NotReplayed("an opaque part that changes")
        return place.part(t, same[0]) if t[8] else place

    # -- steps

    def concerns(self, m: Move) -> bool:
        """A step inside of another result says nothing of this one; nor does one that puts rounds of an opaque part in the place of the whole: both are elements of one argument."""
        t = m.before
        for k in m.path:
            if t[0] == "many" and k != self.result:
                return False
            t = kids(t)[k]
        return m.rule not in SAME and not (m.rule == "let_dead" and t[0] == "nest")

    def move(self, m: Move) -> Iterator[str]:
        place, t, path = self.top, m.before, []
        for k in m.path:
            if t[0] == "choose" and len(t[3]) > 1 and any(p is None for _, p, _ in t[3]):
                raise NotReplayed("a step inside of a choice by tests on values and on indices")
            if t[0] not in ("many", "nest"):
                path.append(str(k))
            place, t = self.down(place, t, k), kids(t)[k]
        yield from (str(len(path)), *path, m.rule, *self.arguments(m, t, place), *self.term(m.new, place), *self.term(m.after, self.top))

    def arguments(self, m: Move, t: Term, place: Place) -> Iterator[str]:
        if m.rule not in RULES:
            raise NotReplayed(f"{m.rule} is not replayed")
        for name in ARGUMENTS.get(m.rule, ()):
            yield from self.idx(m.args[name], place)
        if m.rule == "loop_shift":
            by = m.args.get("by")
            yield from self.idx(t[2] if by is None else by, place)
        if m.rule == "guard_in":
            yield "true" if m.args.get("bound") else "false"
        if m.rule == "wrap":
            amount = m.args.get("amount")
            yield from (m.args["op"], *(() if amount is None else self.idx(amount, place)), str(m.args["axis"]))
        if m.rule == "let_out":
            yield str(m.args["kid"])
        if m.rule == "let_join":
            yield str(m.args["count"])
        if m.rule == "factor":
            yield from (str(len(m.args["part"])), *map(str, m.args["part"]))

    # -- laws

    def granted(self, law: str, licences: frozenset[str]) -> bool:
        """A law that the steps rest on is a licence of the certificate, or true of these numbers."""
        name, *words = law.split()
        kinds = {str(n): d for d, n in self.kinds.items()}
        ops = {str(n): what for what, n in self.operations.items()}
        constants = {str(n): what for what, n in self.constants.items()}

        def given(d: str, *wanted: str) -> bool:
            return d not in FLOATS or bool(licences & set(wanted))

        match name:
            case "anyorder" | "regroup":
                return given(kinds[words[1]], "reassociate")
            case "unit":
                return words[0] != "add" or given(kinds[words[1]], "signed-zero")
            case "nosign":
                return given(kinds[words[0]], "signed-zero", "finite")
            case "distributes":
                what, d = ops[words[0]], kinds[words[1]]
                return what == ("mul", d, d, d) and given(d, "reassociate")
            case "finite":
                what = ops[words[0]]
                return what[0] == "mul" and given(what[1], "finite")
            case "finitefused":
                return "finite" in licences
            case "fused":
                what, d = ops[words[0]], kinds[words[1]]
                return what == ("mul", d, d, d) and "contract" in licences
            case "fusedop":
                product, total, both = (ops[w] for w in words[:3])
                d = product[1]
                return product == ("mul", d, d, d) and total == ("add", d, d, d) and both == ("fma", d, d, d, d) and "contract" in licences
            case "one":
                what, constant = ops[words[0]], constants[words[1]]
                return what[0] == "mul" and constant[1] == what[1] and constant[0] in ("1", repr({"f": (1.0).hex()}))
            case "addzero":
                what = ops[words[0]]
                return (what[0] == "add" and given(what[1], "signed-zero")) or (what[0] == "sub" and words[1] == "false")
            case "outside":
                return True  # that the program reads nothing outside of its arrays was shown before it had a term
            case "zerozero":
                return ops[words[0]][0] in ("add", "sub")
        return blocks_granted(name, words, (ops, kinds, constants), licences)


def blocks_granted(name: str, words: Sequence[str], numbers: tuple[Mapping[str, Any], ...], licences: frozenset[str]) -> bool:
    """The same of the laws that factor and rescale rest on; words are numbers of operations, types and constants."""
    ops, kinds, constants = numbers

    def product(word: str, *names: str) -> bool:
        what = ops[word]
        return what[0] in names and len(what) == 4 and len(set(what[1:])) == 1 and (what[0] == "mul" or what[1] in FLOATS)

    def block(d: str, e: str, s: str, *rest: str) -> bool:
        """exp, sub, and as often as there are: max, the least number."""
        least = (repr({"f": LEAST[d].hex()}), d) if d in LEAST else None
        return ops[e] == ("exp", d, d) and ops[s] == ("sub", d, d, d) and all(ops[m] == ("max", d, d, d) for m in rest[::2]) and all(constants[k] == least for k in rest[1::2])

    match name:
        case "spreads":
            d = kinds[words[1]]
            return product(words[0], "mul", "div") and ops[words[0]][1] == d and (d not in FLOATS or "reassociate" in licences)
        case "fades":
            d = kinds[words[1]]
            return product(words[0], "mul") and ops[words[0]][1] == d and (d not in FLOATS or "finite" in licences)
        case "faded":
            d = kinds[words[1]]
            return product(words[0], "mul") and ops[words[0]][1] == d and ("finite" in licences or (block(d, *words[2:]) and "rescale" in licences))
        case "commutes":
            return product(words[0], "mul")
        case "through":
            f, g, first = words
            sides = product(f, "mul", "div") and (product(g, "mul") or (product(g, "div") and first == "true"))
            return sides and ops[f][1] == ops[g][1] and ((ops[f][0] == ops[g][0] == "mul" and ops[f][1] not in FLOATS) or "reassociate" in licences)
        case "most":
            d = kinds[words[0]]
            return d not in FLOATS or "rescale" in licences
        case "mostof":
            d = kinds[words[1]]
            return bool(ops[words[0]] == ("max", d, d, d))
        case "rescales":
            e, s, t, m, k, kind = words
            d = kinds[kind]
            return block(d, e, s, m, k) and ops[t] == ("mul", d, d, d) and "rescale" in licences
    return False


def poly_words(p: Poly, numbers: Mapping[str, int]) -> Iterator[str]:
    yield str(len(p))
    for m, c in p:
        yield from (str(c), str(len(m)))
        for a in m:
            if isinstance(a, Quotient):
                yield from ("q", *poly_words(a.num, numbers), *poly_words(a.den, numbers))
            else:
                yield from ("u", str(numbers[a]))


def row_words(proofs: Proofs, k: int, numbers: Mapping[str, int]) -> Iterator[str]:
    """A row of the table of proofs."""
    row, t = proofs.rows[k], proofs.t
    goal = t.poly(row["g"])
    if "v" in row:
        factor, more, inner = row["v"]
        yield from ("weaker", str(factor), str(more), *poly_words(proofs.goal(inner), numbers), *poly_words(goal, numbers))
        return
    yield "row"
    for p in (goal, t.poly(row["s"]), t.poly(row["r"])):
        yield from poly_words(p, numbers)
    yield str(len(row["t"]))
    for multiplier, kind, *rest in row["t"]:
        yield from poly_words(t.poly(multiplier), numbers)
        yield from source_words(proofs, t, kind, rest, numbers)
    yield from ("nocut",) if row["c"] is None else ("cut", *poly_words(t.poly(row["c"]), numbers))


def source_words(proofs: Proofs, t: Tables, kind: str, rest: list[int], numbers: Mapping[str, int]) -> Iterator[str]:
    if kind in ("h", "l"):
        yield from ("known", *poly_words(t.poly(rest[0]) if kind == "h" else proofs.goal(rest[0]), numbers))
        return
    atom = t.atom(rest[0])[0][0][0]
    assert isinstance(atom, Quotient)
    yield from ("atleast" if kind == "f" else "below" if rest[1] == 0 else "above", *poly_words(atom.num, numbers), *poly_words(atom.den, numbers))
    if kind == "f":
        yield str(rest[1])




def opaque(t: Term) -> list[Term]:
    """Opaque parts, from the outside in, without what stands behind them."""
    found = []
    while t[0] in ("let", "nest"):
        if t[0] == "nest":
            found.append((*t[:5], *t[6:]))
        t = kids(t)[-1]
    return found


def arguments(checker: Any) -> tuple[dict[str, str], list[Sequence[Poly]], list[Poly], list[Term]]:
    """Types and shapes of arguments and of what opaque parts make, what these promise, and these parts."""
    types, shapes, promised = dict(checker.types), list(checker.shapes.values()), []
    parts = opaque(checker.source)
    for _, made, extents, _, used, promises, _, at in parts:
        if at:
            raise NotReplayed("an opaque part that changes")
        if made and not set(used) <= set(types):
            raise NotReplayed("an opaque part that reads a named value")
        types |= dict(made)
        shapes += extents
        promised += promises
    return types, shapes, promised, parts


def replay(checker: Any, asked: Callable[[Iterator[str]], str]) -> int:
    """Every step of a checked certificate again; how many there are. Rejected where the extracted checker, or the licences, do not allow one; NotReplayed where it is not covered."""
    data = checker.data
    licences = frozenset(data["licences"])
    types, shapes, promised, parts = arguments(checker)
    last = checker.final
    while last[0] in ("let", "nest"):
        last = kids(last)[-1]
    for facts, moves, final in checker.chains:
        if parts and any(part not in parts for part in opaque(final) if not part[-1]):
            final = moves[-1].after if moves else checker.source  # the program for other sizes is a copy with names of its own: the other checker compared them
        for r in range(len(last[1]) if last[0] == "many" else 1):
            words = Words(checker.proofs, data["sizes"], types, r, parts)
            _, *laws = asked(words.all([*facts, *promised], shapes, checker.source, moves, final)).splitlines()
            for law in laws:
                need(words.granted(law, licences), "the steps rest on a law that the certificate has no licence for:", law)
    return sum(words.concerns(m) for _, moves, _ in checker.chains for m in moves)
