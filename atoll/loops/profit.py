"""When a rewrite pays: every number that was measured, or follows from what processors have, in one place.

A rewrite is right or wrong by what it looks for itself (transform/, dependence.py); nothing here makes a result wrong. Numbers that a user may pin for one function stand in
choices.py. "Measured" says on what; where a number follows from the size of a vector or a cache, it says which; of the others no measurement is on record, and
`atoll tune` or a bench may change them.
"""

from __future__ import annotations

from atoll.core.prims import PRIMS

# -- operations

QUICK = frozenset(name for name, p in PRIMS.items() if p.quick)
"""Operations that take a cycle or so of a vector: they are worth computing twice, and nothing waits for them."""
COSTLY = frozenset(name for name, p in PRIMS.items() if p.cost >= 4)
"""Operations that a filter does not make for elements it drops."""
CALLS = frozenset(name for name, p in PRIMS.items() if p.cost >= 8)
"""Operations that take longer than a store into memory: no use in storing past the caches."""
SLOW_CALL = 1000  # operations, of one of CALLS, or of an element read at a place that is data, which waits for memory

# -- unroll: short loops written out

WRITTEN_OUT = 320  # statements after writing out, without elements of constant arrays

# -- rows, overlap, jam: several rounds at a time

ROWS = 4  # rows whose sums share what they read: they and what they share fit in registers
SUMS = 16  # sums in one loop
LONG_ROW = 16384  # bytes of a shared row that does not stay in the first-level cache beside another one
NEAR = 2 << 20  # bytes of all rows that are in a cache anyway. Measured: short rows from memory one after the other are three times as fast as four at a time
UPDATES = 2  # arrays that a loop adds to, for several rounds at a time
ROW_OPERATIONS = 40  # of one element of a stencil
READS_LEFT = 0.75  # of the reads of a stencil, at most. Measured: a blur of 3 by 3 points is 1.4 times as fast with one thread, 1.5 with two
OVERLAP_ROW = 4096  # bytes of a row of a stencil, at least. Measured on blurs of f64: rows of 256 to 1280 bytes one after the other are up to 1.25 times as fast, those of 16 KB
# four at a time 1.2 to 1.5 times; a diffusion of three dimensions (rows of 480 and 1280 bytes) about 1.1 times one after the other

# -- across, pairwise, tall, privatise: sums

SIDE_BY_SIDE = 256  # bytes of sums that are made at once: four vectors, so that additions need not wait for each other
SIDE_BY_SIDE_COMPLEX = 64  # the same of complex numbers, whose product takes as many operations as there would be vectors
SUMMED = 256  # rounds of a sum of floats before they are added to the total: errors grow with this, not with the length
PARTS = 8  # private copies; fixed, so that results do not depend on threads
PART_ROWS = 64  # rows of a part of a tall matrix, at least
PART_BYTES = 32768  # of a part's sums: they stay in the first-level cache
PART_ROUNDS = 4  # rounds for every bin of all private copies, at least: each bin is cleared and added up
ADDED = 4  # operations of adding to an element: the address, the read, the addition and the store
TURNS = 4  # copies of few bins that take turns: additions into one bin wait for each other
FEW_BINS = 1024  # bins of which there are TURNS copies
CHECKED = 1024  # places that are checked before they are added to

# -- scans, filters, the first best, any and all

SCAN_CHUNK = 2048  # elements of a run. Measured: one run in vectors; eight runs side by side without them took two and a half times as long when results were not in a cache
SCAN_CHUNKS = 64  # runs between two passes
COMPARED_RUNS, COMPARED_LENGTH = 4, 1040  # of running minimums of floats: runs of powers of two would meet in the same cache sets
FILTER_BLOCK = 2048  # elements of a filter that are kept together
FOUND_BLOCK = 256  # elements among which the best is looked for
BEST_BLOCK = 4096  # whose best is found before it is compared: stays in the cache, and its tree of lanes costs little
BEST_SHORT = 64  # elements that are compared one by one: nothing to gain
BEST_SHARED = 1 << 16  # elements that are shared by threads
ANSWER_BLOCK = 1024  # rounds of any and all between two looks whether the answer is known
ANSWER_LEAST = 16  # rounds of which blocks are made at all

# -- interior, segments, window: ranges

CUT_STATEMENTS = 120  # of a loop that is copied for every part of its range
STRIPS = 4  # loops inside of one whose rounds divide, for as many quotients
CUTS = 6  # of one loop where indices go round or stop at an edge
WINDOW_ROWS = 16  # rows of a window, at most
ROWS_MADE_AGAIN = 8  # rows of a piece for every row that it makes again: an eighth more work at most
ELEMENTS = 32  # of an array that become variables, at most

# -- pieces for threads

FEW_ROUNDS = 8  # that are not worth pieces
UNKNOWN_ROUNDS = 16  # of a loop whose length is data
PIECE_SHARE = 4  # such loops stand in others and are met often: pieces of four times as many operations pay for waking a thread.
# Measured: the columns of a Cholesky factor of 400 rows take 4 microseconds, which two threads do not make shorter

# -- eliminations and loops that look back

ELIMINATION_ROWS = 32  # rows of an elimination for which several rounds at a time pay
TILE_ROUNDS, TILE_ROWS = 4, 4  # of a tile in registers
ROW_BLOCK = 64  # rows that look back along themselves, at a time
TILE_SHARE = 4  # terms of sums in a tile that take as long as an operation elsewhere

# -- lanes, searches, wave: rounds that wait for themselves, side by side

LANE_BYTES = 64  # a vector of rounds
LANE_ROUNDS = 4  # rounds that are worth a row
LANE_ROW = 2048  # bytes of a row, where steps go along rows: memory is read as it lies
LANE_MEMORY = 4 << 20  # bytes of the arrays that rounds have for themselves, which should stay in a cache
SEARCH_BYTES = 128  # two vectors of rounds, as one waits for itself
SEARCH_STEPS = 4  # between two looks whether some lane is going
WAVE_LANES = 64  # rows side by side. Measured on tables of 64-bit integers: 32 and 128 take a third longer, 16 twice as long
WAVE_STREAMS = 16  # rows of whole tables side by side, each a stream from memory. Measured: with 32 every cell waits for memory once a table has some megabytes

# -- tiles and streams: how memory is met

TILE_LONG, TILE_SHORT = 64, 8  # of the outer and of the inner index: a line is read whole. Measured: copies 1.1 to 2.6 times as fast from a thousand rows on
MANY_ROWS = 2048  # whose lines a cache does not keep for the next column
ROWS_MEET = 1024  # bytes: rows that are a multiple of this apart meet in the same sets of a cache
STREAM_LEAST = 1 << 25  # bytes of a result that goes past the caches: what a last cache usually has for one of them at most
STREAM_ARRAYS = 3  # results that one loop stores: each has a line of its own in the first-level cache
STREAM_LINE = 1024  # bytes that are stored at a time: reading ahead goes on meanwhile
STREAM_WORK = 24  # operations for an element, at most. Measured: stencils and the like are 1.2 to 1.3 times as slow in lines

# -- how much is looked at: what takes longer to compile than it saves. A loop that has more stays as it is

STORES = 24  # stores of a round whose elements are compared
PAIRS = 200  # of elements that are compared for one loop
PAIRS_PASSED = 400  # the same, of statements that are moved past others
LOOP_CHECKS = 8  # checks of a loop that leave it
READ_FIRST = 4  # elements read before a loop
OPEN_BRANCHES = 4  # branches that one statement may join
FAR_BRANCH = 48  # statements between the two
PROOFS = 3000  # of one function, of what holds at its statements; then nothing more is asked
PROOF_FACTS = 30  # facts of one proof
PROOF_SPLITS = 2  # variables with two possible values that one proof takes apart
GUESSES = 24  # invariants tried for a loop
