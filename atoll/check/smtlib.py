"""The obligations of a schedule as an SMT-LIB script, so that z3, cvc5 or any other solver can be asked independently.

Each question is `facts and not goal`, between (push) and (pop); the answer to every one must be unsat. A quotient is an unknown with the two
inequalities that define it, which is linear when the divisor is a number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from atoll.sizes import Atom, Poly, Quot, Sym
from atoll.sizes.prover import Facts

if TYPE_CHECKING:
    from atoll.schedule.api import Schedule


def questions(s: Schedule) -> Iterable[tuple[str, Facts, Poly]]:
    """(what it is, hypotheses, goal) of every side condition and obligation."""
    for record in s.lowered.work.theorem.steps:
        for o in record.obligations:
            yield f"{record.rule}: {o.what}", o.facts, o.goal
    for p in s.lowered.report.proved:
        yield p.kind, p.facts, p.goal


def script(s: Schedule, limit: int | None = None) -> str:
    """The script; equal questions are asked once."""
    lines = ["(set-logic ALL)", f"; {s.name}: every answer must be unsat"]
    seen: set[tuple[Facts, Poly]] = set()
    for what, facts, goal in questions(s):
        if (facts, goal) in seen or goal.const() is not None:
            continue
        seen.add((facts, goal))
        lines += [f"; {what}", "(push)", *_question(facts.known, goal), "(check-sat)", "(pop)"]
        if limit is not None and len(seen) == limit:
            break
    return "\n".join([*lines, "(exit)"]) + "\n"


def _question(known: tuple[Poly, ...], goal: Poly) -> list[str]:
    names: dict[Atom, str] = {}
    declared: list[str] = []
    sides: list[str] = []

    def atom(a: Atom) -> str:
        if a not in names:
            if isinstance(a, Quot):
                num, den = term(a.num), term(a.den)
                names[a] = f"q{len(names)}"
                declared.append(f"(declare-const {names[a]} Int)")
                sides.append(f"(assert (and (>= {den} 1) (<= (* {den} {names[a]}) {num}) (< {num} (+ (* {den} {names[a]}) {den}))))")
            else:
                base = a.name if isinstance(a, Sym) else "v"
                names[a] = f"|{base}.{len(names)}|"
                declared.append(f"(declare-const {names[a]} Int)")
        return names[a]

    def number(n: int) -> str:
        return str(n) if n >= 0 else f"(- {-n})"

    def term(p: Poly) -> str:
        parts = []
        for mono, coef in p.terms.items():
            factors = [number(coef), *(atom(a) for a in mono)]
            parts.append(factors[0] if len(factors) == 1 else f"(* {' '.join(factors)})")
        return "0" if not parts else parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"

    facts = [f"(assert (>= {term(f)} 0))" for f in known]
    negated = f"(assert (< {term(goal)} 0))"
    return [*declared, *sides, *facts, negated]
