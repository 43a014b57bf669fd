"""Rewrites of loops for speed, in the order they are made; each says what it did (f.explain("schedule"))."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from atoll.loops import ir as lp
from atoll.loops.across import across
from atoll.loops.carry import carry
from atoll.loops.checks import hoist_checks
from atoll.loops.choices import USUAL, Choices
from atoll.loops.early import early
from atoll.loops.elements import elements
from atoll.loops.filters import filters
from atoll.loops.first_best import first_best
from atoll.loops.follow import followers, in_place, join
from atoll.loops.in_pieces import in_pieces
from atoll.loops.in_rows import in_rows
from atoll.loops.independent import independent
from atoll.loops.interior import interior
from atoll.loops.jam import jam
from atoll.loops.join_checks import join_checks
from atoll.loops.join_loops import join_loops
from atoll.loops.lanes import lanes
from atoll.loops.late import late
from atoll.loops.left_looking import left_looking
from atoll.loops.overlap import overlap
from atoll.loops.pairwise import pairwise
from atoll.loops.privatise import privatise
from atoll.loops.rewrite import restart_names
from atoll.loops.rows import rows
from atoll.loops.same_checks import same_checks
from atoll.loops.scans import scans
from atoll.loops.searches import searches
from atoll.loops.segments import segments
from atoll.loops.several_rounds import several_rounds
from atoll.loops.sorted_values import sorted_values
from atoll.loops.stream import stream
from atoll.loops.tall import tall
from atoll.loops.tiles import tiles
from atoll.loops.turned import turned
from atoll.loops.unroll import unroll
from atoll.loops.until import until
from atoll.loops.wave import wave
from atoll.loops.without_branches import without_branches


def optimise(fn: lp.Function, reassociate: bool = True, choices: Choices = USUAL) -> list[str]:
    """Rewrite the body in place; what was decided. Sums may be added in another order (`privatise`, `tall`, `pairwise`, `scans`,
    and `interior`, which shortens them); what a thread does never changes it."""
    restart_names()
    decisions: list[str] = []
    passes: list[tuple[bool, Callable[[list[lp.Stmt], list[str]], list[lp.Stmt]]]] = [
        (not choices.plan, join_loops),
        (choices.private, partial(privatise, reassociate=reassociate)),
        (choices.tall, partial(tall, reassociate=reassociate)),
        (True, partial(pairwise, reassociate=reassociate)),
        (choices.lanes, turned),
        (choices.scans, partial(scans, reassociate=reassociate)),
        (choices.first_best, first_best),
        (choices.unroll > 1, partial(unroll, most=choices.unroll)),
        (choices.unroll > 1, elements),
        (choices.checks, early),
        (choices.checks, same_checks),
        (choices.checks, join_checks),
        (choices.checks, hoist_checks),
        (choices.interior, interior),
        (choices.checks and choices.interior, partial(hoist_checks, again=True)),
        (choices.rounds > 1, partial(several_rounds, together=choices.rounds)),
        (choices.left > 1, partial(left_looking, together=choices.left)),
        (choices.pieces, in_pieces),
        (choices.jam > 1, partial(jam, rounds=choices.jam)),
        (choices.across, across),
        (choices.rows, rows),
        (choices.interior, segments),
        (choices.interior, independent),
        (choices.overlap > 1, partial(overlap, together=choices.overlap)),
        (choices.carry, carry),
        (choices.carry, late),
        (choices.wave, wave),
        (choices.lanes, lanes),
        (choices.until, until),
        (choices.tiles, tiles),
        (choices.lanes, searches),
        (choices.place, in_rows),
        (choices.carry, filters),
        (choices.carry, without_branches),
    ]
    if not choices.products:
        fn.body = _plain_products(fn.body)
    fn.body = sorted_values(fn.body, decisions)
    pairs = followers(fn.body) if choices.follow else []
    for wanted, run in passes:
        if wanted:
            fn.body = run(fn.body, decisions)
    fn.body = join(fn.body, pairs, decisions)
    in_place(fn, pairs)
    if choices.stream:
        fn.body = stream(fn.body, decisions)
    for stmt in lp.walk(fn.body):
        if isinstance(stmt, lp.Chunks):
            stmt.grain = choices.grain
    return decisions


def _plain_products(stmts: list[lp.Stmt]) -> list[lp.Stmt]:
    """Products as the loops that say what they are."""
    out: list[lp.Stmt] = []
    for stmt in stmts:
        for body in lp.bodies(stmt):
            body[:] = _plain_products(body)
        out += stmt.body if isinstance(stmt, lp.Product) else [stmt]
    return out
