"""A certificate again, by the checkers that are proved in Coq and extracted (proofs/Arithmetic.v, Questions.v, Replay.v): atoll prove --verified.

`Proofs` notes which rows it accepted from which hypotheses; they are written as words and handed to the extracted program. The steps of a schedule are written by replayed.py.
Standard library only.

    file   := count group*
    group  := "rows" count poly* count step*                    (hypotheses, then rows, each from those before it)
            | "replay" ...                                     (replayed.py has it)
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

from atoll.check.replayed import NotReplayed, poly_words, replay, row_words
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
        numbers = _Numbers()
        yield str(len(groups))
        for known, rows in groups.items():
            yield from ("rows", str(len(known)))
            for p in known:
                yield from poly_words(p, numbers)
            yield str(len(rows))
            for k in rows:
                yield from row_words(self.proofs, k, numbers)


class _Numbers(dict[str, int]):
    """Numbers of unknowns, in the order they come."""

    def __missing__(self, name: str) -> int:
        self[name] = found = len(self) + 1
        return found


def verify(checker: Any) -> str:
    """What the extracted checkers say of a schedule's certificate that the other one accepted; Rejected when they do not accept it, or are not there."""
    proofs: Proofs = checker.proofs
    need(not proofs.trusted, "conditions settled by a solver cannot be verified")
    said = _asked(_Words(proofs).all()).splitlines()[0]
    try:
        steps = f"{replay(checker, _asked)} steps, every rule applied again (proofs/Replay.v)"
        rest = "the loops and the C are the other checker's word"
    except NotReplayed as problem:
        steps, rest = f"no steps ({problem})", "the rules, the loops and the C are the other checker's word"
    return f"  verified by a checker proved in Coq: {steps}; {said} (proofs/Arithmetic.v); {rest}"


def verify_questions(asked: Sequence[Question]) -> str:
    """The same of the questions of a compile's certificate that were answered with yes: each is answered again, with cases and rows."""
    kept: dict[Any, Question] = {}
    for conds, groups in asked:
        kept.setdefault((frozenset(conds), tuple(tuple(map(tuple, g)) for g in groups)), (conds, groups))
    said = _asked(_Questions().all(list(kept.values())))
    return (
        f"  verified by a checker proved in Coq (proofs/Questions.v): {said}; that a region whose questions are answered leaves the same memory is a theorem"
        " (proofs/Validated.v, by proofs/Reorder.v); that these are its questions is the other checker's word"
    )


def _asked(words: Iterator[str]) -> str:
    found = program()
    need(found is not None, "the verified checker is not built: `make proofs` builds it, or ATOLL_VERIFIED names it")
    assert found is not None
    try:
        done = subprocess.run([found], input=" ".join(words), capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Rejected(f"the verified checker {found}: {type(problem).__name__}") from None
    need(done.returncode == 0 and done.stdout.startswith("verified: "), "the verified checker does not accept it:", done.stdout.strip() or f"exit status {done.returncode}")
    return done.stdout.strip().removeprefix("verified: ")
