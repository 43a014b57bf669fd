"""Rewrites of loops for speed, in the order they are made; each says what it did (f.explain("schedule"))."""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.carry import carry
from atoll.loops.checks import hoist_checks
from atoll.loops.first_best import first_best
from atoll.loops.interior import interior
from atoll.loops.jam import jam
from atoll.loops.privatise import privatise
from atoll.loops.rewrite import restart_names
from atoll.loops.scans import scans
from atoll.loops.unroll import unroll

PASSES = {"first_best": first_best, "unroll": unroll, "checks": hoist_checks, "interior": interior, "jam": jam, "carry": carry}


def optimise(fn: lp.Function, reassociate: bool = True) -> list[str]:
    """Rewrite the body in place; what was decided. `privatise` and `scans` change the order of additions."""
    restart_names()
    decisions: list[str] = []
    fn.body = privatise(fn.body, decisions, reassociate)
    fn.body = scans(fn.body, decisions, reassociate)
    for run in PASSES.values():
        fn.body = run(fn.body, decisions)
    return decisions
