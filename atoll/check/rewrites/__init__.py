"""Were the loops rewritten rightly, for all sizes: a validator of every use of every rewrite (after Courant and Leroy), on data, without the compiler.

    language.py   loops as the checker reads them from a certificate
    scopes.py     every name is one thing
    typed.py      every value is of one type
    refute.py     no integers satisfy these conditions: Gauss, Fourier and Motzkin, with cuts
    leaves.py     statements in their places: when they are done, in which order, what they touch
    steady.py     what decides is the same when it is done
    storage.py    what is undone before instances are compared: elements kept in variables, pieces of ranges
    asked.py      what a rewrite asks by itself: elements are there, nothing is divided by what may be 0
    texts.py      what a statement says, in other words too
    places.py     what comes before what, and which instance of a copy is a given one
    best_back.py, scans_back.py, sorts_back.py    argmin by blocks, scans in chunks, sorted values, undone in both programs
    lanes_back.py, lanes.py        variables of several rounds side by side, parts of sums, as what they stand for
    retargeted.py                  arrays that are made in their place
    filters_back.py                filters in blocks
    twice_back.py                  what is computed or tested again, once
    needless.py                    checks that cannot fail, left out
    arrays_back.py                 arrays of copies, under the names they had
    checks_back.py, parts_back.py, turns_back.py, kept_back.py    checks that left their loop, sums made in parts, loops that are left early or go in turns, elements kept
                  for the next round, undone likewise
    strips_back.py                ranges in strips in which a quotient stays as it is
    totals_back.py                 sums over parts of a range, as one
    region.py     the same instances, each once, in an order that keeps every dependence
    steps.py      one rewrite: the smallest parts that differ, each validated
    chain.py      the certificate of a compile: all rewrites between the lowered loops and those that are printed

Python's standard library and check/sums.py are all it needs.
"""
