"""The certificate of a compile: the loops that lowering made, and every rewrite between them and the loops that are printed as C.

A rewrite is `proved`: its parts are validated here, again, for all sizes; or `bounded`: whoever wrote the certificate ran both programs, over expressions, at some small
sizes, which is not done again here; or `open`: nobody looked. What is not proved is named in the verdict, with how often, and is not part of what is accepted.
"""

from __future__ import annotations

from typing import Any

from atoll.check.rewrites.language import Body, Reader
from atoll.check.rewrites.leaves import Origin
from atoll.check.rewrites.steps import Part, validate
from atoll.check.sums import need, unknown

FORMAT = "atoll certificate of a compile 1"
STATUS = ("proved", "bounded", "open")


class Chain:
    def __init__(self, data: dict[str, Any]) -> None:
        need(data.get("format") == FORMAT, "not a certificate of this version")
        self.data, self.reader = data, Reader(data)
        self.sizes = tuple(map(unknown, data["sizes"]))
        need(len(set(self.sizes)) == len(self.sizes), "two sizes of one name")
        self.parts = self.asked = 0
        self.notes: set[str] = set()
        self.final: Body = ()

    def run(self) -> None:
        now = self.lowered = self.reader.body(self.data["lowered"])
        for k, row in enumerate(self.data["rewrites"]):
            need(row["status"] in STATUS, "no status:", row["status"])
            after = self.reader.body(row["after"])
            if row["status"] == "proved":
                for part in self.step(now, after, row):
                    need(not part.why, f"rewrite {k}, {row['name']}: {part.why}")
                    self.parts += 1
                    self.asked += part.asked
                    self.notes |= {f"{row['name']}: {note}" for note in part.notes}
            now = after
        self.final = now

    def step(self, before: Body, after: Body, row: dict[str, Any]) -> list[Part]:
        return validate(self.sizes, before, after, [self.origin(o) for o in row["origins"]], {unknown(a): unknown(b) for a, b in row["roots"]}, bool(self.data["reassociate"] and row["regroups"]))

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
        proved = [r["name"] for r in rows if r["status"] == "proved"]
        lines = [f"{d['program']}: {len(proved)} of {len(rows)} rewrites proved for all sizes, in {self.parts} parts by {self.asked} refutations."]
        if proved:
            lines.append(f"  the same operations on the same operands, in an order that keeps every dependence: {', '.join(proved)}")
        for r in rows:
            if r["status"] == "bounded":
                b = r["bounded"]
                lines.append(f"  not proved: {r['name']} ({r['why']}); bounded: its maker ran it at {b['sizes']} sizes, {b['ran']} of {b['new']} new statements, {b['kind']}")
            elif r["status"] == "open":
                lines.append(f"  not looked at: {r['name']} ({r['why']})")
        lines += [f"  lowering: {d['source']['what']}", *(f"  taken on trust of {x}" for x in sorted(self.notes)), *(f"  {x}" for x in d["trusted"])]
        lines.append(
            f"  not looked at here: whether these are the loops of the program {d['digest'][:12]} (--program FILE:NAME), whether C {d['c']['sha256'][:12]} is"
            " printed from the last of them (--c FILE)"
        )
        return "\n".join(lines)


def check(data: dict[str, Any]) -> str:
    chain = Chain(data)
    chain.run()
    return chain.summary()
