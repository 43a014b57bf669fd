"""Rewrites of loops for speed: a table of passes, each with why it stands where it stands, and a check after every one.

A pass takes the statements of a function and gives others that compute the same; what it did it says in words (`f.explain("schedule")`). The order
is that of the table. Sums may be added in another order by `privatise`, `tall`, `pairwise`, `scans`, and by `interior` and `segments`, which shorten
or cut them; what a thread does never changes it. `f.show("passes")` prints the loops after every pass that changed them; `at_most` (or the environment
variable ATOLL_PASSES) stops after so many passes, so that `tools/bisect_passes.py` finds the one that makes a result wrong or slow.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from atoll.errors import fail
from atoll.loops import ir as lp
from atoll.loops.check import Known, check
from atoll.loops.choices import USUAL, Choices
from atoll.loops.control.hoist_checks import hoist_checks
from atoll.loops.control.join_checks import join_checks
from atoll.loops.control.leave_at_once import leave_at_once
from atoll.loops.control.needless_checks import needless_checks
from atoll.loops.control.nothing import nothing
from atoll.loops.control.same_conditions import same_conditions
from atoll.loops.control.same_values import same_values
from atoll.loops.idioms.best_in_place import best_in_place
from atoll.loops.idioms.filters import filters
from atoll.loops.idioms.first_best import first_best
from atoll.loops.idioms.late import late
from atoll.loops.idioms.privatise import privatise
from atoll.loops.idioms.scans import scans
from atoll.loops.idioms.sorted_values import sorted_values
from atoll.loops.idioms.until import until
from atoll.loops.idioms.without_branches import without_branches
from atoll.loops.recipes.across import across
from atoll.loops.recipes.carry import carry
from atoll.loops.recipes.early import early
from atoll.loops.recipes.elements import elements
from atoll.loops.recipes.follow import followers, in_place, join
from atoll.loops.recipes.in_pieces import in_pieces
from atoll.loops.recipes.in_rows import in_rows
from atoll.loops.recipes.independent import independent
from atoll.loops.recipes.interior import interior
from atoll.loops.recipes.jam import jam
from atoll.loops.recipes.join_loops import join_loops
from atoll.loops.recipes.lanes import lanes
from atoll.loops.recipes.left_looking import left_looking
from atoll.loops.recipes.overlap import overlap
from atoll.loops.recipes.overwritten import overwritten
from atoll.loops.recipes.pairwise import pairwise
from atoll.loops.recipes.row_blocks import row_blocks
from atoll.loops.recipes.rows import rows
from atoll.loops.recipes.searches import searches
from atoll.loops.recipes.segments import segments
from atoll.loops.recipes.several_rounds import several_rounds
from atoll.loops.recipes.stream import stream
from atoll.loops.recipes.strips import strips
from atoll.loops.recipes.tall import tall
from atoll.loops.recipes.tiles import tiles
from atoll.loops.recipes.turned import turned
from atoll.loops.recipes.unroll import unroll
from atoll.loops.recipes.wave import wave
from atoll.loops.recipes.window import window
from atoll.loops.transform.copier import names
from atoll.loops.transform.indices import own_indices
from atoll.loops.transform.walk import innermost_first, same


@dataclass
class Work:
    """What the passes of one function share: its settings, what they said, and what follows its products (found first, joined last)."""

    choices: Choices
    reassociate: bool
    decisions: list[str] = field(default_factory=list)
    following: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Pass:
    """A rewrite in its place in the order. `wanted` is its switch; `run` gives the new body."""

    name: str
    why: str  # it stands here, and not earlier or later
    wanted: Callable[[Choices], object]
    run: Callable[[lp.Function, Work], lp.Stmts]
    regroups: bool = False  # sums and products may be made in another order; every other pass keeps every bit (validate/ holds them to it)


def always(choices: Choices) -> bool:
    return True


def plain(rewrite: Callable[[lp.Stmts, list[str]], lp.Stmts]) -> Callable[[lp.Function, Work], lp.Stmts]:
    """A rewrite without settings."""
    return lambda fn, w: rewrite(fn.body, w.decisions)


def regrouping(rewrite: Callable[..., lp.Stmts]) -> Callable[[lp.Function, Work], lp.Stmts]:
    """A rewrite that may add floats in another order, where the program allows it."""
    return lambda fn, w: rewrite(fn.body, w.decisions, reassociate=w.reassociate)


PASSES: tuple[Pass, ...] = (
    Pass("plain_products", "first: the loops a product stands for are rewritten like any others",
         lambda c: not c.products, lambda fn, w: _plain_products(fn.body)),
    Pass("sorted_values", "before anything looks at how a sort's places are read", always, plain(sorted_values)),
    Pass("followers", "while what follows a product still stands right after it; joined at the end",
         lambda c: c.follow, lambda fn, w: _find_followers(fn, w)),
    Pass("leave_at_once", "first of those that look at control: a flag that is gone is in no condition",
         lambda c: c.checks, plain(leave_at_once)),
    Pass("overwritten", "before loops are looked at for what they share: a loop that is not there shares nothing",
         lambda c: not c.plan, plain(overwritten)),
    Pass("same_conditions", "before checks are compared with what is known: facts of one branch reach all that stands in it",
         lambda c: c.checks, plain(same_conditions)),
    Pass("needless_checks", "on the program as it was written; every later pass has fewer checks to move",
         lambda c: c.checks, lambda fn, w: needless_checks(fn, w.decisions)),
    Pass("same_values", "after branches on the same condition are one, before loops are compared",
         lambda c: c.checks, plain(same_values)),
    Pass("best_in_place", "after checks that cannot fail are gone, before the sums and searches it makes are looked at",
         lambda c: c.carry, plain(best_in_place)),
    Pass("join_loops", "before loops are cut: two that run through the same range are still seen to",
         lambda c: not c.plan, plain(join_loops)),
    Pass("needless_checks_again", "after join_loops, which brings the ends of ranges to where they are read",
         lambda c: c.checks and not c.plan, lambda fn, w: _needless_again(fn, w)),
    Pass("window", "after join_loops, which needs no window; before rows are taken together",
         lambda c: c.interior and not c.plan, plain(window)),
    Pass("privatise", "on whole histograms, before their loops are unrolled or cut",
         lambda c: c.private, regrouping(privatise), True),
    Pass("tall", "on whole column sums; pairwise would cut their rows first", lambda c: c.tall, regrouping(tall), True),
    Pass("pairwise", "after tall, for the sums that are left; the accuracy of every later form rests on it",
         always, regrouping(pairwise), True),
    Pass("turned", "before scans are cut into runs: whole columns move", lambda c: c.lanes, plain(turned)),
    Pass("scans", "on whole scans", lambda c: c.scans, regrouping(scans), True),
    Pass("first_best", "on whole searches for the best, before their bodies are unrolled",
         lambda c: c.first_best, plain(first_best)),
    Pass("unroll", "before checks move: what is written out has checks with literal indices",
         lambda c: c.unroll > 1, lambda fn, w: unroll(fn.body, w.decisions, most=w.choices.unroll)),
    Pass("elements", "after unroll, which makes every element of a small array known by number",
         lambda c: c.unroll > 1, plain(elements)),
    Pass("early", "before checks are compared: the same element has one name then", lambda c: c.checks, plain(early)),
    Pass("join_checks", "before checks leave their loops: both loops are then gone at once",
         lambda c: c.checks, plain(join_checks)),
    Pass("strips", "before checks and tests leave loops: in a strip they step with the index",
         lambda c: c.interior, plain(strips)),
    Pass("hoist_checks", "before ranges are cut, so that what is cut is free of checks",
         lambda c: c.checks, plain(hoist_checks)),
    Pass("interior", "after checks are gone: only tests of the program itself cut a range",
         lambda c: c.interior, plain(interior), True),
    Pass("hoist_checks_again", "for checks that a test on an index kept inside",
         lambda c: c.checks and c.interior, lambda fn, w: hoist_checks(fn.body, w.decisions, again=True)),
    Pass("same_values_again", "after ranges are cut: what stood in two branches stands in none",
         lambda c: c.checks and c.interior, plain(same_values)),
    Pass("several_rounds", "on eliminations whose ranges are final, before jam takes their updates apart",
         lambda c: c.rounds > 1, lambda fn, w: several_rounds(fn.body, w.decisions, together=w.choices.rounds)),
    Pass("row_blocks", "right before left_looking, which shares the sums of the columns it makes",
         lambda c: c.left > 1, lambda fn, w: row_blocks(fn.body, w.decisions, together=w.choices.left)),
    Pass("left_looking", "as several_rounds, for loops that look back",
         lambda c: c.left > 1, lambda fn, w: left_looking(fn.body, w.decisions, together=w.choices.left)),
    Pass("in_pieces", "after the rounds of eliminations are taken together: what is left runs on threads",
         lambda c: c.pieces, plain(in_pieces)),
    Pass("jam", "after ranges are final: rounds are taken together within each",
         lambda c: c.jam > 1, lambda fn, w: jam(fn.body, w.decisions, rounds=w.choices.jam)),
    Pass("across", "after jam, for short sums it leaves", lambda c: c.across, plain(across)),
    Pass("rows", "after across: rows share what vectors do not", lambda c: c.rows, plain(rows)),
    Pass("segments", "after rows, whose blocks have ranges of their own that go round an edge",
         lambda c: c.interior, plain(segments), True),
    Pass("independent", "after segments: between the cuts rounds are seen to be independent",
         lambda c: c.interior, plain(independent)),
    Pass("overlap", "after independent, which marks the rows of a stencil",
         lambda c: c.overlap > 1, lambda fn, w: overlap(fn.body, w.decisions, together=w.choices.overlap)),
    Pass("carry", "on loops that stay in order", lambda c: c.carry, plain(carry)),
    Pass("late", "after carry, which makes what a round waits for a variable", lambda c: c.carry, plain(late)),
    Pass("wave", "after carry, for tables whose rows wait for each other", lambda c: c.wave, plain(wave)),
    Pass("lanes", "after wave, for recurrences that are left", lambda c: c.lanes, plain(lanes)),
    Pass("until", "after lanes: any and all that no other rewrite took", lambda c: c.until, plain(until)),
    Pass("tiles", "after everything that changes which loop is innermost", lambda c: c.tiles, plain(tiles)),
    Pass("searches", "after tiles, on loops that end when they like", lambda c: c.lanes, plain(searches)),
    Pass("in_rows", "after rows are made as they will be", lambda c: c.place, plain(in_rows)),
    Pass("filters", "on whole filters; no other pass looks into their loops", lambda c: c.carry, plain(filters)),
    Pass("without_branches", "after filters, for those that stay in order", lambda c: c.carry, plain(without_branches)),
    Pass("join_followers", "last of those that move loops: what follows a product is joined to its pieces",
         always, lambda fn, w: join(fn.body, w.following, w.decisions)),
    Pass("followers_in_place", "right after they are joined", always, lambda fn, w: _in_place(fn, w)),
    Pass("stream", "when all stores are final", lambda c: c.stream, plain(stream)),
    Pass("nothing", "after everything that looks for loops where they stand", always, lambda fn, w: nothing(fn)),
    Pass("grain", "when all pieces are made", always, lambda fn, w: _set_grain(fn, w)),
)
"""The rewrites, in the order they are made."""

After = Callable[[Pass, lp.Function, list[str]], None]


def optimise(
    fn: lp.Function, reassociate: bool = True, choices: Choices = USUAL, *, after: After | None = None, at_most: int | None = None
) -> list[str]:
    """Rewrite the body in place; what was decided. `after` is told every pass that ran, the function and what the pass said."""
    work = Work(choices, reassociate)
    known: Known = {}
    with names():
        for p in PASSES[: passes_wanted() if at_most is None else at_most]:
            if p.wanted(choices):
                said = len(work.decisions)
                found = p.run(fn, work)
                if not same(found, fn.body):  # statements are frozen: what is the same was checked before
                    fn.body = own_indices(found)
                    check(fn, p.name, known)
                if after is not None:
                    after(p, fn, work.decisions[said:])
    return work.decisions


def passes_wanted() -> int | None:
    """ATOLL_PASSES: how many of the passes are made; all of them when it is not set."""
    text = os.environ.get("ATOLL_PASSES")
    if text is None or text == "":
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        fail("E0826", name="ATOLL_PASSES", given=text, what="a number of rewrites", least=0)
    return int(text)


def _find_followers(fn: lp.Function, work: Work) -> lp.Stmts:
    work.following = followers(fn.body)
    return fn.body


def _in_place(fn: lp.Function, work: Work) -> lp.Stmts:
    return in_place(fn.body, work.following)


def _set_grain(fn: lp.Function, work: Work) -> lp.Stmts:
    grain = work.choices.grain
    return innermost_first(fn.body, lambda stmt, known: [replace(stmt, grain=grain)] if isinstance(stmt, lp.Chunks) and stmt.grain != grain else None)


def _needless_again(fn: lp.Function, w: Work) -> lp.Stmts:
    """Only ranges that are data have ends that are made in another loop."""
    lengths = any(isinstance(s, lp.Let) and isinstance(s.value, lp.Call) and s.value.op == "extent" for s in lp.walk(fn.body))
    return needless_checks(fn, w.decisions) if lengths else fn.body


def _plain_products(stmts: lp.Stmts) -> lp.Stmts:
    """Products as the loops that say what they are."""
    return innermost_first(stmts, lambda stmt, known: stmt.body if isinstance(stmt, lp.Product) else None)
