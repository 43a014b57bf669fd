"""`atoll prove FILE.cert`: a checker that shares no code with the compiler, searches nothing and asks no solver.

It reads a certificate and does everything again: the hypotheses at every position, the result of every rule, the loops of the last term, the
obligations on those loops. Where a proof is needed it is looked up and multiplied out. What it takes on trust is printed at the end.
Python's standard library is all it needs: sums.py, terms.py, rules.py, blocks.py, follow.py, loops.py, nests.py, limits.py, rewrites/ and this file.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zlib
from collections.abc import Callable
from typing import Any

from atoll.check.limits import SECONDS, limited
from atoll.check.loops import BYTES, Match, Reader, Stmt
from atoll.check.nests import Nests, statements
from atoll.check.replayed import Move
from atoll.check.rewrites import chain
from atoll.check.rules import Rules
from atoll.check.sums import Facts, Poly, Proofs, Rejected, Tables, const, free, mul, need, sub, text_of, unknown
from atoll.check.terms import (
    Env,
    Term,
    Terms,
    alike,
    kids,
    number_type,
    result_shapes,
    result_types,
    walk,
    well_formed,
    with_kids,
)

FORMAT = "atoll certificate 3"
LARGEST = 8_000_000  # bytes of a certificate, unpacked; the largest of ours has 300,000
DEPTH = 5_000
LICENCES = frozenset(("reassociate", "signed-zero", "finite", "contract", "rescale"))


class Checker:
    def __init__(self, data: dict[str, Any], trust: bool = False) -> None:
        need(data.get("format") == FORMAT, "not a certificate of this version")
        self.data = data
        self.tables = Tables(data)
        self.terms = Terms(self.tables)
        self.proofs = Proofs(self.tables, trust)
        self.rules = Rules(self.tables, self.proofs)
        self.facts = self.tables.polys(data["facts"])
        self.sizes = frozenset(map(unknown, data["sizes"]))
        self.shapes: dict[str, tuple[Poly, ...]] = {}
        self.types: dict[str, str] = {}
        for name, d, shape, where in data["arrays"]:
            need(unknown(name) not in self.shapes and name not in self.sizes and where == name, "an argument in another's place:", name)
            self.shapes[name], self.types[name] = self.tables.polys(shape), number_type(d)
        need(len(data["sizes"]) == len(self.sizes), "two sizes of one name")
        need(all(free(p) <= self.sizes for p in self.facts) and all(free(p) <= self.sizes for s in self.shapes.values() for p in s), "sizes")
        need(LICENCES >= set(data["licences"]), "a licence nobody gives")
        self.moves: list[Move] = []
        self.chains: list[tuple[tuple[Poly, ...], list[Move], Term]] = []  # facts, steps from the source, last term: of the program, and of the one for other sizes
        self.left = 15_000 + 10 * sum(len(data[table]) for table in ("P", "Q", "T", "H"))

    def env(self, facts: tuple[Poly, ...]) -> Env:
        return Env(Facts(facts), dict(self.shapes), dict(self.types), {}, Facts(facts))

    def run(self) -> None:
        self.loops(*self.replay())

    def replay(self) -> tuple[Term, tuple[Poly, ...], Term | None]:
        """Every step again: the last term, what it assumes, and the program for other sizes."""
        data = self.data
        source = self.terms.term(data["source"])
        well_formed(source, self.sizes, frozenset(self.shapes), self.types)
        self.extents(source, self.env(self.facts))
        facts, t = self.facts, source
        licences: set[str] = set()
        base: tuple[tuple[Poly, ...], Term] | None = None
        shared = 0
        for n, (path, rule, args, new, _) in enumerate(data["steps"]):
            if rule == "start":
                need(n == 0 and self.terms.term(new) == source, "the start is another program")
            elif rule == "assume":
                if base is None:
                    base, shared = (facts, t), len(self.moves)
                    need(data["base"] is not None and data["base"]["steps"] == n, "the program for other sizes")
                more = self.rules.argument(args["facts"])
                need(all(free(p) <= self.sizes for p in more), "an assumption that is not about sizes")
                facts = facts + more
            else:
                t = self.step(n, t, facts, path, rule, args, new, licences)
        need(t == self.terms.term(data["final"]), "the last term is another one")
        need(licences <= set(data["licences"]) and not licences & set(data["forbidden"]), "licences:", licences)
        self.source, self.final, self.chains = source, t, [(facts, list(self.moves), t)]
        other: Term | None = None
        if base is not None:
            known, other = base
            first = len(self.moves)
            for n, (path, rule, args, new, _) in enumerate(data["base"]["then"]):
                other = self.step(n, other, known, path, rule, args, new, licences)
            copy = self.terms.term(data["base"]["term"])
            need(alike(other, copy, {}), "the program for other sizes is another one")
            well_formed(copy, self.sizes, frozenset(self.shapes), self.types)
            other = copy
            self.chains.append((known, self.moves[:shared] + self.moves[first:], copy))
        need(licences <= set(data["licences"]) and not licences & set(data["forbidden"]), "licences:", licences)
        return t, facts, other

    def extents(self, t: Term, env: Env) -> None:
        if t[0] == "gen":
            self.rules.ge(env, sub(t[3], t[2]), "an extent")
        for k, inner in enumerate(kids(t)):
            self.extents(inner, env.down(t, k))

    def step(self, n: int, t: Term, facts: tuple[Poly, ...], path: list[int], rule: str, args: Any, new: int, licences: set[str]) -> Term:
        env, u = self.env(facts), t
        for k in path:
            need(0 <= k < len(kids(u)), "no such position")
            env, u = env.down(u, k), kids(u)[k]
        made = self.terms.term(new)
        looked_up = len(self.proofs.noted)
        try:
            licences |= self.rules.step(rule, env, u, args, made)
            self.same_shape(env, u, made)
            need(result_types(u, env.types) == result_types(made, env.types), "another type")
        except Rejected as problem:
            raise Rejected(f"step {n}, {rule}: {problem}") from None

        def put(v: Term, rest: list[int]) -> Term:
            return made if not rest else with_kids(v, tuple(put(x, rest[1:]) if j == rest[0] else x for j, x in enumerate(kids(v))))

        whole = put(t, path)
        self.left -= sum(1 for _ in walk(whole))
        need(self.left >= 0, "more work than a certificate of this size can ask for")
        well_formed(whole, self.sizes, frozenset(self.shapes), self.types)
        given = {name: self.rules.argument(v) for name, v in args.items()}
        self.moves.append(Move(path, rule, given, t, made, whole, tuple(dict.fromkeys(self.proofs.noted[looked_up:]))))
        return whole

    def same_shape(self, env: Env, u: Term, made: Term) -> None:
        """For all sizes, also those for which no loop around runs."""
        for a, b in zip(result_shapes(u, env.shapes), result_shapes(made, env.shapes), strict=True):
            need(len(a) == len(b) and all(self.proofs.equal(env.closed, p, q) for p, q in zip(a, b, strict=True)), "another shape")

    def loops(self, t: Term, facts: tuple[Poly, ...], other: Term | None) -> None:
        data = self.data
        body = Reader(self.tables).stmts(data["loops"]["body"])
        source = self.terms.term(data["source"])
        outputs = {unknown(name): self.tables.polys(extents) for name, _, extents in data["loops"]["outputs"]}
        need(len(outputs) == len(data["loops"]["outputs"]), "two results in one place")
        need(result_types(source, self.types) == [d for _, d, _ in data["loops"]["outputs"]], "types of results")
        places = {x: ("buffer" if extents else "var", x) for x, extents in self.shapes.items()}
        match = Match(self.proofs, places, self.types, self.shapes, self.params(), {(name, main) for name, main in data["filled"]})
        need(result_shapes(source, self.shapes) == list(outputs.values()), "shapes of results")
        if other is None:
            need(match.results(t, self.env(facts), outputs, body, 0) == len(body), "more statements than the term has")
        else:
            tests = tuple(("ge", p, None) for p in facts[len(self.facts) :])
            need(len(body) == 1 and body[0][0] == "if" and body[0][1] == tests, "the test on sizes is another one")
            need(match.results(t, self.env(facts), outputs, body[0][2], 0) == len(body[0][2]))
            match.main = False
            fails = tuple(sub(const(-1), p) for _, p, _ in tests) if len(tests) == 1 else ()  # of several tests one fails: which, nobody knows
            need(match.results(other, self.env(self.facts + fails), outputs, body[0][3], 0) == len(body[0][3]))
        given = {x: extents for x, extents in self.shapes.items() if extents}
        scalars = [x for x, extents in self.shapes.items() if not extents] + list(match.params.values())
        self.nests = Nests(self.proofs, match, self.sizes, given, scalars, outputs)
        self.nests.run(body, self.facts, data, self.tables.poly)
        self.memory(body)
        text = data["c"]["text"]
        need(hashlib.sha256(text.encode()).hexdigest() == data["c"]["sha256"], "the C is another one")
        self.match = match

    def params(self) -> dict[str, str]:
        """Integer arguments that are sizes, and the variables they come in."""
        given = {unknown(size): unknown(name) for size, name in self.data["params"]}
        need(len(given) == len(set(given.values())) == len(self.data["params"]) and set(given) <= self.sizes, "an argument in another's place")
        return given

    def memory(self, body: tuple[Stmt, ...]) -> None:
        """The bytes of every array that is allocated, and where it lies, are those the certificate lists."""
        found = []
        for x in statements(body):
            if x[0] == "alloc":
                size = const(BYTES[x[2]])
                for n in x[3] if x[5] is None else (const(x[5]), *x[3][1:]):
                    size = mul(size, n)
                found.append((x[1], size, "stack" if x[4] else "heap"))
        need([(name, self.tables.poly(size), where) for name, size, where in self.data["memory"]] == found, "another list of memory")
        self.allocations = found

    def summary(self) -> str:
        """What was found, and what it is about."""
        d = self.data
        counts = ", ".join(f"{k} {n}" for k, n in sorted(self.nests.counts.items())) + f", C4 {self.match.drops}"
        hypotheses = [f"{text_of(p)} >= 0" for p in self.facts]
        parts = [u for u in self.terms._done.values() if u[0] == "nest"]
        promised = list(dict.fromkeys([f"{text_of(p)} >= 0" for u in parts for p in u[6]] + [f"that rounds of {u[1][0][0].split('#')[0]} are independent" for u in parts if u[7] and u[1] and not u[8]]))
        lines = [
            f"{d['program']}: {len(d['steps'])} rules and {self.proofs.used} proofs hold; the loops are those of the last term.",
            f"  for all sizes with {', '.join(hypotheses)}" if hypotheses else "  for all sizes",
            f"  obligations: {counts}",
            f"  memory: {', '.join(f'{name} {text_of(size)} bytes on the {where}' for name, size, where in self.allocations) or 'none'}",
            f"  floating point: {', '.join(d['licences']) if d['licences'] else 'exact, bit for bit'}",
            f"  not looked at here: whether the source term is the program {d['digest'][:12]} (--program FILE:NAME), whether C {d['c']['sha256'][:12]} is"
            " printed from these loops (--c FILE)",
        ]
        if d["base"] is not None:
            lines.append("  other sizes run the program as it was before the first assumption")
        if parts:
            lines.append("  opaque parts are not looked into" + (f"; they promise {', '.join(promised)}" if promised else ""))
        if self.proofs.trusted:
            lines.append(f"  {self.proofs.trusted} conditions were settled by a solver and are trusted")
        return "\n".join(lines)


def prove(data: dict[str, Any], trust: bool = False, verified: bool = False) -> str:
    """A summary of what was checked; Rejected when something does not follow. `verified`: the arithmetic again, by the checker that is proved."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH))
    try:
        if data.get("format") == chain.FORMAT:
            return _compile(data, trust, verified)
        checker = Checker(data, trust)
        checker.run()
        if verified:
            from atoll.check.verified import verify

            return f"{checker.summary()}\n{verify(checker)}"
        return checker.summary()
    except (KeyError, IndexError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as problem:
        raise Rejected(f"the certificate is malformed: {type(problem).__name__}") from None
    finally:
        sys.setrecursionlimit(limit)


def _compile(data: dict[str, Any], trust: bool, verified: bool) -> str:
    """Of a compile: its rewrites, and the certificate of the source term where there is one."""
    found = chain.check(data, verified)
    inner = data["source"]["certificate"]
    if inner is None:
        return found
    need(isinstance(inner, dict) and inner.get("format") == FORMAT and inner["digest"] == data["digest"], "the source term is another program's")
    lines = prove(inner, trust, verified).splitlines()
    return "\n".join([found, "  the source term:", *(f"    {line}" for line in lines)])


def load(path: str) -> dict[str, Any]:
    """The data of a file; Rejected when it is none, or larger than any certificate is."""
    with open(path, "rb") as f:
        raw = f.read(LARGEST + 1)
    if raw[:2] == b"\x1f\x8b":
        stream = zlib.decompressobj(wbits=31)
        raw = stream.decompress(raw, LARGEST + 1)
        need(stream.eof or len(raw) > LARGEST, "not a whole file")
    need(len(raw) <= LARGEST, f"larger than {LARGEST // 1_000_000} MB")
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as problem:
        raise Rejected("not a certificate (f.certificate().save(path) writes one)") from problem
    need(isinstance(data, dict), "not a certificate (f.certificate().save(path) writes one)")
    return data  # type: ignore[no-any-return]


def prove_file(path: Any, trust: bool = False, further: Callable[[dict[str, Any]], list[str]] | None = None, verified: bool = False, seconds: float = SECONDS) -> int:
    """Print what the checker says, and what more is asked of the certificate; 0 when all of it holds, 1 when not, or when that takes longer than `seconds`."""
    try:
        with limited(seconds):
            data = load(str(path))
            lines = [prove(data, trust)]
        if verified:
            lines = [prove(data, trust, verified)]
        if further is not None:
            lines += further(data)
        print("\n".join(lines))
    except (Rejected, ValueError, OSError, zlib.error) as problem:  # a name that is none, a file that is not there, damaged data
        print(f"{path}: not valid: {problem}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(max((prove_file(p) for p in sys.argv[1:]), default=2))
