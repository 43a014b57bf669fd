"""The certificate of a compile: the loops that lowering made, and every rewrite between them and the loops that are printed as C.

A rewrite is `proved`: its parts are validated here, again, for all sizes; or `bounded`: whoever wrote the certificate ran both programs, over expressions, at some small
sizes, which is not done again here; or `open`: nobody looked. What is not proved is named in the verdict, with how often, and is not part of what is accepted.
"""

from __future__ import annotations

import hashlib
from typing import Any

from atoll.check.rewrites.language import Body, Reader
from atoll.check.rewrites.leaves import Origin
from atoll.check.rewrites.refute import LEFT, NOTED, Budget
from atoll.check.rewrites.scopes import arguments, constants, measured, scoped
from atoll.check.rewrites.steps import Part, validate
from atoll.check.rewrites.typed import Types
from atoll.check.sums import need, unknown

FORMAT = "atoll certificate of a compile 1"
STATUS = ("proved", "bounded", "open")
KINDS = {"strict": "the same expressions", "regrouped": "the same up to the order of sums"}
MANY = 500  # rewrites
COEFFICIENT, DEGREE = 1 << 16, 2  # of index arithmetic that a rewrite may add (or as many factors as an array has indices): sizes are below 2**46
LONG = 2_000  # letters of what a maker says
TRUSTED = (
    "index arithmetic stays below 64 bits: sizes are checked to be below 2**46 when the program is called, and so are arrays (what a rewrite adds has no more factors than an array has indices)",
    "rounds that lowering says are independent are believed to be (the bounded validator runs them in both orders)",
    "where a range is cut into pieces is believed not to matter (the bounded validator cuts it in two ways)",
    "sums that lowering leaves without an order (not `exact`) may be added in any: the program's own licence",
    "products (and what follows them block by block), sorts and the vector functions of the runtime do what their loops say",
)


def said(text: Any) -> str:
    """What the maker of a certificate says, on one line: no part of the verdict can be written by it."""
    need(isinstance(text, str) and len(text) <= LONG and text.isprintable(), "no text")
    return str(text)


class Chain:
    def __init__(self, data: dict[str, Any]) -> None:
        need(data.get("format") == FORMAT, "not a certificate of this version")
        self.data, self.reader = data, Reader(data)
        self.sizes = tuple(map(unknown, data["sizes"]))
        need(len(set(self.sizes)) == len(self.sizes), "two sizes of one name")
        self.kinds = arguments(self.sizes, data["arguments"], self.reader.polys)
        constants(self.kinds, data.get("constants", []), self.reader.expr)
        self.given = frozenset(self.kinds)
        self.types = Types(self.kinds)
        self.results = frozenset(map(unknown, data["results"]))
        self.parts = self.asked = 0
        self.notes: set[str] = set()
        self.final: Body = ()

    def run(self) -> None:
        now = self.lowered = self.program(self.data["lowered"])
        need(len(self.data["rewrites"]) <= MANY, "more rewrites than a compile has")
        for k, row in enumerate(self.data["rewrites"]):
            need(row["status"] in STATUS, "no status:", row["status"])
            after = self.program(row["after"])
            if row["status"] == "proved":
                for part in self.step(now, after, row):
                    need(not part.why, f"rewrite {k}, {row['name']}: {part.why}")
                    self.parts += 1
                    self.asked += part.asked
                    self.notes |= {f"{row['name']}: {note}" for note in part.notes}
            now = after
        self.final = now

    def program(self, rows: list[int]) -> Body:
        """The loops of a stage, in which every name is one thing and every value of one type."""
        body = self.reader.program(rows)
        scoped(body, self.kinds, self.given)
        self.types.program(body)
        return body

    def step(self, before: Body, after: Body, row: dict[str, Any]) -> list[Part]:
        (most, highest, rank), (largest, degree, _) = measured(before, self.sizes), measured(after, self.sizes)
        if largest > max(most, COEFFICIENT) or degree > max(highest, rank, DEGREE):
            return [Part("index arithmetic that may not stay below 64 bits", 0)]
        origins, roots = [self.origin(o) for o in row["origins"]], {unknown(a): unknown(b) for a, b in row["roots"]}
        return validate(self.sizes, before, after, origins, roots, self.licensed(row), self.kinds, self.results)

    def licensed(self, row: dict[str, Any]) -> bool:
        """Sums may be regrouped: the program allows it, and the rewrite is one that does."""
        need(type(self.data["reassociate"]) is bool and type(row["regroups"]) is bool, "no licence")
        return bool(self.data["reassociate"] and row["regroups"])

    def origin(self, o: Any) -> Origin | None:
        if o is None or type(o) is int:
            return None if o is None else (o, {})
        number, rounds = o
        need(type(number) is int, "no origin")
        return number, {unknown(s): self.reader.poly(p) for s, p in rounds}

    def summary(self) -> str:
        """What was found, and what it is about."""
        d = self.data
        rows = d["rewrites"]
        proved = [said(r["name"]) for r in rows if r["status"] == "proved"]
        regrouped = [said(r["name"]) for r in rows if r["status"] == "proved" and self.licensed(r)]
        lines = [f"{said(d['program'])}: {len(proved)} of {len(rows)} rewrites proved for all sizes, in {self.parts} parts by {self.asked} refutations."]
        if proved:
            lines.append(f"  the same operations on the same operands, in an order that keeps every dependence: {', '.join(proved)}")
        if regrouped:
            lines.append(f"  but sums may be added in another order, because the program is said to allow it: {', '.join(regrouped)}")
        for r in rows:
            if r["status"] == "bounded":
                b = r["bounded"]
                need(all(type(b[k]) is int and 0 <= b[k] < 1 << 40 for k in ("sizes", "ran", "new")) and b["kind"] in KINDS, "no result of a run")
                lines.append(f"  not proved: {said(r['name'])} ({said(r['why'])}); bounded: its maker ran it at {b['sizes']} sizes, {b['ran']} of {b['new']} new statements, and saw {KINDS[b['kind']]}")
            elif r["status"] == "open":
                lines.append(f"  not looked at: {said(r['name'])} ({said(r['why'])})")
        lines.append(f"  lowering, which is not looked at here, is said to be: {said(d['source']['what'])}")
        lines += [*(f"  taken on trust of {x}" for x in sorted(self.notes)), *(f"  {x}" for x in TRUSTED)]
        text = d["c"]["text"]
        need(hashlib.sha256(text.encode()).hexdigest() == d["c"]["sha256"], "the C is another one")
        lines.append(
            f"  not looked at here: whether these are the loops of the program {said(d['digest'])[:12]} (--program FILE:NAME), whether C {d['c']['sha256'][:12]} is"
            " printed from the last of them (--c FILE)"
        )
        return "\n".join(lines)


def check(data: dict[str, Any], verified: bool = False) -> str:
    """`verified`: every refutation again, by the checker that is proved."""
    chain = Chain(data)
    token, left = NOTED.set([] if verified else None), LEFT.set(Budget())
    try:
        chain.run()
        if not verified:
            return chain.summary()
        from atoll.check.verified import verify_questions

        return f"{chain.summary()}\n{verify_questions(NOTED.get() or [])}"
    finally:
        NOTED.reset(token)
        LEFT.reset(left)
