"""The arithmetic of a certificate again, by the checker that is proved in Coq and extracted (proofs/Arithmetic.v, Questions.v): atoll prove --verified.

`Proofs` notes which rows it accepted from which hypotheses; they are written as words and handed to the extracted program. Standard library only.

    file   := count group*
    group  := "rows" count poly* count step*                    (hypotheses, then rows, each from those before it)
            | "ask" conds count (count conds*)* tree            (conditions that cannot hold together with one case of every group)
    conds  := count cond*                                       cond := ("ge" | "eq" | "ne") poly | "data" number ("true" | "false")
    tree   := "refute" count step*  |  "contrary" number  |  "cases" group count tree*  |  "apart" poly tree tree
    step   := "row" goal scale rest count (poly source)* ("nocut" | "cut" poly)  |  "weaker" k r inner goal
    source := "known" poly | "below" num den | "above" num den | "atleast" num den k
    poly   := count (coefficient count atom*)*                  atom := "u" number | "q" poly poly
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from atoll.check.rewrites.refute import Cond, Group, near, refuted
from atoll.check.rewrites.traced import Traced
from atoll.check.sums import Atom, Poly, Proofs, Quotient, Rejected, const, need, sub

NAME = "atoll-arithmetic"
BUILT = Path(__file__).resolve().parents[2] / "proofs" / "_build" / NAME
SECONDS = 120
Question = tuple[tuple[Cond, ...], tuple[Group, ...]]


def program() -> str | None:
    """The extracted checker: ATOLL_VERIFIED names it, or it is on the PATH, or `make proofs` has built it."""
    named = os.environ.get("ATOLL_VERIFIED")
    return named or shutil.which(NAME) or (str(BUILT) if BUILT.exists() else None)


class _Polys:
    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def poly(self, p: Poly) -> Iterator[str]:
        yield str(len(p))
        for m, c in p:
            yield str(c)
            yield str(len(m))
            for a in m:
                yield from self.atom(a)

    def atom(self, a: Atom) -> Iterator[str]:
        if isinstance(a, Quotient):
            yield "q"
            yield from self.poly(a.num)
            yield from self.poly(a.den)
        else:
            yield "u"
            yield str(self.numbers.setdefault(a, len(self.numbers) + 1))


class _Questions(_Polys):
    """Questions with the trees that answer them (proofs/Questions.v)."""

    def __init__(self) -> None:
        super().__init__()
        self.data: dict[Any, int] = {}

    def all(self, asked: Sequence[Question]) -> Iterator[str]:
        yield str(len(asked))
        for conds, groups in asked:
            yield "ask"
            yield from self.conds(conds)
            yield str(len(groups))
            for g in groups:
                yield str(len(g))
                for case in g:
                    yield from self.conds(case)
            yield from self.tree(conds, list(enumerate(groups)))

    def conds(self, conds: Sequence[Cond]) -> Iterator[str]:
        yield str(len(conds))
        for c in conds:
            if c[0] == "op":
                yield from ("data", self.key(c[1]), "true" if c[2] else "false")
            else:
                yield c[0]
                yield from self.poly(c[1])

    def key(self, e: Any) -> str:
        return str(self.data.setdefault(e, len(self.data) + 1))

    def tree(self, conds: Sequence[Cond], groups: list[tuple[int, Group]]) -> Iterator[str]:
        """As refute.py finds it."""
        held: dict[Any, bool] = {}
        for c in conds:
            if c[0] == "op" and held.setdefault(c[1], c[2]) != c[2]:
                yield from ("contrary", self.key(c[1]))
                return
        if refuted(conds):
            yield "refute"
            yield from self.steps(Traced(conds))
            return
        kept = near(conds, [g for _, g in groups])
        if kept:
            left = [(k, g) for k, g in groups if any(g is x for x in kept)]
            number, first = left[0]
            yield from ("cases", str(number), str(len(first)))
            for case in first:
                yield from self.tree([*conds, *case], left[1:])
            return
        k, apart = next(((k, c) for k, c in enumerate(conds) if c[0] == "ne"), (0, None))
        need(apart is not None, "an answer that is not found again")
        assert apart is not None
        yield "apart"
        yield from self.poly(apart[1])
        others = [*conds[:k], *conds[k + 1 :]]
        for side in (sub(apart[1], const(1)), sub(const(-1), apart[1])):
            yield from self.tree([*others, ("ge", side)], [])

    def steps(self, t: Traced) -> Iterator[str]:
        rows = t.needed()
        yield str(len(rows))
        for goal, scale, rest, cut, terms in rows:
            yield "row"
            for q in (goal, const(scale), const(rest)):
                yield from self.poly(q)
            yield str(len(terms))
            for k, (kind, *polys) in terms:
                yield from self.poly(const(k))
                yield kind
                for q in polys:
                    yield from self.poly(q)
            if cut == 1:
                yield "nocut"
            else:
                yield "cut"
                yield from self.poly(const(cut))


class _Words(_Polys):
    def __init__(self, proofs: Proofs) -> None:
        super().__init__()
        self.proofs = proofs

    def all(self) -> Iterator[str]:
        groups: dict[tuple[Poly, ...], list[int]] = {}
        for k, known in self.proofs.accepted:
            groups.setdefault(known, []).append(k)
        yield str(len(groups))
        for known, rows in groups.items():
            yield "rows"
            yield str(len(known))
            for p in known:
                yield from self.poly(p)
            yield str(len(rows))
            for k in rows:
                yield from self.step(k)

    def step(self, k: int) -> Iterator[str]:
        row, t = self.proofs.rows[k], self.proofs.t
        goal = t.poly(row["g"])
        if "v" in row:
            factor, more, inner = row["v"]
            yield from ("weaker", str(factor), str(more))
            yield from self.poly(self.proofs.goal(inner))
            yield from self.poly(goal)
            return
        yield "row"
        for p in (goal, t.poly(row["s"]), t.poly(row["r"])):
            yield from self.poly(p)
        yield str(len(row["t"]))
        for multiplier, kind, *rest in row["t"]:
            yield from self.poly(t.poly(multiplier))
            yield from self.source(kind, rest)
        if row["c"] is None:
            yield "nocut"
        else:
            yield "cut"
            yield from self.poly(t.poly(row["c"]))

    def source(self, kind: str, rest: list[int]) -> Iterator[str]:
        if kind in ("h", "l"):
            yield "known"
            yield from self.poly(self.proofs.t.poly(rest[0]) if kind == "h" else self.proofs.goal(rest[0]))
            return
        atom = self.proofs.t.atom(rest[0])[0][0][0]
        assert isinstance(atom, Quotient)
        yield "atleast" if kind == "f" else "below" if rest[1] == 0 else "above"
        yield from self.poly(atom.num)
        yield from self.poly(atom.den)
        if kind == "f":
            yield str(rest[1])


def verify(proofs: Proofs) -> str:
    """What the extracted checker says of the rows of a schedule's certificate; Rejected when it does not accept what the other one did, or is not there."""
    need(not proofs.trusted, "conditions settled by a solver cannot be verified")
    said = _asked(_Words(proofs).all())
    return f"  verified by a checker proved in Coq (proofs/Arithmetic.v): {said}; the rules, the loops and the C are the other checker's word"


def verify_questions(asked: Sequence[Question]) -> str:
    """The same of the questions of a compile's certificate that were answered with yes: each is answered again, with cases and rows."""
    kept: dict[Any, Question] = {}
    for conds, groups in asked:
        kept.setdefault((frozenset(conds), tuple(tuple(map(tuple, g)) for g in groups)), (conds, groups))
    said = _asked(_Questions().all(list(kept.values())))
    return (
        f"  verified by a checker proved in Coq (proofs/Questions.v): {said}; that the same instances in an order that keeps conflicts leave the same memory is a theorem"
        " (proofs/Reorder.v); that these are the questions to ask is the other checker's word"
    )


def _asked(words: Iterator[str]) -> str:
    found = program()
    need(found is not None, "the verified checker is not built: `make proofs` builds it, or ATOLL_VERIFIED names it")
    assert found is not None
    try:
        done = subprocess.run([found], input=" ".join(words), capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Rejected(f"the verified checker {found}: {type(problem).__name__}") from None
    need(done.returncode == 0 and done.stdout.startswith("verified: "), "the verified checker does not accept the arithmetic:", done.stdout.strip() or f"exit status {done.returncode}")
    return done.stdout.strip().removeprefix("verified: ")
