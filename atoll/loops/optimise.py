"""Rewrites of loops that keep every value, in the order they are made; each says what it did (f.explain("schedule"))."""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.interior import interior
from atoll.loops.jam import jam
from atoll.loops.rewrite import restart_names
from atoll.loops.unroll import unroll

PASSES = {"unroll": unroll, "interior": interior, "jam": jam}


def optimise(fn: lp.Function) -> list[str]:
    """Rewrite the body in place; what was decided."""
    restart_names()
    decisions: list[str] = []
    for run in PASSES.values():
        fn.body = run(fn.body, decisions)
    return decisions
