"""Side conditions: one question, `facts |- goal >= 0`, asked of one engine.

The engine is the prover of sizes/: a quasi-affine normal form, then elimination, giving a `Proof` that a checker replays as a polynomial
identity. Behind it, only when asked for with `solver()`, z3 may settle what the prover cannot; its word is a `Trusted`, labelled as such
wherever it is used, and `unknown` is never a yes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from atoll.sizes import Atom, Poly, Quot, Sym
from atoll.sizes.combination import combination
from atoll.sizes.prover import Facts, Proof, refute


@dataclass(frozen=True, slots=True)
class Trusted:
    """goal >= 0 because a solver said so."""

    goal: Poly
    by: str


Answer = Proof | Trusted

_limits: list[int] = []  # milliseconds a solver may take; empty: it is not asked
_cache: dict[tuple[tuple[Poly, ...], Poly], Trusted | None] = {}


@contextmanager
def solver(milliseconds: int = 2000) -> Iterator[None]:
    """Let z3 settle side conditions inside this block."""
    _limits.append(milliseconds)
    try:
        yield
    finally:
        _limits.pop()


def prove(facts: Facts, goal: Poly, optional: bool = False) -> Answer | None:
    """Why goal >= 0 follows. `optional` questions (is this guard always true?) never reach the solver."""
    proof = facts.proof(goal)
    if proof is not None or optional or facts.counterexample(goal) is not None:
        return proof
    proof = combination(facts, goal)
    if proof is not None or not _limits:
        return proof
    key = (facts.known, goal)
    if key not in _cache:
        _cache[key] = _ask_z3(facts.known, goal, _limits[-1])
    return _cache[key]


def counterexample(facts: Facts, goal: Poly) -> dict[Atom, int] | None:
    """Numbers that satisfy the facts and break the goal, if some are found."""
    found = refute(facts, goal)
    if found is None:
        return None
    if goal.const() is not None:  # it fails everywhere; the sizes are an example
        return {atom: value for atom, value in found.items() if isinstance(atom, Sym)}
    wanted = goal.leaves() | frozenset().union(*(f.leaves() for f in facts.known if f.leaves() & goal.leaves()))
    return {atom: value for atom, value in found.items() if atom in wanted}


def describe(values: dict[Atom, int]) -> str:
    """`n = 8, y_o = 1`"""
    order = sorted(values, key=lambda a: a.uid)
    return ", ".join(f"{atom} = {values[atom]}" for atom in order)


def _ask_z3(known: tuple[Poly, ...], goal: Poly, milliseconds: int) -> Trusted | None:
    try:
        import z3  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    names: dict[Atom, object] = {}
    side: list[object] = []

    def atom(a: Atom) -> object:
        if a not in names:
            if isinstance(a, Quot):
                num, den = term(a.num), term(a.den)
                q = names[a] = z3.Int(f"q{len(names)}")
                side.extend([den >= 1, den * q <= num, num <= den * q + den - 1])  # type: ignore[operator]
            else:
                names[a] = z3.Int(f"{a.name if isinstance(a, Sym) else 'v'}_{a.uid}")
        return names[a]

    def term(p: Poly) -> object:
        total = z3.IntVal(0)
        for mono, coef in p.terms.items():
            product = z3.IntVal(coef)
            for a in mono:
                product = product * atom(a)
            total = total + product
        return total

    s = z3.Solver()
    s.set("timeout", milliseconds)
    s.add([term(f) >= 0 for f in known])  # type: ignore[operator]
    s.add(z3.Not(term(goal) >= 0))  # type: ignore[operator]
    s.add(side)
    return Trusted(goal, f"z3 {z3.get_version_string()}") if s.check() == z3.unsat else None
