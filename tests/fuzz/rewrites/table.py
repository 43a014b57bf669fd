"""A row for every rewrite of atoll/loops: what f.explain("schedule") says when it was done, and the templates that are aimed at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import almost, branches, choices, helpers, masks, recurrences, reductions, states, strangers, trees, walks
from .words import Chooser, Program


@dataclass(frozen=True)
class Row:
    """`says` is empty where no rewrite is meant, but a kind of program. `rare`: the rewrite is for loops that few programs are lowered to."""

    says: str
    make: Callable[[Chooser], Program]
    rare: bool = False


ROWS: dict[str, Row] = {
    "jam": Row("rounds of ", reductions.along_first_axis),
    "rows": Row("sums of 4 rounds|sums of all rounds", reductions.sums_of_rows),
    "across": Row("side by side", reductions.sums_of_columns),
    "across, nested": Row("side by side", reductions.sums_in_sums_of_columns),
    "privatise": Row("private copies", reductions.histogram),
    "tall": Row("parts of the rows", reductions.tall),
    "pairwise": Row("sums of 256 rounds", reductions.pairwise),
    "scans": Row("in runs of", reductions.scan),
    "first_best": Row("found by blocks", reductions.best),
    "until": Row("until it is known", reductions.question),
    "filters": Row("kept in blocks", reductions.kept),
    "without_branches": Row("without branches", reductions.kept_inside),
    "sorted_values": Row("sorted", reductions.sorted_values),
    "interior": Row("where its tests", reductions.tests_of_indices),
    "segments": Row("where indices", reductions.round_and_round),
    "sums in parts": Row("where its tests|where indices", reductions.sums_in_parts),
    "sums without terms": Row("where its tests", reductions.sums_without_terms),
    "same_values": Row("computed once", reductions.under_one_condition),
    "same every round": Row("", reductions.same_every_round),
    "two turns": Row("where indices", almost.two_turns),
    "strips": Row("in strips in which", almost.in_strips),
    "coming back": Row("", almost.coming_back),
    "no size": Row("", almost.no_size),
    "checked data": Row("", almost.checked_data),
    "seems to stay": Row("", almost.seems_to_stay),
    "neighbours": Row("", almost.neighbours),
    "named once": Row("", almost.named_once),
    "early": Row("read before", reductions.early),
    "checks": Row("the checks of", reductions.checked),
    "checks outside": Row("", reductions.checked_outside),
    "checked twice": Row("in the loop that uses", reductions.checked_twice, rare=True),
    "join_checks": Row("in the loop that uses", reductions.checked_for_another, rare=True),
    "join_loops": Row("computed where it is read", reductions.made_and_read, rare=True),
    "tiles": Row("in tiles", reductions.crossing),
    "overlap": Row("share what they read", reductions.stencil),
    "sums apart": Row("", reductions.two_products),
    "masked": Row("", masks.masked),
    "windows": Row("", masks.windows),
    "follow": Row("as they are finished", reductions.product_and_more),
    "stream": Row("stored past the caches", reductions.streamed),
    "turned": Row("a row of all columns at a time", recurrences.turned),
    "carry": Row("kept for the next", recurrences.carried),
    "late": Row("comes last", recurrences.waiting),
    "lanes": Row("waits for itself", recurrences.lanes),
    "searches": Row("until the last of them ends", recurrences.searches),
    "wave": Row("behind the one before", recurrences.wave),
    "several_rounds": Row("in one pass", recurrences.elimination),
    "left_looking": Row("in a tile", recurrences.looking_back),
    "row_blocks": Row("column by column", recurrences.rows_looking_back),
    "in_pieces": Row("in pieces for threads", recurrences.pieces),
    "independent": Row("seen to be independent", recurrences.distances),
    "in_rows": Row("made where all of them are kept", recurrences.made_in_rows),
    "unroll": Row("written out", recurrences.written_out),
    "elements": Row("its elements are variables", recurrences.small_arrays),
    "needless_checks": Row("cannot fail", walks.walk),
    "clamped": Row("", walks.clamped),
    "same_conditions": Row("on the same condition", walks.stack),
    "leave_at_once": Row("in the round that sets", walks.leaving),
    "leave_at_once, while": Row("in the round that sets", walks.leaving_while),
    "best_in_place": Row("replaces one element", walks.improved),
    "overwritten": Row("is not filled", walks.overwritten),
    "counted": Row("that count", walks.by_hand),
    "window": Row("a window of", walks.window),
    "nothing": Row("", walks.nothing),
    "states": Row("", states.exchanged),
    "made anew": Row("", states.made_anew),
    "matrix": Row("", states.matrix),
    "slices": Row("", states.slices),
    "views": Row("", states.views),
    "ranges": Row("", states.ranges),
    "operators": Row("", states.operators),
    "dtypes": Row("", states.dtypes),
    "histograms": Row("", strangers.histograms),
    "columns": Row("", strangers.columns),
    "rowwise": Row("", strangers.rowwise),
    "buffers": Row("", strangers.buffers),
    "composed": Row("", strangers.composed),
    "products": Row("", strangers.products),
    "closures": Row("", strangers.closures),
    "mixed": Row("", strangers.mixed),
    "made in a branch": Row("", branches.made_in_branch),
    "captured": Row("", branches.captured),
    "beside blocks": Row("", branches.at_blocks),
    "trees": Row("", trees.tree),
    "one of two": Row("", choices.one_of_two),
    "kept before": Row("", choices.kept_before),
    "guarded while": Row("", choices.guarded_while),
    "helpers": Row("", helpers.helpers),
    "stacks": Row("", choices.stacks),
    "sorted rows": Row("", choices.sorted_rows),
}
